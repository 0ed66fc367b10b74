"""Checks that places are inside their matrix: at once where their data can be read, else when a trace runs."""

from __future__ import annotations

import numpy

from ..errors import DataError, IndexRangeError, expected
from ..ops.composite.linalg.sparse import Format
from ..ops.creation.filled import iota
from ..ops.indexing.taking import take
from ..tensor import Tensor
from .host import Array, to_host_arrays


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
