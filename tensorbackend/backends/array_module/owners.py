"""Whether an array has memory of its own, so that a kernel may write to it."""

from __future__ import annotations

from ...protocol.owners import is_spare_base
from .base import Array


def owns_memory(values: Array) -> bool:
    """Whether an array has its memory from NumPy, all of it and in row-major order, so that it can be reshaped.

    An array may also be the only view of such memory, as the result of a product is that was reshaped.
    """
    flags, base = values.flags, values.base
    if not (flags.writeable and flags.c_contiguous):
        return False
    if base is None:
        return bool(flags.owndata)
    return type(base) is type(values) and base.flags.owndata and base.nbytes == values.nbytes and is_spare_base(base)
