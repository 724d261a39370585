# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Dock widgets of the plugin. What they do is in _live and _maps."""


import numpy as np
from magicgui import widgets as w
from napari.layers import Image, Labels
from napari.qt.threading import create_worker
from qtpy.QtWidgets import QFileDialog, QMessageBox

from .._parameters import ADJACENCIES, AFFINITIES, COMPETITIONS, TIE_RULES
from . import _layers, _maps
from ._live import LiveLabels
from ._thread import Newest, guarded


def _button(text, function):
    button = w.PushButton(text=text)
    button.changed.connect(lambda _: function())
    return button


class _Widget(w.Container):
    """A column of controls, which are attributes with their names, and a line of text below."""

    def __init__(self, viewer, *controls):
        self.viewer, self.is_closed = viewer, False
        super().__init__(widgets=[*controls, w.Label(name="status", label=" ")])
        self.status.native.setWordWrap(True)
        # Room for an error of a few lines.
        self.status.native.setMinimumHeight(4 * self.status.native.fontMetrics().height())
        self.native.destroyed.connect(self._on_destroyed)

    def report(self, text):
        if not self.is_closed:
            self.status.value = str(text)

    def save(self, folder=None, overwrite=False):
        """Write the results to a folder in a thread; without a folder, ask for one. What is there is replaced if the user agrees."""
        write = self.writer()
        if write is None:
            self.report("there is nothing to save: compute it first")
            return
        folder = folder or QFileDialog.getExistingDirectory(None, "Folder to save to")

        def saved():
            yield f"saved {len(write(folder, overwrite=overwrite))} files in {folder}"

        def show(result):
            self.report(result)
            if isinstance(result, FileExistsError) and not self.is_closed:
                text = f"{str(result).partition(': choose')[0]}. Replace it?"
                if QMessageBox.question(self.native, "Save", text) == QMessageBox.StandardButton.Yes:
                    self.save(folder, overwrite=True)

        if folder:
            create_worker(guarded, saved, _connect={"yielded": show})

    def _on_destroyed(self):
        self.is_closed = True
        self.close_down()


def _layers_of(viewer, kind):
    return lambda _: [layer for layer in viewer.layers if isinstance(layer, kind)]


def _strokes_of(viewer):
    """Layers of labels, except those of files that are not named strokes: segmentations."""
    is_painted = lambda layer: layer.source.path is None or "strokes" in layer.name.lower()
    return lambda _: [layer for layer in viewer.layers if isinstance(layer, Labels) and is_painted(layer)]


class LabelsWidget(_Widget):
    """Labels from strokes: layers, parameters, and the session while it is live."""

    def __init__(self, napari_viewer):
        self.live = None
        self.parameters = [
            w.ComboBox(name="affinity", choices=AFFINITIES, value="absolute_difference"),
            w.ComboBox(name="competition", choices=COMPETITIONS, value="iterative"),
            w.ComboBox(name="tie_rule", label="ties", choices=TIE_RULES, value="distance"),
            w.ComboBox(name="adjacency", choices=ADJACENCIES),
            w.SpinBox(name="estimation_radius", value=2, max=50, enabled=False),
        ]
        super().__init__(
            napari_viewer,
            w.Select(name="images", label="image (channels)", choices=_layers_of(napari_viewer, Image)),
            w.ComboBox(name="strokes", choices=_strokes_of(napari_viewer)),
            _button("New strokes", self.add_strokes),
            *self.parameters,
            _button("Estimate again", lambda: self.live and self.live.reestimate()),
            w.ComboBox(name="segmentation", choices=_layers_of(napari_viewer, Labels), nullable=True),
            w.FloatSpinBox(name="refine_distance", label="may be wrong by (mm)", value=5, max=1000),
            _button("Refine the segmentation", self.refine),
            w.CheckBox(name="has_margin", text="Margin"),
            w.CheckBox(name="is_live", text="Update while painting"),
            _button("Save labels and strokes...", self.save),
        )
        self.images.native.setMaximumHeight(80)
        self.segmentation.tooltip = (
            "labels that are roughly right; their background gets the label after the greatest one"
        )
        for control in (self.images, self.strokes, self.is_live):
            control.changed.connect(self._restart)
        for control in (*self.parameters, self.has_margin):
            control.changed.connect(self._change)

    def add_strokes(self):
        """Add an empty layer of strokes on the grid of the image, ready to paint."""
        for image in self._chosen()[:1]:
            array = np.zeros(_layers.array_of(image).shape[: image.ndim], np.uint8)
            layer = self.viewer.add_labels(array, name="strokes", **_layers.placement(image))
            layer.mode = "paint"
            self.reset_choices()
            self.strokes.value = layer

    def refine(self):
        """Let parts of the chosen segmentation be seeds, in addition to strokes; without one, only strokes."""
        if self.segmentation.value is not None and self.strokes.value is self.segmentation.value:
            self.add_strokes()
        self.is_live.value = True
        if self.live is not None:
            self.live.refine(self.segmentation.value, self.refine_distance.value)

    def writer(self):
        """The function that writes labels and strokes to a folder."""
        return self.live and self.live.save

    def close_down(self):
        if self.live is not None:
            self.live.stop()
            self.live = None

    def _chosen(self):
        chosen = self.images.value or list(self.images.choices[:1])
        if not chosen:
            self.report("there is no image layer")
        return chosen

    def _values(self):
        values = {control.name: control.value for control in self.parameters}
        if values["affinity"] == "absolute_difference":
            del values["estimation_radius"]
        return values

    def _change(self):
        self.estimation_radius.enabled = self.affinity.value != "absolute_difference"
        if self.live is not None:
            self.live.change(self.has_margin.value, **self._values())

    def _restart(self):
        chosen, strokes, live = self._chosen(), self.strokes.value, self.live
        if self.is_live.value and live is not None and (live.images, live.strokes) == (chosen, strokes):
            return
        self.close_down()
        if self.is_live.value and chosen and strokes is None:
            # Which calls this again.
            self.add_strokes()
        elif self.is_live.value and chosen:
            has_margin = self.has_margin.value
            self.live = LiveLabels(self.viewer, chosen, strokes, self._values(), has_margin, self.report)


