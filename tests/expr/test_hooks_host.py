"""Calls of functions of NumPy arrays from inside transformed functions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, GradientError, OperandError, ShapeError

BACKENDS = ["numpy", "binary", "jax"]


def middle(x: tb.Tensor) -> tb.Tensor:
    median: tb.Tensor = tb.host_call(lambda x: numpy.median(x, axis=-1), x.template.replace(shape=(), names=()), x)
    return median


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_of_arrays_is_called_wherever_the_graph_runs(backend: str) -> None:
    x = tb.asarray([5.0, 1.0, 2.0], backend=backend)
    seen: list[Any] = []

    def split(arrays: dict[str, Any], scale: float) -> Any:
        seen.append((type(arrays["x"]), arrays["x"].flags.writeable, arrays["x"].dtype.name))
        return {"half": arrays["x"] / 2, "count": (len(arrays["x"]),)}

    def function(x: tb.Tensor) -> Any:
        results = tb.host_call(split, {"half": "f32[n=3]", "count": ("s64",)}, {"x": x * 2}, scale=2.0)
        return results["half"] + results["count"][0]

    for variant in (function, tb.jit(function), tb.trace(function)(x)):
        total = variant(x)
        assert (total.tolist(), total.names, total.backend.name) == ([8.0, 4.0, 5.0], ("n",), backend)
    assert set(seen) == {(numpy.ndarray, False, "float32")}
    assert tb.jit(lambda x: tb.fori_loop(0, 3, lambda i, c: c + middle(x), 0.0))(x).item() == 6.0
    with tb.tape() as tape:
        assert (middle(tape.watch(x)) * 2).item() == 4.0
    drawn = iter(range(10))
    ask = tb.jit(lambda x: x[0] + tb.astype(tb.host_call(lambda: next(drawn), tb.int64), "f32"))
    assert [ask(x).item(), ask(x).item()] == [5.0, 6.0]  # tracing did not call the function


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_calls_for_each_example(backend: str) -> None:
    x = tb.asarray([[5.0, 1.0, 2.0], [0.0, 9.0, 4.0]], names=("batch", None), backend=backend)
    for function in (tb.vmap(middle), tb.jit(tb.vmap(middle)), tb.vmap(tb.jit(middle))):
        medians = function(x)
        assert (medians.tolist(), medians.names) == ([2.0, 4.0], ("batch",))
    assert tb.vmap(middle)(x[:0]).shape == (0,)
    scaled = tb.vmap(lambda x, by: tb.host_call(numpy.multiply, x, x, by), in_axes=(0, None))(x, x[0])
    assert scaled.tolist() == [[25.0, 1.0, 4.0], [0.0, 9.0, 8.0]]


def test_a_gradient_is_one_that_the_user_gives() -> None:
    x = tb.asarray([5.0, 1.0, 2.0])
    with pytest.raises(
        GradientError, match=r"a function of NumPy arrays cannot be differentiated: define its gradient"
    ):
        tb.grad(middle)(x)
    assert tb.grad(lambda x: tb.sum(x * tb.stop_gradient(middle(x))))(x).tolist() == [2.0] * 3

    @tb.custom_gradient
    def known(x: tb.Tensor) -> Any:
        return middle(x), lambda cotangent: cotangent * (x == middle(x))

    for function in (tb.grad(known), tb.jit(tb.grad(known))):
        assert function(x).tolist() == [0.0, 0.0, 1.0]


def test_a_dry_run_calls_nothing() -> None:
    def never(x: Any) -> Any:
        raise AssertionError

    def function(x: Any) -> Any:
        return tb.host_call(never, x, x) + 1

    assert function(tb.template((2,), "f32")).template is tb.template((2,), "f32").template
    dry_run = tb.dry_run(function, "f32[1000]")
    assert (dry_run.flops, dry_run.peak.memory) == (1000, 3 * 4000 + 4)  # 4 for the number 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_result_must_look_as_was_said(backend: str) -> None:
    x = tb.ones(2, backend=backend)
    wrong: list[tuple[Any, Any, Any, str]] = [
        (lambda x: x[:1], "f32[2]", ShapeError, r"host_call: expected result like f32\[2\], got returned=f32\[1\]"),
        (lambda x: x * 1j, "f32[2]", DTypeError, r"host_call: expected result like f32\[2\], got returned=c64\[2\]"),
        (lambda x: (x, x), "f32[2]", ArgumentError, "host_call: expected result to be nested like the templates"),
        (lambda x: "text", "f32[2]", OperandError, r"host_call: expected result as an array like f32\[2\]"),
    ]
    for function, template, error, text in wrong:
        with pytest.raises(error, match=text):
            tb.host_call(function, template, x)
    with pytest.raises(ArgumentError, match="host_call: expected templates as a template, its text or a tensor like"):
        tb.host_call(numpy.median, 3, x)
    with pytest.raises(ShapeError, match="host_call: expected a template such as"):
        tb.host_call(numpy.median, "f32[", x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_of_constants_is_called_only_in_the_branch_that_is_taken(backend: str) -> None:
    called: list[float] = []
    constant = tb.asarray(2.0, backend=backend)

    def ask(scale: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        called.append(float(scale))
        return scale

    def choose(x: tb.Tensor) -> Any:
        return tb.cond(x > 0, lambda x: x + tb.host_call(ask, "f32", constant), lambda x: x, x)

    for function in (choose, tb.jit(choose)):
        assert function(tb.asarray(-1.0, backend=backend)).item() == -1.0
        assert called == []
        assert function(tb.asarray(1.0, backend=backend)).item() == 3.0
        assert called.pop() == 2.0
        called.clear()
