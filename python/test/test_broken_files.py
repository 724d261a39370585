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
"""Broken files, read with itk.imread and given to the filters: an exception or a result, but no crash of the module.

Each file is read in a process of its own, a copy of one that has loaded ITK.
"""

import os
import random
import signal
import struct
import subprocess
import sys
import zlib

import itk
import numpy as np
import pytest

# Argument: a folder. Prints a line for each file: its name, the last step that began, and the signal that ended it.
READER = """
import os, pathlib, resource, signal, sys
import itk

# Modules of ITK are loaded when they are first used.
for dimension in (2, 3):
    for pixel in (itk.UC, itk.US, itk.SS, itk.F, itk.D):
        itk.ImageFileReader[itk.Image[pixel, dimension]], itk.RunLengthFeatureMapImageFilter
itk.imread, itk.FuzzyConnectednessImageFilter
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1), os.dup2(nothing, 2)
        step = lambda name: os.write(write_end, f"{name} ".encode())
        step("imread")
        try:
            image = itk.imread(str(path))
        except Exception as error:
            # Reading ends in the destructor of the reader at the latest.
            del error
            step("refused")
            os._exit(0)
        for name, parameters in (
            ("run_length_feature_map_image_filter", {"features": ["SRE"], "neighborhood_radius": 1}),
            ("fuzzy_connectedness_image_filter", {"seed": [0] * image.GetImageDimension(), "estimate_affinity_from_seeds": True}),
        ):
            step(name)
            try:
                getattr(itk, name)(image, **parameters)
            except (RuntimeError, TypeError, ValueError) as error:
                step(type(error).__name__)
        step("end")
        os._exit(0)
    os.close(write_end)
    steps = os.fdopen(read_end).read().split()
    status = os.waitpid(child, 0)[1]
    print(path.name, steps[-1], os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, flush=True)
"""

# Crashes of ITK 5.4 itself, in imread: MetaIO with this many dimensions, and the name of a data file as a printf format.
CRASHES_OF_ITK = ("_ndims-3.mha", "_ndims-3.mhd", "_ndims99.mha", "_ndims99.mhd", "_percent.mha", "_percent.mhd")


def write_good_files(folder):
    volume = itk.image_from_array(np.random.default_rng(0).integers(0, 200, (6, 7, 8)).astype(np.int16))
    plane = itk.image_from_array(np.random.default_rng(0).integers(0, 200, (30, 40)).astype(np.uint8))
    for ending in ("nii", "nii.gz", "mha", "mhd", "nrrd", "nhdr", "gipl", "vtk", "hdr"):
        itk.imwrite(volume, str(folder / f"volume.{ending}"))
    for ending in ("mha", "nrrd"):
        itk.imwrite(volume, str(folder / f"compressed.{ending}"), compression=True)
    for ending in ("png", "tif", "jpg", "bmp", "dcm"):
        itk.imwrite(plane, str(folder / f"plane.{ending}"))


def broken_contents(name, content):
    """Pairs of a case and what the file holds then."""
    for size in (0, 1, 4, 20, 132, 200, 300, 340, 352):
        if size < len(content):
            yield f"cut{size}", content[:size]
    for part in (0.5, 0.9):
        yield f"part{part}", content[: int(len(content) * part)]
    numbers = random.Random(name)
    for case in range(3):
        flipped = bytearray(content)
        for _ in range(2**case):
            flipped[numbers.randrange(min(len(content), 400))] ^= 1 << numbers.randrange(8)
        yield f"flipped{case}", bytes(flipped)

    def patch(case, position, format, *values):
        patched = bytearray(content)
        struct.pack_into(format, patched, position, *values)
        return case, bytes(patched)

    def replace(case, old, new):
        return case, content.replace(old, new, 1)

    ending = name.partition(".")[2]
    nan = float("nan")
    if ending in ("nii", "hdr"):
        yield patch("ndims", 40, "<h", -3)
        yield patch("huge", 42, "<3h", 32767, 32767, 32767)
        yield patch("negative", 42, "<h", -8)
        yield patch("type", 70, "<h", 9999)
        yield patch("offset", 108, "<f", 1e30)
        yield patch("spacing", 76, "<4f", nan, nan, nan, nan)
        yield patch("quaternion", 256, "<3f", nan, nan, nan)
    if ending == "nii":
        _, with_code = patch("", 254, "<h", 1)
        yield "sform", with_code[:280] + struct.pack("<4f", nan, nan, nan, nan) + with_code[296:]
    if ending == "nii.gz":
        yield patch("crc", len(content) - 8, "<I", 12345)
        yield patch("length", len(content) - 4, "<I", 12345)
    if ending in ("mha", "mhd"):
        yield replace("ndims-3", b"NDims = 3", b"NDims = -3")
        yield replace("ndims99", b"NDims = 3", b"NDims = 99")
        yield replace("huge", b"DimSize = 8 7 6", b"DimSize = 99999 99999 99999")
        yield replace("negative", b"DimSize = 8 7 6", b"DimSize = -8 7 6")
        yield replace("zero", b"DimSize = 8 7 6", b"DimSize = 0 7 6")
        data_file = content[content.index(b"ElementDataFile = ") :].split(b"\n")[0]
        yield replace("percent", data_file, b"ElementDataFile = %s%s%n.raw")
    if ending in ("nrrd", "nhdr"):
        yield replace("huge", b"sizes: 8 7 6", b"sizes: 99999 99999 99999")
        yield replace("negative", b"sizes: 8 7 6", b"sizes: -8 7 6")
        yield replace("ndims99", b"dimension: 3", b"dimension: 99")
    if ending == "png":
        yield patch("crc", 29, ">I", 12345)
        header = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 0, 0, 0, 0)
        yield "huge", content[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + content[33:]
        yield patch("data", 45, ">I", 12345)


def read_all(folder):
    done = subprocess.run([sys.executable, "-c", READER, str(folder)], capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stderr
    return {name: (step, int(number)) for name, step, number in map(str.split, done.stdout.splitlines())}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_broken_files(tmp_path):
    good, broken = tmp_path / "good", tmp_path / "broken"
    good.mkdir()
    broken.mkdir()
    write_good_files(good)
    steps = read_all(good)
    # A check of the test: all of these can be read and computed. Data files of headers are no images on their own.
    assert {name for name, (step, _) in steps.items() if step != "end"} == {
        name for name in steps if name.endswith((".raw", ".img"))
    } - {"volume.img"}, steps
    for path in good.iterdir():
        if path.suffix not in (".raw", ".img"):
            for case, content in broken_contents(path.name, path.read_bytes()):
                stem, _, ending = path.name.partition(".")
                (broken / f"{stem}_{case}.{ending}").write_bytes(content)
    steps = read_all(broken)
    assert len(steps) > 250
    crashes = {name: result for name, result in steps.items() if result[1]}
    # None in a filter of this module, and in ITK's readers only those that are known.
    assert {name for name, (step, _) in crashes.items() if step not in ("imread", "refused")} == set(), crashes
    assert all(name.endswith(CRASHES_OF_ITK) for name in crashes), crashes
    print(crashes)
    assert sum(step == "end" for step, _ in steps.values()) > 20
    assert sum(step == "refused" for step, _ in steps.values()) > 100
    assert signal.SIGALRM not in {number for _, number in steps.values()}
