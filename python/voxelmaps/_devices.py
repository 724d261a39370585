# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Which device computes."""

from __future__ import annotations

from . import _arrays, _core


def device_of_arrays(device, library):
    """Number of the CUDA device, or -1 for the CPU."""
    if library.device is not None:
        if device is not None and device != library.device:
            raise ValueError(f"device is {device!r}, but the image is on CUDA device {library.device}")
        return library.device
    if device is None:
        return 0 if _core.number_of_devices() > 0 else -1
    if device == "cpu":
        return -1
    number = 0 if device == "cuda" else device
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"device is {device!r}, but must be 'cpu', 'cuda', the number of a CUDA device, or None")
    if not 0 <= number < _core.number_of_devices():
        reason = _core.reason_for_no_device() or f"there are {_core.number_of_devices()} devices, counted from 0"
        raise RuntimeError(f"CUDA device {number} cannot be used: {reason}")
    return number


def place_of(device, library):
    """Where _core computes, of an array in host memory or on a device."""
    return {
        "device": device_of_arrays(device, library),
        "may_use_cpu": device is None and library.device is None,
        "is_on_device": library.device is not None,
        "stream": library.stream(),
    }


def devices_of_arrays(device, library):
    """The result of device_of_arrays, and the numbers of further devices, if device is "all" or a list."""
    if isinstance(device, str) and device == "all":
        device = list(range(_core.number_of_devices())) or "cuda"
    if not isinstance(device, (list, tuple)):
        return device_of_arrays(device, library), []
    if not device:
        raise ValueError("device is empty, but must name at least one device")
    numbers = [device_of_arrays(number, _arrays.Library("NumPy")) for number in device]
    if -1 in numbers:
        raise ValueError(f"device is {device!r}, but the CPU cannot be one of several devices")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"device is {device!r}, but a device can be named only once")
    first = numbers[0] if library.device is None else library.device
    if first not in numbers:
        raise ValueError(f"device is {device!r}, but the image is on CUDA device {first}")
    return first, [number for number in numbers if number != first]


def release_device_memory() -> None:
    """Free the CUDA device memory that this process retains for later calls: up to 1/32 of each device.

    Other libraries, such as PyTorch, cannot use it otherwise. The next call on a device takes a few milliseconds longer.

    Examples
    --------
    >>> import voxelmaps
    >>> voxelmaps.release_device_memory()
    """
    _core.release_device_memory()
