# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The plugin in windows of napari: strokes by napari's own functions, slices of all orientations, files, and rough treatment."""

import json
import os
import pathlib
import sys
import threading
import time

import numpy as np
import pytest
import voxelmaps

napari = pytest.importorskip("napari", reason="napari is not installed: pip install voxelmaps[napari]")
if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
    pytest.skip("there is no display for napari: run the tests by xvfb-run", allow_module_level=True)

from napari.layers._source import layer_source  # noqa: E402
from qtpy.QtWidgets import QApplication  # noqa: E402
from voxelmaps import _core, _image  # noqa: E402
from voxelmaps._feature_maps import CLASSES  # noqa: E402
from voxelmaps.napari import _layers, _maps, _widgets  # noqa: E402
from voxelmaps.napari._live import LiveLabels  # noqa: E402

EDGES = {"affinity": "absolute_difference", "competition": "iterative", "tie_rule": "distance", "adjacency": "face"}
SHAPE = (12, 20, 24)
TILT = np.array([[0.9, 0.1, 0, 3], [-0.1, 0.9, 0.2, -5], [0, -0.2, 0.9, 7], [0, 0, 0, 1]])
TILT[:3, :3] = np.linalg.qr(TILT[:3, :3])[0] * [2.5, 0.7, 0.7]


@pytest.fixture
def viewer():
    viewer = napari.Viewer(show=True)
    # Less to draw, without a graphics card.
    viewer.window.resize(400, 300)
    yield viewer
    viewer.close()
    run_window(0.2)


def run_window(seconds, is_busy=lambda: True):
    end = time.monotonic() + seconds
    while is_busy() and time.monotonic() < end:
        QApplication.instance().processEvents()
        time.sleep(0.001)
    QApplication.instance().processEvents()


def wait(is_busy):
    run_window(60, is_busy)
    assert not is_busy()


