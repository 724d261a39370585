# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The table of the cases of a cohort, and the summary of their maps. Imports no NumPy."""

import csv
import io
import os
import pathlib
import re
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from .._files import paths

PROVENANCE = "provenance.json"
STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")

_COLUMNS = ("image", "mask", "output")
_SUMMARY_COLUMNS = (*_COLUMNS, "label", "map", *STATISTICS, "mask_voxels", "error")
_LABEL_FOLDER = "label-"


class Case(NamedTuple):
    """A line of the table, or one label of it: paths as they were given, and where they are.

    labels    Labels of the line, "all" for those of the mask, or None for that of the settings.
    label     If it is one label.
    known     Records of regions that earlier runs have computed.
    """

    given: Dict[str, str]
    image: pathlib.Path
    mask: pathlib.Path
    output: pathlib.Path
    labels: Union[None, str, Tuple[int, ...]] = None
    label: Optional[int] = None
    known: Tuple[Dict[str, Any], ...] = ()

    def has_several_labels(self):
        """Whether each label has a folder in the output, if there is one."""
        return self.labels == "all" or self.labels is not None and len(self.labels) > 1

    def is_part(self):
        """Whether it is one of several labels."""
        return self.label is not None and self.has_several_labels()

    def parts(self, labels):
        """The labels of the line as cases."""
        parts = [self._replace(label=label) for label in labels or [None]]
        if "output" not in self.given or not self.has_several_labels():
            return parts
        names = [f"{_LABEL_FOLDER}{label}" for label in labels]
        given = [{**self.given, "output": str(pathlib.Path(self.given["output"]) / name)} for name in names]
        return [part._replace(given=one, output=self.output / name) for part, one, name in zip(parts, given, names)]

    def remove_incomplete_files(self):
        """After a process that computed it was killed."""
        for folder in (self.output, *self.output.glob(f"{_LABEL_FOLDER}*")):
            paths.remove_staging(folder)

    def title(self):
        """The text that names it in messages."""
        return f"{self.given['image']} label {self.label}" if self.is_part() else self.given["image"]

    def name(self):
        """The name of the output folder, with the label if each label has a folder."""
        path = pathlib.Path(os.path.abspath(self.output))
        return f"{path.parent.name}-{path.name}" if self.is_part() else path.name

    def dataset(self):
        """The folder that the outputs of all cases share."""
        path = pathlib.Path(os.path.abspath(self.output))
        return path.parent.parent if self.is_part() else path.parent


class Outcome(NamedTuple):
    """How a label of a case ended.

    maps        Statistics by map; or the values of a region, and record what they come from.
    kept        Number of maps that were reused.
    levels      Gray levels of the original image, of a check.
    error       Why it failed, in one line.
    """

    case: Case
    label: Any
    maps: Dict[str, Any] = {}
    kept: int = 0
    mask_voxels: Optional[int] = None
    seconds: float = 0.0
    levels: int = 0
    error: Optional[str] = None
    record: Optional[Dict[str, Any]] = None

    def row(self):
        """The first columns of a row. A case that failed before its labels were known has them as parse_labels reads them."""
        label = self.label if isinstance(self.label, (int, str)) else ",".join(map(str, self.label or ()))
        return {**self.case.given, "label": label, "error": self.error}


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
    text = paths.read_text(path, f"the table {path}")
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
        places = {name: pathlib.Path(path).parent / given.get(name, "") for name in _COLUMNS}
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
        labels = case.labels
        if labels == "all":
            found = [folder.name.removeprefix(_LABEL_FOLDER) for folder in case.output.glob(f"{_LABEL_FOLDER}*")]
            labels = sorted(int(label) for label in found if label.isdecimal())
        for part in [case] * case.has_several_labels() + case.parts(labels):
            folders.append((f"the output {part.given['output']} of {part.given['image']}", part.output, names(part)))
    paths.check_outputs([*read, *images], folders, files)


def _write(path, columns, rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    paths.replace_text(path, text.getvalue())


def write_summary(path, outcomes):
    """Write a line per map and case, and one per case that failed."""
    rows = []
    for one in outcomes:
        start = {**one.row(), "mask_voxels": one.mask_voxels}
        rows += [start] if one.error else [{**values, **start, "map": key} for key, values in one.maps.items()]
    _write(path, _SUMMARY_COLUMNS, rows)


def write_regions(path, outcomes):
    """Write a row per region, with a column per value."""
    columns = ["image", "mask", "label", "voxels", *dict.fromkeys(key for one in outcomes for key in one.maps), "error"]
    _write(path, columns, ({**one.row(), "voxels": one.mask_voxels, **one.maps} for one in outcomes))
