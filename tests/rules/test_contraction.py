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


@pytest.mark.parametrize("contract", [("height", "width"), ["width", "height"]])
def test_two_names_of_both_operands_are_not_taken_for_a_pair(contract: Any) -> None:
    x = tb.ones((3, 4, 4), names=("image", "height", "width"))
    y = tb.ones((2, 4, 4), names=("component", "height", "width"))
    one, other = contract
    text = rf"write {{'height', 'width'}} to sum over each of these names, or \(\['{one}'\], \['{other}'\]\) to pair"
    with pytest.raises(ArgumentError, match=text):
        tb.dot(x, y, contract=contract)
    assert tb.dot(x, y, contract={*contract}).names == ("image", "component")
    assert tb.dot(x, y.rename(height="a", width="b"), contract=("height", "b")).names == (
        "image",
        "width",
        "component",
        "a",
    )
