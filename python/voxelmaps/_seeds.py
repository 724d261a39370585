# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Seeds: indices of voxels in the order of the axes of the array, points in mm, and arrays of labels."""

import math
import operator
import reprlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _image, _masks

# An image has more values at more than half of its voxels; strokes have fewer.
_MANY_LABELS = 100
_NO_SEEDS = "there are no seeds: give seeds, indices of voxels or an array, or seed_points, points in mm"


class Seeds(NamedTuple):
    """Numbers of the voxels that are seeds, in the order of memory, and their labels: arrays of NumPy."""

    numbers: Any
    labels: Any


def label_of(value, largest):
    """A label from 1 to the largest."""
    try:
        label = operator.index(value)
    except TypeError:
        raise TypeError(f"the label {value!r} is not an integer") from None
    if not 1 <= label <= largest:
        wide = "" if largest > 255 else "; those of label_type uint16 are up to 65535"
        raise ValueError(f"the label {label} is not from 1 to {largest}{wide}")
    return label


def _numbers_of_indices(indices, scene):
    """Numbers of voxels in the order of memory, from an index or several, in the order of the axes of the image."""
    opened, shape = scene.opened, scene.given_shape
    if not isinstance(indices, (list, tuple, np.ndarray)):
        raise TypeError(f"a seed must be an index or a list of indices, not {type(indices).__name__}")
    if getattr(indices, "shape", None) == shape and len(shape) > 2:
        raise TypeError(
            "the seeds of a label are an array of the shape of the image, but must be indices: np.argwhere(array) has them"
        )
    is_nonzero = isinstance(indices, tuple) and all(isinstance(each, np.ndarray) and each.ndim for each in indices)
    if isinstance(indices, np.ndarray) and indices.ndim == 2 and indices.dtype.kind in "iu":
        # Many at once; those that are wrong are named below.
        if indices.shape[1] == len(shape) and ((indices >= 0) & (indices < np.array(shape))).all():
            return np.ravel_multi_index(opened.of_given(indices.T), scene.shape).tolist()
    indices = [indices] if len(indices) > 0 and np.ndim(indices[0]) == 0 else list(indices)
    numbers = []
    for index in indices:
        try:
            index = tuple(operator.index(i) for i in index)
        except TypeError:
            raise TypeError(
                f"the seed {reprlib.repr(index)} must be an index of integers, one per axis of the image"
            ) from None
        if is_nonzero or len(index) != len(shape) or not _is_inside(index, shape):
            advice = ": numpy.argwhere has indices of voxels as rows" if is_nonzero or len(index) > 3 else ""
            axes = opened.order_of_indices(len(shape))
            raise ValueError(
                f"the seed {reprlib.repr(index)} is not an index of the image, which has the shape {shape} ({axes}){advice}"
            )
        numbers.append(int(np.ravel_multi_index(opened.of_given(index), scene.shape)))
    return numbers


def _is_inside(index, shape):
    return all(0 <= i < n for i, n in zip(index, shape))


def _numbers_of_points(points, scene):
    """Numbers of the voxels at physical points in mm, which are one point or several."""
    image, shape = scene.opened.image, scene.shape
    if image.spacing is None:
        raise TypeError(
            "seed_points are points in mm, which need the geometry of an image, but the image is an array: give indices of voxels as seeds"
        )
    dimension = len(shape)
    rule = f"{dimension} finite numbers x, y{', z' * (dimension == 3)} in mm, or a list of such points"
    try:
        array = np.atleast_2d(np.asarray(points, float))
    except (TypeError, ValueError):
        raise TypeError(f"a seed point is {points!r}, but must be {rule}") from None
    if array.ndim != 2 or array.shape[1] != dimension or array.shape[0] == 0 or not np.isfinite(array).all():
        raise ValueError(f"a seed point is {points!r}, but must be {rule}")
    numbers = []
    for point in array.tolist():
        # As itk::Image::TransformPhysicalPointToIndex rounds.
        index = tuple(math.floor(i + 0.5) for i in reversed(image.index(point)))
        if not _is_inside(index, shape):
            ends = [image.point(corner) for corner in ([0] * dimension, [n - 1 for n in reversed(shape)])]
            first, last = (tuple(round(i, 4) + 0.0 for i in end) for end in ends)
            raise ValueError(
                f"the seed point {tuple(point)} mm is outside of the image, whose first and last voxels are at {first} and {last} (LPS, not RAS)"
            )
        numbers.append(int(np.ravel_multi_index(index, shape)))
    return numbers


def of_array(seeds, scene, largest=65535):
    """The Seeds of an array or an image of labels, or none."""
    array = scene.opened.on_grid(seeds, "seeds")
    array = _arrays.array_like(array, "seeds", scene.pixels, scene.shape, may_be_on_host=True)
    numbers, values = _masks.integers(array, "seeds", "seeds are labels, and 0 where there is none").nonzero()
    voxels = math.prod(scene.shape)
    if 2 * len(numbers) > voxels and len(np.unique(values)) >= _MANY_LABELS:
        raise ValueError(
            f"seeds has values other than 0 at {len(numbers)} of {voxels} voxels, {len(np.unique(values))} of them, as an "
            "image has: seeds are labels of some voxels, and 0 where there is none"
        )
    if len(values) and not 0 <= values.min() <= values.max() <= largest:
        wrong = float(values[(values < 0) | (values > largest)][0])
        raise ValueError(f"seeds has the value {wrong:.12g}, but values must be from 0 to {largest}")
    return Seeds(numbers.astype(np.int64, copy=False), values.astype(np.uint16))


