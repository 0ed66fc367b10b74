"""`numpy.polynomial`: NumPy's own series, whose coefficients are NumPy's, at the places of any array.

A series is evaluated by operators of the array of places, so its values are arrays of their backend and have
gradients. Functions convert their results, such as nodes and weights of quadrature, to arrays of the default backend.

Examples
--------
>>> import tensorbackend as tb
>>> import tensorbackend.numpy as np
>>> square = np.polynomial.Polynomial([0.0, 0.0, 1.0])
>>> square(np.array([1.0, 2.0])), tb.grad(square)(np.array(3.0))
(array([1., 4.]), array(6.))
>>> np.polynomial.legendre.leggauss(2)[1]
array([1., 1.])
"""

from __future__ import annotations

from functools import wraps
from sys import modules
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy
from numpy.polynomial import set_default_printstyle
from numpy.polynomial.polyutils import mapparms

from ..arrays import ndarray
from ..conversion import back

__all__ = [
    "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "chebyshev", "hermite", "hermite_e",
    "laguerre", "legendre", "polynomial", "polyutils", "set_default_printstyle",
]  # fmt: skip


class _AtArrays:
    """What a series of NumPy's is here besides: a function of arrays."""

    domain: Any
    window: Any
    coef: Any
    _val: Any

    def __call__(self, arg: Any) -> Any:
        if arg.__class__ is not ndarray:
            return super().__call__(arg)  # type: ignore[misc] # NumPy's class, which comes next
        offset, scale = mapparms(self.domain, self.window)
        return self._val(offset + scale * arg, self.coef)


class Polynomial(_AtArrays, numpy.polynomial.Polynomial):
    """A series of powers."""


class Chebyshev(_AtArrays, numpy.polynomial.Chebyshev):
    """A series of Chebyshev polynomials."""


class Legendre(_AtArrays, numpy.polynomial.Legendre):
    """A series of Legendre polynomials."""


class Hermite(_AtArrays, numpy.polynomial.Hermite):
    """A series of Hermite polynomials of the physicists."""


class HermiteE(_AtArrays, numpy.polynomial.HermiteE):
    """A series of Hermite polynomials of the probabilists."""


class Laguerre(_AtArrays, numpy.polynomial.Laguerre):
    """A series of Laguerre polynomials."""


def _returning_arrays(function: Any) -> Any:
    """A function of NumPy's whose results are arrays of the default backend."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        return back(function(*arguments, **options))

    return call


def _module(name: str) -> Any:
    """One of NumPy's modules for a kind of series."""
    theirs: Final = getattr(numpy.polynomial, name)
    ours = ModuleType(f"{__name__}.{name}", theirs.__doc__)
    for each in theirs.__all__:
        value = getattr(theirs, each)
        if isinstance(value, numpy.ndarray):
            value = back(value)
        value = globals().get(each, value) if isinstance(value, type) else value
        setattr(ours, each, _returning_arrays(value) if isinstance(value, FunctionType) else value)
    modules[ours.__name__] = ours
    return ours


chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils = map(
    _module, ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial", "polyutils")
)
