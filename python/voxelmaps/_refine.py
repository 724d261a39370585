# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Seeds from a segmentation that is to be refined: what of it is right with certainty, except where strokes say otherwise."""

import math
from typing import Any, NamedTuple

import numpy as np

from . import _image, _seeds
from ._arrays import array_like
from ._masks import integers


class Refined(NamedTuple):
    """What of a segmentation is certain.

    seeds         Seeds: those of the certain voxels that are neighbors of others.
    certain       Labels of the certain voxels in a box of the image, 0 elsewhere; outside of the box, all voxels are certain.
    box           Slices.
    background    The label there.
    """

    seeds: Any
    certain: Any
    box: tuple[slice, ...]
    background: int

    def at(self, indices):
        """The labels at indices, one array per axis; 0 where nothing is certain."""
        inside = _are_inside(indices, self.box)
        labels = np.full(len(indices[0]), self.background, np.uint16)
        labels[inside] = self.certain[tuple(i[inside] - part.start for i, part in zip(indices, self.box))]
        return labels

    def part(self, box):
        """The labels in another box."""
        labels = np.full([part.stop - part.start for part in box], self.background, np.uint16)
        both = [slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(box, self.box)]
        if all(part.start < part.stop for part in both):
            here, there = (
                tuple(slice(p.start - b.start, p.stop - b.start) for p, b in zip(both, of)) for of in (box, self.box)
            )
            labels[here] = self.certain[there]
        return labels


def _are_inside(indices, box):
    return np.logical_and.reduce([(i >= part.start) & (i < part.stop) for i, part in zip(indices, box)])


def _parts(count, step):
    """Slices of an axis that pair each voxel with the one so many steps ahead: of voxels, and of those ahead."""
    return slice(0, count - step), slice(step, count)


def _along(axis, part):
    return (slice(None),) * axis + (part,)


def _borders(values):
    """Where a voxel has a face neighbor with another value."""
    borders = np.zeros(values.shape, bool)
    for axis, count in enumerate(values.shape):
        here, ahead = (_along(axis, part) for part in _parts(count, 1))
        differ = values[here] != values[ahead]
        borders[here] |= differ
        borders[ahead] |= differ
    return borders


def _squared_distances(targets, sizes, distance):
    """Squared distances in mm to the nearest target, those up to a distance exactly; others are larger."""
    squares = np.where(targets, np.float32(0), np.float32(np.inf))
    for axis, (count, size) in enumerate(zip(targets.shape, sizes)):
        former = squares.copy()
        for step in range(1, min(math.floor(distance / size), count - 1) + 1):
            here, ahead = (_along(axis, part) for part in _parts(count, step))
            square = np.float32((step * size) ** 2)
            np.minimum(squares[here], former[ahead] + square, out=squares[here])
            np.minimum(squares[ahead], former[here] + square, out=squares[ahead])
    return squares


def _rims(values):
    """Where a voxel that is not 0 has a neighbor, also across edges and corners, with another value."""
    least = greatest = values
    for axis, count in enumerate(values.shape):
        here, ahead = (_along(axis, part) for part in _parts(count, 1))
        former = least, greatest
        least, greatest = least.copy(), greatest.copy()
        for function, result, old in zip((np.minimum, np.maximum), (least, greatest), former):
            function(result[here], old[ahead], out=result[here])
            function(result[ahead], old[here], out=result[ahead])
    return (values != 0) & (least != greatest)


