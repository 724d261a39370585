# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Filtered images beside those of SimpleITK, ITK, PyWavelets and SciPy; kinds of images; arrays of all libraries."""

import itertools

import numpy as np
import pytest
import voxelmaps
from array_libraries import is_like, needs_device, to_numpy
from voxelmaps import _arrays, _filter_image, _image

SPACING = (0.5, 0.75, 2.0)
DIRECTION = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
# Arrays that may look like color have one.
UNITS = {"spacing": (1, 1, 1)}
KINDS = ["uint8", "int16", "int32", "float32", "float64"]


def noise(random, shape, dtype="int16"):
    return random.normal(100, 40, shape).clip(0, 250).astype(dtype)


def sizes(random, least=1):
    """One axis has up to 70 voxels, the others up to 9."""
    shape = random.integers(least, 10, 3)
    shape[random.integers(3)] = random.choice([least, random.integers(least, 71)])
    return tuple(map(int, shape))


def simpleitk_image(array):
    pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    return _image.to_simpleitk(_image.Image(array, SPACING, (1.0, 2.0, 3.0), DIRECTION))


def expect_close(found, expected, image):
    """Within 1e-12 of the range of the image, which may have one voxel."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-12 * (np.ptp(image) or np.abs(image).max())


# --- Beside other libraries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_recursive_filters_of_simpleitk(seed):
    """To the last bit, with ITK's rounding to float."""
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    random = np.random.default_rng(seed)
    for kind in KINDS:
        image = simpleitk_image(noise(random, sizes(random, 4), kind))
        sigma = [float(random.uniform(0.4, 4)), 1]
        laplacians = voxelmaps.filter_image(image, "LoG", sigma=sigma)
        gaussian = voxelmaps.filter_image(image, "Gaussian", sigma=sigma[0])
        use_spacing = bool(seed % 2)
        gradient = voxelmaps.filter_image(image, "Gradient", use_spacing=use_spacing)
        pairs = [
            *((laplacians[s], sitk.LaplacianRecursiveGaussian(image, s, True)) for s in sigma),
            (gaussian, sitk.SmoothingRecursiveGaussian(image, sigma[0])),
            (gradient, sitk.GradientMagnitude(image, use_spacing)),
        ]
        for ours, theirs in pairs:
            assert ours.GetPixelID() == theirs.GetPixelID() and ours.GetDirection() == theirs.GetDirection()
            np.testing.assert_array_equal(*map(sitk.GetArrayFromImage, (ours, theirs)))


@pytest.mark.parametrize("seed", range(6))
def test_recursive_filters_of_itk_in_double_precision(seed):
    itk = pytest.importorskip("itk")
    random = np.random.default_rng(seed)
    array = noise(random, sizes(random, 4), "float64")

    def filtered(image, axis, order, sigma, normalize):
        filter = itk.RecursiveGaussianImageFilter[itk.Image[itk.D, 3], itk.Image[itk.D, 3]].New(image)
        filter.SetDirection(axis)
        filter.SetSigma(sigma)
        (filter.SetZeroOrder, filter.SetFirstOrder, filter.SetSecondOrder)[order]()
        filter.SetNormalizeAcrossScale(normalize)
        filter.Update()
        return filter.GetOutput()

    image = itk.image_from_array(array)
    image.SetSpacing(SPACING)
    sigma = float(random.uniform(0.5, 2.5))
    expected = np.zeros(array.shape)
    for derived in range(3):
        result = filtered(image, derived, 2, sigma, True)
        for axis in {0, 1, 2} - {derived}:
            result = filtered(result, axis, 0, sigma, True)
        expected += itk.array_from_image(result) / SPACING[derived] ** 2
    expect_close(
        voxelmaps.filter_image(array, "LoG", sigma=sigma, spacing=SPACING[::-1], precision="double"), expected, array
    )
    order = tuple(map(int, random.integers(0, 3, 3)))
    result = image
    for axis in (2, 0, 1):
        result = filtered(result, axis, order[::-1][axis], sigma, False)
    ours = voxelmaps.filter_image(image, "Gaussian", sigma=sigma, order=order, precision="double")
    expect_close(itk.array_from_image(ours), itk.array_from_image(result), array)


