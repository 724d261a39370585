# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Fuzzy connectedness of arrays and images, and a threshold for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, overload

import numpy as np

from . import _arrays, _core, _image, _masks, _parameters, _seeds
from ._core import triple
from ._devices import place_of
from ._files.dicom import label_of
from ._parameters import ADJACENCIES, AFFINITIES, FUZZY_CONNECTEDNESS, MOMENTS, count, number, with_parameters
from ._progress import shown
from ._suggestions import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import (
        Array,
        FuzzyConnectednessParameters,
        ImageLike,
        ImageT,
        Integer,
        Number,
        Numbers,
        NumPyArray,
        Path,
    )

_MAX_COMPONENTS = 16
# Numbers of voxelmaps::FuzzyConnectednessInput::PixelType.
_PIXEL_TYPES = [name for name in _arrays.PIXEL_TYPES if "int64" not in name]


class Scene(NamedTuple):
    """An image whose voxels are connected, or a part of one.

    pixels        In C order; components of voxels are the last axis.
    components    0 for scalars.
    shape         Shape of the voxels.
    sizes         Size of a voxel along each axis, in mm.
    mask          Bytes in C order, or None.
    """

    opened: _image.Opened
    pixels: _arrays.Array
    components: int
    shape: tuple[int, ...]
    sizes: list[float]
    mask: _arrays.Array | None = None

    @property
    def library(self) -> _arrays.Library:
        return self.pixels.library

    @property
    def given_shape(self) -> tuple[int, ...]:
        """In the order of the axes of the image that was given."""
        return self.opened.as_given(self.shape)

    def problem(self, values: dict[str, Any]) -> dict[str, Any]:
        """What _core knows of the scene and the parameters, and where it computes."""
        return {
            "pixels": self.pixels.address,
            "pixel_type": _PIXEL_TYPES.index(self.pixels.dtype),
            "number_of_components": self.components,
            "size": triple(self.shape, 1),
            "mask": 0 if self.mask is None else self.mask.address,
            "affinity_function": AFFINITIES.index(values["affinity"]),
            "adjacency": ADJACENCIES.index(values["adjacency"]),
            "spacing": triple(tuple(self.sizes), 1.0),
            **{name: values[name] for name in ("weight", "minimum_strength", "distance_weighting", "threads")},
            **place_of(values["device"], self.library),
        }

    def masked(self, mask: Any, label: Any) -> Scene:
        """The scene with a mask. Raises ValueError for infinite intensities inside."""
        if mask is None:
            if label is not None:
                raise ValueError(f"label is {label!r}, but there is no mask whose label it is")
            _masks.check_finite(self.pixels, None)
            return self if self.mask is None else self._replace(mask=None)
        label = label_of(mask, label)
        array = self.opened.on_grid(mask, "mask", label)
        array = _arrays.array_like(array, "mask", self.pixels, self.shape, may_be_on_host=True)
        region = _masks.region(array, label, "mask", self.pixels)
        inside = region.array[..., None] if self.components else region.array
        _masks.check_finite(self.pixels, _arrays.Array(inside, region.library), "image", "mask")
        return self._replace(mask=region)

    def _with_arrays(self, function: Callable[[_arrays.Array], _arrays.Array], shape: tuple[int, ...]) -> Scene:
        mask = None if self.mask is None else function(self.mask)
        return self._replace(pixels=function(self.pixels), mask=mask, shape=shape)

    def around(self, numbers: Any, margins: Sequence[int]) -> tuple[tuple[slice, ...], Scene, Any]:
        """The box of voxels with a margin along each axis, as slices; the part of the scene there; the numbers of the voxels in it."""
        indices = np.unravel_index(numbers, self.shape)
        box = _image.box_around([i.min() for i in indices], [i.max() for i in indices], margins, self.shape)
        shape = tuple(part.stop - part.start for part in box)
        part = self._with_arrays(lambda array: array.part(box), shape)
        return box, part, np.ravel_multi_index(tuple(i - part.start for i, part in zip(indices, box)), shape)

    def output(self, out: Any, dtype: str, what: str = "out", part: Any = None) -> _arrays.Array:
        """The array that takes results: that which is given, if its axes are in the order of the scene.

        part    Part of the scene, which is read.
        """
        order, part = self.opened.order, part or self
        if order is None or out is not None:
            output = _arrays.output_of(out, part.pixels, self.given_shape, dtype, what, part.mask)
        return output if order is None else _arrays.Array(self.library.empty(self.shape, dtype), self.library)

    def result(self, array: Any, out: Any = None) -> Any:
        """An array of the library as the kind of image that was given, or the array that was given for it."""
        if out is not None and self.opened.order is not None:
            out[...] = _image.turned(array, self.opened.order, is_reversed=True)
        result = self.library.result(array, out)
        return result if out is not None else self.opened.convert(self.opened.image.with_array(result))


