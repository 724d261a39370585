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
"""Draw all feature maps of a slice, one picture per class, with PyRadiomics' names and settings.

Of a 3D image, the middle slice is drawn; windows are 3D and contain voxels of the slices beside it (maskedKernel is off).
"""

import argparse
import pathlib

import itk
import matplotlib
import numpy as np
import voxelmaps
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def maps_of_slice(image, inside, name, options):
    """The part of the slice around the mask, and its maps by feature, as arrays of two dimensions; NaN outside the mask."""
    mask = itk.image_from_array(inside.astype(np.uint8))
    mask.CopyInformation(image)
    maps = voxelmaps.radiomics.execute(
        image,
        mask,
        featureClass=name,
        binCount=options.levels,
        kernelRadius=options.radius,
        maskedKernel=False,
        initValue=float("nan"),
        additionalInfo=False,
    )
    arrays = {key.split("_")[-1]: itk.array_from_image(m) for key, m in maps.items()}
    if inside.ndim == 3:
        first = next(iter(arrays.values()))
        middle = np.flatnonzero(np.isfinite(first).any(axis=(1, 2)))[0]
        arrays = {feature: array[middle] for feature, array in arrays.items()}
    return arrays


def draw(arrays, aspect, path):
    """Draw maps; black and white are the 2nd and 98th percentiles."""
    columns = 6
    rows = -(-len(arrays) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(1.7 * columns, 2.1 * rows), layout="constrained")
    for axis in axes.flat:
        axis.axis("off")
    for axis, (feature, array) in zip(axes.flat, arrays.items()):
        low, high = np.nanpercentile(array, [2, 98])
        axis.imshow(array, cmap="gray", vmin=low, vmax=high, aspect=aspect)
        axis.set_title(f"{feature}\n{low:.3g} … {high:.3g}", fontsize=6)
    figure.set_dpi(100)
    figure.canvas.draw()
    # A third of the size of a picture in color.
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("L").quantize(64).save(path, optimize=True)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="2D or 3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write one PNG file per class, such as glcm.png")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels")
    options = parser.parse_args()

    image = itk.imread(options.image)
    if image.GetNumberOfComponentsPerPixel() > 1:
        # Colors become gray.
        image = itk.imread(options.image, itk.UC)
    array = itk.array_from_image(image)
    inside = array > array.mean() / 2
    if inside.ndim == 3:
        middle = len(inside) // 2
        inside[:middle] = inside[middle + 1 :] = False
    spacing = itk.spacing(image)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm"):
        arrays = maps_of_slice(image, inside, name, options)
        draw(arrays, spacing[1] / spacing[0], options.folder / f"{name}.png")
        print(f"{name}: {len(arrays)} maps of {np.count_nonzero(inside)} voxels")


if __name__ == "__main__":
    main()
