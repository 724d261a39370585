# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' voxel-based extraction: values beside PyRadiomics, keys, settings, geometry, errors, files."""

import contextlib
import gzip
import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys

import itk
import nibabel
import numpy as np
import pytest
import voxelmaps
from pyradiomics_oracle import ORIGIN, SHAPE, SPACING
from pyradiomics_oracle import all_features, compare, expect_same, image_array, mask_array, to_itk, to_simpleitk
from voxelmaps import radiomics
from voxelmaps._files import writing as files
from voxelmaps.radiomics import _settings as parameters

CLASSES = list(parameters.CLASSES)

# --- Values beside PyRadiomics -----------------------------------------------------------------------------------------

# Name -> kind of image, kind of mask, settings; bins are 10 wide by default.
CASES = {
    "default": ("int16", "holes", {"binWidth": 25}),
    "binWidth": ("int32", "border", {"binWidth": 7, "kernelRadius": 2}),
    "binWidth_of_float": ("float32", "holes", {"binWidth": 0.1}),
    "binWidth_of_double": ("float64", "border", {"binWidth": 0.1}),
    "binCount": ("int16", "holes", {"binCount": 16}),
    "binCount_of_float": ("float32", "border", {"binCount": 20, "kernelRadius": 2}),
    "scattered": ("int16", "scattered", {}),
    "sheet": ("int16", "sheet", {"kernelRadius": 2}),
    "force2D_0": ("int16", "holes", {"force2D": True}),
    "force2D_1": ("int16", "holes", {"force2D": True, "force2Ddimension": 1, "kernelRadius": 2}),
    "force2D_2": ("int16", "scattered", {"force2D": True, "force2Ddimension": 2}),
    "maskedKernel": ("int16", "border", {"maskedKernel": False}),
    "maskedKernel_binCount": ("float32", "scattered", {"binCount": 12, "maskedKernel": False}),
    "initValue": ("int16", "holes", {"initValue": -3.5}),
    "label": ("int16", "holes", {"label": 2}),
    "no_weighting": ("int16", "holes", {"weightingNorm": "no_weighting"}),
    "no_weighting_scattered": ("int16", "scattered", {"weightingNorm": "no_weighting"}),
    "manhattan": ("int16", "holes", {"weightingNorm": "manhattan"}),
    "euclidean": ("int16", "scattered", {"weightingNorm": "euclidean", "kernelRadius": 2}),
    "infinity": ("float32", "border", {"binWidth": 0.2, "weightingNorm": "infinity", "distances": [2, 1], "kernelRadius": 2}),
    "weighting_asymmetric": ("int16", "holes", {"weightingNorm": "euclidean", "symmetricalGLCM": False}),
    "weighting_force2D": ("int16", "sheet", {"binWidth": 60, "weightingNorm": "manhattan", "force2D": True}),
    "distances": ("int16", "holes", {"distances": [1, 2], "kernelRadius": 2}),
    "distance_2": ("int16", "border", {"distances": [2]}),
    "distances_force2D": ("int16", "holes", {"distances": [2, 1], "force2D": True, "force2Ddimension": 1, "kernelRadius": 2}),
    "gldm_a": ("int16", "holes", {"gldm_a": 2}),
    "symmetricalGLCM": ("int16", "holes", {"symmetricalGLCM": False}),
    "symmetricalGLCM_scattered": ("int16", "scattered", {"binWidth": 60, "symmetricalGLCM": False}),
    "symmetricalGLCM_border": ("int16", "border", {"symmetricalGLCM": False}),
    "one_level_border": ("int16", "border", {"binCount": 1}),
    "one_level": ("int16", "scattered", {"binWidth": 1000}),
    "voxelArrayShift": ("int16", "holes", {"voxelArrayShift": 100}),
    "resegmentRange": ("int16", "border", {"resegmentRange": [20, 140]}),
    "resegment_relative": ("float32", "holes", {"binWidth": 0.2, "resegmentRange": [0.4], "resegmentMode": "relative"}),
    "resegment_sigma": ("int16", "holes", {"resegmentRange": [-1.5, 1], "resegmentMode": "sigma"}),
    "preCrop": ("int16", "border", {"preCrop": True, "padDistance": 1, "kernelRadius": 2, "maskedKernel": False}),
    "normalize": ("int16", "holes", {"binWidth": 0.3, "normalize": True}),
    "removeOutliers": ("float32", "holes", {"binWidth": 20, "normalize": True, "normalizeScale": 100, "removeOutliers": 1.5}),
    "resampled": ("int16", "border", {"resampledPixelSpacing": [0.6, 0.6, 1.5], "padDistance": 2}),
    "resampled_in_plane": ("float32", "sheet", {"binWidth": 0.2, "resampledPixelSpacing": [0.7, 0.7, 0], "interpolator": "sitkLinear"}),
    "resampled_to_itself": ("int16", "holes", {"resampledPixelSpacing": [0.5, 0.75, 2.0]}),
}  # fmt: skip


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
    params = params_of({name: all_features(name)}, {"binWidth": 10, **settings})
    compare(to_simpleitk(image_array(image)), to_simpleitk(mask_array(mask)), params, "double")


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float32", "float64"])
def test_float_maps_of_pyradiomics(kind, name):
    settings = {"binCount": 16, "kernelRadius": 2}
    features = {name: all_features(name)}
    image, mask = to_simpleitk(image_array(kind)), to_simpleitk(mask_array("border"))
    compare(image, mask, params_of(features, settings), "float")


