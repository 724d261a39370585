#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Segment the vessels of a CT, read from a DICOM series, by fuzzy connectedness, and render their surface.

One seed inside a vessel is enough: the mean and the variance of the vessel are estimated around it. VTK extracts and
renders the surface off-screen, and another picture shows the strength in the slice with the most vessels.
"""

import argparse
import os
import pathlib
import sys

import itk
import numpy as np
import voxelmaps

# Without a display, VTK renders through EGL.
if "DISPLAY" not in os.environ:
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
import vtk
from vtk.util import numpy_support


def surface_of(strength, threshold):
    """Return the smoothed isosurface of the strength, in mm along the axes of the patient: left, posterior, superior."""
    array = itk.array_from_image(strength)
    grid = vtk.vtkImageData()
    grid.SetDimensions(*reversed(array.shape))
    grid.GetPointData().SetScalars(numpy_support.numpy_to_vtk(array.ravel(), deep=True))
    contour = vtk.vtkFlyingEdges3D()
    contour.SetInputData(grid)
    contour.SetValue(0, threshold)
    matrix = np.eye(4)
    matrix[:3, :3] = itk.array_from_matrix(strength.GetDirection()) * list(itk.spacing(strength))
    matrix[:3, 3] = list(strength.GetOrigin())
    transform = vtk.vtkTransform()
    transform.SetMatrix(matrix.ravel())
    placed = vtk.vtkTransformFilter()
    placed.SetTransform(transform)
    placed.SetInputConnection(contour.GetOutputPort())
    smooth = vtk.vtkWindowedSincPolyDataFilter()
    smooth.SetInputConnection(placed.GetOutputPort())
    smooth.SetNumberOfIterations(15)
    smooth.SetPassBand(0.1)
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(smooth.GetOutputPort())
    normals.Update()
    return normals.GetOutput()


def letters_around(bounds):
    """The six directions of the patient, at edges of a box."""
    low, high = np.reshape(bounds, (3, 2)).T
    margin = 0.05 * (high - low).max()
    for axis, letters in enumerate(("RL", "AP", "IS")):
        for end, letter in zip((low - margin, high + margin), letters):
            # In the middle of the edges of the floor, and at the right anterior corner.
            position = low - margin if axis == 2 else np.array([*(low + high)[:2] / 2, low[2]])
            position[axis] = end[axis]
            actor = vtk.vtkBillboardTextActor3D()
            actor.SetInput(letter)
            actor.SetPosition(position)
            actor.GetTextProperty().SetFontSize(24)
            actor.GetTextProperty().SetColor(0.2, 0.2, 0.2)
            actor.GetTextProperty().SetJustificationToCentered()
            yield actor


def render(surface, text, path):
    """Write a picture of a surface in its box, seen from the front, with a line of text."""
    outline = vtk.vtkOutlineFilter()
    outline.SetInputData(surface)
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    for port, color in ((None, (0.75, 0.15, 0.12)), (outline.GetOutputPort(), (0.6, 0.6, 0.6))):
        mapper = vtk.vtkPolyDataMapper()
        mapper.SetInputData(surface) if port is None else mapper.SetInputConnection(port)
        mapper.ScalarVisibilityOff()
        actor = vtk.vtkActor()
        actor.SetMapper(mapper)
        actor.GetProperty().SetColor(*color)
        actor.GetProperty().SetSpecular(0.3)
        renderer.AddActor(actor)
    for letter in letters_around(surface.GetBounds()):
        renderer.AddActor(letter)
    caption = vtk.vtkTextActor()
    caption.SetInput(text)
    caption.SetPosition(12, 12)
    caption.GetTextProperty().SetFontSize(18)
    caption.GetTextProperty().SetColor(0, 0, 0)
    renderer.AddViewProp(caption)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(700, 600)
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.SetViewUp(0, 0, 1)
    camera.SetPosition(0, -1, 0)
    camera.SetFocalPoint(0, 0, 0)
    renderer.ResetCamera()
    camera.Azimuth(25)
    camera.Elevation(15)
    camera.Zoom(1.1)
    renderer.ResetCameraClippingRange()
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(str(path))
    writer.SetInputConnection(grab.GetOutputPort())
    writer.Write()


def read(path):
    if os.path.isdir(path):
        return voxelmaps.read_dicom_series(path)
    voxelmaps.check_image_file(path)
    return itk.imread(path)


def find_vessels(options):
    ct = read(options.series)
    if ct.GetImageDimension() != 3:
        raise ValueError(f"{options.series} has {ct.GetImageDimension()} dimensions, but must have 3")
    # A seed of an array has its axes: z, y, x.
    strength = voxelmaps.fuzzy_connectedness(ct, options.seed[::-1])
    inside = itk.array_view_from_image(strength) >= np.float32(options.threshold)
    vessels = itk.image_from_array(inside.astype(np.uint8))
    vessels.CopyInformation(ct)
    count = int(inside.sum())
    if count <= 1:
        raise ValueError(
            f"no vessel is found: no voxel besides the seed has a strength of at least {options.threshold:g}; choose another seed, or a "
            "smaller threshold"
        )
    options.folder.mkdir(parents=True, exist_ok=True)
    itk.imwrite(strength, str(options.folder / "strength.nii.gz"))
    itk.imwrite(vessels, str(options.folder / "vessels.nii.gz"))
    surface = surface_of(strength, options.threshold)
    volume = count * np.prod(list(itk.spacing(ct))) / 1000
    text = f"{volume:.1f} ml, strength at least {options.threshold:g}"
    render(surface, text, options.folder / "vessels.png")
    limits = (options.threshold, 1)
    figure = voxelmaps.show(
        ct, {"strength": strength}, vessels, limits=limits, window=options.window, caption=text, margin=20
    )
    figure.savefig(options.folder / "slice.png", dpi=150)
    print(f"{count} voxels, {volume:.1f} ml, surface of {surface.GetNumberOfPolys()} triangles")


def index(text):
    values = [int(i) for i in text.split(",")]
    if len(values) != 3:
        raise ValueError
    return values


def window(text):
    low, high = map(float, text.split(","))
    return low, high


def strength(text):
    value = float(text)
    if not 0 < value < 1:
        raise ValueError
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", help="folder with one DICOM series, or any 3D image")
    parser.add_argument(
        "folder", type=pathlib.Path, help="where to write strength.nii.gz, vessels.nii.gz, vessels.png and slice.png"
    )
    parser.add_argument("--seed", type=index, required=True, help="zero-based index x,y,z of a voxel in a vessel")
    parser.add_argument(
        "--threshold", type=strength, default=0.4, help="strength of the weakest voxels, between 0 and 1 (default: 0.4)"
    )
    parser.add_argument("--window", type=window, help="intensities that are black and white, such as --window=-150,350")
    options = parser.parse_args()
    try:
        find_vessels(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"vessels_from_dicom.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
