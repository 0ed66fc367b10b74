"""`with` blocks that set defaults for a context."""

from __future__ import annotations

import contextvars
import gc
from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import blocks


@pytest.mark.parametrize("make", [tb.default_backend, lambda backend: tb.precision(64)])
def test_a_block_that_was_given_up_changes_no_other_context(make: Callable[[str], Any]) -> None:
    def given_up() -> list[Any]:
        several = [make("binary"), make("numpy")]
        for block in several:
            block.__enter__()
        return several

    several = contextvars.copy_context().run(given_up)
    before = len(blocks._open)
    while several:
        several.pop()  # dropping an open generator makes Python run the end of its block here
    gc.collect()
    assert tb.scoped_backend() is None
    assert tb.get_precision() == 32
    assert len(blocks._open) == before


def test_a_block_that_ended_is_not_kept() -> None:
    before = len(blocks._open)
    with tb.default_backend("binary"):
        assert len(blocks._open) == before + 1
    with pytest.raises(tb.errors.ArgumentError), tb.precision(7):
        pass
    assert len(blocks._open) == before


def test_a_block_decorates_a_function() -> None:
    @tb.default_backend("binary")
    def decorated() -> tb.Tensor:
        return tb.zeros(1)

    assert decorated().backend.name == decorated().backend.name == "binary"
    assert tb.zeros(1).backend.name == "numpy"
