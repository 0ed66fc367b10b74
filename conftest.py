"""What every test runs with: verified payloads, few collections of garbage, programs compiled once in a run."""

import gc
import os
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")

# Templates, plans and examples are many objects that live on: at Python's own thresholds an eighth of the processors'
# time goes by in looking at them.
gc.set_threshold(50_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    """Has JAX keep what it compiles in a folder of this run, for all processes: a test often compiles what another did.

    The programs are the same, to the bit. A worker has the folder of the process that started it.
    """
    if hasattr(config, "workerinput") or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = TemporaryDirectory(prefix="tensorbackend-")
    config.add_cleanup(folder.cleanup)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A decorator that makes a function one program on JAX, for a test of all backends.

    Op by op JAX compiles each op for each shape, which takes a tenth of a second.
    """
    import tensorbackend as tb

    return tb.jit if request.node.callspec.params["backend"] == "jax" else lambda function: function
