# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.SeedSession has the labels of voxelmaps.labels, however seeds and parameters are edited."""

import copy
import pickle

import itk
import numpy as np
import pytest
import voxelmaps

AFFINITY = dict(object_mean=120, object_variance=2500, difference_variance=400)


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


def test_arrays_xarray_and_images_agree(make_image):
    image = make_image((7, 9, 8))
    _, seeds = make_case((7, 9, 8))
    seed_image = itk.image_from_array(seeds)
    seed_image.CopyInformation(image)
    array, volume = itk.array_from_image(image), itk.xarray_from_image(image)
    expected = voxelmaps.labels(array, seeds, strength=True, margin=True, **AFFINITY)
    of_lists = {int(n): np.argwhere(seeds == n)[:, ::-1] for n in (1, 2, 7)}
    for kind in (image, array, volume):
        session = voxelmaps.SeedSession(kind, **AFFINITY)
        for values in (seed_image, seeds, itk.xarray_from_image(seed_image), of_lists):
            outputs = session.update(values), session.strength, session.margin
            for output, numbers in zip(outputs, expected):
                np.testing.assert_array_equal(np.asarray(output), numbers)
                assert isinstance(output, itk.Object if kind is image else type(kind))
                if kind is image:
                    assert itk.origin(output) == itk.origin(image) and itk.spacing(output) == itk.spacing(image)
                    assert output.GetDirection() == image.GetDirection()
                if kind is volume:
                    assert output.dims == volume.dims and output.coords.equals(volume.coords)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", "f4", "f8"])
def test_types_of_seeds(case, dtype):
    image, seeds = case
    session, wide = voxelmaps.SeedSession(image, **AFFINITY), seeds > 0 if dtype == "?" else seeds
    expected = voxelmaps.labels(image, wide.astype(np.uint16), **AFFINITY)
    np.testing.assert_array_equal(session.update(seeds.astype(dtype)), expected)
    np.testing.assert_array_equal(voxelmaps.labels(image, seeds.astype(dtype), **AFFINITY), expected)


def test_any_numbers_are_labels(case):
    image, seeds = case
    numbers = np.zeros(256, np.int64)
    numbers[[1, 2, 7]] = 255, 256, 65535
    expected = numbers[voxelmaps.labels(image, seeds, **AFFINITY)]
    of_lists = {int(numbers[n]): np.argwhere(seeds == n)[:, ::-1].tolist() for n in (1, 2, 7)}
    for given in (numbers[seeds], of_lists):
        np.testing.assert_array_equal(voxelmaps.SeedSession(image, **AFFINITY).update(given), expected)


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
        fresh = voxelmaps.labels(image, seeds, strength=True, margin=True, **choice, **session.affinity)
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
    np.testing.assert_array_equal(labels, voxelmaps.labels(image, first))
    labels = session.update(second)
    assert session.affinity == affinity
    np.testing.assert_array_equal(labels, voxelmaps.labels(image, second, **affinity))
    session.reestimate()
    labels = session.update(second)
    assert session.affinity != affinity
    np.testing.assert_array_equal(labels, voxelmaps.labels(image, second))

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
    np.testing.assert_array_equal(labels, voxelmaps.labels(image, seeds, affinity="absolute_difference"))
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
        (np.zeros((7, 9, 8), np.uint8), RuntimeError, "there are no seeds"),
        (np.ones((7, 9), np.uint8), ValueError, "SeedImage has 2 dimensions, but the image has 3"),
        (np.ones((7, 9, 9), np.uint8), RuntimeError, r"SeedImage has the shape \(7, 9, 9\), but the image has"),
        ([[1, 2, 3]], TypeError, "SeedImage must be an itk.Image, a NumPy array or an xarray.DataArray, not list"),
        ({}, RuntimeError, "there are no seeds"),
        ({70000: [1, 2, 3]}, ValueError, "the label 70000 is not from 1 to 65535"),
        ({1: [2**70, 0, 0]}, ValueError, r"the seed \(1180591620717411303424, 0, 0\) is not an index of an image"),
        # In the order x, y, z.
        ({1: [7, 2, 7]}, ValueError, r"the seed \(7, 2, 7\) is not an index of an image of the size \(8, 9, 7\)"),
        ({1: [1, 2, 3], 2: [1, 2, 3]}, ValueError, r"the voxel \(3, 2, 1\) is a seed of the labels 1 and 2"),
    ],
)
def test_wrong_seeds(case, seeds, error, message):
    image, good = case
    session = voxelmaps.SeedSession(image, **AFFINITY)
    labels = session.update(good)
    with pytest.raises(error, match=message):
        session.update(seeds)
    with pytest.raises(RuntimeError, match="there is no strength"):
        session.strength
    np.testing.assert_array_equal(session.update(good), labels)


