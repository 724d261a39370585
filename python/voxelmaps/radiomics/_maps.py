# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Gray levels of an image with PyRadiomics' bins, and the maps of its features."""

import functools
import itertools
import logging
import math

import numpy as np

from .. import _arrays, _core, _devices, _feature_maps, _masks
from .._files import writing
from .._parameters import MAX_LEVELS, WEIGHTING_NORMS
from . import _settings

_logger = logging.getLogger(__name__)

# Maps of smaller images are computed together.
VOXELS_AT_ONCE = 2**20


def bin_edges(extremes, settings):
    """The edges of the bins, as PyRadiomics computes them with NumPy, up to the greatest value: the level of a value is the
    number of edges that are not greater than it (numpy.digitize).

    extremes    Array of the least and the greatest value, of the type of the image.
    """
    # Integers of Python, which do not overflow as those of small types do.
    convert = int if extremes.dtype.kind in "iu" else extremes.dtype.type
    minimum, maximum = map(convert, extremes)
    count, width = settings["binCount"], settings["binWidth"]
    name = "binWidth" if count is None else "binCount"
    if count is not None:
        edges = np.histogram_bin_edges(extremes, count)
        # The greatest value belongs to the last bin.
        edges[-1] += 1
    else:
        lowest = minimum - (minimum % width)
        levels = (float(maximum) - float(lowest)) / width
        if levels >= MAX_LEVELS:
            raise ValueError(
                f"setting binWidth is {width}, which makes {levels:.0f} gray levels of intensities from {minimum} to {maximum}; "
                f"at most {MAX_LEVELS} are possible"
            )
        if not math.isfinite(float(maximum) + 2 * width):
            raise ValueError(f"setting binWidth is {width}, which is too wide for float64")
        edges = np.arange(lowest, maximum + 2 * width, width)
    used = np.asarray(edges[edges <= maximum], dtype=float)
    if not (0 < len(used) <= MAX_LEVELS and (np.diff(used) > 0).all()):
        raise ValueError(
            f"setting {name} is {settings[name]}, which makes bins that are too narrow for intensities from {minimum} to {maximum} of "
            f"type {extremes.dtype}"
        )
    return used


def _window_of(dimension, settings):
    """Size of the window along each axis of the array."""
    size = [2 * settings["kernelRadius"] + 1] * dimension
    if settings["force2D"]:
        axis = settings["force2Ddimension"]
        if axis >= dimension:
            raise ValueError(f"setting force2Ddimension is {axis}, but the image has {dimension} dimensions")
        size[axis] = 1
    _feature_maps.check_window(size, "setting kernelRadius", settings["kernelRadius"])
    return size


def _classes_of(classes, settings, window, sizes, has_one_level=False):
    """Classes as _feature_maps.Request has them. Raises ValueError if settings do not fit the window.

    classes          Dict of the features by class.
    window, sizes    Sizes of the window and of voxels, along each axis of the array.
    """
    norm = settings["weightingNorm"]
    values = {
        "aggregation": "average" if norm is None else "merge",
        "weighting_norm": norm if norm in WEIGHTING_NORMS else None,
        "distances": settings["distances"],
        "symmetric": settings["symmetricalGLCM"],
        # No two levels differ by more.
        "alpha": min(settings["gldm_a"], MAX_LEVELS),
        "voxel_array_shift": float(settings["voxelArrayShift"]),
    }
    selected = {
        name: {feature: _settings.numbers_of(name)[feature] for feature in features}
        for name, features in classes.items()
    }
    try:
        return _feature_maps.classes_of(selected, values, window, sizes, False, has_one_level, order=-1)
    except ValueError as error:
        raise ValueError(f"setting {error}") from None


def check_classes(image, parameters):
    """Raise ValueError if the settings of a class do not fit the dimension of the image, before any class is computed."""
    for image_type in parameters.image_types:
        settings = parameters.settings_of(image_type)
        window = _window_of(image.array.ndim, settings)
        _classes_of(dict.fromkeys(parameters.classes, ()), settings, window, image.spacing[::-1])


def dtype_of(precision):
    """The type of maps."""
    return np.dtype(np.float32 if precision == "float" else np.float64)


