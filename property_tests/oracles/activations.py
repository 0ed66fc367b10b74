"""Oracles of activations and of small parts of networks."""

from __future__ import annotations

import math
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation, calls
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .table import FLOATING, INTEGER, NUMERIC, law, named, reference, wide

SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def real(x: Any) -> Any:
    """Integers and bools as doubles."""
    return x.astype(float)


@reference("nn.relu", by="NumPy")
def relu(x: Any, /) -> Any:
    return numpy.maximum(x, numpy.zeros((), x.dtype))


def with_option(name: str, option: str) -> Any:
    """The kit's calls with more values of a number that is an option."""

    def draw_call(draw: Draw, dtype: DType) -> Invocation:
        call: Invocation = draw(calls(name, dtype))
        return call._replace(options={option: draw(st.sampled_from([0.01, 1.0, 0.5, 2.0, 0.0, -1.5]))})

    return draw_call


# A Python number is rounded to float32 first, in which f16, bf16 and f32 are computed.
ROUNDED = Bound(4, "a function with a few ulps, times a rounded number")


@reference("nn.leaky_relu", by="NumPy", draw=with_option("leaky_relu", "slope"), bound=Bound(2, "a rounded slope"))
def leaky_relu(x: Any, /, *, slope: float = 0.01) -> Any:
    return numpy.where(real(x) > 0, x, real(x) * slope)


@reference("nn.elu", by="NumPy", draw=with_option("elu", "alpha"), bound=ROUNDED)
def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    return numpy.where(real(x) > 0, x, numpy.expm1(numpy.where(real(x) > 0, 0, real(x))) * alpha)


@reference("nn.selu", by="NumPy")
def selu(x: Any, /) -> Any:
    scale, alpha = SELU
    return scale * numpy.where(real(x) > 0, x, numpy.expm1(numpy.where(real(x) > 0, 0, real(x))) * alpha)


def gated(x: Any, gate: Any) -> Any:
    """x times a gate, with the limit 0 at -inf."""
    return numpy.where(x == -math.inf, -0.0, x * gate)


@reference("nn.silu", by="SciPy")
def silu(x: Any, /) -> Any:
    root = numpy.exp(0.5 * numpy.minimum(real(x), 0.0))  # where the sigmoid of float64 would be subnormal
    return numpy.where(real(x) < -700, gated(real(x), root) * root, gated(real(x), scipy.special.expit(real(x))))


@reference("nn.gelu", by="SciPy")
def gelu(x: Any, /, *, approximate: bool = False) -> Any:
    x = real(x)
    if not approximate:
        # With 64-bit significands where the gate is tiny, as exp(-x * x / 2) magnifies the rounding of its argument.
        square = numpy.longdouble(x) * numpy.longdouble(x) / 2
        tail = x / 2 * numpy.exp(-square) * scipy.special.erfcx(numpy.clip(-x, 0, None) / math.sqrt(2))
        tail = numpy.where(x == -math.inf, -0.0, tail).astype(float)
        return numpy.where(x < -4, tail, x * scipy.special.ndtr(x))
    near = numpy.clip(x, -40, 40)
    return gated(x, scipy.special.expit(2 * math.sqrt(2 / math.pi) * (near + 0.044715 * near**3)))


@reference("nn.softplus", by="NumPy")
def softplus(x: Any, /) -> Any:
    return numpy.logaddexp(real(x), 0)


@reference("nn.log_sigmoid", by="SciPy")
def log_sigmoid(x: Any, /) -> Any:
    return scipy.special.log_expit(real(x))


@reference("nn.hard_tanh", by="NumPy")
def hard_tanh(x: Any, /) -> Any:
    return numpy.clip(real(x), -1, 1)


# x + 3 cancels near -3.
HARD = Bound(8, "a few steps", "operand")


@reference("nn.hard_sigmoid", by="NumPy", bound=HARD)
def hard_sigmoid(x: Any, /) -> Any:
    return numpy.clip(real(x) / 6 + 0.5, 0, 1)


