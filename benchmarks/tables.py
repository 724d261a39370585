#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Make Markdown tables of the JSON files that the benchmark programs write (--benchmark_out=FILE.json).

The name of a benchmark is TABLE/ROW/COLUMN, where ROW may have several parts. Times are in milliseconds.

With --page, write the tables of doc/performance.md from the stored results in benchmarks/results.
"""

import argparse
import json
import pathlib
import re
import statistics

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGE = RESULTS.parents[1] / "doc" / "performance.md"

# What is shown of a benchmark: its time, counters, or its label. Otherwise, all of them.
SHOWN = {
    "cpu": ["per voxel"],
    "windows": ["time", "per voxel and direction", "label"],
    "paper": ["time", "call", "matrices", "features", "label"],
    "figure11": ["time", "call", "matrices", "features", "label"],
    "r1": ["time", "call", "per voxel and direction", "slabs", "label"],
    "r2": ["time", "call", "per voxel and direction", "slabs", "label"],
    "connectedness-cpu": ["time", "reached"],
    "connectedness-cuda": ["time", "call", "rounds", "reached"],
    "connectedness-papers": ["time", "call", "wrong voxels", "rounds", "label"],
    "labels-cpu": ["time", "kept bytes/voxel"],
    "labels-cuda": ["time", "call", "rounds", "kept bytes/voxel"],
    "memory": ["bytes/voxel", "peak/(input+output)", "label"],
}
# Columns by which how much faster one program is: the time of the first one divided by that of the second one.
SPEEDUPS = {
    "paper": [
        ("sequential", "SortReduce call"),
        ("sequential matrices", "SortReduce matrices"),
        ("sequential features", "SortReduce features"),
        ("sequential", "Automatic call"),
    ],
    "figure11": [("sequential", "SortReduce call"), ("sequential", "Automatic call")],
    "connectedness-cpu": [("Heap threads:1", "Hierarchy threads:1")],
}
# Counters that are the same for all programs of a row.
OF_ROW = ["reached"]
# What Google Benchmark adds to a name.
SUFFIX = re.compile(r"/(iterations|repeats|min_time|min_warmup_time):[^/]*|/(manual|real|process)_time")
STANDARD = set(
    "name family_index per_family_instance_index run_name run_type repetitions repetition_index threads iterations"
    " real_time cpu_time time_unit label error_occurred error_message skipped skip_message items_per_second".split()
)
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def read(files):
    """Return contexts, {table: {row: {column: {quantity: [value of each repetition]}}}} and reasons of what is missing."""
    contexts, tables, missing = [], {}, {}
    for file in files:
        with open(file, encoding="utf-8") as stream:
            content = json.load(stream)
        contexts.append(content["context"])
        for run in content["benchmarks"]:
            if run.get("run_type") == "aggregate":
                continue
            table, *row = SUFFIX.sub("", run["name"]).split("/")
            column = row.pop()
            if column.startswith("threads:"):
                column = f"{row.pop()} {column}"
            reason = run.get("error_message") or run.get("skip_message")
            if reason:
                missing.setdefault(reason, []).append(run["name"])
                continue
            cells = tables.setdefault(table, {}).setdefault(", ".join(row), {}).setdefault(column, {})
            values = {"time": run["real_time"] * MILLISECONDS[run["time_unit"]], "label": run.get("label") or None}
            values.update((key, value) for key, value in run.items() if key not in STANDARD)
            for key, value in values.items():
                if value is not None:
                    cells.setdefault(key, []).append(1e9 * value if key.startswith("per ") else value)
    return contexts, tables, missing


def number(value):
    if float(value).is_integer():
        return f"{value:.0f}"
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2 if abs(value) >= 0.9995 else 4
    return f"{value:.{digits}f}"


def cell(values, statistic):
    if not values:
        return ""
    if isinstance(values[0], str):
        return ", ".join(dict.fromkeys(values))
    if statistic != "mean":
        return number({"median": statistics.median, "min": min}[statistic](values))
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return number(statistics.mean(values)) + (f" ± {number(deviation)}" if deviation > 0 else "")


def print_table(table, rows, statistic):
    flat, titles = {}, {}
    for row, columns in rows.items():
        for column, quantities in columns.items():
            for quantity in SHOWN.get(table, quantities):
                if quantity in quantities:
                    title = column if quantity == "time" else f"{column} {quantity}"
                    title += ", ns" if quantity.startswith("per ") else ""
                    title = f"{column} remark" if quantity == "label" else title
                    title = quantity if quantity in OF_ROW else title
                    titles[title] = None
                    flat.setdefault(row, {})[title] = quantities[quantity]
    for slow, fast in SPEEDUPS.get(table, []):
        if slow in titles and fast in titles:
            title = f"{slow} / {fast}"
            titles[title] = None
            for values in flat.values():
                if slow in values and fast in values:
                    # A difference of two runs can be 0.
                    divisor = statistics.mean(values[fast])
                    values[title] = [statistics.mean(values[slow]) / divisor] if divisor else []
    print(f"\n## {table}\n")
    print("| | " + " | ".join(titles) + " |")
    print("|---|" + "---:|" * len(titles))
    for row, values in flat.items():
        print(f"| {row} | " + " | ".join(cell(values.get(title), statistic) for title in titles) + " |")


def stored(name):
    """The results of benchmarks/results/NAME.json; numbers keep the digits with which they were written."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"), parse_float=str, parse_int=str)


