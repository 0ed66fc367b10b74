"""Every test verifies payloads against templates; XLA compiles quickly, as results are compared with a tolerance."""

import gc
import os

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

gc.set_threshold(50_000, 20, 50)  # as in the conftest of the whole project


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from later garbage collections."""
    gc.freeze()
