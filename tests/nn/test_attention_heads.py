"""Attention with several heads against one attention a head, and its cache against one call with all steps."""

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


def normal(seed: int, **sizes: int) -> tb.Tensor:
    return tb.random.normal(tb.random.key(seed), tuple(sizes.values()), names=tuple(sizes))


def parameters(features: int, units: int) -> dict[str, tb.Tensor]:
    keys = tb.random.split(tb.random.key(7), 4)
    names = ("query", "key", "value")
    weights = {
        name: tb.nn.glorot_normal(keys[i], (features, units), names=("feature", None)) for i, name in enumerate(names)
    }
    weights["output"] = tb.nn.glorot_normal(keys[3], (units, features), names=(None, "feature"))
    weights["value_bias"] = tb.ones(units)
    return weights


def test_several_heads_are_several_attentions() -> None:
    weights = parameters(6, 8)
    x = normal(5, batch=2, time=4, feature=6)
    outputs = tb.nn.multi_head_attention(weights, x, heads=2, causal=True)
    parts = []
    for head in range(2):
        part = slice(head * 4, head * 4 + 4)
        q, k, v = (x @ weights[name][:, part] for name in ("query", "key", "value"))
        parts.append(tb.nn.attention(q, k, v + 1, causal=True))
    reference = tb.concat(parts, axis=-1) @ weights["output"]
    assert outputs.names == ("batch", "time", "feature")
    assert tb.all_close(outputs, reference, atol=1e-5)
    turned = tb.nn.multi_head_attention(weights, tb.permute_dims(x), heads=2, causal=True, time="time", axis="feature")
    assert tb.all_close(turned, outputs, atol=1e-5)


@pytest.mark.parametrize("backend", ["numpy"])
def test_a_cache_gives_what_all_steps_at_once_give(backend: str) -> None:
    weights = {name: x.backend_copy(backend) for name, x in parameters(6, 8).items()}
    x = normal(5, batch=2, time=5, feature=6).backend_copy(backend)
    whole = tb.nn.multi_head_attention(weights, x, heads=2, causal=True, rotate=tb.nn.rotary)
    cache = tb.tree_map(lambda x: x.backend_copy(backend), tb.nn.key_value_cache((2,), heads=2, size=6, units=4))
    step = tb.jit(lambda x, cache: tb.nn.incremental_attention(weights, x, cache, heads=2, rotate=tb.nn.rotary))
    parts = []
    for start, stop in ((0, 2), (2, 3), (3, 4), (4, 5)):
        outputs, cache = step(x[:, start:stop], cache)
        parts.append(outputs)
    assert cache.length.item() == 5
    assert tb.all_close(tb.concat(parts, axis=1), whole, atol=1e-5)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: tb.nn.multi_head_attention(parameters(6, 8), tb.ones((2, 6)), heads=3),
        ArgumentError,
        "multi_head_attention: expected a number of heads that divides the 8 units",
    ),
    (
        lambda: tb.nn.multi_head_attention({}, tb.ones((2, 6)), heads=3),
        ArgumentError,
        "multi_head_attention: expected parameters query, key, value and output",
    ),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
