# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Input that would make a program lose data, hang, crash or compute what nobody asked for. The command voxelmaps does what
is right, or says in one line what is wrong, and leaves all that was there."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

import pytest
from array_libraries import itk
from test_program import COMMAND, ONE_FEATURE as ONE, write_case
from voxelmaps._cohort import cases as _program_cases
from voxelmaps._cohort import tables as _program_tables
from voxelmaps import _cli as program
from voxelmaps import _image, radiomics
from voxelmaps.radiomics import _settings as parameters

pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links, pipes and limits")

CASE = ["image.nii.gz", "--mask", "mask.nii.gz", "--out", "maps", *ONE]
MAP = "original_firstorder_Mean.nii.gz"
HEAD = "image,mask,output\n"
ROW = HEAD + "image.nii.gz,mask.nii.gz,maps\n"
JOBS = ["--jobs", "table.csv", *ONE]
# More than any run takes on a busy machine.
SECONDS = 300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_case(tmp_path, shape=(8, 9, 10)))
    itk.imwrite(itk.imread("image.nii.gz"), "image.mhd")
    mask = itk.imread("mask.nii.gz")
    itk.array_view_from_image(mask)[...] = (itk.array_from_image(mask) == 1) * 255
    itk.imwrite(mask, "mask255.nii.gz")
    return tmp_path


def contents(folder):
    """Of all files, links as what they are."""
    return {
        path: os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def link(target, symbolic=False):
    return lambda path: os.symlink(target, path) if symbolic else os.link(target, path)


def series(path):
    path.mkdir()
    (path / "slice.dcm").write_bytes(b"DICM")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi")
)
YAML = ["--params", "p.yaml"]
JSON = ["--params", "p.json"]

