# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Computations in a thread, of which only the newest counts."""

import contextlib
import warnings

from napari.qt.threading import create_worker
from qtpy.QtCore import QTimer


@contextlib.contextmanager
def collected(texts):
    """Add the texts of UserWarnings to a list, once each: napari would show each in a window of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    found = (str(each.message) for each in caught if issubclass(each.category, UserWarning))
    texts += [text for text in found if text not in texts]


def guarded(compute, *arguments):
    """What a generator function yields, and its error as the last value: workers show errors that they raise with a traceback."""
    try:
        yield from compute(*arguments)
    except (ValueError, TypeError, RuntimeError, OSError, ImportError, MemoryError) as error:
        yield error


class Newest:
    """Calls a generator function in a thread, for one request after the other; newer requests replace those that have not begun.

    compute    The generator function, with the arguments of a request.
    show       Called in the thread of the window with each value, and these arguments.
    report     Called in the thread of the window with the text of an error.
    """

    def __init__(self, compute, show, report):
        self._compute, self._show, self._report = compute, show, report
        self._worker, self._arguments, self._running, self._is_stopped = None, (), (), False
        # Whether there is a request that has not begun.
        self.is_due = False

    @property
    def is_busy(self):
        return self.is_due or self._worker is not None

    def request(self, *arguments):
        """Compute soon."""
        if not self._is_stopped:
            self._arguments, self.is_due = arguments, True
            # Napari emits some events before it changes the voxels: look at them once it is done, but before it draws.
            QTimer.singleShot(0, self._start)

    def cancel(self):
        """Show nothing more of what is requested or computed, which ends before its next value."""
        self.is_due = False
        if self._worker is not None:
            self._worker.quit()

    def stop(self):
        """Cancel, and do not begin again."""
        self._is_stopped = True
        self.cancel()

    def _start(self):
        if self._worker is not None or not self.is_due:
            return
        self.is_due, self._running = False, self._arguments
        self._worker = create_worker(guarded, self._compute, *self._running)
        # Qt has weak references to methods only: a function that knows the worker would keep the worker alive.
        self._worker.yielded.connect(self._take)
        self._worker.finished.connect(self._finish)
        self._worker.start()

    def _take(self, value):
        if not self._worker.abort_requested:
            if isinstance(value, Exception):
                self._report(str(value))
            else:
                self._show(value, *self._running)

    def _finish(self):
        self._worker = None
        self._start()
