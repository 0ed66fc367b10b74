"""`numpy.testing`: NumPy's assertions, which read arrays on the host."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy.testing

from .conversion import host


def __getattr__(name: str) -> Any:
    found = getattr(numpy.testing, name)
    if not name.startswith("assert_") or name.startswith(("assert_raises", "assert_warns", "assert_no_")):
        return found

    @wraps(found)
    def check(*arguments: Any, **options: Any) -> Any:
        return found(*host(arguments), **host(options))

    return check
