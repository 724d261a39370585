# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Texture feature maps of arrays."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import KeysView, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _arrays, _core, _image, _masks, _parameters
from ._core import triple
from ._devices import devices_of_arrays
from ._files.dicom import label_of
from ._maps import FeatureMaps, Geometry, provenance
from ._parameters import FEATURE_MAPS, check_effects, checked, given_one, per_axis, with_parameters
from ._progress import shown
from ._suggestions import did_you_mean, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Array, FeatureMapsParameters, ImageLike, NumPyArray, Path, TensorT

# In PyRadiomics' order.
CLASSES = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")

# The parameters that make gray levels, and their ranges, with the numbers of voxelmaps::GrayLevelDiscretizationEnums.
_METHODS = {"bin_width": 2, "bin_count": 0, "bin_edges": 5, "largest_gray_level": 4}
_RANGES = {"given": 0, "image": 1, "mask": 2}
# Aggregations of all classes.
_AVERAGE, _MERGE = 1, 2

_MAX_OFFSETS = 4096
_OF_CORE = {
    "BinWidth": "bin_width",
    "BinEdges": "bin_edges",
    "NumberOfGrayLevels": "bin_count",
    "SupportSize": "size",
    "Sigma": "sigma",
    "Cutoff": "cutoff",
    "Kernels": "kernels",
    "Subband": "subband",
    "Level": "level",
    "EnergyDistance": "energy_distance",
    "Wavelength": "wavelength",
    "Gamma": "gamma",
    "Angle": "angle",
    "AngleStep": "angle_step",
}
# Radius of the window; in PyRadiomics and radiomics.execute, it is 1.
_DEFAULT_RADIUS = 2

# Parameters that values of maps do not depend on, and inputs.
_NOT_OF_VALUES = ("features", "mask", "selection", "out", "device", "threads")

ONE_LEVEL = (
    "all intensities are in one bin of the width {:g}, so that there is no texture: choose a smaller bin_width, or "
    "bin_count"
)


# --- Names -------------------------------------------------------------------------------------------------------------


# For each class, the names of its features.
_names = functools.cache(_core.feature_names)
# Not among those of their class, as in PyRadiomics: they are functions of Sphericity.
ON_REQUEST = ("Compactness1", "Compactness2", "SphericalDisproportion")


def _names_of(features):
    if isinstance(features, Set) and not isinstance(features, KeysView):
        raise TypeError(f"features are {features!r}, a set, whose order changes from run to run: pass a list")
    names = [features] if isinstance(features, str) or not hasattr(features, "__iter__") else list(features)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"features are {features!r}, but must be names, such as 'glcm_Contrast'")
    return names


def selected_features(features, classes=CLASSES):
    """{class: {name as given: number of the feature}}, in the given order, from features in any form: names, or a dict by class.

    classes    Names of the classes that errors suggest.
    """
    names, pairs = _names(), []
    default = lambda name: [each for each in names.get(name, [""]) if each not in ON_REQUEST]
    if isinstance(features, Mapping):
        for name, of_class in features.items():
            pairs += [(name, feature) for feature in (default(name) if of_class is None else _names_of(of_class))]
    else:
        for name in _names_of(features):
            pairs += [(name, each) for each in default(name)] if name in names else [name.partition("_")[::2]]
    return _selected(tuple(pairs), classes)


# Looking features up takes longer than computing them of a small image.
@functools.lru_cache(maxsize=64)
def _selected(pairs, classes):
    """As selected_features, of pairs of names of classes and features; not to be changed."""
    names, selected = _names(), {}
    for name, feature in pairs:
        if name not in names:
            known = [*classes, *(f"{each}_{feature}" for each in classes for feature in names[each])]
            # Keys of PyRadiomics begin with the name of an image.
            is_key = feature.partition("_")[0] in names
            full = f"{name}_{feature}" if feature else name
            similar = f" (did you mean {feature}?)" if is_key else did_you_mean(full, known)
            if name == "all":
                similar = f" (did you mean {list(classes)}?)"
            raise ValueError(f"there is no class {name!r} of features{similar}; choose from {', '.join(classes)}")
        number = _core.find_feature(name, feature)
        if number is None:
            similar = did_you_mean(feature, names[name])
            raise ValueError(f"class {name} has no feature {feature!r}{similar}; choose from {', '.join(names[name])}")
        of_class = selected.setdefault(name, {})
        for other in (other for other, other_number in of_class.items() if other_number == number):
            also = "" if other == feature else f", also as {name}_{other}"
            raise ValueError(f"the feature {name}_{feature} is given twice{also}")
        of_class[feature] = number
    if not selected:
        raise ValueError("no features are given; pass names such as 'glcm_Contrast', or of classes such as 'glcm'")
    return selected


