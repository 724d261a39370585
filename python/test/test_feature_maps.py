# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.feature_maps with arrays of all libraries, on the CPU and on CUDA devices. Needs no ITK."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import voxelmaps
from array_libraries import LIBRARIES, NO_DEVICE, is_like, library, needs_device, to_numpy
from voxelmaps import _arrays
from voxelmaps import _core
from voxelmaps import _feature_maps

ALL = _feature_maps.CLASSES
SOME = [
    "firstorder_Mean",
    "glcm_Contrast",
    "glrlm_RunEntropy",
    "ngtdm_Coarseness",
    "gldm_DependenceEntropy",
    "glszm_ZoneVariance",
]


def image_of(dtype=np.int16, shape=(7, 9, 11), seed=0):
    values = np.random.default_rng(seed).integers(0, 120, shape)
    return (values - (0 if np.dtype(dtype).kind in "ub" else 40)).astype(dtype)


def mask_of(shape=(7, 9, 11), seed=1):
    return np.random.default_rng(seed).random(shape) < 0.7


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def reference(x, mask=None, **kwargs):
    return voxelmaps.feature_maps(x, mask, device="cpu", **kwargs).array


# --- Libraries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*_arrays.PIXEL_TYPES, "bool", "float16"])
def test_pixel_types(library, dtype):
    x, mask = image_of(dtype), mask_of()
    maps = voxelmaps.feature_maps(library(x), library(mask), features=SOME, neighborhood_radius=1, bin_width=10)
    assert list(maps) == SOME and is_like(maps.array, library(x))
    assert same(to_numpy(maps.array), reference(x, mask, features=SOME, neighborhood_radius=1, bin_width=10))


@pytest.mark.parametrize("precision", ["float", "double"])
def test_all_classes(library, precision):
    x, mask = image_of(), mask_of()
    maps = voxelmaps.feature_maps(library(x), library(mask), features=ALL, neighborhood_radius=1, precision=precision)
    assert len(maps) == len(set(maps)) == 94
    expected = reference(x, mask, features=ALL, neighborhood_radius=1, precision=precision)
    assert same(to_numpy(maps.array), expected)
    for i, name in enumerate(maps):
        assert same(to_numpy(maps[name]), expected[i])


def test_layouts_of_memory(library):
    x = image_of(shape=(14, 9, 22))
    expected = reference(np.ascontiguousarray(x[::2, :, 1::2]), features=SOME)
    assert same(to_numpy(voxelmaps.feature_maps(library(x)[::2, :, 1::2], features=SOME).array), expected)
    turned = library(np.ascontiguousarray(x.transpose(2, 0, 1)))
    if type(turned).__module__.startswith("numba"):
        pytest.skip("Numba transposes arrays of two axes only")
    turned = turned.permute(1, 2, 0) if hasattr(turned, "permute") else turned.transpose(1, 2, 0)
    assert same(to_numpy(voxelmaps.feature_maps(turned, features=SOME).array), reference(x, features=SOME))


def test_layouts_of_numpy():
    x = image_of()
    expected = reference(x, features=SOME)
    read_only = x.copy()
    read_only.setflags(write=False)
    for given in (
        np.asfortranarray(x),
        x[::-1][::-1],
        read_only,
        x.astype(">i2"),
        x.tolist and np.array(x.tolist(), np.int16),
    ):
        assert same(voxelmaps.feature_maps(given, features=SOME, device="cpu").array, expected)
    assert same(
        voxelmaps.feature_maps(x[::-1], features=SOME).array, reference(np.ascontiguousarray(x[::-1]), features=SOME)
    )


class OnlyDLPack:
    """An array that speaks no other protocol, in the memory of a NumPy array or elsewhere."""

    def __init__(self, array, device=(1, 0)):
        self._array, self._device = array, device

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._device


