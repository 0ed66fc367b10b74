"""Blocks whose place the data decides."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import iinfo
from ..errors import ShapeError, expected
from ..rules.blocks import block_written
from ..template import Template
from ..tensor import Tensor, TensorLike
from .conversion import astype
from .creation import asarray, iota, zeros
from .elementwise_binary import add, maximum, minimum, multiply
from .scatter import indexed_put
from .shape import laid_flat, reshape


def first_entry(start: TensorLike, room: int) -> Tensor:
    """A start in int64, moved between 0 and `room`; `ShapeError` unless it is an integer without axes."""
    start = asarray(start)
    if start.ndim or not start.dtype.is_integer:
        raise ShapeError(expected("a start without axes, of an integer dtype", start=start.template))
    return maximum(astype(minimum(start, min(iinfo(start.dtype).max, room)), "int64"), 0)


def block_put(x: TensorLike, update: TensorLike, starts: Sequence[TensorLike]) -> Tensor:
    """See `put_slice`: an update at starts among which are tensors."""
    x, update = asarray(x), asarray(update)
    # Its errors and names; where the block lies is not known.
    out = block_written(x.template, update.template, (0,) * len(starts)).out
    assert isinstance(out, Template)
    if not update.size:
        return x.rename(*out.names)
    home = next(start.backend for start in starts if isinstance(start, Tensor))
    places = zeros((), dtype="int64", backend=home)
    for axis, (start, size, length) in enumerate(zip(starts, x.shape, update.shape, strict=True)):
        along = tuple(length if each == axis else 1 for each in range(x.ndim))
        entries = add(reshape(iota(length, backend=home), along), first_entry(start, size - length))
        places = add(multiply(places, size), entries)
    written = indexed_put(
        laid_flat(x), reshape(places, (update.size, 1)), laid_flat(astype(update, x.dtype)), mode="clip"
    )
    return reshape(written, x.shape, names=out.names)
