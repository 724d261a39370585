# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Dock widgets of the plugin. What they do is in _live and _maps."""

import inspect

import numpy as np
from magicgui import widgets as w
from napari.layers import Image, Labels
from napari.qt.threading import create_worker
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QFileDialog

from .._parameters import ADJACENCIES, AFFINITIES, COMPETITIONS, TIE_RULES
from . import _layers, _maps
from ._live import LiveLabels


class _Widget(w.Container):
    """A column of controls, with a line of text below."""

    def __init__(self, viewer, controls):
        self.viewer, self.is_closed, self.status = viewer, False, w.Label(name="status", label=" ")
        super().__init__(widgets=[*controls, self.status])
        self.status.native.setWordWrap(True)
        # Room for an error of a few lines.
        self.status.native.setMinimumHeight(4 * self.status.native.fontMetrics().height())
        self.native.destroyed.connect(self._on_destroyed)

    def choices(self, kind):
        return lambda _: [layer for layer in self.viewer.layers if isinstance(layer, kind)]

    def report(self, text):
        if not self.is_closed:
            self.status.value = str(text)

    def in_thread(self, function, *arguments, done, progress=None, finished=None):
        """Call a function in a thread, and another one with its result; returns the worker. An error is reported."""

        def guarded():
            # Workers show errors that they return or raise with a traceback.
            try:
                result = function(*arguments)
                return (yield from result) if inspect.isgenerator(result) else result, ""
            except (ValueError, TypeError, RuntimeError, OSError, ImportError, MemoryError) as error:
                return None, str(error)

        def finish(outcome):
            result, error = outcome
            if error:
                self.report(error)
            elif not self.is_closed:
                done(result)

        worker = create_worker(guarded)
        worker.returned.connect(finish)
        if finished:
            worker.finished.connect(finished)
        if progress:
            worker.yielded.connect(lambda part: self.is_closed or progress(part))
        worker.start()
        return worker

    def _on_destroyed(self):
        self.is_closed = True
        self.close_down()

    @staticmethod
    def ask_folder():
        return QFileDialog.getExistingDirectory(None, "Folder to save to")


class LabelsWidget(_Widget):
    """Labels from strokes: layers, parameters, and the session while it is live."""

    def __init__(self, napari_viewer):
        self.live = None
        self.viewer = napari_viewer
        self.images = w.Select(label="image (channels)", choices=self.choices(Image))
        self.strokes = w.ComboBox(label="strokes", choices=self.choices(Labels))
        self.images.native.setMaximumHeight(80)
        new = w.PushButton(text="New strokes")
        self.affinity = w.ComboBox(label="affinity", choices=AFFINITIES, value="absolute_difference")
        self.competition = w.ComboBox(label="competition", choices=COMPETITIONS, value="iterative")
        self.ties = w.ComboBox(label="ties", choices=TIE_RULES, value="lowest_label")
        self.adjacency = w.ComboBox(label="adjacency", choices=ADJACENCIES)
        self.radius = w.SpinBox(label="estimation radius", value=2, max=50, enabled=False)
        estimate = w.PushButton(text="Estimate again")
        self.has_margin = w.CheckBox(text="Margin")
        self.is_live = w.CheckBox(text="Update while painting")
        save = w.PushButton(text="Save labels and strokes...")
        self.parameters = [self.affinity, self.competition, self.ties, self.adjacency, self.radius]
        controls = [self.images, self.strokes, new, *self.parameters, estimate, self.has_margin, self.is_live, save]
        super().__init__(napari_viewer, controls)
        new.changed.connect(self.add_strokes)
        estimate.changed.connect(lambda: self.live and self.live.reestimate())
        save.changed.connect(lambda: self.save(self.ask_folder()))
        self.is_live.changed.connect(self._restart)
        for control in (self.images, self.strokes):
            control.changed.connect(self._restart)
        for control in (*self.parameters, self.has_margin):
            control.changed.connect(self._change)

    def add_strokes(self):
        """Add an empty layer of strokes on the grid of the image, ready to paint."""
        image = self._image()
        if image is None:
            return
        array = np.zeros(_layers.array_of(image).shape[: image.ndim], np.uint8)
        layer = self.viewer.add_labels(array, name="strokes", **_layers.placement(image))
        layer.mode = "paint"
        self.reset_choices()
        self.strokes.value = layer

    def save(self, folder):
        """Write labels and strokes to a folder."""
        if self.live is None:
            self.report("there are no labels to save: start the update first")
        elif folder:
            self.in_thread(
                self.live.save, folder, done=lambda paths: self.report(f"saved {', '.join(map(str, paths))}")
            )

    def close_down(self):
        if self.live is not None:
            self.live.stop()
            self.live = None

    def _image(self):
        chosen = self.images.value or self.images.choices[:1]
        if not chosen:
            self.report("there is no image layer")
        return chosen[0] if chosen else None

    def _values(self):
        values = {"affinity": self.affinity.value, "competition": self.competition.value}
        values.update(tie_rule=self.ties.value, adjacency=self.adjacency.value)
        if self.affinity.value != "absolute_difference":
            values["estimation_radius"] = self.radius.value
        return values

    def _change(self):
        self.radius.enabled = self.affinity.value != "absolute_difference"
        if self.live is not None:
            self.live.change(has_margin=self.has_margin.value, **self._values())

    def _restart(self):
        image = self._image()
        chosen = self.images.value or [image]
        live = self.live
        if self.is_live.value and live is not None and (live.images, live.strokes) == (chosen, self.strokes.value):
            return
        self.close_down()
        if self.is_live.value and image is not None and self.strokes.value is None:
            self.add_strokes()
        if self.is_live.value and image is not None and self.live is None:
            self.live = LiveLabels(
                self.viewer, chosen, self.strokes.value, self._values(), self.has_margin.value, self.report
            )


