"""Products of tensors, and convolution."""

from __future__ import annotations

from math import prod

from tensorbackend import Template
from tensorbackend.annotations import Ints
from tensorbackend.dtypes import float64
from tensorbackend.protocol.convolution import Correlation

from .kernels import NARROW, Function, MlxBase, kernel
from .library import Array, mlx_dtype, mx
from .shape import padder


class MlxContraction(MlxBase):
    """Sums of products."""

    @kernel(narrow=True)
    def dot(
        self, out: Template, x1: Template, x2: Template, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
    ) -> Function:
        """Stacks of matrices by MLX's product; integers and complex numbers by NumPy's."""
        if not out.dtype.is_floating:
            axes = {"contract1": contract1, "batch1": batch1, "contract2": contract2, "batch2": batch2}
            return self.by_numpy("dot", out, x1, x2, **axes)
        shape = out.shape
        dtype = mx.float32 if out.dtype in NARROW else mlx_dtype(out.dtype)
        if not (out.size and prod(x1.shape[axis] for axis in contract1)):
            return lambda left, right: mx.zeros(shape, dtype)
        rows = tuple(axis for axis in range(x1.ndim) if axis not in (*contract1, *batch1))
        columns = tuple(axis for axis in range(x2.ndim) if axis not in (*contract2, *batch2))
        left_matrix = _matrix(x1.shape, tuple(batch1), rows, tuple(contract1))
        right_matrix = _matrix(x2.shape, tuple(batch2), tuple(contract2), columns)
        # With one axis of rows and one of columns, the product has the shape of the result. Several axes of size 1 that
        # are contracted need no merging either, but the result has no rows.
        if left_matrix is right_matrix is _same and len(rows) == len(columns) == 1:
            return mx.matmul
        return lambda left, right: mx.matmul(left_matrix(left), right_matrix(right)).reshape(shape)

    @kernel(narrow=True)
    def conv(self, out: Template, x: Template, kernel: Template, *, correlation: Correlation) -> Function:
        """MLX's convolution, whose channels come last; groups of the batch are groups of the channels of a smaller
        batch. Other dtypes and numbers of axes by NumPy's, and float64: MLX multiplies in float32 there.
        """
        spatial = x.ndim - 2
        if (
            not out.dtype.is_floating
            or out.dtype is float64
            or not 1 <= spatial <= 3
            or not (out.size and x.size and kernel.size)
        ):
            return self.by_numpy("conv", out, x, kernel, correlation=correlation)
        windows, _, feature_groups, batch_groups = correlation
        batch, groups, channels = out.shape[0], correlation.groups, kernel.shape[1]
        last = (0, *range(2, x.ndim), 1)
        first = (0, x.ndim - 1, *range(1, x.ndim - 1))
        padding = [(0, 0, 0), (0, 0, 0), *correlation.edges]
        pad = padder(x.shape, padding) if any(map(any, padding)) else None
        zero = mx.array(0.0)

        def convolve(values: Array, weights: Array) -> Array:
            if batch_groups > 1:
                values = values.reshape((batch_groups, batch, feature_groups, channels, *values.shape[2:]))
                values = mx.swapaxes(values, 0, 1)
            values = values.reshape((batch, groups * channels, *values.shape[-spatial:]))
            if pad is not None:
                values = pad(values, zero.astype(values.dtype))
            result = mx.conv_general(
                mx.transpose(values, last),
                mx.transpose(weights, last),
                stride=windows.strides,
                kernel_dilation=windows.dilations,
                groups=groups,
            )
            return mx.transpose(result, first)

        return convolve


def _same(values: Array) -> Array:
    return values


def _matrix(
    shape: tuple[int, ...], batch: tuple[int, ...], rows: tuple[int, ...], columns: tuple[int, ...]
) -> Function:
    """The function that makes a stack of matrices of a tensor: batch axes, then rows and columns, each merged."""
    order = (*batch, *rows, *columns)
    merged = (*(shape[axis] for axis in batch), *(prod(shape[axis] for axis in group) for group in (rows, columns)))
    moves, merges = order != tuple(range(len(shape))), merged != tuple(shape[axis] for axis in order)
    if not moves:
        return (lambda values: values.reshape(merged)) if merges else _same
    if not merges:
        return lambda values: mx.transpose(values, order)
    return lambda values: mx.transpose(values, order).reshape(merged)
