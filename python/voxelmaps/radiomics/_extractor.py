# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' extractor, which computes maps with the filters of this module. Imports PyRadiomics."""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import SimpleITK
from radiomics import featureextractor

from .. import _image, radiomics
from . import _preparation, _settings

if TYPE_CHECKING:
    from .._types import Precision

_logger = logging.getLogger(__name__)


class RadiomicsFeatureExtractor(featureextractor.RadiomicsFeatureExtractor):
    """PyRadiomics' RadiomicsFeatureExtractor, which computes the maps of voxel-based extraction with the filters of this module.

    Image and mask are those of execute(), which are loaded, and checked, by the same rules; PyRadiomics itself performs resampling, normalization, image filters such as wavelets, and cropping, as well as
    extraction that is not voxel-based.

    precision    "float" for maps of float32, "double" for float64, as PyRadiomics' are.

    All other arguments are those of PyRadiomics.

    Examples

    >>> import numpy as np, SimpleITK
    >>> from voxelmaps import radiomics
    >>> x = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> image, mask = SimpleITK.GetImageFromArray(x), SimpleITK.GetImageFromArray((x > 600).astype(np.uint8))
    >>> extractor = radiomics.RadiomicsFeatureExtractor({"featureClass": {"glcm": ["Contrast"]}}, additionalInfo=False)
    >>> maps = extractor.execute(image, mask, voxelBased=True)
    >>> {name: map.GetSize() for name, map in maps.items()}
    {'original_glcm_Contrast': (10, 10, 5)}
    """

    def __init__(self, *args: Any, precision: Precision = "float", **kwargs: Any) -> None:
        radiomics.check_precision(precision)
        self.precision = precision
        super().__init__(*args, **kwargs)
        for name in self.settings:
            if name not in _settings.SETTINGS:
                _logger.warning("setting %s is not known to PyRadiomics and has no effect", name)

    def loadImage(self, ImageFilePath, MaskFilePath, generalInfo=None, **kwargs):
        image, _ = _image.load(ImageFilePath, "the image")
        mask, _ = _image.load(MaskFilePath, "the mask")
        settings = {"label": 1, "label_channel": 0, **kwargs}
        mask = _preparation.scalar_mask(mask, {**settings, "label_channel": settings["label_channel"] or 0})
        _preparation.region_of_interest(mask, settings, image)
        # PyRadiomics truncates values, and compares geometry more strictly.
        mask = mask.with_array(
            np.rint(mask.array).astype(np.int64 if mask.array.dtype.kind == "f" else mask.array.dtype)
        )
        if _preparation.check_grids(image, mask, settings) is None:
            mask = image.with_array(mask.array)
        image, mask = map(_image.to_simpleitk, (image, mask))
        return super().loadImage(image, mask, generalInfo, **kwargs)

    def computeFeatures(self, image, mask, imageTypeName, **kwargs):
        if not kwargs.get("voxelBased", False):
            return super().computeFeatures(image, mask, imageTypeName, **kwargs)
        volume = _image.from_simpleitk(image)
        labels = _image.from_simpleitk(mask)
        roi = labels.with_array(labels.array == kwargs.get("label", 1))
        result = {}
        for name, features in self.enabledFeatures.items():
            if not name.startswith("shape"):
                result.update(self._compute_class(volume, roi, image, mask, imageTypeName, name, features, kwargs))
        return result

    def _compute_class(self, volume, roi, image, mask, image_type, name, features, kwargs):
        """Maps of one class, in PyRadiomics' order."""
        feature_class = _settings.CLASSES.get(name)
        if feature_class is None:
            _logger.warning("PyRadiomics computes the class %s", name)
            return self._compute_by_pyradiomics(image, mask, image_type, name, features, kwargs)
        ours = feature_class.numbers()
        features = list(dict.fromkeys(features or feature_class.all_features()))
        others = [feature for feature in features if feature not in ours]
        maps = {}
        if others:
            _logger.warning("PyRadiomics computes %s of the class %s", ", ".join(others), name)
            maps.update(self._compute_by_pyradiomics(image, mask, image_type, name, others, kwargs))
        settings = _settings.class_settings(kwargs)
        wanted = [feature for feature in features if feature in ours]
        if wanted:
            ours = radiomics.maps_of_classes(volume, roi, {name: wanted}, settings, self.precision, image_type)
            maps.update((key, _image.to_simpleitk(values)) for key, values in ours.items())
        keys = [f"{image_type}_{name}_{feature}" for feature in features]
        return {key: maps[key] for key in keys if key in maps}

    def _compute_by_pyradiomics(self, image, mask, image_type, name, features, kwargs):
        # PyRadiomics takes the features from the object.
        extractor = copy.copy(self)
        extractor.enabledFeatures = {name: features}
        maps = super(RadiomicsFeatureExtractor, extractor).computeFeatures(image, mask, image_type, **kwargs)
        pixel = SimpleITK.sitkFloat64 if self.precision == "double" else SimpleITK.sitkFloat32
        return {key: SimpleITK.Cast(image, pixel) for key, image in maps.items()}
