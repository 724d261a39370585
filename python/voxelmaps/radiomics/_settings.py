# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Parameters of voxel-based extraction as PyRadiomics has them: files, dicts and keywords. Every setting is checked, and every
setting that PyRadiomics has is either in SETTINGS or refused by name."""

import contextlib
import copy
import functools
import json
import logging
import math
import numbers
import operator
import os
import pathlib
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

from .. import _core, _parameters
from .._files import library, paths
from . import _filters
from .._suggestions import did_you_mean

_logger = logging.getLogger(__name__)

# --- Values ------------------------------------------------------------------------------------------------------------


def _boolean(value):
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError("must be true or false")
    return bool(value)


def _integer(minimum, maximum=None):
    def check(value):
        rule = f"must be an integer from {minimum}" + (f" to {maximum}" if maximum is not None else " up")
        try:
            number = operator.index(value)
        except TypeError:
            raise ValueError(rule) from None
        if isinstance(value, (bool, np.bool_)) or number < minimum or (maximum is not None and number > maximum):
            raise ValueError(rule)
        if number.bit_length() > 63:
            raise ValueError("must be an integer of at most 63 bits")
        return number

    return check


def _one_label(value):
    if np.ndim(value) > 0:
        raise ValueError(
            "must be one label, as in PyRadiomics: call execute for each, or voxelmaps.feature_maps(image, mask, label=[...]) for "
            "labels that are inside together"
        )
    return _integer(1)(value)


def _real(value):
    if isinstance(value, np.generic):
        # Sums of NumPy's small integers overflow.
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError("must be a number")
    # Integers of Python have no largest value.
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise ValueError(f"must be from {-sys.float_info.max} to {sys.float_info.max}")
    return value if isinstance(value, (int, float)) else float(value)


def _real_or_text(value):
    """Where PyRadiomics takes texts too: YAML has nan as .nan, and nan is a text."""
    if isinstance(value, str) and len(value) <= 1000:
        with contextlib.suppress(ValueError):
            return float(value)
    return _real(value)


def _number(rule, is_valid, read=_real):
    def check(value):
        value = read(value)
        if not is_valid(value):
            raise ValueError(rule)
        return value

    return check


_not_nan = _number("must not be NaN", lambda value: value == value, _real_or_text)
_finite = _number("must be a finite number", math.isfinite)
_positive = _number(_parameters.POSITIVE, _parameters.is_positive)
_positive_or_infinite = _number("must be greater than 0", lambda value: value > 0)
_positive_or_not_finite = _number("must be greater than 0", lambda value: value > 0 or value != value)
_not_negative = _number("must not be negative, and finite", lambda value: 0 <= value < math.inf)
_positive_up_to_1000 = _number("must be greater than 0 and at most 1000", lambda value: 0 < value <= 1000)


def _list_of(check_item, rule, is_valid):
    def check(value):
        if isinstance(value, (str, bytes, dict)) or np.ndim(value) != 1:
            raise ValueError(rule)
        items = [check_item(item) for item in value]
        if not is_valid(items):
            raise ValueError(rule)
        return items

    return check


def _one_of(*names):
    def check(value):
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return value

    return check


_WINDOWS = ("Hamming", "Cosine", "Welch", "Lanczos", "Blackman")
INTERPOLATORS = (
    *("sitkNearestNeighbor", "sitkLinear", "sitkBSpline", "sitkGaussian", "sitkLabelGaussian"),
    *(f"sitk{window}WindowedSinc" for window in _WINDOWS),
)


def _interpolator(value):
    return _one_of(*INTERPOLATORS)(value) if isinstance(value, str) else _integer(1, 10)(1 if value is True else value)


def _wavelet(value):
    """A name of PyWavelets, which checks it before anything is computed."""
    if not isinstance(value, str) or not value or len(value) > 20:
        raise ValueError("must be the name of a wavelet, such as coif1")
    try:
        import pywt
    except ImportError:
        return value
    if value not in pywt.wavelist(kind="discrete"):
        raise ValueError("must be the name of a discrete wavelet of PyWavelets, such as coif1")
    return value


# --- Settings ----------------------------------------------------------------------------------------------------------


class _Setting(NamedTuple):
    check: Callable[[Any], Any]
    default: Any
    # Whether None, or null in a file, has a meaning, and its value.
    can_be_none: bool = False
    none: Any = None
    section: str = "setting"
    # Whether it acts on the computation of the maps, and thus can be given for one image type.
    belongs_to_classes: bool = False
    # Whether it acts on the filter of an image type.
    belongs_to_filter: bool = False


# None is off where PyRadiomics' code tests whether the value is true.
_OFF = {"can_be_none": True, "none": False}
_of_voxels = functools.partial(_Setting, section="voxelSetting")
_of_classes = functools.partial(_Setting, belongs_to_classes=True)
_of_filter = functools.partial(_Setting, belongs_to_filter=True)

_spacings = _list_of(_not_negative, "must be a list of one number per axis", lambda items: len(items) in (2, 3))
_limits = _list_of(_not_nan, "must be a list of one or two numbers", lambda items: len(items) in (1, 2))
# PyRadiomics counts neighbors at a distance that is repeated as often.
_distances = _list_of(
    _integer(1),
    "must be a list of one or more integers without repetition",
    lambda items: items and len(set(items)) == len(items),
)
_sigmas = _list_of(_positive_or_not_finite, "must be a list of numbers", lambda items: True)

# With PyRadiomics' defaults. A window of radius 127 has 255 voxels along an axis, the limit of the filters.
SETTINGS = {
    "label": _Setting(_one_label, 1),
    "label_channel": _Setting(_integer(0), 0, can_be_none=True, none=0),
    "minimumROIDimensions": _Setting(_integer(1, 3), 2),
    "minimumROISize": _Setting(_integer(1), None, can_be_none=True),
    "geometryTolerance": _Setting(_positive_or_infinite, None, can_be_none=True),
    "correctMask": _Setting(_boolean, False, **_OFF),
    "additionalInfo": _Setting(_boolean, True, **_OFF),
    "normalize": _Setting(_boolean, False, **_OFF),
    "normalizeScale": _Setting(_positive, 1),
    "removeOutliers": _Setting(_positive_or_not_finite, None, can_be_none=True),
    "resampledPixelSpacing": _Setting(_spacings, None, can_be_none=True),
    "interpolator": _Setting(_interpolator, "sitkBSpline", can_be_none=True),
    "preCrop": _Setting(_boolean, False, **_OFF),
    "padDistance": _Setting(_integer(0), 5),
    "resegmentRange": _Setting(_limits, None, can_be_none=True),
    "resegmentMode": _Setting(_one_of("absolute", "relative", "sigma"), "absolute"),
    # Of the shape classes, which PyRadiomics does not compute for voxels either.
    "resegmentShape": _Setting(_boolean, False, **_OFF),
    "binWidth": _of_classes(_positive, 25),
    "binCount": _of_classes(_integer(1), None, can_be_none=True),
    "force2D": _of_classes(_boolean, False),
    "force2Ddimension": _of_classes(_integer(0, 2), 0),
    "distances": _of_classes(_distances, [1]),
    "symmetricalGLCM": _of_classes(_boolean, True, **_OFF),
    "weightingNorm": _of_classes(_one_of(*_parameters.WEIGHTING_NORMS, "no_weighting"), None, can_be_none=True),
    "gldm_a": _of_classes(_integer(0), 0),
    "voxelArrayShift": _of_classes(_finite, 0),
    "kernelRadius": _of_voxels(_integer(1, 127), 1),
    "maskedKernel": _of_voxels(_boolean, True, **_OFF),
    "initValue": _of_voxels(_real_or_text, 0, can_be_none=True, none=math.nan),
    "voxelBatch": _of_voxels(_integer(1), None, can_be_none=True),
    # More levels, points and samples would take hours, for images of which few voxels differ.
    "sigma": _of_filter(_sigmas, []),
    "start_level": _of_filter(_integer(0, 100), 0),
    "level": _of_filter(_integer(1, 100), 1),
    "wavelet": _of_filter(_wavelet, "coif1"),
    "gradientUseSpacing": _of_filter(_boolean, True),
    "lbp2DRadius": _of_filter(_positive_up_to_1000, 1),
    "lbp2DSamples": _of_filter(_integer(1, 1000), 8),
    "lbp2DMethod": _of_filter(_one_of("default", "ror", "uniform", "var"), "uniform"),
    "lbp3DLevels": _of_filter(_integer(1, 50), 2),
    "lbp3DIcosphereRadius": _of_filter(_positive_up_to_1000, 1),
    "lbp3DIcosphereSubdivision": _of_filter(_integer(0, 5), 1),
}

# Of a parameter file; those of PyRadiomics' examples have some thousand.
_MAX_BYTES = 2**20

_SECTIONS = ("setting", "voxelSetting", "featureClass", "imageType")


def _shown(value):
    """The value in an error, of a length that can be read."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes at most 4300 digits.
        text = "a number with thousands of digits"
    return text if len(text) <= 100 else f"{text[:90]}..."


