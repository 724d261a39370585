#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Follow doc/adding-a-texture-class.md in a copy of core: write its files, make its changes, build and run the tests.

follow-guide.py [FOLDER [CMAKE-DEFINITION...]]    default: build/guide, for the CPU
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/guide").resolve()
definitions = sys.argv[2:] or ["VoxelMaps_USE_CUDA=OFF"]


def change(text, diff, name):
    """The text with the lines of a diff, whose other lines stand once in the file."""
    end = 0
    for line in diff.splitlines():
        old = f"\n{line[1:]}\n"
        if line[0] == "+":
            text = text[:end] + old[1:] + text[end:]
            end += len(line)
            continue
        if text.count(old) != 1:
            raise SystemExit(f"{name} must have this line once: {line[1:]}")
        begin = text.index(old) + 1
        end = begin if line[0] == "-" else begin + len(line)
        text = text[:end] + text[begin + len(line) :] if line[0] == "-" else text
    return text


shutil.rmtree(folder / "core", ignore_errors=True)
shutil.copytree(ROOT / "core", folder / "core")
guide = (ROOT / "doc/adding-a-texture-class.md").read_text()
for language, name, text in re.findall(r"^```(cpp|diff) (\S+)\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if language == "diff":
        text = change(path.read_text(), text, name)
    elif path.suffix == ".h":
        text = "#pragma once\n" + text
    path.write_text(text)

# Only the tests of all texture classes, not optimized: the others, and the optimization, would take minutes.
path = folder / "core/test/CMakeLists.txt"
path.write_text(re.sub(r"^ +(?!TextureFeatureMap)\S+GTest\.cxx\n", "", path.read_text(), flags=re.MULTILINE))

build = folder / "build"
options = [f"-D{definition}" for definition in ["CMAKE_BUILD_TYPE=Debug", "BUILD_TESTING=ON", *definitions]]
subprocess.run(["cmake", "-S", folder / "core", "-B", build, "-G", "Ninja", *options], check=True)
subprocess.run(["cmake", "--build", build, "--target", "VoxelMapsCoreTests"], check=True)
tests = next(path for path in build.rglob("VoxelMapsCoreTests") if path.is_file())
result = subprocess.run([tests, "--gtest_filter=TextureClassJob/foo.*"], check=True, capture_output=True, text=True)
print(result.stdout[-300:])
if "[  PASSED  ]" not in result.stdout or "[  PASSED  ] 0 " in result.stdout:
    raise SystemExit("no test of Foo ran")
