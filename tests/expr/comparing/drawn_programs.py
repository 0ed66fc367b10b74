"""Programs of a few drawn ops, with data: chains, contractions, views, loops and selections."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import tensorbackend as tb
from tensorbackend import Tensor

UNARY: tuple[Callable[[Tensor], Tensor], ...] = (
    tb.exp, tb.tanh, tb.sin, tb.abs, tb.square, tb.sigmoid, tb.log1p, lambda x: tb.sqrt(tb.abs(x) + 1e-3), tb.erf,
    lambda x: tb.softmax(x, axis=-1), lambda x: tb.logsumexp(x, axis=0, keepdims=True) - x, tb.nn.gelu, tb.nn.silu,
    lambda x: x - tb.mean(x, axis=-1, keepdims=True), lambda x: x / (1 + tb.var(x, axis=0)), lambda x: x**3,
    lambda x: tb.cumulative_sum(x, axis=-1), lambda x: tb.sort(x, axis=-1), lambda x: tb.where(x > 0.1, x, -x / 3),
    lambda x: tb.flip(x, axis=0), lambda x: tb.roll(x, 1, axis=-1), lambda x: x[:, ::-1] * 0.37,
    lambda x: tb.clip(x, -1.0, 1.0), lambda x: tb.max(x, axis=0) - x, lambda x: tb.matrix_transpose(x) @ x,
    lambda x: tb.scan(lambda c, r: (tb.tanh(c + r), c * r), tb.zeros(x.shape[-1]), x)[1],
    lambda x: tb.fori_loop(0, 3, lambda i, y: tb.sin(y) + 0.5 * y, x), lambda x: tb.concat([x, x * 1.7], axis=0)[1:],
    lambda x: tb.take(x, tb.argsort(x[:, 0]), axis=0), lambda x: tb.astype(tb.astype(x, "bf16"), "f32") + x,
    lambda x: tb.take(x, tb.asarray([0, 1, 0]), axis=0) * 1.3,
)  # fmt: skip

BINARY: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    tb.add, tb.subtract, tb.multiply, lambda x, y: x / (1 + tb.abs(y)), tb.maximum, tb.hypot, tb.atan2,
    lambda x, y: tb.cond(tb.sum(x) > tb.sum(y), lambda: x * 2.1, lambda: y - x),
)  # fmt: skip


def draw_program(seed: int) -> tuple[Callable[[Tensor, Tensor], Tensor], tuple[Tensor, Tensor]]:
    """A function of two matrices whose result is a scalar, and the matrices."""
    chance = Random(seed)
    steps = [(chance.choice(UNARY), chance.choice(BINARY), chance.random()) for _ in range(chance.randint(2, 6))]
    rows, columns = chance.randint(2, 5), chance.randint(2, 5)
    scale = chance.choice([0.1, 1.0, 1.0, 3.0])

    def function(x: Tensor, y: Tensor) -> Tensor:
        z = x
        for one, two, kind in steps:
            z = one(z)
            if z.shape == y.shape and kind < 0.6:
                z = two(z, y)
            z = z / (1 + tb.max(tb.abs(z)))
        return tb.sum(z * 0.9)

    key = tb.random.key(seed)
    x = tb.random.normal(key, (rows, columns)) * scale
    return function, (x, tb.random.normal(tb.random.fold_in(key, 1), (rows, columns)))
