# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Features and filters of IBSI: reference values of the phantoms in the package, and matrices against brute force."""

import csv
import itertools
import math
import os

import numpy as np
import pytest
import voxelmaps
from voxelmaps import _core
from voxelmaps._cli import main
from voxelmaps._ibsi import benchmark, patients, response_maps

pytest.importorskip("scipy", reason="SciPy is not installed")
nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed")
pytest.importorskip("pywt", reason="PyWavelets is not installed")

# Folders with copies of IBSI's repositories, if available.
DATA, REFERENCE = os.environ.get("VOXELMAPS_IBSI_DATA"), os.environ.get("VOXELMAPS_IBSI_REFERENCE")


def test_reference_values(capsys):
    """All values of the digital phantom and voxels of all response maps; with IBSI's data also those of the CT phantom."""
    folders = {"--data": DATA, "--reference": REFERENCE}
    code = main(["ibsi", *(each for name, folder in folders.items() if folder for each in (name, folder))])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert f"| IBSI 1 | all | | {2104 if DATA else 482} | {2104 if DATA else 482} |" in lines
    assert "| IBSI 2, phase 1 | all | | 33 | 33 |" in lines
    assert ("| IBSI 2, phase 2 | all | | 323 | 323 |" in lines) == bool(DATA and REFERENCE)


def test_references_can_fail():
    assert not benchmark._is_within(1.26, 1.24, 0.01)
    assert benchmark._is_within(1.2549, 1.24, 0.01)
    assert not benchmark._is_within(float("nan"), 1.0, 10.0)
    assert not benchmark._is_within(125255, 125256, 0)


def _random_region(seed, shape, levels=3):
    rng = np.random.default_rng(seed)
    return (rng.integers(0, levels + 1, shape) * (rng.random(shape) < 0.8)).astype(np.uint16)


def _zones(levels, is_planar):
    """Lists of the voxels of zones, by brute force."""
    left = {tuple(place): levels[tuple(place)] for place in np.argwhere(levels)}
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step) and not (is_planar and step[0])]
    while left:
        zone, (first, level) = [], left.popitem()
        found = [first]
        while found:
            zone.append(found.pop())
            for step in steps:
                other = tuple(np.add(zone[-1], step))
                if left.get(other) == level:
                    del left[other]
                    found.append(other)
        yield level, zone


def _distance(place, inside, is_planar):
    """City-block distance to the nearest voxel outside the region, or outside the image."""
    outside = np.argwhere(np.pad(~inside, 1, constant_values=True)) - 1
    if is_planar:
        outside = outside[outside[:, 0] == place[0]]
    return np.abs(outside - place).sum(axis=1).min()


@pytest.mark.parametrize("shape", [(1, 6, 7), (5, 4, 6), (7, 7, 7), (3, 1, 1)])
@pytest.mark.parametrize("is_planar", [False, True])
@pytest.mark.parametrize("has_mask", [False, True])
def test_distance_zones(shape, is_planar, has_mask):
    levels = _random_region(sum(shape), shape, 2)
    inside = levels != 0
    if has_mask:
        inside |= np.random.default_rng(1).random(shape) < 0.7
    expected = {}
    for level, zone in _zones(levels, is_planar):
        key = (level, min(_distance(place, inside, is_planar) for place in zone))
        expected[key] = expected.get(key, 0) + 1
    mask = inside.astype(np.uint8)
    found = _core.compute_region_matrix(
        "gldzm",
        levels=levels.ctypes.data,
        inside=mask.ctypes.data if has_mask else 0,
        size=shape[::-1],
        offsets=(),
        connects_axis=(True, True, not is_planar),
        alpha=0,
    )
    assert found == [(*key, float(count)) for key, count in sorted(expected.items())]


def test_tones_of_voxels_without_neighbors():
    """IBSI's differences of tones leave them out."""
    image = np.zeros((1, 3, 9))
    image[0, :, :3] = [[1, 2, 2], [3, 1, 2], [2, 1, 3]]
    expected = voxelmaps.ibsi_features(image, image > 0, families="ngt", aggregations=["2D_avg", "3D_avg"])
    image[0, 1, 8] = 3
    assert voxelmaps.ibsi_features(image, image > 0, families="ngt", aggregations=["2D_avg", "3D_avg"]) == expected


