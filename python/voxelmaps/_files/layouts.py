# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Formats and names of the files of maps. Imports no NumPy, so that the command starts at once."""

import json
import os
from typing import Dict, NamedTuple, Optional

from . import paths

FORMATS = ("nii.gz", "nii", "nrrd")


class Layout(NamedTuple):
    """The files of the maps of a case by key, relative to its folder.

    fill            Replaces values that are not finite, if it is a number.
    segmentation    The file of the region, if it is also written.
    """

    format: str
    files: Dict[str, str]
    fill: Optional[float] = None
    segmentation: Optional[str] = None

    def names(self):
        return [*self.files.values(), *filter(None, [self.segmentation])]


def layout(file_format, keys, channels=None, fill=0.0, case=None):
    """The layout of a case: one file per map, with its name; with the channels "nnunet" in a folder that all cases share."""
    if channels is None:
        return Layout(file_format, {key: f"{key}.{file_format}" for key in keys})
    dataset = os.path.relpath(case.dataset(), case.output)
    images, labels = (os.path.join(dataset, folder, case.name()) for folder in ("imagesTr", "labelsTr"))
    files = {key: f"{images}_{number:04}.{file_format}" for number, key in enumerate(keys)}
    return Layout(file_format, files, fill, f"{labels}.{file_format}")


def _dataset(folder):
    """The description of a folder of nnU-Net, or an empty one."""
    try:
        return dict(json.loads((folder / "dataset.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_dataset(folder, keys, file_format):
    """Write the description of a folder of nnU-Net. What users have added to it stays."""
    content = {
        "labels": {"background": 0, "region": 1},
        **_dataset(folder),
        "channel_names": dict(enumerate(keys)),
        "numTraining": len([name for name in os.listdir(folder / "labelsTr") if name.endswith(f".{file_format}")]),
        "file_ending": f".{file_format}",
    }
    paths.replace_texts({folder / "dataset.json": json.dumps(content, indent=2) + "\n"})


def check_dataset(folder, keys, names, file_format):
    """Raise ValueError if a folder of nnU-Net has cases of other names with other channels."""
    try:
        channels = list(_dataset(folder)["channel_names"].values())
        others = [name.removesuffix(f".{file_format}") for name in os.listdir(folder / "labelsTr")]
    except (OSError, LookupError, AttributeError):
        return
    others = [name for name in others if name.partition("-label-")[0] not in names]
    if others and channels != list(keys):
        found = f"{min(others)} with {', '.join(channels)}"
        raise ValueError(f"the dataset {folder} has cases with other channels, such as {found}: choose another folder")
