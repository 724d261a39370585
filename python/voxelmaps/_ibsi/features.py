# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Features of a region as the Image Biomarker Standardisation Initiative (IBSI 1) defines them, by IBSI's tags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _arrays, _core, _image, _masks, _parameters, _regions
from .._files import library
from .._files.dicom import label_of
from .._suggestions import did_you_mean

# The methods of combining directions and slices, in IBSI's order (section 3.6.2), and the dimension of the neighborhood.
AGGREGATIONS = {"2D_avg": 2, "2D_comb": 2, "2_5D_avg": 2, "2_5D_comb": 2, "3D_avg": 3, "3D_comb": 3}
FAMILIES = ("morph", "loc", "stat", "ih", "ivh", "cm", "rlm", "szm", "dzm", "ngt", "ngl")

# Tags in the order of the features of _core's classes.
_COOCCURRENCE = (
    "auto_corr clust_prom clust_shade clust_tend contrast corr diff_avg diff_entr diff_var inv_diff inv_diff_mom "
    "inv_diff_mom_norm inv_diff_norm info_corr1 info_corr2 inv_var joint_avg energy joint_entr joint_max sum_avg sum_entr joint_var"
).split()
# IBSI's features that equal others.
_SAME = {"sum_var": "clust_tend", "dissimilarity": "diff_avg"}
_TONE_DIFFERENCE = "busyness coarseness complexity contrast strength".split()
# Matrices by level and size: the class, and tags of small and large sizes, of sizes alone, and of levels alone.
_BY_SIZE = {
    "rlm": (
        "glrlm",
        "sre lre glnu rlnu r_perc lgre hgre srlge srhge lrlge lrhge glnu_norm rlnu_norm gl_var rl_var rl_entr",
    ),
    "szm": (
        "glszm",
        "sze lze glnu zsnu z_perc lgze hgze szlge szhge lzlge lzhge glnu_norm zsnu_norm gl_var zs_var zs_entr",
    ),
    "dzm": (
        "gldzm",
        "sde lde glnu zdnu z_perc lgze hgze sdlge sdhge ldlge ldhge glnu_norm zdnu_norm gl_var zd_var zd_entr",
    ),
    "ngl": (
        "ngldm",
        "lde hde glnu dcnu dc_perc lgce hgce ldlge ldhge hdlge hdhge glnu_norm dcnu_norm gl_var dc_var dc_entr",
    ),
}


def _half_of_neighbors(dimension):
    """One of each two opposite offsets (x, y, z) to the 8 or 26 neighbors of a voxel."""
    z = range(2) if dimension == 3 else (0,)
    offsets = [(x, y, k) for k in z for y in (-1, 0, 1) for x in (-1, 0, 1)]
    return [offset for offset in offsets if offset[::-1] > (0, 0, 0)]


class _Matrices:
    """Matrices of the gray levels of a box, a 3D array with 0 outside the region."""

    def __init__(self, levels, inside, dimension, alpha=0):
        self.levels = np.ascontiguousarray(levels, np.uint16)
        self.inside = np.ascontiguousarray(inside, np.uint8)
        self.dimension, self.alpha = dimension, alpha
        self.count = int(self.levels.max(initial=0))
        planes = range(len(self.levels)) if dimension == 2 else (slice(None),)
        # The voxels of each slice, or of the volume.
        self.parts = [part for part in planes if self.levels[part].any()]

    def of_part(self, name, part, offsets):
        levels = np.ascontiguousarray(self.levels[part])
        inside = np.ascontiguousarray(self.inside[part])
        shape = levels.shape if levels.ndim == 3 else (1, *levels.shape)
        return _core.compute_region_matrix(
            name,
            levels=levels.ctypes.data,
            inside=inside.ctypes.data,
            size=shape[::-1],
            offsets=offsets,
            connects_axis=(True, True, self.dimension == 3),
            alpha=self.alpha,
        )

    def voxels(self, part):
        return np.count_nonzero(self.levels[part])


def _merged(matrices):
    """The sum of matrices."""
    sums: dict[tuple[int, int], float] = {}
    for row, column, value in (element for matrix in matrices for element in matrix):
        sums[row, column] = sums.get((row, column), 0.0) + value
    return [(*place, value) for place, value in sorted(sums.items())]


