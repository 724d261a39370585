# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps: panels, colors, labels and positions against values computed by hand; all kinds of input; errors."""

import io
import math
import subprocess
import sys

import numpy as np
import pytest
import voxelmaps
from array_libraries import itk
from voxelmaps import _image

matplotlib = pytest.importorskip("matplotlib")

SHAPE = (6, 20, 30)


@pytest.fixture
def case():
    """An image, maps and a mask whose slice 3 has the most voxels."""
    image = np.random.default_rng(0).normal(100, 20, SHAPE).astype(np.float32)
    mask = np.zeros(SHAPE, bool)
    mask[2:5, 5:11, 8:18] = True
    mask[3, 11, 8:18] = True
    values = np.arange(image.size, dtype=np.float32).reshape(SHAPE)
    return image, {"firstorder_Mean": values, "glcm_Contrast": np.sqrt(values)}, mask


def volume(array, spacing=(0.7, 0.8, 5.0), origin=(-10.0, 20.0, 30.0), direction=np.eye(3)):
    return _image.Image(array, spacing, origin, tuple(np.array(direction, float).ravel().tolist()))


def itk_image(array, **geometry):
    return _image.to_itk(volume(array.astype(np.uint8) if array.dtype == bool else array, **geometry))


def panels(figure):
    """Axes with pictures, and the color bars below them."""
    drawn = [axis for axis in figure.axes if axis.get_visible()]
    return drawn, [bar for axis in drawn for bar in axis.child_axes]


def names_of(figure):
    return [bar.get_xlabel().replace("\n", "") for bar in panels(figure)[1]]


def overlay(axis):
    return axis.get_images()[1].get_array()


def overlay_colors(axis):
    """Colors of the labels over the image of a panel."""
    labels = axis.get_images()[1]
    return labels.to_rgba(labels.get_array(), labels.get_alpha())


def scale_bars(axis):
    return [each.txt_label.get_children()[0].get_text() for each in axis.artists]


def save(figure, kind="png"):
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=60)
    return file.getvalue()


def test_panels_and_limits(case):
    image, maps, mask = case
    figure = voxelmaps.show(image, maps, mask, spacing=(5, 0.8, 0.7), unit="HU", margin=3.5)
    assert names_of(figure) == ["HU", "firstorder_Mean", "glcm_Contrast"]
    drawn, _ = panels(figure)
    assert drawn[0].get_title() == "slice 3"
    # Around the mask are 3.5 mm: 5 voxels of 0.7 mm, or 4.4 of 0.8 mm, rounded up.
    box = np.s_[0:17, 3:23]
    for axis, one in zip(drawn[1:], maps.values()):
        np.testing.assert_allclose(axis.get_images()[1].get_clim(), np.percentile(one[mask], [2, 98]))
        np.testing.assert_array_equal(np.ma.getmaskarray(overlay(axis)), ~mask[3][box])
        np.testing.assert_array_equal(overlay(axis)[mask[3][box]], one[3][mask[3]])
        # The image is below.
        np.testing.assert_array_equal(axis.get_images()[0].get_array(), image[3][box])
        assert axis.get_aspect() == pytest.approx(0.8 / 0.7)
    # By default, half of the extent of the mask, or 10 mm.
    wide = np.zeros((4, 100, 100), bool)
    wide[1:3, 40:60, 30:70] = True
    for size, columns in ((1.0, 80), (0.1, 100)):
        axis = panels(voxelmaps.show(wide, None, wide, spacing=(1, size, size)))[0][0]
        assert axis.get_images()[0].get_array().shape[1] == columns
    # The contour is between voxels.
    edges = np.concatenate([path.vertices for path in drawn[0].collections[0].get_paths()])
    assert edges.min(axis=0).tolist() == [4.5, 4.5] and edges.max(axis=0).tolist() == [14.5, 11.5]


