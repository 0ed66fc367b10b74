"""Functions that change shapes and the order of axes: if NumPy returns a view, so do they."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, AxisError, ShapeError, expected
from ..tensor import Tensor
from .arrays import Step, as_shape, box, functions, ndarray, reshape_to, step_view
from .conversion import asarray, tensor
from .functions import Array, function, public
from .layouts import axes_in_order, fits, is_ordered, layout_of, plain_shape
from .orders import copy_in_order, permute_by
from .stepping import chain, never_written, planned_view, view_by


def axis_position(axis: Any, ndim: int, name: str = "axis") -> int:
    """The position of an axis from 0 on; `AxisError` outside."""
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise AxisError(f"{name} {place} is out of bounds for array of dimension {ndim}")
    return place % ndim


def axis_positions(axis: Any, ndim: int) -> tuple[int, ...]:
    """The positions of one axis or several; for None all."""
    each: Any = range(ndim)
    if axis is not None:
        each = axis
        if not isinstance(axis, tuple | list):
            with suppress(TypeError):  # of an iterator, which NumPy takes too
                each = (operator.index(axis),)
    return tuple([axis_position(place, ndim) for place in each])


def refuse_lists(axis: Any) -> None:
    """Raises an error for a list of axes, which NumPy takes in some functions alone."""
    if isinstance(axis, list):
        raise TypeError("'list' object cannot be interpreted as an integer; write a tuple of axes")


def known_axis(x: Any, axis: Any) -> Any:
    """An axis of an array; of one without axes NumPy's functions take 0 and -1 as well, which count as None."""
    return None if isinstance(axis, int | numpy.integer) and axis in (0, -1) and not x.ndim else axis


def flat_along(x: Tensor, axis: Any, *, of_number: bool = False) -> tuple[Tensor, int]:
    """A tensor and the position of an axis; for None the flat tensor and 0.

    With `of_number` a tensor without axes has one of size 1.
    """
    axis = known_axis(x, axis) if of_number else axis
    if axis is None:
        return (x if x.ndim == 1 else tb.reshape(x, (-1,))), 0
    return x, axis_position(axis, x.ndim)


def reshaped_view(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    """The elements in another shape, with axes of size 1 more or less: a view."""
    return step_view(x, reshape_to(shape))


@public(home=False)
def reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: bool | None = None
) -> ndarray:
    """The elements in another shape: a view if their order in memory allows it."""
    x = a if a.__class__ is ndarray else asarray(a)
    size = as_shape(newshape if shape is None else shape)
    if order == "C" and copy is None and x._t is not None:
        return reshaped_from_root(x, size)
    layout = layout_of(x)
    columns = order == "F" or (order == "A" and layout.flags.f_contiguous and not layout.flags.c_contiguous)
    if order not in ("C", "F", "A"):
        raise ArgumentError("reshape: " + expected("order 'C', 'F' or 'A'", order=order))
    if copy or not fits(layout, plain_shape(size), "F" if columns else "C"):
        if copy is False:
            raise ArgumentError("Unable to avoid creating a copy while creating an array as requested.")
        x = copy_in_order(x, "F" if columns else "C")
    return reshaped_by_columns(x, size) if columns else reshaped_from_root(x, size)


@planned_view
def reshaped_from_root(a: Any, shape: Any) -> Step:
    """The elements in another shape: a view; its step suits whatever has the strides for it."""
    return reshape_to(_sizes(shape))


@planned_view
def reshaped_by_columns(a: Any, shape: Any) -> Step:
    """The same, the first axis being the quickest."""
    size = _sizes(shape)
    return chain(_reversed_axes(a.ndim), reshape_to(size[::-1]), _reversed_axes(len(size)))


