"""Sums of products over paired axes. Integers keep their dtype and wrap."""

from __future__ import annotations

from collections.abc import Sequence

from ..accuracy import SUM
from ..dispatch import primitive
from ..rules.contraction import contraction
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Axis


@primitive.within(SUM)
def dot(
    x1: Template,
    x2: Template,
    /,
    *,
    contract: tuple[Sequence[Axis], Sequence[Axis]],
    batch: tuple[Sequence[Axis], Sequence[Axis]] = ((), ()),
) -> Plan:
    """Sum of products over pairs of contracted axes, for every entry of the paired batch axes.

    Each option is (axes of x1, axes of x2). The result has the batch axes, then x1's free axes, then x2's, names
    and all.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([[1, 2], [3, 4]], names=("row", "k"))
    >>> tb.dot(x, tb.asarray([10, 1], names=("k",)), contract=(["k"], ["k"]))
    s64[row: 2] numpy
    [12, 34]
    """
    return contraction(x1, x2, contract, batch)
