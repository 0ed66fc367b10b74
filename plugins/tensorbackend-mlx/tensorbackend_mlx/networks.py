"""Overrides of the composites of neural networks for which MLX has a function of its own."""

from __future__ import annotations

import math

from tensorbackend import Template
from tensorbackend.dtypes import float64

from .casting import caster
from .kernels import Function, MlxBase, kernel
from .library import Array, mlx_dtype, mx


class MlxNetworks(MlxBase):
    """What normalises exponentials. Operands arrive in their own dtype."""

    @kernel()
    def softmax(self, out: Template, x: Template, *, axis: tuple[int, ...]) -> Function:
        """`mx.softmax`, which has the digits of float32."""
        cast, empty = caster(self, x, out.dtype), not x.size
        if out.dtype is float64:
            return self.by_numpy("softmax", out, x, axis=axis)
        return lambda values: cast(values) if empty else mx.softmax(cast(values), axis, precise=True)

    @kernel()
    def logsumexp(self, out: Template, x: Template, *, axis: tuple[int, ...], keepdims: bool) -> Function:
        """`mx.logsumexp`, which has the digits of float32."""
        cast, shape = caster(self, x, out.dtype), out.shape
        if not x.size:
            return lambda values: mx.full(shape, -math.inf, mlx_dtype(out.dtype))
        if out.dtype is not float64:
            return lambda values: mx.logsumexp(cast(values), axis, keepdims=keepdims)
        wide = x.replace(dtype=float64)
        exp = self.by_numpy("exp", wide, wide)

        def in_float64(values: Array) -> Array:
            values = cast(values)
            greatest = mx.max(values, axis, keepdims=True)
            greatest = mx.where(mx.isfinite(greatest), greatest, 0.0)
            return (mx.log(mx.sum(exp(values - greatest), axis, keepdims=True)) + greatest).reshape(shape)

        return in_float64
