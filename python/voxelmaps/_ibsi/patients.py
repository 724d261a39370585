# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Phase 3 of IBSI 2: statistics of responses to filters in the CT, PET and MR of patients, and their agreement with those of teams."""

import csv
import math
import pathlib
from typing import NamedTuple

import numpy as np

from .benchmark import Row, prepared, values_of_phase_2
from .features import _statistics, ibsi_features, resegmented
from .response_maps import response_map
from .._files import library, paths
from .._image import difference_of_grids, load


class _Modality(NamedTuple):
    """Spacing in mm, range of intensities of re-segmentation, and whether intensities are integers."""

    spacing: float
    intensity_range: tuple
    is_rounded: bool


_MODALITIES = {
    "CT": _Modality(1.0, (-200, 200), True),
    "PET": _Modality(3.0, (0, math.inf), False),
    "MR_T1": _Modality(1.0, (0, math.inf), False),
}


class _Filter(NamedTuple):
    """Name and parameters of response_map, and how far it reaches in mm and in voxels; None for everywhere."""

    name: str
    reach: tuple | None
    parameters: dict


# By the number of the configuration.
_FILTERS = {
    1: _Filter("none", (0, 0), {}),
    2: _Filter("mean", (0, 1), {"size": 3}),
    3: _Filter("LoG", (12, 1), {"sigma": 3, "cutoff": 4}),
    4: _Filter("Laws", (0, 7), {"kernels": "S5E5L5", "pooling": "max", "energy_distance": 5}),
    5: _Filter("Gabor", (18, 1), {"sigma": 3, "wavelength": 3, "gamma": 1, "angle": -112.5}),
    6: _Filter("wavelet", (0, 9), {"wavelet_name": "coif3", "subband": "LHH", "pooling": "mean"}),
    7: _Filter("wavelet", (0, 27), {"wavelet_name": "coif3", "subband": "HHH", "level": 2, "pooling": "max"}),
    8: _Filter("Simoncelli", None, {"level": 1, "boundary": "periodic"}),
    9: _Filter("Simoncelli", None, {"level": 2, "boundary": "periodic"}),
}
# Those of the templates of IBSI, after the scan.
_COLUMNS = ("patient", "modality", "feature_tag", *(f"ID_{number}" for number in _FILTERS))
_TAGS = tuple(f"stat_{name}" for name in _statistics([1.0]))


def scans_of(folder):
    """Name of the patient, modality, and paths of image and mask of all scans in a copy of theibsi/data_sets."""
    place = pathlib.Path(folder) / "ibsi_validation" / "nifti"
    found = [
        (patient.name, modality, *(patient / f"{modality}_{each}.nii.gz" for each in ("image", "mask")))
        for patient in (sorted(place.iterdir()) if place.is_dir() else ())
        for modality in _MODALITIES
        if (patient / f"{modality}_mask.nii.gz").is_file()
    ]
    if not found:
        raise ValueError(
            f"{folder} has no patients in ibsi_validation/nifti: give a copy of github.com/theibsi/data_sets"
        )
    return found


def _around(mask, reach, spacing):
    """The box of a region and what a filter reaches around it."""
    if reach is None:
        return (slice(None),) * mask.ndim
    margin = math.ceil(reach[0] / spacing) + reach[1]
    return tuple(slice(max(0, at.min() - margin), at.max() + margin + 1) for at in np.nonzero(mask))


def _values(modality, image_path, mask_path):
    """The statistics of the responses of a scan, as an array of tags and filters."""
    one = _MODALITIES[modality]
    image, mask = load(image_path, "the image")[0], load(mask_path, "the mask")[0]
    difference = difference_of_grids(image, mask, f"the mask {mask_path}", f"the image {image_path}")
    if difference is not None:
        raise ValueError(difference)
    values, inside, _ = prepared(image, mask, (one.spacing, one.spacing), 3, one.is_rounded)
    used = resegmented(values, inside, one.intensity_range)
    if not used.any():
        raise ValueError(f"{mask_path} has no voxel with an intensity that re-segmentation leaves")
    columns = []
    for name, reach, parameters in _FILTERS.values():
        box = _around(used, reach, one.spacing)
        response = values[box]
        if name != "none":
            response = response_map(response, name, spacing=[one.spacing] * 3, **parameters)
        statistics = ibsi_features(response, used[box], families="stat")
        columns.append([statistics[tag] for tag in _TAGS])
    return np.transpose(columns)


def compute(scans, path, progress=None):
    """Statistics of scans, as scans_of returns them, as an array of scans, tags and filters, which is also written to a CSV file.

    progress    Called with the fraction that is computed.
    """
    lines, values = [",".join(_COLUMNS)], []
    for patient, modality, *files in scans:
        values.append(_values(modality, *files))
        lines += [",".join([patient, modality, tag, *map(repr, row)]) for tag, row in zip(_TAGS, values[-1].tolist())]
        if progress is not None:
            progress(len(values) / len(scans))
    paths.replace_texts({path: "\n".join(lines) + "\n"})
    return np.array(values)


# --- Agreement with the teams of IBSI ---------------------------------------------------------------------------------------

# Lower limit of the intraclass correlation that IBSI calls good.
_GOOD = 0.75
# Submissions that IBSI does not use, by team and modality, or number of a filter.
_EXCLUDED = {
    ("Qurit SERA", "CT"),
    ("Qurit SERA", 7),
    ("Veneto Institute of Oncology", 8),
    ("Veneto Institute of Oncology", 9),
}
_REMEDY = "give a copy of github.com/theibsi/ibsi_2_data_analysis"


