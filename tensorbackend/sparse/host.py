"""Reading tensors on the host, to check, count and sort the places of a matrix before anything is computed.

Whether places are inside their matrix is checked at once where their data can be read, else when a trace runs. The
number of stored entries may be limited in advance, so that a trace knows the shapes. Entries beyond the limit would be
lost. If data can be read, they raise an error. In a trace, all values become NaN or, for integers, the minimum of the
dtype (the maximum of an unsigned one).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..dtypes import iinfo
from ..errors import DataError, IndexRangeError, expected
from ..ops.composite.linalg.sparse import Format
from ..ops.creation.filled import iota
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import where
from ..ops.indexing.taking import take
from ..tensor import Tensor

Array = Any  # NumPy's arrays, of any dtype


def to_host_arrays(*tensors: Tensor) -> list[Array] | None:
    """Tensors as NumPy arrays, or `None` if the data of one cannot be read: a template, or a value of a trace."""
    try:
        return [numpy.asarray(x) for x in tensors]
    except TypeError:  # ours, or JAX's for an array that `jax.jit` traces
        return None


def index_tensor(places: Array, like: Tensor) -> Tensor:
    """Places as a tensor on the backend of `like`."""
    return asarray(places, backend=like.backend)


def zero_beyond_count(values: Tensor, count: Tensor, size: int) -> Tensor:
    """Values (..., size) with 0 after the first `count`. More than `size` are a `DataError`, in a trace all NaN."""
    kept = where(iota(size, dtype=count.dtype, backend=values.backend) < count, values, 0)
    if fits(count, size):
        return kept
    lost = math.nan if values.dtype.is_inexact else iinfo(values.dtype).min or iinfo(values.dtype).max
    return where(count > size, lost, kept)


def fits(count: Tensor, size: int) -> bool:
    """Whether a count is known to be at most `size`; `False` in a trace. `DataError` if it is more."""
    try:
        number = count.item()
    except TypeError:  # the count is a value of a trace, ours or JAX's
        return False
    if isinstance(number, int) and number > size:
        raise DataError(expected(f"at most size={size} entries to store", "give a larger size", entries=number))
    return True


def check_places(format: Format, first: Tensor, second: Tensor, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """The places, after a check that they are inside the matrix; the places of a trace are checked when it runs."""
    read = to_host_arrays(first, second)
    rows, columns = size
    if format == "coo":
        if read is None:
            return _read_by_index(first, rows), _read_by_index(second, columns)
        _check_range(read[0], rows, "row")
        _check_range(read[1], columns, "column")
        return first, second
    minor = columns if format == "csr" else rows
    if read is None:
        return _read_by_index(first, second.shape[-1] + 1), _read_by_index(second, minor)
    _check_pointers(read[0], second.shape[-1])
    _check_range(read[1], minor, "column" if format == "csr" else "row")
    return first, second


def _read_by_index(places: Tensor, size: int) -> Tensor:
    """The same places, read by index: the backend raises an error for a place outside, or moves it inside."""
    if not places.size:
        return places
    return take(iota(size, dtype=places.dtype, backend=places.backend), places)


def _check_range(places: Array, size: int, what: str) -> None:
    if not places.size:
        return
    least, largest = places.min(), places.max()
    if least < 0 or largest >= size:
        outside = int(least if least < 0 else largest)
        raise IndexRangeError(expected(f"each {what} from 0 to {size - 1}", **{what: outside}))


def _check_pointers(pointers: Array, count: int) -> None:
    expectation = f"pointers from 0 to {count}, none less than the one before"
    if (pointers[..., 0] != 0).any() or (pointers[..., -1] != count).any():
        raise DataError(expected(expectation, first=int(pointers[..., 0].max()), last=int(pointers[..., -1].max())))
    falls = numpy.argwhere(pointers[..., 1:] < pointers[..., :-1])
    if len(falls):
        place = tuple(int(coordinate) for coordinate in falls[0])
        pair = [int(pointers[place]), int(pointers[(*place[:-1], place[-1] + 1)])]
        raise DataError(expected(expectation, pointers=pair, at=place[-1]))
