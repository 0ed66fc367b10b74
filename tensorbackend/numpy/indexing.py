"""Indexing: keys that need more than the quick path, and functions that read and write elements at places."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, IndexRangeError, OperandError, ShapeError, TemplateDataError, expected
from ..tensor import Tensor
from .arrays import as_shape, box, fresh, functions, is_basic, ndarray, replace, result, stepped, tensor_of, view_of
from .arrays import put as assign
from .conversion import NUMBERS, asarray, back, cast, host, promoted, tensor
from .dtypes import dtype_of, numpy_dtype
from .functions import Array, Operand, Out, function, public
from .ufuncs import written

# Keys


def plain(key: Any) -> Any:
    """A key whose parts are ints, slices of ints, None, ..., and tensors of ints and bools."""
    return tuple(map(_part, key)) if isinstance(key, tuple) else _part(key)


def _part(part: Any) -> Any:
    if part.__class__ in (int, EllipsisType) or part is None:
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    if part.__class__ in (bool, numpy.bool_):
        return tb.asarray(bool(part))
    if isinstance(part, numpy.integer):
        return int(part)
    if isinstance(part, float | numpy.inexact | str | dict):
        if isinstance(part, str):
            raise OperandError(
                expected(
                    "a key of ints, slices, masks and arrays",
                    "there are no fields; use a dictionary of arrays",
                    key=part,
                )
            )
        text = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays"
        raise _index_error(f"{text} are valid indices")
    t = tensor(part)
    if not t.size and not t.dtype.is_integer and t.dtype is not tb.bool and isinstance(part, list | tuple):
        return tb.astype(t, tb.int64)
    if not t.dtype.is_integer and t.dtype is not tb.bool:
        raise _index_error("arrays used as indices must be of integer (or boolean) type")
    if not t.shape and t.dtype.is_integer and t.backend.is_concrete(t):
        return int(t)
    return t


def _index_error(text: str) -> Exception:
    return IndexRangeError(text)


def _bound(bound: Any) -> Any:
    if bound is None or bound.__class__ is int:
        return bound
    if bound.__class__ is ndarray:
        t = tensor_of(bound)
        return t if not t.backend.is_concrete(t) else operator.index(bound)
    return operator.index(bound)


def _getitem(x: ndarray, key: Any) -> Any:
    key = plain(key)
    t = tensor_of(x)
    read = tb.getitem(t, key)
    if not is_basic(key):
        return result(read)
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) == len(t.shape) and all(part.__class__ is int for part in parts):
        return result(read)
    return view_of(x, key)


def _setitem(x: ndarray, key: Any, value: Any) -> None:
    key = plain(key)
    template = x._template()
    dtype = template.dtype
    if value.__class__ in (int, float, complex, bool) and not (value.__class__ is complex and not dtype.is_complex):
        number = _fitting(value, dtype)
        if number is not None:
            assign(x, key, number)
            return
    v = value if isinstance(value, Tensor) else tensor(value)
    if v.dtype is not dtype:
        if v.dtype.is_complex and not dtype.is_complex and value.__class__ in NUMBERS:
            raise TypeError("float() argument must be a string or a real number, not 'complex'")
        v = cast(v, dtype)
    if v.ndim and v.shape[0] == 1:
        fits = _target_ndim(template, key)
        while v.ndim > fits and v.shape[0] == 1:
            v = tb.reshape(v, v.shape[1:])
    assign(x, key, v)


def _fitting(value: Any, dtype: Any) -> Any:
    """A Python number as one that the dtype takes; `None` where it must be cast as an array."""
    if dtype is tb.bool:
        return bool(value)
    if dtype.is_integer:
        if isinstance(value, float) and not math.isfinite(value):
            raise ArgumentError(f"cannot convert float {value} to integer")
        return int(value)
    return value if value.__class__ is not bool else int(value)


def _target_ndim(template: Any, key: Any) -> int:
    """The number of axes of `x[key]`, at least."""
    try:
        return len(tb.getitem(tb.template(template.shape, template.dtype), _dry(key)).shape)
    except TemplateDataError:
        parts = key if isinstance(key, tuple) else (key,)
        masks = sum(part.ndim - 1 for part in parts if isinstance(part, Tensor) and part.dtype is tb.bool)
        ints = sum(part.__class__ is int for part in parts)
        return len(template.shape) - masks - ints + sum(part is None for part in parts)


def _dry(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_dry, key))
    return tb.template(key.shape, key.dtype) if isinstance(key, Tensor) else key


functions["getitem"] = _getitem
functions["setitem"] = _setitem


class flatiter:
    """`x.flat`: the elements in row-major order, to iterate over, to index and to assign to."""

    def __init__(self, x: ndarray) -> None:
        self.base = x
        self._place = 0

    @property
    def index(self) -> int:
        """The position of the next element."""
        return self._place

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the next element."""
        return tuple(map(int, numpy.unravel_index(self._place, self.base.shape)))

    def copy(self) -> ndarray:
        """The elements along one axis, in an array of its own."""
        return self.base.flatten()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray(self.base.ravel(), dtype=dtype)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        if self._place >= self.base.size:
            raise StopIteration
        self._place += 1
        return self.base.ravel()[self._place - 1]

    def __getitem__(self, key: Any) -> Any:
        chosen = self.base.ravel()[key]
        return chosen.copy() if chosen.__class__ is ndarray else chosen

    def __setitem__(self, key: Any, value: Any) -> None:
        flat = self.base.ravel()
        wide = asarray(value).ravel()
        target = flat[key]
        count = target.size if target.__class__ is ndarray else 1
        if not wide.size:
            raise ArgumentError("Error setting single item of array.")
        flat[key] = functions["resize"](wide, target.shape) if target.__class__ is ndarray and count else wide[0]


