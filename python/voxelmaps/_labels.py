# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels of arrays and images from labeled seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from . import _arrays, _core, _filter_image, _masks, _refine, _seeds
from ._connectedness import checked_arguments, elements, estimate, fuzzy_connectedness, is_estimated, scene_of
from ._parameters import COMPETITIONS, LABELS, MOMENTS, TIE_RULES, number, with_parameters
from ._progress import shown
from ._suggestions import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import (
        Array,
        ArrayT,
        ImageLike,
        ImageT,
        LabeledIndices,
        LabelsAndMargin,
        LabelsAndStrength,
        LabelsParameters,
    )
    from ._types import NumPyArray, Path
else:
    ArrayT = TypeVar("ArrayT")

# Part of the voxels that may have no label without a warning.
_LARGE_PART = 0.1
_OF_EVERY_LABEL = " (estimate_of_every_label=True with competition='relative', or affinity='absolute_difference')"


class Segmentation(NamedTuple, Generic[ArrayT]):
    """Labels of voxels, and how certain they are.

    Parameters
    ----------
    labels : array or image
        The label of each voxel; 0 for none.
    strength : array or image, optional
        Strength of the connection to the winning label, in [0, 1]; None if it was not requested.
    margin : array or image, optional
        Lead of this strength over that of the strongest other label, in (0, 1]; where they are equal, at most 0, by the lead of the distance
        (see labels). None if it was not requested.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> result = voxelmaps.labels(image, {1: (0, 0), 2: (0, 5)}, affinity="absolute_difference", strength=True)
    >>> result.labels.tolist(), result.strength.tolist(), result.margin
    ([[1, 1, 1, 2, 2, 2]], [[1.0, 0.5, 0.5, 0.5, 0.5, 1.0]], None)
    """

    labels: ArrayT
    strength: ArrayT = None  # type: ignore[assignment]
    margin: ArrayT = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Segmentation({', '.join(f'{name}: {_short(value)}' for name, value in self._asdict().items())})"


def _short(value: Any) -> str:
    """An array or image in a few words."""
    is_array = hasattr(value, "shape") and hasattr(value, "dtype")
    return f"{value.dtype} of the shape {tuple(value.shape)}" if is_array else repr(value).partition("\n")[0]


def segmentation(scene, arrays, out=Segmentation(None)):
    """The results for arrays by name: labels alone as they are."""
    results = {name: scene.result(array, getattr(out, name)) for name, array in arrays.items()}
    return results["labels"] if len(results) == 1 else Segmentation(**results)


# --- Affinity ----------------------------------------------------------------------------------------------------------


def _given_affinities(moments, labels, largest, components):
    """The affinity of all labels, and a dict of those of single ones, from means and variances by name.

    labels    Labels of seeds, without repetition.
    """
    mean = moments.get("difference_mean")
    if components > 0 and mean is not None and np.ndim(mean) == 0 and not isinstance(mean, Mapping):
        # A number stands for all components.
        moments = {**moments, "difference_mean": [number(mean, "difference_mean")] * components}
    of_all, of_each = [], []
    for name in MOMENTS:
        value, each = moments.get(name), {}
        if isinstance(value, Mapping):
            for label, of_label in value.items():
                each[_seeds.label_of(label, largest)] = elements(of_label, components, f"{name}[{label}]")
            missing = [label for label in labels if label not in each]
            if missing:
                raise ValueError(f"{name} has no value of the label {missing[0]}, which has seeds")
            value = None
        of_all.append([] if value is None else elements(value, components, name))
        of_each.append(each)
    if not any(of_each):
        return of_all, {}
    each = {label: [values.get(label, v) for values, v in zip(of_each, of_all)] for label in labels}
    return each[labels[0]], each


# --- Computation -------------------------------------------------------------------------------------------------------


