# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Images: arrays with a geometry, from and to arrays of all libraries, ITK, SimpleITK, nibabel, xarray and MONAI, and files; and when
two of them are on the same grid."""

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import math
import operator
import os
import sys
import types
import zlib
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from . import _arrays, _core, _parameters
from ._files import nifti
from ._suggestions import warn


class Image(NamedTuple):
    """An array, of NumPy or of another library, with the geometry of an image, which is None for arrays without one. Axes of the array
    are z, y, x; those of the geometry are x, y, z, in mm (LPS), and its direction is row by row."""

    array: Any
    spacing: Optional[Tuple[float, ...]] = None
    origin: Optional[Tuple[float, ...]] = None
    direction: Optional[Tuple[float, ...]] = None

    def __repr__(self):
        spacing = "" if self.spacing is None else f", spacing {_short(self.spacing)} mm"
        return f"Image({self.array.dtype} of the shape {tuple(self.array.shape)}{spacing})"

    @property
    def size(self):
        return tuple(reversed(self.array.shape))

    def with_array(self, array):
        return self._replace(array=array)

    def _matrix(self):
        """What maps differences of indices to differences of points."""
        dimension = len(self.spacing)
        return np.reshape(self.direction, (dimension, dimension)) * np.asarray(self.spacing)

    @property
    def affine(self):
        """The matrix of 4 x 4 from indices x, y, z to points in RAS, as nibabel has it."""
        affine, dimension = np.eye(4), len(self.spacing)
        affine[:dimension, :dimension] = self._matrix()
        affine[:dimension, 3] = self.origin
        return np.diag([*nifti.LPS, 1.0]) @ affine

    @property
    def shear(self):
        """The greatest cosine between two axes, which is 0 if they are orthogonal."""
        axes = np.reshape(self.direction, (len(self.spacing),) * 2)
        return np.abs(axes.T @ axes - np.eye(len(axes))).max()

    def point(self, index):
        """The point of an index in the order x, y, z; it may be between voxels. The same as ITK's, to the last bit."""
        index = [float(i) for i in index]
        result = []
        for row, origin in zip(self._matrix().tolist(), self.origin):
            # Not sum(), which rounds once from Python 3.12 on.
            total = 0.0
            for factor, i in zip(row, index):
                total += factor * i
            result.append(total + origin)
        return tuple(result)

    def index(self, point):
        """The continuous index of a point, in the order x, y, z."""
        return tuple(np.linalg.solve(self._matrix(), np.subtract(point, self.origin)).tolist())

    def part(self, box):
        origin = self.point(reversed([part.start for part in box]))
        return self._replace(array=np.ascontiguousarray(self.array[box]), origin=origin)

    def box(self, lower, upper, margin):
        """Slices from lower to upper, in NumPy's order, with a margin of voxels as far as the image reaches."""
        return box_around(lower, upper, [margin] * self.array.ndim, self.array.shape)

    def cropped(self, lower, upper, margin):
        return self.part(self.box(lower, upper, margin))


def box_around(lower, upper, margins, shape):
    """Slices from lower to upper, with a margin of voxels along each axis as far as the shape reaches."""
    ends = zip(lower, upper, margins, shape)
    return tuple(slice(max(int(low) - margin, 0), min(int(high) + margin + 1, n)) for low, high, margin, n in ends)


# --- Grids ---------------------------------------------------------------------------------------------------------------

# Part of a voxel by which corners of the same grid may differ: a NIfTI mask that was made from a DICOM series is some 10^-6 mm away.
_SAME_CORNER = 1e-3


def _corners(image, size):
    return [image.point(corner) for corner in itertools.product(*((-0.5, n - 0.5) for n in size))]


def difference_of_grids(image, other, what, image_name="the image", tolerance=None):
    """A sentence that says how the grids of two images differ, and what to do; None if they are the same.

    what, image_name    How errors call the other one and the image.
    tolerance           Origin, spacing and direction may also differ by as much as ITK permits with this tolerance.
    """
    # Behind axes of a batch.
    ours, theirs = (each.size[: len(each.spacing)] for each in (image, other))
    if ours != theirs:
        return f"{what} has the size {theirs}, but {image_name} has {ours}: resample {what} to the grid of {image_name}"
    if image[1:] == other[1:]:
        return None
    pairs = list(zip(_corners(image, ours), _corners(other, ours)))
    voxels = np.abs([np.subtract(image.index(a), image.index(b)) for a, b in pairs]).max()
    # NaN is not within any tolerance.
    if voxels < _SAME_CORNER:
        return None
    names = ("origin", "spacing", "direction")
    differences = {name: np.abs(np.subtract(getattr(image, name), getattr(other, name))).max() for name in names}
    if tolerance is not None:
        allowed = tolerance * image.spacing[0]
        if max(differences["origin"], differences["spacing"]) <= allowed and differences["direction"] <= tolerance:
            return None
    parts = [
        f"the {name} {_short(getattr(other, name))}, but {image_name} has {_short(getattr(image, name))}"
        for name, difference in differences.items()
        if not difference <= 1e-6
    ]
    distance = max(math.dist(a, b) for a, b in pairs)
    return (
        f"{what} has {' and '.join(parts) or 'another geometry than ' + image_name}: corners differ by up to {distance:.3g} mm "
        f"({voxels:.3g} voxels), but only {_SAME_CORNER} voxels are permitted: resample {what} to the grid of {image_name}, or give it "
        f"the geometry of {image_name} if only that is wrong"
    )


