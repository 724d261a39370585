#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Compute run length feature maps of a volume of any size, chunk by chunk, on all cores or on a dask cluster.

The volume is a zarr array. dask.array.map_overlap passes each chunk to compute_chunk with a border of one window
radius, so that every window is complete. The intensity range is that of the whole volume, so that the gray levels are
the same in all chunks. The result is therefore bit-identical to that of the whole image, which --check verifies.
"""

import argparse
import pathlib
import sys
import time

import dask
import dask.array as da
import numpy as np
import zarr


def compute_maps_of(array, levels, radius, features, **options):
    """The maps of a NumPy array; the last axis of the result is the feature."""
    import voxelmaps

    maps = voxelmaps.feature_maps(
        array,
        features=[f"glrlm_{name}" for name in features],
        bin_count=levels,
        neighborhood_radius=radius,
        **options,
    )
    return np.moveaxis(maps.array, 0, -1)


def compute_chunk(chunk, low, high, levels, radius, features):
    """Compute the feature maps of one chunk on one core; dask calls this in a worker process."""
    return compute_maps_of(chunk, levels, radius, features, intensity_range=(low, high), threads=1, device="cpu")


def feature_maps(volume, levels, radius, features):
    """Return the maps of a dask array as a lazy dask array whose last axis is the feature."""
    low, high = (float(v) for v in dask.compute(volume.min(), volume.max()))
    depth = dict.fromkeys(range(volume.ndim), radius)
    maps = da.map_overlap(
        compute_chunk,
        volume,
        depth=depth,
        boundary="none",
        trim=False,
        dtype=np.float32,
        meta=np.empty((0,) * (volume.ndim + 1), np.float32),
        new_axis=volume.ndim,
        chunks=da.overlap.overlap(volume, depth, "none").chunks + (len(features),),
        low=low,
        high=high,
        levels=levels,
        radius=radius,
        features=features,
    )
    return da.overlap.trim_internal(maps, {**depth, volume.ndim: 0}, boundary="none")


def draw(image, volume, written, feature, path):
    """Draw the middle slice of the volume, with the borders of the chunks, and of its first map."""
    import itk
    import voxelmaps

    # An image in a file has a geometry.
    first = itk.image_from_array(np.ascontiguousarray(written[..., 0]))
    if image is None:
        image = volume.compute(scheduler="synchronous")
        first = written[..., 0]
    else:
        first.CopyInformation(image)
    middle = volume.shape[0] // 2
    figure = voxelmaps.show(image, {feature: first}, slice=middle, caption=f"chunks of {volume.chunksize} voxels")
    axis = figure.axes[0]
    width, height = (1, 1) if isinstance(image, np.ndarray) else list(itk.spacing(image))[:2]
    for border in np.cumsum(volume.chunks[1])[:-1]:
        axis.axhline((border - 0.5) * height, color="orange", linewidth=0.8)
    for border in np.cumsum(volume.chunks[2])[:-1]:
        axis.axvline((border - 0.5) * width, color="orange", linewidth=0.8)
    figure.savefig(path, dpi=150)


def compute_maps(options):
    features = options.features.split(",")
    # Workers of a cluster have other working directories, and zarr reads missing files as zeros.
    options.output = options.output.absolute()

    image = None
    if options.image.rstrip("/").endswith(".zarr"):
        volume = da.from_zarr(str(pathlib.Path(options.image).absolute()))
    else:
        import itk
        import voxelmaps

        voxelmaps.check_image_file(options.image)
        image = itk.imread(options.image)
        array = itk.array_from_image(image)
        store = zarr.open(
            str(options.output.with_suffix(".input.zarr")),
            mode="w",
            shape=array.shape,
            chunks=(options.chunk,) * array.ndim,
            dtype=array.dtype,
        )
        store[...] = array
        volume = da.from_zarr(store)
    volume = volume.rechunk(options.chunk)

    if options.scheduler:
        from distributed import Client

        Client(options.scheduler)  # becomes the default scheduler
    else:
        dask.config.set(scheduler="processes")
    start = time.perf_counter()
    maps = feature_maps(volume, options.levels, options.radius, features)
    maps = maps.rechunk({volume.ndim: -1})
    maps.to_zarr(str(options.output), overwrite=True)
    print(f"{volume.npartitions} chunks of {volume.shape}: {time.perf_counter() - start:.1f} s; {options.output}")

    written = zarr.open(str(options.output), mode="r")[...]
    if options.picture:
        draw(image, volume, written, features[0], options.picture)
    if options.check:
        array = volume.compute(scheduler="synchronous")
        whole = np.ascontiguousarray(compute_maps_of(array, options.levels, options.radius, features))
        if not np.array_equal(whole.view(np.uint32), written.view(np.uint32)):
            raise SystemExit("The maps differ from those of the whole image")
        print(f"equal to the maps of the whole image in all {written.size} values, bit for bit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", help="3D image in any format that ITK reads, or a zarr array (.zarr)")
    parser.add_argument("output", type=pathlib.Path, help="zarr array to write, whose last axis is the feature")
    parser.add_argument("--chunk", type=int, default=48, help="chunk size along each axis in voxels")
    parser.add_argument("--levels", type=int, default=32, help="number of gray levels")
    parser.add_argument("--radius", type=int, default=2, help="radius of the window in voxels")
    parser.add_argument("--features", default="SRE,LRE,GLN,RLN,RP", help="comma-separated features")
    parser.add_argument(
        "--scheduler", help="address of a dask cluster, tcp://host:8786 (default: all cores of this machine)"
    )
    parser.add_argument("--picture", help="PNG file to write: a slice, its chunks, and the first map")
    parser.add_argument("--check", action="store_true", help="also compute the maps of the whole image, and compare")
    options = parser.parse_args()
    try:
        compute_maps(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"large_volume_with_dask.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
