# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""DICOM series, multi-frame files and segmentations: values as those of pydicom alone, and what is not one volume is refused."""

import errno
import io
import os
import pathlib
import warnings

import numpy as np
import pytest

pydicom = pytest.importorskip("pydicom")
sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

import voxelmaps  # noqa: E402
from pydicom.dataset import Dataset, FileMetaDataset  # noqa: E402
from voxelmaps import _image, radiomics  # noqa: E402

SYNTAXES = {name: getattr(pydicom.uid, name) for name in ("ExplicitVRLittleEndian", "ImplicitVRLittleEndian")}
SYNTAXES |= {name: getattr(pydicom.uid, name) for name in ("ExplicitVRBigEndian", "DeflatedExplicitVRLittleEndian")}
MR, CT = "1.2.840.10008.5.1.4.1.1.4", "1.2.840.10008.5.1.4.1.1.2"
ENHANCED_MR, SEG = "1.2.840.10008.5.1.4.1.1.4.1", "1.2.840.10008.5.1.4.1.1.66.4"
AXIAL = [1, 0, 0, 0, 1, 0]
VALUES = np.random.default_rng(2).integers(-50, 900, (7, 4, 5)).astype("i2")


def items(**keywords):
    """A data set; lists of data sets are sequences, and a name of None is left out."""
    dataset = Dataset()
    for keyword, value in keywords.items():
        if value is not None:
            setattr(dataset, keyword, value)
    return dataset


def shared(**measures):
    """What the frames of a file have in common."""
    measures = {"PixelSpacing": [0.5, 0.75], "SliceThickness": 2, **measures}
    orientation = [items(ImageOrientationPatient=AXIAL)]
    return items(PlaneOrientationSequence=orientation, PixelMeasuresSequence=[items(**measures)])


def group_at(position, **sequences):
    """What a frame has of its own."""
    return items(PlanePositionSequence=[items(ImagePositionPatient=position)], **sequences)


def header(**changes):
    common = dict(
        SOPClassUID=MR, StudyInstanceUID="1.2.9", SeriesInstanceUID="1.2.3", SeriesDescription="A head", Modality="MR"
    )
    common |= dict(FrameOfReferenceUID="1.2.7", SamplesPerPixel=1, PhotometricInterpretation="MONOCHROME2")
    common |= dict(BitsAllocated=16, BitsStored=16, HighBit=15, PixelRepresentation=1)
    return items(**common | changes)


def save(path, dataset, pixels=None, syntax="ExplicitVRLittleEndian"):
    """Write a file. The pixels have any number of frames."""
    dataset.SOPInstanceUID = dataset.get("SOPInstanceUID") or pydicom.uid.generate_uid()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = SYNTAXES[syntax]
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    if pixels is not None:
        if "Rows" not in dataset:
            dataset.Rows, dataset.Columns = pixels.shape[-2:]
        data = np.packbits(pixels.ravel() != 0, bitorder="little") if dataset.BitsAllocated == 1 else pixels
        data = data.astype(data.dtype.newbyteorder(">")) if "Big" in syntax else data
        kind = "OB" if dataset.BitsAllocated <= 8 else "OW"
        dataset.add_new("PixelData", kind, data.tobytes() + b"\0" * (data.nbytes % 2))
    dataset.save_as(path, enforce_file_format=True)
    return path


def name_of(number):
    """File of a slice; the names have another order."""
    return f"{10 * number % 23}.dcm"


@pytest.fixture
def write(tmp_path):
    """Write seven slices, 2.5 mm apart; change(number) returns other elements of a slice."""

    def write(change=lambda number: {}, prefix="", values=VALUES, **options):
        for number in range(len(values)):
            position = {"ImagePositionPatient": [-3, 4, 10 + 2.5 * number], "ImageOrientationPatient": AXIAL}
            elements = {"PixelSpacing": [0.5, 0.75], "SliceThickness": 2, **position, **change(number)}
            save(tmp_path / (prefix + name_of(number)), header(**elements), values[number], **options)
        return str(tmp_path)

    return write


