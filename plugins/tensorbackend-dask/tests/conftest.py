"""Every test verifies payloads against their templates. Dask computes in this thread unless a test says otherwise."""

import os
from collections.abc import Iterator

import dask
import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")


@pytest.fixture(autouse=True)
def in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield
