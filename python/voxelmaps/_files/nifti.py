# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""NIfTI-1 and NIfTI-2, by nibabel: values as those of get_fdata(), geometry as ITK's, in mm."""

import logging
import os

import numpy as np

from . import library
from .._suggestions import warn

try:
    # Decompresses about three times as fast.
    from isal import igzip as gzip
    from isal.isal_zlib import error as ZlibError
except ImportError:
    import gzip  # type: ignore[no-redef]
    from zlib import error as ZlibError  # type: ignore[assignment]

SUFFIXES = (".nii", ".nii.gz", ".hdr", ".img")
_REAL_TYPES = (2, 4, 8, 16, 64, 256, 512, 768, 1024, 1280)
_VECTOR = 1007
_MM_OF_UNIT = {1: 1000.0, 3: 0.001}
# Axes are orthogonal up to this cosine, as in float32 headers of oblique scans; affines agree within this part of a voxel.
MOST_SHEAR = 1e-3
# From RAS to LPS, and back: nibabel and MONAI have RAS, and ITK LPS.
LPS = np.array([-1.0, -1.0, 1.0])
# Deflate compresses at most 1032 : 1.
_MAX_COMPRESSION = 1032


def read(path):
    """The array (z, y, x, and components), spacing, origin and direction of a NIfTI file. Raises ValueError."""
    library("nibabel", f"reading {path}")
    from nibabel.spatialimages import HeaderDataError
    from nibabel.volumeutils import apply_read_scaling, array_from_file
    from nibabel.wrapstruct import WrapStructError

    if not path.lower().endswith((".nii", ".nii.gz")):
        remedy = "save it as one file, such as nibabel.save(nibabel.load(path), 'a.nii')"
        raise ValueError(f"it is a pair of a header and an image: {remedy}")
    is_compressed = path.lower().endswith(".gz")
    opener = gzip.open if is_compressed else open
    with open(path, "rb") as file:
        found = what_begins(file.read(352))
    if is_compressed and found != COMPRESSED:
        remedy = "rename it to .nii" if found == "a NIfTI file" else "it is not a NIfTI file; save it again"
        raise ValueError(f"it is not compressed, but {found}: {remedy}")
    if not is_compressed and found == COMPRESSED:
        raise ValueError("it is compressed by gzip: rename it to .nii.gz")
    if not is_compressed and found != "a NIfTI file" and found != OTHER:
        raise ValueError(f"it is not a NIfTI file, but {found}: unpack it or save it again")
    try:
        with opener(path, "rb") as file:
            header = _header(file)
            shape, components = shape_of(header, "it")
            kind = header.get_data_dtype()
            offset, size = float(header["vox_offset"]), os.path.getsize(path)
            if not offset.is_integer() or offset < header.structarr.nbytes:
                raise ValueError(f"its vox_offset is {offset:g}, but must be an integer after the header")
            needed = int(offset) + kind.itemsize * components * int(np.prod(shape, dtype=object))
            if needed > size * (1 if opener is open else _MAX_COMPRESSION):
                raise ValueError(f"it has {size} bytes, but the header promises {needed}: it is truncated or corrupt")
            array = array_from_file((*shape, components), kind, file, int(offset), mmap=False)
            # The checksum of a compressed file follows the voxels.
            while opener is not open and file.read(2**20):
                pass
        slope, inter = header.get_slope_inter()
        place = geometry(header, shape, "it", path)
    except (OSError, EOFError, ZlibError) as error:
        raise_of_system(error)
        raise ValueError(f"it is truncated or corrupt: {error}") from None
    except (HeaderDataError, WrapStructError) as error:
        raise ValueError(f"its header is corrupt: {error}") from None
    array = array.astype(kind.newbyteorder("="), copy=False)
    if (slope, inter) not in ((None, None), (1, 0)):
        array = apply_read_scaling(array, np.float64(slope), np.float64(inter)).astype(np.float64, copy=False)
    return in_itk_order(array), *place


def raise_of_system(error):
    """Raise an error again that is not about the content of a file, such as that of a missing permission."""
    if getattr(error, "errno", None) is not None:
        raise error


COMPRESSED, OTHER = "a file that is compressed by gzip", "another file"
_BEGINNINGS = {
    b"\x1f\x8b": COMPRESSED,
    b"PK\3\4": "a ZIP archive",
    b"<!DOCTYPE": "an HTML page",
    b"<html": "an HTML page",
}


def what_begins(content):
    """What a file is that begins with these bytes."""
    if content[344:347] in (b"n+1", b"ni1") or content[4:7] in (b"n+2", b"ni2"):
        return "a NIfTI file"
    return next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), OTHER)


def in_itk_order(array):
    """The array with the axes z, y, x, and components if there are several, of one with x, y, z and components."""
    return array[..., 0].T if array.shape[-1] == 1 else np.ascontiguousarray(np.moveaxis(array.T, 0, -1))


def _header(file):
    from nibabel import Nifti1Header, Nifti2Header

    start = file.read(4)
    file.seek(0)
    if start[:2] == b"\x1f\x8b":
        raise ValueError("it is compressed twice: unpack it once, such as with gunzip")
    version, kind = (2, Nifti2Header) if start in (b"\x1c\2\0\0", b"\0\0\2\x1c") else (1, Nifti1Header)
    header = kind(file.read(kind.template_dtype.itemsize), check=False)
    if header["sizeof_hdr"] != header.structarr.nbytes or header["magic"].item()[:3] != f"n+{version}".encode():
        raise ValueError("it is not a NIfTI file, in spite of its name")
    header["pixdim"][0] = header["pixdim"][0] or 1
    # Errors are raised; what nibabel would repair is checked here, or not used.
    header.copy().check_fix(logger=logging.Logger("silent", logging.CRITICAL + 1), error_level=40)
    return header


