"""Functions that read elements: at indices, where a condition is true, or from several arrays; indices as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import ALL_DTYPES, bool_
from ..errors import ArgumentError, OutOfRangeError, ShapeError
from ..select import call_with_default
from ..tensor import Tensor
from .arrays import as_shape, box, fresh, functions, ndarray, new_array, result, tensor_of
from .conversion import asarray, back, cast, tensor
from .dtypes import dtype_of, numpy_dtype
from .functions import PUBLIC, Array, Out, function, public
from .overrides import home_or_numpy
from .promotion import infinite_beyond
from .reductions import NO_VALUE
from .shapes import flat_along
from .ufuncs import write_out


def as_integers(x: Tensor) -> Tensor:
    """Integers unchanged, an empty tensor of any dtype as integers; otherwise NumPy's `TypeError`."""
    if x.dtype.is_integer:
        return x
    if x.size and x.dtype is not bool_:
        raise TypeError("Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'")
    return cast(x, tb.int64)


@function(planned=False)
def take(a: Array, indices: Array, axis: Any = None, out: Out = None, mode: str = "raise") -> Array:
    """The elements at indices along an axis, by default of the flat array."""
    x, place = (a, 0) if axis is None and len(a.template.shape) == 1 else flat_along(a, axis, of_number=True)
    if not indices.template.dtype.is_integer:
        indices = as_integers(indices)
    if not x.shape[place] and indices.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode == "wrap":
        indices = tb.remainder(indices, max(x.shape[place], 1))
    elif mode == "clip":
        indices = tb.clip(indices, 0, max(x.shape[place] - 1, 0))
    return tb.take(x, indices, axis=place, mode="error")


@function(planned=False)
def take_along_axis(arr: Array, indices: Array, axis: Any = -1) -> Array:
    """The elements at one index each along an axis."""
    if not indices.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
    x, place = flat_along(arr, axis)
    if x.ndim != indices.ndim:
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    return tb.take_along_axis(x, indices, axis=place)


_STRAIGHT: Final = frozenset({
    *[(dtype, dtype) for dtype in ALL_DTYPES],
    *[
        pair
        for kind in (bool, int, float, complex)
        for dtype in ALL_DTYPES
        if (dtype is bool_ if kind is bool else dtype.is_numeric if kind is int else dtype.is_inexact
            if kind is float else dtype.is_complex)
        for pair in ((kind, dtype), (dtype, kind))
    ],
})  # fmt: skip
"""The dtypes of arrays and classes of Python's numbers between which an op chooses as NumPy does."""


@public(home=False)
def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """Elements of x where a condition is true, otherwise of y; for a condition alone, its true positions."""
    if condition.__class__ is ndarray:
        mask = condition._t
        if mask is None:
            mask = condition._read()
        first, second, k, j = x, y, x.__class__, y.__class__
        if k is ndarray:
            first = x._t
            if first is None:
                first = x._read()
            k = first.template.dtype
        if j is ndarray:
            second = y._t
            if second is None:
                second = y._read()
            j = second.template.dtype
        if mask.template.dtype is bool_ and (k, j) in _STRAIGHT:
            try:
                return new_array(tb.where(mask, first, second))
            except OutOfRangeError:  # of a number, which is infinite below
                pass
    home = home_or_numpy((condition, x, y))
    if home is not None:
        return call_with_default(home, where, condition, x, y)
    if x is NO_VALUE and y is NO_VALUE:
        return nonzero(condition)
    if x is NO_VALUE or y is NO_VALUE:
        raise ArgumentError("either both or neither of x and y should be given")
    mask = tensor(condition)
    if mask.dtype is not bool_:
        mask = cast(mask, bool_)
    return new_array(tb.where(mask, *chosen(x, y)))


def chosen(*values: Any) -> list[Any]:
    """Operands in their common dtype by NumPy's rules; a Python number yields."""
    operands = [value if value.__class__ in (int, float, complex) else tensor(value) for value in values]
    dtypes = {value.dtype for value in operands if isinstance(value, Tensor)}
    numbers = [value for value in operands if not isinstance(value, Tensor)]
    if len(dtypes) == 1 and not numbers:
        return operands
    kinds = [*map(numpy_dtype, dtypes), *numbers] if dtypes else [numpy.asarray(value).dtype for value in numbers]
    common = dtype_of(numpy.result_type(*kinds))
    return [
        cast(value, common) if isinstance(value, Tensor) else tb.full((), common_number(value, common), dtype=common)
        for value in operands
    ]