def _agreement(raters):
    """Lower limit of the 95 % confidence interval of the intraclass correlation of lists of values by rater, for absolute agreement of
    single ratings by random raters, ICC(2,1) (McGraw KO, Wong SP. Psychological Methods 1996; 1(1): 30-46)."""
    quantile = library("scipy.stats", "phase 3 of IBSI 2", package="scipy", extra="radiomics").f.ppf
    x = np.transpose(raters)
    n, k = x.shape
    residual = x - x.mean(1, keepdims=True) - x.mean(0) + x.mean()
    of_rows, of_columns = k * x.mean(1).var() * n / (n - 1), n * x.mean(0).var() * k / (k - 1)
    error = (residual**2).sum() / ((n - 1) * (k - 1))
    if of_columns + error == 0:
        return 1.0
    icc = (of_rows - error) / (of_rows + (k - 1) * error + k / n * (of_columns - error))
    a, b = k * icc, n * (1 + (k - 1) * icc) - k * icc
    freedom = (a * of_columns + b * error) ** 2 / (
        (a * of_columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    )
    f = quantile(0.975, n - 1, freedom)
    return n * (of_rows - f * error) / (f * (k * of_columns + (k * n - k - n) * error) + n * of_rows)


def _numbers(cells):
    """Floats of cells, NaN for those that have none."""

    def number(cell):
        try:
            return float(cell)
        except ValueError:
            return math.nan

    return [number(cell) for cell in cells]


def _standardized(folder, reference):
    """Teams, numbers of filters and tags of values of phase 2 that are within IBSI's tolerances."""
    known = {
        (row["filter_id"], row["feature"]): (row["feature_tag"], *pair) for row, pair in values_of_phase_2(reference)
    }
    found = set()
    newest = max((folder / "results" / "phase_2").glob("*.csv"))
    with open(newest, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for name in ("Filter ID", "Metric Name", "Metric Category"):
            if name not in (reader.fieldnames or ()):
                raise ValueError(f"{newest} has no column {name!r}: {_REMEDY}")
        for row in reader:
            key = row.pop("Filter ID"), row.pop("Metric Name")
            tag, value, tolerance = known.get(key, ("", 0.0, -1.0))
            number, _, letter = key[0].partition(".")
            if row.pop("Metric Category") == "Statistics" and letter == "B":
                teams = [team for team, cell in row.items() if abs(_numbers([cell])[0] - value) <= tolerance]
                found.update((team, int(number), tag) for team in teams)
    if not found:
        raise ValueError(f"{newest} has no statistics within IBSI's tolerances: {_REMEDY}")
    return found


def _submission(path):
    """The values of a team for a scan, as an array of tags and filters; NaN for filters that it has not."""
    rows = [row for _, row in paths.csv_rows(path, f"the submission {path}")]
    try:
        columns = [rows[0].index(f"ID_{number}") for number in _FILTERS]
        by_tag = {row[rows[0].index("feature_tag")]: row for row in rows[1:]}
        values = np.array([_numbers([by_tag[tag][column] for column in columns]) for tag in _TAGS])
    except (ValueError, KeyError, IndexError) as error:
        raise ValueError(f"the submission {path} lacks the rows and columns of IBSI's templates: {error}") from None
    values[:, ~values.any(axis=0)] = math.nan
    return values


class Teams:
    """Submissions of the teams of IBSI for scans, as scans_of returns them.

    folder       Copy of github.com/theibsi/ibsi_2_data_analysis.
    reference    Copy of github.com/theibsi/ibsi_2_reference_data.
    """

    def __init__(self, folder, reference, scans):
        results = pathlib.Path(folder) / "results"
        places = sorted((results / "phase_3").iterdir()) if (results / "phase_3").is_dir() else []
        teams = [place for place in places if place.is_dir() and place.name[0] not in "._"]
        if not teams:
            raise ValueError(f"{folder} has no teams in results/phase_3: {_REMEDY}")
        if not list((results / "phase_2").glob("*.csv")):
            raise ValueError(f"{folder} has no tables in results/phase_2, of what teams submitted for the CT phantom")
        self._standardized = _standardized(pathlib.Path(folder), reference)
        # Numbers of the scans of a modality, and arrays of scans, tags and filters by team.
        self._submissions = {}
        for modality in dict.fromkeys(modality for _, modality, *_ in scans):
            numbers = [number for number, scan in enumerate(scans) if scan[1] == modality]
            if len(numbers) < 2:
                raise ValueError(f"--data has 1 scan of {modality}, but --teams needs at least 2 of each modality")
            files = [f"{scans[number][0]}_{modality}.csv" for number in numbers]
            used = [team for team in teams if (team.name, modality) not in _EXCLUDED]
            theirs = {team.name: np.array([_submission(team / name) for name in files]) for team in used}
            self._submissions[modality] = numbers, theirs

    def rows(self, values):
        """Rows of the features that the teams reproduce whose values of phase 2 are standardized: for how many of them the values that
        compute returns agree with the median of these teams."""
        for modality, (numbers, theirs) in self._submissions.items():
            for column, number in enumerate(_FILTERS):
                failures = []
                for row, tag in enumerate(_TAGS):
                    used = [
                        each[:, row, column]
                        for name, each in theirs.items()
                        if (name, number, tag) in self._standardized and (name, number) not in _EXCLUDED
                    ]
                    used = [each for each in used if np.isfinite(each).all()]
                    if len(used) < 3 or not _agreement(used) >= _GOOD:
                        continue
                    limit = _agreement([values[numbers, row, column], np.median(used, axis=0)])
                    text = f"{tag} has an intraclass correlation from {limit:.3f} with the median of {len(used)} teams"
                    failures.append([] if limit >= _GOOD else [text])
                name = f"{number}, {modality}"
                counts = len(failures), failures.count([])
                yield Row("IBSI 2, phase 3", _FILTERS[number].name, name, *counts, sum(failures, []))
