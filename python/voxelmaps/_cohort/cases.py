# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""One case of a cohort: from image and mask to maps, their statistics, and where they come from."""

import functools
import json
import logging
import os
import pathlib
import platform
import time
from typing import Any

import numpy as np

from .. import _arrays, _image, _masks, _outputs, radiomics
from .._files import dicom, layouts, paths, writing
from .._parameters import listed
from .._progress import shown
from ..radiomics import _filters, _preparation, _settings
from .tables import Outcome, text_of_labels

_logger = logging.getLogger(__name__)

# Images of which no file is a DICOM segmentation.
_NO_DICOM = (".nii", ".nii.gz", ".hdr", ".img", ".nrrd", ".nhdr", ".mha", ".mhd", ".png")


@functools.lru_cache(1)
def parameters_of(task):
    """The checked parameters of a task; reading them is slow compared with finished cases."""
    parameters = _settings.read(task.params, json.loads(task.settings), voxel_based=task.file_format != "regions")
    if not parameters.classes:
        raise ValueError("no feature is chosen; see --classes and --features")
    _filters.check_libraries(parameters.image_types)
    return parameters


# --- Input -------------------------------------------------------------------------------------------------------------


# The last image and the last mask, which cases often share.
_last: dict[str, Any] = {}


def load(path, what, grid=None, segment=None, image=None, suv=None):
    """The volume of a file or folder, and the entry that describes it.

    grid, segment, image
           The image, the label, and the path of the image of a mask that is a DICOM segmentation or an RTSTRUCT.
    suv    Kind of SUV of a PET series, or None.
    """
    is_placed = grid is not None and not os.fspath(path).lower().endswith(_NO_DICOM)
    states, last = _outputs.states(path), _last.pop(what, None)
    key = states, (grid.size, grid[1:], segment, image) if is_placed else None, suv
    if last is None or last[0] != key:
        last = None
        origin = {}
        options = {"grid": grid, "segment": segment, "image": image, "suv": suv, "origin_of_suv": origin}
        volume = _image.load(path, f"the {what}", **options)[0]
        entry = {"path": str(path.absolute()), "files": states, "sha256": _outputs.digest(path)}
        if _outputs.states(path) != states:
            raise ValueError(f"the {what} {path} was written while it was read")
        entry.update(size=volume.size, spacing=volume.spacing, type=str(volume.array.dtype), **origin)
        last = key, volume, entry
    _last[what] = last
    return last[1:]


def number_of(case, parameters):
    """The number of the label of a case, which may be given by its name."""
    label = case.label or parameters.settings["label"]
    try:
        return dicom.label_of(case.mask, label)
    except ValueError as error:
        for name in dicom.segment_names(case.mask).values() if isinstance(label, str) else ():
            if "," in name and label in map(str.strip, name.split(",")):
                quoted = text_of_labels([name])
                raise ValueError(f"{error}; in the command, quote a name that contains a comma: '{quoted}'") from None
        raise


def _labels_in(task, case):
    """The labels of a mask."""
    volume, settings = load(case.image, "image", suv=task.suv)[0], parameters_of(task).settings
    try:
        mask = _preparation.scalar_mask(load(case.mask, "mask", volume, None, case.image)[0], settings).array
    except dicom.OverlappingSegments as error:
        return error.segments
    image = _arrays.array_of(volume.array, "the image")
    mask = _arrays.array_of(mask, "the mask")
    labels, _ = _masks.label_map(mask, "all", f"the mask {case.mask}", image, "the image")
    return [int(value) for value in np.unique(labels.array) if value != 0]


def note_other_labels(mask, label, case):
    """Log the labels of a mask that are left out, if no label was named."""
    if case.labels is None and mask.array.dtype.kind in "iu":
        others = np.unique(mask.array[(mask.array != 0) & (mask.array != label)])
        if len(others):
            names = listed([*others[:20], "..."] if len(others) > 20 else others)
            _logger.warning(
                "the label is %s, as none is named; the mask also has %s: --label all computes each", label, names
            )


def outcomes(task, case, compute):
    """The outcomes of the labels of a line of the table, of which compute(task, part) returns one; or that of the line, if it cannot
    be computed."""
    writing.Threads.number = task.threads
    found = []
    try:
        for what in ("image", "mask"):
            if not getattr(case, what).exists():
                raise FileNotFoundError(f"the {what} {getattr(case, what)} does not exist")
        labels = _labels_in(task, case) if case.labels == "all" else case.labels
        for part in case.parts(labels):
            start = time.monotonic()
            try:
                outcome = compute(task, part)
            except Exception as error:
                label = part.label or parameters_of(task).settings["label"]
                outcome = Outcome(part, label, error=paths.one_line(error))
            found.append(outcome._replace(seconds=time.monotonic() - start))
    except Exception as error:
        found.append(Outcome(case, case.labels, error=paths.one_line(error)))
    return found


# --- Maps --------------------------------------------------------------------------------------------------------------


