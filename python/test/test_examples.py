# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python commands of examples/README.md."""

import os
import pathlib
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
import voxelmaps
from array_libraries import itk
from test_program import rows_of

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
COMMANDS = dict(
    re.findall(r"^python3 examples/(\w+\.py) (.*)$", (EXAMPLES / "README.md").read_text("utf-8"), flags=re.MULTILINE)
)


def check_picture(path):
    """Check that a picture is at least 300 pixels wide and not uniform."""
    pixels = itk.array_from_image(itk.imread(str(path), itk.UC))
    assert pixels.shape[1] >= 300 and len(np.unique(pixels)) > 10


@pytest.fixture
def run(tmp_path):
    def run(name, replacements, *more, arguments=None):
        arguments = [replacements.get(a, a) for a in (arguments or COMMANDS[name]).split()] + list(more)
        environment = dict(os.environ, MPLCONFIGDIR=str(tmp_path))
        environment.pop("DISPLAY", None)
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / name), *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        run.errors = done.stderr
        return done.stdout

    return run


@pytest.fixture
def head(data):
    return {"head.nii.gz": str(data / "KmeansTest_T1UCharRaw.nii.gz")}


def geometry(path):
    image = itk.imread(str(path))
    region = image.GetLargestPossibleRegion()
    return [list(image.GetOrigin()), list(image.GetSpacing()), list(region.GetSize())]


def test_all_examples_are_in_the_readme():
    assert sorted(COMMANDS) == sorted(p.name for p in EXAMPLES.glob("*.py"))
    text = (EXAMPLES / "README.md").read_text("utf-8")
    for picture in re.findall(r"\(images/([^)]*)\)", text):
        check_picture(EXAMPLES / "images" / picture)
        assert (EXAMPLES / "images" / picture).stat().st_size < 150_000


def test_texture_maps(run, head, tmp_path):
    pytest.importorskip("matplotlib")
    output = run("texture_maps_of_a_nifti.py", head)
    assert "16 maps and overview.png" in output
    check_picture(tmp_path / "texture-maps" / "overview.png")
    names = ["glrlm_ShortRunEmphasis", "glrlm_RunEntropy"]
    expected = voxelmaps.feature_maps(head["head.nii.gz"], features=names, bin_count=32)
    for name in names:
        path = tmp_path / "texture-maps" / f"{name}.nii.gz"
        assert geometry(path) == geometry(head["head.nii.gz"])
        np.testing.assert_array_equal(itk.array_from_image(itk.imread(str(path))), expected[name])


@pytest.fixture
def habitats():
    """Names in the program."""
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    return runpy.run_path(str(EXAMPLES / "habitats.py"))


def write_cohort(folder, scales=(1, 1, 1)):
    """Three cases, each a ball of three tissues at places of its own: dark, bright, and bright and rough. Returns their arrays."""
    truths = []
    lines = ["image,mask,output"]
    for case in range(3):
        rng = np.random.default_rng(case)
        z, y, x = np.indices((24, 36, 36))
        inside = (z - 12) ** 2 * 2 + (y - 18 - case) ** 2 + (x - 18 + case) ** 2 < 14**2
        # Thirds of a circle, turned from case to case.
        angle = np.arctan2(y - 18 - case, x - 18 + case) + 2 * case
        tissue = np.floor((angle % (2 * np.pi)) / (2 * np.pi) * 3).astype(int) + 1
        deviation = np.choose(tissue - 1, [4, 4, 45])
        array = np.choose(tissue - 1, [40, 130, 160]) + rng.normal(size=inside.shape) * deviation
        array *= scales[case]
        for name, values in (("image", array.astype(np.int16)), ("mask", inside.astype(np.uint8))):
            image = itk.image_from_array(values)
            image.SetSpacing([0.8, 0.8, 1.5])
            itk.imwrite(image, str(folder / f"{name} {case}.nii.gz"))
        lines.append(f"image {case}.nii.gz,mask {case}.nii.gz,habitats/case {case}")
        truths.append((array, np.where(inside, tissue, 0)))
    (folder / "cohort.csv").write_text("\n".join(lines))
    return truths


