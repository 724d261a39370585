# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels of voxels from seeds that are edited again and again."""

from __future__ import annotations

import math
import re
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _core, _labels
from ._connectedness import (
    ADJACENCIES,
    AFFINITIES,
    check_effects_by_name,
    check_mask_at,
    indices_of_points,
    numbers_of_indices,
    parameters_of_affinity,
)
from ._feature_maps import MAX_THREADS, count, device_of_arrays, number
from ._suggestions import did_you_mean, normalized

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from typing_extensions import Unpack

    from ._types import Array, ImageLike, LabeledIndices, SessionParameters

# Mean and variance of the object, and of the differences.
_AFFINITY = ("object_mean", "object_variance", "difference_mean", "difference_variance")
_AFFINITY_OF_VECTORS = ("object_mean_vector", "object_covariance", "difference_mean_vector", "difference_covariance")


# --- Parameters --------------------------------------------------------------------------------------------------------


def _one_of(names):
    def convert(value, what):
        if not isinstance(value, str):
            return names[count(value, what, 0, len(names) - 1)]
        for name in names:
            # As also the enumerators of ITK's filter are spelled: FaceEdge.
            if normalized(name) == normalized(value):
                return name
        raise ValueError(f"{what} is {value!r}{did_you_mean(value, names)}, but must be one of {', '.join(names)}")

    return convert


def _switch(value, what):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is {value!r}, but must be True or False")
    return bool(value)


def _integer(minimum, maximum):
    return lambda value, what: count(value, what, minimum, maximum)


def _fraction(value, what):
    value = number(value, what)
    if not 0 <= value <= 1:
        raise ValueError(f"{what} is {value}, but must be 0 to 1")
    return value


def _margin(value, what):
    """Numbers for all axes, or one for each in ITK's order x, y, z."""
    margins = [number(v, what) for v in np.atleast_1d(value)]
    if not all(margin >= 0 for margin in margins):
        raise ValueError(f"{what} is {value!r}, but must be at least 0")
    return margins


def _device(value, what):
    device_of_arrays(value, _arrays.Library("NumPy"))
    return value


# Name -> default, and what checks and converts a value. Affinity and mask are set apart.
_PARAMETERS = {
    "competition": ("relative", _one_of(_labels.COMPETITIONS)),
    "tie_rule": ("background", _one_of(_labels.TIE_RULES)),
    "affinity_function": ("geometric_mean", _one_of(AFFINITIES)),
    "weight": (0.5, _fraction),
    "minimum_strength": (0.0, _fraction),
    "adjacency": ("face", _one_of(ADJACENCIES)),
    "distance_weighting": (False, _switch),
    "estimate_affinity_from_seeds": (False, _switch),
    "estimate_affinity_of_every_label": (False, _switch),
    "estimation_radius": (2, _integer(0, 2**31 - 1)),
    "crop_to_seeds": (False, _switch),
    "crop_margin": ([10.0], _margin),
    "crop_margin_in_millimeters": (False, _switch),
    "generate_strength_image": (False, _switch),
    "generate_margin_image": (False, _switch),
    "inside_pixel_value": (1, _integer(0, 255)),
    "device": (None, _device),
    "threads": (0, _integer(0, MAX_THREADS)),
}

_OF_GRAPH = ("affinity_function", "weight", "adjacency", "distance_weighting")
# The same names as in a job.
_OF_JOB = (*_OF_GRAPH[1:], "minimum_strength", "competition", "tie_rule", "threads")


# --- Images ------------------------------------------------------------------------------------------------------------


