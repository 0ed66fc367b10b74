"""Axis names in the graphs of gradients: each node that computes a cotangent gives it the axis names of its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.tensor import Tensor

BACKENDS = ("binary", "numpy", "jax")


def nameless(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the ops in the graph of a function that give a tensor with axes but without any axis name."""
    graph = tb.trace(function)(*arguments)
    return [node.op for node in graph.nodes for out in node.outs if out.shape and not any(out.names)]


def block(x: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    """Compute a loss with a product, a normalisation, a running sum, a choice of entries and reductions."""
    hidden = tb.dot(x, weight, contract=(["feature"], ["feature"]))
    centred = hidden - tb.mean(hidden, axis="unit", keepdims=True)
    scaled = tb.maximum(centred / tb.sqrt(tb.var(hidden, axis="unit", keepdims=True) + 1e-5), 0.0)
    weights = tb.softmax(scaled + tb.cumulative_sum(scaled, axis="time"), axis="unit")
    chosen = tb.take_along_axis(tb.log_softmax(weights, axis="unit"), labels, axis="unit")
    return -tb.mean(chosen) + tb.logsumexp(tb.max(scaled, axis="time"))


def arguments() -> tuple[Tensor, Tensor, Tensor]:
    x = tb.random.normal(tb.random.key(0), (2, 3, 4), names=("batch", "time", "feature"))
    weight = tb.random.normal(tb.random.key(1), (4, 5), names=("feature", "unit"))
    return x, weight, tb.asarray([[[0], [4], [1]], [[2], [2], [3]]], names=("batch", "time", None))


def test_every_node_of_a_gradient_has_names() -> None:
    x, weight, labels = arguments()
    assert nameless(lambda x, w: tb.grad(block, argnums=(0, 1))(x, w, labels), x, weight) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_change_no_gradient(backend: str, whole: Callable[..., Any]) -> None:
    with tb.default_backend(backend):
        named_arguments = arguments()
        bare = tuple(x.rename(*(None,) * x.ndim) for x in named_arguments)

        def plain(x: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
            pairs = zip((x, weight, labels), named_arguments, strict=True)
            return block(*(tensor.rename(*like.names) for tensor, like in pairs))

        for gradient, bare_gradient, like in zip(
            whole(tb.grad(block, argnums=(0, 1)))(*named_arguments),
            whole(tb.grad(plain, argnums=(0, 1)))(*bare),
            named_arguments[:2],
            strict=True,
        ):
            assert gradient.names == like.names
            assert bare_gradient.names == (None,) * like.ndim
            assert gradient.tolist() == bare_gradient.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_have_the_names_of_arguments(backend: str) -> None:
    with tb.default_backend(backend):
        x = tb.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names=("row", "column"))
        names = x.names

        def loss(x: Tensor) -> Tensor:
            return tb.sum(tb.sin(x) * x)

        assert tb.grad(loss)(x).names == tb.jit(tb.grad(loss))(x).names == names
        assert tb.value_and_grad(loss)(x)[1].names == names
        assert tb.grad(lambda x: tb.sum(tb.grad(loss)(x) ** 2))(x).names == names
        assert tb.vmap(tb.grad(loss))(x).names == names
        y, back = tb.vjp(tb.sin, x)
        assert (y.names, back(tb.ones((2, 3)))[0].names) == (names, names)
        y, tangent = tb.jvp(tb.sin, (x,), (tb.ones((2, 3)),))
        assert (y.names, tangent.names) == (names, names)
        assert tb.linearize(tb.sin, x)[1](tb.ones((2, 3))).names == names
        with tb.tape() as tape:
            watched = tape.watch(x)
            y = loss(watched)
            inside = tb.gradient(y, watched)
        assert (inside.names, tb.gradient(y, watched).names) == (names, names)
        assert tb.grad(lambda x: tb.sum(tb.zeros(3)))(x).names == names  # the result does not depend on x


def test_loops_and_branches_keep_names() -> None:
    x = tb.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names=("time", "unit"))

    def scanned(x: Tensor) -> Any:
        return tb.scan(lambda state, entry: (tb.sin(state * entry), state), tb.ones(3, names=("unit",)), x)[0]

    def repeated(x: Tensor) -> Any:
        return tb.fori_loop(0, 3, lambda _, state: tb.sin(state), x)

    def chosen(x: Tensor) -> Any:
        return tb.cond(tb.sum(x) > 0, tb.sin, tb.cos, x)

    for function in (scanned, repeated, chosen, tb.checkpoint(tb.sin)):
        gradient = tb.grad(lambda x, function=function: tb.sum(function(x) ** 2))
        assert gradient(x).names == x.names
        assert nameless(gradient, x) == []
        assert tb.grad(lambda x, gradient=gradient: tb.sum(gradient(x)))(x).names == x.names


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: tb.dot(x, x.rename(row="other"), contract="column"), id="renamed in between"),
        pytest.param(lambda x: tb.matmul(x, tb.matrix_transpose(x.rename(row="other"))), id="its own transpose"),
        pytest.param(lambda x: x.rename("column", "row") * x.shape[0], id="names exchanged"),
        pytest.param(lambda x: x.rename("a", "b") * x.rename("a", "b"), id="two names of one value"),
        pytest.param(tb.linalg.cholesky, id="a factorisation"),
        pytest.param(tb.linalg.inv, id="an inverse"),
        pytest.param(tb.linalg.det, id="a determinant"),
        pytest.param(lambda x: tb.linalg.solve(x, x[0].rename("row")), id="a system"),
    ],
)
def test_a_rule_whose_products_would_have_one_name_twice_goes_without(function: Callable[[Tensor], Tensor]) -> None:
    values = [[4.0, 1.0], [1.0, 3.0]]

    def loss(x: Tensor) -> Tensor:
        return tb.sum(function(x) ** 2)

    named = tb.tensor(values, names=("row", "column"))
    gradient = tb.grad(loss)(named)
    reference = tb.grad(lambda x: loss(x.rename("row", "column")))(tb.tensor(values))
    assert gradient.names == ("row", "column")
    assert gradient.tolist() == reference.tolist()
    assert tb.hessian(loss)(named).shape == (2, 2, 2, 2)


def test_a_function_of_cotangents_sees_the_names_of_its_result() -> None:
    seen: list[Any] = []

    @tb.custom_gradient
    def doubled(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        def pull(cotangent: Tensor) -> Tensor:
            seen.append(cotangent.names)
            return 2 * cotangent

        return 2 * x, pull

    x = tb.ones((2, 3), names=("row", "column"))
    assert tb.grad(lambda x: tb.sum(doubled(x)))(x).names == x.names
    assert seen == [x.names]


def test_a_pulled_back_gradient_that_depends_on_no_cotangent() -> None:
    """The gradient of an empty window is made of zeros, which are cast to the dtype of the argument."""
    result, pullback = tb.vjp(lambda x: tb.window_sum(tb.astype(x, "f16"), window=(1,)), tb.zeros(0))
    (gradient,) = pullback(result)
    assert gradient.template == tb.zeros(0).template
