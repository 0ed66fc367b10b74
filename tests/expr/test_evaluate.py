"""Programs of kernels: what they compute, what they free, and which of their kernels write into an operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.expr.evaluate import evaluate, last_uses, program

HALF = tb.asarray([0.5])


def run(function: Callable[..., Any], array: Any, *others: Any) -> list[Any]:
    """The results of a function as a program that takes its first parameter out of a list."""
    tensors = [tb.asarray(value) for value in others]
    graph = tb.trace(function)(tb.template(array.shape, array.dtype), *tensors)
    step = program(graph, tb.get_backend("numpy"), entered_once=True, carried=range(1))
    carried = [array]
    del array
    results = step.on_payloads([carried, *[x.data for x in tensors]])
    assert not carried
    return [*results]


IN_PLACE: dict[str, Callable[[tb.Tensor, tb.Tensor], Any]] = {
    "put_at": lambda x, i: tb.put_at(x, i, 0.5),
    "indexed_put": lambda x, i: tb.indexed_put(x, tb.reshape(i, (1, 1)), HALF),
    "indexed_add": lambda x, i: tb.indexed_add(x, tb.reshape(i, (1, 1)), HALF),
    "put_slice": lambda x, i: tb.put_slice(x, HALF, starts=(2,)),
    "put_slice at a tensor": lambda x, i: tb.put_slice(x, HALF, starts=(i,)),
    "assignment": lambda x, i: assigned(x, i),
    "after a read": lambda x, i: tb.put_at(x, i, tb.sum(x)),
    "of a renamed operand": lambda x, i: tb.put_at(x.rename("n"), i, 0.5),
}


def assigned(x: tb.Tensor, i: tb.Tensor) -> tb.Tensor:
    x[i] = 0.5
    x[i] = x[i] + 1
    return x


@pytest.mark.parametrize("name", IN_PLACE)
def test_writes_at_the_last_use(name: str) -> None:
    array = np.zeros(8, "float32") + 1
    place = array.ctypes.data
    wanted = IN_PLACE[name](tb.asarray(array.copy()), tb.asarray(2)).tolist()
    holder = [array]
    del array
    (result,) = run(IN_PLACE[name], holder.pop(), 2)
    assert result.tolist() == wanted
    assert result.ctypes.data == place


KEPT: dict[str, Callable[[tb.Tensor, tb.Tensor], Any]] = {
    "read later": lambda x, i: (tb.put_at(x, i, 0.5), x + 1),
    "returned as well": lambda x, i: (tb.put_at(x, i, 0.5), x),
    "a view is read later": lambda x, i: (lambda part: (tb.put_at(x, i, 0.5), part + 0))(x[1:]),
    "a view is returned": lambda x, i: (lambda part: (tb.put_at(x, i, 0.5), part))(tb.reshape(x, (2, 4))),
    "a part of it is the update": lambda x, i: (tb.put_slice(x, x[2:6], starts=(1,)),),
    "its own update": lambda x, i: (tb.put_slice(x, x, starts=(0,)), tb.put_at(x, i, 0.5)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_needed_later_stays(name: str) -> None:
    array = np.arange(8, dtype="float32")
    wanted = [x.tolist() for x in KEPT[name](tb.asarray(array), tb.asarray(2))]
    assert [result.tolist() for result in run(KEPT[name], array.copy(), 2)] == wanted


def test_what_somebody_else_holds_stays() -> None:
    array: Any = np.arange(8, dtype="float32")
    for kept in (array, array[1:], memoryview(array)):
        (result,) = run(IN_PLACE["put_at"], array, 2)
        assert result.tolist() == [0.0, 1.0, 0.5, *range(3, 8)]
        assert np.asarray(kept).tolist()[-6:] == [2.0, *range(3, 8)]


def test_constants_of_a_program_stay() -> None:
    function = tb.jit(lambda i: tb.put_at(tb.zeros(4), i, 1.0))
    assert [function(tb.asarray(i)).tolist().index(1.0) for i in (1, 2)] == [1, 2]
    assert function(tb.asarray(0)).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_arguments_of_jit_and_of_loops_stay() -> None:
    x = tb.zeros(4) + 1

    def loop(x: tb.Tensor) -> Any:
        first = tb.fori_loop(0, 3, lambda i, carry: tb.put_at(carry, i, 5.0), x)
        second = tb.while_loop(lambda c: c[0] < 9, lambda c: tb.put_at(c + 0, 0, c[0] + 4), x)
        third, rows = tb.scan(lambda c, i: (tb.put_at(c, i, 7.0), c), x, tb.asarray([0, 1]))
        return first, second, third, rows

    for function in (loop, tb.jit(loop), tb.jit(loop)):
        first, second, third, rows = function(x)
        assert first.tolist() == [5.0, 5.0, 5.0, 1.0]
        assert second.tolist() == [9.0, 1.0, 1.0, 1.0]
        assert third.tolist() == [7.0, 7.0, 1.0, 1.0]
        assert rows.tolist() == [[1.0] * 4, [7.0, 1.0, 1.0, 1.0]]
        assert x.tolist() == [1.0] * 4


def test_a_loop_may_carry_nothing() -> None:
    _, rows = tb.scan(lambda carry, i: ((), i * 2), (), tb.asarray([1, 2]))
    assert rows.tolist() == [2, 4]


X = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("row", "column"))


def test_values_are_freed_at_their_last_use() -> None:
    graph = tb.trace(lambda x: tb.exp(tb.sin(x) + x))(X)
    sin, add, exp = graph.nodes[1:]
    assert {value.node for value in last_uses(graph)[add]} == {graph.nodes[0], sin}
    assert [value.node for value in last_uses(graph)[exp]] == [add]


def test_a_tensor_may_be_moved_to_the_backend_by_hand() -> None:
    x = X.backend_copy("expr")
    assert repr(tb.exp(x)) == "f32[row: 2][column: 2] expr exp"
    graph = tb.trace(lambda: tb.exp(x))()
    assert tb.all_close(evaluate(graph, [])[0], tb.exp(X))
