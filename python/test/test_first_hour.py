# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What a new user meets in the first hour: plausible mistakes, and the answers, whose texts all stand here."""

import re
import warnings

import itk
import numpy as np
import pytest
import voxelmaps
from voxelmaps import _cli as program
from voxelmaps import radiomics
from voxelmaps.radiomics._settings import SETTINGS


@pytest.fixture(scope="module")
def image():
    """A head of two gray values with noise, with spacing."""
    random = np.random.default_rng(0)
    image = itk.image_from_array((random.integers(0, 40, (8, 9, 10)) + 100 * (np.arange(10) > 4)).astype(np.int16))
    image.SetSpacing([0.5, 0.75, 3.0])
    return image


ARRAY = np.random.default_rng(1).integers(0, 200, (8, 9, 10)).astype(np.int16)


def bright(image):
    """A mask of 0 and 255."""
    mask = itk.image_from_array((255 * (itk.array_from_image(image) > 20)).astype(np.uint8))
    mask.CopyInformation(image)
    return mask


# Call, error and its text.
MISTAKES = [
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", radius=2),
        TypeError,
        "feature_maps has no parameter radius (did you mean radius_mm or neighborhood_radius?)",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", binWidth=2),
        TypeError,
        "feature_maps has no parameter binWidth (did you mean bin_width?)",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="ngtdm_Busynes"),
        ValueError,
        "class ngtdm has no feature 'Busynes' (did you mean Busyness?); choose from Busyness, Coarseness, Complexity, Contrast, Strength",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="Coarseness"),
        ValueError,
        "there is no class 'Coarseness' of features (did you mean ngtdm_Coarseness?); choose from firstorder, glcm, gldm, glrlm, glszm, "
        "ngtdm",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", neighborhood_radius=-1),
        ValueError,
        "neighborhood_radius is -1, but must be one integer from 0 to 65535, or 3 of them, one per axis",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", radius_mm=2),
        ValueError,
        "radius_mm is 2, which needs the spacing, the size of a voxel along each axis in mm",
    ),
    (
        lambda image: voxelmaps.feature_maps(image, features="glcm", radius_mm=0.4),
        ValueError,
        "radius_mm is 0.4, which reaches no neighbor of a voxel: its sizes are (3.0, 0.75, 0.5) mm",
    ),
    (
        lambda image: voxelmaps.feature_maps(image, features="glcm", radius_mm=2, neighborhood_radius=1),
        ValueError,
        "neighborhood_radius and radius_mm are given, but only one can be",
    ),
    (
        lambda image: voxelmaps.describe(image, bin_with=2),
        TypeError,
        "describe has no parameter bin_with (did you mean bin_width?)",
    ),
    (
        lambda image: voxelmaps.describe(np.full((4, 4), np.nan), features="glcm"),
        ValueError,
        "no voxel of x inside the mask has a finite intensity",
    ),
    (
        lambda image: voxelmaps.feature_maps("no-such-file.nii.gz", features="glcm"),
        FileNotFoundError,
        "x no-such-file.nii.gz does not exist",
    ),
    (
        lambda image: voxelmaps.feature_maps(
            image, itk.image_from_array(np.ones((8, 9, 10), np.uint8)), features="glcm"
        ),
        ValueError,
        "mask has the spacing (1.0, 1.0, 1.0), but x has (0.5, 0.75, 3.0)",
    ),
    (
        lambda image: radiomics.execute(image, image, {"setting": {"binwidht": 5}}),
        ValueError,
        f"setting binwidht is not known (did you mean binWidth?); choose from {', '.join(SETTINGS)}",
    ),
    (
        lambda image: radiomics.execute(image, image, featureClass={"glcm": ["Contrst"]}),
        ValueError,
        "feature Contrst of glcm is not known (did you mean Contrast?); choose from Autocorrelation, ClusterProminence, ClusterShade, "
        "ClusterTendency, Contrast, Correlation, DifferenceAverage, DifferenceEntropy, DifferenceVariance, Id, Idm, Idmn, Idn, Imc1, "
        "Imc2, InverseVariance, JointAverage, JointEnergy, JointEntropy, MaximumProbability, SumAverage, SumEntropy, SumSquares, MCC",
    ),
    (
        lambda image: radiomics.execute(image, image, imageType={"Wavlet": {}}),
        ValueError,
        "imageType Wavlet is not known (did you mean Wavelet?); choose from Original, LoG, Wavelet, Square, SquareRoot, Logarithm, "
        "Exponential, Gradient, LBP2D, LBP3D",
    ),
    (
        lambda image: radiomics.execute(image, image, voxelBased=False),
        ValueError,
        "voxelBased is False, but only maps are computed here; PyRadiomics computes the values of a region",
    ),
    (
        lambda image: voxelmaps.labels(ARRAY, {1: (0, 0, 0)}, tie_rules="background"),
        TypeError,
        "labels has no parameter tie_rules (did you mean tie_rule?)",
    ),
    (
        lambda image: voxelmaps.labels(ARRAY, {1: (0, 0, 0)}, competition="iterativ"),
        ValueError,
        "competition is 'iterativ' (did you mean iterative?), but must be one of relative, iterative",
    ),
    (
        lambda image: voxelmaps.fuzzy_connectedness(ARRAY, (0, 0, 0), seed=(0, 0, 0)),
        TypeError,
        "fuzzy_connectedness has no parameter seed (did you mean seeds or seed_points?)",
    ),
    (
        lambda image: voxelmaps.fuzzy_connectedness(image, seed_points=(1, 2)),
        ValueError,
        "a seed point is (1, 2), but must be 3 finite numbers x, y, z in mm, or a list of such points",
    ),
    (
        lambda image: voxelmaps.fuzzy_connectedness(ARRAY),
        ValueError,
        "there are no seeds: give seeds, indices of voxels, or seed_points, points in mm",
    ),
    (
        lambda image: voxelmaps.labels(image, seed_points=[(1, 2, 3)]),
        TypeError,
        "seed_points must be a dict of labels and points in mm, and seeds a dict or left out",
    ),
    (
        lambda image: voxelmaps.SeedSession(ARRAY, tie_rules="background"),
        TypeError,
        "a SeedSession has no parameter tie_rules (did you mean tie_rule?)",
    ),
    (
        lambda image: voxelmaps.SeedSession(ARRAY, estimate_affinity_from_seeds=False).update({1: (0, 0, 0)}),
        ValueError,
        "there is no affinity: give object_mean, object_variance and difference_variance, or leave out "
        "estimate_affinity_from_seeds=False",
    ),
    (
        lambda image: voxelmaps.SeedSession(itk.xarray_from_image(image).isel(z=3)),
        ValueError,
        "the attribute direction of the DataArray has the shape (3, 3), but the DataArray has 2 axes, as after isel(z=10): keep the "
        "axis, isel(z=[10]), or delete the attribute, del x.attrs['direction']",
    ),
]

