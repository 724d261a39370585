# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps and labels over images, with matplotlib, for notebooks and papers."""

from __future__ import annotations

import colorsys
import math
import operator
import re
import reprlib
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _arrays, _regions
from ._image import Image, check_axes, covered_part, is_image, is_xarray, opened
from ._parameters import count, number, sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from ._types import Array, ImageLike, Integer, Number, Numbers, Path

# Powers of the unit of intensities.
_LINEAR = (
    "10Percentile 90Percentile InterquartileRange Maximum Mean MeanAbsoluteDeviation Median Minimum Range "
    "RobustMeanAbsoluteDeviation RootMeanSquared StandardDeviation"
).split()
_SQUARED = ("Energy", "TotalEnergy", "Variance")

# Inches, points, and the color of the contour of the mask.
_PANEL_WIDTH, _FONT_SIZE, _LINE_COLOR = 2.1, 7, "#ff9d2e"
# Of labels: those of Okabe and Ito, which people with any color vision distinguish, without black.
_COLORS = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
# A map of integers with more values is a map of numbers.
_MOST_LABELS = 255
_OPACITY = 0.65
# Of a figure with one slice, and with several.
_MOST_ROWS, _MOST_COLUMNS = 5, 6
# In the picture of maps in a notebook.
_MOST_PANELS = 8


class _Scene(NamedTuple):
    """An image in host memory, and what is known of its geometry."""

    # Without spacing, for arrays.
    image: Image
    # Whether sizes are in mm, and whether axes are those of a patient.
    has_sizes: bool = False
    has_letters: bool = False
    # Index of the first slice, as ITK counts.
    first: int = 0

    @classmethod
    def of(cls, image, has_axes=True, first=0):
        """With what the geometry says: that of images of arrays, and of PNG files, says nothing."""
        n = image.array.ndim
        identity = ((1.0,) * n, (0.0,) * n, tuple(np.eye(n).ravel().tolist()))
        is_known = image.spacing is not None and tuple(map(tuple, image[1:])) != identity
        return cls(image, is_known, is_known and has_axes and n == 3, first)

    @property
    def array(self):
        return self.image.array

    def sizes(self):
        """Width and height of a voxel."""
        return (1.0, 1.0) if self.image.spacing is None else self.image.spacing[:2]

    def position(self, z):
        """Position of a slice, as a text; empty if it is not known."""
        if not self.has_sizes:
            return ""
        normal = np.reshape(self.image.direction, (3, 3))[:, 2]
        axis = int(np.argmax(abs(normal)))
        normal = normal * np.sign(normal[axis])
        distance = float(normal @ self.image.point([0, 0, z])) + 0.0
        if normal[axis] > 1 - 1e-6:
            return f", {'xyz'[axis]} = {distance:.1f} mm"
        return f", {distance:.1f} mm along its normal"

    def letters(self):
        """Letters at the ends of the rows and of the columns, as pairs."""
        columns = np.reshape(self.image.direction, (3, 3)).T[:2]
        axes = [(int(np.argmax(abs(column))), column) for column in columns]
        return [("RAI"[a] + "LPS"[a])[:: 1 if column[a] > 0 else -1] for a, column in axes]


# --- Input -------------------------------------------------------------------------------------------------------------


def _matplotlib():
    try:
        import matplotlib
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install voxelmaps[pictures]") from None
    return matplotlib


def _order(axes):
    """Where z, y and x are among the axes of a DataArray; None if it has others."""
    axes = list(axes or ())
    return (
        [axes.index(axis) for axis in "zyx" if axis in axes] if sorted(axes) in (["x", "y"], ["x", "y", "z"]) else None
    )


