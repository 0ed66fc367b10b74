"""Shapes of elementwise results against NumPy's, for sizes of which many are 0 and 1."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import DTypeError, NamesError, ShapeError
from tensorbackend.rules.broadcasting import ACCEPTED, broadcast, check_dtype
from tensorbackend.testing import profile

SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)


def numpys(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the shape that NumPy broadcasts to; `None` where it refuses."""
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        return None


@profile(300)
@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_shapes_broadcast_as_in_numpy(shapes: list[tuple[int, ...]]) -> None:
    templates, expected = [tb.Template(shape, "f32") for shape in shapes], numpys(shapes)
    if expected is None:
        with pytest.raises(ShapeError, match="sizes that are equal or 1"):
            broadcast(templates)
    else:
        assert broadcast(templates)[0] == expected


@profile(60)
@given(SHAPES, SHAPES)
def test_results_have_the_shapes_of_their_templates(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    expected = numpys([left, right])
    for backend in ("numpy", "binary", "template"):
        operands = [tb.zeros(shape, backend=backend) for shape in (left, right)]
        if expected is None:
            with pytest.raises(ShapeError, match="add: expected sizes that are equal or 1"):
                tb.add(*operands)
        else:
            assert tb.add(*operands).shape == expected


NAMES = st.sampled_from([None, "a", "b", "c"])


@profile(300)
@given(st.data())
def test_a_name_comes_from_whichever_operand_has_one(data: st.DataObject) -> None:
    """Axes that meet have one name, or an error is raised; no name occurs twice."""
    rank = data.draw(st.integers(1, 3))
    rows = [
        data.draw(st.lists(NAMES, min_size=length, max_size=length))
        for length in (rank, data.draw(st.integers(0, rank)))
    ]
    rows = [row if len({*filter(None, row)}) == len([*filter(None, row)]) else [None] * len(row) for row in rows]
    longer, shorter = rows
    aligned = [None] * (rank - len(shorter)) + shorter
    merged = [name or other for name, other in zip(longer, aligned, strict=True)]
    named = [name for name in merged if name]
    clash = any(a and b and a != b for a, b in zip(longer, aligned, strict=True)) or len({*named}) < len(named)
    templates = [tb.Template((2,) * len(row), "f32", tuple(row)) for row in rows]
    for order in (templates, templates[::-1]):
        if clash:
            with pytest.raises(NamesError):
                broadcast(order)
        else:
            assert broadcast(order)[1] == tuple(merged)


@pytest.mark.parametrize("accept", ACCEPTED)
@pytest.mark.parametrize("remedy", ["", "do as this test says"])
def test_a_dtype_is_refused_with_a_remedy_that_fits_it(accept: str, remedy: str) -> None:
    for dtype in (as_dtype("bool"), tb.int32, tb.uint8, tb.float32, tb.complex64):
        if ACCEPTED[accept](dtype):
            assert check_dtype(dtype, accept, remedy) is dtype
            continue
        with pytest.raises(DTypeError) as caught:
            check_dtype(dtype, accept, remedy)
        text = str(caught.value)
        assert ("do as this test says" in text) is bool(remedy)
        assert ("real(x)" in text) is (dtype.is_complex and not remedy)
        assert ("cast it" in text) is (not dtype.is_complex and not remedy)
