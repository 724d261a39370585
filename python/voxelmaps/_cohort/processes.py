# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The process that computes the cases of the program TextureFeatureMaps. What ends it (a reader that crashes, too little memory)
ends one case only, and Ctrl-C need not wait for a filter."""

import contextlib
import logging
import multiprocessing.connection
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from typing import Any, NamedTuple

from .._files import paths


# What a process does that reads its case.
READING = "reading"


class CaseError(Exception):
    """Why a case failed, in one line."""


class Outcome(NamedTuple):
    """How a case ended."""

    case: Any
    # Or a CaseError.
    result: Any
    seconds: float
    # Whether no other label of its line of the table comes after it.
    is_last: bool = True


class CaseInUse(CaseError):
    """Another run computes it."""


def one_line(error):
    """An error as one line without the layers that it came through."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # ITK's errors begin with a place in its sources.
    text = lines[-1] if lines and any("ITK ERROR" in line or ".cxx:" in line for line in lines) else " ".join(lines)
    known = (CaseError, ValueError, TypeError, NotImplementedError, ImportError, OSError, RuntimeError)
    return text if text and isinstance(error, known) else f"{type(error).__name__}: {text}"


# --- In the process ----------------------------------------------------------------------------------------------------


class _Sender(logging.Handler):
    """Sends lines of the log to the parent, but for those of other threads while they are held."""

    def __init__(self, connection):
        super().__init__()
        self._connection = connection
        self._messages = None

    @contextlib.contextmanager
    def held(self):
        """Collect the records of other threads than the main one, in a list."""
        self._messages = []
        try:
            yield self._messages
        finally:
            self._messages = None

    def emit(self, record):
        messages = self._messages
        if messages is not None and threading.current_thread() is not threading.main_thread():
            messages.append(record)
        else:
            self._connection.send(("log", " ".join(record.getMessage().split())))


def _end_with_parent():
    """The parent never writes to the standard input of this process, and its end closes it."""
    os.read(0, 1)
    if _Current.output is not None:
        paths.remove_staging(_Current.output, of_this_process=True)
    os._exit(1)


class _Current:
    # Folder of the case that is computed now.
    output = None


def serve(descriptor, verbose, threads, is_dry_run):
    """Receive the arguments of a task, and send its keys; then receive cases and those that follow, and send progress, lines of
    the log, and how each case ended.

    descriptor    Number of the open socket to the parent.
    threads       Of computation and compression; 0 for one per processor.
    is_dry_run    Whether cases are checked only.
    """
    connection = multiprocessing.connection.Connection(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if not verbose:
        # Readers print what they meet.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    logger = logging.getLogger("voxelmaps")
    sender = _Sender(connection)
    logger.addHandler(sender)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    logger.propagate = False

    from . import cases
    from .._files import writing

    writing.Threads.number = threads
    function = cases.check if is_dry_run else cases.run

    def send_result(function, *arguments):
        try:
            message = "done", function(*arguments)
        except Exception as error:
            if verbose:
                traceback.print_exc()
            message = "in use" if isinstance(error, paths.FolderInUse) else "failed", one_line(error)
        connection.send(message)

    with contextlib.suppress(EOFError):
        task = cases.Task(*connection.recv())
        reader = cases.Reader(sender)
        send_result(task.prepare)
        report = lambda part, text: connection.send(("progress", (part, text)))
        while True:
            case, following = connection.recv()
            if case.has_all_labels and case.label is None:
                send_result(cases.find_labels, case, task, reader)
                continue
            _Current.output = case.output
            send_result(function, case, following, task, reader, report)
            _Current.output = None


# --- In the parent -----------------------------------------------------------------------------------------------------


class Worker:
    """The process, which is started again if it has ended.

    verbose, threads, is_dry_run    As serve takes them.
    """

    def __init__(self, verbose, threads=0, is_dry_run=False):
        self._arguments = bool(verbose), int(threads), bool(is_dry_run)
        self._is_dry_run = is_dry_run
        self._process = None
        self._task = None
        # That is computed now.
        self._case = None
        self._start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def _start(self):
        # Not by the module multiprocessing: its processes import the main program again, and complain if they are killed.
        ours, theirs = socket.socketpair()
        with theirs:
            code = f"from {__name__} import serve; serve({theirs.fileno()}, *{self._arguments})"
            threads = self._arguments[1]
            # Of the filters of ITK and SimpleITK.
            of_itk = {"ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)} if threads else {}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **of_itk},
            )
        self._connection = multiprocessing.connection.Connection(ours.detach())

    def set_task(self, task, on_log):
        """Say what is done with every case, by the arguments of Task. Returns the names of the maps; raises CaseError."""
        self._task = task
        return self._call(task, None, on_log)

    def outcomes(self, case, following, on_progress, on_log):
        """Compute a line of the table; yields an Outcome of each of its labels.

        following                The next line, which is read meanwhile, or None.
        on_progress(part, text), on_log(text)
                                 Functions that are called with the case before.
        """
        start = time.monotonic()
        try:
            labels = self._run(case, None, on_progress, on_log) if case.has_all_labels else case.labels
        except CaseError as error:
            yield Outcome(case, error, time.monotonic() - start)
            return
        parts = case.parts(labels)
        for part, after in zip(parts, [*parts[1:], following]):
            try:
                result = self._run(part, after, on_progress, on_log)
            except CaseError as error:
                result = error
            yield Outcome(part, result, time.monotonic() - start, part is parts[-1])
            start = time.monotonic()

    def _run(self, case, following, on_progress, on_log):
        """The answer of the process. Raises CaseError."""
        if self._process.poll() is not None:
            self._start()
            # It has said before what there is to say.
            self._call(self._task, None, lambda text: None)
        self._case = case
        has_read = False

        def progress(part, text):
            nonlocal has_read
            has_read = has_read or text != READING
            on_progress(case, part, text)

        try:
            result = self._call((case, following), progress, lambda text: on_log(case, text))
            self._case = None
            return result
        except CaseError as error:
            has_ended = self._process.poll() is not None
            if has_ended:
                self.end()
            self._case = None
            # The next case is read after this one.
            if not has_ended or following is None or not has_read:
                raise
            on_log(case, f"{error}; it is computed again, without reading the next case meanwhile")
        return self._run(case, None, on_progress, on_log)

    def _call(self, message, on_progress, on_log):
        try:
            self._connection.send(message)
            while True:
                kind, content = self._connection.recv()
                if kind == "progress":
                    on_progress(*content)
                elif kind == "log":
                    on_log(content)
                elif kind == "done":
                    return content
                else:
                    raise (CaseInUse if kind == "in use" else CaseError)(content)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = self._process.wait()
            raise CaseError(f"the process that computed it was ended {_reason(code)}") from None

    def end(self):
        """End the process, at once, and remove what it has left of its case."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._connection.close()
        if self._case is not None and not self._is_dry_run:
            _clean(self._case.output)


def _reason(code):
    if code >= 0:
        return f"with exit code {code}"
    name = signal.Signals(-code).name
    hint = "; a reader may have crashed on a damaged file" if name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE") else ""
    return f"by {name}" + ("; there may have been too little memory" if name == "SIGKILL" else hint)


def _clean(output):
    """Remove what is left of a case in its folder, unless another run uses the folder by now."""
    with contextlib.suppress(Exception):
        if output.is_dir():
            with paths.output_folder(output):
                pass