def one(elements, number=5):
    return lambda index: elements if index == number else {}


def expect_volume(path, values=VALUES):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        volume = _image.load(path, "the image")[0]
    np.testing.assert_array_equal(volume.array, values)
    assert volume[1:] == ((0.75, 0.5, 2.5), (-3, 4, 10), (1, 0, 0, 0, 1, 0, 0, 0, 1))
    return volume


def expect_refused(path, *words, **options):
    with pytest.raises(ValueError) as error:
        voxelmaps.read_dicom_series(path, **options)
    message = str(error.value)
    assert str(path) in message and "\n" not in message and not [word for word in words if word not in message], message


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_volume(write, syntax):
    volume = expect_volume(write(syntax=syntax))
    assert volume.array.dtype == np.int16
    itk = pytest.importorskip("itk")
    image = voxelmaps.read_dicom_series(os.path.dirname(os.path.join(write(), "")))
    np.testing.assert_array_equal(itk.array_from_image(image), VALUES)


def test_values(write):
    """Slopes, intercepts and bits of each slice."""
    wide = VALUES.astype(float)
    number, in_hounsfield = np.arange(7)[:, None, None], {"RescaleSlope": 1, "RescaleIntercept": -1024}
    slopes = [f"{0.1 * (k + 1):.6g}" for k in range(7)]
    for change, expected, kind in (
        (lambda k: {**in_hounsfield, "BitsStored": 12, "HighBit": 11}, wide - 1024, np.int16),
        (lambda k: in_hounsfield, wide - 1024, np.int32),
        (lambda k: {"RescaleSlope": 2 + k % 2}, wide * (2 + number % 2), np.int32),
        (one({"RescaleSlope": 0.25, "RescaleIntercept": -0.5}), np.where(number == 5, wide / 4 - 0.5, wide), float),
        (lambda k: {"RescaleSlope": slopes[k]}, wide * np.array(slopes, float)[:, None, None], float),
    ):
        assert expect_volume(write(change), expected).array.dtype == kind
    unsigned = (VALUES & 0x0FFF).astype("u2")
    overlay = unsigned | 0xF000
    bits = {"PixelRepresentation": 0, "BitsStored": 12, "HighBit": 11}
    expect_volume(write(lambda k: bits, values=overlay), unsigned)
    signed = (VALUES & 0x0FFF) | 0x3000
    expect_volume(write(lambda k: {"BitsStored": 12, "HighBit": 11}, values=signed), VALUES)
    small = (VALUES & 0xFF).astype("u1")
    bits = {"BitsAllocated": 8, "BitsStored": 8, "HighBit": 7, "PixelRepresentation": 0}
    assert expect_volume(write(lambda k: bits, values=small), small).array.dtype == np.uint8


def test_compressed_pixels(write):
    folder = write(lambda k: {"RescaleSlope": 2, "RescaleIntercept": -7})
    for path in pathlib.Path(folder).iterdir():
        dataset = pydicom.dcmread(path)
        dataset.compress(pydicom.uid.RLELossless)
        dataset.save_as(path)
    expect_volume(folder, 2 * VALUES.astype(int) - 7)
    # JPEG 2000, which SimpleITK decompresses.
    pillow, large = pytest.importorskip("PIL.Image"), np.tile(VALUES & 0x3FF, (1, 16, 16)).astype("u2")
    write(lambda k: {"RescaleSlope": 2, "RescaleIntercept": -7, "PixelRepresentation": 0}, values=large)
    for number, plane in enumerate(large):
        dataset, file = pydicom.dcmread(pathlib.Path(folder, name_of(number))), io.BytesIO()
        pillow.fromarray(plane).save(file, "JPEG2000")
        dataset.PixelData = pydicom.encaps.encapsulate([file.getvalue()])
        dataset.file_meta.TransferSyntaxUID = pydicom.uid.JPEG2000Lossless
        dataset.save_as(dataset.filename)
    expect_volume(folder, 2 * large.astype(int) - 7)


