"""Callbacks that sort, search and find distinct elements, by one of NumPy's functions in place of many ops."""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from operator import getitem
from typing import Final

from ....caching.memos import remembers_calls
from ....caching.option_keys import MEMO_LIMIT
from ....dtypes import DType, complex128, float64, int64, promote_types
from ....interchange import numpy_dtype
from ....protocol import Kernel, planned
from ....protocol.sorting import Unique
from ....protocol.workspace import takes
from ....rules.shape import template_without_names
from ....template import Template, intern_template
from ....tensor import Tensor
from ...array_module.base import Array
from ...array_module.precision import computing_kernel, int64_kernel, promoting_kernel, wide
from ...array_module.sorting import ArraySorting
from ...array_module.workspace_bytes import brought, float32_copy_bytes, nbytes

_LEAST_PARTITIONED_ROW = 1 << 10
"""A row of at least this many elements is partitioned before its largest elements are sorted."""


def _top_space(out: tuple[Template, Template], x: Template, /, *, k: int) -> int:
    """The bytes of ranks and indices of all elements; for long rows, of a copy of one row and positions in it."""
    row = x.shape[-1] if x.shape else 1
    if row >= _LEAST_PARTITIONED_ROW and x.size and 0 < k <= row // 8:
        return float32_copy_bytes(x) + 5 * nbytes(row, wide(x.dtype)) // 2
    return max(0, float32_copy_bytes(x) + 16 * x.size - sum(template.nbytes for template in out))


def _sought_space(out: Template, x1: Template, x2: Template, /, *, invert: bool) -> int:
    """The bytes of sorted operands and their permutations; NumPy compares x1 with each element of a small x2."""
    dtype = wide(promote_types(x1.dtype, x2.dtype))
    copies = brought(dtype, x1, x2)
    if x2.size < 10 * x1.size**0.145:  # as NumPy chooses
        return copies + x1.size
    element = dtype.bits // 8
    return copies + (24 + 3 * element) * x1.size + (11 + 3 * element) * x2.size  # as measured


def _parts(out: Template) -> tuple[DType, DType, DType]:
    """The dtypes in which `interp` computes the places, the points and the values."""
    return float64, float64, complex128 if out.dtype.is_complex else float64


def _between_space(out: Template, x: Template, xp: Template, fp: Template, /, **options: object) -> int:
    """The bytes of operands and results in 64 bits a part, and of slopes."""
    dtypes = _parts(out)
    copies = sum(brought(dtype, each) for each, dtype in zip((x, xp, fp), dtypes, strict=True))
    return copies + brought(dtypes[2], out) + 2 * nbytes(xp.size + 2, dtypes[2])


