# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Image files: reading, writing, paths."""

import importlib


def library(name, purpose, package=None, extra="files"):
    """A module of an optional package. Raises ImportError that names the purpose and what to install.

    package    If its name is another one.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f'{purpose} needs {package or name}: pip install "voxelmaps[{extra}]"') from None
