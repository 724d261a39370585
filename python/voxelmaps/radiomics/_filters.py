# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' image types: images that filters make of the image, of which maps are computed. The values are those of
PyRadiomics, to the last bit. Most filters read a part of the image only, which is as large as the values in the part that maps
cover need."""

import contextlib
import functools
import importlib.metadata
import logging
import math
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np

from .. import _arrays, _filter_image
from .._files import library, writing

_logger = logging.getLogger(__name__)

# Bytes of the samples on spheres around voxels, and of filtered images, that are in memory at once.
_BYTES_OF_SAMPLES = 2**27
_BYTES_AT_ONCE = 2**29


# --- Intensities, derivatives and wavelets ---------------------------------------------------------------------------------


def _transformed(source, settings, name):
    part = _array_of(source.image.array.astype(np.float64))
    return _filter_image.transformed(name, part, _array_of(source.whole.array))


def _array_of(array):
    return _arrays.pixels_of(_arrays.array_of(array, "the image"), "the image")


def _filtered(source, images, dtype, **options):
    """The filtered images of the part that maps cover, several at a time, as their size permits."""
    at_once = max(1, _BYTES_AT_ONCE // max(1, source.image.array.size * np.dtype(dtype).itemsize))
    for first in range(0, len(images), at_once):
        yield from _filter_image.compute(
            _array_of(source.whole.array),
            images[first : first + at_once],
            spacing=source.whole.spacing,
            box=source.box,
            dtype=dtype,
            threads=writing.Threads.number,
            has_progress=False,
            **options,
        ).array


def _gradient(source, settings):
    spacing = source.whole.spacing if settings["gradientUseSpacing"] else (1.0,) * len(source.whole.spacing)
    [magnitude] = _filtered(source, [_filter_image.gradient_magnitude(spacing)], "float32")
    return magnitude


def _log_names(settings, dimension=3):
    """Dict of sigma by the name of the image; 1 and 1.0 have different names."""
    return {f"log-sigma-{str(sigma).replace('.', '-')}-mm-3D": sigma for sigma in settings["sigma"]}


def _log_images(source, settings):
    spacing, skipped = source.whole.spacing, _log_skipped(source, settings)
    sigmas = [sigma for name, sigma in _log_names(settings).items() if name not in skipped]
    images = [_filter_image.laplacian_of_gaussian(spacing, sigma) for sigma in sigmas]
    # Rounding is that of ITK if lines begin where they do there.
    return _filtered(source, images, "float32", is_single=True, uses_entire_lines=True)


def _log_skipped(source, settings):
    size, result = source.whole.size, {}
    for name, sigma in _log_names(settings).items():
        if min(size) < 4:
            result[name] = f"the image of size {size} is shorter than 4 voxels along an axis"
        elif not all(sigma / s <= n - 1 for n, s in zip(size, source.whole.spacing)):
            result[name] = f"the image of size {size} is too short for the setting sigma {sigma}"
    return result


def _wavelet_axes(settings, dimension):
    """Axes along which the image is decomposed, with 0 for x."""
    axes = list(range(dimension))
    if settings["force2D"] and settings["force2Ddimension"] < dimension:
        axes.remove(dimension - 1 - settings["force2Ddimension"])
    return axes


def _wavelet_names(settings, dimension):
    return _filter_image.wavelet_names(len(_wavelet_axes(settings, dimension)), settings["level"])


def _wavelet_images(source, settings):
    axes, size = _wavelet_axes(settings, source.whole.array.ndim), source.whole.size
    dtype = "float32" if source.whole.array.dtype == np.float32 else "float64"
    levels = settings["start_level"], settings["level"]
    images = _filter_image.wavelet_images(axes, settings["wavelet"], *levels, dtype)
    # PyRadiomics appends the first plane to those of odd length.
    odd = [axis for axis in axes if size[axis] % 2]
    return _filtered(source, images, dtype, is_single=dtype == "float32", appended=odd)


# --- Local binary patterns ---------------------------------------------------------------------------------------------


def _local_binary_pattern_2d(source, settings):
    from skimage.feature import local_binary_pattern

    margin = math.ceil(settings["lbp2DRadius"]) + 2

    def pattern(plane, part):
        # What is before the part stays, since numbers of rows and columns round. A copy can be written, as the function requires.
        plane = plane[tuple(slice(0, along.stop + margin) for along in part)].copy()
        with warnings.catch_warnings():
            # That numbers of float are compared.
            warnings.simplefilter("ignore", UserWarning)
            options = settings["lbp2DSamples"], settings["lbp2DRadius"], settings["lbp2DMethod"]
            return local_binary_pattern(plane, *options)[part]

    whole, box, axis = source.whole.array, list(source.box), settings["force2Ddimension"]
    if whole.ndim == 2:
        return pattern(whole, source.box)
    if not settings["force2D"]:
        _logger.warning(
            "imageType LBP2D has patterns in planes, but setting force2D is off: windows are of 3 dimensions"
        )
    # PyRadiomics exchanges axes, and so are the neighbors of a voxel in the plane.
    box[0], box[axis] = box[axis], box[0]
    planes = whole.swapaxes(0, axis)[box[0]]
    result = np.stack([pattern(plane, tuple(box[1:])) for plane in planes]).swapaxes(0, axis)
    if whole.dtype.kind in "iu":
        # PyRadiomics' images have the type of the image.
        used, limits = result[source.roi.array] if settings["maskedKernel"] else result, np.iinfo(whole.dtype)
        is_held = (used >= limits.min) & (used <= limits.max)
        if not is_held.all():
            raise ValueError(
                f"imageType LBP2D has the value {used[~is_held][0]} with the settings lbp2DMethod {settings['lbp2DMethod']} and "
                f"lbp2DSamples {settings['lbp2DSamples']}, but the image of {whole.dtype} cannot hold it"
            )
    return result.astype(whole.dtype)


def _sphere(settings):
    """Points on a sphere, and the spherical harmonics there, with their degrees."""
    from scipy import special
    from trimesh.creation import icosphere

    radius, levels = settings["lbp3DIcosphereRadius"], range(settings["lbp3DLevels"])
    points = np.array(icosphere(settings["lbp3DIcosphereSubdivision"], radius).vertices)
    # PyRadiomics gives the polar angle as the azimuth, and the other way round.
    azimuth = np.arccos(np.clip(points[:, [2]] / radius, -1, 1))
    polar = np.arctan2(points[:, [1]], points[:, [0]])
    degrees, orders = np.array([(degree, order) for degree in levels for order in range(-degree, degree + 1)]).T
    if hasattr(special, "sph_harm_y"):
        return points, special.sph_harm_y(degrees, orders, polar, azimuth), degrees
    return points, special.sph_harm(orders, degrees, azimuth, polar), degrees


def _powers(is_above, harmonics, degrees):
    """The part of each degree in functions on the sphere, as the root of a sum of squares, of which PyRadiomics takes the real
    part. Sums have its order, so that values that bins begin at stay on the same side."""
    coefficients = (is_above[:, :, np.newaxis] * harmonics).sum(axis=1)
    parts = np.empty((*is_above.shape, degrees[-1] + 1), complex)
    for degree in range(degrees[-1] + 1):
        of_degree = degrees == degree
        products = coefficients[:, np.newaxis, of_degree] * harmonics[np.newaxis, :, of_degree]
        parts[..., degree] = products.sum(axis=2)
    return np.sqrt((parts**2).sum(axis=1)).real


def _local_binary_patterns_3d(source, settings):
    from scipy import ndimage, stats

    if settings["force2D"]:
        _logger.warning("imageType LBP3D has patterns on spheres, but setting force2D is on: windows are of one plane")
    points, harmonics, degrees = _sphere(settings)
    whole, inside = source.whole.array, source.roi.array
    voxels = np.argwhere(inside) + [part.start for part in source.box]
    coefficients = ndimage.spline_filter(whole, order=3, output=np.float64)
    values = np.empty((len(voxels), degrees[-1] + 2))
    step = max(1, _BYTES_OF_SAMPLES // (16 * harmonics.size))
    for first in range(0, len(voxels), step):
        some, part = voxels[first : first + step], values[first : first + step]
        places = np.ascontiguousarray((some[:, np.newaxis] + points).transpose(2, 0, 1))
        samples = ndimage.map_coordinates(coefficients, places, output=whole.dtype, order=3, prefilter=False)
        with warnings.catch_warnings():
            # Equal samples have no kurtosis.
            warnings.simplefilter("ignore", RuntimeWarning)
            part[:, -1] = stats.kurtosis(samples, axis=1)
        is_above = (samples >= whole[tuple(some.T)][:, np.newaxis]).astype(int)
        part[:, :-1] = _powers(is_above, harmonics, degrees)
    without = np.count_nonzero(~np.isfinite(values[:, -1]))
    if without:
        raise ValueError(
            f"imageType LBP3D has no kurtosis at {without} of {len(values)} voxels: all intensities on the sphere of setting "
            f"lbp3DIcosphereRadius {settings['lbp3DIcosphereRadius']} are equal there"
        )
    for column in values.T:
        result = np.zeros(inside.shape)
        result[inside] = column
        yield result


def _lbp3d_names(settings, dimension):
    return [f"lbp-3D-m{level}" for level in range(1, settings["lbp3DLevels"] + 1)] + ["lbp-3D-k"]


def _lbp3d_skipped(source, settings):
    dimension = source.whole.array.ndim
    if dimension != 3:
        names = _lbp3d_names(settings, dimension)
        return dict.fromkeys(names, f"the image has {dimension} dimensions, but must have 3")
    if not settings["maskedKernel"]:
        raise ValueError("setting maskedKernel is False, but imageType LBP3D has values in the region of interest only")
    return {}


# --- Image types -------------------------------------------------------------------------------------------------------


class _ImageType(NamedTuple):
    # Names of the images by settings and dimension, in order.
    names: Callable[..., Any]
    # Arrays of the part that maps cover, in this order, by source and settings.
    images: Callable[..., Any]
    # Settings of the filter.
    settings: tuple = ()
    # Pairs of modules and the packages that have them.
    libraries: tuple = ()
    # Dict of the names of images that the image is too small for, and why, by source and settings.
    skipped: Callable[..., Any] = lambda source, settings: {}


def _single(name, function, settings=(), libraries=()):
    def images(source, settings):
        # Values that are not finite raise an error where they are used.
        with np.errstate(all="ignore"):
            return [function(source, settings)]

    return _ImageType(lambda settings, dimension: [name], images, settings, libraries)


_PYWAVELETS = (("pywt", "PyWavelets"),)
_SKIMAGE = (("skimage.feature", "scikit-image"),)
_OF_SPHERES = (("scipy.ndimage", "scipy"), ("trimesh.creation", "trimesh"))
_LBP2D = ("lbp2DRadius", "lbp2DSamples", "lbp2DMethod")
_LBP3D = ("lbp3DLevels", "lbp3DIcosphereRadius", "lbp3DIcosphereSubdivision")

IMAGE_TYPES = {
    "Original": _single("original", lambda source, settings: source.image.array),
    "LoG": _ImageType(_log_names, _log_images, ("sigma",), skipped=_log_skipped),
    "Wavelet": _ImageType(_wavelet_names, _wavelet_images, ("start_level", "level", "wavelet"), _PYWAVELETS),
    "Square": _single("square", functools.partial(_transformed, name="Square")),
    "SquareRoot": _single("squareroot", functools.partial(_transformed, name="SquareRoot")),
    "Logarithm": _single("logarithm", functools.partial(_transformed, name="Logarithm")),
    "Exponential": _single("exponential", functools.partial(_transformed, name="Exponential")),
    "Gradient": _single("gradient", _gradient, ("gradientUseSpacing",)),
    "LBP2D": _single("lbp-2D", _local_binary_pattern_2d, _LBP2D, _SKIMAGE),
    "LBP3D": _ImageType(_lbp3d_names, _local_binary_patterns_3d, _LBP3D, _OF_SPHERES, _lbp3d_skipped),
}


def check_libraries(image_types):
    """Raise ImportError if an image type needs a package that is not installed."""
    for image_type in image_types:
        for module, package in IMAGE_TYPES[image_type].libraries:
            library(module, f"imageType {image_type}", package, "radiomics")


@functools.cache
def installed(*packages):
    """Versions by package, of those that are installed."""
    result = {}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            result[package] = importlib.metadata.version(package)
    return result


def versions(image_type):
    """Versions of the packages that compute an image type."""
    return installed(*(package for _, package in IMAGE_TYPES[image_type].libraries))


def names(image_type, settings, dimension):
    """The names with which keys of the maps of an image type begin, in order."""
    return list(IMAGE_TYPES[image_type].names(settings, dimension))


def skipped(source, image_type, settings):
    """Dict of the names of images that the image is too small for, and why."""
    return IMAGE_TYPES[image_type].skipped(source, settings)


def images_of(prepared, parameters):
    """Tuples of the name of an image, the image, as a volume, and the settings of its maps, one by one. A line in the log says which
    are skipped."""
    for image_type in parameters.image_types:
        settings = parameters.settings_of(image_type)
        left_out = skipped(prepared, image_type, settings)
        for name, reason in left_out.items():
            _logger.warning("imageType %s has no image %s: %s", image_type, name, reason)
        present = [name for name in names(image_type, settings, prepared.whole.array.ndim) if name not in left_out]
        for name, array in zip(present, IMAGE_TYPES[image_type].images(prepared, settings)) if present else ():
            yield name, prepared.image.with_array(np.ascontiguousarray(array)), settings
