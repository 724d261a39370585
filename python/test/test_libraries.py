# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Random jobs have the same bytes with the arrays of all libraries, on the CPU and on CUDA devices. Needs no ITK."""

import functools
import hashlib

import numpy as np
import pytest
import voxelmaps
from array_libraries import is_like, needs_device, to_numpy, with_effect
from voxelmaps import _arrays, _core, _feature_maps

NUMBER_OF_JOBS = 60
NUMBER_OF_CONNECTEDNESS_JOBS = 36
FEATURES = {name: names for name, names in _core.feature_names().items() if "shape" not in name}

TYPES = [*_arrays.PIXEL_TYPES, "bool", "float16"]
CONNECTEDNESS_TYPES = [dtype for dtype in TYPES if dtype not in ("int64", "uint64", "float16")]
DISCRETIZATIONS = ["bin_width", "bin_count", "bin_edges", "largest_gray_level"]
AFFINITIES = ["geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"]
MASKS = [None, "scattered", "ball", "plane"]


def image_of(random, dtype, shape, discretization):
    if discretization == "largest_gray_level":
        return random.integers(0, 13, shape).astype(dtype)
    is_signed = np.dtype(dtype).kind not in "ub"
    values = random.integers(-100 if is_signed else 0, 120, shape)
    # Regions, as organs have them, beside noise.
    values = np.where(random.random(shape) < 0.3, values, values // 40 * 40)
    return (values + random.random(shape) if dtype.startswith("float") else values).astype(dtype)


def mask_of(random, kind, shape):
    mask = random.random(shape) < 0.7
    if kind == "ball":
        mask = sum(((i - n // 2) / n) ** 2 for i, n in zip(np.indices(shape), shape)) < 0.12
    if kind == "plane":
        mask = np.zeros(shape, bool)
        mask[shape[0] // 2] = True
    mask[tuple(n // 2 for n in shape)] = True
    return mask.astype(random.choice(["bool", "uint8", "int16", "float32"]))


def make_job(number):
    """The image, the arrays like it, and the other parameters of a job."""
    random = np.random.default_rng(number)
    dtype = TYPES[number % 12]
    discretization = DISCRETIZATIONS[number // 3 % 4]
    dimension = 2 if number % 4 == 3 else 3
    shape = tuple(int(n) for n in random.integers(*((9, 30) if dimension == 2 else (5, 13)), dimension))
    arrays = {}
    kind = MASKS[number // 5 % 4]
    if kind is not None:
        arrays["mask"] = mask_of(random, kind, shape)
    if random.random() < 0.3:
        arrays["selection"] = mask_of(random, "scattered", shape)

    # All features of one class, and some of others.
    whole = _feature_maps.CLASSES[number % 6]
    features = {whole: list(FEATURES[whole])}
    for name in random.permutation(_feature_maps.CLASSES)[:2].tolist():
        features.setdefault(name, random.permutation(FEATURES[name])[:4].tolist())

    parameters = {"features": features, "precision": ["float", "double"][number // 12 % 2]}
    if number % 3 < 2:
        radius = random.integers(0, 3, dimension).tolist()
        radius[number % dimension] = 1
        parameters["neighborhood_radius"] = radius if number % 3 else 1 + number % 2
    else:
        size = random.integers(1, 6, dimension).tolist()
        size[number % dimension] = 4
        parameters.update(window_size=size, window_anchor=[int(random.integers(n)) for n in size])
    parameters[discretization] = {
        "bin_width": float(random.choice([1.5, 7, 25])),
        "bin_count": int(random.integers(1, 65)),
        "bin_edges": np.unique(random.integers(-90, 110, 9)).tolist(),
        "largest_gray_level": 12,
    }[discretization]
    if discretization == "bin_count":
        parameters["intensity_range"] = ["mask", "image", (-20.0, 60.5)][number % 3]
    parameters.update(
        distances=[[1], [1, 2], [2, 1, 3]][number % 3],
        aggregation=["average", "merge"][number // 2 % 2],
        symmetric=bool(random.integers(2)),
        alpha=int(random.integers(4)),
        voxel_array_shift=float(random.choice([0, 100.5])),
        background_value=float(random.choice([0, -7, np.nan])),
        spacing=random.uniform(0.5, 3, dimension).tolist(),
    )
    # A parameter without effect is an error.
    for parameter, classes in CLASSES_OF_PARAMETERS.items():
        if not classes & set(features):
            del parameters[parameter]
    if kind == "ball" and number % 2:
        parameters["crop"] = "mask"
    return image_of(random, dtype, shape, discretization), arrays, parameters


CLASSES_OF_PARAMETERS = {
    "distances": {"glcm", "gldm", "ngtdm"},
    "aggregation": {"glcm", "glrlm"},
    "symmetric": {"glcm"},
    "alpha": {"gldm"},
    "voxel_array_shift": {"firstorder"},
}


def make_connectedness_job(number):
    """The same of fuzzy_connectedness and labels, and the seeds."""
    random = np.random.default_rng(1000 + number)
    dimension = 2 if number % 4 == 3 else 3
    shape = tuple(int(n) for n in random.integers(*((9, 30) if dimension == 2 else (5, 13)), dimension))
    seeds = {}
    for label, index in zip((3, 1, 200, 1, 3), random.choice(np.prod(shape), 5, replace=False)):
        seeds.setdefault(label, []).append(tuple(int(i) for i in np.unravel_index(index, shape)))
    arrays = {}
    kind = MASKS[number // 4 % 4]
    if kind is not None:
        mask = mask_of(random, kind, shape)
        for index in sum(seeds.values(), []):
            # The voxels around a seed have a variance.
            mask[tuple(slice(max(i - 1, 0), i + 2) for i in index)] = 1
        arrays["mask"] = mask
    affinity = AFFINITIES[number % 5]
    parameters = {
        "affinity": affinity,
        "adjacency": ["face", "face_edge", "full"][number % 3],
        "distance_weighting": affinity != "absolute_difference" and number % 2 == 0,
        "weight": float(random.uniform()),
        "minimum_strength": float(random.choice([0, 0.1])),
        "spacing": random.uniform(0.5, 3, dimension).tolist(),
        "estimation_radius": int(random.integers(2, 4)),
        "precision": ["float", "double"][number // 9 % 2],
    }
    if number // 3 % 2:
        moments = {"object_mean": 40, "object_variance": 900.5, "difference_mean": 7, "difference_variance": 400}
        parameters.update(moments)
    parameters = with_effect(affinity, parameters)
    x = random.integers(0, 3, shape) * 30 + random.integers(0, 20, shape)
    dtype = CONNECTEDNESS_TYPES[number % 9]
    return (x > 45 if dtype == "bool" else x.astype(dtype)), arrays, parameters, seeds


def compute_maps(number, convert, **more):
    x, arrays, parameters = make_job(number)
    arrays = {name: convert(array) for name, array in arrays.items()}
    x = convert(x)
    maps = voxelmaps.feature_maps(x, **arrays, **parameters, **more)
    assert is_like(maps.array, x)
    return dict(maps)


def compute_connectedness(number, convert, **more):
    x, arrays, parameters, seeds = make_connectedness_job(number)
    arrays = {name: convert(array) for name, array in arrays.items()}
    x, parameters = convert(x), {**arrays, **parameters, **more}
    marked = np.zeros(x.shape, np.uint8)
    for label, indices in seeds.items():
        marked[tuple(np.transpose(indices))] = label
    # Indices, and labels in host memory and where the image is.
    seeds, of_object = ((seeds, seeds[3]), (marked, marked == 3), (convert(marked), convert(marked == 3)))[number % 3]
    results = {"strength of 3": voxelmaps.fuzzy_connectedness(x, of_object, **parameters)}
    parameters["label_type"] = ["uint8", "uint16"][number // 2 % 2]
    if number % 4 == 1:
        parameters.update(crop_to_seeds=True, crop_margin=2)
    for competition, tie_rule in (("relative", "lowest_label"), ("iterative", "background")):
        is_of_every_label = competition == "relative" and number % 3 == 0 and "estimation_radius" in parameters
        parameters.update(competition=competition, tie_rule=tie_rule, estimate_of_every_label=is_of_every_label)
        labels = voxelmaps.labels(x, seeds, strength=True, margin=True, **parameters)
        results.update((f"{competition} {name}", array) for name, array in labels._asdict().items())
        session = voxelmaps.SeedSession(x, **parameters)
        session.update({1: np.argwhere(marked == 3)})
        session.reestimate()
        results[f"{competition} labels of a session"] = session.update(seeds)
        results[f"{competition} margin of a session"] = session.margin
    assert all(is_like(result, x) for result in results.values())
    return results


# What computes a job, what says its image first, and the number of jobs.
JOBS = {
    "maps": (compute_maps, make_job, NUMBER_OF_JOBS),
    "connectedness": (compute_connectedness, make_connectedness_job, NUMBER_OF_CONNECTEDNESS_JOBS),
}


def hashes_of(kind, number, convert=np.asarray, **more):
    """Shape, type and hash of each result, by name."""
    hashes = {}
    for name, result in JOBS[kind][0](number, convert, **more).items():
        array = np.ascontiguousarray(to_numpy(result))
        hashes[name] = array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()
    return hashes


@functools.lru_cache(None)
def expected_hashes(kind, number):
    return hashes_of(kind, number, device="cpu")


# --- Libraries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", JOBS)
def test_same_bytes(library, kind):
    differences = []
    for number in range(JOBS[kind][2]):
        actual = hashes_of(kind, number, library)
        expected = expected_hashes(kind, number)
        differences += [(number, name) for name in expected if actual.get(name) != expected[name]]
    assert not differences


@needs_device
@pytest.mark.parametrize("kind", JOBS)
def test_same_bytes_of_host_memory_on_a_device(kind):
    for number in range(JOBS[kind][2]):
        assert hashes_of(kind, number, device="cuda") == expected_hashes(kind, number), number
