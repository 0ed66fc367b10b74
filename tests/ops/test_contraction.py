"""`dot` by the names of axes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ArgumentKindError, AxisError, NamesError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]


def normal(seed: int, *, backend: str = "numpy", **sizes: int) -> tb.Tensor:
    drawn = tb.random.normal(tb.random.key(seed), tuple(sizes.values()), names=tuple(sizes))
    return drawn.backend_copy(backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_name_is_contracted_and_shared_names_are_batch_axes(backend: str) -> None:
    x = normal(0, batch=2, time=3, feature=4, backend=backend)
    weight = normal(1, unit=5, feature=4, batch=2, backend=backend)
    product = tb.dot(x, weight, contract="feature")
    assert product.names == ("batch", "time", "unit")
    assert np.allclose(product, np.einsum("btf,ufb->btu", x, weight), atol=1e-5)
    both = tb.dot(x, weight, contract={"batch", "feature"})
    assert both.names == ("time", "unit")
    assert np.allclose(both, np.einsum("btf,ufb->tu", x, weight), atol=1e-5)
    assert tb.dot(x, weight, contract=(["feature"], ["feature"]), batch="batch").tolist() == product.tolist()
    same = tb.einsum("batch time feature, unit feature batch -> batch time unit", x, weight)
    assert tb.all_close(same, product)


def test_names_decide_under_every_transform() -> None:
    x, weight = normal(0, batch=2, feature=3), normal(1, feature=3, batch=2)

    def total(x: Any, weight: Any) -> Any:
        return tb.sum(tb.dot(x, weight, contract="feature"))

    assert tb.grad(total)(x, weight).tolist() == tb.permute_dims(weight, ("batch", "feature")).tolist()
    assert tb.jit(total)(x, weight).item() == total(x, weight).item()
    assert tb.dot(tb.template((2, 3), "f32", x.names), weight, contract="feature").names == ("batch",)
    mapped = tb.vmap(lambda x: tb.dot(x, weight, contract={"feature"}))(tb.stack([x, x]))
    assert mapped.names == (None, "batch")


WRONG: list[tuple[Any, type[Exception], str]] = [
    ("unit", AxisError, r"dot: expected an axis name of f32\[batch: 2\]\[feature: 3\], got axis='unit'"),
    ({"feature", "unit"}, AxisError, "dot: expected an axis name"),
    (("feature",), ArgumentError, "dot: expected a name, a set of names, or a pair"),
    (3, ArgumentKindError, "dot: expected a string, or a Set"),
    ("batch", ShapeError, "dot: expected paired axes of the same sizes"),
]


@pytest.mark.parametrize(("contract", "error", "text"), WRONG)
def test_what_cannot_be_contracted(contract: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        tb.dot(
            tb.ones((2, 3), names=("batch", "feature")), tb.ones((4, 3), names=("batch", "feature")), contract=contract
        )


MIX_UPS: list[Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = [
    lambda x, y: tb.dot(x, y, contract=(["feature"], ["feature"])),
    lambda x, y: tb.dot(x, y, contract="feature", batch=((), ())),
]


@pytest.mark.parametrize("product", MIX_UPS)
def test_axes_that_are_said_one_by_one_are_not_batch_axes(product: Callable[[tb.Tensor, tb.Tensor], tb.Tensor]) -> None:
    with pytest.raises(NamesError, match="dot: expected each name once"):
        product(normal(0, batch=2, feature=3), normal(1, batch=2, feature=3))


NAMED_TWICE: list[Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = [
    lambda x, y: x @ y.T,
    lambda x, y: tb.matmul(x, y.T),
    lambda x, y: tb.outer(x[:, 0], y[:, 0]),
    lambda x, y: x[:, None] - y,
]


@pytest.mark.parametrize("product", NAMED_TWICE)
def test_a_name_twice_is_answered_with_code_that_runs(product: Callable[[tb.Tensor, tb.Tensor], tb.Tensor]) -> None:
    x = normal(0, row=3, column=2)
    with pytest.raises(NamesError, match=r"write y\.rename\(row='row2'\) for one of the operands"):
        product(x, x)
    assert product(x, x.rename(row="row2")).names[:2] == ("row", "row2")


SAME_LETTERS: list[tuple[str, list[Any], Any]] = [
    ("i,i->", [[0, 1, 2], [1, 2, 3]], 8),
    ("i,i", [[0, 1, 2], [1, 2, 3]], 8),
    ("i,i,i->", [[0, 1, 2]] * 3, 9),
    ("ii,i->", [[[1, 2], [3, 4]], [1, 1]], 5),
    ("ji,ij,i->", [[[1, 2], [3, 4]], [[1, 0], [2, 1]], [1, 1]], 9),
    ("jj,j,ii->i", [[[1, 2], [3, 4]], [2, -1], [[0, 5], [5, 1]]], [0, -2]),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("subscripts", "operands", "wanted"), SAME_LETTERS, ids=[row[0] for row in SAME_LETTERS])
def test_terms_of_one_equal_letter_are_two_terms(
    backend: str, subscripts: str, operands: list[Any], wanted: Any
) -> None:
    tensors = [tb.asarray(operand, backend=backend) for operand in operands]
    assert tb.einsum(subscripts, *tensors).tolist() == wanted
    assert tb.jit(lambda *tensors: tb.einsum(subscripts, *tensors))(*tensors).tolist() == wanted


def test_the_gradient_of_a_product_of_vectors_is_the_other_vector() -> None:
    y = tb.asarray([1.0, 2.0, 3.0])
    assert tb.grad(lambda x: tb.einsum("i,i->", x, y))(tb.asarray([0.0, 1.0, 2.0])).tolist() == [1.0, 2.0, 3.0]


def test_a_word_is_enough_for_a_tensor_of_one_axis() -> None:
    x, y = tb.asarray([1.0, 2.0, 3.0], names=("time",)), tb.asarray([4.0, 5.0, 6.0])
    assert tb.einsum("time, time ->", x, y).item() == tb.einsum("time,time", x, y).item() == 32.0
    assert tb.einsum("time,unit->time unit", x, y).names == ("time", "unit")
    assert tb.einsum("time -> time", y).names == ("time",)
    assert tb.einsum(", time -> time", tb.asarray(2.0), x).tolist() == [2.0, 4.0, 6.0]
    assert tb.einsum("..., time ->...", tb.ones((2, 1)), x).tolist() == [[6.0], [6.0]]
    assert tb.einsum("ij,jk->ik", tb.ones((2, 3)), tb.ones((3, 4))).names == (None, None)
    assert tb.einsum("n k, k m -> n m", tb.ones((2, 3)), tb.ones((3, 4))).names == (None, None)
    with pytest.raises(NamesError, match="einsum: expected axes that have the names of their term"):
        tb.einsum("unit, unit ->", x, y)
    with pytest.raises(ArgumentError, match=r"expected 1 letter for .* got term='time'; separate names of axes by"):
        tb.einsum("time, jk -> jk", x, tb.ones((2, 3)))


def test_a_letter_of_two_names_is_an_error_for_two_operands_of_one_template() -> None:
    x = tb.ones((2, 2), names=("row", "column"))
    for other in (x, tb.ones((2, 2), names=("row", "column"))):
        with pytest.raises(NamesError, match="einsum"):
            tb.einsum("ij,jk->ik", x, other)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_einsum_sums_in_the_common_dtype(backend: str) -> None:
    with tb.default_backend(backend):
        wide, narrow = tb.asarray([1, 2], dtype="int16"), tb.asarray([[127, 1], [1, 1]], dtype="int8")
        assert tb.einsum("i,ij->i", wide, narrow).tolist() == [128, 4]
        assert tb.einsum("i,ij->", wide, narrow).tolist() == 132
