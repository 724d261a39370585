# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps of layers: parts of a volume one after the other, and files with provenance."""

import datetime
import json
import math
import pathlib

import numpy as np

import voxelmaps

from .._cohort.tables import PROVENANCE
from .. import _core
from .._feature_maps import CLASSES, request_of
from .._maps import FeatureMaps

_MOST_PARTS = 32


def feature_names():
    """Names of all features."""
    names = _core.feature_names()
    return [f"{name}_{feature}" for name in CLASSES for feature in names[name]]


def compute(x, mask, settings):
    """Compute feature_maps(x, mask, **settings) part by part along z.

    Yields the part that is done, from 0 to 1; returns the FeatureMaps.
    """
    request = request_of(x, mask, settings)
    shape = tuple(part.stop - part.start for part in request.box)
    maps = np.empty((len(request.names), *shape), request.dtype)
    first, end, plane = request.box[0].start, request.box[0].stop, math.prod(shape[1:]) * maps.itemsize
    step = -(-(end - first) // _MOST_PARTS)
    for start in range(first, end, step):
        part = request._replace(box=(slice(start, min(start + step, end)), *request.box[1:]))
        part.run((), maps.ctypes.data + (start - first) * plane, math.prod(shape))
        yield min((start + step - first) / (end - first), 1.0)
    return FeatureMaps(request.names, maps, request.box, request.geometry, request.image.shape)


def save(maps, folder, image, mask, settings):
    """Write maps as NIfTI files to a folder, and what they come from to provenance.json; returns the paths."""
    files = maps.save(folder)
    record = {
        "program": f"voxelmaps {voxelmaps.__version__}, plugin of napari",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "complete": True,
        "image": {"layer": image.name, "path": image.source.path},
        "mask": mask and {"layer": mask.name, "path": mask.source.path},
        "parameters": settings,
        "maps": {name: {"file": file.name} for name, file in zip(maps, files)},
    }
    path = pathlib.Path(folder, PROVENANCE)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return [*files, path]
