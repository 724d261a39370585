# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Comparison with the reference implementations on random arrays."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import with_effect

import connectedness_oracle
import cooccurrence_oracle
import dependence_oracle
import first_order_oracle
import gray_tone_difference_oracle
import run_length_oracle
import size_zone_oracle

# Shape, radius, gray levels, distances of pairs, and whether there is a mask.
SCENES = [
    ((9, 8), 1, 2, [1], False),
    ((8, 7), (3, 1), 9, [1, 2], True),
    ((4, 5, 4), 1, 3, [1], False),
    ((4, 5, 6), (0, 2, 1), 40, [2], True),
]


def scattered(shape, density):
    return np.random.default_rng(3).random(shape) < density


def thin(shape, kind):
    """Mask in which windows have directions without two voxels in line."""
    mask = np.zeros(shape, bool)
    if kind == "sheet":
        mask[2] = True
    elif kind == "pair of sheets":
        mask[2:4] = True
    elif kind == "line":
        mask[(2,) * (len(shape) - 1)] = True
    elif kind == "diagonal":
        mask[(np.arange(min(shape)),) * len(shape)] = True
    elif kind == "single voxels":
        mask[(slice(None, None, 4),) * len(shape)] = True
    return mask


def scene(mask, levels):
    """Gray levels, many of which are 1, everywhere and inside a mask."""
    random = np.random.default_rng(levels)
    image = random.integers(1, levels + 1, mask.shape).astype(np.uint8)
    image[random.random(mask.shape) < 0.3] = 1
    return image, np.where(mask, image, 0)


def maps_of(name, names, x, mask=None, **parameters):
    """Maps of a class with the features as last axis, as the oracles have them."""
    return np.moveaxis(voxelmaps.feature_maps(x, mask, features={name: names}, **parameters).array, 0, -1)


@pytest.mark.parametrize("aggregation", ["average", "merge"])
@pytest.mark.parametrize(
    "mask, radius, levels",
    [
        (scattered((9, 8), 1), 1, 2),
        (scattered((11, 7), 0.7), 2, 4),
        (scattered((7, 12), 0.7), (3, 1), 9),
        (scattered((6, 5, 4), 1), 1, 3),
        (scattered((4, 5, 6), 0.7), 2, 5),
        (scattered((3, 6, 5), 0.7), (0, 1, 2), 2),
        (scattered((9, 10), 0.3), 1, 4),
        (scattered((6, 7, 8), 0.1), 1, 4),
        (scattered((5, 7, 6), 0.4), (2, 0, 1), 4),
        (thin((6, 7), "line"), 1, 4),
        (thin((7, 6), "diagonal"), 2, 4),
        (thin((5, 6, 7), "sheet"), 1, 4),
        (thin((6, 5, 4), "pair of sheets"), (2, 0, 1), 4),
        (thin((5, 6, 7), "line"), 2, 4),
        (thin((6, 6, 6), "diagonal"), 1, 4),
        (thin((9, 6, 5), "single voxels"), (1, 3, 1), 4),
    ],
)
def test_run_lengths(mask, radius, levels, aggregation):
    image, inside = scene(mask, levels)
    names = run_length_oracle.NAMES
    maps = maps_of("glrlm", names, image, mask, gray_levels=levels, neighborhood_radius=radius, aggregation=aggregation)
    run_length_oracle.check(maps, run_length_oracle.feature_maps(inside, radius, aggregation), names)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("aggregation", ["average", "merge"])
@pytest.mark.parametrize("shape, radius, levels, distances, masked", SCENES)
def test_cooccurrence(shape, radius, levels, distances, masked, aggregation, symmetric):
    mask = scattered(shape, 0.6 if masked else 1)
    image, inside = scene(mask, levels)
    oracle, kind = cooccurrence_oracle, dict(aggregation=aggregation, symmetric=symmetric)
    maps = maps_of(
        "glcm",
        oracle.NAMES,
        image,
        mask,
        gray_levels=levels,
        neighborhood_radius=radius,
        distances=distances,
        **kind,
    )
    offsets = oracle.all_offsets(len(shape), distances)
    oracle.check(maps, oracle.feature_maps(inside, radius, offsets, levels, **kind), oracle.NAMES)


