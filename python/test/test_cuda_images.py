# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""itk.CudaImage of itk-cudacommon, whose pixels stay on the device: stand-ins for the image and for ITK, and where there is no device for
CuPy. Needs no ITK."""

import importlib.machinery
import sys
import types

import numpy as np
import pytest
import voxelmaps
from voxelmaps import _core, _image

PIXELS = np.random.default_rng(1).integers(0, 200, (24, 22, 20)).astype(np.float32)
ORIGIN, SPACING, INDEX = (10.0, -20.0, 5.0), (0.5, 0.75, 2.0), (3, -1, 4)
DIRECTION = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


class Region:
    def __init__(self, index, size):
        self.index, self.size = tuple(index), tuple(size)

    def GetIndex(self):
        return self.index

    def GetSize(self):
        return self.size


class CudaImage:
    """What voxelmaps uses of an itk.CudaImage. It has no pixels on the host."""

    def __init__(self):
        self.spacing, self.origin, self.direction = (1.0,) * 3, (0.0,) * 3, np.eye(3)
        self.array = None

    def CopyInformation(self, other):
        self.spacing, self.origin, self.direction = other.spacing, other.origin, other.direction

    def SetRegions(self, region):
        self.region = region if isinstance(region, Region) else Region((0,) * 3, region)

    def Allocate(self):
        self.array = sys.modules["cupy"].empty(self.region.size[::-1], dtype=self.dtype)

    def Update(self):
        pass

    def GetBufferedRegion(self):
        return self.region

    def GetSpacing(self):
        return self.spacing

    def GetDirection(self):
        return self.direction

    def TransformIndexToPhysicalPoint(self, index):
        return tuple(np.asarray(self.origin) + self.direction @ (np.asarray(self.spacing) * index))

    @property
    def __cuda_array_interface__(self):
        if isinstance(self.array, np.ndarray):
            return self.array.__array_interface__
        return {**self.array.__cuda_array_interface__, "stream": None}


class CudaImageTypes:
    def __getitem__(self, key):
        def new():
            image = CudaImage()
            image.dtype = {"F": "float32", "D": "float64", "UC": "uint8", "US": "uint16", "SS": "int16"}[key[0]]
            return image

        return types.SimpleNamespace(New=new)


def fake_cupy():
    """A module whose arrays are those of NumPy, on a device that it claims to have."""
    module = types.ModuleType("cupy")
    module.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    module.__version__ = "13.0"

    class ndarray(np.ndarray):
        device = types.SimpleNamespace(id=0)

    class Device:
        def __init__(self, number):
            pass

        def __enter__(self):
            pass

        def __exit__(self, *error):
            pass

    def asarray(value):
        interface = getattr(value, "__cuda_array_interface__", None)
        if interface is None:
            return np.asarray(value).view(ndarray)
        return np.asarray(types.SimpleNamespace(__array_interface__=interface, owner=value)).view(ndarray)

    stream = types.SimpleNamespace(synchronize=lambda: None, ptr=0)
    module.ndarray, module.asarray = ndarray, asarray
    module.empty = lambda shape, dtype: np.empty(shape, dtype).view(ndarray)
    module.ascontiguousarray = lambda array, dtype=None: np.ascontiguousarray(array, dtype).view(ndarray)
    module.cuda = types.SimpleNamespace(
        Device=Device, get_current_stream=lambda: stream, Stream=types.SimpleNamespace(null=stream)
    )
    return module


@pytest.fixture
def cupy(monkeypatch):
    if _core.number_of_devices() > 0:
        module = pytest.importorskip("cupy", reason="CuPy is not installed")
    else:
        module = fake_cupy()
        monkeypatch.setitem(sys.modules, "cupy", module)
        monkeypatch.setattr(_core, "number_of_devices", lambda: 1)
    itk = types.ModuleType("itk")
    itk.DataObject, itk.ProcessObject, itk.Image, itk.PyBuffer = CudaImage, types.GeneratorType, None, None
    itk.CudaImage = CudaImageTypes()
    itk.UC, itk.US, itk.SS, itk.F, itk.D = "UC", "US", "SS", "F", "D"
    itk.output = lambda value: value
    itk.array_from_matrix = np.asarray
    itk.matrix_from_array = np.asarray
    itk.Size = {3: tuple}
    monkeypatch.setitem(sys.modules, "itk", itk)
    monkeypatch.delitem(sys.modules, "voxelmaps._itk", raising=False)
    yield module
    sys.modules.pop("voxelmaps._itk", None)


@pytest.fixture
def image(cupy):
    image = CudaImage()
    image.spacing, image.origin, image.direction = SPACING, ORIGIN, DIRECTION
    image.SetRegions(Region(INDEX, PIXELS.shape[::-1]))
    image.array = cupy.asarray(PIXELS)
    return image


def test_geometry_and_memory_are_those_of_the_image(image, cupy):
    opened = _image.opened(image, "x")
    assert opened.image.spacing == SPACING
    assert opened.image.origin == image.TransformIndexToPhysicalPoint(INDEX)
    assert opened.image.direction == tuple(DIRECTION.ravel())
    assert isinstance(opened.image.array, cupy.ndarray)
    pointer = image.__cuda_array_interface__["data"][0]
    interface = "__array_interface__" if isinstance(opened.image.array, np.ndarray) else "__cuda_array_interface__"
    assert getattr(opened.image.array, interface)["data"][0] == pointer


def test_results_are_images_on_the_device(image, cupy):
    opened = _image.opened(image, "x")
    for dtype, expected in (("float32", "float32"), ("uint8", "uint8"), ("int32", "float64")):
        array = cupy.asarray(PIXELS.astype(dtype))
        result = opened.convert(opened.image.with_array(array))
        assert isinstance(result, CudaImage)
        assert isinstance(result.array, cupy.ndarray)
        values = result.array.get() if hasattr(result.array, "get") else np.asarray(result.array)
        assert values.dtype == expected
        assert np.array_equal(values, PIXELS.astype(dtype))
        assert result.spacing == SPACING and result.origin == ORIGIN
        assert result.GetBufferedRegion().GetIndex() == INDEX


def test_functions_compute_on_the_device(image, cupy):
    if isinstance(image.array, np.ndarray):
        pytest.skip(_core.reason_for_no_device())
    parameters = dict(bin_count=16, neighborhood_radius=1)
    names = ["glcm_Contrast", "firstorder_Mean"]
    maps = voxelmaps.feature_maps(image, names, **parameters)
    assert isinstance(maps.array, cupy.ndarray)
    assert maps.spacing == SPACING
    expected = voxelmaps.feature_maps(PIXELS, names, spacing=SPACING[::-1], **parameters)
    assert maps.array.get().tobytes() == expected.array.tobytes()
    seed = (12, 11, 10)
    strengths = voxelmaps.fuzzy_connectedness(image, [seed])
    assert isinstance(strengths, CudaImage)
    expected = voxelmaps.fuzzy_connectedness(PIXELS, [seed], spacing=SPACING[::-1])
    assert strengths.array.get().tobytes() == expected.tobytes()
