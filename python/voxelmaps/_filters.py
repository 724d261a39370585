# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Adapts the filter classes that ITK's wrapping generates: enumerators, features, offsets and seeds as strings and lists,
masks of any type, and arrays as input and output of the functional interface.

FILTERS, at the end, lists the filters. A new filter needs a row there and a .wrap file.
"""

import atexit
import contextlib
import functools
import importlib
import operator
import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _images
from ._connectedness import AFFINITIES, check_effects_by_name, indices_of_points
from ._feature_maps import FEATURE_NAMES
from ._itk import itk
from ._labels import LabelAffinity, Segmentation, warn_of_ties, with_points
from ._suggestions import did_you_mean, normalized

# After the check of ITK's version.
from itk.support.helpers import camel_to_snake_case

# --- Strings and lists -------------------------------------------------------------------------------------------------


def _integer(value):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{value!r} is not an integer") from None


def _enumerators(enums, kind):
    """Dict of the enumerators of an enumeration: name -> number."""
    prefix = kind + "_"
    return {name[len(prefix) :]: getattr(enums, name) for name in dir(enums) if name.startswith(prefix)}


def _enumerator(enums, kind, value):
    """Number of an enumerator given as a string or a number."""
    enumerators = _enumerators(enums, kind)
    if not isinstance(value, str):
        if _integer(value) in enumerators.values():
            return _integer(value)
        raise ValueError(f"{kind} {value} is not valid; choose from {', '.join(enumerators)}")
    for name, number in enumerators.items():
        if normalized(name) == normalized(value):
            return number
    similar = did_you_mean(value, enumerators)
    raise ValueError(f"{kind} '{value}' is not valid{similar}; choose from {', '.join(enumerators)}")


def _feature(enums, value):
    """Number of a feature given by abbreviation, name, name in PyRadiomics or number."""
    enumerators = _enumerators(enums, "Feature")
    if not isinstance(value, str) and _integer(value) in enumerators.values():
        return _integer(value)
    value = str(value)
    all_names = []
    for name, number in enumerators.items():
        names = [name, enums.GetAbbreviation(number)]
        if hasattr(enums, "GetPyRadiomicsName"):
            names.append(enums.GetPyRadiomicsName(number))
        if normalized(value) in map(normalized, names):
            return number
        all_names += names
    abbreviations = ", ".join(enums.GetAbbreviation(number) for number in sorted(enumerators.values()))
    raise ValueError(
        f"Feature '{value}' is not valid{did_you_mean(value, all_names)}; choose from {abbreviations}, or use long names"
    )


def _dimension(instance):
    """Dimension of the images of a filter."""
    return itk.template(itk.template(instance)[1][0])[1][1]


def _flat(values, dimension, what):
    """Flat list of the components of vectors, each given as a sequence; a single vector may be given as such."""
    if len(values) == 1:
        values = values[0]
    if len(values) > 0 and (
        isinstance(values[0], (int, np.integer)) or (len(values) == dimension and np.ndim(values[0]) == 0)
    ):
        values = [values]
    rows = [[_integer(v) for v in row] for row in values]
    for row in rows:
        if len(row) != dimension:
            raise ValueError(f"{what} {row} has {len(row)} components instead of {dimension}")
    return [component for row in rows for component in row]


def _vector_getter(method):
    """Getter that returns a list of lists, in place of one whose std::vector SWIG cannot convert."""

    def getter(self):
        components, dimension = list(getattr(self, f"_Get{method}AsNumbers")()), _dimension(self)
        return [components[i : i + dimension] for i in range(0, len(components), dimension)]

    return getter


def _set_offsets(self, *offsets):
    """Set the offsets: lists of components, or "all", or "in-plane"."""
    if len(offsets) == 1 and isinstance(offsets[0], str):
        name = normalized(offsets[0])
        if name not in ("all", "inplane"):
            raise ValueError(f"Offsets '{offsets[0]}' is not valid; choose from all, in-plane")
        self._SetOffsetsAsNumbers(
            self._GetAllOffsetsAsNumbers() if name == "all" else self._GetInPlaneOffsetsAsNumbers()
        )
        return
    self._SetOffsetsAsNumbers(_flat(offsets, _dimension(self), "Offset"))


def _set_seeds(self, *seeds):
    """Set the seeds: lists of indices in ITK's order x, y, z."""
    self._SetSeedsAsNumbers(_flat(seeds, _dimension(self), "Seed"))