def _number(value):
    return int(value) if value == int(value) else value


class MapsWidget(_Widget):
    """Feature maps: layers, features, settings; a preview of the visible slice, and the volume."""

    def __init__(self, napari_viewer):
        self._descriptions = _maps.descriptions()
        # The maps that were computed last, with their layers and settings.
        self._results, self._preview_layer = None, None
        self._volume = Newest(_maps.compute, self._show_volume, self.report)
        self._preview = Newest(_maps.compute, self._show_preview, self.report)
        radii = [("voxels", "neighborhood_radius"), ("mm", "radius_mm")]
        controls = [
            w.ComboBox(name="image", choices=_layers_of(napari_viewer, Image)),
            w.ComboBox(name="mask", choices=_layers_of(napari_viewer, (Labels, Image)), nullable=True),
            w.SpinBox(name="mask_label", label="label of the mask", max=65535, tooltip="0: the mask has one label"),
            w.LineEdit(name="search"),
            w.Select(name="features", choices=list(self._descriptions), value=["glcm_Contrast"]),
            w.Label(name="description", label=" "),
            w.FloatSpinBox(name="radius", value=2, max=127, step=1),
            w.ComboBox(name="unit", label="unit of the radius", choices=radii),
            w.ComboBox(name="bins", choices=["bin_width", "bin_count"]),
            w.FloatSpinBox(name="bin_value", label="width or number", value=25, max=65535),
            w.CheckBox(name="has_preview", text="Preview of the visible slice"),
        ]
        super().__init__(
            napari_viewer,
            *controls,
            _button("Compute the volume", self.compute),
            _button("Cancel", self.cancel),
            w.ProgressBar(name="progress", label=" ", max=100),
            _button("Save maps...", self.save),
        )
        self.description.native.setWordWrap(True)
        self.search.changed.connect(self._filter)
        self.features.native.currentTextChanged.connect(self._describe)
        self._describe("glcm_Contrast")
        for control in controls:
            control.changed.connect(self.update_preview)
        for name in ("point", "order", "ndisplay"):
            getattr(napari_viewer.dims.events, name).connect(self.update_preview)

    def compute(self):
        """Compute the maps of the volume, which replace running ones."""
        self._volume.cancel()
        if self.image.value is None:
            self.report("there is no image layer")
        else:
            self.report("computing")
            self._volume.request(self.image.value, self.mask.value, self._settings())

    def cancel(self):
        """End the computation before its next part."""
        if self._volume.is_busy:
            self._volume.cancel()
            self.report("canceled")

    def writer(self):
        """The function that writes the maps that were computed last to a folder, with what they come from."""
        return self._results and self._results[0].save

    def update_preview(self, event=None):
        """Compute the first selected map in the visible slice, soon."""
        if self.is_closed or not self.has_preview.value or self.image.value is None:
            return
        image, settings = self.image.value, self._settings()
        settings["features"] = settings["features"][:1]
        where = (0, None) if image.ndim == 2 else _maps.visible_slice(image, self.viewer.dims)
        self._preview.request(image, self.mask.value, settings, *where)

    def close_down(self):
        self._volume.stop()
        self._preview.stop()

    def _settings(self):
        settings = {
            "features": list(self.features.value),
            self.unit.value: _number(self.radius.value),
            self.bins.value: _number(self.bin_value.value),
        }
        if self.mask.value is not None:
            settings.update(crop="mask", label=self.mask_label.value or None)
        return settings

    def _filter(self, text):
        """Offer features whose name or description has all words of the search, after those that are selected."""
        selected, words = self.features.value, text.lower().split()
        found = [name for name, about in self._descriptions.items() if all(word in about.lower() for word in words)]
        self.features.choices = [*selected, *(name for name in found if name not in selected)]
        self.features.value = selected

    def _describe(self, name):
        self.description.value = self._descriptions.get(name, " ")

    def _show_volume(self, value, *request):
        if isinstance(value, float):
            self.progress.value = int(100 * value)
            return
        self._results = value, *request
        for name in value:
            self.viewer.add_image(name=name, colormap="viridis", **_properties(value, name, request[0]))
        self.report(f"{len(value)} map{'s' * (len(value) != 1)} of {request[0].name}")

    def _show_preview(self, value, image, *_):
        if isinstance(value, float):
            return
        name, layer, layers = next(iter(value)), self._preview_layer, self.viewer.layers
        properties = _properties(value, name, image)
        if layer in layers and layer.ndim == image.ndim:
            for each, new in properties.items():
                setattr(layer, each, new)
        else:
            selected = set(layers.selection)
            self._preview_layer = self.viewer.add_image(name="preview", colormap="viridis", **properties)
            layers.selection = selected
        if not self._volume.is_busy:
            self.report(f"preview of {name}")


def _properties(maps, name, image):
    """Parameters of the layer of a map of an image. NaN, which napari does not draw, is outside of the mask."""
    where = _layers.placement(image, [part.start for part in maps.slices])
    data = maps[name] if maps.inside is None else np.where(maps.inside, maps[name], np.float32(np.nan))
    return {"data": data, "contrast_limits": _layers.limits(data), **where}