def test_scale_bar(case):
    image, maps, mask = case
    # A third of 21 mm is 7 mm.
    axis = panels(voxelmaps.show(image, maps, mask, spacing=(5, 0.8, 0.7), margin=math.inf))[0][0]
    assert scale_bars(axis) == ["5 mm"]
    (bar,) = axis.artists[0].size_bar.get_children()
    assert bar.get_width() == pytest.approx(5 / 0.7)
    # Without a spacing, none.
    for without in (image, itk.image_from_array(image)):
        assert not scale_bars(panels(voxelmaps.show(without, maps, mask))[0][0])


@pytest.mark.parametrize(
    "direction, flips",
    [
        (np.eye(3), (False, False)),
        # Rows to the right and columns to the front, as NIfTI files often have them.
        (np.diag([-1, -1, 1]), (True, True)),
        # Coronal slices from the back to the front, from the top; sagittal slices.
        ([[1, 0, 0], [0, 0, -1], [0, -1, 0]], (False, False)),
        ([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (False, True)),
    ],
)
def test_right_and_anterior_are_at_the_left_and_at_the_top(case, direction, flips):
    image, maps, mask = case
    axis = panels(voxelmaps.show(*(itk_image(array, direction=direction) for array in (image, mask))))[0][0]
    x, y = axis.get_xlim(), axis.get_ylim()
    assert (x[0] > x[1], y[0] < y[1]) == flips


def test_kinds_of_input(case, tmp_path):
    """All kinds draw the same."""
    image, maps, mask = case
    xarray = pytest.importorskip("xarray")

    def path(array):
        name = str(tmp_path / f"{array.dtype}{array.flat[7]}.nrrd")
        itk.imwrite(itk_image(array), name)
        return name

    kinds = [
        lambda array, to=to: to(volume(array)) for to in (_image.to_simpleitk, _image.to_nibabel, _image.to_xarray)
    ]
    expected = panels(voxelmaps.show(itk_image(image), maps, mask))[0]
    for convert in (itk_image, *kinds, path):
        values = [convert(image), {name: convert(one) for name, one in maps.items()}, convert(mask)]
        for one, other in zip(panels(voxelmaps.show(*values))[0], expected):
            np.testing.assert_array_equal(one.get_images()[-1].get_array(), other.get_images()[-1].get_array())
    # Names of axes say their order; in an image, arrays without names may have it.
    data = _image.to_xarray(volume(image))
    turned = data.transpose("x", "z", "y")
    drawn = panels(voxelmaps.show(data, turned))[0][1]
    np.testing.assert_array_equal(overlay(drawn), image[3])
    of_maps = voxelmaps.feature_maps(turned, features="firstorder_Mean", neighborhood_radius=0)
    for given in ((turned, None), (turned, of_maps)):
        drawn = panels(voxelmaps.show(*given, slice=3))[0][-1]
        np.testing.assert_array_equal(drawn.get_images()[-1].get_array(), image[3])
    assert names_of(voxelmaps.show(image.tolist(), maps["glcm_Contrast"], mask)) == ["intensity", "map"]
    stack, axes = np.stack(list(maps.values()), axis=-1), ("z", "y", "x", "feature")
    features = xarray.DataArray(stack, dims=axes, coords={"feature": list(maps)})
    assert names_of(voxelmaps.show(image, features, mask))[1:] == list(maps)
    # The whole image, in two dimensions.
    drawn = panels(voxelmaps.show(image[3], maps["glcm_Contrast"][3], spacing=(1, 2)))[0]
    assert drawn[0].get_title() == "" and drawn[0].get_aspect() == 0.5
    assert overlay(drawn[1]).shape == SHAPE[1:] and not np.ma.getmaskarray(overlay(drawn[1])).any()


def test_maps_of_a_part(case):
    """Maps that are cropped lie where their slices or their geometry say."""
    image, _, mask = case
    arguments = {"features": ["firstorder_Mean"], "neighborhood_radius": 1, "bin_width": 5}
    whole = voxelmaps.feature_maps(image, mask, **arguments)
    crop = voxelmaps.feature_maps(image, mask, crop="mask", **arguments)
    assert crop.array.shape[1:] == (5, 9, 12)
    moved = itk_image(image)
    mean = {"featureClass": {"firstorder": ["Mean"]}}
    of_class = voxelmaps.radiomics.execute(moved, itk_image(mask), binWidth=5, **mean)
    expected = overlay(panels(voxelmaps.show(image, whole, mask, margin=math.inf))[0][1])
    for given, maps in ((image, crop), (moved, crop), (moved, of_class)):
        found = overlay(panels(voxelmaps.show(given, maps, mask, margin=math.inf))[0][1])
        np.testing.assert_allclose(found[mask[3]], expected[mask[3]], rtol=1e-6)
        np.testing.assert_array_equal(np.ma.getmaskarray(found), ~mask[3])


def test_limits_of_several_cases(case):
    _, maps, mask = case
    image = np.zeros(SHAPE)
    other = {name: one + 500 for name, one in maps.items()}
    shared = voxelmaps.map_limits([(maps, mask), (other, None)], percentiles=(0, 100))
    assert list(shared) == list(maps)
    assert shared["firstorder_Mean"] == (500, 500 + image.size - 1)
    of_mask = voxelmaps.map_limits([(maps, mask)], (0, 100))
    assert of_mask["firstorder_Mean"] == (2 * 600 + 5 * 30 + 8, 4 * 600 + 10 * 30 + 17)
    for limits, expected in ((shared, list(shared.values())), ((0, 7.5), [(0, 7.5)] * 2)):
        axes, _ = panels(voxelmaps.show(image, maps, mask, limits=limits))
        assert [axis.get_images()[1].get_clim() for axis in axes[1:]] == expected
    # Equal values have limits too.
    axes, _ = panels(voxelmaps.show(image, image + 3, mask))
    assert axes[1].get_images()[1].get_clim() == (1.5, 4.5)


def legend_of(figure):
    (legend,) = [axis.get_legend() for axis in figure.axes if axis.get_legend()]
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in legend.get_texts()]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1 and min(box.y0 for box in boxes) >= 0
    return [text.get_text() for text in legend.get_texts()], [
        patch.get_facecolor()[:3] for patch in legend.get_patches()
    ]


