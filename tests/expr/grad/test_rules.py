"""Gradient rules of linear algebra, transforms, windows, orderings and the gamma function's family.

The tests compare gradients with central differences along a random direction, and gradients of gradients as well.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as xp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import GradientError
from tensorbackend.tensor import Tensor

Function = Callable[..., Any]
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order() -> None:
    """Begins the random numbers of each test, so that they do not depend on the tests before."""
    RNG.bit_generator.state = np.random.default_rng(7).bit_generator.state


def numbers(*shape: int, complex_: bool = False) -> Any:
    drawn = RNG.standard_normal(shape)
    return drawn + 1j * RNG.standard_normal(shape) if complex_ else drawn


def as_real(function: Function, *arrays: Any) -> Callable[..., Tensor]:
    """Return a function that gives the real part of a random combination of all results except integers."""
    sample = function(*map(tb.asarray, arrays))
    tensors = [sample] if isinstance(sample, Tensor) else list(sample)
    weights = [tb.asarray(numbers(*x.shape, complex_=x.dtype.is_complex)) for x in tensors]

    def combined(*xs: Tensor) -> Tensor:
        result = function(*xs)
        parts = [
            tb.sum(tb.real(x * weight) if x.dtype.is_complex else x * weight)
            for x, weight in zip([result] if isinstance(result, Tensor) else result, weights, strict=True)
            if x.dtype.is_inexact
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    return combined


def check(function: Function, *arrays: Any, order: int = 2, step: float = 1e-6) -> None:
    """Raise `AssertionError` unless gradients agree with central differences, in all orders up to `order`."""
    scalar = as_real(function, *arrays)
    positions = tuple(range(len(arrays)))
    gradient = tb.grad(scalar, argnums=positions)
    directions = [numbers(*np.shape(array), complex_=np.iscomplexobj(array)) for array in arrays]

    def at(distance: float) -> float:
        moved = [np.asarray(array + distance * along) for array, along in zip(arrays, directions, strict=True)]
        return float(np.asarray(scalar(*map(tb.asarray, moved))))

    difference = (at(step) - at(-step)) / (2 * step)
    gradients = gradient(*map(tb.asarray, arrays))
    derivative = sum(np.sum(np.asarray(x) * along).real for x, along in zip(gradients, directions, strict=True))
    assert derivative == pytest.approx(difference, rel=2e-6, abs=2e-6)
    if order > 1:
        check(gradient, *arrays, order=order - 1, step=step)


def batch_of(rows: int, columns: int, complex_: bool) -> Any:
    """Return two matrices whose singular values and eigenvalues are well apart."""
    size = min(rows, columns)
    matrices = numbers(2, rows, columns, complex_=complex_)
    matrices[:, range(size), range(size)] += 3.0 * np.arange(1, size + 1)
    return matrices


REAL_AND_COMPLEX = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
SHAPES = pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 3), (3, 2)])


@REAL_AND_COMPLEX
@SHAPES
@pytest.mark.parametrize("factors", [tb.linalg.lu, tb.linalg.qr, partial(tb.linalg.svd, full_matrices=False)])
def test_factorisations(factors: Function, rows: int, columns: int, complex_: bool) -> None:
    check(factors, batch_of(rows, columns, complex_))


@REAL_AND_COMPLEX
@SHAPES
@pytest.mark.parametrize(
    "part",
    [
        lambda x: tb.linalg.lu(x).U,
        lambda x: tb.linalg.qr(x).Q,
        lambda x: tb.linalg.qr(x, mode="complete").R,
        lambda x: tb.linalg.svd(x).S,
        lambda x: tb.linalg.svd(x, full_matrices=False).Vh,
        tb.linalg.pinv,
    ],
    ids=["U", "Q", "R", "S", "Vh", "pinv"],
)
def test_parts_of_factorisations(part: Function, rows: int, columns: int, complex_: bool) -> None:
    check(part, batch_of(rows, columns, complex_), order=1)


def positive_definite(x: Tensor) -> Tensor:
    return tb.linalg.cholesky(x @ tb.linalg.adjoint(x) + tb.eye(3, dtype=x.dtype))


@REAL_AND_COMPLEX
@pytest.mark.parametrize(
    "function",
    [
        positive_definite,
        lambda x: tb.linalg.eigh(x + tb.linalg.adjoint(x)),
        tb.linalg.eigh,
        tb.linalg.eig,
        tb.linalg.det,
        tb.linalg.slogdet,
        tb.linalg.inv,
        tb.linalg.expm,
        lambda x: tb.linalg.sqrtm(x + 6 * tb.eye(3, dtype=x.dtype)),
        lambda x: tb.linalg.sqrtm(x @ tb.linalg.adjoint(x) + tb.eye(3, dtype=x.dtype), hermitian=True),
        partial(tb.linalg.matrix_norm, ord="nuc"),
    ],
    ids=["cholesky", "hermitian", "eigh", "eig", "det", "slogdet", "inv", "expm", "root", "covariance", "nuclear"],
)
def test_functions_of_square_matrices(function: Function, complex_: bool) -> None:
    check(function, batch_of(3, 3, complex_))


def test_only_the_lower_half_counts_where_only_that_is_read() -> None:
    gradient = tb.grad(lambda x: tb.sum(tb.linalg.eigvalsh(x) ** 2))(tb.asarray(batch_of(3, 3, False)[0]))
    assert tb.triu(gradient, k=1).tolist() == [[0.0] * 3] * 3


@REAL_AND_COMPLEX
@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 1, 3, 2)])
def test_systems_of_equations(shape: tuple[int, ...], complex_: bool) -> None:
    a, b = batch_of(3, 3, complex_), numbers(*shape, complex_=complex_)
    check(tb.linalg.solve, a, b, order=1)
    check(tb.linalg.solve, a.real, b + 0j, order=1)
    rows = -2 if b.ndim > 1 else 0
    check(tb.linalg.lstsq, batch_of(4, 3, complex_), np.concatenate([b, b.take([0], rows)], rows), order=1)
    for options in ({}, {"lower": False}, {"transform": "transpose"}, {"lower": False, "transform": "transpose"}):
        check(partial(tb.linalg.triangular_solve, **options), a, b)
        right = b if b.ndim == 1 else np.swapaxes(b, -1, -2)
        check(partial(tb.linalg.triangular_solve, left_side=False, **options), a, right, order=1)


@REAL_AND_COMPLEX
@pytest.mark.parametrize("order", [0, 1, 2, 3, -1, 0.5, math.inf, -math.inf, "fro"])
def test_norms(order: Any, complex_: bool) -> None:
    x = numbers(3, 4, complex_=complex_)
    check(partial(tb.linalg.norm, ord=order, axis=(0, 1) if order == "fro" else 1, keepdims=True), x)


def test_a_norm_has_a_subgradient_at_the_origin() -> None:
    for function in (tb.linalg.vector_norm, tb.linalg.matrix_norm, tb.linalg.norm):
        assert tb.grad(function)(tb.zeros((2, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@REAL_AND_COMPLEX
@pytest.mark.parametrize(
    ("shapes", "contract", "batch"),
    [
        (((3, 4), (4, 5)), ((1,), (0,)), ((), ())),
        (((2, 3, 4, 5), (5, 4, 2, 6)), ((2, 3), (1, 0)), ((0,), (2,))),
        (((2, 3, 4), (3, 2, 4)), ((2,), (2,)), ((1, 0), (0, 1))),
        (((2,), (3,)), ((), ()), ((), ())),
    ],
)
def test_products(shapes: Any, contract: Any, batch: Any, complex_: bool) -> None:
    x1, x2 = (numbers(*shape, complex_=complex_) for shape in shapes)
    check(partial(tb.dot, contract=contract, batch=batch), x1, x2)


@REAL_AND_COMPLEX
@pytest.mark.parametrize("length", [None, 3, 8])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms(norm: Any, length: int | None, complex_: bool) -> None:
    x = numbers(2, 5, complex_=complex_)
    for name in ("fft", "ifft", "irfft", "hfft", *(() if complex_ else ("rfft", "ihfft"))):
        check(partial(getattr(tb.fft, name), n=length, norm=norm), x, order=1)


@pytest.mark.parametrize("padding", ["valid", "same", ((2, 0), (-1, 3))])
@pytest.mark.parametrize("dilations", [1, (1, 2)])
@pytest.mark.parametrize("strides", [1, (2, 3)])
def test_windows(strides: Any, dilations: Any, padding: Any) -> None:
    x = numbers(5, 6)
    options = {"strides": strides, "padding": padding}
    for op in (tb.window_sum, tb.window_prod, tb.window_max, tb.window_min, tb.window_mean):
        check(lambda x, op=op: tb.where(tb.isfinite(y := op(x, (3, 2), dilations=dilations, **options)), y, 0), x)
    if dilations == 1:
        source = numbers(*tb.window_max(tb.asarray(x), (3, 2), **options).shape)
        for scatter in (tb.window_scatter_max, tb.window_scatter_min):
            check(lambda s, i, op=scatter: op(tb.asarray(x), s, i, (3, 2), **options), source, np.array(0.5), order=1)


def test_of_equal_elements_the_first_has_the_gradient() -> None:
    for dilation in (1, 2):
        gradient = tb.grad(lambda x, d=dilation: tb.sum(tb.window_max(x, 2, dilations=d)))(tb.ones(3))
        assert gradient.tolist() == ([1.0, 1.0, 0.0] if dilation == 1 else [1.0, 0.0, 0.0])


@REAL_AND_COMPLEX
@pytest.mark.parametrize(("features", "batches"), [(1, 1), (2, 1), (1, 3)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strides": (2, 3), "padding": "same"},
        {"padding": ((2, 0), (-1, 2)), "input_dilation": (2, 1), "kernel_dilation": (1, 2)},
        {"padding": ((1, 0), (2, 1)), "strides": (1, 2), "input_dilation": (2, 3), "kernel_dilation": (2, 1)},
    ],
)
def test_convolution(options: dict[str, Any], features: int, batches: int, complex_: bool) -> None:
    x = numbers(2 * batches, 2 * features, 6, 5, complex_=complex_)
    kernel = numbers(2 * features * batches, 2, 3, 2, complex_=complex_)
    check(partial(tb.conv, **options, feature_groups=features, batch_groups=batches), x, kernel)


def test_orderings() -> None:
    x = numbers(3, 5)
    for function in (
        partial(tb.sort, axis=0),
        partial(tb.sort, descending=True),
        lambda x: tb.top_k(x, 2, axis=0),
        tb.median,
        lambda x: tb.quantile(x, (0.3, 0.5), axis=1),
    ):
        check(function, x)


@REAL_AND_COMPLEX
def test_running_sums_and_products(complex_: bool) -> None:
    x = numbers(3, 4, complex_=complex_)
    for function in (tb.cumulative_sum, tb.cumulative_prod):
        for reverse, initial in ((False, False), (False, True), (True, True)):
            check(partial(function, axis=1, reverse=reverse, include_initial=initial), x)
    if not complex_:
        check(partial(tb.cumulative_max, axis=1), x)
        check(partial(tb.cumulative_min, axis=1, reverse=True), x)


def test_the_gamma_functions() -> None:
    x = np.array([0.05, 0.7, 1.0, 3.5, 12.0, 90.0, 2000.0, -0.4, -3.7])
    check(tb.lgamma, x, order=4)
    check(tb.digamma, x, order=3)
    a = tb.asarray([0.3, 1.0, 2.5, 30.0])
    for function in (tb.gamma_inc_l, tb.gamma_inc_u):
        check(lambda x, f=function: f(a, x), np.array([0.2, 0.5, 4.0, 25.0]))


def test_trigamma_is_accurate() -> None:
    # DLMF 5.15.2 and 5.4.16: pi**2 / 6 at 1, pi**2 / 2 at 1/2.
    gradient = tb.grad(lambda x: tb.sum(tb.digamma(x)))(tb.asarray([1.0, 0.5, 1e8], dtype="f64"))
    assert gradient.tolist() == pytest.approx([math.pi**2 / 6, math.pi**2 / 2, 1.000000005e-8], rel=2e-15)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: tb.sum(tb.gamma_inc_l(x, 1.0)), "op='gamma_inc_l'; the derivative with respect to the first"),
        (lambda x: tb.sum(tb.linalg.qr(x, mode="complete").Q), "op='qr'; the columns of Q beyond those of x"),
        (lambda x: tb.sum(tb.linalg.svd(x).U), "op='svd'; the vectors beyond the singular values"),
        (lambda x: tb.window_reduce(x, 0.0, (3, 2), function=tb.add)[0, 0], "op='window_reduce'; its function"),
    ],
)
def test_what_has_no_gradient(function: Function, text: str) -> None:
    with pytest.raises(GradientError, match=r"test_rules\.py") as raised:
        tb.grad(function)(tb.asarray(batch_of(3, 2, False)[0]))
    assert text in str(raised.value)


DERIVATIVES = {
    "gradient": "with tb.tape() as tape: y = tape.watch(x); z = y * y\ntb.gradient(z, y)",
    "hessian": "tb.hessian(lambda x: x * x)(x)",
    "jacfwd": "tb.jacfwd(lambda x: x * x)(x)",
    "jacobian": "tb.jacobian(lambda x: x * x)(x)",
    "jvp": "tb.jvp(lambda x: x * x, (x,), (x,))",
    "linearize": "tb.linearize(lambda x: x * x, x)[1](x)",
    "grad": "tb.grad(lambda x: x * x)(x)",
    "value_and_grad": "tb.value_and_grad(lambda x: x * x)(x)",
    "vjp": "tb.vjp(lambda x: x * x, x)[1](x)",
}


FIRST = """
import os, sys, tensorbackend as tb
x = tb.asarray(3.0)
for program in sys.argv[1:]:
    child = os.fork()
    if not child:
        exec(program)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(program)
