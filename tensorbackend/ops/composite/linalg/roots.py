"""The square root of a matrix, written in public ops."""

from __future__ import annotations

import cmath
import math

from ....dispatch import composite
from ....dtypes import finfo
from ....rules.accuracy import Bound
from ....rules.linalg import check_square, matrix_dtype
from ....rules.plan import flag
from ....tensor import Tensor
from ...creation.filled import eye, rename
from ...elementwise.binary import maximum
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import sqrt
from ...elementwise.unary import abs
from ...linalg import eigh
from ...reduction import sum
from ...shape import expand_dims
from ..contraction import matmul
from .matrices import adjoint
from .norms import matrix_norm
from .systems import inv, nameless, wide_dtype

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
    >>> import tensorbackend as tb
    >>> tb.round(tb.linalg.sqrtm(tb.asarray([[5.0, 4.0], [4.0, 5.0]]))).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    dtype = matrix_dtype(check_square(x.template))
    matrix = nameless(x, wide_dtype(dtype))
    root = _hermitian(matrix) if flag(hermitian=hermitian) else _principal(matrix)
    return rename(astype(root, dtype), *x.names)
