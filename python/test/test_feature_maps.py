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
from array_libraries import LIBRARIES, NO_DEVICE, needs_device, to_numpy
from voxelmaps import _core, _feature_maps

ALL = _feature_maps.CLASSES
SOME = ["firstorder_Mean", "glcm_Contrast", "glrlm_RunEntropy", "ngtdm_Coarseness"]
SOME += ["gldm_DependenceEntropy", "glszm_ZoneVariance"]


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


def test_layouts_of_memory(library):
    x = image_of(shape=(14, 9, 22))
    expected = reference(np.ascontiguousarray(x[::2, :, 1::2]), features=SOME)
    assert same(to_numpy(voxelmaps.feature_maps(library(x)[::2, :, 1::2], features=SOME).array), expected)
    turned = library(np.ascontiguousarray(x.transpose(2, 0, 1)))
    if type(turned).__module__.startswith("numba"):
        pytest.skip("Numba transposes arrays of two axes only")
    turned = turned.permute(1, 2, 0) if hasattr(turned, "permute") else turned.transpose(1, 2, 0)
    assert same(to_numpy(voxelmaps.feature_maps(turned, features=SOME).array), reference(x, features=SOME))


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
    with pytest.raises(TypeError, match="image is neither in host memory nor on a CUDA device"):
        voxelmaps.feature_maps(OnlyDLPack(x, (10, 0)), features=SOME)

    class OnDevice:
        __cuda_array_interface__ = {}

    for value in (OnDevice(), OnlyDLPack(x, (2, 0))):
        with pytest.raises(TypeError, match=f"image is a {__name__}.{type(value).__name__} in device memory"):
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
    maps = voxelmaps.feature_maps(library(x), library(mask), features=SOME, bin_count=8)
    assert tuple(maps.array.shape) == (len(SOME), *x.shape)
    for i in range(3):
        for j in range(2):
            expected = reference(x[i, j], mask, features=SOME, bin_count=8)
            assert same(np.ascontiguousarray(to_numpy(maps.array)[:, i, j]), expected)
    planes = voxelmaps.feature_maps(library(x[0, 0]), features=SOME, dimension=2)
    for z in range(6):
        assert same(np.ascontiguousarray(to_numpy(planes.array)[:, z]), reference(x[0, 0, z], features=SOME))


def test_name_of_the_itk_filters():
    image, mask = image_of(), mask_of()
    for function in (voxelmaps.feature_maps, voxelmaps.region_features):
        expected, result = (
            function(image, mask, features=["glcm_Contrast"], **{name: 8})
            for name in ("bin_count", "number_of_gray_levels")
        )
        np.testing.assert_array_equal(result["glcm_Contrast"], expected["glcm_Contrast"])
        with pytest.raises(TypeError, match="number_of_gray_levels and bin_count are given"):
            function(image, mask, bin_count=8, number_of_gray_levels=8)


@pytest.mark.parametrize(
    "shape, voxels, window, expected",
    [
        ((7, 9, 11), [(6, 8, 10)], {}, np.s_[4:7, 6:9, 8:11]),
        ((7, 9, 11), [(0, 3, 4), (2, 0, 9)], {}, np.s_[0:5, 0:6, 2:11]),
        ((8, 9), [(3, 1)], {}, np.s_[1:6, 0:4]),
        (
            (7, 9, 11),
            [(3, 2, 6), (4, 3, 8)],
            dict(window_size=(3, 5, 1), window_anchor=(0, 4, 0), selection=mask_of(), background_value=np.nan),
            np.s_[3:7, 0:4, 6:9],
        ),
    ],
)
def test_crop_at_the_borders(shape, voxels, window, expected):
    x, mask = image_of(shape=shape), np.zeros(shape, np.uint8)
    mask[tuple(np.transpose(voxels))] = 1
    for discretization in (dict(bin_width=7), dict(bin_count=5, intensity_range="image")):
        parameters = {**window, **discretization}
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
    for shape in ((0, 4, 5), (0, 3, 4, 5)):
        maps = voxelmaps.feature_maps(library(np.zeros(shape, np.int16)), features=SOME)
        assert tuple(maps.array.shape) == (len(SOME), *shape)