def _scene_of(value, what, spacing=None, order=None):
    """The scene with the axes z, y, x, which arrays have in another order if a DataArray has."""
    given = opened(value, what)
    image = given.image
    if given.components_axis is not None:
        raise ValueError(f"{what} has several components; pass a dict of maps")
    array = _arrays.pixels_of(_arrays.array_of(image.array, what), what).host()
    if array.ndim not in (2, 3):
        raise ValueError(f"{what} has the shape {array.shape}, but must have 2 or 3 axes")
    if array.size == 0:
        raise ValueError(f"{what} of shape {array.shape} has no voxels")
    image, n = image.with_array(array), array.ndim
    order = _order(given.axes) if given.axes else order if image.spacing is None else None
    image = image.transposed(order) if order and len(order) == n else image
    if spacing is not None:
        if image.spacing is not None and not is_xarray(value):
            raise ValueError(f"spacing is {spacing!r}, but {what} has a spacing: it is for arrays only")
        image = Image(image.array, tuple(sizes(spacing, n)[::-1]), (0.0,) * n, tuple(np.eye(n).ravel().tolist()))
        return _Scene(image, True)
    region = getattr(value, "GetBufferedRegion", None)
    first = int(region().GetIndex()[2]) if region is not None and n == 3 else 0
    return _Scene.of(image, not is_xarray(value) or "direction" in value.attrs, first)


class _Map(NamedTuple):
    """A map, and the part of the image that it covers."""

    name: str
    array: np.ndarray
    part: tuple[slice, ...]

    def values(self, inside):
        """Finite values inside the mask."""
        values = self.array if inside is None else self.array[inside[self.part]]
        values = values[np.isfinite(values)]
        if values.size == 0:
            raise ValueError(
                f"the map {self.name} has no finite value" + ("" if inside is None else " inside the mask")
            )
        return values

    def picture(self, z, inside):
        """A slice on the grid of the image; masked outside the mask."""
        shape = inside.shape[-2:]
        result = np.ma.masked_array(np.zeros(shape, self.array.dtype), True)
        array, part = self.array, self.part
        if len(part) == 3:
            if not part[0].start <= z < part[0].stop:
                return result
            array, part, inside = array[z - part[0].start], part[1:], inside[z]
        result[part] = np.ma.masked_array(array, ~inside[part] | ~np.isfinite(array))
        return result

    def is_integral(self):
        return bool(np.all(self.array == np.rint(self.array)))

    def labels(self):
        """Values other than 0 of a map of labels; None for a map of numbers."""
        if self.array.dtype.kind not in "iu" or self.array.min() < 0 or self.array.max() > 65535:
            return None
        labels = np.flatnonzero(np.bincount(self.array.ravel().astype(np.uint16))).tolist()
        return [label for label in labels if label > 0] if len(labels) <= _MOST_LABELS else None


def _maps_of(maps, image, order=None):
    """The maps that were given, with their parts of the image, or of the first map; the caption that the settings of an extraction
    make; and the image, whose axes are z, y, x, and whose DataArray has this order."""
    if maps is None:
        return [], "", image
    if is_xarray(maps) and "feature" in maps.dims:
        maps = {str(name): maps.isel(feature=i, drop=True) for i, name in enumerate(maps["feature"].values)}
    if hasattr(maps, "_asdict"):
        maps = {name: value for name, value in maps._asdict().items() if value is not None}
    if not isinstance(maps, Mapping):
        maps = {str(getattr(maps, "name", None) or "map"): maps}
    settings = maps.get("diagnostics_Configuration_Settings") or {}
    bins = {"binWidth": "bin width"} if settings.get("binCount") is None else {"binCount": "bins"}
    names = {**bins, "kernelRadius": "kernel radius", "label": "label"}
    caption = ", ".join(f"{text} {settings[key]}" for key, text in names.items() if settings.get(key) is not None)
    slices, geometry = getattr(maps, "slices", ()), getattr(maps, "geometry", None)
    result, are_alone = [], image is None
    order = _order(getattr(maps, "axes", None)) if image is None else order
    input_shape = getattr(maps, "input_shape", None)
    if order and len(order) == len(slices) == len(input_shape):
        slices, input_shape = (tuple(each[axis] for axis in order) for each in (slices, input_shape))
    for name, value in maps.items():
        if str(name).startswith("diagnostics_"):
            continue
        what = f"the map {name}"
        one = _scene_of(value, what, order=order if geometry is None else None).image
        if geometry is not None:
            one = Image(one.array, *geometry)
            one = one.transposed(order) if order else one
        image = one if image is None else image
        if one is image or are_alone and one.array.shape == image.array.shape:
            part = tuple(slice(0, n) for n in one.array.shape)
        elif image.array.ndim == one.array.ndim == len(slices):
            part = slices
            if input_shape not in (None, image.array.shape):
                raise ValueError(f"{what} is of an input of shape {input_shape}, but the image has {image.array.shape}")
        else:
            part = covered_part(image, one, what)
        result.append(_Map(str(name), one.array, part))
    if not result:
        raise ValueError("maps is empty, but must have at least one map; None is for the image alone")
    return result, caption, image


