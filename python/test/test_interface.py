# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Functional and object interface: types, parameters, names, errors."""

import itk
import numpy as np
import pytest
import voxelmaps
from voxelmaps import _filters

PIXELS = [np.uint8, np.uint16, np.int16, np.float32]


def random_image(shape, dtype=np.uint8, maximum=200):
    return np.random.default_rng(sum(shape)).integers(0, maximum, shape).astype(dtype)


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
@pytest.mark.parametrize("dtype", PIXELS)
def test_all_pixel_types(dtype, shape):
    array = random_image(shape, dtype)
    image = itk.image_from_array(array)
    maps = itk.run_length_feature_map_image_filter(image, number_of_gray_levels=16)
    assert type(maps) is itk.VectorImage[itk.F, len(shape)]
    reference = itk.run_length_feature_map_image_filter(array.astype(np.float32), number_of_gray_levels=16)
    np.testing.assert_array_equal(itk.array_from_image(maps), reference)

    affinity = {"seed": [2] * len(shape), "object_mean": 100, "object_variance": 900, "difference_variance": 400}
    strength = itk.fuzzy_connectedness_image_filter(image, **affinity)
    assert type(strength) is itk.Image[itk.F, len(shape)]
    reference = itk.fuzzy_connectedness_image_filter(array.astype(np.float32), **affinity)
    np.testing.assert_array_equal(itk.array_from_image(strength), reference)

    levels = itk.gray_level_discretization_image_filter(image, number_of_gray_levels=5)
    assert type(levels) is itk.Image[itk.US, len(shape)]
    array = array.astype(float)
    expected = np.floor(5 * (array - array.min()) / (array.max() - array.min())) + 1
    np.testing.assert_array_equal(itk.array_from_image(levels), np.minimum(expected, 5))


def test_object_and_functional_interface_agree():
    array = random_image((20, 21))
    image = itk.image_from_array(array)
    filter = itk.RunLengthFeatureMapImageFilter.New(image)
    filter.SetNumberOfGrayLevels(8)
    filter.SetNeighborhoodRadius([1, 3])
    filter.SetFeatures(["RunEntropy", "GLN", itk.RunLengthFeatureMapEnums.Feature_RunPercentage])
    filter.SetAggregation(itk.RunLengthFeatureMapEnums.Aggregation_Merge)
    filter.SetOffsets([[1, 0], [1, 1]])
    filter.Update()
    assert filter.GetFeatureNames() == ("RE", "GLN", "RP")
    assert filter.GetOffsets() == [[1, 0], [1, 1]]
    assert [itk.RunLengthFeatureMapEnums.GetAbbreviation(f) for f in filter.GetFeatures()] == ["RE", "GLN", "RP"]
    assert (filter.GetUsedRangeMinimum(), filter.GetUsedRangeMaximum()) == (array.min(), array.max())
    assert list(filter.GetWindowSize()) == [3, 7]
    maps = itk.run_length_feature_map_image_filter(
        image,
        number_of_gray_levels=8,
        neighborhood_radius=[1, 3],
        features=["RE", "gray_level_non_uniformity", "rp"],
        aggregation="merge",
        offsets=[[1, 0], [1, 1]],
    )
    np.testing.assert_array_equal(itk.array_from_image(filter.GetOutput()), itk.array_from_image(maps))


def test_object_interface_of_connectedness():
    image = itk.image_from_array(random_image((9, 20, 21), np.int16))
    filter = itk.FuzzyConnectednessImageFilter.New(image)
    filter.SetSeed([3, 4, 5])
    filter.AddSeed([7, 8, 1])
    filter.EstimateAffinityFromSeedsOn()
    filter.SetEstimationRadius(3)
    filter.SetMinimumStrength(0.1)
    filter.SetAdjacency("full")
    filter.SetMethod("buckets")
    filter.Update()
    assert filter.GetSeeds() == [[3, 4, 5], [7, 8, 1]]
    assert filter.GetUsedObjectVariance() > 0
    strength = itk.fuzzy_connectedness_image_filter(
        image,
        seeds=[[3, 4, 5], (7, 8, 1)],
        adjacency="Full",
        object_mean=filter.GetUsedObjectMean(),
        object_variance=filter.GetUsedObjectVariance(),
        difference_variance=filter.GetUsedDifferenceVariance(),
        minimum_strength=0.1,
    )
    result = itk.array_from_image(filter.GetOutput())
    np.testing.assert_array_equal(result, itk.array_from_image(strength))
    assert result[5, 4, 3] == result[1, 8, 7] == 1
    assert result[result > 0].min() >= np.float32(0.1)
    filter.ClearSeeds()
    assert filter.GetSeeds() == []