def _merged_differences(matrices):
    """The sum of matrices of differences of tones, whose columns are numbers of voxels."""
    sums: dict[int, tuple[int, float]] = {}
    for level, voxels, difference in (element for matrix in matrices for element in matrix):
        before = sums.get(level, (0, 0.0))
        sums[level] = before[0] + voxels, before[1] + difference
    return [(level, *values) for level, values in sorted(sums.items())]


def _mean(rows):
    """The mean of dicts of values, without those of matrices that have no element."""
    rows = [row for row in rows if row]
    return {tag: float(np.mean([row[tag] for row in rows])) for tag in rows[0]} if rows else {}


def _features_of(family, matrix, voxels, levels):
    """Dict of the features of a matrix by tag; voxels is the number of voxels that it was counted from."""
    if not matrix:
        return {}
    if family == "cm":
        values = dict(zip(_COOCCURRENCE, _core.region_matrix_features("glcm", matrix, levels)))
        return {**values, **{tag: values[other] for tag, other in _SAME.items()}}
    if family == "ngt":
        return dict(zip(_TONE_DIFFERENCE, _core.region_matrix_features("ngtdm", matrix, levels)))
    name, tags = _BY_SIZE[family]
    values = dict(zip(tags.split(), _core.region_matrix_features(name, matrix, levels)))
    counts = np.array([value for _, _, value in matrix])
    values[next(tag for tag in values if tag.endswith("_perc"))] = float(counts.sum() / voxels)
    if family == "ngl":
        values["dc_energy"] = float(np.sum((counts / counts.sum()) ** 2))
    return values


def _texture(family, matrices, aggregation):
    """Dict of the features of a family, combined over directions and slices (IBSI, section 3.6.2 and 3.8.2)."""
    neighbors = _half_of_neighbors(matrices.dimension)
    features = lambda matrix, voxels: _features_of(family, matrix, voxels, matrices.count)
    if family in ("cm", "rlm"):
        name = "glcm" if family == "cm" else "glrlm"
        parts = [
            (matrices.voxels(part), [matrices.of_part(name, part, [offset]) for offset in neighbors])
            for part in matrices.parts
        ]
        total = sum(voxels for voxels, _ in parts)
        if aggregation in ("2D_avg", "3D_avg"):
            return _mean([features(matrix, voxels) for voxels, of_part in parts for matrix in of_part])
        if aggregation == "2D_comb":
            return _mean([features(_merged(of_part), voxels * len(neighbors)) for voxels, of_part in parts])
        if aggregation == "2_5D_avg":
            return _mean(
                [features(_merged(of_direction), total) for of_direction in zip(*(of_part for _, of_part in parts))]
            )
        return features(_merged([matrix for _, of_part in parts for matrix in of_part]), total * len(neighbors))
    name = "ngtdm" if family == "ngt" else _BY_SIZE[family][0]
    parts = [(matrices.voxels(part), matrices.of_part(name, part, neighbors)) for part in matrices.parts]
    if aggregation.startswith("2D"):
        return _mean([features(matrix, voxels) for voxels, matrix in parts])
    merge = _merged_differences if family == "ngt" else _merged
    return features(merge([matrix for _, matrix in parts]), sum(voxels for voxels, _ in parts))


# --- Intensities ------------------------------------------------------------------------------------------------------------


