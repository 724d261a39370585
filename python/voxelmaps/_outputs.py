# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The rules for all files that are written: an input is never replaced; what this program has not written for the same inputs and
settings is replaced only if the user asks for it; and files appear when all of them are complete. Imports no NumPy, so that the
command starts at once."""

import contextlib
import csv
import datetime
import filecmp
import hashlib
import io
import json
import math
import os
import pathlib
import re
import unicodedata

from ._files import headers, paths

# Values of the statistics of a map in the region.
STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")
# Endings of files that are not meant as folders.
ENDINGS = ".nii .gz .nrrd .mha .mhd .nhdr .hdr .img .dcm .tif .tiff .png .npy .npz .nc .csv .json .xlsx .txt".split()
_MOST_NAMES = 8


def jsonable(value):
    """The value as JSON stores it: lists, and texts for numbers that are not finite and for what JSON does not have."""
    default = lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
    return json.loads(json.dumps(value, default=default), parse_constant=lambda text: str(float(text)))


def refusal(what, option):
    """The error for what is not replaced unless the user asks for it with an option."""
    return FileExistsError(f"{what}: choose another output, or replace it with {option}")


def version():
    """The version of this package as a setting, which results depend on."""
    import voxelmaps

    return {"voxelmaps": getattr(voxelmaps, "__version__", None)}


# --- Inputs ------------------------------------------------------------------------------------------------------------


def state(path):
    """Size and time of a file, or None if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_mtime_ns]


def states(path):
    """Sizes and times of the files that reading an image opens, by their paths."""
    with contextlib.suppress(OSError, ValueError):
        files = headers.files_of_image(path)
        return {os.path.abspath(file): state(file) for file in files if os.path.isfile(file)}
    return {}


def digest(path):
    """SHA-256 of the files of an image."""
    result = hashlib.sha256()
    for name in states(path):
        with open(name, "rb") as file:
            result.update(hashlib.file_digest(file, "sha256").digest())
    return result.hexdigest()


def is_unchanged(value, entry):
    """Whether an input is that of an entry: by sizes and times of files, or else, as for a copy, by its content.

    value    A path, or an entry.
    """
    if isinstance(value, dict):
        files, sha256 = value["files"], value["sha256"]
        return bool(files) and files == entry["files"] or sha256 is not None and sha256 == entry["sha256"]
    found, before = states(value), entry["files"]
    if not found or found == before:
        return bool(found)
    has_sizes = [size for size, _ in found.values()] == [size for size, _ in before.values()]
    return has_sizes and digest(value) == entry["sha256"]


def _key(path):
    """The same for all names of a file: of one that is missing, also where capital letters or normal forms of Unicode are not
    distinguished."""
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except (OSError, ValueError):
        return unicodedata.normalize("NFC", os.path.realpath(path).casefold())


