"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorbackend as tb
from phiml.backend._backend import get_precision
from tensorbackend.dtypes import bool_

from .base import Base, Operand
from .dtypes import NUMBERS, combined, steady

Method = Callable[..., Any]


def unary(op: Callable[[tb.Tensor], tb.Tensor], inexact: bool = False, bool_to_int: bool = False) -> Method:
    """Make a method from an op of one tensor. If it is `inexact`, integers become floats of the current precision."""

    def method(self: Base, x: Operand) -> Any:
        if type(x) is not tb.Tensor:
            if self.is_sparse(x):
                return x.like(method(self, x.values))
            x = self.as_tensor(x)
        if inexact and not x.template.dtype.is_inexact:
            x = self.to_float(x)
        elif bool_to_int and x.template.dtype is bool_:
            x = self.to_int32(x)
        return op(x)

    method.__doc__ = f"`tb.{op.__name__}` of each element."
    return method


def binary(op: Callable[..., tb.Tensor], bool_to_int: bool = False, int_to_float: bool = False) -> Method:
    """Make a method from an op of two operands, which are cast to their common dtype by PhiML's rules."""

    def method(self: Base, a: Operand, b: Operand) -> Any:
        if type(a) is tb.Tensor and type(b) is tb.Tensor:
            dtype = a.template.dtype
            if dtype is b.template.dtype and dtype in steady(get_precision(), bool_to_int, int_to_float):
                return op(a, b)
        return op(*self._pair(a, b, bool_to_int, int_to_float))

    method.__doc__ = f"`tb.{op.__name__}` of each pair of elements, in the dtype that PhiML gives them."
    return method


class Elementwise(Base):
    """Elementwise functions of one or two operands."""

    sqrt = unary(tb.sqrt, inexact=True)
    exp = unary(tb.exp, inexact=True)
    erf = unary(tb.erf, inexact=True)
    sin = unary(tb.sin, inexact=True)
    arcsin = unary(tb.asin, inexact=True)
    cos = unary(tb.cos, inexact=True)
    arccos = unary(tb.acos, inexact=True)
    tan = unary(tb.tan, inexact=True)
    arctan = unary(tb.atan, inexact=True)
    sinh = unary(tb.sinh, inexact=True)
    arcsinh = unary(tb.asinh, inexact=True)
    cosh = unary(tb.cosh, inexact=True)
    arccosh = unary(tb.acosh, inexact=True)
    tanh = unary(tb.tanh, inexact=True)
    arctanh = unary(tb.atanh, inexact=True)
    log = unary(tb.log, inexact=True)
    log2 = unary(tb.log2, inexact=True)
    log10 = unary(tb.log10, inexact=True)
    sigmoid = unary(tb.sigmoid, inexact=True)
    log_gamma = unary(tb.lgamma, inexact=True)
    softplus = unary(tb.nn.softplus, inexact=True)
    isfinite = unary(tb.isfinite, bool_to_int=True)
    isnan = unary(tb.isnan, bool_to_int=True)
    isinf = unary(tb.isinf, bool_to_int=True)
    abs = unary(tb.abs, bool_to_int=True)
    sign = unary(tb.sign, bool_to_int=True)
    round = unary(tb.round, bool_to_int=True)
    ceil = unary(tb.ceil, bool_to_int=True)
    floor = unary(tb.floor, bool_to_int=True)
    imag = unary(lambda x: x.imag, bool_to_int=True)
    real = unary(lambda x: x.real)
    conj = unary(tb.conj, bool_to_int=True)

    maximum = binary(tb.maximum, bool_to_int=True)
    minimum = binary(tb.minimum, bool_to_int=True)
    arctan2 = binary(tb.atan2, int_to_float=True)
    gamma_inc_l = binary(tb.gamma_inc_l, int_to_float=True)
    gamma_inc_u = binary(tb.gamma_inc_u, int_to_float=True)
    divide_no_nan = binary(tb.divide_no_nan, int_to_float=True)
    equal = binary(tb.equal)
    not_equal = binary(tb.not_equal)
    greater_than = binary(tb.greater, bool_to_int=True)
    greater_or_equal = binary(tb.greater_equal, bool_to_int=True)
    add = binary(tb.add, bool_to_int=True)
    sub = binary(tb.subtract, bool_to_int=True)
    div = binary(tb.divide, int_to_float=True)
    mod = binary(tb.remainder, bool_to_int=True)
    floordiv = binary(tb.floor_divide, bool_to_int=True)
    and_ = binary(tb.bitwise_and)
    or_ = binary(tb.bitwise_or)
    xor = binary(tb.bitwise_xor)
    shift_bits_left = binary(tb.bitwise_left_shift, bool_to_int=True)
    shift_bits_right = binary(tb.bitwise_right_shift, bool_to_int=True)
    _multiplied = binary(tb.multiply)

    def mul(self, a: Operand, b: Operand) -> Any:
        """Multiply elementwise. The product of bools is their logical and."""
        if self._dtype(a) is bool_ and self._dtype(b) is bool_:
            return self.and_(a, b)
        return self._multiplied(a, b)

    def pow(self, base: Operand, exp: Operand) -> Any:
        """Raise `base` to the power `exp`. Integers to a negative Python number give floats."""
        negative = type(exp) in NUMBERS and exp.real < 0
        base, exp = self._pair(base, exp, bool_to_int=True, int_to_float=negative)
        return tb.pow(base, exp)

    def invert(self, x: Operand) -> Any:
        """Invert each bit; negate bools."""
        return not x if isinstance(x, bool) else tb.bitwise_invert(self._tensor(x))

    def factorial(self, x: Operand) -> Any:
        """Compute x! for integers and gamma(x + 1) for floats."""
        return tb.factorial(self._tensor(x))

    def clip(self, x: Operand, minimum: Operand, maximum: Operand) -> Any:
        """Limit the elements of x to the interval from `minimum` to `maximum`."""
        operands = [operand for operand in (x, minimum, maximum) if operand is not None]
        target = combined(tuple(map(self._dtype, operands)), get_precision(), True)
        x, low, high = (
            operand if operand is None else self._cast(operand, target) for operand in (x, minimum, maximum)
        )
        return tb.clip(x, low, high)

    def where(self, condition: Operand, x: Operand = None, y: Operand = None) -> Any:
        """Choose elements of x where the condition holds, else of y.

        Without x and y, return the index vectors of the elements for which the condition holds.
        """
        if x is None or y is None:
            return tb.argwhere(self._tensor(condition))
        return tb.where(self._cast(condition, bool_), *self._pair(x, y))

    def stop_gradient(self, value: Operand) -> Any:
        """Return a value with the same data, through which no gradient flows."""
        if self.is_sparse(value):
            return value.like(self.stop_gradient(value.values))
        return tb.stop_gradient(value) if isinstance(value, tb.Tensor) else value
