# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The table of the cases of a cohort, and the summary of their maps. Imports no NumPy."""

import collections
import contextlib
import csv
import io
import json
import os
import pathlib
import re
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from .. import _outputs
from .._files import paths

_COLUMNS = ("image", "mask", "output")
# After those of a line, and of the table of the cases.
_SUMMARY_COLUMNS = ("map", *_outputs.STATISTICS, "mask_voxels", "error")
_REGION_COLUMNS = ("segment", "voxels", "error")
_VALUE = re.compile("_(shape|shape2d|firstorder|gl.{1,2}m|ngtdm)_")
_LABEL_FOLDER = "label-"
# What lines of records begin with.
_RECORD = '{"label": '


class Case(NamedTuple):
    """A line of the table, or one label of it: paths as they were given, and where they are.

    labels    Labels of the line, "all" for those of the mask, or None for that of the settings.
    label     If it is one label.
    columns   Cells of other columns, which rows of results have, too.
    known     Records of regions that earlier runs have computed.
    present   Labels that have values in the table of results.
    """

    given: Dict[str, str]
    image: pathlib.Path
    mask: pathlib.Path
    output: pathlib.Path
    labels: Union[None, str, Tuple[Union[int, str], ...]] = None
    label: Union[None, int, str] = None
    columns: Dict[str, str] = {}
    known: Tuple[Dict[str, Any], ...] = ()
    present: Tuple[str, ...] = ()

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
        # Names of structures may have any characters.
        names = [_LABEL_FOLDER + re.sub(r"[^\w.+-]", "_", str(label)) for label in labels]
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
        """The first columns of a row. A case that failed before its labels were known has all of them."""
        label = self.label if isinstance(self.label, (int, str)) else text_of_labels(self.label or ())
        return {**self.case.given, "label": label, **self.case.columns}


def text_of_labels(labels):
    """The text that parse_labels reads."""
    file = io.StringIO()
    csv.writer(file, lineterminator="").writerow(labels)
    return file.getvalue()


def parse_labels(text):
    """Labels of a text such as 1,2, or names of structures, which have a letter, and quotes if they have a comma; "all" for those of
    the mask. Raises ValueError."""
    if text.strip() == "all":
        return "all"
    try:
        items = next(csv.reader([" ".join(text.strip().splitlines())], skipinitialspace=True, strict=True)) or [""]
    except csv.Error:
        raise ValueError(
            f"label is '{text.strip()[:100]}', but a name that begins with a quote must end with one, and have two for each one inside"
        ) from None
    # pandas writes integers with missing values as 1.0.
    labels = [re.sub(r"\.0*$", "", item.strip()) for item in items]
    is_name = lambda label: any(map(str.isalpha, label))
    for label in labels:
        if not is_name(label) and not (label.isascii() and label.isdecimal() and 1 <= int(label[:20]) < 2**63):
            rule = "must be an integer from 1 up, or the name of a structure, several of them with commas, or all"
            raise ValueError(f"label is '{text.strip()[:100]}', but {rule}")
    found = tuple(label if is_name(label) else int(label) for label in labels)
    for label in found:
        if found.count(label) > 1:
            raise ValueError(f"label {label} is given twice")
    return found


def read_cases(path, columns=_COLUMNS):
    """The cases of a table, and the names of unused columns. Relative paths begin at the folder of the table. The column label,
    which can be missing, has labels as parse_labels reads them; empty cells have that of the settings."""
    rows = list(paths.csv_rows(path, f"the table {path}"))
    if not rows:
        raise ValueError(f"the table {path} is empty; its first line must name the columns {', '.join(columns)}")
    (_, given_names), *rows = rows
    names = [name.lower() for name in given_names]
    # pandas writes its index as a column without a name. What results have in columns of their own cannot be copied.
    own = _SUMMARY_COLUMNS if "output" in columns else _REGION_COLUMNS
    numbers = collections.Counter(names)
    is_own = lambda name: name in own or numbers[name] > 1 or _VALUE.search(name)
    others = [name for name in names if name not in (*columns, "label", "", "unnamed: 0")]
    wanted = set(others)
    copied = {name: given for name, given in zip(names, given_names) if name in wanted and not is_own(name)}
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
        cases.append(Case(given, **places, labels=labels, columns={copied[name]: cells[name] for name in copied}))
    return cases, [name for name in others if name not in copied]


def has_outputs(path):
    """Whether a table is one of maps, with folders for them."""
    _, names = next(paths.csv_rows(path, f"the table {path}"), (0, ["output"]))
    return "output" in map(str.lower, names)


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
    _outputs.check_inputs([*read, *images], folders, files)


