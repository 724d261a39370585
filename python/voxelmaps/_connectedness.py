# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Fuzzy connectedness of arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _core
from ._suggestions import did_you_mean, with_known_keywords
from ._feature_maps import MAX_THREADS, arrays_of_images, count, device_of_arrays, number, spacing_of, triple

if TYPE_CHECKING:
    from ._types import (
        Adjacency,
        Affinity,
        Array,
        Device,
        ImageLike,
        Integer,
        Number,
        Numbers,
        Path,
        Precision,
        SameArray,
    )

# In the order of voxelmaps::FuzzyConnectednessEnums.
AFFINITIES = ("geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference")
ADJACENCIES = ("face", "face_edge", "full")


def number_of_name(names, value, what):
    if value not in names:
        raise ValueError(f"{what} is {value!r}{did_you_mean(value, names)}, but must be one of {', '.join(names)}")
    return names.index(value)


def is_affinity_given(affinity, object_mean, object_variance, difference_variance):
    """Whether there is an affinity, or it has no parameters, so that none is estimated."""
    given = (object_mean, object_variance, difference_variance)
    if all(value is None for value in given):
        return affinity == "absolute_difference"
    if affinity not in ("homogeneity", "absolute_difference") and any(value is None for value in given):
        raise ValueError("object_mean, object_variance and difference_variance must be given together, or not at all")
    return True


# Parameters that only some affinities have, with their defaults. Those of images of vectors have other names.
_OF_OBJECT = ("geometric_mean", "weighted_sum", "minimum")
_PARAMETERS_OF_AFFINITIES = {
    "object_mean": (None, _OF_OBJECT),
    "object_mean_vector": (None, _OF_OBJECT),
    "object_variance": (None, _OF_OBJECT),
    "object_covariance": (None, _OF_OBJECT),
    "difference_mean": (0.0, ("weighted_sum",)),
    "difference_mean_vector": (None, ("weighted_sum",)),
    "difference_variance": (None, (*_OF_OBJECT, "homogeneity")),
    "difference_covariance": (None, (*_OF_OBJECT, "homogeneity")),
    "weight": (0.5, ("weighted_sum",)),
}
_ESTIMATION_RADIUS = 2


def check_effects(affinity, is_given, estimation_radius, **given):
    """Raise ValueError for a parameter that has another value than its default, but no effect."""
    for name, value in given.items():
        default, affinities = _PARAMETERS_OF_AFFINITIES[name]
        if value is not None and (default is None or not np.array_equal(value, default)) and affinity not in affinities:
            raise ValueError(
                f"{name} is {value!r}, but has no effect with the affinity {affinity!r}; it belongs to {', '.join(affinities)}"
            )
    if is_given and estimation_radius != _ESTIMATION_RADIUS:
        raise ValueError(
            f"estimation_radius is {estimation_radius!r}, but nothing is estimated: "
            + ("the affinity has no parameters" if affinity == "absolute_difference" else "the affinity is given")
        )


def parameters_of_affinity(affinity, names):
    """Those of the names of means and variances that an affinity has."""
    return [name for name in names if affinity in _PARAMETERS_OF_AFFINITIES[name][1]]


def check_effects_by_name(given, parameters, is_estimated):
    """Raise ValueError for a parameter of a filter or of a session that is given, but has no effect with the others.

    given           Dict of what is given.
    parameters      Dict of all parameters: of given ones, and of others at least of what these need.
    is_estimated    Whether any affinity is estimated.
    """
    affinity = parameters.get("affinity_function", AFFINITIES[0])
    moments = {name: value for name, value in given.items() if name in _PARAMETERS_OF_AFFINITIES}
    has_parameters = affinity != "absolute_difference"
    radius = given.get("estimation_radius", _ESTIMATION_RADIUS)
    check_effects(affinity, not (is_estimated and has_parameters), radius, **moments)
    for switch in ("estimate_affinity_from_seeds", "estimate_affinity_of_every_label"):
        for name, value in moments.items():
            # Values of single labels replace what is estimated from all seeds.
            is_used = name == "weight" or isinstance(value, Mapping) and switch == "estimate_affinity_from_seeds"
            if parameters.get(switch) and not is_used:
                raise ValueError(f"{name} is {value!r}, but has no effect with {switch}: leave one of them out")
    for name, default, other in (
        ("crop_margin", 10, "crop_to_seeds"),
        ("crop_margin_in_millimeters", False, "crop_to_seeds"),
        ("inside_pixel_value", 1, "mask_image"),
    ):
        value, needed = given.get(name, default), parameters.get(other)
        is_default = np.asarray(value).dtype.kind in "biuf" and np.all(np.equal(value, default))
        if not is_default and (needed is None or needed is False):
            raise ValueError(f"{name} is {value!r}, but has no effect without {other}")


