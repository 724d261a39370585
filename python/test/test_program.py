# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The command voxelmaps: maps, summary and provenance, resuming, cohorts, signals, corrupt and wrong input."""

import csv
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import itk
import numpy as np
import pytest
import voxelmaps
from voxelmaps._cohort import tables
from voxelmaps._files import paths
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
    """Run the command in this process; its worker is another one. Returns exit code, lines of output and of errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        # ITK prints warnings when images are written.
        capfd.readouterr()
        code = program.main([str(a) for a in arguments])
        output, errors = capfd.readouterr()
        return code, output.splitlines(), errors.splitlines()

    return run


CASE = ["maps", "image.nii.gz", "--mask", "mask.nii.gz", "--out", "maps"]
ONE_FEATURE = ["--features", "firstorder_Mean"]
REMEDY = "choose another output, or replace it with --overwrite"


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def maps_in(folder):
    return sorted(path.name for path in folder.glob("*") if path.name.endswith(".nii.gz"))


def check_maps_of_execute(**settings):
    """The folder maps has the files of execute with these settings, which it returns by key."""
    files = {"out_dir": "expected", "additionalInfo": False}
    expected = radiomics.execute("image.nii.gz", "mask.nii.gz", **files, **settings)
    assert maps_in(pathlib.Path("maps")) == sorted(path.name for path in expected.values())
    for path in expected.values():
        assert pathlib.Path("maps", path.name).read_bytes() == path.read_bytes()
    return expected


# --- One case ----------------------------------------------------------------------------------------------------------


def test_maps_summary_and_provenance(run, tmp_path):
    write_case(tmp_path)
    # NaN where a window has no pair of voxels.
    classes = {"glrlm": ["RunVariance", "RunEntropy"], "firstorder": None}
    params = {"setting": {"binWidth": 10}, "voxelSetting": {"kernelRadius": 2}, "featureClass": classes}
    (tmp_path / "params.json").write_text(json.dumps(params))
    code, output, errors = run(*CASE, "--params", "params.json", "--radius", "1", "--setting", "initValue=-1")
    assert (code, errors) == (0, [])
    assert re.fullmatch(r"image.nii.gz: 20 maps of \d+ voxels in maps, [\d.]+ s", output[0]) and len(output) == 1
    expected = check_maps_of_execute(params="params.json", kernelRadius=1, initValue=-1)
    record = json.loads((tmp_path / "maps" / "provenance.json").read_text("utf-8"))
    assert record["complete"] and record["settings"]["binWidth"] == 10 and record["settings"]["kernelRadius"] == 1
    assert list(record["maps"]) == list(expected)
    for what in ("image", "mask"):
        entry = record["inputs"][what]
        assert entry["path"] == str(tmp_path / f"{what}.nii.gz")
        content = hashlib.sha256((tmp_path / f"{what}.nii.gz").read_bytes()).digest()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    inside = itk.array_from_image(itk.imread("mask.nii.gz"))[1:-1, 2:-2, 2:-2] == 1
    rows = rows_of(tmp_path / "maps" / "summary.csv")
    assert [row["map"] for row in rows] == list(expected)
    for row in rows:
        entry = record["maps"][row["map"]]
        content = (tmp_path / "maps" / entry["file"]).read_bytes()
        assert entry["state"][0] == len(content)
        values = np.frombuffer(gzip.decompress(content)[352:], np.float32).reshape(inside.shape)[inside].astype(float)
        valid = values[~np.isnan(values)]
        assert (int(row["valid_voxels"]), int(row["mask_voxels"])) == (len(valid), len(values))
        for name, value in (("mean", valid.mean()), ("median", np.median(valid)), ("standard_deviation", valid.std())):
            np.testing.assert_allclose(float(row[name]), value, rtol=1e-6, atol=1e-9, err_msg=row["map"])
    assert any(int(row["valid_voxels"]) == 0 for row in rows) == (len(valid) == 0)


def test_options_are_the_settings_of_the_drop_in(run, tmp_path):
    write_case(tmp_path)
    options = "--features glrlm_RunEntropy,original_firstorder_Mean --classes glcm --bin-count 8 --radius 2 --label 2"
    more = "--force2d --force2d-dimension 0 --precision double --setting weightingNorm=no_weighting --setting distances=[1,2]"
    code, _, _ = run(*CASE, *options.split(), *more.split())
    assert code == 0
    own = {"force2D": True, "force2Ddimension": 0, "weightingNorm": "no_weighting", "distances": [1, 2]}
    classes = {"glcm": None, "glrlm": ["RunEntropy"], "firstorder": ["Mean"]}
    check_maps_of_execute(featureClass=classes, binCount=8, kernelRadius=2, label=2, precision="double", **own)


def test_finished_maps_are_kept(run, tmp_path):
    write_case(tmp_path)
    maps, arguments = tmp_path / "maps", [*CASE, "--classes", "firstorder"]
    assert run(*arguments)[0] == 0
    before = {path: path.read_bytes() for path in maps.glob("*.nii.gz")}
    summary = (maps / "summary.csv").read_text("utf-8")
    # One feature is new.
    code, output, errors = run(*arguments, "--features", "glrlm_RunEntropy")
    assert (code, errors) == (0, []) and "19 maps of" in output[0]
    # A copy of the image has another time.
    shutil.copy("image.nii.gz", "copy.nii.gz")
    for image in ("copy.nii.gz", "image.nii.gz"):
        arguments[1] = image
        assert "18 maps (kept)" in run(*arguments)[1][0]
    assert (maps / "summary.csv").read_text("utf-8") == summary
    # One map is lost, or not the command's any more.
    lost = maps / "original_firstorder_Mean.nii.gz"
    lost.unlink()
    assert "18 maps of" in run(*arguments)[1][0]
    lost.write_bytes(b"changed")
    assert run(*arguments)[2] == [f"voxelmaps: image.nii.gz: maps/{lost.name} exists: {REMEDY}"]
    assert lost.read_bytes() == b"changed" and "18 maps of" in run(*arguments, "--overwrite")[1][0]
    assert all(path.read_bytes() == content for path, content in before.items())


def test_maps_of_other_settings_are_refused_or_replaced(run, tmp_path):
    write_case(tmp_path)
    folder = tmp_path / "maps"
    assert run(*CASE, "--features", "firstorder_Mean,firstorder_Range,glcm_Contrast")[0] == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    record = (folder / "provenance.json").read_bytes()
    (folder / "mine.nii.gz").write_bytes(b"mine")
    other = [*CASE, "--features", "firstorder_Mean,ngtdm_Busyness"]
    another = f"the folder maps has maps of another {{}}: {REMEDY}"
    for options, name in (
        (["--bin-width", "7", "--label", "2"], "label, binWidth"),
        (["--precision", "double"], "precision"),
        (["--format", "nrrd"], "format"),
        (["--setting", "initValue=nan"], "initValue"),
    ):
        for command, more in (("maps", []), ("check", []), ("check", ["--overwrite"])):
            code, _, errors = run(command, *other[1:], *options, *more)
            if "--overwrite" in more:
                assert (code, errors) == (0, [])
            else:
                assert code == 1 and errors == [f"voxelmaps: image.nii.gz: {another.format(name)}"]
            assert (folder / "provenance.json").read_bytes() == record
            assert all((folder / name).read_bytes() == before[name] for name in before if name != "summary.csv")
    # A map that was changed since is not the command's any more.
    (folder / "original_firstorder_Range.nii.gz").write_bytes(b"changed")
    assert run(*other, "--bin-width", "7", "--overwrite")[::2] == (0, [])
    names = ["mine", "original_firstorder_Mean", "original_firstorder_Range", "original_ngtdm_Busyness"]
    assert maps_in(folder) == [f"{name}.nii.gz" for name in names]
    # Another image.
    write_case(tmp_path, seed=1)
    code, _, errors = run(*other, "--bin-width", "7")
    assert code == 1 and errors[0].endswith(another.format("image, mask"))


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
    itk.imwrite(itk.image_from_array(np.ones((12, 14, 16), np.uint8)), str(data / "moved.nii.gz"))
    (tmp_path / "file").write_text("")
    lines = [
        "Image,mask,OUTPUT,Patient",
        "image0.nii.gz,mask0.nii.gz,../out/a b,1",
        "",
        "crash.mha,mask0.nii.gz,../out/crash,2",
        "cut.nii.gz,mask0.nii.gz,../out/cut,3",
        "image0.nii.gz,empty.nii.gz,../out/empty,4",
        "none.nii.gz,mask0.nii.gz,../out/none,5",
        "image0.nii.gz,mask0.nii.gz,../file,6",
        "image0.nii.gz,moved.nii.gz,../out/moved,7",
        '"image1.nii.gz", "mask1.nii.gz", "../out/c,d",8',
        ",,,",
        f"{data / 'image2.nii.gz'},mask2.nii.gz,{tmp_path / 'out' / 'é'},9",
    ]
    (data / "table.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    code, output, expected = run("check", "--jobs", data / "table.csv", *ONE_FEATURE)
    assert code == 1 and len(output) == 3 and sorted(tmp_path.rglob("*")) == before
    code, output, errors = run("maps", "--jobs", data / "table.csv", *ONE_FEATURE)
    assert code == 1 and [*errors[:-1], "voxelmaps: 6 of 9 cases would fail"] == expected
    titles = ["[1/9] image0.nii.gz", "[8/9] image1.nii.gz", f"[9/9] {data / 'image2.nii.gz'}"]
    assert [line.split(":")[0] for line in output] == titles
    messages = (
        r"\[2/9\] crash.mha: the image: cannot read '.*crash.mha': its NDims is '-3', but must be an integer from 1 on",
        r"\[3/9\] cut.nii.gz: the image: cannot read '.*cut.nii.gz': it is truncated or corrupt",
        r"\[4/9\] image0.nii.gz: no voxel of the mask is 1 \(label\); it has only the value 0",
        r"\[5/9\] none.nii.gz: the image .*none.nii.gz does not exist",
        r"\[6/9\] image0.nii.gz: the folder .*file cannot be made: a file is in its place",
        r"\[7/9\] image0.nii.gz: the mask has the spacing",
        "6 of 9 cases failed",
    )
    assert len(errors) == len(messages)
    for line, message in zip(errors, messages):
        assert re.match(f"voxelmaps: {message}", line), line
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(["a b", "c,d", "é"])
    rows = rows_of(data / "table-summary.csv")
    assert [row["image"] for row in rows] == [line.split(",")[0].strip('"') for line in lines[1:] if line.strip(",")]
    assert [bool(row["error"]) for row in rows] == [False, True, True, True, True, True, True, False, False]
    assert [row["Patient"] for row in rows] == list("123456789")
    assert [bool(row["mean"]) for row in rows] == [not row["error"] for row in rows]
    # Again: what is there is kept, and the summary is the same.
    summary = (data / "table-summary.csv").read_text("utf-8")
    code, output, _ = run("maps", "--jobs", data / "table.csv", *ONE_FEATURE)
    assert code == 1 and all("1 map (kept)" in line for line in output)
    assert (data / "table-summary.csv").read_text("utf-8") == summary


ROW = "image,mask,output\nimage.nii.gz,mask.nii.gz,maps\n"
TABLES = {
    "": "table.csv is empty; its first line must name the columns image, mask, output",
    "image,mask\na,b\n": "the column output of the table .* is missing; its columns are image, mask",
    "image,mask,output,mask\n": "the column mask of the table .* is given twice",
    "image,mask,output\n\n": "has no case",
    "image,mask,output\na,b\n": "line 2 of the table .* has 2 cells, but there are 3 columns",
    "image,mask,output\na,,c\n": "line 2 of the table .* has no mask",
    'image,mask,output\na,"b,c\n': "is not valid in line 2: unexpected end of data",
    b"image,mask,output\n\xe9,b,c\n": "is not UTF-8: invalid continuation byte at byte 18",
    "image,mask,output\na,b,c\nd,e,./c\n": "the output ./c of d is also the output c of a",
    ROW + "a\0b,c,d\n": "the table table.csv has a null byte in line 3",
    ROW.encode("utf-16"): "the table table.csv is not UTF-8",
    "image,mask,output,IMAGE\na,b,c,d\n": "the column image .* is given twice",
    "image,mask,output\n" + "a" * 200000 + ",b,c\n": "not valid in line 2: field larger than field limit",
    ROW + "image.nii.gz,mask.nii.gz,MAPS\n": "the output MAPS of image.nii.gz is also the output maps of image.nii.gz",
    ROW + "a,b,\u00e9\nd,e,e\u0301\n": "the output .* is also the output .*",
    ROW
    + "image.nii.gz,mask.nii.gz,none/../maps/.\n": "the output none/../maps/. of image.nii.gz is also the output maps of image.nii.gz$",
}


@pytest.mark.parametrize("text", TABLES, ids=range(len(TABLES)))
def test_tables_that_are_not_valid(text, run, tmp_path):
    (tmp_path / "table.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, output, errors = run("maps", "--jobs", "table.csv", *ONE_FEATURE)
    assert (code, output, len(errors)) == (1, [], 1)
    assert re.match(f"voxelmaps: error: .*{TABLES[text]}", errors[0]), errors[0]
    assert os.listdir(tmp_path) == ["table.csv"]


def test_tables_of_spreadsheets_and_pandas(tmp_path):
    for delimiter in ";\t,":
        (tmp_path / "t.csv").write_text(
            ";image;mask;output;label\n0;ä 1.nii;b;c;1.0\n1;a;b;d;\n".replace(";", delimiter), encoding="utf-8-sig"
        )
        (case, other), unused = tables.read_cases(tmp_path / "t.csv")
        assert case.given == {"image": "ä 1.nii", "mask": "b", "output": "c"} and unused == []
        assert case.image == tmp_path / "ä 1.nii" and (case.labels, other.labels) == ((1,), None)


# --- Wrong arguments ---------------------------------------------------------------------------------------------------

ARGUMENTS = {
    "": "the following arguments are required: COMMAND",
    "map image.nii.gz": "argument COMMAND: invalid choice: 'map'",
    "map.nii.gz": "--mask is missing",
    "maps": "IMAGE is missing",
    "check": "IMAGE is missing",
    "check a b --mask m": "--mask m is for one IMAGE, but 2 are given",
    "maps image.nii.gz --out maps": "--mask is missing",
    "maps a b --mask m --out maps": "unrecognized arguments: b",
    "maps --jobs t.csv image.nii.gz": "IMAGE image.nii.gz and --jobs exclude each other",
    "maps --jobs none.csv": "none.csv: No such file or directory",
    "CASE --classes glcm,": "argument --classes: 'glcm,' has an empty name",
    "CASE --features glcm": "--features has glcm, but must have names such as glcm_Contrast",
    "CASE --features glcm_Id --classes glcm": "--features has glcm_Id, but --classes has all features of glcm",
    "ONE --bin-width wide": "setting binWidth is 'wide', but must be a number",
    "ONE --setting binWidth=5 --bin-width 6": "setting binWidth is given twice|argument",
    "ONE --precision half": "argument --precision: invalid choice: 'half'",
    "ONE --params none.yaml": "parameter file none.yaml does not exist",
    "ONE --summary none/summary.csv": "--summary none/summary.csv is in a folder that does not exist",
    "ONE --summary .": "the summary . is a folder",
    "ONE --verb": "unrecognized arguments: --verb",
    "ONE --fill nan": "--fill is nan, but must be finite",
    "labels image.nii.gz --seeds s.nii.gz --out labels.png": "--out labels.png ends in neither .nii.gz, .nii nor .nrrd",
    "connect image.nii.gz --seeds [1,1,1] --out image.nii.gz": "the file of --out image.nii.gz would replace the image image.nii.gz",
    "connect none.nii.gz --seeds [1,1,1] --out s.nii.gz": "none.nii.gz does not exist",
    "describe image.nii.gz --bin-wdth 5": "unrecognized arguments: --bin-wdth 5",
    "regions image.nii.gz --mask mask.nii.gz": "--out is missing",
    "regions image.nii.gz --out a.csv": "--mask is missing",
    "regions image.nii.gz --mask mask.nii.gz --out a.csv --setting voxelBased=true": "voxelBased is True, but this computes values",
    "regions image.nii.gz --mask mask.nii.gz --out no/a.csv": "--out no/a.csv is in a folder that does not exist",
    "ONE --dask local": "--dask needs a table, --jobs",
    "maps --jobs t.csv --dask nowhere": "--dask nowhere is neither local nor the address of a scheduler that answers",
    "ONE --label 1,": "argument --label: label is '1,', but must be an integer from 1 up",
    "ONE --label ''": "argument --label: label is '', but must be an integer from 1 up",
    "ONE --label ' '": "argument --label: label is '', but must be an integer from 1 up",
    "ONE --label 1 --setting label=1": "setting label is given twice",
    "ONE --format mha": "argument --format: invalid choice: 'mha'",
    "ONE --channels x": "argument --channels: invalid choice: 'x'",
    "ONE --channels nnunet --format nii": "--channels nnunet is for files of nii.gz or nrrd, not nii",
    "check --jobs t.csv --dask local": "check and --dask exclude each other",
    "ONE --threads 0": "must be an integer from 1 to 4096",
    "ONE --threads many": "must be an integer from 1 to 4096",
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments_that_are_not_valid(text, run, tmp_path):
    if "nowhere" in text:
        pytest.importorskip("distributed")
    (tmp_path / "t.csv").write_text("image,mask,output\na.nii,b.nii,c\n")
    arguments = shlex.split(text.replace("CASE", " ".join(CASE)).replace("ONE", " ".join(CASE + ONE_FEATURE)))
    code, output, errors = run(*arguments)
    assert (code, output, len(errors)) == (1, [], 1), errors
    assert re.match(f"voxelmaps: error: .*({ARGUMENTS[text]})", errors[0]), errors[0]
    assert os.listdir(tmp_path) == ["t.csv"]


def test_default_command_and_warnings(run, tmp_path):
    write_case(tmp_path)
    assert run(*CASE[1:], *ONE_FEATURE)[0] == 0 and maps_in(tmp_path / "maps") == ["original_firstorder_Mean.nii.gz"]
    seeds = ["--seeds", '{"1": [1, 1, 1]}', "--tie-rule", "lowest_label"]
    code, _, errors = run("labels", "image.nii.gz", "--out", "l.nii", *seeds)
    assert code == 0 and len(errors) == 1 and errors[0].startswith("voxelmaps: warning: all seeds have the label 1")


def test_help_and_version():
    for arguments, text in (
        (["--help"], "connect"),
        (["maps", "--help"], "--setting NAME=VALUE"),
        (["labels", "--help"], "--estimation-radius N"),
        (["--version"], f"voxelmaps {voxelmaps.__version__}\n"),
    ):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
        assert done.returncode == 0 and text in done.stdout and done.stderr == ""


@pytest.mark.parametrize("command", ("describe", "connect", "labels"))
def test_help_of_functions(command):
    """Each option says what it is and what its values are, in words of its own; without docstrings, it still has its default."""
    program = ["-c", "from voxelmaps import _cli; _cli.program()", command, "--help"]
    texts = []
    for optimization in ([], ["-OO"]):
        done = subprocess.run([sys.executable, *optimization, *program], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr
        options = re.split(r"\n  (?=--|-h)", done.stdout.split("options:\n")[1])
        texts.append([re.sub(r"\s+", " ", re.sub(r"^\S+( [A-Z,]+)?(, --no-\S+)?", "", one)) for one in options])
    assert all(len(text) > 9 for text in texts[0]) and len({*texts[0]}) == len(texts[0]) == len(texts[1])
    assert any("[int, default: 0]" in text for text in texts[0]) and any(
        "value, default: 0" in text for text in texts[1]
    )


def test_options_that_are_flags_or_json(run, tmp_path):
    write_case(tmp_path)
    options = ["--affinity", "homogeneity", "--difference-variance", "9", "--tie-rule", "lowest_label"]
    seeds = ["image.nii.gz", "--seeds", '{"1": [1, 1, 1], "2": [5, 5, 5]}', "--out", "l.nii"]
    assert run("labels", "--distance-weighting", *seeds, *options)[0] == 0
    given = {"affinity": "homogeneity", "difference_variance": 9, "tie_rule": "lowest_label"}
    image = itk.imread("image.nii.gz")
    expected = voxelmaps.labels(image, {1: (1, 1, 1), 2: (5, 5, 5)}, distance_weighting=True, **given)
    assert np.array_equal(itk.imread("l.nii"), expected)
    code, _, errors = run("labels", "image.nii.gz", "--seeds", "{1:[1,1,1]}", "--out", "m.nii")
    assert code == 1 and "is not JSON, in which labels have quotes, such as '{\"1\":[30,128,128]}'" in errors[-1]


# --- Other commands ----------------------------------------------------------------------------------------------------


def test_functions_of_one_image(run, tmp_path):
    """They write what the functions of Python return, on the grid of the image."""
    write_case(tmp_path)
    image = itk.imread("image.nii.gz")
    x, stroke = itk.array_from_image(image), np.zeros(image.shape, np.uint8)
    stroke[5, 5, 5], stroke[1, 10, 10] = 1, 2
    strokes = itk.image_from_array(stroke)
    strokes.CopyInformation(image)
    itk.imwrite(strokes, "strokes.nrrd")
    seeds = {1: [[5, 5, 5], [6, 6, 6]], 2: [1, 10, 10]}
    own = {"affinity": "absolute_difference", "competition": "iterative", "tie_rule": "lowest_label"}
    moments = {"object_mean": {1: 50, 2: 90}, "object_variance": 400, "difference_variance": 400}
    moments |= {"affinity": "minimum", "competition": "relative"}
    of_points = voxelmaps.labels(x, {1: [5, 5, 5], 2: [1, 10, 10]}, spacing=(2, 0.7, 0.7), **moments)
    points = {"seed_points": {1: [3.5, 3.5, 10], 2: [7, 7, 2]}}
    of_strokes = voxelmaps.labels(x, stroke, strength=True, margin=True, **own)
    strength = voxelmaps.fuzzy_connectedness(x, [5, 5, 5], precision="double")
    segmentation = itk.image_from_array((np.indices(x.shape)[2] > 7).astype(np.uint8))
    segmentation.CopyInformation(image)
    itk.imwrite(segmentation, "segmentation.nrrd")
    of_segmentation = itk.array_from_image(voxelmaps.labels(image, refine=segmentation, refine_distance=2))
    for command, files, options, expected in (
        ("labels", ["out/l.nii.gz"], {"seeds": seeds, **own}, [voxelmaps.labels(x, seeds, **own)]),
        ("labels", ["l.nrrd", "s.nrrd", "m.nrrd"], {"seeds": "strokes.nrrd", **own}, of_strokes),
        ("labels", ["p.nrrd"], {**points, **moments}, [of_points]),
        ("labels", ["r.nrrd"], {"refine": "segmentation.nrrd", "refine_distance": 2}, [of_segmentation]),
        ("connect", ["c.nrrd"], {"seeds": [5, 5, 5], "precision": "double"}, [strength]),
    ):
        given = [*zip(("--out", "--strength", "--margin"), files)]
        for name, value in options.items():
            name = f"--{name}" if name == "seed_points" else f"--{name}".replace("_", "-")
            given.append((name, value if isinstance(value, str) else json.dumps(value)))
        code, output, errors = run(command, "image.nii.gz", *sum(given, ()))
        assert (code, errors) == (0, []) and output[0].startswith(f"{files[0]}: 2688 voxels, ")
        for path, array in zip(files, expected, strict=True):
            read = itk.imread(path)
            np.testing.assert_array_equal(itk.array_from_image(read), array)
            np.testing.assert_allclose(read.GetSpacing(), [0.7, 0.7, 2], rtol=1e-6)
    code, _, errors = run("labels", "image.nii.gz", "--seeds", "strokes.nrrd", "--out", "l.nrrd", "--margin", "l.nrrd")
    assert code == 1 and errors == ["voxelmaps: error: the file of --margin l.nrrd is also the file of --out l.nrrd"]
    mask = (itk.array_from_image(itk.imread("mask.nii.gz")) == 1).astype(np.uint8)
    for array, name in ((mask, "one.nrrd"), (x, "image.nrrd")):
        itk.imwrite(itk.image_from_array(array), name)
    code, output, _ = run(*"describe image.nrrd --mask one.nrrd --bin_width 10 --features glcm,ngtdm".split())
    expected = voxelmaps.describe(x, mask, bin_width=10, features=["glcm", "ngtdm"])
    assert (code, output) == (0, str(expected).splitlines())


def test_check_of_images(run, tmp_path):
    write_case(tmp_path)
    (tmp_path / "cut.nii.gz").write_bytes((tmp_path / "image.nii.gz").read_bytes()[:-100])
    code, output, errors = run("check", "image.nii.gz", "cut.nii.gz", "mask.nii.gz", "none.nii")
    assert code == 1 and output == [
        "image.nii.gz: 16 × 14 × 12 voxels of int16, spacing 0.7 × 0.7 × 2",
        "mask.nii.gz: 16 × 14 × 12 voxels of uint8, spacing 0.7 × 0.7 × 2",
    ]
    assert len(errors) == 2 and "cut.nii.gz" in errors[0] and "none.nii does not exist" in errors[1]
    code, output, errors = run("check", "image.nii.gz", "--mask", "mask.nii.gz", *ONE_FEATURE)
    assert (code, errors) == (0, []) and output[0].startswith("image.nii.gz: 1 map of ")


# --- Signals, crashes, full disks --------------------------------------------------------------------------------------


def start_slow_run(folder):
    """Start a run, and wait until it has written maps. Returns it and the id of its worker."""
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
        if len(list(folder.glob("maps/.voxelmaps-*/*.nii.gz"))) >= 18:
            break
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        children = file.read().split()
    # The other one is the resource tracker of Python.
    (worker,) = [n for n in children if b"spawn_main" in pathlib.Path(f"/proc/{n}/cmdline").read_bytes()]
    return process, int(worker)


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
@pytest.mark.parametrize("how", ["Ctrl-C", "SIGKILL", "SIGKILL of the worker"])
def test_runs_that_are_ended(how, tmp_path):
    process, worker = start_slow_run(tmp_path)
    # A terminal sends Ctrl-C to all of the group.
    end, code, last = {
        "Ctrl-C": (lambda: os.killpg(process.pid, signal.SIGINT), 130, "ended by SIGINT; finished cases are kept"),
        "SIGKILL": (process.kill, -signal.SIGKILL, None),
        "SIGKILL of the worker": (
            lambda: os.kill(worker, signal.SIGKILL),
            1,
            "image.nii.gz: the process that computed it ended: a reader crashed on a corrupt file, or there was too little memory",
        ),
    }[how]
    end()
    errors = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == code and has_ended(worker)
    assert last is None or errors[-1] == f"voxelmaps: {last}"
    maps = tmp_path / "maps"
    assert not maps_in(maps)
    assert not (maps / "provenance.json").exists()
    assert how == "SIGKILL" or not list(maps.glob(".*"))
    if how == "SIGKILL":
        command = [*COMMAND, *CASE, "--classes", "firstorder", "--radius", "3"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and "18 maps of" in done.stdout and len(maps_in(maps)) == 18
        assert not list(maps.glob(".*"))


@pytest.mark.parametrize("limit", [1000, 5000])
def test_full_disk(limit, tmp_path, monkeypatch, capfd):
    """Files may have so many bytes: the record, or voxels, most of which do not fit."""
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, shape=(24, 24, 24))
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "original_firstorder_Mean.nii.gz").write_text("what was there before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        code = program.main([*CASE, "--classes", "firstorder", "--overwrite"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 1
    error = capfd.readouterr().err.splitlines()[-1]
    assert re.fullmatch("voxelmaps: image.nii.gz: .*maps/(original|prov).*(File too large|disk full.*)", error), error
    left = {path.name: path.read_text("utf-8") for path in (tmp_path / "maps").iterdir()}
    assert left == {"original_firstorder_Mean.nii.gz": "what was there before"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_that_are_read_only(run, tmp_path):
    write_case(tmp_path)
    (tmp_path / "maps").mkdir(mode=0o500)
    code, _, errors = run(*CASE, *ONE_FEATURE)
    assert code == 1 and errors == ["voxelmaps: image.nii.gz: maps: Permission denied"]


def test_errors_are_one_line():
    text = "filter.cxx:12:\nITK ERROR: Reader(0x1): \n cannot read"
    assert paths.one_line(RuntimeError(text)) == "cannot read"
    assert paths.one_line(OSError(28, "No space left on device", "a/b")) == "a/b: No space left on device"
    assert paths.one_line(KeyError("a")) == "KeyError: 'a'"
    assert paths.one_line(MemoryError()) == "there is not enough memory"
