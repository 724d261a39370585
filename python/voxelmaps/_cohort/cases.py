# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""One case of a cohort: from image and mask to maps, their statistics, and where they come from."""

import concurrent.futures
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

    def all_keys(self):
        return radiomics.all_keys(self.parameters)

    def all_images(self):
        return radiomics.image_names(self.parameters) if self.task.save_images else []

    def settings_of(self, case):
        own = {} if case.label is None else {"label": case.label}
        return {**self.parameters.settings, **own}

    def origin(self, case):
        """What all maps of a case depend on, in addition to image and mask."""
        task = self.task
        settings = {**self.parameters.general(), "label": self.settings_of(case)["label"], "precision": task.precision}
        files = {"format": task.file_format, "channels": task.channels, "fill": task.fill if task.channels else None}
        return _jsonable({**settings, **files, "voxelmaps": importlib.metadata.version("voxelmaps")})

    def _special(self, image_type):
        settings = self.parameters.special(image_type)
        return {"type": image_type, **_jsonable(settings), **_filters.versions(image_type)}

    def keys(self, dimension, skipped):
        """Keys of the maps of an image, and what they depend on in addition. skipped has names of images that are too small."""
        special = {image_type: self._special(image_type) for image_type in self.parameters.image_types}
        return {
            key: special[image_type]
            for image_name, image_type in self.parameters.image_names(dimension).items()
            if image_name not in skipped
            for key in self.parameters.keys(image_name).values()
        }

    def images(self, dimension, skipped):
        """Names of the images that are written, and what they depend on in addition."""
        names = self.parameters.image_names(dimension) if self.task.save_images else {}
        images = {name: self._special(image_type) for name, image_type in names.items() if name not in skipped}
        return {**images, **({layouts.NnunetLayout.SEGMENTATION: {}} if self.task.channels else {})}

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


def _is_same_image(path, other):
    try:
        image, other = (_image.load(each, "the image")[0] for each in (path, other))
    except (OSError, TypeError, ValueError):
        return False
    arrays = image.array, other.array
    return image[1:] == other[1:] and arrays[0].dtype == arrays[1].dtype and arrays[0].tobytes() == arrays[1].tobytes()


