# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What feature_maps would compute, before it is computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays
from ._feature_maps import CLASSES, request_of, text_of_one_level

if TYPE_CHECKING:
    from ._types import Array, ImageLike, Path

# A window of some hundred voxels says little about more levels than that.
_MANY_LEVELS = 256


class Description(NamedTuple):
    """What feature_maps would compute: the result of describe.

    Parameters
    ----------
    shape : tuple of int
        Shape of the image.
    region_voxels : int
        Number of voxels that features are computed for.
    minimum, maximum : float
        Limits of the finite intensities inside the mask.
    levels : int
        Number of gray levels: of several images of a batch, the most that one has.
    maps : list of str
        Names of the maps.
    map_shape : tuple of int
        Shape of a map.
    window : tuple of int
        Voxels of a window along each axis.
    map_bytes : int
        Memory of all maps.
    working_bytes : int
        Memory of one image as gray levels, which the computation also needs.
    warnings : list of str
        Probable mistakes, one sentence each.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> description = voxelmaps.describe(image, image >= 500, features="ngtdm", bin_count=16)
    >>> description.region_voxels, description.maximum, description.levels, description.window, description.warnings
    (500, 999.0, 16, (5, 5, 5), [])
    """

    shape: tuple[int, ...]
    region_voxels: int
    minimum: float
    maximum: float
    levels: int
    maps: list[str]
    map_shape: tuple[int, ...]
    window: tuple[int, ...]
    map_bytes: int
    working_bytes: int
    warnings: list[str]

    def __str__(self) -> str:
        levels = f"{self.levels} gray level{'s' * (self.levels != 1)}"
        lines = [
            f"image: {_times(self.shape)} voxels",
            f"region: {self.region_voxels} voxels, intensities {self.minimum:.6g} to {self.maximum:.6g}, {levels}",
            f"maps: {len(self.maps)} of {_times(self.map_shape)} voxels, windows of {_times(self.window)} voxels",
            f"memory: {_bytes(self.map_bytes)} for the maps, {_bytes(self.working_bytes)} while they are computed",
            *(f"warning: {text}" for text in self.warnings),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def _times(numbers: tuple[int, ...]) -> str:
    return " × ".join(map(str, numbers))


def _bytes(number: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:.0f} {unit}"


def _warnings(plan: Any, levels: int, values: np.ndarray) -> list[str]:
    """Texts of what is likely to be a mistake, from the intensities inside."""
    texts = []
    if levels == 1 and plan.has_texture():
        text = text_of_one_level(plan.discretization)
        texts.append(text or "there is one gray level, so that there is no texture")
    if levels > _MANY_LEVELS and plan.has_texture():
        texts.append(
            f"there are {levels} gray levels, but a window has {math.prod(plan.window)} voxels: 16 to 64 levels are usual, so choose "
            "a greater bin_width, or bin_count"
        )
    absent = int(np.count_nonzero(np.isnan(values)))
    if absent:
        texts.append(f"{absent} of {values.size} voxels inside the mask are NaN, and absent as those outside")
    return texts


def describe(
    image: Array | ImageLike | Path, mask: Array | ImageLike | Path | None = None, **settings: Any
) -> Description:
    """Report what feature_maps would compute with the same arguments.

    Parameters
    ----------
    image : array, image or path
        As in feature_maps.
    mask : array, image or path, optional
        As in feature_maps.
    **settings
        Keywords of feature_maps, except for out; features is all classes by default.

    Returns
    -------
    Description
        Range, gray levels, voxels and memory, which print() shows in some lines. Its warnings are of one gray level, of more than 256,
        and of NaN. Maps of one voxel are computed.

    Raises
    ------
    ValueError, TypeError
        As feature_maps.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(1000, dtype=np.int16).reshape(10, 10, 10)
    >>> description = voxelmaps.describe(image, features="glcm", bin_width=25)
    >>> description.levels, len(description.maps), description.map_bytes
    (40, 24, 96000)
    """
    settings.setdefault("features", CLASSES)
    plan = request_of(image, mask, settings, "describe")
    shape = plan.image.shape
    if 0 in shape:
        raise ValueError(f"image of shape {shape} has no voxels")
    inside = np.ones(shape, bool) if plan.mask is None else np.broadcast_to(plan.mask.host() != 0, shape)
    computed = inside
    if plan.selection is not None:
        computed = np.zeros(shape, bool)
        computed[(..., *plan.box)] = plan.selection.host() != 0
        computed &= inside
    values = plan.image.host()[inside]
    finite = values[np.isfinite(values)]
    levels = []
    for index in np.ndindex(*plan.batch):
        # The range is that of the image, also for the maps of one voxel.
        voxel = np.unravel_index(int(computed[index].argmax()), plan.shape)
        part = plan._replace(box=tuple(slice(int(i), int(i) + 1) for i in voxel), selection=None)
        output = _arrays.Array(plan.image.library.empty(len(plan.names), plan.dtype), plan.image.library)
        levels.append(part.run(index, output.address, 1))
    map_shape = plan.map_shape()
    return Description(
        shape=shape,
        region_voxels=int(np.count_nonzero(computed)),
        minimum=float(finite.min()),
        maximum=float(finite.max()),
        levels=max(levels),
        maps=plan.names,
        map_shape=plan.as_given(map_shape),
        window=plan.window,
        map_bytes=len(plan.names) * math.prod(map_shape) * np.dtype(plan.dtype).itemsize,
        working_bytes=2 * math.prod(plan.shape),
        warnings=_warnings(plan, max(levels), values),
    )
