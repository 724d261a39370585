#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measure the numbers and the order of methods that the CUDA engines choose by, on the device at hand, and print Markdown tables of
what is fastest here.

The numbers were fitted to an H100 or H200, as the table says. Results do not depend on them: TextureBenchmark compares each with the CPU engine. Times are those
of kernels, the shortest of --runs; what differs by less than 3 % is a tie, and the number in the source stays.

The script needs Python and TextureBenchmark alone. On a GPU machine without a checkout, with what scripts/gpu-bundle.sh packed
(about two minutes on an H200 with 16 processors):

    gpu-bundle/run-gpu-tests.sh --only tune
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

CLASSES = [
    "cooccurrence/",
    "correlation/.*levels:32",  # with 256 levels, the CPU engine takes minutes
    "dependence/",
    "firstorder/",
    "graytonedifference/",
    "runlength/",
    "runlength11,merged/",
    "sizezone/",
]
TIE = 0.03


class Policy(NamedTuple):
    """A PolicyValue of the core, others to try, benchmarks that depend on it, and what is known of it."""

    name: str
    value: int
    others: list[int]
    benchmarks: str
    origin: str


POLICIES = [
    Policy(
        "glcm.tiles",
        4,
        [1, 16, 1 << 30],
        "^cooccurrence/.*window:[57]/levels:32/CudaSortedPairs",
        "H100, 64³ voxels, 5×5×5: tables of few levels 0.8 ms, sorting alone 1.7 ms",
    ),
    Policy(
        "glcm.small_tiles",
        32,
        [4, 128, 1 << 30],
        "^cooccurrence/.*window:3/levels:32/CudaSortedPairs",
        "H100, 3×3×3: tables of few levels gain a tenth; H200: 4 for 32, 0.92 of the time for 96³ voxels, 1.10 for 64³",
    ),
    Policy(
        "glcm.second_tiles",
        32,
        [8, 128, 1 << 30],
        "^cooccurrence/.*window:[57]/levels:32/CudaSortedPairs",
        "H100, 32×256×256 voxels, 5×5×5, 20 levels in a tile: second stage 9.5 ms, sorting 13.0 ms",
    ),
    Policy(
        "glcm.teams",
        32,
        [8, 16, 64],
        "^cooccurrence/.*window:5/levels:256/CudaWindowWalk",
        "H200, 5×5×5, 96³ voxels, 256 levels: 8: 357 ms, 16: 237, 32: 236, 64: 230",
    ),
    Policy(
        "glrlm.teams",
        64,
        [8, 16, 32],
        "^runlength11,merged/.*window:7/levels:32/CudaWindowWalk",
        "H200, 11 features, 7×7×7, 64³ voxels, 32 levels: 8: 16.2 ms, 16: 9.0, 32: 8.9, 64: 7.1",
    ),
    Policy(
        "glrlm.shared",
        16384,
        [0, 40960],
        "^runlength11,merged/.*window:7/levels:32/CudaWindowWalk",
        "H100: larger workspaces leave room for less than 14 blocks",
    ),
    Policy("gldm.shared", 40960, [0, 16384], "^dependence/.*window:[79]/levels:32/CudaWindowWalk", "not recorded"),
    Policy(
        "gldm.teams",
        16,
        [8, 32, 64],
        "^dependence/.*window:7/levels:32/CudaWindowWalk",
        "H200, 7×7×7, 64³ voxels, 32 levels: 8: 4.5 ms, 16: 2.81, 32: 2.81, 64: 2.74",
    ),
    Policy(
        "ngtdm.shared",
        40960,
        [0, 16384],
        "^graytonedifference/.*window:[79]/levels:32/CudaWindowWalk",
        "not recorded",
    ),
    Policy(
        "ngtdm.warp_voxels",
        512,
        [128, 4096],
        "^graytonedifference/.*window:[79]/levels:32/CudaWindowWalk",
        "not recorded",
    ),
    Policy(
        "ngtdm.teams",
        64,
        [8, 16, 32],
        "^graytonedifference/.*window:[79]/levels:32/CudaWindowWalk",
        "H200, 7×7×7, 64³ voxels, 32 levels: 8: 7.1 ms, 16: 4.3, 32: 4.3, 64: 3.5; 15×15×15 the same for all",
    ),
    Policy(
        "ngtdm.table_warps",
        2,
        [1, 3, 4],
        "^graytonedifference/.*window:(5|9)/levels:256/CudaAutomatic",
        "H100: where tables leave a block one warp, WindowWalk is twice as fast; H200: 3 has 0.81 of the time of 5×5×5, 1.19 of 9×9×9",
    ),
    Policy(
        "glszm.slices",
        5,
        [0, 3],
        "^sizezone/.*window:[35]/levels:32/CudaBitPlanes",
        "H100, ns per voxel of a thread and of lanes: 5×5×5 0.99 and 2.2; 7×7×7 7.5 and 4.8",
    ),
    Policy(
        "glszm.ordered",
        0,
        [1],
        "^sizezone/.*window:[35]/levels:32/CudaBitPlanes",
        "H200: windows outside of masks last, 0.97 to 1.01 of the time in a lesion of 30,000 voxels; without a mask, two small kernels",
    ),
    Policy(
        "correlation.ordered",
        0,
        [1],
        "^correlation/.*window:[35]/levels:32/CudaAutomatic",
        "H200: windows outside of masks last, 0.97 to 1.01 of the time in a lesion of 30,000 voxels; without a mask, two small kernels",
    ),
    Policy(
        "weighted.teams",
        512,
        [128, 256, 1024],
        "^(cooccurrence|runlength),weighted/.*window:3/levels:32/CudaAutomatic",
        "not recorded",
    ),
    Policy(
        "bits.tiles",
        8,
        [2, 4, 16],
        "^(dependence|runlength)/.*window:5/levels:32/CudaAutomatic",
        "slices that the windows of a tile share matter less than tiles for all multiprocessors",
    ),
]


