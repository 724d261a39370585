# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""A dictionary transform for MONAI, which it does not need."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._arrays import array_of
from ._feature_maps import feature_maps

try:
    from monai.transforms import MapTransform as _MapTransform
except ImportError:

    class _MapTransform:  # type: ignore[no-redef]
        """What FeatureMapsd uses of the class of MONAI."""

        def __init__(self, keys, allow_missing_keys=False):
            self.keys = (keys,) if isinstance(keys, str) else tuple(keys)
            self.allow_missing_keys = allow_missing_keys


# Arrays, which would be the same for all images.
_UNAVAILABLE = {
    "mask": "mask_key is the name of the mask in the dictionary",
    **dict.fromkeys(("image", "out", "selection"), "use voxelmaps.feature_maps"),
}


class FeatureMapsd(_MapTransform):
    """Add feature maps of images as channels: a dictionary transform of MONAI, or of loops without it.

    The maps are one array (channels, z, y, x) of the library of the image, on its device. Those of a MetaTensor have its metadata and
    affine, so that SaveImaged writes them where the image is, also with crop="mask".

    A random patch may have no region: the default of empty is "background".

    Parameters
    ----------
    keys : str or list of str
        Names of the images, which have one channel, as the first axis: (1, z, y, x) or (1, y, x).
    mask_key : str, optional
        Name of the mask of all images, with or without an axis of one channel.
    suffix : str, default "_maps"
        What follows the name of the image in the name of its maps; "" replaces the image.
    with_image : bool, default False
        Whether the first channel is the image itself, converted to the type of the maps.
    batch_first : bool, default False
        Whether images and masks are batches, as a DataLoader makes them: (B, 1, z, y, x). Maps are (B, channels, z, y, x).
    allow_missing_keys : bool, default False
        Whether images that are not in the dictionary are skipped.
    **parameters
        Keywords of voxelmaps.feature_maps, such as features and bin_width. They are checked when the transform is made.

    Raises
    ------
    KeyError
        For a name that is not in the dictionary.
    ValueError, TypeError
        For images of several channels, and as feature_maps.

    Examples
    --------
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
        batch_first: bool = False,
        allow_missing_keys: bool = False,
        **parameters: Any,
    ) -> None:
        super().__init__(keys, allow_missing_keys)
        for name, remedy in _UNAVAILABLE.items():
            if name in parameters:
                raise TypeError(f"FeatureMapsd has no parameter {name}: {remedy}")
        if batch_first and parameters.get("crop") is not None:
            raise ValueError("crop is given, but images of a batch have maps of one size: leave one of them out")
        self.mask_key = mask_key
        self.suffix = suffix
        self.with_image = with_image
        self.batch_first = batch_first
        self.parameters = {"empty": "background", **parameters}
        self._check()

    def _check(self) -> None:
        """Compute maps of a few voxels, so that wrong parameters fail here, and not at the first case of a long run."""
        given = self.parameters
        of_axes: list[Any] = [
            given.get(name) for name in ("spacing", "neighborhood_radius", "window_size", "window_anchor")
        ]
        dimension = given.get("dimension") or max(map(np.size, of_axes))
        shape = (4,) * (dimension if dimension in (2, 3) else 3)
        intensity = np.ravel(given["bin_edges"])[0] if np.size(given.get("bin_edges", 0)) > 1 else 1
        mask = None if self.mask_key is None else np.full(shape, np.ravel(given.get("label") or 1)[0])
        # What is checked does not depend on the device, whose first use would be in the wrong process.
        fixed = {"spacing": (given.get("radius_mm") or 1,) * len(shape), **given, "device": "cpu", "threads": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            feature_maps(np.full(shape, float(intensity)), mask, **fixed)

    def __repr__(self) -> str:
        names = ("mask_key", "suffix", "with_image", "batch_first", "allow_missing_keys")
        given = {**{name: getattr(self, name) for name in names}, **self.parameters}
        return f"FeatureMapsd({self.keys!r}, {', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def __call__(self, data: Mapping[Any, Any]) -> dict[Any, Any]:
        result = dict(data)
        for key in self.keys:
            if key in data or not self.allow_missing_keys:
                mask = None if self.mask_key is None else data[self.mask_key]
                result[key + self.suffix] = self._maps(data[key], mask, key)
        return result

    def _maps(self, image: Any, mask: Any, key: str) -> Any:
        axes = "(B, 1, z, y, x)" if self.batch_first else "(1, z, y, x)"
        if image.ndim - self.batch_first not in (3, 4) or image.shape[self.batch_first] != 1:
            raise ValueError(
                f"{key} has the shape {tuple(image.shape)}, but must have one channel and the axes {axes}"
                + ("" if self.batch_first else ": with a batch, give batch_first=True")
            )
        if mask is not None and mask.ndim == image.ndim and mask.shape[self.batch_first] != 1:
            raise ValueError(f"{self.mask_key} has the shape {tuple(mask.shape)}, but must have one channel")
        if not self.batch_first:
            return self._channels(image, mask)
        if mask is not None and len(mask) != len(image):
            raise ValueError(f"{self.mask_key} has the shape {tuple(mask.shape)}, but {key} has {tuple(image.shape)}")
        masks = [None] * len(image) if mask is None else mask
        return _like(_joined([self._channels(*each) for each in zip(image, masks)], "stack"), image)

    def _channels(self, image: Any, mask: Any) -> Any:
        has_channel = mask is not None and mask.ndim == image.ndim
        maps = feature_maps(image[0], mask[0] if has_channel else mask, **self.parameters)
        channels = maps.array
        if self.with_image:
            channels = _joined([image[(..., *maps.slices)], channels], "concatenate")
        return _like(channels, image, [part.start for part in maps.slices])


def _joined(parts: list[Any], function: str) -> Any:
    """The parts of one library as one array, with the type of the last one."""
    arrays = [array_of(part.as_tensor() if hasattr(part, "as_tensor") else part, "an image") for part in parts]
    library = arrays[-1].library
    with library.current_device():
        converted = [library.contiguous(each.array, arrays[-1].dtype) for each in arrays]
        return library.result(getattr(library.module(), function)(converted))


def _like(channels: Any, image: Any, start: Iterable[int] = ()) -> Any:
    """The channels; for a MetaTensor, one with its metadata, whose affine is that of the part of the image from a voxel on."""
    if not hasattr(image, "copy_meta_from"):
        return channels
    result = type(image)(channels).copy_meta_from(image)
    start = list(start)
    if any(start):
        move = np.eye(len(image.affine))
        move[len(image.shape) - 1 - len(start) : len(image.shape) - 1, -1] = start
        result.affine = image.affine @ image.affine.new_tensor(move)
    return result
