"""Losses of elements and of vectors: names, dtypes, gradients at hard points, and compiled functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, NamesError

X = numpy.array([[-3.0, 0.0, 0.25], [1.0, 2.0, -0.5]])
Y = numpy.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + numpy.exp(-x))


SLOPES: dict[str, tuple[Callable[..., Any], Any]] = {
    "mean_squared_error": (lambda x, y: tb.nn.mean_squared_error(x, y), (X - Y) / 3),
    "binary_cross_entropy": (lambda x, y: tb.sum(tb.nn.binary_cross_entropy(x, y)), sigmoid(X) - Y),
    "huber": (lambda x, y: tb.sum(tb.nn.huber(x, y, delta=0.5)), numpy.clip(X - Y, -0.5, 0.5)),
}
"""Losses with a scalar result, and their gradients by the first operand."""


def test_an_infinite_logit_of_the_right_class_has_no_loss() -> None:
    x = tb.asarray([math.inf, -math.inf, math.inf, 1e30, -1e30])
    p = tb.asarray([1.0, 0.0, 0.0, 1.0, 0.0])
    losses, slopes = tb.vjp(lambda x: tb.nn.binary_cross_entropy(x, p), x)
    assert losses.tolist() == [0.0, 0.0, math.inf, 0.0, 0.0]
    assert slopes(tb.ones(5))[0].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_the_slope_of_logistic_regression_by_the_target_is_the_score(backend: str) -> None:
    x, p = (tb.asarray(values, backend=backend) for values in ([-3.0, 2.0, 0.5, 4.0], [0.0, 1.0, 0.25, 0.0]))
    slope = tb.grad(lambda p: tb.sum(tb.nn.binary_cross_entropy(x, p)))(p)
    assert numpy.allclose(slope.tolist(), [3.0, -2.0, -0.5, -4.0])


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_gradients_have_closed_forms(backend: str, name: str) -> None:
    loss, expected = SLOPES[name]
    x, y = (tb.asarray(each, names=("batch", "class"), backend=backend) for each in (X, Y))
    slope = tb.jit(tb.grad(loss))(x, y)
    assert slope.names == ("batch", "class")
    assert numpy.allclose(slope.tolist(), expected)
    _, tangent = tb.jvp(lambda x: loss(x, y), (x,), (tb.ones_like(x),))
    assert numpy.allclose(tangent.item(), expected.sum())


@pytest.mark.parametrize("value", [1e30, -1e30, float("inf")])
def test_scores_far_away_have_finite_gradients(value: float) -> None:
    x, right = tb.asarray([value], dtype="f64"), value > 0
    assert tb.nn.binary_cross_entropy(x, tb.asarray([right])).tolist() == [0.0] or value == float("inf")
    if numpy.isfinite(value):
        for loss in (tb.nn.huber, tb.nn.binary_cross_entropy):
            slope = tb.grad(lambda x, loss=loss: tb.sum(loss(x, tb.zeros(1, dtype="f64"))))(x)
            assert slope.tolist() == [1.0 if right else (-1.0 if loss is tb.nn.huber else 0.0)]


def test_equal_vectors_have_a_gradient() -> None:
    anchor, far = tb.ones((2, 3), names=("batch", "unit")), tb.zeros((2, 3), names=("batch", "unit"))
    losses = tb.nn.triplet(anchor, anchor, far, axis="unit", margin=2.0)
    assert losses.names == ("batch",)
    assert numpy.allclose(losses.tolist(), 2 - numpy.sqrt(3), atol=1e-5)
    slope = tb.grad(lambda x: tb.sum(tb.nn.triplet(x, anchor, far, margin=2.0)))(anchor)
    assert bool(tb.all(tb.isfinite(slope)))


def test_narrow_dtypes_are_computed_wide() -> None:
    x = tb.asarray([300.0], dtype="f16")
    assert tb.nn.mean_squared_error(x, 100.0).dtype is tb.float16
    assert tb.nn.mean_squared_error(tb.full((4096,), 3.0, dtype="f16"), 0.0).item() == 9.0
    assert tb.nn.mean_squared_error(tb.asarray([0.3], dtype="f64"), 0.3).item() == 0.0
    assert tb.nn.huber(tb.asarray([3]), tb.asarray([1])).dtype is tb.float32
    with pytest.raises(DTypeError, match="huber: expected"):
        tb.nn.huber(tb.asarray([1j]), 0.0)
    with pytest.raises(ArgumentError, match=r"huber: expected a finite delta above 0, got delta=0"):
        tb.nn.huber(x, x, delta=0)
    with pytest.raises(NamesError, match="mean_squared_error: expected"):
        tb.nn.mean_squared_error(tb.ones(2, names=("a",)), tb.ones(2, names=("b",)))


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_ignored_labels_have_no_loss_and_no_gradient(backend: str) -> None:
    logits = tb.asarray([[1.0, 2.0], [float("nan"), 0.0], [0.0, 0.0]], names=("time", "class"), backend=backend)
    labels = tb.asarray([1, -100, 0], names=("time",), backend=backend)

    def loss(logits: tb.Tensor) -> tb.Tensor:
        losses = tb.nn.sparse_cross_entropy(logits, labels, axis="class", ignore_index=-100)
        return tb.sum(losses) / tb.sum(labels != -100)

    value, slope = tb.jit(tb.value_and_grad(loss))(logits)
    assert numpy.isclose(value.item(), (numpy.log(1 + numpy.exp(-1)) + numpy.log(2)) / 2)
    p = 1 / (1 + numpy.e)
    assert numpy.allclose(numpy.asarray(slope.backend_copy("numpy")), [[p / 2, -p / 2], [0.0, 0.0], [-0.25, 0.25]])
    with pytest.raises(tb.errors.IndexRangeError):
        tb.nn.sparse_cross_entropy(logits, labels, axis="class", ignore_index=-1)
