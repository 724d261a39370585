# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What the module and the effect of 3D Slicer do, without Qt: volumes and segments in, labels and maps out."""

import numpy as np
import slicer
import vtk
from vtk.util.numpy_support import vtk_to_numpy


def package():
    """The package voxelmaps, which Slicer's pip installs at first use."""
    try:
        import voxelmaps
    except ModuleNotFoundError:
        slicer.util.pip_install("voxelmaps")
        import voxelmaps
    return voxelmaps


def array_of(image):
    """The scalars of vtkImageData as an array with the axes z, y, x, which shares its memory."""
    scalars = image.GetPointData().GetScalars()
    if scalars is None or scalars.GetNumberOfComponents() != 1:
        raise ValueError("the volume has no voxels, or several components, but it must have one number per voxel")
    return vtk_to_numpy(scalars).reshape(image.GetDimensions()[::-1])


def oriented_image_of(volume_node):
    """The vtkOrientedImageData of a volume node, as effects of the Segment Editor get it."""
    matrix, oriented = vtk.vtkMatrix4x4(), slicer.vtkOrientedImageData()
    volume_node.GetIJKToRASMatrix(matrix)
    oriented.ShallowCopy(volume_node.GetImageData())
    oriented.SetGeometryFromImageToWorldMatrix(matrix)
    return oriented


def merged_labels(segmentation_node, segment_ids, reference):
    """vtkOrientedImageData with the number of the segment of each voxel, from 1, on the grid of another one."""
    ids, merged = vtk.vtkStringArray(), slicer.vtkOrientedImageData()
    for segment_id in segment_ids:
        ids.InsertNextValue(segment_id)
    extent = slicer.vtkSegmentation.EXTENT_REFERENCE_GEOMETRY
    if not segmentation_node.GenerateMergedLabelmapForAllSegments(merged, extent, reference, ids):
        raise ValueError(f"segments of {segmentation_node.GetName()} cannot be resampled to the grid of the volume")
    return merged


class ConnectedLabels:
    """Labels of an image from seeds that are edited, both as vtkOrientedImageData on one grid."""

    def __init__(self):
        self._source, self._session = None, None

    def update(self, source, seeds, output):
        """Label all voxels of the source into the output."""
        if source.GetExtent() != seeds.GetExtent():
            raise ValueError(f"the seeds have the extent {seeds.GetExtent()}, but the image has {source.GetExtent()}")
        key = (id(source), source.GetMTime())
        if self._source != key:
            self._session = package().SeedSession(array_of(source))
            self._source = key
        labels = self._session.update(array_of(seeds))
        output.DeepCopy(seeds)
        array_of(output)[:] = labels


def add_feature_maps(scene, volume_node, segmentation_node=None, segment_id=None, **settings):
    """Compute feature maps of a volume, inside a segment if there is one, and add a volume node of each to a scene.

    settings    Those of voxelmaps.feature_maps, such as features=["glcm_Contrast"], bin_width=25.

    Returns the nodes.
    """
    if volume_node.GetParentTransformNode() is not None:
        raise ValueError(f"the volume {volume_node.GetName()} is in a transform: harden it first")
    image, mask = oriented_image_of(volume_node), None
    if segment_id:
        mask = array_of(merged_labels(segmentation_node, [segment_id], image))
        settings = {**settings, "label": 1, "crop": "mask"}
    maps = package().feature_maps(array_of(image), mask, spacing=volume_node.GetSpacing()[::-1], **settings)
    matrix, directions, nodes = vtk.vtkMatrix4x4(), np.zeros((3, 3)), []
    volume_node.GetIJKToRASMatrix(matrix)
    volume_node.GetIJKToRASDirections(directions)
    origin = matrix.MultiplyPoint([*(part.start for part in reversed(maps.slices)), 1])[:3]
    for name in maps:
        node = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", name)
        slicer.util.updateVolumeFromArray(node, maps[name])
        node.SetSpacing(volume_node.GetSpacing())
        node.SetOrigin(origin)
        node.SetIJKToRASDirections(directions)
        nodes.append(node)
    return nodes
