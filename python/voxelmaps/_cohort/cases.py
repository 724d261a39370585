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

# A run that is killed loses maps of at most so many seconds.
_SAVE_SECONDS = 1

# What a malformed record raises.
_MALFORMED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def _jsonable(value):
    """The value as JSON stores it: lists, and texts for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


class Job:
    """A task with its settings checked."""

    def __init__(self, task):
        radiomics.check_precision(task.precision)
        layouts.check_format(task.file_format, task.channels)
        self.task = task
        self.parameters = _settings.read(task.params, json.loads(task.settings), voxel_based=True)
        if not self.parameters.classes:
            raise ValueError("no feature is chosen; see --classes and --features")
        _filters.check_libraries(self.parameters.image_types)
        self.dtype = radiomics.dtype_of(task.precision)

    def settings_of(self, case):
        own = {} if case.label is None else {"label": case.label}
        return {**self.parameters.settings, **own}

    def origin(self, case):
        """What all maps of a case depend on, in addition to image and mask."""
        task = self.task
        settings = {**self.parameters.general(), "label": self.settings_of(case)["label"], "precision": task.precision}
        files = {"format": task.file_format, "channels": task.channels, "fill": task.fill if task.channels else None}
        return _jsonable({**settings, **files, "voxelmaps": importlib.metadata.version("voxelmaps")})

    def files(self, dimension, skipped):
        """What maps, and images that are also written, depend on in addition: two dicts by key. skipped has names of images that are
        too small."""
        maps, images = {}, {}
        for image_name, image_type in self.parameters.image_names(dimension).items():
            if image_name in skipped:
                continue
            special = {"type": image_type, **_jsonable(self.parameters.special(image_type))}
            special.update(_filters.versions(image_type))
            maps.update(dict.fromkeys(self.parameters.all_keys(image_name), special))
            if self.task.save_images:
                images[image_name] = special
        if self.task.channels:
            images[layouts.NnunetLayout.SEGMENTATION] = {}
        return maps, images

    def layout(self, case, keys):
        return layouts.layout(self.task.file_format, self.task.channels, self.task.fill, keys, case)


# Reading parameter files is slow compared with finished cases.
job_of = functools.lru_cache(1)(Job)


# --- Where maps come from ----------------------------------------------------------------------------------------------


def _state(path):
    """Size and time of a file, or of all files of a store."""
    files = [path]
    if os.path.isdir(path):
        files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    states = [os.stat(file) for file in files]
    return [sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)]


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


def _is_unchanged(path, entry):
    """Whether an input is as it was when it was read: by sizes and times, or else, as for a copy, by its content."""
    states = _states(path)
    if not states or states == entry["files"]:
        return bool(states)
    sizes = lambda states: [size for size, _ in states.values()]
    return sizes(states) == sizes(entry["files"]) and _hash(path) == entry["sha256"]


# The last image and the last mask, which cases often share.
_last = {}


def _load(path, what, grid=None, segment=None):
    """The volume of a file or folder, and the entry that describes it.

    grid, segment    The image and the label of a mask that is a DICOM segmentation.
    """
    states, last = _states(path), _last.get(what)
    place = None
    if grid is not None and not os.fspath(path).lower().endswith(_NO_DICOM):
        place = grid.size, grid[1:], segment
    if last is not None and last[:2] == (states, place):
        return last[2:]
    last = None
    _last.pop(what, None)
    volume = _image.load(path, f"the {what}", grid=grid, segment=segment)[0]
    entry = {"path": str(path.absolute()), "files": states, "sha256": _hash(path)}
    if _states(path) != states:
        raise ValueError(f"the {what} {path} was written while it was read")
    entry.update(size=volume.size, spacing=volume.spacing, type=str(volume.array.dtype))
    _last[what] = states, place, volume, entry
    return volume, entry


class _Record:
    """The file provenance.json of a folder: what its maps come from. Maps are reused if that is the same.

    files    Entries of maps and images by key.
    """

    def __init__(self, job, case):
        self._job, self._case = job, case
        self.path = case.output / PROVENANCE
        self.files, self._content, self.saved = {}, None, -math.inf
        # Entries of files of other settings.
        self._others = []
        if self.path.exists():
            self._read()

    def _read(self):
        try:
            content = json.loads(paths.read_text(self.path, str(self.path), _MAX_BYTES))
            maps, images = self._job.files(len(content["inputs"]["image"]["size"]), content["skipped_images"])
            differences = self._differences(content, maps)
            complete = {key: entry for key, entry in content["maps"].items() if set(STATISTICS) < set(entry)}
            files = {**complete, **content["images"]}
            list(content["keys"]), int(content["region_voxels"]), [
                entry["file"] + str(entry["state"]) for entry in files.values()
            ]
        except _MALFORMED:
            _logger.warning("%s cannot be read, so no map in the folder is reused", self.path)
            return
        if not differences:
            self.files, self._content = files, content
        elif not self._job.task.overwrite:
            raise ValueError(
                f"the folder {self.path.parent} has maps of another {', '.join(differences)}: choose another output, or "
                "replace them with --overwrite"
            )
        else:
            self._others = list(files.values())

    def _differences(self, content, maps):
        """Names of what differs from an earlier run."""
        ours, theirs, found = self._job.origin(self._case), content["settings"], content["maps"]
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        inputs = {what: getattr(self._case, what) for what in ("image", "mask")}
        names += [what for what, path in inputs.items() if not _is_unchanged(path, content["inputs"][what])]
        others = {
            special["type"] for key, special in maps.items() if found.get(key, {"image": special})["image"] != special
        }
        names += [f"imageType {image_type}" for image_type in sorted(others)]
        is_open = self._job.layout(self._case, []).is_open
        return names + (["selection of features"] if not is_open and content["keys"] != list(maps) else [])

    def _has(self, entry):
        """Whether a file is as it was written."""
        with contextlib.suppress(OSError, ValueError):
            return _state(self.path.parent / entry["file"]) == entry["state"]
        return False

    def remove_others(self):
        """Remove files of other settings unless they were changed since."""
        for entry in self._others:
            path = self.path.parent / entry["file"]
            if self._has(entry) and path.is_file():
                path.unlink()

    def add(self, key, layout, special, statistics):
        """Add the entry of a file that is in its place."""
        location = layout.location(key)
        state = _state(self.path.parent / location)
        self.files[key] = {"file": location, "state": state, "image": special, **_jsonable(statistics)}

    def missing(self, keys, layout):
        """Keys of the files that are not there as they were written."""
        is_there = lambda entry, key: entry and entry["file"] == layout.location(key) and self._has(entry)
        return {key for key in keys if not is_there(self.files.get(key), key)}

    def finished(self):
        """The outcome, if an earlier run has finished the case, as sizes and times of files show; or None."""
        if self._content is None:
            return None
        maps, images = self._job.files(len(self._content["inputs"]["image"]["size"]), self._content["skipped_images"])
        if self.missing([*maps, *images], self._job.layout(self._case, maps)):
            return None
        return self.outcome(maps, len(maps), self._content["region_voxels"])

    def outcome(self, maps, kept, voxels):
        label = self._job.settings_of(self._case)["label"]
        return Outcome(self._case, label, {key: self.files[key] for key in maps}, kept, voxels)

    def save(self, keys, content):
        maps = {key: entry for key, entry in self.files.items() if STATISTICS[0] in entry}
        content = {
            "program": "voxelmaps maps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": set(keys) <= set(maps),
            "keys": keys,
            **content,
            "maps": maps,
            "images": {key: entry for key, entry in self.files.items() if key not in maps},
        }
        paths.replace_text(self.path, json.dumps(content, indent=2, allow_nan=False) + "\n")
        self.saved = time.monotonic()


@functools.lru_cache(maxsize=None)
def _processor():
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    return f"CPU: {model}, {writing.number_of_threads()} threads"


# --- Statistics --------------------------------------------------------------------------------------------------------


# Of values whose deviations are added at once, so that these stay in a cache of the processor.
_BLOCK = 2**16


def _median(values):
    """As numpy.median, whose partition by three elements is five times as slow as that by one; reorders the values."""
    half = len(values) // 2
    values.partition(half)
    middle = values[half : half + 1]
    return float(np.mean(middle if len(values) % 2 else np.append(values[:half].max(), middle)))


def _statistics(file, dtype):
    """Of the values of a map inside the region, without NaN."""
    values = np.empty(file.values.tell() // dtype.itemsize, dtype)
    file.values.seek(0)
    file.values.readinto(values)
    # A minimum of values with NaN is NaN.
    if len(values) and np.isnan(np.min(values)):
        values = values[~np.isnan(values)]
    if len(values) == 0:
        return {"mean": None, "median": None, "standard_deviation": None, "valid_voxels": 0}
    # Infinite values have no deviation.
    with np.errstate(invalid="ignore"):
        mean = np.mean(values, dtype=np.float64)
        squares = 0.0
        for first in range(0, len(values), _BLOCK):
            deviations = values[first : first + _BLOCK] - mean
            squares += float(np.sum(np.square(deviations, out=deviations)))
        entries = {
            "mean": float(mean),
            "standard_deviation": math.sqrt(squares / len(values)) if squares == squares else math.nan,
            "minimum": float(np.min(values)),
            "maximum": float(np.max(values)),
            "median": _median(values),
        }
    return {**entries, "valid_voxels": len(values)}


# --- The case ----------------------------------------------------------------------------------------------------------


def _labels_of_mask(case, job):
    """The labels of the mask, by an earlier run if the mask is unchanged."""
    channel = job.parameters.settings["label_channel"]
    for folder in case.label_folders()[:1]:
        try:
            text = paths.read_text(folder / PROVENANCE, PROVENANCE, _MAX_BYTES)
            entry = json.loads(text)["inputs"]["mask"]
            if _is_unchanged(case.mask, entry) and entry["label_channel"] == channel:
                return list(map(int, entry["labels"]))
        except _MALFORMED:
            pass
    mask, entry = _load(case.mask, "mask")
    return labels_in(mask, entry, case, job.parameters.settings)


def labels_in(mask, entry, case, settings):
    """The labels of a mask that is loaded, which its entry keeps."""
    channel = settings["label_channel"]
    if "labels" not in entry or entry["label_channel"] != channel:
        values = np.unique(_preparation.scalar_mask(mask, settings).array)
        values = _regions.integers(_arrays.array_of(values, "the mask"), f"the mask {case.mask}").array
        labels = [int(value) for value in np.unique(values) if value > 0]
        if not labels:
            raise ValueError(f"the mask {case.mask} has no label: no voxel is 1 or more")
        if len(labels) > _MAX_LABELS:
            raise ValueError(
                f"the mask {case.mask} has {len(labels)} labels, but all is for at most {_MAX_LABELS}; name those to compute"
            )
        entry.update(labels=labels, label_channel=channel)
    return entry["labels"]


def outcomes(task, case, report):
    """Compute or check the labels of a case; yields an Outcome of each.

    report    Function of a pair of the part that is done, from 0 to 1, and of what is done now.
    """
    job = job_of(task)
    writing.Threads.number = task.threads
    parts = case.parts(_labels_of_mask(case, job) if case.labels == "all" else case.labels)
    yield from outcomes_of_parts(parts, lambda part: _finished_or_computed(job, part, report))


def outcomes_of_parts(parts, compute):
    """Yields the Outcome of each part of a case, which is an error where compute(part) raises one."""
    for part in parts:
        start = time.monotonic()
        try:
            outcome = compute(part)
        except Exception as error:
            outcome = Outcome(part, part.label, error=one_line(error))
        yield outcome._replace(seconds=time.monotonic() - start)


def check_inputs(case):
    """Raise FileNotFoundError if an input is missing."""
    for what in ("image", "mask"):
        if not getattr(case, what).exists():
            raise FileNotFoundError(f"the {what} {getattr(case, what)} does not exist")


def _finished_or_computed(job, case, report):
    check_inputs(case)
    record = _Record(job, case)
    finished = record.finished()
    if finished is not None:
        paths.remove_staging(case.output)
        return finished
    report((0, "reading"))
    image, of_image = _load(case.image, "image")
    mask, of_mask = _load(case.mask, "mask", image, job.settings_of(case)["label"])
    report((0, "preparing"))
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
    return _computed(job, case, prepared, skipped, record, _jsonable(content), report)


def _checked(job, case, prepared, skipped, content):
    """What would be computed."""
    paths.check_writable(case.output)
    (keys, _), levels = job.files(prepared.image.array.ndim, skipped), 0
    if "Original" in job.parameters.image_types:
        settings = job.parameters.settings_of("Original")
        maps = radiomics.Maps(prepared.image, prepared.roi, settings, job.task.precision)
        levels = maps.levels(job.parameters.classes)
    map_bytes = len(keys) * prepared.image.array.size * job.dtype.itemsize
    label = job.settings_of(case)["label"]
    return Outcome(case, label, keys, 0, content["region_voxels"], levels=levels, map_bytes=map_bytes)


def _computed(job, case, prepared, skipped, record, content, report):
    """Compute the maps that an earlier run has not left."""
    inside, parameters, image = prepared.roi.array, job.parameters, prepared.image
    keys, images = job.files(image.array.ndim, skipped)
    layout = job.layout(case, keys)
    missing = record.missing([*keys, *images], layout)
    if job.task.file_format == "zarr" and not missing.isdisjoint(keys):
        # A store is written as one.
        missing.update(keys)
    for key in missing:
        record.files.pop(key, None)
    kept = done = sum(key not in missing for key in keys)
    statistics = {}

    def write_image(volume, name):
        writing.write_image(volume, pathlib.Path(os.path.normpath(case.output / layout.location(name))), folder)
        record.add(name, layout, images[name], {})

    def complete(found):
        statistics.update(found)
        if writer.store is None:
            for key, entries in found.items():
                record.add(key, layout, keys[key], entries)
            if time.monotonic() - record.saved > _SAVE_SECONDS:
                record.save(list(keys), content)

    record.remove_others()
    paths.remove_staging(case.output)
    with (
        paths.output_folder(case.output) as folder,
        writing.Writer(image, job.dtype, folder, layout) as writer,
    ):
        for image_name, of_maps, settings in radiomics.images_of(prepared, parameters, missing):
            if image_name in missing:
                write_image(of_maps, image_name)
            maps = radiomics.Maps(of_maps, prepared.roi, settings, job.task.precision, image_name)
            content["device"] = maps.device or _processor()
            for name, of_class in parameters.keys(image_name).items():
                by_feature = {feature: key for feature, key in of_class.items() if key in missing}
                if not by_feature:
                    continue
                start, text = done, name if image_name == "original" else f"{image_name} {name}"
                progress = lambda part: report(((start + part * len(by_feature)) / len(keys), text))
                progress(0)
                statistics_of = lambda file: _statistics(file, job.dtype)
                writer.write(maps, name, by_feature, inside, progress, statistics_of, complete)
                done += len(by_feature)
        writer.finish()
        if writer.store is not None and statistics:
            writer.store.publish(statistics)
            for key in keys:
                record.add(key, layout, keys[key], statistics[key])
        if layouts.NnunetLayout.SEGMENTATION in missing:
            write_image(prepared.roi.with_array(inside.view(np.uint8)), layouts.NnunetLayout.SEGMENTATION)
        record.save(list(keys), content)
        report((1, ""))
    return record.outcome(keys, kept, content["region_voxels"])
