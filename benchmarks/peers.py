#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure voxelmaps and other Python packages on the same tasks, on the CPU, and print a Markdown table.

Every measurement is a process of its own, in a virtual environment with packages from PyPI and the wheel that
scripts/build-wheel.sh builds. benchmarks/README.md describes tasks and programs.
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
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The packages of each environment. The last ones are built from source with those before them.
ENVIRONMENTS = {
    "itk": [["itk==5.4.7", "itk-texturefeatures==4.0.1", "itk-growcut==1.0.1", "scikit-image==0.26.0", "SimpleITK"]],
    "pyradiomics": [["numpy<2", "setuptools<80", "wheel", "versioneer", "SimpleITK"], ["pyradiomics==3.0.1"]],
    "habit": [["habitat-analysis==3.0.0", "setuptools<80", "wheel", "versioneer"], ["pyradiomics==3.0.1"]],
    # Its wheel names no dependencies; these are those of its page.
    "flash": [
        "numpy h5py SimpleITK pykwalify PyWavelets scipy scikit-image scikit-learn trimesh flash-radiomics==1.0.0".split()
    ],
}


# --- Images ------------------------------------------------------------------------------------------------------------


def synthetic_ct(edge):
    """Soft tissue with coarse structure and the correlated noise of a CT, in Hounsfield units."""
    import numpy as np

    def smoothed(volume, radius):
        for axis in range(3):
            volume = sum(np.roll(volume, shift, axis) for shift in range(-radius, radius + 1)) / (2 * radius + 1)
        return volume

    random = np.random.default_rng(1)
    coarse = smoothed(smoothed(random.normal(size=(edge,) * 3), 3), 3)
    fine = smoothed(random.normal(size=(edge,) * 3), 1)
    return np.round(60 + 35 * coarse / coarse.std() + 15 * fine / fine.std()).astype(np.int16)


