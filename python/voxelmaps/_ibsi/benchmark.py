# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Comparison with the reference values of IBSI 1 and 2, of the phantoms in the package and of IBSI's public repositories."""

import csv
import functools
import math
import pathlib
from typing import Any, NamedTuple

import numpy as np

from .response_maps import BOUNDARIES, response_map
from .features import FAMILIES, ibsi_features, resegmented
from .._image import Image, load
from .._resample import resample

_HERE = pathlib.Path(__file__).parent
_PHANTOMS = _HERE / "phantoms"
_SLICES, _VOLUME = ("2D_avg", "2D_comb", "2_5D_avg", "2_5D_comb"), ("3D_avg", "3D_comb")
_NAMES = dict(zip(FAMILIES, (
    "morphology", "local intensity", "statistics", "intensity histogram", "intensity-volume histogram", "co-occurrence",
    "run length", "size zone", "distance zone", "tone difference", "neighboring dependence",
)))  # fmt: skip


class Row(NamedTuple):
    """How many values of a class agree with IBSI's; failures are sentences."""

    standard: str
    name: str
    configuration: str
    values: int
    within: int
    failures: list


class _Configuration(NamedTuple):
    """How IBSI 1 prepares the CT phantom: spacing along x and y, and along z, in mm, order of the spline, and ibsi_features."""

    spacing: tuple
    order: int
    parameters: dict
    aggregations: tuple


_CONFIGURATIONS = {
    "A": _Configuration((None, None), 0, {"intensity_range": (-500, 400), "bin_width": 25}, _SLICES),
    "B": _Configuration((2, None), 1, {"intensity_range": (-500, 400), "bin_count": 32}, _SLICES),
    "C": _Configuration(
        (2, 2), 1, {"intensity_range": (-1000, 400), "bin_width": 25, "volume_histogram_bin_width": 2.5}, _VOLUME
    ),
    "D": _Configuration((2, 2), 1, {"outlier_sigmas": 3, "bin_count": 32}, _VOLUME),
    "E": _Configuration(
        (2, 2),
        3,
        {"intensity_range": (-1000, 400), "outlier_sigmas": 3, "bin_count": 32, "volume_histogram_bin_count": 1000},
        _VOLUME,
    ),
}


def _is_within(value, reference, tolerance):
    """Whether a value is within the tolerance when it has as many digits as IBSI's table, three or those of a count."""
    digits = max(3, len(f"{reference:.0f}".lstrip("-").rstrip("0")))
    return math.isfinite(value) and abs(float(f"{value:.{digits}g}") - reference) <= tolerance + 1e-9 * abs(reference)


def _compared(standard, configuration, references, values, name_of):
    """Rows by class of the references, a dict of pairs of value and tolerance by tag."""
    groups: dict[str, list] = {}
    for tag, (reference, tolerance) in references.items():
        value = values.get(tag, math.nan)
        failure = (
            []
            if _is_within(value, reference, tolerance)
            else [f"{tag} is {value:.4g}, not {reference:g} ± {tolerance:g}"]
        )
        groups.setdefault(name_of(tag), []).append(failure)
    for name, failures in groups.items():
        yield Row(standard, name, configuration, len(failures), failures.count([]), sum(failures, []))


# --- IBSI 1 -----------------------------------------------------------------------------------------------------------------


