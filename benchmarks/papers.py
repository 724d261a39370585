#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Measures what the two papers measured, and prints their tables with the papers' numbers next to ours: see papers.sh.

Needs no package but for --brainweb and --debian, which make the images (SimpleITK), and for the picture (NumPy, matplotlib).
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import sys

IMAGES = ("T1", "T2", "PD")
SIZE = (181, 217)
DIRECTIONS = ("0°", "45°", "90°", "135°")
FEATURES = ("SRE", "LRE", "GLN", "RLN", "RP", "LGRE", "HGRE", "SRLGE", "SRHGE", "LRLGE", "LRHGE")
# Those of which the paper shows the logarithm.
LOGARITHMS = ("LGRE", "LRHGE", "LRLGE", "SRLGE")

# Zhang et al. 2019, tables 4 to 6, in ms: Xeon E5-2620 (one thread), Tesla P100, TITAN V; T1, T2 and PD.
TOTALS = {
    "float": ((983.6, 261.4, 171.5), (984.0, 250.1, 167.9), (1001.6, 157.1, 150.4)),
    "double": ((1005.3, 270.4, 182.5), (1003.7, 283.1, 168.3), (1009.2, 177.2, 177.2)),
}
PARTS = {
    "float": {
        "matrices": ((70.7, 56.4, 37.1), (70.3, 50.7, 36.9), (71.9, 38.2, 37.6)),
        "0° features": ((209.1, 96.3, 57.4), (209.3, 96.4, 54.1), (212.9, 60.1, 52.1)),
        "45° features": ((209.6, 37.1, 28.5), (210.1, 37.1, 28.2), (214.3, 19.3, 20.8)),
        "90° features": ((208.9, 21.3, 17.2), (209.1, 21.8, 26.6), (212.8, 15.9, 15.7)),
        "135° features": ((208.5, 41.2, 25.6), (209.1, 34.0, 26.6), (212.4, 18.7, 18.5)),
    },
    "double": {
        "matrices": ((71.4, 57.6, 37.7), (71.1, 50.1, 35.1), (71.7, 38.18, 37.8)),
        "0° features": ((214.2, 96.6, 61.9), (213.7, 109.4, 58.2), (214.7, 64.928, 59.7)),
        "45° features": ((214.9, 35.2, 29.3), (214.9, 46.8, 27.2), (215.8, 23.9, 26.8)),
        "90° features": ((213.8, 32.2, 22.8), (213.3, 29.8, 18.2), (214.4, 20.7, 22.4)),
        "135° features": ((213.9, 36.1, 24.4), (213.6, 37.9, 23.1), (214.7, 23.8, 23.6)),
    },
}
# Li et al. 2016, tables 1 to 3: slices of the CT; seed, serial program in s, CUDA-kFOE in s and wrong voxels, corrected.
TABLES = (
    (155, (((197, 258, 123), 281.6, 63.8, 762, 72.3, 0), ((163, 187, 86), 283.8, 60.6, 616, 71.0, 0),
           ((196, 188, 110), 247.9, 56.2, 956, 66.0, 0))),
    (215, (((189, 244, 180), 245.5, 73.3, 722, 81.8, 0.7), ((144, 239, 147), 340.1, 60.6, 1147, 84.2, 0.7),
           ((107, 223, 117), 386.7, 73.4, 526, 86.8, 0))),
    (175, (((183, 279, 76), 288.8, 63.9, 3560, 74.8, 2), ((167, 257, 107), 267.4, 63.5, 1147, 74.0, 0),
           ((158, 247, 148), 230.5, 61.9, 526, 70.8, 0))),
)  # fmt: skip


# --- Images -----------------------------------------------------------------------------------------------------------


