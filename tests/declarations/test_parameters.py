"""The role of a parameter follows from the type of its annotation, however the annotation is written."""

import typing
from collections.abc import Callable, Sequence
from typing import Optional, TypeVar

import pytest

import tensorbackend as tb
from tensorbackend import Tensor, TensorLike
from tensorbackend.annotations import Axes, Axis, SoleAxis
from tensorbackend.declarations.parameters import read_parameters
from tensorbackend.dtypes import DTypeLike

Maybe = Tensor | None
AnyTensor = TypeVar("AnyTensor", bound=Tensor)


def said(annotation: object) -> tuple[str, str, bool]:
    """Return the role and the meaning of a parameter with an annotation, and whether it may be `None`."""

    def function(x): ...  # type: ignore[no-untyped-def] # annotated below

    function.__annotations__["x"] = annotation
    (parameter,) = read_parameters(function)
    return parameter.role, parameter.meaning, parameter.optional


@pytest.mark.parametrize(
    "annotation",
    [
        Tensor,
        "Tensor",
        "'Tensor'",
        "tb.Tensor",
        "typing.Union[Tensor]",
        TensorLike,
        "TensorLike",
        AnyTensor,
        tb.Template,
    ],
)
def test_a_tensor(annotation: object) -> None:
    assert said(annotation) == ("tensor", "", False)


@pytest.mark.parametrize(
    "annotation",
    [
        Optional["Tensor"], "Optional[Tensor]", "Tensor | None", "None | tb.Tensor", "typing.Optional[tb.Tensor]",
        "typing.Union[Tensor, None]", Maybe, "Maybe", "Optional[Maybe]", "TensorLike | None", '"Tensor | None"',
    ],
)  # fmt: skip
def test_a_tensor_that_may_be_left_out(annotation: object) -> None:
    assert said(annotation) == ("tensor", "", True)


@pytest.mark.parametrize(
    "annotation",
    [Sequence[Tensor], Sequence["Tensor"], "Sequence[Tensor]", "typing.Sequence[tb.Tensor]", "Sequence[TensorLike]"],
)
def test_a_sequence_of_tensors(annotation: object) -> None:
    assert said(annotation) == ("tensors", "", False)


@pytest.mark.parametrize(
    ("annotation", "meaning", "optional"),
    [
        (Axis, "axis", False),
        ("Axis | None", "axis", True),
        ("Optional[Axis]", "axis", True),
        (SoleAxis, "sole axis", False),
        (Axes, "axes", False),
        (DTypeLike, "dtype", False),
        (DTypeLike | None, "dtype", True),
        ("tb.DTypeLike | None", "dtype", True),
        ("int | str", "", False),  # the same values as an axis, but not an axis
        (int | str | None, "", True),
        ("Sequence[Axis]", "", False),
        (Callable[[Tensor], Tensor], "", False),
        ("Callable[[Tensor], Tensor] | None", "", True),
        ("typing.Any", "", False),
        (typing.Literal["low", "high"], "", False),
    ],
)
def test_an_option(annotation: object, meaning: str, optional: bool) -> None:
    assert said(annotation) == ("option", meaning, optional)


@pytest.mark.parametrize(
    ("annotation", "remedy"),
    [
        ("Tensor | float", "annotate Tensor, for which callers may pass a Python number"),
        (Tensor | float | None, "annotate Tensor, for which"),
        ("tuple[Tensor, Tensor]", "give each tensor a parameter of its own"),
        ("Sequence[Tensor] | None", "give each tensor"),
        (dict[str, Tensor], "give each tensor"),
        ("Tensor | str", "give each tensor"),
    ],
)
def test_what_may_or_may_not_be_a_tensor_is_refused(annotation: object, remedy: str) -> None:
    with pytest.raises(TypeError, match=f"function: the parameter 'x': expected Tensor, .* as annotation, .*{remedy}"):
        said(annotation)


def test_a_name_that_is_not_known_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"'x': .* got 'Missing', in which name 'Missing' is not .* outside TYPE_CHECKING"
    ):
        said("Missing")
    with pytest.raises(TypeError, match="expected an annotation that is an expression"):
        said("a tensor")


def test_the_remedy_for_a_number_is_true() -> None:
    @tb.composite
    def scaled(x: tb.Tensor, by: tb.Tensor) -> tb.Tensor:
        return x * by

    assert scaled(tb.tensor([1.0, 2.0]), 3).tolist() == [3.0, 6.0]


def test_a_composite_whose_annotations_are_types() -> None:
    @tb.composite
    def joined(parts: typing.Sequence[Tensor], /, *, axis: Axis = 0) -> Tensor:
        assert isinstance(axis, int)  # normalised
        return tb.concatenate(parts, axis=axis)

    x = tb.tensor([1.0], names=("n",))
    assert joined([x, x], axis="n").tolist() == [1.0, 1.0]


def test_a_composite_of_two_sequences_is_planned_for_the_templates_of_both() -> None:
    @tb.composite
    def counted(first: Sequence[Tensor], second: Sequence[Tensor], /) -> Tensor:
        return tb.concat([tb.ones(len(first)), tb.zeros(first[0].size), tb.ones(len(second))])

    short, long = tb.zeros(1), tb.zeros(2)
    for first in ([short], [long], [short, short]):  # only the first sequence differs
        for second in ([short], [long, long]):
            sizes = [len(first), first[0].size, len(second)]
            for _ in range(2):  # planned, then warm
                assert counted(first, second).size == sum(sizes)
