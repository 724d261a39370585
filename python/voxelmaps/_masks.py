# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The voxels that a mask and a label mean, and what intensities may be there."""

import contextlib
import math

import numpy as np

from . import _arrays
from ._parameters import listed
from ._suggestions import warn

# A file that is scaled by its writer has 0.99998 for 1.
_TOLERANCE = 1e-3
# A label map has fewer values in a sample of so many voxels, and an image has more.
_MANY, _SAMPLE = 100, 2**17
# Labels of an image that was taken for the mask, and of one that certainly was.
_FEW, _BINARY = 20, 2


def _label(value):
    number = value
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        # Integers are not converted to float, which holds those up to 2^53.
        number = int(value) if float(value).is_integer() and not isinstance(value, (str, bool, np.bool_)) else 0
    if not isinstance(number, int) or number == 0 or isinstance(number, bool):
        raise ValueError(f"label is {value!r}, but must be an integer other than 0, or a list of them")
    return number


def labels_of(label):
    """A tuple of the labels that are given as one number or a list; None if none is."""
    if label is None:
        return None
    labels = (label,) if np.ndim(label) == 0 else tuple(label)
    if not labels:
        raise ValueError("label is an empty list, but must name at least one label")
    return tuple(map(_label, labels))


def _list_of_values(array):
    """Text of the values of an array of any library."""
    values = np.unique(array.host())
    present = [f"{value}" if values.dtype.kind in "iu" else f"{float(value):.12g}" for value in values]
    if len(present) == 1:
        return f"only the value {present[0]}"
    return f"the values {listed(present) if len(present) <= 20 else ', '.join([*present[:20], '...'])}"


