# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from ._types import Path

def check_image_file(path: Path) -> None: ...

# What other modules of this package use.
def __getattr__(name: str) -> Any: ...
