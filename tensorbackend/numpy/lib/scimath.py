"""`numpy.lib.scimath`, also `np.emath`: functions that return complex numbers outside the domain of the real ones.

Examples
--------
>>> import tensorbackend.numpy as np
>>> np.emath.sqrt([-1.0, 4.0])
array([0.+1.j, 2.+0.j])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import tensorbackend as tb

from ...tensor import Tensor
from ..arrays import box, functions
from ..conversion import cast, tensor
from ..host_modules import missing_name_error

_NARROW: Final = frozenset({tb.float32, tb.int8, tb.int16, tb.uint8, tb.uint16})
"""The dtypes whose complex numbers are complex64."""


def _complex_where(name: str, outside: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """A function that returns complex numbers for elements outside the domain of the real one."""

    def call(x: Any, *more: Any) -> Any:
        t = tensor(x)
        if t.dtype.is_complex or not bool(tb.any(outside(t))):
            return functions[name](x, *more)
        dtype = tb.complex64 if t.dtype in _NARROW and name != "power" else tb.complex128
        return functions[name](box(cast(t, dtype)), *more)

    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = f"`{name}`, complex where an element is outside the domain of the real function."
    return call


sqrt, log, log2, log10, power = (
    _complex_where(name, lambda x: x < 0) for name in ("sqrt", "log", "log2", "log10", "power")
)
arccos, arcsin, arctanh = (_complex_where(name, lambda x: tb.abs(x) > 1) for name in ("arccos", "arcsin", "arctanh"))


def logn(n: Any, x: Any) -> Any:
    """The logarithm to the base n, complex for negative elements."""
    return log(x) / log(n)


def __getattr__(name: str) -> Any:
    raise missing_name_error(name, __name__)
