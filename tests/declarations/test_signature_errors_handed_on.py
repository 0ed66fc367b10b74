"""Keywords that a transform hands on to the user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.declarations.signature_errors import check_handed_on
from tensorbackend.errors import SignatureError


def named(x: tb.Tensor, *, grad: float = 2.0) -> tb.Tensor:
    return tb.sum(x) * grad


def several(x: tb.Tensor, **scales: float) -> tb.Tensor:
    return tb.sum(x) * scales["grad"]


@pytest.mark.parametrize("function", [named, several, tb.Tensor])
def test_what_the_function_takes_is_its_own(function: Callable[..., Any]) -> None:
    taken = {} if function is tb.Tensor else {"grad": 3.0}
    check_handed_on(tb.dry_run, function, taken)
    check_handed_on(tb.dry_run, "no function", {"grad": 3.0})  # another error says so
    check_handed_on(tb.dry_run, max, {"key": 3.0})  # which has no signature


def test_it_reaches_the_function() -> None:
    assert tb.dry_run(several, "f32[2]", grad=3.0).eager.ops == tb.dry_run(named, "f32[2]", grad=3.0).eager.ops
    assert tb.compare(named, tb.ones(2), backends=("binary", "numpy"), grad=1.0).difference is None


def test_what_neither_takes_is_an_error_before_anything_runs() -> None:
    ran = []

    def function(x: tb.Tensor) -> tb.Tensor:
        ran.append(x)
        return x

    with pytest.raises(SignatureError, match=r"^dry_run: expected keywords among gradient, .*, got other=1$"):
        tb.dry_run(function, "f32[2]", other=1)
    with pytest.raises(SignatureError, match=r"^compare: expected keywords among backends, .*; write gradient=True$"):
        tb.compare(function, tb.ones(2), grad=True)
    assert not ran


def test_what_is_too_much_by_position() -> None:
    with pytest.raises(SignatureError, match=r"^compare: expected at most 1 arguments of the function, got 3; write"):
        tb.compare(named, tb.ones(2), "numpy", "jax")
    assert tb.dry_run(lambda *xs: xs[0], "f32[2]", "f32[2]").eager.ops == 0
