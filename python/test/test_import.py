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


def test_errors_before_any_image_load_no_other_library(tmp_path):
    code = f"""
import sys, voxelmaps
for call in (
    lambda: voxelmaps.list_dicom_series({str(tmp_path / "missing")!r}),
    lambda: voxelmaps.radiomics.execute(None, None, binWidth=0),
    lambda: voxelmaps.nothing,
):
    try:
        call()
    except (AttributeError, FileNotFoundError, ValueError) as error:
        print(type(error).__name__)
print([name for name in {OTHERS} if name in sys.modules])
"""
    assert run_code(code).split("\n") == ["FileNotFoundError", "ValueError", "AttributeError", "[]"]


def test_images_of_simpleitk_are_prepared_without_itk():
    pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    code = """
import sys
import numpy as np, SimpleITK
from voxelmaps.radiomics import _preparation as images
from voxelmaps.radiomics import _settings as parameters
from voxelmaps import _image
image = SimpleITK.GetImageFromArray(np.arange(8 * 9 * 10, dtype=np.int16).reshape(8, 9, 10))
mask = SimpleITK.GetImageFromArray(np.ones((8, 9, 10), np.uint8))
settings = {name: setting.default for name, setting in parameters.SETTINGS.items()}
settings.update(resampledPixelSpacing=[2, 2, 2], normalize=True, preCrop=True, resegmentRange=[-3, 3])
volumes = [_image.load(value, "the image")[0] for value in (image, mask)]
print(images.prepare(*volumes, settings, hashes=True).image.size, "itk" in sys.modules)
"""
    assert run_code(code) == "(5, 5, 4) False"


def test_names():
    assert set(voxelmaps.__all__) <= set(dir(voxelmaps))
    for name in voxelmaps.__all__:
        assert getattr(voxelmaps, name) is not None
    assert not hasattr(voxelmaps, "nothing")
    names = {}
    exec("from voxelmaps import *", names)
    assert set(voxelmaps.__all__) <= set(names)


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
    code = """
import sys
sys.modules["itk"] = sys.modules["itkConfig"] = None
import numpy as np, voxelmaps
from voxelmaps import *
try:
    read_dicom_series("missing")
except FileNotFoundError as error:
    print(error)
x, seeds = np.random.default_rng(0).integers(0, 100, (6, 8, 9)), {1: (1, 2, 3), 2: (4, 5, 6)}
session = SeedSession(x, mask=np.ones(x.shape, bool))
print((session.update(seeds) == labels(x.astype(float), seeds)).all(), len(feature_maps(x, features="glcm")))
"""
    assert run_code(code) == "the DICOM series missing does not exist\nTrue 24"


@pytest.mark.parametrize("module", ["voxelmaps", "voxelmaps.__main__"])
def test_program_by_name_of_module(module):
    done = run("-m", module, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"voxelmaps {importlib.metadata.version('voxelmaps')}"
