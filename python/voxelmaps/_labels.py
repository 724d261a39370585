# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels of arrays from labeled seeds."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _arrays, _core
from ._connectedness import (
    ADJACENCIES,
    AFFINITIES,
    check_effects,
    check_mask_at,
    indices_of_points,
    is_affinity_given,
    number_of_name,
    numbers_of_indices,
    surroundings,
)
from ._suggestions import with_known_keywords
from ._feature_maps import MAX_THREADS, arrays_of_images, count, device_of_arrays, number, spacing_of, triple

if TYPE_CHECKING:
    from ._types import (
        Adjacency,
        Affinity,
        Array,
        Competition,
        Device,
        ImageLike,
        Integer,
        LabeledIndices,
        LabelType,
        MomentOfLabels,
        Number,
        Numbers,
        Path,
        Precision,
        TieRule,
    )

# In the order of voxelmaps::RelativeFuzzyConnectednessEnums.
COMPETITIONS = ("relative", "iterative")
TIE_RULES = ("background", "lowest_label")

LABEL_TYPES = ("uint8", "uint16")

# What an affinity consists of, in the order of _core.LabelsJob.
_AFFINITY = ("object_mean", "object_variance", "difference_mean", "difference_variance")
# Of scalars, in that order, for what the affinity function does not use.
NO_AFFINITY = (0.0, 1.0, 0.0, 1.0)

# Sums of two intensities are then finite, and so are the factors of costs.
_MAX_MEAN = 8.9e307
_MIN_VARIANCE, _MAX_VARIANCE = 1e-299, 1e307

_MAX_COMPONENTS = 16

# Of the voxels, that may have no label without a warning.
_LARGE_PART = 0.1


class Segmentation(NamedTuple):
    """Labels of voxels, and how certain they are; images, arrays or DataArrays. Strength and margin are None if they were not
    asked for.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> result = voxelmaps.labels(x, {1: (0, 0), 2: (0, 5)}, affinity="absolute_difference", strength=True)
    >>> result.labels.tolist(), result.strength.tolist(), result.margin
    ([[1, 1, 1, 2, 2, 2]], [[1.0, 0.5, 0.5, 0.5, 0.5, 1.0]], None)
    """

    labels: Any
    strength: Any = None
    margin: Any = None


class LabelAffinity(NamedTuple):
    """Means and variances of the affinity of one label, in units of the intensities.

    Examples

    >>> import voxelmaps
    >>> voxelmaps.LabelAffinity(object_mean=75, object_variance=20, difference_mean=0, difference_variance=50)
    LabelAffinity(object_mean=75, object_variance=20, difference_mean=0, difference_variance=50)
    """

    object_mean: float
    object_variance: float
    difference_mean: float
    difference_variance: float


# --- Seeds -------------------------------------------------------------------------------------------------------------


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


def seeds_of_array(array, largest, what):
    """Numbers of the voxels of an Array that are not 0, in the order of memory, and their labels."""
    if array.dtype not in (*_arrays.PIXEL_TYPES, "bool", "float16"):
        raise TypeError(f"{what} has voxels of type {array.dtype}, but labels must be integers")
    # NaN is not 0, and no label.
    numbers, values = array.nonzero()
    _arrays.check_integers(values, largest, what)
    return numbers.astype(np.int64, copy=False), values.astype(np.uint16)


def _indices(indices):
    """Indices, which may be one."""
    if not isinstance(indices, (list, tuple, np.ndarray)):
        raise TypeError(f"a seed must be an index or a list of indices, not {type(indices).__name__}")
    return indices


def with_points(seeds, points, indices_of):
    """The seeds, with those at points in mm.

    seeds         What a user gives; None for none.
    points        A dict of labels and points; None for none.
    indices_of    Indices of the voxels at the points of a label, as a list.
    """
    if points is None:
        if seeds is None:
            raise ValueError("there are no seeds: give seeds, indices of voxels, or seed_points, points in mm")
        return seeds
    if not isinstance(points, Mapping) or not (seeds is None or isinstance(seeds, Mapping)):
        raise TypeError("seed_points must be a dict of labels and points in mm, and seeds a dict or left out")
    result = {}
    for label, indices in (seeds or {}).items():
        is_one = len(_indices(indices)) > 0 and np.ndim(indices[0]) == 0
        result[label] = [indices] if is_one else list(indices)
    for label, of_label in points.items():
        result[label] = result.get(label, []) + indices_of(of_label)
    return result


