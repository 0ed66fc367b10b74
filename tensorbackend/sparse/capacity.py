"""Limits on the number of stored entries: a caller sets them in advance, so that a trace knows the shapes.

Entries beyond the limit would be lost. If data can be read, they raise an error. In a trace, all values become NaN or,
for integers, the minimum of the dtype (the maximum of an unsigned one).
"""

from __future__ import annotations

import math

from ..dtypes import iinfo
from ..errors import DataError, expected
from ..ops.composite.reduction import count_nonzero
from ..ops.creation.filled import iota
from ..ops.elementwise.ternary import where
from ..tensor import Tensor


def compress_to_size(values: Tensor, chosen: Tensor, size: int) -> Tensor:
    """The elements for which the mask `chosen` is true, (..., size), and 0 after them; see `zero_beyond_count`."""
    return zero_beyond_count(values, count_nonzero(chosen), size)


def zero_beyond_count(values: Tensor, count: Tensor, size: int) -> Tensor:
    """Values (..., size) with 0 after the first `count`. More than `size` are a `DataError`, in a trace all NaN."""
    kept = where(iota(size, dtype=count.dtype, backend=values.backend) < count, values, 0)
    if fits(count, size):
        return kept
    lost = math.nan if values.dtype.is_inexact else iinfo(values.dtype).min or iinfo(values.dtype).max
    return where(count > size, lost, kept)


def fits(count: Tensor, size: int) -> bool:
    """Whether a count is known to be at most `size`; `False` in a trace. `DataError` if it is more."""
    try:
        number = count.item()
    except TypeError:  # the count is a value of a trace, ours or JAX's
        return False
    if isinstance(number, int) and number > size:
        raise DataError(expected(f"at most size={size} entries to store", "give a larger size", entries=number))
    return True
