"""Composites are programs of kernels from their second call on, unless their defaults look at data."""

from __future__ import annotations

import pytest

import tensorbackend as tb

RUNS: list[str] = []


@tb.composite
def noted(x: tb.Tensor, /, *, times: int = 2) -> tb.Tensor:
    RUNS.append(x.backend.name)
    for _ in range(times):
        x = tb.add(tb.multiply(x, x), 1)
    return x


@tb.composite
def looking(x: tb.Tensor, /) -> tb.Tensor:
    RUNS.append(x.backend.name)
    return x if x.backend.template_only or bool(tb.sum(x) > 0) else tb.negative(x)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_a_composite_is_a_program_from_its_second_call_on(backend: str) -> None:
    x = tb.tensor([1.0, 2.0], names=(f"n of {backend}",), backend=backend)
    RUNS.clear()
    results = [noted(x) for _ in range(4)]
    assert [result.tolist() for result in results] == [[5.0, 26.0]] * 4
    assert {result.names for result in results} == {x.names}
    assert ["template", backend, "template", "expr"] == RUNS  # a template, and op by op; a template, and the program


def test_each_option_has_a_program_of_its_own() -> None:
    x = tb.tensor([1.0])
    for _ in range(3):
        assert noted(x, times=1).tolist() == [2.0]
        assert noted(x, times=3).tolist() == [26.0]


def test_a_composite_that_looks_at_data_runs_op_by_op() -> None:
    RUNS.clear()
    for _ in range(4):
        assert looking(tb.tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
        assert looking(tb.tensor([-1.0, -2.0])).tolist() == [1.0, 2.0]
    assert RUNS.count("numpy") == 8
