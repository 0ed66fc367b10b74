"""The exponential of a matrix, written in public ops."""

from __future__ import annotations

import math

from ....dispatch import composite
from ....dtypes import DType
from ....rules.accuracy import ELIMINATION
from ....rules.linalg import check_square, matrix_dtype
from ....tensor import Tensor
from ...creation.filled import eye, rename
from ...elementwise.binary import less, less_equal
from ...elementwise.conversion import astype
from ...elementwise.ternary import clip, where
from ...elementwise.unary import ceil
from ..contraction import matmul
from ..elementwise.functions import log2
from .norms import matrix_norm
from .systems import nameless, solve, wide_dtype

_SQUARINGS = 16
"""The largest number of halvings. As `expm` must not read data, it always squares this often, and selects results."""

_DEGREES = {24: (7, 3.925724783138660), 53: (13, 5.371920351148152)}
"""The degree of the approximant and the 1-norm up to which its error is below a rounding, by the number of bits in the
significand (Higham 2005, table 2.3)."""


def _coefficients(degree: int) -> list[float]:
    """The coefficients of the numerator of the diagonal Padé approximant, the last one 1 (Higham 2005, equation 2.2).

    >>> _coefficients(3)
    [120.0, 60.0, 12.0, 1.0]
    """
    factorial = math.factorial
    return [float(factorial(2 * degree - j) // (factorial(degree - j) * factorial(j))) for j in range(degree + 1)]


def _parts(x: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """The odd and the even part of the numerator, by few products (Higham 2005, equations 2.10 and 2.11)."""
    b = _coefficients(degree)
    x2 = matmul(x, x)
    x4 = matmul(x2, x2)
    x6 = matmul(x2, x4)
    powers = (eye(x.shape[-1], dtype=x.dtype), x2, x4, x6)

    def part(first: int) -> Tensor:
        total = powers[0] * b[first]
        for k in (1, 2, 3):
            total = total + powers[k] * b[first + 2 * k]
        if degree == 13:
            high = x2 * b[first + 8]
            for k in (2, 3):
                high = high + powers[k] * b[first + 6 + 2 * k]
            total = total + matmul(x6, high)
        return total

    return matmul(x, part(1)), part(0)


def _degree(dtype: DType) -> tuple[int, float]:
    return _DEGREES[53 if dtype.name in ("float64", "complex128") else 24]


@composite.within(ELIMINATION)
def expm(x: Tensor, /) -> Tensor:
    """The exponential of a square matrix, by scaling and squaring a Padé approximant. That of `x[n][m]` is `[n][m]`.

    Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26
    (2005), with one degree for each precision. float16 and bfloat16 are computed in float32, integers in the default
    floating dtype. The result is NaN for a matrix with a 1-norm above about 250 000, or with NaN.

    >>> import tensorbackend as tb
    >>> tb.linalg.expm(tb.asarray([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    dtype = matrix_dtype(check_square(x.template))
    matrix = nameless(x, wide_dtype(dtype))
    degree, limit = _degree(matrix.dtype)
    size = matrix_norm(matrix, keepdims=True, ord=1)
    matrix = where(less_equal(size, limit * 2**_SQUARINGS), matrix, math.nan)
    halvings = clip(ceil(log2(size / limit)), 0, _SQUARINGS)
    odd, even = _parts(matrix * 2.0 ** (halvings * -1), degree)
    exponential = solve(even - odd, even + odd)
    for step in range(_SQUARINGS):
        exponential = where(less(step, halvings), matmul(exponential, exponential), exponential)
    return rename(astype(exponential, dtype), *x.names)