def test_slices_and_volume_of_one_slice():
    """In a single slice, all ways to combine slices agree."""
    image = _random_region(3, (1, 9, 9), 4).astype(float)
    values = voxelmaps.ibsi_features(
        image, image > 0, families=["cm", "szm"], aggregations=["2D_avg", "2_5D_avg", "2D_comb", "2_5D_comb"]
    )
    for tag, value in values.items():
        assert value == pytest.approx(values[tag.replace("2_5D", "2D")], rel=1e-12)


def test_volume_histogram_by_hand():
    """Ten voxels of 1 to 10: a fraction of intensity of 0.1 is that of 1.9, which nine voxels reach with 2."""
    image = np.arange(1.0, 11.0).reshape(1, 1, 10)
    values = voxelmaps.ibsi_features(image, np.ones((1, 1, 10), int), families="ivh")
    assert {tag: round(value, 12) for tag, value in values.items()} == {
        "ivh_v10": 0.9,
        "ivh_v90": 0.1,
        "ivh_i10": 10.0,
        "ivh_i90": 2.0,
        "ivh_diff_v10_v90": 0.8,
        "ivh_diff_i10_i90": 8.0,
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [(1, 1, 1), (1, 4, 4), (1, 1, 4)])
def test_flat_and_small_regions(size):
    """Features that a point, a line or a plane does not have are NaN."""
    image = np.random.default_rng(0).normal(100, 20, (6, 7, 8))
    mask = np.zeros(image.shape, int)
    mask[tuple(slice(2, 2 + n) for n in size)] = 1
    values = voxelmaps.ibsi_features(image, mask, bin_count=8)
    assert values["morph_vol_approx"] == mask.sum() and values["stat_mean"] == pytest.approx(image[mask != 0].mean())
    flatness = values["morph_pca_flatness"]
    assert np.isnan(flatness) if mask.sum() == 1 else flatness == 0


def test_resegmentation_leaves_shape():
    image = np.arange(1.0, 65.0).reshape(4, 4, 4)
    mask = np.ones((4, 4, 4), int)
    one = voxelmaps.ibsi_features(image, mask, bin_width=8, families=["morph", "stat"])
    other = voxelmaps.ibsi_features(image, mask, bin_width=8, families=["morph", "stat"], intensity_range=(10, 50))
    assert other["morph_volume"] == one["morph_volume"]
    assert (other["stat_min"], other["stat_max"]) == (10.0, 50.0)


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"families": "glcm"}, "families has 'glcm', but must be of morph"),
        ({"aggregations": "3D"}, "aggregations has '3D', but must be of 2D_avg"),
        ({"bin_width": 0}, "bin_width is 0, but must be a number greater than 0"),
        ({"bin_count": 2.5}, "bin_count is 2.5, but must be an integer from 1 to 65535"),
        ({"dependence_alpha": -1}, "dependence_alpha is -1, but must be an integer from 0"),
        ({"intensity_range": (5,)}, "must be two numbers, the lower one first"),
        ({"families": 5}, "families is 5, but must be of morph"),
        ({"bin_width": 5, "bin_count": 4}, "only one of them can set the gray levels"),
        ({"intensity_range": (5, 5)}, "must be two numbers, the lower one first"),
        ({"intensity_range": (500, 600)}, "none of the 64 voxels of the region has an intensity"),
        ({}, "intensities from 0.5 to 63.5 are no gray levels"),
        ({"label": 3}, "no voxel of mask is 3"),
    ],
)
def test_wrong_arguments(arguments, text):
    image = np.arange(64.0).reshape(4, 4, 4) + 0.5
    with pytest.raises((ValueError, TypeError), match=text.replace("(", r"\(")):
        voxelmaps.ibsi_features(image, np.ones((4, 4, 4), int), **arguments)


def test_images_of_two_axes_and_infinity():
    with pytest.raises(ValueError, match="those of volumes, which have 3"):
        voxelmaps.ibsi_features(np.ones((4, 4)), np.ones((4, 4), int))
    image = np.ones((2, 2, 2))
    image[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="infinite intensities in the region"):
        voxelmaps.ibsi_features(image, np.ones((2, 2, 2), int))


