"""Tests the quick kernels of NumpyBackend for factors, singular values and what follows from them."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.backends.numpy_backend.linalg.factorisations import NumpyLinalg
from tensorbackend.rules.linalg import eigen


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (6, 4), (4, 6)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("qr", {}),
        ("qr", {"mode": "complete"}),
        ("svd", {}),
        ("svd", {"full_matrices": False}),
        ("eigh", {}),
    ],
)
def test_real_matrices_have_the_same_factors_alone_and_in_any_stack(
    name: str, options: dict[str, Any], shape: tuple[int, int], dtype: str
) -> None:
    op = getattr(tb.linalg, name)
    for seed in range(20):
        matrix = numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)
        matrix[:, shape[1] // 2 :] *= seed % 3  # in every third matrix these columns are zero
        if name == "eigh":
            matrix = matrix @ matrix.T
        stack = numpy.stack([matrix, matrix[::-1, ::-1], 2 * matrix, matrix - 1]).reshape(2, 2, *matrix.shape)
        careful = numpy.append(stack, numpy.full_like(stack[:1], numpy.nan), 0)  # the NaN rules out the quick kernel
        before = stack.tobytes()
        alone, stacked, general = (op(tb.asarray(x), **options) for x in (matrix, stack, careful))
        for of_matrix, of_stack, of_careful in zip(alone, stacked, general, strict=True):
            assert of_matrix.to_binary() == of_stack[0, 0].to_binary()
            assert of_stack.to_binary() == of_careful[:2].to_binary()
            assert bool(tb.all(tb.isnan(of_careful[2])))
        assert stack.tobytes() == before


def test_a_matrix_that_is_not_finite_has_factors_of_nan() -> None:
    for value in (numpy.inf, numpy.nan):
        x = tb.asarray(numpy.array([[value, 1.0], [1.0, 2.0]], "float32"))
        for name in ("qr", "svd", "eigh"):
            for factor in getattr(tb.linalg, name)(x):
                assert bool(tb.all(tb.isnan(factor)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "bfloat16"])
def test_eigenvalues_and_vectors_are_those_of_the_general_kernel(dtype: str) -> None:
    general = NumpyBackend()
    for seed, size in product(range(10), (1, 2, 5, 12)):
        matrix = numpy.random.default_rng(seed).standard_normal((size, size))
        matrix = matrix + matrix.T if seed % 3 == 1 else matrix  # all eigenvalues are real
        matrix[0] = 0 if seed % 3 == 2 else matrix[0]
        x = tb.astype(tb.asarray(numpy.stack([matrix, -matrix, matrix * numpy.nan]).reshape(3, 1, size, size)), dtype)
        plan = eigen(x.template, hermitian=False)
        stacked = tb.linalg.eig(x)
        alone = [tb.linalg.eig(x[k, 0]) for k in range(3)]
        careful = super(NumpyLinalg, general).eig(plan.out, x)
        for part, (of_stack, of_careful) in enumerate(zip(stacked, careful, strict=True)):
            values = numpy.asarray(of_stack)
            bound = 32 * numpy.finfo(values.dtype).eps * numpy.abs(numpy.nan_to_num(of_careful)).max()
            numpy.testing.assert_allclose(values, of_careful, rtol=0, atol=bound)
            for k in range(3):
                numpy.testing.assert_allclose(numpy.asarray(alone[k][part]), values[k, 0], rtol=0, atol=bound)


def test_eigenvalues_with_nearly_the_same_real_part_ascend_by_imaginary_part() -> None:
    blocks = numpy.zeros((4, 4))
    blocks[:2, :2] = [[1 + 1e-12, 3], [-3, 1 + 1e-12]]
    blocks[2:, 2:] = [[1, 2], [-2, 1]]
    for x in (tb.asarray(blocks), tb.asarray(blocks[None])):
        values = tb.linalg.eig(x).eigenvalues.reshape(-1)
        assert numpy.round(numpy.asarray(values.imag)).tolist() == [-3, -2, 2, 3]


def test_the_largest_component_of_an_eigenvector_is_exactly_real() -> None:
    for seed in range(20):
        parts = numpy.random.default_rng(seed).standard_normal((2, 6, 6))
        cycle = numpy.roll(numpy.eye(6), 1, 0)  # all components of each vector have the same magnitude
        for matrix in (parts[0], parts[0] + 1j * parts[1], cycle, cycle * 1j):
            vectors = numpy.asarray(tb.linalg.eig(tb.asarray(matrix)).eigenvectors)
            sizes = abs(vectors)
            first = (sizes >= sizes.max(0) * (1 - 2**-26)).argmax(0)
            leading = vectors[first, numpy.arange(6)]
            assert (leading.imag == 0).all()
            assert (leading.real > 0).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16", "int32"])
@pytest.mark.parametrize("shape", [(5, 5), (6, 4), (4, 6), (2, 3, 4, 4), (3, 0), (0, 0), (2, 0, 3)])
def test_singular_values_solutions_and_pseudo_inverses_are_those_of_the_reference(
    shape: tuple[int, ...], dtype: str
) -> None:
    generator = numpy.random.default_rng(7)
    values = generator.integers(-4, 5, shape).astype("float64")
    if shape[-1]:
        values[..., -1] = values[..., 0]  # the rank is not full
    right = generator.integers(-4, 5, (shape[-2], 2))

    def results(backend: str) -> list[tb.Tensor]:
        x = tb.astype(tb.asarray(values, backend=backend), dtype)
        b = tb.asarray(right, dtype="int32", backend=backend)
        rtol = tb.asarray(numpy.linspace(0.02, 0.5, prod(shape[:-2])).reshape(shape[:-2]), backend=backend)
        return [
            tb.linalg.svdvals(x),
            tb.linalg.pinv(x),
            tb.linalg.pinv(x, rtol=rtol),
            *tb.linalg.lstsq(x, b),
            *(tb.linalg.lstsq(x, b[:, 0], rtol=0.5) if len(shape) == 2 else ()),
            tb.linalg.matrix_rank(x),
        ]

    for own, reference in zip(results("numpy"), results("binary"), strict=True):
        assert own.template == reference.template
        actual, expected = (numpy.asarray(tb.astype(result, "complex128")) for result in (own, reference))
        bound = (2**-7 if own.dtype.name == "bfloat16" else 2**-16) * abs(expected).max(initial=1)
        numpy.testing.assert_allclose(actual, expected, rtol=0, atol=bound)


def test_values_and_solutions_of_one_matrix_that_is_not_finite_are_nan_in_a_stack() -> None:
    for value in (numpy.inf, numpy.nan):
        stack = numpy.stack([numpy.eye(3), numpy.full((3, 3), value), 2 * numpy.eye(3)])
        x, b = tb.asarray(stack), tb.asarray(numpy.ones((3, 1)))
        solution, residuals, rank, singular = tb.linalg.lstsq(x, b)
        assert rank.tolist() == [3, 0, 3]
        for result in (solution, residuals, singular, tb.linalg.svdvals(x), tb.linalg.pinv(x), tb.linalg.eigvalsh(x)):
            assert tb.all(tb.isnan(result).reshape(3, -1), axis=1).tolist() == [False, True, False]
    upper = numpy.triu(numpy.full((3, 3), numpy.nan), 1) + numpy.eye(3)
    assert tb.linalg.eigvalsh(tb.asarray(upper)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_one_least_squares_problem_is_solved_as_in_a_stack(shape: tuple[int, int], dtype: str) -> None:
    parts = numpy.random.default_rng(1).standard_normal((2, *shape))
    matrix = (parts[0] + 1j * parts[1] if dtype == "complex128" else parts[0]).astype(dtype)
    right = matrix.sum(1) + numpy.arange(shape[0])
    for rtol, bad in product((None, 0.3, 0.0, -1.0), (False, True)):
        a = matrix * numpy.nan if bad else matrix
        alone = tb.linalg.lstsq(tb.asarray(a), tb.asarray(right), rtol=rtol)
        stacked = tb.linalg.lstsq(tb.asarray(a[None]), tb.asarray(right[:, None]), rtol=rtol)
        for own, of_stack in zip(alone, stacked, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(own).ravel(), numpy.asarray(of_stack).ravel(), atol=1e-12)
