#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What demo.sh computes with the Python package for its pictures: demo_results.py DATA OUT."""

import pathlib
import sys

import numpy as np
import SimpleITK as sitk
import voxelmaps


def main():
    data, out = map(pathlib.Path, sys.argv[1:])
    # The settings of Zhang et al. (2019): intensities as levels, windows of 4 x 4 with the pixel at the top left.
    for name in ("BrainT1Slice", "BrainProtonDensitySlice"):
        image = sitk.VectorIndexSelectionCast(sitk.ReadImage(str(data / f"{name}.png")), 0)  # gray, as three colors
        levels = sitk.GetArrayViewFromImage(image).astype(np.uint16) + 1
        maps = voxelmaps.feature_maps(levels, features="glrlm", gray_levels=256, window_size=4, window_anchor=0)
        result = sitk.GetImageFromArray(np.moveaxis(maps.array, 0, -1), isVector=True)
        result.CopyInformation(image)
        result.SetMetaData("FeatureNames", ",".join(maps))
        sitk.WriteImage(result, str(out / f"{name}.nrrd"))

    ct = sitk.ReadImage(sitk.ImageSeriesReader.GetGDCMSeriesFileNames(str(out / "LiverCT")))
    seeds = voxelmaps.sample_ct().seeds
    strength = voxelmaps.fuzzy_connectedness(ct, seeds["vessel"])
    sitk.WriteImage(strength >= 0.4, str(out / "Vessels.nii.gz"))
    head = sitk.ReadImage(str(data / "KmeansTest_T1UCharRaw.nii.gz"))
    strength = voxelmaps.fuzzy_connectedness(head, [(31, 76, 47)], estimation_radius=1)
    sitk.WriteImage(strength >= 0.3, str(out / "WhiteMatter.nii.gz"))

    settings = {"competition": "iterative", "affinity": "absolute_difference"}
    result = voxelmaps.labels(ct, out / "Strokes.nrrd", margin=True, **settings)
    sitk.WriteImage(result.labels, str(out / "Labels.nii.gz"))
    sitk.WriteImage(result.margin, str(out / "Labels_margin.nii.gz"))

    strength = voxelmaps.fuzzy_connectedness(ct, [seeds["spleen"]], estimation_radius=1)
    sitk.WriteImage(strength, str(out / "Spleen_strength.nii.gz"))
    print(voxelmaps.suggest_threshold(strength, minimum_volume=2000))


if __name__ == "__main__":
    main()
