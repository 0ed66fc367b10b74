"""Oracles of solutions of linear systems, inverses and ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import REAL_OF, DType
from tensorbackend.errors import DataError
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .factorisations import DTYPES, checked, norm, unit
from .matrices import batched, eps, matrices, near, numbers, pairs, placed, spoilt, steps
from .table import Recorder, law, wide


def conditions(array: Any) -> Any:
    """The least over the largest singular value of each matrix, 1 for one without elements."""
    flat = batched(array)
    out = []
    for matrix in flat:
        size = norm(matrix)
        few = numpy.linalg.svd(matrix / size, compute_uv=False) if size else numpy.zeros(min(matrix.shape))
        out.append(float(few[-1] / few[0]) if size else 0.0 if matrix.size else 1.0)
    return numpy.array(out)


def right_side(draw: Draw, a: tb.Tensor, dtype: DType, rows: int) -> tb.Tensor:
    """A vector, a matrix or a stack of matrices with a number of rows; the batch axes broadcast to those of a."""
    name = a.names[-2]
    if draw(st.booleans()):
        column = numbers(draw, dtype, rows, 1)[:, 0]
        return tb.asarray(column, dtype=dtype, names=(draw(st.sampled_from([None, name])),), backend="binary")
    batch = draw(st.sampled_from([(), a.shape[:-2], tuple(1 for _ in a.shape[:-2])]))
    count = draw(st.integers(0, 3))
    drawn = numpy.array([numbers(draw, dtype, rows, count) for _ in range(math.prod(batch))])
    names = (*a.names[a.ndim - 2 - len(batch) : a.ndim - 2], name, draw(st.sampled_from([None, "right"])))
    return tb.asarray(drawn.reshape(*batch, rows, count), dtype=dtype, names=names, backend="binary")


def other(draw: Draw, dtype: DType) -> DType:
    """The dtype of a right-hand side, most often the matrix's."""
    return draw(st.sampled_from([dtype, dtype, dtype, tb.float32, tb.complex64]))


def solved(a: Any, x: Any, b: Any, dtype: DType, what: str) -> None:
    """Assert that x solves a system whose matrix differs from a by no more than rounding errors."""
    size = max(1, *a.shape[-2:])
    columns = x[..., None] if b.ndim == 1 else x
    wanted = b[:, None] if b.ndim == 1 else b
    apart = numpy.linalg.norm(a @ columns - wanted, axis=-2)
    lengths = numpy.linalg.norm(a, axis=(-2, -1))[..., None] * numpy.linalg.norm(columns, axis=-2)
    allowed = steps(dtype, 64 * size) * (lengths + numpy.linalg.norm(wanted, axis=-2))
    assert (apart <= allowed).all(), f"{what}: a @ x differs from b by {apart}, x = {x}"


@law("linalg.solve", by="definition")
def solve(draw: Draw, run: Any, backend: Backend) -> None:
    a, finite = spoilt(draw, matrices(draw, draw(DTYPES), square=True, regular=draw(st.booleans())))
    b = right_side(draw, a, other(draw, a.dtype), a.shape[-1])
    what = f"solve({a!r}, {b!r})"
    try:
        got = run(placed(a, backend), placed(b, backend))
    except DataError:
        assert finite_and_singular(a, finite), f"{what}: raises for regular matrices"
        return
    if not finite.all():
        bad = wide(got)[~finite] if b.ndim < 3 else wide(got)
        assert b.ndim > 2 or numpy.isnan(bad).all(), f"{what}: expected NaN, got {wide(got)}"
        return
    assert got.names[-1 if b.ndim == 1 else -2] == a.names[-1], f"{what}: got {got.template}"
    solved(wide(a).astype(complex), wide(got), wide(b), got.dtype, what)


