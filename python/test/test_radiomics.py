# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' voxel-based extraction: values beside PyRadiomics, keys, settings, types, geometry, errors."""

import importlib.util
import json
import logging
import pathlib
import sys

import itk
import numpy as np
import pytest
import voxelmaps
from pyradiomics_oracle import (
    DIRECTION, ORIGIN, SHAPE, SPACING, Windows, all_features, compare, image_array, mask_array, to_itk, to_simpleitk,
)  # fmt: skip
from voxelmaps import radiomics
from voxelmaps import _image
from voxelmaps.radiomics import _preparation as images
from voxelmaps.radiomics import _settings as parameters

CLASSES = list(parameters.CLASSES)

# --- Values beside PyRadiomics -----------------------------------------------------------------------------------------

# Name -> kind of image, kind of mask, settings.
CASES = {
    "default": ("int16", "holes", {}),
    "binWidth": ("int32", "border", {"binWidth": 7, "kernelRadius": 2}),
    "binWidth_of_float": ("float32", "holes", {"binWidth": 0.1}),
    "binWidth_of_double": ("float64", "border", {"binWidth": 0.1}),
    "binCount": ("int16", "holes", {"binCount": 16}),
    "binCount_of_float": ("float32", "border", {"binCount": 20, "kernelRadius": 2}),
    "scattered": ("int16", "scattered", {"binWidth": 10}),
    "sheet": ("int16", "sheet", {"binWidth": 10, "kernelRadius": 2}),
    "force2D_0": ("int16", "holes", {"binWidth": 10, "force2D": True}),
    "force2D_1": ("int16", "holes", {"binWidth": 10, "force2D": True, "force2Ddimension": 1, "kernelRadius": 2}),
    "force2D_2": ("int16", "scattered", {"binWidth": 10, "force2D": True, "force2Ddimension": 2}),
    "maskedKernel": ("int16", "border", {"binWidth": 10, "maskedKernel": False}),
    "maskedKernel_binCount": ("float32", "scattered", {"binCount": 12, "maskedKernel": False}),
    "initValue": ("int16", "holes", {"binWidth": 10, "initValue": -3.5}),
    "label": ("int16", "holes", {"binWidth": 10, "label": 2}),
    "no_weighting": ("int16", "holes", {"binWidth": 10, "weightingNorm": "no_weighting"}),
    "no_weighting_scattered": ("int16", "scattered", {"binWidth": 10, "weightingNorm": "no_weighting"}),
    "manhattan": ("int16", "holes", {"binWidth": 10, "weightingNorm": "manhattan"}),
    "euclidean": ("int16", "scattered", {"binWidth": 10, "weightingNorm": "euclidean", "kernelRadius": 2}),
    "infinity": (
        "float32",
        "border",
        {"binWidth": 0.2, "weightingNorm": "infinity", "distances": [2, 1], "kernelRadius": 2},
    ),
    "weighting_asymmetric": (
        "int16",
        "holes",
        {"binWidth": 10, "weightingNorm": "euclidean", "symmetricalGLCM": False},
    ),
    "weighting_force2D": ("int16", "sheet", {"binWidth": 60, "weightingNorm": "manhattan", "force2D": True}),
    "distances": ("int16", "holes", {"binWidth": 10, "distances": [1, 2], "kernelRadius": 2}),
    "distance_2": ("int16", "border", {"binWidth": 10, "distances": [2]}),
    "distances_force2D": (
        "int16",
        "holes",
        {"binWidth": 10, "distances": [2, 1], "force2D": True, "force2Ddimension": 1, "kernelRadius": 2},
    ),
    "gldm_a": ("int16", "holes", {"binWidth": 10, "gldm_a": 2}),
    "symmetricalGLCM": ("int16", "holes", {"binWidth": 10, "symmetricalGLCM": False}),
    "symmetricalGLCM_scattered": ("int16", "scattered", {"binWidth": 60, "symmetricalGLCM": False}),
    "symmetricalGLCM_border": ("int16", "border", {"binWidth": 10, "symmetricalGLCM": False}),
    "one_level_border": ("int16", "border", {"binCount": 1}),
    "one_level": ("int16", "scattered", {"binWidth": 1000}),
    "voxelArrayShift": ("int16", "holes", {"binWidth": 10, "voxelArrayShift": 100}),
    "resegmentRange": ("int16", "border", {"binWidth": 10, "resegmentRange": [20, 140]}),
    "resegment_relative": ("float32", "holes", {"binWidth": 0.2, "resegmentRange": [0.4], "resegmentMode": "relative"}),
    "resegment_sigma": ("int16", "holes", {"binWidth": 10, "resegmentRange": [-1.5, 1], "resegmentMode": "sigma"}),
    "preCrop": ("int16", "border", {"preCrop": True, "padDistance": 1, "kernelRadius": 2, "maskedKernel": False}),
    "normalize": ("int16", "holes", {"binWidth": 0.3, "normalize": True}),
    "removeOutliers": (
        "float32",
        "holes",
        {"binWidth": 20, "normalize": True, "normalizeScale": 100, "removeOutliers": 1.5},
    ),
    "resampled": ("int16", "border", {"binWidth": 10, "resampledPixelSpacing": [0.6, 0.6, 1.5], "padDistance": 2}),
    "resampled_in_plane": (
        "float32",
        "sheet",
        {"binWidth": 0.2, "resampledPixelSpacing": [0.7, 0.7, 0], "interpolator": "sitkLinear"},
    ),
    "resampled_to_itself": ("int16", "holes", {"binWidth": 10, "resampledPixelSpacing": [0.5, 0.75, 2.0]}),
}
# Settings that the class does not depend on.
NOT_OF_CLASS = {
    "firstorder": {"weightingNorm", "distances", "gldm_a", "symmetricalGLCM"},
    "glcm": {"gldm_a", "voxelArrayShift"},
    "gldm": {"weightingNorm", "symmetricalGLCM", "voxelArrayShift"},
    "glrlm": {"distances", "gldm_a", "symmetricalGLCM", "voxelArrayShift"},
    "glszm": {"weightingNorm", "distances", "gldm_a", "symmetricalGLCM", "voxelArrayShift"},
    "ngtdm": {"weightingNorm", "gldm_a", "symmetricalGLCM", "voxelArrayShift"},
}


