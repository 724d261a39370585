# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps over images, with matplotlib, for notebooks and papers."""

from __future__ import annotations

import io
import math
import operator
import os
import re
import sys
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _arrays, _regions
from ._image import Image, is_xarray, load
from ._maps import FeatureMaps
from ._parameters import count, number, sizes as spacing_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from ._types import Array, ImageLike, Integer, Number, Numbers, Path

# Powers of the unit of intensities.
_LINEAR = (
    "10Percentile 90Percentile InterquartileRange Maximum Mean MeanAbsoluteDeviation Median Minimum Range "
    "RobustMeanAbsoluteDeviation RootMeanSquared StandardDeviation"
).split()
_SQUARED = ("Energy", "TotalEnergy", "Variance")

# Inches, points, and colors that differ from all of the image and of the maps.
_PANEL_WIDTH, _FONT_SIZE, _LINE_COLOR = 2.1, 7, "#ff9d2e"
# Place in a color map.
_DARKEST_LABEL = 0.15
# Characters in a line of a name.
_LONG_NAME = 26


class _Grid(NamedTuple):
    """An image, and what is known of its geometry."""

    volume: ImageLike
    has_geometry: bool = False
    # Whether sizes are in mm, and whether axes are those of a patient.
    has_sizes: bool = False
    has_letters: bool = False
    # Index of the first slice, as its library counts.
    first: int = 0

    @property
    def array(self):
        return self.volume.array

    def position(self, z):
        """Position of a slice, as a text; empty if it is not known."""
        if not self.has_sizes:
            return ""
        normal = np.reshape(self.volume.direction, (3, 3))[:, 2]
        axis = int(np.argmax(abs(normal)))
        normal = normal * np.sign(normal[axis])
        distance = float(normal @ self.volume.point([0, 0, z])) + 0.0
        if normal[axis] > 1 - 1e-6:
            return f", {'xyz'[axis]} = {distance:.1f} mm"
        return f", {distance:.1f} mm along its normal"

    def letters(self):
        """Letters at the ends of the rows and of the columns, as pairs."""
        columns = np.reshape(self.volume.direction, (3, 3)).T[:2]
        axes = [(int(np.argmax(abs(column))), column) for column in columns]
        return [("RAI"[a] + "LPS"[a])[:: 1 if column[a] > 0 else -1] for a, column in axes]


# --- Input -------------------------------------------------------------------------------------------------------------


def _matplotlib():
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install voxelmaps[pictures]") from None
    if "IPython" in sys.modules:
        # Makes notebooks show figures.
        import matplotlib.pyplot  # noqa: F401
    return matplotlib


def _of_array(array, spacing, origin, direction, what):
    if array.ndim not in (2, 3):
        raise ValueError(f"{what} has the shape {array.shape}, but must have 2 or 3 axes")
    if array.size == 0:
        raise ValueError(f"{what} of shape {array.shape} has no voxels")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} has voxels of {array.dtype}, but they must be real numbers")
    array = array.view(np.uint8) if array.dtype == bool else array
    identity = tuple(np.eye(array.ndim).ravel().tolist())
    return Image(
        array,
        tuple(spacing or [1.0] * array.ndim),
        tuple(origin or [0.0] * array.ndim),
        tuple(direction or identity),
    )


def _of_xarray(value, what):
    dims = [dim for dim in ("z", "y", "x") if dim in value.dims]
    if set(dims) != set(value.dims) or len(dims) < 2:
        raise ValueError(f"{what} has the axes {', '.join(map(str, value.dims))}, but must have x and y, or x, y and z")
    value = value.transpose(*dims)
    spacing, origin = [], []
    for dim in reversed(dims):
        if dim not in value.coords:
            return _Grid(_of_array(np.asarray(value.values), None, None, None, what))
        positions = np.asarray(value.coords[dim].values, float)
        steps = np.diff(positions)
        step = float(steps.mean()) if len(steps) else 1.0
        if not (step > 0 and (abs(steps - step) <= 0.01 * step).all()):
            raise ValueError(f"the coordinates of axis {dim} of {what} must increase evenly")
        spacing.append(step)
        origin.append(float(positions[0]))
    direction = value.attrs.get("direction")
    if direction is not None:
        # As ITK stores it.
        direction = np.flip(np.asarray(direction, float)).ravel().tolist()
    volume = _of_array(np.asarray(value.values), spacing, origin, direction, what)
    return _Grid(volume, True, True, direction is not None and len(dims) == 3)


