"""Gradients: the functions, their trees and names, their errors, and graphs that are too deep for recursion."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    OperandError,
    ShapeError,
    TemplateDataError,
)
from tensorbackend.expr.evaluate import Program
from tensorbackend.expr.grad import functions
from tensorbackend.expr.grad.engine import differentiate_graph
from tensorbackend.expr.graph import Graph
from tensorbackend.tensor import Tensor

X = tb.tensor([1.0, 2.0, 3.0], names=("n",))


def close(x: Tensor, reference: Any) -> bool:
    return bool(numpy.allclose(numpy.asarray(x), reference))


# The functions


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_a_gradient_has_the_names_and_backend_of_its_argument(backend: str) -> None:
    x = X.backend_copy(backend)
    gradient = tb.grad(lambda x: tb.sum(x * tb.sin(x)))(x)
    assert gradient.template is x.template
    assert gradient.backend is x.backend
    assert close(gradient, [math.sin(v) + v * math.cos(v) for v in (1, 2, 3)])


def test_the_value_comes_with_the_gradient() -> None:
    value, gradient = tb.value_and_grad(lambda x: x**3)(2.0)
    assert (value.item(), gradient.item()) == (8.0, 12.0)


@dataclass(frozen=True)
class Layer:
    weight: Tensor
    bias: Tensor


def test_a_gradient_has_the_tree_of_its_argument() -> None:
    parameters: dict[str, Any] = {"layers": [Layer(X, tb.asarray(1.0))], "scale": (tb.asarray(2.0), None)}

    def loss(parameters: Any) -> Tensor:
        (layer,) = parameters["layers"]
        return tb.sum(layer.weight * parameters["scale"][0] + layer.bias)

    gradient = tb.grad(loss)(parameters)
    (layer,) = gradient["layers"]
    assert isinstance(layer, Layer)
    assert close(layer.weight, [2.0, 2.0, 2.0])
    assert (layer.weight.names, layer.bias.item()) == (("n",), 3.0)
    assert (gradient["scale"][0].item(), gradient["scale"][1]) == (6.0, None)


def test_argnums_choose_arguments() -> None:
    product = lambda x, y: x * y  # noqa: E731
    assert tb.grad(product, 1)(2.0, 3.0).item() == 2.0
    assert tb.grad(product, -1)(2.0, 3.0).item() == 2.0
    first, second = tb.grad(product, (1, 0))(2.0, 3.0)
    assert (first.item(), second.item()) == (2.0, 3.0)


def test_what_comes_beside_the_result() -> None:
    gradient, extra = tb.grad(lambda x: (tb.sum(x), {"twice": x * 2, "count": 3}), has_aux=True)(X)
    assert close(gradient, [1.0, 1.0, 1.0])
    assert close(extra["twice"], [2.0, 4.0, 6.0])
    (value, _), gradient = tb.value_and_grad(lambda x: (tb.sum(x), x), has_aux=True)(X)
    assert value.item() == 6.0


def test_an_argument_that_nothing_depends_on() -> None:
    assert close(tb.grad(lambda x: tb.sum(X))(X), [0.0, 0.0, 0.0])
    assert close(tb.grad(lambda x: tb.sum(tb.floor(x)))(X), [0.0, 0.0, 0.0])


def test_keywords_and_closed_over_tensors_are_constants() -> None:
    def loss(x: Tensor, *, power: int, weights: Tensor) -> Tensor:
        return tb.sum(weights * x**power)

    assert close(tb.grad(loss)(X, power=2, weights=X), [2.0, 8.0, 18.0])


def test_vjp_pulls_back_often() -> None:
    out, pull = tb.vjp(lambda x, y: {"product": x * y, "index": tb.argmax(x)}, X, tb.asarray(2.0))
    assert close(out["product"], [2.0, 4.0, 6.0])
    for scale in (1.0, 3.0):
        x, y = pull({"product": tb.ones(3) * scale, "index": 0})
        assert close(x, [2.0 * scale] * 3)
        assert x.names == ("n",)
        assert y.item() == 6.0 * scale


def test_jvp_pushes_forward() -> None:
    out, tangent = tb.jvp(lambda x, y: (x * y, tb.argmax(x)), (X, 2.0), (tb.ones(3), 1.0))
    assert close(out[0], [2.0, 4.0, 6.0])
    assert close(tangent[0], [3.0, 4.0, 5.0])
    assert tangent[0].names == ("n",)
    assert (tangent[1].item(), tangent[1].dtype) == (0, tb.int64)


def test_a_jacobian_has_the_axes_of_both() -> None:
    y = tb.tensor([1.0, -1.0], names=("m",))
    jacobians = tb.jacobian(lambda x, y: {"outer": x[:, None] * y, "sum": tb.sum(x)}, (0, 1))(X, y)
    by_x, by_y = jacobians["outer"]
    assert by_x.template == tb.Template((3, 2, 3), "f32", ("n", "m", None))
    assert by_y.template == tb.Template((3, 2, 2), "f32", ("n", "m", None))
    assert close(by_x, numpy.einsum("ik,j->ijk", numpy.eye(3), [1, -1]))
    assert close(by_y, numpy.einsum("i,jk->ijk", [1, 2, 3], numpy.eye(2)))
    assert jacobians["sum"][0].names == ("n",)
    assert tb.jacobian(lambda x: x * 2)(tb.zeros(0)).shape == (0, 0)


def test_a_hessian_of_a_tree() -> None:
    hessian = tb.hessian(lambda p: p["a"] ** 2 * p["b"])({"a": tb.asarray(3.0), "b": tb.asarray(5.0)})
    assert {i: {j: x.item() for j, x in row.items()} for i, row in hessian.items()} == {
        "a": {"a": 10.0, "b": 6.0}, "b": {"a": 6.0, "b": 0.0},
    }  # fmt: skip


def test_gradients_nest() -> None:
    third = tb.grad(tb.grad(tb.grad(lambda x: x**5)))
    assert third(2.0).item() == 60 * 4
    # The inner function closes over the outer one's argument.
    assert tb.grad(lambda x: x * tb.grad(lambda y: x * y * y)(x))(3.0).item() == 6 * 9
    _, tangent = tb.jvp(tb.grad(lambda x: x**3), (2.0,), (1.0,))
    assert tangent.item() == 12.0


def test_gradients_inside_a_trace() -> None:
    graph = tb.trace(tb.grad(lambda x: tb.sum(x**3)))("f32[n=3]")
    assert graph.results == (tb.Template((3,), "f32", ("n",)),)
    assert close(graph(X), [3.0, 12.0, 27.0])
    _, pull = tb.vjp(lambda x: tb.trace(tb.exp)("f32[3]")(x), X)
    assert close(pull(tb.ones(3))[0], numpy.exp([1, 2, 3]))


def test_complex_numbers_go_by_the_convention_of_jax() -> None:
    import jax
    import jax.numpy as jnp

    z = numpy.asarray([1 + 2j, -0.5 + 0.25j], dtype="complex64")
    weights = numpy.asarray([0.5 - 1j, 2j], dtype="complex64")
    ours = tb.grad(lambda z: tb.sum(tb.real(z * z * weights) + tb.imag(tb.conj(z) * z**3) + tb.abs(z)))(tb.asarray(z))
    theirs = jax.jit(jax.grad(lambda z: jnp.sum((z * z * weights).real + (z.conj() * z**3).imag + jnp.abs(z))))(z)
    assert close(ours, theirs)
    _, pull = tb.vjp(lambda x: tb.astype(x, "c64") * weights, tb.asarray([1.0, 2.0]))
    _, their_pull = jax.vjp(lambda x: x * jnp.asarray(weights, "complex64"), jnp.asarray([1.0, 2.0], "float32"))
    assert close(pull(tb.asarray(z))[0], their_pull(jnp.asarray(z))[0])


def test_dtypes_of_gradients_are_those_of_the_arguments() -> None:
    x, y = tb.ones(3, dtype="f16"), tb.ones(3, dtype="f64")
    gradients = tb.grad(lambda x, y: tb.sum(x * y), (0, 1))(x, y)
    assert [gradient.dtype for gradient in gradients] == [tb.float16, tb.float64]


def test_the_gradient_of_jax_through_a_complex_quotient() -> None:
    import jax

    x, y = (tb.asarray(numbers, dtype="c64") for numbers in ([1 + 2j, 0.5 - 1j], [0.3 - 1j, 2 + 1j]))
    ours = tb.grad(lambda x, y: tb.sum(tb.real(x / y)), (0, 1))(x, y)
    x, y = x.backend_copy("jax"), y.backend_copy("jax")
    theirs: Any = jax.jit(jax.grad(lambda x, y: tb.sum(tb.real(x / y)).data, (0, 1)))
    assert all(map(close, ours, map(numpy.asarray, theirs(x, y))))


def test_a_truncated_sample_moves_with_its_bounds_and_moments() -> None:
    def sample(parameters: Tensor) -> Tensor:
        low, high, mean, deviation = tb.unstack(parameters)
        key = tb.random.key(1)
        return tb.sum(tb.random.truncated_normal(key, low, high, shape=(5,), mean=mean, deviation=deviation))

    point, step = tb.asarray([-1.0, 2.0, 0.5, 0.75], dtype="f64"), 1e-5
    with tb.precision(64):
        gradient = tb.grad(sample)(point)
        for position in range(4):
            moved = tb.nn.one_hot(tb.asarray(position), 4, dtype="f64") * step
            difference = (sample(point + moved) - sample(point - moved)) / (2 * step)
            assert float(gradient[position]) == pytest.approx(float(difference), rel=1e-5)


# Gradients of one's own


@tb.custom_gradient
def doubled(x: Any, y: Tensor) -> Any:
    """Return x * y, with twice the gradient with respect to x and none with respect to y."""
    return {"product": x["x"] * y}, lambda cotangent: ({"x": 2 * cotangent["product"] * y}, None)


def test_a_gradient_of_ones_own() -> None:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        product: Tensor = doubled({"x": x}, y)["product"]
        return tb.sum(product)

    y = tb.asarray(3.0)
    assert close(loss(X, y), 18.0)
    by_x, by_y = tb.grad(loss, (0, 1))(X, y)
    assert close(by_x, [6.0, 6.0, 6.0])
    assert (by_x.names, by_y.item()) == (("n",), 0.0)
    # The gradient of the gradient differentiates the function of cotangents.
    assert tb.grad(lambda y: tb.sum(tb.grad(loss)(X, y)))(y).item() == 6.0
    graph = tb.trace(lambda x: doubled({"x": x}, y)["product"])("f32[n=3]")
    assert [node.op for node in graph.nodes] == ["parameter", "captured", "custom_gradient"]
    assert close(graph(X), [3.0, 6.0, 9.0])


def test_a_gradient_of_ones_own_closes_over_an_outer_argument() -> None:
    def outer(w: Tensor) -> Tensor:
        scaled = tb.custom_gradient(lambda x: (x * w, lambda cotangent: cotangent * w * 10))
        slope: Tensor = tb.grad(scaled)(2.0)
        return slope + w

    assert outer(tb.asarray(3.0)).item() == 33.0
    assert tb.grad(outer)(3.0).item() == 11.0
    with pytest.raises(GradientError, match="it has none with respect to f32, which its function closes over"):
        tb.grad(lambda w: tb.custom_gradient(lambda x: (x * w, lambda c: c * w))(tb.asarray(2.0)))(3.0)


def test_cotangents_of_ones_own_must_fit() -> None:
    with pytest.raises(ArgumentError, match=r"expected a tuple of 2 cotangents, one for each argument, got returned="):
        tb.grad(lambda x: tb.custom_gradient(lambda x, y: (x * y, lambda c: c))(x, x))(1.0)
    with pytest.raises(
        ArgumentError, match=r"expected a cotangent nested like argument 0: argument\[0\], got returned="
    ):
        tb.grad(lambda x: tb.custom_gradient(lambda x: (x[0], lambda c: c))([x]))(1.0)


# Graphs


def test_composites_with_a_rule_stay_one_node() -> None:
    graph = tb.trace(tb.grad(lambda x: tb.sum(tb.softmax(x)[0])))("f32[n=3]")
    assert [node.op for node in graph.nodes].count("softmax") == 1


def test_composites_without_a_gradient_through_them_stay_whole() -> None:
    graph = tb.trace(tb.grad(lambda x, y: tb.sum(x * tb.hypot(y, y))))("f32[n=3]", tb.ones(3))
    assert "hypot" in [node.op for node in graph.nodes]


def test_nodes_of_a_gradient_belong_to_the_lines_of_the_forward_ones() -> None:
    def loss(x: Tensor) -> Tensor:
        y = tb.sin(x)
        return tb.sum(y)

    graph = tb.trace(tb.grad(loss))("f32[n=3]")
    (node,) = (node for node in graph.nodes if node.op == "cos")
    assert node.line is not None
    assert (node.line.function, node.line.number) == ("loss", loss.__code__.co_firstlineno + 1)


def test_a_chain_of_30_000_nodes() -> None:
    def chain(x: Tensor) -> Tensor:
        for _ in range(7_500):
            x = tb.negative(tb.negative(tb.negative(tb.negative(x))))
        return x

    graph = differentiate_graph(tb.trace(chain)("f32"), [0])
    assert len(graph.nodes) == 60_002  # 30,000 forward, 30,000 backward, the parameter and the cotangent


# Errors


def test_errors_come_before_anything_runs() -> None:
    def never(x: Tensor) -> Tensor:
        raise AssertionError

    with pytest.raises(DTypeError, match=r"expected x to be floating or complex for a gradient, got given=s64; cast"):
        tb.grad(lambda x: x)(3)
    with pytest.raises(DTypeError, match=r"expected p\['a'\]\[0\] to be floating"):
        tb.grad(lambda p: p)({"a": [2, True]})
    with pytest.raises(ArgumentError, match=r"expected argnums from 0 to 0, got argnums=1"):
        tb.grad(never, 1)(1.0)
    with pytest.raises(ArgumentError, match=r"expected each of argnums once, got argnums=\(0, -2\)"):
        tb.grad(never, (0, -2))(1.0, 2.0)
    with pytest.raises(ShapeError, match=r"expected a scalar result for a gradient, got result=f32\[n: 3\]; take its"):
        tb.grad(lambda x: x)(X)
    with pytest.raises(DTypeError, match=r"expected a floating result for a gradient, got result=c64; take its real"):
        tb.grad(lambda x: x)(1j)
    with pytest.raises(OperandError, match=r"returns one tensor, got returned=\['result\[0\]', 'result\[1\]'\]"):
        tb.grad(lambda x: (x, x))(1.0)
    with pytest.raises(OperandError, match=r"expected a function that returns \(result, anything\) for has_aux"):
        tb.grad(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(
        DTypeError, match=r"expected a floating result for the jacobian with respect to a floating argument"
    ):
        tb.jacobian(lambda x: x * 1j)(1.0)
    with pytest.raises(DTypeError, match=r"expected a floating or complex result for a jacobian"):
        tb.jacobian(tb.argmax)(X)


def test_a_gradient_of_whole_numbers_is_refused_with_a_remedy_that_helps() -> None:
    for function in (tb.argmax, lambda x: tb.all(x > 0)):
        with pytest.raises(DTypeError, match="compute it in a floating dtype"):
            tb.grad(function)(tb.ones(3))
        with tb.tape() as tape:
            x = tape.watch(tb.ones(3))
            y = function(x)
        with pytest.raises(DTypeError, match="compute it in a floating dtype"):
            tb.gradient(y, x)
        with pytest.raises(DTypeError, match="compute it in a floating dtype"):
            tb.optimize.minimize(function, tb.ones(3))


def test_tangents_and_cotangents_must_fit() -> None:
    with pytest.raises(ArgumentError, match=r"expected tangents nested like the arguments"):
        tb.jvp(tb.sin, (1.0,), ([1.0],))
    with pytest.raises(ShapeError, match=r"expected tangents\[0\] like f32\[n: 3\], got given=f32\[2\]"):
        tb.jvp(tb.sin, (X,), (tb.ones(2),))
    _, pull = tb.vjp(lambda x: (x, x), X)
    with pytest.raises(ArgumentError, match=r"expected a cotangent nested like the result: result\[0\], result\[1\]"):
        pull(X)
    with pytest.raises(ShapeError, match=r"expected cotangent\[1\] like f32\[n: 3\], got given=f64"):
        pull((X, tb.astype(X, "f64")))


def test_an_op_without_a_gradient_says_where_it_was_called() -> None:
    def loss(x: Tensor) -> Tensor:
        return tb.reduce(x, 0.0, function=lambda a, b: a + b)

    line = loss.__code__.co_firstlineno + 1
    text = rf"got op='reduce'; its function may be arbitrary; .*test_functions.py:{line}"
    with pytest.raises(GradientError, match=text):
        tb.grad(loss)(X)
    assert close(tb.grad(lambda x: tb.sum(x) + loss(tb.floor(x)))(X), [1.0, 1.0, 1.0])


def test_an_eager_gradient_follows_what_is_around_the_function() -> None:
    state: dict[str, Any] = {"scale": 2.0, "shift": tb.asarray([1.0, 2.0])}

    def loss(x: Tensor) -> Tensor:
        return tb.sum((x + state["shift"]) ** 2 * state["scale"])

    x = tb.asarray([0.0, 0.0])
    assert tb.grad(loss)(x).tolist() == [4.0, 8.0]
    state["shift"] = tb.asarray([3.0, 2.0])
    assert tb.grad(loss)(x).tolist() == [12.0, 8.0]
    state["scale"] = 1.0
    assert tb.grad(loss)(x).tolist() == [6.0, 4.0]
    x[0] = 1.0
    assert tb.grad(loss)(x).tolist() == [8.0, 4.0]


@pytest.mark.parametrize(
    "function",
    [lambda x: tb.sum(x[x > 0] ** 2), lambda x: x[0] ** 2 if x[0] > 0 else x[1], lambda x: x[0] * x.tolist()[0]],
)
def test_a_function_that_reads_data_runs_once_and_is_sent_to_a_tape(function: Callable[[tb.Tensor], tb.Tensor]) -> None:
    runs = []

    def counted(x: tb.Tensor) -> tb.Tensor:
        runs.append(x)
        return function(x)

    x = tb.asarray([3.0, -1.0])
    for transform in (tb.grad, tb.value_and_grad, tb.jacobian):
        runs.clear()
        with pytest.raises(TemplateDataError, match=r"tb\.tape\(\) for a gradient"):
            transform(counted)(x)
        assert len(runs) == 1
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = function(watched)
    assert tb.gradient(y, watched)[0].item() in (6.0, 3.0)


def test_calls_at_several_lines_share_one_derived_gradient() -> None:
    step, w = tb.grad(lambda w: tb.sum(tb.checkpoint(tb.sin)(w))), tb.asarray([1.0, 2.0], backend="numpy")
    step(w)
    step(w)  # from here on the function is traced at each call
    derived = len(functions._known)
    first = step(w)
    second = step(w)
    assert first.tolist() == second.tolist()
    assert len(functions._known) == derived


def test_a_trace_is_freed_before_its_gradient_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(w: tb.Tensor) -> tb.Tensor:
        for _ in range(50):
            w = tb.checkpoint(tb.sin)(w)
        return tb.sum(w)

    def graphs() -> int:
        return sum(isinstance(x, Graph) for x in gc.get_objects())

    step, w = tb.grad(loss), tb.asarray([1.0], backend="numpy")
    for _ in range(2):
        step(w)
    run, alive = Program.on_payloads, list[int]()

    def counted(self: Program, payloads: Any) -> Any:
        alive.append(graphs())
        return run(self, payloads)

    monkeypatch.setattr(Program, "on_payloads", counted)
    gc.collect()
    before = graphs()
    step(w)
    assert alive[0] <= before + 1  # the call itself holds an empty one
