# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The cases of the program TextureFeatureMaps as tasks of dask, which balances them and computes those of a worker that is lost
again. A worker of dask lets a process of its own compute, as the program does."""

import contextlib
import os
import pathlib
import re
import signal
import threading
import time

from . import processes

# After so many seconds, a folder that is in use is not that of a worker that was killed.
_PATIENCE = 10


# --- In the workers ----------------------------------------------------------------------------------------------------


class _Processes:
    """Processes that wait for cases, with what they do."""

    lock = threading.Lock()
    idle = []


@contextlib.contextmanager
def _process(task, how):
    with _Processes.lock:
        idle, _Processes.idle = _Processes.idle, []
        known = [entry for entry in idle if entry[0] == (task, how)]
        _Processes.idle = known[1:]
        others = [entry for entry in idle if entry not in known]
    for _, other in others:
        other.end()
    worker = known[0][1] if known else processes.Worker(*how)
    try:
        if not known:
            worker.set_task(task, lambda text: None)
        yield worker
    except BaseException:
        worker.end()
        raise
    with _Processes.lock:
        _Processes.idle.append(((task, how), worker))


def _end_processes():
    with _Processes.lock:
        idle, _Processes.idle = _Processes.idle, []
    for _, worker in idle:
        worker.end()


def dask_setup(worker):
    """Called in workers of this computer when they start: Ctrl-C is for the program, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _compute(case, task, how):
    """Compute a line of the table; returns its outcomes, and pairs of titles and lines of the log.

    how    Arguments of the Worker.
    """
    messages = []
    on_log = lambda part, text: messages.append((part.title(), text))
    stop = time.monotonic() + _PATIENCE
    with _process(task, how) as worker:
        while True:
            outcomes = list(worker.outcomes(case, None, lambda *_: None, on_log))
            in_use = any(isinstance(outcome.result, processes.CaseInUse) for outcome in outcomes)
            if not in_use or time.monotonic() > stop:
                return outcomes, messages
            time.sleep(0.2)


# --- In the program ----------------------------------------------------------------------------------------------------


def _number_of_processes():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _client(address, stack):
    """A client of a scheduler, or of processes of this computer."""
    try:
        import distributed
    except ImportError:
        raise ImportError("--dask needs the package distributed: pip install 'voxelmaps[dask]'") from None
    if address != "local":
        try:
            # The client would wait for what cannot be an address.
            if not re.fullmatch("([a-z]+://)?.+:[0-9]+", address):
                raise OSError
            return stack.enter_context(distributed.Client(address, timeout=10, set_as_default=False))
        except OSError:
            raise ValueError(f"--dask {address} is neither local nor the address of a scheduler that answers") from None
    cluster = distributed.LocalCluster(
        n_workers=_number_of_processes(),
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
        preload=[__name__],
    )
    stack.enter_context(cluster)
    return stack.enter_context(distributed.Client(cluster, set_as_default=False))


def outcomes(address, cases, task, how, console):
    """Compute all cases; yields the number of each and its outcomes, in the order in which they end."""
    absolute = lambda path: pathlib.Path(path).absolute()
    task = (task[0] and str(absolute(task[0])), *task[1:])
    with contextlib.ExitStack() as stack:
        client = _client(address, stack)
        from distributed import as_completed

        futures = {}
        for number, case in enumerate(cases):
            paths = {name: absolute(getattr(case, name)) for name in ("image", "mask", "output")}
            future = client.submit(_compute, case._replace(**paths), task, how, pure=False, retries=2)
            futures[future] = number
        try:
            for done, future in enumerate(as_completed(list(futures), loop=client.loop), 1):
                # Results are not kept on the cluster.
                number = futures.pop(future)
                try:
                    found, messages = future.result()
                except Exception as error:
                    is_lost = future.status == "cancelled"
                    text = "the scheduler of dask does not answer" if is_lost else processes.one_line(error)
                    found, messages = [processes.Outcome(cases[number], processes.CaseError(text), 0.0)], []
                for title, text in messages:
                    console.error(f"[{number + 1}/{len(cases)}] {title}: {text}")
                yield from ((number, outcome) for outcome in found)
                console.progress(done / len(cases), f"{done} of {len(cases)} cases")
        finally:
            # The scheduler may be gone.
            with contextlib.suppress(Exception):
                client.cancel(list(futures))
                client.run(_end_processes, wait=not futures)