def test_habitats_of_a_cohort(run, habitats, tmp_path):
    truths = write_cohort(tmp_path)
    available = [f"{name}_{feature}" for name, features in habitats["PRECISE"]["liver"].items() for feature in features]
    more = ["--radius", "1"]
    output = run("habitats.py", {}, *more)
    assert re.search(rf"^3 habitats of 3 cases by \d+ of {len(available)} features, in habitats$", output, re.MULTILINE)
    labels = []
    for case, (_, tissue) in enumerate(truths):
        path = tmp_path / "habitats" / f"case {case}" / "habitats.nii.gz"
        check_picture(path.with_name("habitats.png"))
        image = itk.imread(str(path))
        mask = itk.imread(str(tmp_path / f"mask {case}.nii.gz"))
        start = [round(i) for i in mask.TransformPhysicalPointToContinuousIndex(image.GetOrigin())][::-1]
        volume = itk.array_from_image(image)
        part = tuple(slice(s, s + n) for s, n in zip(start, volume.shape))
        np.testing.assert_array_equal(volume > 0, itk.array_from_image(mask)[part] > 0)
        labels.append(volume)
        # The same label is the same tissue in all cases. Windows across a border are of both.
        tissue = tissue[part]
        assert [np.bincount(volume[tissue == t]).argmax() for t in (1, 2, 3)] == [1, 2, 3]
        assert (volume == tissue)[tissue > 0].mean() > 0.75
    rows = rows_of(tmp_path / "habitats" / "habitats.csv")
    expected = [(f"image {c}.nii.gz", f"{h}") for c in range(3) for h in (1, 2, 3)]
    assert [(row["case"], row["habitat"]) for row in rows] == expected
    for row, volume, label in zip(rows, [v for v in labels for _ in range(3)], 3 * [1, 2, 3]):
        assert int(row["voxels"]) == (volume == label).sum()
        assert float(row["fraction"]) == pytest.approx((volume == label).sum() / (volume > 0).sum(), abs=1e-4)
        assert float(row["volume_ml"]) == pytest.approx((volume == label).sum() * 0.8 * 0.8 * 1.5 / 1000, abs=1e-3)
    features = rows_of(tmp_path / "habitats" / "features.csv")
    assert [row["feature"] for row in features] == available
    used = [row["feature"] for row in features if row["used"] == "1"]
    assert list(rows[0])[6:] == [f"mean_{name}" for name in used] and 2 <= len(used) < len(available)
    files = {path: path.read_bytes() for path in (tmp_path / "habitats").rglob("*") if path.suffix in (".gz", ".csv")}
    assert len(files) == 5
    check_picture(tmp_path / "habitats" / "features.png")
    run("habitats.py", {}, *more)
    assert {path: path.read_bytes() for path in files} == files


def test_habitats_that_follow_patients(run, habitats, tmp_path):
    """Those of MR, whose intensities have another unit in each patient, do so without normalization, with a warning."""
    write_cohort(tmp_path, scales=(1, 3, 9))
    options = "cohort.csv results --habitats 3 --radius 1 --method kmeans --features firstorder_Mean"
    fractions = {}
    for more in ([], ["--normalize"]):
        run("habitats.py", {}, *more, arguments=options)
        fractions[bool(more)] = [float(row["fraction"]) for row in rows_of(tmp_path / "results" / "habitats.csv")]
        assert ("habitats may follow the patients" in run.errors) == (not more)
    assert min(fractions[False]) == 0 and min(fractions[True]) > 0.1


def test_vessels(run, ct_series, tmp_path):
    pytest.importorskip("vtk")
    folder, seeds = ct_series
    assert f"--seed {','.join(map(str, seeds['vessel']))} " in COMMANDS["vessels_from_dicom.py"]
    output = run("vessels_from_dicom.py", {"ct-series": str(folder)})
    count = int(re.match(r"(\d+) voxels", output)[1])
    for name in ("vessels.png", "slice.png"):
        check_picture(tmp_path / "vessels" / name)
    vessels = itk.array_from_image(itk.imread(str(tmp_path / "vessels" / "vessels.nii.gz")))
    strength = itk.array_from_image(itk.imread(str(tmp_path / "vessels" / "strength.nii.gz")))
    np.testing.assert_array_equal(vessels == 1, strength >= np.float32(0.4))
    assert count == vessels.sum() and 1000 < count < 20000
    # The vessels are as bright as contrast agent in the portal vein.
    ct = itk.array_from_image(itk.imread(str(folder)))
    assert 150 < ct[vessels == 1].mean() < 250


