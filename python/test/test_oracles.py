# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Comparison with the reference implementations on random arrays."""

import itk
import numpy as np
import pytest
import voxelmaps

import connectedness_oracle
import cooccurrence_oracle
import dependence_oracle
import first_order_oracle
import gray_tone_difference_oracle
import run_length_oracle
import size_zone_oracle

NAMES = "SRE LRE GLN RLN RP LGRE HGRE SRLGE SRHGE LRLGE LRHGE GLNN RLNN GLV RV RE".split()


@pytest.mark.parametrize("aggregation", ["average", "merge"])
@pytest.mark.parametrize(
    "shape, radius, levels, masked",
    [
        ((9, 8), 1, 2, False),
        ((11, 7), 2, 4, True),
        ((7, 12), (3, 1), 9, True),
        ((6, 5, 4), 1, 3, False),
        ((4, 5, 6), 2, 5, True),
        ((3, 6, 5), (0, 1, 2), 2, True),
    ],
)
def test_run_lengths(shape, radius, levels, masked, aggregation):
    random = np.random.default_rng(hash((shape, levels)) % 2**32)
    image = random.integers(0, levels, shape).astype(np.uint8)
    mask = random.random(shape) < 0.7 if masked else np.ones(shape, bool)
    offsets = run_length_oracle.all_directions(len(shape))
    maps = itk.run_length_feature_map_image_filter(
        image,
        mask_image=mask,
        discretization_method="identity",
        number_of_gray_levels=levels,
        neighborhood_radius=radius if np.isscalar(radius) else radius[::-1],
        offsets=[d[::-1] for d in offsets],
        aggregation=aggregation,
        features="all",
    )
    expected = run_length_oracle.feature_maps(np.where(mask, image + 1, 0), radius, offsets, aggregation, NAMES)
    run_length_oracle.check(maps, expected, NAMES)


def test_run_lengths_per_direction():
    random = np.random.default_rng(5)
    image = random.integers(0, 3, (6, 7)).astype(np.uint16)
    maps = itk.run_length_feature_map_image_filter(
        image, discretization_method="identity", number_of_gray_levels=3, aggregation="per_direction"
    )
    names = voxelmaps.feature_names(2, aggregation="per_direction")
    assert maps.shape == (6, 7, 44) and len(names) == 44
    for n, name in enumerate(names):
        feature, x, y = name.split("_")
        expected = run_length_oracle.feature_maps(image + 1, 2, [(int(y), int(x))], names=[feature])
        run_length_oracle.check(maps[..., [n]], expected, [feature])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("aggregation", ["average", "merge", "per_direction"])
@pytest.mark.parametrize(
    "shape, radius, levels, distances, masked",
    [
        ((9, 8), 1, 2, [1], False),
        ((8, 7), (3, 1), 9, [1, 2], True),
        ((4, 5, 4), 1, 3, [1], False),
        ((4, 5, 6), (0, 2, 1), 40, [2], True),
    ],
)
def test_cooccurrence(shape, radius, levels, distances, masked, aggregation, symmetric):
    random = np.random.default_rng(levels)
    image = random.integers(1, levels + 1, shape).astype(np.uint8)
    image[random.random(shape) < 0.3] = 1
    mask = random.random(shape) < 0.6 if masked else np.ones(shape, bool)
    parameters = {
        "mask_image": mask,
        "discretization_method": "levels",
        "number_of_gray_levels": levels,
        "neighborhood_radius": radius if np.isscalar(radius) else radius[::-1],
        "distances": distances,
        "aggregation": aggregation,
        "symmetric": symmetric,
    }
    maps = itk.cooccurrence_feature_map_image_filter(image, **parameters)
    instance = itk.CooccurrenceFeatureMapImageFilter.New(itk.image_from_array(image), distances=distances)
    offsets = [d[::-1] for d in instance.GetOffsets()]
    assert len(offsets) == len(cooccurrence_oracle.all_offsets(len(shape), distances))
    expected = cooccurrence_oracle.feature_maps(
        np.where(mask, image, 0), radius, offsets, levels, aggregation, symmetric
    )
    names = cooccurrence_oracle.NAMES * (len(offsets) if aggregation == "per_direction" else 1)
    cooccurrence_oracle.check(maps, expected, names)