class _ArrayImage:
    """A copy of an array, whose labels are arrays of the same library.

    pixels    In C order; components of vectors are the last axis.
    shape     In the order of the axes, without that of components.
    start     ITK's index of the first voxel.
    """

    def __init__(self, image):
        given = _arrays.array_of(image, "the image")
        pixels = _arrays.pixels_of(given, "the image")
        if len(pixels.shape) not in (2, 3, 4):
            raise ValueError(
                f"an array with 2 or 3 dimensions is needed, or with 4 for vectors, but the shape is {pixels.shape}"
            )
        # The graph is only right for the voxels that it was made of.
        if pixels.address == given.address:
            pixels = _arrays.Array(pixels.library.copy(pixels.array), pixels.library)
        dimension = min(len(pixels.shape), 3)
        self._set(pixels, dimension, [1.0] * dimension)

    def _set(self, pixels, dimension, spacing):
        if 0 in pixels.shape:
            raise ValueError(f"an array of shape {pixels.shape} has no voxels")
        if pixels.dtype in ("int64", "uint64"):
            exact = _arrays.exact_as_float64(pixels.host())
            pixels = _arrays.Array(pixels.library.from_host(exact), pixels.library)
        self.pixels, self.library, self.spacing = pixels, pixels.library, spacing
        self.shape = pixels.shape[:dimension]
        self.number_of_components = pixels.shape[-1] if len(pixels.shape) > dimension else 0
        self.start = [0] * dimension

    def array_like(self, value, name, largest):
        """The NumPy array of seeds or of a mask that are given."""
        if _is_of_itk(value):
            return self._array_of_image(value, name, largest)
        if not hasattr(value, "__array__"):
            raise TypeError(
                f"{name} must be an itk.Image, a NumPy array or an xarray.DataArray, not {_arrays.kind_of(value)}"
            )
        array = _arrays.array_of(value, name).host()
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name} has voxels of type {array.dtype}, but they must be integers")
        return self._checked(array, name)

    def _checked(self, array, name):
        if array.ndim != len(self.shape):
            raise ValueError(f"{name} has {array.ndim} dimensions, but the image has {len(self.shape)}")
        if array.shape != self.shape:
            raise RuntimeError(f"{name} has the shape {array.shape}, but the image has {self.shape}")
        return array

    def _array_of_image(self, value, name, largest, like=None):
        from . import _images

        pixel = _images.itk.UC if largest <= 255 else _images.itk.US
        image = _images.integer_image(value, like, len(self.shape), name, pixel)
        return self._checked(_images.voxels_of(image, like, name), name)

    def indices_of(self, points):
        """Indices of the voxels at points in mm, in ITK's order."""
        return indices_of_points(points, None)

    def result(self, array):
        """Labels or strengths as the kind of the image."""
        return self.library.result(array)


class _ItkImage(_ArrayImage):
    """A copy of an image of ITK or of a DataArray, whose labels are the same."""

    def __init__(self, image):
        from . import _images

        self._images = _images
        self._given = image
        self._image = _images.copy_of(_images.image_from(image))
        pixels = _arrays.array_of(_images.to_array(self._image), "the image")
        self._set(pixels, self._image.GetImageDimension(), list(reversed(self._image.GetSpacing())))
        self.start = [int(i) for i in self._image.GetLargestPossibleRegion().GetIndex()]

    def array_like(self, value, name, largest):
        self._images.check_axes(value, self._given, {"SeedImage": "seeds", "MaskImage": "mask_image"}[name])
        return super().array_like(value, name, largest)

    def _array_of_image(self, value, name, largest):
        return super()._array_of_image(value, name, largest, self._image)

    def indices_of(self, points):
        return self._images.indices_of_points(points, self._image)

    def result(self, array):
        return self._images.like_input(self._images.image_like(array, self._image), self._given)


def _is_of_itk(value):
    """Whether this is an object of ITK, or a DataArray, which ITK converts."""
    itk = sys.modules.get("itk")
    return _arrays.is_xarray(value) or (itk is not None and isinstance(value, itk.Object))


# --- Updates -----------------------------------------------------------------------------------------------------------


class _Graph:
    """The contracted graph of an image, for as long as it is that of the job."""

    def __init__(self):
        self.hierarchy = _core.Hierarchy()
        self._mask = self._key = None

    def of(self, mask, key):
        """The graph, without its contents if what it was made of has changed.

        mask    By identity, since it is not written to.
        """
        if mask is not self._mask or key != self._key:
            self.hierarchy.release()
        self._mask, self._key = mask, key
        return self.hierarchy


