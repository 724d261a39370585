# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""One case of a cohort: from image and mask to maps, their statistics, and where they come from."""

import contextlib
import datetime
import functools
import hashlib
import importlib.metadata
import json
import logging
import math
import os
import pathlib
import platform
import time

import numpy as np

from .. import _arrays, _image, _regions, radiomics
from .._files import headers, layouts, paths, writing
from ..radiomics import _filters, _preparation, _settings
from .tables import PROVENANCE, STATISTICS, Outcome, one_line

_logger = logging.getLogger(__name__)

_MAX_BYTES = 2**26

# A mask with more labels is an image of intensities.
_MAX_LABELS = 1000

# Images of which no file is a DICOM segmentation.
_NO_DICOM = (".nii", ".nii.gz", ".hdr", ".img", ".nrrd", ".nhdr", ".mha", ".mhd", ".png")

# What a malformed record raises.
_MALFORMED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def jsonable(value):
    """The value as JSON stores it: lists, and texts for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def parameters_of(task):
    """The checked parameters of a task."""
    parameters = _settings.read(task.params, json.loads(task.settings), voxel_based=task.file_format != "regions")
    if not parameters.classes:
        raise ValueError("no feature is chosen; see --classes and --features")
    _filters.check_libraries(parameters.image_types)
    return parameters


def origin_of_type(parameters, image_type):
    """What results of an image type depend on, in addition to the general settings."""
    return jsonable({**parameters.special(image_type), **_filters.versions(image_type)})


class Job:
    """A task with its settings checked."""

    def __init__(self, task):
        self.task, self.parameters, self.dtype = task, parameters_of(task), radiomics.dtype_of(task.precision)

    def settings_of(self, case):
        own = {} if case.label is None else {"label": case.label}
        return {**self.parameters.settings, **own}

    def origin(self, case):
        """What all maps of a case depend on, in addition to image and mask."""
        task = self.task
        settings = {**self.parameters.general(), "label": self.settings_of(case)["label"], "precision": task.precision}
        files = {"format": task.file_format, "channels": task.channels, "fill": task.fill if task.channels else None}
        return jsonable({**settings, **files, "voxelmaps": importlib.metadata.version("voxelmaps")})

    def maps(self, dimension, skipped):
        """What maps depend on in addition, by key. skipped has names of images that are too small."""
        maps = {}
        for image_name, image_type in self.parameters.image_names(dimension).items():
            if image_name not in skipped:
                special = {"type": image_type, **origin_of_type(self.parameters, image_type)}
                maps.update(dict.fromkeys(self.parameters.all_keys(image_name), special))
        return maps

    def layout(self, case, keys):
        return layouts.layout(self.task.file_format, self.task.channels, self.task.fill, keys, case)


# Reading parameter files is slow compared with finished cases.
job_of = functools.lru_cache(1)(Job)


# --- Where maps come from ----------------------------------------------------------------------------------------------


def _state(path):
    """Size and time of a file."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


def _files(path):
    return [file for file in headers.files_of_image(path) if os.path.isfile(file)]


def _states(path):
    return {os.path.abspath(file): _state(file) for file in _files(path)}


