# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The command voxelmaps: maps of an image or of the cases of a table, connectedness, labels, and checks."""

import argparse
import contextlib
import inspect
import json
import math
import os
import pathlib
import re
import signal
import sys
import warnings

from . import _outputs
from ._cohort import tables, workers
from ._files import layouts, paths, uptake
from ._suggestions import did_you_mean

_MAX_THREADS = 4096

# --- Output ------------------------------------------------------------------------------------------------------------


def _printable(text):
    """The text on one line, without anything that a terminal could interpret as a command."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _Console:
    """Lines on standard output and error."""

    def __init__(self):
        # Other files would get the numbers of standard streams that are closed.
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        self.has_failed = self._has_bar = self.has_cases = False
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        # Called with the fraction that is computed; None without a terminal.
        self.progress = self._bar if is_terminal else None

    def _bar(self, fraction):
        self._has_bar = True
        with contextlib.suppress(OSError):
            print(f"\r{fraction:4.0%} |{'#' * int(40 * fraction):40}|", end="", file=sys.stderr, flush=True)

    def remove_bar(self):
        if self._has_bar:
            self._has_bar = False
            with contextlib.suppress(OSError):
                print("\r\033[K", end="", file=sys.stderr, flush=True)

    def line(self, text):
        self.write(_printable(text) + "\n")

    def write(self, text):
        """Write a text to standard output."""
        self.remove_bar()
        try:
            print(text, end="", flush=True)
        except OSError as error:
            # Python would report it again at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            self.has_failed = True
            if isinstance(error, BrokenPipeError):
                raise
            self.error(f"error: standard output: {error.strerror}")

    def error(self, text):
        self.remove_bar()
        with contextlib.suppress(OSError):
            print(f"voxelmaps: {_printable(text)}", file=sys.stderr or sys.stdout, flush=True)

    def fail(self, text):
        """An error that does not end the run."""
        self.has_failed = True
        self.error(text)


# --- Options -----------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(f"{message}; --help lists the options")


def _value(text):
    """A value as in JSON, a list of values with commas, or a text."""
    # Labels are texts in JSON.
    by_label = lambda values: {int(key) if key.isdecimal() else key: value for key, value in values.items()}
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, parse_constant=float, object_hook=by_label)
    constants = {"none": None, "true": True, "false": False, "nan": math.nan}
    if "," in text and text[0] not in "[{":
        return [_value(part.strip()) for part in text.split(",")]
    return constants.get(text.lower(), text)


def _seeds(text):
    """Seeds as in JSON, or the path of a file, whatever its name."""
    value = _value(text)
    if isinstance(value, str) and text.lstrip()[:1] in ("{", "[") and not os.path.exists(text):
        example = "'{\"1\":[30,128,128]}'"
        raise argparse.ArgumentTypeError(f"{text[:100]} is not JSON, in which labels have quotes, such as {example}")
    return value if isinstance(value, (dict, list)) else text


def _labels(text):
    try:
        return tables.parse_labels(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from None


def _threads(text):
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= _MAX_THREADS):
        raise argparse.ArgumentTypeError(f"threads is '{text[:100]}', but must be an integer from 1 to {_MAX_THREADS}")
    return int(text)


def _names(text):
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' has an empty name")
    return names


def _dashed(name):
    """The name of a parameter of Python as an option: bin-width for binWidth or bin_width."""
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<=2D)(?=d)", "-", name).replace("_", "-").lower()


_COMMANDS = {
    "maps": "feature maps as PyRadiomics computes them with voxelBased=True, of one image or of a table",
    "check": "check image files; or with --mask or --jobs what maps or regions would compute, without writing",
    "regions": "values of regions as PyRadiomics computes them with voxelBased=False, with shape, of one image or of a table",
    "describe": "range, gray levels, voxels and memory of feature_maps with these options, and probable mistakes",
    "connect": "fuzzy connectedness: the strength of the connection of every voxel to seeds",
    "labels": "label every voxel with the label to whose seeds it is connected most strongly",
    "ibsi": "compare features and filters with the reference values of the Image Biomarker Standardisation Initiative",
}
# Functions of Python whose keywords are the options of a command; describe has those of feature_maps.
_FUNCTIONS = {"describe": "feature_maps", "connect": "fuzzy_connectedness", "labels": "labels"}
# Results of these functions.
_RESULTS = ("out", "strength", "margin")

# Options with their values, and what they mean.
_SHARED = {
    "--mask MASK": "image with the labels of regions, on the grid of the image, or an RTSTRUCT",
    "--dask ADDRESS": "compute the table on a dask cluster, such as tcp://host:8786, or local for processes on this computer",
    "--params FILE": "PyRadiomics parameter file, YAML or JSON; options override it, except for its settings of an image type",
    "--classes NAMES": "all features of classes, such as glcm,glrlm",
    "--features NAMES": "features, such as glcm_Contrast,ngtdm_Busyness",
    "--setting NAME=VALUE": "any setting of PyRadiomics, such as distances=[1,2]",
    "--bin-width N": "bin width of the intensities (default: 25)",
    "--bin-count N": "number of bins, instead of the bin width",
    "--force2d-dimension N": "axis across the windows of --force2d (default: 0, z)",
    "--force2d": "windows of one slice",
    "--threads N": "threads per case (default: one per processor)",
    "--suv NAME": "convert PET series to SUV per body weight (bw), lean body mass by the formula of Janmahasatian (lbm) or James "
    "(lbm_james), or body surface area by that of Du Bois (bsa)",
    "--verbose": "show the messages of image readers",
}
_OVERWRITE = {
    "--overwrite": "replace results of other settings, images or masks, and files of other programs; never an input"
}
_LABEL = (
    "label of the region in the mask: a number, or the name of a structure, in quotes of its own if it contains a comma (default: 1); "
    "several, such as 1,2,3, or all, have a "
)
_OF_MAPS = {
    **_SHARED,
    "--out FOLDER": "folder for the maps",
    "--jobs TABLE": "CSV file with the columns image, mask, output and optionally label, instead of IMAGE, --mask and --out",
    "--label N": _LABEL + "folder label-N each",
    "--format NAME": "nii.gz, nii or nrrd (default: nii.gz)",
    "--channels NAME": "nnunet: write maps as channels of nnU-Net. The parent of the output folders gets imagesTr with "
    "CASE_0000.nii.gz and so on, labelsTr and dataset.json; CASE is the name of the output folder",
    "--fill N": "value of channels where a feature is undefined (NaN) or infinite (default: 0)",
    "--summary FILE": "CSV file of mean, median, deviation and number of valid voxels of each map in the region, which has "
    "rows of earlier runs, too (default: summary.csv in the output, or TABLE-summary.csv)",
    "--kernel-radius --radius N": "radius of the window in voxels (default: 1)",
    "--precision NAME": "float or double (default: float)",
    **_OVERWRITE,
}
_OPTIONS = {
    "maps": _OF_MAPS,
    "check": {
        **_OF_MAPS,
        "--regions": "check what regions would compute (default for a table without the column output)",
    },
    "regions": {
        **_SHARED,
        "--out FILE": "CSV or JSON file with a row per region, after those of earlier runs of the same settings; FILE.jsonl has what "
        "they come from, and a later run keeps them. - is standard output",
        "--format NAME": "csv or json (default: csv)",
        **_OVERWRITE,
        "--jobs TABLE": "CSV file with the columns image, mask and optionally label, instead of IMAGE and --mask",
        "--label N": _LABEL + "row each",
    },
    "describe": {"--mask MASK": "image that is not 0 inside"},
    "connect": {
        "--mask MASK": "image that is not 0 inside",
        "--seeds SEEDS": "image with seeds, or index of a voxel in the order z, y, x, such as [30,128,128]",
        "--out FILE": "nii.gz, nii or nrrd file",
        **_OVERWRITE,
    },
    "labels": {
        "--mask MASK": "image that is not 0 inside",
        "--seeds SEEDS": "image with seeds, or labels and indices in the order z, y, x as JSON, with quotes: '{\"1\":[30,128,128]}'",
        "--out FILE": "nii.gz, nii or nrrd file",
        "--strength FILE": "file for the strength of the connection to the winning label",
        "--margin FILE": "file for its lead over the strongest other label",
        **_OVERWRITE,
    },
    "ibsi": {
        "--data FOLDER": "copy of github.com/theibsi/data_sets, for the CT phantom",
        "--reference FOLDER": "copy of github.com/theibsi/ibsi_2_reference_data, for complete response maps, and with --data for the "
        "values of phase 2 of IBSI 2",
        "--patients FILE": "write the statistics of phase 3 of IBSI 2, of the patients in --data, to this CSV file",
        "--teams FOLDER": "copy of github.com/theibsi/ibsi_2_data_analysis, whose teams --patients is compared with, with --reference",
        **_OVERWRITE,
    },
}
# Settings of radiomics.execute with options of their own.
_SETTINGS = ("binWidth", "binCount", "kernelRadius", "force2Ddimension", "force2D")
_KEYWORDS = {
    **{f"--{_dashed(name)}": {"dest": name, "type": _value} for name in _SETTINGS},
    "--force2d": {"dest": "force2D", "default": None},
    "--format": {"default": "nii.gz", "dest": "file_format", "choices": layouts.FORMATS},
    "--channels": {"choices": ("nnunet",)},
    "--fill": {"default": 0.0, "type": float},
    "--classes": {"type": _names},
    "--features": {"type": _names},
    "--label": {"type": _labels},
    "--seeds": {"type": _seeds},
    "--setting": {"default": [], "action": "append"},
    "--suv": {"choices": tuple(uptake.KINDS)},
    "--precision": {"default": "float", "choices": ("float", "double")},
    "--threads": {"type": _threads},
}


# How values of types are written, by the beginnings of the types in docstrings.
_METAVARS = {
    "{": "NAME",
    "int": "N",
    "float": "X",
    "list of float": "X,X,X",
    "point": "JSON",
    "dict": "JSON",
    "array": "FILE",
}
_EXAMPLES = {
    "seed_points": """In JSON, with quotes: '{"1":[10.5,-20,30]}'.""",
    "object_mean": """In JSON, with quotes: '{"1":40,"2":120}'.""",
}


def _add_keywords(parser, command):
    """Add the keywords of a function as options, with their documentation, which python -OO does not have."""
    import voxelmaps

    from ._parameters import documented

    function = getattr(voxelmaps, _FUNCTIONS[command])
    entries = documented(function.__doc__)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY or name in (*_RESULTS, "components_axis", "progress"):
            continue
        _, kind, text = entries.get(name, ("", f"value, default {parameter.default}", ""))
        values = (
            kind.removesuffix(", optional")
            .removesuffix(", default None")
            .replace('"', "")
            .replace("default ", "default: ")
        )
        text = " ".join(
            [*text.split(), _EXAMPLES[name]] if name in _EXAMPLES and "dict" in kind + name else text.split()
        )
        keywords = {"dest": name, "default": argparse.SUPPRESS}
        if isinstance(parameter.default, bool):
            keywords["action"] = argparse.BooleanOptionalAction
            values = f"default: {'on' if parameter.default else 'off'}"
        else:
            metavars = (word for start, word in _METAVARS.items() if kind.startswith(start))
            keywords.update(type=_value, metavar=next(metavars, "VALUE"))
        text = f"{text[:1].lower()}{text[1:].removesuffix('.')} [{values}]".replace("%", "%%").strip()
        parser.add_argument(f"--{_dashed(name)}", help=text, **keywords)


def _parser(command):
    """The parser of the command. Only the options of the one that is called are made: some need NumPy."""
    parser = _Parser(
        prog="voxelmaps",
        description="Texture feature maps, fuzzy connectedness and labels of medical images. voxelmaps COMMAND --help lists the options.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in _COMMANDS.items():
        usage = f"voxelmaps {name} [options]" + " IMAGE" * (name != "ibsi") + " ..." * (name == "check")
        one = commands.add_parser(name, help=text, description=text, usage=usage, allow_abbrev=False)
        if name != command:
            continue
        images = None if name in _FUNCTIONS else "*" if name == "check" else "?"
        if name != "ibsi":
            one.add_argument("image", nargs=images, metavar="IMAGE", help="image, or folder with a DICOM series")
        for option, meaning in _OPTIONS[name].items():
            *names, metavar = option.split() if " " in option else (option, None)
            keywords = {"metavar": metavar} if metavar else {"action": "store_true"}
            if (name, option) == ("regions", "--format NAME"):
                keywords.update(choices=("csv", "json"), dest="table_format", default="csv")
            else:
                keywords.update(_KEYWORDS.get(names[0], {}))
            one.add_argument(*names, help=meaning, **keywords)
        if name in _FUNCTIONS:
            _add_keywords(one, name)
    parser.commands = commands.choices
    return parser


def _check_given(name, value):
    if not value:
        raise ValueError(f"{name} is {'empty' if value == '' else 'missing; --help lists the options'}")


# --- Commands ----------------------------------------------------------------------------------------------------------


def _call(options, console):
    """Call a function with the keywords that are given as options."""
    import numpy as np
    import voxelmaps

    from . import _image
    from ._files import writing

    own = ("command", "version", "image", "mask", "seeds", "overwrite", *_RESULTS)
    keywords = {name: value for name, value in vars(options).items() if name not in own}
    if options.command == "describe":
        image = _image.load(options.image, "the image")[0]
        for line in str(voxelmaps.describe(image, options.mask, **keywords)).splitlines():
            console.line(line)
        return
    _check_given("--out", options.out)
    written = {name: pathlib.Path(getattr(options, name)) for name in _RESULTS if getattr(options, name, None)}
    for name, path in written.items():
        if not path.name.endswith((".nii.gz", ".nii", ".nrrd")):
            raise ValueError(f"--{name} {path} ends in neither .nii.gz, .nii nor .nrrd")
    read = [("the image", options.image), ("the mask", options.mask), ("the seeds", options.seeds)]
    read.append(("the segmentation", keywords.get("refine")))
    files = [(f"the file of --{name}", path) for name, path in written.items()]
    _outputs.check_inputs([one for one in read if isinstance(one[1], str)], (), files)
    read = [path for _, path in read if isinstance(path, str)]
    newest = max((time for path in read for _, time in _outputs.states(path).values()), default=0)
    for path in written.values() if not options.overwrite else ():
        # What is older than an input is not what would be written.
        if (_outputs.state(path) or [0, newest])[1] < newest:
            _outputs.check_file(path, "--overwrite")
    keywords.update((name, True) for name in written if name != "out")
    keywords["progress"] = console.progress
    image = _image.load(options.image, "the image")[0]
    result = getattr(voxelmaps, _FUNCTIONS[options.command])(image, options.seeds, options.mask, **keywords)
    volumes = {
        name: getattr(result, "labels" if name == "out" else name) if len(written) > 1 else result for name in written
    }
    with contextlib.ExitStack() as stack:
        folders = []
        for name, path in written.items():
            folders.append(stack.enter_context(paths.output_folder(path.parent)))
            writing.write_image(volumes[name], path, folders[-1])
        for path, staged in () if options.overwrite else [each for one in folders for each in one.files.items()]:
            _outputs.check_file(path, "--overwrite", staged)
        for folder in folders:
            folder.publish()
    for name, path in written.items():
        array = volumes[name].array
        is_labels = options.command == "labels" and name == "out"
        text = f"{len(np.unique(array))} values" if is_labels else f"from {array.min():.6g} to {array.max():.6g}"
        console.line(f"{path}: {array.size} voxels, {text}")


def _settings(options):
    """Settings from options, as keywords of voxelmaps.radiomics.execute."""
    settings = {name: getattr(options, name) for name in _SETTINGS if getattr(options, name, None) is not None}
    for text in options.setting:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--setting {text} must be NAME=VALUE, such as distances=[1,2]")
        if name in settings or name == "label" and options.label is not None:
            raise ValueError(f"setting {name} is given twice")
        settings[name] = _value(value)
    if {"binWidth", "binCount"} <= settings.keys():
        raise ValueError("--bin-width and --bin-count exclude each other")
    if "binWidth" in settings:
        # Otherwise, that of the parameter file would be used.
        settings["binCount"] = None
    classes = dict.fromkeys(options.classes or [])
    for name in options.features or []:
        class_name, underscore, feature = name.removeprefix("original_").partition("_")
        if not underscore:
            raise ValueError(f"--features has {name}, but must have names such as glcm_Contrast")
        if classes.setdefault(class_name, []) is None:
            raise ValueError(f"--features has {name}, but --classes has all features of {class_name}")
        classes[class_name].append(feature)
    return {**settings, "featureClass": classes} if classes else settings


def _cases(options, console, **names):
    """The cases, from the table or from the options with these names."""
    given = {name: getattr(options, option.strip("-").lower()) for name, option in names.items()}
    if options.jobs is None:
        if options.dask is not None:
            raise ValueError("--dask needs a table, --jobs")
        for name, value in given.items():
            _check_given(names[name], value)
        places = {"output": pathlib.Path(), **{name: pathlib.Path(value) for name, value in given.items()}}
        return [tables.Case(given, **places, labels=options.label)]
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{names[name]} {value} and --jobs exclude each other")
    cases, unused = tables.read_cases(options.jobs, tuple(given))
    if unused:
        listed = ", ".join(unused[:20] + ["..."] * (len(unused) > 20))
        console.error(f"note: columns of {options.jobs} that are not copied: {listed}")
    if options.label is not None and any(case.labels is not None for case in cases):
        raise ValueError(f"--label and the column label of {options.jobs} exclude each other")
    return [case._replace(labels=case.labels or options.label) for case in cases]


def _task(options, **own):
    threads = options.threads or (1 if options.dask == "local" else 0)
    given = {name: getattr(options, name, None) for name in workers.Task._fields}
    return workers.Task(**{**given, "settings": json.dumps(_settings(options)), "threads": threads, **own})


def _computed_here(worker, task, cases, progress):
    """Compute all cases; yields the number of each, its outcomes, and lines of the log."""
    for number, case in enumerate(cases):
        show = progress and (lambda fraction: progress((number + fraction) / len(cases)))
        try:
            yield number, *worker.call(workers.compute, task, case, show=show)
        except KeyboardInterrupt:
            worker.end()
            case.remove_incomplete_files()
            raise
        except RuntimeError as error:
            case.remove_incomplete_files()
            yield number, [tables.Outcome(case, case.labels, error=str(error))], []


def _outcomes(cases, task, options, console, worker, text, finish, what, record=lambda outcome: None):
    """Compute or check all cases, and print how they end. Returns their outcomes.

    text      Function of an outcome that returns what its line says.
    finish    Called with all outcomes, also of a run that is ended.
    what      What outcomes with errors are called in the line that counts them.
    record    Called with each outcome.
    """
    if options.dask is None:
        results = _computed_here(worker, task, cases, console.progress)
    else:
        worker.end()
        results = workers.outcomes_of_dask(options.dask, task, cases)
    found, console.has_cases = {}, True
    try:
        for number, outcomes, lines in results:
            found[number] = outcomes
            place = f"[{number + 1}/{len(cases)}] " if len(cases) > 1 else ""
            for line in lines:
                console.error(f"{place}{cases[number].title()}: {line}")
            for one in outcomes:
                record(one)
                show = console.line if one.error is None else console.error
                show(f"{place}{one.case.title()}: {text(one) if one.error is None else one.error}")
    finally:
        results.close()
        every = []
        for number, case in enumerate(cases):
            if number not in found and options.dask == "local":
                case.remove_incomplete_files()
            ended = tables.Outcome(case, case.labels, error="not computed: the run was ended")
            every += found.get(number, [ended])
        finish(every)
    failed = sum(one.error is not None for one in every)
    console.has_failed |= failed > 0
    if failed and len(every) > 1:
        console.error(f"{failed} of {len(every)} {what}")
    return every


def _check_folder(name, path):
    if path is not None and not pathlib.Path(path).absolute().parent.is_dir():
        raise ValueError(f"--{name} {path} is in a folder that does not exist")


def _text(outcome, is_dry_run):
    """What the line of a case says."""
    text = f"{len(outcome.maps)} map{'s' * (len(outcome.maps) != 1)}{' (kept)' * (outcome.kept > 0 and not is_dry_run)}"
    text += f" of {outcome.mask_voxels} voxels"
    if not is_dry_run:
        return f"{text} in {outcome.case.given['output']}, {outcome.seconds:.1f} s"
    if outcome.kept:
        return f"finished, {text}"
    if outcome.levels == 1:
        return f"{text}, 1 gray level, so that there is no texture: choose another width of bins"
    return f"{text}, {outcome.levels} gray levels" if outcome.levels else text


def _maps(options, console, worker):
    task = _task(options, is_dry_run=options.command == "check")
    if task.is_dry_run and options.dask is not None:
        raise ValueError("check and --dask exclude each other")
    if task.channels and task.file_format == "nii":
        raise ValueError("--channels nnunet is for files of nii.gz or nrrd, not nii")
    if not math.isfinite(task.fill):
        raise ValueError(f"--fill is {task.fill}, but must be finite")
    if task.fill != 0 and not task.channels:
        raise ValueError(f"--fill is {task.fill:g}, but has no effect without --channels")
    # The process starts while the table is read.
    prepared = worker.submit(workers.prepare, task)
    _check_folder("summary", options.summary)
    cases = _cases(options, console, image="IMAGE", mask="--mask", output="--out")
    if task.channels and len({case.output.absolute().parent for case in cases}) > 1:
        raise ValueError("--channels nnunet: all outputs must be in one folder, such as dataset/case1")
    table = pathlib.Path(options.jobs or "")
    summary = table.with_name(f"{table.stem}-summary.csv") if options.jobs else cases[0].output / "summary.csv"
    summary = pathlib.Path(options.summary or summary)
    keys, lines = worker.result(prepared)
    if task.channels:
        layouts.check_dataset(cases[0].dataset(), keys, {case.name() for case in cases}, task.file_format)
    for line in lines:
        console.error(line)

    def names(case):
        layout = layouts.layout(task.file_format, keys, task.channels, task.fill, case)
        return [*layout.names(), paths.PROVENANCE]

    read = [("the table", options.jobs), ("the parameter file", options.params)]
    tables.check_outputs(cases, names, read, [("the summary", summary)])

    table = tables.summary(summary, cases, task.overwrite, options.summary is None)

    def finish(outcomes):
        # A single case that failed leaves its folder as it was.
        if not task.is_dry_run and (len(cases) > 1 or any(one.error is None for one in outcomes)):
            table.write(list(tables.summary_rows(outcomes)), console.write)

    text = lambda outcome: _text(outcome, task.is_dry_run)
    what = "cases would fail" if task.is_dry_run else "cases failed"
    outcomes = _outcomes(cases, task, options, console, worker, text, finish, what)
    good = [one for one in outcomes if one.error is None]
    if not task.channels or not good or task.is_dry_run:
        return
    for other in good:
        if list(other.maps) != list(good[0].maps):
            names = f"{other.case.title()} has other channels than {good[0].case.title()}"
            console.fail(f"error: {names}: an image is too small for a filter")
    layouts.write_dataset(good[0].case.dataset(), list(good[0].maps), task.file_format)
    console.error(f"note: channels have {task.fill:g} where a feature is undefined (NaN) or infinite; --fill sets it")


def _regions(options, console, worker):
    is_dry_run = options.command == "check"
    _check_given("--out", options.out)
    out = None if options.out == "-" or is_dry_run else pathlib.Path(options.out)
    cases = _cases(options, console, image="IMAGE", mask="--mask")
    read = [("the table", options.jobs), ("the parameter file", options.params)]
    read += [(f"the {what}", getattr(case, what)) for case in cases for what in ("image", "mask")]
    written = [("the output", out), ("the records", out.with_name(f"{out.name}.jsonl"))] if out else []
    _outputs.check_inputs(read, files=written)
    _check_folder("out", out)
    task = _task(options, precision="double", file_format="regions", is_dry_run=is_dry_run)
    prepared = worker.submit(workers.prepare, task)
    table = tables.Regions(out, getattr(options, "table_format", "csv"), cases, task.overwrite)
    origin, lines = worker.result(prepared)
    for line in lines:
        console.error(line)
    show = console.write
    if out is None and not is_dry_run:
        console.line = console.error
    finish = lambda outcomes: is_dry_run or table.write(outcomes, show)
    number = lambda one: len(one.maps) - ("segment" in one.maps)
    values = (
        lambda one: f"{number(one)} value{'s' * (number(one) != 1)}{' (kept)' * one.kept} of {one.mask_voxels} voxels"
    )
    text = lambda one: values(one) + f", {one.seconds:.1f} s" * (not is_dry_run)
    what = "regions would fail" if is_dry_run else "regions failed"
    _outcomes(table.known(cases, origin), task, options, console, worker, text, finish, what, table.append)


def _check(options, console, worker):
    """Check image files, or what maps would compute."""
    if not options.image or options.mask is not None or options.jobs is not None:
        if len(options.image) > 1:
            raise ValueError(f"--mask {options.mask} is for one IMAGE, but {len(options.image)} are given")
        options.image = next(iter(options.image), None)
        if options.regions or options.jobs is not None and not tables.has_outputs(options.jobs):
            for name in ("--summary", "--channels", "--out"):
                if getattr(options, name[2:]) is not None:
                    raise ValueError(f"{name} {getattr(options, name[2:])} has no effect on values of regions")
            options.out = "-"
            _regions(options, console, worker)
            return
        if not options.jobs and options.out is None:
            # Nothing can be said of what is there.
            options.out, options.overwrite = ".", True
        _maps(options, console, worker)
        return
    for path in options.image:
        try:
            console.line(f"{path}: {worker.call(workers.check_image, path, options.suv)}")
        except Exception as error:
            console.fail(f"{path}: {paths.one_line(error)}")


def _ibsi(options, console):
    """Print the table of the values that agree with IBSI's, and those that do not."""
    from ._ibsi import benchmark, patients

    needs = {"patients": ["data"], "teams": ["patients", "reference"]}
    for name, others in needs.items():
        missing = [f"--{other}" for other in others if not getattr(options, other)]
        if getattr(options, name) and missing:
            raise ValueError(f"--{name} {getattr(options, name)} needs {' and '.join(missing)}, too")
    path = options.patients and pathlib.Path(options.patients)
    if path:
        if path.suffix.lower() != ".csv":
            raise ValueError(f"--patients {path} is a table: give it the ending .csv")
        if not options.overwrite:
            _outputs.check_file(path, "--overwrite")
        scans = patients.scans_of(options.data)
        teams = patients.Teams(options.teams, options.reference, scans) if options.teams else None
        paths.check_replaceable(path)
    lines, failures = benchmark.table(benchmark.rows(options.data, options.reference))
    for line in lines:
        console.line(line)
    for failure in failures:
        console.fail(failure)
    if path:
        values = patients.compute(scans, path, console.progress)
        number, count = len(scans), len({patient for patient, *_ in scans})
        of = f"{number} scan{'s' * (number != 1)} of {count} patient{'s' * (count != 1)}"
        console.line(f"{path}: {values.size} statistics of {of}, of which {(values == values).sum()} are defined")
        lines, differences = benchmark.table(teams.rows(values), "agree with teams") if teams else ([], [])
        for line in lines:
            console.line(line)
        # Teams are no reference.
        for difference in differences:
            console.error(difference)


