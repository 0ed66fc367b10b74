"""Views that show an element more than once: an array's memory in other steps, and sliding windows."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, expected
from ..select import apart
from ..template import Template, intern_template, is_symbolic_template
from ..tensor import Tensor, blank_tensor
from .arrays import Step, as_shape, ndarray, root, step_view
from .conversion import asarray
from .functions import public
from .keys import HOST
from .layouts import Layout, layout_of, start_of
from .shapes import axis_positions
from .stepping import never_written


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> ndarray:
    """A view of an array's memory with given sizes and steps.

    What is written to the view is written to the array. No step may lead out of the memory of its base.

    Parameters
    ----------
    x
        An array of any shape and dtype.
    shape : int or tuple of int, optional
        The sizes of the view, by default those of `x`.
    strides : tuple of int, optional
        The step in bytes along each axis of the view, by default those of `x`.
    subok : bool
        Ignored, as there are no subclasses.
    writeable : bool, default True
        Whether the view may be written to.

    Returns
    -------
    ndarray
        The view, of the given shape and the dtype of `x`. It takes no memory on NumPy, elsewhere when it is used.

    Raises
    ------
    ArgumentError
        If a step is no multiple of the size of an element, or leads out of the memory.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> x = np.arange(5)
    >>> np.lib.stride_tricks.as_strided(x, shape=(3, 3), strides=(8, 8))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    array = asarray(x)
    layout = layout_of(array)
    sizes = array.shape if shape is None else as_shape(shape)
    steps = layout.strides if strides is None else tuple(map(int, strides))
    if len(sizes) != len(steps):
        raise ArgumentError("as_strided: " + expected("as many strides as sizes", shape=sizes, strides=steps))
    width = array.itemsize
    if any(step % width for step in steps):
        text = f"strides that are multiples of {width}, the bytes of an element"
        raise ArgumentError("as_strided: " + expected(text, strides=steps))
    template = array._template()
    base, start = root(array), start_of(layout)
    if base._template().dtype is not template.dtype or start % width:
        base, start = array, 0
        if not layout.flags.c_contiguous:
            text = "an array that shows its base in the base's dtype, or is contiguous"
            raise ArgumentError("as_strided: " + expected(text, "use a copy", strides=layout.strides))
    start //= width
    ends = [(size - 1) * (step // width) for size, step in zip(sizes, steps, strict=True)]
    low, high = start + sum(end for end in ends if end < 0), start + sum(end for end in ends if end > 0)
    if 0 not in sizes and (low < 0 or high >= base.size):
        text = f"strides that stay among the {base.size} elements of the memory of x"
        raise ArgumentError("as_strided: " + expected(text, "take less", shape=sizes, strides=steps))
    steps = tuple([step // width for step in steps])
    return step_view(base, _strided(base._template(), start, sizes, steps, writeable))


def _strided(of: Template, start: int, shape: tuple[int, ...], steps: tuple[int, ...], writeable: bool) -> Step:
    """The step of a view of the row-major memory of a base from a start on, in steps of elements."""
    names = (None,) * len(shape)

    def lay(layout: Layout) -> Layout:
        strides = [step * layout.itemsize for step in steps]
        return numpy.lib.stride_tricks.as_strided(layout.reshape(-1)[start:], shape, strides)

    def read(t: Tensor) -> Tensor:
        if t.data.__class__ is HOST:
            return _of_payload(t, lay(numpy.ascontiguousarray(t.data)))
        places = lay(numpy.arange(t.size)).reshape(-1)
        return tb.reshape(tb.take(tb.reshape(t, (-1,)), tb.asarray(places, backend=apart(t.backend)), axis=0), shape)

    template = None if is_symbolic_template(of) else intern_template(shape, of.dtype, names)
    return Step(read, never_written, lay, writeable=writeable, overlaps=True, template=template)


def _of_payload(t: Tensor, data: Any) -> Tensor:
    """A tensor like another, with another array of NumPy's."""
    made = blank_tensor()
    made.template = intern_template(data.shape, t.template.dtype, (None,) * data.ndim)
    made.backend = t.backend
    made.data = data
    return made


@public
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """All windows of a shape: a view. It takes no memory on NumPy, elsewhere when it is used."""
    array = asarray(x)
    sizes = as_shape(window_shape)
    axes = axis_positions(axis, array.ndim)
    if len(axes) != len(sizes):
        raise ArgumentError("Must provide matching length window_shape and axis")
    if any(size < 0 for size in sizes):
        raise ArgumentError("`window_shape` cannot contain negative values")
    of = array._template()
    shape = [*of.shape]
    for place, size in zip(axes, sizes, strict=True):
        shape[place] += 1 - size
        if shape[place] < 0:
            raise ArgumentError("window shape cannot be larger than input array shape")

    def lay(layout: Layout) -> Layout:
        return numpy.lib.stride_tricks.sliding_window_view(layout, sizes, axes, writeable=True)

    def read(t: Tensor) -> Tensor:
        plain = t.data.__class__ is HOST and not any(t.names)
        return _of_payload(t, lay(t.data)) if plain else _windows(t, sizes, axes)

    known = not is_symbolic_template(of) and not any(of.names)
    template = intern_template((*shape, *sizes), of.dtype, (None,) * (len(shape) + len(sizes))) if known else None
    return step_view(array, Step(read, never_written, lay, writeable=writeable, overlaps=True, template=template))


def _windows(x: Tensor, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    for place, size in zip(axes, sizes, strict=True):
        length = x.shape[place] - size + 1
        home = apart(x.backend)
        rows = tb.reshape(tb.iota((length,), backend=home), (-1, 1)) + tb.iota((size,), backend=home)
        x = tb.moveaxis(tb.take(x, tb.reshape(rows, (-1,)), axis=place), place, -1)
        x = tb.moveaxis(tb.reshape(x, (*x.shape[:-1], length, size)), -2, place)
    return x
