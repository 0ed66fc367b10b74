"""The elements of payloads in the order of an output shape, and results as bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, TypeAlias

from ...dtypes import DType
from ...dtypes.packing import reader, unpack, writer
from ...template import Shape, Template
from ...tensor import Tensor
from .bits import UNSIGNED

Column: TypeAlias = Sequence[Any]
"""The elements of a tensor as Python numbers, row-major."""

Columns: TypeAlias = Callable[..., Iterable[Any]]
"""A function of columns that returns a column."""

Storing: TypeAlias = Callable[[DType, int], Callable[..., bytes]]
"""Makes, for a dtype and a count, the function that stores `count` results, each an argument, as bytes."""


def elements(x: Tensor) -> tuple[Any, ...]:
    """The elements of a tensor as Python numbers, row-major."""
    return unpack(x.data, x.template.dtype)


def broadcast_elements(x: Tensor, shape: Shape) -> tuple[Any, ...]:
    """The elements of a tensor broadcast to a shape."""
    return unpack(broadcast_bytes(x.data, x.template, shape), x.template.dtype)


def broadcast_bytes(data: bytes, template: Template, shape: Shape) -> bytes:
    """A payload broadcast to a shape, by repeating whole runs of elements.

    (3, 1) to (3, 4) repeats each element four times; (4,) to (3, 4) the whole run three times.
    """
    if template.shape == shape:
        return data
    if template.size == 1:
        return data * math.prod(shape)
    if 0 in shape:
        return b""
    aligned = (1,) * (len(shape) - template.ndim) + template.shape
    run = template.dtype.itemsize
    for size, target in zip(reversed(aligned), reversed(shape), strict=True):
        if size != target:
            data = b"".join([data[start : start + run] * target for start in range(0, len(data), run)])
        run *= target
    return data


def store(values: Iterable[Any], dtype: DType) -> bytes:
    """The bytes of results; integers too wide for the dtype wrap."""
    exact = tuple(values)
    return store_function(dtype, len(exact))(*exact)


def store_function(dtype: DType, count: int) -> Callable[..., bytes]:
    """The form of `store` for `count` results, each an argument."""
    write = writer(dtype, count)
    if not dtype.is_integer:
        return write
    mask, unsigned = (1 << dtype.bits) - 1, writer(UNSIGNED[dtype.bits], count)

    def wrap(*values: int) -> bytes:
        try:
            return write(*values)
        except struct.error:
            return unsigned(*[value & mask for value in values])

    return wrap


_BLOCK = 512
"""Elements of a block: so few that a few columns of them stay in the processor's cache until they are bytes again."""


@lru_cache(maxsize=2048)
def kernel(
    function: Columns, out: Template, *inputs: Template, storing: Storing = store_function
) -> Callable[..., bytes]:
    """Turns a function of columns into a function of payloads, for the templates of the result and of the inputs.

    It takes long columns block by block, so that the slower form of a function runs only for the blocks that need it.
    """
    shape, size, dtypes = out.shape, out.size, [template.dtype for template in inputs]

    def block_kernel(count: int) -> Callable[..., bytes]:
        write, (first, *others) = storing(out.dtype, count), [reader(dtype, count) for dtype in dtypes]
        if not others:
            return lambda data: write(*function(first(data)))
        if len(others) == 1:
            second = others[0]
            return lambda left, right: write(*function(first(left), second(right)))
        readers = [first, *others]
        return lambda *data: write(*function(*[read(payload) for read, payload in zip(readers, data, strict=True)]))

    if size <= _BLOCK and all(template.shape == shape for template in inputs):
        return block_kernel(size)
    starts, block, rest = range(0, size - _BLOCK + 1, _BLOCK), block_kernel(_BLOCK), block_kernel(size % _BLOCK)
    widths = [dtype.itemsize for dtype in dtypes]

    def run(*payloads: bytes) -> bytes:
        columns = list(map(broadcast_bytes, payloads, inputs, repeat(shape)))
        if not starts:
            return rest(*columns)
        cut = [
            [data[start * width : (start + _BLOCK) * width] for start in (*starts, size // _BLOCK * _BLOCK)]
            for data, width in zip(columns, widths, strict=True)
        ]
        pieces = list(zip(*cut, strict=True))
        return b"".join([*(block(*piece) for piece in pieces[:-1]), rest(*pieces[-1])])

    return run


def map_columns(function: Callable[..., Any], safe: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Maps a function over columns of elements; only if it raises, maps the slower `safe` function instead."""
    try:
        return list(map(function, *columns))
    except (ValueError, OverflowError, ZeroDivisionError):
        return list(map(safe, *columns))


def cast(x: Tensor, dtype: DType) -> Tensor:
    """A composite's operand, which comes in the dtype that the caller gave it, cast to the dtype of the result."""
    if x.dtype is dtype:
        return x
    template = x.template.replace(dtype=dtype)
    return Tensor(template, x.backend, x.backend.as_type(template, x))
