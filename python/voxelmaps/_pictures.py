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

from . import _arrays, _masks
from ._files import library
from ._image import Image, check_axes, covered_part, in_order, is_image, is_xarray, opened, turned
from ._parameters import count, number, sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._types import Array, ImageLike, Integer, Number, Numbers, Path

# Inches, points, and the color of the contour of the mask.
_PANEL_WIDTH, _FONT_SIZE, _LINE_COLOR = 2.1, 7, "#ff9d2e"
# Colors of labels: those of Okabe and Ito, which people with any color vision distinguish, without black.
_COLORS = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
# A map of integers with more values is a map of numbers.
_MOST_LABELS = 255
_OPACITY = 0.65
# Limits of a figure: rows with one slice, and columns with several.
_MOST_ROWS, _MOST_COLUMNS = 5, 6
# In the picture of maps in a notebook.
_MOST_PANELS = 8
_PERCENTILES = (2, 98)


# --- Input -------------------------------------------------------------------------------------------------------------


def _check_matplotlib():
    library("matplotlib", "drawing pictures", extra="pictures")


def _opened(value, what):
    """What a value is, Opened, whose array is in host memory, with the axes z, y, x."""
    given = opened(in_order(value, None, what), what)
    if given.components_axis is not None:
        raise ValueError(f"{what} has several components; pass a dict of maps")
    array = _arrays.host_pixels(given.image.array, what)
    if array.ndim not in (2, 3):
        raise ValueError(f"{what} has the shape {array.shape}, but must have 2 or 3 axes")
    if array.size == 0:
        raise ValueError(f"{what} of shape {array.shape} has no voxels")
    return given._replace(image=given.image.with_array(array))


def _unplaced(array):
    """An image with the geometry of arrays and of PNG files, which says nothing."""
    n = array.ndim
    return Image(array, (1.0,) * n, (0.0,) * n, tuple(np.eye(n).ravel().tolist()))


def _load_image(value, spacing):
    what = "the image"
    if isinstance(value, Mapping):
        raise TypeError(
            f"{what} is a mapping of maps, which are the second argument: show(image, maps), or show(None, maps)"
        )
    given = _opened(value, what)
    image, array = given.image, given.image.array
    if spacing is not None:
        if image.spacing is not None and not is_xarray(value):
            raise ValueError(f"spacing is {spacing!r}, but {what} has a spacing: it is for arrays only")
        return _unplaced(array)._replace(spacing=tuple(sizes(spacing, array.ndim)[::-1]))
    if not is_image(value):
        remedies = "give its spacing, such as spacing=(1, 1, 1),", "draw a channel, such as image[..., 0]"
        check_axes(given, array.shape, *remedies)
    return image


def _volume(array):
    """An array of one slice for one of two dimensions."""
    return array[(np.newaxis,) * (3 - array.ndim)]


class _Map(NamedTuple):
    """A map as a volume, and the part of the image that it covers."""

    name: str
    array: np.ndarray
    part: tuple[slice, ...]

    def values(self, drawn):
        """Finite values of the voxels that are drawn; None for all."""
        values = self.array if drawn is None else self.array[drawn[self.part]]
        values = values[np.isfinite(values)]
        if values.size == 0:
            raise ValueError(f"the map {self.name} has no finite value to draw")
        return values

    def picture(self, z, drawn):
        """A slice on the grid of the image, masked where it is not drawn."""
        result = np.ma.masked_all(drawn.shape[1:], self.array.dtype)
        first, *part = self.part
        if first.start <= z < first.stop:
            array = self.array[z - first.start]
            result[tuple(part)] = np.ma.masked_array(array, ~drawn[z][tuple(part)] | ~np.isfinite(array))
        return result

    def labels(self):
        """Values other than 0 of a map of labels; None for a map of numbers."""
        if self.array.dtype.kind not in "iu" or self.array.min() < 0:
            return None
        values = np.unique(self.array[self.array > 0]).tolist()
        return values if len(values) <= _MOST_LABELS else None


