"""Will it fit? A dry run of Llama 3 with 70 billion parameters, in bfloat16, float8 and int4, on no machine at all.

    python examples/llama.py

It generates one token after a context of 8,192: grouped-query attention with a cache of keys and values. Rotary
positions are left out, as they take neither memory nor time worth counting. Weights are templates, so nothing is
allocated. Next to each prediction stands the count by hand.
"""

from __future__ import annotations

import argparse
from typing import Any

import tensorbackend as tb

LAYERS, WIDTH, HEADS, GROUPS, HIDDEN, WORDS = 80, 8192, 64, 8, 28672, 128256
PART = WIDTH // HEADS

MATRICES = {
    "queries": (WIDTH, HEADS * PART),
    "keys": (WIDTH, GROUPS * PART),
    "values": (WIDTH, GROUPS * PART),
    "gathered": (HEADS * PART, WIDTH),
    "gate": (WIDTH, HIDDEN),
    "up": (WIDTH, HIDDEN),
    "down": (HIDDEN, WIDTH),
}
"""The matrices of a layer: (what a product contracts, what it gives)."""

FORMATS: dict[str, dict[str, Any] | None] = {
    "bfloat16": None,
    "float8_e4m3fn": {"axis": 0},
    "int4": {"axis": 0, "block": 32, "scale_dtype": "float16"},
}


def weight(shape: tuple[int, int], name: str) -> Any:
    """A matrix of weights as a template, quantised unless it is in bfloat16."""
    options = FORMATS[name]
    matrix = tb.template(shape, "bfloat16")
    return matrix if options is None else tb.quantize(matrix, name, **options)


def multiply(x: tb.Tensor, w: Any) -> tb.Tensor:
    """A product with a matrix of weights, in whichever form that is."""
    return tb.quantized_dot(x, w) if isinstance(w, tb.Quantized) else tb.matmul(x, w)


def normalised(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
    """Root-mean-square normalisation."""
    return x * tb.rsqrt(tb.mean(tb.square(x), axis=-1, keepdims=True) + 1e-5) * scale


def attention(layer: dict[str, Any], x: tb.Tensor, cache: dict[str, tb.Tensor]) -> tb.Tensor:
    """Grouped-query attention of one new token to all before it: eight heads share a cached key and value."""
    queries = tb.reshape(multiply(x, layer["queries"]), (GROUPS, HEADS // GROUPS, PART))
    new = {name: tb.reshape(multiply(x, layer[name]), (GROUPS, 1, PART)) for name in ("keys", "values")}
    keys, values = (tb.concat([cache[name][:, 1:], new[name]], axis=1) for name in ("keys", "values"))
    weights = tb.softmax(tb.matmul(queries, tb.matrix_transpose(keys)) / PART**0.5, axis=-1)
    return multiply(tb.reshape(tb.matmul(weights, values), (1, WIDTH)), layer["gathered"])


def generate(model: dict[str, Any], caches: list[dict[str, tb.Tensor]], word: tb.Tensor) -> tb.Tensor:
    """The logits of the next word."""
    x = tb.reshape(model["words"][word], (1, WIDTH))
    for layer, cache in zip(model["layers"], caches, strict=True):
        x = x + attention(layer, normalised(x, layer["before"]), cache)
        y = normalised(x, layer["between"])
        x = x + multiply(tb.nn.silu(multiply(y, layer["gate"])) * multiply(y, layer["up"]), layer["down"])
    return multiply(normalised(x, model["scale"]), model["logits"])


def templates(name: str, context: int, layers: int = LAYERS) -> tuple[Any, Any, tb.Tensor]:
    """The arguments of `generate`."""
    scale = tb.template((WIDTH,), "bfloat16")
    layer = {part: weight(shape, name) for part, shape in MATRICES.items()} | {"before": scale, "between": scale}
    model = {
        "words": tb.template((WORDS, WIDTH), "bfloat16"),
        "layers": [layer] * layers,
        "scale": scale,
        "logits": weight((WIDTH, WORDS), name),
    }
    kept = tb.template((GROUPS, context, PART), "bfloat16")
    return model, [{"keys": kept, "values": kept}] * layers, tb.template((), "int64")


def by_hand(name: str, context: int, layers: int = LAYERS) -> int:
    """The bytes of weights and caches, counted without the library."""
    elements = layers * sum(rows * columns for rows, columns in MATRICES.values()) + WIDTH * WORDS
    outputs = layers * sum(columns for _, columns in MATRICES.values()) + WORDS
    stored = {"bfloat16": 2 * elements, "float8_e4m3fn": elements + 4 * outputs, "int4": elements // 2 + elements // 16}
    plain = 2 * (WORDS * WIDTH + WIDTH + 2 * layers * WIDTH)
    return stored[name] + plain + layers * 2 * GROUPS * context * PART * 2


def main() -> None:
    """Prints a row for each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=LAYERS)
    options = parser.parse_args()
    for name in FORMATS:
        report = tb.dry_run(generate, *templates(name, options.context, options.layers))
        held, counted = report.eager.timeline.parameters, by_hand(name, options.context, options.layers)
        print(f"{name:14} {held / 1e9:7.2f} GB of weights and caches, {counted / 1e9:7.2f} by hand", end=", ")
        print(f"peak {report.peak.memory / 1e9:7.2f} GB, fits into 80 GB: {'yes' if report.fits('80GB') else 'no'}")


if __name__ == "__main__":
    main()
