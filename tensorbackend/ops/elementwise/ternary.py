"""Elementwise primitives of three tensors. Shapes broadcast from the right; the names of matching axes are merged."""

from __future__ import annotations

from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import bool_
from ...errors import DTypeError, expected
from ...rules.broadcasting import broadcast, elementwise, result_type
from ...rules.plan import Plan
from ...template import Template, intern_template
from ...tensor import Tensor, TensorLike, bind
from .binary import maximum, minimum


@primitive.calls("select")
def where(condition: Template, x1: Template, x2: Template, /) -> Plan:
    """Select x1 where the bool `condition` is true, otherwise x2; x1 and x2 are promoted.

    Raises `DTypeError` for a condition that is not bool.

    >>> import tensorbackend as tb
    >>> tb.where(tb.asarray([True, False]), 1, tb.asarray([2, 3])).tolist()
    [1, 3]
    """
    if condition.dtype is not bool_:
        remedy = "compare it, such as condition != 0"
        raise DTypeError(expected("a condition of dtype bool", remedy, dtype=condition.dtype))
    dtype = result_type([x1, x2])
    shape, names = broadcast([condition, x1, x2])
    return Plan(intern_template(shape, dtype, names), (bool_, dtype, dtype))


@primitive.calls("clip")
def _clip(x: Template, min: Template, max: Template, /) -> Plan:
    return elementwise(x, min, max, accept="real")


@bind
@check_arguments
def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Clip to bounds: minimum(maximum(x, min), max), without those that are `None`; NaN if any operand is NaN.

    >>> import tensorbackend as tb
    >>> tb.clip(tb.asarray([-5, 0, 5]), -1, 1).tolist()
    [-1, 0, 1]
    """
    if min is not None and max is not None:
        return _clip(x, min, max)
    if min is not None:
        return maximum(x, min)
    return minimum(x, x if max is None else max)
