"""Callbacks that read and write by index. Indices are never negative; `mode` says what lies outside does.

`"error"` raises `IndexRangeError`, `"clip"` moves the index to the nearest end, `"fill"` reads zero and
writes nothing.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .core import callback
from .planned import Kernel, Payload

Mode: TypeAlias = Literal["error", "clip", "fill"]


class Indexing:
    """Slices, gathers and scatters."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """A kernel that gives the entries of `x[key]` at once; `None`, as here, where slices, gathers and so on make
        them up.

        A structure tells what keys have in common: for an index tensor or a mask its template, for an int, a slice,
        None or ... its class; it has been found to fit x. The kernel gets the payload of x and a tuple of such parts,
        with payloads for index tensors and masks, and follows NumPy's rules. Where the result has no axes one of the
        parts is ..., for which NumPy gives an array rather than a number. The shape of the result, which depends on
        what is in slices and masks, is read as the attribute `shape` of its payload.
        Ints and slices may be any: for an index out of bounds the kernel raises `IndexError`, which becomes the error
        that other backends raise.
        """
        return None

    def positions(self, x: Template, /) -> Kernel | None:
        """A kernel that gives the positions of the elements that are not zero, row-major: an array of int64 for each
        axis.

        The shape of a result depends on their number, which is the `len` of each array. `None`, as here, where it is
        counted and then found by other callbacks. x has axes.
        """
        return None

    def counts(self, x: Template, /) -> Kernel | None:
        """A kernel that counts how often each integer from 0 up to the greatest comes among the elements: an array of
        int64.

        The kernel gets the payload of x and the least size of the result, whose `len` tells its size, and raises
        `ValueError` where an element is negative. `None`, as here, where other callbacks measure and count.
        """
        return None

    @callback(cost="strided view", reach="kept")
    def slice(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        starts: tuple[int, ...],
        lengths: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Payload:
        """The elements `starts[i] + j * strides[i]` for j below `lengths[i]`, on each axis i.

        Lengths count the elements taken, so `out.shape == lengths`; strides are 1 or more, all in bounds.
        """

    @callback(cost="move", reach="kept")
    def put_slice(self, out: Template, x: Tensor, update: Tensor, /, *, starts: tuple[int, ...]) -> Payload:
        """x with the block at `starts` of the update's shape exchanged for it; it lies in bounds."""

    @callback(cost="pick", reach="read")
    def take(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """Entries of x along `axis` at integer indices of any shape, which takes that axis' place."""

    @callback(cost="pick", reach="read")
    def take_along_axis(self, out: Template, x: Tensor, indices: Tensor, /, *, axis: int, mode: Mode) -> Payload:
        """out[..., i, ...] = x[..., indices[..., i, ...], ...]; the other axes have the same sizes."""

    @callback(cost="pick", reach="read")
    def gather(self, out: Template, x: Tensor, indices: Tensor, /, *, mode: Mode) -> Payload:
        """Elements of x at index vectors: the last axis of `indices` runs over x's leading axes.

        x (5, 6, 7) with indices (2, 3, 2) gives (2, 3, 7).
        """

    @callback(reach="written")
    def indexed_add(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with `updates` added at index vectors as in `gather`; repeated indices all add."""

    @callback(cost="move", reach="put")
    def indexed_put(self, out: Template, x: Tensor, indices: Tensor, updates: Tensor, /, *, mode: Mode) -> Payload:
        """x with `updates` written at index vectors as in `gather`; of repeated ones the last wins."""