class NumpySorting(ArraySorting):
    """Orderings, sets of elements, and their largest elements."""

    @takes(_sought_space)
    @planned
    def isin(self, out: Template, x1: Template, x2: Template, /, *, invert: bool) -> Kernel:
        """NumPy's `isin`, for which NaN equals no element either."""
        kernel = partial(self.xp.isin, invert=invert)
        return promoting_kernel(self, promote_types(x1.dtype, x2.dtype), kernel, out, x1, x2)

    @takes(_top_space)
    @planned
    def top_k(self, out: tuple[Template, Template], x: Template, /, *, k: int) -> Kernel:
        """The k largest elements along the last axis, equal ones in order; of a long row only these are sorted."""
        numpy, size = self.xp, x.shape[-1] if x.shape else 1
        rows, dtype = prod(x.shape[:-1]), wide(x.dtype)
        ascending = self.order_of(x.replace(dtype=dtype), len(x.shape) - 1)

        along = getitem if len(x.shape) == 1 else lambda values, best: numpy.take_along_axis(values, best, -1)

        def select_by_order(values: Array) -> tuple[Array, Array]:
            best = (size - 1 - ascending(values[..., ::-1])[..., ::-1])[..., :k]
            return along(values, best), best

        def select_in_row(values: Array) -> Array:
            bound = numpy.partition(values, size - k)[size - k]
            candidates = numpy.flatnonzero(~(values < bound))  # NaN is largest; more than k if some are equal
            return candidates[len(candidates) - 1 - values[candidates][::-1].argsort(-1, "stable")[::-1]][:k]

        def select_in_parts(values: Array) -> tuple[Array, Array]:
            lines = values.reshape((rows, size))
            best = numpy.stack([select_in_row(line) for line in lines])
            return numpy.take_along_axis(lines, best, 1).reshape(out[0].shape), best.reshape(out[1].shape)

        kernel = select_in_parts if size >= _LEAST_PARTITIONED_ROW and rows and 0 < k <= size // 8 else select_by_order
        return computing_kernel(kernel, out, x)

    def unique(self, x: Tensor, /, *, places: bool, counts: bool) -> Unique:
        """Finds the distinct elements by one sort and one comparison of neighbours, or by counting close integers."""
        template = x.template
        size, dtype = template.size, template.dtype
        if size >= _LEAST_ELEMENTS_FOR_PASSES and dtype.is_integer and not places:
            lowest, highest = int(x.data.min()), int(x.data.max())
            if highest - lowest < size:
                return self._count_integers(x, lowest, counts)
        sort, argsort = _orders(self, size, dtype)
        values, order = x.data.reshape(-1), None
        if places:
            order = argsort(values)
            elements = values[order]
        else:
            elements = sort(values)
        begins = self.xp.empty(size, bool)
        if size:
            begins[0] = True
            self.xp.not_equal(elements[1:], elements[:-1], begins[1:])
        distinct = elements[begins]
        different = Tensor(template_without_names((len(distinct),), dtype), self, distinct)
        if order is None and not counts:
            return Unique(different, None, None, None)
        (starts,) = begins.nonzero()
        lengths = self._indices(self._lengths(starts, size)) if counts else None
        if order is None:
            return Unique(different, None, None, lengths)
        return Unique(different, self._indices(order[starts]), self._inverse(x, begins, order), lengths)

    def _count_integers(self, x: Tensor, lowest: int, counts: bool) -> Unique:
        """Counts how often each integer from `lowest` on occurs, in a table, and keeps those that occur."""
        dtype, numpy = x.data.dtype, self.xp
        offset = dtype.type(lowest)
        # A distance from the lowest may be beyond the dtype's limits, but not as an unsigned integer.
        distances = (x.data.reshape(-1) - offset).view(f"uint{8 * dtype.itemsize}")
        table = numpy.bincount(distances.astype(numpy.intp))
        (found,) = table.nonzero()
        distinct = found.astype(dtype) + offset
        values = Tensor(template_without_names((len(distinct),), x.dtype), self, distinct)
        return Unique(values, None, None, self._indices(table[found]) if counts else None)

    def _lengths(self, starts: Array, size: int) -> Array:
        """The length of each run: the distance from its start to the start of the next run, or to the end."""
        ends = self.xp.empty_like(starts)
        ends[:-1], ends[-1:] = starts[1:], size
        return ends - starts

    def _inverse(self, x: Tensor, begins: Array, order: Array) -> Tensor:
        """For each element, the number of its run."""
        number = self.xp.empty(x.size, numpy_dtype(int64))
        number[order] = begins.cumsum() - 1
        return Tensor(x.template.replace(dtype=int64), self, number.reshape(x.shape))

    def _indices(self, indices: Array) -> Tensor:
        return Tensor(
            template_without_names((len(indices),), int64), self, indices.astype(numpy_dtype(int64), copy=False)
        )

    def searching(self, side: str) -> Kernel:
        """Searches by the method of NumPy's arrays."""
        search: Kernel = self.xp.ndarray.searchsorted
        return int64_kernel(search if side == "left" else lambda line, values: search(line, values, side))

    @takes(_between_space)
    @planned
    def interp(
        self, out: Template, x: Template, xp: Template, fp: Template, /, *,
        left: float | None, right: float | None, period: float | None,
    ) -> Kernel:  # fmt: skip
        """NumPy's `interp`, in 64 bits a part. A NaN among the places is NaN in the result, also next to one point."""
        numpy, interp, isnan, dtypes = self.xp, self.xp.interp, self.xp.isnan, _parts(out)
        length = None if period is None else abs(period)

        def within_a_period(places: Array, points: Array, values: Array) -> Array:
            places, points = places % length, points % length
            order = points.argsort(kind="stable")
            points, values = points[order], values[order]
            points = numpy.concatenate([points[-1:] - length, points, points[:1] + length])
            return interp(places, points, numpy.concatenate([values[-1:], values, values[:1]]))

        def of_one(places: Array, points: Array, values: Array) -> Array:
            return numpy.where(isnan(places), places, interp(places, points, values, left, right))

        kernel: Kernel = of_one if xp.size == 1 else lambda x, xp, fp: interp(x, xp, fp, left, right)
        kernel = kernel if period is None else within_a_period
        if all(each.dtype is dtype for each, dtype in zip((x, xp, fp, out), (*dtypes, dtypes[-1]), strict=True)):
            return kernel
        casts = [self.caster(each.dtype, dtype) for each, dtype in zip((x, xp, fp), dtypes, strict=True)]
        narrow = self.caster(dtypes[-1], out.dtype)
        return lambda *arrays: narrow(kernel(*[cast(array) for cast, array in zip(casts, arrays, strict=True)]))

    def sort_kernel(self, x: Template, axis: int) -> Kernel:
        """Sorts by NumPy's vectorised sort where equal values are identical, as all are but zeros of different signs.

        That is for elements of 32 and 64 bits; the stable sort of smaller elements is a radix sort, quick as well.
        """
        worth, floating = _is_worth(x), x.dtype.is_floating

        def order(values: Array) -> Array:
            stable = not worth or (floating and self._has_both_zeros(values))
            fresh = values.copy("K")
            fresh.sort(axis, "stable" if stable else None)
            return fresh

        return order

    def _has_both_zeros(self, values: Array) -> bool:
        negative = self.xp.signbit(values[values == 0])
        return bool(negative.any()) and not negative.all()

    def order_of(self, x: Template, axis: int) -> Kernel:
        """Finds the order by the same sort, of integers that hold a value's rank and, in the lower bits, its index.

        float64 leaves no bits for an index.
        """
        if not _is_worth(x) or (x.dtype.is_floating and x.dtype.bits > 32):
            return lambda values: values.argsort(axis, "stable")
        numpy, count = self.xp, x.shape[axis]
        bits = count.bit_length()
        shape = -1, *(1,) * (len(x.shape) - axis - 1)

        def order(values: Array) -> Array:
            ranked = self._ranks(values)
            if int(ranked.max()) >> (64 - bits):
                return values.argsort(axis, "stable")
            ranked <<= numpy.uint64(bits)  # in place from here on
            ranked |= numpy.arange(count, dtype="uint64").reshape(shape)
            ranked.sort(axis)
            ranked &= numpy.uint64((1 << bits) - 1)
            return ranked.view("int64")

        return order

    def _ranks(self, values: Array) -> Array:
        """Unsigned 64-bit integers, from 0 up, in the same order as the values."""
        numpy = self.xp
        if values.dtype.kind != "f":
            ranks: Array = values.astype("uint64")
            ranks -= numpy.uint64(int(values.min()) % (1 << 64))
            return ranks
        return self.block_kernel(self._float_ranks)(values)

    def _float_ranks(self, values: Array) -> Array:
        """Ranks of floats, whose bits are in order except for the sign: https://stereopsis.com/radix.html."""
        numpy = self.xp
        bits = (values + numpy.float32(0)).view("uint32")  # zeros of both signs are equal
        ranks = numpy.where(bits >> numpy.uint32(31), ~bits, bits | numpy.uint32(1 << 31))
        ranks[numpy.isnan(values)] = (1 << 32) - 1
        return ranks.astype("uint64")


@lru_cache(MEMO_LIMIT)
def _orders(backend: NumpySorting, size: int, dtype: DType) -> tuple[Kernel, Kernel]:
    """A kernel that sorts `size` elements, and one that finds their order; complex numbers are ordered by their real
    parts first."""
    x = intern_template((size,), dtype, (None,))
    if dtype.is_complex:
        lexsort = backend.xp.lexsort
        order: Kernel = lambda values: lexsort((values.imag, values.real))  # noqa: E731 # next to the other
        return (lambda values: values[order(values)]), order
    wider = x.replace(dtype=wide(dtype))
    order = computing_kernel(backend.order_of(wider, 0), x.replace(dtype=int64), x)
    return computing_kernel(backend.sort_kernel(wider, 0), x, x), order


remembers_calls("orders of NumpyBackend", _orders)


_LEAST_ELEMENTS_FOR_PASSES: Final = 1 << 10
"""The number of elements from which a few passes before the sort pay."""


def _is_worth(x: Template) -> bool:
    """Whether NumPy's vectorised sort is quicker than its stable sort by more than the further passes take."""
    return x.size >= _LEAST_ELEMENTS_FOR_PASSES and x.dtype.bits >= 32
