# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""The tables of the program TextureFeatureMaps: the cases of a cohort, and the summary of all maps."""

import csv
import io
import pathlib
from typing import Dict, NamedTuple

from . import _output_files

PROVENANCE = "provenance.json"

_COLUMNS = ("image", "mask", "output")
_MAX_BYTES = 2**26
STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")


class Case(NamedTuple):
    """Paths as they were given, and where they are."""

    given: Dict[str, str]
    image: pathlib.Path
    mask: pathlib.Path
    output: pathlib.Path


def _rows(path):
    """Lines of a table that are not empty, with their numbers."""
    text = _output_files.read_text(path, f"the table {path}", _MAX_BYTES)
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


def read_cases(path):
    """The cases of a table, and the names of columns that are not used. Relative paths begin at the folder of the table."""
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"the table {path} is empty; its first line must name the columns {', '.join(_COLUMNS)}")
    (_, names), *rows = rows
    names = [name.lower() for name in names]
    for name in _COLUMNS:
        if names.count(name) != 1:
            found = "is missing" if name not in names else "is there twice"
            raise ValueError(f"the column {name} of the table {path} {found}; its columns are {', '.join(names)}")
    if not rows:
        raise ValueError(f"the table {path} has no case")
    folder = pathlib.Path(path).parent
    columns = {name: names.index(name) for name in _COLUMNS}
    cases = []
    for number, row in rows:
        if len(row) != len(names):
            raise ValueError(
                f"line {number} of the table {path} has {len(row)} cells, but there are {len(names)} columns"
            )
        given = {name: row[column] for name, column in columns.items()}
        for name, value in given.items():
            if not value:
                raise ValueError(f"line {number} of the table {path} has no {name}")
        cases.append(Case(given, **{name: folder / value for name, value in given.items()}))
    return cases, [name for name in names if name not in _COLUMNS]


def check_outputs(cases, names, read, files):
    """Raise ValueError if a file that is written would replace one that is read or written.

    names    Names of the files that are written into the outputs.
    read     Pairs of further files that are read, such as "the table", and their paths.
    files    Pairs of further files that are written, and their paths.
    """
    images = [(f"the {kind}", path) for case in cases for kind, path in (("image", case.image), ("mask", case.mask))]
    folders = [(f"the output {case.given['output']} of {case.given['image']}", case.output) for case in cases]
    _output_files.check_outputs([*read, *images], folders, names, files)


def write_summary(path, outcomes):
    """Write a line per map and case, and one per case that failed.

    outcomes    Pairs of a case and its result, or its error.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, "map", *STATISTICS, "mask_voxels", "error"])
    for case, outcome in outcomes:
        start = [case.given[name] for name in _COLUMNS]
        if isinstance(outcome, Exception):
            writer.writerow([*start, *[""] * (2 + len(STATISTICS)), str(outcome)])
            continue
        for key, entries in outcome.maps.items():
            values = ["" if entries[name] is None else entries[name] for name in STATISTICS]
            writer.writerow([*start, key, *values, outcome.mask_voxels, ""])
    _output_files.replace_text(path, text.getvalue())
