"""Activations against JAX, up to the limits of the dtypes, and their gradients, also at kinks."""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import mpmath
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError

PAIRS: list[tuple[Callable[..., tb.Tensor], Callable[..., Any]]] = [
    (tb.nn.relu, jax.nn.relu),
    (tb.nn.leaky_relu, jax.nn.leaky_relu),
    (tb.nn.elu, jax.nn.elu),
    (tb.nn.selu, jax.nn.selu),
    (tb.nn.silu, jax.nn.silu),
    (lambda x: tb.nn.gelu(x), lambda x: jax.nn.gelu(x, approximate=False)),
    (lambda x: tb.nn.gelu(x, approximate=True), lambda x: jax.nn.gelu(x, approximate=True)),
    (tb.nn.softplus, jax.nn.softplus),
    (tb.nn.log_sigmoid, jax.nn.log_sigmoid),
    (tb.nn.hard_tanh, jax.nn.hard_tanh),
    (tb.nn.hard_sigmoid, jax.nn.hard_sigmoid),
    (tb.nn.hard_silu, jax.nn.hard_silu),
]
X = np.concatenate([np.linspace(-6, 6, 49), [0.0, -30.0, 30.0, 100.0]]).astype(np.float32)
SMOOTH = X[np.abs(np.abs(X) - np.array([[0.0], [1.0], [3.0]])).min(axis=0) > 1e-3]
"""Points where no activation has a kink."""


@functools.cache
def reference(theirs: Callable[..., Any]) -> Any:
    """Return JAX's values at X and gradients at SMOOTH in double precision; in single precision some are inexact."""
    with jax.enable_x64(True):
        compiled = jax.jit(lambda x, smooth: (theirs(x), jax.vmap(jax.grad(theirs))(smooth)))
        return jax.device_get(compiled(X.astype("float64"), SMOOTH.astype("float64")))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_values_and_gradients_are_those_of_jax(ours: Any, theirs: Any, backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray(X, names=("n",), backend=backend)
    values, gradients = reference(theirs)
    assert ours(x).names == ("n",)
    assert np.allclose(np.asarray(ours(x)), values, rtol=2e-5, atol=2e-6)
    gradient = whole(tb.grad(lambda x: tb.sum(ours(x))))(tb.asarray(SMOOTH, backend=backend))
    assert np.allclose(np.asarray(gradient), gradients, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_ends_of_each_dtype(ours: Any, theirs: Any) -> None:
    for dtype in ("f16", "bf16", "f32", "f64"):
        most = tb.finfo(dtype).max
        activations = ours(tb.asarray([-math.inf, -most, 0.0, most, math.inf], dtype=dtype))
        assert activations.dtype == tb.asarray(0, dtype=dtype).dtype
        assert not any(map(math.isnan, activations.tolist()))
        gradient = tb.grad(lambda x: tb.sum(ours(x)))(tb.asarray([-most, 0.0, most], dtype=dtype))
        assert not any(map(math.isnan, gradient.tolist()))


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_narrow_floats_are_rounded_once(ours: Any, theirs: Any) -> None:
    x = tb.asarray(X[:49], dtype="f16")
    wide = tb.astype(ours(tb.astype(x, "f32")), "f16")
    assert ours(x).tolist() == wide.tolist()


def test_gradients_at_kinks_are_those_from_the_left() -> None:
    for function, left in ((tb.nn.relu, 0.0), (tb.nn.leaky_relu, 0.01), (tb.nn.elu, 1.0)):
        assert tb.grad(function)(0.0).item() == pytest.approx(left)


def test_relu_keeps_integers_and_refuses_complex_numbers() -> None:
    assert tb.nn.relu(tb.asarray([-1, 2], dtype="s8")).template == tb.Template((2,), "s8")
    with pytest.raises(DTypeError, match="relu: expected a real dtype"):
        tb.nn.relu(tb.asarray([1j]))
    assert tb.nn.silu(tb.asarray([0, 1])).dtype == tb.float32


def test_relatives_of_an_exact_formula_are_caught() -> None:
    """The comparison with JAX is accurate enough to tell the two forms of gelu apart."""
    exact = jax.jit(lambda x: jax.nn.gelu(x, approximate=False))(X)
    assert not np.allclose(tb.nn.gelu(tb.asarray(X), approximate=True), exact, rtol=2e-5)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("function", [tb.sigmoid, tb.nn.silu])
def test_an_element_depends_on_no_other(function: Callable[[tb.Tensor], tb.Tensor], dtype: str) -> None:
    """An element that needs special treatment, such as -1000, does not change the bits of other elements."""
    x = tb.astype(tb.linspace(-8.0, 8.0, 333), dtype)
    reference = np.asarray(tb.astype(function(x), "f64"))
    for other in (-1000.0, -math.inf, math.nan):
        beside = tb.concatenate([x, tb.full(1, other, dtype=dtype)])
        assert np.array_equal(np.asarray(tb.astype(function(beside), "f64"))[:-1], reference)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize(
    ("dtype", "places"), [("f32", [-87.0, -89.0, -96.0, -103.0]), ("f64", [-700.0, -709.0, -740.0])]
)
def test_silu_keeps_its_digits_where_the_sigmoid_is_subnormal(dtype: str, places: list[float], backend: str) -> None:
    """There it is x * exp(x), whose only rounding that counts is that of the result."""
    with mpmath.workdps(40):
        wanted = [float(x * mpmath.exp(x)) for x in map(mpmath.mpf, places)]
    found = np.asarray(tb.nn.silu(tb.asarray(places, dtype=dtype, backend=backend)))
    np.testing.assert_array_max_ulp(found, np.array(wanted, found.dtype), 8)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_gradients_of_silu_far_below_zero_have_a_number(backend: str) -> None:
    """At the change of formulas at -40 too, to the digits of float64."""
    x = tb.asarray([-math.inf, -1e300, -41.0, -40.0, -39.0], dtype="f64", backend=backend)
    with mpmath.workdps(40):
        slopes = [mpmath.diff(lambda t: t / (1 + mpmath.exp(-t)), each) for each in (-41, -40, -39)]
    found = tb.grad(lambda x: tb.sum(tb.nn.silu(x)))(x).tolist()
    assert found == pytest.approx([0.0, 0.0, *map(float, slopes)], rel=1e-13, abs=0.0)
