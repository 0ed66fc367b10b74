"""Elements in another dtype: cast, reread from memory, or the parts of complex numbers."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import REAL_OF, DType, bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import Step, box, fresh, functions, ndarray, new_array, step_view, tensor_of
from .conversion import asarray, cast, host
from .dtypes import NUMBERS, HostOnlyError, check_cast, dtype_of
from .functions import public
from .layouts import axes_in_order, layout_of, lock
from .orders import in_order
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
    if source is target:
        return reshaped_view(x, x.shape)
    if source.itemsize == target.itemsize:
        return step_view(x, _step_of_bits(_bits, target))
    ratio = source.itemsize / target.itemsize
    if not x.ndim or (ratio < 1 and x.shape[-1] % (target.itemsize // source.itemsize)):
        text = "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis"
        raise ArgumentError(f"{text} of the array.")
    step = _step_of_bits(_resized_bits, target)
    try:
        step.lay(layout_of(x))  # type: ignore[misc] # which it has
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return step_view(x, step)


def _step_of_bits(read: Callable[[Tensor, DType], Tensor], target: DType) -> Step:
    return Step(
        lambda t: read(t, target), lambda old, new: read(new, old.dtype), lambda layout: layout.view(target.dtype)
    )


def _bits(t: Tensor, dtype: DType) -> Tensor:
    """The memory of a tensor in a dtype of the same width."""
    if t.dtype is dtype:
        return t
    if bool_ in (t.dtype, dtype):  # a bool is a byte of 0 or 1
        return tb.not_equal(tb.bitcast(t, tb.uint8), 0) if dtype is bool_ else tb.bitcast(tb.astype(t, tb.uint8), dtype)
    return tb.bitcast(t, dtype)


def _resized_bits(t: Tensor, dtype: DType) -> Tensor:
    """The memory of a tensor in a dtype of another width, row-major."""
    if not t.backend.is_concrete(t):
        return _resized_in_trace(t, dtype)
    array = numpy.ascontiguousarray(numpy.asarray(t)).view(dtype.dtype)
    return tb.asarray(array, backend=t.backend)


def _resized_in_trace(t: Tensor, dtype: DType) -> Tensor:
    """As `_resized_bits`, by shifts of unsigned integers; a complex number is two floats."""
    lead = t.shape[:-1]
    if t.dtype.is_complex:
        return _any_width(tb.reshape(tb.stack([tb.real(t), tb.imag(t)], axis=-1), (*lead, -1)), dtype)
    if dtype.is_complex:
        parts = tb.reshape(_any_width(t, REAL_OF[dtype]), (*lead, -1, 2))
        return tb.complex(parts[..., 0], parts[..., 1])
    width, wanted = t.dtype.itemsize, dtype.itemsize
    words, narrow = _bits(t, _UNSIGNED[width]), _UNSIGNED[min(width, wanted)]
    order = range(max(width, wanted) // min(width, wanted))
    places = [8 * narrow.itemsize * place for place in (order if sys.byteorder == "little" else reversed(order))]
    if wanted < width:
        pieces = [tb.astype(tb.bitwise_right_shift(words, place), narrow) for place in places]
        return _bits(tb.reshape(tb.stack(pieces, axis=-1), (*lead, -1)), dtype)
    columns = tb.astype(tb.reshape(words, (*lead, -1, len(places))), _UNSIGNED[wanted])
    pieces = [tb.bitwise_left_shift(columns[..., number], place) for number, place in enumerate(places)]
    return _bits(reduce(tb.bitwise_or, pieces), dtype)


def _any_width(t: Tensor, dtype: DType) -> Tensor:
    return _bits(t, dtype) if t.dtype.itemsize == dtype.itemsize else _resized_in_trace(t, dtype)


_UNSIGNED: Final = {1: tb.uint8, 2: tb.uint16, 4: tb.uint32, 8: tb.uint64}
"""The unsigned integers by their bytes."""


@public
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None, casting: str = "unsafe") -> ndarray:
    """The elements in another dtype."""
    array = x if x.__class__ is ndarray else asarray(x)
    target = dtype_of(dtype)
    t = tensor_of(array)
    given = t.template.dtype
    if given is target and not copy:
        return array
    if casting != "unsafe":
        check_cast(given, target, casting)
    return new_array(fresh(t) if given is target else cast(t, target))


def _astype_in_order(x: ndarray, dtype: Any, order: str, casting: str, copy: bool) -> ndarray:
    """`x.astype` with the axes in an order in memory."""
    axes = axes_in_order(layout_of(x), order)
    made = astype(x, dtype, casting=casting, copy=copy)
    if made is x and axes == axes_in_order(layout_of(x), "K"):
        return made
    return in_order(made.tensor, axes)


functions["astype_in_order"] = _astype_in_order


@public
def real(val: Any) -> Any:
    """The real parts: a view, or that of a number."""
    if val.__class__ in NUMBERS:
        number: Any = val
        return number.real
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        return x
    return step_view(x, Step(tb.real, lambda old, new: tb.complex(new, tb.imag(old)), lambda layout: layout.real))


@public
def imag(val: Any) -> Any:
    """The imaginary parts: a view, or that of a number; zeros for an array that is not complex."""
    if val.__class__ in NUMBERS:
        number: Any = val
        return number.imag
    x = val if val.__class__ is ndarray else asarray(val)
    if not x._template().dtype.is_complex:
        zeros = box(tb.zeros_like(tensor_of(x)))
        lock(zeros, True)
        return zeros
    return step_view(x, Step(tb.imag, lambda old, new: tb.complex(tb.real(old), new), lambda layout: layout.imag))