def _feature_setter(enums_name):
    def set_features(self, *features):
        """Set the features: abbreviations ("SRE"), names ("ShortRunEmphasis") or numbers; or "all"."""
        enums = getattr(itk, enums_name)
        if len(features) == 1 and isinstance(features[0], str):
            if normalized(features[0]) == "all":
                features = sorted(_enumerators(enums, "Feature").values())
        elif len(features) == 1 and np.ndim(features[0]) == 1:
            features = features[0]
        self._SetFeaturesAsNumbers([_feature(enums, f) for f in features])

    return set_features


def _get_features(self):
    return list(self._GetFeaturesAsNumbers())


def _set_device_id(self, device_id):
    """SetDeviceID, by the name into which ITK converts the keyword device_id."""
    self.SetDeviceID(device_id)


def _index_setter(original):
    """Let a setter of an index, a size or an offset take NumPy integers and arrays too."""

    @functools.wraps(original)
    def setter(self, value):
        name, dimension = re.sub("^(Set|Add)", "", original.__name__), _dimension(self)
        if isinstance(value, (list, tuple, np.ndarray, str, float, np.number, type(None))):
            try:
                integers = [operator.index(v) for v in np.atleast_1d(np.asarray(value, object))]
                value = integers[0] if np.ndim(value) == 0 else integers
            except TypeError:
                integers = []
            if len(integers) != (1 if np.ndim(value) == 0 else dimension):
                raise TypeError(f"{name} is {value!r}, but must be an integer, or a list of {dimension} integers")
        if name != "Seed" and np.any(np.less(value, 0)):
            raise ValueError(f"{name} is {value}, but must not be negative")
        return original(self, value)

    return setter


class _RunningFilters:
    """The filters that compute now. Python ends a daemon thread when it next needs the interpreter lock; in an observer, with
    the filter's code around it, that would abort the process. So the filters must have stopped before."""

    # Observers that wait for the main thread would otherwise keep the process alive.
    LONGEST_WAIT = 30.0

    def __init__(self):
        self.filters = []
        self.changed = threading.Condition()
        self.is_exiting = False
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self):
        """A forked process has none of the threads, one of which may have held the lock."""
        self.filters = []
        self.changed = threading.Condition()

    @contextlib.contextmanager
    def entry(self, instance):
        is_main = threading.current_thread() is threading.main_thread()
        if self.is_exiting and not is_main:
            self.wait_for_exit()
        with self.changed:
            self.filters.append(instance)
        try:
            yield
        finally:
            with self.changed:
                self.filters[:] = [f for f in self.filters if f is not instance]
                self.changed.notify_all()
            if self.is_exiting and not is_main:
                self.wait_for_exit()

    @staticmethod
    def wait_for_exit():
        """A daemon thread has nothing to do any more; what it printed could mix with the end of the interpreter."""
        threading.Event().wait()

    def stop(self):
        with self.changed:
            self.is_exiting = True
            end = time.monotonic() + self.LONGEST_WAIT
            while self.filters and time.monotonic() < end:
                # Again and again, since a filter clears the flag when it starts.
                for instance in self.filters:
                    instance.AbortGenerateDataOn()
                self.changed.wait(0.05)


_running = _RunningFilters()


def _update_method(original, releasing):
    """Release the interpreter lock, unless filters before this one may run: threads may share these, and only the lock keeps
    them from running twice at once."""

    @functools.wraps(original)
    def method(self):
        getters = ("GetInput", "GetMaskImage", "GetSelectionImage", "GetSeedImage")
        inputs = [getattr(self, getter)() for getter in getters if hasattr(self, getter)]
        with _running.entry(self):
            if any(image is not None and image.GetSource() is not None for image in inputs):
                return original(self)
            return releasing(self)

    return method


def _count_setter(original):
    """Let a setter of a count say that it is negative; SWIG would say something of unsigned int."""

    @functools.wraps(original)
    def setter(self, value):
        name = original.__name__[len("Set") :]
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} is {value!r}, but must be an integer") from None
        if number < 0:
            raise ValueError(f"{name} is {number}, but must not be negative")
        return original(self, number)

    return setter


def _enumeration_setter(original, enums_name, kind):
    """Let a setter of an enumerator take its name too."""

    @functools.wraps(original)
    def setter(self, value):
        return original(self, _enumerator(getattr(itk, enums_name), kind, value))

    return setter


