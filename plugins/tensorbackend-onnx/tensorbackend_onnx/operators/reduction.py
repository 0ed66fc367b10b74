"""Reductions along axes, running sums, and the largest elements."""

from __future__ import annotations

from collections.abc import Callable

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_, value_range

from .registry import Int, Ints, operator, rows

Reduction = Callable[..., Tensor]


def _sum(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return tb.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _mean(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if tb.isdtype(x.dtype, "real floating"):
        return tb.mean(x, axis=axis, keepdims=keepdims)
    total = _sum(x, axis, keepdims)
    return tb.trunc_divide(total, x.size // max(total.size, 1))


def _extreme(function: Reduction, of_bools: Reduction, end: int) -> Reduction:
    """A maximum or minimum, which is an end of the range of the dtype where an axis has no entries."""

    def reduce(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
        if x.dtype == bool_:
            return of_bools(x, axis=axis, keepdims=keepdims)
        if any(x.shape[a] == 0 for a in axis):
            return _sum(x, axis, keepdims) + value_range(x.dtype)[end]
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _in_floats(function: Reduction) -> Reduction:
    """A reduction that is computed with floats, in the dtype of x."""

    def reduce(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
        floats = x if tb.isdtype(x.dtype, "real floating") else x.astype(tb.float64)
        return function(floats, axis=axis, keepdims=keepdims).astype(x.dtype)

    return reduce


def _of(function: Callable[[Tensor], Tensor]) -> Reduction:
    """The sum of a function of each element."""
    return lambda x, axis, keepdims: _sum(function(x), axis, keepdims)


REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": _of(tb.abs),
    "ReduceL2": _in_floats(tb.linalg.vector_norm),  # whose gradient is 0 where all elements are
    "ReduceLogSum": _in_floats(lambda x, axis, keepdims: tb.log(_sum(x, axis, keepdims))),
    "ReduceLogSumExp": _in_floats(tb.logsumexp),
    "ReduceMax": _extreme(tb.max, tb.any, 0),
    "ReduceMean": _mean,
    "ReduceMin": _extreme(tb.min, tb.all, 1),
    "ReduceProd": lambda x, axis, keepdims: tb.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype),
    "ReduceSum": _sum,
    "ReduceSumSquare": _of(tb.square),
}


def _reducing(function: Reduction) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axes: Ints | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Tensor:
        return function(x, axes or (() if noop_with_empty_axes else tuple(range(x.ndim))), bool(keepdims))

    return reduce


for _name, _function in REDUCTIONS.items():
    operator(_name, attributes_before=13 if _name == "ReduceSum" else 18)(_reducing(_function))


def _place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def place(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
        return function(x, axis=axis, keepdims=bool(keepdims), tie_break="high" if select_last_index else "low")

    return place


def _running(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(x: Tensor, axis: Int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        found = function(x, axis=axis, dtype=x.dtype, include_initial=bool(exclusive), reverse=bool(reverse))
        if not exclusive:
            return found
        return tb.slice_along_axis(found, int(bool(reverse)), x.shape[axis], axis=axis)

    return run


rows(
    {
        "ArgMax": _place(tb.argmax),
        "ArgMin": _place(tb.argmin),
        "CumProd": _running(tb.cumulative_prod),
        "CumSum": _running(tb.cumulative_sum),
    }
)


@operator("TopK", attributes_before=10)
def top_k(x: Tensor, k: Int, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Tensor, Tensor]:
    """The k largest, or least, elements and where they are; of equal ones the first come first."""
    values, indices = tb.top_k(x, k, axis=axis, largest=bool(largest))
    return values, indices