functions["chosen"] = chosen


def common_number(value: Any, dtype: Any) -> Any:
    """A Python number as one of a dtype's kind."""
    if dtype.is_floating:
        return infinite_beyond(float(value), dtype)
    return complex(value) if dtype.is_complex else value


@public(home=False)
def nonzero(a: Any) -> tuple[Any, ...]:
    """The positions of the nonzero elements, an array for each axis."""
    x = tensor(a)
    if not x.ndim:
        raise ArgumentError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(map(box, tb.nonzero(x)))


@function
def flatnonzero(a: Array) -> Array:
    """The positions of the nonzero elements of the flat array."""
    return tb.nonzero(tb.reshape(a, (-1,)))[0]


@function
def argwhere(a: Array) -> Array:
    """The positions of the nonzero elements, a row for each."""
    if not a.ndim:
        return tb.zeros((int(bool(a)), 0), dtype=tb.int64)
    return tb.argwhere(a)


@function
def compress(condition: Array, a: Array, axis: Any = None, out: Out = None) -> Array:
    """The entries along an axis where a condition is true."""
    if condition.ndim != 1:
        raise ArgumentError("condition must be a 1-d array")
    x, place = flat_along(a, axis, of_number=True)
    return tb.take(x, tb.nonzero(condition)[0], axis=place)


@function
def extract(condition: Array, arr: Array) -> Array:
    """The elements where a condition is true."""
    return tb.take(tb.reshape(arr, (-1,)), tb.nonzero(tb.reshape(condition, (-1,)))[0], axis=0)


@public
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each element the entry of the array that it names."""
    index = tensor(a)
    index = cast(index, tb.int64) if index.dtype is bool_ else index
    if not index.dtype.is_integer:
        raise TypeError("choose: expected integers, which name the choices")
    parts = chosen(*choices)
    if mode == "wrap":
        index = tb.remainder(index, len(parts))
    elif mode == "clip":
        index = tb.clip(index, 0, len(parts) - 1)
    elif index.size and (int(tb.min(index)) < 0 or int(tb.max(index)) >= len(parts)):
        raise ArgumentError("invalid entry in choice array")
    wide = tb.broadcast_arrays(index, *parts)
    made = wide[1]
    for number, part in enumerate(wide[2:], 1):
        made = tb.where(tb.equal(wide[0], number), part, made)
    return result(fresh(made)) if out is None else write_out("choose", out, made, "unsafe", broadcasts=False)


@public
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the choice of the first condition that is true."""
    if len(condlist) != len(choicelist):
        raise ArgumentError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ArgumentError("select with an empty condition list is not possible")
    *values, made = chosen(*choicelist, default)
    for condition, value in zip(reversed(list(condlist)), reversed(values), strict=True):
        mask = tensor(condition)
        if mask.dtype is not bool_:
            raise TypeError(f"invalid entry {condition!r} in condlist: should be boolean ndarray")
        made = tb.where(mask, value, made)
    return new_array(made)


_ARRAYS: Final = (list, tuple, ndarray, numpy.ndarray, Tensor)
"""What is an array of conditions, and no condition."""


@public
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """The values of functions, each of the elements where its condition is true.

    A trace, where nobody knows how many these are, passes all elements: there a function must work element by element.
    """
    array = asarray(x)
    listed = isinstance(condlist, list | tuple)
    several = listed and (not condlist or isinstance(condlist[0], _ARRAYS) or array.ndim == 0)
    conditions = condlist if several else [condlist]
    if condlist.__class__ is ndarray and condlist.ndim > array.ndim:
        conditions = list(condlist)
    masks = [cast(tensor(each), bool_) for each in conditions]
    functions_ = list(funclist)
    if len(functions_) == len(masks) + 1:
        masks.append(tb.logical_not(reduce(tb.logical_or, masks, tb.zeros(array.shape, dtype=bool_))))
    elif len(functions_) != len(masks):
        count = len(masks)
        raise ArgumentError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    made = tb.zeros_like(tensor_of(array))
    for mask, each in zip(masks, functions_, strict=True):
        if callable(each) and mask.shape == made.shape and mask.backend.is_concrete(mask):
            wanted, filled = array[box(mask)], box(made)
            if wanted.size:
                filled[box(mask)] = each(wanted, *args, **kw)
            made = tensor_of(filled)
            continue
        value = each(array, *args, **kw) if callable(each) else each
        made = tb.where(mask, cast(tensor(value), made.dtype), made)
    return box(made)


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
