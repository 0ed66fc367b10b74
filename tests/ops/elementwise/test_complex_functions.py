"""Complex functions: special cases of the Array API standard (2024.12), branch cuts, and intermediate overflow."""

from __future__ import annotations

import cmath
import math
import os
from functools import cache
from itertools import product
from math import inf, isinf, isnan, nan, pi
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.complex_formulas import SPECIALS
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import complex64, complex128
from tensorbackend.testing.calls import bound_of
from tensorbackend.testing.compare import element_distance

BACKENDS = ["binary", "numpy", "jax"]
DTYPES = ["complex64", "complex128"]
Z = complex
EVERY = pytest.mark.parametrize("backend", BACKENDS)
# XLA takes half a second to compile each function, by one algorithm for both dtypes.
EVERY_PAIR = pytest.mark.parametrize(
    ("backend", "dtype"),
    [
        pair
        for pair in product(BACKENDS, DTYPES)
        if pair != ("jax", "complex128") or "TENSORBACKEND_EXAMPLES" in os.environ
    ],
)


def same_part(actual: float, reference: float) -> bool:
    """Compare zeros with their signs, infinities and NaN exactly, and other numbers to six digits."""
    if isnan(reference) or isinf(reference) or reference == 0:
        same_sign = math.copysign(1.0, actual) == math.copysign(1.0, reference)
        return isnan(actual) if isnan(reference) else actual == reference and same_sign
    return math.isclose(actual, reference, rel_tol=1e-6)


def check(actual: complex, reference: complex) -> None:
    same = same_part(actual.real, reference.real) and same_part(actual.imag, reference.imag)
    assert same, f"expected {reference}, got {actual}"


PLAIN = [1.5 - 0.5j, 0.25 + 2j] * 20


def results(name: str, columns: Any, backend: str, dtype: str) -> Any:
    return getattr(tb, name)(*(tb.tensor(column, dtype=dtype, backend=backend) for column in columns)).tolist()


@cache
def ordinary_results(name: str, count: int, backend: str, dtype: str) -> Any:
    """The results among ordinary numbers alone."""
    return results(name, [[*PLAIN, PLAIN[0], *PLAIN]] * count, backend, dtype)


def call(name: str, *operands: Any, backend: str, dtype: str = "complex128") -> Any:
    """Apply an op to numbers among ordinary ones, and check that neighbours do not affect each other's results."""

    def of(columns: Any) -> Any:
        return results(name, columns, backend, dtype)

    many, ordinary = of([*PLAIN, x, *PLAIN] for x in operands), ordinary_results(name, len(operands), backend, dtype)
    if backend == "jax":  # JAX compiles each shape; the last of 81 elements is outside any vector of a power of two
        *alike, alone = of([x] * 81 for x in operands)
        check(complex(alike[40]), complex(alone))
    else:
        alone = of(operands)
    for actual, reference in zip(many, [*ordinary[:40], alone, *ordinary[41:]], strict=True):
        check(complex(actual), complex(reference))
    return alone


