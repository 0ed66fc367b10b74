"""Predicted peaks of ten modules of PyTorch next to what NumPy takes, and to PyTorch's own tracker.

`python plugins/tensorbackend-onnx/benchmarks/modules.py [name ...]` takes the gradient of the mean of squares of a
module's outputs, with random weights and in evaluation mode: what a dry run says in eager order and optimised, what
NumPy takes by `tracemalloc`, and what PyTorch's memory tracker says of its own gradient; each with its parameters.
PyTorch's default kernel of attention keeps no weights, and computes them again; the one that is written out keeps them.
`--alive` adds what is alive at the eager peak. It needs torchvision and transformers as well.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import tensorbackend as tb
import torch
from torch import Tensor, nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from tensorbackend_onnx import from_torch

Case = tuple[nn.Module, Tensor]
"""A module and an example."""


class First(nn.Module):
    """The first result of a module that returns several."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.module(x)[0]
        return result


def of_torchvision(name: str, *shape: int, **options: Any) -> Case:
    """Return an image model without published weights."""
    import torchvision

    return torchvision.models.get_model(name, weights=None, **options), torch.randn(*shape)


def of_transformers(name: str, batch: int, time: int, **options: Any) -> Case:
    """Return a language model of 4 layers of width 256, and tokens."""
    import transformers

    config = getattr(transformers, f"{name}Config")(**options)
    model = getattr(transformers, f"{name}Model")(config)
    return First(Unnamed(model)), torch.randint(0, config.vocab_size, (batch, time))


class Unnamed(nn.Module):
    """A language model that returns a tuple."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor) -> Any:
        return self.model(words, return_dict=False, use_cache=False)


WIDE: dict[str, Any] = {
    "vocab_size": 2000,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}


def llama() -> Case:
    """Return a Llama of 8 heads of queries, which share 2 of keys and values."""
    options = {**WIDE, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 688}
    return of_transformers("Llama", 4, 128, **options)


def vit() -> nn.Module:
    """Return a vision transformer of 4 layers of width 256, and patches of 4 x 4."""
    from torchvision.models import VisionTransformer

    module: nn.Module = VisionTransformer(64, 4, 4, 4, 256, 1024)
    return module


def block(before: int, after: int) -> nn.Module:
    """Return a convolution with its normalisation and activation."""
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU())


class UNet(nn.Module):
    """Three scales, each joined to its own on the way up."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([block(3, 16), block(16, 32), block(32, 64)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.joined = nn.ModuleList([block(64, 32), block(32, 16)])
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        fine = self.down[0](x)
        middle = self.down[1](functional.max_pool2d(fine, 2))
        x = self.down[2](functional.max_pool2d(middle, 2))
        for up, joined, beside in zip(self.up, self.joined, (middle, fine), strict=True):
            x = joined(torch.cat([up(x), beside], dim=1))
        result: Tensor = self.head(x)
        return result