def image_array(shape=SHAPE, seed=0):
    random = np.random.default_rng(seed)
    return (random.integers(0, 60, shape) + 100 * (np.indices(shape).sum(0) > sum(shape) // 2)).astype(np.int16)


ARRAY, ONES = image_array(), np.ones(SHAPE, np.uint8)


def followed(viewer, images, strokes, **options):
    """LiveLabels after the first update, with a list of what was reported."""
    messages = []
    live = LiveLabels(viewer, images, strokes, EDGES, report=messages.append, **options)
    live.messages = messages
    wait(lambda: live.is_busy)
    return live


def live_labels(viewer, array=ARRAY, strokes_type=np.uint8, where={}, **options):
    """LiveLabels of an image with strokes of the labels 1 and 2."""
    image = viewer.add_image(array, name="image", rgb=array.shape[-1] == 3, **where)
    shape = array.shape[: image.ndim]
    strokes = viewer.add_labels(np.zeros(shape, strokes_type), name="strokes", **where)
    for label in (1, 2):
        strokes.paint(np.array(shape) * (2 * label - 1) // 4, label)
    return followed(viewer, [image], strokes, **options)


def assert_fresh(live, **parameters):
    """The layer of labels has what a new run of the same strokes gives."""
    wait(lambda: live.is_busy)
    images = _layers.image_of_channels(live.images)
    fresh = voxelmaps.labels(images, _layers.image_of(live.strokes), **{**live._parameters, **parameters})
    np.testing.assert_array_equal(live.labels.data, fresh.array)


def test_manifest_and_descriptions():
    npe2 = pytest.importorskip("npe2")
    manifest = npe2.PluginManifest.from_file(pathlib.Path(_layers.__file__).with_name("napari.yaml"))
    manifest.validate_imports()
    given = manifest.contributions
    used = {each.command for each in (*given.widgets, *given.readers, *given.sample_data)}
    assert {command.id for command in given.commands} == used
    names = _core.feature_names()
    assert set(_maps.descriptions()) == {f"{name}_{feature}" for name in CLASSES for feature in names[name]}


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize("where", ({}, {"scale": (3, 1, 0.5), "translate": (5, -2, 1)}, {"affine": TILT}))
def test_every_edit_in_slices_of_all_orientations(viewer, axis, where):
    live = live_labels(viewer, where=where)
    viewer.dims.order = (axis, *(other for other in range(3) if other != axis))
    strokes, near = live.strokes, np.array(SHAPE) // 4
    strokes.brush_size = 4
    for edit in (
        lambda: strokes.paint(near + 1, 3),
        lambda: strokes.paint(near + 1, 0),
        lambda: strokes.fill(np.array(SHAPE) * 3 // 4, 4),
        strokes.undo,
        strokes.undo,
        strokes.redo,
        lambda: strokes.paint_polygon([near, near + [0, 3, 0], near + [0, 3, 3]], 5),
        lambda: setattr(strokes, "data", np.where(strokes.data == 5, 0, strokes.data)),
    ):
        before = strokes.data.copy()
        edit()
        assert not np.array_equal(before, strokes.data)
        assert_fresh(live)
    for layer in (live.labels, viewer.layers["image"]):
        np.testing.assert_allclose(_layers.matrix_of(layer), _layers.matrix_of(strokes), atol=1e-12)


def test_edits_of_a_hidden_layer_of_strokes_and_a_hidden_margin(viewer):
    live = live_labels(viewer, has_margin=True)
    live.margin.visible, margin = False, live.margin.data.copy()
    before = live.labels.data.copy()
    live.strokes.paint((6, 2, 18), 3)
    assert_fresh(live)
    np.testing.assert_array_equal(live.margin.data, margin)
    live.margin.visible = True
    wait(lambda: live.is_busy)
    np.testing.assert_array_equal(live.margin.data, live._session.margin.array)
    assert not np.array_equal(live.margin.data, margin)
    live.strokes.visible = False
    live.strokes.undo()
    wait(lambda: not np.array_equal(live.labels.data, before))


def test_the_next_stroke_cancels_a_running_update_once(viewer):
    live = live_labels(viewer)
    session, compute = live._session, live._session.update
    has_started, may_go_on, is_canceled = threading.Event(), threading.Event(), threading.Event()

    def update(seeds, **parameters):
        has_started.set()
        assert may_go_on.wait(60)
        may_go_on.clear()
        if is_canceled.is_set():
            raise InterruptedError
        return compute(seeds, **parameters)

    session.update, session.cancel = update, is_canceled.set
    live.strokes.paint((4, 5, 9), 3)
    for position, cancels in ((4, True), (5, False)):
        wait(lambda: not has_started.is_set())
        has_started.clear()
        is_canceled.clear()
        live.strokes.paint((position, 12, 9), 4)
        assert is_canceled.is_set() == cancels
        may_go_on.set()
    wait(lambda: not has_started.is_set())
    may_go_on.set()
    assert_fresh(live)
    assert all(message.startswith("updated in") for message in live.messages)
    # Nor does a stroke cancel what is saved.
    assert not live._may_cancel


def test_ten_thousand_random_edits_end_in_labels_of_a_fresh_run(viewer):
    live, random = live_labels(viewer, has_margin=True), np.random.default_rng(7)
    strokes = live.strokes
    for number in range(1, 10001):
        kind, position = random.integers(20), random.integers(0, SHAPE)
        strokes.brush_size = int(random.integers(1, 4))
        if kind < 14:
            strokes.paint(position, 0 if kind < 7 else int(random.integers(1, 5)))
        elif kind < 15:
            strokes.fill(position, int(random.integers(1, 5)))
        else:
            (strokes.undo if kind < 18 else strokes.redo)()
        if number % 20 == 0:
            QApplication.instance().processEvents()
        if number % 2000 == 0:
            if not strokes.data.any():
                strokes.paint(position, 1)
            assert_fresh(live)
    assert len(np.unique(live.labels.data)) > 2


def test_channels_parameters_and_types(viewer):
    live = live_labels(viewer, strokes_type=np.int32)
    live.strokes.paint((6, 18, 5), 300)
    assert_fresh(live)
    assert live.labels.data.dtype == np.uint16 and not live.labels.editable
    other = viewer.add_image(image_array(seed=1))
    for images in ([*live.images, other], [other]):
        live.stop()
        live = followed(viewer, images, live.strokes)
        assert_fresh(live)
        live.change(False, affinity="homogeneity", estimation_radius=1, competition="relative", adjacency="full")
        assert_fresh(live)
        # A session retains its estimate until it is asked for another.
        moments = live._session.affinity
        live.strokes.paint((6, 10, 2), 300)
        assert_fresh(live, estimation_radius=2, **moments)
        live.reestimate()
        assert_fresh(live)
    assert_fresh(live_labels(viewer, np.stack([ARRAY] * 3, -1).astype(np.uint8)), components_axis=None)
    flat = live_labels(viewer, image_array((30, 40)), has_margin=True)
    assert_fresh(flat)
    assert flat.margin.data.shape == (30, 40) and flat.margin.data.max() > 0


@pytest.mark.parametrize(
    "images, seeds, where, text",
    (
        ([{"data": ARRAY}], np.zeros((4, 4, 4), np.uint8), {}, "has the size"),
        ([{"data": ARRAY}], ONES, {"scale": (1, 1, 2)}, "resample"),
        ([{"data": ARRAY}], np.full(SHAPE, -1, np.int16), {}, "from 0 to"),
        ([{"data": ARRAY}], np.full(SHAPE, 70000, np.int32), {}, "from 0 to"),
        ([{"data": np.full(SHAPE, np.inf)}], ONES, {}, "inf"),
        ([{"data": ARRAY[np.newaxis]}], ONES[np.newaxis], {}, "4 axes"),
        ([{"data": ARRAY}], ONES, {"shear": (0.5, 0, 0)}, "sheared"),
        ([{"data": ARRAY}, {"data": ARRAY, "scale": (1, 1, 2)}], ONES, {}, "has the spacing"),
        ([{"data": ARRAY}, {"data": np.stack([ONES] * 3, -1), "rgb": True}], ONES, {}, "RGB"),
    ),
)
def test_wrong_layers_are_reported_in_one_line(viewer, images, seeds, where, text):
    live = followed(viewer, [viewer.add_image(**each) for each in images], viewer.add_labels(seeds, **where))
    assert text in live.messages[-1] and "\n" not in live.messages[-1] and live.labels is None
    if text == "has the size":
        live.strokes.data = ONES
        assert_fresh(live)


def test_a_segmentation_is_refined(viewer):
    image = viewer.add_image(ARRAY)
    wrong = np.roll(ARRAY > 80, 2, 1).astype(np.uint8)
    segmentation = viewer.add_labels(wrong.copy(), name="from a network")
    widget = _widgets.LabelsWidget(viewer)
    widget.segmentation.value, widget.refine_distance.value = segmentation, 3
    widget.refine()
    assert widget.strokes.value is not segmentation
    refine = {"refine": wrong, "refine_distance": 3}

    def check(**parameters):
        wait(lambda: widget.live.is_busy)
        assert widget.status.value.startswith("updated in")
        strokes = widget.strokes.value.data
        expected = voxelmaps.labels(_layers.image_of(image), strokes, **parameters).array
        np.testing.assert_array_equal(widget.live.labels.data, expected)

    check(**refine)
    widget.strokes.value.paint((5, 8, 9), 2)
    widget.strokes.value.paint((9, 16, 20), 1)
    # The segmentation was copied.
    segmentation.data[...] = 1
    check(**refine)
    widget.segmentation.value = None
    widget.refine()
    check()


def test_layers_that_vanish_and_viewers_that_close(viewer):
    live = live_labels(viewer)
    live.strokes.data[:] = 0
    live.strokes.refresh()
    wait(lambda: live.is_busy)
    assert not live.labels.data.any()
    live.strokes.paint((2, 3, 3), 1)
    viewer.layers.remove(live.labels)
    assert_fresh(live)
    assert live.labels in viewer.layers
    live.strokes.paint((9, 15, 20), 2)
    run_window(5, lambda: live._task._worker is None)
    viewer.layers.remove(live.strokes)
    wait(lambda: live.is_busy)
    assert "removed" in live.messages[-1]

    other = napari.Viewer(show=True)
    live = live_labels(other)
    widget = _widgets.LabelsWidget(other)
    other.window.add_dock_widget(widget)
    widget.images.value, widget.is_live.value = live.images, True
    run_window(5, lambda: widget.live._task._worker is None)
    other.close()
    run_window(1)
    assert widget.is_closed and widget.live is None


def test_widget_of_labels_with_the_sample(viewer, tmp_path, monkeypatch):
    for layer in _layers.sample():
        viewer._add_layer_from_data(*layer)
    widget = _widgets.LabelsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    widget.save(tmp_path)
    assert "nothing to save" in widget.status.value
    widget.has_margin.value = widget.is_live.value = True
    wait(lambda: widget.live.is_busy)
    assert_fresh(widget.live)
    assert widget.status.value.startswith("updated in")
    organs = voxelmaps.sample_ct().organs.array
    assert ((widget.live.labels.data == 4) & (organs == 4)).sum() > 0.9 * (organs == 4).sum()
    limits = viewer.layers["margin"].contrast_limits
    assert limits == list(_layers.limits(widget.live.margin.data)) and limits[1] < widget.live.margin.data.max()
    picture = viewer.screenshot(canvas_only=True, flash=False)
    viewer.layers["labels"].visible = False
    assert not np.array_equal(picture, viewer.screenshot(canvas_only=True, flash=False))
    widget.affinity.value = "homogeneity"
    assert widget.estimation_radius.enabled and widget.live._parameters["estimation_radius"] == 2
    assert_fresh(widget.live)
    widget.save(tmp_path)
    wait(lambda: "saved 2 files" not in widget.status.value)
    # What is there is replaced if the user agrees.
    before, asked = {path: path.read_bytes() for path in tmp_path.iterdir()}, []
    widget.live.strokes.data[...] *= widget.live.strokes.data != 4
    for answer, text in (("No", "choose another output"), ("Yes", "saved 2 files")):
        buttons = _widgets.QMessageBox.StandardButton
        ask = lambda *texts: asked.append(texts[2]) or buttons[answer]
        monkeypatch.setattr(_widgets.QMessageBox, "question", ask)
        widget.report("")
        widget.save(tmp_path)
        wait(lambda: text not in widget.status.value)
        assert (before == {path: path.read_bytes() for path in tmp_path.iterdir()}) == (answer == "No")
    assert len(asked) == 2 and str(tmp_path) in asked[0] and asked[0].endswith("Replace it?")
    widget.add_strokes()
    assert widget.live.strokes is viewer.layers[-1] and not widget.live.strokes.data.any()
    widget.is_live.value = False
    assert widget.live is None


@pytest.mark.parametrize("direction", (np.linalg.qr(TILT[:3, :3])[0], np.diag((-1, -1, 1))))
def test_files_keep_their_geometry(viewer, tmp_path, direction):
    path, is_straight = str(tmp_path / "CT.nii.gz"), not direction[0, 1]
    geometry = voxelmaps._maps.Geometry((0.7, 0.8, 2.5), (-10.125, 20.3, 5.7), tuple(direction.ravel().tolist()))
    voxelmaps.FeatureMaps(["CT"], ARRAY[np.newaxis], (), geometry).save(path)
    array, arguments, kind = _layers.reader(path)(path)[0]
    with layer_source(path=path):
        layer = viewer.add_image(array, **arguments)
    of_file = _image.read(path, "x")
    assert kind == "image" and _layers.geometry_of(layer) == of_file[1:]
    np.testing.assert_allclose(_layers.image_of(layer).spacing, of_file.spacing)
    live = followed(viewer, [layer], viewer.add_labels(ONES, **_layers.placement(layer)))
    for saved in live.save(tmp_path):
        assert _image.read(saved, "x")[1:] == of_file[1:]
        assert _layers.reader(saved)(saved)[0][2] == "labels"
    # No longer the voxels of the file.
    layer.data = array + 1
    assert np.allclose(_layers.geometry_of(layer).direction, of_file.direction) == is_straight
    microns = viewer.add_image(array, scale=(500, 2, 2), units=("um",) * 3)
    np.testing.assert_allclose(_layers.image_of(microns).spacing, (0.002, 0.002, 0.5))


SETTINGS = {"features": ["glcm_Contrast", "glrlm_RunEntropy"], "neighborhood_radius": 2, "bin_width": 10}
MASKED = {**SETTINGS, "crop": "mask", "label": 2}
LARGE, MASK = image_array((40, 20, 24)), np.zeros((40, 20, 24), np.uint8)
MASK[3:30, 4:15, 5:20] = 2


def test_maps_by_parts_and_slices_are_those_of_the_volume(viewer):
    image, labels = viewer.add_image(LARGE, affine=TILT), viewer.add_labels(MASK, affine=TILT)
    for mask, settings in ((None, SETTINGS), (labels, MASKED)):
        *parts, maps = _maps.compute(image, mask, settings)
        expected = voxelmaps.feature_maps(LARGE, None if mask is None else MASK, **settings)
        np.testing.assert_array_equal(maps.array, expected.array)
        assert maps.slices == expected.slices and len(parts) > 9 and parts[-1] == 1.0 and parts == sorted(parts)
        for axis in range(3):
            _, one = _maps.compute(image, mask, settings, axis, expected.slices[axis].start + 3)
            np.testing.assert_array_equal(one.array, expected.array.take([3], axis + 1))


@pytest.fixture
def maps_widget(viewer):
    viewer.add_image(LARGE, name="image", affine=TILT)
    viewer.add_labels(MASK, name="mask", affine=TILT)
    widget = _widgets.MapsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    widget.bin_value.value, widget.features.value = 10, SETTINGS["features"]
    return widget


def test_preview_is_of_the_slice_that_is_shown(viewer, maps_widget):
    whole, image = voxelmaps.feature_maps(LARGE, **SETTINGS)["glcm_Contrast"], viewer.layers["image"]
    maps_widget.has_preview.value = True
    for axis in range(3):
        viewer.dims.order = (axis, *(other for other in range(3) if other != axis))
        inverse = np.linalg.inv(TILT)
        viewer.dims.set_point(axis, (7.2 - inverse[axis, 3]) / inverse[axis, axis])
        wait(lambda: maps_widget._preview.is_busy)
        shown = viewer.layers["preview"]
        index = int(image.world_to_data(_layers.matrix_of(shown)[:3, 3])[axis] + 0.5)
        np.testing.assert_array_equal(np.squeeze(image._slice.image.view), LARGE.take(index, axis))
        np.testing.assert_array_equal(shown.data, whole.take([index], axis))


def test_widget_of_maps(viewer, maps_widget, tmp_path):
    widget = maps_widget
    widget.search.value = "differences pairs"
    assert "glcm_DifferenceAverage" in widget.features.choices and "glcm_Id" not in widget.features.choices
    widget.search.value = ""
    widget.save(tmp_path)
    assert "nothing to save" in widget.status.value
    widget.mask.value, widget.mask_label.value = viewer.layers["mask"], 2
    widget.compute()
    wait(lambda: widget._volume.is_busy)
    expected = voxelmaps.feature_maps(LARGE, MASK, **MASKED)
    inside = np.where(MASK[expected.slices] == 2, expected["glrlm_RunEntropy"], np.nan)
    np.testing.assert_array_equal(viewer.layers["glrlm_RunEntropy"].data, inside)
    widget.save(tmp_path)
    wait(lambda: "saved" not in widget.status.value)
    np.testing.assert_array_equal(voxelmaps.read_maps(tmp_path).array, expected.array)
    record = json.loads((tmp_path / "provenance.json").read_text())
    assert {name: record["settings"].get(name) for name in MASKED} == {**MASKED, "features": None}
    assert [record["inputs"][name]["layer"] for name in ("image", "mask")] == ["image", "mask"]
    widget.mask_label.value = 7
    widget.compute()
    wait(lambda: widget._volume.is_busy)
    assert "no voxel of mask is 7" in widget.status.value
    widget.mask.value, widget.features.value, number = None, list(_maps.descriptions()), len(viewer.layers)
    widget.compute()
    run_window(60, lambda: not widget.progress.value or widget._volume.is_due)
    widget.cancel()
    wait(lambda: widget._volume.is_busy)
    assert widget.status.value == "canceled" and len(viewer.layers) == number
    widget.image.value = viewer.add_image(np.zeros((20, 20, 3), np.uint8), rgb=True)
    widget.compute()
    wait(lambda: widget._volume.is_busy)
    assert "RGB" in widget.status.value
