# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What errors suggest for a name that does not exist."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def normalized(name):
    """Lower-case letters and digits of a name: the same for per_direction, per-direction and PerDirection."""
    return "".join(c for c in name if c.isalnum()).lower()


def did_you_mean(name, names):
    """What follows the name in an error: the most similar of the names, or those that contain it, if there are any."""
    # Imported by errors only.
    import difflib

    key, keys = normalized(str(name)), {normalized(each): each for each in names}
    parts = [each for each in keys if min(len(key), len(each)) > 3 and (key in each or each in key)]
    similar = list(dict.fromkeys([*difflib.get_close_matches(key, keys, 1, 0.75), *sorted(parts, key=len)]))[:3]
    return f" (did you mean {' or '.join(keys[each] for each in similar)}?)" if similar else ""


def check_keywords(kwargs, function, name):
    """Raise TypeError, with what is meant perhaps, for a keyword that a function does not have.

    name    Of the function that the user calls.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for keyword in kwargs:
        if keyword not in names:
            raise TypeError(f"{name} has no parameter {keyword}{did_you_mean(keyword, names)}")


def with_known_keywords(function: _Function) -> _Function:
    """Let a function say which of its parameters an unknown keyword may stand for."""

    @functools.wraps(function)
    def checked(*args, **kwargs):
        check_keywords(kwargs, function, function.__name__)
        return function(*args, **kwargs)

    return cast(_Function, checked)
