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
exits with 1, and changes no file.
"""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

SINGLE_FILES = ["x.nii", "x.nii.gz", "x.mha", "x.nrrd", "x.vtk"]
PAIRS = {"x.hdr": "x.img", "x.mhd": "x.raw", "x.nhdr": "x.raw"}


def require(condition, what):
    if not condition:
        raise SystemExit(f"does not hold: {what}")


def get_files():
    """The contents of all files in the current folder, with those that are hidden."""
    return {str(path): path.read_bytes() for path in sorted(pathlib.Path().rglob("*")) if path.is_file()}


class Programs:
    def __init__(self, programs, inputs):
        self.programs = pathlib.Path(programs)
        self.inputs = pathlib.Path(inputs)
        self.head = str(self.inputs / "head.nii.gz")

    def get_command(self, program, *arguments):
        return [str(self.programs / program), *map(str, arguments)]

    def refuse(self, message, program, *arguments, limits=(), **keywords):
        """Run a program that must fail with this message and change nothing."""

        def limit():
            for kind, value in limits:
                resource.setrlimit(kind, (value, value))

        before = get_files()
        result = subprocess.run(
            self.get_command(program, *arguments),
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            preexec_fn=limit,
            check=False,
            **{"stdout": subprocess.DEVNULL, **keywords},
        )
        require(result.returncode == 1, f"exit code {result.returncode} for {arguments}: {result.stderr}")
        require(re.fullmatch(f"{program}: [^\n]*{message}[^\n]*\n", result.stderr), f"{message} in {result.stderr}")
        require(get_files() == before, f"{arguments} changes no file: {before.keys()}, {get_files().keys()}")

    def maps(self, *arguments):
        subprocess.run(self.get_command("FeatureMaps", *arguments, "--quiet"), check=True)

    def refuse_maps(self, message, *arguments, **keywords):
        self.refuse(message, "FeatureMaps", *arguments, **keywords)


def full_disk(programs):
    """Files that cannot be longer than 16 kB: vectors, scalars one after the other, strengths and object."""
    full = {"limits": [(resource.RLIMIT_FSIZE, 16384)]}
    for name in [*SINGLE_FILES, *PAIRS]:
        if name != "x.vtk":
            programs.refuse_maps(f"cannot write '{name}': file too large", programs.head, name, **full)
            pathlib.Path(name).write_text("former", encoding="utf-8")
            if name in PAIRS:
                pathlib.Path(PAIRS[name]).write_text("former", encoding="utf-8")
            programs.refuse_maps(f"cannot write '{name}': file too large", programs.head, name, **full)
            for path in pathlib.Path().iterdir():
                path.unlink()
    # The first map is small, being compressed; the second one is not.
    ct = "ct.mha"
    subprocess.run(programs.get_command("SyntheticLiverCT", ct, "--size", "40,40,16", "--quiet"), check=True)
    programs.refuse(
        "cannot write 's.nii': file too large",
        "FuzzyConnectedness",
        *[ct, "s.nii", "--seed", "17,19,5", "--threshold", "0.1", "--object", "o.nii.gz"],
        **full,
    )
    programs.refuse(
        "cannot write 'new.mha': file too large", "SyntheticLiverCT", "new.mha", "--size", "40,40,16", **full
    )
    pathlib.Path("series").mkdir()
    programs.refuse("cannot write 'series': ", "SyntheticLiverCT", "series", "--dicom", "--size", "128,128,4", **full)


def full_file_system(programs):
    """A file system of 1 MB, where a namespace of one's own is permitted."""
    namespace = ["unshare", "-rm"]
    mount = "mount -t tmpfs -o size=1m tmpfs ."
    folder = pathlib.Path("small")
    folder.mkdir()
    if subprocess.run([*namespace, "sh", "-c", f"cd small && {mount}"], capture_output=True, check=False).returncode:
        print("skipped: there is no namespace with a file system of its own")
        return
    # 20 x 18 x 12 voxels of 16 components are 276 kB.
    script = f"""
        cd small && {mount} && cd "$PWD" && head -c 900000 /dev/zero > ballast && echo former > map_RP.nii
        "$0" "$1" map_%s.nii --features all --quiet
        echo "exit $?" map_* .v* $(cat map_RP.nii)
        "$0" "$1" maps.nii.gz --features all --quiet
        echo "exit $?" maps* .v*
        """
    result = subprocess.run(
        [*namespace, "sh", "-c", script, programs.get_command("FeatureMaps")[0], programs.head],
        capture_output=True,
        encoding="latin-1",
        check=False,
    )
    expected = "exit 1 map_RP.nii .v* former\nexit 1 maps* .v*\n"
    require(result.stdout == expected, f"{result.stdout}{result.stderr} is {expected}")
    lines = result.stderr.splitlines()
    require(len(lines) == 2, f"two lines: {result.stderr}")
    require(re.search("cannot write 'map_[A-Z]*.nii': no space left on device", lines[0]), lines[0])
    require(re.search("cannot write 'maps.nii.gz': no space left on device", lines[1]), lines[1])


