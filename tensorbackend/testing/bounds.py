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
    power: int = 0
    """Where not 0: `ulps` counts in roundings of the largest operand, or of 1, to this power."""
    tame: bool = False
    """Whether operands are of moderate size, as the order of operations may overflow on the way."""
    normwise: bool = False
    """Whether `ulps` counts in roundings of the largest element of each result: an algorithm on matrices is stable
    as a whole, and says nothing of a small element among large ones (Higham, chapter 7)."""


EXACT = Bound()

_LIBRARY = Bound(4, "the mathematical library of each array library has its own last digits")
_COMPOSED = Bound(8, "composed of functions with a few ulps each")
_SUM = Bound(64, "the order of additions is the backend's", additive=True, tame=True)
_PRODUCT = Bound(64, "the order of multiplications is the backend's", tame=True)

_ELIMINATION = Bound(32, "the order of operations is the library's, on well-conditioned matrices", normwise=True)
_SPECTRAL = Bound(256, "rounding errors over the gaps of the values turn the vectors", normwise=True)

BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(
        ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log",
         "log1p", "log2", "log10", "pow", "sin", "sinh", "tan", "tanh", "erf", "erfc", "erf_inv", "hypot",
         "phase", "rsqrt"],
        _LIBRARY,
    ),
    "abs": Bound(1, "the magnitude of a complex number is rounded more than once by some libraries"),
    "logaddexp": Bound(4, "near zero the two terms cancel", power=1),
    "sigmoid": _COMPOSED,
    **dict.fromkeys(["sum", "mean", "dot", "matmul", "tensordot", "vecdot", "outer", "einsum", "cumulative_sum"], _SUM),
    **dict.fromkeys(["prod", "cumulative_prod"], _PRODUCT),
    **dict.fromkeys(
        ["cholesky", "lu", "qr", "triangular_solve", "solve", "inv", "det", "slogdet", "matrix_power", "expm"],
        _ELIMINATION,
    ),
    **dict.fromkeys(["eigh", "eig", "svd", "eigvalsh", "eigvals", "svdvals", "pinv", "lstsq"], _SPECTRAL),
    **dict.fromkeys(["vector_norm", "matrix_norm", "norm"], Bound(64, "a root of a sum", tame=True)),
    "trace": _SUM,
    "softmax": Bound(32, "a quotient by a sum", tame=True),
    "log_softmax": Bound(16, "a difference from a logarithm of a sum", tame=True, power=1),
    "var": Bound(16, "a sum of squares of differences", tame=True, power=2),
}  # fmt: skip


READS_DATA: dict[str, str] = {
    "repeat": "its repeats, where they are a tensor, say the size of the result",
}
"""Ops whose template may depend on data, with the reason: a dry run may then say that it cannot know it."""


def bound_of(name: str) -> Bound:
    """The bound of an op.

    >>> bound_of("add").ulps, bound_of("exp").ulps
    (0, 4)
    """
    return BOUNDS.get(name, EXACT)
