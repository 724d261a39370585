# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""DICOM series: folders that are a volume, and folders that are refused."""

import os
import struct
import warnings

import itk
import numpy as np
import pytest
import voxelmaps

EXPLICIT, IMPLICIT, BIG_ENDIAN = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.2"
MR, SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.4", "1.2.840.10008.5.1.4.1.1.7"
REPORT, PRESENTATION = "1.2.840.10008.5.1.4.1.1.88.22", "1.2.840.10008.5.1.4.1.1.11.1"


def element(syntax, group, number, kind, value):
    order = ">" if syntax == BIG_ENDIAN and group != 2 else "<"
    if isinstance(value, int):
        value = struct.pack(order + "H", value)
    if isinstance(value, str):
        value = value.encode("latin-1")
    value += (b"\0" if kind == "UI" else b" ") * (len(value) % 2)
    tag = struct.pack(order + "HH", group, number)
    if syntax == IMPLICIT and group != 2:
        return tag + struct.pack("<I", len(value)) + value
    if kind in ("OB", "OW", "SQ"):
        return tag + kind.encode() + b"\0\0" + struct.pack(order + "I", len(value)) + value
    return tag + kind.encode() + struct.pack(order + "H", len(value)) + value


def dicom(
    number=0,
    position="",
    series="1.2.3",
    instance=None,
    class_uid=MR,
    frame_of_reference="1.2.7",
    orientation="1\\0\\0\\0\\1\\0",
    spacing="0.5\\0.75",
    description="A head",
    thickness="2",
    slope="",
    intercept="",
    frames="",
    columns=5,
    rows=4,
    bits=16,
    has_pixels=True,
    syntax=EXPLICIT,
):
    """The bytes of a slice, whose values are 100 * number + index."""
    instance = instance or f"{series}.1.{number + 1}"
    meta = b"".join(
        element(syntax, 2, *e)
        for e in (
            (1, "OB", b"\0\1"),
            (2, "UI", class_uid),
            (3, "UI", instance),
            (0x10, "UI", syntax),
            (0x12, "UI", "1.2.3.4"),
        )
    )
    elements = [
        (8, 0x16, "UI", class_uid),
        (8, 0x18, "UI", instance),
        (8, 0x60, "CS", "MR"),
        (8, 0x103E, "LO", description),
        (0x18, 0x50, "DS", thickness),
        (0x20, 0xD, "UI", "1.2.9"),
        (0x20, 0xE, "UI", series),
        (0x20, 0x32, "DS", position),
        (0x20, 0x37, "DS", orientation),
        (0x20, 0x52, "UI", frame_of_reference),
    ]
    if has_pixels:
        values = 100 * number + np.arange(rows * columns * int(frames or 1))
        elements += [
            (0x28, 2, "US", 1),
            (0x28, 4, "CS", "MONOCHROME2"),
            (0x28, 8, "IS", frames),
            (0x28, 0x10, "US", rows),
            (0x28, 0x11, "US", columns),
            (0x28, 0x30, "DS", spacing),
            (0x28, 0x100, "US", bits),
            (0x28, 0x101, "US", 16),
            (0x28, 0x102, "US", 15),
            (0x28, 0x103, "US", 1),
            (0x28, 0x1052, "DS", intercept),
            (0x28, 0x1053, "DS", slope),
            (0x7FE0, 0x10, "OW", values.astype(">i2" if syntax == BIG_ENDIAN else "<i2").tobytes()),
        ]
    data = b"".join(element(syntax, *e) for e in elements if e[3] != "")
    return bytes(128) + b"DICM" + element(syntax, 2, 0, "UL", struct.pack("<I", len(meta))) + meta + data


def name_of(number):
    """File of a slice; the names have another order."""
    return f"{3 * number % 7}.dcm"


@pytest.fixture
def write(tmp_path):
    """Write seven slices, 2.5 mm apart; change(number) returns other arguments for a slice."""

    def write(change=lambda number: {}, prefix=""):
        for number in range(7):
            arguments = {"number": number, "position": f"-3\\4\\{10 + 2.5 * number}", **change(number)}
            (tmp_path / (prefix + name_of(number))).write_bytes(dicom(**arguments))
        return tmp_path

    return write


