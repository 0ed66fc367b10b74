"""Special functions that array modules lack, on float64 arrays: rational approximations, accurate to an ulp or two.

- `erf`, `erfc`: W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
  Computation 23 (1969), with the coefficients of his program CALERF.
- `erf_inv`: M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
  Applied Statistics 37 (1988), routine PPND16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Coefficients from the highest power down. erf(x) = x * N(x**2) / D(x**2) up to 0.46875.
SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)  # fmt: skip
# erfc(x) = exp(-x**2) * N(x) / D(x) from 0.46875 to 4.
MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
     3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
# erfc(x) = exp(-x**2) / x * (1 / sqrt(pi) - y * N(y) / D(y)) with y = 1 / x**2, above 4.
LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
     1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
     2.33520497626869185e-3),
)  # fmt: skip
INVERSE_SQRT_PI = 5.6418958354775628695e-1

# Quantiles of the normal distribution in q = p - 1/2 (central), and in sqrt(-log(min(p, 1 - p))).
CENTRAL = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
NEAR_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip
INVERSE_SQRT_2 = 7.0710678118654752440e-1


def ratio(x: Any, coefficients: tuple[Sequence[Any], Sequence[Any]]) -> Any:
    """Quotient of two polynomials by Horner's rule."""
    numerator, denominator = (polynomial(x, terms) for terms in coefficients)
    numerator /= denominator
    return numerator


def polynomial(x: Any, coefficients: Sequence[Any]) -> Any:
    """A polynomial of two coefficients or more, from the highest power down, by Horner's rule."""
    value = coefficients[0] * x
    value += coefficients[1]
    for coefficient in coefficients[2:]:  # in place, where the module has that
        value *= x
        value += coefficient
    return value


def erf(xp: Any, x: Any) -> Any:
    """The error function of a float64 array."""
    size = xp.abs(x)
    tail = xp.copysign(1.0 - _upper_erfc(xp, size), x)
    return xp.where(size <= 0.46875, _small_erf(x), tail)


def erfc(xp: Any, x: Any) -> Any:
    """One minus the error function of a float64 array, to full relative accuracy where it is tiny."""
    upper = _upper_erfc(xp, xp.abs(x))
    tail = xp.where(x < 0.0, 2.0 - upper, upper)
    return xp.where(xp.abs(x) <= 0.46875, 1.0 - _small_erf(x), tail)


def _small_erf(x: Any) -> Any:
    """erf(x) for x up to 0.46875 in size."""
    return x * ratio(x * x, SMALL)


def _upper_erfc(xp: Any, x: Any) -> Any:
    """erfc(x) for x above 0.46875; results for other x have no meaning."""
    return xp.where(x < 28.0, _gauss(xp, x) * _upper_scaled_erfc(xp, x), xp.where(x >= 28.0, 0.0, x))


def _gauss(xp: Any, x: Any) -> Any:
    """exp(-x**2), with leading digits of x treated apart: x**2 has twice the digits of x, and exp must lose none."""
    head = xp.trunc(x * 16.0) / 16.0
    # XLA would rewrite the product as the exponential of a sum, and lose the digits again.
    return xp.unfused_product(xp.exp(-head * head)) * xp.exp((head - x) * (head + x))


def _upper_scaled_erfc(xp: Any, x: Any) -> Any:
    y = 1.0 / (x * x)
    return xp.where(x <= 4.0, ratio(x, MIDDLE), (INVERSE_SQRT_PI - y * ratio(y, LARGE)) / x)


def scaled_erfc(xp: Any, x: Any) -> Any:
    """exp(x**2) * erfc(x) for x of at least 0."""
    small = xp.minimum(x, 0.46875)
    square = small * small
    return xp.where(x <= 0.46875, xp.exp(square) * (1.0 - small * ratio(square, SMALL)), _upper_scaled_erfc(xp, x))


def erf_inv(xp: Any, x: Any) -> Any:
    """Inverse of the error function of a float64 array; infinite at -1 and 1, NaN beyond."""
    size = xp.abs(x)
    q = 0.5 * x
    central = q * ratio(0.180625 - q * q, CENTRAL)
    root = xp.sqrt(-xp.log(0.5 - 0.5 * size))
    quantile = xp.where(root <= 5.0, ratio(root - 1.6, NEAR_TAIL), ratio(root - 5.0, FAR_TAIL))
    tail = xp.copysign(xp.where(size == 1.0, xp.inf, quantile), x)
    return xp.where(size <= 0.85, central, tail) * INVERSE_SQRT_2