def params_of(features, settings):
    """Sections of a parameter file."""
    params = {"setting": {"label": 1}, "voxelSetting": {"kernelRadius": 1}, "featureClass": features}
    for name, value in settings.items():
        params[parameters.SETTINGS[name].section][name] = value
    return params


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("case", CASES)
def test_values_of_pyradiomics(case, name):
    image, mask, settings = CASES[case]
    image, mask, features = image_array(image), mask_array(mask), {name: all_features(name)}
    used = {key: value for key, value in settings.items() if key not in NOT_OF_CLASS[name]}
    if used == settings:
        compare(to_simpleitk(image), to_simpleitk(mask), params_of(features, settings), "double")
        return
    maps, expected = (
        radiomics.execute(to_itk(image), to_itk(mask), featureClass=features, additionalInfo=False, **given)
        for given in (settings, used)
    )
    for key in expected:
        np.testing.assert_array_equal(*(itk.array_from_image(one[key]) for one in (maps, expected)), err_msg=key)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float32", "float64"])
def test_float_maps_of_pyradiomics(kind, name):
    settings = {"binCount": 16, "kernelRadius": 2}
    features = {name: all_features(name)}
    image, mask = to_simpleitk(image_array(kind)), to_simpleitk(mask_array("border"))
    compare(image, mask, params_of(features, settings), "float")


# --- Values where PyRadiomics has a fault ------------------------------------------------------------------------------


def values_of(name, features, settings, image="int16", mask="scattered"):
    """Values inside the region by feature, and the windows."""
    image, mask = to_itk(image_array(image)), to_itk(mask_array(mask))
    maps = radiomics.execute(
        image, mask, featureClass={name: features}, precision="double", additionalInfo=False, **settings
    )
    complete = parameters.read(None, {"featureClass": name, **settings}).settings
    prepared = images.prepare(_image.load(image, "image")[0], _image.load(mask, "mask")[0], complete, False)
    windows = Windows(prepared.image.array, prepared.roi.array, complete)
    return [itk.array_from_image(m)[prepared.roi.array] for m in maps.values()], windows


def test_joint_average_with_empty_directions():
    (joint, total), windows = values_of("glcm", ["JointAverage", "SumAverage"], {"binWidth": 10})
    assert windows.have_empty_directions().any()
    np.testing.assert_array_equal(joint, total / 2)
    assert np.isfinite(joint[windows.have_empty_directions()]).any()


