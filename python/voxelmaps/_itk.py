# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""ITK. Modules of this package import it from here when they need it."""

import warnings

# SWIG's types give DeprecationWarnings while modules of ITK are loaded, which end the interpreter if they are errors.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        import itk
    except ModuleNotFoundError:
        raise ImportError("this part of voxelmaps needs ITK: pip install itk") from None
    # ITK loads its modules with the first of their classes.
    itk.Image, itk.PyBuffer

__all__ = ["itk"]
