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
import platform
import shutil
import struct
import tempfile
import time
import unicodedata
import zlib
from typing import NamedTuple

import numpy as np

from . import _radiomics_images

try:
    import fcntl
except ImportError:
    fcntl = None

# Folders in which files are written until they are whole. Their names go on with the process that writes.
STAGING_PREFIX = ".voxelmaps-maps-"

# After so many seconds, folders of processes of other computers are taken for left behind.
_LONGEST_PAUSE = 86400

# Of the maps of a slab. Smaller slabs take longer, since the windows reach over their borders.
_SLAB_BYTES = 2**26

# Level 6 takes twice as long and makes files 2 % smaller: the last bits of maps are noise to the compressor.
_COMPRESSION_LEVEL = 1

# Of NIfTI-1, with the four bytes that say that there is no extension.
HEADER_BYTES = 352

# Sizes are 16-bit integers in NIfTI-1.
_MAX_SIZE = 32767


# --- What is read and written ------------------------------------------------------------------------------------------


def _identity(folder, name=""):
    """What all paths of a file have in common, whatever links they lead through. The folder is a real path if there is a name."""
    path = os.path.join(folder, name) if name else folder
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except OSError:
        return path if name else os.path.realpath(path)


def _folded(path):
    """The path on file systems that tell neither capital letters nor normal forms of Unicode apart."""
    return unicodedata.normalize("NFC", os.path.realpath(path).casefold())


def check_outputs(read, folders, names, files=()):
    """Raise ValueError if a file that is written would replace one that is read, or that is written too, or no file.

    read       Pairs of what is read, such as "the image", and its path, of a file or a folder.
    folders    Pairs of what they are, and folders for files of the names.
    files      Pairs of what they are, and further files that are written.
    """
    inputs = {}
    for what, path in read:
        if STAGING_PREFIX in os.path.realpath(path):
            raise ValueError(f"{what} {path} is in a folder for unfinished maps, which runs remove")
        inputs.setdefault(_identity(path), f"{what} {path}")
        # What cannot be read is said when it is read, and ends one case only.
        with contextlib.suppress(OSError, ValueError):
            for file in _radiomics_images.files_of(path):
                inputs.setdefault(_identity(file), f"{what} {file}")

    def check(what, path, folder, name):
        identity = _identity(folder, name)
        if identity in inputs:
            raise ValueError(f"{what} {path} would replace {inputs[identity]}")
        if not isinstance(identity, str) and not os.path.isfile(path):
            raise ValueError(f"{what} {path} is {'a folder' if os.path.isdir(path) else 'not a file'}")

    folders_of_missing = {os.path.dirname(identity) for identity in inputs if isinstance(identity, str)}
    outputs = {}
    for what, path in folders:
        _radiomics_images.utf8(os.fspath(path), what)
        other = outputs.get(_folded(path))
        if other is not None:
            is_same = _identity(path) == _identity(other[1])
            hint = "" if is_same else ", on file systems that do not tell capital letters apart"
            raise ValueError(f"{what} is also {other[0]}{hint}")
        outputs[_folded(path)] = what, path
        folder = os.path.realpath(path)
        for name in names if os.path.isdir(folder) or folder in folders_of_missing else ():
            check("the file", os.path.join(path, name), folder, name)
    names = {name.casefold() for name in names}
    for what, path in files:
        folder, name = os.path.split(os.path.abspath(path))
        check(what, path, os.path.realpath(folder), name)
        if _folded(folder) in outputs and name.casefold() in names:
            raise ValueError(f"{what} {path} is also a file of {outputs[_folded(folder)][0]}")


