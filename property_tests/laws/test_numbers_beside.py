"""Every op with some of its operands without axes on another backend: they follow the others, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.errors import BackendError, TensorBackendError
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.compare import assert_equal


class Elsewhere(tb.NumpyBackend):
    """NumPy once more, as another backend of the same priority."""

    name = "elsewhere"


def results(call: Invocation) -> Any:
    """The results of a call as a list, or the class of its error."""
    try:
        result = call.run()
    except TensorBackendError as error:
        return type(error)
    return [result] if isinstance(result, tb.Tensor) else list(result)


def has_several_tensors(op: str) -> bool:
    """Whether an op may take more than one tensor; also for what is no op and may."""
    roles = [each.role for each in OPS[op].parameters if each.role != "option"] if op in OPS else []
    return roles != ["tensor"]


@pytest.mark.parametrize("op", [*filter(has_several_tensors, names())])
def test_numbers_follow_the_other_operands(op: str) -> None:
    elsewhere = Elsewhere()

    @profile(12)
    @given(calls(op, tb.float32))
    def agrees(call: Invocation) -> None:
        call = call.on("numpy")
        with_axes = [bool(x.shape) for x in call.tensors]
        if not (any(with_axes) and not all(with_axes)):
            return
        alone = results(call)
        moved = call.mapped(lambda x: x.backend_copy(elsewhere) if x.shape else x)
        for _ in range(3):  # the full path, then what remembers it
            found = results(moved)
            if isinstance(alone, type):
                assert found is alone
                continue
            for one, other in zip(found, alone, strict=True):
                assert one.backend is elsewhere
                assert_equal(one.backend_copy("numpy"), other, call=call)

    agrees()


@pytest.mark.parametrize("op", ["add", "where", "concat", "matmul", "searchsorted", "conv", "stack", "indexed_add"])
def test_tensors_with_axes_stay(op: str) -> None:
    elsewhere = Elsewhere()
    refused = []

    @profile(12)
    @given(calls(op, tb.float32))
    def refuses(call: Invocation) -> None:
        places = [place for place, x in enumerate(call.tensors) if x.shape]
        if len(places) < 2 or isinstance(results(call.on("numpy")), type):
            return
        moved = [x.backend_copy(elsewhere if place == places[0] else "numpy") for place, x in enumerate(call.tensors)]
        with pytest.raises(BackendError, match="expected tensors on one backend"):
            call.with_tensors(moved).run()
        refused.append(call)

    refuses()
    assert refused
