"""Callbacks that make arrays from nothing."""

from __future__ import annotations

from ...dtypes import Scalar, bfloat16, float64, int64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from .base import ArrayBase, kernel


class ArrayCreation(ArrayBase):
    """Constants, identity matrices and counters."""

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`."""
        # A library rounds a float to bfloat16 by way of float32, which is twice.
        source = float64 if out.dtype is bfloat16 else out.dtype
        scalar = self.xp.asarray(value, numpy_dtype(source))
        if source is not out.dtype:
            scalar = self.xp.asarray(self.quiet.run(self.cast, scalar, source, out.dtype))
        return self.xp.full(out.shape, scalar) if out.shape else scalar

    @kernel
    def eye(self, out: Template, /, *, offset: int) -> Payload:
        """Ones on one diagonal of the last two axes."""
        matrix = self.xp.eye(*out.shape[-2:], k=offset, dtype=numpy_dtype(out.dtype))
        return self.xp.broadcast_to(matrix, out.shape)

    @kernel
    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        """Each element is its index, along an axis or in row-major order."""
        count = out.size if axis is None else out.shape[axis]
        counter = self.cast(self.xp.arange(count, dtype=numpy_dtype(int64)), int64, out.dtype)
        if axis is None:
            return counter.reshape(out.shape)
        lined_up = counter.reshape(tuple(size if i == axis else 1 for i, size in enumerate(out.shape)))
        return self.xp.broadcast_to(lined_up, out.shape)
