"""Reductions along axes: by position or by name, all axes by default.

Reduced axes are dropped, or kept with size 1 if `keepdims`; other axes keep their names. Errors: `AxisError`,
`DTypeError`, and `ShapeError` for a reduction without identity over an axis of size 0.
"""

from __future__ import annotations

from ..annotations import Axes, Axis
from ..dispatch import primitive
from ..dtypes import DTypeLike, as_dtype, bool_, uint8
from ..protocol.reduction import TieBreak
from ..rules.accuracy import PRODUCT, SUM
from ..rules.broadcasting import check_dtype
from ..rules.plan import Plan, choice
from ..rules.reduction import accumulator, index_reduction, plan_sum, reduction
from ..template import Template


@primitive
def all(x: Template, /, *, axis: Axes = None, keepdims: bool = False) -> Plan:
    """Test whether all elements are true (not zero; NaN is true). True if there are no elements.

    >>> tb.all(tb.asarray([True, False])).item()
    False
    """
    return reduction(x, axis, keepdims, bool_)


@primitive
def any(x: Template, /, *, axis: Axes = None, keepdims: bool = False) -> Plan:
    """Test whether any element is true (not zero; NaN is true). False if there are no elements.

    >>> tb.any(tb.asarray([True, False])).item()
    True
    """
    return reduction(x, axis, keepdims, bool_)


@primitive.within(SUM)
def sum(x: Template, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Plan:
    """Sum of the elements; 0 if there are none. Small integers and bool are summed in 64 bits unless `dtype` is given.

    >>> x = tb.asarray([[1, 2], [3, 4]], names=("row", "column"))
    >>> tb.sum(x, axis="row")
    s64[column: 2] numpy [4, 6]
    """
    return plan_sum(x, axis, keepdims, accumulator(x.dtype) if dtype is None else as_dtype(dtype))


@primitive.calls("product").within(PRODUCT)
def prod(x: Template, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Plan:
    """Product of the elements; 1 if there are none. Small integers and bool use 64 bits unless `dtype` is given.

    >>> tb.prod(tb.asarray([2, 3, 4])).item()
    24
    """
    return plan_sum(x, axis, keepdims, accumulator(x.dtype) if dtype is None else as_dtype(dtype))


@primitive.calls("reduce_max")
def max(x: Template, /, *, axis: Axes = None, keepdims: bool = False) -> Plan:
    """Maximum of the elements; NaN if any element is NaN.

    >>> tb.max(tb.asarray([3, 1, 2])).item()
    3
    """
    check_dtype(x.dtype, "real")
    return reduction(x, axis, keepdims, identity=False)


@primitive.calls("reduce_min")
def min(x: Template, /, *, axis: Axes = None, keepdims: bool = False) -> Plan:
    """Minimum of the elements; NaN if any element is NaN.

    >>> tb.min(tb.asarray([3, 1, 2])).item()
    1
    """
    check_dtype(x.dtype, "real")
    return reduction(x, axis, keepdims, identity=False)


def _index_plan(x: Template, axis: Axis | None, keepdims: bool, tie_break: TieBreak) -> Plan:
    check_dtype(x.dtype, "real or bool")
    choice(("low", "high"), tie_break=tie_break)
    out, over = index_reduction(x, axis, keepdims)
    ordered = uint8 if x.dtype is bool_ else x.dtype
    return Plan(out, (ordered,), {"axis": over, "keepdims": bool(keepdims), "tie_break": tie_break})


@primitive
def argmax(x: Template, /, *, axis: Axis | None = None, keepdims: bool = False, tie_break: TieBreak = "low") -> Plan:
    """Index (int64) of the maximum along an axis, or in the flattened tensor if `axis` is `None`.

    If there are NaN, the index is that of a NaN. Of several NaN or equal elements, the first is taken, or the last with
    `tie_break="high"`.

    >>> tb.argmax(tb.asarray([1, 3, 3])).item(), tb.argmax(tb.asarray([1, 3, 3]), tie_break="high").item()
    (1, 2)
    """
    return _index_plan(x, axis, keepdims, tie_break)


@primitive
def argmin(x: Template, /, *, axis: Axis | None = None, keepdims: bool = False, tie_break: TieBreak = "low") -> Plan:
    """Index (int64) of the minimum along an axis, or in the flattened tensor if `axis` is `None`.

    If there are NaN, the index is that of a NaN. Of several NaN or equal elements, the first is taken, or the last with
    `tie_break="high"`.

    >>> tb.argmin(tb.asarray([3, 1, 2])).item()
    1
    """
    return _index_plan(x, axis, keepdims, tie_break)