# As in the standard, rows have positive imaginary parts; the other cases follow by symmetry, which is tested below.
SPECIAL_CASES = [
    ("acos", Z(0, 0), Z(pi / 2, -0.0)),
    ("acos", Z(0, nan), Z(pi / 2, nan)),
    ("acos", Z(1, inf), Z(pi / 2, -inf)),
    ("acos", Z(-inf, 1), Z(pi, -inf)),
    ("acos", Z(inf, 1), Z(0, -inf)),
    ("acos", Z(-inf, inf), Z(3 * pi / 4, -inf)),
    ("acos", Z(inf, inf), Z(pi / 4, -inf)),
    ("acos", Z(nan, inf), Z(nan, -inf)),
    ("acos", Z(nan, 1), Z(nan, nan)),
    ("acosh", Z(0, 0), Z(0, pi / 2)),
    ("acosh", Z(1, inf), Z(inf, pi / 2)),
    ("acosh", Z(0, nan), Z(nan, pi / 2)),
    ("acosh", Z(-inf, 1), Z(inf, pi)),
    ("acosh", Z(inf, 1), Z(inf, 0)),
    ("acosh", Z(-inf, inf), Z(inf, 3 * pi / 4)),
    ("acosh", Z(inf, nan), Z(inf, nan)),
    ("acosh", Z(nan, inf), Z(inf, nan)),
    ("asin", Z(0, 0), Z(0, 0)),
    ("asin", Z(inf, 1), Z(pi / 2, inf)),
    ("asin", Z(1, inf), Z(0, inf)),
    ("asin", Z(nan, 1), Z(nan, nan)),
    ("asinh", Z(0, 0), Z(0, 0)),
    ("asinh", Z(1, inf), Z(inf, pi / 2)),
    ("asinh", Z(inf, 1), Z(inf, 0)),
    ("asinh", Z(inf, inf), Z(inf, pi / 4)),
    ("asinh", Z(inf, nan), Z(inf, nan)),
    ("asinh", Z(nan, 0), Z(nan, 0)),
    ("asinh", Z(nan, 1), Z(nan, nan)),
    ("atan", Z(1, inf), Z(pi / 2, 0)),
    ("atan", Z(0, 1), Z(0, inf)),
    ("atanh", Z(0, 0), Z(0, 0)),
    ("atanh", Z(0, nan), Z(0, nan)),
    ("atanh", Z(1, 0), Z(inf, 0)),
    ("atanh", Z(1, inf), Z(0, pi / 2)),
    ("atanh", Z(inf, 1), Z(0, pi / 2)),
    ("atanh", Z(inf, nan), Z(0, nan)),
    ("atanh", Z(nan, 1), Z(nan, nan)),
    ("cosh", Z(0, 0), Z(1, 0)),
    ("cosh", Z(0, inf), Z(nan, 0)),
    ("cosh", Z(1, inf), Z(nan, nan)),
    ("cosh", Z(inf, 0), Z(inf, 0)),
    ("cosh", Z(inf, 2), Z(-inf, inf)),
    ("cosh", Z(inf, inf), Z(inf, nan)),
    ("cosh", Z(nan, 0), Z(nan, 0)),
    ("cos", Z(0, 0), Z(1, -0.0)),
    ("cos", Z(0, inf), Z(inf, -0.0)),
    ("exp", Z(0, 0), Z(1, 0)),
    ("exp", Z(1, inf), Z(nan, nan)),
    ("exp", Z(inf, 0), Z(inf, 0)),
    ("exp", Z(-inf, 1), Z(0, 0)),
    ("exp", Z(inf, 2), Z(-inf, inf)),
    ("exp", Z(-inf, inf), Z(0, 0)),
    ("exp", Z(inf, inf), Z(inf, nan)),
    ("exp", Z(-inf, nan), Z(0, 0)),
    ("exp", Z(nan, 0), Z(nan, 0)),
    ("expm1", Z(0, 0), Z(0, 0)),
    ("expm1", Z(-0.0, 0), Z(0, 0)),
    ("expm1", Z(-0.0, -0.0), Z(0, -0.0)),
    ("expm1", Z(1, inf), Z(nan, nan)),
    ("expm1", Z(inf, 0), Z(inf, 0)),
    ("expm1", Z(-inf, 1), Z(-1, 0)),
    ("expm1", Z(-inf, inf), Z(-1, 0)),
    ("expm1", Z(inf, inf), Z(inf, nan)),
    ("expm1", Z(nan, 0), Z(nan, 0)),
    ("log", Z(-0.0, 0), Z(-inf, pi)),
    ("log", Z(0, 0), Z(-inf, 0)),
    ("log", Z(1, inf), Z(inf, pi / 2)),
    ("log", Z(1, nan), Z(nan, nan)),
    ("log", Z(-inf, 1), Z(inf, pi)),
    ("log", Z(inf, 1), Z(inf, 0)),
    ("log", Z(-inf, inf), Z(inf, 3 * pi / 4)),
    ("log", Z(nan, inf), Z(inf, nan)),
    ("log1p", Z(-1, 0), Z(-inf, 0)),
    ("log1p", Z(1, inf), Z(inf, pi / 2)),
    ("log1p", Z(-inf, 1), Z(inf, pi)),
    ("log1p", Z(inf, nan), Z(inf, nan)),
    ("log2", Z(-inf, 1), Z(inf, pi / math.log(2))),
    ("log10", Z(0, 0), Z(-inf, 0)),
    ("sign", Z(0, -0.0), Z(0, 0)),
    ("sign", Z(3, -4), Z(0.6, -0.8)),
    ("sign", Z(nan, 1), Z(nan, nan)),
    ("sinh", Z(0, 0), Z(0, 0)),
    ("sinh", Z(0, inf), Z(0, nan)),
    ("sinh", Z(1, inf), Z(nan, nan)),
    ("sinh", Z(inf, 0), Z(inf, 0)),
    ("sinh", Z(inf, 2), Z(-inf, inf)),
    ("sinh", Z(inf, inf), Z(inf, nan)),
    ("sinh", Z(nan, 0), Z(nan, 0)),
    ("sin", Z(0, inf), Z(0, inf)),
    ("sqrt", Z(0, 0), Z(0, 0)),
    ("sqrt", Z(1, inf), Z(inf, inf)),
    ("sqrt", Z(nan, inf), Z(inf, inf)),
    ("sqrt", Z(-inf, 1), Z(0, inf)),
    ("sqrt", Z(inf, 1), Z(inf, 0)),
    ("sqrt", Z(-inf, nan), Z(nan, inf)),
    ("sqrt", Z(inf, nan), Z(inf, nan)),
    ("sqrt", Z(1, nan), Z(nan, nan)),
    ("tanh", Z(0, 0), Z(0, 0)),
    ("tanh", Z(0, inf), Z(0, nan)),
    ("tanh", Z(1, inf), Z(nan, nan)),
    ("tanh", Z(inf, 1), Z(1, 0)),
    ("tanh", Z(inf, inf), Z(1, 0)),
    ("tanh", Z(nan, 0), Z(nan, 0)),
    ("tan", Z(0, inf), Z(0, 1)),
]


