# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What SimpleITK does not check in MetaImage and NRRD files: that voxels are in one regular file, and complete. Imports no NumPy."""

import contextlib
import math
import os
import re
import zlib

_LONGEST_HEADER = 2**20
_POSITIVE = "0*[1-9][0-9]{0,17}"
_INTEGER = ("", _POSITIVE, "but must be an integer from 1 on")
_SIZES = ("", f"{_POSITIVE}(\\s+{_POSITIVE})*", "but must be positive integers, one for each dimension")
_UNITS = ("", r"(?i:(\W*(mm|millimet(er|re)s?|none))*\W*)", "which readers ignore: save it with lengths in mm")
_FIRST = ("0", "0", "but must be 0, so that its voxels begin its data file")
# For each field: its default, what it must match, and the rule.
_META = {
    "NDims": _INTEGER,
    "DimSize": _SIZES,
    "ElementType": ("", "MET_U?(CHAR|SHORT|INT|LONG|LONG_LONG|FLOAT|DOUBLE)(_ARRAY)?", "which is not a type of voxels"),
    "ElementNumberOfChannels": ("1", *_INTEGER[1:]),
    "ElementToIntensityFunctionSlope": ("1", r"1(\.0)?", "which readers ignore: save the scaled values"),
    "ElementToIntensityFunctionOffset": ("0", r"0(\.0)?", "which readers ignore: save the scaled values"),
    "DistanceUnits": _UNITS,
    "BinaryData": ("True", "[Tt1].*", "but must be True: save it as binary"),
    "CompressedData": ("False", ".*", ""),
    "HeaderSize": _FIRST,
}
_NRRD = {
    "dimension": _INTEGER,
    "sizes": _SIZES,
    "type": (
        "",
        "(?i:(?:signed |unsigned |u)?(char|short|int|long ?long|int8|int16|int32|int64|float|double)( int|_t)?)",
        "which is not one of voxels",
    ),
    "units": _UNITS,
    "space units": _UNITS,
    "encoding": ("", "(?i:raw|gzip|gz)", "but must be raw or gzip: save it as one of these"),
    "byte skip": _FIRST,
    "line skip": _FIRST,
}
_BYTES = {"char": 1, "int8": 1, "short": 2, "int16": 2, "int": 4, "int32": 4, "long": 4, "longlong": 8, "int64": 8}
_BYTES |= {"float": 4, "double": 8}
# Keys of MetaImage: the number of values, as a power of the number of dimensions.
_META_GEOMETRY = {"ElementSpacing": 1, "ElementSize": 1, "Offset": 1, "Origin": 1, "Position": 1}
_META_GEOMETRY |= {"TransformMatrix": 2, "Rotation": 2, "Orientation": 2}


def files_of_image(path):
    """The files that reading an image opens, or the entries of a folder, and the path itself."""
    if os.path.isdir(path):
        return [*sorted(entry.path for entry in os.scandir(path)), path]
    files = [path]
    with contextlib.suppress(OSError, ValueError):
        # Opening a pipe would wait for its other end, and parsing what is not a header of text would take time.
        if os.path.isfile(path) and os.fspath(path).lower().endswith((".mha", ".mhd", ".nrrd", ".nhdr")):
            files.append(voxels(path)[0])
    return list(dict.fromkeys(files))


def _fields(path, is_nrrd):
    """The fields of a header of text, and its length."""
    with open(path, "rb") as file:
        content = file.read(_LONGEST_HEADER)
    fields, pattern = {}, "([^:]*)(:?)(.*)" if is_nrrd else "([^=:]*)([=:]?)(.*)"
    for match in re.finditer(rb"[^\n]*(\n|$)", content):
        line = match[0].decode("latin-1").rstrip("\r\n")
        if match.end() >= _LONGEST_HEADER:
            break
        if is_nrrd and not line:
            return fields, match.end()
        name, separator, value = re.fullmatch(pattern, line, re.S).groups()
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


def _data_file(path, name):
    if not name or name.startswith("LIST") or "%" in name:
        raise ValueError(f"its voxels are in several files ({name[:99]}): save it as one file")
    file = os.path.join(os.path.dirname(path), name)
    if not os.path.isfile(file) or os.path.samefile(path, file):
        raise ValueError(f"its data file {file[:999]} is {'the header itself' if os.path.isfile(file) else 'missing'}")
    return file


def voxels(path):
    """Where the voxels of a MetaImage or NRRD file are: a file, an offset, up to whose end they are, their bytes, and whether they are
    compressed. Raises ValueError, unless the header is one of these."""
    with open(path, "rb") as file:
        is_nrrd = file.read(7) == b"NRRD000"
    rules, names = (_NRRD, ("dimension", "sizes", "type")) if is_nrrd else (_META, ("NDims", "DimSize", "ElementType"))
    fields, length = _fields(path, is_nrrd)
    for name, (default, pattern, rule) in rules.items():
        value = fields.setdefault(name.replace(" ", ""), default)
        if not re.fullmatch(pattern, value):
            raise ValueError(f"its {name} is '{value[:99]}', {rule}")
    dimension, sizes, kind = (fields[name] for name in names)
    dimension, sizes = int(dimension), [int(size) for size in sizes.split()]
    if len(sizes) != dimension:
        raise ValueError(f"its {names[1]} are {len(sizes)} numbers, but there are {dimension} dimensions")
    value_bytes = _BYTES[re.sub("[_ ]", "", re.fullmatch(rules[names[2]][1], kind)[1]).lower()]
    nbytes = math.prod(sizes) * value_bytes * int(fields.get("ElementNumberOfChannels", 1))
    element = fields.get("datafile") if is_nrrd else fields["ElementDataFile"]
    is_here = element is None if is_nrrd else element.lower() == "local"
    file = path if is_here else _data_file(path, element)
    offset = length if file == path else 0
    if is_nrrd:
        return file, offset, nbytes, fields["encoding"].lower() != "raw"
    for name, power in _META_GEOMETRY.items():
        if name in fields and len(fields[name].split()) != dimension**power:
            raise ValueError(f"its {name} is '{fields[name][:99]}', but must have {dimension**power} numbers")
    is_compressed = fields["CompressedData"][:1] in ("T", "t", "1")
    size, promised = os.path.getsize(file) - offset, fields.get("CompressedDataSize")
    if is_compressed and promised not in (None, str(size)):
        raise ValueError(f"{file} has {size} bytes of voxels, but the header promises {promised[:99]}")
    return file, offset, nbytes, is_compressed


def verify(path, offset, nbytes, is_compressed):
    """Raise ValueError if voxels are truncated, or if those that are compressed have a wrong checksum."""
    if not is_compressed:
        size = os.path.getsize(path)
        if size < offset + nbytes:
            raise ValueError(f"{path} has {size} bytes, but the header promises {offset + nbytes}")
        return
    # Streams of zlib or gzip, which may have several members.
    total, decompressor = 0, zlib.decompressobj(47)
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            while chunk := decompressor.unused_data or file.read(2**18):
                if decompressor.eof and not chunk.startswith(b"\x1f\x8b"):
                    break
                decompressor = zlib.decompressobj(47) if decompressor.eof else decompressor
                total += len(decompressor.decompress(chunk))
    except zlib.error as error:
        raise ValueError(f"the compressed voxels of {path} are corrupt: {error}") from None
    if not decompressor.eof or total < nbytes:
        raise ValueError(f"the compressed voxels of {path} are truncated: {total} bytes of {nbytes}")
