# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The parameters of all functions: one table of names, types, ranges, units, defaults and effects, which checks arguments once."""

import contextlib
import inspect
import math
import operator
import re
from typing import Any, Callable, NamedTuple, Tuple, TypeVar

import numpy as np

from ._suggestions import did_you_mean

_Function = TypeVar("_Function", bound=Callable[..., Any])

# More do not make it faster on any machine.
MAX_THREADS = 4096
MAX_LEVELS = 65535
MAX_WINDOW = 255

# The same as voxelmaps::FuzzyConnectednessEnums, and in its order.
AFFINITIES = ("geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference")
ADJACENCIES = ("face", "face_edge", "full")
# The same as voxelmaps::RelativeFuzzyConnectednessEnums, and in its order.
COMPETITIONS = ("relative", "iterative")
TIE_RULES = ("background", "lowest_label", "distance")
LABEL_TYPES = ("uint8", "uint16")
# Norms of the settings that weight directions.
WEIGHTING_NORMS = ("manhattan", "euclidean", "infinity")
# SciPy's names, in the order of voxelmaps::FilterBoundary.
BOUNDARIES = ("constant", "nearest", "wrap", "reflect", "mirror")


# --- Checks: each returns the value as it is used, or raises TypeError or ValueError with the name, the value and the rule ------


def listed(items, last="and"):
    """The items as a list in a sentence."""
    *others, item = map(str, items)
    return f"{', '.join(others)} {last} {item}" if others else item


def shown(value):
    """The value in an error, of a length that can be read."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes at most 4300 digits.
        text = "a number with thousands of digits"
    return text if len(text) <= 100 else f"{text[:90]}..."


def rule(text, read, is_valid=lambda value: True):
    """A check of what a function reads from a value; it and is_valid may raise errors for values of other types."""

    def check(value, name):
        error = ValueError
        try:
            result = read(value)
            if is_valid(result):
                return result
        except TypeError:
            error = TypeError
        except (ValueError, OverflowError):
            pass
        raise error(f"{name} is {shown(value)}, but must be {text}")

    return check


def real(value):
    """A float. Raises TypeError for texts and True, and OverflowError."""
    if isinstance(value, (str, bytes, bool, np.bool_)):
        raise TypeError
    return float(value)


def index(value):
    """An integer. Raises TypeError, also for True."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    return operator.index(value)


