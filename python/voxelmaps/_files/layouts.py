# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Formats and names of the files of maps. Imports no NumPy, so that the command starts at once."""

import json
import os

from . import paths

FORMATS = ("nii.gz", "nii", "nrrd")


class Layout:
    """The files of the maps of a case: one per map, with the name of the map.

    keys    Names of the maps, in their order.
    """

    # Replaces values that are not finite, if it is a number.
    fill = None
    # The file of the region, if it is also written.
    segmentation = None

    def __init__(self, file_format, keys):
        self.format, self.keys = file_format, list(keys)

    def location(self, key):
        """The file of a map, or of an image that is also written, relative to the folder of the case."""
        return f"{key}.{self.format}"

    def names(self):
        return [*map(self.location, self.keys), *filter(None, [self.segmentation])]


class NnunetLayout(Layout):
    """Channels of a case of nnU-Net, in a folder that all cases share."""

    def __init__(self, file_format, keys, case, fill):
        super().__init__(file_format, keys)
        self.fill = fill
        self._name, self._dataset = case.name(), os.path.relpath(case.dataset(), case.output)
        self.segmentation = os.path.join(self._dataset, "labelsTr", f"{self._name}.{file_format}")

    def location(self, key):
        number = self.keys.index(key)
        return os.path.join(self._dataset, "imagesTr", f"{self._name}_{number:04}.{self.format}")


def layout(file_format, channels, fill, keys, case):
    """The layout of a case. channels is "nnunet" or None."""
    return NnunetLayout(file_format, keys, case, fill) if channels else Layout(file_format, keys)


def write_dataset(folder, keys, file_format):
    """Write the description of a folder of nnU-Net."""
    content = {
        "channel_names": dict(enumerate(keys)),
        "labels": {"background": 0, "region": 1},
        "numTraining": len([name for name in os.listdir(folder / "labelsTr") if name.endswith(f".{file_format}")]),
        "file_ending": f".{file_format}",
    }
    paths.replace_text(folder / "dataset.json", json.dumps(content, indent=2) + "\n")


def check_dataset(folder, keys, names, file_format):
    """Raise ValueError if a folder of nnU-Net has cases of other names with other channels."""
    try:
        channels = list(json.loads((folder / "dataset.json").read_text("utf-8"))["channel_names"].values())
        others = [name.removesuffix(f".{file_format}") for name in os.listdir(folder / "labelsTr")]
    except (OSError, ValueError, LookupError, AttributeError):
        return
    others = [name for name in others if name.partition("-label-")[0] not in names]
    if others and channels != list(keys):
        raise ValueError(
            f"the dataset {folder} has cases with other channels, such as {min(others)} with {', '.join(channels)}: choose another folder"
        )