# SciPy's names of boundaries.
_MODES = {"zero": "constant", "nearest": "nearest", "periodic": "wrap", "mirror": "reflect"}


def _convolved(volume, kernels, boundary):
    """The volume, convolved along x, y and z, by SciPy."""
    from scipy import ndimage

    for axis, kernel in zip((2, 1, 0), kernels):
        volume = ndimage.convolve1d(volume, np.asarray(kernel, float), axis, mode=_MODES[boundary])
    return volume


def _volume(shape=(7, 8, 9)):
    return np.random.default_rng(3).normal(0, 1, shape)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("boundary", response_maps.BOUNDARIES)
def test_response_maps_are_those_of_scipy(boundary, dimension):
    volume = _volume()

    def check(expected, *arguments, **parameters):
        found = voxelmaps.response_map(volume, *arguments, boundary=boundary, dimension=dimension, **parameters)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    check(_convolved(volume, [np.full(3, 1 / 3)] * dimension, boundary), "mean", size=3)
    terms = 0
    for derived in range(dimension):
        kernels = []
        for axis, sigma in enumerate((1.5, 1.0, 0.75)[:dimension]):
            x = np.arange(-math.floor(3 * sigma + 0.5), math.floor(3 * sigma + 0.5) + 1)
            kernel = np.exp(-0.5 * (x / sigma) ** 2) / np.sqrt(2 * np.pi * sigma**2)
            kernels.append(kernel * (x**2 - sigma**2) / sigma**4 if axis == derived else kernel)
        terms = terms + _convolved(volume, kernels, boundary)
    check(terms, "LoG", sigma=1.5, cutoff=3, spacing=(2.0, 1.5, 1.0))
    kernels = [
        np.array([-1, 0, 1]) / 2**0.5,
        np.array([1, 4, 6, 4, 1]) / 70**0.5,
        np.array([1, -4, 6, -4, 1]) / 70**0.5,
    ]
    expected = _convolved(volume, kernels[:dimension], boundary)
    names = "E3L5R5"[: 2 * dimension]
    check(expected, "Laws", kernels=names)
    energy = _convolved(abs(expected), [np.full(5, 0.2)] * dimension, boundary)
    check(energy, "Laws", kernels=names, energy_distance=2)
    # Haar's low-pass and high-pass filter of the second level, after the low-pass filters of the first.
    half = 0.5**0.5
    expected = _convolved(volume, [[half, half, 0]] * dimension, boundary)
    expected = _convolved(
        expected, [[-half, 0, half, 0, 0], [half, 0, half, 0, 0], [-half, 0, half, 0, 0]][:dimension], boundary
    )
    check(expected, "wavelet", wavelet_name="haar", subband="HLH"[:dimension], level=2)


@pytest.mark.parametrize("name", response_maps._WAVELETS)
def test_wavelets_of_the_core(name):
    """They are those of PyWavelets, and so are the high-pass filters."""
    import pywt

    volume, wavelet = _volume(), pywt.Wavelet(name)
    expected = _convolved(volume, [[*wavelet.dec_hi, 0], [*wavelet.dec_lo, 0], [*wavelet.dec_hi, 0]], "mirror")
    found = voxelmaps.response_map(volume, "wavelet", wavelet_name=name, subband="HLH")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    # The same wavelet under another name, of which PyWavelets gives the filters.
    other = voxelmaps.response_map(volume, "wavelet", wavelet_name=name.upper(), subband="HLH")
    np.testing.assert_array_equal(found, other)


