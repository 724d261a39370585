# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""Python side of the VoxelMaps module.

ITK's wrapping loads this file with the module, and takes from it what SWIG cannot do: enumerators, features, seeds and
offsets as strings and lists, masks of any integer type, NumPy arrays and xarrays in and out of the functional
interface. What is here for users:

feature_names      names of the components of a feature map image
feature_maps       run length feature maps as a dict: name -> map
feature_dict       the same of an image that is there already
feature_xarray     feature map image as an xarray.DataArray with an axis of names
"""

import copyreg
import functools
import importlib

import numpy as np

__all__ = ["feature_dict", "feature_maps", "feature_names", "feature_xarray"]


def _is_xarray(value):
    return type(value).__module__.startswith("xarray.")


def _is_array(value):
    """Whether this is an array of another library, and not an object of ITK."""
    import itk

    return not isinstance(value, itk.Object) and hasattr(value, "__array__")


def _native(value):
    """The array in C order and with the byte order of this machine; bool as uint8."""
    array = np.ascontiguousarray(value)
    if array.dtype == bool:
        return array.view(np.uint8)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _image_from_xarray(value):
    """The image of a DataArray, which may lack coordinates and have any attributes."""
    import itk

    value = value.copy(deep=False)
    value.attrs = {k: v for k, v in value.attrs.items() if k == "direction"}
    for dim in value.dims:
        if dim not in value.coords:
            value = value.assign_coords({dim: np.arange(value.sizes[dim], dtype=float)})
    return itk.image_from_xarray(value.copy(data=_native(value.values)))


def _image_from(value):
    import itk

    if _is_xarray(value):
        return _image_from_xarray(value)
    if _is_array(value):
        return itk.image_view_from_array(_native(value))
    return value


def _dimension(instance):
    """Dimension of the images of a filter."""
    import itk

    return itk.template(itk.template(instance)[1][0])[1][1]


def _image_like(array, image):
    """Scalar image of an array, with regions and geometry of another image."""
    import itk

    pixel = {np.dtype(np.uint8): itk.UC, np.dtype(np.float32): itk.F}[array.dtype]
    result = itk.Image[pixel, image.GetImageDimension()].New()
    result.CopyInformation(image)
    result.SetRegions(image.GetBufferedRegion())
    result.Allocate()
    itk.array_view_from_image(result)[...] = array
    return result


# --- Setters -----------------------------------------------------------------------------------------------------------


def _plain(name):
    """A name without what spellings differ in: per_direction, per-direction, PerDirection."""
    return "".join(c for c in name if c.isalnum()).lower()


def _enumerator(enums, kind, value):
    """Number of an enumerator that is given as string or number."""
    if not isinstance(value, str):
        return int(value)
    prefix = kind + "_"
    names = [n[len(prefix) :] for n in dir(enums) if n.startswith(prefix)]
    for name in names:
        if _plain(name) == _plain(value):
            return getattr(enums, prefix + name)
    raise ValueError(f"{kind} '{value}' is none of {', '.join(names)}")


def _feature(value):
    """Number of a feature that is given by abbreviation, name or number."""
    import itk

    if not isinstance(value, str):
        return int(value)
    enums = itk.RunLengthFeatureMapEnums
    names = [n[len("Feature_") :] for n in dir(enums) if n.startswith("Feature_")]
    abbreviations = {}
    for name in names:
        number = getattr(enums, "Feature_" + name)
        abbreviations[number] = enums.GetAbbreviation(number)
        if _plain(value) in (_plain(name), _plain(abbreviations[number])):
            return number
    all_names = ", ".join(abbreviations[n] for n in sorted(abbreviations))
    raise ValueError(f"Feature '{value}' is none of {all_names}, nor one of their long names")


def _rows(values, dimension, what):
    """Lists of ints, all of them of this length; one of them may stand alone."""
    if len(values) == 1:
        values = values[0]
    if np.ndim(values) == 1 and len(values) == dimension and np.ndim(values[0]) == 0:
        values = [values]
    rows = [[int(v) for v in row] for row in values]
    for row in rows:
        if len(row) != dimension:
            raise ValueError(f"{what} {row} has {len(row)} components instead of {dimension}")
    return rows


def _split(components, dimension):
    components = list(components)
    return [components[i : i + dimension] for i in range(0, len(components), dimension)]


def _set_features(self, *features):
    """Features by abbreviation ("SRE"), name ("ShortRunEmphasis") or number; or "all"."""
    import itk

    if len(features) == 1 and isinstance(features[0], str):
        if _plain(features[0]) == "all":
            prefix = "Feature_"
            enums = itk.RunLengthFeatureMapEnums
            numbers = [getattr(enums, n) for n in dir(enums) if n.startswith(prefix)]
            features = sorted(numbers)
    elif len(features) == 1 and np.ndim(features[0]) == 1:
        features = features[0]
    self._SetFeatureNumbers([_feature(f) for f in features])


def _get_features(self):
    return list(self._GetFeatureNumbers())


def _set_offsets(self, *offsets):
    """Directions as lists of -1, 0, 1; or "all", or "in-plane"."""
    if len(offsets) == 1 and isinstance(offsets[0], str):
        name = _plain(offsets[0])
        if name == "all":
            self._SetOffsetComponents(self._GetAllOffsetComponents())
        elif name == "inplane":
            self._SetOffsetComponents(self._GetInPlaneOffsetComponents())
        else:
            raise ValueError(f"Offsets '{offsets[0]}' is none of all, in-plane")
        return
    rows = _rows(offsets, _dimension(self), "Offset")
    self._SetOffsetComponents([c for row in rows for c in row])


def _get_offsets(self):
    return _split(self._GetOffsetComponents(), _dimension(self))


def _get_all_offsets(self):
    return _split(self._GetAllOffsetComponents(), _dimension(self))


def _get_in_plane_offsets(self):
    return _split(self._GetInPlaneOffsetComponents(), _dimension(self))


def _set_seeds(self, *seeds):
    """Seeds as lists of indices: x, y, z as everywhere in ITK."""
    rows = _rows(seeds, _dimension(self), "Seed")
    self._SetSeedComponents([c for row in rows for c in row])


def _get_seeds(self):
    return _split(self._GetSeedComponents(), _dimension(self))


def _wrap_index_setter(original):
    """Let a setter of an index, a size or an offset take NumPy integers too."""

    @functools.wraps(original)
    def setter(self, value):
        if isinstance(value, np.integer):
            value = int(value)
        elif isinstance(value, (list, tuple, np.ndarray)):
            value = [int(v) for v in value]
        return original(self, value)

    return setter


def _wrap_enum_setter(original, enums_name, kind):
    @functools.wraps(original)
    def setter(self, value):
        import itk

        return original(self, _enumerator(getattr(itk, enums_name), kind, value))

    return setter


def _byte_image(value, image, name, nonzero):
    """Image of unsigned char of an array or of an image of another type."""
    import itk

    if value is None:
        return value
    if not _is_array(value):
        value = itk.output(value)
        if itk.template(value)[1][0] == itk.UC:
            return value
        value.UpdateOutputInformation()
        value.SetRequestedRegionToLargestPossibleRegion()
        value.Update()
        source, array = value, itk.array_view_from_image(value)
    else:
        source, array = None, np.asarray(value)
    if nonzero:
        array = array != 0
    elif array.dtype != bool and not np.all((array >= 0) & (array <= 255)):
        raise ValueError(f"{name} has values outside of 0..255")
    elif array.dtype.kind == "f" and not np.all(array == np.floor(array)):
        raise ValueError(f"{name} has values that are not integers")
    array = array.astype(np.uint8)
    if source is not None:
        return _image_like(array, source)
    if _is_xarray(value):
        view = _image_from_xarray(value.copy(data=array))
        return _image_like(itk.array_view_from_image(view), view)
    result = itk.image_from_array(np.ascontiguousarray(array))
    if image is not None and image.GetImageDimension() == array.ndim:
        # An array knows no geometry, so it is taken to lie where the image lies.
        image.UpdateOutputInformation()
        result.SetOrigin(image.GetOrigin())
        result.SetSpacing(image.GetSpacing())
        result.SetDirection(image.GetDirection())
    return result


def _wrap_image_setter(original, name, nonzero):
    @functools.wraps(original)
    def setter(self, value):
        return original(self, _byte_image(value, self.GetInput(), name, nonzero))

    return setter


# --- Functional interface ----------------------------------------------------------------------------------------------


class _Keeper:
    """Owner of an array's memory. ITK's own views forget their image in np.asarray and then point to freed memory."""

    def __init__(self, image, view):
        self.image = image
        self.__array_interface__ = view.__array_interface__


def _to_array(image):
    """View of an image; components of vectors are the last axis, even of one."""
    import itk

    view = itk.array_view_from_image(image)
    if itk.template(image)[0] is itk.VectorImage and view.ndim == image.GetImageDimension():
        view = view.reshape(view.shape + (1,))
    return np.asarray(_Keeper(image, view))


def _to_xarray(image, names, like=None):
    """DataArray of an image; of vectors if there are names of components."""
    import itk
    import xarray

    dimension = image.GetImageDimension()
    dims = ("x", "y", "z")[:dimension]
    origin, spacing, size = itk.origin(image), itk.spacing(image), itk.size(image)
    coords = {}
    for d, dim in reversed(list(enumerate(dims))):
        if like is not None and dim in like.coords:
            coords[dim] = like.coords[dim].values
        else:
            coords[dim] = origin[d] + spacing[d] * np.arange(int(size[d]))
    axes = tuple(reversed(dims))
    if names is not None:
        axes += ("feature",)
        coords["feature"] = list(names)
    direction = np.flip(itk.array_from_matrix(image.GetDirection()))
    attrs = dict(like.attrs) if like is not None else {"direction": direction}
    return xarray.DataArray(_to_array(image), dims=axes, coords=coords, attrs=attrs)


def _split_input(args, kwargs):
    """The input, and the other arguments."""
    if args:
        return args[0], list(args[1:]), kwargs
    kwargs = dict(kwargs)
    for key in ("Input", "input"):
        if key in kwargs:
            return kwargs.pop(key), [], kwargs
    raise TypeError("There is no image: give it as the first argument")


def _as_given(image, names, given):
    """The result as what the input was."""
    if _is_xarray(given):
        return _to_xarray(image, names, given)
    if _is_array(given):
        return _to_array(image)
    return image


def _run(template, args, kwargs):
    """Run a filter; it, its output, and what its input was."""
    given, args, kwargs = _split_input(args, kwargs)
    image = _image_from(given)
    instance = template.New(image, *args, **kwargs)
    # The filter holds the image of C++; only that of Python holds the array whose memory it uses.
    instance.voxelmaps_input = image
    return instance, instance.__internal_call__(), given


def _wrap_function(original, class_name):
    """The functional interface of a filter, whose result is of the type of its input."""

    @functools.wraps(original)
    def function(*args, **kwargs):
        import itk

        instance, image, given = _run(getattr(itk, class_name), args, kwargs)
        names = None
        if hasattr(instance, "GetFeatureNames"):
            names = instance.GetFeatureNames()
        return _as_given(image, names, given)

    return function


def _box_any(flags, low, high):
    """Whether there is a flag in the box from low to high (both inclusive, relative to the voxel)."""
    for axis, (a, b) in enumerate(zip(low, high)):
        n = flags.shape[axis]
        sums = np.zeros_like(flags, dtype=np.int32, shape=flags.shape[:axis] + (n + 1,) + flags.shape[axis + 1 :])
        np.cumsum(flags, axis=axis, out=np.moveaxis(np.moveaxis(sums, axis, 0)[1:], 0, axis))
        first = np.clip(np.arange(n) + a, 0, n)
        last = np.clip(np.arange(n) + b + 1, 0, n)
        flags = sums.take(np.maximum(last, first), axis) > sums.take(first, axis)
    return flags


def _shifted(array, step):
    """array[p + step], False outside."""
    result = np.zeros_like(array)
    to = tuple(slice(max(-s, 0), max(n - max(s, 0), 0)) for s, n in zip(step, array.shape))
    source = tuple(slice(max(s, 0), max(n + min(s, 0), 0)) for s, n in zip(step, array.shape))
    result[to] = array[source]
    return result


def _has_pairs(present, direction, size, anchor):
    """Whether some line of this direction holds two voxels or more, in the window of every voxel."""
    result = np.zeros_like(present)
    for k in range(1, max(size)):
        step = [k * d for d in direction]
        low = [max(-s, 0) - a for s, a in zip(step, anchor)]
        high = [n - 1 - a - max(s, 0) for s, n, a in zip(step, size, anchor)]
        if all(a <= b for a, b in zip(low, high)):
            result |= _box_any(present & _shifted(present, step), low, high)
    return result


def _skip_single_voxel_directions(instance, image):
    """Average anew where directions are to be skipped."""
    import itk

    given = itk.output(instance.GetInput())
    array = itk.array_view_from_image(given)
    present = np.ones(array.shape, bool)
    if array.dtype.kind == "f":
        present = ~np.isnan(array)
    mask = instance.GetMaskImage()
    if mask is not None:
        present &= itk.array_view_from_image(mask) == instance.GetInsidePixelValue()
    if not present.any():
        return
    box = tuple(slice(a.min(), a.max() + 1) for a in np.nonzero(present))
    array, present = np.ascontiguousarray(array[box]), np.ascontiguousarray(present[box])
    size = [int(n) for n in instance.GetWindowSize()][::-1]
    anchor = [int(n) for n in instance.GetWindowAnchor()][::-1]
    pairs = [_has_pairs(present, d[::-1], size, anchor) for d in instance.GetOffsets()]
    kept = np.stack(pairs, axis=-1)
    change = present & ~kept.all(axis=-1)
    if not change.any():
        return
    each = (
        type(instance)
        .New(
            itk.image_view_from_array(array),
            mask_image=present,
            aggregation="per_direction",
            range_source="given",
            range_minimum=instance.GetUsedRangeMinimum(),
            range_maximum=instance.GetUsedRangeMaximum(),
            number_of_gray_levels=instance.GetNumberOfGrayLevels(),
            discretization_method=instance.GetDiscretizationMethod(),
            bin_width=instance.GetBinWidth(),
            window_size=size[::-1],
            window_anchor=anchor[::-1],
            offsets=instance.GetOffsets(),
            features=instance.GetFeatures(),
        )
        .__internal_call__()
    )
    values = _to_array(each)[change].astype(float).reshape(-1, kept.shape[-1], len(instance.GetFeatures()))
    kept = kept[change]
    sums = (values * kept[..., np.newaxis]).sum(axis=1)
    counts = kept.sum(axis=-1)[:, np.newaxis]
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    _to_array(image)[box][change] = means


def _split_components(image, names, given):
    """Maps of an image of feature maps by name, as what the input was."""
    array = _to_array(image)
    if _is_xarray(given):
        maps = _to_xarray(image, names, given)
        return {name: maps.sel(feature=name, drop=True) for name in names}
    if _is_array(given):
        return {name: array[..., i] for i, name in enumerate(names)}
    return {name: _image_like(array[..., i], image) for i, name in enumerate(names)}


def feature_maps(*args, skip_single_voxel_directions=False, **kwargs):
    """Run length feature maps of an itk.Image, a NumPy array or an xarray, as a dict: name -> map of the same type.

    Takes what itk.run_length_feature_map_image_filter takes, and:

    skip_single_voxel_directions    Average, for each window, only over the directions in which some line holds two
                                    voxels or more, with NaN where there is none: the rule of PyRadiomics. It matters
                                    for thin and scattered masks. For the aggregation "average" only.
    """
    import itk

    instance, image, given = _run(itk.RunLengthFeatureMapImageFilter, args, kwargs)
    if skip_single_voxel_directions:
        if instance.GetAggregation() != itk.RunLengthFeatureMapEnums.Aggregation_Average:
            raise ValueError("skip_single_voxel_directions needs the aggregation 'average'")
        _skip_single_voxel_directions(instance, image)
    return _split_components(image, instance.GetFeatureNames(), given)


def feature_names(dimension=3, **kwargs):
    """Names of the components that itk.run_length_feature_map_image_filter makes with these parameters, in order."""
    import itk

    image = itk.Image[itk.UC, dimension]
    vectors = itk.VectorImage[itk.F, dimension]
    instance = itk.RunLengthFeatureMapImageFilter[image, vectors].New(**kwargs)
    return list(instance.GetFeatureNames())


def _check_names(image, names):
    components = image.GetNumberOfComponentsPerPixel()
    if len(names) != components:
        raise ValueError(f"{len(names)} names for an image of {components} components")


def feature_dict(image, names):
    """The components of a feature map image as a dict: name -> itk.Image."""
    _check_names(image, names)
    return _split_components(image, names, image)


def feature_xarray(image, names):
    """A feature map image as an xarray.DataArray, whose last axis "feature" has these names."""
    _check_names(image, names)
    return _to_xarray(image, names)


# --- Pickling ----------------------------------------------------------------------------------------------------------


def _unpickle_image(template, parameters, array, index, origin, spacing, direction):
    import itk

    pixel, dimension = parameters
    image = getattr(itk, template)[getattr(itk, pixel), dimension].New()
    region = itk.ImageRegion[dimension]()
    region.SetIndex(index)
    region.SetSize([int(n) for n in array.shape[dimension - 1 :: -1]])
    image.SetRegions(region)
    if template == "VectorImage":
        image.SetNumberOfComponentsPerPixel(array.shape[-1])
    image.Allocate()
    image.SetOrigin(origin)
    image.SetSpacing(spacing)
    image.SetDirection(itk.matrix_from_array(direction))
    _to_array(image)[...] = array
    return image


def _reduce_image(image):
    import itk

    template, (pixel, dimension) = itk.template(image)
    return _unpickle_image, (
        template.__name__.split("::")[-1],
        (pixel.short_name, dimension),
        np.array(_to_array(image)),
        [int(i) for i in image.GetBufferedRegion().GetIndex()],
        list(image.GetOrigin()),
        list(image.GetSpacing()),
        itk.array_from_matrix(image.GetDirection()),
    )


# --- What the wrapping calls -------------------------------------------------------------------------------------------

_DISCRETIZATION = "GrayLevelDiscretizationEnums"
_RUN_LENGTH = "RunLengthFeatureMapEnums"
_CONNECTEDNESS = "FuzzyConnectednessEnums"

# Filter: setters of enumerators, with class and name of the enumeration.
_FILTERS = {
    "GrayLevelDiscretizationImageFilter": {
        "SetMethod": (_DISCRETIZATION, "Method"),
        "SetRangeSource": (_DISCRETIZATION, "RangeSource"),
    },
    "RunLengthFeatureMapImageFilter": {
        "SetDiscretizationMethod": (_DISCRETIZATION, "Method"),
        "SetRangeSource": (_DISCRETIZATION, "RangeSource"),
        "SetAggregation": (_RUN_LENGTH, "Aggregation"),
    },
    "CudaRunLengthFeatureMapImageFilter": {"SetCudaMethod": (_RUN_LENGTH, "CudaMethod")},
    "FuzzyConnectednessImageFilter": {
        "SetAffinityFunction": (_CONNECTEDNESS, "AffinityFunction"),
        "SetAdjacency": (_CONNECTEDNESS, "Adjacency"),
        "SetMethod": (_CONNECTEDNESS, "Method"),
    },
    "CudaFuzzyConnectednessImageFilter": {"SetCudaMethod": (_CONNECTEDNESS, "CudaMethod")},
}

# Replacements of methods that SWIG makes unusable, if the class has what they call.
_METHODS = {
    "_SetFeatureNumbers": {
        "SetFeatures": _set_features,
        "GetFeatures": _get_features,
    },
    "_SetOffsetComponents": {
        "SetOffsets": _set_offsets,
        "GetOffsets": _get_offsets,
        "GetAllOffsets": _get_all_offsets,
        "GetInPlaneOffsets": _get_in_plane_offsets,
    },
    "_SetSeedComponents": {"SetSeeds": _set_seeds, "GetSeeds": _get_seeds},
}

_INDEX_SETTERS = (
    "SetNeighborhoodRadius",
    "SetWindowSize",
    "SetWindowAnchor",
    "SetSeed",
    "AddSeed",
)

_IMAGE_SETTERS = {"SetMaskImage": False, "SetSeedImage": True}


def _add_to_class(cls, enum_setters):
    own = vars(cls)
    for needed, methods in _METHODS.items():
        if needed in own:
            for name, method in methods.items():
                setattr(cls, name, method)
    for name, (enums, kind) in enum_setters.items():
        setattr(cls, name, _wrap_enum_setter(own[name], enums, kind))
    for name in _INDEX_SETTERS:
        if name in own:
            setattr(cls, name, _wrap_index_setter(own[name]))
    for name, nonzero in _IMAGE_SETTERS.items():
        if name in own:
            setattr(cls, name, _wrap_image_setter(own[name], name[3:], nonzero))


def _add_to_wrapping():
    """Add all this to the generated classes; returns the functions that take the place of generated ones."""
    from itk.support.helpers import camel_to_snake_case

    functions = {}
    for class_name, enum_setters in _FILTERS.items():
        module = importlib.import_module(f"itk.itk{class_name}Python")
        for name, value in list(vars(module).items()):
            if name.startswith(f"itk{class_name}I") and isinstance(value, type):
                _add_to_class(value, enum_setters)
        name = camel_to_snake_case(class_name)
        functions[name] = _wrap_function(getattr(module, name), class_name)
        setattr(module, name, functions[name])
    _add_pickling()
    return functions


def _add_pickling():
    """ITK pickles images since 5.3."""
    import itk

    if hasattr(itk, "dict_from_image"):
        return
    for template in (itk.Image, itk.VectorImage):
        for pixel in ("UC", "US", "SS", "F", "D"):
            for dimension in (2, 3):
                cls = getattr(template, f"{pixel}{dimension}", None)
                if cls is not None:
                    copyreg.pickle(cls, _reduce_image)
