"""
All features of all classes
===========================

All 93 features that PyRadiomics computes by default, with its names and settings, in the middle slice of the head.
Colors range from the 2nd to the 98th percentile of the values inside the mask. :doc:`Feature classes </doc/features/README>`
lists the formulas.
"""

import time

import itk
import numpy as np
import voxelmaps

image = itk.imread("head.nii.gz")
array = itk.array_from_image(image)
mask = array > array.mean() / 2
mask[:31] = mask[32:] = False
mask_image = itk.image_from_array(mask.astype(np.uint8))
mask_image.CopyInformation(image)


def draw(name):
    start = time.perf_counter()
    maps = voxelmaps.radiomics.execute(
        image,
        mask_image,
        featureClass=name,
        binCount=32,
        kernelRadius=2,
        maskedKernel=False,
        initValue=float("nan"),
        additionalInfo=False,
    )
    print(f"{name}: {len(maps)} maps of {mask.sum()} voxels in {time.perf_counter() - start:.2f} s")
    voxelmaps.show(image, maps, mask_image, columns=6).savefig(f"{name}.png", dpi=80)


# %%
# First order
# -----------
draw("firstorder")

# %%
# Gray level co-occurrence
# ------------------------
draw("glcm")

# %%
# Gray level dependence
# ---------------------
draw("gldm")

# %%
# Gray level run length
# ---------------------
draw("glrlm")

# %%
# Gray level size zone
# --------------------
draw("glszm")

# %%
# Neighborhood gray tone difference
# ---------------------------------
draw("ngtdm")
