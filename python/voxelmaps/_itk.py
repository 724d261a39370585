# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""ITK. Modules of this package import it from here when they need it."""

try:
    import itk
except ModuleNotFoundError:
    raise ImportError("this part of voxelmaps needs ITK: pip install itk") from None

__all__ = ["itk"]
