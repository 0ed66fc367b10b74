"""log(abs(gamma)) and its derivative on float64 arrays, from polynomials near their zeros and Stirling's series.

Section numbers are those of the Digital Library of Mathematical Functions. The polynomials interpolate at Chebyshev
points, and are accurate to a rounding of float64 on their intervals.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from ..module import certainly
from .error_function import polynomial

HALF_LOG_TWO_PI = 0.5 * log(2.0 * pi)

# Coefficients from the highest power down: log(gamma(1 + z)) / z for z in [-0.25, 0.5],
_NEAR_ONE = (
    0.004056606504684639, -0.01741301507631758, 0.03505313982753748, -0.04606248743902781, 0.048453645991011325,
    -0.04834772259451038, 0.0497603597432108, -0.05247204501762188, 0.05554674191403331, -0.05883663933528567,
    0.06250350551421083, -0.06666823645464418, 0.07143276797779458, -0.07693252147989828, 0.08335384711525397,
    -0.09095401736441237, 0.10009945737137095, -0.1113342658606082, 0.12550966952652304, -0.1440498967689803,
    0.16955717699739586, -0.2073855510286731, 0.2705808084277846, -0.40068563438653143, 0.8224670334241132,
    -0.5772156649015329,
)  # fmt: skip
# log(gamma(2 + z)) / z for z in [-0.5, 0.5],
_NEAR_TWO = (
    1.4963573191192003e-08, -3.1314285360886705e-08, 4.509983567521808e-08, -9.501416425423385e-08,
    2.129692727315228e-07, -4.511181191016309e-07, 9.549510392959532e-07, -2.0388192484564222e-06,
    4.374892520636031e-06, -9.439541921024715e-06, 2.05072105479096e-05, -4.492623209360517e-05, 9.945751290176889e-05,
    -0.00022315475870367355, 0.0005096695247392805, -0.0011927539116954181, 0.0028905103307415836,
    -0.0073855510286741114, 0.020580808427784546, -0.06735230105319809, 0.3224670334241132, 0.42278433509846713,
)  # fmt: skip
# and digamma(1.5 + z) / (1.5 + z - root) for z in [-0.5, 0.5].
_DIGAMMA = (
    -8.153978973309418e-05, 0.00012230983055406747, -6.11554261750751e-05, 9.173383289174792e-05,
    -0.0002178682145501451, 0.0003268068044141764, -0.0004599625144612576, 0.0006899717801166841, -0.001042261556504223,
    0.0015635679757533885, -0.002344650082351321, 0.0035180800751066694, -0.00528001782089874, 0.007927024067961237,
    -0.011908215172584002, 0.017907248195969127, -0.02697579684427536, 0.04076083394462657, -0.06192213327165706,
    0.09498872445283, -0.14840492305391761, 0.24054248424078736, -0.42362742128146047, 0.9510558760318328,
)  # fmt: skip
# The positive root of digamma, in two parts.
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17

# B(2k) / (2k (2k - 1)) and B(2k) / 2k (5.11.1 and 5.11.2), from k = 8 and 9 down to 1.
_STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_DERIVATIVE = (43867 / 14364, -3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)

_LARGE = 10.0
"""The argument from which Stirling's series are accurate in float64."""


def stirling_rest(x: Any) -> Any:
    """log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2 for x of at least 10."""
    reciprocal = 1.0 / x
    return reciprocal * polynomial(reciprocal * reciprocal, _STIRLING)


def log_gamma_quotient(xp: Any, z: Any) -> Any:
    """log(gamma(1 + z)) / z for z from 0 to 1."""
    return xp.where(z <= 0.5, polynomial(z, _NEAR_ONE), (z - 1.0) * polynomial(z - 1.0, _NEAR_TWO) / z)


