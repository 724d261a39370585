# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' image types and parameter files: images and maps beside PyRadiomics, values of settings, errors."""

import copy
import fractions
import itertools
import json
import math
import pathlib
import random
import re
import sys
import warnings

import itk
import numpy as np
import pytest
from pyradiomics_oracle import all_features, compare, expect_same, pyradiomics_maps
from pyradiomics_oracle import image_array, mask_array, to_itk, to_simpleitk
from voxelmaps.radiomics import _filters as filters
from voxelmaps.radiomics import _preparation as _radiomics_images
from voxelmaps import _cli as program
from voxelmaps import _image, radiomics
from voxelmaps.radiomics import _settings as parameters

pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
import SimpleITK as sitk

TYPES = list(filters.IMAGE_TYPES)
# Features of all classes, without those that doc/radiomics.md excludes in some windows.
FEATURES = {
    "firstorder": ["Mean", "Energy"],
    "glcm": ["Contrast", "Id"],
    "gldm": ["LargeDependenceEmphasis"],
    "glrlm": ["RunVariance"],
    "glszm": ["ZoneEntropy"],
    "ngtdm": ["Coarseness"],
}


def available(types):
    """Skip the test if a package that image types need is not installed."""
    for image_type in types:
        for module, package in filters.IMAGE_TYPES[image_type].libraries:
            pytest.importorskip(module, reason=f"{package} is not installed")


@pytest.fixture(scope="module", autouse=True)
def harmonics_of_old_scipy():
    """PyRadiomics takes a function that SciPy 1.17 has not any more."""
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    patch = pytest.MonkeyPatch()
    if not hasattr(special, "sph_harm"):
        function = lambda order, degree, azimuth, polar: special.sph_harm_y(degree, order, polar, azimuth)
        patch.setattr(special, "sph_harm", function, raising=False)
    yield
    patch.undo()


def scene(image="int16", mask="holes"):
    return to_simpleitk(image_array(image)), to_simpleitk(mask_array(mask))


def head(shape=(24, 60, 52), seed=0):
    """Noise with structure, and a region in the middle of it, small enough that filters read a part of the image."""
    noise = sitk.GetImageFromArray(np.random.default_rng(seed).normal(size=shape).astype(np.float32))
    array = sitk.GetArrayFromImage(sitk.SmoothingRecursiveGaussian(noise, 1.5))
    image = to_simpleitk((array / np.abs(array).max() * 900 + 100).astype(np.int16))
    mask = np.zeros(shape, np.uint8)
    z, y, x = np.ogrid[: shape[0], : shape[1], : shape[2]]
    mask[(z - 12) ** 2 / 4 + (y - 31) ** 2 + (x - 25) ** 2 < 20] = 1
    return image, to_simpleitk(mask)


# --- Images beside PyRadiomics -----------------------------------------------------------------------------------------


def pyradiomics_images(image, mask, params):
    """PyRadiomics' images by name, cropped as maps are."""
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    result = {}

    class Extractor(RadiomicsFeatureExtractor):
        def computeFeatures(self, image, mask, name, **_):
            result[name] = sitk.GetArrayFromImage(image)
            return {}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Extractor(copy.deepcopy(params)).execute(image, mask, voxelBased=True)
    return result


