# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Broken image files: absurd values in headers, and cuts and flipped bits at random places."""

import collections
import gzip
import os
import random
import re
import struct
import zlib

import formats
import readers

# The first file is opened. A reference is the image that is right; without it, that of the unbroken files; "unknown" if any
# result will do. For voxels, the geometry may be another one. Prepare changes the folder before the run.
Broken = collections.namedtuple(
    "Broken", "name writer files expect reference mentions prepare", defaults=("error", None, (), None)
)

# Offset, type, what is expected, and values, each for a case.
NIFTI = """
40 h error 9 0 -1 300 4,9,8,7,2 7,9,8,7,32767,32767,32767,32767 1,504,1,1
40 h either 4,9,8,7,0
42 h error 0 -9 32767
46 h error 0 -7 8 32767
68 h either 1007
70 h error 0 1 32 128 255 999 -4 1536 1792 2304
72 h either 0 8 32 -16
80 f voxels 0 nan inf -1 1e38 1e-38
88 f voxels 0 nan -inf
108 f error 1e9 1e38 nan inf 800
108 f either 0 -1 300 352.5
112 f either nan,0 inf,0 1,nan 0,nan 0,5
280 f either nan inf 0 1e38 0,0,0,0,0,0,0,0,0,0,0,0
292 f either nan
256 f either nan,nan,nan 3,4,5
252 h either 1,0 -1,999
252 h voxels 0,0
0 i either 0 540 1543569408
344 B either 110,43,57 110,105
344 B voxels 0,0,0
348 B either 1 255,255,255,255
"""

META = """
NDims = -3|0|100|2|x||3000000000|1
DimSize = -9 8 7|0 8 7|9 8|9 8 8||9 8 x|9.5 8 7|9 8 999999999|4294967296 4294967296 4294967296|2147483648 2 1
ElementType = MET_FOO||MET_DOUBLE|MET_STRING|MET_OTHER|MET_SHORT_ARRAY
ElementSpacing = 0 1 1|nan 1 1|inf 1 1|1e308 1e308 1e308|x|1 1
TransformMatrix = 0 0 0 0 0 0 0 0 0|nan 0 0 0 1 0 0 0 1|1|1 1 1 1 1 1 1 1 1
Offset = nan 0 0|inf 0 0|1e308 1e308 1e308|x y z
ElementDataFile = |LIST|missing.raw|%s%n.raw|100%.raw|.|/dev/zero|/dev/null|v%03d.raw 1 7 1|v%s.raw 1 7 1|../../../|v.mhd
ElementNumberOfChannels = 0|-1|3|1000000|x
HeaderSize = -2|99999|1|99999999999999999999
CompressedData = True
CompressedDataSize = 5
BinaryData = False
ObjectType = Tube
"""

NRRD = """
dimension: -3|0|17|999999999|2|x|
sizes: -9 8 7|0 8 7|9 8|9 8 8||9 8 x|999999999 999999999 999999999|4294967296 4294967296 4294967296|504 1
type: foo|double|block||int64
encoding: gzip|hex|bzip2|ascii|foo|
endian: foo|
space directions: (nan,0,0) (0,1,0) (0,0,1)|(0,0,0) (0,1,0) (0,0,1)|none none none|(1,0,0) (1,0,0) (0,0,1)|(1,0)|x
space directions: (1e308,0,0) (0,1e308,0) (0,0,1)
space origin: (nan,0,0)|(inf,0,0)|(1e308,1e308,1e308)|(0,0)|x
space: foo
kinds: vector domain domain|domain
measurement frame: (nan,0,0) (0,1,0) (0,0,1)
byte skip: -2|99999|-99999|x
line skip: 99999|-1|x
data file: missing.raw|%s%n.raw|.|/dev/zero|/dev/null|LIST|LIST 2|v.nhdr|v%03d.raw 1 7 1|v%s.raw 1 7 1
"""

# Tag, type, values; without a value, the element is left out.
DICOM = """
00280010 US 0|65535|
00280011 US 10
00280100 US 7|0|32
00280101 US 99
00280102 US 99
00280002 US 3|0
00280030 DS 0\\0|nan\\nan|abc|1e308\\1e308
00281053 DS 0|nan|x
00200032 DS nan\\0\\0
00200037 DS 0\\0\\0\\0\\0\\0|1\\0
00280004 CS FOO
00280008 IS -1|99999999
7fe00010 OW xx|
"""


def make_files(writer):
    return writer(formats.make_image(*formats.FORMATS[writer]))


