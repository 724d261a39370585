"""
Habitats of a lesion
====================

Habitats are regions of similar texture inside a lesion. The program ``examples/habitats.py`` computes the features that Prior et
al. (2024) found precise in CT of the liver, excludes features that are correlated with others, and clusters the voxels of all cases
with a Gaussian mixture. Here, the only case is a ball in the head, which stands in for a lesion.
"""

import csv

import habitats
import itk
import numpy as np

image = itk.imread("head.nii.gz")
z, y, x = np.indices(itk.array_view_from_image(image).shape)
ball = itk.image_from_array(((2 * (z - 30)) ** 2 + (y - 60) ** 2 + (x - 70) ** 2 < 28**2).astype(np.uint8))
ball.CopyInformation(image)
itk.imwrite(ball, "lesion.nii.gz")

arguments = "head.nii.gz results --mask lesion.nii.gz --habitats 3 --bin-width 8"
options = habitats.parse(arguments.split())
habitats.find_habitats(options)

# %%
# The first picture shows three slices, with the volume of each habitat and the feature that distinguishes it most. The second
# shows the mean features of the habitats, in standard deviations from the mean of all voxels.
#
# ``habitats.csv`` contains the mean features. These distinguish each habitat most:

with open("results/habitats.csv") as file:
    rows = list(csv.DictReader(file))
with open("results/features.csv") as file:
    used = [row for row in csv.DictReader(file) if row["used"] == "1"]
for row in rows:
    scores = {
        feature["feature"]: (float(row[f"mean_{feature['feature']}"]) - float(feature["mean"]))
        / float(feature["standard_deviation"])
        for feature in used
    }
    strongest = sorted(scores, key=lambda name: -abs(scores[name]))[:3]
    print(f"habitat {row['habitat']}: {row['volume_ml']} ml, mean intensity {float(row['mean_intensity']):.0f}")
    for name in strongest:
        print(f"  {'high' if scores[name] > 0 else 'low':4} {name} ({scores[name]:+.1f} standard deviations)")
