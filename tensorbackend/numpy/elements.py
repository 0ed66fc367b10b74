"""Functions of elements that NumPy has beside its universal functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import REAL_OF
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, replace, result, tensor_of
from .conversion import NUMBERS, asarray, back, cast, host, tensor
from .dtypes import dtype_of, numpy_dtype
from .functions import Array, Operand, Out, function, public
from .indexing import chosen
from .ufuncs import written


@public
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None,
    dtype: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """Each element moved between two bounds."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    x: Any = asarray(a)
    if low is None and high is None:
        made: Any = x if x.ndim else x[()]
    else:
        made = x if low is None else functions["maximum"](x, low)
        made = made if high is None else functions["minimum"](made, high)
    if out is not None:
        return written("clip", out, tensor(made), options.get("casting", "same_kind"))
    return made.copy() if made is x else made


@public
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Each element rounded to some decimals, ties to even."""
    x = tensor(a)
    decimals = operator.index(decimals)
    if x.dtype is tb.bool:
        x = cast(x, tb.float16)
    if x.dtype.is_complex:
        made = tb.complex(tensor(round(box(tb.real(x)), decimals)), tensor(round(box(tb.imag(x)), decimals)))
    elif x.dtype.is_integer:
        if decimals >= 0:
            made = tb.positive(x)
        else:
            scale = 10.0**-decimals
            made = cast(tb.round(cast(x, tb.float64) / scale) * scale, x.dtype)
    elif decimals == 0:
        made = tb.round(x)
    elif decimals > 0:
        scale = 10.0**decimals
        made = tb.round(x * scale) / scale
    else:
        scale = 10.0**-decimals
        made = tb.round(x / scale) * scale
    return result(made) if out is None else written("round", out, made)


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
    x = tb.abs(x if x.dtype.is_floating else cast(x, tb.float64))
    small, large = tb.minimum(x, 8.0), tb.maximum(x, 8.0)
    inner = _chebyshev(small / 2.0 - 2.0, numpy.lib._function_base_impl._i0A)
    outer = _chebyshev(32.0 / large - 2.0, numpy.lib._function_base_impl._i0B) / tb.sqrt(large)
    return tb.exp(x) * tb.where(x <= 8.0, inner, outer)


def _chebyshev(x: Tensor, coefficients: Any) -> Tensor:
    b0 = tb.full_like(x, float(coefficients[0]))
    b1 = b2 = tb.zeros_like(x)
    for each in coefficients[1:]:
        b2, b1 = b1, b0
        b0 = x * b1 - b2 + float(each)
    return 0.5 * (b0 - b2)


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
        made = tb.where(tb.isnan(t), _like(nan, t), t)
        made = tb.where(tb.equal(t, math.inf), _like(high, t), made)
        made = tb.where(tb.equal(t, -math.inf), _like(low, t), made)
    else:
        made = tb.positive(t) if t.dtype.is_numeric else tb.logical_or(t, False)
    if not copy and x.__class__ is ndarray:
        replace(x, made)
        return x
    return result(made)


def _like(value: Any, t: Tensor) -> Tensor:
    return cast(tensor(value), t.dtype)


@public
def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts if all imaginary parts are nearly 0, else the array."""
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
    z = z if z.dtype.is_inexact else cast(z, tb.float64)
    made = tb.atan2(tb.imag(z) if z.dtype.is_complex else tb.zeros_like(z), tb.real(z))
    return made * (180 / math.pi) if deg else made


@public
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are equal within tolerances."""
    x, y = chosen(asarray(a) if a.__class__ in NUMBERS else a, asarray(b) if b.__class__ in NUMBERS else b)
    if x.dtype.is_integer or x.dtype is tb.bool:
        x, y = cast(x, tb.float64), cast(y, tb.float64)
    if rtol.__class__ in (int, float) and atol.__class__ in (int, float):
        return result(tb.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))
    near = tb.abs(x - y) <= tensor(atol) + tensor(rtol) * tb.abs(y)
    made = tb.logical_or(tb.logical_and(near, tb.isfinite(y)), tb.equal(x, y))
    return result(tb.logical_or(made, tb.logical_and(tb.isnan(x), tb.isnan(y))) if equal_nan else made)


@public
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are equal within tolerances."""
    return bool(functions["all"](isclose(a, b, rtol, atol, equal_nan)))


