# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Public functions that read DICOM series, and feature maps that were written to files."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping

import numpy as np

from . import _image, _outputs
from ._files import library, paths
from ._files.writing import FEATURE_NAMES
from ._maps import FeatureMaps, Geometry, entry_of, provenance

if TYPE_CHECKING:
    from ._types import ImageLike, Path

_SUFFIXES = (".nii.gz", ".nii", ".nrrd", ".mha")


def _stem(name: str) -> str:
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


def _component_names(path: pathlib.Path) -> list[str]:
    """The names of the components of an image, if the file has them."""
    if not path.name.endswith((".nrrd", ".mha")):
        return []
    reader = library("SimpleITK", f"reading {path}").ImageFileReader()
    reader.SetFileName(str(path))
    reader.ReadImageInformation()
    names = reader.GetMetaData(FEATURE_NAMES) if reader.HasMetaDataKey(FEATURE_NAMES) else ""
    return [name for name in names.split(",") if name]


def _maps_of_folder(folder: pathlib.Path) -> FeatureMaps:
    record = _outputs.read_record(folder)
    if record is None:
        names = sorted(each.name for each in folder.iterdir() if each.name.endswith(_SUFFIXES))
        files = {_stem(name): folder / name for name in names}
    elif not record["complete"]:
        raise ValueError(f"the run that has written {folder} was interrupted: repeat it")
    else:
        files = {str(key): folder / str(entries["file"]) for key, entries in record["maps"].items()}
    origin = record or {"inputs": {}, "settings": {}}
    inputs = {**origin["inputs"], "maps": entry_of(folder)}
    if not files:
        folders = ", ".join(sorted(each.name for each in folder.glob("label-*")))
        raise ValueError(f"{folder} has no maps" + (f": read those of a label, in {folders}" if folders else ""))
    array, first = None, None
    for i, path in enumerate(files.values()):
        volume, _ = _image.load(path, "the map")
        if volume.array.ndim > len(volume.spacing):
            raise ValueError(f"{path} has {volume.array.shape[-1]} components, but is not alone: read it by its path")
        if first is None or array is None:
            first, array = volume, np.empty((len(files), *volume.array.shape), volume.array.dtype)
        difference = _image.difference_of_grids(first, volume, str(path), str(next(iter(files.values()))))
        if difference is not None:
            raise ValueError(f"{difference}; files of one folder must be maps of one case")
        if volume.array.dtype != array.dtype:
            raise ValueError(f"{path} has values of {volume.array.dtype}, but the maps before it have {array.dtype}")
        array[i] = volume.array
    assert first is not None and array is not None
    known = {"inputs": inputs, "settings": origin["settings"]}
    return FeatureMaps(files, array, (), Geometry(*first[1:]), provenance=known)


def read_maps(path: Path, names: Iterable[str] | None = None) -> FeatureMaps:
    """Read feature maps that were written to files.

    Parameters
    ----------
    path : path
        Folder of the maps of a case that `voxelmaps maps` or voxelmaps.radiomics.execute has written, in any format, also with the
        names of nnU-Net; another folder of files of one map each; or an image whose components are maps, as itk.imwrite and the C++
        example FeatureMaps write it.
    names : list of str, optional
        Names of the components of an image in a file that has none, such as NIfTI.

    Returns
    -------
    FeatureMaps
        Maps in an array of NumPy, with the geometry of the files. All files are checked as check_image_file does.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    ValueError
        If files are truncated or corrupt, are not on the same grid, or have no names.
    ImportError
        Without nibabel for NIfTI, or SimpleITK for NRRD and MetaImage.

    Examples
    --------
    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((4, 5, 6, 2), np.float32), is_vector=True), "maps.nrrd")
    >>> maps = voxelmaps.read_maps("maps.nrrd", names=["Mean", "Minimum"])
    >>> list(maps), maps.array.shape
    (['Mean', 'Minimum'], (2, 4, 5, 6))
    """
    place = pathlib.Path(paths.utf8(paths.text_of(path, "the path"), "the path"))
    if not place.exists():
        raise FileNotFoundError(f"{place} does not exist")
    if place.is_dir():
        if names is not None:
            raise ValueError(f"names are given, but {place} is a folder, whose files have names")
        return _maps_of_folder(place)
    volume, _ = _image.load(place, "the map")
    is_single = volume.array.ndim == len(volume.spacing)
    array = volume.array[np.newaxis] if is_single else np.ascontiguousarray(np.moveaxis(volume.array, -1, 0))
    given = [names] if isinstance(names, str) else [str(name) for name in names or ()]
    chosen = given or _component_names(place) or [_stem(place.name)] * is_single
    if not chosen:
        raise ValueError(f"{place} has {len(array)} components without names: pass names")
    if len(chosen) != len(array) or len(set(chosen)) != len(array):
        raise ValueError(f"{place} has {len(array)} components, but the names are {', '.join(chosen)}")
    return FeatureMaps(chosen, array, (), Geometry(*volume[1:]), provenance=provenance({"maps": place}, {}))


def read_dicom_series(
    folder: Path,
    series: str | None = None,
    allow_uneven_slices: bool = False,
    select: Mapping[str, Any] | None = None,
    suv: Literal["bw", "lbm", "lbm_james", "bsa"] | None = None,
) -> ImageLike:
    """Read a DICOM series as a 3D image, and reject series that are not one evenly spaced volume.

    Slices, also those of multi-frame files, are ordered along their normal. All files that are or appear to be DICOM must be complete.
    Sizes, spacing, orientation, frame of reference, echo time and b-value must agree, no image or position may occur twice, and steps must
    agree with their median and the normal, within 1 % or 0.01 mm (at most 10 %).

    Parameters
    ----------
    folder : path
        The folder with the files; subfolders are ignored. Or one file, of one or more frames.
    series : str, optional
        SeriesInstanceUID; not needed if the folder has one series with images.
    allow_uneven_slices : bool, default False
        Read slices with missing or uneven steps as if they were even, with a warning.
    select : dict, optional
        What distinguishes the image to read in a series of several, such as echoes or b-values, by DICOM keyword: {"EchoTime": 4.6}.
        The error without it lists them.
    suv : {"bw", "lbm", "lbm_james", "bsa"}, optional
        Convert a PET series to standardized uptake values: activity divided by the injected dose, decayed to the time of the image, per
        body weight, lean body mass by the formula of Janmahasatian or of James (g/ml), or body surface area by that of Du Bois (cm2/ml).

    Returns
    -------
    itk.Image or SimpleITK.Image
        An image of SimpleITK if ITK is not installed. Values are rescaled by the slope and intercept of each slice: integers if these
        are, else float64, as are SUV.

    Raises
    ------
    ValueError
        If there is no such volume, with the folder, the files and the rule; or if an element that SUV depend on is missing, with its
        keyword and tag.
    FileNotFoundError
        If there is no such folder.
    ImportError
        Without pydicom, or without SimpleITK for compressed pixels.

    Examples
    --------
    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> ct = voxelmaps.read_dicom_series(".")
    >>> itk.size(ct)
    itkSize3 ([5, 4, 3])
    """
    options = {"series": series, "allow_uneven_slices": allow_uneven_slices, "select": select, "suv": suv}
    return _image.to_itk_or_simpleitk(_image.read(folder, "the DICOM series", **options))
