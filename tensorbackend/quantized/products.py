"""`quantized_dot`: a product with a quantised matrix, whose numbers are computed run by run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from ..annotations import Axis
from ..caching.memos import remembers_calls
from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, float32, float64
from ..errors import DTypeError, ShapeError, expected
from ..expr.control import scan
from ..expr.grad.custom import custom_gradient
from ..expr.jit import jit
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.composite.indexing.selection import repeat
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, zeros
from ..ops.elementwise.basic import astype
from ..ops.shape import broadcast_to, permute_dims, reshape
from ..rules.axes import normalize_axis
from ..template import Template
from ..tensor import Tensor, TensorLike
from .matrix import Quantized, product_of_codes, scaled

_RUN: Final = 1 << 17
"""The number of elements that are computed at a time; with their intermediate values they stay in a cache."""


@check_arguments
def quantized_dot(x: TensorLike, q: Quantized, /, *, axis: Axis | None = None) -> Tensor:
    """Contract a tensor with a quantised one, along the axis whose elements share scales.

    The quantised tensor is dequantised in blocks of about a hundred thousand elements, so the whole of it is never in
    memory. Sums are computed in float32, or in float64 if x has that dtype.

    Parameters
    ----------
    x : Tensor
        A tensor of floats.
    q : Quantized
        A result of `quantize`.
    axis : int or str, optional
        The axis of x to contract, by position or name. By default the one with the name of q's axis, or else the last.

    Returns
    -------
    Tensor
        The other axes of x, then the other axes of q, in the dtype of x. Its gradient is with respect to x; the
        parts of q are constants.

    Raises
    ------
    ShapeError
        For axes of different sizes.

    Examples
    --------
    >>> w = tb.asarray([[0.5, -1.0], [2.0, 0.25]], names=("feature", "out"))
    >>> tb.quantized_dot(tb.asarray([[1.0, 2.0]]), tb.quantize(w, axis="feature")).names
    (None, 'out')
    """
    x = asarray(x)
    if not x.dtype.is_floating:
        raise DTypeError(expected("a tensor of floats", "cast it with astype()", tensor=x.template))
    name = q.names[q.axis] if q.ndim else None
    if axis is None:
        axis = name if name is not None and name in x.names else -1
    along = normalize_axis(x.template, axis)
    count, rest = q.shape[q.axis], (*q.shape[: q.axis], *q.shape[q.axis + 1 :])
    if x.shape[along] != count:
        raise ShapeError(expected("axes of equal sizes to contract", left=x.template, right=q.template))
    others = [place for place in range(x.ndim) if place != along]
    names = (*(x.names[place] for place in others), *q.names[: q.axis], *q.names[q.axis + 1 :])
    shape = (*(x.shape[place] for place in others), *rest)
    flat = (math.prod(shape[: len(others)]), count)
    rows = reshape(moveaxis(x, along, -1), flat, names=(None, None))
    wide = x.dtype if x.dtype is float64 else float32
    multiplied = _product(count, math.prod(rest), q.block, q.dtype, q.axis if q.ndim else 0, wide)
    rows = astype(rows, wide)
    backend = q.values.backend
    whole = backend.quantized_product(rows, q) if rows.backend is backend else None
    if whole is not None:
        out = Tensor(Template((flat[0], math.prod(rest)), wide), backend, whole)
    else:
        # XLA makes a loop of a product of one row, which computes the numbers of the matrix much slower.
        alone = flat[0] == 1 and not backend.compiles_exactly
        out = multiplied(broadcast_to(rows, (2, count)) if alone else rows, q.values, q.scales, q.zeros)
        if alone:
            out = out[:1]
    if q.factor is not None:
        out = out * astype(stop_gradient(q.factor), wide)
    return reshape(astype(out, x.dtype), shape, names=names)


@lru_cache(maxsize=256)
def _product(count: int, width: int, block: int, dtype: DType, axis: int, wide: DType) -> Callable[..., Tensor]:
    """The compiled product with matrices of `count` rows and `width` columns, in a dtype and with blocks."""
    run = _run(count, width, block, 8 // dtype.bits)

    def runs(values: Tensor, scales: Tensor, points: Tensor | None) -> tuple[Any, ...]:
        """The parts of the matrix, with the runs along a first axis."""
        parts: list[Tensor | None] = []
        for part in (scales, points):
            if part is None:
                parts.append(None)
                continue
            part = reshape(part, (part.shape[0], -1))
            if run < block:  # several runs share a row
                part = repeat(part, min(block, count) // run, axis=0)
            parts.append(reshape(part, (count // run, part.shape[0] * run // count, part.shape[1])))
        return (reshape(values, (count // run, values.shape[0] * run // count, width)), *parts)

    groups = max(run // max(min(block, count), 1), 1)

    def columns(x: Tensor, groups: int) -> Tensor:
        """The columns of a matrix in runs and groups: (runs, groups, rows, columns)."""
        return permute_dims(reshape(x, (x.shape[0], count // run, groups, run // groups)), (1, 2, 0, 3))

    def forward(x: Tensor, values: Tensor, scales: Tensor, points: Tensor | None) -> Tensor:
        of_integers = dtype.kind in ("int", "uint") and (points is None or dtype.bits < 8)
        whole = run // groups % (8 // dtype.bits) == 0  # no byte has numbers of two groups
        few = of_integers and whole and x.shape[0] * groups < run

        def step(total: Tensor, parts: Any) -> tuple[Tensor, None]:
            part, packed, shared, zero = parts
            if not few:
                return total + matmul(part[0], scaled(packed, shared, zero, dtype, wide)), None
            # The sums are fewer than the numbers, and those of a group share a scale, so they are scaled.
            codes = reshape(packed, (groups, packed.shape[0] // groups, width))
            found = product_of_codes(part, codes, zero, dtype, wide)
            scaled_sums = found * astype(shared, wide)[:, None]
            return total + (scaled_sums[0] if groups == 1 else scaled_sums.sum(axis=0)), None

        start = zeros((x.shape[0], width), dtype=wide)
        total: Tensor = scan(step, start, (columns(x, groups if few else 1), *runs(values, scales, points)))[0]
        return total

    def backward(cotangent: Tensor, values: Tensor, scales: Tensor, points: Tensor | None) -> Tensor:
        def step(given: Tensor, matrix: Any) -> tuple[Tensor, Tensor]:
            packed, shared, zero = matrix
            return given, matmul(given, permute_dims(scaled(packed, shared, zero, dtype, wide), (1, 0)))

        slopes = scan(step, cotangent, runs(values, scales, points))[1]
        return reshape(permute_dims(slopes, (1, 0, 2)), (cotangent.shape[0], count))

    @custom_gradient
    def product(x: Tensor, values: Tensor, scales: Tensor, points: Tensor | None) -> Any:
        def pullback(cotangent: Tensor) -> tuple[Tensor | None, ...]:
            return transposed(cotangent, values, scales, points), None, None, None

        return forward(x, values, scales, points), pullback

    @custom_gradient
    def transposed(cotangent: Tensor, values: Tensor, scales: Tensor, points: Tensor | None) -> Any:
        def pullback(second: Tensor) -> tuple[Tensor | None, ...]:
            return product(second, values, scales, points), None, None, None

        return backward(cotangent, values, scales, points), pullback

    return jit(product)


remembers_calls("products with quantised matrices", _product)


def _run(count: int, width: int, block: int, each: int) -> int:
    """The number of rows to compute at a time: it divides all rows, and is a multiple or a divisor of the block."""
    most = max(_RUN // max(width, 1), 1)
    block = min(block, count)
    fits = [
        run
        for run in _divisors(count)
        if run % each == 0 and (run % block == 0 or block % run == 0)
    ]  # fmt: skip
    small = [run for run in fits if run <= most]
    return max(small) if small else min(fits)


def _divisors(count: int) -> list[int]:
    low = [number for number in range(1, math.isqrt(count) + 1) if count % number == 0]
    return sorted({*low, *(count // number for number in low)})
