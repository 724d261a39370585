# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
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

from . import _program_tables, _program_worker
from ._program_tables import check_outputs, read_cases

_NAME = "TextureFeatureMaps"

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

        print(f"{_NAME} {importlib.metadata.version('itk-voxelmaps')}")
        parser.exit()


def _value(text):
    """The value of a setting: as in JSON, or a text."""
    # The program starts without NumPy.
    from ._radiomics_parameters import parse_integer

    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, parse_constant=float, parse_int=parse_integer)
    constants = {"none": None, "true": True, "false": False, "nan": math.nan}
    return constants.get(text.lower(), text)


def _names(text):
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' has an empty name")
    return names


def _parser():
    parser = _Parser(
        prog=_NAME,
        description="Computes the feature maps that PyRadiomics computes with voxelBased=True, and writes each to a file such as "
        "original_glcm_Contrast.nii.gz, with a file provenance.json that says what they come from. Files that an earlier run with "
        "the same input and settings has left are kept.",
        allow_abbrev=False,
    )
    parser.add_argument("image", nargs="?", metavar="IMAGE", help="image, or folder with a DICOM series")
    parser.add_argument("--mask", metavar="MASK", help="image with the labels of regions, on the grid of the image")
    parser.add_argument("--out", metavar="FOLDER", help="folder for the maps")
    parser.add_argument(
        "--jobs",
        metavar="TABLE",
        help="CSV file with the columns image, mask and output, instead of IMAGE, --mask and --out",
    )
    parser.add_argument(
        "--summary",
        metavar="FILE",
        help="CSV file of mean, median, deviation and number of valid voxels of each map in the region (default: summary.csv in "
        "the output, or TABLE-summary.csv)",
    )
    group = parser.add_argument_group("what is computed", "Options come before the parameter file.")
    group.add_argument("--params", metavar="FILE", help="parameter file of PyRadiomics, YAML or JSON")
    group.add_argument(
        "--classes", type=_names, metavar="NAMES", help="all features of these classes, such as glcm,glrlm"
    )
    group.add_argument(
        "--features", type=_names, metavar="NAMES", help="features, such as glcm_Contrast,glrlm_RunEntropy"
    )
    for option, setting, text in (
        ("--bin-width", "binWidth", "width of bins of intensities (default: 25)"),
        ("--bin-count", "binCount", "number of bins, instead of their width"),
        ("--radius", "kernelRadius", "radius of the window in voxels (default: 1)"),
        ("--label", "label", "label of the region in the mask (default: 1)"),
        ("--force2d-dimension", "force2Ddimension", "axis across the windows of --force2d (default: 0, z)"),
    ):
        group.add_argument(option, dest=setting, type=_value, metavar="N", help=text)
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
        "--verify",
        action="store_true",
        help="read the files of finished cases again, instead of trusting their sizes and times",
    )
    parser.add_argument("--verbose", action="store_true", help="print what the readers of images print")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    return parser


_SHORT_OPTIONS = ("binWidth", "binCount", "kernelRadius", "label", "force2D", "force2Ddimension")


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
    if options.summary is not None and not pathlib.Path(options.summary).absolute().parent.is_dir():
        raise ValueError(f"--summary {options.summary} is in a folder that does not exist")
    single = {"IMAGE": options.image, "--mask": options.mask, "--out": options.out}
    if options.jobs is not None:
        for name, value in single.items():
            if value is not None:
                raise ValueError(f"{name} {value} and --jobs exclude each other")
        cases, unused = read_cases(options.jobs)
        if unused:
            names = ", ".join(unused[:20] + ["..."] * (len(unused) > 20))
            console.error(f"note: columns of {options.jobs} that are not used: {names}")
        table = pathlib.Path(options.jobs)
        return cases, pathlib.Path(options.summary or table.with_name(f"{table.stem}-summary.csv"))
    for name, value in single.items():
        if value is None:
            raise ValueError(f"{name} is missing; --help lists the options")
        if not value:
            raise ValueError(f"{name} is empty")
    given = {"image": options.image, "mask": options.mask, "output": options.out}
    case = _program_tables.Case(given, **{name: pathlib.Path(value) for name, value in given.items()})
    return [case], pathlib.Path(options.summary or case.output / "summary.csv")


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


def _run_case(case, worker, console, place):
    """Compute a case and print its line. Returns its result, or its error."""
    start = time.monotonic()
    name = case.given["image"]
    try:
        result = worker.run(
            case,
            on_progress=lambda part, text: console.progress(part, f"{place}{name} {text}"),
            on_log=lambda text: console.error(f"{place}{name}: {text}"),
        )
    except _program_worker.CaseError as error:
        console.error(f"{place}{name}: {error}")
        return error
    kept = f" ({result.kept} of them kept)" if result.kept else ""
    console.line(
        f"{place}{name}: {len(result.maps)} maps{kept} of {result.mask_voxels} voxels in {case.given['output']}, "
        f"{time.monotonic() - start:.1f} s"
    )
    return result


def _run_cases(cases, worker, console, summary):
    """Compute all cases. Returns whether none failed."""
    outcomes = []
    try:
        for number, case in enumerate(cases, 1):
            place = f"[{number}/{len(cases)}] " if len(cases) > 1 else ""
            outcomes.append(_run_case(case, worker, console, place))
    except BaseException:
        worker.end(case)
        raise
    finally:
        console.clear()
        ended = _program_worker.CaseError("not computed: the run was ended")
        outcomes += [ended] * (len(cases) - len(outcomes))
        is_kept = isinstance(outcomes[0], _program_worker.CaseInUse) or not os.path.exists(summary)
        # A single case that failed may have no folder, but the summary of an earlier run must not look like one of this run.
        if len(cases) > 1 or not (isinstance(outcomes[0], _program_worker.CaseError) and is_kept):
            _program_tables.write_summary(summary, zip(cases, outcomes))
    failed = sum(isinstance(outcome, _program_worker.CaseError) for outcome in outcomes)
    if failed and len(cases) > 1:
        console.error(f"{failed} of {len(cases)} cases failed")
    return not failed


def _run(arguments, console):
    options = _parser().parse_args(arguments)
    # It starts while the table is read.
    with _program_worker.Worker(options.verbose) as worker:
        cases, summary = _cases(options, console)
        task = options.params, _settings(options), options.precision, options.verify
        keys = worker.set_task(task, console.error)
        names = [f"{key}.nii.gz" for key in keys] + [_program_tables.PROVENANCE]
        read = [
            (what, path) for what, path in (("the table", options.jobs), ("the parameter file", options.params)) if path
        ]
        check_outputs(cases, names, read, [("the summary", summary)])
        return _run_cases(cases, worker, console, summary) and not console.has_failed


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
        console.error(f"error: {_program_worker.one_line(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