def summary(path, cases, overwrite, is_default):
    """The table of statistics of maps."""
    first, copied = (*_COLUMNS, "label"), {name for case in cases for name in case.columns}
    table = _outputs.Table(
        "the summary", path, "csv", first, _SUMMARY_COLUMNS, ("output",), copied.__contains__, overwrite
    )
    # The same names of files in another folder are of other cases.
    folders = lambda case: (case.output, *case.output.glob(f"{_LABEL_FOLDER}*"))
    has_maps = lambda case: any((folder / paths.PROVENANCE).exists() for folder in folders(case))
    given = {} if is_default else {case.given["output"]: has_maps(case) for case in cases}
    for row in table.rows:
        if not row["error"] and not given.get(_outputs.line_of(row)[0], True):
            table.refuse(
                f"the summary {path} has rows of {row['output']}, but the folder has no maps of an earlier run"
            )
            break
    return table


def summary_rows(outcomes):
    """A row per map and case, and one per case that failed."""
    for one in outcomes:
        start = {**one.row(), "mask_voxels": one.mask_voxels, "error": one.error}
        for key, values in {"": {}}.items() if one.error else one.maps.items():
            yield {**start, "map": key, **{name: values.get(name) for name in _outputs.STATISTICS}}


class Regions:
    """The table of values of regions, and FILE.jsonl with the records of what its rows come from, which are written with each case.

    path    None for standard output, without records.
    """

    def __init__(self, path, file_format, cases, overwrite):
        self.records_path, self._records, columns = path and path.with_name(f"{path.name}.jsonl"), [], set()
        has_records = path is not None and self.records_path.exists()
        lines = self.records_path.read_text("utf-8", "replace").split("\n") if has_records else []
        first = next(filter(str.strip, lines), "")[: len(_RECORD)]
        if first != _RECORD[: len(first)] and not overwrite:
            raise _outputs.refusal(f"{self.records_path} is not of this command", "--overwrite")
        for line in lines:
            # A run that was killed has left a line incomplete.
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                record = json.loads(line)
                self._place(record), dict(record["origin"]), dict(record["values"]), record["label"], record["voxels"]
                record["key"] = tuple(record["key"])
                self._records.append(record)
                columns.update(record["columns"])
        columns.update(name for case in cases for name in case.columns)
        is_known = lambda name: name in (*columns, *_REGION_COLUMNS) or _VALUE.search(name.lower())
        first = ("image", "mask", "label")
        self.table = _outputs.Table("the output", path, file_format, first, ("error",), first, is_known, overwrite)

    @staticmethod
    def _place(record):
        return record["image"]["path"], record["mask"]["path"]

    def known(self, cases, origin):
        """The cases with the records and rows of earlier runs. Raises FileExistsError if rows have other settings, or were changed."""
        table, by_key, by_place, present, result = self.table, {}, {}, {}, []
        for record in self._records:
            by_key.setdefault(record["key"], []).append(record)
        self._records = [record for record in self._records if record["origin"] == origin]
        for row in table.rows:
            if not row.get("error"):
                key = table.key_of(row)
                same = [record for record in by_key.get(key, ()) if table.has(row, record["values"])]
                if not any(record["origin"] == origin for record in same):
                    other = same[-1]["origin"] if same else origin
                    names = [name for name in {**other, **origin} if other.get(name) != origin.get(name)]
                    found = f"of another {', '.join(names)}" if names else f"that {self.records_path} does not have"
                    table.refuse(f"the output {table.path} has rows {found}")
                    break
                present.setdefault(key[:2], []).append(key[2])
        for record in self._records:
            by_place.setdefault(self._place(record), []).append(record)
        for case in cases:
            known = by_place.get((str(case.image.absolute()), str(case.mask.absolute())), ())
            labels = present.get((case.given["image"], case.given["mask"]), ()) if table.rows else ()
            result.append(case._replace(known=tuple(known), present=tuple(labels)))
        return result

    def _record(self, one):
        columns = one.case.columns
        return {**one.record, "values": one.maps, "key": self.table.key_of(one.row()), "columns": list(columns)}

    def append(self, one):
        """Write the record of an outcome, so that a run that is killed keeps it."""
        if one.record is not None and not one.kept and self.records_path is not None:
            with paths.errors_named(self.records_path), open(self.records_path, "a", encoding="utf-8") as file:
                size = file.tell()
                try:
                    file.write(f"\n{json.dumps(self._record(one))}\n")
                    file.flush()
                except OSError:
                    file.truncate(size)
                    raise

    def write(self, outcomes, show):
        """Write the table, and the records of its rows."""
        rows = [{**one.row(), "voxels": one.mask_voxels, **one.maps, "error": one.error} for one in outcomes]
        new = [self._record(one) for one in outcomes if one.record is not None]
        every = {record["key"]: json.dumps(record) + "\n" for record in (*self._records, *new)}
        self.table.write(rows, show, {self.records_path: "".join(every.values())})