def _shown_name(name):
    return _shown(name)[1:-1] if isinstance(name, str) else _shown(name)


def _unknown(what, name, names, others=()):
    """The error for a name that does not exist; others may also have been meant."""
    similar = did_you_mean(name, [*names, *others]) if isinstance(name, str) else ""
    return ValueError(f"{what} is not known{similar}; choose from {', '.join(names)}")


def _is_voxel_based(params, keywords, wanted):
    """The value of voxelBased: that of keywords, of a section, or the default. Raises ValueError if another one is wanted."""
    value = True if wanted is None else wanted
    for settings in (params.get("setting") or {}, params.get("voxelSetting") or {}, keywords):
        value = settings.get("voxelBased", value)
    if not isinstance(value, bool):
        raise ValueError(f"voxelBased is {_shown(value)}, but must be True, for maps, or False, for values of regions")
    if wanted is not None and value is not wanted:
        remedy = (
            "maps; voxelmaps regions computes values" if wanted else "values of regions; voxelmaps maps computes maps"
        )
        raise ValueError(f"voxelBased is {value}, but this computes {remedy}")
    return value


def checked(name, value):
    """The value of a setting, checked. Raises ValueError, or NotImplementedError for what only PyRadiomics has."""
    if name not in SETTINGS:
        raise _unknown(f"setting {_shown_name(name)}", name, SETTINGS, ("featureClass", "imageType"))
    setting = SETTINGS[name]
    if value is None and setting.can_be_none:
        return setting.none
    try:
        return setting.check(value)
    except (ValueError, NotImplementedError) as error:
        raise type(error)(f"setting {name} is {_shown(value)}, but {error}") from None


