# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""DICOM images and segmentations: pydicom reads headers and uncompressed pixels, SimpleITK decompresses others. A frame is a slice,
in one file with others or in one of its own; what is not one evenly spaced volume is refused."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import contours, library, nifti, uptake
from .contours import OverlappingSegments
from .paths import check_exists, text_of
from .._suggestions import did_you_mean, warn

if TYPE_CHECKING:
    from .._types import Path

SUFFIXES = (".dcm", ".dicom", ".ima")
_SEGMENTATIONS = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}
_RTSTRUCT, _DIRECTORY = "1.2.840.10008.5.1.4.1.1.481.3", "1.2.840.10008.1.3.10"
# What all slices of a volume share, and in what else images at one position can differ.
_SHARED = ("EchoTime", "EffectiveEchoTime", "EchoNumbers", "DiffusionBValue", "b-value")
_DISTINCTIONS = (
    *_SHARED,
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
# Tags of PixelData, FloatPixelData and DoubleFloatPixelData, which are not read with the header.
_PIXELS, _DEFERRED_BYTES, _UNDEFINED = (0x7FE00010, 0x7FE00008, 0x7FE00009), 2**14, 2**32 - 1


class DicomSeries(NamedTuple):
    """A series with images in a folder, as list_dicom_series returns it.

    Parameters
    ----------
    uid : str
        SeriesInstanceUID.
    files : tuple of str
        Paths of the files, ordered along the normal of the slices.
    modality : str
        Modality, such as "CT".
    description : str
        SeriesDescription.
    size : tuple of int, optional
        Voxels along x, y and z; None if the series is not a volume.
    spacing : tuple of float, optional
        Distances of the voxels along x, y and z in mm; None if the series is not a volume.
    problem : str
        Why read_dicom_series rejects the series; empty if it is a volume.

    Examples
    --------
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
    size: tuple[int, int, int] | None
    spacing: tuple[float, float, float] | None
    problem: str


def _kind(header):
    """SOPClassUID of a header, which some files have in their first part only; None if there is none."""
    return header.get("SOPClassUID") or getattr(header, "file_meta", {}).get("MediaStorageSOPClassUID")


class _File:
    """A file with its frames, which can be none, or the problem for which it cannot be read."""

    def __init__(self, path):
        self.path, self.name = path, f"'{os.path.basename(path)}'"
        self.header, self.frames, self.problem = {}, [], ""

    def text(self, keyword):
        return "".join(c for c in str(self.header.get(keyword) or "") if c.isprintable())

    def description(self):
        return self.text("Modality"), self.text("SeriesDescription")

    @property
    def kind(self):
        return _kind(self.header)


class _Frame:
    """A slice of a volume or of a segment, frame index of the frames of a file; common and own have elements of functional groups."""

    def __init__(self, file, index, number, common, own):
        def get(keyword):
            return own[keyword] if keyword in own else common.get(keyword, file.header.get(keyword))

        self.file, self.index, self.name = file, index, file.name + (f" frame {index + 1}" if index else "")
        # Slices of a volume must have both.
        orientation, position = _numbers(get, "ImageOrientationPatient", 6), _numbers(get, "ImagePositionPatient", 3)
        self.position = None if position is None or orientation is None else np.array(position)
        self.orientation = np.array(orientation or [1, 0, 0, 0, 1, 0], float)
        step = _number(get, "SpacingBetweenSlices", 0)
        if number > 1 and (self.position is None or "ImagePositionPatient" not in own):
            offsets = get("GridFrameOffsetVector")
            distances = offsets if offsets is not None and len(offsets) == number else np.arange(number) * step
            if self.position is None or distances[0] == distances[1]:
                raise ValueError(f"it has {number} frames without positions: they are not slices of one volume")
            normal = np.cross(self.orientation[:3], self.orientation[3:])
            self.position = self.position + float(distances[index] - distances[0]) * normal
        pixel = [_numbers(get, keyword, 2) for keyword in _PIXEL_SPACINGS]
        # Distances of rows, columns and slices; 0 if they are not known.
        self.spacing = (*next(filter(None, pixel), (0, 0)), step or _number(get, "SliceThickness", 0))
        self.slope = _number(get, "RescaleSlope", _number(get, "DoseGridScaling", 1))
        self.intercept = _number(get, "RescaleIntercept", 0)
        self.has_slope = get("RescaleSlope") is not None
        if self.slope == 0:
            raise ValueError("its RescaleSlope is 0")
        # From rescaled values to SUV.
        self.factor = None
        self.segment = int(_number(get, "ReferencedSegmentNumber", 0))
        self.distinctions = {name: _text(get(name)) for name in _DISTINCTIONS if get(name) not in (None, "")}


# --- One file ----------------------------------------------------------------------------------------------------------


def _numbers(get, keyword, count, default=None):
    expected = f"{count} finite number{'s' * (count > 1)}"
    try:
        value = get(keyword)
        if value is None or value == "":
            return default
        values = [float(each) for each in ([value] if count == 1 and not hasattr(value, "__len__") else value)]
    # pydicom raises exceptions of many types for corrupt values.
    except Exception as error:
        raise ValueError(f"its {keyword} must be {expected}, but: {error}") from None
    if len(values) != count or not all(abs(number) < _LARGEST for number in values):
        raise ValueError(f"its {keyword} is {value}, not {expected}")
    return values


def _number(get, keyword, default):
    return _numbers(get, keyword, 1, [default])[0]


def _header(path):
    """The header of a file, without its longest values; None if the file is not DICOM."""
    pydicom = library("pydicom", f"reading {path}")
    try:
        header = pydicom.dcmread(path, defer_size=_DEFERRED_BYTES, force=path.lower().endswith(SUFFIXES))
    except pydicom.errors.InvalidDicomError:
        return None
    if header.preamble is None and "SOPClassUID" not in header:
        raise ValueError("it is not a DICOM file, in spite of its name")
    return header


def _b_value(dataset):
    return {"b-value": dataset[tag].value for tag in _B_VALUES if tag in dataset}


def _flatten(dataset):
    """The elements of all sequences of a data set, such as functional groups, by keyword."""
    found = {}
    for element in dataset:
        for item in element.value[:1] if element.VR == "SQ" else ():
            found |= _flatten(item) | {part.keyword: part.value for part in item if part.keyword and part.VR != "SQ"}
            found |= _b_value(item)
    return found


def _frames(file):
    """The frames of a file, with what functional groups say about each."""
    header = file.header
    number = int(_number(header.get, "NumberOfFrames", 1))
    shared, each = map(header.get, _GROUPS)
    if number < 1 or (each is not None and len(each) != number):
        raise ValueError(f"it has {number} frames, but functional groups of {len(each or ())}")
    common = _b_value(header) | (_flatten(shared[0]) if shared else {})
    return [_Frame(file, index, number, common, _flatten(each[index]) if each else {}) for index in range(number)]


def _text(value):
    """A number as a text that does not depend on how it was written."""
    try:
        # Times have six digits.
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def _check_pixels(file):
    """Raise ValueError unless the pixels are gray values that can be read, and complete, which pydicom does not notice."""
    header = file.header
    if "MOSAIC" in (header.get("ImageType") or ()):
        raise ValueError("it is a Siemens mosaic, with slices as tiles of one image: convert it to NIfTI with dcm2niix")
    photometric = header.get("PhotometricInterpretation")
    if photometric != "MONOCHROME2":
        raise ValueError(f"its PhotometricInterpretation is {photometric}, not MONOCHROME2: convert it to gray values")
    if "ModalityLUTSequence" in header:
        raise ValueError("its values are defined by a table (ModalityLUTSequence): convert it to values with a slope")
    rows, columns, allocated = (int(_number(header.get, name, 0)) for name in ("Rows", "Columns", "BitsAllocated"))
    # Floating-point pixels have neither.
    stored = _number(header.get, "BitsStored", allocated)
    high = _number(header.get, "HighBit", stored - 1)
    if min(rows, columns) < 1 or allocated not in (1, 8, 16, 32, 64) or not 1 <= stored == high + 1 <= allocated:
        bits = f"BitsAllocated {allocated}, BitsStored {stored:g}, and HighBit {high:g}, which must be one less"
        raise ValueError(f"its pixels are not valid: Rows {rows}, Columns {columns}, {bits}")
    needed = -(-rows * columns * allocated * len(file.frames) // 8)
    pixels = next((header.get_item(tag, keep_deferred=True) for tag in _PIXELS if tag in header), None)
    if pixels is None:
        raise ValueError("it is truncated: it has no pixel data")
    if pixels.length not in (_UNDEFINED, needed, needed + needed % 2):
        raise ValueError(f"its pixel data has {pixels.length} bytes, but the header needs {needed}")
    _check_size(file.path, header, [pixels])


def _check_size(path, header, elements):
    """Raise ValueError if the file of a header ends within these elements, of those that have not been converted."""
    if getattr(header.file_meta.get("TransferSyntaxUID"), "is_deflated", False):
        return
    ends = [one.value_tell + one.length for one in elements if getattr(one, "length", _UNDEFINED) != _UNDEFINED]
    size = os.path.getsize(path)
    if max(ends, default=0) > size:
        raise ValueError(f"it is truncated: it has {size} bytes, but its header promises {max(ends)}")


def _problem(error):
    """What is wrong with a file for which a library has raised an exception. Of corrupt files, these have many types."""
    text = " ".join((str(error) or type(error).__name__).split())
    if isinstance(error, (TypeError, AttributeError)):
        return f"pydicom {library('pydicom', '').__version__} cannot read it: {type(error).__name__}: {text}"
    return f"it is corrupt: {text}"


def _read_file(path, is_listed=False):
    """A file, or None if it is not DICOM. Raises OSError for one that must not or cannot be opened, unless it is only listed."""
    file = _File(path)
    try:
        header = _header(path)
        if header is None:
            return None
        file.header = header
        if "Rows" in header:
            file.frames = _frames(file)
            _check_pixels(file)
        else:
            _check_size(path, header, header.values())
    except (ImportError, MemoryError):
        raise
    except ValueError as error:
        file.problem = str(error)
    except Exception as error:
        if not is_listed:
            nifti.raise_of_system(error)
        file.problem = getattr(error, "strerror", None) or _problem(error)
    return file


def _stored_values(file):
    """The stored values of all frames of a file, as (frames, rows, columns), without bits such as those of overlays."""
    pydicom = library("pydicom", f"reading {file.path}")
    try:
        header = pydicom.dcmread(file.path, force=True)
        if "TransferSyntaxUID" not in header.file_meta:
            header.file_meta.TransferSyntaxUID = pydicom.uid.ImplicitVRLittleEndian
        syntax = header.file_meta.TransferSyntaxUID
        is_decompressed = syntax.is_encapsulated and syntax != pydicom.uid.RLELossless
        array = _decompressed(header) if is_decompressed else header.pixel_array
        return array.reshape(-1, int(header.Rows), int(header.Columns))
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        nifti.raise_of_system(error)
        text = (str(error) or type(error).__name__).strip().splitlines()[-1]
        is_other = isinstance(error, (TypeError, AttributeError))
        raise ValueError(
            f"{file.name}: {_problem(error) if is_other else f'its pixels are truncated or corrupt: {text}'}"
        ) from None


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


def _rounded(values):
    return str([float(f"{value:.6g}") for value in values])


def _axes(frames):
    """Unit vectors along rows, columns and slices, orthogonal as those of ITK. Raises ValueError unless frames have a place, and the
    same pixels, orientation and frame of reference."""
    first = frames[0]

    def check(frame, keyword, ours, theirs, is_same):
        if not is_same:
            raise ValueError(f"slices differ in {keyword}: {first.name} has {ours}, {frame.name} has {theirs}")

    for frame in frames:
        for keyword in ("Rows", "Columns", "FrameOfReferenceUID"):
            ours, theirs = first.file.header.get(keyword), frame.file.header.get(keyword)
            check(frame, keyword, ours, theirs, ours == theirs)
        if frame.position is None:
            raise ValueError(f"{frame.name} has no ImagePositionPatient or ImageOrientationPatient")
        ours, theirs = first.orientation, frame.orientation
        is_same = abs(theirs - ours).max() <= _ORIENTATION_TOLERANCE
        check(frame, "ImageOrientationPatient", _rounded(ours), _rounded(theirs), is_same)
        ours, theirs = first.spacing[:2], frame.spacing[:2]
        if min(theirs) <= 0:
            raise ValueError(f"{frame.name}: PixelSpacing must be positive, but is {_rounded(theirs)}")
        check(frame, "PixelSpacing", _rounded(ours), _rounded(theirs), np.allclose(theirs, ours, rtol=1e-4, atol=0))
    row, column = first.orientation[:3], first.orientation[3:]
    lengths = np.linalg.norm(row), np.linalg.norm(column)
    if max(abs(lengths[0] - 1), abs(lengths[1] - 1), abs(row @ column)) > _UNIT_TOLERANCE:
        found = _rounded(first.orientation)
        raise ValueError(f"ImageOrientationPatient is {found}, not two perpendicular unit vectors")
    normal = np.cross(row, column)
    normal /= np.linalg.norm(normal)
    row = np.cross(column, normal)
    row /= np.linalg.norm(row)
    return np.array([row, np.cross(normal, row), normal])


def _geometry(spacing, origin, axes):
    """Spacing, origin and direction as those of images."""
    return tuple(tuple(map(float, np.ravel(values))) for values in (spacing, origin, axes.T))


def _differences(frames, names=_DISTINCTIONS):
    """The distinctions in which frames differ, as a text."""
    texts = []
    for name in names:
        values = list(dict.fromkeys(frame.distinctions.get(name, "none") for frame in frames))
        if len(values) > 1:
            texts.append(f"{name} {', '.join(values[:9])}{', ...' * (len(values) > 9)}")
    return "; ".join(texts)


def _selected(frames, select):
    """The frames that have these values of distinctions."""
    if not isinstance(select, Mapping):
        raise TypeError(f"select is {select!r}, but must be a dict such as {{'EchoTime': 4.6}}")
    for name, value in select.items():
        if name not in _DISTINCTIONS:
            similar = did_you_mean(name, _DISTINCTIONS)
            raise ValueError(f"select has {name!r}{similar}, but must have one of {', '.join(_DISTINCTIONS)}")
        present = dict.fromkeys(frame.distinctions.get(name, "none") for frame in frames)
        if _text(value) not in present:
            raise ValueError(f"select has {name} {value}, but the images have {', '.join([*present][:20])}")
        frames = [frame for frame in frames if frame.distinctions.get(name, "none") == _text(value)]
    return frames


def _volume(frames, allow_uneven=False):
    """Frames in the order of the slices, their geometry, and a warning. Raises ValueError if they are not slices of one volume."""
    if len(frames) == 1:
        return _slice(frames[0])
    files = {}
    for file in dict.fromkeys(frame.file for frame in frames):
        instance = file.text("SOPInstanceUID")
        other = files.setdefault(instance, file)
        if instance and other is not file:
            raise ValueError(f"{other.name} and {file.name} are the same image, {instance}: remove the copy")
    axes = _axes(frames)
    frames = sorted(frames, key=lambda frame: float(axes[2] @ frame.position))
    positions = np.array([frame.position for frame in frames])
    # In the directions of rows, columns and slices.
    moves, total = np.diff(positions, axis=0) @ axes.T, (positions - positions[0]) @ axes.T
    steps = moves[:, 2]
    is_again = steps <= min(1e-3, 0.01 * steps.max())
    if is_again.any():
        index = int(is_again.argmax())
        same = frames[index : index + 1 + int(np.argmin([*is_again[index:], False]))]
        different, names = _differences(same), ", ".join(frame.name for frame in same[:4])
        remedy = f", which differ in {different}: {_CHOOSE}" if different else ": remove the copies"
        raise ValueError(f"it has several images of one place, such as {names} at {_rounded(same[0].position)}{remedy}")
    different = _differences(frames, _SHARED)
    if different:
        raise ValueError(f"its slices differ in {different}: they are not one volume: {_CHOOSE}")
    median = float(np.median(steps))
    tolerance = min(max(0.01 * median, 0.01), 0.1 * median)
    shifts, shift = np.linalg.norm(total[:, :2], axis=1), np.linalg.norm(moves[:, :2], axis=1).max()
    if shift > tolerance or shifts.max() > 0.1 * median:
        worst = int(shifts.argmax())
        raise ValueError(
            f"slices are shifted by up to {shift:.6g} mm in the plane of the slices, as with a tilted gantry: "
            f"{frames[worst].name} is {shifts[worst]:.6g} mm off the normal through {frames[0].name}, but {tolerance:.6g} mm per "
            f"step and 10 % of the step of {median:.6g} mm in all are allowed: resample it"
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
            remedy = "read_dicom_series(..., allow_uneven_slices=True) reads them"
            raise ValueError(f"{text}; slices are missing or uneven ({remedy})")
        warning = f"{text}; read as if each step were {step:.6g} mm"
    row, column, _ = frames[0].spacing
    return frames, _geometry((column, row, step), positions[0], axes), warning


def _slice(frame):
    """What _volume returns of a single frame, which may have no place."""
    (row, column, step), warning = frame.spacing, ""
    if (row, column) == (0, 0):
        row = column = 1.0
        warning = f"{frame.name} has no PixelSpacing: 1 mm is assumed"
    if step < 0:
        raise ValueError(f"the distance of slices is {step} mm, but must not be negative")
    frame.spacing = row, column, step or 1.0
    frame.position = np.zeros(3) if frame.position is None else frame.position
    return [frame], _geometry((column, row, step or 1.0), frame.position, _axes([frame])), warning


def _value_type(frames):
    """The smallest type of integers that holds all rescaled values, or float64."""
    limits = [0]
    for frame in frames:
        bits, is_signed = map(frame.file.header.get, ("BitsStored", "PixelRepresentation"))
        if None in (bits, is_signed) or frame.slope % 1 or frame.intercept % 1 or frame.factor is not None:
            return np.float64
        least = -(2 ** (int(bits) - 1)) if is_signed else 0
        limits += [limit * frame.slope + frame.intercept for limit in (least, least + 2 ** int(bits) - 1)]
    for kind in (np.uint8, np.int16, np.uint16, np.int32):
        if np.iinfo(kind).min <= min(limits) and max(limits) <= np.iinfo(kind).max:
            return kind
    return np.float64


def _values(frames):
    """The array of ordered frames, rescaled: integers if slopes and intercepts are."""
    header, kind = frames[0].file.header, _value_type(frames)
    array = np.empty((len(frames), header.Rows, header.Columns), kind)
    wide = np.float64 if kind == np.float64 else np.int64
    for file, of_file in itertools.groupby(enumerate(frames), lambda pair: pair[1].file):
        stored = _stored_values(file)
        for k, frame in of_file:
            plane = stored[frame.index]
            if (frame.slope, frame.intercept) != (1, 0):
                plane = plane.astype(wide) * wide(frame.slope) + wide(frame.intercept)
            array[k] = plane if frame.factor is None else plane * frame.factor
    return array


# --- Segmentations -----------------------------------------------------------------------------------------------------


def _segmentation_grid(frames):
    """The number of slices and the geometry of the smallest grid that has all frames of a segmentation."""
    axes = _axes(frames)
    row, column, header_step = frames[0].spacing
    first = min(frames, key=lambda frame: float(axes[2] @ frame.position))
    distances = np.sort([axes[2] @ (frame.position - first.position) for frame in frames])
    steps = np.diff(distances)
    steps = steps[steps > 1e-3]
    for step in (header_step, steps.min() if len(steps) else 1.0):
        if step > 0 and (abs(distances / step - np.round(distances / step)) < 0.05).all():
            return round(distances[-1] / step) + 1, _geometry((column, row, step), first.position, axes)
    found = _rounded(np.unique(np.round(steps, 3)))[:200]
    raise ValueError(f"the frames of the segmentation are not evenly spaced: steps {found} mm")


def _segmentation(file, grid, segment):
    """The label map of a segmentation, whose labels are the numbers of the segments: on the grid of an image, or on the smallest
    grid with all frames.

    segment    Number of the only one to read, or a list of those that are one region together; None for all.
    """
    header, frames = file.header, file.frames
    axes, kind = _axes(frames), header.get("SegmentationType")
    stored = _stored_values(file)
    if kind == "FRACTIONAL":
        if not np.isin(stored, (0, _number(header.get, "MaximumFractionalValue", 255))).all():
            raise ValueError("the segmentation is fractional, with values between 0 and 1: threshold it first")
    elif kind not in ("BINARY", "LABELMAP"):
        raise ValueError(f"its SegmentationType is {kind}, but must be BINARY, FRACTIONAL or LABELMAP")
    if grid is None:
        depth, geometry = _segmentation_grid(frames)
        shape = depth, *stored.shape[1:]
    elif len(grid.spacing) == 3:
        shape, geometry = grid.array.shape[:3], grid[1:]
    else:
        raise ValueError("it is a DICOM segmentation, for volumes only")
    items = {int(item.SegmentNumber): item.get("SegmentLabel", "") for item in header.get("SegmentSequence") or ()}
    wanted = () if segment is None else np.atleast_1d(segment).tolist()
    if wanted and not set(wanted) & set(items):
        raise ValueError(f"the segmentation has no segment {segment}; its segments are {contours.listed(items)}")
    largest = max([*items, stored.max() if kind == "LABELMAP" else 0])
    labels = np.zeros(shape, np.uint8 if largest < 256 else np.uint16)
    spacing, origin, direction = geometry
    matrix = np.reshape(direction, (3, 3)) * spacing
    # From the first voxel of a frame to the last one, in voxels and in mm.
    size = np.array([stored.shape[2] - 1, stored.shape[1] - 1, 0])
    for frame in frames:
        plane = stored[frame.index]
        values = plane if kind == "LABELMAP" else (plane > 0) * labels.dtype.type(frame.segment)
        if wanted:
            values = values * np.isin(values, wanted)
        if not values.any():
            continue
        row, column, _ = frame.spacing
        corners = frame.position + np.array([np.zeros(3), (size * (column, row, 0)) @ axes])
        index = np.linalg.solve(matrix, (corners - origin).T).T
        start = np.round(index[0]).astype(int)
        # Positions of slices may be a tenth of a step off an even grid, as in images.
        if (abs(index - [start, start + size]) > [1e-3, 1e-3, 0.1]).any():
            raise ValueError(
                f"the geometry of the segmentation is not that of the image: a frame at {_rounded(frame.position)} has the corners "
                f"{_rounded(index[0])} and {_rounded(index[1])} in voxels of the image; resample it onto the image"
            )
        inside = np.nonzero(values)
        place = np.stack([np.full(len(inside[0]), start[2]), inside[0] + start[1], inside[1] + start[0]])
        if (place < 0).any() or (place.T >= shape).any():
            raise ValueError(f"the segmentation reaches beyond the image, with a frame at {_rounded(frame.position)}")
        place, values = tuple(place), values[inside]
        if not wanted and ((labels[place] != 0) & (labels[place] != values)).any():
            raise OverlappingSegments(
                f"segments {labels[place].max()} and {values.max()} overlap, which a label map cannot hold: name labels, or read one with "
                "radiomics.read_image(path, segment=NUMBER)",
                sorted(items),
            )
        labels[place] = values
    return labels, *geometry


# --- Folders -----------------------------------------------------------------------------------------------------------


def _suffix(path):
    suffix = os.path.splitext(path)[1].lower()
    return "" if suffix[1:].isdigit() else suffix


def _loss(path):
    """Why a file that is not DICOM may have been one, or an empty text."""
    if not os.path.exists(path):
        return "it is a broken link"
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        content = file.read(2**16)
    if any(content):
        return ""
    return "it has zeros only" if content else "it is empty"


def _scan(folder, is_listed=False):
    """Lists of files by series, texts on files that cannot be read and belong to no series, and all files."""
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    found = {path: _read_file(path, is_listed) if os.path.isfile(path) else None for path in paths}
    every = [file for file in found.values() if file is not None]
    files = [file for file in every if file.problem or file.kind != _DIRECTORY]
    kinds = {file.kind for file in files if file.frames}
    series, unreadable = {}, []
    for file in sorted(files, key=lambda file: "Rows" not in file.header):
        uid = file.text("SeriesInstanceUID")
        if "Rows" in file.header:
            series.setdefault(uid, []).append(file)
            continue
        # A slice without its pixels.
        if not file.problem and (not uid or file.kind in kinds or not file.kind and uid in series):
            file.problem = "it is truncated: it has no pixel data"
        if file.problem and uid in series:
            series[uid].append(file)
        elif file.problem:
            unreadable.append(f"{file.name}: {file.problem}")
    # Lost slices are named like the others.
    suffixes = {_suffix(file.path) for file in files}
    lost = {path: _loss(path) for path, file in found.items() if file is None and _suffix(path) in suffixes}
    unreadable += [f"'{os.path.basename(path)}': {loss}" for path, loss in lost.items() if loss]
    return series, unreadable, every


def _find(folder, series):
    """The files of the series in a folder, or of the one with this SeriesInstanceUID."""
    found, unreadable, every = _scan(folder)
    if not found and not unreadable:
        if len(every) != 1:
            kinds = ", ".join(sorted({getattr(file.kind, "name", "DICOM of no class") for file in every}))
            found = f", but {len(every)} files of {kinds}: pass one of them" if every else ""
            raise ValueError(f"it holds no DICOM series with images{found}")
        return every
    texts = []
    for uid, files in found.items():
        number = f"{len(files)} file{'s' * (len(files) > 1)}"
        texts.append(f"{uid}: {', '.join(filter(None, (number, *files[0].description())))}")
    if series is not None and series not in found:
        raise ValueError(f"it has no series '{series}', but {'; '.join(texts)}")
    if unreadable:
        raise ValueError("; ".join(unreadable[:4]))
    if series is None and len(found) > 1:
        remedy = "read_dicom_series(folder, series=UID) reads one, and list_dicom_series lists them"
        raise ValueError(f"it has {len(found)} series: {'; '.join(texts)}: {remedy}")
    return found[series or next(iter(found))]


def _frames_of(files):
    """The frames of files. Raises ValueError if one of them cannot be read."""
    for file in files:
        if file.problem:
            raise ValueError(f"{file.name}: {file.problem}")
    return [frame for file in files for frame in file.frames]


def read(
    path,
    series=None,
    allow_uneven_slices=False,
    grid=None,
    segment=None,
    select=None,
    image=None,
    suv=None,
    origin_of_suv=None,
):
    """Array, spacing, origin and direction of the volume of a file or of a series in a folder. Raises ValueError.

    path       Also a pydicom.Dataset of an RTSTRUCT.
    grid       Image on whose grid frames of a segmentation and contours of an RTSTRUCT are placed.
    segment    Number of the only segment or structure to read, or a list of numbers of those that are one region.
    select     Values that images must have, by name, such as EchoTime.
    image      The path of the image that grid is, or another value, for the frame of reference of an RTSTRUCT.
    suv        Kind of SUV that a PET series is converted to, one of uptake.KINDS.
    origin_of_suv
               Dict that gets what SUV come from.
    """
    if is_dataset(path):
        if _kind(path) != _RTSTRUCT:
            found = getattr(_kind(path), "name", _kind(path))
            raise ValueError(f"it is a Dataset of pydicom, which must be an RTSTRUCT, but is {found}: pass the path")
        return _structures(path, grid, segment, image)
    # Values that matter are checked here; pydicom would warn of others.
    with library("pydicom", f"reading {path}").config.disable_value_validation():
        files = _find(path, series) if os.path.isdir(path) else [_read_file(path)]
        if files == [None]:
            raise ValueError("it is not a DICOM file")
        frames, kind = _frames_of(files), files[0].kind
        if suv is not None and (kind == _RTSTRUCT or kind in _SEGMENTATIONS):
            raise ValueError(f"suv is {suv!r}, but it is not a PET series: it is {kind.name}")
        if kind == _RTSTRUCT and len(files) == 1:
            return _structures(files[0].header, grid, segment, image)
        if not frames:
            remedy = ": pass the folder" if kind == _DIRECTORY else ""
            found = getattr(kind, "name", kind)
            raise ValueError(f"it has no pixels: it is truncated, or it is not an image, but {found}{remedy}")
        if kind in _SEGMENTATIONS:
            if len(files) > 1:
                raise ValueError(f"it has {len(files)} segmentations: pass one of the files")
            return _segmentation(files[0], grid, segment)
        frames, geometry, warning = _volume(_selected(frames, select or {}), allow_uneven_slices)
        if warning:
            warn(f"{path}: {warning}")
        if suv is not None:
            for frame, factor in zip(frames, uptake.factors(frames, suv, origin_of_suv)):
                frame.factor = factor
        return _values(frames), *geometry


def is_dataset(value):
    """Whether a value is a Dataset of pydicom."""
    return type(value).__module__.partition(".")[0] == "pydicom" and hasattr(value, "get_item")


@contextlib.contextmanager
def _corruption_named(what=""):
    """Errors of a library are ValueErrors that say what is wrong with a file, after these words. Sequences are read only when they are
    used."""
    try:
        yield
    except (ImportError, MemoryError, OverlappingSegments):
        raise
    except Exception as error:
        nifti.raise_of_system(error)
        raise ValueError(what + (str(error) if isinstance(error, ValueError) else _problem(error))) from None


def _structures(header, grid, segment, image):
    frame_of_reference = "" if image is None else _frame_of_reference(image)
    with _corruption_named():
        return contours.label_map(header, grid, segment, frame_of_reference), *grid[1:]


def _frame_of_reference(path):
    """FrameOfReferenceUID of an image, a file of DICOM or a folder with a series; empty for other images."""
    if not isinstance(path, (str, os.PathLike)):
        return ""
    path, tags = os.fspath(path), ["Rows", "FrameOfReferenceUID"]
    entries = [os.path.join(path, name) for name in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
    for entry in filter(os.path.isfile, entries):
        header = _part_of_header(entry, tags)
        if header is not None and "Rows" in header:
            return header.get("FrameOfReferenceUID") or ""
    return ""


def _part_of_header(path, tags):
    """Elements of the header of a file; None if it is not DICOM."""
    with open(path, "rb") as file:
        if file.read(132)[128:] != b"DICM" and not path.lower().endswith(SUFFIXES):
            return None
    return library("pydicom", f"reading {path}").dcmread(path, stop_before_pixels=True, specific_tags=tags, force=True)


def segment_names(path):
    """Dict of the names of the segments of a segmentation or the structures of an RTSTRUCT, by number; empty for other masks.

    path    Path of a file, or of a folder with it; or a pydicom.Dataset, or another mask.
    """
    entries = [path]
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        entries = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
        if len(entries) != 1 or not os.path.isfile(entries[0]):
            return {}
    elif not is_dataset(path):
        return {}
    name = "the Dataset" if is_dataset(path) else f"'{entries[0]}'"
    with _corruption_named(f"the mask: cannot read {name}: "):
        tags = ["SOPClassUID", "SegmentSequence", "StructureSetROISequence"]
        header = path if is_dataset(path) else _part_of_header(entries[0], tags)
        kind = None if header is None else _kind(header)
        if header is not None and header is not path:
            _check_size(entries[0], header, header.values())
        if kind == _RTSTRUCT:
            return {number: structure.name for number, structure in contours.structures(header).items()}
        items = header.get("SegmentSequence") if kind in _SEGMENTATIONS else ()
        return {int(item.SegmentNumber): str(item.get("SegmentLabel", "")) for item in items or ()}


def label_of(mask, label):
    """A label, or a list of them, with numbers for the names of segments or structures of the mask."""
    if isinstance(label, Set):
        # Labels that cannot be compared are refused later.
        with contextlib.suppress(TypeError):
            label = sorted(label, key=lambda each: (isinstance(each, str), each))
        label = list(label)
    given = [label] if isinstance(label, str) else label if isinstance(label, (list, tuple)) else []
    has_names = any(isinstance(each, str) for each in given)
    return contours.numbers_of(label, segment_names(mask)) if has_names and mask is not None else label


def list_dicom_series(folder: Path) -> list[DicomSeries]:
    """List the DICOM series with images in a folder.

    Parameters
    ----------
    folder : path
        The folder; subfolders are ignored.

    Returns
    -------
    list of DicomSeries
        The series, also those that read_dicom_series rejects, with the reason.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is no such folder.
    ImportError
        If pydicom is not installed.

    Warns
    -----
    UserWarning
        If there are files that look like DICOM files but cannot be read.

    Examples
    --------
    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((3, 4, 5), np.uint16)), "ct.dcm")

    >>> [(series.size, series.problem) for series in voxelmaps.list_dicom_series(".")]
    [((5, 4, 3), '')]
    """
    folder, result = text_of(folder, "the folder"), []
    check_exists(folder, "the folder")
    with library("pydicom", f"reading {folder}").config.disable_value_validation():
        found, unreadable, _ = _scan(folder, is_listed=True)
        for uid, files in found.items():
            paths, size, spacing, problem = tuple(file.path for file in files), None, None, ""
            try:
                frames = _frames_of(files)
                if files[0].kind in _SEGMENTATIONS:
                    depth, (spacing, *_) = _segmentation_grid(frames)
                else:
                    frames, (spacing, *_), _ = _volume(frames)
                    depth, paths = len(frames), tuple(dict.fromkeys(frame.file.path for frame in frames))
                size = int(files[0].header.Columns), int(files[0].header.Rows), depth
            except ValueError as error:
                problem = str(error)
            modality, description = files[0].description()
            result.append(DicomSeries(uid, paths, modality, description, size, spacing, problem))
    if unreadable:
        warn(f"files in '{folder}' cannot be read: {'; '.join(unreadable[:4])}")
    return result
