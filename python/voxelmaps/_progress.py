# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Progress of functions that can take long, and lines in the log of how long they took."""

import contextlib
import contextvars
import sys
import time

from ._files import library

# Called if a function has no progress of its own: that of the command.
fallback = None
# What the jobs of this thread report to, or None.
current = contextvars.ContextVar("progress", default=None)


class _Reporter:
    """Calls a function with growing fractions, up to 1.

    total    Voxels of all jobs; voxels of several classes or images count several times.
    """

    def __init__(self, function, total):
        self._function, self._total, self._finished, self._last = function, max(int(total), 1), 0, -1.0

    def report(self, voxels):
        """Called by a job with the voxels that it has finished."""
        fraction = min((self._finished + voxels) / self._total, 1.0)
        if fraction > self._last:
            self._last = fraction
            self._function(fraction)

    def end_job(self, voxels):
        self._finished += voxels
        self.report(0)


@contextlib.contextmanager
def shown(progress, total, what):
    """Report the progress of the jobs within to a function of a fraction, or with True in a bar of tqdm.

    total    Voxels of the jobs; see _Reporter.
    what     For the bar and the log.
    """
    start, progress = time.perf_counter(), fallback if progress is None else progress
    with contextlib.ExitStack() as stack:
        if progress is True:
            bar = library("tqdm.auto", "progress=True", "tqdm", "progress").tqdm(
                total=100, desc=what, unit="%", leave=False
            )
            stack.callback(bar.close)
            progress = lambda fraction: bar.update(int(100 * fraction) - bar.n)
        if progress:
            reporter = _Reporter(progress, total)
            stack.callback(current.reset, current.set(reporter))
        yield
        if progress:
            reporter.report(total)
    # A program that wants lines of the log has imported it.
    if "logging" in sys.modules:
        logger = sys.modules["logging"].getLogger("voxelmaps")
        logger.info("%s of %d voxels took %.2f s", what, total, time.perf_counter() - start)
