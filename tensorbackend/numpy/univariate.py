"""`np.poly1d`: a polynomial with operators, over an array of coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any

import numpy

from ..errors import ArgumentError, expected
from .arrays import functions, ndarray
from .conversion import NUMBERS, host
from .functions import PUBLIC
from .polynomials import coefficients_of


class poly1d:
    """A polynomial: its coefficients, the highest power first, or its roots.

    Parameters
    ----------
    c_or_r
        The coefficients, or the roots.
    r : bool, default False
        Whether roots are given.
    variable : str, optional
        The letter in texts, by default x.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> import tensorbackend.numpy as np
    >>> p = np.poly1d([1.0, -3.0, 2.0])
    >>> p(np.arange(3.0)), p.deriv()
    (array([2., 0., 0.]), poly1d([ 2., -3.]))
    >>> tb.grad(lambda c: np.poly1d(c)(2.0))(np.array([1.0, 1.0]))
    array([2., 1.])
    """

    __hash__ = None  # type: ignore[assignment] # it can be changed
    __array_ufunc__ = None

    coeffs: Any
    """The coefficients."""
    variable: str

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        given = c_or_r.coeffs if isinstance(c_or_r, poly1d) else c_or_r
        self.variable = variable or (c_or_r.variable if isinstance(c_or_r, poly1d) else "x")
        self.coeffs = coefficients_of(functions["poly"](given) if r else given)

    # NumPy's other names

    @property
    def order(self) -> int:
        """The highest power."""
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        """The roots."""
        return functions["roots"](self.coeffs)

    @property
    def c(self) -> Any:
        """The coefficients."""
        return self.coeffs

    @c.setter
    def c(self, values: Any) -> None:
        self.coeffs = functions["asarray"](values)

    coef = coefficients = c
    r = roots
    o = order

    # As a function, an array, and texts

    def __call__(self, val: Any) -> Any:
        return functions["polyval"](self.coeffs, val)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        return numpy.array(host(self.coeffs), dtype=dtype, copy=True)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Any]:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> Any:
        return self.coeffs[self.order - power] if 0 <= power <= self.order else self.coeffs.dtype.type(0)

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ArgumentError("Does not support negative powers.")
        missing = power - self.order
        if missing > 0:
            self.coeffs = functions["concatenate"]([functions["zeros"](missing, self.coeffs.dtype), self.coeffs])
        self.coeffs[self.order - power] = value

    def __repr__(self) -> str:
        return f"poly1d({repr(self.coeffs)[6:-1]})"

    def __str__(self) -> str:
        return str(numpy.poly1d(host(self.coeffs), variable=self.variable))

    # Operators

    def __neg__(self) -> poly1d:
        return poly1d(-self.coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> Any:
        return functions["polyadd"](self, other)

    def __radd__(self, other: Any) -> Any:
        return functions["polyadd"](other, self)

    def __sub__(self, other: Any) -> Any:
        return functions["polysub"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return functions["polysub"](other, self)

    def __mul__(self, other: Any) -> Any:
        return poly1d(self.coeffs * other) if _is_number(other) else functions["polymul"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return poly1d(self.coeffs * other) if _is_number(other) else functions["polymul"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return poly1d(self.coeffs / other) if _is_number(other) else functions["polydiv"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other / self.coeffs) if _is_number(other) else functions["polydiv"](other, self)

    def __pow__(self, power: Any) -> poly1d:
        if not _is_number(power) or int(power) != power or power < 0:
            raise ArgumentError(expected("a power that is an int of at least 0", power=power))
        made = poly1d([1])
        for _ in range(int(power)):
            made = functions["polymul"](made, self)
        return made

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return functions["array_equal"](self.coeffs, other.coeffs)

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative."""
        return poly1d(functions["polyder"](self.coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """An integral."""
        return poly1d(functions["polyint"](self.coeffs, m, k))


poly1d.__module__ = __package__


def _is_number(value: Any) -> bool:
    return value.__class__ in NUMBERS or (value.__class__ is ndarray and not value.ndim)


def _of_polynomials(name: str) -> None:
    """Lets a function of coefficients take `poly1d`, and return it where it gets one."""
    of_arrays = PUBLIC[name]

    @wraps(of_arrays)
    def call(*arguments: Any, **options: Any) -> Any:
        if not any(isinstance(each, poly1d) for each in arguments):
            return of_arrays(*arguments, **options)
        made = of_arrays(*[each.coeffs if isinstance(each, poly1d) else each for each in arguments], **options)
        return tuple(map(poly1d, made)) if isinstance(made, tuple) else poly1d(made)

    functions[name] = PUBLIC[name] = call


for _name in ("polyadd", "polysub", "polymul", "polydiv", "polyder", "polyint"):
    _of_polynomials(_name)