@EVERY_PAIR
@pytest.mark.parametrize("name", sorted({name for name, _, _ in SPECIAL_CASES}))
def test_special_cases(name: str, backend: str, dtype: str) -> None:
    for of, z, reference in SPECIAL_CASES:
        if of == name:
            check(complex(call(name, z, backend=backend, dtype=dtype)), reference)


@EVERY_PAIR
@pytest.mark.parametrize("name", [*SPECIALS, "sin", "cos", "tan", "asin", "atan", "expm1", "log2"])
def test_conjugates_and_negatives(name: str, backend: str, dtype: str) -> None:
    parts = [-inf, -1.5, -0.0, 0.0, 1.5, inf]
    numbers = ([Z(a, b) for a in parts for b in parts] * 3)[:81]  # the size in `call`, so that JAX compiles it once
    x = tb.tensor(numbers, dtype=dtype, backend=backend)
    function = getattr(tb, name)
    values = function(x).tolist()
    conjugates = tb.conj(function(tb.conj(x))).tolist()
    negatives = function(tb.tensor([Z(-z.real, -z.imag) for z in numbers], dtype=dtype, backend=backend)).tolist()
    symmetry = SPECIALS[name].symmetry if name in SPECIALS else {"cos": "even"}.get(name, "odd")
    for value, conjugate, negative in zip(values, conjugates, negatives, strict=True):
        check(conjugate, value)
        if symmetry == "odd" and name not in ("expm1", "log2"):
            check(Z(-negative.real, -negative.imag), value)
        elif symmetry == "even":
            check(negative, value)


