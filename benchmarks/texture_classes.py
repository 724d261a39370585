#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure every texture class with the settings of published studies, beside PyRadiomics, and print a Markdown table.

Run it with the Python of an environment that has the wheel. Where PyRadiomics can be imported, it computes the same maps in
a part of the mask; its time and that of this module on one thread are processor times per voxel. With --device, the column of this
module is the wall time of the whole call on a CUDA device, from and to host memory. benchmarks/README.md has the cases.
"""

import argparse
import logging
import os
import sys
import time
import warnings

import numpy as np

# Name: settings, edge of the mask, edge of the part that PyRadiomics computes.
CASES = {
    "5×5×5, 32 levels": ({"kernelRadius": 2, "binCount": 32}, 64, 16),
    "7×7×7, CT, bins of 12": ({"kernelRadius": 3, "binWidth": 12}, 64, 12),
    "7×7×7, CT, bins of 25": ({"kernelRadius": 3, "binWidth": 25}, 64, 12),
    "5×5, 32 levels": ({"kernelRadius": 2, "binCount": 32, "force2D": True}, 64, 16),
    "5×5, 256 levels": ({"kernelRadius": 2, "binCount": 256, "force2D": True}, 64, 16),
    "11×11×11, CT, bins of 25": ({"kernelRadius": 5, "binWidth": 25}, 32, 6),
    "4096 voxels, 7×7×7, bins of 25": ({"kernelRadius": 3, "binWidth": 25}, 16, 16),
}

GLCM_WITHOUT_MCC = [
    *["Autocorrelation", "ClusterProminence", "ClusterShade", "ClusterTendency", "Contrast", "Correlation"],
    *["DifferenceAverage", "DifferenceEntropy", "DifferenceVariance", "Id", "Idm", "Idmn", "Idn", "Imc1", "Imc2"],
    *["InverseVariance", "JointAverage", "JointEnergy", "JointEntropy", "MaximumProbability", "SumAverage"],
    *["SumEntropy", "SumSquares"],
]
CLASSES = {
    "firstorder": {"firstorder": None},
    "GLCM without MCC": {"glcm": GLCM_WITHOUT_MCC},
    "MCC": {"glcm": ["MCC"]},
    "GLRLM": {"glrlm": None},
    "GLSZM": {"glszm": None},
    "GLDM": {"gldm": None},
    "NGTDM": {"ngtdm": None},
}


def smoothed(volume, radius):
    """The mean of a box around every voxel, with periodic borders."""
    for axis in range(3):
        volume = sum(np.roll(volume, shift, axis) for shift in range(-radius, radius + 1)) / (2 * radius + 1)
    return volume


def synthetic_ct(edge):
    """Soft tissue with coarse structure and the correlated noise of a CT, in Hounsfield units."""
    random = np.random.default_rng(1)
    coarse = smoothed(smoothed(random.normal(size=(edge,) * 3), 3), 3)
    fine = smoothed(random.normal(size=(edge,) * 3), 1)
    return np.round(60 + 35 * coarse / coarse.std() + 15 * fine / fine.std()).astype(np.int16)


def box(edge, part):
    mask = np.zeros((edge,) * 3, np.uint8)
    begin = (edge - part) // 2
    mask[(slice(begin, begin + part),) * 3] = 1
    return mask


def shortest(compute, clock, seconds):
    """The shortest of up to eight calls; after so many seconds, no more begin."""
    times = []
    end = time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < 8):
        begin = clock()
        compute()
        times.append(clock() - begin)
    return min(times)


def measure_this(image, mask, features, settings, clock):
    import itk
    import voxelmaps

    def execute(image, mask):
        image, mask = itk.image_from_array(image), itk.image_from_array(mask)
        voxelmaps.radiomics.execute(image, mask, featureClass=features, additionalInfo=False, **settings)

    # Loads the classes that it needs, and kernels.
    execute(image[:16, :16, :16], np.ones((16,) * 3, np.uint8))
    return shortest(lambda: execute(image, mask), clock, 3)


def measure_pyradiomics(image, mask, features, settings):
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    # Without voxelBatch, it takes memory for the matrices of all voxels at once.
    extractor = RadiomicsFeatureExtractor(**settings, voxelBatch=1000)
    extractor.disableAllFeatures()
    extractor.enableFeaturesByName(**{name: names or [] for name, names in features.items()})
    image, mask = sitk.GetImageFromArray(image), sitk.GetImageFromArray(mask)
    return shortest(lambda: extractor.execute(image, mask, voxelBased=True), time.process_time, 0)


def with_unit(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="store_true", help="measure the Cuda classes")
    parser.add_argument("--edge", type=int, help="edge of the mask in voxels, instead of those of the cases")
    parser.add_argument("--cases", nargs="+", type=int, help=f"numbers of cases, 0 to {len(CASES) - 1} (default: all)")
    options = parser.parse_args()
    # Before ITK reads them.
    os.environ["VOXELMAPS_USE_CUDA"] = "1" if options.device else "0"
    if not options.device:
        os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = "1"
    warnings.simplefilter("ignore", RuntimeWarning)
    logging.disable(logging.WARNING)
    try:
        import radiomics

        radiomics.setVerbosity(logging.CRITICAL)
        has_peer = not options.device
    except ImportError:
        has_peer = False

    clock = time.perf_counter if options.device else time.process_time
    peer = "| PyRadiomics | ratio " if has_peer else ""
    print(f"| case | class | voxels | this module, {'whole call' if options.device else 'per voxel'} {peer}|")
    print("|---|---|---|---|" + "---|---|" * has_peer)
    for number, (name, (settings, edge, part)) in enumerate(CASES.items()):
        if options.cases is not None and number not in options.cases:
            continue
        edge = options.edge or edge
        image = synthetic_ct(edge + 2 * settings["kernelRadius"])
        mask = box(len(image), edge)
        for label, features in CLASSES.items():
            seconds = measure_this(image, mask, features, settings, clock)
            cells = [name, label, f"{edge}³", with_unit(seconds if options.device else seconds / edge**3)]
            if has_peer:
                of_peer = measure_pyradiomics(image, box(len(image), part), features, settings) / part**3
                cells += [with_unit(of_peer), f"{of_peer / (seconds / edge**3):.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
