# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Images on another grid."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Tuple, overload

import numpy as np

from . import _arrays, _core, _image, _parameters
from ._devices import device_of_arrays
from ._parameters import RESAMPLE, checked, given_one, with_parameters
from ._progress import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import Array, ImageLike, ImageT, NumPyArray, Path, ResampleParameters

# For each name of _parameters.INTERPOLATIONS, the number of voxelmaps::ResampleImageEnums::Interpolation, and the order of those that
# have one.
INTERPOLATIONS = dict(
    zip(_parameters.INTERPOLATIONS, [(0, 0), (1, 1), (2, None), (0, 0), (1, 1), (2, 3), *((2, n) for n in range(1, 6))])
)
_DEFAULT_ORDER = 3


class Grid(NamedTuple):
    """Where the voxels of an image are: all is of x, y, z, in mm (LPS); the direction is row by row."""

    size: Tuple[int, ...]
    spacing: Tuple[float, ...]
    origin: Tuple[float, ...]
    direction: Tuple[float, ...]

    def _arguments(self):
        n = len(self.size)
        direction = np.eye(3)
        direction[:n, :n] = np.reshape(self.direction, (n, n))
        fill = lambda values, value: (*values, *[value] * (3 - n))
        return {
            "size": fill(self.size, 1),
            "spacing": fill(self.spacing, 1.0),
            "origin": fill(self.origin, 0.0),
            "direction": direction.ravel().tolist(),
        }


# Names in errors of the core -> those of parameters here.
_OF_CORE = {
    "The default value": "default_value",
    "choose Linear": "choose interpolation='linear'",
}


def _call_core(*grids, **arguments):
    try:
        _core.resample_image(*grids, **arguments)
    except ValueError as error:
        text = str(error)
        for of_core, name in _OF_CORE.items():
            text = text.replace(of_core, name)
        raise ValueError(text) from None


def resampled(
    volume, grid, interpolation, order=None, default_value=0.0, dtype=None, *, device=None, threads=0, what="the image"
):
    """The image, which has a geometry, on a Grid; in the memory and library of its array, and of its type, if none is given. Axes of
    the array before those of space are batches.

    interpolation    One of INTERPOLATIONS.
    what             How errors call the image.
    """
    number, own_order = INTERPOLATIONS[interpolation]
    order = order if own_order is None else own_order
    given, dimension = _arrays.array_of(volume.array, what), len(volume.spacing)
    is_bool, library = given.dtype == "bool" and dtype is None, given.library
    array = _arrays.bytes_of(given, what) if is_bool else _arrays.pixels_of(given, what)
    dtype = dtype or array.dtype
    if is_bool and number != 0:
        raise ValueError(
            f"interpolation is {interpolation!r}, but {what} is boolean: choose 'nearest', or dtype='float32' for parts of voxels"
        )
    shape = (*array.shape[:-dimension], *reversed(grid.size))
    voxels, size = math.prod(shape), np.dtype(dtype).itemsize
    memory = _core.machine_memory()
    if library.device is None and memory is not None and voxels * size > memory:
        raise ValueError(
            f"the result has {' x '.join(map(str, grid.size))} voxels (x, y, z), {voxels * size / 2**30:.3g} GiB, but this machine has "
            f"{memory / 2**30:.3g} GiB of memory: choose a larger spacing, or a smaller grid"
        )
    output = _arrays.Array(library.empty(shape, dtype), library)
    source = Grid(tuple(reversed(array.shape[-dimension:])), *volume[1:])
    planes = [math.prod(each) * np.dtype(t).itemsize for each, t in ((source.size, array.dtype), (grid.size, dtype))]
    for image in range(math.prod(shape[:-dimension]) if voxels else 0):
        _call_core(
            source._arguments(),
            grid._arguments(),
            pixels=array.address + image * planes[0],
            pixel_type=array.pixel_type,
            dimension=dimension,
            interpolation=number,
            order=_DEFAULT_ORDER if order is None else order,
            default_value=default_value,
            output=output.address + image * planes[1],
            output_type=output.pixel_type,
            threads=threads,
            device=device_of_arrays(device, library),
            is_on_device=library.device is not None,
            stream=library.stream(),
        )
    result = output.array
    if is_bool:
        with library.current_device():
            result = result.view(bool) if library.name == "NumPy" else result != 0
    return _image.Image(result, grid.spacing, grid.origin, grid.direction)


