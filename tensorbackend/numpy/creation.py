"""Functions that make arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..backends.numpy_backend import NumpyBackend
from ..dtypes import DType
from ..errors import ArgumentError
from ..select import call_with_default
from ..select.default import process_default
from ..tensor import Device, Tensor
from . import conversion
from .arrays import as_shape, box, functions, ndarray, new_array
from .conversion import NUMBERS, back, cast, device_next_to, drop_leading_axes, from_numpy, host, tensor
from .dtypes import dtype_of, dtype_of_bytes, is_host_only, numpy_dtype, with_order
from .from_host import array_of_new
from .functions import Array, function, public
from .homes import home_of, scoped
from .host_arrays import hosted
from .keys import HOST
from .orders import as_order, axes_of_copy, in_order, new_in_order

for _name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require",
              "copy"):  # fmt: skip
    public(getattr(conversion, _name), home=False)


_CLASSES: Final = frozenset({type, type(None)})
"""The classes of what names a dtype in the host's order of bytes: a class of numbers, or nothing."""


def _new(t: Tensor, order: str | None = "C") -> ndarray:
    if order != "C" and as_order(order, "CF") == "F":
        return new_in_order(t, order)
    return new_array(t)


def _placed(make: Callable[..., Any], device: Any, like: Any, *arguments: Any) -> Any:
    """What a function makes of its arguments, on a device or next to an array."""
    device = device_next_to(device, like)
    if isinstance(device, Device):
        return call_with_default(device.backend, partial(make, *arguments))
    made = make(*arguments)
    return made if device is None else made.to_device(device)


def _zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    if device is not None or like is not None:
        return _placed(_zeros, device, like, shape, dtype, order)  # type: ignore[no-any-return] # generic
    return _new(tb.zeros(as_shape(shape), dtype=dtype_of(float if dtype is None else dtype), device=device), order)


def _of_zeros(name: str, text: str) -> Callable[..., ndarray]:
    """Makes a function whose results are zeros."""
    of_others = hosted(_zeros, name, home=False)
    host_zeros = numpy.zeros

    def make(
        _: Any, /, shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None
    ) -> ndarray:
        default = scoped() or process_default[0]
        if default.__class__ is NumpyBackend and order == "C" and device is like is None:
            try:
                if dtype is float:
                    return array_of_new(host_zeros(shape), default, (shape, default))
                if dtype.__class__ in _CLASSES:
                    return array_of_new(host_zeros(shape, dtype), default)
            except Exception:  # what is wrong with the shape or the dtype is told below
                pass
        return of_others(shape, dtype, order, device=device, like=like)  # type: ignore[no-any-return] # generated code has no types

    make.__name__ = make.__qualname__ = name
    make.__doc__ = text
    return public(direct=True)(make)


zeros = _of_zeros("zeros", "An array of zeros, float64 by default.")
empty = _of_zeros("empty", "An uninitialised array; here of zeros, float64 by default.")


@public(home=False)
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """An array of ones, float64 by default."""
    if device is not None or like is not None:
        return _placed(ones, device, like, shape, dtype, order)  # type: ignore[no-any-return]
    return _new(tb.ones(as_shape(shape), dtype=dtype_of(float if dtype is None else dtype), device=device), order)


@public(home=False)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """An array of one value, or of an array broadcast to a shape."""
    if like is not None:
        return _placed(full, device, like, shape, fill_value, dtype, order)  # type: ignore[no-any-return]
    kind = fill_value.__class__
    default = scoped() or process_default[0]
    if default.__class__ is NumpyBackend and kind in NUMBERS and dtype is None and order == "C" and device is None:
        try:
            return array_of_new(numpy.full(shape, fill_value), default)
        except Exception:  # what is wrong with the shape is told below
            pass
    home = None if kind in NUMBERS else home_of((fill_value,))
    if home is not None:
        return call_with_default(home, partial(full, shape, fill_value, dtype, order, device=device))
    value = tensor(fill_value)
    wanted = value.dtype if dtype is None else dtype_of(dtype)
    if value.shape:
        size = as_shape(shape)
        return _new(tb.broadcast_to(cast(drop_leading_axes(value, len(size)), wanted), size), order)
    return _new(tb.full(as_shape(shape), cast(value, wanted), dtype=wanted, device=device), order)


