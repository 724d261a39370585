# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""run_hostile.py GROUP PROGRAMS FOLDER: run the programs on broken files and the like, and judge what they do.

GROUP is files, folders, options, output or kill. Every run must end with exit code 1 and one line on stderr that names
the file, or with the right result; old results stay, and nothing is left behind. FOLDER keeps the input of failures.
"""

import argparse
import sys
import time

import broken_files
import dicom_folders
import hostile_options
import hostile_outputs
import judge
import killed_runs

# For each group, what makes its cases, and the number of random ones.
GROUPS = {
    "files": (lambda runs, number, seed: broken_files.make_cases(number, seed), 250),
    "folders": (lambda runs, number, seed: dicom_folders.make_cases(number, seed), 40),
    "options": (lambda runs, number, seed: hostile_options.make_cases(number, seed, runs.programs), 60),
    "output": (lambda runs, number, seed: hostile_outputs.make_cases(number, seed, runs.programs), 40),
    "kill": (lambda runs, number, seed: killed_runs.make_cases(number, seed, runs), 96),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("programs", help="the folder of the programs")
    parser.add_argument("folder", help="a folder for the runs, which is emptied first")
    parser.add_argument("--runs", type=int, help="the number of random cases")
    parser.add_argument("--seed", type=int, default=1, help="each number gives other random cases")
    parser.add_argument("--only", default="", help="only cases whose names contain this")
    options = parser.parse_args()
    make_cases, number_of_random_cases = GROUPS[options.group]
    if options.runs is not None:
        number_of_random_cases = options.runs

    runs = judge.Judge(options.programs, options.folder)
    begin = time.monotonic()
    for case in make_cases(runs, number_of_random_cases, options.seed):
        if options.only in case.name:
            runs.judge(case)
    seconds = time.monotonic() - begin
    print(f"{options.group}: {runs.number_of_runs} runs, {len(runs.failures)} failures, {seconds:.0f} s")
    sys.exit(1 if runs.failures or not runs.number_of_runs else 0)


if __name__ == "__main__":
    main()
