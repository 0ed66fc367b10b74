"""`numpy.testing`: NumPy's assertions, which read arrays on the host."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy.testing

from .conversion import host


def __getattr__(name: str) -> Any:
    found = getattr(numpy.testing, name)
    if not name.startswith("assert_") or name in (
        "assert_raises",
        "assert_raises_regex",
        "assert_warns",
        "assert_no_warnings",
        "assert_no_gc_cycles",
    ):
        return found

    @wraps(found)
    def check(*arguments: Any, **options: Any) -> Any:
        return found(*host(arguments), **host(options))

    return check
