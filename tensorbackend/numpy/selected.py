"""`x[mask]` in a trace, where no shape is known: elements that are computed with, and written back where they were.

`x[mask] += 1` and `x[mask] = 2 * x[mask]` read elements only to write to the same places. So what is read is the whole
array next to the mask, operators compute with the whole array, and the write takes the places where the mask holds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Never

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import TemplateDataError
from ..expr.node import Value
from ..tensor import Tensor
from .arrays import box, fresh, ndarray, replace, tensor_of
from .conversion import NUMBERS, cast


class Selected:
    """The elements of an array at a mask without data."""

    __slots__ = ("_error", "mask", "whole")

    __array_priority__ = 2000.0
    __array_ufunc__ = None

    def __init__(self, whole: Any, mask: Tensor, error: TemplateDataError) -> None:
        self.whole = whole
        self.mask = mask
        self._error = error
        """What any other use raises."""

    def _with(self, function: Callable[..., Any], other: Any) -> Selected:
        """The elements that an operator computes of these and a number, or elements at the same mask."""
        if other.__class__ is Selected:
            if not same(self.mask, other.mask):
                raise self._error
            other = other.whole
        elif other.__class__ not in NUMBERS and getattr(other, "shape", None) != ():
            raise self._error
        return Selected(function(self.whole, other), self.mask, self._error)

    def __neg__(self) -> Selected:
        return Selected(-self.whole, self.mask, self._error)

    def __pos__(self) -> Selected:
        return self

    def __abs__(self) -> Selected:
        return Selected(abs(self.whole), self.mask, self._error)

    def __invert__(self) -> Selected:
        return Selected(~self.whole, self.mask, self._error)

    def _refuse(self, *arguments: Any, **options: Any) -> Never:
        raise self._error

    __array__ = __bool__ = __float__ = __int__ = __index__ = __iter__ = __len__ = _refuse
    __getitem__ = __setitem__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Never:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._error


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operator, and of its reflection."""
    function = getattr(operator, name)
    return (
        lambda self, other: self._with(function, other),
        lambda self, other: self._with(lambda one, another: function(another, one), other),
    )


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    _forward, _reflected = _operators(f"__{_name}__")
    setattr(Selected, f"__{_name}__", _forward)
    setattr(Selected, f"__r{_name}__", _reflected)


def select(x: ndarray, key: Any, error: TemplateDataError) -> Selected:
    """What an array gives at a key that has no data; raises the error for a key other than one mask."""
    mask = tensor_of(key) if key.__class__ is ndarray else key
    t = tensor_of(x)
    if not isinstance(mask, Tensor) or mask.dtype is not bool_ or mask.shape != t.shape[: mask.ndim]:
        raise error
    return Selected(box(fresh(t)), mask, error)


def write_selected(x: ndarray, key: Any, value: Selected) -> None:
    """Assigns elements at the mask from which they were read."""
    mask = tensor_of(key) if key.__class__ is ndarray else key
    t, new = tensor_of(x), tensor_of(value.whole)
    if not isinstance(mask, Tensor) or not same(mask, value.mask) or new.shape != t.shape:
        raise value._error
    wide = tb.reshape(mask, (*mask.shape, *(1,) * (t.ndim - mask.ndim)))
    replace(x, tb.where(wide, cast(new, t.dtype), t))


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two masks are the same value of a trace, or computed in the same way from the same values."""
    if one.data is other.data:
        return True
    a, b = one.data, other.data
    return isinstance(a, Value) and isinstance(b, Value) and _same_value(a, b)


def _same_value(a: Value, b: Value) -> bool:
    if a == b:
        return True
    one, other = a.node, b.node
    if (one.op, one.out, a.index) != (other.op, other.out, b.index) or one.op not in _PURE:
        return False
    if dict(one.options) != dict(other.options) or len(one.inputs) != len(other.inputs):
        return False
    return all(
        isinstance(x, Value) and isinstance(y, Value) and _same_value(x, y)
        for x, y in zip(one.inputs, other.inputs, strict=True)
    )


_PURE = frozenset({
    "greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isnan", "isfinite", "isinf", "logical_and",
    "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_invert", "abs", "constant",
})  # fmt: skip
"""Callbacks of which masks are usually made."""
