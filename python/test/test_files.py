# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""NIfTI, MetaImage, NRRD and PNG files: the values and places of right files are those of nibabel and SimpleITK; others are refused
in one line that names the file. Each row is a file that is made here."""

import gzip
import itertools
import os
import pathlib
import re

import numpy as np
import pytest

nib = pytest.importorskip("nibabel")
sitk = pytest.importorskip("SimpleITK")

import voxelmaps  # noqa: E402
from voxelmaps import _image  # noqa: E402
from voxelmaps._files import headers  # noqa: E402

VALUES = np.random.default_rng(1).integers(0, 60, (7, 8, 9))
AFFINE = np.array([[-0.5, 0, 0, 10], [0, -0.75, 0, -20], [0, 0, 2, 5.5], [0, 0, 0, 1]])
TYPES = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def load(path):
    return _image.load(path, "the image")[0]


def refusal(path):
    """The message with which a file is refused, or the volume that is read."""
    try:
        volume = load(path)
    except (ValueError, TypeError, FileNotFoundError) as error:
        message = str(error)
        assert "\n" not in message and os.path.basename(path) in message, message
        return message
    return volume


def turned(angle=0.3, shear=0.0):
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    affine = AFFINE.copy()
    affine[:3, :3] = turn @ AFFINE[:3, :3] @ (np.eye(3) + shear * np.eye(3, k=1))
    return affine


def nifti(kind="i2", affine=AFFINE, version=1, values=VALUES, q=None, s=None, unit=None, swap=False):
    """An image of nibabel; q and s are affines and codes."""
    family = {1: nib.Nifti1Image, 2: nib.Nifti2Image}[version]
    header = family.header_class(endianness=">" if swap else None)
    header.set_data_dtype(np.dtype(kind).newbyteorder(">" if swap else "="))
    image = family(values.T.astype(kind), affine, header)
    if q is not None:
        image.set_qform(*q)
    if s is not None:
        image.set_sform(*s)
    if unit:
        image.header.set_xyzt_units(unit)
    return image


def expect_equal(volume, path, tolerance=1e-5, factor=1.0):
    """Values as those of nibabel alone, and voxels where its affine has them."""
    fresh = nib.load(path)
    values = fresh.get_fdata().T
    assert volume.array.dtype.isnative
    np.testing.assert_array_equal(volume.array, values)
    for index in itertools.product((0, 8), (0, 7), (0, 6)):
        expected = factor * (fresh.affine @ [*index, 1])[:3] * [-1, -1, 1]
        np.testing.assert_allclose(volume.point(index), expected, atol=tolerance * factor)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "A.NII.GZ"])
@pytest.mark.parametrize("version", [1, 2])
def test_values_of_nifti(name, version, tmp_path):
    path = str(tmp_path / name)
    for kind, swap in itertools.product(TYPES, (False, True)):
        nib.save(nifti(kind, version=version, swap=swap), path)
        volume = load(path)
        expect_equal(volume, path)
        assert volume.array.dtype == np.dtype(kind) and volume.array.flags.c_contiguous
    values = VALUES.astype("f4")
    values[1, 2, 3:6] = np.nan, np.inf, -np.inf
    nib.save(nifti("f4", version=version, values=values), path)
    np.testing.assert_array_equal(load(path).array, values)
    # Unlike ITK, in double precision.
    for kind, scale in itertools.product(("u1", "i2", "i4", "f4", "f8"), ((0.1, 5), (2, -3), (1, 5), (-1, 0))):
        image = nifti(kind, version=version)
        image.header.set_slope_inter(*scale)
        nib.save(image, path)
        volume = load(path)
        expect_equal(volume, path)
        assert volume.array.dtype == np.float64


@pytest.mark.parametrize(
    "options, factor, message",
    [
        ({}, 1, None),
        ({"unit": "mm"}, 1, None),
        ({"unit": "meter"}, 1000, None),
        ({"unit": "micron"}, 0.001, None),
        ({"affine": turned()}, 1, None),
        ({"affine": turned() @ np.diag([-1, 1, 1, 1])}, 1, None),
        ({"affine": turned()[[1, 2, 0, 3]]}, 1, None),
        ({"q": (turned(), 1), "s": (None, 0)}, 1, None),
        ({"q": (turned(), 1), "s": (turned(), 2), "unit": "meter"}, 1000, None),
        ({"q": (turned(0.4), 1), "s": (turned(), 1)}, 1, "sform is used"),
        ({"q": (turned(0.4), 1), "s": (turned(), 2)}, 1, "qform is used"),
        ({"affine": turned(shear=4e-4), "shear": True}, 1, None),
        ({"affine": turned(shear=0.1)}, 1, "sheared axes, .* .3.81 degrees"),
        ({"q": (turned(), 1), "s": (turned(shear=0.1), 1)}, 1, "sheared"),
    ],
)
def test_geometry_of_nifti(options, factor, message, tmp_path):
    options = dict(options)
    path = str(tmp_path / "a.nii.gz")
    is_sheared = options.pop("shear", False)
    nib.save(nifti(**options), path)
    if message and "used" not in message:
        assert re.search(message, refusal(path))
        with pytest.raises(ValueError, match=message):
            _image.opened(nib.load(path), "the image")
        return
    # An image of nibabel has the place of its file.
    for read in (lambda: load(path), lambda: _image.opened(nib.load(path), "the image").image):
        if message:
            with pytest.warns(UserWarning, match=f"corners .* mm apart: the {message}"):
                volume = read()
            np.testing.assert_allclose(volume.direction, sitk.ReadImage(path).GetDirection(), atol=1e-6)
            continue
        volume = read()
        expect_equal(volume, path, 0.01 if is_sheared else 1e-5, factor)
        axes = np.reshape(volume.direction, (3, 3))
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-6)
        np.testing.assert_allclose(volume.spacing, factor * np.array([0.5, 0.75, 2]), rtol=1e-3)
        if not is_sheared:
            point = sitk.ReadImage(path).TransformIndexToPhysicalPoint((8, 7, 6))
            np.testing.assert_allclose(volume.point((8, 7, 6)), point, atol=1e-5 * factor)


def test_nifti_without_affine(tmp_path):
    path = str(tmp_path / "a.nii")
    nib.save(nifti(q=(None, 0), s=(None, 0)), path)
    image = sitk.ReadImage(path)
    for volume in (load(path), _image.opened(nib.load(path), "the image").image):
        assert volume[1:] == (image.GetSpacing(), image.GetOrigin(), image.GetDirection())


def test_shapes_of_nifti(tmp_path):
    path = str(tmp_path / "a.nii")
    for shape, components, result in (
        ((9, 8), 0, (8, 9)),
        ((9, 8, 1), 0, (1, 8, 9)),
        ((9, 8, 7, 1), 0, (7, 8, 9)),
        ((9, 8, 7, 1, 4), 4, (7, 8, 9, 4)),
        ((9, 8, 7, 4), 0, "4 volumes"),
        ((9, 8, 7, 1, 4), 0, "4 volumes"),
        ((9, 8, 7, 2, 4), 4, "2 volumes"),
        ((9,), 0, "sizes"),
        ((9, 0, 7), 0, "sizes"),
    ):
        image = nib.Nifti1Image(np.arange(np.prod(shape), dtype="i2").reshape(shape), np.diag([-1, -1, 1, 1]))
        image.header.set_intent("vector" if components else "none")
        nib.save(image, path)
        found = refusal(path)
        if isinstance(result, str):
            assert result in found
        else:
            expected = np.asarray(image.dataobj).reshape(list(shape[:3]) + [components] * (components > 0))
            expected = np.moveaxis(expected.T, 0, -1) if components else expected.T
            np.testing.assert_array_equal(found.array, expected)
            assert found.array.shape == result and len(found.spacing) == min(len(shape), 3)
    for kind in ("c8", "c16", np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])):
        nib.save(nib.Nifti1Image(np.zeros((4, 4, 4), kind), AFFINE), path)
        assert "real numbers" in refusal(path)


# --- Hostile files -----------------------------------------------------------------------------------------------------

# Offset, type, and values, each for a file of NIfTI-1: it is refused, or its values are right.
NIFTI = """
40 i2 9 0 -1 300 4,9,8,7,2 7,9,8,7,32767,32767,32767,32767 1,504,1,1
42 i2 0 -9 32767
46 i2 0 -7 32767
68 i2 1007
70 i2 0 1 32 128 255 999 -4 1536 1792 2304
72 i2 0 8 32 -16
80 f4 0 nan inf -1 1e38
108 f4 1e9 1e38 nan inf 800 0 -1 300 352.5
112 f4 nan,0 inf,0 1,nan 0,nan 0,5
280 f4 nan inf 0 1e38 0,0,0,0,0,0,0,0,0,0,0,0
256 f4 nan,nan,nan 3,4,5
252 i2 1,0 -1,999 0,0
0 i4 0 540 1543569408
344 u1 110,43,57 110,105 0,0,0
"""
META = """
NDims = -3|0|100|2|x||1
DimSize = -9 8 7|0 8 7|9 8|9 8 8||9 8 x|9.5 8 7|9 8 999999999|4294967296 4294967296 4294967296
ElementType = MET_FOO||MET_DOUBLE|MET_STRING|MET_OTHER
ElementSpacing = 0 1 1|nan 1 1|inf 1 1|x|1 1
TransformMatrix = 0 0 0 0 0 0 0 0 0|nan 0 0 0 1 0 0 0 1|1|1 1 1 1 1 1 1 1 1
Offset = nan 0 0|inf 0 0|x y z
ElementDataFile = |LIST|missing.raw|%s%n.raw|.|/dev/zero|v%03d.raw 1 7 1|a.mhd
ElementNumberOfChannels = 0|-1|1000000|x
ElementToIntensityFunctionSlope = 2|nan
HeaderSize = -2|99999|x
CompressedData = True
BinaryData = False
"""
NRRD = """
dimension: -3|0|17|2|x|
sizes: -9 8 7|0 8 7|9 8|9 8 8||9 8 x|999999999 999999999 999999999
type: foo|double|block||int64
encoding: gzip|hex|bzip2|ascii|foo|
space directions: (nan,0,0) (0,1,0) (0,0,1)|(0,0,0) (0,1,0) (0,0,1)|(1,0,0) (1,0,0) (0,0,1)|(1,0)|x
space origin: (nan,0,0)|(inf,0,0)|x
byte skip: -2|99999|x
line skip: 99999|-1|x
data file: missing.raw|%s%n.raw|.|/dev/zero|LIST|a.nhdr|v%03d.raw 1 7 1
"""


def expect_refused_or_right(path, case, faults):
    found = refusal(path)
    if not isinstance(found, str) and not np.array_equal(found.array.ravel(), VALUES.ravel()):
        faults.append(f"{case} was read as {found.array.shape}")


@pytest.mark.filterwarnings("ignore:.*the sform is used")
def test_hostile_headers(tmp_path):
    path, faults = str(tmp_path / "a.nii"), []
    nib.save(nifti(), path)
    good = pathlib.Path(path).read_bytes()
    for offset, kind, *cases in map(str.split, NIFTI.strip().splitlines()):
        for case in cases:
            changed = bytearray(good)
            patch = np.array(case.split(","), float).astype(kind).tobytes()
            changed[int(offset) : int(offset) + len(patch)] = patch
            pathlib.Path(path).write_bytes(changed)
            expect_refused_or_right(path, f"{offset} {case}", faults)
    for suffix, table, equals in ((".mhd", META, " ="), (".nhdr", NRRD, ":")):
        path = str(tmp_path / f"a{suffix}")
        image = sitk.GetImageFromArray(VALUES.astype("i2"))
        sitk.WriteImage(image, path)
        good = pathlib.Path(path).read_text()
        for key, values in re.findall(rf"(.+?){equals} ?(.*)", table):
            for value in values.split("|"):
                line = f"{key}{equals} {value}"
                changed, count = re.subn(f"(?m)^{key}{equals}.*$", line, good)
                if not count:
                    changed = f"{line}\n{good}" if suffix == ".mhd" else good.replace("\n", f"\n{line}\n", 1)
                pathlib.Path(path).write_text(changed)
                expect_refused_or_right(path, line, faults)
    assert not faults, "\n".join(faults)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.mha", "a.mhd", "a.nrrd", "a.nhdr", "a.png"])
def test_truncated_and_corrupt_files(name, tmp_path):
    path, faults = str(tmp_path / name), []
    values = VALUES[0].astype("u1") if name.endswith("png") else VALUES.astype("i2")
    sitk.WriteImage(sitk.GetImageFromArray(values), path, useCompression=name.endswith((".mha", ".nrrd", ".gz")))
    np.testing.assert_array_equal(load(path).array, values)
    voxelmaps.check_image_file(path)
    for file in {path, *headers.files_of_image(path)}:
        good = pathlib.Path(file).read_bytes()
        for cut in (*range(0, len(good), max(1, len(good) // 40)), *range(len(good) - 9, len(good))):
            pathlib.Path(file).write_bytes(good[:cut])
            found = refusal(path)
            # Headers of text need not have an end.
            if not isinstance(found, str) and not np.array_equal(found.array, values):
                faults.append(f"{os.path.basename(file)} cut at {cut} of {len(good)}")
        if name.endswith((".gz", ".mha", ".nrrd", ".png")):
            for place in range(len(good) - 200, len(good)):
                pathlib.Path(file).write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
                found = refusal(path)
                if not isinstance(found, str) and not np.array_equal(found.array, values):
                    faults.append(f"{os.path.basename(file)} with another bit at {place}")
        pathlib.Path(file).write_bytes(good)
    assert not faults, "\n".join(faults)


def test_compressed_members(tmp_path):
    path = str(tmp_path / "a.nii.gz")
    nib.save(nifti(), path)
    plain = gzip.decompress(pathlib.Path(path).read_bytes())
    huge = bytearray(plain)
    huge[42:48] = np.full(3, 32767, "i2").tobytes()
    for content, message in (
        (gzip.compress(plain[:700]) + gzip.compress(plain[700:]), None),
        (gzip.compress(plain) + bytes(512), None),
        (gzip.compress(plain) + b"garbage", "corrupt"),
        (plain, "is not compressed, but a NIfTI file: rename it to .nii"),
        (gzip.compress(gzip.compress(plain)), "is compressed twice: unpack it once, such as with gunzip"),
        (b"<!DOCTYPE html>" * 99, "is not compressed, but an HTML page: it is not a NIfTI file"),
        (gzip.compress(plain[:-100]), "corrupt"),
        (gzip.compress(huge), "promises"),
    ):
        pathlib.Path(path).write_bytes(content)
        found = refusal(path)
        if message:
            assert message in found
        else:
            np.testing.assert_array_equal(found.array, VALUES)


def test_other_files_and_places(tmp_path):
    nib.save(nifti(), tmp_path / "right.nii")
    right = (tmp_path / "right.nii").read_bytes()
    for name, content, message in (
        ("a.mha", right, "no end"),
        ("a.nrrd", right, "not NIfTI, NRRD"),
        ("a.hdr", bytes(348), "pair of a header and an image"),
        ("a", right, "not NIfTI, NRRD"),
        ("a.tif", b"II*\0" + bytes(500), "not NIfTI, NRRD"),
        ("a.mgz", gzip.compress(right), "not NIfTI, NRRD"),
        *(
            (f"b.{suffix}", b"", "cannot read")
            for suffix in ("nii", "nii.gz", "img", "mha", "nrrd", "png", "dcm", "xyz")
        ),
        *((f"c.{suffix}", bytes(2000), "cannot read") for suffix in ("nii", "img", "mha", "nrrd", "png", "dcm", "xyz")),
    ):
        (tmp_path / name).write_bytes(content)
        assert message in refusal(str(tmp_path / name)), name
    assert "does not exist" in refusal(str(tmp_path / "missing.nii"))
    os.symlink("right.nii", tmp_path / "link.nii")
    np.testing.assert_array_equal(load(str(tmp_path / "link.nii")).array, VALUES)


@pytest.mark.parametrize("name", ["a.mha", "a.mhd", "a.nrrd", "a.nhdr"])
def test_values_of_other_formats(name, tmp_path):
    path = str(tmp_path / name)
    for kind, is_vector in itertools.product(TYPES, (False, True)):
        values = np.stack([VALUES, VALUES + 1], -1).astype(kind) if is_vector else VALUES.astype(kind)
        image = sitk.GetImageFromArray(values, isVector=is_vector)
        image.SetSpacing([0.5, 0.75, 2]), image.SetOrigin([-10, 20, 5.5]), image.SetDirection(
            [0, -1, 0, 1, 0, 0, 0, 0, 1]
        )
        sitk.WriteImage(image, path, useCompression=kind == "i2")
        volume = load(path)
        np.testing.assert_array_equal(volume.array, values)
        assert volume.array.dtype == values.dtype
        assert volume[1:] == (image.GetSpacing(), image.GetOrigin(), image.GetDirection())


@pytest.mark.parametrize(
    "name, line, message",
    [
        ("a.nhdr", 'space units: "um" "um" "um"', "which readers ignore: save it with lengths in mm"),
        ("a.nhdr", 'space units: "mm" "mm" "millimeters"', None),
        ("a.mhd", "DistanceUnits = cm", "which readers ignore: save it with lengths in mm"),
        ("a.mhd", "DistanceUnits = mm", None),
        ("a.mhd", "TransformMatrix = 2 0 0 0 2 0 0 0 2", "whose columns must have the length 1"),
    ],
)
def test_lengths_of_other_formats(name, line, message, tmp_path):
    path = tmp_path / name
    sitk.WriteImage(sitk.GetImageFromArray(VALUES), str(path))
    key, text = re.split(" ?[=:]", line)[0], re.sub("(?m)^TransformMatrix.*\n", "", path.read_text())
    before = "ElementType" if name == "a.mhd" else "encoding"
    path.write_text(re.sub(f"(?m)^({before}.*)$", rf"{line}\n\1", text))
    found = refusal(str(path))
    assert found.array.shape == VALUES.shape if message is None else key in line and message in found


def test_libraries_are_named(tmp_path, monkeypatch):
    nib.save(nifti(), tmp_path / "a.nii")
    monkeypatch.setitem(__import__("sys").modules, "nibabel", None)
    with pytest.raises(ImportError, match=r'reading .*a.nii needs nibabel: pip install "voxelmaps\[files\]"'):
        load(str(tmp_path / "a.nii"))
