"""Ranges by NumPy's own loop where its numbers are exact, else in blocks that stay in the cache."""

from __future__ import annotations

from ...dtypes import Scalar, bfloat16, float64
from ...interchange import numpy_dtype
from ...protocol import Calm, Kernel, kernel_of, planned
from ...protocol.planned import bare
from ...template import Template
from ..array_module.base import Array
from ..array_module.creation import ArrayCreation, exact_up_to

_BLOCK = 1 << 13
"""The number of elements of a block, which stays in the cache with the block that it is computed from."""


class NumpyCreation(ArrayCreation):
    """Constants, identity matrices and counters."""

    @planned
    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Kernel:
        """The numbers `start`, `start + step` and so on; `last` replaces the last one."""
        numpy, (count,), dtype = self.xp, out.shape, numpy_dtype(out.dtype)
        if isinstance(start, complex) or isinstance(step, complex) or not step or not count:
            return kernel_of(super().spaced, out, start=start, step=step, last=last)
        stop, first = start + count * step, start
        whole = start == start // 1 and step == step // 1
        largest = max(abs(start), abs(stop))
        # For larger numbers, the quotient by which NumPy finds the count is inexact.
        held = largest <= min(exact_up_to(out.dtype), 1 << 53)
        if out.dtype.kind == "uint":  # NumPy takes neither a negative number nor a negative step in its dtype
            held = held and start >= 0 and step > 0
        if whole and last is None and out.dtype is not bfloat16 and held:
            return Calm(lambda: numpy.arange(first, stop, step, dtype))
        if isinstance(start, int) or count <= _BLOCK:
            return kernel_of(super().spaced, out, start=start, step=step, last=last)
        narrow, wide = bare(self.caster(float64, out.dtype)), numpy_dtype(float64)

        def by_blocks() -> Array:
            result, places = numpy.empty(count, dtype), numpy.arange(0, _BLOCK, 1, wide)
            for begin in range(0, count, _BLOCK):
                part = result[begin : begin + _BLOCK]
                values = places[: len(part)] + begin
                values *= step
                values += first
                part[...] = narrow(values)
            if last is not None:
                result[-1:] = narrow(numpy.asarray([last], wide))
            return result

        return by_blocks
