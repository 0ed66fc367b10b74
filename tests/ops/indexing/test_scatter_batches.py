"""`take`, `gather` and writes at index vectors along batch axes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import AxisError, DTypeError, IndexRangeError, NamesError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]
X = tb.random.normal(tb.random.key(0), (4, 7, 5), names=("a", "time", "batch"))
INDICES = tb.random.randint(tb.random.key(1), (5, 3), -7, 7, names=("batch", None))


@pytest.mark.parametrize("backend", BACKENDS)
def test_take_for_each_entry_of_a_batch(backend: str, whole: Callable[..., Any]) -> None:
    x, indices = X.backend_copy(backend), INDICES.backend_copy(backend)
    taken = tb.take(x, indices, axis="time", batch="batch")
    assert taken.names == ("a", "time", "batch")
    expected_matrices = [np.asarray(X)[:, np.asarray(INDICES)[entry], entry] for entry in range(5)]
    assert np.array_equal(np.asarray(taken), np.stack(expected_matrices, axis=-1))

    @whole
    def take_otherwise(x: tb.Tensor, indices: tb.Tensor) -> Any:
        with_batch_in_front = tb.take(tb.permute_dims(x, ("batch", "time", "a")), indices, axis=1, batch=0)
        return tb.take(x, indices[:, 0], axis="time", batch="batch"), with_batch_in_front

    first, with_batch_in_front = take_otherwise(x, indices)
    assert first.names == ("a", "batch")
    assert np.array_equal(np.asarray(with_batch_in_front), np.stack([matrix.T for matrix in expected_matrices]))


def test_take_pairs_several_axes() -> None:
    x = tb.iota((2, 3, 4), names=("batch", "beam", "word"))
    indices = tb.asarray([[0, 3], [1, 2], [3, 3]], names=("beam", "batch"))
    taken = tb.take(x, indices, axis="word", batch=("beam", "batch"))
    assert taken.names == ("batch", "beam")
    assert np.array_equal(taken, np.take_along_axis(np.asarray(x), np.asarray(indices).T[..., None], axis=-1)[..., 0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_indices_outside(backend: str, mode: Any) -> None:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("row", None), backend=backend)
    far = tb.asarray([[9], [1]], dtype="uint64", backend=backend)
    assert tb.gather(x, far, mode=mode, batch=0).tolist() == ([2.0, 4.0] if mode == "clip" else [0.0, 4.0])
    huge = tb.asarray([[2**64 - 1], [1]], dtype="uint64", backend=backend)
    assert tb.gather(x, huge, mode=mode, batch=0).tolist() == ([2.0, 4.0] if mode == "clip" else [0.0, 4.0])
    with pytest.raises(IndexRangeError):
        tb.gather(x, far, batch=0)


OPS: list[tuple[Callable[..., tb.Tensor], Callable[[Any, Any], Any]]] = [
    (tb.indexed_add, lambda a, b: a + b),
    (tb.indexed_put, lambda a, b: b),
    (tb.indexed_max, max),
    (tb.indexed_min, min),
    (tb.indexed_mean, lambda a, b: (a + b) / 2),
]


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize(("op", "one"), OPS)
def test_writes_for_each_entry_of_a_batch(op: Any, one: Any, backend: str) -> None:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], names=("place", "batch"), backend=backend)
    indices = tb.asarray([[2], [0]], names=("batch", None), backend=backend)
    written = op(x, indices, tb.asarray([10.0, -10.0], backend=backend), batch="batch")
    reference = np.asarray(x).copy()
    reference[2, 0], reference[0, 1] = one(5.0, 10.0), one(2.0, -10.0)
    assert written.names == ("place", "batch")
    assert written.tolist() == reference.tolist()


def test_a_batch_has_gradients_and_is_compiled() -> None:
    def total(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.take(x, INDICES, axis="time", batch="batch"))

    counts = np.zeros((7, 5))
    for entry in range(5):
        np.add.at(counts[:, entry], np.asarray(INDICES)[entry], 1)
    assert np.array_equal(tb.grad(total)(X), np.broadcast_to(counts, (4, 7, 5)))
    assert tb.all_close(tb.jit(total)(X), total(X))
    template = tb.template((4, 7, 5), "f32", X.names)
    assert tb.take(template, INDICES, axis="time", batch="batch").names == ("a", "time", "batch")


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.take(X, INDICES, axis="batch", batch="batch"), AxisError, "an axis to take from that is not a"),
    (lambda: tb.take(X, INDICES, axis="time", batch="row"), AxisError, "expected an axis name"),
    (lambda: tb.take(X, INDICES[:4], axis="time", batch="batch"), ShapeError, "paired axes of the same sizes"),
    (lambda: tb.take(X, INDICES, axis="time", batch=0), ShapeError, "paired axes of the same sizes"),
    (lambda: tb.take(X[:, :, :4].rename("n", "time", "m"), INDICES[:4], axis="time", batch=0), NamesError, "for match"),
    (lambda: tb.take(X, INDICES * 1.0, axis="time", batch="batch"), DTypeError, "indices of an integer dtype"),
    (lambda: tb.gather(X, INDICES, batch=1), AxisError, "gather: expected batch axes other than the last axis of"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_axes_that_do_not_pair(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
