# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays and DataArrays as input and output, dicts of maps, pickling."""

import copy
import pickle

import itk
import numpy as np
import pytest
import xarray
import voxelmaps

AFFINITY = {"object_mean": 100, "object_variance": 900, "difference_variance": 900}


@pytest.fixture
def image(make_image):
    return make_image((7, 12, 10))


def same_geometry(a, b):
    return (
        list(a.GetOrigin()) == list(b.GetOrigin())
        and list(a.GetSpacing()) == list(b.GetSpacing())
        and np.array_equal(itk.array_from_matrix(a.GetDirection()), itk.array_from_matrix(b.GetDirection()))
        and a.GetLargestPossibleRegion() == b.GetLargestPossibleRegion()
    )


def test_numpy(image):
    array = itk.array_from_image(image)
    maps = itk.run_length_feature_map_image_filter(array)
    assert isinstance(maps, np.ndarray) and maps.dtype == np.float32
    assert maps.shape == array.shape + (11,)
    np.testing.assert_array_equal(maps, itk.array_from_image(itk.run_length_feature_map_image_filter(image)))
    assert itk.run_length_feature_map_image_filter(array, features=["SRE"]).shape == array.shape + (1,)
    strength = itk.fuzzy_connectedness_image_filter(array, seed=[1, 2, 3], **AFFINITY)
    assert isinstance(strength, np.ndarray) and strength.shape == array.shape
    assert strength[3, 2, 1] == 1
    keyword = itk.fuzzy_connectedness_image_filter(Input=array, seed=[1, 2, 3], **AFFINITY)
    np.testing.assert_array_equal(keyword, strength)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">f4", "f2", "f4", "f8"])
def test_array_types(dtype):
    """Arrays of every type give the maps and strengths of their values as double."""
    array = np.random.default_rng(0).integers(0, 100, (5, 12, 10)).astype(dtype)
    if array.dtype.kind == "i":
        array[:, ::2] *= -1
    wide = array.astype(np.float64)
    settings = dict(object_mean=20, object_variance=900, difference_variance=900, seed=[1, 2, 3])
    for given in (array, array[::-1][::-1], array.copy(order="F")):
        for actual, expected in (
            (itk.run_length_feature_map_image_filter(given), itk.run_length_feature_map_image_filter(wide)),
            (
                itk.fuzzy_connectedness_image_filter(given, **settings),
                itk.fuzzy_connectedness_image_filter(wide, **settings),
            ),
        ):
            assert isinstance(actual, np.ndarray)
            np.testing.assert_array_equal(actual, expected)
    labelled = xarray.DataArray(array, dims=("z", "y", "x"))
    expected = itk.run_length_feature_map_image_filter(wide)
    np.testing.assert_array_equal(itk.run_length_feature_map_image_filter(labelled), expected)


def test_arrays_of_other_libraries():
    """Anything with __array__ is taken, such as a tensor, whose dtype is not NumPy's."""

    class Tensor:
        dtype = "tensor.int64"

        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    array = np.random.default_rng(0).integers(0, 100, (5, 12, 10))
    mask = array > 20
    maps = itk.run_length_feature_map_image_filter(Tensor(array), mask_image=Tensor(mask))
    np.testing.assert_array_equal(maps, itk.run_length_feature_map_image_filter(array, mask_image=mask))


def test_images_of_types_without_wrapped_filters():
    array = np.random.default_rng(0).integers(-(2**20), 2**20, (5, 12, 10)).astype(np.int32)
    image = itk.image_from_array(array)
    image.SetSpacing([0.5, 0.75, 2.0])
    assert itk.template(image)[1][0] == itk.SI
    maps = itk.run_length_feature_map_image_filter(image)
    assert same_geometry(maps, image)
    np.testing.assert_array_equal(
        itk.array_from_image(maps), itk.run_length_feature_map_image_filter(array.astype(np.float64))
    )