def seeds_of(segmentation, distance, background, scene, largest):
    """The Refined of a segmentation. Seeds are of voxels at least a distance in mm from the next border, those that are neighbors of others. Paths
    from outside reach what these enclose only through them. A label that is nowhere that thick has the voxels farthest from its border.

    background    Label of the voxels that are 0, or None for the one after the greatest label.
    """
    what = "refine"
    array = array_like(scene.opened.on_grid(segmentation, what), what, scene.pixels, scene.shape, may_be_on_host=True)
    numbers, labels = integers(array, what, "it must have labels, and 0 in the background").nonzero()
    if len(numbers) == 0:
        raise ValueError("refine has no voxel with a label: it must be a segmentation")
    if labels.min() < 0:
        raise ValueError(f"refine has the value {labels.min():g}, but labels must be from 1 to {largest}")
    background = int(labels.max()) + 1 if background is None else background
    for label in (int(labels.max()), background):
        _seeds.label_of(label, largest)
    if (labels == background).any():
        raise ValueError(f"refine_background is {background}, but refine has this label: choose another one")
    # All that is farther away than this from the labels is background.
    margins = [math.floor(distance / size) + 2 for size in scene.sizes]
    indices = np.unravel_index(numbers, scene.shape)
    box = _image.box_around([i.min() for i in indices], [i.max() for i in indices], margins, scene.shape)
    if scene.mask is not None:
        box = tuple(slice(0, n) for n in scene.shape)
    values = np.full([part.stop - part.start for part in box], background, np.uint16)
    values[tuple(i - part.start for i, part in zip(indices, box))] = labels
    squares = _squared_distances(_borders(values), scene.sizes, distance)
    certain = squares >= np.float32(distance**2)
    for label in np.flatnonzero(np.bincount(values.ravel())):
        inside = values == label
        if not (certain & inside).any():
            certain |= inside & (squares == squares[inside].max())
    certain = np.where(certain, values, np.uint16(0))
    if scene.mask is not None:
        # The mask can cut voxels off from what would be their seeds.
        certain[np.reshape(scene.mask.host(), scene.shape)[tuple(box)] == 0] = 0
    rims = _rims(certain)
    if certain.any() and not rims.any():
        raise ValueError("refine has one label at all voxels, so that there is no border to refine")
    return Refined(_seeds_at(rims, certain, box, scene), certain, box, background)


def _seeds_at(rims, certain, box, scene):
    """Seeds of the rims of what is certain in a box, except where the image is NaN or the mask is 0."""
    indices = [i + part.start for i, part in zip(np.nonzero(rims), box)]
    found = _seeds.Seeds(np.ravel_multi_index(indices, scene.shape), certain[rims])
    if "float" in scene.pixels.dtype:
        components = max(scene.components, 1)
        at = (found.numbers[:, None] * components + np.arange(components)).ravel()
        found = _chosen(found, ~np.isnan(scene.pixels.at(at)).reshape(-1, components).any(axis=1))
    if scene.mask is not None:
        found = _chosen(found, scene.mask.at(found.numbers) != 0)
    return found


def _chosen(seeds, where):
    return _seeds.Seeds(*(np.ascontiguousarray(each[where]) for each in seeds))


def with_strokes(strokes, refined, distance, scene):
    """The strokes, and the seeds of a Refined. Where a stroke contradicts what is certain, other labels are not certain within a distance in
    mm: it makes a hole, whose edge has seeds as the other borders have."""
    indices, seeds = np.unravel_index(strokes.numbers, scene.shape), refined.seeds
    found = refined.at(indices)
    contradict = (found != 0) & (found != strokes.labels)
    if contradict.any():
        seeds = _around_holes(_chosen(strokes, contradict), refined, distance, scene)
    is_painted = np.zeros(math.prod(scene.shape), bool)
    is_painted[strokes.numbers] = True
    return _seeds.Seeds(*map(np.concatenate, zip(strokes, _chosen(seeds, ~is_painted[seeds.numbers]))))


def _around_holes(strokes, refined, distance, scene):
    """The seeds of a Refined if strokes make holes in what is certain."""
    shape, indices = scene.shape, np.unravel_index(strokes.numbers, scene.shape)
    # The edge of a hole is in the box, and so are all of its neighbors.
    margins = [math.floor(distance / size) + 2 for size in scene.sizes]
    box = _image.box_around([i.min() for i in indices], [i.max() for i in indices], margins, shape)
    certain = refined.part(box)
    for label in np.flatnonzero(np.bincount(strokes.labels)):
        targets = np.zeros(certain.shape, bool)
        targets[tuple(i[strokes.labels == label] - part.start for i, part in zip(indices, box))] = True
        near = _squared_distances(targets, scene.sizes, distance) <= np.float32(distance**2)
        certain[near & (certain != label)] = 0
    # Neighbors of the outermost voxels of the box are beyond it, unless the image ends there.
    inner = tuple(slice(part.start + (part.start > 0), part.stop - (part.stop < n)) for part, n in zip(box, shape))
    inside = tuple(slice(i.start - part.start, i.stop - part.start) for i, part in zip(inner, box))
    made = _seeds_at(_rims(certain)[inside], certain[inside], inner, scene)
    others = _chosen(refined.seeds, ~_are_inside(np.unravel_index(refined.seeds.numbers, shape), inner))
    return _seeds.Seeds(*map(np.concatenate, zip(others, made)))
