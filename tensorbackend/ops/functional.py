"""Ops that call a Python function of scalar tensors for each element.

The function first runs once on template tensors, which finds its errors and the dtype of its result before any data is
read. So it is written in ops and must not read data (`where` instead of `if`). It takes and returns tensors
without axes, on the backend of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..annotations import Axes
from ..dispatch import primitive
from ..dtypes import DType, DTypeLike, as_dtype, promote_types
from ..errors import DTypeError, OperandError, ShapeError, expected
from ..rules.accuracy import COMPLEX_STEPS, Bound
from ..rules.broadcasting import result_type
from ..rules.functional import check_initial
from ..rules.plan import Plan
from ..rules.reduction import reduction
from ..select import call_with_default, get_backend
from ..template import Template, intern_template
from ..tensor import Tensor
from .elementwise.basic import astype

OfOne: TypeAlias = Callable[[Tensor], Tensor]
OfTwo: TypeAlias = Callable[[Tensor, Tensor], Tensor]

_ROUNDS = 4
"""The number of times that the dtype of an accumulator may change before it must stay."""


def result_dtype(function: Callable[..., Tensor], *dtypes: DType) -> DType:
    """The dtype that a function of scalar tensors returns, from a trial on templates.

    Raises `OperandError` if the function does not return a tensor, `ShapeError` where it returns a tensor with axes,
    and whatever the function itself raises.
    """
    backend = get_backend("template")
    result = call_with_default(
        backend, function, *(Tensor(intern_template((), dtype, ()), backend, None) for dtype in dtypes)
    )
    if not isinstance(result, Tensor):
        raise OperandError(expected("a function that returns a tensor", "wrap it in asarray()", returned=result))
    if result.shape:
        raise ShapeError(expected("a function that returns a tensor without axes", returned=result.template))
    return result.dtype


def accumulator(x: Template, initial: Template, function: OfTwo) -> DType:
    """The dtype in which a function folds the elements of x: one that it returns if its first argument has it.

    The search begins with the dtype of `initial`, where a Python number yields to x's dtype, and continues with the
    dtype that the function returns until that stays the same. Raises `DTypeError` where it keeps changing, or where it
    does not hold `initial`.
    """
    check_initial(initial)
    dtype = result_type([x, initial]) if initial.weak else initial.dtype
    for _ in range(_ROUNDS):
        returned = result_dtype(function, dtype, x.dtype)
        if returned is dtype:
            break
        dtype = returned
    else:
        expectation = "a function that returns the dtype of its first argument"
        raise DTypeError(expected(expectation, "cast its result with astype()", returned=dtype))
    if not initial.weak and promote_types(initial.dtype, dtype) is not dtype:
        expectation = f"an initial value that fits {dtype}, the dtype that the function returns"
        raise DTypeError(expected(expectation, "cast one of them with astype()", initial=initial))
    return dtype


@primitive.within(complex=COMPLEX_STEPS)
def reduce(
    x: Template,
    initial: Template,
    /,
    *,
    function: OfTwo,
    axis: Axes = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = None,
) -> Plan:
    """Fold a function of two scalar tensors over axes, by default over all, starting from `initial`.

    `function(accumulated, element)` is associative, with `initial` as its identity: eager backends iterate over
    the elements in row-major order, others in any order. The result has the dtype that the function returns; a Python
    number as `initial` takes x's dtype where it fits. With a `dtype` the initial value and each result are cast to it.
    Raises `DTypeError` where the function never returns the dtype of its first argument, and `ShapeError` or
    `OperandError` where it returns anything but a tensor without axes.

    >>> x = tb.asarray([[1, 2], [3, 4]], names=("row", "column"))
    >>> tb.reduce(x, 0, function=lambda total, element: total + element * element, axis="column")
    s64[row: 2] numpy [5, 25]
    """
    out, _, options = reduction(x, axis, keepdims)
    assert isinstance(out, Template)
    target = None if dtype is None else as_dtype(dtype)
    if target is None:
        target, chosen = accumulator(x, initial, function), function
    else:
        check_initial(initial)
        chosen = _cast_to(target, function)
        result_dtype(chosen, target, x.dtype)
    return Plan(out.replace(dtype=target), (x.dtype, target), {**options, "function": chosen})


def _cast_to(dtype: DType, function: OfTwo) -> OfTwo:
    """A function of two scalar tensors whose results are cast to a dtype."""
    return lambda accumulated, element: astype(function(accumulated, element), dtype)


@primitive.within(complex=Bound(4, "a step of the function may be a product of complex numbers"))
def map(x: Template, /, *, function: OfOne, dtype: DTypeLike | None = None) -> Plan:
    """Apply a function of a scalar tensor to every element.

    Slow on eager backends, which call the function for each element: ops take whole tensors. Raises `ShapeError` or
    `OperandError` where the function returns anything but a tensor without axes.

    >>> tb.map(tb.asarray([1, 2, 3]), function=lambda x: x * x + 1).tolist()
    [2, 5, 10]
    """
    target = None if dtype is None else as_dtype(dtype)

    def call(element: Tensor) -> Tensor:
        return astype(function(element), target)  # type: ignore[arg-type] # used only where there is a target

    chosen = function if target is None else call
    return Plan(x.replace(dtype=result_dtype(chosen, x.dtype)), (x.dtype,), {"function": chosen})
