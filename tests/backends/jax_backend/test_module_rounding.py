"""Correctly rounded quotients and roots, for devices where XLA's are not, such as GPUs. They run on any device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.jax_backend.module import quotient, root, unfused_product
from tensorbackend.dtypes import as_dtype
from tensorbackend.interchange import numpy_dtype

tb.get_backend("jax")  # switches 64-bit dtypes on
CHANCE = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_they_are_rounded_once(dtype: str) -> None:
    left, right = (CHANCE.uniform(0.01, 100.0, 50_000).astype(numpy_dtype(as_dtype(dtype))) for _ in range(2))
    wide = left.astype("f8"), right.astype("f8")
    assert np.array_equal(jax.jit(quotient)(left, right), (wide[0] / wide[1]).astype(left.dtype))
    assert np.array_equal(jax.jit(root)(left), np.sqrt(wide[0]).astype(left.dtype))
    assert np.array_equal(jax.jit(quotient)(left, left), np.ones_like(left))


def test_integers_are_rounded_before_they_are_divided() -> None:
    left, right = np.array([22034533, 2**31 - 1], "i4"), np.array([2**31 - 1, 7], "i4")
    quotients = jax.jit(lambda x, y: quotient(x.astype("f4"), y.astype("f4")))(left, right)
    assert np.array_equal(quotients, left.astype("f4") / right.astype("f4"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("source", ["u1", "i4", "f8"])
def test_products_are_rounded_before_they_are_added(dtype: str, source: str) -> None:
    """Unsigned integers have a sign that the compiler knows."""
    left, right = CHANCE.integers(0, 256, (2, 4096)).astype(source)
    small, large = np.array([0.05, 0.95], dtype)
    sums = jax.jit(lambda x, y: unfused_product(x.astype(dtype) * small) + unfused_product(y.astype(dtype) * large))(
        left, right
    )
    assert np.array_equal(sums, left.astype(dtype) * small + right.astype(dtype) * large)
    values = jnp.array([0.0, -0.0, jnp.inf, -jnp.inf, -1.5, jnp.nan], dtype)
    assert str(np.asarray(unfused_product(values)).tolist()) == "[0.0, -0.0, inf, -inf, -1.5, nan]"
    assert jax.grad(lambda x: unfused_product(x * x))(jnp.array(3.0, dtype)) == 6


def test_values_without_a_number() -> None:
    left = jnp.array([1.0, -1.0, 0.0, jnp.inf, jnp.nan, 0.0, -0.0], "float32")
    right = jnp.array([0.0, 0.0, 0.0, jnp.inf, 1.0, -2.0, 2.0], "float32")
    assert str(np.asarray(quotient(left, right)).tolist()) == "[inf, -inf, nan, nan, nan, -0.0, -0.0]"
    assert str(np.asarray(root(left)).tolist()) == "[1.0, nan, 0.0, inf, nan, 0.0, -0.0]"


def test_derivatives_are_those_of_the_plain_functions() -> None:
    x, y = jnp.float32(3.0), jnp.float32(7.0)
    assert jax.grad(quotient, argnums=(0, 1))(x, y) == jax.grad(lambda x, y: x / y, argnums=(0, 1))(x, y)
    assert jax.grad(root)(x) == jax.grad(jnp.sqrt)(x)
