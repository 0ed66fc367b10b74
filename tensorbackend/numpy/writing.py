"""Functions that write elements of an array, and those that insert and delete entries."""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, IndexRangeError, ShapeError
from .arrays import box, fresh, functions, ndarray, replace, tensor_of
from .conversion import asarray, cast, host, tensor
from .dtypes import numpy_dtype
from .functions import public
from .shapes import flat_along


def _target(a: Any) -> ndarray:
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    return a


@public
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write elements of one array to another, where a mask is true."""
    target = _target(dst)
    value = tensor(src)
    dtype = target._template().dtype
    if src.__class__ not in (int, float, complex, bool) and not numpy.can_cast(
        numpy_dtype(value.dtype), numpy_dtype(dtype), casting
    ):
        source, to = numpy_dtype(value.dtype), numpy_dtype(dtype)
        raise TypeError(f"Cannot cast array data from {source!r} to {to!r} according to the rule '{casting}'")
    value = cast(value, dtype)
    old = tensor_of(target)
    while value.ndim > old.ndim and value.shape[0] == 1:
        value = tb.reshape(value, value.shape[1:])
    value = tb.broadcast_to(value, old.shape)
    replace(
        target,
        fresh(value) if where is True else tb.where(tb.broadcast_to(cast(tensor(where), bool_), old.shape), value, old),
    )


@public
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write elements at one index each along an axis."""
    target = _target(arr)
    places = tensor(indices)
    if not places.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
    if places.ndim != (1 if axis is None else target.ndim):
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    if axis is None:
        flat = functions["ravel"](target)
        flat[box(places)] = values
        return
    axis %= target.ndim
    shape = list(target.shape)
    shape[axis] = places.shape[axis]
    grids: list[Any] = []
    for place, size in enumerate(target.shape):
        if place == axis:
            grids.append(box(places))
        else:
            grids.append(
                box(tb.reshape(tb.iota((size,)), tuple([-1 if each == place else 1 for each in range(len(shape))])))
            )
    target[tuple(grids)] = values


@public
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values, repeated as needed, at positions of the flat array."""
    target = _target(a)
    places = tb.reshape(tensor(ind), (-1,))
    if mode == "wrap":
        places = tb.remainder(places, target.size)
    elif mode == "clip":
        places = tb.clip(places, 0, target.size - 1)
    values = tb.reshape(tensor(v), (-1,))
    if not places.shape[0] or not values.shape[0]:
        return
    flat = functions["ravel"](target)
    flat[box(places)] = functions["resize"](box(values), places.shape)


@public
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values, repeated as needed, where a mask is true."""
    target = _target(arr)
    where_ = cast(tensor(mask), bool_)
    count = int(tb.sum(where_))
    values = functions["ravel"](vals)
    if not count:
        return
    if not values.size:
        raise ArgumentError("Cannot insert from an empty array!")
    target[box(where_)] = functions["resize"](values, (count,))


@public
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write the values at the same positions, repeated as needed, where a mask is true."""
    target = _target(a)
    where_ = cast(tensor(mask), bool_)
    wide = tensor(functions["resize"](values, target.shape))
    replace(target, tb.where(tb.reshape(where_, target.shape), cast(wide, target._template().dtype), tensor_of(target)))


@public
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write values to the main diagonal."""
    target = _target(a)
    if target.ndim < 2:
        raise ArgumentError("array must be at least 2-d")
    if target.ndim > 2 and len({*target.shape}) > 1:
        raise ArgumentError("All dimensions of input must be of equal length")
    step = 1 + sum(accumulate(target.shape[1:], operator.mul))
    stop = None if wrap or target.ndim > 2 else target.shape[1] * target.shape[1]
    flat = functions["ravel"](target)
    line = flat[:stop:step]
    values = tb.reshape(tensor(val), (-1,))
    line[...] = functions["resize"](box(values), line.shape) if values.shape[0] > 1 else val


@public
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The array with values inserted before given places."""
    flat, axis = flat_along(tensor(arr), axis)
    x = box(flat)
    length = x.shape[axis]
    new = asarray(values).astype(x.dtype)
    if isinstance(obj, slice):
        places = numpy.arange(length)[obj]
    else:
        places = numpy.asarray(host(obj))
        if places.dtype == bool:
            places = numpy.flatnonzero(places)
    single = places.ndim == 0 or places.size == 1
    scalar = places.ndim == 0
    places = numpy.atleast_1d(places).astype(int)
    if ((places < -length) | (places > length)).any():
        bad = places[(places < -length) | (places > length)][0]
        raise IndexRangeError(f"index {bad} is out of bounds for axis {axis} with size {length}")
    places = numpy.where(places < 0, places + length, places)
    if single and not (places.size == 1 and not scalar and new.ndim == x.ndim and new.shape[axis] == 1):
        if new.ndim == 0 or not scalar:
            new = functions["array"](new, ndmin=x.ndim)
        else:
            new = functions["moveaxis"](functions["array"](new, ndmin=x.ndim), 0, axis)
        count = new.shape[axis]
        shape = list(x.shape)
        shape[axis] = count
        wide = functions["broadcast_to"](new, tuple(shape))
        before = (slice(None),) * axis
        at = int(places[0])
        return functions["concatenate"]([x[(*before, slice(None, at))], wide, x[(*before, slice(at, None))]], axis)
    order = places.argsort(kind="stable")
    shifted = places.copy()
    shifted[order] += numpy.arange(len(places))
    shape = list(x.shape)
    shape[axis] = length + len(places)
    made = functions["zeros"](tuple(shape), x.dtype)
    kept = numpy.ones(length + len(places), bool)
    kept[shifted] = False
    before = (slice(None),) * axis
    made[(*before, numpy.flatnonzero(kept))] = x
    made[(*before, shifted)] = new
    return made


@public
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """The array without the entries at given places."""
    x, axis = flat_along(tensor(arr), axis)
    length = x.shape[axis]
    kept = numpy.ones(length, bool)
    places = host(obj)
    if not isinstance(places, slice):
        places = numpy.asarray(places)
        if places.dtype == bool:
            if places.shape != (length,):
                text = "boolean array argument `obj` to delete must be one-dimensional and match the axis length of"
                raise ArgumentError(f"{text} {length}")
        else:
            if places.size == 0 and places.dtype != int:
                places = places.astype(int)
            if places.dtype.kind not in "iu":
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
            if ((places < -length) | (places >= length)).any():
                bad = places.ravel()[((places < -length) | (places >= length)).ravel()][0]
                raise IndexRangeError(f"index {bad} is out of bounds for axis {axis} with size {length}")
    kept[places] = False
    return box(tb.take(x, tb.asarray(numpy.flatnonzero(kept)), axis=axis))
