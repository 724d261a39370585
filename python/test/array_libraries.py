# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Arrays of all libraries that the functions of arrays read, in host memory and on a CUDA device."""

import os

import numpy as np
import pytest
from voxelmaps import _core

NO_DEVICE = _core.reason_for_no_device()
needs_device = pytest.mark.skipif(bool(NO_DEVICE), reason=NO_DEVICE or "there is a device")


class _LazyITK:
    """The module itk; a test that uses it is skipped where it is not installed."""

    def __getattr__(self, name):
        return getattr(pytest.importorskip("itk", reason="ITK is not installed: pip install itk"), name)


itk = _LazyITK()


def _torch(device):
    def convert(array):
        torch = pytest.importorskip("torch")
        if device == "cuda" and (NO_DEVICE or not torch.cuda.is_available()):
            pytest.skip(NO_DEVICE or "this PyTorch has no CUDA")
        return torch.as_tensor(array, device=device)

    return convert


def _jax(device):
    def convert(array):
        # Else JAX takes most of the memory of a device, and changes 64-bit numbers to those of 32 bits.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        try:
            place = jax.devices(device)[0]
        except RuntimeError:
            pytest.skip("this JAX has no CUDA")
        return jax.device_put(array, place)

    return convert


def _numba(array):
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    return cuda.to_device(np.ascontiguousarray(array))


def _on_device(convert):
    """CuPy reads arrays of JAX on devices and of Numba."""

    def convert_on_device(array):
        if NO_DEVICE:
            pytest.skip(NO_DEVICE)
        pytest.importorskip("cupy")
        return convert(array)

    return convert_on_device


# Name -> what converts an array of NumPy, or skips the test.
LIBRARIES = {
    "NumPy": np.asarray,
    "PyTorch": _torch("cpu"),
    "PyTorch on a device": _torch("cuda"),
    "CuPy": _on_device(lambda array: pytest.importorskip("cupy").asarray(array)),
    "JAX": _jax("cpu"),
    "JAX on a device": _on_device(_jax("cuda")),
    "Numba": _on_device(_numba),
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