def log_gamma(xp: Any, x: Any) -> Any:
    """log(abs(gamma(x))) of a float64 array; negative elements by reflection (5.5.3)."""
    size = xp.abs(x)
    upper = _positive_log_gamma(xp, size)
    if certainly(xp, ~(x < 0.0)):
        return xp.where(size == xp.inf, xp.inf, upper)
    sine = xp.abs(xp.sin(pi * (x - xp.rint(x))))
    mirrored = xp.log(pi / (size * sine)) - upper
    # Near zero, where the quotient overflows, gamma(x) is 1 / x.
    mirrored = xp.where(size < 1e-20, -xp.log(size), mirrored)
    result = xp.where(x < 0.0, xp.where(x == xp.rint(x), xp.inf, mirrored), upper)
    return xp.where(size == xp.inf, xp.inf, result)


def _positive_log_gamma(xp: Any, x: Any) -> Any:
    """log(gamma(x)) of non-negative elements."""
    # x in (2.5, 10): gamma(2 + z) times the factors between 2 + z and x, with z in (-0.5, 0.5].
    z = x - 2.0
    product = xp.ones_like(x)
    for _ in range(8):
        over = (z > 0.5) & (x < _LARGE)
        if certainly(xp, ~over):
            break
        product = xp.where(over, product * (z + 1.0), product)
        z = xp.where(over, z - 1.0, z)
    # x in (0.5, 0.75): gamma(x + 1) / x; for x up to 0.5 as well, but by the polynomial near 1.
    between = (x > 0.5) & (x < 0.75)
    z = xp.where(between, x - 1.0, z)
    two = z * polynomial(z, _NEAR_TWO) + xp.where(between, -xp.log(x), xp.log(product))
    one = xp.where(x <= 0.5, x, x - 1.0)
    near = one * polynomial(one, _NEAR_ONE) + xp.where(x <= 0.5, -xp.log(x), 0.0)  # 0.0 at 1
    large = (x - 0.5) * (xp.log(x) - 1.0) + (stirling_rest(x) + (HALF_LOG_TWO_PI - 0.5))
    below = xp.where((x <= 0.5) | ((x >= 0.75) & (x <= 1.5)), near, two)
    return xp.where(x < _LARGE, below, large)


def digamma(xp: Any, x: Any) -> Any:
    """The derivative of log(gamma(x)) of a float64 array; negative elements by reflection (5.5.4)."""
    positive = _positive_digamma(xp, xp.abs(x))
    if certainly(xp, ~(x <= 0.0)):
        return positive
    offset = x - xp.rint(x)
    # psi(x) = psi(1 - x) - pi / tan(pi x); near zero psi(x + 1) - 1 / x, which heeds the sign of zero.
    mirrored = _positive_digamma(xp, 1.0 - x) - pi / xp.tan(pi * offset)
    near = _positive_digamma(xp, 1.0 + xp.maximum(x, -0.5)) - 1.0 / x
    mirrored = xp.where(x > -0.5, near, xp.where(offset == 0.0, xp.nan, mirrored))
    return xp.where(x <= 0.0, mirrored, positive)


def _positive_digamma(xp: Any, x: Any) -> Any:
    """The derivative of log(gamma(x)) of non-negative elements."""
    # Shifted down to [1, 2), or up from (0, 1), by psi(x + 1) = psi(x) + 1 / x (5.5.2).
    y, below = x, xp.where(x < 1.0, -1.0 / x, 0.0)
    for _ in range(8):
        over = (y >= 2.0) & (x < _LARGE)
        if certainly(xp, ~over):
            break
        y = xp.where(over, y - 1.0, y)
        below = xp.where(over, below + 1.0 / y, below)
    from_root = xp.where(x < 1.0, x + (1.0 - _ROOT), y - _ROOT) - _ROOT_REST
    z = xp.where(x < 1.0, x - 0.5, y - 1.5)
    small = from_root * polynomial(z, _DIGAMMA) + below
    reciprocal = 1.0 / x
    square = reciprocal * reciprocal
    large = xp.log(x) - 0.5 * reciprocal - square * polynomial(square, _DERIVATIVE)
    return xp.where(x < _LARGE, small, large)
