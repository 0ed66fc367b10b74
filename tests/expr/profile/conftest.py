"""Forget the kernels that other tests left: a profile begins and ends with a pass over all kernels."""

import pytest

from tensorbackend.dispatch.watching import forget


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> None:
    forget()
