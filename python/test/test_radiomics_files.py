# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Maps of voxelmaps.radiomics as files: values, memory, and what is there already; test_cohorts.py has the geometry."""

import gzip
import os
import pathlib
import subprocess
import sys

import itk
import nibabel
import numpy as np
import pytest
from voxelmaps._files import writing as files
from voxelmaps.radiomics import _settings as parameters
from voxelmaps import radiomics

pytest.importorskip("resource")

CLASSES = list(parameters.CLASSES)
OPTIONS = {"binWidth": 10, "additionalInfo": False, "minimumROIDimensions": 1}


def scene(shape):
    rng = np.random.default_rng(0)
    arrays = rng.integers(0, 100, shape).astype(np.int16), (rng.random(shape) < 0.7).astype(np.uint8)
    return [itk.image_from_array(array) for array in arrays]


@pytest.mark.parametrize("precision", ["float", "double"])
@pytest.mark.parametrize("shape", [(7, 9, 8), (1, 12, 9), (13, 14)])
def test_files_hold_the_maps(shape, precision, tmp_path, monkeypatch):
    """Values, as nibabel reads them, for slabs of any thickness."""
    image, mask = scene(shape)
    names = [name for name in CLASSES if len(shape) == 3 or name != "firstorder"]
    arguments = {"featureClass": names, "precision": precision, **OPTIONS, "additionalInfo": True}
    result = radiomics.execute(image, mask, **arguments)
    maps = {key: value for key, value in result.items() if "diagnostics" not in key}
    for slab in (1, 20000, 2**26):
        monkeypatch.setattr(files, "_SLAB_BYTES", slab)
        paths = radiomics.execute(image, mask, out_dir=tmp_path / "maps", **arguments)
        assert list(paths) == list(result)
        assert paths == result | {key: tmp_path / "maps" / f"{key}.nii.gz" for key in maps}
        for key in maps:
            values, expected = np.asarray(nibabel.load(paths[key]).dataobj).T, itk.array_from_image(maps[key])
            np.testing.assert_array_equal(values, expected)
            assert values.dtype == expected.dtype == {"float": np.float32, "double": np.float64}[precision]
    assert sorted(p.name for p in (tmp_path / "maps").iterdir()) == sorted(f"{key}.nii.gz" for key in maps)


def test_folders_that_cannot_be_used(tmp_path):
    image, mask = scene((7, 9, 8))
    arguments = {"featureClass": {"firstorder": ["Mean"]}, **OPTIONS}
    # What a run that was killed has left.
    stale = tmp_path / "used" / ".voxelmaps-killed"
    stale.mkdir(parents=True)
    (stale / "original_glcm_Contrast.nii.gz").write_text("half")
    os.utime(stale, (1, 1))
    # What another process writes now.
    (tmp_path / "used" / ".voxelmaps-now").mkdir()
    (tmp_path / "used" / "original_firstorder_Mean.nii.gz").write_text("old")
    radiomics.execute(image, mask, out_dir=tmp_path / "used", **arguments)
    assert sorted(os.listdir(tmp_path / "used")) == [".voxelmaps-now", "original_firstorder_Mean.nii.gz"]
    assert gzip.open(tmp_path / "used" / "original_firstorder_Mean.nii.gz").read()
    # A folder has the name of a map.
    (tmp_path / "taken" / "original_firstorder_Mean.nii.gz").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match="original_firstorder_Mean.nii.gz"):
        radiomics.execute(image, mask, out_dir=tmp_path / "taken", **arguments)


PEAK = """
import pathlib, re, sys
import itk, numpy as np
from voxelmaps import radiomics
from voxelmaps._files import writing as _radiomics_files
_radiomics_files._SLAB_BYTES = _radiomics_files._SLAB_BYTES_OF_DEVICE = 2**25
shape = (60, 200, 200)
image = itk.image_from_array(np.random.default_rng(0).integers(0, 100, shape).astype(np.uint8))
mask = itk.image_from_array(np.ones(shape, np.uint8))
features = radiomics._settings.CLASSES["firstorder"].all_features()
options = {"additionalInfo": False, "precision": "double", "out_dir": None if sys.argv[1] == "memory" else sys.argv[1]}
# Not ru_maxrss, which begins with the memory of the process that started this one.
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
# What input and preparation take: all but the maps.
radiomics.execute(image, mask, featureClass={"firstorder": ["Minimum"]}, **options)
before = peak()
maps = radiomics.execute(image, mask, featureClass={"firstorder": features}, **options)
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_that_of_a_slab(tmp_path):
    """In megabytes, beyond the peak of the preparation: the maps are 345; those of two slabs 64, and what is copied of them."""
    peaks = []
    for where in ("memory", tmp_path):
        done = subprocess.run([sys.executable, "-c", PEAK, str(where)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.split()[0]))
    assert peaks[0] > 200 and peaks[1] < 100, peaks
    assert len(list(pathlib.Path(tmp_path).iterdir())) == 18
