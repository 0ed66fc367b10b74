"""Warm calls of ops with options, sequences and several tensors: what is ready, and what is told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import tensorbackend as tb
from tensorbackend.dispatch.operands import Call
from tensorbackend.errors import (
    AxisError,
    OperandError,
)

BACKENDS = ("binary", "numpy", "template")

READY: dict[str, Callable[[tb.Tensor], object]] = {
    "an operator": lambda x: x + x,
    "a number": lambda x: 2.5 * x,
    "a number among three": lambda x: tb.where(x > 0, x, 0.0),
    "a number for a composite": lambda x: tb.clip(x, -1, 1),
    "an option": lambda x: tb.sum(x, axis="b"),
    "a list": lambda x: tb.sum(x, axis=[0, 1]),
    "lists in a tuple": lambda x: tb.dot(x, x, contract=(["a", "b"], ["a", "b"])),
    "a list for a composite": lambda x: tb.softmax(x, axis=["a", "b"]),
    "a sequence of tensors": lambda x: tb.concatenate([x, x], axis="a"),
    "one for a composite": lambda x: tb.stack([x, x]),
    "a composite of an op with axes": lambda x: tb.matmul(x, x.T.rename("b", "c")),
    "a creation": lambda x: tb.full([2, 3], 1.5, names=["a", "b"], backend=x.backend),
    "an index": lambda x: x[0, 1:],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("call", READY.values(), ids=READY)
def test_the_second_call_is_ready(
    call: Callable[[tb.Tensor], object], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tb.asarray([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], names=("a", "b"), backend=backend)
    for _ in range(2):  # a composite becomes a program at its second call
        before = call(x)

    def unexpected(*arguments: object) -> None:
        raise AssertionError("a call that is ready is not looked into again")

    monkeypatch.setattr(Call, "__init__", unexpected)
    after = call(x)
    assert isinstance(before, tb.Tensor)
    assert isinstance(after, tb.Tensor)
    assert after.template is before.template
    if backend != "template":
        assert after.tolist() == before.tolist()


def test_options_that_do_not_hash_are_refused() -> None:
    with pytest.raises(AxisError, match="an axis as an int or a name"):
        tb.sum(tb.ones((2, 3)), axis=[{}])  # type: ignore[list-item]


def test_options_that_are_equal_as_keys_stay_apart() -> None:
    x = tb.ones((2, 3))
    assert tb.sum(x, axis=1).shape == (2,)
    with pytest.raises(AxisError, match="an axis as an int or a name"):
        tb.sum(x, axis=True)


@tb.composite
def weighted_total(*tensors: tb.Tensor, weight: int = 1) -> tb.Tensor:
    total = tensors[0]
    for tensor in tensors[1:]:
        total = tb.add(total, tensor)
    return tb.multiply(total, weight)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_composite_of_any_number_of_tensors_has_options(backend: str) -> None:
    x = tb.tensor([1, 2], names=("n",), backend=backend)
    assert weighted_total(x, x, x, weight=2).tolist() == [6, 12]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_zeros_of_both_signs_stay_apart(backend: str) -> None:
    x = tb.tensor([1.0], backend=backend)
    for zero in (0.0, -0.0, 0.0):
        assert repr(tb.full((), zero, backend=backend).item()) == repr(zero)
        assert repr(tb.multiply(x, zero).item()) == repr(tb.multiply(zero, x).item()) == repr(zero)


@tb.composite
def appended(x: tb.Tensor, /, last: tb.Tensor | None = None, *, times: int = 1) -> tb.Tensor:
    parts = [x] * times
    return tb.concatenate(parts if last is None else [*parts, last])


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax", "template"])
def test_an_optional_tensor_may_be_left_out(backend: str) -> None:
    x, call = tb.tensor([1, 2], backend=backend), cast(Callable[..., tb.Tensor], appended)
    for _ in range(3):
        assert call(x).shape == call(x, None).shape == (2,)
        assert call(x, x, times=2).shape == call(x, last=x, times=2).shape == (6,)


# Operands that have a template and a backend, but no payload: no warm call mistakes them for tensors

DENSE = tb.asarray([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])


SPARSE: Any = tb.sparse.from_dense(DENSE)


REFUSED: dict[str, Callable[[Any], object]] = {
    "one tensor": tb.exp,
    "two tensors": lambda a: tb.add(a, a),
    "a tensor and another": lambda a: tb.add(DENSE, a),
    "a tensor and a number": lambda a: tb.add(a, 2.0),
    "three tensors": lambda a: tb.where(DENSE > 0, a, a),
    "three with a number": lambda a: tb.where(DENSE > 0, a, 0.0),
    "options": lambda a: tb.sum(a, axis=0),
    "a composite": tb.softmax,
    "a sequence": lambda a: tb.concat([DENSE, a]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_sparse_matrix_is_refused_before_and_after_such_a_call(name: str) -> None:
    texts = []
    for _ in range(3):
        with pytest.raises(OperandError, match="expected a tensor, a Python number or an array") as caught:
            REFUSED[name](SPARSE)
        texts.append(str(caught.value))
        for _ in range(3):
            REFUSED[name](DENSE)
    assert len(set(texts)) == 1


def test_an_operator_leaves_a_sparse_matrix_to_its_class() -> None:
    x = tb.asarray([1.0, 1.0, 1.0])
    for _ in range(3):
        assert (x @ SPARSE).tolist() == (x @ DENSE).tolist() == [4.0, 2.0]
        assert (DENSE * SPARSE).to_dense().tolist() == (DENSE * DENSE).tolist()