def test_protocols():
    x = image_of()
    assert same(voxelmaps.feature_maps(OnlyDLPack(x), features=SOME).array, reference(x, features=SOME))
    with pytest.raises(TypeError, match="x is neither in host memory nor on a CUDA device"):
        voxelmaps.feature_maps(OnlyDLPack(x, (10, 0)), features=SOME)

    class OnDevice:
        __cuda_array_interface__ = {}

    for value in (OnDevice(), OnlyDLPack(x, (2, 0))):
        with pytest.raises(TypeError, match=f"x is a {__name__}.{type(value).__name__} in device memory"):
            voxelmaps.feature_maps(value, features=SOME)


def test_protocols_of_devices():
    """An object that has nothing but one of the protocols; the result is an array of CuPy."""
    cupy = pytest.importorskip("cupy")
    if NO_DEVICE:
        pytest.skip(NO_DEVICE)

    class Interface:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    x = image_of()
    on_device = cupy.asarray(x)
    for value in (Interface(on_device), OnlyDLPack(on_device, (2, 0))):
        maps = voxelmaps.feature_maps(value, features=SOME).array
        assert isinstance(maps, cupy.ndarray) and same(maps.get(), reference(x, features=SOME))


def test_batches_and_planes(library):
    x = image_of(shape=(3, 2, 6, 7, 8))
    mask = mask_of((6, 7, 8))
    maps = voxelmaps.feature_maps(library(x), library(mask), features=SOME, number_of_gray_levels=8)
    assert tuple(maps.array.shape) == (len(SOME), *x.shape)
    for i in range(3):
        for j in range(2):
            expected = reference(x[i, j], mask, features=SOME, number_of_gray_levels=8)
            assert same(np.ascontiguousarray(to_numpy(maps.array)[:, i, j]), expected)
    planes = voxelmaps.feature_maps(library(x[0, 0]), features=SOME, dimension=2)
    for z in range(6):
        assert same(np.ascontiguousarray(to_numpy(planes.array)[:, z]), reference(x[0, 0, z], features=SOME))


@pytest.mark.parametrize("shape", [(7, 9, 11), (2, 2, 2), (1, 5, 6), (6, 1, 1), (8, 9)])
@pytest.mark.parametrize(
    "window", [dict(neighborhood_radius=1), dict(window_size=3, window_anchor=0), dict(window_size=2)]
)
def test_directions_without_pairs(shape, window):
    """A mask of all voxels changes nothing, whether or not directions without pairs are looked for."""
    x = image_of(shape=shape)
    for discretization in (
        dict(bin_width=10),
        dict(bin_edges=[0, 30]),
        dict(number_of_gray_levels=5, intensity_range=(0, 9)),
    ):
        arguments = dict(features=["glrlm"], **discretization, **window)
        assert same(reference(x, **arguments), reference(x, np.ones(shape, bool), **arguments))


def test_crop_and_selection(library):
    x, mask, selection = image_of(), np.zeros((7, 9, 11), bool), mask_of()
    mask[3:5, 2:4, 6:9] = True
    arguments = dict(features=SOME, window_size=(3, 5, 1), window_anchor=(0, 4, 0), background_value=np.nan)
    whole = reference(x, mask, selection=selection, **arguments)
    maps = voxelmaps.feature_maps(library(x), library(mask), selection=library(selection), crop="mask", **arguments)
    assert maps.slices == (slice(3, 7), slice(0, 4), slice(6, 9))
    assert same(to_numpy(maps.array), np.ascontiguousarray(whole[(slice(None), *maps.slices)]))


@pytest.mark.parametrize(
    "shape, voxels, expected",
    [
        ((7, 9, 11), [(6, 8, 10)], np.s_[4:7, 6:9, 8:11]),
        ((7, 9, 11), [(0, 3, 4), (2, 0, 9)], np.s_[0:5, 0:6, 2:11]),
        ((8, 9), [(3, 1)], np.s_[1:6, 0:4]),
    ],
)
def test_crop_at_the_borders(shape, voxels, expected):
    x, mask = image_of(shape=shape), np.zeros(shape, np.uint8)
    mask[tuple(np.transpose(voxels))] = 1
    for parameters in (dict(bin_width=7), dict(number_of_gray_levels=5, intensity_range="image")):
        maps = voxelmaps.feature_maps(x, mask, features=SOME, crop="mask", device="cpu", **parameters)
        assert maps.slices == expected
        whole = reference(x, mask, features=SOME, **parameters)
        assert same(maps.array, np.ascontiguousarray(whole[(slice(None), *expected)]))


