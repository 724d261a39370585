# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Structures of an RTSTRUCT as masks: voxels as those of exact fractions, and contours that are not regions of the image are refused."""

from fractions import Fraction

import numpy as np
import pytest

pydicom = pytest.importorskip("pydicom")
sitk = pytest.importorskip("SimpleITK")

import voxelmaps  # noqa: E402
from test_dicom import header, items, save  # noqa: E402
from voxelmaps import _image, radiomics  # noqa: E402

RTSTRUCT, CT = "1.2.840.10008.5.1.4.1.1.481.3", "1.2.840.10008.5.1.4.1.1.2"
FRAME = "1.2.7"
# Oblique, with voxels of three sizes.
ANGLE = 0.3
AXES = np.array([[np.cos(ANGLE), np.sin(ANGLE), 0], [-np.sin(ANGLE) * 0.6, np.cos(ANGLE) * 0.6, 0.8]])
NORMAL = np.cross(*AXES)
SPACING, ORIGIN, SHAPE = np.array([0.75, 0.5, 2.5]), np.array([-30.0, 4.0, 7.5]), (5, 16, 20)
IMAGE = np.random.default_rng(5).integers(0, 900, SHAPE).astype("i2")
# Corners x and y, in voxels.
SQUARE = [(2, 3), (9, 3), (9, 8), (2, 8)]
HOLE = [(4, 4), (7, 4), (7, 7), (4, 7)]
ISLAND = [(5, 5), (6, 5), (6, 6), (5, 6)]


def inside(*polygons, shape=SHAPE[1:]):
    """Voxels that a ray downward from their center leaves through an odd number of edges, of fractions."""
    result = np.zeros(shape, bool)
    for polygon in polygons:
        points = [(Fraction(float(x)), Fraction(float(y))) for x, y in polygon]
        for (x, y), (to_x, to_y) in zip(points, points[1:] + points[:1]):
            for i in range(shape[1]):
                if (x <= i) != (to_x <= i):
                    level = y + (i - x) * (to_y - y) / (to_x - x)
                    result[[j for j in range(shape[0]) if j >= level], i] ^= True
    return result


def contour(polygon, k, kind="CLOSED_PLANAR", **changes):
    indices = np.array([(x, y, k) for x, y in polygon], float).reshape(-1, 3)
    points = ORIGIN + indices * SPACING @ np.array([*AXES, NORMAL])
    data = [f"{value:.10g}" for value in points.ravel()]
    return items(
        **{"ContourGeometricType": kind, "NumberOfContourPoints": len(polygon), "ContourData": data or None, **changes}
    )


def rtstruct(contours, names=None, frames=(FRAME,), **changes):
    """Structures with these contours by number; each may have a frame of reference of its own, by number. A number that is repeated
    has also a structure Twin."""
    own, repeated = changes.pop("own_frames", {}), changes.pop("repeated", None)
    rois = [
        items(ROINumber=number, ROIName=(names or {}).get(number, f"R{number}"))
        for number in {**contours, **(names or {})}
    ]
    for roi in rois:
        roi.ReferencedFrameOfReferenceUID = own.get(roi.ROINumber, frames[0])
    if repeated is not None:
        rois.append(items(ROINumber=repeated, ROIName="Twin", ReferencedFrameOfReferenceUID=frames[0]))
    of_rois = [items(ReferencedROINumber=number, ContourSequence=given) for number, given in contours.items()]
    references = [items(FrameOfReferenceUID=frame) for frame in frames]
    common = {"SOPClassUID": RTSTRUCT, "SeriesInstanceUID": "1.2.4", "Modality": "RTSTRUCT"}
    common |= {"ReferencedFrameOfReferenceSequence": references}
    return items(**{**common, "StructureSetROISequence": rois, "ROIContourSequence": of_rois, **changes})