def _hash(path):
    digest = hashlib.sha256()
    for name in _files(path):
        with open(name, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def is_unchanged(path, entry):
    """Whether an input is as it was when it was read: by sizes and times, or else, as for a copy, by its content."""
    states = _states(path)
    if not states or states == entry["files"]:
        return bool(states)
    sizes = lambda states: [size for size, _ in states.values()]
    return sizes(states) == sizes(entry["files"]) and _hash(path) == entry["sha256"]


# The last image and the last mask, which cases often share.
_last = {}


def load(path, what, grid=None, segment=None):
    """The volume of a file or folder, and the entry that describes it.

    grid, segment    The image and the label of a mask that is a DICOM segmentation.
    """
    place = None
    if grid is not None and not os.fspath(path).lower().endswith(_NO_DICOM):
        place = grid.size, grid[1:], segment
    states, last = _states(path), _last.pop(what, None)
    if last is None or last[:2] != (states, place):
        last = None
        volume = _image.load(path, f"the {what}", grid=grid, segment=segment)[0]
        entry = {"path": str(path.absolute()), "files": states, "sha256": _hash(path)}
        if _states(path) != states:
            raise ValueError(f"the {what} {path} was written while it was read")
        entry.update(size=volume.size, spacing=volume.spacing, type=str(volume.array.dtype))
        last = states, place, volume, entry
    _last[what] = last
    return last[2:]


class _Record:
    """The file provenance.json of a folder: what its maps come from. A case is finished if that is the same, and its maps are there."""

    def __init__(self, job, case):
        self._job, self._case, self.path = job, case, case.output / PROVENANCE
        # Of an earlier run with the same settings and inputs, and entries of maps of other settings.
        self._content, self._others = None, []
        if self.path.exists():
            self._read()

    def _read(self):
        try:
            content = json.loads(paths.read_text(self.path, str(self.path), _MAX_BYTES))
            for entry in content["maps"].values():
                pathlib.Path(entry["file"]), list(entry["state"]), [entry[name] for name in STATISTICS]
            list(content["keys"]), int(content["region_voxels"])
            differences = self._differences(content)
        except _MALFORMED:
            _logger.warning("%s cannot be read, so no map in the folder is reused", self.path)
            return
        if not differences:
            self._content = content
        elif not self._job.task.overwrite:
            raise ValueError(
                f"the folder {self.path.parent} has maps of another {', '.join(differences)}: choose another output, or "
                "replace them with --overwrite"
            )
        else:
            self._others = list(content["maps"].values())

    def _expected(self, content):
        """The maps of this run, by the dimension and the skipped images of an earlier one."""
        return self._job.maps(len(content["inputs"]["image"]["size"]), content["skipped_images"])

    def _differences(self, content):
        """Names of what differs from an earlier run."""
        ours, theirs, found = self._job.origin(self._case), content["settings"], content["maps"]
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        inputs = {what: getattr(self._case, what) for what in ("image", "mask")}
        names += [what for what, path in inputs.items() if not is_unchanged(path, content["inputs"][what])]
        maps = self._expected(content)
        others = {special["type"] for key, special in maps.items() if key in found and found[key]["image"] != special}
        names += [f"imageType {image_type}" for image_type in sorted(others)]
        # Channels of nnU-Net have numbers.
        is_fixed = self._job.task.channels is not None
        return names + (["selection of features"] if is_fixed and content["keys"] != list(maps) else [])

    def _has(self, entry):
        """Whether a file is as it was written."""
        with contextlib.suppress(OSError, ValueError):
            return _state(self.path.parent / entry["file"]) == entry["state"]
        return False

    def finished(self):
        """The outcome, if an earlier run has finished the case, as sizes and times of files show; or None."""
        if self._content is None:
            return None
        keys, entries = self._expected(self._content), self._content["maps"]
        layout = self._job.layout(self._case, keys)
        if layout.segmentation and not (self.path.parent / layout.segmentation).exists():
            return None
        if not all(key in entries and self._has(entries[key]) for key in keys):
            return None
        maps = {key: entries[key] for key in keys}
        label = self._job.settings_of(self._case)["label"]
        return Outcome(self._case, label, maps, len(maps), self._content["region_voxels"])

    def begin(self, keys, content):
        """Remove maps of other settings, unless they were changed since, and note what is computed now."""
        for entry in filter(self._has, self._others):
            (self.path.parent / entry["file"]).unlink()
        self.save(keys, content, {})

    def save(self, keys, content, maps):
        """Write the entries of the maps of this run, and of others of an earlier run."""
        before = self._content["maps"] if self._content else {}
        before = {key: entry for key, entry in before.items() if key not in keys and self._has(entry)}
        content = {
            "program": "voxelmaps maps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": len(maps) == len(keys),
            "keys": keys,
            **content,
            "maps": {**before, **maps},
        }
        paths.replace_text(self.path, json.dumps(content, indent=2, allow_nan=False) + "\n")


@functools.lru_cache(maxsize=None)
def _processor():
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    return f"CPU: {model}, {writing.number_of_threads()} threads"


# --- The case ----------------------------------------------------------------------------------------------------------


def _labels_in(case, settings):
    """The labels of a mask."""
    mask, _ = load(case.mask, "mask")
    values = np.unique(_preparation.scalar_mask(mask, settings).array)
    values = _regions.integers(_arrays.array_of(values, "the mask"), f"the mask {case.mask}").array
    labels = [int(value) for value in np.unique(values) if value > 0]
    if not labels:
        raise ValueError(f"the mask {case.mask} has no label: no voxel is 1 or more")
    if len(labels) > _MAX_LABELS:
        raise ValueError(
            f"the mask {case.mask} has {len(labels)} labels, but all is for at most {_MAX_LABELS}; name those to compute"
        )
    return labels


def outcomes_of(task, case, settings, compute):
    """Compute the labels of a case; yields the Outcome of each, which is an error where compute(part) raises one."""
    writing.Threads.number = task.threads
    for what in ("image", "mask"):
        if not getattr(case, what).exists():
            raise FileNotFoundError(f"the {what} {getattr(case, what)} does not exist")
    for part in case.parts(_labels_in(case, settings) if case.labels == "all" else case.labels):
        start = time.monotonic()
        try:
            outcome = compute(part)
        except Exception as error:
            outcome = Outcome(part, part.label, error=one_line(error))
        yield outcome._replace(seconds=time.monotonic() - start)


def outcomes(task, case):
    """Compute or check the labels of a case; yields an Outcome of each."""
    job = job_of(task)
    return outcomes_of(task, case, job.parameters.settings, lambda part: _finished_or_computed(job, part))


def _finished_or_computed(job, case):
    record = _Record(job, case)
    finished = record.finished()
    if finished is not None:
        paths.remove_staging(case.output)
        return finished
    image, of_image = load(case.image, "image")
    mask, of_mask = load(case.mask, "mask", image, job.settings_of(case)["label"])
    prepared = _preparation.prepare(image, mask, job.settings_of(case), False)
    radiomics.check_classes(prepared.image, job.parameters)
    skipped = {
        name
        for image_type in job.parameters.image_types
        for name in _filters.skipped(prepared, image_type, job.parameters.settings_of(image_type))
    }
    content = {
        "software": {"NumPy": np.__version__, **_filters.installed("nibabel", "SimpleITK")},
        "device": None,
        "inputs": {"image": of_image, "mask": of_mask},
        "settings": job.origin(case),
        "region_voxels": int(np.count_nonzero(prepared.roi.array)),
        "skipped_images": sorted(skipped),
        "diagnostics": prepared.diagnostics,
    }
    if job.task.is_dry_run:
        return _checked(job, case, prepared, skipped, content)
    return _computed(job, case, prepared, skipped, record, jsonable(content))


def _checked(job, case, prepared, skipped, content):
    """What would be computed."""
    paths.check_writable(case.output)
    keys, levels = job.maps(prepared.image.array.ndim, skipped), 0
    if "Original" in job.parameters.image_types:
        settings = job.parameters.settings_of("Original")
        maps = radiomics.Maps(prepared.image, prepared.roi, settings, job.task.precision)
        levels = maps.levels(job.parameters.classes)
    return Outcome(case, job.settings_of(case)["label"], keys, 0, content["region_voxels"], levels=levels)


def _computed(job, case, prepared, skipped, record, content):
    """Compute the maps of a case."""
    inside, parameters, image = prepared.roi.array, job.parameters, prepared.image
    keys = job.maps(image.array.ndim, skipped)
    layout = job.layout(case, keys)
    paths.remove_staging(case.output)
    with paths.output_folder(case.output) as folder:
        record.begin(list(keys), content)
        with writing.Writer(image, job.dtype, folder, layout) as writer:
            for image_name, of_maps, settings in radiomics.images_of(prepared, parameters):
                maps = radiomics.Maps(of_maps, prepared.roi, settings, job.task.precision, image_name)
                content["device"] = maps.device or _processor()
                for name, by_feature in parameters.keys(image_name).items():
                    writer.write(maps, name, by_feature, inside)
        if layout.segmentation:
            path = pathlib.Path(os.path.normpath(case.output / layout.segmentation))
            writing.write_image(prepared.roi.with_array(inside.view(np.uint8)), path, folder)
        entries = {}
        for key, special in keys.items():
            location = layout.location(key)
            state = _state(case.output / location)
            entries[key] = {"file": location, "state": state, "image": special, **jsonable(writer.statistics[key])}
        record.save(list(keys), content, entries)
    return Outcome(case, job.settings_of(case)["label"], entries, 0, content["region_voxels"])