@pytest.mark.parametrize(
    "filter, parameters, number",
    [
        # Of symmetric and antisymmetric kernels, some rotations are the same.
        ("Laws", {"kernels": "E5L5S5"}, 12),
        ("Laws", {"kernels": "E5L3", "dimension": 2}, 4),
        ("wavelet", {"wavelet_name": "db2", "subband": "LHL", "level": 2}, 24),
        ("wavelet", {"wavelet_name": "bior2.2", "subband": "LH", "dimension": 2}, 4),
    ],
)
def test_pooling_of_rotations(filter, parameters, number):
    """The response to a rotated filter is that of the rotated volume, rotated back."""
    volume = _volume((9, 9, 9))
    responses = []
    axes = [(1, 2)] if parameters.get("dimension") == 2 else [(0, 1), (0, 2), (1, 2)]
    for turns in itertools.product(range(4), repeat=len(axes)):
        turned = volume
        for count, pair in zip(turns, axes):
            turned = np.rot90(turned, count, pair)
        response = voxelmaps.response_map(np.ascontiguousarray(turned), filter, **parameters)
        for count, pair in reversed(list(zip(turns, axes))):
            response = np.rot90(response, -count, pair)
        responses.append(response)
    responses = list({tuple(np.round(each, 9).ravel()): each for each in responses}.values())
    assert len(responses) == number
    for pooling, combine in (("max", np.max), ("mean", np.mean)):
        found = voxelmaps.response_map(volume, filter, pooling=pooling, **parameters)
        np.testing.assert_allclose(found, combine(responses, axis=0), rtol=0, atol=1e-12)


def test_response_map_of_kinds():
    """Images keep their geometry, and lengths are in mm."""
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    volume = _volume((9, 11, 13))
    image = sitk.GetImageFromArray(volume)
    image.SetSpacing((1.0, 1.5, 2.0))
    result = voxelmaps.response_map(image, "LoG", sigma=3.0)
    assert result.GetSpacing() == image.GetSpacing()
    expected = voxelmaps.response_map(volume, "LoG", sigma=3.0, spacing=(2.0, 1.5, 1.0))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(result), expected)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("Log",), "filter is 'Log' .did you mean LoG.., but must be one of mean, LoG"),
        (("LoG",), "sigma is None, but filter 'LoG' needs a number above 0"),
        (("LoG", "L5L5L5"), "kernels is 'L5L5L5', which has no effect on the filter LoG, but on Laws"),
        (("Laws",), "kernels is None, but filter 'Laws' needs it"),
        (("Laws", "L5X5E5"), "kernels is 'L5X5E5', but must be 3 names of E3, E5"),
        (("wavelet", None, "LHX"), "subband is 'LHX', but must be 3 letters of H and L"),
        (("wavelet", None, "LLH\0"), r"subband is 'LLH\\x00', but must be a printable string"),
        (("mean", None, None, 4), "size is 4, but must be an odd number"),
        (("mean", None, None, np.array([3, 3])), r"size is array\(\[3, 3\]\), but must be an integer from 1"),
    ],
)
def test_wrong_response_maps(arguments, text):
    name, kernels, subband, size, *_ = (*arguments, None, None, None, None)
    with pytest.raises((ValueError, TypeError), match=text):
        voxelmaps.response_map(
            np.ones((5, 5, 5)), name, kernels=kernels, subband=subband, size=5 if size is None else size
        )


_WAVELET = {"filter": "wavelet", "sigma": None, "wavelength": None, "subband": "LLH"}


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"sigma": 200}, "A Gabor filter of sigma 200 .* reaches 1201 voxels"),
        ({"wavelength": 1e-320}, "wavelength 9.*e-321, whose ratio is too large: choose a greater wavelength"),
        ({"gamma": 1e-320}, "gamma 9.*e-321, whose ratio is too large: choose a greater gamma"),
        ({"angle_step": 0.001}, "has 180000 angles, but must have at most 4096: choose a larger angle_step"),
        ({"sigma": np.array([1.0, 2.0])}, r"sigma is array\(\[1., 2.\]\), but must be a number greater than 0"),
        ({"dimension": 2.0}, "dimension is 2.0, but must be an integer from 2 to 3"),
        (
            {"filter": "LoG", "wavelength": None, "sigma": 1e-170},
            "sigma is 1e-170, of which the kernel .* a sigma near",
        ),
        ({**_WAVELET, "wavelet_name": "nope"}, "wavelet_name is 'nope', but must be a discrete wavelet of PyWavelets"),
        ({**_WAVELET, "wavelet_name": "coiff1"}, "wavelet_name is 'coiff1' .did you mean coif1"),
        ({**_WAVELET, "wavelet_name": "sym20", "level": 16}, "level is 16, at which .* choose a lower level"),
    ],
)
def test_wrong_numbers_of_filters(parameters, text):
    parameters = {"filter": "Gabor", "sigma": 2, "wavelength": 3, **parameters}
    with pytest.raises((ValueError, TypeError), match=text):
        voxelmaps.response_map(np.ones((5, 5, 5)), **parameters)


