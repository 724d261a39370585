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
"""Outputs that cannot be written: full disks, folders, pipes, devices, permissions, closed streams."""

import os
import random
import resource
import shutil
import signal
import subprocess

import formats
from judge import OLD_RESULT, Case

IMAGE = formats.nrrd(formats.Image((32, 32, 20), "h", formats.make_image().values * 40 + (7,) * 320))["v.nrrd"]
MAPS = "RunLengthFeatureMaps v.nrrd OUT --levels 8 --radius 1 --features"
STRENGTH = "FuzzyConnectedness v.nrrd OUT --seed 3,3,3 --mean 30 --variance 100 --difference-variance 400".split()
# Suffixes, and the suffix of the second file that is written.
SUFFIXES = {
    ".nii": "",
    ".nii.gz": "",
    ".hdr": ".img",
    ".img": ".hdr",
    ".mha": "",
    ".mhd": ".raw",
    ".nrrd": "",
    ".nhdr": ".raw",
}
SUFFIXES |= {
    ".gipl": "",
    ".vtk": "",
    ".tif": "",
    ".png": "",
    ".jpg": "",
    ".bmp": "",
    ".dcm": "",
    ".nia": "",
    ".gipl.gz": "",
}
# A tmpfs with the contents of disk/, which takes its place at the end. The mode is ro or rw.
ON_TMPFS = """options=$1 mode=$2; shift 2
mount -t tmpfs -o "$options" none t && cp -a disk/. t && mount -o "remount,$mode" t && "$@"
code=$?; rm -r disk && cp -a t disk; exit $code"""


def get_words(words, output):
    return [output if word == "OUT" else word for word in words]


def get_outputs(suffix, name="out"):
    return tuple(name + each for each in (suffix, SUFFIXES[suffix]) if each)


def make_output_case(name, words, output="out.nrrd", outputs=None, right=True, **keywords):
    outputs = (output,) if outputs is None else outputs
    good = Case("good", get_words(words, "out.nrrd"), {"v.nrrd": IMAGE}) if right else None
    files = {"v.nrrd": IMAGE, **keywords.pop("files", {})}
    return Case(f"{name} of {words[0]}", get_words(words, output), files, outputs=outputs, right=good, **keywords)


def limit_file_size(size, is_ignored):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def become_nobody():
    os.setgid(65534)
    os.setuid(65534)


def as_nobody(folder, change):
    """Permissions say nothing to root, so a root becomes nobody."""

    def prepare(root):
        if os.geteuid() == 0:
            for path in (root, *root.rglob("*")):
                os.chown(path, 65534, 65534)
        change(root)

    return {"prepare": prepare, "limit": become_nobody if os.geteuid() == 0 else None}


def can_mount():
    command = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def can_run_as_nobody(folder):
    if os.geteuid() != 0:
        return True
    command = [folder / "FuzzyConnectedness", "--version"]
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, preexec_fn=become_nobody).returncode == 0
    except OSError:
        return False


def make_disk_cases(number_of_random_cases, seed):
    maps = [*MAPS.split(), "SRE"]
    generator = random.Random(seed)
    for i in range(number_of_random_cases):
        suffix = generator.choice(
            [suffix for suffix in SUFFIXES if suffix not in (".png", ".jpg", ".bmp", ".dcm", ".nia")]
        )
        words = generator.choice((maps, STRENGTH))
        size = generator.choice((0, 1, 100, generator.randrange(3000), 4096 * generator.randrange(1, 3)))
        # What is compressed may fit. Pages of a TIFF file are apart.
        keywords = {"expect": "either" if suffix.endswith(".gz") else "error", "mentions": ("out" + suffix,)}
        keywords |= {"right": suffix != ".tif", "outputs": get_outputs(suffix)}
        limit = limit_file_size(size, i % 3 > 0)
        yield make_output_case(f"{i} at most {size} bytes of {suffix}", words, "out" + suffix, limit=limit, **keywords)
    pattern = [*MAPS.split(), "GLN,SRE,RP"]
    outputs = ("GLN.nii", "SRE.nii", "RP.nii")
    limit = limit_file_size(70000, True)
    yield make_output_case(
        "full disk for a pattern", pattern, "%s.nii", outputs, False, limit=limit, expect="error", mentions=outputs
    )
    # The object, of bytes, fits; the strength, of floats, does not.
    words = [*STRENGTH, "--object", "object.nii", "--threshold", "0.5"]
    outputs = ("out.nii", "object.nii")
    yield make_output_case(
        "full disk and object", words, "out.nii", outputs, False, limit=limit, expect="error", mentions=outputs
    )
    if not can_mount():
        print("no tmpfs can be mounted here, so full disks are imitated only")
        return
    sandbox = ["/usr/bin/env", "unshare", "-rm", "sh", "-c", ON_TMPFS, "sh"]
    for options, mode in (("size=64k", "rw"), ("size=76k", "rw"), ("size=999k,nr_inodes=4", "rw"), ("size=999k", "ro")):
        for suffix in (".nii", ".nii.gz", ".mha", ".mhd", ".hdr", ".gipl", ".nrrd"):
            yield Case(
                f"tmpfs {options} {mode} {suffix}",
                [*sandbox, options, mode, *get_words(STRENGTH, "t/out" + suffix)],
                {"v.nrrd": IMAGE, "disk/here": b""},
                # Without new inodes, files can still be overwritten, and what is compressed may fit.
                "either" if "inodes" in options or (suffix == ".nii.gz" and mode == "rw") else "error",
                ("out" + suffix,),
                get_outputs(suffix, "disk/out"),
                Case("good", get_words(STRENGTH, "out.nrrd"), {"v.nrrd": IMAGE}),
                prepare=lambda root: (root / "t").mkdir(),
            )