def scene_of(image: Any, values: dict[str, Any]) -> Scene:
    """The scene of an image and of the parameters, which are checked, without a mask."""
    axis = values.get("components_axis")
    opened = _image.opened(image, "image", axis)
    given = _arrays.array_of(opened.image.array, "image")
    pixels = _arrays.without_int64(_arrays.pixels_of(given, "image"), "image")
    axis, components, dimensions = opened.components_axis, 0, len(pixels.shape)
    if axis is not None:
        if "components_axis" not in values:
            raise TypeError(
                "image has voxels of several components, but they must be scalars: choose one, such as image[..., 0]"
            )
        dimensions, components = dimensions - 1, pixels.shape[axis]
        if not 1 <= components <= _MAX_COMPONENTS:
            raise ValueError(f"image has {components} components, but voxels must have 1 to {_MAX_COMPONENTS}")
        if axis == 0:
            library = pixels.library
            pixels = _arrays.Array(library.contiguous(library.module().moveaxis(pixels.array, 0, -1)), library)
    elif values["spacing"] is None:
        remedy = "give components_axis=-1" if "components_axis" in values else "choose a channel, such as image[..., 0]"
        _image.check_axes(opened, pixels.shape, "give its spacing, such as spacing=(1, 1, 1),", remedy)
    if dimensions not in (2, 3):
        rule = "" if axis is None else " in addition to that of the components"
        raise ValueError(f"image has {dimensions} axes, but must have 2 or 3{rule}: its shape is {tuple(given.shape)}")
    shape = pixels.shape[:dimensions]
    if 0 in shape:
        raise ValueError(f"image of shape {shape} has no voxels")
    return Scene(opened, pixels, components, shape, sizes_of(values["spacing"], opened, dimensions))


def sizes_of(spacing: Any, opened: _image.Opened, dimensions: int) -> list[float]:
    """Sizes of a voxel along each axis: the spacing that is given, or that of the image."""
    of_image = opened.image.spacing
    return _parameters.sizes(spacing, dimensions, None if of_image is None else of_image[::-1])


def check_effects(given: Any, values: dict[str, Any], table: Any, moments: dict[str, Any]) -> None:
    """Raise ValueError for parameters that are given but have no effect with the affinity, or with the moments that are given."""
    _parameters.check_effects(given, values, table, (values["affinity"],), "with the affinity")
    radius = values["estimation_radius"]
    if moments and radius != table["estimation_radius"].default and "estimation_radius" in given:
        raise ValueError(f"estimation_radius is {radius!r}, but nothing is estimated: the affinity is given")


def moments_of(values: dict[str, Any]) -> dict[str, Any]:
    """The means and variances that are given and that the affinity has; empty if it has none, or if they are to be estimated."""
    used = [name for name in MOMENTS if values["affinity"] in FUZZY_CONNECTEDNESS[name].affects]
    given = {name: values[name] for name in used if values[name] is not None}
    missing = [name for name in used if name not in given and name != "difference_mean"]
    if given and missing:
        raise ValueError(
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} given without {' and '.join(missing)}: means and variances must be given together, or not at all"
        )
    return given


def checked_arguments(given: Any, function: str, table: Any, arguments: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """All parameters, as _parameters.checked returns them, and the moments among them."""
    values = _parameters.checked(given, function, table, arguments)
    moments = moments_of(values)
    check_effects(given, values, table, moments)
    return values, moments


def elements(value: Any, components: int, name: str) -> list[float]:
    """The elements of a mean or a variance, or of a mean vector or a covariance matrix."""
    if components == 0:
        return [number(value, name)]
    shape = (components,) * (1 if name.split("[")[0].endswith("mean") else 2)
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}, but must be numbers of the shape {shape}") from None
    if array.shape != shape:
        raise ValueError(f"{name} is {value!r}, but voxels of {components} components need the shape {shape}")
    return array.ravel().tolist()


def is_estimated(values: dict[str, Any], moments: dict[str, Any]) -> bool:
    return not moments and values["affinity"] != "absolute_difference"


def estimate(
    scene: Scene, numbers: Any, values: dict[str, Any], remedy: str = "", labels: Any = ()
) -> tuple[list[float], ...]:
    """The affinity of the voxels around seeds, in the order of MOMENTS. Warns if the object may leak.

    numbers    Numbers of the seeds, in the order of memory.
    remedy     In addition to that of the warning.
    labels     Labels of the seeds, if they are to have one affinity. Raises ValueError if their intensities differ.
    """
    radius = values["estimation_radius"]
    if scene.library.device is not None:
        # Only the voxels that are used are copied to host memory.
        _, scene, numbers = scene.around(numbers, (radius,) * len(scene.shape))
        scene = scene._with_arrays(lambda array: _arrays.array_of(array.host(), ""), scene.shape)
    affinity, warning = _core.estimate_affinity(scene.problem({**values, "device": "cpu"}), numbers, radius, labels)
    if warning:
        warn(f"{warning}{remedy} (estimation_radius {radius})")
    return affinity