def test_other_files_are_ignored(write, tmp_path):
    folder = write()
    (tmp_path / name_of(6)).rename(tmp_path / "1.2.3.4")
    (tmp_path / name_of(5)).rename(tmp_path / "IM5")
    (tmp_path / "README").write_text("no image")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "._0.dcm").write_bytes(bytes(4096))
    (tmp_path / "more.dcm").mkdir()
    os.mkfifo(tmp_path / "pipe")
    save(tmp_path / "report.dcm", header(SeriesInstanceUID="1.2.4", SOPClassUID="1.2.840.10008.5.1.4.1.1.88.22"))
    save(tmp_path / "state.dcm", header(SOPClassUID="1.2.840.10008.5.1.4.1.1.11.1"))
    save(tmp_path / "DICOMDIR", header(SOPClassUID="1.2.840.10008.1.3.10", SeriesInstanceUID=None))
    expect_volume(folder)
    assert [len(series.files) for series in voxelmaps.list_dicom_series(folder)] == [7]
    expect_refused(tmp_path / "DICOMDIR", "Media Storage Directory", "pass the folder")
    expect_refused(tmp_path / "report.dcm", "Enhanced SR Storage")
    # One file of a series.
    geometry = ((0.75, 0.5, 2), (-3, 4, 17.5), (1, 0, 0, 0, 1, 0, 0, 0, 1))
    assert _image.load(str(tmp_path / name_of(3)), "it")[0][1:] == geometry
    expect_volume(folder)


def test_uneven_slices(write, tmp_path):
    folder = write()
    (tmp_path / name_of(3)).unlink()
    expect_refused(
        folder, "median is 2.5 mm", f"5 mm from '{name_of(2)}' to '{name_of(4)}'", "missing", "allow_uneven_slices=True"
    )
    with pytest.warns(UserWarning, match="median is 2.5 mm.* as if each step were 3 mm"):
        image = voxelmaps.read_dicom_series(folder, allow_uneven_slices=True)
    assert tuple(image.GetSpacing()) == (0.75, 0.5, 3)
    for change, words in (
        (one({"ImagePositionPatient": [-3, 4, 17.524]}, 3), None),
        (one({"ImagePositionPatient": [-3, 4, 17.526]}, 3), ("agree within 0.025 mm", f"2.526 mm from '{name_of(2)}'")),
        (lambda k: {"ImagePositionPatient": [-3, 4 + 0.3 * k, 10 + 2.5 * k]}, ("0.3 mm in the plane", "gantry")),
        (lambda k: {"ImagePositionPatient": [0, 0, 0.004 * k]}, None),
        (lambda k: {"ImagePositionPatient": [0, 0, 0.004 * (k + (k > 3))]}, ("median is 0.004 mm",)),
        (lambda k: {"ImagePositionPatient": [0, 0.024 * k, 2.5 * k]}, None),
    ):
        if words is None:
            voxelmaps.read_dicom_series(write(change))
        else:
            expect_refused(write(change), *words)
    write(lambda k: {"ImagePositionPatient": [0, 0.02 * k, 2.5 * k]}, values=np.zeros((20, 4, 5), "i2"))
    expect_refused(folder, f"'{name_of(19)}' is 0.38 mm off the normal", "'0.dcm'", "10 % of the step of 2.5 mm")