def test_imc2_of_independent_levels():
    settings = {"binWidth": 60, "weightingNorm": "no_weighting"}
    (imc1, imc2), windows = values_of("glcm", ["Imc1", "Imc2"], settings)
    independent = windows.have_products()
    assert independent.any() and not independent.all()
    assert (imc1[independent] == 0).all() and (imc2[independent] == 0).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_mcc_of_windows_that_pyradiomics_fails_for(symmetric):
    settings = {"binWidth": 10, "symmetricalGLCM": symmetric}
    (mcc,), windows = values_of("glcm", ["MCC"], settings)
    assert windows.have_empty_directions().any()
    for value, matrices in zip(mcc, windows.matrices()):
        correlations = []
        for matrix in matrices:
            matrix = matrix[matrix.any(axis=1)][:, matrix.any(axis=0)]
            if matrix.size > 0:
                scale = np.sqrt(np.outer(matrix.sum(axis=1), matrix.sum(axis=0)))
                correlations.append(np.append(np.linalg.svd(matrix / scale, compute_uv=False), 0.0)[1])
        expected = np.mean(correlations) if correlations else np.nan
        np.testing.assert_allclose(value, expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize("bins", [{"binWidth": 1000}, {"binCount": 8}])
def test_mcc_of_a_region_of_one_level(bins):
    flat, mask = to_itk(np.full(SHAPE, 7, np.int16)), to_itk(mask_array("holes"))
    features = {"glcm": ["MCC", "Imc2"]}
    maps = radiomics.execute(flat, mask, featureClass=features, additionalInfo=False, initValue=-5, **bins)
    mcc, imc2 = (itk.array_from_image(maps[f"original_glcm_{name}"]) for name in ("MCC", "Imc2"))
    inside = mcc != -5
    assert np.count_nonzero(inside) == np.count_nonzero(mask_array("holes") == 1)
    mcc, imc2 = mcc[inside], imc2[inside]
    assert (mcc[~np.isnan(imc2)] == 1).all() and np.isnan(mcc[np.isnan(imc2)]).all()


def test_first_order_of_equal_doubles():
    features = ["Skewness", "Kurtosis", "MeanAbsoluteDeviation", "Variance", "Entropy"]
    flat = to_itk(np.full(SHAPE, 0.1))
    maps = radiomics.execute(
        flat, to_itk(mask_array("holes")), featureClass={"firstorder": features}, additionalInfo=False
    )
    for key, image in maps.items():
        assert (itk.array_from_image(image) == 0).all(), key


@pytest.mark.parametrize("radius", [1, 2, 4, 19])
def test_inverse_squares_of_many_levels(radius):
    """They are numbers in fixed point, which doc/radiomics.md has the errors of."""
    for levels in (100, 182, 256, 725, 2048, 4096, 16000, 65535):
        expected, worst = {}, {}
        options = {"gray_levels": levels, "neighborhood_radius": radius, "precision": "double"}
        for level in (levels, levels - 1, levels * 3 // 4, levels * 2 // 3):
            # One pair of voxels; two voxels of one level, and one of level 1.
            k = level - 1
            maps = dict(
                voxelmaps.feature_maps(
                    [[[1, level]]], features=["glcm_Idm", "glcm_InverseVariance", "glcm_Id"], **options
                )
            )
            expected = {"glcm_Idm": 1 / (1 + k**2), "glcm_InverseVariance": 1 / k**2, "glcm_Id": 1 / (1 + k)}
            low = {
                f"{name}_Low{rest}Emphasis": 1 / level**2
                for name, rest in (("gldm", "GrayLevel"), ("glszm", "GrayLevelZone"))
            }
            low["gldm_SmallDependenceLowGrayLevelEmphasis"] = low["glszm_SmallAreaLowGrayLevelEmphasis"] = (
                0.25 / level**2
            )
            maps.update(voxelmaps.feature_maps([[[level, level]]], features=list(low), **options))
            for name, value in {**expected, **low}.items():
                worst[name] = max(worst.get(name, 0), abs(maps[name][0, 0, 0] / value - 1))
        of_glcm = max(2e-12, 1.1e-19 * levels**2)
        of_others = max(2e-15, (2.2e-19 if radius == 1 else 1.4e-17) * levels**2)
        for name, error in worst.items():
            limit = 1e-14 * radius if name == "glcm_Id" else of_glcm if name.startswith("glcm") else of_others
            assert error <= limit, (name, levels, error, limit)
        if levels <= 256:
            assert of_others <= 1e-12


# --- Keys and order ----------------------------------------------------------------------------------------------------


def scene(to_image=to_itk, image="int16", mask="holes"):
    return to_image(image_array(image)), to_image(mask_array(mask))


def maps_only(result):
    return [key for key in result if not key.startswith("diagnostics_")]


def run(**settings):
    """Keys and arrays of run length maps of the scene."""
    settings = {"featureClass": {"glrlm": ["RunEntropy", "RunPercentage"]}, "binWidth": 10, **settings}
    result = radiomics.execute(*scene(), additionalInfo=False, **settings)
    return {key: itk.array_from_image(image) for key, image in result.items()}


def test_all_classes_are_computed_if_none_is_named():
    names = ["firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm"]
    keys = list(radiomics.execute(*scene(), additionalInfo=False))
    assert (
        keys == [f"original_{name}_{feature}" for name in names for feature in all_features(name)] and len(keys) == 93
    )


def test_keys_are_in_the_order_of_the_parameters():
    classes = {name: None for name in reversed(CLASSES)}
    classes["glrlm"] = ["ShortRunEmphasis", "RunVariance", "LongRunEmphasis", "RunVariance"]
    keys = maps_only(radiomics.execute(*scene(), featureClass=classes))
    expected = []
    for name in reversed(CLASSES):
        names = all_features(name)
        if name == "glrlm":
            names = ["ShortRunEmphasis", "RunVariance", "LongRunEmphasis"]
        expected += [f"original_{name}_{feature}" for feature in names]
    assert keys == expected


@pytest.mark.parametrize("name", CLASSES)
def test_features_are_those_of_pyradiomics(name):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics import getFeatureClasses

    theirs = getFeatureClasses()[name].getFeatureNames()
    row = parameters.CLASSES[name]
    assert row.all_features() == [feature for feature, is_deprecated in theirs.items() if not is_deprecated]
    assert set(row.numbers()) | set(row.without_values) == set(theirs)


def test_diagnostics_of_pyradiomics():
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    image, mask = scene(to_simpleitk, "float32", "sheet")
    settings = {
        "resampledPixelSpacing": [0.6, 0.6, 1.5],
        "resegmentRange": [0.2, 2.5],
        "binWidth": 0.2,
        "interpolator": "sitkLinear",
    }
    extractor = RadiomicsFeatureExtractor(**settings)
    extractor.enabledFeatures = {"glrlm": ["RunEntropy"]}
    theirs = extractor.execute(image, mask, voxelBased=True)
    ours = radiomics.execute(image, mask, featureClass={"glrlm": ["RunEntropy"]}, hashes=True, **settings)
    own = {"VoxelMaps": "PyRadiomics", "ITK": "SimpleITK"}
    renamed = [f"diagnostics_Versions_{own[k.split('_')[-1]]}" if k.split("_")[-1] in own else k for k in ours]
    assert renamed == [key for key in theirs if key != "diagnostics_Versions_PyWavelet"]
    for key in theirs:
        if "_Image-" in key or "_Mask-" in key:
            if isinstance(theirs[key], str):
                assert ours[key] == theirs[key], key
            else:
                np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-12, atol=1e-12, err_msg=key)
    used = ours["diagnostics_Configuration_Settings"]
    assert {key: used[key] for key in theirs["diagnostics_Configuration_Settings"]} == theirs[
        "diagnostics_Configuration_Settings"
    ]
    plain = radiomics.execute(image, mask, featureClass="glrlm", **settings)
    assert [key for key in ours if key not in plain and not key.startswith("original_")] == [
        "diagnostics_Image-original_Hash",
        "diagnostics_Mask-original_Hash",
    ]


def test_number_of_parts_without_simpleitk(monkeypatch):
    monkeypatch.setitem(sys.modules, "SimpleITK", None)
    mask = np.zeros((5, 6, 7), np.uint8)
    mask[:2, :2, :2] = mask[2, 2, 2] = mask[4, 5, 0:7:2] = 1
    images = [to_itk(array) for array in (np.arange(210.0).reshape(mask.shape), mask)]
    assert radiomics.execute(*images, featureClass="glrlm")["diagnostics_Mask-original_VolumeNum"] == 5


# --- Types and geometry ------------------------------------------------------------------------------------------------


def test_types_in_and_out(tmp_path):
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    arguments = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False}
    key = "original_glrlm_RunEntropy"
    ours = radiomics.execute(*scene(to_itk), **arguments)[key]
    assert type(ours) is itk.Image[itk.F, 3]
    for image, mask in (
        scene(to_simpleitk),
        (to_simpleitk(image_array("int16")), to_itk(mask_array("holes"))),
    ):
        theirs = radiomics.execute(image, mask, **arguments)[key]
        assert isinstance(theirs, sitk.Image) and theirs.GetPixelID() == sitk.sitkFloat32
        np.testing.assert_array_equal(sitk.GetArrayFromImage(theirs), itk.array_from_image(ours))
        assert (theirs.GetOrigin(), theirs.GetSpacing()) == (tuple(ours.GetOrigin()), tuple(ours.GetSpacing()))
    for name, image in zip(("image.nii.gz", "mask.nrrd"), scene(to_simpleitk)):
        sitk.WriteImage(image, str(tmp_path / name))
    read = radiomics.execute(
        tmp_path / "image.nii.gz", str(tmp_path / "mask.nrrd"), geometryTolerance=1e-4, **arguments
    )
    assert isinstance(read[key], sitk.Image)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read[key]), itk.array_from_image(ours))
    in_double = radiomics.execute(*scene(to_itk), precision="double", **arguments)[key]
    assert type(in_double) is itk.Image[itk.D, 3]
    np.testing.assert_array_equal(itk.array_from_image(in_double).astype(np.float32), itk.array_from_image(ours))


