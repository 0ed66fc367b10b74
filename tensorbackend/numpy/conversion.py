"""Conversion of lists, numbers, NumPy's arrays and tensors to arrays, and back to NumPy."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from types import GeneratorType
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import DType
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..select import call_with_default, library_backend
from ..select.default import process_default
from ..tensor import Tensor
from .arrays import as_shape, box, fresh, functions, ndarray, new_array, reshape_to, step_view, tensor_of
from .dtypes import NUMBERS as NUMBERS
from .dtypes import HostOnlyError, dtype_of, dtype_of_bytes, is_host_only, numpy_dtype, with_order
from .from_host import array_of_new, stack_on_host
from .from_host import from_numpy as from_numpy
from .homes import home_of, scoped
from .layouts import layout_of
from .orders import as_order, axes_of_copy, in_order, new_in_order

_SEQUENCES = list, tuple, range, deque


def tensor(value: Any) -> Tensor:
    """Return anything that NumPy accepts as an array, as a tensor that must not be written to.

    Parameters
    ----------
    value
        An array, a tensor, a number, nested sequences of these, or another library's array.

    Returns
    -------
    Tensor
        The tensor; that of an array itself.

    Raises
    ------
    HostOnlyError
        For texts, objects, and whatever else only NumPy holds.

    Examples
    --------
    >>> tensor([[1, 2], [3, 4]]).dtype, tensor(2.5).dtype
    (int64, float64)
    """
    if value.__class__ is ndarray:
        return tensor_of(value)
    if value.__class__ is numpy.ndarray:
        return from_numpy(value)
    if value.__class__ is list and NUMBERS.issuperset(map(type, value)):
        return tensor_of(array_of_new(_array_of_list(value), scoped() or process_default[0]))
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _SEQUENCES) and not hasattr(value, "__array__"):
        if _holds_arrays(value):
            try:
                home = home_of(value)
                parts = map(tensor, value)
                return stack_tensors(list(parts) if home is None else call_with_default(home, list, parts))
            except RecursionError:
                raise ArgumentError(expected("no list that holds itself", value=type(value).__name__)) from None
        return from_numpy(_array_of_list(value))
    if isinstance(value, numpy.ndarray):
        return from_numpy(value)
    if value.__class__ in NUMBERS or isinstance(value, numpy.generic | int | float | complex):
        return from_numpy(numpy.asarray(value))
    if isinstance(value, GeneratorType):
        raise DTypeError(expected("an array or numbers", "use np.fromiter for an iterator", value=value))
    if value is None or (isinstance(value, bytes | str | dict | set | frozenset) and not hasattr(value, "__array__")):
        raise HostOnlyError(expected("an array or numbers", "use a list of numbers", value=value))
    of_numpy = hasattr(value, "__array_interface__") and library_backend(value) is None
    if hasattr(value, "__dlpack__") and not of_numpy:
        return tb.asarray(value)
    convert = getattr(value, "__array__", None)
    made = value if convert is None else convert()
    known = made.__class__ is ndarray or isinstance(made, Tensor | numpy.ndarray)
    return tensor(made) if known else from_numpy(numpy.asarray(made))


def tensor_to_write(value: Any, dtype: DType) -> Tensor:
    """A value that is written to an array of a dtype, as a tensor that must not be written to.

    NumPy reads Python's numbers, texts and lists of them in that dtype, and refuses those that it does not hold. Arrays
    and NumPy's own numbers are cast.
    """
    of_python = value.__class__ in (int, float, complex, bool) or isinstance(value, bytes | str) or value is None
    if of_python or (isinstance(value, _SEQUENCES) and not hasattr(value, "__array__") and not _holds_arrays(value)):
        given = list(value) if value.__class__ is deque else value
        with numpy.errstate(over="ignore"):
            return from_numpy(numpy.asarray(given, dtype=numpy_dtype(dtype)))
    try:
        return cast(tensor(value), dtype)
    except HostOnlyError:  # texts and objects, which NumPy reads as numbers
        return from_numpy(numpy.asarray(host(value)).astype(numpy_dtype(dtype)))


def _holds_arrays(value: Any, seen: set[int] | None = None) -> bool:
    """Whether nested sequences hold arrays or tensors, which must not go through the host.

    A list that holds itself is looked at once; NumPy says what is wrong with it.
    """
    kinds = {*map(type, value)} if value.__class__ is not range else set()
    if kinds == _ONLY_LISTS and NUMBERS.issuperset(map(type, chain.from_iterable(value))):
        return False
    for kind in kinds:
        if kind is ndarray or issubclass(kind, Tensor):
            return True
        if issubclass(kind, _SEQUENCES):
            seen = {id(value)} if seen is None else seen
            for part in value:
                if isinstance(part, _SEQUENCES) and id(part) not in seen:
                    seen.add(id(part))
                    if _holds_arrays(part, seen):
                        return True
    return False


_ONLY_LISTS: Final = {list}


def _array_of_list(value: Any) -> numpy.ndarray[Any, Any]:
    try:
        return numpy.asarray(value if value.__class__ is not deque else list(value))
    except OverflowError as error:
        raise DTypeError(expected("numbers that 64 bits hold", value=type(value).__name__)) from error


def stack_tensors(parts: Sequence[Tensor]) -> Tensor:
    """Tensors of one shape along a new first axis, in their common dtype."""
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        text = "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        raise ArgumentError(f"{text}: {', '.join(map(str, shapes))}")
    return tb.stack(promote(parts))


def promote(parts: Sequence[Tensor]) -> list[Tensor]:
    """Tensors in their common dtype by NumPy's rules."""
    dtypes = {part.dtype for part in parts}
    if len(dtypes) == 1:
        return list(parts)
    common = common_dtype(dtypes)
    return [part if part.dtype is common else tb.astype(part, common) for part in parts]


