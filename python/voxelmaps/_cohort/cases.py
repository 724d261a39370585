# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""One case of the program TextureFeatureMaps: from image and mask to maps, their statistics, and where they come from."""

import collections
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
import platform
import time
from typing import Any, Dict, NamedTuple

import numpy as np

from .. import _file_check, _image, radiomics
from . import processes
from .._files import layouts, paths, writing
from ..radiomics import _filters, _preparation, _settings
from .tables import PROVENANCE, STATISTICS

_MAX_BYTES = 2**26

_logger = logging.getLogger(__name__)

# Labels of a mask. One with more is an image of intensities.
_MAX_LABELS = 1000

# Files that were written so many nanoseconds apart have other times.
_TICK = 20 * 10**6

# Of the values of the maps of a class in the region, up to which they are kept in memory: at most these, and a part of it.
_REGION_BYTES = 2**34
_PART_OF_REGION = 16

# The part of the memory for copies of values whose statistics are computed at once.
_PART_OF_STATISTICS = 16


class Task:
    """What is done with every case.

    params, settings, precision    Arguments of voxelmaps.radiomics.execute.
    verify                         Whether finished cases are read again.
    clean                          Whether maps of other settings are removed.
    file_format, channels          Of the maps; see layouts.layout.
    save_images                    Whether the images that maps are computed of are written, too.
    """

    def __init__(self, params, settings, precision, verify, clean, file_format, channels, save_images=False):
        self._params, self._settings = params, settings
        self.precision = precision
        self.verify = verify
        self.clean = clean
        self._format, self._channels = file_format, channels
        self.save_images = save_images
        self.layout_of_images = layouts.images(file_format)

    def prepare(self):
        """Check the arguments; returns the names of all maps that an image can have, and of the files of images."""
        radiomics.check_precision(self.precision)
        layouts.check_format(self._format, self._channels)
        self.parameters = _settings.read(self._params, self._settings)
        if not self.parameters.classes:
            raise ValueError("no feature is chosen; see --classes and --features")
        _filters.check_libraries(self.parameters.image_types)
        names = radiomics.image_names(self.parameters) if self.save_images else []
        return radiomics.all_keys(self.parameters), [self.layout_of_images.location(name) for name in names]

    def settings_of(self, case):
        """The settings of the loading and preparation of a case."""
        own = {} if case.label is None else {"label": case.label}
        return {**self.parameters.settings, **own}

    def origin_settings(self, case):
        """What the maps of all image types of a case depend on."""
        return {**self.parameters.general(), "label": self.label_of(case), "precision": self.precision}

    def label_of(self, case):
        return self.settings_of(case)["label"]

    def layout(self, case, keys):
        return layouts.layout(self._format, self._channels, list(keys), case.name())

    def special(self, image_type):
        """What the maps of an image type depend on besides."""
        settings = self.parameters.special(image_type)
        return {"type": image_type, **_jsonable(settings), **_filters.versions(image_type)}

    def images(self, dimension, skipped):
        """Names of the images that are written, and what they depend on besides."""
        names = self.parameters.image_names(dimension) if self.save_images else {}
        return {name: self.special(image_type) for name, image_type in names.items() if name not in skipped}

    def keys(self, dimension, skipped):
        """Keys of the maps of an image, and what they depend on besides.

        skipped    Names of images that it is too small for.
        """
        special = {image_type: self.special(image_type) for image_type in self.parameters.image_types}
        return {
            key: special[image_type]
            for image_name, image_type in self.parameters.image_names(dimension).items()
            if image_name not in skipped
            for key in self.parameters.keys(image_name).values()
        }


class Result(NamedTuple):
    # Statistics by map.
    maps: Dict[str, Dict[str, Any]]
    # Of which were there already.
    kept: int
    mask_voxels: int
    label: int


# --- Where maps come from ----------------------------------------------------------------------------------------------


