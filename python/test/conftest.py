# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures."""

import os
import pathlib
import subprocess

import numpy as np
import pytest


@pytest.fixture
def make_image():
    """Make a 3D image with nontrivial origin, spacing and direction."""

    import itk

    def make(shape, seed=0):
        image = itk.image_from_array(np.random.default_rng(seed).integers(0, 200, shape).astype(np.int16))
        image.SetSpacing([0.5, 0.75, 2.0])
        image.SetOrigin([-10.0, 20.0, 5.0])
        image.SetDirection(itk.matrix_from_array(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])))
        return image

    return make


@pytest.fixture(scope="session")
def programs():
    """Folder of the C++ programs."""
    folder = os.environ.get("VOXELMAPS_PROGRAMS", "")
    if not (pathlib.Path(folder) / "FeatureMaps").is_file():
        pytest.skip("no C++ programs; set VOXELMAPS_PROGRAMS to the folder that contains FeatureMaps")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def run_program(programs):
    def run(name, *arguments):
        command = [str(programs / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def data():
    """Folder of the images that scripts/fetch-data.sh takes from Debian's package of ITK examples."""
    folder = pathlib.Path(os.environ.get("VOXELMAPS_DATA", ""))
    if not (folder / "BrainT1Slice.png").is_file():
        pytest.skip("no images of real heads; run scripts/fetch-data.sh and set VOXELMAPS_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def ct_series(run_program, tmp_path_factory):
    """DICOM series of a synthetic liver CT, and its seeds by name."""
    folder = tmp_path_factory.mktemp("ct") / "series"
    text = run_program("SyntheticLiverCT", folder, "--dicom", "--size", "192,192,80")
    seeds = {}
    for line in text.splitlines():
        if " seed " in line:
            name, indices = line.split(" seed ")
            seeds[name] = [int(i) for i in indices.split(",")]
    return folder, seeds