def test_as_part_of_a_pipeline():
    image = itk.image_from_array(random_image((30, 31)))
    shifted = itk.ShiftScaleImageFilter.New(image, shift=-20)
    strength = itk.FuzzyConnectednessImageFilter.New(
        shifted, seed=[10, 11], object_mean=100, object_variance=500, difference_variance=100
    )
    object_filter = itk.BinaryThresholdImageFilter.New(strength, lower_threshold=0.05)
    object_filter.Update()
    shifted_image = itk.shift_scale_image_filter(image, shift=-20)
    expected = itk.fuzzy_connectedness_image_filter(
        shifted_image, seed=[10, 11], object_mean=100, object_variance=500, difference_variance=100
    )
    np.testing.assert_array_equal(
        itk.array_from_image(object_filter.GetOutput()) != 0, itk.array_from_image(expected) >= np.float32(0.05)
    )
    before = itk.array_from_image(object_filter.GetOutput())
    assert 3 < np.count_nonzero(before) < before.size
    strength.SetSeed([20, 20])
    object_filter.Update()
    assert itk.array_from_image(object_filter.GetOutput())[20, 20] != 0
    assert not np.array_equal(before, itk.array_from_image(object_filter.GetOutput()))


def test_all_forms_of_seeds():
    image = random_image((12, 13))
    affinity = {"object_mean": 100, "object_variance": 900, "difference_variance": 900}
    expected = itk.fuzzy_connectedness_image_filter(image, seed=[2, 3], **affinity)
    for seeds in (
        [[2, 3]],
        [2, 3],
        np.array([[2, 3]]),
        np.array([2, 3]),
        ((2, 3),),
        [itk.Index[2]([2, 3])],
        [[2, 3], [2, 3]],
    ):
        np.testing.assert_array_equal(itk.fuzzy_connectedness_image_filter(image, seeds=seeds, **affinity), expected)
    for seed in ((2, 3), np.array([2, 3]), [np.int64(2), np.int32(3)], itk.Index[2]([2, 3])):
        np.testing.assert_array_equal(itk.fuzzy_connectedness_image_filter(image, seed=seed, **affinity), expected)
    for dtype in (bool, np.uint8, np.int32, np.float64):
        seed_image = np.zeros(image.shape, dtype)
        seed_image[3, 2] = 1
        result = itk.fuzzy_connectedness_image_filter(image, seed_image=seed_image, **affinity)
        np.testing.assert_array_equal(result, expected)


def test_masks_of_all_types():
    array = random_image((16, 17))
    mask = np.random.default_rng(2).random(array.shape) < 0.6
    expected = itk.run_length_feature_map_image_filter(array, mask_image=mask)
    assert np.all(expected[~mask] == 0) and np.all(expected[mask][:, 0] > 0)
    for dtype in (np.uint8, np.int16, np.int64, np.float64):
        result = itk.run_length_feature_map_image_filter(array, mask_image=mask.astype(dtype))
        np.testing.assert_array_equal(result, expected)
    image = itk.image_from_array(array)
    for dtype in (np.uint8, np.int16, np.float32):
        mask_image = itk.image_from_array(mask.astype(dtype))
        result = itk.run_length_feature_map_image_filter(image, mask_image=mask_image)
        np.testing.assert_array_equal(itk.array_from_image(result), expected)
    labels = np.where(mask, 7, 3).astype(np.int16)
    result = itk.run_length_feature_map_image_filter(array, mask_image=labels, inside_pixel_value=7)
    np.testing.assert_array_equal(result, expected)
    for wrong in (labels + 250, labels * -1, labels + 0.5):
        with pytest.raises(ValueError, match="MaskImage"):
            itk.run_length_feature_map_image_filter(array, mask_image=wrong)


