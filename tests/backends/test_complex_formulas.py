"""Formulas of complex arrays on plain NumPy, compared with BinaryBackend's functions of one number."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator

import numpy
import pytest

from tensorbackend.backends.binary import complex_scalars
from tensorbackend.backends.complex_formulas import SPECIALS, ComplexFormulas

FORMULAS = ComplexFormulas(numpy)
PARTS = (0.0, -0.0, 1.5, -2.0, 1e-310, 1e300, -1.7e308, math.inf, -math.inf, math.nan)
NUMBERS = [complex(*parts) for parts in itertools.product(PARTS, repeat=2)]
SPECIAL = [z for z in NUMBERS if not cmath.isfinite(z)]


@pytest.fixture(autouse=True)
def _without_warnings() -> Iterator[None]:
    with numpy.errstate(all="ignore"):
        yield


def same(one: complex, other: complex) -> bool:
    """Whether two numbers have the same parts up to rounding, with the same signs of zeros."""
    pairs = ((one.real, other.real), (one.imag, other.imag))
    return all(
        (math.isnan(a) and math.isnan(b)) or (math.isclose(a, b, rel_tol=1e-14, abs_tol=1e-320)
        and math.copysign(1, a) == math.copysign(1, b))
        for a, b in pairs
    )  # fmt: skip


@pytest.mark.parametrize("name", SPECIALS)
def test_special_values_are_those_of_the_tables(name: str) -> None:
    values = FORMULAS.special(name, numpy.array(SPECIAL)).tolist()
    for z, value in zip(SPECIAL, values, strict=True):
        assert same(value, complex_scalars.special(name, z)), z


def test_only_the_result_of_a_product_or_quotient_overflows() -> None:
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    x, y = (numpy.array(operand) for operand in zip(*pairs, strict=True))
    products = FORMULAS.exact_product(x, y, FORMULAS.product_by_parts(x, y)).tolist()
    quotients = FORMULAS.quotient(x, y).tolist()
    for (left, right), product, quotient in zip(pairs, products, quotients, strict=True):
        assert same(product, complex_scalars.multiply([left], [right])[0]), (left, right)
        assert same(quotient, complex_scalars.divide(left, right)), (left, right)


def test_the_sign_of_each_number() -> None:
    values = FORMULAS.sign_of(numpy.array(NUMBERS)).tolist()
    for z, value in zip(NUMBERS, values, strict=True):
        assert same(value, complex_scalars.sign(z)), z


def test_a_product_of_matrices_has_infinities_where_its_parts_have() -> None:
    left = numpy.array([[complex(math.inf, 0), 1j], [1.0, 2.0]])
    product = FORMULAS.matrix_product(left, numpy.eye(2, dtype="complex128"))
    assert product[0, 0].real == math.inf
    assert product[1].tolist() == [1.0, 2.0]
