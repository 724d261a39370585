# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Small valid files of all formats: every writer returns the files as a dictionary, the one to open first."""

import array
import dataclasses
import gzip
import random
import struct
import sys
import zlib


@dataclasses.dataclass(frozen=True)
class Image:
    """Values, x fastest, whose type is a code of the modules array and struct."""

    size: tuple
    code: str
    values: tuple
    spacing: tuple = (0.5, 0.75, 2.0)
    origin: tuple = (-10.0, 20.0, 5.5)

    def to_bytes(self, order="<"):
        data = array.array(self.code, self.values)
        if (order == "<") != (sys.byteorder == "little"):
            data.byteswap()
        return data.tobytes()


def make_image(dimension=3, code="h", seed=1):
    """Half of the voxels are 0, so that the image is also a mask; the last one is not, so that a cut changes it."""
    generator = random.Random(seed)
    size = (9, 8, 7)[:dimension]
    count = 9 * 8 * (7 if dimension == 3 else 1)
    values = [generator.choice((0, generator.randint(1, 63))) for _ in range(count)]
    return Image(size, code, (*values[:-1], 63))


NIFTI_TYPES = {2: "B", 4: "h", 8: "i", 16: "f", 64: "d", 256: "b", 512: "H", 768: "I", 1024: "q", 1280: "Q"}


def nifti_header(image, magic=b"n+1"):
    dimension = len(image.size)
    header = bytearray(348)

    def put(offset, layout, *values):
        struct.pack_into("<" + layout, header, offset, *values)

    put(0, "i", 348)
    put(38, "c", b"r")
    put(40, "8h", dimension, *image.size, *[1] * (7 - dimension))
    put(70, "2h", {code: key for key, code in NIFTI_TYPES.items()}[image.code], 8 * struct.calcsize(image.code))
    put(76, "8f", 1, *image.spacing[:dimension], *[1] * (7 - dimension))
    put(108, "3f", 352 if magic == b"n+1" else 0, 1, 0)
    put(123, "B", 2)
    # LPS, as in ITK, to RAS: half a turn around z.
    put(252, "2h", 1, 1)
    put(256, "6f", 0, 0, 1, -image.origin[0], -image.origin[1], image.origin[2])
    for row, sign in enumerate((-1, -1, 1)):
        put(280 + 16 * row + 4 * row, "f", sign * image.spacing[row])
        put(280 + 16 * row + 12, "f", sign * image.origin[row])
    put(344, "4s", magic)
    return bytes(header)


def nifti(image):
    return {"v.nii": nifti_header(image) + bytes(4) + image.to_bytes()}


def nifti_gzip(image):
    return {"v.nii.gz": gzip.compress(nifti(image)["v.nii"], mtime=0)}


def nifti_pair(image):
    return {"v.hdr": nifti_header(image, b"ni1"), "v.img": image.to_bytes()}


META_TYPES = {"B": "UCHAR", "b": "CHAR", "H": "USHORT", "h": "SHORT", "i": "INT", "f": "FLOAT", "d": "DOUBLE"}


def join(values):
    return " ".join(map(str, values))


def meta_header(image, data_file, extra=""):
    dimension = len(image.size)
    identity = join(int(i == j) for i in range(dimension) for j in range(dimension))
    return (
        f"ObjectType = Image\nNDims = {dimension}\nBinaryData = True\nBinaryDataByteOrderMSB = False\n{extra}"
        f"TransformMatrix = {identity}\nOffset = {join(image.origin[:dimension])}\n"
        f"ElementSpacing = {join(image.spacing[:dimension])}\nDimSize = {join(image.size)}\n"
        f"ElementType = MET_{META_TYPES[image.code]}\nElementDataFile = {data_file}\n"
    ).encode()


def meta(image):
    return {"v.mha": meta_header(image, "LOCAL") + image.to_bytes()}


def meta_compressed(image):
    data = zlib.compress(image.to_bytes())
    extra = f"CompressedData = True\nCompressedDataSize = {len(data)}\n"
    return {"v.mha": meta_header(image, "LOCAL", extra) + data}


def meta_pair(image):
    return {"v.mhd": meta_header(image, "v.raw"), "v.raw": image.to_bytes()}


NRRD_TYPES = {"B": "uchar", "b": "signed char", "H": "ushort", "h": "short", "i": "int", "f": "float", "d": "double"}
NRRD_TYPES |= {"q": "int64", "Q": "uint64"}


def nrrd_header(image, encoding="raw", data_file=None):
    dimension = len(image.size)
    axes = [tuple(step if i == j else 0 for j in range(dimension)) for i, step in enumerate(image.spacing[:dimension])]
    vectors = [str(vector).replace(" ", "") for vector in (*axes, tuple(image.origin[:dimension]))]
    space = "space: left-posterior-superior" if dimension == 3 else "space dimension: 2"
    return (
        f"NRRD0004\ntype: {NRRD_TYPES[image.code]}\ndimension: {dimension}\n{space}\nsizes: {join(image.size)}\n"
        f"space directions: {join(vectors[:-1])}\nspace origin: {vectors[-1]}\nendian: little\nencoding: {encoding}\n"
        + (f"data file: {data_file}\n" if data_file else "\n")
    ).encode()


