# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""A threshold for strengths of connectedness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _seeds
from ._connectedness import Scene, sizes_of
from ._image import opened
from ._parameters import count, number

if TYPE_CHECKING:
    from ._types import Array, ImageLike, Integer, Number, Numbers, Path


def suggest_threshold(
    strength: Array | ImageLike | Path,
    seeds: Array | ImageLike | Path | None = None,
    *,
    minimum_volume: Number = 0.0,
    estimation_radius: Integer = 2,
    spacing: Numbers | None = None,
) -> float:
    """Suggest a threshold for strengths of connectedness: the smallest strength before the object leaks most.

    Behind the weakest link of a leak, all voxels have its strength, so that the number of voxels of at least a threshold jumps there.
    The suggestion is the smallest strength before the largest jump relative to the volume. Whether the object leaks at all, and which
    of two leaks is meant, is not known: look at strength >= threshold.

    strength             What fuzzy_connectedness returns: an array or image of two or three axes.
    seeds                Voxels that the object must contain, in the form of fuzzy_connectedness: its seeds, or others that are known
                         to belong to it. Larger thresholds than their strengths are not suggested.
    minimum_volume       Volume that the object is known to have at least, in mm³ (mm² in 2D): earlier jumps are ignored, since the
                         object itself begins with jumps. The better it is known, the better the suggestion.
    estimation_radius    That of fuzzy_connectedness. The volume is at least that of one box of this radius.
    spacing              Size of a voxel along each axis, in mm, for minimum_volume. Default: that of an image, or 1.

    Returns the threshold, which is that of GetSuggestedThreshold of the ITK filter; 0 if there is none. Raises ValueError or TypeError
    for invalid arguments.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.zeros((20, 40), np.float32)
    >>> x[5:15, 2:18] = x[5:15, 20:38] = 100
    >>> x[10, 18:20] = 80  # a leak
    >>> affinity = {"object_mean": 100, "object_variance": 400, "difference_variance": 400}
    >>> strength = voxelmaps.fuzzy_connectedness(x, (8, 8), **affinity)
    >>> threshold = voxelmaps.suggest_threshold(strength, (8, 8))
    >>> round(threshold, 4), int((strength > 0).sum()), int((strength >= threshold).sum())
    (0.8825, 800, 161)
    """
    x = opened(strength, "strength")
    given = _arrays.pixels_of(_arrays.array_of(x.image.array, "strength"), "strength")
    values = given.host()
    if values.ndim not in (2, 3):
        raise ValueError(f"strength has {values.ndim} axes, but must have 2 or 3")
    if values.size and not 0 <= values.min() <= values.max() <= 1:
        raise ValueError(f"strength has values from {values.min()} to {values.max()}, but must be from 0 to 1")
    scene = Scene(x, given, 0, values.shape, sizes_of(spacing, x, values.ndim))
    volume = number(minimum_volume, "minimum_volume")
    if not 0 <= volume < math.inf:
        raise ValueError(f"minimum_volume is {minimum_volume!r}, but must be at least 0 and finite")
    width = 2 * count(estimation_radius, "estimation_radius", 0, 2**31 - 1) + 1
    box = math.prod(min(n, width) for n in values.shape)
    voxels = max(box, math.ceil(volume / math.prod(scene.sizes)))
    largest = 1.0 if seeds is None else values.ravel()[_seeds.unlabeled(seeds, None, scene)].min()
    strengths, counts = np.unique(values[values > 0], return_counts=True)
    strengths, volumes = strengths[::-1], counts[::-1].cumsum()
    growth = volumes[1:] / volumes[:-1] * ((volumes[:-1] >= voxels) & (strengths[:-1] <= largest))
    return float(strengths[growth.argmax()]) if growth.any() else 0.0
