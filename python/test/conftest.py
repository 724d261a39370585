# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures."""

import os
import pathlib
import subprocess
import sys

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


@pytest.fixture
def segmented_by_program(run_program, tmp_path):
    """The labels, strength and margin that the program FuzzyConnectedness computes with parameters of voxelmaps.labels; without
    competition, the strength of one object alone."""
    itk = pytest.importorskip("itk", reason="ITK, which writes the files of the program, is not installed")
    renamed = {"object_mean": "mean", "object_variance": "variance", "estimation_radius": "estimate-radius"}
    values = {"absolute_difference": "absolute", "lowest_label": "lowest"}

    def compute(x, seeds, mask=None, spacing=None, **parameters):
        paths = {name: tmp_path / f"{name}.nrrd" for name in ("x", "seeds", "mask", "labels", "strength", "margin")}
        for name, array in (("x", np.asarray(x, float)), ("seeds", seeds), ("mask", mask)):
            if array is not None:
                image = itk.image_from_array(array if name == "x" else np.asarray(array, np.uint8))
                image.SetSpacing([float(size) for size in reversed(spacing or [1] * x.ndim)])
                itk.imwrite(image, str(paths[name]))
        options = [paths["x"], paths["strength"], "--seed-image", paths["seeds"]]
        options += [] if mask is None else ["--mask", paths["mask"]]
        outputs = ["labels", "strength", "margin"] if "competition" in parameters else ["strength"]
        options += ["--labels", paths["labels"], "--margin", paths["margin"]] if len(outputs) == 3 else []
        if parameters.pop("distance_weighting", False):
            options.append("--distance-weighting")
        if "adjacency" in parameters:
            of_dimension = {2: (4, 8, 8), 3: (6, 18, 26)}[x.ndim]
            adjacency = ("face", "face_edge", "full").index(parameters.pop("adjacency"))
            options += ["--connectivity", of_dimension[adjacency]]
        if "tie_rule" in parameters:
            parameters["ties"] = parameters.pop("tie_rule")
        for name, value in parameters.items():
            value = values.get(value, str(value).replace("_", "-"))
            options += ["--" + renamed.get(name, name.replace("_", "-")), value]
        run_program("FuzzyConnectedness", *options)
        return [itk.array_from_image(itk.imread(str(paths[name]))) for name in outputs]

    return compute


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
        name, indices = line.split(" seed ")
        seeds[name] = [int(i) for i in indices.split(",")]
    return folder, seeds
