"""Gamma, beta, Dirichlet and Student's t numbers: JAX's, on each backend, with the right distribution and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.special
from scipy import stats

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DataError, DTypeError, ShapeError
from tensorbackend.sampling import gamma

KEY = 3


def numbers(function: Callable[..., tb.Tensor], *parameters: list[float], backend: str = "numpy") -> Any:
    tensors = [tb.asarray(x, dtype="f64", names=("n",), backend=backend) for x in parameters]
    return function(tb.random.key(KEY, backend=backend), *tensors)


JAX: dict[str, tuple[list[list[float]], list[float]]] = {
    "gamma": ([[0.5, 2.0]], [0.908970430303711, 0.9561081355747633]),
    "beta": ([[0.5, 2.0], [1.0, 3.0]], [0.7261975652813819, 0.506985769665317]),
    "student_t": ([[0.5, 2.0]], [-2.5592000305444222, -0.2769975107381615]),
    "dirichlet": ([[0.5, 2.0, 1.0]], [0.44707826899596714, 0.470263009637071, 0.08265872136696191]),
}
"""Parameters, and what `jax.random` 0.10 draws with them from the key of seed 3, in float64."""


@pytest.mark.parametrize("name", JAX)
@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_numbers_are_those_of_jax(backend: str, name: str) -> None:
    parameters, expected = JAX[name]
    out = numbers(getattr(tb.random, name), *parameters, backend=backend)
    assert out.names == ("n",)
    assert out.backend.name == backend
    assert numpy.allclose(out.tolist(), expected, rtol=1e-11)


def test_jax_draws_them_in_a_compiled_function() -> None:
    parameters, expected = JAX["gamma"]
    with tb.default_backend("jax"):
        draw = tb.jit(lambda key, a: tb.random.gamma(key, a))
        out = draw(tb.random.key(KEY), tb.asarray(parameters[0], dtype="f64", names=("n",)))
    assert out.names == ("n",)
    assert numpy.allclose(out.tolist(), expected, rtol=1e-11)


@pytest.mark.parametrize("a", [0.2, 1.0, 7.5])
def test_a_large_sample_has_the_distribution(a: float) -> None:
    x = numpy.asarray(tb.random.gamma(tb.random.key(1), a, (2000,)))
    assert stats.kstest(x, stats.gamma(a).cdf).pvalue > 1e-4


def test_the_gradient_is_that_of_the_quantile() -> None:
    a = numpy.array([0.05, 0.5, 1.0, 4.0, 60.0] * 3)

    def draw(a: tb.Tensor) -> tb.Tensor:
        return tb.random.gamma(tb.random.key(5), a)

    given = tb.asarray(a, names=("n",))
    x, (tangent,) = draw(given), tb.vjp(draw, given)[1](tb.ones((15,), dtype="f64", names=("n",)))
    _, forward = tb.jvp(draw, (given,), (tb.ones((15,), dtype="f64", names=("n",)),))
    assert tangent.names == ("n",)
    p, step = scipy.special.gammainc(a, numpy.asarray(x)), 1e-5 * a
    ahead, behind = (scipy.special.gammaincinv(a + sign * step, p) for sign in (1, -1))
    assert numpy.allclose(tangent, (ahead - behind) / (2 * step), rtol=1e-5)
    assert numpy.allclose(tangent, forward, rtol=1e-12)


def test_probabilities_of_tiny_concentrations_have_a_gradient() -> None:
    def entropy(alpha: tb.Tensor) -> tb.Tensor:
        p = tb.random.dirichlet(tb.random.key(0), alpha)
        return tb.sum(p * tb.asarray([1.0, 2.0, 3.0], dtype="f64"))

    gradient = tb.grad(entropy)(tb.asarray([1e-3, 1e-3, 2.0], dtype="f64"))
    assert numpy.isfinite(gradient).all()


def test_shapes_names_and_dtypes_are_known_without_data() -> None:
    key = tb.template((2,), "u32")
    assert repr(tb.random.gamma(key, tb.template((3,), "f32", names=("n",)))) == repr(
        tb.template((3,), "f32", names=("n",))
    )
    assert tb.random.beta(key, 1.0, 2.0, (4, 2), "f16", names=("a", "b")).names == ("a", "b")
    assert tb.random.student_t(key, tb.template((3,), "s64")).dtype is tb.float32
    assert tb.random.gamma(tb.random.key(0), tb.zeros((0,))).shape == (0,)


def test_wrong_parameters_are_refused() -> None:
    key = tb.random.key(0)
    with pytest.raises(ArgumentError, match=r"gamma: expected a above 0, got a=0\.0"):
        tb.random.gamma(key, 0.0)
    with pytest.raises(DataError, match=r"beta: expected b above 0"):
        tb.random.beta(key, 1.0, tb.asarray([1.0, -1.0]))
    with pytest.raises(ShapeError, match=r"dirichlet: expected concentrations along a last axis"):
        tb.random.dirichlet(key, 1.0)
    with pytest.raises(ShapeError, match=r"gamma: expected sizes that are equal or 1"):
        tb.random.gamma(key, tb.ones(3), (2,))
    with pytest.raises(DTypeError, match=r"student_t: expected a floating dtype"):
        tb.random.student_t(key, 1.0, dtype="s64")
    with pytest.raises(ShapeError, match=r"gamma: expected one key"):
        tb.random.gamma(tb.random.split(key), 1.0)


def test_few_numbers_of_elements_are_compiled() -> None:
    """The loops take half a second to compile, and few more numbers are drawn than asked for."""
    key = tb.random.key(3)
    compiled = {0}
    for count in range(100, 112):
        x = tb.random.gamma(key, 2.0, (count,))
        assert x.shape == (count,)
        compiled.add(len(tb.explain_compilations(gamma._gamma)))
    assert len(compiled) <= 3