def test_types_that_cannot_be_taken_exactly():
    array = np.zeros((4, 5), np.int64)
    array[1, 1] = 2**53
    itk.run_length_feature_map_image_filter(array)
    array[1, 1] = -(2**53) - 1
    with pytest.raises(ValueError, match=r"int64 values from -9007199254740993 to 0 .*must not exceed 2\^53"):
        itk.run_length_feature_map_image_filter(array)
    array = np.full((4, 5), 2**64 - 1, np.uint64)
    with pytest.raises(ValueError, match=r"uint64 values"):
        itk.run_length_feature_map_image_filter(array)
    with pytest.raises(TypeError, match="Masked arrays are not supported"):
        itk.run_length_feature_map_image_filter(np.ma.masked_equal(np.zeros((4, 5), np.uint8), 1))
    image = np.zeros((4, 5), np.uint8)
    with pytest.raises(TypeError, match="Masked arrays are not supported"):
        itk.run_length_feature_map_image_filter(image, mask_image=np.ma.masked_equal(image, 0))
    with pytest.raises(TypeError, match="complex64 are not supported"):
        itk.run_length_feature_map_image_filter(image, mask_image=image.astype(np.complex64))
    for dtype in (np.complex64, np.longdouble, "U1", object):
        with pytest.raises(TypeError, match="are not supported; convert the array to float32 or float64"):
            itk.run_length_feature_map_image_filter(np.zeros((4, 5), dtype))


def test_numpy_results_outlive_their_images():
    array = np.random.default_rng(0).integers(0, 200, (64, 64)).astype(np.uint8)
    first = itk.run_length_feature_map_image_filter(array)
    assert type(first) is np.ndarray
    kept = first.copy()
    last = np.asarray(first)[:, 3:, 2]
    del first
    for _ in range(20):
        itk.run_length_feature_map_image_filter(255 - array)
    np.testing.assert_array_equal(last, kept[:, 3:, 2])


@pytest.mark.parametrize(
    "change",
    [np.asfortranarray, lambda a: a[:, ::-1], lambda a: a[1:, :, 2:], lambda a: a.astype(">i2"), lambda a: a.T],
)
def test_numpy_layouts(image, change):
    array = change(itk.array_from_image(image))
    plain = np.array(array, dtype=np.int16, order="C")
    before = array.copy()
    np.testing.assert_array_equal(
        itk.run_length_feature_map_image_filter(array), itk.run_length_feature_map_image_filter(plain)
    )
    np.testing.assert_array_equal(array, before)


def test_xarray(image):
    given = itk.xarray_from_image(image).assign_attrs(units="HU", numbers=[1, 2])
    maps = itk.run_length_feature_map_image_filter(given, features=["RE", "SRE"])
    assert maps.dims == ("z", "y", "x", "feature")
    assert list(maps.feature.values) == ["RE", "SRE"]
    for dim in "xyz":
        np.testing.assert_array_equal(maps.coords[dim], given.coords[dim])
    assert maps.attrs["units"] == "HU"
    expected = itk.array_from_image(itk.run_length_feature_map_image_filter(image, features=["RE", "SRE"]))
    np.testing.assert_array_equal(maps.sel(feature="SRE"), expected[..., 1])
    # ITK calls the axis of components c.
    back = itk.image_from_xarray(maps.rename(feature="c"))
    assert same_geometry(back, image)
    strength = itk.fuzzy_connectedness_image_filter(given, seed=[1, 2, 3], **AFFINITY)
    assert strength.dims == ("z", "y", "x")
    assert same_geometry(itk.image_from_xarray(strength), image)
    assert float(strength[3, 2, 1]) == 1


def test_xarray_in_other_orders(image):
    given = itk.xarray_from_image(image)
    expected = itk.run_length_feature_map_image_filter(given)
    turned = itk.run_length_feature_map_image_filter(given.transpose("x", "z", "y"))
    xarray.testing.assert_equal(turned, expected)
    bare = xarray.DataArray(given.values, dims=("z", "y", "x"))
    np.testing.assert_array_equal(itk.run_length_feature_map_image_filter(bare), expected)


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
    mask = given.copy(data=np.ones(given.shape, np.uint8))
    if message is None:
        itk.run_length_feature_map_image_filter(given)
        return
    with pytest.raises(ValueError, match=message):
        itk.run_length_feature_map_image_filter(given)
    with pytest.raises(ValueError, match=message):
        itk.run_length_feature_map_image_filter(image, mask_image=mask)