def _statistics(values):
    """Statistics of intensities, or of gray levels (IBSI, section 3.3 and 3.4)."""
    x = np.sort(np.asarray(values, np.float64))
    p10, p25, median, p75, p90 = np.percentile(x, [10, 25, 50, 75, 90])
    # The mean of equal values is not always the value, by rounding.
    mean = x.mean() if x[0] < x[-1] else x[0]
    deviation = x - mean
    variance = np.mean(deviation**2)
    robust = x[(x >= p10) & (x <= p90)]
    ratio = lambda a, b: float(a / b) if b != 0 else math.nan
    return {
        "mean": mean,
        "var": variance,
        "skew": float(np.mean(deviation**3) / variance**1.5) if variance > 0 else 0.0,
        "kurt": float(np.mean(deviation**4) / variance**2) - 3 if variance > 0 else 0.0,
        "median": median,
        "min": x[0],
        "p10": p10,
        "p90": p90,
        "max": x[-1],
        "iqr": p75 - p25,
        "range": x[-1] - x[0],
        "mad": np.mean(np.abs(deviation)),
        "rmad": np.mean(np.abs(robust - robust.mean())),
        "medad": np.mean(np.abs(x - median)),
        "cov": ratio(math.sqrt(variance), mean),
        "qcod": ratio(p75 - p25, p75 + p25),
        "energy": np.sum(x**2),
        "rms": math.sqrt(np.mean(x**2)),
    }


def _histogram(levels, count):
    values = _statistics(levels)
    del values["energy"], values["rms"]
    counts = np.bincount(levels, minlength=count + 1)[1:].astype(np.float64)
    p = counts[counts > 0] / counts.sum()
    most = np.flatnonzero(counts == counts.max()) + 1
    values["mode"] = most[np.argmin(np.abs(most - values["mean"]))]
    values["entropy"], values["uniformity"] = -np.sum(p * np.log2(p)), np.sum(p**2)
    gradient = np.gradient(counts) if count > 1 else np.zeros(1)
    for name, place in (("max", np.argmax(gradient)), ("min", np.argmin(gradient))):
        values[f"{name}_grad"], values[f"{name}_grad_g"] = gradient[place], place + 1
    return values


def _volume_histogram(values, steps):
    """Fractions of volume and intensity; steps are the intensities that the curve has a value at (IBSI, section 3.5)."""
    x = np.sort(values)
    volume = 1 - np.searchsorted(x, steps, "left") / len(x)
    intensity = (steps - steps[0]) / (steps[-1] - steps[0]) if len(steps) > 1 else np.zeros(1)
    at_intensity = lambda fraction: volume[np.argmax(intensity >= fraction)]
    at_volume = lambda fraction: steps[np.argmax(volume <= fraction)] if (volume <= fraction).any() else steps[-1]
    result = {"v10": at_intensity(0.1), "v90": at_intensity(0.9), "i10": at_volume(0.1), "i90": at_volume(0.9)}
    return {**result, "diff_v10_v90": result["v10"] - result["v90"], "diff_i10_i90": result["i10"] - result["i90"]}


def _local_peaks(image, inside, spacing):
    """Means of the intensities in the sphere of 1 cm³ around voxels (IBSI, section 3.2)."""
    radius = (3000 / (4 * math.pi)) ** (1 / 3)
    reach = [min(int(radius / step), n - 1) for step, n in zip(spacing, image.shape)]
    grid = np.meshgrid(*(np.arange(-n, n + 1) * step for n, step in zip(reach, spacing)), indexing="ij")
    ball = (sum(axis**2 for axis in grid) <= radius**2).astype(np.float64)
    places = np.argwhere(inside)
    low = np.maximum(places.min(axis=0) - reach, 0)
    high = np.minimum(places.max(axis=0) + reach + 1, image.shape)
    box = tuple(slice(a, b) for a, b in zip(low, high))
    signal = library("scipy.signal", "local intensity", package="scipy", extra="radiomics")
    is_finite = np.isfinite(image[box])
    sums = signal.fftconvolve(np.where(is_finite, image[box], 0.0), ball, mode="full")
    numbers = signal.fftconvolve(is_finite.astype(np.float64), ball, mode="full")
    middle = tuple(slice(n, n + size) for n, size in zip(reach, is_finite.shape))
    peaks, values = (sums[middle] / np.rint(numbers[middle]))[inside[box]], image[inside]
    return {"peak_loc": peaks[values == values.max()].max(), "peak_glob": peaks.max()}


# --- Morphology -------------------------------------------------------------------------------------------------------------


