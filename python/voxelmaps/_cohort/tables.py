# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The tables of the program TextureFeatureMaps: the cases of a cohort, and the summary of all maps."""

import csv
import functools
import io
import os
import pathlib
import re
from typing import Dict, NamedTuple, Optional, Tuple, Union

from .._files import paths

PROVENANCE = "provenance.json"

_COLUMNS = ("image", "mask", "output")

# Neighbors of a table that share an image and go to one shard.
_MAX_GROUP = 4

# Of the output of a case with several labels.
_LABEL_FOLDER = "label-"
_MAX_BYTES = 2**26
_MAX_BYTES_OF_SUMMARY = 2**32
STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")


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

    @property
    def has_all_labels(self):
        return self.labels == "all"

    def _has_folders(self):
        """Whether each label has a folder in the output."""
        return self.labels is not None and (self.has_all_labels or len(self.labels) > 1)

    def parts(self, labels=None):
        """The line, or its labels; those of the mask, if the line has all, are given."""
        labels = self.labels if labels is None else labels
        if labels is None or labels == "all":
            return [self]
        if not self._has_folders():
            return [self._replace(label=label) for label in labels]
        return [self._part(label) for label in labels]

    def _part(self, label):
        name = f"{_LABEL_FOLDER}{label}"
        given = {**self.given, "output": str(pathlib.Path(self.given["output"]) / name)}
        return self._replace(given=given, output=self.output / name, label=label)

    def folders_of_labels(self):
        """Folders of labels that an earlier run has left."""
        folders = self.output.glob(f"{_LABEL_FOLDER}*")
        return sorted(folder for folder in folders if folder.name[len(_LABEL_FOLDER) :].isdecimal() and folder.is_dir())

    def title(self):
        """The text that names it in lines of the program."""
        is_part = self.label is not None and self._has_folders()
        return f"{self.given['image']} label {self.label}" if is_part else self.given["image"]

    def name(self):
        """The name of the folder, with the label if it has folders of labels."""
        path = pathlib.Path(os.path.abspath(self.output))
        return f"{path.parent.name}-{path.name}" if self.label is not None and self._has_folders() else path.name


def parse_labels(text):
    """Labels of a text such as 1,2; "all" for those of the mask. Raises ValueError."""
    text = text.strip()
    if text == "all":
        return text
    labels = [item.strip() for item in text.split(",")]
    for label in labels:
        # As the setting label.
        if not (label.isascii() and label.isdecimal() and 1 <= int(label[:20]) < 2**63):
            rule = "must be an integer from 1 up, several of them with commas, or all"
            raise ValueError(f"label is '{text[:100]}', but {rule}")
    labels = tuple(map(int, labels))
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise ValueError(f"label {label} is given twice")
    return labels


def _rows(path, max_bytes=_MAX_BYTES):
    """Lines of a table that are not empty, with their numbers."""
    text = paths.read_text(path, f"the table {path}", max_bytes)
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
    """The cases of a table, and the names of columns that are not used. Relative paths begin at the folder of the table.
    The column label, which can be missing, has labels as parse_labels takes them; empty cells have that of the settings.
    """
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"the table {path} is empty; its first line must name the columns {', '.join(_COLUMNS)}")
    (_, names), *rows = rows
    names = [name.lower() for name in names]
    for name in _COLUMNS:
        if names.count(name) != 1:
            found = "is missing" if name not in names else "is given twice"
            raise ValueError(f"the column {name} of the table {path} {found}; its columns are {', '.join(names)}")
    if not rows:
        raise ValueError(f"the table {path} has no case")
    folder = pathlib.Path(path).parent
    if names.count("label") > 1:
        raise ValueError(f"the column label of the table {path} is given twice; its columns are {', '.join(names)}")
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
        labels = None
        if "label" in names and row[names.index("label")]:
            try:
                labels = parse_labels(row[names.index("label")])
            except ValueError as error:
                raise ValueError(f"line {number} of the table {path}: {error}") from None
        cases.append(Case(given, **{name: folder / value for name, value in given.items()}, labels=labels))
    return cases, [name for name in names if name not in (*_COLUMNS, "label")]


def check_outputs(cases, names, read, files):
    """Raise ValueError if a file that is written would replace one that is read or written.

    names    Names of the files that are written into the outputs, or function of a case that returns them.
    read     Pairs of further files that are read, such as "the table", and their paths.
    files    Pairs of further files that are written, and their paths.
    """
    images = [(f"the {kind}", path) for case in cases for kind, path in (("image", case.image), ("mask", case.mask))]
    names_of = names if callable(names) else lambda case: names
    what_of = lambda case: f"the output {case.given['output']} of {case.given['image']}"
    # Of these, the folders of labels are not known before the mask is read, but for those that are there.
    with_all = {paths.folded(case.output): case for case in cases if case.has_all_labels}
    folders = [(what_of(case), case.output, tuple) for case in with_all.values()]
    for case in cases:
        if case.has_all_labels:
            found = [int(folder.name[len(_LABEL_FOLDER) :]) for folder in case.folders_of_labels()]
            parts = case.parts(found)
        else:
            parts = case.parts()
        for part in parts:
            parent, name = os.path.split(paths.folded(part.output)) if with_all else ("", "")
            other = with_all.get(parent)
            if other not in (None, case) and name.startswith(_LABEL_FOLDER):
                raise ValueError(f"{what_of(part)} is in {what_of(other)}, which has folders of labels")
            folders.append((what_of(part), part.output, functools.partial(names_of, part)))
    paths.check_outputs([*read, *images], folders, (), files)