def test_xarray_coordinates_that_drift():
    positions = np.concatenate([[0.0], 1 + 1.009 * np.arange(39)])
    given = xarray.DataArray(np.zeros((4, 40), np.uint8), dims=("y", "x"), coords={"x": positions})
    with pytest.raises(ValueError, match="the first step, 1, the last coordinate would be 39 instead of 39.342"):
        itk.run_length_feature_map_image_filter(given)


def test_xarray_dims(image):
    array = itk.array_from_image(image)
    for dims in (("t", "y", "x"), ("k", "j", "i")):
        with pytest.raises(ValueError, match="dims x and y, or x, y and z is needed, not " + ", ".join(dims)):
            itk.run_length_feature_map_image_filter(xarray.DataArray(array, dims=dims))


def test_arrays_as_masks_take_the_region_of_the_image(image):
    region = image.GetLargestPossibleRegion()
    region.SetIndex([2, -3, 1])
    image.SetRegions(region)
    mask = np.random.default_rng(1).random((7, 12, 10)) < 0.5
    maps = itk.run_length_feature_map_image_filter(image, mask_image=mask)
    assert same_geometry(maps, image)
    array = itk.array_from_image(image)
    expected = itk.run_length_feature_map_image_filter(array, mask_image=mask)
    np.testing.assert_array_equal(itk.array_from_image(maps), expected)
    seeds = np.zeros((7, 12, 10), np.uint8)
    seeds[3, 2, 1] = 1
    strength = itk.fuzzy_connectedness_image_filter(image, seed_image=seeds, mask_image=mask | (seeds > 0), **AFFINITY)
    assert itk.array_from_image(strength)[3, 2, 1] == 1


def test_arrays_as_masks_take_the_geometry_of_the_image(image):
    mask = np.random.default_rng(1).random((7, 12, 10)) < 0.5
    maps = itk.run_length_feature_map_image_filter(image, mask_image=mask)
    assert isinstance(maps, itk.VectorImage)
    mask_image = itk.image_from_array(mask.astype(np.uint8))
    mask_image.CopyInformation(image)
    expected = itk.run_length_feature_map_image_filter(image, mask_image=mask_image)
    np.testing.assert_array_equal(itk.array_from_image(maps), itk.array_from_image(expected))
    given = itk.xarray_from_image(image)
    named_mask = given.copy(data=mask)
    for other in (named_mask, named_mask.transpose("x", "y", "z"), named_mask.astype(np.int32)):
        maps = itk.run_length_feature_map_image_filter(given, mask_image=other)
        np.testing.assert_array_equal(maps, itk.array_from_image(expected))


def test_dicts(image):
    names = ["LRE", "GLN", "RE"]
    expected = itk.run_length_feature_map_image_filter(image, features=names)
    array = itk.array_from_image(expected)
    maps = voxelmaps.run_length_feature_maps(image, features=names)
    assert list(maps) == names
    for i, name in enumerate(names):
        assert type(maps[name]) is itk.Image[itk.F, 3] and same_geometry(maps[name], image)
        np.testing.assert_array_equal(itk.array_from_image(maps[name]), array[..., i])
        other = voxelmaps.feature_dict(expected, names)[name]
        np.testing.assert_array_equal(itk.array_from_image(other), array[..., i])
    arrays = voxelmaps.run_length_feature_maps(itk.array_from_image(image), features=names)
    np.testing.assert_array_equal(arrays["RE"], array[..., 2])
    arrays = voxelmaps.run_length_feature_maps(itk.xarray_from_image(image), features=names)
    assert arrays["GLN"].dims == ("z", "y", "x")
    np.testing.assert_array_equal(arrays["GLN"], array[..., 1])
    named = voxelmaps.feature_xarray(expected, names)
    np.testing.assert_array_equal(named.sel(feature="RE"), array[..., 2])
    np.testing.assert_allclose(named.x, -10 + 0.5 * np.arange(10))
    with pytest.raises(ValueError, match="2 names for an image of 3 components"):
        voxelmaps.feature_dict(expected, ["A", "B"])


