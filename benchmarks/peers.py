#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure this module beside other Python packages that compute similar maps, and print a Markdown table.

Every measurement is a process of its own, in a virtual environment with packages from PyPI and the wheel that
scripts/build-wheel.sh builds. benchmarks/README.md says what is compared.
"""

import argparse
import functools
import glob
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The packages of each environment. The last ones are built from source with those before them.
ENVIRONMENTS = {
    "itk": [["itk==5.4.7", "itk-texturefeatures==4.0.1", "itk-growcut==1.0.1"]],
    "pyradiomics": [["numpy<2", "setuptools<80", "wheel", "versioneer", "SimpleITK"], ["pyradiomics==3.0.1"]],
    "habit": [["habitat-analysis==3.0.0", "setuptools<80", "wheel", "versioneer"], ["pyradiomics==3.0.1"]],
    # Its wheel names no dependencies; these are those of its page.
    "flash": [
        "numpy h5py SimpleITK pykwalify PyWavelets scipy scikit-image scikit-learn trimesh flash-radiomics==1.0.0".split()
    ],
}

RADIUS = 2
LEVELS = 32
# What ITK's filter computes, in its order.
TEN_FEATURES = ["SRE", "LRE", "GLN", "RLN", "LGRE", "HGRE", "SRLGE", "SRHGE", "LRLGE", "LRHGE"]
# Voxels along each axis of the part that PyRadiomics computes; it takes minutes for a whole image.
PART = 20
# A voxel of white matter of the default image, in ITK's order.
SEED = (47, 76, 31)


# Each of the following functions prepares a measurement, and returns what is to be timed, and how many times its time the
# whole image would take. Packages are imported where they are used, since no environment has all of them.


def read(path):
    import itk

    return itk.imread(path, itk.UC)


def voxelmaps_run_length(path, **parameters):
    import voxelmaps

    image = read(path)
    parameters |= {"number_of_gray_levels": LEVELS, "neighborhood_radius": RADIUS}
    return lambda: voxelmaps.feature_maps(image, **parameters), 1


def voxelmaps_merged(path):
    return voxelmaps_run_length(path, features={"glrlm": TEN_FEATURES}, aggregation="merge")


def voxelmaps_averaged(path):
    return voxelmaps_run_length(path, features="glrlm")


def itk_texture_features(path):
    import itk

    image = read(path)
    intensities = itk.array_view_from_image(image)
    longest_run = sum((2 * RADIUS * spacing) ** 2 for spacing in image.GetSpacing()) ** 0.5

    def compute():
        filter_type = itk.RunLengthTextureFeaturesImageFilter[type(image), itk.VectorImage[itk.F, 3]]
        texture = filter_type.New(image)
        texture.SetNumberOfBinsPerAxis(LEVELS)
        texture.SetHistogramValueMinimum(int(intensities.min()))
        texture.SetHistogramValueMaximum(int(intensities.max()))
        texture.SetHistogramDistanceMinimum(0)
        texture.SetHistogramDistanceMaximum(longest_run)
        texture.SetNeighborhoodRadius([RADIUS] * 3)
        texture.Update()

    return compute, 1


def pyradiomics(path):
    import logging
    import warnings

    import numpy as np
    import radiomics
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    warnings.simplefilter("ignore", RuntimeWarning)
    radiomics.setVerbosity(logging.ERROR)
    # The voxels whose features are computed are in the middle; all their windows are whole.
    array = sitk.GetArrayFromImage(sitk.ReadImage(path))
    parts = array.size / PART**3
    begin = [(n - PART) // 2 - RADIUS for n in array.shape]
    array = array[tuple(slice(b, b + PART + 2 * RADIUS) for b in begin)]
    mask = np.zeros_like(array, dtype=np.uint8)
    mask[(slice(RADIUS, -RADIUS),) * 3] = 1
    extractor = RadiomicsFeatureExtractor(binCount=LEVELS, kernelRadius=RADIUS, maskedKernel=False)
    extractor.disableAllFeatures()
    extractor.enableFeatureClassByName("glrlm")
    image, mask = sitk.GetImageFromArray(array), sitk.GetImageFromArray(mask)
    return lambda: extractor.execute(image, mask, voxelBased=True), parts


# The cases of the following functions are those of HABIT's page about voxel textures: image, mask, radius, and features. All have
# bins of 25.


def noise():
    """Its simulation. The page does not say where the 4096 voxels are; here, they are a cube in the middle."""
    import numpy as np

    image = np.random.default_rng(0).normal(300, 80, (20, 48, 48))
    mask = np.zeros(image.shape, np.uint8)
    mask[2:18, 16:32, 16:32] = 1
    features = {
        "firstorder": ["Energy", "Entropy", "Mean", "90Percentile", "Uniformity"],
        "glcm": ["JointEntropy", "Idm", "Contrast"],
        "gldm": ["DependenceEntropy", "LargeDependenceEmphasis", "SmallDependenceEmphasis"],
        "glrlm": ["ShortRunEmphasis", "RunPercentage", "GrayLevelNonUniformity"],
        "glszm": ["ZonePercentage", "LargeAreaEmphasis", "ZoneVariance"],
        "ngtdm": ["Coarseness", "Contrast", "Busyness"],
    }
    return image, mask, 3, features


def lesion():
    """Its settings for lesions, with its 90 features, of 4096 voxels of a synthetic CT."""
    from texture_classes import GLCM_WITHOUT_MCC, box, synthetic_ct

    image = synthetic_ct(18)
    glcm = [name for name in GLCM_WITHOUT_MCC if name not in ("Imc1", "Imc2")]
    classes = ("firstorder", "gldm", "glrlm", "glszm", "ngtdm")
    return image, box(18, 16), 1, {"glcm": glcm, **dict.fromkeys(classes, [])}


def voxelmaps_texture(case, path):
    import itk
    import voxelmaps

    image, mask, radius, features = case()
    image, mask = itk.image_from_array(image), itk.image_from_array(mask)
    features = {name: names or None for name, names in features.items()}
    settings = {"binWidth": 25, "kernelRadius": radius, "additionalInfo": False}
    return lambda: voxelmaps.radiomics.execute(image, mask, featureClass=features, **settings), 1


def pyradiomics_texture(case, path):
    import logging
    import warnings

    import radiomics
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    warnings.simplefilter("ignore", RuntimeWarning)
    radiomics.setVerbosity(logging.ERROR)
    image, mask, radius, features = case()
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(mask)
    extractor = RadiomicsFeatureExtractor(binWidth=25, kernelRadius=radius, voxelBatch=512)
    extractor.disableAllFeatures()
    extractor.enableFeaturesByName(**features)
    return lambda: extractor.execute(image, mask, voxelBased=True), 1


def habit_texture(case, path):
    """Without PyTorch, it calls PyRadiomics."""
    import numpy as np
    from habit.contracts import ImageVolume, MaskVolume
    from habit.voxel_features import extract_voxel_texture

    image, mask, radius, features = case()
    geometry = {"spacing": (1.0,) * 3, "origin": (0.0,) * 3, "direction": tuple(np.eye(3).ravel())}
    image, mask = ImageVolume(image, **geometry), MaskVolume(mask, **geometry)
    params = {"imageType": {"Original": {}}, "featureClass": features, "setting": {"binWidth": 25}}
    settings = {"kernel_radius": radius, "bin_width": 25, "params": params, "voxel_batch": 512}
    return lambda: extract_voxel_texture(image, mask, **settings), 1


def flash_texture(case, path):
    """It always writes a file, too."""
    import tempfile

    import SimpleITK as sitk
    from flash_radiomics import RadiomicsFeatureExtractor

    image, mask, radius, features = case()
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(mask)
    threads = int(os.environ["OMP_NUM_THREADS"])
    extractor = RadiomicsFeatureExtractor(backend="cpu", num_threads=threads, binWidth=25, kernelRadius=radius)
    extractor.disableAllFeatures()
    extractor.enableFeaturesByName(**features)
    folder = tempfile.TemporaryDirectory()
    return lambda: extractor.execute(image, mask, spatialMode=True, output_hdf5_path=f"{folder.name}/maps.h5"), 1


def seeds_around(image, label, others=0):
    """A label image with a 3x3x3 box around SEED, and another label on the faces of the image."""
    import itk
    import numpy as np

    labels = np.full(itk.array_view_from_image(image).shape, others, dtype=np.uint8)
    labels[1:-1, 1:-1, 1:-1] = 0
    x, y, z = SEED
    labels[z - 1 : z + 2, y - 1 : y + 2, x - 1 : x + 2] = label
    seeds = itk.image_from_array(labels)
    seeds.CopyInformation(image)
    return seeds


def voxelmaps_connectedness(path):
    import voxelmaps

    image = read(path)
    seeds = seeds_around(image, 1)
    return lambda: voxelmaps.fuzzy_connectedness(image, seeds) >= 0.3, 1


def itk_growcut(path):
    import itk

    image = read(path)
    seeds = seeds_around(image, 1, others=2)

    def compute():
        growcut = itk.FastGrowCut[type(image), type(seeds)].New(image)
        growcut.SetSeedImage(seeds)
        growcut.Update()

    return compute, 1


MERGED = "10 GLRLM features, merged matrix"
AVERAGED = "16 GLRLM features, mean of directions"
OBJECT = "object from seeds"
# Name: function, environment, package, task, and whether it can use several threads.
MEASUREMENTS = {
    "voxelmaps-merged": (voxelmaps_merged, "itk", "voxelmaps", MERGED, True),
    "texturefeatures": (itk_texture_features, "itk", "itk-texturefeatures", MERGED, True),
    "voxelmaps-averaged": (voxelmaps_averaged, "itk", "voxelmaps", AVERAGED, True),
    "pyradiomics": (pyradiomics, "pyradiomics", "pyradiomics", AVERAGED, False),
    "voxelmaps-connectedness": (voxelmaps_connectedness, "itk", "voxelmaps", OBJECT, True),
    "growcut": (itk_growcut, "itk", "itk-growcut", OBJECT, False),
}
for case, task in ((noise, "20 maps, 7×7×7, noise"), (lesion, "90 maps, 3×3×3, synthetic CT")):
    for function, *rest in (
        (voxelmaps_texture, "itk", "voxelmaps", task, True),
        (pyradiomics_texture, "pyradiomics", "pyradiomics", task, False),
        (habit_texture, "habit", "habitat-analysis", task, False),
        (flash_texture, "flash", "flash-radiomics", task, True),
    ):
        name = function.__name__.replace("_texture", f"-{case.__name__}")
        MEASUREMENTS[name] = (functools.partial(function, case), *rest)


def measure(name, path):
    """Print the shortest of up to five runs as JSON; no more runs begin after half a minute."""
    # This module takes a thread for each processor that it may use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["OMP_NUM_THREADS"])])
    function, _, package, _, _ = MEASUREMENTS[name]
    compute, parts = function(path)
    runs = []
    begin = time.perf_counter()
    while len(runs) < 5 and (not runs or time.perf_counter() - begin < 30):
        wall, processor = time.perf_counter(), time.process_time()
        compute()
        runs.append((time.perf_counter() - wall, time.process_time() - processor))
    wall, processor = min(runs)
    version = importlib.metadata.version(package)
    print(json.dumps({"wall": wall * parts, "processor": processor * parts, "parts": parts, "version": version}))


def environment_python(name, folder):
    """Return Python of the environment; make it where there is none yet."""
    steps = ENVIRONMENTS[name]
    environment = folder / f"{name}-{hashlib.sha256(json.dumps(steps).encode()).hexdigest()[:8]}"
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        for number, packages in enumerate(steps):
            isolation = ["--no-build-isolation"] if number > 0 else []
            subprocess.run([python, "-m", "pip", "--quiet", "install", *isolation, *packages], check=True)
        (environment / "complete").touch()
    return python


def find_wheel():
    wheels = glob.glob(str(ROOT / "build/wheel/voxelmaps-*.whl"))
    if len(wheels) != 1:
        sys.exit(f"peers.py: {len(wheels)} wheels in build/wheel; run scripts/build-wheel.sh")
    return wheels[0]


def processor_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", help="3D image (default: the head that scripts/fetch-data.sh fetches)")
    parser.add_argument("--wheel", help="wheel of this module (default: that of build/wheel)")
    parser.add_argument("--only", nargs="+", choices=list(MEASUREMENTS), help="what to measure (default: all)")
    parser.add_argument(
        "--folder", type=pathlib.Path, default=ROOT / "build" / "peers", help="folder of the virtual environments"
    )
    parser.add_argument("--measure", choices=list(MEASUREMENTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.image)
        return

    image = options.image
    if image is None:
        image = ROOT / "build" / "data" / "KmeansTest_T1UCharRaw.nii.gz"
        subprocess.run([ROOT / "scripts" / "fetch-data.sh", image.parent], stdout=sys.stderr, check=True)
    chosen = [name for name in MEASUREMENTS if options.only is None or name in options.only]
    if any(name.startswith("voxelmaps") for name in chosen):
        python = environment_python("itk", options.folder)
        wheel = options.wheel or find_wheel()
        subprocess.run([python, "-m", "pip", "--quiet", "install", "--force-reinstall", "--no-deps", wheel], check=True)

    processors = os.cpu_count()
    print(f"{processor_name()}, {processors} processors; {pathlib.Path(image).name}; seconds (processor seconds)\n")
    print(f"| task | program | 1 thread | {processors} threads |")
    print("|---|---|---|---|")
    for name in chosen:
        _, environment, package, task, threaded = MEASUREMENTS[name]
        cells = []
        for threads in [1, processors] if threaded else [1]:
            # All on the CPU, and the same number of threads for ITK and for the libraries of NumPy.
            variables = {"VOXELMAPS_USE_CUDA": "0", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)}
            variables |= {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
            python = environment_python(environment, options.folder)
            command = [python, __file__, "--measure", name, "--image", image]
            output = subprocess.run(
                command, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            result = json.loads(output.splitlines()[-1])
            note = " (1)" if result["parts"] > 1 else ""
            cells.append(f"{result['wall']:.3g} ({result['processor']:.3g}){note}")
        cells += ["–"] * (2 - len(cells))
        print(f"| {task} | {package} {result['version']} | {' | '.join(cells)} |", flush=True)
    print(f"\n(1) Measured on {PART}×{PART}×{PART} voxels, and scaled to the number of voxels of the image.")


if __name__ == "__main__":
    main()
