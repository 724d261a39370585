# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The rules of doc/rules.md: whatever kind an image is, and whichever function it is given to, results are equal, or the error is the
same sentence."""

import functools
import itertools
import re
import warnings

import numpy as np
import pytest
import voxelmaps
from array_libraries import to_numpy
from voxelmaps import _image

itk, sitk, nibabel, xarray = map(pytest.importorskip, ("itk", "SimpleITK", "nibabel", "xarray"))

SHAPE = (9, 10, 12)
SPACING, ORIGIN = (0.75, 0.5, 3.0), (-10.0, 20.0, 5.0)
DIRECTION = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
X = np.random.default_rng(0).integers(0, 200, SHAPE).astype(np.int16)
MASK = np.zeros(SHAPE, np.uint8)
MASK[2:6, 3:8, 4:10] = 1
SEED, OTHER = (3, 4, 5), (5, 7, 9)
FEATURES = ["firstorder_TotalEnergy", "firstorder_Mean", "glcm_Contrast", "glrlm_RunEntropy"]


# --- Kinds of images -----------------------------------------------------------------------------------------------------


class MetaTensor(np.ndarray):
    """What is used of the class of MONAI, which is a tensor of PyTorch."""

    def __new__(cls, array, affine=None, meta=None):
        result = np.asarray(array).view(cls)
        result.affine, result.meta = affine, {"space": "RAS", **(meta or {})}
        return result

    def __array_finalize__(self, other):
        self.affine, self.meta = getattr(other, "affine", None), getattr(other, "meta", {})

    def as_tensor(self):
        return self.view(np.ndarray)


def volume(array, origin=ORIGIN):
    return _image.Image(array, SPACING, origin, DIRECTION)


def to_metatensor(image):
    affine = _image.to_nibabel(image).affine
    # Its axes are those of the array, of which the first one is z here.
    return MetaTensor(image.array, affine[:, [2, 1, 0, 3]])


def to_file(image, suffix, folder, counter=itertools.count()):
    path = folder / f"{next(counter)}{suffix}"
    sitk.WriteImage(_image.to_simpleitk(image), str(path))
    return path


KINDS = {
    "array": lambda image: image.array,
    "sample_ct": lambda image: image,
    "DataArray": _image.to_xarray,
    "MetaTensor": to_metatensor,
    "nibabel": _image.to_nibabel,
    "ITK": _image.to_itk,
    "SimpleITK": _image.to_simpleitk,
    "NIfTI": ".nii.gz",
    "NRRD": ".nrrd",
}


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    """What makes an image of this kind."""
    make = KINDS[request.param]
    make = functools.partial(to_file, suffix=make, folder=tmp_path) if isinstance(make, str) else make
    make.name = request.param
    return make


def array_of(value):
    """The array z, y, x of an image of any kind."""
    return np.asarray(_image.opened(value, "a result").image.array)


# --- Functions -----------------------------------------------------------------------------------------------------------


def feature_maps(x, mask, **options):
    if isinstance(x, np.ndarray) and not isinstance(x, MetaTensor):
        options["spacing"] = SPACING[::-1]
    return voxelmaps.feature_maps(
        x, mask, features=FEATURES, bin_width=25, neighborhood_radius=1, crop="mask", **options
    ).array


def execute(x, mask, extract=None, **options):
    if isinstance(x, np.ndarray) and not isinstance(x, MetaTensor):
        pytest.skip("execute needs an image with a geometry")
    classes = {}
    for name in FEATURES:
        classes.setdefault(name.partition("_")[0], []).append(name.partition("_")[2])
    settings = {"binWidth": 25, "additionalInfo": False, **options}
    if extract is not None:
        maps = extract({"featureClass": classes, "setting": settings}).execute(x, mask, voxelBased=True)
    else:
        maps = voxelmaps.radiomics.execute(x, mask, featureClass=classes, **settings)
    return np.stack([array_of(maps[f"original_{name}"]) for name in FEATURES])


def extractor(x, mask, **options):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    return execute(x, mask, voxelmaps.radiomics.RadiomicsFeatureExtractor, **options)


COMMON = {"affinity": "absolute_difference"}


def fuzzy_connectedness(x, mask, **options):
    return voxelmaps.fuzzy_connectedness(x, SEED, mask, **COMMON, **options)


def labels(x, mask, **options):
    return voxelmaps.labels(x, {1: SEED, 2: OTHER}, mask, tie_rule="lowest_label", **COMMON, **options)


def session(x, mask, **options):
    with voxelmaps.SeedSession(x, mask=mask, tie_rule="lowest_label", **COMMON, **options) as opened:
        return opened.update({1: SEED, 2: OTHER})


MAPS = (feature_maps, execute, extractor)
CONNECTED = (fuzzy_connectedness, labels, session)


@pytest.fixture(params=[*MAPS, *CONNECTED], ids=lambda function: function.__name__)
def function(request):
    return request.param


def same_sentence(text):
    """The error without articles, which the names of arguments have in execute, and not in feature_maps."""
    return re.sub("^the image", "image", text).replace("the mask", "mask")


def refused(pattern, function, *arguments, error=ValueError, **options):
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert re.search(pattern, same_sentence(str(caught.value))), str(caught.value)


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


LABELS = MASK * np.where(np.arange(9) < 4, 2, 1)[:, None, None].astype(np.uint8)
EVERYWHERE = np.indices(SHAPE).sum(axis=0) * 7 + X
WITH_NAN, WITH_INF = X.astype(np.float32), X.astype(np.float32)
WITH_NAN[3, 4, 6], WITH_INF[3, 4, 6], WITH_INF[4, 5, 7] = np.nan, np.inf, -np.inf

# Name -> mask, options, and the mask of bool that means the same, or the error.
MASKS = {
    "bytes": (MASK, {}, MASK == 1),
    "of the label 1": (MASK, {"label": 1}, MASK == 1),
    "floats": (MASK.astype(np.float32), {}, MASK == 1),
    "scaled by its writer": (MASK * np.float32(0.99998), {}, MASK == 1),
    "labels": (LABELS, {"label": 2}, LABELS == 2),
    "labels as floats": (LABELS * np.float64(1.0002), {"label": 2}, LABELS == 2),
    "no such label": (LABELS, {"label": 7}, "no voxel of mask is 7 (label); it has the values 0, 1 and 2"),
    "probabilities": (
        np.where(MASK == 1, np.float32(0.75), np.float32(1e-2)),
        {},
        "mask has 1080 values that are not integers, such as 0.01: threshold it first, such as mask > 0.5",
    ),
    "empty": (MASK * 0, {"label": 1}, "no voxel of mask is 1 (label); it has only the value 0"),
    "an image": (
        EVERYWHERE.astype(np.int16),
        {},
        f"mask has hundreds of values, from {EVERYWHERE.min()} to {EVERYWHERE.max()}, as an image has: are the image and mask swapped? If not, "
        "make a mask of it, such as mask == 1",
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name, kind, function):
    mask, options, expected = MASKS[name]
    if isinstance(expected, str):
        refused(exactly(expected), function, kind(volume(X)), kind(volume(mask)), **options)
        return
    if function in CONNECTED and not (expected[SEED] and expected[OTHER]):
        options, expected = {"label": [1, 2]}, MASK == 1
    reference = feature_maps(X, expected) if function in MAPS else function(X, expected)
    result = function(kind(volume(X)), kind(volume(mask)), **options)
    assert np.array_equal(array_of(result), reference)
    if function in CONNECTED:
        # The result has the kind and the place of the image.
        given, back = (_image.opened(each, "an image") for each in (kind(volume(X)), result))
        assert type(result).__module__ == (
            "SimpleITK.SimpleITK" if kind.name in ("NIfTI", "NRRD") else type(given.given).__module__
        )
        if given.image.spacing is not None:
            assert _image.difference_of_grids(given.image, back.image, "the result") is None


def test_one_of_several_labels_is_missing():
    for function in (feature_maps, *CONNECTED):
        with pytest.warns(UserWarning, match=r"^no voxel of mask is 7 \(label\); it has the values 0, 1 and 2$"):
            assert np.array_equal(function(X, LABELS, label=[1, 2, 7]), function(X, MASK))


def test_masks_with_several_values(kind):
    """execute has PyRadiomics' default, label 1."""
    sentence = (
        "mask has the values 0, 1 and 2, but a mask must have 0 and one other value: say which label is meant, such as label=1 or "
        "label=[1, 2]"
    )
    x, mask = kind(volume(X)), kind(volume(LABELS))
    for function in (feature_maps, *CONNECTED, lambda x, m: voxelmaps.describe(x, m, features="glcm")):
        refused(exactly(sentence), function, x, mask)
    assert np.array_equal(feature_maps(x, mask, label=[1, 2]), feature_maps(X, MASK))
    for function in (execute, extractor) if kind.name != "array" else ():
        assert np.array_equal(function(x, mask), feature_maps(X, LABELS == 1))


