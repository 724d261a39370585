# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""One case of a cohort: from image and mask to maps, their statistics, and where they come from."""

import datetime
import functools
import hashlib
import json
import logging
import os
import pathlib
import platform
import time

import numpy as np
import voxelmaps

from .. import _arrays, _image, _regions, radiomics
from .._files import dicom, headers, layouts, paths, writing
from .._parameters import listed
from .._progress import shown
from ..radiomics import _filters, _preparation, _settings
from .tables import PROVENANCE, STATISTICS, Outcome, one_line

_logger = logging.getLogger(__name__)

# Images of which no file is a DICOM segmentation.
_NO_DICOM = (".nii", ".nii.gz", ".hdr", ".img", ".nrrd", ".nhdr", ".mha", ".mhd", ".png")


def jsonable(value):
    """The value as JSON stores it: lists, and texts for numbers that are not finite."""
    return json.loads(json.dumps(value, default=np.generic.item), parse_constant=lambda text: str(float(text)))


@functools.lru_cache(1)
def parameters_of(task):
    """The checked parameters of a task; reading them is slow compared with finished cases."""
    parameters = _settings.read(task.params, json.loads(task.settings), voxel_based=task.file_format != "regions")
    if not parameters.classes:
        raise ValueError("no feature is chosen; see --classes and --features")
    _filters.check_libraries(parameters.image_types)
    return parameters


def origin(parameters, settings):
    """What results depend on, in addition to image and mask, by name: these settings, and those of each image type."""
    types = {name: {**parameters.special(name), **_filters.versions(name)} for name in parameters.image_types}
    return jsonable({**settings, "image_types": types, "voxelmaps": voxelmaps.__version__})


# --- Input -------------------------------------------------------------------------------------------------------------