def _grid_of_spacing(image, size, spacing, dimension):
    """The grid of another spacing, in the order x, y, z, which covers the image: it begins at the same corner, and ends where the
    centers of voxels do not leave the image."""
    new = np.array(spacing)
    old = np.array(image.spacing)
    extent = np.array(size) * old / new
    # Half a voxel less would be outside; what rounding adds is not.
    count = np.maximum(np.ceil(extent - 0.5 - 1e-9), 1)
    if not (count < 2**31).all():
        raise ValueError(
            f"spacing is {tuple(reversed(spacing))}, which makes {tuple(reversed(count.tolist()))} voxels along the axes: choose a larger "
            "spacing"
        )
    # The only voxel along an axis is in the middle, if it is more than twice as long as the image.
    first = np.where(extent > 0.5, 0.5 * (new - old) / old, 0.5 * (np.array(size) - 1))
    origin = image.point(first)
    return Grid(tuple(int(n) for n in count), tuple(new.tolist()), origin, image.direction)


def _grid_like(like, image, dimension):
    other = _image.opened(like, "like").image
    if other.spacing is None:
        raise TypeError(
            f"like is a {type(like).__name__} without a geometry: give the spacing, or an image of ITK, SimpleITK, nibabel, xarray or MONAI"
        )
    if len(other.spacing) != dimension:
        raise ValueError(f"like has {len(other.spacing)} dimensions, but the image has {dimension}")
    shape = tuple(other.array.shape)
    # Components are the last axis of the images that have them.
    of_space = shape[:dimension] if len(shape) > dimension and _image.is_image(like) else shape[-dimension:]
    return Grid(tuple(int(n) for n in reversed(of_space)), *(tuple(map(float, each)) for each in other[1:]))