def seeds_of_dict(seeds, numbers_of, shape, largest):
    """The same from a dict of labels and indices.

    numbers_of    Numbers of the voxels of a list of indices.
    """
    numbers, labels = [], []
    for label, indices in seeds.items():
        label = label_of(label, largest)
        of_label = numbers_of(_indices(indices))
        numbers += of_label
        labels += [label] * len(of_label)
    numbers, labels = np.array(numbers, np.int64), np.array(labels, np.uint16)
    order = np.lexsort((labels, numbers))
    numbers, labels = numbers[order], labels[order]
    wrong = np.flatnonzero((numbers[1:] == numbers[:-1]) & (labels[1:] != labels[:-1]))
    if len(wrong) > 0:
        first, second = labels[wrong[0]], labels[wrong[0] + 1]
        raise ValueError(
            f"the voxel {_index_of(numbers[wrong[0]], shape)} is a seed of the labels {first} and {second}, but a voxel may be a "
            "seed of one label only"
        )
    return numbers, labels


def _index_of(voxel, shape):
    return tuple(int(i) for i in np.unravel_index(voxel, shape))


# --- Affinity ----------------------------------------------------------------------------------------------------------


def _is_mean(value):
    return -_MAX_MEAN <= value <= _MAX_MEAN


def _is_variance(value):
    return _MIN_VARIANCE <= value <= _MAX_VARIANCE


def affinity_value(position, value, what, number_of_components):
    """A mean (position 0 or 2) or a variance (1 or 3) of scalars, or the elements of a vector or a covariance matrix."""
    is_mean = position % 2 == 0
    if number_of_components == 0:
        value = number(value, what)
        if is_mean and not _is_mean(value):
            raise ValueError(f"{what} is {value}, but must be finite, from {-_MAX_MEAN} to {_MAX_MEAN}")
        if not is_mean and not _is_variance(value):
            raise ValueError(
                f"{what} is {value}, but must be positive and finite, from {_MIN_VARIANCE} to {_MAX_VARIANCE}"
            )
        return value
    shape = (number_of_components,) * (1 if is_mean else 2)
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is {value!r}, but must be numbers of the shape {shape}") from None
    if values.shape != shape:
        raise ValueError(f"{what} is {value!r}, but voxels of {number_of_components} components need the shape {shape}")
    return values.ravel().tolist()


def estimate(job, number_of_components, radius, label=0):
    """The affinity of the voxels around the seeds of a label, or of all labels if it is 0."""
    values, voxels = job.estimate(label, radius)
    if number_of_components == 0:
        mean, variance, difference_mean, difference_variance = values
        if not all(map(_is_mean, (mean, difference_mean))) or not all(
            map(_is_variance, (variance, difference_variance))
        ):
            of_label = f" of the label {label}" if label > 0 else ""
            raise ValueError(
                f"the {voxels} voxels around the seeds{of_label} (estimation_radius {radius}) have the mean {mean}, the variance "
                f"{variance} and the difference variance {difference_variance}, but the mean must be from {-_MAX_MEAN} to "
                f"{_MAX_MEAN}, and both variances positive and finite, from {_MIN_VARIANCE} to {_MAX_VARIANCE}: increase "
                "estimation_radius, or give object_mean, object_variance and difference_variance"
            )
    return values


def estimates_of_labels(job, number_of_components, radius, labels):
    """A dict of the affinity of each label, estimated from its own seeds."""
    return {
        label: estimate(job, number_of_components, radius, label) for label in sorted({int(label) for label in labels})
    }


# --- Computation -------------------------------------------------------------------------------------------------------