def drop_leading_axes(value: Tensor, ndim: int) -> Tensor:
    """A value without the axes of size 1 in front of the last `ndim`."""
    while value.ndim > ndim and value.shape[0] == 1:
        value = tb.reshape(value, value.shape[1:])
    return value


def chosen_inexact(x: Tensor) -> Tensor:
    """A tensor in a floating or complex dtype that linear algebra has: float64 for ints and bools."""
    if x.dtype is tb.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    return x if x.dtype.is_inexact else tb.astype(x, tb.float64)


def common_dtype(dtypes: Iterable[DType]) -> DType:
    """The dtype to which several are promoted by NumPy's rules."""
    return dtype_of(numpy.result_type(*[numpy_dtype(dtype) for dtype in dtypes]))


def host(value: Any) -> Any:
    """Arrays and tensors as NumPy's arrays that cannot be written to, also in lists, tuples and dictionaries."""
    if value.__class__ is ndarray or isinstance(value, Tensor):
        array = numpy.array(value)
        array.flags.writeable = False  # so that no function writes to a copy unnoticed
        return array
    if isinstance(value, dict):
        return {key: host(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        try:
            return type(value)(map(host, value))
        except RecursionError:
            raise ArgumentError(expected("no list that holds itself", value=type(value).__name__)) from None
    if isinstance(value, slice):
        return slice(host(value.start), host(value.stop), host(value.step))
    return numpy_dtype(value) if value.__class__ is DType else value


def back(value: Any) -> Any:
    """NumPy's arrays as arrays here, also in lists and tuples; numbers, and what no tensor can hold, stay NumPy's."""
    if isinstance(value, numpy.ndarray):
        return value if is_host_only(value) or not value.dtype.isnative else box(from_numpy(value))
    if type(value) in (list, tuple):
        return type(value)(map(back, value))
    if isinstance(value, tuple):  # a named tuple of NumPy's
        return type(value)(*map(back, value))
    return value


# np.asarray, np.array and the like


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: str | None = None, copy: bool | None = None,
    like: Any = None,
) -> ndarray:  # fmt: skip
    """Convert a value to an array; an array itself, and a tensor's elements, are not copied.

    Parameters
    ----------
    a
        Anything that NumPy accepts: lists, numbers, arrays, tensors.
    dtype : dtype, optional
        The dtype; by default that of the value.
    order : str, optional
        The order of the axes in memory: `"C"`, `"F"`, `"A"` or `"K"`. An array in another order is copied.
    like
        Ignored.
    device : str, optional
        A device of the backend.
    copy : bool, optional
        Whether to copy: always, never, or for `None` if it is needed.

    Returns
    -------
    ndarray
        The value itself where it suits, else a new array.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> x = np.asarray([1, 2])
    >>> np.asarray(x) is x, np.asarray(x, float)
    (True, array([1., 2.]))
    """
    if like is not None:
        device = device_next_to(device, like)
    if a.__class__ is ndarray:
        if copy is not True and _suits(a, dtype, order, device, copy):
            return a
        copy = True
    return array(a, dtype, copy=copy, order=order or "K", device=device)


def device_next_to(device: Any, like: Any) -> Any:
    """The device that is given, or that of an array or tensor `like`; `None` without either."""
    return like.device if device is None and (like.__class__ is ndarray or isinstance(like, Tensor)) else device


def _suits(a: ndarray, dtype: Any, order: str | None, device: str | None, copy: bool | None) -> bool:
    """Whether an array is what is asked for; `ArgumentError` if it is not, and must not be copied."""
    ordered = order in ("K", "A", None) or (order == "C" and a._t is not None) or _is_contiguous(a, order)
    suits = (dtype is None or dtype_of(dtype) is a._template().dtype) and device is None and ordered
    if not suits and copy is False:
        raise ArgumentError(_MUST_COPY)
    return suits


_MUST_COPY: Final = "Unable to avoid creating a copy while creating an array as requested."


def _is_contiguous(a: ndarray, order: Any) -> bool:
    flags = layout_of(a).flags
    return flags.f_contiguous if as_order(order) == "F" else flags.c_contiguous


def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: str | None = "K", subok: bool = False,
    ndmin: int = 0, ndmax: int = 0, like: Any = None, device: str | None = None,
) -> ndarray:  # fmt: skip
    """Make a new array with the elements of a value.

    Parameters
    ----------
    object
        Anything that NumPy accepts: lists, numbers, arrays, tensors.
    dtype : dtype, optional
        The dtype; by default that of the value: int64 and float64 for Python's numbers.
    copy : bool, default True
        Whether an array is copied; for `None` only if it is needed, for `False` never.
    ndmin : int, default 0
        The minimum number of axes; new ones come first.
    order : str, default "K"
        The order of the axes in memory: `"C"`, `"F"`, `"A"` or `"K"`, that of the value.
    subok, ndmax, like
        Ignored, as there are no subclasses.
    device : str, optional
        A device of the backend.

    Returns
    -------
    ndarray
        The array.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.array([[1, 2], [3, 4]]), np.array(1.5, ndmin=1)
    (array([[1, 2],
           [3, 4]]), array([1.5]))
    """
    if like is not None:
        device = device_next_to(device, like)
    if object.__class__ is ndarray and not copy and _suits(object, dtype, order, device, copy):
        missing = ndmin - object.ndim
        return object if missing <= 0 else step_view(object, reshape_to((1,) * missing + object.shape))
    if object.__class__ is list and dtype is device is None and order == "K" and copy is not False and ndmin <= 1:
        kinds = {*map(type, object)}
        if NUMBERS.issuperset(kinds) or (ndarray not in kinds and not _holds_arrays(object)):
            return array_of_new(_array_of_list(object), scoped() or process_default[0])
        if kinds == _ONLY_ARRAYS:
            stacked = stack_on_host(object)
            if stacked is not None:
                return stacked
            with suppress(ShapeError):  # the error of arrays of several shapes is found below
                return functions["stack"](object)  # type: ignore[no-any-return] # it is entered by its name
    order = as_order(order)
    if copy is False and (object.__class__ in NUMBERS or isinstance(object, _SEQUENCES)):
        raise ArgumentError(_MUST_COPY)
    wanted = None if dtype is None else dtype_of(dtype)  # an array of objects may hold arrays of several shapes
    if isinstance(object, numpy.ndarray):
        t = from_numpy(object, copy=bool(copy))
    elif wanted is not None and isinstance(object, list | tuple) and not _holds_arrays(object):
        t = from_numpy(numpy.array(object, dtype=numpy_dtype(wanted)))
    else:
        t = tensor(object)
    if wanted is not None and t.dtype is not wanted:
        if copy is False:
            raise ArgumentError(_MUST_COPY)
        t = cast(t, wanted)
    if len(t.shape) < ndmin:
        t = tb.reshape(t, (1,) * (ndmin - len(t.shape)) + t.shape)
    if device is not None:
        t = t.to_device(device)
    if object.__class__ is ndarray or isinstance(object, Tensor):
        t = fresh(t)
    axes = axes_of_copy(object, order, len(t.shape)) if order != "C" else None
    if axes is not None:
        return in_order(t, axes)
    return new_array(t)


