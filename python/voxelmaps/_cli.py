# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The program TextureFeatureMaps: PyRadiomics' voxel-based feature maps of one image, or of the cases of a table."""

import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import sys
import time

from ._cohort import processes, tables
from ._files import layouts
from ._cohort.tables import check_outputs, read_cases

_NAME = "TextureFeatureMaps"

# As in voxelmaps.feature_maps, which is imported by the worker only.
_MAX_THREADS = 4096

# --- Output ------------------------------------------------------------------------------------------------------------


def _open_closed_streams():
    """Other files would take the numbers of standard streams that are closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _printable(text):
    """The text on one line, without anything that a terminal could take for a command."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _Console:
    """Lines on standard output and error, and a progress bar on a terminal."""

    _BAR = 30

    def __init__(self):
        _open_closed_streams()
        for stream in filter(None, (sys.stdout, sys.stderr)):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._has_bar = False
        self.has_failed = False

    def progress(self, part, text):
        if self._is_terminal:
            filled = int(part * self._BAR)
            line = f"[{'#' * filled}{'.' * (self._BAR - filled)}] {100 * part:3.0f} % {_printable(text)}"
            # A line that wraps could not be replaced.
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            self._show(line[: columns - 1] + "\x1b[K")
            self._has_bar = True

    def clear(self):
        if self._has_bar:
            self._show("\x1b[K")
            self._has_bar = False

    @staticmethod
    def _show(text):
        # The terminal may be gone.
        with contextlib.suppress(OSError):
            sys.stderr.write("\r" + text)
            sys.stderr.flush()

    def line(self, text):
        self.clear()
        if sys.stdout is None:
            return
        try:
            print(_printable(text), flush=True)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.drop_output()
            self.error(f"error: standard output: {error.strerror}")

    def drop_output(self):
        """Nobody reads the output, or it cannot be written. Python would say so again when it ends."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        self.has_failed = True

    def fail(self, text):
        """An error that does not end the run."""
        self.has_failed = True
        self.error(text)

    def error(self, text):
        self.clear()
        with contextlib.suppress(OSError):
            print(f"{_NAME}: {_printable(text)}", file=sys.stderr or sys.stdout, flush=True)


# --- Arguments ---------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(f"{message}; --help lists the options")


class _Version(argparse.Action):
    def __call__(self, parser, *_):
        # Slow to import.
        import importlib.metadata

        print(f"{_NAME} {importlib.metadata.version('voxelmaps')}")
        parser.exit()


def _value(text):
    """The value of a setting: as in JSON, or a text."""
    # The program starts without NumPy.
    from .radiomics._settings import parse_integer

    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, parse_constant=float, parse_int=parse_integer)
    constants = {"none": None, "true": True, "false": False, "nan": math.nan}
    return constants.get(text.lower(), text)


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


def _parser():
    parser = _Parser(
        prog=_NAME,
        description="Computes the feature maps that PyRadiomics computes with voxelBased=True, and writes each to a file such as "
        "original_glcm_Contrast.nii.gz, with a file provenance.json that records input and settings. Files of an earlier run with "
        "the same input and settings are reused.",
        allow_abbrev=False,
    )
    parser.add_argument("image", nargs="?", metavar="IMAGE", help="image, or folder with a DICOM series")
    parser.add_argument("--mask", metavar="MASK", help="image with the labels of regions, on the grid of the image")
    parser.add_argument("--out", metavar="FOLDER", help="folder for the maps")
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="nii.gz, nii, nrrd, or zarr for one store maps.zarr with all maps (default: nii.gz)",
    )
    parser.add_argument(
        "--channels",
        metavar="nnunet",
        help="name the maps as channels of nnU-Net: CASE_0000.nii.gz and so on, where CASE is the name of the folder",
    )
    parser.add_argument(
        "--save-images",
        action="store_true",
        help="also write the images that maps are computed from, such as wavelet-LLH.nii.gz, cropped like the maps",
    )
    parser.add_argument(
        "--jobs",
        metavar="TABLE",
        help="CSV file with the columns image, mask, output and optionally label, instead of IMAGE, --mask and --out",
    )
    parser.add_argument(
        "--shard",
        metavar="I/N",
        help="compute only part I of N of the table (default in a SLURM job array: the part of the task)",
    )
    parser.add_argument(
        "--merge",
        action="store_true",
        help="merge the summaries of all shards, without computing maps",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="compute the cases of the table on a dask cluster, such as tcp://host:8786, or local for processes on this computer",
    )
    parser.add_argument(
        "--summary",
        metavar="FILE",
        help="CSV file of mean, median, deviation and number of valid voxels of each map in the region (default: summary.csv in "
        "the output, or TABLE-summary.csv)",
    )
    parser.add_argument(
        "--summary-format",
        choices=("long", "wide"),
        default="long",
        metavar="NAME",
        help="long for one line per map, or wide for one line per case, with columns such as original_glcm_Contrast_mean "
        "(default: long)",
    )
    parser.add_argument("--log", metavar="FILE", help="append one line of JSON per case to this file")
    group = parser.add_argument_group(
        "what is computed", "Options override the parameter file, except for its settings of an image type."
    )
    group.add_argument("--params", metavar="FILE", help="PyRadiomics parameter file, YAML or JSON")
    group.add_argument(
        "--classes", type=_names, metavar="NAMES", help="all features of these classes, such as glcm,glrlm"
    )
    group.add_argument(
        "--features", type=_names, metavar="NAMES", help="features, such as glcm_Contrast,glrlm_RunEntropy"
    )
    for option, setting, text in (
        ("--bin-width", "binWidth", "bin width of the intensities (default: 25)"),
        ("--bin-count", "binCount", "number of bins, instead of the bin width"),
        ("--radius", "kernelRadius", "radius of the window in voxels (default: 1)"),
        ("--force2d-dimension", "force2Ddimension", "axis across the windows of --force2d (default: 0, z)"),
    ):
        group.add_argument(option, dest=setting, type=_value, metavar="N", help=text)
    group.add_argument(
        "--label",
        type=_labels,
        metavar="N",
        help="label of the region in the mask (default: 1); with several, such as 1,2,3, or all, each has a folder label-N",
    )
    group.add_argument("--force2d", dest="force2D", action="store_const", const=True, help="windows of one slice")
    group.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any setting of PyRadiomics, such as distances=[1,2]",
    )
    group.add_argument("--precision", default="float", help="float or double (default: float)")
    parser.add_argument(
        "--threads", type=_threads, default=0, metavar="N", help="threads per case (default: one per processor)"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check all files and the parameters, and report what would be computed, without computing or writing anything",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="read the files of finished cases again instead of relying on their sizes and times",
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="remove maps that runs with other settings have left in the folders, unless the files were modified",
    )
    parser.add_argument("--verbose", action="store_true", help="show the messages of image readers")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    return parser


_SHORT_OPTIONS = ("binWidth", "binCount", "kernelRadius", "force2D", "force2Ddimension")


def _settings(options):
    """Settings from options, as keywords of voxelmaps.radiomics.execute."""
    settings = {name: getattr(options, name) for name in _SHORT_OPTIONS if getattr(options, name) is not None}
    for text in options.setting:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--setting {text} must be NAME=VALUE, such as distances=[1,2]")
        if name in settings:
            raise ValueError(f"setting {name} is given twice")
        settings[name] = _value(value)
    if options.label is not None:
        if "label" in settings:
            raise ValueError("setting label is given twice")
        if options.label != "all" and len(options.label) == 1:
            (settings["label"],) = options.label
    if "featureClass" in settings or "imageType" in settings:
        raise ValueError("features are chosen by --classes and --features, image types by --params")
    classes = {name: None for name in options.classes or []}
    for name in options.features or []:
        class_name, underscore, feature = name.removeprefix("original_").partition("_")
        if not underscore:
            raise ValueError(f"--features has {name}, but must have names such as glcm_Contrast")
        if classes.setdefault(class_name, []) is None:
            raise ValueError(f"--features has {name}, but --classes has all features of {class_name}")
        classes[class_name].append(feature)
    if classes:
        settings["featureClass"] = classes
    return settings


def _cases(options, console):
    """The cases, and the path of the summary."""
    for name, path in (("--summary", options.summary), ("--log", options.log)):
        if path is not None and not pathlib.Path(path).absolute().parent.is_dir():
            raise ValueError(f"{name} {path} is in a folder that does not exist")
    single = {"IMAGE": options.image, "--mask": options.mask, "--out": options.out}
    several = (
        options.label if options.label is not None and (options.label == "all" or len(options.label) > 1) else None
    )
    if options.jobs is not None:
        for name, value in single.items():
            if value is not None:
                raise ValueError(f"{name} {value} and --jobs exclude each other")
        cases, unused = read_cases(options.jobs)
        if unused:
            names = ", ".join(unused[:20] + ["..."] * (len(unused) > 20))
            console.error(f"note: columns of {options.jobs} that are not used: {names}")
        if options.label is not None and any(case.labels is not None for case in cases):
            raise ValueError(f"--label and the column label of {options.jobs} exclude each other")
        if several is not None:
            cases = [case._replace(labels=several) for case in cases]
        table = pathlib.Path(options.jobs)
        return cases, pathlib.Path(options.summary or table.with_name(f"{table.stem}-summary.csv"))
    for name, value in (("--shard", options.shard), ("--dask", options.dask), ("--merge", options.merge or None)):
        if value is not None:
            raise ValueError(f"{name} needs a table, --jobs")
    for name, value in single.items():
        if value is None:
            raise ValueError(f"{name} is missing; --help lists the options")
        if not value:
            raise ValueError(f"{name} is empty")
    given = {"image": options.image, "mask": options.mask, "output": options.out}
    paths = {name: pathlib.Path(value) for name, value in given.items()}
    case = tables.Case(given, **paths, labels=several)
    return [case], pathlib.Path(options.summary or case.output / "summary.csv")


def _slurm_shard():
    """The shard of a task of a SLURM job array, or None if this is none."""
    names = ("ID", "COUNT", "MIN", "MAX", "STEP")
    texts = {name: os.environ.get(f"SLURM_ARRAY_TASK_{name}") for name in names}
    if texts["ID"] is None or texts["COUNT"] is None:
        return None
    try:
        values = {name: int(text) for name, text in texts.items() if text is not None}
    except ValueError:
        raise ValueError("the variables SLURM_ARRAY_TASK_... are not integers; give --shard I/N") from None
    first, step = values.get("MIN", 0), values.get("STEP", 1)
    number, rest = divmod(values["ID"] - first, max(step, 1))
    has_holes = values.get("MAX", first + (values["COUNT"] - 1) * step) != first + (values["COUNT"] - 1) * step
    if rest or has_holes or not 0 <= number < values["COUNT"]:
        raise ValueError(f"the task {values['ID']} is of a SLURM job array with gaps; give --shard I/N")
    return tables.Shard(number + 1, values["COUNT"])


def _shard(options, console):
    """The shard that is computed, or None for the whole table."""
    if options.jobs is None:
        return None
    if options.shard is not None:
        try:
            return tables.parse_shard(options.shard)
        except ValueError as error:
            raise ValueError(f"argument --shard: {error}") from None
    shard = _slurm_shard()
    if shard is not None:
        console.error(f"note: this task of a SLURM job array computes the shard {shard.number}/{shard.count}")
    return shard


def _merge(options, console):
    """Make one summary of those of all shards. Returns whether all cases have maps."""
    if options.jobs is None:
        raise ValueError("--merge needs a table, --jobs")
    allowed = ("jobs", "summary", "summary_format", "merge", "image", "mask", "out")
    default = _parser().parse_args([])
    for name, value in vars(options).items():
        if name not in allowed and value != getattr(default, name):
            raise ValueError(
                f"--merge computes nothing; it goes with --jobs and --summary only, not with a value of {name}"
            )
    cases, summary = _cases(options, console)
    check_outputs(cases, (), [("the table", options.jobs)], [("the summary", summary)])
    shards, failed = tables.merge_summaries(summary, cases, options.summary_format == "wide")
    console.line(f"{summary}: {len(cases)} cases of {shards} shards")
    if failed:
        console.error(f"{failed} of their labels and cases failed")
    return not failed


# --- Cases -------------------------------------------------------------------------------------------------------------


class _Ended(BaseException):
    """A signal that ends the program."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def _signals_raise():
    """Signals that end the program raise _Ended, once."""

    def end(number, frame):
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise _Ended(number)

    # What the parent process ignores, as nohup does, stays ignored.
    previous = {number: signal.getsignal(number) for number in _SIGNALS}
    caught = [number for number, handler in previous.items() if handler is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, previous[number])