def _inside(image, mask, label, order=None):
    """The mask on the grid of the image, as bool; None without a mask."""
    if mask is None:
        return None
    given = _scene_of(mask, "the mask", order=order).image
    inside = np.zeros(image.array.shape, bool)
    values = _arrays.array_of(given.array, "the mask")
    inside[covered_part(image, given, "the mask")] = _regions.region(
        values, label, "the mask", image_name="image"
    ).array
    return inside


def _region_of(maps, shape):
    """Where maps that were computed inside a mask have values, and not the background of all corners; None if there is none."""
    region = np.zeros(shape, bool)
    for one in maps:
        corners = one.array[np.ix_(*([0, -1] for _ in one.array.shape))]
        background = corners.flat[0]
        if not (np.isnan(corners).all() if background != background else (corners == background).all()):
            return None
        region[one.part] |= np.isfinite(one.array) & (one.array != background)
    return region if region.any() else None


# --- Limits ------------------------------------------------------------------------------------------------------------


def _pair(value, what, least=-math.inf, most=math.inf):
    rule = "two finite numbers, the smaller one first" + (f", from {least} to {most}" if most < math.inf else "")
    if isinstance(value, str) or np.shape(value) != (2,):
        raise TypeError(f"{what} is {value!r}, but must be {rule}")
    low, high = (number(v, what) for v in value)
    if not (math.isfinite(low) and math.isfinite(high) and least <= low < high <= most):
        raise ValueError(f"{what} is {value!r}, but must be {rule}")
    return low, high


def _limits_of_values(values, percentiles):
    low, high = (float(v) for v in np.percentile(values, percentiles))
    # All equal: a color in the middle.
    return (low, high) if low < high else (low - 0.5 * max(abs(low), 1), low + 0.5 * max(abs(low), 1))


def map_limits(
    cases: Iterable[tuple[Any, Array | ImageLike | None]], percentiles: Sequence[Number] = (2, 98)
) -> dict[str, tuple[float, float]]:
    """Color limits for pictures of several cases, by map name, to be passed to show.

    cases          Pairs of maps and mask of each case, as in show; None for all voxels.
    percentiles    Of the values inside the masks of all cases together.

    Examples

    >>> import numpy as np, voxelmaps
    >>> cases = [({"glcm_Contrast": np.full((3, 3), value)}, np.ones((3, 3))) for value in (1.0, 5.0)]
    >>> voxelmaps.map_limits(cases)
    {'glcm_Contrast': (1.0, 5.0)}
    """
    percentiles = _pair(percentiles, "percentiles", 0, 100)
    values: dict[str, list[np.ndarray]] = {}
    for case in cases:
        if isinstance(case, str) or not hasattr(case, "__len__") or len(case) != 2:
            raise TypeError("cases must be pairs of maps and mask, such as [(maps, mask)], or [(maps, None)]")
        maps, mask = case
        image = None if mask is None else _scene_of(mask, "the mask").image
        inside = None if mask is None else _inside(image, mask, None)
        for one in _maps_of(maps, image)[0]:
            values.setdefault(one.name, []).append(one.values(inside))
    return {name: _limits_of_values(np.concatenate(parts), percentiles) for name, parts in values.items()}


# --- Drawing -----------------------------------------------------------------------------------------------------------


def _characters(width):
    """How many characters are so many inches wide: letters are half as wide as high."""
    return int(width * 72 / (0.55 * _FONT_SIZE))


def _label_of(name, unit, width):
    """Name of a map and its unit, in lines of so many inches."""
    parts = name.split("_")
    feature, of_class = parts[-1], parts[-2] if len(parts) > 1 else ""
    intensity = unit or "intensity"
    lines = [""]
    for word in re.split("(?<=_)|(?<=[a-z])(?=[A-Z])", name.removeprefix("original_")):
        if lines[-1] and len(lines[-1] + word) > _characters(width):
            lines.append("")
        lines[-1] += word
    text = ""
    if feature.endswith("Entropy"):
        text = "(bits)"
    elif of_class == "firstorder" and feature in (*_LINEAR, *_SQUARED):
        power = "²" if feature in _SQUARED else ""
        text = f"({intensity}{power}{' mm³' if feature == 'TotalEnergy' else ''})"
    separator = " " if len(f"{lines[-1]} {text}") <= _characters(width) else "\n"
    return "\n".join(lines) + separator * bool(text) + text


