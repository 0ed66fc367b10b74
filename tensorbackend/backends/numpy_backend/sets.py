"""What asks which elements there are, by one of NumPy's functions in place of many ops."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from ...dtypes import DType, int64, promote_types
from ...interchange import numpy_dtype
from ...memo import MEMO_LIMIT
from ...protocol import Kernel, planned
from ...protocol.reduction import Unique
from ...protocol.workspace import takes
from ...template import Template, intern_template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.precision import computing, promoted, wide
from ..array_module.space import nbytes, widened
from .reduction import NumpyReduction

_LONG = 1 << 10
"""A row of so many elements is parted before the greatest of them are put in order."""


def _top_space(out: tuple[Template, Template], x: Template, /, *, k: int) -> int:
    """Ranks and indices of all elements; of long rows a copy of one at a time, and places in it."""
    row = x.shape[-1] if x.shape else 1
    if row >= _LONG and x.size and 0 < k <= row // 8:
        return widened(x) + 5 * nbytes(row, wide(x.dtype)) // 2
    return max(0, widened(x) + 16 * x.size - sum(each.nbytes for each in out))


class NumpySets(NumpyReduction):
    """Sets of elements, and the greatest of them."""

    @planned
    def isin(self, out: Template, x1: Template, x2: Template, /, *, invert: bool) -> Kernel:
        """NumPy's own, to which NaN is equal to none as well."""
        isin = self.xp.isin
        return promoted(
            self,
            promote_types(x1.dtype, x2.dtype),
            lambda values, among: isin(values, among, invert=invert),
            out,
            x1,
            x2,
        )

    @takes(_top_space)
    @planned
    def top_k(self, out: tuple[Template, Template], x: Template, /, *, k: int) -> Kernel:
        """The k greatest along the last axis, of equal ones the first first; the order of a long row is not needed."""
        numpy, size = self.xp, x.shape[-1] if x.shape else 1
        rows, dtype = prod(x.shape[:-1]), wide(x.dtype)
        ascending = self.order_of(x.replace(dtype=dtype), len(x.shape) - 1)

        def by_order(values: Array) -> tuple[Array, Array]:
            best = (size - 1 - ascending(values[..., ::-1])[..., ::-1])[..., :k]
            return numpy.take_along_axis(values, best, -1), best

        def of_row(values: Array) -> Array:
            bound = numpy.partition(values, size - k)[size - k]
            found = numpy.flatnonzero(~(values < bound))  # NaN is greatest; more than k where some are equal
            return found[len(found) - 1 - values[found][::-1].argsort(-1, "stable")[::-1]][:k]

        def by_parts(values: Array) -> tuple[Array, Array]:
            lines = values.reshape((rows, size))
            best = numpy.stack([of_row(line) for line in lines])
            return numpy.take_along_axis(lines, best, 1).reshape(out[0].shape), best.reshape(out[1].shape)

        kernel = by_parts if size >= _LONG and rows and 0 < k <= size // 8 else by_order
        return computing(kernel, out, x)

    def unique(self, x: Tensor, /, *, places: bool, counts: bool) -> Unique:
        """By one sort and one comparison of neighbours."""
        sort, argsort = _orders(self, x.size, x.dtype)
        values = x.data.reshape(-1)
        order = argsort(values) if places or x.dtype.is_complex else None
        elements = sort(values) if order is None else values[order]
        begins = self.xp.empty(x.size, bool)
        begins[:1] = True
        self.xp.not_equal(elements[1:], elements[:-1], begins[1:])
        (starts,) = begins.nonzero()
        return Unique(
            self._line(elements[starts], x.dtype),
            self._line(order[starts], int64) if order is not None and places else None,
            self._inverse(x, begins, order) if order is not None and places else None,
            self._line(self.xp.diff(starts, append=x.size), int64) if counts else None,
        )

    def _inverse(self, x: Tensor, begins: Array, order: Array) -> Tensor:
        """For each element the number of its run."""
        number = self.xp.empty(x.size, numpy_dtype(int64))
        number[order] = begins.cumsum() - 1
        return Tensor(x.template.replace(dtype=int64), self, number.reshape(x.shape))

    def _line(self, data: Array, dtype: DType) -> Tensor:
        return Tensor(intern_template(data.shape, dtype, (None,)), self, data.astype(numpy_dtype(dtype), copy=False))


@lru_cache(MEMO_LIMIT)
def _orders(backend: NumpySets, size: int, dtype: DType) -> tuple[Kernel, Kernel]:
    """What sorts so many elements, and what finds their order, of complex numbers by their real parts first."""
    x = intern_template((size,), dtype, (None,))
    if dtype.is_complex:
        lexsort = backend.xp.lexsort
        return (
            lambda values: values[lexsort((values.imag, values.real))],
            lambda values: lexsort((values.imag, values.real)),
        )
    wider = x.replace(dtype=wide(dtype))
    return computing(backend.ordering(wider, 0), x, x), computing(backend.order_of(wider, 0), x.replace(dtype=int64), x)
