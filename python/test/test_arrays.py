# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, DataArrays and images of ITK as input: types, layouts, axes, coordinates, and regions."""

import itk
import numpy as np
import pytest
import xarray
import voxelmaps

AFFINITY = {"object_mean": 50, "object_variance": 900, "difference_variance": 900}
OF_LABELS = {**AFFINITY, "tie_rule": "lowest_label"}


@pytest.fixture
def image(make_image):
    return make_image((7, 12, 10))


class Tensor:
    """Has only __array__, and a type that is not NumPy's."""

    dtype = "tensor.int64"

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">f4", "f2", "f4", "f8"])
def test_array_types(dtype):
    """Arrays of every type and layout give the maps, labels and strengths of their values as double."""
    array = np.random.default_rng(0).integers(0, 100, (5, 12, 10)).astype(dtype)
    if array.dtype.kind == "i":
        array[:, ::2] *= -1
    mask = (np.arange(array.size).reshape(array.shape) % 7).astype(dtype)
    seeds = {1: (4, 4, 4), 2: (1, 3, 3)}
    functions = {
        "feature_maps": lambda x, m: voxelmaps.feature_maps(x, m, features=["glcm", "firstorder"], bin_width=9).array,
        "SeedSession": lambda x, m: voxelmaps.SeedSession(x, **OF_LABELS, mask_image=np.asarray(m) != 0).update(seeds),
    }
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        functions["labels"] = lambda x, m: voxelmaps.labels(x, seeds, m, **OF_LABELS)
        functions["fuzzy_connectedness"] = lambda x, m: voxelmaps.fuzzy_connectedness(x, seeds[1], m, **AFFINITY)
    for name, function in functions.items():
        expected = function(array.astype(np.float64), mask != 0)
        changed = [
            lambda a: a,
            lambda a: a[::-1].copy()[::-1],
            lambda a: a.copy(order="F"),
            lambda a: xarray.DataArray(a, dims=("z", "y", "x")),
            Tensor,
        ]
        for change in changed:
            np.testing.assert_array_equal(function(change(array), change(mask)), expected, err_msg=name)


def test_types_that_cannot_be_taken_exactly():
    array = np.zeros((4, 5), np.int64)
    array[1, 1] = 2**53
    voxelmaps.SeedSession(array)
    array[1, 1] = -(2**53) - 1
    with pytest.raises(ValueError, match=r"int64 values from -9007199254740993 to 0 .*must not exceed 2\^53"):
        voxelmaps.SeedSession(array)
    with pytest.raises(ValueError, match="uint64 values"):
        voxelmaps.SeedSession(np.full((4, 5), 2**64 - 1, np.uint64))
    x, masked = np.zeros((4, 5), np.uint8), np.ma.masked_equal(np.eye(4, 5, dtype=np.uint8), 0)
    for function in (
        lambda: voxelmaps.feature_maps(x, masked, features="glcm"),
        lambda: voxelmaps.labels(x, masked),
        lambda: voxelmaps.fuzzy_connectedness(x, masked),
        lambda: voxelmaps.SeedSession(masked),
        lambda: voxelmaps.SeedSession(x).update(masked),
    ):
        with pytest.raises(TypeError, match="masked array"):
            function()
    for dtype in (np.complex64, np.longdouble, "U1", object):
        for function in (lambda y: voxelmaps.feature_maps(y, features="glcm"), voxelmaps.SeedSession):
            with pytest.raises(TypeError, match="must be real numbers of at most 64 bits"):
                function(np.zeros((4, 5), dtype))


@pytest.mark.parametrize(
    "axis, positions, message",
    [
        ("z", [0, 1, 2, 3, 4, 5, 7], "axis z must be evenly spaced within 1 %.* first step is 1, .* from 5 to 7 is 2"),
        ("z", [0, 1, 2, 3, 3, 4, 5], "from 3 to 3 is 0"),
        ("x", 1.005 * np.arange(10.0) - (np.arange(10) > 0) * 0.005, None),
        ("y", np.concatenate([[0.0], 1 + 1.009 * np.arange(11)]), None),
        ("x", np.arange(10)[::-1], "axis x must increase, but begin with 9, 8"),
        ("x", [0, 1, 2, 3, np.nan, 5, 6, 7, 8, 9], "axis x must be finite"),
        ("x", list("abcdefghij"), "axis x must be numbers, but are <U1"),
        ("x", (np.float32(0.3) * np.arange(10, dtype=np.float32) + np.float32(300)).astype(np.float32), None),
    ],
)
def test_xarray_coordinates(image, axis, positions, message):
    """An image has one spacing along each axis; ITK takes the first step, whatever the others are."""
    given = itk.xarray_from_image(image).assign_coords({axis: positions})
    session, mask = voxelmaps.SeedSession(image), given.copy(data=np.ones(given.shape, np.uint8))
    if message is None:
        voxelmaps.SeedSession(given)
        return
    with pytest.raises(ValueError, match=message):
        voxelmaps.SeedSession(given)
    with pytest.raises(ValueError, match=message):
        session.update(mask)