def make_images(brainweb, debian, folder):
    """Write slices without skull as 8-bit pixels without header."""
    import SimpleITK as sitk

    if brainweb:
        files = {name: brainweb / f"brainweb_{name.lower()}.mha" for name in IMAGES}
        missing = [str(file) for file in files.values() if not file.exists()]
        if missing:
            sys.exit(
                f"{missing[0]} does not exist; --brainweb needs a folder with brainweb_t1.mha, _t2.mha and _pd.mha"
            )
        volumes = {name: sitk.ReadImage(str(file)) for name, file in files.items()}
        for name, volume in volumes.items():
            if volume.GetSize() != (*SIZE, 180):
                sys.exit(f"{files[name]} has {volume.GetSize()} voxels; BrainWeb's head has {(*SIZE, 180)}")
        slices = {name: volume[:, :, 90] for name, volume in volumes.items()}
        source = "slice 90 of BrainWeb's head"
    else:
        files = {"T1": "BrainT1Slice.png", "PD": "BrainProtonDensitySlice.png"}
        slices = {name: sitk.ReadImage(str(debian / file)) for name, file in files.items()}
        # Gray as three colors.
        slices = {name: sitk.VectorIndexSelectionCast(image, 0) for name, image in slices.items()}
        source = "BrainWeb's slices in Debian's ITK examples, where T2 is missing"
    for name, image in slices.items():
        if image.GetSize() != SIZE or image.GetPixelID() != sitk.sitkUInt8:
            sys.exit(f"{name} is {image.GetSize()} {image.GetPixelIDTypeAsString()}; it must be {SIZE} 8-bit pixels")

    # The skull is dark in T1, and keeps the brain apart from the scalp.
    brain = sitk.BinaryErode(sitk.OtsuThreshold(slices["T1"], 0, 1), (4, 4))
    brain = sitk.RelabelComponent(sitk.ConnectedComponent(brain)) == 1
    brain = sitk.BinaryFillhole(sitk.BinaryMorphologicalClosing(sitk.BinaryDilate(brain, (5, 5)), (8, 8)))
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.raw"):
        old.unlink()
    for name, image in slices.items():
        (folder / f"{name}.raw").write_bytes(sitk.GetArrayFromImage(sitk.Mask(image, brain)).tobytes())
    (folder / "source.txt").write_text(source + "\n")


