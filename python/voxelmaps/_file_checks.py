# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""Whether image files are whole. ITK's readers, and with them SimpleITK's, take what is missing of some formats as zeros, or as
other values, without a word."""

import math
import os
import struct
import zlib

# Of compressed data; what it holds is at most about a thousand times as long.
_CHUNK = 2**18


class _Content:
    """What a file holds: its first bytes and its length, of compressed files after decompression."""

    def __init__(self, path, what):
        with open(path, "rb") as file:
            self.head = file.read(2)
            file.seek(0)
            if self.head != b"\x1f\x8b":
                self.head = file.read(_CHUNK)
                self.length = os.fstat(file.fileno()).st_size
                return
            try:
                self.head, self.length = self._decompress(file)
            except (zlib.error, EOFError) as error:
                raise ValueError(f"{what} {path} is damaged: {error}") from None

    @staticmethod
    def _decompress(file):
        """Reads all members of a gzip file, which zlib checks."""
        head, length = b"", 0
        member, rest = zlib.decompressobj(31), b""
        while True:
            data = rest or file.read(_CHUNK)
            rest = b""
            if not data:
                if not member.eof:
                    raise EOFError(f"the compressed data end after {length} bytes, before their checksum")
                return head, length
            if member.eof:
                # Zeros after the end are padding, as gzip takes them.
                if not data.strip(b"\0"):
                    continue
                member = zlib.decompressobj(31)
            plain = member.decompress(data)
            head = head if len(head) >= 1024 else head + plain[:1024]
            length += len(plain)
            rest = member.unused_data


def _nifti(head):
    """Position and length of the voxels, and whether they are in the same file; None if this is no header of NIfTI or
    Analyze."""
    for order in "<>":
        if len(head) >= 348 and struct.unpack_from(order + "i", head)[0] == 348:
            dimensions = struct.unpack_from(order + "8h", head, 40)
            bits = struct.unpack_from(order + "h", head, 72)[0]
            offset = struct.unpack_from(order + "f", head, 108)[0]
            is_single = head[344:348] == b"n+1\0"
            break
        if len(head) >= 540 and struct.unpack_from(order + "i", head)[0] == 540:
            dimensions = struct.unpack_from(order + "8q", head, 16)
            bits = struct.unpack_from(order + "h", head, 14)[0]
            offset = struct.unpack_from(order + "q", head, 168)[0]
            is_single = head[4:7] == b"n+2"
            break
    else:
        return None
    sizes = dimensions[1 : 1 + max(dimensions[0], 0)]
    if not 1 <= dimensions[0] <= 7 or min(sizes) < 1 or bits < 1:
        raise ValueError(f"its header has the sizes {list(dimensions)} and {bits} bits per voxel")
    if not 0 <= offset < 2**40:
        raise ValueError(f"its header says that the voxels begin at byte {offset}")
    return int(offset), math.prod(sizes) * bits // 8, is_single


def _data_file(path):
    """The file with the voxels of a header .hdr."""
    stem = path[: -len(".hdr")]
    for ending in (".img", ".img.gz", ".IMG"):
        if os.path.isfile(stem + ending):
            return stem + ending
    raise ValueError(f"its data file {stem}.img does not exist")


_GIPL_BITS = {1: 1, 7: 8, 8: 8, 15: 16, 16: 16, 31: 32, 32: 32, 64: 32, 65: 64}


def _expected_length(path, content, what):
    """How long the content must be at least, from what its first bytes say; 0 if that is left to the reader."""
    name = path.lower().removesuffix(".gz")
    if name.endswith((".nii", ".hdr")):
        found = _nifti(content.head)
        if found is None:
            raise ValueError("it has no header of NIfTI or Analyze")
        offset, length, is_single = found
        if is_single:
            return offset + length
        data = _data_file(path)
        check_length(data, _Content(data, what).length, offset + length)
    elif name.endswith(".gipl"):
        if len(content.head) < 256:
            return 256
        sizes, kind = struct.unpack_from(">4H", content.head), struct.unpack_from(">H", content.head, 8)[0]
        return 256 + math.prod(max(n, 1) for n in sizes) * _GIPL_BITS.get(kind, 0) // 8
    elif name.endswith((".jpg", ".jpeg")) and not _ends_as_jpeg(path):
        raise ValueError("it has no end marker")
    return 0


def _ends_as_jpeg(path):
    with open(path, "rb") as file:
        return file.read().rstrip(b"\0").endswith(b"\xff\xd9")


def check_length(path, length, expected):
    if length < expected:
        raise ValueError(f"{path} holds {length} bytes, but its header promises {expected}")


def check(path, what):
    """Raise ValueError if a file is shorter than its header promises, or its compressed data are damaged."""
    if path.lower().endswith(".vtk"):
        raise ValueError(
            f"{what} {path} is not read, since a cut VTK file reads as a whole one; convert it to NIfTI or NRRD"
        )
    if path.lower().endswith((".img", ".img.gz")):
        raise ValueError(f"{what} {path} holds voxels only; give its header .hdr")
    content = _Content(path, what)
    if content.length == 0:
        raise ValueError(f"{what} {path} is empty")
    try:
        check_length("it", content.length, _expected_length(path, content, what))
    except ValueError as error:
        raise ValueError(f"{what} {path} is damaged: {error}") from None
