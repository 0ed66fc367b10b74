"""Oracles of reductions, counts, losses and statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy

from tensorbackend.dtypes import DType

from .table import reference

Axes = int | Sequence[int] | None


def axes_of(x: Any, axis: Axes) -> tuple[int, ...]:
    """The positions of axes, all of them for `None`."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(sorted(at % x.ndim for at in ([axis] if isinstance(axis, int) else axis)))


@reference("sum", by="NumPy")
def sum_(x: Any, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    return numpy.sum(cast(x, dtype), axis=axes_of(x, axis), keepdims=keepdims)


@reference("prod", by="NumPy")
def prod(x: Any, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Any:
    x, axes = cast(x, dtype), axes_of(x, axis)
    if x.dtype.kind != "c":
        return numpy.prod(x, axis=axes, keepdims=keepdims)
    # From the first element to the last in row-major order, each product as (ac - bd) + (ad + bc)j: docs/semantics.md.
    kept = [at for at in range(x.ndim) if at not in axes]
    columns = numpy.moveaxis(x, kept, range(len(kept))).reshape(*(x.shape[at] for at in kept), -1)
    rows = columns.reshape(math.prod(columns.shape[:-1]), columns.shape[-1]).tolist()
    out = numpy.array([reduce(multiply, row) if row else 1 for row in rows])
    shape = [1 if at in axes else x.shape[at] for at in range(x.ndim) if keepdims or at not in axes]
    return out.astype(complex).reshape(shape)


def multiply(x: complex, y: complex) -> complex:
    """The product of complex numbers by its definition, for infinities and NaN too."""
    return complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def cast(x: Any, dtype: DType | None) -> Any:
    """The elements in a dtype, those of a narrow float as doubles, as the sum is rounded once."""
    return x if dtype is None else x.astype({"float": "f8", "complex": "c16"}.get(dtype.kind, dtype.name))
