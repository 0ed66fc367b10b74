"""Oracles of functions of single elements that need no approximation: arithmetic, comparisons, bits, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call
from tensorbackend.testing.magnitudes import columns
from tensorbackend.testing.strategies import Draw, broadcastable, elements, tensors

from .table import FLOATING, INEXACT, INTEGER, Recorder, law, reference, wide

# Operands as the function sees them


def common(*dtypes: DType) -> str:
    """The name of the dtype to which operands are promoted, by the standard's tables and docs/semantics.md."""
    if any(dtype.is_complex for dtype in dtypes):
        double = any(dtype.name in ("float64", "complex128") for dtype in dtypes)
        return "complex128" if double else "complex64"
    floating = {dtype.name for dtype in dtypes if dtype.is_floating}
    if floating:
        return "float32" if floating == {"float16", "bfloat16"} else max(floating, key=lambda name: int(name[-2:]))
    return numpy.result_type(*(dtype.name for dtype in dtypes)).name


def promoted(call: Invocation) -> list[Any]:
    """The operands in their common dtype, floats and complex numbers then in double precision."""
    operands = call.tensors
    name = common(*(x.dtype for x in operands))
    return [rounded(wide(x), name) for x in operands]


def rounded(x: Any, name: str) -> Any:
    """Elements rounded to the named dtype, narrow ones in double precision again."""
    narrow = x.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    return narrow.astype({"f": "f8", "V": "f8", "c": "c16"}.get(narrow.dtype.kind, narrow.dtype))


def double(x: Any) -> Any:
    """Integers and bools as floats of the default dtype, float32, which functions make of them first."""
    return x if x.dtype.kind in "fc" else x.astype("f4").astype("f8")


def unjudged(value: Any, where: Any) -> Any:
    """A result of which some elements are not judged, with the reason where it is called."""
    return numpy.ma.masked_array(value, numpy.broadcast_to(where, numpy.shape(value)))


def of_parts(real: Any, imag: Any) -> Any:
    """A complex array; unlike `real + 1j * imag`, it keeps infinite parts."""
    return numpy.stack([real, imag], -1).view(complex)[..., 0]


# Functions of one operand

EXACT: dict[str, Callable[[Any], Any]] = {
    "bitwise_invert": lambda x: ~x,
    "ceil": lambda x: numpy.ceil(x) if x.dtype.kind == "f" else x,
    "conj": numpy.conj,
    "count_leading_zeros": lambda x: bit_counts(x, leading=True),
    "floor": lambda x: numpy.floor(x) if x.dtype.kind == "f" else x,
    "imag": numpy.imag,
    "isfinite": numpy.isfinite,
    "isinf": numpy.isinf,
    "isnan": numpy.isnan,
    "logical_not": numpy.logical_not,
    "negative": numpy.negative,
    "population_count": lambda x: bit_counts(x, leading=False),
    "positive": lambda x: x,
    "real": numpy.real,
    "round": numpy.round,
    "signbit": numpy.signbit,
    "square": lambda x: unjudged(x * x, ~numpy.isfinite(x * x)) if x.dtype.kind == "c" else x * x,
    "stop_gradient": lambda x: x,
    "trunc": lambda x: numpy.trunc(x) if x.dtype.kind == "f" else x,
}


def bit_counts(x: Any, *, leading: bool) -> Any:
    """The number of leading zeros, or of ones, of each integer, digit by digit."""
    bits = 8 * x.dtype.itemsize
    texts = [f"{number % (1 << bits):0{bits}b}" for number in x.ravel().tolist()]
    counts = [len(text) - len(text.lstrip("0")) if leading else text.count("1") for text in texts]
    return numpy.array(counts, x.dtype).reshape(x.shape)


for _name, _function in EXACT.items():
    reference(_name, by="NumPy")(_function)


@reference("abs", by="NumPy")
def abs_(x: Any, /) -> Any:
    return numpy.abs(x)


@reference("phase", by="NumPy")
def phase(x: Any, /) -> Any:
    return numpy.arctan2(numpy.imag(double(x)), numpy.real(double(x)))


