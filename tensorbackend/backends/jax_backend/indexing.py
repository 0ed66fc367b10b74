"""Slices, gathers and scatters: indices are looked at before the compiled kernel runs, where there are any to look at.

In a traced function there are none: there an index outside is moved to the nearest end.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...dtypes import iinfo, int64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...protocol.indexing import Mode
from ...rules.data_errors import index_out_of_range
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array, kernel
from ..array_module.indexing import ArrayIndexing
from .base import JaxBase


def _looking(method: Callable[..., Payload]) -> Callable[..., Payload]:
    """A callback that raises for the first index outside, and then calls a kernel, for which none is."""

    def callback(
        self: JaxIndexing, out: Template, x: Tensor, indices: Tensor, /, *rest: Tensor, mode: Mode, **options: Any
    ) -> Payload:
        if mode == "error":
            self.require_inside(x, indices, options.get("axis"))
            mode = "clip"
        return method(self, out, x, indices, *rest, mode=mode, **options)

    callback.__name__, callback.__doc__ = method.__name__, method.__doc__
    return callback


class JaxIndexing(JaxBase, ArrayIndexing):
    """What reads and writes by index."""

    def require_inside(self, x: Tensor, indices: Tensor, axis: int | None) -> None:
        """Raises `IndexRangeError` for the first index outside of x's axis, or of its leading axes for vectors."""
        if not (indices.size and self.readable(indices.data)):
            return
        import numpy

        values = numpy.asarray(indices.data)
        sizes = x.shape[: indices.shape[-1]] if axis is None else (x.shape[axis],)
        columns = numpy.moveaxis(values, -1, 0) if axis is None else (values,)
        for column, size in zip(columns, sizes, strict=True):
            inside = (column >= 0) & (column < size)
            if not inside.all():
                raise index_out_of_range(int(column[~inside].reshape(-1)[0]), size)

    take = _looking(ArrayIndexing.take)
    take_along_axis = _looking(ArrayIndexing.take_along_axis)
    gather = _looking(ArrayIndexing.gather)

    # Where a block starts is an operand of its kernel, as it changes from call to call and all else does not

    def slice(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        starts: tuple[int, ...],
        lengths: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Payload:
        """Every `strides[i]`-th element from `starts[i]` on."""
        if all(stride == 1 or length == 1 for stride, length in zip(strides, lengths, strict=True)):
            return self._block(out, x, self._places(starts))
        return self._strided(out, x, starts=starts, lengths=lengths, strides=strides)

    @kernel
    def _block(self, out: Template, x: Tensor, starts: Tensor, /) -> Payload:
        return self.lax.dynamic_slice(x.data, starts.data, out.shape)

    @kernel
    def _strided(self, out: Template, x: Tensor, /, **options: Any) -> Payload:
        return super().slice(out, x, **options)

    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """x with the block written."""
        return self._put_block(out, x, update, self._places(starts))

    @kernel
    def _put_block(self, out: Template, x: Tensor, update: Tensor, starts: Tensor, /) -> Payload:
        return self.lax.dynamic_update_slice(x.data, update.data, starts.data)

    def _places(self, starts: tuple[int, ...]) -> Tensor:
        """Positions as a tensor in the host's memory, from where a call takes them along."""
        import numpy

        return self.tensor(numpy.asarray(starts, numpy_dtype(self.long)))

    @_looking
    @kernel
    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with the updates added, the narrow floats in float32."""
        places, rows, target = self._written(x, indices, self.widened(updates), self.widened(x), mode)
        added = target.at[places].add(rows, mode="drop")
        return self.narrowed(added.reshape(out.shape), out)

    @_looking
    @kernel
    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with the last of the updates for each place, which a scatter alone leaves open on a GPU."""
        xp = self.xp
        places, rows, target = self._written(x, indices, updates.data, x.data, mode)
        if not (len(rows) and len(target)):
            return x.data
        order = xp.arange(len(rows))
        last = xp.full(len(target), -1, order.dtype).at[places].max(order, mode="drop")
        return xp.where((last >= 0)[:, None], rows[last], target).reshape(out.shape)

    @kernel
    def argwhere(self, out: Template, x: Tensor, /, *, size: int, fill_value: int) -> Payload:
        """The index vectors of what is not zero, cut or filled up to a size."""
        if not x.size:
            return self.xp.full(out.shape, fill_value)
        return self.xp.argwhere(x.data != 0, size=size, fill_value=fill_value)

    # Helpers

    def _written(
        self, x: Tensor, indices: Tensor, updates: Array, target: Array, mode: Mode
    ) -> tuple[Array, Array, Array]:
        """Places in the rows of a target, beyond its last one where nothing is written, and the rows to write."""
        depth = indices.shape[-1]
        count = prod(x.shape[:depth])
        places, inside = self._merged(indices.data, x.shape[:depth], mode)
        if inside is not None:
            places = self.xp.where(inside, places, count)
        width = prod(x.shape[depth:])
        return places.reshape(-1), updates.reshape((places.size, width)), target.reshape((count, width))

    def _located(self, indices: Array, size: int, mode: Mode) -> tuple[Array, Array | None]:
        """Indices within an axis, and where they were so from the start; `None` if all must be."""
        xp = self.xp
        if indices.dtype.name == "uint64":
            indices = xp.minimum(indices, iinfo(int64).max)
        indices = indices.astype(numpy_dtype(self.long))
        inside = (indices >= 0) & (indices < size) if mode == "fill" or not size else None
        return xp.clip(indices, 0, max(size - 1, 0)), inside