def test_feature_names():
    eleven = "SRE LRE GLN RLN RP LGRE HGRE SRLGE SRHGE LRLGE LRHGE".split()
    assert voxelmaps.feature_names() == eleven
    assert voxelmaps.feature_names(features="all") == eleven + "GLNN RLNN GLV RV RE".split()
    assert voxelmaps.feature_names(features="RunEntropy") == ["RE"]
    names = voxelmaps.feature_names(features=["LRE"], aggregation="per_direction", offsets="in-plane")
    assert names == ["LRE_1_0_0", "LRE_1_-1_0", "LRE_0_1_0", "LRE_1_1_0"]
    assert len(voxelmaps.feature_names(features=["LRE"], aggregation="per-direction")) == 13


def test_strings_of_enumerators():
    image = random_image((10, 11))
    enums = itk.RunLengthFeatureMapEnums
    for text in ("per_direction", "PerDirection", "per-direction", enums.Aggregation_PerDirection):
        filter = itk.RunLengthFeatureMapImageFilter.New(itk.image_from_array(image), aggregation=text)
        assert filter.GetAggregation() == enums.Aggregation_PerDirection
    filter = itk.GrayLevelDiscretizationImageFilter.New(
        itk.image_from_array(image), method="fixed_bin_size_at_multiples", range_source="given"
    )
    assert filter.GetMethod() == itk.GrayLevelDiscretizationEnums.Method_FixedBinSizeAtMultiples
    assert filter.GetRangeSource() == itk.GrayLevelDiscretizationEnums.RangeSource_Given
    with pytest.raises(ValueError, match="'sum' is not valid; choose from Average, Merge, PerDirection"):
        itk.run_length_feature_map_image_filter(image, aggregation="sum")
    with pytest.raises(ValueError, match="'XYZ' is not valid; choose from SRE, LRE"):
        itk.run_length_feature_map_image_filter(image, features=["SRE", "XYZ"])
    with pytest.raises(ValueError, match="has 3 components instead of 2"):
        itk.run_length_feature_map_image_filter(image, offsets=[[1, 0, 0]])


@pytest.mark.parametrize(
    "name, setter", [(name, setter) for name, row in _filters.FILTERS.items() for setter in row.enumerations]
)
def test_every_enumerator_can_be_a_string(name, setter):
    enums_name, kind = _filters.FILTERS[name].enumerations[setter]
    name = "Cuda" + name if setter == "SetCudaMethod" else name
    filter = getattr(itk, name).values()[0].New()
    enumerators = {n.partition("_")[2]: n for n in dir(getattr(itk, enums_name)) if n.startswith(kind + "_")}
    assert len(enumerators) > 1
    for text, enumerator in enumerators.items():
        getattr(filter, setter)(text)
        assert getattr(filter, "G" + setter[1:])() == getattr(getattr(itk, enums_name), enumerator)
    with pytest.raises(ValueError, match=f"{kind} 'wrong' is not valid; choose from .*{text}"):
        getattr(filter, setter)("wrong")


@pytest.mark.parametrize("name", [name for name, row in _filters.FILTERS.items() if row.features])
def test_every_feature_has_a_name_and_an_abbreviation(name):
    filter = getattr(itk, name).values()[0].New(features="all")
    enums = getattr(itk, _filters.FILTERS[name].features)
    names = [n[len("Feature_") :] for n in dir(enums) if n.startswith("Feature_")]
    assert len(filter.GetFeatures()) == len(names) > 1
    for feature in names:
        filter.SetFeatures(feature)
        (abbreviation,) = filter.GetFeatureNames()
        assert filter.GetFeatures() == [getattr(enums, "Feature_" + feature)]
        filter.SetFeatures(abbreviation)
        assert filter.GetFeatures() == [getattr(enums, "Feature_" + feature)]