PERPENDICULAR = [1, 0, 0, 0, 0, -1]
# Elements of one slice, and what the error says beside its file.
DIFFERENT_SLICES = [
    ({"Rows": 6, "PixelData": bytes(60)}, "differ in Rows"),
    ({"PixelSpacing": [0.5, 0.8]}, "[0.5, 0.8]"),
    ({"PixelSpacing": None}, "PixelSpacing must be positive"),
    ({"ImageOrientationPatient": PERPENDICULAR}, "differ in ImageOrientationPatient"),
    ({"ImageOrientationPatient": None}, "no ImagePositionPatient or ImageOrientationPatient"),
    ({"ImagePositionPatient": None}, "no ImagePositionPatient or ImageOrientationPatient"),
    ({"ImagePositionPatient": [1, "nan", 3]}, "nan, 3.0], not 3 finite numbers"),
    ({"ImagePositionPatient": [1, 2]}, "[1.0, 2.0], not 3 finite numbers"),
    ({"ImagePositionPatient": [1, 2, "1e308"]}, "not 3 finite numbers"),
    ({"RescaleSlope": "nan"}, "RescaleSlope is nan"),
    ({"RescaleSlope": 0}, "RescaleSlope is 0"),
    ({"BitsAllocated": 7}, "not valid"),
    ({"BitsStored": 17}, "not valid"),
    ({"Columns": 6}, "40 bytes, but the header needs 48"),
    ({"FrameOfReferenceUID": "1.2.8"}, "differ in FrameOfReferenceUID"),
    ({"NumberOfFrames": 2, "Rows": 2}, "2 frames without positions"),
    ({"EchoTime": 5}, "EchoTime none, 5"),
    ({"PhotometricInterpretation": "MONOCHROME1"}, "MONOCHROME1, not MONOCHROME2"),
    ({"PhotometricInterpretation": "PALETTE COLOR"}, "PALETTE COLOR, not"),
    ({"SamplesPerPixel": 3, "PhotometricInterpretation": "RGB"}, "RGB, not"),
    ({"ModalityLUTSequence": [Dataset()]}, "ModalityLUTSequence"),
    ({"ImageType": ["ORIGINAL", "PRIMARY", "M", "ND", "MOSAIC"]}, "Siemens mosaic"),
    ({"SOPInstanceUID": "1.2.3.4"}, None),
]


@pytest.mark.parametrize("elements, words", DIFFERENT_SLICES)
def test_different_slices(write, elements, words):
    folder = write()
    path = pathlib.Path(folder, name_of(5))
    dataset = pydicom.dcmread(path)
    with pydicom.config.disable_value_validation():
        for keyword, value in elements.items():
            setattr(dataset, keyword, value) if value is not None else delattr(dataset, keyword)
        dataset.save_as(path)
    if words is None:
        expect_volume(folder)
        return
    file = [f"'{path.name}'"] * ("EchoTime" not in words)
    for allow in (False, True):
        expect_refused(folder, words, *file, allow_uneven_slices=allow)


@pytest.mark.parametrize(
    "elements, words",
    [
        (lambda k: {"EchoTime": 4.6 * (k + 1)}, "EchoTime 4.6, 9.2"),
        (lambda k: {"DiffusionBValue": 1000 * k}, "DiffusionBValue 0, 1000"),
        (lambda k: {"TemporalPositionIdentifier": k}, "TemporalPositionIdentifier 0, 1"),
        (lambda k: {"ImageType": ["ORIGINAL", "PRIMARY", "MP"[k]]}, "ImageType"),
        (lambda k: {"AcquisitionTime": f"12000{k}"}, "AcquisitionTime 120000, 120001"),
        (lambda k: {}, "remove the copies"),
    ],
)
def test_several_images_of_one_place(write, elements, words):
    write(lambda _: elements(0))
    folder = write(lambda _: elements(1), prefix="again")
    expect_refused(folder, words, "several images of one place", "again0.dcm", "[-3.0, 4.0, 10.0]")
    (problem,) = voxelmaps.list_dicom_series(folder)
    assert words in problem.problem and problem.size is None
    (name, value), *_ = elements(1).items() or [(None, None)]
    if name is not None:
        image = voxelmaps.read_dicom_series(folder, select={name: value})
        np.testing.assert_array_equal(_image.opened(image, "it").image.array, VALUES)
        expect_refused(folder, f"select has {name} 7, but the images have", select={name: 7})
        expect_refused(folder, "did you mean EchoTime?", select={"EchoTimes": 7})
        with pytest.raises(TypeError, match="select is 'EchoTime', but must be a dict"):
            voxelmaps.read_dicom_series(folder, select="EchoTime")


