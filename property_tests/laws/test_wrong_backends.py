"""Tests of the suite itself: each control is a backend with one mistake, which the check that it names must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import ContractError
from tensorbackend.protocol import Backend
from tensorbackend.testing import Disagreement, calls, check, check_transport, tensors
from tensorbackend.testing.controls import CONTROLS, Control, farther, then
from tensorbackend.testing.transport import TRANSPORT


def draw_and_check(op: str, dtype: str, backend: Backend, count: int) -> None:
    """Check random calls, the same ones in every run."""
    strategy: Any = tensors(as_dtype(dtype)) if op == TRANSPORT else calls(op, as_dtype(dtype))
    checked: Callable[[Any, Backend], object] = check_transport if op == TRANSPORT else check

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def agrees(drawn: Any) -> None:
        checked(drawn, backend)

    agrees()


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # failing calls are not shrunk
@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: f"{control.op}-{control.dtype}-{control.what}")
def test_a_wrong_backend_is_caught(control: Control) -> None:
    with pytest.raises((Disagreement, ContractError)) as caught:
        draw_and_check(control.op, control.dtype, control.backend(), 200)
    kind = caught.value.kind if isinstance(caught.value, Disagreement) else "exception"  # as the kit reports it
    assert kind == control.kind, str(caught.value)


RIGHT = dict.fromkeys((control.op, control.dtype, control.base) for control in CONTROLS)


@pytest.mark.parametrize(("op", "dtype", "base"), RIGHT)
def test_the_right_backend_is_not_caught(op: str, dtype: str, base: type[Backend]) -> None:
    draw_and_check(op, dtype, Control("right", op, dtype, "value", {}, base).backend(), 25)


def test_the_bound_itself_is_not_caught() -> None:
    control = CONTROLS[0]._replace(methods=then("exp", farther(4)))
    draw_and_check(control.op, control.dtype, control.backend(), 200)


def test_every_kind_of_failure_has_a_control() -> None:
    assert len(CONTROLS) >= 35
    # A dry run runs no callback: it finds mistakes in ops, not in backends.
    assert {control.kind for control in CONTROLS} == {
        "value", "template", "payload", "error", "exception", "mutation", "alias",
    }  # fmt: skip