@overload
def fuzzy_connectedness(
    image: Path,
    seeds: Array | ImageLike | Path | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[FuzzyConnectednessParameters],
) -> Any: ...
@overload
def fuzzy_connectedness(
    image: NumPyArray,
    seeds: Array | ImageLike | Path | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[FuzzyConnectednessParameters],
) -> NDArray[Any]: ...
@overload
def fuzzy_connectedness(
    image: ImageT,
    seeds: Array | ImageLike | Path | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[FuzzyConnectednessParameters],
) -> ImageT: ...
@with_parameters(FUZZY_CONNECTEDNESS)
def fuzzy_connectedness(
    image: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[FuzzyConnectednessParameters],
) -> Any:
    """Compute how strongly each voxel is connected to seeds: the weakest link of the strongest path.

    Parameters
    ----------
    image : array, image or path
        Intensities: an array with the axes (y, x) or (z, y, x) of NumPy, PyTorch, CuPy, JAX or Numba, in host memory or on a CUDA
        device, or anything that numpy.asarray converts; an image of ITK, SimpleITK, nibabel, xarray or MONAI; or the path of one.
    seeds : index, list of indices, array, image or path, optional
        Index of a voxel, in the order of the axes of the image (z, y, x for volumes); a list of indices; or an array or image on the
        grid of the image that is not 0 at seeds.
    mask : array, image or path, optional
        The region, on the grid of the image: boolean, or with 0 and one other value. Paths do not enter voxels where it is 0.
    label : int, str, or list or set of them, optional
        Label that is inside, if the mask has several, or a list of labels that are inside together; of a DICOM segmentation or an
        RTSTRUCT, also by name.
    seed_points : point or list of points, optional
        Seeds as physical points x, y, z in mm (LPS, as in ITK), if the image has a geometry; x and y of 3D Slicer (RAS) have the
        opposite sign. They can be given in addition to seeds.
    object_mean : float, optional
        Mean intensity of the object. If no mean and variance is given, all are estimated from the voxels in boxes of
        estimation_radius voxels around the seeds that are connected to the seed and close to it in intensity. A warning states that the
        object may leak, if its intensities vary as much as they differ from their surroundings.
    object_variance : float, optional
        Variance of the intensities of the object.
    difference_mean : float, default 0
        For the affinity "weighted_sum": mean of the differences of neighbors in the object.
    difference_variance : float, optional
        Variance of the differences of neighbors in the object.
    estimation_radius : int, default 2
        Radius of the boxes of the estimate, in voxels.
    affinity : {"geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"}, default "geometric_mean"
        How strongly neighbors are connected: by their intensities and differences, averaged (Li et al. 2016 for "geometric_mean") or
        the smaller of both; by their differences alone ("homogeneity"); or by the differences without means and variances.
    weight : float, default 0.5
        For the affinity "weighted_sum": weight of the intensities, 0 to 1.
    minimum_strength : float, default 0
        Smaller strengths, 0 to 1, are set to 0 and not searched; labels are 0 there.
    adjacency : {"face", "face_edge", "full"}, default "face"
        Which voxels are neighbors: 6, 18 or 26 of them in 3D.
    distance_weighting : bool, default False
        Whether affinities decrease with the distance of neighbors in mm.
    spacing : list of float, optional
        Size of a voxel along each axis, in mm. Default: that of the image, or 1.
    precision : {"float", "double"}, default "float"
        Type of the results: float32 or float64.
    out : array, optional
        Array in C order for the results, of the shape of the image.
    device : {"cpu", "cuda"} or int, optional
        For arrays in host memory: the CPU, or a CUDA device by its number. Default: the CUDA device 0, if there is one and the image
        has at least 8192 voxels. Results do not depend on it.
    threads : int, default 0
        Number of threads on the CPU; 0 for one per processor.
    progress : callable or bool, optional
        Function that is called with the fraction that is finished, 0 to 1, several times a second; or True for a bar of tqdm. An
        exception in the function ends the computation.

    Returns
    -------
    array or image
        Strengths in [0, 1], of the kind of the image (of SimpleITK for a path), on its device, where they are computed in the current
        stream of the library. Gradients are not computed.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, with the value and the rule.
    RuntimeError
        If a device fails.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.array([[9, 9, 0, 9]], np.float32)
    >>> strengths = voxelmaps.fuzzy_connectedness(image, (0, 0), object_mean=9, object_variance=1, difference_variance=1)
    >>> bool(strengths[0, 1] == 1 and strengths[0, 3] < 0.1)
    True
    """
    values, moments = checked_arguments(parameters, "fuzzy_connectedness", FUZZY_CONNECTEDNESS, ("seeds", "mask"))
    scene = scene_of(image, values).masked(mask, values["label"])
    numbers = _seeds.unlabeled(seeds, values["seed_points"], scene)
    _seeds.check_inside(numbers, scene)
    if is_estimated(values, moments):
        affinity = estimate(scene, numbers, values)
    else:
        affinity = tuple(elements(moments[name], 0, name) if name in moments else [] for name in MOMENTS)
    is_double, out = values["precision"] == "double", values["out"]
    dtype = "float64" if is_double else "float32"
    output = scene.output(out, dtype)
    problem = scene.problem(values)
    with shown(values["progress"], math.prod(scene.shape), "fuzzy_connectedness"):
        _core.compute_fuzzy_connectedness(problem, affinity, seeds=numbers, output=output.address, is_double=is_double)
    return scene.result(output.array, out)


