# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Image files: reading, writing, paths."""

import importlib
import re
import sys

# The least versions of optional packages, as in pyproject.toml.
LEAST = {
    **{"nibabel": "5.0", "pydicom": "3.0", "SimpleITK": "2.3", "matplotlib": "3.7", "distributed": "2024.1"},
    **{"PyWavelets": "1.5", "ruamel.yaml": "0.18", "scikit-image": "0.21", "scipy": "1.10.1", "trimesh": "4.0"},
    **{"pandas": "2.0", "xarray": "2023.7"},
}


def library(name, purpose, package=None, extra="files"):
    """A module of an optional package. Raises ImportError that names the purpose and what to install, or a version that is too old.

    package    If its name is another one.
    """
    package = package or name
    try:
        module = importlib.import_module(name)
    except ImportError:
        raise ImportError(f'{purpose} needs {package}: pip install "voxelmaps[{extra}]"') from None
    least, root = LEAST.get(package, "0"), sys.modules[name if package == name else name.partition(".")[0]]
    found = getattr(root, "__version__", least)
    numbers = lambda version: [int(number) for number in re.findall(r"\d+", version)[:3]]
    if numbers(found) < numbers(least):
        raise ImportError(
            f'{purpose} needs {package} {least} or later, but {found} is installed: pip install --upgrade "voxelmaps[{extra}]"'
        )
    return module
