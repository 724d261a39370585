# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The Image Biomarker Standardisation Initiative: its features and filters, and its reference values and phantoms."""
