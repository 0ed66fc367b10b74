"""How near results must be to the reference's, in one table: an op that is not in it must agree to the bit.

A bound is in ulps of the result's dtype. Where an op adds, cancellation makes the ulps of the result mean
nothing: its bound counts in rounding errors of what the op gives for the magnitudes of its operands, the standard
bound of a sum (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
"""

from __future__ import annotations

from typing import NamedTuple


class Bound(NamedTuple):
    """How far a result may be away."""

    ulps: float = 0
    reason: str = ""
    additive: bool = False
    """Whether `ulps` counts in roundings of the same op on magnitudes, which covers cancellation."""
    tame: bool = False
    """Whether operands are of moderate size, as the order of operations may overflow on the way."""


EXACT = Bound()

_LIBRARY = Bound(4, "the mathematical library of each array library has its own last digits")
_COMPOSED = Bound(8, "composed of functions with a few ulps each")
_SUM = Bound(64, "the order of additions is the backend's", additive=True, tame=True)
_PRODUCT = Bound(64, "the order of multiplications is the backend's", tame=True)

BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(
        ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log",
         "log1p", "log2", "log10", "pow", "sin", "sinh", "tan", "tanh", "erf", "erfc", "erf_inv", "hypot",
         "phase", "rsqrt"],
        _LIBRARY,
    ),
    "abs": Bound(1, "the magnitude of a complex number is rounded more than once by some libraries"),
    "logaddexp": Bound(8, "near zero the two terms cancel", additive=True),
    "sigmoid": _COMPOSED,
    **dict.fromkeys(["sum", "mean", "dot", "matmul", "tensordot", "vecdot", "outer", "einsum", "cumulative_sum"], _SUM),
    **dict.fromkeys(["prod", "cumulative_prod"], _PRODUCT),
    "softmax": Bound(32, "a quotient by a sum", tame=True),
    "log_softmax": Bound(64, "a difference from a logarithm", additive=True, tame=True),
    "var": Bound(64, "sums of squares of differences", tame=True, additive=True),
}  # fmt: skip


def bound_of(name: str) -> Bound:
    """The bound of an op.

    >>> bound_of("add").ulps, bound_of("exp").ulps
    (0, 4)
    """
    return BOUNDS.get(name, EXACT)
