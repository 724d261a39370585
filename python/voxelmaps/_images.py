# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Conversion between ITK images, NumPy arrays and xarray.DataArrays."""

import numpy as np

from . import _arrays, _connectedness
from ._arrays import is_xarray
from ._itk import itk
from ._image import Image


def is_array(value):
    """Whether this is an array of another library and not an ITK object."""
    return not isinstance(value, itk.Object) and hasattr(value, "__array__")


# Types that ITK has images of everywhere: itk.Image[itk.UC, ...], US, SS, F and D.
_WRAPPED_TYPES = tuple(np.dtype(t) for t in (np.uint8, np.uint16, np.int16, np.float32, np.float64))
_WRAPPED_PIXELS = (itk.UC, itk.US, itk.SS, itk.F, itk.D)

_DTYPES = {itk.UC: np.uint8, itk.US: np.uint16, itk.F: np.float32}

# Others, which are converted.
_OTHER_PIXELS = (itk.SC, itk.SI, itk.UI, itk.SL, itk.UL, itk.SLL, itk.ULL)


def _real_array(value):
    """The NumPy array of an array of any library. Raises TypeError if it is masked, or not of real numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("Masked arrays are not supported; pass the data, and the voxels to use as mask_image")
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"Images of {array.dtype} are not supported; convert the array to float32 or float64")
    return array


def native(value):
    """The array in C order, with native byte order and a type that ITK has images of, without a change of values.

    Raises TypeError for types that are not real numbers, and ValueError for integers that no wrapped type can represent.
    """
    array = np.ascontiguousarray(_real_array(value))
    if array.dtype == bool:
        return array.view(np.uint8)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype in _WRAPPED_TYPES:
        return array
    if array.dtype == np.int8:
        return array.astype(np.int16)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return _arrays.exact_as_float64(array)


def _with_geometry_of(image, source):
    """The image, with the regions and geometry of another one."""
    image.SetRegions(source.GetBufferedRegion())
    image.SetLargestPossibleRegion(source.GetLargestPossibleRegion())
    image.SetOrigin(source.GetOrigin())
    image.SetSpacing(source.GetSpacing())
    image.SetDirection(source.GetDirection())
    return image


def _check_coordinates(value):
    """Raise ValueError if a DataArray is no grid of even spacing along x, y and perhaps z, as an image is."""
    if sorted(value.dims) not in (["x", "y"], ["x", "y", "z"]):
        raise ValueError(
            f"a DataArray with the dims x and y, or x, y and z is needed, not {', '.join(map(str, value.dims))}"
        )
    for dim in value.dims:
        if dim not in value.coords:
            continue
        positions = np.asarray(value.coords[dim].values)
        if positions.dtype.kind not in "iuf":
            raise ValueError(f"the coordinates of axis {dim} must be numbers, but are {positions.dtype}")
        positions = positions.astype(np.float64)
        if not np.isfinite(positions).all():
            raise ValueError(f"the coordinates of axis {dim} must be finite")
        if len(positions) < 2:
            continue
        # ITK takes the first step, and coordinates of type float32 are rounded.
        step = positions[1] - positions[0]
        if step <= 0:
            raise ValueError(
                f"the coordinates of axis {dim} must increase, but begin with {positions[0]:g}, {positions[1]:g}"
            )
        differences = abs(np.diff(positions) - step)
        worst = int(differences.argmax())
        if differences[worst] > 0.01 * step:
            raise ValueError(
                f"the coordinates of axis {dim} must be evenly spaced within 1 %, but the first step is {step:g}, and the one "
                f"from {positions[worst]:g} to {positions[worst + 1]:g} is {positions[worst + 1] - positions[worst]:g}"
            )
        end = positions[0] + step * (len(positions) - 1)
        if abs(positions[-1] - end) > 0.1 * step:
            raise ValueError(
                f"the coordinates of axis {dim} must be evenly spaced, but with the first step, {step:g}, the last coordinate would "
                f"be {end:g} instead of {positions[-1]:g}"
            )


def _check_array(array):
    if array.ndim not in (2, 3):
        raise ValueError(f"an array with 2 or 3 dimensions is needed, but the shape is {array.shape}")
    if array.size == 0:
        raise ValueError(f"an array of shape {array.shape} has no voxels")


def copy_of(image):
    """A copy of an image, or of the output of a filter, with its geometry."""
    image = itk.output(image)
    image.Update()
    array = itk.array_view_from_image(image)
    is_vector = itk.template(image)[0] is itk.VectorImage
    return _with_geometry_of(itk.image_from_array(array, is_vector=True) if is_vector else image_of(array), image)


def _image_type(image):
    """Template, pixel type and dimension of an image; None if it is not an image."""
    try:
        template, (pixel, dimension, *_) = itk.template(image)
    except (KeyError, TypeError, ValueError):
        return None
    return template, pixel, dimension


def image_of(array, make=itk.image_from_array):
    """An image of an array, whose axes are those of the array in reverse order. ITK takes them as they are if all but one have a
    single voxel.

    make    itk.image_from_array, or itk.image_view_from_array for an array in C order that outlives the image.
    """
    image = make(np.ascontiguousarray(array))
    size = itk.Size[array.ndim](list(reversed(array.shape)))
    if image.GetLargestPossibleRegion().GetSize() != size:
        image.SetRegions(size)
    return image


def _image_of_xarray(value):
    """An image of a DataArray. ITK takes the axes of a line of voxels in another order."""
    direction = value.attrs.get("direction")
    if direction is not None and np.shape(direction) != (value.ndim, value.ndim):
        raise ValueError(
            f"the attribute direction of the DataArray has the shape {np.shape(direction)}, but the DataArray has {value.ndim} axes, "
            "as after isel(z=10): keep the axis, isel(z=[10]), or delete the attribute, del x.attrs['direction']"
        )
    image = itk.image_from_xarray(value)
    size = itk.Size[value.ndim]([value.sizes[dim] for dim in ("x", "y", "z")[: value.ndim]])
    if image.GetLargestPossibleRegion().GetSize() != size:
        image.SetRegions(size)
    return image


def _float_vectors(array):
    """The array, whose last axis are components, as float32. Raises ValueError if that changes a value."""
    array = _real_array(array)
    if 0 in array.shape:
        raise ValueError(f"an array of shape {array.shape} has no voxels")
    result = np.ascontiguousarray(array, np.float32)
    differs = (result != array) & ~np.isnan(result)
    if differs.any():
        raise ValueError(
            f"the component {array[differs][0]} is not exact as float32, with which images of vectors are computed; convert "
            "the image to float32"
        )
    return result


def _vector_image_from(value):
    """An itk.VectorImage of float, from an image of vectors, an array with 4 axes or a DataArray with the dim c; None if it is
    another value."""
    if is_xarray(value) and "c" in value.dims:
        _check_coordinates(value.isel(c=0, drop=True))
        value = value.transpose(*(dim for dim in ("z", "y", "x", "c") if dim in value.dims))
        image = itk.image_from_array(_float_vectors(value.values), is_vector=True)
        return _with_geometry_of(image, _image_of_xarray(value.isel(c=0, drop=True).astype(np.float32)))
    if is_array(value):
        array = np.asarray(value)
        return itk.image_from_array(_float_vectors(array), is_vector=True) if array.ndim == 4 else None
    if not isinstance(value, (itk.DataObject, itk.ProcessObject)):
        return None
    image = itk.output(value)
    template, pixel, dimension = _image_type(image) or (None, None, None)
    if template is itk.VectorImage and pixel == itk.F:
        return value
    is_vector = template is itk.VectorImage or template is itk.Image and pixel not in _WRAPPED_PIXELS + _OTHER_PIXELS
    if not is_vector or dimension not in (2, 3):
        return None
    image.Update()
    array = itk.array_view_from_image(image)
    return _with_geometry_of(itk.image_from_array(_float_vectors(array), is_vector=True), image)


def image_from(value):
    """A scalar image, or image of vectors of float, from an image or an array. Raises TypeError or ValueError if it has no
    voxels in 2 or 3 dimensions."""
    vectors = _vector_image_from(value)
    if vectors is not None:
        return vectors
    if is_xarray(value):
        _check_coordinates(value)
        _check_array(value)
        return _image_of_xarray(value.copy(data=native(value.values)))
    if is_array(value):
        array = np.asarray(value)
        _check_array(array)
        return image_of(native(value), itk.image_view_from_array)
    if not isinstance(value, (itk.DataObject, itk.ProcessObject)):
        raise TypeError(f"an itk.Image, a NumPy array or an xarray.DataArray is needed, not {_arrays.kind_of(value)}")
    image = itk.output(value)
    template, pixel, dimension = _image_type(image) or (None, None, None)
    if template is not itk.Image or dimension not in (2, 3) or pixel not in _WRAPPED_PIXELS + _OTHER_PIXELS:
        raise TypeError(f"a scalar itk.Image with 2 or 3 dimensions is needed, not {type(image).__name__}")
    if image.GetSource() is None and image.GetLargestPossibleRegion().GetNumberOfPixels() == 0:
        raise ValueError(f"an image of size {tuple(itk.size(image))} has no voxels")
    if value is image and pixel in _OTHER_PIXELS:
        value.Update()
        return _with_geometry_of(image_of(native(itk.array_view_from_image(value)), itk.image_view_from_array), value)
    return value


def image_with_values(array):
    """A new scalar image with the values of an array. Other threads of Python run meanwhile."""
    pixel = _WRAPPED_PIXELS[_WRAPPED_TYPES.index(array.dtype)]
    image = itk.Image[pixel, array.ndim].New()
    image.SetRegions(itk.Size[array.ndim](list(reversed(array.shape))))
    image.Allocate()
    np.copyto(itk.array_view_from_image(image), array)
    return image


def image_like(array, image):
    """Scalar image with the values of an array, and the regions and geometry of another image."""
    pixel = next(pixel for pixel, dtype in _DTYPES.items() if array.dtype == dtype)
    result = itk.Image[pixel, image.GetImageDimension()].New()
    result.CopyInformation(image)
    result.SetRegions(image.GetBufferedRegion())
    result.Allocate()
    itk.array_view_from_image(result)[...] = array
    return result


class _BufferOwner:
    """Keeps the image of an array alive: np.asarray drops the reference that ITK's own array views hold."""

    def __init__(self, image, view):
        self.image = image
        self.__array_interface__ = view.__array_interface__