class _Update:
    """Labels of the voxels of an image, and what they are computed from."""

    def __init__(self, image, graph, seeds, parameters, estimates):
        self._image, self._parameters, self._graph = image, parameters, graph
        self._box = _box_of(seeds[0], image, parameters)
        mask = parameters["mask"]
        pixels = image.pixels
        check_mask_at(seeds[0], mask, image.shape, seeds[1])
        if self._box is not None:
            index = tuple(i - part.start for i, part in zip(np.unravel_index(seeds[0], image.shape), self._box))
            seeds = np.ravel_multi_index(index, self._shape()), seeds[1]
            pixels, mask = (
                (
                    None
                    if array is None
                    else _arrays.Array(image.library.contiguous(array.array[self._box]), image.library)
                )
                for array in (pixels, mask)
            )
        self._job = _labels.Job(
            pixels,
            image.number_of_components,
            mask,
            image.spacing,
            seeds,
            affinity=parameters["affinity_function"],
            **{name: parameters[name] for name in _OF_JOB},
        )
        self.affinity, of_labels = self._affinities(seeds[1], estimates)
        self._job.set_affinity(self.affinity, of_labels)
        self.results = {}

    def _shape(self):
        return self._image.shape if self._box is None else tuple(part.stop - part.start for part in self._box)

    def _affinities(self, labels, estimates):
        """The affinity of all labels, and a dict of those of single ones."""
        parameters, components = self._parameters, self._image.number_of_components
        function, radius = parameters["affinity_function"], parameters["estimation_radius"]
        estimates = estimates or parameters["estimate_affinity_from_seeds"]
        given, has_parameters = parameters["affinity"], function != "absolute_difference"
        of_all = given
        if components > 0:
            uses = (function != "homogeneity", function != "homogeneity", function == "weighted_sum", True)
            is_missing = any(is_used and not values for is_used, values in zip(uses, given))
            of_all = [[]] * 4
            if has_parameters and (estimates or is_missing):
                of_all = _labels.estimate(self._job, components, radius)
            if has_parameters and not estimates:
                of_all = [values or estimated for values, estimated in zip(given, of_all)]
        elif estimates and has_parameters:
            of_all = _labels.estimate(self._job, components, radius)
        elif (
            has_parameters and not parameters["is_affinity_set"] and not parameters["estimate_affinity_of_every_label"]
        ):
            raise ValueError(
                "there is no affinity: give object_mean, object_variance and difference_variance, or leave out "
                "estimate_affinity_from_seeds=False"
            )
        if parameters["estimate_affinity_of_every_label"] and has_parameters:
            return of_all, _labels.estimates_of_labels(self._job, components, radius, labels)
        of_labels = parameters["of_labels"]
        return of_all, {
            label: [values.get(label, value) for values, value in zip(of_labels, of_all)]
            for label in set().union(*of_labels)
        }

    def compute(self, names, label_type):
        """Compute results by name."""
        library, parameters = self._image.library, self._parameters
        outputs = {
            name: _arrays.Array(library.empty(self._shape(), label_type if name == "labels" else "float32"), library)
            for name in names
        }
        key = [self._box, list(self.affinity), *(parameters[name] for name in _OF_GRAPH)]
        self._job.compute(
            [outputs.get(name) for name in _labels.Segmentation._fields],
            parameters["device"],
            self._graph.of(parameters["mask"], key),
        )
        for name, output in outputs.items():
            self.results[name] = output.array
            if self._box is not None:
                whole = library.empty(self._image.shape, output.dtype)
                with library.current_device():
                    whole[:] = 0
                    whole[self._box] = output.array
                self.results[name] = whole


