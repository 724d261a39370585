# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Formats and names of the files of maps. Imports no NumPy, so that the program starts at once."""

import contextlib
import json
import math
import os
import re

from . import paths

FORMATS = ("nii.gz", "nii", "nrrd", "zarr")


class Layout:
    """The files of the maps of a folder. This one has a file per map with the name of the map.

    keys    Names of all maps of the folder, in their order.
    """

    def __init__(self, file_format="nii.gz", keys=()):
        self.format = file_format
        self.keys = list(keys)

    def location(self, key):
        """The file of a map, or its folder in a store, relative to the folder."""
        return f"{key}.{self.format}"

    def names(self):
        """Of the files in the folder."""
        return [*(self.location(key) for key in self.keys), *self.further_names()]

    def further_names(self):
        """Of files that are written when all maps are there."""
        return []

    def arrange(self, folder, maps):
        """Make room for the maps. Raises ValueError if an earlier run has left some that do not go together with these.

        maps    Dict of what is known of the maps of an earlier run, which is brought up to date.
        """

    def begin(self, folder):
        """Called before maps are written."""

    def documents(self, volume, dtype, maps, staging):
        """Dict of the texts of these files by their names."""
        return {}


class NnunetLayout(Layout):
    """Channels of nnU-Net: CASE_0000.nii.gz, ..., and channels.json with what they are."""

    def __init__(self, file_format, keys, case):
        super().__init__(file_format, keys)
        self._case = case
        self._numbers = {key: number for number, key in enumerate(keys)}

    def location(self, key):
        return f"{self._case}_{self._numbers[key]:04}.{self.format}"

    def further_names(self):
        return ["channels.json"]

    def arrange(self, folder, maps):
        names = {self.location(key) for key in self.keys}
        for path in sorted(folder.path.iterdir()):
            rest = path.name[len(self._case) :] if path.name.startswith(self._case + "_") else ""
            if re.fullmatch(r"_[0-9]{4}[.](nii[.]gz|nrrd)", rest) and path.name not in names:
                raise ValueError(
                    f"{path} would be a channel for nnU-Net, but is not one of the {len(names)} maps that are computed; remove it"
                )
        for key in set(maps) - set(self.keys):
            del maps[key]

    def documents(self, volume, dtype, maps, staging):
        channels = {"channel_names": dict(enumerate(self.keys)), "file_ending": f".{self.format}"}
        return {"channels.json": json.dumps(channels, indent=2) + "\n"}


class ZarrLayout(Layout):
    """A store maps.zarr of OME-Zarr 0.5 with all maps in one array. Their folders appear in it class by class; it has metadata,
    without which it is no store, when all are there."""

    STORE = "maps.zarr"
    _METADATA = (f"{STORE}/0/zarr.json", f"{STORE}/zarr.json")

    def __init__(self, keys):
        super().__init__("zarr", keys)
        self._numbers = {key: number for number, key in enumerate(keys)}

    def location(self, key):
        return f"{self.STORE}/0/c/{self._numbers[key]}"

    def names(self):
        return self.further_names()

    def further_names(self):
        return list(self._METADATA)

    def arrange(self, folder, maps):
        there = {key: entries for key, entries in maps.items() if str(entries.get("file")).startswith(self.STORE + "/")}
        others = [key for key in there if key not in self._numbers]
        if others:
            raise ValueError(
                f"{folder.path / self.STORE} has {len(others)} other maps, such as {others[0]}; choose another "
                "output, or remove it"
            )
        channels = folder.path / self.STORE / "0" / "c"
        with paths.errors_named(channels):
            channels.mkdir(parents=True, exist_ok=True)
        in_place = all(entries["file"] == self.location(key) for key, entries in there.items())
        if in_place and {path.name for path in channels.iterdir()} <= {str(self._numbers[key]) for key in there}:
            return
        self.begin(folder)
        before = folder.staging / "before"
        before.mkdir()
        for path in list(channels.iterdir()):
            os.replace(path, before / path.name)
        for key, entries in there.items():
            with contextlib.suppress(FileNotFoundError):
                os.replace(before / os.path.basename(entries["file"]), folder.path / self.location(key))
            entries["file"] = self.location(key)

    def begin(self, folder):
        for name in reversed(self._METADATA):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(folder.path / name)

    def documents(self, volume, dtype, maps, staging):
        from . import writing

        path = staging / "metadata"
        writing.create_group(path, _attributes(volume, [(key, maps[key]) for key in self.keys]))
        writing.create_array(path / "0", (len(self.keys), *volume.array.shape), dtype)
        return {name: (path / name[len(self.STORE) + 1 :]).read_text() for name in self._METADATA}


def _attributes(volume, maps):
    """Metadata of OME-Zarr 0.5. It has no directions; an attribute of its own has ITK's geometry."""

    def channel(key, entries):
        first, last = (float(entries.get(name) or 0) for name in ("minimum", "maximum"))
        first, last = (first, last) if math.isfinite(first) and math.isfinite(last) else (0.0, 1.0)
        window = {"min": first, "max": last, "start": first, "end": last}
        return {"label": key, "color": "FFFFFF", "active": False, "window": window}

    transformations = [
        {"type": "scale", "scale": [1.0, *map(float, reversed(volume.spacing))]},
        {"type": "translation", "translation": [0.0, *map(float, reversed(volume.origin))]},
    ]
    space = [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"[-len(volume.size) :]]
    multiscale = {
        "name": "maps",
        "axes": [{"name": "c", "type": "channel"}, *space],
        "datasets": [{"path": "0", "coordinateTransformations": transformations}],
    }
    geometry = {name: list(getattr(volume, name)) for name in ("spacing", "origin", "direction")}
    return {
        "ome": {
            "version": "0.5",
            "multiscales": [multiscale],
            "omero": {"channels": [channel(*one) for one in maps]},
        },
        "voxelmaps": {"names": [key for key, _ in maps], **geometry},
    }


def layout(file_format, channels, keys, case):
    """The layout of a folder.

    channels    None, or "nnunet" for the names of nnU-Net, which begin with that of the case.
    """
    if file_format == "zarr":
        return ZarrLayout(keys)
    if channels and not case:
        raise ValueError("channels of nnU-Net begin with the name of the output folder, but this one has none")
    return NnunetLayout(file_format, keys, case) if channels else Layout(file_format, keys)


def images(file_format):
    """The layout of the filtered images, which have types of their own and are no part of a store."""
    return Layout("nii.gz" if file_format == "zarr" else file_format)


def check_format(file_format, channels):
    """Raise ValueError if there is no such format, and ImportError if it needs a package that is not installed."""
    if file_format not in FORMATS:
        raise ValueError(f"format is {file_format}, but must be one of {', '.join(FORMATS)}")
    if channels not in (None, "nnunet"):
        raise ValueError(f"channels is {channels}, but must be nnunet")
    if channels and file_format not in ("nii.gz", "nrrd"):
        raise ValueError(f"channels of nnU-Net are files of nii.gz or nrrd, not {file_format}")
    if file_format == "zarr":
        from . import writing

        writing.zarr_package()
