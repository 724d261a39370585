# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""voxelmaps.fuzzy_connectedness of arrays of all libraries has the values of the filters."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import is_like, library, needs_device, to_numpy, with_effect

MOMENTS = dict(object_mean=60, object_variance=400, difference_variance=150)


def image_of(dtype=np.int16, shape=(7, 9, 11)):
    return np.random.default_rng(3).integers(0, 120, shape).astype(dtype)


def test_pixel_types():
    x, seeds = image_of(), [(3, 4, 5), (0, 0, 0)]
    expected = voxelmaps.fuzzy_connectedness(x.astype(float), seeds, **MOMENTS)
    assert expected.dtype == np.float32 and expected[3, 4, 5] == expected[0, 0, 0] == 1
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"):
        np.testing.assert_array_equal(voxelmaps.fuzzy_connectedness(x.astype(dtype), seeds, **MOMENTS), expected)


@pytest.mark.parametrize(
    "affinity", ["geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"]
)
@pytest.mark.parametrize("shape", [(7, 9, 11), (9, 11)])
def test_parameters(affinity, shape, segmented_by_filter):
    x, seeds = image_of(shape=shape), np.zeros(shape, np.uint8)
    seeds[tuple(n // 2 for n in shape)] = 1
    mask = (np.random.default_rng(4).random(shape) < 0.8) | (seeds > 0)
    common = dict(
        affinity=affinity, minimum_strength=0.05, adjacency="full", weight=0.3, spacing=(3, 2, 1.5)[: len(shape)]
    )
    common = with_effect(affinity, common)
    common["distance_weighting"] = affinity != "absolute_difference"
    for moments in ({}, with_effect(affinity, {**MOMENTS, "difference_mean": 5})):
        strengths = voxelmaps.fuzzy_connectedness(x, seeds, mask, **common, **moments)
        (expected,) = segmented_by_filter(x, seeds, mask, **common, **moments)
        np.testing.assert_array_equal(strengths, expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"])
def test_libraries(library, dtype):
    for shape in ((7, 9, 11), (9, 11)):
        x, mask = image_of(shape=shape), np.random.default_rng(4).random(shape) < 0.8
        x = x > 60 if dtype == "bool" else x.astype(dtype)
        seeds = np.zeros(shape, np.uint16)
        seeds[tuple(n // 2 for n in shape)] = seeds[(1,) * len(shape)] = 700
        mask |= seeds > 0
        # Estimated, and given.
        for moments in (dict(estimation_radius=1), MOMENTS):
            for precision in ("float", "double"):
                parameters = dict(precision=precision, adjacency="full", **moments)
                expected = voxelmaps.fuzzy_connectedness(x, seeds, mask, device="cpu", **parameters)
                given = library(x)
                for of_seeds in (library(seeds), np.argwhere(seeds)):
                    result = voxelmaps.fuzzy_connectedness(given, of_seeds, library(mask), **parameters)
                    assert is_like(result, given)
                    np.testing.assert_array_equal(to_numpy(result), expected)


def test_layouts_and_output_of_libraries(library):
    x, seed = image_of(shape=(14, 9, 22)), (1, 2, 3)
    expected = voxelmaps.fuzzy_connectedness(np.ascontiguousarray(x[::2, :, 1::2]), seed, device="cpu")
    np.testing.assert_array_equal(to_numpy(voxelmaps.fuzzy_connectedness(library(x)[::2, :, 1::2], seed)), expected)
    given, out = library(x), library(np.full(x.shape, 5, np.float32))
    if type(given).__module__.startswith("jax"):
        with pytest.raises(TypeError, match="out is an array of JAX, which cannot be written to"):
            voxelmaps.fuzzy_connectedness(given, seed, out=out)
    else:
        assert voxelmaps.fuzzy_connectedness(given, seed, out=out) is out
        np.testing.assert_array_equal(to_numpy(out), voxelmaps.fuzzy_connectedness(x, seed, device="cpu"))
    with pytest.raises(ValueError, match=r"the seed \(1, 2, 3\) is outside the mask"):
        voxelmaps.fuzzy_connectedness(given, seed, library((x > np.abs(x[seed])).astype(np.uint8)))


@needs_device
def test_streams_and_freed_inputs():
    torch = pytest.importorskip("torch")
    images = [np.random.default_rng(s).integers(0, 120, (24, 25, 26)).astype(np.int16) for s in range(6)]
    results = []
    for image in images:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.as_tensor(image).cuda(non_blocking=True)
            results.append(voxelmaps.fuzzy_connectedness(x + 0, (3, 4, 5), **MOMENTS))
            # Its memory may be used again by the next work in the stream.
            del x
            torch.zeros(24, 25, 26, device="cuda")
    torch.cuda.synchronize()
    for image, result in zip(images, results):
        expected = voxelmaps.fuzzy_connectedness(image, (3, 4, 5), device="cpu", **MOMENTS)
        np.testing.assert_array_equal(result.cpu().numpy(), expected)


def test_seeds_and_output():
    x = image_of()
    of_voxels = np.zeros(x.shape, bool)
    of_voxels[3, 4, 5] = of_voxels[0, 0, 0] = True
    expected = voxelmaps.fuzzy_connectedness(x, [(0, 0, 0), (3, 4, 5)])
    np.testing.assert_array_equal(voxelmaps.fuzzy_connectedness(x, of_voxels), expected)
    np.testing.assert_array_equal(voxelmaps.fuzzy_connectedness(x, np.array([[0, 0, 0], [3, 4, 5]])), expected)
    out = np.empty(x.shape)
    assert voxelmaps.fuzzy_connectedness(x, of_voxels, precision="double", out=out, threads=1) is out
    np.testing.assert_allclose(out, expected, rtol=1e-6)


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
    with pytest.warns(UserWarning, match="The object may leak: .* or estimate_of_every_label=True"):
        voxelmaps.labels(ct.image, {1: seeds[0], 2: seeds[1]})


@pytest.mark.filterwarnings("error")
def test_seeds_inside_objects_do_not_warn(ct):
    interior = np.argwhere((ct.organs.array == 1) & (ct.image.array > 70) & (ct.image.array < 150))
    for seed in interior[:: len(interior) // 3]:
        around = ct.organs.array[tuple(slice(i - 3, i + 4) for i in seed)]
        if (around == 1).all():
            voxelmaps.fuzzy_connectedness(ct.image, tuple(map(int, seed)))
    voxelmaps.fuzzy_connectedness(ct.image, ct.seeds["vessel"])


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(seeds=(7, 0, 0)), ValueError, r"the seed \(7, 0, 0\) is not an index"),
        (dict(seeds=[]), ValueError, "no seeds"),
        (dict(seeds="liver"), FileNotFoundError, "seeds liver does not exist"),
        (dict(object_mean=3, object_variance=-1, difference_variance=1), ValueError, "-1"),
        (dict(minimum_strength=2), ValueError, "2"),
        (dict(spacing=(1, 0, 1)), ValueError, "spacing is"),
        (dict(out=np.zeros((7, 9, 11))), ValueError, "type float64"),
        (dict(x=np.zeros(3)), ValueError, "must have 2 or 3"),
    ],
)
def test_errors_name_value_and_rule(arguments, error, message):
    if error is FileNotFoundError:
        pytest.importorskip("SimpleITK", reason="SimpleITK, which reads files, is not installed")
    with pytest.raises(error, match=message):
        voxelmaps.fuzzy_connectedness(**{"x": image_of(), "seeds": (1, 2, 3), **arguments})