SETTINGS = {
    "defaults": {},
    "levels": {
        "level": 2, "start_level": 1, "wavelet": "db3", "force2D": True, "force2Ddimension": 1, "lbp2DMethod": "default",
        "lbp2DRadius": 2.5, "lbp3DLevels": 4, "lbp3DIcosphereSubdivision": 2, "lbp3DIcosphereRadius": 1.7,
    },
    "resampled": {
        "wavelet": "bior2.2", "force2D": True, "gradientUseSpacing": False, "resampledPixelSpacing": [0.6, 0.7, 1.4],
        "padDistance": 6, "normalize": True, "normalizeScale": 100, "lbp2DMethod": "ror", "lbp2DSamples": 5,
    },
    "cropped": {
        "preCrop": True, "padDistance": 3, "wavelet": "haar", "lbp3DIcosphereSubdivision": 0, "lbp2DMethod": "default",
        "force2D": True, "force2Ddimension": 2,
    },
    "planes": {"lbp2DMethod": "ror", "lbp2DRadius": 3, "force2Ddimension": 2, "wavelet": "sym5"},
}  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("place", ["holes", "border", "sheet", "head"])
@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float32", "float64"])
def test_images_of_pyradiomics(kind, place, settings):
    """Equal to the last bit, and of the same types."""
    available(TYPES)
    if place == "head":
        image, mask = head()
        image = to_simpleitk(sitk.GetArrayFromImage(image / 8 + 20 if kind == "uint8" else image).astype(kind))
    else:
        image, mask = scene(kind, place)
    params = {
        "setting": {"label": 1, "sigma": [0.7, 1, 1.0, 2.0], **SETTINGS[settings]},
        "voxelSetting": {"kernelRadius": 1},
        "imageType": {name: {} for name in TYPES},
        "featureClass": {"shape": []},
    }
    theirs = pyradiomics_images(image, mask, params)
    ours = radiomics.execute(image, mask, params, images=True, additionalInfo=False)
    assert list(ours) == list(theirs)
    read = parameters.read(params, {})
    volumes = [_image.load(one, "image")[0] for one in (image, mask)]
    inside = _radiomics_images.prepare(*volumes, read.settings, False).roi.array
    for name, expected in theirs.items():
        actual = sitk.GetArrayFromImage(ours[name])
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), name
        # PyRadiomics does not set patterns on spheres outside.
        where = inside if name.startswith("lbp-3D") else ...
        np.testing.assert_array_equal(actual[where], expected[where], err_msg=name)


@pytest.mark.parametrize("image_type", TYPES)
def test_maps_of_pyradiomics(image_type):
    """By the rules of doc/radiomics.md, for all features."""
    available([image_type])
    own = {"LoG": {"sigma": [1.0, 2.0]}, "LBP2D": {"binWidth": 1}, "LBP3D": {"binWidth": 0.5}}.get(image_type, {})
    for kind, mask in (("int16", "holes"), ("float32", "border")):
        params = {
            "setting": {"binWidth": 12 if kind == "int16" else 0.2},
            "voxelSetting": {"initValue": "nan"},
            "imageType": {image_type: own},
            "featureClass": {name: all_features(name) for name in parameters.CLASSES},
        }
        assert compare(*scene(kind, mask), params, "double")


def test_images_of_two_dimensions(caplog):
    """PyRadiomics' first order features need three, and so do patterns on spheres."""
    available(TYPES)
    image, mask = (sitk.GetImageFromArray(array[4]) for array in (image_array("int16"), mask_array("holes")))
    params = {
        "setting": {"sigma": [1.0, 20.0], "label": 1},
        "imageType": {name: {} for name in TYPES},
        "featureClass": {"glcm": ["Contrast"]},
    }
    theirs = pyradiomics_images(image, mask, params)
    ours = radiomics.execute(image, mask, params, images=True, additionalInfo=False)
    names = [name for name in ours if "_" not in name]
    assert names == list(theirs) and "wavelet-LH" in names and "lbp-3D-k" not in names
    for name in names:
        np.testing.assert_array_equal(sitk.GetArrayFromImage(ours[name]), theirs[name], err_msg=name)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("voxelmaps")] == [
        "imageType LoG has no image log-sigma-20-0-mm-3D: the image of size (11, 10) is too short for the setting sigma 20.0",
        "image lbp-2D: all intensities are in one bin of the width 25, so that there is no texture: choose a smaller binWidth, or "
        "binCount",
        *(
            f"imageType LBP3D has no image lbp-3D-{name}: the image has 2 dimensions, but must have 3"
            for name in ("m1", "m2", "k")
        ),
    ]


