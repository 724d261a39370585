# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What is made of FeatureMaps, arrays, images, tables and files, has their values, their names and their geometry."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import is_like, to_numpy
from voxelmaps import _image

sitk, xarray = pytest.importorskip("SimpleITK"), pytest.importorskip("xarray")

SOME = ["firstorder_Mean", "glcm_Contrast", "glrlm_RunEntropy"]
COS, SIN = 0.8, 0.6
SPACING, ORIGIN, DIRECTION = (0.7, 0.8, 5.0), (-10.0, 20.0, 30.0), (1, 0, 0, 0, COS, -SIN, 0, SIN, COS)


def image_of(direction=DIRECTION):
    array = np.random.default_rng(0).integers(0, 200, (6, 9, 11)).astype(np.int16)
    return _image.to_simpleitk(_image.Image(array, SPACING, ORIGIN, direction))


def mask_of():
    mask = np.zeros((6, 9, 11), bool)
    mask[2:4, 3:6, 4:8] = True
    return mask


EDGES = {"affinity": "absolute_difference"}


def maps_of(x=None, **parameters):
    given = dict(features=SOME, neighborhood_radius=1, bin_count=8)
    return voxelmaps.feature_maps(image_of() if x is None else x, **given, **parameters)


def cropped():
    mask = sitk.GetImageFromArray(mask_of().astype(np.uint8))
    mask.CopyInformation(image_of())
    return maps_of(mask=mask, crop="mask")


def same_maps(maps, other, names=SOME):
    assert sorted(maps) == sorted(names)
    assert all(np.array_equal(maps[name], other[name], equal_nan=True) for name in names)
    for ours, theirs in zip(maps.geometry, other.geometry):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_arrays_and_parts(library):
    x, mask = sitk.GetArrayFromImage(image_of()), mask_of()
    maps = voxelmaps.feature_maps(library(x), library(mask), features=SOME, crop="mask")
    assert np.array_equal(np.asarray(maps), to_numpy(maps.array)) and np.asarray(maps, float).dtype == float
    part = maps[["glrlm_RunEntropy", "firstorder_Mean"]]
    assert list(part) == ["glrlm_RunEntropy", "firstorder_Mean"] and part.slices == maps.slices
    assert is_like(part.array, maps.array) and np.array_equal(np.asarray(part), np.asarray(maps)[[2, 0]])
    # In the input, of which they are a part.
    images = maps.to_images("sitk")
    assert images["glcm_Contrast"].GetOrigin() == tuple(float(part.start) for part in reversed(maps.slices))
    assert np.array_equal(sitk.GetArrayFromImage(images["glcm_Contrast"]), np.asarray(maps)[1])
    with pytest.raises(KeyError, match="there is no map 'glcm_Contrst' .did you mean glcm_Contrast.*; the maps are"):
        maps[["glcm_Contrst"]]
    with pytest.raises(KeyError, match="there is no map 0; the maps are"):
        maps[0]
    assert "glcm" not in maps and "glcm_Contrast" in maps


def test_netcdf(tmp_path):
    maps = maps_of()
    maps.to_xarray().to_netcdf(tmp_path / "maps.nc")
    with xarray.open_dataarray(tmp_path / "maps.nc") as read:
        again = voxelmaps.feature_maps(read.sel(feature="firstorder_Mean", drop=True), features="firstorder_Mean")
        assert np.array_equal(read.values, maps.array)
    np.testing.assert_allclose(again.geometry.direction, maps.geometry.direction, atol=1e-12)


def test_axes_of_a_dataarray():
    depth = ("depth", np.arange(6) / 4, {"units": "cm"})
    x = xarray.DataArray(sitk.GetArrayFromImage(image_of()), dims=("depth", "row", "column"), coords={"depth": depth})
    with pytest.warns(
        UserWarning, match="^image has coordinates along other axes, but not along row, column: 1 mm is assumed$"
    ):
        maps = maps_of(x, mask=mask_of(), crop="mask").to_xarray()
    assert maps.dims == ("feature", *x.dims) and maps["depth"].identical(x["depth"][1:5])
    assert maps["row"].values.tolist() == list(range(2, 7))


def test_pandas_does_not_read_names_as_values():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="2-d"):
        pandas.DataFrame(maps_of())


