# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels and strengths of connectedness beside the trees and forests of higra, which share no code with it."""

import numpy as np
import pytest
import voxelmaps


def labels_of(image, seeds, **parameters):
    # An image with 3 voxels along x could be color.
    rules = {"competition": "relative", "tie_rule": "background", "spacing": (1,) * image.ndim, **parameters}
    return voxelmaps.labels(image, seeds, **rules)


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
    """Noisy blobs, slices and a part of a CT, and noise, in which no two differences are equal."""
    grid = np.mgrid[0:70, 0:90] / 9.0
    noise = np.random.default_rng(3).standard_normal((70, 90))
    blobs = 90.0 + 60.0 * np.sin(grid[0]) * np.cos(1.3 * grid[1]) + 6.0 * noise
    ct = voxelmaps.sample_ct((96, 96, 40)).image.array
    parts = {"axial": ct[20], "coronal": ct[:, 48], "volume": ct[8:32, 36:60, 20:44]}
    random = np.random.default_rng(4)
    shapes = {"noise in a plane": (16, 18), "noise": (7, 8, 9)}
    parts |= {name: random.uniform(-900, 900, shape).astype(np.float32) for name, shape in shapes.items()}
    return {"blobs": np.round(20.0 * blobs).astype(np.int16), **parts}


IMAGES = make_images()


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
    # Without equal differences, there is one forest.
    is_one = len(np.unique(differences)) == len(differences)
    assert is_one == ("noise" in name) and (is_unique.all() if is_one else is_unique.mean() > 0.05)
