"""Functions that write elements of an array, and those that insert and delete entries."""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import ArgumentError, DTypeError, IndexRangeError, ShapeError, expected
from .arrays import box, flat_view, fresh, functions, ndarray, replace, tensor_of
from .conversion import cast, drop_leading_axes, host, tensor, tensor_to_write
from .dtypes import HostOnlyError, check_cast
from .functions import public
from .layouts import refuse_read_only
from .shapes import flat_along


def _target(a: Any) -> ndarray:
    if isinstance(a, numpy.ndarray):  # of another library, to which NumPy writes
        raise HostOnlyError(expected("an array of the namespace", a=type(a).__name__))
    if a.__class__ is not ndarray:
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    refuse_read_only(a)
    return a


def _widest(dtype: DType) -> Any:
    """NumPy's widest dtype of a kind, to which numbers that the kind holds can be cast."""
    return bool if dtype is bool_ else int if dtype.is_integer else float if dtype.is_floating else complex


@public
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write elements of one array to another, where a mask is true."""
    target = _target(dst)
    value = tensor(src)
    dtype = target._template().dtype
    if src.__class__ not in (int, float, complex, bool):
        check_cast(value.dtype, dtype, casting)
    elif casting != "unsafe" and not numpy.can_cast(numpy.min_scalar_type(src), _widest(dtype), "same_kind"):
        raise DTypeError(f"Cannot cast scalar from {value.dtype} to {dtype} according to the rule '{casting}'")
    value = cast(value, dtype)
    old = tensor_of(target)
    value = tb.broadcast_to(drop_leading_axes(value, old.ndim), old.shape)
    if where is not True:
        value = tb.where(tb.broadcast_to(cast(tensor(where), bool_), old.shape), value, old)
    replace(target, fresh(value))


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
        flat = flat_view(target)
        flat[box(places)] = values
        return
    axis %= target.ndim
    shape = list(target.shape)
    shape[axis] = places.shape[axis]
    grids: list[Any] = []
    for place, size in enumerate(target.shape):
        line = [-1 if each == place else 1 for each in range(len(shape))]
        grids.append(box(places if place == axis else tb.reshape(tb.iota((size,)), line)))
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
    values = tb.reshape(tensor_to_write(v, target._template().dtype), (-1,))
    if not places.shape[0] or not values.shape[0]:
        return
    flat = flat_view(target)
    flat[box(places)] = functions["resize"](box(values), places.shape)


@public
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values, repeated as needed, where a mask is true."""
    target = _target(arr)
    where_ = cast(tensor(mask), bool_)
    count = int(tb.sum(where_))
    values = functions["ravel"](tensor_to_write(vals, target._template().dtype))
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
    new = tensor_to_write(values, target._template().dtype)
    if not new.size:
        return
    wide = tensor(functions["resize"](new, target.shape))
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
    flat = flat_view(target)
    line = flat[:stop:step]
    values = tb.reshape(tensor_to_write(val, target._template().dtype), (-1,))
    line[...] = functions["resize"](box(values), line.shape) if values.shape[0] > 1 else val


@public
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The array with values inserted before given places."""
    flat, axis = flat_along(tensor(arr), axis)
    length = flat.shape[axis]
    new = box(tensor_to_write(values, flat.dtype))
    places = numpy.arange(length)[obj] if isinstance(obj, slice) else numpy.asarray(host(obj))
    places = numpy.flatnonzero(places) if places.dtype == bool else places
    scalar = places.ndim == 0
    places = numpy.atleast_1d(places).astype(int)
    outside = (places < -length) | (places > length)
    if outside.any():
        raise IndexRangeError(f"index {places[outside][0]} is out of bounds for axis {axis} with size {length}")
    if places.size == 1:  # several entries may be put at one place
        moves = scalar and new.ndim > 0
        new = functions["array"](new, ndmin=flat.ndim)
        new = functions["moveaxis"](new, 0, axis) if moves else new
        places = places.repeat(new.shape[axis])
    return box(tb.insert(flat, places.tolist(), drop_leading_axes(tensor(new), flat.ndim), axis=axis))


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
