# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a hostile case, each in a folder of its own, and judges what it did."""

import array
import ctypes
import dataclasses
import gzip
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
import zlib

import formats

TIMEOUT = 60
MEMORY = 6 << 30
OLD_RESULT = b"an old result"
PROGRAMS = ("FeatureMaps", "FuzzyConnectedness")
# What no user wants to read in an error message.
INTERNAL = re.compile(
    rb"0x[0-9a-fA-F]{5,}|\w::~?\w|\b\w+ImageIO\b|Exception\b|bad_alloc|\.(c|cc|cxx|cpp|h|hxx):? ?\d|\bN\d+\w+E\b|\[ITK"
)


# Seeds of two labels.
LABELS = ("--seed", "3,3,0=1", "--seed", "0,0,0=300")


def maps(image, output="out.nrrd", *more):
    """The words of a command."""
    options = "--levels 64 --range 0,63 --radius 1".split()
    return ["FeatureMaps", image, output, *options, *(more or ("--features", "HGRE"))]


def strength(image, output="out.nrrd", *more):
    options = "--mean 30 --variance 100 --difference-variance 400".split()
    return ["FuzzyConnectedness", image, output, *options, *(more or ("--seed", "3,3,0"))]


def labels(image, output="labels.nrrd", *more):
    return strength(image, "out.nrrd", *(more or LABELS), "--labels", output)


# How the programs are given an image in each role, beside a good image in the same format, if it is not the input.
ROLES = {
    "maps": lambda image, good, seed: maps(image),
    "connectedness": lambda image, good, seed: strength(image, "out.nrrd", "--seed", seed),
    "maps-mask": lambda image, good, seed: maps(good, "out.nrrd", "--features", "HGRE", "--mask", image),
    "connectedness-mask": lambda image, good, seed: strength(good, "out.nrrd", "--seed", seed, "--mask", image),
    "connectedness-seeds": lambda image, good, seed: strength(good, "out.nrrd", "--seed-image", image),
    "labels-seeds": lambda image, good, seed: labels(good, "labels.nrrd", "--seed-image", image),
}


@dataclasses.dataclass
class Case:
    """A command line, words, in a folder with some files, and what is right."""

    name: str
    words: list
    files: dict = dataclasses.field(default_factory=dict)
    # error, success, or either: an error, or the right result.
    expect: str = "either"
    # What the line on stderr names; one of them is enough.
    mentions: tuple = ()
    outputs: tuple = ("out.nrrd",)
    # The case whose outputs are right, by the voxels alone or by all bytes; None if any result will do.
    right: "Case" = None
    only_voxels: bool = False
    has_old_result: bool = True
    may_warn: bool = False
    # Called with the folder, before the run and in the new process.
    prepare: object = None
    limit: object = None
    # A file or -1, closed, instead of stdin, stdout and stderr.
    streams: dict = dataclasses.field(default_factory=dict)
    # Signal, delay in seconds, whether to the whole process group.
    kill: tuple = None


@dataclasses.dataclass
class Result:
    code: int
    errors: bytes
    seconds: float
    before: dict
    after: dict


