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
import pathlib
import struct
import tempfile

import numpy as np

from . import _output_files, _output_layouts, _radiomics_images

try:
    # Intel's library compresses seven times as fast as zlib, to files of the same size.
    from isal import igzip as _gzip
    from isal import isal_zlib as _zlib
except ImportError:
    import gzip as _gzip
    import zlib as _zlib

# Of the maps of a slab, of which two are in memory. Smaller slabs take longer, since the windows reach over their borders.
_SLAB_BYTES = 2**25

# Of files that are read at once.
_READ_BYTES = 2**22

# Of NIfTI-1, with the four bytes that say that there is no extension.
_HEADER_BYTES = 352

# Sizes are 16-bit integers in NIfTI-1.
_MAX_SIZE = 32767

# --- Files -------------------------------------------------------------------------------------------------------------


def _small_image(volume, dtype, path):
    """The content of a file of a small image with the geometry of a volume, as ITK writes it, and the size of its voxels."""
    small = volume.with_array(np.zeros((2,) * len(volume.size), dtype))
    with _output_files.errors_named(path):
        try:
            import SimpleITK

            SimpleITK.WriteImage(_radiomics_images.to_simpleitk(small), str(path))
        except ImportError:
            from ._itk import itk

            itk.imwrite(_radiomics_images.to_itk(small), str(path))
        content = path.read_bytes()
        path.unlink()
    return content, small.array.nbytes


def header(volume, dtype, folder, file_format="nii.gz"):
    """The header of a file of a map with the geometry of a volume: ITK's, of a small image, with the sizes of the volume."""
    is_nrrd = file_format == "nrrd"
    if not is_nrrd and max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: sizes of NIfTI are at most {_MAX_SIZE}")
    content, nbytes = _small_image(volume, dtype, folder / ("header.nrrd" if is_nrrd else "header.nii"))
    head = bytearray(content[:-nbytes])
    # ITK does not say if it could not write all of it.
    if not head.endswith(b"\n\n") if is_nrrd else len(head) != _HEADER_BYTES:
        raise OSError(errno.EIO, "the header of a map could not be written; is the disk full", str(folder.parent))
    if is_nrrd:
        small = b" 2" * len(volume.size)
        sizes = "".join(f" {n}" for n in volume.size).encode()
        return (
            bytes(head).replace(b"\nsizes:" + small, b"\nsizes:" + sizes).replace(b"encoding: raw", b"encoding: gzip")
        )
    struct.pack_into(f"={len(volume.size)}h", head, 42, *volume.size)
    return bytes(head)


class _File:
    """A file that grows: a header and voxels, of which all, none, or the voxels are compressed."""

    def __init__(self, final, staging, head):
        self.path = final
        # In a region, slab by slab.
        self.values = []
        self._staged = staging / final.name
        self._head = len(head)
        self._hash = hashlib.sha256()
        self._compressor = None if final.name.endswith(".nii") else _zlib.compressobj(1, _zlib.DEFLATED, 31)
        self._is_nrrd = final.name.endswith(".nrrd")
        with _output_files.errors_named(final):
            self._file = open(self._staged, "wb")
        if self._is_nrrd:
            self._write(head)
        else:
            self.append(head)

    def _write(self, data):
        self._hash.update(data)
        with _output_files.errors_named(self.path):
            self._file.write(data)

    def append(self, data):
        self._write(self._compressor.compress(data) if self._compressor else data)

    def finish(self):
        """Write the rest, to the disk."""
        try:
            if self._compressor:
                self._write(self._compressor.flush())
            with _output_files.errors_named(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self.close()

    def sha256(self):
        return self._hash.hexdigest()

    def values_inside(self, inside, dtype):
        """The values in a region, of a file that is finished and has not got its name."""
        values = np.empty(np.count_nonzero(inside), dtype)
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(self._staged, "rb"))
            if self._is_nrrd:
                file.seek(self._head)
            if self._compressor:
                file = stack.enter_context(_gzip.open(file))
            if not self._is_nrrd:
                file.read(self._head)
            position = 0
            for plane in inside:
                read = np.frombuffer(file.read(plane.size * values.itemsize), dtype).reshape(plane.shape)[plane]
                values[position : position + len(read)] = read
                position += len(read)
        return values

    def publish(self):
        """Give the file its name. Returns its path."""
        with _output_files.errors_named(self.path):
            os.replace(self._staged, self.path)
        return self.path

    def close(self):
        with contextlib.suppress(OSError):
            self._file.close()


# --- Stores of zarr ----------------------------------------------------------------------------------------------------

# Of a chunk, which has whole planes of one map.
_CHUNK_VOXELS = 2**18


def zarr_package():
    try:
        import zarr
        from zarr.codecs import BloscCodec
    except ImportError:
        raise ImportError(
            "stores of zarr need the package zarr, 3 or later: pip install 'itk-voxelmaps[zarr]'"
        ) from None
    return zarr, BloscCodec


