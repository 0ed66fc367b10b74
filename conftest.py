"""The setup of all tests: checked payloads, errors with all their frames, fewer garbage collections."""

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("TENSORBACKEND_TRACEBACK", "full")

# Many long-lived objects exist: templates, plans and examples. With Python's default thresholds, the garbage collector
# would take an eighth of the processor time to visit them.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from later garbage collections."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Collects what tests left, as its finalizers may warn, and excludes the rest from pytest's own collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a decorator that compiles a function to one program on JAX, for tests on all backends.

    Eagerly, JAX compiles each op for each shape, which takes a tenth of a second.
    """
    import tensorbackend as tb

    return tb.jit if request.node.callspec.params["backend"] == "jax" else lambda function: function
