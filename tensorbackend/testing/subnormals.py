"""Comparison with a backend that takes subnormals for zeros."""

from __future__ import annotations

import math
from typing import Any

from ..dtypes import REAL_OF, DType, finfo
from ..elements import pack, unpack
from ..ops.creation.filled import from_binary
from ..tensor import Tensor
from .calls import Invocation
from .compare import element_distance


def _flushed(value: Any, least: float) -> Any:
    if isinstance(value, complex):
        return complex(_flushed(value.real, least), _flushed(value.imag, least))
    return math.copysign(0.0, value) if abs(value) < least else value


def flushed(x: Tensor) -> Tensor:
    """A tensor on BinaryBackend with zeros of their sign for its subnormals.

    >>> import tensorbackend as tb
    >>> flushed(tb.tensor([1e-40, -1e-40, 1.0], backend="binary")).tolist()
    [0.0, -0.0, 1.0]
    """
    if not x.dtype.is_inexact:
        return x
    values = [_flushed(value, least_normal(x.dtype)) for value in unpack(x.to_binary(), x.dtype)]
    return from_binary(pack(values, x.dtype), x.template, "binary")


def has_subnormals(x: Tensor) -> bool:
    """Whether an element, or a part of one, is subnormal, or so small that half of it is, as on the way to a result."""
    if not x.dtype.is_inexact:
        return False
    least = 2 * least_normal(x.dtype)
    return any(0 < abs(part) < least for value in unpack(x.to_binary(), x.dtype) for part in (value.real, value.imag))


def about_subnormals(call: Invocation, wanted: object) -> bool:
    """Whether a call has subnormals among its inputs or results; the `when` of a row about them."""
    results = wanted if isinstance(wanted, list) else []
    return any(map(has_subnormals, [*call.tensors, *results]))


def nearer(actual: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Of two tensors of one template the one, element by element, that is nearer to a third.

    The parts of a complex number are chosen one by one: of `log(0 - 1e-308j)` the real part may be that of `log(0)`,
    and the imaginary part the one without flushing.
    """
    dtype = first.dtype
    part = REAL_OF.get(dtype, dtype)

    def chosen(value: Any, one: Any, other: Any) -> Any:
        if dtype.is_complex:
            return complex(chosen_part(value.real, one.real, other.real), chosen_part(value.imag, one.imag, other.imag))
        return chosen_part(value, one, other)

    def chosen_part(value: Any, one: Any, other: Any) -> Any:
        return one if element_distance(value, one, part) <= element_distance(value, other, part) else other

    columns = (unpack(x.to_binary(), x.dtype) for x in (actual, first, second))
    return from_binary(pack(list(map(chosen, *columns)), dtype), first.template, "binary")


def least_normal(dtype: DType) -> float:
    """The smallest normal number of a dtype, of a complex one's parts; 0 for what has none."""
    return finfo(REAL_OF.get(dtype, dtype)).smallest_normal if dtype.is_inexact else 0.0