@pytest.mark.parametrize("alpha", [0, 1, 50])
@pytest.mark.parametrize("shape, radius, levels, distances, masked", SCENES)
def test_dependences(shape, radius, levels, distances, masked, alpha):
    mask = scattered(shape, 0.6 if masked else 1)
    image, inside = scene(mask, levels)
    maps = maps_of(
        "gldm",
        dependence_oracle.NAMES,
        image.astype(np.float64),
        mask,
        gray_levels=levels,
        neighborhood_radius=radius,
        distances=distances,
        alpha=alpha,
        precision="double",
    )
    offsets = cooccurrence_oracle.all_offsets(len(shape), distances)
    dependence_oracle.check(maps, dependence_oracle.feature_maps(inside, radius, offsets, alpha))


@pytest.mark.parametrize("shape, radius, levels, distances, masked", SCENES)
def test_gray_tone_differences(shape, radius, levels, distances, masked):
    mask = scattered(shape, 0.4 if masked else 1)
    image, inside = scene(mask, levels)
    oracle = gray_tone_difference_oracle
    maps = maps_of(
        "ngtdm", oracle.NAMES, image, mask, gray_levels=levels, neighborhood_radius=radius, distances=distances
    )
    offsets = cooccurrence_oracle.all_offsets(len(shape), distances)
    oracle.check(maps, oracle.feature_maps(inside, radius, offsets), oracle.NAMES)


@pytest.mark.parametrize(
    "shape, radius, levels, masked",
    [
        ((9, 8), 1, 2, False),
        ((11, 7), (3, 1), 9, True),
        ((6, 5, 4), 1, 3, False),
        ((4, 5, 6), (0, 2, 2), 5, True),
        ((4, 5, 6), 2, 5, True),
        ((9, 9, 9), 4, 2, True),
    ],
)
def test_size_zones(shape, radius, levels, masked):
    mask = scattered(shape, 0.6 if masked else 1)
    mask[4:5, 4:] = True
    image, inside = scene(mask, levels)
    oracle = size_zone_oracle
    maps = maps_of("glszm", oracle.NAMES, image, mask, gray_levels=levels, neighborhood_radius=radius)
    oracle.check(maps, oracle.feature_maps(inside, radius), oracle.NAMES)


def test_windows_of_any_size_and_anchor():
    mask, size, anchor = scattered((5, 6, 4), 0.7), (2, 3, 4), (1, 0, 2)
    image, inside = scene(mask, 3)
    oracle = size_zone_oracle
    maps = maps_of("glszm", oracle.NAMES, image, mask, gray_levels=3, window_size=size, window_anchor=anchor)
    expected = np.zeros(maps.shape)
    for voxel in np.argwhere(mask):
        starts = voxel - anchor
        window = inside[tuple(map(slice, np.maximum(starts, 0), starts + size))]
        features = oracle.features_of(oracle.count_zones(window))
        expected[tuple(voxel)] = [float(features[name]) for name in oracle.NAMES]
    oracle.check(maps, expected, oracle.NAMES)


def equal_bins(x, number, low, high):
    return np.clip(np.floor(number * (x - float(low)) / (float(high) - float(low))) + 1, 1, number).astype(np.uint16)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize(
    "shape, radius, levels, masked",
    [
        ((9, 8), 1, 2, False),
        ((11, 7), (3, 1), 9, True),
        ((6, 5, 4), 1, 32, False),
        ((4, 5, 6), 2, 5, True),
    ],
)
def test_first_order(shape, radius, levels, masked, dtype):
    random = np.random.default_rng(levels)
    image = random.integers(0, 120, shape).astype(dtype)
    if image.dtype.kind == "f":
        image += random.random(shape).astype(dtype)
    mask, spacing = scattered(shape, 0.7 if masked else 1), (0.5, 3, 1.25)[: len(shape)]
    names = first_order_oracle.NAMES
    maps = maps_of(
        "firstorder",
        names,
        image,
        mask,
        number_of_gray_levels=levels,
        neighborhood_radius=radius,
        voxel_array_shift=40.0,
        spacing=spacing,
    )
    inside = np.where(mask, equal_bins(image, levels, image[mask].min(), image[mask].max()), 0)
    expected = first_order_oracle.feature_maps(image, inside, radius, names, shift=40.0, volume=np.prod(spacing))
    first_order_oracle.check(maps, expected, names)


