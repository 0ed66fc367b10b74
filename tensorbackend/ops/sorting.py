"""Orderings along an axis, stable in both directions.

NaN comes last in ascending and first in descending order; -0.0 is equal to 0.0. Complex numbers have no order and raise
`DTypeError`.
"""

from __future__ import annotations

from ..annotations import Axis
from ..dispatch import primitive
from ..dtypes import default_dtype
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype
from ..rules.plan import Plan, flag
from ..template import Template


def _order_rule(x: Template, axis: Axis, descending: bool, stable: bool) -> dict[str, object]:
    flag(stable=stable)
    check_dtype(x.dtype, "real or bool", "sort real(x), or by argsort(abs(x))")
    return {"axis": normalize_axis(x, axis), "descending": flag(descending=descending)}


@primitive
def sort(x: Template, /, *, axis: Axis = -1, descending: bool = False, stable: bool = True) -> Plan:
    """Return the elements sorted along an axis. The sort is always stable.

    >>> import tensorbackend as tb
    >>> tb.sort(tb.asarray([2.0, float("nan"), 1.0])).tolist()
    [1.0, 2.0, nan]
    """
    return Plan(x, (x.dtype,), _order_rule(x, axis, descending, stable))


@primitive
def argsort(x: Template, /, *, axis: Axis = -1, descending: bool = False, stable: bool = True) -> Plan:
    """Return the indices (int64) that would sort along an axis. The sort is stable in both directions.

    >>> import tensorbackend as tb
    >>> tb.argsort(tb.asarray([1, 3, 1, 2]), descending=True).tolist()
    [1, 3, 0, 2]
    """
    return Plan(x.replace(dtype=default_dtype("int")), (x.dtype,), _order_rule(x, axis, descending, stable))
