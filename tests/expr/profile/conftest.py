"""A profile begins and ends in a pass over all kernels, of which other tests leave very many."""

import pytest

from tensorbackend.dispatch.watching import forget


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> None:
    forget()
