# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""NIfTI-1 and NIfTI-2, by nibabel: values as those of get_fdata(), geometry as ITK's, in mm."""

import logging
import os
import warnings
import zlib

import numpy as np

from . import library
from .headers import pair

try:
    # Decompresses about three times as fast.
    from isal import igzip as gzip
    from isal.isal_zlib import error as _IsalError
except ImportError:
    import gzip

    _IsalError = zlib.error

SUFFIXES = (".nii", ".nii.gz", ".hdr", ".img")
_REAL_TYPES = (2, 4, 8, 16, 64, 256, 512, 768, 1024, 1280)
_VECTOR = 1007
_MM_OF_UNIT = {1: 1000.0, 3: 0.001}
# Columns of an affine are orthogonal up to this cosine, as in float32 headers of oblique scans; affines agree within this
# part of a voxel.
_TOLERANCE = 1e-3
# Deflate compresses at most 1032 : 1.
_MAX_COMPRESSION = 1032


def read(path):
    """The array (z, y, x, and components), spacing, origin and direction of a NIfTI file. Raises ValueError."""
    library("nibabel", f"reading {path}")
    from nibabel.spatialimages import HeaderDataError
    from nibabel.volumeutils import apply_read_scaling, array_from_file
    from nibabel.wrapstruct import WrapStructError

    header_path, voxels_path = pair(path)
    for each in (header_path, voxels_path):
        if not os.path.isfile(each):
            raise ValueError(f"its file {each} is missing")
    opener = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opener(header_path, "rb") as file:
            header = _header(file, header_path == voxels_path)
            shape, components = _shape(header)
            kind = header.get_data_dtype()
            offset, size = float(header["vox_offset"]), os.path.getsize(voxels_path)
            if not offset.is_integer() or offset < (header.structarr.nbytes if header_path == voxels_path else 0):
                raise ValueError(
                    f"its voxels begin at byte {offset:g} (vox_offset), which must be an integer after the header"
                )
            needed = int(offset) + kind.itemsize * components * int(np.prod(shape, dtype=object))
            if needed > size * (1 if opener is open else _MAX_COMPRESSION):
                raise ValueError(f"it has {size} bytes, but the header promises {needed}: it is truncated or corrupt")
            if header_path != voxels_path:
                file = open(voxels_path, "rb")
            with file:
                array = array_from_file((*shape, components), kind, file, int(offset), mmap=False)
                # The checksum of a compressed file follows the voxels.
                while opener is not open and file.read(2**20):
                    pass
        slope, inter = header.get_slope_inter()
        geometry = _geometry(header, shape, path)
    except (OSError, EOFError, zlib.error, _IsalError) as error:
        raise ValueError(f"it is truncated or corrupt: {error}") from None
    except (HeaderDataError, WrapStructError) as error:
        raise ValueError(f"its header is corrupt: {error}") from None
    array = array.astype(kind.newbyteorder("="), copy=False)
    if (slope, inter) not in ((None, None), (1, 0)):
        array = apply_read_scaling(array, np.float64(slope), np.float64(inter)).astype(np.float64, copy=False)
    array = array[..., 0].T if components == 1 else np.ascontiguousarray(np.moveaxis(array.T, 0, -1))
    return array, *geometry


def _header(file, is_single):
    from nibabel import Nifti1Header, Nifti2Header

    block = file.read(348)
    version, kind = (2, Nifti2Header) if block[:4] in (b"\x1c\2\0\0", b"\0\0\2\x1c") else (1, Nifti1Header)
    block += file.read(540 - 348) if version == 2 else b""
    if len(block) != kind.template_dtype.itemsize:
        raise ValueError(f"it has {len(block)} bytes, fewer than a header")
    header = kind(block, check=False)
    # As bytes without trailing zeros.
    magic, expected = header["magic"].item(), f"{'n+' if is_single else 'ni'}{version}".encode()
    if int(header["sizeof_hdr"]) != len(block) or magic[:3] != expected:
        is_analyze = magic[:1] != b"n" and not is_single
        raise ValueError(
            "it is an Analyze 7.5 file, which has no orientation: convert it to NIfTI"
            if is_analyze
            else "it is not a NIfTI file, in spite of its name"
        )
    header["pixdim"][0] = header["pixdim"][0] or 1
    silent = logging.getLogger(f"{__name__}.silent")
    silent.disabled = True
    # Errors are raised; what nibabel would repair is checked here, or not used.
    header.copy().check_fix(logger=silent, error_level=40)
    return header


