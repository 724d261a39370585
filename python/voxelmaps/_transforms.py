# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""A transform of dictionaries in the manner of MONAI, which it does not need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._arrays import array_of
from ._feature_maps import feature_maps


class FeatureMapsd:
    """Dictionary transform that adds the feature maps of images as channels, for MONAI's Compose and for loops.

    keys          Names of the images, or one name. Images have one channel, as the first axis: (1, z, y, x) or (1, y, x).
    mask_key      Name of the mask of all images, with or without an axis of one channel; None for no mask.
    suffix        Suffix that forms the name of the maps from the name of the image; "" replaces the image.
    with_image    Whether the first channel is the image itself, converted to the type of the maps.
    parameters    Of voxelmaps.feature_maps, such as features and bin_width.

    The maps are one array (channels, z, y, x) of the library of the image, on its device.

    Raises KeyError for a name that is not in the dictionary, ValueError for images of several channels, and what feature_maps
    raises.

    Examples

    >>> import numpy as np, voxelmaps
    >>> transform = voxelmaps.FeatureMapsd("ct", features=["firstorder_Mean", "glcm_Contrast"])
    >>> case = transform({"ct": np.arange(512, dtype=np.float32).reshape(1, 8, 8, 8), "name": "patient 1"})
    >>> case["name"], case["ct_maps"].shape
    ('patient 1', (2, 8, 8, 8))
    """

    def __init__(
        self,
        keys: str | Iterable[str],
        mask_key: str | None = None,
        *,
        suffix: str = "_maps",
        with_image: bool = False,
        **parameters: Any,
    ) -> None:
        if "features" not in parameters:
            raise TypeError("FeatureMapsd needs the features to compute, such as features=['glcm_Contrast']")
        if "crop" in parameters or "out" in parameters:
            raise TypeError("FeatureMapsd computes maps of the size of the image: crop and out are not available")
        self.keys = (keys,) if isinstance(keys, str) else tuple(keys)
        self.mask_key = mask_key
        self.suffix = suffix
        self.with_image = with_image
        self.parameters = parameters

    def __call__(self, data: Mapping[Any, Any]) -> dict[Any, Any]:
        result = dict(data)
        mask = None if self.mask_key is None else data[self.mask_key]
        for key in self.keys:
            image = data[key]
            if image.ndim not in (3, 4) or image.shape[0] != 1:
                raise ValueError(
                    f"{key} has the shape {tuple(image.shape)}, but must have one channel, as the first axis"
                )
            if mask is not None and mask.ndim == image.ndim and mask.shape[0] != 1:
                raise ValueError(f"{self.mask_key} has the shape {tuple(mask.shape)}, but must have one channel")
            of_image = mask[0] if mask is not None and mask.ndim == image.ndim else mask
            maps = feature_maps(image[0], of_image, **self.parameters).array
            if self.with_image:
                of_maps = array_of(maps, "maps")
                library = of_maps.library
                image = library.contiguous(array_of(image, key).array, of_maps.dtype)
                join = library.module().cat if library.name == "PyTorch" else library.module().concatenate
                maps = library.result(join([image, of_maps.array]))
            result[key + self.suffix] = maps
        return result
