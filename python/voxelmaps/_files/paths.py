# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Paths, texts, and files that appear only when they are complete. Imports no NumPy, so that the command starts at once."""

import contextlib
import csv
import errno
import io
import os
import pathlib
import shutil
import tempfile
import time

# What a folder of maps comes from.
PROVENANCE = "provenance.json"
# Files are written in folders of this name until they are complete.
STAGING_PREFIX = ".voxelmaps-"
# After so many seconds, a process that writes a folder is taken for killed.
_LONGEST_PAUSE = 86400


def text_of(path, what):
    """The path as a text. Raises TypeError."""
    try:
        return os.fspath(path)
    except TypeError:
        raise TypeError(f"{what} must be a path, not {type(path).__name__}") from None


def check_exists(path, what):
    """Raise FileNotFoundError with the path and what it is."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{what} {path} does not exist")


def utf8(path, what):
    """The path. Raises ValueError if readers and writers of images cannot encode it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} {path} has a name that is not UTF-8, which readers of images need") from None
    return path


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


def csv_rows(path, what):
    """Lines of a CSV file that are not empty, with their numbers. Raises OSError or ValueError."""
    text = read_text(path, what)
    first = next((line for line in text.splitlines() if line.strip()), "")
    # Spreadsheets write semicolons where the comma is part of numbers.
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise ValueError(f"{what} is not valid in line {reader.line_num}: {error}") from None


def place(folder, name):
    """The path of a file of a folder of maps, which may be in a folder beside it."""
    path = os.path.join(folder, name)
    return os.path.normpath(path) if os.pardir in pathlib.Path(name).parts else path


class Folder:
    """A folder for files, and the one where they are written until they are complete.

    files    Complete files by the paths that they get when all are.
    """

    def __init__(self, path, staging):
        self.path, self.staging, self.files = path, staging, {}

    def publish(self):
        for path, staged in self.files.items():
            with errors_named(path):
                os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
                os.replace(staged, path)


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
    for staged in pathlib.Path(path).glob(f"{STAGING_PREFIX}*"):
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
        staging = pathlib.Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=path))
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


def check_replaceable(path):
    """Raise OSError if replace_texts cannot write a file."""
    place = pathlib.Path(os.path.realpath(path))
    with errors_named(path):
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        tempfile.TemporaryFile(prefix=STAGING_PREFIX, dir=place.parent).close()


def replace_texts(texts):
    """Replace files by those with these texts, by path, which are complete and on the disk before. Symbolic links are followed."""
    staged = {}
    try:
        for given, text in texts.items():
            path = pathlib.Path(os.path.realpath(given))
            staged[path] = path.with_name(f"{STAGING_PREFIX}{os.getpid()}{path.name[:99]}.part")
            with (
                errors_named(given),
                open(staged[path], "w", encoding="utf-8", errors="surrogateescape", newline="") as file,
            ):
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path in staged:
            with errors_named(path):
                os.replace(staged[path], path)
    finally:
        for file in staged.values():
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)


def one_line(error):
    """An error as one line, without the layers that it came through."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # ITK's errors begin with a place in its sources.
    text = lines[-1] if lines and any("ITK ERROR" in line or ".cxx:" in line for line in lines) else " ".join(lines)
    known = (ValueError, TypeError, NotImplementedError, ImportError, OSError, RuntimeError)
    return text if text and isinstance(error, known) else f"{type(error).__name__}: {text}"
