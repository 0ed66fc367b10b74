"""The default backend: payloads are NumPy arrays of exactly the template's shape and dtype."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...dtypes import ALL_DTYPES, bfloat16
from ...interchange import aligned_copy, numpy_dtype, read_only
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module import ArrayModuleBackend
from ..array_module.base import Array, Quiet, kernel
from ..array_module.linalg import matrix_product
from .creation import NumpyCreation
from .elementwise import NumpyElementwise

if TYPE_CHECKING:
    import numpy


_BLOCK = 1 << 13
"""Elements of a block that stays in the cache with a few more of its size."""

_MANY = 1 << 10
"""So many elements are worth a few passes before they are sorted."""


class NumpyBackend(NumpyCreation, NumpyElementwise, ArrayModuleBackend):
    """NumPy arrays; what leaves them shares memory wherever a reader cannot write to it."""

    name = "numpy"
    dlpack_dtypes = frozenset(ALL_DTYPES) - {bfloat16}

    def setup(self) -> None:
        """Imports NumPy; its floating-point reports are off in a context of this backend alone."""
        import numpy

        self.xp = numpy
        self.quiet = Quiet(partial(numpy.seterr, all="ignore"))
        self.watching = Quiet(partial(numpy.seterr, all="raise", under="ignore"))
        self.watching_all = Quiet(partial(numpy.seterr, all="raise"))

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """A view of the bytes, which nothing can change."""
        return self.xp.frombuffer(bytes(data), numpy_dtype(out.dtype)).reshape(out.shape)

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        data: bytes = (x.data if limit >= x.size else x.data.flat[:limit]).tobytes()
        return data

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """The array itself, or a copy of it."""
        dtype = numpy_dtype(out.dtype)
        if array.dtype is dtype and array.__class__ is self.xp.ndarray and not copy:
            return array
        return aligned_copy(array, dtype) if copy else array.astype(dtype, copy=False, subok=False)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The payload as a read-only view, or a fresh array."""
        return read_only(x.data, dtype, copy)

    # What is NumPy's own: caches to work in, ufuncs that accumulate

    def encrypt(self, key: Array, first: Array, second: Array) -> None:
        """The many steps of a random word on a block at a time."""
        for start in range(0, first.size, _BLOCK):
            super().encrypt(key, first[start : start + _BLOCK], second[start : start + _BLOCK])

    @kernel
    def cumulative_max(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Greatest element up to each."""
        return self._running(self.xp.maximum, x, axis, reverse)

    @kernel
    def cumulative_min(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Least element up to each."""
        return self._running(self.xp.minimum, x, axis, reverse)

    def _running(self, extreme: Any, x: Tensor, axis: int, reverse: bool) -> Array:
        numpy = self.xp
        values = numpy.flip(x.data, axis) if reverse else x.data
        running = extreme.accumulate(values, axis=axis)
        if x.dtype.is_floating:
            # Of zeros NumPy keeps either; one of the winning sign stays from where it is first met.
            wins = numpy.signbit(values) == (extreme is numpy.minimum)
            met = numpy.logical_or.accumulate((values == 0) & wins, axis=axis)
            zero = values.dtype.type(-0.0 if extreme is numpy.minimum else 0.0)
            running = numpy.where((running == 0) & met, zero, running)
        return numpy.flip(running, axis) if reverse else running

    @kernel
    def matmul(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """NumPy's own, which broadcasts the leading axes."""
        left, right = self.promoted(x1, out), self.promoted(x2, out)
        left = left[None] if left.ndim == 1 else left
        right = right[:, None] if right.ndim == 1 else right
        return self.narrowed(matrix_product(self.xp, left, right).reshape(out.shape), out)

    def in_order(self, values: Array, axis: int) -> Array:
        """By NumPy's vectorised sort where equal values look alike, as all but zeros of two signs do.

        That is for elements of 32 and 64 bits; the stable sort of smaller ones is a radix sort, and quick as well.
        """
        if not _is_worth(values) or (values.dtype.kind == "f" and self._has_both_zeros(values)):
            return super().in_order(values, axis)
        return self.xp.sort(values, axis=axis)

    def _has_both_zeros(self, values: Array) -> bool:
        negative = self.xp.signbit(values[values == 0])
        return bool(negative.any()) and not negative.all()

    def order_of(self, values: Array, axis: int) -> Array:
        """By the same sort of whole numbers that hold both a value and, in the lower bits, its index."""
        ranked, bits = self._ranked(values) if _is_worth(values) else None, values.shape[axis].bit_length()
        if ranked is None or int(ranked.max()) >> (64 - bits):
            return super().order_of(values, axis)
        numpy = self.xp
        index = numpy.arange(values.shape[axis], dtype="uint64")
        packed = ranked << numpy.uint64(bits) | index.reshape((-1, *(1,) * (values.ndim - axis - 1)))
        packed.sort(axis=axis)
        packed &= numpy.uint64((1 << bits) - 1)
        return packed.view("int64")

    def _ranked(self, values: Array) -> Array | None:
        """Unsigned integers of 64 bits in the same order, from 0 on; `None` for float64, which leaves no bit free."""
        numpy = self.xp
        if values.dtype.kind != "f":
            return values.astype("uint64") - numpy.uint64(int(values.min()) % (1 << 64))
        if values.dtype.itemsize > 4:
            return None
        # Of floats the bits are in order but for the sign: https://stereopsis.com/radix.html
        bits = (values + numpy.float32(0)).view("uint32")  # zeros of both signs are equal
        ranks = numpy.where(bits >> numpy.uint32(31), ~bits, bits | numpy.uint32(1 << 31))
        ranks[numpy.isnan(values)] = (1 << 32) - 1
        return ranks.astype("uint64")


def _is_worth(values: Array) -> bool:
    """Whether NumPy's vectorised sort is quicker than its stable one by more than what else it takes."""
    return bool(values.size >= _MANY and values.dtype.itemsize >= 4)