@reference("sign", by="NumPy")
def sign(x: Any, /) -> Any:
    if x.dtype.kind != "c":
        return numpy.sign(x)
    # Scaled first, so that the magnitude neither overflows nor underflows.
    _, exponent = numpy.frexp(numpy.maximum(numpy.abs(x.real), numpy.abs(x.imag)))
    scaled = numpy.ldexp(x.real, -exponent) + 1j * numpy.ldexp(x.imag, -exponent)
    return unjudged(numpy.where(x == 0, 0, scaled / numpy.abs(scaled)), ~numpy.isfinite(x))


# Functions of two operands

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": numpy.add,
    "atan2": numpy.arctan2,
    "bitwise_and": numpy.bitwise_and,
    "bitwise_or": numpy.bitwise_or,
    "bitwise_xor": numpy.bitwise_xor,
    "copysign": numpy.copysign,
    "equal": numpy.equal,
    "greater": numpy.greater,
    "greater_equal": numpy.greater_equal,
    "hypot": numpy.hypot,
    "less": numpy.less,
    "less_equal": numpy.less_equal,
    "logaddexp": numpy.logaddexp,
    "not_equal": numpy.not_equal,
    "subtract": numpy.subtract,
}
INEXACT_OF_TWO = {"atan2", "hypot", "logaddexp"}

for _name, _of_two in ARITHMETIC.items():

    def _judge(call: Invocation, name: str = _name, function: Callable[[Any, Any], Any] = _of_two) -> Any:
        x1, x2 = promoted(call)
        return function(double(x1), double(x2)) if name in INEXACT_OF_TWO else function(x1, x2)

    reference(_name, by="NumPy", raw=True)(_judge)