def _vector_of(values):
    """An itk.Array of numbers."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 1:
        raise TypeError(f"a list of numbers is needed, one for each component, not {values.tolist()}")
    result = itk.Array[itk.D](len(values))
    for i, value in enumerate(values):
        result.SetElement(i, float(value))
    return result


def _matrix_of(values):
    """An itk.Array2D of numbers."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 2:
        raise TypeError(f"a list of rows is needed, one for each component, not {values.tolist()}")
    result = itk.Array2D[itk.D](*values.shape)
    for i, j in np.ndindex(values.shape):
        result.SetElement(i, j, float(values[i, j]))
    return result


def _margin_setter(original):
    """Let a setter of one number or one for each axis take NumPy numbers and arrays too."""

    @functools.wraps(original)
    def setter(self, value):
        if not isinstance(value, (int, float, itk.FixedArray[itk.D, _dimension(self)])):
            try:
                value = float(value) if np.ndim(value) == 0 else [float(v) for v in value]
            except (TypeError, ValueError):
                name = original.__name__[len("Set") :]
                raise TypeError(f"{name} is {value!r}, but must be a number, or one for each axis") from None
        return original(self, value)

    return setter


def _numbers_setter(original, convert):
    """Let a setter of an itk.Array or itk.Array2D take lists and NumPy arrays; there may be a label before."""

    @functools.wraps(original)
    def setter(self, *values):
        return original(self, *values[:-1], convert(values[-1]))

    return setter


def _numbers_getter(original, is_matrix):
    """Let a getter of an itk.Array or itk.Array2D return a NumPy array."""

    @functools.wraps(original)
    def getter(self):
        values = original(self)
        if is_matrix:
            rows = [[values.get(i, j) for j in range(values.cols())] for i in range(values.rows())]
            return np.array(rows, float).reshape(values.rows(), values.cols())
        return np.array([values.GetElement(i) for i in range(values.Size())], float)

    return getter


def _image_setter(original, name, nonzero):
    """Let a setter of an image of unsigned char take arrays and images of other types too."""

    @functools.wraps(original)
    def setter(self, value):
        image = _images.integer_image(value, self.GetInput(), _dimension(self), name, nonzero=nonzero)
        return original(self, image)

    return setter


# --- Labels ------------------------------------------------------------------------------------------------------------


def _label_pixel(instance):
    """Type of the labels of a filter, itk.UC or itk.US."""
    return itk.template(itk.template(instance)[1][1])[1][0]


def _check_label(self, value):
    label, largest = _integer(value), np.iinfo(_images.dtype_of(_label_pixel(self))).max
    if not 1 <= label <= largest:
        wide = "" if largest > 255 else "; a filter whose labels are of type itk.US has labels up to 65535"
        raise ValueError(f"the label {label} is not from 1 to {largest}{wide}")
    return label


def _seed_image_setter(original):
    @functools.wraps(original)
    def setter(self, value):
        """Set the image of seeds: an image, array or DataArray of labels; 0 is no seed."""
        dimension, pixel = _dimension(self), _label_pixel(self)
        return original(self, _images.integer_image(value, self.GetInput(), dimension, "SeedImage", pixel))

    return setter


def _labeled_seed_adder(original):
    @functools.wraps(original)
    def add_seed(self, index, label):
        """Add a seed: its index in ITK's order x, y, z, and its label."""
        if isinstance(index, (list, tuple, np.ndarray)):
            index = _flat([index], _dimension(self), "Seed")
        return original(self, index, _check_label(self, label))

    return add_seed


def _indices_of_label(indices, dimension):
    if not isinstance(indices, (list, tuple, np.ndarray)):
        raise TypeError(f"a seed must be an index or a list of indices, not {type(indices).__name__}")
    flat = _flat([indices], dimension, "Seed")
    for component in flat:
        if abs(component) >= 2**63:
            raise ValueError(f"the index {component} of a seed is outside of the image")
    return [flat[i : i + dimension] for i in range(0, len(flat), dimension)]


def _set_labeled_seeds(self, seeds):
    """Set the seeds: a dict that maps each label to an index, or to a list of indices, in ITK's order x, y, z."""
    if not isinstance(seeds, Mapping):
        raise TypeError(f"Seeds must be a dict of labels and lists of indices, not {type(seeds).__name__}")
    rows = [
        (row, _check_label(self, label))
        for label, indices in seeds.items()
        for row in _indices_of_label(indices, _dimension(self))
    ]
    self.ClearSeeds()
    for row, label in rows:
        self.AddSeed(row, label)


