"""`x[key] = value` at ints and slices by one compiled function, which replaces x by a changed copy.

The buffer of x is never donated to XLA, though that would spare the copy of a large array: other arrays of JAX may have
the same buffer without a reference to this one (`jax.device_put`, `addressable_data`), and a donation deletes them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import inf
from operator import attrgetter
from types import EllipsisType
from typing import Any, Final

from ...dtypes import DType, bfloat16, bool_, finfo, float16, iinfo
from ...interchange import numpy_dtype
from ...protocol.indexing import Write
from ...template import Shape, Template
from ...tensor import Tensor
from ..array_module.base import Array

_EXACT: Final = 1 << 53
_TAKEN: Final = frozenset({int, slice, EllipsisType})
"""The kinds of parts of a key that are taken here."""


def writer(jax: Any, x: Template, structure: tuple[Any, ...], value: Template | type) -> Write | None:
    """The assignment at keys of ints and slices; `None` for other keys, and for numbers that the ops must convert."""
    if not _TAKEN.issuperset(structure):
        return None
    convert = attrgetter("data") if isinstance(value, Template) else _number_converter(x.dtype, value)
    if convert is None:
        return None
    put = _compiled_put(jax)
    entered: Callable[[Any], Array] = convert

    def write(x: Tensor, key: Any, value: Any) -> None:
        values = x.data
        starts, block, kept = _locate_block(key if key.__class__ is tuple else (key,), values.shape)
        # Ints reach a compiled function in half the time of an array; an axis that is written whole needs none.
        needed = [start for start, size, whole in zip(starts, block, values.shape, strict=True) if size != whole]
        x.data = put(values, entered(value), needed, block, kept)

    return write


@cache
def _compiled_put(jax: Any) -> Callable[..., Array]:
    """JAX's function of `_put`, which it compiles once for the shapes of x, of the update and of the block."""
    put: Callable[..., Array] = jax.jit(partial(_put, jax), static_argnums=(3, 4))
    return put


def _put(jax: Any, values: Array, update: Array, starts: list[Array], block: Shape, kept: Shape) -> Array:
    """The values with a block replaced by the update, which is broadcast to the axes that the key keeps.

    `starts` are those of the axes that the block does not cover.
    """
    part, rest = jax.numpy.broadcast_to(update, kept).reshape(block), iter(starts)
    places = [0 if size == whole else next(rest) for size, whole in zip(block, values.shape, strict=True)]
    return jax.lax.dynamic_update_slice(values, part, places)


def put_block(jax: Any, values: Array, update: Array, places: Any) -> Array:
    """A traced array with a block replaced on a CPU, where the update may read what it replaces.

    XLA's CPU compiler writes a block in place, element by element, while it computes the update. That is wrong where
    the update reads the elements that are written, as in `y[1:] = y[:-1] + 1`; XLA looks for that, but not behind a
    change of shape, which it makes itself in gathers and in windows such as those of cumulative sums. It removes
    barriers (`optimization_barrier`) before it does so. So a small update is computed in a conditional, apart from what
    uses its result. A large one is chosen elementwise, which takes less time than a copy of it.
    """
    if update.shape == values.shape:
        return update
    lax, gaps = jax.lax, [whole - size for whole, size in zip(values.shape, update.shape, strict=True)]
    if update.size < _LEAST_CHOSEN_ELEMENTS or 4 * update.size < values.size:
        return lax.dynamic_update_slice(values, _apart(jax, update), places)
    inside = jax.numpy.ones(values.shape, "bool")
    for axis, gap in enumerate(gaps):
        if gap:
            place = lax.broadcasted_iota(places.dtype, values.shape, axis) - places[axis]
            inside &= (place >= 0) & (place < update.shape[axis])
    around = lax.pad(update, jax.numpy.zeros((), update.dtype), [(gap, gap, 0) for gap in gaps])
    starts = [gap - place if gap else 0 for gap, place in zip(gaps, places, strict=True)]
    return lax.select(inside, lax.dynamic_slice(around, starts, values.shape), values)


_LEAST_CHOSEN_ELEMENTS: Final = 1 << 12
"""From this number of elements on, an update that is a large part of the array is chosen elementwise."""


def _apart(jax: Any, update: Array) -> Array:
    """An update that is computed before it is written: that no square has the remainder 2 by 4 is unknown to XLA."""
    number = update.reshape(-1)[0].real.astype("int32")
    other = jax.numpy.zeros_like(update)
    return jax.lax.cond(
        number * number % 4 != 2, lambda update, other: update, lambda update, other: other, update, other
    )


def _locate_block(key: tuple[Any, ...], shape: Shape) -> tuple[list[int], Shape, Shape]:
    """The start of the block that a key names, its shape, and its shape without the axes of ints.

    Raises `IndexError` for an int out of bounds, a step, and a block without elements, which are left to the ops.
    """
    parts = [*key]
    if ... in parts:
        place = parts.index(...)
        parts[place : place + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    starts, block, kept = [0] * len(shape), [*shape], [*shape[len(parts) :]]
    if len(parts) > len(shape):
        raise IndexError
    before: list[int] = []
    for axis, (part, size) in enumerate(zip(parts, shape, strict=False)):
        if part.__class__ is slice:
            start, stop, step = part.indices(size)
            if step != 1:
                raise IndexError
            starts[axis], block[axis] = start, stop - start
            before.append(stop - start)
        else:
            starts[axis], block[axis] = part + size if part < 0 else part, 1
            if not 0 <= starts[axis] < size:
                raise IndexError
    if min(block, default=1) < 1:
        raise IndexError
    return starts, tuple(block), (*before, *kept)


def _number_converter(dtype: DType, kind: type) -> Callable[[Any], Array] | None:
    """Makes an array of a Python number of a class; raises `OverflowError` for one that is outside of the dtype."""
    import numpy

    stored = numpy_dtype(dtype)
    limits: tuple[float, float]
    if dtype is bool_:
        limits, taken = (0, 1), kind is bool
    elif dtype.is_integer:
        limits, taken = (iinfo(dtype).min, iinfo(dtype).max), kind in (bool, int)
    else:
        taken = dtype.is_floating and dtype not in (float16, bfloat16) and kind in (bool, int, float)
        limit = min(finfo(dtype).max, _EXACT) if taken and kind is int else finfo(dtype).max if taken else 0
        limits = -limit, limit
    if not taken:
        return None
    least, largest = limits

    def convert(number: float) -> Array:
        if not (least <= number <= largest or number != number or number in (inf, -inf)):
            raise OverflowError  # or near the limit, where it depends on rounding
        return numpy.asarray(number, stored)

    return convert
