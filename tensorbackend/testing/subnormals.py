"""Comparison with a backend that treats subnormals as zeros."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ..dtypes import REAL_OF, DType, finfo
from ..dtypes.packing import pack, unpack
from ..ops.creation.filled import from_binary
from ..tensor import Tensor
from .calls import Invocation
from .compare import element_distance


def _zero(part: float, least: float) -> float:
    return math.copysign(0.0, part) if abs(part) < least else part


def _flush_parts(x: Tensor, real: bool, imaginary: bool, factor: float = 1.0) -> Tensor:
    if not x.dtype.is_inexact:
        return x
    least = factor * smallest_normal(x.dtype)
    of_real = least if real else 0.0
    values: Sequence[Any] = unpack(x.to_binary(), x.dtype)
    if x.dtype.is_complex:
        of_imaginary = least if imaginary else 0.0
        values = [complex(_zero(value.real, of_real), _zero(value.imag, of_imaginary)) for value in values]
    else:
        values = [_zero(value, least) for value in values]
    return from_binary(pack(values, x.dtype), x.template, "binary")


def flush_subnormals(x: Tensor) -> Tensor:
    """A tensor on BinaryBackend with its subnormals replaced by zeros of the same sign.

    >>> import tensorbackend as tb
    >>> flush_subnormals(tb.tensor([1e-40, -1e-40, 1.0], backend="binary")).tolist()
    [0.0, -0.0, 1.0]
    """
    return _flush_parts(x, True, True)


FLUSHES: Final = (
    flush_subnormals,
    lambda x: _flush_parts(x, True, False),
    lambda x: _flush_parts(x, False, True),
    lambda x: _flush_parts(x, True, True, 2.0),
)
"""The ways in which a library may take parts of complex numbers for zeros: all subnormal parts, only real ones, only
imaginary ones, or all parts whose half is subnormal.

XLA computes log(1e-308 + 1e-308j) as log(0) with the angle of 1e-308j. The sigmoid of 1.2e-38j is 0.5 + 0.3e-38j, and
the product of infinity with its imaginary part is NaN where that is flushed.
"""


def has_subnormals(x: Tensor) -> bool:
    """Whether an element, or a part of one, is subnormal, or becomes subnormal if an algorithm halves it."""
    if not x.dtype.is_inexact:
        return False
    least = 2 * smallest_normal(x.dtype)
    return any(0 < abs(part) < least for value in unpack(x.to_binary(), x.dtype) for part in (value.real, value.imag))


def about_subnormals(call: Invocation, wanted: object) -> bool:
    """Whether a call has subnormals among its inputs or results; the `when` of a row about them.

    Parameters
    ----------
    call : Invocation
        The call.
    wanted
        The expected result.

    Returns
    -------
    bool
        Whether it has.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.testing.calls import Invocation
    >>> x = tb.tensor([1e-40])
    >>> about_subnormals(Invocation("negative", (x,), {}), -x)
    True
    """
    results = wanted if isinstance(wanted, list) else []
    return any(map(has_subnormals, [*call.tensors, *results]))


def nearer(actual: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """For each element of `actual`, the nearer one of the elements of `first` and `second`, which have one template.

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


def smallest_normal(dtype: DType) -> float:
    """The smallest normal number of a dtype, or of the parts of a complex dtype; 0 for exact dtypes."""
    return finfo(REAL_OF.get(dtype, dtype)).smallest_normal if dtype.is_inexact else 0.0
