"""Payloads are verified against their templates in every test; PhiML's precision and default are what they were."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ.setdefault("TENSORBACKEND_CHECK", "1")

import pytest
from phiml.backend import NUMPY, set_global_default_backend, set_global_precision

import tensorbackend_phiml

OVER = ("numpy", "jax", "binary")
"""The backends over which the adapter is tested; a plugin's is as good as they are by its own tests."""


@pytest.fixture(params=OVER)
def b(request: pytest.FixtureRequest) -> tensorbackend_phiml.TensorBackend:
    """The adapter over a backend."""
    adapter = tensorbackend_phiml.backend(request.param)
    adapter.seed(0)
    return adapter


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """PhiML's settings are those of the process."""
    yield
    set_global_precision(32)
    set_global_default_backend(NUMPY)
