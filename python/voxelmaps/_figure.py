# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The figures of voxelmaps.show, which notebooks display and pyplot.show shows in windows."""

import io
import sys

import matplotlib
import matplotlib.figure

# Backends without windows. Pyplot would only retain their figures.
_FILES_ONLY = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks display, also without %matplotlib inline."""

    def _repr_png_(self):
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()

    def _ipython_display_(self):
        # A figure that is displayed as the result of a cell is not displayed again at its end, as pyplot's figures are.
        if "inline" in matplotlib.get_backend():
            close(self)
        # IPython then displays it as it does without this method.
        raise NotImplementedError


def new_figure(**options):
    if matplotlib.get_backend().lower() in _FILES_ONLY:
        return Figure(**options)
    from matplotlib import pyplot

    return pyplot.figure(FigureClass=Figure, **options)


def close(figure):
    """Let pyplot forget a figure, if it has it."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)
