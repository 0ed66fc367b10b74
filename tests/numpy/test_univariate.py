"""`np.poly1d`: texts, operators, derivatives, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

EXPRESSIONS = [
    "p", "q", "-p", "+p", "p + q", "p - q", "p * q", "p / q", "p + 1", "1 - p", "2 * p", "p * 2", "p / 4", "p ** 3",
    "p ** 0", "p(2)", "p([1, 2])", "p(q)", "p.c", "p.coef", "p.coefficients", "p.coeffs", "p.o", "p.order",
    "np.sort(p.r)", "np.sort(p.roots)", "p.variable", "p[0]", "p[2]", "p[9]", "len(p)", "list(p)", "p == q",
    "p == np.poly1d(p)", "p != q", "p.deriv()", "p.deriv(2)", "p.integ()", "p.integ(2, [1, 2])",
    "np.polyval(p, 3.0)", "np.polyval([1, 2], q)", "np.polyder(p)", "np.polyint(p)", "np.polyadd(p, [1])",
    "np.polymul([2], p)", "np.polydiv(p, q)", "np.sort(np.roots(p))", "np.poly1d([0, 0, 0])",
    "np.poly1d([0, 0, 1])", "np.poly1d(3)", "np.poly1d([1, 2], True)", "np.poly1d([1, 2, 3], variable='z')",
    "np.asarray(p)", "np.poly1d(np.polyfit([0, 1, 2], [1, 3, 5], 1))(4)", "set_power(p, 1, 7)",
    "set_power(p, 4, 7)",
]  # fmt: skip


def set_power(p: Any, power: int, value: Any) -> Any:
    """Return a polynomial after an assignment to the coefficient of a power."""
    p[power] = value
    return p


def run(source: str, numpy_: Any) -> Any:
    """Return what an expression of two polynomials gives."""
    scope = {"np": numpy_, "p": numpy_.poly1d([1.0, -3.0, 2.0]), "q": numpy_.poly1d([1, -1]), "set_power": set_power}
    return eval(source, scope)


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_it_does_what_numpys_does(source: str) -> None:
    made, expected = run(source, np), run(source, numpy)
    assert isinstance(made, np.poly1d) == isinstance(expected, numpy.poly1d)
    if isinstance(expected, numpy.poly1d):
        assert str(made) == str(expected)
        assert repr(made) == repr(expected)
    elif isinstance(expected, tuple | list):
        for each, wanted in zip(made, expected, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(each), numpy.asarray(wanted))
    elif isinstance(expected, str):
        assert made == expected
    else:
        numpy.testing.assert_allclose(numpy.asarray(made), numpy.asarray(expected), atol=1e-12)


@pytest.mark.parametrize("source", ["np.poly1d([[1, 2]])", "set_power(p, -1, 2)", "p ** -1", "p ** 0.5"])
def test_what_numpy_refuses_is_an_error(source: str) -> None:
    for namespace in (np, numpy):
        with pytest.raises(ValueError, match=r".+"):
            run(source, namespace)


def test_coefficients_and_places_have_gradients_on_every_backend() -> None:
    for backend in ("numpy", "jax"):
        with tb.default_backend(backend):
            slopes: Any = tb.grad(lambda c, x: np.poly1d(c).deriv()(x), argnums=(0, 1))(np.array([1.0, 2.0, 3.0]), 2.0)
        assert [numpy.asarray(each).tolist() for each in slopes] == [[4.0, 1.0, 0.0], 2.0]


def test_numpys_numbers_times_a_polynomial_are_a_polynomial() -> None:
    for number in (np.float64(2), np.array(2.0)):
        assert number * np.poly1d([1.0, 2.0]) == np.poly1d([2.0, 4.0])
