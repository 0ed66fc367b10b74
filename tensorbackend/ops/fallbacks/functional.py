"""Functions of elements, called for one element at a time."""

from __future__ import annotations

from collections.abc import Callable

from ...annotations import Ints
from ...dispatch.fallbacks import fallback
from ...select import move
from ...template import Template
from ...tensor import Tensor
from ..creation.filled import zeros
from ..indexing.slices import slice_
from ..shape import concatenate, permute_dims, reshape
from .common import scalar

OfTwo = Callable[[Tensor, Tensor], Tensor]


def _elements(x: Tensor) -> list[Tensor]:
    """Each element as a tensor without axes."""
    line = reshape(x, (x.size,))
    return [scalar(slice_(line, starts=(place,), lengths=(1,), strides=(1,))) for place in range(x.size)]


def _join(elements: list[Tensor], out: Template) -> Tensor:
    """One tensor of the template's shape whose elements are tensors without axes."""
    if not elements:
        return zeros(out.shape, dtype=out.dtype)
    return reshape(concatenate([reshape(element, (1,)) for element in elements]), out.shape)


@fallback("reduce")
def _reduce(out: Template, x: Tensor, initial: Tensor, /, *, axes: Ints, keepdims: bool, function: OfTwo) -> Tensor:
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    elements = _elements(permute_dims(x, order))
    row = len(elements) // max(out.size, 1)
    results = []
    for start in range(0, out.size * row, row) if row else [0] * out.size:
        folded = initial
        for element in elements[start : start + row]:
            folded = move(function(folded, element), x.backend)
        results.append(folded)
    return _join(results, out)


@fallback("map")
def _map(out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Tensor:
    return _join([move(function(element), x.backend) for element in _elements(x)], out)
