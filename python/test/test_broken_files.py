# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Broken files, read by the package: one line of ValueError that names the
file, or the right image; no crash and no wait. Each file is read in a copy of a process that has loaded the readers."""

import os
import pickle
import resource
import signal

import numpy as np
import pytest

pytest.importorskip("SimpleITK")
import broken_files  # noqa: E402
import dicom_folders  # noqa: E402
import formats  # noqa: E402
from voxelmaps.radiomics import _preparation as _radiomics_images
from voxelmaps import _image  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

GROUPS = {
    "headers": broken_files.make_header_cases,
    "gzip": broken_files.make_gzip_cases,
    "data": broken_files.make_data_cases,
    "pictures": broken_files.make_png_and_dicom_cases,
    "names": broken_files.make_name_cases,
    "places": broken_files.make_place_cases,
    "text": broken_files.make_text_cases,
    "random": lambda: map(broken_files.make_random_case, (f"python.{i}" for i in range(150))),
    "unbroken": lambda: (
        broken_files.Broken(writer.__name__, writer, broken_files.make_files(writer), "success")
        for writer in formats.FORMATS
    ),
}


def _read_in_child(path, write_end):
    signal.alarm(30)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What the readers print is for nobody.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1), os.dup2(nothing, 2)
    try:
        volume, _ = _image.load(path, "the image")
        result = "volume", (volume.array, volume.spacing, volume.origin)
    except Exception as error:
        result = "error", (type(error).__name__, str(error))
    with os.fdopen(write_end, "wb") as stream:
        pickle.dump(result, stream)
    os._exit(0)


def read(path):
    """("volume", (array, spacing, origin)), ("error", (type, message)) or ("crash", signal)."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _read_in_child(path, write_end)
        finally:
            os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        content = stream.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(content) if content else ("crash", status)


def find_fault(case, image, path):
    """What is wrong with reading a case, or None."""
    kind, result = read(path)
    if kind == "crash":
        return f"ended with status {result}"
    if kind == "error":
        error, message = result
        if case.expect == "success":
            return message
        if error not in ("ValueError", "FileNotFoundError", "NotADirectoryError", "TypeError", "MemoryError"):
            return f"{error}: {message}"
        names = case.mentions or (os.path.basename(path),)
        if not any(name in message for name in names) and error != "MemoryError":
            return f"names none of {names}: {message}"
        return None
    array, spacing, _ = result
    if image == "unknown":
        return None
    if case.expect == "error":
        return f"was read as {array.shape}"
    if array.size != len(image.values) or not (array.ravel() == np.array(image.values)).all():
        return "has wrong voxels"
    # Pictures tell no distances.
    if case.expect != "success" or case.writer == formats.png:
        return None
    axes = [axis for axis, size in enumerate(image.size) if size > 1]
    is_right = np.allclose([spacing[axis] for axis in axes], [image.spacing[axis] for axis in axes], rtol=1e-6)
    return None if is_right else f"has the spacing {spacing}"


def write_files(case, folder):
    (folder / "tmp").mkdir(parents=True)
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, int):
            with open(path, "wb") as file:
                file.truncate(content)
        else:
            path.write_bytes(content)
    if case.prepare:
        case.prepare(folder)


@pytest.mark.parametrize("group", GROUPS)
def test_broken_files(group, tmp_path):
    faults = []
    for number, case in enumerate(GROUPS[group]()):
        folder = tmp_path / str(number)
        write_files(case, folder)
        image = case.reference or formats.make_image(*formats.FORMATS[case.writer])
        fault = find_fault(case, image, str(folder / next(iter(case.files))))
        if fault:
            faults.append(ascii(f"{case.name}: {fault}"))
    assert not faults, "\n".join(faults)


def test_folders(tmp_path):
    faults = []
    tables = [*dicom_folders.make_folder_cases(), *(dicom_folders.make_random_folder(f"python.{i}") for i in range(40))]
    for number, (name, files, expect, image, *more) in enumerate(tables):
        options, only_voxels, _, prepare = [*more, *((), 0, (), None)[len(more) :]]
        if options:
            continue
        expect = "either" if only_voxels and expect == "success" else expect
        case = broken_files.Broken(name, formats.dicom, files, expect, image, ("series",), prepare)
        folder = tmp_path / str(number)
        write_files(case, folder)
        fault = find_fault(case, image, str(folder / "series"))
        if fault:
            faults.append(ascii(f"{name}: {fault}"))
    assert not faults, "\n".join(faults)
