# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Scenes, and the comparison of maps with PyRadiomics by the rules of doc/radiomics.md."""

import copy
import functools
import logging
import warnings
from collections import Counter

import numpy as np
import pytest
from array_libraries import itk
from voxelmaps.radiomics import _preparation as images
from voxelmaps import _feature_maps, _image, radiomics
from voxelmaps.radiomics import _maps, _settings as parameters


# --- Scenes ------------------------------------------------------------------------------------------------------------

SPACING, ORIGIN = (0.5, 0.75, 2.0), (-10.0, 20.0, 5.0)
DIRECTION = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
SHAPE = (9, 10, 11)


def smooth(seed):
    """Noise with structure: neighbors are alike. Values from 0 to 1."""
    array = np.random.default_rng(seed).random(SHAPE)
    for axis in range(3):
        array = (array + np.roll(array, 1, axis)) / 2
    return (array - array.min()) / (array.max() - array.min())


def image_array(kind):
    seed, scale, shift = {"int16": (0, 250, 60), "uint8": (1, 180, 0), "int32": (2, 250, 60)}.get(kind, (3, 3, 0))
    return (smooth(seed) * scale - shift).astype(kind)


def mask_array(kind):
    """Labels 0, 1 and 2."""
    rng = np.random.default_rng(5)
    mask = np.zeros(SHAPE, np.uint8)
    if kind == "holes":
        mask[2:7, 3:8, 1:9] = rng.random((5, 5, 8)) < 0.8
        mask[:1] = 2
    elif kind == "border":
        mask[5:, 6:, :6] = 1
        mask[:2] = 2
    elif kind == "scattered":
        mask[...] = rng.random(SHAPE) < 0.12
        mask[4, 2:8, 2:8] = 2
    elif kind == "sheet":
        mask[4, 2:8, 2:8] = 1
    return mask


def to_simpleitk(array):
    pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    return _image.to_simpleitk(_image.Image(array, SPACING, ORIGIN, DIRECTION))


def to_itk(array):
    image = itk.image_from_array(array)
    image.SetSpacing(SPACING)
    image.SetOrigin(ORIGIN)
    image.SetDirection(itk.matrix_from_array(np.reshape(DIRECTION, (3, 3))))
    return image


def expect_same(maps, expected):
    """Two results of execute have the same keys, types and values."""
    assert list(maps) == list(expected)
    for key, image in expected.items():
        if not key.startswith("diagnostics"):
            ours, theirs = (_image.opened(each, key).image.array for each in (maps[key], image))
            assert type(maps[key]) is type(image) and ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=key)


def all_features(name):
    return parameters.all_features(name)


# --- Comparison with PyRadiomics --------------------------------------------------------------------------------------


def pyradiomics_maps(image, mask, params, **keywords):
    """Maps of PyRadiomics by key."""
    pyradiomics = pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    pyradiomics.setVerbosity(logging.CRITICAL)
    with warnings.catch_warnings():
        # Means of windows without directions are NaN, as they should be; see also the list of its faults.
        warnings.simplefilter("ignore")
        extractor = RadiomicsFeatureExtractor(copy.deepcopy(params), **keywords)
        extractor.settings["additionalInfo"] = False
        return extractor.execute(image, mask, voxelBased=True)


def pairs_of(window, offset, both_orders):
    """The pairs of an offset by (level, level), in both orders or in that of the offset; level 0 is absent."""
    voxels, pairs = {tuple(place): int(window[tuple(place)]) for place in np.argwhere(window > 0)}, Counter()
    for place, i in voxels.items():
        j = voxels.get(tuple(np.add(place, offset)))
        if j is not None:
            pairs.update([(i, j), (j, i)] if both_orders else [(i, j)])
    return pairs


def is_product(pairs):
    """Whether the levels of a pair are independent."""
    rows, columns = Counter(), Counter()
    for (i, j), n in pairs.items():
        rows[i] += n
        columns[j] += n
    total = sum(pairs.values())
    return all(pairs[i, j] * total == m * n for i, m in rows.items() for j, n in columns.items())


