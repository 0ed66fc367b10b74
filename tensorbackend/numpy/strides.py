"""Views in other steps of the memory, sliding windows, and `nditer` and `broadcast`, which loop over several arrays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, Self

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, expected
from ..select import apart
from ..template import Template, intern_template, is_symbolic_template
from ..tensor import Tensor, blank_tensor
from .arrays import Step, as_shape, box, flat_view, functions, ndarray, replace, root, step_view, tensor_of
from .conversion import asarray, cast, common_dtype, host, tensor
from .dtypes import HostOnlyError, dtype_of, numpy_dtype
from .functions import public
from .indexing import views_at
from .keys import HOST, coordinates
from .layouts import Layout, key_and_axes, layout_of, places_in_order, start_of
from .shapes import axis_positions
from .stepping import never_written


class broadcast:
    """`np.broadcast`: the common shape of arrays, and an iterator over tuples of their elements, in row-major order.

    Parameters
    ----------
    *arrays
        Arrays whose shapes broadcast, such as (3, 1) and (2,), which give (3, 2).

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.broadcast(np.ones((3, 1)), np.ones(2)).shape
    (3, 2)
    """

    def __init__(self, *arrays: Any) -> None:
        parts = [tensor(each) for each in arrays]
        self.shape = tb.broadcast_shapes(*[part.shape for part in parts])
        self.nd = self.ndim = len(self.shape)
        self.size = prod(self.shape)
        self.numiter = len(parts)
        self.index = 0
        self._parts = parts

    def reset(self) -> None:
        """Begin at the first element."""
        self.index = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self.index >= self.size:
            raise StopIteration
        place = tuple(map(int, numpy.unravel_index(self.index, self.shape))) if self.shape else ()
        self.index += 1
        return tuple([box(tb.broadcast_to(part, self.shape))[place] for part in self._parts])


class nditer:
    """`np.nditer`: a loop over the elements of arrays that broadcast, in the order of NumPy's.

    Each iteration gives views of one element, to which can be written where an operand's flags say so. Buffers have no
    meaning here, so their flags are accepted and change nothing.

    Parameters
    ----------
    op
        An array, or a sequence of arrays; None for one that is made for the results.
    flags : sequence of str, optional
        `"external_loop"` gives all elements at once, as a view of one axis. `"multi_index"` and `"c_index"` need not be
        asked for, and `"f_index"` counts along the first axis first.
    op_flags : sequence, optional
        For each operand, or for all, `["readonly"]`, `["readwrite"]` or `["writeonly"]`; by default those without an
        array are written to, and the others read.
    op_dtypes, order, casting, op_axes, itershape, buffersize : optional
        The dtypes of the operands; "C" or "F", by default the order of memory; a common shape; the others are ignored
        or refused.

    Raises
    ------
    ArgumentError
        For `op_axes`.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> x = np.arange(3)
    >>> with np.nditer(x, op_flags=["readwrite"]) as loop:
    ...     for each in loop:
    ...         each[...] = 2 * each
    >>> x
    array([0, 2, 4])
    """

    def __new__(cls, op: Any, *arguments: Any, **options: Any) -> Any:
        """A loop; NumPy's own over arrays that only NumPy holds, such as those of objects."""
        for each in op if isinstance(op, list | tuple) else [op]:
            if isinstance(each, numpy.ndarray):
                try:
                    dtype_of(each.dtype)
                except HostOnlyError:
                    return numpy.nditer(host(op), *host(arguments), **host(options))
        return super().__new__(cls)

    def __init__(
        self, op: Any, flags: Any = (), op_flags: Any = None, op_dtypes: Any = None, order: str = "K",
        casting: str = "safe", op_axes: Any = None, itershape: Any = None, buffersize: int = 0,
    ) -> None:  # fmt: skip
        if op_axes is not None:
            text = "operands whose axes are in order"
            raise ArgumentError("nditer: " + expected(text, "transpose() them", op_axes=op_axes))
        given = list(op) if isinstance(op, list | tuple) else [op]
        self._flags = frozenset(flags or ())
        dtypes = list(op_dtypes) if isinstance(op_dtypes, list | tuple) else [op_dtypes] * len(given)
        parts = [None if each is None else asarray(each) for each in given]
        templates = [part._template() for part in parts if part is not None]
        shapes = [*[each.shape for each in templates], *([] if itershape is None else [as_shape(itershape)])]
        self.shape = shapes[0] if len(shapes) == 1 else tb.broadcast_shapes(*shapes)
        kinds = {each.dtype for each in templates} if len(templates) < len(parts) else None
        common = numpy_dtype(common_dtype(kinds)) if kinds else numpy.dtype(float)
        made = [
            functions["empty"](self.shape, dtypes[number] or common) if part is None else part
            for number, part in enumerate(parts)
        ]
        self._writes = [_writes(op_flags, number, part is None) for number, part in enumerate(parts)]
        self._targets = made
        for part, writes in zip(made, self._writes, strict=True):
            if writes and part.shape != self.shape:
                text = "operands that are written to in the common shape"
                raise ArgumentError("nditer: " + expected(text, shape=self.shape, operand=part.shape))
        self.operands = tuple([
            _in_dtype(part, dtype, writes, casting)
            for part, dtype, writes in zip(made, dtypes, self._writes, strict=True)
        ])  # fmt: skip
        self._wide = [
            part if part.shape == self.shape else functions["broadcast_to"](part, self.shape) for part in self.operands
        ]
        layouts = [layout_of(part) for part, given_ in zip(self._wide, parts, strict=True) if given_ is not None]
        self._places = places_in_order(layouts, order)
        self.ndim, self.nop = len(self.shape), len(made)
        self.itersize = prod(self.shape)
        self.iterindex = 0

    @property
    def finished(self) -> bool:
        """Whether the last element was passed."""
        return self.iterindex >= (min(self.itersize, 1) if "external_loop" in self._flags else self.itersize)

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The position of the element."""
        if self.iterindex >= self.itersize:
            raise ArgumentError("Iterator is past the end")
        return self._places[self.iterindex] if self._places else coordinates(self.iterindex, self.shape)

    @property
    def index(self) -> int:
        """The number of the element."""
        columns = "f_index" in self._flags
        if not self.shape or not (columns or self._places):
            return self.iterindex
        return int(numpy.ravel_multi_index(self.multi_index, self.shape, order="F" if columns else "C"))

    @property
    def value(self) -> Any:
        """The views of the element: one for each operand, or the only one."""
        if "external_loop" in self._flags:
            key, axes = key_and_axes(self._places) if self._places else (..., None)
            views = [flat_view(part if axes is None else part[key].transpose(axes)) for part in self._wide]
        else:
            place = self.multi_index
            views = [part[(*place, ...)] if place else part for part in self._wide]
        return views[0] if len(views) == 1 else tuple(views)

    def iternext(self) -> bool:
        """Go to the next element, and return whether there is one."""
        self.iterindex += 1
        return not self.finished

    def reset(self) -> None:
        """Begin at the first element."""
        self.iterindex = 0

    def close(self) -> None:
        """Cast what was written back to operands of another dtype."""
        for target, part, writes in zip(self._targets, self.operands, self._writes, strict=True):
            if writes and part is not target:
                replace(target, cast(tensor_of(part), target._template().dtype))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, number: int) -> Any:
        value = self.value
        return value[number] if self.nop > 1 else (value,)[number]

    def __setitem__(self, number: int, value: Any) -> None:
        self[number][...] = value

    def __iter__(self) -> Iterator[Any]:
        self.reset()
        if self.shape and "external_loop" not in self._flags:
            places = [(*place, ...) for place in self._places or product(*map(range, self.shape))]
            each = [views_at(part, places, ()) for part in self._wide]
            for number, views in enumerate(each[0] if len(each) == 1 else zip(*each, strict=True)):
                yield views
                self.iterindex += 1
                if self.iterindex != number + 1:  # the loop has moved it
                    break
        while not self.finished:
            yield self.value
            self.iterindex += 1


def _writes(flags: Any, number: int, is_made: bool) -> bool:
    """Whether an operand is written to."""
    if flags is None:
        return is_made
    own = flags if isinstance(flags[0], str) else flags[number]
    return any(flag in ("readwrite", "writeonly") for flag in own)


def _in_dtype(x: ndarray, dtype: Any, writes: bool, casting: str) -> ndarray:
    """An operand in a dtype."""
    if dtype is None or dtype_of(dtype) is x._template().dtype:
        return x
    if not writes and not numpy.can_cast(x.dtype, numpy_dtype(dtype_of(dtype)), casting):  # type: ignore[arg-type] # NumPy says which
        text = f"Iterator operand could not be cast from {x.dtype!r} to {numpy.dtype(host(dtype))!r}"
        raise TypeError(f"{text} according to the rule '{casting}'")
    return x.astype(dtype)


for _class in (broadcast, nditer):
    _class.__module__ = __package__


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