def _ellipsoid_area(axes):
    """Area of an ellipsoid with semi-axes in descending order, by Legendre polynomials up to degree 20 (IBSI, section 3.1.18)."""
    a, b, c = axes
    squares = 1 - (b / a) ** 2, 1 - (c / a) ** 2
    mean, product = sum(squares) / 2, squares[0] * squares[1]
    # Polynomials times a power of the product, which has no pole where two axes are equal.
    before, term, series = 0.0, 1.0, 1.0
    for degree in range(1, 21):
        before, term = term, ((2 * degree - 1) * mean * term - (degree - 1) * product * before) / degree
        series += term / (1 - 4 * degree**2)
    return 4 * math.pi * a * b * series


def _hull(inside, spacing):
    """Volume and area of the convex hull of the mesh, whose vertices are in the middle between voxels inside and outside."""
    padded = np.pad(inside, 1)
    points = []
    for axis in range(len(spacing)):
        at = np.argwhere(np.diff(padded.astype(np.int8), axis=axis)).astype(np.float64)
        at[:, axis] += 0.5
        points.append(at * np.asarray(spacing))
    hull = library("scipy.spatial", "the convex hull", package="scipy", extra="radiomics").ConvexHull(
        np.concatenate(points)
    )
    return hull.volume, hull.area


def _autocorrelation(image, inside, spacing):
    """Moran's I and Geary's C, with the inverse distances of all pairs as weights (IBSI, section 3.1.28 and 3.1.29)."""
    if np.ptp(image[inside]) == 0:
        return {"moran_i": math.nan, "geary_c": math.nan}
    shape = [2 * n - 1 for n in image.shape]
    distance = np.sqrt(
        sum(
            axis**2
            for axis in np.meshgrid(*(np.fft.fftfreq(n, 1 / n) * s for n, s in zip(shape, spacing)), indexing="ij")
        )
    )
    weights = np.divide(1.0, distance, out=np.zeros_like(distance), where=distance > 0)
    spectrum = np.fft.rfftn(weights)
    part, axes = tuple(slice(n) for n in image.shape), (0, 1, 2)
    around = lambda values: np.fft.irfftn(np.fft.rfftn(values, shape, axes) * spectrum, shape, axes)[part][inside]
    values = image[inside] - image[inside].mean()
    centered = np.where(inside, image - image[inside].mean(), 0.0)
    of_voxels, total = around(inside.astype(np.float64)), np.sum(values**2)
    weight, products = of_voxels.sum(), np.sum(values * around(centered))
    squares = 2 * (np.sum(of_voxels * values**2) - products)
    n = len(values)
    return {"moran_i": n / weight * products / total, "geary_c": (n - 1) / (2 * weight) * squares / total}


def _morphology(image, inside, intensities, spacing, threads):
    """Features of the shape of inside, and of the intensities of a part of it."""
    mask = np.ascontiguousarray(inside).view(np.uint8)
    names = ("MeshVolume", "SurfaceArea", "VoxelVolume", "Maximum3DDiameter")
    numbers = [_core.find_feature("shape", name) for name in names]
    [(*_, values)] = _regions.compute(mask, mask, [1], shapes={"shape": numbers}, sizes=spacing, threads=threads)
    volume, area, voxels, diameter = values
    places = np.argwhere(inside) * np.asarray(spacing)
    weights = image[intensities].astype(np.float64)
    center = places.mean(axis=0)
    weighted = (np.argwhere(intensities) * np.asarray(spacing) * weights[:, None]).sum(axis=0) / weights.sum()
    covariance = np.cov(places.T) if len(places) > 1 else np.zeros((3, 3))
    variances = np.maximum(np.sort(np.linalg.eigvalsh(covariance))[::-1], 0)
    axes = 2 * np.sqrt(variances)
    extent = (np.ptp(np.argwhere(inside), axis=0) + 1) * np.asarray(spacing)
    compactness = 36 * math.pi * volume**2 / area**3
    hull_volume, hull_area = _hull(inside, spacing)
    result = {
        "volume": volume,
        "vol_approx": voxels,
        "area_mesh": area,
        "av": area / volume,
        "comp_1": volume / (math.sqrt(math.pi) * area**1.5),
        "comp_2": compactness,
        "sph_dispr": compactness ** (-1 / 3),
        "sphericity": compactness ** (1 / 3),
        "asphericity": compactness ** (-1 / 3) - 1,
        "com": float(np.linalg.norm(center - weighted)),
        "diam": diameter,
        "pca_maj_axis": 2 * axes[0],
        "pca_min_axis": 2 * axes[1],
        "pca_least_axis": 2 * axes[2],
        "pca_elongation": axes[1] / axes[0],
        "pca_flatness": axes[2] / axes[0],
        "vol_dens_aabb": volume / np.prod(extent),
        "area_dens_aabb": area / (2 * (extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0])),
        "vol_dens_aee": volume / (4 / 3 * math.pi * np.prod(axes)),
        "area_dens_aee": area / _ellipsoid_area(axes),
        "vol_dens_conv_hull": volume / hull_volume,
        "area_dens_conv_hull": area / hull_area,
        "integ_int": weights.mean() * volume,
    }
    return {**result, **_autocorrelation(image, intensities, spacing)}


