# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
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
import threading

import numpy as np

from .. import _image
from . import layouts, paths

try:
    # Intel's library compresses seven times as fast as zlib, to files of the same size.
    from isal import igzip as _gzip
    from isal import isal_zlib as _zlib
except ImportError:
    import gzip as _gzip
    import zlib as _zlib

# Of the maps of a slab, of which two are in memory: at most these, and a part of the memory. Smaller slabs take longer, since the
# windows reach over their borders; greater ones let the CPU work long without a word.
_SLAB_BYTES = 2**29
_SLAB_BYTES_OF_DEVICE = 2**30
_PART_OF_SLAB = 32

# What is compressed at once, so that files do not depend on slabs. It fits into a cache of the processor.
_BLOCK_BYTES = 2**20

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
    with paths.errors_named(path):
        try:
            import SimpleITK

            SimpleITK.WriteImage(_image.to_simpleitk(small), str(path))
        except ImportError:
            from .._itk import itk

            itk.imwrite(_image.to_itk(small), str(path))
        content = path.read_bytes()
        path.unlink()
    return content, small.array.nbytes


def header(volume, dtype, folder, file_format="nii.gz"):
    """The header of a file of a map with the geometry of a volume: ITK's, of a small image, with the sizes of the volume."""
    is_nrrd = file_format == "nrrd"
    if not is_nrrd and max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: sizes of NIfTI are at most {_MAX_SIZE}")
    # Threads write headers at the same time.
    name = f"header-{threading.get_ident()}.{'nrrd' if is_nrrd else 'nii'}"
    content, nbytes = _small_image(volume, dtype, folder / name)
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


class _Growing:
    """A map on the disk that grows."""

    def __init__(self, final):
        self.path = final
        # In a region, slab by slab.
        self.values = []
        # The future of the last slab.
        self.appended = None

    def append_maps(self, values, inside):
        self.append(values)
        if inside is not None:
            self.values.append(values[inside])

    def wait(self):
        """Wait for all slabs to be appended; raises their exceptions."""
        if self.appended is not None:
            self.appended.result()

    def finish_maps(self):
        self.wait()
        self.finish()


class _File(_Growing):
    """A file that grows: a header and voxels, of which all, none, or the voxels are compressed."""

    def __init__(self, final, staging, head):
        super().__init__(final)
        self._staged = staging / final.name
        self._head = len(head)
        self._hash = hashlib.sha256()
        self._compressor = None if final.name.endswith(".nii") else _zlib.compressobj(1, _zlib.DEFLATED, 31)
        self._is_nrrd = final.name.endswith(".nrrd")
        self._rest = b""
        with paths.errors_named(final):
            self._file = open(self._staged, "wb")
        if self._is_nrrd:
            self._write(head)
        else:
            self.append(head)

    def _write(self, data):
        self._hash.update(data)
        with paths.errors_named(self.path):
            self._file.write(data)

    def append(self, data):
        data = memoryview(data).cast("B")
        if self._compressor is None:
            self._write(data)
            return
        if self._rest:
            missing = _BLOCK_BYTES - len(self._rest)
            self._rest, data = b"".join((self._rest, data[:missing])), data[missing:]
            if len(self._rest) < _BLOCK_BYTES:
                return
            self._write(self._compressor.compress(self._rest))
        end = len(data) // _BLOCK_BYTES * _BLOCK_BYTES
        for first in range(0, end, _BLOCK_BYTES):
            self._write(self._compressor.compress(data[first : first + _BLOCK_BYTES]))
        self._rest = bytes(data[end:])

    def finish(self):
        """Write the rest, to the disk."""
        try:
            if self._compressor:
                self._write(self._compressor.compress(self._rest) + self._compressor.flush())
            with paths.errors_named(self.path):
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
        with paths.errors_named(self.path):
            os.replace(self._staged, self.path)
        return self.path

    def close(self):
        with contextlib.suppress(OSError):
            self._file.close()