def to_array(image):
    """View of an image as an array that keeps the image alive. The components of vector images are the last axis."""
    return np.asarray(_BufferOwner(image, itk.array_view_from_image(image)))


def _to_xarray(image, like):
    """DataArray of an image, with the coordinates and attributes of another one; coordinates that it lacks are computed."""
    import xarray

    dims = ("x", "y", "z")[: image.GetImageDimension()]
    origin, spacing, size = itk.origin(image), itk.spacing(image), itk.size(image)
    coords = {}
    for d, dim in reversed(list(enumerate(dims))):
        known = like.coords[dim].values if dim in like.coords else None
        coords[dim] = known if known is not None else origin[d] + spacing[d] * np.arange(int(size[d]))
    return xarray.DataArray(to_array(image), dims=tuple(reversed(dims)), coords=coords, attrs=dict(like.attrs))


def like_input(image, given):
    """The image, or its array or DataArray if the given input is one."""
    if is_xarray(given):
        return _to_xarray(image, given)
    return to_array(image) if is_array(given) else image


def check_axes(value, given, name):
    """Raise ValueError if an array without names of axes is given with a DataArray whose axes ITK takes in another order."""
    if is_array(value) and not is_xarray(value) and is_xarray(given):
        dims = tuple(dim for dim in given.dims if dim != "c")
        if dims != ("z", "y", "x")[-len(dims) :]:
            raise ValueError(
                f"{name} is an array without names of axes, but the axes of the image are {', '.join(map(str, dims))}: "
                "pass a DataArray"
            )