"""
"""A script that forks a child for each program, from a process that has computed no derivative."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="systems that fork")
def test_every_derivative_may_be_the_first_of_a_process() -> None:
    command = [sys.executable, "-c", FIRST, *DERIVATIVES.values()]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not finished.returncode, finished.stderr


# JAX's own gradients of the same functions


def test_against_jax() -> None:
    a, z = batch_of(3, 3, False)[0], numbers(4, 6, complex_=True)
    weights = tb.asarray(z.real)
    pairs: list[tuple[Function, Function, Any]] = [
        # JAX spreads the gradient of eigvalsh over both halves of a matrix, so differentiate a symmetric sum.
        (lambda x: tb.sum(tb.linalg.eigvalsh(x + x.mT) ** 2), lambda x: (xp.linalg.eigvalsh(x + x.T) ** 2).sum(), a),
        (lambda x: tb.linalg.slogdet(x).logabsdet, lambda x: xp.linalg.slogdet(x)[1], a),
        (lambda x: tb.sum(tb.abs(tb.fft.fft(x, n=5)) ** 2), lambda x: (abs(xp.fft.fft(x, n=5)) ** 2).sum(), z),
        (lambda x: tb.sum(tb.sort(x, axis=1) * weights), lambda x: (xp.sort(x, axis=1) * z.real).sum(), z.imag),
    ]
    with jax.enable_x64():
        for ours, theirs, x in pairs:
            reference = np.asarray(jax.jit(jax.grad(theirs))(xp.asarray(x)))
            assert np.allclose(np.asarray(tb.grad(ours)(tb.asarray(x))), reference, rtol=1e-9, atol=1e-9)
