# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""ITK. Modules of this package import it from here when they need it."""

import warnings

# ITK loads its modules on first use. If this warning of SWIG is an error there, the interpreter crashes.
warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)

try:
    import itk
except ModuleNotFoundError:
    raise ImportError("this part of voxelmaps needs ITK: pip install itk") from None

__all__ = ["itk"]
