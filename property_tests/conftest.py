"""What JAX compiled for an op is given up after it: the programs of all ops and shapes would fill the memory."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _compiled_programs_are_given_up() -> Iterator[None]:
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
