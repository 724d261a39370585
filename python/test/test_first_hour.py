# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What a new user meets in the first hour: parameters without effect, descriptions, warnings, and pictures in notebooks."""

import warnings

import itk
import numpy as np
import pytest
import voxelmaps
from voxelmaps import radiomics


@pytest.fixture(scope="module")
def image():
    """A head of two gray values with noise, with spacing."""
    random = np.random.default_rng(0)
    image = itk.image_from_array((random.integers(0, 40, (8, 9, 10)) + 100 * (np.arange(10) > 4)).astype(np.int16))
    image.SetSpacing([0.5, 0.75, 3.0])
    return image


ARRAY = np.random.default_rng(1).integers(0, 200, (8, 9, 10)).astype(np.int16)


# Parameters of classes of features, and the classes that they belong to.
CLASS_PARAMETERS = {
    "distances": ([2], {"glcm", "gldm", "ngtdm"}),
    "aggregation": ("merge", {"glcm", "glrlm"}),
    "symmetric": (False, {"glcm"}),
    "alpha": (1, {"gldm"}),
    "voxel_array_shift": (100, {"firstorder"}),
}
# Ways to discretize that exclude each other, and whether the range of intensities has an effect on them.
DISCRETIZATIONS = {
    "bin_width": (10, True),
    "number_of_gray_levels": (7, True),
    "bin_edges": ([0, 50, 100], False),
    "gray_levels": (200, False),
}


def test_every_parameter_has_an_effect_or_is_an_error():
    classes = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")
    default = {name: voxelmaps.feature_maps(ARRAY, features=name).array for name in classes}
    for parameter, (value, of_classes) in CLASS_PARAMETERS.items():
        for name in classes:
            if name in of_classes:
                changed = voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value}).array
                assert not np.array_equal(changed, default[name], equal_nan=True), (parameter, name)
            else:
                with pytest.raises(
                    ValueError, match=f"{parameter} is .* has no effect on features of {name}; it belongs to"
                ):
                    voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value})
    for parameter, (value, has_range) in DISCRETIZATIONS.items():
        changed = voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value}).array
        assert not np.array_equal(changed, default["glcm"], equal_nan=True), parameter
        for other, (other_value, _) in DISCRETIZATIONS.items():
            if other != parameter:
                with pytest.raises(ValueError, match="are given, but only one can be"):
                    voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value, other: other_value})
        given = {"features": "glcm", parameter: value, "intensity_range": (20, 90)}
        if has_range:
            assert not np.array_equal(voxelmaps.feature_maps(ARRAY, **given).array, changed, equal_nan=True)
        else:
            with pytest.raises(ValueError, match=f"intensity_range is .* has no effect with {parameter}"):
                voxelmaps.feature_maps(ARRAY, **given)


def test_radius_in_millimeters(image):
    for radius_mm, radius in ((0.8, (0, 1, 1)), (3, (1, 4, 6)), (1.5, (0, 2, 3))):
        maps = voxelmaps.feature_maps(image, features="glcm_Contrast", radius_mm=radius_mm)
        expected = voxelmaps.feature_maps(image, features="glcm_Contrast", neighborhood_radius=radius)
        np.testing.assert_array_equal(maps.array, expected.array)
    # Three voxels of 0.1 mm are 0.3 mm, whatever their sum is in binary.
    maps = voxelmaps.feature_maps(ARRAY, features="glcm_Contrast", radius_mm=0.3, spacing=(0.1, 0.1, 0.1))
    expected = voxelmaps.feature_maps(ARRAY, features="glcm_Contrast", neighborhood_radius=3)
    np.testing.assert_array_equal(maps.array, expected.array)