def test_swapped_image_and_mask(kind):
    for function in (feature_maps, *CONNECTED) if kind.name == "array" else (*MAPS, *CONNECTED):
        image = kind(volume(EVERYWHERE.astype(np.int16)))
        if function is feature_maps:
            # A named label that the mask has is believed.
            with pytest.warns(UserWarning, match="are the image and mask swapped"):
                function(kind(volume(MASK)), image, label=int(EVERYWHERE[SEED]))
        for options in ({}, {"label": 7}):
            refused("are the image and mask swapped", function, kind(volume(MASK)), image, **options)
        # With fewer gray levels, the image has two values.
        given = kind(volume(MASK)), kind(volume(X // 3))
        refused("has 67 values, .* are the image and mask swapped", function, *given, label=1)
    # The image itself.
    x, options = kind(volume(X)), {} if kind.name != "array" else {"spacing": SPACING[::-1]}
    sentence = "^mask has the values of the image, but must say where the regions are: is it the image\\?$"
    regions = lambda x, mask, **labels: voxelmaps.region_features(x, mask, features="glcm", **labels)  # noqa: E731
    for function in (feature_maps, *CONNECTED, regions) if kind.name == "array" else (*MAPS, *CONNECTED, regions):
        refused(sentence, function, x, x, label=7)
    refused(sentence, regions, x, x)
    # Shape does not depend on intensities.
    voxelmaps.region_features(kind(volume(LABELS)), kind(volume(LABELS)), features="shape_VoxelVolume", **options)
    # An atlas has hundreds of labels.
    atlas = np.where(MASK == 1, 900, EVERYWHERE).astype(np.int16)
    assert np.array_equal(feature_maps(kind(volume(X)), kind(volume(atlas)), label=900), feature_maps(X, atlas == 900))


@pytest.mark.parametrize(
    "label, rule", [(0, "other than 0"), (1.5, "an integer"), ("all", "an integer"), ([], "at least one")]
)
def test_labels_that_are_none(label, rule):
    for function in (feature_maps, *CONNECTED):
        refused(f"label is .*{rule}", function, X, LABELS, label=label)
        refused("label is 1, but there is no mask", function, X, None, label=1)


# --- Geometry ------------------------------------------------------------------------------------------------------------


def test_grids(kind, function):
    """3e-6 mm are nothing, as between a DICOM series and a NIfTI file made from it; half a voxel is another place."""
    if kind.name == "array":
        pytest.skip("arrays have no geometry")
    near = tuple(o + 3e-6 for o in ORIGIN)
    result = function(kind(volume(X)), kind(volume(MASK, near)))
    assert np.array_equal(array_of(result), (feature_maps if function in MAPS else function)(X, MASK))
    away = (ORIGIN[0], ORIGIN[1] + 0.25, ORIGIN[2])
    sentence = (
        f"mask has the origin {away}, but the image has {ORIGIN}: corners differ by up to 0.25 mm (0.333 voxels), but only 0.001 voxels are "
        "permitted: resample mask to the grid of the image, or give it the geometry of the image if only that is wrong"
    )
    refused("^" + re.escape(sentence), function, kind(volume(X)), kind(volume(MASK, away)))
    message = r"mask has the size \(12, 10, 8\), but the image has \(12, 10, 9\)"
    refused(message, function, kind(volume(X)), kind(volume(MASK[:-1])))


@pytest.mark.parametrize("other", [name for name in KINDS if not isinstance(KINDS[name], str)])
def test_kinds_can_be_mixed(kind, other):
    mask = KINDS[other](volume(MASK))
    if (kind.name, other) in (("nibabel", "array"), ("nibabel", "MetaTensor")):
        if other == "array":
            message = "mask is an array, whose axes may be x, y, z or z, y, x, but the image is one of nibabel"
            refused(message, feature_maps, kind(volume(X)), mask, error=TypeError)
        return
    for function in (feature_maps, *CONNECTED):
        assert np.array_equal(array_of(function(kind(volume(X)), mask)), function(X, MASK))


def test_seeds_of_every_kind(kind):
    """Indices have the order of the axes, z, y, x; points are x, y, z in mm; arrays have labels."""
    x, seeds = kind(volume(X)), np.zeros(SHAPE, np.uint8)
    seeds[SEED], seeds[OTHER] = 1, 2
    strength, expected = voxelmaps.fuzzy_connectedness(X, SEED, **COMMON), labels(X, None)
    given = {1: SEED, 2: [OTHER]}
    points = {label: volume(X).point(index[::-1]) for label, index in ((1, SEED), (2, OTHER))}
    rounded = kind(volume(seeds * np.float32(0.9999)))
    options = {"tie_rule": "lowest_label", **COMMON}
    with voxelmaps.SeedSession(x, **options) as opened:
        for function in (functools.partial(voxelmaps.labels, x, **options), opened.update):
            for of_seeds in (given, kind(volume(seeds)), rounded):
                assert np.array_equal(array_of(function(of_seeds)), expected)
            if kind.name != "array":
                assert np.array_equal(array_of(function(seed_points=points)), expected)
                assert np.array_equal(array_of(function({1: SEED}, seed_points={2: points[2]})), expected)
            for wrong, sentence in (
                ({1: (9, 0, 0)}, "the seed (9, 0, 0) is not an index of the image, which has the shape (9, 10, 12) (axes z, y, x)"),
                ({70000: SEED}, "the label 70000 is not from 1 to 65535"),
                ({1: seeds == 1}, "the seeds of a label are an array of the shape of the image, but must be indices: np.argwhere(array) has them"),
                ([SEED, OTHER], "seeds is a list, but must have labels: a dict such as {1: (3, 4, 5)}, or an array"),
                ({1: SEED, 2: SEED}, "the voxel (3, 4, 5) is a seed of the labels 1 and 2, but a voxel may be a seed of one label only"),
                (kind(volume(seeds * np.float32(0.4))), "seeds has 2 values that are not integers, such as 0.4: seeds are labels, and 0 "
                 "where there is none"),
                (kind(volume(seeds * np.int32(70000))), "seeds has the value 70000, but values must be from 0 to 65535"),
                (kind(volume(X + 1)), "seeds has values other than 0 at 1080 of 1080 voxels, 198 of them, as an image has: seeds are labels of "
                 "some voxels, and 0 where there is none"),
                ({1: [SEED, (3, 4)]}, "the seed (3, 4) is not an index of the image, which has the shape (9, 10, 12) (axes z, y, x)"),
                (np.array([SEED]), "seeds is a ndarray, but must have labels: a dict such as {1: array([3, 4, 5])}, or an array"),
                ({1: np.nonzero(np.eye(3)[None])}, "the seed (0, 0, 0) is not an index of the image, which has the shape (9, 10, 12) (axes z, y, x): "
                 "numpy.argwhere has indices of voxels as rows"),
                ({1: np.nonzero(MASK)}, "the seed (2, 2, 2, 2, 2, 2, ...) is not an index of the image, which has the shape (9, 10, 12) (axes z, y, x): "
                 "numpy.argwhere has indices of voxels as rows"),
                (kind(volume(seeds * 0)), "there are no seeds: give seeds, indices of voxels or an array, or seed_points, points in mm"),
            ):  # fmt: skip
                refused(exactly(sentence), function, wrong, error=(TypeError, ValueError))
    connect = functools.partial(voxelmaps.fuzzy_connectedness, x, **COMMON)
    message = "seeds is a dict, as voxelmaps.labels has it, but must be the seeds of one object"
    refused(message, connect, given, error=TypeError)
    for wrong, sentence in (
        (kind(volume(-seeds.astype(np.int8))), "seeds has the value -1, but values must be from 0 to 65535"),
        (np.nonzero(np.eye(3)[None]), "numpy.argwhere has indices of voxels as rows"),
        (seeds[1:], "seeds has the shape (8, 10, 12), but the image has (9, 10, 12)"),
    ):
        if kind.name == "nibabel" and isinstance(wrong, np.ndarray):
            sentence = "seeds is an array, whose axes may be x, y, z or z, y, x"
        refused(re.escape(sentence), connect, wrong, error=(TypeError, ValueError))
    for of_seed in (SEED, [SEED], np.array([SEED]), kind(volume((seeds == 1).astype(np.uint8)))):
        assert np.array_equal(array_of(connect(of_seed)), strength)
    if kind.name == "array":
        message = "need the geometry of an image, but the image is an array"
        refused(message, voxelmaps.labels, x, seed_points=points, error=TypeError)
    else:
        assert np.array_equal(array_of(connect(seed_points=points[1])), strength)
        message = r"the seed point \(900.0, 0.0, 0.0\) mm is outside of the image"
        refused(message, voxelmaps.labels, x, seed_points={1: (900, 0, 0)})


def test_spacing_and_geometry_of_maps(kind):
    """radius_mm needs a spacing, which arrays do not have."""
    options = {"features": "glcm_Contrast", "crop": "mask", "radius_mm": 1}
    expected = voxelmaps.feature_maps(X, MASK, features="glcm_Contrast", neighborhood_radius=(0, 2, 1), crop="mask")
    if kind.name == "array":
        refused("radius_mm is 1, which needs the spacing", voxelmaps.feature_maps, X, MASK, **options)
        # Three voxels of 0.1 mm are 0.3 mm, whatever their sum is in binary.
        for radius_mm, sizes, radius in ((0.3, (0.1,) * 3, 3), (3, (3, 0.75, 0.5), (1, 4, 6))):
            maps = voxelmaps.feature_maps(X, features="glcm_Contrast", radius_mm=radius_mm, spacing=sizes)
            given = voxelmaps.feature_maps(X, features="glcm_Contrast", neighborhood_radius=radius)
            assert np.array_equal(maps.array, given.array)
        return
    maps = voxelmaps.feature_maps(kind(volume(X)), kind(volume(MASK)), **options)
    assert np.array_equal(maps.array, expected.array)
    cropped = volume(X).part(maps.slices)
    assert _image.difference_of_grids(cropped, _image.Image(cropped.array, *maps.geometry), "the maps") is None


def test_axes_of_a_dataarray_and_a_tensor_of_monai():
    """Maps have the axes of x, in any order; the geometry follows."""
    x, mask = (_image.to_xarray(volume(array)) for array in (X, MASK))
    expected = feature_maps(X, MASK)
    for order in itertools.permutations("zyx"):
        turned = x.transpose(*order)
        maps = voxelmaps.feature_maps(
            turned, mask, features=FEATURES[:2], bin_width=25, neighborhood_radius=1, crop="mask"
        )
        back = xarray.DataArray(maps.array, dims=("f", *order)).transpose("f", "z", "y", "x")
        assert np.array_equal(back, expected[:2])
        result = voxelmaps.labels(
            turned, {1: tuple(np.array(SEED)[["zyx".index(axis) for axis in order]])}, mask, **COMMON
        )
        assert result.dims == order and result.transpose("z", "y", "x").coords.equals(x.coords)
        back = maps[["firstorder_Mean"]].to_xarray()
        box = dict(zip(order, maps.slices))
        assert back.dims == ("feature", *order) and all(back[axis].equals(turned[axis][box[axis]]) for axis in order)
        assert maps.to_dataframe(mask).index.names == list(order)
        message = rf"which has the shape \(.*\) \(axes {', '.join(order)}\)$"
        refused(message, voxelmaps.fuzzy_connectedness, turned, (99, 0, 0))
    image = nibabel.Nifti1Image(X.T, _image.to_nibabel(volume(X)).affine)
    tensors = [MetaTensor(np.ascontiguousarray(array.T), image.affine) for array in (X, MASK)]
    maps = voxelmaps.feature_maps(*tensors, features=FEATURES[:2], bin_width=25, neighborhood_radius=1)
    assert np.array_equal(
        maps["firstorder_Mean"].T,
        voxelmaps.feature_maps(X, MASK, features="firstorder_Mean", neighborhood_radius=1).array[0],
    )
    strength = voxelmaps.fuzzy_connectedness(tensors[0], SEED[::-1], seed_points=volume(X).point(SEED[::-1]), **COMMON)
    assert np.array_equal(strength.T, voxelmaps.fuzzy_connectedness(X, SEED, **COMMON))
    assert type(strength) is MetaTensor and np.allclose(strength.affine, image.affine)
    # A batch of one channel.
    (batch,) = voxelmaps.feature_maps(tensors[0][None], tensors[1], features=FEATURES[:1]).values()
    assert np.array_equal(batch[0], voxelmaps.feature_maps(*tensors, features=FEATURES[:1]).array[0])
    lazy = MetaTensor(X, np.eye(4))
    lazy.pending_operations = [{"lazy_affine": np.eye(4) * 2}]
    for tensor, message in (
        (MetaTensor(X, np.eye(4) + np.eye(4, k=1) * 0.1), "sheared axes, with a cosine of"),
        (lazy, "^image has pending operations of MONAI: apply them"),
        (MetaTensor(X), r"image has an affine of the shape \(\), but it must be a matrix"),
        (MetaTensor(np.stack([X] * 3, -1), np.eye(4)), "whose last axis looks like 3 channels"),
    ):
        refused(message, voxelmaps.feature_maps, tensor, features="glcm")


def values_of(function, x, mask, **options):
    """All numbers that a function returns, in the order z, y, x."""
    seeds = [options.pop("seeds")] if "seeds" in options else []
    result = function(x, *seeds, mask, **options)
    if isinstance(result, voxelmaps.FeatureMaps):
        return result._image().array
    if isinstance(result, dict):
        return np.array([np.ravel(value) for value in result.values()], float)
    return array_of(result)


REGIONS, EXECUTE = voxelmaps.region_features, voxelmaps.radiomics.execute
OF_SPACE = [
    (REGIONS, {"features": ["shape_Maximum2DDiameterRow", "shape_Maximum2DDiameterSlice", "shape_MeshVolume"]}),
    (REGIONS, {"features": "glcm", "symmetric": False, "plane_axis": 1}),
    (voxelmaps.feature_maps, {"features": "glcm_Contrast", "neighborhood_radius": (0, 1, 2), "crop": "mask"}),
    (voxelmaps.feature_maps, {"features": "glcm_JointAverage", "dimension": 2, "symmetric": False, "window_size": 2, "window_anchor": (0, 1)}),
    (voxelmaps.labels, {"seeds": {1: SEED, 2: OTHER}, "crop_to_seeds": True, "crop_margin": (0, 1, 2), **COMMON}),
    *((EXECUTE, {"featureClass": {"glcm": ["Contrast"]}, "voxelBased": False, "additionalInfo": False, **settings})
      for settings in ({"force2D": True, "force2Ddimension": 2}, {"imageType": ["Wavelet"]}, {"symmetricalGLCM": False})),
]  # fmt: skip


@pytest.mark.parametrize("function, options", OF_SPACE)
def test_settings_that_mean_an_axis_are_those_of_space(function, options):
    """Whatever the order of named axes, and of the axes of a tensor of MONAI, which are x, y, z in files."""
    straight = tuple(np.eye(3).ravel())
    volumes = [_image.Image(array, SPACING, ORIGIN, straight) for array in (X, MASK)]
    expected = values_of(function, *map(_image.to_simpleitk, volumes), **of_order(options, (0, 1, 2)))
    for order in itertools.permutations(range(3)):
        given = [_image.to_xarray(each).transpose(*("zyx"[axis] for axis in order)) for each in volumes]
        # Arrays have the order of the image.
        arrays = [given[1].values] if function is not EXECUTE else []
        for mask in (given[1], _image.to_simpleitk(volumes[1]), *arrays):
            found = values_of(function, given[0], mask, **of_order(options, order))
            np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=str(order))
    affine = _image.to_nibabel(volumes[0]).affine
    tensors = [MetaTensor(np.ascontiguousarray(each.array.T), affine) for each in volumes]
    np.testing.assert_allclose(values_of(function, *tensors, **of_order(options, (2, 1, 0))), expected, rtol=1e-12)


def of_order(options, order):
    """The options with indices of seeds in the order of the axes of an array."""
    turn = lambda index: tuple(index[axis] for axis in order)  # noqa: E731
    if "seeds" not in options:
        return options
    return {**options, "seeds": {label: turn(index) for label, index in options["seeds"].items()}}


class Subject(dict):
    """What is used of an image of TorchIO, which is a dict with a channel, x, y and z."""

    def __init__(self, image):
        self.image = image

    def __array__(self, dtype=None, copy=None):
        return self.image.array.T[None]

    def as_sitk(self):
        return _image.to_simpleitk(self.image)


def test_images_of_torchio(function):
    result = function(Subject(volume(X)), Subject(volume(MASK)))
    assert np.array_equal(array_of(result), (feature_maps if function in MAPS else function)(X, MASK))
    of_seeds = Subject(volume(MASK))
    assert np.array_equal(
        array_of(voxelmaps.fuzzy_connectedness(Subject(volume(X)), of_seeds, **COMMON)),
        voxelmaps.fuzzy_connectedness(X, MASK, **COMMON),
    )


def test_masks_without_a_region(kind):
    x, nothing, options = (
        kind(volume(X)),
        kind(volume(MASK * 0)),
        {"features": "glcm_Contrast", "neighborhood_radius": 1},
    )
    with pytest.warns(UserWarning, match="^no voxel of mask is other than 0, so that maps are background"):
        maps = voxelmaps.feature_maps(x, nothing, background_value=-3, **options)
    assert (maps.array == -3).all()
    for mask, label in ((nothing, None), (nothing, 1), (kind(volume(MASK)), 7)):
        maps = voxelmaps.feature_maps(x, mask, label=label, empty="background", **options)
        assert not maps.array.any()
        refused("no voxel of mask is", voxelmaps.feature_maps, x, mask, label=label, empty="error", **options)


@pytest.mark.parametrize(
    "axis, positions, message",
    [
        ("z", [0, 1, 2, 3, 4, 5, 6, 7, 9], "along the axis z must be evenly spaced within 1 %.* that from 7 to 9 is 2"),
        ("x", 1.005 * np.arange(12.0) - (np.arange(12) > 0) * 0.005, None),
        ("x", np.arange(12)[::-1], "along the axis x must increase, but begin with 11, 10: sort them"),
        ("x", [0, 1, 2, 3, np.nan, 5, 6, 7, 8, 9, 10, 11], "along the axis x must be finite"),
        ("x", list("abcdefghijkl"), "along the axis x must be numbers in mm, but are <U1"),
        ("x", (np.float32(0.3) * np.arange(12, dtype=np.float32) + np.float32(300)).astype(np.float32), None),
    ],
)
def test_coordinates(axis, positions, message):
    given = _image.to_xarray(volume(X)).assign_coords({axis: positions})
    for function in (feature_maps, *CONNECTED):
        mask = given.copy(data=MASK)
        if message is None:
            function(given, mask)
            continue
        refused(message, function, given, mask)
        refused(message.replace("x: coord", "mask: coord"), function, _image.to_itk(volume(X)), mask)


@pytest.mark.parametrize(
    "unit, length", [("mm", 1), ("m", 1000), ("Metres", 1000), ("cm", 10), ("degrees_north", None)]
)
def test_units_of_coordinates(unit, length):
    given = _image.to_xarray(volume(X))
    axes = {axis: (axis, given[axis].values / (length or 1), {"units": unit}) for axis in "zyx"}
    given = given.assign_coords(axes)
    for function in (feature_maps, *CONNECTED):
        if length is None:
            message = "coordinates along the axis z have the unit 'degrees_north'"
            refused(message, function, given, None if function in CONNECTED else MASK)
            continue
        result = function(given, given.copy(data=MASK))
        assert np.allclose(array_of(result), function(X, MASK), rtol=1e-6, atol=0)
        assert function is feature_maps or all(result[axis].identical(given[axis]) for axis in "zyx")


def test_spacing_as_an_attribute():
    x = xarray.DataArray(X, dims=("z", "y", "x"), attrs={"spacing": SPACING[::-1]})
    assert np.array_equal(feature_maps(x, MASK), feature_maps(X, MASK))
    for wrong in ((1, 2), (1, -2, 3), "1 2 3", {"z": 1, "y": 2}):
        message = "^image: in its attributes, (a value of )?spacing is"
        refused(message, feature_maps, x.assign_attrs(spacing=wrong), MASK)
    for attributes, message in (
        ({"spacing": (3, 1, 1)}, "along the axis z have the step 1 mm, but the attribute spacing is 3: delete one"),
        (
            {"direction": 2 * np.eye(3)},
            r"^the attribute direction of image must have columns of the length 1, but is \[\[2",
        ),
    ):
        wrong = xarray.DataArray(X, {"z": np.arange(9)}, ("z", "y", "x"), attrs={"spacing": (1, 1, 1), **attributes})
        refused(message, feature_maps, wrong, MASK)
    for function in (feature_maps, *CONNECTED):
        for given in ((x.to_dataset(name="ct"), MASK), (x, x.to_dataset(name="ct"))):
            message = "^(image|mask) is a Dataset of xarray: choose one of its variables"
            refused(message, function, *given, error=TypeError)
    message = r"attribute direction of image has 9 numbers, but it has 2 axes"
    refused(message, voxelmaps.feature_maps, _image.to_xarray(volume(X)).isel(z=3), features="glcm")


# --- Intensities ---------------------------------------------------------------------------------------------------------


def test_nan_and_infinity(kind):
    if kind.name == "NIfTI" and np.isfinite(_image.load(kind(volume(WITH_NAN)), "x")[0].array).all():
        pytest.skip("ITK reads NaN of NIfTI as 0")
    mask = kind(volume(MASK))
    present = np.isfinite(WITH_NAN) & (MASK == 1)
    with pytest.warns(
        UserWarning, match="^image is NaN at 1 voxel inside mask, which is absent as those outside$"
    ) as caught:
        result = feature_maps(kind(volume(WITH_NAN)), mask)
    assert np.array_equal(result, feature_maps(X, present))
    assert [each.filename for each in caught if each.category is UserWarning] == [__file__]
    functions = (feature_maps,) if kind.name == "array" else MAPS
    remedy = r"leave them out of mask, such as mask & np\.isfinite\(image\)"
    for function in (*functions, *CONNECTED):
        refused(f"^image is infinite at 2 voxels inside mask: {remedy}$", function, kind(volume(WITH_INF)), mask)
    for function in CONNECTED:
        with pytest.warns(UserWarning, match="^image is NaN at 1 voxel inside mask"):
            function(kind(volume(WITH_NAN)), mask)
    for function in functions[1:]:
        refused(f"^image is NaN at 1 voxel inside mask: {remedy}$", function, kind(volume(WITH_NAN)), mask)
    nothing = np.where(MASK == 1, np.nan, X).astype(np.float32)
    message = "^image is NaN at all {}, so that there are no intensities$"
    for function in (feature_maps, *CONNECTED):
        refused(message.format("120 voxels inside mask"), function, kind(volume(nothing)), mask)
    nothing = np.full(SHAPE, np.nan, np.float32)
    levels = {"features": "firstorder_Mean", "bin_edges": [0, 1]}
    for function in (*CONNECTED, lambda x, mask: voxelmaps.feature_maps(x, **levels)):
        refused(message.format("1080 voxels"), function, kind(volume(nothing)), None)
    nothing = np.where(np.indices(SHAPE)[2] == SEED[2], np.nan, X).astype(np.float32)
    for function in CONNECTED:
        refused(r"^the seed \(3, 4, 5\).* has no intensity, but NaN$", function, kind(volume(nothing)), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Outside of the mask.
        outside = np.where(MASK == 1, X, np.nan).astype(np.float32)
        outside[0, 0, 0] = np.inf
        assert np.array_equal(feature_maps(kind(volume(outside)), mask), feature_maps(X, MASK))
        voxelmaps.feature_maps(WITH_NAN, features="firstorder_Mean")
    refused("^image is infinite at 2 voxels: ", voxelmaps.feature_maps, WITH_INF, features="glcm")


# --- Axes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(9, 10, 12, 1), (64, 48, 3), (10, 9, 4), (2, 9, 10, 12, 2)])
def test_arrays_that_look_like_color(shape):
    x = np.random.default_rng(0).integers(0, 200, shape).astype(np.int16)
    message = f"image has the shape {re.escape(str(shape))}, whose last axis looks like {shape[-1]} channel"
    functions = [lambda **options: voxelmaps.feature_maps(x, features="firstorder_Mean", **options)]
    if len(shape) == 3:
        functions += [
            lambda **options: voxelmaps.fuzzy_connectedness(x, (0, 0, 0), **COMMON, **options),
            lambda **options: voxelmaps.labels(
                x, {1: (0, 0, 0), 2: (1, 1, 1)}, tie_rule="lowest_label", **COMMON, **options
            ),
        ]
    for function in functions:
        refused(message, function)
        function(spacing=(1, 1, 1))
    voxelmaps.feature_maps(x, features="firstorder_Mean", dimension=3)
    for shape in ((8, 1, 1), (1, 8, 1), (1, 1, 8), (8, 1), (9, 5, 3), (3, 64, 64)):
        assert voxelmaps.feature_maps(np.zeros(shape, np.int16), features="firstorder_Mean").array.shape == (1, *shape)


def test_dataarrays_with_axes_that_are_not_of_space():
    x = xarray.DataArray(X, dims=("t", "y", "x"))
    for function in (*CONNECTED, lambda x, mask: voxelmaps.feature_maps(x, features="glcm")):
        refused("image has the axis t among t, y, x, but images have the axes z, y, x or y, x", function, x, None)
    message = "image has voxels of 12 components"
    refused(message, voxelmaps.feature_maps, x.rename(x="c"), features="glcm", error=TypeError)
    slices = voxelmaps.feature_maps(xarray.DataArray(X, dims=("t", "y", "x")), features="glcm", dimension=2).array
    assert np.array_equal(slices[:, 3], voxelmaps.feature_maps(X[3], features="glcm").array)


# --- Arrays and lines ----------------------------------------------------------------------------------------------------


class Tensor:
    """Has only __array__, and a type that is not NumPy's."""

    dtype = "tensor.int64"

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">f4", "f2", "f4", "f8"])
def test_types_and_layouts(dtype):
    x = (X // 2).astype(dtype)
    mask = (MASK * (1 if dtype == "?" else 5)).astype(dtype)
    changes = [lambda a: a, lambda a: a[::-1].copy()[::-1], lambda a: a.copy(order="F"), Tensor]
    # Read-only.
    changes.append(lambda a: np.broadcast_to(a, a.shape))
    for function in (feature_maps, *CONNECTED):
        expected = function(x.astype(np.float64), MASK == 1)
        for change in changes:
            options = {"spacing": SPACING[::-1]} if function is feature_maps and change is Tensor else {}
            assert np.array_equal(function(change(x), change(mask), **options), expected)


@pytest.mark.parametrize("settings", [{"normalize": True, "binWidth": 0.2}, {"resampledPixelSpacing": [1, 1, 3]}])
@pytest.mark.parametrize("dtype", [">i2", ">f4", "f2"])
def test_types_of_execute(dtype, settings):
    """SimpleITK has no values of these types."""
    x = _image.to_xarray(volume(X.astype(dtype)))
    reference = volume(X.astype({"f2": "f4"}.get(dtype, dtype[1:])))
    mask = _image.to_xarray(volume(MASK.astype(">f8")))
    expected = execute(_image.to_simpleitk(reference), _image.to_simpleitk(volume(MASK)), **settings)
    assert np.array_equal(execute(x, mask, **settings), expected)


@pytest.mark.parametrize("unit", ["mm", "meter", "micron", "unknown"])
@pytest.mark.parametrize("array", [X, X[3]])
def test_headers_of_nibabel(unit, array):
    """Results have the header of the image; in memory, its affine can be changed."""
    x = nibabel.Nifti1Image(array.T, _image.to_nibabel(volume(X)).affine)
    x.header.set_xyzt_units(unit)
    result = voxelmaps.fuzzy_connectedness(x, SEED[-array.ndim :], **COMMON)
    assert np.array_equal(result.affine, x.affine) and result.header.get_xyzt_units()[0] == unit
    x.affine[:3, 3] += 1
    origin = {"meter": 1e3, "micron": 1e-3}.get(unit, 1) * np.array([-1, -1, 1]) * x.affine[:3, 3]
    assert np.allclose(_image.opened(x, "x").image.origin, origin[: array.ndim])


@pytest.mark.parametrize("kind", ["MGHImage", "Spm99AnalyzeImage", "Nifti2Image", "Minc1Image"])
def test_labels_have_a_type_of_their_format(kind):
    """MGH and Analyze have no 16-bit unsigned integers."""
    make = getattr(nibabel, kind)
    x = make(X.T.astype(np.float32), np.diag([0.75, 0.5, 3, 1]))
    result = labels(x, None)
    assert np.array_equal(np.asarray(result.dataobj).T, labels(X, None))
    strength = voxelmaps.fuzzy_connectedness(x, SEED, precision="double", **COMMON)
    assert np.array_equal(
        np.asarray(strength.dataobj).T, voxelmaps.fuzzy_connectedness(X, SEED, precision="double", **COMMON)
    )


@pytest.mark.parametrize("name", MASKS)
def test_masks_of_libraries(name, library):
    mask, options, expected = MASKS[name]
    for x, dtype in itertools.product((X, X.astype(np.float32)), ("uint8", "uint16", "int32", "int64", "float64")):
        is_exact = np.array_equal(mask.astype(dtype), mask)
        given = library(x), library(mask.astype(dtype) if is_exact else mask)
        if isinstance(expected, str):
            refused(exactly(expected), voxelmaps.feature_maps, *given, features=FEATURES, bin_width=25, **options)
            continue
        maps = voxelmaps.feature_maps(*given, features=FEATURES, bin_width=25, **options)
        reference = voxelmaps.feature_maps(x, expected, features=FEATURES, bin_width=25, device="cpu")
        assert np.array_equal(to_numpy(maps.array), reference.array)


def test_nan_and_infinity_of_libraries(library):
    mask = library(MASK)
    with pytest.warns(UserWarning, match="^image is NaN at 1 voxel inside mask"):
        maps = voxelmaps.feature_maps(library(WITH_NAN), mask, features="firstorder_Mean")
    reference = voxelmaps.feature_maps(X, np.isfinite(WITH_NAN) & (MASK == 1), features="firstorder_Mean")
    assert np.array_equal(to_numpy(maps.array), reference.array)
    message = "^image is infinite at 2 voxels inside mask"
    refused(message, voxelmaps.feature_maps, library(WITH_INF), mask, features="firstorder_Mean")


@pytest.mark.parametrize(
    "selection, sentence",
    [
        (MASK * 0, "no voxel of selection is other than 0; it has only the value 0"),
        (1 - MASK, "no voxel of selection is inside mask, so that there is nothing to compute"),
        (X, f"selection has hundreds of values, from {X.min()} to {X.max()}, as an image has: are the image and selection swapped? If not, make a "
         "mask of it, such as selection == 1"),
    ],
)  # fmt: skip
def test_selections_that_mean_nothing(selection, sentence, kind):
    x, mask = kind(volume(X)), kind(volume(MASK))
    for function in (feature_maps, lambda *given, **options: voxelmaps.describe(*given, features="glcm", **options)):
        refused(exactly(sentence), function, x, mask, selection=kind(volume(selection)))


def test_values_that_are_not_exact():
    regions = lambda x, mask: voxelmaps.region_features(x, MASK, features="firstorder_Range")  # noqa: E731
    maps = lambda x, mask: voxelmaps.feature_maps(x, mask, features="firstorder_Range")  # noqa: E731
    for function in (maps, regions, *CONNECTED):
        function(np.full(SHAPE, 2**53), None)
        message = "image has uint64 values from .*, which cannot be converted to float64 without a change"
        refused(message, function, np.full(SHAPE, 2**64 - 1, np.uint64), None)
    masked = np.ma.masked_equal(X, 0)
    for function in (maps, *CONNECTED):
        for arguments in ((masked, None), (X, masked)):
            refused("masked array", function, *arguments, error=TypeError)
        for wrong in (np.complex64, np.longdouble, "U1", object):
            message = "must be real numbers of at most 64 bits"
            refused(message, function, np.zeros(SHAPE, wrong), None, error=TypeError)


@pytest.mark.parametrize("shape", [(8, 1, 1), (1, 8, 1), (1, 1, 8)])
def test_lines_of_voxels_keep_their_axes(shape, kind):
    line, ones = np.arange(8, dtype=np.int16).reshape(shape), np.ones(shape, np.uint8)
    maps = voxelmaps.feature_maps(
        kind(volume(line)), kind(volume(ones)), features="firstorder_Mean", neighborhood_radius=1
    )
    assert np.array_equal(maps.array, np.reshape([0.5, 1, 2, 3, 4, 5, 6, 6.5], (1, *shape)))
    result = voxelmaps.labels(kind(volume(line)), kind(volume(ones)), minimum_strength=0.01, **COMMON)
    assert np.array_equal(array_of(result), ones)


def test_regions_of_itk_that_do_not_start_at_zero():
    image = _image.to_itk(volume(X))
    region = image.GetLargestPossibleRegion()
    region.SetIndex([2, -3, 1])
    image.SetRegions(region)
    start = list(image.TransformIndexToPhysicalPoint([2, -3, 1]))
    result = labels(image, MASK)
    assert np.array_equal(array_of(result), labels(X, MASK))
    for get in ("GetLargestPossibleRegion", "GetOrigin", "GetSpacing", "GetDirection"):
        assert getattr(result, get)() == getattr(image, get)()
    maps = voxelmaps.feature_maps(image, MASK, features="glcm", crop="mask", neighborhood_radius=1)
    moved = _image.Image(X, SPACING, tuple(start), DIRECTION).part(maps.slices)
    assert np.allclose(maps.geometry.origin, moved.origin, rtol=0, atol=1e-9)