@functools.cache
def _references():
    """Dict of dicts of pairs of reference and tolerance by tag, by configuration, with a consensus of at least "moderate"."""
    tables: dict[str, dict] = {}
    with open(_HERE / "reference_values.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name, cell in row.items():
                if name != "tag" and cell:
                    tables.setdefault(name, {})[row["tag"]] = tuple(map(float, cell.split()))
    return tables


def _resampled(image, spacing, order):
    """The array of an Image on a grid with the same center, and the spacing along x, y and z."""
    size = [math.ceil(n * old / new) for n, old, new in zip(image.array.shape[::-1], image.spacing, spacing)]
    center = np.array(image.point([(n - 1) / 2 for n in image.array.shape[::-1]]))
    matrix = np.reshape(image.direction, (3, 3))
    origin = center - matrix @ (np.array(spacing) * (np.array(size) - 1) / 2)
    grid = Image(np.zeros(size[::-1], np.uint8), tuple(spacing), tuple(origin), image.direction)
    volume = image.with_array(image.array.astype(np.float64))
    # No center of a voxel is more than half a voxel outside.
    return resample(volume, like=grid, interpolation="linear" if order == 1 else "bspline").array


def prepared(image, mask, spacing, order, is_rounded=True):
    """Arrays of the intensities of an Image and of the region of another, and the spacing along x, y and z.

    spacing    New spacing along x and y, and along z; None for that of the image.
    """
    new = [old if one is None else float(one) for old, one in zip(image.spacing, (spacing[0], *spacing))]
    intensities, region = image.array, mask.array
    if spacing[0] is not None:
        intensities, region = _resampled(image, new, order), _resampled(mask, new, 1)
    return np.rint(intensities) if is_rounded else intensities, region >= 0.5, new


def _diagnostics(image, mask, used, spacing, stage):
    """What IBSI 1 reports of an image and its masks; arrays have the axes z, y, x, and the spacing those of x, y, z."""
    values = {}
    if stage != "reseg":
        for axis, n, step in zip("xyz", image.shape[::-1], spacing):
            values[f"img_dim_{axis}_{stage}_img"], values[f"vox_dim_{axis}_{stage}_img"] = n, step
        for name, function in (("mean", np.mean), ("min", np.min), ("max", np.max)):
            values[f"{name}_int_{stage}_img"] = function(image)
    for name, region in (("int", used), ("morph", mask)):
        extent = np.ptp(np.argwhere(region), axis=0) + 1
        for axis, n, in_box in zip("xyz", image.shape[::-1], extent[::-1]):
            values[f"int_mask_dim_{axis}_{stage}_roi"] = n
            values[f"{name}_mask_bb_dim_{axis}_{stage}_roi"] = in_box
        values[f"{name}_mask_vox_count_{stage}_roi"] = np.count_nonzero(region)
    for name, function in (("mean", np.mean), ("min", np.min), ("max", np.max)):
        values[f"int_mask_{name}_int_{stage}_roi"] = function(image[used])
    return values


class _CtPhantom:
    """The CT phantom of IBSI, in a copy of theibsi/data_sets."""

    def __init__(self, folder):
        place = pathlib.Path(folder) / "ibsi_1_ct_radiomics_phantom" / "nifti"
        if not place.is_dir():
            raise ValueError(
                f"{folder} has no folder ibsi_1_ct_radiomics_phantom/nifti: give a copy of github.com/theibsi/data_sets"
            )
        self.image, self.mask = (
            load(place / each / f"{name}.nii.gz", f"the {each} of the CT phantom")[0]
            for each, name in (("image", "phantom"), ("mask", "mask"))
        )

    def rows(self):
        first, region = self.image.array, self.mask.array >= 0.5
        for name, one in _CONFIGURATIONS.items():
            image, mask, spacing = prepared(self.image, self.mask, one.spacing, one.order)
            values = _diagnostics(first, region, region, self.image.spacing, "init")
            values.update(_diagnostics(image, mask, mask, spacing, "interp"))
            values.update(
                _diagnostics(
                    image,
                    mask,
                    resegmented(image, mask, *map(one.parameters.get, ("intensity_range", "outlier_sigmas"))),
                    spacing,
                    "reseg",
                )
            )
            values.update(
                ibsi_features(image, mask, spacing=spacing[::-1], aggregations=one.aggregations, **one.parameters)
            )
            yield from _compared("IBSI 1", f"CT phantom, {name}", _references()[name], values, _family)


def _family(tag):
    return "image and mask" if tag.endswith(("_img", "_roi")) else _NAMES[tag.partition("_")[0]]


def _phantom_rows():
    image, mask = (load(_PHANTOMS / f"{name}.nii.gz", "the phantom")[0] for name in ("phantom", "mask"))
    values = ibsi_features(image.array, mask.array, spacing=image.spacing[::-1], aggregations=(*_SLICES, *_VOLUME))
    yield from _compared("IBSI 1", "digital phantom", _references()["phantom"], values, _family)


# --- IBSI 2 -----------------------------------------------------------------------------------------------------------------


def _filtered(name, **parameters):
    kind = "Riesz" if "riesz_order" in parameters else name
    return kind, functools.partial(response_map, filter=name, **parameters)


_LOG: dict[str, Any] = {"sigma": 1.5, "boundary": "zero"}
_POOLED: tuple[dict[str, Any], ...] = ({}, {"pooling": "max"}, {"pooling": "max", "energy_distance": 7})
# Response maps of phase 1, by their names: phantom, class and function. Lengths are in voxels.
_MAPS = {
    **{
        f"1_a_{i}": ("checkerboard", *_filtered("mean", size=15, boundary=boundary))
        for i, boundary in enumerate(BOUNDARIES, 1)
    },
    "1_b_1": ("impulse", *_filtered("mean", size=15, boundary="zero", dimension=2)),
    "2_a": ("impulse", *_filtered("LoG", **_LOG)),
    "2_b": ("checkerboard", *_filtered("LoG", sigma=2.5)),
    "2_c": ("checkerboard", *_filtered("LoG", sigma=2.5, dimension=2)),
    **{
        f"3_{letter}_{i}": (
            phantom,
            *_filtered("Laws", kernels=names, boundary=boundary, dimension=len(names) // 2, **pooled),
        )
        for letter, phantom, names, boundary in (
            ("a", "impulse", "E5L5S5", "zero"),
            ("b", "checkerboard", "E3W5R5", "mirror"),
            ("c", "checkerboard", "L5S5", "mirror"),
        )
        for i, pooled in enumerate(_POOLED, 1)
    },
    "4_a_1": ("impulse", *_filtered("Gabor", sigma=5, wavelength=2, gamma=0.5, angle=60, boundary="zero")),
    "4_a_2": ("impulse", *_filtered("Gabor", sigma=5, wavelength=2, gamma=0.5, angle_step=45, boundary="zero")),
    "4_b_1": ("sphere", *_filtered("Gabor", sigma=10, wavelength=4, gamma=2.5, angle=225)),
    "4_b_2": ("sphere", *_filtered("Gabor", sigma=10, wavelength=4, gamma=2.5, angle_step=22.5)),
    **{
        f"{name}_{i}": (
            phantom,
            *_filtered("wavelet", wavelet_name=wavelet, subband=subband, boundary=boundary, pooling=pooling),
        )
        for name, phantom, wavelet, subband, boundary in (
            ("5_a", "impulse", "db2", "LHL", "zero"),
            ("6_a", "sphere", "coif1", "HHL", "periodic"),
        )
        for i, pooling in ((1, None), (2, "mean"))
    },
    **{
        f"7_a_{i}": (
            "checkerboard",
            *_filtered("wavelet", wavelet_name="haar", subband=subband, level=2, pooling="mean"),
        )
        for i, subband in ((1, "LLL"), (2, "HHH"))
    },
    **{
        f"8_a_{level}": ("checkerboard", *_filtered("Simoncelli", level=level, boundary="periodic"))
        for level in (1, 2, 3)
    },
    "9_a": ("impulse", *_filtered("LoG", riesz_order=[1, 0, 0], **_LOG)),
    "9_b_1": ("sphere", *_filtered("LoG", riesz_order=[0, 2, 0], **_LOG)),
    "10_b_1": ("pattern_1", *_filtered("Simoncelli", boundary="nearest", riesz_order=[0, 2, 0])),
}


def _map_rows(reference):
    """Phase 1: every voxel is to be within 1 % of the range of the reference map, of which the package has some voxels."""
    samples = np.load(_PHANTOMS / "response_maps.npz")
    groups: dict[str, list] = {}
    for name, (phantom, kind, function) in _MAPS.items():
        volume, _ = load(_PHANTOMS / f"{phantom}.nii.gz", "the phantom")
        response = function(np.asarray(volume.array, np.float64))
        if reference is None:
            values, extent = samples[f"{name}_values"], float(samples[f"{name}_range"])
            response = response.ravel()[samples[f"{name}_voxels"]]
        else:
            path = pathlib.Path(reference) / "reference_response_maps" / f"{name}-ValidCRM.nii"
            values = np.asarray(load(path, "the response map")[0].array, np.float64)
            extent = float(np.ptp(values))
        error = float(np.max(np.abs(response - values)) / extent)
        groups.setdefault(kind, []).append([] if error <= 0.01 else [f"{name} differs by {error:.2%} of the range"])
    voxels = "256 voxels of each map" if reference is None else "maps"
    for kind, failures in groups.items():
        yield Row("IBSI 2, phase 1", kind, voxels, len(failures), failures.count([]), sum(failures, []))


# Filters of phase 2, by the number of the configuration: class, and parameters for volumes.
_FILTERS = {
    1: ("none", {}),
    2: ("mean", {"size": 5}),
    3: ("LoG", {"sigma": 1.5}),
    4: ("Laws", {"kernels": "L5E5E5", "pooling": "max", "energy_distance": 7}),
    5: ("Gabor", {"sigma": 5, "wavelength": 2, "gamma": 1.5, "angle_step": 22.5}),
    6: ("wavelet", {"wavelet_name": "db3", "subband": "LLH", "pooling": "mean"}),
    7: ("wavelet", {"wavelet_name": "db3", "subband": "HHH", "level": 2, "pooling": "mean"}),
    8: ("Simoncelli", {"level": 1, "boundary": "periodic"}),
    9: ("Simoncelli", {"level": 2, "boundary": "periodic"}),
}
# What differs in planes.
_PLANAR = {4: {"kernels": "L5E5"}, 6: {"subband": "LH"}, 7: {"subband": "HH"}}
# Voxels that other filters than those by transforms reach.
_REACH = 60


def values_of_phase_2(reference):
    """Rows of the reference values of phase 2 that have a consensus, with pairs of value and tolerance."""
    path = pathlib.Path(reference) / "reference_feature_values" / "reference_values.csv"
    with open(path, encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            if row["consensus_value"]:
                yield row, (float(row["consensus_value"]), float(row["tolerance"] or 0))


def _value_rows(phantom, reference):
    """Phase 2: statistics of the responses to filters in the CT phantom."""
    references: dict[str, dict] = {}
    for row, pair in values_of_phase_2(reference):
        references.setdefault(row["filter_id"], {})[row["feature_tag"]] = pair
    for letter, dimension, spacing in (("A", 2, (None, None)), ("B", 3, (1, 1))):
        image, mask, steps = prepared(phantom.image, phantom.mask, spacing, 3)
        used = resegmented(image, mask, (-1000, 400))
        near = tuple(slice(max(0, at.min() - _REACH), at.max() + _REACH + 1) for at in np.nonzero(mask))
        for number, (name, parameters) in _FILTERS.items():
            box = (slice(None),) * 3 if name == "Simoncelli" else near
            response = image[box]
            if number > 1:
                planar = _PLANAR.get(number, {}) if dimension == 2 else {}
                response = response_map(
                    response, name, dimension=dimension, spacing=steps[::-1], **{**parameters, **planar}
                )
            values = ibsi_features(response, used[box], families="stat")
            configuration = f"{number}.{letter}"
            yield from _compared("IBSI 2, phase 2", configuration, references[configuration], values, lambda tag: name)


def rows(data=None, reference=None):
    """Rows of the comparison.

    data         Folder with a copy of github.com/theibsi/data_sets, for the CT phantom.
    reference    Folder with a copy of github.com/theibsi/ibsi_2_reference_data, for complete response maps and for phase 2.
    """
    if reference is not None and not (pathlib.Path(reference) / "reference_response_maps").is_dir():
        remedy = "give a copy of github.com/theibsi/ibsi_2_reference_data"
        raise ValueError(f"{reference} has no folder reference_response_maps: {remedy}")
    phantom = None if data is None else _CtPhantom(data)
    yield from _phantom_rows()
    if phantom is not None:
        yield from phantom.rows()
    yield from _map_rows(reference)
    if phantom is not None and reference is not None:
        yield from _value_rows(phantom, reference)


def table(found, what="within tolerance"):
    """Lines of the table in Markdown, and the failures."""
    lines = [f"| standard | class | configuration | values | {what} |", "|---|---|---|---:|---:|"]
    totals: dict[str, list] = {}
    failures = []
    for row in found:
        lines.append(f"| {row.standard} | {row.name} | {row.configuration} | {row.values} | {row.within} |")
        total = totals.setdefault(row.standard, [0, 0])
        total[0], total[1] = total[0] + row.values, total[1] + row.within
        failures += [f"{row.configuration}: {failure}" for failure in row.failures]
    lines += [f"| {standard} | all | | {values} | {within} |" for standard, (values, within) in totals.items()]
    return lines, failures
