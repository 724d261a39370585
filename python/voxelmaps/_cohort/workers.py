# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Processes that compute cases: one of this program, or workers of dask. A process that crashes costs one case only. Imports no
NumPy, so that the command starts at once."""

import concurrent.futures
import contextlib
import logging
import multiprocessing
import os
import re
import signal
import threading
import traceback
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple, Optional

from .._files import library
from .tables import Outcome, one_line

_CRASHED = "the process that computed it ended: a reader crashed on a corrupt file, or there was too little memory"


class Task(NamedTuple):
    """What is done with every case.

    params, settings    Parameter file, and text of JSON with the settings that override it.
    file_format, channels, fill
                        Of the maps; see layouts.layout. The format regions is that of values of regions.
    overwrite           Whether maps of other settings are replaced.
    is_dry_run          Whether cases are only checked.
    """

    params: Optional[str]
    settings: str
    precision: str
    file_format: str
    channels: Optional[str]
    fill: float
    overwrite: bool
    is_dry_run: bool
    threads: int


# --- In the process ----------------------------------------------------------------------------------------------------


class _Process:
    is_verbose = False


def _begin(is_verbose, threads):
    """Prepare the process of the program."""
    _Process.is_verbose = is_verbose
    # The program ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if threads:
        os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = str(threads)
    if not is_verbose:
        # Readers print what they find.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)


class _Messages(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(" ".join(record.getMessage().split()))


@contextlib.contextmanager
def _messages():
    """A list of the lines of the log."""
    logger, handler = logging.getLogger("voxelmaps"), _Messages()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if _Process.is_verbose else logging.WARNING)
    logger.propagate = False
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)


def prepare(task):
    """Check a task. Returns the keys of all maps that an image can have, and lines of the log."""
    from . import cases, regions

    with _messages() as lines:
        if task.file_format == "regions":
            regions.parameters_of(task)
            return [], lines
        return cases.radiomics.all_keys(cases.job_of(task).parameters), lines


def compute(task, case):
    """Compute or check a line of the table. Returns outcomes of its labels, and lines of the log."""
    from . import cases, regions

    with _messages() as lines:
        outcomes = []
        try:
            for outcome in (regions if task.file_format == "regions" else cases).outcomes(task, case):
                outcomes.append(outcome)
        except Exception as error:
            if _Process.is_verbose:
                traceback.print_exc()
            outcomes.append(Outcome(case, case.labels, error=one_line(error)))
    return outcomes, lines


def check_image(path):
    """Read an image. Returns a line that describes it."""
    from .. import _image

    volume, _ = _image.load(path, "the image")
    times = lambda values: " × ".join(f"{value:.6g}" for value in values)
    return f"{times(volume.size)} voxels of {volume.array.dtype}, spacing {times(volume.spacing)}"


def dask_setup(worker):
    """Called in workers of dask on this computer when they start: the program ends them after Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# --- In the program ----------------------------------------------------------------------------------------------------


class Worker:
    """The process of the program, which is started again if it has crashed."""

    def __init__(self, is_verbose=False, threads=0):
        self._arguments = is_verbose, threads
        self._pool = None

    def submit(self, function, *arguments):
        """Begin to call a function."""
        if self._pool is None:
            # Not fork, which copies the threads' locks of this process.
            context = multiprocessing.get_context("spawn")
            self._others = multiprocessing.active_children()
            self._pool = concurrent.futures.ProcessPoolExecutor(1, context, _begin, self._arguments)
        self._last = self._pool.submit(function, *arguments)
        return self._last

    def call(self, function, *arguments):
        return self.result(self.submit(function, *arguments))

    def result(self, future):
        """The result of a call. Raises RuntimeError if the process crashed."""
        try:
            return future.result()
        except BrokenProcessPool:
            self._pool = None
            raise RuntimeError(_CRASHED) from None

    def end(self):
        """End the process at once."""
        if self._pool is not None:
            for process in multiprocessing.active_children():
                # An idle process ends by itself, and releases its semaphores.
                if process not in self._others and not self._last.done():
                    process.kill()
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _client(address, stack):
    distributed = library("distributed", "--dask", extra="dask")
    if address == "local":
        # One process per core.
        how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "preload": [__name__]}
        cluster = stack.enter_context(distributed.LocalCluster(**how))
        return stack.enter_context(distributed.Client(cluster, set_as_default=False))
    try:
        # The client would wait for what cannot be an address.
        if not re.fullmatch("([a-z]+://)?.+:[0-9]+", address):
            raise OSError
        return stack.enter_context(distributed.Client(address, timeout=10, set_as_default=False))
    except OSError:
        raise ValueError(f"--dask {address} is neither local nor the address of a scheduler that answers") from None


def outcomes_of_dask(address, task, cases):
    """Compute cases on a cluster; yields the number of each, its outcomes, and lines of the log, in the order in which they end."""
    with contextlib.ExitStack() as stack:
        client = _client(address, stack)
        from distributed import as_completed

        if task.params:
            task = task._replace(params=os.path.abspath(task.params))
        absolute = lambda case: {name: getattr(case, name).absolute() for name in ("image", "mask", "output")}
        futures = {
            client.submit(compute, task, case._replace(**absolute(case)), pure=False): number
            for number, case in enumerate(cases)
        }
        for future in as_completed(futures, loop=client.loop):
            try:
                outcomes, lines = future.result()
            except Exception as error:
                is_lost = type(error).__name__ == "KilledWorker"
                text = _CRASHED if is_lost else one_line(error)
                outcomes, lines = [Outcome(cases[futures[future]], cases[futures[future]].labels, error=text)], []
            yield futures[future], outcomes, lines