def _load_maps(maps, image):
    """The maps that were given, with their parts of the image, or of the first map if there is none; and that image."""
    if maps is None:
        return [], image
    if is_xarray(maps) and "feature" in maps.dims:
        maps = {str(name): maps.isel(feature=i, drop=True) for i, name in enumerate(maps["feature"].values)}
    if hasattr(maps, "_asdict"):
        maps = {name: value for name, value in maps._asdict().items() if value is not None}
    if not isinstance(maps, Mapping):
        maps = {str(getattr(maps, "name", None) or "map"): maps}
    geometry, input_shape = getattr(maps, "geometry", None), getattr(maps, "input_shape", None)
    slices, order = () if image is None else getattr(maps, "slices", ()), getattr(maps, "order", None)
    if order is not None:
        slices, input_shape = (values and tuple(values[axis] for axis in order) for values in (slices, input_shape))
    result = []
    for name, value in maps.items():
        if str(name).startswith("diagnostics_"):
            continue
        what = f"the map {name}"
        one = _opened(turned(value, order), what).image
        one = one if geometry is None else Image(one.array, *geometry)
        image = one if image is None else image
        if image.array.ndim == one.array.ndim == len(slices):
            part = slices
            if input_shape not in (None, image.array.shape):
                raise ValueError(f"{what} is of an input of shape {input_shape}, but the image has {image.array.shape}")
        else:
            part = covered_part(image, one, what)
        result.append(_Map(str(name), _volume(one.array), (slice(0, 1), *part)[-3:]))
    if not result:
        raise ValueError("maps is empty, but must have at least one map; None is for the image alone")
    return result, image


def _load_mask(mask, label, image):
    """The mask on the grid of the image, as a volume of bool."""
    given = _opened(mask, "the mask").image
    inside = np.zeros(image.array.shape, bool)
    part = covered_part(image, given, "the mask")
    values = _arrays.array_of(given.array, "the mask")
    inside[part] = _masks.region(values, label, "the mask", image_name="image").array
    return _volume(inside)


