# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Statistics of the values of a map in a region, in memory that does not depend on their number."""

import math
import tempfile

import numpy as np

# Of values that are kept in memory; more are kept in a temporary file.
_MEMORY_BYTES = 2**22
_BLOCK = 2**18
# The upper 16 bits of floating-point numbers in their order: negative numbers first, from the greatest magnitude.
_ASCENDING = np.concatenate([np.arange(2**16 - 1, 2**15 - 1, -1), np.arange(2**15)])


def _upper_bits(values):
    return values.astype(np.float32, copy=False).view(np.uint16)[1::2]


class Statistics:
    """Number, mean, median and standard deviation of values that are added in parts, without NaN."""

    def __init__(self, dtype, folder):
        self._block = np.empty(_BLOCK, dtype)
        self._values = tempfile.SpooledTemporaryFile(_MEMORY_BYTES, dir=folder)

    def add(self, values):
        is_missing = np.isnan(values)
        self._values.write(values[~is_missing] if is_missing.any() else values)

    def close(self):
        self._values.close()

    def _blocks(self):
        self._values.seek(0)
        while size := self._values.readinto(self._block):
            yield self._block[: size // self._block.itemsize]

    # The last bits of sums do not depend on the parts that were added. Infinite values have no deviation.
    @np.errstate(invalid="ignore", over="ignore")
    def result(self):
        number = self._values.tell() // self._block.itemsize
        if number == 0:
            return {"mean": None, "median": None, "standard_deviation": None, "valid_voxels": 0}
        total, counts = 0.0, np.zeros(2**16, np.int64)
        for block in self._blocks():
            total += float(block.sum(dtype=np.float64))
            counts += np.bincount(_upper_bits(block), minlength=2**16)
        mean, squares, difference = total / number, 0.0, np.empty(_BLOCK)
        # The values with the same upper bits as those in the middle are sorted.
        numbers = np.cumsum(counts[_ASCENDING])
        middle = np.array([(number - 1) // 2, number // 2])
        lower, upper = np.searchsorted(numbers, middle, side="right")
        candidates = []
        for block in self._blocks():
            part = difference[: len(block)]
            np.subtract(block, mean, out=part, dtype=np.float64)
            squares += float(np.square(part, out=part).sum())
            bits = _upper_bits(block)
            candidates.append(block[(bits == _ASCENDING[lower]) | (bits == _ASCENDING[upper])])
        middle -= numbers[lower - 1] if lower > 0 else 0
        median = np.partition(np.concatenate(candidates), middle)[middle].mean()
        deviation = math.sqrt(squares / number) if math.isfinite(squares) else math.nan
        return {"mean": mean, "standard_deviation": deviation, "valid_voxels": number, "median": float(median)}