def test_xarray_coordinates_that_drift():
    positions = np.concatenate([[0.0], 1 + 1.009 * np.arange(39)])
    given = xarray.DataArray(np.zeros((4, 40), np.uint8), dims=("y", "x"), coords={"x": positions})
    with pytest.raises(ValueError, match="the first step, 1, the last coordinate would be 39 instead of 39.342"):
        voxelmaps.SeedSession(given)


@pytest.mark.parametrize("dims", [("t", "y", "x"), ("k", "j", "i")])
def test_xarray_dims(dims):
    with pytest.raises(ValueError, match="dims x and y, or x, y and z is needed, not " + ", ".join(dims)):
        voxelmaps.SeedSession(xarray.DataArray(np.zeros((4, 5, 6)), dims=dims))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.float64])
def test_regions_that_do_not_start_at_zero(image, dtype):
    array = itk.array_from_image(image).astype(dtype)
    given = itk.image_from_array(array)
    given.CopyInformation(image)
    region = given.GetLargestPossibleRegion()
    region.SetIndex([2, -3, 1])
    given.SetRegions(region)
    mask, seeds = np.zeros((2, *array.shape), np.uint8)
    mask[2:4, 5:7, 3:5] = 1
    seeds[2, 5, 3], seeds[3, 6, 4] = 1, 2
    labels = voxelmaps.SeedSession(given, **OF_LABELS).update({1: [5, 2, 3], 2: [6, 3, 4]})
    np.testing.assert_array_equal(itk.array_from_image(labels), voxelmaps.labels(array, seeds, **OF_LABELS))
    for get in ("GetLargestPossibleRegion", "GetOrigin", "GetSpacing", "GetDirection"):
        assert getattr(labels, get)() == getattr(given, get)()
    labels = voxelmaps.SeedSession(given, **OF_LABELS, mask_image=mask).update(seeds)
    np.testing.assert_array_equal(itk.array_from_image(labels), voxelmaps.labels(array, seeds, mask, **OF_LABELS))
    # The maps overlay the image.
    parameters = dict(features="glcm", neighborhood_radius=1, crop="mask")
    maps = voxelmaps.feature_maps(given, mask, **parameters)
    np.testing.assert_array_equal(maps.array, voxelmaps.feature_maps(array, mask, **parameters).array)
    assert maps.slices == np.s_[1:5, 4:8, 2:6] and maps.geometry.spacing == tuple(given.GetSpacing())
    np.testing.assert_allclose(maps.geometry.origin, list(given.TransformIndexToPhysicalPoint([4, 1, 2])), atol=1e-12)
    np.testing.assert_array_equal(maps.geometry.direction, itk.array_from_matrix(given.GetDirection()).ravel())


def test_nan_is_not_a_seed():
    x, seeds = np.arange(20.0).reshape(4, 5), np.full((4, 5), np.nan)
    seeds[3, 2] = 1
    np.testing.assert_array_equal(
        voxelmaps.fuzzy_connectedness(x, seeds, **AFFINITY), voxelmaps.fuzzy_connectedness(x, (3, 2), **AFFINITY)
    )


