# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""A synthetic CT of the abdomen, for examples and tests."""

import itertools
from typing import Any, NamedTuple, Sequence

import numpy as np

from ._image import Image
from ._maps import FeatureMaps, Geometry

FIELD_OF_VIEW = np.array([358.4, 358.4, 232.5])  # mm, in the order x, y, z: left, back, up
ORGANS = {"liver": 1, "vessels": 2, "spine": 3, "spleen": 4}
_LABEL_OF_SEED = {"liver": 1, "vessel": 2, "bone": 3, "spleen": 4}
TALL = 1e6  # semi-axis of what is a cylinder along z

# Center and semi-axes in mm, intensity in HU; later shapes cover earlier ones.
# fmt: off
BODY = [((0, 0, 0), (168, 122, TALL), -100), ((0, 0, 0), (154, 108, TALL), 50)]  # skin and fat, wall
CAVITY = ((0, 0, 0), (138, 92, TALL), -100)
DIAPHRAGM = ((0, 5, -45), (139, 92, 130))
CHEST = [  # lungs, mediastinum, heart
    ((0, 0, 0), (138, 92, TALL), -850), ((5, 48, 0), (32, 32, TALL), 50), ((25, -25, 120), (50, 42, 45), 130),
    (*DIAPHRAGM, -100),
]
SPLEEN = ((102, 30, 5), (30, 38, 42), 120)
OTHERS = [  # stomach and its gas, kidneys, bowel and its gas, muscles of the back, aorta, around the spine
    ((60, -35, 0), (42, 36, 50), 50), ((62, -58, 10), (22, 9, 24), -950),
    ((62, 60, -85), (25, 22, 45), 170), ((-62, 62, -95), (25, 22, 45), 170),
    ((15, -40, -100), (38, 30, 22), 50), ((85, -20, -95), (26, 34, 40), 40), ((-95, -15, -118), (25, 30, 28), 40),
    ((85, -30, -92), (15, 15, 25), -950), ((-36, 84, 0), (26, 15, TALL), 55), ((36, 84, 0), (26, 15, TALL), 55),
    ((17, 37, 0), (9, 9, TALL), 185), ((0, 64, 0), (27, 20, TALL), 50),
]
LIVER = [((-58, -8, -10), (72, 68, 80)), ((18, -36, 12), (70, 38, 42))]  # lobes
DISK, SPONGY = ((0, 64, 0), (23, 17, TALL), 80), ((0, 64, 0), (21, 15, TALL), 420)
BONES = [  # arch, spinous process, body
    ((0, 90, 0), (16, 13, TALL), 800), ((0, 108, 0), (4, 11, TALL), 600), ((0, 64, 0), (23, 17, TALL), 800),
]
CANAL = ((0, 90, 0), (10, 8, TALL), 40)
HILUM, FORK, RIGHT, LEFT = np.array([(-8.0, -4, -54), (-30, -10, -24), (-64, 0, -8), (22, -38, 8)])
# fmt: on
TRUNK_RADIUS, THINNEST_RADIUS = 6.0, 1.0


