# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps as files, computed and written slab by slab, so that memory holds two slabs of the maps of one class."""

import concurrent.futures
import math
import os
import tempfile
import zlib

import numpy as np

from . import layouts, library, paths
from .._image import check_orthogonal

try:
    # Intel's library compresses seven times as fast as zlib, to files of the same size.
    from isal.isal_zlib import compressobj
except ImportError:
    from zlib import compressobj

# Of the maps of a slab. Windows reach beyond slabs, so smaller ones take longer.
_SLAB_BYTES = 2**28
_SLAB_BYTES_OF_DEVICE = 2**30

# Of the values of a map in the region that are kept in memory for its statistics; more are kept in a temporary file.
_REGION_BYTES = 2**22

# Files that are written to the disk at the same time share the commits of its journal.
_FILES_AT_ONCE = 4

# What is compressed at once, which fits into a cache of the processor.
_BLOCK_BYTES = 2**20

# Sizes are 16-bit integers in NIfTI-1.
_MAX_SIZE = 32767

# Of a chunk of zarr, which has complete planes of one map.
_CHUNK_VOXELS = 2**18

# Key of the names of components in headers of NRRD and MetaImage, as the C++ example FeatureMaps writes it.
FEATURE_NAMES = "FeatureNames"

_NRRD_TYPES = {
    **{f"{sign}{8 * n}": f"{sign}{8 * n}" for sign in ("int", "uint") for n in (1, 2, 4, 8)},
    "float32": "float",
    "float64": "double",
}


# --- Files -------------------------------------------------------------------------------------------------------------


def _nifti_header(volume, dtype):
    nibabel = library("nibabel", "writing NIfTI files")
    if max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: NIfTI supports {_MAX_SIZE} along an axis")
    check_orthogonal(volume)
    header = nibabel.Nifti1Header()
    header.set_data_dtype(dtype)
    header.set_data_shape(volume.size)
    header.set_qform(volume.affine, "scanner")
    header.set_sform(volume.affine, "scanner")
    header.set_xyzt_units("mm")
    header["vox_offset"], header["magic"] = 352, b"n+1"
    # Four bytes indicate that there is no extension.
    return header.binaryblock + bytes(4)


def _nrrd_header(volume, dtype, names):
    dimension, components = len(volume.spacing), volume.array.ndim - len(volume.spacing)
    vector = lambda values: f"({','.join(repr(float(value)) for value in values)})"
    axes = np.reshape(volume.direction, (dimension, dimension)) * volume.spacing
    lines = [
        "NRRD0004",
        f"type: {_NRRD_TYPES[np.dtype(dtype).name]}",
        f"dimension: {components + dimension}",
        "space: left-posterior-superior" if dimension == 3 else f"space dimension: {dimension}",
        f"sizes: {' '.join(map(str, volume.size))}",
        f"space directions: {' '.join(['none'] * components + [*map(vector, axes.T)])}",
        f"kinds: {' '.join(['vector'] * components + ['domain'] * dimension)}",
        "endian: little",
        "encoding: gzip",
        f"space origin: {vector(volume.origin)}",
        *[f"{FEATURE_NAMES}:={','.join(names)}"] * bool(names),
    ]
    return "\n".join([*lines, "", ""]).encode()


def _header(volume, dtype, file_format, names=()):
    return _nrrd_header(volume, dtype, names) if file_format == "nrrd" else _nifti_header(volume, dtype)


class _Growing:
    """A map on the disk that grows.

    path    Where it appears when it is complete.
    fill    Replaces values that are not finite, or None.
    """

    def __init__(self, path, staging, fill=None):
        self.path = os.fspath(path)
        # In the region.
        self.values = tempfile.SpooledTemporaryFile(_REGION_BYTES, dir=staging)
        self._fill = fill

    def append(self, slab, region=None, is_last=True, function=None):
        """Append planes. After the last ones, write everything to the disk, and return the value of a function of the map.

        region    Numbers of the voxels whose values are kept for the function.
        """
        try:
            with paths.errors_named(self.path):
                if region is not None:
                    self.values.write(slab.reshape(-1)[region])
                if self._fill is not None:
                    slab = np.where(np.isfinite(slab), slab, slab.dtype.type(self._fill))
                self._write(slab)
                if is_last:
                    self._finish()
            return function(self) if is_last and function is not None else None
        finally:
            if is_last:
                self.close()

    def _finish(self):
        pass

    def publish(self):
        """Give the complete file its name."""

    def close(self):
        self.values.close()


