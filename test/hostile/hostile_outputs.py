# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written: full disks, folders, pipes, devices, permissions, closed streams."""

import os
import random
import resource
import shutil
import signal
import subprocess

import formats
from judge import LABELS, Case, labels, maps, strength

VOLUME = formats.Image((32, 32, 20), "H", formats.make_image().values * 40 + (7,) * 320)
IMAGE = formats.nrrd(VOLUME)["v.nrrd"]
# Suffixes of outputs, and that of the second file that is written.
SUFFIXES = {".hdr": ".img", ".img": ".hdr", ".mhd": ".raw", ".nhdr": ".raw"}
SUFFIXES |= dict.fromkeys((".nii", ".nii.gz", ".mha", ".nrrd"), "")
OTHER_SUFFIXES = (".nia", ".gipl", ".vtk", ".tif", ".png", ".dcm", ".xyz", "")
# A tmpfs with the contents of disk/, which takes its place at the end. The mode is ro or rw.
ON_TMPFS = """options=$1 mode=$2; shift 2
mount -t tmpfs -o "$options" none t && cp -a disk/. t && mount -o "remount,$mode" t && "$@"
code=$?; rm -r disk && cp -a t disk; exit $code"""
NOBODY = 65534


def get_outputs(suffix, name="out"):
    return tuple(name + each for each in (suffix, SUFFIXES.get(suffix)) if each)


def make_output_case(name, words, outputs=("out.nrrd",), right=True, files=None, **keywords):
    command = {"FeatureMaps": maps, "FuzzyConnectedness": strength}
    good = Case("good", command[words[0]]("v.nrrd"), {"v.nrrd": IMAGE}) if right else None
    files = {"v.nrrd": IMAGE, **(files or {})}
    return Case(f"{name} of {words[0]}", words, files, outputs=outputs, right=good, **keywords)


def limit_file_size(size, is_ignored=True):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def make_disk_cases(number_of_random_cases, seed):
    """Full disks, imitated by a limit of the size of files, and real ones."""
    generator = random.Random(seed)
    for i in range(number_of_random_cases):
        suffix = generator.choice(list(SUFFIXES))
        size = generator.choice((0, 1, 100, generator.randrange(3000), 4096 * generator.randrange(1, 3)))
        words = generator.choice((maps, strength))("v.nrrd", "out" + suffix)
        yield make_output_case(
            f"{i} at most {size} bytes of {suffix}",
            words,
            get_outputs(suffix),
            # What is compressed may fit.
            expect="either" if suffix.endswith(".gz") else "error",
            mentions=("out" + suffix,),
            limit=limit_file_size(size, i % 3 > 0),
        )
    outputs = ("GLN.nii", "SRE.nii", "RP.nii")
    words = maps("v.nrrd", "%s.nii", "--features", "GLN,SRE,RP")
    keywords = {"limit": limit_file_size(70000), "expect": "error", "right": False}
    yield make_output_case("full disk for a pattern", words, outputs, mentions=outputs, **keywords)
    # The object, of bytes, fits; the strength, of floats, does not.
    outputs = ("out.nii", "object.nii")
    words = strength("v.nrrd", "out.nii", "--seed", "3,3,0", "--object", "object.nii", "--threshold", "0.5")
    yield make_output_case("full disk and object", words, outputs, mentions=outputs, **keywords)
    outputs = ("out.nii", "labels.nii", "margin.nii")
    words = strength("v.nrrd", "out.nii", *LABELS, "--labels", "labels.nii", "--margin", "margin.nii")
    yield make_output_case("full disk and labels", words, outputs, mentions=outputs, **keywords)

    sandbox = ["unshare", "-rm", "sh", "-c"]
    mount = [*sandbox, "mount -t tmpfs none /mnt"]
    if not shutil.which("unshare") or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        print("no tmpfs can be mounted here, so full disks are imitated only")
        return
    for options, mode in (("size=64k", "rw"), ("size=76k", "rw"), ("size=999k,nr_inodes=4", "rw"), ("size=999k", "ro")):
        for suffix in SUFFIXES:
            yield Case(
                f"tmpfs {options} {mode} {suffix}",
                [*sandbox, ON_TMPFS, "sh", options, mode, *strength("v.nrrd", "t/out" + suffix)],
                {"v.nrrd": IMAGE, "disk/here": b""},
                # Without new inodes, files can still be overwritten, and what is compressed may fit.
                "either" if "inodes" in options or (suffix == ".nii.gz" and mode == "rw") else "error",
                ("out" + suffix,),
                get_outputs(suffix, "disk/out"),
                Case("good", strength("v.nrrd"), {"v.nrrd": IMAGE}),
                prepare=lambda root: (root / "t").mkdir(),
            )


