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
"""Reading of DICOM series, with the checks of examples/io/DicomSeries.h: what is not one even volume is refused."""

import collections
import math
import os
import pathlib
import re
import statistics
import struct
import warnings
from typing import NamedTuple, Optional, Tuple

import numpy as np

_UNDEFINED_LENGTH = 0xFFFFFFFF
_ITEM, _ITEM_END, _SEQUENCE_END = 0xFFFEE000, 0xFFFEE00D, 0xFFFEE0DD
_PIXEL_DATA = (0x7FE00008, 0x7FE00009, 0x7FE00010)
_LONG_LENGTH = tuple("OB OD OF OL OV OW SQ SV UC UN UR UT UV".encode().split())
_EXTENSIONS = (".dcm", ".dicom", ".ima")

# Waveforms, presentation states, raw data, surfaces, measurements, reports, documents, plans, protocols.
_NO_IMAGES = "9. 11. 34. 66. 67. 68. 69. 78. 79. 80. 81. 82. 88. 90. 104. 131. 200. 481.".split()


class DicomSeries(NamedTuple):
    """A series with images in a folder, as list_dicom_series returns it."""

    uid: str
    files: Tuple[str, ...]
    modality: str
    description: str
    # Voxels along x, y and z, and their distances in mm; None if unknown.
    size: Optional[Tuple[int, int, int]]
    spacing: Optional[Tuple[float, float, float]]
    # Why the series is no volume; empty if it is one.
    problem: str


class _Broken(Exception):
    """Why a file cannot be used."""


# --- Headers -----------------------------------------------------------------------------------------------------------


class _File:
    """The header of a DICOM file, as far as it is needed here."""

    TEXTS = {
        0x00080016: "class_uid",
        0x00080018: "instance_uid",
        0x00080060: "modality",
        0x0008103E: "description",
        0x0020000E: "series_uid",
        0x00200052: "frame_of_reference_uid",
        0x00280004: "photometric_interpretation",
    }
    INTEGERS = {
        0x00280002: "samples_per_pixel",
        0x00280010: "rows",
        0x00280011: "columns",
        0x00280100: "bits_allocated",
    }
    # Attribute, name and number of numbers.
    NUMBERS = {
        0x00180050: ("slice_thickness", "SliceThickness", 1),
        0x00180088: ("spacing_between_slices", "SpacingBetweenSlices", 1),
        0x00200032: ("position", "ImagePositionPatient", 3),
        0x00200037: ("orientation", "ImageOrientationPatient", 6),
        0x00280008: ("frames", "NumberOfFrames", 1),
        0x00280030: ("pixel_spacing", "PixelSpacing", 2),
        0x00281052: ("intercept", "RescaleIntercept", 1),
        0x00281053: ("slope", "RescaleSlope", 1),
    }

    def __init__(self, path):
        self.path = path
        self.problem = ""
        self.has_pixel_data = False
        for name in self.TEXTS.values():
            setattr(self, name, "")
        self.rows = self.columns = self.bits_allocated = 0
        self.samples_per_pixel = 1
        for attribute, _, _ in self.NUMBERS.values():
            setattr(self, attribute, None)

    @property
    def name(self):
        return _printable(os.path.basename(self.path))

    @property
    def number_of_frames(self):
        return max(int(self.frames[0]), 1) if self.frames else 1

    def set(self, tag, value, order):
        if tag in self.TEXTS:
            text = _text(value)
            if text or tag != 0x00080016:
                setattr(self, self.TEXTS[tag], text)
        elif tag in self.INTEGERS and len(value) >= 2:
            setattr(self, self.INTEGERS[tag], struct.unpack_from(order + "H", value)[0])
        elif tag in self.NUMBERS and _text(value):
            attribute, name, count = self.NUMBERS[tag]
            numbers = _numbers(value, count)
            setattr(self, attribute, numbers)
            if numbers is None:
                text = _printable(_text(value)[:80])
                self.problem = f"its {name} is '{text}', not {count} number{'' if count == 1 else 's'} up to 10^9"
            elif attribute == "slope" and numbers[0] == 0:
                self.problem = "its RescaleSlope is 0"

    def is_needed(self, tag):
        return tag in self.TEXTS or tag in self.INTEGERS or tag in self.NUMBERS