TEXTURE_PARAMETERS = {
    "mask_image": None,
    "inside_pixel_value": 2,
    "background_value": -1.5,
    "number_of_gray_levels": 7,
    "discretization_method": 1,
    "bin_width": 2.5,
    "range_source": 0,
    "range_minimum": 3.5,
    "range_maximum": 88.5,
    "window_size": [4, 3],
    "window_anchor": [3, 0],
    "offsets": [[0, 1]],
    "features": [2, 1],
    "aggregation": 2,
}
CONNECTEDNESS_PARAMETERS = {
    "mask_image": None,
    "seeds": [[1, 2], [3, 4]],
    "adjacency": 1,
    "affinity_function": 1,
    "method": 1,
    "object_mean": 1.5,
    "object_variance": 2.5,
    "difference_variance": 3.5,
    "minimum_strength": 0.25,
}
DEPENDENCE_PARAMETERS = {key: value for key, value in TEXTURE_PARAMETERS.items() if key != "aggregation"}
DEPENDENCE_PARAMETERS["alpha"] = 3
GRAY_TONE_DIFFERENCE_PARAMETERS = {
    **{name: value for name, value in TEXTURE_PARAMETERS.items() if name != "aggregation"},
    "count_voxels_without_neighbors": False,
}
COOCCURRENCE_PARAMETERS = {**TEXTURE_PARAMETERS, "symmetric": False, "empty_value": -1.5}
SIZE_ZONE_PARAMETERS = {
    **{key: value for key, value in TEXTURE_PARAMETERS.items() if key not in ("aggregation", "offsets")},
    "connectivity": 1,
}
CUDA_PARAMETERS = {"device_id": 3, "device_memory_budget": 2**33, "cuda_method": 1}


@pytest.mark.parametrize("prefix", ["", "Cuda"])
@pytest.mark.parametrize(
    "name, parameters",
    [
        ("CooccurrenceFeatureMapImageFilter", COOCCURRENCE_PARAMETERS),
        ("DependenceFeatureMapImageFilter", DEPENDENCE_PARAMETERS),
        ("GrayToneDifferenceFeatureMapImageFilter", GRAY_TONE_DIFFERENCE_PARAMETERS),
        ("RunLengthFeatureMapImageFilter", TEXTURE_PARAMETERS),
        ("SizeZoneFeatureMapImageFilter", SIZE_ZONE_PARAMETERS),
        ("FuzzyConnectednessImageFilter", CONNECTEDNESS_PARAMETERS),
    ],
)
def test_parameters_are_keywords(name, parameters, prefix):
    """Python sees the setters and getters of base classes only if these are wrapped."""
    if prefix:
        parameters = {**parameters, **CUDA_PARAMETERS}
    filter = getattr(itk, prefix + name).New(itk.image_from_array(random_image((6, 7))), **parameters)
    for key, value in parameters.items():
        getter = "Get" + {"device_id": "DeviceID"}.get(key, key.title().replace("_", ""))
        actual = getattr(filter, getter)()
        assert (list(actual) if isinstance(value, list) else actual) == value, key
    filter.SetMaskImage(np.ones((6, 7), np.int32))
    assert list(filter.GetMaskImage().GetLargestPossibleRegion().GetSize()) == [7, 6]


