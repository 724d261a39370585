# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels of voxels from seeds that are edited again and again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from . import _arrays, _core, _seeds
from ._connectedness import check_effects, checked_arguments, is_estimated, moments_of, scene_of
from ._labels import Job, Segmentation, check_crop, labels, refined_of, segmentation, smoothed, with_refined
from ._parameters import MOMENTS, OF_IMAGES, SEED_SESSION, checked, with_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import Array, ArrayT, ImageLike, ImageT, LabeledIndices, NumPyArray, Path, SessionAndMargin
    from ._types import SessionAndStrength, SessionParameters, UpdateAndMargin, UpdateAndStrength, UpdateParameters
else:
    ArrayT = TypeVar("ArrayT")

# Parameters of the graph: if they change, it is made again.
_OF_GRAPH = ("affinity", "weight", "adjacency", "distance_weighting")
# Number of edits that undo() brings back.
_MOST_UPDATES = 100
_OF_UPDATES = {name: parameter for name, parameter in SEED_SESSION.items() if name not in OF_IMAGES}


def _with_copied_mask(scene, values):
    scene = scene.masked(values["mask"], values["label"])
    return scene._replace(mask=scene.mask and scene.mask.copy())


@with_parameters(SEED_SESSION, labels)
class SeedSession(Generic[ArrayT]):
    """Label all voxels of an image from labeled seeds, repeatedly, while a user adds and deletes seeds.

    The first update() contracts the image to a small graph, which the session retains; later ones take a fraction of the time.
    Labels are those of voxelmaps.labels with the same seeds, parameters and affinity.

    Parameters
    ----------
    image : array, image or path
        As in voxelmaps.labels; it is copied. Labels are of the same kind and on the same device.
    **parameters
        Keywords of voxelmaps.labels, except out and seed_points, and the mask.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, with the value and the rule.
    RuntimeError
        If a device fails.

    Notes
    -----
    The affinity "absolute_difference" has nothing to estimate. With another one, if no mean and variance is given, the first update()
    estimates them from its seeds, and the session keeps this estimate: another affinity would change labels far from the edited seed,
    and would need another graph. reestimate() makes the next update() estimate again. With affinities of single labels, such as
    object_mean={1: 40, 2: 120} or estimate_of_every_label=True, there is no graph to keep, and every update() takes as long as the first.

    Methods of one session wait for each other, except cancel(), which is for another thread. The graph has about 7 bytes per voxel with
    6 neighbors, in addition to the copy of the image and the labels. A session used in a with statement releases it at the end.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.array([[7, 8, 7, 1, 0, 1]], np.float32)
    >>> strokes = np.array([[1, 0, 0, 0, 0, 2]], np.uint8)
    >>> with voxelmaps.SeedSession(image, affinity="absolute_difference") as session:
    ...     first = session.update(strokes)
    ...     strokes[0, 3] = 3
    ...     second, margin = session.update(strokes, tie_rule="lowest_label"), session.margin
    >>> first.tolist(), second.tolist()
    ([[1, 1, 1, 2, 2, 2]], [[1, 1, 1, 3, 2, 2]])
    """

    @overload
    def __init__(self: SeedSession[Any], image: Path, **parameters: Unpack[SessionParameters]) -> None: ...
    @overload
    def __init__(
        self: SeedSession[NDArray[Any]], image: NumPyArray, **parameters: Unpack[SessionParameters]
    ) -> None: ...
    @overload
    def __init__(self: SeedSession[ImageT], image: ImageT, **parameters: Unpack[SessionParameters]) -> None: ...
    @overload
    def __init__(
        self: SeedSession[Segmentation[Any]], image: Any, **parameters: Unpack[SessionAndStrength]
    ) -> None: ...
    @overload
    def __init__(self: SeedSession[Segmentation[Any]], image: Any, **parameters: Unpack[SessionAndMargin]) -> None: ...
    def __init__(self, image: Array | ImageLike | Path, **parameters: Unpack[SessionAndStrength]) -> None:
        values, _ = checked_arguments(parameters, "SeedSession", SEED_SESSION, ())
        scene = smoothed(scene_of(image, values), values)
        check_crop(values, len(scene.shape))
        if scene.pixels.address == _arrays.array_of(scene.opened.image.array, "image").address:
            # The graph is only right for the voxels that it was made of.
            scene = scene._replace(pixels=scene.pixels.copy())
        self._lock = threading.RLock()
        self._scene, self._values = _with_copied_mask(scene, values), values
        # Means and variances that the first update() has estimated.
        self._estimate: dict[str, Any] = {}
        self._hierarchy = _core.Hierarchy()
        # The seeds of the segmentation that is to be refined.
        self._refined = refined_of(values, self._scene, self._grid[1])
        # What the graph depends on; the mask by identity, since it is not written to.
        self._mask_of_graph: _arrays.Array | None = None
        self._key: Any = None
        # The seeds of all updates, the last ones of which undo() brings back.
        self._seeds: list[Any] = []
        # The last update() and its results; None if it did not succeed.
        self._last: tuple[Job, dict[str, Any]] | None = None
        self._affinity: dict[str, Any] | None = None

    @property
    def _grid(self):
        """What _seeds has to know of the image, and the greatest label."""
        return self._scene, np.iinfo(self._values["label_type"]).max

    def __reduce_ex__(self, protocol):
        raise TypeError("a SeedSession cannot be copied or pickled; make another one of the same image")

    def __repr__(self) -> str:
        size = " × ".join(map(str, self._scene.shape))
        return f"SeedSession({size} voxels, affinity {self._values['affinity']!r}, {self.memory} bytes)"

    def __enter__(self) -> SeedSession[ArrayT]:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @overload
    def update(
        self,
        seeds: Array | ImageLike | Path | LabeledIndices | None = None,
        *,
        seed_points: Mapping[int, Any] | None = None,
        **parameters: Unpack[UpdateParameters],
    ) -> ArrayT: ...
    @overload
    def update(
        self,
        seeds: Array | ImageLike | Path | LabeledIndices | None = None,
        *,
        seed_points: Mapping[int, Any] | None = None,
        **parameters: Unpack[UpdateAndStrength],
    ) -> Segmentation[Any]: ...
    @overload
    def update(
        self,
        seeds: Array | ImageLike | Path | LabeledIndices | None = None,
        *,
        seed_points: Mapping[int, Any] | None = None,
        **parameters: Unpack[UpdateAndMargin],
    ) -> Segmentation[Any]: ...
    @with_parameters(_OF_UPDATES, labels, is_update=True)
    def update(
        self,
        seeds: Array | ImageLike | Path | LabeledIndices | None = None,
        *,
        seed_points: Mapping[int, Any] | None = None,
        **parameters: Unpack[UpdateAndStrength],
    ) -> Any:
        """Label all voxels.

        Parameters
        ----------
        seeds : array, image, path or dict, optional
            As in voxelmaps.labels: all seeds, not only new ones. They are copied.
        seed_points : dict, optional
            As in voxelmaps.labels.
        **parameters
            Keywords of the session that change, for this and later updates; those that are left out stay. The graph is made again if it
            depends on them: mask, affinity, adjacency and distance_weighting.

        Returns
        -------
        array, image or Segmentation
            What voxelmaps.labels returns.

        Raises
        ------
        ValueError, TypeError
            For invalid arguments. All parameters are then as they were before, and the session can go on.
        InterruptedError
            If another thread calls cancel().

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 7], [1, 0, 1]], affinity="absolute_difference")
        >>> session.update({1: (0, 0), 2: [(1, 0), (1, 2)]}).tolist()  # y, x
        [[1, 1, 1], [2, 2, 2]]
        """
        with self._lock:
            self._hierarchy.set_canceled(False)
            self._last = None
            changed = checked(parameters, "update", _OF_UPDATES, ("seeds", "seed_points"))
            values = {**self._values, **{name: changed[name] for name in parameters}}
            is_estimated_again = values["estimate_of_every_label"] or {"affinity", "estimation_radius"} & set(
                parameters
            )
            kept = {} if is_estimated_again else self._estimate
            moments = moments_of({**values, **{n: v for n, v in kept.items() if values[n] is None}})
            check_effects(parameters, values, _OF_UPDATES, {} if kept else moments)
            scene = self._scene
            if "mask" in parameters or "label" in parameters:
                scene = _with_copied_mask(scene, values)
            refined = self._refined
            if {"refine", "refine_distance", "refine_background", "mask", "label", "tie_rule"} & set(parameters):
                refined = refined_of(values, scene, self._grid[1])
            found = _seeds.labeled(seeds, seed_points, *self._grid, may_be_empty=refined is not None)
            job = Job(scene, with_refined(found, refined, values, scene), values, moments)
            key = [job.box, list(job.affinity), *(values[name] for name in _OF_GRAPH)]
            if key != self._key or scene.mask is not self._mask_of_graph:
                self._hierarchy.release()
            self._key, self._mask_of_graph = key, scene.mask
            names = [name for name in Segmentation._fields if name == "labels" or values[name]]
            arrays = job.compute(names, hierarchy=self._hierarchy)
            self._affinity = job.named_affinity()
            if is_estimated(values, moments) and not values["estimate_of_every_label"]:
                kept = self._affinity
            self._values, self._scene, self._estimate, self._refined = values, scene, kept, refined
            self._last = job, {name: array for name, array in arrays.items() if name != "labels"}
            if not self._seeds or not all(map(np.array_equal, found, self._seeds[-1])):
                self._seeds = [*self._seeds[1 - _MOST_UPDATES :], found]
            return segmentation(scene, arrays)

    def undo(self) -> Any:
        """Label all voxels with the seeds before the last change of seeds, and the present parameters.

        Up to 99 changes can be undone, one after another.

        Returns
        -------
        array, image or Segmentation
            What update() returns.

        Raises
        ------
        RuntimeError
            If there is no earlier update() with other seeds.

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 7, 6, 3]])
        >>> first = session.update({1: (0, 0), 2: (0, 4)})
        >>> session.update({1: (0, 0), 2: [(0, 4), (0, 2)]}).tolist()
        [[1, 1, 2, 2, 2]]
        >>> session.undo().tolist()
        [[1, 1, 1, 1, 2]]
        """
        with self._lock:
            if len(self._seeds) < 2:
                raise RuntimeError("there is nothing to undo: no earlier update() had other seeds")
            kept = self._seeds
            self._seeds = kept[:-2]
            try:
                return self.update(kept[-2])
            except BaseException:
                self._seeds = kept
                raise

    def _result(self, name):
        with self._lock:
            if self._last is None:
                raise RuntimeError(f"there is no {name}: the last update() did not succeed, or there was none")
            job, arrays = self._last
            if name not in arrays:
                self._hierarchy.set_canceled(False)
                arrays[name] = job.compute(["labels", name], hierarchy=self._hierarchy)[name]
            return self._scene.result(arrays[name])

    @property
    def strength(self) -> Any:
        """Strength of the winner of the last update(), in [0, 1], of the kind and shape of the image.

        It is computed when it is first read, in about the time of an update(); with strength=True, by each update().

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 7, 6, 3]], affinity="absolute_difference")
        >>> labels = session.update({1: (0, 0), 2: (0, 4)})
        >>> session.strength.tolist()
        [[1.0, 0.5, 0.5, 0.5, 1.0]]
        """
        return self._result("strength")

    @property
    def margin(self) -> Any:
        """Strength of the winner minus that of the strongest other label; at most 0 for ties: how certain the label is.

        Where the strengths tie and the tie rule is "distance", the margin is -1 / (1 + lead), and the lead is by how many voxels of
        the smallest spacing the nearest other label is farther than the own one: -1 where both are equally near, -0.5 where it is one voxel
        farther, and 0 where no other label reaches. Another stroke helps most where the margin is smallest.

        It is computed when it is first read; with margin=True, by each update().

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 7, 6, 3]], affinity="absolute_difference")
        >>> labels = session.update({1: (0, 0), 2: (0, 4)})
        >>> session.margin.tolist()
        [[0.75, 0.25, 0.25, 0.25, 0.75]]
        """
        return self._result("margin")

    @property
    def affinity(self) -> dict[str, Any]:
        """Means and variances that the last update() used, by parameter; empty for the affinity "absolute_difference".

        ``voxelmaps.labels(image, seeds, affinity=..., **session.affinity)`` gives the same labels if the other parameters are the same. Affinities
        of single labels are not in it.

        Examples
        --------
        >>> import voxelmaps
        >>> moments = dict(object_mean=7, object_variance=2, difference_variance=1)
        >>> session = voxelmaps.SeedSession([[7, 8, 7, 1, 0, 1]], affinity="geometric_mean", **moments)
        >>> labels = session.update({1: (0, 0), 2: (0, 5)})
        >>> session.affinity
        {'object_mean': 7.0, 'object_variance': 2.0, 'difference_variance': 1.0}
        """
        if self._affinity is None:
            raise RuntimeError("there is no affinity: no update() has succeeded")
        return dict(self._affinity)

    def reestimate(self) -> None:
        """Let the next update() estimate one affinity of all labels from its seeds, and keep that.

        Means and variances that were given are dropped.

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 9, 4, 1, 0, 2]], affinity="geometric_mean")
        >>> labels = session.update({1: (0, 0), 2: (0, 1)})
        >>> session.affinity["object_mean"]
        8.0
        >>> session.reestimate()
        >>> labels = session.update({1: (0, 6), 2: (0, 5)})
        >>> round(session.affinity["object_mean"], 2)
        1.43
        """
        with self._lock:
            self._values = {**self._values, **dict.fromkeys(MOMENTS), "estimate_of_every_label": False}
            self._estimate = {}

    def cancel(self) -> None:
        """Let an update() of another thread end with InterruptedError, also a margin or strength.

        What the session keeps stays valid. If nothing is being computed, this has no effect.

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 1, 0]], affinity="absolute_difference")
        >>> session.cancel()
        >>> session.update({1: (0, 0), 2: (0, 3)}).tolist()
        [[1, 1, 2, 2]]
        """
        self._hierarchy.set_canceled(True)

    @property
    def memory(self) -> int:
        """Number of bytes of the graph that the session keeps now.

        Examples
        --------
        >>> import voxelmaps
        >>> voxelmaps.SeedSession([[7, 8, 7, 1, 0, 1]]).memory
        0
        """
        return self._hierarchy.memory

    def release(self) -> None:
        """Free the memory of the graph, which the next update() makes again.

        Examples
        --------
        >>> import voxelmaps
        >>> session = voxelmaps.SeedSession([[7, 8, 7, 1, 0, 1]], affinity="absolute_difference")
        >>> labels = session.update({1: (0, 0), 2: (0, 5)})
        >>> session.release()
        >>> session.memory
        0
        """
        with self._lock:
            self._hierarchy.release()