def make_quick_images(size, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(IMAGES):
        pixels = random.Random(seed).choices((0, 80, 170, 255), k=size[0] * size[1])
        (folder / f"{name}.raw").write_bytes(bytes(pixels))
    (folder / "source.txt").write_text("small images of noise\n")


# --- Measurements -----------------------------------------------------------------------------------------------------


def measure(program, arguments, file):
    """Run the program; its lines go to the file, and a dot for each to the standard error."""
    lines = []
    with subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stdout:
            if not lines:
                line = json.dumps({**json.loads(line), "processor": processor()}) + "\n"
            lines.append(line)
            file.write_text("".join(lines), "utf-8")
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if run.returncode != 0:
        sys.exit(f"{program} {arguments[0]} has failed, exit code {run.returncode}")


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return "an unknown processor"


def read(file):
    """What the program says of the machine, and its measurements; None if there are none."""
    if not file.exists():
        return None
    machine, *measurements = map(json.loads, file.read_text("utf-8").splitlines())
    return machine, measurements


# --- Tables -----------------------------------------------------------------------------------------------------------


def mean(values):
    return sum(values) / len(values) if values else None


def number(value, unit=1.0):
    """At least three digits; a dash if there is no value."""
    if value is None:
        return "–"
    value /= unit
    decimals = 0 if value == 0 else min(3, max(0, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:.{decimals}f}"


def spread(values):
    """Mean and standard deviation."""
    if not values or len(values) == 1:
        return number(mean(values))
    deviation = math.sqrt(sum((value - mean(values)) ** 2 for value in values) / (len(values) - 1))
    return f"{number(mean(values))} ± {number(deviation)}"


def ratio(a, b):
    return number(mean(a) / mean(b)) if a and b else "–"


def table(header, rows, is_shown):
    """A table in Markdown without the columns that are not shown."""
    shown = [i for i, name in enumerate(header) if is_shown(name)]
    cells = [[str(row[i]) for i in shown] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def describe(machine):
    device = machine["device"] if not machine["reason"] else "no CUDA device"
    return f"Measured on {machine['threads']} threads of {machine['processor']}, {device}."


def needs_device(name):
    return any(word in name for word in ("CUDA", "Cuda", "SortReduce", "printed"))


def run_length_tables(machine, measurements, source):
    times = {}
    for m in measurements:
        times[m["precision"], m["image"], m["window"], m["part"], m["program"]] = m["milliseconds"]

    def get(precision, image, part, program, window=4):
        return times.get((precision, image, window, part, program))

    images = [name for name in IMAGES if get("float", name, "total", "Sequential")] or IMAGES
    is_shown = (lambda column: True) if not machine["reason"] else (lambda column: not needs_device(column))
    paper = ["paper: Xeon", "P100", "TITAN V", "speedup"]
    ours = ["ours: sequential", "SortReduce", "SortReduce's speedup", "engine, 1 thread", "all threads", "CUDA"]

    def row(precision, image, label, paper_numbers, parts, window=4):
        """The cells of one line; parts are those of the sequential program, SortReduce, the engine, and CUDA."""
        sequential, sort_reduce, one, all_threads, cuda = (
            get(precision, image, part, program, window) if part else None
            for part, program in zip(
                parts, ("Sequential", "SortReduce", "Engine, 1 thread", "Engine, all threads", "Cuda")
            )
        )
        cells = [label]
        if paper_numbers:
            xeon, p100, titan = paper_numbers
            cells += [number(xeon), number(p100), number(titan), f"{xeon / p100:.1f}, {xeon / titan:.1f}"]
        cells += [spread(sequential), spread(sort_reduce), ratio(sequential, sort_reduce)]
        return [*cells, spread(one), spread(all_threads), spread(cuda)]

    total = ["total"] * 5
    rows = [
        row(precision, image, f"{image}, {precision}", TOTALS[precision][IMAGES.index(image)], total)
        for precision in TOTALS
        for image in images
    ]
    yield (
        "Table 4: windows of 4×4, total",
        f"Milliseconds from and to host memory, means of {machine['repetitions']} runs, ± their standard deviation, of "
        f"{source}, without skull. The paper's speedups are those of P100 and TITAN V.",
        table(["image", *paper, *ours], rows, is_shown),
    )
    for title, precision in (("Table 5", "float"), ("Table 6", "double")):
        rows = []
        for part, numbers in PARTS[precision].items():
            direction = part.split()[0] if part != "matrices" else None
            for image in images:
                label = f"{image}, {'matrices, 4 directions' if direction is None else part}"
                parts = [part, part, direction, direction, direction]
                rows.append(row(precision, image, label, numbers[IMAGES.index(image)], parts))
        yield (
            f"{title}: windows of 4×4, {precision}, matrices and features apart",
            "Milliseconds; on devices, of kernels alone. Our engines do not build matrices; their times in the lines of a "
            "direction are those from gray levels to features.",
            table(["image, part", *paper, *ours], rows, is_shown),
        )
    for precision in TOTALS:
        rows = [row(precision, images[0], f"{n}×{n}", None, total, n) for n in range(4, 21)]
        yield (
            f"Figure 11: windows of other sizes, {precision}",
            f"Milliseconds from and to host memory, {images[0]}. The paper has a curve: speedups of about "
            + ("4.5 (P100) and 5.7" if precision == "float" else "4.3 (P100) and 5.5")
            + " (TITAN V), which fall to about 4 with larger windows.",
            table(["window", *ours], rows, is_shown),
        )
    if not machine["reason"]:
        rows = []
        for label, paper_ratio, part, *programs in (
            (
                "sequential program (1 thread) : SortReduce",
                "3.5 to 6.7 (“over 5”)",
                "total",
                "Sequential",
                "SortReduce",
            ),
            ("SortReduce : our engine with CUDA", "–", "total", "SortReduce", "Cuda"),
            ("SortReduce : our engine with CUDA, kernels", "–", "kernels", "SortReduce", "Cuda"),
            ("sequential program : our engine, both with 1 thread", "–", "total", "Sequential", "Engine, 1 thread"),
        ):
            pairs = [[get(p, i, part, program) for program in programs] for p in TOTALS for i in images]
            ratios = [mean(a) / mean(b) for a, b in pairs if a and b] or [None]
            least_and_greatest = "–" if None in ratios else f"{number(min(ratios))} to {number(max(ratios))}"
            rows.append([label, paper_ratio, least_and_greatest])
        yield (
            "The paper's headline",
            "Ratios of times of Table 4, and of kernels; least and greatest of the images and precisions.",
            table(["ratio", "paper", "ours"], rows, lambda column: True),
        )


def connectedness_tables(machine, measurements):
    runs = {(m["table"], m["seed"], m["program"]): m for m in measurements}
    # Line, place of the paper's number, program, and what of its runs.
    lines = [
        ("serial kFOE with a queue", 1, "Queue", "milliseconds"),
        ("our engine, 1 thread", None, "Engine, 1 thread", "milliseconds"),
        ("our engine, all threads", None, "Engine, all threads", "milliseconds"),
        ("CUDA-kFOE", 2, "CUDA-kFOE", "milliseconds"),
        ("wrong voxels of CUDA-kFOE", 3, "CUDA-kFOE", "wrong"),
        ("correction as printed", 4, "corrected, as printed", "milliseconds"),
        ("wrong voxels of the correction as printed", 5, "corrected, as printed", "wrong"),
        ("exact correction (CorrectedKFOE)", None, "CudaCorrectedKFOE", "milliseconds"),
        ("wrong voxels of the exact correction", None, "CudaCorrectedKFOE", "wrong"),
        ("our engine, CUDA", None, "CudaHierarchy", "milliseconds"),
        ("wrong voxels of our engine, CUDA", None, "CudaHierarchy", "wrong"),
    ]
    for index, (slices, seeds) in enumerate(TABLES, 1):
        rows = []
        for label, place, program, what in lines:
            cells = [label]
            for i, seed in enumerate(seeds):
                cells.append("–" if place is None else f"{seed[place]:g}")
                values = runs.get((index, i, program), {}).get(what)
                cells.append(f"{mean(values):.0f}" if values and what == "wrong" else number(mean(values), 1000))
            if not machine["reason"] or not needs_device(f"{label} {program}"):
                rows.append(cells)
        header = ["seconds; voxels"]
        for seed, *_ in seeds:
            header += [f"{seed}: paper", "ours"]
        yield (
            f"Table {index}: a CT of 512×512×{slices} voxels, three seeds",
            f"Seconds from and to host memory, means of {machine['repetitions']} runs (of the queue, one run). Wrong voxels "
            "are those that differ from the result of the queue.",
            table(header, rows, lambda column: True),
        )


def draw(folder, size, file):
    """Figure 10: the images, and their eleven maps for 0°."""
    try:
        import numpy as np
        from matplotlib.figure import Figure
    except ImportError:
        print("No picture: it needs NumPy and matplotlib", file=sys.stderr)
        return
    names = [name for name in IMAGES if (folder / f"{name}.maps").exists()]
    figure = Figure(figsize=(1.35 * 12, 1.8 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), 12, squeeze=False)
    for axes, name in zip(grid, names):
        image = np.fromfile(folder / f"{name}.raw", np.uint8)
        # Windows in the brain alone set the range, since values of the background are far from theirs.
        plane = image.reshape(size[::-1]) > 0
        inside = np.all([np.roll(plane, (-y, -x), (0, 1)) for y in (0, 3) for x in (0, 3)], axis=0).ravel()
        maps = np.fromfile(folder / f"{name}.maps", np.float32).reshape(image.size, -1)[:, : len(FEATURES)].T
        for ax, title, values in zip(axes, (name, *FEATURES), (image, *maps)):
            if title in LOGARITHMS:
                title, values = f"log {title}", np.log(values)
            low, high = np.percentile(values[inside], (1, 99))
            ax.imshow(values.reshape(size[::-1]), cmap="gray", vmin=low, vmax=high)
            ax.set_title(title, fontsize=9)
            ax.set_axis_off()
    figure.savefig(file, dpi=80)


def labels(text):
    """The first cells of the lines of each table of a Markdown text, by the heading before it."""
    found = {}
    for line in text.splitlines():
        if line.startswith("### "):
            heading = found.setdefault(line[4:], [])
        elif line.startswith("| ") and found:
            heading.append(line.split("|")[1].strip())
    return found


def compare(printed, page, has_device):
    """Exit unless the page has all tables and lines that were printed, and with a device no others."""
    printed, page = labels(printed), labels(page)
    for heading, lines in printed.items():
        expected = page.get(heading)
        if expected is None:
            sys.exit(f"the page has no table {heading!r}")
        if lines != (expected if has_device else [line for line in expected if line in lines]):
            sys.exit(f"the table {heading!r} of the page has other lines:\n{expected}\ninstead of\n{lines}")
    if has_device and printed.keys() != page.keys():
        sys.exit(f"the page has tables that are not printed: {page.keys() - printed.keys()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "program", nargs="?", help="PapersBenchmark; without it, tables of the last measurements are printed"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of images, measurements and tables")
    parser.add_argument(
        "--brainweb", type=pathlib.Path, help="folder of brainweb_t1.mha, brainweb_t2.mha and brainweb_pd.mha"
    )
    parser.add_argument("--debian", type=pathlib.Path, help="folder of the images of fetch-data.sh")
    parser.add_argument("--only", choices=("run-lengths", "connectedness"), help="measure for one of the papers")
    parser.add_argument(
        "--quick", action="store_true", help="measure small images of noise and small CTs once, to see that all works"
    )
    parser.add_argument("--page", type=pathlib.Path, help="Markdown page whose tables must have the same lines")
    parser.add_argument(
        "--update-page", type=pathlib.Path, help="page whose tables are replaced by those that are printed"
    )
    options = parser.parse_args()
    out = options.out
    size = SIZE
    if options.quick:
        out, size = out / "quick", (31, 29)
        make_quick_images(size, out)
    elif options.brainweb or options.debian:
        make_images(options.brainweb, options.debian, out)

    images = [out / f"{name}.raw" for name in IMAGES if (out / f"{name}.raw").exists()]
    studies = {
        "run-lengths": (f"--size={size[0]},{size[1]},1", f"--maps={out}", *images),
        "connectedness": ("--divisor=8",) if options.quick else (),
    }
    quick = ("--repetitions=1",) if options.quick else ()
    for study, arguments in studies.items():
        if options.program and options.only in (None, study):
            measure(options.program, (study, *arguments, *quick), out / f"{study}.jsonl")

    sections = []
    for study in studies:
        machine, measurements = read(out / f"{study}.jsonl") or (None, None)
        if machine is None:
            continue
        if describe(machine) not in sections:
            sections.append(describe(machine))
            if machine["reason"]:
                sections.append(f"Without the columns of CUDA: {machine['reason']}")
        if study == "run-lengths":
            tables = run_length_tables(machine, measurements, (out / "source.txt").read_text("utf-8").strip())
        else:
            tables = connectedness_tables(machine, measurements)
        if options.quick:
            sections.append("**Small images, measured once, to see that all works: these times mean nothing.**")
        for title, note, rows in tables:
            sections += [f"### {title}", note, rows]
    if not sections:
        return
    text = "\n\n".join(sections) + "\n"
    print(text)
    (out / "tables.md").write_text(text, "utf-8")
    if options.update_page:
        page = options.update_page.read_text("utf-8")
        options.update_page.write_text(
            re.sub(r"(?<=\n## Tables\n).*?(?=\n## )", lambda _: "\n" + text, page, flags=re.DOTALL), "utf-8"
        )
    if options.page:
        compare(text, options.page.read_text("utf-8"), not machine["reason"])
    if images and (out / f"{images[0].stem}.maps").exists():
        draw(out, size, out / "Figure10.png")


if __name__ == "__main__":
    main()