flatiter.__module__ = __package__
functions["flatiter"] = flatiter


# Reading


@function
def take(a: Array, indices: Array, axis: Any = None, out: Out = None, mode: str = "raise") -> Array:
    """The elements at indices along an axis, by default of the flat array."""
    x = tb.reshape(a, (-1,)) if axis is None else a
    place = 0 if axis is None else axis
    if not indices.dtype.is_integer:
        if indices.size:
            raise TypeError(
                "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'"
            )
        indices = cast(indices, tb.int64)
    length = x.shape[place]
    if mode == "wrap":
        indices = tb.remainder(indices, max(length, 1))
    elif mode == "clip":
        indices = tb.clip(indices, 0, max(length - 1, 0))
    return tb.take(x, indices, axis=place, mode="error")


@function
def take_along_axis(arr: Array, indices: Array, axis: Any = -1) -> Array:
    """The elements at one index each along an axis."""
    if not indices.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
    x = tb.reshape(arr, (-1,)) if axis is None else arr
    place = 0 if axis is None else axis % x.ndim if -x.ndim <= axis < x.ndim else axis
    if x.ndim != indices.ndim:
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    return tb.take_along_axis(x, indices, axis=place)


@public
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of x where a condition holds, else of y; with a condition alone, the places where it holds."""
    if condition.__class__ is ndarray and x.__class__ is ndarray:
        mask, first = tensor_of(condition), tensor_of(x)
        if mask.dtype is tb.bool:
            kind = y.__class__
            if kind is ndarray and (second := tensor_of(y)).dtype is first.dtype:
                return result(tb.where(mask, first, second))
            if (kind is float and first.dtype.is_inexact) or (kind is int and first.dtype.is_numeric):
                return result(tb.where(mask, first, y))
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ArgumentError("either both or neither of x and y should be given")
    mask = tensor(condition)
    if mask.dtype is not tb.bool:
        mask = cast(mask, tb.bool)
    return result(tb.where(mask, *chosen(x, y)))


def chosen(*values: Any) -> list[Any]:
    """Operands in their common dtype by NumPy's rules; a Python number yields."""
    operands = [value if value.__class__ in (int, float, complex) else tensor(value) for value in values]
    dtypes = {value.dtype for value in operands if isinstance(value, Tensor)}
    numbers = [value for value in operands if not isinstance(value, Tensor)]
    if len(dtypes) == 1 and not numbers:
        return operands
    common = dtype_of(numpy.result_type(*map(numpy_dtype, dtypes), *numbers)) if dtypes else None
    if common is None:
        common = dtype_of(numpy.result_type(*[numpy.asarray(value).dtype for value in numbers]))
    return [
        cast(value, common) if isinstance(value, Tensor) else tb.full((), common_number(value, common), dtype=common)
        for value in operands
    ]


functions["chosen"] = chosen


def common_number(value: Any, dtype: Any) -> Any:
    """A Python number as one of a dtype's kind."""
    return float(value) if dtype.is_floating else complex(value) if dtype.is_complex else value


@public
def nonzero(a: Any) -> tuple[Any, ...]:
    """The places of the elements other than 0, an array for each axis."""
    x = tensor(a)
    if not x.ndim:
        raise ArgumentError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(map(box, tb.nonzero(x)))


@function
def flatnonzero(a: Array) -> Array:
    """The places of the elements other than 0 of the flat array."""
    return tb.nonzero(tb.reshape(a, (-1,)))[0]


@function
def argwhere(a: Array) -> Array:
    """The places of the elements other than 0, a row for each."""
    if not a.ndim:
        return tb.zeros((int(bool(a)), 0), dtype=tb.int64)
    return tb.argwhere(a)