@overload
def resample(image: Path, **parameters: Unpack[ResampleParameters]) -> Any: ...
@overload
def resample(image: NumPyArray, **parameters: Unpack[ResampleParameters]) -> NDArray[Any]: ...
@overload
def resample(image: ImageT, **parameters: Unpack[ResampleParameters]) -> ImageT: ...
@with_parameters(RESAMPLE)
def resample(image: Array | ImageLike | Path, **parameters: Unpack[ResampleParameters]) -> Any:
    """Resample an image to another spacing, or to the grid of another image.

    Values are those of ITK's and SimpleITK's ResampleImageFilter.

    Parameters
    ----------
    image : array, image or path
        Intensities or labels, as in feature_maps; axes of arrays before the last three are batches. A mask of bool remains one, with
        interpolation="nearest".
    spacing : float or list of float
        Size of a voxel of the result in mm: one number, or one along each axis, in the order of the axes. The result begins at the
        same corner as the image, and the centers of its voxels are inside.
    like : image or path
        Instead of a spacing, an image whose size and place the result gets.
    interpolation : str, default "bspline"
        "nearest", for masks and labels; "linear"; "bspline"; or PyRadiomics' and SimpleITK's names sitkNearestNeighbor, sitkLinear,
        sitkBSpline and sitkBSpline1 to sitkBSpline5.
    order : {0, 1, 2, 3, 4, 5}, default 3
        Order of the B-spline.
    default_value : float, default 0
        Value of voxels that are more than half a voxel outside of the image.
    dtype : {"float32", "float64"}, optional
        Type of the result. Default: that of the image, or float32 for smaller floats. Integers cut fractions off, as SimpleITK and
        PyRadiomics do: 6.99 becomes 6.
    image_spacing : float or list of float, optional
        Size of a voxel of the image, for arrays without a geometry. Default: 1.
    dimension : {2, 3}, optional
        Dimension of the images of a batch. Default: that of the image, at most 3.
    device : {"cpu", "cuda"} or int, optional
        For arrays in host memory: the CPU, or a CUDA device by its number. Default: the CUDA device 0, if there is one. Results do not
        depend on it.
    threads : int, default 0
        Number of threads on the CPU; 0 for one per processor.
    progress : callable or bool, optional
        Function of the fraction that is finished, as in feature_maps, or True for a bar of tqdm.

    Returns
    -------
    array or image
        The result, of the kind of the image (of SimpleITK for a path), on its device, where it is computed in the current stream of the
        library.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, results that do not fit into memory, and for NaN and infinity where a B-spline of order 2 or more needs the
        image: all of its values depend on each voxel. The others give NaN around NaN.
    RuntimeError
        If a device fails.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(24.0).reshape(2, 3, 4)
    >>> voxelmaps.resample(image, spacing=0.5).shape
    (4, 6, 8)
    >>> voxelmaps.resample(image > 10, spacing=2, image_spacing=(4, 1, 1), interpolation="nearest").astype(int).tolist()
    [[[0, 0]], [[0, 0]], [[1, 1]], [[1, 1]]]
    """
    values = checked(parameters, "resample", RESAMPLE, ("image",))
    given = given_one(values, "spacing", "like")
    if given is None:
        raise TypeError(
            "resample needs the spacing of the result, such as spacing=1, or an image with its grid, like=image"
        )
    interpolation, order = values["interpolation"], values["order"]
    if order is not None and interpolation != "bspline":
        raise ValueError(
            f"order is {order}, but has no effect on interpolation {interpolation!r}; it belongs to 'bspline'"
        )
    opened = _image.opened(image, "image", dimension=values["dimension"])
    volume = opened.image
    array = _arrays.array_of(volume.array, "image")
    if opened.components_axis is not None:
        raise TypeError(
            f"image has voxels of {array.shape[-1]} components, but they must be scalars: choose one, as image[..., 0]"
        )
    dimension, has_geometry = values["dimension"], volume.spacing is not None
    if dimension is None:
        dimension = len(volume.spacing) if has_geometry else min(len(array.shape), 3)
    if len(array.shape) < max(dimension, 2) or has_geometry and dimension != len(volume.spacing):
        raise ValueError(
            f"image has {len(volume.spacing) if has_geometry else len(array.shape)} axes, but must have those of dimension {dimension}, 2 "
            "or 3"
        )
    if 0 in array.shape:
        raise ValueError(f"image has the shape {array.shape}, but must have voxels")
    if not has_geometry:
        if given == "like":
            raise TypeError(
                "image is an array without a geometry, which like has: give its spacing, or images for both"
            )
        sizes = _sizes(values["image_spacing"], "image_spacing", dimension) or (1.0,) * dimension
        volume = _image.Image(array.array, sizes[::-1], (0.0,) * dimension, tuple(np.eye(dimension).ravel().tolist()))
    elif values["image_spacing"] is not None:
        raise ValueError(
            f"image_spacing is {values['image_spacing']!r}, but the image has its own: leave it out, or correct the image"
        )
    if given == "like":
        grid = _grid_like(values["like"], volume, dimension)
    else:
        spacing = opened.of_given(_sizes(values["spacing"], "spacing", dimension))[::-1]
        grid = _grid_of_spacing(volume, tuple(reversed(array.shape[-dimension:])), spacing, dimension)
    with shown(values["progress"], math.prod((*array.shape[:-dimension], *grid.size)), "resample"):
        result = resampled(
            volume,
            grid,
            interpolation,
            order,
            values["default_value"],
            values["dtype"],
            device=values["device"],
            threads=values["threads"],
            what="image",
        )
    library = array.library
    if not has_geometry:
        turned = _image.turned(result.array, opened.order, is_reversed=True)
        if not _image.is_xarray(image):
            return library.result(turned)
        return opened.convert(_image.Image(turned))
    convert = opened.convert
    if opened.axes is not None:
        # The coordinates are others; names and units remain.
        of_space = list(opened.axes)[-dimension:]
        axes = {name: axis if axis is None or name not in of_space else axis[:0] for name, axis in opened.axes.items()}
        attrs = image.attrs  # type: ignore[union-attr]
        attributes = {name: value for name, value in attrs.items() if name != "spacing"}
        convert = functools.partial(convert, axes=axes, attributes=attributes)
    return convert(result)


def _sizes(value, name, dimension):
    """A size of a voxel along each axis, or None."""
    if value is None:
        return None
    values = [value] * dimension if np.ndim(value) == 0 else value
    rule = f"a positive number, or {dimension} of them, one per axis"
    result = _parameters.numbers(values, name, rule)
    if len(result) != dimension or not all(map(_parameters.is_positive, result)):
        raise ValueError(f"{name} is {value!r}, but must be {rule}")
    return tuple(result)