# --- Parameters --------------------------------------------------------------------------------------------------------


def neighbor_offsets(distances, window):
    """One of each two opposite steps whose greatest component is one of the distances, in the order of the axes; of steps
    that do not fit into the window there is no pair of voxels."""
    reach = [min(max(distances), n - 1) for n in window]
    steps = itertools.product(*(range(r, -r - 1, -1) for r in reach))
    zero = (0,) * len(window)
    offsets = [step for step in steps if step > zero and max(map(abs, step)) in distances]
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


def discretization(values):
    """Parameters of _core that make gray levels, from those of feature_maps, which may be left out."""
    name = given_one(values, *_METHODS) or "bin_width"
    intensity_range = values.get("intensity_range", "mask")
    if name in ("bin_edges", "largest_gray_level") and intensity_range != "mask":
        raise ValueError(f"intensity_range is {intensity_range!r}, but has no effect with {name}")
    source = intensity_range if isinstance(intensity_range, str) else "given"
    first, last = intensity_range if source == "given" else (0.0, 255.0)
    return {
        "discretization_method": _METHODS[name],
        "range_source": _RANGES[source],
        "number_of_gray_levels": values.get("bin_count") or values.get("largest_gray_level") or 32,
        "bin_width": values.get("bin_width") or 25.0,
        "bin_edges": values.get("bin_edges") or [],
        "range_minimum": first,
        "range_maximum": last,
    }


def _name_of(discretization):
    """The parameter that makes the gray levels."""
    return next(name for name, method in _METHODS.items() if method == discretization["discretization_method"])


