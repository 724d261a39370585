# Copyright NumFOCUS
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#         https://www.apache.org/licenses/LICENSE-2.0.txt
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Broken image files: absurd values in headers, a table, and cuts, flipped bits and the like at random places."""

import collections
import gzip
import math
import random
import re
import struct
import zlib

import formats
import judge
import readers

NAN, INF = math.nan, math.inf

# The first file is opened. A reference is the image that is right; without it, that of the unbroken files.
Broken = collections.namedtuple("Broken", "name writer files expect mentions reference", defaults=("error", (), None))


def make_files(writer):
    return writer(formats.make_image(*formats.FORMATS[writer]))


def as_read(writer, values):
    """The image that ITK reads, with other values."""
    dimension, code = formats.FORMATS[writer]
    image = formats.make_image(dimension, code)
    if writer in (formats.dicom, formats.dicom_implicit):
        return formats.Image((*image.size, 1), code, values, (0.5, 0.75, 1.0))
    if dimension == 2:
        return formats.Image(image.size, code, values, (1.0, 1.0), (0.0, 0.0))
    return formats.Image(image.size, code, values)


def patch(content, offset, layout, *values):
    content = bytearray(content)
    struct.pack_into(layout, content, offset, *values)
    return bytes(content)


def replace_first(files, change):
    name, content = next(iter(files.items()))
    return {**files, name: change(content)}


NIFTI_PATCHES = [  # offset, layout, values, what is expected
    *[(40, "<h", [value], "error") for value in (9, 0, -1, 300)],
    *[(42, "<h", [value], "error") for value in (0, -9, 32767)],
    *[(46, "<h", [value], "error") for value in (0, -7, 8, 32767)],
    (40, "<5h", [4, 9, 8, 7, 2], "error"),
    (40, "<5h", [4, 9, 8, 7, 0], "either"),
    (40, "<8h", [7, 9, 8, 7, 32767, 32767, 32767, 32767], "error"),
    (40, "<4h", [1, 504, 1, 1], "error"),
    *[(70, "<h", [value], "error") for value in (0, 1, 32, 128, 255, 999, -4, 1536, 1792, 2304)],
    *[(72, "<h", [value], "either") for value in (0, 8, 32, -16)],
    *[(80, "<f", [value], "voxels") for value in (0, NAN, INF, -1, 1e38, 1e-38)],
    *[(88, "<f", [value], "voxels") for value in (0, NAN, -INF)],
    *[(108, "<f", [value], "error") for value in (1e9, 1e38, NAN, INF, 800)],
    *[(108, "<f", [value], "either") for value in (0, -1, 300, 352.5)],
    *[(112, "<2f", values, "either") for values in ([NAN, 0], [INF, 0], [1, NAN], [0, NAN], [0, 5])],
    *[(280, "<f", [value], "either") for value in (NAN, INF, 0, 1e38)],
    (280, "<12f", [0] * 12, "either"),
    (292, "<f", [NAN], "either"),
    (252, "<2h3f", [1, 0, NAN, NAN, NAN], "either"),
    (252, "<2h3f", [1, 0, 3, 4, 5], "either"),
    (252, "<2h", [-1, 999], "either"),
    (0, "<i", [0], "error"),
    (0, "<i", [540], "error"),
    (0, ">i", [348], "error"),
    (344, "4s", [b"n+9\0"], "error"),
    (344, "4s", [b"ni1\0"], "either"),
    (344, "4s", [bytes(4)], "either"),
    (348, "4B", [1, 0, 0, 0], "either"),
    (348, "4B", [255] * 4, "either"),
    (68, "<h", [1007], "either"),
]

META_LINES = [
    *["NDims = " + value for value in ("-3", "0", "100", "2", "x", "", "3000000000", "1")],
    *["DimSize = " + value for value in ("-9 8 7", "0 8 7", "9 8", "9 8 8", "", "9 8 x", "9.5 8 7", "9 8 999999999")],
    *["DimSize = " + value for value in ("4294967296 4294967296 4294967296", "2147483648 2 1")],
    *[
        "ElementType = " + value
        for value in ("MET_FOO", "", "MET_DOUBLE", "MET_STRING", "MET_OTHER", "MET_SHORT_ARRAY")
    ],
    *["ElementSpacing = " + value for value in ("0 1 1", "nan 1 1", "inf 1 1", "1e308 1e308 1e308", "x", "1 1")],
    *["TransformMatrix = " + value for value in ("0 0 0 0 0 0 0 0 0", "nan 0 0 0 1 0 0 0 1", "1", "1 1 1 1 1 1 1 1 1")],
    *["Offset = " + value for value in ("nan 0 0", "inf 0 0", "1e308 1e308 1e308", "x y z")],
    *["ElementDataFile = " + value for value in ("", "LIST", "missing.raw", "%s%n.raw", "100%.raw", ".", "/dev/zero")],
    *["ElementDataFile = " + value for value in ("/dev/null", "v%03d.raw 1 7 1", "v%s.raw 1 7 1", "../" * 50, "v.mhd")],
    *["ElementNumberOfChannels = " + value for value in ("0", "-1", "3", "1000000", "x")],
    *["HeaderSize = " + value for value in ("-2", "99999", "1", "99999999999999999999")],
    *[
        "CompressedData = True",
        "BinaryData = False",
        "CompressedDataSize = 5",
        "ObjectType = Tube",
        "x" * 20000 + " = 1",
    ],
]

NRRD_LINES = [
    *["dimension: " + value for value in ("-3", "0", "17", "999999999", "2", "x", "")],
    *["sizes: " + value for value in ("-9 8 7", "0 8 7", "9 8", "9 8 8", "", "9 8 x", "999999999 999999999 999999999")],
    *["sizes: 4294967296 4294967296 4294967296", "sizes: 18446744073709551615 8 7", "sizes: 504 1"],
    *["type: " + value for value in ("foo", "double", "block", "", "int64")],
    *["encoding: " + value for value in ("gzip", "hex", "bzip2", "ascii", "foo", "")],
    *["endian: " + value for value in ("foo", "")],
    *[
        "space directions: " + value
        for value in ("(nan,0,0) (0,1,0) (0,0,1)", "(0,0,0) (0,1,0) (0,0,1)", "none none none")
    ],
    *[
        "space directions: " + value
        for value in ("(1,0,0) (1,0,0) (0,0,1)", "(1e308,0,0) (0,1e308,0) (0,0,1)", "(1,0)", "x")
    ],
    *["space origin: " + value for value in ("(nan,0,0)", "(inf,0,0)", "(1e308,1e308,1e308)", "(0,0)", "x")],
    *[
        "space: foo",
        "kinds: vector domain domain",
        "kinds: domain",
        "centers: x",
        "measurement frame: (nan,0,0) (0,1,0) (0,0,1)",
    ],
    *["byte skip: " + value for value in ("-2", "99999", "-99999", "x")],
    *["line skip: " + value for value in ("99999", "-1", "x")],
    *[
        "data file: " + value
        for value in ("missing.raw", "%s%n.raw", ".", "/dev/zero", "/dev/null", "LIST", "LIST 2", "v.nhdr")
    ],
    *["data file: v%03d.raw 1 7 1", "data file: v%s.raw 1 7 1", "x" * 20000, ": ", "a:=%n%s"],
]


def replace_line(content, line):
    """A line instead of the one with the same key, or before the last one."""
    head, separator, rest = content.partition(b"LOCAL\n") if b"LOCAL\n" in content else content.partition(b"\n\n")
    key, new = re.match(r"\w[\w ]*[=:]|", line)[0].encode(), line.encode()
    pattern = rb"(?m)^" + re.escape(key) + rb".*$"
    if key and re.search(pattern, head + separator):
        return re.sub(pattern, lambda _: new, head + separator, count=1) + rest
    position = (head + separator).rstrip().rfind(b"\n")
    return head[:position] + b"\n" + new + head[position:] + separator + rest


def make_header_cases():
    """Absurd values in headers."""
    for offset, layout, values, expect in NIFTI_PATCHES:
        for writer in (formats.nifti, formats.nifti_pair):
            if writer == formats.nifti_pair and offset in (108, 344, 348):
                continue
            files = replace_first(make_files(writer), lambda content: patch(content, offset, layout, *values))
            yield Broken(f"{writer.__name__} {offset}={values[:5]}", writer, files, expect)
    for pair, single, lines in (
        (formats.meta_pair, formats.meta, META_LINES),
        (formats.nrrd_pair, formats.nrrd, NRRD_LINES),
    ):
        for line in lines:
            # Lines about the data belong to detached headers.
            writer = single if re.match("ElementSpacing|Transform|Offset|space|Compressed|encoding", line) else pair
            files = replace_first(make_files(writer), lambda content: replace_line(content, line))
            expect = "voxels" if "1e308" in line or "none" in line else "either"
            yield Broken(f"{writer.__name__} {line[:60]}", writer, files, expect)


DICOM_CHANGES = {
    "Rows=0": {0x00280010: ("US", 0)},
    "Rows=65535": {0x00280010: ("US", 65535)},
    "Columns=10": {0x00280011: ("US", 10)},
    "no Rows": {0x00280010: None},
    "BitsAllocated=7": {0x00280100: ("US", 7)},
    "BitsAllocated=0": {0x00280100: ("US", 0)},
    "BitsAllocated=32": {0x00280100: ("US", 32)},
    "BitsStored=99": {0x00280101: ("US", 99)},
    "HighBit=99": {0x00280102: ("US", 99)},
    "three samples": {0x00280002: ("US", 3)},
    "no samples": {0x00280002: ("US", 0)},
    "PixelSpacing=0": {0x00280030: ("DS", "0\\0")},
    "PixelSpacing=nan": {0x00280030: ("DS", "nan\\nan")},
    "PixelSpacing=abc": {0x00280030: ("DS", "abc")},
    "PixelSpacing=1e308": {0x00280030: ("DS", "1e308\\1e308")},
    "slope=0": {0x00281053: ("DS", "0")},
    "slope=nan": {0x00281053: ("DS", "nan")},
    "slope=x": {0x00281053: ("DS", "x")},
    "position=nan": {0x00200032: ("DS", "nan\\0\\0")},
    "orientation=0": {0x00200037: ("DS", "0\\0\\0\\0\\0\\0")},
    "orientation short": {0x00200037: ("DS", "1\\0")},
    "photometric": {0x00280004: ("CS", "FOO")},
    "frames=-1": {0x00280008: ("IS", "-1")},
    "frames=99999999": {0x00280008: ("IS", "99999999")},
    "no pixels": {0x7FE00010: None},
    "empty pixels": {0x7FE00010: ("OW", b"")},
    "few pixels": {0x7FE00010: ("OW", bytes(40))},
    "odd pixels": {0x7FE00010: ("OW", bytes(143))},
}


def make_special_cases():
    """What belongs to one format."""
    image = formats.make_image()
    data = image.to_bytes()
    nii = make_files(formats.nifti)["v.nii"]
    zipped = make_files(formats.nifti_gzip)["v.nii.gz"]
    double_gzip = gzip.compress(nii[:700], mtime=0) + gzip.compress(nii[700:], mtime=0)
    for name, content, expect in (
        ("two members", double_gzip, "success"),
        ("empty member", zipped + gzip.compress(b"", mtime=0), "success"),
        ("wrong CRC", patch(zipped, len(zipped) - 8, "<I", 1), "error"),
        ("wrong length", patch(zipped, len(zipped) - 4, "<I", 7), "error"),
        ("trailing garbage", zipped + b"garbage", "either"),
        ("trailing zeros", zipped + bytes(512), "either"),
        ("no CRC", zipped[:-8], "error"),
        ("half CRC", zipped[:-6], "error"),
        ("second member cut", double_gzip[:-30], "error"),
        ("reserved flags", patch(zipped, 3, "B", 0xE0), "either"),
        ("name in the header", zipped[:3] + b"\x08" + zipped[4:10] + b"name\0" + zipped[10:], "success"),
        ("other method", patch(zipped, 2, "B", 7), "error"),
        ("not compressed", nii, "success"),
        ("compressed twice", gzip.compress(zipped, mtime=0), "error"),
        ("shorter inside", gzip.compress(nii[:-100], mtime=0), "error"),
        ("longer inside", gzip.compress(nii + bytes(100), mtime=0), "either"),
        ("empty", b"", "error"),
        ("nothing inside", gzip.compress(b"", mtime=0), "error"),
        ("bomb", gzip.compress(patch(nii, 42, "<3h", 32767, 32767, 32767), mtime=0), "error"),
    ):
        yield Broken("gzip " + name, formats.nifti_gzip, {"v.nii.gz": content}, expect)
    zipped = gzip.compress(data, mtime=0)
    for name, content, expect in (
        ("no CRC", zipped[:-8], "error"),
        ("wrong CRC", zipped[:-8] + bytes(8), "error"),
        ("cut", zipped[:-20], "error"),
        ("shorter inside", gzip.compress(data[:-100], mtime=0), "error"),
        ("two members", gzip.compress(data[:99]) + gzip.compress(data[99:]), "either"),
        ("not compressed", data, "either"),
    ):
        for writer in (formats.nrrd_gzip, formats.nrrd_gzip_pair):
            files = make_files(writer)
            name_of_data = list(files)[-1]
            head = files[name_of_data].partition(b"\n\n")[0] + b"\n\n" if len(files) == 1 else b""
            yield Broken(f"{writer.__name__} {name}", writer, {**files, name_of_data: head + content}, expect)

    other = formats.nifti(formats.make_image(seed=2))["v.nii"]
    zipped = make_files(formats.nifti_gzip)
    yield Broken("v.nii beside v.nii.gz", formats.nifti_gzip, {**zipped, "v.nii": other}, "success")
    yield Broken("v.nii.gz beside v.nii", formats.nifti, {"v.nii": nii, "v.nii.gz": gzip.compress(other)}, "success")
    yield Broken(
        "v.hdr beside v.nii", formats.nifti, {"v.nii": nii, "v.hdr": other[:348], "v.img": other[352:]}, "success"
    )
    pair = make_files(formats.nifti_pair)
    yield Broken("v.nii beside v.hdr", formats.nifti_pair, {**pair, "v.nii": other}, "success")
    for writer in (formats.nifti_pair, formats.meta_pair, formats.nrrd_pair, formats.nrrd_gzip_pair):
        head, voxels = make_files(writer).items()
        for name, broken in (("missing", None), ("empty", b""), ("shorter", voxels[1][:-2]), ("tiny", b"x")):
            files = dict([head] + [(voxels[0], broken)] * (broken is not None))
            yield Broken(f"{writer.__name__} data {name}", writer, files, "error", (head[0], voxels[0]))
    for writer in (formats.nifti, formats.nifti_pair, formats.meta, formats.meta_pair, formats.nrrd, formats.nrrd_pair):
        files = make_files(writer)
        last = list(files)[-1]
        yield Broken(f"{writer.__name__} trailing bytes", writer, {**files, last: files[last] + bytes(77)}, "success")
    for writer, line in ((formats.meta_pair, "HeaderSize = -1"), (formats.nrrd_pair, "byte skip: -1")):
        files = replace_first(make_files(writer), lambda content: replace_line(content, line))
        yield Broken(f"{writer.__name__} {line}", writer, {**files, "v.raw": b"0123456789" + data}, "success")
    for size in ((0, 8, 7), (9, 8, 0), (0, 0, 0)):
        for writer in (formats.meta, formats.nrrd, formats.nifti, formats.vtk, formats.gipl):
            yield Broken(f"{writer.__name__} of no voxels {size}", writer, writer(formats.Image(size, "h", ())))
    for code, value in (("q", 2**53 + 1), ("Q", 2**64 - 1), ("q", -(2**63))):
        large = formats.Image(image.size, code, (value, *image.values[1:]))
        for writer in (formats.nifti, formats.nrrd):
            yield Broken(f"{writer.__name__} {value}", writer, writer(large), "error", (), "unknown")
    huge = {"v.mhd": formats.meta_header(formats.Image((2000, 2000, 1000), "d", ()), "v.raw"), "v.raw": 32 * 10**9}
    yield Broken("more voxels than memory", formats.meta_pair, huge)

    good = make_files(formats.png)["v.png"]
    header = struct.pack(">2I5B", 9, 8, 8, 0, 0, 0, 0)
    for name, content in (
        ("bad CRC", patch(good, 29, ">I", 1)),
        ("bad data", patch(good, 45, ">I", 0)),
        ("bad chunk", good[:33] + formats.png_chunk(b"\x01\xff??", b"x") + good[33:]),
        ("huge chunk", patch(good, 33, ">I", 0x7FFFFFFF)),
        ("no voxels", good[:8] + formats.png_chunk(b"IHDR", bytes(8) + header[8:]) + good[33:]),
        ("huge", good[:8] + formats.png_chunk(b"IHDR", b"\x7f\xff\xff\xff" * 2 + header[8:]) + good[33:]),
        ("bit depth 3", good[:8] + formats.png_chunk(b"IHDR", header[:8] + b"\3" + header[9:]) + good[33:]),
        ("palette without one", good[:8] + formats.png_chunk(b"IHDR", header[:9] + b"\3" + header[10:]) + good[33:]),
        ("few rows", good[:33] + formats.png_chunk(b"IDAT", zlib.compress(bytes(20))) + good[-12:]),
    ):
        yield Broken("png " + name, formats.png, {"v.png": content})
    for length in range(120, 360, 20):
        yield Broken(f"dicom cut at {length}", formats.dicom, {"v.dcm": make_files(formats.dicom)["v.dcm"][:length]})
    plane = formats.make_image(2, "H")
    for name, changes in DICOM_CHANGES.items():
        expect = "voxels" if name in ("PixelSpacing=0", "PixelSpacing=1e308") else "either"
        yield Broken("dicom " + name, formats.dicom, formats.dicom(plane, changes=changes), expect)
    for syntax in ("1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.5", "1.2.3", ""):
        yield Broken(f"dicom syntax {syntax}", formats.dicom, formats.dicom(plane, syntax), "either")
    for name, content in (("text", b"no image\n"), ("empty", b""), ("zeros", bytes(2000))):
        for suffix in ("nii", "hdr", "mha", "mhd", "nrrd", "nhdr", "png", "dcm", "gipl", "vtk", "tif", "bmp", "xyz"):
            yield Broken(f"{name}.{suffix}", formats.nrrd, {f"v.{suffix}": content})


def find_header_size(writer, content):
    if writer in (formats.nifti, formats.nifti_pair):
        return 348
    for separator in (b"LOCAL\n", b"\n\n", b"LOOKUP_TABLE default\n"):
        if separator in content:
            return content.index(separator) + len(separator)
    sizes = {formats.gipl: 256, formats.png: 41, formats.bmp: 54, formats.nifti_gzip: 20}
    return sizes.get(writer, len(content) if len(content) < 400 else len(content) - 144)


def make_random_case(key):
    """A cut, flipped bits, or overwritten or repeated bytes, in one of the files."""
    generator = random.Random(key)
    writer = generator.choice(list(formats.FORMATS))
    files = make_files(writer)
    name = generator.choice(list(files))
    content = bytearray(files[name])
    is_raw = writer not in (
        formats.nifti_gzip,
        formats.meta_compressed,
        formats.nrrd_gzip,
        formats.nrrd_gzip_pair,
        formats.png,
    )
    header_size = find_header_size(writer, content) if name == list(files)[0] else 0
    where = generator.choice(("header", "voxels"))
    if header_size in (0, len(content)):
        where = "voxels" if header_size == 0 else "header"
    first, last = (0, header_size) if where == "header" else (header_size, len(content))
    kind = generator.choice(("cut", "flip", "flip", "flips", "overwrite"))
    if kind == "cut":
        # Most often near an edge.
        edges = (first, last - 1, generator.randrange(first, last))
        length = min(max(generator.choice(edges) + generator.randint(-3, 3), 0), len(content) - 1)
        content = content[:length]
        detail = str(length)
    else:
        places = generator.sample(range(first, last), {"flip": 1, "flips": 3, "overwrite": 1}[kind])
        for place in places:
            content[place] ^= 1 << generator.randrange(8)
        if kind == "overwrite":
            content[places[0] : places[0] + 8] = bytes([generator.choice((0, 255))]) * len(
                content[places[0] : places[0] + 8]
            )
        detail = ",".join(map(str, places))
    files[name] = bytes(content)
    reference, expect = None, "either"
    if kind != "cut":
        if writer.__name__ in readers.READERS:
            try:
                reference = readers.READERS[writer.__name__](*files.values())
            except Exception:
                # Errors are right, and so are the voxels of the unbroken file.
                reference = None
        elif is_raw:
            reference = "unknown"
    return Broken(f"{key} {writer.__name__} {name} {kind} {where} {detail}", writer, files, expect, (), reference)


def make_cases(number_of_random_cases, seed):
    for writer in formats.FORMATS:
        unbroken = Broken(f"{writer.__name__} unbroken", writer, make_files(writer), "success")
        yield from make_role_cases(unbroken, judge.ROLES)
    roles = list(judge.ROLES)
    for i, broken in enumerate([*make_header_cases(), *make_special_cases()]):
        # Large integers are a mask as good as others.
        masks = [roles[2 + i % 3]] if i % 2 and broken.reference != "unknown" else []
        yield from make_role_cases(broken, [roles[i % 4 // 2], *masks])
    for i in range(number_of_random_cases):
        yield from make_role_cases(make_random_case(f"{seed}.{i}"), [roles[i % len(roles)]])


def make_role_cases(broken, roles):
    for role in roles:
        yield judge.make_case(
            f"{broken.name} as {role}",
            role,
            broken.files,
            "either" if broken.expect == "voxels" else broken.expect,
            broken.mentions or tuple(broken.files),
            make_files(broken.writer),
            broken.reference,
            seed="3,3" if broken.writer in (formats.png, formats.tiff, formats.bmp) else "3,3,0",
            only_voxels=broken.expect == "voxels" or isinstance(broken.reference, formats.Image),
        )
