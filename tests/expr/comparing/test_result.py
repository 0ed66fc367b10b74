"""The text of a comparison."""

from __future__ import annotations

import pytest

import tensorbackend as tb

from .wrong_kernels import LINES, operands, program, wrong_class


def test_the_text_says_where_and_how_far() -> None:
    found = tb.compare(program, *operands(), backends=("binary", wrong_class("numpy", "exp")))
    assert found.difference is not None
    text = str(found)
    for words in (f"wrong_kernels.py:{LINES['exp']}", "operand 0: f32[4] from ", "4 ulps from the reference", "4 of 4"):
        assert words in text
    wanted, got = found.difference.values
    assert isinstance(wanted, float)
    assert got == pytest.approx(wanted * 1.001, rel=1e-5)
