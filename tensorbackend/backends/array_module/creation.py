"""Callbacks that create arrays without operands."""

from __future__ import annotations

from ...dtypes import DType, Scalar, bfloat16, complex128, float64, iinfo, int64
from ...dtypes.packing import element_type, pack
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...sizes import apply, is_symbolic
from ...template import Template
from .base import Array, ArrayBase, flagless_kernel


class ArrayCreation(ArrayBase):
    """Constants, identity matrices and counters."""

    @planned
    def constant(self, out: Template, /, *, value: Scalar) -> Kernel:
        """Every element is `value`; for zeros the memory is allocated as zeros."""
        xp, shape, dtype = self.xp, out.shape, numpy_dtype(out.dtype)
        if not is_symbolic(value) and not any(pack([element_type(out.dtype)(value)], out.dtype)):
            return flagless_kernel(lambda: xp.zeros(shape, dtype))
        # A library rounds a float to bfloat16 by way of float32, and so rounds twice.
        source = float64 if out.dtype is bfloat16 else out.dtype
        to_dtype = self.caster(source, out.dtype)
        scalar = apply(lambda number: to_dtype(xp.asarray(number, numpy_dtype(source))), value)

        def kernel() -> Array:
            array = xp.empty(shape, dtype)
            array[...] = scalar
            return array

        return flagless_kernel(kernel)

    @planned
    def eye(self, out: Template, /, *, offset: int) -> Kernel:
        """Ones on one diagonal of the last two axes."""
        eye, broadcast_to, shape, dtype = self.xp.eye, self.xp.broadcast_to, out.shape, numpy_dtype(out.dtype)
        rows, columns = shape[-2:]
        if len(shape) == 2:
            return flagless_kernel(lambda: eye(rows, columns, offset, dtype))
        return flagless_kernel(lambda: broadcast_to(eye(rows, columns, offset, dtype), shape))

    @planned
    def iota(self, out: Template, /, *, axis: int | None) -> Kernel:
        """Each element is its index, along an axis or in row-major order."""
        broadcast_to, shape = self.xp.broadcast_to, out.shape
        counter = self._counter(out.size if axis is None else shape[axis], out.dtype)
        if axis is None:
            return counter if len(shape) == 1 else lambda: counter().reshape(shape)
        lined_up = tuple(size if i == axis else 1 for i, size in enumerate(shape))
        return lambda: broadcast_to(counter().reshape(lined_up), shape)

    def _counter(self, count: int, dtype: DType) -> Kernel:
        """A kernel that returns 0, 1, 2 and so on: made in the dtype if it holds all of them, else cast from int64."""
        arange, direct = self.xp.arange, numpy_dtype(dtype)
        if dtype.is_numeric and dtype is not bfloat16 and count <= exact_up_to(dtype):
            return flagless_kernel(lambda: arange(0, count, 1, direct))
        narrow, wide = self.caster(int64, dtype), numpy_dtype(int64)
        return lambda: narrow(arange(0, count, 1, wide))

    @planned
    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Kernel:
        """The numbers `start`, `start + step` and so on, computed in 64 bits a part; `last` replaces the last one."""
        arange, (count,) = self.xp.arange, out.shape
        wide = int64 if isinstance(start, int) else complex128 if isinstance(start, complex) else float64
        dtype, narrow = numpy_dtype(wide), self.caster(wide, out.dtype)
        if isinstance(start, int):  # modulo 2**64: int64 has the upper half as negative numbers
            start, step = ((int(number.real) + (1 << 63)) % (1 << 64) - (1 << 63) for number in (start, step))
        first, apart = (self.xp.asarray(number, dtype) for number in (start, step))

        def kernel() -> Array:
            values = arange(0, count, 1, dtype) * apart + first
            if last is not None:
                values[-1] = last
            return narrow(values)

        return kernel


def exact_up_to(dtype: DType) -> int:
    """A bound up to which a dtype holds every whole number."""
    return iinfo(dtype).max if dtype.is_integer else 2 << dtype.mantissa_bits if dtype.is_inexact else 0