def test_types_of_labels(case):
    with pytest.raises(ValueError, match="label_type float32 is not valid; choose from uint8, uint16"):
        voxelmaps.SeedSession(case[0], label_type=np.float32)
    session = voxelmaps.SeedSession(case[0], label_type=np.uint8)
    for wrong in ({"seeds": {300: [1, 2, 3]}}, {"seeds": case[1], "object_mean": {300: 5}}):
        with pytest.raises(ValueError, match="the label 300 is not from 1 to 255"):
            session.update(**wrong)


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
def test_images_of_vectors(shape):
    xarray = pytest.importorskip("xarray")
    _, seeds = make_case(shape, 1)
    colors = np.random.default_rng(1).integers(0, 200, (*shape, 3)).astype(np.float32)
    colors += np.arange(shape[-1])[:, np.newaxis] * 2

    def expected(seeds, affinity):
        names = {"object_mean": "object_mean_vector", "object_variance": "object_covariance"}
        names["difference_variance"] = "difference_covariance"
        affinity = {name: affinity[of_vectors] for name, of_vectors in names.items() if of_vectors in affinity}
        return voxelmaps.labels(colors, seeds, components_axis=-1, **affinity)

    named = xarray.DataArray(colors, dims=("z", "y", "x")[-len(shape) :] + ("c",))
    images = [itk.image_from_array(colors.astype(dtype), is_vector=True) for dtype in (np.uint8, np.float32)]
    for image in (named, *images, *([colors] if len(shape) == 3 else [])):
        session = voxelmaps.SeedSession(image)
        np.testing.assert_array_equal(session.update(seeds == 2), expected(seeds == 2, {}))
        affinity = session.affinity
        assert affinity["object_mean_vector"].shape == (3,) and affinity["object_covariance"].shape == (3, 3)
        labels = session.update(seeds)
        np.testing.assert_array_equal(labels, expected(seeds, affinity))
        assert image is not named or labels.dims == named.dims[:-1]
        means = {1: [30, 40, 50], 2: [90, 80, 120], 7: [200, 180, 220]}
        of_labels = session.update(seeds, **{**affinity, "object_mean_vector": means})
        np.testing.assert_array_equal(of_labels, expected(seeds, {**affinity, "object_mean_vector": means}))
        assert not np.array_equal(of_labels, labels)
        with pytest.raises(ValueError, match="object_mean_vector is .*, but voxels of 3 components need the shape"):
            session.update(seeds, object_mean_vector=[1, 2])
    named = named.astype(float)
    named[(0,) * len(shape)] = 0.1
    with pytest.raises(ValueError, match="the component 0.1 is not exact as float32"):
        voxelmaps.SeedSession(named)


def test_parameters_of_a_session_have_two_spellings(case):
    image, seeds = case
    expected = voxelmaps.labels(image, seeds, **AFFINITY)
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
    expected = voxelmaps.labels(image, wide, mask, margin=True, **AFFINITY)
    wide[...], mask[...] = 9, 0
    del wide, mask
    np.testing.assert_array_equal(labels, expected.labels)
    np.testing.assert_array_equal(session.margin, expected.margin)
    # Edited in place, the same image gives other labels.
    edited_image = itk.image_from_array(seeds.astype(np.uint16))
    session = voxelmaps.SeedSession(image, **AFFINITY)
    session.update(edited_image)
    itk.array_view_from_image(edited_image)[...] = seeds == 2
    np.testing.assert_array_equal(session.update(edited_image), voxelmaps.labels(image, seeds == 2, **AFFINITY))


def test_arrays_with_images_of_other_axes(case):
    xarray = pytest.importorskip("xarray")
    image, seeds = case
    expected = voxelmaps.labels(image, seeds, **AFFINITY)
    turned = xarray.DataArray(image, dims=("z", "y", "x")).transpose("x", "y", "z")
    turned_seeds = xarray.DataArray(seeds, dims=("z", "y", "x")).transpose("x", "y", "z")
    session = voxelmaps.SeedSession(turned, **AFFINITY)
    np.testing.assert_array_equal(session.update(turned_seeds), expected)
    message = "is an array without names of axes, but the axes of the image are x, y, z: pass a DataArray"
    with pytest.raises(ValueError, match="seeds " + message):
        session.update(seeds)
    with pytest.raises(ValueError, match="mask_image " + message):
        session.update(turned_seeds, mask_image=seeds > 0)


def test_estimates_of_a_session(case):
    image, seeds = case
    image = image + np.arange(8, dtype=np.int16) * 9
    session = voxelmaps.SeedSession(image)
    session.update(seeds)
    labels = session.update(seeds, estimation_radius=1)
    np.testing.assert_array_equal(labels, voxelmaps.labels(image, seeds, estimation_radius=1))
    # One affinity of all labels after those of single ones.
    expected = voxelmaps.labels(image, seeds)
    session = voxelmaps.SeedSession(
        image, object_mean={1: 40, 2: 60}, **dict(object_variance=900, difference_variance=400)
    )
    assert not np.array_equal(session.update(seeds), expected)
    session.reestimate()
    np.testing.assert_array_equal(session.update(seeds), expected)
    session.update(seeds, object_mean={1: 40}, object_variance=900, difference_variance=400)
    labels = session.update(seeds, object_mean=50)
    np.testing.assert_array_equal(
        labels, voxelmaps.labels(image, seeds, object_mean=50, object_variance=900, difference_variance=400)
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
    expected = voxelmaps.labels(image, seeds == 2, **AFFINITY)
    np.testing.assert_array_equal(session.update(seeds == 2), expected)
