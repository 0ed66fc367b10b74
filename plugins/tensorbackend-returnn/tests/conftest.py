"""Payloads are verified against their templates in every test; RETURNN's backend is PyTorch's after each."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("RETURNN_DISABLE_TF", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest
import returnn.frontend as rf

import tensorbackend_returnn

OVER = ("numpy", "jax", "binary")
"""The backends over which the adapter is tested; a plugin's is as good as they are by its own tests."""


@pytest.fixture(params=OVER)
def over(request: pytest.FixtureRequest) -> str:
    """The name of a backend of ours."""
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """RETURNN computes with PyTorch before each test and after it."""
    rf.select_backend_torch()
    rf.init_forward_step_run_ctx(epoch=1, step=0)
    yield
    tensorbackend_returnn.TensorBackend.close_tape()
    rf.select_backend_torch()
