# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementations of matrices and features of a window, in exact fractions; they share only the abbreviations with the
module. Level 0 marks absent voxels; offsets are in the order of NumPy's axes."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np

# Of matrices by level and size, in the order of level_size_features; "-" is not defined.
RUNS = "SRE LRE GLN GLNN RLN RLNN RP GLV RV RE LGRE HGRE SRLGE SRHGE LRLGE LRHGE"
ZONES = "SAE LAE GLN GLNN SZN SZNN ZP GLV ZV ZE LGLZE HGLZE SALGLE SAHGLE LALGLE LAHGLE"
DEPENDENCES = "SDE LDE GLN - DN DNN - GLV DV DE LGLE HGLE SDLGLE SDHGLE LDLGLE LDHGLE"


def all_offsets(dimension, distances=(1,)):
    """One offset of each opposite pair."""
    offsets = []
    for distance in distances:
        for offset in itertools.product(range(-distance, distance + 1), repeat=dimension):
            if max(map(abs, offset)) == distance and tuple(-c for c in offset) not in offsets:
                offsets.append(offset)
    return offsets


# --- Matrices ----------------------------------------------------------------------------------------------------------


def voxels_of(window):
    return {tuple(map(int, position)): int(window[tuple(position)]) for position in np.argwhere(window > 0)}


def moved(position, offset, times=1):
    return tuple(p + times * o for p, o in zip(position, offset))


def pairs_of(window, offset, both_orders=True):
    """The pairs of an offset by (level, level), in both orders or in that of the offset."""
    voxels, pairs = voxels_of(window), Counter()
    for position, i in voxels.items():
        j = voxels.get(moved(position, offset))
        if j is not None:
            pairs.update([(i, j), (j, i)] if both_orders else [(i, j)])
    return pairs


def runs_of(window, direction):
    """The runs along a direction by (level, length)."""
    voxels, runs = voxels_of(window), Counter()
    for position, level in voxels.items():
        if voxels.get(moved(position, direction, -1)) != level:
            is_in_run = lambda step: voxels.get(moved(position, direction, step)) == level
            runs[level, next(step for step in itertools.count(1) if not is_in_run(step))] += 1
    return runs


def has_pairs(window, direction):
    """Whether some line along the direction holds two or more voxels of the window, adjacent or not."""
    lines = Counter()
    for position in np.argwhere(window > 0):
        # The voxels of a line have in common where it leaves the window backwards.
        while all(0 <= p < n for p, n in zip(position, window.shape)):
            position = position - direction
        lines[tuple(position)] += 1
    return max(lines.values(), default=0) > 1


def zones_of(window):
    """The zones by (level, size)."""
    zones, left = Counter(), voxels_of(window)
    while left:
        position, level = left.popitem()
        front, size = [position], 0
        while front:
            position = front.pop()
            size += 1
            for step in itertools.product((-1, 0, 1), repeat=window.ndim):
                neighbor = moved(position, step)
                if left.get(neighbor) == level:
                    del left[neighbor]
                    front.append(neighbor)
        zones[level, size] += 1
    return zones


def neighbors_of(voxels, position, offsets):
    """Levels of the voxels at offsets in both directions."""
    places = (moved(position, offset, sign) for offset in offsets for sign in (-1, 1))
    return [voxels[place] for place in places if place in voxels]


def dependences_of(window, offsets, alpha):
    """The voxels by (level, 1 + number of dependent neighbors)."""
    voxels, matrix = voxels_of(window), Counter()
    for position, level in voxels.items():
        matrix[level, 1 + sum(abs(each - level) <= alpha for each in neighbors_of(voxels, position, offsets))] += 1
    return matrix


def tone_differences_of(window, offsets):
    """n(i) and s(i) by level."""
    voxels, counts, differences = voxels_of(window), Counter(), Counter()
    for position, level in voxels.items():
        neighbors = neighbors_of(voxels, position, offsets)
        counts[level] += 1
        differences[level] += abs(level - Fraction(sum(neighbors), len(neighbors))) if neighbors else Fraction(0)
    return counts, differences


# --- Features ----------------------------------------------------------------------------------------------------------


def _entropy(counts):
    total = sum(counts.values())
    return -math.fsum(n / total * math.log2(n / total) for n in counts.values())


def _sums(matrix, key):
    sums = Counter()
    for (i, j), n in matrix.items():
        sums[key(i, j)] += n
    return sums


