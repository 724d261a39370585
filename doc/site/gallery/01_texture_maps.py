"""
Texture maps of a region
========================

Compute four features of the window around every voxel of a region, and display them. A ball in the head stands in for a
lesion.
"""

import itk
import numpy as np
import voxelmaps

image = itk.imread("head.nii.gz")
array = itk.array_from_image(image)
z, y, x = np.indices(array.shape)
ball = (3 * (z - 30)) ** 2 + (2 * (y - 60)) ** 2 + (2 * (x - 80)) ** 2 < 30**2

# %%
# ``describe`` reports gray levels, memory and time before anything is computed.

names = ["firstorder_Mean", "glcm_Contrast", "glcm_JointEntropy", "glrlm_RunEntropy"]
print(voxelmaps.describe(array, ball, features=names, bin_width=10))

# %%
# The maps cover the surroundings of the region. ``show`` overlays them on the image, with color bars and a scale bar.

maps = voxelmaps.feature_maps(array, ball, features=names, bin_width=10, crop="mask")
for name, values in maps.items():
    print(f"{name:20} {values[ball[maps.slices]].mean():.3f} on average")

figure = voxelmaps.show(image, maps, ball, columns=5)
figure.savefig("maps.png", dpi=150)
