# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Image files: reading, writing, paths."""

import importlib


def library(name, purpose):
    """The module of an optional package. Raises ImportError that names the purpose and the extra to install."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f'{purpose} needs {name}: pip install "voxelmaps[files]"') from None
