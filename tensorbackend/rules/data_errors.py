"""Errors that depend on data, so that backends raise them; they have the same text on all backends."""

from __future__ import annotations

from ..errors import DataError, IndexRangeError, expected


def index_out_of_range(index: int, size: int, low: int = 0) -> IndexRangeError:
    """The error for an index outside its axis.

    Parameters
    ----------
    index : int
        The index.
    size : int
        The size of the axis.
    low : int, default 0
        The smallest valid index.

    Returns
    -------
    IndexRangeError
        The error, to be raised.

    Examples
    --------
    >>> index_out_of_range(5, 3)
    IndexRangeError('expected an index from 0 to 2, got index=5; use mode="clip" or mode="fill"')
    """
    expectation = f"an index from {low} to {size - 1}" if size else "no index into an empty axis"
    error = IndexRangeError(expected(expectation, 'use mode="clip" or mode="fill"', index=index))
    error.index, error.size = index, size
    return error


def restore_index(error: IndexRangeError) -> IndexRangeError:
    """The error with the user's index, before negative indices were counted from the end.

    >>> restore_index(index_out_of_range(-1, 3))
    IndexRangeError('expected an index from -3 to 2, got index=-4; use mode="clip" or mode="fill"')
    """
    index, size = error.index, error.size
    told = index_out_of_range(index - size if index < 0 else index, size, -size)
    told.operation, told.message = error.operation, told.message or str(told)
    told.args = (f"{error.operation}: {told.message}" if error.operation else told.message,)
    return told


def not_positive_definite() -> DataError:
    """The error for a matrix that has no Cholesky factor.

    Returns
    -------
    DataError
        The error, to be raised.

    Examples
    --------
    >>> not_positive_definite().__class__.__name__
    'DataError'
    """
    return DataError(
        expected("a positive definite matrix", "add a small multiple of eye() to one that is nearly singular")
    )


def singular_matrix() -> DataError:
    """The error for a singular matrix, which has no inverse.

    Returns
    -------
    DataError
        The error.

    Examples
    --------
    >>> singular_matrix().__class__.__name__
    'DataError'
    """
    return DataError(expected("a matrix that is not singular"))


def negative_number(number: int) -> DataError:
    """The error for a negative element if only numbers from 0 up can be counted."""
    return DataError(expected("elements of at least 0", "pass a size to leave out negative elements", element=number))
