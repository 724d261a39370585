# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Texture feature maps of arrays."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, Literal, NamedTuple

import numpy as np

from . import _arrays, _core
from ._maps import FeatureMaps, Geometry
from ._suggestions import did_you_mean, with_known_keywords

if TYPE_CHECKING:
    from ._types import Array, Devices, ImageLike, Integer, Integers, Number, Numbers, Path, Precision

# In PyRadiomics' order.
CLASSES = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")

# Numbers of voxelmaps::GrayLevelDiscretizationEnums.
FIXED_BIN_NUMBER, FIXED_BIN_SIZE_AT_MULTIPLES, LEVELS, EDGES = 0, 2, 4, 5
RANGE_GIVEN, RANGE_IMAGE, RANGE_MASK = 0, 1, 2
# Of the aggregations of all classes.
AVERAGE, MERGE = 1, 2

# Of settings that make weights of directions.
WEIGHTING_NORMS = ("manhattan", "euclidean", "infinity")
_MAX_OFFSETS = 4096
_MAX_LEVELS = 65535
# More do not make it faster on any machine.
MAX_THREADS = 4096
_MAX_WINDOW = 255
_MAX_FLOAT = float(np.finfo(np.float32).max)

ONE_LEVEL = (
    "all intensities are in one bin of the width {:g}, so that there is no texture: choose a smaller bin_width, or "
    "number_of_gray_levels"
)


# --- Names -------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _numbers():
    """For each class, a dict of the numbers of the features by name."""
    return {
        name: {feature: i for i, feature in enumerate(features)} for name, features in _core.feature_names().items()
    }


def _names_of(features):
    names = list(features) if hasattr(features, "__iter__") else [features]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"features are {features!r}, but must be names, such as 'glcm_Contrast'")
    return names


def _selected(features):
    """A dict of dicts of numbers of features by the names given, by class, in the order given, from the names in all forms."""
    if isinstance(features, str):
        features = [features]
    if isinstance(features, Mapping):
        numbers = _numbers()
        pairs = []
        for name, of_class in features.items():
            if name in numbers and of_class is None:
                of_class = list(numbers[name])
            pairs += [(name, feature) for feature in ([of_class] if isinstance(of_class, str) else _names_of(of_class))]
        return _selected_pairs(tuple(pairs))
    return _selected_names(tuple(_names_of(features)))


@functools.lru_cache(maxsize=64)
def _selected_names(features):
    pairs = []
    for feature in features:
        if feature in _numbers():
            pairs += [(feature, each) for each in _numbers()[feature]]
        else:
            name, _, of_class = feature.partition("_")
            pairs.append((name, of_class))
    return _selected_pairs(tuple(pairs))


# Looking features up takes longer than computing them of a small image.
@functools.lru_cache(maxsize=64)
def _selected_pairs(pairs):
    """As _selected, of pairs of names of classes and features; not to be changed."""
    numbers = _numbers()
    selected = {}

    def add(name, feature):
        if name not in numbers:
            names = [*CLASSES, *(f"{each}_{feature}" for each, of_class in numbers.items() for feature in of_class)]
            similar = did_you_mean(name, names)
            raise ValueError(f"there is no class {name!r} of features{similar}; choose from {', '.join(CLASSES)}")
        number = _core.find_feature(name, feature)
        if number is None:
            names = numbers[name]
            similar = did_you_mean(feature, names)
            raise ValueError(f"class {name} has no feature {feature!r}{similar}; choose from {', '.join(names)}")
        for other, other_number in selected.setdefault(name, {}).items():
            if other_number == number:
                also = "" if other == feature else f", also as {name}_{other}"
                raise ValueError(f"the feature {name}_{feature} is given twice{also}")
        selected[name][feature] = number

    for name, feature in pairs:
        add(name, feature)
    if not selected:
        raise ValueError("no features are given; pass names such as 'glcm_Contrast', or of classes such as 'glcm'")
    return selected


# --- Parameters --------------------------------------------------------------------------------------------------------


