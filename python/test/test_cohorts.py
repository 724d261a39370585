# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Cohorts of the program TextureFeatureMaps: labels, formats, channels of nnU-Net, shards, logs, reading ahead, dask, and runs that
are killed again and again."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

import itk
import numpy as np
import pytest
from test_program import COMMAND, rows_of, run, write_case  # noqa: F401
from voxelmaps._files import layouts
from voxelmaps._cohort import cases
from voxelmaps._cohort import tables
from voxelmaps._files import writing as files
from voxelmaps.radiomics import _preparation as _radiomics_images
from voxelmaps import _cli as program
from voxelmaps import radiomics
from voxelmaps import _image

pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")

CASE = ["image.nii.gz", "--mask", "mask.nii.gz", "--out", "maps"]
ONE_FEATURE = ["--features", "firstorder_Mean"]
MEAN = "original_firstorder_Mean"


def files_in(folder):
    """Contents of all files of maps and of the summary by their paths."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "provenance.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# --- Labels ------------------------------------------------------------------------------------------------------------


def count_reading(monkeypatch):
    """A list that gets the name of each file that is read, in this process."""
    read, load = [], _image.load

    def counted(path, what):
        read.append(os.path.basename(path))
        return load(path, what)

    monkeypatch.setattr(_image, "load", counted)
    return read


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
    assert json.loads((several / "label-2" / "provenance.json").read_text())["settings"]["label"] == 2
    # Labels of an earlier run are kept, one by one, in whatever way they are named.
    shutil.rmtree(several / "label-1")
    code, output, _ = run(*CASE[:-1], "several", *ONE_FEATURE, "--label", "all")
    assert code == 0 and [("kept" in line) for line in output] == [False, True]
    code, output, errors = run(*CASE[:-1], "several", *ONE_FEATURE, "--label", "2,7")
    assert code == 1 and "1 of them kept" in output[0]
    assert errors[0].endswith("label 7: no voxel of the mask is 7 (label); it has the values 0, 1 and 2")
    assert [(row["label"], bool(row["error"])) for row in rows_of(several / "summary.csv")] == [
        ("2", False),
        ("7", True),
    ]


def test_all_labels_are_found_without_reading(run, tmp_path, monkeypatch):
    write_case(tmp_path)
    task = cases.Task(None, {"featureClass": {"firstorder": ["Mean"]}}, "float", False, False, "nii.gz", None)
    task.prepare()
    row = tables.Case(
        {"image": "image.nii.gz", "mask": "mask.nii.gz", "output": "maps"},
        *(tmp_path / name for name in ("image.nii.gz", "mask.nii.gz", "maps")),
        labels="all",
    )
    read, reader = count_reading(monkeypatch), cases.Reader()
    assert cases.finished_labels(row, task) is None
    # Once each: files that are as new as the moment of reading would be read again.
    for name in ("image", "mask"):
        os.utime(tmp_path / f"{name}.nii.gz", (1e9, 1e9))
    parts = row.parts(cases.find_labels(row, task, reader))
    for part, following in zip(parts, (*parts[1:], None)):
        cases.run(part, following, task, reader, lambda *_: None)
    assert [part.label for part in parts] == [1, 2] and sorted(read) == ["image.nii.gz", "mask.nii.gz"]
    assert cases.finished_labels(row, task) == (1, 2) and all(cases.find_finished(part, task) for part in parts)
    # A new mask may have others.
    mask = itk.imread(str(tmp_path / "mask.nii.gz"))
    itk.array_view_from_image(mask)[-1] = 9
    itk.imwrite(mask, str(tmp_path / "mask.nii.gz"))
    assert cases.finished_labels(row, task) is None
    code, output, _ = run(*CASE, *ONE_FEATURE, "--label", "all")
    assert code == 0 and [line.split(":")[0][-1] for line in output] == ["1", "2", "9"]
    itk.array_view_from_image(mask)[...] = 0
    itk.imwrite(mask, str(tmp_path / "mask.nii.gz"))
    _, _, errors = run(*CASE, *ONE_FEATURE, "--label", "all")
    assert errors[0].endswith("the mask mask.nii.gz has no label: no voxel is 1 or more")
    assert rows_of(tmp_path / "maps" / "summary.csv")[0]["label"] == "all"
    itk.imwrite(itk.image_from_array(np.arange(3000, dtype=np.int16).reshape(3, 25, 40)), str(tmp_path / "many.nii.gz"))
    code, _, errors = run("image.nii.gz", "--mask", "many.nii.gz", "--out", "o", *ONE_FEATURE, "--label", "all")
    assert code == 1 and "many.nii.gz has 2999 labels, but all is for at most 1000; name those" in errors[0]


def test_column_of_labels(run, tmp_path):
    write_case(tmp_path)
    lines = ["image,mask,output,label", "image.nii.gz,mask.nii.gz,a,", "image.nii.gz,mask.nii.gz,b,2"]
    lines += ['image.nii.gz,mask.nii.gz,c,"1, 2"', "image.nii.gz,mask.nii.gz,d,all", "image.nii.gz,mask.nii.gz,e,8"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, output, errors = run("--jobs", "t.csv", *ONE_FEATURE)
    assert code == 1 and len(output) == 6 and len(errors) == 2
    rows = rows_of(tmp_path / "t-summary.csv")
    found = [(row["output"], row["label"]) for row in rows]
    assert found == [
        *(("a", "1"), ("b", "2"), ("c/label-1", "1"), ("c/label-2", "2")),
        *(("d/label-1", "1"), ("d/label-2", "2"), ("e", "8")),
    ]
    values = [row["mean"] for row in rows]
    assert values[0] == values[2] == values[4] != values[1] == values[3] == values[5] and rows[6]["error"]
    code, _, errors = run("--jobs", "t.csv", *ONE_FEATURE, "--label", "2")
    assert code == 1 and errors[0].endswith("--label and the column label of t.csv exclude each other")
    for label, output, message in (
        (
            "x",
            "e",
            "line 2 of the table t.csv: label is 'x', but must be an integer from 1 up, several of them with commas, or all",
        ),
        ("-1", "e", "label is '-1'"),
        ("1;1", "e", "label is '1;1'"),
        ('"1,1"', "e", "label 1 is given twice"),
        ("99999999999999999999", "e", "label is '99999999999999999999', but must be an integer"),
        ("all", "b", "the output b of image.nii.gz is also the output b of image.nii.gz"),
        (
            "2",
            "d/label-5",
            "the output d/label-5 of image.nii.gz is in the output d of image.nii.gz, which has folders of labels",
        ),
        ('"1,2"', "c", "the output c/label-1 of image.nii.gz is also the output c/label-1 of image.nii.gz"),
    ):
        lines[1] = f"image.nii.gz,mask.nii.gz,{output},{label}"
        (tmp_path / "t.csv").write_text("\n".join(lines))
        code, _, errors = run("--jobs", "t.csv", *ONE_FEATURE)
        assert code == 1 and len(errors) == 1 and message in errors[0], errors


# --- Formats -----------------------------------------------------------------------------------------------------------


def arrays_of(folder, file_format, keys):
    """Maps of a folder as readers of other packages see them."""
    if file_format == "zarr":
        import zarr

        group = zarr.open_group(str(folder / "maps.zarr"), mode="r")
        assert group.attrs["voxelmaps"]["names"] == keys
        return dict(zip(keys, group["0"][:]))
    return {key: itk.array_from_image(itk.imread(str(folder / f"{key}.{file_format}"))) for key in keys}


@pytest.mark.parametrize("shape", [(12, 14, 16), (40, 41)])
@pytest.mark.parametrize("file_format", ["nii", "nrrd", "zarr"])
def test_formats(file_format, shape, run, tmp_path, monkeypatch):
    """Values and geometry, for slabs and chunks of any thickness; finished maps are kept."""
    if file_format == "zarr":
        pytest.importorskip("zarr", minversion="3")
    rng = np.random.default_rng(0)
    image = itk.image_from_array(rng.integers(0, 200, shape).astype(np.int16))
    mask = itk.image_from_array((rng.random(shape) < 0.6).astype(np.uint8))
    turn = np.linalg.qr(rng.normal(size=(len(shape),) * 2))[0]
    for one, name in ((image, "image"), (mask, "mask")):
        one.SetSpacing([0.1, 1 / 3, 2.5][: len(shape)])
        one.SetOrigin([-120.3, 45.6, 7.8][: len(shape)])
        one.SetDirection(itk.matrix_from_array(turn * np.linalg.det(turn)))
        itk.imwrite(one, str(tmp_path / f"{name}.nrrd"))
    classes = {"glrlm": None, "ngtdm": None}
    expected = radiomics.execute(str(tmp_path / "image.nrrd"), str(tmp_path / "mask.nrrd"), featureClass=classes)
    expected = {key: itk_image(one) for key, one in expected.items() if "diagnostics" not in key}
    arguments = ["image.nrrd", "--mask", "mask.nrrd", "--out", "maps", "--format", file_format]
    assert run(*arguments, "--classes", "ngtdm")[0] == 0
    code, output, errors = run(*arguments, "--classes", "glrlm,ngtdm")
    assert (code, errors) == (0, []) and "21 maps (5 of them kept)" in output[0]
    before = files_in(tmp_path / "maps")
    for options in ([], ["--verify"]):
        code, output, errors = run(*arguments, "--classes", "glrlm,ngtdm", *options)
        assert (code, errors) == (0, []) and "21 maps (21 of them kept)" in output[0]
        assert files_in(tmp_path / "maps") == before
    found = arrays_of(tmp_path / "maps", file_format, list(expected))
    for key, one in expected.items():
        # ITK reads 0 instead of NaN from NIfTI files.
        values = itk.array_from_image(one)
        np.testing.assert_array_equal(found[key], np.nan_to_num(values) if file_format == "nii" else values)
    if file_format == "zarr":
        attributes = json.loads((tmp_path / "maps/maps.zarr/zarr.json").read_text())["attributes"]
        geometry = attributes["voxelmaps"]
        (multiscale,) = attributes["ome"]["multiscales"]
        assert [axis["name"] for axis in multiscale["axes"]] == ["c", *"zyx"[-len(shape) :]]
        scale, translation = multiscale["datasets"][0]["coordinateTransformations"]
        assert scale["scale"] == [1, *geometry["spacing"][::-1]]
        assert translation["translation"] == [0, *geometry["origin"][::-1]]
        assert [channel["label"] for channel in attributes["ome"]["omero"]["channels"]] == list(expected)
        spacing, origin, direction = (geometry[name] for name in ("spacing", "origin", "direction"))
    else:
        read = itk.imread(str(tmp_path / "maps" / f"original_ngtdm_Busyness.{file_format}"))
        spacing, origin, direction = read.GetSpacing(), read.GetOrigin(), itk.array_from_matrix(read.GetDirection())
    exact = {} if file_format == "nii" else {"rtol": 1e-15, "atol": 1e-15}
    exact = exact or {"rtol": 1e-5, "atol": 1e-5}
    one = next(iter(expected.values()))
    np.testing.assert_allclose(spacing, one.GetSpacing(), **exact)
    np.testing.assert_allclose(origin, one.GetOrigin(), **exact)
    np.testing.assert_allclose(np.ravel(direction), np.ravel(itk.array_from_matrix(one.GetDirection())), **exact)
    # What is damaged or lost is computed again, to the same bytes.
    damaged = sorted(
        path for path in (tmp_path / "maps").rglob("*") if path.is_file() and path.suffix not in (".csv", ".json")
    )[0]
    damaged.write_bytes(b"damaged")
    code, output, errors = run(*arguments, "--classes", "glrlm,ngtdm")
    assert (code, errors) == (0, []) and "21 maps (20 of them kept)" in output[0]
    assert files_in(tmp_path / "maps") == before


def itk_image(image):
    return _image.to_itk(_image.from_simpleitk(image))


def test_slabs_and_chunks_of_any_thickness(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", minversion="3")
    image, mask = (itk.imread(str(write_case(tmp_path, shape=(23, 14, 16)) / f"{n}.nii.gz")) for n in ("image", "mask"))
    settings = {"featureClass": {"firstorder": None}}
    expected = radiomics.execute(image, mask, **settings, additionalInfo=False)
    row = tables.Case({}, tmp_path / "image.nii.gz", tmp_path / "mask.nii.gz", None)
    for number, (slab, chunk) in enumerate([(1, 1), (1, 1000), (30000, 700), (2**25, 500), (2**25, 2**18)]):
        monkeypatch.setattr(files, "_SLAB_BYTES", slab)
        monkeypatch.setattr(files, "_CHUNK_VOXELS", chunk)
        monkeypatch.setattr(cases, "_REGION_BYTES", 0 if number % 2 else 2**26)
        task = cases.Task(None, settings, "double", False, False, "zarr", None)
        task.prepare()
        output = tmp_path / str(number)
        cases.run(row._replace(output=output), None, task, cases.Reader(), lambda *_: None)
        store = zarr.open_group(str(output / "maps.zarr"), mode="r")
        values = radiomics.execute(image, mask, **settings, additionalInfo=False, precision="double")
        np.testing.assert_array_equal(store["0"][:], [itk.array_from_image(one) for one in values.values()])
        record = json.loads((output / "provenance.json").read_text())
        inside = itk.array_from_image(mask)[1:-1, 2:-2, 2:-2] == 1
        mean = itk.array_from_image(values[MEAN])[inside].mean()
        np.testing.assert_allclose(record["maps"][MEAN]["mean"], mean, rtol=1e-12)
    assert len(expected) == 18


def test_stores_are_none_before_they_are_whole(run, tmp_path):
    pytest.importorskip("zarr", minversion="3")
    write_case(tmp_path)
    store = tmp_path / "maps" / "maps.zarr"
    arguments = [*CASE, "--format", "zarr"]
    assert run(*arguments, "--classes", "ngtdm")[0] == 0
    whole = files_in(store)
    # As a run that was killed leaves it.
    record = json.loads((tmp_path / "maps" / "provenance.json").read_text())
    shutil.rmtree(store / "0" / "c" / "3")
    code, output, _ = run(*arguments, "--classes", "ngtdm")
    assert code == 0 and "(4 of them kept)" in output[0] and files_in(store) == whole
    (store / "zarr.json").unlink()
    code, output, _ = run(*arguments, "--classes", "ngtdm")
    assert code == 0 and "(5 of them kept)" in output[0] and files_in(store) == whole
    # Another order and more maps; fewer would lose some.
    code, output, _ = run(*arguments, "--features", "glszm_SmallAreaEmphasis", "--classes", "ngtdm")
    assert code == 0 and "6 maps (5 of them kept)" in output[0]
    names = json.loads((store / "zarr.json").read_text())["attributes"]["voxelmaps"]["names"]
    assert names[:5] == list(record["maps"]) and len(names) == 6
    code, _, errors = run(*arguments, "--classes", "ngtdm")
    assert code == 1 and errors[0].endswith(
        "maps.zarr has 1 other maps, such as original_glszm_SmallAreaEmphasis; choose another output, or " "remove it"
    )
    # With other settings, it is another store.
    code, output, errors = run(*arguments, "--classes", "ngtdm", "--bin-width", "5")
    assert code == 0 and "kept" not in output[0] and len(errors) == 1
    assert sorted(os.listdir(store / "0" / "c")) == list("01234")
    assert not [path for path in (tmp_path / "maps").rglob(".*")]


def test_channels_of_nnunet(run, tmp_path):
    write_case(tmp_path)
    arguments = [*CASE[:-1], "study/case_1", "--channels", "nnunet"]
    code, _, errors = run(*arguments, "--features", "glcm_Contrast,firstorder_Mean")
    assert (code, errors) == (0, [])
    folder = tmp_path / "study" / "case_1"
    names = ["case_1_0000.nii.gz", "case_1_0001.nii.gz", "channels.json", "provenance.json", "summary.csv"]
    assert sorted(os.listdir(folder)) == names
    assert json.loads((folder / "channels.json").read_text()) == {
        "channel_names": {"0": "original_glcm_Contrast", "1": MEAN},
        "file_ending": ".nii.gz",
    }
    assert run(*CASE, "--features", "glcm_Contrast,firstorder_Mean")[0] == 0
    for number, key in enumerate(("original_glcm_Contrast", MEAN)):
        plain = (tmp_path / "maps" / f"{key}.nii.gz").read_bytes()
        assert (folder / f"case_1_000{number}.nii.gz").read_bytes() == plain
    code, output, _ = run(*arguments, "--features", "glcm_Contrast,firstorder_Mean")
    assert code == 0 and "2 of them kept" in output[0]
    code, _, errors = run(*arguments, "--features", "firstorder_Mean")
    assert code == 1 and "case_1_0001.nii.gz would be a channel for nnU-Net, but is not one of the 1 maps" in errors[0]
    # The order is part of what is asked for.
    code, output, _ = run(*arguments, "--features", "firstorder_Mean,glcm_Contrast")
    assert code == 0 and "kept" not in output[0]
    assert (folder / "case_1_0000.nii.gz").read_bytes() == (tmp_path / "maps" / f"{MEAN}.nii.gz").read_bytes()
    assert run(*CASE[:-1], "two", "--channels", "nnunet", *ONE_FEATURE, "--label", "1,2", "--format", "nrrd")[0] == 0
    assert (tmp_path / "two" / "label-2" / "two-label-2_0000.nrrd").is_file()


def test_formats_that_are_not_there(run, tmp_path, monkeypatch):
    write_case(tmp_path)
    for options, message in (
        (["--format", "mha"], "error: format is mha, but must be one of nii.gz, nii, nrrd, zarr"),
        (["--channels", "x"], "error: channels is x, but must be nnunet"),
        (["--channels", "nnunet", "--format", "zarr"], "channels of nnU-Net are files of nii.gz or nrrd, not zarr"),
    ):
        code, output, errors = run(*CASE, *ONE_FEATURE, *options)
        assert (code, output, len(errors)) == (1, [], 1) and errors[0].endswith(message)
    (tmp_path / "without" / "zarr").mkdir(parents=True)
    (tmp_path / "without" / "zarr" / "__init__.py").write_text("raise ImportError('not installed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "without"), prepend=os.pathsep)
    code, _, errors = run(*CASE, *ONE_FEATURE, "--format", "zarr")
    assert code == 1 and errors == [
        "TextureFeatureMaps: error: stores of zarr need the package zarr, 3 or later: pip install 'voxelmaps[dask]'"
    ]
    assert not (tmp_path / "maps").exists()


# --- Shards ------------------------------------------------------------------------------------------------------------


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


JOBS = ["--jobs", "t.csv", "--classes", "ngtdm", "--features", "firstorder_Mean"]


def maps_of(folder):
    return files_in(folder / "maps")


def test_shards_are_together_the_whole(run, tmp_path):
    lines = write_table(tmp_path, 11)
    assert run(*JOBS)[0] == 1
    whole, summary = maps_of(tmp_path), (tmp_path / "t-summary.csv").read_bytes()
    shutil.rmtree(tmp_path / "maps")
    (tmp_path / "t-summary.csv").unlink()
    merge = ["--jobs", "t.csv", "--merge"]
    assert run(*merge)[2][0].endswith("error: there is no summary of a shard, such as t-summary-1-of-2.csv")
    code, output, errors = run(*JOBS, "--shard", "2/2", "--log", "log.jsonl")
    assert (code, errors) == (0, []) and output[0] == "shard 2/2: 5 of 12 cases"
    of_second = maps_of(tmp_path)
    assert 0 < len(of_second) < len(whole)
    assert run(*merge)[2][0].endswith("error: the summary t-summary-1-of-2.csv of shard 1/2 is missing")
    code, output, errors = run(*JOBS, "--shard", "1/2")
    assert code == 1 and len(errors) == 2 and maps_of(tmp_path) == whole
    code, output, errors = run(*merge)
    assert code == 1 and output == ["t-summary.csv: 12 cases of 2 shards"] and len(errors) == 1
    assert (tmp_path / "t-summary.csv").read_bytes() == summary
    # Lines of JSON, which another run appends to.
    log = [json.loads(line) for line in (tmp_path / "log-2-of-2.jsonl").read_text().splitlines()]
    assert len(log) == 8 and {line["status"] for line in log} == {"done"}
    assert all(line["maps"] == 6 and line["error"] is None and line["seconds"] >= 0 for line in log)
    run(*JOBS, "--shard", "1/2", "--log", "log-1.jsonl")
    log = [json.loads(line) for line in (tmp_path / "log-1-1-of-2.jsonl").read_text().splitlines()]
    assert log[-1]["status"] == "failed" and "none.nii.gz does not exist" in log[-1]["error"] and log[0]["kept"] == 6
    # A line that was added later.
    (tmp_path / "t.csv").write_text("\n".join(["image,mask,output,label", *lines, "image0.nii.gz,mask0.nii.gz,new,1"]))
    assert run(*merge)[0] == 1
    assert rows_of(tmp_path / "t-summary.csv")[-1]["error"] == "not computed: it is in no summary of a shard"
    assert run(*JOBS, "--shard", "3/3")[0] == 0
    assert "there are summaries of 2 and of 3 shards beside t-summary.csv" in run(*merge)[2][0]
    (tmp_path / "t-summary-3-of-3.csv").unlink()
    (tmp_path / "t.csv").write_text("\n".join(["image,mask,output,label", *lines[:3]]))
    assert "have cases that the table does not have, such as the output maps/" in run(*merge)[2][0]


def test_shards_of_more_runs_than_images(run, tmp_path):
    given = [tables.Case({"image": f"i{n // 3}"}, None, None, None) for n in range(30)]
    for count in (1, 2, 3, 7, 10, 11):
        shards = [tables.Shard(n, count).cases(given) for n in range(1, count + 1)]
        assert sorted(case.given["image"] for shard in shards for case in shard) == sorted(
            c.given["image"] for c in given
        )
        assert len(shards) == count and all(len(shard) % 3 == 0 for shard in shards)
        # More lines change nothing for those before.
        longer = tables.Shard(1, count).cases([*given, given[0]._replace(given={"image": "new"})])
        assert longer[: len(shards[0])] == shards[0]
    # Many masks of one image go to several.
    given = [tables.Case({"image": "i"}, None, None, None) for n in range(12)]
    assert [len(tables.Shard(n, 2).cases(given)) for n in (1, 2)] == [8, 4]
    write_table(tmp_path, 2)
    code, output, errors = run(*JOBS, "--shard", "3/3")
    assert (code, output, errors) == (0, ["shard 3/3: 0 of 3 cases"], [])
    assert rows_of(tmp_path / "t-summary-3-of-3.csv") == []


def test_tasks_of_slurm(run, tmp_path, monkeypatch):
    write_table(tmp_path, 4)
    for values, expected in (
        ({"ID": "5", "COUNT": "3", "MIN": "5", "MAX": "7", "STEP": "1"}, "1/3"),
        ({"ID": "0", "COUNT": "2"}, "1/2"),
        ({"ID": "20", "COUNT": "3", "MIN": "0", "MAX": "20", "STEP": "10"}, "3/3"),
        ({"ID": "7", "COUNT": "2", "MIN": "3", "MAX": "7", "STEP": "1"}, None),
        ({"ID": "4", "COUNT": "3", "MIN": "0", "MAX": "20", "STEP": "10"}, None),
        ({"ID": "x", "COUNT": "3"}, None),
    ):
        for name in ("ID", "COUNT", "MIN", "MAX", "STEP"):
            monkeypatch.delenv(f"SLURM_ARRAY_TASK_{name}", raising=False)
        for name, value in values.items():
            monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
        code, output, errors = run(*JOBS)
        if expected is None:
            assert (code, output, len(errors)) == (1, [], 1) and errors[0].endswith("give --shard I/N")
        else:
            note = f"TextureFeatureMaps: note: this task of a SLURM job array computes the shard {expected}"
            assert errors[0] == note and output[0].startswith(f"shard {expected}: ")
    # What is given comes first, and one image is no table.
    code, output, errors = run(*JOBS, "--shard", "1/2")
    assert output[0].startswith("shard 1/2: ")
    code, output, errors = run("image0.nii.gz", "--mask", "mask0.nii.gz", "--out", "one", *ONE_FEATURE)
    assert (code, errors) == (0, [])


WRONG = {
    "--jobs t.csv --shard 5/4": "argument --shard: shard is 5/4, but must be I/N with I from 1 to N",
    "--jobs t.csv --shard 0/4": "shard is 0/4",
    "--jobs t.csv --shard 1": "shard is 1, but",
    "--jobs t.csv --shard -1/2": "expected one argument|shard is -1/2",
    "--jobs t.csv --shard 1/99999999999999": "shard is 1/9999",
    "ONE --shard 1/2": "--shard needs a table, --jobs",
    "ONE --merge": "--merge needs a table, --jobs",
    "ONE --dask local": "--dask needs a table, --jobs",
    "--jobs t.csv --merge --shard 1/2": "--merge computes nothing; it goes with --jobs and --summary only, not with a value of shard",
    "--jobs t.csv --merge --classes glcm": "not with a value of classes",
    "--jobs t.csv --merge --setting label=2": "not with a value of setting",
    "--jobs t.csv --dask nowhere": "--dask nowhere is neither local nor the address of a scheduler that answers",
    "ONE --label 1, --log l": "argument --label: label is '1,', but must be an integer from 1 up",
    "ONE --label 1 --setting label=1": "setting label is given twice",
    "ONE --log none/l": "--log none/l is in a folder that does not exist",
    "ONE --log s.csv --summary s.csv": "the log s.csv is also the summary",
    "ONE --log mask.nii.gz": "the log mask.nii.gz would replace the mask mask.nii.gz",
    "ONE --log maps/provenance.json": "the log maps/provenance.json is also a file of the output maps|in a folder that does not",
}


@pytest.mark.parametrize("text", WRONG)
def test_options_that_do_not_go_together(text, run, tmp_path):
    if "nowhere" in text:
        pytest.importorskip("distributed")
    (tmp_path / "t.csv").write_text("image,mask,output\na.nii,b.nii,c\n")
    code, output, errors = run(*text.replace("ONE", " ".join(CASE + ONE_FEATURE)).split())
    assert (code, output, len(errors)) == (1, [], 1), errors
    assert re.match(f"TextureFeatureMaps: error: .*({WRONG[text]})", errors[0]), errors[0]
    assert os.listdir(tmp_path) == ["t.csv"]


def test_logs_that_cannot_be_written(run, tmp_path):
    write_case(tmp_path)
    os.symlink("/dev/full", tmp_path / "log")
    code, _, errors = run(*CASE, *ONE_FEATURE, "--log", "log")
    assert code == 1 and len(errors) == 1 and "the log log is not a file" in errors[0]


# --- Reading ahead -----------------------------------------------------------------------------------------------------


def test_the_next_case_is_read_meanwhile(tmp_path, monkeypatch):
    rows = []
    for i in range(3):
        write_case(tmp_path, seed=i, name=str(i))
        paths = [tmp_path / f"image{i // 2}.nii.gz", tmp_path / f"mask{i}.nii.gz", tmp_path / str(i)]
        rows.append(tables.Case({}, *paths))
    for path in tmp_path.glob("*.gz"):
        os.utime(path, (1e9, 1e9))
    read, reader = count_reading(monkeypatch), cases.Reader()
    task = cases.Task(None, {"featureClass": {"firstorder": ["Mean"]}}, "float", False, False, "nii.gz", None)
    task.prepare()
    prepared = []
    prepare = radiomics.Maps.__init__

    def wait_for_reading(*arguments):
        reader._prefetched.result()
        prepared.append((list(read), {what: entry[2]["path"][-12:] for what, entry in reader._kept.items()}))
        prepare(*arguments)

    monkeypatch.setattr(radiomics.Maps, "__init__", wait_for_reading)
    for row, following in zip(rows, (*rows[1:], None)):
        cases.run(row, following, task, reader, lambda *_: None)
    names = [["image0.nii.gz", "mask0.nii.gz", "mask1.nii.gz"], ["image1.nii.gz", "mask2.nii.gz"]]
    assert [entry[0] for entry in prepared] == [names[0], names[0] + names[1], names[0] + names[1]]
    assert [set(entry[1]) for entry in prepared] == [{"the image", "the mask"}] * 3
    # What is finished is not read, and what cannot be read is said later.
    read.clear()
    cases.run(rows[0], rows[1], task, reader, lambda *_: None)
    shutil.rmtree(tmp_path / "0")
    cases.run(rows[0], rows[1], task, reader, lambda *_: None)
    shutil.rmtree(tmp_path / "0")
    cases.run(rows[0], rows[1]._replace(image=tmp_path / "none", output=tmp_path / "x"), task, reader, lambda *_: None)
    assert read.count("mask1.nii.gz") <= 1 and "none" in read


CRASH = """
import os
if os.environ.get("CRASH_OF_TEST"):
    from voxelmaps.radiomics import _preparation as _radiomics_images
    from voxelmaps import _image
    load = _image.load
    _image.load = lambda path, what: os.abort() if "crash" in str(path) else load(path, what)
