# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Structures of an RTSTRUCT as masks on the grid of an image: a voxel is inside if its center is, by the even-odd rule over all
contours of a structure in the slice."""

from typing import Any, List, NamedTuple

import numpy as np

from .._suggestions import did_you_mean, warn

# Part of a step between slices by which contours may be off the slice, and of a voxel to which indices of points are rounded.
_OFF_SLICE, _ROUNDING = 0.1, 1e-5
# Products of two coordinates in the units of vertices must be exact in 64 bits.
_COORDINATE_BITS = 30
_CLOSED, _POINTS = ("CLOSED_PLANAR", "CLOSEDPLANAR_XOR"), 0x30060050


class OverlappingSegments(ValueError):
    """Segments, or structures, that one label map cannot hold; segments has the numbers of all."""

    def __init__(self, text, segments):
        super().__init__(text)
        self.segments = segments


class _Structure(NamedTuple):
    name: str
    frame_of_reference: str
    contours: List[Any]
    problem: str

    def is_closed(self):
        return any(contour.get("ContourGeometricType") in _CLOSED for contour in self.contours)


def _number(item, keyword):
    try:
        value = item.get(keyword)
        if value is not None:
            return int(value)
    except ValueError:
        raise ValueError(f"an item of the RTSTRUCT has a {keyword} that is not an integer") from None
    raise ValueError(f"an item of the RTSTRUCT has no {keyword}, which all structures must have")


def structures(header):
    """Dict of the structures of an RTSTRUCT by their ROINumber. A number that is taken or not positive is replaced by a free one.

    Contours of a number that several structures have are unknown."""
    items, contours = header.get("StructureSetROISequence") or (), {}
    for item in header.get("ROIContourSequence") or ():
        contours.setdefault(_number(item, "ReferencedROINumber"), []).extend(item.get("ContourSequence") or ())
    every = [_number(item, "ROINumber") for item in items]
    if not every:
        raise ValueError(
            "the RTSTRUCT has no structures: its StructureSetROISequence is missing or empty; the file may be truncated"
        )
    result, free = {}, max([0, *every]) + 1
    for item, given in zip(items, every):
        number = given
        if number < 1 or number in result:
            number, free = free, free + 1
        name = str(item.get("ROIName") or "").strip()
        frame_of_reference = str(item.get("ReferencedFrameOfReferenceUID") or "")
        others = every.count(given) - 1
        problem = (
            f"shares the ROINumber {given} with {others} other structure{'s' * (others > 1)}, so its contours are ambiguous: give the "
            "structures distinct numbers, or choose another one"
        ) * (others > 0)
        result[number] = _Structure(name, frame_of_reference, contours.get(given, []), problem)
    return result


def listed(names):
    """Text of names by number."""
    return ", ".join(f"{number} ({name})" for number, name in names.items()) or "not listed"


def numbers_of(label, names):
    """The label, or list of labels, with the number of each name. One of a list that the mask does not have is left out with a warning.

    names    Dict of the names of segments or structures; empty for masks without names.
    """
    numbers, missing = [], []
    for each in [label] if isinstance(label, str) else label:
        found = [number for number, name in names.items() if name == each] if isinstance(each, str) else [each]
        if len(found) > 1:
            raise ValueError(
                f"label is {each[:100]!r}, the name of {', '.join(map(str, found))}: choose one by its number"
            )
        if not found:
            known = "must be an integer, or a list of them: only DICOM segmentations and RTSTRUCT have names"
            known = f"the mask has {listed(names)}" if names else known
            missing.append(f"label is {each[:100]!r}{did_you_mean(each, filter(None, names.values()))}, but {known}")
        numbers += found
    if missing and (not numbers or not names):
        raise ValueError(missing[0])
    for text in missing:
        warn(text)
    return numbers[0] if isinstance(label, str) else numbers


def _points(contour, what):
    """The points of a contour, in mm."""
    element = contour.get_item(_POINTS)
    value = [] if element is None or element.value is None else element.value
    try:
        # The text of a file is converted faster than by pydicom.
        values = np.array(value.split(b"\\") if isinstance(value, bytes) and value else [*value], float)
    except ValueError as error:
        raise ValueError(f"{what} has ContourData that are not numbers: {error}") from None
    if values.size % 3 or not np.isfinite(values).all():
        raise ValueError(f"{what} has {values.size} numbers as ContourData, but must have 3 finite ones for each point")
    promised = contour.get("NumberOfContourPoints")
    if promised is not None and int(promised) != values.size // 3:
        raise ValueError(f"{what} has {values.size // 3} points, but its NumberOfContourPoints is {promised}")
    return values.reshape(-1, 3)


def _inside(polygons, slices, shape):
    """Which voxels have their center in polygons, as slices of the box around them, and an array of bool for the box.

    polygons    Arrays of points (x, y) in voxels, less than one voxel outside of the image.
    slices      The slice of each.

    Vertices are rounded, to 2^-20 voxels if the image has 512 to 1023 voxels along x or y; all else is exact. An edge
    reaches from its lower y up to, but not including, its higher one, and a center on it is right of it. So of two regions that share an
    edge, one has the centers on it.
    """
    unit = 1 << (_COORDINATE_BITS - int(max(shape[1:])).bit_length())
    starts = [np.rint(polygon * unit).astype(np.int64) for polygon in polygons]
    ends = np.concatenate([np.roll(polygon, -1, 0) for polygon in starts])
    z, starts = np.repeat(slices, [len(polygon) for polygon in starts]), np.concatenate(starts)
    is_upward = (starts[:, 1] <= ends[:, 1])[:, None]
    (x, y), (to_x, to_y) = np.where(is_upward, starts, ends).T, np.where(is_upward, ends, starts).T
    # The rows that each edge crosses: ceil(y) up to, but not including, ceil(to_y).
    first = np.maximum(-(-y // unit), 0)
    count = np.maximum(np.minimum(-(-to_y // unit), shape[1]) - first, 0)
    edge = np.repeat(np.arange(len(count)), count)
    rows = first[edge] + np.arange(len(edge)) - (np.cumsum(count) - count)[edge]
    x, y, run, rise = x[edge], y[edge], (to_x - x)[edge], (to_y - y)[edge]
    # The first column whose center is not left of the crossing.
    columns = np.clip(-((-x * rise - (rows * unit - y) * run) // (rise * unit)), 0, shape[2])
    if not len(edge):
        return (slice(0, 0),) * 3, np.zeros((0, 0, 0), bool)
    crossings = np.stack([z[edge], rows, columns])
    lower, upper = crossings.min(1), crossings.max(1) + 1
    toggles = np.zeros(upper - lower, np.uint8)
    np.bitwise_xor.at(toggles, tuple(crossings - lower[:, None]), 1)
    box = slice(lower[0], upper[0]), slice(lower[1], upper[1]), slice(lower[2], upper[2] - 1)
    return box, np.bitwise_xor.accumulate(toggles, 2)[..., :-1].view(bool)


def _check_frame(header, structure, what, frame_of_reference):
    """Raise ValueError if a structure is in another frame of reference than the image."""
    frames = {str(item.get("FrameOfReferenceUID")) for item in header.get("ReferencedFrameOfReferenceSequence") or ()}
    # Structures of anonymized files may refer to a frame that the file does not have.
    given = structure.frame_of_reference if structure.frame_of_reference in frames or len(frames) != 1 else min(frames)
    if frame_of_reference and given and given != frame_of_reference:
        raise ValueError(
            f"{what} is in the frame of reference {given}, but the image is in {frame_of_reference}: pass the series that it was drawn on"
        )


def _polygons(structure, what, grid):
    """The polygons of a structure in voxels, and the slice of each."""
    spacing, origin, direction = grid[1:]
    inverse = np.linalg.inv(np.reshape(direction, (3, 3)) * spacing)
    size = np.array(grid.array.shape[2::-1])
    polygons, slices, small = [], [], 0
    for number, contour in enumerate(structure.contours, 1):
        where, kind = f"contour {number} of {what}", contour.get("ContourGeometricType")
        if kind not in _CLOSED:
            raise ValueError(f"{where} is {kind}, which has no inside: ContourGeometricType must be CLOSED_PLANAR")
        points = _points(contour, where)
        if len(points) < 3:
            small += 1
            continue
        indices = (points - origin) @ inverse.T
        k = float(np.round(indices[:, 2].mean()))
        depth = indices[:, 2].min(), indices[:, 2].max()
        if depth[1] - depth[0] > 2 * _OFF_SLICE:
            raise ValueError(
                f"{where} reaches from {depth[0]:.6g} to {depth[1]:.6g} across the slices, counted from 0, but must be in one slice: pass the "
                "series that it was drawn on"
            )
        if max(k - depth[0], depth[1] - k) > _OFF_SLICE:
            raise ValueError(
                f"{where} is between slices, at {indices[:, 2].mean():.6g}, counted from 0, but must be within {_OFF_SLICE} of one: make the "
                "mask on the series that it was drawn on, with radiomics.read_image(path, segment=..., image=...), and move it to this image "
                "with resample(mask, like=..., interpolation='nearest')"
            )
        least, most = indices.min(0), indices.max(0)
        # There, no center of a voxel is beyond the image.
        if not 0 <= k < size[2] or (least[:2] <= _ROUNDING - 1).any() or (most[:2] >= size[:2] - _ROUNDING).any():
            reach = " × ".join(f"{a:.6g} to {b:.6g}" for a, b in zip(least, most))
            raise ValueError(
                f"{where} reaches beyond the image: it has the indices {reach} (x, y, z), but the image has the size {tuple(size.tolist())}"
            )
        if any(int(k) == at and np.array_equal(indices[:, :2], other) for other, at in zip(polygons, slices)):
            warn(f"{where} is the same as another one of its slice, and counts once")
            continue
        polygons.append(indices[:, :2])
        slices.append(int(k))
    if small:
        warn(f"{what} has {small} contours of less than 3 points, which have no inside")
    if not polygons:
        raise ValueError(f"{what} has no closed contour")
    gaps = sorted(set(range(min(slices), max(slices))) - set(slices))
    if gaps:
        shown = f"{', '.join(map(str, gaps[:9]))}{', ...' * (len(gaps) > 9)}"
        warn(f"{what} has contours from slice {min(slices)} to {max(slices)}, but none in {shown}, counted from 0")
    return polygons, slices


def label_map(header, grid, segment, frame_of_reference):
    """The array of the labels of structures of an RTSTRUCT on the grid of an image, whose labels are the numbers of the structures.

    segment               Number of the only structure, or a list of those that are one region together; None for the only one.
    frame_of_reference    FrameOfReferenceUID of the image; empty if it is not known.
    """
    every = structures(header)
    names = {number: structure.name for number, structure in every.items()}
    if grid is None:
        raise ValueError(
            "it is an RTSTRUCT, whose contours are voxels on the grid of an image only: pass it as the mask of an image, or "
            f"radiomics.read_image(path, segment=..., image=...); its structures are {listed(names)}"
        )
    if len(grid.spacing) != 3:
        raise ValueError("it is an RTSTRUCT, for volumes only")
    closed = [number for number, structure in every.items() if structure.is_closed()]
    wanted = closed if segment is None else [number for number in np.atleast_1d(segment).tolist() if number in every]
    if not wanted:
        what = "no structure with closed contours" if segment is None else f"no structure {segment}"
        raise ValueError(f"the RTSTRUCT has {what}; its structures are {listed(names)}")
    if segment is None and len(wanted) > 1:
        text = (
            f"the RTSTRUCT has the structures {listed({number: names[number] for number in wanted})}, which may overlap"
        )
        raise OverlappingSegments(
            f"{text}: choose one by its name or number, such as label='{names[wanted[0]]}'", wanted
        )
    labels = np.zeros(grid.array.shape[:3], np.uint8 if max(wanted) < 256 else np.uint16)
    if max(wanted) >= 2**16:
        labels = labels.astype(np.int64)
    for number in wanted:
        what = f"the structure {number} ({names[number]})"
        if every[number].problem:
            raise ValueError(f"{what} {every[number].problem}")
        _check_frame(header, every[number], what, frame_of_reference)
        box, inside = _inside(*_polygons(every[number], what, grid), labels.shape)
        if not inside.any():
            warn(f"{what} has no center of a voxel inside its contours")
        labels[box][inside] = number
    return labels