def killed(programs):
    """A signal at any time leaves the former files, or, after the last moment, complete new ones."""
    ct = "ct.nii"
    subprocess.run(programs.get_command("SyntheticLiverCT", ct, "--size", "128,128,48", "--quiet"), check=True)
    names = ["map_SRE.nii.gz", "map_LRE.nii.gz"]
    command = programs.get_command(
        "FeatureMaps", ct, "map_%s.nii.gz", "--features", "SRE,LRE", "--radius", 1, "--quiet"
    )
    start = time.monotonic()
    subprocess.run(command, check=True)
    seconds = time.monotonic() - start
    new = [pathlib.Path(name).read_bytes() for name in names]
    number_killed = 0
    for i in range(8):
        for name in names:
            pathlib.Path(name).write_text("former", encoding="utf-8")
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds * (i + 1) / 9)
            process.send_signal(signal.SIGTERM)
            code = process.wait(timeout=300)
        number_killed += code != 0
        contents = [pathlib.Path(name).read_bytes() for name in names]
        require(contents in ([b"former"] * 2, new), f"the files after {i} are former or new ones")
        # The signal may come after the last file, while the program ends.
        require(code != 0 or contents == new, "a run that is not killed makes new files")
        require(sorted(os.listdir()) == sorted([ct, *names]), f"nothing is left: {os.listdir()}")
    require(number_killed > 0, "some run was killed")


def standard_output(programs):
    message = "standard output cannot be written"
    if pathlib.Path("/dev/full").exists():
        for arguments in (["--xml"], ["--help"], ["--version"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                programs.refuse_maps(message, *arguments, stdout=full)
    # A pipe whose reader has gone; the maps are complete.
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        programs.get_command("FeatureMaps", programs.head, "maps.nrrd"),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    require(result.returncode == 1 and message in result.stderr, f"{result.returncode}, {message}: {result.stderr}")
    require(os.listdir() == ["maps.nrrd"], "the maps are there")


def inputs(programs):
    """No input is an output, under whatever name."""
    shutil.copy(programs.head, "head.nii.gz")
    shutil.copy(programs.inputs / "labels.nii.gz", "mask.nii.gz")
    os.link("mask.nii.gz", "hard.nii.gz")
    os.symlink("mask.nii.gz", "soft.nii.gz")
    mask = ["--mask", "mask.nii.gz"]
    programs.refuse_maps("'./head.nii.gz' is the input 'head.nii.gz'", "head.nii.gz", "./head.nii.gz")
    for name in ("mask.nii.gz", "hard.nii.gz", "soft.nii.gz"):
        programs.refuse_maps(f"'{name}' is the input 'mask.nii.gz'", "head.nii.gz", name, *mask)
    seed = ["FuzzyConnectedness", "head.nii.gz", "s.nii", "--seed", "2,3,4", "--threshold", "0.5", "--object"]
    programs.refuse("'mask.nii.gz' is the input", *seed, "mask.nii.gz", *mask)
    programs.refuse("'hard.nii.gz' is the input", *seed, "hard.nii.gz", "--seed-image", "mask.nii.gz")
    programs.refuse("the file './s.nii' is given for two outputs", *seed, "./s.nii")
    programs.refuse("cannot write 'o.png': its format stores the number of dimensions 2 instead of 3", *seed, "o.png")
    # Empty arguments.
    programs.refuse_maps("INPUT: the value is empty", "", "maps.nii")
    programs.refuse_maps("OUTPUT: the value is empty", "head.nii.gz", "")
    programs.refuse_maps("--mask: the value is empty", "head.nii.gz", "maps.nii", "--mask", "")
    programs.refuse_maps("--features: the value is empty", "--features", "", "head.nii.gz", "maps.nii")


def series(programs):
    """A DICOM series replaces one of the same number of slices, and is not mixed with others."""
    liver = ["SyntheticLiverCT", "series", "--dicom", "--size"]
    subprocess.run(programs.get_command(*liver, "32,32,6", "--quiet"), check=True)
    former = get_files()
    require(len(former) == 6, "there are six slices and nothing else")
    programs.refuse("'series' has the file 'slice000[56].dcm'", *liver, "32,32,4")
    subprocess.run(programs.get_command(*liver, "32,32,6", "--random-seed", 2, "--quiet"), check=True)
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