class _Log:
    """A file with one line of JSON per case."""

    def __init__(self, path, console):
        self._path, self._console = path, console

    def add(self, outcome, case_of):
        """Append a line, at once, so that other runs can append theirs."""
        if self._path is None:
            return
        is_error = isinstance(outcome.result, Exception)
        content = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "case": case_of,
            **outcome.case.given,
            "label": outcome.case.label if is_error else outcome.result.label,
            "status": "failed" if is_error else "done",
            "maps": 0 if is_error else len(outcome.result.maps),
            "kept": 0 if is_error else outcome.result.kept,
            "mask_voxels": None if is_error else outcome.result.mask_voxels,
            "seconds": round(outcome.seconds, 3),
            "error": str(outcome.result) if is_error else None,
        }
        line = (json.dumps(content) + "\n").encode()
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._console.fail(f"error: {self._path}: {error.strerror}")


def _outcomes(cases, worker, console):
    """Compute all cases; yields the number of each and its outcomes."""

    def on_progress(case, part, text):
        console.progress(part, f"{_place(number, cases)}{case.title()} {text}")

    def on_log(case, text):
        console.error(f"{_place(number, cases)}{case.title()}: {text}")

    try:
        for number, case in enumerate(cases):
            following = cases[number + 1] if number + 1 < len(cases) else None
            for outcome in worker.outcomes(case, following, on_progress, on_log):
                yield number, outcome
    except BaseException:
        worker.end()
        raise