def create_array(path, shape, dtype):
    """An array of maps in a folder."""
    zarr, codec = zarr_package()
    planes = max(1, min(shape[1], _CHUNK_VOXELS // math.prod(shape[2:])))
    return zarr.create_array(
        str(path),
        shape=shape,
        chunks=(1, planes, *shape[2:]),
        dtype=dtype,
        compressors=codec(cname="zstd", clevel=3, shuffle="shuffle"),
        fill_value=float("nan"),
        dimension_names=["c", *"zyx"[-len(shape) + 1 :]],
        # A missing chunk would look like one that is lost.
        config={"write_empty_chunks": True},
        zarr_format=3,
    )


def create_group(path, attributes):
    zarr_package()[0].create_group(str(path), attributes=attributes, zarr_format=3)


def files_of_map(path):
    """The files of a map: itself, or those of its folder in a store, in the order of the chunks."""
    if not os.path.isdir(path):
        return [path]
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sorted(files, key=lambda name: (len(name), name))


class _Channel:
    """The folder of a map in a store, which grows."""

    def __init__(self, final, array, staged, number):
        self.path = final
        self._array, self._staged, self._number = array, staged, number
        self._planes = array.chunks[1]
        self.values = []
        self._pending, self._done = [], 0

    def _write(self, is_last):
        pending = np.concatenate(self._pending)
        whole = len(pending) if is_last else len(pending) // self._planes * self._planes
        if whole:
            with _output_files.errors_named(self.path):
                self._array[self._number, self._done : self._done + whole] = pending[:whole]
        self._done += whole
        # Not a view, which would keep the slab in memory.
        self._pending = [pending[whole:].copy()]

    def append(self, values):
        self._pending.append(values)
        self._write(False)

    def finish(self):
        """Write the rest, to the disk."""
        self._write(True)
        self._pending = []
        with _output_files.errors_named(self.path):
            for file in files_of_map(self._staged):
                with open(file, "rb") as opened:
                    os.fsync(opened.fileno())

    def sha256(self):
        return hash_of_map(self.path)

    def values_inside(self, inside, dtype):
        parts = [np.empty(0, dtype)]
        for first in range(0, len(inside), self._planes):
            last = min(first + self._planes, len(inside))
            parts.append(np.asarray(self._array[self._number, first:last])[inside[first:last]])
        return np.concatenate(parts)

    def publish(self):
        """Give the folder its name. Returns its path."""
        with _output_files.errors_named(self.path):
            if self.path.exists():
                os.replace(self.path, self._staged.with_name(f"{self._number}-before"))
            os.replace(self._staged, self.path)
        return self.path

    def close(self):
        pass


# --- Maps --------------------------------------------------------------------------------------------------------------


def hash_of_map(path):
    """SHA-256 of the files of a map."""
    digest = hashlib.sha256()
    for name in files_of_map(path):
        with open(name, "rb") as file:
            while data := file.read(_READ_BYTES):
                digest.update(data)
    return digest.hexdigest()


def _open_files(volume, dtype, keys, folder, layout):
    paths = [folder.path / layout.location(key) for key in keys]
    if layout.format == "zarr":
        staged = pathlib.Path(tempfile.mkdtemp(dir=folder.staging))
        with _output_files.errors_named(folder.path):
            array = create_array(staged, (len(keys), *volume.array.shape), dtype)
        return [_Channel(path, array, staged / "c" / str(number), number) for number, path in enumerate(paths)]
    head = header(volume, dtype, folder.staging, layout.format)
    return [_File(path, folder.staging, head) for path in paths]


class Threads:
    # Of computation and compression in this process; 0 for one per processor.
    number = 0


def number_of_threads():
    if Threads.number:
        return Threads.number
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
    (file,) = _open_files(volume, volume.array.dtype, [key], folder, _output_layouts.Layout())
    try:
        file.append(volume.array)
        file.finish()
        return file.publish()
    finally:
        file.close()


def write_maps(
    maps, volume, name, keys, folder, progress=lambda fraction: None, layout=_output_layouts.Layout(), inside=None
):
    """Compute the maps of a class and write them into a folder; returns dict of files by key, to be finished and published.

    maps      radiomics.Maps of the volume.
    volume    The image, for its geometry.
    keys      Dict of keys by feature.
    inside    Region whose values are kept for statistics, or None.
    """
    features, keys = list(keys), list(keys.values())
    with contextlib.ExitStack() as stack:
        files = _open_files(volume, maps.dtype, keys, folder, layout)
        for file in files:
            stack.callback(file.close)
        # Compression lets other threads of Python run.
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(min(len(files), number_of_threads())))
        compressed = []
        for first, last in _slabs(volume, len(keys) * maps.dtype.itemsize):
            slab = maps.compute({name: features}, first, last)
            # A slab is compressed while the next one is computed.
            list(compressed)
            part = None if inside is None else inside[first:last]
            compressed = pool.map(_append, files, slab, [part] * len(files))
            progress(last / len(volume.array))
        list(compressed)
        pool.shutdown()
        stack.pop_all()
        return dict(zip(keys, files))


def _append(file, values, inside):
    file.append(values)
    if inside is not None:
        file.values.append(values[inside])


def finish(files):
    """Write the rest of files to the disk. The disk does several at once in the time of one."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda file: file.finish(), files))
