# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""ITK, of the version that the filters are compiled for. Modules of this package take it from here, when they need it."""

import sys

try:
    import itkConfig
except ModuleNotFoundError:
    raise ImportError("this part of voxelmaps needs ITK: pip install 'itk>=5.4,<5.5'") from None

if not itkConfig.ITK_GLOBAL_VERSION_STRING.startswith("5.4."):
    # Objects of another version have another layout in memory.
    raise ImportError(
        f"voxelmaps needs itk 5.4, but this is itk {itkConfig.ITK_GLOBAL_VERSION_STRING}; "
        "install it with: pip install 'itk>=5.4,<5.5'"
    )


def __getattr__(name):
    # Without itkConfig.LazyLoading, ITK imports the filters, and they this module, before the import below is done.
    if name == "itk" and name in sys.modules:
        return sys.modules[name]
    raise AttributeError(f"module {__name__} has no attribute {name}")


import itk  # noqa: E402, F401