@pytest.mark.parametrize("make", [maps_of, cropped, lambda: cropped()[["glcm_Contrast"]]])
@pytest.mark.parametrize("kind", ["itk", "sitk", "nibabel", "xarray"])
def test_images(make, kind):
    pytest.importorskip(kind.replace("sitk", "SimpleITK"))
    maps = make()
    images = (
        {name: maps.to_xarray().sel(feature=name, drop=True) for name in maps}
        if kind == "xarray"
        else maps.to_images(kind)
    )
    assert list(images) == list(maps)
    # Read as any other image, with its geometry.
    for name, image in images.items():
        again = voxelmaps.feature_maps(image, features="firstorder_Minimum", neighborhood_radius=0)
        assert np.array_equal(again.array[0], maps[name])
        for ours, theirs in zip(again.geometry, maps.geometry):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("format, suffix", [(None, ".nii.gz"), ("nii", ".nii"), ("nrrd", ".nrrd")])
def test_folders(format, suffix, tmp_path):
    maps = cropped()
    maps.array[0, 0, 0, 0] = np.nan
    paths = maps.save(tmp_path / "new" / "maps", format)
    assert paths == [tmp_path / "new" / "maps" / (name + suffix) for name in SOME]
    assert sorted([*paths, tmp_path / "new" / "maps" / "provenance.json"]) == sorted(
        (tmp_path / "new" / "maps").iterdir()
    )
    same_maps(voxelmaps.read_maps(tmp_path / "new" / "maps"), maps)


def test_files(tmp_path):
    maps, x = cropped(), np.random.default_rng(1).normal(size=(9, 11))
    assert maps.save(tmp_path / "maps.nrrd") == [tmp_path / "maps.nrrd"]
    same_maps(voxelmaps.read_maps(tmp_path / "maps.nrrd"), maps)
    maps[["glcm_Contrast"]].save(str(tmp_path / "maps.nrrd"), overwrite=True)
    same_maps(voxelmaps.read_maps(tmp_path / "maps.nrrd"), maps, ["glcm_Contrast"])
    maps[["glcm_Contrast"]].save(tmp_path / "glcm_Contrast.nii.gz")
    same_maps(voxelmaps.read_maps(tmp_path / "glcm_Contrast.nii.gz"), maps, ["glcm_Contrast"])
    # Two dimensions, double precision, no geometry.
    flat = maps_of(x, precision="double")
    flat.save(tmp_path / "flat.nrrd")
    read = voxelmaps.read_maps(tmp_path / "flat.nrrd")
    assert np.array_equal(read.array, flat.array) and read.geometry == ((1, 1), (0, 0), (1, 0, 0, 1))
    assert not list(tmp_path.glob(".voxelmaps*"))


def test_sheared_geometry(tmp_path):
    """As that of a tilted gantry."""
    direction = (1, 0, 0, 0, 1, 0.3, 0, 0, np.sqrt(1 - 0.09))
    maps = maps_of(image_of(direction))
    maps.save(tmp_path / "maps.nrrd")
    assert voxelmaps.read_maps(tmp_path / "maps.nrrd").geometry.direction == pytest.approx(direction)
    for call in (lambda: maps.save(tmp_path / "maps"), lambda: maps.to_images("nibabel")):
        with pytest.raises(
            ValueError, match="axes of NIfTI are orthogonal, but those of the image have a cosine of 0.3: write .nrrd"
        ):
            call()
    assert not (tmp_path / "maps").exists()


