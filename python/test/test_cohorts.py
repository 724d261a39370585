# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
"""Cohorts of the program TextureFeatureMaps: labels, formats, channels of nnU-Net, shards, logs, reading ahead, dask, and runs that
are killed again and again."""

import json
import os
import re
import shutil

import itk
import numpy as np
import pytest
from test_program import COMMAND, rows_of, run, write_case  # noqa: F401
from voxelmaps import _output_layouts as layouts
from voxelmaps import _program_cases as cases
from voxelmaps import _program_tables as tables
from voxelmaps import _radiomics_files as files
from voxelmaps import _radiomics_images, program, radiomics

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
    read, load = [], _radiomics_images.load

    def counted(path, what):
        read.append(os.path.basename(path))
        return load(path, what)

    monkeypatch.setattr(_radiomics_images, "load", counted)
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
    assert errors[0].endswith("label 7: no voxel of the mask is 7 (setting label); it has the values 0, 1 and 2")
    assert [(row["label"], bool(row["error"])) for row in rows_of(several / "summary.csv")] == [
        ("2", False),
        ("7", True),
    ]


def test_all_labels_are_found_without_reading(run, tmp_path, monkeypatch):
    write_case(tmp_path)
    task = cases.Task(None, {"featureClass": {"firstorder": ["Mean"]}}, "float", False, "nii.gz", None)
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
    return _radiomics_images.to_itk(_radiomics_images.from_simpleitk(image))


def test_slabs_and_chunks_of_any_thickness(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", minversion="3")
    image, mask = (itk.imread(str(write_case(tmp_path, shape=(23, 14, 16)) / f"{n}.nii.gz")) for n in ("image", "mask"))
    settings = {"featureClass": {"firstorder": None}}
    expected = radiomics.execute(image, mask, **settings, additionalInfo=False)
    row = tables.Case({}, tmp_path / "image.nii.gz", tmp_path / "mask.nii.gz", None)
    for number, (slab, chunk) in enumerate([(1, 1), (1, 1000), (30000, 700), (2**25, 500), (2**25, 2**19)]):
        monkeypatch.setattr(files, "_SLAB_BYTES", slab)
        monkeypatch.setattr(files, "_CHUNK_VOXELS", chunk)
        task = cases.Task(None, settings, "double", False, "zarr", None)
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
        "maps.zarr has 1 maps that are not asked for, such as original_glszm_SmallAreaEmphasis; choose another output, or "
        "remove it"
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
    assert code == 1 and "case_1_0001.nii.gz would be a channel for nnU-Net, but is none of the 1 maps" in errors[0]
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
        "TextureFeatureMaps: error: stores of zarr need the package zarr, 3 or later: pip install 'itk-voxelmaps[zarr]'"
    ]
    assert not (tmp_path / "maps").exists()
