"""Shortcuts that look at data or write to it: an eager module's arrays are there at once, another module's are computed
elsewhere or later, or never change.

Looking at an element of such an array waits for it, and while a function is traced there is none. So shared code asks
here, and takes the long way where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

Array: TypeAlias = Any


def certainly(xp: Any, flags: Array) -> bool:
    """Whether all flags are known to hold: only those of an eager module are looked at."""
    return xp.eager and bool(xp.count_nonzero(flags) == flags.size)


def replaced(xp: Any, values: Array, where: Array, function: Callable[..., Array], *operands: Array) -> Array:
    """Values with those of a function of the module and operands in some places; all have one shape.

    An eager module computes the function there alone, and writes into `values`, which must be fresh. Another one
    computes it everywhere, or not at all where it can choose so while it runs.
    """
    if not xp.eager:
        return xp.if_any(where, lambda: xp.where(where, function(xp, *operands).astype(values.dtype), values), values)
    values = xp.asarray(values)
    if where.any():
        values[where] = function(xp, *(x[where] for x in operands))
    return values


def fits_float64(xp: Any, terms: int, *factors: Array) -> bool:
    """Whether float64 holds every sum of so many products of integers exactly: by their dtype, or by a look at them.

    BLAS has no integers, but is a hundred times faster than what counts in them.
    """
    bits = 8 * sum(factor.dtype.itemsize for factor in factors)
    if bits < 53 and terms < 1 << (53 - bits):
        return True
    if not xp.eager or not all(factor.size for factor in factors):
        return False
    return terms * prod(max(abs(int(factor.min())), abs(int(factor.max()))) for factor in factors) <= 1 << 53