def test_slices_as_rows_and_names_of_labels(case):
    image, _, mask = case
    labels = mask.astype(int)
    labels[:, 8:, :] *= 4
    names = {4: "rough: 2.1 ml, high LargeDependenceLowGrayLevelEmphasis", 1: "smooth"}
    options = {"slice": [2, 4], "label_names": names, "caption": "Two habitats", "margin": math.inf}
    figure = voxelmaps.show(image, {"habitats": labels}, mask, **options)
    axes, _ = panels(figure)
    assert [axis.get_title() for axis in axes] == ["slice 2", "habitats", "slice 4", ""]
    assert figure.get_supxlabel() == "Two habitats"
    texts, colors = legend_of(figure)
    assert texts == ["smooth", names[4]]
    for label, color in zip((1, 4), colors):
        found = overlay_colors(axes[3])[labels[4] == label]
        np.testing.assert_allclose(found, np.broadcast_to([*color, 0.65], found.shape))
    np.testing.assert_array_equal(overlay_colors(axes[3])[..., 3] == 0, labels[4] == 0)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
@pytest.mark.parametrize("present", [(1, 2, 4), (5, 100, 120), tuple(range(1, 101))])
def test_maps_of_integers_are_labels(present, dtype):
    labels = np.zeros((3, 60, 60), dtype)
    labels[1, :50, 10:50].flat = np.repeat(present, -(-2000 // len(present)))[:2000]
    figure = voxelmaps.show(labels * 2.5, {"labels": labels})
    axis = panels(figure)[0][1]
    names, colors = legend_of(figure)
    assert names == list(map(str, present)) and len(set(colors)) == len(present)
    for label, color in zip(present, colors):
        np.testing.assert_allclose(overlay_colors(axis)[labels[1] == label][0, :3], color)
    # In several pictures, the colors of few labels are the same.
    if max(present) <= 7:
        fewer = np.where(labels == present[0], 0, labels)
        assert legend_of(voxelmaps.show(labels, {"labels": fewer}))[1] == colors[1:]


def test_outlines_of_labels_and_maps_of_bool(case):
    image, maps, mask = case
    figure = voxelmaps.show(image, {"mask": mask, **maps}, outlines=True)
    assert legend_of(figure)[0] == ["1"] and names_of(figure) == ["intensity", *maps]
    axis = panels(figure)[0][1]
    assert len(axis.collections) == 1 and len(axis.images) == 1
    # A map of many integers is one of numbers.
    figure = voxelmaps.show(image, {"n": np.arange(image.size).reshape(SHAPE)})
    assert names_of(figure)[1] == "n" and not any(axis.get_legend() for axis in figure.axes)


def test_middle_of_the_mask(case):
    image = np.zeros((20, 8, 8))
    for ranges, middle in (([(3, 6)], 4), ([(3, 7)], 5), ([(1, 4), (15, 18)], 15), ([(0, 20)], 10)):
        mask = np.zeros(image.shape, bool)
        for first, end in ranges:
            mask[first:end, 2:5, 2:5] = True
        assert panels(voxelmaps.show(image, None, mask))[0][0].get_title() == f"slice {middle}"
    assert panels(voxelmaps.show(image))[0][0].get_title() == "slice 10"


@pytest.mark.parametrize("background", [0, -3.5, np.nan])
@pytest.mark.parametrize("crop", [None, "mask"])
def test_masked_maps_without_the_mask(case, crop, background):
    image, _, mask = case
    features = ["firstorder_Mean", "firstorder_Minimum"]
    options = {"features": features, "neighborhood_radius": 1, "background_value": background, "crop": crop}
    maps = voxelmaps.feature_maps(image, mask, **options)
    axes, _ = panels(voxelmaps.show(image, maps))
    assert axes[0].get_title() == "slice 3"
    for axis, name in zip(axes[1:], features):
        picture = axis.get_images()[1]
        np.testing.assert_array_equal(np.ma.getmaskarray(picture.get_array()), ~mask[3])
        assert picture.get_clim() == pytest.approx(np.percentile(maps[name][mask[maps.slices]], [2, 98]))
    # Without a mask, all is drawn.
    axes, _ = panels(voxelmaps.show(image, voxelmaps.feature_maps(image, features=features)))
    assert axes[0].get_title() == "slice 3" and not np.ma.getmaskarray(overlay(axes[1])).any()


def test_pages(case):
    image, maps, mask = case
    many = {f"map {i}": maps["glcm_Contrast"] for i in range(93)}
    found = []
    for page in range(1, 5):
        figure = voxelmaps.show(image, many, mask, page=page)
        found += names_of(figure)[1:]
        assert max(figure.get_size_inches()) < 16
        assert figure.get_supxlabel() == f"maps {29 * page - 28} to {min(29 * page, 93)} of 93, page {page} of 4"
    assert found == list(many)
    assert names_of(voxelmaps.show(image, many, mask, slice=[2, 3], columns=3, page=47)) == ["intensity", "map 92"]
    with pytest.raises(ValueError, match="page is 5, but must be an integer from 1 to 4"):
        voxelmaps.show(image, many, page=5)


@pytest.mark.parametrize("shape", [(40, 40), (80, 8), (8, 80)])
@pytest.mark.parametrize("number", [0, 1, 5])
def test_bars_are_not_wider_than_images(shape, number):
    image = np.random.default_rng(0).normal(size=shape)
    figure = voxelmaps.show(image, {f"map {i}": image for i in range(number)} or None)
    figure.draw_without_rendering()
    drawn, bars = panels(figure)
    for axis, bar in zip(drawn, bars):
        assert 0.5 < bar.get_window_extent().width / axis.get_window_extent().width <= 1


def test_values_that_are_not_finite(case):
    image, maps, mask = case
    values = maps["firstorder_Mean"].copy()
    values[3, 5, 8:10] = np.nan, np.inf
    axes, _ = panels(voxelmaps.show(image, values, mask))
    assert np.ma.count_masked(overlay(axes[1])) == overlay(axes[1]).size - mask[3].sum() + 2
    finite = values[mask & np.isfinite(values)]
    assert axes[1].get_images()[1].get_clim() == pytest.approx(np.percentile(finite, [2, 98]))


def test_segmentations_and_mappings(case):
    image, maps, _ = case
    labels = (image > np.median(image)).astype(np.uint8)
    figure = voxelmaps.show(image, voxelmaps.Segmentation(labels, strength=image))
    assert save(figure) == save(voxelmaps.show(image, {"labels": labels, "strength": image}))
    # Names are those of labels, not of strengths.
    figure = voxelmaps.show(image, voxelmaps.Segmentation(labels, image), label_names={1: "rim"})
    assert legend_of(figure)[0] == ["rim"]
    with pytest.raises(TypeError, match=r"show\(image, maps\), or show\(None, maps\)"):
        voxelmaps.show(maps)


def test_errors(case):
    image, maps, mask = case
    placed, components = itk_image(image), itk.image_from_array(np.zeros((4, 4, 4, 2), np.float32), is_vector=True)
    moved = itk_image(mask, origin=(0, 0, 0))
    for arguments, message in (
        ((image, maps, mask[1:]), r"the mask has the shape \(5, 20, 30\), but the image has \(6, 20, 30\)"),
        ((np.zeros((40, 40, 3)),), "whose last axis looks like 3 channels.*: draw a channel, such as image"),
        ((image, maps, mask & False), "no voxel of the mask is other than 0; it has only the value 0"),
        ((image, maps, image + 1e4), "swapped|threshold it first"),
        ((image, maps, mask * np.arange(1, 31, dtype=np.uint8)), "say which label"),
        ((image, {"a": image[0]}), r"the map a has the shape \(20, 30\), but the image has"),
        ((image, {"a": np.full(SHAPE, np.nan)}, mask), "the map a has no finite value to draw"),
        ((image, {}), "maps is empty, but must have at least one map"),
        ((None,), "image and maps are None"),
        ((image, maps, mask, 6), "slice is 6, but the image has the slices 0 to 5"),
        ((image, maps, mask, 1.5), "slice is 1.5, but must be the index of a slice"),
        ((image, maps, mask, []), "slice is empty"),
        ((image[0], None, None, 0), "slice is 0, but the image has 2 dimensions"),
        ((image[0, 0],), r"the image has the shape \(30,\), but must have 2 or 3 axes"),
        ((image[:0],), "the image of shape .* has no voxels"),
        ((image.astype(complex),), "the image has voxels of type complex128"),
        ((components,), "the image has several components"),
        ((placed, maps, moved), "the mask has the origin .*, but the nearest part of the image has .*: resample"),
        ((placed, maps, itk_image(mask, origin=(-9.3, 20, 30))), "begins at the index .* part of the image"),
        ((placed, itk_image(image, spacing=(1, 1, 1))), "the map map has the spacing .*: resample the map map"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^.*({message}).*$"):
            voxelmaps.show(*arguments)
    for options, message in (
        ({"limits": (3, 1)}, r"limits of firstorder_Mean is \(3, 1\), but must be two finite numbers"),
        ({"limits": 3}, "limits of firstorder_Mean is 3"),
        ({"limits": {"x": (1, 2)}}, "limits has 'x', but the maps are firstorder_Mean, glcm_Contrast"),
        ({"window": (math.nan, 1)}, "window is"),
        ({"cmap": "jetter"}, "jetter"),
        ({"margin": -1}, "margin is -1, but must be at least 0"),
        ({"columns": 0}, "columns is 0, but must be an integer from 1 to 1000"),
        ({"page": 2}, "page is 2, but must be an integer from 1 to 1"),
        ({"spacing": (1, 0, 1)}, "spacing is .*, but must be 3 positive numbers"),
        ({"label_names": mask}, "label_names is .*, but must be a dict of names"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            voxelmaps.show(image, maps, mask, **options)
    with pytest.raises(ValueError, match=r"spacing is \(1, 1, 1\), but the image has a spacing"):
        voxelmaps.show(placed, spacing=(1, 1, 1))
    with pytest.raises(ValueError, match=r"percentiles is \(2, 101\), but must be .* from 0 to 100"):
        voxelmaps.map_limits([(maps, mask)], (2, 101))


def test_without_matplotlib():
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy, voxelmaps
try:
    voxelmaps.show(numpy.ones((3, 3)))
except ImportError as error:
    print(error)
print(voxelmaps.map_limits([(numpy.eye(3), None)], (0, 100)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    message = 'drawing pictures needs matplotlib: pip install "voxelmaps[pictures]"'
    assert done.stdout.splitlines() == [message, "{'map': (0.0, 1.0)}"], done.stderr


PROGRAM = """
import matplotlib, numpy, voxelmaps
from matplotlib import pyplot
figures = [voxelmaps.show(numpy.eye(3)) for _ in range(9)]
print(len(pyplot.get_fignums()), pyplot.gcf() is figures[-1])
if matplotlib.get_backend() != "agg":
    figures[-1].show()
    pyplot.show()
"""
BACKEND = """
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
class FigureManager(FigureManagerBase):
    def show(self):
        print("shown")
    pyplot_show = classmethod(lambda cls, block=None: print("all shown"))
class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager
"""


@pytest.mark.parametrize(
    "backend, expected",
    [("agg", ["0 False"]), ("module://windows", ["9 True", "shown", "all shown"])],
)
def test_figures_of_scripts(backend, expected, tmp_path, monkeypatch):
    """Those with windows are shown by pyplot, which retains no others."""
    (tmp_path / "windows.py").write_text(BACKEND)
    monkeypatch.setenv("MPLBACKEND", backend)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.splitlines() == expected, done.stderr


def test_maps_as_results_of_cells(case):
    image, _, mask = case
    for x, inside in ((itk_image(image), mask), (image, mask), (image[3], mask[3]), (image[None], mask)):
        maps = voxelmaps.feature_maps(x, inside, features="glcm", background_value=np.nan, dimension=inside.ndim)
        assert maps._repr_png_().startswith(b"\x89PNG") and len(maps._repr_png_()) > 5000


def test_figures_of_notebooks(tmp_path):
    """One picture each, as the result of a cell or not, with and without %matplotlib inline."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    begin = "import numpy as np, voxelmaps\nx = np.eye(9)"
    cells = [
        begin,
        "figure = voxelmaps.show(x)\nfigure",
        "figure",
        "figure = voxelmaps.show(x)",
        "for _ in range(2):\n    voxelmaps.show(x)",
        "voxelmaps.feature_maps(x, features='firstorder_Mean')",
        "%matplotlib inline\nfigure = voxelmaps.show(x); figure",
        "import matplotlib; matplotlib.use('agg'); figure = voxelmaps.show(x); figure",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120).execute()
    pictures = [sum("image/png" in each.get("data", {}) for each in cell.outputs) for cell in book.cells]
    assert pictures == [0, 1, 1, 1, 2, 1, 1, 1]
