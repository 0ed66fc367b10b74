"""Slices, gathers and scatters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import tensorbackend as tb
from tensorbackend import Template, Tensor
from tensorbackend.dtypes import bool_, float32
from tensorbackend.protocol import Payload

from .base import NARROW, DaskBase, lazily, wider
from .blocks import Folded
from .graphs import TOGETHER, Lazy, by_labels, known, tree
from .library import np, numpy_backend
from .shape import concatenated, part

Mode: TypeAlias = Literal["error", "clip", "fill"]


class DaskIndexing(DaskBase):
    """Slices, gathers and scatters. If an index out of bounds is an error, the call computes and checks the indices."""

    @lazily
    def slice(
        self, out: Template, x: Tensor, /, *, starts: tuple[int, ...], lengths: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Payload:  # fmt: skip
        """Takes blocks and parts of blocks."""
        if not out.size:
            return known(np.empty(out.shape, x.data.dtype))
        steps = zip(starts, lengths, strides, strict=True)
        return x.data[tuple(slice(start, start + (length - 1) * stride + 1, stride) for start, length, stride in steps)]

    @lazily
    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """Concatenates, along each axis, the part before the update, the update, and the part after it."""
        return self._put(x.data, update.data, starts, 0, out) if update.size else x.data

    def _put(self, x: Lazy, update: Lazy, starts: tuple[int, ...], axis: int, out: Template) -> Lazy:
        if axis == len(starts):
            return update
        start, stop = starts[axis], starts[axis] + update.shape[axis]
        inner = self._put(part(x, axis, start, stop), update, starts, axis + 1, out)
        pieces = [part(x, axis, 0, start), inner, part(x, axis, stop, x.shape[axis])]
        return concatenated(pieces, axis, out.dtype)

    def check(self, name: str, out: Template, inputs: Sequence[Tensor], sizes: Sequence[int], **options: Any) -> None:
        """Raises NumpyBackend's error if an index is out of bounds; `sizes` are the sizes of the indexed axes."""
        x, indices, *others = inputs
        if options["mode"] != "error" or not indices.size:
            return
        indices = Tensor(Template(indices.shape, indices.dtype), self, indices.data)
        with tb.default_backend(self):
            limits = tb.asarray(list(sizes), dtype="int64") if len(sizes) > 1 else sizes[0]
            numbers = tb.minimum(indices, tb.iinfo("int64").max) if str(indices.dtype) == "uint64" else indices
            numbers = tb.astype(numbers, "int64")
            outside = tb.any(tb.logical_or(tb.less(numbers, 0), tb.greater_equal(numbers, limits)))
        if not self.values(outside.data)[0]:
            return

        def stand_in(tensor: Tensor) -> Tensor:
            empty = np.broadcast_to(np.zeros((), tensor.data.dtype), tensor.shape)
            return Tensor(tensor.template, numpy_backend(), empty)

        numbers = Tensor(indices.template, numpy_backend(), self.values(indices.data)[0])
        getattr(numpy_backend(), name)(out, stand_in(x), numbers, *map(stand_in, others), **options)

    @lazily
    def take(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Works by blocks of indices if `axis` is in one block; otherwise computes the indices first."""
        self.check("take", out, (x, indices), (x.shape[axis],), axis=axis, mode=mode)
        labels = tuple(range(x.ndim))
        if x.data.numblocks[axis] == 1 or not out.size:
            places = tuple(range(x.ndim, x.ndim + indices.ndim))
            operands = [(x.data, x.dtype, labels), (indices.data, indices.dtype, places)]
            result = (*labels[:axis], *places, *labels[axis + 1 :])
            return by_labels("take", out, operands, [result], whole=[axis], options={"axis": axis, "mode": mode})
        numbers = self.values(indices.data)[0].reshape(-1)
        inside = (numbers >= 0) & (numbers < x.shape[axis])
        numbers = np.minimum(numbers, np.asarray(x.shape[axis] - 1, numbers.dtype)).astype(np.int64)
        taken = x.data[(*(slice(None),) * axis, np.maximum(numbers, 0))]
        if mode == "fill" and not inside.all():
            mask = known(inside.reshape((-1,) + (1,) * (x.ndim - 1 - axis)))
            operands = [
                (mask, bool_, labels[axis:]),
                (taken, x.dtype, labels),
                (known(np.zeros((), taken.dtype)), x.dtype, ()),
            ]
            taken = by_labels("select", Template(taken.shape, out.dtype), operands, [labels])
        flat = Tensor(Template(taken.shape, out.dtype), self, taken)
        return taken if taken.shape == out.shape else self.reshape(out, flat)

    @lazily
    def take_along_axis(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Merges the blocks along `axis`, of both x and the indices."""
        self.check("take_along_axis", out, (x, indices), (x.shape[axis],), axis=axis, mode=mode)
        labels = tuple(range(x.ndim))
        new = tuple(x.ndim if label == axis else label for label in labels)
        operands = [(x.data, x.dtype, labels), (indices.data, indices.dtype, new)]
        return by_labels(
            "take_along_axis", out, operands, [new], whole=[axis], options={"axis": axis, "mode": mode}
        )  # fmt: skip

    @lazily
    def gather(self, out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Payload:
        """Works by blocks of indices; merges the blocks of x along the indexed axes."""
        depth = indices.shape[-1]
        if depth:
            self.check("gather", out, (x, indices), x.shape[:depth], mode=mode)
        labels = tuple(range(x.ndim))
        places = tuple(range(x.ndim, x.ndim + indices.ndim))
        operands = [(x.data, x.dtype, labels), (indices.data, indices.dtype, places)]
        whole = [*labels[:depth], places[-1]]
        return by_labels(
            "gather", out, operands, [(*places[:-1], *labels[depth:])], whole=whole, options={"mode": mode}
        )  # fmt: skip

    @lazily
    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """Adds each block of updates to zeros, then adds the sums to x; if x is large, merges the indices instead.

        Merges the blocks of x along the indexed axes.
        """
        depth = indices.shape[-1]
        if depth:
            self.check("indexed_add", out, (x, indices, updates), x.shape[:depth], mode=mode)
        labels = tuple(range(x.ndim))
        places = tuple(range(x.ndim, x.ndim + indices.ndim))
        where = [(indices.data, indices.dtype, places), (updates.data, updates.dtype, (*places[:-1], *labels[depth:]))]
        whole = [*labels[:depth], places[-1]]
        divided = any(
            blocks > 1 for blocks in (*indices.data.numblocks[:-1], *updates.data.numblocks[: len(places) - 1])
        )
        if not divided or 2 * x.template.nbytes > TOGETHER:
            operands = [(x.data, x.dtype, labels), *where]
            return by_labels(
                "indexed_add", out, operands, [labels], whole=[*whole, *places], options={"mode": mode}
            )  # fmt: skip
        work = float32 if out.dtype in NARROW else out.dtype
        nothing = known(np.zeros(x.shape, self.cast(x.data, x.dtype, work).dtype))
        where[1] = (self.cast(updates.data, updates.dtype, work), work, where[1][2])
        parts = by_labels(
            "indexed_add", Template(x.shape, work), [(nothing, work, labels), *where], [labels],
            whole=whole, more=places[:-1], options={"mode": mode},
        )  # fmt: skip
        combine = Folded("add", str(wider(work)), parts.ndim)
        held = indices.data.nbytes + updates.data.nbytes
        total = tree("indexed_add", parts, x.ndim, combine, Template(x.shape, work), added=(), held=held)
        operands = [(self.cast(x.data, x.dtype, work), work, labels), (total, work, labels)]
        return self.cast(by_labels("add", Template(x.shape, work), operands, [labels]), work, out.dtype)

    @lazily
    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """Merges the indices, because the last of repeated indices wins, and the blocks of x along the indexed axes."""
        depth = indices.shape[-1]
        if depth:
            self.check("indexed_put", out, (x, indices, updates), x.shape[:depth], mode=mode)
        labels = tuple(range(x.ndim))
        places = tuple(range(x.ndim, x.ndim + indices.ndim))
        operands = [
            (x.data, x.dtype, labels),
            (indices.data, indices.dtype, places),
            (updates.data, updates.dtype, (*places[:-1], *labels[depth:])),
        ]
        whole = [*labels[:depth], *places]
        return by_labels("indexed_put", out, operands, [labels], whole=whole, options={"mode": mode})
