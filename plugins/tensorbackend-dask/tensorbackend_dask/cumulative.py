"""Accumulations: NumpyBackend accumulates each block, which is then combined with the total of those before it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from dask._task_spec import Task, TaskRef
from dask.highlevelgraph import MaterializedLayer
from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, float32
from tensorbackend.protocol import Payload

from .base import NARROW, DaskBase, lazily
from .blocks import Array, pairwise
from .graphs import Lazy, array, by_labels, known, named
from .library import np
from .shape import concatenated

COMBINED = {
    "cumulative_sum": "add",
    "cumulative_product": "multiply",
    "cumulative_max": "max",
    "cumulative_min": "min",
}
"""The callback of two tensors that combines the blocks of each accumulation."""


class Carried:
    """Combines a block, or with `end` only its last entry, with the total of the blocks before it."""

    def __init__(self, name: str, dtype: str, axis: int, reverse: bool, end: bool) -> None:
        self.state = name, dtype, axis, reverse, end

    def __call__(self, block: Array, before: Array | None = None) -> Array:
        name, dtype, axis, reverse, end = self.state
        if end:
            last = slice(0, 1) if reverse else slice(-1, None)
            block = block[(*(slice(None),) * axis, last)]
        if before is None:
            return block
        return pairwise(name, dtype, block.ndim)(np.broadcast_to(before, block.shape), block)


def running(name: str, says: str, start: int | None = None) -> Callable[..., Payload]:
    """A callback that accumulates; what begins at `start` may include it."""

    def callback(self: Any, out: Template, x: Tensor, /, *, axis: int, reverse: bool, **options: Any) -> Payload:
        initial = start if options.get("include_initial") else None
        more = {} if start is None else {"dtype": None, "include_initial": False}
        return self.accumulated(name, out, x, axis, reverse, initial, **more)

    callback.__name__, callback.__doc__ = name, says
    return lazily(callback)


class DaskCumulative(DaskBase):
    """Accumulations along an axis."""

    def accumulated(
        self, name: str, out: Template, x: Tensor, axis: int, reverse: bool, initial: int | None, **more: Any
    ) -> Lazy:
        """Accumulates over blocks, in at least float32 for floats. Puts `initial`, if any, before the first element."""
        work = float32 if out.dtype in NARROW else out.dtype
        values = self.cast(x.data, x.dtype, work)
        labels = tuple(range(x.ndim))
        local = by_labels(
            name, Template(x.shape, work), [(values, work, labels)], [labels],
            options={"axis": axis, "reverse": reverse, **more},
        )  # fmt: skip
        accumulation = self.cast(self._carried(COMBINED[name], local, work, axis, reverse), work, out.dtype)
        if initial is None:
            return accumulation
        chunks = tuple((1,) if i == axis else sizes for i, sizes in enumerate(accumulation.chunks))
        shape = tuple(map(sum, chunks))
        first = known(np.broadcast_to(np.asarray(initial, accumulation.dtype), shape), chunks)
        return concatenated([accumulation, first] if reverse else [first, accumulation], axis, out.dtype)

    def _carried(self, name: str, local: Lazy, dtype: DType, axis: int, reverse: bool) -> Lazy:
        count = local.numblocks[axis]
        if count == 1:
            return local
        op = named(name)
        ends, apply = (Carried(name, str(dtype), axis, reverse, end) for end in (True, False))
        tasks: dict[Any, Any] = {}
        order = range(count - 1, -1, -1) if reverse else range(count)
        for rest in product(*(range(1 if i == axis else size) for i, size in enumerate(local.numblocks))):
            before: tuple[Any, ...] = ()
            for number in order:
                place = (*rest[:axis], number, *rest[axis + 1 :])
                block = TaskRef((local.name, *place))
                tasks[(op, *place)] = Task((op, *place), apply, block, *before)
                key: Any = (f"{op}-end", *place)
                tasks[key] = Task(key, ends, block, *before)
                before = (TaskRef(key),)
        return array(op, MaterializedLayer(tasks), [local], local.chunks, dtype)

    cumulative_sum = running("cumulative_sum", "Sums up to each element.", 0)
    cumulative_product = running("cumulative_product", "Products up to each element.", 1)
    cumulative_max = running("cumulative_max", "Largest element up to each position.")
    cumulative_min = running("cumulative_min", "Least element up to each position.")
