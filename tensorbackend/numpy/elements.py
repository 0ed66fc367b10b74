"""Functions of elements that NumPy has besides its universal functions."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import OutOfRangeError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, replace, result, tensor_of
from .conversion import NUMBERS, asarray, cast, tensor
from .dtypes import FLOATING, HostOnlyError, dtype_of, numpy_dtype
from .functions import Array, Out, function, public
from .orders import axes_of_copy, in_order
from .reductions import NO_VALUE
from .selection import chosen
from .ufuncs import write_out


@public
def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE,
    max: Any = NO_VALUE, dtype: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Each element clipped to two bounds."""
    low = min if a_min is NO_VALUE else a_min
    high = max if a_max is NO_VALUE else a_max
    x: Any = a if a.__class__ is ndarray else asarray(a)
    if low.__class__ in (float, int) and high.__class__ in (float, int) and out is None and dtype is None:
        t = tensor_of(x)
        if t.template.dtype in FLOATING:
            with suppress(OutOfRangeError):  # for an int beyond the dtype, which is handled below
                return result(tb.clip(t, low, high))
    low, high = None if low is NO_VALUE else low, None if high is NO_VALUE else high
    casting = kwargs.get("casting", "same_kind")
    options = {} if dtype is None else {"dtype": dtype, "casting": casting}
    if low is None and high is None:
        made: Any = functions["positive"](x, **options) if options else x if x.ndim else x[()]
    else:
        try:
            made = _between(x, low, high, options)
        except OutOfRangeError:
            given = x._template().dtype
            made = _between(x, _without_effect(low, given, -1), _without_effect(high, given, 1), options)
    if out is not None:
        return write_out("clip", out, tensor(made), casting)
    return made.copy() if made is x else made


def _between(x: Any, low: Any, high: Any, options: dict[str, Any]) -> Any:
    made = x if low is None else functions["maximum"](x, low, **options)
    return made if high is None else functions["minimum"](made, high, **options)


def _without_effect(bound: Any, dtype: DType, side: int) -> Any:
    """A bound of integers, `None` if no number of their dtype is beyond it."""
    if bound.__class__ is not int or not dtype.is_integer:
        return bound
    limits = numpy.iinfo(numpy_dtype(dtype))
    return None if (bound < limits.min if side < 0 else bound > limits.max) else bound


@public(home=False)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Each element rounded to some decimals, ties to even."""
    x = tensor(a)
    decimals = operator.index(decimals)
    if x.dtype is bool_:
        x = cast(x, tb.float16)
    if x.dtype.is_complex:
        made = tb.complex(tensor(round(box(tb.real(x)), decimals)), tensor(round(box(tb.imag(x)), decimals)))
    elif x.dtype.is_integer:
        made = tb.positive(x) if decimals >= 0 else cast(_rounded(cast(x, tb.float64), decimals), x.dtype)
    else:
        made = _rounded(x, decimals)
    return result(made) if out is None else write_out("round", out, made, broadcasts=not decimals)


def _rounded(x: Tensor, decimals: int) -> Tensor:
    scale = 10.0 ** abs(decimals)
    if decimals:
        return tb.round(x * scale) / scale if decimals > 0 else tb.round(x / scale) * scale
    return tb.round(x)


functions["around"] = round


@function
def fix(x: Array, out: Out = None) -> Array:
    """Each element rounded towards 0."""
    return tb.trunc(x) if x.dtype.is_numeric else x


@function
def sinc(x: Array) -> Array:
    """sin(pi x) / (pi x), which is 1 at 0."""
    x = x if x.dtype.is_inexact else cast(x, tb.float64)
    safe = tb.where(tb.equal(x, 0), 1.0, x) * math.pi
    return tb.where(tb.equal(x, 0), 1.0, tb.sin(safe) / safe)


@function
def i0(x: Array) -> Array:
    """The modified Bessel function of the first kind and order 0."""
    if x.dtype.is_complex:
        raise TypeError("i0 not supported for complex values")
    return tb.i0(x if x.dtype.is_floating else cast(x, tb.float64))


@public
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """The elements with numbers in place of NaN and infinities."""
    t = tensor(x)
    if t.dtype.is_complex:
        parts = [tensor(nan_to_num(box(each), True, nan, posinf, neginf)) for each in (tb.real(t), tb.imag(t))]
        made = tb.complex(*parts)
    elif t.dtype.is_floating:
        limits = numpy.finfo(numpy_dtype(t.dtype))
        high = float(limits.max) if posinf is None else posinf
        low = float(limits.min) if neginf is None else neginf
        made = tb.where(tb.isnan(t), _cast_like(nan, t), t)
        made = tb.where(tb.equal(t, math.inf), _cast_like(high, t), made)
        made = tb.where(tb.equal(t, -math.inf), _cast_like(low, t), made)
    else:
        made = tb.positive(t) if t.dtype.is_numeric else tb.logical_or(t, False)
    if not copy and x.__class__ is ndarray:
        replace(x, made)
        return x if x.ndim else x[()]
    axes = axes_of_copy(x, "K", len(made.shape))
    return result(made) if axes is None else in_order(made, axes)


def _cast_like(value: Any, t: Tensor) -> Tensor:
    return cast(tensor(value), t.dtype)


@public
def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts if all imaginary parts are nearly 0, otherwise the array."""
    x = asarray(a)
    if not x._template().dtype.is_complex:
        return x
    if tol > 1:
        tol = float(numpy.finfo(x.dtype.type).eps) * tol
    t = tensor_of(x)
    return box(tb.real(t)) if bool(tb.all(tb.abs(tb.imag(t)) < tol)) else x