def integer_image(value, image, dimension, name, pixel):
    """Convert an array or an image to an image of unsigned char or unsigned short.

    image        The image whose geometry arrays get; may be None.
    dimension    That of the image.
    name         Name of the parameter, for errors.
    pixel        itk.UC or itk.US.
    """
    if value is None:
        return value
    if not is_array(value) and not isinstance(value, (itk.DataObject, itk.ProcessObject)):
        raise TypeError(
            f"{name} must be an itk.Image, a NumPy array or an xarray.DataArray, not {_arrays.kind_of(value)}"
        )
    if not is_array(value):
        value = itk.output(value)
        template, value_pixel, mask_dimension = _image_type(value) or (None, None, None)
        if template is not itk.Image or value_pixel not in _WRAPPED_PIXELS + _OTHER_PIXELS:
            raise TypeError(f"{name} must be a scalar itk.Image, not {type(value).__name__}")
        if mask_dimension != dimension:
            raise ValueError(f"{name} has {mask_dimension} dimensions, but the image has {dimension}")
        if value_pixel == pixel:
            return value
        value.UpdateOutputInformation()
        value.SetRequestedRegionToLargestPossibleRegion()
        value.Update()
        source, array = value, itk.array_view_from_image(value)
    else:
        source, array = None, _real_array(value)
        if array.ndim != dimension:
            raise ValueError(f"{name} has {array.ndim} dimensions, but the image has {dimension}")
    dtype = np.dtype(_DTYPES[pixel])
    _arrays.check_integers(array, np.iinfo(dtype).max, name)
    array = array.astype(dtype)
    if source is not None:
        return image_like(array, source)
    if is_xarray(value):
        view = image_from(value.copy(data=array))
        return image_like(itk.array_view_from_image(view), view)
    result = image_of(array)
    if image is not None:
        # An array has no geometry, so it gets the geometry of the input image.
        image.UpdateOutputInformation()
        region = result.GetLargestPossibleRegion()
        region.SetIndex(image.GetLargestPossibleRegion().GetIndex())
        result.SetRegions(region)
        result.SetOrigin(image.GetOrigin())
        result.SetSpacing(image.GetSpacing())
        result.SetDirection(image.GetDirection())
    return result