def test_copies_and_series(write, tmp_path):
    folder = write()
    (tmp_path / "copy.dcm").write_bytes((tmp_path / name_of(5)).read_bytes())
    expect_refused(folder, f"'{name_of(5)}'", "'copy.dcm'", "same image")
    (tmp_path / "copy.dcm").unlink()
    knee = header(SeriesInstanceUID="1.2.4", SeriesDescription="A \x1b[31mknee", PixelSpacing=[1, 1])
    save(tmp_path / "other.dcm", knee, VALUES[0])
    expect_refused(
        folder, "1.2.3: 7 files, MR, A head; 1.2.4: 1 file, MR, A [31mknee", "series=UID", "list_dicom_series"
    )
    expect_refused(folder, "no series '1.2.5'", "1.2.3: 7 files, MR, A head", series="1.2.5")
    assert tuple(voxelmaps.read_dicom_series(folder, series="1.2.4").GetSpacing()) == (1, 1, 1)
    head, other = voxelmaps.list_dicom_series(folder)
    files = tuple(str(tmp_path / name_of(number)) for number in range(7))
    assert head == voxelmaps.DicomSeries("1.2.3", files, "MR", "A head", (5, 4, 7), (0.75, 0.5, 2.5), "")
    assert (other.uid, other.size) == ("1.2.4", (5, 4, 1))
    # A truncated file of a series does not keep another one from being read.
    (tmp_path / "other.dcm").write_bytes((tmp_path / "other.dcm").read_bytes()[:-2])
    expect_refused(folder, "'other.dcm'", "truncated", series="1.2.4")
    np.testing.assert_array_equal(_image.read(folder, "it", series="1.2.3").array, VALUES)
    assert "truncated" in voxelmaps.list_dicom_series(folder)[1].problem


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("99.dcm", None, "broken link"),
        ("1.2.3.5", None, "broken link"),
        ("empty.IMA", b"", "not a DICOM file"),
        ("IM7", b"", "empty"),
        ("IM8", bytes(100), "zeros"),
        ("text.dcm", b"no image", "not a DICOM file"),
        (
            "deep.dcm",
            bytes(128) + b"DICM" + 99999 * b"\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff\xfe\xff\x00\xe0\xff\xff\xff\xff",
            "corrupt",
        ),
    ],
)
def test_files_that_cannot_be_read(write, tmp_path, name, content, problem):
    folder = write()
    (tmp_path / name_of(6)).rename(tmp_path / "1.2.3.4")
    expect_volume(folder)
    os.symlink("nowhere", tmp_path / name) if content is None else (tmp_path / name).write_bytes(content)
    expect_refused(folder, f"'{name}'", problem)
    with pytest.warns(UserWarning, match=f"'{name}'.*{problem}"):
        assert len(voxelmaps.list_dicom_series(folder)) == 1


def test_files_cut_anywhere(write, tmp_path):
    folder = write()
    last = tmp_path / name_of(6)
    right = last.read_bytes()
    for size in [*range(0, len(right), 7), len(right) - 1]:
        last.write_bytes(right[:size])
        expect_refused(folder, f"'{last.name}'")