def _grid_of(value, what, spacing=None):
    """The image, array or file. Raises TypeError or ValueError if it is none."""
    module = type(value).__module__.partition(".")[0]
    if isinstance(value, (str, os.PathLike)) or (module in ("itk", "SimpleITK") and not isinstance(value, np.ndarray)):
        if spacing is not None:
            raise ValueError(f"spacing is {spacing!r}, but {what} has a spacing: it is for arrays only")
        volume, _ = load(value, what)
        if volume.array.ndim != len(volume.spacing):
            raise ValueError(f"{what} has several components; pass a dict of maps")
        is_known = (set(volume.spacing), set(volume.origin)) != ({1.0}, {0.0}) or (
            list(volume.direction) != np.eye(len(volume.spacing)).ravel().tolist()
        )
        first = 0
        if module == "itk" and len(volume.spacing) == 3:
            from ._itk import itk

            first = int(itk.output(value).GetBufferedRegion().GetIndex()[2])
        # The geometry of images of arrays, and of PNG files, says nothing.
        return _Grid(volume, True, is_known, is_known and len(volume.spacing) == 3, first)
    if is_xarray(value):
        if spacing is None:
            return _of_xarray(value, what)
        grid = _of_xarray(value.drop_vars(list(value.coords)), what)
        value = grid.array
    array = _arrays.array_of(value, what).host()
    if spacing is None:
        return _Grid(_of_array(array, None, None, None, what))
    sizes = spacing_of(spacing, array.ndim)
    return _Grid(_of_array(array, sizes[::-1], None, None, what), True, True)


def _part_of(image, other, what):
    """The part of the image that another one covers, as slices. Raises ValueError if it is on another grid."""
    shape, whole = other.array.shape, image.array.shape
    if not (image.has_geometry and other.has_geometry):
        if shape != whole:
            raise ValueError(f"{what} has the shape {shape}, but the image has {whole}")
        return tuple(slice(0, n) for n in whole)
    ours, theirs = image.volume, other.volume
    if len(shape) != len(whole):
        raise ValueError(f"{what} has {len(shape)} dimensions, but the image has {len(whole)}")
    for name, tolerance in (("spacing", 1e-3 * min(ours.spacing)), ("direction", 1e-3)):
        a, b = getattr(ours, name), getattr(theirs, name)
        if not np.allclose(a, b, rtol=0, atol=tolerance):
            raise ValueError(f"{what} has the {name} {_rounded(b)}, but the image has {_rounded(a)}: resample it")
    index = ours.index(theirs.origin)
    first = [round(i) for i in index]
    end = [f + n for f, n in zip(first, theirs.size)]
    if max(abs(i - f) for i, f in zip(index, first)) > 0.01 or min(first) < 0 or any(np.greater(end, ours.size)):
        raise ValueError(
            f"{what} begins at the index {_rounded(index)} of the image and has the size {theirs.size}, but must be a part of "
            f"the image, which has {ours.size}"
        )
    return tuple(slice(f, e) for f, e in zip(reversed(first), reversed(end)))


def _rounded(values):
    return tuple(round(float(value), 4) + 0.0 for value in values)


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


def _maps_of(maps, image):
    """The maps that were given, with their parts of the image, if there is one; and the caption that the settings of an
    extraction make."""
    if maps is None:
        return [], ""
    if is_xarray(maps) and "feature" in maps.dims:
        maps = {str(name): maps.isel(feature=i, drop=True) for i, name in enumerate(maps["feature"].values)}
    if not isinstance(maps, Mapping):
        maps = {str(getattr(maps, "name", None) or "map"): maps}
    settings = maps.get("diagnostics_Configuration_Settings") or {}
    bins = {"binWidth": "bin width"} if settings.get("binCount") is None else {"binCount": "bins"}
    names = {**bins, "kernelRadius": "kernel radius", "label": "label"}
    caption = ", ".join(f"{text} {settings[key]}" for key, text in names.items() if settings.get(key) is not None)
    result = []
    for name, value in maps.items():
        if str(name).startswith("diagnostics_"):
            continue
        what = f"the map {name}"
        geometry = maps.geometry if isinstance(maps, FeatureMaps) else None
        grid = _grid_of(value, what) if geometry is None else _Grid(Image(value, *geometry), True)
        if image is None:
            part = tuple(slice(0, n) for n in grid.array.shape)
        elif isinstance(maps, FeatureMaps) and len(maps.slices) == grid.array.ndim == image.array.ndim:
            part = maps.slices
            fits = tuple(s.stop - s.start for s in part) == grid.array.shape
            if not fits or any(s.stop > n for s, n in zip(part, image.array.shape)):
                raise ValueError(f"{what} covers {part} of its input, but the image has the shape {image.array.shape}")
        else:
            part = _part_of(image, grid, what)
        result.append(_Map(str(name), grid.array, part))
    if not result:
        raise ValueError("maps is empty, but must have at least one map; None is for the image alone")
    return result, caption


