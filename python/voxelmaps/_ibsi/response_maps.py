# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Response maps of the filters of IBSI 2: Zwanenburg A, et al. IBSI standardised filters, arXiv:2006.05470, section 3.

Volumes have the axes z, y, x; kernels are given in the order x, y, z, as IBSI's names of Laws kernels and wavelets are.
"""

import itertools
import math
from typing import Any

import numpy as np

from .. import _arrays, _feature_maps, _filter_image, _parameters
from .._files import library
from .._parameters import BOUNDARIES as _SCIPY_BOUNDARIES
from .._suggestions import did_you_mean

# IBSI's names of boundaries, and SciPy's.
BOUNDARIES = {"zero": "constant", "nearest": "nearest", "periodic": "wrap", "mirror": "reflect"}
_PAD_MODES = {"zero": "constant", "nearest": "edge", "periodic": "wrap", "mirror": "symmetric"}
# Images that are computed in one job, before they are pooled.
_IMAGES_AT_ONCE = 6

_LAWS = {
    "L5": ([1, 4, 6, 4, 1], 70),
    "E5": ([-1, -2, 0, 2, 1], 10),
    "S5": ([-1, 0, 2, 0, -1], 6),
    "W5": ([-1, 2, 0, -2, 1], 10),
    "R5": ([1, -4, 6, -4, 1], 70),
    "L3": ([1, 2, 1], 6),
    "E3": ([-1, 0, 1], 2),
    "S3": ([-1, 2, -1], 6),
}


def _boundary_number(boundary):
    return _SCIPY_BOUNDARIES.index(BOUNDARIES[boundary])


def _filters(kernels, boundary):
    """Convolutions along x, y and z by kernels of odd length, as _filter_image has them; None leaves an axis as it is."""
    return [
        _filter_image.convolution(
            axis, np.asarray(kernel, np.float64).tolist(), len(kernel) // 2, _boundary_number(boundary)
        )
        for axis, kernel in enumerate(kernels)
        if kernel is not None
    ]


def _responses(image, images, pooling=None, spacing=(1.0, 1.0, 1.0)):
    """The image, filtered in one or several ways, which are pooled; an array of its library."""
    pixels = image if isinstance(image, _arrays.Array) else _arrays.array_of(image, "image")
    module, result = pixels.library.module(), None
    with pixels.library.current_device():
        for first in range(0, len(images), _IMAGES_AT_ONCE):
            for each in _filter_image.compute(
                pixels, images[first : first + _IMAGES_AT_ONCE], spacing=spacing, has_progress=False
            ).array:
                combined = (
                    each if result is None else module.maximum(result, each) if pooling == "max" else result + each
                )
                result = combined
        return result / len(images) if pooling == "mean" else result


def _rotated_cascades(rows):
    """The different cascades of kernels along x, y and z of separable filters that are rotated together by right angles: about z if they
    have no kernel along it, otherwise by all 24 rotations."""
    has_planes = rows[0][2] is None
    found = {}
    for order in itertools.permutations(range(2 if has_planes else 3)):
        parity = sum(a > b for a, b in itertools.combinations(order, 2))
        for signs in itertools.product((1, -1), repeat=len(order)):
            # Rotations have the determinant 1.
            if math.prod(signs) == (-1) ** parity:
                turned = [
                    tuple(row[axis][::sign] for axis, sign in zip(order, signs)) + (None,) * has_planes for row in rows
                ]
                key = tuple(None if kernel is None else kernel.tobytes() for row in turned for kernel in row)
                found[key] = turned
    return list(found.values())


def rotated(kernels):
    """The different kernels along x, y and z of a separable filter that is rotated by right angles."""
    return [row for [row] in _rotated_cascades([kernels])]


def separable(image, kernels, boundary, pooling=None):
    """Response of a separable filter; with pooling "max" or "mean" over its rotations by right angles."""
    kernels = tuple(None if kernel is None else np.asarray(kernel, np.float64) for kernel in kernels)
    variants = [kernels] if pooling is None else rotated(kernels)
    return _responses(image, [([(_filters(each, boundary), 1.0)], False) for each in variants], pooling)


def mean(image, size, boundary, dimension=3):
    """Mean of `size` voxels along each axis (section 3.1)."""
    kernel = np.full(size, 1 / size)
    return separable(image, (kernel, kernel, kernel if dimension == 3 else None), boundary)


def laplacian_of_gaussian(image, sigmas, boundary, dimension=3, cutoff=4.0):
    """Laplacian of a Gaussian with a sigma in voxels along x, y and z, sampled up to `cutoff` sigmas (section 3.2)."""
    axes = range(dimension)
    gaussians, second = [], []
    for sigma in sigmas:
        reach = math.floor(cutoff * sigma + 0.5)
        x = np.arange(-reach, reach + 1)
        gaussian = np.exp(-(x**2) / (2 * sigma**2)) / (math.sqrt(2 * math.pi) * sigma)
        gaussians.append(gaussian)
        second.append((x**2 / sigma**2 - 1) * gaussian / sigma**2)
    rows = [
        [second[axis] if axis == each else gaussians[axis] for axis in axes] + [None] * (3 - dimension) for each in axes
    ]
    return _responses(image, [([(_filters(row, boundary), 1.0) for row in rows], False)])


def laws(image, names, boundary, pooling=None, energy_reach=None):
    """Response of a Laws kernel such as "E5L5S5", or "L5S5" in planes; and its energy, the mean of absolute values over
    2 * energy_reach + 1 voxels along each axis (section 3.3)."""
    kernels = [
        np.array(_LAWS[names[i : i + 2]][0]) / math.sqrt(_LAWS[names[i : i + 2]][1]) for i in range(0, len(names), 2)
    ]
    response = separable(image, [*kernels, *[None] * (3 - len(kernels))], boundary, pooling)
    return response if energy_reach is None else mean(abs(response), 2 * energy_reach + 1, boundary, len(kernels))


def _of_odd_length(kernel):
    return np.append(kernel, 0.0) if len(kernel) % 2 == 0 else np.asarray(kernel)


def _with_holes(kernel, level):
    """The kernel of the à trous algorithm at a level."""
    step = 2 ** (level - 1)
    result = np.zeros((len(kernel) - 1) * step + 1)
    result[::step] = kernel
    return result


def wavelet(image, name, subband, boundary, level=1, pooling=None):
    """Response of a subband such as "LHL" of an undecimated separable wavelet transform (section 3.5); "LH" filters planes."""
    filters = library("pywt", "wavelets", package="PyWavelets", extra="radiomics").Wavelet(name)
    kernels = {letter: np.array(kernel) for letter, kernel in (("L", filters.dec_lo), ("H", filters.dec_hi))}
    # The low passes of the levels below, then the subband: all are turned together.
    steps = [*["L" * len(subband)] * (level - 1), subband]
    cascade = [
        [*(_with_holes(_of_odd_length(kernels[letter]), i) for letter in letters), *[None] * (3 - len(letters))]
        for i, letters in enumerate(steps, 1)
    ]
    variants = [cascade] if pooling is None else _rotated_cascades(cascade)
    images = [([([one for row in variant for one in _filters(row, boundary)], 1.0)], False) for variant in variants]
    return _responses(image, images, pooling)


def gabor(image, sigma, wavelength, gamma, angle, boundary, angle_step=None, planes="xy", spacing=(1.0, 1.0, 1.0)):
    """Modulus of a Gabor filter in planes, up to 6 sigmas (section 3.4).

    sigma, wavelength
                In the unit of the spacing along x, y and z.
    angle       In degrees.
    angle_step  If given, the mean over the angles in these steps, from the angle to a turn beyond it.
    planes      "xy", or "all" for the mean over the three directions.
    """
    parameters = {
        "sigma": sigma,
        "wavelength": wavelength,
        "gamma": gamma,
        "angle": math.radians(angle),
        "angle_step": math.radians(angle_step or 0),
        "has_all_planes": planes == "all",
        "boundary": _boundary_number(boundary),
    }
    return _responses(image, [parameters], spacing=spacing)


def _frequencies(shape):
    """Places on the grid of the transform from -1 to 1 along z, y and x, with the zero frequency in the middle (section 3.6)."""
    # One slice has the frequency zero alone.
    grids = [(np.arange(n) - (n - 1) / 2) / max((n - 1) / 2, 0.5) for n in shape]
    return np.meshgrid(*grids, indexing="ij")


def _simoncelli(shape, level):
    radius = np.sqrt(sum(axis**2 for axis in _frequencies(shape)))
    largest = 2.0 ** (1 - level)
    inside = (radius >= largest / 4) & (radius <= largest)
    return np.where(inside, np.cos(math.pi / 2 * np.log2(2 * np.where(inside, radius, 1.0) / largest)), 0.0)


def _riesz(shape, order):
    """Transfer function of the Riesz transform with the order along x, y and z (section 3.7)."""
    axes = _frequencies(shape)[::-1]
    total, radius = sum(order), np.sqrt(sum(axis**2 for axis in axes))
    factor = (-1j) ** total * math.sqrt(math.factorial(total) / math.prod(math.factorial(one) for one in order))
    return factor * math.prod(axis**one for axis, one in zip(axes, order)) / np.where(radius > 0, radius, 1.0) ** total


def _by_transform(image, transfer_of, boundary):
    """The image, filtered by a transfer function of its shape, which has a margin of half the image unless it is periodic."""
    fft = library("scipy.fft", "filters of IBSI 2", package="scipy", extra="radiomics")
    margins = [0 if boundary in (None, "periodic") else n // 2 for n in image.shape]
    padded = np.pad(image, [(n, n) for n in margins], mode=_PAD_MODES[boundary]) if any(margins) else image
    response = fft.ifftn(fft.fftn(padded) * fft.ifftshift(transfer_of(padded.shape))).real
    return response[tuple(slice(margin, margin + n) for margin, n in zip(margins, image.shape))]


def riesz(image, order, boundary):
    """Riesz transform of a response map, with the order along x, y and z (section 3.7)."""
    return _by_transform(image, lambda shape: _riesz(shape, order), boundary)


def simoncelli(image, level, boundary=None, order=None, dimension=3):
    """Response of the band-pass of a level of Simoncelli's non-separable wavelet (section 3.6), and its Riesz transform.

    boundary    None or "periodic" for the volume as it is.
    dimension   2 to filter each plane across z.
    """
    if dimension == 2:
        return np.stack([simoncelli(plane, level, boundary) for plane in image])
    transfer = lambda shape: _simoncelli(shape, level) * (1.0 if order is None else _riesz(shape, order))
    return _by_transform(image, transfer, boundary)


# --- The function of users ------------------------------------------------------------------------------------------------

# Parameters that have an effect on a filter, and those that it cannot do without.
_EFFECTS = {
    "mean": ("size",),
    "LoG": ("sigma", "cutoff", "riesz_order"),
    "Laws": ("kernels", "energy_distance", "pooling"),
    "Gabor": ("sigma", "wavelength", "gamma", "angle", "angle_step"),
    "wavelet": ("wavelet_name", "subband", "level", "pooling"),
    "Simoncelli": ("level", "riesz_order"),
}
_NEEDED = {"LoG": ("sigma",), "Gabor": ("sigma", "wavelength"), "Laws": ("kernels",), "wavelet": ("subband",)}
FILTERS = tuple(_EFFECTS)


def response_map(
    image: Any,
    filter: str,
    *,
    boundary: str = "mirror",
    dimension: int = 3,
    pooling: str | None = None,
    size: int = 5,
    sigma: float | None = None,
    cutoff: float = 4,
    kernels: str | None = None,
    energy_distance: int | None = None,
    wavelength: float | None = None,
    gamma: float = 1,
    angle: float = 0,
    angle_step: float | None = None,
    wavelet_name: str = "coif1",
    subband: str | None = None,
    level: int = 1,
    riesz_order: Any = None,
    spacing: Any = None,
) -> Any:
    """Filter a volume with the definitions of the Image Biomarker Standardisation Initiative (IBSI 2).

    filter_image has the filters of PyRadiomics and ITK, such as a recursive Laplacian of a Gaussian; IBSI's is sampled.

    Parameters
    ----------
    image : array, image or path
        Intensities, as in filter_image, with 3 axes. Arrays on a CUDA device are filtered there, with the same bits as on the CPU, by
        the filters mean, LoG, Laws, Gabor and wavelet.
    filter : {"mean", "LoG", "Laws", "Gabor", "wavelet", "Simoncelli"}
        The mean of a box; the Laplacian of a Gaussian; a Laws kernel; the modulus of a Gabor filter in planes across z, or in all three
        directions if dimension is 3 and angle_step is given; a subband of an undecimated separable wavelet transform; a level of
        Simoncelli's non-separable wavelet.
    boundary : {"zero", "nearest", "periodic", "mirror"}, default "mirror"
        Voxels beyond the ends of the image, where "mirror" repeats the last voxel. Simoncelli is periodic for "periodic", and otherwise
        has a margin of half the image.
    dimension : {2, 3}, default 3
        2 filters each plane across z.
    pooling : {"max", "mean"}, optional
        Combine the responses of Laws and wavelet over all rotations by right angles. Default: no rotations.
    size : int, default 5
        For mean: voxels of the box along each axis, an odd number.
    sigma : float, optional
        For LoG and Gabor: standard deviation in mm, or in voxels without a spacing. Gabor's kernel ends after 6 of them along and across
        the wave, at 1024 voxels at most.
    cutoff : float, default 4
        For LoG: the kernel ends after so many sigmas.
    kernels : str, optional
        For Laws: names along x, y and z, such as "E5L5S5", or "L5S5" in planes.
    energy_distance : int, optional
        For Laws: return the mean of the absolute response over so many voxels on both sides.
    wavelength : float, optional
        For Gabor: in the unit of sigma.
    gamma : float, default 1
        For Gabor: ratio of the axes of the envelope.
    angle : float, default 0
        For Gabor: in degrees.
    angle_step : float, optional
        For Gabor: mean over angles in steps of so many degrees, from the angle to a turn beyond it, instead of one angle.
    wavelet_name : str, default "coif1"
        For wavelet: name of a discrete wavelet of PyWavelets.
    subband : str, optional
        For wavelet: letters along x, y and z, such as "LHL", or "LH" in planes.
    level : int, default 1
        For wavelet and Simoncelli.
    riesz_order : list of int, optional
        For LoG and Simoncelli: order along x, y and z of the Riesz transform of the response.
    spacing : list of float, optional
        Size of a voxel along z, y and x in mm. Default: that of the image, or 1.

    Returns
    -------
    array or image
        What the image is, with values of float64.

    Raises
    ------
    ValueError, TypeError
        If the image has no 3 axes or an argument is missing or wrong.
    ImportError
        If SciPy or PyWavelets is not installed, for Simoncelli and the Riesz transform, or wavelet.

    See Also
    --------
    filter_image : Filters as PyRadiomics and ITK define them.

    References
    ----------
    Zwanenburg A, et al. Standardised convolutional filtering for radiomics. arXiv:2006.05470.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.zeros((9, 9, 9))
    >>> image[4, 4, 4] = 70
    >>> voxelmaps.response_map(image, "Laws", kernels="L5L5L5", boundary="zero")[4, 4, 4].round(4)
    np.float64(25.8169)
    """
    arguments = dict(locals())
    for what, value, known in (
        ("filter", filter, FILTERS),
        ("boundary", boundary, tuple(BOUNDARIES)),
        ("pooling", pooling, (None, "max", "mean")),
        ("dimension", dimension, (2, 3)),
    ):
        if value not in known:
            raise ValueError(
                f"{what} is {value!r}, but must be of {', '.join(map(str, known))}{did_you_mean(str(value), [str(one) for one in known])}"
            )
    defaults = response_map.__kwdefaults__ or {}
    given = {
        name: arguments[name]
        for name in dict.fromkeys(name for names in _EFFECTS.values() for name in names)
        if arguments[name] is not defaults[name] and arguments[name] != defaults[name]
    }
    for name, value in given.items():
        if name not in _EFFECTS[filter]:
            owners = ", ".join(each for each, names in _EFFECTS.items() if name in names)
            raise ValueError(f"{name} is {value!r}, which has no effect on the filter {filter}, but on {owners}")
    for name in _NEEDED.get(filter, ()):
        if name not in given:
            rule = "a number above 0" if name in ("sigma", "wavelength") else "it"
            raise ValueError(f"{name} is None, but filter {filter!r} needs {rule}")
    for name in ("sigma", "wavelength", "gamma", "cutoff", "angle_step"):
        if name in given:
            _parameters.positive(given[name], name)
    for name, least, most in (("size", 1, 65535), ("level", 1, 16), ("energy_distance", 0, 32767)):
        if name in given:
            _parameters.count(given[name], name, least, most)
    if not math.isfinite(_parameters.number(angle, "angle")):
        raise ValueError(f"angle is {angle!r}, but must be finite, in degrees")
    for name, value in (("kernels", kernels), ("subband", subband), ("wavelet_name", wavelet_name)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is {value!r}, but must be a text")
    if riesz_order is not None:
        order = [
            _parameters.count(each, "a value of riesz_order", 0, 8)
            for each in (riesz_order if isinstance(riesz_order, (list, tuple)) else [riesz_order])
        ]
        if len(order) != 3 or sum(order) == 0 or dimension == 2:
            raise ValueError(
                f"riesz_order is {riesz_order!r}, but must be 3 integers along x, y and z, not all 0, with dimension=3"
            )
    kernels, subband = kernels or "", subband or ""
    values = {"dimension": 3, "spacing": spacing, "weighting_norm": None}
    opened, pixels, sizes = _feature_maps.opened_scalars(image, values, has_batches=False)
    if len(pixels.shape) != 3:
        raise ValueError(f"image has {len(pixels.shape)} axes, but IBSI's filters are those of volumes, which have 3")
    steps = sizes[::-1]
    if filter == "mean":
        if size < 1 or size % 2 == 0:
            raise ValueError(f"size is {size}, but must be an odd number of voxels from 1 up")
        result = mean(pixels, size, boundary, dimension)
    elif filter == "LoG":
        result = laplacian_of_gaussian(pixels, [sigma / step for step in steps], boundary, dimension, cutoff)
    elif filter == "Laws":
        names = [kernels[i : i + 2] for i in range(0, len(kernels), 2)]
        if len(names) != dimension or any(name not in _LAWS for name in names):
            raise ValueError(
                f"kernels is {kernels!r}, but must be {dimension} names of {', '.join(_LAWS)}, such as {'E5L5S5'[: 2 * dimension]!r}"
            )
        result = laws(pixels, kernels, boundary, pooling, energy_distance)
    elif filter == "wavelet":
        if len(subband) != dimension or set(subband) - set("LH"):
            raise ValueError(
                f"subband is {subband!r}, but must be {dimension} letters L or H, such as {'LHL'[:dimension]!r}"
            )
        result = wavelet(pixels, wavelet_name, subband, boundary, level, pooling)
    elif filter == "Gabor":
        planes = "all" if dimension == 3 and angle_step is not None else "xy"
        result = gabor(pixels, sigma, wavelength, gamma, angle, boundary, angle_step, planes, steps)
    else:
        host = np.asarray(pixels.host(), np.float64)
        result = pixels.library.from_host(simoncelli(host, level, boundary, riesz_order, dimension))
    if filter == "LoG" and riesz_order is not None:
        on_host = np.asarray(_arrays.Array(result, pixels.library).host(), np.float64)
        result = pixels.library.from_host(riesz(on_host, riesz_order, boundary))
    return opened.convert(opened.image.with_array(pixels.library.result(result)))