def test_images_without_position(tmp_path):
    path = save(tmp_path / "a.dcm", header(), VALUES[0])
    with pytest.warns(UserWarning, match="no PixelSpacing: 1 mm is assumed"):
        assert _image.load(path, "it")[0].spacing == (1, 1, 1)
    expect_refused(save(path, header(NumberOfFrames=7), VALUES), "7 frames without positions")
    place = {"ImagePositionPatient": [-3, 4, 10], "ImageOrientationPatient": AXIAL, "PixelSpacing": [0.5, 0.75]}
    expect_refused(save(path, header(NumberOfFrames=7, **place), VALUES), "7 frames without positions")
    dose = header(NumberOfFrames=7, GridFrameOffsetVector=[2.5 * k for k in range(7)], DoseGridScaling=0.125, **place)
    expect_volume(str(save(path, dose, VALUES)), VALUES / 8)
    for function in (voxelmaps.read_dicom_series, voxelmaps.list_dicom_series):
        with pytest.raises(FileNotFoundError, match="nothing"):
            function(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    expect_refused(tmp_path / "empty", "no DICOM series with images")


# --- Multi-frame files -------------------------------------------------------------------------------------------------


def enhanced(order=range(7), frame=lambda k: {}, step=2.5, **changes):
    """A multi-frame file, and its frames."""
    groups = [group_at([-3, 4, 10 + step * k], **frame(index)) for index, k in enumerate(order)]
    sequences = {"SharedFunctionalGroupsSequence": [shared()], "PerFrameFunctionalGroupsSequence": groups}
    return (
        header(**{"SOPClassUID": ENHANCED_MR, "NumberOfFrames": len(groups), **sequences, **changes}),
        VALUES[list(order)],
    )


def test_enhanced_files(tmp_path):
    path = str(tmp_path / "a.dcm")
    save(path, *enhanced())
    assert expect_volume(path).array.dtype == np.int16
    order = [3, 0, 6, 2, 5, 1, 4]
    save(path, *enhanced(order))
    expect_volume(path)
    expect_volume(str(tmp_path))
    slopes = lambda k: {
        "PixelValueTransformationSequence": [items(RescaleSlope=0.5 * (k + 1), RescaleIntercept=-k)]
    }  # noqa: E731
    save(path, *enhanced(order, slopes))
    index = np.argsort(order)[:, None, None]
    expect_volume(path, VALUES * 0.5 * (index + 1) - index)
    for frame, words in (
        (lambda k: {"MREchoSequence": [items(EffectiveEchoTime=10.0 * (k % 2))]}, "EffectiveEchoTime 0, 10"),
        (lambda k: {"MRDiffusionSequence": [items(DiffusionBValue=800.0 * (k % 2))]}, "DiffusionBValue 0, 800"),
    ):
        # At the same places, and at different ones.
        expect_refused(
            save(path, *enhanced([0, 0, 1, 1, 2, 2], frame)), words, "several images of one place", "frame 2"
        )
        expect_refused(save(path, *enhanced(frame=frame)), words)
    times = lambda k: {"FrameContentSequence": [items(TemporalPositionIndex=k % 2)]}  # noqa: E731
    expect_refused(save(path, *enhanced([0, 0, 1, 1], times)), "TemporalPositionIndex 0, 1")
    expect_refused(save(path, *enhanced([0, 1, 3, 4])), "missing")
    expect_refused(save(path, *enhanced(NumberOfFrames=6)), "functional groups of 7")
    expect_refused(save(path, *enhanced(PerFrameFunctionalGroupsSequence=None)), "7 frames without")
    # Two files of one series.
    for part in ([0, 1, 2], [3, 4, 5, 6]):
        save(tmp_path / f"{part[0]}.dcm", *enhanced(part))
    os.unlink(path)
    expect_volume(str(tmp_path))


# --- Segmentations -----------------------------------------------------------------------------------------------------

FIRST, SECOND = np.zeros(VALUES.shape, bool), np.zeros(VALUES.shape, bool)
FIRST[1:4, :2, 1:4] = SECOND[2:6, 2:, 2:] = True


def segmentation(path, frames, kind="BINARY", step=2.5, position=(-3, 4, 10), maximum=255, dtype="u1", **measures):
    """Frames are (segment, slice, array)."""
    bits = 1 if kind == "BINARY" else 8
    x, y, z = position
    identified = lambda segment: {"SegmentIdentificationSequence": [items(ReferencedSegmentNumber=segment)]}
    each = [group_at([x, y, z + step * k], **identified(segment)) for segment, k, _ in frames]
    segments = [items(SegmentNumber=n, SegmentLabel=f"part {n}") for n in sorted({frame[0] for frame in frames})]
    dataset = header(
        **{"SOPClassUID": SEG, "SegmentationType": kind, "SegmentSequence": segments, "NumberOfFrames": len(frames)},
        **{"BitsAllocated": bits, "BitsStored": bits, "HighBit": bits - 1, "PixelRepresentation": 0, "Modality": "SEG"},
        **{"SharedFunctionalGroupsSequence": [shared(**measures)], "PerFrameFunctionalGroupsSequence": each},
        MaximumFractionalValue=maximum if kind == "FRACTIONAL" else None,
        SeriesInstanceUID="1.2.66",
    )
    pixels = np.stack([frame[2] for frame in frames]).astype(dtype)
    save(path, dataset, pixels * (maximum if kind == "FRACTIONAL" else 1))
    return str(path)


def frames_of(*parts):
    return [(number, k, mask[k]) for number, mask, slices in parts for k in slices]


@pytest.mark.parametrize("kind", ["BINARY", "FRACTIONAL"])
@pytest.mark.parametrize(
    "frames",
    [
        frames_of((1, FIRST, range(7))),
        frames_of((1, FIRST, reversed(range(7)))),
        frames_of((1, FIRST, range(1, 4))),
        frames_of((1, FIRST, [1, 3])),
        frames_of((1, FIRST, [2])),
        frames_of((1, FIRST, range(1, 4)), (2, SECOND, range(2, 6))),
        frames_of((7, SECOND, [5, 2]), (1, FIRST, [3, 1])),
    ],
)
def test_segmentations(write, tmp_path, kind, frames):
    folder = write()
    image = _image.load(folder, "the image")[0]
    (tmp_path / "other").mkdir()
    path = segmentation(tmp_path / "other" / "seg", frames, kind)
    expected = np.zeros(VALUES.shape, int)
    for number, k, plane in frames:
        expected[k] += number * plane
    placed = _image.load(path, "the mask", grid=image)[0]
    np.testing.assert_array_equal(placed.array, expected)
    assert placed[1:] == image[1:]
    alone = _image.load(path, "the mask")[0]
    np.testing.assert_array_equal(np.unique(alone.array), np.unique(expected))
    for index in np.argwhere(alone.array):
        place = np.round(image.index(alone.point(index[::-1]))[::-1]).astype(int)
        assert expected[tuple(place)] == alone.array[tuple(index)]
    for number in sorted({frame[0] for frame in frames}):
        options = {"featureClass": {"firstorder": ["Mean"]}, "initValue": float("nan")}
        maps = radiomics.execute(folder, path, label=number, **options)
        found = sitk.GetArrayFromImage(maps["original_firstorder_Mean"])
        assert np.count_nonzero(~np.isnan(found)) == np.count_nonzero(expected == number)
    with pytest.raises(ValueError, match=r"no segment 9; its segments are 1 \(part 1\)"):
        radiomics.execute(folder, path, label=9)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE, None])
