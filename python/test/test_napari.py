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
from voxelmaps import _image  # noqa: E402
from voxelmaps._feature_maps import CLASSES  # noqa: E402
from voxelmaps.napari import _layers, _maps, _widgets  # noqa: E402
from voxelmaps.napari._live import LiveLabels  # noqa: E402

EDGES = {"affinity": "absolute_difference", "competition": "iterative", "tie_rule": "lowest_label", "adjacency": "face"}
SHAPE = (12, 20, 24)
TILT = np.array([[0.9, 0.1, 0, 3], [-0.1, 0.9, 0.2, -5], [0, -0.2, 0.9, 7], [0, 0, 0, 1]])
TILT[:3, :3] = np.linalg.qr(TILT[:3, :3])[0] * [2.5, 0.7, 0.7]


@pytest.fixture
def viewer():
    viewer = napari.Viewer(show=True)
    # Less to draw, without a graphics card.
    viewer.window.resize(400, 300)
    yield viewer
    if viewer.window is not None:
        viewer.close()
    wait(lambda: False, 0.2)


def wait(is_busy, seconds=60):
    """Let the window run as long as something is busy."""
    end = time.monotonic() + seconds
    while is_busy() and time.monotonic() < end:
        QApplication.instance().processEvents()
        time.sleep(0.001)
    if seconds >= 60:
        assert not is_busy()
    QApplication.instance().processEvents()


