"""What every test runs with: verified payloads, errors with all of their frames, few collections of garbage."""

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("TENSORBACKEND_TRACEBACK", "full")

# Templates, plans and examples are many objects that live on: at Python's own thresholds an eighth of the processors'
# time goes by in looking at them.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """Leaves modules and tests, which live to the end, out of all later collections of garbage."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Collects what the tests left, whose finalizers may warn, and leaves the rest out of pytest's own collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A decorator that makes a function one program on JAX, for a test of all backends.

    Op by op JAX compiles each op for each shape, which takes a tenth of a second.
    """
    import tensorbackend as tb

    return tb.jit if request.node.callspec.params["backend"] == "jax" else lambda function: function