def covered_part(image, other, what, image_name="the image"):
    """The part of an image that another one covers, as slices. Raises ValueError if that is not a part of its grid."""
    shape = other.array.shape
    if image.spacing is None or other.spacing is None:
        if shape != image.array.shape:
            raise ValueError(f"{what} has the shape {shape}, but {image_name} has {image.array.shape}")
        return tuple(slice(0, n) for n in shape)
    if len(shape) != len(image.spacing):
        raise ValueError(f"{what} has {len(shape)} dimensions, but {image_name} has {len(image.spacing)}")
    first = [round(i) for i in image.index(other.origin)]
    end = [f + n for f, n in zip(first, other.size)]
    covered = Image(other.array, image.spacing, image.point(first), image.direction)
    is_moved = np.allclose(image.spacing, other.spacing) and np.allclose(image.direction, other.direction)
    difference = difference_of_grids(
        covered, other, what, f"the nearest part of {image_name}" if is_moved else image_name
    )
    if difference is not None:
        raise ValueError(difference)
    if min(first) < 0 or any(np.greater(end, image.size)):
        raise ValueError(
            f"{what} begins at the index {tuple(first)} (x, y, z) of {image_name} and has the size {other.size}, but must be a part of "
            f"{image_name}, which has {image.size}"
        )
    return tuple(slice(f, e) for f, e in zip(reversed(first), reversed(end)))


def _short(values):
    return tuple(float(f"{value:.8g}") for value in values)


def _image_of_steps(array, steps, origin, what):
    """The image of an array whose axes have steps, the vectors in mm (LPS) from one voxel to the next, in the order of the axes."""
    affine, dimension = np.eye(4), len(steps)
    affine[:dimension, :dimension] = np.transpose(steps[::-1])
    affine[:dimension, 3] = origin
    return Image(array, *nifti.of_affine(np.diag([*nifti.LPS, 1.0]) @ affine, dimension, what))


# --- Kinds of images ---------------------------------------------------------------------------------------------------


def _package(value):
    return type(value).__module__.partition(".")[0]


def is_xarray(value):
    return _package(value) == "xarray"


def _is_itk(value):
    # There are no images of ITK before ITK is imported.
    itk = sys.modules.get("itk")
    return itk is not None and isinstance(value, (itk.DataObject, itk.ProcessObject))


def _is_nibabel(value):
    return hasattr(value, "dataobj") and hasattr(value, "affine")


def _is_metatensor(value):
    return any(each.__name__ == "MetaTensor" for each in type(value).__mro__) and hasattr(value, "affine")


def is_image(value):
    """Whether a value is an image with a geometry in z, y, x, and not an array: of ITK, SimpleITK or nibabel, an RTSTRUCT of pydicom,
    or the path of one."""
    return (
        isinstance(value, (str, os.PathLike, Image))
        or _package(value) == "pydicom"
        or hasattr(value, "as_sitk")  # of TorchIO
        or _package(value) == "SimpleITK"
        or _is_nibabel(value)
        or _is_itk(value)
    )


def from_simpleitk(image):
    """The volume of an image of SimpleITK, whose array cannot be written: it is the memory of the image."""
    from SimpleITK import GetArrayViewFromImage

    interface = GetArrayViewFromImage(image).__array_interface__
    # A second reference keeps the memory, and lets changes of the image copy it first.
    array = np.asarray(types.SimpleNamespace(image=type(image)(image), __array_interface__=interface))
    return Image(array, image.GetSpacing(), image.GetOrigin(), image.GetDirection())