def _place(number, cases):
    return f"[{number + 1}/{len(cases)}] " if len(cases) > 1 else ""


def _say(console, place, outcome):
    """Print the line of a case."""
    title, result = f"{place}{outcome.case.title()}", outcome.result
    if isinstance(result, Exception):
        console.error(f"{title}: {result}")
        return
    kept = f" ({result.kept} of them kept)" if result.kept else ""
    console.line(
        f"{title}: {len(result.maps)} maps{kept} of {result.mask_voxels} voxels in {outcome.case.given['output']}, "
        f"{outcome.seconds:.1f} s"
    )


def _with_those_not_computed(cases, found):
    """Pairs of all cases and their results, in the order of the table."""
    ended = processes.CaseError("not computed: the run was ended")
    for case, outcomes in zip(cases, found):
        yield from ((outcome.case, outcome.result) for outcome in outcomes)
        if not outcomes or not outcomes[-1].is_last:
            computed = {outcome.case.label for outcome in outcomes}
            yield from ((part, ended) for part in case.parts() if case.has_all_labels or part.label not in computed)


def _size(number_of_bytes):
    megabytes = number_of_bytes / 1e6
    return f"{megabytes / 1000:.3g} GB" if megabytes >= 1000 else f"{megabytes:.3g} MB"


