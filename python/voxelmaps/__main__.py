# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""python -m voxelmaps runs the command voxelmaps."""

import sys

from ._cli import program

if __name__ == "__main__":
    sys.exit(program())