# Masks of 0 and 255, as painted by some programs.
for call, what, rule in (
    (lambda x, mask: voxelmaps.SeedSession(x, mask_image=mask), "mask_image", "inside_pixel_value"),
    (radiomics.execute, "the mask", "setting label"),
):
    text = f"no voxel of {what} is 1 ({rule}); it has the values 0 and 255"
    MISTAKES.append((lambda image, call=call: call(image, bright(image)), ValueError, text))


@pytest.mark.parametrize(
    "call, error, text", MISTAKES, ids=[f"{i} {text[:60]}" for i, (_, _, text) in enumerate(MISTAKES)]
)
def test_mistakes(call, error, text, image):
    with pytest.raises(error) as caught:
        call(image)
    assert str(caught.value) == text


# Parameters of classes of features, and the classes that they belong to.
CLASS_PARAMETERS = {
    "distances": ([2], {"glcm", "gldm", "ngtdm"}),
    "aggregation": ("merge", {"glcm", "glrlm"}),
    "symmetric": (False, {"glcm"}),
    "alpha": (1, {"gldm"}),
    "voxel_array_shift": (100, {"firstorder"}),
}
# Ways to discretize that exclude each other, and whether the range of intensities has an effect on them.
DISCRETIZATIONS = {
    "bin_width": (10, True),
    "number_of_gray_levels": (7, True),
    "bin_edges": ([0, 50, 100], False),
    "gray_levels": (200, False),
}


