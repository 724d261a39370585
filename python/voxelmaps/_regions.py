# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Features of the regions of a label image: one number per feature and region."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _core, _feature_maps, _masks
from ._core import triple
from ._devices import place_of
from ._files import library
from ._files.dicom import OverlappingSegments, label_of, segment_names
from ._parameters import REGION_FEATURES, check_effects, checked, with_parameters
from ._progress import shown
from ._suggestions import warn

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import Array, ImageLike, Path, RegionFeaturesParameters

SHAPE_CLASSES = ("shape", "shape2D")
# Voxels of an image that the CPU is chosen for: a device is not faster.
_FEW_VOXELS = 2**16
# Columns that are not those of features.
_OF_REGIONS = ("label", "segment", "voxels")


def compute(
    pixels,
    label_image,
    labels,
    *,
    classes=(),
    shapes=(),
    discretization=_feature_maps.discretization({"bin_edges": [0.0]}),
    sizes=(1.0, 1.0, 1.0),
    plane_axis=None,
    plane_name="plane_axis",
    device="cpu",
    threads,
):
    """Tuples of label, number of voxels, number of gray levels, bounding box and values of the regions, as _core has them.

    pixels, label_image    Arrays of one library in C order.
    labels                 Empty for all that are greater than 0.
    classes                As _feature_maps.classes_of has them.
    shapes                 Dict of the numbers of features of SHAPE_CLASSES.
    discretization         All intensities from 0 up have one level, if it is not given.
    sizes                  Size of a voxel along each axis.
    plane_name             How errors call plane_axis.
    device                 As region_features has it; not used for arrays on a device, which compute there.
    """
    pixels, label_image = _arrays.array_of(pixels, "image"), _arrays.array_of(label_image, "mask")
    place = place_of(device if pixels.library.device is None else None, pixels.library)
    if place.pop("may_use_cpu") and math.prod(pixels.shape) < _FEW_VOXELS:
        place["device"] = -1
    dimension = len(pixels.shape)
    try:
        return _feature_maps.call_core(
            _core.compute_region_features,
            pixels=pixels.address,
            pixel_type=pixels.pixel_type,
            size=triple(pixels.shape, 1),
            label_image=label_image.address,
            label_type=label_image.pixel_type,
            labels=labels,
            discretization=discretization,
            classes=classes,
            shape=dict(shapes).get("shape", ()),
            planar_shape=dict(shapes).get("shape2D", ()),
            spacing=triple(sizes, 1.0),
            connects_axis=triple([axis != plane_axis for axis in range(dimension)], True),
            threads=threads,
            **place,
        )
    except ValueError as error:
        raise ValueError(f"{error} {plane_name} is this axis." if "planar shape" in str(error) else error) from None


def boxes(label_image, threads):
    """Dict of the bounding boxes of the labels of a label image that are greater than 0, as slices."""
    regions = compute(label_image, label_image, [], threads=threads)
    slices = lambda box: tuple(slice(first, first + n) for first, n in reversed(box[: label_image.ndim]))
    return {label: slices(box) for label, _, _, box, _ in regions}


def _shown(labels):
    return f"{', '.join(map(str, labels[:20]))}{', ...' * (len(labels) > 20)}"


def number_of_parts(inside, threads):
    """The number of connected components of a mask of bool, with 26 neighbors, or 8 in 2D: that of zones of one gray level."""
    mask = np.ascontiguousarray(inside).view(np.uint8)
    classes = [("glszm", [_core.find_feature("glszm", "ZonePercentage")], {})]
    [(_, voxels, _, _, [zones_per_voxel])] = compute(mask, mask, [1], classes=classes, threads=threads)
    return round(zones_per_voxel * voxels)


