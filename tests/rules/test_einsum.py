"""Subscripts of einsum: which words and letters may stand for axes."""

from __future__ import annotations

import string

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError
from tensorbackend.testing import profile

SIGNS = string.ascii_letters + "_0123456789"
WORDS = st.text(SIGNS, min_size=2, max_size=5)


@profile(60)
@given(st.lists(WORDS, min_size=3, max_size=3, unique=True))
def test_words_are_identifiers(words: list[str]) -> None:
    first, common, last = words
    x, y = numpy.arange(6.0).reshape(2, 3), numpy.arange(12.0).reshape(3, 4)
    subscripts = f"{first} {common}, {common} {last} -> {last} {first}"
    if all(word.isidentifier() for word in words):
        found = tb.einsum(subscripts, tb.asarray(x), tb.asarray(y))
        assert found.names == (last, first)
        numpy.testing.assert_array_equal(numpy.asarray(found), (x @ y).T)
    else:
        with pytest.raises(ArgumentError, match="subscripts of letters, or of names"):
            tb.einsum(subscripts, tb.asarray(x), tb.asarray(y))


@profile(40)
@given(st.sampled_from([*SIGNS, "é", "-", "."]), st.sampled_from(string.ascii_letters))
def test_letters_are_letters(sign: str, letter: str) -> None:
    assume(sign != letter)
    x = numpy.arange(6.0).reshape(2, 3)
    if sign.isalpha():
        numpy.testing.assert_array_equal(numpy.asarray(tb.einsum(f"{sign}{letter}->{letter}", tb.asarray(x))), x.sum(0))
    else:
        with pytest.raises(ArgumentError):
            tb.einsum(f"{sign}{letter}->{letter}", tb.asarray(x))


def test_a_product_may_have_any_number_of_names() -> None:
    names = [f"axis{place}" for place in range(120)]
    sizes = [2 + place % 3 if place % 40 == 0 else 1 for place in range(120)]
    sizes[95] = 5
    operands = [tb.ones(tuple(sizes[place : place + 40])) for place in (0, 40, 80)]
    terms = [" ".join(names[place : place + 40]) for place in (0, 40, 80)]
    found = tb.einsum(f"{', '.join(terms)} -> axis95 axis0 axis80 axis40", *operands)
    assert found.shape == (5, sizes[0], sizes[80], sizes[40])
    assert set(tb.reshape(found, (-1,)).tolist()) == {1.0}


SIZES = [
    ("ij,jk->ik", [(2, 3), (4, 5)], r"one size for the letter 'j', got sizes=\(3, 4\)"),
    ("ii->i", [(2, 3)], r"one size for the letter 'i', got sizes=\(2, 3\)"),
    ("ij,jk->ik", [(2, 3), (1, 5)], r"one size for the letter 'j', got sizes=\(3, 1\)"),
    ("...i,...i->...", [(2, 3), (4, 3)], r"sizes that broadcast in \.\.\., got sizes=\(2, 4\)"),
]


@pytest.mark.parametrize(("subscripts", "shapes", "text"), SIZES)
def test_sizes_that_do_not_fit_are_named(subscripts: str, shapes: list[tuple[int, ...]], text: str) -> None:
    with pytest.raises(ShapeError, match=f"einsum: expected {text}$"):
        tb.einsum(subscripts, *map(tb.ones, shapes))
