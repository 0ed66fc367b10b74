"""Every fall-back against BinaryBackend: with only its primitive missing, and with all replaceable ones missing."""

from __future__ import annotations

from functools import cache
from graphlib import TopologicalSorter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.support import support_of
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.dispatch.fallbacks import fallbacks, missing_needs
from tensorbackend.dtypes import ALL_DTYPES, DType, bool_
from tensorbackend.errors import TensorBackendError
from tensorbackend.protocol import Backend
from tensorbackend.rules.broadcasting import result_type
from tensorbackend.testing import Invocation, calls, check, partial, profile, without
from tensorbackend.testing.minimum import minimum

PRIMITIVES = [name for name, callback in CALLBACKS.items() if not callback.optional]
CASES = [
    (spec.callback, name)
    for name, spec in OPS.items()
    if spec.kind == "primitive" and spec.function.__module__.startswith("tensorbackend.") and fallbacks(spec.callback)
]
on_each_case = pytest.mark.parametrize(("callback", "name"), CASES, ids=[name for _, name in CASES])


def check_agreement(callback: str, name: str, backend: type[Backend]) -> None:
    """Check random calls with the dtypes that the fall-backs of a primitive accept."""
    dtypes = [dtype for dtype in ALL_DTYPES if any(fallback.takes(dtype) for fallback in fallbacks(callback))]

    @profile(8)
    @given(st.one_of([calls(name, dtype) for dtype in dtypes]))
    def holds(call: Invocation) -> None:
        assume(_promoted(call) in dtypes)
        check(call, backend())

    holds()


def _promoted(call: Invocation) -> DType:
    """Return the common dtype of the operands, or the dtype of the first one if they have no common dtype."""
    templates = [x.template for x in call.tensors]
    try:
        return result_type(templates) if templates else bool_
    except TensorBackendError:
        return templates[0].dtype


@on_each_case
def test_agrees_where_it_is_missing(callback: str, name: str) -> None:
    backend = without(BinaryBackend(), callback)
    assert support_of(backend, callback) == "fall-back"
    check_agreement(callback, name, backend)


@cache
def least() -> type[Backend]:
    """Return a backend without any primitive that has a fall-back."""
    return partial(BinaryBackend(), [*minimum(), *(name for name in PRIMITIVES if not fallbacks(name))])


@on_each_case
def test_agrees_where_all_is_missing_that_has_a_fallback(callback: str, name: str) -> None:
    check_agreement(callback, name, least())


def test_no_fallback_needs_itself() -> None:
    needs = {name: {need for fallback in fallbacks(name) for need in fallback.needs} for name in PRIMITIVES}
    order = list(TopologicalSorter(needs).static_order())  # raises CycleError if fall-backs need each other
    places = {name: place for place, name in enumerate(order)}
    assert all(places[need] < places[name] for name in PRIMITIVES for need in needs[name])


@pytest.mark.parametrize("callback", [name for name in PRIMITIVES if fallbacks(name)])
def test_a_fallback_is_written_in_primitives(callback: str) -> None:
    for fallback in fallbacks(callback):
        assert fallback.needs <= set(PRIMITIVES)
        assert {
            fallback.takes(dtype)
            for other in fallbacks(callback)
            if other is not fallback
            for dtype in ALL_DTYPES
            if other.takes(dtype)
        } <= {False}


def test_what_is_missing_is_said() -> None:
    few = partial(BinaryBackend(), ["less", "multiply"])
    assert support_of(few, "greater") == "fall-back"
    assert support_of(few, "floor") == support_of(few, "svd") == "missing"
    assert missing_needs(few, fallbacks("subtract")[0]) == ["add"]
