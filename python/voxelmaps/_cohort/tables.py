# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The table of the cases of a cohort, and the summary of their maps. Imports no NumPy."""

import csv
import io
import os
import pathlib
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from .._files import paths

PROVENANCE = "provenance.json"
STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")

_COLUMNS = ("image", "mask", "output")
_LABEL_FOLDER = "label-"
_MAX_BYTES = 2**26


class Case(NamedTuple):
    """A line of the table, or one label of it: paths as they were given, and where they are.

    labels    Labels of the line, "all" for those of the mask, or None for that of the settings.
    label     If it is one label.
    """

    given: Dict[str, str]
    image: pathlib.Path
    mask: pathlib.Path
    output: pathlib.Path
    labels: Union[None, str, Tuple[int, ...]] = None
    label: Optional[int] = None
    # Records of regions that earlier runs have computed.
    known: Tuple[Dict[str, Any], ...] = ()

    def has_several_labels(self):
        """Whether each label has a folder in the output, if there is one."""
        return self.labels == "all" or self.labels is not None and len(self.labels) > 1

    def parts(self, labels):
        """The labels of the line as cases."""
        if "output" not in self.given or not self.has_several_labels():
            return [self._replace(label=label) for label in labels or [None]]
        names = [f"{_LABEL_FOLDER}{label}" for label in labels]
        given = [{**self.given, "output": str(pathlib.Path(self.given["output"]) / name)} for name in names]
        return [
            self._replace(given=one, output=self.output / name, label=label)
            for one, name, label in zip(given, names, labels)
        ]

    def label_folders(self):
        """Folders of labels that an earlier run has written."""
        folders = self.output.glob(f"{_LABEL_FOLDER}*")
        return sorted(folder for folder in folders if folder.name[len(_LABEL_FOLDER) :].isdecimal())

    def remove_incomplete_files(self):
        """After a process that computed it was killed."""
        for folder in (self.output, *self.label_folders()):
            paths.remove_staging(folder)

    def title(self):
        """The text that names it in messages."""
        is_part = self.label is not None and self.has_several_labels()
        return f"{self.given['image']} label {self.label}" if is_part else self.given["image"]

    def name(self):
        """The name of the output folder, with the label if each label has a folder."""
        path = pathlib.Path(os.path.abspath(self.output))
        return f"{path.parent.name}-{path.name}" if self.label is not None and self.has_several_labels() else path.name

    def dataset(self):
        """The folder that the outputs of all cases share."""
        path = pathlib.Path(os.path.abspath(self.output))
        return path.parent.parent if self.label is not None and self.has_several_labels() else path.parent