def number(value, what):
    """A float. Raises TypeError for what is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is {value!r}, but must be a number") from None
    except OverflowError:
        raise ValueError(f"{what} is too large for float64") from None


def count(value, what, minimum, maximum):
    """An integer within limits."""
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}, but must be an integer") from None
    if not minimum <= result <= maximum:
        raise ValueError(f"{what} is {value!r}, but must be {minimum} to {maximum}")
    return result


def _numbers_of(values, what, rule):
    """A list of floats."""
    if isinstance(values, str) or np.ndim(values) != 1:
        raise TypeError(f"{what} is {values!r}, but must be {rule}")
    return [number(value, f"a value of {what}") for value in values]


def spacing_of(spacing, dimension):
    """Size of a voxel along each axis, in the order of the axes."""
    if spacing is None:
        return [1.0] * dimension
    rule = f"{dimension} positive numbers, one per axis"
    sizes = _numbers_of(spacing, "spacing", rule)
    if len(sizes) != dimension or not all(0 < size < math.inf for size in sizes):
        raise ValueError(f"spacing is {spacing!r}, but must be {rule}")
    return sizes


def _background(value, precision):
    value = number(value, "background_value")
    if precision == "float" and math.isfinite(value) and abs(value) > _MAX_FLOAT:
        raise ValueError(f"background_value is {value!r}, but float32 holds values up to {np.finfo(np.float32).max}")
    return value


def _integers(value, count, what, minimum):
    """A tuple of as many integers; one integer stands for all."""
    values = (value,) * count if np.ndim(value) == 0 else tuple(value)
    try:
        values = tuple(operator.index(v) for v in values)
    except TypeError:
        raise TypeError(f"{what} is {value!r}, but must be an integer or one per axis") from None
    if len(values) != count or min(values) < minimum or max(values) > _MAX_LEVELS:
        raise ValueError(
            f"{what} is {value!r}, but must be one integer from {minimum} to {_MAX_LEVELS}, or {count} of them, one per axis"
        )
    return values


def neighbor_offsets(distances, window):
    """One of each two opposite steps whose greatest component is one of the distances, in the order of the axes; of steps
    that do not fit into the window there is no pair of voxels."""
    reach = [min(max(distances), n - 1) for n in window]
    steps = itertools.product(*(range(r, -r - 1, -1) for r in reach))
    zero = (0,) * len(window)
    return [step for step in steps if step > zero and max(map(abs, step)) in distances]


def _offsets(distances, window):
    offsets = neighbor_offsets(distances, window)
    if not 1 <= len(offsets) <= _MAX_OFFSETS:
        raise ValueError(
            f"distances is {list(distances)}, which makes {len(offsets)} directions in windows of {window} voxels, but there must "
            f"be 1 to {_MAX_OFFSETS}"
        )
    return offsets


def offset_weights(name, offsets, spacing, norm):
    """The weights of offsets that PyRadiomics' setting weightingNorm makes, from their lengths in mm by a norm: exp(-length^2) for
    glcm, the length for glrlm."""
    steps = np.abs(np.array(offsets)) * np.array(spacing)
    length = {
        "manhattan": steps.sum(axis=1),
        "euclidean": np.sqrt((steps**2).sum(axis=1)),
        "infinity": steps.max(axis=1),
    }[norm]
    return (np.exp(-(length**2)) if name == "glcm" else length).tolist()


def triple(values, fill):
    """Values in the order of the axes as (x, y, z)."""
    return (tuple(reversed(values)) + (fill,))[:3]


# Parameters of classes, with their defaults and the classes that have them.
_PARAMETERS_OF_CLASSES = {
    "distances": ((1,), ("glcm", "gldm", "ngtdm")),
    "aggregation": ("average", ("glcm", "glrlm")),
    "weighting_norm": (None, ("glcm", "glrlm")),
    "symmetric": (True, ("glcm",)),
    "alpha": (0, ("gldm",)),
    "voxel_array_shift": (0.0, ("firstorder",)),
}


def _check_effects(given, selected):
    """Raise ValueError for a parameter that has another value than its default, but no effect on any of the features."""
    for name, (default, classes) in _PARAMETERS_OF_CLASSES.items():
        if given[name] is default or any(each in selected for each in classes):
            continue
        if not np.array_equal(np.ravel(given[name]), np.ravel(default)):
            of_classes = " and ".join(filter(None, (", ".join(classes[:-1]), classes[-1])))
            raise ValueError(
                f"{name} is {given[name]!r}, but has no effect on features of {', '.join(selected)}; it belongs to {of_classes}"
            )


def _radius_of_millimeters(radius, spacing, dimension):
    """Voxels along each axis that a radius in mm reaches."""
    if spacing is None:
        raise ValueError(f"radius_mm is {radius!r}, which needs the spacing, the size of a voxel along each axis in mm")
    sizes = spacing_of(spacing, dimension)
    value = number(radius, "radius_mm")
    if not 0 <= value < math.inf:
        raise ValueError(f"radius_mm is {radius!r}, but must be a number of mm that is not negative")
    # A radius of three voxels of 0.1 mm is 0.3.
    reach = tuple(math.floor(value / size * (1 + 1e-9)) for size in sizes)
    if max(reach) < 1:
        raise ValueError(
            f"radius_mm is {radius!r}, which reaches no neighbor of a voxel: its sizes are {tuple(sizes)} mm"
        )
    if max(reach) > _MAX_WINDOW // 2:
        raise ValueError(
            f"radius_mm is {radius!r}, which is {reach} voxels, but at most {_MAX_WINDOW // 2} are possible"
        )
    return reach


def _discretization(bin_width, number_of_gray_levels, bin_edges, gray_levels, intensity_range):
    given = {
        "bin_width": bin_width,
        "number_of_gray_levels": number_of_gray_levels,
        "bin_edges": bin_edges,
        "gray_levels": gray_levels,
    }
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ValueError(f"{' and '.join(names)} are given, but only one can say how intensities become gray levels")
    result = {
        "method": FIXED_BIN_SIZE_AT_MULTIPLES,
        "range_source": RANGE_MASK,
        "number_of_gray_levels": 32,
        "bin_width": 25.0,
        "bin_edges": [],
        "value_range": (0.0, 255.0),
    }
    if bin_width is not None:
        result["bin_width"] = number(bin_width, "bin_width")
    if number_of_gray_levels is not None:
        result.update(
            method=FIXED_BIN_NUMBER,
            number_of_gray_levels=count(number_of_gray_levels, "number_of_gray_levels", 1, _MAX_LEVELS),
        )
    if bin_edges is not None:
        result.update(method=EDGES, bin_edges=_numbers_of(bin_edges, "bin_edges", "a list of numbers"))
    if gray_levels is not None:
        result.update(method=LEVELS, number_of_gray_levels=count(gray_levels, "gray_levels", 1, _MAX_LEVELS))
    if isinstance(intensity_range, str):
        if intensity_range not in ("mask", "image"):
            raise ValueError(f"intensity_range is {intensity_range!r}, but must be 'mask', 'image' or two numbers")
        result["range_source"] = RANGE_MASK if intensity_range == "mask" else RANGE_IMAGE
    else:
        limits = _numbers_of(intensity_range, "intensity_range", "'mask', 'image' or two numbers")
        if len(limits) != 2:
            raise ValueError(f"intensity_range is {intensity_range!r}, but must be 'mask', 'image' or two numbers")
        result.update(range_source=RANGE_GIVEN, value_range=limits)
    if result["method"] in (LEVELS, EDGES) and result["range_source"] != RANGE_MASK:
        raise ValueError(f"intensity_range is {intensity_range!r}, but has no effect with {names[0]}")
    return result


def device_of_arrays(device, library):
    """Number of the CUDA device, or -1 for the CPU."""
    if library.device is not None:
        if device is not None and device != library.device:
            raise ValueError(f"device is {device!r}, but x is on CUDA device {library.device}")
        return library.device
    if device is None:
        return 0 if _core.number_of_devices() > 0 else -1
    if device == "cpu":
        return -1
    number = 0 if device == "cuda" else device
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"device is {device!r}, but must be 'cpu', 'cuda', the number of a CUDA device, or None")
    if not 0 <= number < _core.number_of_devices():
        reason = _core.reason_for_no_device() or f"there are {_core.number_of_devices()} devices, counted from 0"
        raise RuntimeError(f"CUDA device {number} cannot be used: {reason}")
    return number


def devices_of_arrays(device, library):
    """The result of device_of_arrays, and the numbers of further devices, if device is "all" or a list."""
    if isinstance(device, str) and device == "all":
        available = _core.number_of_devices()
        first = 0 if library.device is None else library.device
        device = [first, *(number for number in range(available) if number != first)] if available else "cuda"
    if not isinstance(device, (list, tuple)):
        return device_of_arrays(device, library), []
    if not device:
        raise ValueError("device is empty, but must name at least one device")
    numbers = [device_of_arrays(number, _arrays.Library("NumPy")) for number in device]
    if -1 in numbers:
        raise ValueError(f"device is {device!r}, but the CPU cannot be one of several devices")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"device is {device!r}, but a device can be named only once")
    first = numbers[0] if library.device is None else library.device
    if first not in numbers:
        raise ValueError(f"device is {device!r}, but x is on CUDA device {first}")
    return first, [number for number in numbers if number != first]


def release_device_memory() -> None:
    """Free the CUDA device memory that this process retains for later calls: up to 1/32 of the memory of each device.

    Other libraries, such as PyTorch, cannot use it otherwise. The next call on a device takes a few milliseconds longer.

    Examples

    >>> import voxelmaps
    >>> voxelmaps.release_device_memory()
    """
    _core.release_device_memory()


# --- Computation -------------------------------------------------------------------------------------------------------


def compute(image, mask, selection, out, *, box, window, anchor, classes, discretization, background, threads, device):
    """Compute maps of one image into an array.

    image, mask, selection    Arrays of one library in C order, with bytes for the mask and the selection, or None.
    out                       Pairs of the address of the first map, and the number of components from one to the next,
                              and whether they are of float64.
    box                       Slices of the image that have maps; selection has their shape.
    classes                   As _core.compute_feature_maps takes them.
    device                    As devices_of_arrays returns it.

    Returns the number of gray levels.
    """
    library = image.library
    number, other_numbers = device
    address, stride, is_double = out
    return _core.compute_feature_maps(
        pixels=image.address,
        pixel_type=_arrays.PIXEL_TYPES.index(image.dtype),
        size=triple(image.shape, 1),
        mask=0 if mask is None else mask.address,
        selection=0 if selection is None else selection.address,
        **discretization,
        window_size=triple(window, 1),
        window_anchor=triple(anchor, 0),
        classes=classes,
        output_index=triple([part.start for part in box], 0),
        output_size=triple([part.stop - part.start for part in box], 1),
        output=address,
        is_double=is_double,
        map_stride=stride,
        background_value=background,
        threads=threads,
        device=number,
        other_devices=other_numbers,
        is_input_on_device=library.device is not None,
        is_output_on_device=library.device is not None,
        stream=library.stream(),
    )


def _is_image(value):
    """Whether a value is an image of ITK or SimpleITK, or the path of one."""
    return isinstance(value, (str, os.PathLike)) or type(value).__module__.partition(".")[0] in ("itk", "SimpleITK")


def arrays_of_images(x, first, second, spacing, names=("mask", "selection")):
    """The arguments, with arrays in place of images and paths, the spacing of x, and the volume of x, if it is an image. Raises
    ValueError if the others, which have these names, are not on the grid of x."""
    if not any(map(_is_image, (x, first, second))):
        return x, first, second, spacing, None
    from . import _image

    image, arrays = None, []
    for value, what in zip((x, first, second), ("x", *names)):
        if not _is_image(value):
            arrays.append(value)
            continue
        volume, _ = _image.load(value, what)
        if volume.array.ndim != len(volume.spacing):
            raise TypeError(f"{what} has voxels of {volume.array.shape[-1]} components, but they must be scalars")
        image = volume if what == "x" else image
        difference = None if image is None else _image.difference_of_geometry(image, volume)
        if difference is not None:
            name, ours, theirs, _ = difference
            raise ValueError(f"{what} has the {name} {theirs}, but x has {ours}")
        arrays.append(volume.array)
    if image is not None and spacing is None:
        spacing = tuple(reversed(image.spacing))
    return *arrays, spacing, image


def _bounds(mask):
    """First and last index of the mask along each axis; of an array of any library."""
    bounds = []
    for axis in range(len(mask.shape)):
        used = mask.array
        for other in reversed([a for a in range(len(mask.shape)) if a != axis]):
            used = used.any(other) if mask.library.name == "PyTorch" else used.any(axis=other)
        used = used.cpu().numpy() if mask.library.name == "PyTorch" else used
        used = np.flatnonzero(used.get() if mask.library.name == "CuPy" else used)
        bounds.append((int(used[0]), int(used[-1])))
    return bounds


class Plan(NamedTuple):
    """What feature_maps computes, from arguments that are checked."""

    image: _arrays.Array
    mask: _arrays.Array | None
    # Of the shape of a map.
    selection: _arrays.Array | None
    names: list[str]
    # Of an image, and the axes before it.
    shape: tuple[int, ...]
    batch: tuple[int, ...]
    # Part of an image that the maps cover.
    box: tuple[slice, ...]
    window: tuple[int, ...]
    anchor: tuple[int, ...]
    classes: list[Any]
    discretization: dict[str, Any]
    precision: str
    background: float
    threads: int
    device: Any
    # Of an image.
    geometry: Geometry | None

    @property
    def dtype(self) -> str:
        return "float32" if self.precision == "float" else "float64"

    def map_shape(self) -> tuple[int, ...]:
        return self.batch + tuple(part.stop - part.start for part in self.box)

    def has_texture(self) -> bool:
        return any(name != "firstorder" for name, *_ in self.classes)

    def _part(self, array: _arrays.Array | None, index: tuple[int, ...]) -> _arrays.Array | None:
        if array is None or len(array.shape) == len(self.shape):
            return array
        return _arrays.Array(array.array[index], array.library)

    def run(self, index: tuple[int, ...], address: int, stride: int) -> int:
        """Compute the maps of one image into an array; returns the number of gray levels.

        index      Of the image among those of a batch.
        address    Of the first map.
        stride     Number of values from one map to the next.
        """
        return compute(
            self._part(self.image, index),
            self._part(self.mask, index),
            self._part(self.selection, index),
            (address, stride, self.precision == "double"),
            box=self.box,
            window=self.window,
            anchor=self.anchor,
            classes=self.classes,
            discretization=self.discretization,
            background=self.background,
            threads=self.threads,
            device=self.device,
        )


def plan_of(
    x,
    mask=None,
    *,
    features,
    spacing=None,
    neighborhood_radius=None,
    radius_mm=None,
    window_size=None,
    window_anchor=None,
    bin_width=None,
    number_of_gray_levels=None,
    bin_edges=None,
    gray_levels=None,
    intensity_range="mask",
    selection=None,
    distances=(1,),
    aggregation=None,
    weighting_norm=None,
    symmetric=True,
    alpha=0,
    voxel_array_shift=0.0,
    background_value=0.0,
    crop=None,
    dimension=None,
    precision="float",
    device=None,
    threads=0,
):
    """What feature_maps computes with these arguments, which are checked."""
    x, mask, selection, spacing, volume_of_x = arrays_of_images(x, mask, selection, spacing)
    given = _arrays.array_of(x, "x")
    image = _arrays.pixels_of(given, "x")
    library = image.library
    if dimension is None:
        dimension = min(len(image.shape), 3)
    if dimension not in (2, 3) or len(image.shape) < dimension:
        raise ValueError(
            f"x has {len(image.shape)} axes and dimension is {dimension!r}, but images must have 2 or 3 axes"
        )
    shape, batch = image.shape[-dimension:], image.shape[:-dimension]
    if precision not in ("float", "double"):
        raise ValueError(f"precision is {precision!r}, but must be float or double")
    if crop not in (None, "mask"):
        raise ValueError(f"crop is {crop!r}, but must be 'mask' or None")
    if aggregation not in (None, "average", "merge"):
        raise ValueError(f"aggregation is {aggregation!r}, but must be average or merge")
    if weighting_norm not in (None, *WEIGHTING_NORMS):
        raise ValueError(f"weighting_norm is {weighting_norm!r}, but must be {', '.join(WEIGHTING_NORMS)} or None")
    if weighting_norm is not None and spacing is None:
        raise ValueError(
            f"weighting_norm is {weighting_norm!r}, which needs the spacing, the size of a voxel along each axis in mm"
        )
    if weighting_norm is not None and aggregation == "average":
        raise ValueError(
            f"weighting_norm is {weighting_norm!r} and aggregation 'average', but matrices with weights are merged"
        )

    def bytes_like_x(value, what):
        if value is None:
            return None
        value = _arrays.in_order_of(x, value, what)
        return _arrays.bytes_of(_arrays.array_like(value, what, image, image.shape, shape), what)

    given_mask, mask = mask, bytes_like_x(mask, "mask")
    if mask is not None and 0 not in mask.shape:
        values = lambda: _arrays.pixels_of(_arrays.array_of(given_mask, "mask"), "mask").host()
        _arrays.check_some_inside(mask.array, values, "mask", "other than 0")
    selection = bytes_like_x(selection, "selection")

    sizes_given = {"neighborhood_radius": neighborhood_radius, "radius_mm": radius_mm, "window_size": window_size}
    sizes_given = [name for name, value in sizes_given.items() if value is not None]
    if len(sizes_given) > 1:
        raise ValueError(f"{' and '.join(sizes_given)} are given, but only one can be")
    if radius_mm is not None:
        neighborhood_radius = _radius_of_millimeters(radius_mm, spacing, dimension)
    if window_size is None:
        radius = _integers(
            2 if neighborhood_radius is None else neighborhood_radius, dimension, "neighborhood_radius", 0
        )
        window = tuple(2 * r + 1 for r in radius)
    else:
        window = _integers(window_size, dimension, "window_size", 1)
    if max(window) > _MAX_WINDOW:
        raise ValueError(
            f"the window has the size {window}, but at most {_MAX_WINDOW} voxels along an axis are possible"
        )
    anchor = tuple(n // 2 for n in window)
    if window_anchor is not None:
        anchor = _integers(window_anchor, dimension, "window_anchor", 0)
    sizes = spacing_of(spacing, dimension)
    volume = math.prod(sizes)
    given_values = {
        "distances": distances,
        "aggregation": aggregation or "average",
        "weighting_norm": weighting_norm,
        "symmetric": symmetric,
        "alpha": alpha,
        "voxel_array_shift": voxel_array_shift,
    }
    distances = [distances] if np.ndim(distances) == 0 else list(distances)
    if not distances:
        raise ValueError("distances is empty, but there must be at least one")
    distances = [count(distance, "a value of distances", 1, _MAX_WINDOW) for distance in distances]
    alpha = count(alpha, "alpha", 0, _MAX_LEVELS)
    background = _background(background_value, precision)
    threads = count(threads, "threads", 0, MAX_THREADS)
    discretization = _discretization(bin_width, number_of_gray_levels, bin_edges, gray_levels, intensity_range)
    selected = _selected(features)
    _check_effects(given_values, selected)
    is_merged = aggregation == "merge" or weighting_norm is not None

    # Every window has pairs in all directions if no voxel is absent: looking for those without would take time.
    has_all_pairs = (
        mask is None
        and bin_edges is None
        and gray_levels is None
        and not image.dtype.startswith("float")
        and all(n >= 2 and 0 < a < w - 1 or w == 1 for n, a, w in zip(shape, anchor, window))
    )

    def reversed_offsets(distances):
        return [triple(offset, 0) for offset in _offsets(distances, window)]

    def directions(name, distances):
        result = {"aggregation": MERGE if is_merged else AVERAGE, "offsets": reversed_offsets(distances)}
        if weighting_norm is not None:
            result["offset_weights"] = offset_weights(name, _offsets(distances, window), sizes, weighting_norm)
        return result

    def parameters(name):
        if name == "firstorder":
            return {"voxel_array_shift": number(voxel_array_shift, "voxel_array_shift"), "voxel_volume": volume}
        if name == "glcm":
            return {**directions(name, distances), "symmetric": bool(symmetric), "has_one_level": False}
        if name == "gldm":
            return {"offsets": reversed_offsets(distances), "alpha": alpha}
        if name == "ngtdm":
            return {"offsets": reversed_offsets(distances)}
        if name == "glrlm":
            return {**directions(name, (1,)), "skip_directions_without_pairs": not has_all_pairs}
        return {}

    classes = [(name, list(of_class.values()), parameters(name)) for name, of_class in selected.items()]
    names = [f"{name}_{feature}" for name, of_class in selected.items() for feature in of_class]

    box = tuple(slice(0, n) for n in shape)
    if crop is not None:
        if mask is None or mask.shape != shape:
            raise ValueError("crop='mask' needs a mask with the axes of one image")
        box = tuple(
            slice(max(first - a, 0), min(last + n - a, size))
            for (first, last), a, n, size in zip(_bounds(mask), anchor, window, shape)
        )
        if selection is not None:
            selection = _arrays.Array(library.contiguous(selection.array[(..., *box)]), library)

    return Plan(
        image=image,
        mask=mask,
        selection=selection,
        names=names,
        shape=shape,
        batch=batch,
        box=box,
        window=window,
        anchor=anchor,
        classes=classes,
        discretization=discretization,
        precision=precision,
        background=background,
        threads=threads,
        device=devices_of_arrays(device, library),
        geometry=None if volume_of_x is None else Geometry(*volume_of_x.part(box)[1:]),
    )


@with_known_keywords
def feature_maps(
    x: Array | ImageLike | Path,
    mask: Array | ImageLike | Path | None = None,
    *,
    features: str | Iterable[str] | Mapping[str, str | Iterable[str] | None],
    spacing: Numbers | None = None,
    neighborhood_radius: Integers | None = None,
    radius_mm: Number | None = None,
    window_size: Integers | None = None,
    window_anchor: Integers | None = None,
    bin_width: Number | None = None,
    number_of_gray_levels: Integer | None = None,
    bin_edges: Numbers | None = None,
    gray_levels: Integer | None = None,
    intensity_range: Literal["mask", "image"] | Numbers = "mask",
    selection: Array | ImageLike | Path | None = None,
    distances: Integers = (1,),
    aggregation: Literal["average", "merge"] | None = None,
    weighting_norm: Literal["manhattan", "euclidean", "infinity"] | None = None,
    symmetric: bool = True,
    alpha: Integer = 0,
    voxel_array_shift: Number = 0.0,
    background_value: Number = 0.0,
    crop: Literal["mask"] | None = None,
    dimension: Literal[2, 3] | None = None,
    precision: Precision = "float",
    out: Array | None = None,
    device: Devices = None,
    threads: Integer = 0,
) -> FeatureMaps:
    """Compute texture feature maps of an array with the definitions of PyRadiomics' voxel mode.

    x                  Intensities: an array with the axes (y, x) or (z, y, x), x last, of NumPy, PyTorch, CuPy, JAX or Numba,
                       in host memory or on a CUDA device, or anything that numpy.asarray converts; or an image of ITK or
                       SimpleITK, or the path of one, which is read as voxelmaps.radiomics does. Axes before these are batches, whose
                       images are computed one by one.
    mask               Array of the shape of x, or of one of its images, or an image on the grid of x; voxels where it is 0 or
                       NaN are absent: they belong to no window and have no features.
    features           Names such as "glcm_Contrast" with PyRadiomics' names or those of the IBSI's manual, such as
                       "glcm_angular_second_moment"; names of classes, such as "glcm" for all of its features; or a dict of lists
                       such as {"glcm": ["Contrast"]}. The classes are firstorder, glcm, gldm, glrlm, glszm and ngtdm.
    spacing            Size of a voxel along each axis, in mm, for TotalEnergy, radius_mm and weighting_norm. Default: that
                       of an image, or 1.
    neighborhood_radius, radius_mm, window_size, window_anchor
                       The window of a voxel reaches this radius to all sides, in voxels; default 2. Or it has the voxels whose
                       centers are at most radius_mm away along each axis. Or it has a size, with the voxel at the anchor, by
                       default in the middle. Numbers for all axes, or, but for radius_mm, one per axis of x.
    bin_width          Bins of this width, with edges at its multiples. Default: 25.
    number_of_gray_levels, bin_edges, gray_levels
                       Instead: so many bins of equal width over the range; bins with these lower edges; or, if x holds
                       gray levels from 1 to gray_levels (0 is absent), that number.
    intensity_range    "mask" for the range of the intensities inside the mask, "image" for that of all, or two numbers.
    selection          Array of the shape of x, or of one of its images; features are computed where it is not 0.
    distances          Of pairs of voxels, for glcm, gldm and ngtdm: the greatest component of a step.
    aggregation        "average" of the features of all directions, which is the default, or "merge" of their matrices, for glcm
                       and glrlm.
    weighting_norm     Merge the matrices of glcm and glrlm with weights of their directions, whose length in mm has this norm:
                       "manhattan", "euclidean" or "infinity". Weights are exp(-length^2) for glcm, and the length for glrlm, as
                       in PyRadiomics. Windows must have at most 512 voxels or gray levels.
    symmetric, alpha, voxel_array_shift
                       Parameters of glcm, gldm and firstorder: settings symmetricalGLCM, gldm_a and voxelArrayShift.
    background_value   Value of the maps where no features are computed.
    crop               "mask" for maps of the bounding box of the mask plus the reach of the window; see FeatureMaps.slices.
    dimension          2 or 3, if x has batches; by default that of x, at most 3.
    precision          "float" for maps of float32, "double" for float64.
    out                Array in C order that takes the maps, of the shape (number of features, *shape of a map).
    device             For arrays in host memory: "cpu", "cuda" or the number of a CUDA device. By default the CUDA device 0,
                       if there is one. "all" or a list of numbers lets several devices compute parts of the maps at the same
                       time; arrays in device memory are copied to and from the others.
                       Values do not depend on it.
    threads            Number of threads on the CPU; 0 for one per processor.

    Returns a FeatureMaps: a mapping from "class_Feature" to the maps, which are parts of one array of the library of x, on
    its device, each contiguous and of the shape of x. On a CUDA device they are computed in the current stream of the library;
    if x is there, the call may return before they are, but for arrays of JAX and Numba, which are read by CuPy. Gradients are not computed.

    Raises ValueError or TypeError, with the value and the rule, for invalid arguments and for those that have no effect on the
    features, and RuntimeError if a device fails. Warns if all intensities are in one bin. voxelmaps.describe tells levels, memory and
    time before.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.arange(125, dtype=np.float32).reshape(5, 5, 5)
    >>> maps = voxelmaps.feature_maps(x, features=["firstorder_Mean", "glcm_Contrast"], neighborhood_radius=1)
    >>> float(maps["firstorder_Mean"][2, 2, 2])
    62.0
    """
    arguments = dict(locals())
    del arguments["out"]
    plan = plan_of(**arguments)
    shape, library = plan.map_shape(), plan.image.library
    output = _arrays.output_of(out, plan.image, (len(plan.names), *shape), plan.dtype)
    if 0 in shape:
        return FeatureMaps(plan.names, library.result(output.array, out), plan.box, plan.geometry)
    stride, item_bytes = math.prod(shape), np.dtype(plan.dtype).itemsize
    of_image = math.prod(shape[len(plan.batch) :]) * item_bytes
    levels = [plan.run(index, output.address + i * of_image, stride) for i, index in enumerate(np.ndindex(*plan.batch))]
    if max(levels) == 1 and plan.discretization["method"] == FIXED_BIN_SIZE_AT_MULTIPLES and plan.has_texture():
        warnings.warn(ONE_LEVEL.format(plan.discretization["bin_width"]), stacklevel=3)
    return FeatureMaps(plan.names, library.result(output.array, out), plan.box, plan.geometry)