def _is_indices(seeds, shape):
    """Whether seeds are indices, and not an array of labels or an image."""
    if isinstance(seeds, np.ndarray):
        is_list_of_indices = seeds.ndim == 2 and seeds.shape[1] == len(shape) and seeds.shape != shape
        return type(seeds) is np.ndarray and (seeds.ndim == 1 or is_list_of_indices)
    return isinstance(seeds, (list, tuple)) and not _image.is_image(seeds)


def _is_mapping(seeds):
    # Images of TorchIO are dicts, too.
    return isinstance(seeds, Mapping) and not _image.is_image(seeds)


def unlabeled(seeds, points, scene):
    """Numbers of the voxels of a Scene that are seeds of one object, in the order of memory."""
    numbers = []
    if _is_mapping(seeds):
        raise TypeError(
            "seeds is a dict, as voxelmaps.labels has it, but must be the seeds of one object: an index, or a list of them"
        )
    if _is_indices(seeds, scene.given_shape):
        numbers = _numbers_of_indices(seeds, scene)
    elif seeds is not None:
        numbers, values = of_array(seeds, scene)
        labels = np.flatnonzero(np.bincount(values))
        if len(labels) > 1:
            raise ValueError(
                f"seeds has the labels {', '.join(map(str, labels[:20]))}, but must be the seeds of one object: choose one, such as "
                f"seeds == {labels[0]}, or use voxelmaps.labels"
            )
        numbers = numbers.tolist()
    if points is not None:
        numbers = numbers + _numbers_of_points(points, scene)
    if not numbers:
        raise ValueError(_NO_SEEDS)
    return numbers


def _of_dicts(seeds, points, scene, largest):
    """The Seeds of dicts of indices and of points by label, each of which may be None."""
    numbers, labels = [], []
    for given, numbers_of in ((seeds, _numbers_of_indices), (points, _numbers_of_points)):
        for label, each in (given or {}).items():
            label = label_of(label, largest)
            of_label = numbers_of(each, scene)
            numbers += of_label
            labels += [label] * len(of_label)
    numbers, labels = np.array(numbers, np.int64), np.array(labels, np.uint16)
    order = np.lexsort((labels, numbers))
    numbers, labels = numbers[order], labels[order]
    for first in np.flatnonzero((numbers[1:] == numbers[:-1]) & (labels[1:] != labels[:-1]))[:1]:
        raise ValueError(
            f"the voxel {_index_of(numbers[first], scene)} is a seed of the labels {labels[first]} and {labels[first + 1]}, but a "
            "voxel may be a seed of one label only"
        )
    return Seeds(numbers, labels)


def labeled(seeds, points, scene, largest, may_be_empty=False):
    """The Seeds that seeds and points mean."""
    if isinstance(seeds, Seeds):
        return seeds
    is_dict = seeds is None or _is_mapping(seeds)
    if points is not None and not (is_dict and isinstance(points, Mapping)):
        raise TypeError("seed_points must be a dict of labels and points in mm, and seeds a dict or left out")
    if _is_indices(seeds, scene.given_shape):
        first = seeds[0] if len(seeds) > 0 and np.ndim(seeds[0]) > 0 else seeds
        # A list of lists may be an array of labels.
        if isinstance(seeds, np.ndarray) or np.ndim(first) != len(scene.shape) - 1:
            raise TypeError(
                f"seeds is a {type(seeds).__name__}, but must have labels: a dict such as {{1: {reprlib.repr(first)}}}, or an array"
            )
    found = _of_dicts(seeds, points, scene, largest) if is_dict else of_array(seeds, scene, largest)
    if len(found.numbers) == 0 and not may_be_empty:
        raise ValueError(_NO_SEEDS)
    return found


def _index_of(voxel, scene):
    return scene.opened.as_given([int(i) for i in np.unravel_index(voxel, scene.shape)])


def check_inside(numbers, scene, labels=None):
    """Raise ValueError if a seed is outside the mask, or has no intensity.

    labels    Labels of the seeds, for the error.
    """
    numbers = np.asarray(numbers)
    wrong, reason = np.zeros(len(numbers), bool), ""
    if "float" in scene.pixels.dtype:
        components = max(scene.components, 1)
        values = scene.pixels.at((numbers[:, None] * components + np.arange(components)).ravel())
        wrong, reason = np.isnan(values).reshape(-1, components).any(axis=1), "has no intensity, but NaN"
    if scene.mask is not None and not wrong.any():
        wrong, reason = scene.mask.at(numbers) == 0, "is outside the mask"
    for first in np.flatnonzero(wrong)[:1]:
        of_label = "" if labels is None else f" of the label {labels[first]}"
        raise ValueError(f"the seed {_index_of(numbers[first], scene)}{of_label} {reason}")
