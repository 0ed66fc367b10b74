"""The operators of a tensor, each of which looks its op up by name in the table where `tensor.bind` enters the ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import ArgumentError, OperandError, expected
from .methods import OpMethods, ops
from .rules.plan import integer

if TYPE_CHECKING:
    from .tensor import Tensor, TensorLike

_ops: dict[str, Callable[..., Tensor]] = ops

_MOST_DIGITS = 308
"""The most decimal digits by which float64 can be scaled."""


def _unary(name: str) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return _ops[name](self)

    return method


def _binary(name: str) -> Callable[[Tensor, TensorLike], Tensor]:
    def method(self: Tensor, other: TensorLike) -> Tensor:
        try:
            return _ops[name](self, other)
        except OperandError:  # Python then tries the other operand's method, and raises if that fails too
            return NotImplemented  # type: ignore[no-any-return]

    method.op = name  # type: ignore[attr-defined] # read for `OPERATORS`
    return method


def _reflected(name: str) -> Callable[[Tensor, TensorLike], Tensor]:
    def method(self: Tensor, other: TensorLike) -> Tensor:
        try:
            return _ops[name](other, self)
        except OperandError:
            return NotImplemented  # type: ignore[no-any-return]

    method.reflected_op = name  # type: ignore[attr-defined] # read for `REFLECTED`
    return method


def _divmod(self: Tensor, other: TensorLike) -> tuple[Tensor, Tensor]:
    quotient = self.__floordiv__(other)
    return quotient if quotient is NotImplemented else (quotient, self % other)


def _rdivmod(self: Tensor, other: TensorLike) -> tuple[Tensor, Tensor]:
    quotient = self.__rfloordiv__(other)
    return quotient if quotient is NotImplemented else (quotient, self.__rmod__(other))


def _round(self: Tensor, digits: int | None = None) -> Tensor:
    """Rounds each element, ties to even: `round(x)` to integral values, `round(x, 2)` to 2 decimal digits."""
    if digits is None or not (digits := integer(digits=digits)):
        return _ops["round"](self)
    if abs(digits) > _MOST_DIGITS:
        raise ArgumentError(expected(f"at most {_MOST_DIGITS} digits", digits=digits))
    scale = float(10 ** abs(digits))
    return _ops["round"](self * scale) / scale if digits > 0 else _ops["round"](self / scale) * scale


class Operators(OpMethods):
    """Arithmetic, comparisons and bits."""

    __slots__ = ()

    __add__ = _binary("add")
    __radd__ = _reflected("add")
    __sub__ = _binary("subtract")
    __rsub__ = _reflected("subtract")
    __mul__ = _binary("multiply")
    __rmul__ = _reflected("multiply")
    __truediv__ = _binary("divide")
    __rtruediv__ = _reflected("divide")
    __floordiv__ = _binary("floor_divide")
    __rfloordiv__ = _reflected("floor_divide")
    __mod__ = _binary("remainder")
    __rmod__ = _reflected("remainder")
    __pow__ = _binary("pow")
    __rpow__ = _reflected("pow")
    __matmul__ = _binary("matmul")
    __rmatmul__ = _reflected("matmul")
    __and__ = _binary("bitwise_and")
    __rand__ = _reflected("bitwise_and")
    __or__ = _binary("bitwise_or")
    __ror__ = _reflected("bitwise_or")
    __xor__ = _binary("bitwise_xor")
    __rxor__ = _reflected("bitwise_xor")
    __lshift__ = _binary("bitwise_left_shift")
    __rlshift__ = _reflected("bitwise_left_shift")
    __rshift__ = _binary("bitwise_right_shift")
    __rrshift__ = _reflected("bitwise_right_shift")
    __lt__ = _binary("less")
    __le__ = _binary("less_equal")
    __gt__ = _binary("greater")
    __ge__ = _binary("greater_equal")
    if TYPE_CHECKING:

        def __eq__(self, other: TensorLike) -> Tensor: ...  # type: ignore[override] # elementwise
        def __ne__(self, other: TensorLike) -> Tensor: ...  # type: ignore[override] # elementwise

    else:
        __eq__ = _binary("equal")
        __ne__ = _binary("not_equal")
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("abs")
    __invert__ = _unary("bitwise_invert")
    __divmod__ = _divmod
    __rdivmod__ = _rdivmod
    __round__ = _round


OPERATORS: dict[str, str] = {method.op: name for name, method in vars(Operators).items() if hasattr(method, "op")}
"""The method of `Tensor` that stands for an op of two tensors, by the op's name.

The dispatcher replaces the method by the op's warm call, which leaves calls without a ready kernel to the method.
"""

REFLECTED: dict[str, str] = {
    method.reflected_op: name for name, method in vars(Operators).items() if hasattr(method, "reflected_op")
}
"""The method of `Tensor` that stands for an op whose second operand is the tensor, likewise."""
