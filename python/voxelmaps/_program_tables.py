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
import os
import pathlib

from ._program_cases import Case

_COLUMNS = ("image", "mask", "output")
_STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")


def _rows(path):
    """Lines of a table that are not empty, with their numbers."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"the table {path} is not UTF-8: {error.reason} at byte {error.start}") from None
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
    cases = []
    for number, row in rows:
        if len(row) != len(names):
            raise ValueError(
                f"line {number} of the table {path} has {len(row)} cells, but there are {len(names)} columns"
            )
        given = {name: row[names.index(name)] for name in _COLUMNS}
        for name, value in given.items():
            if not value:
                raise ValueError(f"line {number} of the table {path} has no {name}")
        cases.append(Case(given, **{name: folder / value for name, value in given.items()}))
    return cases, [name for name in names if name not in _COLUMNS]


def check_cases(cases, names, others):
    """Raise ValueError if two cases have the same output, or if an output is an input.

    names     Names of the files that are written into the outputs.
    others    Other files that are read or written, by what they are.
    """
    outputs = {}
    for case in cases:
        real = os.path.realpath(case.output)
        if real in outputs:
            raise ValueError(
                f"the output {case.given['output']} of {case.given['image']} is also that of {outputs[real].given['image']}"
            )
        outputs[real] = case
    inputs = [
        (f"the {kind} {path}", path) for case in cases for kind, path in (("image", case.image), ("mask", case.mask))
    ]
    for what, path in inputs + [(f"{kind} {path}", path) for kind, path in others.items()]:
        folder, name = os.path.split(os.path.realpath(path))
        if folder in outputs and name in names:
            raise ValueError(f"{what} would be replaced by an output")
    for kind, path in others.items():
        if os.path.isdir(path):
            raise ValueError(f"{kind} {path} is a folder")
        for what, source in inputs:
            if os.path.realpath(path) == os.path.realpath(source):
                raise ValueError(f"{kind} {path} is also {what}")


def write_summary(path, outcomes):
    """Write a line per map and case, and one per case that failed.

    outcomes    Pairs of a case and its result, or the text of its error.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, "map", *_STATISTICS, "mask_voxels", "error"])
    for case, outcome in outcomes:
        start = [case.given[name] for name in _COLUMNS]
        if isinstance(outcome, str):
            writer.writerow([*start, *[""] * (2 + len(_STATISTICS)), outcome])
            continue
        for key, entries in outcome.maps.items():
            values = ["" if entries[name] is None else entries[name] for name in _STATISTICS]
            writer.writerow([*start, key, *values, outcome.mask_voxels, ""])
    path = pathlib.Path(path)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        staged.write_text(text.getvalue(), encoding="utf-8", newline="")
        os.replace(staged, path)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
