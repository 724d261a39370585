# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels from seeds: itk.RelativeFuzzyConnectednessImageFilter, its function, and voxelmaps.SeedSession."""

import copy
import pickle
import threading

import itk
import numpy as np
import pytest
import voxelmaps
from array_libraries import with_effect
from connectedness_oracle import relative_labels

AFFINITY = dict(object_mean=120, object_variance=2500, difference_variance=400)
PIXELS = [np.uint8, np.uint16, np.int16, np.float32, np.float64]
function = itk.relative_fuzzy_connectedness_image_filter


def make_case(shape, seed=0, labels=(1, 2, 7), strokes=5, levels=40):
    """An image of few levels, so that there are ties, and its seeds."""
    rng = np.random.default_rng(seed)
    image = (rng.integers(0, levels, shape) * (240 // levels)).astype(np.int16)
    seeds = np.zeros(shape, np.uint8)
    for label in labels:
        for _ in range(strokes):
            seeds[tuple(rng.integers(0, shape))] = label
    return image, seeds


@pytest.fixture
def case():
    return make_case((7, 9, 8))


def both(affinity_function, **parameters):
    """Parameters of the filter, and of the oracle."""
    of_filter = with_effect(affinity_function, parameters)
    return dict(of_filter, affinity_function=affinity_function), dict(parameters, function=affinity_function)


@pytest.mark.parametrize("tie_rule", ["background", "lowest_label"])
@pytest.mark.parametrize("adjacency", ["face", "face_edge", "full"])
@pytest.mark.parametrize("affinity_function", ["geometric_mean", "minimum", "homogeneity"])
def test_labels_of_the_definition(affinity_function, adjacency, tie_rule):
    parameters, of_oracle = both(affinity_function, **AFFINITY)
    for number in range(3):
        image, seeds = make_case((5, 6, 7), number, levels=[40, 8, 3][number])
        mask = np.random.default_rng(number).random(image.shape) < 0.85
        mask |= seeds > 0
        expected = relative_labels(image, seeds, adjacency, tie_rule, mask, **of_oracle)
        labels, strength, margin = function(
            image,
            seed_image=seeds,
            mask_image=mask,
            adjacency=adjacency,
            tie_rule=tie_rule,
            generate_strength_image=True,
            generate_margin_image=True,
            **parameters,
        )
        np.testing.assert_array_equal(labels, expected[0])
        np.testing.assert_array_equal(strength, expected[1])
        np.testing.assert_array_equal(margin, expected[2])
        assert labels.dtype == np.uint8 and strength.dtype == margin.dtype == np.float32


def test_affinities_of_labels(case):
    image, seeds = case
    means = {1: 30.0, 7: 200.0}
    expected, _, _ = relative_labels(
        image,
        seeds,
        "face",
        "background",
        affinities={label: {"object_mean": mean} for label, mean in means.items()},
        function="geometric_mean",
        **AFFINITY,
    )
    assert not np.array_equal(expected, function(image, seed_image=seeds, **AFFINITY))
    # As keywords, the values of all labels come first, or those of single ones stand alone.
    instance = itk.RelativeFuzzyConnectednessImageFilter.New(itk.image_from_array(image), seed_image=seeds, **AFFINITY)
    instance.SetObjectMean(means)
    instance.Update()
    np.testing.assert_array_equal(itk.array_from_image(instance.GetOutput()), expected)
    used = instance.GetUsedAffinitiesOfLabels()
    assert used == {label: voxelmaps.LabelAffinity(mean, 2500, 0, 400) for label, mean in means.items()}
    instance.ClearAffinitiesOfLabels()
    instance.SetObjectMean(1, 30)
    instance.SetObjectMean(7, 200.0)
    instance.SetDifferenceVariance(7, 400)
    instance.Update()
    np.testing.assert_array_equal(itk.array_from_image(instance.GetOutput()), expected)
    alone = function(image, seed_image=seeds, **dict(AFFINITY, object_mean={1: 30, 2: 120, 7: 200}))
    np.testing.assert_array_equal(alone, expected)

    estimated = itk.RelativeFuzzyConnectednessImageFilter.New(
        itk.image_from_array(image), seed_image=seeds, estimate_affinity_of_every_label=True
    )
    estimated.Update()
    assert sorted(estimated.GetUsedAffinitiesOfLabels()) == [1, 2, 7]


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
@pytest.mark.parametrize("dtype", PIXELS)
def test_all_pixel_types(dtype, shape):
    image, seeds = make_case(shape)
    expected = function(image, seed_image=seeds, **AFFINITY)
    assert set(np.unique(expected)) >= {1, 2, 7}
    np.testing.assert_array_equal(function(image.astype(dtype), seed_image=seeds, **AFFINITY), expected)
    session = voxelmaps.SeedSession(image.astype(dtype), **AFFINITY)
    np.testing.assert_array_equal(session.update(seeds), expected)


def test_arrays_xarray_and_images_agree(make_image):
    pytest.importorskip("xarray")
    image = make_image((7, 9, 8))
    _, seeds = make_case((7, 9, 8))
    seed_image = itk.image_from_array(seeds)
    seed_image.CopyInformation(image)
    switches = dict(generate_strength_image=True, generate_margin_image=True, **AFFINITY)

    of_images = function(image, seed_image=seed_image, **switches)
    assert isinstance(of_images, voxelmaps.Segmentation)
    for output in of_images:
        assert itk.origin(output) == itk.origin(image) and itk.spacing(output) == itk.spacing(image)
        assert output.GetDirection() == image.GetDirection()
    assert itk.template(of_images.labels)[1] == (itk.UC, 3)
    expected = [itk.array_from_image(output) for output in of_images]

    array = itk.array_from_image(image)
    of_arrays = function(array, seed_image=seeds, **switches)
    of_lists = function(array, seeds={int(n): np.argwhere(seeds == n)[:, ::-1] for n in (1, 2, 7)}, **switches)
    volume = itk.xarray_from_image(image)
    of_xarray = function(volume, seed_image=itk.xarray_from_image(seed_image), **switches)
    for i, name in enumerate(("labels", "strength", "margin")):
        for result in (of_arrays, of_lists, of_xarray):
            np.testing.assert_array_equal(np.asarray(getattr(result, name)), expected[i])
        assert isinstance(of_arrays[i], np.ndarray)
        # ITK computes coordinates of its own for the DataArray of the seeds; the result has those of the image.
        assert of_xarray[i].dims == volume.dims and of_xarray[i].coords.equals(volume.coords)

    for kind, values in ((image, seed_image), (array, seeds), (volume, seeds)):
        session = voxelmaps.SeedSession(kind, **AFFINITY)
        labels = session.update(values)
        for output in (labels, session.strength, session.margin):
            assert isinstance(output, itk.Object if isinstance(kind, itk.Object) else type(kind))
        for output, numbers in zip((labels, session.strength, session.margin), expected):
            np.testing.assert_array_equal(np.asarray(output), numbers)


def test_only_what_is_asked_for(case):
    image, seeds = case
    assert isinstance(function(image, seed_image=seeds, **AFFINITY), np.ndarray)
    result = function(image, seed_image=seeds, generate_margin_image=True, **AFFINITY)
    assert result.strength is None and result.margin.shape == image.shape


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", "f4", "f8"])
def test_types_of_seeds(case, dtype):
    image, seeds = case
    expected = function(image, seed_image=seeds > 0 if dtype == "?" else seeds, **AFFINITY)
    labels = function(image, seed_image=seeds.astype(dtype), **AFFINITY)
    np.testing.assert_array_equal(labels, expected)
    assert labels.dtype == (np.uint8 if dtype in ("?", "u1") else np.uint16)


def test_any_numbers_are_labels(case):
    image, seeds = case
    numbers = np.zeros(256, np.int64)
    numbers[[1, 2, 7]] = 255, 256, 65535
    expected = numbers[function(image, seed_image=seeds, **AFFINITY)]
    np.testing.assert_array_equal(function(image, seed_image=numbers[seeds], **AFFINITY), expected)
    of_lists = {int(numbers[n]): np.argwhere(seeds == n)[:, ::-1].tolist() for n in (1, 2, 7)}
    np.testing.assert_array_equal(function(image, seeds=of_lists, **AFFINITY), expected)
    np.testing.assert_array_equal(voxelmaps.SeedSession(image, **AFFINITY).update(of_lists), expected)


def test_object_interface(case):
    image, seeds = case
    expected = function(image, seeds={1: [1, 2, 3], 2: [[7, 8, 6], [0, 0, 0]]}, **AFFINITY)
    labels_of_16_bits = itk.RelativeFuzzyConnectednessImageFilter[itk.Image[itk.SS, 3], itk.Image[itk.US, 3]]
    for cls in (itk.RelativeFuzzyConnectednessImageFilter, labels_of_16_bits):
        instance = cls.New(itk.image_from_array(image), **AFFINITY)
        instance.AddSeed([1, 2, 3], 1)
        instance.AddSeed(np.array([7, 8, 6]), np.int64(2))
        instance.AddSeed(itk.Index[3]([0, 0, 0]), 2)
        assert instance.GetNumberOfSeeds() == 3
        instance.SetCompetition("relative")
        instance.SetTieRule(itk.RelativeFuzzyConnectednessEnums.TieRule_Background)
        instance.Update()
        np.testing.assert_array_equal(itk.array_from_image(instance.GetOutput()), expected)
        assert instance.GetMemoryOfHierarchy() == 0
        instance.KeepHierarchyOn()
        instance.Modified()
        instance.Update()
        assert instance.GetMemoryOfHierarchy() > 0
        instance.ReleaseHierarchy()
        assert instance.GetMemoryOfHierarchy() == 0
        assert instance.GetObjectMean() == instance.GetUsedObjectMean() == 120
        instance.ClearSeeds()
        assert instance.GetNumberOfSeeds() == 0


def test_iterative_competition_is_a_maximum_spanning_forest():
    # On a line, the label of a voxel between two seeds changes at the weakest link.
    image = np.array([[0, 1, 3, 4, 9, 11, 12, 12]], np.uint8)
    for competition in ("relative", "iterative"):
        labels = function(
            image,
            seeds={5: [0, 0], 3: [7, 0]},
            affinity_function="absolute_difference",
            competition=competition,
        )
        np.testing.assert_array_equal(labels, [[5, 5, 5, 5, 3, 3, 3, 3]])
    # Of two equal links, only one rule decides.
    image = np.array([[0, 4, 4, 4, 0]], np.uint8)
    for tie_rule, expected in (("background", [5, 0, 0, 0, 3]), ("lowest_label", [5, 3, 3, 3, 3])):
        labels = function(
            image,
            seeds={5: [0, 0], 3: [4, 0]},
            affinity_function="absolute_difference",
            competition="iterative",
            tie_rule=tie_rule,
        )
        np.testing.assert_array_equal(labels, [expected])


def edited(seeds, rng):
    """Seeds with a stroke more, less, or with another label; there is always one."""
    seeds = seeds.copy()
    axis = int(rng.integers(seeds.ndim))
    line = [int(rng.integers(n)) for n in seeds.shape]
    line[axis] = slice(*sorted(rng.integers(0, seeds.shape[axis] + 1, 2)))
    what = rng.integers(4)
    if what == 0:
        seeds[seeds == rng.choice(np.unique(seeds))] = 0
    elif what == 1:
        seeds[tuple(line)] = 0
    else:
        seeds[tuple(line)] = rng.choice([1, 2, 7, 300])
    if not seeds.any():
        seeds[tuple(rng.integers(0, seeds.shape))] = 2
    return seeds


@pytest.mark.parametrize("number", range(12))
def test_sequences_of_edits_are_as_fresh_runs(number):
    rng = np.random.default_rng(number)
    shape = [(17, 23), (6, 9, 8)][number % 2]
    image, seeds = make_case(shape, number, levels=[3, 8, 40][number % 3])
    seeds = seeds.astype(np.int64)
    session = voxelmaps.SeedSession(image)
    former = None
    for _ in range(20):
        seeds = edited(seeds, rng)
        choice = {
            "competition": str(rng.choice(["relative", "iterative"])),
            "tie_rule": str(rng.choice(["background", "lowest_label"])),
            "minimum_strength": float(rng.choice([0, 0, 0.3])),
        }
        labels = session.update(seeds, **choice)
        memory = session.memory
        assert memory > 0
        kind = dict(generate_strength_image=True, generate_margin_image=True, **choice, **session.affinity)
        fresh = function(image, seed_image=seeds, **kind)
        np.testing.assert_array_equal(labels, fresh.labels)
        if rng.integers(2):
            np.testing.assert_array_equal(session.margin, fresh.margin)
            np.testing.assert_array_equal(session.strength, fresh.strength)
            np.testing.assert_array_equal(labels, fresh.labels)
        assert session.memory == memory
        if former is not None:
            np.testing.assert_array_equal(*former)
        former = labels, labels.copy()


def test_affinity_of_a_session(case):
    image, seeds = case
    image = image + np.arange(8, dtype=np.int16) * 9
    first, second = (seeds == 1).astype(np.uint8), seeds
    session = voxelmaps.SeedSession(image)
    labels = session.update(first)
    affinity = session.affinity
    np.testing.assert_array_equal(labels, function(image, seed_image=first, estimate_affinity_from_seeds=True))
    labels = session.update(second)
    assert session.affinity == affinity
    np.testing.assert_array_equal(labels, function(image, seed_image=second, **affinity))
    session.reestimate()
    labels = session.update(second)
    assert session.affinity != affinity
    np.testing.assert_array_equal(labels, function(image, seed_image=second, estimate_affinity_from_seeds=True))

    # Given: there is no estimate until reestimate().
    session = voxelmaps.SeedSession(image, **AFFINITY)
    session.update(seeds)
    assert session.affinity == AFFINITY
    session.update(seeds, object_mean=90)
    assert session.affinity["object_mean"] == 90
    session.reestimate()
    session.update(first)
    assert session.affinity == affinity
    # At every update.
    session.update(second, estimate_affinity_from_seeds=True)
    at_second = session.affinity
    session.update(first)
    assert session.affinity == affinity != at_second
    # An affinity without parameters; another function is estimated for.
    session = voxelmaps.SeedSession(image, affinity_function="absolute_difference")
    labels = session.update(seeds)
    np.testing.assert_array_equal(labels, function(image, seed_image=seeds, affinity_function="absolute_difference"))
    session.update(first, affinity_function="geometric_mean")
    assert session.affinity == affinity


def test_memory_of_a_session(case):
    image, seeds = case
    with voxelmaps.SeedSession(image) as session:
        assert session.memory == 0
        labels = session.update(seeds)
        assert session.memory > image.size
        session.release()
        assert session.memory == 0
        np.testing.assert_array_equal(session.update(seeds), labels)
        assert session.memory > 0
    assert session.memory == 0


def test_images_of_every_update(case):
    image, seeds = case
    session = voxelmaps.SeedSession(image, generate_margin_image=True, label_type=np.uint8)
    with pytest.raises(RuntimeError, match="there is no margin: .* there was none"):
        session.margin
    assert session.update(seeds).dtype == np.uint8
    margin = session.margin
    kept = margin.copy()
    session.update((seeds == 2).astype(np.uint8))
    assert not np.array_equal(session.margin, kept)
    np.testing.assert_array_equal(margin, kept)


def test_threads_have_their_sessions(case):
    image, seeds = case
    expected = function(image, seed_image=seeds, **AFFINITY)
    results = []

    def work():
        session = voxelmaps.SeedSession(image, **AFFINITY)
        results.extend(session.update(seeds) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    for labels in results:
        np.testing.assert_array_equal(labels, expected)


def wrong_seeds(value, dtype):
    seeds = np.zeros((7, 9, 8), dtype)
    seeds[1, 2, 3] = value
    return seeds


@pytest.mark.parametrize(
    ("seeds", "error", "message"),
    [
        (wrong_seeds(-4, np.int64), ValueError, "SeedImage has the value -4, but values must be from 0 to 65535"),
        (wrong_seeds(65536, np.int64), ValueError, "SeedImage has the value 65536, but .* from 0 to 65535"),
        (wrong_seeds(1.5, np.float32), ValueError, "SeedImage has the value 1.5, but values must be integers"),
        (wrong_seeds(np.nan, np.float64), ValueError, "SeedImage has the value nan, but"),
        (wrong_seeds(1, np.complex64), TypeError, "complex64"),
        (np.zeros((7, 9, 8), np.uint8), RuntimeError, "[Ss]eed"),
        (np.ones((7, 9), np.uint8), ValueError, "SeedImage has 2 dimensions, but the image has 3"),
        (np.ones((7, 9, 9), np.uint8), RuntimeError, "9"),
        ([[1, 2, 3]], TypeError, "SeedImage must be an itk.Image, a NumPy array or an xarray.DataArray, not list"),
    ],
)
def test_wrong_seed_images(case, seeds, error, message):
    image, good = case
    with pytest.raises(error, match=message):
        function(image, seed_image=seeds, **AFFINITY)
    session = voxelmaps.SeedSession(image, **AFFINITY)
    labels = session.update(good)
    with pytest.raises(error, match=message):
        session.update(seeds)
    with pytest.raises(RuntimeError, match="there is no strength"):
        session.strength
    np.testing.assert_array_equal(session.update(good), labels)


@pytest.mark.parametrize(
    ("seeds", "error", "message"),
    [
        ({0: [1, 2, 3]}, ValueError, "the label 0 is not from 1 to 255"),
        ({70000: [1, 2, 3]}, ValueError, "the label 70000 is not from 1 to 65535"),
        ({-1: [1, 2, 3]}, ValueError, "the label -1 is not from 1 to 255"),
        ({1.5: [1, 2, 3]}, TypeError, "1.5 is not an integer"),
        ({1: [1, 2]}, ValueError, "Seed .* has 2 components instead of 3"),
        ({1: 5}, TypeError, "a seed must be an index or a list of indices, not int"),
        ({1: {(1, 2, 3)}}, TypeError, "a seed must be an index or a list of indices, not set"),
        ({1: [2**70, 0, 0]}, ValueError, "the index 1180591620717411303424 of a seed is outside of the image"),
        ({1: [1, 2, 3.5]}, TypeError, "3.5 is not an integer"),
        ({1: [8, 2, 3]}, RuntimeError, "8, 2, 3"),
        ({1: [1, 2, 3], 2: [1, 2, 3]}, RuntimeError, "is a seed of the labels 1 and 2"),
        ({}, RuntimeError, "There are 0 seeds"),
        ([[1, 2, 3]], TypeError, "Seeds must be a dict of labels and lists of indices"),
    ],
)
def test_wrong_seeds(case, seeds, error, message):
    with pytest.raises(error, match=message):
        function(case[0], seeds=seeds, **AFFINITY)


def test_wrong_parameters(case):
    image, seeds = case
    with pytest.raises(ValueError, match="Competition 'fair' is not valid; choose from Iterative, Relative"):
        function(image, seed_image=seeds, competition="fair")
    with pytest.raises(ValueError, match="TieRule 'toss' is not valid; choose from Background, LowestLabel"):
        function(image, seed_image=seeds, tie_rule="toss")
    with pytest.raises(ValueError, match="the label 300 is not from 1 to 255; .* labels up to 65535"):
        function(image, seed_image=seeds, object_mean={300: 5})
    with pytest.raises(
        RuntimeError, match="Competition is Iterative, for which all labels must have the same affinity"
    ):
        function(image, seed_image=seeds, object_mean={1: 5}, competition="iterative")
    with pytest.raises(RuntimeError, match="MinimumStrength is 2, but must be 0 to 1"):
        function(image, seed_image=seeds, minimum_strength=2, **AFFINITY)
    with pytest.raises(ValueError, match="label_type float32 is not valid; choose from uint8, uint16"):
        voxelmaps.SeedSession(image, label_type=np.float32)
    with pytest.raises(TypeError, match="seed_image is an argument of update"):
        voxelmaps.SeedSession(image, seed_image=seeds)
    with pytest.raises(ValueError, match="the label 300 is not from 1 to 255"):
        voxelmaps.SeedSession(image, label_type=np.uint8).update({300: [1, 2, 3]})


def make_colors(shape, number=0, components=3):
    """An image of vectors, and its seeds."""
    rng = np.random.default_rng(number)
    colors = rng.integers(0, 255, (*shape, components)).astype(np.float32)
    _, seeds = make_case(shape, number)
    return colors, seeds


OF_VECTORS = dict(
    object_mean_vector=[120, 100, 140],
    object_covariance=[[2500, 100, 0], [100, 2000, 50], [0, 50, 3000]],
    difference_covariance=[[900, 0, 10], [0, 800, 0], [10, 0, 700]],
)


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
def test_images_of_vectors(shape):
    xarray = pytest.importorskip("xarray")
    colors, seeds = make_colors(shape)
    image = itk.image_from_array(colors, is_vector=True)
    expected = itk.array_from_image(function(image, seed_image=seeds, **OF_VECTORS))
    assert set(np.unique(expected)) >= {1, 2, 7}
    dims = ("z", "y", "x")[-len(shape) :] + ("c",)
    of_xarray = function(xarray.DataArray(colors, dims=dims), seed_image=seeds, **OF_VECTORS)
    assert of_xarray.dims == dims[:-1]
    np.testing.assert_array_equal(of_xarray, expected)
    bytes_of_colors = itk.image_from_array(colors.astype(np.uint8), is_vector=True)
    np.testing.assert_array_equal(
        itk.array_from_image(function(bytes_of_colors, seed_image=seeds, **OF_VECTORS)), expected
    )
    if len(shape) == 3:
        np.testing.assert_array_equal(function(colors, seed_image=seeds, **OF_VECTORS), expected)
    one = itk.fuzzy_connectedness_image_filter(image, seed_image=seeds, **OF_VECTORS)
    _, strength, _ = function(image, seed_image=seeds, generate_strength_image=True, **OF_VECTORS)
    np.testing.assert_array_equal(itk.array_from_image(strength), itk.array_from_image(one))


def test_a_session_of_an_image_of_vectors():
    colors, seeds = make_colors((6, 9, 8), 1)
    colors += np.arange(8).reshape(8, 1) * 5
    session = voxelmaps.SeedSession(colors)
    labels = session.update(seeds == 2)
    affinity = session.affinity
    assert affinity["object_mean_vector"].shape == (3,) and affinity["object_covariance"].shape == (3, 3)
    np.testing.assert_array_equal(labels, function(colors, seed_image=seeds == 2, estimate_affinity_from_seeds=True))
    labels = session.update(seeds)
    np.testing.assert_array_equal(labels, function(colors, seed_image=seeds, **affinity))
    np.testing.assert_array_equal(session.affinity["object_covariance"], affinity["object_covariance"])


def test_vectors_of_labels():
    colors, seeds = make_colors((6, 9, 8), 2)
    image = itk.image_from_array(colors, is_vector=True)
    means = {1: [30, 40, 50], 7: [200, 180, 220]}
    of_dict = dict(OF_VECTORS, object_mean_vector={**means, 2: OF_VECTORS["object_mean_vector"]})
    instance = itk.RelativeFuzzyConnectednessImageFilter.New(image, seed_image=seeds, **OF_VECTORS)
    for label, mean in means.items():
        instance.SetObjectMeanVector(label, mean)
    instance.Update()
    labels = itk.array_from_image(instance.GetOutput())
    np.testing.assert_array_equal(itk.array_from_image(function(image, seed_image=seeds, **of_dict)), labels)
    assert not np.array_equal(itk.array_from_image(function(image, seed_image=seeds, **OF_VECTORS)), labels)
    with pytest.raises(TypeError, match="a list of numbers is needed, one for each component, not 5"):
        instance.SetObjectMeanVector(5)
    with pytest.raises(RuntimeError, match="ObjectMeanVector"):
        function(image, seed_image=seeds, **dict(OF_VECTORS, object_mean_vector=[1, 2]))
    wrong = colors.astype(np.float64)
    wrong[0, 0, 0, 1] = 0.1
    with pytest.raises(ValueError, match="the component 0.1 is not exact as float32"):
        function(wrong, seed_image=seeds, **OF_VECTORS)


def test_crop_to_seeds():
    image, _ = make_case((9, 12, 14))
    seeds = np.zeros(image.shape, np.uint8)
    seeds[3, 4, 5], seeds[5, 6, 6] = 1, 2
    for margin, box in (
        (1, np.s_[2:7, 3:8, 4:8]),
        ([3, 2, 0], np.s_[3:6, 2:9, 2:10]),
        (np.int64(1), np.s_[2:7, 3:8, 4:8]),
    ):
        labels = function(image, seed_image=seeds, crop_to_seeds=True, crop_margin=margin, **AFFINITY)
        expected = np.zeros_like(seeds)
        expected[box] = function(
            np.ascontiguousarray(image[box]), seed_image=np.ascontiguousarray(seeds[box]), **AFFINITY
        )
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("competition", ["relative", "iterative"])
@pytest.mark.parametrize("ties", ["background", "lowest"])
def test_the_program_gives_the_same(run_program, tmp_path, competition, ties):
    image, seeds = make_case((7, 9, 8), levels=8)
    numbers = np.zeros(8, np.uint16)
    numbers[[1, 2, 7]] = 5, 300, 65535
    for array, name in ((image, "image"), (numbers[seeds], "seeds")):
        itk.imwrite(itk.image_from_array(array), str(tmp_path / f"{name}.nrrd"))
    names = ("labels", "strength", "margin")
    outputs = [tmp_path / f"{name}.nrrd" for name in names]
    run_program(
        "FuzzyConnectedness",
        tmp_path / "image.nrrd",
        outputs[1],
        *("--labels", outputs[0], "--margin", outputs[2], "--seed-image", tmp_path / "seeds.nrrd"),
        *("--mean", 120, "--variance", 2500, "--difference-variance", 400, "--connectivity", 26),
        *("--competition", competition, "--ties", ties),
    )
    expected = function(
        image,
        seed_image=numbers[seeds],
        adjacency="full",
        competition=competition,
        tie_rule="lowest_label" if ties == "lowest" else ties,
        generate_strength_image=True,
        generate_margin_image=True,
        **AFFINITY,
    )
    for name, output in zip(names, outputs):
        array = itk.array_from_image(itk.imread(str(output)))
        np.testing.assert_array_equal(array, getattr(expected, name))
        assert array.dtype == getattr(expected, name).dtype


def test_parameters_of_a_session_have_two_spellings(case):
    image, seeds = case
    expected = function(image, seed_image=seeds, **AFFINITY)
    session = voxelmaps.SeedSession(image, ObjectMean=120, ObjectVariance=2500, DifferenceVariance=400)
    np.testing.assert_array_equal(session.update(seeds), expected)
    session = voxelmaps.SeedSession(image)
    session.update(seeds)
    np.testing.assert_array_equal(
        session.update(seeds, ObjectMean=120, ObjectVariance=2500, DifferenceVariance=400), expected
    )
    first = (seeds == 1).astype(np.uint8)
    session = voxelmaps.SeedSession(image, AffinityFunction="absolute_difference")
    session.update(seeds)
    session.update(first, AffinityFunction="geometric_mean")
    estimated = voxelmaps.SeedSession(image)
    estimated.update(first)
    assert session.affinity == estimated.affinity
    for name in ("SeedImage", "Seeds", "seeds"):
        with pytest.raises(TypeError, match="is an argument of update"):
            voxelmaps.SeedSession(image, **{name: seeds})
    with pytest.raises(TypeError, match="seed_image is an argument of update"):
        session.update(seeds, SeedImage=seeds)
    with pytest.raises(TypeError, match="a parameter is given twice among object_mean, ObjectMean"):
        session.update(seeds, object_mean=1, ObjectMean=2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"object_mean": "abc"},
        {"nope": 2, "object_mean": 3},
        {"object_mean": 3, "nope": 2},
        {"estimate_affinity_from_seeds": "x"},
        {"object_mean": np.nan},
        {"object_mean": {1: 5, 2: "abc"}},
        {"object_mean": {1: 5}, "competition": "iterative"},
        {"minimum_strength": 0.5, "tie_rule": "toss"},
        {"minimum_strength": 2},
        {"mask_image": np.ones((2, 2, 2), np.uint8)},
        {"tie_rule": "lowest_label", "affinity_function": "absolute_difference", "distance_weighting": True},
    ],
)
@pytest.mark.parametrize("start", [{}, AFFINITY, dict(AFFINITY, object_mean={1: 30, 7: 200})])
def test_a_refused_update_changes_nothing(case, start, wrong):
    image, seeds = case
    session = voxelmaps.SeedSession(image, **start)
    with pytest.raises((AttributeError, RuntimeError, TypeError, ValueError)):
        session.update(seeds, **wrong)
    labels = voxelmaps.SeedSession(image, **start).update(seeds)
    np.testing.assert_array_equal(session.update(seeds), labels)
    with pytest.raises((AttributeError, RuntimeError, TypeError, ValueError)):
        session.update(seeds, **wrong)
    np.testing.assert_array_equal(session.update(seeds), labels)


def test_images_of_seeds_and_masks_are_copied(case):
    image, seeds = case
    wide = seeds.astype(np.uint16)
    mask = np.ones(image.shape, np.uint8)
    mask[:, :2] = 0
    wide[:, :2] = 0
    session = voxelmaps.SeedSession(image, **AFFINITY)
    labels = session.update(itk.image_view_from_array(wide), mask_image=itk.image_view_from_array(mask))
    expected = function(image, seed_image=wide.copy(), mask_image=mask.copy(), generate_margin_image=True, **AFFINITY)
    wide[...], mask[...] = 9, 0
    del wide, mask
    np.testing.assert_array_equal(labels, expected.labels)
    np.testing.assert_array_equal(session.margin, expected.margin)
    # Edited in place, the same image gives other labels.
    edited_image = itk.image_from_array(seeds.astype(np.uint16))
    session = voxelmaps.SeedSession(image, **AFFINITY)
    session.update(edited_image)
    itk.array_view_from_image(edited_image)[...] = seeds == 2
    np.testing.assert_array_equal(session.update(edited_image), function(image, seed_image=seeds == 2, **AFFINITY))


def test_arrays_with_images_of_other_axes(case):
    xarray = pytest.importorskip("xarray")
    image, seeds = case
    expected = function(image, seed_image=seeds, **AFFINITY)
    turned = xarray.DataArray(image, dims=("z", "y", "x")).transpose("x", "y", "z")
    turned_seeds = xarray.DataArray(seeds, dims=("z", "y", "x")).transpose("x", "y", "z")
    np.testing.assert_array_equal(function(turned, seed_image=turned_seeds, **AFFINITY), expected)
    session = voxelmaps.SeedSession(turned, **AFFINITY)
    np.testing.assert_array_equal(session.update(turned_seeds), expected)
    message = "is an array without names of axes, but the axes of the image are x, y, z: pass a DataArray"
    with pytest.raises(ValueError, match="seed_image " + message):
        function(turned, seed_image=seeds, **AFFINITY)
    with pytest.raises(ValueError, match="seeds " + message):
        session.update(seeds)
    with pytest.raises(ValueError, match="mask_image " + message):
        session.update(turned_seeds, mask_image=seeds > 0)


def test_threads_share_a_session():
    image, seeds = make_case((20, 30, 30))
    others = [(seeds == n).astype(np.uint8) for n in (1, 2, 7)] + [seeds]
    expected = [function(image, seed_image=one, **AFFINITY) for one in others]
    session = voxelmaps.SeedSession(image, **AFFINITY)
    wrong = []

    def work(i):
        for _ in range(10):
            if not np.array_equal(session.update(others[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_estimates_of_a_session(case):
    image, seeds = case
    image = image + np.arange(8, dtype=np.int16) * 9
    session = voxelmaps.SeedSession(image)
    session.update(seeds)
    labels = session.update(seeds, estimation_radius=1)
    np.testing.assert_array_equal(
        labels, function(image, seed_image=seeds, estimate_affinity_from_seeds=True, estimation_radius=1)
    )
    # One affinity of all labels after those of single ones.
    expected = function(image, seed_image=seeds, estimate_affinity_from_seeds=True)
    session = voxelmaps.SeedSession(
        image, object_mean={1: 40, 2: 60}, **dict(object_variance=900, difference_variance=400)
    )
    assert not np.array_equal(session.update(seeds), expected)
    session.reestimate()
    np.testing.assert_array_equal(session.update(seeds), expected)
    session.update(seeds, object_mean={1: 40}, object_variance=900, difference_variance=400)
    labels = session.update(seeds, object_mean=50)
    np.testing.assert_array_equal(
        labels, function(image, seed_image=seeds, **dict(session.affinity, object_mean=50, object_variance=900))
    )
    session = voxelmaps.SeedSession(image, estimate_affinity_of_every_label=True)
    session.update(seeds)
    labels = session.update(seeds, estimate_affinity_of_every_label=False)
    np.testing.assert_array_equal(labels, expected)


def test_sessions_are_not_copied(case):
    session = voxelmaps.SeedSession(case[0])
    for make_copy in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a SeedSession cannot be copied or pickled"):
            make_copy(session)


def test_a_session_has_its_own_image(case):
    image, seeds = case
    changed = image.copy()
    session = voxelmaps.SeedSession(changed, **AFFINITY)
    labels = session.update(seeds)
    changed[...] = 32000
    np.testing.assert_array_equal(session.update(seeds), labels)
    expected = function(image, seed_image=seeds == 2, **AFFINITY)
    np.testing.assert_array_equal(session.update(seeds == 2), expected)