class SampleImage(Image):
    """An image of sample_ct(), and results of it: numpy.asarray(image) is its array, and image == 1 an image of bool."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype, copy=copy)

    def __eq__(self, value):
        return self.with_array(self.array == value)

    def __ne__(self, value):
        return self.with_array(self.array != value)

    __hash__ = None  # type: ignore[assignment]

    def save(self, path):
        """Write the image to a file, .nii.gz, .nii or .nrrd, as FeatureMaps.save does; returns its path."""
        return FeatureMaps(["image"], self.array[np.newaxis], (), Geometry(*self[1:])).save(path)[0]


class _Seeds(dict):
    """Indices by label, and by name."""

    def __missing__(self, name):
        return self[_LABEL_OF_SEED[name]]


class SampleCT(NamedTuple):
    """What sample_ct() returns: images, and seeds as indices in the order z, y, x, by label, and also by name."""

    image: SampleImage
    organs: SampleImage
    strokes: SampleImage
    seeds: "dict[Any, tuple[int, int, int]]"


def _normals(seed, first, count):
    """Numbers of mean 0 and variance 1: sums of 12 uniform numbers by SplitMix64 (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        z = np.arange(3 * first + 1, 3 * (first + count) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        z ^= z >> np.uint64(31)
    return (z.view("<u2").reshape(count, 12).sum(1, dtype=np.int64) - 6 * 65535) / 65536


def _in_liver(point, margin):
    def inside(center, axes, margin):
        return (((point - np.array(center)) / (np.array(axes) - margin)) ** 2).sum() <= 1

    return any(inside(*lobe, margin) for lobe in LIVER) and inside(*DIAPHRAGM, margin + 4)


def _unit(vector):
    return vector / np.sqrt((vector * vector).sum())


def _vessels(seed):
    """The portal vein, a trunk that forks again and again, as rows of balls: center and radius, thin ones first."""
    numbers = (float(n) for start in itertools.count(0, 4096) for n in _normals(seed, start, 4096))
    balls, nodes, queue = [], [], []

    def branch(start, tangent, direction, length):
        """A parabola that leaves its start along the tangent."""
        end, control = start + direction * length, start + tangent * (length / 2)
        return lambda t: (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end

    def draw(curve, radius, length):
        steps = int(2 * length / radius) + 1
        taper = 0.75 if radius < THINNEST_RADIUS else 0.05  # the last branches end in a point
        balls.extend((*curve(i / steps), radius * (1 - taper * i / steps)) for i in range(steps + 1))
        nodes.extend((curve(0.5), curve(1.0)))
        queue.append((curve, radius))

    trunk = _unit(FORK - HILUM)
    for start, end, ratio in ((HILUM, FORK, 1), (FORK, RIGHT, 0.888), (FORK, LEFT, 0.669)):
        length = np.sqrt(((end - start) ** 2).sum())
        draw(branch(start, trunk, (end - start) / length, length), TRUNK_RADIUS * ratio, length)
    del queue[0]  # the trunk has its branches
    for curve, parent in queue:
        if parent < THINNEST_RADIUS:
            continue
        start, tangent = curve(1.0), _unit(curve(1.0) - curve(0.99))
        # Murray's law: the sum of the cubes of the radii is that of the parent.
        ratios = ((0.794, 0.794), (0.843, 0.737), (0.888, 0.669), (0.928, 0.585))
        for ratio in ratios[int(next(numbers) % 1.0 * 4)]:
            radius, best, taken = parent * ratio, (0.0, None, None), np.array(nodes)
            for attempt in range(8):
                # The thicker branch turns less; later attempts turn more and are shorter, to find a way out of a corner.
                ahead = (2 if ratio > 0.8 else 1) if attempt < 4 else 0
                length = (4 + 5 * radius) * (0.75 + next(numbers) % 0.5) / (1.0 if attempt < 4 else 1.6)
                turn = _unit(np.array([next(numbers) for _ in range(3)]))
                new = branch(start, tangent, _unit(turn + ahead * tangent), length)
                if _in_liver(new(0.5), radius + 2) and _in_liver(new(1.0), radius + 2):
                    room = ((taken - new(1.0)) ** 2).sum(1).min()  # each grows toward the most free space
                    best = max(best, (room, new, length), key=lambda candidate: candidate[0])
            if best[1]:
                draw(best[1], radius, best[2])
    return sorted(balls, key=lambda ball: ball[3])


class _Canvas:
    """Intensities and organs, painted shape by shape; a voxel at a surface gets a part of the intensity."""

    def __init__(self, size):
        self.voxel = FIELD_OF_VIEW / size
        x, y, z = (v * (np.arange(n) + 0.5) - f / 2 for n, v, f in zip(size, self.voxel, FIELD_OF_VIEW))
        self.points = x, y[:, None], z[:, None, None]
        self.image = np.full(size[::-1], -1000.0)
        self.organs = np.zeros(size[::-1], np.uint8)

    def coverage(self, center, axes):
        """The part of every voxel inside an ellipsoid: 0.5 plus the distance to the surface in voxels, in linear order."""
        used = [i for i in range(3) if axes[i] != TALL]
        u = {i: (self.points[i] - center[i]) / axes[i] for i in used}
        reach = np.sqrt(sum(u[i] * u[i] for i in used))
        slope = sum(abs(u[i]) * (self.voxel[i] / axes[i]) for i in used)
        return np.clip(0.5 + (1 - reach) * reach / np.maximum(slope, 1e-9), 0, 1)

    def paint(self, coverage, value, organ=0):
        self.image += coverage * (value - self.image)
        self.organs[np.broadcast_to(coverage > 0.5, self.organs.shape)] = organ

    def paint_all(self, shapes, part=1.0, organ=0):
        for center, axes, value in shapes:
            self.paint(self.coverage(center, axes) * part, value, organ)

    def paint_ribs(self):
        """They descend toward the front, and end there."""
        x, y, z = self.points
        height = (z - 0.4 * y) % 27 - 13.5
        reach = np.sqrt((x / 147) ** 2 + (y / 101) ** 2)
        outward = (reach - 1) * reach / np.sqrt((x / 147**2) ** 2 + (y / 101**2) ** 2)
        for cortex, value in ((0, 800), (2, 420)):
            rib = np.sqrt((outward / (4 - cortex)) ** 2 + (height / (6 - cortex)) ** 2)
            self.paint(np.clip(0.5 + (1 - rib) * 5 / self.voxel.mean(), 0, 1) * (y >= -75), value)

    def paint_vessels(self, balls):
        """Each voxel has 4 x 4 x 4 samples, the bits of a number."""
        bits, values = np.zeros(self.image.shape, np.uint64), np.zeros(self.image.shape)
        for *center, radius in balls:
            box, squares = [], []
            for c, v, f, n in zip(center, self.voxel, FIELD_OF_VIEW, self.image.shape[::-1]):
                first, last = (int(np.floor((c + r + f / 2) / v)) for r in (-radius, radius))
                box.insert(0, slice(max(first, 0), min(last + 1, n)))
                samples = (np.arange(4 * box[0].start, 4 * box[0].stop) + 0.5) / 4
                squares.append((samples * v - f / 2 - c) ** 2)
            inside = squares[2][:, None, None] + squares[1][:, None] + squares[0] <= radius * radius
            parts = inside.reshape([k for part in box for k in (part.stop - part.start, 4)]).transpose(0, 2, 4, 1, 3, 5)
            packed = np.packbits(parts.reshape(*parts.shape[:3], 64), axis=-1).view(np.uint64)[..., 0]
            bits[tuple(box)] |= packed
            values[tuple(box)][packed != 0] = 180 + 20 * radius / TRUNK_RADIUS
        filled = np.nonzero(bits)
        coverage = np.zeros(bits.shape)
        coverage[filled] = np.unpackbits(bits[filled].view(np.uint8).reshape(-1, 8), axis=1).sum(1) / 64
        self.paint(coverage, values, ORGANS["vessels"])


def sample_ct(size: Sequence[int] = (192, 192, 80), *, noise: float = 10.0, random_seed: int = 1) -> SampleCT:
    """Make a CT of an abdomen: air, fat, organs, bones, and a liver with a portal vein of ever thinner branches.

    Parameters
    ----------
    size : sequence of int, default (192, 192, 80)
        Number of voxels along x, y and z; the field of view is 358.4 x 358.4 x 232.5 mm for any size.
    noise : float, default 10
        Standard deviation of the noise, in HU.
    random_seed : int, default 1
        Each number gives different vessels and different noise; the same arguments give the same voxels.

    Returns
    -------
    SampleCT
        A named tuple of three images that all functions accept, and seeds. `image` is in HU; `organs` are 1 liver, 2 its vessels,
        3 spine, 4 spleen, 0 all others; `strokes` are seeds, vertical lines 20 mm apart with these labels, and 5 in all others. `seeds`
        are indices z, y, x of the "vessel", "liver", "bone" and "spleen".

    Raises
    ------
    ValueError
        For a size below 8, or a noise below 0 or above 1000.

    Examples
    --------
    >>> import voxelmaps
    >>> ct = voxelmaps.sample_ct((96, 96, 40))
    >>> ct.image.array.shape, ct.image.array.dtype.name, ct.seeds["vessel"]
    ((40, 96, 96), 'int16', (13, 46, 42))
    >>> strength = voxelmaps.fuzzy_connectedness(ct.image, ct.seeds["vessel"])
    >>> strength.array.max()
    np.float32(1.0)
    """
    size = tuple(int(n) for n in np.ravel(size))
    if len(size) != 3 or min(size) < 8:
        raise ValueError(f"size is {size}, but must be three numbers of at least 8")
    if not 0 <= noise <= 1000:
        raise ValueError(f"noise is {noise}, but must be 0 to 1000")
    canvas = _Canvas(size)

    def below(values, limit):
        """The part of every voxel with values below a limit along z."""
        return np.clip(0.5 + (limit - values) / canvas.voxel[2], 0, 1)

    def index(point):
        return tuple(((np.array(point) + FIELD_OF_VIEW / 2) / canvas.voxel).astype(int)[::-1].tolist())

    z = canvas.points[2]
    canvas.paint_all(BODY)
    canvas.paint_ribs()
    lung = below(-z, 45)
    canvas.paint_all([CAVITY], 1 - lung)
    canvas.paint_all(CHEST, lung)
    canvas.paint_all([SPLEEN], organ=ORGANS["spleen"])
    canvas.paint_all(OTHERS)
    diaphragm = canvas.coverage(DIAPHRAGM[0], np.subtract(DIAPHRAGM[1], 4))
    for lobe in LIVER:
        canvas.paint(np.minimum(canvas.coverage(*lobe), diaphragm), 110, ORGANS["liver"])
    middle = abs((z + 17) % 34 - 17)  # of a vertebra of 26 mm, with a disk of 8 mm
    canvas.paint_all([DISK], organ=ORGANS["spine"])
    canvas.paint_all(BONES, below(middle, 13), ORGANS["spine"])
    canvas.paint_all([SPONGY], below(middle, 11), ORGANS["spine"])
    canvas.paint_all([CANAL])
    canvas.paint_vessels(_vessels(random_seed))

    image = np.empty(canvas.image.shape, np.int16)
    for k, values in enumerate(canvas.image):
        noises = _normals(random_seed + 1, k * values.size, values.size).reshape(values.shape)
        image[k] = np.clip(np.floor(values + noise * noises + 0.5), -1024, 3071)  # scanners store 12 bits

    points = {"vessel": (HILUM + FORK) / 2, "liver": (-17.7, -32.7, -30.5), "bone": (0, 64, 0), "spleen": SPLEEN[0]}
    seeds = _Seeds({label: index(points[name]) for name, label in _LABEL_OF_SEED.items()})
    strokes = np.zeros(image.shape, np.uint8)
    for x, y in itertools.product(range(-160, 161, 20), range(-100, 101, 20)):
        _, j, i = index((x, y, 0))
        strokes[:, j, i] = np.where(canvas.organs[:, j, i], canvas.organs[:, j, i], 5)
    strokes[seeds["vessel"]] = ORGANS["vessels"]

    spacing = tuple(np.round(canvas.voxel, 6).tolist())
    origin = tuple(np.round(np.array(spacing) * (1 - np.array(size)) / 2, 3).tolist())
    direction = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
    arrays = (image, canvas.organs, strokes)
    first, second, third = (SampleImage(array, spacing, origin, direction) for array in arrays)
    return SampleCT(first, second, third, seeds)
