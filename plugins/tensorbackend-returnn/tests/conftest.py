"""Fixtures: every test checks payloads against their templates, and RETURNN computes with PyTorch after it."""

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
"""The backends over which the adapter is tested; plugins are left out, as their own tests check them."""


@pytest.fixture(params=OVER)
def over(request: pytest.FixtureRequest) -> str:
    """The name of each backend over which the adapter is tested."""
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """Select PyTorch's backend before and after each test, and close the tape after it."""
    rf.select_backend_torch()
    rf.init_forward_step_run_ctx(epoch=1, step=0)
    yield
    tensorbackend_returnn.TensorBackend.close_tape()
    rf.select_backend_torch()