def _check_cases(cases, outcomes, console):
    """Say what would be computed. Returns whether no case would fail."""
    results = []
    for number, outcome in outcomes:
        title, result = f"{_place(number, cases)}{outcome.case.title()}", outcome.result
        results.append(result)
        if isinstance(result, Exception):
            console.error(f"{title}: {result}")
        elif result.kept:
            console.line(f"{title}: finished, {result.kept} maps of {result.mask_voxels} voxels")
        else:
            levels = f", {result.levels} gray levels" if result.levels > 1 else ""
            if result.levels == 1:
                levels = ", 1 gray level, so that there is no texture: choose another width of bins"
            size = f"{_size(result.map_bytes)} before compression"
            console.line(f"{title}: {result.maps} maps of {result.mask_voxels} voxels, {size}{levels}")
    good = [result for result in results if not isinstance(result, Exception)]
    console.line(
        f"total: {sum(result.maps for result in good)} maps of {len(good)} of {len(results)} cases, "
        f"{_size(sum(result.map_bytes for result in good))} before compression"
    )
    if len(good) < len(results):
        console.error(f"{len(results) - len(good)} of {len(results)} cases would fail")
    return len(good) == len(results)


def _run_cases(cases, outcomes, console, summary, log, is_wide):
    """Compute all cases. Returns whether none failed.

    outcomes    Iterator of numbers of cases and their outcomes.
    is_wide     Whether the summary has one line per case.
    """
    found = [[] for _ in cases]
    try:
        for number, outcome in outcomes:
            found[number].append(outcome)
            _say(console, _place(number, cases), outcome)
            log.add(outcome, number + 1)
    finally:
        console.clear()
        results = list(_with_those_not_computed(cases, found))
        failed = [result for _, result in results if isinstance(result, Exception)]
        is_kept = any(isinstance(result, processes.CaseInUse) for result in failed) or not os.path.exists(summary)
        # A single case that failed may have no folder, but the summary of an earlier run must not look like one of this run.
        if len(cases) != 1 or not (len(failed) == len(results) and is_kept):
            tables.write_summary(summary, results, is_wide)
    if failed and len(results) > 1:
        console.error(f"{len(failed)} of {len(results)} cases failed")
    return not failed


