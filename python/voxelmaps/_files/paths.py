# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Output of the command and of execute: input is never replaced, and files appear only when they are complete. Imports no NumPy, so
that the command starts at once."""

import contextlib
import errno
import os
import pathlib
import shutil
import tempfile
import time
import unicodedata
from typing import NamedTuple

from . import headers

# Files are written in folders of this name until they are complete.
_STAGING_PREFIX = ".voxelmaps-"
# After so many seconds, a process that writes a folder is taken for killed.
_LONGEST_PAUSE = 86400


def utf8(path, what):
    """The path. Raises ValueError if readers and writers of images cannot encode it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} {path} has a name that is not UTF-8, which readers of images need") from None
    return path


def _key(path):
    """The same for all names of a file: of one that is missing, also where capital letters or normal forms of Unicode are not
    distinguished."""
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except (OSError, ValueError):
        return unicodedata.normalize("NFC", os.path.realpath(path).casefold())


def check_outputs(read, folders, files=()):
    """Raise ValueError if a file that is written would replace one that is read or also written.

    read       Pairs of what is read, such as "the image", and its path, of a file or a folder.
    folders    Tuples of what is written, its folder, and the names of its files.
    files      Pairs of what is written, and its path.
    """
    inputs, parents = {}, set()
    for what, path in read:
        if f"{os.sep}{_STAGING_PREFIX}" in os.path.realpath(path):
            raise ValueError(f"{what} {path} is in a folder for incomplete maps, which runs remove")
        every = [path]
        # What cannot be read is an error of its case alone.
        with contextlib.suppress(OSError, ValueError):
            every += headers.files_of_image(path)
        inputs.update((_key(file), f"{what} {path}") for file in every)
        parents.update(_key(os.path.dirname(os.path.abspath(file))) for file in every)
    outputs = {}

    def add(path, what, names=()):
        other, _ = outputs.setdefault(_key(path), (what, names))
        if other is not what:
            raise ValueError(f"{what} is also {other}")

    def check(path, what):
        if _key(path) in inputs:
            raise ValueError(f"{what} {path} would replace {inputs[_key(path)]}")

    for what, folder, names in folders:
        utf8(os.fspath(folder), what)
        add(folder, what, names)
        # Identifying all files of folders that do not exist would be slow for thousands of cases.
        places = {os.path.dirname(name) for name in names}
        places = [place for place in places if os.path.isdir(folder) or _key(os.path.join(folder, place)) in parents]
        for name in names:
            if os.path.dirname(name) in places:
                check(os.path.join(folder, name), "the file")
    for what, path in files:
        check(path, what)
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"{what} {path} is {'a folder' if os.path.isdir(path) else 'not a file'}")
        owner, names = outputs.get(_key(os.path.dirname(os.path.abspath(path))), ("", ()))
        if os.path.basename(path) in names:
            raise ValueError(f"{what} {path} is also a file of {owner}")
        add(path, f"{what} {path}")


def read_text(path, what, max_bytes=2**26):
    """The text of a file. Raises OSError, or ValueError if it is not a file, too long, or not text."""
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


class Folder(NamedTuple):
    """A folder for maps, and the one where files are written until they are complete."""

    path: pathlib.Path
    staging: pathlib.Path


def check_writable(path):
    """Raise OSError if a folder for maps cannot be made or written."""
    existing = pathlib.Path(path).absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        raise NotADirectoryError(f"the folder {path} cannot be made: a file is in its place")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(existing))


def remove_staging(path, seconds=0):
    """Remove the incomplete files of runs that were killed, if nothing was added to them for so many seconds."""
    for staged in pathlib.Path(path).glob(f"{_STAGING_PREFIX}*"):
        with contextlib.suppress(OSError):
            is_old = time.time() - staged.stat().st_mtime >= seconds
            if is_old and staged.is_dir():
                shutil.rmtree(staged, ignore_errors=True)
            elif is_old:
                staged.unlink()


@contextlib.contextmanager
def output_folder(path):
    """Make a folder for maps, with a folder for incomplete files."""
    path = pathlib.Path(path)
    check_writable(path)
    path.mkdir(parents=True, exist_ok=True)
    # Other processes may write other files there.
    remove_staging(path, _LONGEST_PAUSE)
    with errors_named(path):
        staging = pathlib.Path(tempfile.mkdtemp(prefix=_STAGING_PREFIX, dir=path))
    try:
        yield Folder(path, staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def errors_named(path):
    """Errors of the operating system name this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def replace_text(path, text):
    """Replace a file by one with this text, which is complete and on the disk before. Symbolic links are followed."""
    path = pathlib.Path(os.path.realpath(path))
    staged = path.with_name(f"{_STAGING_PREFIX}{os.getpid()}.part")
    with errors_named(path):
        try:
            with open(staged, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(staged, path)
        finally:
            staged.unlink(missing_ok=True)
