"""Padding with elements of the tensor itself, written in public ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..entry import entry
from ..errors import ArgumentError, ShapeError, expected
from ..rules.plan import choice
from ..rules.shape import Paddings, padded
from ..tensor import Tensor, TensorLike
from .creation.filled import asarray
from .indexing.taking import take_at
from .shape import concatenate, pad_with


def _reflected(place: int, size: int) -> int:
    """... 2 1 0 1 2 1 0 ...: turned round at the ends, which come once."""
    period = max(2 * (size - 1), 1)
    place %= period
    return place if place < size else period - place


def _mirrored(place: int, size: int) -> int:
    """... 1 0 0 1 2 2 1 ...: turned round at the ends, which come twice."""
    place %= 2 * size
    return place if place < size else 2 * size - 1 - place


EXTENSIONS: dict[str, Callable[[int, int], int]] = {
    "edge": lambda place, size: 0 if place < 0 else size - 1,
    "reflect": _reflected,
    "symmetric": _mirrored,
    "wrap": lambda place, size: place % size,
}
"""By mode, which element stands at a place outside an axis of a size."""


def extended(x: TensorLike, padding: Paddings, mode: str) -> Tensor:
    """x with elements of its own about those of each axis; see `pad`."""
    x = asarray(x)
    _, triples = padded(x.template, padding)
    for axis, (low, high, interior) in enumerate(triples):
        if low < 0 or high < 0 or interior:
            raise ArgumentError(
                expected(f"a padding of (low, high) from 0 up with mode={mode!r}", padding=triples[axis])
            )
        size = x.shape[axis]
        if not (low or high):
            continue
        if not size:
            raise ShapeError(expected(f"an axis with elements to pad with mode={mode!r}", tensor=x.template, axis=axis))
        before, after = (_entries(x, axis, places, mode) for places in (range(-low, 0), range(size, size + high)))
        x = concatenate([before, x, after], axis=axis)
    return Tensor(x.template, x.backend, x.data)  # its own, where nothing was padded as well


def _entries(x: Tensor, axis: int, places: Iterable[int], mode: str) -> Tensor:
    """The entries that stand for places outside an axis."""
    chosen: Any = [EXTENSIONS[mode](place, x.shape[axis]) for place in places]
    return take_at(x, asarray(chosen, dtype="int64", backend=x.backend), axis=axis, mode="clip")


@entry
def reflect(x: TensorLike, padding: Paddings, /) -> Tensor:
    """x padded with its elements turned round at the ends, what `pad` gives with `mode="reflect"`.

    >>> import tensorbackend as tb
    >>> tb.reflect(tb.asarray([0, 1, 2]), [(3, 1)]).tolist()
    [1, 2, 1, 0, 1, 2, 1]
    """
    return extended(x, padding, "reflect")


def pad(x: TensorLike, padding: Paddings, /, *, value: TensorLike | None = None, mode: str = "constant") -> Tensor:
    """Elements of a value, by default zero in x's dtype, before, after and between those of x.

    `padding` has for each axis (low, high) or (low, high, interior), or maps some axes, by name or position, to
    such. A negative low or high takes elements away, after the interior padding, as XLA's Pad does. Raises
    `ShapeError` where more would be taken away than there is, and for a `value` with axes.

    Another `mode` takes elements of x instead, before and after alone: those at the ends ("edge"), all of them turned
    round there ("reflect", "symmetric" with the end once more), or those of the other end ("wrap").

    >>> import tensorbackend as tb
    >>> tb.pad(tb.asarray([1, 2]), [(1, -1, 1)]).tolist()
    [0, 1, 0]
    >>> tb.pad(tb.asarray([1, 2, 3]), [(2, 0)], mode="edge").tolist()
    [1, 1, 1, 2, 3]
    >>> tb.pad(tb.ones((1, 1), names=("row", "column")), {"column": (0, 2)}).tolist()
    [[1.0, 0.0, 0.0]]
    """
    if choice(("constant", *EXTENSIONS), mode=mode) != "constant":
        return extended(x, padding, mode)
    if value is None:
        x = asarray(x)
        value = 0 if x.dtype.is_numeric else False
    return pad_with(x, value, padding=padding)