@pytest.mark.parametrize("shape", [(3, 10, 11), (4, 4, 4), (9, 10, 11)])
def test_images_that_are_too_small_for_sigma(shape, caplog):
    image = sitk.GetImageFromArray(image_array("int16")[: shape[0], : shape[1], : shape[2]])
    mask = sitk.GetImageFromArray(np.ones(shape, np.uint8))
    mask[0, 0, 0] = 0
    params = {
        "setting": {"sigma": [1.0, 3.0, 3.1, 8.0, 8.5, math.inf, math.nan]},
        "imageType": {"LoG": {}},
        "featureClass": {"firstorder": ["Mean"]},
    }
    theirs = pyradiomics_images(image, mask, params)
    ours = radiomics.execute(image, mask, params, additionalInfo=False)
    assert [key.partition("_")[0] for key in ours] == list(theirs)
    assert len(theirs) == {3: 0, 4: 2, 9: 4}[shape[0]] and len(caplog.messages) >= 7 - len(theirs)


# --- Values of settings ------------------------------------------------------------------------------------------------

VALUES = [
    None, "25", "nan", ".5", "1e-3", "inf", True, False, 0, 1, 2, -1, 1.0, 2.5, math.nan, math.inf, -math.inf, [], [1], [1, 1],
    [1, 2], ["1", "2"], [None], [1.5, 0.7, 2], [-100, math.inf], {}, "no_weighting", "relative", "sigma", "sitkLinear", "haar",
    "var",
]  # fmt: skip
# Which PyRadiomics does not check.
HOSTILE_VALUES = [
    10**400, -(10**400), 10**5000, 2**70, 1e308, 5e-324, "", b"1", [math.nan] * 3, [2**70] * 3, [10**400], [[1], 2], {"a": 1}, 1 + 2j,
    fractions.Fraction(1, 3), np.float32(0.5), np.int8(-128), np.array([1, 2, 3]), np.datetime64("2020"), object(), "\x1b[2J",
]  # fmt: skip
COMPANIONS = {
    "normalizeScale": {"normalize": True, "binWidth": 1},
    "removeOutliers": {"normalize": True, "binWidth": 0.1},
    "padDistance": {"preCrop": True},
    "resegmentMode": {"resegmentRange": [0.2, 0.8]},
    "force2Ddimension": {"force2D": True},
    "interpolator": {"resampledPixelSpacing": [0.6, 0.6, 1.5]},
}
# What runs with PyRadiomics, and not here.
REFUSED = {
    ("geometryTolerance", "nan"): "no difference is less than NaN, nor greater",
    ("lbp2DRadius", "nan"): "no voxel is at that distance",
    ("lbp2DRadius", "inf"): "no voxel is at that distance",
    ("distances", "[1, 1]"): "PyRadiomics counts each neighbor twice",
    ("voxelArrayShift", "None"): "PyRadiomics' Energy fails and keeps initValue",
    ("lbp2DMethod", "'var'"): "NaN where all neighbors are equal, as an integer",
}


