# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures."""

import os
import pathlib
import subprocess
import sys

import pytest
from array_libraries import library  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]


def folder_of(variable, default, file, remedy):
    """The folder that the environment variable names, or its default in the checkout; without the file, the test is skipped."""
    folder = pathlib.Path(os.environ.get(variable) or ROOT / default)
    if not (folder / file).is_file():
        pytest.skip(f"{folder / file} is missing: {remedy}, or set {variable} to its folder")
    return folder


@pytest.fixture(scope="session")
def data():
    """Folder of the images of real heads."""
    return folder_of("VOXELMAPS_DATA", "build/data", "BrainT1Slice.png", "run scripts/fetch-data.sh")


@pytest.fixture(scope="session")
def cpp_examples():
    """Folder of the C++ examples."""
    return folder_of("VOXELMAPS_EXAMPLES", "build/examples", "FeatureMaps", "run scripts/test.sh, which builds it")


@pytest.fixture(scope="session")
def ct_series(tmp_path_factory):
    """DICOM series of voxelmaps.sample_ct, and its seeds by name."""
    folder = tmp_path_factory.mktemp("ct") / "series"
    script = ROOT / "examples" / "write_sample_ct.py"
    text = subprocess.run([sys.executable, script, folder], check=True, capture_output=True, text=True).stdout
    seeds = {}
    for line in text.splitlines():
        name, _, indices, *_ = line.split()
        seeds[name] = [int(i) for i in indices.split(",")]
    return folder, seeds