def finite_and_singular(a: tb.Tensor, finite: Any) -> bool:
    """Whether a stack has a matrix that rounding errors could make singular."""
    array = numpy.where(finite[..., None, None], wide(a), numpy.eye(a.shape[-1]))
    return bool(
        (conditions(array) <= 8 * max(1, a.shape[-1]) * eps(a.dtype if a.dtype.is_inexact else tb.float32)).any()
    )


@law("linalg.inv", by="definition")
def inv(draw: Draw, run: Any, backend: Backend) -> None:
    a, finite = spoilt(draw, matrices(draw, draw(DTYPES), square=True, regular=draw(st.booleans()), scaled=True))
    what = f"inv({a!r})"
    try:
        got = run(placed(a, backend))
    except DataError:
        assert finite_and_singular(a, finite), f"{what}: raises for regular matrices"
        return
    checked(a, got, a.names[-1], a.names[-2])
    for good, (matrix, inverse) in zip(finite.reshape(-1), pairs(a, got), strict=True):
        if not good:
            assert numpy.isnan(inverse).all(), f"{what}: expected NaN, got {inverse}"
            continue
        if matrix.size:
            assert matrix.any(), f"{what}: expected an error, got {inverse}"
        size = max(1, len(matrix))
        allowed = steps(got.dtype, 64 * size) * norm(matrix) * norm(inverse)
        near(matrix @ inverse, numpy.eye(len(matrix)), allowed, what)


@law("linalg.triangular_solve", by="definition")
def triangular_solve(draw: Draw, run: Any, backend: Backend) -> None:
    a = matrices(draw, draw(DTYPES), square=True, regular=True)
    options = {
        "left_side": draw(st.booleans()),
        "lower": draw(st.booleans()),
        "transform": draw(st.sampled_from(["none", "transpose"])),
        "unit_diagonal": draw(st.booleans()),
    }
    size, dtype = a.shape[-1], a.dtype
    array = wide(a)
    if size:  # regular ones have large elements anywhere
        array = array + numpy.eye(size, dtype=array.dtype) * 16
    half, hidden = (numpy.tril, numpy.triu) if options["lower"] else (numpy.triu, numpy.tril)
    inner = half(array, 0)
    zero = size and draw(st.integers(0, 5)) == 0
    if zero:
        inner[..., 0, 0] = 0
    full = inner
    if dtype.is_inexact and draw(st.booleans()):
        full = inner + hidden(numpy.full((size, size), math.nan), 1 if options["lower"] else -1)
        if options["unit_diagonal"] and size:
            full[..., numpy.arange(size), numpy.arange(size)] = math.nan
    names = (*a.names[:-2], None, None)
    a = tb.asarray(full, dtype=dtype, names=names, backend="binary")
    b = right_side(draw, a, other(draw, dtype), size)
    if not options["left_side"] and b.ndim > 1:
        b = tb.asarray(wide(b).swapaxes(-1, -2), dtype=b.dtype, backend="binary")
    else:
        b = b.rename(*(None,) * b.ndim)
    what = f"triangular_solve({a!r}, {b!r}, {options})"
    reads_zero = zero and not options["unit_diagonal"] and a.size
    try:
        got = run(placed(a, backend), placed(b, backend), **options)
    except DataError:
        assert reads_zero, f"{what}: raises for regular matrices"
        return
    assert not reads_zero or not got.size, f"{what}: expected an error, got {wide(got)}"
    used = half(inner, 0).astype(complex)
    if options["unit_diagonal"] and size:
        used[..., numpy.arange(size), numpy.arange(size)] = 1
    used = used.swapaxes(-1, -2) if options["transform"] == "transpose" else used
    result, wanted = wide(got), wide(b)
    if not options["left_side"]:
        used = used.swapaxes(-1, -2)
        if b.ndim > 1:
            result, wanted = result.swapaxes(-1, -2), wanted.swapaxes(-1, -2)
    solved(used, result, wanted, got.dtype, what)


# Ranks and pseudo-inverses


