"""What `tb.fit` chooses to compute again: in a decoder of 12 layers, and in chains beside an exhaustive search.

    python benchmarks/fit.py [decoder] [chain] [budgets]

`decoder` fits the gradient of `examples/transformer.py` with 12 layers into 60 % of its peak: it prints the promise,
what NumPy takes by `tracemalloc`, the FLOPs, and how far the gradients are from those without it. `chain` makes
4,096 dry runs, one for each choice of 12 calls, and prints FLOPs beside the best choice's for some limits. `budgets`
fits the gradients of five models into 20 limits each, from the lowest promise to that without a limit, op by op and
compiled: it prints the promise beside what NumPy takes in one thread, and the FLOPs beside the time of a step, and says
where a promise is broken, and where a lower limit costs less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import tensorbackend as tb
from tensorbackend.costs import show_bytes
from tensorbackend.costs.candidates import Recomputation, Search, choose_recomputation

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

from tests.peak_memory import peak_memory  # noqa: E402 # found by the line above

LAYERS = 12
FRACTION = 0.6
"""The limit as a part of the peak."""


def decoder(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """Return value and gradient of the example's loss, its layers wrapped by a function."""
    import transformer

    @wrap
    def layer(x: tb.Tensor, weights: Any) -> tb.Tensor:
        before, between = weights.scale
        x = x + transformer.attention(weights, transformer.normalised(x, before))
        hidden = tb.dot(transformer.normalised(x, between), weights.up, contract=(["feature"], ["feature"]))
        return x + tb.dot(tb.maximum(hidden, 0.0), weights.down, contract=(["hidden"], ["hidden"]))

    def loss(model: Any, characters: tb.Tensor) -> tb.Tensor:
        inputs, targets = characters.isel(time=slice(0, -1)), characters.isel(time=slice(1, None))
        x = tb.take(model.characters, inputs, axis="character") + model.positions
        for weights in model.layers:
            x = layer(x, weights)
        x = tb.dot(transformer.normalised(x, model.scale), model.logits, contract=(["feature"], ["feature"]))
        logits = tb.log_softmax(x, axis="character")
        return -tb.mean(tb.take_along_axis(logits, tb.expand_dims(targets, axis=-1), axis="character"))

    return tb.value_and_grad(loss)


def decoder_arguments(layers: int = LAYERS) -> tuple[Any, tb.Tensor]:
    """Return parameters and a batch, on NumPy."""
    import transformer

    transformer.LAYERS = layers
    with tb.default_backend("numpy"):
        model = transformer.initial(tb.random.key(0))
        drawn = np.random.default_rng(0).integers(
            0, len(transformer.ALPHABET), (transformer.BATCH, transformer.CONTEXT + 1)
        )
        return model, tb.asarray(drawn).rename("batch", "time")


def measured_peak(function: Callable[..., Any], *arguments: Any) -> int:
    """Return the bytes of a call and its arguments on NumPy, after three calls, which make programs."""
    own = sum(x.nbytes for x in tb.tree_leaves(arguments))
    return int(own + peak_memory(lambda: function(*arguments), calls_before=3))


def fit_decoder() -> dict[str, float]:
    """Print and return figures of the decoder, run op by op and compiled."""
    arguments = decoder_arguments()
    plain, kept = decoder(lambda f: f), decoder(tb.checkpoint)
    figures: dict[str, float] = {}
    for name, optimised, run in (("op by op", False, lambda f: f), ("compiled", True, tb.jit)):

        def program(function: Any, optimised: bool = optimised) -> Any:
            return tb.dry_run(function, *arguments).shown_program(optimised)

        before, everything = program(plain), program(kept)
        limit = int(FRACTION * before.peak.memory)
        start = perf_counter()
        found = choose_recomputation(partial(program, kept), limit, sets_aside=True)
        seconds = perf_counter() - start
        taken = measured_peak(run(tb.fit(kept, limit, optimised=optimised)), *arguments)
        expected = run(plain)(*arguments)
        actual = run(tb.fit(kept, limit, optimised=optimised))(*arguments)
        apart = max(
            float(np.abs(np.asarray(x) - np.asarray(y)).max() / np.abs(np.asarray(y)).max())
            for x, y in zip(tb.tree_leaves(actual), tb.tree_leaves(expected), strict=True)
        )
        all_again = everything.flops + everything.transcendentals - found.before.flops
        share = (found.after.flops - found.before.flops) / all_again
        print(
            f"decoder, {name}: peak {show_bytes(before.peak.memory)}, limit {show_bytes(limit)}, promised "
            f"{show_bytes(found.promised)}, measured {show_bytes(taken)} (ratio {taken / found.promised:.3f}); "
            f"{len(found.chosen)} of {len(found.calls)} layers again, {share:.3f} of the FLOPs of computing all again; "
            f"gradients apart by {apart:.1e}; chosen in {seconds:.1f} s"
        )
        figures |= {f"{name}, ratio": taken / found.promised, f"{name}, share": share, f"{name}, apart": apart}
    return figures


