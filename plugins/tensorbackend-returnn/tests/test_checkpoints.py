"""Checkpoints that PyTorch's model and ours exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import returnn.frontend as rf
import tensorbackend as tb
import torch
from returnn.tensor import Dim
from returnn.torch.frontend.bridge import rf_module_to_pt_module

import tensorbackend_returnn
from tensorbackend_returnn import load_checkpoint, save_checkpoint


class Network(rf.Module):
    """A linear layer and a batch norm, whose running statistics are stored as well."""

    def __init__(self, size: int = 2) -> None:
        super().__init__()
        inputs, outputs = Dim(3, name="inputs"), Dim(size, name="outputs")
        self.layer, self.norm = rf.Linear(inputs, outputs), rf.BatchNorm(outputs, use_mask=False)


def arrays(model: Any) -> dict[str, Any]:
    raw = {name: held.raw_tensor.detach() for name, held in model.named_parameters()}
    return {name: x.numpy().copy() if isinstance(x, torch.Tensor) else np.array(x) for name, x in raw.items()}


def test_a_model_of_pytorch_goes_on_with_ours_and_back(tmp_path: Path, over: str) -> None:
    theirs = Network()
    content = {"model": rf_module_to_pt_module(theirs).state_dict(), "epoch": 3, "step": 70}
    torch.save(content, tmp_path / "theirs.pt")
    tensorbackend_returnn.select_backend(over)
    ours = Network()
    assert load_checkpoint(ours, tmp_path / "theirs.pt") == (3, 70)
    expected = arrays(theirs)
    assert expected.keys() == arrays(ours).keys() == {
        *(f"layer.{name}" for name in ("weight", "bias")),
        *(f"norm.{name}" for name in ("running_mean", "running_variance", "gamma", "beta")),
    }  # fmt: skip
    for name, array in arrays(ours).items():
        np.testing.assert_array_equal(array, expected[name])
    for held in ours.parameters():
        assert held.raw_tensor.backend is tb.get_backend(over)
        held.raw_tensor = held.raw_tensor + 1
    save_checkpoint(ours, tmp_path / "ours.pt", epoch=4, step=80)
    stored = torch.load(tmp_path / "ours.pt", weights_only=True)
    assert (stored["epoch"], stored["step"]) == (4, 80)
    rf_module_to_pt_module(theirs).load_state_dict(stored["model"], strict=True)
    for name, array in arrays(theirs).items():
        np.testing.assert_array_equal(array, expected[name] + 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ours.pt", "theirs.pt"]


def test_a_checkpoint_of_another_model_leaves_this_one_unchanged(tmp_path: Path) -> None:
    tensorbackend_returnn.select_backend("numpy")
    ours = Network()
    before = arrays(ours)
    save_checkpoint(Network(size=5), tmp_path / "wider.pt")
    with pytest.raises(
        tb.errors.ArgumentError, match=r"expected the shape \(3, 2\) of 'layer.weight', got shape=\(3, 5\)"
    ):
        load_checkpoint(ours, tmp_path / "wider.pt")
    save_checkpoint(ours.layer, tmp_path / "layer.pt")
    with pytest.raises(tb.errors.ArgumentError, match=r"got missing or unknown=\['bias', 'layer.bias'"):
        load_checkpoint(ours, tmp_path / "layer.pt")
    for name, array in arrays(ours).items():
        np.testing.assert_array_equal(array, before[name])
