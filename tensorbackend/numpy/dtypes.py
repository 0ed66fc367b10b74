"""Dtypes: a NumPy program uses NumPy's own objects, and the library computes with its own.

To programs this is `numpy.dtypes`, whose classes are NumPy's.
"""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Any, Final

import numpy
import numpy.dtypes

from ..caching.memos import remembers_calls
from ..dtypes import ALL_DTYPES, DType, bool_, complex128, float64, int64
from ..errors import DTypeError, expected
from ..interchange import numpy_dtype

__all__ = ["HostOnlyError", "dtype_of", "numpy_dtype"]


class HostOnlyError(DTypeError):
    """An array that no tensor can hold: NumPy itself computes with it, on the host."""


_PLAIN: Final[dict[Any, DType]] = {float: float64, int: int64, builtins.bool: bool_, complex: complex128}

_BY_NAME: Final = {dtype.name: dtype for dtype in ALL_DTYPES}

_REMEDIES: Final = {
    "S": "use a list of bytes, or an integer array of codes",
    "U": "use a list of texts, or an integer array of codes",
    "T": "use a list of texts, or an integer array of codes",
    "V": "use an array for each field, for example in a dictionary",
    "O": "use a list, or an array of numbers",
    "M": "use an integer array that counts from a day of your choice",
    "m": "use an integer array that counts the unit",
    "g": "use float64",
    "G": "use complex128",
}
"""What to use in place of a dtype that tensors do not have, by NumPy's character for it."""


def dtype_of(dtype: Any) -> DType:
    """Return the library's dtype for anything that NumPy accepts: `float`, `"f4"`, `np.float32`, `np.dtype(...)`.

    Parameters
    ----------
    dtype
        NumPy's object or name of a dtype.

    Returns
    -------
    DType
        The dtype.

    Raises
    ------
    HostOnlyError
        For structured, text, object and date dtypes, which tensors do not have.
    DTypeError
        For anything that is not a dtype.

    Examples
    --------
    >>> dtype_of(float), dtype_of("i4"), dtype_of("<f8")
    (float64, int32, float64)
    """
    if dtype.__class__ is DType:
        return dtype
    try:
        found = _PLAIN.get(dtype)
        return found if found is not None else _find_dtype(dtype)
    except TypeError as error:
        if isinstance(error, DTypeError):
            raise
        return _find_dtype.__wrapped__(dtype)  # a list of fields cannot be a key


@lru_cache(512)
def _find_dtype(dtype: Any) -> DType:
    try:
        of_numpy = numpy.dtype(dtype)
    except TypeError as error:
        raise DTypeError(expected("a dtype", dtype=dtype)) from error
    found = _BY_NAME.get(of_numpy.name)
    if found is None or of_numpy.names is not None:
        remedy = _REMEDIES.get(of_numpy.char, _REMEDIES.get(of_numpy.kind, "use another dtype"))
        raise HostOnlyError(expected("a dtype of numbers or bools", remedy, dtype=of_numpy))
    if not of_numpy.isnative:  # programs ask for it to write bytes in that order
        raise HostOnlyError(expected("a dtype in the byte order of this machine", dtype=of_numpy))
    return found


remembers_calls("dtypes of NumPy programs", _find_dtype)


def is_host_only(array: numpy.ndarray[Any, Any]) -> bool:
    """Whether only NumPy can hold an array: texts, objects, dates, fields, masked arrays and other subclasses."""
    if array.__class__ is not numpy.ndarray and not isinstance(array, numpy.memmap):
        return True
    try:
        dtype_of(array.dtype.newbyteorder("="))
    except HostOnlyError:
        return True
    return False


def check_cast(source: DType, target: DType, casting: Any) -> None:
    """Raises NumPy's `TypeError` unless its rule of casting allows a cast from one dtype to another."""
    from_, to = numpy_dtype(source), numpy_dtype(target)
    if source is not target and not numpy.can_cast(from_, to, casting):
        raise TypeError(f"Cannot cast array data from {from_!r} to {to!r} according to the rule '{casting}'")


def dtype_of_bytes(dtype: Any) -> DType:
    """The dtype of elements that are read from bytes, which may lie in another order."""
    return dtype if dtype.__class__ is DType else dtype_of(numpy.dtype(dtype).newbyteorder("="))


def with_order(dtype: Any, wanted: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """NumPy's dtype for reading bytes: in the order that a program's dtype says, such as `">i2"`."""
    return wanted if dtype.__class__ is DType else wanted.newbyteorder(numpy.dtype(dtype).byteorder)


NUMPY_CLASSES: Final[dict[type, DType]] = {numpy_dtype(dtype).type: dtype for dtype in ALL_DTYPES}
"""The library's dtype for each class of NumPy's numbers."""

FLOATING: Final = frozenset({dtype for dtype in ALL_DTYPES if dtype.is_floating})
INEXACT: Final = frozenset({dtype for dtype in ALL_DTYPES if dtype.is_inexact})
NUMERIC: Final = frozenset({dtype for dtype in ALL_DTYPES if dtype.is_numeric})
PLACES: Final = frozenset({dtype for dtype in ALL_DTYPES if dtype is bool_ or dtype.is_integer})
"""The dtypes of masks and indices."""

NUMBERS: Final = frozenset({bool, int, float, complex, *NUMPY_CLASSES})
"""The classes of numbers, of Python and NumPy."""


def __getattr__(name: str) -> Any:
    """A class of `numpy.dtypes`."""
    return getattr(numpy.dtypes, name)