def test_regions_that_do_not_start_at_zero(image):
    crop = itk.RegionOfInterestImageFilter.New(image)
    region = image.GetLargestPossibleRegion()
    region.SetIndex([2, 3, 1])
    region.SetSize([6, 7, 5])
    extract = itk.ExtractImageFilter[type(image), type(image)].New(image, extraction_region=region)
    extract.SetDirectionCollapseToSubmatrix()
    extract.Update()
    part = extract.GetOutput()
    assert list(part.GetLargestPossibleRegion().GetIndex()) == [2, 3, 1]
    maps = voxelmaps.run_length_feature_maps(part, features=["RLN"])
    assert same_geometry(maps["RLN"], part)
    crop.SetRegionOfInterest(region)
    expected = itk.run_length_feature_map_image_filter(crop, features=["RLN"])
    np.testing.assert_array_equal(itk.array_from_image(maps["RLN"]), _last_axis(expected)[..., 0])


def _last_axis(image):
    array = itk.array_from_image(image)
    return array if array.ndim > image.GetImageDimension() else array[..., np.newaxis]


def test_nan_is_not_a_seed(image):
    seeds = np.full((7, 12, 10), np.nan)
    seeds[3, 2, 1] = 1
    strength = itk.fuzzy_connectedness_image_filter(image, seed_image=seeds, **AFFINITY)
    expected = itk.fuzzy_connectedness_image_filter(image, seed=[1, 2, 3], **AFFINITY)
    np.testing.assert_array_equal(itk.array_from_image(strength), itk.array_from_image(expected))


def test_pickling(image):
    maps = itk.run_length_feature_map_image_filter(image, features=["RE", "SRE"])
    single = itk.run_length_feature_map_image_filter(image, features=["RE"])
    strength = itk.fuzzy_connectedness_image_filter(image, seed=[1, 2, 3], **AFFINITY)
    levels = itk.gray_level_discretization_image_filter(image)
    for result in (maps, single, strength, levels):
        for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert type(other) is type(result)
            assert same_geometry(other, result)
            assert other.GetNumberOfComponentsPerPixel() == result.GetNumberOfComponentsPerPixel()
            np.testing.assert_array_equal(itk.array_from_image(other), itk.array_from_image(result))
    array = itk.run_length_feature_map_image_filter(itk.array_from_image(image))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)
    labelled = itk.run_length_feature_map_image_filter(itk.xarray_from_image(image))
    xarray.testing.assert_identical(pickle.loads(pickle.dumps(labelled)), labelled)


@pytest.mark.parametrize("shape", [(8, 1, 1), (1, 8, 1), (1, 1, 8), (8, 1), (1, 8), (1, 1)])
def test_lines_of_voxels_keep_their_axes(shape):
    array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    mask = np.ones(shape, np.uint8)
    maps = itk.run_length_feature_map_image_filter(array, mask_image=mask, features=["SRE", "LRE"])
    assert maps.shape == shape + (2,)


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


@pytest.mark.parametrize("shape", [(8, 1, 1), (1, 8, 1), (1, 1, 8), (8, 1), (1, 8)])
def test_lines_of_voxels_keep_their_axes_as_dataarrays(shape):
    dims = ("z", "y", "x")[-len(shape) :]
    line = xarray.DataArray(np.arange(8, dtype=np.int16).reshape(shape), dims=dims)
    ones = line.copy(data=np.ones(shape, np.uint8)).transpose(*dims[::-1])
    for mask in (None, ones):
        maps = itk.first_order_feature_map_image_filter(
            line, mask_image=mask, features=["Mean"], neighborhood_radius=1, voxel_array_shift=0
        )
        assert maps.shape == (*shape, 1)
        np.testing.assert_array_equal(maps.values.ravel(), [0.5, 1, 2, 3, 4, 5, 6, 6.5])
    vectors = xarray.DataArray(line.values[..., np.newaxis].astype(np.float32), dims=(*dims, "c"))
    affinity = {"object_mean_vector": [0], "object_covariance": [[1]], "difference_covariance": [[1]]}
    strength = itk.fuzzy_connectedness_image_filter(vectors, seed=[0] * len(shape), **affinity)
    assert strength.shape == shape and strength.values.flat[0] == 1 and (np.diff(strength.values.ravel()) < 0).any()


