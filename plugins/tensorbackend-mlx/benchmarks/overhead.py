"""Ours and MLX's on the same calls: `python overhead.py [small|large|step] ...`.

For each call the microseconds of MLX and of tensorbackend, and their ratio; at the end the geometric mean. Each call
is computed before the next begins. The two alternate and the shortest time of each counts, so that a busy machine
disturbs both alike. `step` does the same for a training step of a transformer, compiled by each.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from timeit import repeat
from typing import Any

os.environ.setdefault("TENSORBACKEND_CHECK", "0")

import mlx.core as mx
import tensorbackend as tb

CALLS = """
a + b                                   |
a + 1.0                                 |
m * row                                 |
a / b                                   |
mx.power(b, a)                          | b**a
mx.square(a)                            | tb.square(a)
mx.exp(a)                               | tb.exp(a)
mx.log(b)                               | tb.log(b)
mx.sin(a)                               | tb.sin(a)
mx.tanh(a)                              | tb.tanh(a)
mx.sigmoid(a)                           | tb.sigmoid(a)
mx.erf(a)                               | tb.erf(a)
mx.sqrt(b)                              | tb.sqrt(b)
mx.abs(a)                               | tb.abs(a)
-a                                      |
a < b                                   |
mx.where(mask, a, b)                    | tb.where(mask, a, b)
mx.clip(a, -1, 1)                       | tb.clip(a, -1, 1)
mx.maximum(a, b)                        | tb.maximum(a, b)
whole // 7                              |
whole % 7                               |
whole + whole                           |
a.astype(mx.float16)                    | tb.astype(a, "f16")
a.astype(mx.int32)                      | tb.astype(a, "s32")
mx.sum(a)                               | tb.sum(a)
mx.sum(m, 1)                            | tb.sum(m, axis=1)
mx.mean(m, 1)                           | tb.mean(m, axis=1)
mx.var(m, 1)                            | tb.var(m, axis=1)
mx.max(m, 1)                            | tb.max(m, axis=1)
mx.argmax(m, 1)                         | tb.argmax(m, axis=1)
mx.any(mask)                            | tb.any(mask)
mx.cumsum(a)                            | tb.cumulative_sum(a)
s @ s                                   |
m @ row                                 |
m.reshape(-1)                           | tb.reshape(m, (-1,))
m.T                                     |
mx.concatenate([a, b])                  | tb.concat([a, b])
mx.stack([a, b])                        | tb.stack([a, b])
m[0]                                    |
a[1:]                                   |
m[:, 1]                                 |
mx.take(m, places, 0)                   | tb.take(m, places, axis=0)
mx.sort(a)                              | tb.sort(a)
mx.argsort(a)                           | tb.argsort(a)
mx.pad(a, (2, 2))                       | tb.pad(a, ((2, 2),))
mx.roll(a, 3)                           | tb.roll(a, 3)
mx.tril(m)                              | tb.tril(m)
mx.zeros((8, 8))                        | tb.zeros((8, 8))
mx.arange(1000)                         | tb.arange(1000)
mx.outer(row, row)                      | tb.outer(row, row)
mx.linalg.cholesky(p, stream=mx.cpu)    | tb.linalg.cholesky(p)
mx.linalg.inv(p, stream=mx.cpu)         | tb.linalg.inv(p)
mx.linalg.svd(s, stream=mx.cpu)         | tb.linalg.svd(s)
mx.linalg.norm(a)                       | tb.linalg.vector_norm(a)
mx.fft.fft(c)                           | tb.fft.fft(c)
mx.fft.rfft(a)                          | tb.fft.rfft(a)
c * c                                   |
mx.softmax(m, -1)                       | tb.softmax(m, axis=-1)
mx.logsumexp(m, -1)                     | tb.logsumexp(m, axis=-1)
mx.fast.layer_norm(m, None, None, 1e-5) | tb.nn.layer_norm(m, epsilon=1e-5)
mx.fast.rms_norm(m, None, 1e-5)         | tb.nn.rms_norm(m, epsilon=1e-5)
"""
"""A call of MLX, and of tensorbackend where it is written in another way."""

ROUNDS = 15


def arrays(small: bool) -> dict[str, mx.array]:
    """The operands, of a few elements or of 10^6."""
    mx.random.seed(0)
    count, side, order = (8, 8, 8) if small else (1_000_000, 1000, 256)
    a, s = mx.random.normal((count,)), mx.random.normal((order, order))
    m, b = mx.random.normal((side, side)), mx.random.uniform(0.5, 1.5, (count,))
    whole, places = mx.random.randint(-50, 50, (count,)).astype(mx.int64), mx.random.randint(0, side, (side,))
    c = (a + 1j * b).astype(mx.complex64)
    operands = {"a": a, "b": b, "m": m, "s": s, "p": s @ s.T + order * mx.eye(order), "whole": whole, "c": c}
    return operands | {"mask": a > 0, "places": places, "row": m[0] + 0.0}


def payloads(result: Any) -> Any:
    """The arrays of a result: of a tensor, or of several."""
    if isinstance(result, tb.Tensor):
        return result.data
    return result if isinstance(result, mx.array) else [payloads(part) for part in result]


def evaluated(call: Callable[[], Any]) -> Callable[[], None]:
    """The call, computed to its end."""
    return lambda: mx.eval(payloads(call()))


def ratio_of(name: str, theirs: Callable[[], Any], ours: Callable[[], Any]) -> tuple[float, str]:
    """Measures and prints a call."""
    pair = evaluated(theirs), evaluated(ours)
    number = max(1, int(2e-3 / min(repeat(pair[1], number=1, repeat=5))))
    turns = [[min(repeat(run, number=number, repeat=2)) / number * 1e6 for run in pair] for _ in range(ROUNDS)]
    mlx, tensorbackend = map(min, zip(*turns, strict=True))
    print(f"{name:40} {mlx:12.1f} {tensorbackend:12.1f} {tensorbackend / mlx:8.2f}", flush=True)
    return tensorbackend / mlx, name


def compare_calls(small: bool) -> None:
    """Prints a line for each call, and the geometric mean."""
    theirs = arrays(small)
    mx.eval(theirs)
    ours = {name: tb.asarray(array, backend="mlx") for name, array in theirs.items()}
    ratios = []
    for line in CALLS.strip().splitlines():
        first, second = (part.strip() for part in line.split("|"))
        ratios.append(ratio_of(first, _function(first, theirs), _function(second or first, ours)))
    mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
    worst = ", ".join(f"{name} {ratio:.1f}" for ratio, name in sorted(ratios, reverse=True)[:8])
    print(f"{'small' if small else 'large'}: geometric mean {mean:.2f} of {len(ratios)} calls; the worst: {worst}")


def _function(expression: str, names: Mapping[str, Any]) -> Callable[[], Any]:
    function: Callable[[], Any] = eval(f"lambda: {expression}", {"mx": mx, "tb": tb, **names})
    return function


WIDTH, HEADS = 64, 4


def block(x: mx.array, weights: list[mx.array]) -> mx.array:
    """A transformer's layer in MLX."""
    qkv, out, up, down = weights
    h = mx.fast.layer_norm(x, None, None, 1e-5)
    q, k, v = (part.reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3) for part in mx.split(h @ qkv, 3, -1))
    attended = mx.fast.scaled_dot_product_attention(q, k, v, scale=(WIDTH // HEADS) ** -0.5)
    x = x + attended.transpose(0, 2, 1, 3).reshape(x.shape) @ out
    return x + mx.maximum(mx.fast.layer_norm(x, None, None, 1e-5) @ up, 0) @ down


def our_block(x: tb.Tensor, weights: list[tb.Tensor]) -> tb.Tensor:
    """The same layer in tensorbackend."""
    qkv, out, up, down = weights
    h = tb.nn.layer_norm(x, epsilon=1e-5)
    q, k, v = (
        tb.permute_dims(tb.reshape(part, (*x.shape[:2], HEADS, -1)), (0, 2, 1, 3))
        for part in tb.split(h @ qkv, 3, axis=-1)
    )
    attended = tb.nn.attention(q, k, v)
    x = x + tb.reshape(tb.permute_dims(attended, (0, 2, 1, 3)), x.shape) @ out
    return x + tb.maximum(tb.nn.layer_norm(x, epsilon=1e-5) @ up, 0) @ down


def compare_steps() -> None:
    """Prints the time of a training step of four layers, compiled by each."""
    mx.random.seed(0)
    shapes = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    layers = [[0.1 * mx.random.normal(shape) for shape in shapes] for _ in range(4)]
    x = mx.random.normal((16, 64, WIDTH))
    mx.eval(layers, x)

    def loss(layers: Any, x: Any, layer: Callable[[Any, Any], Any], mean: Callable[[Any], Any]) -> Any:
        for weights in layers:
            x = layer(x, weights)
        return mean(x * x)

    def step(layers: Any, x: mx.array) -> Any:
        total, slopes = mx.value_and_grad(lambda layers: loss(layers, x, block, mx.mean))(layers)
        return total, [
            [w - 0.1 * slope for w, slope in zip(*pair, strict=True)] for pair in zip(layers, slopes, strict=True)
        ]

    def our_step(layers: Any, x: tb.Tensor) -> Any:
        total, slopes = tb.value_and_grad(lambda layers: loss(layers, x, our_block, tb.mean))(layers)
        return total, tb.tree_map(lambda w, slope: w - 0.1 * slope, layers, slopes)

    compiled, our_compiled = mx.compile(step), tb.jit(our_step)
    our_layers = [[tb.asarray(w, backend="mlx") for w in weights] for weights in layers]
    our_x = tb.asarray(x, backend="mlx")
    apart = abs(compiled(layers, x)[0].item() - our_compiled(our_layers, our_x)[0].item())
    assert apart < 1e-4, apart
    ratio_of("a training step, compiled", lambda: compiled(layers, x), lambda: our_compiled(our_layers, our_x))
    ratio_of("a training step, as it is", lambda: step(layers, x), lambda: our_step(our_layers, our_x))


if __name__ == "__main__":
    asked = sys.argv[1:] or ["small", "large", "step"]
    for size in ("small", "large"):
        if size in asked:
            compare_calls(size == "small")
    if "step" in asked:
        compare_steps()