def _options_like(a: Any, dtype: Any, shape: Any, device: Any = None) -> tuple[tuple[int, ...], DType, Any, Any]:
    t = tensor(a)
    same = shape is None
    follows = t.backend.holds_data and not t.backend.template_only and not isinstance(device, Device)
    return (
        t.shape if same else as_shape(shape), t.dtype if dtype is None else dtype_of(dtype), t.names if same else None,
        t.backend if follows else None,
    )  # fmt: skip


def _new_like(a: Any, t: Tensor, order: str | None) -> ndarray:
    """An array that holds a tensor, with the axes of another in memory if it has as many."""
    order = as_order(order)
    if order != "C" and (a.__class__ is not ndarray or a._t is None or order == "F") and numpy.ndim(a) == t.ndim:
        axes = axes_of_copy(a, order, t.ndim)
        if axes is not None:
            return in_order(t, axes)
    return _new(t)


@public(home=False)
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """Zeros in the shape and dtype of an array."""
    t = a._t if a.__class__ is ndarray else None
    if t is not None and t.data.__class__ is HOST and dtype is shape is device is None and order == "K":
        return new_array(Tensor(t.template, t.backend, numpy.zeros(t.data.shape, t.data.dtype)))
    size, wanted, names, backend = _options_like(a, dtype, shape, device)
    return _new_like(a, tb.zeros(size, dtype=wanted, names=names, backend=backend, device=device), order)


@public(home=False)
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """Ones in the shape and dtype of an array."""
    size, wanted, names, backend = _options_like(a, dtype, shape, device)
    return _new_like(a, tb.ones(size, dtype=wanted, names=names, backend=backend, device=device), order)


@public(home=False)
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """An uninitialised array in the shape and dtype of another; here of zeros."""
    return zeros_like(prototype, dtype, order, subok, shape, device=device)


@public
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> ndarray:  # fmt: skip
    """One value, or an array broadcast, in the shape and dtype of an array."""
    size, wanted, _names, _backend = _options_like(a, dtype, shape)
    made = full(size, fill_value, wanted, device=device)
    return _new_like(a, made._t, order)


def _plain(value: Any) -> Any:
    """An array without axes as a number, if its data can be read."""
    return value.item() if value.__class__ is ndarray and not value.shape else value


@public(home=False)
def arange(
    start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, like: Any = None
) -> ndarray:
    """Numbers from start up to stop, in steps."""
    if device is not None or like is not None:
        return _placed(arange, device, like, start, stop, step, dtype)  # type: ignore[no-any-return]
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    start = 0 if start is None else start
    if ndarray in (start.__class__, stop.__class__, step.__class__):
        start, stop, step = _plain(start), _plain(stop), _plain(step)
    wanted = None if dtype is None else numpy_dtype(dtype_of(dtype))
    made = numpy.arange(start, stop, 1 if step is None else step, dtype=wanted)
    return array_of_new(made, scoped() or process_default[0])


