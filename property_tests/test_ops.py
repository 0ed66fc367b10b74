"""Every op on every installed backend against BinaryBackend: values within ulps, templates, names and errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from resource import RUSAGE_SELF, getrusage
from zlib import crc32

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from tensorbackend.dtypes import ALL_DTYPES, NARROW_DTYPES, DType
from tensorbackend.testing import Invocation, calls, has_generator, judge, names, profile, takes_narrow

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
NAMES = names()
# By default one test per op draws a dtype for each example; if set, each dtype has its own test with as many examples.
EACH = os.environ.get("TENSORBACKEND_EACH_DTYPE", "0") != "0"
DTYPES = [[dtype] for dtype in ALL_DTYPES] if EACH else [list(ALL_DTYPES)]
# XLA takes a tenth of a second to compile each op for each template. By default such a backend gets one call per op, of
# half of the ops with floats and of the others with other dtypes, and more if the reference refuses it.
COMPILED: set[str] = set() if "TENSORBACKEND_EXAMPLES" in os.environ or EACH else {"jax"}
FAMILIES = [
    [dtype for dtype in ALL_DTYPES if dtype.is_floating],
    [dtype for dtype in ALL_DTYPES if not dtype.is_floating],
]
# A file to which the largest distances are appended; docs/tables.py makes a page of them.
MEASURED = os.environ.get("TENSORBACKEND_MEASURED")


@pytest.fixture(autouse=True)
def _memory_is_bounded() -> Iterator[None]:
    """Clear what JAX compiled when the memory of the process grows large, as in a run of many examples."""
    yield
    if "jax" in sys.modules and getrusage(RUSAGE_SELF).ru_maxrss > 4 << 20:  # KiB
        sys.modules["jax"].clear_caches()


def of(name: str, dtypes: Sequence[DType]) -> st.SearchStrategy[tuple[DType, Invocation]]:
    """Random calls of an op, each with its dtype."""
    options = [st.tuples(st.just(dtype), calls(name, dtype)) for dtype in dtypes]
    if takes_narrow(name) and not EACH:  # as one dtype more
        options.append(st.one_of([st.tuples(st.just(dtype), calls(name, dtype)) for dtype in NARROW_DTYPES]))
    return st.one_of(options)


def drawn(name: str, dtypes: Sequence[DType], number: int) -> list[tuple[DType, Invocation]]:
    """Return the call with a number, in a list, the same in each run; an empty list if there are fewer calls.

    The call with number 0 is the simplest one, most often of a scalar.
    """
    draws: list[tuple[DType, Invocation]] = []

    @seed(crc32(name.encode()))  # else all ops would have one dtype
    @settings(profile(number + 1), derandomize=False, database=None)
    @given(of(name, dtypes))
    def draw(call: tuple[DType, Invocation]) -> None:
        draws.append(call)

    with suppress(Unsatisfiable):
        draw()
    return draws[number : number + 1]


@pytest.mark.parametrize("dtypes", DTYPES, ids=lambda dtypes: str(dtypes[0]) if EACH else "all")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_the_reference(backend: str, name: str, dtypes: list[DType]) -> None:
    farthest: dict[str, float] = {}

    def agree(dtype: DType, call: Invocation) -> bool:
        """Compare with the reference; return whether the reference accepts the call."""
        verdict = judge(call, backend)
        farthest[dtype.name] = max(verdict.ulps, farthest.get(dtype.name, 0))
        return not verdict.refused

    if backend in COMPILED:
        family = FAMILIES[crc32(name.encode()) % len(FAMILIES)]  # the same in each run
        taken = [agree(*call) for call in drawn(name, family, 1)]
        if not any(taken):
            assert [agree(*call) for number in (2, 3) for family in FAMILIES for call in drawn(name, family, number)]
    else:

        @profile(5)
        @given(of(name, dtypes))
        def agrees(drawn: tuple[DType, Invocation]) -> None:
            agree(*drawn)

        agrees()
    if MEASURED:
        with open(MEASURED, "a") as file:
            file.write(json.dumps({"backend": backend, "op": name, "ulps": farthest}) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_generator(name: str) -> None:
    assert has_generator(name), f"give {name} a generator of calls in tensorbackend/testing/generators/"
