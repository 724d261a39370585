# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps of layers: parts of a volume one after the other, one slice, files with provenance, and what features mean."""

import math
import pathlib
import re

import numpy as np

from .._feature_maps import request_of
from .._maps import FeatureMaps
from . import _layers
from ._thread import collected

_MOST_PARTS = 32
# A row of the tables of features: abbreviation, name, name in the IBSI, formula, range, and what a greater value means.
_ROW = re.compile(r"^\| [A-Z0-9]+ \| (\w+) \| ([^|]*) \| \$.*?\$ \| ([^|]+) \| ([^|]+) \|", re.MULTILINE)


def descriptions():
    """A dict of the names of all features, with a text from the tables of doc/features, which are in the package."""
    found, folder = {}, pathlib.Path(__file__).with_name("features")
    if not folder.is_dir():
        # The package is used from its source.
        folder = pathlib.Path(__file__).parents[3] / "doc/features"
    for page in sorted(folder.glob("*.md")):
        text = page.read_text("utf-8")
        of_class = re.search(r"^\| PyRadiomics \| class `(\w+)`", text, re.MULTILINE)
        for feature, ibsi, interval, meaning in _ROW.findall(text):
            name, known = f"{of_class[1]}_{feature}", f" (IBSI: {ibsi})" if len(ibsi) > 1 else ""
            found[name] = f"{name}{known}, {interval}. Greater: {meaning}."
    return found


def compute(image, mask, settings, axis=0, index=None):
    """Compute feature_maps of layers part by part along z, or in one part the slice with an index along an axis.

    Yields the part that is done, from 0 to 1, and at last the FeatureMaps, whose attribute inside is the mask there, and warnings.
    """
    texts = []
    with collected(texts):
        request = request_of(_layers.gray_image_of(image), mask and _layers.image_of(mask), settings)
    if index is not None:
        box = list(request.box)
        if not box[axis].start <= index < box[axis].stop:
            reach = f"from {box[axis].start} to {box[axis].stop - 1}"
            raise ValueError(f"the slice {index} is outside of the mask, which reaches {reach}")
        box[axis] = slice(index, index + 1)
        request = request._replace(box=tuple(box), geometry=None)
    shape = request.map_shape()
    maps = np.empty((len(request.names), *shape), request.dtype)
    first, end, plane = request.box[0].start, request.box[0].stop, math.prod(shape[1:]) * maps.itemsize
    step = -(-(end - first) // (_MOST_PARTS if index is None else 1))
    for start in range(first, end, step):
        part = request._replace(box=(slice(start, min(start + step, end)), *request.box[1:]))
        part.run((), maps.ctypes.data + (start - first) * plane, math.prod(shape))
        yield min((start + step - first) / (end - first), 1.0)
    known = {name: value for name, value in settings.items() if name != "features"}
    provenance = _layers.provenance({"image": image, "mask": mask}, known)
    result = FeatureMaps(request.names, maps, request.box, request.geometry, request.image.shape, provenance=provenance)
    result.inside = None if request.mask is None else request.mask.array[request.box] != 0
    yield result
    yield from map(UserWarning, texts)


def visible_slice(layer, dims):
    """The axis and the index of the slice of a 3D layer that a viewer in 2D shows."""
    # Axes of a layer are the last ones of the viewer.
    others = dims.ndim - layer.ndim
    axis = max(max(dims.not_displayed, default=0) - others, 0)
    inverse = np.linalg.inv(_layers.matrix_of(layer))
    # As napari slices: without what is rotated out of the slice.
    position = inverse[axis, axis] * dims.point[axis + others] + inverse[axis, -1]
    return axis, int(np.clip(np.round(position), 0, _layers.array_of(layer).shape[axis] - 1))