_ONLY_ARRAYS: Final = {ndarray}


def cast(t: Tensor, dtype: DType) -> Tensor:
    """A tensor in another dtype by NumPy's rules: the imaginary part of complex numbers is dropped."""
    given = t.template.dtype
    if given is dtype:
        return t
    if given.is_complex and not dtype.is_complex:
        t = tb.not_equal(t, 0) if dtype.kind == "bool" else tb.real(t)
    return tb.astype(t, dtype)


def asanyarray(a: Any, dtype: Any = None, order: str | None = None, *, device: str | None = None,
               copy: bool | None = None, like: Any = None) -> ndarray:  # fmt: skip
    """The value as an array; `asarray`, as there are no subclasses."""
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """The value as a row-major array of at least one axis: an array that is one itself, otherwise a copy."""
    made = asarray(a, dtype, "C")
    return made if made.ndim else made.reshape(1)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """The value as a column-major array of at least one axis: an array that is one itself, otherwise a copy."""
    made = asarray(a, dtype, "F")
    return made if made.ndim else made.reshape(1)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> ndarray:
    """The value as an array; `ArgumentError` if an element is infinite or NaN."""
    made = asarray(a, dtype, order)
    if made.dtype.kind in "fc" and not tb.all(tb.isfinite(tensor_of(made))):
        raise ArgumentError("array must not contain infs or NaNs")
    return made


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """The value as an array with flags such as `"C"`, `"F"`, `"O"` and `"W"`; a copy if it has others."""
    flags = {_REQUIREMENTS.get(each.upper(), each.upper()) for each in requirements or ()}
    if not flags <= {"C", "F", "A", "W", "O", "E"}:
        raise ArgumentError(expected("requirements of C, F, A, W, O and E", requirements=requirements))
    if {"C", "F"} <= flags:
        raise ArgumentError("Cannot specify both 'C' and 'F' order")
    order = "F" if "F" in flags else "C" if "C" in flags else "A"
    made = asarray(a, dtype, order)
    lacks = ("O" in flags and made.base is not None) or ("W" in flags and not made.flags.writeable)
    return copy(made, order) if lacks else made


