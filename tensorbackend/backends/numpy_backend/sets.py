"""What asks which elements there are, by one of NumPy's functions in place of many ops."""

from __future__ import annotations

from math import prod

from ...dtypes import DType, int64, promote_types
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.reduction import Unique
from ...template import Template, intern_template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.precision import computing, promoted, wide
from .reduction import NumpyReduction

_LONG = 1 << 10
"""A row of so many elements is parted before the greatest of them are put in order."""


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

    @planned
    def top_k(self, out: tuple[Template, Template], x: Template, /, *, k: int) -> Kernel:
        """The k greatest along the last axis, of equal ones the first first; the order of a long row is not needed."""
        numpy, size = self.xp, x.shape[-1] if x.shape else 1
        rows, dtype = prod(x.shape[:-1]), wide(x.dtype)
        ascending = self.order_of(x.replace(dtype=dtype), len(x.shape) - 1)
        among_few = self.order_of(intern_template((k,), dtype, (None,)), 0)

        def by_order(values: Array) -> tuple[Array, Array]:
            best = (size - 1 - ascending(values[..., ::-1])[..., ::-1])[..., :k]
            return numpy.take_along_axis(values, best, -1), best

        def of_row(values: Array) -> Array:
            bound = numpy.partition(values, size - k)[size - k]  # NaN is greatest
            if numpy.isnan(bound):
                return numpy.flatnonzero(numpy.isnan(values))[:k]
            equal = numpy.flatnonzero(values == bound)
            above = numpy.flatnonzero(~(values <= bound))
            found = numpy.sort(numpy.concatenate((above, equal[: k - len(above)])))
            return found[k - 1 - among_few(values[found][::-1])[::-1]]

        def by_parts(values: Array) -> tuple[Array, Array]:
            lines = values.reshape((rows, size))
            best = numpy.stack([of_row(line) for line in lines])
            return numpy.take_along_axis(lines, best, 1).reshape(out[0].shape), best.reshape(out[1].shape)

        kernel = by_parts if size >= _LONG and rows and 0 < k <= size // 8 else by_order
        return computing(kernel, out, x)

    def unique(self, x: Tensor, /, *, places: bool) -> Unique:
        """By one sort and one comparison of neighbours."""
        numpy, size, values = self.xp, x.size, x.data.reshape(-1)
        line = intern_template((size,), wide(x.dtype), (None,))
        values = values.astype(numpy_dtype(line.dtype), copy=False)
        order = self._order(line, values) if places or x.dtype.is_complex else None
        elements = self.ordering(line, 0)(values) if order is None else values[order]
        begins = numpy.ones(size, bool)
        numpy.not_equal(elements[1:], elements[:-1], begins[1:])
        starts = numpy.flatnonzero(begins)
        found = self._line(elements[starts].astype(numpy_dtype(x.dtype), copy=False), x.dtype)
        counts = self._line(numpy.diff(starts, append=size), int64)
        if order is None or not places:
            return Unique(found, None, None, counts)
        number = numpy.empty(size, numpy_dtype(int64))
        number[order] = numpy.cumsum(begins) - 1
        inverse = Tensor(x.template.replace(dtype=int64), self, number.reshape(x.shape))
        return Unique(found, self._line(order[starts], int64), inverse, counts)

    def _order(self, line: Template, values: Array) -> Array:
        """The positions of elements in order, of complex numbers by their real, then their imaginary parts."""
        if line.dtype.is_complex:
            return self.xp.lexsort((values.imag, values.real))
        return self.order_of(line, 0)(values)

    def _line(self, data: Array, dtype: DType) -> Tensor:
        return Tensor(intern_template(data.shape, dtype, (None,)), self, data.astype(numpy_dtype(dtype), copy=False))