# --- The function -----------------------------------------------------------------------------------------------------------


def _levels_of(values, inside, lower, bin_width, bin_count):
    """Gray levels from 1 up of the voxels inside, and 0 elsewhere."""
    x = values[inside]
    if bin_width is not None:
        found = np.floor((x - lower) / bin_width) + 1
    elif bin_count is not None:
        extent = x.max() - x.min()
        found = (
            np.minimum(np.floor(bin_count * (x - x.min()) / extent) + 1, bin_count) if extent > 0 else np.ones(len(x))
        )
    else:
        if np.any(x != np.floor(x)) or x.min() < 1:
            raise ValueError(
                f"intensities from {x.min():g} to {x.max():g} are no gray levels, which are integers from 1 up: give bin_width or bin_count"
            )
        found = x
    if found.max() > 65535:
        raise ValueError(
            f"there are {found.max():.0f} gray levels, but at most 65535 are supported: use a larger bin_width"
        )
    levels = np.zeros(values.shape, np.uint16)
    levels[inside] = found
    return levels


def resegmented(values, inside, intensity_range=None, outlier_sigmas=None):
    """The voxels of a region with intensities in a range, and within so many standard deviations of their mean (IBSI, section 2.5)."""
    if intensity_range is not None:
        low, high = intensity_range
        inside = inside & (values >= low) & (values <= high)
    if outlier_sigmas is not None and inside.any():
        mean, deviation = values[inside].mean(), values[inside].std()
        inside = inside & (np.abs(values - mean) <= outlier_sigmas * deviation)
    return inside


def _choice(values, known, what):
    """The values in the order given. Raises ValueError for one that is not known."""
    if not isinstance(values, (str, list, tuple)):
        raise TypeError(f"{what} is {values!r}, but must be of {', '.join(known)}, or a list of them")
    values = [values] if isinstance(values, str) else list(values)
    for value in values:
        if not isinstance(value, str) or value not in known:
            raise ValueError(
                f"{what} has {value!r}, but must be of {', '.join(known)}{did_you_mean(str(value), known)}"
            )
    return values


