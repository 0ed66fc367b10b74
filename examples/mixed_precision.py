"""The transformer trained in mixed precision: products in bfloat16 or float16, parameters and optimiser in float32.

    python examples/mixed_precision.py                      # 200 steps in float32, bfloat16 and float16
    python examples/mixed_precision.py --steps 50 --backend jax

The step is that of `examples/transformer.py` with Adam. In float16 the loss is scaled (`tb.optimize.scale_loss`), and
two batches overflow on purpose, which skips their steps.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from transformer import ALPHABET, BATCH, CONTEXT, TEXT, Model, initial, loss

import tensorbackend as tb

RATE = 3e-3
PLANTED = 5, 6
"""The steps whose gradients overflow in float16."""


def stepper(dtype: str | None, optimiser: Any) -> Callable[..., Any]:
    """Return a compiled step with products in a dtype; `None` for float32."""

    @tb.jit
    def step(model: Model, state: Any, text: tb.Tensor, key: tb.Tensor, factor: tb.Tensor) -> Any:
        starts = tb.random.randint(key, (BATCH, 1), 0, text.size - CONTEXT)
        characters = tb.take(text, starts + tb.arange(CONTEXT + 1), axis=0).rename("batch", "time")
        scale = state.scale if dtype == "float16" else 1.0

        def scaled(model: Model) -> tuple[tb.Tensor, tb.Tensor]:
            with nullcontext() if dtype is None else tb.autocast(dtype):
                value = loss(model, characters)
            return value * scale * factor, value

        (_, value), gradient = tb.value_and_grad(scaled, has_aux=True)(model)
        updates, state = optimiser.update(gradient, state, model)
        return value, tb.optimize.apply_updates(model, updates), state

    return step


def train(dtype: str | None, steps: int) -> list[float]:
    """Return the losses."""
    text = tb.asarray([ALPHABET.index(character) for character in TEXT])
    key = tb.random.key(0)
    model = initial(key)
    optimiser = tb.optimize.adam(RATE, moments_dtype="float32")
    if dtype == "float16":
        optimiser = tb.optimize.scale_loss(optimiser, interval=100)
    state, step, losses = optimiser.init(model), stepper(dtype, optimiser), []
    for number in range(steps):
        planted = dtype == "float16" and number in PLANTED
        factor = tb.asarray(math.inf if planted else 1.0)
        value, model, state = step(model, state, text, tb.random.fold_in(key, number + 1), factor)
        losses.append(value.item())
    if dtype == "float16":
        overflows = sum(number < steps for number in PLANTED)
        print(f"float16: the factor of the loss is {state.scale.item():g} after {overflows} overflows")
    return losses


def main() -> None:
    """Trains in three dtypes, and prints how far their losses are from those of float32."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--backend", default=tb.get_backend().name)
    options = parser.parse_args()
    with tb.default_backend(options.backend):
        exact = train(None, options.steps)
        for dtype in ("bfloat16", "float16"):
            losses = train(dtype, options.steps)
            apart = max(abs(value / wanted - 1) for value, wanted in zip(losses, exact, strict=True))
            print(f"{dtype}: loss {losses[0]:.3f} to {losses[-1]:.3f}, float32 {exact[-1]:.3f}, apart {apart:.2%}")
            if dtype == "bfloat16" and apart > 0.02:
                raise SystemExit("mixed_precision: bfloat16 parts from float32 by more than 2 %")
            if not losses[-1] < (0.8 if options.steps >= 50 else 1) * losses[0]:
                raise SystemExit(f"mixed_precision: it has not learnt in {dtype}")


if __name__ == "__main__":
    main()
