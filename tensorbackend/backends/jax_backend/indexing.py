"""Slices, gathers and scatters. For the mode "error" a compiled kernel also returns whether all indices are in range.

The flag is read after the kernel has run. A traced function has no values to read: there an index out of range is moved
to the nearest end.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...annotations import Ints
from ...dtypes import as_dtype, iinfo, int32, int64, uint64
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, kernel_of, planned
from ...protocol.indexing import Mode, Write
from ...rules.data_errors import index_out_of_range
from ...rules.indexing import is_mask
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.indexing import ArrayIndexing, order_keys
from ..array_module.precision import accumulator_dtype, wide
from .base import CheckingKernel, JaxBase
from .writing import put_block, writer


def _index_checking(method: Callable[..., Payload]) -> Callable[..., Payload]:
    """Makes a planned callback raise for the first index out of range.

    Its compiled kernel returns, besides the result, whether all indices are in range.
    """

    @planned
    def callback(
        self: JaxIndexing, out: Template, x: Template, indices: Template, /, *rest: Template, mode: Mode, **options: Any
    ) -> Kernel:
        import numpy

        bound_method = method.__get__(self)
        if mode != "error":
            return kernel_of(bound_method, out, x, indices, *rest, mode=mode, **options)
        clipped = kernel_of(bound_method, out, x, indices, *rest, mode="clip", **options)
        inside, axis = self._inside(x, indices, options.get("axis")), options.get("axis")
        compiled = self.jax.jit(lambda values, places, *others: (clipped(values, places, *others), inside(places)))

        def check(values: Array, places: Array, *others: Array) -> Array:
            if (self.traced(values) or any(map(self.traced, others))) and self.readable(places):
                self.require_inside(x, indices, places, axis)
                return clipped(values, places, *others)
            result, good = compiled(values, places, *others)
            if self.readable(good) and not numpy.asarray(good):
                self.require_inside(x, indices, places, axis)
            return result

        return CheckingKernel(check)

    callback.__name__, callback.__doc__ = method.__name__, method.__doc__
    return callback


_SHORT = 2
"""Up to this number of elements in a row, XLA adds rows in float64 in less than twice the time, else 3 to 14 times."""


class JaxIndexing(JaxBase, ArrayIndexing):
    """Callbacks that read and write by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """A kernel for keys with one index tensor, compiled to return the entries and whether all indices are in range.

        `None` for other keys; for views JAX would compile each key of numbers separately.
        """
        tensors = [place for place, kind in enumerate(structure) if isinstance(kind, Template)]
        if len(tensors) != 1 or not x.size or set(structure) - {structure[tensors[0]], slice}:
            return None
        (axis,) = tensors
        found_by = self.positions(structure[axis]) if is_mask(structure[axis]) else None
        if is_mask(structure[axis]) and (found_by is None or structure[axis].ndim != 1):
            return None
        import numpy

        compiled = self.jax.jit(self._take_kernel(x, structure[axis], axis))
        whole, traced = slice(None), self.traced

        def read(values: Array, key: tuple[Any, ...]) -> Array:
            places = key[axis]
            if any(part is not places and part != whole for part in key) or traced(values) or traced(places):
                raise IndexError
            if found_by is not None:
                (places,) = found_by(places)
            entries, inside = compiled(values, places)
            if not numpy.asarray(inside):
                raise IndexError
            return entries

        return read

    def assignment(self, x: Template, structure: tuple[Any, ...], value: Template | type, /) -> Write | None:
        """A compiled function for ints and slices, which copies; not on a mesh, where names decide layouts."""
        return None if self.lays_by_name else writer(self.jax, x, structure, value)

    def _take_kernel(self, x: Template, indices: Template, axis: int) -> Kernel:
        """A kernel that returns the entries along an axis, and whether all indices are in range."""
        xp, size, counted = self.xp, x.shape[axis], self._position_kernel(indices)
        # A mask selects the positions where it is true.
        signed = indices.dtype.kind != "uint"

        def take(values: Array, places: Array) -> tuple[Array, Array]:
            places = counted(places)
            if signed:
                places = xp.where(places < 0, places + size, places)
            inside = xp.all((places >= 0) & (places < size))
            return xp.take(values, places, axis, mode="clip"), inside

        return take

    def positions(self, x: Template, /) -> Kernel | None:
        """A kernel that finds the nonzero positions by NumPy, as JAX would compile once for each number of positions.

        `None` if JAX's 64-bit dtypes are off.
        """
        if self.long is not int64:
            return None

        def find(values: Array) -> tuple[Array, ...]:

            self.readable(values)
            positions = self.on_host(values).nonzero()
            return tuple([self.jax.device_put(indices, self.committed) for indices in positions])

        return find

    def _inside(self, x: Template, indices: Template, axis: int | None) -> Kernel:
        """A kernel that returns whether all indices are in range of x's axis, or index vectors of its leading axes."""
        xp, counted = self.xp, self._position_kernel(indices)
        sizes = x.shape[: indices.shape[-1]] if axis is None else x.shape[axis]

        def all_in_range(places: Array) -> Array:
            places = counted(places)
            return ((places >= 0) & (places < xp.asarray(sizes, places.dtype))).all()

        return all_in_range

    def require_inside(self, x: Template, indices: Template, places: Array, axis: int | None) -> None:
        """Raises `IndexRangeError` for the first index that is out of range."""
        import numpy

        values = self.on_host(places)
        sizes = x.shape[: indices.shape[-1]] if axis is None else (x.shape[axis],)
        columns = numpy.moveaxis(values, -1, 0) if axis is None else (values,)
        for column, size in zip(columns, sizes, strict=True):
            inside = (column >= 0) & (column < size)
            if not inside.all():
                raise index_out_of_range(int(column[~inside].reshape(-1)[0]), size)

    take = _index_checking(ArrayIndexing.take)
    take_along_axis = _index_checking(ArrayIndexing.take_along_axis)
    gather = _index_checking(ArrayIndexing.gather)

    # The start of a block is an operand of its kernel, as it alone changes from call to call

    def slice(self, out: Template, x: Tensor, /, *, starts: Ints, lengths: Ints, strides: Ints) -> Payload:
        """Every `strides[i]`-th element from `starts[i]` on."""
        if all(stride == 1 or length == 1 for stride, length in zip(strides, lengths, strict=True)):
            return self._block(out, x, self._places(starts))
        return super().slice(out, x, starts=starts, lengths=lengths, strides=strides)

    @planned
    def _block(self, out: Template, x: Template, starts: Template, /) -> Kernel:
        cut, shape = self.lax.dynamic_slice, out.shape
        return lambda values, places: cut(values, places, shape)

    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """x with the block `update` written from `starts` on."""
        return self._put_block(out, x, update, self._places(starts))

    @planned
    def _put_block(self, out: Template, x: Template, update: Template, starts: Template, /) -> Kernel:
        put, jax, traced = self.lax.dynamic_update_slice, self.jax, self.traced
        if update.size < 2 or self.platform != "cpu" or self.lays_by_name:
            return lambda values, part, places: put(values, part, places)
        return lambda values, part, places: (put_block(jax, values, part, places) if traced(part)
                                             else put(values, part, places))  # fmt: skip

    def _places(self, starts: tuple[int, ...]) -> Tensor:
        """Positions as a tensor in the host's memory, from where the call of a kernel takes them along."""
        import numpy

        return self.tensor(numpy.asarray(starts, numpy_dtype(self.long)))

    @_index_checking
    @planned
    def indexed_add(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """x with the updates added; many floats are added in float64 if JAX has it and the updates have short rows."""
        written = self._written(x, indices, mode)
        short = prod(x.shape[indices.shape[-1] :]) <= _SHORT
        working = numpy_dtype(
            accumulator_dtype(out.dtype, prod(indices.shape[:-1]), self.wide) if short else wide(out.dtype)
        )

        def add(values: Array, places: Array, addends: Array) -> Array:
            positions, rows, target = written(places, addends.astype(working), values.astype(working))
            return target.at[positions].add(rows, mode="drop").reshape(out.shape).astype(numpy_dtype(out.dtype))

        return add

    @_index_checking
    @planned
    def add_along_axis(
        self, out: Template, x: Template, indices: Template, updates: Template, /, *, axis: int, mode: Mode
    ) -> Kernel:
        """A scatter along one axis, which XLA can divide among devices by the other axes.

        On one device, where there is nothing to divide, a scatter into the flattened array: it takes half the time.
        """
        locate = self._located(indices, x.shape[axis], mode)
        working = numpy_dtype(accumulator_dtype(out.dtype, indices.shape[axis], self.wide))
        dtype = numpy_dtype(out.dtype)
        scatter = self._flat_scatter(x, indices, axis) if self.jax.device_count() == 1 else self._scatter_along(x, axis)

        def add(values: Array, places: Array, addends: Array) -> Array:
            return scatter(values.astype(working), *locate(places), addends.astype(working)).astype(dtype)

        return add

    def _scatter_along(self, x: Template, axis: int) -> Kernel:
        """A kernel that adds updates at positions along an axis; updates whose index was out of range are dropped."""
        lax, xp, size = self.lax, self.xp, x.shape[axis]
        modes, short = lax.GatherScatterMode, size < iinfo(int32).max
        others = tuple(other_axis for other_axis in range(x.ndim) if other_axis != axis)
        numbers = lax.ScatterDimensionNumbers((), (axis,), (axis,), others, others)

        def scatter(target: Array, positions: Array, inside: Any, rows: Array) -> Array:
            if inside is not None:
                positions = xp.where(inside, positions, size)
            places = (positions.astype(numpy_dtype(int32)) if short else positions)[..., None]
            mode = modes.PROMISE_IN_BOUNDS if inside is None else modes.FILL_OR_DROP
            return lax.scatter_add(target, places, rows, numbers, mode=mode)

        return scatter

    def _flat_scatter(self, x: Template, indices: Template, axis: int) -> Kernel:
        """A kernel like the one of `_scatter_along`, by positions in the flattened x."""
        xp, size, before, after = self.xp, x.shape[axis], prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
        block = before, indices.shape[axis], after

        def scatter(target: Array, positions: Array, inside: Any, rows: Array) -> Array:
            places = (positions.reshape(block) + xp.arange(before)[:, None, None] * size) * after + xp.arange(after)
            if inside is not None:
                places = xp.where(inside.reshape(block), places, x.size)
            added = target.reshape(-1).at[places.reshape(-1)].add(rows.reshape(-1), mode="drop")
            return added.reshape(x.shape)

        return scatter

    @_index_checking
    @planned
    def indexed_put(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """x with the last of several updates for one place; on a GPU a scatter alone may write any of them."""
        xp, written = self.xp, self._written(x, indices, mode)

        def put(values: Array, places: Array, replacements: Array) -> Array:
            positions, rows, target = written(places, replacements, values)
            if not (len(rows) and len(target)):
                return values
            order = xp.arange(len(rows))
            last = xp.full(len(target), -1, order.dtype).at[positions].max(order, mode="drop")
            return xp.where((last >= 0)[:, None], rows[last], target).reshape(out.shape)

        return put

    @_index_checking
    @planned
    def indexed_max(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """A scatter of integers with the order of the numbers, as XLA leaves open which of two zeros is greater."""
        depth, xp = indices.shape[-1], self.xp
        written, updates_shape = self._written(x, indices, mode), indices.shape[:-1] + x.shape[depth:]
        of_x, of_updates = (self.caster(operand.dtype, out.dtype) for operand in (x, updates))
        ordered, numbers = order_keys(xp, out.dtype)

        def largest(values: Array, places: Array, others: Array) -> Array:
            wide = xp.broadcast_to(of_updates(others), updates_shape)
            positions, rows, target = written(places, ordered(wide), ordered(of_x(values)))
            return numbers(target.at[positions].max(rows, mode="drop")).reshape(out.shape)

        def read(values: Array, places: Array, others: Array) -> Array:
            """The same as a reading of the first largest updates, which has a derivative."""
            wide = xp.broadcast_to(of_updates(others), updates_shape)
            positions, rows, target = written(places, wide, of_x(values))
            count = len(rows)
            if not (count and len(target)):
                return target.reshape(out.shape)
            keys = ordered(rows + 0.0)  # zeros of both signs are equal
            lowest = iinfo(as_dtype(str(keys.dtype))).min
            top = xp.full(target.shape, lowest, keys.dtype).at[positions].max(keys, mode="drop")
            is_top = keys == xp.take(top, positions, axis=0, mode="clip")
            candidates = xp.where(is_top, xp.arange(count)[:, None], count)
            first = xp.full(target.shape, count).at[positions].min(candidates, mode="drop")
            updated = xp.maximum(target, xp.take_along_axis(rows, xp.minimum(first, count - 1), axis=0))
            return xp.where(first < count, updated, target).reshape(out.shape)

        return self.derived(largest, read) if out.dtype.is_floating else largest

    @planned
    def argwhere(self, out: Template, x: Template, /, *, size: int, fill_value: int) -> Kernel:
        """The index vectors of the nonzero elements, cut off or filled up to `size`."""
        xp = self.xp
        if not x.size:
            return lambda values: xp.full(out.shape, fill_value)
        return lambda values: xp.argwhere(values != 0, size=size, fill_value=fill_value)

    # Helpers

    # Without `mode` JAX writes NaN for positions out of range, by a mask as large as the result. Here all are in range.

    def _entries(self, axis: int) -> Kernel:
        """A kernel that takes entries along an axis at positions in it."""
        take = self.xp.take
        return lambda values, positions: take(values, positions, axis, mode="clip")

    def _entries_along(self, axis: int) -> Kernel:
        """A kernel that takes entries along an axis, at positions of its own for each place on the other axes."""
        along = self.xp.take_along_axis
        return lambda values, positions: along(values, positions, axis, mode="clip")

    def _written(
        self, x: Template, indices: Template, mode: Mode
    ) -> Callable[[Array, Array, Array], tuple[Array, Array, Array]]:
        """A function of indices, updates and target that returns positions of rows, the updates and the target as rows.

        A position past the target's last row means that nothing is written.
        """
        depth = indices.shape[-1]
        locate = self._merged(indices, x.shape[:depth], mode)
        count, size, width = prod(x.shape[:depth]), prod(indices.shape[:-1]), prod(x.shape[depth:])

        def positions_to_write(places: Array, updates: Array, target: Array) -> tuple[Array, Array, Array]:
            positions, inside = locate(places)
            if inside is not None:
                positions = self.xp.where(inside, positions, count)
            return positions.reshape(-1), updates.reshape((size, width)), target.reshape((count, width))

        return positions_to_write

    def _position_kernel(self, indices: Template) -> Kernel:
        """A kernel that casts indices to the dtype of positions; indices too large for it become its limit."""
        xp, long, unsigned = self.xp, numpy_dtype(self.long), indices.dtype is uint64
        return lambda places: (xp.minimum(places, iinfo(int64).max) if unsigned else places).astype(long)

    def _located(self, indices: Template, size: int, mode: Mode) -> Callable[[Array], tuple[Array, Any]]:
        """A function that moves indices into an axis, and returns the mask of those that were in range before.

        `None` in place of the mask if the mode does not need it.
        """
        xp, counted = self.xp, self._position_kernel(indices)
        asked = mode == "fill" or not size

        def locate(places: Array) -> tuple[Array, Any]:
            places = counted(places)
            inside = (places >= 0) & (places < size) if asked else None
            return xp.clip(places, 0, max(size - 1, 0)), inside

        return locate
