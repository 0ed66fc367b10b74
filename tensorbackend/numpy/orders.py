"""New arrays whose axes are in another order in NumPy's memory, as `order="F"` asks for.

Such an array shows all of a hidden array with the axes in the order of memory: so its strides are NumPy's, and those of
its views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .arrays import Step, box, functions, ndarray, new_array, step_view
from .layouts import axes_in_order, is_ordered, layout_of


def as_order(order: Any, orders: str = "CFAK") -> Any:
    """An order as a capital letter, or `None`; `ArgumentError` if it is not one of some."""
    letter = order.upper() if isinstance(order, str) else order
    if letter is not None and letter not in tuple(orders):
        raise ArgumentError(expected(f"an order of {', '.join(orders)}", order=order))
    return letter


def permute_by(order: Sequence[int], owns: bool = False) -> Step:
    """The step of a view with the axes in another order; `owns` where NumPy's array is no view."""
    axes = tuple(order)
    inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return Step(
        lambda t: tb.permute_dims(t, axes),
        lambda old, new: tb.permute_dims(new, inverse),
        lambda layout: layout.transpose(axes),
        owns=owns,
    )


def in_order(t: Tensor, axes: tuple[int, ...]) -> ndarray:
    """A new array that holds a tensor, with its axes in an order in NumPy's memory."""
    if is_ordered(axes):
        return box(t)
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    return step_view(box(tb.permute_dims(t, axes)), permute_by(inverse, owns=True))


def copy_in_order(x: ndarray, order: str | None) -> ndarray:
    """A copy of an array with its axes in an order of NumPy's in memory: `"C"`, `"F"`, `"A"` or `"K"`."""
    t, order = x.tensor, as_order(order)
    if (order == "C" or (x._t is not None and order in ("K", "A", None))) or len(t.template.shape) < 2:
        return new_array(t)
    return in_order(t, axes_in_order(layout_of(x), order))


def axes_of_copy(value: Any, order: str | None, ndim: int) -> tuple[int, ...] | None:
    """The axes of a copy of a value with some axes, from the first in memory to the last; `None` for row-major ones."""
    if ndim < 2:
        return None
    if value.__class__ is ndarray and (value._t is None or order == "F"):
        axes = axes_in_order(layout_of(value), order)
    elif isinstance(value, numpy.ndarray):
        axes = axes_in_order(value, order)
    elif order == "F":
        axes = tuple(range(ndim))[::-1]
    else:
        return None
    more = ndim - len(axes)
    axes = (*range(more), *[axis + more for axis in axes])
    return None if is_ordered(axes) else axes


def new_in_order(t: Tensor, order: str | None) -> ndarray:
    """A new array that holds a tensor: column-major for the order `"F"`."""
    ndim, order = len(t.template.shape), as_order(order, "CF")
    return in_order(t, tuple(range(ndim))[::-1]) if order == "F" and ndim > 1 else box(t)


functions["copy_in_order"] = copy_in_order
