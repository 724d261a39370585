# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What SimpleITK does not check in MetaImage and NRRD files: that voxels are in one regular file, and complete. Imports no NumPy."""

import contextlib
import math
import os
import re
import zlib
from typing import NamedTuple

_LONGEST_HEADER = 2**20
_META_BYTES = {"CHAR": 1, "SHORT": 2, "INT": 4, "LONG": 4, "LONG_LONG": 8, "FLOAT": 4, "DOUBLE": 8}
_NRRD_BYTES = {"char": 1, "int8": 1, "short": 2, "int16": 2, "int": 4, "int32": 4, "long long": 8, "longlong": 8}
_NRRD_BYTES |= {"int64": 8, "float": 4, "double": 8}
# Of MetaImage: the number of values, as a power of the number of dimensions.
_META_GEOMETRY = {"ElementSpacing": 1, "ElementSize": 1, "Offset": 1, "Origin": 1, "Position": 1}
_META_GEOMETRY |= {"TransformMatrix": 2, "Rotation": 2, "Orientation": 2}


class Voxels(NamedTuple):
    """Where the voxels of an image are: behind an offset in a file, up to its end."""

    file: str
    offset: int
    nbytes: int
    is_compressed: bool


def files_of_image(path):
    """The files that reading an image opens, or the entries of a folder, and the path itself."""
    if os.path.isdir(path):
        return [*sorted(entry.path for entry in os.scandir(path)), path]
    files = [path]
    with contextlib.suppress(OSError, ValueError):
        # Opening a pipe would wait for its other end, and parsing what is not a header of text would take time.
        if os.path.isfile(path) and os.fspath(path).lower().endswith((".mha", ".mhd", ".nrrd", ".nhdr")):
            files.append(voxels(path).file)
    return list(dict.fromkeys(files))


def _fields(path, is_nrrd):
    """The fields of a header of text, and its length."""
    with open(path, "rb") as file:
        content = file.read(_LONGEST_HEADER)
    fields = {}
    for match in re.finditer(rb"[^\n]*(\n|$)", content):
        line = match[0].decode("latin-1").rstrip("\r\n")
        if match.end() >= _LONGEST_HEADER:
            break
        if is_nrrd and not line:
            return fields, match.end()
        name, separator, value = re.fullmatch(
            r"([^:]*)(:?)(.*)" if is_nrrd else r"([^=:]*)([=:]?)(.*)", line, re.S
        ).groups()
        # "key:=value" is a note of NRRD.
        if not separator or line.startswith("#") or (is_nrrd and value.startswith("=")):
            continue
        name = name.lower().replace(" ", "") if is_nrrd else name.strip()
        if name in fields and name != "Comment":
            raise ValueError(f"its header has the field {name} twice")
        fields[name] = value.strip()
        if name == "ElementDataFile":
            return fields, match.end()
    raise ValueError(f"its header has no end within {_LONGEST_HEADER} bytes")


def _integer(fields, name, default, least):
    text = fields.get(name, default)
    if not re.fullmatch("-?[0-9]{1,18}", text) or int(text) < least:
        raise ValueError(f"its {name} is '{text[:99]}', but must be an integer from {least} on")
    return int(text)


def _product(fields, name, dimension):
    sizes = fields.get(name, "").split()
    if len(sizes) != dimension or not all(re.fullmatch("0*[1-9][0-9]{0,17}", size) for size in sizes):
        raise ValueError(f"its {name} are '{' '.join(sizes)[:99]}', but must be {dimension} positive integers")
    return math.prod(map(int, sizes))


def _check_units(fields, name):
    """Raise ValueError for lengths in another unit than mm, which SimpleITK ignores."""
    units = re.findall(r"\w+", fields.get(name.replace(" ", ""), ""))
    other = [unit for unit in units if not re.fullmatch("mm|milli-?met(er|re)s?|none", unit, re.I)]
    if other:
        raise ValueError(f"its {name} are {other[0][:99]}, which readers ignore: save it with lengths in mm")


def _data_file(path, name):
    if not name or name.startswith("LIST") or "%" in name:
        raise ValueError(f"its voxels are in several files ({name[:99]}): save it as one file")
    file = os.path.join(os.path.dirname(path), name)
    if not os.path.isfile(file) or os.path.samefile(path, file):
        raise ValueError(f"its data file {file[:999]} is {'the header itself' if os.path.isfile(file) else 'missing'}")
    return file


