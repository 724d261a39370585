#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Resample an image and a mask, filter the image, and compute features of the region and maps of each filtered image, with CuPy.

From the copy of the image to the values of the features, all voxels stay on the CUDA device. Without CuPy or a device, the same
calls compute with NumPy, and print the same values.
"""

import argparse
import sys
import time

import numpy as np
import voxelmaps

FEATURES = [
    "firstorder_Mean",
    "firstorder_Entropy",
    "glcm_Contrast",
    "glrlm_RunEntropy",
    "glszm_ZonePercentage",
    "ngtdm_Contrast",
]
MAP = "glcm_JointEntropy"


def array_library():
    """CuPy, if there is a CUDA device, or NumPy."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        return cupy
    except Exception:  # Which one, depends on what is missing.
        return np


def read(image_name, mask_name):
    """The arrays of two files, and the spacing along z, y and x in mm."""
    import itk

    image, mask = itk.imread(image_name), itk.imread(mask_name)
    spacing = tuple(float(size) for size in itk.spacing(image))[::-1]
    return itk.array_from_image(image).astype("float32"), itk.array_from_image(mask), spacing


def compute(image, mask, old, new, sigmas, bin_count):
    """Rows of image type, features of the region, and the mean of a map in the region.

    image, mask    Arrays of CuPy or NumPy.
    old, new       Spacing of the arrays along z, y and x, and that to resample to, in mm.
    """
    image = voxelmaps.resample(image, spacing=new, image_spacing=old, interpolation="bspline")
    mask = voxelmaps.resample(mask, spacing=new, image_spacing=old, interpolation="nearest")
    images = {"original": image}
    for sigma, each in voxelmaps.filter_image(image, "LoG", sigma=sigmas, spacing=new).items():
        images[f"log-sigma-{sigma:g}-mm"] = each
    images.update(voxelmaps.filter_image(image, "Wavelet", wavelet="coif1", spacing=new))
    for name, each in images.items():
        table = voxelmaps.region_features(each, mask, features=FEATURES, bin_count=bin_count, spacing=new)
        maps = voxelmaps.feature_maps(each, mask, features=[MAP], bin_count=bin_count, crop="mask")
        values = maps[MAP]
        yield name, {feature: float(table[feature][0]) for feature in FEATURES}, float(
            values[~(values != values)].mean()
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("mask", help="image on the same grid, not 0 in the region")
    parser.add_argument(
        "--spacing", type=float, default=1.0, help="size of a voxel after resampling in mm (default: 1)"
    )
    parser.add_argument("--sigmas", default="1,2,3", help="sigmas of LoG in mm (default: 1,2,3)")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels (default: 32)")
    options = parser.parse_args()
    try:
        image, mask, spacing = read(options.image, options.mask)
        library = array_library()
        start = time.perf_counter()
        sigmas = [float(sigma) for sigma in options.sigmas.split(",")]
        arrays = library.asarray(image), library.asarray((mask != 0).astype("uint8"))
        rows = list(compute(*arrays, spacing, (options.spacing,) * image.ndim, sigmas, options.levels))
        seconds = time.perf_counter() - start
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"radiomics_on_device.py: {str(error).splitlines()[0]}")
    print("\t".join(["image", *FEATURES, f"mean of {MAP}"]))
    for name, values, mean in rows:
        print("\t".join([name, *(f"{value:.6g}" for value in values.values()), f"{mean:.6g}"]))
    print(f"{len(rows)} images with {library.__name__} in {seconds:.3f} s")


if __name__ == "__main__":
    main()