# --- Devices -----------------------------------------------------------------------------------------------------------


@needs_device
@pytest.mark.parametrize(
    "function",
    [
        lambda x, **device: voxelmaps.feature_maps(x, features=SOME, **device).array,
        lambda x, **device: voxelmaps.fuzzy_connectedness(x, (3, 4, 5), **device),
    ],
)
def test_streams_and_freed_inputs(function):
    torch = pytest.importorskip("torch")
    images = [image_of(seed=s, shape=(24, 25, 26)) for s in range(6)]
    results, streams = [], [torch.cuda.Stream() for _ in images]
    for image, stream in zip(images, streams):
        with torch.cuda.stream(stream):
            x = torch.as_tensor(image).cuda(non_blocking=True)
            results.append(function(x + 0))
            # Its memory may be used again by the next work in the stream.
            del x
            torch.zeros(24, 25, 26, device="cuda")
    torch.cuda.synchronize()
    for image, result in zip(images, results):
        assert same(result.cpu().numpy(), function(image, device="cpu"))


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


# --- Errors and processes ----------------------------------------------------------------------------------------------


def test_one_gray_level_is_a_warning():
    """An image from 0 to 1 with the width of bins of CT."""
    x = np.random.default_rng(0).random((6, 7, 8)).astype(np.float32)
    with pytest.warns(UserWarning, match="all intensities are in one bin of the width 25, so that there is no texture"):
        voxelmaps.feature_maps(x, features=["glcm_Contrast", "firstorder_Mean"])
    assert voxelmaps.describe(x).warnings[0].startswith("all intensities are in one bin of the width 25")
    assert voxelmaps.describe(x, features="firstorder").warnings == voxelmaps.describe(x, bin_width=0.1).warnings == []
    (many,) = voxelmaps.describe(x, bin_count=1000).warnings
    assert many.startswith("there are 1000 gray levels, but a window has 125 voxels")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        voxelmaps.feature_maps(x, features="firstorder_Mean")
        voxelmaps.feature_maps(x, features="glcm_Contrast", bin_width=0.1)
        voxelmaps.feature_maps(x, features="glcm_Contrast", bin_count=1)
        voxelmaps.feature_maps(x, features="glcm_Contrast", bin_count=1, intensity_range=(-100, 100))
        voxelmaps.feature_maps(x, features="glcm_Contrast", bin_count=9, intensity_range=(0, 2))
    # What is outside of the mask does not count.
    mask = np.ones(x.shape, bool)
    mask[0], x[0, 0, 0] = False, 1000
    for bins in (
        {"bin_count": 32, "intensity_range": (-160, 240)},
        {"bin_count": 32, "intensity_range": (0.99, 240)},
        {"bin_width": 25, "intensity_range": (0, 240)},
        {"bin_edges": [0, 100, 200]},
    ):
        for function in (voxelmaps.feature_maps, voxelmaps.region_features):
            with pytest.warns(UserWarning, match=f"which are one gray level with {list(bins)[-1]}, so that"):
                function(x, mask, features="glcm_Contrast", **bins)


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
    assert len(voxelmaps.describe(x).maps) > 90


def test_describe_parts_of_batches():
    image = image_of(np.uint8)
    x = np.stack([image, 2 * image])
    selection = np.zeros(image.shape, bool)
    selection[4, 2:5] = True
    description = voxelmaps.describe(x, features="glcm_Contrast", bin_width=25, dimension=3, selection=selection)
    assert description.region_voxels == 2 * selection.sum() and description.map_shape == x.shape
    assert description.levels == 2 * int(image.max()) // 25 - 2 * int(image.min()) // 25 + 1


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