"""


def test_a_next_case_that_ends_the_process_costs_itself_only(run, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(CRASH)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CRASH_OF_TEST", "1")
    lines = ["image,mask,output"]
    for i, name in enumerate(("0", "crash", "2")):
        write_case(tmp_path, seed=i, name=name)
        lines.append(f"image{name}.nii.gz,mask{name}.nii.gz,{i}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, output, errors = run("--jobs", "t.csv", *ONE_FEATURE)
    assert code == 1 and [line[:5] for line in output] == ["[1/3]", "[3/3]"]
    assert len(errors) == 3 and re.search("imagecrash.nii.gz: the process .* was ended by SIGABRT", errors[1])
    assert errors[0].endswith("it is computed again, without reading the next case meanwhile")
    assert [bool(row["error"]) for row in rows_of(tmp_path / "t-summary.csv")] == [False, True, False]


# --- Runs that are killed ----------------------------------------------------------------------------------------------


def records_of(folder):
    """Contents of provenance.json without what changes from run to run."""
    records = {}
    for path in sorted(folder.rglob("provenance.json")):
        record = json.loads(path.read_text())
        for entries in (record, *record["inputs"].values(), *record["maps"].values()):
            for name in ("date", "saved_ns", "read_ns", "state"):
                entries.pop(name, None)
        record["files"] = list(record["files"])
        records[str(path.relative_to(folder))] = record
    return records


def run_killed(folder, arguments, kills, seed=0):
    """Start a run, kill all of its processes at random moments, and start it again, until it is finished. Returns how many of the
    kills came while it ran."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(rng.uniform(0.1, 2.0))
        except subprocess.TimeoutExpired:
            hits += 1
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, check=False)
    return hits


