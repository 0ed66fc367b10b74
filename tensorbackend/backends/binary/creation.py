"""New tensors, from numbers alone."""

from __future__ import annotations

import math

from ...dtypes import Scalar, complex128, float64
from ...dtypes.packing import element_type, pack
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from .storage import store


class BinaryCreation(Backend):
    """Callbacks that make tensors from numbers alone."""

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        return pack([element_type(out.dtype)(value)], out.dtype) * out.size

    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        if axis is None:
            return store(range(out.size), out.dtype)
        inner = math.prod(out.shape[axis + 1 :])
        run = store([index for index in range(out.shape[axis]) for _ in range(inner)], out.dtype)
        return run * math.prod(out.shape[:axis])

    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        values = [start + place * step for place in range(out.size)]
        if last is not None:
            values[-1] = last
        if isinstance(start, int):
            return store(values, out.dtype)
        wide = out.replace(dtype=complex128 if isinstance(start, complex) else float64)
        return self.as_type(out, Tensor(wide, self, pack(values, wide.dtype)))

    def eye(self, out: Template, /, *, offset: int) -> Payload:
        rows, columns = out.shape[-2:]
        one: bytes = self.constant(out.replace(shape=(), names=()), value=1)
        zero = bytes(len(one))
        matrix = b"".join(
            zero * at + one + zero * (columns - at - 1) if 0 <= at < columns else zero * columns
            for at in range(offset, offset + rows)
        )
        return matrix * math.prod(out.shape[:-2])