def test_orders_as_arrays():
    expected = voxelmaps.response_map(_volume(), "Simoncelli", riesz_order=[1, 0, 2])
    found = voxelmaps.response_map(_volume(), "Simoncelli", riesz_order=np.array([1, 0, 2]), level=np.int64(1))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("boundary", response_maps.BOUNDARIES)
def test_gabor_is_that_of_a_transform(boundary):
    """The mean over angles and planes is that of SciPy's Fourier transform with the same kernel."""
    from scipy import fft

    sigma, wavelength, gamma, spacing = 2.0, 3.5, 0.8, np.array((1.5, 1.0, 0.75))
    volume = np.random.default_rng(5).normal(0, 100, (9, 17, 20))
    modes = {"zero": "constant", "nearest": "edge", "periodic": "wrap", "mirror": "symmetric"}
    expected = []
    for across in range(3):
        planes = np.moveaxis(volume, across, 0)
        steps = np.delete(spacing, across)
        y, x = np.mgrid[-20:21, -20:21] * steps[:, None, None]
        padded = np.pad(planes, ((0, 0), (20, 20), (20, 20)), mode=modes[boundary])
        shape = [n + 40 for n in padded.shape[1:]]
        for angle in np.radians(np.arange(0, 360, 30)):
            along, over = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
            exponent = (along**2 + (gamma * over) ** 2) / (2 * sigma**2)
            kernel = np.where(exponent <= 18, np.exp(2j * np.pi * along / wavelength - exponent), 0)
            response = fft.ifft2(fft.fft2(padded, shape) * fft.fft2(kernel, shape))[:, 40:-40, 40:-40]
            expected.append(np.moveaxis(abs(response), 0, across))
    found = voxelmaps.response_map(
        volume,
        "Gabor",
        sigma=sigma,
        wavelength=wavelength,
        gamma=gamma,
        angle_step=30,
        boundary=boundary,
        spacing=spacing.tolist(),
    )
    expected = np.mean(expected, axis=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())


def test_gabor_in_millimeters():
    """A wave along y with voxels of 4 mm has the response of the same wave with voxels of 1 mm, per area of a voxel."""
    wave = np.broadcast_to(np.cos(2 * np.pi * np.arange(64) / 16)[:, None], (64, 64))
    parameters = {"sigma": 16, "wavelength": 16, "angle": 90, "boundary": "periodic", "dimension": 2}
    fine = voxelmaps.response_map(wave[None], "Gabor", spacing=(3, 1, 1), **parameters)
    coarse = voxelmaps.response_map(wave[None, ::4], "Gabor", spacing=(3, 4, 1), **parameters)
    np.testing.assert_allclose(coarse, fine[:, ::4] / 4, rtol=1e-6)


def test_slices_of_one_plane():
    """Simoncelli's band-pass of a volume of one slice is that of the plane."""
    plane = np.random.default_rng(1).random((1, 32, 32))
    one = voxelmaps.response_map(plane, "Simoncelli", boundary="periodic")
    np.testing.assert_allclose(
        one, voxelmaps.response_map(plane, "Simoncelli", boundary="periodic", dimension=2), atol=1e-12
    )


def test_local_intensity_leaves_out_what_is_absent():
    image = np.random.default_rng(2).integers(1, 9, (6, 7, 8)).astype(float)
    mask = np.zeros(image.shape, int)
    mask[2:4, 3:5, 3:6] = 1
    expected = voxelmaps.ibsi_features(image, mask, families="loc", spacing=(8, 8, 8))
    image[5, 6, 7] = np.nan
    image[0, 0, 0] = np.inf
    assert voxelmaps.ibsi_features(image, mask, families="loc", spacing=(8, 8, 8)) == expected
    image[3, 4, 6] = np.nan
    peaks = voxelmaps.ibsi_features(image, mask, families="loc", spacing=(1, 1, 1)).values()
    assert all(1 <= peak <= 8 for peak in peaks)


