# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The maps of a voxel are the features of the region that its window is, which test_regions.py compares with PyRadiomics; gray levels
and selections."""

import numpy as np
import pytest
import voxelmaps
from voxelmaps._feature_maps import CLASSES

# Features of regions are computed in double precision; those of maps partly from fixed-point numbers.
TOLERANCE = {"rtol": 2**-22, "atol": 1e-7}


def scattered(shape, density):
    return np.random.default_rng(3).random(shape) < density


def thin(shape, kind):
    """Mask in which windows have directions without two voxels in line."""
    index = {
        "sheet": 2,
        "pair of sheets": slice(2, 4),
        "line": (2,) * (len(shape) - 1),
        "diagonal": (np.arange(min(shape)),) * len(shape),
        "single voxels": (slice(None, None, 4),) * len(shape),
    }
    mask = np.zeros(shape, bool)
    mask[index[kind]] = True
    return mask


def gray_levels(mask, levels):
    """Gray levels, many of which are 1."""
    random = np.random.default_rng(levels)
    return np.where(random.random(mask.shape) < 0.3, 1, random.integers(1, levels + 1, mask.shape)).astype(np.uint8)


def regions_of_windows(x, mask, size, anchor, **parameters):
    """Maps with a call of region_features for each voxel."""
    expected = {}
    for voxel in np.argwhere(mask):
        starts = voxel - anchor
        window = tuple(map(slice, np.maximum(starts, 0), np.maximum(starts + size, 0)))
        for name, values in voxelmaps.region_features(
            x[window], mask[window], minimum_dimensions=0, **parameters
        ).items():
            expected.setdefault(name, np.zeros(x.shape))[tuple(voxel)] = values[0]
    return expected


@pytest.mark.parametrize(
    "mask, size, anchor, levels, parameters",
    [
        (scattered((9, 8), 1), (3, 3), (1, 1), 2, {}),
        (scattered((11, 7), 0.7), (7, 3), (3, 1), 9, {"distances": [1, 2], "aggregation": "merge"}),
        (scattered((6, 5, 4), 1), (3, 3, 3), (1, 1, 1), 3, {"alpha": 1, "symmetric": False}),
        (scattered((4, 5, 6), 0.6), (1, 5, 3), (0, 2, 1), 40, {"distances": [2], "alpha": 50}),
        (scattered((5, 6, 4), 0.7), (2, 3, 4), (1, 0, 2), 3, {"aggregation": "merge", "voxel_array_shift": 40}),
        (scattered((9, 9, 9), 0.1), (9, 9, 9), (4, 4, 4), 2, {"symmetric": False, "aggregation": "merge"}),
        (thin((6, 7), "line"), (3, 3), (1, 1), 4, {}),
        (thin((7, 6), "diagonal"), (5, 5), (2, 2), 4, {"aggregation": "merge"}),
        (thin((5, 6, 7), "sheet"), (3, 3, 3), (1, 1, 1), 4, {"spacing": (0.5, 3, 1.25)}),
        (thin((6, 5, 4), "pair of sheets"), (5, 1, 3), (2, 0, 1), 4, {"distances": [1, 2]}),
        (thin((5, 6, 7), "line"), (5, 5, 5), (2, 2, 2), 4, {"alpha": 2}),
        (thin((9, 6, 5), "single voxels"), (3, 7, 3), (1, 3, 1), 4, {}),
        (scattered((5, 6, 7), 0.6), (5, 5, 5), (2, 2, 2), 6, {"weighting_norm": "euclidean", "spacing": (2, 0.5, 1)}),
    ],
)
def test_maps_are_features_of_windows(mask, size, anchor, levels, parameters):
    parameters = {"features": CLASSES, "largest_gray_level": levels, **parameters}
    x = gray_levels(mask, levels)
    maps = voxelmaps.feature_maps(x, mask, window_size=size, window_anchor=anchor, precision="double", **parameters)
    expected = regions_of_windows(x, mask, size, anchor, **parameters)
    assert len(maps) == 94
    for name in maps:
        # A region of one level has the correlation 1; windows of one level of several have not.
        where = expected["firstorder_Entropy"] > 0 if name == "glcm_MCC" else ...
        np.testing.assert_allclose(maps[name][where], expected[name][where], **TOLERANCE, err_msg=name)


@pytest.mark.parametrize("shape", [(7, 9, 11), (2, 2, 2), (1, 5, 6), (6, 1, 1), (8, 9)])
def test_a_mask_of_all_voxels_changes_nothing(shape):
    """Whether or not directions without pairs are looked for."""
    mask = np.ones(shape, bool)
    for window in ({"neighborhood_radius": 1}, {"window_size": 3, "window_anchor": 0}, {"window_size": 2}):
        for bins in ({"largest_gray_level": 9}, {"bin_edges": [0, 5]}):
            given = {"features": "glrlm", **window, **bins}
            maps = [voxelmaps.feature_maps(gray_levels(mask, 9), each, **given).array for each in (None, mask)]
            np.testing.assert_array_equal(*maps)


def equal_bins(x, number, low, high):
    return np.clip(np.floor(number * (x - float(low)) / (float(high) - float(low))) + 1, 1, number).astype(np.uint16)


def test_gray_levels_are_those_of_numpy():
    x = np.random.default_rng(5).normal(0, 10, (9, 8)).astype(np.float32)
    mask = np.abs(x) < 15
    low, high, edges = x[mask].min(), x[mask].max(), np.arange(-10, 30, 7.5)
    for parameters, levels in (
        (dict(bin_width=7.5), np.floor(x / 7.5) - np.floor(low / 7.5) + 1),
        (dict(bin_width=7.5, intensity_range="image"), np.floor(x / 7.5) - np.floor(x.min() / 7.5) + 1),
        (dict(bin_count=6), equal_bins(x, 6, low, high)),
        (dict(bin_count=6, intensity_range="image"), equal_bins(x, 6, x.min(), x.max())),
        (dict(bin_count=6, intensity_range=(-5, 9)), equal_bins(x, 6, -5, 9)),
        (dict(bin_edges=edges), np.digitize(x, edges)),
    ):
        maps = voxelmaps.feature_maps(x, mask, features="glrlm", **parameters).array
        levels = np.where(mask, levels, 0).astype(np.uint16)
        expected = voxelmaps.feature_maps(levels, features="glrlm", largest_gray_level=int(levels.max())).array
        np.testing.assert_array_equal(maps, expected)


def test_selection_is_apart_from_the_mask():
    x, selection = gray_levels(scattered((6, 7, 8), 1), 100), scattered((6, 7, 8), 0.3)
    everywhere = voxelmaps.feature_maps(x, features="glrlm").array
    selected = voxelmaps.feature_maps(x, features="glrlm", selection=selection, background_value=-1.5).array
    np.testing.assert_array_equal(selected, np.where(selection, everywhere, -1.5))