# --- Stores of zarr ----------------------------------------------------------------------------------------------------

# Of a chunk, which has whole planes of one map.
_CHUNK_VOXELS = 2**18


# Of the compression by Blosc.
_COMPRESSION, _LEVEL = "zstd", 1


def zarr_package():
    try:
        import zarr
        from zarr.codecs import BloscCodec
    except ImportError:
        raise ImportError("stores of zarr need the package zarr, 3 or later: pip install 'voxelmaps[dask]'") from None
    return zarr, BloscCodec


def _planes_of_chunk(shape):
    return max(1, min(shape[0], _CHUNK_VOXELS // math.prod(shape[1:])))


def create_array(path, shape, dtype):
    """The metadata of an array of maps in a folder, whose chunks are written by _Channel."""
    zarr, codec = zarr_package()
    zarr.create_array(
        str(path),
        shape=shape,
        chunks=(1, _planes_of_chunk(shape[1:]), *shape[2:]),
        dtype=dtype,
        compressors=codec(cname=_COMPRESSION, clevel=_LEVEL, shuffle="shuffle", typesize=np.dtype(dtype).itemsize),
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


class _Channel(_Growing):
    """The folder of a map in a store, which grows. Its chunks are those that zarr writes; zarr itself takes milliseconds for each.

    shape     Of the map.
    staged    The folder until it is whole.
    """

    def __init__(self, final, shape, dtype, staged):
        super().__init__(final)
        self._shape, self._dtype, self._staged = shape, np.dtype(dtype).newbyteorder("<"), staged
        self._planes = _planes_of_chunk(shape)
        self._hash = hashlib.sha256()
        self._pending, self._written = [], 0

    def _chunk(self, number):
        return self._staged.joinpath(str(number), *["0"] * (len(self._shape) - 1))

    def _write(self, is_last):
        from numcodecs import blosc

        pending = self._pending[0] if len(self._pending) == 1 else np.concatenate(self._pending)
        while len(pending) >= self._planes or (is_last and len(pending)):
            chunk, pending = pending[: self._planes], pending[self._planes :]
            if len(chunk) < self._planes:
                # Chunks have one size.
                beyond = np.full((self._planes - len(chunk), *self._shape[1:]), np.nan, self._dtype)
                chunk = np.concatenate([chunk, beyond])
            chunk = np.ascontiguousarray(chunk, self._dtype)
            content = blosc.compress(chunk, _COMPRESSION.encode(), _LEVEL, blosc.SHUFFLE)
            self._hash.update(content)
            path = self._chunk(self._written)
            with paths.errors_named(self.path):
                path.parent.mkdir(parents=True)
                with open(path, "wb") as file:
                    file.write(content)
            self._written += 1
        # Not a view, which would keep the slab in memory.
        self._pending = [pending.copy()]

    def append(self, values):
        self._pending.append(values)
        self._write(False)

    def finish(self):
        """Write the rest, to the disk."""
        self._write(True)
        self._pending = []
        with paths.errors_named(self.path):
            for number in range(self._written):
                with open(self._chunk(number), "rb") as file:
                    os.fsync(file.fileno())

    def sha256(self):
        return self._hash.hexdigest()

    def values_inside(self, inside, dtype):
        from numcodecs import blosc

        parts = [np.empty(0, dtype)]
        for number in range(self._written):
            content = blosc.decompress(self._chunk(number).read_bytes())
            chunk = np.frombuffer(content, self._dtype).reshape(-1, *self._shape[1:])
            part = inside[number * self._planes : (number + 1) * self._planes]
            parts.append(chunk[: len(part)][part])
        return np.concatenate(parts)

    def publish(self):
        """Give the folder its name. Returns its path."""
        with paths.errors_named(self.path):
            if self.path.exists():
                os.replace(self.path, self._staged.with_name(f"{self._staged.name}-before"))
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
        zarr_package()
        staged = pathlib.Path(tempfile.mkdtemp(dir=folder.staging))
        shape = volume.array.shape
        return [_Channel(path, shape, dtype, staged / str(number)) for number, path in enumerate(paths)]
    head = header(volume, dtype, folder.staging, layout.format)
    return [_File(path, folder.staging, head) for path in paths]


class Threads:
    # Of computation and compression in this process; 0 for one per processor.
    number = 0


def number_of_threads():
    if Threads.number:
        return Threads.number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_bytes():
    """Memory that this process can have, as Linux and its control groups tell; 4 GiB elsewhere."""
    limits = [2**32]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        with open("/proc/meminfo") as file:
            limits = [int(next(line for line in file if line.startswith("MemAvailable")).split()[1]) * 1024]
    with contextlib.suppress(OSError, ValueError):
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            root = pathlib.Path("/sys/fs/cgroup", "memory" if controllers else "")
            name = "memory.limit_in_bytes" if controllers else "memory.max"
            for folder in (group, *map(str, pathlib.PurePosixPath(group).parents)):
                with contextlib.suppress(OSError, ValueError):
                    limits.append(int((root / folder.lstrip("/") / name).read_text()))
    return min(limits)


def _slabs(volume, bytes_per_voxel, is_on_device):
    """First and last + 1 plane of slabs, along the last axis of ITK and the first of NumPy."""
    depth, *plane = volume.array.shape
    most = min(_SLAB_BYTES_OF_DEVICE if is_on_device else _SLAB_BYTES, available_bytes() // _PART_OF_SLAB)
    thickness = max(1, most // (math.prod(plane) * bytes_per_voxel))
    # Of equal thickness, as far as possible.
    count = -(-depth // thickness)
    return [(depth * i // count, depth * (i + 1) // count) for i in range(count)]


def write_image(volume, key, folder, layout=layouts.Layout()):
    """Write an image into a folder; returns the file, which is to be published."""
    (file,) = _open_files(volume, volume.array.dtype, [key], folder, layout)
    try:
        file.append(volume.array)
        file.finish()
        return file
    finally:
        file.close()


class Writer:
    """Compresses maps by all processors while the next ones are computed. To be used in a with statement."""

    def __init__(self):
        # Compression lets other threads of Python run.
        self.pool = concurrent.futures.ThreadPoolExecutor(number_of_threads())
        self._appended = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.shutdown(cancel_futures=True)

    def append(self, files, slab, inside):
        """Append the maps of a slab to their files. So that two slabs at most are in memory, waits for those before; raises their
        exceptions."""
        for appended in self._appended:
            appended.result()
        self._appended = [self.pool.submit(file.append_maps, values, inside) for file, values in zip(files, slab)]
        for file, appended in zip(files, self._appended):
            file.appended = appended

    def finish(self, files):
        """Write the rest of files to the disk, which does several at once in the time of one."""
        finished = [self.pool.submit(file.finish_maps) for file in files]
        concurrent.futures.wait(finished)
        for file, one in zip(files, finished):
            file.close()
            one.result()


def write_maps(
    maps,
    volume,
    name,
    keys,
    folder,
    writer,
    progress=lambda fraction: None,
    layout=layouts.Layout(),
    inside=None,
):
    """Compute the maps of a class and begin to write them into a folder; returns dict of files by key, to be finished and
    published.

    maps      radiomics.Maps of the volume.
    volume    The image, for its geometry.
    keys      Dict of keys by feature.
    writer    Writer.
    inside    Region whose values are kept for statistics, or None.
    """
    features, keys = list(keys), list(keys.values())
    with contextlib.ExitStack() as stack:
        files = _open_files(volume, maps.dtype, keys, folder, layout)
        for file in files:
            stack.callback(file.close)
        for first, last in _slabs(volume, len(keys) * maps.dtype.itemsize, maps.device is not None):
            slab = maps.compute({name: features}, first, last)
            writer.append(files, slab, None if inside is None else inside[first:last])
            progress(last / len(volume.array))
        stack.pop_all()
        return dict(zip(keys, files))
