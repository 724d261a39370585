# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""python -m voxelmaps runs the program TextureFeatureMaps."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