def numbers_of_indices(indices, shape, order="C", of="an array of the shape"):
    """Numbers of voxels in the order of memory, from an index or several.

    order    "F" if the first component is that along which neighbors follow each other in memory.
    of       What has the shape, for errors.
    """
    array = np.asarray(indices) if isinstance(indices, np.ndarray) else None
    if array is not None and array.ndim == 2 and array.dtype.kind in "iu" and array.shape[1] == len(shape):
        # Many at once; those that are wrong are named below.
        if ((array >= 0) & (array < np.array(shape))).all():
            return np.ravel_multi_index(tuple(array.T), shape, order=order).tolist()
    indices = [indices] if len(indices) > 0 and np.ndim(indices[0]) == 0 else list(indices)
    numbers = []
    for index in indices:
        try:
            index = tuple(operator.index(i) for i in index)
        except TypeError:
            raise TypeError(f"the seed {index!r} must be an index of integers, one per axis of x") from None
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape)):
            raise ValueError(f"the seed {index} is not an index of {of} {shape}")
        numbers.append(int(np.ravel_multi_index(index, shape, order=order)))
    return numbers


def indices_of_points(points, volume):
    """Indices of the voxels, in the order of the axes, at physical points in mm, which are one point or several.

    volume    The image, or None for an array.
    """
    if volume is None:
        raise TypeError(
            "seed_points are points in mm, which need the geometry of an image of ITK or SimpleITK, but the image is an array: "
            "give indices of voxels as seeds"
        )
    dimension = len(volume.spacing)
    rule = f"{dimension} finite numbers x, y{', z' * (dimension == 3)} in mm, or a list of such points"
    try:
        array = np.atleast_2d(np.asarray(points, float))
    except (TypeError, ValueError):
        raise TypeError(f"a seed point is {points!r}, but must be {rule}") from None
    if array.ndim != 2 or array.shape[1] != dimension or array.shape[0] == 0 or not np.isfinite(array).all():
        raise ValueError(f"a seed point is {points!r}, but must be {rule}")
    indices = []
    for point in array.tolist():
        # As itk::Image::TransformPhysicalPointToIndex rounds.
        index = [math.floor(i + 0.5) for i in volume.index(point)]
        if not all(0 <= i < n for i, n in zip(index, volume.size)):
            ends = [volume.point(corner) for corner in ([0] * dimension, [n - 1 for n in volume.size])]
            first, last = (tuple(round(i, 4) + 0.0 for i in end) for end in ends)
            raise ValueError(
                f"the seed point {tuple(point)} mm is outside of the image, whose first and last voxels are at {first} and {last}"
            )
        indices.append(tuple(reversed(index)))
    return indices


def _seed_numbers(seeds, shape):
    """Numbers of voxels in the order of memory, from indices, or from an array of the shape of the image."""
    if seeds is None:
        raise ValueError("there are no seeds: give seeds, indices of voxels, or seed_points, points in mm")
    if not isinstance(seeds, (list, tuple)):
        array = _arrays.array_of(seeds, "seeds")
        if array.shape == shape and len(shape) > 1:
            numbers, _ = _arrays.bytes_of(array, "seeds").nonzero()
            if len(numbers) == 0:
                raise ValueError("seeds is an array of the shape of x, but no voxel is a seed")
            return numbers.tolist()
        seeds = array.host()
    if len(seeds) == 0:
        raise ValueError("there are no seeds, but at least one is needed")
    return numbers_of_indices(seeds, shape)