@function
def compress(condition: Array, a: Array, axis: Any = None, out: Out = None) -> Array:
    """The entries along an axis where a condition holds."""
    if condition.ndim != 1:
        raise ArgumentError("condition must be a 1-d array")
    x = tb.reshape(a, (-1,)) if axis is None else a
    places = tb.nonzero(condition)[0]
    return tb.take(x, places, axis=0 if axis is None else axis)


@function
def extract(condition: Array, arr: Array) -> Array:
    """The elements where a condition holds."""
    return tb.take(tb.reshape(arr, (-1,)), tb.nonzero(tb.reshape(condition, (-1,)))[0], axis=0)


@public
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each element the entry of the array that it names."""
    index = tensor(a)
    parts = promoted([tensor(each) for each in choices])
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
    return result(fresh(made)) if out is None else written("choose", out, made)


@public
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise ArgumentError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ArgumentError("select with an empty condition list is not possible")
    *values, made = chosen(*choicelist, default)
    for condition, value in zip(reversed(list(condlist)), reversed(values), strict=True):
        mask = tensor(condition)
        if mask.dtype is not tb.bool:
            raise TypeError(f"invalid entry {condition!r} in condlist: should be boolean ndarray")
        made = tb.where(mask, value, made)
    return result(made)


@public
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """The values of functions, each where its condition holds."""
    array = asarray(x)
    arrays = list | tuple | ndarray | numpy.ndarray | Tensor
    listed = isinstance(condlist, list | tuple)
    several = listed and (not condlist or isinstance(condlist[0], arrays) or array.ndim == 0)
    conditions = condlist if several else [condlist]
    if condlist.__class__ is ndarray and condlist.ndim > array.ndim:
        conditions = list(condlist)
    masks = [cast(tensor(each), tb.bool) for each in conditions]
    functions_ = list(funclist)
    if len(functions_) == len(masks) + 1:
        masks.append(tb.logical_not(_any_of(masks, array)))
    elif len(functions_) != len(masks):
        raise ArgumentError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    made = tb.zeros_like(tensor_of(array))
    for mask, each in zip(masks, functions_, strict=True):
        value = each(array, *args, **kw) if callable(each) else each
        made = tb.where(mask, cast(tensor(value), made.dtype), made)
    return box(made)


def _any_of(masks: list[Tensor], like: ndarray) -> Tensor:
    total = tb.zeros(like.shape, dtype=tb.bool)
    for mask in masks:
        total = tb.logical_or(total, mask)
    return total


# Writing


def _target(a: Any, name: str) -> ndarray:
    if a.__class__ is not ndarray:
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    return a  # type: ignore[no-any-return]


def _replaced(a: Any, t: Tensor) -> None:
    replace(_target(a, "a"), t)


@public
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Writes elements of one array to another, where a mask holds."""
    target = _target(dst, "dst")
    value = tensor(src)
    dtype = target._template().dtype
    if src.__class__ not in (int, float, complex, bool) and not numpy.can_cast(
        numpy_dtype(value.dtype), numpy_dtype(dtype), casting
    ):  # type: ignore[arg-type]
        source, to = numpy_dtype(value.dtype), numpy_dtype(dtype)
        raise TypeError(f"Cannot cast array data from {source!r} to {to!r} according to the rule '{casting}'")
    value = cast(value, dtype)
    old = tensor_of(target)
    while value.ndim > old.ndim and value.shape[0] == 1:
        value = tb.reshape(value, value.shape[1:])
    value = tb.broadcast_to(value, old.shape)
    replace(
        target,
        fresh(value)
        if where is True
        else tb.where(tb.broadcast_to(cast(tensor(where), tb.bool), old.shape), value, old),
    )


@public
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Writes elements at one index each along an axis."""
    target = _target(arr, "arr")
    if axis is None:
        flat = target.ravel()
        flat[asarray(indices)] = values
        return
    places = tensor(indices)
    if not places.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
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
    """Writes values, repeated as needed, at places of the flat array."""
    target = _target(a, "a")
    places = tb.reshape(tensor(ind), (-1,))
    if mode == "wrap":
        places = tb.remainder(places, target.size)
    elif mode == "clip":
        places = tb.clip(places, 0, target.size - 1)
    values = tb.reshape(tensor(v), (-1,))
    if not places.shape[0] or not values.shape[0]:
        return
    flat = target.ravel()
    flat[box(places)] = functions["resize"](box(values), places.shape)


@public
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Writes values, repeated as needed, where a mask holds."""
    target = _target(arr, "arr")
    where_ = cast(tensor(mask), tb.bool)
    count = int(tb.sum(where_))
    values = functions["ravel"](vals)
    if not count:
        return
    if not values.size:
        raise ArgumentError("Cannot insert from an empty array!")
    target[box(where_)] = functions["resize"](values, (count,))


