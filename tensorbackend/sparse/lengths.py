"""Numbers of stored entries that are given beforehand, so that a trace knows the shapes.

More entries than that would be lost: where data can be read that is an error, in a trace all values say so.
"""

from __future__ import annotations

import math

from ..dtypes import iinfo
from ..errors import DataError, expected
from ..ops.composite.reduction import count_nonzero
from ..ops.creation.filled import iota
from ..ops.elementwise.binary import greater, less
from ..ops.elementwise.ternary import where
from ..tensor import Tensor


def filled(values: Tensor, chosen: Tensor, size: int) -> Tensor:
    """Values (..., size) of the elements where a mask holds: 0 where it holds of fewer, NaN throughout if of more."""
    return limited(values, count_nonzero(chosen), size)


def limited(values: Tensor, count: Tensor, size: int) -> Tensor:
    """Values (..., size) of which the first `count` are entries: 0 beyond, NaN throughout for more than `size`."""
    kept = where(less(iota(size, dtype=count.dtype, backend=values.backend), count), values, 0)
    try:
        number = count.item()
    except TypeError:  # of a trace, ours or JAX's
        lost = math.nan if values.dtype.is_inexact else iinfo(values.dtype).min or iinfo(values.dtype).max
        return where(greater(count, size), lost, kept)
    if isinstance(number, int) and number > size:
        raise DataError(expected(f"at most size={size} entries to store", "give a larger size", entries=number))
    return kept
