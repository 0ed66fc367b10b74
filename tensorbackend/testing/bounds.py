"""How near results must be to the reference's, in one table: an op that is not in it must agree to the bit.

A bound is in ulps of each element. Where an op adds, cancellation makes the ulps of a result mean nothing: its bound
counts as well in roundings of something larger, its `scale` (Higham, Accuracy and Stability of Numerical Algorithms,
section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from ..dtypes import DType

Scale: TypeAlias = Literal["element", "one", "operand", "square", "magnitudes", "norm", "result", "exponent"]
"""What the roundings of a bound are roundings of, besides the element itself:

- `one`: of 1, where operands of about 1 cancel;
- `operand`, `square`: of the largest operand, or of 1, or of its square;
- `magnitudes`: of what the op gives for the magnitudes of its operands, element by element;
- `norm`: of the greatest of these, where each result is made of all operands;
- `result`: of the largest element of the result, where an algorithm on matrices is stable as a whole (Higham,
  chapter 7);
- `exponent`: of y * log(x) in float64, which exp(y * log(x)) magnifies.
"""


class Bound(NamedTuple):
    """How far a result may be away."""

    ulps: float = 0
    reason: str = ""
    scale: Scale = "element"
    tame: bool = False
    """Whether operands are of moderate size, as the order of operations may overflow on the way."""


EXACT = Bound()

_LIBRARY = Bound(4, "the mathematical library of each array library has its own last digits")
_COMPOSED = Bound(8, "composed of functions with a few ulps each")
_SUM = Bound(64, "the order of additions is the backend's", "magnitudes", tame=True)
_PRODUCT = Bound(64, "the order of multiplications is the backend's", tame=True)
# Each of log2(n) steps adds the rounding errors of a twiddle factor and of an addition, in the norm of the whole
# (Higham, section 24.1).
_TRANSFORM = Bound(8, "the steps of a transform, each of which mixes all elements", "norm", tame=True)
_ELIMINATION = Bound(32, "the order of operations is the library's, on well-conditioned matrices", "result")
_SPECTRAL = Bound(256, "rounding errors over the gaps of the values turn the vectors", "result")

BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(
        ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log",
         "log1p", "log2", "log10", "pow", "sin", "sinh", "tan", "tanh", "erf", "erfc", "erf_inv", "hypot",
         "phase", "rsqrt"],
        _LIBRARY,
    ),
    "sigmoid": _COMPOSED,
    **dict.fromkeys(
        ["sum", "mean", "dot", "matmul", "tensordot", "vecdot", "einsum", "cumulative_sum", "trace",
         "indexed_add", "indexed_mean", "segment_sum", "segment_mean", "window_sum", "window_mean", "conv"],
        _SUM,
    ),
    **dict.fromkeys(["prod", "cumulative_prod", "window_prod"], _PRODUCT),
    **dict.fromkeys(
        ["fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft"], _TRANSFORM
    ),
    **dict.fromkeys(
        ["cholesky", "lu", "qr", "triangular_solve", "solve", "inv", "det", "slogdet", "matrix_power", "expm"],
        _ELIMINATION,
    ),
    **dict.fromkeys(["eigh", "eig", "svd", "eigvalsh", "eigvals", "svdvals", "pinv", "lstsq"], _SPECTRAL),
    **dict.fromkeys(["vector_norm", "matrix_norm", "norm"], Bound(64, "a root of a sum", tame=True)),
    "lgamma": Bound(4, "near its negative zeros the terms of the reflection cancel", "one"),
    "digamma": Bound(32, "near its negative zeros the terms of the reflection cancel", "one"),
    **dict.fromkeys(["gamma_inc_l", "gamma_inc_u"], Bound(16, "sums of up to some hundred terms")),
    "factorial": Bound(16, "composed of functions with a few ulps each, and a product of ten factors"),
    "logaddexp": Bound(4, "near zero the two terms cancel", "operand"),
    **dict.fromkeys(
        ["logsumexp", "segment_logsumexp", "indexed_logsumexp"],
        Bound(16, "the logarithm of a sum of exponentials", "operand", tame=True),
    ),
    "softmax": Bound(32, "a quotient by a sum", tame=True),
    "log_softmax": Bound(16, "a difference from a logarithm of a sum", "operand", tame=True),
    "var": Bound(16, "a sum of squares of differences", "square", tame=True),
    "std": Bound(16, "the root of a sum of squares of differences", "operand", tame=True),
    "covariance": Bound(16, "sums of products of differences", "square", tame=True),
    "weighted_mean": Bound(16, "a quotient of sums", "operand", tame=True),
    **dict.fromkeys(
        ["bincount", "histogram"], Bound(64, "the order of additions of weights is the backend's", "operand", tame=True)
    ),
    **dict.fromkeys(["normal", "exponential"], Bound(10, "the inverse of a distribution function")),
    "multivariate_normal": Bound(64, "a factor and a sum of products", "one"),
    "gumbel": Bound(8, "the logarithm of a logarithm near 1", "one"),
    "truncated_normal": Bound(32, "the inverse of a distribution function between two of its values", "one"),
}  # fmt: skip

COMPLEX_BOUNDS: dict[str, Bound] = {
    "abs": Bound(4, "the magnitude of a complex number is rounded more than once by some libraries"),
    **dict.fromkeys(["multiply", "outer", "square"], Bound(4, "some libraries fuse a step of a * c - b * d")),
    "map": Bound(4, "a step of the function may be a product of complex numbers"),
    **dict.fromkeys(["reduce", "window_reduce"], Bound(32, "each step may be a product of complex numbers")),
    "cross": Bound(4, "differences of products of which some libraries fuse a step", "square", tame=True),
    **dict.fromkeys(
        ["divide", "divide_no_nan", "reciprocal", "sign"], Bound(4, "each library has its own formula of the quotient")
    ),
    "sqrt": Bound(4, "the square root of the magnitude, which is rounded itself"),
    "pow": Bound(8, "angles and logarithms are multiplied by the exponent", "exponent"),
    **dict.fromkeys(["expm1", "log1p"], Bound(6, "sums of products of the parts, which cancel in one part")),
    **dict.fromkeys(["tan", "tanh"], Bound(8, "quotients of sinh and cosh by sinh**2 + cos**2: four ulps by some")),
}
"""Of calls with complex operands, where their bound is another: of what is exact for real numbers above all."""

READS_DATA: dict[str, str] = {
    **dict.fromkeys(
        ["argwhere", "bincount", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"],
        "without a size it is counted",
    ),
    **dict.fromkeys(["getitem", "isel", "put_at"], "where a mask is true says the size of the result"),
    "compress": "without a size its condition is counted",
    "repeat": "its repeats, where they are a tensor, say the size of the result",
}
"""Ops whose template may depend on data, with the reason: a dry run may then say that it cannot know it."""


def bound_of(name: str, dtypes: Iterable[DType] = ()) -> Bound:
    """The bound of an op, for operands and results of some dtypes.

    >>> from tensorbackend.dtypes import complex64
    >>> bound_of("add").ulps, bound_of("exp").ulps, bound_of("divide").ulps, bound_of("divide", [complex64]).ulps
    (0, 4, 0, 4)
    """
    if name in COMPLEX_BOUNDS and any(dtype.is_complex for dtype in dtypes):
        return COMPLEX_BOUNDS[name]
    return BOUNDS.get(name, EXACT)
