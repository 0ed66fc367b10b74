"""The methods of universal functions: `reduce`, `accumulate`, `reduceat`, `outer` and `at`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from functools import reduce as fold
from math import prod
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..backends.numpy_backend.memory import own
from ..dtypes import bool_
from ..errors import ArgumentError, OperandError, expected
from ..ops.indexing import assignment as assignments
from ..tensor import Tensor
from .arrays import flat_view, functions, ndarray, release, replace, result, tensor_of
from .conversion import cast, host, tensor
from .dtypes import dtype_of, numpy_dtype
from .in_place import host_places, is_exact
from .keys import HOST
from .layouts import overlapping, places_in, refuse_read_only
from .promotion import Spec
from .ufuncs import call, write_out


@cache
def _is_ordered(function: Any) -> bool:
    """Whether a reduction over several axes depends on their order, as of `subtract`: NumPy itself refuses it."""
    try:
        function.reduce(numpy.ones((1, 1), dtype=function.types[-1][0]), axis=(0, 1))
    except ValueError:
        return True
    except TypeError:
        return False
    return False


@cache
def _dtype_of_method(function: Any, method: str, dtype: Any, wanted: Any) -> Any:
    """The dtype in which NumPy computes a method of a universal function: NumPy is asked, which also refuses."""
    places = ([0],) if method == "reduceat" else ()
    return getattr(function, method)(numpy.ones(2, dtype), *places, dtype=wanted).dtype


def _to_compute_in(spec: Spec, method: str, x: Tensor, dtype: Any) -> Tensor:
    """A tensor in the dtype in which NumPy computes a method of it."""
    wanted = None if dtype is None else numpy.dtype(dtype)
    return cast(x, dtype_of(_dtype_of_method(spec.by_numpy, method, numpy_dtype(x.dtype), wanted)))


def _combined(spec: Spec, a: Tensor, b: Tensor) -> Tensor:
    """The function of two tensors, in their dtype."""
    return cast(tensor(call(spec, (functions["box"](a), functions["box"](b)))), a.dtype)


def reduce(
    spec: Spec, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`np.add.reduce` etc."""
    x = tensor(array)
    if spec.reducer is not None:
        options = {} if initial is None else {"initial": initial}
        if where is not True:
            options["where"] = where
        if spec.name in ("add", "multiply"):
            options["dtype"] = dtype
        elif dtype is not None:
            array = functions["box"](_to_compute_in(spec, "reduce", x, dtype))
        return spec.reducer(array, axis=axis, out=out, keepdims=keepdims, **options)
    x = _to_compute_in(spec, "reduce", x, dtype)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) > 1 and _is_ordered(spec.by_numpy):
        raise ArgumentError(
            f"reduction operation '{spec.name}' is not reorderable, so at most one axis may be specified"
        )
    moved = tb.moveaxis(x, list(axes), list(range(len(axes))))
    flat = tb.reshape(moved, (prod(moved.shape[: len(axes)]), *moved.shape[len(axes) :]))
    parts = list(tb.unstack(flat)) if flat.shape[0] else []
    if initial is not None or not parts:
        start = spec.by_numpy.identity if initial is None else initial
        if start is None:
            raise tb.errors.ShapeError(f"zero-size array to reduction operation {spec.name} which has no identity")
        like = moved[(0,) * len(axes)] if flat.shape[0] else tb.zeros(flat.shape[1:])
        parts = [cast(tb.full_like(like, start), x.dtype), *parts]
    total = fold(lambda a, b: _combined(spec, a, b), parts)
    if keepdims:
        total = tb.expand_dims(total, axis=tuple(axes))
    return result(total) if out is None else write_out(spec.name, out, total, broadcasts=False)


def _asked_dtype(dtype: Any, out: Any) -> Any:
    """The dtype that a call asks for: that of `out` by default."""
    target = out[0] if isinstance(out, tuple) else out
    return target.dtype if dtype is None and target.__class__ is ndarray else dtype


