"""A transformer's weights in 8 and 4 bits: what its loss becomes, and how many bytes the weights take.

    python examples/quantized.py --steps 200

It trains the decoder of `transformer.py`, and stores each matrix of weights with a scale for 32 elements along its axis
"feature". Bytes are predicted from templates alone, and measured as the memory of NumPy's arrays.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import tensorbackend as tb

sys.path.insert(0, str(Path(__file__).parent))

import transformer
from rich.console import Console

FORMATS: dict[str, dict[str, Any]] = {
    "int8": {"block": 32, "scale_dtype": "float16"},
    "mxfp8": {},
    "int4": {"block": 32, "scale_dtype": "float16"},
    "mxfp4": {},
    "nvfp4": {},
}


def stored(model: transformer.Model, dtype: str) -> tuple[transformer.Model, list[Any]]:
    """The model that a quantised one stands for, and its quantised matrices."""
    kept: list[Any] = []

    def store(weight: tb.Tensor) -> tb.Tensor:
        if weight.ndim < 2 or weight.shape[0] == 2:  # the scales of layer norms stay as they are
            return weight
        kept.append(tb.quantize(weight, dtype, axis="feature", **FORMATS[dtype]))
        return tb.dequantize(kept[-1])

    return tb.tree_map(store, model), kept


def measured_bytes(matrices: list[Any]) -> int:
    """The memory of NumPy's arrays in quantised matrices."""
    parts = [part for q in matrices for part in (q.values, q.scales, q.zeros, q.factor) if part is not None]
    return sum(part.data.nbytes for part in parts)


def run(steps: int, console: Console) -> dict[str, tuple[float, int]]:
    """For each format the loss on a part of the book and the bytes of the matrices; "float32" too."""
    with tb.default_backend("numpy"):
        model, _, _ = transformer.train("numpy", steps, console)
        count = 32 * (transformer.CONTEXT + 1)
        text = [transformer.ALPHABET.index(character) for character in transformer.TEXT[-count:]]
        batch = tb.reshape(tb.asarray(text), (32, -1)).rename("batch", "time")
        templates = tb.tree_map(lambda x: tb.template(x.shape, x.dtype, x.names), model)
        found = {"float32": (float(transformer.loss(model, batch)), 0)}
        for dtype in FORMATS:
            rounded, matrices = stored(model, dtype)
            predicted = sum(q.nbytes for q in stored(templates, dtype)[1])
            measured = measured_bytes(matrices)
            assert predicted == measured, (dtype, predicted, measured)
            full = sum(q.template.nbytes for q in matrices)
            found["float32"] = (found["float32"][0], full)
            found[dtype] = (float(transformer.loss(rounded, batch)), measured)
    return found


def main() -> None:
    """Prints a row for each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    console = Console(width=110)
    rows = run(parser.parse_args().steps, console)
    plain, full = rows["float32"]
    for dtype, (value, size) in rows.items():
        console.print(f"{dtype:8} loss {value:.4f} ({value - plain:+.4f})   {size:>8,} bytes ({size / full:.3f})")


if __name__ == "__main__":
    main()
