# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels that follow strokes while these are edited."""

import re
import threading
import time

import numpy as np
from qtpy.QtCore import QTimer

from .. import _seeds
from .._maps import FeatureMaps
from .._seed_session import SeedSession
from . import _layers
from ._thread import Newest, collected

# napari emits no event for edits of a hidden layer, such as undo.
_POLL_MILLISECONDS = 500


class LiveLabels:
    """Keeps a layer of labels up to date with the strokes of another one.

    viewer        Where the layers are, and those of the results are added.
    images        Layers of the image, or of its channels.
    strokes       Layer of labels with the strokes, on the same grid.
    parameters    Parameters of SeedSession, except label_type; change() changes them.
    has_margin    Whether there is also a layer of the margin.
    report        Function of a line of text: the time and number of the last update, or what is wrong.

    Labels are those of voxelmaps.labels with all present strokes; an affinity that is estimated stays as it is until reestimate().
    They are computed in a thread. Strokes that are painted meanwhile cancel it, but not twice in succession, so that labels follow
    a long stroke, nor before there is a graph.
    """

    def __init__(self, viewer, images, strokes, parameters, has_margin=False, report=print):
        self.viewer, self.images, self.strokes, self.has_margin = viewer, list(images), strokes, has_margin
        self.labels = self.margin = None
        self._parameters, self._report = dict(parameters), report
        # The seeds are those of the last update.
        self._session, self._seeds, self._warnings = None, None, []
        # A layer whose segmentation, as it was then, is refined, and the distance; and that which the session has.
        self._refined = self._refined_by_session = None, None, 0.0
        # What is to be made again, even of the same strokes: session, labels, margin. Threads change it.
        self._due = set()
        # Whether a stroke cancels what the thread computes, and whether one has.
        self._may_cancel = self._was_canceled = False
        self._lock, self._task, self._since = threading.Lock(), Newest(self._compute, self._show, report), 0.0
        self._poll = QTimer()
        # A method: emitters of napari and Qt reference methods weakly, but other functions would keep the session alive.
        self._poll.timeout.connect(self._on_poll)
        self._poll.start(_POLL_MILLISECONDS)
        for name in ("paint", "labels_update", "set_data", "data"):
            getattr(strokes.events, name).connect(self.update)
        for layer in self.images:
            layer.events.data.connect(self.reestimate)
        viewer.layers.events.removed.connect(self._on_removed)
        self.update()

    @property
    def is_busy(self):
        return self._task.is_busy

    def update(self, event=None):
        """Label again, soon, if strokes or parameters have changed."""
        if not self._task.is_due:
            self._since = time.perf_counter()
            if self._may_cancel:
                self._may_cancel, self._was_canceled = False, True
                self._session.cancel()
        self._task.request()

    def change(self, has_margin, **parameters):
        """Label again with other parameters."""
        self.has_margin = has_margin
        self._parameters = {**self._parameters, **parameters}
        self._due.add("labels")
        self.update()

    def refine(self, layer, distance):
        """Label again with seeds from the present segmentation of a layer, or from none; see voxelmaps.labels."""
        image = None if layer is None else _layers.image_of(layer)
        self._refined = layer, image and image.with_array(image.array.copy()), distance
        self._due.add("labels")
        self.update()

    def reestimate(self, event=None):
        """Label again, with a new session and an affinity that is estimated from the present strokes."""
        self._due.add("session")
        self.update()

    def stop(self):
        """Stop following the layers. A thread that still computes ends without a result."""
        self._task.stop()
        self._poll.stop()
        self.viewer.layers.events.removed.disconnect(self._on_removed)

    def save(self, folder, overwrite=False):
        """Write the present strokes, and labels of exactly these, to a folder as NIfTI; returns their paths."""
        with self._lock:
            seeds = self._read()
            labels = self._label(seeds)
        strokes = np.zeros_like(labels)
        strokes.ravel()[seeds.numbers] = seeds.labels
        name = re.sub(r"[/\\,]", "-", self.images[0].name)
        names, geometry = [f"{name}-labels", f"{name}-strokes"], _layers.geometry_of(self.images[0])
        layers = {**{f"image {layer.name}": layer for layer in self.images}, "strokes": self.strokes}
        settings, (refined, _, distance) = dict(self._parameters), self._refined
        if refined is not None:
            layers["refine"], settings["refine_distance"] = refined, distance
        maps = FeatureMaps(names, np.stack([labels, strokes]), (), geometry)
        maps.provenance = _layers.provenance(layers, settings)
        return maps.save(folder, overwrite=overwrite)

    def _on_poll(self):
        if not self.strokes.visible:
            self.update()

    def _on_removed(self, event):
        if event.value is self.strokes or event.value in self.images:
            self.stop()
            self._report(f"the layer {event.value.name} was removed, so that labels are no longer updated")

    # --- In a thread -----------------------------------------------------------------------------------------------------

    def _read(self):
        """The present strokes as seeds of the session, which is made if it must be."""
        strokes = _layers.image_of(self.strokes)
        label_type = "uint8" if strokes.array.dtype.itemsize == 1 else "uint16"
        if self._session is None or "session" in self._due or self._session._values["label_type"] != label_type:
            self._due.discard("session")
            self._due.add("labels")
            self._session = None
            self._session = SeedSession(_layers.image_of_channels(self.images), label_type=label_type)
            self._refined_by_session = None, None, 0.0
        return _seeds.of_array(strokes, *self._session._grid)

    def _label(self, seeds):
        """The labels of seeds, as an array."""
        session, values = self._session, self._session._values
        refined = self._refined
        if len(seeds.numbers) == 0 and refined[1] is None:
            return np.zeros(session._scene.shape, values["label_type"])
        changed = {name: value for name, value in self._parameters.items() if values[name] != value}
        if refined is not self._refined_by_session:
            changed["refine"], changed["refine_distance"] = refined[1], 5.0 if refined[1] is None else refined[2]
        self._warnings = []
        with collected(self._warnings):
            labels = session.update(seeds, **changed).array
        self._refined_by_session = refined
        return labels

    def _compute(self):
        """Yields the labels and the margin, as names of layers, arrays and seconds."""
        started = time.perf_counter()
        with self._lock:
            try:
                seeds, last = self._read(), self._seeds
                self._may_cancel = self._session.memory > 0 and not self._was_canceled
                self._was_canceled = False
                if "labels" in self._due or not all(map(np.array_equal, seeds, last)):
                    self._seeds = seeds
                    self._due.discard("labels")
                    labels = self._label(seeds)
                    self._due.add("margin")
                    yield "labels", labels, time.perf_counter() - started
                    yield from map(UserWarning, self._warnings)
                # Not of strokes that have changed meanwhile, and not while the layer is hidden.
                is_any = len(seeds.numbers) > 0 or self._refined[1] is not None
                is_seen = self.has_margin and (self.margin is None or self.margin.visible)
                if is_seen and "margin" in self._due and not self._task.is_due and is_any:
                    self._due.discard("margin")
                    yield "margin", self._session.margin.array, time.perf_counter() - started
            except InterruptedError:
                self._due.add("labels")
            finally:
                self._may_cancel = False

    # --- In the thread of the window -------------------------------------------------------------------------------------

    def _show(self, result):
        name, value, seconds = result
        layer = getattr(self, name)
        if layer not in self.viewer.layers:
            layer = self._add(name, value)
        elif layer.data.dtype == value.dtype:
            # A new array would make napari compile shaders and measure all layers again.
            np.copyto(layer.data, value)
            layer.refresh(extent=False)
        else:
            layer.data = value
        layer.editable = False
        if name == "margin":
            layer.contrast_limits = _layers.limits(value)
        else:
            total = time.perf_counter() - self._since
            self._report(f"updated in {1e3 * seconds:.0f} ms, shown {1e3 * total:.0f} ms after the stroke")

    def _add(self, name, array):
        """A new layer below the strokes, which stay selected, and the labels."""
        layers = self.viewer.layers
        selected, where = set(layers.selection), _layers.placement(self.images[0])
        if name == "labels":
            layer = self.viewer.add_labels(array, name=name, opacity=0.4, **where)
        else:
            layer = self.viewer.add_image(array, name=name, colormap="viridis", opacity=0.6, **where)
            layer.events.visible.connect(self.update)
        setattr(self, name, layer)
        above = [layers.index(each) for each in (self.strokes, self.labels) if each in layers]
        layers.move(layers.index(layer), min(above))
        layers.selection = selected
        return layer
