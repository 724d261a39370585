# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Statistics of the values of a map in a region."""

import math
import os
import tempfile

import numpy as np

# Number of values whose differences from the mean are in memory at once.
_BLOCK = 2**20


class Statistics:
    """Mean, median and standard deviation of values that are added in parts, without NaN.

    number       Number of the values.
    folder       For a temporary file of the values, or None to keep them in memory.
    """

    def __init__(self, number, dtype, folder):
        self._number = 0
        if folder is None or number == 0:
            self._values = np.empty(number, dtype)
        else:
            with tempfile.TemporaryFile(dir=folder) as file:
                if hasattr(os, "posix_fallocate"):
                    # A disk that fills up while memory is mapped would end the process.
                    os.posix_fallocate(file.fileno(), 0, number * np.dtype(dtype).itemsize)
                self._values = np.memmap(file, dtype, "w+", shape=number)

    def add(self, slab, region):
        """Add the values of voxels of a slab, which have these numbers."""
        first, self._number = self._number, self._number + len(region)
        # Unlike other modes, this one writes without a copy; it releases the interpreter's lock, too.
        np.take(slab.reshape(-1), region, out=self._values[first : self._number], mode="clip")

    def result(self):
        values, self._values = self._values, None
        is_missing = np.isnan(values)
        if is_missing.any():
            values = values[~is_missing]
        if len(values) == 0:
            return {"mean": None, "median": None, "standard_deviation": None, "valid_voxels": 0}
        number, buffer = len(values), np.empty(min(len(values), _BLOCK))
        # Infinite values have no deviation.
        with np.errstate(invalid="ignore", over="ignore"):
            mean, squares = np.mean(values, dtype=np.float64), 0.0
            for first in range(0, number, _BLOCK):
                part = values[first : first + _BLOCK]
                distance = np.subtract(part, mean, out=buffer[: len(part)], dtype=np.float64)
                squares += np.square(distance, out=distance).sum()
            # In half of the time of numpy.median.
            values.partition(number // 2)
            median = values[number // 2]
            if number % 2 == 0:
                median = (values[: number // 2].max() + median) / 2
        return {
            "mean": float(mean),
            "standard_deviation": math.sqrt(squares / number) if squares >= 0 else math.nan,
            "valid_voxels": number,
            "median": float(median),
        }