_REQUIREMENTS: Final = {
    "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F", "ALIGNED": "A", "WRITEABLE": "W",
    "OWNDATA": "O", "ENSUREARRAY": "E",
}  # fmt: skip
"""The short names of requirements."""


def copy(a: Any, order: str = "K", subok: bool = False) -> ndarray:
    """Copy: a new array with the same elements."""
    return array(a, order=order)


def _ndarray(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
) -> Any:
    """`np.ndarray(shape, dtype, buffer)`: the elements in a buffer are copied."""
    try:
        wanted = dtype_of(dtype) if buffer is None else dtype_of_bytes(dtype)
    except HostOnlyError:
        return numpy.ndarray(shape, dtype, host(buffer), offset, strides, order)
    if buffer is None:
        if strides is not None:
            raise ArgumentError(expected("no strides", "index or reshape an array", strides=strides))
        made = new_in_order(tb.zeros(as_shape(shape), dtype=wanted), order)
        if not made.shape:
            made._how = True
        return made
    plain = numpy_dtype(wanted)
    read: Any = numpy.ndarray(as_shape(shape), with_order(dtype, plain), host(buffer), offset, strides, order)
    return array(read.astype(plain))


functions["ndarray"] = _ndarray
functions["asarray"] = asarray


def operand(value: Any) -> Any:
    """An array's tensor, a number unchanged, and anything else converted by `tensor`."""
    return value if value.__class__ in NUMBERS else tensor(value)