@pytest.mark.parametrize("name", ["haar", "db3", "coif1", "sym5", "bior2.2", "rbio1.3", "dmey"])
def test_subbands_of_pywavelets(name):
    """To the last bit; the image of odd size has its first plane again, as in PyRadiomics."""
    pywt = pytest.importorskip("pywt", reason="PyWavelets is not installed")
    random = np.random.default_rng(len(name))
    for kind, plane_axis in itertools.product(KINDS, (None, 0, 2)):
        array = noise(random, sizes(random), kind)
        axes = [axis for axis in (2, 1, 0) if axis != plane_axis]
        even = np.pad(array, [(0, n % 2 if axis in axes else 0) for axis, n in enumerate(array.shape)], mode="wrap")
        [first] = pywt.swtn(even, name, 1, axes=axes)
        [second] = pywt.swtn(first["a" * len(axes)], name, 1, axes=axes)
        found = voxelmaps.filter_image(array, "Wavelet", wavelet=name, level=2, plane_axis=plane_axis, **UNITS)
        expected = {
            **{f"wavelet-{code}": values for code, values in sorted(first.items()) if "d" in code},
            **{f"wavelet2-{code}": values for code, values in sorted(second.items()) if "d" in code},
            f"wavelet2-{'a' * len(axes)}": second["a" * len(axes)],
        }
        assert [key.replace("L", "a").replace("H", "d") for key in found] == list(expected)
        for ours, theirs in zip(found.values(), expected.values()):
            np.testing.assert_array_equal(ours, theirs[tuple(map(slice, array.shape))])
            assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap"])
def test_convolutions_of_scipy(mode):
    ndimage = pytest.importorskip("scipy.ndimage")
    random = np.random.default_rng(3)
    for round in range(12):
        array = noise(random, sizes(random), "float64")
        weights = [random.normal(size=random.integers(1, 12)) if random.random() < 0.8 else None for _ in range(3)]
        weights[round % 3] = [0.5, -2, 1.5]
        expected = array
        for axis in (2, 1, 0):
            if weights[axis] is not None:
                expected = ndimage.correlate1d(expected, weights[axis], axis, mode=mode)
        expect_close(voxelmaps.filter_image(array, "Convolution", weights=weights, mode=mode, **UNITS), expected, array)
        size = tuple(map(int, random.integers(1, 6, 3)))
        expected = ndimage.uniform_filter(array, size, mode=mode)
        expect_close(voxelmaps.filter_image(array, "Mean", size=size, mode=mode, **UNITS), expected, array)
    same = np.ones(3) / 3
    np.testing.assert_array_equal(
        voxelmaps.filter_image(array, "Convolution", weights=same, **UNITS),
        voxelmaps.filter_image(array, "Mean", **UNITS),
    )


def test_functions_of_intensities():
    image = np.array([[-4.0, 0.0], [1.0, 9.0]])
    expected = {
        "Square": (image / 3) ** 2,
        "SquareRoot": [[-6, 0], [3, 9]],
        "Logarithm": np.sign(image) * np.log(np.abs(image) + 1) * 9 / np.log(10),
        "Exponential": 9 ** (image / 9),
    }
    for name, values in expected.items():
        found = voxelmaps.filter_image(image, name)
        np.testing.assert_allclose(found, values, rtol=1e-14)
        single = voxelmaps.filter_image(image, name, precision="float")
        np.testing.assert_array_equal(single, found.astype(np.float32))
        assert single.dtype == np.float32
        # The least integer has no magnitude in its type.
        integers = np.array([[-(2**15), 5]], np.int16)
        expected = voxelmaps.filter_image(integers.astype(float), name)
        np.testing.assert_array_equal(voxelmaps.filter_image(integers, name), expected)
        zeros = voxelmaps.filter_image(np.zeros((2, 2)), name)
        assert np.isnan(zeros).all() if name != "SquareRoot" else not zeros.any()


@pytest.mark.parametrize("filter", _filter_image.INTENSITIES)
def test_functions_of_intensities_that_are_not_finite(filter):
    """NaN stays where it is, and neither it nor infinity changes the scale of others."""
    image = np.array([-4.0, 0.0, 1.0, 9.0, 0.5])
    expected = voxelmaps.filter_image(image[None], filter)[0]
    for value in (np.nan, np.inf):
        found = voxelmaps.filter_image(np.append(image, value)[None], filter)[0]
        np.testing.assert_array_equal(found[:-1], expected)
        np.testing.assert_equal(found[-1], value)
    with pytest.raises(ValueError, match="image has no finite voxel, but the greatest absolute intensity sets"):
        voxelmaps.filter_image(np.full((2, 2), np.nan), filter)


# --- Images ------------------------------------------------------------------------------------------------------------

CALLS = [
    ("LoG", {"sigma": [1.0, 2.5]}),
    ("Gaussian", {"sigma": 1.5, "order": (0, 1, 0)}),
    ("Gradient", {}),
    ("Wavelet", {"wavelet": "db2"}),
    ("Mean", {"size": 3, "mode": "wrap"}),
    ("Convolution", {"weights": [1, -1]}),
]


def flat(result):
    return list(result.values()) if isinstance(result, dict) else [result]