def _voxels_of(maps, shape):
    """The voxels of maps without a mask. If all have one value in all of their corners, they were computed inside a mask, and that
    is the background, which is not drawn."""
    covered, inside, are_masked = np.zeros(shape, bool), np.zeros(shape, bool), True
    for one in maps:
        first = one.array.flat[0]
        background = np.isnan(one.array) if np.isnan(first) else one.array == first
        are_masked &= background[np.ix_([0, -1], [0, -1], [0, -1])].all()
        covered[one.part] = True
        inside[one.part] |= ~background
    return inside if are_masked and inside.any() else covered


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
    cases: Iterable[tuple[Any, Array | ImageLike | None]], percentiles: Sequence[Number] = _PERCENTILES
) -> dict[str, tuple[float, float]]:
    """Compute color limits for pictures of several cases, by map name, to be passed to show.

    Parameters
    ----------
    cases : list of pairs
        Maps and mask of each case, as in show; None for all voxels.
    percentiles : pair of float, default (2, 98)
        Percentiles of the values inside the masks of all cases together.

    Returns
    -------
    dict
        Two values for each map.

    Examples
    --------
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
        image = None if mask is None else _opened(mask, "the mask").image
        inside = None if mask is None else _load_mask(mask, None, image)
        for one in _load_maps(maps, image)[0]:
            values.setdefault(one.name, []).append(one.values(inside))
    return {name: _limits_of_values(np.concatenate(parts), percentiles) for name, parts in values.items()}


# --- Drawing -----------------------------------------------------------------------------------------------------------


def _wrapped(text, width):
    """Lines of so many inches, also of names such as glcm_JointEnergy. Letters are half as wide as high."""
    words = re.sub("(?<=_)(?=.)|(?<=[a-z])(?=[A-Z])", "\v", text)
    characters = int(width * 72 / (0.55 * _FONT_SIZE))
    return textwrap.fill(words, characters, replace_whitespace=False).replace("\v", "")


def _slices_of(wanted, drawn, is_volume):
    """Indices of slices; by default that of the voxel in the middle, which is drawn also if there are several parts."""
    if not is_volume and wanted is not None:
        raise ValueError(f"slice is {wanted!r}, but the image has 2 dimensions")
    if wanted is None:
        below = np.cumsum(np.count_nonzero(drawn, axis=(1, 2)))
        return [int(np.searchsorted(below, below[-1] / 2, side="right"))]
    try:
        indices = [operator.index(z) for z in (wanted if np.ndim(wanted) else [wanted])]
    except TypeError:
        raise TypeError(f"slice is {wanted!r}, but must be the index of a slice, or a list of them") from None
    if not indices:
        raise ValueError("slice is empty, but must have at least one index")
    for z in indices:
        if not 0 <= z < len(drawn):
            raise ValueError(f"slice is {z}, but the image has the slices 0 to {len(drawn) - 1}")
    return indices


def _box_of(drawn, heights, margin):
    """Slices of the rows and columns that are drawn, with a margin."""
    used = drawn.any(axis=0)
    ends = [np.flatnonzero(used.any(axis=1 - axis))[[0, -1]] for axis in (0, 1)]
    if margin is None:
        # A lesion fills half of the picture, and a small one is not alone.
        margin = max(10.0, *((last - first + 1) * size / 2 for (first, last), size in zip(ends, heights)))
    more = [math.ceil(min(margin / size, n)) for size, n in zip(heights, used.shape)]
    return tuple(slice(max(first - m, 0), last + m + 1) for (first, last), m in zip(ends, more))


def _flips(image):
    """Whether columns and rows of the picture are reversed: right, anterior and superior are at the left and at the top."""
    if image.spacing is None or image.array.ndim == 2:
        return False, False
    columns = np.reshape(image.direction, (3, 3)).T[:2]
    axes = [int(np.argmax(abs(column))) for column in columns]
    return tuple((column[axis] > 0) == (axis == 2) for column, axis in zip(columns, axes))


def _add_outline(axis, shape, color, width):
    if shape.any():
        x, y = (np.arange(-1, n + 1) for n in shape.shape[::-1])
        axis.contour(x, y, np.pad(shape, 1), [0.5], colors=[color], linewidths=width)


def _add_scale_bar(axis, columns, width):
    """A bar of 1, 2 or 5 times a power of ten mm, at most a third of the columns, which are so many mm wide."""
    from matplotlib.font_manager import FontProperties
    from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

    most = columns * width / 3
    power = 10.0 ** math.floor(math.log10(most))
    length = max(step * power for step in (1, 2, 5) if step * power <= most)
    style = {"color": "white", "label_top": True, "fontproperties": FontProperties(size=_FONT_SIZE)}
    bar = AnchoredSizeBar(axis.transData, length / width, f"{length:g} mm", "lower left", **style)
    bar.patch.set(facecolor="black", alpha=0.6, linewidth=0)
    axis.add_artist(bar)


def _add_color_bar(axis, mappable, values, name, panel_height):
    """A color bar below the picture, with arrows for values that are beyond its ends."""
    from matplotlib.ticker import MaxNLocator

    low, high = mappable.get_clim()
    extend = ("neither", "min", "max", "both")[bool((values < low).any()) + 2 * bool((values > high).any())]
    # An inset is as wide as the picture.
    inset = axis.inset_axes([0.05, -0.15 / panel_height, 0.9, 0.09 / panel_height])
    options = {"orientation": "horizontal", "ticks": MaxNLocator(4), "format": "%.6g", "extend": extend}
    axis.figure.colorbar(mappable, cax=inset, **options)
    inset.set_xlabel(name, fontsize=_FONT_SIZE)
    inset.tick_params(labelsize=_FONT_SIZE - 1, length=2, pad=1)


def _new_axes(rows, columns, is_single, aspect, names, legend, caption):
    """A figure and its axes; width and height of a panel in inches; the caption in lines.

    aspect     Height of a picture by its width.
    is_single  Whether all panels are of one slice, so that each has a color bar.
    legend     Texts of the legend.
    """
    from matplotlib.textpath import TextPath

    from ._figure import new_figure

    # As high as wide, or less; a single panel is larger.
    size = _PANEL_WIDTH * (1.5 if rows * columns == 1 else 1)
    height = min(max(aspect, 0.3), 1.4) * size
    width = min(max(height / aspect, 0.6 * size), size)
    total = max(columns * width, _PANEL_WIDTH)
    caption = _wrapped(caption, total)
    bar = 0.4 + 0.13 * max(_wrapped(name, width).count("\n") for name in ("", *names))
    all_rows = rows * (height + 0.2) + (rows if is_single else 1) * bar + 0.13 * caption.count("\n")
    if legend:
        # Glyphs of a screen are wider than their outlines.
        points = max(TextPath((0, 0), text, size=_FONT_SIZE).get_extents().width for text in legend) * 1.08
        total += _legend_columns(legend, all_rows) * (0.5 + points / 72)
    figure = new_figure(figsize=(total, all_rows + 0.2), layout="constrained")
    options = {"xticks": [], "yticks": [], "facecolor": "black", "anchor": "N"}
    return figure, figure.subplots(rows, columns, squeeze=False, subplot_kw=options), width, height, caption


def _legend_columns(legend, height):
    """The number of columns of a legend that is not higher than a figure, in inches."""
    return -(-len(legend) // max(int(height * 72 / (1.6 * _FONT_SIZE)), 1))


def _color(label, labels):
    """Color of a label: the same in all pictures with few labels."""
    k = label - 1 if labels[-1] <= len(_COLORS) else labels.index(label)
    return _COLORS[k] if k < len(_COLORS) else colorsys.hsv_to_rgb(0.13 + 0.618034 * k, 0.5 + 0.4 * (k % 2), 0.95)


def show(
    image: Array | ImageLike | Path | None,
    maps: Any = None,
    mask: Array | ImageLike | Path | None = None,
    slice: Integer | Sequence[Integer] | None = None,
    *,
    label: Any = None,
    spacing: Numbers | None = None,
    limits: Mapping[str, Sequence[Number]] | Sequence[Number] | None = None,
    window: Sequence[Number] | None = None,
    unit: str | None = None,
    label_names: Mapping[int, str] | None = None,
    outlines: bool = False,
    cmap: str = "viridis",
    margin: Number | None = None,
    columns: Integer | None = None,
    page: Integer = 1,
    caption: str = "",
) -> Figure:
    """Draw a slice of an image with the contour of the mask, and next to it the maps inside the mask.

    Right and anterior or superior are at the left and at the top, if the image has a direction and is in 3D. Of images with the
    origin 0, the spacing 1 and no direction, as those of arrays and PNG files have, sizes are not known.

    Parameters
    ----------
    image : array, image or path
        An array with the axes (y, x) or (z, y, x), or an image, as in feature_maps; None for maps alone.
    maps : array, image, FeatureMaps or dict, optional
        A map, or maps by name, as feature_maps, radiomics.execute and labels return them. They cover the image, or the part that their
        slices or their geometry say. Maps of integers, up to 255 different ones, and of bool are labels: they have a color each and a
        legend; 0 is not drawn.
    mask : array, image or path, optional
        The voxels inside, as in feature_maps. Default: all, except for the background of maps that were computed inside a mask, if all of
        their corners have it.
    slice : int or list of int, optional
        Index of a slice of the image, from 0, or of several, which are drawn as rows. Default: that in the middle of what is drawn.
    label : int or list of int, optional
        Label that is inside, if the mask has several, or a list of labels that are inside together.
    spacing : list of float, optional
        Size of a voxel of an array along each axis, in mm. Without it, there is no scale bar.
    limits : pair of float or dict, optional
        Values at the ends of the color map, for all maps or by name, such as those of map_limits. Default: the 2nd and the 98th
        percentile of the values that are drawn, in all slices.
    window : pair of float, optional
        Intensities that are black and white. Default: the 1st and the 99th percentile of what is drawn.
    unit : str, optional
        Unit of the intensities, such as "HU", which is written below the image.
    label_names : dict, optional
        Names of labels, for the legend.
    outlines : bool, default False
        Whether labels are drawn as outlines.
    cmap : str, default "viridis"
        Name of a color map of matplotlib. The default is perceptually uniform, also in gray.
    margin : float, optional
        Margin around the mask that is drawn, in mm (voxels, if the spacing is not known); math.inf for complete slices. Default: half of
        the extent of the mask, at least 10.
    columns : int, optional
        Number of panels in a row. Default: 4, or 6 for more than 12 panels; with several slices, up to 6.
    page : int, default 1
        Page of maps that do not fit into 5 rows, or one row per slice. The caption gives the number of pages.
    caption : str, default ""
        Text below the panels.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which notebooks display; figure.savefig("maps.png", dpi=300) writes it, or "maps.pdf" or "maps.svg". In scripts with
        a display, matplotlib.pyplot.show() opens windows.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, with the value and the rule.
    ImportError
        Without matplotlib, which the extra "pictures" installs.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.random.default_rng(0).normal(size=(9, 40, 40)).astype(np.float32)
    >>> mask = np.zeros(image.shape, bool)
    >>> mask[3:6, 10:30, 10:30] = True
    >>> maps = voxelmaps.feature_maps(image, mask, features=["firstorder_Mean", "glcm_Contrast"], bin_width=0.5)
    >>> figure = voxelmaps.show(image, maps, mask, spacing=(3, 1, 1), unit="HU")
    >>> figure.savefig("maps.png", dpi=300)
    """
    _check_matplotlib()
    from matplotlib.colors import from_levels_and_colors
    from matplotlib.patches import Patch

    grid = None if image is None else _load_image(image, spacing)
    listed, grid = _load_maps(maps, grid)
    if grid is None:
        raise TypeError("image and maps are None, but there must be something to draw")
    volume, is_volume = _volume(grid.array), grid.array.ndim == 3
    inside = None if mask is None else _load_mask(mask, label, grid)
    drawn = np.ones(volume.shape, bool)
    if inside is not None or listed:
        drawn = _voxels_of(listed, volume.shape) if inside is None else inside
    names = [one.name for one in listed]
    if limits is not None and not isinstance(limits, Mapping):
        limits = dict.fromkeys(names, limits)
    limits = {name: _pair(value, f"limits of {name}") for name, value in (limits or {}).items()}
    for name in set(limits) - set(names):
        raise ValueError(f"limits has {name!r}, but the maps are {', '.join(names)}")
    if margin is not None and not number(margin, "margin") >= 0:
        raise ValueError(f"margin is {margin!r}, but must be at least 0")
    label_names = {} if label_names is None else label_names
    if not isinstance(label_names, Mapping):
        rule = "a dict of names by label; an array of labels is one of the maps"
        raise TypeError(f"label_names is {reprlib.repr(label_names)}, but must be {rule}")
    slices = _slices_of(slice, drawn, is_volume)

    # Panels of this page, of which None is the image.
    if columns is None:
        columns = _MOST_COLUMNS if len(slices) > 1 or len(listed) > 11 else 4
    columns = int(count(columns, "columns", 1, 1000))
    per_page = max(columns * (1 if len(slices) > 1 else _MOST_ROWS) - (image is not None), 1)
    pages = max(-(-len(listed) // per_page), 1)
    first = (count(page, "page", 1, pages) - 1) * per_page
    if pages > 1:
        shown = f"maps {first + 1} to {min(first + per_page, len(listed))} of {len(listed)}, page {page} of {pages}"
        caption = f"{caption}; {shown}" if caption else shown
    panels = [None] * (image is not None) + listed[first : first + per_page]
    labels_of = [None if one is None else one.labels() for one in panels]
    all_labels = sorted(set().union(*filter(None, labels_of)))

    width, height = (1.0, 1.0) if grid.spacing is None else grid.spacing[:2]
    # Without a mask, maps over an image are drawn with all of it.
    box = _box_of(drawn, (height, width), math.inf if mask is None and image is not None else margin)
    pictures = [volume[z][box].astype(np.float32) for z in slices]
    if window is None:
        finite = np.concatenate([picture[np.isfinite(picture)] for picture in pictures])
        window = _limits_of_values(finite, (1, 99)) if finite.size else (0.0, 1.0)
    low, high = _pair(window, "window")

    is_single, aspect = len(slices) == 1, height / width
    columns = min(columns, len(panels)) if is_single else len(panels)
    rows = -(-len(panels) // columns) if is_single else len(slices)
    shape = pictures[0].shape
    legend = {each: label_names.get(each, str(each)) for each in all_labels}
    if all_labels:
        edges = [all_labels[0] - 0.5, *(np.add(all_labels[1:], all_labels[:-1]) / 2), all_labels[-1] + 0.5]
        label_map, label_norm = from_levels_and_colors(edges, [_color(each, all_labels) for each in all_labels])
    figure, axes, panel_width, panel_height, caption = _new_axes(
        rows, columns, is_single, aspect * shape[0] / shape[1], names, legend.values(), caption
    )
    for axis in axes.flat[len(slices) * len(panels) :]:
        axis.set_visible(False)

    def draw(axis, picture, **options):
        return axis.imshow(picture, interpolation="none", aspect=aspect, **options)

    flips = _flips(grid)
    has_sizes = spacing is not None or grid.spacing is not None and grid[1:] != _unplaced(grid.array)[1:]
    # Thin lines leave small parts visible.
    line_width = min(max(0.4 * 72 * _PANEL_WIDTH / shape[1], 0.35), 0.9)
    visible = set()
    for k, (one, own_labels) in enumerate(zip(panels, labels_of)):
        name, values = unit or "intensity", np.array(pictures)
        if one is not None:
            name = _wrapped(one.name, panel_width)
        if one is not None and own_labels is None:
            values = one.values(drawn)
            vmin, vmax = limits.get(one.name) or _limits_of_values(values, _PERCENTILES)
        for row, (z, picture) in enumerate(zip(slices, pictures)):
            axis = axes.flat[row * len(panels) + k]
            titles = [name] * (own_labels is not None and row == 0) + [f"slice {z}"] * (is_volume and k == 0)
            axis.set_title("\n".join(titles), fontsize=_FONT_SIZE)
            below = picture if image is not None else np.full(shape, np.nan)
            shown = draw(axis, below, cmap="gray", vmin=low, vmax=high)
            axis.autoscale(False)
            if one is None and inside is not None:
                for color, thickness in (("black", 2 * line_width), (_LINE_COLOR, line_width)):
                    _add_outline(axis, inside[z][box], color, thickness)
            elif own_labels is not None:
                overlay = one.picture(z, drawn)[box].filled(0)
                present = set(np.unique(overlay[overlay > 0]).tolist())
                visible |= present
                for each in present if outlines else ():
                    _add_outline(axis, overlay == each, _color(each, all_labels), 2 * line_width)
                if not outlines:
                    draw(axis, np.ma.masked_equal(overlay, 0), alpha=_OPACITY, cmap=label_map, norm=label_norm)
            elif one is not None:
                shown = draw(axis, one.picture(z, drawn)[box], cmap=cmap, vmin=vmin, vmax=vmax)
            if k == 0 and has_sizes:
                _add_scale_bar(axis, shape[1], width)
            axis.xaxis.set_inverted(flips[0])
            axis.yaxis.set_inverted(not flips[1])
        if own_labels is None:
            _add_color_bar(axis, shown, values, name, panel_height)
    if visible:
        patches = [Patch(color=_color(each, all_labels), label=legend[each]) for each in sorted(visible)]
        style = {"fontsize": _FONT_SIZE, "frameon": False, "loc": "upper left", "borderaxespad": 0}
        axes[0, -1].legend(
            handles=patches,
            bbox_to_anchor=(1.03, 1),
            ncols=_legend_columns(patches, figure.get_figheight() - 0.2),
            **style,
        )
    if caption:
        figure.supxlabel(caption, fontsize=_FONT_SIZE, x=0.02, ha="left")
    return figure


def picture_of_maps(maps: Any) -> bytes | None:
    """A PNG file of the first maps: a slice of their region; None without matplotlib, or if there is nothing to draw."""
    try:
        _check_matplotlib()
    except ImportError:
        return None
    from ._figure import close

    names = list(maps)[:_MOST_PANELS]
    arrays = [_arrays.array_of(maps[name], name).host() for name in names]
    if not arrays or arrays[0].size == 0 or arrays[0].ndim < 2 or not all(np.isfinite(each).any() for each in arrays):
        return None
    # The first image of a batch.
    n = min(arrays[0].ndim, 3) if maps.geometry is None else len(maps.geometry.spacing)
    arrays = [array.reshape(-1, *array.shape[-n:])[0] for array in arrays]
    more = f"{len(names)} of {len(maps)} maps" if len(names) < len(maps) else ""
    figure = show(None, type(maps)(names, arrays, (), maps.geometry), columns=4, caption=more)
    close(figure)
    return figure._repr_png_()  # type: ignore[attr-defined]
