#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure what users wait for, and print a Markdown table: calls of the package, and the command until the files are on the disk.

Run it with the Python of an environment that has voxelmaps and SimpleITK. Each time is the shortest of --runs, those of new processes
included. With --device, calls of feature_maps and of connectedness are on arrays of CuPy in memory of the device. --peers adds one run
of PyRadiomics, if it is in the environment, and the table of other packages, see peers.py.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import SimpleITK as sitk
import voxelmaps
from peers import ROOT, box, processor_name, synthetic_ct

CLASSES = ["firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm"]
FIRST_MAP = (
    "import numpy, voxelmaps; voxelmaps.feature_maps(numpy.arange(512.).reshape(8, 8, 8), features=['glrlm_SRE'])"
)


def ellipsoid(shape, center, radii):
    grid = np.ogrid[tuple(slice(n) for n in shape)]
    return (sum(((axis - c) / r) ** 2 for axis, c, r in zip(grid, center, radii)) < 1).astype(np.uint8)


def write_cases(folder, number, center, radii):
    """A CT with lesions at different places, and the table of them. Returns the array of the first one."""
    array = np.tile(synthetic_ct(64), (1, 2, 2))
    folder.mkdir()
    sitk.WriteImage(sitk.GetImageFromArray(array), str(folder / "image.nii.gz"))
    rows = ["image,mask,output"]
    for i in range(number):
        mask = ellipsoid(array.shape, (center, 60 - i % 24, 50 + i % 24), radii)
        sitk.WriteImage(sitk.GetImageFromArray(mask), str(folder / f"mask{i}.nii.gz"))
        rows.append(f"image.nii.gz,mask{i}.nii.gz,maps{i}")
    (folder / "table.csv").write_text("\n".join(rows) + "\n")


def execute_by_pyradiomics(image, mask):
    from radiomics import featureextractor, setVerbosity

    setVerbosity(40)  # errors
    extractor = featureextractor.RadiomicsFeatureExtractor(additionalInfo=False)
    extractor.disableAllFeatures()
    for name in CLASSES:
        extractor.enableFeatureClassByName(name)
    return extractor.execute(image, mask, voxelBased=True)


