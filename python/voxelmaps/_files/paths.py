# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Output of the program and of execute: nothing that is read is replaced, one run at a time writes a folder, and files appear
when they are whole. Imports no NumPy, so that the program starts at once."""

import contextlib
import errno
import hashlib
import os
import pathlib
import platform
import shutil
import tempfile
import time
import unicodedata
from typing import NamedTuple

from . import headers

try:
    import fcntl
except ImportError:
    fcntl = None

# Folders in which files are written until they are whole. Their names go on with the process that writes.
STAGING_PREFIX = ".voxelmaps-maps-"

# After so many seconds, folders of processes of other computers are taken for left behind.
_LONGEST_PAUSE = 86400


# --- What is read and written ------------------------------------------------------------------------------------------


def _identity(folder, name=""):
    """What all paths of a file have in common, whatever links they lead through. The folder is a real path if there is a name."""
    path = os.path.join(folder, name) if name else folder
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except OSError:
        return path if name else os.path.realpath(path)


def folded(path):
    """The path on file systems that tell neither capital letters nor normal forms of Unicode apart."""
    return unicodedata.normalize("NFC", os.path.realpath(path).casefold())


def utf8(path, what):
    """The path. Raises ValueError if it is none for ITK."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} {path} has a name that is not UTF-8, which readers and writers of images need"
        ) from None
    return path


def check_outputs(read, folders, names, files=()):
    """Raise ValueError if a file that is written would replace one that is read, or that is written too, or no file.

    read       Pairs of what is read, such as "the image", and its path, of a file or a folder.
    folders    Tuples of what they are, folders for files of the names, and perhaps a function that returns their own names.
    files      Pairs of what they are, and further files that are written.
    """
    inputs = {}
    for what, path in read:
        if STAGING_PREFIX in os.path.realpath(path):
            raise ValueError(f"{what} {path} is in a folder for unfinished maps, which runs remove")
        inputs.setdefault(_identity(path), f"{what} {path}")
        # What cannot be read is said when it is read, and ends one case only.
        with contextlib.suppress(OSError, ValueError):
            for file in headers.files_of_image(path):
                inputs.setdefault(_identity(file), f"{what} {file}")

    def check(what, path, folder, name):
        identity = _identity(folder, name)
        if identity in inputs:
            raise ValueError(f"{what} {path} would replace {inputs[identity]}")
        if not isinstance(identity, str) and not os.path.isfile(path):
            raise ValueError(f"{what} {path} is {'a folder' if os.path.isdir(path) else 'not a file'}")

    folders_of_missing = {os.path.dirname(identity) for identity in inputs if isinstance(identity, str)}
    outputs = {}
    for what, path, *own in folders:
        names_of = own[0] if own else lambda: names
        utf8(os.fspath(path), what)
        key = folded(path)
        other = outputs.get(key)
        if other is not None:
            is_same = _identity(path) == _identity(other[1])
            hint = "" if is_same else ", on file systems that do not tell capital letters apart"
            raise ValueError(f"{what} is also {other[0]}{hint}")
        outputs[key] = what, path, names_of
        folder = os.path.realpath(path)
        for name in names_of() if os.path.isdir(folder) or folder in folders_of_missing else ():
            check("the file", os.path.join(path, name), folder, name)
    written = {}
    for what, path in files:
        folder, name = os.path.split(os.path.abspath(path))
        check(what, path, os.path.realpath(folder), name)
        of_folder, _, names_of = outputs.get(folded(folder), ("", "", tuple))
        if name.casefold() in {own_name.casefold() for own_name in names_of()}:
            raise ValueError(f"{what} {path} is also a file of {of_folder}")
        other = written.setdefault(folded(path), what)
        if other != what:
            raise ValueError(f"{what} {path} is also {other}")


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


def check_writable(path):
    """Raise OSError if a folder for maps cannot be made, or not be written."""
    existing = pathlib.Path(path).absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        raise NotADirectoryError(f"the folder {path} cannot be made: a file is in its place")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(existing))


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
    """Replace a file by one with this text, which is whole and on the disk before. Links are followed. Of several runs at once, the
    file is that of the last one.

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
    if os.name == "posix":
        # Some file systems cannot synchronize folders.
        with contextlib.suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
