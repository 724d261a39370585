# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Filtered images: those of PyRadiomics' image types, and convolutions."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays, _core, _feature_maps, _parameters
from ._core import triple
from ._devices import device_of_arrays
from ._files import library
from ._parameters import BOUNDARIES, FILTER_IMAGE, check_effects, checked, with_parameters
from ._progress import shown
from ._suggestions import did_you_mean

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Array, FilterImageParameters, ImageLike, Path

# Numbers of voxelmaps::FilterBoundary.
_ZERO, _NEAREST, _PERIODIC = (BOUNDARIES.index(name) for name in ("constant", "nearest", "wrap"))

# --- Filters as _core has them: axes are x, y, z, and images are terms that are added, and whether their squares are --------------


def _recursive(axis, sigma, order, normalize=False):
    return axis, float(sigma), order, normalize, (), 0, 0


def convolution(axis, kernel, origin, boundary):
    return axis, 0.0, 0, False, tuple(kernel), origin, boundary


def laplacian_of_gaussian(spacing, sigma):
    """ITK's LaplacianRecursiveGaussianImageFilter, normalized across scale. The spacing is x, y, z."""
    axes, terms = range(len(spacing)), []
    for derived in axes:
        others = [_recursive(axis, sigma, 0, True) for axis in axes if axis != derived]
        terms.append(([_recursive(derived, sigma, 2, True), *others], 1.0 / spacing[derived] ** 2))
    return terms, False


def gaussian(orders, sigma):
    """ITK's SmoothingRecursiveGaussianImageFilter, or derivatives; one order per axis x, y, z."""
    *others, last = enumerate(orders)
    return [([_recursive(axis, sigma, order) for axis, order in (last, *others)], 1.0)], False


