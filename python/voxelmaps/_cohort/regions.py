# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Values of the regions of cases: in the process that computes them."""

from .. import _arrays, _masks, _outputs, _regions
from .._files import dicom, writing
from .._image import difference_of_grids
from ..radiomics import _preparation, _values
from . import cases
from .tables import Outcome

# The last mask, the setting of its channel, its labels, and the boxes of these, which are found in one pass.
_last = [(None, None, None, None)]


def _cropped(image, mask, settings):
    """Image, mask and settings of a label in its bounding box, where that has all that the values depend on."""
    is_resampled = settings["interpolator"] is not None and settings["resampledPixelSpacing"] is not None
    if settings["normalize"] or is_resampled or difference_of_grids(image, mask, "the mask"):
        return image, mask, settings
    # Other threads may replace what is kept.
    last, channel = _last[0], settings["label_channel"]
    if last[0] is not mask or last[1] != channel:
        arrays = [_arrays.array_of(each, "") for each in (_preparation.scalar_mask(mask, settings).array, image.array)]
        labels, _ = _masks.label_map(arrays[0], settings["label"], "the mask", arrays[1], "the image")
        last = _last[0] = mask, channel, labels.array, _regions.boxes(labels.array, writing.Threads.number)
    box = last[3].get(settings["label"])
    if box is None:
        return image, mask, settings
    inside = mask.with_array(last[2]).part(box)
    return image.part(box), inside.with_array(inside.array == settings["label"]), {**settings, "label": None}


def origin(task):
    """What values depend on, in addition to image, mask and label."""
    parameters = cases.parameters_of(task)
    general = {name: value for name, value in parameters.general().items() if name not in ("label", "additionalInfo")}
    general |= {} if task.suv is None else {"suv": task.suv}
    return _outputs.jsonable(parameters.origin({**general, "classes": parameters.classes}))


def outcome(task, case):
    """Compute the values of one label, or take them from an earlier run."""
    parameters = cases.parameters_of(task)
    label = cases.number_of(case, parameters)
    for record in case.known:
        if record["label"] == label and all(
            _outputs.is_unchanged(getattr(case, what), record[what]) for what in ("image", "mask")
        ):
            return Outcome(case, label, record["values"], 1, record["voxels"], record=record)
    if str(label) in case.present and not task.overwrite:
        raise _outputs.refusal(
            f"the table has values of the label {label} of another image or mask of these names", "--overwrite"
        )
    image, of_image = cases.load(case.image, "image", suv=task.suv)
    mask, of_mask = cases.load(case.mask, "mask", image, label, case.image)
    cases.note_other_labels(mask, label, case)
    segment = dicom.segment_names(case.mask).get(label)
    settings = {**parameters.settings, "label": label, "kernelRadius": 0, "additionalInfo": False}
    # All other images depend on what is around the box.
    if case.has_several_labels() and list(parameters.image_types) == ["Original"]:
        image, mask, settings = _cropped(image, mask, settings)
    prepared = _preparation.prepare(image, mask, settings, False)
    values = _values.values_of(prepared, parameters._replace(settings=settings))
    voxels = int(prepared.roi.array.sum())
    record = {"label": label, "origin": origin(task), "image": of_image, "mask": of_mask, "voxels": voxels}
    named = {} if segment is None else {"segment": segment}
    return Outcome(case, label, _outputs.jsonable({**named, **values}), 0, voxels, record=_outputs.jsonable(record))
