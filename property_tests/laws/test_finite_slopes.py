"""A finite value has a finite gradient, also at the ends of what a function takes and of what it draws."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy
import pytest

import tensorbackend as tb

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
INF = math.inf
Loss = Callable[[tb.Tensor], tb.Tensor]


def with_lengths(x: tb.Tensor) -> object:
    return tb.ragged.with_lengths(tb.reshape(x, (2, 2), names=("batch", "time")), time=[1, 2])


CASES: dict[str, tuple[Loss, list[float]]] = {
    "atan": (tb.atan, [INF, -INF, 0.0]),
    "erf": (tb.erf, [INF, -INF, 0.0]),
    "erfc": (tb.erfc, [INF, -INF, 0.0]),
    "gamma_inc_l": (lambda x: tb.gamma_inc_l(2.5, x), [INF, 1e300, 0.0, 1e-300]),
    "gamma_inc_u": (lambda x: tb.gamma_inc_u(2.5, x), [INF, 1e300, 0.0, 1e-300]),
    "gamma_inc_l of a large a": (lambda x: tb.gamma_inc_l(250.0, x), [INF, 1e300, 0.0, 1e-300]),
    "betainc": (lambda x: tb.betainc(2.5, 3.5, x), [0.0, 1e-300, 1 - 2**-53, 1.0]),
    "i0e": (tb.i0e, [INF, -INF, 0.0]),
    "j0": (tb.j0, [0.0, 1e300, -1e300, 1e-300]),
    "j1": (tb.j1, [0.0, 1e300, -1e300, 1e-300]),
    "sigmoid": (tb.sigmoid, [INF, -INF, 800.0, -800.0]),
    "tanh": (tb.tanh, [INF, -INF, 800.0, -800.0]),
    "exp": (tb.exp, [-INF, -800.0, 0.0, 700.0]),
    "hypot": (lambda x: tb.hypot(x, 1.0), [0.0, 1e300, -1e300, 1e-300]),
    "std": (lambda x: tb.std(x, axis=-1), [2.0, 2.0, 2.0, 2.0]),
    "nanstd": (lambda x: tb.nanstd(x, axis=-1), [2.0, 2.0, 2.0, 2.0]),
    "ragged.std": (lambda x: tb.ragged.std(with_lengths(x), axis="time"), [1.0, 0.0, 2.0, 4.0]),  # type: ignore[arg-type]
    "ragged.std of equal ones": (lambda x: tb.ragged.std(with_lengths(x), axis="time"), [1.0] * 4),  # type: ignore[arg-type]
    "vector_norm": (tb.linalg.vector_norm, [0.0, 0.0, 0.0, 0.0]),
    "softmax": (lambda x: tb.softmax(x, axis=-1) ** 2, [-INF, 0.0, -1e300, 1.0]),
    "logsumexp": (lambda x: tb.logsumexp(x, axis=-1), [-INF, 0.0, -1e300, 1.0]),
    "abs": (tb.abs, [0.0, -0.0, 1e300, -1e-300]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_slopes_at_ends(backend: str, name: str) -> None:
    function, values = CASES[name]
    x = tb.asarray(values, dtype="f64", backend=backend)
    assert numpy.isfinite(function(x).tolist()).all()
    assert numpy.isfinite(tb.grad(lambda x: tb.sum(function(x)))(x).tolist()).all()


DRAWS: dict[str, Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = {
    "beta": lambda key, a: tb.random.beta(key, a, 2 * a),
    "dirichlet": lambda key, a: (
        tb.random.dirichlet(key, a) * tb.iota(a.shape, axis=0, dtype=a.dtype, backend=a.backend)
    ),
    "gamma": tb.random.gamma,
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_slopes_of_draws_that_underflow(dtype: str, name: str) -> None:
    least = {"f16": 1e-3, "bf16": 1e-18, "f32": 1e-18, "f64": 1e-150}[dtype]
    for parameter in (least, 0.1):
        a = tb.full(4, parameter, dtype=dtype)
        value, slope = tb.value_and_grad(lambda a: tb.sum(DRAWS[name](tb.random.key(0), a)))(a)
        assert numpy.isfinite(value.item())
        assert numpy.isfinite(slope.astype("f64").tolist()).all(), (parameter, slope)


def test_slopes_of_magnitudes_at_infinity() -> None:
    slope = tb.grad(lambda z: tb.abs(z))
    for z, expected in ((complex(INF, 0), 1), (complex(-INF, 3), -1), (complex(2, INF), -1j), (0j, 0)):
        assert slope(tb.asarray(z)).item() == expected
    of_both = tb.grad(lambda x: tb.hypot(x[0], x[1]))(tb.asarray([INF, 2.0]))
    assert of_both.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gradient", ["adjoint", "direct"])
def test_slopes_of_times_at_the_start(gradient: str) -> None:
    def last(times: tb.Tensor) -> tb.Tensor:
        start = tb.ones(1, dtype="f64", like=times)
        solution = tb.solvers.solve_ivp(lambda t, y: -y, (0.0, 1.0), start, times=times, gradient=gradient)  # type: ignore[arg-type]
        return tb.sum(solution.y)

    slopes = tb.grad(last)(tb.asarray([0.0, 0.5, 1.0], dtype="f64")).tolist()
    numpy.testing.assert_allclose(slopes, [-1.0, -math.exp(-0.5), -math.exp(-1)], rtol=1e-2)