# --- The program -------------------------------------------------------------------------------------------------------


def _run(arguments, console):
    # Parameters of Python are also options in their own spelling.
    arguments = [re.sub("^--[A-Za-z0-9_]+", lambda name: f"--{_dashed(name[0][2:])}", one) for one in arguments]
    first = arguments[0] if arguments else "--help"
    is_path = os.path.exists(first) or any(mark in first for mark in (".", os.sep))
    if first not in _COMMANDS and (is_path or first[:2] == "--" and first not in ("--help", "--version")):
        arguments.insert(0, "maps")
    if first == "--version":
        import voxelmaps

        console.line(f"voxelmaps {voxelmaps.__version__}")
        return
    parser = _parser(next(iter(arguments), None))
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        similar = did_you_mean(unknown[0].partition("=")[0], parser.commands[options.command]._option_string_actions)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{similar}")
    if options.command == "ibsi":
        _ibsi(options, console)
        return
    if options.command in _FUNCTIONS:
        _call(options, console)
        return
    worker = workers.Worker(options.verbose, options.threads or 0)
    try:
        {"maps": _maps, "check": _check, "regions": _regions}[options.command](options, console, worker)
    finally:
        worker.end()


def main(arguments):
    """Run the command with its arguments. Returns its exit code."""
    console = _Console()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: console.error(f"warning: {message}")
            _run(arguments, console)
        return int(console.has_failed)
    except KeyboardInterrupt as ended:
        number = ended.args[0] if ended.args else signal.SIGINT
        console.error(f"ended by {signal.Signals(number).name}{'; finished cases are kept' * console.has_cases}")
        return 128 + number
    except BrokenPipeError:
        return 1
    except Exception as error:
        console.error(f"error: {paths.one_line(error)}")
        return 1


def _end(number, _):
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def program():
    """Run the program voxelmaps. Returns its exit code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What the parent process ignores, as nohup does, stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    return main(sys.argv[1:])


def maps():
    """Run the program TextureFeatureMaps, which is voxelmaps maps."""
    sys.argv.insert(1, "maps")
    return program()
