"""Reductions along axes, running sums, and the largest elements."""

from __future__ import annotations

from collections.abc import Callable

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_, value_range

from .registry import Int, Ints, operator

Reduction = Callable[..., Tensor]


def _sum(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _mean(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if tb.isdtype(x.dtype, "real floating"):
        return tb.mean(x, axis=axis, keepdims=keepdims)
    total = _sum(x, axis, keepdims)
    return tb.trunc_divide(total, x.size // max(total.size, 1))


def _max(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if x.dtype == bool_:
        return tb.any(x, axis=axis, keepdims=keepdims)
    if any(x.shape[a] == 0 for a in axis):
        return _sum(x, axis, keepdims) + value_range(x.dtype)[0]
    return tb.max(x, axis=axis, keepdims=keepdims)


def _min(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if x.dtype == bool_:
        return tb.all(x, axis=axis, keepdims=keepdims)
    if any(x.shape[a] == 0 for a in axis):
        return _sum(x, axis, keepdims) + value_range(x.dtype)[1]
    return tb.min(x, axis=axis, keepdims=keepdims)


def _l1(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return _sum(tb.abs(x), axis, keepdims)


def _l2(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.sqrt(_as_floats(_sum_square(x, axis, keepdims))).astype(x.dtype)


def _sum_square(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return _sum(tb.square(x), axis, keepdims)


def _log_sum(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.log(_as_floats(_sum(x, axis, keepdims))).astype(x.dtype)


def _log_sum_exp(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.logsumexp(_as_floats(x), axis=axis, keepdims=keepdims).astype(x.dtype)


def _as_floats(x: Tensor) -> Tensor:
    return x if tb.isdtype(x.dtype, "real floating") else x.astype(tb.float64)


REDUCTIONS: dict[str, tuple[Reduction, int]] = {
    "ReduceL1": (_l1, 18),
    "ReduceL2": (_l2, 18),
    "ReduceLogSum": (_log_sum, 18),
    "ReduceLogSumExp": (_log_sum_exp, 18),
    "ReduceMax": (_max, 18),
    "ReduceMean": (_mean, 18),
    "ReduceMin": (_min, 18),
    "ReduceProd": (_prod, 18),
    "ReduceSum": (_sum, 13),
    "ReduceSumSquare": (_sum_square, 18),
}
"""The reductions, and since which opset their axes are an input."""


def _by_attribute(function: Reduction) -> Callable[..., Tensor]:
    def reduce(x: Tensor, *, axes: tuple[int, ...] | None = None, keepdims: int = 1) -> Tensor:
        return function(x, _positions(x, axes), bool(keepdims))

    return reduce


def _by_input(function: Reduction) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axes: Ints | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Tensor:
        if not axes and noop_with_empty_axes:
            return function(x, (), True)
        return function(x, _positions(x, axes), bool(keepdims))

    return reduce


def _positions(x: Tensor, axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes, counted from the first; all of them where none are given."""
    return tuple(axis + x.ndim if axis < 0 else axis for axis in axes) if axes else tuple(range(x.ndim))


for _name, (_function, _since) in REDUCTIONS.items():
    operator(_name)(_by_attribute(_function))
    operator(_name, since=_since)(_by_input(_function))


@operator("ArgMax")
def arg_max(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    """Where the largest element is."""
    return tb.argmax(x, axis=axis, keepdims=bool(keepdims), tie_break="high" if select_last_index else "low")


@operator("ArgMin")
def arg_min(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    """The index of the minimum."""
    return tb.argmin(x, axis=axis, keepdims=bool(keepdims), tie_break="high" if select_last_index else "low")


def _running(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(x: Tensor, axis: Int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        found = function(x, axis=axis, dtype=x.dtype, include_initial=bool(exclusive), reverse=bool(reverse))
        if not exclusive:
            return found
        start = 1 if reverse else 0
        return tb.slice_along_axis(found, start, x.shape[axis], axis=axis)

    return run


operator("CumSum")(_running(tb.cumulative_sum))
operator("CumProd")(_running(tb.cumulative_prod))


@operator("TopK")
def top_k_by_attribute(x: Tensor, *, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k largest elements, before opset 10."""
    return top_k(x, k, axis=axis)


@operator("TopK", since=10)
def top_k(x: Tensor, k: Int, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Tensor, Tensor]:
    """The k largest, or least, elements and where they are; of equal ones the first come first."""
    values, indices = tb.top_k(x, k, axis=axis, largest=bool(largest))
    return values, indices