# --- Values where PyRadiomics has a fault; test_windows.py has others --------------------------------------------------


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


@pytest.mark.parametrize("radius", [1, 2, 4, 19])
def test_inverse_squares_of_many_levels(radius):
    """They are numbers in fixed point, which doc/radiomics.md has the errors of."""
    for levels in (100, 182, 256, 725, 2048, 4096, 16000, 65535):
        worst = {}
        options = {"largest_gray_level": levels, "neighborhood_radius": radius, "precision": "double"}
        for level in (levels, levels - 1, levels * 3 // 4, levels * 2 // 3):
            # One pair of voxels; two voxels of one level, and one of level 1.
            k = level - 1
            expected = {"glcm_Idm": 1 / (1 + k**2), "glcm_InverseVariance": 1 / k**2, "glcm_Id": 1 / (1 + k)}
            low = dict.fromkeys(("gldm_LowGrayLevelEmphasis", "glszm_LowGrayLevelZoneEmphasis"), 1 / level**2)
            small = ("gldm_SmallDependenceLowGrayLevelEmphasis", "glszm_SmallAreaLowGrayLevelEmphasis")
            low.update(dict.fromkeys(small, 0.25 / level**2))
            maps = dict(voxelmaps.feature_maps([[[1, level]]], features=list(expected), **options))
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


ENTROPY = {"featureClass": {"glrlm": ["RunEntropy"]}, "additionalInfo": False}
KEY = "original_glrlm_RunEntropy"


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


@pytest.mark.parametrize("name", CLASSES)
def test_features_are_those_of_pyradiomics(name):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics import getFeatureClasses

    theirs = getFeatureClasses()[name].getFeatureNames()
    assert all_features(name) == [feature for feature, is_deprecated in theirs.items() if not is_deprecated]
    assert set(parameters.numbers_of(name)) | set(parameters.REPLACED.get(name, ())) == set(theirs)


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


# --- Geometry ----------------------------------------------------------------------------------------------------------


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
    expected = radiomics.execute(image, mask, **ENTROPY)
    expect_same(radiomics.execute(image, channels, label_channel=1, **ENTROPY), expected)
    for given, options, message in (
        ((image, channels), {}, r"no voxel of the mask is 1 \(label\); it has only the value 0$"),
        ((image, channels), {"label_channel": 2}, "setting label_channel is 2, but the mask has 2 channels"),
        ((sitk.Compose([image, image]), mask), {}, "the image has 2 channels"),
    ):
        with pytest.raises(ValueError, match=message):
            radiomics.execute(*given, **options, **ENTROPY)


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
    empty = {**given, "setting": {**given["setting"], **given["voxelSetting"]}, "voxelSetting": None, "imageType": None}
    for params in (given, empty, str(tmp_path / "parameters.json"), tmp_path / "parameters.yaml"):
        if str(params).endswith("yaml"):
            pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed")
        expect_same(radiomics.execute(*scene(), params), expected)
    override = radiomics.execute(*scene(), given, initValue=7)[KEY]
    assert itk.array_from_image(override).max() == 7


@pytest.mark.parametrize(
    "settings, lines",
    [
        ({"binWidth": 10}, []),
        (
            {"imageType": {"Original": {"normalize": True}}},
            ["setting normalize of imageType Original has no effect there, as in PyRadiomics"],
        ),
        ({"voxelBatch": 5}, ["setting voxelBatch has no effect: all voxels are computed at once"]),
        ({"voxelBased": True}, []),
        ({"params": {"setting": {"voxelBased": True}}}, []),
        ({"params": {"voxelSetting": {"voxelBased": True}}}, []),
    ],
)
def test_settings_without_effect(settings, lines, caplog):
    caplog.set_level(logging.INFO)
    for key, array in run(**settings).items():
        np.testing.assert_array_equal(array, run()[key])
    records = [r for r in caplog.records if r.name.startswith("voxelmaps.radiomics")]
    assert list(dict.fromkeys(r.getMessage() for r in records)) == lines


# Settings, and the error. Sections of a parameter file are "params".
INVALID = [
    ({"binWidht": 10}, r"setting binWidht is not known \(did you mean binWidth\?\); choose from label, "),
    ({"params": {"setting": {"binwidht": 5}}}, rf"^setting binwidht .*; choose from {', '.join(parameters.SETTINGS)}$"),
    ({"neighborhood_radius": 2}, "setting neighborhood_radius is not known .did you mean kernelRadius"),
    ({"sigma": 1.0}, "setting sigma is 1.0, but must be a list of numbers"),
    ({"imageType": {"LoG": {"sigma": [[1.0]]}}}, "setting sigma is .*, but must be"),
    ({"imageType": {"LoG": {"sigma": [0]}}}, r"setting sigma is \[0\], but must be a list of numbers, each greater than 0"),
    ({"wavelet": "coif"}, "setting wavelet is 'coif', but must be the name of a discrete wavelet"),
    ({"wavelet": "morl"}, "setting wavelet is 'morl', but must be"),
    ({"level": 10**9}, "setting level is 1000000000, but must be an integer from 1 to 100"),
    ({"lbp2DMethod": "var."}, "setting lbp2DMethod is 'var.' .did you mean var.., but must be one of default, ror, uniform, var"),
    ({"lbp3DIcosphereSubdivision": 12}, "lbp3DIcosphereSubdivision is 12, .* from 0 to 5"),
    ({"label": 0}, "setting label is 0, but must be an integer from 1 up"),
    ({"label": [1, 3]}, r"setting label is \[1, 3\], but must be an integer from 1 up.*feature_maps\(label="),
    ({"label": 3}, r"no voxel of the mask is 3 \(label\); it has the values 0, 1 and 2"),
    ({"binWidth": 0}, "setting binWidth is 0, but must be a number greater than 0"),
    ({"binWidth": 1e-5}, "setting binWidth is 1e-05, which makes .* at most 65535 are possible"),
    ({"binCount": 2.5}, "setting binCount is 2.5, but must be an integer from 1 to 65535"),
    ({"binCount": 10**9}, "setting binCount is 1000000000, but must be an integer from 1 to 65535"),
    ({"kernelRadius": 128}, "setting kernelRadius is 128, but must be an integer from 1 to 127"),
    ({"kernelRadius": 20}, "setting kernelRadius is 20, which makes windows of .41, 41, 41."),
    ({"maskedKernel": 1}, "setting maskedKernel is 1, but must be true or false"),
    ({"initValue": "0,5"}, "setting initValue is '0,5', but must be a number"),
    ({"initValue": "1" * 5000}, "setting initValue is '1111"),
    ({"initValue": 1e39}, "setting initValue is 1e[+]39, but float32 holds values up to"),
    ({"distances": [1, 1]}, "must be a list of one or more integers without repetition"),
    ({"distances": [3], "featureClass": "glcm"}, r"distances is \[3\], which makes 0 directions in windows of \[3, 3, 3\]"),
    ({"weightingNorm": "manhatten"}, "'manhatten' .did you mean manhattan.., but must be one of manhattan, euclidean, infinity, no_weighting"),
    ({"gldm_a": 0.5}, "setting gldm_a is 0.5, but must be an integer from 0 up"),
    ({"resegmentRange": [1, 2, 3]}, "must be a list of one or two numbers"),
    ({"resegmentRange": [1000, 2000]}, "setting resegmentRange is .* which leaves 0 voxels"),
    ({"resegmentMode": "relatively"}, "must be one of absolute, relative, sigma"),
    ({"interpolator": "linear"}, "must be one of sitkNearestNeighbor, "),
    ({"resampledPixelSpacing": [20.0] * 3}, "which leaves no voxel of the region of interest, whose 161 voxels"),
    ({"resampledPixelSpacing": [1e-6] * 3}, "which makes an image of .* voxels; 1099511627776 are possible"),
    ({"precision": "single"}, "precision is 'single' .did you mean float.., but must be one of float, double"),
    ({"voxelBased": False, "out_dir": "maps"}, "out_dir is 'maps', but voxelBased is False, .* values of the region and no maps"),
    ({"voxelBased": 0}, "must be True, for maps, or False"),
    ({"voxelBased": False, "images": True}, "no maps"),
    # Classes.
    ({"featureClass": 5}, "featureClass is 5, but must be a name, a list of names, or a dict"),
    ({"featureClass": [["glcm"]]}, "featureClass is ..'glcm'.., but must be a name"),
    ({"featureClass": {"glcm": True}}, "featureClass glcm is True, but must be a list of names of features"),
    ({"featureClass": "glxm"}, r"featureClass glxm is not known \(did you mean gldm\?\); choose from firstorder, glcm, "),
    ({"featureClass": {"glrlm": ["Contrast"]}}, "feature Contrast of glrlm is not known.*; choose from ShortRunEmphasis, "),
    ({"featureClass": {"glrlm": "RunEntropy"}}, "featureClass glrlm is 'RunEntropy', but must be a list"),
    ({"featureClass": {"glcm": ["Dissimilarity"]}}, "Dissimilarity of glcm is deprecated and not computed: it equals DifferenceAverage"),
    ({"features": ["glcm_Contrast"]}, r"setting features is not known \(did you mean featureClass\?\)"),
    # Image types and sections.
    ({"imageType": "Wavelets"}, r"imageType Wavelets is not known \(did you mean Wavelet\?\); choose from Original, LoG, "),
    ({"imageType": 5}, "imageType is 5"),
    ({"imageType": {5: {}}}, "imageType is {5: {}}, but must be|imageType 5 is not known"),
    ({"imageType": {"Original": 5}}, "imageType Original is 5, but must map"),
    ({"imageType": {"\x1b[2J": {}}}, r"imageType \\x1b\[2J is not known"),
    ({"imageType": {"Original": {"label": 1}}}, "label is that of all image types; give it in the section setting$"),
    ({"imageType": {"LoG": {"kernelRadius": 2}}}, "kernelRadius is that of all image types; .* section voxelSetting$"),
    ({"params": {"settings": {}}}, r"section settings .* is not known \(did you mean setting.*\); choose from setting, "),
    ({"params": {"setting": {"initValue": 1}, "voxelSetting": {"initValue": 2}}}, "setting initValue is given in two sections"),
]  # fmt: skip


@pytest.mark.parametrize("settings, message", INVALID)
def test_invalid_parameters_are_named(settings, message):
    with pytest.raises((ValueError, NotImplementedError), match=message) as raised:
        run(**settings)
    text = str(raised.value)
    assert len(text) < 1000 and text.isprintable()


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
    with pytest.raises(TypeError, match="params must be a dict or the path .* not list"):
        radiomics.execute(*scene(), [])


def test_invalid_images_are_named(tmp_path):
    image, mask = scene()
    arguments = {"featureClass": "glrlm", "additionalInfo": False}
    with pytest.raises(TypeError, match="the image must be an image with a geometry, .* not ndarray: make one"):
        radiomics.execute(image_array("int16"), mask, **arguments)
    with pytest.raises(FileNotFoundError, match="the mask .*none.nrrd does not exist"):
        radiomics.execute(image, tmp_path / "none.nrrd", **arguments)
    with pytest.raises(ValueError, match="the image has 3 dimensions, but the mask has 2"):
        radiomics.execute(image, itk.image_from_array(mask_array("holes")[4]), correctMask=True, **arguments)
    constant = to_itk(np.full(SHAPE, 7, np.int16))
    with pytest.raises(ValueError, match="setting normalize divides by the deviation of the image, which is 0"):
        radiomics.execute(constant, mask, normalize=True, **arguments)
    radiomics.execute(image, mask, initValue=1e39, precision="double", **arguments)


def test_distances_beyond_the_window():
    near, far = (run(featureClass={"glcm": ["Contrast"]}, distances=distances) for distances in ([2], [2, 3, 200]))
    np.testing.assert_array_equal(*(maps["original_glcm_Contrast"] for maps in (near, far)))


def test_checks_of_the_region():
    image, mask = scene()
    one, line = np.zeros((2, *SHAPE), np.uint8)
    one[3, 3, 3] = line[3, 3, 2:6] = 1
    one, line, count = to_itk(one), to_itk(line), int(np.count_nonzero(mask_array("holes") == 1))
    for region, settings, message in (
        (one, {"minimumROIDimensions": 1}, "minimumROIDimensions is 1, but .* longer than one voxel along 0 axes"),
        (line, {}, "setting minimumROIDimensions is 2, but .* along 1 axes"),
        (line, {"minimumROIDimensions": 1}, None),
        (mask, {"minimumROISize": count - 1}, None),
        (mask, {"minimumROISize": count}, f"minimumROISize is {count}, but the region of interest has {count} voxels"),
        # A mask without a 0, which PyRadiomics 3.0.1 refuses.
        (to_itk(np.ones(SHAPE, np.uint8)), {}, None),
    ):
        with pytest.raises(ValueError, match=message) if message else contextlib.nullcontext():
            radiomics.execute(image, region, **settings, **ENTROPY)


def test_masks_with_another_geometry():
    sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    image, mask = scene(to_simpleitk)
    # Images are of the type of the image, whatever the mask is.
    expected = sitk.GetArrayFromImage(radiomics.execute(image, scene(to_itk)[1], **ENTROPY)[KEY])
    near, away = sitk.Image(mask), sitk.Image(mask)
    near.SetOrigin([x + 0.001 for x in ORIGIN])
    away.SetOrigin([x + 100 for x in ORIGIN])
    for given, settings, message in (
        (near, {}, "the mask has the origin .*; setting correctMask resamples it, and geometryTol"),
        (near, {"geometryTolerance": 0.01}, None),
        (near, {"correctMask": True}, None),
        (mask[:-1, :, :], {}, r"the mask has the size \(10, 10, 9\), but the image has \(11, 10, 9\)"),
        (mask[:-1, :, :], {"correctMask": True}, None),
        (away, {"correctMask": True}, "the region of interest reaches from"),
    ):
        if message is None:
            result = radiomics.execute(image, given, **settings, **ENTROPY)[KEY]
            np.testing.assert_array_equal(sitk.GetArrayFromImage(result), expected)
            continue
        with pytest.raises(ValueError, match=message):
            radiomics.execute(image, given, **settings, **ENTROPY)


def test_integers_of_small_types_do_not_overflow():
    array = image_array("uint8")
    array[4, 5, 5] = 255
    mask = to_itk(np.ones(SHAPE, np.uint8))
    maps = [
        radiomics.execute(to_itk(array.astype(kind)), mask, featureClass="glrlm", additionalInfo=False, binWidth=25)
        for kind in (np.uint8, np.int32)
    ]
    expect_same(*maps)


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


# --- Files -------------------------------------------------------------------------------------------------------------

OPTIONS = {"binWidth": 10, "additionalInfo": False, "minimumROIDimensions": 1}


def noise(shape):
    rng = np.random.default_rng(0)
    arrays = rng.integers(0, 100, shape).astype(np.int16), (rng.random(shape) < 0.7).astype(np.uint8)
    return [itk.image_from_array(array) for array in arrays]


@pytest.mark.parametrize("precision", ["float", "double"])
@pytest.mark.parametrize("shape", [(7, 9, 8), (1, 12, 9), (13, 14)])
def test_files_hold_the_maps(shape, precision, tmp_path, monkeypatch):
    """Values, as nibabel reads them, for slabs of any thickness."""
    image, mask = noise(shape)
    names = [name for name in CLASSES if len(shape) == 3 or name != "firstorder"]
    arguments = {"featureClass": names, "precision": precision, **OPTIONS, "additionalInfo": True}
    result = radiomics.execute(image, mask, **arguments)
    maps = {key: value for key, value in result.items() if "diagnostics" not in key}
    for slab in (1, 20000, 2**26):
        monkeypatch.setattr(files, "_SLAB_BYTES", slab)
        paths = radiomics.execute(image, mask, out_dir=tmp_path / "maps", **arguments)
        assert list(paths) == list(result)
        assert paths == result | {key: tmp_path / "maps" / f"{key}.nii.gz" for key in maps}
        for key in maps:
            values, expected = np.asarray(nibabel.load(paths[key]).dataobj).T, itk.array_from_image(maps[key])
            np.testing.assert_array_equal(values, expected)
            assert values.dtype == expected.dtype == {"float": np.float32, "double": np.float64}[precision]
    files_there = sorted(p.name for p in (tmp_path / "maps").iterdir())
    assert files_there == sorted([*(f"{key}.nii.gz" for key in maps), "provenance.json"])


def test_folders_that_cannot_be_used(tmp_path):
    image, mask = noise((7, 9, 8))
    arguments = {"featureClass": {"firstorder": ["Mean"]}, **OPTIONS}
    # What a run that was killed has left.
    stale = tmp_path / "used" / ".voxelmaps-killed"
    stale.mkdir(parents=True)
    (stale / "original_glcm_Contrast.nii.gz").write_text("half")
    os.utime(stale, (1, 1))
    # What another process writes now.
    (tmp_path / "used" / ".voxelmaps-now").mkdir()
    (tmp_path / "used" / "original_firstorder_Mean.nii.gz").write_text("old")
    with pytest.raises(FileExistsError, match="original_firstorder_Mean.nii.gz exists.*overwrite=True"):
        radiomics.execute(image, mask, out_dir=tmp_path / "used", **arguments)
    radiomics.execute(image, mask, out_dir=tmp_path / "used", overwrite=True, **arguments)
    names = [".voxelmaps-now", "original_firstorder_Mean.nii.gz", "provenance.json"]
    assert sorted(os.listdir(tmp_path / "used")) == names
    assert gzip.open(tmp_path / "used" / "original_firstorder_Mean.nii.gz").read()
    # A folder has the name of a map.
    (tmp_path / "taken" / "original_firstorder_Mean.nii.gz").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match="original_firstorder_Mean.nii.gz"):
        radiomics.execute(image, mask, out_dir=tmp_path / "taken", overwrite=True, **arguments)


