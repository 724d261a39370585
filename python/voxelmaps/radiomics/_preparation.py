# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Loading and preparing an image and its region of interest as PyRadiomics does: geometry, label, normalization, resampling,
cropping, resegmentation."""

import hashlib
import logging
import math
import platform
from typing import Any, NamedTuple, Tuple

import numpy as np
import voxelmaps

from .. import _arrays, _masks, _regions, _resample
from .._files import library, writing
from .._image import Image, difference_of_grids, from_simpleitk, to_simpleitk
from . import _filters

_logger = logging.getLogger(__name__)

# PyRadiomics also accepts SimpleITK's numbers of interpolators.
_NAMES_OF_NUMBERS = {1: "sitkNearestNeighbor", 2: "sitkLinear"}

# Limit of a resampled image. More would not fit into memory.
_MAX_VOXELS = 2**40


# --- Regions of interest -----------------------------------------------------------------------------------------------


def scalar_mask(mask, settings):
    """The mask, or the channel label_channel of one with several."""
    if mask.array.ndim == len(mask.spacing):
        return mask
    channel, channels = settings["label_channel"], mask.array.shape[-1]
    if channel >= channels:
        raise ValueError(f"setting label_channel is {channel}, but the mask has {channels} channels, counted from 0")
    return mask.with_array(np.ascontiguousarray(mask.array[..., channel]))


def _bounds(roi):
    return _masks.bounds(_arrays.array_of(roi.array, "the region"))


def _checked_bounds(image, roi):
    """The bounds of the region of interest. Raises ValueError if it reaches beyond the image."""
    lower, upper = _bounds(roi)
    corners = [
        image.index(roi.point([i - 0.5 for i in reversed(lower)])),
        image.index(roi.point([i + 0.5 for i in reversed(upper)])),
    ]
    rounding = 1e-3
    first, last = np.min(corners, axis=0), np.max(corners, axis=0)
    if (first < -0.5 - rounding).any() or (last > np.array(image.size) - 0.5 + rounding).any():
        raise ValueError(
            f"the region of interest reaches from {first} to {last} in voxels of the image, which has the size {image.size}"
        )
    return lower, upper


def _on_grid(volume, grid, interpolator, name):
    """The volume on a grid of this size, spacing, origin and direction.

    name    Name of the setting, for errors.
    """
    interpolator = _NAMES_OF_NUMBERS.get(interpolator, interpolator)
    if interpolator in _resample.INTERPOLATIONS:
        return _resample.resampled(volume, _resample.Grid(*grid), interpolator, threads=writing.Threads.number)
    sitk, (size, spacing, origin, direction) = library("SimpleITK", f"setting {name}"), grid
    source, transform = to_simpleitk(volume), sitk.Transform(len(size), sitk.sitkIdentity)
    number = getattr(sitk, interpolator) if isinstance(interpolator, str) else interpolator
    return from_simpleitk(
        sitk.Resample(source, size, transform, number, origin, spacing, direction, 0.0, source.GetPixelID())
    )


def _checked(image, roi, settings):
    """The region of interest, on the grid of the image if it was not and correctMask is on; and its bounds. Raises ValueError if the
    settings do not permit it."""
    difference = difference_of_grids(image, roi, "the mask", "the image", settings["geometryTolerance"])
    if difference is not None:
        if not settings["correctMask"]:
            raise ValueError(f"{difference}; setting correctMask resamples it, and geometryTolerance permits more")
        _logger.warning("%s; the mask is resampled to the image", difference)
        _checked_bounds(image, roi)
        roi = _on_grid(roi, (image.size, *image[1:]), "nearest", "correctMask")
        if not roi.array.any():
            raise ValueError("no voxel of the mask is left after setting correctMask has resampled it to the image")
    lower, upper = _bounds(roi)
    dimensions = sum(first < last for first, last in zip(lower, upper))
    # A single voxel has no texture, whatever the setting.
    if dimensions < max(settings["minimumROIDimensions"], 1):
        raise ValueError(
            f"setting minimumROIDimensions is {settings['minimumROIDimensions']}, but the region of interest is longer than one "
            f"voxel along {dimensions} axes"
        )
    count, minimum = int(np.count_nonzero(roi.array)), settings["minimumROISize"]
    if minimum is not None and count <= minimum:
        raise ValueError(
            f"setting minimumROISize is {minimum}, but the region of interest has {count} voxels, and must have more"
        )
    return roi, lower, upper


# --- Preparation -------------------------------------------------------------------------------------------------------


def _normalized(image, settings):
    sitk = library("SimpleITK", "setting normalize")
    if image.array.min() == image.array.max():
        raise ValueError(
            f"setting normalize divides by the deviation of the image, which is 0: all intensities are {image.array.min()}"
        )
    result = from_simpleitk(sitk.Normalize(to_simpleitk(image)))
    array, limit = result.array, settings["removeOutliers"]
    if limit is not None:
        # No value is beyond NaN.
        array = np.where(np.abs(array) > limit, np.copysign(limit, array), array)
    return result.with_array(array * float(settings["normalizeScale"]))


def _resampled(image, roi, settings):
    """Image and region of interest with the spacing resampledPixelSpacing, cropped to the region and padDistance."""
    wanted, margin = np.array(settings["resampledPixelSpacing"], dtype=float), settings["padDistance"]
    old = np.array(roi.spacing)
    given = f"setting resampledPixelSpacing is {wanted.tolist()}"
    if len(wanted) != len(old):
        raise ValueError(f"{given}, but the mask has {len(old)} dimensions")
    lower, upper = (np.array(bound[::-1]) for bound in _checked_bounds(image, roi))
    # 0 keeps the spacing, and so does an axis along which the region has one voxel.
    new = np.where((wanted == 0) | (lower == upper), old, wanted)
    is_on_grid = np.allclose(image.spacing, new)
    if is_on_grid:
        grid = image.size, *image[1:]
    else:
        # The grid keeps the corner of the mask; half a voxel more on each side covers the whole region.
        ratio = old / new
        first = np.maximum(np.floor((lower - 0.5) * ratio - margin), 0)
        last = np.minimum(np.ceil((upper + 0.5) * ratio + margin), np.ceil(np.array(roi.size) * ratio) - 1)
        size = [int(n) for n in last - first + 1]
        if math.prod(size) > _MAX_VOXELS:
            raise ValueError(f"{given}, which makes an image of {size} voxels; {_MAX_VOXELS} are possible")
        grid = size, new.tolist(), roi.point(0.5 * (new - old) / old + first / ratio), roi.direction
        image = _on_grid(image, grid, settings["interpolator"], "interpolator")
    resampled = _on_grid(roi, grid, "nearest", "resampledPixelSpacing")
    if not resampled.array.any():
        raise ValueError(
            f"{given}, which leaves no voxel of the region of interest, whose {np.count_nonzero(roi.array)} voxels have the spacing "
            f"{list(roi.spacing)}"
        )
    if is_on_grid:
        bounds = _bounds(resampled)
        return image.cropped(*bounds, margin), resampled.cropped(*bounds, margin)
    return image, resampled


def _resegmented(image, roi, settings):
    """The part of the region of interest whose intensities are in resegmentRange."""
    values, mode = image.array[roi.array], settings["resegmentMode"]
    if values.dtype.kind in "iu":
        # Multiples of integers of small types overflow.
        values = values.astype(np.float64)
    origin, unit = 0, 1
    if mode == "relative":
        unit = np.max(values)
    elif mode == "sigma":
        origin, unit = np.mean(values), np.std(values)
    lowest, *highest = (origin + unit * limit for limit in sorted(settings["resegmentRange"]))
    kept = values >= lowest
    for limit in highest:
        kept &= values <= limit
    if np.count_nonzero(kept) <= 1:
        raise ValueError(
            f"setting resegmentRange is {settings['resegmentRange']} ({mode}), which leaves {np.count_nonzero(kept)} voxels; "
            "at least 2 are needed"
        )
    inside = roi.array.copy()
    inside[roi.array] = kept
    return roi.with_array(inside)


# --- Diagnostics -------------------------------------------------------------------------------------------------------


def _moments(values):
    extremes = {"Minimum": np.float64(values.min()), "Maximum": np.float64(values.max())}
    return {"Mean": np.mean(values, dtype=float), **extremes}


def _center(inside, lower):
    """The mean index, in the order x, y, z, of voxels of a part that begins at an index. Sums of integers are exact."""
    axes = range(inside.ndim)
    counts = [np.count_nonzero(inside, axis=tuple(a for a in axes if a != axis)) for axis in axes]
    indices = [np.arange(first, first + len(n)) for first, n in zip(lower, counts)]
    return tuple(np.float64(np.dot(i, n)) / n.sum() for i, n in zip(reversed(indices), reversed(counts)))


def _image_diagnostics(image, kind, hashes):
    entries = {}
    if kind == "original":
        if hashes:
            entries["Hash"] = hashlib.sha1(np.ascontiguousarray(image.array)).hexdigest()
        entries["Dimensionality"] = f"{len(image.spacing)}D"
    entries.update(Spacing=image.spacing, Size=image.size, **_moments(image.array))
    return {f"diagnostics_Image-{kind}_{name}": value for name, value in entries.items()}


def _mask_diagnostics(roi, kind, image=None, labels=None):
    """Entries of a region of interest; of the intensities in it, if there is an image; the hash, if there are labels."""
    entries = {}
    if labels is not None:
        entries["Hash"] = hashlib.sha1(np.rint(labels).astype(np.uint32).tobytes()).hexdigest()
    lower, upper = _bounds(roi)
    part = roi.cropped(lower, upper, 0).array
    center = _center(part, lower)
    entries.update(
        Spacing=roi.spacing,
        Size=roi.size,
        BoundingBox=tuple(reversed(lower)) + part.shape[::-1],
        VoxelNum=int(np.count_nonzero(part)),
        VolumeNum=_regions.number_of_parts(part, writing.Threads.number),
        CenterOfMassIndex=center,
        CenterOfMass=roi.point(center),
    )
    if image is not None:
        entries.update(_moments(image.array[roi.array]))
    return {f"diagnostics_Mask-{kind}_{name}": value for name, value in entries.items()}


def diagnostics(prepared, parameters):
    """PyRadiomics' entries of the result, unless additionalInfo is off."""
    if not parameters.settings["additionalInfo"]:
        return {}
    libraries = {"ITK": version for version in _filters.installed("itk-core").values()}
    for image_type in parameters.image_types:
        libraries.update(_filters.versions(image_type))
    return {
        "diagnostics_Versions_VoxelMaps": voxelmaps.__version__,
        "diagnostics_Versions_Numpy": np.__version__,
        **{f"diagnostics_Versions_{name}": version for name, version in sorted(libraries.items())},
        "diagnostics_Versions_Python": platform.python_version(),
        "diagnostics_Configuration_Settings": {
            **parameters.settings,
            **({"voxelBased": True} if parameters.voxel_based else {}),
        },
        "diagnostics_Configuration_EnabledImageTypes": parameters.image_types,
        **prepared.diagnostics,
    }


