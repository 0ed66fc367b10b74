"""Derivatives of elementwise ops from 1e-30 to 1e30, at zeros, whole numbers, NaN and infinities, in each dtype.

Expected values are formulas in NumPy's longest floating dtype, whose exponents are not those of float64, so that no
step of a formula overflows. Where it is float64 itself, as on ARM, formulas judge only the other dtypes. Second
derivatives are compared with central differences of the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.testing import profile
from tensorbackend.testing.source import public

from .test_gradient_values import DIFFERENTIABLE

Array = Any
Slope = Callable[..., Any]

LONG = np.longdouble
DTYPES = ["f16", "bf16", "f32", *(["f64"] if np.finfo(LONG).maxexp > 1024 else [])]
PI, LOG2, LOG10 = LONG("3.141592653589793238462643383"), np.log(LONG(2)), np.log(LONG(10))


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) without a difference from 1."""
    return 1 / (1 + np.exp(-x))


def in_double(function: Callable[..., Array]) -> Slope:
    """A function of SciPy, which has no longer floats."""
    return lambda *x: function(*(operand.astype(np.float64) for operand in x)).astype(LONG)


def gaussian(x: Array) -> Array:
    return np.exp(-x * x) * 2 / np.sqrt(PI)


def density(a: Array, x: Array) -> Array:
    return np.exp((a - 1) * np.log(x) - x - in_double(special.gammaln)(a))


def of_density(a: Array, x: Array) -> Array:
    """The roundings of the exponent, and of SciPy's logarithm of the gamma function."""
    return 128 + abs(np.log(density(a, x))) + abs(in_double(special.gammaln)(a))


def everywhere(value: float) -> Slope:
    return lambda x, *_: value + 0 * x


class Known(NamedTuple):
    """What is known of the derivatives of an op."""

    slope: Slope
    """The derivative by the first operand."""
    second: Slope | None = None
    """The derivative by the second operand, if there is one that is differentiated."""
    ulps: Callable[..., Array] = lambda *x: 16
    """How many roundings of the derivative it may be off."""
    scale: float = 0
    """What the derivative is rounded like, where terms cancel and it is less than that."""
    domain: tuple[float, float] = (-math.inf, math.inf)
    """The open interval of first operands."""
    orders: tuple[float, float] = (-30, 30)
    """The decimal exponents of the operands."""


POSITIVE = (0.0, math.inf)
SQUARE: Callable[..., Array] = lambda x: 16 + 2 * x * x  # noqa: E731 # the rounding of the exponent of exp(-x**2)

