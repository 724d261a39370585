# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What importing the package voxelmaps imports."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest
import voxelmaps

OTHERS = ["itk", "SimpleITK", "xarray", "vtk", "yaml", "ruamel.yaml", "radiomics"]
# What has to do with no image of ITK.
WITHOUT_ITK = [
    "voxelmaps",
    "voxelmaps.radiomics",
    "voxelmaps._cli",
    "voxelmaps._files.dicom",
    "voxelmaps._cohort.cases",
]


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)


def run_code(code):
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("module", WITHOUT_ITK)
def test_import_loads_no_other_library(module):
    code = f"import sys, {module}; print([name for name in {OTHERS} if name in sys.modules])"
    assert run_code(code) == "[]"


@pytest.mark.parametrize(
    "call, error",
    [
        ("voxelmaps.list_dicom_series('missing')", "FileNotFoundError"),
        ("voxelmaps.radiomics.execute(None, None, binWidth=0)", "ValueError"),
        ("voxelmaps.nothing", "AttributeError"),
    ],
)
def test_errors_before_any_image_load_no_other_library(call, error):
    code = f"import sys, voxelmaps\ntry: {call}\nexcept {error}: print([n for n in {OTHERS} if n in sys.modules])"
    assert run_code(code) == "[]"


def test_version(tmp_path):
    assert voxelmaps.__version__ == importlib.metadata.version("voxelmaps") and "__version__" in dir(voxelmaps)
    # Looking for the metadata takes time.
    code = "import numpy, sys; before = 'importlib.metadata' in sys.modules; import voxelmaps; "
    assert run_code(code + "print(before or 'importlib.metadata' not in sys.modules)") == "True"
    # Files of the package alone have none.
    (tmp_path / "voxelmaps").mkdir()
    (tmp_path / "voxelmaps" / "__init__.py").write_text(pathlib.Path(voxelmaps.__file__).read_text("utf-8"))
    code = f"import sys; sys.path = [*sys.path, {str(tmp_path)!r}]; import voxelmaps; voxelmaps.__version__"
    done = run("-I", "-S", "-c", code)
    assert "AttributeError: module voxelmaps has no version: voxelmaps is not installed" in done.stderr


def test_package_without_itk():
    pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    code = """
import sys
sys.modules["itk"] = sys.modules["itkConfig"] = None
import numpy as np, voxelmaps, SimpleITK
from voxelmaps import *
try:
    read_dicom_series("missing")
except FileNotFoundError as error:
    print(error)
x, seeds = np.random.default_rng(0).integers(0, 100, (8, 9, 10)), {1: (1, 2, 3), 2: (4, 5, 6)}
session = SeedSession(x, mask=np.ones(x.shape, bool))
print((session.update(seeds) == labels(x.astype(float), seeds)).all(), len(feature_maps(x, features="glcm")))
images = [SimpleITK.GetImageFromArray(array) for array in (x, np.ones(x.shape, np.uint8))]
settings = dict(resampledPixelSpacing=[2, 2, 2], normalize=True, preCrop=True, resegmentRange=[-3, 3])
result = radiomics.execute(*images, featureClass="glrlm", hashes=True, **settings)
print(result["diagnostics_Image-interpolated_Size"])
"""
    assert run_code(code) == "the DICOM series missing does not exist\nTrue 24\n(5, 5, 4)"
