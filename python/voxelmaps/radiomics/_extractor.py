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
    """Extract features as PyRadiomics' RadiomicsFeatureExtractor does, with the computations of this package.

    It has PyRadiomics' parameters and its methods that enable features and image types.

    Parameters
    ----------
    *args
        Arguments of PyRadiomics' class.
    precision : {"float", "double"}, default "float"
        Type of the maps: float32, or float64, as in PyRadiomics.
    **kwargs
        Settings of PyRadiomics.

    Examples
    --------
    >>> import numpy as np, SimpleITK
    >>> from voxelmaps import radiomics
    >>> array = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> image, mask = SimpleITK.GetImageFromArray(array), SimpleITK.GetImageFromArray((array > 600).astype(np.uint8))
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
        """Compute the maps or values of an image and a mask with the enabled features and image types.

        Parameters
        ----------
        imageFilepath : image or path
            Image, as in radiomics.execute.
        maskFilepath : image or path
            Mask, of the same kinds.
        label : int, optional
            Label of the region in the mask. Default: that of the settings, or 1.
        label_channel : int, optional
            Component of a mask of several components.
        voxelBased : bool, default False
            Whether to compute maps instead of values of the region.

        Returns
        -------
        dict
            What radiomics.execute returns.

        Examples
        --------
        >>> import numpy as np, SimpleITK
        >>> from voxelmaps import radiomics
        >>> image = SimpleITK.GetImageFromArray(np.arange(27.0).reshape(3, 3, 3))
        >>> extractor = radiomics.RadiomicsFeatureExtractor({"featureClass": {"firstorder": ["Mean"]}}, additionalInfo=False)
        >>> {name: float(value) for name, value in extractor.execute(image, image > 8).items()}
        {'original_firstorder_Mean': 17.5}
        """
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