def level_size_features(matrix, names):
    """Features of counts by level and size: of runs, zones or dependences."""
    total = sum(matrix.values())

    def mean(function):
        return sum(n * function(Fraction(i), Fraction(j)) for (i, j), n in matrix.items()) / total

    def nonuniformity(key):
        return Fraction(sum(n * n for n in _sums(matrix, key).values()), total)

    levels, sizes = nonuniformity(lambda i, j: i), nonuniformity(lambda i, j: j)
    mean_level, mean_size = mean(lambda i, j: i), mean(lambda i, j: j)
    values = (
        mean(lambda i, j: 1 / j**2),
        mean(lambda i, j: j**2),
        *(levels, levels / total, sizes, sizes / total),
        1 / mean_size,
        mean(lambda i, j: (i - mean_level) ** 2),
        mean(lambda i, j: (j - mean_size) ** 2),
        _entropy(matrix),
        mean(lambda i, j: 1 / i**2),
        mean(lambda i, j: i**2),
        mean(lambda i, j: 1 / (i * j) ** 2),
        mean(lambda i, j: (i / j) ** 2),
        mean(lambda i, j: (j / i) ** 2),
        mean(lambda i, j: (i * j) ** 2),
    )
    return {name: value for name, value in zip(names.split(), values, strict=True) if name != "-"}


def is_product(pairs):
    """Whether the levels of a pair are independent."""
    rows, columns = _sums(pairs, lambda i, j: i), _sums(pairs, lambda i, j: j)
    total = sum(pairs.values())
    return all(pairs[i, j] * total == m * n for i, m in rows.items() for j, n in columns.items())


def _maximal_correlation(pairs, rows, columns):
    matrix = np.zeros((len(rows), len(columns)))
    for (i, row), (j, column) in itertools.product(enumerate(sorted(rows)), enumerate(sorted(columns))):
        matrix[i, j] = pairs.get((row, column), 0) / math.sqrt(rows[row] * columns[column])
    return float(np.linalg.svd(matrix, compute_uv=False)[1]) if min(matrix.shape) > 1 else 0.0


def pair_features(pairs, number_of_levels):
    """Features of a co-occurrence matrix."""
    total = sum(pairs.values())
    rows, columns = _sums(pairs, lambda i, j: i), _sums(pairs, lambda i, j: j)

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
    information = 0.0 if is_product(pairs) else _entropy(rows) + _entropy(columns) - _entropy(pairs)

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
        "DE": _entropy(_sums(pairs, lambda i, j: abs(i - j))),
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
        "SE": _entropy(_sums(pairs, lambda i, j: i + j)),
        "SS": variance_i,
        "MCC": 1.0 if number_of_levels == 1 else _maximal_correlation(pairs, rows, columns),
    }


def tone_difference_features(counts, differences):
    total = sum(counts.values())
    p = {i: Fraction(n, total) for i, n in counts.items()}
    levels = len(p)
    pairs = list(itertools.product(p, p))
    weighted = sum(p[i] * differences[i] for i in p)
    imbalance = sum(abs(i * p[i] - j * p[j]) for i, j in pairs)
    variance = sum(p[i] * p[j] * (i - j) ** 2 for i, j in pairs)
    difference = sum(differences.values())
    complexity = sum(abs(i - j) * (p[i] * differences[i] + p[j] * differences[j]) / (p[i] + p[j]) for i, j in pairs)
    return {
        "BUS": weighted / imbalance if imbalance else 0,
        "COA": 1 / weighted if weighted else 10**6,
        "COM": complexity / total,
        "CON": variance / (levels * (levels - 1)) * difference / total if levels > 1 else 0,
        "STR": sum((p[i] + p[j]) * (i - j) ** 2 for i, j in pairs) / difference if difference else 0,
    }


def first_order_features(intensities, levels):
    """With NumPy. There is no shift, and a voxel has the volume 1."""
    x = intensities.astype(np.float64)
    deviation = x - x.mean()
    p10, p25, p75, p90 = np.percentile(x, [10, 25, 75, 90])
    inside = x[(x >= p10) & (x <= p90)]
    is_flat = x.min() == x.max()
    variance = 0.0 if is_flat else np.mean(deviation**2)
    counts = Counter(levels.tolist())
    return {
        "P10": p10,
        "P90": p90,
        "ENE": np.sum(x**2),
        "ENT": _entropy(counts),
        "IQR": p75 - p25,
        "KUR": 0.0 if is_flat else np.mean(deviation**4) / variance**2,
        "MAX": x.max(),
        "MAD": 0.0 if is_flat else np.mean(np.abs(deviation)),
        "MEAN": x[0] if is_flat else x.mean(),
        "MED": np.median(x),
        "MIN": x.min(),
        "RAN": x.max() - x.min(),
        "RMAD": np.mean(np.abs(inside - inside.mean())) if len(inside) else np.nan,
        "RMS": np.sqrt(np.mean(x**2)),
        "SKE": 0.0 if is_flat else np.mean(deviation**3) / variance**1.5,
        "SD": np.sqrt(variance),
        "TE": np.sum(x**2),
        "UNI": sum(n**2 for n in counts.values()) / len(x) ** 2,
        "VAR": variance,
    }
