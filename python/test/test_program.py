# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The program TextureFeatureMaps: maps, summary and provenance, resuming, cohorts, signals, damaged and wrong input."""

import csv
import gzip
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import itk
import numpy as np
import pytest
import voxelmaps
from voxelmaps._cohort import tables
from voxelmaps._files import paths as _output_files
from voxelmaps._cohort import processes as _program_worker
from voxelmaps import _cli as program
from voxelmaps import radiomics

pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")

COMMAND = [sys.executable, "-m", "voxelmaps"]


def write_case(folder, seed=0, shape=(12, 14, 16), name=""):
    """Write image.nii.gz and mask.nii.gz with the labels 0, 1 and 2."""
    rng = np.random.default_rng(seed)
    image, mask = rng.integers(0, 200, shape).astype(np.int16), np.zeros(shape, np.uint8)
    mask[2:-2, 3:-3, 3:-3] = rng.random(mask[2:-2, 3:-3, 3:-3].shape) < 0.7
    mask[0] = 2
    folder.mkdir(parents=True, exist_ok=True)
    for array, what in ((image, "image"), (mask, "mask")):
        one = itk.image_from_array(array)
        one.SetSpacing([0.7, 0.7, 2.0])
        itk.imwrite(one, str(folder / f"{what}{name}.nii.gz"))
    return folder


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run the program in this process; its worker is another one. Returns exit code, lines of output and of errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        # ITK prints warnings when images are written.
        capfd.readouterr()
        code = program.main([str(a) for a in arguments])
        output, errors = capfd.readouterr()
        return code, output.splitlines(), errors.splitlines()

    return run


CASE = ["image.nii.gz", "--mask", "mask.nii.gz", "--out", "maps"]
ONE_FEATURE = ["--features", "firstorder_Mean"]


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def maps_in(folder):
    return sorted(path.name for path in folder.glob("*") if path.name.endswith(".nii.gz"))


def check_same(path, other):
    ours, theirs = path.read_bytes(), other.read_bytes()
    contents = [gzip.decompress(content) for content in (ours, theirs)]
    differences = [i for i, (a, b) in enumerate(zip(*contents)) if a != b]
    assert not differences, f"{path.name} differs in {len(differences)} bytes, first in number {differences[0]}"
    assert ours == theirs


# --- One case ----------------------------------------------------------------------------------------------------------