@pytest.mark.parametrize("name", parameters.SETTINGS)
def test_values_of_settings(name):
    """What runs with PyRadiomics runs here, with the same values; other values are errors that name the setting."""
    image_type = next((t for t, row in filters.IMAGE_TYPES.items() if name in row.settings), "Original")
    available([image_type])
    image, mask = scene()
    ran = 0
    for number, value in enumerate(VALUES + HOSTILE_VALUES):
        params = {
            "setting": {"label": 1, **COMPANIONS.get(name, {})},
            "voxelSetting": {"kernelRadius": 1},
            "imageType": {image_type: {}},
            "featureClass": FEATURES,
        }
        params[parameters.SETTINGS[name].section][name] = value
        try:
            theirs = pyradiomics_maps(image, mask, params) if number < len(VALUES) else None
        except Exception:
            theirs = None
        try:
            ours = radiomics.execute(image, mask, params, precision="double", additionalInfo=False)
        except (ValueError, NotImplementedError) as error:
            # Great intensities have many bins, or are infinite.
            is_scale = name == "normalizeScale" and ("binWidth" in str(error) or "infinite" in str(error))
            assert name in str(error) or is_scale, (value, str(error))
            assert len(str(error)) < 400 and not {"\n", "\x1b"} & set(str(error))
            assert theirs is None or (name, repr(value)) in REFUSED, (value, str(error))
            continue
        if theirs is None:
            continue
        ran += 1
        assert list(ours) == list(theirs)
        for key in ours:
            a, b = (sitk.GetArrayFromImage(maps[key]) for maps in (ours, theirs))
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=2e-12, err_msg=f"{value} {key}")
    assert ran > 0


def test_keys_of_the_schema_of_pyradiomics():
    """All are settings, in the same section, and the table of doc/radiomics.md has them all."""
    package = pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    yaml = pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed").YAML(typ="safe", pure=True)
    schema = yaml.load(pathlib.Path(package.__file__).with_name("schemas") / "paramSchema.yaml")["mapping"]
    keys = {name: section for section in ("setting", "voxelSetting") for name in schema[section]["mapping"]}
    assert keys == {name: setting.section for name, setting in parameters.SETTINGS.items()}
    page = pathlib.Path(__file__).parents[2] / "doc" / "radiomics.md"
    if page.is_file():
        text = page.read_text(encoding="utf-8").partition("\n## Settings\n")[2].partition("\n## ")[0]
        rows = [re.findall("`(\\w+)`", line[:60]) for line in text.splitlines() if line.startswith("|")]
        assert {*keys, "featureClass", "imageType"} <= set(sum(rows, []))


# Values of a setting in the section setting, of the image type, and as a keyword, of which there is one.
PLACES = list(itertools.product((False, True), repeat=3))[1:]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(
    "name, values, image_type",
    [
        ("binWidth", (5, 11, 30), "Original"),
        ("force2D", (True, True, False), "Square"),
        ("sigma", ([0.8], [1.0], [2]), "LoG"),
        ("wavelet", ("haar", "db2", "sym3"), "Wavelet"),
    ],
)
def test_which_place_of_a_setting_comes_first(name, values, image_type, places, caplog):
    """The image type, then keywords, then the section, as with PyRadiomics."""
    available([image_type])
    given = [{name: value} if is_given else {} for value, is_given in zip(values, places)]
    setting, own, keywords = given
    params = {"setting": setting, "imageType": {image_type: own}, "featureClass": {"glcm": ["Contrast"]}}
    theirs = pyradiomics_maps(*scene(), params, **keywords)
    ours = radiomics.execute(*scene(), copy.deepcopy(params), precision="double", additionalInfo=False, **keywords)
    assert ours and list(ours) == list(theirs)
    for key, values_of_map in theirs.items():
        arrays = map(sitk.GetArrayFromImage, (ours[key], values_of_map))
        np.testing.assert_allclose(*arrays, rtol=1e-12, err_msg=key)
    is_overridden = places[1] and places[2] and own != keywords
    said = [record.getMessage() for record in caplog.records if record.name.startswith("voxelmaps")]
    assert said == is_overridden * [
        f"setting {name} of imageType {image_type} is {own.get(name)!r} in the parameters, which comes before "
        f"{keywords.get(name)!r}, as in PyRadiomics"
    ]


def test_the_same_setting_for_all_image_types():
    """Image types given as a keyword replace those of the parameters, with their settings."""
    params = {"imageType": {"Original": {"binWidth": 3}}, "featureClass": {"glcm": ["Contrast"]}}
    expected = radiomics.execute(*scene(), featureClass=params["featureClass"], additionalInfo=False)
    expect_same(radiomics.execute(*scene(), params, imageType=["Original"], additionalInfo=False), expected)


