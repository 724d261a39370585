# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Types of arguments, for type checkers only: no module of this name is there when programs run."""

from os import PathLike
from typing import Any, Iterable, Literal, Mapping, Protocol, Sequence, SupportsFloat, SupportsIndex, TypedDict, Union

from numpy.typing import NDArray

class _SupportsArray(Protocol):
    @property
    def __array__(self) -> Any: ...

class _SupportsArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

class _SupportsCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

class _SupportsDLPack(Protocol):
    @property
    def __dlpack__(self) -> Any: ...

# Arrays of NumPy, PyTorch, CuPy and other libraries, xarray.DataArray, and nested lists of numbers.
Array = Union[
    _SupportsArray, _SupportsArrayInterface, _SupportsCudaArrayInterface, _SupportsDLPack, list[Any], tuple[Any, ...]
]
# An array of the library of the array that was given.
SameArray = Any
# An image of ITK or of SimpleITK, which have no types.
ImageLike = Any
Path = Union[str, PathLike[str]]

Integer = SupportsIndex
Number = SupportsFloat
Numbers = Union[Sequence[SupportsFloat], NDArray[Any]]
# One for all axes, or one per axis.
Integers = Union[SupportsIndex, Iterable[SupportsIndex]]

# By label: an index of a voxel, or several.
LabeledIndices = Mapping[int, Any]

# Of scalars or of vectors: a number, a vector or a matrix.
Moment = Union[SupportsFloat, Sequence[SupportsFloat], Sequence[Sequence[SupportsFloat]], NDArray[Any]]
# Also by label.
MomentOfLabels = Union[Moment, Mapping[int, Any]]

Device = Union[Literal["cpu", "cuda"], int, None]
# Also of several devices.
Devices = Union[Literal["cpu", "cuda", "all"], int, Sequence[int], None]
Precision = Literal["float", "double"]
Affinity = Literal["geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"]
Adjacency = Literal["face", "face_edge", "full"]
Competition = Literal["relative", "iterative"]
TieRule = Literal["background", "lowest_label"]
LabelType = Literal["uint8", "uint16"]

class SessionParameters(TypedDict, total=False):
    """Of SeedSession, by their names in snake case."""

    competition: Union[str, int]
    tie_rule: Union[str, int]
    affinity_function: Union[str, int]
    weight: Number
    minimum_strength: Number
    adjacency: Union[str, int]
    distance_weighting: bool
    estimate_affinity_from_seeds: bool
    estimate_affinity_of_every_label: bool
    estimation_radius: Integer
    crop_to_seeds: bool
    crop_margin: Union[Number, Numbers]
    crop_margin_in_millimeters: bool
    generate_strength_image: bool
    generate_margin_image: bool
    inside_pixel_value: Integer
    device: Device
    threads: Integer
    mask_image: Union[Array, ImageLike, None]
    object_mean: MomentOfLabels
    object_variance: MomentOfLabels
    difference_mean: MomentOfLabels
    difference_variance: MomentOfLabels
    object_mean_vector: MomentOfLabels
    object_covariance: MomentOfLabels
    difference_mean_vector: MomentOfLabels
    difference_covariance: MomentOfLabels