def read_text(path, what, max_bytes):
    """The text of a file. Raises OSError, or ValueError if it is no file, too long, or no text."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{what} is {'a folder' if os.path.isdir(path) else 'not a file'}")
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"{what} is longer than {max_bytes} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} is not UTF-8: {error.reason} at byte {error.start}") from None
    if "\0" in text:
        raise ValueError(f"{what} has a null byte in line {text[: text.index(chr(0))].count(chr(10)) + 1}")
    return text


# --- Folders -----------------------------------------------------------------------------------------------------------


class _Folder(NamedTuple):
    path: pathlib.Path
    # Where files are written until they are whole.
    staging: pathlib.Path


class FolderInUse(RuntimeError):
    """Another run writes there."""


def _place():
    """A text that is the same for all processes that can see this one by its number."""
    texts = [platform.node()]
    for read in (
        lambda: pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(),
        lambda: os.readlink("/proc/self/ns/pid"),
    ):
        with contextlib.suppress(OSError):
            texts.append(read())
    return hashlib.sha256(" ".join(texts).encode()).hexdigest()[:8]


def _start_of(process):
    """When a process was started, as a text."""
    try:
        state, *fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return "ended" if state in "ZX" else fields[18]
    except OSError:
        return "unknown"


def _is_running(process, start):
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return _start_of(process) in (start, "unknown")


def _time_of(path):
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _staging_prefix():
    return f"{STAGING_PREFIX}{_place()}-{os.getpid()}-{_start_of(os.getpid())}-"


def remove_staging(path, of_this_process=False):
    """Remove what runs that were killed have left in a folder, or what this one would leave. Raises FolderInUse if another process
    of this computer writes there: not all file systems have locks."""
    for folder in pathlib.Path(path).glob(STAGING_PREFIX + "*"):
        place, process, start, *_ = (*folder.name[len(STAGING_PREFIX) :].split("-"), "", "", "")
        if of_this_process:
            is_left = folder.name.startswith(_staging_prefix())
        elif place == _place() and process.isdecimal() and os.name == "posix":
            if _is_running(process, start):
                raise FolderInUse(f"the folder {path} is in use by another run")
            is_left = True
        else:
            times = [_time_of(entry) for entry in (folder, *folder.glob("*"))]
            is_left = time.time() - max(times) > _LONGEST_PAUSE
        if is_left:
            shutil.rmtree(folder, ignore_errors=True)


def _lock(descriptor, path):
    """Lock an open folder until it is closed. Some file systems have no locks."""
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderInUse(f"the folder {path} is in use by another run") from None
    except OSError:
        pass


@contextlib.contextmanager
def output_folder(path):
    """Make a folder for maps, for one run at a time."""
    path = pathlib.Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(f"the folder {path} cannot be made: a file is in its place") from None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _lock(descriptor, path)
        remove_staging(path)
        try:
            staging = tempfile.mkdtemp(prefix=_staging_prefix(), dir=path)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(path)) from None
        try:
            yield _Folder(path, pathlib.Path(staging))
            os.fsync(descriptor)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def errors_named(path):
    """Errors of the operating system name this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def replace_text(path, text, staging=None):
    """Replace a file by one with this text, which is whole and on the disk before. Links are followed.

    staging    Where it is written; by default beside the file.
    """
    path = pathlib.Path(os.path.realpath(path))
    with errors_named(path):
        descriptor, staged = tempfile.mkstemp(prefix=".voxelmaps-", dir=staging or path.parent)
        try:
            # mkstemp lets nobody else read it.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(staged, 0o666 & ~mask)
            with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            os.replace(staged, path)
        except BaseException:
            os.unlink(staged)
            raise


# --- Files -------------------------------------------------------------------------------------------------------------


def header(volume, dtype, folder):
    """The header of a NIfTI file of a map with the geometry of a volume: ITK's, of a small image, with the sizes of the volume."""
    from ._itk import itk

    if max(volume.size) > _MAX_SIZE:
        raise ValueError(f"maps of {volume.size} voxels cannot be written: sizes of NIfTI are at most {_MAX_SIZE}")
    small = volume.with_array(np.zeros((2,) * len(volume.size), dtype))
    path = folder / "header.nii"
    with errors_named(path):
        if hasattr(itk, "NiftiImageIO"):
            itk.imwrite(_radiomics_images.to_itk(small), str(path))
        else:
            sitk = _radiomics_images.simpleitk("writing NIfTI files")
            sitk.WriteImage(_radiomics_images.to_simpleitk(small), str(path))
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
        self._compressor = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, 31)
        with errors_named(final):
            self._file = open(self.staged, "wb")

    def _append(self, compressed):
        self._hash.update(compressed)
        with errors_named(self.path):
            self._file.write(compressed)

    def append(self, data):
        self._append(self._compressor.compress(data))

    def finish(self):
        """Write the rest, to the disk."""
        self._append(self._compressor.flush())
        with errors_named(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def sha256(self):
        return self._hash.hexdigest()

    def publish(self):
        """Give the file its name. Returns its path."""
        with errors_named(self.path):
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


def _compute(filter, volume, first, last):
    """The maps of a slab; the features are the last axis."""
    from ._itk import itk

    dimension = len(volume.size)
    region = itk.ImageRegion[dimension]()
    for axis, size in enumerate(volume.size):
        region.SetIndex(axis, first if axis == dimension - 1 else 0)
        region.SetSize(axis, last - first if axis == dimension - 1 else size)
    filter.UpdateOutputInformation()
    filter.GetOutput().SetRequestedRegion(region)
    filter.Update()
    # An update would be one of the whole image.
    return itk.array_view_from_image(filter.GetOutput(), update=False)


def write_maps(filter, volume, keys, folder, progress=lambda fraction: None):
    """Compute the maps of a filter and write them into a folder; returns dict of files by key, which are whole but not published.

    volume    The input of the filter, with its geometry.
    keys      Names of the files, without their ending, in the order of the components of the output.
    """
    from ._itk import itk

    dtype = np.dtype(np.float64 if itk.template(filter.GetOutput())[1][0] is itk.D else np.float32)
    head = header(volume, dtype, folder.staging)
    slabs = _slabs(volume, len(keys) * dtype.itemsize)
    with contextlib.ExitStack() as stack:
        files = [_File(folder.path / f"{key}.nii.gz", folder.staging) for key in keys]
        for file in files:
            stack.callback(file.close)
            file.append(head)
        # zlib lets other threads of Python run.
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(min(len(files), number_of_threads())))
        for first, last in slabs:
            maps = _compute(filter, volume, first, last)
            list(pool.map(lambda i: files[i].append(np.ascontiguousarray(maps[..., i])), range(len(files))))
            progress(last / len(volume.array))
        list(pool.map(_File.finish, files))
        return dict(zip(keys, files))
