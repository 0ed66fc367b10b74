"""Nested tensors: mapped, moved, saved and loaded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


def doubled(x: Tensor) -> Tensor:
    return x * 2


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y


tree = {"weight": tb.ones((2, 3)), "bias": tb.zeros(3)}
assert_type(tb.tree_map(doubled, tree), dict[str, Tensor])
assert_type(tb.tree_map(added, tree, tree), dict[str, Tensor])
assert_type(tb.backend_copy(tree, "binary"), dict[str, Tensor])
assert_type(tree["bias"].backend_copy("binary"), Tensor)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tree.safetensors"
    tb.save(path, tree)
    loaded = tb.load(path)
    assert_type(loaded, Tensor | dict[str, Tensor])
    assert isinstance(loaded, dict)
    assert_type(loaded["weight"], Tensor)
    assert loaded["weight"].shape == (2, 3)
