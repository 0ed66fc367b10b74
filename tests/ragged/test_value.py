"""Tensors with lengths: checks of their parts, operators, and their use as containers."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.errors import (
    ArgumentError,
    ArgumentKindError,
    AxisError,
    DataError,
    DTypeError,
    NamesError,
    OperandError,
    ShapeError,
    TensorBackendError,
)


def ones(**sizes: int) -> tb.Tensor:
    return tb.ones(tuple(sizes.values()), names=tuple(sizes))


def pair() -> tr.Ragged:
    return tr.from_list([[1.0, 2.0, 3.0], [4.0]])


NESTED = tr.with_lengths(
    tb.reshape(tb.iota(12, dtype="f32"), (2, 2, 3), names=("batch", "word", "letter")),
    word=[2, 1],
    letter=[[3, 1], [2, 0]],
)

MISTAKES: list[tuple[Callable[[], Any], type[TensorBackendError], str]] = [
    (lambda: tr.with_lengths(ones(b=2, t=3), t=[4, 1]), DataError, r"lengths from 0 to 3, .* got lengths=\[4, 1\]"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=[-1, 1]), DataError, "lengths from 0 to 3"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=[1.0, 1.0]), DTypeError, "an integer dtype for the axis 't'"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=[True, False]), DTypeError, "an integer dtype"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=[1, 1, 1]), ShapeError, "over other axes of"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=tb.asarray([1, 1, 1], names=("t",))), ShapeError, "over other axes"),
    (lambda: tr.with_lengths(ones(b=2, t=3), t=tb.asarray([1, 1], names=("c",))), ShapeError, "over other axes"),
    (lambda: tr.with_lengths(ones(b=2, t=3), s=[1, 1]), AxisError, "an axis name of"),
    (lambda: tr.with_lengths(tb.ones((2, 3)), time=[1, 1]), AxisError, "name the axis with rename"),
    (lambda: tr.with_lengths(tb.ones((2, 3), names=(None, "t")), t=[1, 1]), NamesError, "a name for each axis"),
    (lambda: tr.with_lengths(ones(b=2, t=3)), ArgumentError, "the lengths of at least one axis"),
    (
        lambda: tr.with_lengths(ones(a=2, b=2), a=tb.asarray([1, 1], names=("b",)), b=tb.asarray([1, 1], names=("a",))),
        ArgumentError,
        "lengths without a cycle",
    ),
    (lambda: pair() + tr.from_list([[1.0, 2.0, 3.0], [4.0, 5.0]]), ShapeError, r"left=\[3, 1\], right=\[3, 2\]"),
    (lambda: pair() + tr.resize(pair(), 4, axis="time"), ShapeError, "resize"),
    (lambda: pair() + ones(batch=2, frame=3), NamesError, "the same name or None"),
    (lambda: tr.apply(tb.exp, ones(b=2)), OperandError, "a Ragged among the operands"),
    (lambda: tr.apply(lambda v: tb.sum(v, axis="time"), pair()), AxisError, "a result with the axis 'time'"),
    (lambda: tr.apply(lambda v: v[:, :2], pair()), ShapeError, "size 3 on the axis 'time'"),
    (lambda: tb.exp(pair()), OperandError, "tb.ragged.apply"),
    (lambda: tb.sum(pair(), axis="time"), OperandError, "tb.ragged.apply"),
    (lambda: np.asarray(pair()), OperandError, "a tensor without lengths"),
    (lambda: bool(pair() == pair()), OperandError, "tb.ragged.all"),
    (lambda: pair()[0], OperandError, "slice_along_axis"),
    (lambda: pair().rename(time=None), ArgumentError, "names for axes with lengths"),
    (lambda: tr.sort(pair(), axis="batch"), AxisError, "an axis other than those that the lengths"),
    (lambda: tr.flip(pair(), axis="batch"), AxisError, "an axis with lengths"),
    (lambda: tr.flip(pair().values, axis="time"), ArgumentKindError, "a Ragged"),  # type: ignore[arg-type] # the mistake
    (lambda: tr.windows(NESTED, 2, axis="word"), AxisError, "merge_axes"),
    (lambda: tr.take(pair(), [0], axis="time"), AxisError, "an axis without lengths"),
    (lambda: tr.slice_along_axis(pair(), 0, -1, axis="time"), ArgumentError, "length"),
    (lambda: tr.slice_along_axis(pair(), tb.asarray([0.5, 1.0]), 1, axis="time"), DTypeError, "as start"),
    (lambda: tr.slice_along_axis(pair(), tb.asarray([0, 1]), 1, axis="time"), NamesError, "start over"),
    (lambda: tr.pad(pair(), (1, -1), axis="time"), ArgumentError, "padding"),
    (lambda: tr.split(pair(), [2, 1], axis="time"), ShapeError, "ascending positions"),
    (lambda: tr.pack(pair(), axis="time", size=3), DataError, "room for 4 entries"),
    (lambda: tr.resize(pair(), 2, axis="time"), DataError, "room for 3 entries"),
    (lambda: tr.select(pair(), pair(), axis="time"), DTypeError, "a mask of dtype bool"),
    (lambda: tr.select(pair(), tb.ones(3, dtype="bool"), axis="time"), NamesError, "a mask over named axes"),
    (lambda: tr.merge_axes(pair(), ["batch"], name="all"), AxisError, "two named axes"),
    (lambda: tr.from_list([]), ArgumentError, "at least one array"),
    (lambda: tr.from_list([[1, 2]], size=1), ShapeError, "at most 1 entries"),
    (lambda: tr.sequence_mask(tb.ones(2), 3), DTypeError, "an integer dtype"),
]


@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_a_mistake(mistake: Callable[[], Any], error: type[TensorBackendError], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        mistake()
    assert str(caught.value)[0].islower()


def test_lengths_that_cannot_be_read_are_moved_into_the_axis() -> None:
    total = tb.jit(lambda values, lengths: tr.mean(tr.with_lengths(values, t=lengths), axis="t"))
    assert total(ones(b=3, t=2), tb.asarray([9, -1, 1], names=("b",))).tolist() == [1.0, 0.0, 1.0]


def test_lengths_meet_in_a_trace_by_what_they_are() -> None:
    x = pair()
    assert tb.jit(lambda x: tr.sum(x + x * 2))(x).item() == 30.0
    halves = tb.jit(lambda x: tr.sum(tr.split(x, [2], axis="time")[0] + tr.split(x, [2], axis="time")[0]))
    assert halves(x).item() == 14.0  # the same lengths, computed twice
    assert tb.jit(lambda values: tr.sum(tr.with_lengths(values, **x.lengths) + x))(x.values).item() == 20.0
    with pytest.raises(ShapeError, match="if they are equal, say so"):
        tb.jit(lambda x, y: x + y)(x, x)


def test_plain_operands() -> None:
    x = pair()
    assert tr.to_list(x + tb.asarray([[1.0], [10.0]]))[1].tolist() == [14.0]
    assert tr.to_list(tb.asarray([1.0, 2.0, 3.0], names=("time",)) * x)[0].tolist() == [1.0, 4.0, 9.0]
    assert tr.to_list(np.float32(2) - x)[1].tolist() == [-2.0]
    product: Any = np.ones((2, 3), np.float32) * x
    assert tr.to_list(product)[1].tolist() == [4.0]
    assert tr.to_list(-x)[1].tolist() == [-4.0]
    assert tr.to_list((x > 1) & ~(x > 2))[0].tolist() == [False, True, False]
    with pytest.raises(OperandError, match="add: expected a tensor, a Python number or an array"):
        x + "text"


def test_the_gradient_of_a_plain_operand_holds_no_padding() -> None:
    """Positions 1 and 2 are padding in both examples, and the divisor is 0 there."""
    x = tr.with_lengths(ones(batch=2, time=3), time=[1, 1])
    slope = tb.grad(lambda divisor: tr.sum(x / divisor))(tb.asarray([2.0, 0.0, 0.0], names=("time",)))
    assert isinstance(slope, tb.Tensor)
    assert slope.tolist() == [-0.5, 0.0, 0.0]


def test_axes_of_size_1_spread_their_lengths() -> None:
    x = tr.with_lengths(ones(batch=1, time=3), time=[2])
    wide = x * ones(batch=4, time=1)
    assert wide.lengths["time"].tolist() == [2, 2, 2, 2]


def test_a_function_is_not_taken_for_an_op_by_its_name() -> None:
    """The op `add` needs no mask before it, but a function of the user that has the same name does."""

    def add(values: tb.Tensor) -> tb.Tensor:
        return tb.log(values)

    x = tr.with_lengths(ones(batch=1, time=2), time=[1])
    slope = tb.grad(lambda values: tr.sum(tr.apply(add, tr.Ragged(values, x.lengths))))(x.filled(0))
    assert isinstance(slope, tb.Tensor)
    assert slope.tolist() == [[1.0, 0.0]]


def test_it_is_a_container() -> None:
    x = tr.Ragged(pair().values, pair().lengths)
    assert tb.tree_map(lambda leaf: leaf.shape, x).values == (2, 3)
    assert tb.backend_copy(x, "binary").values.backend.name == "binary"
    assert tb.jit(lambda x: x * 2)(x).lengths["time"].tolist() == [3, 1]
    assert tb.vmap(lambda x: tr.mean(x, axis="time"), in_axes="batch")(x).tolist() == [2.0, 4.0]
    flipped = tb.vmap(lambda x: tr.flip(x, axis="time"), in_axes="batch")(x)
    assert isinstance(flipped, tr.Ragged)
    assert tr.to_list(flipped)[0].tolist() == [3.0, 2.0, 1.0]
    assert tb.dry_run(lambda x: tr.softmax(x, axis="time"), x).flops > 0


def test_jax_transforms_functions_of_it() -> None:
    import jax

    x = tb.backend_copy(pair(), "jax")

    def loss(values: tb.Tensor) -> tb.Tensor:
        y = tr.Ragged(values, x.lengths)
        packed = tr.pack(y * y, axis="time")
        return tr.mean(tr.unpack(packed, like=y, axis="time")).data  # type: ignore[no-any-return]

    slope = jax.jit(jax.grad(loss))(tb.where(x.mask(), x.values, math.nan))
    assert slope.tolist() == [[0.5, 1.0, 1.5], [2.0, 0.0, 0.0]]
    doubled = jax.jit(lambda x: x + x)(x)
    assert tr.to_list(doubled)[0].tolist() == [2.0, 4.0, 6.0]


def test_it_is_saved_by_its_parts(tmp_path: Path) -> None:
    tb.save(tmp_path / "x.safetensors", NESTED.tensors())
    again = tr.with_lengths(**tb.load(tmp_path / "x.safetensors"))  # type: ignore[arg-type] # a dictionary
    assert again.names == NESTED.names
    assert tb.all(again.filled(-1) == NESTED.filled(-1)).item()


def test_lengths_over_an_axis_with_lengths() -> None:
    assert NESTED.mask().tolist() == [[[1, 1, 1], [1, 0, 0]], [[1, 1, 0], [0, 0, 0]]]
    assert [[word.tolist() for word in words] for words in tr.to_list(NESTED)] == [[[0, 1, 2], [3]], [[6, 7]]]
    per_word = tr.sum(NESTED, axis="letter")
    assert isinstance(per_word, tr.Ragged)
    assert [row.tolist() for row in tr.to_list(per_word)] == [[3, 3], [13]]


def test_a_copy_on_templates_shows_no_lengths() -> None:
    dry = tb.backend_copy(pair(), "template")
    assert repr(dry) == "ragged f32[batch: 2][time: 3] template, time=s64[batch: 2]"
    assert math.isinf(tr.max(tr.with_lengths(ones(b=1, t=1), t=[0]), axis="t").item())


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_traced_lengths_meet_those_of_a_tensor_from_outside(backend: str) -> None:
    """Lengths with data are compared by value, on either side, and other ones raise the library's own error."""
    with tb.default_backend(backend):
        weights, v = tr.from_list([[1.0, 2.0], [3.0]]), tb.ones((2, 2), names=("batch", "time"))
        for product in (lambda x: x * weights, lambda x: weights * x):
            slope = tb.grad(lambda v, product=product: tr.sum(product(tr.with_lengths(v, time=[2, 1]))))(v)
            assert slope.tolist() == [[1.0, 2.0], [3.0, 0.0]]
            with pytest.raises(ShapeError, match="the same lengths of the axes 'time'"):
                tb.jit(lambda x, product=product: tr.sum(product(x)))(weights)
        three = tr.from_list([[1.0, 2.0], [3.0], [4.0]])
        with pytest.raises(ShapeError, match="the same lengths of the axes 'time'"):
            tb.grad(lambda v: tr.sum(tr.with_lengths(v, time=[2, 1]) * three))(v)