def _parameter_of_labels_setter(of_label, of_all):
    @functools.wraps(of_label)
    def setter(self, *values):
        """Set the value of all labels: (value); of one label: (label, value); of several: ({label: value, ...})."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            pairs = [(_check_label(self, label), value) for label, value in values[0].items()]
            for label, value in pairs:
                of_label(self, label, value)
        elif len(values) == 2:
            of_label(self, _check_label(self, values[0]), values[1])
        else:
            of_all(self, *values)

    return setter


def _get_used_affinities_of_labels(self):
    """Dict of the affinities of labels that the last Update() used; empty if there was one for all."""
    numbers = list(self._GetUsedAffinitiesOfLabelsAsNumbers())
    return {int(numbers[i]): LabelAffinity(*numbers[i + 1 : i + 5]) for i in range(0, len(numbers), 5)}


def _call_with_labels(self):
    """What the functional interface runs: the labels, or a Segmentation if strength or margin are asked for too. ITK's own
    function would return empty images."""
    self.UpdateLargestPossibleRegion()
    strength = self.GetStrengthImage() if self.GetGenerateStrengthImage() else None
    margin = self.GetMarginImage() if self.GetGenerateMarginImage() else None
    labels = self.GetOutput()
    return labels if strength is None and margin is None else Segmentation(labels, strength, margin)


# Setters of numbers for images of vectors.
_NUMBERS = {
    "SetObjectMeanVector": _vector_of,
    "SetObjectCovariance": _matrix_of,
    "SetDifferenceMeanVector": _vector_of,
    "SetDifferenceCovariance": _matrix_of,
}


def _adapt_labels(cls):
    # The Cuda class inherits these.
    if "AddSeed" in vars(cls):
        cls.AddSeed = _labeled_seed_adder(cls.AddSeed)
        cls.SetSeedImage = _seed_image_setter(cls.SetSeedImage)
        for name in ("SetObjectMean", "SetObjectVariance", "SetDifferenceMean", "SetDifferenceVariance", *_NUMBERS):
            # SWIG hides the setter of the base class behind the one of the labels.
            of_label, of_all = getattr(cls, name), getattr(super(cls, cls), name)
            if name in _NUMBERS:
                of_label, of_all = (_numbers_setter(setter, _NUMBERS[name]) for setter in (of_label, of_all))
            setattr(cls, name, _parameter_of_labels_setter(of_label, of_all))
    cls.SetSeeds = _set_labeled_seeds
    cls.GetUsedAffinitiesOfLabels = _get_used_affinities_of_labels
    cls.__internal_call__ = _call_with_labels


def _holds_labels_of_a_byte(kwargs):
    """Whether the seeds that are given by name need labels of unsigned char only."""
    # As ITK's names: seed_image or SeedImage.
    given = {normalized(name): value for name, value in kwargs.items()}
    seed_image, seeds = given.get("seedimage"), given.get("seeds")
    if isinstance(seeds, Mapping) and any(_integer(label) > 255 for label in seeds):
        return False
    return seed_image is None or _images.is_byte_image(seed_image)


def _class_with_labels(template, image, pixel):
    """The class of a filter for an image whose labels are of a type."""
    input_type = itk.class_(itk.output(image))
    return template[input_type, itk.Image[pixel, itk.template(input_type)[1][1]]]


# --- Functional interface ----------------------------------------------------------------------------------------------


def _split_input(args, kwargs):
    """The input, and the remaining arguments."""
    if args:
        return args[0], list(args[1:]), kwargs
    kwargs = dict(kwargs)
    for key in ("Input", "input"):
        if key in kwargs:
            return kwargs.pop(key), [], kwargs
    raise TypeError("No image given; pass it as the first argument")


# Parameters of the discretization, and the methods with which they have an effect; the first two imply a method.
_METHODS_OF_PARAMETERS = {
    "binwidth": ("FixedBinSizeAtMultiples", "FixedBinSize"),
    "binedges": ("Edges",),
    "numberofgraylevels": ("FixedBinNumber", "Identity", "Levels"),
}


def _with_discretization(kwargs, keyword):
    """The keywords of a filter, with the method of discretization, a keyword, that one of them implies. Raises ValueError for a
    parameter without effect, with which the maps would be those of other settings."""
    names = {normalized(name): name for name in kwargs}
    if normalized(keyword) not in names:
        for parameter in ("binwidth", "binedges"):
            if parameter in names:
                method = _METHODS_OF_PARAMETERS[parameter][0]
                names[normalized(keyword)] = keyword
                kwargs = {keyword: camel_to_snake_case(method), **kwargs}
                break
    enums = getattr(itk, _DISCRETIZATION)
    method = _enumerator(enums, "Method", kwargs.get(names.get(normalized(keyword)), "FixedBinNumber"))
    (name,) = (name for name, number in _enumerators(enums, "Method").items() if number == method)
    limits = [names[parameter] for parameter in ("rangeminimum", "rangemaximum") if parameter in names]
    if limits and "rangesource" not in names:
        names["rangesource"] = "range_source"
        kwargs = {"range_source": "given", **kwargs}
    if limits and _enumerator(enums, "RangeSource", kwargs[names["rangesource"]]) != enums.RangeSource_Given:
        raise ValueError(
            f"{limits[0]} has no effect with range_source {kwargs[names['rangesource']]!r}; it belongs to 'given'"
        )
    if "rangesource" in names and name in ("Identity", "Levels", "Edges"):
        what = limits[0] if limits else names["rangesource"]
        raise ValueError(f"{what} has no effect with the discretization method {name}, which needs no range")
    sizes = [names[parameter] for parameter in ("neighborhoodradius", "windowsize") if parameter in names]
    if len(sizes) > 1:
        raise ValueError(f"{' and '.join(sizes)} are given, but only one can be")
    for parameter, methods in _METHODS_OF_PARAMETERS.items():
        if parameter in names and name not in methods:
            raise ValueError(
                f"{names[parameter]} has no effect with the discretization method {name}; it belongs to {' and '.join(methods)}"
            )
    return kwargs


def _check_effects(kwargs, known, image):
    """Raise ValueError for a keyword that has no effect with the others.

    known    Names of the parameters by their letters and digits.
    """
    given = {camel_to_snake_case(known[normalized(name)]): value for name, value in kwargs.items()}
    parameters = dict(given)
    if "affinity_function" in given:
        number = _enumerator(getattr(itk, _CONNECTEDNESS), "AffinityFunction", given["affinity_function"])
        parameters["affinity_function"] = AFFINITIES[number]
    switches = ("estimate_affinity_from_seeds", "estimate_affinity_of_every_label")
    is_vector = "affinityfunction" in known and itk.output(image).GetNumberOfComponentsPerPixel() > 1
    check_effects_by_name(given, parameters, is_vector or any(given.get(name) for name in switches))


def _with_seed_points(image, given, kwargs, has_labels):
    """The keywords, with seeds in place of seed_points, physical points in mm."""
    names = {normalized(name): name for name in kwargs}
    if "seedpoints" not in names:
        return kwargs
    kwargs = dict(kwargs)
    points, seeds = kwargs.pop(names["seedpoints"]), kwargs.pop(names.get("seeds"), None)
    if _images.is_array(given) and not _images.is_xarray(given):
        indices_of_points(points, None)
    image = itk.output(image)
    image.UpdateOutputInformation()
    indices_of = functools.partial(_images.indices_of_points, image=image)
    if has_labels:
        return {**kwargs, "seeds": with_points(seeds, points, indices_of)}
    dimension = image.GetImageDimension()
    flat = [] if seeds is None else _flat([seeds], dimension, "Seed")
    rows = [flat[i : i + dimension] for i in range(0, len(flat), dimension)]
    return {**kwargs, "seeds": rows + indices_of(points)}


@functools.lru_cache(None)
def _parameters_of(cls):
    """Dict of the names of the parameters of a filter, by the letters and digits that tell them apart."""
    names = [name[len("Set") :] for name in dir(cls) if name.startswith("Set")]
    return {normalized(name): name for name in names}


# What SWIG calls types, and what values of them are.
_TYPES = {"double": "a number", "float": "a number", "bool": "True or False"}


def _raise_for_type(error, given_names):
    """Raise TypeError that names a keyword and its value, if SWIG has refused it."""
    wrong = re.search(r"_Set(\w+)', argument \d+ of type '([^']*)'|overloaded function '\w+_Set(\w+)'", str(error))
    if wrong is None:
        return
    name = normalized(wrong[1] or wrong[3])
    keyword = next((each for each in given_names if normalized(each) == name), None)
    if keyword is not None:
        kind = wrong[2] or ""
        others = (("vector", "a list of numbers"), ("int", "an integer"), ("char", "an integer"), ("", "a number"))
        rule = _TYPES.get(kind) or next(what for part, what in others if part in kind)
        raise TypeError(f"{keyword} is {given_names[keyword]!r}, but must be {rule}") from None


def make(template, args, kwargs):
    """Make a filter from the arguments of its functional interface; returns the filter and the given input."""
    given, args, kwargs = _split_input(args, kwargs)
    if args:
        # ITK would make them inputs that the filter does not look at.
        raise TypeError(
            f"{len(args) + 1} arguments without a name are given, but only the image can be; name the others, such as "
            "mask_image"
        )
    known = _parameters_of(template.values()[0])
    if "seeds" in known:
        known = {**known, "seedpoints": "SeedPoints"}
    for name, value in kwargs.items():
        if normalized(name) not in known:
            names = [
                camel_to_snake_case(each)
                for each in known.values()
                if hasattr(template.values()[0], f"Get{each}") or each == "SeedPoints"
            ]
            raise TypeError(f"the filter has no parameter {name}{did_you_mean(name, names)}")
        if normalized(name) in ("maskimage", "selectionimage", "seedimage"):
            _images.check_axes(value, given, name)
    if hasattr(template.values()[0], "SetBinWidth"):
        is_map = hasattr(template.values()[0], "SetDiscretizationMethod")
        kwargs = _with_discretization(kwargs, "discretization_method" if is_map else "method")
    image = _images.image_from(given, template.__name__ in _TEMPLATES_WITH_VECTORS)
    _check_effects(kwargs, known, image)
    kwargs = _with_seed_points(image, given, kwargs, template.__name__ in _TEMPLATES_WITH_LABELS)
    if template.__name__ in _TEMPLATES_WITH_LABELS:
        # Of the type of the seeds, where they are bytes.
        pixel = itk.UC if _holds_labels_of_a_byte(kwargs) else itk.US
        template = _class_with_labels(template, image, pixel)
    try:
        instance = template.New(image, **kwargs)
    except (TypeError, NotImplementedError) as error:
        _raise_for_type(error, given_names=kwargs)
        raise
    _images.check_masks(instance)
    # The C++ filter keeps the C++ image alive, but only the Python object keeps the array alive that holds its pixels.
    instance.voxelmaps_input = image
    return instance, given


def _named(instance, output):
    """The output, with the names of its components, which NRRD and MetaImage files keep, as those of the program FeatureMaps do."""
    if hasattr(instance, "GetFeatureNames"):
        output.GetMetaDataDictionary()[FEATURE_NAMES] = ",".join(instance.GetFeatureNames())
    return output


def run(template, args, kwargs, crop=None):
    """Run a filter on the arguments of its functional interface; returns the filter, its output and the given input.

    crop    None, or "mask" for the part of the output around the mask; arrays given as xarray are cut likewise.
    """
    if crop not in (None, "mask"):
        raise ValueError(f"crop '{crop}' is not valid; choose from None, 'mask'")
    instance, given = make(template, args, kwargs)
    if crop is None:
        return instance, _named(instance, instance.__internal_call__()), given
    region = _images.mask_region(instance)
    if _images.is_xarray(given):
        # ITK takes the axes in this order, whatever theirs is.
        given = given.transpose(*(dim for dim in ("z", "y", "x") if dim in given.dims))
        given = given[_images.region_slices(region, instance.GetInput())]
    output = instance.GetOutput()
    output.SetRequestedRegion(region)
    instance.Update()
    return instance, _named(instance, _images.cut_to_buffer(output)), given


def _warn_of_ties(instance):
    """Warn if a large part of the labels is 0, and not by the user's choice."""
    enums = getattr(itk, _RELATIVE)
    is_chosen = instance.GetTieRule() != enums.TieRule_Background or instance.GetMinimumStrength() > 0
    if is_chosen or instance.GetCropToSeeds():
        return
    mask = instance.GetMaskImage()
    inside = None if mask is None else itk.array_view_from_image(mask) == instance.GetInsidePixelValue()
    competition = "iterative" if instance.GetCompetition() == enums.Competition_Iterative else "relative"
    # Of the call of the function of itk.
    warn_of_ties(itk.array_view_from_image(instance.GetOutput()), inside, competition, 4)


