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
"""PyRadiomics' voxel-based extraction with the filters of this module, for the classes firstorder, glcm, gldm, glrlm, glszm and
ngtdm.

execute                      maps of an image and a mask; needs no PyRadiomics
RadiomicsFeatureExtractor    PyRadiomics' extractor, with its image filters, which computes these maps here

doc/radiomics.md lists the settings, and where values differ from PyRadiomics' and why.
"""

import importlib.metadata
import itertools
import logging
import platform
from typing import Any, Dict

import numpy as np

from . import _radiomics_files, _radiomics_images, _radiomics_parameters

__all__ = ["execute", "read_image"]

_logger = logging.getLogger(__name__)

# Limits of the filters, whose own errors do not name PyRadiomics' settings.
_MAX_LEVELS = 65535
_MAX_VOXELS_IN_WINDOW = 65535
_MAX_OFFSETS = 4096


def bin_edges(values, settings):
    """The edges of the bins, as PyRadiomics computes them with NumPy, up to the greatest value: the level of a value is the
    number of edges that are not greater than it (numpy.digitize)."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        bad = values[~np.isfinite(values)][0]
        raise ValueError(f"the image has the intensity {bad} where it is used, but intensities must be finite")
    # Integers of Python, which do not overflow as those of small types do.
    convert = int if values.dtype.kind in "iu" else values.dtype.type
    minimum, maximum = convert(values.min()), convert(values.max())
    count, width = settings["binCount"], settings["binWidth"]
    if count is not None:
        if count > _MAX_LEVELS:
            raise ValueError(f"setting binCount is {count}, but at most {_MAX_LEVELS} gray levels are possible")
        edges = np.histogram(values, count)[1]
        # The greatest value belongs to the last bin.
        edges[-1] += 1
    else:
        lowest = minimum - (minimum % width)
        steps = (float(maximum) - float(lowest)) / width
        if steps < _MAX_LEVELS:
            edges = np.arange(lowest, maximum + 2 * width, width)
        else:
            raise ValueError(
                f"setting binWidth is {width}, which makes {steps:.0f} gray levels of intensities from {minimum} to {maximum}; "
                f"at most {_MAX_LEVELS} are possible"
            )
    used = edges[edges <= maximum]
    if len(used) > _MAX_LEVELS:
        raise ValueError(f"setting binCount is {count}, but at most {_MAX_LEVELS} gray levels are possible")
    used = np.asarray(used, dtype=float)
    if not (np.diff(used) > 0).all():
        raise ValueError(
            f"setting {'binWidth' if count is None else 'binCount'} makes bins that are too narrow for intensities from "
            f"{minimum} to {maximum} of type {values.dtype}"
        )
    return used


def _window_size(dimension, settings):
    """Size of the window, in the order x, y, z."""
    size = [2 * settings["kernelRadius"] + 1] * dimension
    if settings["force2D"]:
        axis = settings["force2Ddimension"]
        if axis >= dimension:
            raise ValueError(
                f"setting force2Ddimension is {axis}, but the image has {dimension} dimensions, counted from 0"
            )
        size[dimension - 1 - axis] = 1
    if np.prod(size) > _MAX_VOXELS_IN_WINDOW:
        raise ValueError(
            f"setting kernelRadius is {settings['kernelRadius']}, which makes windows of {np.prod(size)} voxels; at most "
            f"{_MAX_VOXELS_IN_WINDOW} are possible"
        )
    return size


def _offsets(distances, window):
    """One of each two opposite steps whose greatest component is one of the distances, in the order x, y, z and with the sign
    that PyRadiomics chooses. Steps that do not fit into the window have no pair of voxels and are left out."""
    ranges = [range(min(max(distances), n - 1), -min(max(distances), n - 1) - 1, -1) for n in reversed(window)]
    steps = itertools.product(*ranges)
    zero = (0,) * len(window)
    offsets = [list(reversed(s)) for s in steps if s > zero and max(map(abs, s)) in distances]
    if not 1 <= len(offsets) <= _MAX_OFFSETS:
        raise ValueError(
            f"setting distances is {distances}, which makes {len(offsets)} directions in windows of {window} voxels, but there "
            f"must be 1 to {_MAX_OFFSETS}"
        )
    return offsets


def _class_parameters(name, settings, window, has_one_level):
    """Parameters of the filter that only this class has."""
    if name == "firstorder":
        return {"voxel_array_shift": float(settings["voxelArrayShift"])}
    if name == "glszm":
        return {}
    if name == "ngtdm":
        return {"offsets": _offsets(settings["distances"], window)}
    directions = {"aggregation": "average" if settings["weightingNorm"] is None else "merge"}
    if name == "glcm":
        offsets = _offsets(settings["distances"], window)
        return {
            **directions,
            "offsets": offsets,
            "symmetric": settings["symmetricalGLCM"],
            "region_has_one_level": has_one_level,
        }
    if name == "gldm":
        # No two levels differ by more.
        return {"offsets": _offsets(settings["distances"], window), "alpha": min(settings["gldm_a"], _MAX_LEVELS)}
    return {**directions, "offsets": _offsets([1], window), "skip_directions_without_pairs": True}


def check_classes(image, parameters):
    """Raise ValueError if the settings of a class do not fit the dimension of the image, before any class is computed."""
    settings = parameters.class_settings
    for name in parameters.classes:
        _class_parameters(name, settings, _window_size(image.array.ndim, settings), has_one_level=False)


def filter_of_class(image, roi, name, features, settings, precision):
    """The filter that computes features of one class, as the components of its output.

    image, roi    Volumes, cropped as PyRadiomics does.
    """
    from . import _images
    from ._itk import itk

    feature_class = _radiomics_parameters.CLASSES[name]
    inside = roi.array
    used = image.array[inside] if settings["maskedKernel"] else image.array.ravel()
    # PyRadiomics' class of first order features converts the image before it computes edges.
    edges = bin_edges(used.astype(float) if name == "firstorder" else used, settings)
    has_one_level = bool(used.min() >= edges[-1])
    array = _images.native(image.array)
    if precision == "double":
        array = array.astype(np.float64)
    input_image = _images.image_of(array, itk.image_view_from_array)
    # First order features contain the volume of a voxel.
    input_image.SetSpacing(image.spacing)
    window = _window_size(inside.ndim, settings)
    background = float(settings["initValue"])
    if precision == "float" and np.isfinite(background) and abs(background) > np.finfo(np.float32).max:
        raise ValueError(
            f"setting initValue is {background}, but float32 holds values up to {np.finfo(np.float32).max}"
        )
    output = itk.VectorImage[itk.D if precision == "double" else itk.F, inside.ndim]
    numbers = feature_class.numbers()
    filter = getattr(itk, feature_class.filter)[type(input_image), output].New(
        input_image,
        discretization_method="edges",
        bin_edges=edges.tolist(),
        window_size=window,
        background_value=background,
        features=[numbers[feature] for feature in features],
        **{"mask_image" if settings["maskedKernel"] else "selection_image": inside.view(np.uint8)},
        **_class_parameters(name, settings, window, has_one_level),
    )
    # The C++ filter does not keep the array alive that holds the voxels.
    filter.voxelmaps_input = input_image
    return filter


def maps_of_class(image, roi, name, features, settings, precision):
    """Yield the features of one class and their maps, as volumes."""
    from ._itk import itk

    filter = filter_of_class(image, roi, name, features, settings, precision)
    filter.Update()
    maps = itk.array_view_from_image(filter.GetOutput())
    for i, feature in enumerate(features):
        yield feature, image.with_array(np.ascontiguousarray(maps[..., i]))


def check_precision(precision):
    if precision not in ("float", "double"):
        raise ValueError(f"precision is {precision!r}, but must be float or double")


def _general_diagnostics(parameters):
    from ._itk import itk

    return {
        "diagnostics_Versions_VoxelMaps": importlib.metadata.version("itk-voxelmaps"),
        "diagnostics_Versions_Numpy": np.__version__,
        "diagnostics_Versions_ITK": itk.Version.GetITKVersion(),
        "diagnostics_Versions_Python": platform.python_version(),
        "diagnostics_Configuration_Settings": {**parameters.settings, "voxelBased": True},
        "diagnostics_Configuration_EnabledImageTypes": parameters.image_types,
    }


def read_image(path):
    """The ITK image of a file, or of a folder with one DICOM series. Raises ValueError for damaged files, of which ITK reads many
    without an error, and FileNotFoundError. Needs SimpleITK."""
    return _radiomics_images.to_itk(_radiomics_images.load(path, "the image")[0])


def execute(image, mask, params=None, *, out_dir=None, precision="float", hashes=False, **settings) -> Dict[str, Any]:
    """Compute feature maps as RadiomicsFeatureExtractor(params).execute(image, mask, voxelBased=True) of PyRadiomics does.

    image, mask    Images of ITK or SimpleITK, or paths of files, which SimpleITK reads, or of folders with a DICOM series.
    params         Path of a YAML or JSON file of parameters, or a dict with the same sections.
    out_dir        Folder for the maps, such as original_glcm_Contrast.nii.gz. They are computed slab by slab and written as
                   they are computed, so that memory holds a slab of the maps of one class; the dict has their paths. Files
                   appear when they are whole, class by class, and replace those of the same names.
    precision      "float" for maps of float32, "double" for float64, as PyRadiomics' are.
    hashes         Whether diagnostics contain the hashes of image and mask.
    settings       Settings, which come before those of params; also featureClass and imageType.

    Returns a dict with PyRadiomics' keys in its order: diagnostics, unless additionalInfo is off, and maps, such as
    "original_glcm_Contrast". Maps are images of the library of the image; those of files are images of SimpleITK. They cover
    the bounding box of the mask and kernelRadius voxels around it, as far as the image reaches.

    Raises ValueError, TypeError, NotImplementedError or FileNotFoundError with the name of the setting that is not valid, not
    known, or not available here; OSError with the path of a file that cannot be written.
    """
    check_precision(precision)
    parameters = _radiomics_parameters.read(params, settings)
    volume, convert = _radiomics_images.load(image, "the image")
    mask_volume, _ = _radiomics_images.load(mask, "the mask")
    prepared = _radiomics_images.prepare(volume, mask_volume, parameters.settings, hashes)
    check_classes(prepared.image, parameters)
    result = {}
    if parameters.settings["additionalInfo"]:
        result.update(_general_diagnostics(parameters), **prepared.diagnostics)
    if parameters.settings["voxelBatch"] is not None:
        _logger.info("setting voxelBatch has no effect: all voxels are computed at once")
    if out_dir is not None:
        with _radiomics_files.output_folder(out_dir) as folder:
            for name, features in parameters.classes.items():
                filter = filter_of_class(*prepared[:2], name, features, parameters.class_settings, precision)
                keys = [f"original_{name}_{feature}" for feature in features]
                written = _radiomics_files.write_maps(filter, prepared.image, keys, folder)
                result.update((key, file.publish()) for key, file in written.items())
        return result
    for name, features in parameters.classes.items():
        maps = maps_of_class(*prepared[:2], name, features, parameters.class_settings, precision)
        for feature, volume in maps:
            result[f"original_{name}_{feature}"] = convert(volume)
    return result


def __getattr__(name):
    # PyRadiomics is imported only by who asks for its extractor.
    if name == "RadiomicsFeatureExtractor":
        try:
            from ._radiomics_extractor import RadiomicsFeatureExtractor
        except ImportError as error:
            raise ImportError(f"RadiomicsFeatureExtractor needs PyRadiomics; execute() does not: {error}") from None
        return RadiomicsFeatureExtractor
    raise AttributeError(f"module {__name__} has no attribute {name}")
