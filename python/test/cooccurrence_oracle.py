# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the co-occurrence features in exact fractions; shares only their names with the module."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

NAMES = "AC CP CS CT CON COR DA DE DV ID IDM IDMN IDN IMC1 IMC2 IV JA JEN JE MP SA SE SS MCC".split()

# Fixed-point weights, and logarithms: within two units in the last place. All others are fractions.
INEXACT = {"DE", "ID", "IDM", "IDMN", "IDN", "IMC1", "IMC2", "IV", "JE", "SE", "MCC"}


def all_offsets(dimension, distances=(1,)):
    """One offset of each opposite pair, in the order of NumPy's axes (the last axis is x)."""
    offsets = []
    for distance in distances:
        for d in np.ndindex((2 * distance + 1,) * dimension):
            d = tuple(distance - c for c in d)
            if max(map(abs, d)) == distance and tuple(-c for c in d) not in offsets:
                offsets.append(d)
    return offsets


def count_pairs(window, offset, symmetric=True):
    """Count the pairs of an offset by (level, level); level 0 marks absent voxels."""
    pairs = Counter()
    for position in np.argwhere(window > 0):
        other = tuple(position + offset)
        if all(0 <= p < n for p, n in zip(other, window.shape)) and window[other] > 0:
            i, j = int(window[tuple(position)]), int(window[other])
            pairs[i, j] += 1
            if symmetric:
                pairs[j, i] += 1
    return pairs


def _entropy(counts):
    total = sum(counts.values())
    return -math.fsum(n / total * math.log2(n / total) for n in counts.values())


def _maximal_correlation(pairs, rows, columns):
    matrix = np.zeros((len(rows), len(columns)))
    for i, n_i in enumerate(sorted(rows)):
        for j, n_j in enumerate(sorted(columns)):
            matrix[i, j] = pairs.get((n_i, n_j), 0) / math.sqrt(rows[n_i] * columns[n_j])
    return float(np.linalg.svd(matrix, compute_uv=False)[1]) if min(matrix.shape) > 1 else 0.0


def features_of(pairs, number_of_levels):
    """All features of a matrix, as fractions where they are."""
    total = sum(pairs.values())
    rows, columns, sums, differences = Counter(), Counter(), Counter(), Counter()
    for (i, j), n in pairs.items():
        rows[i] += n
        columns[j] += n
        sums[i + j] += n
        differences[abs(i - j)] += n

    def mean(function):
        return sum(n * function(i, j) for (i, j), n in pairs.items()) / Fraction(total)

    mean_i, mean_j = mean(lambda i, j: i), mean(lambda i, j: j)
    variance_i, variance_j = mean(lambda i, j: (i - mean_i) ** 2), mean(lambda i, j: (j - mean_j) ** 2)
    covariance = mean(lambda i, j: (i - mean_i) * (j - mean_j))
    mean_difference = mean(lambda i, j: abs(i - j))
    if variance_i == 0 or variance_j == 0:
        correlation = 1
    elif variance_i == variance_j:
        correlation = covariance / variance_i
    else:
        correlation = float(covariance) / math.sqrt(variance_i * variance_j)
    is_product = all(pairs.get((i, j), 0) * total == n_i * n_j for i, n_i in rows.items() for j, n_j in columns.items())
    information = 0.0 if is_product else _entropy(rows) + _entropy(columns) - _entropy(pairs)

    def cluster(power):
        return mean(lambda i, j: (i + j - mean_i - mean_j) ** power)

    return {
        "AC": mean(lambda i, j: i * j),
        "CP": cluster(4),
        "CS": cluster(3),
        "CT": cluster(2),
        "CON": mean(lambda i, j: (i - j) ** 2),
        "COR": correlation,
        "DA": mean_difference,
        "DE": _entropy(differences),
        "DV": mean(lambda i, j: (abs(i - j) - mean_difference) ** 2),
        "ID": mean(lambda i, j: Fraction(1, 1 + abs(i - j))),
        "IDM": mean(lambda i, j: Fraction(1, 1 + (i - j) ** 2)),
        "IDMN": mean(lambda i, j: 1 / (1 + Fraction(i - j, number_of_levels) ** 2)),
        "IDN": mean(lambda i, j: 1 / (1 + Fraction(abs(i - j), number_of_levels))),
        "IMC1": -information / max(_entropy(rows), _entropy(columns)) if information else 0.0,
        "IMC2": math.sqrt(-math.expm1(-2 * information)),
        "IV": mean(lambda i, j: Fraction(1, (i - j) ** 2) if i != j else 0),
        "JA": mean_i,
        "JEN": Fraction(sum(n * n for n in pairs.values()), total**2),
        "JE": _entropy(pairs),
        "MP": Fraction(max(pairs.values()), total),
        "SA": mean(lambda i, j: i + j),
        "SE": _entropy(sums),
        "SS": variance_i,
        "MCC": 1.0 if number_of_levels == 1 else _maximal_correlation(pairs, rows, columns),
    }


def feature_maps(levels, radius, offsets, number_of_levels, aggregation="average", symmetric=True, names=NAMES):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0, windows without pairs NaN."""
    result = np.zeros(levels.shape + (len(names),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, levels.ndim)))
        matrices = [count_pairs(levels[box], d, symmetric) for d in offsets]
        if aggregation == "merge":
            matrices = [sum(matrices, Counter())]
        each = [features_of(m, number_of_levels) for m in matrices if m]
        result[tuple(position)] = [float(sum(f[k] for f in each) / len(each)) if each else math.nan for k in names]
    return result


def check(actual, expected, names):
    """Check that maps are equal as float, or within two units in the last place for the features in INEXACT."""
    assert actual.shape[-1] == expected.shape[-1] == len(names)
    for i, name in enumerate(names):
        # Means over the directions add doubles, and correlations may cancel; the oracle's of singular values are rounded.
        tolerances = {"rtol": 2**-22 if name in INEXACT else 2**-23, "atol": 1e-15 if name in ("COR", "MCC") else 0}
        np.testing.assert_allclose(actual[..., i], expected[..., i], **tolerances, err_msg=name)
