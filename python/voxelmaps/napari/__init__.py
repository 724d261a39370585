# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Plugin of napari: labels from strokes, feature maps, a reader and sample data; napari.yaml lists them."""
