#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure voxelmaps maps from the command to the files on the disk, beside a warm voxelmaps.radiomics.execute of
the same cases in memory, and print a Markdown table. Each case is the shortest of some runs in new processes.

Run it with the Python of an environment that has the wheel. --pyradiomics SECONDS also lets PyRadiomics compute a part of the lesion,
if it can be imported, and scales its time to all voxels.
"""

import argparse
import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import SimpleITK as sitk
from texture_classes import synthetic_ct
from voxelmaps import radiomics

CLASSES = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")


def write(array, path):
    image = sitk.GetImageFromArray(array)
    image.SetSpacing([0.8, 0.8, 2.5])
    sitk.WriteImage(image, str(path))


def ellipsoid(shape, center, radii):
    grid = np.ogrid[tuple(slice(n) for n in shape)]
    return (sum(((axis - c) / r) ** 2 for axis, c, r in zip(grid, center, radii)) < 1).astype(np.uint8)


def write_cases(folder, number):
    """A CT with lesions of 32,000 voxels at different places, and the table of them."""
    image = np.tile(synthetic_ct(64), (1, 2, 2))
    write(image, folder / "image.nii.gz")
    rows = ["image,mask,output"]
    for i in range(number):
        place = i % 24
        write(ellipsoid(image.shape, (32, 60 - place, 50 + place), (14, 22, 25)), folder / f"mask{i}.nii.gz")
        rows.append(f"image.nii.gz,mask{i}.nii.gz,maps{i}")
    (folder / "table.csv").write_text("\n".join(rows) + "\n")


def run(folder, *arguments, classes=CLASSES):
    """Wall time of the program in a new process, in seconds."""
    command = [sys.executable, "-m", "voxelmaps", "maps", *arguments, "--classes", ",".join(classes)]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    return seconds


def execute(folder, image="image.nii.gz", mask="mask0.nii.gz", classes=CLASSES, runs=5, **settings):
    """Wall time of a warm execute of the first lesion, from and to memory."""
    image, mask = (sitk.ReadImage(str(folder / name)) for name in (image, mask))
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        radiomics.execute(image, mask, featureClass=dict.fromkeys(classes), additionalInfo=False, **settings)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def remove_maps(folder):
    for maps in folder.glob("maps*"):
        shutil.rmtree(maps)


def megabytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def shortest(folder, number, *arguments, is_new=True, **options):
    seconds = []
    for _ in range(number):
        if is_new:
            remove_maps(folder)
        seconds.append(run(folder, *arguments, **options))
    return min(seconds)


def head(folder, path, runs):
    """Times of 69 maps, all but GLCM, 5x5x5, of the voxels of an image that are brighter than the mean: in memory, and by the
    program."""
    image = sitk.ReadImage(path)
    sitk.WriteImage(image, str(folder / "head.nii.gz"))
    mask = image > float(sitk.GetArrayViewFromImage(image).mean())
    sitk.WriteImage(mask, str(folder / "head-mask.nii.gz"))
    classes = [name for name in CLASSES if name != "glcm"]
    names = "head.nii.gz", "head-mask.nii.gz"
    in_memory = execute(folder, *names, classes, runs, kernelRadius=2)
    arguments = (names[0], "--mask", names[1], "--out", "maps-head", "--radius", "2")
    return in_memory, shortest(folder, runs, *arguments, classes=classes), megabytes(folder / "maps-head")


def pyradiomics(folder, seconds):
    """Time of PyRadiomics for the lesion, from that for a part of its voxels."""
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    image, mask = (sitk.ReadImage(str(folder / name)) for name in ("image.nii.gz", "mask0.nii.gz"))
    array = sitk.GetArrayFromImage(mask)
    extractor = RadiomicsFeatureExtractor(voxelBatch=1000, additionalInfo=False)
    extractor.disableAllFeatures()
    for name in CLASSES:
        extractor.enableFeatureClassByName(name)
    size, spent, voxels = 2, 0.0, 0
    while 8 * spent <= seconds and voxels < np.count_nonzero(array):
        part = np.zeros_like(array)
        part[tuple(slice(n // 2 - size, n // 2 + size) for n in array.shape)] = 1
        part = sitk.GetImageFromArray(part * array)
        part.CopyInformation(mask)
        voxels = np.count_nonzero(sitk.GetArrayFromImage(part))
        if voxels:
            start = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                extractor.execute(image, part, voxelBased=True)
            spent = time.perf_counter() - start
        size *= 2
    return spent * np.count_nonzero(array) / voxels, voxels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each case (default: 3)")
    parser.add_argument(
        "--pyradiomics", type=float, default=0, metavar="SECONDS", help="let PyRadiomics compute so long"
    )
    parser.add_argument("--head", metavar="IMAGE", help="also measure 69 maps of the bright voxels of this image")
    parser.add_argument("--lesions", type=int, default=24, help="cases of the table (default: 24)")
    options = parser.parse_args()
    number = options.lesions
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_cases(folder, number)
        warm = execute(folder)
        one = ["image.nii.gz", "--mask", "mask0.nii.gz", "--out", "maps0"]
        table = ["--jobs", "table.csv"]
        print("| case | s | of the time in memory | s per 1,000 cases | MB per case |\n|---|---|---|---|---|")

        def show(what, seconds, cases, size=None):
            shown = "" if size is None else f"{size:.1f}"
            per_thousand = 1000 * seconds / cases
            print(
                f"| {what} | {seconds:.2f} | {seconds / cases / warm:.2f} | {per_thousand:.0f} | {shown} |", flush=True
            )

        show("one lesion, 93 maps, in memory, warm", warm, 1)
        show("the program, one lesion", shortest(folder, options.runs, *one), 1)
        seconds = shortest(folder, options.runs, *table)
        show(f"the program, {number} lesions", seconds, number, megabytes(folder / "maps0"))
        show("the same table, finished", shortest(folder, options.runs, *table, is_new=False), number)
        for file_format in ("nii", "nrrd", "zarr"):
            seconds = shortest(folder, options.runs, *table, "--format", file_format)
            show(f"the same table, --format {file_format}", seconds, number, megabytes(folder / "maps0"))
        show("the same table, --dask local", shortest(folder, options.runs, *table, "--dask", "local"), number)
        if options.head:
            in_memory, seconds, size = head(folder, options.head, options.runs)
            for what, time_of in (("in memory", in_memory), ("the program", seconds)):
                print(f"| a head, 69 maps, {what} | {time_of:.2f} | {time_of / in_memory:.2f} | | |", flush=True)
            print(f"\nMaps of the head: {size:.0f} MB.")
        if options.pyradiomics:
            seconds, voxels = pyradiomics(folder, options.pyradiomics)
            show(f"PyRadiomics, one lesion, from {voxels} of its voxels", seconds, 1)


if __name__ == "__main__":
    main()
