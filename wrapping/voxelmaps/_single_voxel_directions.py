# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""PyRadiomics' rule for directions in which no line of the window holds two voxels: leave them out of the average."""

import itk
import numpy as np

from ._filters import to_array


def _box_any(flags, low, high):
    """Whether any flag is set in the box from low to high (both inclusive, relative to the voxel)."""
    for axis, (a, b) in enumerate(zip(low, high)):
        n = flags.shape[axis]
        sums = np.zeros_like(flags, dtype=np.int32, shape=flags.shape[:axis] + (n + 1,) + flags.shape[axis + 1 :])
        np.cumsum(flags, axis=axis, out=np.moveaxis(np.moveaxis(sums, axis, 0)[1:], 0, axis))
        first = np.clip(np.arange(n) + a, 0, n)
        last = np.clip(np.arange(n) + b + 1, 0, n)
        flags = sums.take(np.maximum(last, first), axis) > sums.take(first, axis)
    return flags


def _shifted(array, step):
    """array[p + step], False outside."""
    result = np.zeros_like(array)
    to = tuple(slice(max(-s, 0), max(n - max(s, 0), 0)) for s, n in zip(step, array.shape))
    source = tuple(slice(max(s, 0), max(n + min(s, 0), 0)) for s, n in zip(step, array.shape))
    result[to] = array[source]
    return result


def _has_pairs(present, direction, size, anchor):
    """Whether some line along this direction holds two or more voxels, in the window of every voxel."""
    result = np.zeros_like(present)
    for k in range(1, max(size)):
        step = [k * d for d in direction]
        low = [max(-s, 0) - a for s, a in zip(step, anchor)]
        high = [n - 1 - a - max(s, 0) for s, n, a in zip(step, size, anchor)]
        if all(a <= b for a, b in zip(low, high)):
            result |= _box_any(present & _shifted(present, step), low, high)
    return result


def average_without_single_voxel_directions(instance, image):
    """Correct the output image of a run length filter wherever a direction has to be left out of the average."""
    if instance.GetAggregation() != itk.RunLengthFeatureMapEnums.Aggregation_Average:
        raise ValueError("skip_single_voxel_directions needs the aggregation 'average'")
    given = itk.output(instance.GetInput())
    array = itk.array_view_from_image(given)
    present = np.ones(array.shape, bool)
    if array.dtype.kind == "f":
        present = ~np.isnan(array)
    mask = instance.GetMaskImage()
    if mask is not None:
        present &= itk.array_view_from_image(mask) == instance.GetInsidePixelValue()
    if not present.any():
        return
    box = tuple(slice(a.min(), a.max() + 1) for a in np.nonzero(present))
    array, present = np.ascontiguousarray(array[box]), np.ascontiguousarray(present[box])
    size = [int(n) for n in instance.GetWindowSize()][::-1]
    anchor = [int(n) for n in instance.GetWindowAnchor()][::-1]
    pairs = [_has_pairs(present, d[::-1], size, anchor) for d in instance.GetOffsets()]
    kept = np.stack(pairs, axis=-1)
    change = present & ~kept.all(axis=-1)
    if not change.any():
        return
    range_minimum = instance.GetUsedRangeMinimum()
    # A given range must not be empty, as that of a constant image is.
    range_maximum = max(instance.GetUsedRangeMaximum(), np.nextafter(range_minimum, np.inf))
    per_direction = (
        type(instance)
        .New(
            itk.image_view_from_array(array),
            mask_image=present,
            aggregation="per_direction",
            range_source="given",
            range_minimum=range_minimum,
            range_maximum=range_maximum,
            number_of_gray_levels=instance.GetNumberOfGrayLevels(),
            discretization_method=instance.GetDiscretizationMethod(),
            bin_width=instance.GetBinWidth(),
            window_size=size[::-1],
            window_anchor=anchor[::-1],
            offsets=instance.GetOffsets(),
            features=instance.GetFeatures(),
        )
        .__internal_call__()
    )
    values = to_array(per_direction)[change].astype(float).reshape(-1, kept.shape[-1], len(instance.GetFeatures()))
    kept = kept[change]
    sums = (values * kept[..., np.newaxis]).sum(axis=1)
    counts = kept.sum(axis=-1)[:, np.newaxis]
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    to_array(image)[box][change] = means
