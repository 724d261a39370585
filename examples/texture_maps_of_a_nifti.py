#!/usr/bin/env python3
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
"""Compute run length feature maps of a NIfTI image: one NIfTI file per feature, and a picture of all maps.

The image can have any format that ITK reads. The maps have its geometry, so viewers can overlay them on the image.
"""

import argparse
import pathlib

import itk
import matplotlib
import numpy as np
import voxelmaps

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def draw(image, maps, inside, path):
    """Draw the middle slice of an image and of its maps; black and white are the 2nd and 98th percentiles inside."""
    middle = image.shape[0] // 2
    spacing = itk.spacing(image)
    inside = inside[middle]
    pictures = {"image": itk.array_view_from_image(image)[middle]}
    pictures.update((name, itk.array_view_from_image(m)[middle]) for name, m in maps.items())
    columns = 6
    rows = -(-len(pictures) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(1.6 * columns, 1.8 * rows), layout="constrained")
    for axis in axes.flat:
        axis.axis("off")
    for axis, (name, picture) in zip(axes.flat, pictures.items()):
        low, high = np.percentile(picture[inside], [2, 98])
        axis.imshow(picture, cmap="gray", vmin=low, vmax=high, aspect=spacing[1] / spacing[0])
        axis.set_title(f"{name}  {low:.3g} ... {high:.3g}", fontsize=7)
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write the maps and overview.png")
    parser.add_argument("--mask", help="image of the same geometry, 1 where to compute maps")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels")
    parser.add_argument("--features", default="all", help="all, or a comma-separated list such as SRE,LRE,RE")
    options = parser.parse_args()

    image = itk.imread(options.image)
    array = itk.array_view_from_image(image)
    parameters, inside = {}, array > array.mean()
    if options.mask is not None:
        parameters["mask_image"] = itk.imread(options.mask)
        inside = itk.array_from_image(parameters["mask_image"]) == 1
    maps = voxelmaps.run_length_feature_maps(
        image,
        number_of_gray_levels=options.levels,
        neighborhood_radius=options.radius,
        features=options.features.split(","),
        **parameters,
    )
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, one in maps.items():
        itk.imwrite(one, str(options.folder / f"{name}.nii.gz"))
        values = itk.array_view_from_image(one)
        print(f"{name:6} {float(values.min()):12.5g} ... {float(values.max()):<12.5g}")
    draw(image, maps, inside, options.folder / "overview.png")
    print(f"{len(maps)} maps and overview.png in {options.folder}")


if __name__ == "__main__":
    main()