def box(shape, edge):
    import numpy as np

    mask = np.zeros(shape, np.uint8)
    mask[tuple(slice((n - edge) // 2, (n + edge) // 2) for n in shape)] = 1
    return mask


@functools.cache
def strokes_ct():
    import voxelmaps

    return voxelmaps.sample_ct((192, 192, 80))


# --- Tasks: texture maps -----------------------------------------------------------------------------------------------

GLCM_WITHOUT_MCC = [
    *["Autocorrelation", "ClusterProminence", "ClusterShade", "ClusterTendency", "Contrast", "Correlation"],
    *["DifferenceAverage", "DifferenceEntropy", "DifferenceVariance", "Id", "Idm", "Idmn", "Idn", "Imc1", "Imc2"],
    *["InverseVariance", "JointAverage", "JointEnergy", "JointEntropy", "MaximumProbability", "SumAverage"],
    *["SumEntropy", "SumSquares"],
]
CLASSES = {
    "first order": {"firstorder": []},
    "GLCM without MCC": {"glcm": GLCM_WITHOUT_MCC},
    "MCC": {"glcm": ["MCC"]},
    "GLRLM": {"glrlm": []},
    "GLSZM": {"glszm": []},
    "GLDM": {"gldm": []},
    "NGTDM": {"ngtdm": []},
}
# Name: settings, edge of the mask, edge of the part that PyRadiomics computes: it takes minutes for all voxels.
CASES = {
    "5×5×5, 32 levels": ({"kernelRadius": 2, "binCount": 32}, 64, 16),
    "7×7×7, CT, bins of 12": ({"kernelRadius": 3, "binWidth": 12}, 64, 12),
    "7×7×7, CT, bins of 25": ({"kernelRadius": 3, "binWidth": 25}, 64, 12),
    "5×5, 32 levels": ({"kernelRadius": 2, "binCount": 32, "force2D": True}, 64, 16),
    "11×11×11, CT, bins of 25": ({"kernelRadius": 5, "binWidth": 25}, 32, 6),
}


def class_task(case, features):
    settings, edge, part = CASES[case]
    image = synthetic_ct(edge + 2 * settings["kernelRadius"])
    return image, box(image.shape, edge), CLASSES[features], settings, part


def noise_task():
    """The simulation of HABIT's page about voxel textures; 4096 voxels in the middle."""
    import numpy as np

    features = {
        "firstorder": ["Energy", "Entropy", "Mean", "90Percentile", "Uniformity"],
        "glcm": ["JointEntropy", "Idm", "Contrast"],
        "gldm": ["DependenceEntropy", "LargeDependenceEmphasis", "SmallDependenceEmphasis"],
        "glrlm": ["ShortRunEmphasis", "RunPercentage", "GrayLevelNonUniformity"],
        "glszm": ["ZonePercentage", "LargeAreaEmphasis", "ZoneVariance"],
        "ngtdm": ["Coarseness", "Contrast", "Busyness"],
    }
    image = np.random.default_rng(0).normal(300, 80, (20, 48, 48))
    return image, box(image.shape, 16), features, {"kernelRadius": 3, "binWidth": 25}, 16


def lesion_task():
    """The settings of that page for lesions, with its 90 features, of 4096 voxels of a synthetic CT."""
    image = synthetic_ct(18)
    glcm = [name for name in GLCM_WITHOUT_MCC if name not in ("Imc1", "Imc2")]
    features = {"glcm": glcm, **{name: [] for name in ("firstorder", "gldm", "glrlm", "glszm", "ngtdm")}}
    return image, box(image.shape, 16), features, {"kernelRadius": 1, "binWidth": 25}, 16


TEXTURES = {f"{case}: {name}": functools.partial(class_task, case, name) for case in CASES for name in CLASSES}
HABIT = {"20 maps, 7×7×7, noise": noise_task, "90 maps, 3×3×3, CT": lesion_task}


# Each of the following functions prepares a measurement. It returns what is to be timed and by what the time is multiplied; labels
# may follow. Packages are imported where they are used, since no environment has all of them.


def voxelmaps_textures(task):
    import SimpleITK as sitk
    import voxelmaps

    image, mask, features, settings, _ = task()
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(mask)
    features = {name: names or None for name, names in features.items()}
    execute = functools.partial(voxelmaps.radiomics.execute, featureClass=features, additionalInfo=False, **settings)
    return lambda: execute(image, mask), 1


def pyradiomics(task):
    import logging
    import warnings

    import radiomics
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    warnings.simplefilter("ignore", RuntimeWarning)
    radiomics.setVerbosity(logging.CRITICAL)
    image, mask, features, settings, part = task()
    scale = mask.sum() / part**3
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(box(image.shape, part))
    # Without voxelBatch, it allocates the matrices of all voxels at once.
    extractor = RadiomicsFeatureExtractor(**settings, voxelBatch=1000)
    extractor.disableAllFeatures()
    extractor.enableFeaturesByName(**features)
    return lambda: extractor.execute(image, mask, voxelBased=True), scale


def habit(task):
    """Without PyTorch, it calls PyRadiomics."""
    import numpy as np
    from habit.contracts import ImageVolume, MaskVolume
    from habit.voxel_features import extract_voxel_texture

    image, mask, features, settings, _ = task()
    geometry = {"spacing": (1.0,) * 3, "origin": (0.0,) * 3, "direction": tuple(np.eye(3).ravel())}
    image, mask = ImageVolume(image, **geometry), MaskVolume(mask, **geometry)
    params = {"imageType": {"Original": {}}, "featureClass": features, "setting": {"binWidth": settings["binWidth"]}}
    options = {"kernel_radius": settings["kernelRadius"], "bin_width": settings["binWidth"], "voxel_batch": 512}
    return lambda: extract_voxel_texture(image, mask, params=params, **options), 1


def flash(task):
    """It always writes a file, too."""
    import SimpleITK as sitk
    from flash_radiomics import RadiomicsFeatureExtractor

    image, mask, features, settings, _ = task()
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(mask)
    threads = int(os.environ["OMP_NUM_THREADS"])
    extractor = RadiomicsFeatureExtractor(backend="cpu", num_threads=threads, **settings)
    extractor.disableAllFeatures()
    extractor.enableFeaturesByName(**features)
    folder = tempfile.TemporaryDirectory()
    return lambda: extractor.execute(image, mask, spatialMode=True, output_hdf5_path=f"{folder.name}/maps.h5"), 1


# What ITK's filter computes: 5x5x5 windows, 32 levels between minimum and maximum, 13 directions merged.
MERGED = "10 GLRLM maps of 64³ voxels, merged matrix"
TEN_FEATURES = ["SRE", "LRE", "GLN", "RLN", "LGRE", "HGRE", "SRLGE", "SRHGE", "LRLGE", "LRHGE"]


def voxelmaps_merged(_):
    import voxelmaps

    image = synthetic_ct(64)
    options = {"features": {"glrlm": TEN_FEATURES}, "aggregation": "merge", "bin_count": 32}
    return lambda: voxelmaps.feature_maps(image, neighborhood_radius=2, **options), 1


def itk_texture_features(_):
    import itk

    array = synthetic_ct(64)
    image = itk.image_from_array(array)

    def compute():
        texture = itk.RunLengthTextureFeaturesImageFilter[type(image), itk.VectorImage[itk.F, 3]].New(image)
        texture.SetNumberOfBinsPerAxis(32)
        texture.SetHistogramValueMinimum(int(array.min()))
        texture.SetHistogramValueMaximum(int(array.max()))
        texture.SetHistogramDistanceMinimum(0)
        texture.SetHistogramDistanceMaximum(48**0.5)
        texture.SetNeighborhoodRadius([2] * 3)
        texture.Update()

    return compute, 1


# --- Tasks: labels from strokes ----------------------------------------------------------------------------------------

LABELS = "labels of 192×192×80 voxels from strokes"


def voxelmaps_labels(competition, _):
    import voxelmaps

    ct = strokes_ct()
    options = {"competition": competition, "tie_rule": "background", "label_type": "uint8"}
    return lambda: voxelmaps.labels(ct.image.array, ct.strokes.array, **options), 1


def growcut(_):
    import itk

    ct = strokes_ct()
    image, strokes = itk.image_from_array(ct.image.array), itk.image_from_array(ct.strokes.array)

    def compute():
        grow = itk.FastGrowCut[type(image), type(strokes)].New(image)
        grow.SetSeedImage(strokes)
        grow.Update()
        return itk.array_from_image(grow.GetOutput())

    return compute, 1


def watershed(_):
    """Of Sobel's gradient, as in scikit-image's examples."""
    import numpy as np
    from skimage.filters import sobel
    from skimage.segmentation import watershed

    ct = strokes_ct()
    return lambda: watershed(sobel(ct.image.array.astype(np.float32)), ct.strokes.array), 1


def dice_of_organs(labels):
    import numpy as np

    truth = strokes_ct().organs.array
    pairs = [(labels == label, truth == label) for label in range(1, 5)]
    return [2 * np.count_nonzero(a & b) / (np.count_nonzero(a) + np.count_nonzero(b)) for a, b in pairs]


# --- Measurements ------------------------------------------------------------------------------------------------------

# Program: function, environment, package, and whether it uses several threads.
PROGRAMS = {
    "voxelmaps": (voxelmaps_textures, "itk", "voxelmaps", True),
    "pyradiomics": (pyradiomics, "pyradiomics", "pyradiomics", False),
    "habit": (habit, "habit", "habitat-analysis", False),
    "flash": (flash, "flash", "flash-radiomics", True),
    "voxelmaps, merged": (voxelmaps_merged, "itk", "voxelmaps", True),
    "itk-texturefeatures": (itk_texture_features, "itk", "itk-texturefeatures", True),
    "voxelmaps, relative": (functools.partial(voxelmaps_labels, "relative"), "itk", "voxelmaps", True),
    "voxelmaps, iterative": (functools.partial(voxelmaps_labels, "iterative"), "itk", "voxelmaps", True),
    "itk-growcut": (growcut, "itk", "itk-growcut", False),
    "watershed": (watershed, "itk", "scikit-image", False),
}
# Task: its function, and its programs; times are also given as multiples of that of the first one.
TASKS = {
    **{name: (task, ["voxelmaps", "pyradiomics"]) for name, task in TEXTURES.items()},
    **{name: (task, ["voxelmaps", "pyradiomics", "habit", "flash"]) for name, task in HABIT.items()},
    MERGED: (None, ["voxelmaps, merged", "itk-texturefeatures"]),
    LABELS: (None, ["voxelmaps, relative", "voxelmaps, iterative", "itk-growcut", "watershed"]),
}


def measure(task, program):
    """Print the shortest of up to five runs as JSON; no more runs begin after half a minute."""
    # voxelmaps uses a thread for each processor that it may use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["OMP_NUM_THREADS"])])
    compute, scale = PROGRAMS[program][0](TASKS[task][0])
    runs = []
    begin = time.perf_counter()
    while len(runs) < 5 and (not runs or time.perf_counter() - begin < 30):
        wall, processor = time.perf_counter(), time.process_time()
        result = compute()
        runs.append((scale * (time.perf_counter() - wall), scale * (time.process_time() - processor)))
    dice = dice_of_organs(result) if task == LABELS else []
    version = importlib.metadata.version(PROGRAMS[program][2])
    print(json.dumps({"times": min(runs), "scaled": bool(scale > 1), "dice": dice, "version": version}))


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


def processor_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", help="wheel of voxelmaps (default: that of build/wheel)")
    parser.add_argument(
        "--only", nargs="+", metavar="TEXT", default=[""], help="tasks whose names contain one of these"
    )
    parser.add_argument(
        "--folder", type=pathlib.Path, default=ROOT / "build" / "peers", help="folder of the virtual environments"
    )
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    tasks = {name: programs for name, (_, programs) in TASKS.items() if any(text in name for text in options.only)}
    if not tasks:
        sys.exit(f"peers.py: no task has {' or '.join(options.only)} in its name; the tasks are {', '.join(TASKS)}")
    wheels = [options.wheel] if options.wheel else glob.glob(str(ROOT / "build/wheel/voxelmaps-*.whl"))
    if len(wheels) != 1:
        sys.exit(
            f"peers.py: {len(wheels)} wheels in build/wheel, but must be 1; run scripts/build-wheel.sh, or give --wheel"
        )
    python = environment_python("itk", options.folder)
    subprocess.run([python, "-m", "pip", "--quiet", "install", "--force-reinstall", "--no-deps", *wheels], check=True)

    processors = os.cpu_count()
    print(f"{processor_name()}, {processors} processors; seconds, with processor seconds in parentheses\n")
    print("| task | program | threads | time | times the first, by processor time | Dice |\n|---|---|---|---|---|---|")
    for task, programs in tasks.items():
        first = {}
        for program in programs:
            _, environment, package, is_threaded = PROGRAMS[program]
            for threads in [1, processors] if is_threaded else [1]:
                # All on the CPU, and the same number of threads for ITK and for the libraries of NumPy.
                variables = {"VOXELMAPS_USE_CUDA": "0", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)}
                variables |= {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
                command = [environment_python(environment, options.folder), __file__, "--measure", task, program]
                output = subprocess.run(command, env=os.environ | variables, stdout=subprocess.PIPE, check=True).stdout
                result = json.loads(output.splitlines()[-1])
                wall, processor = result["times"]
                ratio = processor / first.setdefault(threads, processor)
                note = ", scaled" if result["scaled"] else ""
                dice = ", ".join(f"{value:.3f}" for value in result["dice"])
                name = program.replace(package, f"{package} {result['version']}")
                cells = [task, name, threads, f"{wall:.3g} ({processor:.3g}){note}", f"{ratio:.3g}", dice]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