def patch(content, offset, layout, *values):
    content = bytearray(content)
    struct.pack_into(layout, content, offset, *values)
    return bytes(content)


def replace_first(files, change):
    name, content = next(iter(files.items()))
    return {**files, name: change(content)}


def replace_line(content, line):
    """A line instead of the one with the same key, or before the last one."""
    head, separator, rest = content.partition(b"LOCAL\n") if b"LOCAL\n" in content else content.partition(b"\n\n")
    head += separator
    pattern = rb"(?m)^" + re.match(r"\w[\w ]*[=:]", line)[0].encode() + rb".*$"
    if re.search(pattern, head):
        return re.sub(pattern, lambda _: line.encode(), head, count=1) + rest
    position = head.rstrip().rfind(b"\n")
    return head[:position] + b"\n" + line.encode() + head[position:] + rest


def make_header_cases():
    """Absurd values in headers."""
    for offset, kind, expect, *cases in map(str.split, NIFTI.strip().split("\n")):
        for values in cases:
            numbers = [float(value) if kind == "f" else int(value) for value in values.split(",")]
            for writer in (formats.nifti, formats.nifti_pair)[: 1 if offset in ("108", "344", "348") else 2]:
                change = lambda content: patch(content, int(offset), f"<{len(numbers)}{kind}", *numbers)
                files = replace_first(make_files(writer), change)
                yield Broken(f"{writer.__name__} {offset}={values}", writer, files, expect)
    for pair, single, table in ((formats.meta_pair, formats.meta, META), (formats.nrrd_pair, formats.nrrd, NRRD)):
        for key, equals, values in re.findall(r"(.+?)( =|:) (.*)", table):
            # Lines about the data belong to detached headers.
            writer = single if re.match("ElementSpacing|Transform|Offset|space|Compressed|encoding", key) else pair
            for line in (f"{key}{equals} {value}" for value in values.split("|")):
                files = replace_first(make_files(writer), lambda content: replace_line(content, line))
                expect = "voxels" if "1e308" in line or "none" in line else "either"
                yield Broken(f"{writer.__name__} {line}", writer, files, expect)
    for tag, representation, values in map(str.split, DICOM.strip().split("\n")):
        for value in values.split("|"):
            change = {"US": int, "OW": str.encode}.get(representation, str)(value) if value else None
            changes = {int(tag, 16): (representation, change) if value else None}
            files = formats.dicom(formats.make_image(2, "H"), changes=changes)
            expect = "voxels" if value in (r"0\0", r"1e308\1e308") else "either"
            yield Broken(f"dicom {tag}={value}", formats.dicom, files, expect)


def make_gzip_cases():
    nii = make_files(formats.nifti)["v.nii"]
    other = formats.nifti(formats.make_image(seed=2))["v.nii"]
    good = make_files(formats.nifti_gzip)["v.nii.gz"]
    double = gzip.compress(nii[:700]) + gzip.compress(nii[700:])
    for name, content, expect in (
        ("two members", double, "success"),
        ("empty member", good + gzip.compress(b""), "success"),
        ("wrong CRC", patch(good, len(good) - 8, "<I", 1), "error"),
        ("wrong length", patch(good, len(good) - 4, "<I", 7), "error"),
        ("trailing garbage", good + b"garbage", "either"),
        ("trailing zeros", good + bytes(512), "either"),
        ("no CRC", good[:-8], "error"),
        ("half CRC", good[:-6], "error"),
        ("second member cut", double[:-30], "error"),
        ("reserved flags", patch(good, 3, "B", 0xE0), "either"),
        ("name in the header", good[:3] + b"\x08" + good[4:10] + b"name\0" + good[10:], "success"),
        ("other method", patch(good, 2, "B", 7), "error"),
        ("not compressed", nii, "success"),
        ("compressed twice", gzip.compress(good), "error"),
        ("shorter inside", gzip.compress(nii[:-100]), "error"),
        ("longer inside", gzip.compress(nii + bytes(100)), "either"),
        ("nothing inside", gzip.compress(b""), "error"),
        ("huge inside", gzip.compress(patch(nii, 42, "<3h", 32767, 32767, 32767)), "error"),
    ):
        yield Broken("gzip " + name, formats.nifti_gzip, {"v.nii.gz": content}, expect)
    yield Broken("v.nii beside v.nii.gz", formats.nifti_gzip, {"v.nii.gz": good, "v.nii": other}, "success")
    yield Broken("v.nii.gz beside v.nii", formats.nifti, {"v.nii": nii, "v.nii.gz": gzip.compress(other)}, "success")
    pair = {"v.hdr": other[:348], "v.img": other[352:]}
    yield Broken("v.hdr beside v.nii", formats.nifti, {"v.nii": nii, **pair}, "success")
    yield Broken(
        "v.nii beside v.hdr", formats.nifti_pair, {**make_files(formats.nifti_pair), "v.nii": other}, "success"
    )

    data = nii[352:]
    good = gzip.compress(data)
    for name, content, expect in (
        ("no CRC", good[:-8], "error"),
        ("wrong CRC", good[:-8] + bytes(8), "error"),
        ("shorter inside", gzip.compress(data[:-100]), "error"),
        ("two members", gzip.compress(data[:99]) + gzip.compress(data[99:]), "either"),
        ("not compressed", data, "either"),
    ):
        for writer in (formats.nrrd_gzip, formats.nrrd_gzip_pair):
            files = make_files(writer)
            last = list(files)[-1]
            head = files[last].partition(b"\n\n")[0] + b"\n\n" if len(files) == 1 else b""
            yield Broken(f"{writer.__name__} {name}", writer, {**files, last: head + content}, expect)


