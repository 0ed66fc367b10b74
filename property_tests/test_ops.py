"""Every op on every installed backend against BinaryBackend: values in ulps, templates, names and errors."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.opspec import OPS
from tensorbackend.testing import GENERATORS, Invocation, calls, check, has_generator

# The same examples every time, unless a number of them is asked for: then random ones.
EXAMPLES = os.environ.get("TENSORBACKEND_EXAMPLES")
BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
profile = settings(
    max_examples=int(EXAMPLES or 60),
    deadline=None,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
NAMES = sorted(
    {name for name, spec in OPS.items() if spec.function.__module__.startswith("tensorbackend.")} | set(GENERATORS)
)


# A number of examples is for each dtype; the fixed ones go through the dtypes in turn.
DTYPES = [[dtype] for dtype in ALL_DTYPES] if EXAMPLES else [list(ALL_DTYPES)]


@pytest.mark.parametrize("dtypes", DTYPES, ids=lambda dtypes: str(dtypes[0]) if EXAMPLES else "")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_the_reference(backend: str, name: str, dtypes: list[DType]) -> None:
    @profile
    @given(st.sampled_from(dtypes).flatmap(lambda dtype: calls(name, dtype)))
    def agrees(call: Invocation) -> None:
        check(call, backend)

    agrees()


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_generator(name: str) -> None:
    assert has_generator(name), f"give {name} a generator of calls in tensorbackend/testing/generators.py"
