"""Chains of elementwise ops: their values are those of the ops, and they write over operands that nothing needs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.array_module import fusion
from tensorbackend.declarations.op_specs import CALLBACKS
from tensorbackend.testing import profile

from ...peak_memory import peak_memory

STEPS: dict[str, Callable[..., tb.Tensor]] = {
    "add": lambda x, y: x + y,
    "multiply": lambda x, y: x * y,
    "sine": lambda x, y: tb.sin(x),
    "negate": lambda x, y: -x,
    "tanh": lambda x, y: tb.tanh(y),
    "where": lambda x, y: tb.where(x > y, x, y),
    "greater": lambda x, y: (x > y) * y,
    "cast": lambda x, y: tb.astype(tb.astype(x, "f64") + y, "f32"),
    "round": lambda x, y: tb.round(x),
    "row": lambda x, y: x + y[:1],
    "column": lambda x, y: x * y[:, :1],
    "product": lambda x, y: x @ tb.matrix_transpose(x)[:, : y.shape[1]] * 0.01 + y,
    "transpose": lambda x, y: tb.reshape(tb.matrix_transpose(x), x.shape),
    "reshape": lambda x, y: tb.reshape(tb.reshape(x, (-1,)), x.shape),
    "reverse": lambda x, y: x[::-1],
    "number": lambda x, y: x * 0.5 + 1,
}


@profile(30)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([*STEPS]), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=14
    ),
    kept=st.lists(st.integers(0, 99), max_size=3),
    donated=st.booleans(),
    sizes=st.sampled_from([(6, 5), (12, 7), (1, 40), (40, 1)]),
)
def test_values_are_those_of_single_ops(
    steps: list[tuple[str, int, int]], kept: list[int], donated: bool, sizes: tuple[int, int]
) -> None:
    def run(x: tb.Tensor, y: tb.Tensor) -> list[tb.Tensor]:
        values = [x, y]
        for name, first, second in steps:
            if name != "product" or sizes[0] >= sizes[1]:
                values.append(STEPS[name](values[first % len(values)], values[second % len(values)]))
        return [values[-1], *(values[place % len(values)] for place in kept)]

    arrays = [np.random.default_rng(seed).uniform(-2, 2, sizes).astype("f4") for seed in (0, 1)]
    expected = run(*(tb.asarray(array, backend="numpy", copy=True) for array in arrays))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "LENT_BYTES", 0)
        patch.setattr(fusion, "FUSED_BLOCK", 8)
        compiled = tb.jit(run, donate=("x", "y") if donated else ())
        for _ in range(2):
            given_tensors = [tb.asarray(array, backend="numpy", copy=True) for array in arrays]
            for result, wanted in zip(compiled(*given_tensors), expected, strict=True):
                np.testing.assert_array_equal(np.asarray(result), np.asarray(wanted))
            if not donated:
                for x, array in zip(given_tensors, arrays, strict=True):
                    np.testing.assert_array_equal(np.asarray(x), array)


SEVERAL = sorted(
    name
    for name, callback in CALLBACKS.items()
    if callback.elementwise and len(callback.inputs) > 1 and hasattr(tb, name) and not name.startswith("gamma")
)
"""The public elementwise ops of two and three tensors."""


@pytest.mark.parametrize("name", SEVERAL)
def test_any_operand_may_be_a_number_in_a_chain_that_runs_in_blocks(name: str) -> None:
    function, count = getattr(tb, {"max": "maximum", "min": "minimum"}.get(name, name)), len(CALLBACKS[name].inputs)
    dtype = "i32" if name.startswith("bitwise") else "f32"
    x, number = tb.asarray([[1, 2, 3], [4, 0, 7]] * 9, dtype, backend="numpy"), tb.asarray(2, dtype, backend="numpy")
    numbers = (number, number / 4) if dtype == "f32" else (number,)  # a power by a half is a root

    def chain(*operands: tb.Tensor) -> tb.Tensor:
        return -tb.astype(function(operands[0] + 1, *(operand + operand for operand in operands[1:])), dtype)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "FUSED_BLOCK", 8)
        for operands in product((x, *numbers), repeat=count):
            if any(operand is x for operand in operands):
                result = tb.jit(chain)(*operands)
                np.testing.assert_array_equal(np.asarray(result), np.asarray(chain(*operands)))


def arrays_taken(function: Callable[..., Any], *tensors: tb.Tensor) -> float:
    """Return the most memory that a compiled call takes, in arrays of the size of the first tensor."""
    run = tb.jit(function)
    del function
    run(*tensors)
    return peak_memory(lambda: run(*tensors)) / tensors[0].nbytes


SQUARE = tb.asarray(np.random.default_rng(0).standard_normal((512, 512)).astype("f4") * 0.05, backend="numpy")


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (lambda x: tb.tanh(tb.sin(x @ x) * 2) @ x, 2),  # the chain writes over the product
        (lambda x: tb.exp(x @ x), 1),  # so does a single op
        (lambda x: tb.cos(x @ x) * tb.exp(x.T @ x), 2),  # each of two operands holds a part of the chain
        (lambda x: (lambda y: (y, tb.sin(y) * 2))(x @ x), 2),  # a result is not written over
        (lambda x: tb.sin(x) * tb.exp(x), 1),  # neither is an argument; one block of each thread is not counted
    ],
)
def test_operands_of_last_use_lend_their_memory(function: Any, most: float) -> None:
    blocks = tb.threads() * 2 * fusion.FUSED_BLOCK / SQUARE.size
    assert most <= arrays_taken(function, SQUARE) <= most + min(blocks, 0.6) + 0.05


def test_views_whose_axes_do_not_merge_are_not_copied() -> None:
    def run(x: tb.Tensor) -> tb.Tensor:
        inner = x[1:-1, 1:-1]
        return tb.sin(inner) * 2 + tb.cos(x[2:, 2:]) * inner

    x = tb.asarray(np.random.default_rng(0).standard_normal((256, 128, 40)).astype("f4"), backend="numpy")
    blocks = tb.threads() * 4 * fusion.FUSED_BLOCK / x.size
    assert arrays_taken(run, x) <= 1 + min(blocks, 0.6)
    np.testing.assert_array_equal(np.asarray(tb.jit(run)(x)), np.asarray(run(x)))


def test_each_call_takes_the_same_memory() -> None:
    def run(x: tb.Tensor) -> tb.Tensor:
        y = x
        for _ in range(6):
            y = tb.sin(y) * tb.exp(x) + tb.cos(y)
        return y

    x = tb.ones((2048, 256), backend="numpy")
    taken = [arrays_taken(run, x) for _ in range(6)]
    assert max(taken) - min(taken) < 0.01


def test_what_the_caller_holds_is_not_written_over() -> None:
    array = np.ones((300, 300), "f4")
    step = tb.jit(lambda x: tb.sin(x) * 2 + 1, donate="x")
    view = (x := tb.asarray(array.copy(), backend="numpy")).data[:1]
    step(x)
    np.testing.assert_array_equal(view, array[:1])
    step(tb.asarray(array, backend="numpy"))
    np.testing.assert_array_equal(array, np.ones((300, 300), "f4"))