# Name -> files to make (content, or function of their path), arguments, and what the only line of errors has; the last is None if
# the run is right.
CASES = {
    # What is read would be replaced.
    "summary is the table": ({"table.csv": ROW}, [*JOBS, "--summary", "table.csv"], "summary table.csv would replace the table"),
    "summary of the table is the table": (
        {"table.csv": ROW, "table-summary.csv": link("table.csv")},
        JOBS,
        "the summary table-summary.csv would replace the table table.csv",
    ),
    "summary is the parameter file": ({"p.json": "{}"}, [*CASE, *JSON, "--summary", "p.json"], "the summary p.json would replace the parameter file p.json"),
    "summary is a symbolic link": ({"s.csv": link("mask.nii.gz", True)}, [*CASE, "--summary", "s.csv"], "the summary s.csv would replace the mask mask.nii.gz"),
    "summary is a link to a slice": (
        {"ct": series, "s.csv": link("ct/slice.dcm", True)},
        ["ct", *CASE[1:], "--summary", "s.csv"],
        "the summary s.csv would replace the image ct",
    ),
    "summary is the data file of a header": ({}, ["image.mhd", *CASE[1:], "--summary", "image.raw"], "the summary image.raw would replace the image image.mhd"),
    "summary is the record": ({"maps": os.mkdir}, [*CASE, "--summary", "maps/provenance.json"], "is also a file of the output maps"),
    "parameter file is the record": (
        {"maps": os.mkdir, "maps/provenance.json": "{}"},
        [*CASE, "--params", "maps/provenance.json"],
        "the file maps/provenance.json would replace the parameter file maps/provenance.json",
    ),
    "image is a map": ({"maps": os.mkdir, f"maps/{MAP}": link("image.nii.gz")}, CASE, f"the file maps/{MAP} would replace the image image.nii.gz"),
    "mask is a map of a linked folder": (
        {"real": os.mkdir, "maps": link("real", True), f"real/{MAP}": link("../mask.nii.gz", True)},
        CASE,
        f"the file maps/{MAP} would replace the mask mask.nii.gz",
    ),
    "image is an unfinished map": (
        {"maps": os.mkdir, "maps/.voxelmaps-a": os.mkdir, "maps/.voxelmaps-a/i.nii": "i"},
        ["maps/.voxelmaps-a/i.nii", *CASE[1:]],
        "is in a folder for incomplete maps, which runs remove",
    ),
    "image is a map of another case": ({"table.csv": f"{ROW}maps/{MAP},mask.nii.gz,b\n"}, JOBS, f"the file .*maps/{MAP} would replace the image .*maps/{MAP}"),
    # Outputs that are none.
    "summary is a device": ({}, [*CASE, "--summary", "/dev/null"], "the summary /dev/null is not a file"),
    "summary is a pipe": ({"s.csv": os.mkfifo}, [*CASE, "--summary", "s.csv"], "the summary s.csv is not a file"),
    "output is a device": ({}, [*CASE[:4], "/dev/null", *ONE], "/dev/null cannot be made: a file is in its place"),
    "output cannot be made": ({}, [*CASE[:4], "/proc/maps", *ONE], "/proc/maps: No such file or directory"),
    "output is in an input": ({}, [*CASE[:4], "mask.nii.gz/a", *ONE], "cannot be made: a file is in its place"),
    "output has a long name": ({}, [*CASE[:4], "m" * 300, *ONE], "mmm.*: File name too long"),
    "output is a link to itself": ({"maps": link("maps", True)}, CASE, "maps.*(in its place|levels of symbolic links)"),
    # Tables.
    "table is a folder": ({"table.csv": os.mkdir}, JOBS, "the table table.csv is a folder"),
    "table is a device": ({"table.csv": link("/dev/zero", True)}, JOBS, "the table table.csv is not a file"),
    "table is long": ({"table.csv": lambda path: [path.touch(), os.truncate(path, 2**27)]}, JOBS, "the table table.csv is longer than 67108864 bytes"),
    "escape sequence": ({"table.csv": HEAD + '"\x1b[2J\x1b]0;a\x07",mask.nii.gz,maps\n'}, JOBS, r"\\x1b\[2J\\x1b\]0;a\\x07: the image .* does not exist"),
    "formula": ({"=1+1.nii.gz": link("image.nii.gz"), "table.csv": HEAD + "=1+1.nii.gz,mask.nii.gz,@maps\n"}, JOBS, None),
    "output above": ({"t": os.mkdir, "t/table.csv": HEAD + "../image.nii.gz,../mask.nii.gz,../b\n"}, ["--jobs", "t/table.csv", *ONE], None),
    "byte order mark": ({"table.csv": "\ufeff" + ROW.replace("\n", "\r\n")}, JOBS, None),
    "same image and mask": ({}, ["mask.nii.gz", *CASE[1:]], None),
    # Images.
    "image is a pipe": ({"p.nii": os.mkfifo}, ["p.nii", *CASE[1:]], "cannot read 'p.nii': it is not a regular file"),
    "image is a device": ({"p.nii": link("/dev/zero", True)}, ["p.nii", *CASE[1:]], "is not a regular file"),
    "image is an empty folder": ({"ct": os.mkdir}, ["ct", *CASE[1:]], "ct"),
    "image is a broken link": ({"i.nii": link("none", True)}, ["i.nii", *CASE[1:]], "the image i.nii does not exist"),
    "image has no UTF-8 name": ({"\udce9.nii.gz": link("image.nii.gz")}, ["\udce9.nii.gz", *CASE[1:]], "name that is not UTF-8"),
    "output has no UTF-8 name": ({}, [*CASE[:4], "\udce9", *ONE], "the output .* has a name that is not UTF-8"),
    "summary has no UTF-8 name": ({}, [*CASE, "--summary", "\udce9.csv"], None),
    "mask has another value": ({}, ["image.nii.gz", "--mask", "mask255.nii.gz", *CASE[3:]], "no voxel of the mask is 1 .*the values 0 and 255"),
    # Parameter files.
    "aliases of aliases": ({"p.yaml": BOMB}, [*CASE, *YAML], "parameter file p.yaml: anchors and aliases are not supported, but line 1 has a"),
    "unknown tag": ({"p.yaml": "setting: !!python/object/apply:os.system ['id']\n"}, [*CASE, *YAML], "parameter file p.yaml: could not determine a constructor"),
    "long parameter file": ({"p.yaml": "#" * 2**20 + "\n"}, [*CASE, *YAML], "parameter file p.yaml is longer than 1048576 bytes"),
    "deep parameter file": ({"p.yaml": "[" * 50000}, [*CASE, *YAML], "parameter file p.yaml is nested too deeply"),
    "two documents": ({"p.yaml": "setting: {}\n---\nsetting: {}\n"}, [*CASE, *YAML], "parameter file p.yaml: .*single document"),
    "null byte": ({"p.json": '{"setting\0": {}}'}, [*CASE, *JSON], "parameter file p.json has a null byte in line 1"),
    "huge integer": ({"p.json": '{"setting": {"binWidth": 1%s}}' % ("0" * 10000)}, [*CASE, *JSON], "setting binWidth is inf"),
    "deep value": ({}, [*CASE, "--setting", "binWidth=" + "[" * 50000], "setting binWidth is '\\[.*, but must be a number"),
    "option with a typo": ({}, [*CASE, "--bin-with", "3"], "unrecognized arguments: --bin-with 3 .did you mean --bin-width"),
    "fill without channels": ({}, [*CASE, "--fill", "3"], "--fill is 3, but has no effect without --channels"),
    "dataset of other channels": (
        {"labelsTr": os.mkdir, "labelsTr/b.nii.gz": "", "dataset.json": '{"channel_names": {"0": "glcm_Id"}}'},
        [*CASE, "--channels", "nnunet"],
        "the dataset .* has cases with other channels, such as b with glcm_Id: choose another folder",
    ),
    "setting of an option": ({}, [*CASE, "--radius", "1" + "0" * 5000], "setting kernelRadius is .1000*.*, but must be an integer"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name, folder, capfd):
    files, arguments, message = CASES[name]
    for path, content in files.items():
        path = folder / path
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = contents(folder)
    capfd.readouterr()
    start = time.monotonic()
    code = program.main(["maps", *arguments])
    assert time.monotonic() - start < SECONDS
    output, errors = capfd.readouterr()
    assert {path: content for path, content in contents(folder).items() if path in before} == before
    assert all(line.isprintable() for line in (output + errors).splitlines()), (output, errors)
    if message is None:
        assert (code, errors) == (0, "") and len(output.splitlines()) == 1
        (written,) = folder.rglob(MAP)
        assert written not in before
        return
    assert (code, output) == (1, "")
    (line,) = [line for line in errors.splitlines() if "cases failed" not in line]
    assert line.startswith("voxelmaps: ") and re.search(message, line), line
    assert not [path for path in folder.rglob(MAP) if path not in before]


def test_outputs_of_execute(folder):
    os.mkdir("maps")
    os.link("image.nii.gz", f"maps/{MAP}")
    before = contents(folder)
    for image in (f"maps/{MAP}", "image.nii.gz", pathlib.Path("image.nii.gz")):
        with pytest.raises(ValueError, match=f"the file maps/{MAP} would replace the image {image}"):
            radiomics.execute(image, "mask.nii.gz", out_dir="maps", featureClass={"firstorder": ["Mean"]})
    assert contents(folder) == before
    paths = radiomics.execute("image.nii.gz", "mask.nii.gz", out_dir="maps", featureClass={"firstorder": ["Median"]})
    assert paths["original_firstorder_Median"].is_file()


def test_many_keys(folder, capfd):
    """In a time that grows as their number does."""
    keys = [f"k{i}" for i in range(50000)]
    (folder / "p.json").write_text(json.dumps({"setting": dict.fromkeys(keys, 1)}))
    (folder / "table.csv").write_text(
        ",".join(["image", "mask", "output", *keys]) + "\n" + ",".join("a" for _ in range(50003)) + "\n"
    )
    (folder / "cases.csv").write_text(HEAD + "".join(f"image.nii.gz,mask.nii.gz,maps{i}\n" for i in range(20000)))
    start = time.process_time()
    with pytest.raises(ValueError, match="setting k0 is not known"):
        parameters.read("p.json", {})
    cases, unused = _program_tables.read_cases("table.csv")
    assert unused == [] and list(cases[0].columns) == keys
    cases, _ = _program_tables.read_cases("cases.csv")
    _program_tables.check_outputs(
        cases, lambda case: [MAP] * 95, [("the table", "cases.csv")], [("the summary", "s.csv")]
    )
    assert time.process_time() - start < 30
    assert program.main(["--jobs", "table.csv", *ONE]) == 1
    assert all(len(line) < 1000 for line in capfd.readouterr().err.splitlines())


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
def test_closed_streams(closed, folder):
    def close():
        for number in closed:
            os.close(number)

    for arguments, code in ((CASE, 0), ([*CASE, "--label", "7", "--overwrite"], 1)):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=SECONDS, preexec_fn=close)
        assert done.returncode == code
        message = "no voxel of the mask is 7" if code else "1 map"
        where = done.stderr if code and 2 not in closed else done.stdout
        is_open = not ({1, 2} <= set(closed) or 1 in closed and not code)
        assert (message in where) == is_open
    assert (folder / "maps" / MAP).is_file()


