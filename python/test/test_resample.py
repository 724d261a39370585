# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.resample against SimpleITK, and for arrays and images of all kinds."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import is_like, to_numpy
from voxelmaps import _image

NAMES = [*(("bspline", order) for order in range(1, 6)), ("nearest", None), ("linear", None)]


def image_of(shape, dtype=np.float64, seed=0, spacing=None, direction=None):
    """An image of SimpleITK of noise, with a constant corner."""
    sitk = pytest.importorskip("SimpleITK")
    random = np.random.default_rng(seed)
    array = (random.normal(size=shape) * 90).clip(-99, 99) + (100 if np.dtype(dtype).kind == "u" else 0)
    array = array.astype(dtype)
    array[tuple(slice(0, n // 3) for n in shape)] = 7
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing or random.choice([0.5, 0.7, 0.8, 1, 1.5, 3], len(shape)).tolist())
    image.SetOrigin(random.uniform(-50, 50, len(shape)).tolist())
    if direction is not None:
        image.SetDirection(np.ravel(direction).tolist())
    return image


def expected_of(image, like, name, order, default=0.0):
    sitk = pytest.importorskip("SimpleITK")
    interpolator = {"nearest": sitk.sitkNearestNeighbor, "linear": sitk.sitkLinear}.get(name)
    interpolator = getattr(sitk, f"sitkBSpline{order}") if interpolator is None else interpolator
    place = like.GetOrigin(), like.GetSpacing(), like.GetDirection()
    identity = sitk.Transform(image.GetDimension(), sitk.sitkIdentity)
    return sitk.Resample(image, like.GetSize(), identity, interpolator, *place, default, image.GetPixelID())


def array_of(image):
    return pytest.importorskip("SimpleITK").GetArrayFromImage(image)


def given(order):
    return {} if order is None else {"order": order}


def rotation(dimension, seed):
    """The rows of a rotation, perhaps with a reflection."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension,) * 2))[0]


def is_read_beyond(shape, order):
    """Whether ITK reads before the first coefficient: it mirrors an index at most once at each end."""
    return order is not None and any(1 < n < (order + 3) // 2 for n in shape)


# --- Values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["axes of space", "flipped", "same rotation", "other rotation"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "int32"])
def test_values_of_simpleitk(kind, seed, dtype):
    """The same bits where axes are those of space, whose inverse is exact."""
    random = np.random.default_rng([seed, len(kind)])
    dimension = 2 + seed % 2
    shape, other = (random.integers(1 + (seed > 0), 71 if dimension == 2 else 30, dimension).tolist() for _ in "12")
    if seed == 1:
        shape[0] = 1
    direction = {
        "axes of space": np.eye(dimension),
        "flipped": np.diag([-1.0] * (dimension - 1) + [1.0]),
    }.get(kind, rotation(dimension, seed))
    image = image_of(shape, dtype, seed, direction=direction)
    like = image_of(
        other, dtype, seed + 100, direction=rotation(dimension, 50) if kind == "other rotation" else direction
    )
    # With a rotation, ties depend on the rounding of its inverse.
    offset = direction @ random.uniform(-4, 6, dimension) * (seed % 3 > 0 or "rotation" in kind)
    like.SetOrigin(np.add(image.GetOrigin(), offset).tolist())
    default = 3.0 if dtype == "uint8" else -7.0
    for name, order in NAMES:
        if is_read_beyond(shape, order):
            continue
        result = voxelmaps.resample(image, like=like, interpolation=name, default_value=default, **given(order))
        assert (result.GetSize(), result.GetOrigin(), result.GetSpacing()) == (
            like.GetSize(),
            like.GetOrigin(),
            like.GetSpacing(),
        )
        values, expected = array_of(result), array_of(expected_of(image, like, name, order, default))
        assert values.dtype == expected.dtype
        if "rotation" not in kind:
            np.testing.assert_array_equal(values, expected, err_msg=f"{name} {order}")
        else:
            # Range 200. Just below an integer, 1 is cut off.
            limit = {"float64": 2e-10, "float32": 2e-5}.get(dtype, name != "nearest")
            assert np.abs(values.astype(float) - expected).max() <= limit


@pytest.mark.parametrize("length", range(1, 71))
def test_lines_of_all_lengths(length):
    for axis in range(3):
        shape = [1, 1, 1]
        shape[axis] = length
        image = image_of(shape, seed=length, spacing=[0.8, 1.0, 1.5])
        size = [1, 1, 1]
        size[2 - axis] = 2 * length + 3
        like = image_of(size[::-1], spacing=[0.5] * 3)
        like.SetOrigin(np.add(image.GetOrigin(), [-0.3 * (n > 1) for n in size]).tolist())
        for name, order in NAMES:
            if not is_read_beyond(shape, order):
                values = array_of(voxelmaps.resample(image, like=like, interpolation=name, **given(order)))
                np.testing.assert_array_equal(values, array_of(expected_of(image, like, name, order)))


@pytest.mark.parametrize("order", range(2, 6))
def test_parts_of_large_images(order):
    """The margin around a part changes values by the rounding of a double: in noise not at all."""
    image = image_of((60, 240, 260), seed=order, spacing=[0.8, 0.8, 1.5])
    for corner, size in (((90, 80, 20), (30, 25, 20)), ((0, 0, 0), (9, 30, 5)), ((190, 170, 70), (40, 40, 40))):
        like = image_of(size[::-1], spacing=[1.0] * 3)
        like.SetOrigin(np.add(image.GetOrigin(), corner).tolist())
        values = array_of(voxelmaps.resample(image, like=like, order=order))
        expected = array_of(expected_of(image, like, "bspline", order))
        assert np.abs(values - expected).max() <= 200 * 2.0**-50
        assert (values.astype(np.float32) == expected.astype(np.float32)).all()


def test_ties_of_nearest_neighbor():
    image = image_of((9, 10, 11), np.int16, spacing=[2.0, 2.0, 2.0])
    image.SetOrigin([0.0, 0.0, 0.0])
    like = image_of((20, 22, 24), np.int16, spacing=[1.0, 1.0, 1.0])
    like.SetOrigin([-1.0, -1.0, -1.0])
    values = array_of(voxelmaps.resample(image, like=like, interpolation="nearest", default_value=99))
    np.testing.assert_array_equal(values, array_of(expected_of(image, like, "nearest", None, 99)))


def test_names_of_pyradiomics():
    image = image_of((6, 7, 8))
    for name, other in (
        ("sitkNearestNeighbor", {"interpolation": "nearest"}),
        ("sitkLinear", {"interpolation": "linear"}),
        ("sitkBSpline", {}),
        ("sitkBSpline5", {"order": 5}),
    ):
        values = [array_of(voxelmaps.resample(image, spacing=1, **each)) for each in ({"interpolation": name}, other)]
        np.testing.assert_array_equal(*values)


# --- Arrays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int16", "float32", "uint8"])
def test_arrays_of_all_libraries(library, dtype):
    x = np.random.default_rng(0).integers(0, 100, (3, 8, 9, 10)).astype(dtype)
    given_array = library(x)
    for options in ({}, {"interpolation": "linear"}, {"interpolation": "nearest"}, {"dtype": "float64", "order": 2}):
        parameters = {"spacing": (1, 0.7, 2), "image_spacing": (2, 1, 1.5), **options}
        result = voxelmaps.resample(given_array, **parameters)
        assert is_like(result, given_array)
        expected = voxelmaps.resample(x, device="cpu", **parameters)
        assert expected.shape == (3, 16, 13, 7) and expected.dtype == options.get("dtype", dtype)
        assert to_numpy(result).tobytes() == expected.tobytes()
        each = [voxelmaps.resample(image, device="cpu", threads=3, **parameters) for image in x]
        assert np.stack(each).tobytes() == expected.tobytes()


def test_masks_remain_masks(library):
    x = np.random.default_rng(0).random((8, 9)) < 0.5
    result = voxelmaps.resample(library(x), spacing=0.5, interpolation="nearest")
    assert to_numpy(result).dtype == bool
    np.testing.assert_array_equal(to_numpy(result), np.repeat(np.repeat(x, 2, 0), 2, 1))


def test_views_and_dimension():
    x = np.random.default_rng(0).normal(size=(9, 10, 11))
    turned = np.asfortranarray(x[::-1, :, 1:])
    np.testing.assert_array_equal(
        voxelmaps.resample(turned, spacing=2), voxelmaps.resample(np.ascontiguousarray(turned), spacing=2)
    )
    planes = voxelmaps.resample(x, spacing=2, dimension=2)
    assert planes.shape == (9, 5, 5)
    np.testing.assert_array_equal(planes[3], voxelmaps.resample(x[3], spacing=2))


@pytest.mark.parametrize("spacing", [0.3, 0.5, 0.9999999, 1.0, 1.7, 4.0, 100.0])
def test_extent(spacing):
    """The result is inside of the image, as far as there is room for voxels."""
    for n in (1, 2, 5, 16, 61):
        result = voxelmaps.resample(np.ones((n, 3)), spacing=(spacing, 1), interpolation="nearest", default_value=-1)
        assert (result == 1).all()
        assert abs(len(result) * spacing - n) <= 0.5 * spacing + 1e-6 or len(result) == 1


# --- Images ------------------------------------------------------------------------------------------------------------


def test_images_of_all_kinds():
    itk, nibabel, xarray = map(pytest.importorskip, ("itk", "nibabel", "xarray"))
    x = np.random.default_rng(0).normal(size=(6, 7, 8)).astype(np.float32)
    volume = _image.Image(x, (0.5, 0.75, 2.0), (1.0, 2.0, 3.0), tuple(np.eye(3).ravel()))
    expected = voxelmaps.resample(volume, spacing=(1, 0.625, 0.375))
    assert expected.array.shape == (12, 8, 11) and expected.spacing == (0.375, 0.625, 1.0)
    np.testing.assert_allclose(expected.origin, (1 - 0.0625, 2 - 0.0625, 3 - 0.5), rtol=0, atol=1e-12)
    coordinates = {name: o + s * np.arange(n) for name, o, s, n in zip("xyz", *volume[2:0:-1], volume.size)}
    data_array = xarray.DataArray(x, dims=("z", "y", "x"), coords=coordinates, name="ct")
    for image in (
        _image.to_simpleitk(volume),
        _image.to_itk(volume),
        data_array,
        data_array.transpose("x", "z", "y"),
        nibabel.Nifti1Image(x.T, volume.affine),
    ):
        spacing = (1, 0.625, 0.375)
        if getattr(image, "dims", ())[:1] == ("x",):
            spacing = (0.375, 1, 0.625)
        result = voxelmaps.resample(image, spacing=spacing)
        assert type(result) is type(image)
        opened = _image.opened(result, "result").image
        np.testing.assert_array_equal(np.ascontiguousarray(opened.array), expected.array)
        for found, wanted in zip(opened[1:], expected[1:]):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
        back = _image.opened(voxelmaps.resample(result, like=volume), "back").image
        assert back.size == volume.size
        np.testing.assert_allclose(back.origin, volume.origin, rtol=0, atol=1e-12)


def test_same_size_elsewhere():
    """Results do not get the place of the image because they have its size."""
    x = np.random.default_rng(0).normal(size=(6, 7, 8)).astype(np.float32)
    volume = _image.Image(x, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), tuple(np.eye(3).ravel()))
    moved = volume._replace(origin=(1.0, 2.0, 0.0))
    kinds = [pytest.importorskip("itk") and _image.to_itk, pytest.importorskip("SimpleITK") and _image.to_simpleitk]
    for convert in kinds:
        result = voxelmaps.resample(convert(volume), like=convert(moved), interpolation="linear")
        opened = _image.opened(result, "result").image
        assert opened.origin == moved.origin
        np.testing.assert_array_equal(opened.array[:, :-2, :-1], x[:, 2:, 1:])
        assert not opened.array[:, -2:].any()


def test_paths(tmp_path):
    sitk, image = pytest.importorskip("SimpleITK"), image_of((5, 6, 7), np.int16)
    path = tmp_path / "image.nrrd"
    sitk.WriteImage(image, str(path))
    result, like = voxelmaps.resample(path, spacing=2), voxelmaps.resample(image, like=path, interpolation="nearest")
    np.testing.assert_array_equal(array_of(result), array_of(voxelmaps.resample(image, spacing=2)))
    np.testing.assert_array_equal(array_of(like), array_of(image))


# --- Errors ------------------------------------------------------------------------------------------------------------

X = np.ones((4, 5, 6), np.int16)


@pytest.mark.parametrize(
    "image, parameters, error, text",
    [
        (X, {}, TypeError, "needs the spacing"),
        (X, {"spacing": 0}, ValueError, "spacing is 0, but must be a positive number, or 3"),
        (X, {"spacing": (1, -1, 1)}, ValueError, "must be a positive number"),
        (X, {"spacing": float("nan")}, ValueError, "spacing is nan"),
        (X, {"spacing": (1, 1)}, ValueError, "or 3 of them"),
        (X, {"spacing": "1"}, TypeError, "spacing"),
        (X, {"spacing": 1e-30}, ValueError, "which makes .* voxels along the axes: choose a larger spacing"),
        (
            X,
            {"spacing": 1e-6},
            ValueError,
            r"6000000 x 5000000 x 4000000 voxels \(x, y, z\), .* GiB, but this machine has",
        ),
        (X, {"spacing": 1, "like": X}, ValueError, "only one of them"),
        (X, {"like": X}, TypeError, "image is an array without a geometry"),
        (X, {"spacing": 1, "order": 6}, ValueError, "order is 6, but must be an integer from 0 to 5"),
        (X, {"spacing": 1, "order": 1, "interpolation": "linear"}, ValueError, "order is 1, but has no effect"),
        (X, {"spacing": 1, "interpolation": "sitkGaussian"}, ValueError, "must be one of nearest, linear, bspline"),
        (
            X,
            {"spacing": 1, "default_value": 1e9},
            ValueError,
            "default_value is 1000000000, but must be one of .*Int16",
        ),
        (X, {"spacing": 1, "default_value": float("nan")}, ValueError, "default_value is nan"),
        (X, {"spacing": 1, "dtype": "int8"}, ValueError, "dtype is 'int8'"),
        (X, {"spacing": 1, "image_spacing": 0}, ValueError, "image_spacing is 0"),
        (X, {"spacing": 1, "radius": 1}, TypeError, "no parameter radius"),
        (X > 0, {"spacing": 1}, ValueError, "boolean: choose 'nearest'"),
        (X[0, 0], {"spacing": 1}, ValueError, "image has 1 axes"),
        (X[:0], {"spacing": 1}, ValueError, "must have voxels"),
        (X.astype(complex), {"spacing": 1}, TypeError, "must be real numbers"),
        (
            np.where(np.arange(6) == 2, np.nan, X),
            {"spacing": 1},
            ValueError,
            r"The pixel \(2, 0, 0\) is nan.*choose interpolation='linear'",
        ),
        (np.full((3, 3), np.inf), {"spacing": 1, "order": 5}, ValueError, "is inf, but the B-spline of order 5"),
    ],
)
def test_errors(image, parameters, error, text):
    with pytest.raises(error, match=text):
        voxelmaps.resample(image, **parameters)


def test_nan_of_other_interpolations():
    x = np.arange(8.0).reshape(1, 8)
    x[0, 3] = np.nan
    result = voxelmaps.resample(x, spacing=(1, 0.5), interpolation="linear")
    assert np.isnan(result[0, 5:9]).all() and np.isnan(result).sum() == 4
    assert np.isnan(voxelmaps.resample(x, spacing=1, interpolation="nearest")).sum() == 1


def test_progress_and_abort():
    x, fractions = np.zeros((40, 50, 60)), []
    voxelmaps.resample(x, spacing=0.8, progress=fractions.append)
    assert fractions == sorted(fractions) and fractions[-1] == 1

    def stop(fraction):
        raise KeyError("stop")

    with pytest.raises(KeyError):
        voxelmaps.resample(x, spacing=0.8, progress=stop)