class Job:
    """A _core.LabelsJob of arrays, which must outlive it.

    image, mask    Arrays in C order, with bytes for the mask, or None. Components are the last axis of the image.
    spacing        In the order of the axes.
    seeds          Numbers of voxels, and their labels.
    """

    def __init__(
        self,
        image,
        number_of_components,
        mask,
        spacing,
        seeds,
        *,
        affinity,
        weight,
        minimum_strength,
        adjacency,
        distance_weighting,
        competition,
        tie_rule,
        threads,
    ):
        self._image, self._mask, self._seeds, self._shape = image, mask, seeds, image.shape[: len(spacing)]
        self._parameters = dict(
            pixel_type=_arrays.PIXEL_TYPES.index(image.dtype),
            number_of_components=number_of_components,
            affinity_function=number_of_name(AFFINITIES, affinity, "affinity"),
            adjacency=number_of_name(ADJACENCIES, adjacency, "adjacency"),
            spacing=triple(tuple(spacing), 1.0),
            weight=number(weight, "weight"),
            minimum_strength=number(minimum_strength, "minimum_strength"),
            distance_weighting=bool(distance_weighting),
            competition=number_of_name(COMPETITIONS, competition, "competition"),
            tie_rule=number_of_name(TIE_RULES, tie_rule, "tie_rule"),
            threads=count(threads, "threads", 0, MAX_THREADS),
        )
        self._job = self._job_of(image, mask, seeds, self._shape)
        # For estimates with a radius: a job in host memory, and its arrays.
        self._near = None
        self.set_affinity = self._job.set_affinity

    def _job_of(self, image, mask, seeds, shape):
        numbers, labels = (np.ascontiguousarray(values) for values in seeds)
        return _core.LabelsJob(
            pixels=image.address,
            size=triple(shape, 1),
            mask=0 if mask is None else mask.address,
            seeds=(numbers.ctypes.data, labels.ctypes.data, len(numbers)),
            **self._parameters,
        )

    def estimate(self, label, radius):
        """See _core.LabelsJob.estimate."""
        if self._image.library.device is None:
            return self._job.estimate(label, radius)
        if self._near is None or self._near[0] != radius:
            # All labels have the same box, which is copied to the host.
            numbers, labels = self._seeds
            near, mask, numbers, shape = surroundings(self._image, self._mask, numbers, radius, self._shape)
            self._near = radius, self._job_of(near, mask, (numbers, labels), shape), near, mask
        return self._near[1].estimate(label, radius)

    def compute(self, outputs, device, hierarchy=None):
        """Compute arrays of labels, strength and margin; None for those that are not needed.

        device       That of labels.
        hierarchy    See _core.LabelsJob.compute.
        """
        library = self._image.library
        labels, strength, margin = outputs
        strengths = [output for output in (strength, margin) if output is not None]
        self._job.compute(
            labels=labels.address,
            labels_are_16_bit=labels.dtype == "uint16",
            strength=0 if strength is None else strength.address,
            margin=0 if margin is None else margin.address,
            is_double=bool(strengths) and strengths[0].dtype == "float64",
            device=device_of_arrays(device, library),
            may_use_cpu=device is None and library.device is None,
            is_on_device=library.device is not None,
            stream=library.stream(),
            hierarchy=hierarchy,
        )


