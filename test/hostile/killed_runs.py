# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed while they compute or write, alone or with their process group."""

import random
import signal

import formats
from judge import LABELS, Case, maps, strength

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP, signal.SIGXCPU)
FEATURES = ("--features", "HGRE,SRE,GLN")
OBJECT = ("--seed", "3,3,0", "--threshold", "0.5", "--object", "object.nii.gz")
RUNS = (
    (maps("v.nrrd", "%s.nii.gz", *FEATURES), ("HGRE.nii.gz", "SRE.nii.gz", "GLN.nii.gz")),
    (strength("v.nrrd", "out.nii.gz", *OBJECT), ("out.nii.gz", "object.nii.gz")),
    (maps("v.nrrd", "out.mha", "--features", "all"), ("out.mha",)),
    (strength("v.nrrd", "out.hdr"), ("out.hdr", "out.img")),
    (maps("v.nrrd", "out.nii.gz", *FEATURES), ("out.nii.gz",)),
    (strength("v.nrrd", "out.mhd"), ("out.mhd", "out.raw")),
    (strength("v.nrrd", "out.nii.gz", *LABELS, "--labels", "labels.nii.gz"), ("out.nii.gz", "labels.nii.gz")),
)


def make_cases(number_of_random_cases, seed, judge):
    """Delays are fractions of the time that the run takes."""
    generator = random.Random(seed)
    values = tuple(generator.choice((0, generator.randrange(60))) for _ in range(72 * 64 * 48))
    files = {"v.nrrd": formats.nrrd(formats.Image((72, 64, 48), "h", values))["v.nrrd"]}
    runs = [Case("good", words, files, "success", outputs=outputs) for words, outputs in RUNS]
    seconds = [judge.judge(run).seconds for run in runs]
    for i in range(number_of_random_cases):
        number = i % len(RUNS)
        sent = SIGNALS[i // len(RUNS) % len(SIGNALS)]
        is_group = generator.random() < 0.5
        part = generator.uniform(0, 1.1) if i % 2 else generator.uniform(0.5, 1.0)
        yield Case(
            f"{i} {sent.name} to the {'group' if is_group else 'process'} at {part:.2f}",
            runs[number].words,
            files,
            outputs=runs[number].outputs,
            right=runs[number],
            kill=(sent, part * seconds[number], is_group),
            has_old_result=generator.random() < 0.7,
        )