def _function(original, class_name):
    """The functional interface of a filter; its result has the type of its input."""

    @functools.wraps(original)
    def function(*args, **kwargs):
        instance, output, given = run(getattr(itk, class_name), args, kwargs)
        names = instance.GetFeatureNames() if hasattr(instance, "GetFeatureNames") else None
        if hasattr(instance, "GetTieRule"):
            _warn_of_ties(instance)
        if isinstance(output, Segmentation):
            return Segmentation(
                *(None if image is None else _images.like_input(image, names, given) for image in output)
            )
        return _images.like_input(output, names, given)

    return function


# --- Filters -----------------------------------------------------------------------------------------------------------

_DISCRETIZATION = "GrayLevelDiscretizationEnums"
_COOCCURRENCE = "CooccurrenceFeatureMapEnums"
_DEPENDENCE = "DependenceFeatureMapEnums"
_FIRST_ORDER = "FirstOrderFeatureMapEnums"
_GRAY_TONE_DIFFERENCE = "GrayToneDifferenceFeatureMapEnums"
_RUN_LENGTH = "RunLengthFeatureMapEnums"
_SIZE_ZONE = "SizeZoneFeatureMapEnums"
_CONNECTEDNESS = "FuzzyConnectednessEnums"
_RELATIVE = "RelativeFuzzyConnectednessEnums"


