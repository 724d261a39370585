# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The figures of voxelmaps.show, which notebooks display and pyplot.show shows in windows."""

import io
import weakref

import matplotlib
import matplotlib.figure

# Backends without windows. Pyplot would only retain their figures.
_FILES_ONLY = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
_MOST_WINDOWS = 20

_windows: list = []


def _is_inline():
    return "inline" in matplotlib.get_backend()


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks display, also without %matplotlib inline."""

    def _repr_png_(self):
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()

    def _ipython_display_(self):
        # A figure that is displayed as the result of a cell is not displayed again at its end, as pyplot's figures are.
        if _is_inline():
            from matplotlib import pyplot

            pyplot.close(self)
        # IPython then displays it as it does without this method.
        raise NotImplementedError


def new_figure(**options):
    if matplotlib.get_backend().lower() in _FILES_ONLY:
        return Figure(**options)
    from matplotlib import pyplot

    if not _is_inline():
        # Pyplot retains windows until they are closed: in a loop, only the last ones stay open.
        _windows[:] = [each for each in _windows if each() and pyplot.fignum_exists(each().number)]
        while len(_windows) >= _MOST_WINDOWS:
            pyplot.close(_windows.pop(0)())
    figure = pyplot.figure(FigureClass=Figure, **options)
    _windows.append(weakref.ref(figure))
    return figure