def _sizes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape whose unknown size is -1: NumPy takes any negative number for it."""
    return tuple([-1 if size.__class__ is int and size < 0 else size for size in shape])


def _reversed_axes(ndim: int) -> Step:
    return permute_by(range(ndim)[::-1])


@public(home=False)
def ravel(a: Any, order: str = "C") -> ndarray:
    """The elements along one axis: a view if they are in that order in memory."""
    x = a if a.__class__ is ndarray else asarray(a)
    if x._t is not None and order in ("C", "K", "A"):
        return reshaped_from_root(x, (-1,))
    layout = layout_of(x)
    if order == "C":
        return reshaped_from_root(x, (-1,)) if layout.flags.c_contiguous else box(tb.reshape(tensor(x), (-1,)))
    axes = axes_in_order(layout, order)
    if layout.transpose(axes).flags.c_contiguous:
        return raveled(x, axes)
    t = tensor(x)
    return box(tb.reshape(t if is_ordered(axes) else tb.permute_dims(t, axes), (-1,)))


@planned_view
def raveled(a: Any, axes: Any) -> Step:
    """The elements along one axis, in the order of some axes: a view."""
    return reshape_to((-1,)) if is_ordered(axes) else chain(permute_by(axes), reshape_to((-1,)))


@view_by
def transpose(a: Any, axes: Any = None) -> Step:
    """The axes in another order, by default reversed: a view."""
    axes = (axes,) if isinstance(axes, int) else axes
    order = range(a.ndim)[::-1] if axes is None else [axis_position(each, a.ndim) for each in axes]
    if sorted(order) != list(range(a.ndim)):
        raise ShapeError("axes don't match array" if len(order) != a.ndim else "repeated axis in transpose")
    return permute_by(order)


@view_by
def matrix_transpose(x: Any, /) -> Step:
    """Swap the last two axes: a view."""
    if x.ndim < 2:
        raise ShapeError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return permute_by([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@view_by
def swapaxes(a: Any, axis1: int, axis2: int) -> Step:
    """Two axes exchanged: a view."""
    first, second = axis_position(axis1, a.ndim, "axis1: axis"), axis_position(axis2, a.ndim, "axis2: axis")
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return permute_by(order)


def _several(axes: Any) -> Any:
    return axes if isinstance(axes, Iterator) else numpy.atleast_1d(axes)


def _moved(ndim: int, source: Any, destination: Any) -> list[int]:
    """The order of axes in which some have moved to other positions."""
    sources = [axis_position(each, ndim, "source: axis") for each in _several(source)]
    targets = [axis_position(each, ndim, "destination: axis") for each in _several(destination)]
    if len(sources) != len(targets):
        raise ArgumentError("`source` and `destination` arguments must have the same number of elements")
    for name, axes in (("source", sources), ("destination", targets)):
        if len({*axes}) < len(axes):
            raise ArgumentError(f"repeated axis in `{name}` argument")
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return order


@view_by
def moveaxis(a: Any, source: Any, destination: Any) -> Step:
    """Axes moved to other positions: a view."""
    return permute_by(_moved(a.ndim, source, destination))


@view_by
def rollaxis(a: Any, axis: int, start: int = 0) -> Step:
    """An axis rolled back to before another: a view."""
    place = axis_position(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise AxisError(f"start arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in")
    return permute_by(_moved(a.ndim, place, start - 1 if place < start else start))


@public(home=False)
def squeeze(a: Any, axis: Any = None) -> ndarray:
    """The array without axes of size 1: a view, or the array itself if it has none."""
    x = a if a.__class__ is ndarray else asarray(a)
    axis = known_axis(x, axis)
    return x if axis is None and 1 not in x.shape else _squeezed(x, axis)


@planned_view
def _squeezed(a: Any, axis: Any = None) -> Step:
    axes: Any = [place for place, size in enumerate(a.shape) if size == 1]
    refuse_lists(axis)
    axes = axes if axis is None else axis_positions(axis, a.ndim)
    if any(a.shape[each] != 1 for each in axes):
        raise ShapeError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape_to([size for place, size in enumerate(a.shape) if place not in axes])


@view_by
def expand_dims(a: Any, axis: Any) -> Step:
    """The array with new axes of size 1: a view."""
    ndim = a.ndim + (len(axis) if isinstance(axis, tuple | list) else 1)
    places = axis_positions(axis, ndim)
    if len({*places}) < len(places):
        raise ArgumentError("repeated axis")
    sizes = iter(a.shape)
    return reshape_to([1 if place in places else next(sizes) for place in range(ndim)])


@view_by
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Step:
    """A diagonal of matrices: a view that cannot be written to."""
    if a.ndim < 2:
        raise ShapeError("diag requires an array of at least two dimensions")
    first, second = axis_position(axis1, a.ndim, "axis1: axis"), axis_position(axis2, a.ndim, "axis2: axis")
    if first == second:
        raise ArgumentError("axis1 and axis2 cannot be the same")
    known = max(-a.shape[first], min(offset, a.shape[second]))  # beyond the matrix a diagonal is empty
    return chain(permute_by(_moved(a.ndim, (first, second), (-2, -1))), diagonal_of_last(known, writeable=False))


def diagonal_of_last(offset: int = 0, writeable: bool = True) -> Step:
    """The step of a view of a diagonal of the last two axes: of the main one to write to, as by `einsum`."""
    return Step(
        lambda t: tb.take_diagonal(t, offset=offset),
        lambda old, new: tb.put_diagonal(old, new, offset=offset),
        lambda layout: numpy.einsum("...ii->...i", layout) if writeable else layout.diagonal(offset, -2, -1),
        writeable=writeable,
    )


@public
def diag(v: Any, k: int = 0) -> ndarray:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    x = tensor(v)
    if x.ndim == 1:
        return box(tb.make_diagonal(x, offset=k))
    if x.ndim != 2:
        raise ShapeError("Input must be 1- or 2-d.")
    return diagonal(asarray(v), k)


@function
def diagflat(v: Array, k: int = 0) -> Array:
    """The matrix whose diagonal has the elements of an array."""
    return tb.make_diagonal(tb.reshape(v, (-1,)), offset=k)


@function
def tril(m: Array, k: int = 0) -> Array:
    """The array with zeros above a diagonal."""
    x = tb.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m
    if isinstance(k, float):  # of which NumPy has a rule of its own
        return tb.where(numpy.tri(x.shape[-2], x.shape[-1], k, bool), x, tb.zeros_like(x))
    return tb.tril(x, k=operator.index(k))


@function
def triu(m: Array, k: int = 0) -> Array:
    """The array with zeros below a diagonal."""
    x = tb.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m
    if isinstance(k, float):
        return tb.where(numpy.tri(x.shape[-2], x.shape[-1], k - 1, bool), tb.zeros_like(x), x)
    return tb.triu(x, k=operator.index(k))


@view_by
def flip(m: Any, axis: Any = None) -> Step:
    """The elements in reverse order along axes: a view."""
    axes = axis_positions(axis, m.ndim)
    return Step(
        lambda t: tb.flip(t, axis=axes),
        lambda old, new: tb.flip(new, axis=axes),
        lambda layout: numpy.flip(layout, axes),
    )


@public
def flipud(m: Any) -> ndarray:
    """The rows in reverse order: a view."""
    x = asarray(m)
    if x.ndim < 1:
        raise ShapeError("Input must be >= 1-d.")
    return flip(x, 0)


@public
def fliplr(m: Any) -> ndarray:
    """The columns in reverse order: a view."""
    x = asarray(m)
    if x.ndim < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(x, 1)


@public
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> ndarray:
    """The array rotated by 90 degrees in the plane of two axes: a view."""
    x, axes = asarray(m), tuple(axes)
    if len(axes) != 2:
        raise ArgumentError("len(axes) must be 2.")
    first, second = (axis_position(each, x.ndim) for each in axes)
    if first == second:
        raise ArgumentError("Axes must be different.")
    k %= 4
    if k == 0:
        return reshaped_view(x, x.shape)
    if k == 2:
        return flip(flip(x, first), second)
    return swapaxes(flip(x, second), first, second) if k == 1 else flip(swapaxes(x, first, second), second)


@public(home=False)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> ndarray:
    """The array repeated along axes to another shape: a view that cannot be written to."""
    return step_view(asarray(array), _broadcast(as_shape(shape), writeable=False))


def _broadcast(shape: tuple[int, ...], writeable: bool) -> Step:
    return Step(
        lambda t: tb.broadcast_to(t, shape),
        never_written,
        lambda layout: numpy.broadcast_to(layout, plain_shape(shape)),
        writeable=writeable,
        overlaps=True,
    )


@public
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ndarray, ...]:
    """Arrays broadcast to one shape: views."""
    arrays = tuple(map(asarray, args))
    shape = tb.broadcast_shapes(*[x.shape for x in arrays]) if arrays else ()
    return tuple([x if x.shape == shape else step_view(x, _broadcast(shape, writeable=True)) for x in arrays])


@public(home=False)
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    return tb.broadcast_shapes(*map(as_shape, args))


@public
def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis: views."""
    made = [x if x.ndim else reshaped_view(x, (1,)) for x in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@public
def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes: views."""
    made = [x if x.ndim > 1 else reshaped_view(x, (1, *x.shape) if x.ndim else (1, 1)) for x in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@public
def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes: views."""
    made = []
    for x in map(asarray, arys):
        shape = {0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}.get(x.ndim)
        made.append(x if shape is None else reshaped_view(x, shape))
    return made[0] if len(made) == 1 else tuple(made)


@public(home=False)
def shape(a: Any) -> tuple[int, ...]:
    """The size of each axis."""
    return a.shape if hasattr(a, "shape") else tensor(a).shape


@public(home=False)
def ndim(a: Any) -> int:
    """The number of axes."""
    return a.ndim if hasattr(a, "ndim") else tensor(a).ndim


@public(home=False)
def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or of those along axes."""
    sizes = shape(a)
    return math.prod([sizes[place] for place in axis_positions(axis, len(sizes))])


def _flatten(x: ndarray, order: str = "C") -> ndarray:
    t = x.tensor
    axes = axes_in_order(layout_of(x), order)
    return box(tb.reshape(t if is_ordered(axes) else tb.permute_dims(t, axes), (-1,)))


functions["box"] = box
functions["flatten"] = _flatten
