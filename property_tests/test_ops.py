"""Every op on every installed backend against BinaryBackend: values in ulps, templates, names and errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from resource import RUSAGE_SELF, getrusage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.testing import Invocation, calls, check, has_generator, names, profile

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
# XLA compiles each op for each shape, which takes a tenth of a second.
FEWER = {"jax": 5}
NAMES = names()
# Every example draws a dtype, or each dtype has its own test with so many examples.
EACH = os.environ.get("TENSORBACKEND_EACH_DTYPE", "0") != "0"
DTYPES = [[dtype] for dtype in ALL_DTYPES] if EACH else [list(ALL_DTYPES)]
# A file to which the greatest distances are appended, which docs/tables.py makes a page of.
MEASURED = os.environ.get("TENSORBACKEND_MEASURED")


@pytest.fixture(autouse=True)
def _memory_is_bounded() -> Iterator[None]:
    """What JAX compiled is given up where it fills the memory, as in a run of many examples."""
    yield
    if "jax" in sys.modules and getrusage(RUSAGE_SELF).ru_maxrss > 4 << 20:  # KiB
        sys.modules["jax"].clear_caches()


@pytest.mark.parametrize("dtypes", DTYPES, ids=lambda dtypes: str(dtypes[0]) if EACH else "all")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_the_reference(backend: str, name: str, dtypes: list[DType]) -> None:
    farthest: dict[str, float] = {}

    @profile(FEWER.get(backend, 25))
    @given(st.one_of([st.tuples(st.just(dtype), calls(name, dtype)) for dtype in dtypes]))
    def agrees(drawn: tuple[DType, Invocation]) -> None:
        dtype, call = drawn
        farthest[dtype.name] = max(check(call, backend), farthest.get(dtype.name, 0))

    agrees()
    if MEASURED:
        with open(MEASURED, "a") as file:
            file.write(json.dumps({"backend": backend, "op": name, "ulps": farthest}) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_generator(name: str) -> None:
    assert has_generator(name), f"give {name} a generator of calls in tensorbackend/testing/generators/"