# --- The image and its region ------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    image: Image
    # Region: bool, on the same grid.
    roi: Image
    diagnostics: Any
    # The image before it was cropped, and the part of its array that is left.
    whole: Image
    box: Tuple[slice, ...]
    # The region before resegmentation, unless resegmentShape is on.
    shape_roi: Image


def prepare(image, mask, settings, hashes):
    """Image and region of interest as they go into the computation of the maps, cropped to the region and kernelRadius."""
    if image.array.ndim != len(image.spacing):
        raise ValueError(f"the image has {image.array.shape[-1]} channels, but must have one")
    if len(image.spacing) != len(mask.spacing):
        raise ValueError(f"the image has {len(image.spacing)} dimensions, but the mask has {len(mask.spacing)}")
    mask = scalar_mask(mask, settings)
    arrays = _arrays.array_of(mask.array, "the mask"), _arrays.array_of(image.array, "the image")
    inside = _masks.region(arrays[0], settings["label"], "the mask", arrays[1], "the image")
    roi = mask.with_array(inside.array.view(bool))
    diagnostics = {}

    def add(function, *arguments):
        if settings["additionalInfo"]:
            diagnostics.update(function(*arguments))

    add(_image_diagnostics, image, "original", hashes)
    add(_mask_diagnostics, roi, "original", None, mask.array if hashes else None)
    if settings["normalize"]:
        image = _normalized(image, settings)
    if settings["interpolator"] is not None and settings["resampledPixelSpacing"] is not None:
        image, roi = _resampled(image, roi, settings)
        add(_image_diagnostics, image, "interpolated", False)
        add(_mask_diagnostics, roi, "interpolated", image)
    elif settings["preCrop"]:
        roi, *bounds = _checked(image, roi, settings)
        image, roi = (volume.cropped(*bounds, settings["padDistance"]) for volume in (image, roi))

    given = roi
    roi, *bounds = _checked(image, given, settings)
    if roi is not given:
        add(_mask_diagnostics, roi, "corrected", image)
    shape_roi = roi.cropped(*bounds, 0)
    if settings["resegmentRange"] is not None:
        roi, *bounds = _checked(image, _resegmented(image, roi, settings), settings)
        add(_mask_diagnostics, roi, "resegmented", image)
        if settings["resegmentShape"]:
            shape_roi = roi.cropped(*bounds, 0)
    # PyRadiomics crops along all axes, with force2D too.
    box = image.box(*bounds, settings["kernelRadius"])
    return Prepared(image.part(box), roi.part(box), diagnostics, image, box, shape_roi)
