# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Cohorts of the command voxelmaps maps: labels, formats, datasets of nnU-Net, crashes, dask, dry runs."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess

import nibabel
import numpy as np
import pytest
import voxelmaps
from array_libraries import itk
from test_program import CASE, COMMAND, ONE_FEATURE, rows_of, run, write_case  # noqa: F401
from voxelmaps import _image, radiomics
from voxelmaps._cohort import workers
from voxelmaps._files import paths

SimpleITK = pytest.importorskip("SimpleITK")

MEAN = "original_firstorder_Mean"


def maps_of(folder):
    """Contents of all files of maps and of the summary by their paths."""
    files = [path for path in sorted((folder / "maps").rglob("*")) if path.is_file() and path.name != "provenance.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# --- Labels ------------------------------------------------------------------------------------------------------------


def test_labels_of_one_mask(run, tmp_path):
    write_case(tmp_path)
    assert run(*CASE, *ONE_FEATURE, "--label", "2")[0] == 0
    code, output, errors = run(*CASE[:-1], "several", *ONE_FEATURE, "--label", "1,2")
    assert (code, errors) == (0, [])
    assert [line.split(":")[0] for line in output] == ["image.nii.gz label 1", "image.nii.gz label 2"]
    several = tmp_path / "several"
    assert sorted(os.listdir(several)) == ["label-1", "label-2", "summary.csv"]
    name = f"{MEAN}.nii.gz"
    assert (several / "label-2" / name).read_bytes() == (tmp_path / "maps" / name).read_bytes()
    rows = rows_of(several / "summary.csv")
    assert [(row["label"], row["output"]) for row in rows] == [("1", "several/label-1"), ("2", "several/label-2")]
    assert json.loads((several / "label-2" / "provenance.json").read_text("utf-8"))["settings"]["label"] == 2
    # Labels of an earlier run are kept, one by one, in whatever way they are named.
    shutil.rmtree(several / "label-1")
    code, output, _ = run(*CASE[:-1], "several", *ONE_FEATURE, "--label", "all")
    assert code == 0 and [("kept" in line) for line in output] == [False, True]
    code, output, errors = run(*CASE[:-1], "several", *ONE_FEATURE, "--label", "2,7")
    assert code == 1 and "1 map (kept)" in output[0]
    assert errors[0].endswith("label 7: no voxel of the mask is 7 (label); it has the values 0, 1 and 2")
    found = [(row["label"], bool(row["error"])) for row in rows_of(several / "summary.csv")]
    assert found == [("1", False), ("2", False), ("7", True)]


def test_column_of_labels(run, tmp_path):
    write_case(tmp_path)
    lines = ["image,mask,output,label", "image.nii.gz,mask.nii.gz,a,", "image.nii.gz,mask.nii.gz,b,2"]
    lines += ['image.nii.gz,mask.nii.gz,c,"1, 2"', "image.nii.gz,mask.nii.gz,d,all", "image.nii.gz,mask.nii.gz,e,8"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, output, errors = run("maps", "--jobs", "t.csv", *ONE_FEATURE)
    assert code == 1 and len(output) == 6 and len(errors) == 2
    rows = rows_of(tmp_path / "t-summary.csv")
    found = [(row["output"], row["label"]) for row in rows]
    assert found == [
        *(("a", "1"), ("b", "2"), ("c/label-1", "1"), ("c/label-2", "2")),
        *(("d/label-1", "1"), ("d/label-2", "2"), ("e", "8")),
    ]
    values = [row["mean"] for row in rows]
    assert values[0] == values[2] == values[4] != values[1] == values[3] == values[5] and rows[6]["error"]
    code, _, errors = run("maps", "--jobs", "t.csv", *ONE_FEATURE, "--label", "2")
    assert code == 1 and errors[0].endswith("--label and the column label of t.csv exclude each other")
    rule = "must be an integer from 1 up, or the name of a structure, several of them with commas, or all"
    for label, output, message in (
        ("1.5", "e", f"line 2 of the table t.csv: label is '1.5', but {rule}"),
        ("-1", "e", "label is '-1'"),
        ("1;1", "e", "label is '1;1'"),
        ('"1,1"', "e", "label 1 is given twice"),
        ('"A,""GTV, left"', "e", """label is 'A,"GTV, left', but a name that begins with a quote must end with one"""),
        ("99999999999999999999", "e", "label is '99999999999999999999', but must be an integer"),
        ("all", "b", "the output b of image.nii.gz is also the output b of image.nii.gz"),
        ('"1,2"', "c", "the output c of image.nii.gz is also the output c of image.nii.gz"),
    ):
        lines[1] = f"image.nii.gz,mask.nii.gz,{output},{label}"
        (tmp_path / "t.csv").write_text("\n".join(lines))
        code, _, errors = run("maps", "--jobs", "t.csv", *ONE_FEATURE)
        assert code == 1 and len(errors) == 1 and message in errors[0], errors


# --- Formats -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12, 14, 16), (1, 24, 26), (40, 41)])
@pytest.mark.parametrize("file_format", ["nii.gz", "nii", "nrrd"])
def test_formats(file_format, shape, run, tmp_path):
    """Values and geometry, as other packages and read_maps read them."""
    rng, n = np.random.default_rng(0), len(shape)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    grid = (0.1, 1 / 3, 2.5)[:n], (-120.3, 45.6, 7.8)[:n], tuple(np.ravel(turn * np.linalg.det(turn)).tolist())
    arrays = {"image": rng.integers(0, 200, shape).astype(np.int16), "mask": (rng.random(shape) < 0.6).astype(np.uint8)}
    for name, array in arrays.items():
        SimpleITK.WriteImage(_image.to_simpleitk(_image.Image(array, *grid)), f"{name}.nrrd")
    classes = {"glrlm": None, "ngtdm": None}
    expected = radiomics.execute("image.nrrd", "mask.nrrd", featureClass=classes, additionalInfo=False)
    expected = {key: _image.from_simpleitk(one) for key, one in expected.items()}
    arguments = ["maps", "image.nrrd", "--mask", "mask.nrrd", "--out", "maps", "--format", file_format, "--classes"]
    for found in ("21 maps of", "21 maps (kept)"):
        code, output, errors = run(*arguments, "glrlm,ngtdm")
        assert (code, errors) == (0, []) and found in output[0]
    exact = dict.fromkeys(("rtol", "atol"), 1e-5 if "nii" in file_format else 1e-15)
    maps = [voxelmaps.read_maps("maps")]
    # Copied without the record.
    (tmp_path / "maps" / "provenance.json").unlink()
    maps.append(voxelmaps.read_maps("maps"))
    assert sorted(maps[0]) == sorted(maps[1]) == sorted(expected)
    for key, one in expected.items():
        found = _image.from_simpleitk(SimpleITK.ReadImage(f"maps/{key}.{file_format}"))
        # ITK reads 0 instead of NaN from NIfTI files.
        np.testing.assert_array_equal(found.array, np.nan_to_num(one.array) if "nii" in file_format else one.array)
        for read in maps:
            np.testing.assert_array_equal(read[key], one.array)
        for geometry in (found[1:], *(read.geometry for read in maps)):
            for ours, theirs in zip(geometry, one[1:], strict=True):
                np.testing.assert_allclose(ours, theirs, **exact)


# --- nnU-Net -----------------------------------------------------------------------------------------------------------


def test_dataset_of_nnunet(run, tmp_path):
    """One folder for all cases, equal channels without NaN, and labels on the same grid."""
    for name in "ab":
        write_case(tmp_path, seed=ord(name), name=name)
    # Without a neighbor in the region, a texture is undefined.
    mask = itk.imread("maska.nii.gz")
    itk.array_view_from_image(mask)[:, 0, 0] = [0] * 11 + [1]
    itk.imwrite(mask, "maska.nii.gz")
    lines = ["image,mask,output,label", "imagea.nii.gz,maska.nii.gz,set/a,", "imageb.nii.gz,maskb.nii.gz,set/b,all"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    arguments = ["maps", "--jobs", "t.csv", "--features", "glcm_Contrast,firstorder_Mean"]
    code, _, errors = run(*arguments, "--channels", "nnunet", "--fill", "-7")
    assert code == 0 and errors == [
        "voxelmaps: note: channels have -7 where a feature is undefined (NaN) or infinite; --fill sets it"
    ]
    names, folder = ["a", "b-label-1", "b-label-2"], tmp_path / "set"
    assert sorted(os.listdir(folder / "imagesTr")) == [f"{name}_000{n}.nii.gz" for name in names for n in (0, 1)]
    assert sorted(os.listdir(folder / "labelsTr")) == [f"{name}.nii.gz" for name in names]
    assert json.loads((folder / "dataset.json").read_text("utf-8")) == {
        "channel_names": {"0": "original_glcm_Contrast", "1": MEAN},
        "labels": {"background": 0, "region": 1},
        "numTraining": 3,
        "file_ending": ".nii.gz",
    }
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("set/", "plain/"))
    assert run(*arguments)[0] == 0
    filled = 0
    for name, plain in zip(names, ("a", "b/label-1", "b/label-2")):
        labels = nibabel.load(folder / "labelsTr" / f"{name}.nii.gz")
        for number, key in enumerate(("original_glcm_Contrast", MEAN)):
            channel = nibabel.load(folder / "imagesTr" / f"{name}_000{number}.nii.gz")
            values = np.asarray(nibabel.load(tmp_path / "plain" / plain / f"{key}.nii.gz").dataobj)
            filled += np.isnan(values).sum()
            np.testing.assert_array_equal(channel.dataobj, np.where(np.isnan(values), np.float32(-7), values))
            assert channel.shape == labels.shape and (channel.affine == labels.affine).all()
            np.testing.assert_array_equal(voxelmaps.read_maps(folder / plain)[key].T, channel.dataobj)
    assert filled > 0
    mask = np.asarray(nibabel.load("maska.nii.gz").dataobj) == 1
    assert np.asarray(labels.dataobj).max() == 1 and labels.get_data_dtype() == np.uint8
    assert np.asarray(nibabel.load(folder / "labelsTr" / "a.nii.gz").dataobj).sum() == mask.sum()
    # A table of an earlier run; the statistics are those of the maps.
    (tmp_path / "t.csv").write_text("\n".join(lines))
    plain = [row["mean"] for row in rows_of(tmp_path / "t-summary.csv")]
    nnunet = [*arguments, "--channels", "nnunet", "--fill", "-7"]
    code, output, _ = run(*nnunet)
    assert code == 0 and all("2 maps (kept)" in line for line in output)
    assert [row["mean"] for row in rows_of(tmp_path / "t-summary.csv")] == plain
    (folder / "labelsTr" / "a.nii.gz").unlink()
    assert run(*nnunet)[0] == 0 and (folder / "labelsTr" / "a.nii.gz").is_file()
    # Other channels would be mixed with those that are there.
    nnunet[4] = "firstorder_Mean"
    code, _, errors = run(*nnunet)
    assert code == 1 and "maps of another selection of features" in errors[0]
    assert run(*nnunet, "--overwrite")[0] == 0
    assert sorted(os.listdir(folder / "imagesTr")) == [f"{name}_0000.nii.gz" for name in names]
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("set/b", "other/b"))
    code, _, errors = run(*nnunet)
    assert code == 1 and "all outputs must be in one folder, such as dataset/case1" in errors[0]


# --- Processes ---------------------------------------------------------------------------------------------------------


def write_table(folder, number, seed=0):
    """A table of small cases, of which neighbors share an image, some have two labels, and one fails. Returns its lines."""
    rng = np.random.default_rng(seed)
    lines = ["image,mask,output,label"]
    for i in range(number):
        if i % 2 == 0:
            write_case(folder, seed=i, shape=(int(rng.integers(6, 9)), 9, int(rng.integers(8, 12))), name=str(i))
        label = ["", "2", '"1,2"', "all", "1"][i % 5]
        lines.append(f"image{i - i % 2}.nii.gz,mask{i - i % 2}.nii.gz,maps/{i},{label}")
    lines.append(f"none.nii.gz,mask0.nii.gz,maps/{number},")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return lines[1:]


JOBS = ["maps", "--jobs", "t.csv", "--classes", "ngtdm", "--features", "firstorder_Mean"]


CRASH = """
import os
if os.environ.get("CRASH_OF_TEST"):
    from voxelmaps import _image
    load = _image.load
    _image.load = lambda path, what, **options: os.abort() if "crash" in path.name else load(path, what, **options)
"""


@pytest.mark.parametrize(
    "options, is_restarted", [([], True), (["--dask", "local"], True), (["--dask", "local"], False)]
)
def test_a_crash_costs_one_case(options, is_restarted, run, tmp_path, monkeypatch):
    """Also if dask does not start the process again, which it does not if it crashes at its start."""
    if options:
        distributed = pytest.importorskip("distributed")
    if not is_restarted:
        monkeypatch.setattr(distributed.Nanny, "_on_worker_exit_sync", lambda *_: None)
        monkeypatch.setattr(workers, "_SECONDS_TO_WAIT", 1)
        monkeypatch.setitem(distributed.config["distributed"]["deploy"], "lost-worker-timeout", "1h")
    (tmp_path / "sitecustomize.py").write_text(CRASH)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CRASH_OF_TEST", "1")
    lines = ["image,mask,output"]
    for i, name in enumerate(("0", "crash", "2")):
        write_case(tmp_path, seed=i, name=name)
        lines.append(f"image{name}.nii.gz,mask{name}.nii.gz,{i}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, output, errors = run("maps", "--jobs", "t.csv", *ONE_FEATURE, *options)
    assert code == 1 and sorted(line[:5] for line in output) == ["[1/3]", "[3/3]"]
    text = "voxelmaps: [2/3] imagecrash.nii.gz: the process that computed it ended: a reader crashed on a corrupt file"
    assert any(line.startswith(text) for line in errors) and errors[-1] == "voxelmaps: 1 of 3 cases failed"
    assert [bool(row["error"]) for row in rows_of(tmp_path / "t-summary.csv")] == [False, True, False]


def test_runs_that_are_killed_are_resumed(tmp_path):
    """To the same files as a run that was not killed."""
    write_table(tmp_path, 8)
    arguments = [*COMMAND, *JOBS]
    for seconds in np.random.default_rng(0).uniform(0.5, 3.0, 4):
        process = subprocess.Popen(arguments, cwd=tmp_path, stdout=-3, stderr=-3, start_new_session=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    # A run that was killed while it replaced a record.
    (tmp_path / "maps" / "0").mkdir(parents=True, exist_ok=True)
    (tmp_path / "maps" / "0" / f"{paths.STAGING_PREFIX}1.part").write_text("{")
    subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False)
    found = maps_of(tmp_path), (tmp_path / "t-summary.csv").read_bytes()
    shutil.rmtree(tmp_path / "maps")
    subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False)
    assert found == (maps_of(tmp_path), (tmp_path / "t-summary.csv").read_bytes())
    assert not list((tmp_path / "maps").rglob(".*"))


def test_workers_of_dask(run, tmp_path, monkeypatch):
    """They write the files of a run without dask, and futures are followed once."""
    distributed = pytest.importorskip("distributed")
    made, as_completed = [], distributed.as_completed
    monkeypatch.setattr(distributed, "as_completed", lambda *a, **b: made.append(a) or as_completed(*a, **b))
    monkeypatch.setattr(workers, "_SECONDS_TO_WAIT", 0.2)
    write_table(tmp_path, 5)
    assert run(*JOBS)[0] == 1
    expected, summary = maps_of(tmp_path), (tmp_path / "t-summary.csv").read_text("utf-8")
    shutil.rmtree(tmp_path / "maps")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        code, output, errors = run(*JOBS, "--dask", cluster.scheduler_address)
    assert code == 1 and len(output) == 7 and len(errors) == 2 and len(made) == 1
    assert "none.nii.gz does not exist" in errors[0] + errors[1] and "1 of 8 cases failed" in errors[0] + errors[1]
    assert maps_of(tmp_path) == expected
    # An absolute path in the error.
    assert (tmp_path / "t-summary.csv").read_text("utf-8").replace(f"{tmp_path}/", "") == summary


# --- Before anything is computed ---------------------------------------------------------------------------------------


def test_dry_run(run, tmp_path):
    """Errors of check are those of maps in test_cohort_goes_on_after_errors."""
    write_case(tmp_path)
    (tmp_path / "cohort.csv").write_text("image,mask,output,label\nimage.nii.gz,mask.nii.gz,maps,all\n")
    before = sorted(tmp_path.rglob("*"))
    code, output, errors = run("check", "--jobs", "cohort.csv", "--classes", "glcm", "--bin-width", "10")
    assert (code, errors) == (0, []) and sorted(tmp_path.rglob("*")) == before
    for label, line in zip((1, 2), output, strict=True):
        assert re.fullmatch(rf"image.nii.gz label {label}: 24 maps of \d+ voxels, 20 gray levels", line)
    command = [*CASE[1:], "--features", "glcm_Contrast"]
    code, output, errors = run("check", *command, "--bin-width", "1000")
    message = "1 gray level, so that there is no texture: choose another width of bins"
    assert (code, errors) == (0, []) and output[0].endswith(message)
    assert run("maps", *command)[0] == 0
    code, output, errors = run("check", *command)
    assert (code, errors) == (0, []) and re.fullmatch(r"image.nii.gz: finished, 1 map of \d+ voxels", output[0])


def test_threads(run, tmp_path):
    write_case(tmp_path)
    code, _, errors = run(*CASE, *ONE_FEATURE, "--threads", "3")
    assert (code, errors) == (0, [])
    record = json.loads((tmp_path / "maps" / "provenance.json").read_text("utf-8"))
    assert record["device"].endswith(" 3 threads")