def _run(arguments, console):
    options = _parser().parse_args(arguments)
    if options.merge:
        return _merge(options, console)
    if options.dry_run and options.dask is not None:
        raise ValueError("--dry-run and --dask exclude each other")
    # It starts while the table is read.
    how = options.verbose, options.threads, options.dry_run
    with processes.Worker(*how) as worker:
        cases, summary = _cases(options, console)
        shard, log = _shard(options, console), options.log
        settings = options.params, _settings(options), options.precision, options.verify, options.clean
        layout = "nii.gz" if options.format is None else options.format, options.channels
        task = (*settings, *layout, options.save_images)
        keys, images = worker.set_task(task, console.error)
        is_wide = options.summary_format == "wide"
        if shard is not None:
            if is_wide:
                raise ValueError("the summary of a shard is a long table; --merge makes a wide one of all shards")
            summary, log = shard.path(summary), log and shard.path(log)
        names_of = lambda case: [
            *layouts.layout(*layout, keys, case.name()).names(),
            *images,
            tables.PROVENANCE,
        ]
        read = [
            (what, path) for what, path in (("the table", options.jobs), ("the parameter file", options.params)) if path
        ]
        files = [("the summary", summary), *([("the log", log)] if log else [])]
        # Of all shards, so that all say the same.
        check_outputs(cases, names_of, read, files)
        if shard is not None:
            total, cases = len(cases), shard.cases(cases)
            console.line(f"shard {shard.number}/{shard.count}: {len(cases)} of {total} cases")
        if options.dry_run:
            return _check_cases(cases, _outcomes(cases, worker, console), console) and not console.has_failed
        if options.dask is not None:
            from ._cohort import dask_worker

            worker.end()
            outcomes = dask_worker.outcomes(options.dask, cases, task, how, console)
        else:
            outcomes = _outcomes(cases, worker, console)
        log = _Log(log, console)
        return _run_cases(cases, outcomes, console, summary, log, is_wide) and not console.has_failed


def main(arguments=None):
    """Run the program. Returns its exit code."""
    console = _Console()
    try:
        with _signals_raise():
            return 0 if _run(arguments, console) else 1
    except _Ended as ended:
        console.error(f"ended by {signal.Signals(ended.number).name}; the maps that are whole are kept")
        return 128 + ended.number
    except BrokenPipeError:
        console.drop_output()
        return 1
    except Exception as error:
        console.error(f"error: {processes.one_line(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
