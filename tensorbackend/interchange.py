"""NumPy's view of dtypes and bytes; NumPy is imported by whoever calls these functions, never before."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .dtypes import DType, bfloat16
from .template import Template

if TYPE_CHECKING:
    import numpy


@cache
def numpy_dtype(dtype: DType) -> numpy.dtype[Any]:
    """NumPy's dtype for ours; bfloat16 is that of ml_dtypes.

    >>> from tensorbackend.dtypes import float32
    >>> numpy_dtype(float32)
    dtype('float32')
    """
    import numpy

    if dtype is bfloat16:
        import ml_dtypes

        found: numpy.dtype[Any] = numpy.dtype(ml_dtypes.bfloat16)
        return found
    return numpy.dtype(dtype.name)


def numpy_from_binary(template: Template, data: bytes, dtype: Any, copy: bool | None) -> numpy.ndarray[Any, Any]:
    """A NumPy array over bytes: read-only and without a copy, unless another dtype or a copy is asked for.

    Raises `ValueError` where `copy=False` and one is needed.
    """
    import numpy

    array = numpy.frombuffer(data, numpy_dtype(template.dtype)).reshape(template.shape)
    return read_only(array, dtype, copy)


def read_only(array: numpy.ndarray[Any, Any], dtype: Any, copy: bool | None) -> numpy.ndarray[Any, Any]:
    """A read-only view of an array, or a writable copy where one is asked for or needed for the dtype."""
    import numpy

    if dtype is not None and numpy.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError(f"expected no copy to be needed, got dtype={dtype!r}; leave copy out")
        return array.astype(dtype)
    if copy:
        return array.copy()
    view = array.view()
    view.flags.writeable = False
    return view