class Windows:
    """The windows of the computed voxels, as PyRadiomics defines them, from the cropped image and region."""

    def __init__(self, image, roi, settings):
        masked = settings["maskedKernel"]
        used = np.ones_like(roi) if masked is False else roi
        edges = _maps.bin_edges(np.array([image[used].min(), image[used].max()]), settings)
        self.values = np.where(used, image, np.nan).astype(float)
        self.levels = np.where(used, np.digitize(image, edges), 0)
        self.voxels = np.argwhere(roi)
        self.settings = settings
        # NumPy's order of axes.
        self.radius = [settings["kernelRadius"]] * 3
        if settings["force2D"]:
            self.radius[settings["force2Ddimension"]] = 0
        self.window = [2 * r + 1 for r in reversed(self.radius)]

    def boxes(self, array):
        for voxel in self.voxels:
            yield array[tuple(slice(max(v - r, 0), v + r + 1) for v, r in zip(voxel, self.radius))]

    def are_flat(self):
        """Whether all intensities are equal."""
        return np.array([np.nanmin(box) == np.nanmax(box) for box in self.boxes(self.values)])

    def conditions(self):
        """The greatest intensities by the deviations."""
        boxes = list(self.boxes(self.values))
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = [np.nanmax(np.abs(box)) / np.nanstd(box) for box in boxes]
        return np.nan_to_num(quotients, posinf=0.0)

    @functools.lru_cache(maxsize=1)
    def matrices(self):
        """Pairs of each window by their levels: of each direction, or all."""
        offsets = _feature_maps.neighbor_offsets(self.settings["distances"], self.window[::-1])
        is_symmetric = self.settings["symmetricalGLCM"]
        matrices = [[pairs_of(box, o, is_symmetric) for o in offsets] for box in self.boxes(self.levels)]
        return matrices if self.settings["weightingNorm"] is None else [[sum(each, Counter())] for each in matrices]

    def have_empty_directions(self):
        """Whether some direction has no pair in the window, but has one in another window."""
        pairs = np.array([list(map(bool, matrices)) for matrices in self.matrices()])
        return ~pairs[:, pairs.any(axis=0)].all(axis=1)

    def are_in_a_batch_without_mcc(self):
        """Whether some window, which may be another one, lacks a direction that others have: one batch has all windows, and
        the eigenvalues of none are computed then."""
        return np.full(len(self.voxels), self.have_empty_directions().any())

    def have_products(self):
        """Whether the levels of a pair are independent in some direction, and not all equal: the mutual information is 0."""
        return np.array(
            [any(len(pairs) > 1 and is_product(pairs) for pairs in matrices) for matrices in self.matrices()]
        )

    def have_one_level_on_one_side(self):
        """Whether, in some direction, all first voxels of the pairs have one level, or all second voxels, but not both."""

        def is_one_sided(pairs):
            return (len({i for i, _ in pairs}) == 1) != (len({j for _, j in pairs}) == 1)

        return np.array([any(map(is_one_sided, matrices)) for matrices in self.matrices()])

    def have_balanced_levels(self):
        """Whether there are several levels i, with equal products of i and the number of their voxels."""

        def is_balanced(box):
            levels, counts = np.unique(box[box > 0], return_counts=True)
            return len(levels) > 1 and len(np.unique(levels * counts)) == 1

        return np.array([is_balanced(box) for box in self.boxes(self.levels)])

    def have_no_pairs_in_region_of_one_level(self):
        is_one_level = len(np.unique(self.levels[self.levels > 0])) == 1
        return np.array([is_one_level and not any(matrices) for matrices in self.matrices()])


# Feature -> where PyRadiomics has faults that doc/radiomics.md lists.
FAULTS = {
    "firstorder_Skewness": [Windows.are_flat],
    "firstorder_Kurtosis": [Windows.are_flat],
    "glcm_JointAverage": [Windows.have_empty_directions],
    "glcm_Imc2": [Windows.have_products],
    "glcm_MCC": [
        Windows.are_in_a_batch_without_mcc,
        Windows.have_no_pairs_in_region_of_one_level,
        Windows.have_products,
    ],
    "glcm_Correlation": [Windows.have_one_level_on_one_side],
    "glcm_InverseVariance": [Windows.have_no_pairs_in_region_of_one_level],
    "ngtdm_Busyness": [Windows.have_balanced_levels],
}

# Features that can be 0 as a difference of numbers that are not small: absolute tolerance.
DIFFERENCES = {"Skewness", "ClusterShade", "Correlation", "Imc1", "Imc2"}

# Powers of deviations from a mean, which can be 0.
MOMENTS = {
    "ClusterProminence", "ClusterShade", "ClusterTendency", "DifferenceVariance", "GrayLevelVariance", "RunVariance", "SumSquares",
}  # fmt: skip

# Which can be 0 as a sum of intensities that are not small.
MEANS = {"Mean", "10Percentile", "90Percentile"}


# Features with 1/i^2 in fixed point, of at least 23 bits.
FIXED_POINT = {"LowGrayLevelRunEmphasis", "ShortRunLowGrayLevelEmphasis", "LongRunLowGrayLevelEmphasis"}


