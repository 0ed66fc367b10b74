"""Rules that compute float16 and bfloat16 in float32.

The steps of a rule may exceed the range of a narrow dtype although its result does not: the gradient of atan(x) is
1 / (x * x + 1), and in float16 the square of 1000 is infinite. The result is rounded once, when the engine casts it.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from ...ops.composite.reduction import cast_to_float32
from ...tensor import Tensor
from .registry import Cotangents, Rule


def _wide(value: Any) -> Any:
    narrow = isinstance(value, Tensor) and value.dtype.is_floating and value.dtype.bits < 32
    return cast_to_float32(value) if narrow else value


def widen_rule(function: Rule) -> Rule:
    """Convert a rule to one that gets float32 for cotangents, results and inputs of narrower dtypes."""

    @wraps(function)
    def wide_rule(*tensors: Any, **options: Any) -> Cotangents:
        return function(*map(_wide, tensors), **options)

    return wide_rule
