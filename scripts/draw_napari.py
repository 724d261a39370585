# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Record doc/images/Napari.png: strokes, labels and margins in a real window of napari. Run by xvfb-run where there is no display."""

import pathlib
import time

import napari
import numpy as np
from PIL import Image, ImageDraw
from qtpy.QtWidgets import QApplication
from voxelmaps.napari import _layers, _widgets

# What is done, the label, and points y, x in the middle slice between which the stroke leads.
STEPS = (
    ("strokes in liver, portal vein and the rest", 0, ()),
    ("a stroke in the spleen", 4, ((112, 140), (112, 158))),
    ("a stroke in the spine", 3, ((129, 86), (129, 106))),
    ("undo", 0, ()),
)


def settle(widget):
    end = time.monotonic() + 0.5
    while widget.live.is_busy or time.monotonic() < end:
        QApplication.instance().processEvents()


viewer = napari.Viewer(show=True)
viewer.window.resize(1700, 800)
layers = [viewer._add_layer_from_data(*layer)[0] for layer in _layers.sample()]
strokes = layers[1]
strokes.data[strokes.data == 3] = strokes.data[strokes.data == 4] = 0
z = strokes.data.shape[0] // 2
viewer.dims.set_current_step(0, z)
widget = _widgets.LabelsWidget(viewer)
viewer.window.add_dock_widget(widget, name="Labels from strokes")
widget.has_margin.value = widget.is_live.value = True
settle(widget)
viewer.reset_view()
strokes.brush_size, columns = 3, []
for text, label, points in STEPS:
    if text == "undo":
        strokes.undo()
    elif points:
        with strokes.block_history():
            for fraction in np.linspace(0, 1, 30):
                y, x = np.array(points[0]) + fraction * np.subtract(points[1], points[0])
                strokes.paint((z, y, x), label)
    settle(widget)
    pictures = []
    for visible in ("labels", "margin"):
        for name in ("labels", "margin"):
            viewer.layers[name].visible = name == visible
        viewer.layers["margin"].opacity = 1.0
        settle(widget)
        pictures.append(Image.fromarray(viewer.screenshot(canvas_only=True, flash=False)).convert("RGB"))
    columns.append((text, pictures))
# The slice in the black window, without air above and below the patient.
left, top, right, bottom = columns[0][1][1].convert("L").point(lambda value: 255 * (value > 0)).getbbox()
top, bottom = top + (bottom - top) // 8, bottom - (bottom - top) // 8
height = 300 * (bottom - top) // (right - left)
strip = Image.new("RGB", (len(columns) * 304 - 4, 2 * height + 28), "white")
for i, (text, pictures) in enumerate(columns):
    ImageDraw.Draw(strip).text((304 * i + 2, 6), text, "black")
    for j, picture in enumerate(pictures):
        part = picture.crop((left, top, right, bottom)).resize((300, height))
        strip.paste(part, (304 * i, 24 + j * (height + 4)))
strip.save(pathlib.Path(__file__).parents[1] / "doc/images/Napari.png")
viewer.close()
