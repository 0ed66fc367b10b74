"""The tensor that tests of reads and of writes by index share."""

import pytest

import tensorbackend as tb

from .indexing_cases import BACKENDS, DATA


@pytest.fixture(params=BACKENDS)
def x(request: pytest.FixtureRequest) -> tb.Tensor:
    return tb.tensor(DATA, names=("a", "b", "c"), backend=request.param)