def test_maps_summary_and_provenance(run, tmp_path):
    write_case(tmp_path)
    (tmp_path / "params.json").write_text(
        json.dumps(
            {
                "setting": {"binWidth": 10},
                "voxelSetting": {"kernelRadius": 2},
                # NaN where a window has no pair of voxels.
                "featureClass": {"glrlm": ["RunVariance", "RunEntropy"], "firstorder": None},
            }
        )
    )
    code, output, errors = run(*CASE, "--params", "params.json", "--radius", "1", "--setting", "initValue=-1")
    assert (code, errors) == (0, [])
    assert re.fullmatch(r"image.nii.gz: 20 maps of \d+ voxels in maps, [\d.]+ s", output[0]) and len(output) == 1
    expected = radiomics.execute(
        "image.nii.gz",
        "mask.nii.gz",
        "params.json",
        kernelRadius=1,
        initValue=-1,
        out_dir="expected",
        additionalInfo=False,
    )
    assert maps_in(tmp_path / "maps") == sorted(path.name for path in expected.values())
    for path in expected.values():
        check_same(tmp_path / "maps" / path.name, path)

    record = json.loads((tmp_path / "maps" / "provenance.json").read_text())
    assert record["complete"] and record["settings"]["binWidth"] == 10 and record["settings"]["kernelRadius"] == 1
    assert list(record["maps"]) == list(expected)
    for what in ("image", "mask"):
        entry = record["inputs"][what]
        assert entry["path"] == str(tmp_path / f"{what}.nii.gz")
        assert entry["file_sha256"] == hashlib.sha256((tmp_path / f"{what}.nii.gz").read_bytes()).hexdigest()
    inside = itk.array_from_image(itk.imread("mask.nii.gz"))[1:-1, 2:-2, 2:-2] == 1
    rows = rows_of(tmp_path / "maps" / "summary.csv")
    assert [row["map"] for row in rows] == list(expected)
    for row in rows:
        entry = record["maps"][row["map"]]
        content = (tmp_path / "maps" / entry["file"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        values = np.frombuffer(gzip.decompress(content)[352:], np.float32).reshape(inside.shape)[inside].astype(float)
        valid = values[~np.isnan(values)]
        assert (int(row["valid_voxels"]), int(row["mask_voxels"])) == (len(valid), len(values))
        for name, value in (("mean", valid.mean()), ("median", np.median(valid)), ("standard_deviation", valid.std())):
            np.testing.assert_allclose(float(row[name]), value, rtol=1e-6, atol=1e-9, err_msg=row["map"])
    assert any(int(row["valid_voxels"]) == 0 for row in rows) == (len(valid) == 0)


def test_maps_of_other_settings(run, tmp_path):
    write_case(tmp_path)
    folder = tmp_path / "maps"
    assert run(*CASE, "--features", "firstorder_Mean,firstorder_Range,glcm_Contrast")[0] == 0
    (folder / "mine.nii.gz").write_bytes(b"mine")
    other = ["--bin-width", "7", "--features", "firstorder_Mean,ngtdm_Busyness"]
    left = "maps has 2 maps of other settings besides; --clean removes them"
    for _ in range(2):
        code, output, errors = run(*CASE, *other, "--verify")
        assert code == 0 and errors[-1].endswith(left)
    assert len(maps_in(folder)) == 5
    assert "glcm" not in (folder / "summary.csv").read_text()
    # One that somebody has changed since is no longer the program's.
    (folder / "original_firstorder_Range.nii.gz").write_bytes(b"changed")
    code, _, errors = run(*CASE, *other, "--clean")
    assert (code, errors) == (0, [])
    assert maps_in(folder) == [
        "mine.nii.gz",
        "original_firstorder_Mean.nii.gz",
        "original_firstorder_Range.nii.gz",
        "original_ngtdm_Busyness.nii.gz",
    ]
    code, output, errors = run(*CASE, *other, "--clean")
    assert (code, errors) == (0, []) and len(maps_in(folder)) == 4


def test_options_are_the_settings_of_the_drop_in(run, tmp_path):
    write_case(tmp_path)
    options = "--features glrlm_RunEntropy,original_firstorder_Mean --classes glcm --bin-count 8 --radius 2 --label 2"
    more = "--force2d --force2d-dimension 0 --precision double --setting weightingNorm=no_weighting --setting distances=[1,2]"
    code, _, _ = run(*CASE, *options.split(), *more.split())
    assert code == 0
    expected = radiomics.execute(
        "image.nii.gz",
        "mask.nii.gz",
        featureClass={"glcm": None, "glrlm": ["RunEntropy"], "firstorder": ["Mean"]},
        binCount=8,
        kernelRadius=2,
        label=2,
        force2D=True,
        force2Ddimension=0,
        weightingNorm="no_weighting",
        distances=[1, 2],
        precision="double",
        out_dir="expected",
        additionalInfo=False,
    )
    assert maps_in(tmp_path / "maps") == sorted(path.name for path in expected.values())
    for path in expected.values():
        check_same(tmp_path / "maps" / path.name, path)


def test_finished_maps_are_kept(run, tmp_path):
    write_case(tmp_path)
    maps = tmp_path / "maps"

    def times():
        return {path.name: path.stat().st_mtime_ns for path in maps.glob("*.nii.gz")}

    assert run(*CASE, "--classes", "firstorder")[0] == 0
    before, summary = times(), (maps / "summary.csv").read_text()
    contents = {path.name: path.read_bytes() for path in maps.glob("*.nii.gz")}
    # One is damaged, one is lost, one feature is new; a new file of the same voxels is the same input.
    (maps / "original_firstorder_Mean.nii.gz").write_bytes(b"damaged")
    (maps / "original_firstorder_Median.nii.gz").unlink()
    itk.imwrite(itk.imread("image.nii.gz"), "image.mha")
    arguments = ["image.mha", *CASE[1:], "--classes", "firstorder"]
    code, output, errors = run(*arguments, "--features", "glrlm_RunEntropy")
    assert (code, errors) == (0, []) and "19 maps (16 of them kept)" in output[0]
    after = times()
    assert {name for name in before if after[name] == before[name]} == set(before) - {
        "original_firstorder_Mean.nii.gz",
        "original_firstorder_Median.nii.gz",
    }
    assert {name: (maps / name).read_bytes() for name in contents} == contents
    assert [line.split(",")[3:] for line in summary.splitlines()] == [
        line.split(",")[3:] for line in (maps / "summary.csv").read_text().splitlines()[: len(before) + 1]
    ]
    # Other settings, another image, a record that is no record: nothing is kept, and a line says so.
    code, output, errors = run(*arguments, "--bin-width", "10", "--label", "2")
    assert (code, len(errors)) == (0, 2) and "kept" not in output[0]
    assert errors[0].endswith("are not reused: they were computed with another label, binWidth")
    write_case(tmp_path, seed=1)
    code, output, errors = run(*CASE, "--classes", "firstorder", "--bin-width", "10", "--label", "2")
    assert (code, len(errors)) == (0, 2) and "kept" not in output[0]
    assert errors[0].endswith("are not reused: they were computed with another image, mask") or errors[0].endswith(
        "are not reused: they were computed with another image"
    )
    (maps / "provenance.json").write_text('{"maps": {"a": 1}}')
    code, output, errors = run(*CASE, *ONE_FEATURE)
    assert (code, len(errors)) == (0, 1) and "kept" not in output[0]
    assert errors[0].endswith("provenance.json cannot be read, so no map in the folder is reused")


def damage_silently(path):
    """Change a file in its place, and give it the time that it had."""
    state = os.stat(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_finished_cases_are_known_by_sizes_and_times(run, tmp_path):
    write_case(tmp_path)
    record = tmp_path / "maps" / "provenance.json"
    kept = "image.nii.gz: 1 maps (1 of them kept)"
    _, first, _ = run(*CASE, *ONE_FEATURE)
    summary = (tmp_path / "maps" / "summary.csv").read_text()
    voxels = re.search("of [0-9]+ voxels", first[0])[0]
    # Neither program nor user can see it without reading.
    damage_silently(tmp_path / "image.nii.gz")
    code, output, errors = run(*CASE, *ONE_FEATURE)
    assert (code, errors) == (0, []) and output[0].startswith(kept) and voxels in output[0]
    assert (tmp_path / "maps" / "summary.csv").read_text() == summary
    damaged = "TextureFeatureMaps: image.nii.gz: the image: cannot read 'image.nii.gz': it "
    code, _, errors = run(*CASE, *ONE_FEATURE, "--verify")
    assert code == 1 and errors[0].startswith(damaged)
    # A file that was written so late that it may have changed after it was read is read again.
    content = json.loads(record.read_text())
    for late in (content["inputs"]["image"]["files"][str(tmp_path / "image.nii.gz")][1] + 10**6, 0):
        content["inputs"]["image"]["read_ns"] = late
        record.write_text(json.dumps(content))
        code, _, errors = run(*CASE, *ONE_FEATURE)
        assert code == 1 and errors[0].startswith(damaged)
    # New files of the same voxels are the same input; a map that changed is computed again.
    write_case(tmp_path)
    code, output, errors = run(*CASE, *ONE_FEATURE)
    assert (code, errors) == (0, []) and output[0].startswith(kept)
    path = tmp_path / "maps" / "original_firstorder_Mean.nii.gz"
    right = path.read_bytes()
    damage_silently(path)
    assert run(*CASE, *ONE_FEATURE)[0] == 0 and path.read_bytes() != right
    code, output, _ = run(*CASE, *ONE_FEATURE, "--verify")
    assert code == 0 and "kept" not in output[0] and path.read_bytes() == right
    os.utime(path, (1, 1))
    assert kept in run(*CASE, *ONE_FEATURE)[1][0]
    path.write_bytes(b"another")
    code, output, _ = run(*CASE, *ONE_FEATURE)
    assert code == 0 and "kept" not in output[0] and path.read_bytes() == right


def test_progress_bar_on_a_terminal_only(run, tmp_path):
    write_case(tmp_path)
    ours, terminal = os.openpty()
    process = subprocess.Popen([*COMMAND, *CASE, *ONE_FEATURE], stderr=terminal, stdout=subprocess.PIPE, cwd=tmp_path)
    output, _ = process.communicate(timeout=60)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.returncode == 0 and output.startswith(b"image.nii.gz: 1 maps")
    assert re.search(rb"\r\[#+\] 100 %", shown) and shown.endswith(b"\r\x1b[K")


def test_dicom_series(ct_series, run, tmp_path):
    folder, _ = ct_series
    image = voxelmaps.read_dicom_series(str(folder))
    mask = np.zeros(itk.array_view_from_image(image).shape, np.uint8)
    mask[40:44, 90:110, 90:110] = 1
    mask = itk.image_from_array(mask)
    mask.CopyInformation(image)
    itk.imwrite(mask, str(tmp_path / "mask.nrrd"))
    code, _, errors = run(folder, "--mask", "mask.nrrd", "--out", "maps", *ONE_FEATURE)
    assert (code, errors) == (0, [])
    maps = radiomics.execute(image, mask, featureClass={"firstorder": ["Mean"]}, additionalInfo=False)
    np.testing.assert_array_equal(
        itk.array_from_image(itk.imread("maps/original_firstorder_Mean.nii.gz")),
        itk.array_from_image(maps["original_firstorder_Mean"]),
    )


# --- Cohorts -----------------------------------------------------------------------------------------------------------


def test_cohort_goes_on_after_errors(run, tmp_path):
    data = tmp_path / "data of cases"
    for seed in range(3):
        write_case(data, seed, name=str(seed))
    # ITK's reader ends its process.
    itk.imwrite(itk.imread(str(data / "image0.nii.gz")), str(data / "crash.mha"))
    crash = (data / "crash.mha").read_bytes()
    (data / "crash.mha").write_bytes(crash.replace(b"NDims = 3", b"NDims = -3"))
    (data / "cut.nii.gz").write_bytes((data / "image0.nii.gz").read_bytes()[:-100])
    empty = itk.imread(str(data / "mask0.nii.gz"))
    itk.array_view_from_image(empty)[...] = 0
    itk.imwrite(empty, str(data / "empty.nii.gz"))
    (tmp_path / "file").write_text("")
    lines = [
        "Image,mask,OUTPUT,patient",
        "image0.nii.gz,mask0.nii.gz,../out/a b,1",
        "",
        "crash.mha,mask0.nii.gz,../out/crash,2",
        "cut.nii.gz,mask0.nii.gz,../out/cut,3",
        "image0.nii.gz,empty.nii.gz,../out/empty,4",
        "none.nii.gz,mask0.nii.gz,../out/none,5",
        "image0.nii.gz,mask0.nii.gz,../file,6",
        '"image1.nii.gz", "mask1.nii.gz", "../out/c,d",7',
        ",,,",
        f"{data / 'image2.nii.gz'},mask2.nii.gz,{tmp_path / 'out' / 'é'},8",
    ]
    (data / "table.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    code, output, errors = run("--jobs", data / "table.csv", *ONE_FEATURE)
    assert code == 1
    assert [line.split(":")[0] for line in output] == [
        "[1/8] image0.nii.gz",
        "[7/8] image1.nii.gz",
        f"[8/8] {data / 'image2.nii.gz'}",
    ]
    messages = (
        "note: columns of .*table.csv that are not used: patient",
        r"\[2/8\] crash.mha: the image: cannot read '.*crash.mha': its NDims is '-3', but must be an integer from 1 on",
        r"\[3/8\] cut.nii.gz: the image: cannot read '.*cut.nii.gz': it is truncated or corrupt",
        r"\[4/8\] image0.nii.gz: no voxel of the mask is 1 \(setting label\); it has only the value 0",
        r"\[5/8\] none.nii.gz: the image .*none.nii.gz does not exist",
        r"\[6/8\] image0.nii.gz: the folder .*file cannot be made: a file is in its place",
        "5 of 8 cases failed",
    )
    assert len(errors) == len(messages)
    for line, message in zip(errors, messages):
        assert re.match(f"TextureFeatureMaps: {message}", line), line
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(["a b", "c,d", "é"])
    rows = rows_of(data / "table-summary.csv")
    assert [row["image"] for row in rows] == [line.split(",")[0].strip('"') for line in lines[1:] if line.strip(",")]
    assert [bool(row["error"]) for row in rows] == [False, True, True, True, True, True, False, False]
    assert [bool(row["mean"]) for row in rows] == [not row["error"] for row in rows]
    # Again: what is there is kept, and the summary is the same.
    summary = (data / "table-summary.csv").read_text()
    code, output, _ = run("--jobs", data / "table.csv", *ONE_FEATURE)
    assert code == 1 and all("1 maps (1 of them kept)" in line for line in output)
    # The signal that ends a reader is not always the same.
    again = (data / "table-summary.csv").read_text()
    assert re.sub(r"by SIG\w+", "by a signal", again) == re.sub(r"by SIG\w+", "by a signal", summary)


TABLES = {
    "": "table.csv is empty; its first line must name the columns image, mask, output",
    "image,mask\na,b\n": "the column output of the table .* is missing; its columns are image, mask",
    "image,mask,output,mask\n": "the column mask of the table .* is given twice",
    "image,mask,output\n\n": "has no case",
    "image,mask,output\na,b\n": "line 2 of the table .* has 2 cells, but there are 3 columns",
    "image,mask,output\na,,c\n": "line 2 of the table .* has no mask",
    'image,mask,output\na,"b,c\n': "is not valid in line 2: unexpected end of data",
    b"image,mask,output\n\xe9,b,c\n".decode("latin-1"): "is not UTF-8: invalid continuation byte at byte 18",
    "image,mask,output\na,b,c\nd,e,./c\n": "the output ./c of d is also the output c of a",
    "image,mask,output\na,b,c\nc/original_firstorder_Mean.nii.gz,e,f\n": "the file .*c/original_firstorder_Mean.nii.gz would replace the image .*c/original_firstorder_Mean.nii.gz",
}


@pytest.mark.parametrize("text", TABLES)
def test_tables_that_are_not_valid(text, run, tmp_path):
    (tmp_path / "table.csv").write_bytes(text.encode("latin-1"))
    code, output, errors = run("--jobs", "table.csv", *ONE_FEATURE)
    assert (code, output, len(errors)) == (1, [], 1)
    assert re.match(f"TextureFeatureMaps: error: .*{TABLES[text]}", errors[0]), errors[0]
    assert os.listdir(tmp_path) == ["table.csv"]


def test_tables_of_spreadsheets(tmp_path):
    for delimiter in ";\t,":
        (tmp_path / "t.csv").write_text(
            "image;mask;output\nä 1.nii;b;c\n".replace(";", delimiter), encoding="utf-8-sig"
        )
        ((case,), unused) = tables.read_cases(tmp_path / "t.csv")
        assert case.given == {"image": "ä 1.nii", "mask": "b", "output": "c"} and unused == []
        assert case.image == tmp_path / "ä 1.nii"


# --- Wrong arguments ---------------------------------------------------------------------------------------------------

ARGUMENTS = {
    "": "IMAGE is missing",
    "image.nii.gz --out maps": "--mask is missing",
    "a b --mask m --out maps": "unrecognized arguments: b",
    "--jobs t.csv image.nii.gz": "IMAGE image.nii.gz and --jobs exclude each other",
    "--jobs none.csv": "none.csv: No such file or directory",
    "CASE --classes glcm,": "argument --classes: 'glcm,' has an empty name",
    "CASE --classes gxcm": r"featureClass gxcm is not known \(did you mean glcm\?\); choose from firstorder, glcm",
    "CASE --features glcm": "--features has glcm, but must have names such as glcm_Contrast",
    "CASE --features glcm_Foo": "feature Foo of glcm is not known; choose from ",
    "CASE --features glcm_Id --classes glcm": "--features has glcm_Id, but --classes has all features of glcm",
    "ONE --bin-width 0": "setting binWidth is 0, but must be greater than 0",
    "ONE --bin-width wide": "setting binWidth is 'wide', but must be a number",
    "ONE --radius 1.5": "setting kernelRadius is 1.5, but must be an integer from 1 to 127",
    "ONE --setting binWidth": "--setting binWidth must be NAME=VALUE",
    "ONE --setting binwidth=5": r"setting binwidth is not known \(did you mean binWidth\?\); choose from label, ",
    "ONE --setting binWidth=5 --bin-width 6": "setting binWidth is given twice|argument",
    "ONE --setting weightingNorm=manhatten": "setting weightingNorm is 'manhatten', but must be one of manhattan, euclidean",
    "ONE --precision half": "precision is 'half', but must be float or double",
    "ONE --params none.yaml": "parameter file none.yaml does not exist",
    "ONE --summary mask.nii.gz": "the summary mask.nii.gz would replace the mask mask.nii.gz",
    "ONE --summary none/summary.csv": "--summary none/summary.csv is in a folder that does not exist",
    "ONE --summary .": "the summary . is a folder",
    "ONE --verb": "unrecognized arguments: --verb",
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments_that_are_not_valid(text, run, tmp_path):
    arguments = text.replace("CASE", " ".join(CASE)).replace("ONE", " ".join(CASE + ONE_FEATURE)).split()
    code, output, errors = run(*arguments)
    assert (code, output, len(errors)) == (1, [], 1), errors
    assert re.match(f"TextureFeatureMaps: error: .*({ARGUMENTS[text]})", errors[0]), errors[0]
    assert os.listdir(tmp_path) == []


def test_help_and_version():
    for option, text in (("--help", "--setting NAME=VALUE"), ("--version", "TextureFeatureMaps 0.")):
        done = subprocess.run([*COMMAND, option], capture_output=True, text=True)
        assert done.returncode == 0 and text in done.stdout and done.stderr == ""


# --- Signals, crashes, full disks --------------------------------------------------------------------------------------


def start_slow_run(folder):
    """Start a run, and wait until it computes the second class. Returns it and the id of its worker."""
    write_case(folder, shape=(50, 60, 60))
    process = subprocess.Popen(
        [*COMMAND, *CASE, "--classes", "firstorder,glcm", "--radius", "3"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Shells let their background jobs, such as tests, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(2400):
        time.sleep(0.05)
        if list(folder.glob("maps/.voxelmaps-maps-*/original_glcm_*")) and (folder / "maps/provenance.json").exists():
            break
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return process, int(file.read().split()[0])


def has_ended(number):
    for _ in range(100):
        try:
            with open(f"/proc/{number}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("how", ["Ctrl-C", "SIGKILL", "SIGKILL of all", "SIGKILL of the worker"])
def test_runs_that_are_ended(how, tmp_path):
    process, worker = start_slow_run(tmp_path)
    if how == "Ctrl-C":
        # A terminal sends it to the whole group.
        os.killpg(process.pid, signal.SIGINT)
        code = 130
    elif how == "SIGKILL of the worker":
        os.kill(worker, signal.SIGKILL)
        code = 1
    else:
        process.kill()
        if how == "SIGKILL of all":
            os.kill(worker, signal.SIGKILL)
        code = -signal.SIGKILL
    errors = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == code and has_ended(worker)
    last = {
        "Ctrl-C": "TextureFeatureMaps: ended by SIGINT; the maps that are whole are kept",
        "SIGKILL of the worker": "TextureFeatureMaps: image.nii.gz: the process that computed it was ended by SIGKILL; there "
        "may have been too little memory",
    }.get(how)
    assert last is None or errors[-1] == last
    maps = tmp_path / "maps"
    if how != "SIGKILL of all":
        # The first class, and nothing of the second.
        for _ in range(100):
            if not list(maps.glob(".*")):
                break
            time.sleep(0.05)
        assert not list(maps.glob(".*"))
    assert maps_in(maps) == [name for name in maps_in(maps) if "firstorder" in name] and len(maps_in(maps)) == 18
    for name in maps_in(maps):
        gzip.decompress((maps / name).read_bytes())
    assert json.loads((maps / "provenance.json").read_text())["complete"] is False
    if how == "SIGKILL of all":
        done = subprocess.run(
            [*COMMAND, *CASE, "--classes", "firstorder", "--radius", "3"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0 and "18 maps (18 of them kept)" in done.stdout
        assert not list(maps.glob(".*"))


def test_full_disk(tmp_path, monkeypatch, capfd):
    """Files may have so many bytes; those of maps have more."""
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, shape=(24, 24, 24))
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "original_firstorder_Mean.nii.gz").write_text("what was there before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        code = program.main([*CASE, "--classes", "firstorder"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 1
    error = capfd.readouterr().err.splitlines()[-1]
    assert re.fullmatch(
        "TextureFeatureMaps: image.nii.gz: maps/original_firstorder_.*.nii.gz: File too large", error
    ), error
    assert {path.name: path.read_text() for path in (tmp_path / "maps").iterdir()} == {
        "original_firstorder_Mean.nii.gz": "what was there before"
    }


def test_folders_that_another_run_uses(run, tmp_path):
    write_case(tmp_path)
    with _output_files.output_folder(tmp_path / "maps") as folder:
        code, _, errors = run(*CASE, *ONE_FEATURE)
        assert code == 1 and errors == ["TextureFeatureMaps: image.nii.gz: the folder maps is in use by another run"]
        # What the other run has begun is left alone.
        assert folder.staging.is_dir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_that_are_read_only(run, tmp_path):
    write_case(tmp_path)
    (tmp_path / "maps").mkdir(mode=0o500)
    code, _, errors = run(*CASE, *ONE_FEATURE)
    assert code == 1 and errors == ["TextureFeatureMaps: image.nii.gz: maps: Permission denied"]


def test_errors_are_one_line():
    text = "filter.cxx:12:\nITK ERROR: Reader(0x1): \n cannot read"
    assert _program_worker.one_line(RuntimeError(text)) == "cannot read"
    assert _program_worker.one_line(OSError(28, "No space left on device", "a/b")) == "a/b: No space left on device"
    assert _program_worker.one_line(KeyError("a")) == "KeyError: 'a'"
    assert _program_worker.one_line(MemoryError()) == "there is not enough memory"