def test_geometry_of_images_that_do_not_begin_at_index_0():
    image, mask = scene()
    whole = radiomics.execute(image, mask, featureClass={"glrlm": ["RunEntropy"]}, additionalInfo=False)
    shifted = []
    for original in (image, mask):
        copy = itk.image_duplicator(original)
        region = copy.GetLargestPossibleRegion()
        region.SetIndex([4, -2, 7])
        # The same voxels at the same points.
        copy.SetRegions(region)
        back = original.TransformIndexToPhysicalPoint([-4, 2, -7])
        copy.SetOrigin(back)
        shifted.append(copy)
    maps = radiomics.execute(*shifted, featureClass={"glrlm": ["RunEntropy"]}, additionalInfo=False)
    for key in whole:
        np.testing.assert_array_equal(itk.array_from_image(maps[key]), itk.array_from_image(whole[key]))
        np.testing.assert_allclose(maps[key].GetOrigin(), whole[key].GetOrigin(), rtol=1e-14)


def test_images_of_two_dimensions():
    array, mask = image_array("int16")[4], mask_array("holes")[4]
    arguments = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False, "binWidth": 10}
    maps = radiomics.execute(itk.image_from_array(array), itk.image_from_array(mask), **arguments)
    volume = radiomics.execute(
        itk.image_from_array(array[np.newaxis]), itk.image_from_array(mask[np.newaxis]), force2D=True, **arguments
    )
    for key in maps:
        np.testing.assert_array_equal(itk.array_from_image(maps[key]), itk.array_from_image(volume[key])[0])
    with pytest.raises(ValueError, match="force2Ddimension is 2, but the image has 2 dimensions"):
        radiomics.execute(
            itk.image_from_array(array), itk.image_from_array(mask), force2D=True, force2Ddimension=2, **arguments
        )


def test_label_channel():
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    image, mask = scene(to_simpleitk)
    channels = sitk.Compose([mask * 0, mask])
    arguments = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False}
    expected = radiomics.execute(image, mask, **arguments)["original_glrlm_RunEntropy"]
    result = radiomics.execute(image, channels, label_channel=1, **arguments)["original_glrlm_RunEntropy"]
    np.testing.assert_array_equal(sitk.GetArrayFromImage(result), sitk.GetArrayFromImage(expected))
    with pytest.raises(ValueError, match=r"no voxel of the mask is 1 \(label\); it has only the value 0$"):
        radiomics.execute(image, channels, **arguments)
    with pytest.raises(ValueError, match="setting label_channel is 2, but the mask has 2 channels"):
        radiomics.execute(image, channels, label_channel=2, **arguments)
    with pytest.raises(ValueError, match="the image has 2 channels"):
        radiomics.execute(sitk.Compose([image, image]), mask, **arguments)


# --- Parameters --------------------------------------------------------------------------------------------------------


def test_files_dicts_and_keywords_agree(tmp_path):
    given = {
        "setting": {"binWidth": 12.5, "label": 2},
        "voxelSetting": {"kernelRadius": 2, "initValue": -1},
        "featureClass": {"glrlm": ["RunEntropy"], "shape": None},
        "imageType": {"Original": {}},
    }
    (tmp_path / "parameters.json").write_text(json.dumps(given))
    (tmp_path / "parameters.yaml").write_text(
        "setting:\n  binWidth: 12.5\n  label: 2\nvoxelSetting: {kernelRadius: 2, initValue: -1}\n"
        "featureClass:\n  glrlm: [RunEntropy]\n  shape:\nimageType:\n  Original: {}\n"
    )
    keywords = {**given["setting"], **given["voxelSetting"], "featureClass": {"glrlm": ["RunEntropy"]}}
    expected = radiomics.execute(*scene(), **keywords)
    for params in (given, str(tmp_path / "parameters.json"), tmp_path / "parameters.yaml"):
        if str(params).endswith("yaml"):
            pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed")
        result = radiomics.execute(*scene(), params)
        assert list(result) == list(expected)
        key = "original_glrlm_RunEntropy"
        np.testing.assert_array_equal(itk.array_from_image(result[key]), itk.array_from_image(expected[key]))
    override = radiomics.execute(*scene(), given, initValue=7)["original_glrlm_RunEntropy"]
    assert itk.array_from_image(override).max() == 7