def tolerances(draw: Draw, x: tb.Tensor, backend: Backend) -> Any:
    """No tolerance, a number, or a tensor of one for each matrix."""
    batch = x.shape[:-2]
    each = numpy.resize(numpy.array([0.25, 0.0625, 0.0]), batch)
    return draw(st.sampled_from([None, None, 0.0625, 0.3, tb.asarray(each, dtype="float32", backend=backend)]))


def cuts(x: tb.Tensor, rtol: Any) -> Any:
    """The fraction of the largest singular value up to which others count as 0, for each matrix of a stack."""
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    if rtol is None:
        rtol = eps(dtype) * max(x.shape[-2:])
    each = wide(rtol) if isinstance(rtol, tb.Tensor) else rtol
    return numpy.broadcast_to(each, x.shape[:-2]).reshape(-1)


def spectra(x: tb.Tensor, rtol: Any) -> Any:
    """Singular values of each matrix, how many are kept, and whether rounding errors decide on that."""
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    wide_eps = eps(dtype if dtype.name not in ("float16", "bfloat16") else tb.float32)
    for (matrix,), cut in zip(pairs(x), cuts(x, rtol), strict=True):
        size = norm(matrix)
        few = numpy.linalg.svd(matrix / size, compute_uv=False) if size else numpy.zeros(min(matrix.shape))
        most = few.max(initial=0.0)
        slack = 16 * max(1, *matrix.shape) * wide_eps * most
        least, greatest = int((few > cut * most + slack).sum()), int((few > max(cut * most - slack, 0)).sum())
        if cut * most < slack:  # values that are 0 but for rounding errors
            greatest = len(few) if most else 0
        yield matrix, few * size, least, greatest


@law("linalg.matrix_rank", by="NumPy")
def matrix_rank(draw: Draw, run: Any, backend: Backend) -> None:
    x = matrices(draw, draw(DTYPES), scaled=True)
    rtol = tolerances(draw, x, backend)
    got = run(placed(x, backend), rtol=rtol)
    checked(x, got, dtype=tb.int64)
    for rank, (matrix, _, least, greatest) in zip(wide(got).reshape(-1), spectra(x, rtol), strict=True):
        assert least <= rank <= greatest, f"matrix_rank({matrix!r}, rtol={rtol!r}): expected {least}, got {rank}"


@law("linalg.pinv", by="NumPy")
def pinv(draw: Draw, run: Any, backend: Backend) -> None:
    x = matrices(draw, draw(DTYPES))
    hermitian = x.shape[-1] == x.shape[-2] and draw(st.booleans())
    if hermitian:  # the upper triangle is that of the lower one
        lower = numpy.tril(wide(x))
        both = lower + numpy.tril(lower, -1).conj().swapaxes(-1, -2)
        both = both.real if not x.dtype.is_complex else both - 1j * numpy.eye(x.shape[-1]) * both.imag
        x = tb.asarray(both, dtype=x.dtype, names=x.names, backend=x.backend)
    x, finite = spoilt(draw, x)
    rtol = tolerances(draw, x, backend)
    got = run(placed(x, backend), rtol=rtol, hermitian=hermitian)
    checked(x, got, x.names[-1], x.names[-2])
    if not finite.all():
        if hermitian:  # the upper triangle is not read
            finite = numpy.isfinite(numpy.tril(wide(x))).all((-2, -1))
            assert numpy.isfinite(wide(got)[finite]).all()
        assert numpy.isnan(wide(got)[~finite]).all(), f"pinv({x!r}): expected NaN, got {wide(got)}"
        return
    for inverse, (matrix, few, least, greatest) in zip(batched(wide(got)), spectra(x, rtol), strict=True):
        what = f"pinv({matrix!r}, rtol={rtol!r})"
        if least != greatest:
            continue
        want, ratio = truncated(matrix, least), few[0] / few[least - 1] if least else 1.0
        near(inverse, want, steps(got.dtype, 64 * max(1, *matrix.shape)) * ratio * (norm(want) + (ratio > 1e3)), what)


