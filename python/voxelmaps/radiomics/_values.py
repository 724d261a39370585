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
    plane_axis = settings["force2Ddimension"] if settings["force2D"] else None
    numbers = {name: [] for name in shapes}
    functions = [lambda value: value] * sum(len(features) for _, features, _ in classes)
    for name, features in shapes.items():
        by_name, of_sphericity = _settings.SHAPE_CLASSES[name].numbers(), _settings.SHAPE_CLASSES[name].of_sphericity
        numbers[name] = [by_name["Sphericity" if each in of_sphericity else each] for each in features]
        functions += [of_sphericity.get(each, lambda value: value) for each in features]
    [(*_, values)] = _region_features.compute(
        np.ascontiguousarray(image.array),
        np.ascontiguousarray(inside).view(np.uint8),
        [1],
        classes=classes,
        shape=numbers.get("shape", []),
        planar_shape=numbers.get("shape2D", []),
        **discretization,
        sizes=image.spacing[::-1],
        plane_axis=plane_axis,
        threads=writing.Threads.number,
    )
    return [function(value) for function, value in zip(functions, values)]


def shape_values(roi, classes, settings, name="original"):
    """Dict of the values of the classes of shape by key."""
    dimension, shapes = roi.array.ndim, {}
    for class_name in filter(classes.get, _settings.SHAPE_CLASSES):
        if class_name == "shape" and dimension == 2:
            _logger.warning("featureClass shape is left out: it is that of volumes, use shape2D for images")
        elif class_name == "shape2D" and dimension == 3 and not settings["force2D"]:
            _logger.warning("featureClass shape2D is left out: volumes have it only with the setting force2D")
        else:
            shapes[class_name] = classes[class_name]
    keys = [f"{name}_{class_name}_{feature}" for class_name, features in shapes.items() for feature in features]
    if not keys:
        return {}
    # Shape does not depend on intensities.
    pixels = roi.with_array(roi.array.view(np.uint8))
    values = _computed(pixels, roi.array, [], shapes, settings)
    return dict(zip(keys, values))


def texture_values(image, roi, classes, settings, name="original"):
    """Dict of the values of all other classes by key.

    image, roi    Volumes, cropped to the region.
    """
    settings = {**settings, "maskedKernel": True}
    extremes = radiomics.extremes_of(image, roi.array, settings, "image" if name == "original" else f"image {name}")
    pixels = image.with_array(radiomics.pixels_of(image.array, "float").array)
    # All pairs of voxels are in one window.
    window = list(image.size)
    if settings["force2D"]:
        window[len(window) - 1 - settings["force2Ddimension"]] = 1
    edges_of = {each: radiomics.edges_of_class(each, extremes, settings).tolist() for each in classes}
    result = {}
    for edges, group in itertools.groupby(classes, edges_of.get):
        group = list(group)
        prepared = [
            radiomics.class_of(each, classes[each], settings, window, image.spacing, has_one_level=False)
            for each in group
        ]
        discretization = _feature_maps.discretization_of_edges(edges)
        values = _computed(pixels, roi.array, prepared, {}, settings, discretization=discretization)
        keys = [f"{name}_{each}_{feature}" for each in group for feature in classes[each]]
        result.update(zip(keys, values))
    return result


def split(classes):
    """The classes of shape, and the others."""
    shapes = {name: features for name, features in classes.items() if name in _settings.SHAPE_CLASSES}
    return shapes, {name: features for name, features in classes.items() if name not in shapes}


def execute(image, mask, parameters, hashes=False):
    """Dict of diagnostics and values, in PyRadiomics' order."""
    settings = parameters.settings
    volume, _ = _image.load(image, "the image")
    mask, _ = _image.load(mask, "the mask", grid=volume, segment=settings["label"])
    return values_of(_preparation.prepare(volume, mask, {**settings, "kernelRadius": 0}, hashes), parameters)


def values_of(prepared, parameters):
    """Dict of diagnostics and values of an image that is prepared."""
    shapes, classes = split(parameters.classes)
    result = {}
    if parameters.settings["additionalInfo"]:
        result.update(radiomics.general_diagnostics(parameters), **prepared.diagnostics)
    result.update(shape_values(prepared.shape_roi, shapes, parameters.settings))
    for name, of_type, own in radiomics.images_of(prepared, parameters):
        if classes:
            result.update(texture_values(of_type, prepared.roi, classes, own, name))
    return result
