"""Linear regression: a compiled step of value and gradient, parameters in a dictionary."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor

Parameters = dict[str, Tensor]


def loss(parameters: Parameters, x: Tensor, y: Tensor) -> Tensor:
    predicted = x @ parameters["weight"] + parameters["bias"]
    assert_type(predicted, Tensor)
    return tb.mean((predicted - y) ** 2)


@tb.jit
def step(parameters: Parameters, x: Tensor, y: Tensor) -> tuple[Tensor, Parameters]:
    value, gradient = tb.value_and_grad(loss)(parameters, x, y)
    assert_type(value, Tensor)
    assert_type(gradient, Parameters)
    return value, {name: parameters[name] - 0.1 * gradient[name] for name in parameters}


x = tb.random.normal(tb.random.key(0), (64, 3), names=("batch", "feature"))
y = x @ tb.tensor([1.0, -2.0, 0.5], names=("feature",)) + 0.3
parameters = {"weight": tb.zeros(3, names=("feature",)), "bias": tb.zeros(())}
first = assert_type(loss(parameters, x, y), Tensor)
value = first
for _ in range(50):
    value, parameters = step(parameters, x, y)
    assert_type(value, Tensor)
assert_type(parameters, Parameters)
assert_type(tb.grad(loss)(parameters, x, y), Parameters)
assert_type(tb.jit(loss)(parameters, x, y), Tensor)
assert float(loss(parameters, x, y)) < float(first) / 10