def boolean(value):
    """A bool. Raises TypeError for other types."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


number = rule("a number", real)


def numbers(value, name, text="a list of numbers"):
    """A list of floats."""
    if isinstance(value, str) or np.ndim(value) != 1:
        raise TypeError(f"{name} is {value!r}, but must be {text}")
    return [number(each, f"a value of {name}") for each in value]


def within(minimum, maximum, read=real):
    kind = "an integer" if read is index else "a number"
    return rule(f"{kind} from {minimum} to {maximum}", read, lambda value: minimum <= value <= maximum)


def count(value, name, minimum, maximum):
    """An integer within limits."""
    return within(minimum, maximum, index)(value, name)


def per_axis(value, name, dimension, minimum):
    """A tuple of an integer per axis; one integer stands for all."""
    values = (value,) * dimension if np.ndim(value) == 0 else tuple(value)
    try:
        values = tuple(map(index, values))
    except TypeError:
        raise TypeError(f"{name} is {value!r}, but must be an integer or one per axis") from None
    if len(values) != dimension or min(values) < minimum or max(values) > MAX_LEVELS:
        raise ValueError(
            f"{name} is {value!r}, but must be one integer from {minimum} to {MAX_LEVELS}, or {dimension} of them, one per axis"
        )
    return values


def is_positive(value):
    return 0 < value < math.inf


def sizes(value, dimension, of_image=None):
    """Sizes of a voxel along each axis, from the parameter spacing, or those of an image, which it must not contradict."""
    if value is None:
        return [1.0] * dimension if of_image is None else list(of_image)
    rule = f"{dimension} positive numbers, one per axis"
    result = numbers(value, "spacing", rule)
    if len(result) != dimension or not all(map(is_positive, result)):
        raise ValueError(f"spacing is {value!r}, but must be {rule}")
    if of_image is not None and not np.allclose(result, of_image, rtol=1e-3, atol=0):
        raise ValueError(
            f"spacing is {value!r}, but the image has {tuple(of_image)} along z, y, x: leave it out, or correct the image"
        )
    return result


_switch = rule("True or False", boolean)


def _progress(value, name):
    if not (callable(value) or isinstance(value, bool)):
        raise TypeError(f"{name} is {value!r}, but must be a function of a fraction, or True for a bar")
    return value


def _distances(value, name):
    values = (value,) if np.ndim(value) == 0 else tuple(value)
    if not values:
        raise ValueError("distances is empty, but there must be at least one")
    return tuple(count(each, "a value of distances", 1, MAX_WINDOW) for each in values)


def _intensity_range(value, name):
    if isinstance(value, str) and value in ("mask", "image"):
        return value
    rule = "'mask', 'image' or two numbers, the lower one first"
    limits = [] if isinstance(value, str) else numbers(value, name, rule)
    if len(limits) != 2 or not is_positive(limits[1] - limits[0]):
        raise ValueError(f"{name} is {value!r}, but must be {rule}")
    return limits


def _label_type(value, name):
    with contextlib.suppress(TypeError):
        if np.dtype(value).name in LABEL_TYPES:
            return np.dtype(value).name
    raise ValueError(f"{name} is {value!r}, but must be {listed(LABEL_TYPES, 'or')}")


def _one_of_numbers(*choices):
    return rule(listed(choices, "or"), index, choices.__contains__)


def one_of(*names):
    """A check for names."""

    def check(value, name):
        if not isinstance(value, str) or value not in names:
            similar = did_you_mean(value, names) if isinstance(value, str) else ""
            raise ValueError(f"{name} is {shown(value)}{similar}, but must be one of {', '.join(names)}")
        return value

    return check


positive = rule("a number greater than 0 and finite", real, is_positive)


def _bin_edges(value, name):
    edges, is_increasing = numbers(value, name), lambda edges: np.isfinite(edges).all() and (np.diff(edges) > 0).all()
    return rule(
        "finite numbers, each greater than the one before", lambda _: edges, lambda _: edges and is_increasing(edges)
    )(value, name)


def _sigma(value, name):
    if np.ndim(value) == 0:
        return positive(value, name)
    if not len(value):
        raise ValueError(f"{name} is empty, but there must be at least one")
    return [positive(each, f"a value of {name}") for each in value]


def _margin(value, name):
    margins = numbers(np.atleast_1d(value), name)
    return rule("at least 0", lambda _: margins, lambda _: all(v >= 0 for v in margins))(value, name)


# --- Tables --------------------------------------------------------------------------------------------------------------


class Parameter(NamedTuple):
    """A parameter of a function.

    type       Annotation.
    default    Also stands for "not given"; it is not checked.
    check      Function of value and name.
    affects    Classes of features, or affinities, that it has an effect on; all if empty.
    """

    type: str
    default: Any = None
    check: Callable[[Any, str], Any] = lambda value, name: value
    affects: Tuple[str, ...] = ()
    is_required: bool = False


def _choice(default, *names, affects=()):
    """A parameter that is one of some names."""
    return Parameter(f"Literal{list(names)}{' | None' * (default is None)}", default, one_of(*names), affects)


_LABEL = Parameter("str | Integer | Sequence[str | Integer] | Set[str | Integer] | None")
_SPACING = Parameter("Numbers | None")
_PRECISION = _choice("float", "float", "double")
_THREADS = Parameter("Integer", 0, within(0, MAX_THREADS, index))
_OUT = Parameter("Array | None")
_PROGRESS = Parameter("Progress", None, _progress)

_TEXTURES = {
    # In mm.
    "spacing": _SPACING,
    # In units of the intensities.
    "bin_width": Parameter("Number | None", None, positive),
    "bin_count": Parameter("Integer | None", None, within(1, MAX_LEVELS, index)),
    "bin_edges": Parameter("Numbers | None", None, _bin_edges),
    "largest_gray_level": Parameter("Integer | None", None, within(1, MAX_LEVELS, index)),
    "intensity_range": Parameter("Literal['mask', 'image'] | Numbers", "mask", _intensity_range),
    "distances": Parameter("Integers", (1,), _distances, ("glcm", "gldm", "ngtdm")),
    "aggregation": _choice(None, "average", "merge", affects=("glcm", "glrlm")),
    "weighting_norm": _choice(None, *WEIGHTING_NORMS, affects=("glcm", "glrlm")),
    "symmetric": Parameter("bool", True, _switch, ("glcm",)),
    "alpha": Parameter("Integer", 0, within(0, MAX_LEVELS, index), ("gldm",)),
    "voxel_array_shift": Parameter("Number", 0.0, number, ("firstorder",)),
    "threads": _THREADS,
    "progress": _PROGRESS,
}

FEATURE_MAPS = {
    "features": Parameter("str | Iterable[str] | Mapping[str, str | Iterable[str] | None]", is_required=True),
    "label": _LABEL,
    # In voxels; radius_mm in mm. How many there must be depends on the dimension of the image.
    "neighborhood_radius": Parameter("Integers | None"),
    "radius_mm": Parameter("Number | None", None, within(0, 10**9)),
    "window_size": Parameter("Integers | None"),
    "window_anchor": Parameter("Integers | None"),
    **_TEXTURES,
    "selection": Parameter("Array | ImageLike | Path | None"),
    "background_value": Parameter("Number", 0.0, number),
    "empty": _choice(None, "error", "background"),
    "crop": _choice(None, "mask"),
    "dimension": Parameter("Literal[2, 3] | None", None, _one_of_numbers(2, 3)),
    "precision": _PRECISION,
    "out": _OUT,
    "device": Parameter("Devices"),
}

REGION_FEATURES = {
    "label": Parameter("str | Integer | Sequence[str | Integer] | Set[str | Integer]", "all"),
    "features": Parameter("str | Iterable[str] | Mapping[str, str | Iterable[str] | None] | None"),
    "plane_axis": Parameter("Literal[0, 1, 2] | None", None, _one_of_numbers(0, 1, 2)),
    "minimum_dimensions": Parameter("Literal[0, 1, 2, 3]", 2, _one_of_numbers(0, 1, 2, 3)),
    **_TEXTURES,
    "device": Parameter("Device"),
}

# Names of PyRadiomics and SimpleITK after those of this package.
INTERPOLATIONS = (
    *("nearest", "linear", "bspline", "sitkNearestNeighbor", "sitkLinear", "sitkBSpline"),
    *(f"sitkBSpline{order}" for order in range(1, 6)),
)

RESAMPLE = {
    # In mm.
    "spacing": Parameter("Number | Numbers | None"),
    "like": Parameter("ImageLike | Path | None"),
    "interpolation": Parameter("str", "bspline", one_of(*INTERPOLATIONS)),
    "order": Parameter("Literal[0, 1, 2, 3, 4, 5] | None", None, within(0, 5, index)),
    "default_value": Parameter("Number", 0.0, number),
    "dtype": _choice(None, "float32", "float64"),
    "image_spacing": Parameter("Number | Numbers | None"),
    "dimension": Parameter("Literal[2, 3] | None", None, _one_of_numbers(2, 3)),
    "device": Parameter("Device"),
    "threads": _THREADS,
    "progress": _PROGRESS,
}

FILTER_IMAGE = {
    # In mm.
    "sigma": Parameter("Number | Numbers | None", None, _sigma, ("LoG", "Gaussian")),
    "order": Parameter("Integers", 0, affects=("Gaussian",)),
    "use_spacing": Parameter("bool", True, _switch, ("Gradient",)),
    "wavelet": Parameter("str", "coif1", affects=("Wavelet",)),
    "level": Parameter("Integer", 1, within(1, 32, index), ("Wavelet",)),
    "start_level": Parameter("Integer", 0, within(0, 32, index), ("Wavelet",)),
    "plane_axis": Parameter("Literal[0, 1, 2] | None", None, _one_of_numbers(0, 1, 2), ("Wavelet",)),
    # In voxels.
    "size": Parameter("Integers", 3, affects=("Mean",)),
    "weights": Parameter("Numbers | Sequence[Numbers | None] | None", affects=("Convolution",)),
    "mode": _choice("reflect", "reflect", "constant", "nearest", "mirror", "wrap", affects=("Mean", "Convolution")),
    "spacing": _SPACING,
    "precision": _choice(None, "float", "double"),
    "device": Parameter("Device"),
    "threads": _THREADS,
    "progress": _PROGRESS,
}

_OF_OBJECT = ("geometric_mean", "weighted_sum", "minimum")
MOMENTS = ("object_mean", "object_variance", "difference_mean", "difference_variance")

FUZZY_CONNECTEDNESS = {
    "label": _LABEL,
    "seed_points": Parameter("Any | None"),
    "object_mean": Parameter("MomentOfLabels | None", affects=_OF_OBJECT),
    "object_variance": Parameter("MomentOfLabels | None", affects=_OF_OBJECT),
    "difference_mean": Parameter("MomentOfLabels | None", affects=("weighted_sum",)),
    "difference_variance": Parameter("MomentOfLabels | None", affects=(*_OF_OBJECT, "homogeneity")),
    # In voxels.
    "estimation_radius": Parameter("Integer", 2, within(0, 2**31 - 1, index), AFFINITIES[:-1]),
    "affinity": _choice("geometric_mean", *AFFINITIES),
    "weight": Parameter("Number", 0.5, within(0, 1), ("weighted_sum",)),
    "minimum_strength": Parameter("Number", 0.0, within(0, 1)),
    "adjacency": _choice("face", *ADJACENCIES),
    "distance_weighting": Parameter("bool", False, _switch),
    # In mm.
    "spacing": _SPACING,
    "precision": _PRECISION,
    "out": _OUT,
    "device": Parameter("Device"),
    "threads": _THREADS,
    "progress": _PROGRESS,
}

LABELS = {
    **FUZZY_CONNECTEDNESS,
    "affinity": _choice("absolute_difference", *AFFINITIES),
    "competition": _choice("iterative", *COMPETITIONS),
    "tie_rule": _choice("distance", *TIE_RULES),
    "estimate_of_every_label": Parameter("bool", False, _switch, AFFINITIES[:-1]),
    # In voxels.
    "smoothing": Parameter("Number", 0.0, within(0, 100)),
    "refine": Parameter("Array | ImageLike | Path | None"),
    # In mm.
    "refine_distance": Parameter("Number", 5.0, within(0, 1000)),
    "refine_background": Parameter("Integer | None", None, within(1, 65535, index)),
    "components_axis": Parameter("Literal[0, -1] | None", None, _one_of_numbers(0, -1)),
    "label_type": Parameter("DTypeLike", "uint16", _label_type),
    "strength": Parameter("bool", False, _switch),
    "margin": Parameter("bool", False, _switch),
    "crop_to_seeds": Parameter("bool", False, _switch),
    # In voxels, or in mm.
    "crop_margin": Parameter("Number | Numbers", 10, _margin),
    "crop_margin_in_millimeters": Parameter("bool", False, _switch),
}

# Those of an image, which a session has once.
OF_IMAGES = ("spacing", "smoothing", "components_axis", "label_type", "precision")
SEED_SESSION = {"mask": Parameter("Array | ImageLike | Path | None"), **LABELS}
del SEED_SESSION["out"], SEED_SESSION["seed_points"]


# Parameters that have another name in the ITK filters, which is accepted, too.
_NAMES_OF_ITK = {"number_of_gray_levels": "bin_count"}


def checked(given, function, table, arguments=()):
    """A dict of all parameters of a table, from those that are given, which are checked. Raises TypeError, with what may be meant, for
    a name that is not in the table.

    given        ITK's names in it become those of the table.
    function     What the user calls, for errors.
    arguments    Names of other parameters.
    """
    for of_itk, name in _NAMES_OF_ITK.items():
        if of_itk in given and name in table:
            if name in given:
                raise TypeError(
                    f"{of_itk} and {name} are given, but are two names of one parameter: leave one of them out"
                )
            given[name] = given.pop(of_itk)
    for name in given:
        if name not in table:
            similar = did_you_mean(name, [*arguments, *table]) or f"; it has {', '.join([*arguments, *table])}"
            raise TypeError(f"{function} has no parameter {name}{similar}")
    values = {}
    for name, parameter in table.items():
        value = given.get(name, parameter.default)
        values[name] = value if value is parameter.default else parameter.check(value, name)
    return values


def given_one(values, *names):
    """The one of the parameters with these names that is given, or None. Raises ValueError if several are."""
    given = [name for name in names if values.get(name) is not None]
    if len(given) > 1:
        raise ValueError(f"{listed(given)} are given, but only one of them can be used")
    return given[0] if given else None


def check_effects(given, values, table, kinds, what):
    """Raise ValueError for a parameter that is given with another value than its default, but affects none of the kinds.

    values    Values of all parameters, which are checked.
    kinds     Classes of features, or the affinity.
    what      What the kinds are, such as "on features of", for errors.
    """
    for name in given:
        _, default, _, affects, _ = table[name]
        if not affects or values[name] is default or any(kind in affects for kind in kinds):
            continue
        if default is None or not np.array_equal(values[name], default):
            raise ValueError(
                f"{name} is {given[name]!r}, but has no effect {what} {', '.join(kinds)}; it belongs to {listed(affects)}"
            )


# The section of parameters of a docstring in the style of numpydoc, and its entries: name, type, and text.
_SECTION = re.compile(r"(?<=\nParameters\n----------\n)(?:\S.*\n(?: {4}.*\n)+)+")
_ENTRY = re.compile(r"(\S+)(?: : (.*))?\n((?: {4}.*\n)+)")


def documented(docstring):
    """Entries of the parameters in a docstring by name: the entry, its type and its text. None in python -OO."""
    section = _SECTION.search(inspect.cleandoc(docstring or ""))
    return {match[1]: (match[0], match[2], match[3]) for match in _ENTRY.finditer(section[0] if section else "")}


# The default of a parameter that stays as it is, in signatures.
_UNCHANGED = type("Unchanged", (), {"__repr__": lambda self: "<unchanged>"})()


def with_parameters(table: Any, like: Any = None, is_update: bool = False) -> Callable[[_Function], _Function]:
    """Let a function or class with **parameters show those of a table to help() and editors, and have its own as arguments.

    like         Function whose docstring describes the parameters that the own docstring does not.
    is_update    Whether parameters that are left out stay as they are, which the default shows.
    """

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        for name, (annotation, default, _, _, is_required) in table.items():
            default = inspect.Parameter.empty if is_required else _UNCHANGED if is_update else default
            own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        setattr(function, "__signature__", signature.replace(parameters=own))
        if function.__doc__:
            entries = {**documented(like and like.__doc__), **documented(function.__doc__)}
            text = "".join(entries[p.name][0] for p in own if p.name in entries)
            text = re.sub("(?m)^(\\S+ : .*), default .*", r"\1, optional", text) if is_update else text
            function.__doc__ = _SECTION.sub(lambda _: text, inspect.cleandoc(function.__doc__) + "\n", count=1)
        return function

    return decorate
