"""Every test verifies payloads against their templates. Dask computes in this thread unless a test says otherwise."""

import gc
import os
from collections.abc import Iterator

import dask
import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")

gc.set_threshold(50_000, 20, 50)  # as in the conftest of the whole project


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from later garbage collections."""
    gc.freeze()


@pytest.fixture(autouse=True)
def in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield
