"""Callbacks that make arrays from nothing."""

from __future__ import annotations

from ...dtypes import DType, Scalar, bfloat16, float64, int64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from .base import Array, ArrayBase, kernel


class ArrayCreation(ArrayBase):
    """Constants, identity matrices and counters."""

    @kernel
    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`."""
        if not out.shape:
            return self._scalar(value, out.dtype)
        return self.xp.full(out.shape, self._scalar(value, out.dtype))

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

    def _scalar(self, value: Scalar, dtype: DType) -> Array:
        # An array library rounds a float to bfloat16 by way of float32, which is twice.
        if dtype is bfloat16:
            return self.cast(self.xp.asarray(float(value.real), numpy_dtype(float64)), float64, bfloat16)
        return self.xp.asarray(value, numpy_dtype(dtype))