def make_kind_cases():
    """Formats, and outputs that are no regular files."""
    for suffix in SUFFIXES:
        for words in (maps("v.nrrd", "out" + suffix), strength("v.nrrd", "out" + suffix)):
            has_old_result = words[0] == "FuzzyConnectedness"
            yield make_output_case(suffix, words, get_outputs(suffix), has_old_result=has_old_result, expect="success")
    for suffix in OTHER_SUFFIXES:
        keywords = {"expect": "error", "mentions": ("out" + suffix,)}
        yield make_output_case(suffix, maps("v.nrrd", "out" + suffix), ("out" + suffix,), **keywords)
        words = strength("v.nrrd", "x.nrrd", "--seed", "3,3,0", "--threshold", "0.5", "--object", "out" + suffix)
        yield make_output_case(f"object {suffix}", words, ("x.nrrd", "out" + suffix), **keywords)
    for output, prepare in {
        "folder.nrrd": lambda root: (root / "folder.nrrd").mkdir(),
        "fifo.nrrd": lambda root: os.mkfifo(root / "fifo.nrrd"),
        "full.nrrd": lambda root: os.symlink("/dev/full", root / "full.nrrd"),
        "null.nrrd": lambda root: os.symlink("/dev/null", root / "null.nrrd"),
        "loop.nrrd": lambda root: os.symlink("loop.nrrd", root / "loop.nrrd"),
        "dangling.nrrd": lambda root: os.symlink("nowhere/x.nrrd", root / "dangling.nrrd"),
        **dict.fromkeys(("/dev/full", "/dev/null", "nowhere/out.nrrd", "v.nrrd/out.nrrd", "out", "out.nrrd/")),
    }.items():
        keywords = {"expect": "error", "mentions": (output,), "prepare": prepare}
        for words in (maps("v.nrrd", output), strength("v.nrrd", output)):
            yield make_output_case(f"output {output}", words, (), **keywords)
        words = strength("v.nrrd", "out.nrrd", "--seed", "3,3,0", "--threshold", "0.5", "--object", output)
        yield make_output_case(f"object {output}", words, has_old_result=False, **keywords)
        yield make_output_case(f"labels {output}", labels("v.nrrd", output), has_old_result=False, **keywords)

    # A link stays a link, and what it names is written.
    link = lambda root: os.symlink("real.nrrd", root / "out.nrrd")
    yield make_output_case("link", strength("v.nrrd"), ("real.nrrd",), prepare=link, expect="success")
    for words in (["FeatureMaps", "--help"], ["FeatureMaps", "--xml"], ["FuzzyConnectedness", "--version"]):
        yield Case(f"{words} to a full disk", words, {}, "error", outputs=(), streams={1: "/dev/full"})
    closed = [dict.fromkeys(numbers, -1) for numbers in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))]
    for streams in ({1: "/dev/full"}, {1: "/dev/full", 2: "/dev/full"}, *closed):
        for words in (maps("v.nrrd"), strength("v.nrrd")):
            yield make_output_case(
                f"streams {streams}", words, streams=streams, expect="either" if 1 in streams else "success"
            )
        yield make_output_case(
            f"error, streams {streams}", strength("v.nrrd", "out.xyz"), (), streams=streams, expect="error"
        )