def _slices_of(wanted, scene, region, maps):
    """Indices of the slices in the array of the image."""
    shape, first = scene.array.shape, scene.first
    if len(shape) == 2:
        if wanted is not None:
            raise ValueError(f"slice is {wanted!r}, but the image has 2 dimensions")
        return [0]
    if wanted is None:
        counts = np.zeros(shape[0], int)
        if region is not None:
            counts = np.count_nonzero(region, axis=(1, 2))
        for one in maps if region is None else ():
            counts[one.part[0]] += 1
        # The slice of the voxel in the middle, which is in the region, also if that has several parts.
        below = np.cumsum(counts if counts.any() else counts + 1)
        return [int(np.searchsorted(below, below[-1] / 2, side="right"))]
    try:
        indices = [operator.index(z) for z in (wanted if np.ndim(wanted) else [wanted])]
    except TypeError:
        raise TypeError(f"slice is {wanted!r}, but must be the index of a slice, or a list of them") from None
    if not indices:
        raise ValueError("slice is empty, but must have at least one index")
    for z in indices:
        if not first <= z < first + shape[0]:
            raise ValueError(f"slice is {z}, but the image has the slices {first} to {first + shape[0] - 1}")
    return [z - first for z in indices]


def _box_of(scene, inside, margin):
    """First and last index of rows and of columns to draw, as pairs: the mask and a margin."""
    shape = scene.array.shape[-2:]
    heights = scene.sizes()[::-1]
    used = inside if inside.ndim == 2 else inside.any(axis=0)
    bounds = [np.flatnonzero(used.any(axis=1 - axis))[[0, -1]] for axis in (0, 1)]
    extents = [(last - first + 1) * size for (first, last), size in zip(bounds, heights)]
    if margin is None:
        # A lesion fills half of the picture, and a small one is not alone.
        margin = max(max(extents) / 2, 10.0)
    # The same on all sides, also of a long mask, so that panels are not too narrow.
    box = []
    for (first, last), extent, size, n in zip(bounds, extents, heights, shape):
        more = (margin + max(0.0, 0.6 * max(extents) - extent) / 2) / size
        more = n if more >= n else math.ceil(more)
        box.append((max(int(first) - more, 0), min(int(last) + more, n - 1)))
    return box


def _contour(inside, width, height):
    """Edges between voxels inside and outside, as lines in mm."""
    padded = np.pad(inside, 1)
    lines = []
    for step, changes in (((1, 0), padded[1:] != padded[:-1]), ((0, 1), padded[:, 1:] != padded[:, :-1])):
        y, x = np.nonzero(changes)
        ends = np.stack([x - 0.5, y - 0.5], axis=1)
        lines.append(np.stack([ends - step, ends], axis=1))
    return np.concatenate(lines) * (width, height)


def _bar_length(width):
    """Length of a scale bar: 1, 2 or 5 times a power of ten, at most a third of the width."""
    power = 10.0 ** math.floor(math.log10(width / 3))
    return max(step * power for step in (1, 2, 5) if step * power <= width / 3)


def _draw_marks(axis, scene, width, flips):
    """Scale bar, and letters of the directions."""
    from matplotlib.patheffects import withStroke

    # Text has no outlines, which are paths: of an L of a few pixels, snapping can leave an I.
    outline = [withStroke(linewidth=3.5, foreground="black")]
    behind = {"facecolor": "black", "alpha": 0.6, "linewidth": 0, "pad": 1}
    style = {"color": "white", "transform": axis.transAxes, "fontsize": _FONT_SIZE, "bbox": behind}
    if scene.has_sizes:
        length = _bar_length(width)
        ends = [0.04, 0.04 + length / width]
        options = {"linewidth": 2, "solid_capstyle": "butt", "gid": "scale bar", "path_effects": outline}
        axis.plot(ends, [0.035, 0.035], color="white", transform=axis.transAxes, **options)
        axis.text(0.04, 0.07, f"{length:g} mm", va="bottom", **style)
    if scene.has_letters:
        (left, right), (top, bottom) = (pair[::-1] if flip else pair for pair, flip in zip(scene.letters(), flips))
        axis.text(0.03, 0.5, left, ha="left", va="center", **style)
        axis.text(0.97, 0.5, right, ha="right", va="center", **style)
        axis.text(0.5, 0.97, top, ha="center", va="top", **style)
        axis.text(0.5, 0.03, bottom, ha="center", va="bottom", **style)


