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
def test_axes_that_are_said_one_by_one_are_no_batch_axes(product: Callable[[tb.Tensor, tb.Tensor], tb.Tensor]) -> None:
    with pytest.raises(NamesError, match="dot: expected each name once"):
        product(normal(0, batch=2, feature=3), normal(1, batch=2, feature=3))


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_einsum_sums_in_the_common_dtype(backend: str) -> None:
    with tb.default_backend(backend):
        wide, narrow = tb.asarray([1, 2], dtype="int16"), tb.asarray([[127, 1], [1, 1]], dtype="int8")
        assert tb.einsum("i,ij->i", wide, narrow).tolist() == [128, 4]
        assert tb.einsum("i,ij->", wide, narrow).tolist() == 132
