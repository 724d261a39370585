# Copyright NumFOCUS
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#         https://www.apache.org/licenses/LICENSE-2.0.txt
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""check_outputs.py CASE PROGRAMS INPUTS: check what the programs leave when they fail, in the current folder.

PROGRAMS is the folder of the programs, INPUTS that of the images of MakeExampleInputs. A failed run prints one line,
exits with 1, and changes no file. test/hostile has more such cases.
"""

import os
import pathlib
import re
import resource
import subprocess
import sys


def require(condition, what):
    if not condition:
        raise SystemExit(f"does not hold: {what}")


def get_files():
    """The contents of all files in the current folder, with those that are hidden."""
    return {str(path): path.read_bytes() for path in sorted(pathlib.Path().rglob("*")) if path.is_file()}


class Programs:
    def __init__(self, programs, inputs):
        self.programs = pathlib.Path(programs)
        self.head = str(pathlib.Path(inputs) / "head.nii.gz")

    def run(self, program, *arguments, **keywords):
        command = [str(self.programs / program), *map(str, arguments)]
        keywords = {"stdout": subprocess.DEVNULL, **keywords}
        return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300, check=False, **keywords)

    def refuse(self, message, program, *arguments, limits=(), **keywords):
        """Run a program that must fail with this message and change nothing."""

        def limit():
            for kind, value in limits:
                resource.setrlimit(kind, (value, value))

        before = get_files()
        result = self.run(program, *arguments, preexec_fn=limit, **keywords)
        require(result.returncode == 1, f"exit code {result.returncode} for {arguments}: {result.stderr}")
        require(re.fullmatch(f"{program}: [^\n]*{message}[^\n]*\n", result.stderr), f"{message} in {result.stderr}")
        require(get_files() == before, f"{arguments} changes no file: {before.keys()}, {get_files().keys()}")


def standard_output(programs):
    message = "standard output cannot be written"
    if pathlib.Path("/dev/full").exists():
        for arguments in (["--xml"], ["--help"], ["--version"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                programs.refuse(message, "FeatureMaps", *arguments, stdout=full)
    # A pipe whose reader has gone; the maps are complete.
    reading, writing = os.pipe()
    os.close(reading)
    result = programs.run("FeatureMaps", programs.head, "maps.nrrd", stdout=writing)
    os.close(writing)
    require(result.returncode == 1 and message in result.stderr, f"{result.returncode}, {message}: {result.stderr}")
    require(os.listdir() == ["maps.nrrd"], "the maps are there")


def series(programs):
    """A DICOM series replaces one of the same number of slices, and is not mixed with others."""
    liver = ["SyntheticLiverCT", "series", "--dicom", "--size"]
    require(programs.run(*liver, "32,32,6", "--quiet").returncode == 0, "a series is written")
    former = get_files()
    require(len(former) == 6, "there are six slices and nothing else")
    programs.refuse("'series' has the file 'slice000[56].dcm'", *liver, "32,32,4")
    limits = [(resource.RLIMIT_FSIZE, len(next(iter(former.values()))) - 20)]
    programs.refuse("cannot write 'series/slice0001.dcm'", *liver, "32,32,6", "--random-seed", 2, limits=limits)
    programs.refuse("cannot write 'new/slice0001.dcm'", "SyntheticLiverCT", "new", *liver[2:], "32,32,6", limits=limits)
    require(not pathlib.Path("new").exists(), "a new folder is removed")
    require(programs.run(*liver, "32,32,6", "--random-seed", 2, "--quiet").returncode == 0, "it is replaced")
    new = get_files()
    require(new.keys() == former.keys(), "the slices have the same names")
    require(all(new[name] != former[name] for name in new), "the slices are new")


def memory(programs):
    limits = [(resource.RLIMIT_AS, 4 << 30)]
    programs.refuse(
        "not enough memory: an image of 4000x4000x4000 voxels takes 128 GB",
        *["SyntheticLiverCT", "ct.nii", "--size", "4000,4000,4000"],
        limits=limits,
    )


if __name__ == "__main__":
    globals()[sys.argv[1]](Programs(*sys.argv[2:]))
