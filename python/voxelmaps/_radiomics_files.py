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
"""Feature maps as files, computed and written slab by slab, so that memory holds a slab of the maps of one class."""

import concurrent.futures
import contextlib
import errno
import hashlib
import math
import os
import struct

import numpy as np

from . import _output_files, _radiomics_images

try:
    # Intel's library compresses seven times as fast as zlib, to files of the same size.
    from isal import igzip as _gzip
    from isal import isal_zlib as _zlib
except ImportError:
    import gzip as _gzip
    import zlib as _zlib

# Of the maps of a slab, of which two are in memory. Smaller slabs take longer, since the windows reach over their borders.
_SLAB_BYTES = 2**25

# Of NIfTI-1, with the four bytes that say that there is no extension.
HEADER_BYTES = 352

# Sizes are 16-bit integers in NIfTI-1.
_MAX_SIZE = 32767


def header(volume, dtype, folder):
    """The header of a NIfTI file of a map with the geometry of a volume: ITK's, of a small image, with the sizes of the volume."""
    if max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: sizes of NIfTI are at most {_MAX_SIZE}")
    small = volume.with_array(np.zeros((2,) * len(volume.size), dtype))
    path = folder / "header.nii"
    with _output_files.errors_named(path):
        try:
            import SimpleITK

            SimpleITK.WriteImage(_radiomics_images.to_simpleitk(small), str(path))
        except ImportError:
            from ._itk import itk

            itk.imwrite(_radiomics_images.to_itk(small), str(path))
        content = bytearray(path.read_bytes())
        path.unlink()
    struct.pack_into(f"={len(volume.size)}h", content, 42, *volume.size)
    # ITK does not say if it could not write all of it.
    if len(content) != HEADER_BYTES + small.array.nbytes:
        raise OSError(errno.EIO, "the header of a map could not be written; is the disk full", str(folder.parent))
    return bytes(content[:HEADER_BYTES])


class _File:
    """A gzip file that grows."""

    def __init__(self, final, staging):
        self.path = final
        self.staged = staging / final.name
        self._hash = hashlib.sha256()
        self._compressor = _zlib.compressobj(1, _zlib.DEFLATED, 31)
        with _output_files.errors_named(final):
            self._file = open(self.staged, "wb")

    def _append(self, compressed):
        self._hash.update(compressed)
        with _output_files.errors_named(self.path):
            self._file.write(compressed)

    def append(self, data):
        self._append(self._compressor.compress(data))

    def finish(self):
        """Write the rest, to the disk."""
        try:
            self._append(self._compressor.flush())
            with _output_files.errors_named(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self.close()

    def sha256(self):
        return self._hash.hexdigest()

    def publish(self):
        """Give the file its name. Returns its path."""
        with _output_files.errors_named(self.path):
            os.replace(self.staged, self.path)
        return self.path

    def close(self):
        with contextlib.suppress(OSError):
            self._file.close()


def number_of_threads():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _slabs(volume, bytes_per_voxel):
    """First and last + 1 plane of slabs, along the last axis of ITK and the first of NumPy."""
    depth, *plane = volume.array.shape
    thickness = max(1, _SLAB_BYTES // (math.prod(plane) * bytes_per_voxel))
    # Of equal thickness, as far as possible.
    count = -(-depth // thickness)
    return [(depth * i // count, depth * (i + 1) // count) for i in range(count)]


def write_image(volume, key, folder):
    """Write an image into a folder; returns its path."""
    file = _File(folder.path / f"{key}.nii.gz", folder.staging)
    try:
        file.append(header(volume, volume.array.dtype, folder.staging))
        file.append(volume.array)
        file.finish()
        return file.publish()
    finally:
        file.close()


def write_maps(maps, volume, name, keys, folder, progress=lambda fraction: None):
    """Compute the maps of a class and write them into a folder; returns dict of files by key, to be finished and published.

    maps      radiomics.Maps of the volume.
    volume    The image, for its geometry.
    keys      Dict of keys by feature.
    """
    head = header(volume, maps.dtype, folder.staging)
    features, keys = list(keys), list(keys.values())
    with contextlib.ExitStack() as stack:
        files = [_File(folder.path / f"{key}.nii.gz", folder.staging) for key in keys]
        for file in files:
            stack.callback(file.close)
            file.append(head)
        # Compression lets other threads of Python run.
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(min(len(files), number_of_threads())))
        compressed = []
        for first, last in _slabs(volume, len(keys) * maps.dtype.itemsize):
            slab = maps.compute({name: features}, first, last)
            # A slab is compressed while the next one is computed.
            list(compressed)
            compressed = pool.map(lambda file, values: file.append(values), files, slab)
            progress(last / len(volume.array))
        list(compressed)
        pool.shutdown()
        stack.pop_all()
        return dict(zip(keys, files))


def finish(files):
    """Write the rest of files to the disk. The disk does several at once in the time of one."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(_File.finish, files))


def values_inside(path, inside, dtype):
    """The values of the file of a map in a region."""
    values = np.empty(np.count_nonzero(inside), dtype)
    with _gzip.open(path) as file:
        file.read(HEADER_BYTES)
        position = 0
        for plane in inside:
            read = np.frombuffer(file.read(plane.size * values.itemsize), dtype).reshape(plane.shape)[plane]
            values[position : position + len(read)] = read
            position += len(read)
    return values