def test_cooccurrence_by_names():
    enums = itk.CooccurrenceFeatureMapEnums
    image = itk.image_from_array(np.arange(30, dtype=np.int16).reshape(5, 6))
    instance = itk.CooccurrenceFeatureMapImageFilter.New(image)
    assert len(instance.GetFeatures()) == 24
    instance.SetFeatures(["Idm", "JointEntropy", "CON", "inverse_difference_normalized"])
    assert [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()] == ["IDM", "JE", "CON", "IDN"]
    for name in ("MCC", "mcc", "MaximalCorrelationCoefficient"):
        instance.SetFeatures([name])
        assert [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()] == ["MCC"]
    instance.SetOffsets("in-plane")
    assert instance.GetOffsets() == [[1, 0], [-1, 1], [0, 1], [1, 1]]
    instance.SetOffsets([[3, -2]])
    assert instance.GetOffsets() == [[3, -2]]
    instance.SetDistances([2])
    assert len(instance.GetOffsets()) == 8
    with pytest.raises(RuntimeError, match="The distance 0 is not possible"):
        instance.SetDistances([0])


@pytest.mark.parametrize("alpha", [0, 1, 50])
@pytest.mark.parametrize(
    "shape, radius, levels, distances, masked",
    [
        ((9, 8), 1, 2, [1], False),
        ((8, 7), (3, 1), 9, [1, 2], True),
        ((4, 5, 4), 1, 3, [1], False),
        ((4, 5, 6), (0, 2, 1), 40, [2], True),
    ],
)
def test_dependences(shape, radius, levels, distances, masked, alpha):
    random = np.random.default_rng(levels)
    image = random.integers(1, levels + 1, shape).astype(np.float64)
    image[random.random(shape) < 0.3] = 1
    mask = random.random(shape) < 0.6 if masked else np.ones(shape, bool)
    input_image = itk.image_from_array(image)
    filter = itk.DependenceFeatureMapImageFilter[type(input_image), itk.VectorImage[itk.D, len(shape)]].New(
        input_image,
        mask_image=mask,
        discretization_method="levels",
        number_of_gray_levels=levels,
        neighborhood_radius=radius if np.isscalar(radius) else radius[::-1],
        distances=distances,
        alpha=alpha,
    )
    filter.Update()
    maps = itk.array_from_image(filter.GetOutput())
    offsets = cooccurrence_oracle.all_offsets(len(shape), distances)
    assert len(filter.GetOffsets()) == len(offsets)
    expected = dependence_oracle.feature_maps(np.where(mask, image, 0).astype(int), radius, offsets, alpha)
    dependence_oracle.check(maps, expected)


def test_dependences_by_names():
    enums = itk.DependenceFeatureMapEnums
    instance = itk.DependenceFeatureMapImageFilter.New(itk.image_from_array(np.ones((5, 6), np.int16)))
    assert len(instance.GetFeatures()) == 14 and instance.GetAlpha() == 0
    instance.SetFeatures(["DependenceEntropy", "lde", "gray_level_variance"])
    assert [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()] == ["DE", "LDE", "GLV"]
    instance.SetOffsets("in-plane")
    assert instance.GetOffsets() == [[1, 0], [-1, 1], [0, 1], [1, 1]]


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
    mask = random.random(shape) < 0.7 if masked else np.ones(shape, bool)
    parameters = {"mask_image": mask, "number_of_gray_levels": levels}
    level_image = itk.gray_level_discretization_image_filter(image, **parameters)
    maps = itk.first_order_feature_map_image_filter(
        image,
        neighborhood_radius=radius if np.isscalar(radius) else radius[::-1],
        voxel_array_shift=40.0,
        features="all",
        **parameters,
    )
    names = first_order_oracle.NAMES
    expected = first_order_oracle.feature_maps(image, level_image, radius, names, shift=40.0)
    first_order_oracle.check(maps, expected, names)


def test_first_order_by_the_names_of_pyradiomics():
    enums = itk.FirstOrderFeatureMapEnums
    image = itk.image_from_array(np.arange(30, dtype=np.int16).reshape(5, 6))
    instance = itk.FirstOrderFeatureMapImageFilter.New(image)
    instance.SetFeatures(["10Percentile", "Median", "SKE", "root_mean_squared"])
    abbreviations = [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()]
    assert abbreviations == ["P10", "MED", "SKE", "RMS"]