@pytest.mark.parametrize("file_format", ["nii.gz", "zarr"])
def test_runs_that_are_killed_again_and_again(file_format, tmp_path):
    if file_format == "zarr":
        pytest.importorskip("zarr", minversion="3")
    compare_killed_runs(tmp_path, 25, 5, file_format)


def compare_killed_runs(folder, number, kills, file_format):
    arguments = [*JOBS, "--format", file_format]
    write_table(folder, number)
    hits = run_killed(folder, arguments, kills)
    found = maps_of(folder), records_of(folder / "maps"), (folder / "t-summary.csv").read_bytes()
    shutil.rmtree(folder / "maps")
    (folder / "t-summary.csv").unlink()
    subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, check=False)
    whole = maps_of(folder), records_of(folder / "maps"), (folder / "t-summary.csv").read_bytes()
    assert found[0].keys() == whole[0].keys() and len(found[1]) == number + 2 * (number // 5)
    assert found == whole
    return hits


# --- dask --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_worker_of_dask_that_is_killed(run, tmp_path):
    distributed = pytest.importorskip("distributed")
    write_table(tmp_path, 10)
    assert run(*JOBS)[0] == 1
    whole, summary = maps_of(tmp_path), (tmp_path / "t-summary.csv").read_text()
    shutil.rmtree(tmp_path / "maps")
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        killed = []

        def kill_one_that_computes():
            while not killed:
                for folder in (tmp_path / "maps").rglob(".voxelmaps-maps-*"):
                    with contextlib.suppress(OSError):
                        status = pathlib.Path(f"/proc/{folder.name.split('-')[3]}/status").read_text()
                        parent = int(re.search(r"PPid:\s*(\d+)", status)[1])
                        if parent in workers:
                            os.kill(parent, signal.SIGKILL)
                            killed.append(parent)
                            break

        thread = threading.Thread(target=kill_one_that_computes, daemon=True)
        thread.start()
        code, output, errors = run(*JOBS, "--dask", cluster.scheduler_address, "--log", "log.jsonl")
        thread.join(10)
        assert killed and set(client.run(os.getpid).values()) != workers
    assert code == 1 and len(output) == 14 and len(errors) == 2
    assert "none.nii.gz does not exist" in errors[0] + errors[1] and "1 of 15 cases failed" in errors[0] + errors[1]
    assert maps_of(tmp_path) == whole
    # An absolute path in the error.
    again = (tmp_path / "t-summary.csv").read_text().replace(f"{tmp_path}/", "")
    assert again == summary and len((tmp_path / "log.jsonl").read_text().splitlines()) == 15
    assert not [path for path in (tmp_path / "maps").rglob(".*")]


def test_processes_of_dask(run, tmp_path):
    pytest.importorskip("distributed")
    write_table(tmp_path, 4)
    code, output, errors = run(*JOBS, "--dask", "local", "--shard", "1/2")
    assert code == 1 and len(output) == 3 and len(errors) == 2, (output, errors)


# The network of this shell is one namespace, that of the process $other another one; both end with the shell.
NAMESPACES = """
set -eu
trap 'kill $(jobs -p) 2>/dev/null' EXIT
ip link set lo up
unshare --net sleep 300 &
other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add first type veth peer name second
ip link set second netns $other
ip addr add 10.77.0.1/24 dev first
ip link set first up
there() { nsenter --net=/proc/$other/ns/net "$@"; }
there ip link set lo up
there ip addr add 10.77.0.2/24 dev second
there ip link set second up
"""

ON_TWO_COMPUTERS = """
python=$1; shift
$python -m distributed.cli.dask_scheduler --host 10.77.0.1 --port 8786 --no-dashboard >scheduler.log 2>&1 &
nsenter --net=/proc/$other/ns/net $python -m distributed.cli.dask_worker tcp://10.77.0.1:8786 --nworkers 2 --nthreads 1 --no-dashboard >workers.log 2>&1 &
$python -c "
import distributed
with distributed.Client('tcp://10.77.0.1:8786', timeout=60) as client:
    client.wait_for_workers(2, timeout=60)
    print(*sorted(client.scheduler_info()['workers']))
"
code=0
"$@" --dask tcp://10.77.0.1:8786 || code=$?
exit $code
"""


def shell_with_namespaces():
    """The command of a shell that may make networks. Skips the test where that is not allowed."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip", "bash"))):
        pytest.skip("unshare, nsenter or ip is not installed")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    shell = ["unshare", *user, "--net", "bash", "-c"]
    done = subprocess.run([*shell, NAMESPACES], capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip(f"network namespaces are not allowed: {' '.join(done.stderr.split())}")
    return shell


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs namespaces of Linux")
def test_workers_of_dask_in_another_network(run, tmp_path):
    """A scheduler, and workers that reach it through a network only, as on two computers with one file system."""
    pytest.importorskip("distributed")
    shell = shell_with_namespaces()
    write_table(tmp_path, 6)
    assert run(*JOBS)[0] == 1
    whole, summary = maps_of(tmp_path), (tmp_path / "t-summary.csv").read_text()
    shutil.rmtree(tmp_path / "maps")
    command = [*shell, NAMESPACES + ON_TWO_COMPUTERS, "bash", sys.executable, *COMMAND, *JOBS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    workers, *output = done.stdout.splitlines()
    assert len(workers.split()) == 2 and all(name.startswith("tcp://10.77.0.2:") for name in workers.split())
    (missing, failed) = done.stderr.splitlines()
    assert done.returncode == 1 and "none.nii.gz does not exist" in missing and "of 9 cases failed" in failed
    assert len(output) == 8 and maps_of(tmp_path) == whole
    assert (tmp_path / "t-summary.csv").read_text().replace(f"{tmp_path}/", "") == summary


# --- Before anything is computed ---------------------------------------------------------------------------------------


def test_dry_run(run, tmp_path):
    for name in ("a", "b", "c", "d"):
        write_case(tmp_path / name, seed=ord(name))
    (tmp_path / "b" / "mask.nii.gz").write_bytes((tmp_path / "b" / "mask.nii.gz").read_bytes()[:-40])
    itk.imwrite(itk.image_from_array(np.ones((12, 14, 16), np.uint8)), str(tmp_path / "c" / "mask.nii.gz"))
    (tmp_path / "cohort.csv").write_text(
        "image,mask,output,label\n"
        "a/image.nii.gz,a/mask.nii.gz,maps/a,all\n"
        "b/image.nii.gz,b/mask.nii.gz,maps/b,\n"
        "c/image.nii.gz,c/mask.nii.gz,maps/c,\n"
        "d/image.nii.gz,d/mask.nii.gz,maps/d,7\n"
        "e/image.nii.gz,d/mask.nii.gz,maps/e,\n"
        "d/image.nii.gz,d/mask.nii.gz,a/image.nii.gz/maps,1\n"
    )
    before = sorted(tmp_path.rglob("*"))
    code, output, errors = run("--jobs", "cohort.csv", "--classes", "glcm", "--bin-width", "10", "--dry-run")
    assert code == 1 and sorted(tmp_path.rglob("*")) == before
    assert [line.split(": ")[0] for line in output] == [
        "[1/6] a/image.nii.gz label 1",
        "[1/6] a/image.nii.gz label 2",
        "total",
    ]
    assert re.fullmatch(r".*: 24 maps of \d+ voxels, \d[.\d]* MB before compression, 20 gray levels", output[0])
    assert re.fullmatch(r"total: 48 maps of 2 of 7 cases, \d[.\d]* MB before compression", output[2])
    assert [line.split(": ")[1] for line in errors[:-1]] == [
        f"[{i}/6] {name}/image.nii.gz" for i, name in enumerate("bcded", 2)
    ]
    texts = [
        "compressed voxels are cut",
        "spacing",
        "no voxel of the mask is 7",
        "does not exist",
        "file is in its place",
    ]
    for line, text in zip(errors, texts):
        assert re.search(text, line), line
    assert errors[-1] == "TextureFeatureMaps: 5 of 7 cases would fail"

    (tmp_path / "cohort.csv").write_text("image,mask,output\na/image.nii.gz,a/mask.nii.gz,maps/a\n")
    command = ["--jobs", "cohort.csv", "--features", "glcm_Contrast"]
    code, output, errors = run(*command, "--bin-width", "1000", "--dry-run")
    assert (code, errors) == (0, []) and output[0].endswith(
        "1 gray level, so that there is no texture: choose another width of bins"
    )
    assert run(*command)[0] == 0
    code, output, errors = run(*command, "--dry-run")
    assert (code, errors) == (0, []) and re.fullmatch(r"a/image.nii.gz: finished, 1 maps of \d+ voxels", output[0])
    code, _, errors = run(*command, "--dry-run", "--dask", "local")
    assert (code, errors) == (1, ["TextureFeatureMaps: error: --dry-run and --dask exclude each other"])


def test_wide_summary(run, tmp_path):
    for name in "ab":
        write_case(tmp_path / name, seed=ord(name))
    (tmp_path / "cohort.csv").write_text(
        "image,mask,output,label\na/image.nii.gz,a/mask.nii.gz,maps/a,all\nb/image.nii.gz,none.nii.gz,maps/b,\n"
    )
    command = ["--jobs", "cohort.csv", "--features", "firstorder_Mean,glcm_Contrast"]
    assert run(*command)[0] == 1
    long = rows_of(tmp_path / "cohort-summary.csv")
    assert run(*command, "--summary-format", "wide")[0] == 1
    wide = rows_of(tmp_path / "cohort-summary.csv")
    assert [(row["image"], row["label"], bool(row["error"])) for row in wide] == [
        ("a/image.nii.gz", "1", False),
        ("a/image.nii.gz", "2", False),
        ("b/image.nii.gz", "", True),
    ]
    for row in long[:4]:
        (same,) = (each for each in wide if each["label"] == row["label"] and each["output"] == row["output"])
        assert same["mask_voxels"] == row["mask_voxels"]
        for statistic in ("mean", "median", "standard_deviation", "valid_voxels"):
            assert same[f"{row['map']}_{statistic}"] == row[statistic]
    assert wide[2]["original_glcm_Contrast_mean"] == ""
    code, _, errors = run(*command, "--summary-format", "wide", "--shard", "1/2")
    assert code == 1 and "the summary of a shard is a long table" in errors[0]
    for number in (1, 2):
        run(*command, "--shard", f"{number}/2")
    text = (tmp_path / "cohort-summary.csv").read_bytes()
    assert run("--jobs", "cohort.csv", "--merge", "--summary-format", "wide")[0] == 1
    assert (tmp_path / "cohort-summary.csv").read_bytes() == text


def test_threads(run, tmp_path):
    write_case(tmp_path)
    for threads, error in (("0", "must be an integer from 1 to 4096"), ("many", "must be an integer from 1 to 4096")):
        code, _, errors = run(*CASE, *ONE_FEATURE, "--threads", threads)
        assert code == 1 and error in errors[0]
    code, _, errors = run(*CASE, *ONE_FEATURE, "--threads", "3")
    assert (code, errors) == (0, [])
    record = json.loads((tmp_path / "maps" / "provenance.json").read_text())
    assert record["maps"]["original_firstorder_Mean"]["device"].endswith(" 3 threads")
