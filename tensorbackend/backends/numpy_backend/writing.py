"""Writes into memory that nobody else sees: `x[key] = value`, and kernels of programs that put and add.

`x[key] = value` is NumPy's own assignment, into memory that x owns (`memory.py`).
NumPy looks at the whole key and at the shape of the value before it writes the first element, and no signal is handled
while its code in C runs. So an assignment happens as a whole or not at all. What NumPy refuses is left to the ops.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Final

from ...dtypes import DType, bfloat16, bool_, finfo, uint64
from ...protocol import Kernel
from ...protocol.indexing import Write
from ...protocol.owners import is_spare
from ...rules.indexing import is_mask
from ...template import Shape, Template
from ...tensor import Tensor
from ..array_module.base import Array, owns_memory
from .memory import own

_EXACT: Final = 1 << 53
"""Integers up to this one are exact in float64, which NumPy makes of them first."""


def write(x: Template, structure: tuple[Any, ...], value: Template | type) -> Write | None:
    """The assignment at keys of a structure; `None` where NumPy takes a key or a number in another way than our ops.

    Of uint64 indices NumPy takes the largest for negative ones.
    """
    tensors = [kind for kind in structure if isinstance(kind, Template)]
    if any(kind.dtype is uint64 or (is_mask(kind) and not kind.shape) for kind in tensors):
        return None
    if not isinstance(value, Template):
        return _write_numbers(x.dtype, value)
    indices = [kind.ndim for kind in tensors if not is_mask(kind)]
    return _write_ordered(max(indices)) if indices else _put_tensor


def _put(x: Tensor, key: Any, elements: Any) -> None:
    """Assigns an array or a number."""
    own(x)[key] = elements


def _put_tensor(x: Tensor, key: Any, value: Tensor) -> None:
    """Assigns a tensor; a part of x itself, as in `x[1:] = x[:-1]`, is copied first, so that x has its memory alone."""
    elements = value.data
    if elements.base is x.data:
        value.data = elements = elements.copy()
    own(x)[key] = elements


def _write_ordered(axes: int) -> Write:
    """Assigns a tensor at index tensors of up to so many axes, in row-major order, so that the last of several values
    for one place is kept. NumPy iterates over arrays in the order of their memory if it is the same for all."""

    def put(x: Tensor, key: Any, value: Tensor) -> None:
        if key.__class__ is tuple:
            key = tuple([_row_major(part) for part in key])
        elif not key.flags.c_contiguous:
            key = key.copy()
        if axes > 1 and not value.data.flags.c_contiguous:
            value.data = value.data.copy()
        _put_tensor(x, key, value)

    return put


def _row_major(part: Any) -> Any:
    """An index array in row-major order; any other part of a key unchanged."""
    return part if getattr(part, "flags", None) is None or part.flags.c_contiguous else part.copy()


def _write_numbers(dtype: DType, kind: type) -> Write | None:
    """Assigns Python numbers of a class; those outside of the dtype raise `OverflowError`."""
    if dtype.kind in ("bool", "int", "uint"):
        return _put if kind is bool or (kind is int and dtype is not bool_) else None
    if dtype is bfloat16 or not dtype.is_floating or kind not in (bool, int, float):
        return None
    limit = min(finfo(dtype).max, _EXACT) if kind is int else finfo(dtype).max

    def put(x: Tensor, key: Any, number: float) -> None:
        if not (-limit <= number <= limit or number != number or number in (inf, -inf)):
            raise OverflowError  # or near the limit, where it depends on rounding
        own(x)[key] = number

    return put


# Kernels of programs, whose first operand is not needed any more


def put_block_kernel(update: Template, starts: tuple[int, ...]) -> Kernel:
    """Writes an update into the block at `starts`."""
    block = (*(slice(start, start + size) for start, size in zip(starts, update.shape, strict=True)), ...)

    def put(values: Array, part: Array) -> Array:
        result = values if is_spare(values) and owns_memory(values) else values.copy()
        result[block] = part
        return result

    return put


def write_at_positions(
    written: Callable[[Array, Array], tuple[Array, Array]], apply: Callable[[Array, Array, Array], None], table: Shape
) -> Kernel:
    """Writes or adds rows at positions along the first axis of a table that has the elements of the operand.

    `written` finds the positions and rows from index vectors and updates, and raises the errors.
    """
    rows_shape = (-1, *table[1:])

    def put(values: Array, places: Array, updates: Array) -> Array:
        positions, rows = written(places, updates)
        result = values if is_spare(values) and owns_memory(values) else values.copy()
        apply(result.reshape(table), positions, rows.reshape(rows_shape) if rows.ndim != len(table) else rows)
        return result

    return put
