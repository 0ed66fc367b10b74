"""Measures `tb.jit`: a chain of elementwise ops relative to NumPy's expression, and a training step of the transformer
example on JAX relative to the same step written by hand in `jax.numpy`.

The two sides of a ratio take turns, so that a busy machine slows both. Run it from the root of the repository.
"""

from __future__ import annotations

import sys
import timeit
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax_backend import ratio

import tensorbackend as tb

sys.path.append(str(Path(__file__).parents[1] / "examples"))
import transformer

SIZES = [1, 8, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]


def chain(size: int) -> tuple[float, float]:
    """Return the seconds of exp(-x*x)*a + tanh(b*x), compiled and as a NumPy expression: the minimum of many runs."""
    array = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    x, compiled = tb.asarray(array), tb.jit(lambda x: tb.exp(-x * x) * 1.5 + tb.tanh(0.7 * x))

    def plain() -> Any:
        return np.exp(-array * array) * 1.5 + np.tanh(0.7 * array)

    assert (np.asarray(compiled(x)) == plain()).all()
    calls, rounds = max(1, 10_000 // (size + 50)), 9 if size > 10**6 else 200
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(timeit.timeit(lambda: compiled(x), number=calls) / calls)
        theirs.append(timeit.timeit(plain, number=calls) / calls)
    return min(ours), min(theirs)


def plain_step(model: Any, velocity: Any, text: Any, starts: Any) -> Any:
    """`transformer.step` written by hand, on dicts and on arrays without names."""

    def normalised(x: Any, scale: Any) -> Any:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        return centred / jnp.sqrt(jnp.mean(jnp.square(centred), axis=-1, keepdims=True) + 1e-5) * scale

    def attention(layer: Any, x: Any) -> Any:
        queries, keys, values = (
            jnp.einsum("btf,fhk->bthk", x, layer[role], precision="highest") for role in ("queries", "keys", "values")
        )
        scores = jnp.einsum("bthk,bshk->bhts", queries, keys, precision="highest") / queries.shape[-1] ** 0.5
        time = jnp.arange(x.shape[1])
        weights = jax.nn.softmax(jnp.where(time[:, None] >= time, scores, -1e30), axis=-1)
        mixed = jnp.einsum("bhts,bshk->bhtk", weights, values, precision="highest")
        return jnp.einsum("bhtk,hkf->btf", mixed, layer["gathered"], precision="highest")

    def loss(model: Any, characters: Any) -> Any:
        inputs, targets = characters[:, :-1], characters[:, 1:]
        x = model["characters"][inputs] + model["positions"]
        for layer in model["layers"]:
            x = x + attention(layer, normalised(x, layer["scale"][0]))
            hidden = jnp.matmul(normalised(x, layer["scale"][1]), layer["up"], precision="highest")
            x = x + jnp.matmul(jnp.maximum(hidden, 0.0), layer["down"], precision="highest")
        logits = jnp.matmul(normalised(x, model["scale"]), model["logits"], precision="highest")
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits, axis=-1), targets[..., None], axis=-1)
        return -jnp.mean(chosen)

    characters = text[starts + jnp.arange(transformer.CONTEXT + 1)]
    value, gradient = jax.value_and_grad(loss)(model, characters)
    velocity = jax.tree.map(lambda v, g: transformer.MOMENTUM * v + g, velocity, gradient)
    return value, jax.tree.map(lambda x, v: x - transformer.RATE * v, model, velocity), velocity


def training_step() -> tuple[float, ...]:
    """Return the seconds of the example's step compiled by `tb.jit` and by hand, and their ratio."""
    with tb.default_backend("jax"):
        key = tb.random.key(0)
        model = transformer.initial(key)
        velocity = tb.tree_map(tb.zeros_like, model)
        text = tb.asarray([transformer.ALPHABET.index(character) for character in transformer.TEXT])
        starts = tb.random.randint(key, (transformer.BATCH, 1), 0, text.size - transformer.CONTEXT)

    @tb.jit
    def step(model: Any, velocity: Any, text: tb.Tensor, starts: tb.Tensor) -> Any:
        characters = tb.take(text, starts + tb.arange(transformer.CONTEXT + 1), axis=0).rename("batch", "time")
        value, gradient = tb.value_and_grad(transformer.loss)(model, characters)
        velocity = tb.tree_map(lambda v, g: transformer.MOMENTUM * v + g, velocity, gradient)
        return value, tb.tree_map(lambda x, v: x - transformer.RATE * v, model, velocity), velocity

    def plain(value: Any) -> Any:
        """Convert dataclasses to dicts, and tensors to arrays."""
        if isinstance(value, tb.Tensor):
            return value.data
        return (
            [plain(part) for part in value]
            if isinstance(value, list)
            else {k: plain(v) for k, v in vars(value).items()}
        )

    by_hand = jax.jit(plain_step)
    arrays = plain(model), plain(velocity), text.data, starts.data
    ours, theirs = step(model, velocity, text, starts)[0].item(), by_hand(*arrays)[0].item()
    assert abs(ours - theirs) < 1e-5, (ours, theirs)
    return ratio(lambda: step(model, velocity, text, starts), lambda: by_hand(*arrays), 3)


def main() -> None:
    """Prints a line for each measurement."""
    for size in SIZES:
        ours, theirs = chain(size)
        print(
            f"exp(-x*x)*a + tanh(b*x), {size:>8} float32, numpy: {ours * 1e6:10.2f} us, "
            f"its own expression {theirs * 1e6:10.2f} us, ratio {ours / theirs:.2f}"
        )
    ours, theirs, over = training_step()
    print(f"transformer step, jax: {ours * 1e3:.2f} ms, by hand {theirs * 1e3:.2f} ms, ratio {over:.3f}")


if __name__ == "__main__":
    main()