def shown(value):
    """A stored value; if it was measured on several hosts, those of the best and of the worst one."""
    if not isinstance(value, list):
        return "–" if value is None else value
    ordered = sorted(value, key=lambda each: float(each.split()[0]))
    return " – ".join(dict.fromkeys([ordered[0], ordered[-1]]))


def page_table(name):
    table = stored(name)
    machines = [row[0] for row in stored("machines")["rows"]]
    rows = [[f"{title}, {unit}" if unit else title for title, unit in table["columns"].items()]]
    rows += [["---"] * len(rows[0])] + [[shown(value) for value in row] for row in table["rows"]]
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"{name}.json: a row has not one value per column")
    runs = []
    for run in table.get("measured", []):
        if run["machine"] not in machines:
            raise ValueError(f"{name}.json: machines.json does not have {run['machine']}")
        by = f"by `{run['command']}`" if run["command"] else "command not recorded"
        runs.append(f"{run['machine']}, {run['date']}, {by}")
    measured = f"\n*Measured: {'; '.join(runs)}.*\n" if runs else ""
    return "".join(f"| {' | '.join(row)} |\n" for row in rows) + measured


def page_with_tables(page):
    """The text of a page, with new tables between the lines `<!-- table NAME -->` and `<!-- end -->`."""
    return re.sub(
        r"(<!-- table (\S+) -->\n).*?(?=<!-- end -->)",
        lambda match: match[1] + page_table(match[2]),
        page,
        flags=re.DOTALL,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE.json")
    parser.add_argument("--page", action="store_true", help="write the tables of doc/performance.md instead")
    parser.add_argument(
        "--statistic",
        choices=["mean", "median", "min"],
        default="mean",
        help="of the repetitions; a mean has a deviation",
    )
    arguments = parser.parse_args()
    if arguments.page:
        PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    if not arguments.files:
        parser.error("name the files of the benchmark programs, or --page")
    contexts, tables, missing = read(arguments.files)
    keys = ["device", "CUDA runtime", "CUDA driver", "num_cpus", "threads", "instructions", "data", "scene", "date"]
    for line in dict.fromkeys(
        "; ".join(f"{key}: {context[key]}" for key in keys if context.get(key)) for context in contexts
    ):
        print(f"- {line}")
    print(f"\nMilliseconds, if not said otherwise; {arguments.statistic} of the repetitions.")
    for table, rows in tables.items():
        print_table(table, rows, arguments.statistic)
    for reason, names in missing.items():
        print(f"\n{len(names)} benchmarks without result ({names[0]} ...): {reason}")


if __name__ == "__main__":
    main()