def test_every_parameter_has_an_effect_or_is_an_error():
    classes = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")
    default = {name: voxelmaps.feature_maps(ARRAY, features=name).array for name in classes}
    for parameter, (value, of_classes) in CLASS_PARAMETERS.items():
        for name in classes:
            if name in of_classes:
                changed = voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value}).array
                assert not np.array_equal(changed, default[name], equal_nan=True), (parameter, name)
            else:
                with pytest.raises(
                    ValueError, match=f"{parameter} is .* has no effect on features of {name}; it belongs to"
                ):
                    voxelmaps.feature_maps(ARRAY, features=name, **{parameter: value})
    for parameter, (value, has_range) in DISCRETIZATIONS.items():
        changed = voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value}).array
        assert not np.array_equal(changed, default["glcm"], equal_nan=True), parameter
        for other, (other_value, _) in DISCRETIZATIONS.items():
            if other != parameter:
                with pytest.raises(
                    ValueError, match="are given, but only one can say how intensities become gray levels"
                ):
                    voxelmaps.feature_maps(ARRAY, features="glcm", **{parameter: value, other: other_value})
        given = {"features": "glcm", parameter: value, "intensity_range": (20, 90)}
        if has_range:
            assert not np.array_equal(voxelmaps.feature_maps(ARRAY, **given).array, changed, equal_nan=True)
        else:
            with pytest.raises(ValueError, match=f"intensity_range is .* has no effect with {parameter}"):
                voxelmaps.feature_maps(ARRAY, **given)


def test_radius_in_millimeters(image):
    for radius_mm, radius in ((0.8, (0, 1, 1)), (3, (1, 4, 6)), (1.5, (0, 2, 3))):
        maps = voxelmaps.feature_maps(image, features="glcm_Contrast", radius_mm=radius_mm)
        expected = voxelmaps.feature_maps(image, features="glcm_Contrast", neighborhood_radius=radius)
        np.testing.assert_array_equal(maps.array, expected.array)
    # Three voxels of 0.1 mm are 0.3 mm, whatever their sum is in binary.
    maps = voxelmaps.feature_maps(ARRAY, features="glcm_Contrast", radius_mm=0.3, spacing=(0.1, 0.1, 0.1))
    expected = voxelmaps.feature_maps(ARRAY, features="glcm_Contrast", neighborhood_radius=3)
    np.testing.assert_array_equal(maps.array, expected.array)


def test_describe(image):
    x = itk.array_from_image(image).astype(np.float32)
    mask = np.zeros(x.shape, np.uint8)
    mask[2:6, 2:8, 1:9] = 255
    x[3, 3, 3] = np.nan
    settings = {"features": "glcm", "bin_width": 10, "crop": "mask", "neighborhood_radius": 1}
    description = voxelmaps.describe(x, mask, **settings)
    maps = voxelmaps.feature_maps(x, mask, **settings)
    inside = x[mask > 0]
    assert (description.minimum, description.maximum) == (np.nanmin(inside), np.nanmax(inside))
    assert description.levels == np.nanmax(inside) // 10 - np.nanmin(inside) // 10 + 1
    assert description.region_voxels == inside.size
    assert description.maps == list(maps) and description.map_shape == maps["glcm_Contrast"].shape
    assert description.map_bytes == maps.array.nbytes and description.window == (3, 3, 3)
    lines = str(description).splitlines()
    assert lines[1] == "region: 192 voxels, intensities 0 to 139, 14 gray levels"
    assert lines[-2:] == [
        "warning: 1 of 192 voxels inside the mask are NaN, and absent as those outside",
        "warning: the mask has the values 0, 255: all voxels other than 0 are inside, so choose a label, such as mask == 1",
    ]