class Job:
    """Labels of the voxels of a scene, and what they are computed from.

    seeds      Numbers of voxels, and their labels.
    values     Parameters, which are checked.
    moments    Means and variances by name; empty if they are estimated.
    """

    def __init__(self, scene, seeds, values, moments):
        self._values, self._scene = values, scene
        if len(seeds.numbers) == 0:
            raise ValueError(
                "there are no seeds: no voxel of refine is certain inside the mask, and there are no strokes; give seeds, a smaller "
                "refine_distance or a larger mask"
            )
        check_crop(values, len(scene.shape))
        _seeds.check_inside(seeds.numbers, scene, seeds.labels)
        labels = np.flatnonzero(np.bincount(seeds.labels)).tolist()
        of_labels = [name for name, value in moments.items() if isinstance(value, Mapping)]
        if values["estimate_of_every_label"] and moments:
            raise ValueError("estimate_of_every_label is on, but an affinity is given: leave one of them out")
        if values["competition"] == "iterative" and (of_labels or values["estimate_of_every_label"]):
            what = f"{of_labels[0]} is a dict" if of_labels else "estimate_of_every_label is on"
            raise ValueError(
                f"competition is 'iterative', for which all labels must have the same affinity, but {what}: give "
                "competition='relative'"
            )
        if len(labels) == 1 and values["minimum_strength"] == 0:
            warn(
                f"all seeds have the label {labels[0]}, which no other label competes with, so that all voxels that its seeds reach get "
                "it: add seeds of what surrounds it, or give minimum_strength"
            )
        self.box, self._part, numbers = None, scene, seeds.numbers
        if values["crop_to_seeds"]:
            self.box, self._part, numbers = scene.around(numbers, _crop_margins(scene, values))
        self._seeds = _seeds.Seeds(*map(np.ascontiguousarray, (numbers, seeds.labels)))
        self._are_several = len(labels) > 1
        self._of_labels = {}
        if not is_estimated(values, moments):
            largest = np.iinfo(values["label_type"]).max
            self.affinity, self._of_labels = _given_affinities(moments, labels, largest, scene.components)
        elif values["estimate_of_every_label"]:
            self._of_labels = {label: self._estimate(label) for label in labels}
            self.affinity = self._of_labels[labels[0]]
        else:
            self.affinity = self._estimate()

    def _estimate(self, label=None):
        """The affinity of the voxels around the seeds of a label, or of all labels."""
        numbers, labels = self._seeds
        try:
            if label is not None:
                return estimate(self._part, numbers[labels == label], self._values)
            if not self._are_several:
                return estimate(self._part, numbers, self._values)
            return estimate(self._part, numbers, self._values, ", or estimate_of_every_label=True", labels)
        except ValueError as error:
            text = f"label {label}: {error}" if label else f"{error}{_OF_EVERY_LABEL}" if self._are_several else error
            raise ValueError(text) from None

    def named_affinity(self):
        """Means and variances that the affinity has, by name; those of vectors are arrays."""
        components, result = self._scene.components, {}
        for name, values in zip(MOMENTS, self.affinity):
            if self._values["affinity"] in LABELS[name].affects:
                values = values or [0.0] * max(components, 1)
                shape = (components,) if name.endswith("mean") else (components, components)
                result[name] = np.reshape(np.array(values, float), shape) if components > 0 else values[0]
        return result

    def compute(self, names, outputs=Segmentation(None), hierarchy=None):
        """Arrays of the library of the image, by name.

        names        Names of labels, strength and margin.
        outputs      Arrays for them, or None.
        hierarchy    See _core.compute_labels.
        """
        values, scene, part = self._values, self._scene, self._part
        strength_type = "float32" if values["precision"] == "float" else "float64"
        complete, parts = {}, {}
        for name in names:
            dtype = values["label_type"] if name == "labels" else strength_type
            what, given = "out" if name == "labels" else f"out.{name}", getattr(outputs, name)
            complete[name] = scene.output(given, dtype, what, part)
            parts[name] = complete[name]
            if part is not scene:
                parts[name] = _arrays.Array(scene.library.empty(part.shape, dtype), scene.library)
        numbers, labels = self._seeds
        with shown(values["progress"], math.prod(part.shape), "labels"):
            _core.compute_labels(
                part.problem(values),
                self.affinity,
                self._of_labels,
                hierarchy,
                seeds=numbers.ctypes.data,
                labels_of_seeds=labels.ctypes.data,
                number_of_seeds=len(numbers),
                competition=COMPETITIONS.index(values["competition"]),
                tie_rule=TIE_RULES.index(values["tie_rule"]),
                labels_are_16_bit=values["label_type"] == "uint16",
                is_double=values["precision"] == "double",
                **{name: parts[name].address if name in parts else 0 for name in Segmentation._fields},
            )
        if part is not scene:
            with scene.library.current_device():
                for name, output in complete.items():
                    output.array[...] = 0
                    output.array[self.box] = parts[name].array
        return {name: output.array for name, output in complete.items()}

    def warn_of_ties(self, labels):
        """Warn if a large part of the labels, an array of the library, is 0, although several labels compete."""
        values, mask = self._values, self._part.mask
        is_strict = values["tie_rule"] == "background" and values["minimum_strength"] == 0 and self._are_several
        if self._scene.library.device is not None or not is_strict:
            return
        labels = _arrays.Array(labels, self._scene.library).host()
        labels = labels if self.box is None else labels[self.box]
        voxels = labels.size if mask is None else int(np.count_nonzero(mask.host()))
        zeros = voxels - int(np.count_nonzero(labels))
        if zeros > _LARGE_PART * voxels:
            remedies = (
                ("competition", "iterative", "leaves fewer ties"),
                ("affinity", "absolute_difference", "suits objects of different noise"),
                ("tie_rule", "distance", "labels all ties"),
            )
            advice = [f"{name}={value!r} {effect}" for name, value, effect in remedies if values[name] != value]
            warn(
                f"{zeros} of {voxels} voxels have no label, since several labels have the same claim to them, or no seed reaches "
                f"them: {', '.join(advice)}"
            )