def image_array(shape=SHAPE, seed=0):
    random = np.random.default_rng(seed)
    return (random.integers(0, 60, shape) + 100 * (np.indices(shape).sum(0) > sum(shape) // 2)).astype(np.int16)


def live_labels(viewer, array=None, parameters=EDGES, strokes_type=np.uint8, where={}, **options):
    array = image_array() if array is None else array
    image = viewer.add_image(array, name="image", rgb=array.shape[-1] == 3, **where)
    strokes = viewer.add_labels(np.zeros(array.shape[: image.ndim], strokes_type), name="strokes", **where)
    messages = []
    live = LiveLabels(viewer, [image], strokes, parameters, report=messages.append, **options)
    live.messages = messages
    wait(lambda: live.is_busy)
    return live


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
    assert {command.id for command in manifest.contributions.commands} == {
        getattr(each, "command")
        for kind in ("widgets", "readers", "sample_data")
        for each in getattr(manifest.contributions, kind)
    }
    from voxelmaps import _core

    names = [f"{name}_{feature}" for name in CLASSES for feature in _core.feature_names()[name]]
    assert sorted(_maps.descriptions()) == sorted(names)
    folder = pathlib.Path(__file__).parents[2] / "doc/features"
    if folder.is_dir():
        rows = [line.strip("|").split(" | ") for page in folder.glob("*.md") for line in page.read_text().splitlines()]
        documented = {(row[1], row[2].strip(), row[4], row[5]) for row in rows if len(row) > 6}
        described = {(name.partition("_")[2], *texts) for name, texts in _maps.descriptions().items()}
        assert described <= documented


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize("where", ({}, {"scale": (3, 1, 0.5), "translate": (5, -2, 1)}, {"affine": TILT}))
def test_every_edit_in_slices_of_all_orientations(viewer, axis, where):
    live = live_labels(viewer, where=where)
    viewer.dims.order = (axis, *(other for other in range(3) if other != axis))
    strokes = live.strokes
    strokes.brush_size = 4
    near, far = np.array(SHAPE) // 4, np.array(SHAPE) * 3 // 4
    for edit in (
        lambda: strokes.paint(near, 1),
        lambda: strokes.paint(far, 2),
        lambda: strokes.paint(near + 1, 3),
        lambda: strokes.paint(near + 1, 0),
        lambda: strokes.fill(far, 4),
        strokes.undo,
        strokes.undo,
        strokes.redo,
        lambda: strokes.paint_polygon([p for p in (near, near + [0, 3, 0], near + [0, 3, 3])], 5),
        lambda: setattr(strokes, "data", np.where(strokes.data == 1, 0, strokes.data)),
    ):
        before = strokes.data.copy()
        edit()
        assert not np.array_equal(before, strokes.data)
        assert_fresh(live)
    for layer in (live.labels, viewer.layers["image"]):
        np.testing.assert_allclose(_layers.matrix_of(layer), _layers.matrix_of(strokes), atol=1e-12)
    live.stop()


def test_edits_of_a_hidden_layer_of_strokes_and_a_hidden_margin(viewer):
    live = live_labels(viewer, has_margin=True)
    live.strokes.paint((3, 5, 5), 1)
    live.strokes.paint((9, 15, 20), 2)
    assert_fresh(live)
    live.margin.visible, margin = False, live.margin.data.copy()
    live.strokes.paint((6, 2, 18), 3)
    assert_fresh(live)
    np.testing.assert_array_equal(live.margin.data, margin)
    live.margin.visible = True
    wait(lambda: live.is_busy)
    np.testing.assert_array_equal(live.margin.data, live._session.margin.array)
    assert not np.array_equal(live.margin.data, margin)
    live.strokes.visible = False
    before = live.labels.data.copy()
    live.strokes.undo()
    wait(lambda: np.array_equal(live.labels.data, before))
    assert_fresh(live)
    live.stop()


def test_the_next_stroke_cancels_a_running_update_once(viewer):
    live = live_labels(viewer)
    live.strokes.paint((3, 5, 5), 1)
    live.strokes.paint((9, 15, 20), 2)
    assert_fresh(live)
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
    for position, cancels in ((4, True), (5, False)):
        if cancels:
            live.strokes.paint((position, 5, 9), 3)
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
    live.stop()


def test_ten_thousand_random_edits_end_in_labels_of_a_fresh_run(viewer):
    live, random = live_labels(viewer, has_margin=True), np.random.default_rng(7)
    strokes, app = live.strokes, QApplication.instance()
    strokes.paint((0, 0, 0), 1)
    for number in range(1, 10001):
        kind, position = random.integers(20), random.integers(0, SHAPE)
        strokes.brush_size = int(random.integers(1, 4))
        if kind < 14:
            strokes.paint(position, 0 if kind < 7 else int(random.integers(1, 5)))
        elif kind < 15:
            strokes.fill(position, int(random.integers(1, 5)))
        elif kind < 18:
            strokes.undo()
        else:
            strokes.redo()
        if number % 20 == 0:
            app.processEvents()
        if number % 2000 == 0:
            if not strokes.data.any():
                strokes.paint(position, 1)
            assert_fresh(live)
    assert len(np.unique(live.labels.data)) > 2
    live.stop()


def test_channels_parameters_and_types(viewer):
    live = live_labels(viewer, strokes_type=np.int32)
    live.strokes.paint((3, 5, 5), 300)
    live.strokes.paint((9, 15, 20), 70)
    assert_fresh(live)
    assert live.labels.data.dtype == np.uint16 and not live.labels.editable
    other = viewer.add_image(image_array(seed=1))
    live.stop()
    for images in ([viewer.layers["image"], other], [other]):
        live = LiveLabels(viewer, images, live.strokes, EDGES, report=print)
        assert_fresh(live)
        live.change(affinity="geometric_mean", estimation_radius=1, competition="relative", adjacency="full")
        assert_fresh(live)
        # A session retains its estimate until it is asked for another.
        moments = live._session.affinity
        live.strokes.paint((6, 10, 2), 300)
        assert_fresh(live, estimation_radius=2, **moments)
        live.reestimate()
        assert_fresh(live)
        live.stop()
    color = live_labels(viewer, np.stack([image_array()] * 3, -1).astype(np.uint8))
    color.strokes.paint((3, 5, 5), 2)
    assert_fresh(color, components_axis=None)
    color.stop()
    flat = live_labels(viewer, image_array((30, 40)), has_margin=True)
    flat.strokes.paint((3, 5), 1)
    flat.strokes.paint((22, 35), 2)
    assert_fresh(flat)
    assert flat.margin.data.shape == (30, 40) and flat.margin.data.max() > 0
    flat.stop()


ONES = np.ones(SHAPE, np.uint8)
WRONG = {
    "another shape": (image_array(), np.zeros((4, 4, 4), np.uint8), {}, "has the size"),
    "another grid": (image_array(), ONES, {"scale": (1, 1, 2)}, "resample"),
    "negative labels": (image_array(), np.full(SHAPE, -1, np.int16), {}, "from 0 to"),
    "large labels": (image_array(), np.full(SHAPE, 70000, np.int32), {}, "from 0 to"),
    "infinite intensities": (np.full(SHAPE, np.inf), ONES, {}, "inf"),
    "time": (image_array()[np.newaxis], ONES[np.newaxis], {}, "4 axes"),
    "shear": (image_array(), ONES, {"shear": (0.5, 0, 0)}, "sheared"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_layers_are_reported_in_one_line(viewer, name):
    array, seeds, where, text = WRONG[name]
    messages = []
    image, strokes = viewer.add_image(array), viewer.add_labels(seeds, **where)
    live = LiveLabels(viewer, [image], strokes, EDGES, report=messages.append)
    wait(lambda: live.is_busy)
    assert text in messages[-1] and "\n" not in messages[-1] and live.labels is None
    if name == "another shape":
        strokes.data = ONES
        assert_fresh(live)
    live.stop()


def test_layers_that_vanish_and_viewers_that_close(viewer):
    live = live_labels(viewer)
    assert not live.labels.data.any()
    live.strokes.data[2, 3] = 1
    live.strokes.refresh()
    viewer.layers.remove(live.labels)
    assert_fresh(live)
    assert live.labels in viewer.layers
    live.strokes.paint((9, 15, 20), 2)
    wait(lambda: live._worker is None, 5)
    viewer.layers.remove(live.strokes)
    wait(lambda: live._worker is not None)
    assert "removed" in live.messages[-1]

    other = napari.Viewer(show=True)
    lives = [live_labels(each) for each in (viewer, other)]
    for number, each in enumerate(lives, 1):
        each.strokes.paint((2, 3, 4), number)
        assert_fresh(each)
        assert set(np.unique(each.labels.data)) == {number}
    widget = _widgets.LabelsWidget(other)
    other.window.add_dock_widget(widget)
    widget.images.value, widget.is_live.value = [other.layers["image"]], True
    wait(lambda: widget.live._worker is None, 5)
    other.close()
    wait(lambda: False, 1)
    assert widget.is_closed and widget.live is None
    lives[0].stop()


def test_widget_of_labels_with_the_sample(viewer, tmp_path):
    for layer in _layers.sample():
        viewer._add_layer_from_data(*layer)
    widget = _widgets.LabelsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    widget.save(tmp_path)
    assert "start the update" in widget.status.value
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
    assert widget.radius.enabled and widget.live._parameters["estimation_radius"] == 2
    assert_fresh(widget.live)
    widget.add_strokes()
    assert widget.live.strokes is viewer.layers[-1] and not widget.live.strokes.data.any()
    widget.is_live.value = False
    assert widget.live is None


def test_files_keep_their_geometry(viewer, tmp_path):
    sitk = pytest.importorskip("SimpleITK")
    image = sitk.GetImageFromArray(image_array())
    image.SetSpacing((0.7, 0.8, 2.5))
    image.SetOrigin((-10.125, 20.3, 5.7))
    image.SetDirection(np.linalg.qr(TILT[:3, :3])[0].ravel().tolist())
    for name, expects_affine in (("oblique", False), ("straight", True)):
        if expects_affine:
            image.SetDirection((-1, 0, 0, 0, -1, 0, 0, 0, 1))
        sitk.WriteImage(image, str(tmp_path / f"{name}.nii.gz"))
        array, arguments, kind = _layers.reader(str(tmp_path / f"{name}.nii.gz"))(str(tmp_path / f"{name}.nii.gz"))[0]
        with layer_source(path=str(tmp_path / f"{name}.nii.gz")):
            layer = viewer.add_image(array, **arguments)
        of_file = _image.read(tmp_path / f"{name}.nii.gz", "x")
        assert kind == "image" and _layers.image_as_saved(layer)[1:] == of_file[1:]
        np.testing.assert_allclose(_layers.image_of(layer).spacing, of_file.spacing)
        assert np.allclose(_layers.image_of(layer).direction, of_file.direction) == expects_affine
        live = LiveLabels(
            viewer, [layer], viewer.add_labels(np.ones(SHAPE, np.uint8), **_layers.placement(layer)), EDGES
        )
        for path in live.save(tmp_path):
            assert _image.read(path, "x")[1:] == of_file[1:]
            assert _layers._read(path)[0][2] == "labels"
        live.stop()
        # No longer the voxels of the file.
        layer.data = array + 1
        assert np.allclose(_layers.image_as_saved(layer).direction, of_file.direction) == expects_affine
    microns = viewer.add_image(array, scale=(500, 2, 2), units=("um",) * 3)
    np.testing.assert_allclose(_layers.image_of(microns).spacing, (0.002, 0.002, 0.5))


def run(generator):
    parts = []
    while True:
        try:
            parts.append(next(generator))
        except StopIteration as end:
            return parts, end.value


def test_maps_by_parts_and_slices_are_those_of_the_volume(viewer, tmp_path):
    array = image_array((40, 20, 24))
    mask = np.zeros(array.shape, np.uint8)
    mask[3:30, 4:15, 5:20] = 2
    settings = {"features": ["glcm_Contrast", "firstorder_Mean"], "neighborhood_radius": 2, "bin_width": 10.0}
    image, labels = viewer.add_image(array, name="image", affine=TILT), viewer.add_labels(mask, affine=TILT)
    x = _layers.image_of(image)
    for cropped in ({}, {"crop": "mask", "label": 2}):
        region = mask if cropped else None
        parts, maps = run(_maps.compute(x, region, {**settings, **cropped}))
        expected = voxelmaps.feature_maps(array, region, **settings, **cropped)
        np.testing.assert_array_equal(maps.array, expected.array)
        assert maps.slices == expected.slices and len(parts) > 9 and parts[-1] == 1.0 and parts == sorted(parts)
        for axis in range(3):
            first = expected.slices[axis].start
            _, one = run(_maps.compute(x, region, {**settings, **cropped}, axis, first + 3))
            np.testing.assert_array_equal(one.array, expected.array.take([3], axis + 1))

    widget = _widgets.MapsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    widget.image.value, widget.bin_value.value = image, 10
    widget.search.value = "differences pairs"
    assert "glcm_Contrast" in widget.features.choices and "firstorder_Mean" not in widget.features.choices
    widget.search.value, widget.features.value = "", settings["features"]
    whole = voxelmaps.feature_maps(array, **settings)
    widget.has_preview.value = True
    is_busy = lambda: widget._preview_worker is not None or widget._preview_is_stale
    for axis in range(3):
        viewer.dims.order = (axis, *(other for other in range(3) if other != axis))
        inverse = np.linalg.inv(TILT)
        viewer.dims.set_point(axis, (7.2 - inverse[axis, 3]) / inverse[axis, axis])
        wait(is_busy)
        shown = viewer.layers["preview"]
        # The slice that napari shows.
        index = int(image.world_to_data(_layers.matrix_of(shown)[:3, 3])[axis] + 0.5)
        np.testing.assert_array_equal(np.squeeze(image._slice.image.view), array.take(index, axis))
        np.testing.assert_array_equal(shown.data, whole["glcm_Contrast"].take([index], axis))
    widget.mask.value, widget.mask_label.value, widget.has_preview.value = labels, 2, False
    widget.compute()
    wait(lambda: widget.status.value == "computing")
    np.testing.assert_array_equal(viewer.layers["firstorder_Mean"].data, expected["firstorder_Mean"])
    widget.save(tmp_path)
    wait(lambda: "saved" not in widget.status.value)
    read = voxelmaps.read_maps(tmp_path)
    np.testing.assert_array_equal(read.array, expected.array)
    record = json.loads((tmp_path / "provenance.json").read_text())
    assert record["parameters"] == {**settings, "crop": "mask", "label": 2} and record["image"]["layer"] == "image"
    widget.mask_label.value = 7
    widget.compute()
    wait(lambda: widget.status.value == "computing")
    assert "no voxel of mask is 7" in widget.status.value
    widget.mask.value, widget.features.value = None, list(_maps.descriptions())
    number = len(viewer.layers)
    widget.compute()
    worker = widget._worker
    widget.cancel()
    wait(lambda: worker.is_running)
    assert widget.status.value == "canceled" and len(viewer.layers) == number
    widget.image.value = viewer.add_image(np.zeros((20, 20, 3), np.uint8), rgb=True)
    widget.compute()
    wait(lambda: widget.status.value == "computing")
    assert "RGB" in widget.status.value