class _Filter(NamedTuple):
    # Setter -> class and name of its enumeration. Setters that only the CUDA class has are listed too.
    enumerations: Dict[str, Tuple[str, str]]
    # Class with the enumeration Feature, for texture filters.
    features: Optional[str] = None
    has_labels: bool = False
    takes_vectors: bool = False
    has_cuda_class: bool = True


_TEXTURE_ENUMERATIONS = {
    "SetDiscretizationMethod": (_DISCRETIZATION, "Method"),
    "SetRangeSource": (_DISCRETIZATION, "RangeSource"),
}

FILTERS = {
    "GrayLevelDiscretizationImageFilter": _Filter(
        {"SetMethod": (_DISCRETIZATION, "Method"), "SetRangeSource": (_DISCRETIZATION, "RangeSource")},
        has_cuda_class=False,
    ),
    "CooccurrenceFeatureMapImageFilter": _Filter(
        {
            **_TEXTURE_ENUMERATIONS,
            "SetAggregation": (_COOCCURRENCE, "Aggregation"),
            "SetCudaMethod": (_COOCCURRENCE, "CudaMethod"),
        },
        features=_COOCCURRENCE,
    ),
    "DependenceFeatureMapImageFilter": _Filter(
        {**_TEXTURE_ENUMERATIONS, "SetCudaMethod": (_DEPENDENCE, "CudaMethod")},
        features=_DEPENDENCE,
    ),
    "FirstOrderFeatureMapImageFilter": _Filter(
        {**_TEXTURE_ENUMERATIONS, "SetCudaMethod": (_FIRST_ORDER, "CudaMethod")},
        features=_FIRST_ORDER,
    ),
    "GrayToneDifferenceFeatureMapImageFilter": _Filter(
        {**_TEXTURE_ENUMERATIONS, "SetCudaMethod": (_GRAY_TONE_DIFFERENCE, "CudaMethod")},
        features=_GRAY_TONE_DIFFERENCE,
    ),
    "RunLengthFeatureMapImageFilter": _Filter(
        {
            **_TEXTURE_ENUMERATIONS,
            "SetAggregation": (_RUN_LENGTH, "Aggregation"),
            "SetCudaMethod": (_RUN_LENGTH, "CudaMethod"),
        },
        features=_RUN_LENGTH,
    ),
    "SizeZoneFeatureMapImageFilter": _Filter(
        {
            **_TEXTURE_ENUMERATIONS,
            "SetConnectivity": (_SIZE_ZONE, "Connectivity"),
            "SetCudaMethod": (_SIZE_ZONE, "CudaMethod"),
        },
        features=_SIZE_ZONE,
    ),
    "FuzzyConnectednessImageFilter": _Filter(
        {
            "SetAffinityFunction": (_CONNECTEDNESS, "AffinityFunction"),
            "SetAdjacency": (_CONNECTEDNESS, "Adjacency"),
            "SetMethod": (_CONNECTEDNESS, "Method"),
            "SetCudaMethod": (_CONNECTEDNESS, "CudaMethod"),
        },
        takes_vectors=True,
    ),
    "RelativeFuzzyConnectednessImageFilter": _Filter(
        {
            "SetAffinityFunction": (_CONNECTEDNESS, "AffinityFunction"),
            "SetAdjacency": (_CONNECTEDNESS, "Adjacency"),
            "SetCompetition": (_RELATIVE, "Competition"),
            "SetTieRule": (_RELATIVE, "TieRule"),
            "SetCudaMethod": (_RELATIVE, "CudaMethod"),
        },
        has_labels=True,
        takes_vectors=True,
    ),
}


