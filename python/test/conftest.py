# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures."""

import os
import pathlib
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def data():
    """Folder of the images that scripts/fetch-data.sh takes from Debian's package of ITK examples."""
    folder = pathlib.Path(os.environ.get("VOXELMAPS_DATA", ""))
    if not (folder / "BrainT1Slice.png").is_file():
        pytest.skip("no images of real heads; run scripts/fetch-data.sh and set VOXELMAPS_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def ct_series(tmp_path_factory):
    """DICOM series of voxelmaps.sample_ct, and its seeds by name."""
    folder = tmp_path_factory.mktemp("ct") / "series"
    script = pathlib.Path(__file__).resolve().parents[2] / "examples" / "write_sample_ct.py"
    text = subprocess.run([sys.executable, script, folder], check=True, capture_output=True, text=True).stdout
    seeds = {}
    for line in text.splitlines():
        name, _, indices, *_ = line.split()
        seeds[name] = [int(i) for i in indices.split(",")]
    return folder, seeds