def test_given_output(library):
    x = library(image_of())
    if type(x).__module__.startswith("jax"):
        with pytest.raises(TypeError, match="out is an array of JAX, which cannot be written to"):
            voxelmaps.feature_maps(x, features="firstorder_Mean", out=library(np.zeros((1, 7, 9, 11), np.float32)))
        return
    out = library(np.full((len(SOME), 7, 9, 11), 5, np.float32))
    maps = voxelmaps.feature_maps(x, features=SOME, out=out)
    assert maps.array is out
    assert same(to_numpy(out), reference(image_of(), features=SOME))
    with pytest.raises(ValueError, match=r"out has the shape \(1, 7, 9, 11\)"):
        voxelmaps.feature_maps(x, features=SOME, out=out[:1])
    with pytest.raises(ValueError, match="in C order"):
        voxelmaps.feature_maps(x, features=SOME[:3], out=out[::2])


def test_empty(library):
    maps = voxelmaps.feature_maps(library(np.zeros((0, 4, 5), np.int16)), features=SOME)
    assert tuple(maps.array.shape) == (len(SOME), 0, 4, 5)
    maps = voxelmaps.feature_maps(library(np.zeros((0, 3, 4, 5), np.int16)), features=SOME)
    assert tuple(maps.array.shape) == (len(SOME), 0, 3, 4, 5)


def test_discretizations(library):
    x, mask = image_of(), mask_of()
    for parameters in (
        dict(bin_width=7),
        dict(number_of_gray_levels=16),
        dict(number_of_gray_levels=16, intensity_range="image"),
        dict(number_of_gray_levels=9, intensity_range=(-20, 30)),
        dict(bin_edges=[-100, 0, 3, 30]),
    ):
        maps = voxelmaps.feature_maps(library(x), library(mask), features=SOME, **parameters)
        assert same(to_numpy(maps.array), reference(x, mask, features=SOME, **parameters))
    levels = np.digitize(x, [-100, 0, 3, 30]).astype(np.uint8)
    maps = voxelmaps.feature_maps(library(levels), library(mask), features=["glcm"], gray_levels=4)
    assert same(to_numpy(maps.array), reference(x, mask, features=["glcm"], bin_edges=[-100, 0, 3, 30]))


# --- Devices -----------------------------------------------------------------------------------------------------------


@needs_device
def test_device_of_host_arrays():
    x, mask = image_of(shape=(20, 21, 22)), mask_of((20, 21, 22))
    for threads in (1, 3, 0):
        expected = voxelmaps.feature_maps(x, mask, features=ALL, device="cpu", threads=threads).array
        assert same(voxelmaps.feature_maps(x, mask, features=ALL, device="cuda", threads=threads).array, expected)


@needs_device
def test_streams_and_freed_inputs():
    torch = pytest.importorskip("torch")
    images = [image_of(seed=s, shape=(24, 25, 26)) for s in range(6)]
    results, streams = [], [torch.cuda.Stream() for _ in images]
    for image, stream in zip(images, streams):
        with torch.cuda.stream(stream):
            x = torch.as_tensor(image).cuda(non_blocking=True)
            results.append(voxelmaps.feature_maps(x + 0, features=SOME))
            # Its memory may be used again by the next work in the stream.
            del x
            torch.zeros(24, 25, 26, device="cuda")
    torch.cuda.synchronize()
    for image, maps in zip(images, results):
        assert same(maps.array.cpu().numpy(), reference(image, features=SOME))


