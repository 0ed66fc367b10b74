"""The operators of a tensor, each of which looks up its op by name in the table of `tensor.bind`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import ArgumentError, OperandError, expected
from ..interchange import is_plain_array
from ..rules.plan import integer
from .methods import OpMethods, ops

if TYPE_CHECKING:
    from . import Tensor, TensorLike

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
        except OperandError:
            if not is_left_to(other, name):
                raise
            return NotImplemented  # type: ignore[no-any-return] # Python then calls the other operand's method

    method.op = name  # type: ignore[attr-defined] # read for `OPERATORS`
    return method


def _reflected_method(name: str) -> Callable[[Tensor, TensorLike], Tensor]:
    def method(self: Tensor, other: TensorLike) -> Tensor:
        return _ops[name](other, self)  # the other operand could not: for NotImplemented, a list would repeat itself

    method.reflected_op = name  # type: ignore[attr-defined] # read for `REFLECTED`
    return method


def is_left_to(other: object, op: str) -> bool:
    """Whether an operator defers to the method of a second operand that its op does not take.

    Methods of Python's own classes and of NumPy's are not called: a list would repeat itself in `x * [1, 2]`, and be
    unequal in `x == [1, 2]`; a masked array would take the tensor for an array without a mask. Python decides whether a
    tensor equals anything but a list or an array, such as None.

    >>> from fractions import Fraction
    >>> is_left_to(Fraction(1, 2), "multiply"), is_left_to([1, 2], "multiply"), is_left_to(None, "equal")
    (True, False, True)
    """
    name = REFLECTED.get(op) or _MIRRORED[op]
    if op in ("equal", "not_equal"):
        return not isinstance(other, list | tuple | range) and not is_plain_array(other)
    method = getattr(type(other), name, None)
    if method is None:
        return False
    return getattr(method, "__objclass__", method).__module__.partition(".")[0] not in _NOT_CALLED


_NOT_CALLED = ("builtins", "collections", "array", "numpy")
"""The packages of Python's containers, of `object`, and of arrays and dtypes, whose methods know no tensors."""

_MIRRORED = {
    "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__",
    "equal": "__eq__", "not_equal": "__ne__", "divmod": "__rdivmod__",
}  # fmt: skip
"""The method that Python calls with the operands exchanged, where `REFLECTED` has none."""


def _divmod(self: Tensor, other: TensorLike) -> tuple[Tensor, Tensor]:
    try:
        return _ops["floor_divide"](self, other), _ops["remainder"](self, other)
    except OperandError:
        if not is_left_to(other, "divmod"):
            raise
        return NotImplemented  # type: ignore[no-any-return]


def _rdivmod(self: Tensor, other: TensorLike) -> tuple[Tensor, Tensor]:
    return _ops["floor_divide"](other, self), _ops["remainder"](other, self)


def _round(self: Tensor, digits: int | None = None) -> Tensor:
    """Rounds each element, ties to even: `round(x)` to integral values, `round(x, 2)` to 2 decimal digits."""
    if digits is None or not (digits := integer(digits=digits)):
        return _ops["round"](self)
    if abs(digits) > _MOST_DIGITS:
        raise ArgumentError(expected(f"at most {_MOST_DIGITS} digits", digits=digits))
    scale = float(10 ** abs(digits))
    return _ops["round"](self * scale) / scale if digits > 0 else _ops["round"](self / scale) * scale


class Operators(OpMethods):
    """Arithmetic, comparisons and bits.

    There is no `__iadd__` and the like: `x += y` is `x = x + y`, so that other variables keep their tensor.
    """

    __slots__ = ()

    __add__ = _binary("add")
    __radd__ = _reflected_method("add")
    __sub__ = _binary("subtract")
    __rsub__ = _reflected_method("subtract")
    __mul__ = _binary("multiply")
    __rmul__ = _reflected_method("multiply")
    __truediv__ = _binary("divide")
    __rtruediv__ = _reflected_method("divide")
    __floordiv__ = _binary("floor_divide")
    __rfloordiv__ = _reflected_method("floor_divide")
    __mod__ = _binary("remainder")
    __rmod__ = _reflected_method("remainder")
    __pow__ = _binary("pow")
    __rpow__ = _reflected_method("pow")
    __matmul__ = _binary("matmul")
    __rmatmul__ = _reflected_method("matmul")
    __and__ = _binary("bitwise_and")
    __rand__ = _reflected_method("bitwise_and")
    __or__ = _binary("bitwise_or")
    __ror__ = _reflected_method("bitwise_or")
    __xor__ = _binary("bitwise_xor")
    __rxor__ = _reflected_method("bitwise_xor")
    __lshift__ = _binary("bitwise_left_shift")
    __rlshift__ = _reflected_method("bitwise_left_shift")
    __rshift__ = _binary("bitwise_right_shift")
    __rrshift__ = _reflected_method("bitwise_right_shift")
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
"""The method of `Tensor` for an op of two tensors, by the op's name.

The dispatcher replaces the method by the op's warm call, which leaves calls without a ready kernel to the method.
"""

REFLECTED: dict[str, str] = {
    method.reflected_op: name for name, method in vars(Operators).items() if hasattr(method, "reflected_op")
}
"""The method of `Tensor` for an op whose second operand is the tensor, likewise."""