def assert_close(key, ours, theirs, scale, is_double, is_symmetric, is_weighted, conditions=0.0):
    """Relative differences of 1e-12, and of rounding to float; doc/radiomics.md says why some features have other limits."""
    name = key.split("_")[-1]
    tolerance = (2.0**-23 if name in FIXED_POINT else 1e-12) * np.abs(theirs)
    if "Entropy" in name or name in DIFFERENCES | MEANS:
        tolerance = tolerance + 1e-12 * scale
    if name in ("Skewness", "Kurtosis"):
        # The mean rounds, and its error is divided by the deviation.
        tolerance = tolerance + 1e-15 * conditions
    if name in MOMENTS:
        # The mean of equal levels, differences or lengths rounds.
        tolerance = tolerance + 1e-20
    if is_weighted and name in ("Correlation", "Imc1", "Imc2"):
        # PyRadiomics adds 2e-16 to variances and probabilities, which weights can make small.
        tolerance = np.maximum(tolerance, 1e-7)
    if name == "MCC":
        # The root of an eigenvalue of a product of matrices, which is sensitive to rounding if they are not symmetric.
        # PyRadiomics also adds 2e-16 to the products of sums of rows and columns, which weights can make as small.
        limit = 1e-11 if is_symmetric and not is_weighted else 1e-8
        tolerance = np.where(np.abs(theirs) < 1e-3, 1e-7, np.maximum(tolerance, limit))
    if name == "Imc2":
        # A root of what is left of entropies.
        tolerance = np.where(np.abs(theirs) < 1e-3, 1e-7, tolerance)
    if not is_double:
        tolerance = tolerance + np.spacing(np.abs(theirs).astype(np.float32)).astype(float)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs), err_msg=key)
    difference = np.nan_to_num(np.abs(ours - theirs))
    worst = np.argmax(difference - np.nan_to_num(tolerance))
    assert (
        difference <= np.nan_to_num(tolerance)
    ).all(), f"{key}: {ours[worst]!r} instead of {theirs[worst]!r}; difference {difference[worst]:.3g}, allowed {tolerance[worst]:.3g}"


def compare(image, mask, params, precision):
    """Compare the maps of all images that parameters name; returns the keys of ours."""
    theirs = pyradiomics_maps(image, mask, params)
    result = radiomics.execute(
        image, mask, copy.deepcopy(params), precision=precision, images=True, additionalInfo=False
    )
    ours = {key: value for key, value in result.items() if "_" in key}
    assert list(ours) == list(theirs)
    import SimpleITK as sitk

    read = parameters.read(params, {})
    prepared = images.prepare(_image.load(image, "image")[0], _image.load(mask, "mask")[0], read.settings, False)
    types, windows = read.image_names(image.GetDimension()), {}
    inside = prepared.roi.array
    for key, their_image in theirs.items():
        name, _, feature = key.split("_")
        settings = read.settings_of(types[name])
        ours_image = ours[key]
        assert ours_image.GetSize() == their_image.GetSize()
        assert ours_image.GetSpacing() == their_image.GetSpacing()
        assert ours_image.GetDirection() == their_image.GetDirection()
        np.testing.assert_allclose(ours_image.GetOrigin(), their_image.GetOrigin(), rtol=1e-14, atol=1e-13)
        assert ours_image.GetPixelID() == (sitk.sitkFloat64 if precision == "double" else sitk.sitkFloat32)
        our_array, their_array = map(sitk.GetArrayFromImage, (ours_image, their_image))
        np.testing.assert_array_equal(our_array[~inside], their_array[~inside].astype(our_array.dtype))
        if name not in windows:
            windows = {name: Windows(sitk.GetArrayFromImage(result[name]), inside, settings)}
        kept = np.ones(np.count_nonzero(inside), bool)
        for is_faulty in FAULTS.get(key.partition("_")[2], ()):
            kept &= ~is_faulty(windows[name])
        if not kept.all():
            if feature == "MCC" and windows[name].are_in_a_batch_without_mcc().all():
                assert np.array_equal(np.unique(their_array), [settings["initValue"]], equal_nan=True)
                continue
        a, b = our_array[inside][kept].astype(float), their_array[inside][kept]
        if len(b):
            # Intensities of a filtered image have both signs.
            least = np.abs(windows[name].values[inside]).max() if feature in MEANS else 0.0
            scale = np.nanmax(np.abs(b), initial=1.0 if "Entropy" in key or feature == "Skewness" else least)
            conditions = windows[name].conditions()[kept] if feature in ("Skewness", "Kurtosis") else 0.0
            is_weighted = settings["weightingNorm"] not in (None, "no_weighting")
            is_symmetric = settings["symmetricalGLCM"]
            assert_close(key, a, b, scale, precision == "double", is_symmetric, is_weighted, conditions)
    return list(ours)