class _File(_Growing):
    """A file with a header and voxels; both are compressed in .nii.gz, the voxels in .nrrd."""

    def __init__(self, path, staging, head, fill=None):
        super().__init__(path, staging, fill)
        self._staged, self._head, self._file = os.path.join(staging, os.path.basename(self.path)), head, None
        # A gzip file without name and time: equal maps are equal files.
        self._compressor = None if self.path.endswith(".nii") else compressobj(1, zlib.DEFLATED, 31)

    def _write_bytes(self, data):
        self._file.write(data if self._compressor is None else self._compressor.compress(data))

    def _write(self, slab):
        if self._file is None:
            # Here, in a thread of its own, since a new file waits for others that are synchronized with the disk.
            self._file = open(self._staged, "wb")
            (self._file.write if self.path.endswith(".nrrd") else self._write_bytes)(self._head)
        data = memoryview(np.ascontiguousarray(slab)).cast("B")
        for first in range(0, len(data), _BLOCK_BYTES):
            self._write_bytes(data[first : first + _BLOCK_BYTES])

    def _finish(self):
        if self._compressor is not None:
            self._file.write(self._compressor.flush())
        self._file.flush()
        os.fsync(self._file.fileno())

    def publish(self):
        with paths.errors_named(self.path):
            os.makedirs(os.path.dirname(self.path) or os.curdir, exist_ok=True)
            os.replace(self._staged, self.path)

    def close(self):
        super().close()
        if self._file is not None:
            self._file.close()


def write_image(volume, path, folder, names=()):
    """Write an image into a folder. Returns its path.

    names    Of its components, or of the map that it is; files of NIfTI have none.
    """
    head = _header(volume, volume.array.dtype, path.suffix[1:], names)
    file = _File(path, folder.staging, head)
    file.append(volume.array)
    file.publish()
    return path


# --- Stores of zarr ----------------------------------------------------------------------------------------------------