def test_describe(image):
    x = itk.array_from_image(image).astype(np.float32)
    mask = np.zeros(x.shape, np.uint8)
    mask[2:6, 2:8, 1:9] = 255
    x[3, 3, 3] = np.nan
    settings = {"features": "glcm", "bin_width": 10, "crop": "mask", "neighborhood_radius": 1}
    description = voxelmaps.describe(x, mask, **settings)
    maps = voxelmaps.feature_maps(x, mask, **settings)
    inside = x[mask > 0]
    assert (description.minimum, description.maximum) == (np.nanmin(inside), np.nanmax(inside))
    assert description.levels == np.nanmax(inside) // 10 - np.nanmin(inside) // 10 + 1
    assert description.region_voxels == inside.size
    assert description.maps == list(maps) and description.map_shape == maps["glcm_Contrast"].shape
    assert description.map_bytes == maps.array.nbytes and description.window == (3, 3, 3)
    lines = str(description).splitlines()
    assert lines[1] == "region: 192 voxels, intensities 0 to 139, 14 gray levels"
    assert lines[-1:] == [
        "warning: 1 of 192 voxels inside the mask are NaN, and absent as those outside",
    ]


def test_describe_warns_of_levels():
    x = ARRAY / 1000
    text = "all intensities are in one bin of the width 25, so that there is no texture"
    assert voxelmaps.describe(x).warnings[0].startswith(text)
    assert len(voxelmaps.describe(x).maps) > 90
    assert voxelmaps.describe(x, features="firstorder").warnings == []
    assert voxelmaps.describe(ARRAY, bin_width=10).warnings == []
    (many,) = voxelmaps.describe(ARRAY, number_of_gray_levels=1000).warnings
    assert many.startswith("there are 1000 gray levels, but a window has 125 voxels")


def test_describe_parts_of_batches():
    x = np.stack([ARRAY, 2 * ARRAY])
    selection = np.zeros(ARRAY.shape, bool)
    selection[4, 2:5] = True
    description = voxelmaps.describe(x, features="glcm_Contrast", bin_width=25, dimension=3, selection=selection)
    assert description.region_voxels == 2 * selection.sum() and description.map_shape == x.shape
    assert description.levels == 2 * ARRAY.max() // 25 - 2 * ARRAY.min() // 25 + 1


def test_voxel_based_is_left_over(image):
    mask = itk.image_from_array((itk.array_from_image(image) > 20).astype(np.uint8))
    mask.CopyInformation(image)
    one = {"featureClass": {"firstorder": ["Mean"]}, "additionalInfo": False}
    expected = radiomics.execute(image, mask, **one)
    for given in (
        {"voxelBased": True},
        {"params": {"setting": {"voxelBased": True}}},
        {"params": {"voxelSetting": {"voxelBased": True}}},
    ):
        maps = radiomics.execute(image, mask, **one, **given)
        np.testing.assert_array_equal(*(each["original_firstorder_Mean"] for each in (maps, expected)))


def test_many_ties_are_a_warning():
    x = np.array([[0, 0, 9, 9, 9, 9, 0, 0]], np.uint8)
    seeds = {1: (0, 0), 2: (0, 7)}

    def compute(**parameters):
        return voxelmaps.labels(x, seeds, affinity="absolute_difference", **parameters)

    text = "4 of 8 voxels have no label, since several labels have the same claim to them, or no seed reaches them: "
    for given, advice in (
        ({}, "competition='iterative' leaves fewer ties, "),
        ({"competition": "iterative"}, ""),
    ):
        with pytest.warns(UserWarning) as caught:
            compute(**given)
        assert str(caught[0].message) == f"{text}{advice}tie_rule='lowest_label' labels all ties"
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(tie_rule="lowest_label")
        compute(minimum_strength=0.5)
        compute(mask=np.array([[1, 1, 0, 0, 0, 0, 1, 1]]))


def test_notebooks_show_maps(image):
    pytest.importorskip("matplotlib")
    mask = np.zeros((8, 9, 10), np.uint8)
    mask[5:7, 2:7, 2:8] = 1
    for x in (image, ARRAY, ARRAY[0], ARRAY[None]):
        inside = mask[0] + 1 if np.ndim(x) == 2 else mask
        maps = voxelmaps.feature_maps(
            x, inside, features="glcm", background_value=np.nan, dimension=2 if np.ndim(x) == 2 else 3
        )
        picture = maps._repr_png_()
        assert picture.startswith(b"\x89PNG") and len(picture) > 5000


def test_one_label_is_a_warning():
    with pytest.warns(UserWarning, match="all seeds have the label 2, which no other label competes with") as caught:
        labels = voxelmaps.labels(ARRAY, {2: [(1, 1, 1), (4, 4, 4)]})
    assert (labels == 2).all() and caught[0].filename == __file__
