# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""DICOM images and segmentations: pydicom reads headers and uncompressed pixels, SimpleITK decompresses others. A frame is a slice,
in one file with others or in one of its own; what is not one evenly spaced volume is refused."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import library
from .._suggestions import did_you_mean, warn

if TYPE_CHECKING:
    from .._types import Path

SUFFIXES = (".dcm", ".dicom", ".ima")
_SEGMENTATIONS = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}
_RTSTRUCT, _DIRECTORY = "1.2.840.10008.5.1.4.1.1.481.3", "1.2.840.10008.1.3.10"
# In which images at one position can differ; of a volume, those before None must be the same for all slices.
_DISTINCTIONS = (
    *("EchoTime", "EffectiveEchoTime", "EchoNumbers", "DiffusionBValue", "b-value", None),
    *("DiffusionGradientOrientation", "InversionTime", "InversionTimes", "FlipAngle", "RepetitionTime", "StackID"),
    *("TemporalPositionIdentifier", "TemporalPositionIndex", "TriggerTime", "NominalCardiacTriggerDelayTime"),
    *("ImageType", "FrameType", "AcquisitionNumber", "AcquisitionTime", "ContentTime"),
)
_CHOOSE = "choose one, such as read_dicom_series(folder, select={'EchoTime': 4.6}), or save each as a series of its own"
_GROUPS = ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence")
_PIXEL_SPACINGS = ("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing")
# DiffusionBValue of Siemens and of Philips.
_B_VALUES = ((0x0019, 0x100C), (0x2001, 0x1003))
# Lengths and cosines of unit vectors may be rounded by this much, and orientations of slices differ.
_UNIT_TOLERANCE, _ORIENTATION_TOLERANCE = 2e-3, 1e-4
_LARGEST = 1e7
# Of PixelData, FloatPixelData and DoubleFloatPixelData, which are not read with the header.
_PIXELS, _DEFERRED_BYTES, _UNDEFINED = (0x7FE00010, 0x7FE00008, 0x7FE00009), 2**14, 2**32 - 1


class DicomSeries(NamedTuple):
    """A series with images in a folder, as list_dicom_series returns it.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> (series,) = voxelmaps.list_dicom_series(".")
    >>> series.files, series.modality, series.size
    (('./ct.dcm',), 'OT', (5, 4, 3))
    """

    uid: str
    files: tuple[str, ...]
    modality: str
    description: str
    # Voxels along x, y and z, and their distances in mm; None if the series is not a volume.
    size: tuple[int, int, int] | None
    spacing: tuple[float, float, float] | None
    # Why the series is not a volume; empty if it is one.
    problem: str


class _Frame(NamedTuple):
    path: str
    # In the file.
    number: int
    # None if the file has none, or no orientation.
    position: np.ndarray | None
    orientation: np.ndarray
    # Of rows and columns, and between slices, or 0.
    spacing: tuple[float, float, float]
    slope: float
    intercept: float
    segment: int
    distinctions: dict[str, str]

    @property
    def name(self):
        return f"'{os.path.basename(self.path)}'" + (f" frame {self.number + 1}" if self.number else "")


class _File(NamedTuple):
    path: str
    header: Any
    frames: list[_Frame]
    # Of uncompressed pixel data.
    pixel_bytes: int | None = None
    # Why it cannot be read, or empty.
    problem: str = ""

    def text(self, keyword):
        return "".join(c for c in str(self.header.get(keyword) or "") if c.isprintable())

    @property
    def kind(self):
        """SOPClassUID."""
        return self.header.get("SOPClassUID") or getattr(self.header, "file_meta", {}).get("MediaStorageSOPClassUID")


# --- One file ----------------------------------------------------------------------------------------------------------


def _numbers(get, keyword, count, default=None):
    try:
        value = get(keyword)
        if value is None or value == "":
            return default
        values = [float(each) for each in ([value] if count == 1 and not hasattr(value, "__len__") else value)]
    # Of corrupt values, pydicom raises exceptions of many types.
    except Exception as error:
        raise ValueError(f"its {keyword} must be {count} finite number{'s' * (count > 1)}, but: {error}") from None
    if len(values) != count or not all(abs(number) < _LARGEST for number in values):
        raise ValueError(f"its {keyword} is {value}, not {count} finite number{'s' * (count > 1)}")
    return values