class Store:
    """A store of OME-Zarr 0.5 with all maps of a case in one array, written in the folder for incomplete files."""

    def __init__(self, volume, keys, dtype, folder):
        zarr, codec = layouts.zarr_package()
        self._volume, self._keys, self._folder = volume, list(keys), folder
        shape = volume.array.shape
        self.planes = max(1, min(shape[0], _CHUNK_VOXELS // math.prod(shape[1:])))
        self._group = zarr.create_group(str(folder.staging / layouts.STORE), zarr_format=3)
        self._array = self._group.create_array(
            "0",
            shape=(len(self._keys), *shape),
            chunks=(1, self.planes, *shape[1:]),
            dtype=dtype,
            compressors=codec(cname="zstd", clevel=1, shuffle="shuffle", typesize=np.dtype(dtype).itemsize),
            fill_value=float("nan"),
            dimension_names=["c", *"zyx"[-len(shape) :]],
            # A missing chunk would look like one that is lost.
            config={"write_empty_chunks": True},
        )

    def open(self, key):
        return _Channel(self._folder, self._array, self._keys.index(key))

    def publish(self, statistics):
        """Write the metadata, and give the store its name."""
        self._group.update_attributes(_attributes(self._volume, [(key, statistics[key]) for key in self._keys]))
        path = self._folder.path / layouts.STORE
        with paths.errors_named(path):
            if path.exists():
                os.replace(path, self._folder.staging / "before")
            os.replace(self._folder.staging / layouts.STORE, path)


class _Channel(_Growing):
    """A map in a store."""

    def __init__(self, folder, array, number):
        super().__init__(folder.path / layouts.STORE, folder.staging)
        self._array, self._number, self._planes = array, number, 0

    def _write(self, slab):
        self._array[self._number, self._planes : self._planes + len(slab)] = slab
        self._planes += len(slab)


def _attributes(volume, maps):
    """Metadata of OME-Zarr 0.5, which has no directions; an attribute of its own has ITK's geometry."""

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
    channels = {"channels": [channel(*one) for one in maps]}
    return {
        "ome": {"version": "0.5", "multiscales": [multiscale], "omero": channels},
        "voxelmaps": {"names": [key for key, _ in maps], **geometry},
    }


# --- Maps --------------------------------------------------------------------------------------------------------------


class Threads:
    # Of computation and compression in this process; 0 for one per processor.
    number = 0


def number_of_threads():
    if Threads.number:
        return Threads.number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _slabs(depth, plane_bytes, is_on_device, multiple):
    """First and last + 1 plane of slabs of nearly equal thickness, a multiple of planes."""
    most = _SLAB_BYTES_OF_DEVICE if is_on_device else _SLAB_BYTES
    count = -(-depth // max(1, most // plane_bytes))
    thickness = -(-depth // count // multiple) * multiple
    return [(first, min(first + thickness, depth)) for first in range(0, depth, thickness)]


class Writer:
    """Writes the maps of a case into a folder. Compresses maps on all processors while the next ones are computed. To be used in a
    with statement, at whose end all maps are complete.

    volume    The image, for its geometry.
    folder    paths.Folder.
    layout    layouts.Layout.
    """

    def __init__(self, volume, dtype, folder, layout):
        self._shape, self._dtype, self._folder, self._layout = volume.array.shape, np.dtype(dtype), folder, layout
        # Compression releases the lock of the interpreter, and most threads wait for the disk.
        self._pool = concurrent.futures.ThreadPoolExecutor(max(number_of_threads(), _FILES_AT_ONCE))
        is_store = isinstance(layout, layouts.ZarrLayout)
        self.store = Store(volume, layout.keys, dtype, folder) if is_store else None
        self._head = None if is_store else _header(volume, dtype, layout.format)
        # Of maps that are in memory, whose bytes these are.
        self._tasks, self._bytes = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.finish()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def _open(self, key):
        if self.store is not None:
            return self.store.open(key)
        path = os.path.normpath(os.path.join(self._folder.path, self._layout.location(key)))
        return _File(path, self._folder.staging, self._head, self._layout.fill)

    def write(self, maps, name, keys, inside=None, progress=lambda part: None, function=None, complete=lambda found: 0):
        """Compute the maps of a class, and begin to write them.

        maps        radiomics.Maps of the volume.
        keys        Dict of keys by feature.
        inside      Region whose values are kept for statistics, or None.
        function    Of each complete file.
        complete    Called when all files have their names, with a dict of the values of the function by key.
        """
        files = {key: self._open(key) for key in keys.values()}
        planes = 1 if self.store is None else self.store.planes
        plane_bytes = len(keys) * self._dtype.itemsize * math.prod(self._shape[1:])
        depth = self._shape[0]

        def publish(tasks, before):
            for task in before:
                task.result()
            found = {key: task.result() for key, task in zip(files, tasks)}
            for file in files.values():
                file.publish()
            complete(found)

        for first, last in _slabs(depth, plane_bytes, maps.device is not None, planes):
            slab = maps.compute({name: list(keys)}, first, last)
            region = None if inside is None else np.flatnonzero(inside[first:last])
            # Planes are appended in their order, and two large slabs at most are in memory.
            if first > 0 or self._bytes + slab.nbytes > _SLAB_BYTES:
                self.finish()
            before, self._bytes = list(self._tasks), self._bytes + slab.nbytes
            is_last = last == depth
            begun = [
                self._pool.submit(file.append, one, region, is_last, function)
                for file, one in zip(files.values(), slab)
            ]
            self._tasks += [*begun, *([self._pool.submit(publish, begun, before)] if is_last else [])]
            progress(last / depth)

    def finish(self):
        """Wait until everything is written, and complete maps have their names."""
        for task in self._tasks:
            task.result()
        self._tasks, self._bytes = [], 0