def truncated(matrix: Any, rank: int) -> Any:
    """The pseudo-inverse of a matrix of which only the largest singular values count."""
    if not matrix.size:
        return matrix.conj().T
    u, few, vh = numpy.linalg.svd(matrix, full_matrices=False)
    return (vh[:rank].conj().T / few[:rank]) @ u[:, :rank].conj().T


@law("linalg.lstsq", by="NumPy")
def lstsq(draw: Draw, run: Any, backend: Backend) -> None:
    a = matrices(draw, draw(DTYPES))
    b = right_side(draw, a, a.dtype, a.shape[-2])
    tolerance = tolerances(draw, a, backend)
    options = {} if tolerance is None else {draw(st.sampled_from(["rtol", "rcond"])): tolerance}
    got = run(placed(a, backend), placed(b, backend), **options)
    what = f"lstsq({a!r}, {b!r}, {options})"
    assert got.solution.names[-1 if b.ndim == 1 else -2] == a.names[-1], f"{what}: got {got.solution.template}"
    dtype = got.solution.dtype
    checked(a, got.rank, dtype=tb.int64)
    checked(a, got.singular_values, None, dtype=REAL_OF.get(dtype, dtype))
    right = wide(b)[:, None] if b.ndim == 1 else wide(b)
    right = numpy.broadcast_to(right, (*a.shape[:-2], *right.shape[-2:]))
    count = math.prod(a.shape[:-2])
    right = right.reshape(count, *right.shape[-2:])
    solutions = wide(got.solution).reshape(count, a.shape[-1], right.shape[-1])
    residuals = wide(got.residuals).reshape(count, right.shape[-1])
    parts = zip(right, solutions, residuals, wide(got.rank).reshape(-1), pairs(a, got.singular_values),
                spectra(a, tolerance), strict=True)  # fmt: skip
    for side, x, left, rank, (_, values), (matrix, few, least, greatest) in parts:
        near(values, few, unit(matrix, dtype), what)
        assert least <= rank <= greatest, f"{what}: expected the rank {least}, got {rank}"
        if least != greatest:
            continue
        ratio = few[0] / few[least - 1] if least else 1.0
        want = truncated(matrix, least) @ side
        apart = numpy.linalg.norm(matrix @ want - side, axis=0) if matrix.size else numpy.linalg.norm(side, axis=0)
        unit_error = steps(dtype, 64 * max(1, *matrix.shape)) * ratio
        small = few[least - 1] if least else 1.0
        lengths = numpy.linalg.norm(want, axis=0) + (numpy.linalg.norm(side, axis=0) + apart * ratio) / small
        near(x, want, unit_error * lengths, what)
        error = unit_error * (norm(matrix) * numpy.linalg.norm(want, axis=0) + numpy.linalg.norm(side, axis=0))
        near(left, apart**2, 2 * apart * error + error**2 + 8 * eps(dtype) * apart**2, what)


@law("linalg.cholesky_solve", by="NumPy")
def cholesky_solve(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of positive definite matrices, real or complex, by either factor."""
    random, size = numpy.random.default_rng(draw(st.integers(0, 99))), draw(st.integers(1, 4))
    a: Any = random.normal(size=(size, size)) + 1j * draw(st.sampled_from([0, 1])) * random.normal(size=(size, size))
    a = a @ a.conj().T + numpy.eye(size)
    b: Any = random.normal(size=draw(st.sampled_from([(size,), (size, 2)]))) + 0j
    upper = draw(st.booleans())
    factor = numpy.linalg.cholesky(a)
    x = run(
        tb.asarray(factor.conj().T if upper else factor, backend=backend), tb.asarray(b, backend=backend), upper=upper
    )
    numpy.testing.assert_allclose(x, numpy.linalg.solve(a, b), rtol=1e-8, atol=1e-9)