@function
def angle(z: Array, deg: bool = False) -> Array:
    """The angle of each complex number, in radians or degrees."""
    if not z.dtype.is_inexact:
        z = cast(z, dtype_of(numpy.arctan2(0, numpy.empty(0, numpy_dtype(z.dtype))).dtype))
    made = tb.atan2(tb.imag(z) if z.dtype.is_complex else tb.zeros_like(z), tb.real(z))
    return made * (180 / math.pi) if deg else made


@public
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Test whether elements are equal within tolerances."""
    if a.__class__ in NUMBERS and b.__class__ in NUMBERS:
        a = asarray(a)
    a, b = (float(each) if each.__class__ is int else each for each in (a, b))  # which no unsigned dtype may hold
    x, y = (each if isinstance(each, Tensor) else tensor(each) for each in chosen(a, b))
    if x.dtype.is_integer or x.dtype is bool_:
        x, y = cast(x, tb.float64), cast(y, tb.float64)
    if rtol.__class__ in (int, float) and atol.__class__ in (int, float):
        return result(tb.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))
    near = tb.abs(x - y) <= tensor(atol) + tensor(rtol) * tb.abs(y)
    made = tb.logical_or(tb.logical_and(near, tb.isfinite(y)), tb.equal(x, y))
    return result(tb.logical_or(made, tb.logical_and(tb.isnan(x), tb.isnan(y))) if equal_nan else made)


@public
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Test whether all elements are equal within tolerances."""
    return bool(functions["all"](isclose(a, b, rtol, atol, equal_nan)))


@public
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Test whether two arrays have the same shape and elements."""
    try:
        x, y = tensor(a1), tensor(a2)
    except HostOnlyError:
        raise
    except Exception:  # what is no array equals none, as in NumPy
        return False
    if x.shape != y.shape:
        return False
    x, y = chosen(box(x), box(y))
    same = tb.equal(x, y)
    if equal_nan and x.dtype.is_inexact:
        same = tb.logical_or(same, tb.logical_and(tb.isnan(x), tb.isnan(y)))
    return bool(tb.all(same))


@public
def array_equiv(a1: Any, a2: Any) -> bool:
    """Test whether two arrays have the same elements after broadcasting."""
    try:
        return bool(tb.all(tensor(functions["equal"](asarray(a1), asarray(a2)))))
    except tb.errors.ShapeError:
        return False


@public
def iscomplex(x: Any) -> Any:
    """Test whether each element has a nonzero imaginary part."""
    t = tensor(x)
    return result(tb.not_equal(tb.imag(t), 0) if t.dtype.is_complex else tb.zeros(t.shape, dtype=bool_))


@public
def isreal(x: Any) -> Any:
    """Test whether each element has the imaginary part 0."""
    return functions["logical_not"](iscomplex(x))


@public(home=False)
def iscomplexobj(x: Any) -> bool:
    """Test whether an array or a number has a complex dtype."""
    return tensor(x).dtype.is_complex


@public(home=False)
def isrealobj(x: Any) -> bool:
    """Test whether an array or a number has a dtype that is not complex."""
    return not iscomplexobj(x)


@function
def isposinf(x: Array, out: Out = None) -> Array:
    """Test whether each element is positive infinity."""
    return tb.equal(x, math.inf) if x.dtype.is_floating else _never(x)


@function
def isneginf(x: Array, out: Out = None) -> Array:
    """Test whether each element is negative infinity."""
    return tb.equal(x, -math.inf) if x.dtype.is_floating else _never(x)


def _never(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        raise TypeError(f"This operation is not supported for {x.dtype.name} values because it would be ambiguous.")
    return tb.zeros(x.shape, dtype=bool_)
