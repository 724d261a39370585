# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Processes that compute cases: one of this program, or workers of dask. A process that crashes costs one case only. Imports no
NumPy, so that the command starts at once."""

import concurrent.futures
import contextlib
import functools
import logging.handlers
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple, Optional

from .. import _progress
from .._files import library, paths
from .tables import Outcome

_CRASHED = "the process that computed it ended: a reader crashed on a corrupt file, or there was too little memory"
# Interval between checks that all dask workers run.
_SECONDS_TO_WAIT = 10


class Task(NamedTuple):
    """What is done with every case.

    params, settings    Parameter file, and text of JSON with the settings that override it.
    file_format, channels, fill
                        Format of the maps; see layouts.layout. The format regions is that of values of regions.
    overwrite           Whether results of other settings or inputs, and files of others, are replaced.
    is_dry_run          Whether cases are only checked.
    suv                 Kind of SUV that PET series are converted to, or None.
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
    suv: Optional[str] = None


# --- In the process ----------------------------------------------------------------------------------------------------


def _begin(is_verbose, threads, fraction):
    """Prepare the process of the program.

    fraction    Value that gets how much of the case is computed.
    """
    _progress.fallback = functools.partial(setattr, fraction, "value")
    # The program ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if threads:
        os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = str(threads)
    logging.getLogger("voxelmaps").setLevel(logging.INFO if is_verbose else logging.WARNING)
    if not is_verbose:
        # Readers print what they find.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)


def _with_log(function, *arguments):
    """What a function returns, and the lines of the log."""
    logger, handler = logging.getLogger("voxelmaps"), logging.handlers.BufferingHandler(sys.maxsize)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        return function(*arguments), [" ".join(record.getMessage().split()) for record in handler.buffer]
    finally:
        logger.removeHandler(handler)


def prepare(task):
    """Check a task. Returns the keys of all maps that an image can have, or what values of regions depend on, and lines of the log."""
    from . import cases, regions

    prepared = (
        regions.origin
        if task.file_format == "regions"
        else lambda task: cases.radiomics.all_keys(cases.parameters_of(task))
    )
    return _with_log(prepared, task)


def compute(task, case):
    """Compute or check a line of the table. Returns outcomes of its labels, and lines of the log."""
    from . import cases, regions

    return _with_log(cases.outcomes, task, case, regions.outcome if task.file_format == "regions" else cases.outcome)


def check_image(path, suv=None):
    """Read an image. Returns a line that describes it."""
    from .. import _image

    origin = {}
    volume, _ = _image.load(path, "the image", suv=suv, origin_of_suv=origin)
    times = lambda values: " × ".join(f"{value:.6g}" for value in values)
    text = f"{times(volume.size)} voxels of {volume.array.dtype}, spacing {times(volume.spacing)}"
    return f"{text}, SUV per {origin['norm']} up to {volume.array.max():.6g} {origin['units']}" if origin else text


def dask_setup(worker):
    """Called in workers of dask on this computer when they start: the program ends them after Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# --- In the program ----------------------------------------------------------------------------------------------------


class Worker:
    """The process of the program, which is started again if it has crashed."""

    def __init__(self, is_verbose=False, threads=0):
        self._arguments, self._pool = (is_verbose, threads), None

    def submit(self, function, *arguments):
        """Begin to call a function."""
        if self._pool is None:
            # Not fork, which copies the threads' locks of this process.
            context = multiprocessing.get_context("spawn")
            self._others = multiprocessing.active_children()
            self._fraction = context.Value("d", 0.0, lock=False)
            self._pool = concurrent.futures.ProcessPoolExecutor(1, context, _begin, (*self._arguments, self._fraction))
        self._fraction.value = 0.0
        self._last = self._pool.submit(function, *arguments)
        return self._last

    def call(self, function, *arguments, show=None):
        return self.result(self.submit(function, *arguments), show)

    def result(self, future, show=None):
        """The result of a call. Raises RuntimeError if the process crashed.

        show    Called several times a second with the fraction of the case that is computed; or None.
        """
        try:
            while show is not None and not future.done():
                concurrent.futures.wait([future], 0.2)
                show(self._fraction.value)
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


def outcomes_of_dask(address, task, cases):
    """Compute cases on a cluster; yields the number of each, its outcomes, and lines of the log, in the order in which they end."""
    distributed, scheduler, cluster = library("distributed", "--dask", extra="dask"), address, None
    with contextlib.ExitStack() as stack:
        if address == "local":
            # One process per core. A case whose process ends is not computed again at once, see below.
            how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "preload": [__name__]}
            how["scheduler_kwargs"] = {"allowed_failures": 0}
            scheduler = cluster = stack.enter_context(distributed.LocalCluster(**how))
        try:
            # The client would wait for what cannot be an address.
            if scheduler is address and not re.fullmatch("([a-z]+://)?.+:[0-9]+", address):
                raise OSError
            client = stack.enter_context(distributed.Client(scheduler, timeout=10, set_as_default=False))
        except OSError:
            raise ValueError(f"--dask {address} is neither local nor the address of a scheduler that answers") from None
        if task.params:
            task = task._replace(params=os.path.abspath(task.params))
        futures, suspects, is_alone = {}, [], False

        def submit(number):
            case = cases[number]
            absolute = {name: getattr(case, name).absolute() for name in ("image", "mask", "output")}
            future = client.submit(compute, task, case._replace(**absolute), pure=False)
            futures[future] = number
            return future

        completed = distributed.as_completed([submit(number) for number in range(len(cases))], loop=client.loop)
        processes = _Processes(cluster) if cluster is not None else None
        while futures or suspects:
            if not futures:
                is_alone = True
                completed.add(submit(suspects.pop(0)))
            for future in completed.next_batch(block=False):
                number = futures[future]
                try:
                    outcome = number, *future.result(timeout=_SECONDS_TO_WAIT)
                except Exception as error:
                    if isinstance(error, TimeoutError) and future.status != "error":
                        completed.add(future)
                        continue
                    is_killed = type(error).__name__ == "KilledWorker"
                    if is_killed and not is_alone:
                        # Another case may have ended the process: this one is computed again, alone.
                        suspects.append(futures.pop(future))
                        continue
                    text = _CRASHED if is_killed else paths.one_line(error)
                    outcome = number, [Outcome(cases[number], cases[number].labels, error=text)], []
                del futures[future]
                yield outcome
            if processes is not None:
                processes.check()
            if not completed.has_ready():
                time.sleep(0.1)


class _Processes:
    """The processes of a dask cluster on this computer. Dask does not restart one that crashes while it starts, and can regard one
    that has ended as running: the program would wait forever."""

    def __init__(self, cluster):
        self._cluster, self._number = cluster, len(cluster.worker_spec)
        self._checked = self._seen = time.monotonic()
        self._patience = _SECONDS_TO_WAIT

    def check(self):
        """Start what is missing, and all again if no process has been there for some time, which doubles each time."""
        now = time.monotonic()
        if self._cluster.scheduler.workers:
            self._seen = now
        if now - self._checked < _SECONDS_TO_WAIT:
            return
        if now - self._seen > self._patience:
            self._patience *= 2
            self._cluster.scale(0)
            while self._cluster.workers and time.monotonic() - now < _SECONDS_TO_WAIT:
                time.sleep(0.1)
            self._seen = time.monotonic()
        self._cluster.scale(self._number)
        self._checked = time.monotonic()
