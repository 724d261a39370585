# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Parameters of extraction as PyRadiomics has them: files, dicts and keywords. Every setting is checked, and every setting that
PyRadiomics has is either in SETTINGS or refused by name."""

import copy
import functools
import json
import logging
import math
import operator
import os
import pathlib
from typing import Any, Callable, NamedTuple

import numpy as np

from .. import _core, _parameters
from .._feature_maps import CLASSES, ON_REQUEST
from .._files import library, paths
from .._parameters import boolean, index, one_of, real, rule, shown
from .._regions import SHAPE_CLASSES
from .._suggestions import did_you_mean
from . import _filters

_logger = logging.getLogger(__name__)

# --- Checks, as in _parameters -----------------------------------------------------------------------------------------


def _or_none(check, none=None):
    """A check that also accepts None, null in a file, and what this means."""
    return lambda value, name: none if value is None else check(value, name)


def _number(value):
    """A number as it is given, since integers and floats make other bins."""
    number = real(value)
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int) else number


def _number_or_text(value):
    """Where PyRadiomics takes texts too: YAML has nan as .nan, and nan is a text."""
    return float(value) if isinstance(value, str) and len(value) <= 1000 else _number(value)


def _integer(minimum, maximum=2**63 - 1):
    limit = f"to {maximum}" if maximum < 2**63 - 1 else "up, of at most 63 bits"
    return rule(f"an integer from {minimum} {limit}", index, lambda value: minimum <= value <= maximum)


def _list(text, read, is_valid=lambda items: True):
    def read_all(value):
        if np.ndim(value) != 1:
            raise TypeError
        return [read(each) for each in value]

    return rule(f"a list of {text}", read_all, is_valid)


def _is_wavelet(name):
    try:
        import pywt
    except ImportError:
        # The image type needs it.
        return True
    return name in pywt.wavelist(kind="discrete")


_boolean = rule("true or false", boolean)
# None is off where PyRadiomics' code tests whether the value is true.
_switch = _or_none(_boolean, False)
_positive = rule("a number greater than 0 and finite", _number, _parameters.is_positive)
_up_to_1000 = rule("a number greater than 0 and at most 1000", _number, lambda value: 0 < value <= 1000)


def _read_positive_or_nan(value):
    number = _number(value)
    if number <= 0:
        raise ValueError
    return number


_positive_or_nan = rule("a number greater than 0", _read_positive_or_nan)


def _number_or_name(value):
    """The number of a label, or the name of a segment or structure, which has a letter."""
    return value.strip() if isinstance(value, str) and any(map(str.isalpha, value)) else index(value)


_label = rule(
    "an integer from 1 up, of at most 63 bits, or the name of a segment or structure; for several labels, call execute for each, or use voxelmaps.region_features(label=[...]) for "
    "values of each, or voxelmaps.feature_maps(label=[...]) for maps where they are inside together",
    _number_or_name,
    lambda value: isinstance(value, str) or 1 <= value < 2**63,
)
_spacings = _list(
    "one number per axis, each at least 0 and finite",
    _number,
    lambda items: len(items) in (2, 3) and all(0 <= item < math.inf for item in items),
)
_limits = _list(
    "one or two numbers other than NaN",
    _number_or_text,
    lambda items: len(items) in (1, 2) and not any(map(math.isnan, items)),
)
# PyRadiomics counts neighbors at a distance that is repeated as often.
_distances = _list(
    "one or more integers without repetition, from 1 up",
    index,
    lambda items: 0 < len(items) == len(set(items)) and all(1 <= item < 2**63 for item in items),
)
_INTERPOLATORS = (
    *("sitkNearestNeighbor", "sitkLinear", "sitkBSpline", "sitkGaussian", "sitkLabelGaussian"),
    *(f"sitk{window}WindowedSinc" for window in ("Hamming", "Cosine", "Welch", "Lanczos", "Blackman")),
)
_interpolator = rule(
    f"one of {', '.join(_INTERPOLATORS)}, or an integer from 1 to 10",
    # True is 1, as in PyRadiomics.
    lambda value: value if isinstance(value, str) else operator.index(value),
    lambda value: value in (*_INTERPOLATORS, *range(1, 11)),
)


# --- Settings ----------------------------------------------------------------------------------------------------------


class _Setting(NamedTuple):
    check: Callable[[Any, str], Any]
    default: Any
    section: str


# Checks and PyRadiomics' defaults, by what settings act on.
_TABLE: dict[str, dict[str, Any]] = {
    "preparation": {
        "label": (_label, 1),
        "label_channel": (_or_none(_integer(0), 0), 0),
        "minimumROIDimensions": (_integer(1, 3), 2),
        "minimumROISize": (_or_none(_integer(1)), None),
        "geometryTolerance": (_or_none(rule("a number greater than 0", _number, lambda value: value > 0)), None),
        "correctMask": (_switch, False),
        "additionalInfo": (_switch, True),
        "normalize": (_switch, False),
        "normalizeScale": (_positive, 1),
        "removeOutliers": (_or_none(_positive_or_nan), None),
        "resampledPixelSpacing": (_or_none(_spacings), None),
        "interpolator": (_or_none(_interpolator), "sitkBSpline"),
        "preCrop": (_switch, False),
        "padDistance": (_integer(0), 5),
        "resegmentRange": (_or_none(_limits), None),
        "resegmentMode": (one_of("absolute", "relative", "sigma"), "absolute"),
        # For the shape classes, which PyRadiomics does not compute for voxels either.
        "resegmentShape": (_switch, False),
    },
    "classes": {
        "binWidth": (_positive, 25),
        "binCount": (_or_none(_integer(1, _parameters.MAX_LEVELS)), None),
        "force2D": (_boolean, False),
        "force2Ddimension": (_integer(0, 2), 0),
        "distances": (_distances, [1]),
        "symmetricalGLCM": (_switch, True),
        "weightingNorm": (_or_none(one_of(*_parameters.WEIGHTING_NORMS, "no_weighting")), None),
        "gldm_a": (_integer(0), 0),
        "voxelArrayShift": (rule("a finite number", _number, math.isfinite), 0),
    },
    "windows": {
        # A window of radius 127 has 255 voxels along an axis, the limit of the filters.
        "kernelRadius": (_integer(1, 127), 1),
        "maskedKernel": (_switch, True),
        "initValue": (_or_none(rule("a number that float64 can hold", _number_or_text), math.nan), 0),
        "voxelBatch": (_or_none(_integer(1)), None),
    },
    # More levels, points and samples would take hours, for images of which few voxels differ.
    "filters": {
        "sigma": (_list("numbers, each greater than 0", _read_positive_or_nan), []),
        "start_level": (_integer(0, 100), 0),
        "level": (_integer(1, 100), 1),
        "wavelet": (rule("the name of a discrete wavelet of PyWavelets, such as coif1", str, _is_wavelet), "coif1"),
        "gradientUseSpacing": (_boolean, True),
        "lbp2DRadius": (_up_to_1000, 1),
        "lbp2DSamples": (_integer(1, 1000), 8),
        "lbp2DMethod": (one_of("default", "ror", "uniform", "var"), "uniform"),
        "lbp3DLevels": (_integer(1, 50), 2),
        "lbp3DIcosphereRadius": (_up_to_1000, 1),
        "lbp3DIcosphereSubdivision": (_integer(0, 5), 1),
    },
}
SETTINGS = {
    name: _Setting(*row, "voxelSetting" if acts_on == "windows" else "setting")  # type: ignore[call-arg]
    for acts_on, rows in _TABLE.items()
    for name, row in rows.items()
}
# Those that have an effect if they are given for one image type.
_OF_IMAGE_TYPES = (*_TABLE["classes"], *_TABLE["filters"])

# Limit of a parameter file; those of PyRadiomics' examples have some thousand bytes.
_MAX_BYTES = 2**20

_SECTIONS = ("setting", "voxelSetting", "featureClass", "imageType")


def _unknown(kind, name, names, of="", others=()):
    """The error for a name that does not exist; others may also have been meant."""
    text, similar = shown(name), ""
    if isinstance(name, str):
        text, similar = text[1:-1], did_you_mean(name, [*names, *others])
    return ValueError(f"{kind} {text}{of} is not known{similar}; choose from {', '.join(names)}")


def _checked(name, value):
    """The value of a setting. Raises ValueError with what is wrong with its name or value."""
    if name not in SETTINGS:
        raise _unknown("setting", name, SETTINGS, others=("featureClass", "imageType"))
    try:
        return SETTINGS[name].check(value, f"setting {name}")
    except TypeError as error:
        raise ValueError(error) from None


def _take_voxel_based(places, wanted):
    """Remove voxelBased from dicts of settings. Returns the last value, or the default. Raises ValueError if another one is wanted."""
    value = True if wanted is None else wanted
    for settings in places:
        value = settings.pop("voxelBased", value)
    if not isinstance(value, bool):
        raise ValueError(f"voxelBased is {shown(value)}, but must be True, for maps, or False, for values of regions")
    if wanted is not None and value is not wanted:
        remedy = (
            "maps; voxelmaps regions computes values" if wanted else "values of regions; voxelmaps maps computes maps"
        )
        raise ValueError(f"voxelBased is {value}, but this computes {remedy}")
    return value


# --- Feature classes and image types -----------------------------------------------------------------------------------

# Features that PyRadiomics has deprecated, by class, and what they equal.
REPLACED = {
    "glcm": {
        "Dissimilarity": "DifferenceAverage",
        "Homogeneity1": "Id",
        "Homogeneity2": "Idm",
        "SumVariance": "ClusterTendency",
    },
    "gldm": {"DependencePercentage": "1", "GrayLevelNonUniformityNormalized": "Uniformity of firstorder"},
}


@functools.cache
def numbers_of(name):
    """Dict of the numbers of the features of a class by PyRadiomics' name."""
    return {feature: number for number, feature in enumerate(_core.feature_names()[name])}


