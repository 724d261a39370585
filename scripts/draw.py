#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Draw image files of results: maps, an object, labels, or the volume over the threshold of strengths, as a PNG file.

For demo.sh, which draws before the wheel is there; voxelmaps.show draws maps and labels in Python.
"""

import argparse
import math
import os
import sys

import numpy as np
import SimpleITK as sitk
from matplotlib.colors import ListedColormap, LogNorm, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

# Without a display, VTK renders through EGL.
if "DISPLAY" not in os.environ:
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
import vtk
from vtk.util import numpy_support

MARGIN, NAME_HEIGHT = 24, 36  # pixels
# Okabe and Ito's colors, which people with deficient color vision can tell apart; the first four differ in gray, too.
PALETTE = ["#e69e00", "#0073b2", "#f0e342", "#009e73", "#cc78a6", "#57b5e8", "#d65e00"]
# Their values span several powers of ten.
LOGARITHMIC = (
    "LowGrayLevelRunEmphasis",
    "ShortRunLowGrayLevelEmphasis",
    "LongRunLowGrayLevelEmphasis",
    "LongRunHighGrayLevelEmphasis",
)


class Picture:
    """A figure on which one unit is one pixel, x goes to the right and y goes down from below the title."""

    def __init__(self, width, height, title):
        self.top = MARGIN // 2 + (52 if title else 0)
        self.size = np.array([max(width, 15 * len(title)) + 2 * MARGIN, height + self.top + MARGIN])
        self.figure = Figure(figsize=self.size / 100, dpi=100)
        if title:
            self.text(title, 0, 32 - self.top, fontsize=20, weight="bold")

    def text(self, text, x, y, **style):
        position = (x + MARGIN) / self.size[0], 1 - (y + self.top) / self.size[1]
        self.figure.text(*position, text, verticalalignment="center", color="0.1", **style)

    def axes(self, x, y, width, height, name=""):
        # A letter is about 0.8 times as many pixels wide as the font has points: long names are smaller.
        self.text(name, x, y - NAME_HEIGHT / 2, fontsize=min(15, 1.2 * width / max(len(name), 1)), weight="bold")
        left, bottom = x + MARGIN, self.size[1] - self.top - y - height
        axes = self.figure.add_axes(
            (left / self.size[0], bottom / self.size[1], width / self.size[0], height / self.size[1])
        )
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        return axes

    def color_bar(self, image, x, y, height):
        ticks = None
        if isinstance(image.norm, LogNorm):
            # A wide range has room for powers of ten only.
            ticks = LogLocator(subs=(1, 2, 5) if image.norm.vmax < 2000 * image.norm.vmin else (1,))
        bar = self.figure.colorbar(image, cax=self.axes(x, y, 18, height), format="%g", ticks=ticks)
        bar.minorticks_off()
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=12)


def read(path, first=None, dimensions=(3,)):
    """An image whose axes point to the patient's left, back and head, on the grid of the first one; 2D as a single slice."""
    if os.path.isdir(path):
        path = sitk.ImageSeriesReader.GetGDCMSeriesFileNames(path)
    image = sitk.ReadImage(path)
    if image.GetDimension() not in dimensions:
        raise ValueError(f"{path} has {image.GetDimension()} dimensions")
    if image.GetDimension() == 2:
        image.SetDirection((1, 0, 0, 1))
        image = sitk.JoinSeries(image)
    image = sitk.DICOMOrient(image, "LPS")
    if first is not None and image.GetSize() != first.GetSize():
        raise ValueError(f"{path} and the image differ in size")
    return image


def percentiles(values, upper, is_logarithmic=False):
    values = values[np.isfinite(values) & ((values > 0) | (not is_logarithmic))]
    low, high = np.percentile(values, (1, upper)) if values.size else (1, 2)
    return (low, high) if low < high else (low, low + max(1, abs(low)))


