"""Pairs of axes that a product contracts."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


@pytest.mark.parametrize("contract", [[(0,)], [(0,), (0,), (1,)], [], [0]])
def test_axes_come_in_a_pair(contract: Any) -> None:
    for x in (tb.ones((2, 3)), tb.template((2, 3), "f32")):
        with pytest.raises(ArgumentError, match="dot: expected a name, a set of names, or a pair"):
            tb.dot(x, x, contract=contract)