def _names_of_templates(names):
    return ["itk::" + prefix + name for name in names for prefix in ("", "Cuda")]


_TEMPLATES_WITH_LABELS = _names_of_templates(name for name, row in FILTERS.items() if row.has_labels)
_TEMPLATES_WITH_VECTORS = _names_of_templates(name for name, row in FILTERS.items() if row.takes_vectors)

_INDEX_SETTERS = ("SetNeighborhoodRadius", "SetWindowSize", "SetWindowAnchor", "SetSeed", "AddSeed")

# Setter -> whether it only distinguishes zero and nonzero.
_IMAGE_SETTERS = {"SetMaskImage": False, "SetSelectionImage": False, "SetSeedImage": True}

_VECTOR_SETTERS = {"SetOffsets": _set_offsets, "SetSeeds": _set_seeds}
_VECTOR_GETTERS = ("Offsets", "AllOffsets", "InPlaneOffsets", "Seeds")


def _adapt_class(cls, row):
    def adapt(name, make_setter, *args):
        original = getattr(cls, name, None)
        # Base classes may have been adapted already.
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(cls, name, make_setter(original, *args))

    for name, (enums, kind) in row.enumerations.items():
        adapt(name, _enumeration_setter, enums, kind)
    if row.has_labels:
        _adapt_labels(cls)
    for name in _INDEX_SETTERS:
        adapt(name, _index_setter)
    for name, nonzero in _IMAGE_SETTERS.items():
        adapt(name, _image_setter, name[len("Set") :], nonzero)
    for name in ("SetNumberOfGrayLevels", "SetAlpha", "SetEstimationRadius"):
        adapt(name, _count_setter)
    adapt("SetCropMargin", _margin_setter)
    for name, convert in _NUMBERS.items():
        adapt(name, _numbers_setter, convert)
        for get in ("Get", "GetUsed"):
            adapt(get + name[len("Set") :], _numbers_getter, convert is _matrix_of)
    for name in ("Update", "UpdateLargestPossibleRegion"):
        adapt(name, _update_method, getattr(cls, "_" + name))
    if hasattr(cls, "SetDeviceID"):
        cls.SetDeviceId = _set_device_id
    if row.features is not None:
        cls.SetFeatures = _feature_setter(row.features)
        cls.GetFeatures = _get_features
    for name, setter in _VECTOR_SETTERS.items():
        if hasattr(cls, f"_{name}AsNumbers"):
            setattr(cls, name, setter)
    for method in _VECTOR_GETTERS:
        if hasattr(cls, f"_Get{method}AsNumbers"):
            setattr(cls, f"Get{method}", _vector_getter(method))


def adapt_filters():
    """Adapt the generated classes; returns the functions that replace the generated ones. The wrapping calls this."""
    # The first library that asks for the default threader sets it for all of ITK: that must be ITK's own, which has TBB.
    itk.MultiThreaderBase.GetGlobalDefaultThreader()
    functions = {}
    for filter_name, row in FILTERS.items():
        for class_name in (filter_name, "Cuda" + filter_name) if row.has_cuda_class else (filter_name,):
            module = importlib.import_module(f"itk.itk{class_name}Python")
            for name, value in list(vars(module).items()):
                # Classes of the wrapping that are not filters of their own end in _Superclass.
                if (
                    name.startswith((f"itk{class_name}I", f"itk{class_name}V"))
                    and isinstance(value, type)
                    and not name.endswith("_Superclass")
                ):
                    _adapt_class(value, row)
            name = camel_to_snake_case(class_name)
            functions[name] = _function(getattr(module, name), class_name)
            setattr(module, name, functions[name])
    _images.add_pickling()
    return functions
