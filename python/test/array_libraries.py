# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Arrays of all libraries that the functions of arrays read, in host memory and on a CUDA device."""

import os

import numpy as np
import pytest
from voxelmaps import _core

NO_DEVICE = _core.reason_for_no_device()
needs_device = pytest.mark.skipif(bool(NO_DEVICE), reason=NO_DEVICE or "there is a device")


def _need_device():
    if NO_DEVICE:
        pytest.skip(NO_DEVICE)


def _torch_on_cpu(array):
    return pytest.importorskip("torch").as_tensor(array)


def _torch_on_device(array):
    _need_device()
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch.as_tensor(array, device="cuda")


def _cupy(array):
    _need_device()
    return pytest.importorskip("cupy").asarray(array)


def _jax():
    # Else JAX takes most of the memory of a device, and changes 64-bit numbers to those of 32 bits.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def _jax_on_cpu(array):
    jax = _jax()
    return jax.device_put(array, jax.devices("cpu")[0])


def _jax_on_device(array):
    _need_device()
    jax = _jax()
    pytest.importorskip("cupy", reason="CuPy, which reads arrays of JAX on devices, is not installed")
    try:
        device = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("this JAX has no CUDA")
    return jax.device_put(array, device)


def _numba(array):
    _need_device()
    cuda = pytest.importorskip("numba.cuda")
    pytest.importorskip("cupy", reason="CuPy, which reads arrays of Numba, is not installed")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    return cuda.to_device(np.ascontiguousarray(array))


# Name -> what converts an array of NumPy, or skips the test.
LIBRARIES = {
    "NumPy": np.asarray,
    "PyTorch": _torch_on_cpu,
    "PyTorch on a device": _torch_on_device,
    "CuPy": _cupy,
    "JAX": _jax_on_cpu,
    "JAX on a device": _jax_on_device,
    "Numba": _numba,
}


@pytest.fixture(params=list(LIBRARIES))
def library(request):
    return LIBRARIES[request.param]


def _module(array):
    return type(array).__module__.partition(".")[0].replace("jaxlib", "jax").replace("numba_cuda", "numba")


def to_numpy(array):
    module = _module(array)
    if module == "torch":
        return array.cpu().numpy()
    if module == "numba":
        return array.copy_to_host()
    return array.get() if module == "cupy" else np.asarray(array)


def is_like(array, other):
    """Whether two arrays are of the same library and in the same memory."""
    places = []
    for each in (array, other):
        module = _module(each)
        if module in ("torch", "jax"):
            places.append((module, str(each.device)))
        else:
            places.append((module, int(each.device.id) if module == "cupy" else None))
    return places[0] == places[1]


def with_effect(affinity, parameters):
    """The parameters of connectedness that have an effect with an affinity."""
    moments = {"object_mean", "object_variance", "difference_variance"}
    without = {
        "weighted_sum": set(),
        "homogeneity": {"weight", "difference_mean", "object_mean", "object_variance"},
        "absolute_difference": {"weight", "difference_mean", "estimation_radius", *moments},
    }.get(affinity, {"weight", "difference_mean"})
    kept = {name: value for name, value in parameters.items() if name not in without}
    if moments & set(kept):
        kept.pop("estimation_radius", None)
    return kept
