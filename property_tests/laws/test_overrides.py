"""Composites that a backend overrides: the backend's method and the default both agree with the reference."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.protocol import Backend
from tensorbackend.protocol.callbacks import own_method
from tensorbackend.testing import Invocation, calls, check, judge, profile
from tensorbackend.testing.divergences import DIVERGENCES

COMPOSITES = {name: spec.callback for name, spec in OPS.items() if spec.kind == "composite"}


DOUBLING = next(row for row in DIVERGENCES if "cumulative_prod" in row.ops)._replace(
    ops=("cumulative_prod",),
    device="",
    witness=Invocation("cumulative_prod", (tb.tensor([1j, 1j, complex(0, math.inf)], backend="binary"),), {"axis": 0}),
)
"""The row of the default of `cumulative_prod`, which multiplies in an order of its own too."""


def overridden(backend: type[Backend]) -> list[str]:
    """Return the names of the composites that the backend implements by a method of its own."""
    return sorted(name for name, callback in COMPOSITES.items() if own_method(backend(), callback) is not None)


def without_overrides(backend: type[Backend]) -> type[Backend]:
    """Return the backend without its methods for composites, so that the defaults run."""
    gone = {COMPOSITES[name]: getattr(Backend, COMPOSITES[name], None) for name in overridden(backend)}
    own = {"name": f"plain_{backend.name}", "dispatch_priority": 1, "divergences": lambda self: [DOUBLING]}
    return type(f"Plain{backend.__name__}", (backend,), own | gone)


CASES = [(backend, name) for backend in (NumpyBackend, BinaryBackend) for name in overridden(backend)]


@pytest.mark.parametrize(("backend", "name"), CASES, ids=[f"{backend.name}-{name}" for backend, name in CASES])
def test_override_and_default_agree(backend: type[Backend], name: str) -> None:
    plain = without_overrides(backend)()
    assert own_method(plain, COMPOSITES[name]) is None

    @profile(12)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]))
    def agrees(call: Invocation) -> None:
        check(call, backend())
        check(call, plain)

    agrees()


@pytest.mark.parametrize("backend", [NumpyBackend, BinaryBackend])
def test_the_default_still_differs_where_its_row_says(backend: type[Backend]) -> None:
    assert judge(DOUBLING.witness, backend()).divergence is None
    assert judge(DOUBLING.witness, without_overrides(backend)()).divergence is DOUBLING


@pytest.mark.parametrize("backend", [NumpyBackend, BinaryBackend])
def test_the_default_multiplies_by_nothing_else(backend: type[Backend]) -> None:
    """Times 1 a complex infinity would be NaN in one part."""
    x = tb.tensor([complex(0, math.inf), 0], backend=without_overrides(backend)())
    assert tb.cumulative_prod(x).tolist()[0] == complex(0, math.inf)
    assert tb.cumulative_prod(tb.flip(x), reverse=True).tolist()[1] == complex(0, math.inf)


@pytest.mark.parametrize("backend", [NumpyBackend, BinaryBackend])
def test_the_default_of_solve_gives_nan_for_a_complex_matrix_that_is_not_finite(backend: type[Backend]) -> None:
    matrices = [[[math.nan, 0j], [0j, 20]], [[1j, 0j], [0j, 20]]]
    right = [[0j], [1j]]
    call = Invocation("solve", (tb.tensor(matrices), tb.tensor(right)), {})
    check(call, without_overrides(backend)())


def test_both_backends_override_some() -> None:
    assert {"softmax", "var", "cumulative_sum"} <= set(overridden(NumpyBackend))
    assert {"hypot", "log2", "cumulative_sum"} <= set(overridden(BinaryBackend))
