# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What happens to files that are there already. Rows are ways out, columns what is there: nothing, an input, a file of others, files of
the same run and of another one, a folder that cannot be written, a full disk."""

import builtins
import concurrent.futures
import csv
import errno
import io
import json
import os
import pathlib
import resource

import numpy as np
import pytest
import voxelmaps
from array_libraries import itk
from test_program import REMEDY, run, write_case  # noqa: F401
from voxelmaps import _cli, radiomics
from voxelmaps._files import paths

pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links and limits")

MEAN = "firstorder_Mean.nii.gz"
CASE = ["image.nii.gz", "--mask", "mask.nii.gz", "--features", "firstorder_Mean,firstorder_Entropy"]
REGIONS = ["regions", *CASE, "--out"]


class Worker(_cli.workers.Worker):
    """Calls functions in this process."""

    def submit(self, function, *arguments):
        future = concurrent.futures.Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def end(self):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_cli.workers, "Worker", Worker)
    monkeypatch.chdir(write_case(tmp_path, shape=(8, 9, 10)))
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- Ways out: each writes files with the settings 0 or 1 ----------------------------------------------------------------


def saved(path):
    def save(settings, overwrite):
        features = "firstorder_Mean" if "." in path else ["firstorder_Mean", "firstorder_Entropy"][: 2 - settings]
        maps = voxelmaps.feature_maps(
            "image.nii.gz", features=features, bin_width=25 - settings, neighborhood_radius=1 + settings
        )
        maps.save(path, overwrite=overwrite)

    return save


def execute(settings, overwrite):
    features = {"firstorder": ["Mean", "Entropy"][: 2 - settings]}
    given = {"out_dir": "out", "overwrite": overwrite, "binWidth": 25 - settings, "kernelRadius": 1 + settings}
    radiomics.execute("image.nii.gz", "mask.nii.gz", featureClass=features, **given)


def command(*arguments, other=("--bin-width", "10")):
    def call(settings, overwrite):
        error = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stderr", error)
            code = _cli.main([*arguments, *(other if settings else ()), *["--overwrite"] * overwrite])
        if code:
            raise OSError(error.getvalue())

    return call


SEEDS = ["--seeds", '{"1": [1, 1, 1], "2": [5, 5, 5]}', "--tie-rule", "lowest_label"]
RADIUS = ["--radius", "2"]
AFFINITY = ["--affinity", "absolute_difference"]
# The function, and one of the files that it writes.
WAYS = {
    "save to a folder": (saved("out"), f"out/{MEAN}"),
    "save to a file": (saved("maps.nrrd"), "maps.nrrd"),
    "save to NIfTI": (saved("maps.nii.gz"), "maps.nii.gz"),
    "execute": (execute, f"out/original_{MEAN}"),
    "maps": (command("maps", *CASE, "--out", "out", other=RADIUS), f"out/original_{MEAN}"),
    "channels": (command("maps", *CASE, "--out", "set/a", "--channels", "nnunet", other=RADIUS), "set/labelsTr/a.nii.gz"),
    "summary": (command("maps", *CASE, "--out", "out", other=RADIUS), "out/summary.csv"),
    "regions": (command(*REGIONS, "values.csv"), "values.csv"),
    "regions to JSON": (command(*REGIONS, "values.json", "--format", "json"), "values.json"),
    "connect": (
        command("connect", "image.nii.gz", "--seeds", "[1,1,1]", "--out", "c.nii", *AFFINITY, other=["--adjacency", "full"]),
        "c.nii",
    ),
    "labels": (
        command("labels", "image.nii.gz", *SEEDS, *AFFINITY, "--out", "l.nrrd", "--margin", "m.nrrd", other=["--adjacency", "full"]),
        "m.nrrd",
    ),
}  # fmt: skip


@pytest.fixture(params=WAYS)
def way(request, folder):
    write, name = WAYS[request.param]
    write.name, write.path = request.param, folder / name
    return write


def refused(way, folder, message, settings=0, overwrite=False):
    """The call is an error with a message, and changes nothing."""
    before = contents(folder)
    with pytest.raises((ValueError, OSError), match=message) as error:
        way(settings, overwrite)
    assert contents(folder) == before and not list(folder.rglob(f"{paths.STAGING_PREFIX}*"))
    return str(error.value)


# --- What is there already -----------------------------------------------------------------------------------------------


def test_nothing_and_the_same_run(way, folder):
    way(0, False)
    first = contents(folder)
    assert way.path in first
    way(0, False)
    is_record = lambda path: path.name == paths.PROVENANCE
    assert {path: text for path, text in contents(folder).items() if not is_record(path)} == {
        path: text for path, text in first.items() if not is_record(path)
    }
    for path in filter(is_record, first):
        record = json.loads(path.read_text())
        assert record["complete"] and record["inputs"]["image"]["path"] == str(folder / "image.nii.gz")


@pytest.mark.parametrize("link", [os.link, os.symlink, "../{}/image.nii.gz"])
def test_inputs(way, folder, link):
    if isinstance(link, str):
        if "NIfTI" not in way.name:
            pytest.skip("the name of the file is fixed")
        way = saved(link.format(folder.name))
    else:
        way.path.parent.mkdir(parents=True, exist_ok=True)
        link(folder / "image.nii.gz", way.path)
    for overwrite in (False, True):
        refused(way, folder, "would replace the image", overwrite=overwrite)


def test_files_of_others(way, folder):
    way.path.parent.mkdir(parents=True, exist_ok=True)
    way.path.write_text("patient,age\n1,64\n")
    message = refused(way, folder, r"choose another output, or replace it with (--overwrite|overwrite=True)\n?$")
    assert os.path.relpath(way.path) in message
    way(0, True)
    assert way.path.read_bytes()[:7] != b"patient"
    # An empty file is nothing.
    way.path.write_text("")
    if paths.PROVENANCE not in os.listdir(way.path.parent) and way.name != "channels":
        way(0, False)


def test_another_run(way, folder):
    way(0, False)
    first = contents(folder)
    refused(way, folder, "choose another output, or replace it with", 1)
    way(1, True)
    # What the other run had is gone as a whole.
    second = contents(folder)
    others = [folder / "image.nii.gz", folder / "mask.nii.gz", folder / "set" / "dataset.json"]
    assert all(second[path] != first[path] or path in others for path in second)
    if way.name in ("save to a folder", "execute"):
        assert len(second) == len(first) - 1 and len(voxelmaps.read_maps(way.path.parent)) == 1
    refused(way, folder, "choose another output, or replace it with", 0)


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_folders_that_cannot_be_written(way, folder, monkeypatch, error):
    way(0, False)

    def fail(path, *arguments, **options):
        if "r" not in (*arguments, options.get("mode", "r"))[0]:
            raise OSError(error, os.strerror(error), path)
        return opened(path, *arguments, **options)

    def fail_to_make(*_, **options):
        raise OSError(error, os.strerror(error), options["dir"])

    opened = builtins.open
    monkeypatch.setattr(paths.tempfile, "mkdtemp", fail_to_make)
    monkeypatch.setattr(builtins, "open", fail)
    refused(way, folder, os.strerror(error), 1, True)


@pytest.mark.parametrize("limit", [10, 300])
def test_full_disk(way, folder, limit):
    """Files may have so many bytes."""
    way(0, False)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        refused(way, folder, "File too large", 1, True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# --- Folders of maps -----------------------------------------------------------------------------------------------------


def test_maps_of_the_same_files_are_added(folder):
    def maps(feature, image="image.nii.gz"):
        return voxelmaps.feature_maps(image, features=feature, neighborhood_radius=1)

    maps("firstorder_Mean").save("out")
    maps("firstorder_Range").save("out")
    assert list(voxelmaps.read_maps("out")) == ["firstorder_Mean", "firstorder_Range"]
    # With an array, only equal maps are known to belong to the same image.
    array = itk.array_from_image(itk.imread("image.nii.gz"))
    maps("firstorder_Mean", array).save("array")
    maps("firstorder_Mean", array.copy()).save("array")
    for other in (maps("firstorder_Range", array), maps("firstorder_Mean", array + 1)):
        with pytest.raises(FileExistsError, match="image .which was in memory, so that it cannot be compared"):
            other.save("array")
    # A file of others with another name stays.
    pathlib.Path("array/mine.nii.gz").write_text("mine")
    maps("firstorder_Range", array).save("array", overwrite=True)
    assert sorted(os.listdir("array")) == ["firstorder_Range.nii.gz", "mine.nii.gz", paths.PROVENANCE]
    assert list(voxelmaps.read_maps("array")) == ["firstorder_Range"]
    read = voxelmaps.read_maps("out")
    with pytest.raises(ValueError, match="would replace the maps"):
        read[["firstorder_Mean"]].save("out", overwrite=True)
    with pytest.raises(ValueError, match="would replace the image"):
        read[["firstorder_Mean"]].save("image.nii.gz", overwrite=True)


def test_files_behind_images(folder):
    """An image of nibabel reads its voxels later; a header has its voxels in another file, a series in several."""
    nibabel = pytest.importorskip("nibabel")
    os.mkdir("ct")
    for z in range(3):
        itk.imwrite(itk.image_from_array(np.full((1, 4, 5), z, np.uint16)), f"ct/{z}.dcm")
    itk.imwrite(itk.imread("image.nii.gz"), "image.mhd")
    os.rename("image.raw", "maps.nrrd")
    pathlib.Path("image.mhd").write_text(pathlib.Path("image.mhd").read_text().replace("image.raw", "maps.nrrd"))
    for image, path in ((nibabel.load("image.nii.gz"), "image.nii.gz"), ("image.mhd", "maps.nrrd")):
        before = contents(folder)
        maps = voxelmaps.feature_maps(image, features="firstorder_Mean", neighborhood_radius=1)
        with pytest.raises(ValueError, match=f"the file {path} would replace the image"):
            maps.save(path, overwrite=True)
        assert contents(folder) == before
    read = [("the image", "ct")]
    with pytest.raises(ValueError, match="the output x/1.dcm would replace the image ct"):
        os.symlink("ct", "x")
        _cli._outputs.check_inputs(read, files=[("the output", "x/1.dcm")])


# --- Tables --------------------------------------------------------------------------------------------------------------


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def test_rows_of_other_cases_stay(run, folder):  # noqa: F811
    write_case(folder, seed=1, shape=(8, 9, 10), name="2")
    (folder / "cohort.csv").write_text("Patient_ID,image,mask,label,voxels\nP1,image.nii.gz,mask.nii.gz,1,7\n")
    two = ["image2.nii.gz", *CASE[1:], "--label", "1", "--out", "values.csv"]
    code, output, errors = run("regions", "--jobs", "cohort.csv", *CASE[3:], "--out", "values.csv")
    assert (code, errors) == (0, ["voxelmaps: note: columns of cohort.csv that are not copied: voxels"])
    assert run("regions", *two)[0] == 0 and run("regions", "none.nii", *two[1:])[0] == 1
    rows = rows_of("values.csv")
    assert [(row["Patient_ID"], row["image"], bool(row["error"])) for row in rows] == [
        *(("P1", "image.nii.gz", False), ("", "image2.nii.gz", False), ("", "none.nii", True)),
    ]
    before = pathlib.Path("values.csv").read_bytes()
    # An error does not replace values, and the row of an image that has changed is refused.
    write_case(folder, seed=2, shape=(8, 9, 10), name="2")
    code, _, errors = run("regions", *two)
    assert code == 1 and "label 1 of another image or mask of these names" in errors[0]
    assert sorted(pathlib.Path("values.csv").read_bytes().splitlines()) == sorted(before.splitlines())
    before = pathlib.Path("values.csv").read_bytes()
    code, _, errors = run("regions", *two, "--bin-width", "5")
    assert code == 1 and errors == [f"voxelmaps: error: the output values.csv has rows of another binWidth: {REMEDY}"]
    records = pathlib.Path("values.csv.jsonl")
    ours = records.read_bytes()
    for text, message in (
        ("# notes\n", "values.csv.jsonl is not of this command"),
        ("", "values.csv has"),
    ):
        records.write_text(text)
        assert message in run("regions", *two)[2][0] and records.read_text() == text
    records.write_bytes(ours)
    # A table that somebody has changed.
    for change in (
        lambda text: text.replace(",error", ",error,age"),
        lambda text: text.replace("P1,image", "P1,imagine"),
    ):
        changed = "\n".join(line + ",1" * (i > 0) for i, line in enumerate(change(before.decode()).splitlines()))
        pathlib.Path("values.csv").write_text(changed)
        assert run("regions", *two)[2][0].endswith(REMEDY) and pathlib.Path("values.csv").read_text() == changed
    assert run("regions", *two, "--overwrite")[0] == 0 and [row["image"] for row in rows_of("values.csv")] == two[:1]


def test_same_names_in_other_folders(run, folder, monkeypatch):  # noqa: F811
    """cd PATIENT; voxelmaps … --out ../values.csv: rows have the same names."""
    for seed, name in enumerate("ab"):
        monkeypatch.chdir(write_case(folder / name, seed, (8, 9, 10)))
        codes = [run(*REGIONS, "../values.csv")[0], run("maps", *CASE, "--out", "m", "--summary", "../all.csv")[0]]
        assert codes == [seed, seed]
    assert len(rows_of("../values.csv")) == 1 and len(rows_of("../all.csv")) == 2


def test_standard_output_and_formats(run, folder):  # noqa: F811
    before = sorted(os.listdir())
    code, output, errors = run(*REGIONS, "-", "--label", "all")
    assert code == 0 and len(errors) == 2 and sorted(os.listdir()) == before
    rows = list(csv.DictReader(output))
    code, output, _ = run(*REGIONS, "-", "--label", "all", "--format", "json")
    assert [{name: str(value or "") for name, value in row.items()} for row in json.loads("\n".join(output))] == rows
    for out, options in (("v.xlsx", []), ("v.json", []), ("v.csv", ["--format", "json"])):
        code, _, errors = run(*REGIONS, out, *options)
        assert code == 1 and f"the output {out} is a table of" in errors[0]
    code, _, errors = run("maps", *CASE, "--out", "o.nii.gz")
    assert code == 1 and "o.nii.gz has the ending .gz of a file, but must be a folder for maps" in errors[0]
    code, _, errors = run(*REGIONS, "v.csv", "--bin-width", "5", "--bin-count", "3")
    assert code == 1 and "--bin-width and --bin-count exclude each other" in errors[0]
    assert sorted(os.listdir()) == before


def test_check_of_regions(run, folder):  # noqa: F811
    (folder / "cohort.csv").write_text("image,mask,label\nimage.nii.gz,mask.nii.gz,all\nimage.nii.gz,none.nii,1\n")
    before = sorted(os.listdir())
    code, output, errors = run("check", "--jobs", "cohort.csv", *CASE[3:])
    assert code == 1 and [line.rpartition(": ")[2][:8] for line in output] == ["2 values"] * 2
    assert "none.nii does not exist" in errors[0] and errors[1].endswith("1 of 3 regions would fail")
    assert run("check", *CASE, "--regions")[0] == 0 and sorted(os.listdir()) == before
