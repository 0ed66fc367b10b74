"""A language model of GPT-3's size, with named axes, for a dry run, which allocates no tensors.

    tensorbackend dryrun examples/gpt3.py:loss examples/gpt3.py:parameters 's64[batch=1, time=2048]' \
        's64[batch=1, time=2048]' --gradient --fits 141GB

The sizes are those of Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1 (175 billion parameters).
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

import tensorbackend as tb

LAYERS, WIDTH, HEADS, TIME, VOCABULARY = 96, 12_288, 96, 2_048, 50_257

Parameters: TypeAlias = dict[str, Any]


def parameters(
    layers: int = LAYERS,
    width: int = WIDTH,
    heads: int = HEADS,
    dtype: str = "bf16",
    vocabulary: int = VOCABULARY,
) -> Parameters:
    """Return a template for each parameter."""

    def of(**sizes: int) -> tb.Template:
        return tb.Template(tuple(sizes.values()), dtype, tuple(sizes))

    def norm() -> Parameters:
        return {"scale": of(model=width), "shift": of(model=width)}

    def layer() -> Parameters:
        key = width // heads
        return {
            "attention_norm": norm(),
            **{name: of(model=width, head=heads, key=key) for name in ("query", "key", "value")},
            **{name: of(head=heads, key=key) for name in ("query_shift", "key_shift", "value_shift")},
            "output": of(head=heads, key=key, model=width),
            "output_shift": of(model=width),
            "feed_norm": norm(),
            "wide": of(model=width, feed=4 * width),
            "wide_shift": of(feed=4 * width),
            "narrow": of(feed=4 * width, model=width),
            "narrow_shift": of(model=width),
        }

    return {
        "embedding": of(word=vocabulary, model=width),
        "position": of(time=TIME, model=width),
        "layers": [layer() for _ in range(layers)],
        "norm": norm(),
    }


def product(x: tb.Tensor, weight: tb.Tensor, *axes: str) -> tb.Tensor:
    """Return the sum of products over the named axes."""
    return tb.dot(x, weight, contract=(axes, axes))


def normalised(x: tb.Tensor, norm: Parameters) -> tb.Tensor:
    """Layer normalisation (Ba et al., 2016)."""
    centred = x - tb.mean(x, axis="model", keepdims=True)
    variance = tb.mean(centred * centred, axis="model", keepdims=True)
    return centred * tb.rsqrt(variance + 1e-5) * cast("tb.Tensor", norm["scale"]) + cast("tb.Tensor", norm["shift"])


def gelu(x: tb.Tensor) -> tb.Tensor:
    """The approximation by tanh that GPT-2 and GPT-3 use (Hendrycks and Gimpel, 2016)."""
    return 0.5 * x * (1.0 + tb.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def attention(x: tb.Tensor, layer: Parameters, visible: tb.Tensor) -> tb.Tensor:
    """Causal attention with several heads: each position attends to itself and to the positions before it."""
    query, key, value = (
        product(x, layer[name], "model") + layer[f"{name}_shift"] for name in ("query", "key", "value")
    )
    key, value = key.rename(time="seen"), value.rename(time="seen")
    both = (("batch", "head"), ("batch", "head"))
    scores = tb.dot(query, key, contract=(("key",), ("key",)), batch=both) / math.sqrt(key.shape[-1])
    weights = tb.softmax(tb.where(visible, scores, -1e30), axis="seen")
    mixed = tb.dot(weights, value, contract=(("seen",), ("seen",)), batch=both)
    return product(mixed, layer["output"], "head", "key") + cast("tb.Tensor", layer["output_shift"])


def block(x: tb.Tensor, layer: Parameters, visible: tb.Tensor) -> tb.Tensor:
    """One layer: attention, then a feed-forward network applied to each position."""
    x = x + attention(normalised(x, layer["attention_norm"]), layer, visible)
    wide = product(normalised(x, layer["feed_norm"]), layer["wide"], "model") + layer["wide_shift"]
    return x + product(gelu(wide), layer["narrow"], "feed") + cast("tb.Tensor", layer["narrow_shift"])


def loss(parameters: Parameters, tokens: tb.Tensor, targets: tb.Tensor, *, recompute: bool = False) -> tb.Tensor:
    """Return the mean cross entropy of the next tokens; `tokens` and `targets` have the axes (batch, time).

    With `recompute`, the backward pass computes each layer again, so that no activations inside a layer are kept.
    """
    time = tokens.shape[1]
    x = tb.take(parameters["embedding"], tokens, axis="word") + parameters["position"][:time]
    order = tb.iota((time,), names=("time",))
    visible = tb.expand_dims(order, axis=1) >= order.rename("seen")
    layer_of = tb.checkpoint(block) if recompute else block
    for layer in parameters["layers"]:
        x = layer_of(x, layer, visible)
    logits = product(normalised(x, parameters["norm"]), parameters["embedding"], "model")
    picked = tb.take_along_axis(logits, tb.expand_dims(targets, axis=2), axis=2)
    return tb.mean(tb.logsumexp(logits, axis="word")) - tb.mean(picked)


def step(
    parameters: Parameters, momentum: Parameters, tokens: tb.Tensor, targets: tb.Tensor, *, recompute: bool = False
) -> tuple[tb.Tensor, Parameters, Parameters]:
    """Return the loss, and the parameters and momentum after one step down the gradient."""

    def of(parameters: Parameters) -> tb.Tensor:
        return loss(parameters, tokens, targets, recompute=recompute)

    value, gradient = tb.value_and_grad(of)(parameters)
    momentum = tb.tree_map(lambda m, g: 0.9 * m + g, momentum, gradient)
    return value, tb.tree_map(lambda p, m: p - 1e-4 * m, parameters, momentum), momentum
