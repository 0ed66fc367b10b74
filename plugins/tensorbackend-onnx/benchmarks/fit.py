"""How well `tb.fit` keeps its promise for a module of PyTorch that knows nothing of checkpoints.

`python plugins/tensorbackend-onnx/benchmarks/fit.py` prints a row for each of 20 limits, as `benchmarks/fit.py` does.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import tensorbackend as tb
import torch
from torch import Tensor, nn
from torch.nn import functional

from tensorbackend_onnx import from_torch

WIDTH, WORDS, TIME, BATCH = 64, 128, 64, 8


class Layer(nn.Module):
    """A layer of a decoder, with four heads."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.joined = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], 4, WIDTH // 4)
        heads = [part.reshape(shape).transpose(1, 2) for part in self.heads(self.first(x)).chunk(3, -1)]
        seen = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(x.shape))
        result: Tensor = x + self.down(functional.gelu(self.up(self.second(x))))
        return result


class Decoder(nn.Module):
    """Four layers between an embedding and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(torch.randn(TIME, WIDTH) * 0.02)
        self.layers = nn.Sequential(*[Layer() for _ in range(4)])
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS))

    def forward(self, words: Tensor) -> Tensor:
        result: Tensor = self.head(self.layers(self.words(words) + self.places))
        return result


def main() -> None:
    """Print the rows."""
    torch.manual_seed(0)
    function = from_torch(Decoder(), torch.zeros(BATCH, TIME, dtype=torch.long))

    def loss(parameters: Any, words: tb.Tensor) -> tb.Tensor:
        return tb.mean(tb.logsumexp(function.apply(parameters, words), axis=-1))

    words = tb.reshape(tb.arange(BATCH * TIME, dtype="s64") % WORDS, (BATCH, TIME))
    fit: dict[str, Any] = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "fit.py"))
    for optimised, how in ((False, "op by op"), (True, "compiled")):
        step = tb.value_and_grad(loss)
        fit["fit_model"](f"decoder of PyTorch, {how}", step, (function.parameters, words), optimised=optimised)


if __name__ == "__main__":
    main()
