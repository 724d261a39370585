# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels and strengths of connectedness beside other packages, which share no code with it: a forest made voxel by voxel,
scikit-image's watershed, and the trees of higra."""

import numpy as np
import pytest
import voxelmaps


def labels_of(image, seeds, **parameters):
    # An image with 3 voxels along x could be color.
    return voxelmaps.labels(image, seeds, affinity="absolute_difference", spacing=(1,) * image.ndim, **parameters)


def neighbors(image):
    """Numbers of the two voxels of every pair of face neighbors, and their absolute difference."""
    numbers = np.arange(image.size).reshape(image.shape)
    a, b = [], []
    for axis in range(image.ndim):
        last = image.shape[axis] - 1
        a.append(np.take(numbers, range(last), axis).ravel())
        b.append(np.take(numbers, range(1, last + 1), axis).ravel())
    a, b = np.concatenate(a), np.concatenate(b)
    values = image.ravel().astype(np.float64)
    return a, b, np.abs(values[a] - values[b]).astype(np.float32)


def strokes(shape, count, seed, labels=4):
    rng = np.random.default_rng(seed)
    seeds = np.zeros(shape, np.uint8)
    for i in range(count):
        seeds[tuple(rng.integers(0, n) for n in shape)] = 1 + i % labels
    return seeds


def make_images():
    """Noisy blobs, and slices and a part of a CT."""
    grid = np.mgrid[0:70, 0:90] / 9.0
    noise = np.random.default_rng(3).standard_normal((70, 90))
    blobs = 90.0 + 60.0 * np.sin(grid[0]) * np.cos(1.3 * grid[1]) + 6.0 * noise
    ct = voxelmaps.sample_ct((96, 96, 40)).image.array
    parts = {"axial": ct[20], "coronal": ct[:, 48], "volume": ct[8:32, 36:60, 20:44]}
    return {"blobs": np.round(20.0 * blobs).astype(np.int16), **parts}


IMAGES = make_images()


@pytest.mark.parametrize("shape", [(16, 18), (7, 8, 9)])
@pytest.mark.parametrize("seed", range(6))
def test_iterative_is_the_spanning_forest_of_brute_force(shape, seed):
    """With differences that are all different, there is one forest, and thus no tie."""
    rng = np.random.default_rng(seed)
    differences = np.zeros(2)
    while len(np.unique(differences)) < len(differences):
        image = rng.uniform(-900, 900, shape).astype(np.float32)
        a, b, differences = neighbors(image)
    seeds = strokes(shape, 9, seed + 50)

    parents = np.arange(image.size)
    labels = seeds.ravel().copy()

    def root(voxel):
        while parents[voxel] != voxel:
            parents[voxel] = parents[parents[voxel]]
            voxel = parents[voxel]
        return voxel

    # Each tree keeps its seed, so trees of two seeds are never joined.
    for link in np.argsort(differences):
        i, j = root(a[link]), root(b[link])
        if i != j and (labels[i] == 0 or labels[j] == 0):
            parents[i] = j
            labels[j] = max(labels[i], labels[j])
    expected = np.array([labels[root(voxel)] for voxel in range(image.size)]).reshape(shape)
    for tie_rule in ("background", "lowest_label"):
        actual = labels_of(image, seeds, competition="iterative", tie_rule=tie_rule)
        np.testing.assert_array_equal(actual, expected)


@pytest.fixture
def higra():
    return pytest.importorskip("higra")


def graph_of(higra, image):
    a, b, differences = neighbors(image)
    graph = higra.UndirectedGraph(image.size)
    graph.add_edges(a, b)
    return graph, differences.astype(np.float64)


def differences_to(higra, tree, altitudes, seeds):
    """For every voxel, the smallest greatest difference on a path to a seed: the altitude of the lowest common ancestor in
    the binary partition tree of the minimum spanning tree."""
    leaves = np.arange(tree.num_leaves())
    best = np.full(tree.num_leaves(), np.inf)
    for seed in seeds:
        ancestors = tree.lowest_common_ancestor(leaves, np.full(len(leaves), seed))
        best = np.minimum(best, np.where(leaves == seed, -np.inf, altitudes[ancestors]))
    return best


@pytest.mark.parametrize("name", IMAGES)
def test_strengths_and_labels_are_those_of_higra(higra, name):
    image = IMAGES[name]
    seeds = strokes(image.shape, 24, 8)
    graph, differences = graph_of(higra, image)
    tree, altitudes = higra.bpt_canonical(graph, differences)
    numbers = [np.flatnonzero(seeds.ravel() == label) for label in range(5)]
    of_labels = np.array([differences_to(higra, tree, altitudes, numbers[label]) for label in range(1, 5)])

    def strengths(distances):
        return np.where(np.isinf(distances), 1.0, 1.0 / (1.0 + np.maximum(distances, 0.0))).astype(np.float32)

    for label in range(1, 5):
        actual = voxelmaps.fuzzy_connectedness(
            image, seeds == label, affinity="absolute_difference", spacing=(1,) * image.ndim
        )
        np.testing.assert_array_equal(np.ravel(actual), strengths(of_labels[label - 1]))

    # Relative: the one label of the smallest difference; seeds are nearest to themselves.
    smallest = of_labels.min(0)
    winners = of_labels == smallest
    expected = np.where(winners.sum(0) == 1, 1 + winners.argmax(0), 0)
    labels = labels_of(image, seeds)
    np.testing.assert_array_equal(np.ravel(labels), expected)
    lowest = labels_of(image, seeds, tie_rule="lowest_label")
    np.testing.assert_array_equal(np.ravel(lowest), 1 + winners.argmax(0))

    # Iterative: one of the forests, wherever all forests agree.
    forest = higra.labelisation_seeded_watershed(graph, differences, seeds.ravel().astype(np.int64))
    labels = np.ravel(labels_of(image, seeds, competition="iterative"))
    is_unique = labels != 0
    np.testing.assert_array_equal(labels[is_unique], forest[is_unique])
    assert np.count_nonzero(is_unique) > 0.05 * image.size
