"""Functions that change shapes: those that NumPy answers by a view give a view here."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, AxisError, OperandError, ShapeError
from ..tensor import Tensor
from .arrays import Step, as_shape, box, fresh, functions, ndarray, stepped, tensor_of
from .conversion import asarray, cast, host, promoted, refuse, tensor
from .dtypes import dtype_of
from .functions import Array, Arrays, Out, function, public, tensors
from .ufuncs import written


def _axis(axis: Any, ndim: int, name: str = "axis") -> int:
    """A position of an axis from 0 on; `AxisError` outside."""
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise AxisError(f"{name} {place} is out of bounds for array of dimension {ndim}")
    return place % ndim


def _permuted(x: ndarray, order: Sequence[int]) -> ndarray:
    inverse = sorted(range(len(order)), key=order.__getitem__)
    order = tuple(order)
    return stepped(x, Step(lambda t: tb.permute_dims(t, order), lambda old, new: tb.permute_dims(new, inverse)))


def _reshaped(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    return stepped(
        x, Step(lambda t: tb.reshape(t, shape), lambda old, new: tb.reshape(new, old.shape, names=old.names))
    )


@public
def reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: bool | None = None
) -> ndarray:
    """The elements in another shape: a view."""
    x = asarray(a)
    size = as_shape(newshape if shape is None else shape)
    if order == "F":
        return _permuted(_reshaped(x.T, size[::-1]), range(len(size))[::-1])
    made = _reshaped(x, size)
    return made.copy() if copy else made


@public
def ravel(a: Any, order: str = "C") -> ndarray:
    """The elements along one axis: a view."""
    x = asarray(a)
    return _reshaped(x.T if order == "F" else x, (-1,))


@public
def transpose(a: Any, axes: Any = None) -> ndarray:
    """The axes in another order, by default reversed: a view."""
    x = asarray(a)
    order = range(x.ndim)[::-1] if axes is None else [_axis(each, x.ndim) for each in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError("axes don't match array" if len(order) != x.ndim else "repeated axis in transpose")
    return _permuted(x, order)


@public
def matrix_transpose(x: Any, /) -> ndarray:
    """The last two axes exchanged: a view."""
    array = asarray(x)
    if array.ndim < 2:
        raise ShapeError(f"Input array must be at least 2-dimensional, but it is {array.ndim}")
    return swapaxes(array, -1, -2)  # type: ignore[no-any-return]


@public
def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """Two axes exchanged: a view."""
    x = asarray(a)
    first, second = _axis(axis1, x.ndim, "axis1: axis"), _axis(axis2, x.ndim, "axis2: axis")
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return _permuted(x, order)


@public
def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """Axes moved to other positions: a view."""
    x = asarray(a)
    sources = [_axis(each, x.ndim, "source: axis") for each in numpy.atleast_1d(source)]
    targets = [_axis(each, x.ndim, "destination: axis") for each in numpy.atleast_1d(destination)]
    if len(sources) != len(targets):
        raise ArgumentError("`source` and `destination` arguments must have the same number of elements")
    if len({*sources}) < len(sources) or len({*targets}) < len(targets):
        raise ArgumentError(
            "repeated axis in `source` argument"
            if len({*sources}) < len(sources)
            else "repeated axis in `destination` argument"
        )
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return _permuted(x, order)


@public
def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """An axis rolled back to before another: a view."""
    x = asarray(a)
    place = _axis(axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    if not 0 <= start <= x.ndim:
        raise AxisError(f"start arg requires {-x.ndim} <= start < {x.ndim + 1}, but {start} was passed in")
    return moveaxis(x, place, start - 1 if place < start else start)  # type: ignore[no-any-return]


@public
def squeeze(a: Any, axis: Any = None) -> ndarray:
    """The array without axes of size 1: a view."""
    x = asarray(a)
    shape = x.shape
    axes = [place for place, size in enumerate(shape) if size == 1] if axis is None else [
        _axis(each, x.ndim) for each in (axis if isinstance(axis, tuple | list) else (axis,))]  # fmt: skip
    if any(shape[each] != 1 for each in axes):
        raise ShapeError("cannot select an axis to squeeze out which has size not equal to one")
    return _reshaped(x, tuple([size for place, size in enumerate(shape) if place not in axes]))


@public
def expand_dims(a: Any, axis: Any) -> ndarray:
    """The array with new axes of size 1: a view."""
    x = asarray(a)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    places = [_axis(each, x.ndim + len(axes)) for each in axes]
    if len({*places}) < len(places):
        raise ArgumentError("repeated axis")
    sizes = iter(x.shape)
    return _reshaped(x, tuple([1 if place in places else next(sizes) for place in range(x.ndim + len(axes))]))


@public
def view(a: Any, dtype: Any = None, type: Any = None) -> ndarray:
    """The memory of an array in another dtype: a view."""
    x = asarray(a)
    if dtype is None or dtype is ndarray:
        return _reshaped(x, x.shape)
    if isinstance(dtype, __builtins_type) and not isinstance(dtype, numpy.generic) and issubclass(dtype, numpy.ndarray):
        raise ArgumentError("there are no subclasses of arrays here")
    target = dtype_of(dtype)
    source = x._template().dtype
    if source.itemsize == target.itemsize:
        return stepped(x, Step(lambda t: _bits(t, target), lambda old, new: _bits(new, old.dtype)))
    ratio = source.itemsize / target.itemsize
    if not x.ndim or (ratio < 1 and x.shape[-1] % (target.itemsize // source.itemsize)):
        text = "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis"
        raise ArgumentError(f"{text} of the array.")
    return stepped(x, Step(lambda t: _resized_bits(t, target), lambda old, new: _resized_bits(new, old.dtype)))


__builtins_type = type


def _bits(t: Tensor, dtype: Any) -> Tensor:
    if t.dtype is dtype:
        return t
    if tb.bool in (t.dtype, dtype):  # a bool is a byte of 0 or 1
        return (
            tb.not_equal(tb.bitcast(t, tb.uint8), 0) if dtype is tb.bool else tb.bitcast(tb.astype(t, tb.uint8), dtype)
        )
    return tb.bitcast(t, dtype)


def _resized_bits(t: Tensor, dtype: Any) -> Tensor:
    """The memory of a tensor in a dtype of another width, row-major; it needs data."""
    array = numpy.ascontiguousarray(numpy.asarray(t)).view(dtype.dtype)
    return tb.asarray(array, backend=t.backend)


@public
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None, casting: str = "unsafe") -> ndarray:
    """The elements in another dtype."""
    array = asarray(x)
    target = dtype_of(dtype)
    t = tensor_of(array)
    if t.dtype is target and not copy:
        return array
    if casting != "unsafe" and not numpy.can_cast(t.dtype.dtype, target.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {t.dtype.dtype!r} to {target.dtype!r} according to the rule '{casting}'"
        )
    made = box(fresh(t) if t.dtype is target else cast(t, target))
    if not t.shape:
        made._how = True
    return made


@public
def real(val: Any) -> Any:
    """The real parts: a view."""
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        return _reshaped(x, x.shape)
    if not x.ndim and val.__class__ is not ndarray:
        return functions["box"](tb.real(tensor(val)))
    return stepped(x, Step(tb.real, lambda old, new: tb.complex(new, tb.imag(old))))


@public
def imag(val: Any) -> Any:
    """The imaginary parts: a view; zeros for an array that is not complex."""
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        return box(tb.zeros_like(tensor_of(x)))
    return stepped(x, Step(tb.imag, lambda old, new: tb.complex(tb.real(old), new)))


@public
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A diagonal of matrices: a view."""
    x = asarray(a)
    if x.ndim < 2:
        raise ShapeError("diag requires an array of at least two dimensions")
    first, second = _axis(axis1, x.ndim, "axis1: axis"), _axis(axis2, x.ndim, "axis2: axis")
    if first == second:
        raise ArgumentError("axis1 and axis2 cannot be the same")
    moved = moveaxis(x, (first, second), (-2, -1))
    step = Step(lambda t: tb.take_diagonal(t, offset=offset), lambda old, new: tb.put_diagonal(old, new, offset=offset))
    return stepped(moved, step)


