"""Operators of tensors with operands that no op takes: lists, texts, and objects with operators of their own."""

from __future__ import annotations

import array
import collections
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
import tensorbackend.ragged as tr
from tensorbackend.errors import OperandError

OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, divmod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip

LISTS: list[Any] = [[1, 2], (1, 2), range(2), [], [[1, 2]], type("Mine", (list,), {})([1, 2])]

TENSORS: list[Any] = [tb.asarray(3), tb.asarray([1, 2]), tb.ones((2, 2))]

TEXT = (
    r"expected a tensor, a Python number or an array, got x[12]=.*; (wrap it in asarray\(\) or tensor\(\)|tb.tree_map)"
)


@pytest.mark.parametrize("apply", OPERATORS, ids=lambda apply: apply.__name__)
@pytest.mark.parametrize("other", LISTS, ids=repr)
def test_a_list_is_not_an_operand(apply: Callable[[Any, Any], Any], other: Any) -> None:
    for x in TENSORS:
        for operands in ((x, other), (other, x)):
            for _ in range(2):  # the second time by the warm call
                with pytest.raises(OperandError, match=TEXT):
                    apply(*operands)
                if x.ndim < 2 and apply is not operator.matmul and x.dtype.is_integer:
                    apply(x, x + 1)


OTHERS: list[Any] = [
    "ab", b"ab", bytearray(b"ab"), None, {"a": 1}, {1}, object(), ..., collections.deque([1]), array.array("i", [1]),
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: type(other).__name__)
def test_objects_of_python_are_not_operands_and_equal_no_tensor(other: Any) -> None:
    x = tb.asarray(3)
    texts = [operator.mod] if isinstance(other, str | bytes | bytearray) else []
    for apply in OPERATORS[:-2]:
        for operands in ((x, other), (other, x))[: 1 if apply in texts else 2]:  # `"ab" % x` formats
            with pytest.raises(OperandError, match="None comes from a function" if other is None else TEXT):
                apply(*operands)
    assert (x == other) is (other == x) is False
    assert (x != other) is (other != x) is True


class Answering:
    """An object with operators of its own."""

    def __radd__(self, other: object) -> str:
        return "mine"

    __rmul__ = __rmatmul__ = __rdivmod__ = __gt__ = __add__ = __radd__

    def __eq__(self, other: object) -> Any:
        return "mine"

    __hash__ = None  # type: ignore[assignment]


def test_operators_leave_it_to_an_object_that_has_them() -> None:
    x, other = tb.ones(2), Answering()
    results: list[Any] = [x + other, x * other, x @ other, divmod(x, other), x < other, x == other, other + x]
    assert results == ["mine"] * 7
    with pytest.raises(OperandError, match="subtract: expected a tensor, a Python number or an array"):
        operator.sub(x, other)
    for number in (Fraction(1, 2), Decimal(1)):
        with pytest.raises(TypeError):
            operator.add(x, number)  # they do not answer


BY_OP: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "matmul": operator.matmul,
    "less": operator.lt, "greater": operator.gt,
}  # fmt: skip


@pytest.mark.parametrize("backend", ["numpy", "template"])
@pytest.mark.parametrize("other", [np.ma.masked_array([1.0, 2.0], [True, False]), np.dtype("f4")], ids=type)
def test_operators_do_not_leave_it_to_numpy(other: Any, backend: str) -> None:
    x = tb.ones(2, backend=backend)
    for name, apply in BY_OP.items():
        with pytest.raises(OperandError) as of_op:
            getattr(tb, name)(x, other)
        with pytest.raises(OperandError) as of_operator:
            apply(x, other)
        assert str(of_operator.value) == str(of_op.value)


def test_a_list_is_not_an_operand_of_axes_with_lengths() -> None:
    x: Any = tr.from_list([[1.0, 2.0], [3.0]])
    for apply in (operator.add, operator.mul, operator.lt):
        for operands in ((x, [1, 2]), ([1, 2], x)):
            with pytest.raises(OperandError, match=TEXT):
                apply(*operands)


def test_numpys_functions_take_lists_for_arrays() -> None:
    x: Any = tb.asarray([1.0, 2.0])
    assert np.add(x, [1, 2]).tolist() == np.add([1, 2], x).tolist() == [2.0, 4.0]
    assert isinstance(np.add(x, [1, 2]), tb.Tensor)


def test_a_list_cannot_grow_by_a_tensor() -> None:
    numbers: Any = [1]
    with pytest.raises(OperandError, match=TEXT):
        numbers += tb.asarray([1.0, 2.0])
    assert numbers == [1]
