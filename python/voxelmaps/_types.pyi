# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Types of arguments, for type checkers only: no module of this name is there when programs run."""

from collections.abc import Set
from os import PathLike
from typing import (
    Any,
    Callable,
    Iterable,
    Literal,
    Mapping,
    Protocol,
    Sequence,
    SupportsFloat,
    SupportsIndex,
    TypedDict,
    Union,
)

from numpy.typing import DTypeLike, NDArray
from typing_extensions import Required, TypeVar

# Arrays of NumPy, PyTorch, CuPy and other libraries, and nested lists of numbers; and images of ITK, SimpleITK and other packages, of
# which some have no types.
Array = Any
ImageLike = Any
Path = Union[str, PathLike[str]]
NumPyArray = Union[NDArray[Any], list[Any]]

class _Tensor(Protocol):
    @property
    def __dlpack__(self) -> Any: ...

# Results have the type of the image: a map that of an array, and labels and strengths also that of an image.
TensorT = TypeVar("TensorT", bound=_Tensor)
ImageT = TypeVar("ImageT")
ArrayT = TypeVar("ArrayT", bound=Any, default=NDArray[Any])

Integer = SupportsIndex
Number = SupportsFloat
Numbers = Union[Sequence[SupportsFloat], NDArray[Any]]
# One for all axes, or one per axis.
Integers = Union[SupportsIndex, Iterable[SupportsIndex]]

# By label: an index of a voxel, or several.
LabeledIndices = Mapping[int, Any]

# Moments of scalars or vectors: a number, a vector or a matrix; also by label.
MomentOfLabels = Union[
    SupportsFloat, Sequence[SupportsFloat], Sequence[Sequence[SupportsFloat]], NDArray[Any], Mapping[int, Any]
]

Device = Union[Literal["cpu", "cuda"], int, None]
# Also of several devices.
Devices = Union[Literal["cpu", "cuda", "all"], int, Sequence[int], None]
Precision = Literal["float", "double"]
# A function of a fraction, or True for a bar.
Progress = Union[Callable[[float], object], bool, None]

# The tables of _parameters.py.

class _ImageParameters(TypedDict, total=False):
    spacing: Numbers | None
    precision: Precision

class _TextureParameters(TypedDict, total=False):
    bin_width: Number | None
    bin_count: Integer | None
    bin_edges: Numbers | None
    largest_gray_level: Integer | None
    intensity_range: Literal["mask", "image"] | Numbers
    distances: Integers
    aggregation: Literal["average", "merge"] | None
    weighting_norm: Literal["manhattan", "euclidean", "infinity"] | None
    symmetric: bool
    alpha: Integer
    voxel_array_shift: Number
    threads: Integer
    progress: Progress

class FeatureMapsParameters(_ImageParameters, _TextureParameters, total=False):
    features: Required[str | Iterable[str] | Mapping[str, str | Iterable[str] | None]]
    label: str | Integer | Sequence[str | Integer] | Set[str | Integer] | None
    neighborhood_radius: Integers | None
    radius_mm: Number | None
    window_size: Integers | None
    window_anchor: Integers | None
    selection: Array | ImageLike | Path | None
    background_value: Number
    empty: Literal["error", "background"] | None
    crop: Literal["mask"] | None
    dimension: Literal[2, 3] | None
    out: Array | None
    device: Devices

class RegionFeaturesParameters(_TextureParameters, total=False):
    label: str | Integer | Sequence[str | Integer] | Set[str | Integer]
    features: str | Iterable[str] | Mapping[str, str | Iterable[str] | None] | None
    plane_axis: Literal[0, 1, 2] | None
    minimum_dimensions: Literal[0, 1, 2, 3]
    spacing: Numbers | None
    device: Device

class ResampleParameters(TypedDict, total=False):
    spacing: Number | Numbers | None
    like: ImageLike | Path | None
    interpolation: str
    order: Literal[0, 1, 2, 3, 4, 5] | None
    default_value: Number
    dtype: Literal["float32", "float64"] | None
    image_spacing: Number | Numbers | None
    dimension: Literal[2, 3] | None
    device: Device
    threads: Integer
    progress: Progress

class FilterImageParameters(TypedDict, total=False):
    sigma: Number | Numbers | None
    order: Integers
    use_spacing: bool
    wavelet: str
    level: Integer
    start_level: Integer
    plane_axis: Literal[0, 1, 2] | None
    size: Integers
    weights: Numbers | Sequence[Numbers | None] | None
    mode: Literal["reflect", "constant", "nearest", "mirror", "wrap"]
    spacing: Numbers | None
    precision: Precision | None
    device: Device
    threads: Integer
    progress: Progress

class _ConnectednessParameters(TypedDict, total=False):
    label: str | Integer | Sequence[str | Integer] | Set[str | Integer] | None
    object_mean: MomentOfLabels | None
    object_variance: MomentOfLabels | None
    difference_mean: MomentOfLabels | None
    difference_variance: MomentOfLabels | None
    estimation_radius: Integer
    affinity: Literal["geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"]
    weight: Number
    minimum_strength: Number
    adjacency: Literal["face", "face_edge", "full"]
    distance_weighting: bool
    device: Device
    threads: Integer
    progress: Progress

class FuzzyConnectednessParameters(_ImageParameters, _ConnectednessParameters, total=False):
    seed_points: Any
    out: Array | None

# With one of these, a Segmentation is returned.
class _Strength(TypedDict, total=False):
    strength: Required[bool]
    margin: bool

class _Margin(TypedDict, total=False):
    margin: Required[bool]

class _LabelsParameters(_ConnectednessParameters, total=False):
    competition: Literal["relative", "iterative"]
    tie_rule: Literal["background", "lowest_label", "distance"]
    estimate_of_every_label: bool
    refine: Array | ImageLike | Path | None
    refine_distance: Number
    refine_background: Integer | None
    crop_to_seeds: bool
    crop_margin: Number | Numbers
    crop_margin_in_millimeters: bool

class _LabeledImageParameters(_ImageParameters, total=False):
    smoothing: Number
    components_axis: Literal[0, -1] | None
    label_type: DTypeLike

class LabelsParameters(_LabeledImageParameters, _LabelsParameters, total=False):
    seed_points: Mapping[int, Any] | None
    # An array for the labels, or a Segmentation.
    out: Any

class LabelsAndStrength(LabelsParameters, _Strength, total=False): ...
class LabelsAndMargin(LabelsParameters, _Margin, total=False): ...

class UpdateParameters(_LabelsParameters, total=False):
    mask: Array | ImageLike | Path | None

class UpdateAndStrength(UpdateParameters, _Strength, total=False): ...
class UpdateAndMargin(UpdateParameters, _Margin, total=False): ...
class SessionParameters(_LabeledImageParameters, UpdateParameters, total=False): ...
class SessionAndStrength(SessionParameters, _Strength, total=False): ...
class SessionAndMargin(SessionParameters, _Margin, total=False): ...
