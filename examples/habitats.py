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
"""Find habitats, regions of similar texture inside a mask, by clustering the run length features of its voxels.

Every voxel of the mask has a feature vector. The features are standardized (mean 0, variance 1), and k-means groups
voxels with similar vectors. The program writes the groups as a label image with the geometry of the input image.
"""

import argparse
import pathlib

import itk
import matplotlib
import numpy as np
from itk import voxelmaps
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# GLN and RLN depend on the number of runs as much as on texture; their normalized versions do not.
FEATURES = ["SRE", "LRE", "GLNN", "RLNN", "RP", "LGRE", "HGRE", "GLV", "RV", "RE"]


def draw(image, labels, path):
    """Draw three slices of an image, without and with the habitats in color."""
    array = itk.array_view_from_image(image)
    spacing = itk.spacing(image)
    slices = np.linspace(0, image.shape[0], 5).astype(int)[1:4]
    figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
    low, high = np.percentile(array, [2, 99])
    for (above, below), z in zip(axes.T, slices):
        for axis in (above, below):
            axis.imshow(array[z], cmap="gray", vmin=low, vmax=high, aspect=spacing[1] / spacing[0])
            axis.axis("off")
        shown = np.ma.masked_equal(labels[z], 0)
        below.imshow(shown, cmap="tab10", vmin=1, vmax=10, interpolation="nearest", aspect=spacing[1] / spacing[0])
        above.set_title(f"slice {z}", fontsize=9)
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write habitats.nii.gz and habitats.png")
    parser.add_argument("--mask", help="image of the same geometry, 1 inside (default: above the mean intensity)")
    parser.add_argument("--habitats", type=int, default=4, help="number of habitats")
    options = parser.parse_args()

    image = itk.imread(options.image)
    array = itk.array_view_from_image(image)
    if options.mask is None:
        mask = array > array.mean()
    else:
        mask = itk.array_from_image(itk.imread(options.mask)) == 1

    maps = voxelmaps.feature_maps(image, mask_image=mask, features=FEATURES)
    vectors = np.stack([itk.array_view_from_image(m)[mask] for m in maps.values()], axis=1)
    vectors = StandardScaler().fit_transform(vectors)
    groups = KMeans(options.habitats, n_init=4, random_state=0).fit_predict(vectors)

    # k-means numbers the groups arbitrarily; the order of their mean intensities is reproducible.
    means = [array[mask][groups == g].mean() for g in range(options.habitats)]
    rank = np.argsort(np.argsort(means)) + 1
    labels = np.zeros(mask.shape, np.uint8)
    labels[mask] = rank[groups]

    label_image = itk.image_from_array(labels)
    label_image.CopyInformation(image)
    options.folder.mkdir(parents=True, exist_ok=True)
    itk.imwrite(label_image, str(options.folder / "habitats.nii.gz"))
    draw(image, labels, options.folder / "habitats.png")
    volume = np.prod(list(itk.spacing(image))) / 1000
    for label in range(1, options.habitats + 1):
        inside = labels == label
        print(f"habitat {label}: {inside.sum() * volume:8.1f} ml, mean intensity {array[inside].mean():6.1f}")


if __name__ == "__main__":
    main()
