"""Shortcuts that read data or write to it, for eager modules.

An eager module's arrays are there at once. Another module's arrays are computed elsewhere or later, or cannot be
written to: reading an element waits for it, and while a function is traced there are no elements. So shared code checks
here, and takes the long way where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

Array: TypeAlias = Any


def certainly(xp: Any, flags: Array) -> bool:
    """Whether all flags are known to be true; only an eager module's flags are read."""
    return xp.eager and bool(xp.count_nonzero(flags) == flags.size)


def replace_where(xp: Any, values: Array, where: Array, function: Callable[..., Array], *operands: Array) -> Array:
    """`values`, with the results of `function(xp, *operands)` in the places where `where` is true; all have one shape.

    With an eager module the function is computed in those places alone and written into `values`, which must be fresh.
    Another module computes it everywhere, or not at all if it can find at run time that there is no such place.
    """
    if not xp.eager:
        return xp.if_any(where, lambda: xp.where(where, function(xp, *operands).astype(values.dtype), values), values)
    values = xp.asarray(values)
    if where.any():
        values[where] = function(xp, *(x[where] for x in operands))
    return values


def fits_float64(xp: Any, terms: int, *factors: Array) -> bool:
    """Whether float64 holds every sum of `terms` products of integers exactly, by their dtypes or by their values.

    The values are only read if the module is eager. BLAS multiplies no integers, but in float64 it is a hundred times
    faster than the module's integer product.
    """
    bits = 8 * sum(factor.dtype.itemsize for factor in factors)
    if bits < 53 and terms < 1 << (53 - bits):
        return True
    if not xp.eager or not all(factor.size for factor in factors):
        return False
    return terms * prod(max(abs(int(factor.min())), abs(int(factor.max()))) for factor in factors) <= 1 << 53
