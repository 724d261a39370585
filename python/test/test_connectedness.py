# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.fuzzy_connectedness, labels and suggest_threshold have the values of the filters; affinities that are estimated."""

import hashlib
import itertools

import numpy as np
import pytest
import voxelmaps
from array_libraries import with_effect
from voxelmaps import _parameters

MOMENTS = dict(object_mean=60, object_variance=400, difference_variance=150)


def image_of(dtype=np.int16, shape=(7, 9, 11)):
    return np.random.default_rng(3).integers(0, 120, shape).astype(dtype)


@pytest.fixture
def itk():
    module = pytest.importorskip("itk", reason="ITK is not installed")
    if not hasattr(module, "FuzzyConnectednessImageFilter"):
        pytest.skip("needs itk-voxelmaps")
    return module


@pytest.fixture
def segmented_by_filter(itk):
    """The labels, strength and margin of ITK's filters, which the tests of C++ compare with oracles, with parameters of
    voxelmaps.labels; without competition, the strength of one object alone."""

    def compute(x, seeds, mask=None, spacing=None, **parameters):
        def image(array):
            result = itk.image_from_array(array)
            result.SetSpacing([float(size) for size in reversed(spacing or [1] * x.ndim)])
            return result

        many = "competition" in parameters
        filter_class = itk.RelativeFuzzyConnectednessImageFilter if many else itk.FuzzyConnectednessImageFilter
        parameters["estimate_affinity_from_seeds"] = "difference_variance" not in parameters
        parameters["affinity_function"] = parameters.pop("affinity", "geometric_mean")
        moments = ("object_mean", "object_variance", "difference_mean", "difference_variance")
        affinity = [[float(parameters.pop(name))] if name in parameters else [] for name in moments]
        parameters["affinity"] = itk.FuzzyConnectednessAffinity(*affinity)
        for enums, name in (
            (itk.FuzzyConnectednessEnums, "affinity_function"),
            (itk.FuzzyConnectednessEnums, "adjacency"),
            (itk.RelativeFuzzyConnectednessEnums, "competition"),
            (itk.RelativeFuzzyConnectednessEnums, "tie_rule"),
        ):
            if name in parameters:
                words = f"{name} {parameters[name]}".replace("_", " ").title().split()
                split = len(name.split("_"))
                parameters[name] = getattr(enums, "".join(words[:split]) + "_" + "".join(words[split:]))
        parameters["seed_image"] = image(np.asarray(seeds, np.uint8))
        if mask is not None:
            parameters["mask_image"] = image(np.asarray(mask, np.uint8))
        if many:
            parameters.update(generate_strength_image=True, generate_margin_image=True)
        result = filter_class.New(image(np.asarray(x, float)), **parameters)
        result.Update()
        outputs = [result.GetOutput(), *((result.GetStrengthImage(), result.GetMarginImage()) if many else ())]
        return [itk.array_from_image(output) for output in outputs]

    return compute