def test_parameters_of_the_discretization():
    """One that implies a method sets it; one without effect is an error, since the maps would be those of other settings."""
    image = random_image((10, 11))
    compute = lambda **keywords: itk.run_length_feature_map_image_filter(image, features=["SRE", "HGRE"], **keywords)
    for keywords, method in (
        ({"bin_width": 10}, "fixed_bin_size_at_multiples"),
        ({"bin_edges": [0, 20, 40]}, "edges"),
        ({"number_of_gray_levels": 8}, "fixed_bin_number"),
    ):
        maps = compute(**keywords)
        np.testing.assert_array_equal(maps, compute(discretization_method=method, **keywords))
        assert not np.array_equal(maps, compute())
        np.testing.assert_array_equal(
            voxelmaps.run_length_feature_maps(image, features=["SRE"], **keywords)["SRE"], np.asarray(maps)[..., 0]
        )
    for keywords, parameter, method in (
        ({"bin_width": 10, "number_of_gray_levels": 8}, "number_of_gray_levels", "FixedBinSizeAtMultiples"),
        ({"bin_edges": [0, 9], "bin_width": 8}, "bin_edges", "FixedBinSizeAtMultiples"),
        ({"bin_width": 10, "discretization_method": "fixed_bin_number"}, "bin_width", "FixedBinNumber"),
        ({"number_of_gray_levels": 10, "discretization_method": 1}, "number_of_gray_levels", "FixedBinSize"),
        ({"bin_edges": [0, 9], "discretization_method": "levels"}, "bin_edges", "Levels"),
    ):
        with pytest.raises(
            ValueError, match=f"{parameter} has no effect with the discretization method {method}; it belongs"
        ):
            compute(**keywords)
    levels = itk.gray_level_discretization_image_filter(image, bin_width=10)
    np.testing.assert_array_equal(levels, image // 10 - image.min() // 10 + 1)


def test_errors_have_the_text_of_cpp():
    image = random_image((10, 11))
    with pytest.raises(RuntimeError, match="There are 0 seeds, but at least one is needed"):
        itk.fuzzy_connectedness_image_filter(image)
    with pytest.raises(RuntimeError, match=r"seed.*\[11, 3\]"):
        itk.fuzzy_connectedness_image_filter(image, seed=[11, 3], object_mean=5)
    for keyword, value in (
        ("aggregation", 9),
        ("aggregation", -1),
        ("range_source", 9),
        ("discretization_method", 300),
    ):
        with pytest.raises(ValueError, match=f" {value} is not valid; choose from"):
            itk.run_length_feature_map_image_filter(image, **{keyword: value})
    for keyword in ("affinity_function", "adjacency", "method"):
        with pytest.raises(ValueError, match=" 99 is not valid; choose from"):
            itk.fuzzy_connectedness_image_filter(image, seed=[1, 2], **{keyword: 99})
    with pytest.raises(TypeError, match="1.9 is not an integer"):
        itk.run_length_feature_map_image_filter(image, aggregation=1.9)
    with pytest.raises(ValueError, match="Feature '99' is not valid"):
        itk.run_length_feature_map_image_filter(image, features=[99])
    with pytest.raises(TypeError, match=r"Seed is \[1.5, 3\], but must be an integer"):
        itk.fuzzy_connectedness_image_filter(image, seed=[1.5, 3])
    with pytest.raises(TypeError, match=r"WindowSize is \[2.0, 3\], but must be an integer"):
        itk.run_length_feature_map_image_filter(image, window_size=[2.0, 3])
    with pytest.raises(RuntimeError, match=r"The offset \[2, 0\] is not a valid direction"):
        itk.run_length_feature_map_image_filter(image, offsets=[[2, 0]])
    with pytest.raises(RuntimeError, match="NumberOfGrayLevels"):
        itk.run_length_feature_map_image_filter(image, number_of_gray_levels=0)
    with pytest.raises(RuntimeError, match="mask has index"):
        itk.run_length_feature_map_image_filter(image, mask_image=np.ones((3, 4), bool))
    moved = itk.image_from_array(np.ones((10, 11), np.uint8))
    moved.SetOrigin([5, 5])
    with pytest.raises(RuntimeError, match="same physical space"):
        itk.run_length_feature_map_image_filter(itk.image_from_array(image), mask_image=moved)


def one_line(error):
    return "\n" not in str(error.value) and len(str(error.value)) < 200


@pytest.mark.parametrize("function", ["run_length_feature_map_image_filter", "fuzzy_connectedness_image_filter"])
def test_inputs_that_are_no_images(function):
    function = getattr(itk, function)
    image = itk.image_from_array(random_image((6, 7)))
    vectors = itk.run_length_feature_map_image_filter(image)
    colors = itk.image_from_array(np.zeros((4, 4, 3), np.uint8), is_vector=True)
    deep = itk.image_from_array(np.zeros((2, 2, 2, 2), np.float32))
    for wrong, message in (
        ([[1, 2], [3, 4]], "needed, not list"),
        ("head.nii.gz", "needed, not str; itk.imread reads files"),
        (None, "needed, not NoneType"),
        (3, "needed, not int"),
        (vectors, "scalar itk.Image with 2 or 3 dimensions is needed, not itkVectorImageF2"),
        (colors, "not itkImageRGBUC2"),
        (deep, "not itkImageF4"),
    ):
        if wrong in (vectors, colors) and function is itk.fuzzy_connectedness_image_filter:
            # It takes images of vectors.
            continue
        with pytest.raises(TypeError, match=message) as error:
            function(wrong)
        assert one_line(error)
    shapes = [(), (5,), (2, 3, 4, 5, 6)]
    if function is not itk.fuzzy_connectedness_image_filter:
        # Not a volume of vectors either.
        shapes.append((3, 4, 5, 6))
    for shape in shapes:
        with pytest.raises(ValueError, match="2 or 3 dimensions is needed, but the shape is") as error:
            function(np.zeros(shape, np.float32))
        assert one_line(error)
    for shape in ((0, 5), (4, 0, 3)):
        with pytest.raises(ValueError, match="no voxels"):
            function(np.zeros(shape, np.float32))
    with pytest.raises(ValueError, match=r"size \(0, 0\) has no voxels"):
        function(itk.Image[itk.F, 2].New())


@pytest.mark.parametrize("name", ["mask_image", "seed_image"])
def test_masks_that_are_no_images(name):
    filter = itk.fuzzy_connectedness_image_filter
    image = random_image((6, 7))
    vectors = itk.run_length_feature_map_image_filter(itk.image_from_array(image))
    for wrong, kind, message in (
        ([[0, 1]], TypeError, "must be an itk.Image, a NumPy array or an xarray.DataArray, not list"),
        ("mask.nii", TypeError, "not str"),
        (vectors, TypeError, "must be a scalar itk.Image, not itkVectorImageF2"),
        (np.ones((3, 6, 7)), ValueError, "Image has 3 dimensions, but the image has 2"),
        (itk.image_from_array(np.ones((3, 6, 7), np.uint8)), ValueError, "Image has 3 dimensions, but the image has 2"),
        (itk.image_from_array(np.ones((3, 6, 7), np.int32)), ValueError, "Image has 3 dimensions, but the image has 2"),
    ):
        with pytest.raises(kind, match=message) as error:
            filter(image, seed=[1, 2], **{name: wrong})
        assert one_line(error)


@pytest.mark.parametrize(
    "name",
    [
        "run_length_feature_map",
        "cooccurrence_feature_map",
        "dependence_feature_map",
        "first_order_feature_map",
        "gray_tone_difference_feature_map",
        "fuzzy_connectedness",
    ],
)
def test_only_the_image_has_no_name(name):
    image = np.zeros((5, 5, 5), np.uint8)
    with pytest.raises(TypeError, match="only the image can be; name the others"):
        getattr(itk, f"{name}_image_filter")(image, image)


@pytest.mark.parametrize("parameter", ["neighborhood_radius", "window_size", "window_anchor"])
def test_none_is_no_window(parameter):
    with pytest.raises(TypeError, match="is None, but must be an integer"):
        itk.run_length_feature_map_image_filter(np.zeros((5, 5, 5), np.uint8), **{parameter: None})


def test_names_of_maps_are_unique():
    maps = itk.run_length_feature_map_image_filter(
        itk.image_from_array(np.zeros((5, 5), np.uint8)), features=["SRE", "LRE"]
    )
    with pytest.raises(ValueError, match="name a is given twice"):
        voxelmaps.feature_dict(maps, ["a", "a"])
