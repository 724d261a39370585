# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The C++ examples write the same bits as the package; their own tests compare them with each other."""

import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest
import voxelmaps
from array_libraries import itk

DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cpp" / "data"
NAMES = "glcm_Contrast,firstorder_Mean,gldm_DependenceEntropy,glrlm_RunEntropy,glszm_ZonePercentage,ngtdm_Busyness"
SEED = "16,16,10"


@pytest.fixture(scope="session")
def program(cpp_examples):
    """Path of a C++ example by name."""

    def path(name):
        assert (cpp_examples / name).is_file(), f"{name} is not built"
        return str(cpp_examples / name)

    return path


@pytest.fixture
def run(program, tmp_path):
    def call(name, *arguments, prefix=()):
        command = [*prefix, program(name), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return call


def succeed(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(path):
    return itk.array_from_image(itk.imread(str(path)))


@pytest.mark.parametrize("levels", ({"bin_width": 25}, {"bin_count": 32}))
@pytest.mark.parametrize("label", (None, 1))
def test_feature_maps(run, tmp_path, levels, label):
    x, organs = read(DATA / "liver.mha"), read(DATA / "organs.mha")
    mask = None if label is None else organs == label
    expected = voxelmaps.feature_maps(x, mask, features=NAMES.split(","), neighborhood_radius=1, **levels)
    ((key, value),) = levels.items()
    argument = {"bin_width": "width", "bin_count": "levels"}[key] + f"={value}"
    arguments = [NAMES, 1, argument] + ([] if label is None else [DATA / "organs.mha", label])
    for output in ("maps.nrrd", "maps"):
        succeed(run("FeatureMaps", DATA / "liver.mha", output, *arguments))
    maps = voxelmaps.read_maps(tmp_path / "maps.nrrd")
    assert list(maps) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(maps[name], expected[name])
        np.testing.assert_array_equal(read(tmp_path / "maps" / f"{name}.nii.gz"), expected[name])


def test_dicom_series_and_vessels(run, ct_series, tmp_path):
    folder, seeds = ct_series
    prefix = () if "DISPLAY" in os.environ else ("xvfb-run", "-a")
    volume = succeed(
        run("ConnectedVessels", folder, ",".join(map(str, seeds["vessel"])), 0.4, "vessels", prefix=prefix)
    )
    x = itk.array_from_image(voxelmaps.read_dicom_series(folder))
    marked = np.zeros(x.shape, np.uint8)
    marked[tuple(reversed(seeds["vessel"]))] = 1
    strength = voxelmaps.fuzzy_connectedness(x, marked)
    np.testing.assert_array_equal(read(tmp_path / "vessels_strength.nii.gz"), strength)
    np.testing.assert_array_equal(read(tmp_path / "vessels.nii.gz"), strength >= np.float32(0.4))
    assert 20 < float(volume.split()[0]) < 80
    assert (tmp_path / "vessels.vtp").stat().st_size > 100_000
    picture = read(tmp_path / "vessels.png")
    assert picture.shape[:2] == (800, 800) and 0.03 < (picture[..., 1] < 128).mean() < 0.5


def test_edited_seeds(run, tmp_path):
    x = read(DATA / "liver.mha")
    edits = ["1:16,16,10", "2:3,3,3", "1:20,3,3", "undo", "2:3,28,3"]
    lines = succeed(run("EditSeeds", DATA / "liver.mha", "labels.nrrd", *edits)).splitlines()
    assert [line.rpartition(": ")[0] for line in lines] == edits
    seeds = np.zeros(x.shape, np.uint8)
    for edit in ("1:16,16,10", "2:3,3,3", "2:3,28,3"):
        label, index = edit.split(":")
        seeds[tuple(int(i) for i in reversed(index.split(",")))] = int(label)
    # Ties are decided by distances in mm.
    spacing = tuple(itk.spacing(itk.imread(str(DATA / "liver.mha"))))[::-1]
    expected = voxelmaps.labels(x, seeds, spacing=spacing, competition="iterative", affinity="absolute_difference")
    np.testing.assert_array_equal(read(tmp_path / "labels.nrrd"), expected)


def test_chain(run, ct_series, tmp_path):
    folder, seeds = ct_series
    names = ["firstorder_Mean", "glcm_JointEntropy", "glrlm_RunEntropy"]
    seed = ",".join(map(str, seeds["vessel"]))
    ran = succeed(run("ChainFilters", folder, "maps.nrrd", seed, "radius=1")).splitlines()
    assert ran[0].startswith(f"seed={seed}: ImageSeriesReader, MedianImageFilter, FuzzyConnectednessImageFilter, ")
    assert ran[1:] == ["radius=1: FeatureMapsImageFilter, ImageFileWriter"]
    ct = voxelmaps.read_dicom_series(folder)
    x = itk.array_from_image(ct)
    marked = np.zeros(x.shape, np.uint8)
    marked[tuple(reversed(seeds["vessel"]))] = 1
    strength = voxelmaps.fuzzy_connectedness(itk.array_from_image(itk.median_image_filter(ct, radius=1)), marked)
    expected = voxelmaps.feature_maps(x, strength >= 0.5, features=names, neighborhood_radius=1, bin_count=32)
    maps = voxelmaps.read_maps(tmp_path / "maps.nrrd")
    for name in names:
        np.testing.assert_array_equal(maps[name], expected[name])


def test_stream(run, program, tmp_path):
    succeed(run("StreamLargeVolume", DATA / "liver.mha", "maps.mha", -150, 350, 7))
    x = read(DATA / "liver.mha")
    names = [f"glrlm_{name}" for name in ("ShortRunEmphasis", "LongRunEmphasis", "RunPercentage")]
    expected = voxelmaps.feature_maps(x, features=names, bin_count=32, intensity_range=(-150, 350))
    np.testing.assert_array_equal(np.moveaxis(read(tmp_path / "maps.mha"), -1, 0), expected.array)

    large = itk.image_from_array(np.tile(x, (24, 8, 8)))
    itk.imwrite(large, str(tmp_path / "large.mha"))
    command = [program("StreamLargeVolume"), "large.mha", "aborted.mha", "-150", "350", "100"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line != "0 %\n":
                process.send_signal(signal.SIGINT)
                break
        _, error = process.communicate(timeout=60)
    assert process.returncode == 1 and "abort" in error.lower() and error.count("\n") == 1
    assert not (tmp_path / "aborted.mha").exists()


@pytest.mark.parametrize(
    "name, arguments, message",
    (
        ("FeatureMaps", "missing.mha o glcm_Contrast 1 levels=32", "missing.mha"),
        ("FeatureMaps", "liver.mha o glcm_Contrast 1 32", "'32' must be levels=NUMBER or width=WIDTH"),
        ("FeatureMaps", "liver.mha o glcm_Contrast -1 levels=32", "'-1' must be a number without fraction"),
        ("FeatureMaps", "liver.mha o Contrast 1 levels=32", "'Contrast' does not exist: it must begin with its class"),
        ("FeatureMaps", "liver.mha o glcm_Contrasts 1 levels=32", "Contrasts"),
        ("FeatureMaps", "color.mha o glcm_Contrast 1 levels=32", "'color.mha' has 3 components per voxel"),
        ("FeatureMaps", "volumes.nii o glcm_Contrast 1 levels=32", "'volumes.nii' has 2 volumes"),
        ("FeatureMaps", "empty o glcm_Contrast 1 levels=32", "'empty' has 0 DICOM series"),
        ("FeatureMaps", "uneven o glcm_Contrast 1 levels=32", "'uneven' has slices at uneven distances"),
        ("ChainFilters", "uneven o.nrrd 16,16,1", "'uneven' has slices at uneven distances"),
        ("ChainFilters", "liver.mha o.nrrd 16,16,100", "100"),
        ("ChooseDevice", "liver.mha o.nrrd gpu", "'gpu' must be cpu, automatic, cuda or cuda:NUMBER"),
        ("ChooseDevice", "liver.mha o.nrrd cuda:99", "99|NVIDIA driver"),
        ("EditSeeds", "liver.mha o.nrrd undo", "'undo' must be LABEL:X,Y,Z, or undo after a seed"),
        ("EditSeeds", "liver.mha o.nrrd 1:1,2", "'1,2' must be the index X,Y,Z of a voxel"),
        ("EditSeeds", "liver.mha o.nrrd 1:1,2,300", "300"),
        ("ConnectedVessels", "liver.mha 16,16,100 0.4 o", "100"),
        ("StreamLargeVolume", "compressed.mha o.mha 0 100 4", "'compressed.mha' cannot be read by regions"),
    ),
)
def test_errors_are_one_line(run, ct_series, tmp_path, name, arguments, message):
    itk.imwrite(itk.image_from_array(np.ones((4, 4, 3), np.uint8), is_vector=True), str(tmp_path / "color.mha"))
    itk.imwrite(itk.image_from_array(np.ones((2, 4, 4, 4), np.uint8)), str(tmp_path / "volumes.nii"))
    liver = itk.imread(str(DATA / "liver.mha"))
    itk.imwrite(liver, str(tmp_path / "liver.mha"))
    itk.imwrite(liver, str(tmp_path / "compressed.mha"), compression=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "uneven").mkdir()
    for number in (1, 2, 3, 5):
        slice_name = f"slice{number:04}.dcm"
        (tmp_path / "uneven" / slice_name).symlink_to(pathlib.Path(ct_series[0]) / slice_name)
    before = sorted(tmp_path.iterdir())
    done = run(name, *arguments.split())
    error = done.stderr.splitlines()[-1]  # ITK's warnings may stand in front
    assert done.returncode == 1 and error.startswith(f"{name}: "), done.stderr
    assert any(part in error for part in message.split("|")), done.stderr
    assert sorted(tmp_path.iterdir()) == before
