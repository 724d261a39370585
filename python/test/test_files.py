# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing NIfTI, NRRD, PNG and DICOM series; comparison with the C++ programs on the same files."""

import itk
import numpy as np
import pytest
import voxelmaps

AFFINITY = {"object_mean": 100, "object_variance": 900, "difference_variance": 900}


def geometry(image):
    return (
        [round(v, 4) for v in image.GetOrigin()],
        [round(v, 4) for v in image.GetSpacing()],
        itk.array_from_matrix(image.GetDirection()).round(4).tolist(),
        [int(n) for n in image.GetLargestPossibleRegion().GetSize()],
    )


@pytest.fixture
def volume(make_image):
    return make_image((6, 12, 10))


@pytest.mark.parametrize("suffix", ["nii.gz", "nii", "nrrd", "mha"])
def test_volumes_keep_their_geometry(volume, tmp_path, suffix):
    image = volume
    path = str(tmp_path / f"image.{suffix}")
    itk.imwrite(image, path)
    read = itk.imread(path)
    assert geometry(read) == geometry(image)
    maps = itk.run_length_feature_map_image_filter(read)
    assert geometry(maps) == geometry(image)
    np.testing.assert_array_equal(
        itk.array_from_image(maps), itk.array_from_image(itk.run_length_feature_map_image_filter(image))
    )
    for name, one in voxelmaps.run_length_feature_maps(read, features=["SRE", "RE"]).items():
        result = str(tmp_path / f"{name}.{suffix}")
        itk.imwrite(one, result)
        again = itk.imread(result)
        assert type(again) is itk.Image[itk.F, 3] and geometry(again) == geometry(image)
        np.testing.assert_array_equal(itk.array_from_image(again), itk.array_from_image(one))
    strength = itk.fuzzy_connectedness_image_filter(read, seed=[1, 2, 3], **AFFINITY)
    itk.imwrite(strength, str(tmp_path / f"strength.{suffix}"))
    again = itk.imread(str(tmp_path / f"strength.{suffix}"))
    assert geometry(again) == geometry(image)
    np.testing.assert_array_equal(itk.array_from_image(again), itk.array_from_image(strength))


def test_vector_images_in_nifti(volume, tmp_path):
    """A file of all maps has the same components when it is read again."""
    image = volume
    maps = itk.run_length_feature_map_image_filter(image)
    path = str(tmp_path / "maps.nii.gz")
    itk.imwrite(maps, path)
    again = itk.imread(path, itk.VariableLengthVector[itk.F])
    assert again.GetNumberOfComponentsPerPixel() == 11 and geometry(again) == geometry(image)
    np.testing.assert_array_equal(itk.array_from_image(again), itk.array_from_image(maps))


def test_png(tmp_path):
    array = np.random.default_rng(0).integers(0, 200, (30, 40)).astype(np.uint8)
    path = str(tmp_path / "slice.png")
    itk.imwrite(itk.image_from_array(array), path)
    maps = itk.run_length_feature_map_image_filter(itk.imread(path))
    np.testing.assert_array_equal(itk.array_from_image(maps), itk.run_length_feature_map_image_filter(array))


def test_dicom_series(ct_series, tmp_path):
    folder, seeds = ct_series
    ct = itk.imread(str(folder))
    assert list(ct.GetLargestPossibleRegion().GetSize()) == [192, 192, 80]
    assert itk.spacing(ct)[0] == pytest.approx(itk.spacing(ct)[1]) and itk.spacing(ct)[2] > itk.spacing(ct)[0]
    strength = itk.fuzzy_connectedness_image_filter(ct, seed=seeds["vessel"], estimate_affinity_from_seeds=True)
    assert geometry(strength) == geometry(ct)
    array = itk.array_from_image(strength)
    assert array[tuple(reversed(seeds["vessel"]))] == 1
    # The object is a small part of the image and excludes bone.
    assert 10 < np.count_nonzero(array > 0.4) < 0.05 * array.size
    assert array[tuple(reversed(seeds["bone"]))] < 0.1
    path = str(tmp_path / "strength.nii.gz")
    itk.imwrite(strength, path)
    assert geometry(itk.imread(path)) == geometry(ct)


@pytest.mark.parametrize(
    "name, options, keywords",
    [
        ("run_length", "--offsets in-plane --aggregation merge", {"offsets": "in-plane", "aggregation": "merge"}),
        ("first_order", "", {}),
        ("cooccurrence", "--distances 1,2 --asymmetric", {"distances": [1, 2], "symmetric": False}),
        ("size_zone", "--offsets in-plane", {"connectivity": "in_plane"}),
        ("dependence", "--alpha 2 --distances 2", {"alpha": 2, "distances": [2]}),
        ("gray_tone_difference", "--offsets in-plane", {"offsets": "in-plane"}),
    ],
)
def test_maps_equal_those_of_the_program(run_program, volume, tmp_path, name, options, keywords):
    path = str(tmp_path / "image.nrrd")
    out = str(tmp_path / "maps.nrrd")
    itk.imwrite(volume, path)
    common = "--features all --radius 1 --levels 16 --class " + name.title().replace("_", "")
    run_program("FeatureMaps", path, out, *common.split(), *options.split())
    expected = itk.imread(out, itk.VariableLengthVector[itk.F])
    compute = getattr(itk, name + "_feature_map_image_filter")
    actual = compute(volume, features="all", neighborhood_radius=1, number_of_gray_levels=16, **keywords)
    assert geometry(actual) == geometry(expected)
    np.testing.assert_array_equal(itk.array_from_image(actual), itk.array_from_image(expected))


def test_maps_equal_those_of_the_program_with_the_settings_of_the_paper(run_program, data, tmp_path):
    slice_path = str(data / "BrainT1Slice.png")
    out = str(tmp_path / "maps.nrrd")
    run_program(
        "FeatureMaps",
        slice_path,
        out,
        *"--as-levels --levels 256 --window 4,4 --anchor 0,0 --aggregation per-direction".split(),
    )
    actual = itk.run_length_feature_map_image_filter(
        itk.imread(slice_path, itk.UC),  # the file is RGB, with equal colors
        discretization_method="identity",
        number_of_gray_levels=256,
        window_size=[4, 4],
        window_anchor=[0, 0],
        aggregation="per_direction",
    )
    expected = itk.imread(out, itk.VariableLengthVector[itk.F])
    np.testing.assert_array_equal(itk.array_from_image(actual), itk.array_from_image(expected))


def test_strengths_equal_those_of_the_program(run_program, ct_series, tmp_path):
    folder, seeds = ct_series
    seed = seeds["vessel"]
    out = str(tmp_path / "strength.nrrd")
    run_program("FuzzyConnectedness", folder, out, "--seed", ",".join(map(str, seed)), "--estimate-radius", "1")
    actual = itk.fuzzy_connectedness_image_filter(
        itk.imread(str(folder)), seed=seed, estimate_affinity_from_seeds=True, estimation_radius=1
    )
    np.testing.assert_array_equal(itk.array_from_image(actual), itk.array_from_image(itk.imread(out)))
