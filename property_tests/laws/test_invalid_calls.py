"""Invalid calls of every op raise one error, the same in a dry run and on each backend, before any callback runs."""

from __future__ import annotations

import os
from inspect import unwrap
from typing import Any

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.testing import Invocation, check_mistake, invalid_calls, names, profile
from tensorbackend.testing.source import public

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
# Callbacks that may run while a wrapper still checks its arguments: they convert Python numbers and dtypes.
PREPARING = {"constant", "as_type"}


def _refuse(self: object, *inputs: object, **options: object) -> Any:
    raise AssertionError("a callback was reached")


Untouched: type[BinaryBackend] = type(
    "Untouched",
    (BinaryBackend,),
    {"name": "untouched_by_mistakes", "dispatch_priority": 1, **dict.fromkeys({*CALLBACKS} - PREPARING, _refuse)},
)


def declared(name: str) -> bool:
    """Return whether the public function is the op itself, not a wrapper that may compute before it calls the op."""
    return name in OPS and unwrap(public(name)) is OPS[name].function


@pytest.mark.parametrize("name", names())
def test_a_mistake_is_the_same_everywhere(name: str) -> None:
    backends: list[tb.Backend] = [tb.get_backend(backend) for backend in BACKENDS]
    if declared(name):
        backends.append(Untouched())

    @profile(3)
    @given(invalid_calls(name))
    def raises(call: Invocation) -> None:
        for backend in backends:
            check_mistake(call, backend)

    raises()