def draw_scale_bar(axes, width, height):
    """1, 2 or 5 times a power of ten of millimeters at the lower left of axes whose units are millimeters."""
    decade = 10 ** math.floor(math.log10(width / 4))
    length = max(factor * decade for factor in (1, 2, 5) if factor * decade <= width / 4)
    bar = AnchoredSizeBar(
        axes.transData,
        length,
        f"{length:g} mm",
        "lower left",
        label_top=True,
        color="white",
        size_vertical=0.006 * width,
        fontproperties={"size": 13, "weight": "bold"},
        pad=0.2,
        borderpad=0.4,
        sep=4,
    )
    bar.patch.set(facecolor="black", edgecolor="none")
    axes.add_artist(bar)


def draw_slice(axes, plane, spacing, letters=None, **style):
    """A plane whose first row is at the top; with letters of the patient's directions and a scale bar."""
    height, width = np.multiply(plane.shape[:2], spacing)
    image = axes.imshow(plane, extent=(0, width, height, 0), aspect="auto", **style)
    if letters:
        marks = {"color": "0.9", "fontsize": 14, "weight": "bold", "ha": "center", "va": "center"}
        for letter, x, y in zip(letters, (0.025, 0.975, 0.5, 0.5), (0.5, 0.5, 0.97, 0.03)):
            axes.text(x, y, letter, transform=axes.transAxes, **marks)
        draw_scale_bar(axes, width, height)
    return image


def draw_maps(options):
    image = read(options.inputs[0], dimensions=(2, 3))
    if image.GetNumberOfComponentsPerPixel() > 1:
        # A gray picture, stored in colors.
        image = sitk.VectorIndexSelectionCast(image, 0)
    maps = read(options.inputs[1], image, dimensions=(2, 3))
    # DICOMOrient and JoinSeries keep no metadata.
    reader = sitk.ImageFileReader()
    reader.SetFileName(options.inputs[1])
    reader.ReadImageInformation()
    names = reader.GetMetaData("FeatureNames").split(",")
    spacing = image.GetSpacing()[1::-1]
    middle = image.GetSize()[2] // 2
    planes = [sitk.GetArrayFromImage(image)[middle], *np.moveaxis(sitk.GetArrayFromImage(maps)[middle], -1, 0)]

    # A whole number of pixels per voxel, so that voxels stay sharp.
    sizes = np.multiply(planes[0].shape, spacing)
    scale = max(1, round(400 * min(spacing) / max(sizes))) / min(spacing)
    height, width = np.rint(scale * sizes).astype(int)
    columns = 4
    panel = width + 100, height + NAME_HEIGHT + 22
    picture = Picture(columns * panel[0], math.ceil(len(planes) / columns) * panel[1], options.title)
    for i, (name, plane) in enumerate(zip(["Input", *names], planes)):
        is_logarithmic = name.split("_")[-1] in LOGARITHMIC
        norm = (LogNorm if is_logarithmic else Normalize)(*percentiles(plane, 99, is_logarithmic))
        x, y = i % columns * panel[0], i // columns * panel[1] + NAME_HEIGHT
        axes = picture.axes(x, y, width, height, name + ("  (log scale)" if is_logarithmic else ""))
        axes.set_facecolor("0.6")
        colors = "viridis" if i > 0 else "gray"
        drawn = draw_slice(axes, plane, spacing, norm=norm, cmap=colors, interpolation="none")
        # Files without a geometry, such as PNG, have voxels of 1 mm at the origin.
        if i == 0 and {*image.GetSpacing(), *image.GetOrigin()} != {1.0, 0.0}:
            draw_scale_bar(axes, sizes[1], sizes[0])
        picture.color_bar(drawn, x + width + 10, y, height)
    return picture


def make_grid(array, spacing, margin=0):
    """An image for VTK, which begins at the origin less a margin in voxels."""
    grid = vtk.vtkImageData()
    grid.SetDimensions(array.shape[::-1])
    grid.SetSpacing(spacing)
    grid.SetOrigin([-margin * s for s in spacing])
    grid.GetPointData().SetScalars(numpy_support.numpy_to_vtk(array.ravel(), deep=True))
    return grid