@with_known_keywords
def labels(
    x: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    *,
    seed_points: Mapping[int, Any] | None = None,
    competition: Competition = "relative",
    tie_rule: TieRule = "background",
    object_mean: MomentOfLabels | None = None,
    object_variance: MomentOfLabels | None = None,
    difference_mean: MomentOfLabels = 0.0,
    difference_variance: MomentOfLabels | None = None,
    estimate_of_every_label: bool = False,
    estimation_radius: Integer = 2,
    affinity: Affinity = "geometric_mean",
    weight: Number = 0.5,
    minimum_strength: Number = 0.0,
    adjacency: Adjacency = "face",
    distance_weighting: bool = False,
    spacing: Numbers | None = None,
    components_axis: Literal[0, -1] | None = None,
    label_type: LabelType = "uint16",
    strength: bool = False,
    margin: bool = False,
    precision: Precision = "float",
    out: Array | Segmentation | None = None,
    device: Device = None,
    threads: Integer = 0,
) -> Any:
    """Label every voxel with the label to whose seeds it is connected most strongly.

    x              Intensities: an array with the axes (y, x) or (z, y, x), of NumPy, PyTorch, CuPy, JAX or Numba, in host
                   memory or on a CUDA device, or anything that numpy.asarray converts; or an image of ITK or SimpleITK, or the
                   path of one.
    seeds          Labels of voxels: an integer array of the shape of x, or an image on its grid, 0 where there is no seed; or a
                   dict that maps each label to the index of a voxel, in the order of the axes, or to a list of indices.
    mask           Array of the shape of x, or image on its grid; paths do not enter voxels where it is 0.
    seed_points    In addition to or instead of a dict of seeds: a dict that maps labels to a physical point x, y, z in mm
                   (LPS, as in ITK), or to a list of points, if x is an image. 3D Slicer (RAS) has the opposite sign for x and y.
    competition    "relative": a voxel goes to the label with the strongest path. "iterative": to the label whose strongest
                   path no other label blocks.
    tie_rule       "background": ties between labels get 0. "lowest_label": ties get the lowest of the tied labels.
    object_mean, object_variance, difference_variance
                   Of the intensities of the objects, and of the differences of neighbors in them. If all are left out, they
                   are estimated from the boxes of estimation_radius voxels around the seeds of all labels together. For
                   "relative", each can be a dict, such as object_mean={1: 40, 2: 120}, with a value for every label.
    difference_mean, weight
                   Parameters of the affinity "weighted_sum".
    estimate_of_every_label
                   Estimate a separate affinity for each label from its own seeds, for "relative".
    affinity       "geometric_mean" (Li et al. 2016), "weighted_sum", "minimum", "homogeneity" or "absolute_difference".
    minimum_strength
                   Labels are 0 where even the strongest connection is weaker.
    adjacency      "face", "face_edge" or "full": which voxels are neighbors.
    distance_weighting, spacing
                   Whether affinities decrease with the distance of neighbors; the size of a voxel along each axis, in mm.
    components_axis
                   For voxels of up to 16 components, such as colors: the axis of the components, 0 or -1. Means are then
                   vectors, and variances are covariance matrices.
    label_type     "uint16" for labels up to 65535, "uint8" for labels up to 255.
    strength, margin
                   Whether to compute the strength of the connection to the winning label, and its lead over
                   the strongest other label.
    precision      "float" for strengths and margins of float32, "double" for float64.
    out            Array of the shape of the labels in C order that takes them, or a Segmentation of such arrays.
    device         For arrays in host memory: "cpu", "cuda" or the number of a CUDA device; by default the CUDA device 0, if
                   there is one and x has at least 8192 voxels. Values do not depend on it.
    threads        Number of threads on the CPU; 0 for one per processor.

    Returns the labels, an array of the library of x, on its device; with strength or margin, a Segmentation with the parts
    labels, strength and margin. On a CUDA device they are computed in the current stream of the library. Labels are 0 where no seed reaches, and for ties unless tie_rule is "lowest_label". SeedSession computes
    labels of the same array again and again, while seeds are edited.

    Raises ValueError or TypeError, with the value and the rule, for invalid arguments, and RuntimeError if a device fails.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> voxelmaps.labels(x, {1: (0, 0), 2: (0, 5)}, affinity="absolute_difference").tolist()
    [[1, 1, 1, 2, 2, 2]]
    """
    is_dict = isinstance(seeds, Mapping)
    x, of_image, mask, spacing, volume = arrays_of_images(
        x, None if is_dict else seeds, mask, spacing, ("seeds", "mask")
    )
    seeds = with_points(seeds if is_dict else of_image, seed_points, lambda points: indices_of_points(points, volume))
    seeds = _arrays.in_order_of(x, seeds, "seeds", components_axis)
    mask = _arrays.in_order_of(x, mask, "mask", components_axis)
    image = _arrays.pixels_of(_arrays.array_of(x, "x"), "x")
    library = image.library
    if image.dtype in ("int64", "uint64"):
        raise TypeError(f"x has voxels of type {image.dtype}; convert it to int32, uint32 or float64")
    number_of_components = 0
    if components_axis is not None:
        image, number_of_components = _components_last(image, components_axis)
    shape = image.shape if components_axis is None else image.shape[:-1]
    if len(shape) not in (2, 3):
        rule = "" if components_axis is None else ", besides that of the components"
        raise ValueError(f"x has {len(shape)} axes, but must have 2 or 3{rule}")
    if precision not in ("float", "double"):
        raise ValueError(f"precision is {precision!r}, but must be float or double")
    if label_type not in LABEL_TYPES:
        raise ValueError(f"label_type is {label_type!r}, but must be uint8 or uint16")
    largest = np.iinfo(label_type).max
    if mask is not None:
        mask = _arrays.bytes_of(_arrays.array_like(mask, "mask", image, shape), "mask")

    if isinstance(seeds, Mapping):
        voxels = seeds_of_dict(seeds, lambda indices: numbers_of_indices(indices, shape), shape, largest)
    else:
        seeds = _arrays.array_like(seeds, "seeds", image, shape)
        voxels = seeds_of_array(seeds, largest, "seeds")
    if len(voxels[0]) == 0:
        raise ValueError("there are no seeds, but at least one is needed")
    check_mask_at(voxels[0], mask, shape, voxels[1])

    given = dict(zip(_AFFINITY, (object_mean, object_variance, difference_mean, difference_variance)))
    is_given = is_affinity_given(affinity, object_mean, object_variance, difference_variance)
    radius = count(estimation_radius, "estimation_radius", 0, 2**31 - 1)
    check_effects(affinity, is_given, radius, weight=weight, **given)
    of_labels = [name for name, value in given.items() if isinstance(value, Mapping)]
    if estimate_of_every_label and is_given and affinity != "absolute_difference":
        raise ValueError("estimate_of_every_label is on, but an affinity is given: leave one of them out")
    if competition == "iterative" and (of_labels or estimate_of_every_label):
        what = f"{of_labels[0]} is a dict" if of_labels else "estimate_of_every_label is on"
        raise ValueError(f"competition is 'iterative', for which all labels must have the same affinity, but {what}")
    job = Job(
        image,
        number_of_components,
        mask,
        spacing_of(spacing, len(shape)),
        voxels,
        affinity=affinity,
        weight=weight,
        minimum_strength=minimum_strength,
        adjacency=adjacency,
        distance_weighting=distance_weighting,
        competition=competition,
        tie_rule=tie_rule,
        threads=threads,
    )
    if is_given:
        job.set_affinity(*_given_affinities(given, of_labels, voxels[1], largest, number_of_components))
    elif estimate_of_every_label:
        each = estimates_of_labels(job, number_of_components, radius, voxels[1])
        job.set_affinity(next(iter(each.values())), each)
    else:
        job.set_affinity(estimate(job, number_of_components, radius), {})

    dtypes = (label_type,) + ("float32" if precision == "float" else "float64",) * 2
    given_outputs = out if isinstance(out, Segmentation) else Segmentation(out)
    outputs = []
    for name, dtype, is_needed in zip(Segmentation._fields, dtypes, (True, strength, margin)):
        output = getattr(given_outputs, name)
        is_needed = is_needed or output is not None
        what = "out" if name == "labels" else f"out.{name}"
        outputs.append(_arrays.output_of(output, image, shape, dtype, what) if is_needed else None)
    job.compute(outputs, device)
    if library.device is None and tie_rule == "background" and minimum_strength == 0:
        _warn_of_ties(outputs[0].host(), None if mask is None else mask.host(), competition)
    results = [
        None if output is None else library.result(output.array, given) for output, given in zip(outputs, given_outputs)
    ]
    return results[0] if results[1] is None and results[2] is None else Segmentation(*results)