def cube():
    """An image, and a mask whose axes cannot be confused."""
    random = np.random.default_rng(0)
    mask = np.zeros((6, 6, 6), np.uint8)
    mask[1:3, 2:5, 1:6] = random.random((2, 3, 5)) < 0.8
    return random.integers(0, 100, mask.shape).astype(np.uint8), mask


def test_masks_with_turned_axes():
    """DataArrays are turned to the axes of the image; arrays without names are refused where the image is turned."""
    x, mask = cube()
    dims = ("z", "y", "x")
    named, named_mask = (xarray.DataArray(array, dims=dims) for array in (x, mask))
    turned = named.transpose("x", "z", "y")
    place = tuple(int(i) for i in np.argwhere(mask)[0])
    seed = {"object_mean": 50, "object_variance": 900, "difference_variance": 900}
    functions = {
        "feature_maps": lambda x, m: voxelmaps.feature_maps(x, m, features=["firstorder_Mean"]).array[0],
        "selection": lambda x, m: voxelmaps.feature_maps(x, selection=m, features=["firstorder_Mean"]).array[0],
        "labels": lambda x, m: voxelmaps.labels(x, m, m, **seed),
        "fuzzy_connectedness": lambda x, m: voxelmaps.fuzzy_connectedness(x, m, m, **seed),
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
    for parameter in ("mask_image", "selection_image"):
        maps = itk.first_order_feature_map_image_filter(turned, **{parameter: named_mask})
        np.testing.assert_array_equal(maps, itk.first_order_feature_map_image_filter(named, **{parameter: mask}))
        for function in (itk.first_order_feature_map_image_filter, voxelmaps.run_length_feature_maps):
            with pytest.raises(ValueError, match=f"{parameter} is an array without names of axes, .* are x, z, y"):
                function(turned, **{parameter: mask})
    assert place in map(tuple, np.argwhere(mask))


def test_masks_without_a_voxel_inside():
    x, mask = cube()
    mask *= 255
    seed = {"seed": [1, 2, 1], "object_mean": 50, "object_variance": 900, "difference_variance": 900}
    labeled = {**seed, "seeds": {1: [1, 2, 1]}}
    del labeled["seed"]
    for name in dir(itk):
        if not name.endswith(("feature_map_image_filter", "connectedness_image_filter", "discretization_image_filter")):
            continue
        if name.startswith("cuda"):
            continue
        own = labeled if name.startswith("relative") else seed if "connectedness" in name else {}
        message = r"no voxel of mask_image is 1 \(inside_pixel_value\); it has the values 0 and 255"
        with pytest.raises(ValueError, match=message):
            getattr(itk, name)(x, mask_image=mask, **own)
    for function in (voxelmaps.run_length_feature_maps, voxelmaps.crop_slices):
        with pytest.raises(ValueError, match="no voxel of mask_image is 2 .*; it has the values 0 and 255"):
            function(x, mask_image=mask, inside_pixel_value=2, crop="mask")
    with pytest.raises(ValueError, match="no voxel of selection_image is 1 .*; it has the values 0 and 255"):
        itk.run_length_feature_map_image_filter(x, selection_image=mask)
    itk.run_length_feature_map_image_filter(x, mask_image=mask, inside_pixel_value=255)
    with pytest.raises(ValueError, match="no voxel of mask is other than 0; it has the values 0 and nan"):
        voxelmaps.feature_maps(x, np.where(mask > 0, np.nan, 0), features="glcm")
    with pytest.raises(ValueError, match="no voxel of mask is other than 0; it has only the value 0"):
        voxelmaps.feature_maps(x, mask * 0, features="glcm", crop="mask")
    with pytest.raises(ValueError, match=r"no voxel of the mask is 1 \(setting label\); it has the values 0 and 255"):
        voxelmaps.radiomics.execute(itk.image_from_array(x), itk.image_from_array(mask))