def describe_files(folder):
    """What there is in a folder: contents, or size and time of files that are large or cannot be read."""
    found = {}
    for path in map(os.fsencode, pathlib.Path(folder).rglob("*")):
        status = os.lstat(path)
        name = os.path.relpath(path, os.fsencode(folder))
        if stat.S_ISLNK(status.st_mode):
            found[name] = ("link", os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            is_read = status.st_size < 1 << 24 and os.access(path, os.R_OK)
            content = pathlib.Path(os.fsdecode(path)).read_bytes() if is_read else (status.st_size, status.st_mtime_ns)
            found[name] = ("file", content)
        else:
            found[name] = ("other", stat.S_IFMT(status.st_mode))
    return found


def remove_folder(folder):
    for path, names, _ in os.walk(folder):
        for name in names:
            if not os.path.islink(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(folder)


class Judge:
    def __init__(self, programs, folder):
        self.programs = pathlib.Path(programs).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.right_outputs = {}
        self.number_of_runs = 0
        self.failures = []
        if self.folder.exists():
            remove_folder(self.folder)
        self.folder.mkdir(parents=True)
        adopt_orphans()

    def write_files(self, case, folder):
        (folder / "tmp").mkdir(parents=True)
        for name, content in case.files.items():
            path = folder / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, int):  # a sparse file
                with open(path, "wb") as file:
                    file.truncate(content)
            else:
                path.write_bytes(content)
        if case.has_old_result:
            for name in case.outputs:
                (folder / name).write_bytes(OLD_RESULT)
        if case.prepare:
            case.prepare(folder)

    def start(self, case, folder):
        """Start the program of the case in its folder."""

        def set_limits():
            for number, stream in case.streams.items():
                if stream == -1:
                    os.close(number)
                else:
                    os.dup2(os.open(stream, os.O_RDWR), number)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            if case.limit:
                case.limit()

        return subprocess.Popen(
            [self.programs / word if word in PROGRAMS else word for word in case.words],
            cwd=folder,
            env={
                **os.environ,
                "TMPDIR": str(folder / "tmp"),
                "VOXELMAPS_USE_CUDA": "0",
                "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=set_limits,
        )

    def run(self, case, folder):
        self.write_files(case, folder)
        before = describe_files(folder)
        begin = time.monotonic()
        process = self.start(case, folder)
        if case.kill:
            number, delay, to_group = case.kill
            time.sleep(delay)
            if process.poll() is None:
                (os.killpg if to_group else os.kill)(process.pid, number)
        try:
            errors = process.communicate(timeout=TIMEOUT)[1]
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = "hang"
            os.killpg(process.pid, signal.SIGKILL)
            errors = process.communicate()[1]
        # A process that outlives its parent may still write.
        while is_group_alive(process.pid) and time.monotonic() < begin + TIMEOUT:
            time.sleep(0.01)
        if is_group_alive(process.pid):
            code = "hang"
            os.killpg(process.pid, signal.SIGKILL)
        return Result(code, errors, time.monotonic() - begin, before, describe_files(folder))

    def get_right_outputs(self, case):
        key = repr((case.words, sorted(case.files.items(), key=repr)))
        if key not in self.right_outputs:
            folder = self.folder / "right"
            result = self.run(dataclasses.replace(case, has_old_result=False), folder)
            outputs = [(folder / name).read_bytes() for name in case.outputs] if result.code == 0 else None
            self.right_outputs[key] = outputs
            remove_folder(folder)
        return self.right_outputs[key]

    def find_faults(self, case, result, folder):
        """What is wrong with the result, as sentences."""
        program = next(word for word in case.words if word in PROGRAMS).encode()
        if result.code not in (0, 1):
            if case.kill and result.code in (-case.kill[0], 128 + case.kill[0]):
                return self.find_file_faults(case, result)
            return [f"exit code {result.code}"] + self.find_file_faults(case, result)
        faults = []
        if case.expect != "either" and result.code != (1 if case.expect == "error" else 0):
            faults.append(f"exit code {result.code}, but must be {'01'[case.expect == 'error']}")
        lines = result.errors.split(b"\n")
        if 2 in case.streams:
            pass
        elif result.code == 0:
            if result.errors and not (case.may_warn and lines[0].startswith(program + b": ") and len(lines) == 2):
                faults.append("success, but something on stderr")
        else:
            if len(lines) != 2 or lines[1] or not lines[0].startswith(program + b": "):
                faults.append("not exactly one line on stderr that begins with the program's name")
            if len(result.errors) > 501:
                faults.append(f"{len(result.errors)} characters on stderr")
            if INTERNAL.search(result.errors):
                faults.append(f"{INTERNAL.search(result.errors)[0]} on stderr")
            if case.mentions and not any(os.fsencode(word) in result.errors for word in case.mentions):
                faults.append(f"stderr names none of {case.mentions[:3]}")
        faults += self.find_file_faults(case, result)
        if result.code == 0 or self.is_stdout_full(case, result):
            faults += self.find_wrong_outputs(case, folder)
        return faults

    @staticmethod
    def is_stdout_full(case, result):
        """Whether the outputs were complete before the program could not print what it wrote."""
        names = map(os.fsencode, case.outputs)
        return 1 in case.streams and any(result.before.get(name) != result.after.get(name) for name in names)

    def find_file_faults(self, case, result):
        faults = []
        can_be_new = result.code == 0 or case.kill or self.is_stdout_full(case, result)
        # Then nobody is left to remove temporary files.
        is_killed = case.kill and case.kill[0] == signal.SIGKILL
        for name in sorted({*result.before, *result.after}):
            old, new = result.before.get(name), result.after.get(name)
            is_output = os.fsdecode(name) in case.outputs
            is_left_over = is_killed and not old and name.startswith(b".voxelmaps-")
            if old != new and not (is_output and can_be_new) and not is_left_over:
                what = "left behind" if not old else "changed" if new else "removed"
                faults.append(f"{os.fsdecode(name)!r} was {what}")
        if case.kill and result.code != 0:
            faults += self.find_partial_outputs(case, result)
        return faults

    def find_partial_outputs(self, case, result):
        """What a killed run leaves: all outputs as they were, or all complete."""
        names = list(map(os.fsencode, case.outputs))
        right = [("file", content) for content in self.get_right_outputs(case.right)]
        complete = [result.after.get(name) == content for name, content in zip(names, right)]
        untouched = [result.after.get(name) == result.before.get(name) for name in names]
        if not all(a or b for a, b in zip(complete, untouched)):
            return ["an output is incomplete"]
        # Between two renames, nothing can be done about SIGKILL.
        if not all(complete) and not all(untouched) and case.kill[0] != signal.SIGKILL:
            return ["some outputs are new, some old"]
        return []

    def find_wrong_outputs(self, case, folder):
        contents = []
        for name in case.outputs:
            if not (folder / name).is_file():
                return [f"success, but {name} is no file"]
            contents.append((folder / name).read_bytes())
            if contents[-1] == OLD_RESULT:
                return [f"success, but {name} is the old one"]
        if not case.right or not contents:
            return []
        right = self.get_right_outputs(case.right)
        if not right:
            return ["success, but the independent reading fails"]
        if contents != right and right[0][:4] == b"NRRD" and not case.outputs[0].endswith(".nrrd"):
            # Files of other formats contain the same voxels.
            data = b"".join(map(decompress, contents))
            voxels = array.array("f", right[0].partition(b"\n\n")[2])
            swapped = voxels[:]
            swapped.byteswap()
            is_there = voxels.tobytes() in data or swapped.tobytes() in data
            return [] if is_there else [f"success, but the voxels of {case.outputs[0]} are wrong"]
        if case.only_voxels:
            heads = [content.partition(b"\n\n")[0] for content in contents]
            if any(re.search(rb"directions: .*(nan|inf|\(0,0(,0)?\))|origin: .*(nan|inf)", head) for head in heads):
                return ["success, but the geometry is impossible"]
            contents, right = ([content.partition(b"\n\n")[2] for content in each] for each in (contents, right))
        return [
            f"success, but {name} is wrong" for name, *pair in zip(case.outputs, contents, right) if pair[0] != pair[1]
        ]

    def judge(self, case):
        folder = self.folder / f"{self.number_of_runs:04}-{re.sub('[^A-Za-z0-9.=+-]+', '_', case.name)[:80]}"
        self.number_of_runs += 1
        result = self.run(case, folder)
        faults = self.find_faults(case, result, folder)
        if faults:
            self.failures.append(case)
            command = shlex.join(str(self.programs / word) if word in PROGRAMS else word for word in case.words)
            print(
                f"{case.name}: {'; '.join(faults)}\n  cd {folder} && {command}\n  {result.errors[:600]!r}", flush=True
            )
        else:
            remove_folder(folder)
        return result


def decompress(content):
    """What is compressed, but as it is if it is broken."""
    try:
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (EOFError, OSError, zlib.error):
        return content


def adopt_orphans():
    """Become the parent of processes that lose theirs, so that those that ended do not look alive."""
    if sys.platform == "linux":
        PR_SET_CHILD_SUBREAPER = 36
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def is_group_alive(group):
    try:
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def make_case(
    name, role, files, expect, mentions, good_files, reference=None, image="", seed="3,3,0", options=(), **more
):
    """A case of broken files, the first of which is the image. The right result is that of a reference, an image, or of
    good_files; any result will do if it is unknown."""
    good = "good/" + (image or next(iter(good_files)))
    outputs = ("out.nrrd", "labels.nrrd") if role == "labels-seeds" else ("out.nrrd",)
    good_files = {f"good/{key}": content for key, content in good_files.items()}
    words = [*ROLES[role](image or next(iter(files)), good, seed), *options]
    if isinstance(reference, formats.Image):
        files_of_right = {"v.nrrd": formats.nrrd(reference)["v.nrrd"], **good_files}
        right = Case(name, ROLES[role]("v.nrrd", good, seed), files_of_right, outputs=outputs)
    else:
        right = (
            None if reference == "unknown" else Case(name, ROLES[role](good, good, seed), good_files, outputs=outputs)
        )
    return Case(name, words, {**files, **good_files}, expect, mentions, outputs, right=right, **more)