def check_mask_at(numbers, mask, shape, labels=None):
    """Raise ValueError if a seed is outside a mask.

    mask      Array of bytes in C order, or None.
    labels    Of the seeds, for the error.
    """
    if mask is None:
        return
    numbers = np.asarray(numbers)
    outside = np.flatnonzero(mask.at(numbers) == 0)
    if len(outside) > 0:
        index = tuple(int(i) for i in np.unravel_index(numbers[outside[0]], shape))
        of_label = "" if labels is None else f" of the label {labels[outside[0]]}"
        raise ValueError(f"the seed {index}{of_label} is outside the mask")


def surroundings(image, mask, numbers, radius, shape):
    """The box of all voxels within a radius of seeds, in host memory, which gives the same estimates as the image.

    image, mask    Arrays in C order; the mask may be None. The shape is that of the image without an axis of components.
    numbers        Of the seeds, in the order of memory.

    Returns image, mask, numbers of the seeds in the box, and its shape.
    """
    if image.library.device is None:
        return image, mask, numbers, shape
    indices = np.unravel_index(numbers, shape)
    begins = [max(int(i.min()) - radius, 0) for i in indices]
    box = tuple(slice(begin, min(int(i.max()) + radius + 1, n)) for begin, i, n in zip(begins, indices, shape))
    sizes = tuple(part.stop - part.start for part in box)

    def on_host(array):
        part = np.ascontiguousarray(_arrays.Array(array.array[box], array.library).host())
        return _arrays.Array(part, _arrays.Library("NumPy"))

    moved = tuple(i - begin for i, begin in zip(indices, begins))
    return on_host(image), None if mask is None else on_host(mask), np.ravel_multi_index(moved, sizes), sizes


