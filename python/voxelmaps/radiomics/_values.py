# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Values of a region as PyRadiomics computes them with voxelBased=False: one number per feature."""

import itertools
import logging

import numpy as np

from .. import _feature_maps, _image, _region_features, radiomics
from .._files import writing
from . import _filters, _preparation, _settings

_logger = logging.getLogger(__name__)


def _computed(image, inside, classes, shapes, settings, **discretization):
    """List of the values of classes, and of features of shape by class."""
    numbers = {
        name: [_settings.SHAPE_CLASSES[name].numbers()[each] for each in features] for name, features in shapes.items()
    }
    [(*_, values)] = _region_features.compute(
        np.ascontiguousarray(image.array),
        np.ascontiguousarray(inside).view(np.uint8),
        [1],
        classes=classes,
        shapes=numbers,
        **discretization,
        sizes=image.spacing[::-1],
        plane_axis=settings["force2Ddimension"] if settings["force2D"] else None,
        threads=writing.Threads.number,
    )
    return values


def _keys(name, classes):
    return [f"{name}_{class_name}_{feature}" for class_name, features in classes.items() for feature in features]


def _shapes_of(classes, dimension, settings):
    """The classes of shape that regions have."""
    shapes = {}
    for name in filter(classes.get, _settings.SHAPE_CLASSES):
        if name == "shape" and dimension == 2:
            _logger.warning("featureClass shape is left out: it is that of volumes, use shape2D for images")
        elif name == "shape2D" and dimension == 3 and not settings["force2D"]:
            _logger.warning("featureClass shape2D is left out: volumes have it only with the setting force2D")
        else:
            shapes[name] = classes[name]
    return shapes


def _shape_values(roi, classes, settings):
    """Dict of the values of the classes of shape by key."""
    # Shape does not depend on intensities.
    pixels = roi.with_array(roi.array.view(np.uint8))
    return dict(zip(_keys("original", classes), _computed(pixels, roi.array, [], classes, settings) if classes else ()))


def _texture_values(image, roi, classes, settings, name):
    """Dict of the values of all other classes by key.

    image, roi    Volumes, cropped to the region.
    """
    settings = {**settings, "maskedKernel": True}
    extremes = radiomics.extremes_of(image, roi.array, settings, name)
    pixels = image.with_array(radiomics.pixels_of(image.array, "float").array)
    # All pairs of voxels are in one window.
    window = list(image.array.shape)
    if settings["force2D"]:
        window[settings["force2Ddimension"]] = 1
    edges_of = {each: radiomics.edges_of_class(each, extremes, settings).tolist() for each in classes}
    if any(radiomics.has_one_level(extremes, edges) for each, edges in edges_of.items() if each != "firstorder"):
        radiomics.warn_of_one_level(name, settings)
    result = {}
    for edges, group in itertools.groupby(classes, edges_of.get):
        group = {each: classes[each] for each in group}
        prepared = radiomics.classes_of(group, settings, window, image.spacing[::-1])
        discretization = _feature_maps.discretization({"bin_edges": edges})
        values = _computed(pixels, roi.array, prepared, {}, settings, discretization=discretization)
        result.update(zip(_keys(name, group), values))
    return result


def execute(image, mask, parameters, hashes=False):
    """Dict of diagnostics and values, in PyRadiomics' order."""
    settings = parameters.settings
    volume, _ = _image.load(image, "the image")
    mask, _ = _image.load(mask, "the mask", grid=volume, segment=settings["label"])
    return values_of(_preparation.prepare(volume, mask, {**settings, "kernelRadius": 0}, hashes), parameters)


def values_of(prepared, parameters):
    """Dict of diagnostics and values of an image that is prepared."""
    settings, classes = parameters.settings, parameters.classes
    result = {}
    if settings["additionalInfo"]:
        result.update(radiomics.general_diagnostics(parameters), **prepared.diagnostics)
    shapes = _shapes_of(classes, prepared.roi.array.ndim, settings)
    result.update(_shape_values(prepared.shape_roi, shapes, settings))
    classes = {name: features for name, features in classes.items() if name not in _settings.SHAPE_CLASSES}
    for name, image, own in radiomics.images_of(prepared, parameters) if classes else ():
        result.update(_texture_values(image, prepared.roi, classes, own, name))
    return result