@pytest.mark.parametrize("count", [True, False])
@pytest.mark.parametrize(
    "shape, radius, levels, distances, masked",
    [
        ((9, 8), 1, 2, [1], False),
        ((8, 7), (3, 1), 9, [1, 2], True),
        ((4, 5, 4), 1, 3, [1], False),
        ((4, 5, 6), (0, 2, 1), 40, [2], True),
    ],
)
def test_gray_tone_differences(shape, radius, levels, distances, masked, count):
    random = np.random.default_rng(levels)
    image = random.integers(1, levels + 1, shape).astype(np.uint8)
    image[random.random(shape) < 0.3] = 1
    mask = random.random(shape) < 0.4 if masked else np.ones(shape, bool)
    maps = itk.gray_tone_difference_feature_map_image_filter(
        image,
        mask_image=mask,
        discretization_method="levels",
        number_of_gray_levels=levels,
        neighborhood_radius=radius if np.isscalar(radius) else radius[::-1],
        distances=distances,
        count_voxels_without_neighbors=count,
    )
    oracle = gray_tone_difference_oracle
    offsets = oracle.all_offsets(len(shape), distances)
    oracle.check(maps, oracle.feature_maps(np.where(mask, image, 0), radius, offsets, count), oracle.NAMES)


def test_gray_tone_differences_by_names():
    enums = itk.GrayToneDifferenceFeatureMapEnums
    image = itk.image_from_array(np.arange(30, dtype=np.int16).reshape(5, 6))
    instance = itk.GrayToneDifferenceFeatureMapImageFilter.New(image)
    assert len(instance.GetFeatures()) == 5
    instance.SetFeatures(["Coarseness", "BUS", "strength"])
    assert [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()] == ["COA", "BUS", "STR"]


@pytest.mark.parametrize("connectivity", ["full", "in_plane"])
@pytest.mark.parametrize(
    "shape, radius, levels, masked",
    [
        ((9, 8), 1, 2, False),
        ((11, 7), (3, 1), 9, True),
        ((6, 5, 4), 1, 3, False),
        ((4, 5, 6), 2, 5, True),
        ((9, 9, 9), 4, 2, True),
    ],
)
def test_size_zones(shape, radius, levels, masked, connectivity):
    random = np.random.default_rng(levels)
    image = random.integers(1, levels + 1, shape).astype(np.uint8)
    mask = random.random(shape) < 0.6 if masked else np.ones(shape, bool)
    mask[4:5, 4:] = True
    maps = itk.size_zone_feature_map_image_filter(
        image,
        mask_image=mask,
        discretization_method="levels",
        number_of_gray_levels=levels,
        neighborhood_radius=radius if np.isscalar(radius) else radius[::-1],
        connectivity=connectivity,
        features="all",
    )
    expected = size_zone_oracle.feature_maps(np.where(mask, image, 0), radius, connectivity == "in_plane")
    size_zone_oracle.check(maps, expected, size_zone_oracle.NAMES)


def test_size_zones_by_names():
    enums = itk.SizeZoneFeatureMapEnums
    instance = itk.SizeZoneFeatureMapImageFilter.New(itk.image_from_array(np.arange(30, dtype=np.int16).reshape(5, 6)))
    assert len(instance.GetFeatures()) == 16
    instance.SetFeatures(["SmallAreaEmphasis", "ZP", "LargeAreaEmphasis", "ZoneEntropy"])
    assert [enums.GetAbbreviation(feature) for feature in instance.GetFeatures()] == ["SAE", "ZP", "LAE", "ZE"]
    with pytest.raises(ValueError, match="RunEntropy"):
        instance.SetFeatures(["RunEntropy"])


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


