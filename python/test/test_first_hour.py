# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What a new user meets in the first hour: parameters without effect, descriptions and warnings."""

import warnings

import numpy as np
import pytest
import voxelmaps
from test_libraries import CLASSES_OF_PARAMETERS
from voxelmaps._feature_maps import CLASSES


ARRAY = np.random.default_rng(1).integers(0, 200, (8, 9, 10)).astype(np.int16)


# Ways to discretize that exclude each other, and whether the range of intensities has an effect on them.
DISCRETIZATIONS = {
    "bin_width": (10, True),
    "number_of_gray_levels": (7, True),
    "bin_edges": ([0, 50, 100], False),
    "gray_levels": (200, False),
}


def test_every_parameter_has_an_effect_or_is_an_error():
    default = {name: voxelmaps.feature_maps(ARRAY, features=name).array for name in CLASSES}
    for (parameter, of_classes), value in zip(
        CLASSES_OF_PARAMETERS.items(), ([2], "merge", False, 1, 100), strict=True
    ):
        for name in CLASSES:
            if name in of_classes:
                changed = voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value}).array
                assert not np.array_equal(changed, default[name], equal_nan=True), (parameter, name)
                continue
            with pytest.raises(
                ValueError, match=f"{parameter} is .* has no effect on features of {name}; it belongs to"
            ):
                voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value})
    for parameter, (value, has_range) in DISCRETIZATIONS.items():
        changed = voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value}).array
        assert not np.array_equal(changed, default["glcm"], equal_nan=True), parameter
        for other, (other_value, _) in DISCRETIZATIONS.items():
            if other != parameter:
                with pytest.raises(ValueError, match="are given, but only one can say how intensities become gray lev"):
                    voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value, other: other_value})
        given = {"features": "glcm", parameter: value, "intensity_range": (20, 90)}
        if has_range:
            assert not np.array_equal(voxelmaps.feature_maps(ARRAY, **given).array, changed, equal_nan=True)
        else:
            with pytest.raises(ValueError, match=f"intensity_range is .* has no effect with {parameter}"):
                voxelmaps.feature_maps(ARRAY, **given)


def test_describe():
    x = np.random.default_rng(0).integers(0, 40, (8, 9, 10)) + np.float32(100) * (np.arange(10) > 4)
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
    assert lines[-1] == "warning: 1 of 192 voxels inside the mask are NaN, and absent as those outside"


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
