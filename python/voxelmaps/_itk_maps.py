# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Run length feature maps by name, with the filter of ITK, and feature map images as dicts and DataArrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _filters, _images
from ._itk import itk

if TYPE_CHECKING:
    from ._types import Image


def _as_filter_keywords(kwargs, skip_single_voxel_directions):
    if skip_single_voxel_directions:
        kwargs = {**kwargs, "skip_directions_without_pairs": True}
    return kwargs


def _names_as_asked(names, kwargs, instance):
    """Names of components, with the names of features that were given."""
    asked = next((value for key, value in kwargs.items() if _filters.normalized(key) == "features"), "all")
    asked = [asked] if isinstance(asked, str) else list(asked)
    if not all(isinstance(name, str) for name in asked) or len(asked) != len(instance.GetFeatures()):
        return names
    abbreviations = [itk.RunLengthFeatureMapEnums.GetAbbreviation(number) for number in instance.GetFeatures()]
    features = list(zip(abbreviations, asked)) * (len(names) // len(asked))
    return [given + name[len(short) :] for name, (short, given) in zip(names, features)]


def run_length_feature_maps(
    *args: Any, crop: Literal["mask"] | None = None, skip_single_voxel_directions: bool = False, **kwargs: Any
) -> dict[str, Any]:
    """Compute run length feature maps; returns a dict that maps feature names to maps.

    Takes the arguments of itk.run_length_feature_map_image_filter. Maps have the names that features are given by, or abbreviations
    if none are given. They have the type of the input: itk.Image,
    numpy.ndarray or xarray.DataArray.

    crop                            None for maps of the size of the input; "mask" for the bounding box of mask_image plus
                                    the reach of the window on each side, cut to the input: PyRadiomics' geometry. Only
                                    this part is computed and allocated; input and mask are still read completely. The values
                                    are those of the full maps. Images overlay the input: their origin is that of their
                                    first voxel; DataArrays keep their coordinates; crop_slices() says which part arrays
                                    are.
    skip_single_voxel_directions    The parameter skip_directions_without_pairs of the filter: leave out, for each
                                    window, the directions in which no line holds two or more voxels, as PyRadiomics
                                    does; NaN where there is no other direction. This matters for thin and scattered
                                    masks.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.arange(600, dtype=np.int16).reshape(6, 10, 10)
    >>> mask = (x > 480).astype(np.uint8)
    >>> maps = voxelmaps.run_length_feature_maps(x, mask_image=mask, features=["SRE", "RunEntropy"], crop="mask")
    >>> {name: map.shape for name, map in maps.items()}
    {'SRE': (4, 10, 10), 'RunEntropy': (4, 10, 10)}
    """
    kwargs = _as_filter_keywords(kwargs, skip_single_voxel_directions)
    instance, image, given = _filters.run(itk.RunLengthFeatureMapImageFilter, args, kwargs, crop)
    return _images.split_components(image, _names_as_asked(instance.GetFeatureNames(), kwargs, instance), given)


def crop_slices(
    *args: Any, crop: Literal["mask"] = "mask", skip_single_voxel_directions: bool = False, **kwargs: Any
) -> tuple[slice, ...]:
    """Return the slices of the input, in NumPy's order of axes, that run_length_feature_maps(..., crop="mask") returns maps of.

    Takes the arguments of run_length_feature_maps, and computes no maps.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.arange(600, dtype=np.int16).reshape(6, 10, 10)
    >>> voxelmaps.crop_slices(x, mask_image=(x > 480).astype(np.uint8), neighborhood_radius=1)
    (slice(3, 6, None), slice(0, 10, None), slice(0, 10, None))
    """
    if crop != "mask":
        raise ValueError(f"crop '{crop}' is not valid; crop_slices needs 'mask'")
    kwargs = _as_filter_keywords(kwargs, skip_single_voxel_directions)
    instance, _ = _filters.make(itk.RunLengthFeatureMapImageFilter, args, kwargs)
    return _images.region_slices(_images.mask_region(instance), instance.GetInput())


def feature_names(dimension: Literal[2, 3] = 3, **kwargs: Any) -> list[str]:
    """Return the names of the components that itk.run_length_feature_map_image_filter computes, in order.

    dimension    Dimension of the input image, 2 or 3.

    All other arguments are parameters of the filter.

    Examples

    >>> import voxelmaps
    >>> voxelmaps.feature_names(features=["ShortRunEmphasis", "RP"])
    ['SRE', 'RP']
    >>> voxelmaps.feature_names(2, features=["SRE"], aggregation="per_direction")
    ['SRE_1_0', 'SRE_1_-1', 'SRE_0_1', 'SRE_1_1']
    """
    input_type = itk.Image[itk.UC, dimension]
    output_type = itk.VectorImage[itk.F, dimension]
    return list(itk.RunLengthFeatureMapImageFilter[input_type, output_type].New(**kwargs).GetFeatureNames())


def _check_names(image, names):
    components = image.GetNumberOfComponentsPerPixel()
    if len(names) != components:
        raise ValueError(f"{len(names)} names for an image of {components} components")
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"name {name} is given twice")


def feature_dict(image: Image, names: Sequence[str]) -> dict[str, Image]:
    """Split a feature map image into a dict that maps each name to an itk.Image, with the geometry of the image.

    Raises ValueError if the number of names is not the number of components, or if a name is given twice.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> image = itk.image_from_array(np.arange(60, dtype=np.int16).reshape(3, 4, 5))
    >>> vectors = itk.run_length_feature_map_image_filter(image, features=["SRE", "RP"])
    >>> maps = voxelmaps.feature_dict(vectors, voxelmaps.feature_names(features=["SRE", "RP"]))
    >>> list(maps), itk.size(maps["RP"])
    (['SRE', 'RP'], itkSize3 ([5, 4, 3]))
    """
    _check_names(image, names)
    return _images.split_components(image, names, image)


def feature_xarray(image: Image, names: Sequence[str]) -> Any:
    """Convert a feature map image to an xarray.DataArray whose last axis, "feature", is labeled with the names.

    Raises ValueError if the number of names is not the number of components, or if a name is given twice.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> image = itk.image_from_array(np.arange(60, dtype=np.int16).reshape(3, 4, 5))
    >>> vectors = itk.run_length_feature_map_image_filter(image, features=["SRE", "RP"])
    >>> maps = voxelmaps.feature_xarray(vectors, voxelmaps.feature_names(features=["SRE", "RP"]))
    >>> maps.dims, maps.sel(feature="RP").shape
    (('z', 'y', 'x', 'feature'), (3, 4, 5))
    """
    _check_names(image, names)
    return _images.to_xarray(image, names)
