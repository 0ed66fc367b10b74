"""The numbers that JAX gives: at extremes and zeros those of other backends, and its own random ones and gradients."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb

BACKEND = tb.get_backend("jax")


def on_jax(values: Any, *names: str | None, dtype: str = "f32") -> tb.Tensor:
    return tb.tensor(values, dtype=dtype, names=names or None, backend=BACKEND)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4), (1000,)])
def test_random_numbers_are_those_of_jax(shape: tuple[int, ...]) -> None:
    for seed in range(20):
        ours, theirs = tb.random.key(seed), jax.random.PRNGKey(seed)
        assert np.array_equal(np.asarray(tb.random.bits(ours, shape)), jax.random.bits(theirs, shape, np.uint32))
        uniform = jax.random.uniform(theirs, shape, np.float32)
        assert np.array_equal(np.asarray(tb.random.uniform(ours, shape)), uniform)
        assert np.array_equal(np.asarray(tb.random.uniform(ours.backend_copy(BACKEND), shape)), uniform)
        assert np.array_equal(np.asarray(tb.random.split(ours)), jax.random.split(theirs))


@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_that_are_equal_but_not_the_same_fill_different_tensors(shape: tuple[int, ...]) -> None:
    zeros = 0.0, -0.0, complex(0.0, -0.0), complex(-0.0, 0.0), 0j
    for value in zeros * 2:
        filled = tb.full(shape, value, dtype="c64", backend=BACKEND)
        assert repr(filled.tolist()) == repr(tb.full(shape, value, dtype="c64").tolist())


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_integer_powers_of_many_bits(dtype: str) -> None:
    bits, most = (64, 2**63 - 1) if dtype == "int64" else (8, 255)
    cases = [(base, exponent) for base in (2, 3, 7) for exponent in (0, 1, 63, 64, 65, 100, most - 1, most)]
    bases, exponents = (tb.tensor(column, dtype=dtype, backend=BACKEND) for column in zip(*cases, strict=True))
    powers = (bases**exponents).tolist()
    assert [value % 2**bits for value in powers] == [pow(*case, 2**bits) for case in cases]


@pytest.mark.parametrize(("dtype", "greatest"), [("c64", 3.4028234663852886e38), ("c128", 1.7976931348623157e308)])
@pytest.mark.parametrize("name", ["abs", "cosh", "sinh", "cos", "sin", "exp", "sqrt", "tanh", "log"])
def test_complex_numbers_with_an_extreme_part(name: str, dtype: str, greatest: float) -> None:
    parts = 0.0, -0.0, 1.0, greatest, -greatest, float("inf"), float("nan")
    values = [complex(a, b) for a in parts for b in parts]
    ours, reference = (
        getattr(tb, name)(tb.tensor(values, dtype=dtype, backend=backend)) for backend in (BACKEND, "binary")
    )
    np.testing.assert_allclose(ours, reference, rtol=1e-5, atol=1e-37, err_msg=name)


@pytest.mark.parametrize("shape", [(), (2, 2)])
@pytest.mark.parametrize("other", ["int64", "uint64", "float64"])
def test_bits_of_complex_numbers(other: str, shape: tuple[int, ...]) -> None:
    x = tb.broadcast_to(tb.tensor(complex(1.5, -0.0), dtype="c64"), shape)
    bits = tb.bitcast(x.backend_copy(BACKEND), other)
    assert bits.to_binary() == tb.bitcast(x, other).to_binary()
    assert tb.bitcast(bits, "c64").to_binary() == x.to_binary()


@pytest.mark.parametrize(("dtype", "small"), [("f32", 5e-39), ("f64", 5e-310)])
def test_angles_of_subnormal_numbers_are_those_of_zeros(dtype: str, small: float) -> None:
    signs = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    angles, angles_of_zeros = (
        tb.atan2(
            *(
                tb.tensor([sign * size for sign in column], dtype=dtype, backend=BACKEND)
                for column in zip(*signs, strict=True)
            )
        )
        for size in (small, 0.0)
    )
    assert repr(angles.tolist()) == repr(angles_of_zeros.tolist())


@pytest.mark.parametrize(("dtype", "small"), [("bf16", 5e-39), ("f32", 5e-39), ("f64", 5e-310)])
def test_quotients_and_roots_of_subnormal_numbers_are_those_of_zeros(dtype: str, small: float) -> None:
    def quotients_and_roots(size: float) -> list[Any]:
        x, y, three = (tb.tensor(numbers, dtype=dtype, backend=BACKEND) for numbers in ([size, 2.0], [-size, 3.0], 3.0))
        return [tb.cbrt(x).tolist(), tb.floor_divide(y, x).tolist(), tb.remainder(x, three).tolist()]

    assert repr(quotients_and_roots(small)) == repr(quotients_and_roots(0.0))


def test_derivatives_at_zero() -> None:
    zero, three = (on_jax(number) for number in (0.0, 3.0))
    for function in (lambda x: tb.remainder(x, three), lambda x: tb.atan2(x, three) * 3):
        assert jax.jit(jax.grad(lambda x, function=function: function(x).data))(zero).item() == 1.0


@pytest.mark.parametrize("options", [{"padding": "same"}, {"padding": "same", "input_dilation": (2,)}])
def test_padding_of_a_convolution_is_multiplied(options: dict[str, Any]) -> None:
    def convolved(signals: list[tb.Tensor], kernels: list[tb.Tensor]) -> list[tb.Tensor]:
        return [tb.conv(*pair, **options) for pair in product(signals, kernels)]

    numbers = [[1.0], [1.0, 2.0], [1.0, 2.0, 3.0]], [[1.0, float("inf")], [2.0, 0.5, 1.0]]
    on_binary = [[tb.tensor([[row]], dtype="f32", backend="binary") for row in rows] for rows in numbers]
    results = tb.jit(convolved)(*tb.backend_copy(on_binary, BACKEND))
    for ours, reference in zip(results, convolved(*on_binary), strict=True):
        assert repr(ours.tolist()) == repr(reference.tolist())


@pytest.mark.parametrize("dtype", ["f32", "f64", "c128"])
@pytest.mark.parametrize("groups", ["feature_groups", "batch_groups"])
def test_groups_of_a_convolution_do_not_mix(groups: str, dtype: str) -> None:
    values = np.arange(12.0).reshape((2, 2, 3))
    values[0, 0, 1], values[1, 1, 2] = np.inf, np.nan
    channels = 1 if groups == "feature_groups" else 2
    weights = np.arange(1.0, 1 + 8 * channels).reshape((4, channels, 2))
    ours, reference = (
        tb.conv(
            *(tb.tensor(array.tolist(), dtype=dtype, backend=backend) for array in (values, weights)),
            padding="same",
            **{groups: 2},
        )
        for backend in (BACKEND, "binary")
    )
    assert repr(ours.tolist()) == repr(reference.tolist())


def test_a_convolution_of_padding_alone() -> None:
    x, kernel = on_jax(np.zeros((1, 2, 0))), on_jax(np.ones((3, 2, 1)))
    assert tb.conv(x, kernel, padding=((0, 1),)).tolist() == [[[0.0], [0.0], [0.0]]]


# Linear algebra and gradients


def test_gradients_of_factors_are_those_of_symmetric_matrices() -> None:
    def loss(x: tb.Tensor) -> tb.Tensor:
        matrix = x @ x.mT + tb.asarray(2 * np.eye(3), backend=x.backend)
        values, vectors = tb.linalg.eigh(matrix)
        return tb.sum(tb.sin(tb.linalg.cholesky(matrix))) + tb.sum(tb.cos(values)) + tb.sum(tb.sin(vectors))

    x = tb.asarray([[0.3, -0.7, 0.2], [0.9, 0.4, -0.1], [0.5, 0.8, 1.1]], dtype="f64")
    theirs = jax.jit(jax.grad(lambda x: loss(x).data))(x.backend_copy(BACKEND))
    np.testing.assert_allclose(theirs, tb.grad(loss)(x), rtol=1e-9, atol=1e-9)


def test_the_gradient_of_a_complex_acosh_has_the_right_sign_everywhere() -> None:
    x = tb.asarray([0.5 + 1.2j, -0.5 + 1.2j, -0.5 - 1.2j, -2.0 + 0.1j], dtype="c128")
    theirs = jax.jit(jax.grad(lambda x: tb.sum(tb.real(tb.acosh(x))).data))(x.backend_copy(BACKEND))
    np.testing.assert_allclose(theirs, tb.grad(lambda x: tb.sum(tb.real(tb.acosh(x))))(x), rtol=1e-12)
    step = (tb.acosh(x + 1e-6) - tb.acosh(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(theirs, step, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["f32", "c64"])
@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 2, 2)])
def test_linear_algebra_of_matrices_without_elements(shape: tuple[int, ...], dtype: str) -> None:
    looking: list[Callable[..., Any]] = [tb.linalg.lu]
    functions: list[Callable[..., Any]] = [tb.linalg.lu, tb.linalg.qr, tb.linalg.svd, tb.linalg.svdvals, tb.linalg.pinv]
    if shape[-1] == shape[-2]:
        looking += [tb.linalg.cholesky, tb.linalg.inv]
        square = "det", "slogdet", "eigh", "eigvalsh", "eig", "cholesky", "inv", "expm"
        functions += [getattr(tb.linalg, name) for name in square]
    x = tb.tensor(np.zeros(shape), dtype=dtype, backend=BACKEND)
    # Run all functions as one program. Then run those that look for errors in their results once more, eagerly.
    results = tb.jit(lambda x: [function(x) for function in functions])(x)
    results += [function(x) for function in looking]
    for function, ours in zip(functions + looking, results, strict=True):
        references = jax.tree.leaves(function(x.backend_copy("binary")))
        for result, reference in zip(jax.tree.leaves(ours), references, strict=True):
            assert (result.shape, result.tolist()) == (reference.shape, reference.tolist()), function.__name__
