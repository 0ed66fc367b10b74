"""Polynomials as objects, and NumPy's module of polynomials, compared with NumPy's own."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.poly1d([1, -3, 2])(k)
np.poly1d([1, -3, 2])(2.5)
np.poly1d([1, -3, 2])(np.poly1d([1, 1])).coeffs
np.poly1d([0, 0, 1, 2]).c
np.poly1d([0]).coeffs
np.poly1d([1, 2], r=True).coeffs
np.poly1d(x)
np.sort(np.poly1d([1, -3, 2]).r)
np.poly1d([1, -3, 2]).deriv().coeffs
np.poly1d([3.0, -3, 2]).integ(2, k=[1, 2]).coeffs
(np.poly1d([1, 2]) * np.poly1d([1, 3]) - 1).coeffs
(2 - np.poly1d([1, 2]) ** 3).coeffs
(np.poly1d([1.0, 2]) / 4).coeffs
(np.poly1d([1.0, 5, 6]) / np.poly1d([1.0, 2]))[0].coeffs
(-np.poly1d([1, 2])).coeffs
np.poly1d([1, 2]) ** -1
np.poly1d([1, 2])[1]
np.poly1d([1, 2])[7]
np.poly1d([1, 2]).o
np.poly1d(np.polyfit(x[0], x[1] ** 2, 2))(0.5)
np.asarray(np.poly1d([1, 2]))
np.polyval(np.poly1d([1, 2, 3]), 2.0)
np.polynomial.polynomial.polyval(x[0], [1, 2, 3])
np.polynomial.legendre.leggauss(4)
np.polynomial.Polynomial([1, 2, 3])(2.0)
np.polynomial.chebyshev.chebfit(k, k ** 2, 2)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_polynomial_is_that_of_numpy(call: str) -> None:
    assert_as_numpy(call)


def test_a_polynomial_is_printed_as_numpys() -> None:
    assert str(np.poly1d([1, -3, 2])) == str(numpy.poly1d([1, -3, 2]))
    assert repr(np.poly1d([1, -3, 2])) == repr(numpy.poly1d([1, -3, 2]))


def test_a_polynomial_can_be_changed_and_compared() -> None:
    p = np.poly1d([1, 2])
    p[3] = 5
    assert p.coeffs.tolist() == [5, 0, 1, 2]
    assert p == np.poly1d([5, 0, 1, 2])
    assert p != np.poly1d([1, 2])
    with pytest.raises(ValueError, match="negative powers"):
        p[-1] = 2


def test_a_polynomial_has_a_gradient() -> None:
    slope = tb.grad(lambda x: np.sum(np.poly1d([1.0, -3.0, 2.0])(x)))(np.array([1.0, 2.0]))
    assert slope.tolist() == [-1.0, 1.0]