def make_kind_cases(folder):
    maps = [*MAPS.split(), "SRE"]
    for i, suffix in enumerate(SUFFIXES):
        keywords = {"output": "out" + suffix, "outputs": get_outputs(suffix), "mentions": ("out" + suffix,)}
        keywords["right"] = suffix != ".tif"
        yield make_output_case(f"{suffix}", STRENGTH, **keywords)
        yield make_output_case(f"{suffix}", maps, has_old_result=False, **keywords)
        object_words = [*STRENGTH, "--object", "object" + suffix, "--threshold", "0.5"]
        if suffix in (".png", ".jpg", ".bmp", ".dcm"):
            yield make_output_case(
                f"3D object as {suffix}",
                object_words,
                expect="error",
                mentions=("object" + suffix,),
                outputs=("out.nrrd", "object" + suffix),
            )
    kinds = {
        "folder.nrrd": lambda root: (root / "folder.nrrd").mkdir(),
        "fifo.nrrd": lambda root: os.mkfifo(root / "fifo.nrrd"),
        "full.nrrd": lambda root: os.symlink("/dev/full", root / "full.nrrd"),
        "null.nrrd": lambda root: os.symlink("/dev/null", root / "null.nrrd"),
        "/dev/full": None,
        "/dev/null": None,
        "nowhere/out.nrrd": None,
        "v.nrrd/out.nrrd": None,
        ".nrrd": None,
        "out": None,
        "out.nrrd/": None,
        "loop.nrrd": lambda root: os.symlink("loop.nrrd", root / "loop.nrrd"),
        "dangling.nrrd": lambda root: os.symlink("nowhere/x.nrrd", root / "dangling.nrrd"),
    }
    for output, prepare in kinds.items():
        for words in (maps, STRENGTH):
            expect = "either" if output == ".nrrd" else "error"
            keywords = {"outputs": (output,) if expect == "either" else (), "has_old_result": False, "prepare": prepare}
            yield make_output_case(f"output {output}", words, output, expect=expect, mentions=(output,), **keywords)
            if words is STRENGTH:
                more = [*STRENGTH, "--object", output, "--threshold", "0.5"]
                keywords["outputs"] = ("out.nrrd", *keywords["outputs"])
                keywords["right"] = False
                yield make_output_case(f"object {output}", more, expect=expect, mentions=(output,), **keywords)
        words = ["SyntheticLiverCT", "OUT", "--size", "4,4,4"]
        if output != ".nrrd":
            yield Case(
                f"output {output} of SyntheticLiverCT",
                get_words(words, output),
                {"v.nrrd": b""},
                "error",
                (output,),
                (),
                prepare=prepare,
            )

    # A link stays a link, and what it names is written.
    def link(root):
        os.symlink("real.nrrd", root / "out.nrrd")

    yield make_output_case("link", STRENGTH, outputs=("real.nrrd",), prepare=link, expect="success")
    for name, streams in (
        ("full stdout", {1: "/dev/full"}),
        ("full stdout and stderr", {1: "/dev/full", 2: "/dev/full"}),
        *(
            (f"closed {'+'.join(map(str, numbers))}", dict.fromkeys(numbers, -1))
            for numbers in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2])
        ),
    ):
        for words in (maps, STRENGTH):
            expect = "either" if 1 in streams else "success"
            yield make_output_case(name, words, streams=streams, expect=expect)
        yield make_output_case(name + ", error", STRENGTH, "out.xyz", (), streams=streams, expect="error")
    words = ["SyntheticLiverCT", "out.mha", "--size", "40,40,40"]
    keywords = {"expect": "error", "mentions": ("out.mha",), "outputs": ("out.mha",)}
    yield Case("full disk of SyntheticLiverCT", words, limit=limit_file_size(9999, True), **keywords)
    keywords = {"expect": "error", "mentions": ("series",), "outputs": ()}
    words = ["SyntheticLiverCT", "series", "--dicom", "--size", "40,40,4"]
    yield Case("full disk of a series of SyntheticLiverCT", words, limit=limit_file_size(2000, True), **keywords)

    if not can_run_as_nobody(folder):
        print("nobody cannot run the programs here, so permissions are not tested")
        return

    def forbid(name, mode):
        return as_nobody(folder, lambda root: (root / name).chmod(mode))

    keywords = {"expect": "error", "mentions": ("ermission",)}
    for words in (maps, STRENGTH):
        yield make_output_case("unreadable input", words, **keywords, **forbid("v.nrrd", 0))
        yield make_output_case(
            "unreadable mask", [*words, "--mask", "m.nrrd"], files={"m.nrrd": IMAGE}, **keywords, **forbid("m.nrrd", 0)
        )
        yield make_output_case("write-protected output", words, **keywords, **forbid("out.nrrd", 0o400))
        yield make_output_case(
            "write-protected folder", words, "sub/out.nrrd", files={"sub/x": b""}, **forbid("sub", 0o500)
        )
        yield make_output_case(
            "locked folder", words, "sub/out.nrrd", (), files={"sub/x": b""}, **keywords, **forbid("sub", 0)
        )


def make_cases(number_of_random_cases, seed, folder):
    yield from make_disk_cases(number_of_random_cases, seed)
    yield from make_kind_cases(folder)