def test_describe_warns_of_levels():
    x = ARRAY / 1000
    text = "all intensities are in one bin of the width 25, so that there is no texture"
    assert voxelmaps.describe(x).warnings[0].startswith(text)
    assert len(voxelmaps.describe(x).maps) > 90
    assert voxelmaps.describe(x, features="firstorder").warnings == []
    assert voxelmaps.describe(ARRAY, bin_width=10).warnings == []
    (many,) = voxelmaps.describe(ARRAY, number_of_gray_levels=1000).warnings
    assert many.startswith("there are 1000 gray levels, but a window has 125 voxels")
    with pytest.warns(UserWarning, match=text) as caught:
        voxelmaps.feature_maps(x, features="glcm")
    assert caught[0].filename == __file__


def test_describe_parts_of_batches():
    x = np.stack([ARRAY, 2 * ARRAY])
    selection = np.zeros(ARRAY.shape, bool)
    selection[4, 2:5] = True
    description = voxelmaps.describe(x, features="glcm_Contrast", bin_width=25, dimension=3, selection=selection)
    assert description.region_voxels == 2 * selection.sum() and description.map_shape == x.shape
    assert description.levels == 2 * ARRAY.max() // 25 - 2 * ARRAY.min() // 25 + 1
    nothing = voxelmaps.describe(ARRAY, features="glcm", selection=np.zeros(ARRAY.shape))
    assert nothing.region_voxels == 0 and nothing.levels == ARRAY.max() // 25 - ARRAY.min() // 25 + 1


def test_voxel_based_is_left_over(image):
    mask = itk.image_from_array((itk.array_from_image(image) > 20).astype(np.uint8))
    mask.CopyInformation(image)
    one = {"featureClass": {"firstorder": ["Mean"]}, "additionalInfo": False}
    expected = radiomics.execute(image, mask, **one)
    for given in (
        {"voxelBased": True},
        {"params": {"setting": {"voxelBased": True}}},
        {"params": {"voxelSetting": {"voxelBased": True}}},
    ):
        maps = radiomics.execute(image, mask, **one, **given)
        np.testing.assert_array_equal(*(each["original_firstorder_Mean"] for each in (maps, expected)))


def test_many_ties_are_a_warning():
    x = np.array([[0, 0, 9, 9, 9, 9, 0, 0]], np.uint8)
    seeds = {1: (0, 0), 2: (0, 7)}

    def compute(**parameters):
        return voxelmaps.labels(x, seeds, affinity="absolute_difference", **parameters)

    text = "4 of 8 voxels have no label, since several labels have the same claim to them, or no seed reaches them: "
    for given, advice in (
        ({}, "competition='iterative' leaves fewer ties, and "),
        ({"competition": "iterative"}, ""),
    ):
        with pytest.warns(UserWarning) as caught:
            compute(**given)
        assert str(caught[0].message) == f"{text}{advice}tie_rule='lowest_label' labels all ties"
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(tie_rule="lowest_label")
        compute(minimum_strength=0.5)
        compute(mask=np.array([[1, 1, 0, 0, 0, 0, 1, 1]]))