def expect_volume(folder, **kwargs):
    with warnings.catch_warnings():
        # Not all warnings: with SWIG's as errors, modules of ITK crash when they are loaded.
        warnings.simplefilter("error", UserWarning)
        image = voxelmaps.read_dicom_series(folder, **kwargs)
    assert list(itk.spacing(image)) == [0.75, 0.5, 2.5]
    assert list(itk.origin(image)) == [-3, 4, 10]
    np.testing.assert_array_equal(itk.array_from_matrix(image.GetDirection()), np.eye(3))
    expected = 100 * np.arange(7)[:, None, None] + np.arange(20).reshape(4, 5)
    np.testing.assert_array_equal(itk.array_from_image(image), expected)
    return image


def expect_refused(folder, *words, always=True, **kwargs):
    """Check that the folder is refused with all of these words; with allow_uneven_slices too."""
    for uneven in (False, True) if always else (False,):
        with pytest.raises(ValueError) as error:
            voxelmaps.read_dicom_series(folder, allow_uneven_slices=uneven, **kwargs)
        message = str(error.value)
        assert str(folder) in message and "\n" not in message
        for word in words:
            assert word in message


def test_volume(write):
    image = expect_volume(write())
    assert type(image) is itk.Image[itk.SS, 3]


@pytest.mark.parametrize("syntax", [IMPLICIT, BIG_ENDIAN])
def test_transfer_syntaxes(write, syntax):
    expect_volume(write(lambda number: {"syntax": syntax}))


def test_other_files_are_ignored(write):
    folder = write()
    (folder / "README").write_text("no image")
    (folder / "notes.txt").write_text("")
    (folder / "more.dcm").mkdir()
    (folder / "report.dcm").write_bytes(dicom(series="1.2.4", class_uid=REPORT, has_pixels=False))
    (folder / "state.dcm").write_bytes(dicom(instance="1.2.3.9", class_uid=PRESENTATION, has_pixels=False))
    directory = dicom(class_uid="1.2.840.10008.1.3.10", has_pixels=False)
    # It has its class only in the meta information.
    (folder / "DICOMDIR").write_bytes(directory[: directory.index(b"\x08\0\x16\0UI")])
    (folder / "other.dcm").write_bytes(dicom(series="1.2.5", has_pixels=False))
    expect_volume(folder)
    assert len(voxelmaps.list_dicom_series(folder)) == 1


def test_missing_slice(write):
    folder = write()
    (folder / name_of(3)).unlink()
    words = "median is 2.5 mm", f"5 mm from '{name_of(2)}' to '{name_of(4)}'", "missing", "allow_uneven_slices=True"
    expect_refused(folder, *words, always=False)
    with pytest.warns(UserWarning, match="median is 2.5 mm.* as if each step were 3 mm"):
        image = voxelmaps.read_dicom_series(str(folder), allow_uneven_slices=True)
    assert itk.size(image) == [5, 4, 6] and itk.spacing(image)[2] == 3


def test_missing_slice_of_microscopic_steps(write):
    folder = write(lambda number: {"position": f"0\\0\\{0.004 * number}"})
    voxelmaps.read_dicom_series(folder)
    (folder / name_of(3)).unlink()
    expect_refused(folder, "median is 0.004 mm", always=False)


def test_tolerance(write):
    def move(distance):
        return write(lambda number: {"position": f"-3\\4\\{17.5 + distance}"} if number == 3 else {})

    expect_volume(move(0.024))
    expect_refused(move(0.026), "agree within 0.025 mm", f"2.526 mm from '{name_of(2)}'", "2.474 mm", always=False)


def test_tilted_gantry(write):
    folder = write(lambda number: {"position": f"-3\\{4 + 0.3 * number}\\{10 + 2.5 * number}"})
    expect_refused(folder, "0.3 mm in the plane of the slices", "gantry", "0.025 mm")


def test_differences_that_add_up(tmp_path):
    """Steps of 2.5 mm may differ by 0.025 mm, and slices may be 0.25 mm beside their places."""

    def write(position):
        for i in range(48):
            (tmp_path / f"{100 + i}.dcm").write_bytes(dicom(number=i, position=position(i)))

    write(lambda i: f"0\\{0.02 * i:g}\\{2.5 * i}")
    expect_refused(tmp_path, "'113.dcm' is 0.26 mm off the normal", "'100.dcm'", "10 % of the step of 2.5 mm")
    write(lambda i: f"0\\0\\{2.5 * i + 0.024 * max(i - 24, 0):g}")
    expect_refused(tmp_path, "mm off its even position", "'1", always=False)
    write(lambda i: f"0\\0\\{2.5 * i + 0.012 * (i % 2):g}")
    voxelmaps.read_dicom_series(tmp_path)