@pytest.mark.parametrize("value", [1000.1, 1 / 3, 0.1])
def test_constant_regions(value):
    values = voxelmaps.ibsi_features(np.full((5, 5, 5), value), np.ones((5, 5, 5), int), families=["stat", "morph"])
    assert values["stat_skew"] == values["stat_kurt"] == values["stat_var"] == 0
    assert np.isnan(values["morph_moran_i"]) and np.isnan(values["morph_geary_c"])


@pytest.mark.parametrize("name", ["torch", "cupy", "jax.numpy"])
def test_arrays_of_a_device(name):
    """All filters without a Fourier transform have the bits of the CPU, and stay on the device."""
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    if not _core.number_of_devices():
        pytest.skip(_core.reason_for_no_device())

    def check(filtered, volume, what):
        array = library.asarray(volume).cuda() if name == "torch" else library.asarray(volume, dtype="float64")
        result = filtered(array)
        assert type(result) is type(array)
        on_host = result.cpu().numpy() if name == "torch" else np.asarray(result.get() if name == "cupy" else result)
        np.testing.assert_array_equal(on_host, filtered(volume), err_msg=what)

    volume = np.random.default_rng(4).normal(0, 1, (12, 13, 14))
    for filter_, parameters in (
        ("LoG", {"sigma": 1.5}),
        ("Laws", {"kernels": "E5L5S5", "pooling": "max", "energy_distance": 2}),
        ("Gabor", {"sigma": 1.5, "wavelength": 3, "gamma": 0.7, "angle_step": 45, "spacing": (2, 1, 1.5)}),
        ("wavelet", {"subband": "LHL", "wavelet_name": "haar", "level": 2, "pooling": "mean"}),
    ):
        check(lambda x, given=(filter_, parameters): voxelmaps.response_map(x, given[0], **given[1]), volume, filter_)
    maps = {name: row for name, row in benchmark._MAPS.items() if row[1] not in ("Simoncelli", "Riesz")}
    assert len(maps) == 27
    for map_, (phantom, _, function) in maps.items():
        check(
            function,
            np.asarray(benchmark.load(benchmark._PHANTOMS / f"{phantom}.nii.gz", "a phantom")[0].array, float),
            map_,
        )


def test_missing_data(capsys, tmp_path):
    assert main(["ibsi", "--data", str(tmp_path)]) == 1
    assert "give a copy of github.com/theibsi/data_sets" in capsys.readouterr().err
    assert main(["ibsi", "--reference", str(tmp_path)]) == 1
    assert "give a copy of github.com/theibsi/ibsi_2_reference_data" in capsys.readouterr().err


def _patients(folder, number):
    """A copy of theibsi/data_sets with small PET images of patients, of 3 mm so that they are not resampled. Returns them."""
    rng, images = np.random.default_rng(8), {}
    mask = np.zeros((9, 10, 11), np.uint8)
    mask[2:7, 3:8, 2:9] = 1
    for i in range(number):
        name = f"STS_{i + 1:03}"
        place = folder / "data" / "ibsi_validation" / "nifti" / name
        place.mkdir(parents=True)
        images[name] = rng.gamma(2.0, 1.0 + i, mask.shape)
        for what, array in (("image", images[name]), ("mask", mask)):
            nifti = nibabel.Nifti1Image(array.T, np.diag([3.0, 3.0, 3.0, 1.0]))
            nifti.to_filename(place / f"PET_{what}.nii.gz")
    return images, mask