def voxels_of(image, like, name):
    """The array of an image that must have the region and the space of another one, if there is one; it keeps the image alive.
    Raises RuntimeError, as filters do, if it has not."""
    image.UpdateOutputInformation()
    image.SetRequestedRegionToLargestPossibleRegion()
    image.Update()
    if like is not None:
        # As itk::ImageToImageFilter compares them.
        tolerance = 1e-6 * abs(like.GetSpacing()[0])
        for what, get, limit in (
            ("index", lambda i: list(i.GetLargestPossibleRegion().GetIndex()), 0),
            ("size", lambda i: list(i.GetLargestPossibleRegion().GetSize()), 0),
            ("origin", lambda i: list(i.GetOrigin()), tolerance),
            ("spacing", lambda i: list(i.GetSpacing()), tolerance),
            ("direction", lambda i: itk.array_from_matrix(i.GetDirection()).tolist(), 1e-6),
        ):
            if not (abs(np.subtract(get(image), get(like))) <= limit).all():
                raise RuntimeError(f"{name} has the {what} {get(image)}, but the image has {get(like)}")
    return to_array(image)


def indices_of_points(points, image):
    """Indices of the voxels at points in mm, which are one point or several, in ITK's order x, y, z."""
    region = image.GetLargestPossibleRegion()
    direction = tuple(itk.array_from_matrix(image.GetDirection()).ravel())
    # Without voxels.
    like = np.broadcast_to(np.uint8(0), tuple(int(n) for n in reversed(list(region.GetSize()))))
    origin = tuple(image.TransformIndexToPhysicalPoint(region.GetIndex()))
    volume = Image(like, tuple(image.GetSpacing()), origin, direction)
    start = [int(i) for i in region.GetIndex()]
    indices = _connectedness.indices_of_points(points, volume)
    return [[i + s for i, s in zip(reversed(index), start)] for index in indices]