def test_settings_of_the_image_type(caplog):
    own = run(binWidth=3, imageType={"Original": {"binWidth": 10}})
    for key, array in run().items():
        np.testing.assert_array_equal(own[key], array)
    for name, section in (("label", "setting"), ("kernelRadius", "voxelSetting")):
        with pytest.raises(
            ValueError, match=f"setting {name} is that of all image types; give it in the section {section}$"
        ):
            run(imageType={"Original": {name: 1}})
    assert not differ(run(imageType={"Original": {"normalize": True}}), run())
    assert [record.getMessage() for record in caplog.records] == [
        "setting normalize of imageType Original has no effect there, as in PyRadiomics"
    ]


# A value other than that of run(), with which the maps of the scene are others.
EFFECTIVE = {
    "label": 2,
    "resegmentRange": [20, 150],
    "binWidth": 30,
    "binCount": 5,
    "force2D": True,
    "weightingNorm": "no_weighting",
    "kernelRadius": 2,
    "maskedKernel": False,
    "initValue": 3,
    "normalize": True,
    "resampledPixelSpacing": [0.6, 0.6, 1.5],
    "preCrop": True,
}
# Settings that act together with another one.
TOGETHER = {
    "force2Ddimension": (1, {"force2D": True}),
    "resegmentMode": ("sigma", {"resegmentRange": [-1, 100]}),
    "normalizeScale": (50, {"normalize": True, "binWidth": 1}),
    "removeOutliers": (0.5, {"normalize": True, "binWidth": 0.1}),
    "interpolator": ("sitkNearestNeighbor", {"resampledPixelSpacing": [0.6, 0.6, 1.5]}),
    "padDistance": (0, {"preCrop": True, "kernelRadius": 2, "maskedKernel": False}),
}
# Settings of other classes, of checks, or tested above and below.
ELSEWHERE = {
    "label_channel", "minimumROIDimensions", "minimumROISize", "geometryTolerance", "correctMask", "additionalInfo",
    "resegmentShape", "distances", "symmetricalGLCM", "voxelArrayShift", "gldm_a", "voxelBatch",
}  # fmt: skip


def differ(first, second):
    return any(
        first[key].shape != second[key].shape or not np.array_equal(first[key], second[key], equal_nan=True)
        for key in first
    )


def test_every_setting_of_pyradiomics_is_known():
    pyradiomics = pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from ruamel.yaml import YAML

    schema, _ = pyradiomics.getParameterValidationFiles()
    mapping = YAML(typ="safe", pure=True).load(pathlib.Path(schema).read_text())["mapping"]
    ours = {"setting": set(), "voxelSetting": set()}
    for name, setting in parameters.SETTINGS.items():
        ours[setting.section].add(name)
    assert {section: set(mapping[section]["mapping"]) for section in ours} == ours


def test_every_setting_is_tested():
    of_filters = {name for name, setting in parameters.SETTINGS.items() if setting.belongs_to_filter}
    assert set(EFFECTIVE) | set(TOGETHER) | ELSEWHERE | of_filters == set(parameters.SETTINGS)


@pytest.mark.parametrize("name", EFFECTIVE)
def test_settings_have_an_effect(name):
    if name in ("normalize", "resampledPixelSpacing"):
        pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    others = {"preCrop": {"kernelRadius": 6, "padDistance": 1}}.get(name, {})
    assert differ(run(**others), run(**others, **{name: EFFECTIVE[name]}))


@pytest.mark.parametrize("name", TOGETHER)
def test_settings_have_an_effect_together(name):
    if name in ("normalizeScale", "removeOutliers", "interpolator"):
        pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    value, others = TOGETHER[name]
    assert differ(run(**others), run(**others, **{name: value}))


def test_voxel_batch_is_one_log_line(caplog):
    caplog.set_level(logging.INFO)
    batched = run(voxelBatch=5)
    lines = [record for record in caplog.records if record.name.startswith("voxelmaps")]
    assert [record.getMessage() for record in lines] == [
        "setting voxelBatch has no effect: all voxels are computed at once"
    ]
    assert not differ(batched, run())


def test_all_features_of_glcm(caplog):
    keys = list(radiomics.execute(*scene(), featureClass="glcm", additionalInfo=False))
    assert len(keys) == 24 and keys[keys.index("original_glcm_JointEntropy") + 1] == "original_glcm_MCC"
    assert not caplog.records
    with pytest.raises(NotImplementedError, match="Dissimilarity of glcm is deprecated .* it equals DifferenceAverage"):
        radiomics.execute(*scene(), featureClass={"glcm": ["Dissimilarity"]})


