"""Second derivatives at zeros, ties, identities and whole numbers next to differences of first ones in float64.

Where the differences of two steps disagree, the function is not smooth, and nothing is asserted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

Loss = Callable[[tb.Tensor], tb.Tensor]

WEIGHTS = numpy.random.default_rng(3).normal(size=64)
IDENTITY = numpy.eye(3)
PRODUCT = (lambda x: x @ x.T)(numpy.random.default_rng(0).normal(size=(3, 3)))
TIED = numpy.diag([1.0, 1.0, 2.0])


def total(x: tb.Tensor) -> tb.Tensor:
    """A weighted sum of all elements."""
    return tb.sum(tb.reshape(x, (-1,)) * tb.asarray(WEIGHTS[: x.size], like=x))


def check(loss: Loss, at: Any) -> None:
    x = numpy.asarray(at, "f8")
    got = numpy.asarray(tb.hessian(loss)(tb.asarray(x)).tolist()).reshape(x.size, x.size)
    gradient = tb.grad(loss)

    def differences(step: float) -> Any:
        rows = []
        for row in numpy.eye(x.size).reshape(x.size, *x.shape):
            high, low = (numpy.asarray(gradient(tb.asarray(x + sign * step * row)).tolist()) for sign in (1, -1))
            rows.append((high - low).ravel() / (2 * step))
        return numpy.stack(rows)

    with numpy.errstate(all="ignore"):
        near, far = differences(1e-5), differences(1e-4)
        smooth = numpy.isfinite(near) & numpy.isfinite(far) & (abs(near - far) < 1e-3 * (1 + abs(near)))
        wrong = smooth & ~(abs(got - near) < 1e-3 * (1 + abs(near)))
    assert not wrong.any(), f"at {x.tolist()}: {got[wrong][:3]}, by differences {near[wrong][:3]}"


OF_ONE = """
    abs asinh atan cos cosh erf erfc exp expm1 gelu i0 i0e i1 i1e j0 j1 log_sigmoid sigmoid silu sin sinh softplus
    square tan tanh
""".split()  # noqa: SIM905 # a list of a line for each name is longer than the law
OF_POSITIVE = "acosh cbrt digamma lgamma log log10 log1p log2 reciprocal rsqrt sqrt factorial".split()  # noqa: SIM905
POINTS = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 25.0, -25.0]


@pytest.mark.parametrize("name", [*OF_ONE, *OF_POSITIVE])
def test_functions_of_one_element(name: str) -> None:
    points = [x for x in POINTS if x > 0] if name in OF_POSITIVE else POINTS
    for point in points:
        if name != "acosh" or point > 1:
            check(lambda x: total((getattr(tb, name, None) or getattr(tb.nn, name))(x)), [point])


PAIRS = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (2.0, 2.0), (1.5, 0.0), (0.0, 2.0), (0.0, 3.0), (3.0, 0.0), (4.0, 0.5)]


@pytest.mark.parametrize("name", ["add", "atan2", "hypot", "logaddexp", "multiply", "pow", "subtract"])
@pytest.mark.parametrize("vector", [False, True])
def test_functions_of_two_elements(name: str, vector: bool) -> None:
    function = getattr(tb, name)
    for pair in PAIRS:
        if vector:  # a scalar next to a vector
            check(lambda x: tb.sum(function(x[0] * tb.ones(2, dtype="f64"), x[1])), pair)
        else:
            check(lambda x: function(x[0], x[1]), pair)


ROWS: dict[str, Loss] = {
    "softmax": lambda x: tb.softmax(x, axis=-1),
    "log_softmax": lambda x: tb.log_softmax(x, axis=-1),
    "logsumexp": lambda x: tb.logsumexp(x, axis=-1),
    "prod": tb.prod,
    "var": tb.var,
    "cumulative_prod": tb.cumulative_prod,
    "huber": lambda x: tb.nn.huber(x, tb.asarray([1.0, 2.0, 0.0], dtype="f64"), delta=10.0),
    "ragged.var": lambda x: tb.ragged.var(tb.ragged.with_lengths(x.rename("time"), time=3), axis="time"),
}


@pytest.mark.parametrize("name", ROWS)
def test_functions_of_rows(name: str) -> None:
    for point in ([1, 1, 1], [0, 0, 0], [0, 1, 2], [0, 0, 1], [1, 2, 0]):
        check(lambda x: total(ROWS[name](x)), point)


def symmetric(x: tb.Tensor) -> tb.Tensor:
    return (x + x.T) / 2


OF_MATRICES: dict[str, Loss] = {
    "cholesky": lambda x: tb.linalg.cholesky(x @ x.T + tb.eye(3, dtype="f64")),
    "det": tb.linalg.det,
    "eigvalsh": lambda x: tb.sum(tb.linalg.eigvalsh(symmetric(x))),
    "expm": tb.linalg.expm,
    "inv": tb.linalg.inv,
    "matrix_norm": tb.linalg.matrix_norm,
    "matrix_power": lambda x: tb.linalg.matrix_power(x, 3),
    "nuclear norm": lambda x: tb.linalg.matrix_norm(x, ord="nuc"),
    "pinv": tb.linalg.pinv,
    "qr": lambda x: tb.linalg.qr(x).R,
    "slogdet": lambda x: tb.linalg.slogdet(x).logabsdet,
    "solve": lambda x: tb.linalg.solve(x, tb.asarray([0.0, 1.0, 2.0], dtype="f64")),
    "sqrtm": tb.linalg.sqrtm,
    "sqrtm hermitian": lambda x: tb.linalg.sqrtm(symmetric(x), hermitian=True),
    "vector_norm": lambda x: tb.linalg.vector_norm(x, ord=4),
}


@pytest.mark.parametrize("name", OF_MATRICES)
def test_functions_of_matrices(name: str) -> None:
    for matrix in (IDENTITY, 2 * IDENTITY, PRODUCT, TIED):
        check(lambda x: total(OF_MATRICES[name](x)), matrix)


@pytest.mark.parametrize("scale", [1e-160, 1e-80, 1.0, 1e80, 1e150])
def test_singular_values_of_all_magnitudes(scale: float) -> None:
    matrix = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    hessian = tb.hessian(lambda x: tb.sum(tb.linalg.svdvals(x)))
    got, expected = (numpy.asarray(hessian(tb.asarray(matrix * each)).tolist()) for each in (scale, 1.0))
    numpy.testing.assert_allclose(got * scale, expected, rtol=1e-6, atol=1e-9)
