"""The universal functions: a row for each, from NumPy's name to the op that computes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import ArgumentError
from ..tensor import Tensor

# Bodies of those that the library has no op for


def _beside(other: Any, x: Any, dtype: DType) -> Tensor:
    """An operand in a dtype, a number on the backend of the other operand."""
    return tb.astype(x, dtype) if isinstance(x, Tensor) else tb.full((), x, dtype=dtype, like=other)


def _fmax(x1: Any, x2: Any) -> Tensor:
    """The larger of two elements; of NaN and a number the number."""
    return _choose_number(tb.maximum, x1, x2)


def _fmin(x1: Any, x2: Any) -> Tensor:
    """The smaller of two elements; of NaN and a number the number."""
    return _choose_number(tb.minimum, x1, x2)


def _choose_number(op: Callable[[Any, Any], Tensor], x1: Any, x2: Any) -> Tensor:
    chosen = op(x1, x2)
    if not chosen.dtype.is_inexact:
        return chosen
    first, second = (_beside(chosen, x, chosen.dtype) for x in (x1, x2))
    return tb.where(tb.isnan(first), second, tb.where(tb.isnan(second), first, chosen))


def _exp2(x: Any) -> Tensor:
    """2 to the power of each element."""
    return tb.pow(2.0, x)


def _radians(x: Any) -> Tensor:
    """Degrees as radians."""
    return tb.multiply(x, math.pi / 180)


def _degrees(x: Any) -> Tensor:
    """Radians as degrees."""
    return tb.multiply(x, 180 / math.pi)


def _heaviside(x1: Any, x2: Any) -> Tensor:
    """0 for negative elements, 1 for positive ones, x2 at 0."""
    x1 = x1 if isinstance(x1, Tensor) else _beside(x2, x1, x2.dtype)
    step = tb.where(tb.greater(x1, 0), 1.0, 0.0)
    chosen = tb.where(tb.equal(x1, 0), x2, tb.astype(step, tb.result_type(x1, x2)))
    return tb.where(tb.isnan(x1), x1, chosen)


def _logaddexp2(x1: Any, x2: Any) -> Tensor:
    """The logarithm to the base 2 of 2**x1 + 2**x2."""
    scale, dtype = math.log(2), tb.result_type(x1, x2)
    first, second = (tb.astype(x, dtype) if isinstance(x, Tensor) else x for x in (x1, x2))
    return tb.divide(tb.logaddexp(first * scale, second * scale), scale)


def _divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """The quotient rounded down, and the remainder."""
    return tb.floor_divide(x1, x2), tb.remainder(x1, x2)


def _modf(x: Any) -> tuple[Tensor, Tensor]:
    """The fractional and the integral part of each element, with its sign."""
    whole = tb.trunc(x)
    rest = tb.where(tb.isinf(x), 0.0, tb.subtract(x, whole))
    return tb.copysign(rest, x), whole


def _gcd(x: Any, y: Any) -> Tensor:
    """Greatest common divisors."""
    return tb.gcd(x, y)  # a name that is imported at its first use


def _lcm(x: Any, y: Any) -> Tensor:
    """Least common multiples."""
    return tb.lcm(x, y)


def _bitwise_count(x: Any) -> Tensor:
    """The numbers of bits that are 1 in the magnitudes of integers."""
    signed = isinstance(x, Tensor) and x.template.dtype.kind == "int"
    return tb.population_count(tb.abs(x) if signed else x)


def _frexp(x: Any) -> tuple[Tensor, Tensor]:
    """Mantissas from 0.5 to 1 and exponents of 2."""
    usual = tb.logical_and(tb.isfinite(x), tb.not_equal(x, 0))
    size = tb.where(usual, tb.abs(x), 1.0)
    exponent = tb.floor(tb.log2(size)) + 1
    half = tb.trunc(exponent / 2)
    mantissa = size / tb.pow(2.0, half) / tb.pow(2.0, exponent - half)
    exponent = tb.where(mantissa >= 1, exponent + 1, tb.where(mantissa < 0.5, exponent - 1, exponent))
    mantissa = tb.where(mantissa >= 1, mantissa / 2, tb.where(mantissa < 0.5, mantissa * 2, mantissa))
    signed = tb.where(usual, tb.copysign(mantissa, x), x)
    return signed, tb.astype(tb.where(usual, exponent, 0.0), tb.int32)


def _ldexp(x1: Any, x2: Any) -> Tensor:
    """x1 times 2 to the power x2, in float64: in steps none of which is out of range, and rounded once."""
    power = tb.astype(tb.clip(tb.astype(x2, tb.int64), -2200, 2200), tb.float64)
    third = tb.trunc(power / 3)
    given = x1 if isinstance(x1, Tensor) else tb.full((), x1, dtype=tb.float64, like=x2)
    value = tb.astype(given, tb.float64)
    for part in (third, third, power - third - third):
        value = value * tb.pow(2.0, part)
    return tb.astype(value, given.dtype)


def _spacing(x: Any) -> Tensor:
    """The distance to the next floating number away from 0."""
    x = x if isinstance(x, Tensor) else tb.asarray(x)
    away = tb.where(tb.signbit(x), -math.inf, math.inf)
    gap = tb.nextafter(x, tb.astype(away, x.dtype)) - x
    return tb.where(tb.isinf(x), math.nan, gap)


def _matvec(x1: Any, x2: Any) -> Tensor:
    """Matrices times vectors."""
    return tb.matmul(x1, x2[..., None])[..., 0]


def _vecmat(x1: Any, x2: Any) -> Tensor:
    """Vectors, conjugated, times matrices."""
    return tb.matmul(tb.conj(x1)[..., None, :], x2)[..., 0, :]


def _power(x1: Any, x2: Any) -> Tensor:
    """x1 to the power x2; integers have no negative powers among integers."""
    if x2.__class__ is int:
        negative: Any = x2 < 0 and _is_integer(x1)
    elif isinstance(x2, Tensor):
        read = x2.template.dtype.kind == "int" and x2.backend.holds_data and _is_integer(x1)
        negative = read and tb.any(tb.less(x2, 0))
    else:
        negative = isinstance(x2, numpy.integer) and x2 < 0 and _is_integer(x1)
    if negative:
        raise ArgumentError("Integers to negative integer powers are not allowed.")
    return tb.pow(x1, x2)


def _is_integer(x: Any) -> bool:
    """Whether a base is of integers, or of bools, which an integer makes integers."""
    if isinstance(x, Tensor):
        return x.template.dtype.is_integer or x.template.dtype is bool_
    return isinstance(x, int | numpy.integer | numpy.bool_)


def _sign_of_complex(x: Any) -> Tensor:
    """The sign of complex numbers: where one part only is infinite, the direction of that part."""
    parts = tb.real(x), tb.imag(x)
    infinite = [tb.isinf(part) for part in parts]
    one = tb.not_equal(*infinite)
    ends = [tb.where(each, tb.sign(part), 0.0) for each, part in zip(infinite, parts, strict=True)]
    nan = tb.logical_or(tb.isnan(parts[0]), tb.isnan(parts[1]))
    return tb.where(tb.logical_and(one, tb.logical_not(nan)), tb.complex(*ends), tb.sign(x))


def _bool_matmul(x1: Any, x2: Any) -> Tensor:
    """The product of matrices of bools."""
    return tb.matmul(tb.astype(x1, tb.int32), tb.astype(x2, tb.int32)) != 0


def _less_of_bools(x1: Any, x2: Any) -> Tensor:
    return tb.logical_and(tb.logical_not(x1), x2)


def _compare_complex(op: Callable[[Any, Any], Tensor], x1: Any, x2: Any) -> Tensor:
    first = x1 if isinstance(x1, Tensor) else _beside(x2, complex(x1), x2.dtype)
    second = x2 if isinstance(x2, Tensor) else _beside(x1, complex(x2), x1.dtype)
    reals, parts = (tb.real(first), tb.real(second)), (tb.imag(first), tb.imag(second))
    nan = tb.logical_or(tb.isnan(parts[0]), tb.isnan(parts[1]))
    less = tb.logical_and(tb.less(*reals), tb.logical_not(nan))
    return tb.logical_or(less, tb.logical_and(tb.equal(*reals), op(*parts)))


def _chosen_complex(x1: Any, x2: Any, first: Tensor, *, number: bool = False) -> Tensor:
    """x1 where it comes first, else x2; next to NaN that NaN, or the number."""
    asked = x2 if number else x1
    nan = tb.isnan(asked) if isinstance(asked, Tensor) else bool(asked != asked)
    return tb.where(tb.logical_or(first, nan), x1, x2)


def _same(x: Any) -> Tensor:
    return tb.logical_or(x, False)


_PLAIN: Final = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "maximum", "minimum", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "hypot", "copysign", "nextafter", "logaddexp", "exp", "expm1", "log",
    "log1p", "log2", "log10", "sqrt", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "negative", "positive",
    "isinf", "isfinite", "logical_not", "trunc", "floor", "ceil", "reciprocal", "cbrt", "signbit", "vecdot", "matmul",
]  # fmt: skip
"""Universal functions with the name of the op."""

_RENAMED: Final[Mapping[str, Callable[..., Any]]] = {
    "absolute": tb.abs, "arccos": tb.acos, "arccosh": tb.acosh, "arcsin": tb.asin, "arcsinh": tb.asinh,
    "arctan": tb.atan, "arctan2": tb.atan2, "arctanh": tb.atanh, "bitwise_count": _bitwise_count,
    "conjugate": tb.conj, "deg2rad": _radians, "degrees": _degrees, "divmod": _divmod, "exp2": _exp2, "fabs": tb.abs,
    "float_power": tb.pow, "fmax": _fmax, "fmin": _fmin, "frexp": _frexp, "gcd": _gcd, "heaviside": _heaviside,
    "invert": tb.bitwise_invert, "isnan": tb.isnan, "lcm": _lcm, "ldexp": _ldexp, "left_shift": tb.bitwise_left_shift,
    "logaddexp2": _logaddexp2, "matvec": _matvec, "modf": _modf, "power": _power, "rad2deg": _degrees,
    "radians": _radians, "right_shift": tb.bitwise_right_shift, "rint": tb.round, "sign": tb.sign, "spacing": _spacing,
    "vecmat": _vecmat,
}  # fmt: skip
"""Universal functions under another name than the op, or written in ops."""

OPS: Final[dict[str, Callable[..., Any]]] = {**{name: getattr(tb, name) for name in _PLAIN}, **_RENAMED}
"""The op of each universal function, by NumPy's name."""

