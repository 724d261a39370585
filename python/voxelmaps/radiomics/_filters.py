# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' image types: images that filters make of the image, of which maps are computed. The values are those of
PyRadiomics, to the last bit, since the same libraries compute them. Most filters read a part of the image only, which is as large
as the values in the part that maps cover need."""

import contextlib
import functools
import importlib.metadata
import itertools
import logging
import math
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np

from .. import _image
from .._files import library

_logger = logging.getLogger(__name__)

# Of the samples on spheres around voxels that are in memory at once.
_BYTES_OF_SAMPLES = 2**27


def _library(name, package, image_type):
    return library(name, f"imageType {image_type}", package, "radiomics")


# --- Images of the intensities -----------------------------------------------------------------------------------------


def _with_greatest(source):
    """The part of the image in float64, and the greatest absolute value of the whole image."""
    whole = source.whole.array
    extremes = [float(whole.min()), float(whole.max())]
    return source.image.array.astype(np.float64), np.float64(
        max(map(abs, extremes)) if not np.isnan(extremes).any() else np.nan
    )


def _square(source, settings):
    values, greatest = _with_greatest(source)
    return (1 / np.sqrt(greatest) * values) ** 2


def _where_signed(values, function):
    """A function of the absolute values, with the signs of the values; 0 stays 0."""
    result = values.copy()
    positive, negative = values > 0, values < 0
    result[positive] = function(values[positive])
    result[negative] = -function(-values[negative])
    return result


def _square_root(source, settings):
    values, greatest = _with_greatest(source)
    return _where_signed(values, lambda x: np.sqrt(x * greatest))


def _logarithm(source, settings):
    values, greatest = _with_greatest(source)
    logarithm = lambda x: np.log(x + 1)
    return _where_signed(values, logarithm) * (greatest / logarithm(np.array([greatest]))[0])


def _exponential(source, settings):
    values, greatest = _with_greatest(source)
    return np.exp(np.log(greatest) / greatest * values)


# --- Derivatives -------------------------------------------------------------------------------------------------------


def _gradient(source, settings):
    sitk = _library("SimpleITK", "SimpleITK", "Gradient")
    # Differences of neighbors.
    lower = [max(part.start - 2, 0) for part in source.box]
    block = tuple(slice(first, part.stop + 2) for first, part in zip(lower, source.box))
    image = source.whole.with_array(np.ascontiguousarray(source.whole.array[block]))
    magnitude = sitk.GradientMagnitude(_image.to_simpleitk(image), settings["gradientUseSpacing"])
    inner = tuple(slice(part.start - first, part.stop - first) for first, part in zip(lower, source.box))
    return sitk.GetArrayFromImage(magnitude)[inner]


def _laplacian_of_gaussian(source, whole, sigma):
    """What ITK's LaplacianRecursiveGaussianImageFilter computes, with as few lines of voxels as possible: once all lines along an
    axis are filtered, which needs them whole, what is outside of the part is not needed along this axis any more.

    whole    The image before it was cropped, of SimpleITK.
    """
    sitk = _library("SimpleITK", "SimpleITK", "LoG")
    axes = range(whole.GetDimension())
    total = None
    for derived in axes:
        image = whole
        for axis in (derived, *(other for other in axes if other != derived)):
            order = 2 if axis == derived else 0
            image = sitk.RecursiveGaussian(image, float(sigma), True, order, axis)
            part = [slice(None)] * len(axes)
            part[axis] = source.box[len(axes) - 1 - axis]
            image = image[tuple(part)]
        derivative = sitk.GetArrayFromImage(image).astype(np.float64) * (1.0 / source.whole.spacing[derived] ** 2)
        total = (derivative if total is None else total + derivative).astype(np.float32).astype(np.float64)
    return total.astype(np.float32)


def _has_room_for(size, spacing, sigma):
    return all(n >= math.ceil(sigma / s) + 1 for n, s in zip(size, spacing))


def _log_name(sigma):
    return f"log-sigma-{str(sigma).replace('.', '-')}-mm-3D"


def _log_images(source, settings):
    whole, skipped = _image.to_simpleitk(source.whole), dict(_log_skipped(source, settings))
    # 1 and 1.0 have different names.
    for name, sigma in {_log_name(sigma): sigma for sigma in settings["sigma"]}.items():
        if name not in skipped:
            yield name, _laplacian_of_gaussian(source, whole, sigma)


def _log_skipped(source, settings):
    size, spacing = source.whole.size, source.whole.spacing
    for sigma in settings["sigma"]:
        if min(size) < 4:
            yield _log_name(sigma), f"the image of size {size} is shorter than 4 voxels along an axis"
        elif not sigma > 0:
            yield _log_name(sigma), "sigma must be greater than 0"
        elif not sigma < math.inf or not _has_room_for(size, spacing, sigma):
            yield _log_name(sigma), f"the image of size {size} is too short for the setting sigma {sigma}"


# --- Wavelets ----------------------------------------------------------------------------------------------------------


def _wavelet_axes(settings, dimension):
    """Axes of the array along which the image is decomposed, x first."""
    axes = list(range(dimension - 1, -1, -1))
    if settings["force2D"] and settings["force2Ddimension"] in axes:
        axes.remove(settings["force2Ddimension"])
    return axes


def _wavelet_names(settings, dimension):
    count = len(_wavelet_axes(settings, dimension))
    for level in range(1, settings["level"] + 1):
        prefix = f"wavelet{level if level > 1 else ''}-"
        letters = ["".join(code) for code in itertools.product("LH", repeat=count)]
        yield from (prefix + code for code in letters[1:])
        if level == settings["level"]:
            yield prefix + letters[0]


def _block(source, axes, margin):
    """A part of the image around the part that maps cover, and where the latter is. Axes on which the margin reaches an end are
    whole: the transform takes what is beyond from the other end. PyRadiomics appends the first plane to those of odd length.
    """
    block, inner = source.whole.array, []
    for axis, part in enumerate(source.box):
        length, first = block.shape[axis], part.start
        if axis not in axes:
            indices = np.arange(part.start, part.stop)
        elif part.start < margin or part.stop + margin + 1 > length:
            first, indices = 0, np.arange(length + length % 2) % length
        else:
            first = part.start - margin
            indices = np.arange(first, part.stop + margin + (part.stop - part.start) % 2)
        block = np.take(block, indices, axis=axis)
        inner.append(slice(part.start - first, part.stop - first))
    return block, tuple(inner)


def _wavelet_images(source, settings):
    pywt = _library("pywt", "PyWavelets", "Wavelet")
    wavelet = pywt.Wavelet(settings["wavelet"])
    axes = _wavelet_axes(settings, source.whole.array.ndim)
    levels = settings["start_level"] + settings["level"]
    block, inner = _block(source, axes, levels * (wavelet.dec_len + 1))
    low = "a" * len(axes)
    for level in range(1, levels + 1):
        (decomposed,) = pywt.swtn(block, wavelet, level=1, start_level=0, axes=tuple(axes))
        block = decomposed.pop(low)
        number = level - settings["start_level"]
        if number < 1:
            continue
        prefix = f"wavelet{number if number > 1 else ''}-"
        for code in list(decomposed):
            # One by one, so that they are not needed longer.
            yield prefix + code.replace("a", "L").replace("d", "H"), decomposed.pop(code)[inner]
    yield prefix + "L" * len(axes), block[inner]


# --- Local binary patterns ---------------------------------------------------------------------------------------------


def _local_binary_pattern_2d(source, settings):
    feature = _library("skimage.feature", "scikit-image", "LBP2D")
    options = settings["lbp2DSamples"], settings["lbp2DRadius"], settings["lbp2DMethod"]

    margin = math.ceil(settings["lbp2DRadius"]) + 2

    def pattern(plane, part):
        # What is before the part stays, since numbers of rows and columns round.
        plane = plane[tuple(slice(0, along.stop + margin) for along in part)]
        with warnings.catch_warnings():
            # That numbers of float are compared. A copy can be written, as the function requires.
            warnings.simplefilter("ignore", UserWarning)
            return feature.local_binary_pattern(plane.copy(), *options)[part]

    whole = source.whole.array
    if whole.ndim == 2:
        return pattern(whole, source.box)
    if not settings["force2D"]:
        _logger.warning(
            "imageType LBP2D has patterns in planes, but setting force2D is off: windows are of 3 dimensions"
        )
    axis = settings["force2Ddimension"]
    # PyRadiomics exchanges axes, and so are the neighbors of a voxel in the plane.
    box = list(source.box)
    box[0], box[axis] = box[axis], box[0]
    planes = whole.swapaxes(0, axis)[box[0]]
    result = np.stack([pattern(plane, tuple(box[1:])) for plane in planes]).swapaxes(0, axis)
    if whole.dtype.kind in "iu":
        # PyRadiomics' images have the type of the image.
        used = result[source.roi.array] if settings["maskedKernel"] else result
        limits = np.iinfo(whole.dtype)
        is_held = (used >= limits.min) & (used <= limits.max)
        if not is_held.all():
            raise ValueError(
                f"imageType LBP2D has the value {used[~is_held][0]} with the settings lbp2DMethod {settings['lbp2DMethod']} and "
                f"lbp2DSamples {settings['lbp2DSamples']}, but the image of {whole.dtype} cannot hold it"
            )
    return result.astype(whole.dtype)


def _harmonic(degree, order, polar, azimuth):
    special = _library("scipy.special", "scipy", "LBP3D")
    if hasattr(special, "sph_harm_y"):
        return special.sph_harm_y(degree, order, polar, azimuth)
    return special.sph_harm(order, degree, azimuth, polar)


def _sphere(settings):
    """Points on a sphere, and the spherical harmonics there, with their degrees."""
    radius = settings["lbp3DIcosphereRadius"]
    creation = _library("trimesh.creation", "trimesh", "LBP3D")
    points = np.array(creation.icosphere(settings["lbp3DIcosphereSubdivision"], radius).vertices)
    # PyRadiomics gives the polar angle as the azimuth, and the other way round.
    azimuth, polar = np.arccos(np.clip(points[:, 2] / radius, -1, 1)), np.arctan2(points[:, 1], points[:, 0])
    degrees = [degree for degree in range(settings["lbp3DLevels"]) for _ in range(2 * degree + 1)]
    orders = [order for degree in range(settings["lbp3DLevels"]) for order in range(-degree, degree + 1)]
    harmonics = [_harmonic(degree, order, polar, azimuth) for degree, order in zip(degrees, orders)]
    return points, np.stack(harmonics, axis=-1).astype(complex), np.array(degrees)


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
    ndimage = _library("scipy.ndimage", "scipy", "LBP3D")
    stats = _library("scipy.stats", "scipy", "LBP3D")
    if settings["force2D"]:
        _logger.warning("imageType LBP3D has patterns on spheres, but setting force2D is on: windows are of one plane")
    points, harmonics, degrees = _sphere(settings)
    whole = source.whole.array
    inside = source.roi.array
    voxels = np.argwhere(inside) + [part.start for part in source.box]
    coefficients = ndimage.spline_filter(whole, order=3, output=np.float64)
    values = np.empty((len(voxels), degrees[-1] + 2))
    step = max(1, _BYTES_OF_SAMPLES // (16 * harmonics.size))
    for first in range(0, len(voxels), step):
        some = voxels[first : first + step]
        places = np.ascontiguousarray((some[:, np.newaxis] + points).transpose(2, 0, 1))
        samples = ndimage.map_coordinates(coefficients, places, output=whole.dtype, order=3, prefilter=False)
        with warnings.catch_warnings():
            # Equal samples have no kurtosis.
            warnings.simplefilter("ignore", RuntimeWarning)
            values[first : first + step, -1] = stats.kurtosis(samples, axis=1)
        is_above = (samples >= whole[tuple(some.T)][:, np.newaxis]).astype(int)
        values[first : first + step, :-1] = _powers(is_above, harmonics, degrees)
    without = np.count_nonzero(~np.isfinite(values[:, -1]))
    if without:
        raise ValueError(
            f"imageType LBP3D has no kurtosis at {without} of {len(values)} voxels: all intensities on the sphere of setting "
            f"lbp3DIcosphereRadius {settings['lbp3DIcosphereRadius']} are equal there"
        )
    for name, column in zip(_lbp3d_names(settings, 3), values.T):
        result = np.zeros(inside.shape)
        result[inside] = column
        yield name, result


def _lbp3d_names(settings, dimension):
    return [f"lbp-3D-m{level}" for level in range(1, settings["lbp3DLevels"] + 1)] + ["lbp-3D-k"]


def _lbp3d_skipped(source, settings):
    if source.whole.array.ndim != 3:
        for name in _lbp3d_names(settings, 2):
            yield name, f"the image has {source.whole.array.ndim} dimensions, but must have 3"
    elif not settings["maskedKernel"]:
        raise ValueError("setting maskedKernel is False, but imageType LBP3D has values in the region of interest only")


# --- Image types -------------------------------------------------------------------------------------------------------


class _ImageType(NamedTuple):
    # Settings of the filter.
    settings: tuple
    # Names of the images by settings and dimension, in order.
    names: Callable[..., Any]
    # Pairs of names and arrays of the part that maps cover, by source and settings.
    images: Callable[..., Any]
    # Pairs of names of images that there are not, and why.
    skipped: Callable[..., Any] = lambda source, settings: ()
    # Pairs of modules and the packages that have them.
    libraries: tuple = ()


def _single(name, function, settings=(), libraries=()):
    def images(source, settings):
        # Values that are not finite raise an error where they are used.
        with np.errstate(all="ignore"):
            array = function(source, settings)
        yield name, array

    return _ImageType(settings, lambda settings, dimension: [name], images, libraries=libraries)


_SIMPLEITK = ("SimpleITK", "SimpleITK")

IMAGE_TYPES = {
    "Original": _single("original", lambda source, settings: source.image.array),
    "LoG": _ImageType(
        ("sigma",),
        lambda settings, dimension: dict.fromkeys(map(_log_name, settings["sigma"])),
        _log_images,
        _log_skipped,
        libraries=(_SIMPLEITK,),
    ),
    "Wavelet": _ImageType(
        ("start_level", "level", "wavelet"), _wavelet_names, _wavelet_images, libraries=(("pywt", "PyWavelets"),)
    ),
    "Square": _single("square", _square),
    "SquareRoot": _single("squareroot", _square_root),
    "Logarithm": _single("logarithm", _logarithm),
    "Exponential": _single("exponential", _exponential),
    "Gradient": _single("gradient", _gradient, ("gradientUseSpacing",), (_SIMPLEITK,)),
    "LBP2D": _single(
        "lbp-2D",
        _local_binary_pattern_2d,
        ("lbp2DRadius", "lbp2DSamples", "lbp2DMethod"),
        (("skimage.feature", "scikit-image"),),
    ),
    "LBP3D": _ImageType(
        ("lbp3DLevels", "lbp3DIcosphereRadius", "lbp3DIcosphereSubdivision"),
        _lbp3d_names,
        _local_binary_patterns_3d,
        _lbp3d_skipped,
        libraries=(("scipy.ndimage", "scipy"), ("trimesh.creation", "trimesh")),
    ),
}


def check_libraries(image_types):
    """Raise ImportError if an image type needs a package that is not installed."""
    for image_type in image_types:
        for module, package in IMAGE_TYPES[image_type].libraries:
            _library(module, package, image_type)


@functools.lru_cache(maxsize=None)
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
    """The names of images that the image is too small for, and why."""
    return dict(IMAGE_TYPES[image_type].skipped(source, settings))


def images(source, image_type, settings):
    """Pairs of a name and an image of an image type, as volumes, one by one. A line in the log says which are skipped."""
    left_out = skipped(source, image_type, settings)
    for name, reason in left_out.items():
        _logger.warning("imageType %s has no image %s: %s", image_type, name, reason)
    if not left_out.keys() >= set(names(image_type, settings, source.whole.array.ndim)):
        for name, array in IMAGE_TYPES[image_type].images(source, settings):
            yield name, source.image.with_array(np.ascontiguousarray(array))
