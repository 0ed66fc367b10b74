"""Fixtures: every test checks payloads against their templates, and PhiML's settings are reset after it."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ.setdefault("TENSORBACKEND_CHECK", "1")

import pytest
from phiml.backend import NUMPY, set_global_default_backend, set_global_precision

import tensorbackend_phiml

OVER = ("numpy", "jax", "binary")
"""The backends over which the adapter is tested; plugins are left out, as their own tests check them."""


@pytest.fixture(params=OVER)
def b(request: pytest.FixtureRequest) -> tensorbackend_phiml.TensorBackend:
    """The adapter over each backend, with a fixed seed."""
    adapter = tensorbackend_phiml.backend(request.param)
    adapter.seed(0)
    return adapter


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """Reset PhiML's precision and default backend after each test."""
    yield
    set_global_precision(32)
    set_global_default_backend(NUMPY)