HALF_PI = pi / 2
BRANCH_CUTS = [
    # On the branch cut: the sign of a zero says from which side.
    ("sqrt", Z(-4, 0), Z(0, 2)),
    ("sqrt", Z(-4, -0.0), Z(0, -2)),
    ("log", Z(-1, 0), Z(0, pi)),
    ("log", Z(-1, -0.0), Z(0, -pi)),
    ("log1p", Z(-3, 0), Z(math.log(2), pi)),
    ("log1p", Z(-3, -0.0), Z(math.log(2), -pi)),
    ("log2", Z(-2, -0.0), Z(1, -pi / math.log(2))),
    ("acos", Z(2, 0), Z(0, -math.acosh(2))),
    ("acos", Z(2, -0.0), Z(0, math.acosh(2))),
    ("acos", Z(-2, -0.0), Z(pi, math.acosh(2))),
    ("asin", Z(2, 0), Z(HALF_PI, math.acosh(2))),
    ("asin", Z(2, -0.0), Z(HALF_PI, -math.acosh(2))),
    ("acosh", Z(-2, 0), Z(math.acosh(2), pi)),
    ("acosh", Z(-2, -0.0), Z(math.acosh(2), -pi)),
    ("atanh", Z(2, 0), Z(math.atanh(0.5), HALF_PI)),
    ("atanh", Z(2, -0.0), Z(math.atanh(0.5), -HALF_PI)),
    ("atan", Z(0, 2), Z(HALF_PI, math.atanh(0.5))),
    ("atan", Z(-0.0, 2), Z(-HALF_PI, math.atanh(0.5))),
    ("asinh", Z(0, 2), Z(math.acosh(2), HALF_PI)),
    ("asinh", Z(-0.0, 2), Z(-math.acosh(2), HALF_PI)),
]


@EVERY_PAIR
@pytest.mark.parametrize(("name", "z", "reference"), BRANCH_CUTS)
def test_branch_cuts(name: str, z: complex, reference: complex, backend: str, dtype: str) -> None:
    check(call(name, z, backend=backend, dtype=dtype), reference)


TWO = [
    # A real or imaginary divisor divides each part separately (the standard's table).
    ("divide", Z(-0.0, 3), Z(2, 0), Z(-0.0, 1.5)),
    ("divide", Z(1, nan), Z(2, 0), Z(0.5, nan)),
    ("divide", Z(inf, 1), Z(2, -0.0), Z(inf, 0.5)),
    ("divide", Z(1, inf), Z(0, 2), Z(inf, -0.5)),
    ("divide", Z(1, 0), Z(0, 0), Z(inf, nan)),
    ("divide", Z(0, 0), Z(0, 0), Z(nan, nan)),
    ("divide", Z(nan, nan), Z(nan, nan), Z(nan, nan)),
    ("divide", Z(1, 1), Z(inf, 1), Z(0, 0)),
    ("divide", Z(5, 5), Z(1, 2), Z(3, -1)),
    ("multiply", Z(inf, 1), Z(2, 3), Z(inf, inf)),
    ("multiply", Z(inf, 1), Z(0, 1), Z(nan, inf)),
    ("multiply", Z(inf, 0), Z(1, 0), Z(inf, nan)),
    ("multiply", Z(nan, 1), Z(1, 1), Z(nan, nan)),
    ("multiply", Z(1, 2), Z(3, -4), Z(11, 2)),
    ("pow", Z(inf, nan), Z(0, 0), Z(1, 0)),
    ("pow", Z(0, 0), Z(2, 0), Z(0, 0)),
    ("pow", Z(0, 0), Z(0, 0), Z(1, 0)),
    ("pow", Z(-4, 0), Z(0.5, 0), Z(cmath.exp(0.5 * Z(math.log(4), pi)).real, 2)),
    ("pow", Z(1, 1), Z(2, 0), Z(0, 2)),
    ("pow", Z(1, 2), Z(-1, 0), Z(0.2, -0.4)),
]


@EVERY
@pytest.mark.parametrize(("name", "x", "y", "reference"), TWO)
def test_two_operands(name: str, x: complex, y: complex, reference: complex, backend: str) -> None:
    result = call(name, x, y, backend=backend)
    if name == "pow" and abs(reference.real) < 1e-9 < abs(reference.imag):
        assert abs(result - reference) < 1e-12  # the real part is only a rounding error
    else:
        check(result, reference)