def all_features(name):
    """The features that PyRadiomics computes of a class if none is named, in its order: that of its methods, by name."""
    names = [feature for feature in numbers_of(name) if feature not in ("StandardDeviation", *ON_REQUEST)]
    return sorted(names, key=lambda feature: feature + "FeatureValue")


def _is_empty(given):
    return isinstance(given, (type(None), list, tuple, dict, str)) and not given


def _is_list_of_names(given):
    return isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)


def _by_name(what, given, default):
    """A dict by name of what is given as one name, a list of names or a dict, or of the default if it is empty."""
    names = default if _is_empty(given) else [given] if isinstance(given, str) else given
    if _is_list_of_names(names):
        return dict.fromkeys(names)
    if not isinstance(names, dict):
        raise ValueError(f"{what} is {shown(given)}, but must be a name, a list of names, or a dict by name")
    return names


def _features(name, given):
    """The features of a class, in order."""
    if _is_empty(given):
        return all_features(name)
    if not _is_list_of_names(given):
        raise ValueError(f"featureClass {name} is {shown(given)}, but must be a list of names of features")
    for feature in given:
        equal = REPLACED.get(name, {}).get(feature)
        if equal is not None:
            raise NotImplementedError(f"feature {feature} of {name} is deprecated and not computed: it equals {equal}")
        if feature not in numbers_of(name):
            raise _unknown("feature", feature, numbers_of(name), f" of {name}")
    return list(dict.fromkeys(given))


