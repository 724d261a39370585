# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What errors suggest for a name that does not exist, and warnings that point to the user's line."""

import os
import re
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

# Names here -> those of PyRadiomics, nibabel, ITK and earlier versions. They count in both directions.
_OTHER_NAMES = {
    "features": ("featureClass", "classes"),
    "neighborhood_radius": ("kernelRadius",),
    "window_size": ("kernel_size",),
    "bin_width": ("binWidth", "bin_size"),
    "bin_count": (
        "binCount",
        "number_of_gray_levels",
        "gray_levels",
        "bins",
        "n_bins",
        "num_bins",
        "levels",
        "n_levels",
        "num_levels",
        "Ng",
    ),
    "symmetric": ("symmetricalGLCM",),
    "alpha": ("gldm_a",),
    "background_value": ("initValue",),
    "spacing": ("zooms", "pixdim", "get_zooms", "voxel_size", "resolution"),
    "mask": ("roi", "segmentation", "mask_image"),
    "label": ("inside_pixel_value",),
    "precision": ("dtype",),
    "device": ("gpu", "cuda", "use_gpu"),
    "threads": ("n_jobs", "workers", "n_threads"),
    "double": ("float64", "np.float64", "f8"),
    "float": ("float32", "np.float32", "f4", "single"),
    # Features of earlier versions of PyRadiomics, and of scikit-image.
    "Id": ("Homogeneity", "Homogeneity1"),
    "Idm": ("Homogeneity", "Homogeneity2"),
    "DifferenceAverage": ("Dissimilarity",),
    "ClusterTendency": ("SumVariance",),
    "adjacency": ("neighbors", "neighbours", "connectivity"),
    "minimum_strength": ("threshold", "thresh"),
}
# What to do instead, with other functions than radiomics.execute that have the parameter that it begins with.
_ADVICE = {
    "force2D": (
        "neighborhood_radius=(0, 1, 1), which keeps windows in slices with one set of gray levels",
        "plane_axis=0, for slices along z",
    ),
    "force2Ddimension": ("neighborhood_radius=(0, 1, 1), with 0 along this axis", "plane_axis"),
    "affine": ("spacing; or pass an image that has an affine",),
    "maskedKernel": ("selection instead of mask for maskedKernel=False",),
    "padDistance": ("crop='mask'",),
    "minimumROIDimensions": ("minimum_dimensions",),
    "estimate_affinity_from_seeds": ("object_mean, without which the affinity is estimated",),
}
_OF_EXECUTE = (
    *("normalize", "normalizeScale", "removeOutliers", "resampledPixelSpacing", "interpolator", "resegmentRange"),
    *("resegmentMode", "imageType", "correctMask", "geometryTolerance", "label_channel", "additionalInfo", "preCrop"),
    *(
        *("minimumROISize", "minimumROIDimensions", "force2D", "force2Ddimension", "maskedKernel", "padDistance"),
        "out_dir",
        "voxelBased",
        "voxelBatch",
        "normalise",
        "resample",
        "sigma",
    ),
)


def _normalized(name):
    """Lower-case letters and digits of a name: the same for per_direction, per-direction and PerDirection."""
    return "".join(c for c in name if c.isalnum()).lower()


def did_you_mean(name, names):
    """What follows the name in an error: its name here, the most similar of the names, or those that contain it, if any."""
    # Imported by errors only.
    import difflib

    names, key = list(names), _normalized(str(name))
    is_key = lambda other: _normalized(other) == key
    meant = []
    for ours, theirs in _OTHER_NAMES.items():
        known_as = [ours] if any(map(is_key, theirs)) else theirs if is_key(ours) else ()
        meant += [each for each in known_as if each in names]
    if not meant and "binWidth" not in names:
        keys = set(map(_normalized, names))
        has_name = lambda advice: _normalized(re.match(r"\w+", advice)[0]) in keys
        meant = [each for other, advice in _ADVICE.items() if is_key(other) for each in advice if has_name(each)]
        if not meant and any(map(is_key, _OF_EXECUTE)):
            return " (this is a setting of voxelmaps.radiomics.execute)"
    if not meant:
        keys = {_normalized(each): each for each in names}
        parts = [each for each in keys if min(len(key), len(each)) > 3 and (key in each or each in key)]
        similar = difflib.get_close_matches(key, keys, 1, 0.75) + sorted(parts, key=len)
        meant = [keys[each] for each in dict.fromkeys(similar)][:3]
    return f" (did you mean {' or '.join(meant)}?)" if meant else ""


def warn(text):
    """Warn at the line outside of this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)
