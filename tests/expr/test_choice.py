"""`switch`: one of several functions, by an index that depends on data."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_a_switch_runs_the_function_at_an_index(backend: str) -> None:
    functions: list[Any] = [tb.negative, tb.square, tb.sqrt, lambda x: x * 0 + 7, lambda x: x + 1]
    x = tb.asarray([1.0, 4.0], names=("n",), backend=backend)
    compiled = tb.jit(lambda i, x: tb.switch(i, functions, x))
    for index in range(-1, 7):
        reference = functions[min(max(index, 0), 4)](x)
        for chosen in (tb.switch(index, functions, x), compiled(tb.asarray(index, dtype="s8", backend=backend), x)):
            assert (chosen.tolist(), chosen.names, chosen.backend) == (reference.tolist(), ("n",), x.backend)
    every = tb.vmap(lambda i: tb.switch(i, functions, x))(tb.asarray([4, 0, 2], backend=backend))
    assert every.tolist() == [[2.0, 5.0], [-1.0, -4.0], [1.0, 2.0]]


def test_a_switch_has_a_gradient_and_nests() -> None:
    w = tb.asarray([2.0, 3.0])
    choices = [lambda p: p["x"], lambda p: p["x"] * w, lambda p: p["x"] ** 2]

    def loss(x: Any, i: Any) -> Any:
        return tb.sum(tb.switch(i, choices, {"x": x}))

    x = tb.asarray([1.0, 5.0])
    assert [tb.grad(loss)(x, i).tolist() for i in range(3)] == [[1.0, 1.0], [2.0, 3.0], [2.0, 10.0]]
    assert tb.switch(1, [lambda: 1, lambda: 2.5]).item() == 2.5
    assert tb.switch(0, [lambda x: {"y": x}], x)["y"].tolist() == [1.0, 5.0]
    assert tb.switch(2, [lambda x: x, lambda x: tb.switch(0, [tb.negative, tb.exp], x)], 3.0).item() == -3.0


def test_errors_of_a_switch() -> None:
    x = tb.ones(2)
    with pytest.raises(DTypeError, match="switch: expected an index as an integer without axes, got index=f32; cast"):
        tb.switch(1.0, [tb.exp], x)
    with pytest.raises(ArgumentError, match=r"switch: expected at least one function, got functions=\[\]"):
        tb.switch(1, [], x)
    text = r"switch: expected result to be the same from all functions, f32\[2\], got functions\[2\]=f32; reshape"
    with pytest.raises(ShapeError, match=text):
        tb.switch(1, [tb.exp, tb.exp, tb.sum], x)
