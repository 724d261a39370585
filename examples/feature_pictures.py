"""Draw all feature maps of a slice, one picture per class, with PyRadiomics' names and settings.

Of a 3D image without a mask, the middle slice is drawn; windows are 3D and contain voxels of the slices beside it (maskedKernel
is off).
"""

import argparse
import pathlib
import sys

import itk
import numpy as np
import voxelmaps


def read(options):
    """The image and the mask."""
    voxelmaps.check_image_file(options.image)
    image = itk.imread(options.image)
    if image.GetNumberOfComponentsPerPixel() > 1:
        # Colors become gray.
        image = itk.imread(options.image, itk.UC)
    if options.mask is not None:
        voxelmaps.check_image_file(options.mask)
        return image, itk.imread(options.mask)
    array = itk.array_view_from_image(image)
    inside = array > array.mean() / 2
    if inside.ndim == 3:
        middle = len(inside) // 2
        inside[:middle] = inside[middle + 1 :] = False
    mask = itk.image_from_array(inside.astype(np.uint8))
    mask.CopyInformation(image)
    return image, mask


def draw(options):
    image, mask = read(options)
    for name in ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm"):
        maps = voxelmaps.radiomics.execute(
            image,
            mask,
            featureClass=name,
            binCount=options.levels,
            kernelRadius=options.radius,
            maskedKernel=False,
            initValue=float("nan"),
        )
        figure = voxelmaps.show(image, maps, mask, columns=6, unit=options.unit)
        options.folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(options.folder / f"{name}.png", dpi=options.dpi)
        number = sum(key.startswith("original_") for key in maps)
        print(f"{name}: {number} maps of {np.count_nonzero(itk.array_view_from_image(mask) == 1)} voxels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="2D or 3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write one PNG file per class, such as glcm.png")
    parser.add_argument("--mask", help="image of the same geometry, 1 inside (default: brighter than half of the mean)")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels (default: 32)")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels (default: 2)")
    parser.add_argument("--unit", help="unit of the intensities, such as HU")
    parser.add_argument("--dpi", type=float, default=100, help="pixels per inch of the pictures (default: 100)")
    options = parser.parse_args()
    try:
        draw(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"feature_pictures.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
