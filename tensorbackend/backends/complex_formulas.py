"""Formulas of complex numbers that hold for the arrays of any library: nothing but the result overflows in them.

The values where a part is infinite or NaN are tables that every backend reads. They are the Array API standard's
(2024.12), and C99's (annex G) where the standard has no row. A sign that both leave open is positive in the quadrant
that a table lists. In the other quadrants values follow by symmetry: all these functions have f(conj(z)) = conj(f(z)),
some are odd (f(-z) = -f(z)), cosh is even.
"""

from __future__ import annotations

from math import inf, nan, pi
from typing import Any, NamedTuple, TypeAlias

Entry = tuple[float, float]
Row = tuple[Entry, Entry, Entry, Entry]


class Specials(NamedTuple):
    """The special values of one function of z = a + bj."""

    symmetry: str
    """"odd" or "even" where a negative `a` follows from a positive one, else ""."""
    real: tuple[float, ...]
    """Real parts: rows by the kind of `a` (-inf, 0, finite, inf, NaN), columns by that of abs(b) (0, finite, inf,
    NaN), row-major. Where both parts are finite there is no special value, and the entry is not read."""
    imaginary: tuple[float, ...]
    """Imaginary parts in the same order, for a non-negative `b`."""
    rotates: bool
    """Whether the parts at an infinite `a` and a finite `b` other than 0 are multiplied by cos(b) and sin(b)."""


_N: Entry = (nan, nan)
_X: Entry = (0.0, 0.0)  # not read


def _table(*rows: Row, symmetry: str = "", rotates: bool = False) -> Specials:
    """A table of rows for an `a` of -inf (left out where that row follows by symmetry), 0, finite, inf and NaN."""
    if symmetry:
        rows = (rows[2], *rows)
    entries = [entry for row in rows for entry in row]
    return Specials(symmetry, tuple(re for re, _ in entries), tuple(im for _, im in entries), rotates)


_FINITE_EXP: Row = (_X, _X, _N, _N)
_NAN_EXP: Row = ((nan, 0.0), _N, _N, _N)
_INF_EXP: Row = ((inf, 0.0), (inf, inf), (inf, nan), (inf, nan))
_LOG = _table(
    ((inf, pi), (inf, pi), (inf, 0.75 * pi), (inf, nan)),
    *2 * ((_X, _X, (inf, pi / 2), _N),),
    ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
    (_N, _N, (inf, nan), _N),
)

SPECIALS: dict[str, Specials] = {
    "acos": _table(
        ((pi, -inf), (pi, -inf), (0.75 * pi, -inf), (nan, inf)),
        (_X, _X, (pi / 2, -inf), (pi / 2, nan)),
        (_X, _X, (pi / 2, -inf), _N),
        ((0.0, -inf), (0.0, -inf), (pi / 4, -inf), (nan, inf)),
        (_N, _N, (nan, -inf), _N),
    ),
    "acosh": _table(
        ((inf, pi), (inf, pi), (inf, 0.75 * pi), (inf, nan)),
        (_X, _X, (inf, pi / 2), (nan, pi / 2)),
        (_X, _X, (inf, pi / 2), _N),
        ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
        (_N, _N, (inf, nan), _N),
    ),
    "asinh": _table(
        *2 * ((_X, _X, (inf, pi / 2), _N),),
        ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
        ((nan, 0.0), _N, (inf, nan), _N),
        symmetry="odd",
    ),
    "atanh": _table(
        (_X, _X, (0.0, pi / 2), (0.0, nan)),
        (_X, _X, (0.0, pi / 2), _N),
        ((0.0, pi / 2), (0.0, pi / 2), (0.0, pi / 2), (0.0, nan)),
        (_N, _N, (0.0, pi / 2), _N),
        symmetry="odd",
    ),
    "cosh": _table(
        (_X, _X, (nan, 0.0), (nan, 0.0)), _FINITE_EXP, _INF_EXP, _NAN_EXP, symmetry="even", rotates=True
    ),
    "exp": _table(4 * ((0.0, 0.0),), *2 * (_FINITE_EXP,), _INF_EXP, _NAN_EXP, rotates=True),
    "log": _LOG,
    "log1p": _LOG,
    "sinh": _table(
        (_X, _X, (0.0, nan), (0.0, nan)), _FINITE_EXP, _INF_EXP, _NAN_EXP, symmetry="odd", rotates=True
    ),
    "sqrt": _table(
        ((0.0, inf), (0.0, inf), (inf, inf), (nan, inf)),
        *2 * ((_X, _X, (inf, inf), _N),),
        ((inf, 0.0), (inf, 0.0), (inf, inf), (inf, nan)),
        (_N, _N, (inf, inf), _N),
    ),
    "tanh": _table(
        (_X, _X, (0.0, nan), (0.0, nan)), _FINITE_EXP, 4 * ((1.0, 0.0),), _NAN_EXP, symmetry="odd"
    ),
}  # fmt: skip


