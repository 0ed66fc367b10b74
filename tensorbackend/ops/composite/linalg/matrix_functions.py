"""Functions of matrices: the exponential and the square root, written in public ops."""

from __future__ import annotations

import cmath
import math

from ....dispatch import composite
from ....dtypes import finfo
from ....rules.accuracy import ELIMINATION, Bound
from ....rules.linalg import check_square, matrix_dtype
from ....rules.plan import flag
from ....tensor import Tensor
from ...creation.filled import eye, rename
from ...elementwise.basic import abs, astype, ceil, clip, where
from ...elementwise.binary import less, less_equal, maximum
from ...elementwise.transcendental import sqrt
from ...linalg import eigh
from ...reduction import sum
from ...shape import expand_dims
from ..contraction import matmul
from ..elementwise.functions import log2
from .matrices import adjoint
from .norms import matrix_norm
from .systems import inv, nameless, solve, wide_dtype

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


@composite.within(ELIMINATION)
def expm(x: Tensor, /) -> Tensor:
    """The exponential of a square matrix, by scaling and squaring a Padé approximant. That of `x[n][m]` is `[n][m]`.

    Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26
    (2005), with one degree for each precision. float16 and bfloat16 are computed in float32, integers in the default
    floating dtype. The result is NaN for a matrix with a 1-norm above about 250 000, or with NaN.

    >>> tb.linalg.expm(tb.asarray([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    dtype = matrix_dtype(check_square(x.template))
    matrix = nameless(x, wide_dtype(dtype))
    degree, limit = _DEGREES[53 if matrix.dtype.name in ("float64", "complex128") else 24]
    size = matrix_norm(matrix, keepdims=True, ord=1)
    matrix = where(less_equal(size, limit * 2**_SQUARINGS), matrix, math.nan)
    halvings = clip(ceil(log2(size / limit)), 0, _SQUARINGS)
    odd, even = _parts(matrix * 2.0 ** (halvings * -1), degree)
    exponential = solve(even - odd, even + odd)
    for step in range(_SQUARINGS):
        exponential = where(less(step, halvings), matmul(exponential, exponential), exponential)
    return rename(astype(exponential, dtype), *x.names)


STEPS = 12
"""The number of steps, always the same, as the op must not read data. A step at the limit changes nothing. Condition
numbers up to 1e12 take 8, eigenvalues 0.001 radians from the negative axis 12."""

_TURN = 0.05
"""The angle in radians by which complex matrices with negative eigenvalues are turned."""


def _principal(matrix: Tensor) -> Tensor:
    """The root of each matrix, NaN for negative eigenvalues of a real one."""
    root, met = _iterate(matrix)
    if not matrix.dtype.is_complex:
        return where(met, root, math.nan)
    # Negative eigenvalues have roots on the positive imaginary axis.
    turned, turned_met = _iterate(matrix * cmath.exp(-1j * _TURN))
    return where(met, root, where(turned_met, turned * cmath.exp(0.5j * _TURN), complex(math.nan, math.nan)))


def _iterate(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """The iteration of Denman and Beavers in its product form, scaled by norms: the root, and whether it was found."""
    one = eye(matrix.shape[-1], dtype=matrix.dtype)
    root, product = matrix, matrix  # product tends to 1
    for _ in range(STEPS):
        inverse = inv(product)
        # A quotient of the norms themselves may be out of range.
        alike = sqrt(matrix_norm(inverse, keepdims=True)) / sqrt(matrix_norm(product, keepdims=True))
        scale = astype(alike, matrix.dtype)
        inverse = inverse / scale
        root = matmul(root, one + inverse) * (sqrt(scale) * 0.5)
        product = (one + (product * scale + inverse) * 0.5) * 0.5
    left = product - one
    root = root - matmul(root, left * 0.5)  # the error is of second order
    return root, matrix_norm(left, keepdims=True) < math.sqrt(finfo(matrix.dtype).eps)


def _hermitian(matrix: Tensor) -> Tensor:
    """The root by eigenvalues, of which those below 0 by rounding alone count as 0."""
    values, vectors = eigh(matrix)
    noise = sum(abs(values), axis=-1, keepdims=True) * -finfo(matrix.dtype).eps
    roots = sqrt(where(values < noise, math.nan, maximum(values, 0)))
    return matmul(vectors * astype(expand_dims(roots, axis=-2), vectors.dtype), adjoint(vectors))


@composite.within(Bound(64, "many steps of elimination, or eigenvectors, on well-conditioned matrices", "result"))
def sqrtm(x: Tensor, /, *, hermitian: bool = False) -> Tensor:
    """The principal square root of a square matrix: the one whose eigenvalues have positive real parts.

    A real matrix has a real root unless an eigenvalue is negative; cast it to a complex dtype then. A singular matrix
    has a root only with `hermitian`. The root of `x[n][m]` is `[n][m]`.

    Parameters
    ----------
    x : Tensor
        Square matrices in the last two axes; the axes before them are batch axes.
    hermitian : bool, default False
        Whether each matrix is Hermitian and positive semi-definite, such as a covariance. Its lower triangle is then
        read, as by `eigh`.

    Returns
    -------
    Tensor
        Matrices with the names of x; NaN for a matrix without a root in its dtype. float16 and bfloat16 are computed in
        float32, integers in the default floating dtype.

    Raises
    ------
    ShapeError
        For matrices that are not square.
    DataError
        For a singular matrix without `hermitian`.

    Notes
    -----
    The gradient solves an equation of Sylvester. With `hermitian` it is 0 between eigenvectors of 0, where the slope is
    infinite.

    References
    ----------
    S. H. Cheng, N. J. Higham, C. S. Kenney and A. J. Laub, "Approximating the logarithm of a matrix to specified
    accuracy", SIAM J. Matrix Anal. Appl. 22 (2001).

    Examples
    --------
    >>> tb.round(tb.linalg.sqrtm(tb.asarray([[5.0, 4.0], [4.0, 5.0]]))).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    dtype = matrix_dtype(check_square(x.template))
    matrix = nameless(x, wide_dtype(dtype))
    root = _hermitian(matrix) if flag(hermitian=hermitian) else _principal(matrix)
    return rename(astype(root, dtype), *x.names)