def make_surface(inside, spacing, color, opacity=1.0):
    """The smooth surface of voxels, for VTK."""
    contour = vtk.vtkFlyingEdges3D(compute_normals=False, compute_scalars=False)
    contour.SetValue(0, 0.5)
    # One voxel more on each side closes the surface.
    contour.SetInputData(make_grid(np.pad(inside, 1).astype(np.uint8), spacing, 1))
    # Smooths the steps between voxels; unlike blurring the object, it keeps parts that are one voxel thin.
    smooth = vtk.vtkWindowedSincPolyDataFilter(
        number_of_iterations=20, pass_band=0.08, normalize_coordinates=True, boundary_smoothing=False
    )
    smooth.SetInputConnection(contour.GetOutputPort())
    normals = vtk.vtkPolyDataNormals(splitting=False)
    normals.SetInputConnection(smooth.GetOutputPort())
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(normals.GetOutputPort())
    actor = vtk.vtkActor(mapper=mapper)
    properties = actor.GetProperty()
    properties.SetColor(to_rgb(color))
    properties.SetOpacity(opacity)
    properties.SetAmbient(0.15)
    properties.SetDiffuse(0.85)
    properties.SetSpecular(0.25)
    properties.SetSpecularPower(25)
    return actor


def make_planes(array, spacing, slices, region, window):
    """Slices across each axis within a region of the image, for VTK."""
    grid = make_grid(array, spacing)
    for axis, slice in enumerate(slices):
        mapper = vtk.vtkImageSliceMapper(orientation=axis, slice_number=slice, cropping=True)
        mapper.SetCroppingRegion(region)
        mapper.SetInputData(grid)
        plane = vtk.vtkImageSlice(mapper=mapper)
        plane.GetProperty().SetColorWindow(window[1] - window[0])
        plane.GetProperty().SetColorLevel((window[0] + window[1]) / 2)
        yield plane


def render(actors, width, height, camera_position, bounds=None, zoom=1.0):
    """A picture of a scene from a direction."""
    renderer = vtk.vtkRenderer(background=(1, 1, 1))
    for actor in actors:
        renderer.AddViewProp(actor)
    lights = vtk.vtkLightKit(key_light_intensity=0.9, key_to_fill_ratio=2.2)
    lights.AddLightsToRenderer(renderer)
    window = vtk.vtkRenderWindow(off_screen_rendering=True, multi_samples=8, size=(int(width), int(height)))
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.ParallelProjectionOn()
    camera.SetFocalPoint(0, 0, 0)
    camera.SetViewUp(0, 0, 1)
    camera.SetPosition(camera_position)
    bounds = bounds or renderer.ComputeVisiblePropBounds()
    renderer.ResetCamera(bounds)
    renderer.ResetCameraScreenSpace(bounds)
    camera.Zoom(zoom)
    renderer.ResetCameraClippingRange(bounds)
    window.Render()
    grab = vtk.vtkWindowToImageFilter(read_front_buffer=False)
    grab.SetInput(window)
    grab.Update()
    pixels = numpy_support.vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars())
    return pixels.reshape(int(height), int(width), 3)[::-1]


def draw_sections(picture, left, width, image, index, window, objects, colors, strokes=None, more=None):
    """An axial and a coronal slice through a voxel with the outlines of objects, and the values of an image beside them."""
    array, spacing = sitk.GetArrayFromImage(image), image.GetSpacing()
    y = NAME_HEIGHT
    for axis, name, letters in ((2, "Axial", "RLAP"), (1, "Coronal", "RLSI")):
        # Up is the front, or the head.
        cut = (lambda a: a[index[2]]) if axis == 2 else (lambda a: a[::-1, index[1]])
        across = spacing[1::-1] if axis == 2 else spacing[::-2]
        plane = cut(array)
        height = round(plane.shape[0] * across[0] * width / (plane.shape[1] * across[1]))
        place = f", {'xyz'[axis]} = {image.TransformIndexToPhysicalPoint(index)[axis]:.1f} mm"
        seeds = "" if strokes is None else ": labels, seeds black"
        axes = picture.axes(left, y, width, height, name + place + seeds)
        style = {"vmin": window[0], "vmax": window[1], "cmap": "gray"}
        draw_slice(axes, plane, across, letters, **style, interpolation="bilinear")
        x_of, y_of = ((np.arange(n) + 0.5) * s for n, s in zip(plane.shape[::-1], across[::-1]))
        black = [] if strokes is None else [(strokes, "black", 1)]
        for inside, color, opacity in [*((o, c, 0.35) for o, c in zip(objects, colors)), *black]:
            here = cut(inside)
            if here.any():
                tint = np.ma.masked_equal(here.astype(np.uint8), 0)
                draw_slice(axes, tint, across, cmap=ListedColormap([color]), alpha=opacity, interpolation="none")
                if opacity < 1:
                    axes.contour(x_of, y_of, here, [0.5], colors=[color], linewidths=1.5)
        if more is not None:
            values, limits = more
            axes = picture.axes(left + width + MARGIN, y, width, height, "Margin")
            drawn = draw_slice(
                axes, cut(values), across, vmin=limits[0], vmax=limits[1], cmap="viridis", interpolation="none"
            )
            if axis == 2:
                picture.color_bar(drawn, left + 2 * width + MARGIN + 10, y, height)
        y += height + NAME_HEIGHT