def ibsi_features(
    image: Any,
    mask: Any,
    *,
    label: int | str | None = None,
    spacing: Any = None,
    intensity_range: tuple[float, float] | None = None,
    outlier_sigmas: float | None = None,
    bin_width: float | None = None,
    bin_count: int | None = None,
    volume_histogram_bin_width: float | None = None,
    volume_histogram_bin_count: int | None = None,
    aggregations: Any = None,
    families: Any = None,
    dependence_alpha: int = 0,
    threads: int | None = None,
) -> dict[str, float]:
    """Compute the features of a region as the Image Biomarker Standardisation Initiative (IBSI 1) defines them.

    region_features follows PyRadiomics, which deviates from IBSI's definitions of kurtosis, axis lengths and bins of a width, and lacks
    classes and some features of shape; a table of names is in the documentation of IBSI.

    Parameters
    ----------
    image : array, image or path
        Intensities of a volume, as in region_features. NaN is an absent voxel.
    mask : array, image or path
        The region, on the grid of the image; features of shape are those of all its voxels.
    label : int or str, optional
        Value of the region in the mask; of a DICOM segmentation or an RTSTRUCT, also its name. Default: all values that are not 0.
    spacing : list of float, optional
        Size of a voxel along z, y and x in mm. Default: that of the image, or 1.
    intensity_range : pair of float, optional
        Re-segmentation: only voxels with intensities from the first to the second value have intensities and gray levels. The first
        is the lower limit of the first bin of bin_width.
    outlier_sigmas : float, optional
        Re-segmentation: only voxels within so many standard deviations of the mean have intensities and gray levels, such as 3.
    bin_width, bin_count : float, int, optional
        Width of bins, or their number between the least and the greatest intensity. Default: intensities are gray levels.
    volume_histogram_bin_width, volume_histogram_bin_count : float, int, optional
        Bins of the intensity-volume histogram. Default: one per integer, or 1000 for intensities that are no integers or have a range
        above 2^20.
    aggregations : str or list of str, optional
        How directions and slices are combined (default: "3D_avg" and "3D_comb"): "2D_avg" and "2D_comb" are means over slices, of the
        features of directions or of their merged matrices; "2_5D_avg" and "2_5D_comb" merge slices, per direction or entirely; "3D_avg"
        and "3D_comb" are means over directions of the volume, or merge them.
    families : str or list of str, optional
        Some of morph, loc, stat, ih, ivh, cm, rlm, szm, dzm, ngt and ngl, the beginnings of IBSI's tags. Default: all.
    dependence_alpha : int, default 0
        Greatest difference of dependent gray levels in the family ngl.
    threads : int, optional
        Number of threads for shape. Default: one per processor.

    Returns
    -------
    dict of float
        Values by IBSI's tags, such as "stat_mean", "cm_contrast_3D_avg" and "szm_sze_2_5D". A feature that the region does not have is
        NaN, such as the flatness of one voxel, or missing if no slice has its matrix.

    Raises
    ------
    ValueError, TypeError
        If the image has no 3 axes, the region or what re-segmentation leaves of it is empty, or intensities are infinite or no gray
        levels.
    ImportError
        If SciPy is not installed, for the families morph and loc.

    See Also
    --------
    region_features : Features as PyRadiomics defines them, of all labels of a segmentation.

    References
    ----------
    Zwanenburg A, Leger S, Vallières M, Löck S. Image biomarker standardisation initiative. arXiv:1612.07003.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(1.0, 65.0).reshape(4, 4, 4)
    >>> values = voxelmaps.ibsi_features(image, np.ones((4, 4, 4), int), bin_count=8, families=["stat", "cm"], aggregations="3D_comb")
    >>> values["stat_mean"], round(values["cm_contrast_3D_comb"], 3)
    (32.5, 2.778)
    """
    aggregations = _choice(
        ("3D_avg", "3D_comb") if aggregations is None else aggregations, AGGREGATIONS, "aggregations"
    )
    families = _choice(FAMILIES if families is None else families, FAMILIES, "families")
    for name, value in (
        ("bin_width", bin_width),
        ("outlier_sigmas", outlier_sigmas),
        ("volume_histogram_bin_width", volume_histogram_bin_width),
    ):
        if value is not None:
            _parameters.positive(value, name)
    for name, count, least in (
        ("bin_count", bin_count, 1),
        ("volume_histogram_bin_count", volume_histogram_bin_count, 1),
        ("dependence_alpha", dependence_alpha, 0),
        ("threads", threads, 0),
    ):
        if count is not None:
            _parameters.count(count, name, least, 65535)
    if volume_histogram_bin_width is not None and volume_histogram_bin_count is not None:
        raise ValueError(
            "volume_histogram_bin_width and volume_histogram_bin_count are given, but only one of them can set the bins"
        )
    if bin_width is not None and bin_count is not None:
        raise ValueError(
            f"bin_width is {bin_width:g} and bin_count {bin_count:g}, but only one of them can set the gray levels"
        )
    opened, label = _image.opened(image, "image", dimension=3), label_of(mask, label)
    pixels = _arrays.pixels_of(_arrays.array_of(opened.image.array, "image"), "image")
    if len(pixels.shape) != 3:
        raise ValueError(f"image has {len(pixels.shape)} axes, but IBSI's features are those of volumes, which have 3")
    sizes = _parameters.sizes(spacing, 3, None if opened.image.spacing is None else opened.image.spacing[::-1])
    region = _masks.region(
        _arrays.array_like(opened.on_grid(mask, "mask", label), "mask", pixels, pixels.shape), label, image=pixels
    )
    values, inside = np.asarray(pixels.host(), np.float64), np.asarray(region.host()) != 0
    if np.isinf(values[inside]).any():
        raise ValueError(
            "image has infinite intensities in the region: replace them, or leave these voxels out of the mask"
        )
    if intensity_range is not None:
        rule = "two numbers, the lower one first"
        limits = _parameters.numbers(intensity_range, "intensity_range", rule)
        if len(limits) != 2 or not limits[0] < limits[1]:
            raise ValueError(f"intensity_range is {intensity_range!r}, but must be {rule}")
    used = resegmented(values, inside & ~np.isnan(values), intensity_range, outlier_sigmas)
    if not used.any():
        raise ValueError(
            f"none of the {np.count_nonzero(inside)} voxels of the region has an intensity that re-segmentation leaves"
        )
    return _computed(
        values,
        inside,
        used,
        sizes,
        intensity_range,
        (bin_width, bin_count),
        (volume_histogram_bin_width, volume_histogram_bin_count),
        aggregations,
        families,
        dependence_alpha,
        threads,
    )