def check_crop(values, dimension):
    """Raise ValueError for a margin without a crop, or of another dimension."""
    margins = np.ravel(values["crop_margin"]).tolist()
    if len(margins) not in (1, dimension):
        raise ValueError(f"crop_margin is {margins}, but must be one number or {dimension}, one per axis")
    for name in () if values["crop_to_seeds"] else ("crop_margin", "crop_margin_in_millimeters"):
        if not np.array_equal(np.ravel(values[name]), np.ravel(LABELS[name].default)):
            raise ValueError(f"{name} is {values[name]!r}, but has no effect without crop_to_seeds")


def smoothed(scene, values):
    """The scene with the smoothing among the parameters."""
    if values["smoothing"] == 0:
        return scene
    if scene.components:
        raise ValueError(
            f"smoothing is {values['smoothing']}, but voxels of several components must be smoothed before"
        )
    rule = f"smoothing={values['smoothing']} needs finite intensities"
    remedy = f"{rule}, so replace them, such as by np.where(np.isfinite(image), image, 0), or give smoothing=0"
    _masks.check_finite(scene.pixels, None, nan_is_absent=False, remedy=remedy)
    given = scene.pixels, values["smoothing"], values["device"], values["threads"]
    return scene._replace(pixels=_filter_image.smoothed(*given))


def refined_of(values, scene, largest):
    """The Seeds of the segmentation that is to be refined, or None. Raises ValueError for parameters without it."""
    if values["refine"] is not None:
        if values["tie_rule"] != "distance":
            raise ValueError(
                f"tie_rule is {values['tie_rule']!r}, but refine needs 'distance': only the outermost of its voxels are seeds"
            )
        given = values["refine"], values["refine_distance"], values["refine_background"]
        return _refine.seeds_of(*given, scene, largest)
    for name in ("refine_distance", "refine_background"):
        if values[name] != LABELS[name].default:
            raise ValueError(f"{name} is {values[name]!r}, but has no effect without refine")
    return None


def with_refined(seeds, refined, values, scene):
    return seeds if refined is None else _refine.with_strokes(seeds, refined, values["refine_distance"], scene)


def _crop_margins(scene, values):
    """Numbers of voxels along each axis."""
    margins = np.broadcast_to(values["crop_margin"], len(scene.shape))
    if values["crop_margin_in_millimeters"]:
        # 7.7 mm are 11 voxels of 0.7 mm, although the quotient is a little more.
        margins = margins / np.array(scene.sizes) - 1e-6
    return [n if margin >= n else max(math.ceil(margin), 0) for margin, n in zip(margins.tolist(), scene.shape)]


