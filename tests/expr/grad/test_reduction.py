"""Gradients of reductions where the rounded result, or a square, would not do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import nn, ragged
from tensorbackend.tensor import Tensor

INF, NAN = math.inf, math.nan


def softmax(x: Any) -> Any:
    """The softmax of a vector in float64."""
    powers = np.exp(x - np.max(x))
    return powers / powers.sum()


@pytest.mark.parametrize(
    ("dtype", "x", "expected"),
    [
        ("bf16", [100, 100], [0.5, 0.5]),
        ("f16", [1000, 1000], [0.5, 0.5]),
        *(("f32", [size, size], [0.5, 0.5]) for size in (1e5, 1e7, 1e8, -1e30)),
        ("f32", [1, INF], [0, 1]),
        ("f32", [INF, 1, INF], [0.5, 0, 0.5]),
        ("f32", [-INF, 0], [0, 1]),
        ("f32", [-INF, -INF], [0, 0]),
        ("f32", [NAN, 0], [NAN, NAN]),
    ],
)
def test_logsumexp(dtype: str, x: list[float], expected: list[float]) -> None:
    point = tb.asarray(x, dtype=dtype)
    segments = tb.zeros(len(x), dtype="int64")
    functions: list[Callable[[Tensor], Any]] = [tb.logsumexp]
    if math.isfinite(sum(x)):
        functions.append(lambda x: tb.segment_logsumexp(x, segments, size=1)[0])
        functions.append(lambda x: tb.indexed_logsumexp(x[:1], segments[1:, None], x[1:])[0])
        named = tb.zeros(len(x), names=("time",))
        functions.append(lambda x: ragged.logsumexp(ragged.with_lengths(x + named, time=len(x)), axis="time"))
    for function in functions:
        gradient = tb.grad(function)(point)
        np.testing.assert_allclose(gradient.astype("f64"), expected, rtol=4 * tb.finfo(dtype).eps)


def test_ordinary_logits_in_bfloat16() -> None:
    x = tb.asarray(np.random.default_rng(0).normal(size=1000) * 10, dtype="bf16")
    shares = softmax(np.asarray(x.astype("f64")))
    gradient = tb.grad(tb.logsumexp)(x).astype("f64")
    np.testing.assert_allclose(gradient, shares, rtol=tb.finfo("bf16").eps, atol=1e-38)
    of_logarithm = tb.grad(lambda x: tb.sum(tb.log_softmax(x)))(x).astype("f64")
    np.testing.assert_allclose(of_logarithm, 1 - 1000 * shares, rtol=0.01, atol=0.01)


def test_second_derivatives_of_logsumexp() -> None:
    x = np.array([1.0, 2.0, 2.0, -30.0])
    shares = softmax(x)
    np.testing.assert_allclose(
        tb.hessian(tb.logsumexp)(tb.asarray(x)), np.diag(shares) - np.outer(shares, shares), rtol=1e-12, atol=1e-16
    )


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8, -1e30])
@pytest.mark.parametrize("label", [0, 1])
def test_cross_entropies_of_large_logits(offset: float, label: int) -> None:
    logits, target = tb.asarray([offset, offset]), tb.asarray(label)
    expected = [0.5 - (label == 0), 0.5 - (label == 1)]
    for smoothing in (0.0, 0.2):
        loss, gradient = tb.value_and_grad(
            lambda x, s=smoothing: nn.sparse_cross_entropy(x, target, label_smoothing=s)
        )(logits)
        np.testing.assert_allclose(loss.item(), math.log(2), rtol=1e-6)
        np.testing.assert_allclose(gradient, np.multiply(expected, 1 - smoothing), atol=1e-6)


def test_sparse_cross_entropy_is_cross_entropy() -> None:
    random = np.random.default_rng(1)
    logits = tb.asarray(random.normal(size=(20, 7)) * 3 + 1e5 * random.normal(size=(20, 1)), dtype="f32")
    labels = tb.asarray(random.integers(0, 7, 20))
    dense = nn.one_hot(labels, 7)
    np.testing.assert_allclose(
        nn.sparse_cross_entropy(logits, labels), nn.cross_entropy(logits, dense), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20, 1e30])
def test_std_at_every_scale(scale: float) -> None:
    x = np.array([1.0, 2.0, 4.0, 9.0])
    apart = x - x.mean()
    for correction in (0, 1):
        gradient = tb.grad(lambda x, c=correction: tb.std(x, correction=c))(tb.asarray(x * scale, dtype="f32"))
        expected = apart / np.sqrt((apart**2).sum() * (4 - correction))
        np.testing.assert_allclose(gradient, expected, rtol=1e-5)


@pytest.mark.parametrize("ord", [-2, -1, 0.5, 1, 2, 3, 100, INF, -INF])
@pytest.mark.parametrize(("dtype", "scale"), [("f16", 1e-5), ("bf16", 1e-30), ("bf16", 1e30), ("f32", 1e-30)])
def test_norms_at_every_scale(ord: float, dtype: str, scale: float) -> None:
    def gradient(x: Tensor) -> Any:
        return np.asarray(tb.grad(lambda x: tb.linalg.vector_norm(x, ord=ord))(x).astype("f64"))

    for values in ([1.0, -2.0, 3.0], [1.0, 0.0, 1.0]):
        x = tb.asarray(np.array(values) * scale, dtype=dtype)
        exact = np.asarray(x.astype("f64")) / scale
        expected = gradient(tb.asarray(exact))
        np.testing.assert_allclose(
            gradient(x),
            expected,
            rtol=8 * tb.finfo(dtype).eps * (1 if math.isinf(ord) else max(abs(ord), 1)),
            atol=1e-7,
        )


def test_quantiles_between_equal_elements() -> None:
    x = tb.asarray([1.0, 1.0, 1.0, 1.0])
    value, gradient = tb.value_and_grad(lambda x: tb.quantile(x, 0.3))(x)
    assert value.item() == 1
    np.testing.assert_allclose(gradient, [0.1, 0.9, 0, 0], rtol=1e-6)  # JAX and PyTorch give that too
    assert tb.quantile(tb.asarray([INF, INF]), 0.3).item() == INF
    assert tb.quantile(tb.asarray([0.1, 0.1]), 0.3).item() == tb.asarray(0.1).item()


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("order", [2, 3, 0.5, 1])
@pytest.mark.parametrize(
    ("dtype", "size"), [("f32", 1e-39), ("f32", 1e-44), ("f64", 1e-310), ("bf16", 1e-39), ("c64", 1e-39)]
)
def test_norms_that_are_subnormal(backend: str, order: float, dtype: str, size: float) -> None:
    """The gradient of the norm of (s, -s) is 2 ** (1 / order - 1) and minus that, for each s."""
    x = tb.asarray([size, -size], dtype=dtype, backend=backend)
    gradient = tb.grad(lambda x: tb.linalg.vector_norm(x, ord=order))(x)
    slope = 2 ** (1 / order - 1)
    np.testing.assert_allclose(np.asarray(tb.real(gradient)).astype("f8"), [slope, -slope], rtol=0.05)
    assert not gradient.dtype.is_complex or not tb.any(tb.imag(gradient))


@pytest.mark.parametrize("order", [2, 3, 2.5, 4])
def test_norms_of_an_infinity(order: float) -> None:
    """As in JAX, other elements have the derivative 0."""
    gradient = tb.grad(lambda x: tb.linalg.vector_norm(x, ord=order))(tb.asarray([1.0, -INF, 2.0]))
    assert str(gradient.tolist()) == "[0.0, nan, 0.0]"


@pytest.mark.parametrize("inside", [NAN, INF])
def test_what_a_mask_leaves_out_of_a_softmax_is_0_beside_a_nan(inside: float) -> None:
    x, mask = tb.asarray([1.0, 5.0, inside]), tb.asarray([True, False, True])
    value, gradient = nn.masked_softmax(x, mask), tb.grad(lambda x: tb.sum(nn.masked_softmax(x, mask) ** 2))(x)
    assert str(value.tolist()) == str(gradient.tolist()) == "[nan, 0.0, nan]"


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_small_shares_of_a_log_softmax_are_as_accurate_as_large_ones(dtype: str) -> None:
    x = tb.asarray(np.linspace(-8, 1, 20), dtype=dtype)
    shares = softmax(np.asarray(x.astype("f64")))
    gradient = tb.grad(lambda x: tb.log_softmax(x)[3])(x).astype("f64")
    np.testing.assert_allclose(gradient, (np.arange(20) == 3) - shares, rtol=tb.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_gradients_of_normalisations_are_those_of_their_parts_of_any_order(backend: str, name: str) -> None:
    random = np.random.default_rng(0)
    x, scale, offset = (tb.asarray(random.normal(size=size), backend=backend) for size in ((3, 5, 4), (5, 4), (5, 4)))

    def whole(x: tb.Tensor, scale: tb.Tensor, offset: tb.Tensor) -> tb.Tensor:
        if name == "layer_norm":
            return nn.layer_norm(x, scale, offset, axis=(1, 2), epsilon=0.1)
        return nn.rms_norm(x, scale, axis=(1, 2), epsilon=0.1) + offset

    def parts(x: tb.Tensor, scale: tb.Tensor, offset: tb.Tensor) -> tb.Tensor:
        centred = x - tb.mean(x, axis=(1, 2), keepdims=True) if name == "layer_norm" else x
        return centred / tb.sqrt(tb.mean(centred**2, axis=(1, 2), keepdims=True) + 0.1) * scale + offset

    def slope(function: Callable[..., tb.Tensor], x: tb.Tensor, scale: tb.Tensor, offset: tb.Tensor) -> tb.Tensor:
        gradients = tb.grad(lambda *operands: tb.sum(tb.sin(function(*operands))), argnums=(0, 1, 2))(x, scale, offset)
        return tb.sum(tb.cos(x) * gradients[0]) + tb.sum(gradients[1] ** 2) + tb.sum(gradients[2] ** 3)

    assert np.allclose(np.asarray(whole(x, scale, offset)), np.asarray(parts(x, scale, offset)), rtol=1e-6)
    found, wanted = (
        tb.grad(lambda *operands, f=f: slope(f, *operands), argnums=(0, 1, 2))(x, scale, offset) for f in (whole, parts)
    )
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-6)


def test_layer_norm_keeps_x_alone() -> None:
    def loss(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
        for _ in range(4):
            x = x + tb.sin(nn.layer_norm(x, scale, scale))
        return tb.mean(x)

    x = tb.template((256, 64), "f32")
    peak = tb.dry_run(loss, x, tb.template((64,), "f32"), gradient=True).peak.memory
    assert peak < 15 * x.nbytes  # two for each layer, and those of one step
