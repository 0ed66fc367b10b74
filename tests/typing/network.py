"""A network whose parameters are a dataclass, trained by an optimiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


@dataclass
class Layer:
    weight: Tensor
    bias: Tensor


Network = list[Layer]


def initial(key: Tensor) -> Network:
    first, second = tb.random.split(key)
    assert_type(first, Tensor)
    return [
        Layer(tb.nn.glorot_uniform(first, (2, 8), names=("in", "unit")), tb.zeros(8, names=("unit",))),
        Layer(tb.nn.glorot_uniform(second, (8, 3), names=("unit", "class")), tb.zeros(3, names=("class",))),
    ]


def logits(network: Network, x: Tensor) -> Tensor:
    for layer in network[:-1]:
        x = assert_type(tb.tanh(x @ layer.weight + layer.bias), Tensor)
    return x @ network[-1].weight + network[-1].bias


def loss(network: Network, x: Tensor, labels: Tensor) -> Tensor:
    return tb.mean(tb.nn.sparse_cross_entropy(logits(network, x), labels, axis="class"))


network = initial(tb.random.key(0))
x = tb.random.normal(tb.random.key(1), (30, 2), names=("batch", "in"))
labels = assert_type(tb.astype(x[:, 0] > 0, "s64") + tb.astype(x[:, 1] > 0, "s64"), Tensor)
adam = tb.optimize.chain(tb.optimize.clip_by_global_norm(1.0), tb.optimize.adam(0.05))
state = adam.init(network)
before = loss(network, x, labels)
for _ in range(30):
    gradient = assert_type(tb.grad(loss)(network, x, labels), Network)
    updates, state = adam.update(gradient, state, network)
    assert_type(updates, Network)
    network = assert_type(tb.optimize.apply_updates(network, updates), Network)
assert_type(tb.optimize.global_norm(network), Tensor)
assert float(loss(network, x, labels)) < float(before)
