# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.labels: the definition, arguments and results; and that voxelmaps.SeedSession has its labels, however seeds and parameters
are edited."""

import copy
import itertools
import pickle
import threading
import time
import warnings

import numpy as np
import pytest
import voxelmaps
from array_libraries import to_numpy
from voxelmaps import _arrays, _filter_image, _image

# The rules of the papers, with one affinity that is estimated or given.
ESTIMATED = dict(affinity="geometric_mean", competition="relative", tie_rule="background")
MOMENTS = dict(object_mean=120, object_variance=2500, difference_variance=400)
GIVEN = dict(ESTIMATED, **MOMENTS)


def make_case(shape=(6, 8, 9), number=0, levels=12):
    """An image of few levels, so that there are ties, its seeds, and a mask that they are in."""
    rng = np.random.default_rng(number)
    x = (rng.integers(0, levels, shape) * (240 // levels)).astype(np.int16)
    seeds = np.zeros(shape, np.uint8)
    for label in (1, 2, 7):
        for _ in range(4):
            seeds[tuple(rng.integers(0, shape))] = label
    return x, seeds, (rng.random(shape) < 0.85) | (seeds > 0)


def check_equal(result, expected):
    for name in voxelmaps.Segmentation._fields:
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name), err_msg=name)


# --- Definition --------------------------------------------------------------------------------------------------------


def test_affinities_of_labels():
    """Each voxel has the label whose strength is greatest; that of a label at its own seeds is greater than any."""
    x, seeds, _ = make_case()
    means = {1: 30.0, 2: 120.0, 7: 200.0}
    strengths = []
    for label, mean in means.items():
        moments = {**MOMENTS, "object_mean": mean}
        strength = voxelmaps.fuzzy_connectedness(x, seeds == label, precision="double", **moments)
        strengths.append(np.where(seeds == label, 2, strength))
    wins = strengths == np.max(strengths, axis=0)
    expected = np.where(wins.sum(axis=0) == 1, np.array(list(means))[wins.argmax(axis=0)], 0)
    assert not np.array_equal(voxelmaps.labels(x, seeds, **GIVEN), expected)
    np.testing.assert_array_equal(voxelmaps.labels(x, seeds, **{**GIVEN, "object_mean": means}), expected)


def test_estimates_of_every_label():
    x, seeds, mask = make_case()
    of_each = dict(ESTIMATED, margin=True)
    result = voxelmaps.labels(x, seeds, mask, estimate_of_every_label=True, estimation_radius=1, **of_each)
    moments = {name: {} for name in MOMENTS}
    for label in (1, 2, 7):
        session = voxelmaps.SeedSession(x, mask=mask, estimation_radius=1, **ESTIMATED)
        session.update(np.where(seeds == label, seeds, 0))
        for name, values in moments.items():
            values[label] = session.affinity[name]
    check_equal(result, voxelmaps.labels(x, seeds, mask, **of_each, **moments))


@pytest.mark.parametrize("shape", [(6, 8, 9), (14, 19)])
@pytest.mark.parametrize("axis", [0, -1])
def test_vectors(axis, shape):
    x, seeds, _ = make_case(shape)
    switches = dict(ESTIMATED, strength=True, margin=True)
    of_one = voxelmaps.labels(np.expand_dims(x, axis), seeds, components_axis=axis, **switches)
    check_equal(of_one, voxelmaps.labels(x, seeds, **switches))
    # Components that are constant change nothing.
    means = {1: 120, 2: 60, 7: 200}
    for component in range(3):
        is_used = np.arange(3) == component
        colors = np.moveaxis(np.where(is_used, x[..., np.newaxis], 40).astype(np.float32), -1, axis)
        moments = {name: np.diag(np.where(is_used, MOMENTS[name], 3)) for name in list(MOMENTS)[1:]}
        vectors = {label: np.where(is_used, mean, 40) for label, mean in means.items()}
        for vector, mean in ((vectors[1], means[1]), (vectors, means)):
            result = voxelmaps.labels(colors, seeds, components_axis=axis, object_mean=vector, **moments, **switches)
            check_equal(result, voxelmaps.labels(x, seeds, **{**MOMENTS, "object_mean": mean}, **switches))


# --- Arguments and results ---------------------------------------------------------------------------------------------


def test_outputs():
    x, seeds, _ = make_case()
    expected = voxelmaps.labels(x, seeds, strength=True, margin=True, precision="double")
    large = voxelmaps.labels(x, seeds.astype(np.int64) * 9000)
    np.testing.assert_array_equal(large, expected.labels.astype(np.int64) * 9000)
    outs = voxelmaps.Segmentation(np.empty(x.shape, np.uint8), np.empty(x.shape), np.empty(x.shape))
    assert voxelmaps.labels(x, seeds, label_type="uint8", out=outs.labels) is outs.labels
    result = voxelmaps.labels(x, seeds, label_type="uint8", strength=True, margin=True, precision="double", out=outs)
    assert all(a is b for a, b in zip(result, outs))
    check_equal(result, expected)
    of_margin = voxelmaps.labels(x, seeds, margin=True)
    assert of_margin.strength is None and of_margin.margin.dtype == np.float32


def test_vectors_and_outputs_of_libraries(library):
    _, seeds, _ = make_case()
    x = np.random.default_rng(1).integers(0, 255, (3, *seeds.shape)).astype(np.float32)
    parameters = dict(components_axis=0, strength=True, precision="double")
    expected = voxelmaps.labels(x, seeds, device="cpu", **parameters)
    given, of_seeds = library(x), library(seeds)
    is_jax = type(given).__module__.startswith("jax")
    outs = voxelmaps.Segmentation(
        None if is_jax else library(np.zeros(seeds.shape, np.uint16)),
        None if is_jax else library(np.zeros(seeds.shape)),
    )
    result = voxelmaps.labels(given, of_seeds, out=outs, **parameters)
    assert is_jax or (result.labels is outs.labels and result.strength is outs.strength)
    check_equal(voxelmaps.Segmentation(to_numpy(result.labels), to_numpy(result.strength)), expected)


def test_many_ties_are_a_warning():
    x = np.array([[0, 0, 9, 9, 9, 9, 0, 0]], np.uint8)
    seeds = {1: (0, 0), 2: (0, 7)}

    def compute(**parameters):
        return voxelmaps.labels(x, seeds, **{"tie_rule": "background", "competition": "relative", **parameters})

    text = "4 of 8 voxels have no label, since several labels have the same claim to them, or no seed reaches them: "
    for given, advice in (({}, "competition='iterative' leaves fewer ties, "), ({"competition": "iterative"}, "")):
        with pytest.warns(UserWarning) as caught:
            compute(**given)
        assert str(caught[0].message) == f"{text}{advice}tie_rule='distance' labels all ties"
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(tie_rule="lowest_label")
        voxelmaps.labels(x, seeds)
        compute(minimum_strength=0.5)
        compute(mask=np.array([[1, 1, 0, 0, 0, 0, 1, 1]]))


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
def test_smoothing(shape):
    """That of SciPy, which is truncated at the same distance, to the last bits of float32."""
    ndimage = pytest.importorskip("scipy.ndimage")
    x, seeds, _ = make_case(shape, 2)
    expected = ndimage.gaussian_filter(x.astype(float), 1.25, mode="nearest", truncate=4)
    np.testing.assert_allclose(_filter_image.smoothed(_arrays.array_of(x, "x"), 1.25).array, expected, rtol=1e-6)
    rounded = _filter_image.smoothed(_arrays.array_of(x, "x"), 0.7).array
    labels = voxelmaps.labels(x, seeds, smoothing=0.7)
    np.testing.assert_array_equal(labels, voxelmaps.labels(rounded, seeds))
    np.testing.assert_array_equal(labels, voxelmaps.SeedSession(x, smoothing=0.7).update(seeds))
    assert not np.array_equal(labels, voxelmaps.labels(x, seeds))


# --- Segmentations that are refined -------------------------------------------------------------------------------------------


def certain_voxels(segmentation, distance, sizes, background):
    """By brute force: labels of the voxels that are so far from the borders."""
    values = np.where(segmentation == 0, background, segmentation)
    at = {index: values[index] for index in np.ndindex(values.shape)}
    steps = np.array(list(itertools.product(*[(-1, 0, 1)] * values.ndim)))
    neighbors = lambda index: ((step, at.get(tuple(np.add(index, step)))) for step in steps)
    borders = np.array([i for i in at if any(n not in (None, at[i]) and abs(s).sum() == 1 for s, n in neighbors(i))])
    away = {i: (((np.subtract(i, borders)) * sizes) ** 2).sum(axis=1).min() for i in at}
    far = {label: max(away[i] for i in at if at[i] == label) for label in set(at.values())}
    return {i: label for i, label in at.items() if away[i] >= min(distance**2, far[label])}


def with_holes(kept, painted, distance, sizes):
    """Of these voxels, those that are not near a stroke of another label at a voxel of them."""
    wrong = [(label, index) for label, index in painted if kept.get(index, label) != label]
    is_near = lambda index, i: ((np.subtract(i, index) * sizes) ** 2).sum() <= distance**2
    return {i: label for i, label in kept.items() if not any(one != label and is_near(i, at) for one, at in wrong)}


def seed_image(shape, kept, painted, only_rims):
    """Seeds at certain voxels, only those with another neighbor if so wanted, and at painted ones."""
    seeds, steps = np.zeros(shape, np.uint8), list(itertools.product(*[(-1, 0, 1)] * len(shape)))
    for index, label in kept.items():
        around = [tuple(np.add(index, step)) for step in steps]
        is_rim = any(kept.get(i) != label for i in around if all(0 <= a < n for a, n in zip(i, shape)))
        seeds[index] = label if is_rim or not only_rims else 0
    for label, index in painted:
        seeds[index] = label
    return seeds


@pytest.mark.parametrize("number", range(6))
def test_a_segmentation_that_is_refined(number):
    rng = np.random.default_rng(number)
    shape, sizes = [((6, 8, 7), (3, 1, 1.5)), ((13, 12), (0.8, 1))][number % 2]
    x = rng.normal(size=shape).astype(np.float32)
    place = np.indices(shape)
    segmentation = (2 * (place[0] > shape[0] // 3) + 3 * (place[-1] > shape[-1] // 2)).astype(np.uint8)
    segmentation[tuple(n // 2 for n in shape)] = 7
    distance = [0, 1.2, 3.1][number % 3]
    kept = certain_voxels(segmentation, distance, sizes, 8)
    options = dict(spacing=sizes, strength=True, margin=True)
    result = voxelmaps.labels(x, refine=segmentation, refine_distance=distance, **options)
    np.testing.assert_array_equal(result.labels, voxelmaps.labels(x, seed_image(shape, kept, (), False), spacing=sizes))
    # Strokes win.
    strokes = {9: [tuple(rng.integers(0, np.array(shape) - 1)) for _ in range(3)], 2: tuple(n - 1 for n in shape)}
    painted = [(label, tuple(index)) for label in strokes for index in np.atleast_2d(strokes[label])]
    left = with_holes(kept, painted, distance, sizes)
    seeds = seed_image(shape, left, painted, True)
    refine = dict(refine=segmentation, refine_distance=distance)
    refined = voxelmaps.labels(x, strokes, **refine, **options)
    check_equal(refined, voxelmaps.labels(x, seeds, **options))
    np.testing.assert_array_equal(
        refined.labels, voxelmaps.labels(x, seed_image(shape, left, painted, False), spacing=sizes)
    )
    session = voxelmaps.SeedSession(x, **refine, **options)
    check_equal(session.update(), result)
    check_equal(session.update(strokes), voxelmaps.labels(x, seeds, **options))
    check_equal(session.update(strokes, refine=None, refine_distance=5), voxelmaps.labels(x, strokes, **options))
    labels = session.update(None, **refine, refine_background=200).labels
    np.testing.assert_array_equal(labels == 200, result.labels == 8)


@pytest.mark.parametrize("box", [slice(2, 18), slice(16, 18)])  # the stroke is in the object, and in the background
def test_a_stroke_makes_a_hole(box):
    """All that is certain is a seed, except within the distance of the stroke, so that its label does not spread farther."""
    rng, shape, painted = np.random.default_rng(4), (20, 20, 20), [(2, (9, 10, 10)), (2, (9, 10, 11))]
    x, segmentation = rng.normal(size=shape).astype(np.float32), np.zeros(shape, np.uint8)
    segmentation[box, 2:18, 2:18] = 1
    x[7:13, 7:13, 7:13] += 20
    strokes = {2: [index for _, index in painted]}
    for distance in (3, 6):
        options = dict(refine_background=7, refine_distance=distance)
        found = voxelmaps.labels(x, strokes, refine=segmentation, **options)
        kept = with_holes(certain_voxels(segmentation, distance, (1, 1, 1), 7), painted, distance, (1, 1, 1))
        np.testing.assert_array_equal(found, voxelmaps.labels(x, seed_image(shape, kept, painted, False)))
        assert distance != 6 or box.start > 2 or np.array_equal(found == 2, x > 10)


def test_seeds_of_a_segmentation_are_inside_the_mask_and_not_at_nan():
    x, _, mask = make_case((9, 11, 12))
    x = x.astype(np.float32)
    x[4:7, 5, 2:9], segmentation = np.nan, (np.indices(x.shape)[1] > 5).astype(np.uint8)
    labels = voxelmaps.labels(x, None, mask, refine=segmentation, refine_distance=1)
    assert set(np.unique(labels)) == {0, 1, 2} and not labels[~mask].any()


# --- Sessions -----------------------------------------------------------------------------------------------------------------


def test_a_session_makes_the_graph_again_for_what_it_depends_on():
    x, seeds, mask = make_case()
    session = voxelmaps.SeedSession(x, **GIVEN)
    of_all = dict(mask=None, adjacency="face", weight=0.5, **GIVEN)
    changes = [dict(adjacency="full"), dict(object_mean=60), dict(affinity="weighted_sum"), dict(weight=0.2)]
    for change in (dict(mask=mask), *changes, dict(mask=None)):
        of_all.update(change)
        labels = session.update(seeds, **change)
        np.testing.assert_array_equal(labels, voxelmaps.labels(x, seeds, **of_all))


def test_crop_of_a_session():
    x, seeds, mask = make_case((9, 12, 14))
    seeds[:] = 0
    seeds[3, 4, 5], seeds[5, 6, 6] = 1, 2
    mask[seeds > 0] = True
    session = voxelmaps.SeedSession(x, crop_to_seeds=True, mask=mask, **GIVEN)
    for margin, box in ((1, np.s_[2:7, 3:8, 4:8]), ([0, 2, 3], np.s_[3:6, 2:9, 2:10]), (0.5, np.s_[2:7, 3:8, 4:8])):
        expected = np.zeros(x.shape)
        expected[box] = voxelmaps.labels(x[box], seeds[box], mask[box], **GIVEN)
        np.testing.assert_array_equal(session.update(seeds, crop_margin=margin), expected)
        assert session.margin.shape == x.shape and not session.margin[expected == 0].any()


@pytest.fixture
def case():
    return make_case((7, 9, 8), levels=40)[:2]


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
    image, seeds, _ = make_case(shape, number, levels=[3, 8, 40][number % 3])
    seeds = seeds.astype(np.int64)
    session = voxelmaps.SeedSession(image, **ESTIMATED) if number % 3 else voxelmaps.SeedSession(image)
    former = None
    for _ in range(20):
        seeds = edited(seeds, rng)
        choice = {
            "competition": str(rng.choice(["relative", "iterative"])),
            "tie_rule": str(rng.choice(["background", "lowest_label", "distance"])),
            "minimum_strength": float(rng.choice([0, 0, 0.3])),
        }
        labels = session.update(seeds, **choice)
        memory = session.memory
        assert memory > 0
        given = {"affinity": "geometric_mean", **session.affinity} if number % 3 else {}
        fresh = voxelmaps.labels(image, seeds, strength=True, margin=True, **choice, **given)
        np.testing.assert_array_equal(labels, fresh.labels)
        if rng.integers(2):
            np.testing.assert_array_equal(session.margin, fresh.margin)
            np.testing.assert_array_equal(session.strength, fresh.strength)
            np.testing.assert_array_equal(labels, fresh.labels)
        assert session.memory == memory
        if former is not None:
            np.testing.assert_array_equal(*former)
        former = labels, labels.copy()


def test_undo(case):
    image, seeds = case
    session, rng, edits = voxelmaps.SeedSession(image), np.random.default_rng(3), []
    with pytest.raises(RuntimeError, match="there is nothing to undo"):
        session.undo()
    for number in range(6):
        seeds = edited(seeds, rng)
        session.update(seeds, adjacency=["face", "full"][number % 2])
        if not edits or not np.array_equal(seeds, edits[-1]):
            edits.append(seeds)
    for earlier in edits[-2::-1]:
        with pytest.raises(ValueError):
            session.update({1: (99, 0, 0)})
        np.testing.assert_array_equal(session.undo(), voxelmaps.labels(image, earlier, adjacency="full"))
    with pytest.raises(RuntimeError, match="there is nothing to undo"):
        session.undo()


def test_numbers_of_labels_and_order_of_strokes_do_not_matter():
    """With the defaults, also for values of few levels, which tie."""
    for number, shape in enumerate([(6, 8, 9), (17, 23)]):
        x, seeds, mask = make_case(shape, number, levels=3)
        expected = voxelmaps.labels(x, seeds, mask)
        numbers = np.zeros(8, np.uint16)
        numbers[[1, 2, 7]] = 900, 1, 30
        np.testing.assert_array_equal(voxelmaps.labels(x, numbers[seeds], mask), numbers[expected])
        strokes = {int(label): np.argwhere(seeds == label)[::-1] for label in (7, 1, 2)}
        np.testing.assert_array_equal(voxelmaps.labels(x, strokes, mask), expected)
        session = voxelmaps.SeedSession(x, mask=mask)
        for label in (2, 7, 1):
            labels = session.update({one: strokes[one] for one in [*strokes][: [2, 7, 1].index(label) + 1]})
        np.testing.assert_array_equal(labels, expected)
        assert np.array_equal(labels == 0, ~mask)


def test_margins_of_ties_are_leads_of_the_distance():
    result = voxelmaps.labels(np.full((1, 6), 7), {4: (0, 0), 2: (0, 4)}, margin=True)
    assert result.labels.tolist() == [[4, 4, 4, 2, 2, 2]]
    # Seeds are as strong as links without a difference; the last voxel is reached across one only.
    np.testing.assert_array_equal(result.margin, np.float32([[0, -1 / 3, -1, -1 / 3, 0, 0]]))


def test_affinity_of_a_session(case):
    image, seeds = case
    image = image + np.arange(8, dtype=np.int16) * 9
    first = (seeds == 1).astype(np.uint8)

    def check(session, seeds, changes, **expected):
        expected = {**ESTIMATED, **expected}
        np.testing.assert_array_equal(session.update(seeds, **changes), voxelmaps.labels(image, seeds, **expected))

    session = voxelmaps.SeedSession(image, **ESTIMATED)
    check(session, first, {})
    affinity = session.affinity
    check(session, seeds, {}, **affinity)
    assert session.affinity == affinity
    session.reestimate()
    check(session, seeds, {})
    assert session.affinity != affinity
    check(session, seeds, {"estimation_radius": 1}, estimation_radius=1)
    # Given: there is no estimate until reestimate().
    session = voxelmaps.SeedSession(image, **GIVEN)
    check(session, seeds, {}, **MOMENTS)
    check(session, seeds, {"object_mean": 90}, **{**MOMENTS, "object_mean": 90})
    session.reestimate()
    check(session, first, {})
    assert session.affinity == affinity
    # Only what the estimate does not give.
    check(session, first, {"object_mean": 90}, **{**affinity, "object_mean": 90})
    assert session.affinity == {**affinity, "object_mean": 90}
    # Moments of each label, then one of all.
    means = {"object_mean": {1: 40, 2: 60, 7: 50}, "object_variance": 900, "difference_variance": 400}
    for start, end in ((means, {"object_mean": 50}), ({"estimate_of_every_label": True},) * 2):
        session = voxelmaps.SeedSession(image, **ESTIMATED, **start)
        check(session, seeds, {}, **start)
        session.reestimate()
        check(session, seeds, {"estimate_of_every_label": False})
        session.reestimate()
        check(session, seeds, start, **start)
        check(session, seeds, end, **{**start, **end})
    assert not np.array_equal(session.update(seeds), voxelmaps.labels(image, seeds, **ESTIMATED))
    # In place of an earlier estimate of all labels.
    session = voxelmaps.SeedSession(image, **ESTIMATED)
    check(session, first, {})
    check(session, seeds, {"estimate_of_every_label": True}, estimate_of_every_label=True)
    # An affinity without parameters; another function is estimated for.
    session = voxelmaps.SeedSession(image, **{**ESTIMATED, "affinity": "absolute_difference"})
    check(session, seeds, {}, affinity="absolute_difference")
    check(session, first, {"affinity": "geometric_mean"})


def test_another_thread_cancels_an_update():
    image = np.random.default_rng(5).normal(size=(64, 128, 128)).astype(np.float32)
    seeds = {1: (3, 4, 5), 2: (60, 120, 99)}
    session = voxelmaps.SeedSession(image, **GIVEN)
    errors = []

    def update():
        try:
            session.update(seeds)
        except InterruptedError as error:
            errors.append(str(error))

    for _ in range(2):
        thread = threading.Thread(target=update)
        thread.start()
        while thread.is_alive():
            session.cancel()
            time.sleep(0.001)
        with pytest.raises(RuntimeError, match="there is no margin"):
            session.margin
    assert errors == ["the computation was canceled"] * 2
    np.testing.assert_array_equal(session.update(seeds), voxelmaps.labels(image, seeds, **GIVEN))


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
    session = voxelmaps.SeedSession(image, margin=True, label_type=np.uint8, **ESTIMATED)
    with pytest.raises(RuntimeError, match="there is no margin: .* there was none"):
        session.margin
    for wrong in ({"seeds": {300: (1, 2, 3)}}, {"seeds": seeds, **MOMENTS, "object_mean": {300: 5}}):
        with pytest.raises(ValueError, match="the label 300 is not from 1 to 255"):
            session.update(**wrong)
    labels, strength, margin = session.update(seeds)
    assert labels.dtype == np.uint8 and strength is None
    np.testing.assert_array_equal(margin, session.margin)
    kept = margin.copy()
    session.update((seeds == 2).astype(np.uint8))
    assert not np.array_equal(session.margin, kept)
    np.testing.assert_array_equal(margin, kept)


@pytest.mark.parametrize("shape", [(14, 19), (6, 9, 8)])
def test_images_of_vectors(shape):
    """Images know the axis of their components."""
    itk, sitk, xarray = map(pytest.importorskip, ("itk", "SimpleITK", "xarray"))
    _, seeds, _ = make_case(shape, 1)
    colors = np.random.default_rng(1).integers(0, 200, (*shape, 3)).astype(np.float32)
    colors += np.arange(shape[-1])[:, np.newaxis] * 2
    named = xarray.DataArray(colors, dims=("z", "y", "x")[-len(shape) :] + ("c",))
    images = [itk.image_from_array(colors.astype(dtype), is_vector=True) for dtype in (np.uint8, np.float32)]
    images.append(sitk.GetImageFromArray(colors, isVector=True))
    for image in (named, *images, colors):
        options = dict(ESTIMATED, components_axis=-1) if image is colors else ESTIMATED
        session = voxelmaps.SeedSession(image, **options)
        np.testing.assert_array_equal(session.update(seeds == 2), voxelmaps.labels(image, seeds == 2, **options))
        affinity = session.affinity
        assert affinity["object_mean"].shape == (3,) and affinity["object_variance"].shape == (3, 3)
        for given in ({}, {"object_mean": {1: [30, 40, 50], 2: [90, 80, 120], 7: [200, 180, 220]}}):
            labels = session.update(seeds, **given)
            expected = voxelmaps.labels(colors, seeds, components_axis=-1, **{**ESTIMATED, **affinity, **given})
            np.testing.assert_array_equal(_image.opened(labels, "labels").image.array, expected)
            assert image is not named or labels.dims == named.dims[:-1]
        with pytest.raises(ValueError, match="object_mean is .*, but voxels of 3 components need the shape"):
            session.update(seeds, object_mean=[1, 2])
        with pytest.raises(TypeError, match="image has voxels of .* components, but they must be scalars"):
            voxelmaps.feature_maps(image if image is not colors else named, features="glcm")


@pytest.mark.parametrize(
    "wrong",
    [
        {"object_mean": "abc"},
        {"nope": 2, "object_mean": 3},
        {"object_mean": 3, "nope": 2},
        {"strength": "x"},
        {"object_mean": np.nan},
        {"object_mean": {1: 5, 2: "abc"}},
        {"object_mean": {1: 5}, "competition": "iterative"},
        {"minimum_strength": 0.5, "tie_rule": "toss"},
        {"minimum_strength": 2},
        {"mask": np.ones((2, 2, 2), np.uint8)},
        {"tie_rule": "lowest_label", "affinity": "absolute_difference", "distance_weighting": True},
    ],
)
@pytest.mark.parametrize("start", [{}, ESTIMATED, GIVEN, dict(GIVEN, object_mean={1: 30, 2: 90, 7: 200})])
def test_a_refused_update_changes_nothing(case, start, wrong):
    image, seeds = case
    session, expected = (voxelmaps.SeedSession(image, **start) for _ in range(2))
    # Before the first update, and after one.
    for _ in range(2):
        with pytest.raises((AttributeError, RuntimeError, TypeError, ValueError)):
            session.update(seeds, **wrong)
        np.testing.assert_array_equal(session.update(seeds), expected.update(seeds))


def test_images_seeds_and_masks_are_copied(case):
    itk = pytest.importorskip("itk", reason="ITK, whose images are given, is not installed")
    image, seeds = case
    wide = seeds.astype(np.uint16)
    mask = np.ones(image.shape, np.uint8)
    mask[:, :2] = 0
    wide[:, :2] = 0
    changed = image.copy()
    session = voxelmaps.SeedSession(changed, **GIVEN)
    labels = session.update(itk.image_view_from_array(wide), mask=itk.image_view_from_array(mask))
    expected = voxelmaps.labels(image, wide, mask, margin=True, **GIVEN)
    wide[...], mask[...], changed[...] = 9, 0, 32000
    del wide, mask
    np.testing.assert_array_equal(labels, expected.labels)
    np.testing.assert_array_equal(session.margin, expected.margin)
    np.testing.assert_array_equal(session.update(seeds, mask=None), voxelmaps.labels(image, seeds, **GIVEN))
    # Edited in place, the same image gives other labels.
    edited_image = itk.image_from_array(seeds.astype(np.uint16))
    session = voxelmaps.SeedSession(image, **GIVEN)
    session.update(edited_image)
    itk.array_view_from_image(edited_image)[...] = seeds == 2
    np.testing.assert_array_equal(session.update(edited_image), voxelmaps.labels(image, seeds == 2, **GIVEN))


def test_sessions_are_not_copied(case):
    session = voxelmaps.SeedSession(case[0])
    for make_copy in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a SeedSession cannot be copied or pickled"):
            make_copy(session)


def test_refining_without_seeds():
    """No voxel of the mask is certain, and there are no strokes."""
    image, reference = np.zeros((61, 61), np.float32), np.zeros((61, 61), np.uint8)
    reference[10:51, 10:51] = 1
    mask = np.zeros_like(reference)
    mask[9:12, 20] = 1
    with pytest.raises(ValueError, match="there are no seeds: no voxel of refine is certain inside the mask"):
        voxelmaps.labels(image, refine=reference, mask=mask)


def test_refining_in_parts_of_a_mask():
    """Certain voxels that the mask separates from all borders of the segmentation keep their label."""
    image, reference = np.zeros((61, 61), np.float32), np.zeros((61, 61), np.uint8)
    reference[10:51, 10:51] = 1
    mask = np.zeros_like(reference)
    mask[25:35, 25:35] = mask[:, 2] = 1
    found = voxelmaps.labels(image, refine=reference, mask=mask)
    assert (found[25:35, 25:35] == 1).all() and (found[:, 2] == 2).all() and not found[mask == 0].any()
