"""Attention against that of JAX, and its masks."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import NamesError, ShapeError


def normal(seed: int, **sizes: int) -> tb.Tensor:
    return tb.random.normal(tb.random.key(seed), tuple(sizes.values()), names=tuple(sizes))


QUERY = normal(0, batch=2, head=3, time=5, unit=4)
KEY, VALUE = normal(1, batch=2, head=3, time=5, unit=4), normal(2, batch=2, head=3, time=5, unit=4)

ATTENTION_OF_JAX = jax.jit(jax.nn.dot_product_attention, static_argnames="is_causal")


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_that_of_jax(causal: bool, backend: str, whole: Callable[..., Any]) -> None:
    q, k, v = (x.backend_copy(backend) for x in (QUERY, KEY, VALUE))
    mask = tb.iota(5) < tb.asarray([5, 3])[:, None, None, None]
    outputs = whole(partial(tb.nn.attention, causal=causal))(q, k, v, mask=mask.backend_copy(backend))
    arrays: list[Any] = [np.asarray(x).swapaxes(1, 2) for x in (QUERY, KEY, VALUE)]
    allowed: Any = np.asarray(mask)
    theirs = ATTENTION_OF_JAX(*arrays, mask=allowed, is_causal=causal)
    assert outputs.names == ("batch", "head", "time", "unit")
    assert np.allclose(np.asarray(outputs).swapaxes(1, 2), theirs, atol=1e-5)


def test_axes_go_by_name() -> None:
    reference = tb.nn.attention(QUERY, KEY, VALUE)
    q = tb.permute_dims(QUERY, ("time", "head", "unit", "batch"))
    k = tb.permute_dims(KEY, ("unit", "batch", "time", "head")).rename(time="memory")
    v = tb.permute_dims(VALUE, ("time", "batch", "unit", "head")).rename(time="memory")
    weights = tb.nn.attention_weights(q, k.rename(memory="time"), time="time", axis="unit")
    assert weights.names == ("head", "batch", "time", None)
    shared = tb.nn.attention(QUERY, KEY[:, 0], VALUE[:, 0])
    assert tb.all_close(shared[:, 0], reference[:, 0], atol=1e-6)  # one head of keys for all queries
    again = tb.nn.attention(q, k.rename(memory="time"), v.rename(memory="time"), time="time", axis="unit")
    assert tb.all_close(again.align_as(reference), reference, atol=1e-6)
    other = tb.nn.attention_weights(QUERY, KEY.rename(time="memory"), time=-2)
    assert other.names == ("batch", "head", "time", "memory")


def test_a_query_without_keys_gives_zeros_and_finite_gradients() -> None:
    mask = tb.asarray([True, False])[:, None, None, None]
    outputs = tb.nn.attention(QUERY, KEY, VALUE, mask=mask)
    assert tb.sum(tb.abs(outputs[1])).item() == 0
    gradient = tb.grad(lambda q: tb.sum(tb.nn.attention(q, KEY, VALUE, mask=mask) ** 2))(QUERY)
    assert not bool(tb.any(tb.isnan(gradient)))
    assert tb.sum(tb.abs(gradient[1])).item() == 0


def test_a_bias_is_added_before_the_softmax() -> None:
    bias = normal(3, time=5, memory=5).rename(None, None)
    far = tb.where(tb.iota(5) < 3, 0.0, -1e9)
    weights = tb.nn.attention_weights(QUERY, KEY, bias=bias + far)
    assert np.allclose(np.asarray(weights)[..., 3:], 0)
    scores = np.einsum("bhqu,bhku->bhqk", np.asarray(QUERY), np.asarray(KEY)) / 2 + np.asarray(bias)
    assert np.allclose(weights, jax.jit(jax.nn.softmax)(scores + np.asarray(far)), atol=1e-5)


def test_narrow_floats_keep_their_dtype() -> None:
    q, k, v = (tb.astype(x * 30, "f16") for x in (QUERY, KEY, VALUE))
    outputs = tb.nn.attention(q, k, v)
    assert outputs.dtype == tb.float16
    wide = tb.nn.attention(*(tb.astype(x, "f32") for x in (q, k, v)))
    assert tb.all_close(tb.astype(outputs, "f32"), wide, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("query", "value", "result"),
    [
        ("int64", "int64", "float32"),
        ("bool", "uint8", "float32"),
        ("float16", "int64", "float16"),
        ("float16", "float64", "float64"),
    ],
)
def test_averages_have_a_floating_dtype(query: str, value: str, result: str) -> None:
    q, k, v = tb.ones((1, 2), dtype=query), tb.ones((2, 2), dtype=query), tb.asarray([[1], [0]], dtype=value)
    averages = tb.nn.attention(q, k, v)
    assert averages.dtype.name == result
    assert averages.tolist() == [[0.5]]


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.attention(QUERY, KEY.rename(unit="feature"), VALUE), NamesError, "the same name or None"),
    (lambda: tb.nn.attention(QUERY, KEY, VALUE[:, :, :4]), ShapeError, "paired axes of the same sizes"),
    (lambda: tb.nn.attention(QUERY, KEY, VALUE, time=-1), ShapeError, "attention: expected two axes"),
    (lambda: tb.nn.attention(QUERY, KEY, VALUE, bias=tb.ones((9, 1, 1, 1, 1))), ShapeError, "expected a bias that"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_a_mask_goes_with_axes_that_all_have_names() -> None:
    q, k, v = (x[:, 0].rename(time=name, unit=unit) for x, name, unit in (
        (QUERY, "time", "unit"), (KEY, "seen", "unit"), (VALUE, "seen", "feature")))  # fmt: skip
    mask = tb.asarray([[True] * 5, [True] * 3 + [False] * 2], names=("batch", "seen"))[:, None]
    outputs = tb.nn.attention(q, k, v, mask=mask)
    assert outputs.names == ("batch", "time", "feature")
    holes = tb.where(tb.iota(5)[:, None] < 3, v[1].rename(None, None), float("nan"))
    alone = tb.nn.attention(q[1].rename(None, None), k[1].rename(None, None), holes, mask=mask[1].rename(None, None))
    assert tb.all_close(outputs[1].rename(None, None), alone)


def test_queries_without_features_attend_to_all_keys_alike() -> None:
    query, key, value = tb.zeros((2, 0)), tb.zeros((3, 0)), tb.asarray([[1.0], [2.0], [6.0]])
    assert tb.nn.attention(query, key, value).tolist() == [[3.0], [3.0]]
    gradient = tb.grad(lambda value: tb.sum(tb.nn.attention(query, key, value)))(value)
    assert tb.all_close(gradient, tb.full((3, 1), 2 / 3))
