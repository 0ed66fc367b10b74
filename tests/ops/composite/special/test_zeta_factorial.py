"""Factorials: of integers exactly, between them compared with SciPy."""

from __future__ import annotations

import math

import numpy
import scipy.special

import tensorbackend as tb


def test_whole_numbers_are_exact() -> None:
    assert tb.factorial(tb.arange(21)).tolist() == [math.factorial(n) for n in range(21)]
    x = numpy.linspace(-3.35, 30.25, 57)
    assert numpy.allclose(tb.factorial(tb.asarray(x)), scipy.special.gamma(x + 1), rtol=1e-13)
