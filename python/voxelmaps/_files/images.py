# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reading of image files: nibabel reads NIfTI, pydicom and SimpleITK read DICOM, SimpleITK MetaImage, NRRD and PNG."""

from __future__ import annotations

import concurrent.futures
import os
from typing import TYPE_CHECKING

import numpy as np

from . import headers, library, paths

if TYPE_CHECKING:
    from .._types import Path


def _read_by_simpleitk(path, image_io):
    sitk = library("SimpleITK", f"reading {path}")
    # Decompression checks the voxels meanwhile.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        part = None if image_io == "PNGImageIO" else headers.voxels(path)
        verification = part and pool.submit(headers.verify, *part)
        try:
            image = sitk.ReadImage(path, imageIO=image_io)
        except RuntimeError as error:
            raise ValueError(paths.one_line(error)) from None
        finally:
            if verification:
                verification.result()
    if image.GetPixelIDTypeAsString().startswith("label"):
        raise ValueError("it is a label map of SimpleITK")
    return sitk.GetArrayFromImage(image), image.GetSpacing(), image.GetOrigin(), image.GetDirection()


def read(path, what, **options):
    """The array (z, y, x, and components if there are several), spacing, origin and direction of an image file, or of a folder
    with one DICOM series.

    path       Also a pydicom.Dataset of an RTSTRUCT.
    what       Begins error messages, such as "the mask".
    options    Those of dicom.read; of no effect for other formats.

    Raises FileNotFoundError, or ValueError that names the file and the rule; ImportError names a package that is missing.
    """
    from . import dicom

    is_dataset = dicom.is_dataset(path)
    if not is_dataset:
        paths.check_exists(path, what)
    try:
        result = dicom.read(path, **options) if is_dataset else _read(path, options)
        array, spacing, origin, direction = result
        matrix = np.reshape(direction, (len(spacing), len(spacing)))
        is_valid = np.isfinite([*spacing, *origin, *direction]).all() and min(spacing) > 0
        has_axes = is_valid and abs(np.linalg.det(matrix)) >= 1e-3
        if not has_axes or abs(np.linalg.norm(matrix, axis=0) - 1).max() > 1e-3:
            found = f"spacing {spacing}, origin {origin}, direction {direction}"
            raise ValueError(f"its geometry is invalid: {found}, whose columns must have the length 1")
        if array.size == 0:
            raise ValueError("it has no voxels")
        return result
    except (ValueError, RecursionError) as error:
        name = "the Dataset" if is_dataset else f"'{path}'"
        text = f"{what}: cannot read {name}: {' '.join(str(error).split())}"
        raise (type(error)(text, error.segments) if hasattr(error, "segments") else ValueError(text)) from None


def _read(path, options):
    from . import dicom, nifti

    if os.path.isdir(path):
        return dicom.read(path, **options)
    if not os.path.isfile(path):
        raise ValueError("it is not a regular file")
    name = path.lower()
    if options.get("suv") is not None and not name.endswith(dicom.SUFFIXES):
        with open(path, "rb") as file:
            if file.read(132)[128:] != b"DICM":
                raise ValueError(
                    f"suv is {options['suv']!r}, but it is not DICOM, whose headers say what SUV depend on"
                )
    if name.endswith(nifti.SUFFIXES):
        return nifti.read(path)
    with open(path, "rb") as file:
        head = file.read(132)
    if head[128:] == b"DICM" or name.endswith(dicom.SUFFIXES):
        return dicom.read(path, **options)
    if head[:7] == b"NRRD000" and name.endswith((".nrrd", ".nhdr")):
        return _read_by_simpleitk(path, "NrrdImageIO")
    if name.endswith((".mha", ".mhd")):
        return _read_by_simpleitk(path, "MetaImageIO")
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        return _read_by_simpleitk(path, "PNGImageIO")
    found = nifti.what_begins(head)
    remedy = (
        "unpack it, such as with gunzip"
        if found == nifti.COMPRESSED
        else "convert it to NIfTI, for instance with SimpleITK"
    )
    raise ValueError(
        f"it is not NIfTI, NRRD, MetaImage, DICOM or PNG{'' if found == nifti.OTHER else ', but ' + found}: {remedy}"
    )


def check_image_file(path: Path) -> None:
    """Check that an image file is complete, and raise an error that names the file and the rule otherwise.

    The file is read as all functions of this package read it. Use it before itk.imread or SimpleITK.ReadImage, which read some
    truncated and corrupt files without an error.

    Parameters
    ----------
    path : path
        A file of NIfTI, NRRD, MetaImage, PNG or DICOM, or a folder with one DICOM series.

    Raises
    ------
    ValueError
        If the file is truncated or corrupt.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((4, 4, 4), np.int16)), "ct.nrrd")
    >>> voxelmaps.check_image_file("ct.nrrd")
    >>> with open("ct.nrrd", "r+b") as file:
    ...     size = file.truncate(file.seek(-10, 2))
    >>> voxelmaps.check_image_file("ct.nrrd")
    Traceback (most recent call last):
    ValueError: the image: cannot read 'ct.nrrd': ct.nrrd has 411 bytes, but the header promises 421
    """
    read(paths.text_of(path, "the path"), "the image")