def _computed(image, inside, used, sizes, limits, bins, volume_bins, aggregations, families, alpha, threads):
    intensities = image[used]
    found = intensities.min(), intensities.max()
    lower, upper = found if limits is None else (own if math.isinf(one) else one for one, own in zip(limits, found))
    result: dict[str, Any] = {}

    def add(family, values, suffix=""):
        result.update({f"{family}_{tag}{suffix}": float(value) for tag, value in values.items()})

    if "loc" in families:
        result.update({f"loc_{tag}": float(value) for tag, value in _local_peaks(image, used, sizes).items()})
    # Voxels beyond the region do not matter any more.
    box = tuple(slice(low, high + 1) for low, high in zip(*(f(np.argwhere(inside), axis=0) for f in (np.min, np.max))))
    image, inside, used = image[box], inside[box], used[box]
    if "morph" in families:
        # Quotients of zeros are undefined.
        with np.errstate(divide="ignore", invalid="ignore"):
            add(
                "morph", _morphology(np.where(used, image, 0.0), inside, used, sizes, 0 if threads is None else threads)
            )
    if "stat" in families:
        add("stat", _statistics(intensities))
    if set(families) <= {"morph", "loc", "stat"}:
        return result
    if "ivh" in families:
        width, count = volume_bins
        if width is None and count is None and (upper - lower > 2**20 or np.any(intensities != np.floor(intensities))):
            count = 1000
        if width is None and count is None:
            add("ivh", _volume_histogram(intensities, np.arange(lower, upper + 1)))
        else:
            found = _levels_of(image, used, lower, width, count)[used].astype(np.float64)
            last = count or math.floor((upper - lower) / width) + 1
            centers = np.arange(1.0, last + 1)
            to_intensity = (
                (lambda levels: lower + (levels - 0.5) * width) if width is not None else (lambda levels: levels)
            )
            add("ivh", _volume_histogram(to_intensity(found), to_intensity(centers)))
    levels = _levels_of(image, used, lower, *bins)
    if "ih" in families:
        add("ih", _histogram(levels[used], int(levels.max())))
    texture = [family for family in families if family not in ("morph", "loc", "stat", "ih", "ivh")]
    matrices = {
        dimension: _Matrices(levels, inside, dimension, alpha)
        for dimension in {AGGREGATIONS[each] for each in aggregations}
    }
    done: set[tuple[str, str]] = set()
    for aggregation in aggregations:
        for family in texture:
            suffix = aggregation if family in ("cm", "rlm") else aggregation.rpartition("_")[0]
            if (family, suffix) not in done:
                done.add((family, suffix))
                add(family, _texture(family, matrices[AGGREGATIONS[aggregation]], aggregation), f"_{suffix}")
    return result