def one_line(error):
    """An error as one line, without the layers that it came through."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # ITK's errors begin with a place in its sources.
    text = lines[-1] if lines and any("ITK ERROR" in line or ".cxx:" in line for line in lines) else " ".join(lines)
    known = (ValueError, TypeError, NotImplementedError, ImportError, OSError, RuntimeError)
    return text if text and isinstance(error, known) else f"{type(error).__name__}: {text}"


class Outcome(NamedTuple):
    """How a label of a case ended.

    maps        Statistics by map.
    kept        Number of maps that were reused.
    levels      Gray levels of the original image, of a check.
    error       Why it failed, in one line.
    """

    case: Case
    label: Any
    maps: Dict[str, Dict[str, Any]] = {}
    kept: int = 0
    mask_voxels: Optional[int] = None
    seconds: float = 0.0
    levels: int = 0
    error: Optional[str] = None
    # What the values of a region come from; maps has them.
    record: Optional[Dict[str, Any]] = None


def parse_labels(text):
    """Labels of a text such as 1,2; "all" for those of the mask. Raises ValueError."""
    if text.strip() == "all":
        return "all"
    # pandas writes integers with missing values as 1.0.
    labels = [re.sub(r"\.0*$", "", item.strip()) for item in text.split(",")]
    for label in labels:
        if not (label.isascii() and label.isdecimal() and 1 <= int(label[:20]) < 2**63):
            rule = "must be an integer from 1 up, several of them with commas, or all"
            raise ValueError(f"label is '{text.strip()[:100]}', but {rule}")
    numbers = tuple(map(int, labels))
    for number in numbers:
        if numbers.count(number) > 1:
            raise ValueError(f"label {number} is given twice")
    return numbers


def _rows(path):
    """Lines of a table that are not empty, with their numbers."""
    text = paths.read_text(path, f"the table {path}", _MAX_BYTES)
    first = next((line for line in text.splitlines() if line.strip()), "")
    # Spreadsheets write semicolons where the comma is part of numbers.
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise ValueError(f"the table {path} is not valid in line {reader.line_num}: {error}") from None


def read_cases(path, columns=_COLUMNS):
    """The cases of a table, and the names of unused columns. Relative paths begin at the folder of the table. The column label,
    which can be missing, has labels as parse_labels reads them; empty cells have that of the settings."""
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"the table {path} is empty; its first line must name the columns {', '.join(columns)}")
    (_, names), *rows = rows
    names = [name.lower() for name in names]
    for name in (*columns, "label"):
        if names.count(name) > 1 or name not in (*names, "label"):
            found = "is given twice" if name in names else "is missing"
            raise ValueError(f"the column {name} of the table {path} {found}; its columns are {', '.join(names)}")
    if not rows:
        raise ValueError(f"the table {path} has no case")
    folder = pathlib.Path(path).parent
    cases = []
    for number, row in rows:
        where = f"line {number} of the table {path}"
        if len(row) != len(names):
            raise ValueError(f"{where} has {len(row)} cells, but there are {len(names)} columns")
        cells = dict(zip(names, row))
        given = {name: cells[name] for name in columns}
        for name, value in given.items():
            if not value:
                raise ValueError(f"{where} has no {name}")
        try:
            labels = parse_labels(cells["label"]) if cells.get("label") else None
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        places = {"output": folder, **{name: folder / value for name, value in given.items()}}
        cases.append(Case(given, **places, labels=labels))
    # pandas writes its index as a column without a name.
    return cases, [name for name in names if name not in (*columns, "label", "", "unnamed: 0")]


def check_outputs(cases, names, read, files):
    """Raise ValueError if a file that is written would replace one that is read or written.

    names    Function of a case that returns the names of its files.
    read     Pairs of further files that are read, such as "the table", and their paths.
    files    Pairs of further files that are written, and their paths.
    """
    images = [(f"the {kind}", getattr(case, kind)) for case in cases for kind in ("image", "mask")]
    folders = []
    for case in cases:
        # Labels of the mask are unknown before it is read; those of an earlier run have folders.
        labels = [int(one.name[len(_LABEL_FOLDER) :]) for one in case.label_folders()] if case.labels == "all" else None
        parts = case.parts(case.labels if labels is None else labels)
        if case.has_several_labels():
            parts.insert(0, case)
        for part in parts:
            folders.append((f"the output {part.given['output']} of {part.given['image']}", part.output, names(part)))
    paths.check_outputs([*read, *images], folders, files)


# --- The summary -------------------------------------------------------------------------------------------------------


_SUMMARY_COLUMNS = (*_COLUMNS, "label", "map", *STATISTICS, "mask_voxels", "error")


def _label_text(label):
    """A label, or those of a case that failed as one, as parse_labels reads them."""
    return label if isinstance(label, (int, str)) else ",".join(map(str, label or ()))


def _summary_rows(outcome) -> List[list]:
    start = [*(outcome.case.given[name] for name in _COLUMNS), _label_text(outcome.label)]
    if outcome.error is not None:
        return [[*start, *[""] * (2 + len(STATISTICS)), outcome.error]]
    values = lambda entries: ["" if entries[name] is None else entries[name] for name in STATISTICS]
    return [[*start, key, *values(entries), outcome.mask_voxels, ""] for key, entries in outcome.maps.items()]


def _write_csv(path, rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    paths.replace_text(path, text.getvalue())


def write_summary(path, outcomes):
    """Write a line per map and case, and one per case that failed."""
    _write_csv(path, [_SUMMARY_COLUMNS, *(row for outcome in outcomes for row in _summary_rows(outcome))])


def write_regions(path, outcomes):
    """Write a row per region, with a column per value."""
    keys = list(dict.fromkeys(key for outcome in outcomes for key in outcome.maps))
    rows = [["image", "mask", "label", "voxels", *keys, "error"]]
    for one in outcomes:
        start = [one.case.given["image"], one.case.given["mask"], _label_text(one.label), one.mask_voxels]
        rows.append([*start, *(one.maps.get(key, "") for key in keys), one.error or ""])
    _write_csv(path, rows)