def test_dataframe(library):
    pytest.importorskip("pandas")
    x, mask = sitk.GetArrayFromImage(image_of()), mask_of()
    labels = mask * np.where(np.arange(11) < 6, 1, 2).astype(np.uint8)
    expected = maps_of(x, mask=mask)
    for maps in (expected, maps_of(library(x), mask=library(mask), crop="mask"), cropped()):
        for given, inside in (((mask,), mask), ((labels, 2), labels == 2), ((library(mask),), mask)):
            table = maps.to_dataframe(*given)
            assert list(table) == SOME and table.index.names == ["z", "y", "x"]
            assert [list(each) for each in table.index] == np.argwhere(inside).tolist()
            assert np.array_equal(table.to_numpy(), expected.array[:, inside].T)
    maps = cropped()
    # A mask of the image, of the maps, and none.
    image = sitk.GetImageFromArray(mask.astype(np.uint8))
    image.CopyInformation(image_of())
    assert maps.to_dataframe(image).equals(maps.to_dataframe(mask))
    assert maps.to_dataframe(mask[maps.slices]).equals(maps.to_dataframe(mask))
    assert len(maps.to_dataframe()) == maps.array[0].size
    image.SetOrigin((0, 0, 0))
    for wrong, message in (
        (image, "the grid of the maps has the origin"),
        (x > -1, "the mask has 474 of its 594 voxels outside of the maps"),
        (mask[1:], "mask has the shape"),
        (labels, "the values 0, 1 and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            maps.to_dataframe(wrong)


@pytest.mark.parametrize("suffix", ["nrrd", "mha", "nii.gz", "nii"])
def test_vector_images(suffix, tmp_path):
    """Of ITK's filters, which write names where the format has a place for them."""
    maps, path = maps_of()[SOME[:2]], tmp_path / f"maps.{suffix}"
    vectors = sitk.GetImageFromArray(np.moveaxis(maps.array, 0, -1), isVector=True)
    vectors.CopyInformation(image_of())
    vectors.SetMetaData("FeatureNames", ",".join(maps))
    sitk.WriteImage(vectors, str(path))
    if suffix.startswith("nii"):
        with pytest.raises(ValueError, match="has 2 components without names: pass names"):
            voxelmaps.read_maps(path)
    else:
        same_maps(voxelmaps.read_maps(path), maps, SOME[:2])
    same_maps(voxelmaps.read_maps(path, SOME[:2]), maps, SOME[:2])
    with pytest.raises(ValueError, match="has 2 components, but the names are a, b, c"):
        voxelmaps.read_maps(path, list("abc"))


def test_files_that_are_not_maps_of_one_case(tmp_path):
    def refused(folder, error, message):
        with pytest.raises(error, match=message):
            voxelmaps.read_maps(folder)

    refused(tmp_path / "none", FileNotFoundError, "none does not exist")
    refused(tmp_path, ValueError, "has no maps$")
    (tmp_path / "case" / "label-2").mkdir(parents=True)
    refused(tmp_path / "case", ValueError, "has no maps: read those of a label, in label-2$")
    sitk.WriteImage(image_of(), str(tmp_path / "a.nrrd"))
    (tmp_path / "b.nrrd").write_bytes((tmp_path / "a.nrrd").read_bytes()[:-7])
    refused(tmp_path, ValueError, "b.nrrd")
    sitk.WriteImage(sitk.GetImageFromArray(sitk.GetArrayFromImage(image_of())), str(tmp_path / "b.nrrd"))
    message = "b.nrrd has the origin .* but .*a.nrrd has .*; files of one folder must be maps of one case"
    refused(tmp_path, ValueError, message)


def test_texts_of_results():
    """What notebooks show is short, and names complete."""
    ct = voxelmaps.sample_ct((32, 32, 16))
    maps = voxelmaps.feature_maps(ct.image, ct.organs, label=1, features="glcm", crop="mask")
    labels = voxelmaps.labels(ct.image, ct.strokes, tie_rule="lowest_label", strength=True, **EDGES)
    table = voxelmaps.region_features(ct.image, ct.organs, features=["shape", "glcm"])
    results = [ct, ct.image, maps, labels, table, voxelmaps.describe(ct.image, features="glcm")]
    for result in [*results, voxelmaps.SeedSession(ct.image)]:
        assert 20 < len(repr(result)) < 500, repr(result)
    assert repr(maps).endswith("glcm_ClusterTendency, ..., glcm_MCC)") and maps._ipython_key_completions_() == [*maps]
    assert repr(table).startswith("RegionFeatures(4 regions, 38 features: shape_")


def test_equal_maps():
    x = np.random.default_rng(0).normal(100, 50, (6, 9, 11))
    maps = maps_of(x, mask=mask_of(), background_value=np.nan)
    assert maps == maps and maps == maps_of(x, mask=mask_of(), background_value=np.nan) and maps == maps[[*maps]]
    for other in (
        maps_of(x, mask=mask_of()),
        maps_of(x, mask=mask_of(), crop="mask"),
        maps[[*maps][:1]],
        dict(maps),
        None,
    ):
        assert maps != other
