#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Labels from the same strokes by VoxelMaps, itk-growcut, and scikit-image's watershed and random walker, on a synthetic CT
whose organs are known: times and Dice coefficients, as the table of doc/performance.md.

    pip install voxelmaps itk-voxelmaps itk-growcut scikit-image
    benchmarks/label_peers.py
"""

import argparse
import os
import statistics
import time
from importlib.metadata import version

import itk
import numpy as np
import voxelmaps
from skimage.filters import sobel
from skimage.segmentation import random_walker, watershed

ORGANS = {1: "liver", 2: "vessels", 3: "spine", 4: "spleen"}


def dice(a, b):
    return 2 * np.count_nonzero(a & b) / max(1, np.count_nonzero(a) + np.count_nonzero(b))


class VoxelMaps:
    """First update of a fresh filter, or an update of a kept one after a stroke has been deleted or added again."""

    def __init__(self, image, strokes, competition, threads, reseeds):
        self.image, self.strokes, self.competition = image, strokes, competition
        self.threads, self.reseeds = threads, reseeds
        reseed = "other seeds" if reseeds else "first run"
        self.name = f"VoxelMaps, {competition}, {reseed}, {threads} thread" + ("s" if threads > 1 else "")
        self.filter = None
        array = itk.array_from_image(strokes)
        fewer = array.copy()
        fewer[: len(fewer) // 2][array[: len(array) // 2] == 4] = 0
        self.fewer = itk.image_from_array(fewer)
        self.fewer.CopyInformation(strokes)

    def make(self):
        result = itk.RelativeFuzzyConnectednessImageFilter[type(self.image), type(self.strokes)].New()
        result.SetInput(self.image)
        result.SetSeedImage(self.strokes)
        result.SetAffinityFunction(itk.FuzzyConnectednessEnums.AffinityFunction_AbsoluteDifference)
        competitions = itk.RelativeFuzzyConnectednessEnums
        result.SetCompetition(getattr(competitions, f"Competition_{self.competition}"))
        result.SetNumberOfWorkUnits(self.threads)
        return result

    def prepare(self):
        if not self.reseeds:
            self.filter = self.make()
        elif self.filter is None:
            self.filter = self.make()
            self.filter.KeepHierarchyOn()
            self.filter.Update()
        if self.reseeds:
            self.filter.SetSeedImage(self.fewer)
            self.filter.Update()
            self.filter.SetSeedImage(self.strokes)

    def run(self):
        self.filter.Update()

    def labels(self):
        return itk.array_from_image(self.filter.GetOutput())


class Function:
    def __init__(self, name, function):
        self.name, self.function = name, function

    def prepare(self):
        pass

    def run(self):
        self.result = self.function()

    def labels(self):
        return np.asarray(self.result)


def measure(method):
    """Seconds on the clock, and of the processors."""
    begin = time.perf_counter(), time.process_time()
    method.run()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, one after the other in turn (default: 5)")
    parser.add_argument("--skip-random-walker", action="store_true", help="it takes minutes; it runs once")
    options = parser.parse_args()

    sample = voxelmaps.sample_ct()
    ct, truth, seeds = sample.image.array, sample.organs.array, sample.strokes.array
    image, strokes = itk.image_from_array(ct), itk.image_from_array(seeds)
    for each in (image, strokes):
        each.SetSpacing(sample.image.spacing)

    methods = [
        VoxelMaps(image, strokes, competition, threads, reseeds)
        for competition in ("Relative", "Iterative")
        for threads in (1, 2)
        for reseeds in (False, True)
    ]

    def grow_cut():
        grow = itk.FastGrowCut[type(image), type(strokes)].New()
        grow.SetInput(image)
        grow.SetSeedImage(strokes)
        grow.Update()
        return itk.array_from_image(grow.GetOutput())

    methods.append(Function(f"itk-growcut {version('itk-growcut')}, 1 thread", grow_cut))
    name = f"scikit-image {version('scikit-image')}"
    methods.append(
        Function(
            f"{name}, watershed of Sobel's gradient, 1 thread", lambda: watershed(sobel(ct.astype(np.float32)), seeds)
        )
    )

    times = {method.name: [] for method in methods}
    load = os.getloadavg()[0]
    # In turn, so that what else the machine does is the same for all.
    for _ in range(options.runs):
        for method in methods:
            method.prepare()
            times[method.name].append(measure(method))
    if not options.skip_random_walker:
        walker = Function(
            f"{name}, random walker (cg_j), once", lambda: random_walker(ct, seeds, beta=130, mode="cg_j")
        )
        times[walker.name] = [measure(walker)]
        methods.append(walker)

    reference = next(m for m in methods if m.name == "VoxelMaps, Iterative, first run, 1 thread").labels()
    names = list(ORGANS.values())
    print(f"| program | seconds | of the processors | {' | '.join(names)} | mean beside Iterative |")
    print("|---|" + "---|" * (len(names) + 3))
    for method in methods:
        labels = method.labels()
        with_truth = [dice(labels == label, truth == label) for label in ORGANS]
        with_reference = statistics.mean(dice(labels == label, reference == label) for label in ORGANS)
        seconds = [statistics.median(column) for column in zip(*times[method.name])]
        cells = [f"{each:.2g}" for each in seconds] + [f"{each:.3f}" for each in with_truth]
        print(f"| {method.name} | {' | '.join(cells)} | {with_reference:.3f} |")
    print(
        f"\n{'x'.join(map(str, image.shape[::-1]))} voxels, medians of {options.runs} runs in turn, "
        f"{os.cpu_count()} processors, load {load:.1f} before and {os.getloadavg()[0]:.1f} after"
    )


if __name__ == "__main__":
    main()
