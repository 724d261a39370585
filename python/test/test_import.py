# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What importing the package voxelmaps imports, and its other name itk.voxelmaps."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest
import voxelmaps

OTHERS = ["itk", "SimpleITK", "xarray", "vtk", "yaml", "ruamel.yaml", "radiomics"]
# What has to do with no image of ITK.
WITHOUT_ITK = ["voxelmaps", "voxelmaps.radiomics", "voxelmaps.program", "voxelmaps._dicom", "voxelmaps._program_cases"]
MODULES = sorted(path.stem for path in pathlib.Path(voxelmaps.__file__).parent.glob("*.py"))
MODULES = [name for name in MODULES if name not in ("__init__", "__main__", "_radiomics_extractor")]


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
from voxelmaps import _radiomics_images as images, _radiomics_parameters as parameters
image = SimpleITK.GetImageFromArray(np.arange(8 * 9 * 10, dtype=np.int16).reshape(8, 9, 10))
mask = SimpleITK.GetImageFromArray(np.ones((8, 9, 10), np.uint8))
settings = {name: setting.default for name, setting in parameters.SETTINGS.items()}
settings.update(resampledPixelSpacing=[2, 2, 2], normalize=True, preCrop=True, resegmentRange=[-3, 3])
volumes = [images.load(value, "the image")[0] for value in (image, mask)]
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
    assert voxelmaps.__version__ == importlib.metadata.version("itk-voxelmaps") and "__version__" in dir(voxelmaps)
    # Looking for the metadata takes time.
    code = "import numpy, sys; before = 'importlib.metadata' in sys.modules; import voxelmaps; "
    assert run_code(code + "print(before or 'importlib.metadata' not in sys.modules)") == "True"
    # Files of the package alone have none.
    (tmp_path / "voxelmaps").mkdir()
    (tmp_path / "voxelmaps" / "__init__.py").write_text(pathlib.Path(voxelmaps.__file__).read_text())
    code = f"import sys; sys.path = [*sys.path, {str(tmp_path)!r}]; import voxelmaps; voxelmaps.__version__"
    done = run("-I", "-S", "-c", code)
    assert "AttributeError: module voxelmaps has no version: itk-voxelmaps is not installed" in done.stderr


def test_package_without_itk():
    code = """
import sys
sys.modules["itk"] = sys.modules["itkConfig"] = None
import voxelmaps
try:
    voxelmaps.crop_slices
except ImportError as error:
    print(error)
"""
    assert run_code(code) == "this part of voxelmaps needs ITK: pip install 'itk>=5.4,<5.5'"


# --- itk.voxelmaps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "imports",
    [
        "import itk.voxelmaps, voxelmaps",
        "import voxelmaps, itk.voxelmaps",
        "from itk import voxelmaps as other; import itk, voxelmaps; assert other is voxelmaps",
        "import voxelmaps, itk; voxelmaps.SeedSession; itk.RunLengthFeatureMapImageFilter",
        "import itk; itk.run_length_feature_map_image_filter; import voxelmaps",
    ],
)
def test_itk_voxelmaps_is_the_same_package(imports):
    code = f"{imports}\nassert itk.voxelmaps is voxelmaps and voxelmaps.__name__ == 'voxelmaps'"
    run_code(code)


@pytest.mark.parametrize("itk_first", [True, False])
def test_modules_are_the_same_by_both_names(itk_first):
    prefixes = ("itk.voxelmaps", "voxelmaps") if itk_first else ("voxelmaps", "itk.voxelmaps")
    code = "import importlib, sys\n"
    for prefix in prefixes:
        code += f"for name in {MODULES}: importlib.import_module('{prefix}.' + name)\n"
    code += f"""
import itk.voxelmaps.radiomics
import voxelmaps
from itk.voxelmaps import SeedSession, program, radiomics
from itk.voxelmaps.radiomics import execute
for name in {MODULES}:
    module = sys.modules["voxelmaps." + name]
    assert sys.modules["itk.voxelmaps." + name] is module
    assert module.__name__ == module.__spec__.name == "voxelmaps." + name
assert itk.voxelmaps.radiomics is radiomics is voxelmaps.radiomics
assert program is voxelmaps.program and execute is voxelmaps.radiomics.execute
assert SeedSession is voxelmaps.SeedSession and SeedSession.__module__ == "voxelmaps._seed_session"
"""
    run_code(code)


def test_modules_that_do_not_exist():
    done = run("-c", "import itk.voxelmaps.nothing")
    assert "No module named 'itk.voxelmaps.nothing'" in done.stderr


@pytest.mark.parametrize("module", ["voxelmaps", "itk.voxelmaps", "voxelmaps.program", "itk.voxelmaps.program"])
def test_program_by_name_of_module(module):
    done = run("-m", module, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"TextureFeatureMaps {importlib.metadata.version('itk-voxelmaps')}"