class _Run:
    """The maps of a case, and those of earlier runs. A case is finished if the record has the same settings and inputs, and its maps
    are there."""

    def __init__(self, task, case):
        self.task, self.case, self.parameters = task, case, parameters_of(task)
        self.settings = {**self.parameters.settings, "label": number_of(case, self.parameters)}
        files = {"format": task.file_format, "channels": task.channels, "fill": task.fill if task.channels else None}
        others = {"label": self.settings["label"], **({} if task.suv is None else {"suv": task.suv})}
        settings = self.parameters.origin_of_maps(task.precision, **files, **others)
        inputs = {"image": case.image, "mask": case.mask}
        # Channels of nnU-Net have numbers.
        fixed = self._expected if task.channels is not None else None
        self.folder = _outputs.MapsFolder(case.output, inputs, settings, task.overwrite, "--overwrite", fixed)
        if self.folder.problem is not None:
            raise self.folder.problem

    def _keys(self, dimension, skipped):
        """The keys of the maps of an image. skipped has names of images that are too small."""
        names = [name for name in self.parameters.image_names(dimension) if name not in skipped]
        return [key for name in names for key in self.parameters.all_keys(name)]

    def _layout(self, keys):
        return layouts.layout(self.task.file_format, keys, self.task.channels, self.task.fill, self.case)

    def _outcome(self, maps, voxels, **others):
        return Outcome(self.case, self.settings["label"], maps, mask_voxels=voxels, **others)

    def _expected(self, record):
        """The keys of this run, by the dimension and the skipped images of an earlier one."""
        return self._keys(len(record["inputs"]["image"]["size"]), record["skipped_images"])

    def finished(self):
        """The outcome, if an earlier run of the command has finished the case, as sizes and times of files show; or None."""
        earlier = self.folder.earlier
        if earlier is None or not earlier["complete"] or "region_voxels" not in earlier:
            return None
        keys, entries = self._expected(earlier), earlier["maps"]
        names = ("file", "state", *_outputs.STATISTICS)
        if any(key not in entries or not set(names) <= set(entries[key]) for key in keys):
            return None
        needed = [*(entries[key] for key in keys), *earlier.get("files", [])]
        if not all(self.folder.has(entry["file"], entry["state"]) for entry in needed):
            return None
        return self._outcome({key: entries[key] for key in keys}, earlier["region_voxels"], kept=len(keys))

    def compute(self):
        """Compute the maps, or check what would be computed."""
        image, of_image = load(self.case.image, "image", suv=self.task.suv)
        mask, of_mask = load(self.case.mask, "mask", image, self.settings["label"], self.case.image)
        prepared = _preparation.prepare(image, mask, self.settings, False)
        radiomics.check_classes(prepared.image, self.parameters)
        skipped = {
            name
            for image_type in self.parameters.image_types
            for name in _filters.skipped(prepared, image_type, self.parameters.settings_of(image_type))
        }
        keys, voxels = self._keys(prepared.image.array.ndim, skipped), int(np.count_nonzero(prepared.roi.array))
        self.folder.check(self._layout(keys).names())
        if self.task.is_dry_run:
            paths.check_writable(self.case.output)
            return self._outcome(dict.fromkeys(keys), voxels, levels=levels_of(prepared, self.parameters, self.task))
        content = {
            "software": {"NumPy": np.__version__, **_filters.installed("nibabel", "SimpleITK")},
            "device": None,
            "inputs": {"image": of_image, "mask": of_mask},
            "region_voxels": voxels,
            "segment": dicom.segment_names(self.case.mask).get(self.settings["label"]),
            "skipped_images": sorted(skipped),
            "diagnostics": prepared.diagnostics,
        }
        return self._outcome(self._write(prepared, keys, content), voxels)

    def _write(self, prepared, keys, content):
        """Write the maps and the record. Returns the entries of the maps."""
        inside, output, layout = prepared.roi.array, self.case.output, self._layout(keys)
        content["device"] = f"CPU: {platform.machine()}, {writing.number_of_threads()} threads"
        paths.remove_staging(output)
        with paths.output_folder(output) as folder:
            with (
                shown(None, radiomics.voxels_of_jobs(prepared, self.parameters), "maps"),
                writing.Writer(prepared.image, radiomics.dtype_of(self.task.precision), folder, layout) as writer,
            ):
                for image_name, image, settings in radiomics.images_of(prepared, self.parameters):
                    maps = radiomics.Maps(image, prepared.roi, settings, self.task.precision, image_name)
                    content["device"] = maps.device or content["device"]
                    for name, by_feature in self.parameters.keys(image_name).items():
                        writer.write(maps, name, by_feature, inside)
            if layout.segmentation:
                path = pathlib.Path(paths.place(output, layout.segmentation))
                writing.write_image(prepared.roi.with_array(inside.view(np.uint8)), path, folder)
            entries = {key: {"file": layout.files[key], **_outputs.jsonable(writer.statistics[key])} for key in keys}
            self.folder.publish(folder, entries, content, "voxelmaps maps")
        return entries


def levels_of(prepared, parameters, task):
    """The number of gray levels of the original image, or 0 if nothing is computed from it."""
    if "Original" not in parameters.image_types:
        return 0
    settings = parameters.settings_of("Original")
    maps = radiomics.Maps(prepared.image, prepared.roi, settings, task.precision)
    return maps.levels(parameters.classes)


def outcome(task, case):
    """Compute or check the maps of one label."""
    run = _Run(task, case)
    finished = run.finished()
    if finished is None:
        return run.compute()
    paths.remove_staging(case.output)
    return finished