def _text(value):
    """A value as text; bytes that are not ASCII differ in the text if they differ in the value."""
    return value.decode("latin-1").rstrip(" \0").lstrip(" ")


def _printable(text):
    """The text in printable ASCII characters: headers and names can have any, which terminals could execute."""
    return "".join("?" if c >= "\x80" else c for c in text if c >= " " and c != "\x7f")


def _numbers(value, count):
    """The numbers of a decimal string, such as 1.5\\-2\\3; None if there are not as many, or one is no number up to 10^9."""
    parts = [part.strip(" ") for part in _text(value).split("\\")]
    # float() takes more, such as 1_000.
    if len(parts) != count or not all(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", part) for part in parts):
        return None
    numbers = tuple(map(float, parts))
    return numbers if all(abs(number) <= 1e9 for number in numbers) else None


def _is_image_class(uid):
    """Whether the class of an object, as its SOPClassUID tells, should have pixel data."""
    storage = "1.2.840.10008.5.1.4.1.1."
    if not uid.startswith(storage):
        # DICOMDIR, private classes.
        return not uid
    kind = uid[len(storage) :] + "."
    # Segmentation, RT Image, RT Dose.
    return kind in ("66.4.", "481.1.", "481.2.") or not kind.startswith(tuple(_NO_IMAGES))


class _HeaderReader:
    """Reads the data elements of a DICOM file up to its pixel data, and checks that the file is not cut."""

    def __init__(self, stream, size):
        self.stream, self.size, self.position = stream, size, 0
        self.is_explicit, self.order = True, "<"

    def find_start(self):
        """Go to the first element; returns whether there can be one."""
        start = self.stream.read(132)
        has_magic = start[128:] == b"DICM"
        self.position = 132 if has_magic else 0
        self.stream.seek(self.position)
        # Old files begin with the first element, of group 2 or 8.
        return has_magic or (len(start) > 8 and start[0] in (2, 8) and start[1] == 0 and start[3] == 0)

    def read(self, file):
        syntax = ""
        while self.position < self.size and self.peek()[:2] == b"\2\0":
            tag, length, is_unknown = self.element()
            if tag == 0x00020010:
                syntax = _text(self.bytes(length, tag))
            elif tag == 0x00020002:
                file.class_uid = _text(self.bytes(length, tag))
            else:
                self.skip(tag, length, is_unknown)
        if syntax == "1.2.840.10008.1.2.1.99":
            raise _Broken("it has the deflated transfer syntax, which is not supported")
        if syntax:
            self.is_explicit = syntax != "1.2.840.10008.1.2"
        else:
            self.is_explicit = _is_representation(self.peek()[4:6])
        self.order = ">" if syntax == "1.2.840.10008.1.2.2" else "<"
        is_native = not syntax.startswith(("1.2.840.10008.1.2.4", "1.2.840.10008.1.2.5"))
        while self.position < self.size:
            tag, length, is_unknown = self.element()
            if tag in _PIXEL_DATA:
                file.has_pixel_data = True
                self.check_pixel_data(tag, length, is_unknown, file, is_native)
                return
            if file.is_needed(tag) and length <= 1024:
                file.set(tag, self.bytes(length, tag), self.order)
            else:
                self.skip(tag, length, is_unknown)
        is_standard_class = file.class_uid.startswith("1.2.840.10008.")
        if _is_image_class(file.class_uid) or (file.rows and not is_standard_class):
            raise _Broken("it has no pixel data")

    def check_pixel_data(self, tag, length, is_unknown, file, is_native):
        if not (file.rows and file.columns and file.bits_allocated):
            raise _Broken("it has pixel data, but no Rows, Columns or BitsAllocated")
        if file.bits_allocated not in (1, 8, 12, 16, 32, 64):
            raise _Broken(f"its BitsAllocated is {file.bits_allocated}, not 1, 8, 12, 16, 32 or 64")
        if length == _UNDEFINED_LENGTH:
            self.skip_items(is_unknown, 0)
            return
        self.require(length, tag)
        # Two pixels share their colors in YBR_FULL_422.
        samples = 2 if file.photometric_interpretation == "YBR_FULL_422" else file.samples_per_pixel
        bits = samples * file.rows * file.columns * file.number_of_frames * file.bits_allocated
        needed = -(-bits // 8)
        # One more byte makes the length even.
        if is_native and not needed <= length <= needed + 1:
            raise _Broken(f"its pixel data has {length} bytes, but the header needs {needed}")

    def require(self, count, tag):
        if count > self.size - self.position:
            raise _Broken(
                f"it is cut: it has {self.size} bytes, but its element ({tag >> 16:04x},{tag & 0xFFFF:04x}) ends at "
                f"{self.position + count}"
            )

    def bytes(self, count, tag=0):
        self.require(count, tag)
        value = self.stream.read(count)
        if len(value) < count:
            raise _Broken("it cannot be read")
        self.position += count
        return value

    def peek(self):
        position, value = self.position, self.bytes(8)
        self.position = position
        self.stream.seek(position)
        return value

    def element(self):
        """Tag and length of the next element, and whether its representation is unknown, so that it has implicit elements
        inside."""
        start = self.bytes(8)
        group, element = struct.unpack(self.order + "HH", start[:4])
        tag = group << 16 | element
        representation = start[4:6]
        # Some writers mix implicit elements into explicit files.
        if not self.is_explicit or group == 0xFFFE or not _is_representation(representation):
            return tag, struct.unpack(self.order + "I", start[4:])[0], False
        if representation not in _LONG_LENGTH:
            return tag, struct.unpack(self.order + "H", start[6:])[0], False
        return tag, struct.unpack(self.order + "I", self.bytes(4, tag))[0], representation == b"UN"

    def skip(self, tag, length, is_unknown, depth=0):
        if length == _UNDEFINED_LENGTH:
            self.skip_items(is_unknown, depth)
            return
        self.require(length, tag)
        self.position += length
        self.stream.seek(self.position)

    def skip_items(self, is_unknown, depth):
        """Skip the items of a sequence, or the fragments of compressed pixel data, of undefined length."""
        if depth > 32:
            raise _Broken("its sequences are nested more than 32 times")
        was_explicit = self.is_explicit
        self.is_explicit = was_explicit and not is_unknown
        while True:
            tag, length, _ = self.element()
            if tag == _SEQUENCE_END:
                break
            if tag != _ITEM:
                raise _Broken("its sequences have elements outside of items")
            if length != _UNDEFINED_LENGTH:
                self.skip(tag, length, False, depth + 1)
                continue
            while True:
                tag, length, inner_is_unknown = self.element()
                if tag == _ITEM_END:
                    break
                self.skip(tag, length, inner_is_unknown, depth + 1)
        self.is_explicit = was_explicit


def _is_representation(letters):
    return letters.isalpha() and letters.isupper()


def _read_header(path):
    """The header of a file; None if it is no DICOM file."""
    file = _File(path)
    try:
        with open(path, "rb") as stream:
            reader = _HeaderReader(stream, os.fstat(stream.fileno()).st_size)
            if not reader.find_start():
                return None
            reader.read(file)
    except _Broken as error:
        file.problem = str(error)
    except OSError as error:
        file.problem = f"it cannot be opened: {error.strerror}"
    return file


# --- Folders -----------------------------------------------------------------------------------------------------------


def _extension(path):
    """The extension in lower case; none if it is a number, as in names that are UIDs."""
    extension = os.path.splitext(path)[1].lower()
    return "" if extension.strip(".0123456789") == "" else extension


def _describe_other(path):
    """What a file without the start of a DICOM file is."""
    with open(path, "rb") as stream:
        start = stream.read(132)
    if not start:
        return "it is empty"
    return "it is no DICOM file" if start.strip(b"\0") else "it begins with zeros"


def _scan(folder):
    """Dict of the files with images of each series, and the list of the files that look like DICOM files but cannot be read
    so far that their series is known."""
    files, suspects = [], []
    extensions = set(_EXTENSIONS)
    for name in sorted(os.listdir(folder)):
        path = pathlib.Path(folder, name)
        if path.is_dir():
            continue
        file = _File(str(path))
        if not path.exists():
            file.problem = "it is a link to a file that is not there"
        elif not path.is_file():
            file.problem = "it is no regular file"
        else:
            header = _read_header(str(path))
            if header is not None:
                if header.has_pixel_data or not header.problem:
                    extensions.add(_extension(path))
                files.append(header)
                continue
            file.problem = _describe_other(path)
        suspects.append(file)

    groups, unreadable = collections.defaultdict(list), []
    for file in files:
        if file.has_pixel_data or (file.series_uid and file.problem):
            groups[file.series_uid].append(file)
        elif file.problem and not file.series_uid:
            unreadable.append(file)
    series = {uid: group for uid, group in sorted(groups.items()) if any(file.has_pixel_data for file in group)}
    for file in suspects:
        # Hidden files, such as those that macOS writes beside others.
        if file.name.startswith("."):
            continue
        extension = _extension(file.path)
        # Another file, such as a README, can have no extension, as images often have.
        if extension in _EXTENSIONS or (extension in extensions and file.problem != "it is no DICOM file"):
            unreadable.append(file)
    return series, unreadable


def _join_some(texts, count, separator=", "):
    """'a, b and 7 more'."""
    texts = list(texts)
    return separator.join(texts[:count]) + (f" and {len(texts) - count} more" if len(texts) > count else "")


def _names(files):
    return _join_some((f"'{file.name}'" for file in files), 5)


def _problems(files):
    return _join_some((f"'{file.name}' ({file.problem})" for file in files), 3)


def _have(files):
    return "has" if len(files) == 1 else "have"


def _vector(values):
    return "none" if values is None else "[" + ", ".join(f"{value:g}" for value in values) + "]"


def _refuse(folder, why):
    raise ValueError(f"the DICOM folder '{folder}' is refused: {why}")


# --- Volumes -----------------------------------------------------------------------------------------------------------


def _require_same(folder, files, what, describe):
    """Refuse files whose descriptions differ, and name those that differ from most."""
    groups = collections.defaultdict(list)
    for file in files:
        groups[describe(file)].append(file)
    if len(groups) < 2:
        return
    most = max(groups, key=lambda value: len(groups[value]))
    other = next(value for value in sorted(groups) if value != most)
    _refuse(
        folder,
        f"the slices of a volume must have the same {what}, but {_names(groups[other])} {_have(groups[other])} {other}, and "
        f"{_names(groups[most])} {_have(groups[most])} {most}",
    )


def _are_close(a, b, tolerance):
    return a is not None and b is not None and all(abs(x - y) <= tolerance for x, y in zip(a, b))


def _check_plane(folder, file):
    """Check what the header of a file tells about its plane."""
    if file.orientation:
        row, column = np.reshape(file.orientation, (2, 3))
        lengths = np.linalg.norm(row), np.linalg.norm(column)
        if not (all(abs(length - 1) < 1e-3 for length in lengths) and abs(row @ column) < 1e-3):
            _refuse(
                folder,
                "ImageOrientationPatient must be two perpendicular unit vectors, but is "
                f"{_vector(file.orientation)} in '{file.name}'",
            )
    if file.pixel_spacing and min(file.pixel_spacing) <= 0:
        _refuse(folder, f"PixelSpacing must be positive, but is {_vector(file.pixel_spacing)} in '{file.name}'")


def _check_slices(folder, files):
    """Check what all slices must share."""
    instances = {}
    for file in files:
        other = instances.setdefault(file.instance_uid, file)
        if other is not file and file.instance_uid:
            _refuse(
                folder,
                f"{_names([other, file])} are the same image, SOPInstanceUID {_printable(file.instance_uid)}; each slice "
                "must be there once",
            )
    multiframe = [file for file in files if file.number_of_frames > 1]
    if multiframe:
        _refuse(
            folder,
            f"the series has {len(files)} files, and {_names(multiframe)} {_have(multiframe)} more than one frame; a volume "
            "must be one such file, or files of one slice each",
        )
    without = [file for file in files if file.position is None or file.orientation is None]
    if without:
        _refuse(
            folder,
            f"{_names(without)} {_have(without)} no valid ImagePositionPatient and ImageOrientationPatient, which tell the "
            "place of a slice",
        )

    first = files[0]
    _require_same(folder, files, "size", lambda file: f"{file.columns}x{file.rows} pixels")
    _require_same(folder, files, "SamplesPerPixel", lambda file: str(file.samples_per_pixel))
    _require_same(folder, files, "BitsAllocated", lambda file: str(file.bits_allocated))
    _require_same(
        folder, files, "PhotometricInterpretation", lambda file: _printable(file.photometric_interpretation) or "none"
    )
    _require_same(folder, files, "FrameOfReferenceUID", lambda file: _printable(file.frame_of_reference_uid) or "none")

    def describe_spacing(file):
        tolerance = 1e-4 * math.hypot(*first.pixel_spacing) if first.pixel_spacing else 0.0
        is_same = _are_close(first.pixel_spacing, file.pixel_spacing, tolerance)
        return _vector(first.pixel_spacing if is_same else file.pixel_spacing)

    def describe_orientation(file):
        is_same = _are_close(first.orientation, file.orientation, 1e-4)
        return _vector(first.orientation if is_same else file.orientation)

    _require_same(folder, files, "PixelSpacing", describe_spacing)
    _require_same(folder, files, "ImageOrientationPatient", describe_orientation)


class _Geometry(NamedTuple):
    origin: np.ndarray
    # Between slices.
    spacing: float
    direction: np.ndarray


def _order_slices(folder, files, allow_uneven_slices):
    """The slices, ordered along their normal, their geometry, and a warning."""
    row, column = np.reshape(files[0].orientation, (2, 3))
    normal = np.cross(row, column)
    normal /= np.linalg.norm(normal)
    # Names decide between equal positions, so that messages are always the same.
    files = sorted(files, key=lambda file: (float(np.dot(file.position, normal)), file.path))
    positions = np.array([file.position for file in files])
    steps = np.diff(positions, axis=0)
    lengths = steps @ normal
    median = statistics.median_high(lengths[lengths > 1e-5]) if (lengths > 1e-5).any() else 0.0
    for i in np.flatnonzero(~(lengths > max(1e-5, 0.01 * median))):
        _refuse(
            folder,
            f"{_names(files[i : i + 2])} are at the same place along the normal of the slices, ImagePositionPatient "
            f"{_vector(files[i].position)} and {_vector(files[i + 1].position)}; each slice must be there once",
        )

    tolerance = max(0.01 * median, min(0.01, 0.1 * median))
    sideways = np.linalg.norm(steps - np.outer(lengths, normal), axis=1)
    for i in np.flatnonzero(~(sideways <= tolerance)):
        _refuse(
            folder,
            f"the step from '{files[i].name}' to '{files[i + 1].name}' is {sideways[i]:g} mm in the plane of the slices, as "
            f"of a tilted gantry; at most {tolerance:g} mm (1 % of the step) is allowed",
        )

    whole = positions[-1] - positions[0]
    length = np.linalg.norm(whole)
    geometry = _Geometry(positions[0], length / (len(files) - 1), np.stack([row, column, normal], axis=1))
    # Small differences of all steps must not add up.
    from_first = positions - positions[0]
    heights = from_first @ normal
    drifts = np.linalg.norm(from_first - np.outer(heights, normal), axis=1)
    for i in np.flatnonzero(~(drifts <= 0.1 * median)):
        _refuse(
            folder,
            f"'{files[i].name}' is {drifts[i]:g} mm off the normal of the slices through '{files[0].name}', as of a tilted "
            f"gantry; at most 10 % of the step of {median:g} mm is allowed",
        )
    offsets = abs(heights - np.linspace(0, heights[-1], len(files)))
    uneven = [
        f"{lengths[i]:g} mm from '{files[i].name}' to '{files[i + 1].name}'"
        for i in np.flatnonzero(~(abs(lengths - median) <= tolerance))
    ]
    if not uneven:
        uneven = [
            f"'{files[i].name}', which is {offsets[i]:g} mm off its even position,"
            for i in np.flatnonzero(~(offsets <= 0.1 * median))[:1]
        ]
    if not uneven:
        return files, geometry, ""
    what = (
        f"the steps between slices must agree within {tolerance:g} mm (1 %), but the median is {median:g} mm, and "
        f"{_join_some(uneven, 3)} {'differs' if len(uneven) == 1 else 'differ'}: slices are missing, or uneven"
    )
    if not allow_uneven_slices:
        _refuse(folder, what + "; allow_uneven_slices=True reads them as if they were even")
    return files, geometry, f"in '{folder}', {what}; they are read as if each step were {geometry.spacing:g} mm"


def _check_series(folder, files, allow_uneven_slices):
    """The files of a series, in the order of the slices, their geometry, or None for one file, and a warning."""
    broken = [file for file in files if file.problem]
    if broken:
        _refuse(folder, f"all files of a series must be readable, but not {_problems(broken)}")
    _check_plane(folder, files[0])
    if len(files) == 1:
        return files, None, ""
    _check_slices(folder, files)
    return _order_slices(folder, files, allow_uneven_slices)


def _scan_folder(folder):
    folder = os.fspath(folder)
    if not os.path.exists(folder):
        raise FileNotFoundError(f"there is no folder '{folder}'")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"'{folder}' is no folder; itk.imread reads files")
    return folder, *_scan(folder)


def list_dicom_series(folder):
    """List the DICOM series with images in a folder.

    folder    The folder; subfolders are ignored.

    Returns a list of named tuples: uid (SeriesInstanceUID), files (ordered along the normal of the slices), modality,
    description, size and spacing in the order x, y, z (None if unknown), and problem: why read_dicom_series refuses the
    series, or an empty string. Warns if there are files that look like DICOM files but cannot be read. Raises
    FileNotFoundError or NotADirectoryError if there is no such folder.
    """
    folder, series, unreadable = _scan_folder(folder)
    if unreadable:
        warnings.warn(f"files in '{folder}' cannot be read: {_problems(unreadable)}", stacklevel=2)
    result = []
    for uid, files in series.items():
        size = spacing = None
        problem = ""
        first = files[0]
        try:
            files, geometry, _ = _check_series(folder, files, False)
            slices = len(files) if geometry else first.number_of_frames
            size = (first.columns, first.rows, slices)
            if geometry and first.pixel_spacing:
                spacing = (first.pixel_spacing[1], first.pixel_spacing[0], float(geometry.spacing))
        except ValueError as error:
            problem = str(error)
        result.append(
            DicomSeries(
                uid=uid,
                files=tuple(file.path for file in files),
                modality=_printable(first.modality),
                description=_printable(first.description),
                size=size,
                spacing=spacing,
                problem=problem,
            )
        )
    return result


def _describe_series(uid, files):
    details = (f"{len(files)} file{'' if len(files) == 1 else 's'}", files[0].modality, files[0].description)
    return (
        f"{_printable(uid) or '(no SeriesInstanceUID)'}: {', '.join(_printable(d) for d in details if _printable(d))}"
    )


def _choose(folder, all_series, chosen):
    if not all_series:
        raise ValueError(f"the directory '{folder}' holds no DICOM series with images")
    if chosen in all_series:
        return all_series[chosen]
    descriptions = [_describe_series(uid, files) for uid, files in all_series.items()]
    holds = f"'{folder}' holds {len(all_series)} series ({_join_some(descriptions, 4, '; ')})"
    if chosen is not None:
        raise ValueError(f"there is no series '{_printable(chosen)}' in the folder: {holds}")
    if len(all_series) > 1:
        raise ValueError(
            f"the folder {holds}, but one is needed: series=UID chooses one, and list_dicom_series lists them"
        )
    return next(iter(all_series.values()))


def _pixel_type(folder, files):
    """A pixel type that can hold the values of all files; they are checked with ITK's reader."""
    from ._itk import itk

    components = itk.CommonEnums
    types = {
        components.IOComponent_UCHAR: itk.UC,
        components.IOComponent_CHAR: itk.SS,
        components.IOComponent_SHORT: itk.SS,
        components.IOComponent_USHORT: itk.US,
        components.IOComponent_FLOAT: itk.F,
    }
    found = set()
    for file in files:
        image_io = itk.GDCMImageIO.New(FileName=file.path)
        try:
            image_io.ReadImageInformation()
        except RuntimeError as error:
            _refuse(folder, f"ITK cannot read '{file.name}': {str(error).strip().splitlines()[-1]}")
        if image_io.GetNumberOfComponents() != 1:
            _refuse(
                folder, f"'{file.name}' has {image_io.GetNumberOfComponents()} components per pixel, but one is needed"
            )
        if (image_io.GetDimensions(0), image_io.GetDimensions(1)) != (file.columns, file.rows):
            _refuse(
                folder,
                f"ITK reads {image_io.GetDimensions(0)}x{image_io.GetDimensions(1)} pixels of '{file.name}', whose header "
                f"tells {file.columns}x{file.rows}",
            )
        found.add(image_io.GetComponentType())
    # Rescaling can differ: a double holds the values of all types of DICOM.
    return types.get(found.pop(), itk.D) if len(found) == 1 else itk.D


def _set_geometry(folder, image, files, geometry):
    """Compare the geometry of the image that ITK has read with that of the headers, and set what differs."""
    from ._itk import itk

    size = (files[0].columns, files[0].rows, len(files))
    if tuple(itk.size(image)) != size:
        _refuse(folder, f"ITK reads {tuple(itk.size(image))} voxels, but the headers tell {size}")
    # Rounding in ITK's sums is no difference.
    tolerance = 1e-6
    spacing = [*itk.spacing(image)][:2] + [geometry.spacing]
    if files[0].pixel_spacing:
        spacing[:2] = reversed(files[0].pixel_spacing)
    if np.linalg.norm(np.subtract(itk.spacing(image), spacing)) > tolerance * geometry.spacing:
        image.SetSpacing([float(s) for s in spacing])
    if np.linalg.norm(np.subtract(itk.origin(image), geometry.origin)) > tolerance * geometry.spacing:
        image.SetOrigin([float(x) for x in geometry.origin])
    # Unit vectors may be rounded this much, and masks that other programs made have ITK's direction.
    if abs(itk.array_from_matrix(image.GetDirection()) - geometry.direction).max() > 2e-3:
        image.SetDirection(itk.matrix_from_array(geometry.direction))


def read_dicom_series(folder, series=None, allow_uneven_slices=False):
    """Read a DICOM series as a 3D itk.Image, and refuse what is not one even volume.

    folder                 The folder with the files; subfolders are ignored.
    series                 SeriesInstanceUID; not needed if the folder has one series with images.
    allow_uneven_slices    Read slices with missing or uneven steps as if they were even, with a warning.

    The slices are ordered along their normal by ImagePositionPatient. All files that are DICOM files or look like it must
    be readable, with complete pixel data. Rows, Columns, PixelSpacing, ImageOrientationPatient (within 0.0001) and
    FrameOfReferenceUID must agree, no image or position may occur twice, and the steps between neighboring positions must
    agree with their median and the normal, within 1 % or 0.01 mm (at most 10 %). One file, with one or more frames, is read
    as ITK reads it. Values are rescaled; the pixel type holds those of all files.

    Raises ValueError, with the folder, the files and the rule, if there is no such volume, and FileNotFoundError or
    NotADirectoryError if there is no such folder.
    """
    from ._itk import itk

    folder, all_series, unreadable = _scan_folder(folder)
    if unreadable:
        _refuse(folder, f"files that look like DICOM files must be readable, but not {_problems(unreadable)}")
    files, geometry, warning = _check_series(folder, _choose(folder, all_series, series), allow_uneven_slices)
    reader = itk.ImageSeriesReader[itk.Image[_pixel_type(folder, files), 3]].New(
        FileNames=[file.path for file in files], ImageIO=itk.GDCMImageIO.New()
    )
    try:
        reader.Update()
    except RuntimeError as error:
        _refuse(folder, f"ITK cannot read it: {str(error).strip().splitlines()[-1]}")
    image = reader.GetOutput()
    image.DisconnectPipeline()
    if geometry is not None:
        _set_geometry(folder, image, files, geometry)
    if warning:
        warnings.warn(warning, stacklevel=2)
    return image
