# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PyRadiomics' voxel-based extraction with the filters of this module, for the classes firstorder, glcm, gldm, glrlm, glszm and
ngtdm.

execute                      maps of an image and a mask; needs no PyRadiomics
RadiomicsFeatureExtractor    PyRadiomics' extractor with its image filters, but with these maps

doc/radiomics.md lists the settings, and where and why values differ from PyRadiomics.
"""

from __future__ import annotations

import functools
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Mapping

from .. import _image, _outputs
from .._files import layouts, paths, writing
from .._files.dicom import label_of
from .._maps import entry_of
from .._parameters import FEATURE_MAPS
from .._progress import shown
from . import _filters, _preparation, _settings, _values
from ._filters import images_of
from ._maps import VOXELS_AT_ONCE, Maps, check_classes, dtype_of

if TYPE_CHECKING:
    from ._extractor import RadiomicsFeatureExtractor as RadiomicsFeatureExtractor
    from .._types import ImageLike, Path, Precision, Progress

__all__ = ["execute", "read_image"]

_logger = logging.getLogger(__name__)

# Threads that convert smaller images would wait for the lock of the interpreter.
_VOXELS_OF_A_TASK = 2**15


def read_image(path: Path, segment: int | str | None = None, image: Path | ImageLike | None = None) -> ImageLike:
    """Read the image of a file, or of a folder with one DICOM series, as all functions of this package do.

    Parameters
    ----------
    path : path
        NIfTI, NRRD, MetaImage, PNG or DICOM; a DICOM segmentation is a label map of the numbers of its segments. Also an RTSTRUCT, or
        a pydicom.Dataset of one.
    segment : int or str, optional
        Number or name of the only segment to read of a DICOM segmentation, whose segments may overlap, or of the only structure of an
        RTSTRUCT.
    image : image or path, optional
        Image on whose grid an RTSTRUCT becomes a mask, and segments are placed.

    Returns
    -------
    itk.Image or SimpleITK.Image
        An image of SimpleITK if ITK is not installed.

    Raises
    ------
    ValueError
        For corrupt files, of which ITK reads many without an error.
    FileNotFoundError
        If there is no such file.
    ImportError
        Without nibabel for NIfTI, pydicom and SimpleITK for DICOM, SimpleITK for the others.

    Examples
    --------
    >>> import itk, numpy as np
    >>> from voxelmaps import radiomics
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.int16)), "ct.nii.gz")
    >>> itk.size(radiomics.read_image("ct.nii.gz"))
    itkSize3 ([5, 4, 3])
    """
    grid = None if image is None else _image.load(image, "the image")[0]
    options = {"segment": label_of(path, segment), "grid": grid, "image": image}
    return _image.to_itk_or_simpleitk(_image.read(path, "the image" if image is None else "the mask", **options))


def execute(
    image: Path | ImageLike,
    mask: Path | ImageLike,
    params: Path | Mapping[str, Any] | None = None,
    *,
    out_dir: Path | None = None,
    overwrite: bool = False,
    precision: Precision = "float",
    hashes: bool = False,
    images: bool = False,
    progress: Progress = None,
    **settings: Any,
) -> dict[str, Any]:
    """Compute the feature maps, or with voxelBased=False the values of the region, that PyRadiomics computes.

    This is RadiomicsFeatureExtractor(params).execute(image, mask, voxelBased=True) of PyRadiomics. Values of the region are one number
    per feature, also of the classes shape and shape2D.

    Parameters
    ----------
    image : image or path
        Image of ITK or SimpleITK, or path of a file or of a folder with a DICOM series.
    mask : image or path
        Mask, of the same kinds; or a DICOM segmentation or an RTSTRUCT, whose label may be a name.
    params : path or dict, optional
        YAML or JSON file of parameters, or a dict with the same sections.
    out_dir : path, optional
        Folder for the maps, such as original_glcm_Contrast.nii.gz. They are written slab by slab, so that memory holds a slab of the
        maps of one class; the dict has their paths. Files appear when all are complete, with provenance.json.
    overwrite : bool, default False
        Whether maps of other images or settings, and files of other programs, are replaced.
    precision : {"float", "double"}, default "float"
        Type of the maps: float32, or float64, as in PyRadiomics.
    hashes : bool, default False
        Whether diagnostics contain the hashes of image and mask.
    images : bool, default False
        Whether the dict also has the images that maps are computed from, such as "wavelet-LLH", each before its maps.
    progress : callable or bool, optional
        Function of the fraction that is finished, as in voxelmaps.feature_maps, or True for a bar of tqdm.
    **settings
        Settings, which precede those of params, except for those of an image type there; also featureClass, imageType and voxelBased.

    Returns
    -------
    dict
        PyRadiomics' keys in its order: diagnostics, unless additionalInfo is off, and maps, such as "original_glcm_Contrast". Maps are
        images of the library of the image, of SimpleITK for files. They cover the bounding box of the mask and kernelRadius voxels
        around it, as far as the image reaches. Values of a region are float64.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        For a setting that is not valid, not known, or not available here, with its name.
    FileExistsError
        For maps of another run, or files of other programs, unless overwrite is True; ValueError for an input.
    FileNotFoundError, OSError
        For a file that does not exist or cannot be written, with its path.
    ImportError
        With the package that an image type needs.

    Examples
    --------
    >>> import itk, numpy as np
    >>> from voxelmaps import radiomics
    >>> array = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> image, mask = itk.image_from_array(array), itk.image_from_array((array > 600).astype(np.uint8))
    >>> maps = radiomics.execute(image, mask, featureClass={"glcm": ["Contrast"]}, binWidth=25, additionalInfo=False)
    >>> {name: itk.array_from_image(map).shape for name, map in maps.items()}
    {'original_glcm_Contrast': (5, 10, 10)}
    >>> classes = {"firstorder": ["Mean"], "shape": ["VoxelVolume"]}
    >>> values = radiomics.execute(image, mask, featureClass=classes, voxelBased=False, additionalInfo=False)
    >>> {name: float(value) for name, value in values.items()}
    {'original_shape_VoxelVolume': 399.0, 'original_firstorder_Mean': 800.0}
    """
    FEATURE_MAPS["precision"].check(precision, "precision")
    if progress is not None:
        FEATURE_MAPS["progress"].check(progress, "progress")
    parameters = _settings.read(params, settings)
    label = label_of(mask, parameters.settings["label"])
    parameters = parameters._replace(settings={**parameters.settings, "label": label})
    _filters.check_libraries(parameters.image_types)
    if not parameters.voxel_based and (out_dir is not None or images):
        given = "images is True" if images else f"out_dir is {out_dir!r}"
        raise ValueError(f"{given}, but voxelBased is False, so that there are values of the region and no maps")
    layout = layouts.layout("nii.gz", all_keys(parameters, images))
    if out_dir is not None:
        inputs = {"the image": image, "the mask": mask, "the parameter file": params}
        names = [*layout.names(), paths.PROVENANCE]
        _outputs.check_inputs(
            [(what, _image.source(value)) for what, value in inputs.items()], [("out_dir", os.fspath(out_dir), names)]
        )
    volume, convert = _image.load(image, "the image")
    mask_volume, _ = _image.load(mask, "the mask", grid=volume, segment=label, image=image)
    if not parameters.voxel_based:
        # Values do not depend on voxels around the region.
        of_region = {**parameters.settings, "kernelRadius": 0}
        prepared = _preparation.prepare(volume, mask_volume, of_region, hashes)
        with shown(progress, voxels_of_jobs(prepared, parameters), "execute"):
            return _values.values_of(prepared, parameters)
    prepared = _preparation.prepare(volume, mask_volume, parameters.settings, hashes)
    check_classes(prepared.image, parameters)
    if parameters.settings["voxelBatch"] is not None:
        _logger.info("setting voxelBatch has no effect: all voxels are computed at once")
    result = _preparation.diagnostics(prepared, parameters)
    with shown(progress, voxels_of_jobs(prepared, parameters), "execute"):
        if out_dir is not None:
            inputs = {"image": entry_of(image, volume), "mask": entry_of(mask, mask_volume)}
            folder = _outputs.MapsFolder(out_dir, inputs, parameters.origin_of_maps(precision), overwrite)
            folder.check(layout.names())
            return result | _write_maps(prepared, parameters, precision, images, folder, layout)
        return result | _maps_in_memory(prepared, parameters, precision, images, convert)


def voxels_of_jobs(prepared, parameters):
    """For the progress: the voxels of all maps, classes and images, or of the images of values of regions."""
    names = parameters.image_names(prepared.image.array.ndim)
    count = sum(len(parameters.keys(name)) for name in names) if parameters.voxel_based else len(names)
    return prepared.roi.array.size * count


def _write_maps(prepared, parameters, precision, images, maps_folder, layout):
    """Dict of the paths of maps and images by key."""
    result, entries = {}, {}
    with paths.output_folder(maps_folder.path) as folder:
        with writing.Writer(prepared.image, dtype_of(precision), folder, layout) as writer:
            for name, image, settings in images_of(prepared, parameters):
                if images:
                    result[name] = writing.write_image(image, folder.path / layout.files[name], folder)
                maps = Maps(image, prepared.roi, settings, precision, name)
                for class_name, keys in parameters.keys(name).items():
                    writer.write(maps, class_name, keys)
                    entries.update((key, {"file": layout.files[key]}) for key in keys.values())
                    result.update((key, folder.path / layout.files[key]) for key in keys.values())
        maps_folder.publish(folder, entries, {}, "voxelmaps.radiomics.execute")
    return result


def _maps_in_memory(prepared, parameters, precision, images, convert):
    """Dict of the maps and images by key, converted to images of the caller's library while other maps are computed."""
    made, voxels = [], prepared.roi.array.size
    # More threads would wait for the lock of the interpreter between copies of small images.
    with ThreadPoolExecutor(min(writing.number_of_threads(), 3 + voxels // VOXELS_AT_ONCE)) as executor:
        convert_all = functools.partial(map if voxels < _VOXELS_OF_A_TASK else executor.map, convert)
        for name, image, settings in images_of(prepared, parameters):
            if images:
                made.append(([name], [convert(image)]))
            maps = Maps(image, prepared.roi, settings, precision, name)
            for group in maps.groups(parameters.keys(name)):
                made.append((_settings.flat(group), convert_all(map(image.with_array, maps.compute(group)))))
    return {key: value for keys, values in made for key, value in zip(keys, values)}


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
