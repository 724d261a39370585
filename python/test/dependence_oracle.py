# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the gray level dependence features in exact fractions; shares only their names with the
module."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

NAMES = "SDE LDE GLN DN DNN GLV DV DE LGLE HGLE SDLGLE SDHGLE LDLGLE LDHGLE".split()


def dependence_matrix(window, offsets, alpha):
    """Count the voxels by (level, 1 + number of dependent neighbors); level 0 marks absent voxels."""
    levels = {tuple(map(int, p)): int(window[tuple(p)]) for p in np.argwhere(window > 0)}
    matrix = Counter()
    for position, level in levels.items():
        size = 1
        for offset in offsets:
            for sign in (1, -1):
                neighbor = levels.get(tuple(p + sign * o for p, o in zip(position, offset)))
                size += neighbor is not None and abs(neighbor - level) <= alpha
        matrix[level, size] += 1
    return matrix


def features_of(matrix):
    """All features of a matrix, as fractions where they are."""
    voxels = sum(matrix.values())
    of_level, of_size = Counter(), Counter()
    for (i, j), n in matrix.items():
        of_level[i] += n
        of_size[j] += n

    def mean(function):
        return sum(n * function(Fraction(i), Fraction(j)) for (i, j), n in matrix.items()) / voxels

    mean_i, mean_j = mean(lambda i, j: i), mean(lambda i, j: j)
    return {
        "SDE": mean(lambda i, j: 1 / j**2),
        "LDE": mean(lambda i, j: j**2),
        "GLN": Fraction(sum(n**2 for n in of_level.values()), voxels),
        "DN": Fraction(sum(n**2 for n in of_size.values()), voxels),
        "DNN": Fraction(sum(n**2 for n in of_size.values()), voxels**2),
        "GLV": mean(lambda i, j: (i - mean_i) ** 2),
        "DV": mean(lambda i, j: (j - mean_j) ** 2),
        "DE": math.fsum(n / voxels * math.log2(voxels / n) for n in matrix.values()),
        "LGLE": mean(lambda i, j: 1 / i**2),
        "HGLE": mean(lambda i, j: i**2),
        "SDLGLE": mean(lambda i, j: 1 / (i * j) ** 2),
        "SDHGLE": mean(lambda i, j: (i / j) ** 2),
        "LDLGLE": mean(lambda i, j: (j / i) ** 2),
        "LDHGLE": mean(lambda i, j: (i * j) ** 2),
    }


def feature_maps(levels, radius, offsets, alpha=0, names=NAMES):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0."""
    result = np.zeros(levels.shape + (len(names),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, levels.ndim)))
        features = features_of(dependence_matrix(levels[box], offsets, alpha))
        result[tuple(position)] = [float(features[name]) for name in names]
    return result


def check(actual, expected, names=NAMES):
    """Check that maps of double precision are equal up to its rounding and the fixed-point numbers of the filter."""
    assert actual.shape[-1] == expected.shape[-1] == len(names)
    for i, name in enumerate(names):
        np.testing.assert_allclose(actual[..., i], expected[..., i], rtol=1e-12, err_msg=name)