LARGE, SMALL = 1.5e308, 5e-324
NO_OVERFLOW_ON_THE_WAY = [
    ("divide", (Z(LARGE, LARGE), Z(LARGE, LARGE)), Z(1, 0)),
    ("divide", (Z(SMALL, SMALL), Z(SMALL, SMALL)), Z(1, 0)),
    ("divide", (Z(1e-300, 1e-300), Z(1e-200, 2e-200)), Z(6e-101, -2e-101)),
    ("multiply", (Z(1e200, 1e200), Z(1e108, 1e108)), Z(0, inf)),
    ("multiply", (Z(LARGE, LARGE), Z(1, 0.5)), Z(7.5e307, inf)),
    ("multiply", (Z(LARGE, 1), Z(LARGE, inf)), Z(-inf, inf)),
    ("multiply", (Z(LARGE, LARGE), Z(LARGE, 1)), Z(inf, inf)),
    ("reciprocal", (Z(1e-300, 1e-300),), Z(5e299, -5e299)),
    ("square", (Z(1e200, 1e200),), Z(0, inf)),
    ("square", (Z(1, 2.0**1021),), Z(-inf, 2.0**1022)),
    ("sign", (Z(LARGE, LARGE),), Z(0.5**0.5, 0.5**0.5)),
    ("sign", (Z(SMALL, -SMALL),), Z(0.5**0.5, -(0.5**0.5))),
    ("abs", (Z(3e-310, 4e-310),), 5e-310),
    ("sqrt", (Z(-LARGE, SMALL),), Z(0, LARGE**0.5)),
    ("log", (Z(LARGE, LARGE),), Z(math.log(LARGE) + 0.5 * math.log(2), pi / 4)),
    ("log1p", (Z(LARGE, -LARGE),), Z(math.log(LARGE) + 0.5 * math.log(2), -pi / 4)),
    ("log1p", (Z(-1, 1),), Z(0, pi / 2)),
    ("log1p", (Z(1e-20, 1e-20),), Z(1e-20, 1e-20)),
    ("expm1", (Z(1e-20, 1e-20),), Z(1e-20, 1e-20)),
    ("exp", (Z(720, 1e-300),), Z(inf, math.exp(700) * 1e-300 * math.exp(20))),
    ("sinh", (Z(720, SMALL),), Z(inf, math.exp(700) * SMALL * math.exp(20) / 2)),
    ("cosh", (Z(1e300, SMALL),), Z(inf, inf)),
    ("atanh", (Z(1, 2.0**-511),), Z(0.5 * 512 * math.log(2), pi / 4)),
    ("pow", (Z(1e-200, 1e200), Z(-1, 0)), Z(0, -1e-200)),
    ("divide", (Z(0, inf), Z(1, LARGE)), Z(inf, inf)),
    ("divide", (Z(0, inf), Z(1e-300, -1e300)), Z(-inf, inf)),
    ("sinh", (Z(LARGE, 0.0),), Z(inf, 0)),
    ("cos", (Z(0.0, LARGE),), Z(inf, -0.0)),
]


def is_subnormal(z: complex) -> bool:
    return any(0 < abs(part) < 2.3e-308 for part in (z.real, z.imag))


@pytest.mark.parametrize(
    ("name", "operands", "reference", "backend"),
    [
        (*row, backend)
        for row in NO_OVERFLOW_ON_THE_WAY
        for backend in BACKENDS
        if backend != "jax" or not any(map(is_subnormal, row[1]))  # XLA treats these as zero
    ],
)
def test_nothing_but_the_result_overflows(
    name: str, operands: tuple[complex, ...], reference: complex, backend: str
) -> None:
    check(complex(call(name, *operands, backend=backend)), complex(reference))