@needs_device
@pytest.mark.parametrize("library", LIBRARIES)
def test_several_devices(library):
    """With all devices of this machine, of which there may be one only."""
    x, mask = image_of(shape=(9, 8, 7)), mask_of((9, 8, 7))
    expected = voxelmaps.feature_maps(x, mask, features=ALL, device="cpu").array
    convert = LIBRARIES[library]
    for device in ("all", list(range(_core.number_of_devices()))):
        maps = voxelmaps.feature_maps(convert(x), convert(mask), features=ALL, device=device).array
        assert same(to_numpy(maps), expected)
    with pytest.raises(ValueError, match="a device can be named only once"):
        voxelmaps.feature_maps(convert(x), features=SOME, device=[0, 0])


def test_memory_of_devices_is_given_back():
    voxelmaps.release_device_memory()
    if NO_DEVICE:
        return
    cupy = pytest.importorskip("cupy")
    x = cupy.zeros((64, 256, 256), cupy.int16)

    def given_back():
        voxelmaps.feature_maps(x, features="glrlm_RunPercentage")
        cupy.cuda.Device().synchronize()
        free, _ = cupy.cuda.Device().mem_info
        voxelmaps.release_device_memory()
        return cupy.cuda.Device().mem_info[0] - free

    # Other processes may use the device meanwhile.
    assert any(given_back() > 0 for _ in range(10))


@needs_device
def test_threads_of_one_device():
    cupy = pytest.importorskip("cupy")
    images = [image_of(seed=s) for s in range(8)]
    results = [None] * len(images)

    def compute(i):
        with cupy.cuda.Stream(non_blocking=True) as stream:
            maps = voxelmaps.feature_maps(cupy.asarray(images[i]), features=SOME)
            stream.synchronize()
            results[i] = maps.array.get()

    threads = [threading.Thread(target=compute, args=(i,)) for i in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for image, array in zip(images, results):
        assert same(array, reference(image, features=SOME))


@needs_device
def test_arrays_of_two_places():
    cupy = pytest.importorskip("cupy")
    with pytest.raises(
        TypeError, match=r"x is an array of CuPy \(CUDA device 0\), but mask is one of NumPy \(host memory\)"
    ):
        voxelmaps.feature_maps(cupy.asarray(image_of()), mask_of(), features=SOME)
    with pytest.raises(ValueError, match="device is 'cpu', but x is on CUDA device 0"):
        voxelmaps.feature_maps(cupy.asarray(image_of()), features=SOME, device="cpu")


# --- Errors and processes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(features="glcm_Nope"), ValueError, "class glcm has no feature 'Nope'; choose from Autocorrelation"),
        (dict(features=["glcm", "glcm_Contrast"]), ValueError, "glcm_Contrast is given twice"),
        (dict(features=5), TypeError, "features are 5"),
        (dict(features={"glcm": ["Contrast", 3]}), TypeError, "must be names"),
        (dict(bin_width=-1), ValueError, "BinWidth is -1"),
        (dict(bin_width="narrow"), TypeError, "bin_width is 'narrow', but must be a number"),
        (dict(bin_edges=3), TypeError, "bin_edges is 3, but must be a list of numbers"),
        (dict(intensity_range=(1, 2, 3)), ValueError, r"intensity_range is \(1, 2, 3\)"),
        (dict(alpha=1.5), TypeError, "alpha is 1.5, but must be an integer"),
        (dict(distances=[]), ValueError, "distances is empty"),
        (dict(background_value=1e300), ValueError, "float32 holds values up to"),
        (dict(window_size=300), ValueError, "at most 255 voxels"),
        (dict(neighborhood_radius=(1, 2)), ValueError, "one per axis"),
        (dict(window_size=3, window_anchor=3), ValueError, "anchor 3"),
        (dict(mask=np.ones((7, 9, 10))), ValueError, r"mask has the shape \(7, 9, 10\), but x has \(7, 9, 11\)"),
        (dict(spacing=(1, 2)), ValueError, "spacing is"),
        (dict(crop="mask"), ValueError, "needs a mask"),
        (dict(device="gpu"), ValueError, "device is 'gpu'"),
        (dict(device=97), RuntimeError, "CUDA device 97 cannot be used"),
        (dict(device=[97]), RuntimeError, "CUDA device 97 cannot be used"),
        (dict(device=[]), ValueError, "device is empty"),
        (dict(device=["cpu"]), ValueError, "the CPU cannot be one of several devices"),
        (dict(distances=9, neighborhood_radius=1, features="glcm"), ValueError, "distances is"),
    ],
)
def test_errors_name_value_and_rule(arguments, error, message):
    with pytest.raises(error, match=message):
        voxelmaps.feature_maps(image_of(), **{"features": SOME, **arguments})


