"""Forget the kernels of other tests, as a profile begins and ends with a pass over all kernels."""

import pytest

from tensorbackend.dispatch.watching import forget


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> None:
    forget()