def _header(path):
    """The header of a file, without its longest values; None if the file is not DICOM."""
    pydicom = library("pydicom", f"reading {path}")
    try:
        return pydicom.dcmread(path, defer_size=_DEFERRED_BYTES)
    except pydicom.errors.InvalidDicomError:
        if not path.lower().endswith(SUFFIXES):
            return None
    header = pydicom.dcmread(path, defer_size=_DEFERRED_BYTES, force=True)
    if "SOPClassUID" not in header:
        raise ValueError("it is not a DICOM file, in spite of its name")
    return header


def _pixel_bytes(path, header):
    """The size of the pixel data, None if there is none or if it is compressed. Raises ValueError if the file is truncated, which
    pydicom does not notice."""
    if getattr(header.file_meta.get("TransferSyntaxUID"), "is_deflated", False):
        return None
    size, element = os.path.getsize(path), lambda tag: header.get_item(tag, keep_deferred=True)
    pixels = next((element(tag) for tag in _PIXELS if tag in header), None)
    last, rest = element(max(header.keys())) if len(header) else None, 0
    if last is None:
        rest = header.file_meta.get("MediaStorageSOPClassUID") != _DIRECTORY
    elif hasattr(last, "value_tell") and last.length != _UNDEFINED:
        rest = size - last.value_tell - last.length
    # A part of an element can follow the last one; after pixels it does not matter.
    if rest < 0 or rest > 0 and pixels is None:
        raise ValueError(f"it is truncated: it has {size} bytes, but its header promises more")
    return pixels.length if pixels is not None and pixels.length != _UNDEFINED else None


def _flatten(dataset):
    """The elements of all sequences of a data set, such as functional groups, by keyword."""
    found = {}
    for element in dataset:
        for item in element.value[:1] if element.VR == "SQ" else ():
            found |= _flatten(item) | {part.keyword: part.value for part in item if part.keyword and part.VR != "SQ"}
            found |= {"b-value": item[tag].value for tag in _B_VALUES if tag in item}
    return found


def _frames(path, header):
    """The frames of a file, with what functional groups say about each."""
    number = int(_numbers(header.get, "NumberOfFrames", 1, [1])[0])
    shared, each = map(header.get, _GROUPS)
    if number < 1 or (each is not None and len(each) != number):
        raise ValueError(f"it has {number} frames, but functional groups of {len(each or ())}")
    common = {"b-value": header[tag].value for tag in _B_VALUES if tag in header}
    common |= _flatten(shared[0]) if shared else {}
    offsets = header.get("GridFrameOffsetVector")
    frames = []
    for index in range(number):
        own = _flatten(each[index]) if each is not None else {}

        def get(keyword):
            return own[keyword] if keyword in own else common[keyword] if keyword in common else header.get(keyword)

        # Slices of a volume must have both.
        orientation, position = _numbers(get, "ImageOrientationPatient", 6), _numbers(get, "ImagePositionPatient", 3)
        position = None if position is None or orientation is None else np.array(position)
        orientation = np.array(orientation or [1, 0, 0, 0, 1, 0], float)
        step = _numbers(get, "SpacingBetweenSlices", 1, [0])[0]
        if number > 1 and (position is None or "ImagePositionPatient" not in own):
            distances = offsets if offsets is not None and len(offsets) == number else np.arange(number) * step
            if position is None or distances[0] == distances[1]:
                raise ValueError(f"it has {number} frames without positions: they are not slices of one volume")
            position = position + float(distances[index] - distances[0]) * np.cross(orientation[:3], orientation[3:])
        slope = _numbers(get, "RescaleSlope", 1, _numbers(get, "DoseGridScaling", 1, [1]))[0]
        if slope == 0:
            raise ValueError("its RescaleSlope is 0")
        pixel = [_numbers(get, keyword, 2) for keyword in _PIXEL_SPACINGS]
        spacing = *next(filter(None, pixel), (0, 0)), step or _numbers(get, "SliceThickness", 1, [0])[0]
        intercept = _numbers(get, "RescaleIntercept", 1, [0])[0]
        segment = _numbers(get, "ReferencedSegmentNumber", 1, [0])[0]
        distinctions = {name: _text(get(name)) for name in _DISTINCTIONS if name and get(name) not in (None, "")}
        frames.append(_Frame(path, index, position, orientation, spacing, slope, intercept, int(segment), distinctions))
    return frames


