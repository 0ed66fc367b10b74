"""The dtypes in which a universal function computes and of its results, as NumPy decides them.

Its answers are cached. `numpy.ufunc.resolve_dtypes` is called once for each combination of dtypes and classes of
numbers, so promotion is NumPy's without a separate table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import DType
from ..errors import DTypeError
from ..tensor import Tensor
from .dtypes import NUMPY_CLASSES, dtype_of, numpy_dtype
from .ufunc_table import COMPARISONS


class Spec:
    """A universal function: its name, the op that computes it, and NumPy's declaration of it."""

    __slots__ = (
        "accumulator", "alike", "boolean", "by_numpy", "complex", "kinds", "name", "nin", "nout", "op", "reducer",
    )  # fmt: skip

    def __init__(
        self, name: str, op: Callable[..., Any], *, boolean: Callable[..., Any] | None = None,
        complex: Callable[..., Any] | None = None, reducer: Callable[..., Any] | None = None,
        accumulator: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.op, self.boolean, self.complex = name, op, boolean, complex
        self.reducer, self.accumulator = reducer, accumulator
        self.by_numpy: Final = getattr(numpy, name)
        self.nin: Final[int] = self.by_numpy.nin
        self.nout: Final[int] = self.by_numpy.nout
        self.kinds: Final[dict[Any, Plan | None]] = {}
        """How dtypes of tensors and classes of numbers are computed with: `None` by the op, without conversion."""
        self.alike: Final[set[Any]] = set()
        """The dtypes for which operands that all have this dtype are computed with by the op, without conversion."""


class Plan(NamedTuple):
    """How operands are cast if the op's own promotion is not NumPy's."""

    op: Callable[..., Any]
    operands: tuple[DType, ...]
    results: tuple[DType, ...]


def kind_of(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else value.__class__


def plan_call(spec: Spec, kinds: tuple[Any, ...]) -> Plan | None:
    """The plan of a function for operands of these kinds, dtypes and classes of numbers; cached."""
    try:
        return spec.kinds[kinds]
    except KeyError:
        plan = _straight(spec, make_plan(spec, kinds, None, "same_kind"), kinds)
        spec.kinds[kinds] = plan
        if plan is None and len({*kinds}) == 1:
            spec.alike.add(kinds[0])
        return plan


def make_plan(spec: Spec, kinds: Sequence[Any], dtype: DType | None, casting: Any) -> Plan:
    given = [
        numpy_dtype(kind) if isinstance(kind, DType) else numpy.dtype(bool) if kind is bool
        else kind if kind in (int, float, complex) else numpy.dtype(kind)
        for kind in kinds
    ]  # fmt: skip
    dtypes = (*given, *(None,) * spec.nout)
    options = {} if dtype is None else {"signature": (None,) * spec.nin + (numpy_dtype(dtype),) * spec.nout}
    try:
        found = spec.by_numpy.resolve_dtypes(dtypes, casting=casting, **options)
    except TypeError as error:
        raise DTypeError(f"{spec.name}: {error}") from error
    chosen = tuple([dtype_of(each) for each in found])
    operands, results = chosen[: spec.nin], chosen[spec.nin :]
    op = spec.op
    if {each.kind for each in operands} == {"bool"}:
        if spec.boolean is not None:
            return Plan(spec.boolean, operands, results)
        if _gives(op, operands) is None:
            operands = (tb.uint8,) * spec.nin
    if spec.complex is not None and operands[0].is_complex:
        return Plan(spec.complex, operands, results)
    if len({*operands}) > 1 and _gives(op, operands) is None:
        if spec.name in COMPARISONS and {*operands} == {tb.int64, tb.uint64}:
            return Plan(partial(_compare_signs, op), operands, results)
        operands = (tb.float64,) * spec.nin
    return Plan(op, operands, results)


def _compare_signs(op: Callable[[Any, Any], Tensor], x1: Any, x2: Any) -> Tensor:
    """The comparison of int64 with uint64, in uint64: a negative number becomes 0, and the other one at least 1.

    -5 < 0 becomes 0 < 1, and 3 < 2 stays.
    """
    signed = x1 if x1.dtype is tb.int64 else x2
    floor = tb.astype(tb.less(signed, 0), tb.uint64)
    found = [tb.astype(tb.maximum(x, 0), tb.uint64) if x is signed else tb.maximum(x, floor) for x in (x1, x2)]
    return op(*found)


def _gives(op: Callable[..., Any], operands: Sequence[Any]) -> tuple[DType, ...] | None:
    """The dtypes of an op's results for operands of these dtypes and classes; `None` if it refuses them."""
    shape = (1, 1) if op is tb.matmul else (1,) if op is tb.vecdot else ()
    try:
        given = op(*[tb.template(shape, kind) if isinstance(kind, DType) else kind(1) for kind in operands])
    except tb.errors.TensorBackendError:
        return None
    return tuple([each.dtype for each in given]) if isinstance(given, tuple) else (given.dtype,)


def _straight(spec: Spec, plan: Plan, kinds: Sequence[Any]) -> Plan | None:
    """The plan, or `None` if the op does the same without any cast."""
    kinds = [float if kind is numpy.float64 else kind for kind in kinds]  # as the generated code passes it
    if plan.op is not spec.op or _gives(spec.op, kinds) != plan.results:
        return plan
    dtypes = [kind for kind in kinds if isinstance(kind, DType)]
    if any(
        (kind if isinstance(kind, DType) else _number_dtype(kind, dtypes)) is not wanted
        for kind, wanted in zip(kinds, plan.operands, strict=True)
    ):
        common = {*plan.operands}
        if len(common) > 1 or _common(kinds) not in common:
            return plan
    return None


def _common(kinds: Sequence[Any]) -> DType | None:
    """The dtype to which the op promotes operands; `None` if there is none, as of uint64 and int32."""
    try:
        return tb.result_type(*[_weak(kind) for kind in kinds])
    except DTypeError:
        return None


def _weak(kind: Any) -> Any:
    return kind if isinstance(kind, DType) else NUMPY_CLASSES.get(kind) or kind(1)


def _number_dtype(kind: Any, dtypes: Sequence[DType]) -> DType:
    return NUMPY_CLASSES.get(kind) or tb.result_type(kind(1), *dtypes)


def infinite_beyond(value: Any, dtype: DType) -> Any:
    """A Python number, infinite if a floating dtype does not reach it; any other operand as it is."""
    if value.__class__ in (int, float) and dtype.is_inexact and abs(value) > tb.finfo(dtype).max:
        return math.inf if value > 0 else -math.inf
    return value
