"""The words for elements beyond the ends of an axis, and `pad` with each of them on each side."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError
from tensorbackend.ops.padding import EXTENSIONS


@pytest.mark.parametrize("word", EXTENSIONS)
def test_an_extension_is_numpys(word: str) -> None:
    for size in (1, 2, 3, 5):
        places = range(-11, size + 11)
        reference = numpy.pad(numpy.arange(size), 11, mode="wrap" if word == "periodic" else word)  # type: ignore[call-overload]
        assert [EXTENSIONS[word](place, size) for place in places] == reference.tolist()
        if word != "edge":
            assert EXTENSIONS[word](tb.asarray(list(places)), size).tolist() == reference.tolist()


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_sides_of_an_axis_are_padded_each_in_its_way(backend: str) -> None:
    x = tb.asarray([1, 2, 3], backend=backend)
    assert tb.pad(x, [(2, 2)], mode=("edge", "reflect")).tolist() == [1, 1, 1, 2, 3, 2, 1]
    assert tb.pad(x, [(2, 2)], mode=("constant", "periodic")).tolist() == [0, 0, 1, 2, 3, 1, 2]
    assert tb.pad(x, [(2, 1)], mode=("symmetric", 7)).tolist() == [2, 1, 1, 2, 3, 7]
    assert tb.pad(x, [(1, 1)], mode=("constant", 7), value=5).tolist() == [5, 1, 2, 3, 7]
    assert tb.pad(x, [(1, -1, 1)], mode=(4, 6)).tolist() == [4, 1, 4, 2, 4]
    assert tb.pad(x, [(0, 0)], mode=("edge", 0)).tolist() == [1, 2, 3]


def test_the_last_axis_decides_in_a_corner() -> None:
    x = tb.asarray([[1.0, 2.0]], names=("row", "column"))
    padded = tb.pad(x, {"row": (1, 0), "column": (0, 1)}, mode={"row": 5, "column": 7})
    assert padded.tolist() == [[5.0, 5.0, 7.0], [1.0, 2.0, 7.0]]
    assert padded.names == ("row", "column")
    assert tb.pad(x, {"column": (1, 1)}, mode={"column": ("wrap", 0)}).tolist() == [[2.0, 1.0, 2.0, 0.0]]
    assert tb.pad(x, {"row": (1, 0)}, mode={"column": "edge"}).tolist() == [[0.0, 0.0], [1.0, 2.0]]


def test_padding_in_transforms() -> None:
    x = tb.asarray([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])

    def wide(x: tb.Tensor) -> tb.Tensor:
        return tb.pad(x, [(2, 2)], mode=("periodic", 1))

    assert tb.vmap(wide)(x).tolist() == [wide(row).tolist() for row in x]
    assert tb.jit(wide)(x[0]).tolist() == [2.0, 4.0, 1.0, 2.0, 4.0, 1.0, 1.0]
    assert tb.grad(lambda x: tb.sum(wide(x)))(x[0]).tolist() == [1.0, 2.0, 2.0]
    assert wide(tb.template((3,), "f32")).shape == (7,)


@pytest.mark.parametrize(
    ("mode", "kind", "text"),
    [
        ("nearest", ArgumentError, "mode to be 'constant', 'edge'"),
        (("edge", "edge", "edge"), ArgumentError, "or a pair of these"),
        ({"depth": "edge"}, AxisError, "an axis name"),
        ({5: "edge"}, AxisError, "an axis from -1 to 0"),
        ({0: None}, ArgumentError, "or a number"),
    ],
)
def test_mistakes(mode: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=f"pad: .*{text}"):
        tb.pad(tb.asarray([1, 2]), [(1, 1)], mode=mode)
