"""Indices as arrays: coordinates and places of the flat array, diagonals, triangles and grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from .arrays import as_shape, box, functions, ndarray, result
from .conversion import asarray, back, tensor
from .functions import PUBLIC, public
from .selection import nonzero


@public
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """The coordinates of places of the flat array."""
    sizes = as_shape(shape)
    _check_order(order)
    places = tensor(indices)
    if not places.dtype.is_integer:
        raise TypeError("only int indices permitted")
    found = tb.unravel_index(places, sizes[::-1] if order == "F" else sizes)
    return tuple(map(result, found[::-1] if order == "F" else found))


@public
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The places of the flat array at coordinates."""
    sizes = as_shape(dims)
    _check_order(order)
    parts = [tensor(each) for each in multi_index]
    modes = mode if isinstance(mode, tuple) else (mode,) * len(sizes)
    parts = [
        tb.remainder(part, size) if how == "wrap" else tb.clip(part, 0, size - 1) if how == "clip" else part
        for part, size, how in zip(parts, sizes, modes, strict=True)
    ]
    if order == "F":
        parts, sizes = parts[::-1], sizes[::-1]
    return result(tb.ravel_multi_index(parts, sizes))


def _check_order(order: Any) -> None:
    """Raises an error unless a word for an order of elements is "C" or "F"."""
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order not in ("C", "F"):
        raise ArgumentError(f"order must be 'C' or 'F', got {order!r}")


@public
def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Arrays of indices that broadcast to a grid."""
    made = []
    for number, each in enumerate(args):
        array = asarray(each)
        x = tensor(array)
        if x.ndim != 1:
            raise ArgumentError("Cross index must be 1 dimensional")
        if x.dtype is bool_:
            x = tb.nonzero(x)[0]
        if not x.size and not x.dtype.is_integer:
            x = tb.astype(x, tb.int64)
        shape = (1,) * number + (-1,) + (1,) * (len(args) - number - 1)
        made.append(functions["reshape"](array if x is array._t else box(x), shape))
    return tuple(made)


@public
def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The places of a main diagonal."""
    return tuple([box(tb.iota((n,))) for _ in range(ndim)])


@public
def diag_indices_from(arr: Any) -> tuple[ndarray, ...]:
    """The places of an array's main diagonal."""
    x = asarray(arr)
    if x.ndim < 2:
        raise ArgumentError("input array must be at least 2-d")
    if len({*x.shape}) > 1:
        raise ArgumentError("All dimensions of input must be of equal length")
    return diag_indices(x.shape[0], x.ndim)


@public
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The places at and below a diagonal."""
    return tuple(map(back, numpy.tril_indices(n, k, m)))


@public
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The places at and above a diagonal."""
    return tuple(map(back, numpy.triu_indices(n, k, m)))


@public
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The places of an array at and below a diagonal."""
    x = asarray(arr)
    if x.ndim != 2:
        raise ArgumentError("input array must be 2-d")
    return tril_indices(x.shape[0], k, x.shape[1])


@public
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The places of an array at and above a diagonal."""
    x = asarray(arr)
    if x.ndim != 2:
        raise ArgumentError("input array must be 2-d")
    return triu_indices(x.shape[0], k, x.shape[1])


@public
def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Any, ...]:
    """The places where a function of a matrix of ones and a diagonal is not 0."""
    return nonzero(mask_func(functions["ones"]((n, n), int), k) != 0)


@public
def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """All places of a shape, row-major."""
    return numpy.ndindex(*shape)


class ndenumerate:
    """The places of an array with their elements, row-major."""

    def __init__(self, arr: Any) -> None:
        self._array = PUBLIC["asarray"](arr)
        self._places = iter(numpy.ndindex(self._array.shape))

    def __iter__(self) -> ndenumerate:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        place = next(self._places)
        return place, self._array[place] if place else self._array[()]


ndenumerate.__module__ = __package__