def _add_bar(figure, mappable, axes, values, name, shrink):
    """A color bar below axes, with arrows for values that are beyond its ends."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    below, above = bool((values < mappable.norm.vmin).any()), bool((values > mappable.norm.vmax).any())
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
    # Panels without a bar are beside those with one, at the same height.
    place = {"location": "bottom", "shrink": shrink, "aspect": 20 * shrink, "pad": 0.02, "panchor": False}
    bar = figure.colorbar(mappable, ax=axes, extend=extend, **place)
    bar.set_label(name, fontsize=_FONT_SIZE)
    bar.locator = MaxNLocator(4)
    # Of a common factor, it is easy to miss the power.
    short = lambda value, _: re.sub("e([+-])0*", lambda m: "e" + m[1].strip("+"), f"{value + 0.0:.6g}")
    bar.formatter = FuncFormatter(short)
    bar.ax.tick_params(labelsize=_FONT_SIZE - 1, length=2, pad=1)
    bar.update_ticks()


def _color(label, labels):
    """Of a label: the same in all pictures with few labels."""
    k = label - 1 if labels[-1] <= len(_COLORS) else labels.index(label)
    return _COLORS[k] if k < len(_COLORS) else colorsys.hsv_to_rgb(0.13 + 0.618034 * k, 0.5 + 0.4 * (k % 2), 0.95)


def _wrapped(text, width):
    return "\n".join(textwrap.wrap(text, _characters(width)))


def show(
    image: Array | ImageLike | Path | None,
    maps: Any = None,
    mask: Array | ImageLike | Path | None = None,
    slice: Integer | Sequence[Integer] | None = None,
    *,
    label: Any = None,
    spacing: Numbers | None = None,
    limits: Mapping[str, Sequence[Number]] | Sequence[Number] | None = None,
    percentiles: Sequence[Number] = (2, 98),
    window: Sequence[Number] | None = None,
    unit: str | None = None,
    labels: Mapping[int, str] | None = None,
    outlines: bool = False,
    cmap: str = "viridis",
    margin: Number | None = None,
    columns: Integer | None = None,
    page: Integer = 1,
    caption: str | None = None,
    figure: Figure | SubFigure | None = None,
) -> Figure:
    """Draw a slice of an image with the contour of the mask, and next to it the maps inside the mask over the image.

    image          An array with the axes (y, x) or (z, y, x), an image of ITK, SimpleITK or nibabel, a DataArray, or the path of a
                   file. None for maps alone.
    maps           A map, or maps by name: what feature_maps, radiomics.execute and labels return, or a dict. They cover the image,
                   or the part of it that their slices or their geometry say. Maps of integers, up to 255 different ones, and of bool
                   are labels: they have a color each and a legend; 0 is no label. None for the image alone.
    mask           The voxels inside, in any form that feature_maps accepts. Without it, all voxels are.
                   Without a mask, the background of maps that were computed inside one is not drawn, if all of their corners have it.
    slice          Index of a slice of the image, from 0, or of several, which are drawn as rows. Default: that in the middle of the
                   mask, or of what is drawn of the maps.
    label          A label of the mask, or several, if it is a label map.
    spacing        Size of a voxel of an array along each axis, in mm. Without it, there is no scale bar.
    limits         Values at the ends of the color map: two numbers for all maps, or a dict of two numbers by name, such as
                   those of map_limits. Default: percentiles of the values that are drawn, in all slices.
    percentiles    For these limits.
    window         Intensities that are black and white. Default: the 1st and the 99th percentile of what is drawn.
    unit           Of intensities, such as "HU", for the image and for first order features.
    labels         Names of labels, for the legend; also draws maps of floats that are integers as labels.
    outlines       Whether labels are drawn as outlines.
    cmap           Name of a color map of matplotlib. The default one is perceptually uniform, also in gray.
    margin         What is drawn around the mask, in mm (voxels, if the spacing is not known). Default: half of its extent,
                   at least 10. math.inf draws complete slices.
    columns        Number of panels in a row. Default: 4, or 6 for more than 12 panels; with several slices, up to 6.
    page           Of maps that do not fit into 5 rows, or one row per slice: which page of them is drawn, from 1. The caption
                   gives the number of pages.
    caption        Below the panels. Default: the settings of the maps, if they have them.
    figure         Figure, or part of one that Figure.subfigures makes, to draw in.

    Letters indicate the patient's right and left, anterior, posterior, superior and inferior, if the image has a direction and is in
    3D. Right and anterior or superior are at the left and at the top. Of images with the origin 0, the spacing 1 and no direction,
    as those of arrays and PNG files have, neither directions nor sizes are known.

    Returns a matplotlib figure, which notebooks display; figure.savefig("maps.png", dpi=300) writes it, or "maps.pdf" or "maps.svg".
    In scripts with a display, matplotlib.pyplot.show() opens windows of the last 20 figures. Raises ValueError or TypeError, with the
    value and the rule, for invalid arguments, and ImportError without matplotlib, which the extra "pictures" installs.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.random.default_rng(0).normal(size=(9, 40, 40)).astype(np.float32)
    >>> mask = np.zeros(x.shape, bool)
    >>> mask[3:6, 10:30, 10:30] = True
    >>> maps = voxelmaps.feature_maps(x, mask, features=["firstorder_Mean", "glcm_Contrast"], bin_width=0.5)
    >>> figure = voxelmaps.show(x, maps, mask, spacing=(3, 1, 1), unit="HU")
    >>> [axis.get_xlabel() for axis in figure.axes if axis.get_xlabel()]
    ['HU', 'firstorder_Mean (HU)', 'glcm_Contrast']
    """
    matplotlib = _matplotlib()
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
    from matplotlib.patches import Patch

    from . import _figure

    if isinstance(image, Mapping):
        raise TypeError(
            "the image is a mapping of maps, which are the second argument: show(x, maps), or show(None, maps)"
        )
    scene = None if image is None else _scene_of(image, "the image", spacing)
    if scene is not None and spacing is None and not is_image(image):
        shape = scene.image.array.shape
        check_axes(
            opened(image, "the image"),
            shape,
            "give its spacing, such as spacing=(1, 1, 1),",
            "draw a channel, such as x[..., 0]",
        )
    order = _order(opened(image, "the image").axes) if is_xarray(image) else None
    listed, settings, grid = _maps_of(maps, None if scene is None else scene.image, order)
    if grid is None:
        raise TypeError("image and maps are None, but there must be something to draw")
    scene = scene or _Scene.of(grid)
    inside = _inside(grid, mask, label, order)
    names = [one.name for one in listed]
    if limits is not None and not isinstance(limits, Mapping):
        limits = dict.fromkeys(names, limits)
    limits = {name: _pair(value, f"limits of {name}") for name, value in (limits or {}).items()}
    for name in set(limits) - set(names):
        raise ValueError(f"limits has {name!r}, but the maps are {', '.join(names)}")
    percentiles = _pair(percentiles, "percentiles", 0, 100)
    window = None if window is None else _pair(window, "window")
    if cmap not in matplotlib.colormaps:
        raise ValueError(f"cmap is {cmap!r}, but must be the name of a color map of matplotlib, such as 'viridis'")
    if margin is not None and not number(margin, "margin") >= 0:
        raise ValueError(f"margin is {margin!r}, but must be at least 0")
    if labels is not None:
        numbers = labels if isinstance(labels, Mapping) and labels else [None]
        if not all(isinstance(each, (int, np.integer)) and each > 0 for each in numbers):
            rule = "a dict of names by label, which are integers above 0; an array of labels is one of the maps"
            raise ValueError(f"labels is {reprlib.repr(labels)}, but must be {rule}")
        for one in filter(_Map.is_integral, listed):
            missing = np.setdiff1d(one.array, [0, *labels])
            if missing.size:
                raise ValueError(f"the map {one.name} has the label {missing[0]:g}, but labels names {sorted(labels)}")
    everything = np.ones(grid.array.shape, bool)
    region = _region_of(listed, everything.shape) if inside is None and listed else inside
    drawn = everything if region is None else region
    slices = _slices_of(slice, scene, region, listed)

    if columns is None:
        columns = _MOST_COLUMNS if len(slices) > 1 or len(listed) > 11 else 4
    columns = count(columns, "columns", 1, 1000)
    per_page = max(columns * (1 if len(slices) > 1 else _MOST_ROWS) - (image is not None), 1)
    pages = max(-(-len(listed) // per_page), 1)
    first = (count(page, "page", 1, pages) - 1) * per_page
    caption = settings if caption is None else caption
    if pages > 1:
        shown = f"maps {first + 1} to {min(first + per_page, len(listed))} of {len(listed)}, page {page} of {pages}"
        caption = f"{caption}; {shown}" if caption else shown
    # None is the image.
    panels = [None] * (image is not None) + listed[first : first + per_page]

    # Maps alone are small in complete slices.
    zoomed = region if image is None else inside
    (top, bottom), (left, right) = (
        _box_of(scene, drawn, margin) if zoomed is not None else _box_of(scene, everything, 0.0)
    )
    width, height = scene.sizes()
    extent_x, extent_y = (right - left + 1) * width, (bottom - top + 1) * height
    of_map = [
        None if one is None else sorted(labels) if labels and one.is_integral() else one.labels() for one in panels
    ]
    ordered = sorted(set().union(*(each or [] for each in of_map)))
    present = set(ordered)
    if not labels:
        cut = np.s_[top : bottom + 1, left : right + 1]
        parts = [one.picture(z, drawn).filled(0)[cut] for one, each in zip(panels, of_map) if each for z in slices]
        present = set(np.unique(parts).tolist())
    legend = {each: labels[each] if labels else str(each) for each in ordered if each in present}

    columns = min(columns, len(panels)) if len(slices) == 1 else len(panels)
    rows = len(slices) if len(slices) > 1 else -(-len(panels) // columns)
    if figure is None or isinstance(figure, type):
        # As high as wide, or less; a single panel is larger.
        size = _PANEL_WIDTH * (1.5 if len(panels) * len(slices) == 1 else 1)
        panel_height = min(max(extent_y / extent_x, 0.3), 1.4) * size
        panel_width = max(min(panel_height * extent_x / extent_y, size), 0.6 * size)
        total = max(columns * panel_width, _PANEL_WIDTH)
        bar = 0.45 + 0.13 * max(_label_of(one.name if one else "", unit, panel_width).count("\n") for one in panels)
        bars, titles = (1, rows) if len(slices) > 1 else (rows, 1)
        lines = _wrapped(caption, total).count("\n") + 1 if caption else 0
        names = max(map(len, legend.values()), default=-7)
        size = (total + 0.4 + names * 0.057, rows * panel_height + bars * bar + 0.2 * titles + 0.13 * lines + 0.1)
        figure = (figure or _figure.new_figure)(figsize=size, layout="constrained")
        shrink = 0.9 * min(panel_height * extent_x / extent_y / panel_width, 1)
    else:
        panel_width, total, shrink = _PANEL_WIDTH, columns * _PANEL_WIDTH, 0.9
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(slices) * len(panels) :]:
        axis.set_visible(False)

    # Right, anterior and superior are at the left and at the top.
    flips = [letters[1] in "RAS" for letters in scene.letters()] if scene.has_letters else [False, False]

    def fill(axis, picture, norm, colors, **options):
        ends = ((-0.5) * width, (picture.shape[1] - 0.5) * width, (picture.shape[0] - 0.5) * height, -0.5 * height)
        axis.imshow(picture, cmap=colors, norm=norm, extent=ends, interpolation="none", aspect="equal", **options)

    # Thin lines leave small parts visible.
    line_width = min(max(0.4 * 72 * _PANEL_WIDTH / (right - left + 1), 0.35), 0.9)

    def outline(axis, shape, styles):
        for color, line_width in styles:
            style = {"colors": [color], "linewidths": line_width, "capstyle": "projecting"}
            axis.add_collection(LineCollection(_contour(shape, width, height), **style), autolim=False)

    pictures = [grid.array if grid.array.ndim == 2 else grid.array[z] for z in slices]
    if window is None:
        parts = np.concatenate([p[top : bottom + 1, left : right + 1].ravel() for p in pictures])
        parts = parts[np.isfinite(parts)]
        window = _limits_of_values(parts, (1, 99)) if parts.size else (0.0, 1.0)
    gray = Normalize(*window)
    values_of = {}
    for row, (z, picture) in enumerate(zip(slices, pictures)):
        for i, (one, own_labels) in enumerate(zip(panels, of_map)):
            axis = axes.flat[row * len(panels) + i]
            if image is not None:
                fill(axis, np.ma.masked_invalid(picture.astype(np.float32)), gray, "gray")
            axis.set_xlim(*((left - 0.5) * width, (right + 0.5) * width)[:: -1 if flips[0] else 1])
            axis.set_ylim(*((bottom + 0.5) * height, (top - 0.5) * height)[:: -1 if flips[1] else 1])
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_facecolor("black")
            axis.set_anchor("N")
            titles = [_label_of(one.name, unit, panel_width)] if own_labels is not None and row == 0 else []
            if i == 0:
                _draw_marks(axis, scene, extent_x, flips)
                title = f"slice {z + scene.first}{scene.position(z)}" if grid.array.ndim == 3 else ""
                titles += [_wrapped(title, panel_width)]
            axis.set_title("\n".join(filter(None, titles)), fontsize=_FONT_SIZE)
            if one is None:
                if inside is not None:
                    edges = inside if inside.ndim == 2 else inside[z]
                    outline(axis, edges, [("black", 2 * line_width), (_LINE_COLOR, line_width)])
                values, name = picture[np.isfinite(picture)], unit or "intensity"
                mappable = ScalarMappable(gray, "gray")
            elif own_labels is not None:
                overlay = one.picture(z, drawn)
                own = own_labels or [1]
                norm = BoundaryNorm([*(label - 0.5 for label in own), own[-1] + 0.5], len(own))
                own_colors = ListedColormap([_color(label, ordered or own) for label in own])
                overlay = np.ma.masked_where(overlay.filled(0) == 0, overlay)
                if outlines:
                    for label in own_labels:
                        outline(axis, overlay.filled(0) == label, [(_color(label, ordered), 2 * line_width)])
                else:
                    fill(axis, overlay, norm, own_colors, alpha=_OPACITY)
                continue
            else:
                if one.name not in values_of:
                    values_of[one.name] = one.values(region)
                values = values_of[one.name]
                if one.name not in limits:
                    limits[one.name] = _limits_of_values(values, percentiles)
                mappable = ScalarMappable(Normalize(*limits[one.name]), cmap)
                fill(axis, one.picture(z, drawn), mappable.norm, cmap)
                name = _label_of(one.name, unit, panel_width)
            if row == len(slices) - 1:
                _add_bar(figure, mappable, list(axes[:, i]) if len(slices) > 1 else axis, values, name, shrink)
    if legend:
        patches = [Patch(color=_color(label, ordered), label=text) for label, text in legend.items()]
        style = {"fontsize": _FONT_SIZE, "frameon": False, "loc": "upper left", "borderaxespad": 0}
        axes[0, -1].legend(handles=patches, bbox_to_anchor=(1.03, 1), ncols=-(-len(patches) // 40), **style)
    if caption:
        figure.supxlabel(_wrapped(caption, total), fontsize=_FONT_SIZE, x=0.02, ha="left")
    # Also of a part.
    return figure.canvas.figure


def picture_of_maps(maps: Mapping[str, Any]) -> bytes | None:
    """A PNG file of the first maps: a slice of their region; None without matplotlib, or if there is nothing to draw."""
    try:
        _matplotlib()
    except ImportError:
        return None
    from . import _figure

    names = list(maps)[:_MOST_PANELS]
    arrays = [_arrays.array_of(maps[name], name).host() for name in names]
    if not arrays or arrays[0].size == 0 or arrays[0].ndim < 2 or not all(np.isfinite(each).any() for each in arrays):
        return None
    # Of a batch, the first image.
    n = min(arrays[0].ndim, 3) if maps.geometry is None else len(maps.geometry.spacing)
    arrays = [array.reshape(-1, *array.shape[-n:])[0] for array in arrays]
    more = f"{len(names)} of {len(maps)} maps" if len(names) < len(maps) else ""
    figure = show(None, type(maps)(names, arrays, (), maps.geometry), columns=4, caption=more, figure=_figure.Figure)
    return figure._repr_png_()