def shape_of(header, name):
    """The size along x, y and perhaps z, and the number of components. Raises ValueError, unless it is one image of real numbers."""
    dim = header["dim"].tolist()
    if not 2 <= dim[0] <= 7 or min(dim[1 : dim[0] + 1]) < 1:
        rule = "the number of axes, 2 to 7, and their sizes, from 1 on"
        raise ValueError(f"{name} has the sizes {dim}, which are not those of an image: {rule}")
    if int(header["datatype"]) not in _REAL_TYPES:
        found = f"{header.get_data_dtype()} (code {header['datatype']})"
        raise ValueError(f"{name} has voxels of {found}, but they must be real numbers")
    shape, rest = tuple(dim[1:4][: dim[0]]), dim[4 : dim[0] + 1]
    components = rest[1] if len(rest) > 1 and int(header["intent_code"]) == _VECTOR else 1
    number = int(np.prod(rest, dtype=object)) // components
    if number > 1:
        found = f"{number} volumes (time points, directions or channels) of {'x'.join(map(str, shape))} voxels"
        remedy = "save one, such as nibabel.load(path).slicer[..., 0]"
        raise ValueError(f"{name} has {found}, but must have one: {remedy}")
    # So does ITK: it writes vectors of two dimensions with one slice.
    return (shape[:2] if components > 1 and shape[2:] == (1,) else shape), components


def _corners(affine, shape):
    grid = np.meshgrid(*([0, n - 1] for n in (*shape, 1)[:3]), [1], indexing="ij")
    return affine @ np.stack([axis.ravel() for axis in grid])


def unit_of(header):
    """The unit of a header in mm, which is 1 if it is unknown."""
    return _MM_OF_UNIT.get(int(header["xyzt_units"]) & 7, 1.0)


def geometry(header, shape, name, path=None):
    """Spacing, origin and direction of a header of nibabel in ITK's order and frame (LPS). Of sform and qform, the one that ITK chooses.

    name, path    How errors and warnings call the image.
    """
    header, dimension = header.copy(), len(shape)
    unit = unit_of(header)
    zooms = np.array(header["pixdim"][1:4], float)
    if dimension == 2 and not 0 < zooms[2] < np.inf:
        zooms[2] = header["pixdim"][3] = 1
    if not ((zooms > 0) & (zooms < np.inf)).all():
        raise ValueError(f"{name} has the pixdim {zooms.tolist()}, which must be positive numbers")
    sform, qform = header.get_sform(coded=True)[0], header.get_qform(coded=True)[0]
    # With neither, ITK has the origin 0 and unrotated axes.
    affine = sform if sform is not None else qform if qform is not None else np.diag([*zooms * LPS, 1.0])
    place = of_affine(affine, dimension, name, unit, zooms)
    if sform is not None and qform is not None:
        distance = np.linalg.norm((_corners(sform, shape) - _corners(qform, shape))[:3], axis=0).max()
        if not distance <= MOST_SHEAR * zooms.min():
            is_sform = int(header["sform_code"]) == 1
            used = f"the {'sform' if is_sform else 'qform'} is used, as ITK does"
            warn(f"{path or name}: sform and qform place corners {unit * distance:.3g} mm apart: {used}")
            place = place if is_sform else of_affine(qform, dimension, name, unit, zooms)
    elif sform is not None and not np.allclose(place[0], unit * zooms[:dimension], rtol=1e-5, atol=0):
        found = f"spacing {place[0]}, but pixdim is {(unit * zooms).tolist()} mm"
        warn(f"{path or name}: the sform has the {found}: the sform is used")
    return place


def of_affine(affine, dimension, name, unit=1.0, zooms=None):
    """Spacing, origin and direction, as ITK has them (LPS), of an affine (RAS). The direction is the nearest rotation.

    zooms    The spacing, if the affine has the same but for rounding.
    """
    spacing = np.linalg.norm(affine[:3, :3], axis=0)
    if not (np.isfinite(affine).all() and (spacing > 0).all()):
        raise ValueError(f"{name} has an affine that is not finite or has no volume: {affine[:3].tolist()}")
    direction = affine[:3, :3] / spacing
    shear = abs(direction.T @ direction - np.eye(3)).max()
    if shear > MOST_SHEAR:
        found = f"a cosine of {shear:.3g} between them ({np.degrees(np.arcsin(min(1, shear))):.3g} degrees)"
        rule = f"but they must be orthogonal within {MOST_SHEAR}"
        raise ValueError(f"{name} has sheared axes, with {found}, {rule}: resample it")
    if shear > 1e-6:
        left, _, right = np.linalg.svd(direction)
        direction = left @ right
    if zooms is not None and np.allclose(spacing, zooms, rtol=1e-5, atol=0):
        spacing = zooms
    direction, origin = LPS[:, None] * direction + 0.0, LPS * affine[:3, 3] + 0.0
    if dimension == 2 and abs(direction[2, :2]).max() > MOST_SHEAR:
        raise ValueError(f"{name} has two dimensions, but its plane is not axial: store it as a volume of one slice")
    values = unit * spacing[:dimension], unit * origin[:dimension], direction[:dimension, :dimension].ravel()
    return tuple(tuple(map(float, each)) for each in values)


def check_orthogonal(volume):
    """Raise ValueError for an image that NIfTI cannot hold."""
    if volume.shear > MOST_SHEAR:
        raise ValueError(
            f"axes of NIfTI are orthogonal, but those of the image have a cosine of {volume.shear:.3g}: write .nrrd, or resample the "
            "image first"
        )
