# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Cropping of maps to the mask."""

import itertools

import itk
import numpy as np
import pytest
import xarray
import voxelmaps

SETTINGS = [
    {},
    {"neighborhood_radius": 1, "inside_pixel_value": 3},
    {"window_size": [4, 3, 2], "window_anchor": [0, 2, 1], "features": ["SRE", "GLN"]},
    {"neighborhood_radius": 9, "range_source": "image", "aggregation": "per_direction"},
]


@pytest.fixture
def image(make_image):
    return make_image((16, 14, 20), seed=1)


def masks(value):
    """Masks of the image: a block in the middle, two corners, one voxel."""
    block, corners, voxel = np.zeros((3, 16, 14, 20), np.uint8)
    block[6:9, 5:11, 8:10] = value
    corners[0, 0, 0] = corners[3, 5, 7] = value
    voxel[15, 13, 19] = value
    return [block, corners, voxel]


def expected_slices(mask, value, size, anchor):
    """The box by a loop over all voxels, in NumPy's order of axes."""
    result = []
    for axis in range(3):
        positions = [index[axis] for index in np.ndindex(mask.shape) if mask[index] == value]
        low = min(positions) - anchor[2 - axis]
        high = max(positions) + size[2 - axis] - anchor[2 - axis]
        result.append(slice(max(low, 0), min(high, mask.shape[axis])))
    return tuple(result)


@pytest.mark.parametrize("settings", SETTINGS)
def test_cropped_maps_are_parts_of_the_whole_maps(image, settings):
    value = settings.get("inside_pixel_value", 1)
    radius = settings.get("neighborhood_radius", 2)
    size = settings.get("window_size", [2 * radius + 1] * 3)
    anchor = settings.get("window_anchor", [radius] * 3)
    array, labelled = itk.array_from_image(image), itk.xarray_from_image(image)
    for mask in masks(value):
        arguments = dict(settings, mask_image=mask, background_value=-1)
        box = voxelmaps.crop_slices(image, **arguments)
        assert box == expected_slices(mask, value, size, anchor)
        assert box == voxelmaps.crop_slices(array, **arguments)
        whole = voxelmaps.run_length_feature_maps(array, **arguments)
        arrays = voxelmaps.run_length_feature_maps(array, crop="mask", **arguments)
        images = voxelmaps.run_length_feature_maps(image, crop="mask", **arguments)
        labelled_maps = voxelmaps.run_length_feature_maps(labelled, crop="mask", **arguments)
        assert list(whole) == list(arrays) == list(images) == list(labelled_maps)
        for name, expected in whole.items():
            np.testing.assert_array_equal(arrays[name], expected[box])
            np.testing.assert_array_equal(itk.array_from_image(images[name]), expected[box])
            np.testing.assert_array_equal(labelled_maps[name].values, expected[box])
            for dim, part in zip(("z", "y", "x"), box):
                np.testing.assert_array_equal(labelled_maps[name][dim], labelled[dim][part])
            # The images overlay the input: the first voxel is at the same place, and the axes are the same.
            first = [part.start for part in reversed(box)]
            assert list(images[name].GetLargestPossibleRegion().GetIndex()) == [0, 0, 0]
            np.testing.assert_allclose(
                list(images[name].GetOrigin()), list(image.TransformIndexToPhysicalPoint(first)), rtol=0, atol=1e-12
            )
            assert list(images[name].GetSpacing()) == list(image.GetSpacing())
            assert images[name].GetDirection() == image.GetDirection()


