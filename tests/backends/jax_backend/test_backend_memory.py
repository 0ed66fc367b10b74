"""Steps with donated arguments on a CPU: the memory that XLA counts, the bits of values, and calls inside JAX."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb

BENCHMARK: Any = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "donation.py"))
"""A step of Adam on the transformer of the examples."""
STEP, ARGUMENTS, DONATED = BENCHMARK["step"], BENCHMARK["arguments"], BENCHMARK["DONATED"]

ON_CPU = pytest.mark.skipif(jax.default_backend() != "cpu", reason="elsewhere XLA merges what is computed again")


@ON_CPU
def test_a_donated_step_takes_three_quarters_of_the_memory_as_predicted() -> None:
    plain, donated = (BENCHMARK["by_xla"](names) for names in ((), DONATED))
    assert donated < 0.75 * plain
    with tb.default_backend("jax"):
        predicted = tb.dry_run(STEP, *ARGUMENTS("numpy"), donate=DONATED).optimised.peak.memory
    assert predicted == pytest.approx(donated, rel=0.05)


def test_a_donated_step_computes_the_same_bits() -> None:
    results = []
    for names in ((), DONATED):
        model, state, characters = ARGUMENTS("jax")
        step = tb.jit(STEP, donate=names)
        for _ in range(2):
            value, model, state = step(model, state, characters)
        results.append([np.asarray(x) for x in tb.tree_leaves((value, model, state))])
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap])
def test_jax_transforms_a_function_that_calls_a_donated_step(transform: Any) -> None:
    step = tb.jit(lambda x, y: x * y, donate="x")

    def function(x: tb.Tensor) -> Any:
        return step(x + 1, tb.ones(3, backend="jax")) + step(tb.ones(3, backend="jax"), x)

    x = tb.asarray([[1.0, 2.0, 3.0]], backend="jax")
    assert np.asarray(transform(function)(x)).tolist() == [[3.0, 5.0, 7.0]]
    assert not x.deallocated


def test_jax_differentiates_a_function_that_calls_a_donated_step() -> None:
    step = tb.jit(lambda x: tb.sum(tb.softmax(x) * x), donate="x")
    slope = jax.grad(lambda x: step(x * 2).data)(tb.asarray([1.0, 2.0], backend="jax"))
    expected = tb.grad(lambda x: tb.sum(tb.softmax(x * 2) * x * 2))(tb.asarray([1.0, 2.0]))
    assert np.asarray(slope) == pytest.approx(np.asarray(expected))