def _feature_classes(given, voxel_based):
    """Dict of the features to compute by class, in order."""
    classes = {}
    for name, features in _by_name("featureClass", given, CLASSES if voxel_based else (*CLASSES, "shape")).items():
        if name in CLASSES or name in SHAPE_CLASSES and not voxel_based:
            classes[name] = _features(name, features)
        elif name in SHAPE_CLASSES:
            _logger.warning("featureClass %s is left out: there is no shape of voxels", name)
        else:
            raise _unknown("featureClass", name, CLASSES)
    return classes


def _image_types(given):
    """Dict of the settings of each image type that differ from those of all, in order."""
    image_types = {}
    for image_type, own in _by_name("imageType", given, ["Original"]).items():
        if image_type not in _filters.IMAGE_TYPES:
            raise _unknown("imageType", image_type, _filters.IMAGE_TYPES)
        if not isinstance(own, (dict, type(None))):
            raise ValueError(f"imageType {image_type} is {shown(own)}, but must map names of settings to values")
        image_types[image_type] = {name: _checked(name, value) for name, value in (own or {}).items()}
        for name in image_types[image_type]:
            section = SETTINGS[name].section
            # PyRadiomics takes voxels of another label for one image type, in the bounding box of the label of all.
            if name == "label" or section != "setting":
                raise ValueError(f"setting {name} is that of all image types; give it in the section {section}")
            if name not in _OF_IMAGE_TYPES:
                _logger.warning("setting %s of imageType %s has no effect there, as in PyRadiomics", name, image_type)
    return image_types


# --- Files -------------------------------------------------------------------------------------------------------------


def _json(text, path):
    def without_repetition(pairs):
        result = {}
        for key, value in pairs:
            if key in result:
                raise ValueError(f"{key} is given twice")
            result[key] = value
        return result

    # Python reads at most 4300 digits; the error for infinity names the setting.
    integer = lambda digits: int(digits) if len(digits) <= 1000 else float(digits)
    return json.loads(text, object_pairs_hook=without_repetition, parse_int=integer)


def _yaml(text, path):
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
    except YAMLError as error:
        raise ValueError(str(error)) from None