def test_images_and_paths_for_feature_maps(image, tmp_path):
    array = itk.array_from_image(image)
    mask = itk.image_from_array((array > 20).astype(np.uint8))
    mask.CopyInformation(image)
    features = ["firstorder_TotalEnergy", "glcm_Contrast"]
    expected = voxelmaps.feature_maps(array, array > 20, features=features, spacing=(3.0, 0.75, 0.5))
    paths = [tmp_path / "image.nii.gz", tmp_path / "mask.nrrd"]
    for each, path in zip((image, mask), paths):
        itk.imwrite(each, str(path))
    sitk = pytest.importorskip("SimpleITK")
    for x, of_mask in (
        (image, mask),
        paths,
        map(str, paths),
        [sitk.ReadImage(str(path)) for path in paths],
        (image, array > 20),
    ):
        maps = voxelmaps.feature_maps(x, of_mask, features=features)
        assert isinstance(maps.array, np.ndarray)
        np.testing.assert_array_equal(maps.array, expected.array)
    colors = itk.image_from_array(np.zeros((8, 9, 10, 3), np.uint8), is_vector=True)
    with pytest.raises(TypeError, match="x has voxels of 3 components, but they must be scalars"):
        voxelmaps.feature_maps(colors, features="glcm")


def test_version_and_public_names():
    assert re.fullmatch(r"\d+\.\d+\.\d+", voxelmaps.__version__)
    assert set(voxelmaps.__all__) <= set(dir(voxelmaps))


# --- Seeds -------------------------------------------------------------------------------------------------------------


def test_seed_points(image):
    image = itk.image_duplicator(image)
    image.SetOrigin([-20.0, 10.0, 5.0])
    image.SetDirection(itk.matrix_from_array(np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])))
    array = itk.array_from_image(image)
    indices = [[2, 3, 1], [7, 8, 6]]
    points = [image.TransformIndexToPhysicalPoint(index) for index in indices]
    # Not in the middle of a voxel.
    points = [[p[0] + 0.2, p[1] - 0.2, p[2] + 1.4] for p in points]
    as_axes = [tuple(reversed(index)) for index in indices]
    affinity = {"object_mean": 20, "object_variance": 100, "difference_variance": 100}
    sitk = pytest.importorskip("SimpleITK")
    for_simpleitk = sitk.GetImageFromArray(array)
    for_simpleitk.SetSpacing(tuple(image.GetSpacing()))
    for_simpleitk.SetOrigin(tuple(image.GetOrigin()))
    for_simpleitk.SetDirection(itk.array_from_matrix(image.GetDirection()).ravel().tolist())

    expected = voxelmaps.fuzzy_connectedness(array, as_axes, **affinity)
    for x in (image, for_simpleitk):
        np.testing.assert_array_equal(voxelmaps.fuzzy_connectedness(x, seed_points=points, **affinity), expected)
        one = voxelmaps.fuzzy_connectedness(x, as_axes[0], seed_points=points[1], **affinity)
        np.testing.assert_array_equal(one, expected)

    expected = voxelmaps.labels(array, {1: as_axes[0], 2: as_axes[1]}, **affinity, tie_rule="lowest_label")
    seeds = itk.image_from_array(np.zeros(array.shape, np.uint8))
    seeds.CopyInformation(image)
    for label, index in enumerate(indices, 1):
        seeds.SetPixel(index, label)
    settings = {**affinity, "tie_rule": "lowest_label"}
    for given in (
        {"seed_points": {1: points[0], 2: [points[1]]}},
        {"seeds": {1: as_axes[0]}, "seed_points": {2: points[1]}},
        {"seeds": seeds},
    ):
        np.testing.assert_array_equal(voxelmaps.labels(image, **given, **settings), expected)
    session = voxelmaps.SeedSession(image, **settings)
    for given in (
        {"seed_points": {1: points[0], 2: [points[1]]}},
        {"seeds": {1: indices[0]}, "seed_points": {2: points[1]}},
    ):
        np.testing.assert_array_equal(itk.array_from_image(session.update(**given)), expected)
    # Of a part of an image, whose first voxel has another index than 0.
    part = itk.region_of_interest_image_filter(image, region_of_interest=image.GetLargestPossibleRegion())
    part.SetRegions(itk.ImageRegion[3]([3, -2, 5], list(itk.size(image))))
    itk.array_view_from_image(part)[...] = array
    of_part = [part.TransformIndexToPhysicalPoint([i + s for i, s in zip(index, (3, -2, 5))]) for index in indices]
    labels = voxelmaps.SeedSession(part, **settings).update(seed_points={1: of_part[0], 2: of_part[1]})
    np.testing.assert_array_equal(itk.array_from_image(labels), expected)

    outside = re.escape(
        "the seed point (0.0, 0.0, 0.0) mm is outside of the image, whose first and last voxels are at (-20.0, 10.0, 5.0)"
    )
    for call in (
        lambda: voxelmaps.fuzzy_connectedness(image, seed_points=(0, 0, 0), **affinity),
        lambda: voxelmaps.labels(image, seed_points={1: (0, 0, 0)}, **affinity),
        lambda: voxelmaps.SeedSession(image).update(seed_points={1: (0, 0, 0)}),
    ):
        with pytest.raises(ValueError, match=outside):
            call()
    for call in (
        lambda: voxelmaps.fuzzy_connectedness(array, seed_points=(0, 0, 0)),
        lambda: voxelmaps.SeedSession(array).update(seed_points={1: (0, 0, 0)}),
    ):
        with pytest.raises(
            TypeError, match="need the geometry of an image of ITK or SimpleITK, but the image is an array"
        ):
            call()


