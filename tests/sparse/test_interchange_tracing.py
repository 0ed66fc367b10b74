"""`tb.sparse.from_function` against calls of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError

random = numpy.random.default_rng(0)
WEIGHTS = random.normal(size=(4, 3))
STACK = random.normal(size=(3, 4, 2))
MASK = random.random((3, 4)) < 0.5
KERNEL = random.normal(size=(2, 1, 3, 3))
PLACES = numpy.array([3, 0, 0, 2])


def assigned(x: tb.Tensor) -> tb.Tensor:
    y = x * 1.0
    y[0] = 3 * x[1]
    return y


LINEAR: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "itself": lambda x: x,
    "nothing": lambda x: tb.zeros(2, dtype="f64"),
    "stencil": lambda x: tb.roll(x, 1, axis=0) - 2 * x + tb.roll(x, -1, axis=0),
    "padded": lambda x: tb.pad(x, ((1, 0), (0, 2)))[:-1, 2:] - x,
    "edges": lambda x: tb.pad(x, ((1, 2), (0, 1)), mode="edge"),
    "matmul": lambda x: x @ tb.asarray(WEIGHTS),
    "matmul from the left": lambda x: tb.asarray(WEIGHTS) @ x,
    "einsum": lambda x: tb.einsum("ij,ijk->kj", x, tb.asarray(STACK)),
    "outer": lambda x: tb.tensordot(x[0], tb.asarray(WEIGHTS), axes=0),
    "mask": lambda x: tb.where(tb.asarray(MASK), x, -2 * x),
    "mask of zeros": lambda x: tb.where(tb.asarray(MASK), x, 0),
    "sum": lambda x: tb.sum(x, axis=0),
    "sum of all": lambda x: tb.sum(x),
    "mean": lambda x: x - tb.mean(x),
    "running sum": lambda x: tb.cumulative_sum(x, axis=1),
    "conv": lambda x: tb.conv(tb.reshape(x, (1, 1, 3, 4)), tb.asarray(KERNEL), padding="same", strides=(2, 1)),
    "window": lambda x: tb.window_sum(x, (2, 2), padding="same"),
    "take": lambda x: tb.take(x, tb.asarray(PLACES), axis=1),
    "take outside": lambda x: tb.take(x, tb.asarray([0, 9]), axis=0, mode="fill"),
    "index": lambda x: x[tb.asarray([2, 0]), tb.asarray([1, 1])],
    "segments": lambda x: tb.segment_sum(x, tb.asarray([1, 0, 1]), size=3),
    "indexed add": lambda x: tb.indexed_add(x, tb.asarray([[0], [0]]), x[1:]),
    "assignment": assigned,
    "divided": lambda x: x / tb.asarray([1.0, 3.0, 7.0, 10.0], dtype="f64"),
    "sparse": lambda x: tb.sparse.from_dense(tb.asarray(WEIGHTS.T)) @ x.T,
    "triangle": lambda x: tb.tril(x),
    "flipped": lambda x: tb.flip(x).T,
    "stacked": lambda x: tb.stack([x, 2 * x, tb.zeros((3, 4), dtype="f64")], axis=1),
    "repeated": lambda x: tb.repeat(x, 2, axis=0),
    "complex": lambda x: x * 1j,
    "twice": lambda x: tb.diff(tb.diff(x, axis=1), axis=1),
}


def flat(x: tb.Tensor) -> Any:
    return numpy.asarray(x).reshape(-1)


@pytest.mark.parametrize("name", LINEAR)
def test_the_matrix_of_a_linear_function(name: str) -> None:
    function = LINEAR[name]
    matrix = tb.sparse.from_function(function, "f64[3, 4]")
    x = tb.asarray(numpy.random.default_rng(1).normal(size=(3, 4)))
    result = function(x)
    assert matrix.shape == (result.size, 12)
    assert matrix.dtype is result.dtype
    numpy.testing.assert_allclose(flat(matrix @ tb.reshape(x, (12,))), flat(result), atol=1e-12)
    places = [*zip(flat(matrix.to_coo().rows).tolist(), flat(matrix.indices).tolist(), strict=True)]
    assert places == sorted(set(places))


NOT_LINEAR: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "multiply": lambda x: x * x,
    "sin": tb.sin,
    "divide": lambda x: 2 / x,
    "dot": lambda x: x @ x.T,
    "reduce_max": lambda x: tb.max(x),
    "greater": lambda x: tb.where(x > 0, x, 0),
    "as_type": lambda x: tb.astype(x, "s64"),
    "fft": tb.fft.fft,
}


@pytest.mark.parametrize("op", NOT_LINEAR)
def test_another_function_is_refused_with_its_op_and_line(op: str) -> None:
    with pytest.raises(ArgumentError, match=rf"linear in its argument, got op='{op}'.*test_interchange_tracing.py:\d+"):
        tb.sparse.from_function(NOT_LINEAR[op], "f64[3, 4]")


@pytest.mark.parametrize("function", [tb.conj, tb.real, tb.abs])
def test_what_is_linear_of_real_numbers_only(function: Callable[[tb.Tensor], tb.Tensor]) -> None:
    with pytest.raises(ArgumentError, match="linear in its argument"):
        tb.sparse.from_function(function, "c128[3]")


def test_integers_have_no_linear_functions() -> None:
    with pytest.raises(DTypeError, match="floating or complex"):
        tb.sparse.from_function(lambda x: x, "s64[3]")


ADDING: list[Callable[[tb.Tensor], tb.Tensor]] = [
    lambda x: 2 * x + 1,
    lambda x: tb.pad(x, ((1, 1),), value=3.0),
    lambda x: tb.where(tb.asarray([True, False, True]), x, 5.0),
    lambda x: tb.concat([x, tb.ones(2, dtype="f64")]),
    lambda x: 1 - x,
]


@pytest.mark.parametrize("function", ADDING)
def test_what_a_function_adds(function: Callable[[tb.Tensor], tb.Tensor]) -> None:
    with pytest.raises(ArgumentError, match="affine=True"):
        tb.sparse.from_function(function, "f64[3]")
    matrix, offset = tb.sparse.from_function(function, "f64[3]", affine=True)
    x = tb.asarray([2.0, 3.0, 5.0], dtype="f64")
    assert ((matrix @ x) + offset).tolist() == function(x).tolist()
    assert function(0 * x).tolist() == offset.tolist()


def test_names_of_vectors() -> None:
    weights = tb.ones((2, 3), names=("cell", "node"))
    matrix = tb.sparse.from_function(lambda x: weights @ x, "f32[node=3]")
    assert matrix.names == ("cell", "node")
    assert (matrix @ tb.ones(3, names=("node",))).names == ("cell",)


def of_coefficients(c: tb.Tensor) -> tb.Tensor:
    def function(x: tb.Tensor) -> tb.Tensor:
        return c * x + tb.roll(x, 1) * c[0] + tb.where(c > 1, x, 0)

    matrix = tb.sparse.from_function(function, "f64[3]")
    return tb.sum((matrix @ tb.asarray([1.0, 2.0, 3.0], dtype="f64")) ** 2)


def without_a_matrix(c: tb.Tensor) -> tb.Tensor:
    x = tb.asarray([1.0, 2.0, 3.0], dtype="f64", backend=c.backend)
    return tb.sum((c * x + tb.roll(x, 1) * c[0] + tb.where(c > 1, x, 0)) ** 2)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_coefficients_of_a_trace(backend: str) -> None:
    c = tb.asarray([0.5, 2.0, 3.0], dtype="f64", backend=backend)
    assert tb.jit(of_coefficients)(c).item() == without_a_matrix(c).item()
    if backend != "jax":  # JAX would compile each op of the gradient
        assert tb.grad(of_coefficients)(c).tolist() == tb.grad(without_a_matrix)(c).tolist()


def test_what_a_trace_adds_must_be_asked_for() -> None:
    def adding(c: tb.Tensor) -> tb.Tensor:
        return tb.sparse.from_function(lambda x: x + c, "f64[3]").values

    with pytest.raises(ArgumentError, match="affine=True"):
        tb.jit(adding)(tb.ones(3, dtype="f64"))


def test_places_of_a_trace_are_not_a_structure() -> None:
    def taking(places: tb.Tensor) -> tb.Tensor:
        return tb.sparse.from_function(lambda x: tb.take(x, places), "f64[3]").values

    with pytest.raises(ArgumentError, match="op='take'"):
        tb.jit(taking)(tb.asarray([0, 1]))


def test_a_stencil_of_a_grid() -> None:
    def laplacian(x: tb.Tensor) -> tb.Tensor:
        wide = tb.pad(x, ((1, 1), (1, 1)))
        return wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * x

    matrix = tb.sparse.from_function(laplacian, "f64[96, 96]")
    assert (matrix.shape, matrix.nnz) == ((9216, 9216), 45696)
    x = tb.asarray(numpy.random.default_rng(0).normal(size=(96, 96)))
    numpy.testing.assert_allclose(flat(matrix @ tb.reshape(x, (9216,))), flat(laplacian(x)), atol=1e-12)


def test_the_matrix_is_made_where_asked() -> None:
    matrix = tb.sparse.from_function(lambda x: 2 * x, "f32[3]", backend="jax")
    assert {tensor.backend.name for tensor in (matrix.values, matrix.indices, matrix.pointers)} == {"jax"}
