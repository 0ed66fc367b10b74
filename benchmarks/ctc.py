"""The CTC loss and its gradient: on JAX compared with optax, on PyTorch compared with PyTorch's own, and on NumPy.

Libraries that are not installed are left out.

python benchmarks/ctc.py [--repeat 7]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import tensorbackend as tb

BATCH, FRAMES, CLASSES, LABELS = 32, 500, 1000, 100


def inputs() -> tuple[Any, Any, Any, Any]:
    """Return logits, labels, and the lengths of both as NumPy arrays."""
    generator = np.random.default_rng(0)
    logits = generator.standard_normal((BATCH, FRAMES, CLASSES), dtype=np.float32)
    labels = generator.integers(1, CLASSES, (BATCH, LABELS)).astype(np.int32)
    frames = generator.integers(FRAMES // 2, FRAMES + 1, BATCH).astype(np.int32)
    return logits, labels, frames, generator.integers(LABELS // 2, LABELS + 1, BATCH).astype(np.int32)


def ours(backend: str, arrays: tuple[Any, ...]) -> dict[str, Callable[[], Any]]:
    """Return calls of the loss, and of the loss with its gradient, both compiled."""
    logits, labels, frames, counts = (tb.asarray(array, backend=backend) for array in arrays)

    def loss(logits: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts))

    value, both = tb.jit(loss), tb.jit(tb.value_and_grad(loss))
    return {"loss": lambda: value(logits), "with gradient": lambda: both(logits)}


def optax(arrays: tuple[Any, ...], wide: bool = False) -> dict[str, Callable[[], Any]]:
    """Return the same calls of optax; `wide` enables 64-bit dtypes, as our backend does, which makes them slower."""
    import jax
    import jax.numpy as jnp
    from optax import ctc_loss

    with jax.enable_x64(wide):
        logits, labels, frames, counts = map(jnp.asarray, arrays)
    beyond = (jnp.arange(FRAMES) >= frames[:, None]).astype(jnp.float32)
    unused = (jnp.arange(LABELS) >= counts[:, None]).astype(jnp.float32)

    def loss(logits: Any) -> Any:
        return ctc_loss(logits, beyond, labels, unused).sum()

    def within(function: Callable[[Any], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with jax.enable_x64(wide):
                return function(logits)

        return run

    return {"loss": within(jax.jit(loss)), "with gradient": within(jax.jit(jax.value_and_grad(loss)))}


def pytorch(arrays: tuple[Any, ...]) -> dict[str, Callable[[], Any]]:
    """Return the same calls of PyTorch's own function."""
    import torch

    logits, labels, frames, counts = map(torch.tensor, arrays)
    logits.requires_grad_()

    def loss() -> Any:
        logs = torch.log_softmax(logits, -1).transpose(0, 1)
        return torch.nn.functional.ctc_loss(logs, labels, frames, counts, reduction="sum")

    def alone() -> None:
        with torch.no_grad():
            loss()

    def both() -> None:
        logits.grad = None
        loss().backward()

    return {"loss": alone, "with gradient": both}


def wait(result: Any) -> Any:
    """Wait for a result and return it."""
    for part in result if isinstance(result, tuple) else (result,):
        if hasattr(part, "block_until_ready"):
            part.block_until_ready()
    return result


def fastest(ways: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Return the least seconds of each call; the calls take turns."""
    for call in ways.values():
        wait(call())
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(repeat):
        for name, call in ways.items():
            start = time.perf_counter()
            wait(call())
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def shown(seconds: dict[str, float], first: str, second: str) -> None:
    """Prints milliseconds, and the ratio of two libraries if both ran."""
    for name, duration in seconds.items():
        print(f"{name:30} {1000 * duration:8.1f} ms")
    for name in ("loss", "with gradient"):
        if f"{second}, {name}" in seconds:
            print(f"ratio, {name:23} {seconds[f'{first}, {name}'] / seconds[f'{second}, {name}']:8.2f}")


def beside_optax(arrays: tuple[Any, ...], repeat: int) -> None:
    """Prints the times on JAX, and the differences of both libraries from optax in float64."""
    ways = {f"ours on JAX, {name}": call for name, call in ours("jax", arrays).items()}
    if find_spec("optax"):
        ways |= {f"optax, {name}": call for name, call in optax(arrays).items()}
    seconds = fastest(ways, repeat)
    shown(seconds, "ours on JAX", "optax")
    if find_spec("optax"):
        wide = arrays[0].astype(np.float64), *arrays[1:]
        value, slope = optax(wide, True)["with gradient"]()
        for name, call in {
            "ours in float64": ours("jax", wide)["with gradient"],
            "ours in float32": ways["ours on JAX, with gradient"],
            "optax in float32": ways["optax, with gradient"],
        }.items():
            loss_here, slope_here = call()
            loss = abs(float(loss_here) / float(value) - 1)
            apart = np.abs(np.asarray(slope_here) - np.asarray(slope)).max()
            print(f"{name} beside optax in float64: loss {loss:.1e} relative, gradient {apart:.1e}")


def main() -> None:
    """Prints milliseconds, ratios and differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat: int = parser.parse_args().repeat
    arrays = inputs()
    if find_spec("jax"):
        beside_optax(arrays, repeat)
    if "torch" in tb.backends():
        ways = {f"ours on PyTorch, {name}": call for name, call in ours("torch", arrays).items()}
        seconds = fastest(ways | {f"PyTorch, {name}": call for name, call in pytorch(arrays).items()}, repeat)
        shown(seconds, "ours on PyTorch", "PyTorch")
    for name, duration in fastest(ours("numpy", arrays), 2).items():
        print(f"{'ours on NumPy, ' + name:30} {1000 * duration:8.1f} ms")


if __name__ == "__main__":
    main()