# --- Published parameter files -----------------------------------------------------------------------------------------

_GLCM = [
    "Autocorrelation", "JointAverage", "ClusterProminence", "ClusterShade", "ClusterTendency", "Contrast", "Correlation",
    "DifferenceAverage", "DifferenceEntropy", "DifferenceVariance", "JointEnergy", "JointEntropy", "Imc1", "Imc2", "Idm", "Idmn",
    "Id", "Idn", "InverseVariance", "MaximumProbability", "SumEntropy", "SumSquares",
]  # fmt: skip
_CLASSES = {"shape": None, "firstorder": None, "glcm": _GLCM, "glrlm": None, "glszm": None, "gldm": None}
_MR = {"normalize": True, "normalizeScale": 100, "binWidth": 5, "voxelArrayShift": 300, "label": 1}
_SPLINE = {"interpolator": "sitkBSpline"}


def _types(*sigma):
    return {"Original": {}, "LoG": {"sigma": list(sigma)}, "Wavelet": {}}


# The settings of the files in examples/exampleSettings of PyRadiomics.
PUBLISHED = {
    "exampleVoxel": {
        "imageType": {"Original": {}},
        "featureClass": {"glcm": ["JointEntropy"]},
        "setting": {"binWidth": 25, "force2D": True, "label": 1},
        "voxelSetting": {"kernelRadius": 2, "maskedKernel": True, "initValue": "nan", "voxelBatch": 10000},
    },
    "Params": {
        "setting": {"binWidth": 25, "label": 1, **_SPLINE, "resampledPixelSpacing": None, "weightingNorm": None},
        "imageType": {"Original": {}},
        "featureClass": {**_CLASSES, "firstorder": []},
    },
    "exampleCT": {
        "imageType": _types(1.0, 2.0, 3.0, 4.0, 5.0),
        "featureClass": _CLASSES,
        "setting": {
            **_SPLINE, "resampledPixelSpacing": [1, 1, 1], "padDistance": 10, "binWidth": 25, "voxelArrayShift": 1000, "label": 1,
        },
    },
    "exampleMR_NoResampling": {
        "imageType": _types(1.0, 3.0, 5.0),
        "featureClass": _CLASSES,
        "setting": {**_MR, "preCrop": True, "force2D": True, "force2Ddimension": 0},
    },
    "exampleMR_3mm": {
        "imageType": _types(2.0, 3.0, 4.0, 5.0),
        "featureClass": _CLASSES,
        "setting": {**_MR, **_SPLINE, "resampledPixelSpacing": [2, 2, 2]},
    },
    "exampleMR_5mm": {
        "imageType": _types(3.0, 5.0),
        "featureClass": _CLASSES,
        "setting": {**_MR, **_SPLINE, "resampledPixelSpacing": [3, 3, 3]},
    },
    "MR_2D_extraction": {
        "imageType": _types(2.0, 3.0, 4.0, 5.0),
        "featureClass": {"shape2D": None, **{name: value for name, value in _CLASSES.items() if name != "shape"}, "ngtdm": None},
        "setting": {
            **_MR, **_SPLINE, "resampledPixelSpacing": [2, 2, 0], "padDistance": 10, "preCrop": True, "force2D": True,
            "force2Ddimension": 0,
        },
    },
    "example_allShape": {
        "setting": {"label": 1, **_SPLINE, "resampledPixelSpacing": None},
        "featureClass": {"shape": ["VoxelVolume", "Compactness1", "Sphericity"]},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameters(name, tmp_path, monkeypatch, capfd):
    """Values, and the maps of the program, to the last bit."""
    available(PUBLISHED[name].get("imageType", {}))
    image, mask = head((18, 40, 38))
    mask = sitk.GetArrayFromImage(mask)
    mask[:, 34:] = mask[:10] = mask[15:] = 0
    mask = to_simpleitk(mask)
    params = copy.deepcopy(PUBLISHED[name])
    keys = compare(image, mask, params, "double")
    assert bool(keys) == (name != "example_allShape")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("params.json").write_text(json.dumps(params))
    for one, what in ((image, "image"), (mask, "mask")):
        sitk.WriteImage(one, f"{what}.nrrd")
    arguments = "image.nrrd --mask mask.nrrd --out maps --params params.json --format nrrd --precision double"
    assert program.main(arguments.split()) == int(not keys)
    if not keys:
        assert "no feature is chosen" in capfd.readouterr().err
        return
    expected = radiomics.execute(image, mask, params, precision="double", additionalInfo=False)
    assert sorted(path.stem for path in pathlib.Path("maps").glob("*.nrrd")) == sorted(expected)
    expect_same({key: sitk.ReadImage(f"maps/{key}.nrrd") for key in expected}, expected)


# --- Random parameters -------------------------------------------------------------------------------------------------


def random_params(rng):
    """An image, a mask, and sections of a parameter file, most of which PyRadiomics takes."""
    kind = rng.choice(["uint8", "int16", "int32", "float32", "float64"])
    types = rng.sample(TYPES, rng.choice([1, 1, 2, 3]))
    width = {"uint8": 8, "int16": 12, "int32": 12}.get(kind, 0.2)
    setting = {"label": 1, "sigma": rng.choice([[1.0], [0.8, 2], [1.5, 9.0]])}
    setting.update([rng.choice([("binWidth", width * rng.choice([0.7, 1, 3])), ("binCount", rng.choice([2, 7, 16]))])])
    options = {
        "label": [1, 2], "label_channel": [None, 0], "geometryTolerance": [1e-3, math.inf], "correctMask": [True, None],
        "minimumROIDimensions": [1, 2, 3], "minimumROISize": [None, 5, 200], "normalize": [True], "normalizeScale": [10, 0.5],
        "removeOutliers": [None, 1.5, math.inf], "resampledPixelSpacing": [None, [0.6, 0.6, 1.5], [0, 0, 1], [0.5, 0.75, 2.0]],
        "interpolator": [None, "sitkLinear", "sitkNearestNeighbor", 2, "sitkBSpline"], "preCrop": [True, None],
        "padDistance": [0, 2, 8], "resegmentRange": [[-1, math.inf], [0.3], ["-2", 2], [0, 100]],
        "resegmentMode": ["absolute", "relative", "sigma"], "force2D": [True], "force2Ddimension": [0, 1, 2],
        "distances": [[1, 2], [2, 1], [2]], "symmetricalGLCM": [False, None], "weightingNorm": [None, "no_weighting", "manhattan", "euclidean", "infinity"],
        "gldm_a": [1, 3], "voxelArrayShift": [100, -5], "wavelet": ["haar", "db3", "sym4", "bior1.3", "rbio2.2", "dmey"],
        "level": [2], "start_level": [1], "gradientUseSpacing": [False], "lbp2DRadius": [2, 1.5], "lbp2DSamples": [4, 12],
        "lbp2DMethod": ["default", "ror", "uniform"], "lbp3DLevels": [3], "lbp3DIcosphereRadius": [1.5, 2],
        "lbp3DIcosphereSubdivision": [0, 2],
    }  # fmt: skip
    for name, values in options.items():
        if rng.random() < 0.12:
            setting[name] = rng.choice(values)
    voxel = {"kernelRadius": rng.choice([1, 1, 2])}
    for name, values in {
        "maskedKernel": [False, None],
        "initValue": ["nan", -1, None, "2.5"],
        "voxelBatch": [10**6],
    }.items():
        if rng.random() < 0.2:
            voxel[name] = rng.choice(values)
    own = lambda: {name: rng.choice(options[name]) for name in rng.sample(OF_ONE_TYPE, rng.choice([0, 0, 0, 1, 2]))}
    classes = rng.sample(list(parameters.CLASSES), rng.choice([1, 2]))
    features = {name: rng.sample(all_features(name), min(len(all_features(name)), 6)) for name in classes}
    params = {
        "setting": setting, "voxelSetting": voxel, "imageType": {name: own() for name in types}, "featureClass": features,
    }  # fmt: skip
    return kind, rng.choice(["holes", "border", "scattered", "sheet"]), params


OF_ONE_TYPE = [
    "force2D", "force2Ddimension", "distances", "symmetricalGLCM", "gldm_a", "wavelet", "level", "lbp2DRadius", "lbp2DSamples",
    "voxelArrayShift", "normalize", "weightingNorm",
]  # fmt: skip

# What is an error here and not with PyRadiomics, or the other way round, by a part of the message.
OWN_ERRORS = {
    "has values in the region of interest only": "PyRadiomics does not set the voxels outside",
    "cannot hold it": "PyRadiomics' integers overflow",
    "is NaN at": "PyRadiomics' bins depend on the order of voxels",
}
THEIR_ERRORS = {
    "Error getting angle count": "force2D and a region of one voxel along an axis",
    "No labels found in this mask": "a mask of one value",
    "out of bounds for uint8": "NumPy 2, and intensities of 8 bits",
    "'<' not supported between instances of 'int' and 'str'": "numbers in texts, as its schema takes them",
}


@pytest.mark.parametrize("seed", range(40))
def test_random_parameters(seed):
    """More by hand: the other seeds."""
    available(TYPES)
    kind, mask, params = random_params(random.Random(seed))
    image, mask = scene(kind, mask)
    try:
        compare(image, mask, params, "double")
        return
    except AssertionError:
        raise
    except Exception as error:
        message = str(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pyradiomics_maps(image, mask, params)
            theirs = ""
        except Exception as error:
            theirs = f"{type(error).__name__}: {error}"
        try:
            radiomics.execute(image, mask, copy.deepcopy(params), additionalInfo=False)
            ours = ""
        except (ValueError, NotImplementedError) as error:
            ours = str(error)
    # If both refuse them, that is right.
    known = ours and theirs or any(text in (ours or theirs) for text in (OWN_ERRORS if ours else THEIR_ERRORS))
    assert known, f"seed {seed}: here {ours or 'maps'}; with PyRadiomics {theirs or 'maps'}; {message}; {params}"


# --- Output ------------------------------------------------------------------------------------------------------------


def test_images_of_maps():
    """The images that maps are computed of come before them."""
    available(["Wavelet"])
    image, mask = scene("float32")
    arguments = {
        "featureClass": {"firstorder": ["Maximum"], "glcm": ["Contrast"]},
        "imageType": ["Square", "Wavelet"],
        "images": True,
        "additionalInfo": False,
    }
    result = radiomics.execute(image, mask, **arguments)
    names = ["square"] + [f"wavelet-{code}" for code in ("LLH", "LHL", "LHH", "HLL", "HLH", "HHL", "HHH", "LLL")]
    features = ["firstorder_Maximum", "glcm_Contrast"]
    assert list(result) == [key for name in names for key in [name, *(f"{name}_{feature}" for feature in features)]]
    assert radiomics.execute(image, mask, featureClass={"shape": []}, images=True).keys() >= {"original"}
    of_itk = radiomics.execute(to_itk(image_array("float32")), to_itk(mask_array("holes")), **arguments)
    assert type(of_itk["square"]) is itk.Image[itk.D, 3]


@pytest.mark.parametrize("image_type", [name for name, row in filters.IMAGE_TYPES.items() if row.libraries])
def test_packages_that_are_not_installed(image_type, monkeypatch):
    module, package = filters.IMAGE_TYPES[image_type].libraries[-1]
    images = to_itk(image_array("int16")), to_itk(mask_array("holes"))
    monkeypatch.setitem(sys.modules, module, None)
    message = rf'^imageType {image_type} needs {package}: pip install "voxelmaps\[radiomics\]"$'
    with pytest.raises(ImportError, match=message):
        radiomics.execute(*images, imageType={"Original": {}, image_type: {}})
    radiomics.execute(*images, featureClass={"glcm": ["Contrast"]})


def test_program_with_image_types(tmp_path, monkeypatch, capfd):
    """Maps are kept if their image types are the same."""
    available(["LoG", "Wavelet"])
    pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed")
    monkeypatch.chdir(tmp_path)
    for image, name in zip(scene(), ("image", "mask")):
        sitk.WriteImage(image, f"{name}.nii.gz")

    def run(types):
        pathlib.Path("params.yaml").write_text(
            f"imageType: {types}\nfeatureClass: {{firstorder: [Mean], glcm: [Contrast, Id]}}\nvoxelSetting: {{initValue: nan}}\n"
        )
        capfd.readouterr()
        program.main("image.nii.gz --mask mask.nii.gz --out maps --params params.yaml".split())
        output, errors = capfd.readouterr()
        return output.partition(" voxels")[0].partition(" of 1")[0], errors

    assert run("{Original: {}}") == ("image.nii.gz: 3 maps", "")
    text = "{Original: {}, LoG: {sigma: [1.0, 2, 30.0]}, Wavelet: {level: 2}}"
    output, errors = run(text)
    assert output == "image.nii.gz: 54 maps"
    assert "imageType LoG has no image log-sigma-30-0-mm-3D: the image of size" in errors and errors.count("\n") == 1
    output, errors = run("{Original: {}, LoG: {sigma: [1.0], binWidth: 3}, Wavelet: {wavelet: haar}}")
    assert not output and "maps of another imageType LoG, imageType Wavelet: choose another output" in errors
    assert run(text) == ("image.nii.gz: 54 maps (kept)", "")


@pytest.mark.parametrize("kind", "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split())
def test_files_of_images_of_all_types(kind, tmp_path):
    image, mask = (sitk.GetImageFromArray(array) for array in (image_array("uint8").astype(kind), mask_array("holes")))
    arguments = {"images": True, "featureClass": {"firstorder": ["Mean"]}, "additionalInfo": False}
    paths = radiomics.execute(image, mask, out_dir=tmp_path, **arguments)
    read = {key: sitk.ReadImage(str(path)) for key, path in paths.items()}
    assert sitk.GetArrayFromImage(read["original"]).dtype == kind
    expect_same(read, radiomics.execute(image, mask, **arguments))


def test_images_without_finite_values():
    """What a filter makes of an image of zeros, or of equal voxels."""
    available(TYPES)
    mask = to_simpleitk(mask_array("holes"))
    zeros = to_simpleitk(np.zeros(mask_array("holes").shape, np.int16))
    for image_type, name in (("Square", "square"), ("Logarithm", "logarithm"), ("Exponential", "exponential")):
        with pytest.raises(ValueError, match=f"^the image {name} is NaN at 161 voxels inside the mask"):
            radiomics.execute(zeros, mask, imageType=image_type, featureClass="glcm")
    with pytest.raises(ValueError, match="^imageType LBP3D has no kurtosis at 161 of 161 voxels: all intensities"):
        radiomics.execute(zeros, mask, imageType="LBP3D", featureClass="glcm")
    with pytest.raises(ValueError, match="setting maskedKernel is False, but imageType LBP3D has values in the region"):
        radiomics.execute(*scene(), imageType="LBP3D", featureClass="glcm", maskedKernel=False)
    with pytest.raises(ValueError, match="^imageType LBP2D has the value .* the image of uint8 cannot hold it"):
        radiomics.execute(
            *scene("uint8"), imageType="LBP2D", featureClass="glcm", lbp2DMethod="default", lbp2DSamples=12
        )
