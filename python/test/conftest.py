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


@pytest.fixture
def segmented_by_filter():
    """The labels, strength and margin of ITK's filters with parameters of voxelmaps.labels; without competition, the strength of
    one object alone."""
    itk = pytest.importorskip("itk", reason="ITK is not installed")
    if not hasattr(itk, "FuzzyConnectednessImageFilter"):
        pytest.skip("needs itk-voxelmaps")

    def compute(x, seeds, mask=None, spacing=None, **parameters):
        def image(array):
            result = itk.image_from_array(array)
            result.SetSpacing([float(size) for size in reversed(spacing or [1] * x.ndim)])
            return result

        many = "competition" in parameters
        filter_class = itk.RelativeFuzzyConnectednessImageFilter if many else itk.FuzzyConnectednessImageFilter
        parameters["estimate_affinity_from_seeds"] = "difference_variance" not in parameters
        parameters["affinity_function"] = parameters.pop("affinity", "geometric_mean")
        moments = ("object_mean", "object_variance", "difference_mean", "difference_variance")
        affinity = [[float(parameters.pop(name))] if name in parameters else [] for name in moments]
        parameters["affinity"] = itk.FuzzyConnectednessAffinity(*affinity)
        for enums, name in (
            (itk.FuzzyConnectednessEnums, "affinity_function"),
            (itk.FuzzyConnectednessEnums, "adjacency"),
            (itk.RelativeFuzzyConnectednessEnums, "competition"),
            (itk.RelativeFuzzyConnectednessEnums, "tie_rule"),
        ):
            if name in parameters:
                words = f"{name} {parameters[name]}".replace("_", " ").title().split()
                split = len(name.split("_"))
                parameters[name] = getattr(enums, "".join(words[:split]) + "_" + "".join(words[split:]))
        parameters["seed_image"] = image(np.asarray(seeds, np.uint8))
        if mask is not None:
            parameters["mask_image"] = image(np.asarray(mask, np.uint8))
        if many:
            parameters.update(generate_strength_image=True, generate_margin_image=True)
        result = filter_class.New(image(np.asarray(x, float)), **parameters)
        result.Update()
        outputs = [result.GetOutput(), *((result.GetStrengthImage(), result.GetMarginImage()) if many else ())]
        return [itk.array_from_image(output) for output in outputs]

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
