"""Random sums of products: letters that repeat within and among one to four terms, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

LETTERS = "ijk"


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, list[tuple[int, ...]]]:
    """Subscripts of one to four terms, of which some begin with `...`, and the shapes of their operands."""
    sizes = {letter: draw(st.sampled_from((2, 3, 2, 3, 1, 0))) for letter in LETTERS}
    terms = draw(st.lists(st.text(LETTERS, max_size=3), min_size=1, max_size=4))
    spread = draw(st.booleans())
    wide = draw(st.integers(1, 3))
    shapes, dotted = [], []
    for term in terms:
        leading = draw(st.sampled_from(((), (1,), (wide,)))) if spread else ()
        dotted.append("..." + term if spread else term)
        shapes.append((*leading, *(sizes[letter] for letter in term)))
    used = sorted(set("".join(terms)))
    subscripts = ",".join(dotted)
    if draw(st.integers(0, 3)):
        output = "".join(draw(st.permutations(used))[: draw(st.integers(0, len(used)))])
        subscripts += f"->{'...' if spread else ''}{output}"
    return subscripts, shapes


def drawn(data: st.DataObject, shapes: list[tuple[int, ...]], dtype: str) -> list[np.ndarray[Any, Any]]:
    """Small whole numbers, whose sums of products every dtype holds."""
    generator = np.random.default_rng(data.draw(st.integers(0, 1 << 16)))
    arrays = [generator.integers(0 if dtype == "uint8" else -3, 4, shape) for shape in shapes]
    if dtype == "complex128":
        return [array + 1j * generator.integers(-3, 4, array.shape) for array in arrays]
    return [np.asarray(array).astype(dtype) for array in arrays]


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8", "complex128"])
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_values(backend: str, dtype: str) -> None:
    @profile(12 if backend == "jax" else 50)
    @given(expressions(), st.data())
    def holds(expression: tuple[str, list[tuple[int, ...]]], data: st.DataObject) -> None:
        subscripts, shapes = expression
        arrays = drawn(data, shapes, dtype)
        wanted = np.einsum(subscripts, *arrays, optimize=False)
        result = tb.einsum(subscripts, *(tb.asarray(array, backend=backend) for array in arrays))
        assert (result.shape, str(result.dtype)) == (wanted.shape, dtype)
        np.testing.assert_array_equal(np.asarray(result), wanted)

    holds()


def test_gradients() -> None:
    """The gradient of a product with respect to one factor is the product with it left out, by differences of NumPy."""

    @profile(40)
    @given(expressions(), st.data())
    def holds(expression: tuple[str, list[tuple[int, ...]]], data: st.DataObject) -> None:
        subscripts, shapes = expression
        arrays = drawn(data, shapes, "float64")
        place = data.draw(st.integers(0, len(arrays) - 1))
        weight = np.random.default_rng(0).integers(-3, 4, np.einsum(subscripts, *arrays).shape)

        def loss(x: tb.Tensor) -> tb.Tensor:
            operands: list[Any] = [x if other == place else array for other, array in enumerate(arrays)]
            return tb.sum(tb.einsum(subscripts, *operands) * tb.asarray(weight, dtype="f64"))

        gradient = np.asarray(tb.grad(loss)(tb.asarray(arrays[place])))
        wanted = np.zeros(arrays[place].shape)
        for position in np.ndindex(wanted.shape):
            unit = np.zeros(wanted.shape)
            unit[position] = 1.0  # the expression is linear in each operand
            changed = [*arrays[:place], unit, *arrays[place + 1 :]]
            wanted[position] = np.sum(np.einsum(subscripts, *changed, optimize=False) * weight)
        np.testing.assert_array_equal(gradient, wanted)

    holds()


def test_names_of_words() -> None:
    """Words in place of the letters lead to the same sums, and the names of the result's axes."""
    words = {"i": "time", "j": "row", "k": "unit"}

    @profile(40)
    @given(expressions(), st.data())
    def holds(expression: tuple[str, list[tuple[int, ...]]], data: st.DataObject) -> None:
        subscripts, shapes = expression
        arrays = drawn(data, shapes, "float64")
        terms, arrow, output = subscripts.replace("...", ".").partition("->")

        def spelled(term: str) -> str:
            return " ".join("..." if letter == "." else words[letter] for letter in term)

        spoken = ",".join(map(spelled, terms.split(",")))
        wanted = np.einsum(subscripts, *arrays, optimize=False)
        if not arrow:  # in the order of the words
            once = [letter for letter in LETTERS if terms.count(letter) == 1]
            output = ("." if "." in terms else "") + "".join(sorted(once, key=words.__getitem__))
            wanted = np.einsum(f"{terms}->{output}".replace(".", "..."), *arrays, optimize=False)
        result = tb.einsum(f"{spoken} -> {spelled(output)}" if arrow else spoken, *map(tb.asarray, arrays))
        np.testing.assert_array_equal(np.asarray(result), wanted)
        named = tuple(words[letter] for letter in output if letter != ".")
        assert result.names == (None,) * (wanted.ndim - len(named)) + named

    holds()