SYNONYMS: Final = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert", "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder",
    "pow": "power", "true_divide": "divide",
}  # fmt: skip
"""Other names of universal functions."""

OF_BOOLS: Final[dict[str, Callable[..., Any]]] = {
    "absolute": _same, "add": tb.logical_or, "conjugate": _same, "fmax": tb.logical_or, "fmin": tb.logical_and,
    "greater": lambda x1, x2: _less_of_bools(x2, x1), "less": _less_of_bools, "matmul": _bool_matmul,
    "maximum": tb.logical_or, "minimum": tb.logical_and, "multiply": tb.logical_and,
}  # fmt: skip
"""What some compute for bools, where the op takes numbers only."""

OF_COMPLEX: Final[dict[str, Callable[..., Any]]] = {
    "greater": lambda x1, x2: _compare_complex(tb.less, x2, x1), "less": partial(_compare_complex, tb.less),
    "greater_equal": lambda x1, x2: _compare_complex(tb.less_equal, x2, x1),
    "less_equal": partial(_compare_complex, tb.less_equal),
    "fmax": lambda x1, x2: _chosen_complex(x1, x2, _compare_complex(tb.less_equal, x2, x1), number=True),
    "fmin": lambda x1, x2: _chosen_complex(x1, x2, _compare_complex(tb.less_equal, x1, x2), number=True),
    "sign": _sign_of_complex,
    "maximum": lambda x1, x2: _chosen_complex(x1, x2, _compare_complex(tb.less_equal, x2, x1)),
    "minimum": lambda x1, x2: _chosen_complex(x1, x2, _compare_complex(tb.less_equal, x1, x2)),
}  # fmt: skip
"""What some compute for complex numbers, which the op has no order of."""

OPERATORS: Final = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul", "divmod": "divmod",
}  # fmt: skip
"""The universal function of each operator that has a reflected form and one in place."""

COMPARISON_METHODS: Final = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
                      "ne": "not_equal"}  # fmt: skip
SOLE: Final = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}

COMPARISONS: Final = frozenset(COMPARISON_METHODS.values())

ACCUMULATORS: Final[dict[str, Callable[..., Tensor]]] = {
    "add": tb.cumulative_sum, "multiply": tb.cumulative_prod, "maximum": tb.cumulative_max,
    "minimum": tb.cumulative_min,
}  # fmt: skip

REDUCERS: Final = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
                   "logical_or": "any"}  # fmt: skip
"""The function that reduces by a universal function."""
