"""Initial weights are those of JAX for the same key."""

from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

NAMES = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform", "lecun_normal")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "inputs", "outputs"), [((6, 4), -2, -1), ((5, 3, 2, 2), 1, 0)])
def test_numbers_are_those_of_jax(name: str, shape: Any, inputs: int, outputs: int) -> None:
    weights = getattr(tb.nn, name)(tb.random.key(3), shape, inputs=inputs, outputs=outputs)
    theirs = getattr(jax.nn.initializers, name)(in_axis=inputs, out_axis=outputs)
    assert np.allclose(weights, theirs(jax.random.key(3), shape, "float32"), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 2, 5)])
def test_orthogonal_is_that_of_jax(shape: Any) -> None:
    weights = tb.nn.orthogonal(tb.random.key(3), shape, scale=2.0)
    assert np.allclose(weights, jax.nn.initializers.orthogonal(2.0)(jax.random.key(3), shape, "float32"), atol=1e-4)
    rows = np.asarray(weights).reshape(-1, shape[-1])
    product = rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T
    assert np.allclose(product, 4 * np.eye(len(product)), atol=1e-4)


def test_names_dtypes_and_the_mean_of_both_fans() -> None:
    weight = tb.nn.he_normal(
        tb.random.key(0), (4, 6), names=("unit", "feature"), inputs="feature", outputs="unit", dtype="f16"
    )
    assert weight.template == tb.Template((4, 6), "f16", ("unit", "feature"))
    first = tb.nn.orthogonal(tb.random.key(0), (4, 6), outputs="unit", names=("unit", "feature"), dtype="bf16")
    assert first.template == tb.Template((4, 6), "bf16", ("unit", "feature"))
    drawn = tb.nn.variance_scaling(tb.random.key(0), (300, 100), distribution="normal", fan="mean")
    assert tb.std(drawn).item() == pytest.approx(200**-0.5, rel=0.02)


def test_wrong_options() -> None:
    key = tb.random.key(0)
    with pytest.raises(ShapeError, match="expected a weight of at least two axes"):
        tb.nn.glorot_uniform(key, (3,))
    with pytest.raises(ShapeError, match="orthogonal: expected a weight of at least two axes"):
        tb.nn.orthogonal(key, (3,))
    with pytest.raises(ShapeError, match="expected two axes, for inputs and outputs"):
        tb.nn.he_normal(key, (3, 4), inputs=1)
    with pytest.raises(ArgumentError, match="variance_scaling: expected"):
        tb.nn.variance_scaling(key, (3, 4), fan="both")  # type: ignore[arg-type] # wrong on purpose
    for scale in (-5, float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="variance_scaling: expected a finite number of at least 0"):
            tb.nn.variance_scaling(key, (3, 4), scale=scale)
    assert not tb.nn.variance_scaling(key, (3, 4), scale=0).any()
    with pytest.raises(DTypeError, match="variance_scaling: expected"):
        tb.nn.variance_scaling(key, (3, 4), dtype="s8")