def to_simpleitk(volume):
    """The image of SimpleITK of a volume."""
    import SimpleITK

    array, dimension = _arrays.host_pixels(volume.array, "the image"), len(volume.spacing)
    name = array.dtype.name.replace("uint", "UInt").replace("int", "Int").replace("float", "Float")
    pixel = getattr(SimpleITK, f"sitk{'Vector' if array.ndim > dimension else ''}{name}")
    image = SimpleITK.Image(array.shape[:dimension][::-1], pixel, *array.shape[dimension:])
    image.SetSpacing(volume.spacing)
    image.SetOrigin(volume.origin)
    image.SetDirection(volume.direction)
    # Unlike GetImageFromArray, this lets other threads of Python run meanwhile.
    ctypes.memmove(SimpleITK.GetArrayViewFromImage(image).ctypes.data, array.ctypes.data, array.nbytes)
    return image


def _is_on_device(image):
    """Whether an image of ITK is an itk.CudaImage whose memory can be used here."""
    return (
        hasattr(type(image), "__cuda_array_interface__")
        and importlib.util.find_spec("cupy") is not None
        and _core.number_of_devices() > 0
    )


def _place_of_itk(image):
    """Spacing, origin of the region that is in memory, and direction."""
    from ._itk import itk

    return (
        tuple(image.GetSpacing()),
        tuple(image.TransformIndexToPhysicalPoint(image.GetBufferedRegion().GetIndex())),
        tuple(itk.array_from_matrix(image.GetDirection()).ravel().tolist()),
    )


def _from_itk(image, what):
    from ._itk import itk

    image.Update()
    region = image.GetBufferedRegion()
    # Lines of voxels have their axes in another order.
    size = tuple(int(n) for n in reversed(region.GetSize()))
    if _is_on_device(image):
        array = _arrays.through_cupy(image, what).array
        # What has been computed for the image is in the default stream.
        sys.modules["cupy"].cuda.Stream.null.synchronize()
    else:
        array = itk.array_from_image(image)
    if array is None:
        raise ValueError(f"{what} has no voxels: it is not allocated")
    return Image(array.reshape(size + array.shape[len(size) :]), *_place_of_itk(image))


# Types of which ITK does not have images everywhere -> those that hold their values.
_ITK_TYPES = {"int8": "int16", "int32": "float64", "uint32": "float64"}


def to_itk(volume, like=None):
    """An image of ITK, with the region of another one, if that has the size and place of the volume. What is on a device stays there if
    the other one is an itk.CudaImage."""
    from ._itk import itk

    pixels = _arrays.pixels_of(_arrays.array_of(volume.array, "the image"), "the image")
    stays = pixels.library.device is not None and like is not None and _is_on_device(like)
    if not stays:
        pixels = _arrays.array_of(pixels.host(), "the image")
    pixels = _arrays.without_int64(pixels, "the image")
    name = _ITK_TYPES.get(pixels.dtype, pixels.dtype)
    pixel = {"uint8": itk.UC, "uint16": itk.US, "int16": itk.SS, "float32": itk.F, "float64": itk.D}[name]
    dimension = len(volume.spacing)
    image = (itk.CudaImage if stays else itk.Image)[pixel, dimension].New()
    region = None if like is None else like.GetBufferedRegion()
    if region is not None and tuple(region.GetSize()) == volume.size and _place_of_itk(like) == volume[1:]:
        image.CopyInformation(like)
    else:
        region = itk.Size[dimension](list(volume.size))
        image.SetSpacing(volume.spacing)
        image.SetOrigin(volume.origin)
        image.SetDirection(itk.matrix_from_array(np.reshape(volume.direction, (dimension, dimension))))
    image.SetRegions(region)
    image.Allocate()
    # The types of _ITK_TYPES are converted.
    if stays:
        target = _arrays.through_cupy(image, "the image")
        with target.library.current_device():
            target.array[...] = pixels.array.reshape(target.shape)
            target.library.result(target.array)
    else:
        # Other threads of Python run meanwhile.
        np.copyto(itk.array_view_from_image(image).reshape(pixels.shape), pixels.array)
    return image


def _from_nibabel(image, what):
    header, is_nifti = image.header.copy(), hasattr(image.header, "get_sform")
    shape, components = nifti.shape_of(header, what) if is_nifti else (image.shape, 1)
    if len(shape) not in (2, 3):
        raise ValueError(f"{what} has the shape {shape}, but must be one volume: choose one, such as x.slicer[..., 0]")
    if image.affine is None:
        raise ValueError(f"{what} has no affine, which says where its voxels are: give it one, such as numpy.eye(4)")
    try:
        array = np.asanyarray(image.dataobj).reshape(*shape, components)
    except (OSError, EOFError, zlib.error) as error:
        nifti.raise_of_system(error)
        raise ValueError(f"{what}: its file is truncated or corrupt: {' '.join(str(error).split())}") from None
    # An affine that was changed in memory is not yet in the header.
    if is_nifti and np.allclose(image.affine, header.get_best_affine()):
        place = nifti.geometry(header, shape, what)
    else:
        place = nifti.of_affine(image.affine, len(shape), what, nifti.unit_of(header) if is_nifti else 1.0)
    return Image(nifti.in_itk_order(array), *place)


