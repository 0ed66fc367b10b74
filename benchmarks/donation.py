"""The peak of a step of Adam on `examples/transformer.py`, with its arguments donated and without.

    python benchmarks/donation.py

It prints what the dry run predicts, what NumPy takes by `tracemalloc`, and arguments, results and temporary buffers by
XLA's memory analysis on a CPU, for some sizes of the example.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import tensorbackend as tb
from tensorbackend.expr.donation import places_of, updates_early

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import transformer

SIZES = {
    "as it is: 64 features, 16 sequences of 64": (2, 64, 64, 16),
    "256 features, one sequence of 16": (2, 256, 16, 1),
    "four layers of 256 features, one sequence of 64": (4, 256, 64, 1),
}
"""Layers, features, characters of a sequence, and sequences."""

DONATED = ("model", "state")


def step(model: Any, state: Any, characters: tb.Tensor) -> Any:
    """One step of Adam, without the correction of its bias."""
    value, gradient = tb.value_and_grad(transformer.loss)(model, characters)
    first = tb.tree_map(lambda m, g: 0.9 * m + 0.1 * g, state[0], gradient)
    second = tb.tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, state[1], gradient)
    model = tb.tree_map(lambda w, m, v: w - 0.001 * m / (tb.sqrt(v) + 1e-8), model, first, second)
    return value, model, (first, second)


def arguments(backend: str) -> tuple[Any, ...]:
    """Return parameters, state and a batch, in memory of their own."""
    with tb.default_backend(backend):
        model = tb.tree_map(lambda x: x * 1.0, transformer.initial(tb.random.key(0)))
        state = tuple(tb.tree_map(tb.zeros_like, model) for _ in range(2))
        shape = (transformer.BATCH, transformer.CONTEXT + 1)
        drawn = np.random.default_rng(0).integers(0, len(transformer.ALPHABET), shape)
        return model, state, tb.asarray(drawn, names=("batch", "time"))


def on_numpy(names: tuple[str, ...]) -> int:
    """Return the most bytes that NumPy holds during a call, arguments among them, after two others."""
    compiled = tb.jit(step, donate=names)
    for _ in range(2):
        compiled(*arguments("numpy"))
    gc.collect()
    tracemalloc.start()
    try:
        given = arguments("numpy")
        gc.collect()
        tracemalloc.reset_peak()
        compiled(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def by_xla(names: tuple[str, ...]) -> int:
    """Return the bytes of arguments, results and temporary buffers of the compiled step, shared ones counted once."""
    given, graph = arguments("jax"), tb.trace(step)(*arguments("jax"))
    places = places_of(names, graph.names)
    compiled = (
        tb.JaxBackend().jitted(updates_early(graph, places), places).lower(*[x.data for x in tb.tree_leaves(given)])
    )
    memory: Any = compiled.compile().memory_analysis()
    taken = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    return int(taken - memory.alias_size_in_bytes)


def main() -> None:
    """Prints a row for each size."""
    print("| step | | predicted | NumPy | XLA |\n| --- | --- | --- | --- | --- |")
    for name, (layers, features, time, batch) in SIZES.items():
        transformer.LAYERS, transformer.WIDTH, transformer.CONTEXT, transformer.BATCH = layers, features, time, batch
        before: tuple[float, ...] = ()
        for names in ((), DONATED):
            predicted = tb.dry_run(step, *arguments("numpy"), donate=names).optimised.peak.memory
            figures = (predicted, on_numpy(names), by_xla(names))
            shares = [f" ({new / old:.2f})" for new, old in zip(figures, before, strict=True)] if before else [""] * 3
            before = before or figures
            cells = [f"{figure / 1e6:.1f} MB{share}" for figure, share in zip(figures, shares, strict=True)]
            print(f"| {name if not names else ''} | {'donated' if names else ''} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
