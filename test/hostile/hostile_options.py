# Copyright NumFOCUS
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#         https://www.apache.org/licenses/LICENSE-2.0.txt
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Options: empty values, outputs that are inputs, names that are long or strange, absurd numbers."""

import functools
import os
import random
import re
import subprocess

import formats
from judge import PROGRAMS, ROLES, Case

IMAGE = formats.nrrd(formats.make_image())["v.nrrd"]
NUMBERS = (
    "0",
    "1",
    "-1",
    "2.5",
    "nan",
    "inf",
    "1e308",
    "1e-320",
    "1e400",
    "4294967295",
    "4294967296",
    "99999999999999999999",
)
LISTS = (
    "3,3,3",
    "1,1",
    "0,0,0",
    "-1,0,0",
    "4294967296,1,1",
    "1,99999999,1",
    "nan,nan,nan",
    "1e308,-1e308",
    "0,1e-320",
    "6,7,8",
)
WORDS = ("x", " ", "%s%n", "SRE", "all", "merge", "v.nrrd", ".", "\u00fc\n")
BAD_NAMES = ("\n", "a\nb", "ü", b"\xff\xfe", " ", "'", '"', "\\", "%s", "%n%n", "%d", "a" * 250, "-x", "#", ":", "*")
LONG_NAMES = ("a" * 251, "a" * 300, "a/" * 3000)


def get_words(role, image="v.nrrd", output="out.nrrd"):
    names = {"IMAGE": image, "GOOD": "v.nrrd", "SEED": "3,3,0", "out.nrrd": output}
    return [names.get(word, word) for word in ROLES[role].split()]


@functools.lru_cache
def get_value_options(folder, program):
    """The options that have a value, as --help lists them."""
    text = subprocess.run([folder / program, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^ +(?:-\w,)?(--[a-z-]+) [A-Z]+\b", text, re.MULTILINE)


RIGHT = {role: Case("good", get_words(role), {"v.nrrd": IMAGE}) for role in ("maps", "connectedness")}


def make_option_case(name, role, more=(), words=None, **keywords):
    words = words or [*get_words(role), *more]
    return Case(
        f"{name} of {words[0]}", words, {"v.nrrd": IMAGE, **keywords.pop("files", {})}, right=RIGHT[role], **keywords
    )


def make_same_file_cases():
    """Outputs that are inputs or other outputs, by other names."""
    links = {
        "v.nrrd": None,
        "./v.nrrd": None,
        "good/../v.nrrd": None,
        "link.nrrd": lambda root: os.symlink("v.nrrd", root / "link.nrrd"),
        "links/v.nrrd": lambda root: os.symlink(".", root / "links"),
    }
    files = {"good/other": b"", "mask.nrrd": IMAGE}
    for output, prepare in links.items():
        keywords = {"files": files, "expect": "error", "mentions": (output,), "outputs": (), "prepare": prepare}
        for role in ("maps", "connectedness"):
            words = get_words(role, "v.nrrd", output)
            yield make_option_case(f"{output} as output", role, words=words, **keywords)
            words = [*get_words(role, "mask.nrrd", output), "--mask", "v.nrrd"]
            yield make_option_case(f"{output} as mask and output", role, words=words, **keywords)
        words = [*get_words("connectedness", "mask.nrrd", output), "--seed-image", "v.nrrd"]
        yield make_option_case(f"{output} as seeds and output", "connectedness", words=words, **keywords)
        more = ["--object", output, "--threshold", "0.5"]
        yield make_option_case(f"{output} as object", "connectedness", more, **{**keywords, "outputs": ("out.nrrd",)})
    for role in ("maps", "connectedness"):
        # A hard link can be replaced without a change of the input.
        words = get_words(role, output="hard.nrrd")
        keywords = {"outputs": ("hard.nrrd",), "mentions": ("hard.nrrd",), "has_old_result": False}
        keywords["prepare"] = lambda root: os.link(root / "v.nrrd", root / "hard.nrrd")
        yield make_option_case("hard link as output", role, words=words, **keywords)
    for first, second in (
        ("out.nrrd", "./out.nrrd"),
        ("out.nrrd", "sub/../out.nrrd"),
        ("out.mhd", "out.nhdr"),  # both write out.raw
        ("out.hdr", "out.img"),
        ("out.nrrd", "new/out.nrrd"),
    ):
        words = [*get_words("connectedness", output=first), "--object", second, "--threshold", "0.5"]
        keywords = {"outputs": (first,), "expect": "error", "mentions": (second, first), "files": {"sub/x": b""}}
        prepare = (lambda root: os.symlink(".", root / "new")) if second.startswith("new") else None
        yield make_option_case(f"{first} and {second}", "connectedness", words=words, prepare=prepare, **keywords)
    pair = formats.nifti_pair(formats.make_image())
    words = get_words("maps", "v.hdr", "v.img")
    yield Case("data file as output", words, pair, "error", ("v.img",), (), has_old_result=False)
    pair = formats.nrrd_pair(formats.make_image())
    for output in ("v.mhd", "v.nhdr"):
        words = get_words("connectedness", "v.nhdr", output)
        yield Case(f"data file of {output} is an input", words, pair, "error", (output,), (), has_old_result=False)
    series = formats.dicom_folder(formats.make_image(code="H"))
    for name in ("series/00.dcm", "series"):
        words = get_words("connectedness", "series", name)
        yield Case(f"{name} as output", words, series, "error", (name,), (), has_old_result=False)


def make_name_cases():
    """Files of unusual names, missing or there."""
    for i, name in enumerate(BAD_NAMES):
        role = "maps" if i % 2 else "connectedness"
        name = os.fsdecode(name) + ".nrrd"
        if "%s" in name and role == "maps":
            continue
        path = "./" + name if name.startswith("-") else name
        yield make_option_case(
            f"input {name[:20]!r}", role, words=get_words(role, path), files={name: IMAGE}, expect="success"
        )
        yield make_option_case(
            f"output {name[:20]!r}", role, words=get_words(role, output=path), outputs=(name,), expect="success"
        )
        words = [*get_words(role), "--mask", path]
        mentions = (name[:20],) if name.isprintable() else ()
        yield make_option_case(f"missing mask {name[:20]!r}", role, words=words, expect="error", mentions=mentions)
    for i, name in enumerate(LONG_NAMES):
        role = "maps" if i % 2 else "connectedness"
        keywords = {"expect": "error", "mentions": (name[:20],), "outputs": ()}
        yield make_option_case(f"long input {i}", role, words=get_words(role, name + ".nrrd"), **keywords)
        if len(name) > 251:
            yield make_option_case(f"long output {i}", role, words=get_words(role, output=name + ".nrrd"), **keywords)


def make_empty_cases(folder):
    """No option has an empty value, which a variable of a shell script may be."""
    for program, role in zip(PROGRAMS, ("maps", "connectedness", None)):
        for option in get_value_options(folder, program):
            for words in ([option, ""], [option + "="]):
                base = get_words(role) if role else [program, "out.nrrd", "--size", "5,5,5"]
                if option.startswith("--output-"):
                    base.remove("out.nrrd")
                base = [word for i, word in enumerate(base) if option not in (word, base[i - 1])]
                name = f"{option} of {program} {'is empty' if len(words) == 2 else 'is nothing'}"
                yield Case(name, [*base, *words], {"v.nrrd": IMAGE}, "error", (option,))
        for name in ("INPUT", "OUTPUT") if role else ("OUTPUT",):
            words = (
                get_words(role, *["" if name == "INPUT" else "v.nrrd", "" if name == "OUTPUT" else "out.nrrd"])
                if role
                else [program, ""]
            )
            yield Case(
                f"{name} of {program} is empty",
                words,
                {"v.nrrd": IMAGE},
                "error",
                (name, "empty"),
                ("out.nrrd",) if role else (),
            )


def make_random_case(folder, key):
    """Some options with absurd values, after or instead of good ones."""
    generator = random.Random(key)
    role = generator.choice(("maps", "connectedness"))
    words = get_words(role)
    head, tail = words[:3], words[3:]
    options = [
        option for option in get_value_options(folder, words[0]) if option != "--threads" and "output" not in option
    ]
    more = []
    for option in generator.sample(options, generator.choice((1, 1, 2, 3))):
        more += [option, generator.choice(generator.choice((NUMBERS, NUMBERS, LISTS, WORDS)))]
    given = set(more[::2])
    if generator.random() < 0.7:
        tail = [word for i in range(0, len(tail), 2) if tail[i] not in given for word in tail[i : i + 2]]
    flags = {"maps": ("--as-levels", "--crop"), "connectedness": ("--distance-weighting",)}[role]
    more += [generator.choice(flags)] if generator.random() < 0.3 else []
    # An object is one more output.
    outputs = ("out.nrrd",)
    if "--object" in more:
        return make_random_case(folder, key + "'")
    return Case(f"{key} {' '.join(more)}", [*head, *tail, *more], {"v.nrrd": IMAGE}, "either", (), outputs)


def make_cases(number_of_random_cases, seed, folder):
    yield from make_empty_cases(folder)
    yield from make_same_file_cases()
    yield from make_name_cases()
    for i, option in enumerate(("--features", "--mask", "--radius", "--aggregation", "--" + "x" * 9000)):
        base = (
            [word for word in get_words("maps") if word not in (option, "1")]
            if option == "--radius"
            else get_words("maps")[:3]
        )
        words = [*base, option, "x" * 100000]
        yield Case(f"long value of {option[:20]}", words, {"v.nrrd": IMAGE}, "error", (option[:20],))
    pattern = ["RunLengthFeatureMaps", "v.nrrd", "%s_%s.nrrd", "--radius", "1", "--features", "HGRE,SRE"]
    one = Case("pattern", [*pattern[:2], "%s.nrrd", *pattern[3:]], {"v.nrrd": IMAGE}, outputs=("HGRE.nrrd", "SRE.nrrd"))
    yield Case("%s twice", pattern, {"v.nrrd": IMAGE}, "success", (), ("HGRE_HGRE.nrrd", "SRE_SRE.nrrd"), one)
    pattern[2] = "%s/x.nrrd"
    yield Case("%s as folder", pattern, {"v.nrrd": IMAGE}, "error", ("HGRE/x.nrrd",), ())
    for i in range(number_of_random_cases):
        yield make_random_case(folder, f"{seed}.{i}")
