"""A drawn program as source."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.testing.program_source import Program, Scope


def test_a_gradient_is_printed_with_its_positions() -> None:
    x = tb.tensor([1.0, 2.0], backend="binary")
    program = Program((("x0", "tb.tensor([1.0, 2.0])", x),), ("v0 = tb.exp(x0)",), "tb.sum(v0)", (0,))
    assert program.caller == "tb.value_and_grad(program, (0,))"
    assert program.source.splitlines() == ["def program(x0):", "    v0 = tb.exp(x0)", "    return tb.sum(v0)"]


def test_a_value_takes_the_place_of_an_operand_of_its_shape() -> None:
    scope = Scope(tb.float32, ())
    wanted = tb.zeros((2, 3))
    assert scope.operand(wanted, 0) == "x0"
    assert scope.add("x0 * 2") == "v1"
    assert [scope.operand(wanted, number) for number in (0, 1)] == ["v1", "x0"]
    assert scope.operand(tb.zeros(6), 0) == "tb.reshape(v1, (6,))"
    assert scope.add("x0[:0]") is None
