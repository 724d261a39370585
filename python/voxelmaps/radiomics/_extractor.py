# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' extractor, which computes maps and values of regions with this package. Imports PyRadiomics."""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import SimpleITK
from radiomics import featureextractor

from .. import _image, radiomics
from . import _preparation, _settings, _values

if TYPE_CHECKING:
    from .._types import Precision

_logger = logging.getLogger(__name__)


def _region(mask, kwargs):
    labels = _image.from_simpleitk(mask)
    return labels.with_array(labels.array == kwargs.get("label", 1))


class RadiomicsFeatureExtractor(featureextractor.RadiomicsFeatureExtractor):
    """PyRadiomics' RadiomicsFeatureExtractor, which computes maps of voxels, and values of regions, with this package.

    Image and mask are those of execute(), which are loaded, and checked, by the same rules; PyRadiomics itself performs resampling,
    normalization, image filters such as wavelets, and cropping.

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

    def computeShape(self, image, mask, boundingBox, **kwargs):
        names = [name for name in _settings.SHAPE_CLASSES if name in self.enabledFeatures]
        roi = _region(mask, kwargs)
        classes = {name: self._features(name) for name in names}
        settings = {**_settings.class_settings(kwargs), "force2D": bool(kwargs.get("force2D"))}
        return _values.shape_values(roi, classes, settings)

    def computeFeatures(self, image, mask, imageTypeName, **kwargs):
        volume, roi = _image.from_simpleitk(image), _region(mask, kwargs)
        result = {}
        for name in self.enabledFeatures:
            if not name.startswith("shape"):
                result.update(self._compute_class(volume, roi, image, mask, imageTypeName, name, kwargs))
        return result

    def _features(self, name):
        feature_class = {**_settings.CLASSES, **_settings.SHAPE_CLASSES}[name]
        return list(dict.fromkeys(self.enabledFeatures[name] or feature_class.all_features()))

    def _compute_class(self, volume, roi, image, mask, image_type, name, kwargs):
        """Maps or values of one class, in PyRadiomics' order."""
        if name not in _settings.CLASSES:
            _logger.warning("PyRadiomics computes the class %s", name)
            return self._compute_by_pyradiomics(image, mask, image_type, name, self.enabledFeatures[name], kwargs)
        ours = _settings.CLASSES[name].numbers()
        features = self._features(name)
        others = [feature for feature in features if feature not in ours]
        results = {}
        if others:
            _logger.warning("PyRadiomics computes %s of the class %s", ", ".join(others), name)
            results.update(self._compute_by_pyradiomics(image, mask, image_type, name, others, kwargs))
        settings = _settings.class_settings(kwargs)
        wanted = [feature for feature in features if feature in ours]
        if wanted and kwargs.get("voxelBased", False):
            maps = radiomics.Maps(volume, roi, settings, self.precision, image_type).compute({name: wanted})
            keys = [f"{image_type}_{name}_{feature}" for feature in wanted]
            results.update(zip(keys, map(_image.to_simpleitk, map(volume.with_array, maps))))
        elif wanted:
            results.update(_values.texture_values(volume, roi, {name: wanted}, settings, image_type))
        keys = [f"{image_type}_{name}_{feature}" for feature in features]
        return {key: results[key] for key in keys if key in results}

    def _compute_by_pyradiomics(self, image, mask, image_type, name, features, kwargs):
        # PyRadiomics takes the features from the object.
        extractor = copy.copy(self)
        extractor.enabledFeatures = {name: features}
        maps = super(RadiomicsFeatureExtractor, extractor).computeFeatures(image, mask, image_type, **kwargs)
        if not kwargs.get("voxelBased", False):
            return maps
        pixel = SimpleITK.sitkFloat64 if self.precision == "double" else SimpleITK.sitkFloat32
        return {key: SimpleITK.Cast(image, pixel) for key, image in maps.items()}
