"""Unions, intersections and differences of two tensors as sets of their elements, in ascending order.

As in `unique_values`, -0.0 equals 0.0. As in `isin`, NaN equals nothing. The number of elements depends on data: with a
`size` none is read, so that `jit` and dry runs know the shape of the result.
"""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..dtypes import Scalar, scalar_kind
from ..tensor import Tensor, TensorLike
from .composite.indexing.positions import check_size, nonzero, read_count
from .composite.sorting.searching import isin
from .creation.filled import full
from .elementwise.basic import where
from .elementwise.binary import logical_and
from .indexing.taking import take_at
from .inspection import common_operands
from .reduction import sum
from .sets import first_of_runs, unique_values
from .shape import concatenate, laid_flat


def _operands(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
    """Two tensors, flattened, in their common dtype."""
    x1, x2 = common_operands(x1, x2)
    return laid_flat(x1), laid_flat(x2)


def _select_elements(elements: Tensor, holds: Tensor, size: int | None, fill_value: Scalar, function: str) -> Tensor:
    """The elements for which a mask holds, all or `size` of them, filled up with a value."""
    count = read_count(sum(holds), function) if size is None else check_size(size)
    total, dtype = elements.size, elements.dtype
    value = bool(fill_value) if dtype.kind == "bool" and scalar_kind(fill_value) else fill_value
    filling = full((count,), value, dtype=dtype, backend=elements.backend)
    if not total:
        return filling
    places = nonzero(holds, size=count, fill_value=total)[0]
    return where(places < total, take_at(elements, places, axis=0, mode="clip"), filling)


@check_arguments
def union1d(x1: TensorLike, x2: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> Tensor:
    """The different elements of two tensors in ascending order.

    >>> tb.union1d(tb.asarray([3, 1]), tb.asarray([[2, 3]])).tolist()
    [1, 2, 3]
    """
    return unique_values(concatenate(_operands(x1, x2)), size=size, fill_value=fill_value)


@check_arguments
def intersect1d(x1: TensorLike, x2: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> Tensor:
    """The different elements that are in both tensors, in ascending order.

    >>> tb.intersect1d(tb.asarray([3, 1, 3]), tb.asarray([2, 3])).tolist()
    [3]
    >>> tb.intersect1d(tb.asarray([3, 1, 3]), tb.asarray([2, 3]), size=2, fill_value=-1).tolist()
    [3, -1]
    """
    first, second = _operands(x1, x2)
    elements, begins = first_of_runs(first)
    return _select_elements(elements, logical_and(begins, isin(elements, second)), size, fill_value, "intersect1d()")


@check_arguments
def setdiff1d(x1: TensorLike, x2: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> Tensor:
    """The different elements of x1 that are not in x2, in ascending order.

    >>> tb.setdiff1d(tb.asarray([3, 1, 3]), tb.asarray([2, 3])).tolist()
    [1]
    """
    first, second = _operands(x1, x2)
    elements, begins = first_of_runs(first)
    holds = logical_and(begins, isin(elements, second, invert=True))
    return _select_elements(elements, holds, size, fill_value, "setdiff1d()")


@check_arguments
def setxor1d(x1: TensorLike, x2: TensorLike, /, *, size: int | None = None, fill_value: Scalar = 0) -> Tensor:
    """The different elements that are in exactly one of the tensors, in ascending order.

    >>> tb.setxor1d(tb.asarray([3, 1, 3]), tb.asarray([2, 3])).tolist()
    [1, 2]
    """
    first, second = _operands(x1, x2)
    elements, begins = first_of_runs(concatenate([first, second]))
    both = logical_and(isin(elements, first), isin(elements, second))
    return _select_elements(elements, logical_and(begins, ~both), size, fill_value, "setxor1d()")