def make_input_cases():
    """Outputs that are files of inputs: nothing that a run reads may change."""
    voxels = {"x.raw": VOLUME.to_bytes()}
    nrrd = {"in.nhdr": formats.nrrd_header(VOLUME, data_file="x.raw"), **voxels}
    meta = {"in.mhd": formats.meta_header(VOLUME, "x.raw"), **voxels}
    pair = formats.nifti_pair(VOLUME)
    series = formats.dicom_folder(VOLUME)
    link = {
        "soft.nrrd": lambda root: os.symlink(root / "v.nrrd", root / "soft.nrrd"),
        "hard.nrrd": lambda root: os.link(root / "v.nrrd", root / "hard.nrrd"),
        "links/v.nrrd": lambda root: os.symlink(".", root / "links"),
    }
    for image, files, output in (
        ("v.nrrd", {}, "v.nrrd"),
        ("v.nrrd", {}, "./v.nrrd"),
        ("v.nrrd", {}, "soft.nrrd"),
        ("v.nrrd", {}, "hard.nrrd"),
        ("v.nrrd", {}, "links/v.nrrd"),
        ("in.nhdr", nrrd, "x.nhdr"),
        ("in.nhdr", nrrd, "x.mhd"),
        ("in.mhd", meta, "x.mhd"),
        ("in.mhd", {**meta, "x.mhd": b"an old header"}, "x.mhd"),
        ("v.hdr", pair, "v.img"),
        ("series", series, "series"),
    ):
        keywords = {"expect": "error", "mentions": (output,), "files": files, "prepare": link.get(output)}
        for words in (
            maps(image, output),
            strength(image, "out.nrrd", "--seed", "3,3,0", "--threshold", "0.5", "--object", output),
            maps("v.nrrd", output, "--mask", image, "--features", "HGRE"),
            strength("v.nrrd", output, "--seed-image", image),
            labels(image, output),
        ):
            yield make_output_case(f"{output}, input {image}", words, (), **keywords)
    # Slices under another name and the same one.
    for output, make in (("series/01.dcm", None), ("out.nrrd", os.link), ("out.nrrd", os.symlink)):
        prepare = lambda root: make(root / "series/01.dcm", root / output) if make else None
        words = maps("series", output)
        keywords = {"expect": "error", "mentions": (output,), "files": series, "prepare": prepare}
        yield make_output_case(f"{make} {output}, a slice", words, (), **keywords)
    # Two outputs with one file.
    words = strength("v.nrrd", "x.mhd", "--seed", "3,3,0", "--threshold", "0.5", "--object", "x.nhdr")
    yield make_output_case("two outputs with x.raw", words, ("x.mhd", "x.nhdr", "x.raw"), expect="error")


def become_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def make_permission_cases(folder):
    """Permissions say nothing to root, so a root becomes nobody."""
    is_root = os.geteuid() == 0
    try:
        command = [folder / "FuzzyConnectedness", "--version"]
        subprocess.run(command, stdout=subprocess.DEVNULL, preexec_fn=become_nobody if is_root else None, check=True)
    except (OSError, subprocess.SubprocessError):
        print("nobody cannot run the programs here, so permissions are not tested")
        return

    def forbid(name, mode):
        def prepare(root):
            for path in (root, *root.rglob("*")) if is_root else ():
                os.chown(path, NOBODY, NOBODY)
            (root / name).chmod(mode)

        return {"prepare": prepare, "limit": become_nobody if is_root else None}

    for command in (maps, strength):
        keywords = {"expect": "error", "mentions": ("ermission",)}
        words = command("v.nrrd")
        yield make_output_case("unreadable input", words, **keywords, **forbid("v.nrrd", 0))
        yield make_output_case("write-protected output", words, **keywords, **forbid("out.nrrd", 0o400))
        keywords["files"] = {"m.nrrd": IMAGE, "sub/x": b""}
        yield make_output_case("unreadable mask", [*words, "--mask", "m.nrrd"], **keywords, **forbid("m.nrrd", 0))
        words = command("v.nrrd", "sub/out.nrrd")
        yield make_output_case("locked folder", words, (), **keywords, **forbid("sub", 0))
        yield make_output_case("write-protected folder", words, ("sub/out.nrrd",), **keywords, **forbid("sub", 0o500))


def make_cases(number_of_random_cases, seed, folder):
    yield from make_disk_cases(number_of_random_cases, seed)
    yield from make_kind_cases()
    yield from make_input_cases()
    yield from make_permission_cases(folder)
