# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, PyTorch and CuPy, and of libraries whose arrays these can read, such as JAX and Numba: addresses, and results of
the same library."""

import contextlib
import functools
import math
import os
import sys
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

# Numbers of voxelmaps::PixelType.
PIXEL_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")

# Types of devices in DLPack.
_DLPACK_CPU, _DLPACK_CUDA = 1, 2

_RULE_OF_TYPES = "must be real numbers of at most 64 bits"

# Largest magnitude below which a double represents all integers.
_MAX_EXACT_INTEGER = 2**53


class Library(NamedTuple):
    """The library of an array, and where its memory is."""

    name: str
    # Number of the CUDA device; None for host memory.
    device: Optional[int] = None
    # The library whose arrays are given and returned, if it is another one, which this one reads.
    given: Optional[str] = None

    def __str__(self):
        place = "host memory" if self.device is None else f"CUDA device {self.device}"
        return f"{self.given or self.name} ({place})"

    def module(self):
        return np if self.name == "NumPy" else sys.modules["torch" if self.name == "PyTorch" else "cupy"]

    def current_device(self):
        """A context in which CuPy computes on the device; the other libraries need none."""
        return self.module().cuda.Device(self.device) if self.name == "CuPy" else contextlib.nullcontext()

    def stream(self):
        """The address of the current stream of the caller; 0 in host memory."""
        if self.device is None:
            return 0
        cuda = self.module().cuda
        if self.name == "PyTorch":
            return cuda.current_stream(self.device).cuda_stream
        return cuda.get_current_stream().ptr

    def _place(self):
        """Arguments of functions that make arrays."""
        if self.name != "PyTorch":
            return {}
        return {"device": "cpu" if self.device is None else f"cuda:{self.device}"}

    def empty(self, shape, dtype):
        """A new array in C order. Raises ValueError or TypeError if the library has no such values."""
        module = self.module()
        if self.given == "JAX" and dtype == "float64" and not sys.modules["jax"].config.jax_enable_x64:
            raise ValueError("JAX has no float64 here, which precision='double' needs: set jax_enable_x64")
        if not hasattr(module, dtype):
            raise TypeError(
                f"{self.name} {module.__version__} has no type {dtype}, which the result has: update it, or ask for another type"
            )
        with self.current_device():
            return module.empty(shape, dtype=getattr(module, dtype), **self._place())

    def contiguous(self, array, dtype=None):
        """The array in C order, of the type, if one is given; a copy where it must be."""
        module = self.module()
        if self.name == "PyTorch":
            array = array if dtype is None else array.to(getattr(module, dtype))
            return array.contiguous()
        with self.current_device():
            # NumPy and CuPy make an axis for arrays without one.
            return module.ascontiguousarray(array, dtype=dtype).reshape(array.shape)

    def from_host(self, array):
        """An array of NumPy as one of this library."""
        with self.current_device():
            return self.module().asarray(array, **self._place())

    def result(self, array, given=None):
        """What a function returns: the array as one of the library that was given, or the array that was given for it."""
        if self.given is not None and self.device is not None:
            # Its library may use the memory of an input for something else as soon as the function has returned.
            self.module().cuda.get_current_stream().synchronize()
        if given is not None:
            return given
        if self.given == "JAX":
            jax = sys.modules["jax"]
            if self.device is None:
                return jax.device_put(array, jax.devices("cpu")[0])
            return jax.dlpack.from_dlpack(array)
        return sys.modules["numba"].cuda.as_cuda_array(array) if self.given == "Numba" else array


class Array(NamedTuple):
    """An array and its library."""

    array: Any
    library: Library

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def dtype(self):
        """Name of the type, such as float32."""
        return _name_of_dtype(self.array.dtype)

    @property
    def pixel_type(self):
        """Number of the type, one of PIXEL_TYPES, in _core."""
        return PIXEL_TYPES.index(self.dtype)

    @property
    def address(self):
        if self.library.name == "PyTorch":
            return self.array.data_ptr()
        return self.array.data.ptr if self.library.name == "CuPy" else self.array.ctypes.data

    @property
    def end(self):
        """The address after the last element in C order."""
        return self.address + np.dtype(self.dtype).itemsize * math.prod(self.shape)

    def host(self):
        """The array as one of NumPy: a copy of what is in device memory."""
        if self.library.name == "PyTorch":
            return self.array.cpu().numpy()
        return self.array.get() if self.library.name == "CuPy" else self.array

    def part(self, box):
        """The part in slices, in C order."""
        return Array(self.library.contiguous(self.array[box]), self.library)

    def copy(self):
        """A copy in C order."""
        result = self.library.empty(self.shape, self.dtype)
        with self.library.current_device():
            result[...] = self.array
        return Array(result, self.library)

    def comparable(self):
        """The values, of a type that the library can compare and reduce: PyTorch cannot with unsigned integers of more than 8 bits."""
        is_other = self.library.name == "PyTorch" and self.dtype in ("uint16", "uint32", "uint64")
        return self.array.to(self.library.module().int64) if is_other else self.array

    def extremes(self):
        """The least and the greatest value, as numbers of Python: NaN if there is one."""
        values = self.comparable()
        with self.library.current_device():
            return values.min().item(), values.max().item()

    def at(self, numbers):
        """The elements with these numbers in C order, which are an array of NumPy, as they are."""
        numbers = self.library.from_host(numbers)
        with self.library.current_device():
            return Array(self.array.reshape(-1)[numbers], self.library).host()

    def nonzero(self):
        """Numbers of the elements that are not 0, in C order, and their values: arrays of NumPy."""
        flat = self.comparable().reshape(-1)
        if self.library.name == "NumPy":
            numbers = _candidates(flat)
            values = flat[numbers]
            is_set = values != 0
            return numbers[is_set], values[is_set]
        with self.library.current_device():
            numbers = self.library.module().argwhere(flat != 0).reshape(-1)
            values = Array(flat[numbers], self.library).host()
        return Array(numbers, self.library).host(), values.astype(self.dtype, copy=False)


def _candidates(flat):
    """Numbers of elements of an array of NumPy; all others are 0. Words of eight bytes are found in a tenth of the time."""
    count = 8 // flat.itemsize
    whole = len(flat) // count * count
    words = np.flatnonzero(flat[:whole].view(np.uint64) != 0)
    return np.append((words[:, np.newaxis] * count + np.arange(count)).ravel(), np.arange(whole, len(flat)))


@functools.lru_cache(maxsize=64)
def _name_of_dtype(dtype):
    return dtype.name if isinstance(dtype, np.dtype) else str(dtype).removeprefix("torch.")


def _is_of(value, module, name):
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


# Modules of types -> names of libraries.
_LIBRARIES = {"jax": "JAX", "jaxlib": "JAX", "numba": "Numba", "numba_cuda": "Numba"}


def through_cupy(value, what):
    """An array in device memory of a library that is not known here, with its memory."""
    module = type(value).__module__
    kind = f"{module}.{type(value).__name__}"
    try:
        import cupy
    except ImportError:
        raise TypeError(
            f"{what} is a {kind} in device memory, which is read by CuPy: install CuPy, or convert the array with "
            "torch.as_tensor or torch.from_dlpack, which share its memory"
        ) from None
    if hasattr(value, "block_until_ready"):
        value.block_until_ready()
    try:
        has_interface = hasattr(value, "__cuda_array_interface__")
        array = cupy.asarray(value) if has_interface else cupy.from_dlpack(value)
    except (TypeError, ValueError, KeyError, BufferError, RuntimeError) as error:
        raise TypeError(f"{what} is a {kind} in device memory that CuPy cannot read: {error}") from error
    package = module.partition(".")[0]
    return Array(array, Library("CuPy", array.device.id, _LIBRARIES.get(package, package)))


# Attributes of images of many libraries.
_OF_IMAGES = ("affine", "spacing", "GetSpacing", "dataobj", "coords", "as_sitk")


def _has_geometry(value):
    return any(hasattr(value, name) for name in _OF_IMAGES)


def array_of(value, what):
    """The array in a value. Raises TypeError or ValueError if there is none whose voxels can be read.

    what    How errors call it.
    """
    if _is_of(value, "torch", "Tensor"):
        if value.requires_grad:
            raise ValueError(f"{what} requires gradients, which are not computed: pass {what}.detach()")
        if value.layout != sys.modules["torch"].strided or value.device.type not in ("cpu", "cuda"):
            raise TypeError(
                f"{what} is a {value.layout} tensor on {value.device}, but must be a dense one on cpu or cuda"
            )
        return Array(value, Library("PyTorch", value.device.index if value.device.type == "cuda" else None))
    if _is_of(value, "cupy", "ndarray"):
        return Array(value, Library("CuPy", value.device.id))
    if isinstance(value, (list, tuple)):
        for each in value:
            if isinstance(each, (str, os.PathLike)):
                raise TypeError(
                    f"{what} is a list of texts or paths; pass one path, such as that of the folder of a DICOM series"
                )
            if _has_geometry(each):
                name = getattr(value, "_fields", ["[0]"])[0]
                raise TypeError(
                    f"{what} is a {type(value).__name__} of images, such as {type(each).__name__}: pass one of them, such as "
                    f"{what}{name if name == '[0]' else '.' + name}"
                )
        try:
            return Array(np.asarray(value), Library("NumPy"))
        except ValueError:
            raise ValueError(
                f"{what} is a {type(value).__name__} whose parts have different lengths: it is no array"
            ) from None
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array; pass its data, and the voxels to use as mask")
    if type(value) is not np.ndarray and _has_geometry(value):
        kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        raise TypeError(
            f"{what} is a {kind}, whose geometry is not known here: make an image of SimpleITK or nibabel of it, or pass its array, z, y, "
            "x, and the spacing"
        )
    has_device = not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__")
    if hasattr(value, "__cuda_array_interface__") or (has_device and value.__dlpack_device__()[0] == _DLPACK_CUDA):
        return through_cupy(value, what)
    if has_device and value.__dlpack_device__()[0] != _DLPACK_CPU:
        raise TypeError(f"{what} is neither in host memory nor on a CUDA device: copy it there")
    if _LIBRARIES.get(type(value).__module__.partition(".")[0]) == "JAX":
        return Array(np.asarray(value), Library("NumPy", None, "JAX"))
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return Array(np.from_dlpack(value), Library("NumPy"))
    if not hasattr(value, "__array__") and not hasattr(value, "__array_interface__"):
        raise TypeError(
            f"{what} must be an array, such as those of NumPy, PyTorch and CuPy, an image, or the path of one, not "
            f"{type(value).__name__}"
        )
    return Array(np.asarray(value), Library("NumPy"))


def check_same_library(first, first_name, other, other_name):
    """Raise TypeError if arrays of one call are not of the same library on the same device."""
    if first.library != other.library:
        raise TypeError(
            f"{first_name} is an array of {first.library}, but {other_name} is one of {other.library}: pass arrays of one library "
            "on one device"
        )


def array_like(value, what, image, *shapes, may_be_on_host=False):
    """The array in a value. Raises TypeError or ValueError if it is not of the library of the image, or of none of the shapes.

    may_be_on_host    Whether arrays of NumPy are copied to the library of the image.
    """
    array = array_of(value, what)
    if may_be_on_host and array.library == Library("NumPy") != image.library:
        if array.dtype not in (*PIXEL_TYPES, "bool"):
            raise TypeError(f"{what} has voxels of type {array.dtype}, but they {_RULE_OF_TYPES}")
        array = Array(image.library.from_host(np.ascontiguousarray(array.array)), image.library)
    check_same_library(image, "the image", array, what)
    if array.shape not in shapes:
        raise ValueError(f"{what} has the shape {array.shape}, but the image has {shapes[0]}")
    return array


def pixels_of(array, what):
    """The array in C order with a type of PIXEL_TYPES, without a change of values. Raises TypeError for other types."""
    # With NumPy's name of a type, bytes are in the order of this machine.
    dtype = {"bool": "uint8", "float16": "float32", "bfloat16": "float32"}.get(array.dtype, array.dtype)
    if dtype not in PIXEL_TYPES:
        raise TypeError(f"{what} has voxels of type {dtype}, but they {_RULE_OF_TYPES}")
    return Array(array.library.contiguous(array.array, dtype), array.library)


def bytes_of(array, what):
    """The array in C order as bytes: 0 where it is 0 or NaN, and not 0 elsewhere."""
    values, dtype = array.array, array.dtype
    if dtype.startswith(("float", "bfloat")):
        values = (values < 0) | (values > 0)
    elif dtype in PIXEL_TYPES and dtype != "uint8":
        values = array.comparable() != 0
    elif dtype not in ("bool", "uint8"):
        raise TypeError(f"{what} has voxels of type {dtype}, but they must be real numbers")
    values = array.library.contiguous(values)
    if array.library.name == "NumPy":
        # The bytes of bool are 0 and 1.
        return Array(values.view(np.uint8), array.library)
    return Array(array.library.contiguous(values, "uint8"), array.library)


def check_exact(array, what):
    """Raise ValueError for integers that float64, in which all is computed, does not represent."""
    if array.dtype not in ("int64", "uint64") or 0 in array.shape:
        return
    least, greatest = array.extremes()
    if max(-least, greatest) > _MAX_EXACT_INTEGER:
        raise ValueError(
            f"{what} has {array.dtype} values from {least} to {greatest}, which cannot be converted to float64 without a change: they "
            "must not exceed 2^53"
        )


def without_int64(array, what):
    """The array, with integers of 64 bits as float64. Raises ValueError if that changes a value."""
    check_exact(array, what)
    if array.dtype not in ("int64", "uint64"):
        return array
    return Array(array.library.contiguous(array.array, "float64"), array.library)


def host_pixels(value, what):
    """The array in a value as one of NumPy, with a type of PIXEL_TYPES."""
    return pixels_of(array_of(value, what), what).host()


def output_of(value, image, shape, dtype, what="out", mask=None):
    """The array in a value that takes results for an image and its mask, or a new one if it is None. Raises TypeError or ValueError if
    they do not fit, or if it has the memory of one of them, which is read meanwhile."""
    if value is None:
        return Array(image.library.empty(shape, dtype), image.library)
    out = array_of(value, what)
    check_same_library(image, "the image", out, what)
    if out.library.given == "JAX":
        raise TypeError(f"{what} is an array of JAX, which cannot be written to: leave it out")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"{what} has the shape {out.shape} and the type {out.dtype}, but must have {shape} and {dtype}"
        )
    is_contiguous = out.array.is_contiguous() if out.library.name == "PyTorch" else out.array.flags.c_contiguous
    is_writable = out.library.name != "NumPy" or (out.array.flags.writeable and out.array is value)
    if not (is_contiguous and is_writable):
        raise ValueError(f"{what} must be writable and in C order, without gaps")
    for other, name in ((image, "image"), (mask, "mask")):
        if other is not None and out.address < other.end and other.address < out.end:
            raise ValueError(
                f"{what} has memory of {name}, which is read while results are written: give another array"
            )
    return out
