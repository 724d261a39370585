# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The logic of the modules of 3D Slicer, with volume and segmentation nodes of slicer-core, in a tilted volume."""

import pathlib
import sys

import numpy as np
import pytest
import voxelmaps

slicer = pytest.importorskip("slicer", reason="3D Slicer is not installed: pip install slicer-core")
FOLDER = pathlib.Path(__file__).parents[2] / "packaging/slicer/VoxelMapsFeatureMaps"
SHAPE = (10, 14, 18)


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


def volume_of(scene, logic, array):
    """A volume node with axes that are tilted in all directions."""
    import vtk

    node, image = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "CT"), vtk.vtkImageData()
    logic.set_scalars(image, array)
    node.SetAndObserveImageData(image)
    node.SetSpacing(0.7, 0.8, 2.5)
    node.SetOrigin(-10.125, 20.3, 5.7)
    node.SetIJKToRASDirections(np.linalg.qr(np.array([[9.0, 1, 0], [-1, 9, 2], [0, -2, 9]]))[0])
    return node


def matrix_of(oriented):
    import vtk

    matrix = vtk.vtkMatrix4x4()
    oriented.GetImageToWorldMatrix(matrix)
    return [matrix.GetElement(i, j) for i in range(4) for j in range(4)]


def segmentation_of(scene, logic, volume, labels):
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "strokes")
    for label in np.unique(labels[labels > 0]):
        oriented = slicer.vtkOrientedImageData()
        oriented.DeepCopy(logic.oriented_image_of(volume))
        logic.set_scalars(oriented, (labels == label).astype(np.uint8))
        assert node.AddSegmentFromBinaryLabelmapRepresentation(oriented, f"object {label}")
    return node


@pytest.fixture
def array():
    random = np.random.default_rng(0)
    return (random.integers(0, 60, SHAPE) + 100 * (np.indices(SHAPE).sum(0) > 20)).astype(np.int16)


def test_labels_of_segments_follow_edits(logic, scene, array):
    volume, strokes = volume_of(scene, logic, array), np.zeros(SHAPE, np.uint8)
    strokes[0, 0, 0] = 2
    source, labels = logic.oriented_image_of(volume), logic.ConnectedLabels()
    for label, index in (
        (1, (2, 3, slice(2, 6))),
        (2, (7, 10, slice(9, 16))),
        (3, (5, 7, slice(0, 2))),
        (0, (2, 3, 4)),
    ):
        strokes[index] = label
        segmentation = segmentation_of(scene, logic, volume, strokes)
        ids = segmentation.GetSegmentation().GetSegmentIDs()
        merged, output = logic.merged_labels(segmentation, ids, source), slicer.vtkOrientedImageData()
        np.testing.assert_array_equal(logic.array_of(merged), strokes)
        labels.update(source, merged, output)
        np.testing.assert_array_equal(logic.array_of(output), voxelmaps.labels(array, strokes, **logic.LABELS))
        assert output.GetExtent() == source.GetExtent() and matrix_of(output) == matrix_of(source)


def test_maps_are_where_the_segment_is(logic, scene, array):
    volume, mask = volume_of(scene, logic, array), np.zeros(SHAPE, np.uint8)
    mask[3:7, 4:10, 5:13] = 1
    segmentation = segmentation_of(scene, logic, volume, mask)
    settings = {"features": ["glcm_Contrast", "firstorder_Mean"], "bin_width": 10, "neighborhood_radius": 1}
    segment = segmentation.GetSegmentation().GetNthSegmentID(0)
    nodes = logic.add_feature_maps(scene, volume, segmentation, segment, **settings)
    expected = voxelmaps.feature_maps(logic.image_of(volume), mask, crop="mask", **settings)
    assert [node.GetName() for node in nodes] == list(expected)
    whole = voxelmaps.feature_maps(array, **settings)
    for node in nodes:
        image = logic.image_of(node)
        np.testing.assert_array_equal(image.array, expected[node.GetName()])
        assert image[1:] == expected.geometry
        # The corner of the part in the volume.
        assert logic.image_of(volume).point([part.start for part in expected.slices][::-1]) == image.origin
    for node in logic.add_feature_maps(scene, volume, **settings):
        np.testing.assert_array_equal(logic.image_of(node).array, whole[node.GetName()])
        assert logic.image_of(node)[1:] == logic.image_of(volume)[1:]


def test_what_is_refused(logic, scene, array):
    volume = volume_of(scene, logic, array)
    transform = scene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    volume.SetAndObserveTransformNodeID(transform.GetID())
    with pytest.raises(ValueError, match="harden"):
        logic.add_feature_maps(scene, volume, features="ngtdm")
    empty = slicer.vtkOrientedImageData()
    with pytest.raises(ValueError, match="has the extent|have the extent"):
        logic.ConnectedLabels().update(logic.oriented_image_of(volume), empty, empty)