def _inside(image, mask):
    """The mask on the grid of the image, as bool; None without a mask."""
    if mask is None:
        return None
    grid = _grid_of(mask, "the mask")
    part = _part_of(image, grid, "the mask")
    inside = np.zeros(image.array.shape, bool)
    inside[part] = _regions.region(_arrays.array_of(grid.array, "the mask"), None, "the mask").array
    return inside


# --- Limits ------------------------------------------------------------------------------------------------------------


def _pair(value, what):
    rule = "two finite numbers, the smaller one first"
    if isinstance(value, str) or np.shape(value) != (2,):
        raise TypeError(f"{what} is {value!r}, but must be {rule}")
    low, high = (number(v, what) for v in value)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{what} is {value!r}, but must be {rule}")
    return low, high


def _percentiles(value):
    low, high = _pair(value, "percentiles")
    if low < 0 or high > 100:
        raise ValueError(f"percentiles is {value!r}, but must be from 0 to 100")
    return low, high


def _limits_of_values(values, percentiles):
    low, high = (float(v) for v in np.percentile(values, percentiles))
    # All equal: a color in the middle.
    return (low, high) if low < high else (low - 0.5 * max(abs(low), 1), low + 0.5 * max(abs(low), 1))


def map_limits(
    cases: Iterable[tuple[Any, Array | ImageLike | None]], percentiles: Sequence[Number] = (2, 98)
) -> dict[str, tuple[float, float]]:
    """Color limits for pictures of several cases, by map name, to be passed to show.

    cases          Pairs of maps and mask of each case, as show takes them; None for all voxels.
    percentiles    Of the values inside the masks of all cases together.

    Examples

    >>> import numpy as np, voxelmaps
    >>> cases = [({"glcm_Contrast": np.full((3, 3), value)}, np.ones((3, 3))) for value in (1.0, 5.0)]
    >>> voxelmaps.map_limits(cases)
    {'glcm_Contrast': (1.0, 5.0)}
    """
    percentiles = _percentiles(percentiles)
    values: dict[str, list[np.ndarray]] = {}
    for maps, mask in cases:
        grid = None if mask is None else _grid_of(mask, "the mask")
        inside = None if grid is None else _inside(grid, mask)
        for one in _maps_of(maps, grid)[0]:
            values.setdefault(one.name, []).append(one.values(inside))
    return {name: _limits_of_values(np.concatenate(parts), percentiles) for name, parts in values.items()}


# --- Drawing -----------------------------------------------------------------------------------------------------------


def _label_of(name, unit):
    """Name of a map and its unit."""
    parts = name.split("_")
    feature, of_class = parts[-1], parts[-2] if len(parts) > 1 else ""
    intensity = unit or "intensity"
    lines = [""]
    for word in re.split("(?<=_)|(?<=[a-z])(?=[A-Z])", name.removeprefix("original_")):
        if lines[-1] and len(lines[-1] + word) > _LONG_NAME:
            lines.append("")
        lines[-1] += word
    text = "\n".join(lines)
    if feature.endswith("Entropy"):
        return f"{text} (bits)"
    if of_class != "firstorder" or feature not in (*_LINEAR, *_SQUARED):
        return text
    power = "²" if feature in _SQUARED else ""
    return f"{text} ({intensity}{power}{' mm³' if feature == 'TotalEnergy' else ''})"