class ConformerLayer(nn.Module):
    """Two halves of feed-forward steps around attention and a gated convolution over time (Gulati et al. 2020)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.last = (
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
            for _ in range(2)
        )
        self.before, self.attention = nn.LayerNorm(width), nn.MultiheadAttention(width, 4, batch_first=True)
        self.between, self.gate = nn.LayerNorm(width), nn.Conv1d(width, 2 * width, 1)
        self.depth, self.norm = nn.Conv1d(width, width, 15, padding=7, groups=width), nn.BatchNorm1d(width)
        self.point, self.after = nn.Conv1d(width, width, 1), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.first(x)
        rows = self.before(x)
        x = x + self.attention(rows, rows, rows, need_weights=False)[0]
        gated = functional.glu(self.gate(self.between(x).transpose(1, 2)), dim=1)
        x = x + self.point(functional.silu(self.norm(self.depth(gated)))).transpose(1, 2)
        result: Tensor = self.after(x + 0.5 * self.last(x))
        return result


class Detector(nn.Module):
    """Separable convolutions, and scores and boxes on three scales."""

    def __init__(self) -> None:
        super().__init__()
        widths = (16, 32, 64, 128, 128)
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.body = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(before, before, 3, 2, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(),
                nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU6(),
            )
            for before, after in pairwise(widths)
        )  # fmt: skip
        self.heads = nn.ModuleList(nn.Conv2d(width, 6 * (4 + 21), 3, padding=1) for width in widths[2:])

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        found: list[Tensor] = []
        for part in self.body:
            x = part(x)
            if len(found) < len(self.heads) and x.shape[1] >= 64:
                found.append(self.heads[len(found)](x).flatten(2).transpose(1, 2))
        return torch.cat(found, dim=1)


def autoencoder() -> nn.Module:
    """Return four convolutions that divide sizes by two, and four transposed ones that multiply them."""
    widths = (3, 16, 32, 64, 128)
    steps = [*pairwise(widths)]
    down = (part for before, after in steps for part in (nn.Conv2d(before, after, 3, 2, 1), nn.ReLU()))
    up = (
        part
        for after, before in reversed(steps)
        for part in (nn.ConvTranspose2d(before, after, 4, 2, 1), nn.ReLU() if after > 3 else nn.Sigmoid())
    )
    return nn.Sequential(*down, *up)


CASES: dict[str, Callable[[], Case]] = {
    "ResNet-18": lambda: of_torchvision("resnet18", 8, 3, 128, 128),
    "BERT": lambda: of_transformers("Bert", 4, 128, **WIDE),
    "GPT-2": lambda: of_transformers("GPT2", 4, 128, vocab_size=2000, n_positions=128, n_embd=256, n_layer=4, n_head=4),
    "U-Net": lambda: (UNet(), torch.randn(8, 3, 64, 64)),
    "LSTM": lambda: (First(nn.LSTM(64, 128, num_layers=2)), torch.randn(64, 64, 64)),
    "ViT": lambda: (vit(), torch.randn(8, 3, 64, 64)),
    "Conformer": lambda: (nn.Sequential(*[ConformerLayer(128) for _ in range(4)]), torch.randn(4, 128, 128)),
    "detector": lambda: (Detector(), torch.randn(8, 3, 128, 128)),
    "autoencoder": lambda: (autoencoder(), torch.randn(16, 3, 64, 64)),
    "grouped heads": llama,
}


def peak_of_pytorch(module: nn.Module, x: Tensor, *kernels: SDPBackend) -> int:
    """Return the highest memory of a gradient by PyTorch's memory tracker, with attention by certain kernels."""
    module.zero_grad()
    tracker = MemTracker()
    tracker.track_external(module, x)
    with tracker, sdpa_kernel([*kernels]) if kernels else nullcontext():
        module(x).square().mean().backward()
    return sum(int(kinds["Total"]) for kinds in tracker.get_tracker_snapshot("peak").values())


def main() -> None:
    """Print a row for each module."""
    fit: dict[str, Any] = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "fit.py"))
    shows = "--alive" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--alive"] or [*CASES]
    print("module | dry run | optimised | NumPy | PyTorch, written attention | PyTorch, MB | dry run by the others")
    for name in names:
        torch.manual_seed(0)
        module, example = CASES[name]()
        function = from_torch(module.eval(), example, backend="numpy")

        def loss(parameters: Any, x: tb.Tensor, function: Any = function) -> tb.Tensor:
            return tb.mean(tb.square(function.apply(parameters, x)))

        x = tb.asarray(example.numpy(), backend="numpy")
        report = tb.dry_run(loss, function.parameters, x, gradient=True)
        taken = fit["measured_peak"](tb.value_and_grad(loss), function.parameters, x)
        others = taken, peak_of_pytorch(module, example, SDPBackend.MATH), peak_of_pytorch(module, example)
        peaks = report.peak.memory, report.optimised.peak.memory, *others
        ratios = [f"{report.peak.memory / other:.2f}" for other in others]
        print(name, *[f"{nbytes / 1e6:.1f}" for nbytes in peaks], *ratios, sep=" | ", flush=True)
        if shows:
            print(*[f"  {' | '.join(row)}" for row in report.peak.table()[:12]], sep="\n", flush=True)


if __name__ == "__main__":
    main()