@pytest.fixture
def folder(tmp_path):
    """A CT series; the RTSTRUCT goes into the same folder, as clinics have it."""
    place = tmp_path / "ct"
    place.mkdir()
    for k, plane in enumerate(IMAGE):
        position = (ORIGIN + k * SPACING[2] * NORMAL).tolist()
        elements = {"ImagePositionPatient": position, "ImageOrientationPatient": AXES.ravel().tolist()}
        elements |= {"PixelSpacing": [0.5, 0.75], "SliceThickness": 2.5, "SOPClassUID": CT, "Modality": "CT"}
        save(place / f"{k}.dcm", header(**elements), plane)
    return place


def written(folder, *arguments, **keywords):
    return save(folder / "rs.dcm", rtstruct(*arguments, **keywords))


def mask_of(folder, path, label=None):
    mask = radiomics.read_image(path, segment=label, image=folder)
    array = (sitk if isinstance(mask, sitk.Image) else pytest.importorskip("itk")).GetArrayFromImage(mask)
    return np.array(array)


STAR = [(10.1 + 6 * np.sin(4 * np.pi * i / 5), 8.1 - 6 * np.cos(4 * np.pi * i / 5)) for i in range(5)]
CIRCLE = [(9.7 + 5.3 * np.cos(t), 7.2 + 5.3 * np.sin(t)) for t in np.linspace(0, 2 * np.pi, 50)[:-1]]
RANDOM = [np.random.default_rng(seed).uniform((-0.9, -0.9), (19.9, 15.9), (30, 2)) for seed in range(9)]
KEYHOLE = [*SQUARE, SQUARE[0], *HOLE[::-1], HOLE[-1], SQUARE[0]]
SHIFTED = [[(x + 7, y) for x, y in SQUARE], [(x, y + 5) for x, y in SQUARE]]


@pytest.mark.parametrize(
    "polygons",
    [
        *(
            [SQUARE],
            [SQUARE[::-1]],
            [CIRCLE],
            [SQUARE, HOLE],
            [SQUARE, HOLE, ISLAND],
            [KEYHOLE],
            [STAR],
            [SQUARE, CIRCLE],
        ),
        *([each] for each in RANDOM),
        [[(-0.9, -0.9), (19.9, -0.9), (19.9, 15.9), (-0.9, 15.9)]],
    ],
)
def test_voxels_inside(folder, polygons):
    """Also of contours that cross themselves and each other, on an oblique grid."""
    path = written(folder, {3: [contour(polygon, 2) for polygon in polygons]})
    expected = np.zeros(SHAPE, np.uint8)
    # Centers on edges, which the ray downward meets as the one to the left does, if edges are horizontal or vertical.
    expected[2] = 3 * inside(*polygons)
    np.testing.assert_array_equal(mask_of(folder, path), expected)


def test_centers_on_edges(folder):
    """They belong to one of two regions that share an edge: on the sides of lower x and lower y, they are inside."""
    path = written(folder, {1: [contour(SQUARE, 0)], 2: [contour(SHIFTED[0], 0)], 4: [contour(SHIFTED[1], 0)]})
    masks = [mask_of(folder, path, label)[0] > 0 for label in (1, 2, 4)]
    y, x = np.mgrid[: SHAPE[1], : SHAPE[2]]
    np.testing.assert_array_equal(masks[0], (x >= 2) & (x < 9) & (y >= 3) & (y < 8))
    assert not (masks[0] & (masks[1] | masks[2])).any()
    np.testing.assert_array_equal(masks[1][:, 7:], masks[0][:, :-7])
    triangles = [(2, 2), (10, 2), (10, 10)], [(2, 2), (10, 10), (2, 10)]
    path = written(folder, {1: [contour(triangles[0], 0)], 2: [contour(triangles[1], 0)]})
    first, second = (mask_of(folder, path, label)[0] > 0 for label in (1, 2))
    np.testing.assert_array_equal(first | second, (x >= 2) & (x < 10) & (y >= 2) & (y < 10))
    assert not (first & second).any()