@public
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements."""
    try:
        x, y = tensor(a1), tensor(a2)
    except tb.errors.TensorBackendError:
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
    """Whether two arrays have the same elements once they are broadcast."""
    try:
        return bool(tb.all(tensor(functions["equal"](asarray(a1), asarray(a2)))))
    except tb.errors.TensorBackendError:
        return False


@public
def iscomplex(x: Any) -> Any:
    """Whether each element has an imaginary part other than 0."""
    t = tensor(x)
    return result(tb.not_equal(tb.imag(t), 0) if t.dtype.is_complex else tb.zeros(t.shape, dtype=tb.bool))


@public
def isreal(x: Any) -> Any:
    """Whether each element has the imaginary part 0."""
    return functions["logical_not"](iscomplex(x))


@public
def iscomplexobj(x: Any) -> bool:
    """Whether an array or a number has a complex dtype."""
    return tensor(x).dtype.is_complex


@public
def isrealobj(x: Any) -> bool:
    """Whether an array or a number has a dtype that is not complex."""
    return not iscomplexobj(x)


@function
def isposinf(x: Array, out: Out = None) -> Array:
    """Whether each element is positive infinity."""
    return tb.equal(x, math.inf) if x.dtype.is_floating else _never(x)


@function
def isneginf(x: Array, out: Out = None) -> Array:
    """Whether each element is negative infinity."""
    return tb.equal(x, -math.inf) if x.dtype.is_floating else _never(x)


def _never(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        raise TypeError(f"This operation is not supported for {x.dtype.name} values because it would be ambiguous.")
    return tb.zeros(x.shape, dtype=tb.bool)


# Products and sums along axes


@public
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product of matrices and vectors; for more axes the sum over the last of a and the last but one of b."""
    x, y = a, b
    if x.__class__ is not ndarray or y.__class__ is not ndarray:
        if x.__class__ in NUMBERS or y.__class__ in NUMBERS:
            return functions["multiply"](x, y) if out is None else functions["multiply"](x, y, out=out)
        x, y = asarray(x), asarray(y)
    if x.ndim == 0 or y.ndim == 0:
        made = functions["multiply"](x, y)
    elif y.ndim < 3:
        made = functions["matmul"](x, y)
    else:
        made = tensordot(x, y, axes=([-1], [-2]))
    return made if out is None else written("dot", out, tensor(made))


@public
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of products of the elements, the first ones conjugated."""
    x, y = functions["ravel"](a), functions["ravel"](b)
    return functions["matmul"](functions["conjugate"](x) if x._template().dtype.is_complex else x, y)


@public
def inner(a: Any, b: Any, /) -> Any:
    """The sum of products over the last axes."""
    x, y = asarray(a), asarray(b)
    return functions["multiply"](x, y) if not (x.ndim and y.ndim) else tensordot(x, y, axes=([-1], [-1]))


@function
def outer(a: Array, b: Array, out: Out = None) -> Array:
    """Each element of one array times each of another."""
    x, y = _numeric(tb.reshape(a, (-1,)), tb.reshape(b, (-1,)))
    return tb.outer(x, y)


def _numeric(*parts: Tensor) -> list[Any]:
    """Tensors in their common dtype; bools among bools become ints."""
    made = chosen(*map(box, parts))
    return [cast(part, tb.int64) if part.dtype is tb.bool else part for part in made]


@public
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes."""
    x, y = _numeric(tensor(a), tensor(b))
    if isinstance(axes, int):
        return result(tb.tensordot(x, y, axes=axes))
    pairs = [
        [int(each) for each in (axis if isinstance(axis, tuple | list) or hasattr(axis, "__len__") else (axis,))]
        for axis in axes
    ]
    return result(tb.tensordot(x, y, axes=(pairs[0], pairs[1])))