def _number_of_values(array):
    """How many values a sample of an array of any library has."""
    flat = array.array.reshape(-1)
    sample = flat[:: max(flat.shape[0] // _SAMPLE, 1)]
    return len(np.unique(_arrays.Array(sample, array.library).host()))


def _refuse_many_values(mask, what, image_name, many=_MANY, labels=()):
    """Raise ValueError if the mask has as many values as an image; or warn, if labels are named that it has."""
    least, greatest = mask.extremes()
    number = _number_of_values(mask)
    if number >= many:
        number = "hundreds of" if number >= _MANY else number
        text = f"{what} has {number} values, from {least:g} to {greatest:g}, as an image has: are {image_name} and {what} swapped?"
        with mask.library.current_device():
            has_labels = any(bool((mask.comparable() == label).any()) for label in labels)
        if not has_labels:
            raise ValueError(f"{text} If not, make a mask of it, such as {what.removeprefix('the ')} == 1")
        warn(text)


def integers(array, what, remedy=None, image_name="the image"):
    """The array, with values within 10^-3 of an integer as this integer, and NaN as 0. Raises ValueError if there are others."""
    if array.dtype not in (*_arrays.PIXEL_TYPES, "bool", "float16", "bfloat16"):
        raise TypeError(f"{what} has voxels of type {array.dtype}, but they must be real numbers of at most 64 bits")
    if "float" not in array.dtype or 0 in array.shape:
        return array
    library, module = array.library, array.library.module()
    with library.current_device():
        values = module.where(module.isnan(array.array), 0, array.array)
        rounded = module.round(values)
        with np.errstate(invalid="ignore"):
            is_near = abs(values - rounded) <= _TOLERANCE
        if not is_near.all():
            wrong = _arrays.Array(values[~is_near][:1], library).host()[0]
            number = int((~is_near).sum())
            values = _arrays.Array(values, library)
            least, greatest = values.extremes()
            if remedy is None and not (least >= -_TOLERANCE and greatest <= 1 + _TOLERANCE):
                _refuse_many_values(values, what, image_name)
            raise ValueError(
                f"{what} has {number} values that are not integers, such as {float(wrong):.6g}: "
                + (remedy or f"threshold it first, such as {what.removeprefix('the ')} > 0.5")
            )
        return _arrays.Array(rounded, library)


def region(mask, label=None, what="mask", image=None, image_name="the image", empty="error"):
    """The voxels inside, as an Array of bytes in C order that are not 0 there.

    mask     Array of any library: of bool, of 0 and one other value, or of labels.
    label    A label or several, which are inside together; None for a mask with one value other than 0.
    what     How errors call the mask.
    image    The Array whose region it is, if it is known, and how errors call it.
    empty    "background" if no voxel has to be inside; None if that is only a warning for a mask of zeros.

    Raises ValueError if the mask means nothing, or not one thing.
    """
    if 0 in mask.shape:
        return _arrays.bytes_of(mask, what)
    labels, library = labels_of(label), mask.library
    values = integers(mask, what, image_name=image_name)
    # Values of a mask without a label say what is inside.
    least, greatest = values.extremes() if labels is None else (None, None)
    if labels is not None:
        _refuse_image(values, what, image, image_name, labels)
    elif (least, greatest) == (0, 0):
        if empty is None:
            warn(
                f"no voxel of {what} is other than 0, so that maps are background; empty says whether this is an error"
            )
        elif empty == "error":
            report_missing(mask, what)
        return _arrays.bytes_of(values, what)
    elif "float" not in mask.dtype and (least, greatest) in ((0, 1), (1, 1)):
        return _arrays.bytes_of(mask, what)
    with library.current_device():
        compared = values.comparable()
        inside, missing = None, []
        for each in labels or (greatest or least,):
            of_label = compared == each
            inside = of_label if inside is None else inside | of_label
            missing += [] if of_label.any() else [each]
        is_single = labels is not None or bool(((compared != 0) == inside).all())
    if not is_single:
        _refuse_many_values(values, what, image_name)
        raise ValueError(
            f"{what} has {_list_of_values(values)}, but a mask must have 0 and one other value: say which label is meant, "
            "such as label=1 or label=[1, 2]"
        )
    if missing and not (empty == "background" and len(missing) == len(labels)):
        report_missing(mask, what, missing, labels)
    return _arrays.bytes_of(_arrays.Array(inside, library), what)


def _refuse_image(values, what, image, image_name, labels=()):
    """Raise ValueError for a label map that is probably an image: atlases have many labels, of which others than the first are
    named, and their image has more than a few values. Named labels are believed, but the first, which is a default."""
    least, greatest = values.extremes()
    if greatest - least < _FEW:
        return
    if image is not None:
        refuse_same(values, what, image, image_name)
    of_image = _MANY if image is None else _number_of_values(image)
    is_first_label = labels == (1,)
    if is_first_label or of_image <= _FEW:
        many = _FEW if of_image <= _BINARY else _MANY
        _refuse_many_values(values, what, image_name, many, () if is_first_label else labels)


def refuse_same(mask, what, image, image_name="the image"):
    """Raise ValueError if the values of a mask are those of the image: each region would have one intensity."""
    with image.library.current_device():
        is_same = mask.shape == image.shape and bool((mask.comparable() == image.comparable()).all())
    if is_same:
        raise ValueError(f"{what} has the values of {image_name}, but must say where the regions are: is it the image?")


def label_map(mask, label, what="mask", image=None, image_name="the image"):
    """The mask as an Array of integers in C order, and a list of the labels of regions; empty for all of them.

    label    "all", a label, or several, each of which is a region.
    """
    values = integers(mask, what, image_name=image_name)
    least, greatest = values.extremes()
    is_all = label is None or isinstance(label, str) and label == "all"
    _refuse_image(values, what, image, image_name, () if is_all else labels_of(label))
    if greatest >= 2**63:
        raise ValueError(f"{what} has the label {greatest}, but labels must be below 2^63")
    # With the bytes in the order of this machine.
    dtype = "uint8" if values.dtype == "bool" else "int64" if "float" in values.dtype else values.dtype
    array = _arrays.Array(values.library.contiguous(values.array, dtype), values.library)
    if (least, greatest) == (0, 0):
        report_missing(mask, what)
    if is_all:
        if least < 0:
            raise ValueError(
                f"{what} has negative values, from {least:g}, as an image has: are {image_name} and {what} swapped? If not, name the "
                "labels, such as label=[1, 2]"
            )
        return array, []
    labels = list(labels_of(label))
    if len(set(labels)) < len(labels):
        raise ValueError(f"label is {label!r}, but each label must be given once")
    return array, labels


def report_missing(mask, what="mask", missing=(), labels=()):
    """Raise ValueError since no voxel of the mask is inside, or warn, if only some of the labels that are wanted are missing."""
    wanted = f"{' or '.join(map(str, missing))} (label)" if missing else "other than 0"
    text = f"no voxel of {what} is {wanted}; it has {_list_of_values(mask)}"
    if len(missing) == len(labels):
        raise ValueError(text)
    warn(text)


def selection(array, mask, empty="error"):
    """The voxels whose features are computed, as an Array of bytes. Raises ValueError if there are none inside the mask, or if they are
    an image."""
    values = integers(array, "selection")
    selected = _arrays.bytes_of(values, "selection")
    if 0 in array.shape:
        return selected
    _refuse_many_values(values, "selection", "the image")
    if empty == "background":
        return selected
    with selected.library.current_device():
        if not (selected.array != 0).any():
            report_missing(array, "selection")
        # A mask that is empty has been reported.
        is_outside = mask is not None and not ((selected.array != 0) & (mask.array != 0)).any()
        if is_outside and (mask.array != 0).any():
            raise ValueError("no voxel of selection is inside mask, so that there is nothing to compute")
    return selected


def bounds(mask):
    """Lists of the first and of the last index inside along each axis, of an Array that is not empty."""
    first, last, inside = [], [], mask.array
    axes = range(len(mask.shape))
    with mask.library.current_device():
        for axis in axes:
            used = inside
            for other in reversed([other for other in axes if other != axis]):
                used = used.any(other)
            used = np.flatnonzero(_arrays.Array(used, mask.library).host())
            first.append(int(used[0]))
            last.append(int(used[-1]))
            # The next axes search what is left.
            inside = inside[(slice(None),) * axis + (slice(first[-1], last[-1] + 1),)]
    return first, last


def check_finite(image, inside, what="image", mask_name=None, nan_is_absent=True, remedy=None, empty="error"):
    """Raise ValueError for infinite intensities inside, or if all are NaN, and warn of NaN inside a mask.

    image        Array of pixels.
    inside       Array of bytes of its shape, or of that of its last axes, which are not 0 inside; None for all voxels.
    mask_name    How the mask is called; None without a mask.
    nan_is_absent
                 Whether NaN is an absent voxel; else it is an error, too.
    remedy       What errors advise, if not to leave the voxels out of the mask.
    empty        "background" if there may be no intensities.
    """
    if not image.dtype.startswith("float") or 0 in image.shape:
        return
    if all(map(math.isfinite, image.extremes())):
        return
    module = image.library.module()
    with image.library.current_device():
        region = True if inside is None else inside.array != 0
        infinite = int(module.count_nonzero(module.isinf(image.array) & region))
        absent = int(module.count_nonzero(module.isnan(image.array) & region))
        is_empty = absent > 0 and not ((image.array == image.array) & region).any()
    where = f" inside {mask_name}" if mask_name is not None else ""
    remedy = remedy or "leave them out of the mask, such as mask & np.isfinite(image)"
    texts = [f"{number} voxel{'s' * (number > 1)}{where}" for number in (infinite, absent)]
    if infinite:
        raise ValueError(f"{what} is infinite at {texts[0]}: {remedy}")
    if absent and not nan_is_absent:
        raise ValueError(f"{what} is NaN at {texts[1]}: {remedy}")
    if is_empty and empty != "background":
        raise ValueError(f"{what} is NaN at all {absent} voxels{where}, so that there are no intensities")
    if absent and mask_name is not None:
        warn(f"{what} is NaN at {texts[1]}, which {'are' if absent > 1 else 'is'} absent as those outside")