def test_errors_of_the_system_are_not_corrupt_files(write, monkeypatch, number, tmp_path):
    """Nor are those of another version of a library."""
    folder, read, path = write(), pydicom.dcmread, str(tmp_path / "a.nii")
    nibabel.save(nibabel.Nifti1Image(np.zeros((4, 5, 6), np.int16), np.eye(4)), path)
    wrong = sorted(pathlib.Path(folder).iterdir())[1]
    error = AttributeError("no such function") if number is None else OSError(number, os.strerror(number), str(wrong))

    def raise_error(file, *args, **options):
        if pathlib.Path(str(file)) == wrong or str(file) == path:
            raise error
        return read(file, *args, **options)

    monkeypatch.setattr(pydicom, "dcmread", raise_error)
    kind, words = (
        (ValueError, "pydicom .* cannot read it: AttributeError: no such")
        if number is None
        else (OSError, os.strerror(number))
    )
    with pytest.raises(kind, match=words) as caught:
        voxelmaps.read_dicom_series(folder)
    assert wrong.name in str(caught.value) and "corrupt" not in str(caught.value)
    with pytest.warns(UserWarning, match=f"cannot be read: '{wrong.name}': {words}"):
        assert len(voxelmaps.list_dicom_series(folder)) == 1
    if number is not None:
        monkeypatch.setattr("nibabel.volumeutils.array_from_file", lambda *args, **options: raise_error(path))
        with pytest.raises(OSError, match=words):
            voxelmaps.check_image_file(path)