@public
def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False
) -> Any:
    """Sums of products over axes that share a letter."""
    if isinstance(operands[0], str):
        text, parts = operands[0].replace(" ", ""), operands[1:]
    else:
        parts = operands[: len(operands) // 2 * 2 : 2]
        places = operands[1 : len(operands) // 2 * 2 : 2]
        text = ",".join(map(_letters, places))
        if len(operands) % 2:
            text += f"->{_letters(operands[-1])}"
    given = [tensor(each) for each in parts]
    if dtype is not None:
        given = [cast(each, dtype_of(dtype)) for each in given]
    bools = all(each.dtype is tb.bool for each in given)
    made = tb.einsum(text, *_numeric(*given))
    made = cast(made, tb.bool) if bools else made
    return result(made) if out is None else written("einsum", out, made)


def _letters(axes: Any) -> str:
    return "".join("..." if each is Ellipsis else chr(97 + each) if each < 26 else chr(39 + each) for each in axes)


@public
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order in which NumPy would contract."""
    return numpy.einsum_path(*[host(each) for each in operands], optimize=optimize)


@function
def kron(a: Array, b: Array) -> Array:
    """The Kronecker product."""
    x, y = _numeric(a, b)
    ndim = max(x.ndim, y.ndim)
    x = tb.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
    y = tb.reshape(y, (1,) * (ndim - y.ndim) + y.shape)
    wide = tb.reshape(x, [n for size in x.shape for n in (size, 1)]) * tb.reshape(
        y, [n for size in y.shape for n in (1, size)]
    )
    return tb.reshape(wide, [n * m for n, m in zip(x.shape, y.shape, strict=True)])


@public
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = chosen(functions["moveaxis"](asarray(a), axisa, -1), functions["moveaxis"](asarray(b), axisb, -1))
    sizes = x.shape[-1], y.shape[-1]
    if not {*sizes} <= {2, 3}:
        text = "Both input arrays must be (arrays of) 3-dimensional vectors, but they are"
        raise ArgumentError(f"{text} {sizes[0]} and {sizes[1]} dimensional instead.")
    if sizes == (2, 2):
        return result(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
    parts = [
        each if each.shape[-1] == 3 else tb.concatenate([each, tb.zeros_like(each[..., :1])], axis=-1)
        for each in (x, y)
    ]
    made = tb.linalg.cross(*tb.broadcast_arrays(*parts), axis=-1)
    return functions["moveaxis"](box(made), -1, axisc) if axisc != -1 else result(made)


@function
def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Out = None) -> Array:
    """The sum of a diagonal."""
    line = tensor(functions["diagonal"](box(a), offset, axis1, axis2))
    return tb.sum(cast(line, dtype_of(dtype)) if dtype is not None else line, axis=-1)


def _running(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def running(a: Array, axis: Any = None, dtype: Any = None, out: Out = None) -> Array:
        x = tb.reshape(a, (-1,)) if axis is None else a
        wanted = x.dtype if dtype is None else dtype_of(dtype)
        if dtype is None and (wanted is tb.bool or wanted.kind in ("int", "uint")):
            wanted = tb.uint64 if wanted.kind == "uint" else tb.int64
        return op(cast(x, wanted), axis=0 if axis is None else operator.index(axis), dtype=wanted)

    running.__doc__ = op.__doc__
    return running


cumsum = function(_running(tb.cumulative_sum), name="cumsum")
cumprod = function(_running(tb.cumulative_prod), name="cumprod")


@public
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis."""
    return _cumulative(x, axis, dtype, out, include_initial, cumsum, 0)


@public
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis."""
    return _cumulative(x, axis, dtype, out, include_initial, cumprod, 1)


def _cumulative(x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool, running: Any, start: int) -> Any:
    array = asarray(x)
    if axis is None:
        if array.ndim > 1:
            raise ArgumentError("For arrays which have more than one dimension ``axis`` argument is required.")
        array, axis = array.reshape(-1) if not array.ndim else array, 0
    made = running(array, axis, dtype)
    if include_initial:
        shape = list(made.shape)
        shape[axis] = 1
        made = functions["concatenate"]([functions["full"](tuple(shape), start, made.dtype), made], axis)
    return made if out is None else written("cumulative", out, tensor(made))


@public
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis."""
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    x = asarray(a)
    if not n:
        return x
    if not x.ndim:
        raise ArgumentError("diff requires input that is at least one dimensional")
    axis = axis + x.ndim if axis < 0 else axis
    if axis >= x.ndim:
        raise tb.errors.AxisError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    parts = [x]
    for place, more in ((0, prepend), (len(parts) + 1, append)):
        if more is not None:
            extra = asarray(more)
            if not extra.ndim:
                shape = list(x.shape)
                shape[axis] = 1
                extra = functions["broadcast_to"](extra, tuple(shape))
            parts.insert(place, extra)
    x = functions["concatenate"](parts, axis) if len(parts) > 1 else x
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = functions["not_equal"](later, earlier) if x._template().dtype is tb.bool else later - earlier
    return x


@public
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours of the flat array, with more at its ends."""
    x = functions["ravel"](ary)
    made = x[1:] - x[:-1]
    for extra in (to_begin, to_end):
        if extra is not None and not numpy.can_cast(asarray(extra).dtype, x.dtype, "same_kind"):
            raise TypeError("dtype of `to_end` must be compatible with input `ary` under the `same_kind` rule.")
    parts = [functions["ravel"](to_begin).astype(x.dtype)] if to_begin is not None else []
    parts += [made]
    parts += [functions["ravel"](to_end).astype(x.dtype)] if to_end is not None else []
    return functions["concatenate"](parts) if len(parts) > 1 else made


@public
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slope along each axis by central differences."""
    x = asarray(f)
    if not x._template().dtype.is_inexact:
        x = x.astype(float)
    axes = range(x.ndim) if axis is None else [each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))]
    axes = list(axes)
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and numpy.ndim(host(spacings[0])) == 0:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ArgumentError("'edge_order' greater than 2 not supported")
    made = [_slope(x, place, spacing, edge_order) for place, spacing in zip(axes, spacings, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)


def _slope(x: ndarray, axis: int, spacing: Any, edge_order: int) -> Any:
    if x.shape[axis] < edge_order + 1:
        text = "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements"
        raise ArgumentError(f"{text} are required.")
    before = (slice(None),) * axis

    def at(part: Any) -> Any:
        return x[(*before, part)]

    if numpy.ndim(host(spacing)) == 0:
        h = spacing
        inner_ = (at(slice(2, None)) - at(slice(None, -2))) / (2.0 * h)
        if edge_order == 1:
            first, last = (at(slice(1, 2)) - at(slice(0, 1))) / h, (at(slice(-1, None)) - at(slice(-2, -1))) / h
        else:
            first = (-1.5 * at(slice(0, 1)) + 2.0 * at(slice(1, 2)) - 0.5 * at(slice(2, 3))) / h
            last = (0.5 * at(slice(-3, -2)) - 2.0 * at(slice(-2, -1)) + 1.5 * at(slice(-1, None))) / h
        return functions["concatenate"]([first, inner_, last], axis)
    steps = asarray(spacing)
    if steps.ndim != 1 or steps.shape[0] != x.shape[axis]:
        raise ArgumentError("when 1d, distances must match the length of the corresponding dimension")
    gaps = steps[1:] - steps[:-1]
    shape = [1] * x.ndim
    shape[axis] = -1
    one, two = gaps[:-1].reshape(shape), gaps[1:].reshape(shape)
    inner_ = (-two / (one * (one + two))) * at(slice(None, -2)) + ((two - one) / (one * two)) * at(slice(1, -1)) + (
        one / (two * (one + two))) * at(slice(2, None))  # fmt: skip
    if edge_order == 1:
        first, last = (
            (at(slice(1, 2)) - at(slice(0, 1))) / gaps[0],
            (at(slice(-1, None)) - at(slice(-2, -1))) / gaps[-1],
        )
    else:
        a, b = gaps[0], gaps[1]
        first = (
            -(2.0 * a + b) / (a * (a + b)) * at(slice(0, 1))
            + (a + b) / (a * b) * at(slice(1, 2))
            - a / (b * (a + b)) * at(slice(2, 3))
        )
        a, b = gaps[-2], gaps[-1]
        last = (
            b / (a * (a + b)) * at(slice(-3, -2))
            - (b + a) / (a * b) * at(slice(-2, -1))
            + (2.0 * b + a) / (b * (a + b)) * at(slice(-1, None))
        )
    return functions["concatenate"]([first, inner_, last], axis)


@public
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    values = asarray(y)
    if x is None:
        d: Any = dx
    else:
        places = asarray(x)
        d = diff(places, axis=axis if places.ndim > 1 else -1)
        if places.ndim == 1:
            shape = [1] * values.ndim
            shape[axis] = d.shape[0]
            d = d.reshape(tuple(shape))
    before = (slice(None),) * (axis % values.ndim)
    return functions["sum"](d * (values[(*before, slice(1, None))] + values[(*before, slice(None, -1))]) / 2.0, axis)


@public
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Angles without jumps between neighbours."""
    x = asarray(p)
    jumps = diff(x, axis=axis)
    limit = period / 2 if discont is None else discont
    whole = x._template().dtype.is_integer and isinstance(period, int)
    high = period // 2 if whole else period / 2
    low = -high
    shifted = functions["remainder"](jumps - low, period) + low
    if not whole or period % 2 == 0:
        shifted = functions["where"](functions["logical_and"](shifted == low, jumps > 0), high, shifted)
    correction = functions["where"](abs(jumps) < limit, 0, shifted - jumps)
    made = functions["array"](x, float if not whole and not x._template().dtype.is_inexact else None)
    before = (slice(None),) * (axis % x.ndim)
    made[(*before, slice(1, None))] = x[(*before, slice(1, None))] + cumsum(correction, axis)
    return made


@public
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values between given points, linearly."""
    places, values = cast(tensor(xp), tb.float64), tensor(fp)
    values = values if values.dtype.is_complex else cast(values, tb.float64)
    t = cast(tensor(x), tb.float64)
    if places.ndim != 1 or values.ndim != 1:
        raise ArgumentError("Data points must be 1-D sequences")
    if not places.shape[0]:
        raise ArgumentError("array of sample points is empty")
    if places.shape != values.shape:
        raise ArgumentError("fp and xp are not of the same length.")
    if period is not None:
        if period == 0:
            raise ArgumentError("period must be a non-zero value")
        period = abs(period)
        t, places = tb.remainder(t, period), tb.remainder(places, period)
        order = tb.argsort(places)
        places, values = places[order], values[order]
        places = tb.concatenate([places[-1:] - period, places, places[:1] + period])
        values = tb.concatenate([values[-1:], values, values[:1]])
        left = right = None
    count = places.shape[0]
    if count == 1:
        made = tb.where(tb.isnan(t), t, values[0])
    else:
        after = tb.clip(tb.searchsorted(places, t, side="right"), 1, count - 1)
        first, last = tb.take(places, after - 1, axis=0), tb.take(places, after, axis=0)
        low, high = tb.take(values, after - 1, axis=0), tb.take(values, after, axis=0)
        gap = last - first
        slope = (high - low) / tb.where(tb.equal(gap, 0), 1.0, gap)
        made = low + slope * (t - first)
        made = tb.where(tb.equal(t, last), high, made)
    made = tb.where(t < places[0], values[0] if left is None else left, made)
    return result(tb.where(t > places[-1], values[-1] if right is None else right, made))


@public
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two sequences."""
    x, y = functions["atleast_1d"](a), functions["atleast_1d"](v)
    if x.ndim != 1 or y.ndim != 1:
        raise ArgumentError("object too deep for desired array")
    if not x.size:
        raise ArgumentError("a cannot be empty")
    if not y.size:
        raise ArgumentError("v cannot be empty")
    if y.size > x.size:
        x, y = y, x
    return _correlated(x, y[::-1], mode)


@public
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The cross-correlation of two sequences."""
    x, y = functions["atleast_1d"](a), functions["atleast_1d"](v)
    if not x.size or not y.size:
        raise ArgumentError(
            "first array argument cannot be empty" if not x.size else "second array argument cannot be empty"
        )
    y = functions["conjugate"](y) if y._template().dtype.is_complex else y
    if y.size > x.size:
        return _correlated(y, x, mode)[::-1]
    return _correlated(x, y, mode)


def _correlated(x: ndarray, y: ndarray, mode: str) -> Any:
    """sum_k x[n + k] y[k] for a y that is no longer than x."""
    modes = {"full": y.size - 1, "same": y.size - 1, "valid": 0, "f": y.size - 1, "s": y.size - 1, "v": 0}
    if mode not in modes:
        raise ArgumentError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    signal, kernel = chosen(x, y)
    bools = signal.dtype is tb.bool
    if bools:
        signal, kernel = cast(signal, tb.int64), cast(kernel, tb.int64)
    width, count = modes[mode], kernel.shape[0]
    wide = tb.pad(signal, [(width, width)])
    if count == 1:
        made = wide * kernel
    else:
        rows = tb.reshape(tb.iota((wide.shape[0] - count + 1,)), (-1, 1)) + tb.iota((count,))
        made = tb.matmul(tb.take(wide, rows, axis=0), kernel)
    if mode in ("same", "s"):
        start = (count - 1) // 2 if signal is not None else 0
        made = (
            made[count - 1 - start :][: signal.shape[0]] if (count % 2) else made[count // 2 - 1 :][: signal.shape[0]]
        )
    return box(cast(made, tb.bool) if bools else made)


_ = (Operand, REAL_OF, back)