INVALID = {
    "binWidht": (10, ValueError, r"setting binWidht is not known \(did you mean binWidth\?\); choose from label, "),
    "sigma": (1.0, ValueError, "setting sigma is 1.0, but must be a list of numbers"),
    "wavelet": ("coif", ValueError, "setting wavelet is 'coif', but must be the name of a discrete wavelet"),
    "lbp2DMethod": ("var.", ValueError, "setting lbp2DMethod is 'var.', but must be one of default, ror, uniform, var"),
    "label": (0, ValueError, "setting label is 0, but must be an integer from 1 up"),
    "binWidth": (0, ValueError, "setting binWidth is 0, but must be greater than 0"),
    "binCount": (2.5, ValueError, "setting binCount is 2.5, but must be an integer from 1 up"),
    "kernelRadius": (128, ValueError, "setting kernelRadius is 128, but must be an integer from 1 to 127"),
    "maskedKernel": (1, ValueError, "setting maskedKernel is 1, but must be true or false"),
    "initValue": ("0,5", ValueError, "setting initValue is '0,5', but must be a number"),
    "distances": ([1, 1], ValueError, "must be a list of one or more integers without repetition"),
    "weightingNorm": (
        "manhatten",
        ValueError,
        "'manhatten', but must be one of manhattan, euclidean, infinity, no_weighting",
    ),
    "gldm_a": (0.5, ValueError, "setting gldm_a is 0.5, but must be an integer from 0 up"),
    "resegmentRange": ([1, 2, 3], ValueError, "must be a list of one or two numbers"),
    "resegmentMode": ("relatively", ValueError, "must be one of absolute, relative, sigma"),
    "interpolator": ("linear", ValueError, "must be one of sitkNearestNeighbor, "),
    "featureClass": (5, ValueError, "featureClass is 5, but must be a name, a list of names, or a dict"),
    "imageType": (
        "Wavelets",
        ValueError,
        r"imageType Wavelets is not known \(did you mean Wavelet\?\); choose from Original, LoG, ",
    ),
    "precision": ("single", ValueError, "precision is 'single', but must be float or double"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_parameters_are_named(name):
    value, error, message = INVALID[name]
    with pytest.raises(error, match=message):
        run(**{name: value})


def test_several_labels():
    with pytest.raises(
        ValueError, match=r"setting label is \[1, 3\], but must be one label.*feature_maps\(image, mask, label="
    ):
        run(label=[1, 3])


def test_invalid_classes_and_sections_are_named():
    for classes, error, message in (
        ([["glcm"]], ValueError, "featureClass is ..'glcm'.., but must be a name"),
        ({"glcm": True}, ValueError, "featureClass glcm is True, but must be a list of names of features"),
        ("glxm", ValueError, r"featureClass glxm is not known \(did you mean gldm\?\); choose from firstorder, glcm, "),
        (
            {"glrlm": ["Contrast"]},
            ValueError,
            r"feature Contrast of glrlm is not known.*; choose from ShortRunEmphasis, ",
        ),
        ({"glrlm": "RunEntropy"}, ValueError, "featureClass glrlm is 'RunEntropy', but must be a list"),
    ):
        with pytest.raises(error, match=message):
            run(featureClass=classes)
    for types, message in ((5, "imageType is 5"), ({"Original": 5}, "imageType Original is 5, but must map")):
        with pytest.raises(ValueError, match=message):
            run(imageType=types)
    with pytest.raises(
        ValueError,
        match=r"section settings of the parameters is not known \(did you mean setting.*\); choose from setting, ",
    ):
        radiomics.execute(*scene(), {"settings": {}})
    with pytest.raises(ValueError, match="setting kernelRadius is given in two sections of the parameters"):
        radiomics.execute(*scene(), {"setting": {"kernelRadius": 1}, "voxelSetting": {"kernelRadius": 1}})
    with pytest.raises(TypeError, match="params must be a dict or the path .* not list"):
        radiomics.execute(*scene(), [])


def test_invalid_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="parameter file .*none.yaml does not exist"):
        radiomics.execute(*scene(), tmp_path / "none.yaml")
    files = {
        "twice.json": ('{"setting": {"binWidth": 1, "binWidth": 2}}', "binWidth is given twice"),
        "broken.json": ("{", "broken.json: Expecting"),
        "parameters.txt": ("", "ends in neither .yaml, .yml nor .json"),
    }
    if importlib.util.find_spec("ruamel.yaml") is not None:
        files["twice.yaml"] = ("setting:\n  binWidth: 1\n  binWidth: 2\n", "twice.yaml: .*duplicate key")
        files["broken.yaml"] = ("setting: [", "broken.yaml: ")
    files["latin.json"] = ('{"setting": {"\xe9": 1}}', "latin.json is not UTF-8: invalid continuation byte at byte 14")
    files["list.json"] = ("[]", "list.json must hold sections, but holds a list")
    files["deep.json"] = ("[" * 100000, "deep.json is nested too deeply")
    for name, (text, message) in files.items():
        (tmp_path / name).write_text(text, encoding="latin-1" if name.startswith("latin") else "utf-8")
        with pytest.raises(ValueError, match=message):
            radiomics.execute(*scene(), tmp_path / name)


def test_invalid_images_are_named(tmp_path):
    image, mask = scene()
    arguments = {"featureClass": "glrlm", "additionalInfo": False}
    with pytest.raises(TypeError, match="the image must be an image with a geometry, .* not ndarray: make one"):
        radiomics.execute(image_array("int16"), mask, **arguments)
    with pytest.raises(FileNotFoundError, match="the mask .*none.nrrd does not exist"):
        radiomics.execute(image, tmp_path / "none.nrrd", **arguments)
    with pytest.raises(ValueError, match="the image has 3 dimensions, but the mask has 2"):
        radiomics.execute(image, itk.image_from_array(mask_array("holes")[4]), correctMask=True, **arguments)
    with pytest.raises(ValueError, match=r"no voxel of the mask is 3 \(label\); it has the values 0, 1 and 2"):
        radiomics.execute(image, mask, label=3, **arguments)
    array = image_array("float32")
    array[4, 5, 5] = np.nan
    with pytest.raises(ValueError, match="the image is NaN at .* voxels? inside the mask"):
        radiomics.execute(to_itk(array), to_itk(np.ones(SHAPE, np.uint8)), **arguments)
    with pytest.raises(ValueError, match="setting binWidth is 1e-05, which makes .* at most 65535 are possible"):
        radiomics.execute(to_itk(image_array("float64")), mask, binWidth=1e-5, **arguments)
    with pytest.raises(ValueError, match="setting binCount is 100000, but at most 65535"):
        radiomics.execute(image, mask, binCount=100000, **arguments)
    with pytest.raises(ValueError, match="setting kernelRadius is 20, which makes windows of 68921 voxels"):
        radiomics.execute(image, mask, kernelRadius=20, **arguments)
    with pytest.raises(ValueError, match="setting initValue is 1e[+]39, but float32 holds values up to"):
        radiomics.execute(image, mask, initValue=1e39, **arguments)
    radiomics.execute(image, mask, initValue=1e39, precision="double", **arguments)


def test_distances_beyond_the_window():
    maps = [
        radiomics.execute(*scene(), featureClass={"glcm": ["Contrast"]}, distances=distances)["original_glcm_Contrast"]
        for distances in ([2], [2, 3, 200])
    ]
    np.testing.assert_array_equal(*map(itk.array_from_image, maps))
    with pytest.raises(
        ValueError, match=r"setting distances is \[3\], which makes 0 directions in windows of \[3, 3, 3\]"
    ):
        radiomics.execute(*scene(), featureClass={"glcm": ["Contrast"]}, distances=[3])


def test_checks_of_the_region():
    image, mask = scene()
    arguments = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False}
    one, line = np.zeros((2, *SHAPE), np.uint8)
    one[3, 3, 3] = 1
    line[3, 3, 2:6] = 1
    with pytest.raises(
        ValueError, match="setting minimumROIDimensions is 1, but .* longer than one voxel along 0 axes"
    ):
        radiomics.execute(image, to_itk(one), minimumROIDimensions=1, **arguments)
    with pytest.raises(ValueError, match="setting minimumROIDimensions is 2, but .* along 1 axes"):
        radiomics.execute(image, to_itk(line), **arguments)
    radiomics.execute(image, to_itk(line), minimumROIDimensions=1, **arguments)
    count = int(np.count_nonzero(mask_array("holes") == 1))
    radiomics.execute(image, mask, minimumROISize=count - 1, **arguments)
    with pytest.raises(
        ValueError, match=f"setting minimumROISize is {count}, but the region of interest has {count} voxels"
    ):
        radiomics.execute(image, mask, minimumROISize=count, **arguments)
    with pytest.raises(ValueError, match="setting resegmentRange is .* which leaves 0 voxels"):
        radiomics.execute(image, mask, resegmentRange=[1000, 2000], **arguments)
    # A mask without a 0, which PyRadiomics 3.0.1 refuses.
    whole = radiomics.execute(image, to_itk(np.ones(SHAPE, np.uint8)), **arguments)["original_glrlm_RunEntropy"]
    assert itk.array_from_image(whole).shape == SHAPE