def test_names_and_numbers_in_all_functions(folder):
    names = {1: "BODY", 5: "GTV, left", 6: "Node"}
    body, gtv = [contour(SQUARE, k) for k in (1, 2)], [contour(HOLE, k) for k in (1, 2)]
    dataset = rtstruct({1: body, 5: gtv, 6: [contour(CIRCLE, 2)]}, names)
    path = save(folder / "rs.dcm", dataset)
    region = np.zeros(SHAPE, bool)
    region[1:3] = inside(HOLE)
    image = _image.read(folder, "the image")
    chosen = {"features": "firstorder_Mean", "neighborhood_radius": 1}
    expected = voxelmaps.feature_maps(IMAGE, region, **chosen)["firstorder_Mean"]
    for mask in (path, str(path), dataset):
        for label in (5, "GTV, left", ["GTV, left"], {"GTV, left"}, {5}):
            for given in (str(folder), image):
                found = voxelmaps.feature_maps(given, mask, label=label, **chosen)["firstorder_Mean"]
                np.testing.assert_array_equal(found, expected)
        values = radiomics.execute(
            folder, mask, label="GTV, left", voxelBased=False, featureClass={"firstorder": ["Mean"]}
        )
        assert values["original_firstorder_Mean"] == IMAGE[region].mean()
        table = voxelmaps.region_features(folder, mask, features="firstorder_Mean")
        assert table["label"].tolist() == [1, 5, 6] and table["segment"].tolist() == list(names.values())
        few = voxelmaps.region_features(folder, mask, features="firstorder_Mean", label=["Node", 5])
        assert few["label"].tolist() == [6, 5] and few["segment"].tolist() == ["Node", "GTV, left"]
        assert few["firstorder_Mean"][1] == IMAGE[region].mean() == table["firstorder_Mean"][1]
    # Patients may lack a structure of a list.
    with pytest.warns(UserWarning, match="label is 'Nodes' .did you mean Node.., but the mask has 1 .BODY., 5"):
        union = voxelmaps.feature_maps(folder, path, label=["Node", "Nodes", 5], **chosen)["firstorder_Mean"]
    region[2] |= inside(CIRCLE)
    np.testing.assert_array_equal(union, voxelmaps.feature_maps(IMAGE, region, **chosen)["firstorder_Mean"])


@pytest.mark.parametrize(
    "label, words",
    [
        (None, ["structures 1 (BODY), 5 (GTV)", "may overlap", "label='BODY'"]),
        ("GTV1", ["label is 'GTV1' (did you mean GTV?)", "1 (BODY), 5 (GTV), 7 (Point), 8 (Empty)"]),
        (3, ["no structure 3", "1 (BODY), 5 (GTV)"]),
        ("Point", ["contour 1 of the structure 7 (Point) is POINT", "CLOSED_PLANAR"]),
        ("Empty", ["the structure 8 (Empty) has no closed contour"]),
    ],
)
def test_structures_that_are_not_there(folder, label, words):
    names = {1: "BODY", 5: "GTV", 7: "Point", 8: "Empty"}
    contours = {1: [contour(SQUARE, 1)], 5: [contour(HOLE, 1)], 7: [contour([(3, 3)], 1, "POINT")]}
    path = written(folder, contours, names)
    with pytest.raises(ValueError) as error:
        voxelmaps.feature_maps(folder, path, label=label, features="firstorder_Mean")
    assert not [word for word in words if word not in str(error.value)], error.value
    # What has no inside is no region.
    table = voxelmaps.region_features(folder, path, features="firstorder_Mean")
    assert table["label"].tolist() == [1, 5]