Array: TypeAlias = Any

_HALF_RANGES = {8: 65, 16: 513}
"""The exponent of the power of two by which operands are divided so that their product does not overflow, by the bytes
of a complex number."""


class ComplexFormulas:
    """The functions of an array library, and formulas for complex arrays made of them.

    Functions that are not defined here are the library's, by NumPy's names. Override those that the library lacks or
    has in another form. All complex operands have the dtype to compute in, complex128 if the library has it.

    Parameters
    ----------
    module : module
        The library, such as `numpy`.

    Examples
    --------
    >>> import numpy
    >>> formulas = ComplexFormulas(numpy)
    >>> large = numpy.array([1e308 + 1e308j])
    >>> formulas.quotient(large, large)
    array([1.+0.j])
    """

    wide: str = "float64"
    """The dtype in which functions of floats compute, and the parts of complex numbers."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = vars(self)[name] = getattr(self._module, name)
        return attribute

    # What libraries differ in

    def join(self, real: Array, imaginary: Array) -> Array:
        """The complex array of two parts; arithmetic with 1j would lose signs of zeros and make NaN of infinities."""
        dtype = self.result_type(real.dtype, "complex64")
        joined = self.empty(self.broadcast_shapes(real.shape, imaginary.shape), dtype)
        joined.real = real
        joined.imag = imaginary
        return joined

    def constants(self, values: tuple[float, ...], places: Array) -> Array:
        """An array, in the dtype of parts, that has at each place the value of that number."""
        return self.asarray(values, dtype=self.wide)[places]

    def unfused_product(self, product: Array) -> Array:
        """The product, rounded before it enters a sum: a compiler may not fuse the two."""
        return product

    # Parts

    def multiply_by_i(self, z: Array) -> Array:
        """iz, without arithmetic."""
        return self.join(-z.imag, z.real)

    def divide_by_i(self, z: Array) -> Array:
        """-iz, without arithmetic."""
        return self.join(z.imag, -z.real)

    def exponent(self, z: Array) -> Array:
        """The e such that 2**-e brings the larger part into [0.5, 1); 0 for zero, infinity and NaN."""
        size = self.maximum(self.abs(z.real), self.abs(z.imag))
        return self.frexp(self.where(self.isfinite(size), size, 0))[1]

    def scale(self, z: Array, exponent: Array) -> Array:
        """z * 2**exponent."""
        return self.join(self.ldexp(z.real, exponent), self.ldexp(z.imag, exponent))

    # Special values

    def special(self, name: str, z: Array) -> Array:
        """The values of a function where a part of z is infinite or NaN, from its table in `SPECIALS`."""
        table = SPECIALS[name]
        a, b = z.real, z.imag
        row = self.where(self.isinf(a), self.where(a > 0, 3, 0), self.where(a == 0, 1, 2))
        column = self.where(self.isinf(b), 2, self.where(b == 0, 0, 1))
        place = 4 * self.where(self.isnan(a), 4, row) + self.where(self.isnan(b), 3, column)
        real, imaginary = (self.constants(values, place) for values in (table.real, table.imaginary))
        if table.rotates:
            turns = self.isinf(a) & (column == 1) & ~self.isnan(b)
            real = self.where(turns, real * self.cos(b), real)
            imaginary = self.where(turns, imaginary * self.sin(self.abs(b)), imaginary)
        negative = self.signbit(a) & ~self.isnan(a)
        if table.symmetry == "odd":
            real = self.where(negative, -real, real)
        elif table.symmetry == "even":
            imaginary = self.where(negative, -imaginary, imaginary)
        return self.join(real, self.where(self.signbit(b) & ~self.isnan(b), -imaginary, imaginary))

    def special_rotated(self, name: str, z: Array) -> Array:
        """f(z) = -i g(iz): the sine from the hyperbolic sine, and so on, as the Array API standard defines them."""
        return self.divide_by_i(self.special(name, self.multiply_by_i(z)))

    def special_expm1(self, z: Array) -> Array:
        """exp(z) - 1 where a part of z is infinite or NaN."""
        power = self.special("exp", z)
        return self.join(power.real - 1, power.imag)

    # Formulas

    def direction(self, z: Array, size: Array) -> Array:
        """z / size by parts; 0 + 0j where the size is 0."""
        zero = size == 0
        z, size = self.where(zero, 0, z), self.where(zero, 1, size)
        return self.join(z.real / size, z.imag / size)

    def sign_of(self, z: Array) -> Array:
        """z / abs(z), also for subnormal and for the largest numbers; NaN in both parts where either is NaN."""
        inside = self.isfinite(z)
        values = self.where(inside, self.scale(z, -self.exponent(z)), z)
        return self.direction(values, self.where(self.isnan(values), self.nan, self.abs(values)))

    def product_by_parts(self, x: Array, y: Array) -> Array:
        """(ac - bd) + (ad + bc)j."""
        a, b, c, d = x.real, x.imag, y.real, y.imag
        products = [self.unfused_product(product) for product in (a * c, b * d, a * d, b * c)]
        return self.join(self.asarray(products[0] - products[1]), self.asarray(products[2] + products[3]))

    def exact_product(self, x: Array, y: Array, product: Array) -> Array:
        """The product by parts, of scaled operands where a part of `product_by_parts` is not finite."""
        # Only factors above 1 have a product that overflows: scaled down they keep all digits, and nothing overflows.
        down = self.asarray(-_HALF_RANGES[x.dtype.itemsize])
        scaled = self.product_by_parts(self.scale(x, down), self.scale(y, down))
        # Where another part is an infinity or NaN, a finite part contributes no more than its sign.
        signs = self.product_by_parts(self._mantissas(x), self._mantissas(y))
        inside = self.isfinite(x) & self.isfinite(y)
        # Scaled back in two steps: the derivative of a single step would be infinite, and NaN with a cotangent of zero.
        other = self.where(inside, self.scale(self.scale(scaled, -down), -down), signs)
        # A part that is finite is right already, and scaling for the other part may make it underflow.
        pairs = (product.real, other.real), (product.imag, other.imag)
        return self.join(*(self.where(self.isfinite(part), part, instead) for part, instead in pairs))

    def _mantissas(self, z: Array) -> Array:
        return self.join(self.asarray(self.frexp(z.real)[0]), self.asarray(self.frexp(z.imag)[0]))

    def quotient(self, x: Array, y: Array) -> Array:
        """x / y: by parts for a divisor that is real or imaginary (Array API standard), else by `scaled_quotient`."""
        a, b, c, d = x.real, x.imag, y.real, y.imag
        over_imaginary = self.join(self.divide(b, d), self.divide(-a, d))
        ratio = self.where(c == 0, over_imaginary, self.scaled_quotient(x, y))
        return self.where(d == 0, self.join(self.divide(a, c), self.divide(b, c)), ratio)

    def scaled_quotient(self, x: Array, y: Array) -> Array:
        """Smith's formula (1962) on operands scaled by powers of two, so that only the result may overflow."""
        above, below = self.exponent(x), self.exponent(y)
        x, y = self.scale(x, -above), self.scale(y, -below)
        a, b, c, d = x.real, x.imag, y.real, y.imag
        upright = self.abs(c) >= self.abs(d)
        # (a + bj) / (c + dj) = (b - aj) / (d - cj): the larger part of the divisor comes first.
        a, b = self.where(upright, a, b), self.where(upright, b, -a)
        c, d = self.where(upright, c, d), self.where(upright, d, -c)
        # Where x has an infinite part only the sign of the ratio counts, and the ratio itself may underflow.
        infinite, one = self.isinf(a) | self.isinf(b), self.ones_like(c)
        ratio = self.where(infinite, self.copysign(one, c) * self.copysign(one, d), d / c)
        size = c + d * ratio
        return self.scale(self.join((a + b * ratio) / size, (b - a * ratio) / size), above - below)

    def polar_power(self, x: Array, y: Array, angle: Array) -> Array:
        """x to the power y, computed from the length and the angle of x."""
        length = self.abs(x)
        length_of_power = length**y.real * self.exp(-angle * y.imag)
        turn = angle * y.real + y.imag * self.log(length)
        return self.join(self.asarray(length_of_power * self.cos(turn)), self.asarray(length_of_power * self.sin(turn)))

    def matrix_product(self, left: Array, right: Array) -> Array:
        """The product of stacks of matrices; if it is not all finite, it is made of real products."""
        quick_product = self.matmul(left, right)
        if self.isfinite(quick_product).all():
            return quick_product
        a, b, c, d = (self.ascontiguousarray(part) for part in (left.real, left.imag, right.real, right.imag))
        return self.join(a @ c - b @ d, a @ d + b @ c)