@pytest.mark.parametrize("affinity", _parameters.AFFINITIES)
@pytest.mark.parametrize("adjacency", _parameters.ADJACENCIES)
@pytest.mark.parametrize("shape", [(7, 9, 11), (9, 11)])
def test_parameters(affinity, adjacency, shape, segmented_by_filter):
    x, seeds = image_of(shape=shape), np.zeros(shape, np.uint8)
    seeds[tuple(n // 2 for n in shape)] = 1
    mask = (np.random.default_rng(4).random(shape) < 0.8) | (seeds > 0)
    common = dict(affinity=affinity, minimum_strength=0.05, weight=0.3, spacing=(3, 2, 1.5)[: len(shape)])
    common = {**with_effect(affinity, common), "adjacency": adjacency}
    common["distance_weighting"] = affinity != "absolute_difference"
    several = np.where(mask & (np.indices(shape).sum(0) % 6 == 0), np.random.default_rng(5).integers(0, 4, shape), 0)
    for moments in ({}, with_effect(affinity, {**MOMENTS, "difference_mean": 5})):
        given = common | moments
        (expected,) = segmented_by_filter(x, seeds, mask, **given)
        np.testing.assert_array_equal(voxelmaps.fuzzy_connectedness(x, seeds, mask, **given), expected)
        for given["competition"], given["tie_rule"] in itertools.product(
            _parameters.COMPETITIONS, _parameters.TIE_RULES
        ):
            actual = voxelmaps.labels(x, several, mask, strength=True, margin=True, **given)
            for one, expected in zip(actual, segmented_by_filter(x, several, mask, **given), strict=True):
                np.testing.assert_array_equal(one, expected)


def test_several_seeds_and_output():
    x, seeds = image_of(), np.zeros((7, 9, 11), bool)
    seeds[3, 4, 5] = seeds[0, 0, 0] = True
    out = np.empty(x.shape)
    assert voxelmaps.fuzzy_connectedness(x, seeds, precision="double", out=out, threads=1) is out
    np.testing.assert_allclose(out, voxelmaps.fuzzy_connectedness(x, [(0, 0, 0), (3, 4, 5)]), rtol=1e-6)


@pytest.fixture(scope="module")
def ct():
    return voxelmaps.sample_ct()


def vessel_seeds(ct, thickness, count):
    """Voxels of the portal vein with so many of its voxels in the box around them, and as bright as it is."""
    inside = ct.organs.array == 2
    around = np.lib.stride_tricks.sliding_window_view(np.pad(inside, 2), (5, 5, 5)).sum(axis=(-3, -2, -1))
    bright = ct.image.array > 175
    found = np.argwhere(inside & bright & (around >= thickness) & (around < thickness + 8))
    return [tuple(map(int, seed)) for seed in found[:: len(found) // count][:count]]


@pytest.mark.parametrize("thickness", [6, 15, 30])
def test_seeds_in_thin_vessels_estimate_the_affinity(ct, thickness):
    vessels = ct.organs.array == 2
    for seed in vessel_seeds(ct, thickness, 1):
        strength = voxelmaps.fuzzy_connectedness(ct.image, [ct.seeds["vessel"], seed]).array
        found = strength >= 0.4
        # The body has 60 times the volume of the vessels.
        assert 2 * np.count_nonzero(found & vessels) / (found.sum() + vessels.sum()) > 0.6


def test_a_seed_in_another_object_warns(ct):
    seeds = [ct.seeds["vessel"], ct.seeds["liver"]]
    with pytest.warns(UserWarning, match="The object may leak: .*standard deviation 4.*estimation_radius 2"):
        voxelmaps.fuzzy_connectedness(ct.image, seeds)
    # Here, labels do not differ in intensity.
    with pytest.warns(UserWarning, match="The object may leak: .* or estimate_of_every_label=True"):
        voxelmaps.labels(ct.image, {1: seeds, 2: tuple(np.add(seeds[0], (0, 0, 1)))}, affinity="geometric_mean")


@pytest.mark.filterwarnings("error")
def test_seeds_inside_objects_do_not_warn(ct):
    interior = np.argwhere((ct.organs.array == 1) & (ct.image.array > 70) & (ct.image.array < 150))
    for seed in interior[:: len(interior) // 3]:
        around = ct.organs.array[tuple(slice(i - 3, i + 4) for i in seed)]
        if (around == 1).all():
            voxelmaps.fuzzy_connectedness(ct.image, tuple(map(int, seed)))
    voxelmaps.fuzzy_connectedness(ct.image, ct.seeds["vessel"])


# --- Thresholds --------------------------------------------------------------------------------------------------------


def leaking(noise, shape):
    """Two bright boxes with a bridge of one voxel, and noise."""
    rng = np.random.default_rng(noise)
    x = np.zeros(shape, np.float32)
    x[..., 4:16, 3:14] = x[..., 4:16, 15:28] = 100
    x[..., 9, 14] = 75
    return x + noise * rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(20, 30), (3, 20, 30)])
@pytest.mark.parametrize("noise", [0, 2, 8])
def test_equals_the_filter(itk, noise, shape):
    spacing, seed = (2.5, 0.8, 0.7)[-len(shape) :], (1, 9, 8)[-len(shape) :]
    image = itk.image_from_array(leaking(noise, shape))
    image.SetSpacing(spacing[::-1])
    affinity = itk.FuzzyConnectednessAffinity([100.0], [900.0], [], [400.0])
    filter = itk.FuzzyConnectednessImageFilter.New(image, seed=seed[::-1], affinity=affinity)
    filter.Update()
    strength = itk.array_from_image(filter.GetOutput())
    found = []
    for volume in (0.0, 30.0, 66.1, 200.0, 1e6):
        found.append(voxelmaps.suggest_threshold(strength, seed, minimum_volume=volume, spacing=spacing))
        assert found[-1] == filter.GetSuggestedThreshold(volume)
        assert found[-1] == voxelmaps.suggest_threshold(filter.GetOutput(), minimum_volume=volume)
    filter.SetEstimationRadius(1)
    assert voxelmaps.suggest_threshold(strength, estimation_radius=1) == filter.GetSuggestedThreshold()
    assert found[0] > 0 and found[-1] == 0


def test_libraries_and_known_voxels(library):
    strength = np.array([[1.0] * 30, [0.9] * 20 + [0.8] * 10, [0.2] * 30, [0.1] * 30], np.float32)
    assert voxelmaps.suggest_threshold(library(strength)) == 1.0
    # The object also contains a voxel behind the first leak.
    assert voxelmaps.suggest_threshold(library(strength), [(0, 0), (1, 25)]) == np.float32(0.8)


# --- The synthetic CT --------------------------------------------------------------------------------------------------

DIGESTS = ["ccf7e7f2e79de96b", "32f302284eac318f", "260cf316095b1713"]


def test_voxels_of_the_sample():
    """They are the same on every machine."""
    ct = voxelmaps.sample_ct((96, 96, 40))
    image, organs, strokes, seeds = ct
    digests = [hashlib.sha256(each.array.tobytes()).hexdigest()[:16] for each in (image, organs, strokes)]
    assert digests == DIGESTS
    assert [organs.array[seeds[name]] for name in ("liver", "vessel", "bone", "spleen")] == [1, 2, 3, 4]
    # A stroke never leaves its organ.
    drawn = strokes.array > 0
    assert (strokes.array[drawn] % 5 == organs.array[drawn]).all() and len(np.unique(strokes.array)) == 6
    assert image.array.dtype == np.int16 and image.spacing == pytest.approx((358.4 / 96, 358.4 / 96, 232.5 / 40))
    assert image[1:] == organs[1:] == strokes[1:]
    without_noise = voxelmaps.sample_ct((96, 96, 40), noise=0).image.array
    noise = (image.array - without_noise)[np.abs(without_noise) < 1000]
    assert abs(noise.mean()) < 0.1 and noise.std() == pytest.approx(10, rel=0.01)
    assert not np.array_equal(voxelmaps.sample_ct((96, 96, 40), random_seed=2, noise=0).image.array, without_noise)