def test_output_that_cannot_be_written(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *CASE], stdout=full, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    assert done.returncode == 1
    assert done.stderr == "voxelmaps: error: standard output: No space left on device\n"
    assert (folder / "maps" / MAP).is_file() and (folder / "maps" / "summary.csv").is_file()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_streams_of_other_encodings(encoding, folder):
    os.rename("image.nii.gz", "\u4e2d.nii.gz")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, "\u4e2d.nii.gz", *CASE[1:]], capture_output=True, timeout=SECONDS, env=environment)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"\\u4e2d.nii.gz: 1 map")


def test_summary_of_an_earlier_run(folder, capfd):
    assert program.main(CASE) == 0
    summary = folder / "maps" / "summary.csv"
    assert summary.stat().st_mode & 0o777 == 0o666 & ~os.umask(os.umask(0o22) and 0o22)
    good = summary.read_text("utf-8")
    assert program.main([*CASE, "--label", "7", "--overwrite"]) == 1
    assert "no voxel of the mask is 7" in capfd.readouterr().err and summary.read_text("utf-8") == good
    # Through a link, which stays one.
    os.symlink("maps/summary.csv", "s.csv")
    assert program.main([*CASE, "--summary", "s.csv"]) == 0
    assert os.path.islink("s.csv") and summary.read_text("utf-8") == good
    # A disk that is full: what was there stays.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30, limits[1]))
    try:
        assert program.main(CASE) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert summary.read_text("utf-8") == good
    assert not [path for path in summary.parent.iterdir() if path.name.startswith(".")]


