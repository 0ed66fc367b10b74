"""Peak memory against the number of layers that are computed again, of one decoder here and in PyTorch.

`python plugins/tensorbackend-onnx/benchmarks/curve.py` takes the gradient of `examples/transformer.py` with 12 layers,
and of the same decoder written for PyTorch, whose first layers go through `torch.utils.checkpoint`. It prints what a
dry run says and what NumPy takes by `tracemalloc`, and what PyTorch's memory tracker says; each with its parameters.
"""

from __future__ import annotations

import runpy
import sys
from math import inf, sqrt
from pathlib import Path
from typing import Any

import tensorbackend as tb
import torch
from tensorbackend.expr.recomputation import Selection, select_calls
from torch import Tensor, nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

LAYERS = 12


class Layer(nn.Module):
    """A layer of the example: attention with written scores, then two products, without biases."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = (nn.LayerNorm(width, bias=False) for _ in range(2))
        self.queries, self.keys, self.values, self.gathered = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        rows = self.before(x)
        shape = (*x.shape[:2], self.heads, x.shape[2] // self.heads)
        queries, keys, values = (
            part(rows).reshape(shape).transpose(1, 2) for part in (self.queries, self.keys, self.values)
        )
        scores = queries @ keys.mT / sqrt(shape[-1])
        earlier = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        mixed = torch.softmax(torch.where(earlier, scores, -inf), -1) @ values
        x = x + self.gathered(mixed.transpose(1, 2).reshape(x.shape))
        result: Tensor = x + self.down(functional.relu(self.up(self.between(x))))
        return result


class Decoder(nn.Module):
    """The example's decoder, whose first layers are computed again."""

    def __init__(self, sizes: dict[str, Any], again: int) -> None:
        super().__init__()
        width, words = sizes["WIDTH"], len(sizes["ALPHABET"])
        self.again = again
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(sizes["CONTEXT"], width))
        self.layers = nn.ModuleList(Layer(width, sizes["HEADS"]) for _ in range(LAYERS))
        self.last, self.head = nn.LayerNorm(width, bias=False), nn.Linear(width, words, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words[:, :-1]) + self.places
        for number, layer in enumerate(self.layers):
            x = checkpoint(layer, x, use_reentrant=False) if number < self.again else layer(x)
        return functional.cross_entropy(self.head(self.last(x)).flatten(0, 1), words[:, 1:].flatten())


def peak_of_pytorch(sizes: dict[str, Any], again: int) -> int:
    """Return the highest memory of a gradient by PyTorch's memory tracker."""
    torch.manual_seed(0)
    model = Decoder(sizes, again)
    words = torch.zeros(sizes["BATCH"], sizes["CONTEXT"] + 1, dtype=torch.long)
    tracker = MemTracker()
    tracker.track_external(model, words)
    with tracker:
        model(words).backward()
    return sum(int(kinds["Total"]) for kinds in tracker.get_tracker_snapshot("peak").values())


def main() -> None:
    """Print a row for each number of layers."""
    fit: dict[str, Any] = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "fit.py"))
    step, arguments = fit["decoder"](tb.checkpoint), fit["decoder_arguments"](LAYERS)
    sizes = vars(sys.modules["transformer"])
    print("layers again | dry run | NumPy by tracemalloc | dry run, compiled | PyTorch by its tracker, MB")
    for again in range(0, LAYERS + 1, 2):
        with select_calls(Selection(range(again))):
            report = tb.dry_run(step, *arguments)

        def chosen(*arguments: Any, again: int = again) -> Any:
            with select_calls(Selection(range(again), keeps_bodies=False)):
                return step(*arguments)

        taken = fit["measured_peak"](chosen, *arguments)
        peaks = report.peak.memory, taken, report.optimised.peak.memory, peak_of_pytorch(sizes, again)
        print(again, *[f"{nbytes / 1e6:.2f}" for nbytes in peaks], sep=" | ", flush=True)


if __name__ == "__main__":
    main()