def test_edited_seeds(run, ct_series, tmp_path):
    folder, seeds = ct_series
    # The README shows the seeds of the CT.
    for name in ("vessel", "liver", "bone"):
        assert "=" + ",".join(map(str, seeds[name])) in COMMANDS["edit_seeds.py"]
    lines = run(
        "edit_seeds.py", {"ct-series": str(folder)}, "--margin", "margin.nii.gz", "--picture", "labels.png"
    ).splitlines()
    check_picture(tmp_path / "labels.png")
    assert [line.split(":")[0] for line in lines[:6]] == ["add 1", "add 2", "add 3", "add 4", "delete 3", "add 3"]
    assert re.fullmatch(r"the same labels from the beginning: \d+\.\d+ s", lines[6])
    labels = itk.imread(str(tmp_path / "labels.nii.gz"))
    assert geometry(tmp_path / "labels.nii.gz") == geometry(tmp_path / "margin.nii.gz")
    for name, label in (("vessel", 1), ("liver", 2), ("bone", 3)):
        assert labels.GetPixel(seeds[name]) == label
    counts = np.bincount(itk.array_from_image(labels).ravel(), minlength=5)
    assert counts[0] == 0 and counts[4] > 0.3 * counts.sum()
    assert 0 < counts[1] < counts[3] < counts[2]


def test_dask(run, head, tmp_path):
    pytest.importorskip("dask")
    zarr = pytest.importorskip("zarr")
    output = run("large_volume_with_dask.py", head)
    assert "18 chunks of (62, 128, 128)" in output
    assert "equal to the maps of the whole image in all 5079040 values, bit for bit" in output
    check_picture(tmp_path / "chunks.png")
    written = zarr.open(str(tmp_path / "maps.zarr"), mode="r")[...]
    features = [f"glrlm_{name}" for name in "SRE LRE GLN RLN RP".split()]
    expected = voxelmaps.feature_maps(head["head.nii.gz"], features=features, bin_count=32)
    np.testing.assert_array_equal(written, np.moveaxis(expected.array, 0, -1))


