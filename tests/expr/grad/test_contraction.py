"""The gradient of attention: that of its parts, of any order, and without the weights being kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import tensorbackend as tb

BACKENDS = ["binary", "numpy", "jax"]
RANDOM = numpy.random.default_rng(0)
QUERY, KEY, VALUE = (tb.asarray(RANDOM.normal(size=(2, 3, size, 4)).astype("f4")) for size in (5, 6, 6))
MASK = tb.asarray(RANDOM.uniform(size=(2, 1, 5, 6)) < 0.6)
BIAS = tb.asarray(RANDOM.normal(size=(3, 5, 6)).astype("f4"))
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "mask": {"mask": MASK},
    "causal": {"causal": True},
    "scale": {"scale": 0.3, "mask": MASK},
}


def by_parts(query: tb.Tensor, key: tb.Tensor, value: tb.Tensor, bias: tb.Tensor, **options: Any) -> tb.Tensor:
    return tb.nn.attention_weights(query, key, bias=bias, **options) @ value


def whole(query: tb.Tensor, key: tb.Tensor, value: tb.Tensor, bias: tb.Tensor, **options: Any) -> tb.Tensor:
    return tb.nn.attention(query, key, value, bias=bias, **options)


def total(function: Callable[..., tb.Tensor], operands: list[tb.Tensor]) -> tb.Tensor:
    return tb.sum(tb.sin(function(*operands)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", OPTIONS)
def test_the_gradient_of_attention_is_that_of_its_parts(kind: str, backend: str) -> None:
    operands = tb.backend_copy([QUERY, KEY, VALUE, BIAS], backend)
    options = tb.backend_copy(OPTIONS[kind], backend)
    gradients = [tb.grad(partial(total, partial(function, **options)))(operands) for function in (whole, by_parts)]
    for found, wanted in zip(*gradients, strict=True):
        assert numpy.allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-5, atol=1e-5)


def test_keys_shared_by_heads_and_second_derivatives() -> None:
    operands = [QUERY[:1], KEY[:1, :1], VALUE[0, :1], BIAS[0]]
    direction = [tb.cos(x) for x in operands]

    def slope(function: Callable[..., tb.Tensor], operands: list[tb.Tensor]) -> tb.Tensor:
        gradients = tb.grad(partial(total, function))(operands)
        return sum((tb.sum(x * y) for x, y in zip(gradients, direction, strict=True)), tb.asarray(0.0))

    seconds = [tb.grad(partial(slope, function))(operands) for function in (whole, by_parts)]
    for found, wanted in zip(*seconds, strict=True):
        assert numpy.allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-4, atol=1e-4)


def test_an_operand_of_fewer_bits_is_widened_before_it_is_scaled() -> None:
    query, key, value = (x.astype("f64") for x in (QUERY.astype("f16"), KEY, VALUE))
    narrow = tb.grad(lambda key: tb.sum(tb.sin(tb.nn.attention(query.astype("f16"), key, value))))(key)
    wide = tb.grad(lambda key: tb.sum(tb.sin(tb.nn.attention(query, key, value))))(key)
    assert numpy.allclose(numpy.asarray(narrow), numpy.asarray(wide), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"causal": True}])
def test_layers_keep_no_weights(options: dict[str, Any]) -> None:
    time, width = 128, 8

    def loss(x: tb.Tensor, layers: int) -> tb.Tensor:
        for _ in range(layers):
            x = x + tb.nn.attention(x, x, x, **options)
        return tb.mean(x * x)

    def peak(layers: int) -> int:
        return tb.dry_run(partial(loss, layers=layers), tb.template((time, width), "f32"), gradient=True).peak.memory

    assert peak(6) - peak(3) < 3 * time * time * 4 / 2


def test_the_weights_of_a_compiled_gradient_are_not_merged_with_those_of_the_result() -> None:
    graph = tb.trace(tb.grad(lambda x: tb.sum(tb.sin(tb.nn.attention(x, x, x)))))(tb.template((5, 4), "f32"))
    assert [node.op for node in graph.nodes if node.op in ("attention", "checkpoint", "softmax")] == [
        "attention",
        "checkpoint",
    ]
