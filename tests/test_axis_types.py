"""Annotations with dtypes and names of axes, checked at each call."""

# ruff: noqa: F722, F821, UP037 # the axes in an annotation are no types

from __future__ import annotations

import functools
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.axis_types import Bool, Complex, Float, Inexact, Int, Number, Shaped
from tensorbackend.errors import ArgumentError, DTypeError, NamesError, OperandError, ShapeError, TensorBackendError

X = tb.ones((2, 3), names=("batch", "feature"))
W = tb.ones((3, 4), names=("feature", "unit"))


@tb.check_axes
def layer(
    x: Float[tb.Tensor, "batch feature"],
    weight: Float[tb.Tensor, "feature unit"],
    bias: Float[tb.Tensor, "unit"] | None = None,
    scale: float = 1.0,
) -> Float[tb.Tensor, "batch unit"]:
    y = tb.dot(x, weight, contract="feature") * scale
    return y if bias is None else y + bias


def test_right_calls_pass() -> None:
    assert layer(X, W).names == ("batch", "unit")
    assert layer(X, weight=W, bias=tb.ones(4, names=("unit",))).shape == (2, 4)
    assert layer.__name__ == "layer"


WRONG: list[tuple[tuple[Any, ...], type[TensorBackendError], str]] = [
    ((X.rename("batch", "time"), W), NamesError,
     "layer: expected x as Float[batch feature], got x=f32[batch: 2][time: 3]"),
    ((X.T, W), NamesError, "layer: expected x as Float[batch feature], got x=f32[feature: 3][batch: 2]"),
    ((X.rename(None, None), W), NamesError, "layer: expected x as Float[batch feature], got x=f32[2][3]"),
    ((X, W[:2]), ShapeError, "layer: expected weight with feature=3, as before, got weight=f32[feature: 2][unit: 4]"),
    ((tb.astype(X, "int32"), W), DTypeError,
     "layer: expected x as Float[batch feature], got x=s32[batch: 2][feature: 3]; cast it with astype()"),
    ((3.0, W), OperandError, "layer: expected x as Float[batch feature], got x=3.0"),
    ((X, W, tb.ones(3, names=("unit",))), ShapeError,
     "layer: expected bias with unit=4, as before, got bias=f32[unit: 3]"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "text"), WRONG)
def test_wrong_calls_are_refused(arguments: tuple[Any, ...], error: type[TensorBackendError], text: str) -> None:
    for function in (layer, tb.jit(layer), tb.trace(layer)):
        with pytest.raises(error) as caught:
            function(*arguments)
        assert str(caught.value).endswith(text.partition(": ")[2])
    with pytest.raises(error) as caught:
        layer(*arguments)
    assert str(caught.value) == text


def test_the_result_is_checked() -> None:
    @tb.check_axes
    def wrong(x: Float[tb.Tensor, "batch feature"]) -> Float[tb.Tensor, "batch"]:
        return x

    with pytest.raises(NamesError, match=r"wrong: expected result as Float\[batch\], got result=f32"):
        wrong(X)


@pytest.mark.parametrize(
    ("axes", "right", "wrong"),
    [
        ("...", [(), (2,), (2, 3)], []),
        ("... 3", [(3,), (2, 3)], [(), (3, 2)]),
        ("2 ... 3", [(2, 3), (2, 5, 3)], [(2,), (3,)]),
        ("_ _", [(0, 1)], [(2,), (1, 2, 3)]),
        ("", [()], [(1,)]),
    ],
)
def test_patterns_of_sizes(axes: str, right: list[tuple[int, ...]], wrong: list[tuple[int, ...]]) -> None:
    shaped: Any = Shaped

    @tb.check_axes
    def same(x: Any) -> None: ...

    same.__wrapped__.__annotations__["x"] = shaped[tb.Tensor, axes]  # type: ignore[attr-defined]
    for shape in right:
        same(tb.ones(shape))
    for shape in wrong:
        with pytest.raises(ShapeError):
            same(tb.ones(shape))


def test_a_name_with_a_size() -> None:
    @tb.check_axes
    def colours(x: Float[tb.Tensor, "pixel colour=3"]) -> None: ...

    colours(tb.ones((5, 3), names=("pixel", "colour")))
    with pytest.raises(NamesError):
        colours(tb.ones((5, 4), names=("pixel", "colour")))


def test_classes_of_dtypes() -> None:
    classes: list[tuple[str, Any]] = [("float", Float), ("complex", Complex), ("inexact", Inexact), ("int", Int),
                                      ("bool", Bool), ("number", Number), ("any", Shaped)]  # fmt: skip
    kinds = {name: kind[tb.Tensor, "..."].__metadata__[0] for name, kind in classes}
    taken = {
        dtype: {name for name, pattern in kinds.items() if pattern.takes(tb.ones((), dtype).dtype)}
        for dtype in ("float16", "complex64", "uint8", "bool")
    }
    assert taken == {
        "float16": {"float", "inexact", "number", "any"},
        "complex64": {"complex", "inexact", "number", "any"},
        "uint8": {"int", "number", "any"},
        "bool": {"bool", "any"},
    }


@pytest.mark.parametrize("parts", [("batch",), (tb.Tensor, "a-b"), (tb.Tensor, "a=b"), (tb.Tensor, 3)])
def test_annotations_that_mean_nothing(parts: Any) -> None:
    anything: Any = Float
    with pytest.raises(ArgumentError):
        anything[parts]


def test_annotations_of_jaxtyping_are_read() -> None:
    class Theirs:  # what its classes have
        array_type, dim_str, dtypes = tb.Tensor, "batch feature", ["float32", "float64"]

    def function(x: Any) -> None: ...

    function.__annotations__ = {"x": Theirs}
    checked = tb.check_axes(function)
    checked(X)
    with pytest.raises(NamesError):
        checked(X.T)
    with pytest.raises(DTypeError):
        checked(tb.astype(X, "float16"))


def test_other_annotations_are_left_alone() -> None:
    @tb.check_axes
    def anything(x: list[tb.Tensor], y: int, *rest: str) -> str:
        return f"{y}{rest}"

    assert anything([X], 3, "a") == "3('a',)"
    with pytest.raises(TypeError):
        anything()  # type: ignore[call-arg]


def test_a_partial_function_and_an_object_are_checked() -> None:
    class Doubled:
        def __call__(self, x: Float[tb.Tensor, "batch feature"]) -> tb.Tensor:
            return x * 2

    doubled, scaled = tb.check_axes(Doubled()), tb.check_axes(functools.partial(layer.__wrapped__, scale=2.0))  # type: ignore[attr-defined] # of `wraps`
    assert (doubled(X).names, scaled(X, W).names) == (("batch", "feature"), ("batch", "unit"))
    for mistake in (lambda: doubled(X.T), lambda: scaled(X.T, W)):
        with pytest.raises(NamesError, match="expected x as Float"):
            mistake()


def test_a_name_that_is_not_defined_in_an_annotation_is_an_error() -> None:
    @tb.check_axes
    def function(x: "Unknown") -> None: ...  # type: ignore[name-defined] # as if imported for type checkers alone

    with pytest.raises(ArgumentError, match=r"got name='Unknown'; import what annotations name"):
        function(X)
