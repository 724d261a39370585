# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps as files, computed and written slab by slab, so that memory holds two slabs of the maps of one class."""

import concurrent.futures
import contextlib
import math
import os
import zlib

import numpy as np

from .. import _core
from . import library, nifti, paths
from .statistics import Statistics

try:
    # Intel's library compresses seven times as fast as zlib, to files of the same size.
    from isal.isal_zlib import compressobj
except ImportError:
    from zlib import compressobj  # type: ignore[assignment]

# Size of the maps of a slab. Windows reach beyond slabs, so smaller ones take longer.
_SLAB_BYTES = 2**28
_SLAB_BYTES_OF_DEVICE = 2**30
# Files that are written to the disk at the same time share the commits of its journal.
_FILES_AT_ONCE = 4
# What is compressed at once, which fits into a cache of the processor.
_BLOCK_BYTES = 2**20
# Sizes are 16-bit integers in NIfTI-1.
_MAX_SIZE = 32767
# Key of the names of components in headers of NRRD and MetaImage, as the C++ example FeatureMaps writes it.
FEATURE_NAMES = "FeatureNames"
_NRRD_TYPES = {name: name for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}
_NRRD_TYPES |= {"float32": "float", "float64": "double"}


# --- Files -------------------------------------------------------------------------------------------------------------


def _nifti_header(volume, dtype):
    nibabel = library("nibabel", "writing NIfTI files")
    if max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: NIfTI supports {_MAX_SIZE} along an axis")
    nifti.check_orthogonal(volume)
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


class _File:
    """A map on the disk that grows: a header and voxels; both are compressed in .nii.gz, the voxels in .nrrd.

    path    Where it appears when the files of the folder, to which it is added, are complete.
    fill    Replaces values that are not finite, or None.
    statistics
            Statistics of the region, or None.
    """

    def __init__(self, path, folder, head, fill=None, statistics=None):
        self.path, self._head, self._fill, self._file = os.fspath(path), head, fill, None
        self._statistics = statistics
        self._staged, self._folder = os.path.join(folder.staging, os.path.basename(self.path)), folder
        # A gzip file without name and time: equal maps are equal files.
        self._compressor = None if self.path.endswith(".nii") else compressobj(1, zlib.DEFLATED, 31)

    def append(self, slab, region=None, is_last=True):
        """Append planes. After the last ones, write everything to the disk, and return the statistics of the region.

        region    Numbers of the voxels of the planes that are in the region, or None.
        """
        with paths.errors_named(self.path):
            if self._file is None:
                # Here, in a thread of its own, since a new file waits for others that are synchronized with the disk.
                self._file = open(self._staged, "wb")
                (self._file.write if self.path.endswith(".nrrd") else self._write)(self._head)
            if region is not None:
                self._statistics.add(slab, region)
            if self._fill is not None:
                slab = np.where(np.isfinite(slab), slab, slab.dtype.type(self._fill))
            data = memoryview(np.ascontiguousarray(slab)).cast("B")
            for first in range(0, len(data), _BLOCK_BYTES):
                self._write(data[first : first + _BLOCK_BYTES])
            if not is_last:
                return None
            self._file.write(self._compressor.flush() if self._compressor else b"")
            self._file.flush()
            os.fsync(self._file.fileno())
            statistics = None if region is None else self._statistics.result()
            self.close()
            self._folder.files[self.path] = self._staged
        return statistics

    def _write(self, data):
        self._file.write(self._compressor.compress(data) if self._compressor else data)

    def close(self):
        # Complete files are flushed; the disk may be full for others.
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()


def write_image(volume, path, folder, names=()):
    """Write an image, a file of a folder. Returns its path.

    names    Names of its components, or of the map that it is; files of NIfTI have none.
    """
    head = _header(volume, volume.array.dtype, path.suffix[1:], names)
    with contextlib.closing(_File(path, folder, head)) as file:
        file.append(volume.array)
    return path


# --- Maps --------------------------------------------------------------------------------------------------------------


class Threads:
    # Threads of computation and compression in this process; 0 for one per processor.
    number = 0


def number_of_threads():
    if Threads.number:
        return Threads.number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _most_bytes():
    """Size of the values in the region that are kept in memory for the statistics of a class."""
    return min((_core.machine_memory() or 2**33) // 8, 2**32)


class Writer:
    """Writes the maps of a case into a folder. Compresses maps on all processors while the next ones are computed. To be used in a
    with statement, at whose end all maps are complete.

    volume    The image, for its geometry.
    folder    paths.Folder.
    layout    layouts.Layout.

    statistics has those of the maps by key.
    """

    def __init__(self, volume, dtype, folder, layout):
        self._shape, self._dtype, self._folder, self._layout = volume.array.shape, np.dtype(dtype), folder, layout
        self._head = _header(volume, dtype, layout.format)
        # Compression releases the lock of the interpreter, and most threads wait for the disk.
        self._pool = concurrent.futures.ThreadPoolExecutor(max(number_of_threads(), _FILES_AT_ONCE))
        # Tasks write maps that are in memory, whose bytes these are.
        self._files, self._tasks, self._bytes, self.statistics = {}, {}, 0, {}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._finish()
        finally:
            self._pool.shutdown(cancel_futures=True)
            for file in self._files.values():
                file.close()

    def write(self, maps, name, keys, inside=None):
        """Compute the maps of a class, and begin to write them.

        maps      radiomics.Maps of the volume.
        keys      Dict of keys by feature.
        inside    Region of the statistics, or None.
        """
        number = 0 if inside is None else int(np.count_nonzero(inside))
        is_large = number * self._dtype.itemsize * len(keys) > _most_bytes()
        for key in keys.values():
            path = paths.place(self._folder.path, self._layout.files[key])
            with paths.errors_named(path):
                statistics = Statistics(number, self._dtype, self._folder.staging if is_large else None)
            self._files[key] = _File(path, self._folder, self._head, self._layout.fill, statistics)
        depth, plane_bytes = self._shape[0], len(keys) * self._dtype.itemsize * math.prod(self._shape[1:])
        # Slabs of nearly equal thickness.
        most = _SLAB_BYTES if maps.device is None else _SLAB_BYTES_OF_DEVICE
        count = math.ceil(depth / max(1, most // plane_bytes))
        thickness = math.ceil(depth / count)
        for first in range(0, depth, thickness):
            last = min(first + thickness, depth)
            slab = maps.compute({name: list(keys)}, first, last)
            region = None if inside is None else np.flatnonzero(inside[first:last])
            # Planes are appended in their order, and two large slabs at most are in memory.
            if first > 0 or self._bytes + slab.nbytes > _SLAB_BYTES:
                self._finish()
            self._bytes += slab.nbytes
            for key, one in zip(keys.values(), slab):
                self._tasks[key] = self._pool.submit(self._files[key].append, one, region, last == depth)

    def _finish(self):
        """Wait until all maps in memory are written."""
        self.statistics.update((key, task.result()) for key, task in self._tasks.items())
        self._tasks, self._bytes = {}, 0