def _box_of(voxels, image, parameters):
    """The box of crop_to_seeds, as slices; None for the whole image."""
    if not parameters["crop_to_seeds"]:
        return None
    margins = parameters["crop_margin"]
    margins = reversed(margins * (len(image.shape) // len(margins)))
    box = []
    for positions, n, margin, spacing in zip(
        np.unravel_index(voxels, image.shape), image.shape, margins, image.spacing
    ):
        if parameters["crop_margin_in_millimeters"]:
            # 7.7 mm are 11 voxels of 0.7 mm, although the quotient is a little more.
            margin = margin / abs(spacing) - 1e-6
        margin = n if margin >= n else max(math.ceil(margin), 0)
        box.append(slice(max(int(positions.min()) - margin, 0), min(int(positions.max()) + margin + 1, n)))
    return tuple(box)


# --- Sessions ----------------------------------------------------------------------------------------------------------


class SeedSession:
    """Labels all voxels of an image from labeled seeds, repeatedly, while a user adds and deletes seeds.

    The first update() contracts the image to a small graph, which the session retains; later ones take a fraction of the time.
    Labels are the same as those of voxelmaps.labels with the same seeds and the same affinity.

    image         Array of NumPy, PyTorch, CuPy, JAX or Numba, in host memory or on a CUDA device, itk.Image or xarray.DataArray
                  with 2 or 3 dimensions; it is copied. Labels are of the same kind and on the same device; seeds and masks may
                  be in host memory. Arrays need no ITK. An array with 4 axes is an image of vectors, whose components are the last axis. If the
                  axes of a DataArray are not z, y, x, seeds and masks must be images or DataArrays, and the labels have the axes
                  z, y, x.
    label_type    Type of the labels: numpy.uint8 for labels up to 255, or numpy.uint16 for labels up to 65535.

    Parameters. All other arguments are parameters of the C++ class itk::RelativeFuzzyConnectednessImageFilter in snake case, such as mask_image,
    competition, tie_rule, minimum_strength and adjacency, and device and threads as for voxelmaps.labels.

    Affinity. If none of object_mean, object_variance, difference_mean and difference_variance is given, the first update()
    estimates them from its seeds, and the session then keeps this estimate: another affinity would change labels far from
    the edited seed, and would need another graph. reestimate() makes the next update() estimate again;
    estimate_affinity_from_seeds=True estimates at every update(). affinity_function="absolute_difference" has nothing to estimate. With affinities of single labels, such as
    object_mean={1: 40, 2: 120} or estimate_affinity_of_every_label=True, there is no graph to keep, so that every update()
    takes as long as the first.

    Threads. Methods of one session wait for each other.

    Memory. About 7 bytes per voxel with 6 neighbors, as memory says, beside the copy of the image and the labels. release() gives it
    back; the next update() makes the graph again. A session used in a with statement releases it at the end.

    Raises TypeError, ValueError or RuntimeError that names the invalid value.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> strokes = np.array([[1, 0, 0, 0, 0, 2]], np.uint8)
    >>> with voxelmaps.SeedSession(x, affinity_function="absolute_difference") as session:
    ...     first = session.update(strokes)
    ...     strokes[0, 3] = 3
    ...     second, margin = session.update(strokes, tie_rule="lowest_label"), session.margin
    >>> first.tolist(), second.tolist()
    ([[1, 1, 1, 2, 2, 2]], [[1, 1, 1, 3, 2, 2]])
    """

    def __init__(
        self, image: Array | ImageLike, *, label_type: DTypeLike = np.uint16, **parameters: Unpack[SessionParameters]
    ) -> None:
        self._label_type = np.dtype(label_type).name
        if self._label_type not in _labels.LABEL_TYPES:
            raise ValueError(
                f"label_type {self._label_type} is not valid; choose from {', '.join(_labels.LABEL_TYPES)}"
            )
        self._largest = np.iinfo(self._label_type).max
        parameters = self._named(parameters)
        self._lock = threading.RLock()
        self._image = (_ItkImage if _is_of_itk(image) else _ArrayImage)(image)
        is_vector = self._image.number_of_components > 0
        self._names, self._other_names = (_AFFINITY, _AFFINITY_OF_VECTORS)[:: -1 if is_vector else 1]
        self._parameters = {name: default for name, (default, _) in _PARAMETERS.items()}
        # The affinity of all labels, and for each of its values, a dict of those of single labels.
        self._parameters.update(
            affinity=[[]] * 4 if is_vector else list(_labels.NO_AFFINITY),
            of_labels=[{}] * 4,
            is_affinity_set=False,
            mask=None,
            mask_image=None,
        )
        self._is_affinity_given = self._gives_affinity(parameters)
        self._parameters = self._changed(parameters, self._is_affinity_given)
        self._needs_estimate = True
        self._graph = _Graph()
        # The last update(); None if it did not succeed.
        self._last = None
        self._affinity = None

    def __reduce_ex__(self, protocol):
        raise TypeError("a SeedSession cannot be copied or pickled; make another one of the same image")

    def __enter__(self) -> SeedSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    # --- Parameters

    @staticmethod
    def _named(parameters):
        """Parameters by their names in snake case; ObjectMean stands for object_mean, as in ITK."""
        named = {re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower(): value for name, value in parameters.items()}
        if len(named) < len(parameters):
            raise TypeError(f"a parameter is given twice among {', '.join(parameters)}")
        for name in ("seed_image", "seeds", "seed_points"):
            if name in named:
                raise TypeError(f"{name} is an argument of update(), not a parameter")
        return named

    @staticmethod
    def _gives_affinity(parameters):
        return any(name in parameters for name in (*_AFFINITY, *_AFFINITY_OF_VECTORS, "estimate_affinity_from_seeds"))

    def _changed(self, given, is_affinity_given):
        """The parameters with those that are given, checked and copied."""
        result = dict(self._parameters)
        components = self._image.number_of_components
        for name, value in given.items():
            if name in self._names:
                result["is_affinity_set"] = True
                position = self._names.index(name)
                of_labels = list(result["of_labels"])
                if isinstance(value, Mapping):
                    of_labels[position] = dict(of_labels[position])
                    for label, v in value.items():
                        label = _labels.label_of(label, self._largest)
                        of_labels[position][label] = _labels.affinity_value(position, v, f"{name}[{label}]", components)
                else:
                    of_labels[position] = {}
                    result["affinity"] = list(result["affinity"])
                    result["affinity"][position] = _labels.affinity_value(position, value, name, components)
                result["of_labels"] = of_labels
            elif name in self._other_names:
                kind = f"{components} components" if components > 0 else "no components"
                raise ValueError(
                    f"{name} is given, but the voxels of the image have {kind}: their affinity is {', '.join(self._names)}"
                )
            elif name == "mask_image":
                result[name] = None if value is None else self._mask_of(value)
            elif name in _PARAMETERS:
                result[name] = _PARAMETERS[name][1](value, name)
            else:
                names = (*self._names, "mask_image", *_PARAMETERS)
                raise TypeError(f"a SeedSession has no parameter {name}{did_you_mean(name, names)}")
        dimension = len(self._image.shape)
        if len(result["crop_margin"]) not in (1, dimension):
            raise ValueError(f"crop_margin is {result['crop_margin']}, but must be one number or {dimension}")
        if "mask_image" in given or "inside_pixel_value" in given:
            mask = result["mask_image"]
            if mask is not None:
                library, value = self._image.library, result["inside_pixel_value"]
                inside, of_mask = mask == value, mask
                _arrays.check_some_inside(inside, lambda: of_mask, "mask_image", f"{value} (inside_pixel_value)")
                mask = _arrays.Array(library.from_host(inside.view(np.uint8)), library)
            result["mask"] = mask
        switches = ("estimate_affinity_from_seeds", "estimate_affinity_of_every_label")
        is_estimated = components > 0 or not is_affinity_given or any(result[name] for name in switches)
        check_effects_by_name(given, {**result, "mask_image": result["mask"]}, is_estimated)
        return result

    def _mask_of(self, value):
        array = self._image.array_like(value, "MaskImage", 255)
        _arrays.check_integers(array, 255, "MaskImage")
        return array.astype(np.uint8, order="C")

    # --- Seeds

    def _seeds_of(self, seeds, points):
        """Numbers of voxels, and their labels."""
        shape, start = self._image.shape, self._image.start
        seeds = _labels.with_points(seeds, points, self._image.indices_of)
        if not isinstance(seeds, Mapping):
            array = self._image.array_like(seeds, "SeedImage", self._largest)
            seeds = _labels.seeds_of_array(_arrays.Array(array, _arrays.Library("NumPy")), self._largest, "SeedImage")
        else:
            size = tuple(reversed(shape))

            def numbers_of(indices):
                if any(start):
                    indices = np.subtract(indices, start)
                return numbers_of_indices(indices, size, "F", "an image of the size")

            seeds = _labels.seeds_of_dict(seeds, numbers_of, shape, self._largest)
        if len(seeds[0]) == 0:
            raise RuntimeError("there are no seeds, but at least one is needed")
        return seeds

    # --- Labels

    def update(
        self,
        seeds: Array | ImageLike | LabeledIndices | None = None,
        *,
        seed_points: Mapping[int, Any] | None = None,
        **parameters: Unpack[SessionParameters],
    ) -> Any:
        """Label all voxels; returns labels of the kind and the shape of the image.

        seeds          An image, array or DataArray of labels with the size of the image; 0 is no seed. Or a dict that maps each
                       label to an index or a list of indices, in ITK's order x, y, z. All seeds, not only new ones. They are
                       copied.
        seed_points    In addition to or instead of a dict of seeds: a dict that maps labels to a physical point x, y, z in mm
                       (LPS, as in ITK), or to a list of points, if the image is one of ITK or a DataArray.

        All other arguments are parameters by name, which remain for later updates, such as competition="iterative". The graph
        is made again if it depends on them: mask_image, the affinity, adjacency and distance_weighting. affinity_function and
        estimation_radius also make an estimated affinity be estimated again.

        Labels are 0 where no seed reaches, and for ties unless tie_rule is "lowest_label". If this raises an exception,
        such as a RuntimeError because there is no seed, all parameters are as they were before, and the session can go on.

        Examples

        >>> import numpy as np, voxelmaps
        >>> x = np.array([[7, 8, 7], [1, 0, 1]], np.float32)
        >>> session = voxelmaps.SeedSession(x, affinity_function="absolute_difference")
        >>> session.update({1: [0, 0], 2: [[0, 1], [2, 1]]}).tolist()  # x, y
        [[1, 1, 1], [2, 2, 2]]
        """
        with self._lock:
            self._last = None
            given = self._named(parameters)
            seeds = self._seeds_of(seeds, seed_points)
            is_affinity_given = self._is_affinity_given or self._gives_affinity(given)
            needs_estimate = self._needs_estimate or bool({"affinity_function", "estimation_radius"} & set(given))
            if self._gives_affinity(given):
                given = {"estimate_affinity_from_seeds": False, **given}
            changed = self._changed(given, is_affinity_given)
            estimates = needs_estimate and not is_affinity_given and not changed["estimate_affinity_of_every_label"]
            last = _Update(self._image, self._graph, seeds, changed, estimates)
            needed = [name for name in ("strength", "margin") if changed[f"generate_{name}_image"]]
            last.compute(["labels", *needed], self._label_type)
            self._affinity = changed["affinity_function"], last.affinity
            if estimates:
                changed.update(affinity=last.affinity, is_affinity_set=True)
            self._parameters = changed
            self._is_affinity_given = is_affinity_given
            self._needs_estimate = needs_estimate and not estimates
            self._last = last
            return self._image.result(last.results.pop("labels"))

    def _result(self, name):
        with self._lock:
            if self._last is None:
                raise RuntimeError(f"there is no {name}: the last update() did not succeed, or there was none")
            if name not in self._last.results:
                self._last.compute(["labels", name], self._label_type)
                del self._last.results["labels"]
            return self._image.result(self._last.results[name])

    @property
    def strength(self) -> Any:
        """Strength of the winner of the last update(), in [0, 1], of the kind and shape of the image. It is computed when it is
        first read, in about the time of an update(); with generate_strength_image=True, by each update().

        Examples

        >>> import numpy as np, voxelmaps
        >>> x = np.array([[7, 8, 7, 6, 3]], np.float32)
        >>> session = voxelmaps.SeedSession(x, affinity_function="absolute_difference")
        >>> labels = session.update({1: [0, 0], 2: [4, 0]})
        >>> session.strength.tolist()
        [[1.0, 0.5, 0.5, 0.5, 1.0]]
        """
        return self._result("strength")

    @property
    def margin(self) -> Any:
        """Strength of the winner minus that of the strongest other label of the last update(), in [0, 1], of the kind and shape
        of the image: how certain the label is. It is computed when it is first read, in about the time of an update(); with
        generate_margin_image=True, by each update().

        Examples

        >>> import numpy as np, voxelmaps
        >>> x = np.array([[7, 8, 7, 6, 3]], np.float32)
        >>> session = voxelmaps.SeedSession(x, affinity_function="absolute_difference")
        >>> labels = session.update({1: [0, 0], 2: [4, 0]})
        >>> session.margin.tolist()
        [[0.75, 0.25, 0.25, 0.25, 0.75]]
        """
        return self._result("margin")

    @property
    def affinity(self) -> dict[str, Any]:
        """Dict of the means and variances that the last update() used, with the names of the parameters; empty for
        affinity_function="absolute_difference". voxelmaps.labels(image, seeds, **session.affinity) gives the same labels if the
        other parameters are the same. Affinities of single labels are not in it.

        Examples

        >>> import numpy as np, voxelmaps
        >>> x = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
        >>> session = voxelmaps.SeedSession(x, object_mean=7, object_variance=2, difference_variance=1)
        >>> labels = session.update({1: [0, 0], 2: [5, 0]})
        >>> session.affinity
        {'object_mean': 7.0, 'object_variance': 2.0, 'difference_variance': 1.0}
        """
        if self._affinity is None:
            raise RuntimeError("there is no affinity: no update() has succeeded")
        function, values = self._affinity
        of_all = dict(zip(self._names, values))
        result = {name: of_all[name] for name in parameters_of_affinity(function, self._names)}
        components = self._image.number_of_components
        if components > 0:
            for name, values in result.items():
                result[name] = np.array(values, float).reshape((-1, components)[: 1 + name.endswith("covariance")])
        return result

    def reestimate(self) -> None:
        """Let the next update() estimate one affinity of all labels from its seeds, and keep that. Drops affinities of
        single labels.

        Examples

        >>> import numpy as np, voxelmaps
        >>> session = voxelmaps.SeedSession(np.array([[7, 8, 9, 4, 1, 0, 2]], np.float32))
        >>> labels = session.update({1: [0, 0]})
        >>> session.affinity["object_mean"]
        8.0
        >>> session.reestimate()
        >>> labels = session.update({1: [6, 0]})
        >>> session.affinity["object_mean"]
        1.0
        """
        with self._lock:
            self._parameters = {
                **self._parameters,
                "of_labels": [{}] * 4,
                "estimate_affinity_from_seeds": False,
                "estimate_affinity_of_every_label": False,
            }
            self._is_affinity_given = False
            self._needs_estimate = True

    @property
    def memory(self) -> int:
        """Number of bytes of the graph that the session keeps now."""
        return self._graph.hierarchy.memory

    def release(self) -> None:
        """Free the memory of the graph. The next update() builds it again.

        Examples

        >>> import numpy as np, voxelmaps
        >>> x = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
        >>> session = voxelmaps.SeedSession(x, affinity_function="absolute_difference")
        >>> labels = session.update({1: [0, 0], 2: [5, 0]})
        >>> session.release()
        >>> session.memory
        0
        """
        with self._lock:
            self._graph.hierarchy.release()