# --- Maps of files -----------------------------------------------------------------------------------------------------


def check_maps(read, expected, geometry):
    assert list(read) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(read[name], expected[name])
    for ours, theirs in zip(read.geometry, geometry):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("suffix", ["nrrd", "mha", "nii.gz", "nii"])
def test_read_maps_of_a_vector_image(suffix, image, tmp_path):
    image = itk.image_duplicator(image)
    image.SetOrigin([-5.0, 7.0, 20.0])
    names = ["SRE", "RE"]
    array = itk.array_from_image(image)
    expected = {"SRE": np.where(array > 20, array / 7, np.nan).astype(np.float32), "RE": array.astype(np.float32)}
    maps = itk.image_from_array(np.stack([*expected.values()], axis=-1), is_vector=True)
    maps.SetSpacing(image.GetSpacing())
    maps.SetOrigin(image.GetOrigin())
    maps["FeatureNames"] = "SRE,RE"
    itk.imwrite(maps, str(tmp_path / f"maps.{suffix}"))
    geometry = image.GetSpacing(), image.GetOrigin(), np.eye(3).ravel()
    path = tmp_path / f"maps.{suffix}"
    if suffix.startswith("nii"):
        with pytest.raises(ValueError, match="has 2 components without names: pass names"):
            voxelmaps.read_maps(path)
    else:
        check_maps(voxelmaps.read_maps(path), expected, geometry)
    check_maps(voxelmaps.read_maps(path, names), expected, geometry)
    with pytest.raises(ValueError, match="has 2 components, but the names are a, b, c"):
        voxelmaps.read_maps(path, list("abc"))


def test_read_maps_of_the_cpp_program(run_program, image, tmp_path):
    itk.imwrite(image, str(tmp_path / "image.nrrd"))
    expected = voxelmaps.feature_maps(image, features=["glrlm_SRE", "glrlm_RE"], number_of_gray_levels=32)
    for output, features, names in (
        ("two.nrrd", "SRE,RE", ["SRE", "RE"]),
        ("one.nrrd", "RE", ["RE"]),
        ("of %s.mha", "RE", ["RE"]),
    ):
        run_program("FeatureMaps", tmp_path / "image.nrrd", tmp_path / output, "--features", features)
        read = voxelmaps.read_maps(tmp_path / output.replace("%s", features))
        assert list(read) == names
        for name in names:
            np.testing.assert_array_equal(read[name], expected[f"glrlm_{name}"])


