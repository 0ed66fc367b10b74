"""Each op gets the same operands on both engines; a composite is judged with its parts, a loop as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import Tensor


def test_a_wrong_loop_is_found_as_a_whole() -> None:
    class Wrong(tb.JaxBackend):
        def scan(self, out: Any, *inputs: Any, **options: Any) -> Any:
            return tuple(payload + 1 for payload in tb.JaxBackend.scan(self, out, *inputs, **options))

    def run(x: Tensor) -> Any:
        return tb.scan(lambda total, entry: (total + tb.sin(entry), total), tb.zeros(()), x)[0]

    found = tb.compare(run, tb.arange(9.0), backends=("numpy", Wrong)).difference
    assert found is not None
    assert (found.op, found.part) == ("scan", None)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: tb.sum(x) * 1e-30, [1e8, 1.0, -1e8]),
        (lambda x: x / 0.0, [0.0, 1.0, -1.0]),
        (lambda x: tb.log(x), [1e-40, 0.0, float("inf")]),
        (lambda x: x * 0.5, [1e-40, -1.2e-38, float("nan")]),
        (lambda x: tb.var(x), [1e4, 1.0001e4, 1.0002e4]),
        (lambda x: tb.linalg.inv(tb.reshape(x, (2, 2))), [1.0, 1.0, 1.0, 1.0001]),
    ],
)
def test_what_is_hard_in_numbers_is_no_difference(function: Callable[[Tensor], Tensor], argument: list[float]) -> None:
    assert tb.compare(function, tb.asarray(argument, dtype="f32"), backends=("numpy", "jax")).agrees
