# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Whole processes: what depends on the library of ITK that is loaded first, on the version of ITK, and on the end of the
interpreter."""

import importlib.metadata
import subprocess
import sys

import pytest

START = "import itk, numpy as np\na = np.zeros((9, 9), np.uint8)\n"
ITK = "itk.ShiftScaleImageFilter.New(itk.image_from_array(a)).Update()\n"
MODULE = "itk.run_length_feature_map_image_filter(a)\n"
THREADER = "print(itk.MultiThreaderBase.GetGlobalDefaultThreader(), itk.MultiThreaderBase.New().GetNameOfClass())\n"


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("code", [MODULE, ITK + MODULE, MODULE + ITK, "import voxelmaps\n" + ITK + MODULE])
def test_processes_end_and_leave_itk_as_it_is(code):
    """The interpreter ends, and the module neither needs nor changes the threads of ITK's own filters."""
    expected, actual = run(START + ITK + THREADER), run(START + code + THREADER)
    assert expected.returncode == 0, expected.stderr
    assert actual.returncode == 0, actual.stderr
    assert actual.stdout == expected.stdout
    assert actual.stderr == expected.stderr


@pytest.mark.parametrize("version", ["5.3.0", "6.0.0"])
def test_another_version_of_itk_is_refused(version):
    use = "import itk; itk.RunLengthFeatureMapImageFilter"
    done = run(f"import itkConfig; itkConfig.ITK_GLOBAL_VERSION_STRING = '{version}'; {use}")
    assert done.returncode == 1
    assert f"ImportError: itk-voxelmaps needs itk 5.4, but this is itk {version}; " in done.stderr


def test_another_version_of_the_package_is_refused():
    done = run("import voxelmaps; voxelmaps.__version__ = '0.2.9'; import itk; itk.RunLengthFeatureMapImageFilter")
    version = importlib.metadata.version("itk-voxelmaps")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: itk-voxelmaps {version} needs voxelmaps {version}, but this is voxelmaps 0.2.9; "
        f"install it with: pip install voxelmaps=={version}"
    )
