# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The logic of the extension of 3D Slicer, with volume and segmentation nodes of slicer-core, in a tilted volume."""

import pathlib
import sys

import numpy as np
import pytest
import voxelmaps

slicer = pytest.importorskip("slicer", reason="3D Slicer is not installed: pip install slicer-core")
import vtk  # noqa: E402

FOLDER = pathlib.Path(__file__).parents[2] / "packaging/slicer/VoxelMapsFeatureMaps"
SHAPE = (10, 14, 18)
ARRAY = np.random.default_rng(0).integers(0, 60, SHAPE).astype(np.int16)
ARRAY[np.indices(SHAPE).sum(0) > 20] += 100


@pytest.fixture
def logic(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from VoxelMapsLib import logic

    yield logic
    for name in ("VoxelMapsLib", "VoxelMapsLib.logic"):
        sys.modules.pop(name)


@pytest.fixture
def scene():
    return slicer.vtkMRMLScene()


def volume_of(scene, array):
    """A volume node with axes that are tilted in all directions."""
    node = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "CT")
    slicer.util.updateVolumeFromArray(node, array)
    node.SetSpacing(0.7, 0.8, 2.5)
    node.SetOrigin(-10.125, 20.3, 5.7)
    node.SetIJKToRASDirections(np.linalg.qr(np.array([[9.0, 1, 0], [-1, 9, 2], [0, -2, 9]]))[0])
    return node


def matrix_of(oriented):
    matrix = vtk.vtkMatrix4x4()
    oriented.GetImageToWorldMatrix(matrix)
    return slicer.util.arrayFromVTKMatrix(matrix)


def segmentation_of(scene, logic, labels):
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "strokes")
    for label in np.unique(labels[labels > 0]):
        oriented = logic.oriented_image_of(volume_of(scene, (labels == label).astype(np.uint8)))
        assert node.AddSegmentFromBinaryLabelmapRepresentation(oriented, f"object {label}")
    return node, node.GetSegmentation().GetSegmentIDs()


def test_labels_of_segments_follow_edits(logic, scene):
    source, strokes = logic.oriented_image_of(volume_of(scene, ARRAY)), np.zeros(SHAPE, np.uint8)
    labels, output = logic.ConnectedLabels(), slicer.vtkOrientedImageData()
    strokes[0, 0, 0] = 2
    for label, index in ((1, np.s_[2, 3, 2:6]), (2, np.s_[7, 10, 9:16]), (3, np.s_[5, 7, 0:2]), (0, np.s_[2, 3, 4])):
        strokes[index] = label
        merged = logic.merged_labels(*segmentation_of(scene, logic, strokes), source)
        np.testing.assert_array_equal(logic.array_of(merged), strokes)
        labels.update(source, merged, output)
        np.testing.assert_array_equal(logic.array_of(output), voxelmaps.labels(ARRAY, strokes))
        np.testing.assert_array_equal(logic.array_of(merged), strokes)
        assert output.GetExtent() == source.GetExtent()
        np.testing.assert_array_equal(matrix_of(output), matrix_of(source))


def test_maps_are_where_the_segment_is(logic, scene):
    volume, mask = volume_of(scene, ARRAY), np.zeros(SHAPE, np.uint8)
    mask[3:7, 4:10, 5:13] = 1
    segmentation, ids = segmentation_of(scene, logic, mask)
    settings = {"features": ["glcm_Contrast", "firstorder_TotalEnergy"], "bin_width": 10, "radius_mm": 1.7}
    given = {**settings, "spacing": (2.5, 0.8, 0.7)}
    matrix = matrix_of(logic.oriented_image_of(volume))
    for arguments, expected in (
        ((), voxelmaps.feature_maps(ARRAY, **given)),
        ((segmentation, ids[0]), voxelmaps.feature_maps(ARRAY, mask, crop="mask", **given)),
    ):
        nodes = logic.add_feature_maps(scene, volume, *arguments, **settings)
        assert [node.GetName() for node in nodes] == list(expected)
        start = [*(part.start for part in reversed(expected.slices)), 1]
        for node in nodes:
            np.testing.assert_array_equal(slicer.util.arrayFromVolume(node), expected[node.GetName()])
            assert node.GetSpacing() == volume.GetSpacing() and np.allclose(
                node.GetOrigin(), (matrix @ start)[:3], 0, 1e-12
            )
            moved = matrix_of(logic.oriented_image_of(node))
            np.testing.assert_array_equal(moved[:3, :3], matrix[:3, :3])


def test_what_is_refused(logic, scene):
    volume = volume_of(scene, ARRAY)
    volume.SetAndObserveTransformNodeID(scene.AddNewNodeByClass("vtkMRMLLinearTransformNode").GetID())
    with pytest.raises(ValueError, match="harden"):
        logic.add_feature_maps(scene, volume, features="ngtdm")
    empty = slicer.vtkOrientedImageData()
    with pytest.raises(ValueError, match="have the extent"):
        logic.ConnectedLabels().update(logic.oriented_image_of(volume), empty, empty)