def suggest_threshold(
    strength: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | None = None,
    *,
    minimum_volume: Number = 0.0,
    estimation_radius: Integer = 2,
    spacing: Numbers | None = None,
) -> float:
    """Suggest a threshold for strengths of connectedness: the smallest before the object leaks most.

    Behind the weakest link of a leak, all voxels have its strength, so that the number of voxels of at least a threshold jumps there.
    The suggestion is the smallest strength before the largest jump relative to the volume. Whether the object leaks at all, and which
    of two leaks is meant, is not known: look at strength >= threshold.

    Parameters
    ----------
    strength : array, image or path
        What fuzzy_connectedness returns.
    seeds : index, list of indices, array, image or path, optional
        Voxels that the object must contain, as in fuzzy_connectedness: its seeds, or others that are known to belong to it. Larger
        thresholds than their strengths are not suggested.
    minimum_volume : float, default 0
        Least volume of the object, if it is known, in mm³ (mm² in 2D): earlier jumps are ignored, since the object itself begins with
        jumps.
    estimation_radius : int, default 2
        That of fuzzy_connectedness, in voxels. The volume is at least that of one box of this radius.
    spacing : list of float, optional
        Size of a voxel along each axis, in mm, for minimum_volume. Default: that of the image, or 1.

    Returns
    -------
    float
        The threshold, which is that of GetSuggestedThreshold of the ITK filter; 0 if there is none.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, with the value and the rule.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.zeros((20, 40), np.float32)
    >>> image[5:15, 2:18] = image[5:15, 20:38] = 100
    >>> image[10, 18:20] = 80  # a leak
    >>> affinity = {"object_mean": 100, "object_variance": 400, "difference_variance": 400}
    >>> strength = voxelmaps.fuzzy_connectedness(image, (8, 8), **affinity)
    >>> threshold = voxelmaps.suggest_threshold(strength, (8, 8))
    >>> round(threshold, 4), int((strength > 0).sum()), int((strength >= threshold).sum())
    (0.8825, 800, 161)
    """
    opened = _image.opened(strength, "strength")
    given = _arrays.pixels_of(_arrays.array_of(opened.image.array, "strength"), "strength")
    values = given.host()
    if values.ndim not in (2, 3):
        raise ValueError(f"strength has {values.ndim} axes, but must have 2 or 3")
    if values.size and not 0 <= values.min() <= values.max() <= 1:
        raise ValueError(f"strength has values from {values.min()} to {values.max()}, but must be from 0 to 1")
    scene = Scene(opened, given, 0, values.shape, sizes_of(spacing, opened, values.ndim))
    volume = number(minimum_volume, "minimum_volume")
    if not 0 <= volume < math.inf:
        raise ValueError(f"minimum_volume is {minimum_volume!r}, but must be at least 0 and finite")
    width = 2 * count(estimation_radius, "estimation_radius", 0, 2**31 - 1) + 1
    box = math.prod(min(n, width) for n in values.shape)
    voxels = max(box, math.ceil(volume / math.prod(scene.sizes)))
    largest = 1.0 if seeds is None else values.ravel()[_seeds.unlabeled(seeds, None, scene)].min()
    strengths, counts = np.unique(values[values > 0], return_counts=True)
    strengths, volumes = strengths[::-1], counts[::-1].cumsum()
    growth = volumes[1:] / volumes[:-1] * ((volumes[:-1] >= voxels) & (strengths[:-1] <= largest))
    return float(strengths[growth.argmax()]) if growth.any() else 0.0