def _state(path):
    """Size and time of a file, or None if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_mtime_ns]


def _states(path):
    files = headers.files_of_image(path)
    return {os.path.abspath(file): _state(file) for file in files if os.path.isfile(file)}


def _hash(path):
    digest = hashlib.sha256()
    for name in _states(path):
        with open(name, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def is_unchanged(path, entry):
    """Whether an input is as it was when it was read: by sizes and times, or else, as for a copy, by its content."""
    states, before = _states(path), entry["files"]
    if not states or states == before:
        return bool(states)
    has_sizes = [size for size, _ in states.values()] == [size for size, _ in before.values()]
    return has_sizes and _hash(path) == entry["sha256"]


# The last image and the last mask, which cases often share.
_last = {}


def load(path, what, grid=None, segment=None):
    """The volume of a file or folder, and the entry that describes it.

    grid, segment    The image and the label of a mask that is a DICOM segmentation.
    """
    is_placed = grid is not None and not os.fspath(path).lower().endswith(_NO_DICOM)
    states, last = _states(path), _last.pop(what, None)
    key = states, (grid.size, grid[1:], segment) if is_placed else None
    if last is None or last[0] != key:
        last = None
        volume = _image.load(path, f"the {what}", grid=grid, segment=segment)[0]
        entry = {"path": str(path.absolute()), "files": states, "sha256": _hash(path)}
        if _states(path) != states:
            raise ValueError(f"the {what} {path} was written while it was read")
        entry.update(size=volume.size, spacing=volume.spacing, type=str(volume.array.dtype))
        last = key, volume, entry
    _last[what] = last
    return last[1:]


def _labels_in(case, settings):
    """The labels of a mask."""
    try:
        mask = _preparation.scalar_mask(load(case.mask, "mask")[0], settings).array
    except dicom.OverlappingSegments as error:
        return error.segments
    image = _arrays.array_of(load(case.image, "image")[0].array, "the image")
    mask = _arrays.array_of(mask, "the mask")
    array, _ = _regions.label_map(mask, "all", f"the mask {case.mask}", image, "the image")
    return [int(value) for value in np.unique(array) if value != 0]


def note_other_labels(mask, label, case):
    """Log the labels of a mask that are left out, if no label was named."""
    if case.labels is None and mask.array.dtype.kind in "iu":
        others = np.unique(mask.array[(mask.array != 0) & (mask.array != label)])
        if len(others):
            names = listed([*others[:20], "..."] if len(others) > 20 else others)
            _logger.warning("the label is %s, as none is named; the mask also has %s: --label all computes each", label, names)


def outcomes(task, case, compute):
    """The outcomes of the labels of a line of the table, of which compute(task, part) returns one; or that of the line, if it cannot
    be computed."""
    writing.Threads.number = task.threads
    found = []
    try:
        for what in ("image", "mask"):
            if not getattr(case, what).exists():
                raise FileNotFoundError(f"the {what} {getattr(case, what)} does not exist")
        labels = _labels_in(case, parameters_of(task).settings) if case.labels == "all" else case.labels
        for part in case.parts(labels):
            start = time.monotonic()
            try:
                outcome = compute(task, part)
            except Exception as error:
                outcome = Outcome(part, part.label, error=one_line(error))
            found.append(outcome._replace(seconds=time.monotonic() - start))
    except Exception as error:
        found.append(Outcome(case, case.labels, error=one_line(error)))
    return found


# --- Maps --------------------------------------------------------------------------------------------------------------


class _Run:
    """The maps of a case, those of earlier runs, and the file provenance.json, which says what they come from. A case is finished if
    that is the same, and its maps are there."""

    def __init__(self, task, case):
        self.task, self.case, self.parameters = task, case, parameters_of(task)
        self.settings = {**self.parameters.settings, "label": case.label or self.parameters.settings["label"]}
        self.path = case.output / PROVENANCE
        # The record of an earlier run with the same settings and inputs, and entries of maps of other settings.
        self.earlier, self.others = None, []
        if self.path.exists():
            self._read()

    def _origin(self):
        """What maps depend on, in addition to image and mask."""
        task = self.task
        settings = {**self.parameters.general(), "label": self.settings["label"], "precision": task.precision}
        files = {"format": task.file_format, "channels": task.channels, "fill": task.fill if task.channels else None}
        return origin(self.parameters, {**settings, **files})

    def _keys(self, dimension, skipped):
        """The keys of the maps of an image. skipped has names of images that are too small."""
        names = [name for name in self.parameters.image_names(dimension) if name not in skipped]
        return [key for name in names for key in self.parameters.all_keys(name)]

    def _layout(self, keys):
        return layouts.layout(self.task.file_format, keys, self.task.channels, self.task.fill, self.case)

    def _outcome(self, maps, voxels, **others):
        return Outcome(self.case, self.settings["label"], maps, mask_voxels=voxels, **others)

    def _read(self):
        try:
            record = json.loads(paths.read_text(self.path, str(self.path)))
            for entry in record["maps"].values():
                pathlib.Path(entry["file"]), list(entry["state"]), [entry[name] for name in STATISTICS]
            list(record["keys"]), int(record["region_voxels"])
            differences = self._differences(record)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            _logger.warning("%s cannot be read, so no map in the folder is reused", self.path)
            return
        if not differences:
            self.earlier = record
        elif not self.task.overwrite:
            remedy = "choose another output, or replace them with --overwrite"
            raise ValueError(f"the folder {self.path.parent} has maps of another {', '.join(differences)}: {remedy}")
        else:
            self.others = list(record["maps"].values())

    def _expected(self, record):
        """The keys of this run, by the dimension and the skipped images of an earlier one."""
        return self._keys(len(record["inputs"]["image"]["size"]), record["skipped_images"])

    def _differences(self, record):
        """Names of what differs from an earlier run."""
        ours, theirs = self._origin(), dict(record["settings"])
        types, earlier = ours.pop("image_types"), theirs.pop("image_types", {})
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        for what in ("image", "mask"):
            names += [] if is_unchanged(getattr(self.case, what), record["inputs"][what]) else [what]
        names += [f"imageType {name}" for name in types if name in earlier and earlier[name] != types[name]]
        # Channels of nnU-Net have numbers.
        is_fixed = self.task.channels is not None
        return names + (["selection of features"] if is_fixed and record["keys"] != self._expected(record) else [])

    def _has(self, entry):
        """Whether a file is as it was written."""
        return _state(self.path.parent / entry["file"]) == entry["state"]

    def finished(self):
        """The outcome, if an earlier run has finished the case, as sizes and times of files show; or None."""
        if self.earlier is None:
            return None
        keys, entries = self._expected(self.earlier), self.earlier["maps"]
        segmentation = self._layout(keys).segmentation
        has_segmentation = segmentation is None or (self.path.parent / segmentation).exists()
        if not has_segmentation or not all(key in entries and self._has(entries[key]) for key in keys):
            return None
        maps = {key: entries[key] for key in keys}
        return self._outcome(maps, self.earlier["region_voxels"], kept=len(maps))

    def _save(self, keys, content, maps):
        """Write the entries of the maps of this run, and of others of an earlier run."""
        before = {}
        if self.earlier is not None:
            before = {key: one for key, one in self.earlier["maps"].items() if key not in keys and self._has(one)}
            types = {**self.earlier["settings"]["image_types"], **content["settings"]["image_types"]}
            content = {**content, "settings": {**content["settings"], "image_types": types}}
        record = {
            "program": "voxelmaps maps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": len(maps) == len(keys),
            "keys": keys,
            **content,
            "maps": {**before, **maps},
        }
        paths.replace_text(self.path, json.dumps(record, indent=2, allow_nan=False) + "\n")

    def compute(self):
        """Compute the maps, or check what would be computed."""
        image, of_image = load(self.case.image, "image")
        mask, of_mask = load(self.case.mask, "mask", image, self.settings["label"])
        prepared = _preparation.prepare(image, mask, self.settings, False)
        radiomics.check_classes(prepared.image, self.parameters)
        skipped = {
            name
            for image_type in self.parameters.image_types
            for name in _filters.skipped(prepared, image_type, self.parameters.settings_of(image_type))
        }
        keys, voxels = self._keys(prepared.image.array.ndim, skipped), int(np.count_nonzero(prepared.roi.array))
        if self.task.is_dry_run:
            paths.check_writable(self.case.output)
            return self._outcome(dict.fromkeys(keys), voxels, levels=self._levels(prepared))
        content = {
            "software": {"NumPy": np.__version__, **_filters.installed("nibabel", "SimpleITK")},
            "device": None,
            "inputs": {"image": of_image, "mask": of_mask},
            "settings": self._origin(),
            "region_voxels": voxels,
            "segment": dicom.segment_names(self.case.mask).get(self.settings["label"]),
            "skipped_images": sorted(skipped),
            "diagnostics": prepared.diagnostics,
        }
        return self._outcome(self._write(prepared, keys, jsonable(content)), voxels)

    def _levels(self, prepared):
        """The number of gray levels of the original image, or 0 if it has no maps."""
        if "Original" not in self.parameters.image_types:
            return 0
        settings = self.parameters.settings_of("Original")
        maps = radiomics.Maps(prepared.image, prepared.roi, settings, self.task.precision)
        return maps.levels(self.parameters.classes)

    def _write(self, prepared, keys, content):
        """Write the maps and the record. Returns the entries of the maps."""
        inside, output, layout = prepared.roi.array, self.case.output, self._layout(keys)
        cpu = f"CPU: {platform.machine()}, {writing.number_of_threads()} threads"
        paths.remove_staging(output)
        with paths.output_folder(output) as folder:
            # Those that were changed since are not the command's any more.
            for entry in filter(self._has, self.others):
                (output / entry["file"]).unlink()
            self._save(keys, content, {})
            with (
                shown(None, radiomics.voxels_of_jobs(prepared, self.parameters), "maps"),
                writing.Writer(prepared.image, radiomics.dtype_of(self.task.precision), folder, layout) as writer,
            ):
                for image_name, image, settings in radiomics.images_of(prepared, self.parameters):
                    maps = radiomics.Maps(image, prepared.roi, settings, self.task.precision, image_name)
                    content["device"] = maps.device or cpu
                    for name, by_feature in self.parameters.keys(image_name).items():
                        writer.write(maps, name, by_feature, inside)
            if layout.segmentation:
                path = pathlib.Path(os.path.normpath(output / layout.segmentation))
                writing.write_image(prepared.roi.with_array(inside.view(np.uint8)), path, folder)
            entries = {}
            for key in keys:
                place = {"file": layout.files[key], "state": _state(output / layout.files[key])}
                entries[key] = {**place, **jsonable(writer.statistics[key])}
            self._save(keys, content, entries)
        return entries


def outcome(task, case):
    """Compute or check the maps of one label."""
    run = _Run(task, case)
    finished = run.finished()
    if finished is None:
        return run.compute()
    paths.remove_staging(case.output)
    return finished