def milliseconds(options, benchmarks, policy=""):
    """The shortest time of each benchmark whose name matches, and the method that it used."""
    command = [
        str(options.program),
        f"--size={options.size}",
        f"--benchmark_filter={benchmarks}",
        f"--benchmark_repetitions={options.runs + 1}",  # the first one also loads the kernels
        "--benchmark_min_time=1e-9",
        "--benchmark_format=json",
    ]
    try:
        done = subprocess.run(command, env={**os.environ, "VOXELMAPS_POLICY": policy}, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"{options.program}: {error.strerror}; give the path of TextureBenchmark with --program")
    if done.returncode or not done.stdout:
        sys.exit(f"{' '.join(command)}:\n{done.stderr or done.stdout}")
    times, methods = collections.defaultdict(list), {}
    for each in json.loads(done.stdout)["benchmarks"]:
        if each.get("error_occurred"):
            sys.exit(f"{each['name']}: {each['error_message']}")
        if each["run_type"] == "iteration":
            name = each["run_name"].removesuffix("/manual_time")
            unit = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[each["time_unit"]]
            times[name].append(each["real_time"] * unit)
            methods[name] = each.get("label", "")
    return {name: min(of_name) for name, of_name in times.items()}, methods


def fastest(times, now):
    """The key with the shortest time, or the one of now if that is not much longer."""
    best = min(times, key=times.get)
    return now if times[now] <= times[best] * (1 + TIE) else best


def compare_numbers(options, chosen):
    """Print a row for each benchmark of each policy."""
    # In the source, all have one run; its first benchmark, of any device, gives the reason if there is none.
    filters = ["^firstorder/.*window:3/levels:32/CudaAutomatic", *(policy.benchmarks for policy in chosen)]
    now = milliseconds(options, "|".join(filters))[0]
    print("| number | in the source, and why | benchmark | ms by number | here |\n|---|---|---|---|---|")
    for policy in chosen:
        others = {
            value: milliseconds(options, policy.benchmarks, f"{policy.name}={value}")[0] for value in policy.others
        }
        for name in filter(re.compile(policy.benchmarks).search, now):
            times = {policy.value: now[name], **{value: others[value].get(name, math.inf) for value in others}}
            texts = ", ".join(f"{value}: {time:.4g}" for value, time in times.items())
            here = fastest(times, policy.value)
            gain = f" ({times[policy.value] / times[here]:.2f} × as fast)" if here != policy.value else ""
            print(f"| {policy.name} | {policy.value}; {policy.origin} | {name} | {texts} | {here}{gain} |", flush=True)


def compare_methods(options):
    """Print a row for each job that several methods support, with their times."""
    print("\n| job | ms by method | automatic | here |\n|---|---|---|---|")
    for of_class in CLASSES:
        times, methods = milliseconds(options, f"^{of_class}.*/Cuda")
        jobs = collections.defaultdict(dict)
        for name, time in times.items():
            job, _, method = name.rpartition("/Cuda")
            jobs[job][method] = time
        for job, by_method in jobs.items():
            automatic = methods[f"{job}/CudaAutomatic"]
            named = {method: time for method, time in by_method.items() if method != "Automatic"}
            if automatic in named and len(named) > 1:
                texts = ", ".join(f"{method}: {time:.4g}" for method, time in named.items())
                print(f"| {job} | {texts} | {automatic} | {fastest(named, automatic)} |", flush=True)


def check():
    """Exit with an error if POLICIES and the sources differ in names or numbers."""
    sources = pathlib.Path(__file__).resolve().parent.parent / "core/src"
    found = {}
    for path in (*sources.rglob("*.cu"), *sources.rglob("*.cuh")):
        text = path.read_text()
        uses = re.findall(r'PolicyValue\("([^"]+)", (\w+)\)', text)
        # A CudaWalkPolicy; workspaces of single threads are never in shared memory.
        for name, shared, teams in re.findall(r'\{ "(\w+)", [\w:]+, (\d+), (\d+) \};', text):
            uses += [(f"{name}.teams", teams), *([(f"{name}.shared", shared)] if shared != "0" else [])]
        for name, value in uses:
            named = re.search(rf"constexpr [\w:]+ +{value} = (\d+);", text)
            found[name] = int(named[1] if named else value)
    listed = {policy.name: policy.value for policy in POLICIES}
    if wrong := found.items() ^ listed.items():
        sys.exit(f"POLICIES and core/src differ in {', '.join(sorted({name for name, _ in wrong}))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = pathlib.Path(__file__).resolve().parent.parent / "build/benchmarks/TextureBenchmark"
    parser.add_argument("--program", type=pathlib.Path, default=program, help="TextureBenchmark (default: %(default)s)")
    parser.add_argument("--size", default="96,96,96", help="of the image: x,y,z (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each benchmark (default: %(default)s)")
    parser.add_argument("--only", default="", help="regular expression of the names of numbers, or 'methods'")
    parser.add_argument("--check", action="store_true", help="only compare the numbers with those of the sources")
    options = parser.parse_args()
    if options.check:
        return check()
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only {options.only} is not a regular expression: {error}")
    chosen = [policy for policy in POLICIES if re.search(options.only, policy.name)]
    with_methods = re.search(options.only, "methods")
    if not chosen and not with_methods:
        parser.error(f"--only {options.only} matches none of {', '.join(p.name for p in POLICIES)}, methods")
    if chosen:
        compare_numbers(options, chosen)
    if with_methods:
        compare_methods(options)


if __name__ == "__main__":
    main()