def test_copied_slice(write):
    folder = write()
    (folder / "copy.dcm").write_bytes((folder / name_of(5)).read_bytes())
    expect_refused(folder, f"'{name_of(5)}'", "'copy.dcm'", "same image", "1.2.3.1.6")


def test_repeated_positions(write):
    write()
    folder = write(lambda number: {"instance": f"1.2.3.2.{number + 1}"}, prefix="again")
    expect_refused(folder, f"'{name_of(0)}', 'again{name_of(0)}'", "same place", "[-3, 4, 10]")


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("7.dcm", None, "link"),
        ("1.2.3.5", None, "link"),
        ("empty.IMA", b"", "empty"),
        ("IM7", b"", "empty"),
        ("IM8", bytes(100), "zeros"),
        ("text.dcm", b"no image", "no DICOM file"),
    ],
)
def test_files_that_cannot_be_read(write, name, content, problem):
    folder = write()
    # Images often have no extension, or one that is a part of a UID.
    (folder / name_of(6)).rename(folder / "1.2.3.4")
    expect_volume(folder)
    if content is None:
        os.symlink("nowhere", folder / name)
    else:
        (folder / name).write_bytes(content)
    expect_refused(folder, f"'{name}'", problem)
    with pytest.warns(UserWarning, match=f"'{name}' .*{problem}"):
        assert len(voxelmaps.list_dicom_series(folder)) == 1


def test_files_cut_anywhere(write):
    folder = write()
    whole = dicom()
    for size in [*range(0, len(whole), 11), len(whole) - 1]:
        (folder / "cut.dcm").write_bytes(whole[:size])
        expect_refused(folder, "'cut.dcm'", always=False)


def test_too_few_pixels(write):
    folder = write()
    whole = bytearray(dicom(position="-3\\4\\10"))
    assert whole[-44] == 40
    whole[-44] = 36
    (folder / name_of(0)).write_bytes(whole[:-4])
    expect_refused(folder, f"'{name_of(0)}'", "36 bytes, but the header needs 40")


@pytest.mark.parametrize(
    "words, change",
    [
        ("5x6 pixels", {"rows": 6}),
        ("[0.5, 0.8]", {"spacing": "0.5\\0.8"}),
        ("PixelSpacing", {"spacing": ""}),
        ("[1, 0, 0, 0, 0, -1]", {"orientation": "1\\0\\0\\0\\0\\-1"}),
        ("no valid ImagePositionPatient", {"orientation": ""}),
        ("no valid ImagePositionPatient", {"position": ""}),
        *(
            (f"its ImagePositionPatient is '{position}', not 3 numbers", {"position": position})
            for position in ("1\\nan\\3", "1\\2", "1\\2\\3\\4", "1\\2\\1e308", "1\\2\\here", "1\\2\\1_0")
        ),
        ("its PixelSpacing is 'abc'", {"spacing": "abc"}),
        ("its RescaleSlope is 'nan'", {"slope": "nan"}),
        ("its RescaleSlope is 0", {"slope": "0.0"}),
        ("its RescaleIntercept is 'x'", {"intercept": "x"}),
        ("its BitsAllocated is 7, not", {"bits": 7}),
        ("its SliceThickness is 'inf'", {"thickness": "inf"}),
        ("its pixel data has 40 bytes, but the header needs 20", {"bits": 8}),
        ("FrameOfReferenceUID", {"frame_of_reference": "1.2.8"}),
        ("more than one frame", {"frames": "2"}),
        ("no pixel data", {"has_pixels": False}),
    ],
)
def test_different_slices(write, words, change):
    folder = write(lambda number: change if number == 5 else {})
    expect_refused(folder, words, f"'{name_of(5)}'")


