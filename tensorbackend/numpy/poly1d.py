"""`np.poly1d`, a polynomial as an object, and `np.polynomial`, which NumPy computes on the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy

from .arrays import functions, ndarray
from .conversion import asarray, back, host


class poly1d:
    """A polynomial of one variable, which can be called, added, multiplied, differentiated and integrated.

    Parameters
    ----------
    c_or_r
        The coefficients, the highest power first; the roots if `r`.
    r : bool, default False
        Whether roots are given.
    variable : str, optional
        The letter in which it is printed, by default x.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> p = np.poly1d([1, -3, 2])
    >>> p(5), p.order, p.deriv()
    (np.int64(12), 1 + 1, poly1d([ 2, -3]))
    """

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            variable = variable or c_or_r.variable
            c_or_r = c_or_r.coeffs.copy()
        given = functions["atleast_1d"](functions["poly"](c_or_r) if r else asarray(c_or_r))
        if given.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        trimmed = functions["trim_zeros"](given, "f")
        self.coeffs: Any = trimmed if trimmed.size else functions["zeros"](1, dtype=given.dtype)
        self.variable: str = variable or "x"

    @property
    def order(self) -> int:
        """The degree."""
        return len(self.coeffs) - 1

    o = order

    @property
    def c(self) -> Any:
        """The coefficients, the highest power first."""
        return self.coeffs

    coef = coefficients = c

    @property
    def roots(self) -> Any:
        """The roots."""
        return functions["roots"](self.coeffs)

    r = roots

    def __call__(self, x: Any) -> Any:
        """The value at each element; the polynomial of a polynomial."""
        if isinstance(x, poly1d):
            total = poly1d([0])
            for each in self.coeffs:
                total = total * x + each
            return total
        return functions["polyval"](self.coeffs, x)

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative of order m."""
        return poly1d(functions["polyder"](self.coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """The m-fold integral, with constants k."""
        return poly1d(functions["polyint"](self.coeffs, m, k))

    def __neg__(self) -> poly1d:
        return poly1d(-self.coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return poly1d(functions["polyadd"](self.coeffs, _coefficients(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> poly1d:
        return poly1d(functions["polysub"](self.coeffs, _coefficients(other)))

    def __rsub__(self, other: Any) -> poly1d:
        return poly1d(functions["polysub"](_coefficients(other), self.coeffs))

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(functions["polymul"](self.coeffs, _coefficients(other)))

    __rmul__ = __mul__

    def __pow__(self, power: int) -> poly1d:
        if power != int(power) or power < 0:
            raise ValueError("Power to non-negative integers only.")
        total = poly1d([1])
        for _ in range(int(power)):
            total = total * self
        return total

    def __truediv__(self, other: Any) -> Any:
        if functions["ndim"](_coefficients(other)) == 0:
            return poly1d(self.coeffs / other)
        quotient, rest = functions["polydiv"](self.coeffs, _coefficients(other))
        return poly1d(quotient), poly1d(rest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, poly1d) and bool(functions["array_equal"](self.coeffs, other.coeffs))

    __hash__ = None  # type: ignore[assignment] # coefficients may be assigned to

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Any:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> Any:
        """The coefficient of a power."""
        return self.coeffs[self.order - power] if 0 <= power <= self.order else self.coeffs.dtype.type(0)

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        if power > self.order:
            front = functions["zeros"](power - self.order, dtype=self.coeffs.dtype)
            self.coeffs = functions["concatenate"]([front, self.coeffs])
        self.coeffs[self.order - power] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy.array(host(self.coeffs), dtype=dtype)

    def __repr__(self) -> str:
        return f"poly1d({repr(self.coeffs)[len('array(') : -1]})"

    def __str__(self) -> str:
        return str(numpy.poly1d(host(self.coeffs), variable=self.variable))


def _coefficients(value: Any) -> Any:
    return value.coeffs if isinstance(value, poly1d) else value


class Hosted:
    """A module of NumPy's whose functions are computed on the host: arrays in and out, but no gradients."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        made = (
            Hosted(found)
            if isinstance(found, ModuleType)
            else _on_host(found)
            if callable(found) and not isinstance(found, type)
            else found
        )
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return dir(self._module)


def _on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        made = back(function(*map(host, arguments), **host(options)))
        return made[()] if made.__class__ is ndarray and not made.ndim else made

    return call


poly1d.__module__ = __package__
polynomial = Hosted(numpy.polynomial)
