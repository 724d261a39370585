"""
Input channels of a network
===========================

:class:`~voxelmaps.FeatureMapsd` is a dictionary transform in the style of MONAI that adds maps to an image as channels. With PyTorch
tensors on a CUDA device, no voxels are copied to the host; ``examples/pytorch_channels.py`` trains a small network on such channels.
This page uses NumPy arrays.
"""

import itk
import numpy as np
import voxelmaps

image = itk.array_from_image(itk.imread("head.nii.gz")).astype(np.float32)[None]
names = "firstorder_Mean firstorder_Entropy glcm_Contrast gldm_DependenceEntropy glszm_ZonePercentage".split()
transform = voxelmaps.FeatureMapsd(
    "image",
    features=names,
    with_image=True,
    suffix="",
    bin_count=32,
    neighborhood_radius=1,
)
channels = transform({"image": image})["image"]
print(f"{image.dtype} {image.shape} becomes {channels.dtype} {channels.shape}")

# %%
# Each channel is normalized to mean 0 and variance 1 in the head.

inside = image[0] > image.mean()
means = channels[:, inside].mean(axis=1)
deviations = channels[:, inside].std(axis=1)
channels = (channels - means[:, None, None, None]) / deviations[:, None, None, None]

maps = {name.replace("_", " "): channel for name, channel in zip(["image", *names], channels)}
figure = voxelmaps.show(image[0], maps, inside, slice=31, columns=4, limits=(-2.5, 2.5))
figure.savefig("channels.png", dpi=90)