def nrrd(image):
    return {"v.nrrd": nrrd_header(image) + image.to_bytes()}


def nrrd_gzip(image):
    return {"v.nrrd": nrrd_header(image, "gzip") + gzip.compress(image.to_bytes(), mtime=0)}


def nrrd_pair(image):
    return {"v.nhdr": nrrd_header(image, data_file="v.raw"), "v.raw": image.to_bytes()}


def nrrd_gzip_pair(image):
    return {"v.nhdr": nrrd_header(image, "gzip", "v.raw.gz"), "v.raw.gz": gzip.compress(image.to_bytes(), mtime=0)}


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(image):
    width, height = image.size
    data = image.to_bytes()
    rows = b"".join(b"\0" + data[y * width : (y + 1) * width] for y in range(height))
    chunks = [
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    return {"v.png": b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks)}


CT_STORAGE = "1.2.840.10008.5.1.4.1.1.2"
TRANSFER_SYNTAXES = {"implicit": "1.2.840.10008.1.2", "explicit": "1.2.840.10008.1.2.1"}


def dicom_element(tag, representation, value, is_explicit=True):
    if isinstance(value, str):
        value = value.encode() + (b"" if len(value) % 2 == 0 else b"\0" if representation == "UI" else b" ")
    elif isinstance(value, int):
        value = struct.pack("<H", value)
    head = struct.pack("<HH", tag >> 16, tag & 0xFFFF)
    if not is_explicit:
        return head + struct.pack("<I", len(value)) + value
    if representation in ("OB", "OW"):
        return head + representation.encode() + struct.pack("<HI", 0, len(value)) + value
    return head + representation.encode() + struct.pack("<H", len(value)) + value


def dicom_file(size, data, position=(0.0, 0.0, 0.0), instance=1, syntax="explicit", changes=None):
    """A CT slice of 16-bit unsigned integers. Changes are a dictionary of tags and (representation, value), or None."""
    elements = {
        0x00080016: ("UI", CT_STORAGE),
        0x00080018: ("UI", f"2.25.9.{instance}"),
        0x00080060: ("CS", "CT"),
        0x00180050: ("DS", "2"),
        0x0020000D: ("UI", "2.25.1"),
        0x0020000E: ("UI", "2.25.2"),
        0x00200011: ("IS", "1"),
        0x00200013: ("IS", str(instance)),
        0x00200032: ("DS", "\\".join(map(str, position))),
        0x00200037: ("DS", "1\\0\\0\\0\\1\\0"),
        0x00200052: ("UI", "2.25.3"),
        0x00280002: ("US", 1),
        0x00280004: ("CS", "MONOCHROME2"),
        0x00280010: ("US", size[1]),
        0x00280011: ("US", size[0]),
        0x00280030: ("DS", "0.75\\0.5"),
        0x00280100: ("US", 16),
        0x00280101: ("US", 16),
        0x00280102: ("US", 15),
        0x00280103: ("US", 0),
        0x00281052: ("DS", "0"),
        0x00281053: ("DS", "1"),
        0x7FE00010: ("OW", data),
    } | (changes or {})
    meta_elements = {
        0x00020001: ("OB", b"\0\1"),
        0x00020002: ("UI", CT_STORAGE),
        0x00020003: ("UI", elements[0x00080018][1]),
        0x00020010: ("UI", TRANSFER_SYNTAXES.get(syntax, syntax)),
        0x00020012: ("UI", "2.25.4"),
    }
    body = b"".join(dicom_element(tag, *value) for tag, value in meta_elements.items())
    group_length = dicom_element(0x00020000, "UL", struct.pack("<I", len(body)))
    data_set = [
        dicom_element(tag, *value, is_explicit=syntax != "implicit") for tag, value in sorted(elements.items()) if value
    ]
    return bytes(128) + b"DICM" + group_length + body + b"".join(data_set)


def dicom(image, syntax="explicit", changes=None):
    return {"v.dcm": dicom_file(image.size, image.to_bytes(), image.origin, syntax=syntax, changes=changes)}


def dicom_implicit(image):
    return dicom(image, "implicit")


def dicom_folder(image, changes=None):
    """The slices of a volume; changes[k] are the changes of slice k."""
    plane = image.size[0] * image.size[1] * struct.calcsize(image.code)
    data = image.to_bytes()
    files = {}
    for k in range(image.size[2]):
        position = (*image.origin[:2], image.origin[2] + k * image.spacing[2])
        files[f"series/{k:02}.dcm"] = dicom_file(
            image.size, data[k * plane : (k + 1) * plane], position, k + 1, changes=(changes or {}).get(k)
        )
    return files


# The dimension and type of pixels for which each writer is used.
FORMATS = {writer: (3, "h") for writer in (nifti, nifti_gzip, nifti_pair, meta, meta_compressed, meta_pair)}
FORMATS |= {writer: (3, "h") for writer in (nrrd, nrrd_gzip, nrrd_pair, nrrd_gzip_pair)}
FORMATS |= {png: (2, "B"), dicom: (2, "H"), dicom_implicit: (2, "H")}