def _text(value):
    """A number as a text that does not depend on how it was written."""
    try:
        # Times have six digits.
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def _check_pixels(file):
    """Raise ValueError unless the pixels are gray values that can be read."""
    header = file.header
    if "MOSAIC" in (header.get("ImageType") or ()):
        raise ValueError("it is a Siemens mosaic, with slices as tiles of one image: convert it to NIfTI with dcm2niix")
    photometric = header.get("PhotometricInterpretation")
    if photometric != "MONOCHROME2":
        raise ValueError(f"its PhotometricInterpretation is {photometric}, not MONOCHROME2: convert it to gray values")
    if "ModalityLUTSequence" in header:
        raise ValueError("its values are defined by a table (ModalityLUTSequence): convert it to values with a slope")
    integer = lambda name: int(_numbers(header.get, name, 1, [0])[0])
    rows, columns, allocated = map(integer, ("Rows", "Columns", "BitsAllocated"))
    # Floating-point pixels have neither.
    stored = _numbers(header.get, "BitsStored", 1, [allocated])[0]
    high = _numbers(header.get, "HighBit", 1, [stored - 1])[0]
    if min(rows, columns) < 1 or allocated not in (1, 8, 16, 32, 64) or not 1 <= stored <= high + 1 <= allocated:
        raise ValueError(
            f"its pixels are not valid: Rows {rows}, Columns {columns}, BitsAllocated {allocated}, BitsStored {stored:g}, "
            f"HighBit {high:g}"
        )
    needed = -(-rows * columns * allocated * len(file.frames) // 8)
    if file.pixel_bytes not in (None, needed, needed + needed % 2):
        raise ValueError(f"its pixel data has {file.pixel_bytes} bytes, but the header needs {needed}")


def _read_file(path):
    """A file with its frames, or None if it is not DICOM."""
    file = _File(path, {}, [])
    try:
        header = _header(path)
        if header is None:
            return None
        file = file._replace(header=header)
        file = file._replace(pixel_bytes=_pixel_bytes(path, header))
        if "Rows" in header:
            file = file._replace(frames=_frames(path, header))
            _check_pixels(file)
        return file
    except ImportError:
        raise
    except ValueError as error:
        return file._replace(problem=str(error))
    # Of corrupt files, pydicom raises exceptions of many types.
    except Exception as error:
        return file._replace(problem=f"it is corrupt: {error or type(error).__name__}")


def _stored_values(path):
    """The stored values of all frames of a file, as (frames, rows, columns). Raises ValueError."""
    pydicom = library("pydicom", f"reading {path}")
    try:
        header = pydicom.dcmread(path, force=True)
        if "TransferSyntaxUID" not in header.file_meta:
            header.file_meta.TransferSyntaxUID = pydicom.uid.ImplicitVRLittleEndian
        syntax = header.file_meta.TransferSyntaxUID
        is_decompressed = syntax.is_encapsulated and syntax != pydicom.uid.RLELossless
        array = _decompressed(header) if is_decompressed else header.pixel_array
        array = array.reshape(-1, int(header.Rows), int(header.Columns))
        if array.dtype.kind == "f" or header.BitsAllocated == 1 or is_decompressed:
            return array
        # Other bits, such as overlays of old files, are not part of the values.
        left = int(header.BitsAllocated) - 1 - int(header.HighBit)
        right = int(header.BitsAllocated) - int(header.BitsStored)
        return array << left >> right if right else array
    except (ImportError, MemoryError):
        raise
    # Of corrupt files, pydicom and SimpleITK raise exceptions of many types.
    except Exception as error:
        text = (str(error) or type(error).__name__).strip().splitlines()[-1]
        raise ValueError(f"'{os.path.basename(path)}': its pixels are truncated or corrupt: {text}") from None


def _decompressed(header):
    sitk = library("SimpleITK", "decompressing DICOM files")
    # Without them, SimpleITK does not rescale.
    for keyword in ("RescaleSlope", "RescaleIntercept", *_GROUPS):
        if keyword in header:
            del header[keyword]
    with tempfile.TemporaryDirectory(prefix="voxelmaps-") as folder:
        copy = os.path.join(folder, "image.dcm")
        header.save_as(copy)
        return sitk.GetArrayFromImage(sitk.ReadImage(copy, imageIO="GDCMImageIO"))


# --- Volumes -----------------------------------------------------------------------------------------------------------


def _axes(orientation):
    """Unit vectors along rows, columns and slices; orthogonal as those of ITK."""
    row, column = orientation[:3], orientation[3:]
    lengths = np.linalg.norm(row), np.linalg.norm(column)
    if max(abs(lengths[0] - 1), abs(lengths[1] - 1), abs(row @ column)) > _UNIT_TOLERANCE:
        raise ValueError(f"ImageOrientationPatient is {_rounded(orientation)}, not two perpendicular unit vectors")
    normal = np.cross(row, column)
    normal /= np.linalg.norm(normal)
    row = np.cross(column, normal)
    row /= np.linalg.norm(row)
    return np.array([row, np.cross(normal, row), normal])


def _rounded(values):
    return str([float(f"{value:.6g}") for value in values])


def _spacing(frame):
    row, column, step = frame.spacing
    if row <= 0 or column <= 0:
        raise ValueError(f"{frame.name}: PixelSpacing must be positive, but is {_rounded(frame.spacing[:2])}")
    return column, row, step


def _differences(frames, always=False):
    """The distinctions in which frames differ, as a text."""
    names = _DISTINCTIONS[: _DISTINCTIONS.index(None)] if always else [name for name in _DISTINCTIONS if name]
    texts = []
    for name in names:
        values = list(dict.fromkeys(frame.distinctions.get(name, "none") for frame in frames))
        if len(values) > 1:
            texts.append(f"{name} {', '.join(values[:9])}{', ...' * (len(values) > 9)}")
    return "; ".join(texts)


def _check_same(files):
    """Raise ValueError unless all files have the same kind of pixels and the same frame of reference."""
    first = files[0]
    for file in files:
        for keyword in ("Rows", "Columns", "FrameOfReferenceUID"):
            ours, theirs = first.header.get(keyword), file.header.get(keyword)
            if ours != theirs:
                raise ValueError(
                    f"slices differ in {keyword}: '{os.path.basename(first.path)}' has {ours}, '{os.path.basename(file.path)}' "
                    f"has {theirs}"
                )
    instances = {}
    for file in files:
        instance = file.text("SOPInstanceUID")
        other = instances.setdefault(instance, file)
        if instance and other is not file:
            names = f"'{os.path.basename(other.path)}' and '{os.path.basename(file.path)}'"
            raise ValueError(f"{names} are the same image, {instance}: remove the copy")


def _ordered(frames, allow_uneven):
    """Frames in the order of the slices; the axes, the origin, the spacing, and a warning. Raises ValueError if they are not slices of
    one volume."""
    first = frames[0]
    axes = _axes(first.orientation)
    if len(frames) == 1:
        (row, column, step), warning = first.spacing, ""
        if row <= 0 or column <= 0:
            if (row, column) != (0, 0):
                _spacing(first)
            row = column = 1.0
            warning = f"{first.name} has no PixelSpacing: 1 mm is assumed"
        if step < 0:
            raise ValueError(f"the distance of slices is {step} mm, but must not be negative")
        origin = np.zeros(3) if first.position is None else first.position
        return frames, axes, origin, (column, row, step or 1.0), warning
    for frame in frames:
        if frame.position is None:
            raise ValueError(f"{frame.name} has no ImagePositionPatient or ImageOrientationPatient")
        if abs(frame.orientation - first.orientation).max() > _ORIENTATION_TOLERANCE:
            raise ValueError(
                f"slices differ in ImageOrientationPatient: {first.name} has {_rounded(first.orientation)}, {frame.name} "
                f"{_rounded(frame.orientation)}"
            )
        if not np.allclose(_spacing(frame)[:2], _spacing(first)[:2], rtol=1e-4, atol=0):
            raise ValueError(
                f"slices differ in PixelSpacing: {first.name} has {_rounded(first.spacing[:2])}, {frame.name} "
                f"{_rounded(frame.spacing[:2])}"
            )
    frames = sorted(frames, key=lambda frame: float(axes[2] @ frame.position))
    first, positions = frames[0], np.array([frame.position for frame in frames])
    moves = np.diff(positions, axis=0) @ axes.T
    steps = moves[:, 2]
    again = np.flatnonzero(steps <= min(1e-3, 0.01 * steps.max()))
    if len(again):
        same = frames[again[0] : again[0] + 2]
        while again[0] + len(same) - 1 in again:
            same.append(frames[again[0] + len(same)])
        different, names = _differences(same), ", ".join(frame.name for frame in same[:4])
        remedy = f", which differ in {different}: {_CHOOSE}" if different else ": remove the copies"
        raise ValueError(f"it has several images of one place, such as {names} at {_rounded(same[0].position)}{remedy}")
    different = _differences(frames, always=True)
    if different:
        raise ValueError(f"its slices differ in {different}: they are not one volume: {_CHOOSE}")
    median = float(np.median(steps))
    tolerance = min(max(0.01 * median, 0.01), 0.1 * median)
    total = (positions - positions[0]) @ axes.T
    beside = np.linalg.norm(moves[:, :2], axis=1)
    if (beside > tolerance).any() or (np.linalg.norm(total[:, :2], axis=1) > 0.1 * median).any():
        worst = int(np.argmax(np.linalg.norm(total[:, :2], axis=1)))
        raise ValueError(
            f"slices are shifted by up to {beside.max():.6g} mm in the plane of the slices, as with a tilted gantry: "
            f"{frames[worst].name} is {np.linalg.norm(total[worst, :2]):.6g} mm off the normal through {first.name}, but "
            f"{tolerance:.6g} mm per step and 10 % of the step of {median:.6g} mm in all are allowed: resample it"
        )
    step, warning = float(total[-1, 2]) / (len(frames) - 1), ""
    off = abs(total[:, 2] - median * np.arange(len(frames)))
    uneven = [
        f"{steps[i]:.6g} mm from {frames[i].name} to {frames[i + 1].name}"
        for i in np.flatnonzero(abs(steps - median) > tolerance)[:4]
    ]
    if off.max() > 0.1 * median and not uneven:
        uneven = [f"{frames[int(off.argmax())].name} is {off.max():.6g} mm off its even position"]
    if uneven:
        text = f"the distances of slices must agree within {tolerance:.6g} mm, and their median is {median:.6g} mm: {', '.join(uneven)}"
        if not allow_uneven:
            raise ValueError(
                f"{text}; slices are missing or uneven (read_dicom_series(..., allow_uneven_slices=True) reads them)"
            )
        warning = f"{text}; read as if each step were {step:.6g} mm"
    column, row, _ = _spacing(first)
    return frames, axes, first.position, (column, row, step), warning


def _type_of(frames, headers):
    """The smallest type of integers that holds all rescaled values, or float64."""
    limits = [0]
    for frame in frames:
        header = headers[frame.path]
        if "BitsStored" not in header or "PixelRepresentation" not in header:
            return np.float64
        bits = int(header.BitsStored)
        stored = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if header.PixelRepresentation else (0, 2**bits - 1)
        limits += [limit * frame.slope + frame.intercept for limit in stored]
        if not (float(frame.slope).is_integer() and float(frame.intercept).is_integer()):
            return np.float64
    for kind in (np.uint8, np.int16, np.uint16, np.int32):
        if np.iinfo(kind).min <= min(limits) and max(limits) <= np.iinfo(kind).max:
            return kind
    return np.float64


def _values(frames, files):
    """The array of ordered frames, rescaled: integers if slopes and intercepts are."""
    kind = _type_of(frames, {file.path: file.header for file in files})
    wide = np.int64 if kind != np.float64 else np.float64
    array, path, stored = None, None, None
    for k, frame in enumerate(frames):
        if frame.path != path:
            path, stored = frame.path, _stored_values(frame.path)
        plane = stored[frame.number]
        if array is None:
            array = np.empty((len(frames), *plane.shape), kind)
        if (frame.slope, frame.intercept) != (1, 0):
            plane = plane.astype(wide) * wide(frame.slope) + wide(frame.intercept)
        array[k] = plane
    return array


def _geometry(spacing, origin, direction):
    return tuple(map(float, spacing)), tuple(map(float, origin)), tuple(map(float, np.ravel(direction)))


def _selected(files, select):
    """Files with the frames that have these values of distinctions."""
    names = [name for name in _DISTINCTIONS if name]
    if not isinstance(select, Mapping):
        raise TypeError(f"select is {select!r}, but must be a dict such as {{'EchoTime': 4.6}}")
    for name, value in select.items():
        if name not in names:
            raise ValueError(f"select has {name!r}{did_you_mean(name, names)}, but must have one of {', '.join(names)}")
        frames = [frame for file in files for frame in file.frames]
        chosen = [frame for frame in frames if frame.distinctions.get(name, "none") == _text(value)]
        if not chosen:
            present = dict.fromkeys(frame.distinctions.get(name, "none") for frame in frames)
            raise ValueError(f"select has {name} {value}, but the images have {', '.join([*present][:20])}")
        files = [file._replace(frames=[frame for frame in chosen if frame.path == file.path]) for file in files]
    return [file for file in files if file.frames]


def _volume(files, allow_uneven, select):
    """Array, spacing, origin and direction of an image of one series, and a warning."""
    files = _selected(files, select or {})
    _check_same(files)
    frames, axes, origin, spacing, warning = _ordered([frame for file in files for frame in file.frames], allow_uneven)
    return _values(frames, files), *_geometry(spacing, origin, axes.T), warning


# --- Segmentations -----------------------------------------------------------------------------------------------------


def _grid_of(frames):
    """Shape along slices, spacing, origin and direction of the smallest grid that has all frames of a segmentation."""
    axes = _axes(frames[0].orientation)
    column, row, header_step = _spacing(frames[0])
    ordered = sorted(frames, key=lambda frame: float(axes[2] @ frame.position))
    distances = np.array([axes[2] @ (frame.position - ordered[0].position) for frame in ordered])
    steps = np.diff(distances)
    steps = steps[steps > 1e-3]
    candidates = [header_step, *([steps.min()] if len(steps) else [1.0])]
    for step in candidates:
        if step > 0 and (abs(distances / step - np.round(distances / step)) < 0.05).all():
            return round(distances[-1] / step) + 1, (column, row, float(step)), ordered[0].position, axes
    raise ValueError(
        f"the frames of the segmentation are not evenly spaced: steps {_rounded(sorted(set(np.round(steps, 3))))[:200]} mm"
    )


def _segmentation(file, grid, segment):
    """The label map of a segmentation, whose labels are the numbers of the segments: on the grid of an image, or on the smallest
    grid with all frames."""
    header, frames = file.header, file.frames
    kind = header.get("SegmentationType")
    if any(frame.position is None for frame in frames):
        raise ValueError("frames of the segmentation have no ImagePositionPatient")
    if max(abs(frame.orientation - frames[0].orientation).max() for frame in frames) > _ORIENTATION_TOLERANCE:
        raise ValueError("frames of the segmentation differ in ImageOrientationPatient")
    stored = _stored_values(file.path)
    if kind == "FRACTIONAL":
        largest = _numbers(header.get, "MaximumFractionalValue", 1, [255])[0]
        if not np.isin(stored, (0, largest)).all():
            raise ValueError("the segmentation is fractional, with values between 0 and 1: threshold it first")
    elif kind not in ("BINARY", "LABELMAP"):
        raise ValueError(f"its SegmentationType is {kind}, but must be BINARY, FRACTIONAL or LABELMAP")
    axes = _axes(frames[0].orientation)
    if grid is None:
        depth, spacing, origin, _ = _grid_of(frames)
        shape, direction = (depth, *stored.shape[1:]), axes.T
    elif len(grid.spacing) == 3:
        shape, spacing, origin, direction = grid.array.shape[:3], *grid[1:3], np.reshape(grid.direction, (3, 3))
    else:
        raise ValueError("it is a DICOM segmentation, for volumes only")
    matrix = direction * np.array(spacing)
    numbers = [int(item.SegmentNumber) for item in header.get("SegmentSequence") or ()]
    if segment is not None and segment not in numbers:
        raise ValueError(f"the segmentation has no segment {segment}; its segments are {_segments(header)}")
    largest = max([*numbers, stored.max() if kind == "LABELMAP" else 0])
    labels = np.zeros(shape, np.uint8 if largest < 256 else np.uint16)
    last = np.array([stored.shape[2] - 1, stored.shape[1] - 1])
    for frame in frames:
        plane = stored[frame.number]
        values = plane if kind == "LABELMAP" else (plane > 0) * labels.dtype.type(frame.segment)
        if segment is not None:
            values = values * (values == segment)
        if not values.any():
            continue
        corner = frame.position + axes[0] * frame.spacing[1] * last[0] + axes[1] * frame.spacing[0] * last[1]
        index = np.linalg.solve(matrix, np.array([frame.position, corner]).T - np.array(origin)[:, None]).T
        start = np.round(index[0]).astype(int)
        # Positions of slices may be a tenth of a step off an even grid, as in images.
        if (abs(index - [start, start + [*last, 0]]) > [1e-3, 1e-3, 0.1]).any():
            raise ValueError(
                f"the geometry of the segmentation is not that of the image: a frame at {_rounded(frame.position)} has the corners "
                f"{_rounded(index[0])} and {_rounded(index[1])} in voxels of the image; resample it onto the image"
            )
        rows, columns = np.nonzero(values)
        place = start[2], rows + start[1], columns + start[0]
        if not (
            0 <= start[2] < shape[0]
            and 0 <= place[1].min() <= place[1].max() < shape[1]
            and 0 <= place[2].min() <= place[2].max() < shape[2]
        ):
            raise ValueError(f"the segmentation reaches beyond the image, with a frame at {_rounded(frame.position)}")
        values = values[rows, columns]
        if ((labels[place] != 0) & (labels[place] != values)).any():
            raise ValueError(
                f"segments {labels[place].max()} and {values.max()} overlap, which a label map cannot hold: read one with "
                "radiomics.read_image(path, segment=NUMBER)"
            )
        labels[place] = values
    return labels, *_geometry(spacing, origin, direction)


def _segments(header):
    items = header.get("SegmentSequence") or ()
    return ", ".join(f"{item.SegmentNumber} ({item.get('SegmentLabel', '')})" for item in items) or "not listed"


# --- Folders -----------------------------------------------------------------------------------------------------------


def _scan(folder):
    """Lists of files by series, and texts on files that cannot be read and belong to no series."""
    files, others = [], []
    for path in (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.startswith(".")):
        file = _read_file(path) if os.path.isfile(path) else None
        if file is None:
            others.append(path)
        elif file.problem or file.kind != _DIRECTORY:
            files.append(file)
    is_image = lambda file: bool(file.frames or file.problem and "Rows" in file.header)
    series, unreadable, kinds = {}, [], {file.kind for file in files if file.frames}
    for file in sorted(files, key=is_image, reverse=True):
        uid = file.text("SeriesInstanceUID")
        if is_image(file):
            series.setdefault(uid, []).append(file)
        elif file.problem or not file.kind or file.kind in kinds:
            # A slice without its pixels.
            problem = file.problem or "it has no pixel data"
            if uid in series:
                series[uid].append(file._replace(problem=problem))
            elif file.problem or not uid:
                unreadable.append(f"'{os.path.basename(file.path)}': {problem}")
    suffixes = {_suffix(file.path) for file in files}
    for path in others:
        problem = _emptiness(path)
        # Lost slices are named like the others.
        if problem and _suffix(path) in suffixes:
            unreadable.append(f"'{os.path.basename(path)}': {problem}")
    return series, unreadable


def _suffix(path):
    suffix = os.path.splitext(path)[1].lower()
    return "" if suffix[1:].isdigit() else suffix


def _emptiness(path):
    if os.path.islink(path) and not os.path.exists(path):
        return "it is a broken link"
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        content = file.read(2**16)
    return "it is empty" if not content else "" if any(content) else "it has zeros only"


def _describe(uid, files):
    texts = f"{len(files)} file{'s' * (len(files) > 1)}", files[0].text("Modality"), files[0].text("SeriesDescription")
    return f"{uid}: {', '.join(text for text in texts if text)}"


def _check_files(files):
    for file in files:
        if file.problem:
            raise ValueError(f"'{os.path.basename(file.path)}': {file.problem}")


def read(path, series=None, allow_uneven_slices=False, grid=None, segment=None, select=None):
    """Array, spacing, origin and direction of the volume of a file or of a series in a folder. Raises ValueError.

    grid       Image on whose grid frames of a segmentation are placed.
    segment    Number of the only segment to read of a segmentation.
    select     Values that images must have, by name, such as EchoTime.
    """
    # Values that matter are checked here; pydicom would warn of others.
    with library("pydicom", f"reading {path}").config.disable_value_validation():
        return _read(path, series, allow_uneven_slices, grid, segment, select)


def _read(path, series, allow_uneven_slices, grid, segment, select):
    if os.path.isdir(path):
        found, unreadable = _scan(path)
        if not found and not unreadable:
            others = (_read_file(entry.path) for entry in os.scandir(path) if entry.is_file())
            files = [file for file in others if file is not None]
            if len(files) != 1:
                raise ValueError("it holds no DICOM series with images")
            return _read(files[0].path, series, allow_uneven_slices, grid, segment, select)
        texts = "; ".join(_describe(*each) for each in found.items())
        if series is not None and series not in found:
            raise ValueError(f"it has no series '{series}', but {texts}")
        if unreadable:
            raise ValueError("; ".join(unreadable[:4]))
        if series is None and len(found) > 1:
            raise ValueError(
                f"it has {len(found)} series: {texts}: read_dicom_series(folder, series=UID) reads one, and list_dicom_series "
                "lists them"
            )
        files = found[series or next(iter(found))]
    else:
        file = _read_file(path)
        if file is None:
            raise ValueError("it is not a DICOM file")
        files = [file]
    if len(files) == 1 and not files[0].frames and not files[0].problem:
        kind = files[0].kind
        if kind == _RTSTRUCT:
            raise ValueError(
                "it is an RTSTRUCT, with contours and no voxels: convert it to a mask, for instance with 3D Slicer, plastimatch or "
                "dcmrtstruct2nii"
            )
        remedy = ": pass the folder" if kind == _DIRECTORY else ""
        raise ValueError(f"it is not an image, but {getattr(kind, 'name', kind)}{remedy}")
    _check_files(files)
    if files[0].kind in _SEGMENTATIONS:
        if len(files) > 1:
            raise ValueError(f"it has {len(files)} segmentations: pass one of the files")
        return _segmentation(files[0], grid, segment)
    *result, warning = _volume(files, allow_uneven_slices, select)
    if warning:
        warn(f"{path}: {warning}")
    return tuple(result)


def list_dicom_series(folder: Path) -> list[DicomSeries]:
    """List the DICOM series with images in a folder.

    folder    The folder; subfolders are ignored.

    Returns a list of named tuples: uid (SeriesInstanceUID), files (ordered along the normal of the slices), modality,
    description, size and spacing in the order x, y, z (None if unknown), and problem: why read_dicom_series rejects the
    series, or an empty string. Warns if there are files that look like DICOM files but cannot be read. Raises
    FileNotFoundError or NotADirectoryError if there is no such folder. Needs pydicom.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> [(series.size, series.problem) for series in voxelmaps.list_dicom_series(".")]
    [((5, 4, 3), '')]
    """
    folder = os.fspath(folder)
    if not os.path.exists(folder):
        raise FileNotFoundError(f"there is no folder '{folder}'")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"'{folder}' is not a folder")
    with library("pydicom", f"reading {folder}").config.disable_value_validation():
        series, unreadable = _list(folder)
    if unreadable:
        warn(f"files in '{folder}' cannot be read: {'; '.join(unreadable[:4])}")
    return series


def _list(folder):
    found, unreadable = _scan(folder)
    result = []
    for uid, files in found.items():
        paths, size, spacing, problem = tuple(file.path for file in files), None, None, ""
        try:
            _check_files(files)
            frames = [frame for file in files for frame in file.frames]
            if files[0].kind in _SEGMENTATIONS:
                depth, spacing, _, _ = _grid_of(frames)
            else:
                _check_same(files)
                frames, _, _, spacing, _ = _ordered(frames, False)
                depth, paths = len(frames), tuple(dict.fromkeys(frame.path for frame in frames))
            header = files[0].header
            size = int(header.Columns), int(header.Rows), depth
            spacing = tuple(map(float, spacing))
        except ValueError as error:
            problem = str(error)
        texts = files[0].text("Modality"), files[0].text("SeriesDescription")
        result.append(DicomSeries(uid, paths, *texts, size, spacing, problem))
    return result, unreadable