def smoothed(pixels, sigma, device=None, threads=0):
    """The pixels, convolved along each axis with a Gaussian of a standard deviation in voxels, up to 4 of these, as float32."""
    radius = math.ceil(4 * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    kernel = (weights / weights.sum()).tolist()
    filters = [convolution(axis, kernel, radius, _NEAREST) for axis in range(len(pixels.shape))]
    images = [([(filters, 1.0)], False)]
    result = compute(pixels, images, dtype="float32", device=device, threads=threads, has_progress=False)
    return _arrays.Array(result.array[0], result.library)


def gradient_magnitude(spacing):
    """ITK's GradientMagnitudeImageFilter."""
    kernels = [[0.5 * (1.0 / s), 0.0, -0.5 * (1.0 / s)] for s in spacing]
    return [([convolution(axis, kernel, 1, _NEAREST)], 1.0) for axis, kernel in enumerate(kernels)], True


@functools.lru_cache(maxsize=64)
def _wavelet_kernels(name, dtype):
    """The low-pass and the high-pass filter of PyWavelets' decomposition, as it applies them to values of a type."""
    import pywt

    length = pywt.Wavelet(name).dec_len
    impulse = np.zeros(2 * length, dtype)
    impulse[length // 2] = 1
    [responses] = pywt.swt(impulse, name, level=1, start_level=0)
    return {letter: each[:length].tolist() for letter, each in zip("LH", responses)}


def wavelet_of(value, name):
    """The discrete wavelet of PyWavelets. Raises ValueError if there is none of this name."""
    pywt = library("pywt", "wavelets", "PyWavelets", "radiomics")
    known = pywt.wavelist(kind="discrete")
    if not isinstance(value, str) or value.lower() not in known:
        similar = did_you_mean(str(value), known)
        rule = "must be a discrete wavelet of PyWavelets, such as 'coif1', 'haar' or 'db3'"
        raise ValueError(f"{name} is {_parameters.shown(value)}{similar}, but {rule}")
    return pywt.Wavelet(value)


def wavelet_names(axes, level):
    """Names of the subbands, without what comes before the letters: one per axis."""
    low, *codes = map("".join, itertools.product("LH", repeat=axes))
    prefixes = [f"wavelet{number if number > 1 else ''}-" for number in range(1, level + 1)]
    return [prefix + code for prefix in prefixes for code in codes] + [prefixes[-1] + low]


def wavelet_images(axes, name, start_level, level, dtype):
    """The undecimated subbands as PyRadiomics computes them with PyWavelets, in the order of their names: each level has the same
    filters. Axes are those of _core, and the letters are in their order."""
    kernels = _wavelet_kernels(name, dtype)
    image = lambda filters: ([(filters, 1.0)], False)
    of = lambda code: [convolution(a, kernels[c], len(kernels[c]) // 2, _PERIODIC) for a, c in zip(axes, code)]
    low, *codes = map("".join, itertools.product("LH", repeat=len(axes)))
    levels = range(start_level, start_level + level)
    images = [image(of(low) * number + of(code)) for number in levels for code in codes]
    return [*images, image(of(low) * (start_level + level))]


def compute(
    pixels,
    images,
    *,
    spacing=(1.0, 1.0, 1.0),
    box=None,
    dtype="float64",
    is_single=False,
    appended=(),
    uses_entire_lines=False,
    threads=0,
    device=None,
    has_progress=True,
):
    """The filtered images as one array of the library of the pixels, whose first axis is the image.

    pixels       Array of 2 or 3 axes.
    images       See above.
    spacing      x, y, z.
    box          Slices of the part that is computed.
    dtype        Type of the result.
    is_single, uses_entire_lines
                 See FilterImageJob.
    appended     Axes of _core to whose end the first plane is appended.
    """
    return call_with_output(
        _core.filter_image,
        len(images),
        pixels,
        spacing,
        box=box,
        dtype=dtype,
        threads=threads,
        device=device,
        images=images,
        has_progress=has_progress,
        appended=[axis in appended for axis in range(3)],
        is_single=is_single,
        uses_entire_lines=uses_entire_lines,
    )


def call_with_output(
    function, count, pixels, spacing, *, box=None, dtype="float64", threads=0, device=None, **arguments
):
    """What a function of _core makes of pixels, as one array of their library, whose first axis is the image; see compute."""
    source, shape = pixels.library, pixels.shape
    box = box or tuple(slice(0, n) for n in shape)
    size = tuple(part.stop - part.start for part in box)
    number = device_of_arrays(device, source)
    _check_size(count, size, dtype)
    result = _arrays.Array(source.empty((count, *size), dtype), source)
    if count and 0 not in size:
        _feature_maps.call_core(
            function,
            pixels=pixels.address,
            pixel_type=pixels.pixel_type,
            size=triple(shape, 1),
            spacing=(*spacing, 1.0)[:3],
            output_index=triple([part.start for part in box], 0),
            output_size=triple(size, 1),
            output=result.address,
            is_double=dtype == "float64",
            threads=threads,
            device=number,
            is_on_device=source.device is not None,
            stream=source.stream(),
            **arguments,
        )
    return result


def _check_size(count, size, dtype):
    """Raise MemoryError for results that no machine holds, before they are allocated."""
    needed = count * math.prod(size) * np.dtype(dtype).itemsize
    if needed >= 2**48:
        raise MemoryError(
            f"{count} images of the shape {size} and type {dtype} need {needed} bytes, which no machine has: filter a smaller part, or ask "
            "for fewer images"
        )


# --- Functions of intensities ---------------------------------------------------------------------------------------------


def _greatest_magnitude(image, name):
    """The greatest absolute value of the voxels that are finite. Raises ValueError if there is none."""
    least, greatest = image.extremes()
    if not (math.isfinite(least) and math.isfinite(greatest)):
        module = image.library.module()
        with image.library.current_device():
            is_finite = module.isfinite(image.array)
            if not is_finite.any():
                raise ValueError(
                    f"image has no finite voxel, but the greatest absolute intensity sets the scale of {name!r}: replace NaN and infinity"
                )
            finite = _arrays.Array(module.where(is_finite, image.array, 0), image.library)
        least, greatest = finite.extremes()
    # Numbers of Python, since the least integer has no magnitude in its type.
    return np.float64(max(abs(least), abs(greatest)))


def transformed(name, values, image):
    """PyRadiomics' Square, SquareRoot, Logarithm or Exponential of an array of float64, with the functions of its library; an image of
    any type sets the scale."""
    module, x = values.library.module(), values.array
    greatest = _greatest_magnitude(image, name)
    with values.library.current_device(), np.errstate(all="ignore"):
        if name == "Square":
            return (float(1 / np.sqrt(greatest)) * x) ** 2
        if name == "Exponential":
            return module.exp(float(np.log(greatest) / greatest) * x)
        if name == "SquareRoot":
            result = module.sqrt(module.abs(x) * float(greatest))
        else:
            result = module.log(module.abs(x) + 1)
        result = module.copysign(result, x)
        return result if name == "SquareRoot" else result * float(greatest / np.log(greatest + 1))


INTENSITIES = ("Square", "SquareRoot", "Logarithm", "Exponential")


# --- The function of users ------------------------------------------------------------------------------------------------


class _Filter(NamedTuple):
    """The images of a filter by key, and how they are computed; one image if there are no keys."""

    keys: list[Any] | None
    images: list[Any]
    dtype: str
    is_single: bool
    appended: tuple[int, ...] = ()


def _kernels(weights, dimension):
    """Correlation weights per axis of the array, as lists; None where there are none."""
    weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
    is_one = not isinstance(weights, (list, tuple)) or all(np.ndim(each) == 0 and each is not None for each in weights)
    kernels = [weights] * dimension if is_one else list(weights)
    if len(kernels) != dimension:
        raise ValueError(
            f"weights has {len(kernels)} kernels, but must have one, or one per axis, which are {dimension}"
        )
    kernels = [None if each is None else _parameters.numbers(each, "weights") for each in kernels]
    if all(each is None for each in kernels) or [] in kernels:
        raise ValueError("weights must have at least one number along an axis; None leaves an axis as it is")
    return kernels


def _separable(kernels, mode):
    """Correlations, whose weights are centered as SciPy does, along the axes of an array."""
    axes = reversed(range(len(kernels)))
    filters = [
        convolution(axis, kernel[::-1], (len(kernel) - 1) // 2, BOUNDARIES.index(mode))
        for axis, kernel in zip(axes, kernels)
        if kernel is not None
    ]
    return [(filters, 1.0)], False


def _filter_of(name, values, spacing, shape, dtype):
    """The _Filter of the parameters. The spacing is x, y, z; dtype that of the image."""
    dimension, precision = len(spacing), values["precision"]
    # The types of PyRadiomics' images, or that of the image.
    usual = "float32" if name in ("LoG", "Gaussian", "Gradient") or dtype == "float32" else "float64"
    of_result = {None: usual, "float": "float32", "double": "float64"}[precision]
    is_single = of_result == "float32" and (name in ("LoG", "Gaussian") or dtype == "float32")
    if name in ("LoG", "Gaussian"):
        if values["sigma"] is None:
            raise TypeError(f"filter {name} needs sigma, the standard deviation in mm, or a list of them")
        orders = _parameters.per_axis(values["order"], "order", dimension, 0)[::-1]
        if max(orders) > 2:
            raise ValueError(f"order is {values['order']!r}, but must be 0, 1 or 2")
        is_list, sigmas = np.ndim(values["sigma"]) > 0, np.atleast_1d(values["sigma"]).tolist()
        make = laplacian_of_gaussian if name == "LoG" else gaussian
        images = [make(spacing if name == "LoG" else orders, sigma) for sigma in sigmas]
        return _Filter(sigmas if is_list else None, images, of_result, is_single)
    if name == "Gradient":
        sizes = spacing if values["use_spacing"] else (1.0,) * dimension
        return _Filter(None, [gradient_magnitude(sizes)], of_result, False)
    if name == "Wavelet":
        wavelet_of(values["wavelet"], "wavelet")
        plane_axis = values["plane_axis"]
        if plane_axis is not None and plane_axis >= dimension:
            raise ValueError(f"plane_axis is {plane_axis}, but the image has {dimension} axes, counted from 0")
        axes = [axis for axis in range(dimension) if dimension - 1 - axis != plane_axis]
        levels = values["start_level"], values["level"]
        images = wavelet_images(axes, values["wavelet"], *levels, "float32" if is_single else "float64")
        odd = tuple(axis for axis in axes if shape[dimension - 1 - axis] % 2)
        return _Filter(wavelet_names(len(axes), values["level"]), images, of_result, is_single, odd)
    if name == "Mean":
        sizes = _parameters.per_axis(values["size"], "size", dimension, 1)
        kernels = [[1.0 / n] * n for n in sizes]
    else:
        if values["weights"] is None:
            raise TypeError("filter Convolution needs weights, a kernel for all axes or one per axis")
        kernels = _kernels(values["weights"], dimension)
    return _Filter(None, [_separable(kernels, values["mode"])], of_result, is_single)


FILTERS = ("LoG", "Gaussian", "Gradient", "Wavelet", "Mean", "Convolution", *INTENSITIES)


@with_parameters(FILTER_IMAGE)
def filter_image(
    image: Array | ImageLike | Path,
    filter: str,
    **parameters: Unpack[FilterImageParameters],
) -> Any:
    """Filter an image with the definitions of PyRadiomics' image types, or by convolution.

    Arrays on a CUDA device are filtered there, with the same bits as on the CPU, except for the four functions of intensities, which are
    computed by the library of the array.

    Parameters
    ----------
    image : array, image or path
        Intensities, as in feature_maps, with 2 or 3 axes. NaN and infinity spread as far as the filter reaches: along entire lines
        with LoG and Gaussian.
    filter : str
        "LoG", the Laplacian of a Gaussian, normalized across scale, and "Gaussian": ITK's recursive filters; "Gradient", the gradient
        magnitude; "Wavelet", the undecimated subbands of PyWavelets; "Square", "SquareRoot", "Logarithm" and "Exponential", scaled by the
        greatest finite absolute intensity (of an image of zeros, all but SquareRoot are NaN, as in PyRadiomics); "Mean" of a box;
        "Convolution" with one kernel per axis.
    sigma : float or list of float, optional
        For LoG and Gaussian: standard deviation in mm, or in voxels without a spacing; all of a list are computed in one call.
    order : int or one per axis, default 0
        For Gaussian: order of the derivative along each axis, 0 to 2, as in scipy.ndimage.gaussian_filter.
    use_spacing : bool, default True
        For Gradient: whether derivatives are per mm, as gradientUseSpacing, or per voxel.
    wavelet : str, default "coif1"
        For Wavelet: name of a discrete wavelet of PyWavelets, which must be installed.
    level : int, default 1
        For Wavelet: number of levels whose subbands are returned, at most 32.
    start_level : int, default 0
        For Wavelet: number of levels before these.
    plane_axis : {0, 1, 2}, optional
        For Wavelet: axis along which there is no decomposition, as force2Ddimension.
    size : int or one per axis, default 3
        For Mean: size of the box in voxels, as in scipy.ndimage.uniform_filter.
    weights : list of float, or one per axis, optional
        For Convolution: kernel along all axes, or a list of one kernel per axis z, y, x, with None for an axis that is left as it is. They
        are correlated, as scipy.ndimage.correlate1d does.
    mode : {"reflect", "constant", "nearest", "mirror", "wrap"}, default "reflect"
        For Mean and Convolution: voxels beyond the border, with SciPy's names; "constant" is 0, "wrap" is periodic, and "reflect" is the
        mirror of the IBSI.
    spacing : list of float, optional
        Size of a voxel along each axis, in mm. Default: that of the image, or 1.
    precision : {"float", "double"}, optional
        Type of the result: float32, where LoG and Gaussian also round after each axis, as ITK does; or float64. Default: as in
        PyRadiomics, float32 for LoG, Gaussian, Gradient and images of float32, except for functions of intensities, and float64
        otherwise.
    threads : int, default 0
        Number of threads on the CPU; 0 for one per processor.
    progress : callable or bool, optional
        Function that is called with the fraction that is finished, 0 to 1; or True for a bar of tqdm.
    device : {"cpu", "cuda"} or int, optional
        For arrays in host memory: the CPU, or a CUDA device. Default: the CUDA device 0, if there is one.

    Returns
    -------
    array or image, or dict of these
        What the image is: an array of its library, on its device, or an image with its geometry; a SimpleITK image for a path. For a
        list of sigma, a dict by sigma; for Wavelet, a dict by PyRadiomics' names: "wavelet-LLH", with a letter per axis, x first, and
        "wavelet2-LLH" for the second level.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, those without an effect on the filter, and a job that needs more memory than there is.
    RuntimeError
        If a device fails.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.zeros((9, 9, 9), np.float32)
    >>> image[4, 4, 4] = 100
    >>> voxelmaps.filter_image(image, "Mean", size=3)[3, 4, 5].round(4)
    np.float32(3.7037)
    >>> list(voxelmaps.filter_image(image, "LoG", sigma=[1.0, 2.0]))
    [1.0, 2.0]
    >>> list(voxelmaps.filter_image(image, "Wavelet", wavelet="haar"))[:2]
    ['wavelet-LLH', 'wavelet-LHL']
    """
    name = _parameters.one_of(*FILTERS)(filter, "filter")
    values = checked(parameters, "filter_image", FILTER_IMAGE, ("image", "filter"))
    check_effects(parameters, values, FILTER_IMAGE, (name,), "on the filter")
    opened, pixels, sizes = _feature_maps.opened_scalars(image, {**values, "weighting_norm": None}, has_batches=False)
    given = lambda array: opened.convert(opened.image.with_array(pixels.library.result(array)))
    if name in INTENSITIES:
        # The library computes.
        device_of_arrays(values["device"], pixels.library)
        if 0 in pixels.shape:
            raise ValueError(f"image has the shape {pixels.shape}, but must have voxels")
        floats = _arrays.Array(pixels.library.contiguous(pixels.array, "float64"), pixels.library)
        result = transformed(name, floats, pixels)
        return given(result if values["precision"] != "float" else pixels.library.contiguous(result, "float32"))
    spacing = tuple(float(size) for size in reversed(sizes))
    job = _filter_of(name, values, spacing, pixels.shape, pixels.dtype)
    with shown(values["progress"], math.prod(pixels.shape) * len(job.images), "filter_image"):
        results = compute(
            pixels,
            job.images,
            spacing=spacing,
            dtype=job.dtype,
            is_single=job.is_single,
            appended=job.appended,
            threads=values["threads"],
            device=values["device"],
        ).array
    if job.keys is None:
        return given(results[0])
    return {key: given(each) for key, each in zip(job.keys, results)}