def test_masks_with_another_geometry():
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    image, mask = scene(to_simpleitk)
    arguments = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False}
    key = "original_glrlm_RunEntropy"
    expected = sitk.GetArrayFromImage(radiomics.execute(image, mask, **arguments)[key])
    moved = sitk.Image(mask)
    moved.SetOrigin([x + 0.001 for x in ORIGIN])
    with pytest.raises(
        ValueError, match="the mask has the origin .*; setting correctMask resamples it, and geometryTol"
    ):
        radiomics.execute(image, moved, **arguments)
    for setting in ({"geometryTolerance": 0.01}, {"correctMask": True}):
        result = radiomics.execute(image, moved, **setting, **arguments)[key]
        np.testing.assert_array_equal(sitk.GetArrayFromImage(result), expected)
    cut = mask[:-1, :, :]
    with pytest.raises(ValueError, match=r"the mask has the size \(10, 10, 9\), but the image has \(11, 10, 9\)"):
        radiomics.execute(image, cut, **arguments)
    result = radiomics.execute(image, cut, correctMask=True, **arguments)[key]
    np.testing.assert_array_equal(sitk.GetArrayFromImage(result), expected)
    outside = sitk.Image(mask)
    outside.SetOrigin([x + 100 for x in ORIGIN])
    with pytest.raises(ValueError, match="the region of interest reaches from"):
        radiomics.execute(image, outside, correctMask=True, **arguments)


def test_integers_of_small_types_do_not_overflow():
    array = image_array("uint8")
    array[4, 5, 5] = 255
    mask = to_itk(np.ones(SHAPE, np.uint8))
    maps = [
        radiomics.execute(to_itk(array.astype(kind)), mask, featureClass="glrlm", additionalInfo=False, binWidth=25)
        for kind in (np.uint8, np.int32)
    ]
    for key in maps[0]:
        np.testing.assert_array_equal(itk.array_from_image(maps[0][key]), itk.array_from_image(maps[1][key]))


@pytest.mark.parametrize("limits", [[0, 2], [1, 3], [-1, 0.5]])
def test_relative_limits_of_integers_of_small_types(limits):
    array = image_array("uint8")
    array[4, 5, 5] = 200
    settings = {"resegmentRange": limits, "resegmentMode": "relative", "minimumROIDimensions": 1}
    mask = mask_array("holes")
    if limits[0] == 1:
        array[(array > 100) & (mask == 1)] = 200
    counts = []
    for kind in (np.uint8, np.float64):
        maps = radiomics.execute(to_itk(array.astype(kind)), to_itk(mask), featureClass={"glcm": ["Id"]}, **settings)
        counts.append(maps["diagnostics_Mask-resegmented_VoxelNum"])
    values = array[mask == 1].astype(float)
    greatest = values.max()
    assert counts == [np.count_nonzero((values >= limits[0] * greatest) & (values <= limits[1] * greatest))] * 2


# --- The extractor -----------------------------------------------------------------------------------------------------