@with_known_keywords
def fuzzy_connectedness(
    x: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | None = None,
    mask: Array | ImageLike | Path | None = None,
    *,
    seed_points: Array | None = None,
    object_mean: Number | None = None,
    object_variance: Number | None = None,
    difference_mean: Number = 0.0,
    difference_variance: Number | None = None,
    estimation_radius: Integer = 2,
    affinity: Affinity = "geometric_mean",
    weight: Number = 0.5,
    minimum_strength: Number = 0.0,
    adjacency: Adjacency = "face",
    distance_weighting: bool = False,
    spacing: Numbers | None = None,
    precision: Precision = "float",
    out: Array | None = None,
    device: Device = None,
    threads: Integer = 0,
) -> SameArray:
    """Compute the strength of the connection of every voxel to the seeds: the weakest link of the strongest path.

    x              Intensities: an array with the axes (y, x) or (z, y, x), of NumPy, PyTorch, CuPy, JAX or Numba, in host
                   memory or on a CUDA device, or anything that numpy.asarray converts; or an image of ITK or SimpleITK, or the
                   path of one.
    seeds          Index of a voxel, in the order of the axes; a list of indices; or an array of the shape of x, not 0 at seeds,
                   or an image on its grid.
    mask           Array of the shape of x, or image on its grid; paths do not enter voxels where it is 0.
    seed_points    In addition to or instead of seeds: a physical point x, y, z in mm (LPS, as in ITK), or a list of points, if x
                   is an image. 3D Slicer (RAS) has the opposite sign for x and y.
    object_mean, object_variance, difference_variance
                   Of the intensities of the object, and of the differences of neighbors in it. If all are left out, they are
                   estimated from the boxes of estimation_radius voxels around the seeds.
    difference_mean, weight
                   Parameters of the affinity "weighted_sum".
    affinity       "geometric_mean" (Li et al. 2016), "weighted_sum", "minimum", "homogeneity" or "absolute_difference".
    minimum_strength
                   Smaller strengths are set to 0 and not searched.
    adjacency      "face", "face_edge" or "full": which voxels are neighbors.
    distance_weighting, spacing
                   Whether affinities decrease with the distance of neighbors; the size of a voxel along each axis, in mm.
    precision      "float" for strengths of float32, "double" for float64.
    out            Array of the shape of x in C order that takes the strengths.
    device         For arrays in host memory: "cpu", "cuda" or the number of a CUDA device; by default the CUDA device 0, if
                   there is one and x has at least 8192 voxels. Values do not depend on it.
    threads        Number of threads on the CPU; 0 for one per processor.

    Returns the strengths in [0, 1], an array of the library of x, on its device. On a CUDA device they are computed in the
    current stream of the library. Gradients are not computed.

    Raises ValueError or TypeError, with the value and the rule, for invalid arguments, and RuntimeError if a device fails.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.array([[9, 9, 0, 9]], np.float32)
    >>> strengths = voxelmaps.fuzzy_connectedness(x, (0, 0), object_mean=9, object_variance=1, difference_variance=1)
    >>> bool(strengths[0, 1] == 1 and strengths[0, 3] < 0.1)
    True
    """
    x, seeds, mask, spacing, volume = arrays_of_images(x, seeds, mask, spacing, ("seeds", "mask"))
    seeds, mask = _arrays.in_order_of(x, seeds, "seeds"), _arrays.in_order_of(x, mask, "mask")
    image = _arrays.pixels_of(_arrays.array_of(x, "x"), "x")
    library = image.library
    if image.dtype in ("int64", "uint64"):
        raise TypeError(f"x has voxels of type {image.dtype}; convert it to int32, uint32 or float64")
    shape = image.shape
    if len(shape) not in (2, 3):
        raise ValueError(f"x has {len(shape)} axes, but must have 2 or 3")
    if precision not in ("float", "double"):
        raise ValueError(f"precision is {precision!r}, but must be float or double")
    if mask is not None:
        mask = _arrays.bytes_of(_arrays.array_like(mask, "mask", image, shape), "mask")
    threads = count(threads, "threads", 0, MAX_THREADS)
    radius = count(estimation_radius, "estimation_radius", 0, 2**31 - 1)
    function = number_of_name(AFFINITIES, affinity, "affinity")
    numbers = [] if seeds is None and seed_points is not None else _seed_numbers(seeds, shape)
    if seed_points is not None:
        numbers = numbers + numbers_of_indices(indices_of_points(seed_points, volume), shape)
    check_mask_at(numbers, mask, shape)
    is_given = is_affinity_given(affinity, object_mean, object_variance, difference_variance)
    check_effects(
        affinity,
        is_given,
        radius,
        object_mean=object_mean,
        object_variance=object_variance,
        difference_mean=difference_mean,
        difference_variance=difference_variance,
        weight=weight,
    )
    if is_given:
        moments = tuple(
            number(default if value is None else value, name)
            for name, value, default in (
                ("object_mean", object_mean, 0.0),
                ("object_variance", object_variance, 1.0),
                ("difference_mean", difference_mean, 0.0),
                ("difference_variance", difference_variance, 1.0),
            )
        )
    else:
        near, near_mask, near_numbers, near_shape = surroundings(image, mask, numbers, radius, shape)
        moments = _core.estimate_affinity(
            pixels=near.address,
            pixel_type=_arrays.PIXEL_TYPES.index(near.dtype),
            size=triple(near_shape, 1),
            mask=0 if near_mask is None else near_mask.address,
            seeds=near_numbers,
            affinity_function=function,
            radius=radius,
            threads=threads,
        )
    sizes = spacing_of(spacing, len(shape))
    dtype = "float32" if precision == "float" else "float64"
    output = _arrays.output_of(out, image, shape, dtype)
    _core.compute_fuzzy_connectedness(
        pixels=image.address,
        pixel_type=_arrays.PIXEL_TYPES.index(image.dtype),
        size=triple(shape, 1),
        mask=0 if mask is None else mask.address,
        seeds=numbers,
        affinity_function=function,
        adjacency=number_of_name(ADJACENCIES, adjacency, "adjacency"),
        spacing=triple(sizes, 1.0),
        moments=moments,
        weight=number(weight, "weight"),
        minimum_strength=number(minimum_strength, "minimum_strength"),
        distance_weighting=bool(distance_weighting),
        output=output.address,
        is_double=precision == "double",
        threads=threads,
        device=device_of_arrays(device, library),
        may_use_cpu=device is None and library.device is None,
        is_on_device=library.device is not None,
        stream=library.stream(),
    )
    return library.result(output.array, out)
