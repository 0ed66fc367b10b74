"""The error function and its inverse in few and short calls of NumPy: each element by one formula, and in place.

In float64 the formulas, their coefficients and the bits are those of `array_module.special.error_function`. For results
that are rounded to float32 or less, the complement is t * exp(P(t) - x**2) with t = 2 / (2 + x), as in W. H. Press et
al., "Numerical recipes", section 6.2.2. Here P is the polynomial that interpolates at 13 of Chebyshev's points of the
range in which such results are not 0. It is off by at most 3e-10. `normal_gate` has one of fewer points, for float32.

A number is an array without axes, as NumPy takes half a microsecond to make one of a Python number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, NamedTuple

from ...dtypes import DType, float64
from ..array_module.base import Array
from ..array_module.special.error_function import (
    CENTRAL,
    FAR_TAIL,
    INVERSE_SQRT_2,
    INVERSE_SQRT_PI,
    LARGE,
    MIDDLE,
    NEAR_TAIL,
    SMALL,
    polynomial,
    ratio,
)

_EXPONENT: Final = (
    0.19349575553890855, -1.4260027880706425, 4.558782662409405, -8.17552012859035, 8.891558188049295,
    -6.045369195817179, 2.8336757575704694, -1.1428693367695553, 0.15572626336140208, 0.04285737519623922,
    0.37945925744405024, 0.9997098884491268, -1.2655036985030161,
)  # fmt: skip
"""P, from the highest power down."""


class _Numbers(NamedTuple):
    small: Any
    middle: Any
    large: Any
    exponent: Any
    near: Array
    """Up to this size `small` holds, up to 4 `middle`, and from there on `large`."""
    most: Array
    """From here on the complement is 0 in float64."""
    most_single: Array
    """From here on the complement is 0 in float32."""
    one: Array
    two: Array
    four: Array
    sixteen: Array
    inverse_sqrt_pi: Array
    central: Any
    """For the inverse: up to 0.85; `near_tail` holds from there on, and `far_tail` next to 1."""
    near_tail: Any
    far_tail: Any
    half: Array
    central_end: Array
    inverse_sqrt_2: Array


@cache
def _numbers(numpy: Any) -> _Numbers:
    def arrays(value: Any) -> Any:
        return tuple(map(arrays, value)) if isinstance(value, tuple) else numpy.array(value)

    return _Numbers(*map(arrays, (
        SMALL, MIDDLE, LARGE, _EXPONENT, 0.46875, 28.0, 10.6, 1.0, 2.0, 4.0, 16.0, INVERSE_SQRT_PI,
        CENTRAL, NEAR_TAIL, FAR_TAIL, 0.5, 0.85, INVERSE_SQRT_2,
    )))  # fmt: skip


_SINGLE_EXPONENT: Final = (
    4.916548277833499e-05, 7.254105730680749e-05, -0.0004945851396769285, -0.0002464186691213399,
    0.0035348646342754364, -0.0008708024979569018, -0.028741005808115005, 0.014718582853674889,
    0.5656127333641052, -0.5536350607872009,
)  # fmt: skip
"""P for steps in float32, in 46 / 19 * t - 27 / 19, which is from -1 to 1 for sizes up to 9.5: few digits cancel."""


@cache
def _single_numbers(numpy: Any) -> tuple[Any, ...]:
    return (
        tuple([numpy.array(number, numpy.float32) for number in _SINGLE_EXPONENT]),
        *(numpy.array(number, numpy.float32) for number in (0.5**0.5, 1.0, 2.0, 46 / 19, 27 / 19, 0.5)),
    )


def normal_gate(numpy: Any, x: Array) -> Array:
    """erfc(-x / sqrt(2)) of a float32 array, in steps of float32.

    It is off by 8 ulps at most from -1 on, and below that by the rounding of x**2, up to 150 ulps where it is tiny.
    """
    exponent, root, one, two, scale, shift, half = _single_numbers(numpy)
    size = numpy.abs(x)
    size *= root
    t = two / (two + size)
    numpy.multiply(t, scale, out=size)
    size -= shift
    values: Array = polynomial(size, exponent)
    numpy.multiply(x, x, out=size)
    size *= half
    values -= size
    numpy.exp(values, values)
    values *= t
    numpy.copysign(one, x, out=size)
    size += one
    values -= size  # of 2 where x is positive, else of 0: to choose by a random mask takes longer
    return numpy.abs(values, values)


def error_functions(dtype: DType) -> dict[str, Callable[[Any, Array], Array]]:
    """Functions of a float64 array of one axis, for results in a dtype.

    `erfc` has full relative accuracy where it is tiny.
    """
    if dtype is float64:
        return {"erf": partial(_erf, _upper), "erfc": _erfc, "erf_inv": _erf_inv}
    return {"erf": partial(_erf, _upper_single), "erfc": _erfc_single, "erf_inv": _erf_inv}


def _erf_inv(numpy: Any, x: Array) -> Array:
    """The inverse of the error function of a float64 array of one axis; infinite at -1 and 1, NaN beyond.

    The formula of the central part is taken for all elements, as those beyond it are few in most arrays.
    """
    numbers = _numbers(numpy)
    q = numbers.half * x
    result: Array = ratio(0.180625 - q * q, numbers.central)
    result *= q
    size = numpy.abs(x)
    (places,) = (size > numbers.central_end).nonzero()
    if len(places):
        result[places] = numpy.copysign(_tail_inverse(numpy, size[places]), x[places])
    result *= numbers.inverse_sqrt_2
    return result


def _tail_inverse(numpy: Any, size: Array) -> Array:
    """The quantiles of a normal distribution for the sizes above 0.85 of which the inverse is wanted."""
    numbers = _numbers(numpy)
    rest = numbers.half - numbers.half * size
    root = numpy.sqrt(-numpy.log(rest))
    values: Array = ratio(root - 1.6, numbers.near_tail)
    if not (root <= 5.0).all():
        numpy.putmask(values, root > 5.0, ratio(root - 5.0, numbers.far_tail))
        numpy.putmask(values, size == numbers.one, numpy.inf)
    return values


def _erf(upper: Callable[[Any, Array], Array], numpy: Any, x: Array) -> Array:
    def tail(x: Array) -> Array:
        return numpy.copysign(_numbers(numpy).one - upper(numpy, numpy.abs(x)), x)

    return _split_call(numpy, x, partial(_small, numpy), tail)


def _erfc(numpy: Any, x: Array) -> Array:
    one = _numbers(numpy).one
    return _split_call(numpy, x, lambda x: one - _small(numpy, x), lambda x: _complement(numpy, x, _upper))


def _erfc_single(numpy: Any, x: Array) -> Array:
    return _complement(numpy, x, _upper_single)


def _split_call(numpy: Any, x: Array, small: Callable[[Array], Array], tail: Callable[[Array], Array]) -> Array:
    """`small` of the elements near 0, `tail` of all others."""
    near = numpy.abs(x) <= _numbers(numpy).near
    (places,) = near.nonzero()
    if len(places) in (0, len(x)):
        return small(x) if len(places) else tail(x)
    result = numpy.empty_like(x)
    result[places] = small(x[places])
    (places,) = numpy.logical_not(near, near).nonzero()
    result[places] = tail(x[places])
    return result


def _complement(numpy: Any, x: Array, upper: Callable[[Any, Array], Array]) -> Array:
    """The complement of elements of both signs, by a function for their sizes, to which that function may write."""
    values = upper(numpy, numpy.abs(x))
    numpy.putmask(values, numpy.signbit(x), _numbers(numpy).two - values)
    return values


def _small(numpy: Any, x: Array) -> Array:
    """The error function near 0."""
    values: Array = ratio(x * x, _numbers(numpy).small)
    values *= x
    return values


def _upper(numpy: Any, size: Array) -> Array:
    """The complement for sizes above `near`."""
    numbers = _numbers(numpy)
    numpy.minimum(size, numbers.most, out=size)
    values: Array = ratio(size, numbers.middle)
    if not (size <= numbers.four).all():
        y = numbers.one / (size * size)
        large = (numbers.inverse_sqrt_pi - y * ratio(y, numbers.large)) / size
        numpy.putmask(values, size > numbers.four, large)
    # exp(-size**2), with leading digits apart, as size**2 has twice the digits of a size, and exp must lose none
    head = size * numbers.sixteen
    numpy.trunc(head, head)
    head /= numbers.sixteen
    rest = head - size
    size += head
    rest *= size
    head *= head
    numpy.negative(head, head)
    gauss = numpy.exp(head, head)
    gauss *= numpy.exp(rest, rest)
    values *= gauss
    return values


def _upper_single(numpy: Any, size: Array) -> Array:
    """The complement for results that are rounded to float32."""
    numbers = _numbers(numpy)
    numpy.minimum(size, numbers.most_single, out=size)
    t = numbers.two / (numbers.two + size)
    values: Array = polynomial(t, numbers.exponent)
    size *= size
    values -= size
    numpy.exp(values, values)
    values *= t
    return values