def make_data_cases():
    """Data files that are missing, shorter or longer, images of no voxels, of too many, of large integers."""
    for writer in (formats.nifti_pair, formats.meta_pair, formats.nrrd_pair, formats.nrrd_gzip_pair):
        head, (name, voxels) = make_files(writer).items()
        for kind, files in (("missing", {}), ("empty", {name: b""}), ("shorter", {name: voxels[:-2]})):
            files = {head[0]: head[1], **files}
            yield Broken(f"{writer.__name__} data {kind}", writer, files, mentions=(head[0], name))
    for writer in (formats.nifti, formats.nifti_pair, formats.meta, formats.meta_pair, formats.nrrd, formats.nrrd_pair):
        files = make_files(writer)
        last = list(files)[-1]
        yield Broken(f"{writer.__name__} trailing bytes", writer, {**files, last: files[last] + bytes(77)}, "success")
    for writer, line in ((formats.meta_pair, "HeaderSize = -1"), (formats.nrrd_pair, "byte skip: -1")):
        files = replace_first(make_files(writer), lambda content: replace_line(content, line))
        files["v.raw"] = b"0123456789" + files["v.raw"]
        yield Broken(f"{writer.__name__} {line}", writer, files, "success")
    for size in ((0, 8, 7), (9, 8, 0), (0, 0, 0)):
        for writer in (formats.meta, formats.nrrd, formats.nifti):
            yield Broken(f"{writer.__name__} of no voxels {size}", writer, writer(formats.Image(size, "h", ())))
    image = formats.make_image()
    for code, value in (("q", 2**53 + 1), ("Q", 2**64 - 1), ("q", -(2**63))):
        large = formats.Image(image.size, code, (value, *image.values[1:]))
        for writer in (formats.nifti, formats.nrrd):
            yield Broken(f"{writer.__name__} {value}", writer, writer(large), "error", "unknown")
    header = formats.meta_header(formats.Image((2000, 2000, 1000), "d", ()), "v.raw")
    yield Broken("more voxels than memory", formats.meta_pair, {"v.mhd": header, "v.raw": 32 * 10**9})
    for name, content in (("text", b"no image\n"), ("empty", b""), ("zeros", bytes(2000))):
        for suffix in ("nii", "nii.gz", "hdr", "mha", "mhd", "nrrd", "nhdr", "png", "dcm", "gipl", "vtk", "tif", "xyz"):
            yield Broken(f"{name}.{suffix}", formats.nrrd, {f"v.{suffix}": content})


def make_png_and_dicom_cases():
    good = make_files(formats.png)["v.png"]
    header = good[16:29]
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
    for syntax in ("1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.5", "1.2.3", ""):
        files = formats.dicom(formats.make_image(2, "H"), syntax)
        yield Broken(f"dicom syntax {syntax}", formats.dicom, files, "either")