def _is_unchanged(path, entry):
    """Whether an input is as it was when it was read: by sizes and times, or else, as for a copy, by its content; or is another file of
    the same image, such as a compressed one."""
    states = _states(path)
    if not states or states == entry["files"]:
        return bool(states)
    sizes = lambda states: [size for size, _ in states.values()]
    if sizes(states) == sizes(entry["files"]) and _hash(path) == entry["sha256"]:
        return True
    is_other = entry["path"] != str(path.absolute()) and os.path.exists(entry["path"])
    return is_other and _states(entry["path"]) == entry["files"] and _is_same_image(path, entry["path"])


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
    """The file provenance.json of a folder: what its maps come from. Maps are reused if that is the same."""

    def __init__(self, job, case):
        self._job, self._case = job, case
        self.path = case.output / PROVENANCE
        self.maps, self.images, self._content = {}, {}, None
        # Entries of files of other settings.
        self._others = []
        if self.path.exists():
            self._read()

    def _read(self):
        try:
            content = json.loads(paths.read_text(self.path, str(self.path), _MAX_BYTES))
            keys = self._job.keys(len(content["inputs"]["image"]["size"]), content["skipped_images"])
            differences = self._differences(content, keys)
            maps, images = dict(content["maps"]), dict(content["images"])
            list(content["keys"]), int(content["region_voxels"]), [entry["state"] for entry in maps.values()]
        except _MALFORMED:
            _logger.warning("%s cannot be read, so no map in the folder is reused", self.path)
            return
        if not differences:
            self.maps, self.images, self._content = maps, images, content
        elif not self._job.task.overwrite:
            raise ValueError(
                f"the folder {self.path.parent} has maps of another {', '.join(differences)}: choose another output, or "
                "replace them with --overwrite"
            )
        else:
            self._others = [*maps.values(), *images.values()]

    def _differences(self, content, keys):
        """Names of what differs from an earlier run."""
        origin = self._job.origin(self._case)
        names = [
            name for name in {**content["settings"], **origin} if content["settings"].get(name) != origin.get(name)
        ]
        names += [
            what for what in ("image", "mask") if not _is_unchanged(getattr(self._case, what), content["inputs"][what])
        ]
        names += sorted(
            {f"imageType {special['type']}" for key, special in keys.items() if self._has_other(content, key, special)}
        )
        is_open = self._job.layout(self._case, []).is_open
        return names + (["selection of features"] if not is_open and content["keys"] != list(keys) else [])

    @staticmethod
    def _has_other(content, key, special):
        return key in content["maps"] and content["maps"][key]["image"] != special

    def remove_others(self):
        """Remove files of other settings unless they were changed since."""
        for entry in self._others:
            path = self.path.parent / entry["file"]
            if _has_state(path, entry) and path.is_file():
                path.unlink()

    def entry(self, location, **content):
        """The entry of a file that is in its place."""
        return {"file": location, "state": _state(self.path.parent / location), **content}

    def missing(self, keys, layout):
        """Keys of the maps that are not there as they were written."""
        there = lambda key: set(STATISTICS) < set(self.maps.get(key, {})) and _has_state(
            self.path.parent / layout.location(key), self.maps[key]
        )
        return {key for key in keys if not there(key)}

    def missing_images(self, names, layout):
        there = lambda name: name in self.images and _has_state(
            self.path.parent / layout.image_location(name), self.images[name]
        )
        return {name for name in names if not there(name)}

    def finished(self):
        """The outcome, if an earlier run has finished the case, as sizes and times of files show; or None."""
        if self._content is None:
            return None
        dimension, skipped = len(self._content["inputs"]["image"]["size"]), self._content["skipped_images"]
        keys = list(self._job.keys(dimension, skipped))
        layout = self._job.layout(self._case, keys)
        if self.missing(keys, layout) or self.missing_images(self._job.images(dimension, skipped), layout):
            return None
        label, voxels = self._job.settings_of(self._case)["label"], self._content["region_voxels"]
        return Outcome(self._case, label, {key: self.maps[key] for key in keys}, len(keys), voxels)

    def save(self, keys, content):
        content = {
            "program": "voxelmaps maps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": set(keys) <= set(self.maps),
            "keys": keys,
            **content,
            "maps": self.maps,
            "images": self.images,
        }
        paths.replace_text(self.path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def _has_state(path, entry):
    try:
        return _state(path) == entry["state"]
    except (OSError, ValueError):
        return False


@functools.lru_cache(maxsize=None)
def _versions():
    versions = {"NumPy": np.__version__}
    for name in ("nibabel", "SimpleITK"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


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


def _statistics(file, dtype):
    """Of the values of a map inside the region, without NaN."""
    file.values.seek(0)
    values = np.frombuffer(bytearray(file.values.read()), dtype)
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
            "median": float(np.median(values, overwrite_input=True)),
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
        "software": _versions(),
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
    keys, levels = job.keys(prepared.image.array.ndim, skipped), 0
    if "Original" in job.parameters.image_types:
        settings = job.parameters.settings_of("Original")
        levels = radiomics.Maps(prepared.image, prepared.roi, settings, job.task.precision).levels(
            job.parameters.classes
        )
    map_bytes = len(keys) * prepared.image.array.size * job.dtype.itemsize
    label = job.settings_of(case)["label"]
    return Outcome(case, label, keys, 0, content["region_voxels"], levels=levels, map_bytes=map_bytes)


def _computed(job, case, prepared, skipped, record, content, report):
    """Compute the maps that an earlier run has not left."""
    inside, parameters, image = prepared.roi.array, job.parameters, prepared.image
    keys, images = (function(image.array.ndim, skipped) for function in (job.keys, job.images))
    layout = job.layout(case, keys)
    missing = record.missing(keys, layout)
    if job.task.file_format == "zarr" and missing:
        # A store is written as one.
        missing = set(keys)
    missing_images = record.missing_images(images, layout)
    for names, entries in ((missing, record.maps), (missing_images, record.images)):
        for name in names:
            entries.pop(name, None)
    kept = done = len(keys) - len(missing)
    statistics = {}
    place = lambda name: pathlib.Path(os.path.normpath(case.output / layout.image_location(name)))
    record.remove_others()
    paths.remove_staging(case.output)
    with (
        paths.output_folder(case.output) as folder,
        writing.Writer(image, job.dtype, folder, layout) as writer,
        concurrent.futures.ThreadPoolExecutor(1) as finisher,
    ):

        def finish(written):
            found = writer.finish(written, lambda file: _statistics(file, job.dtype))
            statistics.update(found)
            if writer.store is None:
                record.maps.update(
                    (key, record.entry(layout.location(key), image=keys[key], **_jsonable(entries)))
                    for key, entries in found.items()
                )
                record.save(list(keys), content)

        # Files are finished while the next class is computed, one class at a time, since they are in memory.
        finished = finisher.submit(int)
        for image_name, of_maps, settings in radiomics.images_of(prepared, parameters, missing | missing_images):
            if image_name in missing_images:
                writing.write_image(of_maps, place(image_name), folder)
                record.images[image_name] = record.entry(layout.image_location(image_name), image=images[image_name])
            maps = radiomics.Maps(of_maps, prepared.roi, settings, job.task.precision, image_name)
            content["device"] = maps.device or _processor()
            of_image = parameters.keys(image_name)
            for name, features in parameters.classes.items():
                by_feature = {f: of_image[name, f] for f in features if of_image[name, f] in missing}
                if not by_feature:
                    continue
                start, text = done, name if image_name == "original" else f"{image_name} {name}"
                progress = lambda part: report(((start + part * len(by_feature)) / len(keys), text))
                progress(0)
                written = writer.write(maps, name, by_feature, inside, progress)
                finished.result()
                finished = finisher.submit(finish, written)
                done += len(by_feature)
        finished.result()
        if writer.store is not None and missing:
            writer.store.publish(statistics)
            entry = record.entry(layouts.STORE)
            record.maps = {key: {**entry, "image": keys[key], **_jsonable(statistics[key])} for key in keys}
        segmentation = layouts.NnunetLayout.SEGMENTATION
        if segmentation in missing_images:
            writing.write_image(prepared.roi.with_array(inside.view(np.uint8)), place(segmentation), folder)
            record.images[segmentation] = record.entry(layout.image_location(segmentation), image={})
        record.save(list(keys), content)
        report((1, ""))
    label = job.settings_of(case)["label"]
    return Outcome(case, label, {key: record.maps[key] for key in keys}, kept, content["region_voxels"])
