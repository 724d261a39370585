# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the features of gray tone differences in exact fractions; shares only their names with the
module."""

from fractions import Fraction

import numpy as np

NAMES = "BUS COA COM CON STR".split()


def matrix_of(window, offsets):
    """n(i) and s(i) by level; level 0 marks absent voxels."""
    voxels = {tuple(position): int(window[tuple(position)]) for position in np.argwhere(window > 0)}
    counts, differences = {}, {}
    for position, level in voxels.items():
        neighbors = []
        for offset in offsets:
            for sign in (-1, 1):
                neighbor = tuple(p + sign * o for p, o in zip(position, offset))
                if neighbor in voxels:
                    neighbors.append(voxels[neighbor])
        counts[level] = counts.get(level, 0) + 1
        differences.setdefault(level, Fraction(0))
        if neighbors:
            differences[level] += abs(level - Fraction(sum(neighbors), len(neighbors)))
    return counts, differences


def features_of(counts, differences):
    """All features of a matrix, as fractions."""
    total = sum(counts.values())
    p = {i: Fraction(n, total) for i, n in counts.items()}
    levels = len(p)
    pairs = [(i, j) for i in p for j in p]
    weighted = sum(p[i] * differences[i] for i in p)
    imbalance = sum(abs(i * p[i] - j * p[j]) for i, j in pairs)
    variance = sum(p[i] * p[j] * (i - j) ** 2 for i, j in pairs)
    difference = sum(differences.values())
    return {
        "BUS": weighted / imbalance if imbalance else 0,
        "COA": 1 / weighted if weighted else 10**6,
        "COM": sum(abs(i - j) * (p[i] * differences[i] + p[j] * differences[j]) / (p[i] + p[j]) for i, j in pairs)
        / total,
        "CON": variance / (levels * (levels - 1)) * difference / total if levels > 1 else 0,
        "STR": sum((p[i] + p[j]) * (i - j) ** 2 for i, j in pairs) / difference if difference else 0,
    }


def feature_maps(levels, radius, offsets, names=NAMES):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0."""
    result = np.zeros(levels.shape + (len(names),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, levels.ndim)))
        features = features_of(*matrix_of(levels[box], offsets))
        result[tuple(position)] = [float(features[name]) for name in names]
    return result


def check(actual, expected, names):
    """Check that maps are equal but for one unit in the last place of a float."""
    assert actual.shape[-1] == expected.shape[-1] == len(names)
    for i, name in enumerate(names):
        np.testing.assert_allclose(actual[..., i], expected[..., i], rtol=2**-23, atol=0, err_msg=name)
