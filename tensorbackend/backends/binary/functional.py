"""Callbacks that call a Python function, once for every element."""

from __future__ import annotations

from collections.abc import Callable

from ...protocol import Backend, Payload
from ...template import Template, intern_template
from ...tensor import Tensor
from ..functional import fold_elements, map_elements


class BinaryFunctional(Backend):
    """The callbacks of the family `protocol.reduction` that call functions."""

    def reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, axes: tuple[int, ...], keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:  # fmt: skip
        order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
        moved = intern_template(tuple(x.shape[axis] for axis in order), x.dtype, (None,) * x.ndim)
        elements = _elements(self.transpose(moved, x, axes=order), x)
        row = len(elements) // max(out.size, 1)
        rows = (elements[place * row : (place + 1) * row] for place in range(out.size))
        return b"".join(fold_elements(self, function, initial, x.dtype, rows))

    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        return b"".join(map_elements(self, function, x.dtype, _elements(x.data, x)))


def _elements(data: bytes, x: Tensor) -> list[bytes]:
    """The bytes of each element of a tensor whose bytes are `data`."""
    width = x.dtype.itemsize
    return [data[start : start + width] for start in range(0, len(data), width)]
