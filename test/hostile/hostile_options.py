# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Options: empty values, two outputs in one file, names that are long or strange, absurd numbers."""

import functools
import os
import random
import re
import subprocess

import formats
from judge import PROGRAMS, Case, maps, strength

IMAGE = formats.nrrd(formats.make_image())["v.nrrd"]
OBJECT = ("--seed", "3,3,0", "--threshold", "0.5", "--object")
NUMBERS = "0 1 -1 2.5 nan inf 1e308 1e-320 1e400 4294967295 4294967296 99999999999999999999".split()
LISTS = "3,3,3 1,1 0,0,0 -1,0,0 4294967296,1,1 1,99999999,1 nan,nan,nan 1e308,-1e308 0,1e-320 6,7,8".split()
WORDS = ("x", " ", "%s%n", "SRE", "all", "merge", "v.nrrd", ".", "\u00fc\n")
BAD_NAMES = ("\n", "a\nb", "ü", b"\xff\xfe", " ", "'", '"', "\\", "%n%n", "%d", "a" * 250, "-x", "#", ":", "*")
LONG_NAMES = ("a" * 251, "a" * 300, "a/" * 3000)


@functools.lru_cache
def get_value_options(folder, program):
    """The options that have a value, as --help lists them."""
    text = subprocess.run([folder / program, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^ +(?:-\w,)?(--[a-z-]+) [A-Z]+\b", text, re.MULTILINE)


def make_option_case(name, words, expect="error", mentions=(), files=None, **keywords):
    right = Case("good", {"FeatureMaps": maps, "FuzzyConnectedness": strength}[words[0]]("v.nrrd"), {"v.nrrd": IMAGE})
    return Case(
        f"{name} of {words[0]}", words, {"v.nrrd": IMAGE, **(files or {})}, expect, mentions, right=right, **keywords
    )


def make_empty_cases(folder):
    """No option has an empty value, which a variable of a shell script may be."""
    bases = (maps("v.nrrd"), strength("v.nrrd"))
    for program, base in zip(PROGRAMS, bases):
        for option in get_value_options(folder, program):
            rest = [word for i, word in enumerate(base) if option not in (word, base[i - 1])]
            for i, words in enumerate(([option, ""], [option + "="])):
                yield Case(
                    f"{option} of {program} is empty, {i}", [*rest, *words], {"v.nrrd": IMAGE}, "error", (option,)
                )
        for name in ("v.nrrd", "out.nrrd"):
            if name in base:
                words = ["" if word == name else word for word in base]
                mentions = ("INPUT" if name == "v.nrrd" else "OUTPUT", "empty")
                yield Case(f"empty {mentions[0]} of {program}", words, {"v.nrrd": IMAGE}, "error", mentions)


def make_same_file_cases():
    """Outputs that are other outputs, by other names; hostile_outputs.py has those that are inputs."""
    for first, second in (
        ("out.nrrd", "./out.nrrd"),
        ("out.nrrd", "sub/../out.nrrd"),
        ("out.mhd", "out.nhdr"),  # both write out.raw
        ("out.hdr", "out.img"),
        ("out.nrrd", "new/out.nrrd"),
        ("out.nrrd", "soft.nrrd"),
        ("out.nrrd", "hard.nrrd"),
    ):
        links = {
            "new/out.nrrd": lambda root: os.symlink(".", root / "new"),
            "soft.nrrd": lambda root: os.symlink("out.nrrd", root / "soft.nrrd"),
            "hard.nrrd": lambda root: os.link(root / "out.nrrd", root / "hard.nrrd"),
        }
        keywords = {"outputs": (first,), "files": {"sub/x": b""}, "prepare": links.get(second)}
        words = strength("v.nrrd", first, *OBJECT, second)
        yield make_option_case(f"{first} and {second}", words, mentions=(second, first), **keywords)


def make_name_cases():
    """Files of unusual names, missing or there."""
    for i, name in enumerate(map(os.fsdecode, BAD_NAMES)):
        command = (maps, strength)[i % 2]
        file = name + ".nrrd"
        path = "./" + file if name.startswith("-") else file
        yield make_option_case(f"input {name[:20]!r}", command(path), "success", files={file: IMAGE})
        yield make_option_case(f"output {name[:20]!r}", command("v.nrrd", path), "success", outputs=(file,))
        mentions = (name[:20],) if name.isprintable() else ()
        yield make_option_case(f"missing {name[:20]!r}", command(path), mentions=mentions)
    for i, name in enumerate(LONG_NAMES):
        command = (maps, strength)[i % 2]
        yield make_option_case(f"long input {i}", command(name + ".nrrd"), mentions=(name[:20],))
        if len(name) > 251:
            words = command("v.nrrd", name + ".nrrd")
            yield make_option_case(f"long output {i}", words, mentions=(name[:20],), outputs=())
    for option in ("--features", "--mask", "--radius", "--aggregation", "--" + "x" * 9000):
        words = ["FeatureMaps", "v.nrrd", "out.nrrd", option, "x" * 100000]
        yield make_option_case(f"long value of {option[:20]}", words, mentions=(option[:20], "x" * 20))
    pattern = lambda name: maps("v.nrrd", name, "--features", "HGRE,SRE")
    right = Case("pattern", pattern("%s.nrrd"), {"v.nrrd": IMAGE}, outputs=("HGRE.nrrd", "SRE.nrrd"))
    outputs = ("HGRE_HGRE.nrrd", "SRE_SRE.nrrd")
    yield Case("%s twice", pattern("%s_%s.nrrd"), {"v.nrrd": IMAGE}, "success", (), outputs, right)
    yield Case("%s as folder", pattern("%s/x.nrrd"), {"v.nrrd": IMAGE}, "error", ("HGRE/x.nrrd",), ())


def make_random_case(folder, key):
    """Some options with absurd values, after or instead of good ones."""
    generator = random.Random(key)
    program, *words = generator.choice((maps, strength))("v.nrrd")
    options = [
        option for option in get_value_options(folder, program) if not re.search("output|object|threads", option)
    ]
    more = []
    for option in generator.sample(options, generator.choice((1, 1, 2, 3))):
        more += [option, generator.choice(generator.choice((NUMBERS, NUMBERS, LISTS, WORDS)))]
    if generator.random() < 0.7:
        words = [word for i, word in enumerate(words) if not {word, words[i - 1]} & set(more[::2])]
    if generator.random() < 0.3:
        more.append("--as-levels" if program == "FeatureMaps" else "--distance-weighting")
    return Case(f"{key} {' '.join(more)}", [program, *words, *more], {"v.nrrd": IMAGE})


def make_cases(number_of_random_cases, seed, folder):
    yield from make_empty_cases(folder)
    yield from make_same_file_cases()
    yield from make_name_cases()
    for i in range(number_of_random_cases):
        yield make_random_case(folder, f"{seed}.{i}")