class MapsWidget(_Widget):
    """Feature maps: layers, features, settings; a preview of the visible slice, and the volume."""

    def __init__(self, napari_viewer):
        self.viewer = napari_viewer
        self._descriptions, self._worker, self._results = _maps.descriptions(), None, None
        self._preview_layer, self._preview_worker, self._preview_is_stale = None, None, False
        self.image = w.ComboBox(label="image", choices=self.choices(Image))
        self.mask = w.ComboBox(label="mask", choices=self.choices((Labels, Image)), nullable=True)
        self.mask_label = w.SpinBox(label="label of the mask", value=0, max=65535, tooltip="0: the mask has one label")
        self.search = w.LineEdit(label="search")
        self.features = w.Select(label="features", choices=list(self._descriptions), value=["glcm_Contrast"])
        self.description = w.Label(label=" ")
        self.radius = w.FloatSpinBox(label="radius", value=2, min=0, max=127, step=1)
        self.unit = w.ComboBox(label="unit of the radius", choices=["voxels", "mm"])
        self.bins = w.ComboBox(label="bins", choices=["bin_width", "number_of_gray_levels"])
        self.bin_value = w.FloatSpinBox(label="width or number", value=25, min=0, max=65535)
        self.has_preview = w.CheckBox(text="Preview of the visible slice", value=False)
        compute, cancel, save = (w.PushButton(text=text) for text in ("Compute the volume", "Cancel", "Save maps..."))
        self.progress = w.ProgressBar(label=" ", max=100)
        layers = [self.image, self.mask, self.mask_label]
        windows = [self.radius, self.unit, self.bins, self.bin_value]
        controls = [*layers, self.search, self.features, self.description, *windows, self.has_preview]
        super().__init__(napari_viewer, [*controls, compute, cancel, self.progress, save])
        self.description.native.setWordWrap(True)
        self.search.changed.connect(self._filter)
        self.features.native.currentTextChanged.connect(self._describe)
        self._timer = QTimer()
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._start_preview)
        for control in (*layers, self.features, *windows, self.has_preview):
            control.changed.connect(self.update_preview)
        for name in ("point", "order", "ndisplay"):
            getattr(napari_viewer.dims.events, name).connect(self.update_preview)
        compute.changed.connect(self.compute)
        cancel.changed.connect(self.cancel)
        save.changed.connect(lambda: self.save(self.ask_folder()))
        self._describe("glcm_Contrast")

    def compute(self):
        """Compute the maps of the volume, which replace running ones."""
        self.cancel()
        image, mask = self.image.value, self.mask.value
        if image is None:
            self.report("there is no image layer")
            return
        settings = self._settings()

        def done(maps):
            self._worker, self._results = None, (maps, image, mask, settings)
            start = [part.start for part in maps.slices]
            for name in maps:
                arguments = {"colormap": "viridis", "contrast_limits": _layers.limits(maps[name])}
                self.viewer.add_image(maps[name], name=name, **arguments, **_layers.placement(image, start))
            self.report(f"{len(maps)} maps of {image.name}")

        def progress(part):
            self.progress.value = int(100 * part)

        self.report("computing")
        self._worker = self.in_thread(_compute, image, mask, settings, done=done, progress=progress)

    def cancel(self):
        """End the computation before its next part."""
        if self._worker is not None:
            self._worker.quit()
            self._worker = None
            self.report("canceled")

    def save(self, folder):
        """Write the maps that were computed last to a folder, with what they come from."""
        if self._results is None:
            self.report("there are no maps to save: compute the volume first")
        elif folder:
            maps, *rest = self._results
            done = lambda paths: self.report(f"saved {len(paths)} files in {folder}")
            self.in_thread(_maps.save, maps, folder, *rest, done=done)

    def update_preview(self, event=None):
        """Compute the first selected map in the visible slice, soon."""
        if self.has_preview.value and not self.is_closed:
            self._preview_is_stale = True
            self._timer.start(0)

    def close_down(self):
        self.viewer.dims.events.disconnect(self.update_preview)
        if self._worker is not None:
            self._worker.quit()

    def _settings(self):
        radius = self.radius.value
        is_number = self.bins.value == "number_of_gray_levels"
        settings = {
            "features": list(self.features.value),
            **({"radius_mm": radius} if self.unit.value == "mm" else {"neighborhood_radius": int(radius)}),
            self.bins.value: int(self.bin_value.value) if is_number else self.bin_value.value,
        }
        if self.mask.value is not None:
            settings.update(crop="mask", label=self.mask_label.value or None)
        return settings

    def _filter(self, text):
        """Offer features whose name or description has all words of the search, after those that are selected."""
        selected, words = self.features.value, text.lower().split()
        texts = {name: " ".join((name, *more)).lower() for name, more in self._descriptions.items()}
        found = [name for name in texts if name not in selected and all(word in texts[name] for word in words)]
        self.features.choices = [*selected, *found]
        self.features.value = selected

    def _describe(self, name):
        if name in self._descriptions:
            ibsi, limits, meaning = self._descriptions[name]
            self.description.value = f"{name} (IBSI: {ibsi}), {limits}. Greater: {meaning}."

    def _start_preview(self):
        if self.is_closed or self._preview_worker is not None or not self._preview_is_stale:
            return
        image = self.image.value
        if image is None:
            return
        self._preview_is_stale = False
        settings = self._settings()
        settings["features"] = settings["features"][:1]
        where = (0, None) if image.ndim == 2 else _maps.visible_slice(image, self.viewer.dims)

        def done(maps):
            start = [part.start for part in maps.slices]
            array, where = maps.array[0], _layers.placement(image, start)
            limits, layer = _layers.limits(array), self._preview_layer
            if layer is None or layer not in self.viewer.layers or layer.ndim != image.ndim:
                selected = set(self.viewer.layers.selection)
                layer = self.viewer.add_image(
                    array, name="preview", colormap="viridis", contrast_limits=limits, **where
                )
                self._preview_layer, self.viewer.layers.selection = layer, selected
            else:
                layer.data, layer.affine, layer.contrast_limits = array, where["affine"], limits
            if self._worker is None:
                self.report(f"preview of {next(iter(maps))}")

        def finish():
            self._preview_worker = None
            if not self.is_closed:
                self._start_preview()

        arguments = _compute, image, self.mask.value, settings, *where
        self._preview_worker = self.in_thread(*arguments, done=done, finished=finish)


def _compute(image, mask, settings, *where):
    if image.rgb:
        raise ValueError(
            f"the layer {image.name} is RGB, but feature maps need one channel: split it into three layers"
        )
    mask = None if mask is None else _layers.image_of(mask)
    return _maps.compute(_layers.image_of(image), mask, settings, *where)