def _warn_of_ties(labels, mask, competition):
    """Warn if a large part of the labels is 0.

    labels, mask    Arrays of NumPy; the mask is True inside, or None.
    """
    voxels = labels.size if mask is None else int(np.count_nonzero(mask))
    zeros = voxels - int(np.count_nonzero(labels))
    if zeros > _LARGE_PART * voxels:
        advice = "" if competition == "iterative" else "competition='iterative' leaves fewer ties, and "
        warnings.warn(
            f"{zeros} of {voxels} voxels have no label, since several labels have the same claim to them, or no seed reaches them: "
            f"{advice}tie_rule='lowest_label' labels all ties",
            stacklevel=4,
        )


def _components_last(image, axis):
    """The image with its components as the last axis, and their number."""
    if axis not in (0, -1):
        raise ValueError(f"components_axis is {axis!r}, but must be 0 or -1")
    if len(image.shape) < 3:
        raise ValueError(f"x has {len(image.shape)} axes, but must have 2 or 3 besides that of the components")
    if not 1 <= image.shape[axis] <= _MAX_COMPONENTS:
        raise ValueError(f"x has {image.shape[axis]} components, but voxels must have 1 to {_MAX_COMPONENTS}")
    if axis == 0:
        library = image.library
        array = library.contiguous(library.module().moveaxis(image.array, 0, -1))
        image = _arrays.Array(array, library)
    return image, image.shape[-1]


def _given_affinities(given, of_labels, labels_of_seeds, largest, number_of_components):
    """The affinity of all labels, and a dict of those of single ones, from the values by name."""
    used = sorted({int(label) for label in labels_of_seeds})
    of_all, of_each = [], []
    for position, (name, value) in enumerate(given.items()):
        default = NO_AFFINITY[position] if number_of_components == 0 else []
        if name in of_labels:
            each = {
                label_of(label, largest): affinity_value(position, v, f"{name}[{label}]", number_of_components)
                for label, v in value.items()
            }
            missing = [label for label in used if label not in each]
            if missing:
                raise ValueError(f"{name} has no value of the label {missing[0]}, which has seeds")
            of_all.append(default)
            of_each.append(each)
            continue
        if value is not None and not (number_of_components > 0 and name == "difference_mean" and np.ndim(value) == 0):
            default = affinity_value(position, value, name, number_of_components)
        elif name == "difference_mean":
            # A number stands for all components.
            default = [number(value, name)] * number_of_components
        of_all.append(default)
        of_each.append({})
    if not of_labels:
        return of_all, {}
    each = {label: [values.get(label, v) for values, v in zip(of_each, of_all)] for label in used}
    return each[used[0]], each