def _slices_of(wanted, image, inside, maps):
    """Indices of the slices in the array of the image."""
    shape, first = image.array.shape, image.first
    if len(shape) == 2:
        if wanted is not None:
            raise ValueError(f"slice is {wanted!r}, but the image has 2 dimensions")
        return [0]
    if wanted is None:
        counts = np.zeros(shape[0], int)
        if inside is not None:
            counts = np.count_nonzero(inside, axis=(1, 2))
        for one in maps if inside is None else ():
            counts[one.part[0]] += 1
        # The middle one of equal ones.
        best = np.flatnonzero(counts == counts.max())
        return [int(best[len(best) // 2])]
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


def _box_of(image, inside, margin):
    """First and last index of rows and of columns to draw, as pairs: the mask and a margin."""
    shape = image.array.shape[-2:]
    sizes = image.volume.spacing[1::-1]
    used = inside if inside.ndim == 2 else inside.any(axis=0)
    bounds = [np.flatnonzero(used.any(axis=1 - axis))[[0, -1]] for axis in (0, 1)]
    extents = [(last - first + 1) * size for (first, last), size in zip(bounds, sizes)]
    if margin is None:
        # A lesion fills half of the picture, and a small one is not alone.
        margin = max(max(extents) / 2, 10.0)
    # The same on all sides, also of a long mask, so that panels are not too narrow.
    box = []
    for (first, last), extent, size, n in zip(bounds, extents, sizes, shape):
        more = (margin + max(0.0, 0.6 * max(extents) - extent) / 2) / size
        more = n if more >= n else math.ceil(more)
        box.append((max(int(first) - more, 0), min(int(last) + more, n - 1)))
    return box


def _contour(inside, sizes):
    """Edges between voxels inside and outside, as lines in mm."""
    height, width = sizes
    padded = np.pad(inside, 1)
    lines = []
    for y, x in np.argwhere(padded[1:] != padded[:-1]):
        lines.append([((x - 1.5) * width, (y - 0.5) * height), ((x - 0.5) * width, (y - 0.5) * height)])
    for y, x in np.argwhere(padded[:, 1:] != padded[:, :-1]):
        lines.append([((x - 0.5) * width, (y - 1.5) * height), ((x - 0.5) * width, (y - 0.5) * height)])
    return lines


def _bar_length(width):
    """Length of a scale bar: 1, 2 or 5 times a power of ten, at most a third of the width."""
    power = 10.0 ** math.floor(math.log10(width / 3))
    return max(step * power for step in (1, 2, 5) if step * power <= width / 3)


def _draw_marks(axis, image, width, outline, flips):
    """Scale bar, and letters of the directions."""
    # Not outlines, which are paths: of an L of a few pixels, snapping can leave an I.
    behind = {"facecolor": "black", "alpha": 0.6, "linewidth": 0, "pad": 1}
    style = {"color": "white", "transform": axis.transAxes, "fontsize": _FONT_SIZE, "bbox": behind}
    if image.has_sizes:
        length = _bar_length(width)
        ends = [0.04, 0.04 + length / width]
        options = {"linewidth": 2, "solid_capstyle": "butt", "gid": "scale bar", "path_effects": outline}
        axis.plot(ends, [0.035, 0.035], color="white", transform=axis.transAxes, **options)
        axis.text(0.04, 0.07, f"{length:g} mm", va="bottom", **style)
    if image.has_letters:
        (left, right), (top, bottom) = (pair[::-1] if flip else pair for pair, flip in zip(image.letters(), flips))
        axis.text(0.03, 0.5, left, ha="left", va="center", **style)
        axis.text(0.97, 0.5, right, ha="right", va="center", **style)
        axis.text(0.5, 0.97, top, ha="center", va="top", **style)
        axis.text(0.5, 0.03, bottom, ha="center", va="bottom", **style)


def _wrapped(caption, columns):
    # Letters are half as wide as high.
    return "\n".join(textwrap.wrap(caption, int(_PANEL_WIDTH * max(columns, 2) * 72 / (0.55 * _FONT_SIZE))))


def _new_figure(rows, columns, slices, ratio, names, labels, caption):
    """A figure for panels whose heights have this ratio to their widths, in inches."""
    from matplotlib.figure import Figure

    panel = (_PANEL_WIDTH - 0.08) * min(max(ratio, 0.4), 2.5)
    bar = 0.45 + 0.13 * any(len(name) > _LONG_NAME for name in names)
    bars, titles = (1, rows) if slices > 1 else (rows, 1)
    lines = _wrapped(caption, columns).count("\n") + 1 if caption else 0
    width = _PANEL_WIDTH * max(columns, 2)
    if labels:
        width += 0.4 + max(map(len, labels.values())) * 0.6 * _FONT_SIZE / 72
    height = rows * panel + bars * bar + 0.2 * titles + 0.13 * lines + 0.1
    return Figure(figsize=(width, height), layout="constrained")


def _add_bar(figure, mappable, axes, values, name):
    """A color bar below axes, with arrows for values that are beyond its ends."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    below, above = bool((values < mappable.norm.vmin).any()), bool((values > mappable.norm.vmax).any())
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
    # Panels without a bar are beside those with one, at the same height.
    place = {"location": "bottom", "shrink": 0.9, "aspect": 18, "pad": 0.02, "panchor": False}
    bar = figure.colorbar(mappable, ax=axes, extend=extend, **place)
    bar.set_label(name, fontsize=_FONT_SIZE)
    bar.locator = MaxNLocator(4)
    # Of a common factor, it is easy to miss the power.
    short = lambda value, _: re.sub("e([+-])0*", lambda m: "e" + m[1].strip("+"), f"{value + 0.0:.6g}")
    bar.formatter = FuncFormatter(short)
    bar.ax.tick_params(labelsize=_FONT_SIZE - 1, length=2, pad=1)
    bar.update_ticks()


def show(
    image: Array | ImageLike | Path,
    maps: Any = None,
    mask: Array | ImageLike | Path | None = None,
    slice: Integer | Sequence[Integer] | None = None,
    *,
    spacing: Numbers | None = None,
    limits: Mapping[str, Sequence[Number]] | Sequence[Number] | None = None,
    percentiles: Sequence[Number] = (2, 98),
    window: Sequence[Number] | None = None,
    unit: str | None = None,
    labels: Mapping[int, str] | None = None,
    cmap: str = "viridis",
    margin: Number | None = None,
    columns: Integer = 4,
    caption: str | None = None,
    figure: Figure | SubFigure | None = None,
) -> Figure:
    """Draw a slice of an image with the contour of the mask, and next to it the maps inside the mask over the image.

    image          An image of ITK or SimpleITK, a DataArray with the axes x, y and perhaps z, an array with the axes (y, x) or
                   (z, y, x), or the path of a file.
    maps           A map, or maps by name: what feature_maps and radiomics.execute return, or a dict.
                   They cover the image, or the part of it that their slices or their geometry say. None for the image alone.
    mask           Its voxels other than 0 and NaN are inside. Without it, all voxels are.
    slice          Index of a slice of the image, from 0, or of several, which are drawn as rows. Default: that with the most
                   voxels inside.
    spacing        Size of a voxel of an array along each axis, in mm. Without it, there is no scale bar.
    limits         Values at the ends of the color map: two numbers for all maps, or a dict of two numbers by name, such as
                   those of map_limits. Default: percentiles of the values inside the mask, in all slices.
    percentiles    For these limits.
    window         Intensities that are black and white. Default: the 1st and the 99th percentile of what is drawn.
    unit           Of intensities, such as "HU", for the image and for first order features.
    labels         For maps of labels: their names, for a legend; 0 is no label.
    cmap           Name of a color map of matplotlib. The default one is perceptually uniform, also in gray.
    margin         What is drawn around the mask, in mm (voxels, if the spacing is not known). Default: half of its extent,
                   at least 10. math.inf draws complete slices.
    columns        Number of panels in a row, if there is one slice.
    caption        Below the panels. Default: the settings of the maps, if they have them.
    figure         Figure, or part of one that Figure.subfigures makes, to draw in.

    Letters say the patient's right and left, anterior, posterior, superior and inferior, if the image is one of ITK and SimpleITK in
    3D. Right and anterior or superior are at the left and at the top. Of images with the origin 0, the spacing 1 and no direction,
    as those of arrays and PNG files have, neither directions nor sizes are known.

    Returns a matplotlib figure; figure.savefig("maps.png", dpi=300) writes it, or "maps.pdf" or "maps.svg". Raises ValueError or
    TypeError, with the value and the rule, for invalid arguments, and ImportError without matplotlib, which the extra "pictures"
    installs.

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
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    grid = _grid_of(image, "the image", spacing)
    inside = _inside(grid, mask)
    listed, settings = _maps_of(maps, grid)
    percentiles = _percentiles(percentiles)
    names = [one.name for one in listed]
    of_name: Mapping[str, Sequence[Number]] = {}
    if isinstance(limits, Mapping):
        of_name = limits
        for name in limits:
            if name not in names:
                raise ValueError(f"limits has {name!r}, but the maps are {', '.join(names)}")
    elif limits is not None:
        of_name = dict.fromkeys(names, limits)
    limits_of = {name: _pair(value, f"limits of {name}") for name, value in of_name.items()}
    if window is not None:
        window = _pair(window, "window")
    if cmap not in matplotlib.colormaps:
        raise ValueError(f"cmap is {cmap!r}, but must be the name of a color map of matplotlib, such as 'viridis'")
    if margin is not None and not number(margin, "margin") >= 0:
        raise ValueError(f"margin is {margin!r}, but must be at least 0")
    columns = count(columns, "columns", 1, 1000)
    slices = _slices_of(slice, grid, inside, listed)
    drawn = np.ones(grid.array.shape, bool) if inside is None else inside
    (top, bottom), (left, right) = _box_of(grid, drawn, 0.0 if inside is None else margin)
    width, height = grid.volume.spacing[:2]
    outline = [withStroke(linewidth=3.5, foreground="black")]
    colors = matplotlib.colormaps[cmap]
    if labels is not None:
        if not labels or not all(isinstance(label, (int, np.integer)) and label > 0 for label in labels):
            raise ValueError(f"labels is {labels!r}, but must be a dict of names by label, which are integers above 0")
        ordered = sorted(labels)
        # In gray, too, they differ, and the darkest one differs from black.
        colors = matplotlib.colors.ListedColormap(colors(np.linspace(_DARKEST_LABEL, 1, len(ordered))))
        for one in listed:
            missing = np.setdiff1d(one.array, [0, *ordered])
            if missing.size:
                raise ValueError(f"the map {one.name} has the label {missing[0]:g}, but labels names {ordered}")

    panels = 1 + len(listed)
    columns = panels if len(slices) > 1 else min(columns, panels)
    rows = len(slices) if len(slices) > 1 else -(-panels // columns)
    extent_x, extent_y = (right - left + 1) * width, (bottom - top + 1) * height
    caption = settings if caption is None else caption
    if figure is None:
        figure = _new_figure(rows, columns, len(slices), extent_y / extent_x, names, labels, caption)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(slices) * panels :]:
        axis.set_visible(False)

    # Right, anterior and superior are at the left and at the top.
    flips = [False, False]
    if grid.has_letters:
        flips = [letters[1] in "RAS" for letters in grid.letters()]

    def draw(axis, picture, norm, colors):
        ends = ((-0.5) * width, (picture.shape[1] - 0.5) * width, (picture.shape[0] - 0.5) * height, -0.5 * height)
        return axis.imshow(picture, cmap=colors, norm=norm, extent=ends, interpolation="none", aspect="equal")

    pictures = [grid.array if grid.array.ndim == 2 else grid.array[z] for z in slices]
    if window is None:
        parts = np.concatenate([p[top : bottom + 1, left : right + 1].ravel() for p in pictures])
        parts = parts[np.isfinite(parts)]
        window = _limits_of_values(parts, (1, 99)) if parts.size else (0.0, 1.0)
    gray = matplotlib.colors.Normalize(*window)
    for row, (z, picture) in enumerate(zip(slices, pictures)):
        own = axes.flat[row * panels : (row + 1) * panels]
        shown = np.ma.masked_invalid(picture.astype(np.float32))
        edges = None if inside is None else _contour(inside if inside.ndim == 2 else inside[z], (height, width))
        for i, axis in enumerate(own):
            mappable = draw(axis, shown, gray, "gray")
            axis.set_xlim(*((left - 0.5) * width, (right + 0.5) * width)[:: -1 if flips[0] else 1])
            axis.set_ylim(*((bottom + 0.5) * height, (top - 0.5) * height)[:: -1 if flips[1] else 1])
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_facecolor("black")
            axis.set_anchor("N")
            if i > 0:
                one = listed[i - 1]
                overlay = one.picture(z, drawn)
                if labels is not None:
                    norm = matplotlib.colors.Normalize(-0.5, len(ordered) - 0.5)
                    overlay = np.ma.masked_array(
                        np.searchsorted(ordered, overlay.filled(0)),
                        np.ma.getmaskarray(overlay) | (overlay.filled(0) == 0),
                    )
                else:
                    values = one.values(inside)
                    if one.name not in limits_of:
                        limits_of[one.name] = _limits_of_values(values, percentiles)
                    norm = matplotlib.colors.Normalize(*limits_of[one.name])
                mappable = draw(axis, overlay, norm, colors)
                name = _label_of(one.name, unit)
            else:
                _draw_marks(axis, grid, extent_x, outline, flips)
                values, norm, name = picture[np.isfinite(picture)], gray, unit or "intensity"
                if edges:
                    # Thin lines leave small parts visible.
                    points = 72 * _PANEL_WIDTH / (right - left + 1)
                    line_width = min(max(0.4 * points, 0.35), 0.9)
                    for color, line_width in (("black", 2 * line_width), (_LINE_COLOR, line_width)):
                        style = {"colors": color, "linewidths": line_width, "capstyle": "projecting"}
                        axis.add_collection(LineCollection(edges, **style), autolim=False)
                if grid.array.ndim == 3:
                    axis.set_title(f"slice {z + grid.first}{grid.position(z)}", fontsize=_FONT_SIZE)
            if i > 0 and labels is not None:
                if row == 0:
                    axis.set_title(name, fontsize=_FONT_SIZE)
                if row == 0 and i == len(own) - 1:
                    patches = [
                        matplotlib.patches.Patch(color=colors(k), label=labels[value])
                        for k, value in enumerate(ordered)
                    ]
                    style = {"fontsize": _FONT_SIZE, "frameon": False, "loc": "upper left", "borderaxespad": 0}
                    axis.legend(handles=patches, bbox_to_anchor=(1.03, 1), **style)
                continue
            if row < len(slices) - 1:
                continue
            _add_bar(figure, mappable, list(axes[:, i]) if len(slices) > 1 else axis, values, name)
    if caption:
        figure.supxlabel(_wrapped(caption, columns), fontsize=_FONT_SIZE, x=0.02, ha="left")
    # Also of a part.
    return figure.canvas.figure


# In a notebook.
_MOST_PANELS = 8


def picture_of_maps(maps: FeatureMaps) -> bytes | None:
    """A PNG file of the first maps: one slice of each, with the percentiles of its colors; None if there is nothing to draw."""
    try:
        matplotlib = _matplotlib()
    except ImportError:
        return None
    from matplotlib.figure import Figure

    arrays = {name: _arrays.array_of(maps[name], name).host() for name in list(maps)[:_MOST_PANELS]}
    first = next(iter(arrays.values()), None)
    if first is None or first.size == 0 or first.ndim < 2:
        return None
    # Of a batch, the first image.
    dimension = min(first.ndim, 3) if maps.geometry is None else len(maps.geometry.spacing)
    arrays = {name: array.reshape(-1, *array.shape[-dimension:])[0] for name, array in arrays.items()}
    volume = next(iter(arrays.values()))
    ratio, z = 1.0, 0
    if dimension == 3:
        # Where the most is computed: outside of a mask, all values are the same.
        background = volume.ravel()[0]
        counts = [np.count_nonzero(np.isfinite(plane) & (plane != background)) for plane in volume]
        z = int(np.argmax(counts)) if max(counts) else len(volume) // 2
    if maps.geometry is not None:
        ratio = maps.geometry.spacing[1] / maps.geometry.spacing[0]
    columns = min(len(arrays), 4)
    rows = -(-len(arrays) // columns)
    height = _PANEL_WIDTH * min(max(ratio * volume.shape[-2] / volume.shape[-1], 0.4), 2.5) + 0.7
    figure = Figure(figsize=(_PANEL_WIDTH * max(columns, 2), rows * height + 0.2), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, (name, array) in zip(axes, arrays.items()):
        plane = array[z] if dimension == 3 else array
        values = plane[np.isfinite(plane)]
        limits = _limits_of_values(values, (2, 98)) if values.size else (0.0, 1.0)
        norm = matplotlib.colors.Normalize(*limits)
        mappable = axis.imshow(
            np.ma.masked_invalid(plane), cmap="viridis", norm=norm, aspect=ratio, interpolation="none"
        )
        axis.set_facecolor("black")
        axis.set_xticks([])
        axis.set_yticks([])
        _add_bar(figure, mappable, axis, values, _label_of(name, None))
    for axis in axes[len(arrays) :]:
        axis.set_visible(False)
    more = f", {len(arrays)} of {len(maps)} maps" if len(arrays) < len(maps) else ""
    text = (f"slice {z} of {len(volume)}" if dimension == 3 else "") + more
    if text:
        figure.supxlabel(text.removeprefix(", "), fontsize=_FONT_SIZE, x=0.02, ha="left")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()
