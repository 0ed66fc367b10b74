"""`vmap` of every op against a Python loop over the examples."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import DataError, TemplateDataError, TensorBackendError
from tensorbackend.expr.batching import registry
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.calls import READS_DATA, bound_of
from tensorbackend.testing.compare import assert_equal
from tensorbackend.testing.conformance import allowances

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")


def second(call: Invocation, place: int) -> tb.Tensor:
    """Return an operand of the second example: the operand of the first example, reversed if it need not be sorted."""
    x = call.tensors[place]
    ordered = [call.arguments[0], call.options.get("sorter")] if call.name == "searchsorted" else []
    return x if any(x is operand for operand in ordered) else tb.flip(x)


def called(call: Invocation, tensors: Any) -> list[tb.Tensor]:
    """Return the results of a call with other tensors, as a list."""
    result = call.with_tensors(tensors).run()
    return [result] if isinstance(result, tb.Tensor) else list(result)


def check_agreement(call: Invocation, positions: list[int | None]) -> None:
    """Check that `vmap` over some of a call's tensors gives what a Python loop gives."""
    rows: list[list[tb.Tensor]] = []
    tensors = call.tensors
    others = [
        x if at is None else second(call, place) for place, (x, at) in enumerate(zip(tensors, positions, strict=True))
    ]
    alone = [list(tensors), others]
    wide = [
        x if at is None else tb.stack([x, other], axis=at, name="example")
        for x, other, at in zip(tensors, others, positions, strict=True)
    ]
    mapped = tb.vmap(lambda *operands: called(call, operands), in_axes=tuple(positions))
    try:
        rows = [called(call, operands) for operands in alone]
    except DataError:  # an error in the data of one example; the batch may raise another one first
        return
    except TensorBackendError as error:
        expected = (type(error), TemplateDataError) if call.name in READS_DATA else type(error)
        with pytest.raises(expected):
            mapped(*wide)
        return
    try:
        batched = mapped(*wide)
    except TemplateDataError:
        assert call.name in READS_DATA
        return
    assert len(batched) == len(rows[0])
    for place, row in enumerate(rows):
        single = call.with_tensors(alone[place])
        bound = bound_of(call.name, {x.dtype for x in [*tensors, *row]})
        bound = bound._replace(ulps=2 * bound.ulps)  # both results may have an error of one bound
        for result, reference, allowed in zip(batched, row, allowances(single, bound, row), strict=True):
            assert_equal(result[place], reference, ulps=bound.ulps, absolute=allowed, call=single)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("backend", BACKENDS)
def test_vmap_is_a_loop(backend: str, name: str) -> None:
    @profile(3)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        call = data.draw(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES])).on(backend)
        positions = [data.draw(st.none() | st.integers(0, x.ndim)) for x in call.tensors]
        if any(at is not None for at in positions):
            check_agreement(call, positions)

    agrees()


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_may_be_empty(backend: str, name: str) -> None:
    @profile(2)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]))
    def agrees(call: Invocation) -> None:
        call = call.on(backend)
        if not call.tensors:
            return
        try:
            alone = called(call.on("template"), call.on("template").tensors)
        except TensorBackendError:
            return
        none = [tb.broadcast_to(x, (0, *x.shape), names=(None, *x.names)) for x in call.tensors]
        try:
            batched = tb.vmap(lambda *operands: called(call, operands))(*none)
        except TemplateDataError:
            assert name in READS_DATA
            return
        assert [x.shape for x in batched] == [(0, *x.shape) for x in alone]
        assert [x.dtype for x in batched] == [x.dtype for x in alone]

    agrees()


def test_sorted_operands_stay_sorted() -> None:
    x, order = tb.asarray([1, 0, 0]), tb.asarray([1, 2, 0])
    check_agreement(Invocation("searchsorted", (x, x), {"side": "right", "sorter": order}), [0, 0, 0])


def test_a_wrong_rule_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Invocation("subtract", (tb.asarray([1.0, 2.0]), tb.asarray([1.0, 1.0])), {})
    check_agreement(call, [0, None])
    monkeypatch.setitem(registry.rules, "subtract", lambda batch: batch.whole(batch.inputs[0]))
    with pytest.raises(AssertionError, match="subtract"):
        check_agreement(call, [0, None])
