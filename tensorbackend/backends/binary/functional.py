"""Callbacks that call a Python function, once for every element."""

from __future__ import annotations

from collections.abc import Callable

from ...protocol import Backend, Payload
from ...scopes import in_own_context
from ...select import default_backend
from ...template import Template, intern_template
from ...tensor import Tensor
from ..functional import calling


class BinaryFunctional(Backend):
    """The callbacks of the family `protocol.reduction` that call functions."""

    @in_own_context
    def reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        axes: tuple[int, ...],
        keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """See the protocol."""
        order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
        moved = intern_template(tuple(x.shape[axis] for axis in order), x.dtype, (None,) * x.ndim)
        scalar, call, width = intern_template((), x.dtype, ()), calling(self, function), x.dtype.itemsize
        data = self.transpose(moved, x, axes=order)
        row = len(data) // max(out.size, 1)
        results = []
        with default_backend(self):
            for first in range(0, out.size * row, row) if row else [0] * out.size:
                folded = initial
                for start in range(first, first + row, width):
                    folded = call(folded, Tensor(scalar, self, data[start : start + width]))
                results.append(folded.data)
        return b"".join(results)

    @in_own_context
    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """See the protocol."""
        scalar, call, width = intern_template((), x.dtype, ()), calling(self, function), x.dtype.itemsize
        with default_backend(self):
            return b"".join(
                [
                    call(Tensor(scalar, self, x.data[start : start + width])).data
                    for start in range(0, len(x.data), width)
                ]
            )