def test_gray_levels_are_those_of_numpy():
    x = np.random.default_rng(5).normal(0, 10, (9, 8)).astype(np.float32)
    mask = np.abs(x) < 15
    low, high, edges = x[mask].min(), x[mask].max(), np.arange(-10, 30, 7.5)
    for parameters, levels in (
        (dict(bin_width=7.5), np.floor(x / 7.5) - np.floor(low / 7.5) + 1),
        (dict(bin_width=7.5, intensity_range="image"), np.floor(x / 7.5) - np.floor(x.min() / 7.5) + 1),
        (dict(number_of_gray_levels=6), equal_bins(x, 6, low, high)),
        (dict(number_of_gray_levels=6, intensity_range="image"), equal_bins(x, 6, x.min(), x.max())),
        (dict(number_of_gray_levels=6, intensity_range=(-5, 9)), equal_bins(x, 6, -5, 9)),
        (dict(bin_edges=edges), np.digitize(x, edges)),
    ):
        maps = voxelmaps.feature_maps(x, mask, features="glrlm", **parameters).array
        levels = np.where(mask, levels, 0).astype(np.uint16)
        expected = voxelmaps.feature_maps(levels, features="glrlm", gray_levels=int(levels.max())).array
        np.testing.assert_array_equal(maps, expected)


def test_selection_is_apart_from_the_mask():
    x, selection = scene(scattered((6, 7, 8), 0.3), 100)
    everywhere = voxelmaps.feature_maps(x, features="glrlm").array
    selected = voxelmaps.feature_maps(x, features="glrlm", selection=selection, background_value=-1.5).array
    np.testing.assert_array_equal(selected, np.where(selection, everywhere, -1.5))


@pytest.mark.parametrize("adjacency", ["face", "face_edge", "full"])
@pytest.mark.parametrize("function", ["geometric_mean", "minimum", "homogeneity"])
@pytest.mark.parametrize("shape", [(23, 17), (7, 9, 8)])
def test_connectedness(shape, function, adjacency):
    random = np.random.default_rng(len(shape))
    image = random.integers(90, 130, shape).astype(np.int16)
    mask = random.random(shape) < 0.8
    inside = np.argwhere(mask)
    seeds = [tuple(inside[i]) for i in (3, len(inside) // 2)]
    affinity = {"object_mean": 108.0, "object_variance": 150.0, "difference_variance": 45.0}
    expected = connectedness_oracle.strengths(image, seeds, adjacency, mask, function=function, **affinity)
    actual = voxelmaps.fuzzy_connectedness(
        image, seeds, mask, affinity=function, adjacency=adjacency, **with_effect(function, affinity)
    )
    assert len(np.unique(expected)) > 5
    np.testing.assert_array_equal(actual, expected)


def test_oracles_find_a_wrong_result():
    """The comparison detects a difference of one unit in the last place in one voxel."""
    image = np.random.default_rng(0).integers(1, 4, (6, 7)).astype(np.uint8)
    expected = run_length_oracle.feature_maps(image, 1)
    wrong = expected.astype(np.float32)
    run_length_oracle.check(wrong, expected, run_length_oracle.NAMES)
    wrong[2, 3, 0] = np.nextafter(wrong[2, 3, 0], np.float32(2))
    with pytest.raises(AssertionError):
        run_length_oracle.check(wrong, expected, run_length_oracle.NAMES)