@public
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Evenly spaced numbers between two, 50 by default."""
    if device is not None:
        return _placed(linspace, device, None, start, stop, num, endpoint, retstep, dtype, axis)
    num = operator.index(num)
    if num < 0:
        raise ArgumentError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    if NUMBERS.issuperset((start.__class__, stop.__class__)):
        wanted = None if dtype is None else numpy_dtype(dtype_of(dtype))
        points, step = numpy.linspace(start, stop, num, endpoint, retstep=True, dtype=wanted)
        made: Any = _new(from_numpy(points))
        return (made, step) if retstep else made
    ends: list[Any] = functions["chosen"](start, stop)
    first, last = [functions["box"](x if x.dtype.is_inexact else cast(x, tb.float64)) for x in ends]
    gap = last - first
    step = gap / parts if parts > 0 else gap * math.nan
    places = functions["reshape"](functions["arange"](0, num, dtype=gap.dtype), (-1,) + (1,) * numpy.ndim(gap))
    made = places * step + first if parts > 0 else places * gap + first
    if endpoint and num > 1:
        made[-1] = last
    if dtype is not None:
        made = functions["floor"](made) if dtype_of(dtype).is_integer else made
        made = made.astype(dtype)
    made = functions["moveaxis"](made, 0, axis) if axis else made
    return (made, step) if retstep else made


@public
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Powers of a base whose exponents are evenly spaced."""
    made = functions["power"](base, linspace(start, stop, num, endpoint, axis=axis))
    return made if dtype is None else made.astype(dtype)


@public
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Numbers evenly spaced on a logarithmic scale, between two."""
    if NUMBERS.issuperset((start.__class__, stop.__class__)):
        wanted = None if dtype is None else numpy_dtype(dtype_of(dtype))
        return back(numpy.geomspace(start, stop, num, endpoint, wanted))
    wide = numpy.float64(1.0)  # NumPy computes in float64 at least
    first, last = functions["asarray"](start) * wide, functions["asarray"](stop) * wide
    if num == 1:  # what is not in the result has no part in its gradient
        last = functions["where"](True, first, last)
    sign = functions["sign"](first)
    logs = linspace(functions["log"](first / sign), functions["log"](last / sign), num, endpoint)
    made = functions["exp"](logs) * sign
    if num > 0:
        made[0] = first
    if endpoint and num > 1:
        made[-1] = last
    made = functions["moveaxis"](made, 0, axis) if axis else made
    return made if dtype is None else made.astype(dtype)


@public(home=False)
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: str = "C", *, device: Any = None,
    like: Any = None,
) -> ndarray:  # fmt: skip
    """Ones on a diagonal, zeros elsewhere."""
    if device is not None or like is not None:
        return _placed(eye, device, like, N, M, k, dtype, order)  # type: ignore[no-any-return]
    N, M = operator.index(N), None if M is None else operator.index(M)
    wanted = dtype_of(float if dtype is None else dtype)
    return _new(tb.eye(N, M, k=operator.index(k), dtype=wanted, device=device), order)


@public(home=False)
def identity(n: int, dtype: Any = None, *, like: Any = None) -> ndarray:
    """The identity matrix."""
    return eye(n, dtype=dtype, like=like)


@public(home=False)
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> ndarray:
    """Ones at and below a diagonal, zeros above."""
    if like is not None:
        return _placed(tri, None, like, N, M, k, dtype)  # type: ignore[no-any-return]
    if isinstance(k, float):  # of which NumPy has a rule of its own
        return _new(from_numpy(numpy.tri(N, M, k, numpy_dtype(dtype_of(dtype)))))
    N, M = operator.index(N), None if M is None else operator.index(M)
    return _new(cast(tb.tri(N, M, k=operator.index(k), dtype=tb.int8), dtype_of(dtype)))


@function
def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """A Vandermonde matrix: powers of the elements in columns."""
    if x.ndim != 1:
        raise tb.errors.ShapeError("x must be a one-dimensional array or sequence.")
    count = x.shape[0] if N is None else operator.index(N)
    x = cast(x, dtype_of(numpy.promote_types(numpy_dtype(x.dtype), int)))
    numpy.empty((x.shape[0], count), numpy_dtype(x.dtype))  # an error if there is no memory for it
    powers = [tb.ones_like(x)] if count else []
    while len(powers) < count:
        powers.append(powers[-1] * x)
    if not powers:
        return tb.zeros((x.shape[0], 0), dtype=x.dtype)
    return tb.stack(powers if increasing else powers[::-1], axis=1)


@public
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """The results of a function of the coordinates."""
    return function(*indices(as_shape(shape), dtype=dtype), **kwargs)


@public(home=False)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The coordinates of each place in a grid."""
    sizes, wanted = as_shape(dimensions), dtype_of(dtype)
    grids = [cast(tb.iota(sizes, axis=axis), wanted) for axis in range(len(sizes))]
    if sparse:
        return tuple([
            box(tb.reshape(cast(tb.iota((size,)), wanted), (1,) * axis + (size,) + (1,) * (len(sizes) - axis - 1)))
            for axis, size in enumerate(sizes)
        ])  # fmt: skip
    return box(tb.stack(grids)) if grids else box(tb.zeros((0,), dtype=wanted))