def test_labels_without_names(folder, tmp_path):
    with pytest.raises(ValueError, match="label is 'GTV', but must be an integer"):
        voxelmaps.feature_maps(IMAGE, IMAGE > 9, label="GTV", features="firstorder_Mean")
    two = rtstruct({1: [contour(SQUARE, 1)], 2: [contour(HOLE, 1)]}, {1: "GTV", 2: "GTV"})
    with pytest.raises(ValueError, match="label is 'GTV', the name of 1, 2: choose one by its number"):
        voxelmaps.feature_maps(folder, two, label="GTV", features="firstorder_Mean")
    # Numbers that are no labels are replaced.
    path = written(folder, {0: [contour(SQUARE, 1)], 4: [contour(HOLE, 1)]}, {0: "GTV", 4: "Node"})
    assert voxelmaps.region_features(folder, path, label="GTV", features="shape_VoxelVolume")["label"].tolist() == [5]
    # Contours of a number that two structures have may be those of either; others are known.
    path = written(folder, {2: [contour(SQUARE, 1)], 4: [contour(HOLE, 1)]}, {2: "GTV", 4: "Node"}, repeated=2)
    np.testing.assert_array_equal(mask_of(folder, path, "Node")[1], 4 * inside(HOLE))
    for label, name in (("GTV", "2 .GTV."), ("Twin", "5 .Twin."), (5, "5 .Twin.")):
        with pytest.raises(
            ValueError, match=f"structure {name} shares the ROINumber 2 with 1 other structure, so its contours are amb"
        ):
            voxelmaps.feature_maps(folder, path, label=label, features="firstorder_Mean")
    path = written(folder, {0: [contour(SQUARE, 1)], 4: [contour(HOLE, 1)]}, {0: "GTV", 4: "Node"})
    with pytest.raises(ValueError, match="voxels on the grid of an image only.*5 [(]GTV[)], 4 [(]Node[)]"):
        voxelmaps.check_image_file(path)
    with pytest.raises(ValueError, match="suv is 'bw', but it is not a PET series: it is RT Structure Set Storage"):
        voxelmaps.read_dicom_series(path, suv="bw")
    with pytest.raises(ValueError, match="must be an RTSTRUCT, but is CT Image Storage"):
        voxelmaps.feature_maps(folder, pydicom.dcmread(folder / "0.dcm"), features="firstorder_Mean")


@pytest.mark.parametrize(
    "contours, frames, words",
    [
        (
            [contour(SQUARE, 1, "OPEN_PLANAR")],
            {},
            ["contour 1 of the structure 2 (R2) is OPEN_PLANAR", "CLOSED_PLANAR"],
        ),
        ([contour(SQUARE, 1), contour(SQUARE, 2, "OPEN_PLANAR")], {}, ["contour 2", "OPEN_PLANAR", "CLOSED_PLANAR"]),
        ([contour(SQUARE, 1), contour(SQUARE, 1.3)], {}, ["contour 2", "between slices, at 1.3", "resample"]),
        ([contour(SQUARE, 4.2)], {}, ["between slices, at 4.2"]),
        ([contour(SQUARE, 6)], {}, ["beyond the image", "6 to 6", "(20, 16, 5)"]),
        ([contour([(x + 11.5, y) for x, y in SQUARE], 1)], {}, ["beyond the image", "13.5 to 20.5 × 3 to 8"]),
        ([contour([(-1, 3), *SQUARE], 1)], {}, ["beyond the image", "-1 to 9"]),
        ([contour([(1e7, 1e7), *SQUARE], 1)], {}, ["beyond the image"]),
        ([contour(SQUARE, 1, ContourData=["1", "2"])], {}, ["has 2 numbers", "3 finite ones"]),
        ([contour(SQUARE, 1, NumberOfContourPoints=7)], {}, ["has 4 points", "NumberOfContourPoints is 7"]),
        ([contour(SQUARE, 1)], {"frames": ["1.2.8"]}, ["frame of reference 1.2.8", "the image is in 1.2.7"]),
        ([contour(SQUARE, 1)], {"frames": ["1.2.7", "1.2.8"], "own_frames": {2: "1.2.8"}}, ["reference 1.2.8"]),
    ],
)
def test_contours_that_are_not_regions(folder, contours, frames, words):
    path = written(folder, {2: contours}, **frames)
    with pytest.raises(ValueError) as error:
        voxelmaps.feature_maps(folder, path, label=2, features="firstorder_Mean")
    message = str(error.value)
    assert str(path) in message and "\n" not in message
    assert not [word for word in words if word not in message], message


def test_files_that_are_truncated(folder):
    """Wherever they end, no structure is lost."""
    path = written(folder, {2: [contour(SQUARE, k) for k in (1, 2)], 3: [contour(HOLE, k) for k in (1, 2)]})
    whole = path.read_bytes()
    for size in np.linspace(400, len(whole) - 1, 23).astype(int):
        path.write_bytes(whole[:size])
        for label in ("all", "R3"):
            with pytest.raises(ValueError, match="rs.dcm.*(truncated|corrupt)"):
                voxelmaps.region_features(str(folder / "0.dcm"), path, label=label, features="shape_VoxelVolume")