def accumulate(spec: Spec, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """`np.add.accumulate` etc."""
    x = _to_compute_in(spec, "accumulate", tensor(array), _asked_dtype(dtype, out))
    if spec.accumulator is not None and x.dtype is not bool_:
        options = {"dtype": x.dtype} if spec.name in ("add", "multiply") else {}
        total = spec.accumulator(x, axis=axis, **options)
    else:
        parts = list(tb.unstack(x, axis=axis))
        running = parts[:1]
        for part in parts[1:]:
            running.append(_combined(spec, running[-1], part))
        total = tb.stack(running, axis=axis) if parts else x
    return result(total) if out is None else write_out(spec.name, out, total, broadcasts=False)


def reduceat(spec: Spec, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """`np.add.reduceat` and the like: each pair of adjacent indices bounds a reduction."""
    x = tb.moveaxis(_to_compute_in(spec, "reduceat", tensor(array), _asked_dtype(dtype, out)), axis, 0)
    starts = [int(each) for each in host(indices)]
    if not starts:
        empty = tb.moveaxis(x[:0], 0, axis)
        return result(empty) if out is None else write_out(spec.name, out, empty)
    stops = [*starts[1:], x.shape[0]]
    boxed = functions["box"]
    parts = [
        cast(tensor(reduce(spec, boxed(x[start:stop]), 0, dtype)), x.dtype) if start < stop else x[start]
        for start, stop in zip(starts, stops, strict=True)
    ]
    total = tb.moveaxis(tb.stack(parts), 0, axis)
    return result(total) if out is None else write_out(spec.name, out, total)


def outer(spec: Spec, a: Any, b: Any, /, **options: Any) -> Any:
    """`np.add.outer` and the like: the function of each element of one array with each of another."""
    x, y = tensor(a), tensor(b)
    wide = functions["box"](tb.reshape(x, x.shape + (1,) * y.ndim))
    return call(spec, (wide, b if b.__class__ is ndarray else functions["box"](y)), **options)


@assignments.locked  # as it reads and writes all elements, also those that another thread writes
def at(spec: Spec, a: Any, indices: Any, b: Any = None, /) -> None:
    """`np.add.at` and the like: the function on elements at indices, which may repeat, in place."""
    if a.__class__ is not ndarray:
        if isinstance(a, numpy.ndarray):
            spec.by_numpy.at(a, host(indices), *([] if b is None else [host(b)]))
            return
        raise OperandError(expected("an array to write to", a=a))
    shown: Any = overlapping(a)
    if shown is not None:  # an element that is shown twice is updated at both places
        refuse_read_only(a)
        if a._template().dtype is not shown._template().dtype:
            text = "no update of elements that are shown more than once as another dtype"
            raise ArgumentError(f"{spec.name}.at: {expected(text, 'update a copy', shape=a.shape)}")
        at(spec, flat_view(shown), functions["asarray"](places_in(a, shown))[indices], b)
        return
    if spec.name in _UPDATES and _updated_by_numpy(spec, a, indices, b):
        return
    x = tensor_of(a)
    flat = tb.reshape(x, (-1,))
    places = tb.iota(x.shape, backend=x.backend) if x.shape else tb.zeros((), dtype=tb.int64)
    chosen = tensor(functions["box"](places)[indices])
    where = tb.reshape(chosen, (-1, 1))
    if spec.nin == 1:
        for place in tb.unstack(where):
            old = functions["box"](tb.take(flat, place, axis=0))
            flat = tb.indexed_put(flat, place[None], cast(tensor(call(spec, (old,))), flat.dtype))
        replace(a, tb.reshape(flat, x.shape))
        return
    if spec.by_numpy.signature:
        raise TypeError(f"{spec.name}.at: a function of vectors or matrices has no such method")
    value = tensor(b)
    fits = numpy.can_cast(numpy_dtype(value.dtype), numpy_dtype(x.dtype), "same_kind")
    updates = tb.reshape(tb.broadcast_to(value, chosen.shape), (-1,))
    quick = _UPDATES.get(spec.name) if x.dtype is not bool_ and fits else None
    if quick is not None:
        updates = cast(updates, x.dtype)
        replace(a, tb.reshape(quick(flat, where, updates), x.shape))
        return
    for number in range(where.shape[0]):
        place = where[number, 0]
        old = functions["box"](tb.take(flat, tb.reshape(place, (1,)), axis=0))
        new = cast(tensor(call(spec, (old, functions["box"](updates[number : number + 1])))), flat.dtype)
        flat = tb.indexed_put(flat, tb.reshape(place, (1, 1)), new)
    replace(a, tb.reshape(flat, x.shape))


@assignments.locked
def _update(spec: Spec, a: ndarray, places: Any, values: Any) -> None:
    release(a)
    refuse_read_only(a)
    with numpy.errstate(all="ignore"):
        spec.by_numpy.at(own(a._t), places, values)


def _updated_by_numpy(spec: Spec, a: ndarray, indices: Any, b: Any) -> bool:
    """Whether NumPy has updated an array in its memory, at one array of places, by operands of the array's dtype."""
    t = a._t
    if t is None or t.data.__class__ is not HOST or t.template.dtype is bool_:
        return False
    places = host_places(indices) if indices.__class__ is ndarray else indices
    if b.__class__ is ndarray:
        v = tensor_of(b)
        values = v.data if v.data.__class__ is HOST and v.template.dtype is t.template.dtype else None
    else:
        values = b if is_exact(b, t) else None
    if values is None or places.__class__ not in (HOST, int):
        return False
    try:
        _update(spec, a, places, values)
    except (IndexError, ValueError):  # NumPy looks at all places and sizes first; they are told below
        return False
    return True


_UPDATES: Final[dict[str, Callable[..., Tensor]]] = {
    "add": tb.indexed_add,
    "subtract": lambda x, places, updates: tb.indexed_add(x, places, tb.negative(updates)),
    "maximum": tb.indexed_max,
    "minimum": tb.indexed_min,
}
"""Ops that update elements at places that may repeat, by the universal function that they do it with."""