@pytest.mark.parametrize(
    "words, change",
    [
        (("ImagePositionPatient", "and 2 more"), {"position": ""}),
        (("perpendicular unit vectors", "[1, 0, 0, 1, 0, 0]"), {"orientation": "1\\0\\0\\1\\0\\0"}),
        (("PixelSpacing must be positive",), {"spacing": "0\\1"}),
        (("more than one frame",), {"frames": "2"}),
    ],
)
def test_slices_that_are_all_wrong(write, words, change):
    expect_refused(write(lambda number: change), *words)


def test_more_series(write):
    folder = write()
    other = dicom(series="1.2.4", description="A \x1b[31mknee")
    (folder / "other.dcm").write_bytes(other)
    expect_refused(folder, "1.2.3: 7 files, MR, A head; 1.2.4: 1 file", "series=UID", "list_dicom_series")
    expect_refused(folder, "no series '1.2.5'", "1.2.3: 7 files, MR, A head", "1.2.4: 1 file", series="1.2.5")
    expect_volume(folder, series="1.2.3")
    assert itk.size(voxelmaps.read_dicom_series(folder, series="1.2.4")) == [5, 4, 1]
    head, knee = voxelmaps.list_dicom_series(folder)
    assert head == voxelmaps.DicomSeries(
        uid="1.2.3",
        files=tuple(str(folder / name_of(number)) for number in range(7)),
        modality="MR",
        description="A head",
        size=(5, 4, 7),
        spacing=(0.75, 0.5, 2.5),
        problem="",
    )
    assert knee.uid == "1.2.4" and knee.description == "A [31mknee" and knee.size == (5, 4, 1)

    # A broken file of a series does not keep another one from being read.
    (folder / "other.dcm").write_bytes(other[:-2])
    expect_refused(folder, "'other.dcm'", "it is cut", "(7fe0,0010)", series="1.2.4")
    expect_volume(folder, series="1.2.3")
    assert "it is cut" in voxelmaps.list_dicom_series(folder)[1].problem
    os.symlink("nowhere", folder / "7.dcm")
    expect_refused(folder, "'7.dcm'", series="1.2.3")


def test_type_holds_the_values_of_all_files(write):
    folder = write(lambda number: {"slope": "0.25", "intercept": "-0.5"} if number == 5 else {})
    image = voxelmaps.read_dicom_series(folder)
    assert type(image) is itk.Image[itk.D, 3]
    array = itk.array_from_image(image)
    assert list(array[4:, 0, 1]) == [401, 0.25 * 501 - 0.5, 601]


def test_secondary_captures_have_positions(write):
    expect_volume(write(lambda number: {"class_uid": SECONDARY_CAPTURE}))


def test_one_file(tmp_path):
    (tmp_path / "slice.dcm").write_bytes(dicom(position="1\\2\\3"))
    assert itk.size(voxelmaps.read_dicom_series(tmp_path)) == [5, 4, 1]
    (tmp_path / "slice.dcm").write_bytes(dicom(position="1\\2\\3", frames="3"))
    assert itk.size(voxelmaps.read_dicom_series(tmp_path)) == [5, 4, 3]
    for position in ("1\\2\\1e308", "1\\nan\\3"):
        (tmp_path / "slice.dcm").write_bytes(dicom(position=position))
        expect_refused(tmp_path, f"its ImagePositionPatient is '{position}', not 3 numbers")


def test_no_images(tmp_path):
    expect_refused(tmp_path, "holds no DICOM series")
    (tmp_path / "note.txt").write_text("no image")
    (tmp_path / "report.dcm").write_bytes(dicom(class_uid=REPORT, has_pixels=False))
    expect_refused(tmp_path, "holds no DICOM series")
    assert voxelmaps.list_dicom_series(tmp_path) == []
    for function in (voxelmaps.read_dicom_series, voxelmaps.list_dicom_series):
        with pytest.raises(FileNotFoundError, match="nothing"):
            function(tmp_path / "nothing")
        with pytest.raises(NotADirectoryError, match="note.txt"):
            function(tmp_path / "note.txt")


def test_nested_sequences(write):
    """A file whose sequences have no end must not overflow the stack."""
    folder = write()
    sequence = b"\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff" + b"\xfe\xff\x00\xe0\xff\xff\xff\xff"
    (folder / "deep.dcm").write_bytes(bytes(128) + b"DICM" + 100000 * sequence)
    expect_refused(folder, "'deep.dcm'", "nested more than 32 times")
