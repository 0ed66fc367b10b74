"""Callbacks that read and write by index.

Indices do not count from the end here: a negative one is outside its axis. For an index outside its axis, the `mode`
`"error"` raises `IndexRangeError`, `"clip"` moves it to the nearest end, `"fill"` reads zero and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from ..annotations import Ints
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Kernel, Payload

Mode: TypeAlias = Literal["error", "clip", "fill"]

Write: TypeAlias = Callable[[Tensor, Any, Any], None]
"""Gives a tensor other elements at a key: it takes the tensor, the key, and a tensor or a Python number."""


class Indexing:
    """Slices, gathers and scatters."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """A kernel that reads the entries `x[key]` in one step; `None`, as here, to read them by slices, gathers etc.

        A structure is what keys have in common: the template of each index tensor or mask, and the class of each int,
        slice, None or .... It has been checked against x.

        The kernel gets the payload of x and a tuple of the parts of a key, with payloads in place of index tensors and
        masks. It follows NumPy's rules. If the result has no axes, one of the parts is ..., for which NumPy returns
        an array rather than a number. The shape of the result depends on the numbers in slices and masks, so it is read
        from the attribute `shape` of the result's payload.

        Ints and slices may have any value. For an index out of bounds the kernel raises `IndexError`, which becomes the
        error that other backends raise.
        """
        return None

    def assignment(self, x: Template, structure: tuple[Any, ...], value: Template | type, /) -> Write | None:
        """A function that performs `x[key] = value` in one step; `None`, as here, to use `put_slice`, `indexed_put`...

        A structure is that of `indexing`, and `value` the template of a tensor in x's dtype, or the class of a Python
        number. These have been checked against each other, except for what depends on sizes, on the numbers in a key
        and on the value of a number. The sizes of the templates are examples: the function is used for all others too.

        The function gets the tensor x and a key with payloads in place of tensors. It writes only into memory of which
        it knows that nobody but x sees it, as `backends/numpy_backend/memory.py` does; otherwise it assigns a changed
        copy to x. Calls of it do not overlap. If something does not match, it raises any exception and leaves the
        elements of x unchanged; then the ops above raise the error that other backends raise.
        """
        return None

    def positions(self, x: Template, /) -> Kernel | None:
        """A kernel that returns the positions of the nonzero elements, in row-major order: an int64 array for
        each axis.

        The number of positions depends on data and is the `len` of each array. With `None`, as here, other callbacks
        count and find the elements. x has at least one axis.
        """
        return None

    def counts(self, x: Template, /) -> Kernel | None:
        """A kernel that counts the occurrences of each integer from 0 to the largest element, as an int64 array.

        The kernel gets the payload of x and the minimum size of the result, whose `len` is the actual size. It raises
        `ValueError` if an element is negative. With `None`, as here, other callbacks measure and count.
        """
        return None

    @callback(cost="strided view", reach="kept")
    def slice(self, out: Template, x: Tensor, /, *, starts: Ints, lengths: Ints, strides: Ints) -> Payload:
        """The elements `starts[i] + j * strides[i]` for j below `lengths[i]`, on each axis i.

        Lengths count the elements taken, so `out.shape == lengths`. Strides are at least 1, and all elements are in
        bounds.
        """

    @callback(cost="move", reach="kept")
    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """x with the block that begins at `starts` replaced by `update`; the block is within bounds."""

    @callback(cost="pick", reach="read")
    def take(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Entries of x along `axis` at integer indices of any shape, whose axes take the place of that axis."""

    @callback(cost="pick", reach="read")
    def take_along_axis(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """out[..., i, ...] = x[..., indices[..., i, ...], ...]; the other axes have the same sizes."""

    @callback(cost="pick", reach="read")
    def gather(self, out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Payload:
        """Elements of x at index vectors: the last axis of `indices` runs over x's leading axes.

        The result for x (5, 6, 7) and indices (2, 3, 2) is (2, 3, 7).
        """

    @callback(reach="written")
    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with `updates` added at index vectors as in `gather`; all updates of a repeated index are added."""

    @callback(cost="move", reach="put")
    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with `updates` written at index vectors as in `gather`; the last update of a repeated index is kept."""
