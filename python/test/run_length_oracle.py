# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the run length features in exact fractions; shares only their names with the module."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np

NAMES = "SRE LRE GLN RLN RP LGRE HGRE SRLGE SRHGE LRLGE LRHGE GLNN RLNN GLV RV RE".split()

# The module computes 1 / i^2 and n log2 n in fixed point: within two units in the last place.
INEXACT = {"LGRE", "SRLGE", "LRLGE", "RE"}


def all_directions(dimension):
    """One direction of each opposite pair, in the order of NumPy's axes (the last axis is x)."""
    directions = []
    for d in itertools.product((-1, 0, 1), repeat=dimension):
        opposite = tuple(-c for c in d)
        if any(d) and opposite not in directions:
            directions.append(d)
    return directions


def count_runs(window, direction):
    """Count the runs along a direction by (level, length); level 0 marks absent voxels."""
    runs = Counter()
    shape = window.shape

    def level(position):
        if all(0 <= p < n for p, n in zip(position, shape)):
            return int(window[position])
        return 0

    for position in np.ndindex(shape):
        here = level(position)
        before = tuple(p - d for p, d in zip(position, direction))
        if here == 0 or level(before) == here:
            continue
        length = 0
        at = position
        while level(at) == here:
            length += 1
            at = tuple(p + d for p, d in zip(at, direction))
        runs[here, length] += 1
    return runs


def features_of(runs, voxels):
    """All sixteen features as fractions (RE as a float)."""
    total = sum(runs.values())
    by_level, by_length = Counter(), Counter()
    for (i, j), n in runs.items():
        by_level[i] += n
        by_length[j] += n

    def mean(weight):
        return sum(n * weight(i, j) for (i, j), n in runs.items()) / Fraction(total)

    gln = Fraction(sum(n * n for n in by_level.values()), total)
    rln = Fraction(sum(n * n for n in by_length.values()), total)
    mean_i, mean_j = mean(lambda i, j: i), mean(lambda i, j: j)
    return {
        "SRE": mean(lambda i, j: Fraction(1, j * j)),
        "LRE": mean(lambda i, j: j * j),
        "GLN": gln,
        "RLN": rln,
        "RP": Fraction(total, voxels),
        "LGRE": mean(lambda i, j: Fraction(1, i * i)),
        "HGRE": mean(lambda i, j: i * i),
        "SRLGE": mean(lambda i, j: Fraction(1, i * i * j * j)),
        "SRHGE": mean(lambda i, j: Fraction(i * i, j * j)),
        "LRLGE": mean(lambda i, j: Fraction(j * j, i * i)),
        "LRHGE": mean(lambda i, j: i * i * j * j),
        "GLNN": gln / total,
        "RLNN": rln / total,
        "GLV": mean(lambda i, j: (i - mean_i) ** 2),
        "RV": mean(lambda i, j: (j - mean_j) ** 2),
        "RE": -sum(n / total * math.log2(n / total) for n in runs.values()),
    }


def has_pairs(window, direction):
    """Whether some line along the direction holds two or more voxels of the window, adjacent or not."""
    lines = Counter()
    for position in np.argwhere(window > 0):
        # The voxels of a line have in common where it leaves the window backwards.
        while all(0 <= p < n for p, n in zip(position, window.shape)):
            position = position - direction
        lines[tuple(position)] += 1
    return max(lines.values(), default=0) > 1


def feature_maps(levels, radius, aggregation="average"):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0. Only directions with has_pairs() count;
    NaN where there is none."""
    result = np.zeros(levels.shape + (len(NAMES),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, levels.ndim)))
        window = levels[box]
        voxels = int((window > 0).sum())
        matrices = [count_runs(window, d) for d in all_directions(levels.ndim) if has_pairs(window, d)]
        if aggregation == "merge" and matrices:
            voxels *= len(matrices)
            matrices = [sum(matrices, Counter())]
        each = [features_of(matrix, voxels) for matrix in matrices]
        # The average of exact fractions: the module's differs in bits of a double, which a float does not show.
        result[tuple(position)] = [float(sum(f[k] for f in each) / len(each)) if each else math.nan for k in NAMES]
    return result


def check(actual, expected, names):
    """Check that maps are equal as float, or within two units in the last place for the features in INEXACT."""
    assert actual.shape == expected.shape
    rounded = expected.astype(np.float32)
    for i, name in enumerate(names):
        if name in INEXACT:
            np.testing.assert_array_max_ulp(actual[..., i], rounded[..., i], 2)
        else:
            np.testing.assert_array_equal(actual[..., i], rounded[..., i], err_msg=name)
