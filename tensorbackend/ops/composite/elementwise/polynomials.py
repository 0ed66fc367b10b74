"""The values of polynomials by their coefficients, that of the highest power first as in NumPy."""

from __future__ import annotations

from ....dispatch import composite
from ....dtypes import float32, promote_types
from ....errors import ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.broadcasting import check_dtype, result_type
from ....tensor import Tensor
from ...creation.filled import zeros
from ...elementwise.basic import astype
from ...indexing.slices import entries
from ...shape import reshape


@composite.within(
    Bound(64, "rounding errors of each step of Horner's scheme, which the next steps multiply", "norm", tame=True)
)
def polyval(p: Tensor, x: Tensor, /) -> Tensor:
    """The values at x of the polynomial with coefficients p, by Horner's scheme.

    Parameters
    ----------
    p : Tensor
        The coefficients along one axis, that of the highest power first.
    x : Tensor
        The places.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the dtype to which p and x are promoted.

    Raises
    ------
    ShapeError
        Unless p has one axis.

    Examples
    --------
    >>> tb.polyval(tb.asarray([3, 0, 1]), tb.asarray([0, 5])).tolist()
    [1, 76]
    """
    if p.ndim != 1:
        raise ShapeError(expected("coefficients along one axis", p=p.template))
    dtype = check_dtype(result_type([p.template, x.template]), "numeric")
    work = promote_types(dtype, float32) if dtype.is_inexact else dtype
    coefficients, places = astype(p.rename(None), work), astype(x, work)
    value = zeros(x.shape, dtype=work, names=x.names, like=x)
    for place in range(p.shape[0]):
        value = value * places + reshape(entries(coefficients, 0, place, 1), ())
    return astype(value, dtype)
