"""While loops that record trajectories, and while loops that end separately for each example."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError, DTypeError, NamesError, ShapeError, TensorBackendError

BACKENDS = ["numpy", "binary", "jax"]


def grown(x: Any, **options: Any) -> Any:
    return tb.while_loop(
        lambda c: c["x"] < 50, lambda c: {"n": c["n"] + 1, "x": c["x"] * 2}, {"n": 0, "x": x}, **options
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_trajectory_has_what_is_carried_at_some_turns(backend: str) -> None:
    x = tb.asarray(3.0, backend=backend)
    steps = (0, 1, 3, 4, 5, 9)  # the loop ends after five iterations

    def function(x: tb.Tensor) -> Any:
        return grown(x, trajectory=steps)

    for variant in (function, tb.jit(function), tb.trace(function)(x)):
        trajectory = variant(x)
        assert trajectory["n"].tolist() == [0, 1, 3, 4, 5, 5]
        assert trajectory["x"].tolist() == [3.0, 6.0, 24.0, 48.0, 96.0, 96.0]
        assert (trajectory["n"].dtype, trajectory["x"].backend.name) == (tb.int64, backend)
    assert grown(x, trajectory=(2,))["x"].tolist() == [12.0]  # the loop ends at the last recorded iteration
    assert grown(x, trajectory=steps, limit=3)["x"].tolist() == [3.0, 6.0, 24.0, 24.0, 24.0, 24.0]
    named = tb.while_loop(lambda x: tb.max(x) < 9, lambda x: x + 1, tb.ones(2, names=("n",)), trajectory=(1, 2))
    assert named.names == (None, "n")
    assert tb.while_loop(lambda x: x < 9, lambda x: x / 2 + 5, 1, trajectory=(0, 1, 2)).tolist() == [1.0, 5.5, 7.75]
    batch = tb.vmap(function)(tb.stack([x, x * 10]))
    assert batch["n"].tolist() == [[0, 1, 3, 4, 5, 5], [0, 1, 1, 1, 1, 1]]


def test_a_trajectory_with_a_limit_has_a_gradient() -> None:
    weights = tb.asarray([1.0, 0.0, 10.0, 100.0])

    def loss(x: tb.Tensor) -> tb.Tensor:
        path = tb.while_loop(lambda c: c < 50, lambda c: c * x, x, trajectory=(0, 1, 2, 9), limit=9)
        return tb.sum(path * weights)

    # 1 + 10 * 3 x^2 + 100 * 4 x^3 at x = 3, where the loop ends after three iterations
    assert tb.grad(loss)(3.0).item() == tb.jit(tb.grad(loss))(tb.asarray(3.0)).item() == 1 + 30 * 9 + 400 * 27


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_example_may_have_its_own_end(backend: str) -> None:
    x = tb.asarray([[3.0, 1.0], [40.0, 2.0], [60.0, 5.0]], names=("batch", None), backend=backend)

    def function(x: tb.Tensor, axis: Any = "batch") -> Any:
        count = tb.zeros(3, dtype="s32", names=("batch",), like=x)
        state = {"x": x, "iterations": count, "shared": 0}

        def iteration(state: dict[str, tb.Tensor]) -> Any:
            return {"x": state["x"] * 2, "iterations": state["iterations"] + 1, "shared": state["shared"] + 1}

        return tb.while_loop(lambda state: state["x"][:, 0] < 50, iteration, state, axis=axis)

    for variant in (function, tb.jit(function), lambda x: function(x, 0)):
        final = variant(x)
        assert final["x"].tolist() == [[96.0, 32.0], [80.0, 4.0], [60.0, 5.0]]
        assert (final["iterations"].tolist(), final["shared"].item()) == ([5, 1, 0], 5)
        assert final["x"].names == ("batch", None)
    last = tb.while_loop(
        lambda x: tb.sum(x, axis=0) < 9, lambda x: x + 1, tb.asarray([[1.0, 8.0], [0.0, 5.0]]), axis=-1
    )
    assert last.tolist() == [[5.0, 8.0], [4.0, 5.0]]
    path = tb.while_loop(lambda x: x < 5, lambda x: x + 2, tb.asarray([1, 4, 7]), axis=0, trajectory=(0, 1, 2, 3))
    assert path.tolist() == [[1, 4, 7], [3, 6, 7], [5, 6, 7], [5, 6, 7]]


def test_each_example_has_the_gradient_of_its_own_loop() -> None:
    x = tb.asarray([3.0, 20.0, 60.0])
    slopes = tb.grad(lambda x: tb.sum(tb.while_loop(lambda c: c < 50, lambda c: c * x, x, limit=4, axis=0)))(x)
    numpy.testing.assert_allclose(numpy.asarray(slopes), [4 * 27.0, 40.0, 1.0])
    alone = tb.vmap(tb.grad(lambda x: tb.while_loop(lambda c: c < 50, lambda c: c * x, x, limit=4)))(x)
    assert slopes.tolist() == alone.tolist()


WRONG: list[tuple[Any, type[TensorBackendError], str]] = [
    (
        {"trajectory": ()},
        ArgumentError,
        "while_loop: expected a trajectory of ascending numbers of iterations",
    ),
    (
        {"trajectory": (2, 2)},
        ArgumentError,
        "ascending numbers of iterations, from 0 on, got tra",
    ),
    ({"trajectory": (-1, 2)}, ArgumentError, r"trajectory=\(-1, 2\)"),
    ({"axis": "batch"}, AxisError, "while_loop: expected a carried tensor with the axis of the examples, got axis='ba"),
    ({"axis": 1}, AxisError, "axis=1"),
    (
        {"axis": 0, "initial": (1.0, 2)},
        AxisError,
        "expected a carried tensor with the axis of the examples, got axis=0",
    ),
    ({"axis": 0, "initial": (tb.ones(3), tb.ones(2))}, ShapeError, r"carry\[0\]=3, carry\[1\]=2; choose another axis"),
    (
        {"axis": 0, "condition": lambda c: c},
        DTypeError,
        "expected a condition of dtype bool for each example, got cond",
    ),
    (
        {"axis": 0, "condition": lambda c: tb.any(c > 0)},
        ShapeError,
        r"expected a condition of shape \(3,\), got condit",
    ),
    (
        {"axis": 0, "body": lambda c: c[1:]},
        ShapeError,
        r"expected carry to stay f32\[3\] from iteration to iteration, got return",
    ),
    (
        {"axis": 0, "body": lambda c: c.rename("n")},
        NamesError,
        r"expected carry to stay f32\[3\] from iteration to iteration",
    ),
    (
        {"axis": 0, "body": lambda c: tb.astype(c, "f64")},
        DTypeError,
        r"expected carry to stay f32\[3\] from iteration to i",
    ),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG)
def test_mistakes_are_told_before_anything_runs(options: Any, error: type[TensorBackendError], text: str) -> None:
    call = {"condition": lambda c: c < 0, "body": lambda c: c, "initial": tb.ones(3), **options}
    with pytest.raises(error, match=text):
        tb.while_loop(**call)