def machine():
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return (
        f"{processor_name()}, {os.cpu_count()} processors, {voxelmaps.__version__} {commit.stdout.strip()}; wall time"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each task (default: 5)")
    parser.add_argument("--lesions", type=int, default=24, help="cases of the table (default: 24)")
    parser.add_argument("--size", type=int, nargs=3, default=[192, 192, 80], help="of the CT for connectedness: x y z")
    parser.add_argument("--device", action="store_true", help="arrays of CuPy instead of NumPy")
    parser.add_argument("--folder", help="for files (default: that of temporary files)")
    parser.add_argument(
        "--peers", action="store_true", help="also PyRadiomics, and peers.py for the case of HABIT and for labels"
    )
    options = parser.parse_args()
    on_device, finish = np.asarray, lambda: None
    if options.device:
        import cupy

        on_device, finish = cupy.asarray, cupy.cuda.Device().synchronize
        print(f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}; ", end="")
    print(f"{machine()}\n\n| task | s |\n|---|---|")

    def show(task, compute, prepare=lambda: None, runs=options.runs):
        seconds = []
        for _ in range(runs):
            prepare()
            finish()
            begin = time.perf_counter()
            compute()
            finish()
            seconds.append(time.perf_counter() - begin)
        print(f"| {task} | {min(seconds):.3g} |", flush=True)

    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        root = pathlib.Path(name)
        folder = root / "large"
        write_cases(folder, options.lesions, 32, (14, 22, 25))
        write_cases(root / "small", options.lesions, 32, (6, 8, 9.5))

        def run(*arguments):
            done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)

        def remove_maps():
            for maps in [*folder.glob("maps*"), *folder.glob("table-*")]:
                shutil.rmtree(maps) if maps.is_dir() else maps.unlink()

        show("first map of 8³ voxels, new process", lambda: run("-c", FIRST_MAP))
        image, lesion = (sitk.ReadImage(str(folder / f"{name}.nii.gz")) for name in ("image", "mask0"))
        cube = sitk.GetImageFromArray(box(image.GetSize()[::-1], 64)[: image.GetDepth()])
        classes = dict.fromkeys(CLASSES)
        options_of_maps = {"features": CLASSES, "bin_width": 25, "neighborhood_radius": 1, "crop": "mask"}
        for mask, what in ((lesion, "a lesion of 32,000 voxels"), (cube, "a cube of 64³ voxels")):
            arrays = [on_device(sitk.GetArrayFromImage(each)) for each in (image, mask)]
            execute = lambda: voxelmaps.radiomics.execute(image, mask, featureClass=classes, additionalInfo=False)
            show(
                f"all maps of {what}, 3×3×3: `feature_maps`", lambda: voxelmaps.feature_maps(*arrays, **options_of_maps)
            )
            show("the same, SimpleITK images: `radiomics.execute`", execute)
            if options.peers and mask is lesion and importlib.util.find_spec("radiomics"):
                show("the same by PyRadiomics", lambda: execute_by_pyradiomics(image, mask), runs=1)

        maps = ["-m", "voxelmaps", "maps", "--classes", ",".join(CLASSES)]
        table = [*maps, "--jobs", "table.csv"]
        one = ["image.nii.gz", "--mask", "mask0.nii.gz", "--out", "maps0"]
        show("all maps of a lesion of 32,000 voxels, command", lambda: run(*maps, *one), remove_maps)
        for folder, voxels in ((folder, "32,000"), (root / "small", "1,900")):  # noqa: B007, B020
            show(f"{options.lesions} lesions of {voxels} voxels, command", lambda: run(*table), remove_maps)
        show("the same, finished before", lambda: run(*table))

        folder = root / "large"
        sitk.WriteImage(cube, str(folder / "mask0.nii.gz"))
        for file_format in ("nii.gz", "nii"):
            arguments = [*maps, *one, "--radius", "2", "--format", file_format]
            show(f"all maps of a cube of 64³ voxels, 5×5×5, to .{file_format}", lambda: run(*arguments), remove_maps)
        run(*arguments)
        content = b"".join(path.read_bytes() for path in folder.glob("maps0/*.nii"))

        def write():
            with open(folder / "content", "wb") as file:
                file.write(content)
                os.fsync(file.fileno())

        show(f"writing the {len(content) / 1e6:.0f} MB of these files", write)
        if options.device:
            body = np.tile(synthetic_ct(64), (3, 8, 8))[:155]
            arrays = [on_device(each) for each in (body, ellipsoid(body.shape, (77, 256, 256), (1e9, 200, 240)))]
            compute = lambda: voxelmaps.feature_maps(*arrays, features=CLASSES, bin_width=25)
            show(f"all maps of {int(arrays[1].sum()):,} of {body.size:,} voxels, 5×5×5", compute)
            part = on_device(np.tile(synthetic_ct(64), (2, 2, 2))[:96, :96, :96])
            names = [
                name for name in voxelmaps.feature_maps(np.eye(9), features=CLASSES, bin_width=1) if name != "glcm_MCC"
            ]
            for radius in (3, 4, 5):
                parameters = {"features": names, "bin_count": 32, "neighborhood_radius": radius}
                what = "×".join([str(2 * radius + 1)] * 3)
                show(f"{len(names)} maps of 96³ voxels, {what}", lambda: voxelmaps.feature_maps(part, **parameters))
        array, region = (on_device(sitk.GetArrayFromImage(each)) for each in (image, lesion))
        for features in (CLASSES, ["glrlm"]):
            parameters = {"features": features, "bin_width": 25, "neighborhood_radius": 2}
            what = "all classes" if len(features) > 1 else "GLRLM"
            show(
                f"{what}, 5×5×5, `feature_maps` of a lesion",
                lambda: voxelmaps.feature_maps(array, region, **parameters),
            )
            show(f"{what}, 5×5×5, of {array.size:,} voxels", lambda: voxelmaps.feature_maps(array, **parameters))

    ct = voxelmaps.sample_ct(tuple(options.size))
    array, strokes = on_device(ct.image.array), ct.strokes.array
    fewer = strokes.copy()
    fewer[: len(fewer) // 2][fewer[: len(fewer) // 2] == 4] = 0
    show(
        f"`fuzzy_connectedness` of {array.size:,} voxels",
        lambda: voxelmaps.fuzzy_connectedness(array, ct.seeds["vessel"]),
    )
    parameters = {"affinity": "absolute_difference", "competition": "iterative"}
    show("`labels`", lambda: voxelmaps.labels(array, strokes, **parameters))
    session = voxelmaps.SeedSession(array, **parameters)
    show("`SeedSession`: first labels", lambda: session.update(strokes), session.release)
    show("`SeedSession`: labels after an edit", lambda: session.update(strokes), lambda: session.update(fewer))
    if options.peers:
        print(flush=True)
        subprocess.run([sys.executable, ROOT / "benchmarks/peers.py", "--only", "90 maps", "labels"], check=True)


if __name__ == "__main__":
    main()