def make_name_cases():
    """Names that look like others, and files whose names belong to another format."""
    nii, mha = make_files(formats.nifti)["v.nii"], make_files(formats.meta)["v.mha"]
    nrrd, png = make_files(formats.nrrd)["v.nrrd"], make_files(formats.png)["v.png"]
    packed = gzip.compress(nii)
    names = (
        "v.NII",
        "v.nii.nii",
        "v.mha.nii",
        "v v.nii",
        "ü\u0308.nii",
        "u\u0308.nii",
        "'v'.nii",
        "$(v).nii",
        "%s%n.nii",
    )
    for name in (
        *names,
        "v;v.nii",
        "v\\v.nii",
        "v" * 240 + ".nii",
        "v\nv.nii",
        "v\x1b[31m.nii",
    ):
        yield Broken(f"{name!r} for NIfTI", formats.nifti, {name: nii}, "success")
    yield Broken("a name that is not UTF-8", formats.nifti, {os.fsdecode(b"v\xff.nii"): nii}, "either")
    for name, content in (
        ("v.nii ", nii),
        ("v.nii.gz.bak", packed),
        ("v.hdr.gz", packed),
        ("v.img.gz", packed),
        ("v.mha.gz", gzip.compress(mha)),
        ("v.nrrd.gz", gzip.compress(nrrd)),
        ("v.nia", nii),
        ("v", nii),
        ("v.nii", mha),
        ("v.nii", nrrd),
        ("v.nii", packed),
        ("v.nii", png),
        ("v.mha", nii),
        ("v.mha", nrrd),
        ("v.nrrd", mha),
        ("v.nrrd", packed),
        ("v.hdr", nii),
        ("v.dcm", nii),
        ("v.png", nii),
        ("v.vtk", b"# vtk DataFile Version 3.0\nv\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 9 8 7\n"),
        ("v.tif", b"II*\0" + bytes(500)),
        ("v.bmp", b"BM" + bytes(500)),
        ("v.jpg", b"\xff\xd8\xff\xe0" + bytes(500)),
        ("v.gipl", bytes(252) + struct.pack(">I", 719555000) + bytes(1008)),
        ("v.mrc", bytes(2048)),
        ("v.hdf5", b"\x89HDF\r\n\x1a\n" + bytes(500)),
        ("v.mgh.gz", packed),
    ):
        yield Broken(f"{name!r} of another format, {content[:4]!r}", formats.nifti, {name: content})
    yield Broken("DICOM named .png", formats.dicom, {"v.png": make_files(formats.dicom)["v.dcm"]}, "success")
    yield Broken("PNG without extension", formats.png, {"picture": png}, "success")
    yield Broken("nii.gz in capital letters", formats.nifti_gzip, {"V.NII.GZ": packed}, "success")


def make_place_cases():
    """Links, pipes, devices, folders, and files that are not as long as they look."""
    nii = make_files(formats.nifti)
    link = lambda target, name: lambda root: os.symlink(target, root / name)
    other = {"other.nii": nii["v.nii"]}
    yield Broken("link", formats.nifti, {"v.nii": 0}, "success", None, (), replaced(other, link("other.nii", "v.nii")))
    yield Broken("hard link", formats.nifti, {"v.nii": 0}, "success", None, (), replaced(other, hard_link))
    for name, prepare in (
        ("broken link", link("nothing.nii", "v.nii")),
        ("link to itself", link("v.nii", "v.nii")),
        ("link to /dev/zero", link("/dev/zero", "v.nii")),
        ("link to /dev/null", link("/dev/null", "v.nii")),
        ("link to a folder", link("tmp", "v.nii")),
        ("pipe", lambda root: os.mkfifo(root / "v.nii")),
        ("folder", lambda root: (root / "v.nii").mkdir()),
        ("link to the memory of the process", link("/proc/self/mem", "v.nii")),
        ("link to a file of the kernel", link("/proc/self/maps", "v.nii")),
    ):
        yield Broken(f"NIfTI is a {name}", formats.nifti, {"v.nii": 0}, prepare=replaced({}, prepare))
    meta, nrrd = make_files(formats.meta_pair), make_files(formats.nrrd_pair)
    for files in (meta, nrrd):
        header = next(iter(files))
        for name, prepare in (
            ("pipe", lambda root: os.mkfifo(root / "v.raw")),
            ("folder", lambda root: (root / "v.raw").mkdir()),
            ("link to /dev/zero", link("/dev/zero", "v.raw")),
            ("link to itself", link("v.raw", "v.raw")),
            ("link to its header", link(header, "v.raw")),
            ("broken link", link("nothing", "v.raw")),
        ):
            prepare = replaced({}, prepare, "v.raw")
            yield Broken(f"{header} with a {name}", formats.meta_pair, files, "error", None, (header, "v.raw"), prepare)
        yield Broken(
            f"{header} with a link to its voxels",
            formats.meta_pair,
            files,
            "success",
            None,
            (),
            replaced({"w.raw": files["v.raw"]}, link("w.raw", "v.raw"), "v.raw"),
        )
    yield Broken("sparse file of zeros", formats.nifti, {"v.nii": 1 << 40})
    yield Broken("sparse compressed file", formats.nifti, {"v.nii.gz": 1 << 40})
    header = formats.nifti_header(formats.make_image())
    yield Broken("sizes beyond memory", formats.nifti, {"v.nii": patch(header, 42, "<3h", 32767, 32767, 32767)})
    yield Broken(
        "data in a folder above",
        formats.meta_pair,
        {"v.mhd": replace_line(meta["v.mhd"], "ElementDataFile = ../../../v.raw")},
    )