class Levels:
    """The gray levels of an image, with the bins of each class.

    image, roi    Volumes, cropped as PyRadiomics does.
    window        Size of the window along each axis of the array.
    name          Name of the image.
    """

    def __init__(self, image, roi, settings, window, precision="float", name="original"):
        self._image, self._roi, self._settings, self._window, self._name = image, roi, settings, window, name
        self.dtype, self._edges, self._has_warned = dtype_of(precision), {}, False

    @functools.cached_property
    def pixels(self):
        """The array of the image as the engines take it; they compute with double precision if it has that."""
        pixels = _arrays.without_int64(_arrays.array_of(self._image.array, "the image"), "the image").array
        return pixels.astype(np.float64) if self.dtype == np.float64 else pixels

    @functools.cached_property
    def _extremes(self):
        """The least and the greatest intensity that is used, as an array of the type of the image."""
        settings, is_original = self._settings, self._name == "original"
        used, where = self._image.array, None
        if settings["maskedKernel"]:
            used, where = used[self._roi.array], "the mask"
        remedy = None
        if not is_original or settings["normalize"] or settings["resampledPixelSpacing"] is not None:
            remedy = (
                "normalize, resampling and filters spread NaN and infinity from voxels outside of it, too: replace them in the image "
                "first, such as np.nan_to_num(x, posinf=0, neginf=0)"
            )
        what = "the image" if is_original else f"the image {self._name}"
        given = _arrays.array_of(used, "used")
        _masks.check_finite(given, None, what, where, nan_is_absent=False, remedy=remedy)
        return np.array([used.min(), used.max()])

    def edges(self, class_name):
        """List of the edges of the bins of a class. Raises ValueError if they are too many."""
        if class_name not in self._edges:
            # PyRadiomics' class of first order features converts the image before it computes edges.
            extremes = self._extremes.astype(float) if class_name == "firstorder" else self._extremes
            self._edges[class_name] = bin_edges(extremes, self._settings).tolist()
        return self._edges[class_name]

    def groups(self, classes):
        """Dicts of consecutive items of a dict by class, which one call computes: their bins are equal."""
        for _, names in itertools.groupby(classes, self.edges):
            yield {name: classes[name] for name in names}

    def prepared(self, classes):
        """Classes with equal bins, and their discretization, as _core takes them. Warns if there is no texture."""
        edges = self.edges(next(iter(classes)))
        has_one_level = bool(self._extremes[0] >= edges[-1])
        if has_one_level and list(classes) != ["firstorder"] and not self._has_warned:
            self._has_warned = True
            text = "there is one gray level, so that there is no texture"
            if self._settings["binCount"] is None:
                text = _feature_maps.ONE_LEVEL.format(self._settings["binWidth"])
                text = text.replace("bin_width", "binWidth").replace("bin_count", "binCount")
            _logger.warning("image %s: %s", self._name, text)
        return {
            "classes": _classes_of(classes, self._settings, self._window, self._image.spacing[::-1], has_one_level),
            "discretization": _feature_maps.discretization({"bin_edges": edges}),
        }


class Maps(Levels):
    """The maps of an image in a region of interest, as arrays: of all planes, or slab by slab."""

    def __init__(self, image, roi, settings, precision, name="original"):
        super().__init__(image, roi, settings, _window_of(roi.array.ndim, settings), precision, name)
        self._inside = np.ascontiguousarray(roi.array).view(np.uint8)
        self._background = float(settings["initValue"])
        _feature_maps.check_background(self._background, precision, "setting initValue")
        self._device = _devices.devices_of_arrays(None, _arrays.Library("NumPy"))

    @property
    def device(self):
        """The name of the device that computes, or None for the CPU."""
        return None if self._device[0] < 0 else _core.device_name(self._device[0])

    def levels(self, classes):
        """The most gray levels of a class."""
        return max(len(self.edges(name)) for name in classes)

    def groups(self, classes):
        if self._inside.size > VOXELS_AT_ONCE:
            return [{name: of_class} for name, of_class in classes.items()]
        return super().groups(classes)

    def compute(self, classes, first=0, last=None):
        """Array of the maps of classes with the same bins, of the planes from first to last - 1; the features are the first axis.

        classes    Dict of the features by class.
        """
        depth, *plane = self._inside.shape
        last = depth if last is None else last
        # The planes that windows reach.
        anchor = [n // 2 for n in self._window]
        lower, upper = max(first - anchor[0], 0), min(last - 1 + self._window[0] - anchor[0], depth)
        array = lambda values: _arrays.Array(values, _arrays.Library("NumPy"))
        is_masked = self._settings["maskedKernel"]
        maps = np.empty((sum(map(len, classes.values())), last - first, *plane), self.dtype)
        request = _feature_maps.Request(
            array(self.pixels[lower:upper]),
            array(self._inside[lower:upper]) if is_masked else None,
            None if is_masked else array(self._inside[first:last]),
            box=(slice(first - lower, last - lower), *(slice(0, n) for n in plane)),
            window=self._window,
            anchor=anchor,
            **self.prepared(classes),
            dtype=self.dtype.name,
            background=self._background,
            threads=writing.Threads.number,
            device=self._device,
        )
        request.run((), maps.ctypes.data, maps[0].size)
        return maps
