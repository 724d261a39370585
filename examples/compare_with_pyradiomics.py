#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Compare voxel-based GLRLM maps of PyRadiomics and of this module: agreement per feature, and computation time.

Both use the same settings: bin edges at multiples of the bin width, intensity range of the mask, cubic windows clipped
to the mask, run lengths in voxels, mean over 13 directions. The remaining differences are:

- PyRadiomics computes and returns double precision; this module computes exact sums, rounded to float once.
- The RunEntropy of PyRadiomics adds 2.2e-16 to every probability, so it is -3.2e-16 where that of this module is 0.

Both skip, for each window, the directions in which no line contains two or more voxels, which matters in thin and scattered
masks.
"""

import argparse
import logging
import pathlib
import sys
import time
import warnings

import itk
import matplotlib
import numpy as np
import radiomics
import SimpleITK as sitk
import voxelmaps
from radiomics.featureextractor import RadiomicsFeatureExtractor

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def maps_of_pyradiomics(array, mask, bin_width, radius):
    """Return the values inside the mask by feature name, and the computation time in seconds."""
    extractor = RadiomicsFeatureExtractor(
        binWidth=bin_width, kernelRadius=radius, maskedKernel=True, initValue=0, voxelBatch=2000
    )
    extractor.disableAllFeatures()
    extractor.enableFeatureClassByName("glrlm")
    image, mask_image = sitk.GetImageFromArray(array), sitk.GetImageFromArray(mask)
    start = time.perf_counter()
    result = extractor.execute(image, mask_image, voxelBased=True)
    seconds = time.perf_counter() - start
    maps = {}
    for key, value in result.items():
        if key.startswith("original_glrlm_"):
            # PyRadiomics crops its maps to the mask.
            whole = sitk.Resample(value, image, sitk.Transform(), sitk.sitkNearestNeighbor, 0.0, sitk.sitkFloat64)
            maps[key.removeprefix("original_glrlm_")] = sitk.GetArrayFromImage(whole)[mask > 0]
    return maps, seconds


def our_maps(array, mask, bin_width, radius):
    """The same with this module."""
    start = time.perf_counter()
    maps = voxelmaps.feature_maps(array, mask, features="glrlm", bin_width=bin_width, neighborhood_radius=radius)
    seconds = time.perf_counter() - start
    return {name.removeprefix("glrlm_"): values[mask > 0] for name, values in maps.items()}, seconds


def compare(theirs, ours):
    """Return the largest relative difference (absolute below 1e-9) by feature name, and the count of unmatched NaN."""
    differences, nans = {}, 0
    for name in ours:
        a, b = theirs[name], ours[name].astype(float)
        nans = max(nans, int(np.count_nonzero(np.isnan(a) != np.isnan(b))))
        both = ~np.isnan(a) & ~np.isnan(b)
        a, b = a[both], b[both]
        difference = np.abs(a - b)
        differences[name] = float(np.max(np.where(np.abs(a) < 1e-9, difference, difference / np.abs(a)), initial=0))
    return differences, nans


def draw(all_differences, path):
    figure, axis = plt.subplots(figsize=(8, 3.5), layout="constrained")
    names = list(next(iter(all_differences.values())))
    places = np.arange(len(names))
    for i, (title, differences) in enumerate(all_differences.items()):
        values = [min(max(differences[name], 1e-10), 10) for name in names]
        axis.bar(places + 0.25 * (i - 1), values, 0.25, label=title)
    axis.axhline(2**-23, color="black", linewidth=0.8, linestyle="--", label="float precision, 1.2e-7")
    axis.set_yscale("log")
    axis.set_ylim(1e-10, 100)
    axis.set_xticks(places, names, rotation=60, ha="right", fontsize=7)
    axis.set_ylabel("largest relative difference")
    axis.legend(fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    figure.savefig(path, dpi=90)


def compare_maps(options):
    radiomics.setVerbosity(logging.ERROR)

    voxelmaps.check_image_file(options.image)
    array = itk.array_from_image(itk.imread(options.image))
    if array.ndim != 3:
        raise ValueError(f"{options.image} has {array.ndim} dimensions, but must have 3")
    grid = np.indices(array.shape, dtype=float)
    center = np.array([n / 2 for n in array.shape])
    distance = sum(((g - c) / n) ** 2 for g, c, n in zip(grid, center, array.shape))
    ball = (distance <= options.size**2).astype(np.uint8)
    sheet = ball.copy()
    sheet[np.abs(grid[0] - center[0]) >= 1] = 0
    scattered = ball * (np.random.default_rng(0).random(ball.shape) < 0.05)
    scattered = scattered.astype(np.uint8)
    # PyRadiomics warns about windows without directions, for which NaN is the expected result.
    warnings.simplefilter("ignore", RuntimeWarning)

    table = {}
    for title, mask in (("solid mask", ball), ("scattered mask", scattered), ("sheet of 2 voxels", sheet)):
        theirs, their_seconds = maps_of_pyradiomics(array, mask, options.bin_width, options.radius)
        ours, our_seconds = our_maps(array, mask, options.bin_width, options.radius)
        table[title], nans = compare(theirs, ours)
        print(f"{title}: {int(mask.sum())} voxels; PyRadiomics {their_seconds:.2f} s, this {our_seconds:.2f} s")
        equal = np.mean([np.mean((theirs[n].astype(np.float32) == ours[n]) | np.isnan(ours[n])) for n in ours])
        print(f"  equal after rounding to float: {100 * equal:.2f} %; voxels with NaN in only one of them: {nans}")
        print("  largest relative difference: " + ", ".join(f"{n} {d:.1e}" for n, d in table[title].items()))
    options.folder.mkdir(parents=True, exist_ok=True)
    draw(table, options.folder / "comparison.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write comparison.png")
    parser.add_argument("--bin-width", type=float, default=10, help="width of a gray level")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels")
    parser.add_argument(
        "--size", type=float, default=0.15, help="radius of the compared ball, as a fraction of the image size"
    )
    options = parser.parse_args()
    try:
        compare_maps(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"compare_with_pyradiomics.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
