# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' voxel-based extraction with the filters of this module, for the classes firstorder, glcm, gldm, glrlm, glszm and
ngtdm.

execute                      maps of an image and a mask; needs no PyRadiomics
RadiomicsFeatureExtractor    PyRadiomics' extractor with its image filters, but with these maps

doc/radiomics.md lists the settings, and where and why values differ from PyRadiomics.
"""

from __future__ import annotations

import logging
import math
import os
import platform
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from .. import _arrays, _core, _devices, _feature_maps, _image, _regions
from .._files import layouts, paths, writing
from .._parameters import MAX_LEVELS, WEIGHTING_NORMS
from . import _filters, _preparation
from . import _settings

if TYPE_CHECKING:
    from ._extractor import RadiomicsFeatureExtractor as RadiomicsFeatureExtractor
    from .._types import ImageLike, Path, Precision

__all__ = ["execute", "read_image"]

_logger = logging.getLogger(__name__)

# Maps of smaller images are computed and converted together.
_VOXELS_AT_ONCE = 2**20
# Threads that convert smaller images would wait for the lock of the interpreter.
_VOXELS_OF_A_TASK = 2**15

# A limit of the filters, whose own errors do not name PyRadiomics' settings.
_MAX_VOXELS_IN_WINDOW = 65535


def extremes_of(image, inside, settings, name):
    """The least and the greatest intensity that is used, as an array of the type of the image."""
    used = image.array[inside] if settings["maskedKernel"] else image.array
    where = "the mask" if settings["maskedKernel"] else None
    is_changed = name != "original" or settings.get("normalize") or settings.get("resampledPixelSpacing") is not None
    remedy = (
        "normalize, resampling and filters spread NaN and infinity from voxels outside of it, too: replace them in the image first, "
        "such as np.nan_to_num(x, posinf=0, neginf=0)"
    )
    given = _arrays.array_of(used, "used")
    what = "the image" if name == "original" else f"the image {name}"
    _regions.check_finite(given, None, what, where, nan_is_absent=False, remedy=remedy if is_changed else None)
    return np.array([used.min(), used.max()])


def bin_edges(extremes, settings):
    """The edges of the bins, as PyRadiomics computes them with NumPy, up to the greatest value: the level of a value is the
    number of edges that are not greater than it (numpy.digitize).

    extremes    Array of the least and the greatest value, of the type of the image.
    """
    # Integers of Python, which do not overflow as those of small types do.
    convert = int if extremes.dtype.kind in "iu" else extremes.dtype.type
    minimum, maximum = convert(extremes[0]), convert(extremes[1])
    count, width = settings["binCount"], settings["binWidth"]
    if count is not None:
        if count > MAX_LEVELS:
            raise ValueError(f"setting binCount is {count}, but at most {MAX_LEVELS} gray levels are possible")
        edges = np.histogram_bin_edges(extremes, count)
        # The greatest value belongs to the last bin.
        edges[-1] += 1
    else:
        lowest = minimum - (minimum % width)
        steps = (float(maximum) - float(lowest)) / width
        if not math.isfinite(float(maximum) + 2 * width):
            raise ValueError(f"setting binWidth is {width}, which is too wide for float64")
        if steps < MAX_LEVELS:
            edges = np.arange(lowest, maximum + 2 * width, width)
        else:
            raise ValueError(
                f"setting binWidth is {width}, which makes {steps:.0f} gray levels of intensities from {minimum} to {maximum}; "
                f"at most {MAX_LEVELS} are possible"
            )
    used = edges[edges <= maximum]
    if len(used) > MAX_LEVELS:
        raise ValueError(f"setting binCount is {count}, but at most {MAX_LEVELS} gray levels are possible")
    used = np.asarray(used, dtype=float)
    if not (len(used) and (np.diff(used) > 0).all()):
        raise ValueError(
            f"setting {'binWidth' if count is None else 'binCount'} makes bins that are too narrow for intensities from "
            f"{minimum} to {maximum} of type {extremes.dtype}"
        )
    return used


def _window_of(dimension, settings):
    """Size of the window along each axis of the array."""
    size = [2 * settings["kernelRadius"] + 1] * dimension
    if settings["force2D"]:
        axis = settings["force2Ddimension"]
        if axis >= dimension:
            raise ValueError(f"setting force2Ddimension is {axis}, but the image has {dimension} dimensions")
        size[axis] = 1
    if np.prod(size) > _MAX_VOXELS_IN_WINDOW:
        raise ValueError(
            f"setting kernelRadius is {settings['kernelRadius']}, which makes windows of {np.prod(size)} voxels; at most "
            f"{_MAX_VOXELS_IN_WINDOW} are possible"
        )
    return size


def classes_of(classes, settings, window, sizes, has_one_level=False):
    """Classes as _feature_maps.Request has them. Raises ValueError if settings do not fit the window.

    classes          Dict of the features by class.
    window, sizes    Of the window and of voxels, along each axis of the array.
    """
    norm = settings["weightingNorm"]
    values = {
        "aggregation": "average" if norm is None else "merge",
        "weighting_norm": norm if norm in WEIGHTING_NORMS else None,
        "distances": settings["distances"],
        "symmetric": settings["symmetricalGLCM"],
        # No two levels differ by more.
        "alpha": min(settings["gldm_a"], MAX_LEVELS),
        "voxel_array_shift": float(settings["voxelArrayShift"]),
    }
    numbers = {name: _settings.CLASSES[name].numbers() for name in classes}
    selected = {name: {each: numbers[name][each] for each in features} for name, features in classes.items()}
    try:
        return _feature_maps.classes_of(selected, values, window, sizes, False, has_one_level, order=-1)
    except ValueError as error:
        raise ValueError(f"setting {error}") from None


def check_classes(image, parameters):
    """Raise ValueError if the settings of a class do not fit the dimension of the image, before any class is computed."""
    for image_type in parameters.image_types:
        settings = parameters.settings_of(image_type)
        window = _window_of(image.array.ndim, settings)
        classes_of(dict.fromkeys(parameters.classes, ()), settings, window, image.spacing[::-1])


def edges_of_class(name, extremes, settings):
    # PyRadiomics' class of first order features converts the image before it computes edges.
    return bin_edges(extremes.astype(float) if name == "firstorder" else extremes, settings)


def has_one_level(extremes, edges):
    return bool(extremes[0] >= edges[-1])


def warn_of_one_level(name, settings):
    text = "there is one gray level, so that there is no texture"
    if settings["binCount"] is None:
        text = _feature_maps.ONE_LEVEL.format(settings["binWidth"])
        text = text.replace("bin_width", "binWidth").replace("number_of_gray_levels", "binCount")
    _logger.warning("image %s: %s", name, text)


def pixels_of(array, precision):
    """The array in C order with a type of the engines, without a change of values."""
    array = _arrays.without_int64(_arrays.array_of(array, "the image"), "the image").array
    if precision == "double":
        array = array.astype(np.float64)
    return _arrays.pixels_of(_arrays.array_of(array, "the image"), "the image")


def dtype_of(precision):
    """The type of maps."""
    return np.dtype(np.float32 if precision == "float" else np.float64)


class Maps:
    """The maps of an image in a region of interest, as arrays: of all planes, or slab by slab.

    image, roi    Volumes, cropped as PyRadiomics does.
    """

    def __init__(self, image, roi, settings, precision, name="original"):
        self._settings, self._name, self._has_warned, self._edges = settings, name, False, {}
        self._sizes = image.spacing[::-1]
        self._inside = np.ascontiguousarray(roi.array).view(np.uint8)
        self._extremes = extremes_of(image, roi.array, settings, name)
        self._background = float(settings["initValue"])
        _feature_maps.check_background(self._background, precision, "setting initValue")
        self._window = _window_of(roi.array.ndim, settings)
        self._pixels = pixels_of(image.array, precision)
        self.dtype = dtype_of(precision)
        self._device = _devices.devices_of_arrays(None, self._pixels.library)

    @property
    def device(self):
        """The name of the device that computes, or None for the CPU."""
        return None if self._device[0] < 0 else _core.device_name(self._device[0])

    def levels(self, classes):
        """The most gray levels of a class. Raises ValueError if they are too many."""
        return max(len(self._edges_of(name)) for name in classes)

    def _edges_of(self, name):
        if name not in self._edges:
            self._edges[name] = edges_of_class(name, self._extremes, self._settings).tolist()
        return self._edges[name]

    def groups(self, classes):
        """The classes, in their order, in lists of those that one call computes: their maps are small, and their bins are equal."""
        groups, before = [], None
        for name in classes:
            edges = self._edges_of(name)
            if edges == before and self._inside.size <= _VOXELS_AT_ONCE:
                groups[-1].append(name)
            else:
                groups.append([name])
            before = edges
        return groups

    def compute(self, classes, first=0, last=None):
        """Array of the maps of classes with the same bins, of the planes from first to last - 1; the features are the first axis.

        classes    Dict of the features by class.
        """
        depth, *plane = self._inside.shape
        last = depth if last is None else last
        # The planes that windows reach.
        anchor = [n // 2 for n in self._window]
        lower, upper = max(first - anchor[0], 0), min(last - 1 + self._window[0] - anchor[0], depth)
        numpy = _arrays.Library("NumPy")
        pixels = _arrays.Array(self._pixels.array[lower:upper], numpy)
        mask, selection = None, _arrays.Array(self._inside[first:last], numpy)
        if self._settings["maskedKernel"]:
            mask, selection = _arrays.Array(self._inside[lower:upper], numpy), None
        edges = self._edges_of(next(iter(classes)))
        is_flat = has_one_level(self._extremes, edges)
        if is_flat and list(classes) != ["firstorder"] and not self._has_warned:
            warn_of_one_level(self._name, self._settings)
            self._has_warned = True
        maps = np.empty((sum(map(len, classes.values())), last - first, *plane), self.dtype)
        request = _feature_maps.Request(
            pixels,
            mask,
            selection,
            box=[slice(first - lower, last - lower), *(slice(0, n) for n in plane)],
            window=self._window,
            anchor=anchor,
            classes=classes_of(classes, self._settings, self._window, self._sizes, is_flat),
            discretization=_feature_maps.discretization({"bin_edges": edges}),
            dtype=self.dtype.name,
            background=self._background,
            threads=writing.Threads.number,
            device=self._device,
        )
        request.run((), maps.ctypes.data, maps[0].size)
        return maps


def check_precision(precision):
    if precision not in ("float", "double"):
        raise ValueError(f"precision is {precision!r}, but must be float or double")


def general_diagnostics(parameters):
    libraries = {"ITK": version for version in _filters.installed("itk-core").values()}
    for image_type in parameters.image_types:
        libraries.update(_filters.versions(image_type))
    return {
        "diagnostics_Versions_VoxelMaps": _filters.installed("voxelmaps")["voxelmaps"],
        "diagnostics_Versions_Numpy": np.__version__,
        **{f"diagnostics_Versions_{name}": version for name, version in sorted(libraries.items())},
        "diagnostics_Versions_Python": platform.python_version(),
        "diagnostics_Configuration_Settings": {
            **parameters.settings,
            **({"voxelBased": True} if parameters.voxel_based else {}),
        },
        "diagnostics_Configuration_EnabledImageTypes": parameters.image_types,
    }


def read_image(path: Path, segment: int | None = None) -> ImageLike:
    """The image of a file, or of a folder with one DICOM series, as all functions of this package read it: an ITK image, or one of
    SimpleITK if ITK is not installed.

    path       NIfTI, NRRD, MetaImage, PNG or DICOM; a DICOM segmentation is a label map of the numbers of its segments.
    segment    Number of the only segment to read of a DICOM segmentation, whose segments may overlap.

    Raises ValueError for corrupt files, of which ITK reads many without an error, and FileNotFoundError. Needs nibabel for NIfTI,
    pydicom and SimpleITK for DICOM, SimpleITK for the others.

    Examples

    >>> import itk, numpy as np
    >>> from voxelmaps import radiomics
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.int16)), "ct.nii.gz")
    >>> itk.size(radiomics.read_image("ct.nii.gz"))
    itkSize3 ([5, 4, 3])
    """
    return _image.to_itk_or_simpleitk(_image.read(path, "the image", segment=segment))


def images_of(prepared, parameters):
    """Tuples of the name of an image, the image, and the settings of its maps, one by one."""
    for image_type in parameters.image_types:
        settings = parameters.settings_of(image_type)
        for name, volume in _filters.images(prepared, image_type, settings):
            yield name, volume, settings


def execute(
    image: Path | ImageLike,
    mask: Path | ImageLike,
    params: Path | Mapping[str, Any] | None = None,
    *,
    out_dir: Path | None = None,
    precision: Precision = "float",
    hashes: bool = False,
    images: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Compute feature maps as RadiomicsFeatureExtractor(params).execute(image, mask, voxelBased=True) of PyRadiomics does; or with
    voxelBased=False the values of the region, one number per feature, with the classes shape and shape2D.

    image, mask    Images of ITK or SimpleITK, or paths of files, which SimpleITK reads, or of folders with a DICOM series.
    params         Path of a YAML or JSON file of parameters, or a dict with the same sections.
    out_dir        Folder for the maps, such as original_glcm_Contrast.nii.gz. They are computed slab by slab and written as
                   they are computed, so that memory holds a slab of the maps of one class; the dict has their paths. Files
                   appear when all are complete, and replace those of the same names.
    precision      "float" for maps of float32, "double" for float64, as PyRadiomics' are.
    hashes         Whether diagnostics contain the hashes of image and mask.
    images         Whether the dict also has the images that maps are computed from, such as "wavelet-LLH", each before its maps.
    settings       Settings, which come before those of params, but for those of an image type there; also featureClass,
                   imageType and voxelBased.

    Returns a dict with PyRadiomics' keys in its order: diagnostics, unless additionalInfo is off, and maps, such as
    "original_glcm_Contrast". Maps are images of the library of the image; those of files are images of SimpleITK. They cover
    the bounding box of the mask and kernelRadius voxels around it, as far as the image reaches. Values of a region are float64.

    Raises ValueError, TypeError, NotImplementedError or FileNotFoundError with the name of the setting that is not valid, not
    known, or not available here; ImportError with the package that an image type needs; OSError with the path of a file that
    cannot be written.

    Examples

    >>> import itk, numpy as np
    >>> from voxelmaps import radiomics
    >>> x = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> image, mask = itk.image_from_array(x), itk.image_from_array((x > 600).astype(np.uint8))
    >>> maps = radiomics.execute(image, mask, featureClass={"glcm": ["Contrast"]}, binWidth=25, additionalInfo=False)
    >>> {name: itk.array_from_image(map).shape for name, map in maps.items()}
    {'original_glcm_Contrast': (5, 10, 10)}
    >>> classes = {"firstorder": ["Mean"], "shape": ["VoxelVolume"]}
    >>> values = radiomics.execute(image, mask, featureClass=classes, voxelBased=False, additionalInfo=False)
    >>> {name: float(value) for name, value in values.items()}
    {'original_shape_VoxelVolume': 399.0, 'original_firstorder_Mean': 800.0}
    """
    check_precision(precision)
    parameters = _settings.read(params, settings)
    _filters.check_libraries(parameters.image_types)
    if not parameters.voxel_based:
        if out_dir is not None or images:
            given = "images is True" if images else f"out_dir is {out_dir!r}"
            raise ValueError(f"{given}, but voxelBased is False, so that there are values of the region and no maps")
        from ._values import execute as execute_regions

        return execute_regions(image, mask, parameters, hashes)
    if out_dir is not None:
        given = {"the image": image, "the mask": mask, "the parameter file": params}
        read = [(what, os.fspath(value)) for what, value in given.items() if isinstance(value, (str, os.PathLike))]
        names = [f"{key}.nii.gz" for key in all_keys(parameters, images)]
        paths.check_outputs(read, [("out_dir", os.fspath(out_dir), names)])
    volume, convert = _image.load(image, "the image")
    mask_volume, _ = _image.load(mask, "the mask", grid=volume, segment=parameters.settings["label"])
    prepared = _preparation.prepare(volume, mask_volume, parameters.settings, hashes)
    check_classes(prepared.image, parameters)
    result = {}
    if parameters.settings["additionalInfo"]:
        result.update(general_diagnostics(parameters), **prepared.diagnostics)
    if parameters.settings["voxelBatch"] is not None:
        _logger.info("setting voxelBatch has no effect: all voxels are computed at once")
    if out_dir is not None:
        layout = layouts.layout("nii.gz", all_keys(parameters, images))
        with (
            paths.output_folder(out_dir) as folder,
            writing.Writer(prepared.image, dtype_of(precision), folder, layout) as writer,
        ):
            for name, of_maps, own in images_of(prepared, parameters):
                if images:
                    result[name] = writing.write_image(of_maps, folder.path / layout.files[name], folder)
                maps = Maps(of_maps, prepared.roi, own, precision, name) if parameters.classes else None
                for class_name, keys in parameters.keys(name).items():
                    writer.write(maps, class_name, keys)
                    result.update((key, folder.path / layout.files[key]) for key in keys.values())
        return result
    # Images of the caller's library are made while other maps are computed.
    tasks = {}
    # More threads would wait for the lock of the interpreter between copies of small images.
    threads = min(writing.number_of_threads(), 3 + prepared.roi.array.size // _VOXELS_AT_ONCE)
    with ThreadPoolExecutor(threads) as executor:
        for name, of_maps, own in images_of(prepared, parameters):
            if images:
                result[name] = convert(of_maps)
            maps = Maps(of_maps, prepared.roi, own, precision, name) if parameters.classes else None
            of_classes = parameters.keys(name)
            for group in maps.groups(of_classes) if maps else ():
                arrays = maps.compute({class_name: list(of_classes[class_name]) for class_name in group})
                for key, array in zip((key for each in group for key in of_classes[each].values()), arrays):
                    if array.size < _VOXELS_OF_A_TASK:
                        result[key] = convert(of_maps.with_array(array))
                    else:
                        result[key] = None
                        tasks[key] = executor.submit(convert, of_maps.with_array(array))
    return result | {key: task.result() for key, task in tasks.items()}


def all_keys(parameters, images=False):
    """Keys of all maps that an image, of 2 or 3 dimensions, can have; and those of the images."""
    names = list({**parameters.image_names(3), **parameters.image_names(2)})
    return [key for name in names for key in parameters.all_keys(name)] + (names if images else [])


def __getattr__(name):
    # PyRadiomics is imported only by who asks for its extractor.
    if name == "RadiomicsFeatureExtractor":
        try:
            from ._extractor import RadiomicsFeatureExtractor
        except ImportError as error:
            raise ImportError(f"RadiomicsFeatureExtractor needs PyRadiomics; execute() does not: {error}") from None
        return RadiomicsFeatureExtractor
    raise AttributeError(f"module {__name__} has no attribute {name}")