@overload
def labels(
    image: Path,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsParameters],
) -> Any: ...
@overload
def labels(
    image: NumPyArray,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsParameters],
) -> NDArray[Any]: ...
@overload
def labels(
    image: ImageT,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsParameters],
) -> ImageT: ...
@overload
def labels(
    image: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsAndStrength],
) -> Segmentation[Any]: ...
@overload
def labels(
    image: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsAndMargin],
) -> Segmentation[Any]: ...
@with_parameters(LABELS, fuzzy_connectedness)
def labels(
    image: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | LabeledIndices | None = None,
    mask: Array | ImageLike | Path | None = None,
    **parameters: Unpack[LabelsAndStrength],
) -> Any:
    """Label every voxel with the label to whose seeds it is connected most strongly.

    Parameters
    ----------
    seeds : array, image, path or dict, optional
        Labels of voxels: integers on the grid of the image, 0 where there is no seed; or a dict that maps each label to the index of a
        voxel, in the order of the axes of the image (z, y, x for volumes), or to a list of indices.
    seed_points : dict, optional
        Physical points x, y, z in mm (LPS) by label, one or a list each, in addition to a dict of seeds or instead of it.
    object_mean : float or dict, optional
        Mean intensity of the object, for an affinity that has one. As in fuzzy_connectedness, it and the variances are estimated if none
        is given, here from the seeds of all labels together, whose intensities must be similar. With the competition "relative", each of
        them can be a dict with a value for every label, such as {1: 40, 2: 120}.
    affinity : {"geometric_mean", "weighted_sum", "minimum", "homogeneity", "absolute_difference"}, default "absolute_difference"
        How strongly neighbors are connected. With "absolute_difference", labels meet at the strongest edges between their seeds, whatever
        the intensities of the objects are; the others are those of fuzzy_connectedness, for objects of similar intensities.
    refine : array, image or path, optional
        A segmentation on the grid of the image, such as that of a network or an atlas: labels, and 0 in the background. Its voxels that are
        at least refine_distance from a border between labels are seeds, in addition to the others; where these contradict it, it has no
        seeds of other labels within this distance.
    refine_distance : float, default 5
        Distance in mm from the borders of the segmentation within which it may be wrong; of a label that is nowhere that thick, only the
        voxels farthest from its border are seeds.
    refine_background : int, optional
        Label of the background of the segmentation, for seeds and in the result; default: one more than its greatest label.
    estimate_of_every_label : bool, default False
        Estimate means and variances for each label from its own seeds, with the competition "relative" and an affinity that has them.
    competition : {"relative", "iterative"}, default "iterative"
        A voxel goes to the label with the strongest path, or, iteratively, to the label whose strongest path no other label blocks.
    tie_rule : {"background", "lowest_label", "distance"}, default "distance"
        Ties between labels get 0, the lowest of the tied labels, or the tied label whose nearest untied voxel is closest, in mm along
        paths from it through tied voxels, which may lead to voxels where more labels are tied, but not fewer. With "distance", both
        competitions give the same labels.
    smoothing : float, default 0
        Standard deviation, in voxels, of a Gaussian that the image is smoothed with first. Noise opens paths through weak edges; 0.7 helps
        most after some strokes.
    components_axis : {0, -1}, optional
        Axis of the components of voxels of up to 16 components, such as colors. Means are then vectors, variances are matrices.
    label_type : dtype, default "uint16"
        Type of the labels: "uint16", up to 65535, or "uint8", up to 255.
    strength : bool, default False
        Whether to compute the strength of the connection to the winning label.
    margin : bool, default False
        Whether to compute the lead of this strength over that of the strongest other label. Where the strengths tie and the tie rule is "distance", it is -1 / (1 + lead), and the lead is by how many voxels of
        the smallest spacing the nearest other label is farther than the own one: -1 where both are equally near, -0.5 where it is one voxel
        farther, and 0 where no other label reaches. Another stroke helps most where the margin is smallest.
    crop_to_seeds : bool, default False
        Whether to label only the box of all seeds with a margin.
    crop_margin : float or one per axis, default 10
        Margin of this box, in voxels.
    crop_margin_in_millimeters : bool, default False
        Whether crop_margin is in mm.
    out : array or Segmentation, optional
        Array in C order for the labels, of the shape of the image, or a Segmentation of arrays.
    **parameters
        Further keywords, which are those of fuzzy_connectedness.

    Returns
    -------
    array, image or Segmentation
        Labels of the kind of the image (of SimpleITK for a path), on its device, where they are computed in the current stream of the
        library; with strength or margin, a Segmentation. Labels are 0 where no seed reaches, and for ties.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, with the value and the rule.
    RuntimeError
        If a device fails.

    Warns
    -----
    UserWarning
        If all seeds have one label, which then has no competitor, and if there are many ties.

    See Also
    --------
    SeedSession : Labels of the same image again and again, while seeds are edited.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> voxelmaps.labels(image, {1: (0, 0), 2: (0, 5)}, affinity="absolute_difference").tolist()
    [[1, 1, 1, 2, 2, 2]]
    """
    values, moments = checked_arguments(parameters, "labels", LABELS, ("seeds", "mask"))
    scene = smoothed(scene_of(image, values), values).masked(mask, values["label"])
    largest = np.iinfo(values["label_type"]).max
    found = _seeds.labeled(seeds, values["seed_points"], scene, largest, values["refine"] is not None)
    job = Job(scene, with_refined(found, refined_of(values, scene, largest), values, scene), values, moments)
    out = values["out"] if isinstance(values["out"], Segmentation) else Segmentation(values["out"])
    names = [n for n, given in zip(Segmentation._fields, out) if n == "labels" or values[n] or given is not None]
    arrays = job.compute(names, out)
    job.warn_of_ties(arrays["labels"])
    return segmentation(scene, arrays, out)