KNOWN = {
    "abs": Known(np.sign),
    "acos": Known(lambda x: -1 / np.sqrt((1 - x) * (1 + x)), domain=(-1, 1)),
    "acosh": Known(lambda x: 1 / np.sqrt((x - 1) * (x + 1)), domain=(1, math.inf)),
    "add": Known(everywhere(1), everywhere(1)),
    "asin": Known(lambda x: 1 / np.sqrt((1 - x) * (1 + x)), domain=(-1, 1)),
    "asinh": Known(lambda x: 1 / np.hypot(x, 1)),
    "astype": Known(everywhere(1)),
    "atan": Known(lambda x: 1 / (1 + x * x)),
    "atan2": Known(lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    "atanh": Known(lambda x: 1 / ((1 - x) * (1 + x)), domain=(-1, 1)),
    "cbrt": Known(lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    "cos": Known(lambda x: -np.sin(x), orders=(-30, 3)),
    "cosh": Known(np.sinh),
    "copysign": Known(lambda x, y: np.where(np.signbit(x) == np.signbit(y), 1, -1), everywhere(0)),
    "digamma": Known(in_double(lambda x: special.polygamma(1, x)), domain=POSITIVE),
    "divide": Known(lambda x, y: 1 / y, lambda x, y: -x / y / y),
    "divide_no_nan": Known(lambda x, y: np.where(y == 0, 0, 1 / y), lambda x, y: np.where(y == 0, 0, -x / y / y)),
    "elu": Known(lambda x: np.where(x > 0, 1, np.exp(x))),
    "erf": Known(gaussian, ulps=SQUARE),
    "erf_inv": Known(
        in_double(lambda x: math.sqrt(math.pi) / 2 * np.exp(special.erfinv(x) ** 2)), ulps=lambda x: 256, domain=(-1, 1)
    ),
    "erfc": Known(lambda x: -gaussian(x), ulps=SQUARE),
    "exp": Known(np.exp),
    "expm1": Known(np.exp),
    "factorial": Known(
        in_double(lambda x: special.gamma(x + 1) * special.digamma(x + 1)),
        ulps=lambda x: 256,
        scale=1,
        domain=(-1, math.inf),
    ),
    "fmod": Known(everywhere(1), lambda x, y: -np.trunc(x / y)),
    "gamma_inc_l": Known(everywhere(0), density, ulps=of_density, orders=(-2, 1.5)),
    "gamma_inc_u": Known(everywhere(0), lambda a, x: -density(a, x), ulps=of_density, orders=(-2, 1.5)),
    "gelu": Known(
        lambda x: in_double(special.ndtr)(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * PI),
        ulps=lambda x: np.where(x > -1, 64 / np.minimum(1, abs(x + 0.7517915) + 0.01), 64 + 2 * x * x),
    ),
    "hard_sigmoid": Known(lambda x: np.where(abs(x) < 3, 1 / LONG(6), np.where(abs(x) == 3, 1 / LONG(12), 0))),
    "hard_silu": Known(
        lambda x: np.where(abs(x) < 3, (2 * x + 3) / 6, np.where(x == 3, 1.25, np.where(x == -3, -0.25, x > 3))),
        scale=1,
    ),
    "hard_tanh": Known(lambda x: (abs(x) < 1) + 0.5 * (abs(x) == 1)),
    "hypot": Known(lambda x, y: x / np.hypot(x, y), lambda x, y: y / np.hypot(x, y)),
    "leaky_relu": Known(lambda x: np.where(x > 0, 1, LONG(0.01))),
    "lgamma": Known(in_double(special.digamma), scale=1, domain=POSITIVE),
    "log": Known(lambda x: 1 / x, domain=POSITIVE),
    "log10": Known(lambda x: 1 / (x * LOG10), domain=POSITIVE),
    "log1p": Known(lambda x: 1 / (1 + x), domain=(-1, math.inf)),
    "log2": Known(lambda x: 1 / (x * LOG2), domain=POSITIVE),
    "log_sigmoid": Known(lambda x: sigmoid(-x)),
    "logaddexp": Known(
        lambda x, y: sigmoid(x - y),
        lambda x, y: sigmoid(y - x),
        ulps=lambda x, y: 16 + abs(x) + abs(y),
        orders=(-30, 2),
    ),
    "maximum": Known(lambda x, y: (x > y) + 0.5 * (x == y), lambda x, y: (y > x) + 0.5 * (x == y)),
    "minimum": Known(lambda x, y: (x < y) + 0.5 * (x == y), lambda x, y: (y < x) + 0.5 * (x == y)),
    "multiply": Known(lambda x, y: y, lambda x, y: x),
    "negative": Known(everywhere(-1)),
    "phase": Known(everywhere(0)),
    "positive": Known(everywhere(1)),
    "pow": Known(
        lambda x, y: y * x ** (y - 1),
        lambda x, y: x**y * np.log(x),
        ulps=lambda x, y: 16 + 2 * abs(y * np.log(x)),
        domain=POSITIVE,
        orders=(-4, 1.5),
    ),
    "reciprocal": Known(lambda x: -1 / (x * x)),
    "relu": Known(lambda x: 1.0 * (x > 0)),
    "remainder": Known(everywhere(1), lambda x, y: -np.floor(x / y)),
    "rsqrt": Known(lambda x: -0.5 / (x * np.sqrt(x)), domain=POSITIVE),
    "selu": Known(lambda x: LONG(1.0507009873554805) * np.where(x > 0, 1, LONG(1.6732632423543772) * np.exp(x))),
    "sigmoid": Known(lambda x: sigmoid(x) * sigmoid(-x)),
    "sign": Known(everywhere(0)),
    "silu": Known(
        lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), ulps=lambda x: 64 / np.minimum(1, abs(x + 1.2784645) + 0.01)
    ),
    "sin": Known(np.cos, orders=(-30, 3)),
    "sinh": Known(np.cosh),
    "softplus": Known(sigmoid),
    "sqrt": Known(lambda x: 0.5 / np.sqrt(x), domain=POSITIVE),
    "square": Known(lambda x: 2 * x),
    "subtract": Known(everywhere(1), everywhere(-1)),
    "tan": Known(lambda x: 1 / np.cos(x) ** 2, ulps=lambda x: 64, orders=(-30, 1.5)),
    "tanh": Known(lambda x: 1 / np.cosh(x) ** 2),
}

OTHERWISE = {"clip", "complex", "conj", "imag", "polyval", "real", "where"}
"""Elementwise ops that are linear, or linear by parts, and polynomials: comparisons with float64 and differences judge
these."""

SERIES = {"i0", "i0e", "i1", "i1e", "j0", "j1", "ndtri", "zeta"}
"""Functions whose derivatives are compared with mpmath's next to their values, in tests/ops/composite/special."""

ELEMENTWISE = {name for name in DIFFERENTIABLE if name in OPS and OPS[name].family in ("elementwise", "special")}
ZERO = {"ceil", "floor", "floor_divide", "round", "trunc"}


def test_the_table_is_complete() -> None:
    assert {*KNOWN, *OTHERWISE, *SERIES, *ZERO} == ELEMENTWISE


def called(name: str) -> Callable[..., tb.Tensor]:
    """The op, with the dtype of its operand where it takes one."""
    return (lambda x: tb.astype(x * 1, x.dtype)) if name == "astype" else public(name)


WHOLE = [0, 1, 2, 3, 4, 5, 8, 10, 16, 32, 88, 127, 170, 256, 1000]


def numbers(known: Known, dtype: str, seed: int, place: int = 0, beside: Array | None = None) -> Array:
    """Operands in a dtype, exact in float64: all magnitudes, whole numbers, specials and numbers near the ends."""
    random, count = np.random.default_rng([seed, place]), 96
    low, high = known.orders
    signs = random.choice([-1, 1], count)
    column = np.concatenate([
        signs * 10.0 ** random.uniform(low, high, count),
        signs * random.uniform(0, min(100.0, 10.0**high), count),
        signs * random.uniform(0, 4, count),
        signs * random.choice(WHOLE, count),
        [0.0, -0.0, math.nan, math.inf, -math.inf],
    ])  # fmt: skip
    first, last = known.domain if place == 0 or known.domain == POSITIVE else (-math.inf, math.inf)
    if math.isfinite(last):
        column = np.where(
            np.isfinite(column), np.sign(column) * (1 - 10.0 ** -random.uniform(0, 8, len(column))), column
        )
    if beside is not None:  # ties and near ties in a third of the pairs
        near = random.integers(0, 6, len(column))
        column = np.where(near == 0, beside, np.where(near == 1, beside * random.uniform(0.5, 2, len(column)), column))
    column = np.asarray(tb.asarray(column, dtype=dtype).astype("f64"))
    return np.where((column > first) & (column < last) | ~np.isfinite(column), column, 1 if last > 1 else 0.5)


def operands(known: Known, dtype: str, seed: int) -> list[Array]:
    """A column of numbers for each operand."""
    first = numbers(known, dtype, seed)
    return [first] if known.second is None else [first, numbers(known, dtype, seed, 1, first)]


def assert_near(got: tb.Tensor, wanted: Array, known: Known, points: list[Array], what: str) -> None:
    """Assert that a derivative is right wherever it is in the range of its dtype."""
    limits, values = tb.finfo(got.dtype), np.asarray(got.astype("f64")).astype(LONG)
    eps, least = LONG(limits.eps), LONG(limits.smallest_normal)
    long = [x.astype(LONG) for x in points]
    roundings = np.nan_to_num(np.broadcast_to(known.ulps(*long), wanted.shape), nan=1e4, posinf=1e4)
    allowed = roundings * eps * np.maximum(abs(wanted), known.scale) + least * (
        4 * eps if got.dtype is tb.float16 else 1
    )
    judged = np.isfinite(wanted) & (abs(wanted) < limits.max / 1024)
    wrong = judged & ~(abs(values - wanted) <= np.where(judged, allowed, 0))
    above = ~np.isnan(wanted) & (abs(wanted) > limits.max)
    wrong |= above & np.isfinite(values) & (abs(values) < limits.max / 1024)
    if wrong.any():
        place = int(np.argmax(wrong))
        at = ", ".join(str(float(x[place])) for x in points)
        raise AssertionError(f"{what} at {at} in {got.dtype}: expected {wanted[place]}, got {values[place]}")


def result_is_finite(name: str, points: list[Array], dtype: str) -> Array:
    """Where the result of the op is in range; a derivative through an infinite result is NaN."""
    out = called(name)(*(tb.asarray(x, dtype=dtype) for x in points))
    return np.isfinite(np.asarray(out.astype("f64")))


def slopes(known: Known, points: list[Array]) -> list[Array]:
    """The expected derivatives by each operand that has one."""
    with np.errstate(all="ignore"):
        long = [x.astype(LONG) for x in points]
        return [
            np.broadcast_to(slope(*long), long[0].shape).astype(LONG) for slope in (known.slope, known.second) if slope
        ]


@pytest.mark.parametrize("name", sorted(KNOWN))
@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_at_all_magnitudes(name: str, dtype: str) -> None:
    known = KNOWN[name]
    fixed = name.startswith("gamma_inc")

    @profile(1)
    @given(st.integers(0, 1 << 20))
    def right(seed: int) -> None:
        points = operands(known, dtype, seed)
        if name in ("remainder", "fmod"):  # a larger quotient is not exact
            points[1] = np.where(abs(points[0]) < 64 * abs(points[1]), points[1], points[0])
        finite = result_is_finite(name, points, dtype)
        points = [x[finite] for x in points]
        tensors = [tb.asarray(x, dtype=dtype) for x in points]
        places = tuple(range(len(points)))[1 if fixed else 0 :]

        def total(*x: tb.Tensor) -> tb.Tensor:
            return tb.sum(called(name)(*x), dtype=dtype)

        gradients = tb.grad(total, places)(*tensors)
        again = tb.jit(tb.grad(total, places))(*tensors)
        one_by_one = tb.vmap(tb.grad(called(name), places))(*tensors)
        with np.errstate(all="ignore"):
            expected = slopes(known, points)[1 if fixed else 0 :]
            for place, gradient, compiled, alone, wanted in zip(
                places, gradients, again, one_by_one, expected, strict=True
            ):
                for way, got in (("derivative", gradient), ("compiled derivative", compiled), ("batch", alone)):
                    assert_near(got, wanted, known, points, f"the {way} of {name} by operand {place}")
                tangents = [tb.ones_like(x) if other == place else tb.zeros_like(x) for other, x in enumerate(tensors)]
                moving = tangents[1:] if fixed else tangents
                function = (lambda x: called(name)(tensors[0], x)) if fixed else called(name)
                moved = tb.jvp(function, tensors[1:] if fixed else tensors, moving)[1]
                usual = np.isfinite(np.asarray(gradient.astype("f64")))
                if len(moving) == 1:  # with more operands a zero tangent may be multiplied by an infinite derivative
                    assert_near(
                        moved[usual], wanted[usual], known, [x[usual] for x in points], f"the tangent of {name}"
                    )

    right()


EXCEPTIONS = {"erf_inv": "SciPy's float64 does not resolve differences next to 1"}
"""Ops whose second derivatives cannot be compared with differences, and why; one that can be is an error."""


def check_second_derivative(name: str, count: int) -> None:
    """Compare second derivatives of an op with differences of its formula."""
    known = KNOWN[name]

    @profile(count)
    @given(st.integers(0, 1 << 20))
    def right(seed: int) -> None:
        (x,) = operands(known, "f64", seed)
        x = x[np.isfinite(x) & (x != 0) & result_is_finite(name, [x], "f64")]
        function = called(name)
        second = tb.grad(lambda x: tb.sum(tb.grad(lambda x: tb.sum(function(x)))(x)))(tb.asarray(x))
        with np.errstate(all="ignore"):
            long = x.astype(LONG)
            size = np.minimum(abs(long), 1)
            if math.isfinite(known.domain[1]):
                size = np.minimum(size, 1 - abs(long))
            coarse, wanted = (
                (known.slope(long + step) - known.slope(long - step)) / (2 * step)
                for step in (size * LONG(1e-5), size * LONG(1e-6))
            )
            slope = abs(known.slope(long))
            allowed = 1e-6 * abs(wanted) + 2 * abs(wanted - coarse) + 1e-8 * slope / size + 1e-300
        inside = np.isfinite(wanted) & (abs(wanted) < 1e290) & np.isfinite(slope)
        got = np.asarray(second).astype(LONG)
        wrong = inside & ~(abs(got - wanted) <= np.where(inside, allowed, 0))
        assert not wrong.any(), [(float(x[k]), float(got[k]), float(wanted[k])) for k in np.flatnonzero(wrong)[:3]]

    right()


@pytest.mark.parametrize("name", sorted({name for name in KNOWN if KNOWN[name].second is None} - set(EXCEPTIONS)))
def test_second_derivatives_at_all_magnitudes(name: str) -> None:
    check_second_derivative(name, 1)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_are_needed(name: str) -> None:
    with pytest.raises(AssertionError):
        check_second_derivative(name, 10)
