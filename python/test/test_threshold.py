# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.suggest_threshold has the values of GetSuggestedThreshold of the ITK filter."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import library


def leaking(noise, shape):
    """Two bright boxes with a bridge of one voxel, and noise."""
    rng = np.random.default_rng(noise)
    x = np.zeros(shape, np.float32)
    x[..., 4:16, 3:14] = x[..., 4:16, 15:28] = 100
    x[..., 9, 14] = 75
    return x + noise * rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(20, 30), (3, 20, 30)])
@pytest.mark.parametrize("noise", [0, 2, 8])
def test_equals_the_filter(noise, shape):
    itk = pytest.importorskip("itk")
    if not hasattr(itk, "fuzzy_connectedness_image_filter"):
        pytest.skip("itk-voxelmaps is not installed")
    spacing, seed = (2.5, 0.8, 0.7)[-len(shape) :], (1, 9, 8)[-len(shape) :]
    image = itk.image_from_array(leaking(noise, shape))
    image.SetSpacing(spacing[::-1])
    affinity = itk.FuzzyConnectednessAffinity([100.0], [900.0], [], [400.0])
    filter = itk.FuzzyConnectednessImageFilter.New(image, seed=seed[::-1], affinity=affinity)
    filter.Update()
    strength = itk.array_from_image(filter.GetOutput())
    found = []
    for volume in (0.0, 30.0, 66.1, 200.0, 1e6):
        found.append(voxelmaps.suggest_threshold(strength, seed, minimum_volume=volume, spacing=spacing))
        assert found[-1] == filter.GetSuggestedThreshold(volume)
        assert found[-1] == voxelmaps.suggest_threshold(filter.GetOutput(), minimum_volume=volume)
    filter.SetEstimationRadius(1)
    assert voxelmaps.suggest_threshold(strength, estimation_radius=1) == filter.GetSuggestedThreshold()
    assert found[0] > 0 and found[-1] == 0


def test_libraries_and_known_voxels(library):
    strength = np.array([[1.0] * 30, [0.9] * 20 + [0.8] * 10, [0.2] * 30, [0.1] * 30], np.float32)
    assert voxelmaps.suggest_threshold(library(strength)) == 1.0
    # The object also contains a voxel behind the first leak.
    assert voxelmaps.suggest_threshold(library(strength), [(0, 0), (1, 25)]) == np.float32(0.8)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"strength": np.ones((3, 3)) * 7}, "strength has values from 7.0 to 7.0, but must be from 0 to 1"),
        ({"strength": np.ones(3)}, "strength has 1 axes, but must have 2 or 3"),
        ({"strength": np.eye(3), "minimum_volume": -2}, "minimum_volume is -2, but must be at least 0 and finite"),
        ({"strength": np.eye(3), "seeds": (3, 0)}, r"the seed \(3, 0\) is not an index"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        voxelmaps.suggest_threshold(**arguments)
