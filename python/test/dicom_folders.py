# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""DICOM folders: with slices that are missing, repeated, cut or different, several series, and other files."""

import os
import random

import formats

IMAGE = formats.make_image(code="H", seed=3)
PLANE = IMAGE.size[0] * IMAGE.size[1]
OTHER_SERIES = {0x0020000E: ("UI", "2.25.77"), 0x00080018: ("UI", "2.25.9.77")}
DIRECTORY_CLASS = "1.2.840.10008.1.3.10"


def position(k, shift=(0.0, 0.0, 0.0)):
    place = (*IMAGE.origin[:2], IMAGE.origin[2] + k * IMAGE.spacing[2])
    return {0x00200032: ("DS", "\\".join(str(a + b) for a, b in zip(place, shift)))}


def keep(slices, origin=None):
    """The image of some of the slices."""
    values = [value for k in slices for value in IMAGE.values[k * PLANE : (k + 1) * PLANE]]
    return formats.Image((*IMAGE.size[:2], len(slices)), "H", tuple(values), IMAGE.spacing, origin or IMAGE.origin)


def rescale(slopes, intercepts):
    values = [v * slopes.get(i // PLANE, 1) + intercepts.get(i // PLANE, 0) for i, v in enumerate(IMAGE.values)]
    return formats.Image(IMAGE.size, "d", tuple(values), IMAGE.spacing, IMAGE.origin)


def folder(changes=None, without=(), rename=None):
    files = formats.dicom_folder(IMAGE, changes)
    names = {f"series/{k:02}.dcm": (rename or "series/{:02}.dcm".format)(k) for k in range(IMAGE.size[2])}
    return {names[name]: content for k, (name, content) in enumerate(files.items()) if k not in without}


def make_link(target, name):
    return lambda root: os.symlink(target, root / name)


def make_folder_cases():
    """Name, files, what is expected, the right image, and perhaps options, words to mention, a preparation."""
    good = folder()
    names = list(good)
    whole = keep(range(7))
    each = range(7)
    text = {
        "series/notes.txt": b"notes\n",
        "series/empty": b"",
        "series/picture.png": formats.png(formats.make_image(2, "B"))["v.png"],
    }
    directory = formats.dicom_file((9, 8), b"", changes={0x00080016: ("UI", DIRECTORY_CLASS), 0x7FE00010: None})
    scout = formats.dicom_file((9, 8), bytes(144), (0, 0, -99), 77, changes=OTHER_SERIES)
    twice = {f"series/again{k}.dcm": content for k, content in enumerate(good.values())}
    uneven = ["--allow-uneven-slices"]

    yield "good", good, "success", whole
    yield "names out of order", folder(rename=lambda k: f"series/{k * 3 % 7}.dcm"), "success", whole
    yield "strange names", folder(rename=lambda k: f"series/{k * 3 % 7}\nü %s.dcm"), "success", whole
    yield "instance numbers reversed", folder({k: {0x00200013: ("IS", str(9 - k))} for k in each}), "success", whole
    yield "no instance numbers", folder({k: {0x00200013: None} for k in each}), "success", whole
    yield "positions rounded", folder(
        {k: position(k, (0, 0, 1e-5 * (-1) ** k)) for k in range(1, 7)}
    ), "success", whole, [], 1
    yield "first slice missing", folder(without=[0]), "success", keep(range(1, 7), (-10.0, 20.0, 7.5))
    yield "two slices", folder(without=range(2, 7)), "success", keep(range(2))
    yield "one slice", folder(without=range(1, 7)), "success", keep(range(1)), [], 1
    for k in (1, 3, 5):
        yield f"slice {k} missing", folder(without=[k]), "error", None
    yield "slice missing, allowed", folder(without=[3]), "success", keep((0, 1, 2, 4, 5, 6)), uneven, 1
    yield "two missing, allowed", folder(without=[1, 4]), "success", keep((0, 2, 3, 5, 6)), uneven, 1
    yield "shifted, allowed", folder({3: position(3, (0, 0, 0.5))}), "success", whole, uneven, 1
    yield "slice shifted", folder({3: position(3, (0, 0, 0.5))}), "error", None
    yield "slice shifted sideways", folder({3: position(3, (2, 0, 0))}), "error", None
    yield "sheared", folder({k: position(k, (0, 0.5 * k, 0)) for k in each}), "error", None
    for options in ([], uneven):
        yield f"slice repeated {options}", {**good, "series/copy.dcm": good[names[4]]}, "error", None, options
        yield f"every slice twice {options}", {**good, **twice}, "error", None, options
        yield f"no positions {options}", folder({k: {0x00200032: None} for k in each}), "error", None, options
        yield f"position missing {options}", folder({2: {0x00200032: None}}), "error", None, options
        yield f"same position {options}", folder({k: position(0) for k in each}), "error", None, options
        yield f"orientation {options}", folder({3: {0x00200037: ("DS", "0\\1\\0\\1\\0\\0")}}), "error", None, options
        yield f"cut {options}", {**good, names[3]: good[names[3]][:-50]}, "error", None, options
        for tag, value in ((0x00280010, 7), (0x00280011, 4), (0x00280100, 8)):
            yield f"slice with {tag:x} {options}", folder({3: {tag: ("US", value)}}), "error", None, options
    yield "spacing of one slice", folder({3: {0x00280030: ("DS", "3\\3")}}), "error", None
    yield "orientation flipped", folder({3: {0x00200037: ("DS", "-1\\0\\0\\0\\1\\0")}}), "error", None
    yield "orientation of no length", folder({k: {0x00200037: ("DS", "0\\0\\0\\0\\0\\0")} for k in each}), "error", None
    yield "orientation missing", folder({3: {0x00200037: None}}), "error", None
    yield "position is no number", folder({3: {0x00200032: ("DS", "a\\b\\c")}}), "error", None
    yield "position is nan", folder({3: {0x00200032: ("DS", "nan\\0\\0")}}), "error", None
    yield "position of two numbers", folder({3: {0x00200032: ("DS", "1\\2")}}), "error", None
    yield "position 1e308", folder({3: {0x00200032: ("DS", "0\\0\\1e308")}}), "error", None
    for length in (0, 100, 132, 140, 200, 250, 300, 352, 500, 700):
        yield f"slice cut at {length}", {**good, names[3]: good[names[3]][:length]}, "error", None
        yield f"first slice cut at {length}", {**good, names[0]: good[names[0]][:length]}, "error", None
    signed = {3: {0x00280103: ("US", 1)}}
    yield "slice signed", folder(signed), "either", whole
    yield "stored bits differ", folder({3: {0x00280101: ("US", 12), 0x00280102: ("US", 11)}}), "either", whole
    for k in (0, 3):
        half, low = {0x00281053: ("DS", "0.5")}, {0x00281052: ("DS", "-20")}
        yield f"slope of slice {k}", folder({k: half}), "either", rescale({k: 0.5}, {}), [], 1
        yield f"intercept of slice {k}", folder({k: low}), "either", rescale({}, {k: -20}), [], 1
        yield f"slope of slice {k} is nan", folder({k: {0x00281053: ("DS", "nan")}}), "error", None
    yield "slopes differ", folder({k: {0x00281053: ("DS", str(1 + 0.25 * k))} for k in each}), "either", rescale(
        {k: 1 + 0.25 * k for k in each}, {}
    ), [], 1
    yield "implicit slice", {
        **good,
        names[3]: formats.dicom_file(IMAGE.size, keep([3]).to_bytes(), (-10.0, 20.0, 11.5), 4, "implicit"),
    }, "success", whole

    two = {
        **good,
        **{
            name.replace("/", "/b"): content
            for name, content in folder(
                {k: {0x0020000E: ("UI", "2.25.77"), 0x00080018: ("UI", f"2.25.8.{k}")} for k in each}
            ).items()
        },
    }
    yield "two series", two, "error", None, [], 0, ("--series",)
    yield "two series, one chosen", two, "success", whole, ["--series", "2.25.2"]
    yield "two series, unknown", two, "error", None, ["--series", "2.25.5"], 0, ("2.25.5",)
    yield "two series, no name", two, "error", None, ["--series", ""], 0, ("--series",)
    yield "unknown series", good, "error", None, ["--series", "2.25.5"], 0, ("2.25.5",)
    yield "scout of another series", {**good, "series/scout.dcm": scout}, "error", None, [], 0, ("--series",)
    yield "other files", {**good, **text}, "success", whole
    yield "directory file", {**good, "series/DICOMDIR": directory}, "success", whole
    yield "folder inside", {**good, "series/inside/01.dcm": scout}, "success", whole
    yield "only a directory file", {"series/DICOMDIR": directory}, "error", None
    yield "only text", text, "error", None
    yield "only a cut file", {"series/01.dcm": good[names[0]][:300]}, "error", None
    yield "empty folder", {}, "error", None, [], 0, (), lambda root: (root / "series").mkdir()
    yield "broken link", good, "error", None, [], 0, (), make_link("nothing", "series/99.dcm")
    yield "link to itself", good, "error", None, [], 0, (), make_link("99.dcm", "series/99.dcm")
    yield "link to a slice", good, "error", None, [], 0, (), make_link("03.dcm", "series/99.dcm")
    # GDCM gives secondary captures no position.
    captures = {k: {0x00080016: ("UI", "1.2.840.10008.5.1.4.1.1.7")} for k in each}
    yield "secondary captures", folder(captures), "success", whole
    yield "FIFO inside", good, "either", whole, [], 0, (), lambda root: os.mkfifo(root / "series/99.dcm")
    if os.geteuid() != 0:
        yield "unreadable slice", good, "error", None, [], 0, (), lambda root: (root / names[3]).chmod(0)
        yield "unreadable folder", good, "error", None, [], 0, (), lambda root: (root / "series").chmod(0)


def make_random_folder(key):
    """One slice is cut, has flipped voxels, another place, or is repeated or left out."""
    generator = random.Random(key)
    good = folder()
    k = generator.randrange(1, 6)
    name = list(good)[k]
    kind = generator.choice(("cut", "voxel", "shift", "copy", "without", "flip"))
    if kind == "shift":
        shift = [generator.choice((0, 0, 0.3, -1, 1e6)) for _ in range(3)]
        changed = folder({k: position(k, shift)})
        return (
            f"{key} shift {k} {shift}",
            changed,
            "error" if any(shift) else "success",
            None if any(shift) else keep(range(7)),
        )
    if kind == "copy":
        return f"{key} copy {k}", {**good, "series/copy": good[name]}, "error", None
    if kind == "without":
        return f"{key} without {k}", folder(without=[k]), "error", None
    content = bytearray(good[name])
    if kind == "cut":
        length = generator.randrange(len(content))
        return f"{key} cut {k} at {length}", {**good, name: bytes(content[:length])}, "error", None
    if kind == "flip":
        place = generator.randrange(132, len(content) - 2 * PLANE)
        content[place] ^= 1 << generator.randrange(8)
        return f"{key} flip {k} at {place}", {**good, name: bytes(content)}, "either", "unknown"
    voxel = generator.randrange(PLANE)
    content[len(content) - 2 * PLANE + 2 * voxel] ^= 16
    values = list(IMAGE.values)
    values[k * PLANE + voxel] ^= 16
    reference = formats.Image(IMAGE.size, "H", tuple(values), IMAGE.spacing, IMAGE.origin)
    return f"{key} voxel {voxel} of {k}", {**good, name: bytes(content)}, "success", reference
