"""Dropout, gated linear units and one-hot vectors."""

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

KEY = tb.random.key(0)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_dropout_keeps_the_mean(backend: str) -> None:
    x = tb.ones((40, 50), names=("batch", "feature"), backend=backend)
    dropped = tb.nn.dropout(KEY.backend_copy(backend), x, 0.2)
    assert dropped.template is x.template
    assert set(np.unique(np.asarray(dropped)).tolist()) == {0.0, 1.25}
    assert abs(tb.mean(dropped).item() - 1) < 0.05
    whole = np.asarray(tb.nn.dropout(KEY.backend_copy(backend), x, 0.5, axis="feature"))
    assert (whole == whole[:1]).all()
    assert set(np.unique(whole).tolist()) == {0.0, 2.0}
    assert tb.nn.dropout(KEY.backend_copy(backend), x, 0.0).tolist() == x.tolist()
    assert tb.sum(tb.nn.dropout(KEY.backend_copy(backend), x, 1.0)).item() == 0


def test_gradient_of_dropout_is_its_mask() -> None:
    x = tb.ones(20)
    gradient = tb.grad(lambda x: tb.sum(tb.nn.dropout(KEY, x, 0.5)))(x)
    assert gradient.tolist() == tb.nn.dropout(KEY, x, 0.5).tolist()
    with pytest.raises(ArgumentError, match=r"dropout: expected a rate from 0 to 1, got rate=1\.5"):
        tb.nn.dropout(KEY, x, 1.5)


def test_glu() -> None:
    x = tb.random.normal(KEY, (3, 6), names=("batch", "feature"))
    assert np.allclose(tb.nn.glu(x, axis="feature"), jax.nn.glu(np.asarray(x)), atol=1e-6)
    swiglu = np.asarray(x)[:, :3] * np.asarray(jax.nn.silu(np.asarray(x)[:, 3:]))
    assert np.allclose(tb.nn.glu(x, gate=tb.nn.silu), swiglu, atol=1e-6)
    with pytest.raises(ShapeError, match="glu: expected an even size of axis 0"):
        tb.nn.glu(x, axis="batch")


@pytest.mark.parametrize("dtype", ["s8", "u8", "s64", "u64"])
def test_one_hot(dtype: str) -> None:
    indices = tb.asarray([[0, 2], [9, 1]], dtype=dtype, names=("batch", "time"))
    encoded = tb.nn.one_hot(indices, 3, name="class")
    assert encoded.names == ("batch", "time", "class")
    assert np.array_equal(encoded, jax.nn.one_hot(np.asarray(indices), 3))
    assert tb.nn.one_hot(indices, 3, axis=0).shape == (3, 2, 2)
    assert np.array_equal(
        tb.nn.one_hot(indices, 3, axis=1, dtype="bool"), jax.nn.one_hot(np.asarray(indices), 3, axis=1)
    )
    assert tb.nn.one_hot(indices, 300)[0, 1, 2].item() == 1


def test_one_hot_of_indices_outside_is_zero() -> None:
    assert tb.nn.one_hot(tb.asarray([-1, 3]), 3).tolist() == [[0.0] * 3] * 2
    assert tb.nn.one_hot(tb.asarray([2**64 - 1, 2], dtype="u64"), 3).tolist() == [[0.0] * 3, [0.0, 0.0, 1.0]]
    with pytest.raises(DTypeError, match="one_hot: expected indices of an integer dtype"):
        tb.nn.one_hot(tb.asarray([0.5]), 3)
    with pytest.raises(ArgumentError, match="one_hot: expected a size of at least 0"):
        tb.nn.one_hot(tb.asarray([0]), -1)
