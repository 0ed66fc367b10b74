"""Tangents through loops without a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import GradientError

ON = pytest.mark.parametrize("backend", ["numpy", "jax"])

X, ONE = (tb.asarray(value, dtype="f64") for value in (2.0, 1.0))


def power(x: tb.Tensor) -> Any:
    """The first power of x above 100, by a loop that carries an int too."""

    def body(carry: Any) -> Any:
        return carry[0] * carry[1], carry[1], carry[2] + 1

    result: tb.Tensor = tb.while_loop(lambda carry: carry[0] < 100, body, (x, x, 0))[0]
    return result


def captured(x: tb.Tensor) -> Any:
    """The same power; the loop takes x from around it."""
    return tb.while_loop(lambda y: y < 100, lambda y: y * x, x)


def of_a_constant(x: tb.Tensor) -> Any:
    """The same power; x reaches the carried value in the loop alone."""
    return tb.while_loop(lambda y: y < 100, lambda y: y * x, tb.ones((), dtype="f64"))


@ON
@pytest.mark.parametrize("function", [power, captured, of_a_constant])
def test_tangents_of_a_power(function: Callable[[tb.Tensor], tb.Tensor], backend: str) -> None:
    x, one = X.backend_copy(backend), ONE.backend_copy(backend)

    def slope(x: tb.Tensor) -> Any:
        return tb.jvp(function, (x,), (one,))[1]

    value, tangent = tb.jvp(function, (x,), (one,))
    assert (value.item(), tangent.item()) == (128.0, 7 * 2.0**6)
    assert slope(tb.asarray(3.0, dtype="f64", backend=backend)).item() == 5 * 3.0**4
    assert tb.jit(slope)(x).item() == tb.jvp(tb.jit(function), (x,), (one,))[1].item() == 448.0
    assert tb.linearize(function, x)[1](one * 2).item() == 896.0
    assert tb.jacfwd(function)(x).item() == 448.0
    assert tb.jvp(slope, (x,), (one,))[1].item() == 42 * 2.0**5
    assert tb.vmap(slope)(tb.asarray([2.0, 3.0], dtype="f64", backend=backend)).tolist() == [448.0, 405.0]


@ON
def test_tangents_of_loops_within_control_flow(backend: str) -> None:
    x, one = X.backend_copy(backend), ONE.backend_copy(backend)
    entries = tb.asarray([0.5, 0.1, 1.5], dtype="f64", backend=backend)

    def scanned(x: tb.Tensor) -> Any:
        return tb.scan(lambda carry, entry: (captured(1.5 + carry * 0.01 * entry), carry), x, entries)[0]

    def branch(x: tb.Tensor) -> Any:
        return tb.cond(x > 0, power, lambda x: x, x)

    def nested(x: tb.Tensor) -> Any:
        return tb.while_loop(lambda y: y < 1e6, lambda y: y * 2 + captured(1.5 + 1e-6 * y), x)

    for function in (scanned, branch, nested, tb.checkpoint(power)):
        step = 1e-5
        difference = (function(x + step) - function(x - step)).item() / (2 * step)
        assert tb.jvp(function, (x,), (one,))[1].item() == pytest.approx(difference, rel=1e-6)


@ON
def test_tangents_of_a_fixed_point_by_names(backend: str) -> None:
    matrix = numpy.array([[0.2, -0.3, 0.1], [0.1, 0.4, 0.2], [-0.2, 0.1, 0.3]])
    given = tb.asarray(matrix, names=("row", "column"), backend=backend)

    def fixed(matrix: tb.Tensor) -> Any:
        def body(carry: Any) -> Any:
            before = carry[0].rename("column")
            return tb.dot(matrix, before, contract="column") + 1.0, carry[0]

        start = tb.zeros(3, names=("row",), dtype="f64", backend=backend)
        return tb.while_loop(lambda carry: tb.max(tb.abs(carry[0] - carry[1])) > 1e-14, body, (start, start - 1))[0]

    point, tangent = tb.jvp(fixed, (given,), (given,))
    inverse = numpy.linalg.inv(numpy.eye(3) - matrix)
    assert tangent.names == point.names == ("row",)
    assert numpy.allclose(numpy.asarray(tangent), inverse @ matrix @ inverse @ numpy.ones(3), rtol=1e-11)


def test_tangents_with_bounds_that_are_tensors() -> None:
    def function(x: tb.Tensor, last: tb.Tensor) -> Any:
        return tb.fori_loop(0, last, lambda i, y: y * x[i], tb.ones((), dtype="f64"))

    x = tb.asarray([2.0, 3.0, 5.0], dtype="f64")
    tangents = tb.jvp(lambda x: function(x, tb.asarray(2)), (x,), (tb.asarray([1.0, 0.5, 9.0], dtype="f64"),))
    assert [part.item() for part in tangents] == [6.0, 4.0]


def test_cotangents_are_refused_still() -> None:
    def slope(x: tb.Tensor) -> Any:
        return tb.jvp(power, (x,), (ONE,))[1]

    for derivative in (tb.grad(power), tb.jacobian(power), tb.grad(slope)):
        with pytest.raises(GradientError, match=r"give while_loop\(\) a limit, .*, or compute tangents by jvp\(\)"):
            derivative(X)
    with pytest.raises(GradientError):
        tb.jvp(tb.grad(power), (X,), (ONE,))
