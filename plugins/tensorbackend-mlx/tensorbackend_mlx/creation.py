"""Callbacks that make tensors without input tensors."""

from __future__ import annotations

from typing import Any

from tensorbackend import Template
from tensorbackend.dtypes import Scalar, int64

from .casting import caster, number
from .kernels import NARROW, Function, MlxBase, kernel
from .library import mlx_dtype, mx


class MlxCreation(MlxBase):
    """Constants, identity matrices and counters."""

    @kernel()
    def constant(self, out: Template, *, value: Scalar) -> Function:
        """Every element is `value`."""
        dtype = mlx_dtype(out.dtype)
        if out.dtype in NARROW:  # MLX rounds a number twice
            scalar: Any = self.by_numpy("constant", out.replace(shape=()), value=value)()
        else:
            scalar = number(value, out.dtype)
        return lambda: mx.full(out.shape, scalar, dtype)

    @kernel()
    def spaced(self, out: Template, *, start: Scalar, step: Scalar, last: Scalar | None) -> Function:
        """The numbers `start`, `start + step` and so on."""
        return self.by_numpy("spaced", out, start=start, step=step, last=last)

    @kernel()
    def eye(self, out: Template, *, offset: int) -> Function:
        """Ones on one diagonal of the last two axes."""
        dtype = mlx_dtype(out.dtype)
        rows, columns = out.shape[-2:]
        return lambda: mx.broadcast_to(mx.eye(rows, columns, offset, dtype), out.shape)

    @kernel()
    def iota(self, out: Template, *, axis: int | None) -> Function:
        """Elements that equal their index along an axis, or in row-major order without an axis."""
        count = out.size if axis is None else out.shape[axis]
        shape = [size if axis in (None, place) else 1 for place, size in enumerate(out.shape)]
        cast = caster(self, Template((count,), int64), out.dtype)
        return lambda: mx.broadcast_to(cast(mx.arange(count, dtype=mx.int64)).reshape(shape), out.shape)