def check_inputs(read, folders=(), files=()):
    """Raise ValueError if a file that is written would replace one that is read or also written.

    read       Pairs of what is read, such as "the image", and its path, of a file or a folder; None for none.
    folders    Tuples of what is written, its folder, and the names of its files.
    files      Pairs of what is written, and its path.
    """
    inputs, parents = {}, set()
    for what, path in read:
        if path is None:
            continue
        if f"{os.sep}{paths.STAGING_PREFIX}" in os.path.realpath(path):
            raise ValueError(f"{what} {path} is in a folder for incomplete maps, which runs remove")
        every = [path]
        # What cannot be read is an error of its case alone.
        with contextlib.suppress(OSError, ValueError):
            every += headers.files_of_image(path)
        inputs.update((_key(file), f"{what} {path}") for file in every)
        parents.update(_key(os.path.dirname(os.path.abspath(file))) for file in every)
    outputs = {}

    def add(path, what, names=()):
        other, _ = outputs.setdefault(_key(path), (what, names))
        if other is not what:
            raise ValueError(f"{what} is also {other}")

    def check(path, what):
        if _key(path) in inputs:
            raise ValueError(f"{what} {path} would replace {inputs[_key(path)]}")

    for what, folder, names in folders:
        paths.utf8(os.fspath(folder), what)
        add(folder, what, names)
        suffix = pathlib.Path(folder).suffix.lower()
        if suffix in ENDINGS and not os.path.lexists(folder):
            name = os.path.basename(folder)
            raise ValueError(f"{what}: {name} has the ending {suffix} of a file, but must be a folder for maps")
        # Identifying all files of folders that do not exist would be slow for thousands of cases.
        places = {os.path.dirname(name): paths.place(folder, os.path.dirname(name)) for name in names}
        places = [name for name, place in places.items() if os.path.isdir(place) or _key(place) in parents]
        for name in names:
            if os.path.dirname(name) in places:
                check(paths.place(folder, name), "the file")
    for what, path in files:
        check(path, what)
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"{what} {path} is {'a folder' if os.path.isdir(path) else 'not a file'}")
        owner, names = outputs.get(_key(os.path.dirname(os.path.abspath(path))), ("", ()))
        if os.path.basename(path) in names:
            raise ValueError(f"{what} {path} is also a file of {owner}")
        add(path, f"{what} {path}")


# --- Files -------------------------------------------------------------------------------------------------------------


def check_file(path, option, staged=None):
    """Raise FileExistsError if a file exists, unless it is empty or equal to the one that would replace it."""
    is_equal = staged is not None and os.path.isfile(path) and filecmp.cmp(path, staged, shallow=False)
    if os.path.lexists(path) and not is_equal and (not os.path.isfile(path) or os.path.getsize(path)):
        raise refusal(f"{path} exists", option)