def test_images_whose_index_does_not_start_at_zero(image):
    region = image.GetLargestPossibleRegion()
    region.SetIndex([2, 3, 1])
    region.SetSize([15, 10, 12])
    extract = itk.ExtractImageFilter[type(image), type(image)].New(image, extraction_region=region)
    extract.SetDirectionCollapseToSubmatrix()
    extract.Update()
    part = extract.GetOutput()
    mask = itk.image_from_array(masks(1)[0])
    mask.SetSpacing(image.GetSpacing())
    mask.SetOrigin(image.GetOrigin())
    mask.SetDirection(image.GetDirection())
    extract = itk.ExtractImageFilter[type(mask), type(mask)].New(mask, extraction_region=region)
    extract.SetDirectionCollapseToSubmatrix()
    extract.Update()
    whole = voxelmaps.run_length_feature_maps(part, mask_image=extract.GetOutput(), features=["SRE"])["SRE"]
    box = voxelmaps.crop_slices(part, mask_image=extract.GetOutput())
    cropped = voxelmaps.run_length_feature_maps(part, mask_image=extract.GetOutput(), features=["SRE"], crop="mask")[
        "SRE"
    ]
    np.testing.assert_array_equal(itk.array_from_image(cropped), itk.array_from_image(whole)[box])
    first = [part.start + start for part, start in zip(reversed(box), (2, 3, 1))]
    np.testing.assert_allclose(
        list(cropped.GetOrigin()), list(image.TransformIndexToPhysicalPoint(first)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("dims", list(itertools.permutations("zyx")))
def test_axes_in_any_order(image, dims):
    labelled = itk.xarray_from_image(image)
    mask = masks(1)[0]
    expected = voxelmaps.run_length_feature_maps(labelled, mask_image=mask, features=["SRE"], crop="mask")["SRE"]
    given = labelled.transpose(*dims)
    if given.dims != labelled.dims:
        with pytest.raises(ValueError, match="mask_image is an array without names of axes"):
            voxelmaps.run_length_feature_maps(given, mask_image=mask, features=["SRE"], crop="mask")
    mask = labelled.copy(data=mask)
    actual = voxelmaps.run_length_feature_maps(given, mask_image=mask, features=["SRE"], crop="mask")["SRE"]
    xarray.testing.assert_equal(actual, expected)


def test_two_dimensions():
    array = np.random.default_rng(0).integers(0, 9, (30, 40)).astype(np.int64)
    mask = np.zeros((30, 40), bool)
    mask[10:12, 20] = True
    whole = voxelmaps.run_length_feature_maps(array, mask_image=mask)
    cropped = voxelmaps.run_length_feature_maps(array, mask_image=mask, crop="mask")
    assert voxelmaps.crop_slices(array, mask_image=mask) == (slice(8, 14), slice(18, 23))
    for name in whole:
        np.testing.assert_array_equal(cropped[name], whole[name][8:14, 18:23])


def test_errors(image):
    with pytest.raises(ValueError, match='crop="mask" needs mask_image'):
        voxelmaps.run_length_feature_maps(image, crop="mask")
    with pytest.raises(ValueError, match='crop="mask" needs mask_image'):
        voxelmaps.crop_slices(image)
    with pytest.raises(ValueError, match=r"no voxel of mask_image is 1 \(inside_pixel_value\)"):
        voxelmaps.run_length_feature_maps(image, mask_image=masks(2)[0], crop="mask")
    with pytest.raises(ValueError, match="crop 'Mask' is not valid; choose from None, 'mask'"):
        voxelmaps.run_length_feature_maps(image, mask_image=masks(1)[0], crop="Mask")
    for function in (voxelmaps.run_length_feature_maps, voxelmaps.crop_slices):
        with pytest.raises(RuntimeError, match="mask has index"):
            function(image, mask_image=masks(1)[0][:5], crop="mask")
    with pytest.raises(ValueError, match="crop 'None' is not valid; crop_slices needs 'mask'"):
        voxelmaps.crop_slices(image, mask_image=masks(1)[0], crop=None)


def test_crop_slices_takes_the_arguments_of_feature_maps(image):
    arguments = dict(mask_image=masks(1)[1], crop="mask", skip_single_voxel_directions=True, features=["SRE"])
    box = voxelmaps.crop_slices(image, **arguments)
    shape = voxelmaps.run_length_feature_maps(itk.array_from_image(image), **arguments)["SRE"].shape
    assert [part.stop - part.start for part in box] == list(shape)


def test_crop_slices_of_a_pipeline_that_was_not_updated(image):
    """The regions of images that filters have not computed yet are known only after UpdateOutputInformation()."""
    mask = itk.image_from_array(masks(1)[0])
    mask.CopyInformation(image)
    parts = []
    for given in (image, mask):
        region = given.GetLargestPossibleRegion()
        region.SetIndex([2, 3, 1])
        region.SetSize([15, 10, 12])
        extract = itk.ExtractImageFilter[type(given), type(given)].New(given, extraction_region=region)
        extract.SetDirectionCollapseToSubmatrix()
        parts.append(extract)
    box = voxelmaps.crop_slices(parts[0].GetOutput(), mask_image=parts[1].GetOutput())
    for part in parts:
        part.Update()
    assert box == voxelmaps.crop_slices(parts[0].GetOutput(), mask_image=parts[1].GetOutput())