def test_one_gray_level_is_a_warning():
    """An image from 0 to 1 with the width of bins of CT."""
    x = np.random.default_rng(0).random((6, 7, 8)).astype(np.float32)
    with pytest.warns(UserWarning, match="all intensities are in one bin of the width 25, so that there is no texture"):
        voxelmaps.feature_maps(x, features=["glcm_Contrast", "firstorder_Mean"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        voxelmaps.feature_maps(x, features="firstorder_Mean")
        voxelmaps.feature_maps(x, features="glcm_Contrast", bin_width=0.1)
        voxelmaps.feature_maps(x, features="glcm_Contrast", number_of_gray_levels=1)


def test_inputs_that_are_no_images():
    for value, message in (
        (b"ct.nii", "x must be an array"),
        (np.zeros(4), "must have 2 or 3 axes"),
        (None, "not NoneType"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            voxelmaps.feature_maps(value, features=SOME)
    with pytest.raises(TypeError, match="masked array"):
        voxelmaps.feature_maps(np.ma.array(image_of()), features=SOME)
    with pytest.raises(TypeError, match="complex64"):
        voxelmaps.feature_maps(image_of().astype(np.complex64), features=SOME)
    with pytest.raises(ValueError, match="No intensity of the image is finite"):
        voxelmaps.feature_maps(np.full((4, 4), np.nan), features=SOME)
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="x requires gradients, which are not computed"):
        voxelmaps.feature_maps(torch.zeros(4, 4, requires_grad=True), features=SOME)


def test_new_processes_and_forks():
    code = """
import os, numpy as np, voxelmaps
x = np.arange(64 ** 3, dtype=np.float32).reshape(64, 64, 64) % 97
before = voxelmaps.feature_maps(x, features="glcm_Contrast", device="cpu").array.tobytes()
child = os.fork()
same = voxelmaps.feature_maps(x, features="glcm_Contrast", device="cpu").array.tobytes() == before
if child == 0:
    os._exit(0 if same else 1)
assert same and os.waitpid(child, 0)[1] == 0
import sys
print(sorted(m for m in ("itk", "torch", "cupy", "SimpleITK", "xarray") if m in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_names_of_the_ibsi():
    x = image_of()
    names = {
        "firstorder_quartile_coefficient_of_dispersion": None,
        "glcm_angular_second_moment": "glcm_JointEnergy",
        "glcm_sum_variance": "glcm_ClusterTendency",
        "glrlm_run_entropy": "glrlm_RunEntropy",
        "glszm_zone_percentage": "glszm_ZonePercentage",
        "gldm_dependence_count_entropy": "gldm_DependenceEntropy",
        "ngtdm_busyness": "ngtdm_Busyness",
    }
    with pytest.raises(ValueError, match="class firstorder has no feature 'quartile_coefficient_of_dispersion'"):
        voxelmaps.feature_maps(x, features=list(names))
    names = {name: expected for name, expected in names.items() if expected is not None}
    maps = voxelmaps.feature_maps(x, features=list(names))
    expected = voxelmaps.feature_maps(x, features=list(names.values()))
    assert list(maps) == list(names)
    np.testing.assert_array_equal(maps.array, expected.array)
    with pytest.raises(ValueError, match="glrlm_run_entropy is given twice, also as glrlm_RunEntropy"):
        voxelmaps.feature_maps(x, features=["glrlm_RunEntropy", "glrlm_run_entropy"])
