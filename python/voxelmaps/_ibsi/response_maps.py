# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Response maps of the filters of IBSI 2: Depeursinge A, et al. arXiv:2006.05470, section 3. The core has those with kernels.

Volumes have the axes z, y, x; kernels are given in the order x, y, z, as IBSI's names of Laws kernels and wavelets are.
"""

import math
from typing import Any

import numpy as np

from .. import _arrays, _core, _feature_maps, _filter_image, _parameters
from .._files import library

# What np.pad calls the boundaries, in the order of voxelmaps::FilterBoundary.
_PAD_MODES = {"zero": "constant", "nearest": "edge", "periodic": "wrap", "mirror": "symmetric"}
BOUNDARIES = tuple(_PAD_MODES)
# In the order of the enumerators of voxelmaps::ResponseMapEnums, and the names of its parameters that differ.
_OF_CORE = ("mean", "LoG", "Laws", "Gabor", "wavelet")
_POOLINGS = (None, "mean", "max")
_NAMES = {"size": "support_size"}
# Wavelets that the core has.
_WAVELETS = ("haar", "db2", "db3", "coif1")


def _response(pixels, steps, filter, boundary, dimension, given):
    """The response by the core; steps are the sizes of a voxel along x, y and z, and given parameters that are no defaults."""
    parameters: dict[str, Any] = {_NAMES.get(name, name): value for name, value in given.items()}
    parameters |= {
        "filter": _OF_CORE.index(filter),
        "boundary": BOUNDARIES.index(boundary),
        "filter_dimension": dimension,
    }
    if "pooling" in parameters:
        parameters["pooling"] = _POOLINGS.index(parameters["pooling"])
    parameters |= {name: math.radians(parameters[name]) for name in ("angle", "angle_step") if name in parameters}
    parameters |= {"compute_energy": True} if "energy_distance" in parameters else {}
    name = parameters.pop("wavelet_name", None)
    if name in _WAVELETS:
        parameters["wavelet"] = name
    elif name is not None:
        filters = _filter_image.wavelet_of(name, "wavelet_name")
        parameters |= {"low_pass_filter": filters.dec_lo, "high_pass_filter": filters.dec_hi}
    parameters.pop("riesz_order", None)
    with pixels.library.current_device():
        return _filter_image.call_with_output(_core.response_map, 1, pixels, steps, parameters=parameters).array[0]


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
        For LoG and Gabor: standard deviation in mm, or in voxels without a spacing. Gabor's kernel ends where its envelope is
        exp(-18), and must not reach more than 1024 voxels.
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
        For wavelet: "haar", "db2", "db3", "coif1", or the name of another discrete wavelet of PyWavelets.
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
        If SciPy is not installed, for Simoncelli and the Riesz transform, or PyWavelets for other wavelets than haar, db2, db3 and
        coif1.

    See Also
    --------
    filter_image : Filters as PyRadiomics and ITK define them.

    References
    ----------
    Depeursinge A, et al. Standardised convolutional filtering for radiomics. arXiv:2006.05470.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.zeros((9, 9, 9))
    >>> image[4, 4, 4] = 70
    >>> voxelmaps.response_map(image, "Laws", kernels="L5L5L5", boundary="zero")[4, 4, 4].round(4)
    np.float64(25.8169)
    """
    arguments = dict(locals())
    _parameters.one_of(*FILTERS)(filter, "filter")
    _parameters.one_of(*BOUNDARIES)(boundary, "boundary")
    _parameters.count(dimension, "dimension", 2, 3)
    if pooling is not None:
        _parameters.one_of(*_POOLINGS[1:])(pooling, "pooling")
    defaults = response_map.__kwdefaults__ or {}
    given = {
        name: arguments[name]
        for name in dict.fromkeys(name for names in _EFFECTS.values() for name in names)
        # Arrays are no defaults.
        if getattr(arguments[name], "ndim", 0) or arguments[name] != defaults[name]
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
    for name in ("kernels", "subband", "wavelet_name"):
        if name in given:
            _parameters.rule("a printable string", lambda value: value, str.isprintable)(given[name], name)
    order = None
    if riesz_order is not None:
        order = [
            _parameters.count(each, "a value of riesz_order", 0, 8)
            for each in np.ravel(np.asarray(riesz_order, object)).tolist()
        ]
        if len(order) != 3 or sum(order) == 0 or dimension == 2:
            raise ValueError(
                f"riesz_order is {riesz_order!r}, but must be 3 integers along x, y and z, not all 0, with dimension=3"
            )
    values = {"dimension": 3, "spacing": spacing, "weighting_norm": None}
    opened, pixels, sizes = _feature_maps.opened_scalars(image, values, has_batches=False)
    if len(pixels.shape) != 3:
        raise ValueError(f"image has {len(pixels.shape)} axes, but IBSI's filters are those of volumes, which have 3")
    steps = sizes[::-1]
    if filter in _OF_CORE:
        result = _response(pixels, steps, filter, boundary, dimension, given)
    else:
        host = np.asarray(pixels.host(), np.float64)
        result = pixels.library.from_host(simoncelli(host, level, boundary, order, dimension))
    if filter == "LoG" and order is not None:
        on_host = np.asarray(_arrays.Array(result, pixels.library).host(), np.float64)
        result = pixels.library.from_host(riesz(on_host, order, boundary))
    return opened.convert(opened.image.with_array(pixels.library.result(result)))
