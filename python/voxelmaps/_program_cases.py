# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""One case of the program TextureFeatureMaps: from image and mask to maps, their statistics, and where they come from."""

import concurrent.futures
import contextlib
import datetime
import gzip
import hashlib
import importlib.metadata
import json
import logging
import math
import os
import pathlib
import platform
import time
from typing import Any, Dict, List, NamedTuple

import numpy as np

from . import _radiomics_files, _radiomics_images, _radiomics_parameters, radiomics

PROVENANCE = "provenance.json"
_MAX_BYTES = 2**26

STATISTICS = ("mean", "median", "standard_deviation", "valid_voxels")

_logger = logging.getLogger(__name__)

# Of voxels that are read at once.
_CHUNK = 2**22

# Of the values of maps whose statistics are computed at once.
_STATISTICS_BYTES = 2**27


class Case(NamedTuple):
    """Paths as they were given, and where they are."""

    given: Dict[str, str]
    image: pathlib.Path
    mask: pathlib.Path
    output: pathlib.Path


class Task:
    """What is done with every case.

    params, settings, precision    Arguments of voxelmaps.radiomics.execute.
    """

    def __init__(self, params, settings, precision):
        self._params, self._settings = params, settings
        self.precision = precision

    def prepare(self):
        """Check the arguments; returns the names of the maps."""
        radiomics.check_precision(self.precision)
        self.parameters = _radiomics_parameters.read(self._params, self._settings)
        if not self.parameters.classes:
            raise ValueError("no feature is chosen; see --classes and --features")
        return self.keys()

    def keys(self):
        classes = self.parameters.classes.items()
        return [f"original_{name}_{feature}" for name, features in classes for feature in features]


class Result(NamedTuple):
    # Statistics by map.
    maps: Dict[str, Dict[str, Any]]
    # Of which were there already.
    kept: int
    mask_voxels: int


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


def _hash_of_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _hash_of_volume(volume):
    """Of voxels and geometry: the same for all files and formats that hold them."""
    digest = hashlib.sha256(repr((volume.array.shape, volume.array.dtype.str, *volume[1:])).encode())
    digest.update(np.ascontiguousarray(volume.array))
    return digest.hexdigest()


def _state_of(path):
    """What changes if a file, or one of a folder, is written."""
    states = {}
    for file in _radiomics_images.files_of(path):
        with contextlib.suppress(OSError):
            state = os.stat(file)
            states[file] = state.st_ino, state.st_size, state.st_mtime_ns
    return states


def _load(path, what):
    """The volume of a file or folder, and the entries that describe it."""
    before = _state_of(path)
    volume = _radiomics_images.load(path, what)[0]
    entries = _describe_input(path, volume)
    if _state_of(path) != before:
        raise ValueError(f"{what} {path} was written while it was read")
    return volume, entries


def _describe_input(path, volume):
    entries = {"path": str(path.absolute()), "voxels_sha256": _hash_of_volume(volume)}
    if path.is_file():
        entries["file_sha256"] = _hash_of_file(path)
    return {**entries, "size": volume.size, "spacing": volume.spacing, "type": str(volume.array.dtype)}


def _software():
    """Versions on which values can depend."""
    from ._itk import itk

    versions = {"itk-voxelmaps": importlib.metadata.version("itk-voxelmaps"), "ITK": itk.Version.GetITKVersion()}
    versions["NumPy"] = np.__version__
    try:
        versions["SimpleITK"] = importlib.metadata.version("SimpleITK")
    except importlib.metadata.PackageNotFoundError:
        pass
    return versions


def _device(filter):
    from ._itk import itk

    if filter.GetNameOfClass().startswith("Cuda"):
        return itk.CudaDevices.GetName(filter.GetDeviceID())
    model = platform.processor()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"CPU: {model or platform.machine()}, {itk.MultiThreaderBase.GetGlobalDefaultNumberOfThreads()} threads"


