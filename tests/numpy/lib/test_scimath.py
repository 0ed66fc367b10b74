"""Functions that return complex numbers outside the domain of the real ones, compared with NumPy's."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.lib import scimath


@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
@pytest.mark.parametrize("x", [[0.25, 0.5], [-0.25, 0.5], [-2.0, 3.0], [0.25 + 1j]])
def test_elements_outside_the_domain_give_complex_numbers(name: str, x: list[complex]) -> None:
    made, expected = getattr(scimath, name)(np.array(x)), getattr(numpy.emath, name)(numpy.array(x))
    assert made.dtype == expected.dtype
    numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-12)


@pytest.mark.parametrize("base", [-2.0, 2.0])
def test_logarithms_and_powers_of_negative_numbers(base: float) -> None:
    x = [-8.0, 4.0]
    numpy.testing.assert_allclose(numpy.asarray(scimath.logn(base, x)), numpy.emath.logn(base, x))
    numpy.testing.assert_allclose(numpy.asarray(scimath.power(x, 0.5)), numpy.emath.power(x, 0.5))


def test_it_is_also_emath() -> None:
    assert np.emath is np.lib.scimath is scimath