def _shape(header):
    """The size along x, y and perhaps z, and the number of components."""
    dim = header["dim"].tolist()
    if not 2 <= dim[0] <= 7 or min(dim[1 : dim[0] + 1]) < 1:
        raise ValueError(
            f"its sizes {dim} are not those of an image: the number of axes, 2 to 7, and their sizes, from 1 on"
        )
    if int(header["datatype"]) not in _REAL_TYPES:
        raise ValueError(
            f"its voxels are of the type {header.get_data_dtype()} (code {header['datatype']}), but must be real numbers"
        )
    shape, rest = tuple(dim[1:4][: dim[0]]), dim[4 : dim[0] + 1]
    components = rest[1] if len(rest) > 1 and int(header["intent_code"]) == _VECTOR else 1
    number = int(np.prod(rest, dtype=object)) // components
    if number > 1:
        raise ValueError(
            f"it has {number} volumes (time points, directions or channels) of {'x'.join(map(str, shape))} voxels, "
            "but must have one: save one, such as nibabel.load(path).slicer[..., 0]"
        )
    # So does ITK: it writes vectors of two dimensions with one slice.
    return (shape[:2] if components > 1 and shape[2:] == (1,) else shape), components


def _corners(affine, shape):
    grid = np.meshgrid(*([0, n - 1] for n in (*shape, 1)[:3]), [1], indexing="ij")
    return affine @ np.stack([axis.ravel() for axis in grid])


def _geometry(header, shape, path):
    """Spacing, origin and direction in ITK's order and frame (LPS). Of sform and qform, the one that ITK chooses."""
    factor = _MM_OF_UNIT.get(int(header["xyzt_units"]) & 7, 1.0)
    zooms = np.abs(np.array(header["pixdim"][1:4], float))
    if len(shape) == 2 and not (np.isfinite(zooms[2]) and zooms[2] > 0):
        zooms[2] = 1
        header["pixdim"][3] = 1
    if not (np.isfinite(zooms).all() and (np.array(header["pixdim"][1:4]) > 0).all()):
        raise ValueError(f"its pixdim {header['pixdim'][1:4].tolist()} must be positive numbers")
    sform, qform = header.get_sform(coded=True)[0], header.get_qform(coded=True)[0]
    for name, affine in (("sform", sform), ("qform", qform)):
        if affine is not None and not np.isfinite(affine).all():
            raise ValueError(f"its {name} has numbers that are not finite")
    if sform is None and qform is None:
        dimension = len(shape)
        return tuple(factor * zooms[:dimension]), (0.0,) * dimension, tuple(np.eye(dimension).ravel())
    affine = sform if qform is None else qform
    if sform is not None:
        norms = np.linalg.norm(sform[:3, :3], axis=0)
        if not (norms > 0).all():
            raise ValueError(f"its sform has the spacing {norms.tolist()}, which must be positive")
        cosines = (sform[:3, :3] / norms).T @ (sform[:3, :3] / norms) - np.eye(3)
        if not (abs(cosines) <= _TOLERANCE).all():
            raise ValueError(
                f"its sform is sheared: axes differ from right angles by {np.degrees(np.arcsin(min(1, abs(cosines).max()))):.3g} "
                "degrees, but 0.057 are allowed: resample it onto an orthogonal grid"
            )
    if sform is not None and qform is not None:
        distance = np.linalg.norm((_corners(sform, shape) - _corners(qform, shape))[:3], axis=0).max()
        if distance > _TOLERANCE * zooms.min():
            affine, used = (sform, "sform") if int(header["sform_code"]) == 1 else (qform, "qform")
            warnings.warn(
                f"{path}: sform and qform place corners {factor * distance:.3g} mm apart: the {used} is used, as ITK does",
                stacklevel=2,
            )
    spacing = np.linalg.norm(affine[:3, :3], axis=0)
    direction = affine[:3, :3] / spacing
    if np.allclose(spacing, zooms, rtol=1e-5, atol=0):
        spacing = zooms
    elif affine is sform and qform is None:
        warnings.warn(
            f"{path}: the sform has the spacing {spacing.tolist()}, but pixdim is {zooms.tolist()}: the sform is used",
            stacklevel=2,
        )
    if abs(direction.T @ direction - np.eye(3)).max() > 1e-6:
        # The nearest rotation.
        left, _, right = np.linalg.svd(direction)
        direction = left @ right
    # From RAS to LPS.
    flip = np.array([-1.0, -1.0, 1.0])
    direction, origin = flip[:, None] * direction + 0.0, flip * affine[:3, 3] + 0.0
    dimension = len(shape)
    if dimension == 2 and abs(direction[2, :2]).max() > _TOLERANCE:
        raise ValueError("its plane is not axial, but it has two dimensions: store it as a volume of one slice")
    return (
        tuple(float(factor * s) for s in spacing[:dimension]),
        tuple(float(factor * o) for o in origin[:dimension]),
        tuple(map(float, direction[:dimension, :dimension].ravel())),
    )
