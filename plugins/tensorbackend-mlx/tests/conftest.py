"""Verify payloads against their templates in every test."""

import gc
import os

os.environ.setdefault("TENSORBACKEND_CHECK", "1")

gc.set_threshold(50_000, 20, 50)  # as in the conftest of the whole project


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from later garbage collections."""
    gc.freeze()
