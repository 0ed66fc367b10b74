"""Elements in another dtype: cast, reread from memory, or the parts of complex numbers."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import Step, box, fresh, ndarray, step_view, tensor_of
from .conversion import asarray, cast, host, tensor
from .dtypes import HostOnlyError, dtype_of
from .functions import public
from .shapes import reshaped_view


@public
def view(a: Any, dtype: Any = None, type: Any = None) -> Any:
    """The memory of an array in another dtype: a view; as a subclass or in fields, a copy that is NumPy's."""
    x = asarray(a)
    if dtype is ndarray:
        dtype = None
    if isinstance(dtype, builtins.type) and issubclass(dtype, numpy.ndarray):
        dtype, type = None, dtype
    if type is not None and type is not ndarray:
        return numpy.array(x).view(type=type) if dtype is None else numpy.array(x).view(dtype, type)
    if dtype is None:
        return reshaped_view(x, x.shape)
    try:
        target = dtype_of(dtype)
    except HostOnlyError:
        return host(x).view(numpy.dtype(dtype))
    source = x._template().dtype
    if source.itemsize == target.itemsize:
        return step_view(x, Step(lambda t: _bits(t, target), lambda old, new: _bits(new, old.dtype)))
    ratio = source.itemsize / target.itemsize
    if not x.ndim or (ratio < 1 and x.shape[-1] % (target.itemsize // source.itemsize)):
        text = "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis"
        raise ArgumentError(f"{text} of the array.")
    return step_view(x, Step(lambda t: _resized_bits(t, target), lambda old, new: _resized_bits(new, old.dtype)))


def _bits(t: Tensor, dtype: DType) -> Tensor:
    """The memory of a tensor in a dtype of the same width."""
    if t.dtype is dtype:
        return t
    if bool_ in (t.dtype, dtype):  # a bool is a byte of 0 or 1
        return tb.not_equal(tb.bitcast(t, tb.uint8), 0) if dtype is bool_ else tb.bitcast(tb.astype(t, tb.uint8), dtype)
    return tb.bitcast(t, dtype)


def _resized_bits(t: Tensor, dtype: DType) -> Tensor:
    """The memory of a tensor in a dtype of another width, row-major; it needs data."""
    array = numpy.ascontiguousarray(numpy.asarray(t)).view(dtype.dtype)
    return tb.asarray(array, backend=t.backend)


@public
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None, casting: str = "unsafe") -> ndarray:
    """The elements in another dtype."""
    array = x if x.__class__ is ndarray else asarray(x)
    target = dtype_of(dtype)
    t = tensor_of(array)
    given = t.template.dtype
    if given is target and not copy:
        return array
    source = given.dtype
    if casting != "unsafe" and not numpy.can_cast(source, target.dtype, casting):  # type: ignore[arg-type] # any text
        raise TypeError(f"Cannot cast array data from {source!r} to {target.dtype!r} according to the rule '{casting}'")
    made = box(fresh(t) if given is target else cast(t, target))
    if not t.template.shape:
        made._how = True
    return made


@public
def real(val: Any) -> Any:
    """The real parts: a view."""
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        return reshaped_view(x, x.shape)
    if not x.ndim and val.__class__ is not ndarray:
        return box(tb.real(tensor(val)))
    return step_view(x, Step(tb.real, lambda old, new: tb.complex(new, tb.imag(old))))


@public
def imag(val: Any) -> Any:
    """The imaginary parts: a view; zeros for an array that is not complex."""
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        return box(tb.zeros_like(tensor_of(x)))
    return step_view(x, Step(tb.imag, lambda old, new: tb.complex(tb.real(old), new)))
