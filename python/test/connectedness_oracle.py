# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of fuzzy connectedness, independent of the module: relaxes all links until nothing changes."""

import itertools
import math

import numpy as np

UNITS = 2**24


def cost(a, b, function, object_mean, object_variance, difference_variance):
    """-ln of the affinity between two arrays of voxels, in units of 2^-24; every term is rounded, as documented."""
    a, b = a.astype(float), b.astype(float)
    half = 0.5 if function == "geometric_mean" else 1.0
    from_mean = (a + b) * 0.5 - object_mean
    from_difference = np.abs(a - b) * 0.5
    mean_term = np.floor(from_mean**2 * (UNITS * (half / (2.0 * object_variance))) + 0.5)
    difference_term = np.floor(from_difference**2 * (UNITS * (half / (2.0 * difference_variance))) + 0.5)
    if function == "homogeneity":
        return difference_term
    if function == "minimum":
        return np.maximum(mean_term, difference_term)
    return mean_term + difference_term


def costs(image, seeds, adjacency, mask=None, cost_of_seeds=0, **affinity):
    """-ln of the strengths of all voxels, in units of 2^-24. Seeds are in the order of NumPy's axes."""
    max_components = {"face": 1, "face_edge": 2, "full": 3}[adjacency]
    steps = [s for s in itertools.product((-1, 0, 1), repeat=image.ndim) if 0 < np.abs(s).sum() <= max_components]
    best = np.full(image.shape, np.inf)
    for seed in seeds:
        best[tuple(seed)] = cost_of_seeds
    while True:
        before = best.copy()
        for step in steps:
            here = tuple(slice(max(-s, 0), n - max(s, 0)) for s, n in zip(step, image.shape))
            there = tuple(slice(max(s, 0), n - max(-s, 0)) for s, n in zip(step, image.shape))
            link = cost(image[here], image[there], **affinity)
            if mask is not None:
                link = np.where(mask[here] & mask[there], link, np.inf)
            link[link >= 0x7FFFFFFE] = np.inf
            best[there] = np.minimum(best[there], np.maximum(best[here], link))
        if np.array_equal(best, before):
            return best


def strength_of(cost):
    exponential = np.vectorize(lambda c: math.exp(-max(c, 0) / UNITS) if c < np.inf else 0.0)
    return exponential(cost)


def strengths(image, seeds, adjacency, mask=None, **affinity):
    """Strengths of all voxels."""
    return strength_of(costs(image, seeds, adjacency, mask, **affinity)).astype(np.float32)


def relative_labels(image, seed_labels, adjacency, tie_rule, mask=None, affinities=None, **affinity):
    """Labels by relative fuzzy connectedness, strengths of the winners, and margins.

    affinities    Dict of the affinities of labels that have one of their own.
    """
    labels = [int(label) for label in np.unique(seed_labels) if label != 0]
    scenes = []
    for label in labels:
        of_label = {**affinity, **(affinities or {}).get(label, {})}
        # A seed is connected more strongly to its own label than by any affinity.
        scenes.append(costs(image, np.argwhere(seed_labels == label), adjacency, mask, cost_of_seeds=-1, **of_label))
    best = np.min(scenes, axis=0)
    wins = (scenes == best) & (best < np.inf)
    result = np.where(wins.any(axis=0), np.array(labels)[wins.argmax(axis=0)], 0)
    if tie_rule == "background":
        result[wins.sum(axis=0) > 1] = 0
    strength = strength_of(best)
    # Of the other labels; a tie has the margin 0.
    first = wins.argmax(axis=0)
    others = np.where(np.arange(len(labels)).reshape((-1,) + (1,) * image.ndim) == first, np.inf, scenes)
    margin = strength - strength_of(others.min(axis=0))
    return result, strength.astype(np.float32), margin.astype(np.float32)