def replaced(files, prepare, name="v.nii"):
    """A preparation of a folder after a file has gone and others have come."""

    def run(root):
        (root / name).unlink()
        for other, content in files.items():
            (root / other).write_bytes(content)
        prepare(root)

    return run


def hard_link(root):
    os.link(root / "other.nii", root / "v.nii")


def make_text_cases():
    """Headers of text that are odd: marks, line ends, encodings, long lines, fields that repeat or come too late."""
    for writer, last in ((formats.meta, b"ElementDataFile"), (formats.nrrd, b"\n\n")):
        name, content = next(iter(make_files(writer).items()))
        head, voxels = (
            content[: content.rindex(last, 0, len(content) - 1008)],
            content[content.rindex(last, 0, len(content) - 1008) :],
        )
        separator = b" = " if writer == formats.meta else b": "
        field = b"\nNDims" if writer == formats.meta else b"\ndimension"
        for what, changed, expect in (
            ("byte order mark", b"\xef\xbb\xbf" + content, "either"),
            ("line ends of Windows", head.replace(b"\n", b"\r\n") + voxels, "either"),
            ("line ends of old Macintoshes", head.replace(b"\n", b"\r") + voxels, "either"),
            ("UTF-16", head.decode().encode("utf-16") + voxels, "error"),
            ("a NUL byte", head.replace(field, b"\0" + field, 1) + voxels, "either"),
            (
                "a line of 2 MB",
                head + b"\nComment" + separator + b"x" * (2 << 20) + b"\n" + voxels.lstrip(b"\n"),
                "either",
            ),
            ("an escape sequence", head.replace(field, b"\n\x1b]0;x\x07 = 1" + field, 1) + voxels, "either"),
            ("a field twice", head.replace(field, field + separator + b"3" + field, 1) + voxels, "error"),
            ("blanks", head.replace(separator, separator.strip() + b" \t  ") + voxels, "either"),
            ("no line ends", head.replace(b"\n", b" ") + voxels, "error"),
        ):
            yield Broken(f"{writer.__name__} with {what}", writer, {name: changed}, expect)


def find_header_size(writer, content):
    """Where the voxels begin, about."""
    for separator in (b"LOCAL\n", b"\n\n"):
        if separator in content:
            return content.index(separator) + len(separator)
    sizes = {formats.nifti: 352, formats.nifti_pair: 348, formats.png: 41}
    return sizes.get(writer, 20 if writer == formats.nifti_gzip else max(len(content) - 144, 0) or len(content))


def make_random_case(key):
    """A cut, flipped bits, or overwritten bytes, in one of the files."""
    generator = random.Random(key)
    writer = generator.choice(list(formats.FORMATS))
    files = make_files(writer)
    name = generator.choice(list(files))
    content = bytearray(files[name])
    size = min(find_header_size(writer, content), len(content)) if name == list(files)[0] else 0
    first, last = generator.choice([part for part in ((0, size), (size, len(content))) if part[0] < part[1]])
    kind = generator.choice(("cut", "flip", "flip", "flips", "overwrite"))
    if kind == "cut":
        # Most often near an edge.
        edges = (first, last - 1, generator.randrange(first, last))
        place = min(max(generator.choice(edges) + generator.randint(-3, 3), 0), len(content) - 1)
        places, content = [place], content[:place]
    elif kind == "overwrite":
        places = [generator.randrange(first, last)]
        content[places[0] : places[0] + 8] = bytes([generator.choice((0, 255))]) * min(8, len(content) - places[0])
    else:
        places = [generator.randrange(first, last) for _ in range(3 if kind == "flips" else 1)]
        for place in places:
            content[place] ^= 1 << generator.randrange(8)
    files[name] = bytes(content)
    reference = None if kind == "cut" else readers.read(writer.__name__, files, is_header_good=first > 0)
    return Broken(f"{key} {writer.__name__} {name} {kind} at {places}", writer, files, "either", reference)