@pytest.mark.parametrize("kind", ["array", "image"])
@pytest.mark.parametrize(
    "mask, radius",
    [
        (scattered((9, 10), 0.3), 1),
        (scattered((6, 7, 8), 0.1), 1),
        (scattered((5, 7, 6), 0.4), (2, 0, 1)),
        (thin((6, 7), "line"), 1),
        (thin((7, 6), "diagonal"), 2),
        (thin((5, 6, 7), "sheet"), 1),
        (thin((6, 5, 4), "pair of sheets"), (2, 0, 1)),
        (thin((5, 6, 7), "line"), 2),
        (thin((6, 6, 6), "diagonal"), 1),
        (thin((9, 6, 5), "single voxels"), (1, 3, 1)),
    ],
)
def test_directions_of_single_voxels(mask, radius, kind):
    random = np.random.default_rng(3)
    image = random.integers(0, 4, mask.shape).astype(np.uint8)
    names = ["LRE", "GLN", "RP", "GLV"]
    directions = run_length_oracle.all_directions(mask.ndim)
    expected = run_length_oracle.feature_maps(
        np.where(mask, image + 1, 0), radius, directions, names=names, skip_directions_without_pairs=True
    )
    parameters = {
        "mask_image": mask,
        "discretization_method": "identity",
        "number_of_gray_levels": 4,
        "neighborhood_radius": radius if np.isscalar(radius) else radius[::-1],
        "features": names,
    }
    maps = voxelmaps.run_length_feature_maps(
        itk.image_from_array(image) if kind == "image" else image, skip_single_voxel_directions=True, **parameters
    )
    assert list(maps) == names
    without_rule = itk.run_length_feature_map_image_filter(image, **parameters)
    for i, name in enumerate(names):
        # One rounding to float.
        np.testing.assert_allclose(np.asarray(maps[name]), expected[..., i], rtol=2**-23)
        assert not np.allclose(without_rule[..., i], expected[..., i], equal_nan=True)


def test_windows_without_pairs_are_nan():
    mask = thin((9, 10), "single voxels")
    image = np.ones(mask.shape, np.uint8)
    maps = voxelmaps.run_length_feature_maps(
        image, mask_image=mask, neighborhood_radius=3, skip_single_voxel_directions=True
    )
    merged = itk.run_length_feature_map_image_filter(
        image, mask_image=mask, neighborhood_radius=3, aggregation="merge", skip_directions_without_pairs=True
    )
    for values in [*maps.values(), *np.moveaxis(merged, -1, 0)]:
        np.testing.assert_array_equal(values, np.where(mask, np.nan, 0))


def test_selection_is_apart_from_the_mask():
    random = np.random.default_rng(4)
    image = random.integers(0, 100, (6, 7, 8)).astype(np.uint8)
    selection = random.random(image.shape) < 0.3
    everywhere = itk.run_length_feature_map_image_filter(image, number_of_gray_levels=5)
    selected = itk.run_length_feature_map_image_filter(image, number_of_gray_levels=5, selection_image=selection)
    np.testing.assert_array_equal(selected, np.where(selection[..., np.newaxis], everywhere, 0))


def test_edges_are_those_of_numpy():
    random = np.random.default_rng(5)
    image = random.normal(0, 10, (9, 8)).astype(np.float32)
    edges = np.arange(-25, 30, 7.5)
    parameters = {"discretization_method": "levels", "number_of_gray_levels": len(edges)}
    levels = np.digitize(image, edges).astype(np.uint16)
    np.testing.assert_array_equal(
        itk.run_length_feature_map_image_filter(image, discretization_method="edges", bin_edges=edges.tolist()),
        itk.run_length_feature_map_image_filter(levels, **parameters),
    )


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
    actual = itk.fuzzy_connectedness_image_filter(
        image,
        seeds=[s[::-1] for s in seeds],
        mask_image=mask,
        affinity_function=function,
        adjacency=adjacency,
        **({"difference_variance": 45.0} if function == "homogeneity" else affinity),
    )
    assert len(np.unique(expected)) > 5
    np.testing.assert_array_equal(actual, expected)


def test_oracles_find_a_wrong_result():
    """The comparison detects a difference of one unit in the last place in one voxel."""
    image = np.random.default_rng(0).integers(0, 3, (6, 7)).astype(np.uint8)
    directions = run_length_oracle.all_directions(2)
    expected = run_length_oracle.feature_maps(image + 1, 1, directions, names=["SRE", "LGRE"])
    wrong = expected.astype(np.float32)
    run_length_oracle.check(wrong, expected, ["SRE", "LGRE"])
    wrong[2, 3, 0] = np.nextafter(wrong[2, 3, 0], np.float32(2))
    with pytest.raises(AssertionError):
        run_length_oracle.check(wrong, expected, ["SRE", "LGRE"])