@EVERY
def test_long_arrays_and_views(backend: str) -> None:
    # Longer than a block, transposed and broadcast: the same as element by element.
    special = [Z(inf, 1), Z(nan, 0), Z(1, -0.0), Z(-1, -0.0), Z(1e300, 1e300), Z(2, 3)]
    x = tb.tensor(special * 1500, backend=backend, dtype="complex128")
    columns = tb.reshape(x, (1500, 6)).T
    for function in (tb.sign, tb.log1p, tb.expm1, tb.reciprocal, tb.square, lambda z: z**3, lambda z: z ** (1 + 2j)):
        reference = [function(tb.tensor(z, backend=backend, dtype="complex128")).item() for z in special]
        result = function(columns)
        assert result.shape == (6, 1500)
        for row, value in zip(result.tolist(), reference, strict=True):
            for element in (row[0], row[700], row[-1]):
                check(element, value)
    quotient = columns / tb.tensor([[1 + 1j]] * 6, backend=backend, dtype="complex128")
    assert quotient.shape == (6, 1500)
    check(quotient.tolist()[5][-1], Z(2.5, 0.5))


@EVERY_PAIR
def test_products_start_from_the_first_element(backend: str, dtype: str) -> None:
    # A product that started with 1 would have a NaN part, from 1 * inf.
    x = tb.tensor([[Z(0, inf), 2], [Z(0, inf), 1j]], dtype=dtype, backend=backend)
    check(tb.prod(x[0, :1]).item(), Z(0, inf))
    check(tb.prod(x, axis=1).tolist()[1], Z(-inf, nan))
    check(tb.cumulative_prod(x[1]).tolist()[0], Z(0, inf))
    check(tb.prod(x[:0]).item(), Z(1, 0))
    check(tb.prod(tb.matrix_transpose(x)).item(), tb.prod(tb.tensor([Z(0, inf), Z(0, inf), 2, 1j], dtype=dtype)).item())


@EVERY_PAIR
def test_contractions_by_parts(backend: str, dtype: str) -> None:
    x = tb.tensor([[Z(inf, 1), 2], [1, 1j]], dtype=dtype, backend=backend)
    y = tb.tensor([[Z(1, 1)], [Z(0, 3)]], dtype=dtype, backend=backend)
    column = [row[0] for row in (x @ y).tolist()]
    check(column[0], Z(inf, inf))
    check(column[1], Z(-2, 1))


@pytest.mark.parametrize("dtype", [complex64, complex128])
def test_the_parts_of_a_number_are_rounded_together(dtype: tb.DType) -> None:
    # The error of a tiny part next to a large one is measured in ulps of the large one. This does not hold next to an
    # infinity, where nothing is rounded, or where the number itself is tiny.
    assert element_distance(Z(1, 1e-20), Z(1, 3e-20), dtype) == 1
    assert element_distance(Z(1e-20, 1e-20), Z(1e-20, 3e-20), dtype) > 1000
    assert element_distance(Z(inf, 1e-20), Z(inf, 3e-20), dtype) > 1000
    assert element_distance(Z(1, 0), Z(1, -0.0), dtype) == 1
    assert element_distance(Z(1, nan), Z(1, 0), dtype) == inf


def test_bounds_of_complex_operands() -> None:
    assert bound_of("multiply").ulps == bound_of("multiply", [tb.float32]).ulps == 0
    declared = {name: spec.bounds.complex for name, spec in OPS.items() if spec.bounds.complex is not None}
    assert len(declared) > 10
    for name, bound in declared.items():
        assert bound.reason
        assert bound_of(name, [tb.float32, complex64]) is bound


@EVERY
@pytest.mark.parametrize("part", [1e-308, 3e-308, -1e-308])
def test_the_side_of_the_cut_beside_the_real_axis(part: float, backend: str) -> None:
    # The sign of a subnormal imaginary part decides the side of the cut, even where XLA treats the part as zero.
    x = tb.tensor(Z(-1.5, part), dtype="complex128", backend=backend)
    side = math.copysign(pi, part)
    check(complex(tb.log(x).item()), Z(math.log(1.5), side))
    check(complex(tb.pow(x, 1j).item()), cmath.exp(Z(-side, math.log(1.5))))