def _voxels_of_meta(path):
    fields, length = _fields(path, False)
    dimension = _integer(fields, "NDims", "", 1)
    kind = fields.get("ElementType", "").removeprefix("MET_").removesuffix("_ARRAY")
    size = _META_BYTES.get(kind) or _META_BYTES.get(kind.removeprefix("U"))
    if size is None:
        raise ValueError(f"its ElementType is '{kind[:99]}', which is not a type of voxels")
    nbytes = _product(fields, "DimSize", dimension) * size * _integer(fields, "ElementNumberOfChannels", "1", 1)
    for name, power in _META_GEOMETRY.items():
        if name in fields and len(fields[name].split()) != dimension**power:
            raise ValueError(f"its {name} is '{fields[name][:99]}', but must have {dimension**power} numbers")
    for name, neutral in (("ElementToIntensityFunctionSlope", 1), ("ElementToIntensityFunctionOffset", 0)):
        if name in fields and fields[name] not in (f"{neutral}", f"{neutral}.0"):
            raise ValueError(f"its {name} is {fields[name][:99]}, which readers ignore: save the scaled values")
    _check_units(fields, "DistanceUnits")
    is_true = lambda name: fields.get(name, "T")[:1] in ("T", "t", "1")
    if not is_true("BinaryData"):
        raise ValueError("its voxels are text (BinaryData = False): save it as binary")
    if _integer(fields, "HeaderSize", "0", -1) != 0:
        raise ValueError(f"its HeaderSize is {fields['HeaderSize']}, but its voxels must begin its data file")
    element = fields["ElementDataFile"]
    file = path if element.lower() == "local" else _data_file(path, element)
    offset, is_compressed = length if file == path else 0, is_true("CompressedData") and "CompressedData" in fields
    if is_compressed and "CompressedDataSize" in fields:
        size, promised = os.path.getsize(file) - offset, _integer(fields, "CompressedDataSize", "", 1)
        if size != promised:
            raise ValueError(f"{file} has {size} bytes of voxels, but the header promises {promised}")
    return Voxels(file, offset, nbytes, is_compressed)


def _voxels_of_nrrd(path):
    fields, length = _fields(path, True)
    nbytes = _product(fields, "sizes", _integer(fields, "dimension", "", 1))
    words = fields.get("type", "").lower().removesuffix("_t").split()
    words = words[1:] if len(words) > 1 and words[0] in ("signed", "unsigned") else words
    kind = " ".join(words[:-1] if len(words) > 1 and words[-1] == "int" else words)
    size = _NRRD_BYTES.get(kind) or _NRRD_BYTES.get(kind.removeprefix("u"))
    if size is None:
        raise ValueError(f"its type is '{kind[:99]}', which is not one of voxels")
    for name in ("units", "space units"):
        _check_units(fields, name)
    encoding = fields.get("encoding", "").lower()
    if encoding not in ("raw", "gzip", "gz"):
        raise ValueError(f"its encoding is '{encoding[:99]}', but must be raw or gzip: save it as one of these")
    for name in ("byteskip", "lineskip"):
        if _integer(fields, name, "0", -1) != 0:
            raise ValueError(f"its {name} is {fields[name]}, but its voxels must begin its data file")
    file = _data_file(path, fields["datafile"]) if "datafile" in fields else path
    return Voxels(file, length if file == path else 0, nbytes * size, encoding != "raw")


def voxels(path):
    """Where the voxels of a MetaImage or NRRD file are. Raises ValueError, unless its header is one of these."""
    with open(path, "rb") as file:
        return _voxels_of_nrrd(path) if file.read(7) == b"NRRD000" else _voxels_of_meta(path)


def verify(part):
    """Raise ValueError if voxels are truncated, or if those that are compressed have a wrong checksum."""
    if not part.is_compressed:
        size = os.path.getsize(part.file)
        if size < part.offset + part.nbytes:
            raise ValueError(f"{part.file} has {size} bytes, but the header promises {part.offset + part.nbytes}")
        return
    total, decompressor = 0, None
    try:
        with open(part.file, "rb") as file:
            file.seek(part.offset)
            while chunk := file.read(2**18):
                while chunk and (decompressor is None or not decompressor.eof or chunk.startswith(b"\x1f\x8b")):
                    if decompressor is None or decompressor.eof:
                        # zlib or gzip, which may have several members.
                        decompressor = zlib.decompressobj(47)
                    total += len(decompressor.decompress(chunk))
                    chunk = decompressor.unused_data
    except zlib.error as error:
        raise ValueError(f"the compressed voxels of {part.file} are corrupt: {error}") from None
    if decompressor is None or not decompressor.eof or total < part.nbytes:
        raise ValueError(f"the compressed voxels of {part.file} are truncated: {total} bytes of {part.nbytes}")