# --- Feature classes ---------------------------------------------------------------------------------------------------


class FeatureClass(NamedTuple):
    name: str
    # Features that are computed only if they are named.
    only_by_name: tuple = ()
    # Features that PyRadiomics has deprecated, and what they equal.
    replaced: Dict[str, str] = {}

    def numbers(self):
        """Dict of the numbers of the features by PyRadiomics' name."""
        return {feature: number for number, feature in enumerate(_core.feature_names()[self.name])}

    def all_features(self):
        """The features that PyRadiomics computes if none is named, in its order: that of its methods, by name."""
        names = [name for name in self.numbers() if name not in self.only_by_name]
        return sorted(names, key=lambda name: name + "FeatureValue")


# In PyRadiomics' order.
CLASSES = {
    "firstorder": FeatureClass("firstorder", only_by_name=("StandardDeviation",)),
    "glcm": FeatureClass(
        "glcm",
        replaced={
            "Dissimilarity": "DifferenceAverage",
            "Homogeneity1": "Id",
            "Homogeneity2": "Idm",
            "SumVariance": "ClusterTendency",
        },
    ),
    "gldm": FeatureClass(
        "gldm",
        replaced={"DependencePercentage": "1", "GrayLevelNonUniformityNormalized": "Uniformity of firstorder"},
    ),
    "glrlm": FeatureClass("glrlm"),
    "glszm": FeatureClass("glszm"),
    "ngtdm": FeatureClass("ngtdm"),
}

# Of regions only, as in PyRadiomics.
SHAPE_CLASSES = {
    "shape": FeatureClass(
        "shape",
        replaced={
            "Compactness1": "Sphericity ** 1.5 / (6 * pi)",
            "Compactness2": "Sphericity ** 3",
            "SphericalDisproportion": "1 / Sphericity",
        },
    ),
    "shape2D": FeatureClass("shape2D", replaced={"SphericalDisproportion": "1 / Sphericity"}),
}


def _is_empty(given):
    return given is None or (isinstance(given, (list, tuple, dict, str)) and len(given) == 0)