def height_of_sections(image, width):
    size = np.multiply(image.GetSize(), image.GetSpacing())
    return 2 * NAME_HEIGHT + round(width * size[1] / size[0]) + round(width * size[2] / size[0])


def window_of(array, options):
    """The window, and a text that says it."""
    window = options.window or percentiles(array, 99.5)
    return window, f"gray: {window[0]:g} to {window[1]:g} {options.unit}".rstrip()


def draw_object(options):
    image = read(options.inputs[0])
    array, spacing = sitk.GetArrayFromImage(image), image.GetSpacing()
    inside = sitk.GetArrayFromImage(read(options.inputs[1], image)) != 0
    if not inside.any():
        raise ValueError(f"{options.inputs[1]} has no voxel of an object")
    count = np.count_nonzero(inside)
    window, gray = window_of(array, options)
    width, scene_width = 560, 1000
    height = max(height_of_sections(image, width), 700)
    picture = Picture(scene_width + MARGIN + width, height, options.title)
    volume = count * np.prod(spacing) / 1000
    name = f"Object: {count} voxels, {volume:.4g} ml;  {gray}"

    # The slices meet behind the object, seen from its left front from above, and extend beyond it before it.
    camera = 0.366, -0.785, 0.5
    counts = [inside.sum(axis=tuple(d for d in range(3) if d != 2 - axis)) for axis in range(3)]
    first, last = zip(*((int(used[0]), int(used[-1])) for used in map(np.flatnonzero, counts)))
    margin = 0.15 * max((l - f + 1) * s for f, l, s in zip(first, last, spacing))
    region, bounds, slices = [], [], []
    for f, l, s, n, toward in zip(first, last, spacing, image.GetSize(), camera):
        more = math.ceil(margin / s)
        ends = (max(f - more, 0), l) if toward < 0 else (f, min(l + more, n - 1))
        region += ends
        bounds += [(ends[0] - 0.5) * s, (ends[1] + 0.5) * s]
        slices.append(l if toward < 0 else f)
    actors = [make_surface(inside, spacing, options.color)]
    actors += make_planes(array, spacing, slices, region, window)
    scene = render(actors, scene_width, height - NAME_HEIGHT, camera, bounds, zoom=1.1)
    picture.axes(0, NAME_HEIGHT, scene_width, height - NAME_HEIGHT, name).imshow(scene)
    index = [int(n.argmax()) for n in counts]
    draw_sections(picture, scene_width + MARGIN, width, image, index, window, [inside], [options.color])
    return picture


