#!/usr/bin/env python3
# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""Segment the vessels of a CT, read from a DICOM series, by fuzzy connectedness, and render their surface.

One seed inside a vessel is enough: the mean and the variance of the vessel are estimated around it. VTK extracts and
renders the surface off-screen.
"""

import argparse
import os
import pathlib

import itk
import voxelmaps

# Without a display, VTK renders through EGL.
if "DISPLAY" not in os.environ:
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
import vtk
from vtk.util import numpy_support


def surface_of(strength, threshold):
    """Return the smoothed isosurface of the strength, in mm along the axes of the image."""
    array = itk.array_from_image(strength)
    grid = vtk.vtkImageData()
    grid.SetDimensions(*reversed(array.shape))
    grid.SetSpacing(*itk.spacing(strength))
    grid.GetPointData().SetScalars(numpy_support.numpy_to_vtk(array.ravel(), deep=True))
    contour = vtk.vtkFlyingEdges3D()
    contour.SetInputData(grid)
    contour.SetValue(0, threshold)
    smooth = vtk.vtkWindowedSincPolyDataFilter()
    smooth.SetInputConnection(contour.GetOutputPort())
    smooth.SetNumberOfIterations(15)
    smooth.SetPassBand(0.1)
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(smooth.GetOutputPort())
    normals.Update()
    return normals.GetOutput()


def render(surface, path):
    """Write a picture of a surface, seen from the front."""
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(surface)
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(0.75, 0.15, 0.12)
    actor.GetProperty().SetSpecular(0.3)
    renderer = vtk.vtkRenderer()
    renderer.AddActor(actor)
    renderer.SetBackground(1, 1, 1)
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
    camera.Zoom(1.3)
    renderer.ResetCameraClippingRange()
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(str(path))
    writer.SetInputConnection(grab.GetOutputPort())
    writer.Write()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", help="folder with one DICOM series, or any 3D image")
    parser.add_argument(
        "folder", type=pathlib.Path, help="where to write strength.nii.gz, vessels.nii.gz and vessels.png"
    )
    parser.add_argument("--seed", required=True, help="zero-based index x,y,z of a voxel in a vessel")
    parser.add_argument("--threshold", type=float, default=0.4, help="strength of the weakest voxels of the vessels")
    options = parser.parse_args()

    ct = voxelmaps.read_dicom_series(options.series) if os.path.isdir(options.series) else itk.imread(options.series)
    strength = itk.fuzzy_connectedness_image_filter(
        ct,
        seed=[int(i) for i in options.seed.split(",")],
        estimate_affinity_from_seeds=True,
    )
    vessels = itk.binary_threshold_image_filter(
        strength, lower_threshold=options.threshold, inside_value=1, ttype=(type(strength), itk.Image[itk.UC, 3])
    )
    options.folder.mkdir(parents=True, exist_ok=True)
    itk.imwrite(strength, str(options.folder / "strength.nii.gz"))
    itk.imwrite(vessels, str(options.folder / "vessels.nii.gz"))
    surface = surface_of(strength, options.threshold)
    render(surface, options.folder / "vessels.png")
    count = int((itk.array_view_from_image(vessels) == 1).sum())
    x, y, z = itk.spacing(ct)
    print(f"{count} voxels, {count * x * y * z / 1000:.1f} ml, surface of {surface.GetNumberOfPolys()} triangles")


if __name__ == "__main__":
    main()
