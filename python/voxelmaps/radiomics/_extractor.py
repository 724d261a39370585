# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' extractor, whose maps and values of regions are those of this package. Imports PyRadiomics."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from radiomics import featureextractor

from .. import radiomics
from .._parameters import FEATURE_MAPS
from . import _settings

if TYPE_CHECKING:
    from .._types import ImageLike, Path, Precision

_logger = logging.getLogger(__name__)


class RadiomicsFeatureExtractor(featureextractor.RadiomicsFeatureExtractor):
    """PyRadiomics' RadiomicsFeatureExtractor, with its parameters and methods that enable features and image types, whose execute()
    is that of this package.

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
        FEATURE_MAPS["precision"].check(precision, "precision")
        self.precision = precision
        super().__init__(*args, **kwargs)
        for name in self.settings:
            if name not in _settings.SETTINGS:
                _logger.warning("setting %s is not known to PyRadiomics and has no effect", name)

    def execute(
        self,
        imageFilepath: Path | ImageLike,
        maskFilepath: Path | ImageLike,
        label: int | None = None,
        label_channel: int | None = None,
        voxelBased: bool = False,
    ) -> dict[str, Any]:
        # Empty dicts are the defaults of execute().
        if not (self.enabledFeatures and self.enabledImagetypes):
            what, method = ("image type", "ImageTypes") if self.enabledFeatures else ("feature", "Features")
            raise ValueError(f"no {what} is enabled: call enableAll{method}(), or enable some by name")
        settings = {name: value for name, value in self.settings.items() if name in _settings.SETTINGS}
        given = {"label": label, "label_channel": label_channel}
        settings.update((name, value) for name, value in given.items() if value is not None)
        params = {"setting": settings, "featureClass": self.enabledFeatures, "imageType": self.enabledImagetypes}
        return radiomics.execute(
            imageFilepath, maskFilepath, params, precision=self.precision, hashes=True, voxelBased=voxelBased
        )