def read_record(folder):
    """The record of a folder of maps, or None if there is none. Raises ValueError if the file is not a record of this program."""
    path = os.path.join(folder, paths.PROVENANCE)
    if not os.path.isfile(path):
        return None
    try:
        record = json.loads(paths.read_text(path, path))
        for entry in record["maps"].values():
            pathlib.Path(entry["file"]), list(entry["state"])
        list(record.get("files", [])), list(record["keys"]), dict(record["settings"]), bool(record["complete"])
        {name: (entry["files"], entry["sha256"]) for name, entry in record["inputs"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        text = f"there is no {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not what voxelmaps writes: {text}") from None
    return record


class MapsFolder:
    """A folder of maps with its record, provenance.json, of this run and earlier ones.

    inputs       What maps are computed from, as is_unchanged has it, by name.
    settings     What else maps depend on. Of image_types, those that both runs have must be equal.
    overwrite    Whether what others, or other runs, have made is replaced, by what option it is.
    fixed_keys   Function of a record that returns the only keys which the folder can have; None if keys can be added.

    earlier      The record of an earlier run with the same inputs and settings, or None.
    problem      The error if there is something that is not replaced, or None.
    """

    def __init__(self, path, inputs, settings, overwrite=False, option="overwrite=True", fixed_keys=None):
        self.path, self.earlier, self.problem = pathlib.Path(path), None, None
        self._inputs, self._settings, self._overwrite, self._option = inputs, jsonable(settings), overwrite, option
        # Files of this program: all, and those of another run, which go when the maps of this one are complete.
        self._own, self._others = {}, []
        try:
            record = read_record(path)
        except ValueError as error:
            self._refuse(str(error))
            return
        if record is None:
            return
        entries = [*record["maps"].values(), *record.get("files", [])]
        self._own = {self._place(entry["file"]): entry["state"] for entry in entries}
        differences = self._differences(record)
        if not differences and fixed_keys is not None and record["keys"] != fixed_keys(record):
            differences = ["selection of features"]
        if not differences:
            self.earlier = record
            return
        names = ", ".join(differences[:_MOST_NAMES] + ["..."] * (len(differences) > _MOST_NAMES))
        self._refuse(f"the folder {self.path} has maps of another {names}")
        self._others = [self._place(entry["file"]) for entry in entries]

    def _refuse(self, text):
        if not self._overwrite and self.problem is None:
            self.problem = refusal(text, self._option)

    def _place(self, name):
        return paths.place(self.path, name)

    def _differences(self, record):
        """Names of what differs from an earlier run."""
        ours, theirs = dict(self._settings), dict(record["settings"])
        types, earlier = ours.pop("image_types", {}), theirs.pop("image_types", {})
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        every = {**record["inputs"], **self._inputs}
        for name in every:
            both = self._inputs.get(name), record["inputs"].get(name)
            if None in both or not is_unchanged(*both):
                is_in_memory = isinstance(both[0], dict) and not both[0]["files"] and not both[0]["sha256"]
                names.append(name + " (which was in memory, so that it cannot be compared)" * is_in_memory)
        return names + [f"imageType {name}" for name in types if name in earlier and earlier[name] != types[name]]

    def has(self, name, its_state):
        """Whether a file is as it was written."""
        return state(self._place(name)) == its_state

    def is_own(self, path):
        return path in self._own and state(path) == self._own[path]

    def check(self, names, staged=None):
        """Raise FileExistsError if files of these names would replace what is not replaced.

        staged    By path, complete files; those that are equal to what is there are no problem.
        """
        if self.problem is not None:
            raise self.problem
        for path in () if self._overwrite else map(self._place, names):
            if not self.is_own(path):
                check_file(path, self._option, staged and staged[path])

    def publish(self, folder, entries, content, program):
        """Give the complete files of a paths.Folder their names, together with the record. Without permission, nothing is replaced; but
        files that are already there with the same content are left as they are.

        entries    By key, the name of the file, and what else the record has of it.
        content    Content of the record.
        """
        staged = folder.files
        if self.problem is not None and set(self._own) == set(staged):
            if all(os.path.isfile(path) and filecmp.cmp(path, new, shallow=False) for path, new in staged.items()):
                return
        self.check([os.path.relpath(path, self.path) for path in staged], staged)
        before, settings = {}, self._settings
        if self.earlier is not None:
            kept = self.earlier["maps"].items()
            before = {key: one for key, one in kept if key not in entries and self.has(one["file"], one["state"])}
            if "image_types" in settings:
                settings = {
                    **settings,
                    "image_types": {**self.earlier["settings"]["image_types"], **settings["image_types"]},
                }
        state_of = lambda name: {"file": name, "state": state(staged[self._place(name)])}
        of_maps = {self._place(entry["file"]) for entry in entries.values()}
        files = [state_of(os.path.relpath(path, self.path)) for path in staged if path not in of_maps]
        record = {
            "program": program,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": False,
            "keys": list(entries),
            "inputs": self._inputs,
            "settings": settings,
            **content,
            "maps": {**before, **{key: {**entry, **state_of(entry["file"])} for key, entry in entries.items()}},
            **({"files": files} if files else {}),
        }
        text = lambda complete: json.dumps(jsonable({**record, "complete": complete}), indent=2) + "\n"
        place, complete = self.path / paths.PROVENANCE, pathlib.Path(folder.staging, paths.PROVENANCE)
        others = [path for path in self._others if path not in staged and self.is_own(path)]
        # All that is written is on the disk before the first file is replaced.
        with paths.errors_named(place):
            paths.replace_texts({complete: text(True)})
            paths.replace_texts({place: text(False)})
        folder.publish()
        for path in others:
            os.unlink(path)
        os.replace(complete, place)


# --- Tables ------------------------------------------------------------------------------------------------------------


def _shown(value):
    """A value of a row in JSON."""
    return None if value == "nan" or isinstance(value, float) and math.isnan(value) else value


def line_of(row):
    """What identifies the line of the table of cases that a row belongs to, whose labels may have been unknown: output, or image and
    mask."""
    return (re.sub(r"[/\\]label-\d+$", "", row["output"]),) if "output" in row else (row["image"], row["mask"])


class Table:
    """A table to which runs add rows, as CSV or JSON.

    what         It is, in errors.
    path         None for standard output.
    file_format  "csv" or "json".
    first, last  Names of columns that it has, around others.
    key          Names of the columns that identify a case.
    is_known     Function of the name of another column: whether this program may have written it.
    overwrite    Whether a table that this program has not written is replaced.

    rows         That it has; empty if it is replaced.
    """

    def __init__(self, what, path, file_format, first, last, key, is_known, overwrite):
        self.path, self.rows, self._first, self._last, self._key = path, [], list(first), list(last), key
        self._what, self._overwrite, self._is_replaced = what, overwrite, False
        self.format = file_format
        if path is None:
            return
        suffix = pathlib.Path(path).suffix.lower()
        if suffix != f".{file_format}":
            remedy = f", or give --format {suffix[1:]}" if suffix in (".csv", ".json") else ""
            raise ValueError(f"{what} {path} is a table of {file_format}: give it the ending .{file_format}{remedy}")
        if not os.path.exists(path) or not os.path.getsize(path):
            return
        try:
            rows = self._read()
            names = dict.fromkeys(name for row in rows for name in row)
            unknown = [name for name in names if name not in (*first, *last) and not is_known(name)]
            missing = [name for name in key if name not in names]
            if unknown or missing and rows:
                rule = (
                    f"the column {unknown[0]}, which this command does not know"
                    if unknown
                    else f"no column {missing[0]}"
                )
                raise ValueError(f"{what} {path} has {rule}")
            self.rows = rows
        except ValueError as error:
            self.refuse(str(error))

    def _read(self):
        what = f"{self._what} {self.path}"
        if self.format == "json":
            with contextlib.suppress(json.JSONDecodeError, RecursionError):
                rows = json.loads(paths.read_text(self.path, what))
                if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
                    return rows
            raise ValueError(f"{what} is not a list of rows in JSON")
        lines = [row for _, row in paths.csv_rows(self.path, what)]
        names = lines[0] if lines else []
        if len(set(names)) < len(names) or any(len(row) != len(names) for row in lines):
            raise ValueError(f"{what} has rows that do not fit its columns")
        return [dict(zip(names, row)) for row in lines[1:]]

    def refuse(self, text):
        """Raise FileExistsError, unless the table is replaced."""
        if not self._overwrite:
            raise refusal(text, "--overwrite")
        self.rows, self._is_replaced = [], True

    def has(self, row, values):
        """Whether a row has these values."""
        return all(str(row.get(name)) in (str(value), str(_shown(value))) for name, value in values.items())

    def key_of(self, row):
        return tuple(str(row.get(name) or "") for name in self._key)

    def write(self, rows, show, others=None):
        """Write the rows of a run after those of other cases. An error does not replace values.

        show      Function that writes a text to standard output.
        others    Texts of other files that are written, by their paths.
        """
        if self._is_replaced and all(row.get("error") for row in rows):
            return
        new, old = {}, {}
        for groups, every in ((new, rows), (old, self.rows)):
            for row in every:
                groups.setdefault(self.key_of(row), []).append(row)
        lines = {line_of(row) for row in rows}
        result = []
        for key, group in new.items():
            before = old.pop(key, [])
            result += before if before and group[0].get("error") and not before[0].get("error") else group
        before = [row for group in old.values() for row in group if not row.get("error") or line_of(row) not in lines]
        result = before + result
        named = dict.fromkeys(name for row in result for name in row)
        columns = [*self._first, *(name for name in named if name not in (*self._first, *self._last)), *self._last]
        if self.format == "json":
            text = json.dumps([{name: _shown(value) for name, value in row.items()} for row in result], indent=1) + "\n"
        else:
            file = io.StringIO(newline="")
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(result)
            text = file.getvalue()
        if self.path is None:
            show(text)
        else:
            paths.replace_texts({self.path: text, **(others or {})})