@pytest.mark.parametrize(
    "options", [["--format", each] for each in ("nii.gz", "nii", "nrrd", "zarr")] + [["--channels", "nnunet"]]
)
def test_read_maps_of_the_program(options, image, tmp_path, monkeypatch):
    if "zarr" in options:
        pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    mask = np.zeros((8, 9, 10), np.uint8)
    mask[2:5, 2:6, 3:8] = 1
    mask[7, 0, 0] = 1
    mask = itk.image_from_array(mask)
    mask.CopyInformation(image)
    for each, name in ((image, "image.nrrd"), (mask, "mask.nrrd")):
        itk.imwrite(each, name)
    features = {"glcm": ["Correlation", "Contrast"], "firstorder": ["Mean"]}
    command = ["image.nrrd", "--mask", "mask.nrrd", "--out", "maps", *options, "--setting", "initValue=nan"]
    names = [f"{name}_{each}" for name, of_class in features.items() for each in of_class]
    assert program.main([*command, "--features", ",".join(names)]) == 0
    results = radiomics.execute(image, mask, featureClass=features, initValue=float("nan"), additionalInfo=False)
    expected = {name: itk.array_from_image(value) for name, value in results.items()}
    assert np.isnan(expected["original_firstorder_Mean"]).any()
    like = results["original_firstorder_Mean"]
    geometry = like.GetSpacing(), like.GetOrigin(), np.eye(3).ravel()
    read = voxelmaps.read_maps("maps")
    assert read.slices == ()
    if "nnunet" in options:
        expected = {name: np.where(np.isfinite(array), array, np.float32(0)) for name, array in expected.items()}
        check_maps(read, expected, geometry)
        return
    check_maps(read, expected, geometry)
    if "zarr" in options:
        check_maps(voxelmaps.read_maps("maps/maps.zarr"), expected, geometry)
        return
    # Copied without the record.
    (tmp_path / "maps" / "provenance.json").unlink()
    check_maps(voxelmaps.read_maps("maps"), {name: expected[name] for name in sorted(expected)}, geometry)


def test_read_maps_that_are_not_whole(image, tmp_path):
    with pytest.raises(FileNotFoundError, match="none does not exist"):
        voxelmaps.read_maps(tmp_path / "none")
    with pytest.raises(ValueError, match="has no maps"):
        voxelmaps.read_maps(tmp_path)
    itk.imwrite(image, str(tmp_path / "a.nrrd"))
    (tmp_path / "b.nrrd").write_bytes((tmp_path / "a.nrrd").read_bytes()[:-7])
    with pytest.raises(ValueError, match="b.nrrd"):
        voxelmaps.read_maps(tmp_path)
    itk.imwrite(itk.image_from_array(itk.array_from_image(image)), str(tmp_path / "b.nrrd"))
    with pytest.raises(ValueError, match="b.nrrd is not on the grid of .*a.nrrd"):
        voxelmaps.read_maps(tmp_path)


def test_geometry_of_maps_of_images(image):
    mask = np.zeros((8, 9, 10), np.uint8)
    mask[5:7, 4:7, 4:8] = 1
    maps = voxelmaps.feature_maps(image, mask, features="glcm_Contrast", neighborhood_radius=1, crop="mask")
    assert maps.geometry.spacing == (0.5, 0.75, 3.0) and maps.geometry.origin == (1.5, 2.25, 12.0)
    assert voxelmaps.feature_maps(ARRAY, features="glcm_Contrast").geometry is None


def test_notebooks_show_maps(image):
    pytest.importorskip("matplotlib")
    mask = np.zeros((8, 9, 10), np.uint8)
    mask[5:7, 2:7, 2:8] = 1
    for x in (image, ARRAY, ARRAY[0], ARRAY[None]):
        inside = mask[0] + 1 if np.ndim(x) == 2 else mask
        maps = voxelmaps.feature_maps(
            x, inside, features="glcm", background_value=np.nan, dimension=2 if np.ndim(x) == 2 else 3
        )
        picture = maps._repr_png_()
        assert picture.startswith(b"\x89PNG") and len(picture) > 5000


