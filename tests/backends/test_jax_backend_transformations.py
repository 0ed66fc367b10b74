"""JAX's transformations of functions of tensors with names, and what data alone shows while JAX traces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError, DeallocatedError, IndexRangeError

BACKEND = tb.get_backend("jax")


def on_jax(values: Any, *names: str | None, dtype: str = "f32") -> tb.Tensor:
    return tb.tensor(values, dtype=dtype, names=names or None, backend=BACKEND)


X = on_jax([[0.5, -1.0, 2.0], [1.5, 0.0, -0.25]], "batch", "feature")


# Transformations


def test_a_jitted_function_keeps_names() -> None:
    @jax.jit
    def function(x: tb.Tensor) -> dict[str, tb.Tensor]:
        return {"softmax": tb.softmax(x, axis="feature"), "total": tb.sum(x * 2, axis="batch")}

    results = function(X)
    assert (results["softmax"].names, results["total"].names) == (("batch", "feature"), ("feature",))
    assert results["total"].tolist() == [4.0, -2.0, 3.5]
    assert results["softmax"].backend is BACKEND


def test_names_are_static_data_and_shapes_are_checked_while_tracing() -> None:
    traced: list[tb.Template] = []

    @jax.jit
    def function(x: tb.Tensor) -> tb.Tensor:
        traced.append(x.template)
        return x + X

    assert function(X).names == ("batch", "feature")
    function(X * 2)
    assert len(traced) == 1
    with pytest.raises(tb.errors.NamesError, match="the same name or None for matching axes"):
        function(X.rename("feature", "batch"))


def test_a_traced_tensor_is_shown_without_data() -> None:
    shown: list[str] = []
    jax.jit(lambda x: shown.append(repr(x)) or x)(X)  # type: ignore[func-returns-value] # append gives None
    assert shown == ["f32[batch: 2][feature: 3] jax (traced)"]


def test_a_gradient_is_a_tensor_with_names() -> None:
    gradient = jax.grad(lambda x: tb.sum(tb.tanh(x) ** 2).data)(X)
    reference = jax.jit(jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)))(X.data)
    assert gradient.template is X.template
    np.testing.assert_allclose(np.asarray(gradient), reference, rtol=1e-6)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: tb.maximum(x, 0.0), lambda x: jnp.maximum(x, 0.0)),
        (lambda x: tb.max(x, axis="feature"), lambda x: jnp.max(x, axis=1)),
        (lambda x: tb.min(x, axis="batch"), lambda x: jnp.min(x, axis=0)),
        (lambda x: tb.softmax(x, axis="feature") * x, lambda x: jax.nn.softmax(x, axis=1) * x),
        (lambda x: tb.log(tb.abs(x) + 1.0) / (x + 3.0), lambda x: jnp.log(jnp.abs(x) + 1.0) / (x + 3.0)),
        (lambda x: tb.cosh(x) * tb.sinh(x), lambda x: jnp.cosh(x) * jnp.sinh(x)),
        (lambda x: tb.cumulative_sum(x, axis="feature") ** 2, lambda x: jnp.cumsum(x, axis=1) ** 2),
        (
            lambda x: tb.take(x, on_jax([1, 1, 0], dtype="s64"), axis="batch") ** 3,
            lambda x: x[jnp.array([1, 1, 0])] ** 3,
        ),
        (lambda x: tb.sort(x, axis="feature") * 2.0, lambda x: jnp.sort(x, axis=1) * 2.0),
        (lambda x: x @ tb.matrix_transpose(x).rename(None, None), lambda x: x @ x.T),
        (lambda x: tb.window_max(x, (1, 2)), lambda x: jnp.maximum(x[:, :-1], x[:, 1:])),
        (lambda x: tb.erf(x), lambda x: jax.scipy.special.erf(x)),
    ],
)
def test_gradients_are_jax_own(ours: Any, theirs: Any) -> None:
    gradient_of_ours, gradient_of_theirs = (
        jax.grad(lambda x: tb.sum(ours(x)).data),
        jax.grad(lambda x: jnp.sum(theirs(x))),
    )
    gradient, reference = jax.jit(lambda x: (gradient_of_ours(x), gradient_of_theirs(x.data)))(X)
    np.testing.assert_allclose(np.asarray(gradient), reference, rtol=2e-5, atol=1e-6)


def test_a_mapped_axis_goes_with_its_name_and_comes_without_one() -> None:
    seen: list[tuple[str | None, ...]] = []

    def function(x: tb.Tensor) -> tb.Tensor:
        seen.append(x.names)
        return tb.cumulative_sum(x)

    rows, columns = jax.vmap(function)(X), jax.vmap(function, in_axes=1)(X)
    assert seen == [("feature",), ("batch",)]
    assert (rows.names, columns.names) == ((None, "feature"), (None, "batch"))
    assert columns.tolist() == np.cumsum(np.asarray(X), axis=0).T.tolist()


def test_scan_over_tensors() -> None:
    start = on_jax([0.0, 0.0, 0.0], "feature")

    def step(total: tb.Tensor, row: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        total = total + row
        return total, total * 2

    last, steps = jax.lax.scan(step, start, X)
    assert (last.names, steps.names) == (("feature",), (None, "feature"))
    assert last.tolist() == [2.0, -1.0, 1.75]


def test_tensors_of_other_backends_become_jax_tensors_in_a_transformation() -> None:
    for backend in ("numpy", "binary"):
        doubled = jax.jit(lambda x: x + x)(tb.tensor([1.0, 2.0], names=("n",), backend=backend))
        assert (doubled.tolist(), doubled.names, doubled.backend) == ([2.0, 4.0], ("n",), BACKEND)


def test_a_value_that_jax_traces_is_a_tensor_on_jax() -> None:
    array = jnp.ones((2, 3), jnp.float32)
    for default in ("numpy", "jax"):
        with tb.default_backend(default):
            assert jax.jit(lambda x: tb.sum(tb.exp(x), axis=0))(array).shape == (3,)
            assert jax.grad(lambda x: tb.sum(tb.asarray(x) * x).data)(array).tolist() == [[2.0] * 3] * 2


def test_trees() -> None:
    leaves, tree = jax.tree.flatten({"x": X})
    assert [leaf.shape for leaf in leaves] == [(2, 3)]
    assert jax.tree.unflatten(tree, leaves)["x"].template is X.template
    assert (
        jax.tree.map(lambda leaf: leaf.astype(jnp.float16), X).template == tb.template((2, 3), "f16", X.names).template
    )
    assert jax.tree.map(jnp.sum, X).names == ()
    assert jax.eval_shape(lambda x: tb.sum(x, axis="batch"), X).names == ("feature",)
    kept = jax.tree.map(lambda leaf: jnp.zeros((), jnp.int32), X)  # such as an optimiser's state of a parameter
    structure: Callable[[Any], object] = jax.tree.structure
    assert structure(kept) == structure(X) == structure(X.backend_copy("numpy"))
    assert jax.tree.map(jnp.multiply, X, kept).names == X.names
    assert structure(X) != structure(X.rename("batch", None))
    assert jax.jit(lambda x: x + x)(X.rename("batch", None)).names == ("batch", None)
    gone = on_jax([1.0])
    gone.backend_deallocate()
    with pytest.raises(DeallocatedError):
        jax.tree.leaves(gone)


class Layer(NamedTuple):
    weight: tb.Tensor
    bias: tb.Tensor


def layers(sizes: list[tuple[str, int]]) -> list[Layer]:
    key = tb.random.key(0)
    parameters = []
    for (before, rows), (after, columns) in pairwise(sizes):
        key, layer_key = tb.random.split(key)
        weight = tb.random.normal(layer_key, (rows, columns), names=(before, after)) / rows**0.5
        parameters.append(Layer(on_jax(np.asarray(weight), *weight.names), on_jax(np.zeros(columns), after)))
    return parameters


def network(parameters: list[Layer], x: tb.Tensor) -> tb.Tensor:
    for layer in parameters[:-1]:
        x = tb.maximum(x @ layer.weight + layer.bias, 0.0)
    return x @ parameters[-1].weight + parameters[-1].bias


def test_a_named_network_gives_the_numbers_of_one_in_jax_numpy() -> None:
    parameters = layers([("pixel", 16), ("hidden", 32), ("code", 24), ("digit", 10)])
    x = on_jax(np.asarray(tb.random.normal(tb.random.key(1), (8, 16))), "batch", "pixel")

    def loss(parameters: list[Layer], x: tb.Tensor) -> Any:
        return tb.mean(tb.logsumexp(network(parameters, x), axis="digit")).data

    def plain(parameters: list[Any], x: Any) -> Any:
        for weight, bias in parameters[:-1]:
            x = jnp.maximum(x @ weight + bias, 0.0)
        return jnp.mean(jax.scipy.special.logsumexp(x @ parameters[-1][0] + parameters[-1][1], axis=1))

    arrays = [(layer.weight.data, layer.bias.data) for layer in parameters]
    loss_value, gradient = jax.jit(jax.value_and_grad(loss))(parameters, x)
    expected_loss, expected_gradient = jax.jit(jax.value_and_grad(plain))(arrays, x.data)
    np.testing.assert_allclose(loss_value, expected_loss, rtol=1e-6)
    assert gradient[1].weight.names == ("hidden", "code")
    for ours, theirs in zip(jax.tree.leaves(gradient), jax.tree.leaves(expected_gradient), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)
    logits = jax.jit(jax.vmap(lambda row: network(parameters, row)))(x)
    assert (logits.names, logits.shape) == ((None, "digit"), (8, 10))
    np.testing.assert_allclose(np.asarray(logits), np.asarray(network(parameters, x)), rtol=1e-5, atol=1e-6)


def test_what_eval_shape_gives_shows_no_number() -> None:
    for shape in ((), (2, 3), (0,)):
        out = jax.eval_shape(lambda x: tb.asarray(x, backend="jax") * 2, np.ones(shape, np.float32))
        assert repr(out) == f"{tb.Template(shape, 'f32')!r} jax (without data)"


# Errors that only data can show


def test_an_index_outside_is_an_error_on_data_and_moved_while_tracing() -> None:
    indices = on_jax([0, 7], dtype="s64")
    with pytest.raises(DataError, match="expected an index from -2 to 1, got index=7"):
        tb.take(X, indices, axis="batch")
    rows = jax.jit(lambda indices: tb.take(X, indices, axis="batch"))(indices)
    assert rows.tolist() == [X.tolist()[0], X.tolist()[1]]


def test_a_singular_matrix_is_an_error_on_data_and_no_number_while_tracing() -> None:
    singular = on_jax([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(DataError, match="singular"):
        tb.linalg.solve(singular, on_jax([1.0, 1.0]))
    assert not np.isfinite(np.asarray(jax.jit(tb.linalg.solve)(singular, on_jax([1.0, 1.0])))).any()


def test_a_matrix_held_by_a_traced_function_is_solved_with() -> None:
    matrix = on_jax([[2.0, 1.0], [1.0, 3.0]], "row", "column")
    right = on_jax([1.0, 2.0], "row")

    def solved(right: tb.Tensor) -> list[tb.Tensor]:
        factor = tb.linalg.cholesky(matrix)
        solve = tb.linalg.triangular_solve
        return [tb.linalg.solve(matrix, right), tb.linalg.inv(matrix) @ right, solve(factor, right), factor @ right]

    for ours, reference in zip(jax.jit(solved)(right), solved(right), strict=True):
        np.testing.assert_allclose(ours, reference, rtol=1e-6)


def test_a_number_next_to_a_tensor_in_a_trace_is_not_a_tracer_later() -> None:
    with jax.checking_leaks():
        jax.jit(lambda x: x * 0.12345 + 1.5)(X)
    assert (on_jax([2.0]) * 0.12345).tolist() == pytest.approx([0.2469])


def test_an_index_outside_is_found_beside_values_that_are_differentiated() -> None:
    x, places = on_jax([1.0, 2.0, 3.0]), tb.asarray([0, 3], backend=BACKEND)

    def total(x: tb.Tensor) -> Any:
        return tb.sum(tb.take(x, places, axis=0)).data

    for function in (total, jax.grad(total)):
        with pytest.raises(IndexRangeError, match="got index=3"):
            function(x)
    assert jax.jit(lambda x, places: tb.take(x, places, axis=0))(x, places).tolist() == [1.0, 3.0]
