# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Independent readings of headers without checksums: an image, or an exception if the file is broken."""

import dataclasses
import math
import re
import struct

import formats
from formats import META_TYPES, NIFTI_TYPES, NRRD_TYPES, Image

MAX_SIZE = 100000


def make_image(size, code, data, order="<", slope=1.0, intercept=0.0):
    while len(size) > 3 and size[-1] == 1:
        size = size[:-1]
    if len(size) not in (2, 3) or any(length < 1 or length > MAX_SIZE for length in size):
        raise ValueError(f"size {size}")
    values = struct.unpack_from(f"{order}{math.prod(size)}{code}", data)
    if (slope, intercept) != (1.0, 0.0):
        # As ITK reads them; the values of the tests are exact as floats.
        code = "d" if code == "d" else "f"
        values = [value * slope + intercept for value in values]
    return Image(tuple(size), code, tuple(values))


def read_nifti(header, data=None):
    """A file .nii, or the contents of .hdr and .img."""
    order = "<" if struct.unpack_from("<i", header)[0] == 348 else ">"
    if struct.unpack_from(order + "i", header)[0] != 348:
        raise ValueError("sizeof_hdr")
    dim = struct.unpack_from(order + "8h", header, 40)
    code = NIFTI_TYPES[struct.unpack_from(order + "h", header, 70)[0]]
    if struct.unpack_from(order + "h", header, 72)[0] != 8 * struct.calcsize(code) or not 1 <= dim[0] <= 7:
        raise ValueError("bitpix or dim[0]")
    offset, slope, intercept = struct.unpack_from(order + "3f", header, 108)
    if header[344:348] != (b"ni1\0" if data is not None else b"n+1\0"):
        raise ValueError("magic")
    if offset != int(offset) or offset < (0 if data is not None else 352):
        raise ValueError("vox_offset")
    if slope == 0:
        slope, intercept = 1.0, 0.0
    if abs(intercept) < 1e-30:
        intercept = 0.0
    if slope - slope != 0 or intercept - intercept != 0:
        raise ValueError("scl_slope")
    return make_image(
        dim[1 : dim[0] + 1], code, (header if data is None else data)[int(offset) :], order, slope, intercept
    )


def read_meta(content, data=None):
    head, found, rest = re.match(rb"(?s)(.*?)(ElementDataFile ?= ?[^\n]*\n)(.*)", content).groups()
    fields = dict(re.findall(r"^\s*(\w+)\s*=\s*(.*?)\s*$", head.decode("ascii"), re.MULTILINE))
    if fields["BinaryData"] != "True" or fields.get("ObjectType", "Image") != "Image":
        raise ValueError("no binary image")
    if found.split(b"=")[1].strip() != (b"LOCAL" if data is None else b"v.raw"):
        raise ValueError("ElementDataFile")
    order = ">" if fields["BinaryDataByteOrderMSB"][:1] in ("T", "t", "1") else "<"
    code = {f"MET_{name}": code for code, name in META_TYPES.items()}[fields["ElementType"]]
    size = [int(word) for word in fields["DimSize"].split()]
    if len(size) != int(fields["NDims"]):
        raise ValueError("NDims")
    return make_image(size, code, rest if data is None else data, order)


def read_nrrd(content, data=None):
    head, _, rest = content.partition(b"\n\n") if data is None else (content, b"", data)
    first, *lines = head.decode("ascii").rstrip("\n").split("\n")
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("#"))
    is_detached = fields.get("data file") == "v.raw"
    if not re.fullmatch("NRRD000[1-5]", first) or fields["encoding"] != "raw" or is_detached != (data is not None):
        raise ValueError("fields")
    code = {name: code for code, name in NRRD_TYPES.items()}[fields["type"]]
    size = [int(word) for word in fields["sizes"].split()]
    if len(size) != int(fields["dimension"]):
        raise ValueError("dimension")
    return make_image(size, code, rest, {"little": "<", "big": ">"}[fields["endian"]])


READERS = {"nifti": read_nifti, "nifti_pair": read_nifti, "meta": read_meta, "meta_pair": read_meta}
READERS |= {"nrrd": read_nrrd, "nrrd_pair": read_nrrd}
# Where the last bytes are the voxels: their order, and the image.
SLICE = dataclasses.replace(formats.make_image(2, "H"), size=(9, 8, 1), spacing=(0.5, 0.75, 1.0))
TAILS = {"dicom": ("<", SLICE), "dicom_implicit": ("<", SLICE)}


def read(format_name, files, is_header_good):
    """The image, None if that of the unbroken file is the only right one, or "unknown"."""
    contents = list(files.values())
    if format_name in READERS:
        try:
            return READERS[format_name](*contents)
        except (ArithmeticError, AttributeError, LookupError, ValueError, struct.error):
            return None
    if format_name in TAILS and is_header_good:
        order, image = TAILS[format_name]
        layout = f"{order}{len(image.values)}{image.code}"
        return dataclasses.replace(image, values=struct.unpack(layout, contents[0][-struct.calcsize(layout) :]))
    return "unknown" if format_name in TAILS else None