@public
def diag(v: Any, k: int = 0) -> ndarray:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    x = tensor(v)
    if x.ndim == 1:
        return box(tb.make_diagonal(x, offset=k))
    if x.ndim != 2:
        raise ShapeError("Input must be 1- or 2-d.")
    return diagonal(asarray(v), k)  # type: ignore[no-any-return]


@function
def diagflat(v: Array, k: int = 0) -> Array:
    """The matrix whose diagonal has the elements of an array."""
    return tb.make_diagonal(tb.reshape(v, (-1,)), offset=k)


@public
def flip(m: Any, axis: Any = None) -> ndarray:
    """The elements in reverse order along axes: a view."""
    x = asarray(m)
    axes = (
        range(x.ndim)
        if axis is None
        else [_axis(each, x.ndim) for each in (axis if isinstance(axis, tuple) else (axis,))]
    )
    key = tuple([slice(None, None, -1) if place in axes else slice(None) for place in range(x.ndim)])
    made: ndarray = x[key] if key else _reshaped(x, ())
    return made


@public
def flipud(m: Any) -> ndarray:
    """The rows in reverse order: a view."""
    x = asarray(m)
    if x.ndim < 1:
        raise ShapeError("Input must be >= 1-d.")
    return flip(x, 0)  # type: ignore[no-any-return]


