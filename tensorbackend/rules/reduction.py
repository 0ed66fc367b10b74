"""Templates of reductions and orderings."""

from __future__ import annotations

from ..annotations import Axes
from ..dtypes import DType, default_dtype, promote_types
from ..errors import ShapeError, expected
from ..template import Names, Shape, Template
from .axes import normalize_axis, sorted_axes
from .broadcasting import check_cast, check_dtype
from .plan import Plan, flag


def reduce_shape(x: Template, axes: tuple[int, ...], keepdims: bool) -> tuple[Shape, Names]:
    """Shape and names without the reduced axes, or with reduced axes of size 1.

    (2, 3, 4) over (1,) becomes (2, 4), or (2, 1, 4) with `keepdims`.
    """
    if flag(keepdims=keepdims):
        return tuple(1 if axis in axes else size for axis, size in enumerate(x.shape)), x.names
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return tuple(x.shape[axis] for axis in kept), tuple(x.names[axis] for axis in kept)


def reduction(x: Template, axes: Axes, keepdims: bool, dtype: DType | None = None, identity: bool = True) -> Plan:
    """The plan of a reduction; `ShapeError` for a reduction without identity over an axis of size 0."""
    over = sorted_axes(x, axes)
    if not identity and any(x.shape[axis] == 0 for axis in over):
        raise ShapeError(
            expected("axes of at least one element, as the reduction has no identity", tensor=x, axes=over)
        )
    shape, names = reduce_shape(x, over, keepdims)
    out = Template(shape, dtype or x.dtype, names)
    return Plan(out, (x.dtype,), {"axes": over, "keepdims": bool(keepdims)})


def plan_sum(x: Template, axes: Axes, keepdims: bool, dtype: DType) -> Plan:
    """The plan of a sum or product in a dtype, to which elements are cast first, unless it merely widens theirs."""
    plan = reduction(x, axes, keepdims, check_cast(x.dtype, check_dtype(dtype, "numeric")))
    widened = x.dtype.kind in ("bool", dtype.kind) and promote_types(x.dtype, dtype) is dtype
    return plan if widened else plan._replace(inputs=(dtype,))


def accumulator(dtype: DType) -> DType:
    """The dtype of a sum or product: small integers and bool widen to 64 bits (Array API standard)."""
    if dtype.kind in ("bool", "int"):
        return default_dtype("int")
    return default_dtype("uint") if dtype.kind == "uint" else dtype


def index_reduction(x: Template, axis: int | str | None, keepdims: bool) -> tuple[Template, int | None]:
    """Template of an argmax and its axis (`None` for all elements); `ShapeError` if there are no elements."""
    over = None if axis is None else normalize_axis(x, axis)
    axes = tuple(range(x.ndim)) if over is None else (over,)
    if any(x.shape[position] == 0 for position in axes):
        raise ShapeError(expected("axes of at least one element", tensor=x, axes=axes))
    shape, names = reduce_shape(x, axes, keepdims)
    return Template(shape, default_dtype("int"), names), over
