"""Compute run length feature maps of a NIfTI image: one NIfTI file per feature, and a picture of all maps.

The image can have any format that ITK reads. The maps have its geometry, so viewers can overlay them on the image.
"""

import argparse
import pathlib
import sys

import numpy as np
import voxelmaps
from voxelmaps import radiomics


def write_maps(options):
    image = radiomics.read_image(options.image)
    array = np.asarray(image)
    features = "glrlm" if options.features == "all" else [f"glrlm_{name}" for name in options.features.split(",")]
    maps = voxelmaps.feature_maps(
        image,
        options.mask,
        features=features,
        bin_count=options.levels,
        neighborhood_radius=options.radius,
    )
    maps.save(options.folder, overwrite=options.overwrite)
    for name, values in maps.items():
        print(f"{name:36} {float(values.min()):12.5g} ... {float(values.max()):<12.5g}")
    width = 2 * options.radius + 1
    caption = f"{options.levels} gray levels, windows of {' × '.join([str(width)] * array.ndim)} voxels"
    mask = array > array.mean() if options.mask is None else options.mask
    figure = voxelmaps.show(image, maps, mask, columns=6, caption=caption)
    figure.savefig(options.folder / "overview.png", dpi=options.dpi)
    print(f"{len(maps)} maps and overview.png in {options.folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image, such as head.nii.gz")
    parser.add_argument("folder", type=pathlib.Path, help="where to write the maps and overview.png")
    parser.add_argument("--mask", help="image of the same geometry, not 0 where to compute maps")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels (default: 32)")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels (default: 2)")
    parser.add_argument("--features", default="all", help="all, or a comma-separated list such as SRE,LRE,RE")
    parser.add_argument("--dpi", type=float, default=80, help="pixels per inch of the picture (default: 80)")
    parser.add_argument("--overwrite", action="store_true", help="replace maps of another run (overwrite=True)")
    options = parser.parse_args()
    try:
        write_maps(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"texture_maps_of_a_nifti.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