def _read_file(path):
    """Content of a parameter file: a dict of sections."""
    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(f"parameter file {path} does not exist")
    parse = {".json": _json, ".yaml": _yaml, ".yml": _yaml}.get(path.suffix.lower())
    if parse is None:
        raise ValueError(f"parameter file {path} ends in neither .yaml, .yml nor .json")
    text = paths.read_text(path, f"parameter file {path}", _MAX_BYTES)
    try:
        content = parse(text, path)
    except RecursionError:
        raise ValueError(f"parameter file {path} is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"parameter file {path}: {' '.join(str(error).split())}") from None
    if content is not None and not isinstance(content, dict):
        raise ValueError(f"parameter file {path} must hold sections, but holds a {type(content).__name__}")
    return content


# --- Parameters --------------------------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    # Settings of all image types.
    settings: dict[str, Any]
    # Features by class, in order; those of all classes in PyRadiomics' order if none are named.
    classes: dict[str, list[str]]
    # Image types in order, with the settings of each that differ from those of all.
    image_types: dict[str, dict[str, Any]]
    # Whether maps are computed, or else values of the region, to which the classes of shape belong.
    voxel_based: bool = True

    def settings_of(self, image_type):
        return {**self.settings, **self.image_types[image_type]}

    def general(self):
        """What maps of all image types depend on."""
        return {name: value for name, value in self.settings.items() if name not in _TABLE["filters"]}

    def special(self, image_type):
        """What maps of an image type also depend on. Names of images have the values of sigma and level."""
        own = [name for name in self.image_types[image_type] if name in _TABLE["classes"]]
        used = [name for name in _filters.IMAGE_TYPES[image_type].settings if name not in ("sigma", "level")]
        settings = self.settings_of(image_type)
        return {name: settings[name] for name in own + used}

    def origin(self, settings):
        """What results depend on, in addition to image and mask, by name: these settings, and those of each image type."""
        types = {name: {**self.special(name), **_filters.versions(name)} for name in self.image_types}
        return {**settings, "image_types": types, **_filters.installed("voxelmaps")}

    def origin_of_maps(self, precision, format="nii.gz", channels=None, fill=None, **others):
        """The origin of maps in files."""
        files = {"precision": precision, "format": format, "channels": channels, "fill": fill}
        return self.origin({**self.general(), **others, **files})

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
        return flat(self.keys(image_name))


def flat(keys):
    """List of keys that are given by class and feature."""
    return [key for of_class in keys.values() for key in of_class.values()]


def read(params, keywords, voxel_based=None):
    """The Parameters of sections and keywords, which are checked.

    params         A dict of sections, or the path of a YAML or JSON file with it; None for none.
    keywords       Settings, which come before those of params, but for those of an image type there; and perhaps featureClass,
                   imageType and voxelBased.
    voxel_based    What the caller computes; None for what is given, or maps.
    """
    if isinstance(params, (str, os.PathLike)):
        params = _read_file(params)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise TypeError(f"params must be a dict or the path of a YAML or JSON file, not {type(params).__name__}")
    for section, content in params.items():
        if section not in _SECTIONS:
            raise _unknown("section", section, _SECTIONS, " of the parameters")
        if section.endswith("etting") and content is not None and not isinstance(content, dict):
            raise ValueError(f"section {section} of the parameters is {shown(content)}, but must map names to values")
    setting, voxel_setting = (dict(params.get(section) or {}) for section in ("setting", "voxelSetting"))
    keywords = dict(keywords)
    voxel_based = _take_voxel_based((setting, voxel_setting, keywords), voxel_based)

    given = {name: _checked(name, value) for name, value in {**setting, **voxel_setting}.items()}
    for name in setting.keys() & voxel_setting.keys():
        raise ValueError(f"setting {name} is given in two sections of the parameters")
    feature_classes = keywords.pop("featureClass", params.get("featureClass"))
    comes_first = "imageType" not in keywords
    image_types = _image_types(keywords.pop("imageType", params.get("imageType")))
    for name, value in keywords.items():
        given[name] = _checked(name, value)
        for image_type, own in image_types.items() if comes_first and name in _OF_IMAGE_TYPES else ():
            if own.get(name, given[name]) != given[name]:
                _logger.warning(
                    "setting %s of imageType %s is %s in the parameters, which comes before %s, as in PyRadiomics",
                    *(name, image_type, shown(own[name]), shown(given[name])),
                )
    for name in () if voxel_based else given:
        if name in _TABLE["windows"]:
            _logger.warning("setting %s has no effect on values of a region", name)

    # Copies, since diagnostics give them to the caller.
    settings = {name: copy.copy(given.get(name, setting.default)) for name, setting in SETTINGS.items()}
    return Parameters(settings, _feature_classes(feature_classes, voxel_based), image_types, voxel_based)
