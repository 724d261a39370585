# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reading of DICOM series: what is not one even volume is refused."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import _file_check

if TYPE_CHECKING:
    from .._types import ImageLike, Path


class DicomSeries(NamedTuple):
    """A series with images in a folder, as list_dicom_series returns it.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> (series,) = voxelmaps.list_dicom_series(".")
    >>> series.files, series.modality, series.size
    (('./ct.dcm',), 'OT', (5, 4, 3))
    """

    uid: str
    files: tuple[str, ...]
    modality: str
    description: str
    # Voxels along x, y and z, and their distances in mm; None if unknown.
    size: tuple[int, int, int] | None
    spacing: tuple[float, float, float] | None
    # Why the series is no volume; empty if it is one.
    problem: str


def _check_folder(folder):
    folder = os.fspath(folder)
    if not os.path.exists(folder):
        raise FileNotFoundError(f"there is no folder '{folder}'")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"'{folder}' is not a folder; itk.imread reads files")
    return folder


def _refuse(folder, why):
    raise ValueError(f"the DICOM folder '{folder}' is refused: {why}")


def list_dicom_series(folder: Path) -> list[DicomSeries]:
    """List the DICOM series with images in a folder.

    folder    The folder; subfolders are ignored.

    Returns a list of named tuples: uid (SeriesInstanceUID), files (ordered along the normal of the slices), modality,
    description, size and spacing in the order x, y, z (None if unknown), and problem: why read_dicom_series rejects the
    series, or an empty string. Warns if there are files that look like DICOM files but cannot be read. Raises
    FileNotFoundError or NotADirectoryError if there is no such folder.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> [(series.size, series.problem) for series in voxelmaps.list_dicom_series(".")]
    [((5, 4, 3), '')]
    """
    folder = _check_folder(folder)
    found, unreadable = _file_check.list_dicom_series(folder)
    if unreadable:
        warnings.warn(f"files in '{folder}' cannot be read: {unreadable}", stacklevel=2)
    return [
        DicomSeries(
            uid=series["uid"],
            files=series["files"],
            modality=series["modality"],
            description=series["description"],
            size=None if series["problem"] else series["size"],
            spacing=series["spacing"] if series["has_geometry"] and series["spacing"][0] > 0 else None,
            problem=series["problem"],
        )
        for series in found
    ]


def _pixel_type(folder, series):
    """A pixel type that can hold the values of all files; they are checked with ITK's reader."""
    from .._itk import itk

    components = itk.CommonEnums
    types = {
        components.IOComponent_UCHAR: itk.UC,
        components.IOComponent_CHAR: itk.SS,
        components.IOComponent_SHORT: itk.SS,
        components.IOComponent_USHORT: itk.US,
        components.IOComponent_FLOAT: itk.F,
    }
    found = set()
    for path in series["files"]:
        name = os.path.basename(path)
        image_io = itk.GDCMImageIO.New(FileName=path)
        try:
            image_io.ReadImageInformation()
        except RuntimeError as error:
            _refuse(folder, f"ITK cannot read '{name}': {str(error).strip().splitlines()[-1]}")
        if image_io.GetNumberOfComponents() != 1:
            _refuse(folder, f"'{name}' has {image_io.GetNumberOfComponents()} components per pixel, but one is needed")
        if (image_io.GetDimensions(0), image_io.GetDimensions(1)) != series["size"][:2]:
            _refuse(
                folder,
                f"ITK reads {image_io.GetDimensions(0)}x{image_io.GetDimensions(1)} pixels of '{name}', whose header "
                f"tells {series['size'][0]}x{series['size'][1]}",
            )
        found.add(image_io.GetComponentType())
    # Rescaling can differ: a double holds the values of all types of DICOM.
    return types.get(found.pop(), itk.D) if len(found) == 1 else itk.D


def _set_geometry(folder, image, series):
    """Compare the geometry of the image that ITK has read with that of the headers, and set what differs."""
    from .._itk import itk

    if tuple(itk.size(image)) != series["size"]:
        _refuse(folder, f"ITK reads {tuple(itk.size(image))} voxels, but the headers tell {series['size']}")
    spacing = [ours or float(read) for ours, read in zip(series["spacing"], itk.spacing(image))]
    # Rounding in ITK's sums is no difference.
    tolerance = 1e-6 * spacing[2]
    if np.linalg.norm(np.subtract(itk.spacing(image), spacing)) > tolerance:
        image.SetSpacing(spacing)
    if np.linalg.norm(np.subtract(itk.origin(image), series["origin"])) > tolerance:
        image.SetOrigin(series["origin"])
    # Unit vectors may be rounded this much, and masks that other programs made have ITK's direction.
    direction = np.reshape(series["direction"], (3, 3))
    if abs(itk.array_from_matrix(image.GetDirection()) - direction).max() > 2e-3:
        image.SetDirection(itk.matrix_from_array(direction))


def read_dicom_series(folder: Path, series: str | None = None, allow_uneven_slices: bool = False) -> ImageLike:
    """Read a DICOM series as a 3D itk.Image, and reject series that are not one evenly spaced volume.

    folder                 The folder with the files; subfolders are ignored.
    series                 SeriesInstanceUID; not needed if the folder has one series with images.
    allow_uneven_slices    Read slices with missing or uneven steps as if they were even, with a warning.

    The slices are ordered along their normal by ImagePositionPatient. All files that are or appear to be DICOM must
    be readable, with complete pixel data. Rows, Columns, PixelSpacing, ImageOrientationPatient (within 0.0001) and
    FrameOfReferenceUID must agree, no image or position may occur twice, and the steps between neighboring positions must
    agree with their median and the normal, within 1 % or 0.01 mm (at most 10 %). One file, with one or more frames, is read
    as ITK reads it. Values are rescaled; the pixel type holds those of all files.

    Raises ValueError, with the folder, the files and the rule, if there is no such volume, and FileNotFoundError or
    NotADirectoryError if there is no such folder.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> ct = voxelmaps.read_dicom_series(".")
    >>> itk.size(ct)
    itkSize3 ([5, 4, 3])
    """
    from .._itk import itk

    folder = _check_folder(folder)
    found = _file_check.find_dicom_series(folder, series, allow_uneven_slices)
    reader = itk.ImageSeriesReader[itk.Image[_pixel_type(folder, found), 3]].New(
        FileNames=found["files"], ImageIO=itk.GDCMImageIO.New()
    )
    try:
        reader.Update()
    except RuntimeError as error:
        _refuse(folder, f"ITK cannot read it: {str(error).strip().splitlines()[-1]}")
    image = reader.GetOutput()
    image.DisconnectPipeline()
    if found["has_geometry"]:
        _set_geometry(folder, image, found)
    if found["warning"]:
        warnings.warn(found["warning"], stacklevel=2)
    return image
