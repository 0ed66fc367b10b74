"""Assignments in traces and on tapes, whose gradients keep the elements of operands."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb


def test_a_tape_keeps_the_elements_of_an_operand() -> None:
    x, factor = tb.ones(3) * 1, tb.ones(3) * 2
    with tb.tape() as tape:
        watched = tape.watch(x)
        square, scaled = tb.sum(watched * watched), tb.sum(watched * factor)
    x[0] = factor[0] = 9.0
    assert tb.gradient(square, watched).tolist() == [2.0] * 3
    assert tb.gradient(scaled, watched).tolist() == [2.0] * 3


def test_in_traces_and_on_tapes() -> None:
    def changed(x: tb.Tensor) -> tb.Tensor:
        y = x * 1
        y[0] = x[1] * 2
        y[1:] = y[:-1]
        return tb.sum(y * y)

    x = tb.asarray([1.0, 2.0, 3.0])
    slopes = [tb.grad(changed)(x), tb.jit(tb.grad(changed))(x)]
    with tb.tape() as tape:
        watched = tape.watch(x)
        slopes.append(tb.gradient(changed(watched), watched))
    # y is (2 b, 2 b, b)
    assert [slope.tolist() for slope in slopes] == [[0.0, 2 * (4 + 4 + 1) * 2.0, 0.0]] * 3


def test_jit_changes_no_argument() -> None:
    def added(a: tb.Tensor) -> tb.Tensor:
        a[...] = a + 1
        return a

    x = tb.zeros(3) * 1
    assert tb.jit(added)(x).tolist() == [1.0] * 3
    assert x.tolist() == [0.0] * 3
    assert added(x).tolist() == x.tolist() == [1.0] * 3


def test_adding_to_a_variable_assigns_nothing() -> None:
    def added(a: tb.Tensor) -> tb.Tensor:
        a += 1
        return a

    x = tb.zeros(3)
    assert added(x).tolist() == tb.jit(added)(x).tolist() == [1.0] * 3
    assert x.tolist() == [0.0] * 3


@pytest.mark.parametrize("transform", [tb.jit, tb.vmap, lambda function: tb.grad(lambda s: tb.sum(function(s)))])
def test_a_copy_that_is_made_in_a_trace_takes_traced_values(transform: Any) -> None:
    captured = tb.asarray([[1.0, 2.0], [3.0, 4.0]])

    def function(value: Any) -> Any:
        x = tb.tensor(captured)
        x[1, 1] = value
        return x * x

    result = transform(function)(tb.asarray([5.0]) if transform is tb.vmap else tb.asarray(5.0))
    assert result.tolist() in ([[1.0, 4.0], [9.0, 25.0]], [[[1.0, 4.0], [9.0, 25.0]]], 10.0)
    assert captured.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(tb.errors.BackendError, match=r"assign to a copy that is made in it by tb.tensor\(x\)"):
        tb.jit(lambda value: captured.__setitem__(0, value))(tb.asarray(1.0))
    with tb.default_backend("template"):
        assert tb.tensor(captured).tolist() == captured.tolist()
