"""What a program's subclass of `np.ndarray` is told of functions: those of the namespace, where NumPy names its own.

Such a class is one of NumPy's, so NumPy calls its `__array_ufunc__`, `__array_function__` and `__array_wrap__`. A
program compares what they get with `np.add` and `np.concatenate`, or looks it up in a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Final

import numpy

_PLACES: Final = {"__array_ufunc__": 0, "__array_function__": 0, "__array_wrap__": 1, "__array_prepare__": 1}
"""Where these methods get the function, or a context that begins with it."""


def _named(function: Any, package: Any) -> Any:
    """The function of the same name in NumPy or in the namespace; the function itself if there is none."""
    folder = (getattr(function, "__module__", None) or "numpy").removeprefix(__package__).removeprefix("numpy")
    try:
        return attrgetter(f"{folder}.{function.__name__}".strip("."))(package)
    except AttributeError:
        return function


def ours(function: Any) -> Any:
    """The function of the namespace for one of NumPy's.

    >>> import numpy
    >>> import tensorbackend.numpy as np
    >>> ours(numpy.add) is np.add, ours(numpy.linalg.norm) is np.linalg.norm
    (True, True)
    """
    return _named(function, sys.modules[__package__])


def theirs(function: Any) -> Any:
    """The function of NumPy's for one of the namespace."""
    return _named(function, numpy)


def translated(name: str, method: Any) -> Any:
    """A method of a subclass: one that NumPy tells a function gets that of the namespace."""
    place = _PLACES.get(name)
    if place is None or not isinstance(method, Callable):  # type: ignore[arg-type] # `__array_ufunc__ = None`
        return method

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        given = [*arguments]
        if not place:
            given[0] = ours(given[0])
        elif len(given) > 1 and isinstance(given[1], tuple):
            given[1] = (ours(given[1][0]), *given[1][1:])
        return method(self, *given, **options)

    return call