@public
def fliplr(m: Any) -> ndarray:
    """The columns in reverse order: a view."""
    x = asarray(m)
    if x.ndim < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(x, 1)  # type: ignore[no-any-return]


@public
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> ndarray:
    """The array turned by 90 degrees in the plane of two axes: a view."""
    x = asarray(m)
    if len(axes) != 2:
        raise ArgumentError("len(axes) must be 2.")
    first, second = (_axis(each, x.ndim) for each in axes)
    if first == second:
        raise ArgumentError("Axes must be different.")
    k %= 4
    if k == 0:
        return x[...]  # type: ignore[no-any-return]
    if k == 2:
        return flip(flip(x, first), second)  # type: ignore[no-any-return]
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return transpose(flip(x, second), order) if k == 1 else flip(transpose(x, order), second)  # type: ignore[no-any-return]


@public
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> ndarray:
    """The array repeated along axes to another shape."""
    return box(tb.broadcast_to(tensor(array), as_shape(shape)))


@public
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ndarray, ...]:
    """Arrays broadcast to one shape."""
    return tuple(map(box, tb.broadcast_arrays(*map(tensor, args)))) if args else ()


@public
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    return tb.broadcast_shapes(*map(as_shape, args))


@public
def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis: views."""
    made = [x if x.ndim else _reshaped(x, (1,)) for x in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@public
def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes: views."""
    made = [x if x.ndim > 1 else _reshaped(x, (1, *x.shape) if x.ndim else (1, 1)) for x in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@public
def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes: views."""
    made = []
    for x in map(asarray, arys):
        shape = {0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}.get(x.ndim)
        made.append(x if shape is None else _reshaped(x, shape))
    return made[0] if len(made) == 1 else tuple(made)


@public
def shape(a: Any) -> tuple[int, ...]:
    """The size of each axis."""
    return a.shape if hasattr(a, "shape") else tensor(a).shape


@public
def ndim(a: Any) -> int:
    """The number of axes."""
    return a.ndim if hasattr(a, "ndim") else tensor(a).ndim


@public
def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or of those along axes."""
    sizes = shape(a)
    count = 1
    for place in range(len(sizes)) if axis is None else axis if isinstance(axis, tuple) else (axis,):
        count *= sizes[_axis(place, len(sizes))]
    return count


# Joining and splitting


@public
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays joined along an axis that they have."""
    parts = tensors(arrays)
    if not parts:
        raise ArgumentError("need at least one array to concatenate")
    if any(not part.ndim for part in parts) and axis is not None:
        raise ShapeError("zero-dimensional arrays cannot be concatenated")
    if axis is None:
        parts, axis = [tb.reshape(part, (-1,)) for part in parts], 0
    parts = promoted(parts) if dtype is None else [cast(part, dtype_of(dtype)) for part in parts]
    made = tb.concatenate(parts, axis=axis)
    return box(fresh(made)) if out is None else written("concatenate", out, made, casting)


public_concat = functions["concat"] = concatenate


@public
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays of one shape joined along a new axis."""
    parts = tensors(arrays)
    if not parts:
        raise ArgumentError("need at least one array to stack")
    if len({part.shape for part in parts}) > 1:
        raise ShapeError("all input arrays must have the same shape")
    parts = promoted(parts) if dtype is None else [cast(part, dtype_of(dtype)) for part in parts]
    made = tb.stack(parts, axis=_axis(axis, parts[0].ndim + 1))
    return box(made) if out is None else written("stack", out, made, casting)


def _several(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


@public
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the second axis, those of one axis along it."""
    parts = _several(atleast_1d(*_sequence(tup)))
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@public
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the first axis, those of one axis as rows."""
    return concatenate(_several(atleast_2d(*_sequence(tup))), 0, dtype=dtype, casting=casting)


@public
def dstack(tup: Any) -> Any:
    """Arrays joined along the third axis."""
    return concatenate(_several(atleast_3d(*_sequence(tup))), 2)


@public
def column_stack(tup: Any) -> Any:
    """Arrays joined along the second axis, those of one axis as columns."""
    return concatenate([x if x.ndim > 1 else _reshaped(x, (-1, 1)) for x in map(asarray, _sequence(tup))], 1)


def _sequence(tup: Any) -> Any:
    if not isinstance(tup, Sequence) and tup.__class__ is not ndarray and not isinstance(tup, numpy.ndarray):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return tup


@public
def block(arrays: Any) -> Any:
    """An array from nested lists of blocks."""

    def depth(nested: Any) -> int:
        return 1 + max(map(depth, nested)) if isinstance(nested, list) and nested else 0

    def joined(nested: Any, level: int, ndim: int) -> Any:
        if level == 0:
            x = asarray(nested)
            return _reshaped(x, (1,) * (ndim - x.ndim) + x.shape)
        return concatenate([joined(part, level - 1, ndim) for part in nested], axis=-level)

    def most(nested: Any) -> int:
        return max(map(most, nested)) if isinstance(nested, list) else asarray(nested).ndim

    levels = depth(arrays)
    made = joined(arrays, levels, max(levels, most(arrays)))
    return made.copy() if levels == 0 else made


@public
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """An array joined with more elements."""
    return concatenate((asarray(arr), asarray(values)), axis)


@public
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis, of sizes that may differ by one: views."""
    x = asarray(ary)
    length = x.shape[axis]
    try:
        cuts = [0, *map(int, indices_or_sections), length]
    except TypeError:
        count = operator.index(indices_or_sections)
        if count <= 0:
            raise ArgumentError("number sections must be larger than 0.") from None
        each, extra = divmod(length, count)
        cuts = [0]
        for number in range(count):
            cuts.append(cuts[-1] + each + (number < extra))
    axis = _axis(axis, x.ndim)
    return [x[(*(slice(None),) * axis, slice(start, stop))] for start, stop in pairwise(cuts)]


@public
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis: views."""
    try:
        len(indices_or_sections)
    except TypeError:
        if asarray(ary).shape[axis] % operator.index(indices_or_sections):
            raise ArgumentError("array split does not result in an equal division") from None
    return array_split(ary, indices_or_sections, axis)  # type: ignore[no-any-return]


@public
def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the second axis, or along the only one: views."""
    x = asarray(ary)
    if not x.ndim:
        raise ArgumentError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)  # type: ignore[no-any-return]


@public
def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the first axis: views."""
    if asarray(ary).ndim < 2:
        raise ArgumentError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)  # type: ignore[no-any-return]


@public
def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the third axis: views."""
    if asarray(ary).ndim < 3:
        raise ArgumentError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)  # type: ignore[no-any-return]


@public
def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """The entries along an axis: views."""
    array = asarray(x)
    if not array.ndim:
        raise ShapeError("Input array must be at least 1-d.")
    return tuple(moveaxis(array, axis, 0))


@function
def tile(A: Array, reps: Any) -> Array:
    """The array repeated as a whole along axes."""
    times = as_shape(reps)
    x = tb.reshape(A, (1,) * max(0, len(times) - A.ndim) + A.shape)
    return fresh(tb.tile(x, (1,) * (x.ndim - len(times)) + times))


@function
def repeat(a: Array, repeats: Any, axis: Any = None) -> Array:
    """Each element repeated along an axis, by default of the flat array."""
    x = tb.reshape(a, (-1,)) if axis is None else a
    times: Any = tensor(repeats)
    if times.ndim == 1 and times.shape[0] == 1:
        times = times[0]
    if not times.ndim and repeats.__class__ is not ndarray:
        times = int(times)
    return tb.repeat(x, times, axis=0 if axis is None else axis)


@function
def roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """Elements moved along axes, from the end back to the front."""
    whole = tuple(map(int, numpy.atleast_1d(host(shift)))) if numpy.ndim(host(shift)) else int(shift)
    if isinstance(axis, tuple | list) and not isinstance(whole, tuple):
        whole = (whole,) * len(axis)
    if isinstance(whole, tuple) and axis is not None and not isinstance(axis, tuple | list):
        axis = (axis,) * len(whole)
    if isinstance(whole, tuple) and axis is None:
        whole = sum(whole)
    if axis is None:
        return tb.reshape(tb.roll(tb.reshape(a, (-1,)), whole, axis=0), a.shape) if a.size else a
    for each, place in zip(
        whole if isinstance(whole, tuple) else (whole,),
        axis if isinstance(axis, tuple | list) else (axis,),
        strict=True,
    ):
        a = tb.roll(a, each, axis=_axis(place, a.ndim))
    return fresh(a)


@function
def resize(a: Array, new_shape: Any) -> Array:
    """The elements in another shape, repeated where there are too few."""
    shape_ = as_shape(new_shape)
    size_ = 1
    for each in shape_:
        size_ *= each
        if each < 0:
            raise ArgumentError("all elements of `new_shape` must be non-negative")
    flat = tb.reshape(a, (-1,))
    if not size_ or not flat.shape[0]:
        return tb.zeros(shape_, dtype=a.dtype, like=a)
    times = -(-size_ // flat.shape[0])
    return tb.reshape(tb.tile(flat, (times,))[:size_], shape_)


def _resized_with_zeros(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    count = 1
    for each in shape:
        count *= each
    flat = tb.reshape(t, (-1,))[:count]
    return tb.reshape(tb.pad(flat, [(0, count - flat.shape[0])], value=False if t.dtype is tb.bool else 0), shape)


functions["axis"] = _axis
functions["resized_with_zeros"] = _resized_with_zeros
functions["box"] = box


@function
def trim_zeros(filt: Array, trim: str = "fb", axis: Any = None) -> Array:
    """The array without zeros at its ends."""
    if filt.ndim != 1:
        refuse("trim_zeros", "more than one axis", filt.shape, "index the array")
    places = tb.nonzero(filt)[0]
    if not places.shape[0]:
        return filt[:0]
    first = int(places[0]) if "f" in trim.lower() else 0
    last = int(places[-1]) + 1 if "b" in trim.lower() else filt.shape[0]
    return filt[first:last]


@function
def tril(m: Array, k: int = 0) -> Array:
    """The array with zeros above a diagonal."""
    x = tb.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m
    return tb.tril(x, k=operator.index(k))


@function
def triu(m: Array, k: int = 0) -> Array:
    """The array with zeros below a diagonal."""
    x = tb.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m
    return tb.triu(x, k=operator.index(k))


_ = (Arrays, Out, OperandError)
