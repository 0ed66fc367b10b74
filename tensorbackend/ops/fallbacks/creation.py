"""New tensors: their numbers are computed in Python and copied to the backend as bytes."""

from __future__ import annotations

import math

from ...dispatch.fallbacks import fallback
from ...dtypes import Scalar
from ...dtypes.packing import element_type, pack
from ...select import get_backend
from ...template import Template
from ...tensor import Tensor
from ..creation.filled import from_binary


@fallback("constant")
def _constant(out: Template, /, *, value: Scalar) -> Tensor:
    return from_binary(pack([element_type(out.dtype)(value)], out.dtype) * out.size, out)


@fallback("iota")
def _iota(out: Template, /, *, axis: int | None) -> Tensor:
    size = out.size if axis is None else out.shape[axis]
    inner = 1 if axis is None else math.prod(out.shape[axis + 1 :])
    outer = 1 if axis is None else math.prod(out.shape[:axis])
    return _numbers([index for index in range(size) for _ in range(inner)] * outer, out)


@fallback("eye")
def _eye(out: Template, /, *, offset: int) -> Tensor:
    *batch, rows, columns = out.shape
    ones = [int(column - row == offset) for row in range(rows) for column in range(columns)]
    return _numbers(ones * math.prod(batch), out)


@fallback("spaced")
def _spaced_numbers(out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Tensor:
    return from_binary(get_backend("binary").spaced(out, start=start, step=step, last=last), out)


def _numbers(values: list[int], out: Template) -> Tensor:
    """Indices as a tensor of the template; integers wrap, as the indices of a long axis do in a narrow dtype."""
    if out.dtype.is_integer:
        span = 1 << out.dtype.bits
        low = -(span >> 1) if out.dtype.kind == "int" else 0
        values = [(value - low) % span + low for value in values]
    return from_binary(pack(map(element_type(out.dtype), values), out.dtype), out)