@pytest.mark.parametrize("filter, parameters", [*CALLS, ("Square", {}), ("Logarithm", {})])
def test_kinds_of_images(filter, parameters, tmp_path):
    """Results are images of the same kind with the same geometry, and have the same values."""
    for module in ("itk", "nibabel", "xarray"):
        pytest.importorskip(module)
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    if filter == "Wavelet":
        pytest.importorskip("pywt", reason="PyWavelets is not installed")
    array = noise(np.random.default_rng(1), (6, 9, 10))
    image = simpleitk_image(array)
    expected = flat(voxelmaps.filter_image(array, filter, spacing=SPACING[::-1], **parameters))
    path = tmp_path / "image.nrrd"
    sitk.WriteImage(image, str(path))
    volume = _image.from_simpleitk(image)
    for given in (image, path, _image.to_itk(volume), _image.to_nibabel(volume), _image.to_xarray(volume)):
        for ours, values in zip(flat(voxelmaps.filter_image(given, filter, **parameters)), expected):
            opened = _image.opened(ours, "result").image
            np.testing.assert_array_equal(opened.array, values)
            np.testing.assert_allclose(opened.spacing, SPACING)
            np.testing.assert_allclose(opened.direction, DIRECTION, atol=1e-6)
            assert given is path or type(ours).__module__ == type(given).__module__


@pytest.mark.parametrize("filter, parameters", CALLS)
@pytest.mark.parametrize("shape", [(6, 9, 10), (7, 1, 5), (8, 9)])
def test_arrays_of_all_libraries(library, shape, filter, parameters):
    if filter == "Wavelet":
        pytest.importorskip("pywt", reason="PyWavelets is not installed")
    if "order" in parameters:
        parameters = {**parameters, "order": parameters["order"][-len(shape) :]}
    for kind in KINDS:
        array = noise(np.random.default_rng(2), shape, kind)
        expected = flat(voxelmaps.filter_image(array, filter, device="cpu", **parameters))
        given = library(array)
        for ours, values in zip(flat(voxelmaps.filter_image(given, filter, **parameters)), expected):
            assert is_like(ours, given)
            np.testing.assert_array_equal(to_numpy(ours), values)


@needs_device
@pytest.mark.parametrize("filter, parameters", CALLS)
def test_bits_of_the_device(filter, parameters):
    if filter == "Wavelet":
        pytest.importorskip("pywt", reason="PyWavelets is not installed")
    array = noise(np.random.default_rng(4), (40, 61, 70))
    for precision in ("float", "double"):
        of_cpu, of_device = (
            flat(voxelmaps.filter_image(array, filter, precision=precision, device=device, **parameters))
            for device in ("cpu", "cuda")
        )
        for ours, theirs in zip(of_device, of_cpu):
            np.testing.assert_array_equal(ours, theirs)


def test_parts_of_images():
    """Voxels that do not matter in double precision are not read; with entire lines, parts have the bits of the image."""
    array = noise(np.random.default_rng(5), (9, 300, 12))
    image = _arrays.array_of(array, "image")
    images, box = [_filter_image.laplacian_of_gaussian((1.0, 1.0, 1.0), 2.0)], (
        slice(2, 5),
        slice(140, 160),
        slice(3, 9),
    )
    for dtype in ("float32", "float64"):
        options = {"dtype": dtype, "is_single": dtype == "float32"}
        expected = _filter_image.compute(image, images, **options).array[(0, *box)]
        entire = _filter_image.compute(image, images, box=box, uses_entire_lines=True, **options).array[0]
        np.testing.assert_array_equal(entire, expected)
    expect_close(_filter_image.compute(image, images, box=box).array[0], expected, array)


def test_progress_and_abort():
    array, fractions = np.ones((30, 30, 30), np.float32), []
    voxelmaps.filter_image(array, "LoG", sigma=[1.0, 2.0], progress=fractions.append)
    assert fractions == sorted(fractions) and fractions[-1] == 1

    def stop(_):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="^stop$"):
        voxelmaps.filter_image(array, "LoG", sigma=1.0, progress=stop)


def test_results_that_no_memory_holds():
    image = _arrays.Array(np.broadcast_to(np.uint8(1), (2**15,) * 3), _arrays.Library("NumPy"))
    with pytest.raises(MemoryError, match="^1 images of the shape .* need 281474976710656 bytes, which no machine has"):
        _filter_image.compute(image, [_filter_image.gradient_magnitude((1.0, 1.0, 1.0))])


def test_images_without_voxels():
    assert voxelmaps.filter_image(np.zeros((0, 4, 5)), "Mean").shape == (0, 4, 5)
    with pytest.raises(ValueError, match=r"image has the shape \(0, 4, 5\), but must have voxels"):
        voxelmaps.filter_image(np.zeros((0, 4, 5)), "Square")


def test_voxels_that_are_not_finite():
    """They spread along lines with recursive filters, and as far as the kernel with others."""
    array = np.ones((5, 6, 7))
    array[2, 3, 4] = np.nan
    found = np.isnan(voxelmaps.filter_image(array, "Gaussian", sigma=1.0, precision="double"))
    assert found.all()
    found = np.isnan(voxelmaps.filter_image(array, "Mean", size=3))
    assert found[1:4, 2:5, 3:6].all() and np.count_nonzero(found) == 27
