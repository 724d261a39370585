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
# ==========================================================================
"""Runs the Python commands of examples/README.md."""

import os
import pathlib
import re
import struct
import subprocess
import sys

import itk
import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
COMMANDS = dict(
    re.findall(r"^python3 examples/(\w+\.py) (.*)$", (EXAMPLES / "README.md").read_text(), flags=re.MULTILINE)
)


def size_of_png(path):
    header = path.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", header[16:24])


def check_picture(path):
    """Check that a picture is at least 300 pixels wide and not uniform."""
    assert size_of_png(path)[0] >= 300
    pixels = itk.array_from_image(itk.imread(str(path), itk.UC))
    assert len(np.unique(pixels)) > 10


@pytest.fixture
def run(tmp_path):
    def run(name, replacements, *more):
        arguments = [replacements.get(a, a) for a in COMMANDS[name].split()] + list(more)
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
    text = (EXAMPLES / "README.md").read_text()
    for picture in re.findall(r"\(images/([^)]*)\)", text):
        path = EXAMPLES / "images" / picture
        assert path.stat().st_size < 150_000 and size_of_png(path)[0] >= 300


def test_texture_maps(run, head, tmp_path):
    pytest.importorskip("matplotlib")
    output = run("texture_maps_of_a_nifti.py", head)
    assert "16 maps and overview.png" in output
    check_picture(tmp_path / "texture-maps" / "overview.png")
    image = itk.imread(head["head.nii.gz"])
    expected = itk.array_from_image(itk.run_length_feature_map_image_filter(image, features=["SRE", "RE"]))
    for i, name in enumerate(["SRE", "RE"]):
        path = tmp_path / "texture-maps" / f"{name}.nii.gz"
        assert geometry(path) == geometry(head["head.nii.gz"])
        np.testing.assert_array_equal(itk.array_from_image(itk.imread(str(path))), expected[..., i])


def test_habitats(run, head, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    output = run("habitats.py", head)
    assert len(re.findall(r"^habitat \d: ", output, flags=re.MULTILINE)) == 4
    check_picture(tmp_path / "habitats" / "habitats.png")
    path = tmp_path / "habitats" / "habitats.nii.gz"
    assert geometry(path) == geometry(head["head.nii.gz"])
    labels = itk.array_from_image(itk.imread(str(path)))
    image = itk.array_from_image(itk.imread(head["head.nii.gz"]))
    assert set(np.unique(labels)) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(labels > 0, image > image.mean())
    means = [image[labels == label].mean() for label in (1, 2, 3, 4)]
    assert means == sorted(means)
    # Habitats are regions: most neighbors have the same label, far more than with random labels (25 %).
    both = (labels[:, :, 1:] > 0) & (labels[:, :, :-1] > 0)
    assert (labels[:, :, 1:] == labels[:, :, :-1])[both].mean() > 0.8


def test_vessels(run, ct_series, tmp_path):
    pytest.importorskip("vtk")
    folder, seeds = ct_series
    assert f"--seed {','.join(map(str, seeds['vessel']))} " in COMMANDS["vessels_from_dicom.py"]
    output = run("vessels_from_dicom.py", {"ct-series": str(folder)})
    count = int(re.match(r"(\d+) voxels", output)[1])
    check_picture(tmp_path / "vessels" / "vessels.png")
    vessels = itk.array_from_image(itk.imread(str(tmp_path / "vessels" / "vessels.nii.gz")))
    strength = itk.array_from_image(itk.imread(str(tmp_path / "vessels" / "strength.nii.gz")))
    np.testing.assert_array_equal(vessels == 1, strength >= np.float32(0.4))
    assert count == vessels.sum() and 1000 < count < 20000
    # The vessels are as bright as contrast agent in the portal vein.
    ct = itk.array_from_image(itk.imread(str(folder)))
    assert 150 < ct[vessels == 1].mean() < 250


def test_dask(run, head, tmp_path):
    pytest.importorskip("dask")
    zarr = pytest.importorskip("zarr")
    output = run("large_volume_with_dask.py", head)
    assert "18 chunks of (62, 128, 128)" in output
    assert "equal to the maps of the whole image in all 5079040 values, bit for bit" in output
    check_picture(tmp_path / "chunks.png")
    written = zarr.open(str(tmp_path / "maps.zarr"), mode="r")[...]
    expected = itk.run_length_feature_map_image_filter(
        itk.array_from_image(itk.imread(head["head.nii.gz"])), features="SRE LRE GLN RLN RP".split()
    )
    np.testing.assert_array_equal(written, expected)


def test_dask_cluster(run, head, tmp_path, monkeypatch):
    """The same script on a dask cluster: here, two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        output = run("large_volume_with_dask.py", head, "--scheduler", cluster.scheduler_address)
        # The cluster did the work.
        with distributed.Client(cluster) as client:
            moved = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.transition_log))
        assert moved > 18
    assert "bit for bit" in output


def test_feature_pictures(run, head, tmp_path):
    output = run("feature_pictures.py", head, "--radius", "1")
    voxels = re.findall(r"^(\w+): (\d+) maps of (\d+) voxels$", output, flags=re.MULTILINE)
    assert [(name, int(maps)) for name, maps, _ in voxels] == [("firstorder", 18), ("glcm", 23), ("glrlm", 16)]
    assert int(voxels[0][2]) > 1000
    for name, _, _ in voxels:
        check_picture(tmp_path / "feature-pictures" / f"{name}.png")


def test_pyradiomics(run, head, tmp_path):
    pytest.importorskip(
        "radiomics", reason="PyRadiomics is not installed; see scripts/test-python.sh", exc_type=ImportError
    )
    output = run("compare_with_pyradiomics.py", head)
    check_picture(tmp_path / "comparison" / "comparison.png")
    blocks = re.findall(
        r"^(.*): (\d+) voxels; .*\n  equal after rounding to float: ([\d.]+) %; .*: (\d+)\n.*difference: (.*)$",
        output,
        flags=re.MULTILINE,
    )
    assert [b[0] for b in blocks] == [
        "solid mask",
        "scattered mask",
        "scattered mask, same rule",
        "sheet of 2 voxels, same rule",
    ]
    for title, _, equal, nans, differences in blocks:
        values = [float(v) for v in re.findall(r" (\S+?)(?:,|$)", differences)]
        assert len(values) == 16
        if title == "solid mask":
            # Fixed point 1/i^2 makes a few of LGRE, SRLGE and LRLGE neighboring floats.
            assert float(equal) > 99.9
        if title == "scattered mask":
            # The two rules give different results.
            assert int(nans) > 0 and max(values) > 0.1
        else:
            assert int(nans) == 0 and max(values) < 2**-22
