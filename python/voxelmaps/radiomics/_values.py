# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Values of a region as PyRadiomics computes them with voxelBased=False: one number per feature."""

import logging

import numpy as np

from .. import _regions
from .._files import writing
from . import _filters, _maps, _preparation, _settings

_logger = logging.getLogger(__name__)


def _computed(pixels, roi, spacing, settings, keys, **wanted):
    """Dict of values by key.

    pixels    Array of the intensities in the box of the region.
    spacing   Of the image, from which that of the mask may differ.
    keys      By class and feature.
    wanted    What _regions.compute takes for these classes.
    """
    [(*_, values)] = _regions.compute(
        np.ascontiguousarray(pixels),
        np.ascontiguousarray(roi.array).view(np.uint8),
        [1],
        sizes=spacing[::-1],
        plane_axis=settings["force2Ddimension"] if settings["force2D"] else None,
        plane_name="setting force2Ddimension",
        threads=writing.Threads.number,
        **wanted,
    )
    return dict(zip(_settings.flat(keys), values))


def _shape_values(roi, spacing, keys, settings):
    """Dict of the values of those classes of shape that the region has, by key."""
    dimension, keys = roi.array.ndim, dict(keys)
    if "shape" in keys and dimension == 2:
        del keys["shape"]
        _logger.warning("featureClass shape is left out: it is that of volumes, use shape2D for images")
    if "shape2D" in keys and dimension == 3 and not settings["force2D"]:
        del keys["shape2D"]
        _logger.warning("featureClass shape2D is left out: volumes have it only with the setting force2D")
    if not keys:
        return {}
    numbers = {name: [_settings.numbers_of(name)[feature] for feature in of_class] for name, of_class in keys.items()}
    # Shape does not depend on intensities.
    return _computed(roi.array.view(np.uint8), roi, spacing, settings, keys, shapes=numbers)


def _keys(parameters, name, are_of_shape):
    """Keys of the classes of shape, or of all others, by class and feature."""
    is_shape = _settings.SHAPE_CLASSES.__contains__
    return {each: keys for each, keys in parameters.keys(name).items() if is_shape(each) == are_of_shape}


def values_of(prepared, parameters):
    """Dict of diagnostics and values of an image that is prepared, in PyRadiomics' order."""
    result, roi = _preparation.diagnostics(prepared, parameters), prepared.roi
    result |= _shape_values(
        prepared.shape_roi, prepared.image.spacing, _keys(parameters, "original", True), parameters.settings
    )
    if not _keys(parameters, "original", False):
        return result
    for name, image, settings in _filters.images_of(prepared, parameters):
        # All pairs of voxels are in one window.
        window = list(roi.array.shape)
        if settings["force2D"]:
            window[settings["force2Ddimension"]] = 1
        levels = _maps.Levels(image, roi, {**settings, "maskedKernel": True}, window, name=name)
        for group in levels.groups(_keys(parameters, name, False)):
            result |= _computed(levels.pixels, roi, image.spacing, settings, group, **levels.prepared(group))
    return result
