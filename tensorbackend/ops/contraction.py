"""Sums of products over paired axes. Integers keep their dtype and wrap."""

from __future__ import annotations

from ..dispatch import primitive
from ..rules.accuracy import SUM
from ..rules.contraction import Pairs, contraction
from ..rules.plan import Plan
from ..template import Template


@primitive.within(SUM)
def dot(x1: Template, x2: Template, /, *, contract: Pairs, batch: Pairs | None = None) -> Plan:
    """Sum of products over pairs of axes, for each entry of the paired batch axes.

    The result has the batch axes, then x1's free axes, then x2's, names and all.

    Parameters
    ----------
    x1, x2 : Tensor
        Tensors of a numeric dtype.
    contract : str, set of str, or (axes of x1, axes of x2)
        The axes to sum over: an axis name of both operands, a set of such names, or axes of each by position or name,
        which are paired in order whatever their names.
    batch : str, set of str, or (axes of x1, axes of x2), optional
        The axes that are paired and stay in the result, in the same forms. By default there are none if `contract`
        lists the axes of each operand; if it is names, they are all other names that both operands have.

    Returns
    -------
    Tensor
        A tensor in the common dtype of the operands.

    Raises
    ------
    AxisError
        For an axis that an operand lacks.
    ShapeError
        For paired axes of different sizes, and for an axis that is both contracted and batched.
    NamesError
        For a name that would occur twice in the result.

    Examples
    --------
    >>> x = tb.asarray([[1, 2], [3, 4]], names=("batch", "feature"))
    >>> weight = tb.asarray([[1, 0, 1], [0, 1, 1]], names=("feature", "unit"))
    >>> tb.dot(x, weight, contract="feature")
    s64[batch: 2][unit: 3] numpy
    [[1, 2, 3],
     [3, 4, 7]]
    >>> tb.dot(x, x, contract="feature").tolist()  # for each entry of the batch, which both have
    [5, 25]
    >>> tb.dot(x, tb.asarray([10, 1]), contract=(["feature"], [0])).tolist()
    [12, 34]
    """
    return contraction(x1, x2, contract, batch)
