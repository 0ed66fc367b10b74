"""Ranges by NumPy's own loop where its numbers are exact, else in blocks that stay in the cache."""

from __future__ import annotations

from typing import Any

from ...dtypes import Scalar, bfloat16, float16, float32, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...protocol.workspace import takes
from ...template import Template
from ..array_module.base import BLOCK, Array
from ..array_module.casting import itself
from ..array_module.creation import ArrayCreation, exact_up_to

_BLOCK = 4 * BLOCK
"""The number of elements of a block, which stays in the cache with the two blocks of float64 it is computed in."""


def _block_space(out: Template, /, **options: Any) -> int:
    return 2 * 8 * min(out.size, _BLOCK)


class NumpyCreation(ArrayCreation):
    """Constants, identity matrices and counters."""

    @takes(_block_space)
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
            return lambda: numpy.arange(first, stop, step, dtype)
        if isinstance(start, int) or count <= _BLOCK:
            return kernel_of(super().spaced, out, start=start, step=step, last=last)
        # NumPy's assignment rounds to these three dtypes as `as_type` does.
        narrow = itself if out.dtype in (float16, float32, float64) else self.caster(float64, out.dtype)
        wide = numpy_dtype(float64)

        def fill_blocks() -> Array:
            result, block = numpy.empty(count, dtype), numpy.empty(_BLOCK, wide)
            places = numpy.arange(0, _BLOCK, 1, wide)
            for begin in range(0, count, _BLOCK):
                part = result[begin : begin + _BLOCK]
                values = numpy.multiply(places[: len(part)], step, block[: len(part)])
                values += first
                part[...] = narrow(values)
                places += _BLOCK
            if last is not None:
                result[-1:] = narrow(numpy.asarray([last], wide))
            return result

        return fill_blocks
