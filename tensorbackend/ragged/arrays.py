"""Tensor arrays: entries written in order into a buffer of fixed size."""

from __future__ import annotations

from dataclasses import dataclass

from ..declarations.argument_errors import check_arguments, check_construction
from ..dtypes import int64
from ..errors import DataError, expected
from ..ops.creation.filled import zeros
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import minimum
from ..ops.indexing.slices import put_slice
from ..ops.indexing.taking import take
from ..ops.shape import expand_dims
from ..rules.plan import integer
from ..template import Template
from ..tensor import Tensor, TensorLike
from .lengths import as_tensor, read
from .value import Ragged


@check_construction
@dataclass(frozen=True, eq=False)
class TensorArray:
    """Entries in a buffer, and their count: a tree of two tensors, which loops can carry.

    `tensor_array` makes one. No method changes an array: `push` and `put` return a new one.

    Parameters
    ----------
    buffer : Tensor
        The buffer for entries along the first axis, which has a name.
    count : Tensor
        The number of entries: int64 without axes.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> array = tb.ragged.tensor_array(tb.Template((2,), "f32"), 4)
    >>> array = array.push(tb.ones(2)).push(tb.zeros(2))
    >>> array.stack(), array[0].tolist()
    (ragged f32[time: 4][2] numpy, time=2, [1.0, 1.0])
    """

    buffer: Tensor
    count: Tensor

    def push(self, value: TensorLike) -> TensorArray:
        """Append an entry. If the array is full, raise `DataError`, or return it unchanged within a trace."""
        size, count = self.buffer.shape[0], read(self.count)
        if count is not None and count >= size:
            raise DataError(expected(f"room for {size + 1} entries", "make the array larger", count=count))
        there = minimum(self.count, max(size - 1, 0))
        written = self.put(there, value).buffer if size else self.buffer
        room = self.count < size
        return TensorArray(where(room, written, self.buffer), where(room, self.count + 1, self.count))

    def put(self, index: TensorLike, value: TensorLike) -> TensorArray:
        """Replace the entry at an index below the count."""
        row = expand_dims(as_tensor(value, self.buffer), 0)
        place = as_tensor(index, self.count)
        return TensorArray(put_slice(self.buffer, row, starts=(place, *(0,) * (row.ndim - 1))), self.count)

    def __getitem__(self, index: TensorLike) -> Tensor:
        """Return the entry at an index; a negative index counts from the last entry."""
        place = as_tensor(index, self.count)
        return take(self.buffer, where(place < 0, place + self.count, place), axis=0)

    def stack(self) -> Ragged:
        """Return all entries along the first axis, with the count as its length."""
        axis = self.buffer.names[0]
        assert axis is not None  # by tensor_array
        return Ragged(self.buffer, {axis: self.count})


@check_arguments
def tensor_array(like: Tensor | Template, size: int, /, *, axis: str = "time") -> TensorArray:
    """Make an empty array for tensors that are written in order, as in a loop.

    Parameters
    ----------
    like : Tensor or Template
        The template of an entry; the array is on the backend of a tensor.
    size : int
        The maximum number of entries.
    axis : str, default "time"
        The name of the axis of the entries.

    Returns
    -------
    TensorArray
        An array without entries. `tb.while_loop` and `tb.scan` carry it, `push` adds an entry, `stack` returns all.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> squares = lambda i, array: array.push(i * i)
    >>> array = tb.fori_loop(0, 3, squares, tb.ragged.tensor_array(tb.Template((), "int64"), 5))
    >>> tb.ragged.to_list(array.stack()).tolist()
    [0, 1, 4]
    """
    template = like if isinstance(like, Template) else like.template
    home = like if isinstance(like, Tensor) else None
    names = (axis, *template.names)
    buffer = zeros((integer(0, size=size), *template.shape), dtype=template.dtype, names=names, like=home)
    return TensorArray(buffer, zeros((), dtype=int64, like=home))
