# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
# The extension module of the core, for type checkers.
from typing import Any

def __getattr__(name: str) -> Any: ...
