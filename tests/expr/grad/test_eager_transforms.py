"""Tests of transforms that are found again by what a function recorded, against derivatives by hand in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.caching.memos import POLICY
from tensorbackend.errors import ArgumentError, DataError, GradientError, ShapeError
from tensorbackend.expr.grad.gradient_programs import GRADIENT_PROGRAMS
from tensorbackend.expr.kept_nodes import NODES

X = np.asarray([0.5, -1.5, 2.0])
V = np.asarray([1.0, -2.0, 0.25])
W = np.asarray([[3.0, 0.25, -1.0], [0.5, 1.0, 2.0]])
C = np.asarray([2.0, -0.5])


def tensor(array: Any, **options: Any) -> tb.Tensor:
    return tb.asarray(np.asarray(array, "float64"), backend="numpy", **options)


def layer(x: tb.Tensor) -> tb.Tensor:
    return tb.tanh(tensor(W) @ x)


def total(x: tb.Tensor) -> tb.Tensor:
    return tb.sum(tb.tanh(tensor(W) @ x))


VALUE = np.tanh(W @ X)
JACOBIAN = (1 - VALUE**2)[:, None] * W
HESSIAN = np.einsum("i,ij,ik->jk", -2 * VALUE * (1 - VALUE**2), W, W)

TRANSFORMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "vjp": (lambda f=layer: tb.vjp(f, tensor(X))[1](tensor(C))[0], C @ JACOBIAN),
    "jvp": (lambda f=layer: tb.jvp(f, (tensor(X),), (tensor(V),))[1], JACOBIAN @ V),
    "linearize": (lambda f=layer: tb.linearize(f, tensor(X))[1](tensor(V)), JACOBIAN @ V),
    "jacobian": (lambda f=layer: tb.jacobian(f)(tensor(X)), JACOBIAN),
    "jacfwd": (lambda f=layer: tb.jacfwd(f)(tensor(X)), JACOBIAN),
    "hessian": (lambda f=total: tb.hessian(f)(tensor(X)), HESSIAN),
}
NAMES = list(TRANSFORMS)


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    tb.clear_caches()


def grown(function: Callable[[], Any]) -> tuple[int, int]:
    """By how many nodes and programs a call makes the memos grow."""
    before = len(NODES), len(GRADIENT_PROGRAMS)
    function()
    return len(NODES) - before[0], len(GRADIENT_PROGRAMS) - before[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_records_the_same_is_not_differentiated_again(name: str) -> None:
    call, expected = TRANSFORMS[name]
    np.testing.assert_allclose(call(), expected)
    assert len(GRADIENT_PROGRAMS) == 1
    for _ in range(POLICY.calls_before_compiling + 2):
        assert grown(lambda: np.testing.assert_allclose(call(), expected)) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_bits_are_those_of_a_trace_made_anew(name: str) -> None:
    call, _ = TRANSFORMS[name]
    anew = np.asarray(tb.trace(call)()())
    for _ in range(POLICY.calls_before_compiling + 2):
        assert np.array_equal(np.asarray(call()), anew)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_runs_at_each_call_and_sees_its_surroundings(name: str) -> None:
    runs: list[int] = []
    power = 2
    call, _ = TRANSFORMS[name]

    def function(x: tb.Tensor) -> tb.Tensor:
        runs.append(power)
        y = x**power
        return tb.sum(y) if name == "hessian" else y[:2]

    results: dict[int, Any] = {}
    for power in (2, 3, 2, 3, 3):
        found = np.asarray(call(function))
        assert np.array_equal(found, results.setdefault(power, found))
    assert runs == [2, 3, 2, 3, 3]
    assert not np.array_equal(results[2], results[3])


@pytest.mark.parametrize("name", NAMES)
def test_captured_tensors_are_data(name: str) -> None:
    call, expected = TRANSFORMS[name]
    weight = tensor(W)

    def function(x: tb.Tensor) -> tb.Tensor:
        y = tb.tanh(weight @ x)
        return tb.sum(y) if name == "hessian" else y

    np.testing.assert_allclose(call(function), expected)
    weight[...] = tb.zeros_like(weight)
    np.testing.assert_array_equal(call(function), np.zeros_like(expected))
    weight = tensor(W)
    np.testing.assert_allclose(call(function), expected)


@pytest.mark.parametrize("home", ["numpy", "jax"])
def test_a_captured_number_may_be_on_another_backend_at_each_call(home: str) -> None:
    """Twice on each backend, as a program is found again only for a number of the same backend."""
    x = tb.asarray(X, dtype="float64", backend=home)
    slope = np.cos(X)
    for number, backend in enumerate(("numpy", "numpy", "binary", "binary", "jax", "jax")):
        factor = tb.asarray(float(number), dtype="float64", backend=backend)
        (pulled,) = tb.vjp(lambda x, factor=factor: tb.sin(x) * factor, x)[1](x)
        _, pushed = tb.jvp(lambda x, factor=factor: tb.sin(x) * factor, (x,), (x,))
        gradient = tb.grad(lambda x, factor=factor: tb.sum(tb.sin(x) * factor))(x)
        for found, expected in ((pulled, slope * X), (pushed, slope * X), (gradient, slope)):
            assert type(found.data) is type(x.data)
            np.testing.assert_allclose(found, number * expected, rtol=1e-12)


def test_names_and_trees_are_part_of_what_is_remembered() -> None:
    def function(pair: dict[str, tb.Tensor]) -> dict[str, tb.Tensor]:
        return {"product": pair["a"] * pair["b"], "count": tb.argmax(pair["a"], axis=0)}

    for names in ((None,), ("n",), ("m",), ("n",)):
        for flip in (False, True, False):
            a, b = (tensor(array, names=names) for array in (X, V))
            pair = {"b": b, "a": a} if flip else {"a": a, "b": b}
            result, pull = tb.vjp(function, pair)
            (cotangents,) = pull({"product": tensor(C[[0, 1, 0]]), "count": tb.asarray(0, backend="numpy")})
            assert [*cotangents] == [*pair]
            assert cotangents["a"].names == result["product"].names == names
            np.testing.assert_allclose(cotangents["a"], C[[0, 1, 0]] * V)
            np.testing.assert_allclose(cotangents["b"], C[[0, 1, 0]] * X)
            _, moved = tb.jvp(function, (pair,), ({"a": tensor(V), "b": tensor(X)},))
            assert moved["product"].names == names
            assert moved["count"].item() == 0
            np.testing.assert_allclose(moved["product"], V * V + X * X)
    rows = tb.jacobian(lambda x, y: (x * y, {"only": tb.sum(y)}), (0, 1))
    for names in (("n",), ("m",), ("n",)):
        (by_x, by_y), only = rows(tensor(X, names=names), tensor(V, names=names))
        assert by_x.names == by_y.names == (*names, None)
        np.testing.assert_allclose(by_x, np.diag(V))
        np.testing.assert_allclose(by_y, np.diag(X))
        np.testing.assert_allclose(only["only"][0], np.zeros(3))
        np.testing.assert_allclose(only["only"][1], np.ones(3))


def test_a_function_of_cotangents_serves_many_and_other_backends_and_traces() -> None:
    for _ in range(3):
        result, pull = tb.vjp(layer, tensor(X))
        np.testing.assert_allclose(result, VALUE)
        for cotangent in (C, 3 * C, -C):
            np.testing.assert_allclose(pull(tensor(cotangent))[0], cotangent @ JACOBIAN)
        elsewhere = tb.asarray(C, dtype="float64", backend="binary")
        np.testing.assert_allclose(pull(elsewhere)[0], C @ JACOBIAN)
        np.testing.assert_allclose(tb.jacobian(pull)(tensor(C))[0], JACOBIAN.T)
        np.testing.assert_allclose(tb.jit(pull)(tensor(C))[0], C @ JACOBIAN)
        _, push = tb.linearize(layer, tensor(X))
        np.testing.assert_allclose(tb.jacobian(push)(tensor(V)), JACOBIAN)
        _, moved = tb.jvp(layer, (tensor(X),), (tb.asarray(V, dtype="float64", backend="binary"),))
        np.testing.assert_allclose(moved, JACOBIAN @ V)
        with tb.tape() as tape:
            (given,) = tape.watch([tensor(C)])
            y = tb.sum(pull(given)[0] ** 2)
        np.testing.assert_allclose(tb.gradient(y, [given])[0], 2 * JACOBIAN @ (C @ JACOBIAN))


def test_wrong_tangents_and_cotangents_are_refused_at_each_call() -> None:
    for _ in range(3):
        _, pull = tb.vjp(layer, tensor(X))
        with pytest.raises(ShapeError, match="cotangent like"):
            pull(tensor(X))
        with pytest.raises(ArgumentError, match="nested like the result"):
            pull([tensor(C)])
        with pytest.raises(ArgumentError, match=r"^jvp: expected tangents nested like the arguments"):
            tb.jvp(layer, (tensor(X),), (tensor(V), tensor(V)))
        with pytest.raises(ShapeError, match=r"^jvp: expected tangents\[0\] like"):
            tb.jvp(layer, (tensor(X),), (tensor(C),))
        with pytest.raises(ShapeError, match=r"^hessian: expected a scalar result"):
            tb.hessian(layer)(tensor(X))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_recalled_is_differentiated_anew(name: str) -> None:
    """Control flow, callbacks and functions with gradients of their own keep their meaning."""
    call, expected = TRANSFORMS[name]
    seen: list[float] = []
    base = total if name == "hessian" else layer

    @tb.custom_gradient
    def doubled(x: tb.Tensor) -> Any:
        return x * 2.0, lambda cotangent: cotangent * 2.0

    def function(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(lambda s: seen.append(s.item()), tb.sum(x))
        inner: tb.Tensor = tb.cond(tb.sum(x) > 0.0, lambda x: x * 0.5, lambda x: x, x)
        return base(doubled(inner))

    for count in (1, 2, 3):
        np.testing.assert_allclose(call(function), expected)
        assert len(seen) == count
    np.testing.assert_allclose(seen, np.full(3, X.sum()))


@pytest.mark.parametrize("name", NAMES)
def test_an_error_has_the_line_of_the_call_that_failed(name: str) -> None:
    call, _ = TRANSFORMS[name]

    def first(x: tb.Tensor) -> tb.Tensor:
        inverse = tb.linalg.inv(tb.outer(x, x) + tb.eye(3, dtype="float64") * scale)
        return tb.sum(inverse) if name == "hessian" else inverse[0, :2]

    def second(x: tb.Tensor) -> tb.Tensor:
        inverse = tb.linalg.inv(tb.outer(x, x) + tb.eye(3, dtype="float64") * scale)
        return tb.sum(inverse) if name == "hessian" else inverse[0, :2]

    scale = tensor(1.0)
    for _ in range(2):
        call(first)
    scale = tensor(0.0)
    with tb.default_backend("numpy"):
        for function in (second, first, second):
            with pytest.raises(DataError) as caught:
                call(lambda x, f=function: f(x * 0.0))
            notes = "".join(getattr(caught.value, "__notes__", ()))
            assert f"test_eager_transforms.py:{function.__code__.co_firstlineno + 1}" in notes

    def refused(x: tb.Tensor) -> tb.Tensor:
        y = tb.gamma_inc_l(x * x, tensor(X * X))
        return tb.sum(y) if name == "hessian" else y[:2]

    for _ in range(2):
        with pytest.raises(GradientError, match=f"test_eager_transforms.py:{refused.__code__.co_firstlineno + 1}"):
            call(refused)


def test_shapes_in_turn_keep_their_programs() -> None:
    rows, second = tb.jacobian(lambda x: x * x), tb.hessian(lambda x: tb.sum(x * x * x))
    arrays = [np.arange(float(count)) for count in (0, 1, 2, 5, 9)]

    def check() -> None:
        for array in arrays:
            np.testing.assert_allclose(rows(tensor(array)), np.diag(2 * array))
            np.testing.assert_allclose(second(tensor(array)), np.diag(6 * array))

    check()
    assert grown(check) == (0, 0)


def test_the_default_precision_and_the_backend_are_part_of_what_is_remembered() -> None:
    x = tb.asarray([1.0, 2.0], dtype="float32", backend="numpy")
    for precision in (32, 64, 32):
        with tb.precision(precision):
            assert tb.vjp(lambda x: x * tb.ones(2), x)[0].dtype.bits == precision
    rows = tb.jacobian(lambda x: tb.sum(x * x, keepdims=True))
    for backend in ("numpy", "binary", "numpy"):
        found = rows(tb.asarray([1.0, 2.0], dtype="float32", backend=backend))
        assert found.backend is tb.get_backend(backend)
        np.testing.assert_allclose(found, [[2.0, 4.0]])


def test_threads_share_the_programs() -> None:
    def work(seed: int) -> list[Any]:
        random, failures = np.random.default_rng(seed), []
        for count in random.integers(1, 5, 25):
            x, w = random.standard_normal((2, count))
            weight = tensor(w)
            result, pull = tb.vjp(lambda x, weight=weight: tb.tanh(x * weight), tensor(x))
            slope = w / np.cosh(x * w) ** 2
            found = pull(result)[0], tb.jacobian(lambda x, weight=weight: tb.tanh(x * weight))(tensor(x))
            if not (np.allclose(found[0], np.tanh(x * w) * slope) and np.allclose(found[1], np.diag(slope))):
                failures.append((x, w, found))
        return failures

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[]] * 4