@public
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Writes the values at the same places, repeated as needed, where a mask holds."""
    target = _target(a, "a")
    where_ = cast(tensor(mask), tb.bool)
    wide = tensor(functions["resize"](values, target.shape))
    replace(target, tb.where(tb.reshape(where_, target.shape), cast(wide, target._template().dtype), tensor_of(target)))


@public
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Writes values to the main diagonal."""
    target = _target(a, "a")
    if target.ndim < 2:
        raise ArgumentError("array must be at least 2-d")
    if target.ndim > 2 and len({*target.shape}) > 1:
        raise ArgumentError("All dimensions of input must be of equal length")
    step = 1 + sum(functions["cumprod_of"](target.shape[1:]))
    stop = None if wrap or target.ndim > 2 else target.shape[1] * target.shape[1]
    flat = target.ravel()
    line = flat[:stop:step]
    values = tb.reshape(tensor(val), (-1,))
    line[...] = functions["resize"](box(values), line.shape) if values.shape[0] > 1 else val


def _cumprod_of(sizes: tuple[int, ...]) -> list[int]:
    products, product = [], 1
    for each in reversed(sizes):
        product *= each
        products.append(product)
    return products


functions["cumprod_of"] = _cumprod_of


@public
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The array with values inserted before given places."""
    x = asarray(arr)
    if axis is None:
        x, axis = x.ravel() if x.ndim != 1 else x, 0
    axis = operator.index(axis)
    if not -x.ndim <= axis < x.ndim:
        raise tb.errors.AxisError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    axis %= x.ndim
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
    x = asarray(arr)
    if axis is None:
        x, axis = x.ravel() if x.ndim != 1 else x, 0
    axis = operator.index(axis)
    if not -x.ndim <= axis < x.ndim:
        raise tb.errors.AxisError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
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
    return box(tb.take(tensor_of(x), tb.asarray(numpy.flatnonzero(kept)), axis=axis))


# Places


@public
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """The coordinates of places of the flat array."""
    sizes = as_shape(shape)
    places = tensor(indices)
    if not places.dtype.is_integer:
        raise TypeError("only int indices permitted")
    found = tb.unravel_index(places, sizes[::-1] if order == "F" else sizes)
    return tuple(map(result, found[::-1] if order == "F" else found))


@public
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The places of the flat array at coordinates."""
    sizes = as_shape(dims)
    parts = [tensor(each) for each in multi_index]
    modes = mode if isinstance(mode, tuple) else (mode,) * len(sizes)
    parts = [
        tb.remainder(part, size) if how == "wrap" else tb.clip(part, 0, size - 1) if how == "clip" else part
        for part, size, how in zip(parts, sizes, modes, strict=True)
    ]
    if order == "F":
        parts, sizes = parts[::-1], sizes[::-1]
    return result(tb.ravel_multi_index(parts, sizes))


@public
def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Arrays of indices that broadcast to a grid."""
    made = []
    for number, each in enumerate(args):
        x = tensor(each)
        if x.ndim != 1:
            raise ArgumentError("Cross index must be 1 dimensional")
        if x.dtype is tb.bool:
            x = tb.nonzero(x)[0]
        if not x.size and not x.dtype.is_integer:
            x = tb.astype(x, tb.int64)
        made.append(box(tb.reshape(x, (1,) * number + (-1,) + (1,) * (len(args) - number - 1))))
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
    return diag_indices(x.shape[0], x.ndim)  # type: ignore[no-any-return]


@public
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The places at and below a diagonal."""
    return back(numpy.tril_indices(n, k, m))  # type: ignore[no-any-return]


@public
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The places at and above a diagonal."""
    return back(numpy.triu_indices(n, k, m))  # type: ignore[no-any-return]


@public
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The places of an array at and below a diagonal."""
    x = asarray(arr)
    if x.ndim != 2:
        raise ArgumentError("input array must be 2-d")
    return tril_indices(x.shape[0], k, x.shape[1])  # type: ignore[no-any-return]


@public
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The places of an array at and above a diagonal."""
    x = asarray(arr)
    if x.ndim != 2:
        raise ArgumentError("input array must be 2-d")
    return triu_indices(x.shape[0], k, x.shape[1])  # type: ignore[no-any-return]


@public
def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Any, ...]:
    """The places where a function of a matrix of ones and a diagonal is not 0."""
    return nonzero(mask_func(functions["ones"]((n, n), int), k) != 0)  # type: ignore[no-any-return]


@public
def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """All places of a shape, row-major."""
    return numpy.ndindex(*shape)  # type: ignore[return-value]


class ndenumerate:
    """The places of an array with their elements, row-major."""

    def __init__(self, arr: Any) -> None:
        self._array = asarray(arr)
        self._places = iter(numpy.ndindex(self._array.shape))

    def __iter__(self) -> ndenumerate:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        place = next(self._places)
        return place, self._array[place] if place else self._array[()]


ndenumerate.__module__ = __package__
_ = (Operand, stepped)
