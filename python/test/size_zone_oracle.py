# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the size zone features in exact fractions; shares only their names with the module."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np

NAMES = "GLN GLNN GLV HGLZE LAE LAHGLE LALGLE LGLZE SZN SZNN SAE SAHGLE SALGLE ZE ZP ZV".split()

# The module computes 1 / i^2, 1 / j^2 and n log2 n in fixed point: within two units in the last place.
INEXACT = {"LALGLE", "LGLZE", "SAE", "SAHGLE", "SALGLE", "ZE"}


def count_zones(window):
    """Count the zones by (level, size); level 0 marks absent voxels."""
    zones = Counter()
    left = {tuple(map(int, p)): int(window[tuple(p)]) for p in np.argwhere(window > 0)}
    steps = list(itertools.product((-1, 0, 1), repeat=window.ndim))
    while left:
        position, level = left.popitem()
        front, size = [position], 0
        while front:
            position = front.pop()
            size += 1
            for step in steps:
                neighbor = tuple(p + s for p, s in zip(position, step))
                if left.get(neighbor) == level:
                    del left[neighbor]
                    front.append(neighbor)
        zones[level, size] += 1
    return zones


def features_of(zones):
    """All sixteen features as fractions (ZE as a float)."""
    total = sum(zones.values())
    by_level, by_size = Counter(), Counter()
    for (i, j), n in zones.items():
        by_level[i] += n
        by_size[j] += n

    def mean(function):
        return sum(n * function(i, j) for (i, j), n in zones.items()) / Fraction(total)

    gln = Fraction(sum(n * n for n in by_level.values()), total)
    szn = Fraction(sum(n * n for n in by_size.values()), total)
    mean_i, mean_j = mean(lambda i, j: i), mean(lambda i, j: j)
    return {
        "GLN": gln,
        "GLNN": gln / total,
        "GLV": mean(lambda i, j: (i - mean_i) ** 2),
        "HGLZE": mean(lambda i, j: i * i),
        "LAE": mean(lambda i, j: j * j),
        "LAHGLE": mean(lambda i, j: i * i * j * j),
        "LALGLE": mean(lambda i, j: Fraction(j * j, i * i)),
        "LGLZE": mean(lambda i, j: Fraction(1, i * i)),
        "SZN": szn,
        "SZNN": szn / total,
        "SAE": mean(lambda i, j: Fraction(1, j * j)),
        "SAHGLE": mean(lambda i, j: Fraction(i * i, j * j)),
        "SALGLE": mean(lambda i, j: Fraction(1, i * i * j * j)),
        "ZE": -math.fsum(n / total * math.log2(n / total) for n in zones.values()),
        "ZP": Fraction(total, sum(n * j for (_, j), n in zones.items())),
        "ZV": mean(lambda i, j: (j - mean_j) ** 2),
    }


def feature_maps(levels, radius, names=NAMES):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0."""
    result = np.zeros(levels.shape + (len(names),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, levels.ndim)))
        features = features_of(count_zones(levels[box]))
        result[tuple(position)] = [float(features[name]) for name in names]
    return result


def check(actual, expected, names):
    """Check that maps are equal as float, or within two units in the last place for the features in INEXACT."""
    assert actual.shape == expected.shape and actual.shape[-1] == len(names)
    rounded = expected.astype(np.float32)
    for i, name in enumerate(names):
        if name in INEXACT:
            np.testing.assert_array_max_ulp(actual[..., i], rounded[..., i], 2)
        else:
            np.testing.assert_array_equal(actual[..., i], rounded[..., i], err_msg=name)