def check_levels(image, inside, discretization, has_texture, label_image=None):
    """Raise ValueError if limits of gray levels that are given leave all intensities outside, and warn if they leave out most of a
    region, or if all have one gray level: the limits are of other units.

    inside         Array that is not 0 inside, or None; of the shape of the image, or of its last axes.
    label_image    Array with the labels of the regions, if there are several.
    """
    name, bins, edges = _name_of(discretization), *map(discretization.get, ("number_of_gray_levels", "bin_edges"))
    limits, effect = "intensity_range", "clamped"
    first, last = discretization["range_minimum"], discretization["range_maximum"]
    if name in ("bin_edges", "largest_gray_level"):
        limits, effect = name, "absent"
        first, last = (edges[0], math.inf) if name == "bin_edges" else (1, bins)
    elif discretization["range_source"] != _RANGES["given"]:
        return
    if 0 in image.shape:
        return
    least, greatest = image.extremes() if inside is None else (math.nan, math.nan)
    # Choosing voxels takes longer on a device than the maps of a small image.
    if math.isnan(least):
        with image.library.current_device():
            values = image.comparable()
            present = values == values if inside is None else (values == values) & (inside.array != 0)
            image = _arrays.Array(values[present], image.library)
        if 0 in image.shape:
            return
        least, greatest = image.extremes()
    found = f"image has {least:g} to {greatest:g}" + " inside the mask" * (inside is not None)
    if greatest < first or least > last:
        raise ValueError(
            f"{limits} is for intensities from {first:g} to {last:g}, but the {found}: is it in other units?"
        )
    if inside is not None:
        with image.library.current_device():
            outside = (image.array < first) | (image.array > last)
            parts = {"inside the mask": int(outside.sum()) / math.prod(image.shape)}
            if label_image is not None:
                module = image.library.module()
                labels, numbers = module.unique(label_image.comparable()[present], return_inverse=True)
                mean = module.bincount(numbers, outside * 1.0) / module.bincount(numbers)
                labels, mean = (_arrays.Array(each, image.library).host() for each in (labels, mean))
                parts = {f"with the label {label}": part for label, part in zip(labels, mean)}
        for where, part in parts.items():
            if part > 0.5:
                warn(
                    f"{part:.0%} of the voxels {where} are outside of {limits}, {first:g} to {last:g}, and are {effect}"
                )
    # Gray levels, counted from any number.
    levels, used = (least, greatest), np.clip((least, greatest), first, last)
    if name == "bin_edges":
        levels = np.searchsorted(edges, levels, side="right")
    elif name == "bin_width":
        levels = used // discretization["bin_width"]
    elif name == "bin_count":
        levels = np.minimum((used - first) // ((last - first) / bins), bins - 1)
    is_wanted = name == "bin_count" and bins == 1
    if has_texture and least < greatest and levels[0] == levels[1] and not is_wanted:
        warn(f"{found}, which are one gray level with {limits}, so that there is no texture: is it in other units?")


def text_of_one_level(discretization):
    """What to do about one gray level; None if it is not that of a width of bins, which was chosen for other intensities."""
    return ONE_LEVEL.format(discretization["bin_width"]) if _name_of(discretization) == "bin_width" else None


# --- Computation -------------------------------------------------------------------------------------------------------


class Request(NamedTuple):
    """What is computed, from arguments that are checked."""

    # Arrays of one library in C order, with bytes for the mask and the selection, which has the shape of a map.
    image: _arrays.Array
    mask: _arrays.Array | None
    selection: _arrays.Array | None
    # Part of an image that the maps cover.
    box: tuple[slice, ...]
    window: tuple[int, ...]
    anchor: tuple[int, ...]
    # As classes_of and discretization return them.
    classes: list[Any]
    discretization: dict[str, Any]
    dtype: str
    background: float
    threads: int
    # As devices_of_arrays returns it.
    device: Any
    names: Sequence[str] = ()
    # Geometry of the image, if it has one.
    geometry: Geometry | None = None
    # Axes of a DataArray.
    axes: dict[str, Any] | None = None
    # As Opened has it.
    order: tuple[int, ...] | None = None
    # Inputs and settings.
    provenance: dict[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an image, without the axes of a batch."""
        return self.image.shape[-len(self.box) :]

    @property
    def batch(self) -> tuple[int, ...]:
        return self.image.shape[: -len(self.box)]

    def map_shape(self) -> tuple[int, ...]:
        return self.batch + tuple(part.stop - part.start for part in self.box)

    def as_given(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Values per axis, of which the last ones are in the order of the axes of the image that was given."""
        return _image.as_given(values, self.order)

    def has_texture(self) -> bool:
        return any(name != "firstorder" for name, *_ in self.classes)

    def run(self, index: tuple[int, ...], address: int, stride: int) -> int:
        """Compute the maps of one image into an array; returns the number of gray levels.

        index      Index of the image among those of a batch.
        address    Address of the first map.
        stride     Number of values from one map to the next.
        """
        return call_core(_core.compute_feature_maps, request=self, index=index, output=address, map_stride=stride)


def _window(values, sizes):
    """Size of the window along each axis, and the index of the voxel whose window it is."""
    dimension, radius, millimeters = len(sizes), values["neighborhood_radius"], values["radius_mm"]
    if millimeters is None:
        radius = per_axis(_DEFAULT_RADIUS if radius is None else radius, "neighborhood_radius", dimension, 0)
    else:
        # A radius of three voxels of 0.1 mm is 0.3.
        radius = tuple(math.floor(millimeters / size * (1 + 1e-9)) for size in sizes)
        if max(radius) < 1:
            raise ValueError(
                f"radius_mm is {millimeters:g}, which reaches no neighbor of a voxel: its sizes are {tuple(sizes)} mm"
            )
    window, anchor = values["window_size"], values["window_anchor"]
    window = tuple(2 * r + 1 for r in radius) if window is None else per_axis(window, "window_size", dimension, 1)
    names = ("window_size", "radius_mm", "neighborhood_radius")
    name = next((name for name in names if values[name] is not None), names[-1])
    check_window(window, name, values[name])
    anchor = tuple(n // 2 for n in window) if anchor is None else per_axis(anchor, "window_anchor", dimension, 0)
    if any(a >= n for a, n in zip(anchor, window)):
        raise ValueError(f"window_anchor is {anchor}, but must be inside the window, which has {window} voxels")
    return window, anchor


def check_window(window, name, value):
    """Raise ValueError for a window that is too large for the engines."""
    try:
        _core.check_window(window)
    except ValueError as error:
        rule = str(error).partition(", but ")[2].rstrip(".")
        raise ValueError(f"{name} is {value!r}, which makes windows of {tuple(window)}, but {rule}") from None


def call_core(function, **arguments):
    """Call a function of _core, whose errors then have the names of parameters here."""
    try:
        return function(**arguments)
    except ValueError as error:
        text = re.sub(rf"\b({'|'.join(_OF_CORE)})\b", lambda name: _OF_CORE[name[0]], str(error))
        raise ValueError(text.replace("A job has", "There are")) from None


def classes_of(selected, values, window, sizes, has_all_pairs, has_one_level=False, order=1):
    """Tuples of the class, the numbers of its features, and a dict of parameters that differ from their defaults, as _core has them.

    order    -1 to add and multiply along x first, as PyRadiomics does; sums are rounded.
    """
    norm = values["weighting_norm"]
    is_merged = values["aggregation"] == "merge" or norm is not None

    def offsets(distances):
        return {"offsets": [triple(offset, 0) for offset in neighbor_offsets(distances, window)]}

    def directions(name, distances):
        result = {"aggregation": _MERGE if is_merged else _AVERAGE, **offsets(distances)}
        if norm is not None:
            steps = [offset[::order] for offset in neighbor_offsets(distances, window)]
            result["offset_weights"] = offset_weights(name, steps, sizes[::order], norm)
        return result

    distances, volume = values["distances"], math.prod(sizes[::order])
    parameters = {
        "firstorder": lambda: {"voxel_array_shift": values["voxel_array_shift"], "voxel_volume": volume},
        "glcm": lambda: directions("glcm", distances)
        | {"symmetric": values["symmetric"], "region_has_one_level": has_one_level},
        "gldm": lambda: {**offsets(distances), "alpha": values["alpha"]},
        "glrlm": lambda: {**directions("glrlm", (1,)), "skip_directions_without_pairs": not has_all_pairs},
        "glszm": dict,
        "ngtdm": lambda: offsets(distances),
    }
    return [(name, list(of_class.values()), parameters[name]()) for name, of_class in selected.items()]


def check_background(value, precision, name):
    """Raise ValueError for a background that maps cannot hold."""
    largest = float(np.finfo(np.float32).max)
    if precision == "float" and largest < abs(value) < math.inf:
        raise ValueError(f"{name} is {value!r}, but float32 holds values up to {largest:.8g}")


def opened_scalars(image, values, has_batches=True):
    """The image as Opened, its array, and the size of a voxel along each axis, by the parameters or the image. Raises TypeError or
    ValueError if voxels, axes or sizes are others than the parameters need."""
    dimension, sizes = values.get("dimension"), values["spacing"]
    opened = _image.opened(image, "image", dimension=dimension)
    image = _arrays.pixels_of(_arrays.array_of(opened.image.array, "image"), "image")
    shape, spacing = image.shape, opened.image.spacing
    if opened.components_axis is not None:
        raise TypeError(
            f"image has voxels of {shape[-1]} components, but they must be scalars: choose one, as image[..., 0]"
        )
    _arrays.check_exact(image, "image")
    if not has_batches and len(shape) not in (2, 3):
        raise ValueError(
            f"image has {len(shape)} axes, but must be one image with 2 or 3 axes: call this for each image"
        )
    if dimension is None and sizes is None:
        remedy = "choose a channel, such as image[..., 0]" + ", or give dimension=2" * has_batches
        _image.check_axes(opened, shape, "give dimension=3" if has_batches else "give spacing=(1, 1, 1)", remedy)
    if dimension is None:
        dimension = min(len(shape), 3) if spacing is None else len(spacing)
    if len(shape) < max(dimension, 2):
        raise ValueError(f"image has {len(shape)} axes, but images must have 2 or 3 axes, and dimension is {dimension}")
    of_image = None if spacing is None else spacing[::-1][-dimension:]
    has_sizes = sizes is not None or of_image is not None
    norm, radius = values["weighting_norm"], values.get("radius_mm")
    if not has_sizes and (norm is not None or radius is not None):
        given = f"weighting_norm is {norm!r}" if radius is None else f"radius_mm is {radius:g}"
        raise ValueError(f"{given}, which needs the spacing, the size of a voxel along each axis in mm")
    if norm is not None and values["aggregation"] == "average":
        raise ValueError(f"weighting_norm is {norm!r} and aggregation 'average', but matrices with weights are merged")
    return opened, image, _parameters.sizes(sizes, dimension, of_image)


def request_of(image, mask, parameters, function="feature_maps"):
    """The Request of the arguments of feature_maps, or of another function with the same parameters."""
    values = checked(parameters, function, FEATURE_MAPS, ("mask",))
    inputs = {"image": image, "mask": mask, "selection": values["selection"]}
    if values["features"] is None:
        raise TypeError(f"{function} needs the features to compute, such as features=['glcm_Contrast'] or 'glcm'")
    selected = selected_features(values["features"])
    for name in selected:
        if name not in CLASSES:
            raise ValueError(f"{name} is that of regions, not of the windows of voxels: use voxelmaps.region_features")
    check_effects(parameters, values, FEATURE_MAPS, tuple(selected), "on features of")
    check_background(values["background_value"], values["precision"], "background_value")
    given_one(values, "neighborhood_radius", "radius_mm", "window_size")

    opened, image, sizes = opened_scalars(image, values)
    library, dimension = image.library, len(sizes)
    shape = image.shape[-dimension:]

    def array_of(value, what, label=None):
        return _arrays.array_like(opened.on_grid(value, what, label), what, image, image.shape, shape)

    label, selection = label_of(mask, values["label"]), values["selection"]
    if mask is None and label is not None:
        raise ValueError(f"label is {label!r}, but there is no mask whose label it is")
    empty = values["empty"]
    if mask is not None:
        mask = _masks.region(array_of(mask, "mask", label), label, "mask", image, empty=empty)
    _masks.check_finite(image, mask, "image", None if mask is None else "mask", empty=empty)
    if selection is not None:
        selection = _masks.selection(array_of(selection, "selection"), mask, empty)

    window, anchor = _window(values, sizes)
    # Every window has pairs in all directions if no voxel is absent: looking for those without would take time.
    has_all_pairs = (
        mask is None
        and values["bin_edges"] is None
        and values["largest_gray_level"] is None
        and not image.dtype.startswith("float")
        and all(n >= 2 and 0 < a < w - 1 or w == 1 for n, a, w in zip(shape, anchor, window))
    )
    box = tuple(slice(0, n) for n in shape)
    if values["crop"] is not None:
        if mask is None or mask.shape != shape:
            raise ValueError("crop='mask' needs a mask with the axes of one image")
        if not bool((mask.array != 0).any()):
            raise ValueError("crop is 'mask', but no voxel is inside mask: leave crop out where regions may be empty")
        box = tuple(
            slice(max(first - a, 0), min(last + n - a, size))
            for first, last, a, n, size in zip(*_masks.bounds(mask), anchor, window, shape)
        )
        if selection is not None:
            selection = _arrays.Array(library.contiguous(selection.array[(..., *box)]), library)
    levels = discretization(values)
    check_levels(image, mask, levels, set(selected) != {"firstorder"})
    geometry, volume = None, opened.image
    if volume.spacing is not None:
        start = [0] * len(volume.spacing)
        start[len(start) - dimension :] = [part.start for part in box]
        geometry = Geometry(volume.spacing, volume.point(reversed(start)), volume.direction)
    return Request(
        image=image,
        mask=mask,
        selection=selection,
        box=box,
        window=window,
        anchor=anchor,
        classes=classes_of(selected, values, window, sizes, has_all_pairs),
        discretization=levels,
        dtype="float32" if values["precision"] == "float" else "float64",
        background=values["background_value"],
        threads=values["threads"],
        device=devices_of_arrays(values["device"], library),
        names=[f"{name}_{feature}" for name, of_class in selected.items() for feature in of_class],
        geometry=geometry,
        axes=opened.axes,
        order=opened.order,
        provenance=provenance(inputs, values, _NOT_OF_VALUES),
    )


@overload
def feature_maps(
    image: Path | NumPyArray, mask: Array | ImageLike | Path | None = None, **parameters: Unpack[FeatureMapsParameters]
) -> FeatureMaps: ...
@overload
def feature_maps(
    image: TensorT, mask: Array | ImageLike | Path | None = None, **parameters: Unpack[FeatureMapsParameters]
) -> FeatureMaps[TensorT]: ...
@overload
def feature_maps(
    image: ImageLike, mask: Array | ImageLike | Path | None = None, **parameters: Unpack[FeatureMapsParameters]
) -> FeatureMaps: ...
@with_parameters(FEATURE_MAPS)
def feature_maps(
    image: Array | ImageLike | Path,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[FeatureMapsParameters],
) -> FeatureMaps[Any]:
    """Compute texture feature maps of an image with the definitions of PyRadiomics' voxel mode.

    Parameters
    ----------
    image : array, image or path
        Intensities: an array with the axes (y, x) or (z, y, x) of NumPy, PyTorch, CuPy, JAX or Numba, in host memory or on a CUDA
        device, or anything that numpy.asarray converts; an image of ITK, SimpleITK, nibabel, xarray or MONAI, whose spacing is used;
        or the path of an image. Axes before these are batches, whose images are computed one by one. NaN is an absent voxel.
    mask : array, image or path, optional
        The region, on the grid of the image: boolean, or with 0 and one other value. Voxels where it is 0 or NaN are absent: they belong
        to no window and have no features.
    features : str, list of str or dict
        Names such as "glcm_Contrast", those of PyRadiomics or those of the IBSI manual ("glcm_angular_second_moment"); names of
        classes, such as "glcm" for all of its features; or a dict of lists, such as {"glcm": ["Contrast"]}. The classes are
        firstorder, glcm, gldm, glrlm, glszm and ngtdm.
    label : int, str, or list or set of them, optional
        Label that is inside, if the mask has several, or a list of labels that are inside together; of a DICOM segmentation or an
        RTSTRUCT, also by name.
    neighborhood_radius : int or one per axis, default 2
        Radius of the window in voxels; PyRadiomics and radiomics.execute have kernelRadius 1. (0, 1, 1) is PyRadiomics' force2D.
    radius_mm : float, optional
        Radius of the window in mm, instead: the voxels whose centers are at most this far away along each axis.
    window_size : int or one per axis, optional
        Size of the window in voxels, instead of a radius.
    window_anchor : int or one per axis, optional
        Position of the voxel in a window of this size, from 0. Default: the middle.
    spacing : list of float, optional
        Size of a voxel along each axis, in mm. Default: that of the image, or 1.
    bin_width : float, default 25
        Width of the bins of gray levels, in units of the intensities; bin edges are its multiples.
    bin_count : int, optional
        Number of bins of equal width over the intensity range, instead of a width. Its name in the ITK filters,
        number_of_gray_levels, is accepted, too.
    bin_edges : list of float, optional
        Lower edges of the bins, instead of a width; smaller intensities are absent.
    largest_gray_level : int, optional
        For images of gray levels from 1 to this number, which are not binned again; 0 is absent.
    intensity_range : {"mask", "image"} or two floats, default "mask"
        Range of the bins: that of the intensities inside the mask or of all, or two numbers; intensities outside are clamped.
    distances : int or list of int, default 1
        Distances of pairs of voxels in voxels, for glcm, gldm and ngtdm: the greatest component of a step.
    aggregation : {"average", "merge"}, default "average"
        For glcm and glrlm: average the features of all directions, or merge the matrices of the directions.
    weighting_norm : {"manhattan", "euclidean", "infinity"}, optional
        Merge the matrices of glcm and glrlm with weights of their directions, as PyRadiomics does: exp(-length^2) for glcm, the length
        for glrlm, in mm with this norm. Windows must have at most 512 voxels or gray levels.
    symmetric : bool, default True
        Whether matrices of glcm count each pair in both directions, as symmetricalGLCM.
    alpha : int, default 0
        For gldm: greatest difference of the gray levels of dependent voxels, as gldm_a.
    voxel_array_shift : float, default 0
        For firstorder: added to intensities before Energy, TotalEnergy and RootMeanSquared are computed, as voxelArrayShift.
    threads : int, default 0
        Number of threads on the CPU; 0 for one per processor.
    progress : callable or bool, optional
        Function that is called with the fraction that is finished, 0 to 1, several times a second; or True for a bar of tqdm. An
        exception in the function ends the computation.
    selection : array, image or path, optional
        Features are computed where it is not 0; voxels elsewhere still belong to windows.
    background_value : float, default 0
        Value of the maps where no features are computed.
    empty : {"error", "background"}, optional
        What a mask without a region means, as of a random patch: an error, or maps of background_value. Default: the latter for a mask of
        zeros, with a warning, and an error if a label is missing.
    crop : {"mask"}, optional
        Compute and return only the bounding box of the mask and the reach of the window; see FeatureMaps.slices.
    dimension : {2, 3}, optional
        Dimension of the images of a batch. Default: that of the image, at most 3. With 2, each slice of a volume is an image with gray
        levels of its own, unlike with PyRadiomics' force2D.
    precision : {"float", "double"}, default "float"
        Type of the results: float32 or float64.
    out : array, optional
        Array in C order for the results. That of maps has the number of features before the shape of a map.
    device : {"cpu", "cuda", "all"}, int or list of int, optional
        For arrays in host memory: the CPU, a CUDA device by its number, or several, which compute parts of the maps. Default: the
        CUDA device 0, if there is one. Results do not depend on it.

    Returns
    -------
    FeatureMaps
        A mapping from "class_Feature" to the maps, which are parts of one array of the library of the image, on its device. On a CUDA
        device they are computed in the current stream of the library, and the call may return before they are, except for arrays of
        JAX and Numba, which CuPy reads. Gradients are not computed.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, those without an effect on the features, and infinite intensities inside the mask.
    RuntimeError
        If a device fails.

    Warns
    -----
    UserWarning
        If there is NaN inside the mask, or one gray level only. voxelmaps.describe reports levels and memory in advance.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(125, dtype=np.float32).reshape(5, 5, 5)
    >>> maps = voxelmaps.feature_maps(image, features=["firstorder_Mean", "glcm_Contrast"], neighborhood_radius=1)
    >>> float(maps["firstorder_Mean"][2, 2, 2])
    62.0
    """
    request = request_of(image, mask, parameters)
    out, shape, library = parameters.get("out"), (len(request.names), *request.map_shape()), request.image.library
    given, order = request.as_given(shape), request.order
    if order is None or out is not None:
        output = _arrays.output_of(out, request.image, given, request.dtype, mask=request.mask)
    if order is not None:
        output = _arrays.Array(library.empty(shape, request.dtype), library)
    shape = shape[1:]
    if 0 not in shape:
        image_bytes = math.prod(shape[len(request.batch) :]) * np.dtype(request.dtype).itemsize
        with shown(parameters.get("progress"), math.prod(shape) * len(request.classes), "feature_maps"):
            levels = [
                request.run(index, output.address + number * image_bytes, math.prod(shape))
                for number, index in enumerate(np.ndindex(*request.batch))
            ]
        text = text_of_one_level(request.discretization)
        if max(levels) == 1 and text and request.has_texture():
            warn(text)
    result = _image.turned(output.array, order, is_reversed=True)
    if order is not None and out is not None:
        out[...] = result
    box, input_shape = request.as_given(request.box), request.as_given(request.image.shape)
    result = library.result(result, out)
    return FeatureMaps(
        request.names, result, box, request.geometry, input_shape, request.axes, order, request.provenance
    )