def test_pytorch_channels(run, head, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    image = itk.imread(head["head.nii.gz"])
    array = itk.array_view_from_image(image)
    names = {}
    for name, mask in (("mask", array > array.mean()), ("cut", array[1:] > 0), ("empty", array < 0)):
        names[name] = str(tmp_path / f"{name}.nii.gz")
        itk.imwrite(itk.image_from_array(mask.astype(np.uint8)), names[name])
    output = run("pytorch_channels.py", {**head, "mask.nii.gz": names["mask"]})
    assert "image (62, 128, 128): 11 channels (11, 62, 128, 128) in " in output
    losses = re.findall(r"^step \d+: input \(4, 11, 32, 32, 32\), loss (\S+)$", output, flags=re.MULTILINE)
    assert len(losses) == 6 and float(losses[-1]) < 0.5 * float(losses[0])
    dice, device = re.search(r"Dice coefficient (\S+); .* are on (\S+)$", output).groups()
    assert float(dice) > 0.8 and device in ("cpu", "cuda:0")
    for options, message in (
        ([names["cut"]], r"cut.nii.gz has the shape \(61, 128, 128\), but .* has \(62, 128, 128\)"),
        ([names["empty"]], "no voxel of .*empty.nii.gz is other than 0"),
        ([names["mask"], "--device", "cuda:99"], "CUDA"),
        ([names["mask"], "--levels", "0"], "bin_count is 0, but must be 1 to 65535"),
    ):
        command = [sys.executable, str(EXAMPLES / "pytorch_channels.py"), head["head.nii.gz"], *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 1 and re.search(f"^pytorch_channels.py: .*{message}.*\n$", done.stderr), done.stderr


def test_radiomics_on_device(run, head, tmp_path):
    image = itk.imread(head["head.nii.gz"])
    array = itk.array_view_from_image(image)
    mask = itk.image_from_array((array > np.percentile(array, 95)).astype(np.uint8))
    mask.CopyInformation(image)
    name = str(tmp_path / "mask.nii.gz")
    itk.imwrite(mask, name)
    output = run("radiomics_on_device.py", {**head, "mask.nii.gz": name})
    header, *rows, last = output.splitlines()
    assert header.split("\t")[:2] == ["image", "firstorder_Mean"]
    names = [row.split("\t")[0] for row in rows]
    assert names[:4] == ["original", "log-sigma-1-mm", "log-sigma-2-mm", "log-sigma-3-mm"] and len(names) == 12
    values = np.array([row.split("\t")[1:] for row in rows], float)
    assert np.isfinite(values).all() and (values[:, 3:] > 0).all()
    assert last.startswith("12 images with ")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "radiomics_on_device.py"), head["head.nii.gz"], name, "--spacing", "0"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1 and "spacing" in done.stderr and done.stderr.count("\n") == 1


def test_feature_pictures(run, head, tmp_path):
    output = run("feature_pictures.py", head, "--radius", "1")
    voxels = re.findall(r"^(\w+): (\d+) maps of (\d+) voxels$", output, flags=re.MULTILINE)
    classes = "firstorder 18, glcm 24, gldm 14, glrlm 16, glszm 16, ngtdm 5"
    assert ", ".join(f"{name} {maps}" for name, maps, _ in voxels) == classes
    assert int(voxels[0][2]) > 1000
    for name, _, _ in voxels:
        check_picture(tmp_path / "feature-pictures" / f"{name}.png")


WRONG = [
    ("feature_pictures.py", "missing.nii.gz out", "missing.nii.gz"),
    (
        "feature_pictures.py",
        "head.nii.gz out --mask empty.nii.gz",
        "no voxel of the mask is 1 .*; it has only the value 0",
    ),
    ("texture_maps_of_a_nifti.py", "missing.nii.gz out", "missing.nii.gz"),
    ("texture_maps_of_a_nifti.py", "head.nii.gz out --features SRE,XYZ", "XYZ"),
    ("habitats.py", "flat.png out", "flat.png has 2 dimensions, but must have 3"),
    ("vessels_from_dicom.py", "head.nii.gz out --seed 1,2,300", "300"),
    ("vessels_from_dicom.py", "head.nii.gz out --seed 47,76,31 --threshold 0.9999999", "no vessel is found"),
    ("compare_with_pyradiomics.py", "missing.nii.gz out", "missing.nii.gz"),
    ("large_volume_with_dask.py", "missing.nii.gz out", "missing.nii.gz"),
    ("edit_seeds.py", "head.nii.gz out.nii.gz --add 1=1,2,300", "the stroke .* of label 1 leaves the image"),
]


@pytest.mark.parametrize("name, arguments, message", WRONG)
def test_wrong_input_makes_one_line(name, arguments, message, head, tmp_path):
    libraries = {"vessels": "vtk", "habitats": "sklearn", "compare": "radiomics", "large": "zarr"}
    pytest.importorskip(libraries.get(re.match("[a-z]+", name)[0], "matplotlib"))
    image = itk.imread(head["head.nii.gz"])
    empty = itk.image_duplicator(image)
    empty.FillBuffer(0)
    itk.imwrite(empty, str(tmp_path / "empty.nii.gz"))
    itk.imwrite(itk.image_from_array(np.eye(9, dtype=np.uint8)), str(tmp_path / "flat.png"))
    arguments = [head.get(a, a) for a in arguments.split()]
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and re.fullmatch(f"{name}: .*{message}.*\n", done.stderr), done.stderr
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.nii.gz").exists()


def test_pyradiomics(run, head, tmp_path):
    pytest.importorskip(
        "radiomics", reason="PyRadiomics is not installed; see scripts/python-environment.sh", exc_type=ImportError
    )
    output = run("compare_with_pyradiomics.py", head)
    check_picture(tmp_path / "comparison" / "comparison.png")
    blocks = re.findall(
        r"^(.*): (\d+) voxels; .*\n  equal after rounding to float: ([\d.]+) %; .*: (\d+)\n.*difference: (.*)$",
        output,
        flags=re.MULTILINE,
    )
    assert [b[0] for b in blocks] == ["solid mask", "scattered mask", "sheet of 2 voxels"]
    for title, _, equal, nans, differences in blocks:
        values = [float(v) for v in re.findall(r" (\S+?)(?:,|$)", differences)]
        assert len(values) == 16
        if title == "solid mask":
            # Fixed point 1/i^2 makes a few of LGRE, SRLGE and LRLGE neighboring floats.
            assert float(equal) > 99.9
        assert int(nans) == 0 and max(values) < 2**-22
