# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Layers of napari as images with a geometry, and images as layers. World coordinates are z, y, x in mm (LPS)."""

import os
import pathlib

import numpy as np

from .. import _image
from .._maps import Geometry, entry_of
from .._sample import sample_ct

# Parts of names of files that hold labels.
_NAMES_OF_LABELS = ("label", "mask", "seg", "strokes")
_MOST_SAMPLES = 10**6
# In the middle slice of the sample: label, y, and the part along x. Liver, vessels, spine, spleen; fat, air, wall, muscle.
_STROKES: tuple[tuple[int, ...], ...] = ((1, 105, 35, 60), (2, 82, 83, 91), (3, 129, 86, 106), (4, 112, 140, 158))
_STROKES += ((5, 105, 112, 130), (5, 15, 30, 160), (5, 43, 80, 110), (5, 139, 66, 78))


def matrix_of(layer, start=None):
    """The matrix from indices of the data, counted from an index, to world coordinates."""
    n = layer.ndim
    corner = np.array(layer.data_to_world(np.zeros(n)), float)
    matrix = np.eye(n + 1)
    matrix[:n, :n] = np.transpose([np.subtract(layer.data_to_world(step), corner) for step in np.eye(n)])
    matrix[:n, n] = corner if start is None else layer.data_to_world(start)
    return matrix


def placement(layer, start=None):
    """Arguments of a new layer whose first voxel is at an index of another layer, by default the first one."""
    return {"affine": matrix_of(layer, start), "units": layer.units}


def array_of(layer):
    return np.asarray(layer.data[0] if layer.multiscale else layer.data)


def image_of(layer):
    """The Image of a layer, in mm. Raises ValueError if it does not have 2 or 3 axes, or if its axes are not orthogonal."""
    n = layer.ndim
    if n not in (2, 3):
        raise ValueError(
            f"the layer {layer.name} has {n} axes, but must have 2 or 3 (z, y, x): split it, or choose one time point"
        )
    matrix = matrix_of(layer)
    # A unit that is not a length, such as the default pixel, counts as mm.
    sizes = [float((1 * unit).to("mm").magnitude) if unit.is_compatible_with("mm") else 1.0 for unit in layer.units]
    vectors = matrix[:n] * np.array(sizes)[:, np.newaxis]
    what = f"the layer {layer.name}"
    return _image._image_of_steps(array_of(layer), vectors[::-1, :n].T, vectors[::-1, n], what)


def gray_image_of(layer):
    """The Image of a layer. Raises ValueError if it is RGB."""
    if layer.rgb:
        raise ValueError(f"the layer {layer.name} is RGB, but must have one channel: split it into three layers")
    return image_of(layer)


def image_of_channels(layers):
    """The Image of a layer, or of several gray ones on the same grid, which are its components."""
    if len(layers) == 1:
        return image_of(layers[0])
    images = [gray_image_of(layer) for layer in layers]
    for layer, image in zip(layers, images):
        difference = _image.difference_of_grids(images[0], image, f"the layer {layer.name}", layers[0].name)
        if difference is not None:
            raise ValueError(difference)
    return images[0].with_array(np.stack([image.array for image in images], -1))


def geometry_of(layer):
    """The Geometry of a layer: that of its file if that has the voxels of the layer."""
    image, path = image_of(layer), layer.source.path
    if path is not None and os.path.exists(path):
        try:
            of_file = _image.read(path, "the image")
        except (ValueError, TypeError, OSError, ImportError):
            return Geometry(*image[1:])
        if np.array_equal(of_file.array, image.array, equal_nan=image.array.dtype.kind == "f"):
            image = of_file
    return Geometry(*image[1:])


def provenance(layers, settings):
    """The provenance of FeatureMaps of layers by name. Files that layers were read from are never replaced."""
    inputs = {}
    for name, layer in layers.items():
        if layer is not None:
            path = layer.source.path and os.path.abspath(layer.source.path)
            inputs[name] = {"layer": layer.name, **entry_of(None), "path": path}
    return {"program": "voxelmaps, plugin of napari", "inputs": inputs, "settings": settings}


def limits(array, percentiles=(1, 99)):
    """Robust limits of contrast, from at most a million finite values."""
    values = np.ravel(array)[:: max(1, array.size // _MOST_SAMPLES)]
    values = values[np.isfinite(values)]
    low, high = np.percentile(values, percentiles) if values.size else (0.0, 1.0)
    return (float(low), float(high) if high > low else float(low) + 1.0)


# --- Reader and sample ---------------------------------------------------------------------------------------------------


def _arguments(image):
    """Where a layer is. napari shows slices along axes of the voxels only, so that oblique images are shown on their own grid."""
    n = len(image.spacing)
    affine = np.eye(n + 1)
    matrix = (np.reshape(image.direction, (n, n)) * np.asarray(image.spacing))[::-1, ::-1]
    is_straight = np.count_nonzero(matrix) == np.count_nonzero(np.diag(matrix)) == n
    affine[:n, :n] = matrix if is_straight else np.diag(image.spacing[::-1])
    affine[:n, n] = image.origin[::-1] if is_straight else 0
    return {"affine": affine, "units": ("mm",) * n}


def reader(path):
    """The function that reads a path into layers; None for several paths."""
    return _read if isinstance(path, (str, os.PathLike)) else None


def _read(path):
    image = _image.read(path, "the image")
    name = pathlib.Path(path).name.partition(".")[0]
    if image.array.ndim > len(image.spacing):
        return [(image.array, {"name": name, "channel_axis": -1, **_arguments(image)}, "image")]
    is_labels = image.array.dtype.kind in "iu" and any(part in name.lower() for part in _NAMES_OF_LABELS)
    return [(image.array, {"name": name, **_arguments(image)}, "labels" if is_labels else "image")]


def sample():
    """Layers of a synthetic CT, and of a short stroke in each organ and in what surrounds it."""
    ct = sample_ct()
    strokes = np.zeros_like(ct.organs.array)
    for label, y, first, end in _STROKES:
        strokes[len(strokes) // 2, y, first:end] = label
    return [
        (ct.image.array, {"name": "CT", "contrast_limits": (-160, 240), **_arguments(ct.image)}, "image"),
        (strokes, {"name": "strokes", **_arguments(ct.image)}, "labels"),
    ]