def _of_type_of(header, array):
    """The array with a type that a header of nibabel can have, and the same values, which is set there; or None."""
    for dtype in (array.dtype, *(np.dtype(each) for each in ("int16", "int32") if array.dtype.kind in "iu")):
        if np.can_cast(array.dtype, dtype) or array.size == 0 or array.max() <= np.iinfo(dtype).max:
            # Each format has an exception of its own.
            with contextlib.suppress(Exception):
                header.set_data_dtype(dtype)
                return array.astype(dtype, copy=False)
    return None


def to_nibabel(volume, like=None, place=None):
    """An image of nibabel.

    like     An image of nibabel, for its class and header.
    place    Its spacing, origin and direction; if the volume has the same, its affine also remains.
    """
    import nibabel

    array = volume.array.view(np.uint8) if volume.array.dtype == bool else volume.array
    kind, header = nibabel.Nifti1Image, None
    if like is not None:
        kind, header = type(like), like.header.copy()
        array = _of_type_of(header, array)
        if array is None:
            # Its format has no such values.
            array, kind, header = volume.array, nibabel.Nifti1Image, None
    if header is not None and place == volume[1:]:
        return kind(array.T, like.affine, header)
    image = kind(array.T, volume.affine, header)
    if hasattr(image.header, "set_xyzt_units"):
        image.header.set_xyzt_units("mm")
    return image


# Units of coordinates (the attribute units, as in netCDF) in mm.
_LENGTHS = {"": 1.0, "mm": 1.0, "millimeter": 1.0, "cm": 10.0, "centimeter": 10.0, "m": 1e3, "meter": 1e3}
_LENGTHS |= dict.fromkeys(("um", "µm", "micrometer", "micron"), 1e-3)


def _millimeters(coordinate, what):
    """The length of the unit of coordinates."""
    unit = str(coordinate.attrs.get("units") or "").lower().replace("metre", "meter")
    factor = _LENGTHS.get(unit, _LENGTHS.get(unit.removesuffix("s")))
    if factor is None:
        raise ValueError(
            f"{what} have the unit {coordinate.attrs['units']!r}, but must be lengths: drop them, x.drop_vars('{coordinate.name}'), and "
            "give the spacing in mm"
        )
    return factor


