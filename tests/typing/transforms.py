"""Transforms of functions, nested in each other, and the type of each result."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


def energy(x: Tensor, scale: Tensor) -> Tensor:
    return tb.sum(tb.tanh(x) ** 2) * scale


@tb.custom_gradient
def clipped(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    return x, lambda cotangent: tb.clip(cotangent, -1, 1)


@tb.jit(static_argnames="power")
def raised(x: Tensor, power: int) -> Tensor:
    return x**power


x, scale = tb.asarray([1.0, 2.0, 3.0]), tb.asarray(2.0)
assert_type(tb.grad(energy)(x, scale), Tensor)
assert_type(tb.grad(lambda x: tb.sum(x * x))(x), Tensor)
assert_type(tb.grad(lambda parts: tb.sum(parts["x"]))({"x": x}), dict[str, Tensor])
assert_type(tb.grad(lambda x: x * x)(3.0), Tensor)
assert_type(tb.value_and_grad(energy)(x, scale), tuple[Tensor, Tensor])
assert_type(tb.jit(tb.grad(energy))(x, scale), Tensor)
assert_type(tb.vmap(tb.grad(energy), in_axes=(0, None))(tb.stack([x, x]), scale), Tensor)
assert_type(tb.jit(tb.vmap(energy, in_axes=(0, None)))(tb.stack([x, x]), scale), Tensor)
assert_type(tb.hessian(energy)(x, scale), Tensor)
assert_type(tb.jacobian(tb.tanh)(x), Tensor)
assert_type(tb.checkpoint(energy)(x, scale), Tensor)
assert_type(tb.jvp(tb.tanh, (x,), (x,)), tuple[Tensor, Tensor])
value, back = tb.vjp(energy, x, scale)
assert_type(value, Tensor)
assert_type(back(tb.asarray(1.0)), tuple[Tensor, Tensor])
y, push = tb.linearize(energy, x, scale)
assert_type(push(x, scale), Tensor)
assert_type(clipped(x), Tensor)
assert_type(raised(x, 2), Tensor)
assert_type(raised.lower(x, 2).as_text(), str)
assert raised(x, power=2).tolist() == [1.0, 4.0, 9.0]
