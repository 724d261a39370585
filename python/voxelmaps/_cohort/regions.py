# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Values of the regions of cases: in the process that computes them."""

import functools
import importlib.metadata
import json

from .. import _arrays, _region_features, _regions
from .._files import writing
from .._image import difference_of_grids
from ..radiomics import _filters, _preparation, _settings, _values
from . import cases
from .tables import Outcome


@functools.lru_cache(1)
def parameters_of(task):
    """The checked parameters of a task."""
    parameters = _settings.read(task.params, json.loads(task.settings), voxel_based=False)
    if not parameters.classes:
        raise ValueError("no feature is chosen; see --classes and --features")
    _filters.check_libraries(parameters.image_types)
    return parameters


def _origin(parameters):
    """What values depend on, in addition to image, mask and label."""
    settings = {name: value for name, value in parameters.general().items() if name not in ("label", "additionalInfo")}
    types = {
        image_type: {**parameters.special(image_type), **_filters.versions(image_type)}
        for image_type in parameters.image_types
    }
    origin = {"settings": settings, "classes": parameters.classes, "image_types": types}
    return cases._jsonable({**origin, "voxelmaps": importlib.metadata.version("voxelmaps")})


def outcomes(task, case, report):
    """Compute the labels of a case, or take them from an earlier run; yields an Outcome of each."""
    parameters = parameters_of(task)
    writing.Threads.number = task.threads
    cases.check_inputs(case)
    labels = case.labels
    if labels == "all":
        mask, entry = cases._load(case.mask, "mask")
        labels = cases.labels_in(mask, entry, case, parameters.settings)
    parts = [case._replace(label=label) for label in labels or [parameters.settings["label"]]]
    boxes = {} if len(parts) > 1 else None
    yield from cases.outcomes_of_parts(parts, lambda part: _outcome(parameters, part, boxes, report))


def _cropped(image, mask, settings, boxes):
    """Image, mask and settings of a label in its bounding box, where that has all that the values depend on.

    boxes    Keeps the boxes of the labels of the last mask, which are found in one pass.
    """
    is_resampled = settings["interpolator"] is not None and settings["resampledPixelSpacing"] is not None
    if settings["normalize"] or is_resampled or difference_of_grids(image, mask, "the mask"):
        return image, mask, settings
    if boxes.get("mask") is not mask:
        arrays = [_arrays.array_of(each, "") for each in (_preparation.scalar_mask(mask, settings).array, image.array)]
        labels, _ = _regions.label_map(arrays[0], settings["label"], "the mask", arrays[1], "the image")
        boxes.update(mask=mask, labels=labels, of_label=_region_features.boxes(labels, writing.Threads.number))
    box = boxes["of_label"].get(settings["label"])
    if box is None:
        return image, mask, settings
    inside = mask.with_array(boxes["labels"]).part(box)
    return image.part(box), inside.with_array(inside.array == settings["label"]), {**settings, "label": None}


def _outcome(parameters, case, boxes, report):
    origin = _origin(parameters)
    for record in case.known:
        if record["label"] == case.label and record["origin"] == origin:
            if all(cases._is_unchanged(getattr(case, what), record[what]) for what in ("image", "mask")):
                return Outcome(case, case.label, record["values"], 1, record["voxels"])
    report((0, "reading"))
    image, of_image = cases._load(case.image, "image")
    mask, of_mask = cases._load(case.mask, "mask", image, case.label)
    report((0.1, f"label {case.label}"))
    settings = {**parameters.settings, "label": case.label, "kernelRadius": 0, "additionalInfo": False}
    # All other images depend on what is around the box.
    if boxes is not None and list(parameters.image_types) == ["Original"]:
        image, mask, settings = _cropped(image, mask, settings, boxes)
    prepared = _preparation.prepare(image, mask, settings, False)
    values = _values.values_of(prepared, parameters._replace(settings=settings))
    voxels = int(prepared.roi.array.sum())
    record = {"label": case.label, "origin": origin, "image": of_image, "mask": of_mask, "voxels": voxels}
    return Outcome(case, case.label, cases._jsonable(values), 0, voxels, record=cases._jsonable(record))