class _Record:
    """The file provenance.json of a folder: what its maps come from. Maps are kept if that is the same."""

    def __init__(self, folder, origin, diagnostics):
        self._folder = folder
        self.origin = _jsonable(origin)
        self._diagnostics = _jsonable(diagnostics)
        self.maps = {}
        path = folder.path / PROVENANCE
        if path.exists():
            self._take_over(path)

    def _take_over(self, path):
        """Keep the maps of an earlier run if it was the same but for the selection of features."""
        try:
            earlier = json.loads(_radiomics_files.read_text(path, str(path), _MAX_BYTES))
            maps = {str(key): dict(entries) for key, entries in earlier["maps"].items()}
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
            self.maps = maps
        elif maps:
            _logger.warning(
                "the maps in %s are not reused: they were computed with another %s", path.parent, ", ".join(differences)
            )

    @staticmethod
    def _essential(entry):
        """Of an input its voxels, wherever they were."""
        return entry.get("voxels_sha256") if isinstance(entry, dict) else entry

    def has(self, key):
        """Whether the map is there, and is the one that was written."""
        path, entries = self._folder.path / f"{key}.nii.gz", self.maps.get(key, {})
        try:
            return set(STATISTICS) < set(entries) and path.is_file() and _hash_of_file(path) == entries["sha256"]
        except (OSError, KeyError):
            return False

    def save(self, keys):
        """Write the file. It is complete if it has all maps of these keys."""
        content = {
            "program": "TextureFeatureMaps",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "complete": set(keys) <= set(self.maps),
            **self.origin,
            "maps": self.maps,
            "diagnostics": self._diagnostics,
        }
        text = json.dumps(content, indent=2, allow_nan=False)
        _radiomics_files.replace_text(self._folder.path / PROVENANCE, text + "\n", self._folder.staging)


# --- Statistics --------------------------------------------------------------------------------------------------------


def _statistics(path, inside, dtype):
    """Of the values of a map inside the region, without NaN, from its file."""
    values = np.empty(np.count_nonzero(inside), dtype)
    with gzip.open(path) as file:
        file.read(_radiomics_files.HEADER_BYTES)
        position = 0
        for plane in inside:
            read = np.frombuffer(file.read(plane.size * values.itemsize), dtype).reshape(plane.shape)[plane]
            values[position : position + len(read)] = read
            position += len(read)
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return {"mean": None, "median": None, "standard_deviation": None, "valid_voxels": 0}
    # Infinite values have no deviation.
    with np.errstate(invalid="ignore"):
        entries = {
            "mean": float(np.mean(values, dtype=np.float64)),
            "standard_deviation": float(np.std(values, dtype=np.float64)),
            "median": float(np.median(values, overwrite_input=True)),
        }
    return {**entries, "valid_voxels": len(values)}


def _all_statistics(paths, inside, precision):
    dtype = np.dtype(np.float64 if precision == "double" else np.float32)
    at_once = max(1, _STATISTICS_BYTES // max(1, 3 * np.count_nonzero(inside) * dtype.itemsize))
    with concurrent.futures.ThreadPoolExecutor(min(at_once, _radiomics_files.number_of_threads())) as pool:
        return dict(zip(paths, pool.map(lambda path: _statistics(path, inside, dtype), paths.values())))


# --- The case ----------------------------------------------------------------------------------------------------------


def _prepare(case, task):
    """Image and region of interest, cropped, and what maps of this case come from."""
    image, of_image = _load(case.image, "the image")
    mask, of_mask = _load(case.mask, "the mask")
    settings = {**task.parameters.settings, **task.parameters.class_settings}
    origin = {
        "software": _software(),
        "inputs": {"image": of_image, "mask": of_mask},
        "settings": {**settings, "precision": task.precision},
    }
    prepared = _radiomics_images.prepare(image, mask, task.parameters.settings, False)
    radiomics.check_classes(prepared.image, task.parameters)
    return prepared, origin


def run(case, task, report):
    """Compute the maps of a case, but for those that an earlier run has left.

    report    Function of the part that is done, from 0 to 1, and of what is done now.
    """
    report(0, "reading")
    prepared, origin = _prepare(case, task)
    inside, keys = prepared.roi.array, task.keys()
    kept = done = 0
    with _radiomics_files.output_folder(case.output) as folder:
        record = _Record(folder, origin, prepared.diagnostics)
        for name, features in task.parameters.classes.items():
            by_key = {f"original_{name}_{feature}": feature for feature in features}
            missing = {key: feature for key, feature in by_key.items() if not record.has(key)}
            kept += len(by_key) - len(missing)
            done += len(by_key) - len(missing)
            if missing:
                filter = radiomics.filter_of_class(
                    *prepared[:2], name, list(missing.values()), task.parameters.class_settings, task.precision
                )
                start = done
                progress = lambda part: report((start + part * len(missing)) / len(keys), name)
                progress(0)
                written = _radiomics_files.write_maps(filter, prepared.image, list(missing), folder, progress)
                statistics = _all_statistics(
                    {key: file.staged for key, file in written.items()}, inside, task.precision
                )
                for key, file in written.items():
                    record.maps[key] = {
                        "file": file.publish().name,
                        "sha256": file.sha256(),
                        "device": _device(filter),
                        **_jsonable(statistics[key]),
                    }
                record.save(keys)
                done += len(missing)
        record.save(keys)
        report(1, "")
    return Result({key: record.maps[key] for key in keys}, kept, int(np.count_nonzero(inside)))
