"""Sorting, searching and sets."""

from __future__ import annotations

import operator
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from ..ops.sets import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from ..tensor import Tensor
from .arrays import box, fresh, functions, new_array, result
from .conversion import asarray, cast, host, tensor
from .functions import Array, function, public
from .selection import chosen
from .shapes import flat_along


@function
def sort(a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """The elements sorted along an axis; NaN come last."""
    x, axis = flat_along(a, axis)
    return tb.take_along_axis(x, complex_order(x, axis), axis=axis) if x.dtype.is_complex else tb.sort(x, axis=axis)


@function
def argsort(a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """The indices that sort along an axis."""
    x, axis = flat_along(a, axis, of_number=True)
    return complex_order(x, axis) if x.dtype.is_complex else tb.argsort(x, axis=axis)


def complex_order(x: Tensor, axis: int) -> Tensor:
    """The order of complex numbers by real, then imaginary part; those with a NaN come last."""
    real, imag = tb.real(x), tb.imag(x)
    nans = 2 * cast(tb.isnan(real), tb.uint8) + cast(tb.isnan(imag), tb.uint8)
    return tb.lexsort([imag, real, nans], axis=axis)


functions["complex_order"] = complex_order


@public
def sort_complex(a: Any) -> Any:
    """The elements as complex numbers, sorted by real, then imaginary part."""
    x = tensor(a)
    wide = tb.complex64 if x.dtype.bits <= 16 and x.dtype.is_integer else tb.complex128
    return sort(box(x if x.dtype.is_complex else cast(x, wide)))


@function
def partition(a: Array, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """Partition: the elements at given positions are those of the sorted array; here everything is sorted."""
    x, axis = flat_along(a, axis)
    _check_kth(kth, x.shape[axis])
    return tensor(sort(box(x), axis))


@function
def argpartition(a: Array, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """The indices of `partition`."""
    x, axis = flat_along(a, axis, of_number=True)
    _check_kth(kth, x.shape[axis])
    return tensor(argsort(box(x), axis))


def _check_kth(kth: Any, length: int) -> None:
    for each in numpy.atleast_1d(host(kth)):
        if operator.index(each) and not -length <= each < length:  # 0 is taken of no element too
            raise ArgumentError(f"kth(={each}) out of bounds ({length})")


@public
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, the last of which is the primary one."""
    parts = [tensor(each) for each in keys]
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return box(tb.lexsort(parts, axis=axis)) if parts[0].ndim else result(tb.zeros((), dtype=tb.int64))


@public
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Find the indices at which values would be inserted to keep a sequence sorted."""
    x, y = chosen(asarray(a), asarray(v))
    if not isinstance(side, str):
        raise TypeError(f"search side must be str, not {type(side).__name__}")
    if side not in ("left", "right"):
        raise ArgumentError(f"search side must be one of 'left' or 'right' (got {side!r})")
    x = cast(x, tb.uint8) if x.dtype is bool_ else x
    y = cast(y, x.dtype)
    order = None if sorter is None else tensor(sorter)
    return result(tb.searchsorted(x, y, side="left" if side == "left" else "right", sorter=order))


@public
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bins of values."""
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ArgumentError(f"object {'too deep' if edges.ndim else 'of too small depth'} for desired array")
    if asarray(x)._template().dtype.is_complex:
        raise TypeError("x may not be complex")
    steps = numpy.diff(host(edges))
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise ArgumentError("bins must be monotonically increasing or decreasing")
    places, line = chosen(asarray(x), edges)
    return result(tb.digitize(places, line, right=bool(right)))


# Sets


@public
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """The unique elements in ascending order, with their positions and counts on request."""
    x = tensor(ar)
    if x.dtype is bool_:
        found = unique(box(cast(x, tb.uint8)), return_index, return_inverse, return_counts, axis)
        return (found[0].astype(bool), *found[1:]) if isinstance(found, tuple) else found.astype(bool)
    wanted = return_index, return_inverse, return_counts
    axis = None if x.ndim == 1 and axis in (0, -1) else axis
    if equal_nan and x.dtype.is_inexact and axis is None and x.backend.is_concrete(x) and bool(tb.any(tb.isnan(x))):
        return _unique_with_nan(x, wanted)
    if not any(wanted):
        return box(fresh(tb.unique_values(x if axis is not None else tb.reshape(x, (-1,)), axis=axis)))
    if wanted == (False, False, True):
        return tuple(map(box, tb.unique_counts(x, axis=axis)))
    values, first, inverse, counts = tb.unique_all(x if axis is not None or x.ndim else tb.reshape(x, (1,)), axis=axis)
    if axis is not None or not x.ndim:
        inverse = tb.reshape(inverse, (-1,)) if axis is not None else tb.reshape(inverse, x.shape)
    return (box(values), *[box(each) for each, flag in zip((first, inverse, counts), wanted, strict=True) if flag])


def _unique_with_nan(x: Tensor, wanted: tuple[bool, bool, bool]) -> Any:
    """The unique elements, with all NaN as one."""
    flat = tb.reshape(x, (-1,))
    order = tensor(argsort(box(flat)))
    ordered = tb.take(flat, order, axis=0)
    missing = tb.isnan(ordered)
    same = tb.logical_or(tb.equal(ordered[1:], ordered[:-1]), tb.logical_and(missing[1:], missing[:-1]))
    starts = tb.concatenate([tb.asarray([True]), tb.logical_not(same)])
    places = tb.nonzero(starts)[0]
    made = [box(tb.take(ordered, places, axis=0))]
    if wanted[0]:
        made.append(box(tb.take(order, places, axis=0)))
    if wanted[1]:
        numbers = tb.cumulative_sum(cast(starts, tb.int64), axis=0) - 1
        inverse = tb.indexed_put(tb.zeros_like(order), tb.reshape(order, (-1, 1)), numbers)
        made.append(box(tb.reshape(inverse, x.shape)))
    if wanted[2]:
        made.append(box(tb.diff(places, append=tb.asarray([flat.shape[0]]))))
    return made[0] if len(made) == 1 else tuple(made)


@public
def unique_all(x: Any) -> UniqueAllResult:
    """The unique elements, their first positions, the inverse indices and the counts."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


@public
def unique_counts(x: Any) -> UniqueCountsResult:
    """The unique elements and their counts."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


@public
def unique_inverse(x: Any) -> UniqueInverseResult:
    """The unique elements and the inverse indices."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


@public
def unique_values(x: Any) -> Any:
    """The unique elements."""
    return unique(x, equal_nan=False)


@public
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Test whether each element is among others."""
    x, y = chosen(asarray(element), asarray(test_elements))
    if x.dtype is bool_:
        x, y = cast(x, tb.uint8), cast(y, tb.uint8)
    return new_array(tb.isin(x, y, invert=invert))


@public
def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    """Test whether each element of the flat array is among others."""
    return functions["ravel"](isin(ar1, ar2, invert=invert))


@public
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that are in both arrays."""
    x, first = unique(functions["ravel"](ar1), return_index=True)
    y, second = unique(functions["ravel"](ar2), return_index=True)
    x, y = map(box, chosen(x, y))
    common = isin(x, y)
    values = x[common]
    return (values, first[common], second[isin(y, x)]) if return_indices else values


@public
def union1d(ar1: Any, ar2: Any) -> Any:
    """The elements that are in one array or the other."""
    return unique(functions["concatenate"](tuple(map(box, chosen(ar1, ar2))), axis=None))


@public
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The elements of one array that are not in the other."""
    x = functions["ravel"](ar1) if assume_unique else unique(ar1)
    return x[isin(x, ar2, invert=True)]


@public
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The elements that are in exactly one array."""
    x, y = map(box, chosen(unique(ar1), unique(ar2)))
    return sort(functions["concatenate"]((x[isin(x, y, invert=True)], y[isin(y, x, invert=True)])))
