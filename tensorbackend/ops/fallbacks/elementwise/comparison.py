"""Comparisons and logic from `equal`, `less` and `select`."""

from __future__ import annotations

import math

from ....dispatch.fallbacks import fallback
from ....dtypes import bool_
from ....template import Template
from ....tensor import Tensor
from ...creation.filled import full
from ...elementwise.binary import equal, less, less_equal, logical_or, not_equal
from ...elementwise.ternary import where
from ...elementwise.unary import bitwise_invert, imag, real


@fallback("not_equal")
def _not_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return bitwise_invert(equal(x1, x2))


@fallback("greater")
def _greater(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return less(x2, x1)


@fallback("less_equal")
def _less_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return logical_or(less(x1, x2), equal(x1, x2))


@fallback("greater_equal")
def _greater_equal(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return less_equal(x2, x1)


@fallback("logical_and")
def _logical_and(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return where(x1, x2, False)


@fallback("logical_or")
def _logical_or(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return where(x1, True, x2)


@fallback("logical_xor")
def _logical_xor(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    return not_equal(x1, x2)


@fallback("is_nan")
def _is_nan(out: Template, x: Tensor, /) -> Tensor:
    return not_equal(x, x)


@fallback("is_infinity", "real")
def _is_infinity(out: Template, x: Tensor, /) -> Tensor:
    if x.dtype.is_integer:
        return full(out.shape, False, dtype=bool_)
    return _is_infinite(x)


@fallback("is_infinity", "complex")
def _is_infinity_of_complex(out: Template, x: Tensor, /) -> Tensor:
    return logical_or(_is_infinite(real(x)), _is_infinite(imag(x)))


def _is_infinite(x: Tensor) -> Tensor:
    return logical_or(equal(x, math.inf), equal(x, -math.inf))
