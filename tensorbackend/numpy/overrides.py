"""Operands of other libraries that take NumPy's functions over: tables of pandas, arrays of Dask, quantities.

NumPy asks such an operand what a function means for it (`__array_ufunc__`, NEP 13; `__array_function__`, NEP 18), or
calls its method of the function's name. The namespace leaves such a call to NumPy's function, with arrays as NumPy's,
so that `np.log(series)` is a series. The libraries of backends, such as CuPy, are no such operands.

References
----------
NumPy Enhancement Proposals 13 and 18.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy

from ..caching.memos import remembers_calls
from ..errors import expected
from ..protocol import Backend
from ..select import library_backend
from ..tensor import Tensor
from .arrays import ndarray
from .conversion import host, tensor
from .dtypes import NUMBERS, HostOnlyError
from .homes import home_of, place_of

COMMON: Final = NUMBERS | {ndarray, numpy.ndarray, Tensor, list, tuple, str, type(None), type}
"""The classes of most arguments, which take nothing over."""


@lru_cache(256)
def _overrides(kind: type) -> bool:
    if issubclass(kind, ndarray | numpy.ndarray | numpy.generic | Tensor):
        return False
    return getattr(kind, "__array_ufunc__", None) is not None or hasattr(kind, "__array_function__")


remembers_calls("classes of other libraries that take functions over", _overrides)


def overrides(value: Any) -> bool:
    """Whether an operand takes NumPy's functions over.

    >>> import fractions
    >>> overrides(fractions.Fraction(1, 2)), overrides(numpy.ones(2))
    (False, False)
    """
    return _overrides(value.__class__) and library_backend(value) is None


def leave_to_numpy(values: Sequence[Any]) -> None:
    """Raise `HostOnlyError` where an operand takes functions over, so that NumPy's function is called.

    Not next to arrays in a trace or a gradient, of which NumPy has no copy: there the operand is a constant.
    """
    if COMMON.issuperset(map(type, values)):
        return
    found = [value for value in values if overrides(value)]
    if found and not _follows_arrays(values):
        raise HostOnlyError(expected("an array or numbers", value=type(found[0]).__name__))


def tensor_or_numpy(value: Any) -> Tensor:
    """The tensor of an operand, unless it takes the function over."""
    leave_to_numpy((value,))
    return tensor(value)


def home_or_numpy(values: Sequence[Any]) -> Backend | None:
    """The backend on which a call computes, as `home_of` finds it, unless an operand takes the function over."""
    leave_to_numpy(values)
    return home_of(values)


def _follows_arrays(values: Sequence[Any]) -> bool:
    """Whether a trace, a gradient or a tape follows one of the arrays."""
    return any(value.__class__ is ndarray and place_of(value).dispatch_priority > 1 for value in values)


def call_override(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The result of a universal function of NumPy's by the first operand that takes it over.

    It gets arrays as NumPy's. Arrays that a trace or a gradient follows it gets as they are, if it takes arrays of any
    library; otherwise the result is `NotImplemented`, and the operand is a constant.
    """
    followed = _follows_arrays(arguments)
    if not followed:
        arguments = host(tuple(arguments))
        options = {name: value if name == "out" else host(value) for name, value in options.items()}
    for value in arguments:
        asked = overrides(value) and getattr(value, "__array_ufunc__", None) is not None
        if asked and (not followed or hasattr(value, "__array_function__")):
            made = value.__array_ufunc__(function, "__call__", *arguments, **options)
            if made is not NotImplemented:
                return made
    return NotImplemented if followed else function(*arguments, **options)