def test_headers_that_are_not_valid(folder, tmp_path):
    path = written(folder, {2: [contour(SQUARE, 1)]})
    number = b"\x06\x30\x22\x00IS\x02\x00"
    path.write_bytes(path.read_bytes().replace(number + b"2 ", number + b"xy"))
    with pytest.raises(ValueError, match="an item of the RTSTRUCT has a ROINumber that is not an integer"):
        voxelmaps.feature_maps(folder, path, label=2, features="firstorder_Mean")
    for name in ("a.dcm", "b.dcm"):
        save(tmp_path / name, rtstruct({2: [contour(SQUARE, 1)]}))
    with pytest.raises(
        ValueError, match="no DICOM series with images, but 2 files of RT Structure Set Storage: pass one of them"
    ):
        voxelmaps.feature_maps(folder, tmp_path, label=2, features="firstorder_Mean")


def test_several_references(folder):
    """A structure of another image of the same frame, and one whose frame the file does not have, as after anonymization."""
    good = [contour(SQUARE, 1)]
    for frames in ({"frames": ["1.2.8", FRAME], "own_frames": {2: FRAME}}, {"own_frames": {2: "1.2.99"}}):
        path = written(folder, {2: good}, **frames)
        np.testing.assert_array_equal(mask_of(folder, path)[1], 2 * inside(SQUARE))


def test_contours_that_occur_twice(folder):
    path = written(folder, {2: [contour(SQUARE, 1), contour(SQUARE, 2), contour(SQUARE, 2)]})
    with pytest.warns(UserWarning, match="contour 3 .* same as another one of its slice, and counts once"):
        found = mask_of(folder, path)
    np.testing.assert_array_equal(found[2], found[1])
    assert found[1].any()


def test_contours_that_are_doubtful(folder):
    good = [contour(SQUARE, k) for k in (0, 1, 4)]
    path = written(folder, {2: [*good, contour([(3, 3)], 1), contour([(3, 3), (5, 5)], 1)]})
    with pytest.warns(UserWarning) as record:
        found = mask_of(folder, path)
    texts = [str(each.message) for each in record]
    assert any("2 contours of less than 3 points" in text for text in texts), texts
    assert any("from slice 0 to 4, but none in 2, 3" in text for text in texts), texts
    expected = np.zeros(SHAPE, np.uint8)
    expected[[0, 1, 4]] = 2 * inside(SQUARE)
    np.testing.assert_array_equal(found, expected)
    # Slices may be a tenth of a step off, as rounded positions are.
    np.testing.assert_array_equal(mask_of(folder, written(folder, {2: [contour(SQUARE, 1.09)]}))[1], expected[1])
    with pytest.warns(UserWarning, match="no center of a voxel"):
        mask_of(folder, written(folder, {2: [contour([(3.1, 3.1), (3.4, 3.1), (3.3, 3.3)], 1)]}))
    # On slices across those of the contours, they are lines.
    across = sitk.GetImageFromArray(IMAGE)
    with pytest.raises(ValueError, match="across the slices|beyond the image|between slices"):
        mask_of(across, written(folder, {2: good[:2]}))