class RegionFeatures(dict[str, "NDArray[Any]"]):
    """Features of regions: a dict of columns, with a row per region.

    Its names are those of feature_maps, such as "glcm_Contrast". PyRadiomics, radiomics.execute and the command name the type of the
    image first: "original_glcm_Contrast", which to_dataframe("original") does, too.

    Parameters
    ----------
    columns : dict
        Columns by name, which are "label", "voxels" and those of features.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image, regions = np.arange(64.0).reshape(4, 4, 4), np.repeat([1, 1, 2, 0], 16).reshape(4, 4, 4)
    >>> voxelmaps.region_features(image, regions, features="firstorder")
    RegionFeatures(2 regions, 19 features: firstorder_10Percentile, firstorder_90Percentile, firstorder_Energy, ...)
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(columns)

    def to_dataframe(self, image_type: str | None = None) -> pandas.DataFrame:
        """Make a table with a row per region, whose index is the label.

        Parameters
        ----------
        image_type : str, optional
            Begin the names of features with it, as PyRadiomics and the command do: "original" for "original_glcm_Contrast".

        Returns
        -------
        pandas.DataFrame
            The table, with the column "voxels" and those of the features.

        Examples
        --------
        >>> import numpy as np, voxelmaps
        >>> table = voxelmaps.region_features(np.arange(64.0).reshape(4, 4, 4), np.ones((4, 4, 4), int), features="firstorder_Mean")
        >>> table.to_dataframe("original").to_dict("records")
        [{'voxels': 64, 'original_firstorder_Mean': 31.5}]
        """
        pandas = library("pandas", "to_dataframe", extra="all")
        start = "" if image_type is None else f"{image_type}_"
        columns = {name if name in _OF_REGIONS else f"{start}{name}": column for name, column in self.items()}
        return pandas.DataFrame(columns).set_index("label")

    def __repr__(self) -> str:
        names, regions = [name for name in self if name not in _OF_REGIONS], len(self["label"])
        listed = ", ".join([*names[:3], *["..."] * (len(names) > 3)])
        counts = f"{regions} region{'s' * (regions != 1)}, {len(names)} feature{'s' * (len(names) != 1)}"
        return f"RegionFeatures({counts}: {listed})"

    def _repr_html_(self) -> str | None:
        try:
            return self.to_dataframe()._repr_html_()
        except ImportError:
            return None


@with_parameters(REGION_FEATURES, _feature_maps.feature_maps)
def region_features(
    image: Array | ImageLike | Path,
    mask: Array | ImageLike | Path,
    **parameters: Unpack[RegionFeaturesParameters],
) -> RegionFeatures:
    """Compute features of the regions of a segmentation, as PyRadiomics does with voxelBased=False.

    Parameters
    ----------
    image : array, image or path
        Intensities, as in feature_maps, with 2 or 3 axes. NaN is an absent voxel; shape does not depend on intensities.
    mask : array, image or path
        Label image on the grid of the image. Each label is a region with its own intensity range, gray levels and matrices; a region
        can have several parts.
    label : "all", int, str, or list or set of them, default "all"
        All labels of the mask except 0, or those that have a row; of a DICOM segmentation or an RTSTRUCT, also by name.
    features : str, list of str or dict, optional
        Names, classes or a dict, as in feature_maps; also those of the classes shape, for volumes, and shape2D, for regions in one
        plane, such as "shape_MeshVolume". Default: all classes, with the shape of the dimension of the image.
    plane_axis : {0, 1, 2}, optional
        Axis across planes whose voxels are no neighbors (PyRadiomics' force2D): 0 for slices along z.
    minimum_dimensions : {0, 1, 2, 3}, default 2
        All features are NaN, with a warning, for a region that is longer than one voxel along fewer axes; radiomics.execute and the
        command refuse it, as PyRadiomics does (minimumROIDimensions).
    device : {"cpu", "cuda"} or int, optional
        For arrays in host memory: the CPU or a CUDA device by its number. Default: the CUDA device 0 for more than 65,000 voxels, if
        there is one. Image and mask on a device stay there; its results have the same bits.
    **parameters
        Further keywords, which are those of feature_maps.

    Returns
    -------
    RegionFeatures
        Columns by name, arrays with a row per region: "label", "voxels", and the features in float64; of a DICOM segmentation or an
        RTSTRUCT, whose regions may overlap, also their names as "segment". A feature that a region does not have is NaN, as is every
        feature of a label without voxels.

    Raises
    ------
    ValueError, TypeError
        As feature_maps, and for infinite intensities in a region.

    Warns
    -----
    UserWarning
        If there is NaN in regions, if labels have no voxels, and if the intensities of a region are in one bin.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(64.0).reshape(4, 4, 4)
    >>> segmentation = np.repeat([1, 1, 2, 0], 16).reshape(4, 4, 4)
    >>> table = voxelmaps.region_features(image, segmentation, features=["firstorder_Mean", "shape_VoxelVolume"])
    >>> {name: column.tolist() for name, column in table.items()}
    {'label': [1, 2], 'voxels': [32, 16], 'firstorder_Mean': [15.5, 39.5], 'shape_VoxelVolume': [32.0, 16.0]}
    >>> table.to_dataframe().loc[2, "firstorder_Mean"]
    np.float64(39.5)
    """
    values = checked(parameters, "region_features", REGION_FEATURES, ("mask",))
    opened, image, sizes = _feature_maps.opened_scalars(image, values, has_batches=False)
    dimension, plane_axis = len(sizes), values["plane_axis"]
    if 0 in image.shape:
        raise ValueError(f"image has the shape {image.shape}, but must have voxels")
    if plane_axis is not None and plane_axis >= dimension:
        raise ValueError(f"plane_axis is {plane_axis}, but the image has {dimension} axes, counted from 0")
    features = values["features"]
    if features is None:
        # In the order of the command, which is that of PyRadiomics' methods.
        classes = ["shape" if dimension == 3 else "shape2D", *_feature_maps.CLASSES]
        of_class = lambda name: _feature_maps.selected_features(name)[name]
        features = {name: sorted(of_class(name), key=lambda each: f"{each}FeatureValue") for name in classes}
    numbers = _feature_maps.selected_features(features, (*_feature_maps.CLASSES, *SHAPE_CLASSES))
    if dimension == 2 and "shape" in numbers:
        raise ValueError("the class shape is that of volumes, but the image has 2 axes: choose shape2D")
    check_effects(parameters, values, REGION_FEATURES, tuple(numbers), "on features of")
    shapes = {name: list(numbers[name].values()) for name in SHAPE_CLASSES if name in numbers}
    texture = {name: of_class for name, of_class in numbers.items() if name not in shapes}

    label = values["label"]
    label = label if isinstance(label, str) and label == "all" else label_of(mask, label)
    try:
        on_grid = opened.on_grid(mask, "mask", label if isinstance(label, (int, np.integer)) else None)
    except OverlappingSegments as error:
        labels = error.segments if isinstance(label, str) else _masks.labels_of(label)
        image = opened.image if isinstance(opened.given, (str, os.PathLike)) else opened.given
        tables = [region_features(image, mask, **{**parameters, "label": each}) for each in labels]
        return RegionFeatures({name: np.concatenate([table[name] for table in tables]) for name in tables[0]})
    given = _arrays.array_like(on_grid, "mask", image, image.shape)
    label_image, labels = _masks.label_map(given, label, image=image)
    discretization, library = _feature_maps.discretization(values), image.library
    with library.current_device():
        inside = label_image.comparable()
        if labels:
            inside = library.module().isin(inside, library.from_host(np.array(labels)))
        number_inside = int(library.module().count_nonzero(inside))
    if texture:
        inside = _arrays.Array(inside, library)
        _masks.check_finite(image, inside, "image", "mask")
        _masks.refuse_same(given, "mask", image)
        _feature_maps.check_levels(image, inside, discretization, set(texture) != {"firstorder"}, label_image)
    window = [1 if axis == plane_axis else n for axis, n in enumerate(image.shape)]
    # Voxels are counted when the regions are found, and when their features are computed.
    with shown(values["progress"], math.prod(image.shape) + number_inside, "region_features"):
        regions = compute(
            image.array,
            label_image.array,
            labels,
            classes=_feature_maps.classes_of(texture, values, window, sizes, has_all_pairs=False),
            shapes=shapes,
            discretization=discretization,
            sizes=sizes,
            plane_axis=plane_axis,
            device=values["device"],
            threads=values["threads"],
        )
    labels, voxels, levels, boxes, rows = zip(*regions)
    missing = [label for label, number in zip(labels, voxels) if number == 0]
    if missing:
        _masks.report_missing(given, "mask", missing, labels)
    least, table = values["minimum_dimensions"], np.array(rows)
    is_small = np.array([sum(n > 1 for _, n in box) < least for box in boxes]) & (np.array(voxels) > 0)
    if is_small.any():
        table[is_small] = np.nan
        warn(
            f"label {_shown(np.array(labels)[is_small])}: the region is longer than one voxel along fewer than {least} axes, so that its "
            "features are NaN; minimum_dimensions sets this"
        )
    flat = [label for label, n, small in zip(labels, levels, is_small) if n == 1 and not small]
    text = _feature_maps.text_of_one_level(discretization)
    if flat and text and set(texture) - {"firstorder"}:
        warn(f"label {_shown(flat)}: {text}")
    places = {
        name: i for i, name in enumerate(f"{name}_{each}" for name in [*texture, *shapes] for each in numbers[name])
    }
    names = [f"{name}_{each}" for name, of_class in numbers.items() for each in of_class]
    columns = zip(names, table.T[[places[name] for name in names]])
    segments = segment_names(mask)
    titles = {"segment": np.array([segments.get(label, "") for label in labels])} if segments else {}
    return RegionFeatures({"label": np.array(labels), **titles, "voxels": np.array(voxels), **dict(columns)})