@reference("maximum", by="NumPy", raw=True)
def maximum(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    out = numpy.maximum(x1, x2)
    # 0.0 is greater than -0.0, which NumPy leaves open.
    both = (x1 == 0) & (x2 == 0)
    return numpy.where(both, numpy.add(x1, x2), out) if out.dtype.kind == "f" else out


@reference("minimum", by="NumPy", raw=True)
def minimum(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    out = numpy.minimum(x1, x2)
    both = (x1 == 0) & (x2 == 0)
    return numpy.where(both, -numpy.add(-x1, -x2), out) if out.dtype.kind == "f" else out


@reference("multiply", by="NumPy", raw=True)
def multiply(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    if x1.dtype.kind != "c":
        return numpy.multiply(x1, x2)
    out = numpy.empty(numpy.broadcast_shapes(x1.shape, x2.shape), complex)
    out.real = x1.real * x2.real - x1.imag * x2.imag
    out.imag = x1.real * x2.imag + x1.imag * x2.real
    # In double precision the products themselves may overflow where the result does not.
    return unjudged(out, ~numpy.isfinite(out))


@reference("divide", "divide_no_nan", by="NumPy", raw=True)
def divide(call: Invocation) -> Any:
    x1, x2 = map(double, promoted(call))
    out = numpy.divide(x1, x2)
    if out.dtype.kind == "c":
        out = unjudged(out, ~(numpy.isfinite(out) & numpy.isfinite(x1) & numpy.isfinite(x2)))
    return out if call.name == "divide" else numpy.ma.where(x2 == 0, 0, out)  # type: ignore[no-untyped-call] # untyped in NumPy


@reference("pow", by="NumPy", raw=True)
def pow_(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    if x1.dtype.kind in "iu":
        return integer_powers(x1, x2)
    out = numpy.power(x1, x2)
    if out.dtype.kind == "c":  # where the exponent of e is large its error is magnified: see the bound
        size = numpy.abs(x2 * numpy.log(numpy.where(x1 == 0, 1, x1)))
        return unjudged(out, ~((size < 6) & numpy.isfinite(out) & (x1 != 0)))
    return out


def integer_powers(x1: Any, x2: Any) -> Any:
    """Powers of integers, wrapped to their dtype; 1 / x ** n rounded towards zero for a negative n, 0 for a base 0."""
    base, power = numpy.broadcast_arrays(x1, x2)
    bits = 8 * base.dtype.itemsize
    results = []
    for number, exponent in zip(base.ravel().tolist(), power.ravel().tolist(), strict=True):
        if exponent < 0:
            results.append({1: 1, -1: 1 if exponent % 2 == 0 else -1}.get(number, 0))
        else:
            results.append(pow(number, exponent, 1 << bits))
    unsigned = numpy.array([result % (1 << bits) for result in results], f"u{bits // 8}")
    return unsigned.astype(base.dtype).reshape(base.shape)


def quotients(call: Invocation, function: Callable[[Any, Any], Any], of_zero: int = 0) -> Any:
    """Quotients or remainders; those of integers by 0 are 0."""
    x1, x2 = promoted(call)
    if x1.dtype.kind == "f":
        return unjudged(function(x1, x2), ~numpy.isfinite(x1) | ~numpy.isfinite(x2) | (x2 == 0))
    return numpy.where(x2 == 0, numpy.array(of_zero, x1.dtype), function(x1, x2))


@reference("floor_divide", by="NumPy", raw=True)
def floor_divide(call: Invocation) -> Any:
    return quotients(call, numpy.floor_divide)


@reference("remainder", by="NumPy", raw=True)
def remainder(call: Invocation) -> Any:
    return quotients(call, numpy.remainder)


@reference("fmod", by="NumPy", raw=True)
def fmod(call: Invocation) -> Any:
    return quotients(call, numpy.fmod)


@reference("trunc_divide", by="NumPy", raw=True)
def trunc_divide(call: Invocation) -> Any:
    def towards_zero(x1: Any, x2: Any) -> Any:
        if x1.dtype.kind == "f":
            rest = numpy.fmod(x1, x2)
            return numpy.trunc(numpy.round((x1 - rest) / x2))
        return numpy.floor_divide(x1 - numpy.fmod(x1, x2), x2)

    return quotients(call, towards_zero)


def _shift(call: Invocation, function: Callable[[Any, Any], Any]) -> Any:
    """Shifts, by the width or more to 0 or to -1 for negative numbers shifted to the right."""
    x, amount = promoted(call)
    bits = 8 * x.dtype.itemsize
    negative = numpy.array(0, x.dtype) if function is numpy.left_shift else numpy.where(x < 0, -1, 0).astype(x.dtype)
    return numpy.where(amount >= bits, negative, function(x, numpy.minimum(amount, numpy.array(bits - 1, x.dtype))))


@reference("bitwise_left_shift", by="NumPy", raw=True, dtypes=INTEGER)
def bitwise_left_shift(call: Invocation) -> Any:
    return _shift(call, numpy.left_shift)


@reference("bitwise_right_shift", by="NumPy", raw=True, dtypes=INTEGER)
def bitwise_right_shift(call: Invocation) -> Any:
    return _shift(call, numpy.right_shift)


@reference("nextafter", by="definition", raw=True)
def nextafter(call: Invocation) -> Any:
    x1, x2 = map(double, promoted(call))
    name = common(*(x.dtype for x in call.tensors))
    name = name if "float" in name else "float32"
    ours: Any = ml_dtypes.bfloat16 if name == "bfloat16" else name
    return numpy.nextafter(x1.astype(ours), x2.astype(ours)).astype("f8")


@reference("logical_and", by="NumPy")
def logical_and(x1: Any, x2: Any, /) -> Any:
    return numpy.logical_and(x1, x2)


@reference("logical_or", by="NumPy")
def logical_or(x1: Any, x2: Any, /) -> Any:
    return numpy.logical_or(x1, x2)


@reference("logical_xor", by="NumPy")
def logical_xor(x1: Any, x2: Any, /) -> Any:
    return numpy.logical_xor(x1, x2)


@reference("isclose", by="NumPy", raw=True)
def isclose(call: Invocation) -> Any:
    x1, x2 = promoted(call)
    options = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False, **call.options}
    near = numpy.isclose(double(x1), double(x2), **options)
    # A distance that equals the bound up to rounding is judged either way.
    error, allowed = numpy.abs(double(x1) - double(x2)), options["atol"] + options["rtol"] * numpy.abs(double(x2))
    return unjudged(near, numpy.isclose(error, allowed, rtol=1e-2, atol=0) & (error > 0))


# Functions of several operands, casts


@reference("where", by="NumPy", raw=True)
def where(call: Invocation) -> Any:
    condition, *operands = call.tensors
    name = common(*(x.dtype for x in operands))
    return numpy.where(wide(condition), *(rounded(wide(x), name) for x in operands))


def _draw_clip(draw: Draw, dtype: DType) -> Invocation:
    """Bounds as tensors that broadcast, as numbers, or none; a lower bound beyond the upper one too."""
    x, low, high = draw(broadcastable([dtype] * 3))
    number = elements(dtype).filter(lambda value: value == value)
    bounds = [draw(st.sampled_from([bound, None, draw(number)])) for bound in (low, high)]
    return call(x, *bounds) if draw(st.booleans()) else call(x, min=bounds[0], max=bounds[1])


@reference("clip", by="definition", draw=_draw_clip, dtypes=[*FLOATING, *INTEGER])
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    for bound, function in ((min, numpy.maximum), (max, numpy.minimum)):
        if bound is not None:
            x = function(x, numpy.asarray(bound, x.dtype))
    # A zero at a bound that is a zero of the other sign may have either sign.
    return unjudged(x, x == 0) if x.dtype.kind == "f" else x


def _draw_parts(draw: Draw, dtype: DType) -> Invocation:
    return call(*draw(broadcastable([dtype, dtype])))


@reference("complex", by="NumPy", draw=_draw_parts, dtypes=[tb.float32, tb.float64])
def complex_(real: Any, imag: Any, /) -> Any:
    out = numpy.empty(numpy.broadcast_shapes(real.shape, imag.shape), complex)
    out.real, out.imag = real, imag
    return out


def _draw_scaled(draw: Draw, dtype: DType) -> Invocation:
    return call(draw(tensors(dtype)), draw(st.sampled_from([0.0, -1.0, 2.5])))


@reference("scaled_gradient", by="definition", draw=_draw_scaled, dtypes=INEXACT)
def scaled_gradient(x: Any, /, scale: float) -> Any:
    return x


def _draw_cast(draw: Draw, dtype: DType) -> Invocation:
    target = draw(st.sampled_from(ALL_DTYPES))
    (x,) = draw(columns(dtype)) if draw(st.booleans()) else [draw(tensors(dtype))]
    return call(x, target, **draw(st.sampled_from([{}, {"copy": False}, {"copy": True}])))


@reference("astype", by="definition", draw=_draw_cast, raw=True, fixed={"device": "one device here"})
def astype(call: Invocation) -> Any:
    return cast(wide(call.tensors[0]), call.arguments[1])


def cast(x: Any, dtype: DType) -> Any:
    """Elements in a dtype, those of a narrow float as doubles; a float saturates in integer dtypes, and NaN is 0."""
    if dtype.kind == "bool":
        return x.astype(bool)
    if dtype.is_complex:
        return x.astype("c16")
    if dtype.is_floating:
        return x.real.astype("f8")
    if x.dtype.kind in "bui":
        return x.astype(dtype.name)
    limits = numpy.iinfo(dtype.name)
    bounded = numpy.clip(numpy.nan_to_num(x.real, nan=0.0), -(2.0**70), 2.0**70).ravel().tolist()
    numbers = [max(limits.min, min(limits.max, int(number))) for number in bounded]
    return numpy.array(numbers, dtype.name).reshape(x.shape)


@reference("bitcast", by="NumPy", raw=True)
def bitcast(call: Invocation) -> Any:
    x, target = call.tensors[0], call.arguments[1]
    ours: Any = ml_dtypes.bfloat16 if target.name == "bfloat16" else target.name
    out = numpy.frombuffer(x.to_binary(), ours).reshape(x.shape)
    return out.astype("f8") if target.is_floating else out


@law("gcd", "lcm", by="NumPy")
def divisors(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = draw(st.sampled_from([dtype for dtype in INTEGER if dtype.bits > 8]))
    low = -60 if dtype.kind == "int" else 0
    x1, x2 = (draw(tensors(dtype, shape, names=(None,) * len(shape), values=st.integers(low, 120)))
              for shape in draw(st.sampled_from([((5,), (5,)), ((3, 1), (4,)), ((), ())])))  # fmt: skip
    got = run(x1.backend_copy(backend), x2.backend_copy(backend))
    wanted = getattr(numpy, run.name)(numpy.asarray(x1), numpy.asarray(x2))
    assert (got.dtype, got.tolist()) == (dtype, wanted.tolist()), f"{run.name}({x1!r}, {x2!r}): got {got!r}"
