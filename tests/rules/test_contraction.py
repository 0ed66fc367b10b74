"""Pairs of axes that a product contracts."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError
from tensorbackend.testing import profile


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


AXES = st.permutations(range(3)).map(tuple)


@profile(50)
@given(st.data())
def test_paired_axes_have_one_size_and_one_purpose(data: st.DataObject) -> None:
    shapes = [tuple(data.draw(st.lists(st.sampled_from([2, 2, 2, 3]), min_size=3, max_size=3))) for _ in range(2)]
    first, second = data.draw(AXES), data.draw(AXES)
    many = data.draw(st.integers(0, 3))
    batched = data.draw(st.integers(0, 3 - many))
    overlap = data.draw(st.booleans()) and 0 < many < 3
    start = many - 1 if overlap else many
    contract = first[:many], second[:many]
    batch = first[start : start + batched], second[start : start + batched]
    x, y = (numpy.arange(float(numpy.prod(shape))).reshape(shape) for shape in shapes)
    pairs = [*zip(*contract, strict=True), *zip(*batch, strict=True)]
    shapes_only = [tb.template(array.shape, "f64") for array in (x, y)]
    for operands in ([tb.asarray(x), tb.asarray(y)], shapes_only):
        if any(x.shape[one] != y.shape[other] for one, other in pairs):
            with pytest.raises(ShapeError, match="dot: expected paired axes of the same sizes"):
                tb.dot(*operands, contract=contract, batch=batch)
        elif overlap and batched:
            with pytest.raises(ShapeError, match="dot: expected axes that are contracted or batched, not both"):
                tb.dot(*operands, contract=contract, batch=batch)
        else:
            letters = [*"abc"], [*"def"]
            for one, other in pairs:
                letters[1][other] = letters[0][one]
            shared = {letters[0][one] for one, _ in pairs}
            free = "".join(letter for letter in (*letters[0], *letters[1]) if letter not in shared)
            terms = ["".join(term) for term in letters]
            kept = "".join(letters[0][axis] for axis in batch[0])
            expected = numpy.einsum(f"{terms[0]},{terms[1]}->{kept}{free}", x, y)
            found = tb.dot(*operands, contract=contract, batch=batch)
            assert found.shape == expected.shape
            if operands is not shapes_only:
                numpy.testing.assert_array_equal(numpy.asarray(found), expected)
