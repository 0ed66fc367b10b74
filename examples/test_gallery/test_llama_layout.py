"""The number of parameters that its makers state, bytes by hand, and products as PyTorch counts them without data."""

import pytest
import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

import tensorbackend as tb

from .conftest import run


def forward(layers: int, batch: int, time: int) -> None:
    """Apply the model to tensors without data."""
    x = torch.empty(batch * time, 4096, device="meta")
    for _ in range(layers):
        query = x @ torch.empty(4096, 4096, device="meta")
        key, value = (x @ torch.empty(4096, 1024, device="meta") for _ in range(2))
        query = query.view(batch, time, 8, 4, 128).permute(0, 2, 3, 1, 4)
        shared = (y.view(batch, time, 8, 1, 128).permute(0, 2, 3, 1, 4) for y in (key, value))
        key, value = (y.expand(-1, -1, 4, -1, -1) for y in shared)
        mixed = torch.softmax(query @ key.mT, dim=-1) @ value
        x = x + mixed.permute(0, 3, 1, 2, 4).reshape(batch * time, 4096) @ torch.empty(4096, 4096, device="meta")
        gate, up = (x @ torch.empty(4096, 14336, device="meta") for _ in range(2))
        x = x + (functional.silu(gate) * up) @ torch.empty(14336, 4096, device="meta")
    x @ torch.empty(4096, 128256, device="meta")


def test_the_figures_are_those_of_others() -> None:
    values, printed = run("llama_layout", "numpy")
    assert values["count"] == 8_030_261_248  # as stated with the model
    assert "fits into 80 GB: False" in printed

    words = tb.template((1, 512), "s64", ("batch", "time"))
    report = tb.dry_run(values["loss"], values["few"], words, words)
    with FlopCounterMode(display=False) as counter:
        forward(2, 1, 512)
    assert report.flops == pytest.approx(counter.get_total_flops(), rel=0.01)

    # Parameters in bfloat16 and two means of Adam in float32.
    step = tb.dry_run(*values["arguments"])
    assert step.eager.timeline.parameters == pytest.approx(8_030_261_248 * (2 + 4 + 4), rel=1e-4)
    assert values["on_mesh"].peak > 8_030_261_248 * 2 * 10 / 2, "old and new ones, on two devices"


def test_the_report_is_the_same_beside_jax() -> None:
    assert run("llama_layout", "numpy", LAYERS=2)[1] == run("llama_layout", "jax", LAYERS=2)[1]
