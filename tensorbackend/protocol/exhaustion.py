"""The error if memory ran out, which is the same on every backend."""

from __future__ import annotations

import math
import re

from ..errors import OutOfMemoryError, expected
from ..template import Template

_AMOUNT = re.compile(r"([\d.,]*\d) ?(bytes|[KMGTP]iB)")
_UNITS = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}


def out_of_memory(error: BaseException) -> OutOfMemoryError:
    """Return the error for users in place of a library's error about memory.

    Parameters
    ----------
    error : BaseException
        The library's error.

    Returns
    -------
    OutOfMemoryError
        The error, with the number of requested bytes if the library reports it, and otherwise with that of the
        result.

    Examples
    --------
    >>> out_of_memory(RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 4096 bytes."))
    OutOfMemoryError('expected enough memory, got bytes=4096; make tensors smaller, or free some')
    >>> out_of_memory(MemoryError())
    OutOfMemoryError('expected enough memory; make tensors smaller, or free some')
    """
    asked = _requested_bytes(error)
    remedy = "make tensors smaller, or free some"
    return OutOfMemoryError(expected("enough memory", remedy, **({} if asked is None else {"bytes": asked})))


def _requested_bytes(error: BaseException) -> int | None:
    """The number of bytes in an error: NumPy's has a shape and a dtype, others have it in their texts."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is not None and dtype is not None:
        count: int = math.prod(shape)
        return count * int(dtype.itemsize)
    found = _AMOUNT.search(str(error))
    if found is None:
        return _result_of(error)
    return round(float(found[1].replace(",", "")) * 1024.0 ** _UNITS[found[2]])


def _result_of(error: BaseException) -> int | None:
    """The bytes of the result of a callback, `out` in its frame, as Python's own error has no size."""
    count, trace = None, error.__traceback__
    while trace is not None:
        out = trace.tb_frame.f_locals.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        if all(isinstance(template, Template) for template in outs):
            count = sum(template.nbytes for template in outs)
        trace = trace.tb_next
    return count
