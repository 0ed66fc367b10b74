"""Homogeneous functions of operands times 2**k, to both ends of float64: f(s x) is s**d f(x).

Also what rounds to a range keeps to it, and counts of more elements than a narrow dtype holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest

import tensorbackend as tb

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
EXPONENTS = (-1000, -500, -30, 30, 500, 1000)
RANDOM = numpy.random.default_rng(0)
VECTOR, MATRIX = RANDOM.normal(size=6), RANDOM.normal(size=(3, 3))
HERMITIAN = MATRIX @ MATRIX.T


class Homogeneous(NamedTuple):
    """A function, an operand, and the degree."""

    function: Callable[[tb.Tensor], Any]
    x: Any = VECTOR
    degree: float = 1


FUNCTIONS = {
    "abs of complex": Homogeneous(lambda x: tb.abs(tb.complex(x, x[::-1]))),
    "cholesky": Homogeneous(tb.linalg.cholesky, HERMITIAN, 0.5),
    "cumulative_sum": Homogeneous(tb.cumulative_sum),
    "eigvalsh": Homogeneous(tb.linalg.eigvalsh, HERMITIAN),
    "fft": Homogeneous(lambda x: tb.abs(tb.fft.fft(x))),
    "geomspace": Homogeneous(lambda x: tb.geomspace(abs(x[0].item()), 7 * abs(x[0].item()), 5, dtype="f64")),
    "hypot": Homogeneous(lambda x: tb.hypot(x, x[::-1])),
    "interp": Homogeneous(
        lambda x: tb.interp(tb.abs(x) / 2, tb.asarray([0.0, 1.0], like=x) * tb.max(tb.abs(x)), x[:2])
    ),
    "inv": Homogeneous(tb.linalg.inv, MATRIX, -1),
    "matrix_norm": Homogeneous(tb.linalg.matrix_norm, MATRIX),
    "max": Homogeneous(tb.max),
    "mean": Homogeneous(tb.mean),
    "median": Homogeneous(tb.median),
    "norm of power 3": Homogeneous(lambda x: tb.linalg.vector_norm(x, ord=3)),
    "pinv": Homogeneous(tb.linalg.pinv, MATRIX[:, :2], -1),
    "qr": Homogeneous(lambda x: tb.linalg.qr(x).R, MATRIX),
    "quantile": Homogeneous(lambda x: tb.quantile(x, 0.3)),
    "solve": Homogeneous(lambda x: tb.linalg.solve(x, x[0]), MATRIX, 0),
    "svdvals": Homogeneous(tb.linalg.svdvals, MATRIX),
    "vector_norm": Homogeneous(tb.linalg.vector_norm),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_values_scale(backend: str, name: str) -> None:
    function, x, degree = FUNCTIONS[name]
    plain = numpy.asarray(function(tb.asarray(x, backend=backend)).tolist())
    for exponent in EXPONENTS:
        scaled = numpy.asarray(function(tb.asarray(numpy.ldexp(x, exponent), backend=backend)).tolist())
        numpy.testing.assert_allclose(
            numpy.ldexp(scaled, -int(exponent * degree)), plain, rtol=1e-9, err_msg=str(exponent)
        )


@pytest.mark.parametrize(
    "name", ["hypot", "vector_norm", "norm of power 3", "abs of complex", "svdvals", "matrix_norm"]
)
def test_slopes_of_degree_0(name: str) -> None:
    function, x, _ = FUNCTIONS[name]
    slope = tb.grad(lambda x: tb.sum(function(x)))
    plain = numpy.asarray(slope(tb.asarray(x)).tolist())
    for exponent in EXPONENTS:
        scaled = numpy.asarray(slope(tb.asarray(numpy.ldexp(x, exponent))).tolist())
        numpy.testing.assert_allclose(scaled, plain, rtol=1e-9, atol=1e-12, err_msg=str(exponent))


@pytest.mark.parametrize("scale_dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("dtype", ["int8", "int4", "int2"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_quantised_elements_are_within_half_a_step(symmetric: bool, dtype: str, scale_dtype: str) -> None:
    for exponent in range(-20, 17, 4):
        x = tb.asarray((RANDOM.normal(size=(32, 4)) * 2.0**exponent).astype("f4"))
        q = tb.quantize(x, dtype, axis=0, block=8, symmetric=symmetric, scale_dtype=scale_dtype)
        steps = numpy.repeat(numpy.asarray(q.scales.astype("f64").tolist()), 8, axis=0)
        got = numpy.asarray(tb.dequantize(q, "f64").tolist())
        assert numpy.isfinite(got).all()
        largest = float(tb.finfo(scale_dtype).max)
        # Elements are cut off with a scale that is.
        inside = steps < largest
        assert (abs(got - numpy.asarray(x, "f8")) <= 0.5001 * steps)[inside].all(), (exponent, dtype, scale_dtype)


@pytest.mark.parametrize(("dtype", "count"), [("f16", 70_000), ("bf16", 300), ("bf16", 70_000), ("f32", 70_000)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_counts_of_many_elements(backend: str, dtype: str, count: int) -> None:
    x = tb.ones(count, dtype=dtype, backend=backend)
    for function in (tb.max, tb.min, tb.mean, tb.median, lambda x: tb.linalg.vector_norm(x, ord=float("inf"))):
        slopes = numpy.asarray(tb.grad(function)(x).astype("f64").tolist())
        assert abs(slopes.sum() - 1) < 0.02, function
    assert tb.mean(x).item() == tb.median(x).item() == 1
    assert tb.var(x).item() == 0
    density = tb.histogram(tb.concat([x * 0, x]), bins=2, density=True).counts
    assert density.tolist() == [1.0, 1.0]
    segments = tb.zeros(count, dtype="s64", backend=backend)
    assert abs(tb.segment_mean(x, segments, size=1).item() - 1) < 0.01


@pytest.mark.parametrize("backend", BACKENDS)
def test_unwrapped_angles_differ_by_whole_periods(backend: str) -> None:
    for size in (1.0, 1e3, 1e6, 1e9, 1e12):
        x = numpy.random.default_rng(1).uniform(-size, size, 5000)
        turns = (numpy.asarray(tb.unwrap(tb.asarray(x, backend=backend)).tolist()) - x) / (2 * numpy.pi)
        assert abs(turns - numpy.round(turns)).max() < 64 * numpy.spacing(size)