WIDTHS = (32, 256, 64, 128, 32, 256, 512, 64, 128, 32, 64, 256)


def chain(calls: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the gradient of a chain of checkpointed layers of different widths, and its templates."""

    @tb.checkpoint
    def layer(x: tb.Tensor, first: tb.Tensor, second: tb.Tensor) -> tb.Tensor:
        return x + tb.tanh(tb.exp(tb.sin(x @ first)) @ second)

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        for first, second in weights:
            x = layer(x, first, second)
        return tb.sum(x * x)

    weights = [(f"f32[32, {width}]", f"f32[{width}, 32]") for width in WIDTHS[:calls]]
    return tb.value_and_grad(loss), (weights, "f32[256, 32]")


def fit_chain(calls: int = LAYERS, fractions: tuple[float, ...] = (0.8, 0.6, 0.4, 0.2, 0.0)) -> list[float]:
    """Print FLOPs of what `fit` chooses beside the best of all choices, and return the ratios.

    The limits are between the lowest peak of all choices, for a fraction of 0, and the peak without any, for 1.
    """
    function, templates = chain(calls)

    def run() -> Any:
        return tb.dry_run(function, *templates).eager

    search = Search(run)
    choices = [chosen for count in range(calls + 1) for chosen in combinations(range(calls), count)]
    start = perf_counter()
    costs = [search.cost(chosen) for chosen in choices]
    print(f"chain of {calls}: {len(choices)} dry runs in {perf_counter() - start:.0f} s")
    ratios, lowest, highest = [], min(cost.nbytes for cost in costs), costs[0].nbytes
    for fraction in fractions:
        limit = lowest + int(fraction * (highest - lowest))
        fitting = [cost.flops for cost in costs if cost.nbytes <= limit]
        found = choose_recomputation(run, limit)
        best = min(fitting)
        if not found.fits:
            print(
                f"{limit / highest:.0%} of the peak: fit finds no choice, the best has {best / costs[0].flops - 1:.2%}"
            )
            ratios.append(float("inf"))
            continue
        ratios.append(found.after.flops / best)
        more = found.after.flops / costs[0].flops - 1
        least = best / costs[0].flops - 1
        print(f"{limit / highest:.0%} of the peak: {more:.2%} more FLOPs, best {least:.2%}; ratio {ratios[-1]:.4f}")
    return ratios


def normal(seed: int, *shape: int) -> tb.Tensor:
    """Return small random numbers on NumPy."""
    return tb.asarray(np.random.default_rng(seed).normal(0, 0.1, shape).astype("float32"), backend="numpy")


def summed(layers: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Return value and gradient of the sum of squares of checkpointed layers, which take weights and a value."""

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        for layer, own in zip(layers, weights, strict=True):
            x = tb.checkpoint(layer)(x, own)
        return tb.sum(x * x)

    return tb.value_and_grad(loss)


def mlp() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a perceptron of twelve layers of two widths, and its arguments."""
    weights = [(normal(i, 64, width), normal(i, width, 64)) for i, width in enumerate([256, 64] * 6)]
    return summed([lambda x, w: x + tb.tanh(x @ w[0]) @ w[1]] * 12), (weights, normal(99, 512, 64))


def resnet() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return residual blocks of convolutions, and their arguments."""

    def block(x: tb.Tensor, w: Any) -> tb.Tensor:
        return x + tb.conv(tb.maximum(tb.conv(x, w[0], padding="same"), 0.0), w[1], padding="same")

    weights = [(normal(i, 8, 8, 3, 3), normal(i, 8, 8, 3, 3)) for i in range(8)]
    return summed([block] * 8), (weights, normal(99, 16, 8, 16, 16))


def unet() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return convolutions on three scales, each joined to the one of its scale on the way up, and their arguments."""

    @tb.checkpoint
    def block(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.nn.silu(tb.conv(x, w, padding="same"))

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        held = []
        for w in weights[:3]:
            x = block(x, w)
            held.append(x)
            x = x[:, :, ::2, ::2]
        for w, beside in zip(weights[3:], held[::-1], strict=True):
            x = tb.repeat(tb.repeat(x, 2, axis=2), 2, axis=3)
            x = block(tb.concat([x, beside], axis=1), w)
        return tb.sum(x * x)

    weights = [normal(i, 8, 8, 3, 3) for i in range(3)] + [normal(i, 8, 16, 3, 3) for i in range(3)]
    return tb.value_and_grad(loss), (weights, normal(99, 4, 8, 32, 32))


def lstm() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return an LSTM over 16 steps, each checkpointed, and its arguments."""

    @tb.checkpoint
    def step(state: Any, row: tb.Tensor, w: tb.Tensor) -> Any:
        gates = tb.split(tb.concat([state[0], row], axis=-1) @ w, 4, axis=-1)
        cell = tb.sigmoid(gates[0]) * state[1] + tb.sigmoid(gates[1]) * tb.tanh(gates[2])
        return tb.sigmoid(gates[3]) * tb.tanh(cell), cell

    def loss(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        state = tb.zeros((512, 64), backend="numpy"), tb.zeros((512, 64), backend="numpy")
        for position in range(16):
            state = step(state, x[position], w)
        return tb.sum(state[0] * state[0])

    return tb.value_and_grad(loss), (normal(0, 96, 256), normal(99, 16, 512, 32))


BUDGETS = 20


def fit_budgets() -> dict[str, tuple[int, int]]:
    """Print a table, and return how often a model takes more than its limit, and computes more than with a lower one.

    Each model runs op by op and compiled.
    """
    models: dict[str, Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
        "transformer": lambda: (decoder(tb.checkpoint), decoder_arguments(4)),
        "U-Net": unet,
        "ResNet": resnet,
        "LSTM": lstm,
        "MLP": mlp,
    }
    return {
        f"{name}, {how}": fit_model(f"{name}, {how}", *make(), optimised=how == "compiled")
        for name, make in models.items()
        for how in ("op by op", "compiled")
    }


def fit_model(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], *, optimised: bool
) -> tuple[int, int]:
    """Print a row for each of 20 limits, and return how many are broken, and how often FLOPs rise with the limit."""

    def choose(limit: int) -> Recomputation:
        return choose_recomputation(
            lambda: tb.dry_run(function, *arguments).shown_program(optimised), limit, sets_aside=True
        )

    highest, lowest = choose(sys.maxsize).promised, choose(0).promised
    over = rises = 0
    least, shares, before = sys.maxsize, [], 0.0
    for number in reversed(range(BUDGETS)):
        limit = lowest + (highest - lowest) * number // (BUDGETS - 1)
        start = perf_counter()
        found = choose(limit)
        seconds = perf_counter() - start
        fitted = tb.fit(function, limit, optimised=optimised)
        step = tb.jit(fitted) if optimised else fitted
        taken = measured_peak(step, *arguments)
        time = min(_seconds(step, arguments) for _ in range(5))
        before = before or time
        over += not taken <= found.promised <= limit
        rises += number < BUDGETS - 1 and found.after.flops < least
        least = found.after.flops
        shares.append(taken / limit)
        print(
            f"{name}: limit {limit}, promised {found.promised}, measured {taken}, "
            f"{taken / limit:.3f} of the limit; {len(found.chosen)} of {len(found.calls)} calls again, "
            f"FLOPs {found.after.flops / found.before.flops:.3f} and time {time / before:.2f} of those without; "
            f"chosen in {seconds:.2f} s",
            flush=True,
        )
    print(
        f"{name}: above the promise or the limit {over} times of {BUDGETS}, {min(shares):.2f} to {max(shares):.2f} of "
        f"the limit; fewer FLOPs with a lower limit {rises} times",
        flush=True,
    )
    return over, rises


def _seconds(step: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    start = perf_counter()
    step(*arguments)
    return perf_counter() - start


def main() -> None:
    """Print the figures that are asked for."""
    asked = sys.argv[1:] or ["decoder", "chain"]
    if not {*asked} <= {"decoder", "chain", "budgets"}:
        sys.exit(f"expected decoder, chain or budgets, got {' '.join(asked)}")
    if "decoder" in asked:
        fit_decoder()
    if "chain" in asked:
        fit_chain()
    if "budgets" in asked:
        fit_budgets()


if __name__ == "__main__":
    main()
