"""Which values an annotation allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.declarations.argument_kinds import fits, misfit
from tensorbackend.errors import ArgumentKindError, AxisError, DTypeError, OperandError


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (int, numpy.int64(3), 1.5),
        (float, 1, "1"),
        (bool, numpy.bool_(True), 1),
        (str, "text", b"text"),
        (int | None, None, "3"),
        (Literal["left", "right"], "left", "up"),
        (Sequence[int], [1, 2], "12"),
        (Sequence[int], (), [1.5]),
        (tuple[int, str], (1, "a"), (1, "a", 2)),
        (dict[str, int], {"a": 1}, {1: "a"}),
        (Callable[..., Any], len, 3),
        (tb.Tensor, tb.ones(2), 3.0),
    ],
)
def test_an_annotation_allows_some_values(kind: Any, right: object, wrong: object) -> None:
    assert fits(right, kind)
    assert not fits(wrong, kind)


def test_the_annotation_decides_the_class_of_the_error() -> None:
    from tensorbackend.annotations import Axes
    from tensorbackend.dtypes import DTypeLike

    for kind, error in (
        (tb.Tensor, OperandError),
        (Axes, AxisError),
        (DTypeLike, DTypeError),
        (int, ArgumentKindError),
    ):
        assert type(misfit(kind, "x", object())) is error


def test_a_tensor_for_a_function_of_another_library_has_a_remedy() -> None:
    text = str(misfit(Callable[..., Any], "function", tb.ones((2, 2)), "trace"))
    assert text == (
        "expected a function, got function=f32[2][2]; tb.linalg.trace(x) is the sum of the diagonal of a matrix"
    )


@pytest.mark.parametrize("number", [Fraction(1, 2), Decimal("0.5")], ids=repr)
def test_numbers_that_tensors_do_not_take_are_told_by_their_parameter(number: Any) -> None:
    with pytest.raises(ArgumentKindError, match=r"^leaky_relu: expected a number, got slope="):
        tb.nn.leaky_relu(tb.ones(3), slope=number)