@pytest.mark.parametrize("compute", [voxelmaps.fuzzy_connectedness, voxelmaps.labels])
@pytest.mark.parametrize(
    "parameters, text",
    [
        (
            {"weight": 0.2},
            "weight is 0.2, but has no effect with the affinity 'geometric_mean'; it belongs to weighted_sum",
        ),
        ({"difference_mean": 3}, "difference_mean is 3, but has no effect with the affinity 'geometric_mean'"),
        (
            {"affinity": "homogeneity", "difference_variance": 4, "object_mean": 7},
            "object_mean is 7, but has no effect",
        ),
        (
            {"affinity": "absolute_difference", "estimation_radius": 5},
            "nothing is estimated: the affinity has no parameters",
        ),
        (
            {"object_mean": 1, "object_variance": 2, "difference_variance": 3, "estimation_radius": 1},
            "estimation_radius is 1, but nothing is estimated: the affinity is given",
        ),
    ],
)
def test_parameters_of_connectedness_without_effect(parameters, text, compute):
    x = np.arange(20.0).reshape(4, 5)
    with pytest.raises(ValueError, match=text):
        compute(x, {1: (0, 0)} if compute is voxelmaps.labels else (0, 0), **parameters)


# Parameters of sessions that have no effect with the others.
WITHOUT_EFFECT = [
    (
        {"weight": 0.2},
        "weight is 0.2, but has no effect with the affinity 'geometric_mean'; it belongs to weighted_sum",
    ),
    (
        {"affinity_function": "homogeneity", "object_mean": 7},
        "object_mean is 7, but has no effect with the affinity 'homogeneity'; it belongs to geometric_mean, weighted_sum, minimum",
    ),
    (
        {"affinity_function": "absolute_difference", "estimation_radius": 5},
        "estimation_radius is 5, but nothing is estimated: the affinity has no parameters",
    ),
    (
        {"object_mean": 100, "object_variance": 2, "difference_variance": 3, "estimation_radius": 1},
        "estimation_radius is 1, but nothing is estimated: the affinity is given",
    ),
    (
        {"object_mean": 100, "estimate_affinity_from_seeds": True},
        "object_mean is 100, but has no effect with estimate_affinity_from_seeds: leave one of them out",
    ),
    ({"crop_margin": 3}, "crop_margin is 3, but has no effect without crop_to_seeds"),
    (
        {"crop_margin_in_millimeters": True},
        "crop_margin_in_millimeters is True, but has no effect without crop_to_seeds",
    ),
    ({"inside_pixel_value": 7}, "inside_pixel_value is 7, but has no effect without mask_image"),
]


@pytest.mark.parametrize("parameters, text", WITHOUT_EFFECT, ids=[text[:40] for _, text in WITHOUT_EFFECT])
def test_parameters_of_sessions_without_effect(parameters, text, image):
    seeds = {1: [[1, 1, 1]], 2: [[8, 1, 1]]}
    session = voxelmaps.SeedSession(image)
    for call in (
        lambda: voxelmaps.SeedSession(image, **parameters),
        lambda: session.update(seeds, **parameters),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            call()
    # What was refused is forgotten.
    expected = voxelmaps.SeedSession(image).update(seeds)
    np.testing.assert_array_equal(itk.array_from_image(session.update(seeds)), itk.array_from_image(expected))


def test_affinities_that_are_reported_can_be_given(image):
    seeds = {1: [[1, 1, 1]], 2: [[8, 1, 1]]}
    for affinity in ("geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"):
        session = voxelmaps.SeedSession(image, affinity_function=affinity)
        labels = session.update(seeds)
        settings = {"affinity_function": affinity, **session.affinity}
        again = voxelmaps.labels(image, {1: (1, 1, 1), 2: (1, 1, 8)}, affinity=affinity, **session.affinity)
        np.testing.assert_array_equal(again, itk.array_from_image(labels))
        again = voxelmaps.SeedSession(image, **settings).update(seeds)
        np.testing.assert_array_equal(itk.array_from_image(again), itk.array_from_image(labels))
