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


# Call, error and its text.
MISTAKES = [
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", neighborhood_radius=-1),
        ValueError,
        "neighborhood_radius is -1, but must be one integer from 0 to 65535, or 3 of them, one per axis",
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
        lambda image: radiomics.execute(image, image, {"setting": {"binwidht": 5}}),
        ValueError,
        f"setting binwidht is not known (did you mean binWidth?); choose from {', '.join(SETTINGS)}",
    ),
    (
        lambda image: radiomics.execute(image, image, voxelBased=False, out_dir="maps"),
        ValueError,
        "out_dir is 'maps', but voxelBased is False, so that there are values of the region and no maps",
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
        lambda image: voxelmaps.labels(image, seed_points=[(1, 2, 3)]),
        TypeError,
        "seed_points must be a dict of labels and points in mm, and seeds a dict or left out",
    ),
]


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
    assert lines[-1:] == [
        "warning: 1 of 192 voxels inside the mask are NaN, and absent as those outside",
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
        ({}, "competition='iterative' leaves fewer ties, "),
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


def test_version_and_public_names():
    assert re.fullmatch(r"\d+\.\d+\.\d+", voxelmaps.__version__)
    assert set(voxelmaps.__all__) <= set(dir(voxelmaps))


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
    with pytest.raises(ValueError, match="has no maps$"):
        voxelmaps.read_maps(tmp_path)
    (tmp_path / "case" / "label-2").mkdir(parents=True)
    with pytest.raises(ValueError, match="has no maps: read those of a label, in label-2$"):
        voxelmaps.read_maps(tmp_path / "case")
    itk.imwrite(image, str(tmp_path / "a.nrrd"))
    (tmp_path / "b.nrrd").write_bytes((tmp_path / "a.nrrd").read_bytes()[:-7])
    with pytest.raises(ValueError, match="b.nrrd"):
        voxelmaps.read_maps(tmp_path)
    itk.imwrite(itk.image_from_array(itk.array_from_image(image)), str(tmp_path / "b.nrrd"))
    with pytest.raises(
        ValueError, match="b.nrrd has the spacing .* but .*a.nrrd has .*; files of one folder must be maps of one case"
    ):
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


MOMENTS = {"object_mean": 100, "object_variance": 2, "difference_variance": 3}
OF_OBJECT = "it belongs to geometric_mean, weighted_sum and minimum"
# Parameters of connectedness that have no effect with the others; of all functions, or of labels and sessions.
WITHOUT_EFFECT = [
    (
        {"weight": 0.2},
        "weight is 0.2, but has no effect with the affinity geometric_mean; it belongs to weighted_sum",
        True,
    ),
    (
        {**MOMENTS, "difference_mean": 3},
        "difference_mean is 3, but has no effect with the affinity geometric_mean",
        True,
    ),
    (
        {"affinity": "homogeneity", "object_mean": 7},
        f"object_mean is 7, but has no effect with the affinity homogeneity; {OF_OBJECT}",
        True,
    ),
    (
        {"affinity": "absolute_difference", "estimation_radius": 5},
        "estimation_radius is 5, but has no effect with the affinity absolute_difference",
        True,
    ),
    (
        {**MOMENTS, "estimation_radius": 1},
        "estimation_radius is 1, but nothing is estimated: the affinity is given",
        True,
    ),
    ({"crop_margin": 3}, "crop_margin is [3.0], but has no effect without crop_to_seeds", False),
    ({"crop_margin_in_millimeters": True}, "crop_margin_in_millimeters is True, but has no effect without", False),
]


@pytest.mark.parametrize(
    "parameters, text, is_of_all", WITHOUT_EFFECT, ids=[text[:40] for _, text, _ in WITHOUT_EFFECT]
)
def test_parameters_of_connectedness_without_effect(parameters, text, is_of_all):
    seeds = {1: (1, 1, 1), 2: (1, 1, 8)}
    session = voxelmaps.SeedSession(ARRAY)
    calls = [
        lambda: voxelmaps.labels(ARRAY, seeds, **parameters),
        lambda: voxelmaps.SeedSession(ARRAY, **parameters),
        lambda: session.update(seeds, **parameters),
    ]
    for call in calls + [lambda: voxelmaps.fuzzy_connectedness(ARRAY, seeds[1], **parameters)] * is_of_all:
        with pytest.raises(ValueError, match=re.escape(text)):
            call()
    # What was refused is forgotten.
    np.testing.assert_array_equal(session.update(seeds), voxelmaps.labels(ARRAY, seeds))


def test_affinities_that_are_reported_can_be_given():
    seeds = {1: (1, 1, 1), 2: (1, 1, 8)}
    for affinity in ("geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"):
        session = voxelmaps.SeedSession(ARRAY, affinity=affinity)
        labels = session.update(seeds)
        settings = {"affinity": affinity, **session.affinity}
        np.testing.assert_array_equal(voxelmaps.labels(ARRAY, seeds, **settings), labels)
        np.testing.assert_array_equal(voxelmaps.SeedSession(ARRAY, **settings).update(seeds), labels)


def test_one_label_is_a_warning():
    with pytest.warns(UserWarning, match="all seeds have the label 2, which no other label competes with") as caught:
        labels = voxelmaps.labels(ARRAY, {2: [(1, 1, 1), (4, 4, 4)]})
    assert (labels == 2).all() and caught[0].filename == __file__
