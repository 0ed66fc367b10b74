"""Declarations of callbacks, and which of them a backend defines."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.errors import UnsupportedOp
from tensorbackend.protocol.callbacks import defines, limited_to, own_method


class Half(BinaryBackend):
    name = "half_of_callbacks"
    exp = tb.Backend.exp

    @limited_to("float16")
    def sin(self, out: Any, x: Any, /) -> Any:
        return BinaryBackend.sin(self, out, x)


def test_a_declaration_is_not_a_definition() -> None:
    half = Half()
    assert defines(Half, "sin")
    assert not defines(Half, "exp")
    assert not defines(Half, "no_such_op")
    assert own_method(half, "exp") is None
    assert own_method(half, "sin") == half.sin


def test_a_declaration_refuses_calls() -> None:
    half = Half()
    x = tb.ones(2, backend="binary")
    with pytest.raises(UnsupportedOp, match=r"expected a backend that has exp, got backend='half_of_callbacks'; move"):
        half.exp(x.template, x)


def test_a_callback_is_limited_to_its_dtypes() -> None:
    assert [dtype for dtype in ("float16", "float32") if Half().supports("sin", dtype)] == ["float16"]
