"""`top_k` over several axes, and with a separate number for each position."""

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, ShapeError, TemplateDataError

X = tb.random.normal(tb.random.key(0), (2, 4, 5), names=("batch", "beam", "word"))


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_several_axes_are_compared_with_each_other(backend: str) -> None:
    values, (beam, word) = tb.top_k(X.backend_copy(backend), 3, axis=("beam", "word"))
    assert (values.names, beam.names) == (("batch", None), ("batch", None))
    flat = np.sort(np.asarray(X).reshape(2, -1), axis=1)[:, ::-1][:, :3]
    assert np.array_equal(values, flat)
    assert np.array_equal(np.asarray(X)[np.arange(2)[:, None], np.asarray(beam), np.asarray(word)], flat)
    values, (word, batch) = tb.top_k(X.backend_copy(backend), 2, axis=["word", "batch"])
    assert values.names == ("beam", None)
    assert np.array_equal(np.asarray(X)[np.asarray(batch), np.arange(4)[:, None], np.asarray(word)], values)


def test_a_number_for_each_place() -> None:
    many = tb.asarray([0, 2], names=("batch",))[:, None]
    values, indices = tb.top_k(X, many, axis="word")
    assert values.template == tb.Template((2, 4, 2), "f32", ("batch", "beam", "word"))
    assert values[0].tolist() == [[0.0, 0.0]] * 4
    assert values[1].tolist() == tb.top_k(X[1], 2)[0].tolist()
    assert indices[0].tolist() == [[0, 0]] * 4
    assert tb.top_k(X, tb.asarray(9), axis="word", size=5)[0].tolist() == tb.top_k(X, 5)[0].tolist()
    assert tb.top_k(X, tb.asarray(2))[0].tolist() == tb.top_k(X, 2)[0].tolist()
    jitted = tb.jit(lambda x, k: tb.top_k(x, k, size=3)[0])
    assert jitted(X, many).shape == (2, 4, 3)


def test_wrong_numbers() -> None:
    with pytest.raises(DTypeError, match="top_k: expected a number k, or a tensor of integers"):
        tb.top_k(X, tb.zeros(4))
    with pytest.raises(ShapeError, match="top_k: expected sizes that are equal or 1"):
        tb.top_k(X, tb.zeros(3, dtype="s8"))
    with pytest.raises(ShapeError, match="top_k: expected a tensor k that broadcasts to"):
        tb.top_k(X, tb.zeros((6, 2, 4), dtype="s8"))
    with pytest.raises(ShapeError, match="top_k: expected a size from 0 to 5"):
        tb.top_k(X, tb.zeros(4, dtype="s8"), size=6)
    with pytest.raises(TemplateDataError, match="top_k: "):
        tb.jit(lambda x, k: tb.top_k(x, k)[0])(X, tb.zeros(4, dtype="s8"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "uint64"])
def test_values_beyond_a_tensor_k_keep_the_dtype(dtype: str) -> None:
    x = tb.tensor([0, 1, 1], dtype=dtype)
    values, indices = tb.top_k(x, tb.tensor(2), size=3)
    assert values.dtype is x.dtype
    assert (values == tb.tensor([1, 1, 0], dtype=dtype)).tolist() == [True] * 3
    assert indices.tolist() == [1, 2, 0]