def _teams(folder, table):
    """Copies of theibsi/ibsi_2_data_analysis and ibsi_2_reference_data with the submissions of teams that are near the values."""
    rng = np.random.default_rng(9)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    filters = [f"ID_{number}" for number in range(1, 10)]
    tags = list(dict.fromkeys(row["feature_tag"] for row in rows))
    for team, error in (("A", 1e-6), ("B", 1e-5), ("C", 1e-4), ("Odd", 3.0), ("_replaced", 0.0)):
        place = folder / "teams" / "results" / "phase_3" / team
        place.mkdir(parents=True)
        for patient in {row["patient"] for row in rows}:
            lines = [["feature_tag", *filters]]
            for row in rows:
                if row["patient"] == patient:
                    numbers = [float(row[name]) * (1 + error * rng.normal()) for name in filters]
                    missing = {"A": "0", "C": ""}.get(team, "1")
                    cells = [*(f"{one:.9g}" for one in numbers[:7]), missing, missing]
                    lines.append([row["feature_tag"], *cells])
            text = "\n".join((";" if team == "B" else ",").join(line) for line in lines)
            (place / f"{patient}_PET.csv").write_text(text)
    (folder / "teams" / "results" / "phase_3" / ".DS_Store").touch()
    (folder / "teams" / "results" / "phase_3" / "README.md").touch()
    place = folder / "teams" / "results" / "phase_2"
    place.mkdir()
    lines = ["Filter ID,Metric Category,Metric Name,A,B,C,Odd"]
    lines += [f"{number}.B,Statistics,of {tag},5.0,5.05,4.95,6" for number in range(1, 10) for tag in tags]
    (place / "20230111.csv").write_text("\n".join(lines))
    (place / "20220504.csv").write_text(lines[0])
    place = folder / "reference" / "reference_feature_values"
    place.mkdir(parents=True)
    lines = ["filter_id;feature;feature_tag;consensus_value;tolerance"]
    lines += [f"{number}.B;of {tag};{tag};5;0.1" for number in range(1, 10) for tag in tags]
    (place / "reference_values.csv").write_text("\n".join(lines))


def test_patients(tmp_path, monkeypatch, capsys):
    """Phase 3: values as those of the functions, in a table, and how many of them agree with teams."""
    images, mask = _patients(tmp_path, 4)
    monkeypatch.setattr(benchmark, "rows", lambda *_: [])
    table = tmp_path / "phase3.csv"
    command = ["ibsi", "--data", str(tmp_path / "data"), "--patients", str(table)]
    assert main(command) == 0
    assert f"{table}: 648 statistics of 4 scans of 4 patients, of which 648 are defined" in capsys.readouterr().out
    rows = list(csv.DictReader(table.read_text().splitlines()))
    found = {(row["patient"], row["feature_tag"]): row for row in rows}
    assert len(rows) == len(found) == 72 and {row["modality"] for row in rows} == {"PET"}
    parameters = {"kernels": "S5E5L5", "pooling": "max", "energy_distance": 5}
    for name, image in images.items():
        expected = voxelmaps.ibsi_features(image, mask, families="stat")
        energy = voxelmaps.response_map(image, "Laws", **parameters)
        for tag, value in voxelmaps.ibsi_features(energy, mask, families="stat").items():
            assert float(found[name, tag]["ID_1"]) == pytest.approx(expected[tag], rel=1e-12)
            assert float(found[name, tag]["ID_4"]) == pytest.approx(value, rel=1e-9)
    assert main(command) == 1
    assert "phase3.csv exists: choose another output, or replace it with --overwrite" in capsys.readouterr().err
    # A run that fails or is ended leaves the table as it is.
    before = table.read_bytes()
    for error, code in ((ValueError("no scan"), 1), (KeyboardInterrupt(), 130)):
        for function in ("_values", "_around"):
            with monkeypatch.context() as patch:
                patch.setattr(patients, function, lambda *_, error=error: (_ for _ in ()).throw(error))
                assert main([*command, "--overwrite"]) == code
            assert table.read_bytes() == before and "kept" not in capsys.readouterr().err
    _teams(tmp_path, table)
    compared = ["--teams", str(tmp_path / "teams"), "--reference", str(tmp_path / "reference"), "--overwrite"]
    assert main([*command, *compared]) == 0
    text = capsys.readouterr().out
    assert "| IBSI 2, phase 3 | LoG | 3, PET | 18 | 18 |" in text and "| IBSI 2, phase 3 | all | | 126 | 126 |" in text
    # Values that are others differ.
    scans, results = patients.scans_of(tmp_path / "data"), tmp_path / "teams" / "results"
    teams = lambda scans: patients.Teams(tmp_path / "teams", tmp_path / "reference", scans)  # noqa: E731
    for row in teams(scans).rows(np.ones((4, 18, 9))):
        assert row.within == 0 and len(row.failures) == row.values == (18 if int(row.configuration[0]) < 8 else 0)
    with pytest.raises(ValueError, match="1 scan of PET, but --teams needs at least 2"):
        teams(scans[:1])
    submission, newest = results / "phase_3" / "B" / "STS_001_PET.csv", results / "phase_2" / "20230111.csv"
    for path, text, message in (
        (submission, "feature_tag,ID_1\n", "B/STS_001_PET.csv lacks the rows and columns of IBSI's templates: 'ID_2'"),
        (newest, "Filter ID,Metric Name,A\n1.B,mean,5\n", "20230111.csv has no column 'Metric Category': give a copy"),
        (newest, "", "20230111.csv has no column 'Filter ID': give a copy"),
        (newest, "Filter ID,Metric Category,Metric Name,A\n", "20230111.csv has no statistics within IBSI's tol"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            teams(scans)
        # It is found before anything is computed.
        with monkeypatch.context() as patch:
            patch.setattr(patients, "compute", None)
            assert main([*command, *compared]) == 1 and message in capsys.readouterr().err
    for path in (results / "phase_2").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match="has no tables in results/phase_2"):
        teams(scans)


@pytest.mark.parametrize(
    "shape, affine, words",
    [
        ((11, 10, 9), np.diag([3.0, 3.0, 2.5, 1.0]), ["PET_mask.nii.gz has the spacing", "2.5"]),
        ((11, 10, 9), np.array([[3.0, 0, 0, 6], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1]]), ["has the origin", "6 mm"]),
        ((11, 10, 8), np.diag([3.0, 3.0, 3.0, 1.0]), ["PET_mask.nii.gz has the size (11, 10, 8), but", "PET_image"]),
    ],
)
def test_masks_of_patients_on_other_grids(tmp_path, monkeypatch, capsys, shape, affine, words):
    _patients(tmp_path, 1)
    monkeypatch.setattr(benchmark, "rows", lambda *_: [])
    place = tmp_path / "data" / "ibsi_validation" / "nifti" / "STS_001" / "PET_mask.nii.gz"
    nibabel.Nifti1Image(np.ones(shape, np.uint8), affine).to_filename(place)
    assert main(["ibsi", "--data", str(tmp_path / "data"), "--patients", str(tmp_path / "a.csv")]) == 1
    message = capsys.readouterr().err
    assert not [word for word in words if word not in message] and not (tmp_path / "a.csv").exists(), message


