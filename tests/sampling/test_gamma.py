"""Gamma, beta, Dirichlet and Student's t numbers: JAX's, on each backend, with the right distribution and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DataError, DTypeError, ShapeError
from tensorbackend.sampling import gamma
from tensorbackend.testing import profile

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


DRAWS: dict[str, Callable[[tb.Tensor, tb.Tensor, Any], tb.Tensor]] = {
    "gamma": lambda key, x, dtype: tb.random.gamma(key, x, dtype=dtype),
    "beta": lambda key, x, dtype: tb.random.beta(key, x, 1.5, dtype=dtype),
    "dirichlet": lambda key, x, dtype: tb.random.dirichlet(key, tb.reshape(x, (-1, 2)), dtype=dtype),
    "student_t": lambda key, x, dtype: tb.random.student_t(key, x, dtype=dtype),
    "binomial": lambda key, x, dtype: tb.random.binomial(key, tb.floor(x) * 8, 0.3, dtype=dtype),
    "poisson": lambda key, x, dtype: tb.random.poisson(key, x, dtype="s32"),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", [tb.float16, tb.bfloat16])
def test_narrow_numbers_are_those_of_float32_rounded_once_on_each_backend(name: str, dtype: tb.DType) -> None:
    @profile(4)
    @given(st.integers(0, 2**40), st.lists(st.floats(0.0625, 40, width=16), min_size=16, max_size=16))
    def agrees(seed: int, drawn: list[float]) -> None:
        def sample(backend: str, given: tb.DType, result: tb.DType) -> Any:
            x = tb.astype(tb.asarray(drawn, dtype=dtype, backend=backend), given)
            out = DRAWS[name](tb.random.key(seed, backend=backend), x, result)
            assert name == "poisson" or out.dtype is result
            return tb.astype(out, "f64" if result is tb.float32 else "f32")

        whole = sample("numpy", tb.float32, tb.float32)
        once = whole if name == "poisson" else tb.astype(tb.astype(whole, dtype), "f64")
        for backend in ("numpy", "jax", "binary"):
            out = numpy.asarray(sample(backend, dtype, dtype), "float64")
            with numpy.errstate(invalid="ignore"):  # an infinity minus itself
                far = (out != once) & ~(abs(out - once) <= 2 * float(tb.finfo(dtype).eps) * abs(once) + 1e-6)
            assert not far.any()
            assert (out != once).sum() <= (0 if backend == "numpy" else 2)

    agrees()


@pytest.mark.parametrize("dtype", [tb.float16, tb.bfloat16])
def test_parameters_beyond_a_narrow_dtype_are_drawn_with(dtype: tb.DType) -> None:
    key, large = tb.random.key(1), tb.full(8, 1e6, dtype="f64")
    assert numpy.allclose(tb.random.beta(key, large, large, dtype=dtype).tolist(), 0.5, atol=4e-3)
    assert numpy.allclose(tb.random.dirichlet(key, large, dtype=dtype).tolist(), 0.125, rtol=1e-2)
    assert tb.isfinite(tb.random.student_t(key, large, dtype=dtype)).all()
    assert numpy.isfinite(tb.random.beta(key, 1e6, 1e6, (8,), dtype=dtype).tolist()).all()
    gradient = tb.grad(lambda x: tb.sum(tb.astype(tb.random.gamma(key, x), "f32")))(tb.full(8, 3.0, dtype=dtype))
    assert gradient.dtype is dtype
    assert tb.isfinite(gradient).all()