def test_input_that_changes_while_it_is_read(folder, monkeypatch):
    load = _image.load
    for change in (lambda path: os.truncate(path, 5), os.unlink, os.utime):

        def load_and_change(path, what, **options):
            result = load(path, what, **options)
            change(path)
            return result

        monkeypatch.setattr(_image, "load", load_and_change)
        shutil.copy("image.nii.gz", "copy.nii.gz")
        with pytest.raises((ValueError, OSError), match="copy.nii.gz was written while it was read|No such file"):
            _program_cases.load(pathlib.Path("copy.nii.gz"), "image")


RECORDS = ["", "[" * 100000, "null", '{"maps": {}}', '{"maps": {"a": 1}}', "{}\0", "no statistics", "\ud800"]


@pytest.mark.parametrize("text", RECORDS, ids=range(len(RECORDS)))
def test_records_that_are_none(text, folder, capfd):
    """They stay, or nothing of an earlier run is kept."""
    assert program.main(CASE) == 0
    record, summary = folder / "maps" / "provenance.json", (folder / "maps" / "summary.csv").read_bytes()
    content = json.loads(record.read_text("utf-8"))
    if text == "no statistics":
        del content["maps"][MAP[: -len(".nii.gz")]]["mean"]
        text = json.dumps(content)
    record.write_text(text, "utf-8", errors="surrogatepass")
    given = record.read_bytes()
    capfd.readouterr()
    if "original" not in text:
        assert program.main(CASE) == 1 and record.read_bytes() == given
        assert "maps/provenance.json is not what voxelmaps writes: " in capfd.readouterr().err
    assert program.main([*CASE, "--overwrite"]) == 0
    assert "kept" not in capfd.readouterr().out
    assert json.loads(record.read_text("utf-8"))["maps"].keys() == content["maps"].keys() | {MAP[: -len(".nii.gz")]}
    assert (folder / "maps" / "summary.csv").read_bytes() == summary
