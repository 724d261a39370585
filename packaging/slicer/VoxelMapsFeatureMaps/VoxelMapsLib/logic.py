# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What the modules of 3D Slicer do, without Qt: volumes and segments in, labels and maps out. Needs slicer and voxelmaps."""

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

# The labels meet at the strongest edges between the strokes.
LABELS = {"affinity": "absolute_difference", "competition": "iterative", "tie_rule": "lowest_label"}


def require_voxelmaps():
    """Install the package at first use, with Slicer's pip."""
    try:
        import voxelmaps  # noqa: F401
    except ModuleNotFoundError:
        import slicer

        slicer.util.pip_install("voxelmaps")


def array_of(image):
    """The scalars of vtkImageData as an array with the axes z, y, x, which shares its memory."""
    scalars = image.GetPointData().GetScalars()
    if scalars is None or scalars.GetNumberOfComponents() != 1:
        raise ValueError("the volume has no voxels, or several components, but it must have one number per voxel")
    return vtk_to_numpy(scalars).reshape(image.GetDimensions()[::-1])


def image_of(volume_node):
    """The image of a volume node, with its geometry in LPS, to the last bit."""
    from voxelmaps._image import Image

    if volume_node.GetParentTransformNode() is not None:
        raise ValueError(
            f"the volume {volume_node.GetName()} is in a transform: harden it first, so that its geometry is known"
        )
    directions = np.zeros((3, 3))
    volume_node.GetIJKToRASDirections(directions)
    lps = np.array([-1.0, -1.0, 1.0])
    direction = tuple((directions * lps[:, None] + 0.0).ravel().tolist())
    origin = tuple((np.array(volume_node.GetOrigin()) * lps + 0.0).tolist())
    return Image(array_of(volume_node.GetImageData()), tuple(volume_node.GetSpacing()), origin, direction)


def oriented_image_of(volume_node):
    """The vtkOrientedImageData of a volume node, as effects of the Segment Editor get it."""
    import slicer

    matrix, oriented = vtk.vtkMatrix4x4(), slicer.vtkOrientedImageData()
    volume_node.GetIJKToRASMatrix(matrix)
    oriented.ShallowCopy(volume_node.GetImageData())
    oriented.SetGeometryFromImageToWorldMatrix(matrix)
    return oriented


def merged_labels(segmentation_node, segment_ids, reference):
    """vtkOrientedImageData with the number of the segment of each voxel, from 1, on the grid of another one."""
    import slicer

    ids, merged = vtk.vtkStringArray(), slicer.vtkOrientedImageData()
    for segment_id in segment_ids:
        ids.InsertNextValue(segment_id)
    if not segmentation_node.GenerateMergedLabelmapForAllSegments(
        merged, slicer.vtkSegmentation.EXTENT_REFERENCE_GEOMETRY, reference, ids
    ):
        raise ValueError(f"segments of {segmentation_node.GetName()} cannot be resampled to the grid of the volume")
    return merged


def set_scalars(image, array):
    """Give vtkImageData the voxels of an array."""
    scalars = numpy_to_vtk(np.ascontiguousarray(array).ravel(), deep=True)
    scalars.SetName("ImageScalars")
    image.SetDimensions(*array.shape[::-1])
    image.GetPointData().SetScalars(scalars)


class ConnectedLabels:
    """Labels of an image from seeds that are edited, both as vtkOrientedImageData on one grid."""

    def __init__(self):
        self._source, self._session = None, None

    def update(self, source, seeds, output):
        """Label all voxels of the source into the output."""
        import voxelmaps

        if source.GetExtent() != seeds.GetExtent():
            raise ValueError(f"the seeds have the extent {seeds.GetExtent()}, but the image has {source.GetExtent()}")
        key = (id(source), source.GetMTime())
        if self._source != key:
            image = array_of(source)
            self._session = voxelmaps.SeedSession(image, spacing=source.GetSpacing()[::-1], **LABELS)
            self._source = key
        labels = self._session.update(array_of(seeds))
        output.DeepCopy(seeds)
        scalars = numpy_to_vtk(labels.astype(np.int16 if labels.max() < 2**15 else np.int32).ravel(), deep=True)
        output.GetPointData().SetScalars(scalars)


def add_feature_maps(scene, volume_node, segmentation_node=None, segment_id=None, **settings):
    """Compute feature maps of a volume, inside a segment if there is one, and add a volume node of each to a scene.

    settings    Those of voxelmaps.feature_maps, such as features=["glcm_Contrast"], bin_width=25.

    Returns the nodes.
    """
    import voxelmaps

    mask = None
    if segmentation_node is not None:
        merged = merged_labels(segmentation_node, [segment_id], oriented_image_of(volume_node))
        mask, settings = array_of(merged), {**settings, "label": 1, "crop": "mask"}
    maps = voxelmaps.feature_maps(image_of(volume_node), mask, **settings)
    directions, nodes = np.zeros((3, 3)), []
    volume_node.GetIJKToRASDirections(directions)
    x, y, z = maps.geometry.origin
    for name in maps:
        node, image = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", name), vtk.vtkImageData()
        set_scalars(image, maps[name])
        node.SetAndObserveImageData(image)
        node.SetSpacing(volume_node.GetSpacing())
        node.SetOrigin(-x, -y, z)
        node.SetIJKToRASDirections(directions)
        nodes.append(node)
    return nodes