def test_agreement_of_raters():
    """Limits as in the literature: 6 subjects and 4 raters of Shrout and Fleiss (1979) have the ICC(2,1) 0.290, from 0.019 to 0.761."""
    scores = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    assert patients._agreement(scores) == pytest.approx(0.019, abs=5e-4)
    assert patients._agreement([[1, 2, 3], [1, 2, 3]]) == 1


@pytest.mark.parametrize(
    "options, words",
    [
        (["--patients", "a.csv"], ["--patients a.csv needs --data, too"]),
        (["--data", "data", "--patients", "a.txt"], ["a.txt is a table: give it the ending .csv"]),
        (["--data", "data", "--patients", "a.csv", "--teams", "x"], ["--teams x needs --reference, too"]),
        (["--data", "data", "--patients", "none/a.csv"], ["none/a.csv: No such file"]),
        (["--data", "data", "--patients", "folder.csv", "--overwrite"], ["folder.csv: Is a directory"]),
        (["--data", "reference", "--patients", "a.csv"], ["no patients in ibsi_validation/nifti", "theibsi/data_sets"]),
        (
            ["--data", "data", "--patients", "a.csv", "--teams", "data", "--reference", "reference"],
            ["no teams in results/phase_3", "theibsi/ibsi_2_data_analysis"],
        ),
    ],
)
def test_patients_that_are_missing(tmp_path, monkeypatch, capsys, options, words):
    _patients(tmp_path, 1)
    (tmp_path / "reference").mkdir()
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["ibsi", *options]) == 1
    message = capsys.readouterr().err
    assert not [word for word in words if word not in message] and message.count("\n") == 1, message
    assert not list(tmp_path.glob("*a.csv*"))
