"""What every test runs with: payloads that are verified, few collections of garbage, programs compiled once in a run."""

import gc
import os
from tempfile import TemporaryDirectory

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