def _by_name(what, given):
    """A dict by name of what is given as one name, a list of names or a dict. Raises ValueError for anything else."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given):
        given = {name: None for name in given}
    if not isinstance(given, dict):
        raise ValueError(f"{what} is {given!r}, but must be a name, a list of names, or a dict by name")
    return given


def _features(name, given):
    """The features of a class, in order."""
    feature_class = {**CLASSES, **SHAPE_CLASSES}[name]
    if _is_empty(given):
        return feature_class.all_features()
    if not isinstance(given, (list, tuple)) or not all(isinstance(feature, str) for feature in given):
        raise ValueError(f"featureClass {name} is {given!r}, but must be a list of names of features")
    for feature in given:
        if feature in feature_class.replaced:
            equal = feature_class.replaced[feature]
            raise NotImplementedError(f"feature {feature} of {name} is deprecated and not computed: it equals {equal}")
        if feature not in feature_class.numbers():
            raise _unknown(f"feature {feature} of {name}", feature, feature_class.numbers())
    return list(dict.fromkeys(given))


def _feature_classes(given, voxel_based):
    """Dict of the features to compute by class, in order."""
    if _is_empty(given):
        given = [*CLASSES, *(() if voxel_based else ["shape"])]
    classes = {}
    for name, features in _by_name("featureClass", given).items():
        if name in CLASSES or name in SHAPE_CLASSES and not voxel_based:
            classes[name] = _features(name, features)
        elif name in SHAPE_CLASSES:
            _logger.warning("featureClass %s is left out: there is no shape of voxels", name)
        else:
            raise _unknown(f"featureClass {_shown_name(name)}", name, CLASSES)
    return classes


def _settings_of_image_type(image_type, given):
    if not isinstance(given, dict):
        raise ValueError(f"imageType {image_type} is {_shown(given)}, but must map names of settings to values")
    settings = {}
    for name, value in given.items():
        settings[name] = checked(name, value)
        setting = SETTINGS[name]
        # PyRadiomics takes voxels of another label for one image type, in the bounding box of the label of all.
        if name == "label" or setting.section != "setting":
            raise ValueError(f"setting {name} is that of all image types; give it in the section {setting.section}")
        if not setting.belongs_to_classes and not setting.belongs_to_filter:
            _logger.warning("setting %s of imageType %s has no effect there, as in PyRadiomics", name, image_type)
    return settings


def _image_types(given):
    """Dict of the settings of each image type that differ from those of all, in order."""
    if _is_empty(given):
        given = ["Original"]
    image_types = {}
    for name, own in _by_name("imageType", given).items():
        if name not in _filters.IMAGE_TYPES:
            raise _unknown(f"imageType {_shown_name(name)}", name, _filters.IMAGE_TYPES)
        image_types[name] = _settings_of_image_type(name, {} if own is None else own)
    return image_types


# --- Files -------------------------------------------------------------------------------------------------------------


def _without_repetition(pairs):
    result = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"{key} is given twice")
        result[key] = value
    return result


def _read_file(path):
    """Content of a parameter file: a dict of sections."""
    path = pathlib.Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"parameter file {path} {'is not a file' if path.exists() else 'does not exist'}")
    suffix = path.suffix.lower()
    if suffix not in (".json", ".yaml", ".yml"):
        raise ValueError(f"parameter file {path} ends in neither .yaml, .yml nor .json")
    text = paths.read_text(path, f"parameter file {path}", _MAX_BYTES)
    try:
        content = _parse_json(path, text) if suffix == ".json" else _parse_yaml(path, text)
    except RecursionError:
        raise ValueError(f"parameter file {path} is nested too deeply") from None
    if content is not None and not isinstance(content, dict):
        raise ValueError(f"parameter file {path} must hold sections, but holds a {type(content).__name__}")
    return content


def parse_integer(text):
    """An integer; infinity if it has more digits than any value may have, so that the error names the setting."""
    return int(text) if len(text) <= 1000 else float(text)


def _parse_json(path, text):
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_int=parse_integer)
    except ValueError as error:
        raise ValueError(f"parameter file {path}: {error}") from None


def _parse_yaml(path, text):
    library("ruamel.yaml", f"reading {path}", extra="radiomics")
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.error import YAMLError

    class PlainComposer(Composer):
        """Refuses aliases: a few of aliases of aliases stand for any number of nodes."""

        def compose_node(self, parent, index):
            event = self.parser.peek_event()
            if event.anchor is not None:
                line = event.start_mark.line + 1
                raise ValueError(f"anchors and aliases are not supported, but line {line} has {event.anchor}")
            return super().compose_node(parent, index)

    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = PlainComposer
    try:
        return yaml.load(text)
    except (YAMLError, ValueError, OverflowError) as error:
        raise ValueError(f"parameter file {path}: {' '.join(str(error).split())}") from None


class Parameters(NamedTuple):
    # Of all image types.
    settings: Dict[str, Any]
    # Features by class, in order; those of all classes in PyRadiomics' order if none are named.
    classes: Dict[str, List[str]]
    # Image types in order, with the settings of each that differ from those of all.
    image_types: Dict[str, Dict[str, Any]]
    # Whether maps are computed, or else values of the region, to which the classes of shape belong.
    voxel_based: bool = True

    def settings_of(self, image_type):
        return {**self.settings, **self.image_types[image_type]}

    def general(self):
        """What maps of all image types depend on."""
        return {name: value for name, value in self.settings.items() if not SETTINGS[name].belongs_to_filter}

    def special(self, image_type):
        """What maps of an image type depend on besides. Names of images have the values of sigma and level."""
        used = _filters.IMAGE_TYPES[image_type].settings
        settings = self.settings_of(image_type)
        own = {name: settings[name] for name in self.image_types[image_type] if SETTINGS[name].belongs_to_classes}
        return {**own, **{name: settings[name] for name in used if name not in ("sigma", "level")}}

    def image_names(self, dimension):
        """Names of the images of all types that maps are computed of, and their types. Images that are too small have fewer."""
        return {
            name: image_type
            for image_type in self.image_types
            for name in _filters.names(image_type, self.settings_of(image_type), dimension)
        }

    def keys(self, image_name):
        """The keys of the maps of an image, by class and feature."""
        return {
            name: {feature: f"{image_name}_{name}_{feature}" for feature in features}
            for name, features in self.classes.items()
        }

    def all_keys(self, image_name):
        return [key for of_class in self.keys(image_name).values() for key in of_class.values()]


def read(params: Optional[Any], keywords: Dict[str, Any], voxel_based: Optional[bool] = None) -> Parameters:
    """Read and check parameters.

    params      A dict of sections, or the path of a YAML or JSON file with it; None for none.
    keywords    Settings, which come before those of params, but for those of an image type there; and perhaps featureClass,
                imageType and voxelBased.
    voxel_based
                What the caller computes; None for what is given, or maps.
    """
    if isinstance(params, (str, os.PathLike)):
        params = _read_file(params)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise TypeError(f"params must be a dict or the path of a YAML or JSON file, not {type(params).__name__}")
    for section, content in params.items():
        if section not in _SECTIONS:
            raise _unknown(f"section {_shown_name(section)} of the parameters", section, _SECTIONS)
        if section.endswith("etting") and content is not None and not isinstance(content, dict):
            raise ValueError(f"section {section} of the parameters is {_shown(content)}, but must map names to values")

    voxel_based = _is_voxel_based(params, keywords, voxel_based)
    given = {}
    for section in ("setting", "voxelSetting"):
        for name, value in (params.get(section) or {}).items():
            if name == "voxelBased":
                continue
            value = checked(name, value)
            if name in given:
                raise ValueError(f"setting {name} is given in two sections of the parameters")
            given[name] = value
    keywords = {name: value for name, value in keywords.items() if name != "voxelBased"}
    feature_classes = keywords.pop("featureClass", params.get("featureClass"))
    has_own_image_types = "imageType" in keywords
    image_types = _image_types(keywords.pop("imageType", params.get("imageType")))
    for name, value in keywords.items():
        given[name] = checked(name, value)
        has_effect = SETTINGS[name].belongs_to_classes or SETTINGS[name].belongs_to_filter
        for image_type, own in image_types.items() if has_effect and not has_own_image_types else ():
            if own.get(name, given[name]) != given[name]:
                _logger.warning(
                    "setting %s of imageType %s is %s in the parameters, which comes before %s, as in PyRadiomics",
                    *(name, image_type, _shown(own[name]), _shown(given[name])),
                )

    for name in () if voxel_based else given:
        if SETTINGS[name].section == "voxelSetting":
            _logger.warning("setting %s has no effect on values of a region", name)

    # Copies, since diagnostics give them to the caller.
    settings = {name: copy.copy(given.get(name, setting.default)) for name, setting in SETTINGS.items()}
    return Parameters(settings, _feature_classes(feature_classes, voxel_based), image_types, voxel_based)