_SUMMARY_COLUMNS = (*_COLUMNS, "label", "map", *STATISTICS, "mask_voxels", "error")


def _rows_of_summary(case, outcome):
    start = [case.given[name] for name in _COLUMNS]
    if isinstance(outcome, Exception):
        label = case.label if case.label is not None else case.labels
        text = "" if label is None else label if isinstance(label, (str, int)) else ",".join(map(str, label))
        yield [*start, text, *[""] * (2 + len(STATISTICS)), str(outcome)]
        return
    for key, entries in outcome.maps.items():
        values = ["" if entries[name] is None else entries[name] for name in STATISTICS]
        yield [*start, outcome.label, key, *values, outcome.mask_voxels, ""]


def _wide(rows):
    """The columns and the rows of a summary with one row per case, from one with a row per map."""
    maps, cases = {}, {}
    for row in rows:
        start, (name, *values) = tuple(map(str, row[:4])), row[4:]
        own = cases.setdefault(start, {"mask_voxels": values[-2], "error": values[-1]})
        if name:
            maps[name] = None
            own.update(zip((f"{name}_{statistic}" for statistic in STATISTICS), values))
    columns = ["mask_voxels", "error", *(f"{name}_{statistic}" for name in maps for statistic in STATISTICS)]
    lines = [[*start, *(own.get(column, "") for column in columns)] for start, own in cases.items()]
    return [*_SUMMARY_COLUMNS[:4], *columns], lines


def _write_rows(path, rows, is_wide=False):
    columns, rows = _wide(rows) if is_wide else (_SUMMARY_COLUMNS, rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    paths.replace_text(path, text.getvalue())


def write_summary(path, outcomes, is_wide=False):
    """Write a line per map and case, and one per case that failed; or one per case, with columns of all maps.

    outcomes    Pairs of a case and its result, or its error.
    """
    _write_rows(path, [row for case, outcome in outcomes for row in _rows_of_summary(case, outcome)], is_wide)


# --- Shards ------------------------------------------------------------------------------------------------------------


class Shard(NamedTuple):
    """One of several runs that share a table."""

    number: int
    count: int

    def cases(self, cases):
        """The cases of the shard. Groups of neighbors that share an image, which one run reads once, are dealt to the shards in the
        order of the table. Lines that are added to the end of the table change nothing for those before."""
        chosen = []
        group, size, image = -1, 0, None
        for case in cases:
            if case.given["image"] != image or size == _MAX_GROUP:
                group, size, image = group + 1, 0, case.given["image"]
            size += 1
            if group % self.count == self.number - 1:
                chosen.append(case)
        return chosen

    def path(self, path):
        """A file of this shard beside those of others."""
        path = pathlib.Path(path)
        return path.with_name(f"{path.stem}-{self.number}-of-{self.count}{path.suffix}")


def parse_shard(text):
    """The shard of a text such as 1/4. Raises ValueError."""
    number, slash, count = text.partition("/")
    if slash and all(part.isascii() and part.isdecimal() and len(part) < 10 for part in (number, count)):
        shard = Shard(int(number), int(count))
        if 1 <= shard.number <= shard.count:
            return shard
    raise ValueError(f"shard is {text}, but must be I/N with I from 1 to N, such as 1/4")


def merge_summaries(path, cases, is_wide=False):
    """Write the summary of a table from those of its shards. Returns the number of shards, and that of cases without maps."""
    pattern = re.compile(re.escape(path.stem) + "-([1-9][0-9]*)-of-([1-9][0-9]*)" + re.escape(path.suffix))
    found = [match for match in map(pattern.fullmatch, os.listdir(path.parent)) if match]
    counts = sorted({int(match[2]) for match in found})
    if not counts:
        raise ValueError(f"there is no summary of a shard, such as {Shard(1, 2).path(path)}")
    if len(counts) > 1:
        raise ValueError(
            f"there are summaries of {counts[0]} and of {counts[1]} shards beside {path}; remove those of one run"
        )
    rows = {}
    for number in range(1, counts[0] + 1):
        of_shard = Shard(number, counts[0]).path(path)
        if not of_shard.is_file():
            raise ValueError(f"the summary {of_shard} of shard {number}/{counts[0]} is missing")
        (_, names), *lines = _rows(of_shard, _MAX_BYTES_OF_SUMMARY)
        if tuple(names) != _SUMMARY_COLUMNS:
            raise ValueError(f"{of_shard} is not a summary; its columns are {', '.join(names)[:200]}")
        for line, row in lines:
            if len(row) != len(names):
                raise ValueError(f"line {line} of {of_shard} has {len(row)} cells, but there are {len(names)} columns")
            rows.setdefault(tuple(row[:3]), []).append(row)

    def rows_of(case):
        # Of labels of the mask, only the summary knows the folders.
        given = case.given
        if case.has_all_labels:
            folder = str(pathlib.Path(given["output"]) / _LABEL_FOLDER)
            keys = [key for key in rows if key[:2] == (given["image"], given["mask"]) and key[2].startswith(folder)]
            keys.append(tuple(given[name] for name in _COLUMNS))
        else:
            keys = [tuple(part.given[name] for name in _COLUMNS) for part in case.parts()]
        of_case = [row for key in keys for row in rows.pop(key, [])]
        missing = ValueError("not computed: it is in no summary of a shard")
        return of_case or list(_rows_of_summary(case, missing))

    merged = [row for case in cases for row in rows_of(case)]
    if rows:
        raise ValueError(
            f"summaries of shards have cases that the table does not have, such as the output {next(iter(rows))[2]}"
        )
    _write_rows(path, merged, is_wide)
    return counts[0], sum(bool(row[-1]) for row in merged)
