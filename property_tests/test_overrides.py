"""Composites that a backend overrides: the backend's method and the default both agree with the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.opspec import OPS
from tensorbackend.protocol import Backend
from tensorbackend.protocol.core import own_method
from tensorbackend.testing import Invocation, calls, check, profile

COMPOSITES = {name: spec.callback for name, spec in OPS.items() if spec.kind == "composite"}


def overridden(backend: type[Backend]) -> list[str]:
    """Return the names of the composites that the backend implements by a method of its own."""
    return sorted(name for name, callback in COMPOSITES.items() if own_method(backend(), callback) is not None)


def without_overrides(backend: type[Backend]) -> type[Backend]:
    """Return the backend without its methods for composites, so that the defaults run."""
    gone = {COMPOSITES[name]: getattr(Backend, COMPOSITES[name], None) for name in overridden(backend)}
    return type(
        f"Plain{backend.__name__}", (backend,), {"name": f"plain_{backend.name}", "dispatch_priority": 1, **gone}
    )


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


def test_both_backends_override_some() -> None:
    assert {"softmax", "var", "cumulative_sum"} <= set(overridden(NumpyBackend))
    assert {"hypot", "log2", "cumulative_sum"} <= set(overridden(BinaryBackend))
