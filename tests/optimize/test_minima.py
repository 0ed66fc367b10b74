"""Minima: L-BFGS as a graph, in batches and with bounds, and SciPy's methods."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, BackendError, DTypeError, OperandError, ShapeError, TensorBackendError
from tensorbackend.optimize import minimize
from tensorbackend.testing import profile

START = numpy.array([[-1.2, 1.0, 0.5], [3.0, 2.0, -1.0], [1.0, 1.0, 1.0]])


def rosenbrock(x: Any) -> Any:
    return tb.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2, axis=-1)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_each_example_finds_its_minimum(backend: str) -> None:
    start = tb.asarray(START, names=("batch", "n"), backend=backend)
    minimum = minimize(rosenbrock, start, tolerance=1e-8, history=2 if backend == "jax" else 10)  # compiles faster
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), numpy.ones((3, 3)), atol=1e-5)
    assert (minimum.x.names, minimum.value.names, minimum.x.backend.name) == (("batch", "n"), ("batch",), backend)
    assert (minimum.converged.tolist(), minimum.diverged.tolist()) == ([True] * 3, [False] * 3)
    counts = minimum.iterations.tolist()
    assert counts[2] == 0 < min(counts[:2])
    if backend == "numpy":
        for place in range(2):
            alone = minimize(rosenbrock, start[place], tolerance=1e-8)
            assert alone.iterations.item() == counts[place]
            theirs = scipy.optimize.minimize(
                scipy.optimize.rosen, START[place], jac=scipy.optimize.rosen_der, method="L-BFGS-B", tol=1e-10
            )
            assert counts[place] <= 1.5 * theirs.nit + 10
        limited = minimize(rosenbrock, start, tolerance=1e-8, max_iterations=tb.asarray([2, 5, 3]))
        assert (limited.iterations.tolist(), limited.converged.tolist()) == ([2, 5, 0], [False, False, True])


def test_compiled_mapped_recorded_and_dry() -> None:
    start = tb.asarray(START)
    reference = minimize(rosenbrock, start)
    numpy.testing.assert_allclose(
        numpy.asarray(tb.jit(lambda x: minimize(rosenbrock, x).x)(start)), numpy.asarray(reference.x), rtol=1e-6
    )
    numpy.testing.assert_allclose(
        numpy.asarray(tb.vmap(lambda x: minimize(rosenbrock, x).x)(start)), numpy.ones((3, 3)), atol=1e-3
    )
    path = minimize(rosenbrock, start, trajectory=(0, 3, 200))
    assert (path.x.shape, path.value.shape) == ((3, 3, 3), (3, 3))
    assert path.x[0].tolist() == START.tolist()
    assert bool(tb.all(path.value[0] >= path.value[1]))
    assert bool(tb.all(path.value[1] >= path.value[2]))
    numpy.testing.assert_allclose(numpy.asarray(path.x[2]), numpy.asarray(reference.x), rtol=1e-10)
    dry = minimize(rosenbrock, tb.template((4, 3), "f32"))
    assert (dry.x.template, dry.converged.shape) == (tb.template((4, 3), "f32").template, (4,))


@pytest.mark.parametrize("method", ["l-bfgs", "L-BFGS-B", "SLSQP"])
def test_bounds(method: str) -> None:
    minimum = minimize(
        rosenbrock, tb.asarray(START), method, tolerance=1e-9, bounds=(-2.0, tb.asarray([0.5, 2.0, 2.0]))
    )
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), [[0.5, 0.25742574, 0.06626801]] * 3, atol=1e-4)
    assert minimum.converged.tolist() == [True] * 3


@pytest.mark.parametrize("method", ["Nelder-Mead", "bfgs", "L-BFGS-B", "TNC", "trust-constr"])
def test_methods_of_scipy(method: str) -> None:
    def bowl(x: Tensor) -> Tensor:
        return tb.sum((x - tb.asarray([1.0, 2.0])) ** 2 * tb.asarray([1.0, 3.0]), axis=-1)

    minimum = minimize(bowl, tb.asarray([[0.0, 0.0], [5.0, 5.0]], names=("batch", None)), method, tolerance=1e-6)
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), [[1, 2], [1, 2]], atol=1e-3)
    assert (minimum.converged.tolist(), minimum.value.names) == ([True, True], ("batch",))
    assert min(minimum.iterations.tolist()) > 0
    with pytest.raises(BackendError, match="expected tensors with data for a method of SciPy"):
        tb.jit(lambda x: minimize(bowl, x, method).x)(tb.ones(2))


@pytest.mark.parametrize("bounds", [None, (-5.0, 5.0)])
def test_what_the_function_does_not_depend_on_stays(bounds: Any) -> None:
    def bowl(x: Tensor) -> Tensor:
        return (x[0] - 1) ** 2 + (x[2] - 9) ** 2

    minimum = minimize(bowl, tb.asarray([0.0, 3.0, 4.0]), "l-bfgs", bounds=bounds)
    assert minimum.x[1].item() == 3
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), [1.0, 3.0, 9.0 if bounds is None else 5.0], atol=1e-4)


def test_what_has_no_minimum_says_so() -> None:
    nothing = minimize(lambda x: x * float("nan"), tb.asarray([1.0]))
    assert (nothing.converged.item(), nothing.diverged.item()) == (False, True)
    assert not minimize(tb.log, tb.asarray([1.0])).converged.item()
    steep = minimize(lambda x: -(x**2), tb.asarray([1.0]), max_iterations=5)
    assert not steep.converged.item()


def test_float32_ends_where_nothing_becomes_smaller() -> None:
    minimum = minimize(rosenbrock, tb.asarray(START, dtype="f32"), tolerance=1e-12)
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), numpy.ones((3, 3)), atol=1e-2)
    assert not any(minimum.diverged.tolist())


@profile(3)
@given(st.sampled_from([1e-4, 1e-8, 1e-12]))
def test_a_minimum_is_found_whatever_the_scale_of_the_values(scale: float) -> None:
    minimum = minimize(lambda x: rosenbrock(x) * scale, tb.asarray(START), tolerance=1e-7 * scale)
    assert minimum.converged.tolist() == [True] * 3
    numpy.testing.assert_allclose(numpy.asarray(minimum.x), numpy.ones((3, 3)), atol=1e-5)


@pytest.mark.parametrize("start", [1, tb.asarray(1), {"a": tb.asarray(1)}])
def test_integers_are_floats_to_start_from(start: Any) -> None:
    minimum = minimize(lambda x: ((x["a"] if isinstance(x, dict) else x) - 2.5) ** 2, start)
    (x,) = tb.tree_leaves(minimum.x)
    assert x.item() == pytest.approx(2.5)


WRONG: list[tuple[Any, type[TensorBackendError], str]] = [
    ({"method": "newton"}, ArgumentError, "minimize: expected one of the methods 'l-bfgs', 'Nelder-Mead', "),
    ({"x0": tb.ones(3, dtype="bool")}, DTypeError, "expected a floating x0, got x0=pred"),
    (
        {"function": lambda x: tb.sum(x, axis=0)[:2]},
        ShapeError,
        "expected a function whose result has the first axes of x0",
    ),
    ({"function": lambda x: (x, x)}, OperandError, "expected a function that returns one tensor"),
    ({"history": 0}, ArgumentError, "expected a history of at least 1 step, got history=0"),
    ({"tolerance": tb.ones(2)}, ShapeError, r"expected tolerance of shape \(3,\), got tolerance=f32\[2\]"),
    ({"method": "BFGS", "trajectory": (1,)}, ArgumentError, "expected no trajectory for a method of SciPy"),
    ({"method": "BFGS", "bounds": (0.0, None)}, BackendError, "expected no bounds for the method 'BFGS'"),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG)
def test_mistakes(options: dict[str, Any], error: type[TensorBackendError], text: str) -> None:
    call = {"function": rosenbrock, "x0": tb.asarray(START), **options}
    with pytest.raises(error, match=text):
        minimize(call.pop("function"), call.pop("x0"), **call)


def tree_of(x: Any) -> dict[str, Any]:
    """Return a tree of the first element and the other elements."""
    return {"first": x[..., 0], "rest": [x[..., 1:]]}


def rosenbrock_of(tree: dict[str, Any]) -> Any:
    return rosenbrock(tb.concatenate([tree["first"][..., None], tree["rest"][0]], axis=-1))


@pytest.mark.parametrize("method", ["l-bfgs", "L-BFGS-B"])
def test_a_tree_has_the_minimum_of_its_elements(method: str) -> None:
    start = tb.asarray(START)
    reference = minimize(rosenbrock, start, method)
    minimum = minimize(rosenbrock_of, tree_of(start), method)
    assert minimum.iterations.tolist() == reference.iterations.tolist()
    numpy.testing.assert_allclose(minimum.x["first"], reference.x[:, 0], rtol=1e-9)
    numpy.testing.assert_allclose(minimum.x["rest"][0], reference.x[:, 1:], rtol=1e-9)


def test_a_tree_keeps_dtypes_names_and_backend_and_is_compiled_and_recorded() -> None:
    start = {
        "a": tb.ones((2,), dtype="f32", names=("batch",), backend="binary"),
        "b": tb.zeros((2, 3), dtype="f64", names=("batch", "n"), backend="binary"),
    }

    def bowl(x: Any) -> Any:
        return (x["a"] - 2) ** 2 + tb.sum((x["b"] + 1) ** 2, axis="n")

    minimum = minimize(bowl, start)
    assert (minimum.x["a"].template, minimum.x["b"].template) == (start["a"].template, start["b"].template)
    assert (minimum.x["b"].backend.name, minimum.value.names) == ("binary", ("batch",))
    assert tb.round(minimum.x["a"]).tolist() == [2, 2]
    assert tb.round(minimum.x["b"]).tolist() == [[-1] * 3] * 2
    path = minimize(bowl, start, trajectory=(0, 5))
    assert (path.x["b"].names, path.x["b"].shape) == ((None, "batch", "n"), (2, 2, 3))
    assert path.x["b"][0].tolist() == start["b"].tolist()
    compiled = tb.jit(lambda x: minimize(bowl, x).x["a"])(start)
    assert tb.round(compiled).tolist() == [2, 2]


def test_a_tree_of_bounds() -> None:
    start = [tb.asarray(0.0), tb.asarray([0.0, 0.0])]

    def bowl(x: Any) -> Any:
        return (x[0] - 3) ** 2 + tb.sum((x[1] + 3) ** 2)

    both = minimize(bowl, start, bounds=(-1.0, [2.0, numpy.inf]))
    assert [tb.round(x * 10).tolist() for x in both.x] == [20.0, [-10.0, -10.0]]
    with pytest.raises(ArgumentError, match="nested like x0"):
        minimize(bowl, start, bounds=([0.0], None))


def test_what_a_tree_may_not_be() -> None:
    with pytest.raises(DTypeError, match="floating tensors"):
        minimize(lambda x: x["a"] ** 2, {"a": tb.asarray(True)})
    with pytest.raises(ShapeError, match="of each tensor"):
        minimize(lambda x: x[0] * tb.sum(x[1]), [tb.ones(2), tb.ones(3)])


EMPTY: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((0,), ()), ((2, 0), ()), ((3, 0), (3,)), ((0, 3), (0,))]


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize(("shape", "batch"), EMPTY, ids=str)
@pytest.mark.parametrize("method", ["l-bfgs", "Nelder-Mead", "BFGS"])
def test_where_there_is_nothing_to_search_x0_is_the_minimum(
    method: str, shape: tuple[int, ...], batch: tuple[int, ...], backend: str
) -> None:
    scale = tb.asarray(2.0, backend=backend)
    axis = tuple(range(len(batch), len(shape)))

    def function(x: Tensor) -> Tensor:
        return scale * (1 + tb.sum(x**2, axis=axis))

    start = tb.zeros(shape, backend=backend, names=tuple("ab"[: len(shape)]))
    minimum = minimize(function, start, method, bounds=(0, None))
    assert (minimum.x.template, minimum.x.backend.name) == (start.template, backend)
    assert numpy.array_equal(numpy.asarray(minimum.value), numpy.full(batch, 2, "float32"))
    assert (minimum.iterations.dtype, minimum.iterations.shape) == (tb.int32, batch)
    assert minimum.value.names == minimum.converged.names == start.names[: len(batch)]
    assert minimum.converged.tolist() == numpy.ones(batch, bool).tolist()
    assert minimum.diverged.tolist() == numpy.zeros(batch, bool).tolist()


def test_nothing_to_search_in_transforms_trees_and_trajectories() -> None:
    start = tb.zeros((2, 0))
    path = minimize(lambda x: 1 + tb.sum(x, axis=1), start, trajectory=(0, 4, 5))
    assert (path.x.shape, path.value.tolist(), path.iterations.tolist()) == ((3, 2, 0), [[1.0] * 2] * 3, [[0] * 2] * 3)
    mapped = tb.vmap(lambda x: minimize(lambda x: 1 + tb.sum(x), x))(start)
    assert (mapped.x.shape, mapped.value.tolist(), mapped.converged.tolist()) == ((2, 0), [1.0] * 2, [True] * 2)
    assert tb.jit(lambda x: minimize(lambda x: 1 + tb.sum(x, axis=1), x).value)(start).tolist() == [1.0, 1.0]
    slope = tb.grad(lambda scale: minimize(lambda x: scale**2 + tb.sum(x), tb.zeros(0)).value)(tb.asarray(3.0))
    assert slope.item() == 6
    tree = minimize(lambda p: tb.sum(p["a"]) + tb.sum(p["b"]), {"a": tb.zeros((0,)), "b": tb.zeros((2, 0))})
    assert (tree.x["b"].shape, tree.converged.item()) == ((2, 0), True)
    batch = minimize(lambda p: tb.sum(p["a"], axis=1), {"a": tb.zeros((0, 2))})
    assert (batch.x["a"].shape, batch.value.shape) == ((0, 2), (0,))
    unbounded = minimize(lambda x: tb.inf + tb.sum(x), tb.zeros(0))
    assert (unbounded.converged.item(), unbounded.diverged.item()) == (False, True)
