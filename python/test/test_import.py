# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What importing the package voxelmaps imports."""

import importlib.metadata
import itertools
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
import voxelmaps
from voxelmaps import _files

OTHERS = ["itk", "SimpleITK", "xarray", "vtk", "yaml", "ruamel.yaml", "radiomics"]
# Modules that have to do with no image of ITK, and errors before any image.
STATEMENTS = [
    *(f"import voxelmaps{module}" for module in ("", ".radiomics", "._cli", "._files.dicom", "._cohort.cases")),
    "import voxelmaps\ntry: voxelmaps.list_dicom_series('missing')\nexcept FileNotFoundError: pass\nelse: 1 / 0",
    "import voxelmaps\ntry: voxelmaps.radiomics.execute(None, None, binWidth=0)\nexcept ValueError: pass\nelse: 1 / 0",
    "import voxelmaps\ntry: voxelmaps.nothing\nexcept AttributeError: pass\nelse: 1 / 0",
]


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)


def run_code(code):
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_other_library_is_loaded(statement):
    assert run_code(f"import sys\n{statement}\nprint([name for name in {OTHERS} if name in sys.modules])") == "[]"


def test_version(tmp_path):
    assert voxelmaps.__version__ == importlib.metadata.version("voxelmaps") and "__version__" in dir(voxelmaps)
    # As in a frozen program.
    code = "import importlib.metadata as m, sys; m.version = lambda name: exec('raise m.PackageNotFoundError'); import voxelmaps; print(voxelmaps.__version__)"
    assert run_code(code) == voxelmaps.__version__
    # Looking for the metadata takes time.
    code = "import numpy, sys; before = 'importlib.metadata' in sys.modules; import voxelmaps; "
    assert run_code(code + "print(before or 'importlib.metadata' not in sys.modules)") == "True"
    # Files of the package alone have none.
    (tmp_path / "voxelmaps").mkdir()
    (tmp_path / "voxelmaps" / "__init__.py").write_text(pathlib.Path(voxelmaps.__file__).read_text("utf-8"))
    code = f"import sys; sys.path = [*sys.path, {str(tmp_path)!r}]; import voxelmaps; voxelmaps.__version__"
    done = run("-I", "-S", "-c", code)
    assert "AttributeError: module voxelmaps has no version: voxelmaps is not installed" in done.stderr


def test_least_versions():
    """All requirements have one, those that readers check are the same, and all are there for this Python."""
    with open(pathlib.Path(__file__).parents[2] / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    given = [
        each for each in itertools.chain(project["dependencies"], *extras.values()) if not each.startswith("voxelmaps")
    ]
    least = {}
    for requirement in given:
        name, version = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)(?:,<[\d.]+)?", requirement).groups()
        least[name] = version
    assert _files.LEAST.items() <= least.items()
    code = "import {0}; {0}.__version__ = '0.1'; from voxelmaps._files import library; library('{0}', 'reading a.nii')"
    done = run("-c", code.format("nibabel"))
    assert (
        'reading a.nii needs nibabel 5.0 or later, but 0.1 is installed: pip install --upgrade "voxelmaps[files]"'
        in done.stderr
    )


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
