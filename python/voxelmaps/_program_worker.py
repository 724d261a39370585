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
import traceback

from . import _output_files


class CaseError(Exception):
    """Why a case failed, in one line."""


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
    """Sends lines of the log to the parent."""

    def __init__(self, connection):
        super().__init__()
        self._connection = connection

    def emit(self, record):
        self._connection.send(("log", " ".join(record.getMessage().split())))


def _end_with_parent():
    """The parent never writes to the standard input of this process, and its end closes it."""
    os.read(0, 1)
    if _Current.output is not None:
        _output_files.remove_staging(_Current.output, of_this_process=True)
    os._exit(1)


class _Current:
    # Folder of the case that is computed now.
    output = None


def serve(descriptor, verbose):
    """Receive the arguments of a task, and send its keys; then receive cases, and send progress, lines of the log, and how each
    case ended.

    descriptor    Number of the open socket to the parent.
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
    logger.addHandler(_Sender(connection))
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    logger.propagate = False

    from . import _program_cases

    def send_result(function, *arguments):
        try:
            message = "done", function(*arguments)
        except Exception as error:
            if verbose:
                traceback.print_exc()
            message = "in use" if isinstance(error, _output_files.FolderInUse) else "failed", one_line(error)
        connection.send(message)

    with contextlib.suppress(EOFError):
        task = _program_cases.Task(*connection.recv())
        reader = _program_cases.Reader()
        send_result(task.prepare)
        while True:
            case = connection.recv()
            _Current.output = case.output
            report = lambda part, text: connection.send(("progress", (part, text)))
            send_result(_program_cases.run, case, task, reader, report)
            _Current.output = None


# --- In the parent -----------------------------------------------------------------------------------------------------


class Worker:
    """The process, which is started again if it has ended."""

    def __init__(self, verbose):
        self._verbose = verbose
        self._process = None
        self._task = None
        self._start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def _start(self):
        # Not by the module multiprocessing: its processes import the main program again, and complain if they are killed.
        ours, theirs = socket.socketpair()
        with theirs:
            code = f"from {__name__} import serve; serve({theirs.fileno()}, {self._verbose})"
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, pass_fds=[theirs.fileno()]
            )
        self._connection = multiprocessing.connection.Connection(ours.detach())

    def set_task(self, task, on_log):
        """Say what is done with every case, by the arguments of Task. Returns the names of the maps; raises CaseError."""
        self._task = task
        return self._call(task, None, on_log)

    def run(self, case, on_progress, on_log):
        """Compute a case. Returns its result; raises CaseError."""
        if self._process.poll() is not None:
            self._start()
            # It has said before what there is to say.
            self._call(self._task, None, lambda text: None)
        try:
            return self._call(case, on_progress, on_log)
        except CaseError:
            if self._process.poll() is not None:
                self.end(case)
            raise

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

    def end(self, case=None):
        """End the process, at once, and remove what it has left of a case."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._connection.close()
        if case is not None:
            _clean(case.output)


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
            with _output_files.output_folder(output):
                pass
