"""Gradients of roots and minima with respect to what their functions close over, against SciPy and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.optimize

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import BackendError, GradientError
from tensorbackend.optimize import bisect, minimize, root

BACKENDS = ["numpy", "binary", "jax"]
AT = 4.0


def by_root(y: Tensor) -> Tensor:
    return root(lambda x: x**2 - y, tb.ones_like(y), tolerance=1e-12).x


def by_bisection(y: Tensor) -> Tensor:
    return bisect(lambda x: x**2 - y, tb.zeros_like(y), 5 * tb.ones_like(y), tolerance=1e-12).x


def by_minimum(y: Tensor) -> Tensor:
    found: Tensor = minimize(lambda x: (x - tb.sqrt(y)) ** 2, tb.ones_like(y), tolerance=1e-12).x
    return found


def on_tape(function: Callable[[Tensor], Tensor], y: Tensor, order: int = 1) -> Tensor:
    with tb.tape() as tape:
        watched = tape.watch(y)
        result = function(watched)
        for _ in range(order - 1):
            result = tb.gradient(result, watched)
    return tb.gradient(result, watched)


# Ways to the first and the second derivative of a function of a number.
WAYS: dict[str, tuple[int, Callable[[Callable[[Tensor], Tensor], Tensor], Tensor]]] = {
    "grad": (1, lambda f, y: tb.grad(f)(y)),
    "jit of grad": (1, lambda f, y: tb.jit(tb.grad(f))(y)),
    "grad of jit": (1, lambda f, y: tb.grad(tb.jit(f))(y)),
    "vjp": (1, lambda f, y: tb.vjp(f, y)[1](tb.ones_like(y))[0]),
    "jvp": (1, lambda f, y: tb.jvp(f, (y,), (tb.ones_like(y),))[1]),
    "linearize": (1, lambda f, y: tb.linearize(f, y)[1](tb.ones_like(y))),
    "vmap of grad": (1, lambda f, y: tb.vmap(tb.grad(f))(tb.stack([y, y]))[1]),
    "grad of vmap": (1, lambda f, y: tb.grad(lambda y: tb.vmap(f)(tb.stack([y, y]))[1])(y)),
    "checkpoint": (1, lambda f, y: tb.grad(lambda y: tb.checkpoint(f)(y))(y)),
    "scan": (1, lambda f, y: tb.grad(lambda y: tb.scan(lambda c, _: (f(y) + 0 * c, None), y, length=2)[0])(y)),
    "tape": (1, lambda f, y: on_tape(f, y)),
    "grad of grad": (2, lambda f, y: tb.grad(tb.grad(f))(y)),
    "jvp of grad": (2, lambda f, y: tb.jvp(tb.grad(f), (y,), (tb.ones_like(y),))[1]),
    "second on a tape": (2, lambda f, y: on_tape(f, y, 2)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", [by_root, by_bisection, by_minimum])
def test_the_derivative_of_a_square_root(function: Callable[[Tensor], Tensor], way: str) -> None:
    order, derivative = WAYS[way]
    wanted = {1: 0.5 * AT**-0.5, 2: -0.25 * AT**-1.5}[order]
    assert derivative(function, tb.asarray(AT, dtype="f64")).item() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [by_root, by_bisection, by_minimum])
def test_every_backend(function: Callable[[Tensor], Tensor], backend: str) -> None:
    y = tb.asarray(AT, dtype="f64", backend=backend)
    gradient = tb.jit(tb.grad(function))(y)
    assert gradient.backend.name == backend
    assert gradient.item() == pytest.approx(0.25, rel=1e-5)


def test_a_system_of_equations_against_scipy() -> None:
    def equations(np: Any, x: Any, p: Any) -> list[Any]:
        return [np.exp(x[0]) - p[0] * x[1], x[0] + p[1] * x[1] - 3]

    at, weights = numpy.array([1.5, 0.7]), numpy.array([1.0, -2.0])

    def theirs(p: Any) -> Any:
        return weights @ scipy.optimize.root(lambda x: equations(numpy, x, p), [0.0, 0.0], tol=1e-13).x

    wanted = [(theirs(at + step) - theirs(at - step)) / 2e-5 for step in 1e-5 * numpy.eye(2)]

    def ours(p: Tensor) -> Tensor:
        start = tb.zeros(2, dtype="f64", names=("n",))
        found = root(lambda x: tb.stack(equations(tb, x, p)), start, tolerance=1e-12)
        assert found.x.names == ("n",)
        return tb.sum(found.x * tb.asarray(weights, names=("n",)))

    p = tb.asarray(at)
    numpy.testing.assert_allclose(tb.grad(ours)(p), wanted, rtol=1e-6)
    numpy.testing.assert_allclose(tb.jacfwd(ours)(p), wanted, rtol=1e-6)
    steps = 1e-4 * numpy.eye(2)
    second = [(tb.grad(ours)(tb.asarray(at + h)) - tb.grad(ours)(tb.asarray(at - h))) / 2e-4 for h in steps]
    numpy.testing.assert_allclose(tb.hessian(ours)(p), [numpy.asarray(row) for row in second], rtol=1e-5, atol=1e-8)


def test_a_complex_root() -> None:
    y = tb.asarray(3 + 4j, dtype="c128")
    start = tb.asarray(1 + 1j, dtype="c128")
    _, tangent = tb.jvp(lambda y: root(lambda x: x**2 - y, start, tolerance=1e-12).x, (y,), (tb.ones_like(y),))
    assert tangent.item() == pytest.approx(0.5 / (2 + 1j))
    by_real = tb.grad(lambda a: tb.real(root(lambda x: x**2 - a * y, start, tolerance=1e-12).x))(
        tb.asarray(1.0, dtype="f64")
    )
    assert by_real.item() == pytest.approx(1.0)  # the real part of (2 + i) sqrt(a)


def test_integers_and_several_tensors_in_the_closure() -> None:
    power, table = tb.asarray(3), {"y": tb.asarray([8.0, 27.0], dtype="f64")}

    def total(table: Any) -> Tensor:
        return tb.sum(root(lambda x: x**power - table["y"], tb.full((2,), 2.0, dtype="f64"), tolerance=1e-12).x)

    numpy.testing.assert_allclose(tb.grad(total)(table)["y"], [1 / 12, 1 / 27], rtol=1e-6)


def test_where_there_is_no_derivative() -> None:
    double = tb.grad(lambda y: root(lambda x: (x - y) ** 2, tb.asarray(1.0, dtype="f64")).x)(
        tb.asarray(1.0, dtype="f64")
    )
    assert not numpy.isfinite(double.item())
    for function in (
        lambda x0: root(lambda x: x**2 - 2, x0).x,
        lambda x0: bisect(lambda x: x**2 - 2, 0.1 * x0, 5 * x0).x,
        lambda x0: minimize(lambda x: (x - 2) ** 2, x0).x,
    ):
        assert tb.grad(function)(tb.asarray(1.0)).item() == 0.0  # a root does not depend on where the search begins


@pytest.mark.parametrize("count", [2, 6, 20])
def test_unknowns_of_unlike_scales_have_derivatives(count: int) -> None:
    """So few are found by elimination: an iteration would not end."""
    turn = numpy.linalg.qr(numpy.random.default_rng(count).standard_normal((count, count)))[0]
    a = tb.asarray(turn @ numpy.diag(10.0 ** numpy.linspace(-4, 6, count)) @ turn.T, dtype="f64")
    y, weights = (tb.asarray(numpy.linspace(start, 2, count), dtype="f64") for start in (-1, 1))

    def nearest(y: Tensor) -> Tensor:
        found: Tensor = minimize(lambda x: tb.sum((x - y) * (a @ (x - y))), y.detach()).x
        return tb.sum(found * weights)

    numpy.testing.assert_allclose(tb.grad(nearest)(y), weights, rtol=1e-3)


def rosenbrock(x: Any, a: Any, b: Any) -> Any:
    """A function whose minimum is at (a, a * a)."""
    return (a - x[..., 0]) ** 2 + b * (x[..., 1] - x[..., 0] ** 2) ** 2 + 3 * a


@pytest.mark.parametrize("count", [2, 300])
def test_minima_of_a_batch(count: int) -> None:
    start = tb.zeros((3, count), dtype="f64", names=("batch", None))
    a, b = tb.asarray([1.0, 0.5, -0.7], dtype="f64"), tb.asarray([10.0, 20.0, 30.0], dtype="f64")

    def minima(a: Tensor, b: Tensor) -> Any:
        return minimize(
            lambda x: rosenbrock(x, a, b) + tb.sum((x[:, 2:] - a[:, None]) ** 2, axis=1), start, tolerance=1e-10
        )

    by_a, by_b = tb.grad(lambda a, b: tb.sum(minima(a, b).x[:, :2]), (0, 1))(a, b)
    numpy.testing.assert_allclose(by_a, 1 + 2 * numpy.asarray(a), rtol=1e-5)
    numpy.testing.assert_allclose(by_b, numpy.zeros(3), atol=1e-6)
    of_value = tb.grad(lambda a: tb.sum(minima(a, b).value))(a)
    numpy.testing.assert_allclose(of_value, [3.0] * 3, rtol=1e-5)


@pytest.mark.parametrize("method", ["l-bfgs", "L-BFGS-B", "SLSQP", "trust-constr", "BFGS", "Nelder-Mead"])
def test_each_method_on_a_tape(method: str) -> None:
    with tb.tape() as tape:
        a = tape.watch(tb.asarray(0.5, dtype="f64"))
        found = minimize(lambda x: rosenbrock(x, a, 5.0), tb.asarray([0.2, 0.1], dtype="f64"), method, tolerance=1e-10)
        first, second = found.x[0], found.x[1]
        value = found.value
    assert [tb.gradient(y, a).item() for y in (first, second, value)] == pytest.approx([1.0, 1.0, 3.0], rel=1e-3)


# SciPy's methods share the gradient, and are slow with many unknowns.
@pytest.mark.parametrize(("method", "count"), [("l-bfgs", 3), ("l-bfgs", 150), ("L-BFGS-B", 3), ("trust-constr", 3)])
def test_bounds_where_a_minimum_lies(method: str, count: int) -> None:
    x0 = tb.zeros(count, dtype="f64")
    rest = tb.zeros(count - 3, dtype="f64")
    with tb.tape() as tape:
        y, low, high = tape.watch([tb.asarray(v, dtype="f64") for v in ([-2.0, 0.3, 4.0], [-1.0] * 3, [1.0, 1.0, 2.0])])
        bounds = tb.concatenate([low, rest - 1]), tb.concatenate([high, rest + 1])
        target = tb.concatenate([y, rest])
        # The first and the last unknown are at their bounds; the second depends on the last one.
        found = minimize(lambda x: tb.sum((x - target) ** 2) + x[1] * x[2], x0, method, tolerance=1e-10, bounds=bounds)
        total = tb.sum(found.x[:3] * tb.asarray([1.0, 10.0, 100.0]))
    by_y, by_low, by_high = tb.gradient(total, [y, low, high])
    numpy.testing.assert_allclose(found.x[:3], [-1.0, -0.7, 2.0], atol=1e-4)
    numpy.testing.assert_allclose(by_y, [0, 10, 0], atol=1e-5)
    numpy.testing.assert_allclose(by_low, [1, 0, 0], atol=1e-5)
    numpy.testing.assert_allclose(by_high, [0, 0, 100 - 5], atol=1e-4)


def test_a_tree_of_unknowns() -> None:
    def fit(y: Tensor) -> Tensor:
        start = {"a": tb.zeros((), dtype="f64"), "b": [tb.zeros(2, dtype="f64")]}
        found = minimize(
            lambda p: (p["a"] - y) ** 2 + tb.sum((p["b"][0] - 2 * y * p["a"]) ** 2), start, tolerance=1e-10
        )
        last: Tensor = found.x["b"][0][1]
        return last

    assert tb.grad(fit)(tb.asarray(1.5, dtype="f64")).item() == pytest.approx(6.0, rel=1e-5)


def test_what_has_no_gradient_says_so() -> None:
    x0 = tb.zeros(1)

    def along(y: Tensor) -> Tensor:
        return tb.sum(minimize(lambda x: tb.sum((x - y) ** 2), x0, trajectory=(1, 2)).x)

    with pytest.raises(GradientError, match="expected no gradient through a trajectory; minimize without one to get"):
        tb.grad(along)(4.0)
    with pytest.raises(BackendError, match="or call it outside a trace, and take gradients on a tape"):
        tb.grad(lambda y: minimize(lambda x: tb.sum((x - y) ** 2), x0, "BFGS").x[0])(4.0)
    assert tb.jit(along)(tb.asarray(4.0)).item() == pytest.approx(5.0)  # 1 and 4
