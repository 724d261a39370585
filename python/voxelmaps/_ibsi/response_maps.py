# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Response maps of the filters of IBSI 2: Zwanenburg A, et al. IBSI standardised filters, arXiv:2006.05470, section 3.

Volumes have the axes z, y, x; kernels are given in the order x, y, z, as IBSI's names of Laws kernels and wavelets are.
"""

import itertools
import math

import numpy as np

from .._files import library

# IBSI's names of boundaries, and SciPy's.
BOUNDARIES = {"zero": "constant", "nearest": "nearest", "periodic": "wrap", "mirror": "reflect"}

_LAWS = {
    "L5": ([1, 4, 6, 4, 1], 70),
    "E5": ([-1, -2, 0, 2, 1], 10),
    "S5": ([-1, 0, 2, 0, -1], 6),
    "W5": ([-1, 2, 0, -2, 1], 10),
    "R5": ([1, -4, 6, -4, 1], 70),
    "L3": ([1, 2, 1], 6),
    "E3": ([-1, 0, 1], 2),
    "S3": ([-1, 2, -1], 6),
}


def convolve(image, kernels, boundary):
    """The image, convolved along x, y and z by kernels of odd length; None leaves an axis as it is."""
    ndimage = library("scipy.ndimage", "filters of IBSI 2", package="scipy", extra="radiomics")
    for axis, kernel in zip((2, 1, 0), kernels):
        if kernel is not None:
            image = ndimage.convolve1d(image, kernel, axis, mode=BOUNDARIES[boundary])
    return image


def rotated(kernels):
    """The different kernels along x, y and z of a separable filter that is rotated by right angles: about z if it has none along it,
    otherwise by all 24 rotations."""
    has_planes = kernels[2] is None
    found = {}
    for order in itertools.permutations(range(2 if has_planes else 3)):
        parity = sum(a > b for a, b in itertools.combinations(order, 2))
        for signs in itertools.product((1, -1), repeat=len(order)):
            # Rotations have the determinant 1.
            if math.prod(signs) == (-1) ** parity:
                turned = tuple(kernels[axis][::sign] for axis, sign in zip(order, signs)) + (None,) * has_planes
                found[tuple(None if kernel is None else kernel.tobytes() for kernel in turned)] = turned
    return list(found.values())


def _pooled(images, pooling):
    images = iter(images)
    total, count = next(images), 1
    for image in images:
        total, count = np.maximum(total, image) if pooling == "max" else total + image, count + 1
    return total if pooling == "max" else total / count


def separable(image, kernels, boundary, pooling=None):
    """Response of a separable filter; with pooling "max" or "mean" over its rotations by right angles."""
    kernels = tuple(None if kernel is None else np.asarray(kernel, np.float64) for kernel in kernels)
    variants = [kernels] if pooling is None else rotated(kernels)
    return _pooled((convolve(image, each, boundary) for each in variants), pooling)


def mean(image, size, boundary, dimension=3):
    """Mean of `size` voxels along each axis (section 3.1)."""
    kernel = np.full(size, 1 / size)
    return convolve(image, (kernel, kernel, kernel if dimension == 3 else None), boundary)


def laplacian_of_gaussian(image, sigmas, boundary, dimension=3, cutoff=4.0):
    """Laplacian of a Gaussian with a sigma in voxels along x, y and z, sampled up to `cutoff` sigmas (section 3.2)."""
    axes = range(dimension)
    gaussians, second = [], []
    for sigma in sigmas:
        reach = math.floor(cutoff * sigma + 0.5)
        x = np.arange(-reach, reach + 1)
        gaussian = np.exp(-(x**2) / (2 * sigma**2)) / (math.sqrt(2 * math.pi) * sigma)
        gaussians.append(gaussian)
        second.append((x**2 / sigma**2 - 1) * gaussian / sigma**2)
    rows = [
        [second[axis] if axis == each else gaussians[axis] for axis in axes] + [None] * (3 - dimension) for each in axes
    ]
    return sum(convolve(image, row, boundary) for row in rows)


def laws(image, names, boundary, pooling=None, energy_reach=None):
    """Response of a Laws kernel such as "E5L5S5", or "L5S5" in planes; and its energy, the mean of absolute values over
    2 * energy_reach + 1 voxels along each axis (section 3.3)."""
    kernels = [
        np.array(_LAWS[names[i : i + 2]][0]) / math.sqrt(_LAWS[names[i : i + 2]][1]) for i in range(0, len(names), 2)
    ]
    response = separable(image, [*kernels, *[None] * (3 - len(kernels))], boundary, pooling)
    return response if energy_reach is None else mean(np.abs(response), 2 * energy_reach + 1, boundary, len(kernels))


def _of_odd_length(kernel):
    return np.append(kernel, 0.0) if len(kernel) % 2 == 0 else np.asarray(kernel)


def _with_holes(kernel, level):
    """The kernel of the à trous algorithm at a level."""
    step = 2 ** (level - 1)
    result = np.zeros((len(kernel) - 1) * step + 1)
    result[::step] = kernel
    return result


def wavelet(image, name, subband, boundary, level=1, pooling=None):
    """Response of a subband such as "LHL" of an undecimated separable wavelet transform (section 3.5); "LH" filters planes."""
    filters = library("pywt", "wavelets", package="PyWavelets", extra="radiomics").Wavelet(name)
    kernels = {letter: np.array(kernel) for letter, kernel in (("L", filters.dec_lo), ("H", filters.dec_hi))}
    # The low passes of the levels below, then the subband: all are turned together.
    steps = [*["L" * len(subband)] * (level - 1), subband]
    cascade = [
        [*(_with_holes(_of_odd_length(kernels[letter]), i) for letter in letters), *[None] * (3 - len(letters))]
        for i, letters in enumerate(steps, 1)
    ]
    if pooling is None:
        variants = [cascade]
    else:
        indexed = [np.arange(len(steps) * 10) + 100 * axis if axis < len(subband) else None for axis in range(3)]
        variants = []
        for turned in rotated(tuple(indexed)):
            places = [
                None if one is None else (one[0] // 100 if one[0] < one[-1] else one[-1] // 100, one[0] < one[-1])
                for one in turned
            ]
            variants.append(
                [[None if at is None else row[at[0]][:: 1 if at[1] else -1] for at in places] for row in cascade]
            )
        variants = _different(variants)
    return _pooled((_cascade(image, variant, boundary) for variant in variants), pooling)


def _different(variants):
    found = {}
    for variant in variants:
        found[tuple(None if kernel is None else kernel.tobytes() for row in variant for kernel in row)] = variant
    return list(found.values())


def _cascade(image, rows, boundary):
    for kernels in rows:
        image = convolve(image, kernels, boundary)
    return image


# Axes of a volume with the planes in front, by the axes that a plane has.
_PLANES = {"xy": (0, 1, 2), "xz": (1, 0, 2), "yz": (2, 0, 1)}
# Kernels of Gabor filters end where their envelope is exp(-18).
_GABOR_CUTOFF = 6.0


def gabor(image, sigma, wavelength, gamma, angles, boundary, pooling="mean", planes=("xy",)):
    """Modulus of a Gabor filter in planes, pooled over angles in radians and over planes (section 3.4). Lengths are in voxels."""
    fft = library("scipy.fft", "filters of IBSI 2", package="scipy", extra="radiomics")
    mode = {"zero": "constant", "nearest": "edge", "periodic": "wrap", "mirror": "symmetric"}[boundary]
    reach = math.ceil(_GABOR_CUTOFF * sigma * max(1.0, 1.0 / gamma))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    # The modulus is the same after half a turn.
    angles = np.unique(np.round(np.mod(angles, math.pi), 12) % round(math.pi, 12))
    results = []
    for plane in planes:
        volume = np.transpose(image, _PLANES[plane])
        padded = np.pad(volume, ((0, 0), (reach, reach), (reach, reach)), mode=mode)
        shape = [fft.next_fast_len(n + 2 * reach) for n in padded.shape[1:]]
        spectrum = fft.fft2(padded, shape)
        for angle in angles:
            along = x * math.cos(angle) + y * math.sin(angle)
            across = -x * math.sin(angle) + y * math.cos(angle)
            kernel = np.exp(-(along**2 + gamma**2 * across**2) / (2 * sigma**2)) * np.exp(
                2j * math.pi * along / wavelength
            )
            response = fft.ifft2(spectrum * fft.fft2(kernel, shape))
            part = np.abs(response[:, 2 * reach : 2 * reach + volume.shape[1], 2 * reach : 2 * reach + volume.shape[2]])
            results.append(np.transpose(part, np.argsort(_PLANES[plane])))
    return _pooled(results, pooling)


def _frequencies(shape):
    """Places on the grid of the transform from -1 to 1 along z, y and x, with the zero frequency in the middle (section 3.6)."""
    grids = [(np.arange(n) - (n - 1) / 2) / ((n - 1) / 2) for n in shape]
    return np.meshgrid(*grids, indexing="ij")


def _simoncelli(shape, level):
    radius = np.sqrt(sum(axis**2 for axis in _frequencies(shape)))
    largest = 2.0 ** (1 - level)
    inside = (radius >= largest / 4) & (radius <= largest)
    return np.where(inside, np.cos(math.pi / 2 * np.log2(2 * np.where(inside, radius, 1.0) / largest)), 0.0)


def _riesz(shape, order):
    """Transfer function of the Riesz transform with the order along x, y and z (section 3.7)."""
    axes = _frequencies(shape)[::-1]
    total, radius = sum(order), np.sqrt(sum(axis**2 for axis in axes))
    factor = (-1j) ** total * math.sqrt(math.factorial(total) / math.prod(math.factorial(one) for one in order))
    return factor * math.prod(axis**one for axis, one in zip(axes, order)) / np.where(radius > 0, radius, 1.0) ** total


def _by_transform(image, transfer_of, boundary):
    """The image, filtered by a transfer function of its shape, which has a margin of half the image unless it is periodic."""
    fft = library("scipy.fft", "filters of IBSI 2", package="scipy", extra="radiomics")
    margins = [0 if boundary in (None, "periodic") else n // 2 for n in image.shape]
    mode = {"zero": "constant", "nearest": "edge", "mirror": "symmetric"}.get(boundary)
    padded = np.pad(image, [(n, n) for n in margins], mode=mode) if any(margins) else image
    response = fft.ifftn(fft.fftn(padded) * fft.ifftshift(transfer_of(padded.shape))).real
    return response[tuple(slice(margin, margin + n) for margin, n in zip(margins, image.shape))]


def riesz(image, order, boundary):
    """Riesz transform of a response map, with the order along x, y and z (section 3.7)."""
    return _by_transform(image, lambda shape: _riesz(shape, order), boundary)


def simoncelli(image, level, boundary=None, order=None, dimension=3):
    """Response of the band-pass of a level of Simoncelli's non-separable wavelet (section 3.6), and its Riesz transform.

    boundary    None or "periodic" for the volume as it is.
    dimension   2 to filter each plane across z.
    """
    if dimension == 2:
        return np.stack([simoncelli(plane, level, boundary) for plane in image])
    transfer = lambda shape: _simoncelli(shape, level) * (1.0 if order is None else _riesz(shape, order))
    return _by_transform(image, transfer, boundary)