def test_extractor():
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    params = {
        "featureClass": {"gldm": ["DependenceEntropy"], "glrlm": ["RunVariance", "RunEntropy"]},
        "imageType": {"Original": {}, "LoG": {"sigma": [2.0]}},
        "setting": {"binWidth": 20},
    }
    image, mask = scene(to_simpleitk)
    theirs = RadiomicsFeatureExtractor(params).execute(image, mask, voxelBased=True)
    for precision, pixel in (("float", sitk.sitkFloat32), ("double", sitk.sitkFloat64)):
        extractor = radiomics.RadiomicsFeatureExtractor(params, precision=precision)
        ours = extractor.execute(image, mask, voxelBased=True)
        assert list(ours) == list(theirs)
        for key in maps_only(ours):
            assert ours[key].GetPixelID() == pixel
            a, b = (sitk.GetArrayFromImage(result[key]).astype(float) for result in (ours, theirs))
            np.testing.assert_allclose(a, b, rtol=1e-6 if precision == "float" else 1e-12, atol=1e-12)
    maps = radiomics.execute(image, mask, params, precision="double")
    assert maps_only(maps) == maps_only(theirs)
    for key in maps_only(maps):
        np.testing.assert_array_equal(*(sitk.GetArrayFromImage(result[key]) for result in (maps, ours)), err_msg=key)


def test_extractor_without_pyradiomics(monkeypatch):
    monkeypatch.delitem(sys.modules, "voxelmaps.radiomics._extractor", raising=False)
    monkeypatch.setitem(sys.modules, "radiomics", None)
    with pytest.raises(ImportError, match="RadiomicsFeatureExtractor needs PyRadiomics; execute.. does not: "):
        radiomics.RadiomicsFeatureExtractor
    assert not hasattr(radiomics, "FeatureExtractor")


def test_extractor_leaves_the_rest_to_pyradiomics():
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    image, mask = scene(to_simpleitk)
    for settings in ({}, {"weightingNorm": "euclidean"}):
        extractor = radiomics.RadiomicsFeatureExtractor(additionalInfo=False, **settings)
        extractor.enabledFeatures = {"glcm": []}
        ours = extractor.execute(image, mask, voxelBased=True)
        assert list(ours) == [f"original_glcm_{name}" for name in parameters.CLASSES["glcm"].all_features()]


def test_many_bins_are_refused_before_they_are_made():
    image, mask = scene()
    with pytest.raises(ValueError, match="setting binCount is 1000000000, but at most 65535"):
        radiomics.execute(image, mask, featureClass=["glcm"], binCount=10**9)


def test_regions_without_voxels_after_resampling():
    pytest.importorskip("SimpleITK")
    for spacing, message in (
        ([20.0] * 3, r"which leaves no voxel of the region of interest, whose 161 voxels"),
        ([1e-6] * 3, "which makes an image of .* voxels; 1099511627776 are possible"),
    ):
        with pytest.raises(ValueError, match=message):
            run(resampledPixelSpacing=spacing)


def test_normalization_of_a_constant_image():
    pytest.importorskip("SimpleITK")
    constant = to_itk(np.full(SHAPE, 7, np.int16))
    with pytest.raises(ValueError, match="setting normalize divides by the deviation of the image, which is 0"):
        radiomics.execute(constant, to_itk(mask_array("holes")), featureClass=["glcm"], normalize=True)


def test_settings_of_the_extractor_that_are_misspelled(caplog):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    radiomics.RadiomicsFeatureExtractor(binwidth=5, kernelRadius=2, sigma=[1.0])
    assert [r.getMessage() for r in caplog.records if r.name.startswith("voxelmaps")] == [
        "setting binwidth is not known to PyRadiomics and has no effect"
    ]


def test_arrays_have_the_same_values():
    """voxelmaps.feature_maps of an array, and execute of an image."""
    image, mask = image_array("int16"), mask_array("scattered")
    maps = radiomics.execute(to_itk(image), to_itk(mask), binWidth=10, kernelRadius=2, additionalInfo=False)
    features = [key.removeprefix("original_") for key in maps]
    of_array = voxelmaps.feature_maps(
        image, mask == 1, features=features, spacing=SPACING[::-1], bin_width=10, crop="mask"
    )
    for key, expected in maps.items():
        np.testing.assert_array_equal(
            of_array[key.removeprefix("original_")], itk.array_from_image(expected), err_msg=key
        )


def test_weighting_norm_is_that_of_the_drop_in():
    """Whose values agree with PyRadiomics'."""
    x = np.random.default_rng(0).integers(0, 200, (5, 6, 7)).astype(np.int16)
    volume = itk.image_from_array(x)
    volume.SetSpacing([0.5, 0.75, 2.0])
    mask = itk.image_from_array(np.ones(x.shape, np.uint8))
    mask.SetSpacing(volume.GetSpacing())
    for norm in ("manhattan", "euclidean", "infinity"):
        features = {"glcm": ["Contrast", "MCC"], "glrlm": ["RunEntropy", "GrayLevelNonUniformity"]}
        expected = radiomics.execute(volume, mask, featureClass=features, weightingNorm=norm, kernelRadius=2)
        maps = voxelmaps.feature_maps(
            x, np.ones_like(x), features=features, spacing=(2, 0.75, 0.5), weighting_norm=norm
        )
        for name, values in maps.items():
            np.testing.assert_array_equal(values, itk.array_from_image(expected[f"original_{name}"]), err_msg=name)
    for arguments, text in (
        (
            {"weighting_norm": "euclidian"},
            "weighting_norm is 'euclidian' .did you mean euclidean.., but must be one of manhattan, euclidean, infinity",
        ),
        ({"weighting_norm": "euclidean"}, "weighting_norm is 'euclidean', which needs the spacing"),
        (
            {"weighting_norm": "euclidean", "spacing": (1, 1, 1), "aggregation": "average"},
            "but matrices with weights are merged",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            voxelmaps.feature_maps(x, features="glcm", **arguments)
    with pytest.raises(ValueError, match="weighting_norm is 'euclidean', but has no effect on features of ngtdm"):
        voxelmaps.feature_maps(x, features="ngtdm", weighting_norm="euclidean", spacing=(1, 1, 1))
