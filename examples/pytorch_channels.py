#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Train a small PyTorch network on feature maps: from NIfTI files to input channels, which are computed where the network is.

The channels are the image and ten texture maps, with mean 0 and variance 1 inside the mask. As a toy target, a few layers of
convolutions learn to segment the mask of the same image. On a CUDA device, no voxel returns to the host.
"""

import argparse
import sys
import time

import torch
import voxelmaps

FEATURES = [
    "firstorder_Mean",
    "firstorder_Entropy",
    "firstorder_InterquartileRange",
    "glcm_Contrast",
    "glcm_JointEntropy",
    "gldm_DependenceEntropy",
    "glrlm_RunEntropy",
    "glrlm_ShortRunEmphasis",
    "glszm_ZonePercentage",
    "ngtdm_Contrast",
]


def read(image_name, mask_name):
    """The arrays of two files."""
    import itk

    arrays = []
    for name in (image_name, mask_name):
        voxelmaps.check_image_file(name)
        arrays.append(itk.array_from_image(itk.imread(name)))
    image, mask = arrays
    if image.ndim != 3 or image.shape != mask.shape:
        raise ValueError(f"{mask_name} has the shape {mask.shape}, but {image_name} has {image.shape}; both must be 3D")
    if not mask.any():
        raise ValueError(f"no voxel of {mask_name} is other than 0")
    return image.astype("float32"), mask != 0


def channels_of(image, mask, **parameters):
    """The image and its maps, normalized, as a tensor (channels, z, y, x) on the device of the image.

    image, mask    Tensors (z, y, x), of floats and of bool.
    parameters     Of voxelmaps.feature_maps.
    """
    transform = voxelmaps.FeatureMapsd("image", features=FEATURES, with_image=True, suffix="", **parameters)
    channels = transform({"image": image[None]})["image"]
    inside = channels[:, mask]
    mean, deviation = inside.mean(dim=1), inside.std(dim=1).clamp_min(1e-6)
    shape = (-1, 1, 1, 1)
    # Outside the mask, values can be far from those inside.
    return ((channels - mean.view(shape)) / deviation.view(shape)).clamp(-5, 5)


def patches_of(mask, number, size):
    """Slices of random boxes: around voxels of the mask, and as many anywhere."""
    voxels = torch.nonzero(mask)
    centers = voxels[torch.randint(len(voxels), (number,), device=mask.device)].tolist()
    for center in centers:
        anywhere = [int(torch.randint(n, ())) for n in mask.shape]
        for position in (center, anywhere):
            starts = [min(max(p - size // 2, 0), max(n - size, 0)) for p, n in zip(position, mask.shape)]
            yield tuple(slice(start, start + size) for start in starts)


def train(image, mask, *, device=None, steps=50, patch=32, **parameters):
    """Compute the channels of an image and train a network on them; returns the losses, and the Dice coefficient of all voxels.

    image, mask    NumPy arrays (z, y, x), of floats and of bool.
    device         Of PyTorch; by default a CUDA device, if there is one.
    steps, patch   Steps of training, and the size of the boxes of voxels that they see.
    parameters     Of voxelmaps.feature_maps.
    """
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"the device is {device}, but this PyTorch finds no CUDA device")
    torch.manual_seed(0)
    image, mask = (torch.as_tensor(array, device=device) for array in (image, mask))
    start = time.perf_counter()
    channels = channels_of(image, mask, **parameters)
    if channels.is_cuda:
        torch.cuda.synchronize(channels.device)
    seconds = time.perf_counter() - start
    print(f"image {tuple(image.shape)}: {len(channels)} channels {tuple(channels.shape)} in {seconds:.3f} s")

    network = torch.nn.Sequential(
        torch.nn.Conv3d(len(channels), 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv3d(8, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv3d(8, 1, 1),
    ).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for step in range(1, steps + 1):
        boxes = list(patches_of(mask, 2, patch))
        batch = torch.stack([channels[(slice(None), *box)] for box in boxes])
        target = torch.stack([mask[box] for box in boxes])[:, None].to(batch.dtype)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        if step in (1, steps) or step % 10 == 0:
            print(f"step {step}: input {tuple(batch.shape)}, loss {losses[-1]:.4f}")

    with torch.no_grad():
        found = network(channels[None])[0, 0] > 0
    dice = float(2 * (found & mask).sum() / (found.sum() + mask.sum()))
    tensors = [image, mask, channels, batch, target, loss, found, *network.parameters()]
    devices = sorted({str(tensor.device) for tensor in tensors})
    if len(devices) > 1:
        raise RuntimeError(f"tensors are on the devices {', '.join(devices)}")
    print(f"Dice coefficient {dice:.3f}; image, channels, network, loss and result are on {devices[0]}")
    return losses, dice


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("mask", help="image of the same size, not 0 in the region to segment")
    parser.add_argument("--device", help="cuda, cuda:1 or cpu (default: cuda, if there is a device)")
    parser.add_argument("--steps", type=int, default=50, help="steps of training (default: 50)")
    parser.add_argument("--patch", type=int, default=32, help="size of the boxes of a step in voxels (default: 32)")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels (default: 32)")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels (default: 2)")
    options = parser.parse_args()
    for name in ("steps", "patch"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}, but must be at least 1")
    try:
        train(
            *read(options.image, options.mask),
            device=options.device,
            steps=options.steps,
            patch=options.patch,
            bin_count=options.levels,
            neighborhood_radius=options.radius,
        )
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"pytorch_channels.py: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
