# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What errors suggest for a name that does not exist, and warnings that point to the user's line."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

_OF_EXECUTE = "this is a setting of voxelmaps.radiomics.execute"
# Names of PyRadiomics, nibabel, ITK and earlier versions -> the name here, or what to do. Names here count in both directions.
_OTHER_NAMES = {
    "kernelRadius": "neighborhood_radius",
    "binCount": "number_of_gray_levels",
    "binWidth": "bin_width",
    "voxelArrayShift": "voxel_array_shift",
    "symmetricalGLCM": "symmetric",
    "gldm_a": "alpha",
    "weightingNorm": "weighting_norm",
    "initValue": "background_value",
    "featureClass": "features",
    **dict.fromkeys(("zooms", "pixdim", "get_zooms", "voxel_size", "resolution"), "spacing"),
    **dict.fromkeys(("bins", "n_bins", "num_bins", "levels", "n_levels", "num_levels", "Ng"), "number_of_gray_levels"),
    **dict.fromkeys(("gpu", "cuda", "use_gpu"), "device"),
    **dict.fromkeys(("n_jobs", "workers", "n_threads"), "threads"),
    "kernel_size": "window_size",
    "bin_size": "bin_width",
    **dict.fromkeys(("roi", "segmentation"), "mask"),
    "classes": "features",
    "dtype": "precision",
    **dict.fromkeys(("neighbors", "neighbours"), "adjacency"),
    **dict.fromkeys(("threshold", "thresh"), "minimum_strength"),
    "affinity_function": "affinity",
    "mask_image": "mask",
    "inside_pixel_value": "label",
    "estimate_affinity_of_every_label": "estimate_of_every_label",
    "generate_strength_image": "strength",
    "generate_margin_image": "margin",
    "object_mean_vector": "object_mean",
    "object_covariance": "object_variance",
    "difference_mean_vector": "difference_mean",
    "difference_covariance": "difference_variance",
    "connectivity": "adjacency",
    "force2D": "neighborhood_radius=(0, 1, 1), which keeps windows in slices with one set of gray levels",
    "force2Ddimension": "neighborhood_radius=(0, 1, 1), with 0 along this axis",
    "affine": "spacing, or pass an image that has an affine",
    "maskedKernel": "selection instead of mask for maskedKernel=False",
    "padDistance": "crop='mask'",
    "estimate_affinity_from_seeds": "reestimate() before update()",
    **dict.fromkeys(
        ("normalize", "normalizeScale", "removeOutliers", "resampledPixelSpacing", "interpolator", "resegmentRange")
        + ("resegmentMode", "imageType", "correctMask", "geometryTolerance", "label_channel", "additionalInfo")
        + ("preCrop", "minimumROISize", "minimumROIDimensions", "out_dir", "voxelBased", "voxelBatch")
        + ("normalise", "resample", "sigma"),
        _OF_EXECUTE,
    ),
}


def normalized(name):
    """Lower-case letters and digits of a name: the same for per_direction, per-direction and PerDirection."""
    return "".join(c for c in name if c.isalnum()).lower()


def _known_elsewhere(name, names):
    """What the name of another library stands for among the names; empty if it is not known or not among them."""
    found = []
    for theirs, ours in _OTHER_NAMES.items():
        is_advice = " " in ours or "=" in ours
        if normalized(theirs) == normalized(name) and (ours in names or is_advice and "binWidth" not in names):
            found.append(ours)
        elif normalized(ours) == normalized(name) and theirs in names:
            found.append(theirs)
    return found


def did_you_mean(name, names):
    """What follows the name in an error: its name here, the most similar of the names, or those that contain it, if any."""
    # Imported by errors only.
    import difflib

    known = _known_elsewhere(str(name), set(names))
    if known:
        return f" ({known[0]})" if known == [_OF_EXECUTE] else f" (did you mean {' or '.join(known)}?)"
    key, keys = normalized(str(name)), {normalized(each): each for each in names}
    parts = [each for each in keys if min(len(key), len(each)) > 3 and (key in each or each in key)]
    similar = list(dict.fromkeys([*difflib.get_close_matches(key, keys, 1, 0.75), *sorted(parts, key=len)]))[:3]
    return f" (did you mean {' or '.join(keys[each] for each in similar)}?)" if similar else ""


def warn(text):
    """Warn at the line outside of this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)
