"""`numpy.testing`: NumPy's assertions, which read arrays on the host."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy.testing

from .arrays import ndarray
from .conversion import host


def __getattr__(name: str) -> Any:
    found = getattr(numpy.testing, name)
    if not name.startswith("assert_") or name.startswith(("assert_raises", "assert_warns", "assert_no_")):
        return found

    @wraps(found)
    def check(*arguments: Any, **options: Any) -> Any:
        return found(*host(tuple(map(_array_of, arguments))), **host(options))

    return check


def _array_of(value: Any) -> Any:
    """The array of an object whose `__array__` gives one of the namespace, which NumPy refuses; else the value."""
    if isinstance(value, ndarray | numpy.ndarray | numpy.generic) or not hasattr(type(value), "__array__"):
        return value
    found = value.__array__()
    return found if found.__class__ is ndarray else value