def _spacing_attribute(value, names, what):
    """The attribute spacing of a DataArray, along these axes; None for each if there is none."""
    spacing = value.attrs.get("spacing")
    if spacing is None:
        return [None] * len(names)
    try:
        return _parameters.sizes(
            [spacing.get(name) for name in names] if isinstance(spacing, dict) else spacing, len(names)
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: in its attributes, {error}") from None


def _steps_of_axis(value, name, spacing, what):
    """The step and the first position along an axis of a DataArray; None for an axis without coordinates and spacing."""
    if name not in value.coords:
        return None if spacing is None else (spacing, 0.0)
    what, coordinate = f"{what}: coordinates along the axis {name}", value.coords[name]
    if coordinate.dtype.kind not in "iuf":
        raise ValueError(f"{what} must be numbers in mm, but are {coordinate.dtype}")
    positions = np.asarray(coordinate.values).astype(float) * _millimeters(coordinate, what)
    if not np.isfinite(positions).all():
        raise ValueError(f"{what} must be finite")
    if len(positions) < 2:
        return 1.0, float(positions[0]) if len(positions) else 0.0
    steps = np.diff(positions)
    # From end to end, which rounding of single coordinates does not change.
    step = (positions[-1] - positions[0]) / (len(positions) - 1)
    if steps[0] < 0:
        raise ValueError(
            f"{what} must increase, but begin with {positions[0]:g}, {positions[1]:g}: sort them, x.sortby('{name}')"
        )
    worst = int(np.abs(steps - step).argmax())
    if abs(steps[worst] - step) > 0.01 * step:
        raise ValueError(
            f"{what} must be evenly spaced within 1 %, but the mean step is {step:g}, and that from {positions[worst]:g} to "
            f"{positions[worst + 1]:g} is {steps[worst]:g}: interpolate them, x.interp({name}=...)"
        )
    if spacing is not None and abs(spacing - step) > 0.01 * step:
        raise ValueError(
            f"{what} have the step {step:g} mm, but the attribute spacing is {spacing:g}: delete one of them"
        )
    return step, float(positions[0])


_NAMED_AXES = (["x", "y"], ["x", "y", "z"])


def turned(array, order, is_vector=False, is_reversed=False):
    """The array with its last axes, but that of components, in another order; a view. None leaves it as it is.

    order    For each of these axes, its number in the array; with is_reversed, for each of those of the array, its number here.
    """
    if order is None:
        return array
    order = _inverse(order) if is_reversed else order
    end = array.ndim - is_vector
    axes = (*range(end - len(order)), *(end - len(order) + axis for axis in order), *range(end, array.ndim))
    return array.permute(axes) if hasattr(array, "permute") else array.transpose(axes)


def _inverse(order):
    return None if order is None else tuple(map(order.index, range(len(order))))


def as_given(values, order):
    """Values per axis, such as a shape, of which the last ones are in the order of the axes of the value; see Opened."""
    first = len(values) - len(order or ())
    return (*values[:first], *(values[first + axis] for axis in _inverse(order) or ()))


def _order_of_names(names):
    """Which of the axes of a DataArray are z, y and x; None if they are in this order, or have other names."""
    wanted = sorted(names, reverse=True)
    is_other = sorted(names) in _NAMED_AXES and names != wanted
    return tuple(map(names.index, wanted)) if is_other else None


def _from_xarray(value, what, components_axis, dimension):
    """The image of a DataArray, whose last axes but that of components have coordinates in mm, or the attribute spacing; and the order
    of its axes."""
    array = value.data if hasattr(value.data, "__cuda_array_interface__") else value.values
    names = list(value.dims)
    if components_axis is not None:
        del names[components_axis]
    # A volume keeps its geometry if it is computed slice by slice.
    names = names[-3:] if {"x", "y", "z"} == set(names[-3:]) else names[-(dimension or 3) :]
    if len(names) < 2:
        return Image(array), None
    spacing, order = _spacing_attribute(value, names, what), _order_of_names(names)
    if order is not None:
        array = turned(array, order, components_axis == -1)
        names, spacing = [names[axis] for axis in order], [spacing[axis] for axis in order]
    found = [_steps_of_axis(value, *each, what) for each in zip(names, spacing)]
    without = [str(name) for name, each in zip(names, found) if each is None]
    if len(without) == len(names):
        return Image(array), order
    if without:
        warn(f"{what} has coordinates along other axes, but not along {', '.join(without)}: 1 mm is assumed")
    dimension = len(names)
    matrix = np.eye(dimension)
    direction = value.attrs.get("direction")
    if direction is not None and sorted(names) in _NAMED_AXES:
        if np.size(direction) != dimension**2:
            raise ValueError(
                f"the attribute direction of {what} has {np.size(direction)} numbers, but it has {dimension} axes, as after "
                "isel(z=10): keep the axis, isel(z=[10]), or delete the attribute, del x.attrs['direction']"
            )
        # As itk.xarray_from_image writes it, in the order z, y, x; or row by row, since attributes of netCDF have one dimension.
        matrix = np.flip(np.reshape(np.asarray(direction, float), (dimension, dimension)))
        if not np.allclose(np.linalg.norm(matrix, axis=0), 1, rtol=0, atol=nifti.MOST_SHEAR):
            raise ValueError(
                f"the attribute direction of {what} must have columns of the length 1, but is {np.asarray(direction).tolist()}"
            )
    found = [each or (1.0, 0.0) for each in found]
    steps = [matrix[:, -1 - axis] * step for axis, (step, _) in enumerate(found)]
    return _image_of_steps(array, steps, [first for _, first in reversed(found)], what), order


def to_xarray(volume, axes=None, attributes=None, name=None):
    """A DataArray with coordinates in mm, and the attribute direction in the order z, y, x, row by row.

    axes          Coordinates of another DataArray by axis, as Opened has them: names and units are kept.
    attributes    Attributes of another one, like which the result has a direction, and coordinates along the same axes.
    """
    import xarray

    is_like, attributes = attributes is not None, {"direction": None} if attributes is None else dict(attributes)
    given = list(axes or ("z", "y", "x"))[-volume.array.ndim :]
    dimension = min(len(given), 3) if volume.spacing is None else len(volume.spacing)
    spatial, order = given[-dimension:], _order_of_names(given[-dimension:])
    spatial = [spatial[axis] for axis in order or range(dimension)]
    names = [*given[:-dimension], *spatial]
    if volume.spacing is None:
        return xarray.DataArray(volume.array, dims=names, attrs=attributes, name=name).transpose(*given)
    # Axes of a batch keep their coordinates.
    coords = {axis: axes[axis] for axis in names[:-dimension] if axes and axes[axis] is not None}
    sizes = zip(spatial, volume.origin[::-1], volume.spacing[::-1], volume.array.shape[-dimension:])
    for axis, origin, spacing, n in sizes:
        known = axes and axes[axis]
        if known is not None and known.size == n:
            coords[axis] = known
        elif known is not None or not is_like:
            unit, attrs = (1.0, {}) if known is None else (_millimeters(known, "image"), known.attrs)
            coords[axis] = xarray.Variable(axis, (origin + spacing * np.arange(n)) / unit, attrs)
    if "direction" in attributes:
        matrix = np.flip(np.reshape(volume.direction, (dimension, dimension)))
        attributes["direction"] = matrix if np.ndim(attributes["direction"]) == 2 else matrix.ravel().tolist()
    return xarray.DataArray(volume.array, dims=names, coords=coords, attrs=attributes, name=name).transpose(*given)


def _affine_of_metatensor(value, what):
    """The affine of a tensor, and a column of what its rows are multiplied by for LPS."""
    affine = value.affine
    affine = np.asarray(affine.cpu() if hasattr(affine, "cpu") else affine, float)
    if affine.ndim == 3:
        if not np.allclose(affine, affine[:1]):
            raise ValueError(f"{what} is a batch of images with different affines: pass them one by one")
        affine = affine[0]
    if affine.ndim != 2 or affine.shape[0] != affine.shape[1]:
        raise ValueError(f"{what} has an affine of the shape {affine.shape}, but it must be a matrix, such as 4 x 4")
    space = getattr(value, "meta", {}).get("space", "RAS")
    is_lps = str(getattr(space, "value", space)).upper() == "LPS"
    return affine, np.reshape([1.0] * 3 if is_lps else nifti.LPS, (3, 1))


def _from_metatensor(value, what):
    """The image of a tensor of MONAI, whose last axes are those of its affine; and the order of its axes: x, y, z as MONAI reads files,
    unless the first one goes up."""
    if getattr(value, "pending_operations", None):
        raise ValueError(f"{what} has pending operations of MONAI: apply them, monai.transforms.apply_pending(x)[0]")
    affine, signs = _affine_of_metatensor(value, what)
    dimension = min(len(affine) - 1, value.ndim, 3)
    vectors = affine[:dimension] * signs[:dimension]
    array = value.as_tensor() if hasattr(value, "as_tensor") else value
    steps = vectors[:, :dimension].T
    order = tuple(reversed(range(dimension)))
    if abs(steps[0]).argmax() == 2 or dimension == 2 and abs(steps[0]).argmax() == 1:
        order = None
    else:
        array, steps = turned(array, order), steps[::-1]
    return _image_of_steps(array, steps, vectors[:, -1], what), order


def _to_metatensor(volume, like, order):
    affine, signs = _affine_of_metatensor(like, "image")
    dimension = len(volume.spacing)
    affine = affine.copy()
    affine[:dimension, :dimension] = volume._matrix()[:, ::-1][:, list(_inverse(order) or range(dimension))]
    affine[:dimension, -1] = volume.origin
    affine[:dimension] *= signs[:dimension]
    meta = {name: value for name, value in getattr(like, "meta", {}).items() if name != "affine"}
    array = turned(volume.array, order, is_reversed=True)
    if isinstance(array, np.ndarray) and "torch" in sys.modules:
        array, affine = map(sys.modules["torch"].from_numpy, (array, affine))
    return type(like)(array, affine=affine, meta=meta)


def to_itk_or_simpleitk(volume):
    """An ITK image, or one of SimpleITK if ITK is not installed."""
    return (to_itk if importlib.util.find_spec("itk") else to_simpleitk)(volume)


def read(path, what, **options):
    """The volume of a file, or of a folder with a DICOM series, or of an RTSTRUCT of pydicom; options are those of _files.images.read."""
    from ._files import images, paths

    path = path if _package(path) == "pydicom" else paths.utf8(os.fspath(path), what)
    return Image(*images.read(path, what, **options))


class Opened(NamedTuple):
    """What a value is as an image, whose axes are z, y, x if they are known.

    given              The value.
    convert            Function that makes what the value is, such as an image of ITK, of an Image, which may be another part.
    components_axis    0 or -1, if the array has an axis of components.
    order              For each axis of the image, its number among those of the value; None if they are the same.
    """

    image: Image
    given: Any
    convert: Callable[[Image], Any]
    components_axis: Optional[int] = None
    order: Optional[Tuple[int, ...]] = None

    @property
    def axes(self):
        """Coordinates of a DataArray by axis, without that of components; None for an axis without them, and for other kinds."""
        if not is_xarray(self.given):
            return None
        names = list(self.given.dims)
        if self.components_axis is not None:
            del names[self.components_axis]
        return {name: self.given.coords[name].variable if name in self.given.coords else None for name in names}

    def order_of_indices(self, n):
        """How errors call the n axes."""
        return f"axes {', '.join(map(str, self.axes or self.as_given(('z', 'y', 'x')[-n:])))}"

    def as_given(self, values):
        return as_given(values, self.order)

    def of_given(self, values):
        """The reverse, of one value per axis of space."""
        return tuple(values) if self.order is None else tuple(values[axis] for axis in self.order)

    def on_grid(self, value, what, label=None):
        """The array of a mask, of seeds or of a selection, whose axes are in the order of those of this image. Raises ValueError if
        it is not on the grid of this image.

        label    Label of a region: other segments of a DICOM segmentation or structures of an RTSTRUCT, which may overlap it, are not read.
        """
        has_order = is_image(value) or is_xarray(value) or _is_metatensor(value)
        if _is_nibabel(self.given) and not has_order:
            raise TypeError(
                f"{what} is an array, whose axes may be x, y, z or z, y, x, but the image is one of nibabel: pass {what} as one, such as "
                f"nibabel.Nifti1Image({what}, image.affine)"
            )
        value = in_order(value, self.axes, what)
        # The grid of a DICOM segmentation, whose frames may be sparse, and of contours.
        grid = self.image if self.image.spacing is not None else None
        other = opened(value, what, grid=grid, segment=label, image=self.given)
        if other.components_axis is not None:
            raise TypeError(f"{what} has voxels of several components, but they must be scalars")
        ours, theirs = self.image, other.image
        if not has_order:
            array = theirs.array if hasattr(theirs.array, "ndim") else _arrays.array_of(theirs.array, what).array
            # Other errors are about its shape.
            return turned(array, self.order) if array.ndim >= len(self.order or ()) else array
        if ours.spacing is None and _is_metatensor(value):
            return turned(theirs.array, other.order, is_reversed=True)
        if ours.spacing is not None and theirs.spacing is not None and len(ours.spacing) == len(theirs.spacing):
            if self.components_axis is not None:
                first = ours.array[0] if self.components_axis == 0 else ours.array[..., 0]
                ours = ours.with_array(first)
            difference = difference_of_grids(ours, theirs, what)
            if difference is not None:
                raise ValueError(difference)
        return theirs.array


def in_order(value, axes, what="mask"):
    """A DataArray with its axes in the order of those of another one, or z, y, x if that has no names; other values as they are."""
    if not is_xarray(value) or not getattr(value, "ndim", 0):
        return value
    names = list(axes or ("z", "y", "x"))[-value.ndim :]
    if set(value.dims) == set(names):
        return value.transpose(*names)
    if axes is None:
        return value
    raise ValueError(
        f"{what} has the axes {', '.join(map(str, value.dims))}, but the image has {', '.join(map(str, names))}"
    )


# Names of axes that are not those of a volume.
_OTHER_AXES = ("t", "time", "c", "channel", "channels", "band", "batch")
# Color has so many components, and images are at least so large.
_MOST_COLORS, _LEAST_SIZE = 4, 8


def check_axes(opened, shape, volume_remedy, color_remedy):
    """Raise ValueError for an array that looks like color, or like images with channels as the last axis.

    opened     The image, Opened without a dimension.
    shape      Shape of its array.
    volume_remedy, color_remedy
               What to do if it is a volume, and if it has channels.
    """
    if is_xarray(opened.given):
        other = [name for name in opened.given.dims[-3:] if str(name).lower() in _OTHER_AXES]
        if other:
            raise ValueError(
                f"image has the axis {other[0]} among {', '.join(map(str, opened.given.dims))}, but images have the axes z, y, x or y, x: "
                f"{color_remedy}, or {volume_remedy} if it is an axis of space"
            )
        return
    # Images have a geometry of their axes, but for a MetaTensor of color as it is read.
    first = -3 if opened.image.spacing is None else -4 if _is_metatensor(opened.given) else None
    shape = opened.as_given(shape)
    if first is None or len(shape) < -first:
        return
    if 0 < shape[-1] <= _MOST_COLORS and min(shape[first:-1]) >= _LEAST_SIZE:
        raise ValueError(
            f"image has the shape {tuple(shape)}, whose last axis looks like {shape[-1]} channel{'s' * (shape[-1] > 1)}, but the axes must "
            f"be z, y, x: {color_remedy}, or {volume_remedy} if the image has {shape[-1]} voxel{'s' * (shape[-1] > 1)} along x"
        )


_array_of_volume = operator.attrgetter("array")


def opened(value, what, components_axis=None, dimension=None, **options):
    """The image in a value: an array of any library, an image of ITK, SimpleITK or nibabel, a DataArray, a MetaTensor, or a path.

    what               How errors call it.
    components_axis    Axis of the components of an array, 0 or -1, if it has one; images know theirs.
    dimension          Dimension of an array, if it is known.
    options            For a path, those of read().
    """
    if hasattr(value, "as_sitk"):
        value = value.as_sitk()
    given = value
    if isinstance(value, np.ndarray) and not _is_metatensor(value):
        return Opened(Image(value), given, _array_of_volume, components_axis)
    if isinstance(value, (str, os.PathLike)) or _package(value) == "pydicom":
        image, convert = read(value, what, **options), to_simpleitk
    elif isinstance(value, Image):  # of sample_ct()
        image, convert = value, lambda volume: volume
    elif _package(value) == "SimpleITK":
        if not hasattr(value, "GetPixelIDTypeAsString"):
            raise TypeError(f"{what} must be an image, not {type(value).__name__} of SimpleITK")
        if value.GetPixelIDTypeAsString().startswith("label"):
            raise TypeError(f"{what} is a label map; convert it with SimpleITK.LabelMapToLabel")
        image, convert = from_simpleitk(value), to_simpleitk
    elif _is_itk(value):
        from ._itk import itk

        value = itk.output(value)
        if not hasattr(value, "GetBufferedRegion") or not hasattr(value, "GetSpacing"):
            raise TypeError(f"{what} must be an image, not {type(value).__name__} of ITK")
        image, convert = _from_itk(value, what), functools.partial(to_itk, like=value)
    elif _is_nibabel(value):
        image = _from_nibabel(value, what)
        convert = functools.partial(to_nibabel, like=value, place=image[1:])
    elif is_xarray(value) and hasattr(value, "coords") and hasattr(value, "data"):
        if components_axis is None and value.ndim > 2 and value.dims[-1] == "c":
            components_axis = -1
        image, order = _from_xarray(value, what, components_axis, dimension)
        result = Opened(image, given, None, components_axis, order)
        return result._replace(
            convert=functools.partial(to_xarray, axes=result.axes, attributes=value.attrs, name=value.name)
        )
    elif _is_metatensor(value):
        if components_axis == -1:
            raise ValueError(f"components_axis is -1, but channels of {what}, a MetaTensor, are the first axis")
        image, order = _from_metatensor(value, what)
        convert = functools.partial(_to_metatensor, like=value, order=order)
        return Opened(image, given, convert, components_axis, order)
    elif is_xarray(value):
        raise TypeError(
            f"{what} is a {type(value).__name__} of xarray: choose one of its variables, which are DataArrays"
            if hasattr(value, "data_vars")
            else f"{what} is a {type(value).__name__} of xarray: pass a DataArray, such as xarray.DataArray({what})"
        )
    else:
        return Opened(Image(value), given, _array_of_volume, components_axis)
    if len(image.spacing) not in (2, 3):
        raise ValueError(f"{what} has {len(image.spacing)} dimensions, but must have 2 or 3: choose a volume of it")
    if image.array.size == 0:
        raise ValueError(f"{what} of size {image.size} has no voxels")
    if image.array.dtype.kind not in "biuf":
        raise TypeError(f"{what} has voxels of {image.array.dtype}, but they must be real numbers")
    return Opened(image, given, convert, -1 if image.array.ndim > len(image.spacing) else None)


def source(value):
    """The path of a value, or of the file behind it, such as an image of nibabel that is read later; or None."""
    finders = (
        lambda: value,
        lambda: value.get_filename(),
        lambda: value.filename,
        lambda: value.meta["filename_or_obj"],
        lambda: value.encoding["source"],
    )
    for find in finders:
        with contextlib.suppress(Exception):
            found = find()
            if isinstance(found, (str, os.PathLike)):
                return os.fspath(found)
    return None


def load(value, what, **options):
    """The image of a value that must have a geometry, and the function that makes what the value is of an image.

    options    For a path, those of read().
    """
    image, _, convert, *_ = opened(value, what, **options)
    if image.spacing is None:
        raise TypeError(
            f"{what} must be an image with a geometry, of ITK, SimpleITK, nibabel, xarray or MONAI, or the path of a file, not "
            f"{type(value).__name__}: make one, such as SimpleITK.GetImageFromArray(x), and set its spacing"
        )
    # With a type and a byte order that filters of SimpleITK support.
    return image.with_array(_arrays.host_pixels(image.array, what)), convert