@reference("nn.hard_silu", by="NumPy", bound=HARD)
def hard_silu(x: Any, /) -> Any:
    return gated(real(x), numpy.clip(real(x) / 6 + 0.5, 0, 1))


# Parts

GATES = {tb.sigmoid: scipy.special.expit, tb.tanh: numpy.tanh, tb.nn.silu: silu, tb.nn.relu: relu, tb.nn.gelu: gelu}


def glu_call(draw: Draw, dtype: DType) -> Invocation:
    """The kit's calls with several gates."""
    call: Invocation = draw(calls("glu", dtype))
    gate = draw(st.sampled_from(list(GATES)))
    if dtype.is_complex or draw(st.booleans()):
        return call
    return call._replace(options={**call.options, "gate": gate})


# The gate is rounded to the dtype before the product.
@reference("nn.glu", by="SciPy", draw=glu_call, dtypes=FLOATING, bound=Bound(512, "a gate, gelu among them"), narrow=2)
def glu(x: Any, /, *, axis: int = -1, gate: Any = tb.sigmoid) -> Any:
    value, control = numpy.split(x, 2, axis)
    return value * GATES[gate](control)


def one_hot_call(draw: Draw, dtype: DType) -> Invocation:
    """Indices within the size and outside of it, with the new axis at every position."""
    call: Invocation = draw(calls("one_hot", dtype))
    options = {**call.options, "name": draw(st.sampled_from([None, "class"]))}
    return call._replace(options={**options, "dtype": draw(st.none() | st.sampled_from(ALL_DTYPES))})


@reference("nn.one_hot", by="NumPy", draw=one_hot_call, dtypes=INTEGER, raw=True)
def one_hot(call: Invocation) -> Any:
    indices, size = call.arguments
    axis, dtype = call.options.get("axis", -1), call.options["dtype"] or tb.float32
    at = axis % (indices.ndim + 1)
    array = numpy.expand_dims(wide(indices), at)
    shape = [size if place == at else 1 for place in range(array.ndim)]
    equal = array == numpy.arange(size, dtype=array.dtype if size < 100 else "i8").reshape(shape)
    kind = {"float": "f8", "complex": "c16"}.get(dtype.kind, dtype.name)
    return named(equal.astype(kind), (*indices.names[:at], call.options["name"], *indices.names[at:]))


@law("nn.dropout", by="definition")
def dropout(draw: Draw, run: Any, backend: Backend) -> None:
    dtype = draw(st.sampled_from(NUMERIC))
    rate = draw(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
    large = draw(st.integers(0, 3)) == 0
    x = draw(tensors(dtype, (40, 50) if large else shapes(), tame=True, values=st.just(3) if large else None))
    axis = draw(st.none() | (st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none()))
    key = tb.random.key(draw(st.integers(0, 2**40)), backend=backend)
    got = run(key, tb.backend_copy(x, backend), rate, axis=axis)
    assert (got.shape, got.names) == (x.shape, x.names)
    assert got.dtype is (dtype if dtype.is_inexact else tb.float32)
    given, result = wide(x), wide(got)
    with numpy.errstate(all="ignore"):
        kept = given / (1 - rate) if rate < 1 else given * 0
    fine = numpy.isclose(result, kept, rtol=2 * tb.finfo(got.dtype).eps, atol=1e-30, equal_nan=True)
    dropped = result == 0
    assert (fine | dropped | ~numpy.isfinite(given)).all(), f"{x!r}: got {got!r}"
    if rate in (0, 1):
        fine |= ~numpy.isfinite(given)  # NumPy divides a complex infinity by a number to another one
        assert fine.all() if rate == 0 else dropped.all(), f"{x!r}, rate {rate}: got {got!r}"
    if axis is not None and given.all() and numpy.isfinite(given).all():  # whole entries
        rest = tuple(at for at in range(x.ndim) if at != axis % x.ndim)
        assert (dropped.all(axis=rest) | ~dropped.any(axis=rest)).all(), f"{x!r} along {axis}: got {got!r}"
    if large:
        count = 2000 if axis is None else (40, 50)[axis]
        assert abs(dropped.mean() - rate) <= 6 * math.sqrt(rate * (1 - rate) / count)