def test_segmentations_that_do_not_fit(write, tmp_path):
    image = _image.load(write(), "the image")[0]
    path, right = tmp_path / "other" / "seg.dcm", frames_of((1, FIRST, range(7)))
    path.parent.mkdir()
    overlapping = frames_of((1, FIRST, range(7)), (2, FIRST | SECOND, range(7)))
    segmentation(path, overlapping)
    both = 2 * (FIRST | SECOND)
    np.testing.assert_array_equal(_image.load(path, "it", grid=image, segment=2)[0].array, both)
    maps = [voxelmaps.feature_maps(image, mask, features="firstorder_Mean", label=2) for mask in (path, both)]
    np.testing.assert_array_equal(*maps)
    # Segment by segment, with their names; and several as one region.
    table = voxelmaps.region_features(image, path, features="firstorder_Mean")
    for label, name, mask in ((1, "part 1", FIRST), (2, "part 2", FIRST | SECOND)):
        alone = voxelmaps.region_features(image, mask.astype(np.uint8), features="firstorder_Mean")
        assert [table[each][label - 1] for each in ("label", "segment")] == [label, name]
        assert all(table[each][label - 1] == alone[each][0] for each in ("voxels", "firstorder_Mean"))
    together = voxelmaps.feature_maps(image, path, features="firstorder_Mean", label=[1, 2])
    np.testing.assert_array_equal(together.array, maps[0].array)
    with pytest.raises(ValueError, match=r"no segment 9; its segments are 1 \(part 1\), 2 \(part 2\)"):
        voxelmaps.fuzzy_connectedness(image, (1, 0, 1), path, label=9)
    for frames, options, words in (
        (overlapping, {}, "segments 1 and 2 overlap"),
        (right, {"PixelSpacing": [0.5, 0.8]}, "geometry"),
        (right, {"position": (-3.4, 4, 10)}, "geometry"),
        (right, {"position": (-3, 4, 11)}, "geometry"),
        (right, {"step": 3}, "geometry"),
        (right, {"position": (-3, 4, 30)}, "beyond the image"),
        (right, {"position": (-3.75, 4.5, 10)}, None),
        ([(1, 2, FIRST[2] * 100)], {"kind": "FRACTIONAL", "maximum": 1}, "threshold"),
    ):
        segmentation(path, frames, **options)
        if words is None:
            found = _image.load(path, "it", grid=image)[0].array
            np.testing.assert_array_equal(found[:, 1:, :-1], FIRST[:, :-1, 1:])
        else:
            with pytest.raises(ValueError, match=words):
                _image.load(path, "the mask", grid=image)
    save(path, header(SOPClassUID="1.2.840.10008.5.1.4.1.1.481.3", Modality="RTSTRUCT"))
    for place in (path, path.parent):
        with pytest.raises(ValueError, match="the RTSTRUCT has no structures"):
            _image.load(place, "the mask", grid=image)