@public(home=False)
def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> ndarray:
    """The elements of an iterator."""
    return box(from_numpy(numpy.fromiter((_plain(each) for each in iter), numpy_dtype(dtype_of(dtype)), count)))


@public(home=False)
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None) -> ndarray:
    """The elements in a buffer of bytes, copied."""
    wanted = numpy_dtype(dtype_of_bytes(dtype))
    read = numpy.frombuffer(host(buffer), with_order(dtype, wanted), count, offset)
    return box(from_numpy(read.astype(wanted), copy=False))


@public(home=False)
def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str, like: Any = None) -> ndarray:
    """The numbers in a text."""
    return box(from_numpy(numpy.fromstring(string, numpy_dtype(dtype_of(dtype)), count, sep=sep)))


@public(home=False)
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """Another library's array, by DLPack; of an array of the namespace a view."""
    if x.__class__ is ndarray and device is None and not copy:
        shown: ndarray = x[...]
        return shown
    return box(tb.from_dlpack(getattr(x, "tensor", x), copy=copy))


@public
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
    """Grids of coordinates from the coordinates along each axis."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError("Valid values for `indexing` are 'xy' and 'ij'.")
    arrays = [functions["asarray"](x) for x in xi]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    wide = [
        functions["reshape"](x, (1,) * order[number] + (-1,) + (1,) * (len(arrays) - order[number] - 1))
        for number, x in enumerate(arrays)
    ]
    if not sparse:
        wide = list(functions["broadcast_arrays"](*wide))
    return tuple([x.copy() for x in wide] if copy else wide)


class _Grid:
    """`np.mgrid` and `np.ogrid`."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        return back((numpy.ogrid if self.sparse else numpy.mgrid)[host(key)])


class _Concatenator:
    """`np.r_` and `np.c_`."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> Any:
        home = home_of((key,))
        if home is not None:
            return call_with_default(home, self.__getitem__, key)
        parts = key if isinstance(key, tuple) else (key,)
        of_numpy = any(isinstance(part, numpy.ndarray) and is_host_only(part) for part in parts)
        if of_numpy or not any(part.__class__ is ndarray for part in parts):
            return back((numpy.c_ if self.columns else numpy.r_)[host(key)])
        axis, ndmin, start = (-1, 2, 0) if self.columns else (0, 1, -1)
        if parts and isinstance(parts[0], str):
            numbers = [int(each) for each in parts[0].split(",")]
            axis, ndmin, start = (*numbers, *(axis, ndmin, start)[len(numbers) :])
            parts = parts[1:]
        joined = []
        for part in parts:
            x = functions["asarray"](back(numpy.r_[host(part)]) if isinstance(part, slice) else part)
            missing = ndmin - x.ndim
            if missing > 0:
                place = start if start >= 0 else start + x.ndim + 1 if x.ndim else 0
                place = min(max(place, 0), missing) if start >= 0 else missing
                shape = (1,) * place + x.shape + (1,) * (missing - place)
                if self.columns:
                    shape = x.shape + (1,) * missing
                x = x.reshape(shape)
            joined.append(x)
        return functions["concatenate"](joined, axis=axis)


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Concatenator(columns=False), _Concatenator(columns=True)
s_, index_exp = numpy.s_, numpy.index_exp