def test_command(folder, tmp_path):
    from voxelmaps import _cli

    path = written(
        folder,
        {1: [contour(SQUARE, 1), contour(SQUARE, 2)], 3: [contour(HOLE, 1), contour(HOLE, 2)]},
        {1: "A", 3: "GTV/l"},
    )
    chosen = ["--features", "firstorder_Mean", "--setting", "binWidth=25"]
    out = tmp_path / "values.csv"
    assert _cli.main(["regions", str(folder), "--mask", str(path), "--label", "GTV/l", "--out", str(out), *chosen]) == 0
    head, row = out.read_text().splitlines()
    values = dict(zip(head.split(","), row.split(",")))
    region = np.zeros(SHAPE, bool)
    region[1:3] = inside(HOLE)
    assert (values["label"], values["segment"]) == ("3", "GTV/l")
    assert float(values["original_firstorder_Mean"]) == IMAGE[region].mean()
    for label, folders in (("all", ["label-1", "label-3"]), ("A,GTV/l", ["label-A", "label-GTV_l"])):
        maps = tmp_path / label.replace("/", "")
        assert _cli.main(["maps", str(folder), "--mask", str(path), "--label", label, "--out", str(maps), *chosen]) == 0
        assert sorted(each.name for each in maps.glob("label-*")) == folders
    record = voxelmaps.read_maps(maps / "label-A").provenance
    assert record["inputs"]["mask"]["path"] == str(path)
    assert (
        _cli.main(["maps", str(folder), "--mask", str(path), "--label", "B", "--out", str(tmp_path / "b"), *chosen])
        == 1
    )
    table = tmp_path / "table.csv"
    table.write_text(f"image,mask,label\n{folder},{path},GTV/l\n")
    assert _cli.main(["check", "--jobs", str(table), *chosen]) == 0


def test_names_with_commas(folder, tmp_path, capsys):
    """They have quotes, in the command and in cells of tables."""
    from voxelmaps import _cli

    contours = {1: [contour(SQUARE, 1), contour(SQUARE, 2)], 3: [contour(HOLE, 1)]}
    path = str(written(folder, contours, {1: "A", 3: "GTV, left"}))
    chosen = ["--features", "shape_VoxelVolume", "--out", str(tmp_path / "t.csv")]
    table = tmp_path / "jobs.csv"
    table.write_text(f'image,mask,label\n{folder},{path},"""GTV, left"",A"\n')
    for where in ([str(folder), "--mask", path, "--label", '"GTV, left",A'], ["--jobs", str(table)]):
        assert _cli.main(["regions", *where, *chosen, "--overwrite"]) == 0
        rows = (tmp_path / "t.csv").read_text().splitlines()
        assert [line.split(path)[1][: len(end)] for line, end in zip(rows[1:], (",3,", ",1,"))] == [",3,", ",1,"]
    # Rows of structures are kept.
    assert _cli.main(["regions", "--jobs", str(table), *chosen]) == 0
    assert [line.split(": ")[1][:14] for line in capsys.readouterr().out.splitlines()[-2:]] == ["1 value (kept)"] * 2
    assert _cli.main(["regions", str(folder), "--mask", path, "--label", "GTV, left", *chosen]) == 1
    hint = """in the command, quote a name that contains a comma: '"GTV, left"'"""
    assert capsys.readouterr().err.count(hint) == 2
    with pytest.raises(ValueError, match="label is 'left'") as error:
        voxelmaps.region_features(str(folder), path, label="left", features="shape_VoxelVolume")
    assert "quote" not in str(error.value)


@pytest.mark.parametrize("labels", [(1,), (1, 2), ("GTV, left", 3), ('"old" one', "A"), ('a,"b', "A"), ('12" ring',)])
def test_texts_of_labels(labels):
    from voxelmaps._cohort import tables

    assert tables.parse_labels(tables.text_of_labels(labels)) == labels


def test_files_without_a_class(folder):
    """Headers without SOPClassUID have it in their first part; slices without any and without pixels are not left out."""
    path = written(folder, {4: [contour(HOLE, 1)]}, {4: "Node"})
    dataset = pydicom.dcmread(path)
    del dataset.SOPClassUID
    for each in (path, dataset):
        pydicom.dcmwrite(path, dataset, enforce_file_format=False)
        values = voxelmaps.region_features(folder, each, label="Node", features="shape_VoxelVolume")
        assert values["segment"].tolist() == ["Node"]
    dataset = pydicom.dcmread(folder / "3.dcm")
    del dataset.SOPClassUID, dataset.file_meta.MediaStorageSOPClassUID, dataset.PixelData, dataset.Rows
    pydicom.dcmwrite(folder / "3.dcm", dataset, enforce_file_format=False)
    with pytest.raises(ValueError, match="'3.dcm': it is truncated: it has no pixel data"):
        voxelmaps.read_dicom_series(folder)