PEAK = """
import pathlib, re, sys
import itk, numpy as np
from voxelmaps import radiomics
from voxelmaps._files import writing as _radiomics_files
_radiomics_files._SLAB_BYTES = _radiomics_files._SLAB_BYTES_OF_DEVICE = 2**25
shape = (60, 200, 200)
image = itk.image_from_array(np.random.default_rng(0).integers(0, 100, shape).astype(np.uint8))
mask = itk.image_from_array(np.ones(shape, np.uint8))
features = radiomics._settings.all_features("firstorder")
options = {"additionalInfo": False, "precision": "double", "out_dir": None if sys.argv[1] == "memory" else sys.argv[1]}
# Not ru_maxrss, which begins with the memory of the process that started this one.
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
# What input and preparation take: all but the maps.
radiomics.execute(image, mask, featureClass={"firstorder": ["Minimum"]}, **options)
before = peak()
maps = radiomics.execute(image, mask, featureClass={"firstorder": features}, **options)
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_that_of_a_slab(tmp_path):
    """In megabytes, beyond the peak of the preparation: the maps are 345; those of two slabs 64, and what is copied of them."""
    peaks = []
    for where in ("memory", tmp_path):
        done = subprocess.run([sys.executable, "-c", PEAK, str(where)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.split()[0]))
    assert peaks[0] > 200 and peaks[1] < 100, peaks
    assert len(list(pathlib.Path(tmp_path).glob("*.nii.gz"))) == 18


# --- The extractor -----------------------------------------------------------------------------------------------------


def test_extractor():
    """Values are those of execute, which other tests compare with PyRadiomics."""
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    # In this order, and each feature once.
    classes = {"glrlm": ["ShortRunEmphasis", "RunVariance", "RunEntropy", "RunVariance"], "gldm": None}
    params = {
        "featureClass": classes,
        "imageType": {"Original": {}, "LoG": {"sigma": [2.0]}},
        "setting": {"binWidth": 20},
    }
    image, mask = scene(to_simpleitk)
    keys = maps_only(RadiomicsFeatureExtractor(params).execute(image, mask, voxelBased=True))
    for precision in ("float", "double"):
        extractor = radiomics.RadiomicsFeatureExtractor(params, precision=precision)
        for label in (1, 2):
            ours = extractor.execute(image, mask, label=label, voxelBased=True)
            expected = radiomics.execute(image, mask, params, label=label, precision=precision)
            assert maps_only(ours) == keys
            expect_same(*({key: maps[key] for key in maps_only(maps)} for maps in (ours, expected)))


def test_extractor_without_pyradiomics(monkeypatch):
    monkeypatch.delitem(sys.modules, "voxelmaps.radiomics._extractor", raising=False)
    monkeypatch.setitem(sys.modules, "radiomics", None)
    with pytest.raises(ImportError, match="RadiomicsFeatureExtractor needs PyRadiomics; execute.. does not: "):
        radiomics.RadiomicsFeatureExtractor
    assert not hasattr(radiomics, "FeatureExtractor")


def test_settings_of_the_extractor_that_are_misspelled(caplog):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    radiomics.RadiomicsFeatureExtractor(binwidth=5, kernelRadius=2, sigma=[1.0])
    assert [r.getMessage() for r in caplog.records if r.name.startswith("voxelmaps")] == [
        "setting binwidth is not known to PyRadiomics and has no effect"
    ]


@pytest.mark.parametrize(
    "disable, what", [("disableAllFeatures", "feature is enabled"), ("disableAllImageTypes", "image type is enabled")]
)
def test_extractor_with_nothing_enabled(disable, what):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    extractor = radiomics.RadiomicsFeatureExtractor()
    getattr(extractor, disable)()
    with pytest.raises(ValueError, match=f"^no {what}: call {disable.replace('disable', 'enable')}"):
        extractor.execute(*scene(to_simpleitk), voxelBased=True)


@pytest.mark.parametrize(
    "settings, classes, parameters",
    [
        ({}, CLASSES, {}),
        *(
            ({"weightingNorm": n}, ["glcm", "glrlm"], {"weighting_norm": n})
            for n in ("manhattan", "euclidean", "infinity")
        ),
        ({"force2D": True, "kernelRadius": 1}, ["glcm"], {"neighborhood_radius": (0, 1, 1)}),
    ],
)
def test_arrays_have_the_same_values(settings, classes, parameters):
    """voxelmaps.feature_maps of an array, and execute of an image."""
    image, mask = image_array("int16"), mask_array("scattered")
    settings = {"binWidth": 10, "kernelRadius": 2, "additionalInfo": False, **settings}
    expected = radiomics.execute(to_itk(image), to_itk(mask), featureClass=classes, **settings)
    given = {"spacing": SPACING[::-1], "bin_width": 10, "crop": "mask", **parameters}
    features = [key.removeprefix("original_") for key in expected]
    maps = voxelmaps.feature_maps(image, mask == 1, features=features, **given)
    for key, one in expected.items():
        np.testing.assert_array_equal(maps[key.removeprefix("original_")], itk.array_from_image(one), err_msg=key)
