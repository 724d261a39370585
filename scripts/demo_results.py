#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The results and pictures of demo.sh that the Python package makes: demo_results.py DATA OUT."""

import pathlib
import sys

import numpy as np
import SimpleITK as sitk
import voxelmaps
from matplotlib.figure import Figure


def volume_curve(strength, suggested):
    """A figure of the volume over each threshold of the strength, with the suggested one."""
    values = np.sort(sitk.GetArrayViewFromImage(strength), axis=None)
    milliliters = np.prod(strength.GetSpacing()) / 1000
    # From the smallest strength on, but not much below the suggestion.
    thresholds = np.geomspace(max(values[values > 0][0], 1e-4 * suggested), 1, 1000)
    volumes = (values.size - np.searchsorted(values, thresholds)) * milliliters
    figure = Figure(figsize=(9.8, 6.2), layout="constrained")
    axes = figure.subplots()
    axes.loglog(thresholds, np.maximum(volumes, milliliters), linewidth=3)
    axes.axvline(suggested, linewidth=2, color="orange")
    axes.set_title(f"Synthetic CT: volume connected with a seed in the spleen; suggested threshold {suggested:.3g}")
    axes.set(xlabel="threshold of the strength", ylabel="volume in ml", xlim=(thresholds[0], 1))
    axes.grid(color="0.8")
    return figure


def main():
    data, out = map(pathlib.Path, sys.argv[1:])

    def save(figure, name):
        figure.savefig(out / name, dpi=150)

    head = data / "KmeansTest_T1UCharRaw.nii.gz"
    caption = f"{head.name}: 32 levels, windows of 5 x 5 x 5, mean of 13 directions"
    save(voxelmaps.show(head, voxelmaps.read_maps(out / "Head.nrrd"), caption=caption), "Head.png")

    # The settings of Zhang et al. (2019): intensities as levels, windows of 4 x 4 with the pixel at the top left.
    for name in ("BrainT1Slice", "BrainProtonDensitySlice"):
        image = sitk.VectorIndexSelectionCast(sitk.ReadImage(str(data / f"{name}.png")), 0)  # gray, as three colors
        levels = sitk.GetArrayViewFromImage(image).astype(np.uint16) + 1
        maps = voxelmaps.feature_maps(levels, features="glrlm", largest_gray_level=256, window_size=4, window_anchor=0)
        caption = f"{name}.png: 256 levels, windows of 4 x 4, mean of 4 directions"
        save(voxelmaps.show(levels, maps, caption=caption), f"{name}.png")

    ct = sitk.ReadImage(sitk.ImageSeriesReader.GetGDCMSeriesFileNames(str(out / "LiverCT")))
    window = {"window": (-150, 350), "unit": "HU"}
    seeds = voxelmaps.sample_ct().seeds
    strength = voxelmaps.fuzzy_connectedness(ct, seeds["vessel"])
    vessels = {"strength >= 0.4": strength >= 0.4}
    caption = "Synthetic CT: connected with a seed in the portal vein"
    save(
        voxelmaps.show(ct, vessels, slice=seeds["vessel"][0], label_names={1: "vessels"}, caption=caption, **window),
        "Vessels.png",
    )

    white_matter = voxelmaps.fuzzy_connectedness(head, [(31, 76, 47)], estimation_radius=1) >= 0.3
    caption = f"{head.name}: connected with a seed in white matter"
    save(
        voxelmaps.show(
            head, {"strength >= 0.3": white_matter}, slice=31, label_names={1: "white matter"}, caption=caption
        ),
        "WhiteMatter.png",
    )

    result = voxelmaps.labels(ct, out / "Strokes.nrrd", margin=True)
    sitk.WriteImage(result.labels, str(out / "Labels.nii.gz"))
    names = {1: "liver", 2: "vessels of the liver", 3: "spine", 4: "spleen", 5: "all else"}
    caption = "Synthetic CT: labels of seeds in four organs and all else, by iterative relative fuzzy connectedness"
    save(voxelmaps.show(ct, result, slice=40, label_names=names, caption=caption, **window), "Labels.png")

    strength = voxelmaps.fuzzy_connectedness(ct, seeds["spleen"], estimation_radius=1)
    save(volume_curve(strength, voxelmaps.suggest_threshold(strength, minimum_volume=2000)), "VolumeCurve.png")


if __name__ == "__main__":
    main()