def _jsonable(value):
    """The value as JSON has it: lists, and texts in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _hash_of_volume(volume):
    """Of voxels and geometry: the same for all files and formats that hold them."""
    digest = hashlib.sha256(repr((volume.array.shape, volume.array.dtype.str, *volume[1:])).encode())
    digest.update(np.ascontiguousarray(volume.array))
    return digest.hexdigest()


def _state_of_file(path):
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns, state.st_ino]


def _state_of_map(path):
    """The same of a map, which can have several files."""
    files = writing.files_of_map(path)
    states = [_state_of_file(file) for file in files]
    if files == [path]:
        return states[0]
    sizes, times, _ = zip(*states)
    return [sum(sizes), max(times), hashlib.sha256(repr(states).encode()).hexdigest()]


def _state_of(path):
    """What changes if a file of an image, or one of a folder, is written."""
    states = {}
    for file in _file_check.files_of_image(path):
        with contextlib.suppress(OSError):
            states[os.path.abspath(file)] = _state_of_file(file)
    return states


def _is_older(states, moment):
    """Whether files were written so long before a moment, in nanoseconds, that a change after it has another time. Clocks of file
    systems tick every few milliseconds; some have whole seconds only."""
    return all(time_ns + (2 * 10**9 if time_ns % 10**9 == 0 else _TICK) < moment for _, time_ns, _ in states)


class Reader:
    """Reads images and masks, those of the next case while a case is computed. The last ones are kept, since cases often share
    them: one image and one mask.

    log    Handler of the log, which says whether there was a message while it is held.
    """

    def __init__(self, log=None):
        self._kept = {}
        # Of the last mask: sorting its voxels takes long.
        self._labels = None, None
        self._log = log
        self._pool = concurrent.futures.ThreadPoolExecutor(1)
        self._prefetched = self._pool.submit(lambda: None)

    def load(self, path, what):
        """The volume of a file or folder, and the entries that describe it."""
        concurrent.futures.wait([self._prefetched])
        return self._load(path, what)

    def _load(self, path, what):
        before = _state_of(path)
        kept = self._kept.get(what)
        if kept is not None and kept[0] == before and before:
            volume, entries = kept[1:]
            return volume, {**entries, "path": str(path.absolute())}
        kept = None
        self._kept.pop(what, None)
        moment = time.time_ns()
        volume = _image.load(path, what)[0]
        entries = {"path": str(path.absolute()), "voxels_sha256": _hash_of_volume(volume)}
        if path.is_file():
            entries["file_sha256"] = writing.hash_of_map(path)
        if _state_of(path) != before:
            raise ValueError(f"{what} {path} was written while it was read")
        entries.update(
            size=volume.size, spacing=volume.spacing, type=str(volume.array.dtype), read_ns=moment, files=before
        )
        if _is_older(before.values(), moment):
            self._kept[what] = before, volume, entries
        return volume, entries

    def labels(self, mask, entries, task):
        """The labels of a mask that load has returned, with the channel that they are of."""
        channel = task.parameters.settings["label_channel"]
        key = entries["voxels_sha256"], channel
        if self._labels[0] != key:
            mask = _preparation.scalar_mask(mask, task.parameters.settings)
            values = np.unique(mask.array)
            values = np.unique(np.trunc(values[np.isfinite(values)]))
            self._labels = key, {"channel": channel, "values": [int(value) for value in values if value > 0]}
        return self._labels[1]

    def prefetch(self, case, task):
        """Begin to read a case unless it is finished. What cannot be read is said when the case is computed."""
        self._prefetched = self._pool.submit(self._prefetch, case, task)

    def _prefetch(self, case, task):
        labels = finished_labels(case, task) if case.labels == "all" else case.labels
        parts = case.parts(labels) if case.label is None else [case]
        if not task.verify and all(find_finished(part, task) for part in parts):
            return
        with self._log.held() if self._log else contextlib.nullcontext([]) as messages:
            for path, what in ((case.image, "the image"), (case.mask, "the mask")):
                with contextlib.suppress(Exception):
                    self._load(path, what)
                if messages:
                    # They are of the next case, which says them when it reads the file.
                    self._kept.pop(what, None)
                    messages.clear()


@functools.lru_cache(maxsize=None)
def _software():
    """Versions on which values can depend."""
    versions = {"voxelmaps": importlib.metadata.version("voxelmaps"), "NumPy": np.__version__}
    for name in ("itk-core", "SimpleITK"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


@functools.lru_cache(maxsize=None)
def _processor():
    model = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return f"CPU: {model or platform.machine()}, {writing.number_of_threads()} threads"


class _Record:
    """The file provenance.json of a folder: what its maps come from. Maps are kept if that is the same."""

    def __init__(self, folder, layout, files_of_images, origin, diagnostics, region_voxels):
        self._folder = folder
        self._layout = layout
        self._files_of_images = files_of_images
        self.origin = _jsonable(origin)
        self.region_voxels = region_voxels
        self._diagnostics = _jsonable(diagnostics)
        self.skipped = []
        self.maps = {}
        self.images = {}
        # Maps of other settings, which are still in the folder.
        self.other_maps = {}
        # Further files, and their states.
        self.documents = {}
        path = folder.path / PROVENANCE
        if path.exists():
            self._take_over(path)

    def _take_over(self, path):
        """Keep the maps of an earlier run if it was the same but for the selection of features."""
        try:
            earlier = json.loads(paths.read_text(path, str(path), _MAX_BYTES))
            maps, images, other_maps = (
                {str(key): dict(entries) for key, entries in earlier.get(name, {}).items()}
                for name in ("maps", "images", "other_maps")
            )
            differences = [
                name
                for section in ("software", "inputs", "settings")
                for name in {**earlier[section], **self.origin[section]}
                if self._essential(earlier[section].get(name)) != self._essential(self.origin[section].get(name))
            ]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            _logger.warning("%s cannot be read, so no map in the folder is reused", path)
            return
        if not differences:
            self.maps, self.images = maps, images
        elif maps or images:
            _logger.warning(
                "the maps in %s are not reused: they were computed with another %s", path.parent, ", ".join(differences)
            )
            other_maps.update(maps, **images)
        names = {*self._layout.names(), *self._files_of_images.values()}
        names.update(entries.get("file") for entries in self.images.values())
        self.other_maps = {key: entries for key, entries in other_maps.items() if entries.get("file") not in names}

    def leave_or_remove_others(self, is_removed):
        """Say that there are maps of other settings, or remove those that nobody has changed."""
        for key, entries in list(self.other_maps.items()):
            path = self._folder.path / str(entries.get("file"))
            try:
                is_own = path.parent == self._folder.path and path.is_file() and not path.is_symlink()
                is_own = is_own and writing.hash_of_map(path) == entries["sha256"]
                if is_removed and is_own:
                    path.unlink()
            except (OSError, KeyError):
                is_own = False
            if is_removed or not is_own:
                del self.other_maps[key]
        if self.other_maps:
            _logger.warning(
                "%s has %d maps of other settings besides; --clean removes them",
                self._folder.path,
                len(self.other_maps),
            )

    @staticmethod
    def _essential(entry):
        """Of an input its voxels, wherever they were."""
        return entry.get("voxels_sha256") if isinstance(entry, dict) else entry

    def _path(self, key):
        return self._folder.path / self._layout.location(key)

    def add(self, key, entries):
        """Record a map that is in the folder."""
        self.maps[key] = {**entries, "state": _state_of_map(self._path(key))}

    def add_image(self, name, entries):
        """Record an image that is in the folder."""
        self.images[name] = {**entries, "state": _state_of_map(self._folder.path / entries["file"])}

    def has_image(self, name, special):
        """Whether the image is there, and is the one that was written."""
        entries, file = self.images.get(name, {}), self._files_of_images[name]
        try:
            if entries.get("image") != special or entries["file"] != file:
                return False
            if writing.hash_of_map(self._folder.path / file) != entries["sha256"]:
                return False
            self.add_image(name, entries)
            return True
        except (OSError, KeyError):
            return False

    def write_documents(self, volume, dtype):
        """Write the files that come after all maps."""
        for name, text in self._layout.documents(volume, dtype, self.maps, self._folder.staging).items():
            path = self._folder.path / name
            paths.replace_text(path, text, self._folder.staging)
            self.documents[name] = _state_of_file(path)

    def has(self, key, special):
        """Whether the map is there, and is the one that was written."""
        entries = self.maps.get(key, {})
        if entries.get("image") != special:
            return False
        try:
            is_there = set(STATISTICS) < set(entries) and writing.hash_of_map(self._path(key)) == entries["sha256"]
            if is_there:
                self.add(key, entries)
            return is_there
        except (OSError, KeyError):
            return False

    def save(self, keys):
        """Write the file. It is complete if it has all maps of these keys."""
        is_complete = set(keys) <= set(self.maps)
        states = [*(self.maps[key]["state"] for key in keys if is_complete), *self.documents.values()]
        states += [entries["state"] for entries in self.images.values()]
        if is_complete and not _is_older(states, time.time_ns()):
            # So that a later change of a map has another time.
            time.sleep(_TICK / 1e9)
        content = {
            "program": "TextureFeatureMaps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": is_complete,
            "saved_ns": time.time_ns(),
            "region_voxels": self.region_voxels,
            "skipped_images": self.skipped,
            **self.origin,
            "maps": self.maps,
            "images": self.images,
            "other_maps": self.other_maps,
            "files": self.documents,
            "diagnostics": self._diagnostics,
        }
        text = json.dumps(content, indent=2, allow_nan=False)
        paths.replace_text(self._folder.path / PROVENANCE, text + "\n", self._folder.staging)


# --- Statistics --------------------------------------------------------------------------------------------------------


# Of values whose deviations are added at once, so that these stay in a cache of the processor.
_BLOCK = 2**16


def _statistics(file, inside, dtype):
    """Of the values of a map inside the region, without NaN; from its file, if they are not in memory."""
    file.wait()
    values = np.concatenate(file.values) if file.values else file.values_inside(inside, dtype)
    file.values = []
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


def _finish(files, writer, record, layout, keys, region, inside, dtype, device):
    """Write the rest of the files of a class, give them their names, and record them.

    keys      Those of the case, and what the maps depend on besides.
    region    Of the values in memory, or None.
    """
    most = writing.available_bytes() // _PART_OF_STATISTICS
    at_once = max(1, most // max(1, 2 * record.region_voxels * dtype.itemsize))
    with concurrent.futures.ThreadPoolExecutor(min(at_once, writing.number_of_threads())) as pool:
        begin = lambda: [pool.submit(_statistics, file, inside, dtype) for file in files.values()]
        # While files reach the disk, if values need not be read from them.
        statistics = begin() if region is not None else None
        writer.finish(files.values())
        statistics = [one.result() for one in statistics or begin()]
    for (key, file), entries in zip(files.items(), statistics):
        file.publish()
        own = {"file": layout.location(key), "sha256": file.sha256(), "device": device, "image": keys[key]}
        record.add(key, {**own, **_jsonable(entries)})
    record.save(layout.keys)


def _finish_image(volume, name, special, folder, record, task):
    """Write an image, and record it."""
    file = writing.write_image(volume, name, folder, task.layout_of_images)
    file.publish()
    entries = {"file": file.path.name, "type": str(volume.array.dtype), "sha256": file.sha256(), "image": special}
    record.add_image(name, entries)


# --- The case ----------------------------------------------------------------------------------------------------------


def _prepare(case, task, reader):
    """Image and region of interest, cropped, and what maps of this case come from."""
    image, of_image = reader.load(case.image, "the image")
    mask, of_mask = reader.load(case.mask, "the mask")
    if case.has_all_labels:
        of_mask = {**of_mask, "labels": reader.labels(mask, of_mask, task)}
    origin = {
        "software": _software(),
        "inputs": {"image": of_image, "mask": of_mask},
        "settings": task.origin_settings(case),
    }
    prepared = _preparation.prepare(image, mask, task.settings_of(case), False)
    radiomics.check_classes(prepared.image, task.parameters)
    return prepared, origin


def find_labels(case, task, reader):
    """The labels of the mask of a case."""
    labels = None if task.verify else finished_labels(case, task)
    if labels is None:
        labels = reader.labels(*reader.load(case.mask, "the mask"), task)["values"]
    if not labels:
        raise ValueError(f"the mask {case.mask} has no label: no voxel is 1 or more")
    if len(labels) > _MAX_LABELS:
        raise ValueError(
            f"the mask {case.mask} has {len(labels)} labels, but all is for at most {_MAX_LABELS}; name those to compute"
        )
    return tuple(labels)


def finished_labels(case, task):
    """The labels of the mask of a case that an earlier run has found, as sizes and times of files tell; or None."""
    try:
        folder = next(iter(case.folders_of_labels()))
        earlier = json.loads(paths.read_text(folder / PROVENANCE, PROVENANCE, _MAX_BYTES))["inputs"]["mask"]
        is_same = _is_unchanged(case.mask, earlier)
        is_same = is_same and earlier["labels"]["channel"] == task.parameters.settings["label_channel"]
        return tuple(map(int, earlier["labels"]["values"])) if is_same else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        return None


def _is_unchanged(path, entry):
    """Whether a file or folder is as it was when it was read."""
    states = _state_of(path)
    return bool(states) and states == entry["files"] and _is_older(states.values(), entry["read_ns"])


def find_finished(case, task):
    """The result of a case that an earlier run has finished, as the sizes and times of all files tell; or None."""
    try:
        path = case.output / PROVENANCE
        earlier = json.loads(paths.read_text(path, str(path), _MAX_BYTES))
        inputs, maps, saved = earlier["inputs"], earlier["maps"], earlier["saved_ns"]
        is_same = earlier["software"] == _software() and earlier["settings"] == _jsonable(task.origin_settings(case))
        for what, path in (("image", case.image), ("mask", case.mask)):
            is_same = is_same and _is_unchanged(path, inputs[what])
        if not is_same or case.has_all_labels and "labels" not in inputs["mask"]:
            return None
        if task.clean and earlier.get("other_maps"):
            return None
        keys = task.keys(len(inputs["image"]["size"]), earlier["skipped_images"])
        layout = task.layout(case, keys)
        if layout.further_names() and set(maps) != set(layout.keys):
            return None
        expected = {layout.location(key): maps[key]["state"] for key in layout.keys}
        expected.update((name, earlier["files"][name]) for name in layout.further_names())
        images = task.images(len(inputs["image"]["size"]), earlier["skipped_images"])
        of_images = {name: earlier["images"][name] for name in images}
        is_same = all(of_images[name]["image"] == special for name, special in images.items())
        expected.update((task.layout_of_images.location(name), one["state"]) for name, one in of_images.items())
        states = [_state_of_map(case.output / name) for name in expected]
        is_same = is_same and states == list(expected.values()) and _is_older(states, saved)
        is_same = is_same and all(maps[key]["image"] == special for key, special in keys.items())
        label = task.label_of(case)
        result = Result({key: maps[key] for key in layout.keys}, len(layout.keys), earlier["region_voxels"], label)
        is_same = is_same and all(set(STATISTICS) < set(entries) for entries in result.maps.values())
        return result if is_same else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


class Checked(NamedTuple):
    """What would be computed for a case."""

    maps: int
    # Of which are there already.
    kept: int
    mask_voxels: int
    label: int
    # Of the original image; 0 if it has no maps, or the case is finished.
    levels: int
    # Without compression.
    map_bytes: int


def check(case, following, task, reader, report):
    """Read a case, and check what can be checked without its maps; see run. Writes nothing."""
    finished = None if task.verify else find_finished(case, task)
    if finished is not None:
        return Checked(len(finished.maps), finished.kept, finished.mask_voxels, finished.label, 0, 0)
    report(0, processes.READING)
    prepared, _ = _prepare(case, task, reader)
    report(0, "checking")
    if following is not None:
        reader.prefetch(following, task)
    paths.check_writable(case.output)
    parameters = task.parameters
    skipped = _skipped_images(prepared, parameters)
    number = len(task.keys(prepared.image.array.ndim, skipped))
    map_bytes = number * prepared.image.array.size * radiomics.dtype_of(task.precision).itemsize
    voxels = int(np.count_nonzero(prepared.roi.array))
    levels = 0
    if "Original" in parameters.image_types:
        of_original = parameters.settings_of("Original")
        levels = radiomics.Maps(prepared.image, prepared.roi, of_original, task.precision).levels(parameters.classes)
    return Checked(number, 0, voxels, task.label_of(case), levels, map_bytes)


def _skipped_images(prepared, parameters):
    """Names of images that the image is too small for."""
    return {
        name
        for image_type in parameters.image_types
        for name in _filters.skipped(prepared, image_type, parameters.settings_of(image_type))
    }


def run(case, following, task, reader, report):
    """Compute the maps of a case, but for those that an earlier run has left.

    following    The next case, which is read meanwhile, or None.
    report       Function of the part that is done, from 0 to 1, and of what is done now.
    """
    result = None if task.verify else find_finished(case, task)
    if result is not None:
        paths.remove_staging(case.output)
        return result
    report(0, processes.READING)
    prepared, origin = _prepare(case, task, reader)
    report(0, "preparing")
    if following is not None:
        reader.prefetch(following, task)
    inside, parameters = prepared.roi.array, task.parameters
    skipped = _skipped_images(prepared, parameters)
    keys = task.keys(prepared.image.array.ndim, skipped)
    layout, dtype = task.layout(case, keys), radiomics.dtype_of(task.precision)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(paths.output_folder(case.output))
        images = task.images(prepared.image.array.ndim, skipped)
        files_of_images = {name: task.layout_of_images.location(name) for name in images}
        voxels = int(np.count_nonzero(inside))
        record = _Record(folder, layout, files_of_images, origin, prepared.diagnostics, voxels)
        record.skipped = sorted(skipped)
        layout.arrange(folder, record.maps)
        record.leave_or_remove_others(task.clean)
        missing = {key for key, special in keys.items() if not record.has(key, special)}
        for key in missing:
            record.maps.pop(key, None)
        kept = done = len(keys) - len(missing)
        missing_images = {name for name, special in images.items() if not record.has_image(name, special)}
        for name in missing_images:
            record.images.pop(name, None)
        writer = stack.enter_context(writing.Writer())
        finisher = stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))
        # Files are finished while the next classes are computed, but few, since they are in memory.
        finishing = collections.deque()

        def finish(*job):
            while len(finishing) > 1:
                finishing.popleft().result()
            finishing.append(finisher.submit(*job))

        most_bytes = min(_REGION_BYTES, writing.available_bytes() // _PART_OF_REGION)
        for image_name, image, settings in radiomics.images_of(prepared, parameters, missing | missing_images):
            if image_name in missing_images:
                finish(_finish_image, image, image_name, images[image_name], folder, record, task)
            maps = radiomics.Maps(image, prepared.roi, settings, task.precision, image_name)
            device = maps.device or _processor()
            of_image = parameters.keys(image_name)
            for name, features in parameters.classes.items():
                by_feature = {f: of_image[name, f] for f in features if of_image[name, f] in missing}
                if not by_feature:
                    continue
                start = done
                text = name if image_name == "original" else f"{image_name} {name}"
                progress = lambda part: report((start + part * len(by_feature)) / len(keys), text)
                progress(0)
                layout.begin(folder)
                region_bytes = voxels * len(by_feature) * dtype.itemsize
                region = inside if region_bytes <= most_bytes else None
                written = writing.write_maps(
                    maps, prepared.image, name, by_feature, folder, writer, progress, layout, region
                )
                finish(_finish, written, writer, record, layout, keys, region, inside, dtype, device)
                done += len(by_feature)
        for finished in finishing:
            finished.result()
        record.write_documents(prepared.image, dtype)
        record.save(layout.keys)
        report(1, "")
    of_keys = {key: record.maps[key] for key in layout.keys}
    return Result(of_keys, kept, voxels, task.label_of(case))
