"""`nditer` and `broadcast`, which loop over several arrays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, Self

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, expected
from .arrays import as_shape, box, flat_view, functions, ndarray, replace, tensor_of
from .conversion import asarray, cast, common_dtype, host, tensor
from .dtypes import HostOnlyError, dtype_of, numpy_dtype
from .indexing import views_at
from .keys import coordinates


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
    """`np.nditer`: a loop over the elements of arrays that broadcast, in row-major order.

    Each iteration gives views of one element, to which can be written where an operand's flags say so. Buffers and the
    order of memory have no meaning here, so their flags are accepted and change nothing.

    Parameters
    ----------
    op
        An array, or a sequence of arrays; None for one that is made for the results.
    flags : sequence of str, optional
        `"external_loop"` gives all elements at once, as a view of one axis. `"multi_index"` and `"c_index"` need not be
        asked for.
    op_flags : sequence, optional
        For each operand, or for all, `["readonly"]`, `["readwrite"]` or `["writeonly"]`; by default those without an
        array are written to, and the others read.
    op_dtypes, order, casting, op_axes, itershape, buffersize : optional
        The dtypes of the operands; a common shape; the others are ignored or refused.

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
        self.ndim, self.nop = len(self.shape), len(made)
        self.itersize = prod(self.shape)
        self.iterindex = 0

    @property
    def finished(self) -> bool:
        """Whether the last element was passed."""
        return self.iterindex >= self._count()

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The position of the element."""
        if self.iterindex >= self.itersize:
            raise ArgumentError("Iterator is past the end")
        return coordinates(self.iterindex, self.shape)

    @property
    def index(self) -> int:
        """The number of the element."""
        return self.iterindex

    @property
    def value(self) -> Any:
        """The views of the element: one for each operand, or the only one."""
        if "external_loop" in self._flags:
            views = [flat_view(part) for part in self._wide]
        else:
            place = self.multi_index
            views = [_element(part, place) for part in self._wide]
        return views[0] if len(views) == 1 else tuple(views)

    def _count(self) -> int:
        return min(self.itersize, 1) if "external_loop" in self._flags else self.itersize

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
            each = [views_at(part, product(*map(range, self.shape), (...,)), ()) for part in self._wide]
            for number, views in enumerate(each[0] if len(each) == 1 else zip(*each, strict=True)):
                yield views
                self.iterindex += 1
                if self.iterindex != number + 1:  # the loop has moved it
                    break
        while not self.finished:
            yield self.value
            self.iterindex += 1


def _element(x: ndarray, place: tuple[int, ...]) -> ndarray:
    """A view of one element, without axes."""
    view: ndarray = x[(*place, ...)] if place else x
    return view


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