def draw_labels(options):
    image = read(options.inputs[0])
    array, spacing = sitk.GetArrayFromImage(image), image.GetSpacing()
    labels, margin = (sitk.GetArrayFromImage(read(path, image)) for path in options.inputs[1:])
    names = options.names.split(",")
    objects = [labels == i for i in range(1, len(names) + 1)]
    colors = PALETTE[: len(names)]
    volumes = [np.count_nonzero(inside) * np.prod(spacing) / 1000 for inside in objects]
    if len(names) > len(PALETTE) or not all(volumes):
        raise ValueError(
            f"{options.inputs[1]} does not have each of the labels 1 to {len(names)}, at most {len(PALETTE)}"
        )
    strokes = sitk.GetArrayFromImage(read(options.strokes, image))
    strokes = (strokes > 0) & (strokes <= len(names))
    window, gray = window_of(array, options)
    width, scene_width, legend = 520, 640, 30 * len(names) + 8
    height = height_of_sections(image, width)
    picture = Picture(scene_width + 2 * (width + MARGIN) + 90, height, options.title)
    # One can see through the largest one.
    actors = [
        make_surface(inside, spacing, color, 0.35 if volume == max(volumes) else 1.0)
        for inside, color, volume in zip(objects, colors, volumes)
    ]
    scene = render(actors, scene_width, height - NAME_HEIGHT - legend, (-0.35, -0.85, 0.4), zoom=1.1)
    axes = picture.axes(0, NAME_HEIGHT, scene_width, height - NAME_HEIGHT - legend, f"Surfaces;  {gray}")
    axes.imshow(scene)
    handles = [
        Patch(color=color, label=f"{name}, {volume:.0f} ml") for name, color, volume in zip(names, colors, volumes)
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), frameon=False, fontsize=14, borderaxespad=0)
    more = margin, (0, percentiles(margin, 99)[1])
    left = scene_width + MARGIN
    draw_sections(picture, left, width, image, options.slices, window, objects, colors, strokes, more)
    return picture


def draw_curve(options):
    image = read(options.inputs[0])
    milliliters = np.prod(image.GetSpacing()) / 1000
    strengths = np.sort(sitk.GetArrayFromImage(image), axis=None)
    strengths = strengths[strengths > 0]
    suggested = options.suggested

    def volume(threshold):
        return (strengths.size - np.searchsorted(strengths, threshold)) * milliliters

    # From the smallest strength on, but not much below the suggestion.
    thresholds = np.geomspace(max(strengths[0], 1e-4 * suggested), 1, 1000)
    picture = Picture(980, 620, options.title)
    axes = picture.axes(90, 44, 860, 500)
    axes.loglog(thresholds, np.maximum(volume(thresholds), milliliters), linewidth=3, color=PALETTE[1])
    axes.axvline(suggested, linewidth=2, color=PALETTE[0])
    text = f"suggested threshold {suggested:.3g}: {volume(suggested):.0f} ml"
    axes.text(1.2 * suggested, 0.6 * volume(0), text, fontsize=14, weight="bold")
    axes.set(xlim=(thresholds[0], 1), ylim=(milliliters, 2 * volume(0)))
    axes.grid(color="0.8")
    axes.tick_params(labelsize=12)
    axes.set_xlabel("threshold of the strength", fontsize=14, weight="bold")
    axes.set_ylabel("volume in ml", fontsize=14, weight="bold")
    return picture


def numbers(kind, count):
    def parse(text):
        values = [kind(value) for value in text.split(",")]
        if len(values) != count:
            raise ValueError
        return values

    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    for name, draw, inputs in (
        ("maps", draw_maps, "IMAGE MAPS"),
        ("object", draw_object, "IMAGE OBJECT"),
        ("labels", draw_labels, "IMAGE LABELS MARGIN"),
        ("curve", draw_curve, "STRENGTH"),
    ):
        kind = kinds.add_parser(name)
        kind.set_defaults(draw=draw)
        kind.add_argument("inputs", nargs=len(inputs.split()), metavar=tuple(inputs.split()))
        kind.add_argument("output", metavar="OUTPUT", help="picture to write (.png)")
        kind.add_argument("--title", default="", help="text above the picture")
        if name in ("object", "labels"):
            kind.add_argument(
                "--window", type=numbers(float, 2), metavar="LOW,HIGH", help="black and white intensities"
            )
            kind.add_argument("--unit", default="", help="unit of the intensities, such as HU")
        if name == "object":
            kind.add_argument("--color", default="#e24a33", help="color of the object (default: %(default)s)")
        if name == "labels":
            kind.add_argument("--names", required=True, help="names of the labels from 1 on; others are not drawn")
            kind.add_argument("--strokes", required=True, help="image of the seeds")
            kind.add_argument(
                "--slices", type=numbers(int, 3), required=True, metavar="X,Y,Z", help="voxel to cut through"
            )
        if name == "curve":
            kind.add_argument("--suggested", type=float, required=True, help="threshold to mark")
    options = parser.parse_args()
    try:
        options.draw(options).figure.savefig(options.output)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"draw.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