@pytest.mark.parametrize("shape", [(8, 1, 1), (1, 8, 1), (1, 1, 8), (8, 1), (1, 8)])
def test_lines_of_voxels_keep_their_axes(shape):
    line = xarray.DataArray(np.arange(8, dtype=np.int16).reshape(shape), dims=("z", "y", "x")[-len(shape) :])
    ones = line.copy(data=np.ones(shape, np.uint8)).transpose(*line.dims[::-1])
    for x, mask in ((line.values, None), (line, ones)):
        maps = voxelmaps.feature_maps(x, mask, features="firstorder_Mean", neighborhood_radius=1)["firstorder_Mean"]
        assert maps.shape == shape
        np.testing.assert_array_equal(maps.ravel(), [0.5, 1, 2, 3, 4, 5, 6, 6.5])
    labels = voxelmaps.SeedSession(line, **AFFINITY, mask_image=ones).update(ones)
    assert labels.dims == line.dims and (labels == 1).all()
    vectors = xarray.DataArray(line.values[..., np.newaxis].astype(np.float32), dims=(*line.dims, "c"))
    covariances = {"object_covariance": [[1]], "difference_covariance": [[1]]}
    labels = voxelmaps.SeedSession(vectors, object_mean_vector=[0], **covariances).update({3: [0] * len(shape)})
    assert labels.shape == shape and (labels == 3).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_lines_of_voxels_keep_their_axes_in_radiomics(axis):
    shape = [1, 1, 1]
    shape[axis] = 8
    image = itk.Image[itk.SS, 3].New()
    image.SetRegions(itk.Size[3](shape[::-1]))
    image.Allocate()
    itk.array_view_from_image(image)[:] = np.arange(8).reshape(shape)
    mask = itk.Image[itk.UC, 3].New()
    mask.SetRegions(image.GetLargestPossibleRegion())
    mask.Allocate()
    mask.FillBuffer(1)
    settings = {"featureClass": {"firstorder": ["Mean"]}, "minimumROIDimensions": 1, "additionalInfo": False}
    result = itk.array_from_image(voxelmaps.radiomics.execute(image, mask, **settings)["original_firstorder_Mean"])
    assert result.shape == tuple(shape)
    np.testing.assert_array_equal(result.ravel(), [0.5, 1, 2, 3, 4, 5, 6, 6.5])


def cube():
    """An image, and a mask whose axes cannot be confused."""
    random = np.random.default_rng(0)
    mask = np.zeros((6, 6, 6), np.uint8)
    mask[1:3, 2:5, 1:6] = random.random((2, 3, 5)) < 0.8
    return random.integers(0, 100, mask.shape).astype(np.uint8), mask


def test_masks_with_turned_axes():
    """DataArrays are turned to the axes of the image."""
    x, mask = cube()
    dims = ("z", "y", "x")
    named, named_mask = (xarray.DataArray(array, dims=dims) for array in (x, mask))
    turned = named.transpose("x", "z", "y")
    functions = {
        "feature_maps": lambda x, m: voxelmaps.feature_maps(x, m, features=["firstorder_Mean"]).array[0],
        "selection": lambda x, m: voxelmaps.feature_maps(x, selection=m, features=["firstorder_Mean"]).array[0],
        "labels": lambda x, m: voxelmaps.labels(x, m, m, **AFFINITY),
        "fuzzy_connectedness": lambda x, m: voxelmaps.fuzzy_connectedness(x, m, m, **AFFINITY),
    }
    for name, function in functions.items():
        expected = function(x, mask)
        for image in (x, named, turned):
            actual = function(image, named_mask.transpose("y", "x", "z"))
            actual = actual.transpose(0, 1, 2) if image is not turned else actual.transpose(1, 2, 0)
            np.testing.assert_array_equal(actual, expected, err_msg=name)
        with pytest.raises(ValueError, match="has the axes t, y, x, but x has z, y, x"):
            function(named, named_mask.rename(z="t"))
        backwards = named_mask.assign_coords(x=np.arange(6.0)[::-1])
        with pytest.raises(ValueError, match="has other coordinates than x along the axis x"):
            function(named.assign_coords(x=np.arange(6.0)), backwards)
    with_channels = xarray.DataArray(x[..., np.newaxis], dims=(*dims, "c"))
    labels = voxelmaps.labels(with_channels, named_mask.transpose("y", "x", "z"), components_axis=-1)
    np.testing.assert_array_equal(labels, voxelmaps.labels(x[..., np.newaxis], mask, components_axis=-1))


def test_masks_without_a_voxel_inside():
    x, mask = cube()
    mask *= 255
    with pytest.raises(ValueError, match="no voxel of mask is other than 0; it has the values 0 and nan"):
        voxelmaps.feature_maps(x, np.where(mask > 0, np.nan, 0), features="glcm")
    with pytest.raises(ValueError, match="no voxel of mask is other than 0; it has only the value 0"):
        voxelmaps.feature_maps(x, mask * 0, features="glcm", crop="mask")
    message = r"no voxel of mask_image is 1 \(inside_pixel_value\); it has the values 0 and 255"
    with pytest.raises(ValueError, match=message):
        voxelmaps.SeedSession(x, mask_image=mask)
    voxelmaps.SeedSession(x, mask_image=mask, inside_pixel_value=255)
    with pytest.raises(ValueError, match=r"no voxel of the mask is 1 \(setting label\); it has the values 0 and 255"):
        voxelmaps.radiomics.execute(itk.image_from_array(x), itk.image_from_array(mask))
