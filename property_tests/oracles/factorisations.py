"""Oracles of factorisations and of what is made of them: solutions, inverses, determinants, ranks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import COMPLEX_OF, REAL_OF, DType, finfo
from tensorbackend.errors import DataError
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .matrices import SIDES, eps, matrices, near, numbers, pairs, placed, scale, spoilt, steps, tensor
from .table import NUMERIC, law, wide

DTYPES = st.sampled_from(NUMERIC)


def checked(x: tb.Tensor, got: tb.Tensor, *names: str | None, dtype: DType | None = None) -> None:
    """Assert that a result has the batch axes of x, then axes with these names, in the dtype that is computed in."""
    own = x.dtype if x.dtype.is_inexact else tb.float32
    assert got.names == (*x.names[:-2], *names), f"{x.template}: expected the names {names}, got {got.template}"
    assert got.shape[: x.ndim - 2] == x.shape[:-2], f"{x.template}: got {got.template}"
    assert got.dtype is (own if dtype is None else dtype), f"{x.template}: got {got.template}"


def norm(array: Any) -> float:
    """The Frobenius norm, without overflow."""
    most: float = float(abs(array).max(initial=0.0))
    if not most or not math.isfinite(most):
        return most
    scaled: float = float(numpy.linalg.norm(array / most))
    return most * scaled


def unit(x: Any, dtype: DType) -> float:
    """The rounding errors of some steps on a matrix: those of its norm."""
    least = finfo(REAL_OF.get(dtype, dtype)).smallest_normal
    sides: int = max(1, *x.shape)
    return steps(dtype, 32 * sides) * norm(x) + 32 * sides * least


def orthonormal(columns: Any, dtype: DType, what: str) -> None:
    """Assert that columns have length 1 and are orthogonal."""
    near(columns.conj().T @ columns, numpy.eye(columns.shape[1]), steps(dtype, 64 * max(1, *columns.shape)), what)


def turned(vectors: Any, dtype: DType, what: str) -> None:
    """Assert that the largest component of each column, the first of those that are about as large, is positive."""
    for column in vectors.T:
        sizes = abs(column)
        most = sizes.max()
        first = [size >= most * (1 - 4 * math.sqrt(eps(dtype))) for size in sizes]
        far = [size > most * (1 - math.sqrt(eps(dtype)) / 4) for size in sizes]
        candidates = [column[place] for place in range(len(column)) if first[place]]
        if first == far:  # no component so near the limit that rounding decides
            candidates = candidates[:1]
        fine = [value.real > 0 and abs(value.imag) <= 8 * eps(dtype) for value in candidates]
        assert any(fine), f"{what}: expected a positive first component in {column}"


# Factors


def hermitian(draw: Draw, dtype: DType, *, definite: bool) -> tb.Tensor:
    """A stack of Hermitian matrices, products of others if `definite`; the upper half may hold anything."""
    size, batch = draw(SIDES), draw(st.sampled_from([(), (), (2,), (0,)]))
    drawn = []
    for _ in range(math.prod(batch)):
        rows = numbers(draw, dtype, size, draw(st.sampled_from([size, size, 1])))
        made = rows @ rows.conj().T
        kind = draw(st.sampled_from(["product", "shifted", "shifted", "alike", "signed"]))
        if kind == "shifted":
            made = made + numpy.diag(numpy.arange(1, size + 1))
        elif kind == "alike":
            made = made * 0 + 4 * numpy.eye(size)
        elif kind == "signed" and not definite and dtype.kind != "uint":
            square = numbers(draw, dtype, size, size)
            made = square + square.conj().T
        drawn.append(numpy.clip(made.real, -100, 100) if dtype.is_integer else made)
    array = numpy.array(drawn).reshape(*batch, size, size)
    if dtype.is_inexact:
        array = array * scale(draw, dtype)
        if draw(st.booleans()):
            array = array + numpy.triu(numpy.full((size, size), draw(st.sampled_from([1.0, math.nan]))), 1)
    return tensor(draw, array, dtype)


def lower_half(x: Any) -> Any:
    """The Hermitian matrix of which x has the lower half."""
    low = numpy.tril(numpy.nan_to_num(x, nan=math.nan), -1) if x.dtype.kind in "fc" else numpy.tril(x, -1)
    return low + low.conj().T + numpy.diag(numpy.diagonal(x).real)


@law("linalg.cholesky", by="definition")
def cholesky(draw: Draw, run: Any, backend: Backend) -> None:
    x, upper = hermitian(draw, draw(DTYPES), definite=draw(st.booleans())), draw(st.booleans())
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    whole = [lower_half(matrix.astype(complex)) for (matrix,) in pairs(x)]

    def least(matrix: Any) -> float:
        size = norm(matrix)
        return float(numpy.linalg.eigvalsh(matrix / size)[0]) if size else 0.0 if matrix.size else 1.0

    slack = steps(dtype, 8 * max(1, x.shape[-1]))
    try:
        got = run(placed(x, backend), upper=upper)
    except DataError:
        assert any(least(matrix) <= slack for matrix in whole), f"cholesky({x!r}): not positive definite?"
        return
    checked(x, got, *((None, x.names[-1]) if upper else (x.names[-2], None)))
    for matrix, (_, factor) in zip(whole, pairs(x, got), strict=True):
        what = f"cholesky({x!r})"
        assert least(matrix) >= -slack, f"{what}: expected an error, got {factor}"
        low = factor.conj().T if upper else factor
        assert not numpy.triu(low, 1).any(), f"{what}: expected a triangle, got {factor}"
        diagonal = numpy.diagonal(low)
        # The last element for a singular matrix may be rounded to 0 in a narrow dtype.
        positive = diagonal.real >= 0 if dtype.bits == 16 else diagonal.real > 0
        assert positive.all(), f"{what}: got the diagonal {diagonal}"
        assert not diagonal.imag.any(), f"{what}: got the diagonal {diagonal}"
        near(low @ low.conj().T, matrix, unit(matrix, dtype), what)


@law("linalg.lu", by="definition")
def lu(draw: Draw, run: Any, backend: Backend) -> None:
    x, finite = spoilt(draw, matrices(draw, draw(DTYPES), scaled=True))
    p, low, up = run(placed(x, backend))
    for factor, names in ((p, (x.names[-2], None)), (low, (None, None)), (up, (None, x.names[-1]))):
        checked(x, factor, *names)
    for good, (matrix, *factors) in zip(finite.reshape(-1), pairs(x, p, low, up), strict=True):
        what = f"lu({matrix!r})"
        if not good:
            assert all(numpy.isnan(factor).all() for factor in factors), f"{what}: expected NaN, got {factors}"
            continue
        order, lower, upper = factors
        assert ((order == 0) | (order == 1)).all(), f"{what}: got P = {order}"
        assert (order @ order.T == numpy.eye(len(order))).all(), f"{what}: got P = {order}"
        assert (numpy.triu(lower) == numpy.eye(*lower.shape)).all(), f"{what}: got L = {lower}"
        assert (abs(lower) <= 1 + 4 * eps(low.dtype)).all(), f"{what}: expected the largest pivots, got L = {lower}"
        assert not numpy.tril(upper, -1).any(), f"{what}: got U = {upper}"
        near(order @ lower @ upper, matrix, unit(matrix, low.dtype), what)
        if matrix.shape[1] and matrix.size:
            first = int(numpy.argmax(abs(matrix[:, 0])))
            assert order[first, 0] == 1 or x.dtype.is_complex, f"{what}: expected row {first} first, got P = {order}"


@law("linalg.qr", by="definition")
def qr(draw: Draw, run: Any, backend: Backend) -> None:
    x, finite = spoilt(draw, matrices(draw, draw(DTYPES), scaled=True))
    mode = draw(st.sampled_from(["reduced", "complete"]))
    q, r = run(placed(x, backend), mode=mode)
    checked(x, q, x.names[-2], None)
    checked(x, r, None, x.names[-1])
    rows, columns = x.shape[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    assert (q.shape[-2:], r.shape[-2:]) == ((rows, inner), (inner, columns))
    for good, (matrix, *factors) in zip(finite.reshape(-1), pairs(x, q, r), strict=True):
        what = f"qr({matrix!r}, mode={mode!r})"
        if not good:
            assert all(numpy.isnan(factor).all() for factor in factors), f"{what}: expected NaN, got {factors}"
            continue
        basis, upper = factors
        orthonormal(basis, q.dtype, what)
        assert not numpy.tril(upper, -1).any(), f"{what}: got R = {upper}"
        diagonal = numpy.diagonal(upper)
        assert (diagonal.real >= 0).all(), f"{what}: got the diagonal {diagonal}"
        assert not diagonal.imag.any(), f"{what}: got the diagonal {diagonal}"
        near(basis @ upper, matrix, unit(matrix, q.dtype), what)


@law("linalg.eigh", "linalg.eigvalsh", by="definition")
def eigh(draw: Draw, run: Any, backend: Backend) -> None:
    x = hermitian(draw, draw(DTYPES), definite=draw(st.booleans()))
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    got = run(placed(x, backend))
    values, vectors = got if run.name == "linalg.eigh" else (got, None)
    checked(x, values, None, dtype=REAL_OF.get(dtype, dtype))
    for matrix, few in pairs(x, values):
        whole = lower_half(matrix.astype(complex))
        size = norm(whole)
        want = numpy.linalg.eigvalsh(whole / size) * size if size else numpy.zeros(len(whole))
        near(few, want, unit(whole, dtype), f"{run.name}({whole!r})")
        assert (numpy.diff(few) >= 0).all(), f"{run.name}({whole!r}): got {few}"
    if vectors is not None:
        checked(x, vectors, x.names[-2], None)
        for matrix, few, basis in pairs(x, values, vectors):
            whole = lower_half(matrix.astype(complex))
            orthonormal(basis, dtype, f"eigh({whole!r})")
            near(whole @ basis, basis * few, unit(whole, dtype), f"eigh({whole!r})")
            turned(basis, dtype, f"eigh({whole!r})")


@law("linalg.eig", "linalg.eigvals", by="definition")
def eig(draw: Draw, run: Any, backend: Backend) -> None:
    x, finite = spoilt(draw, matrices(draw, draw(DTYPES), square=True, scaled=True))
    got = run(placed(x, backend))
    values, vectors = got if run.name == "linalg.eig" else (got, got)
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    kind = COMPLEX_OF.get(dtype, dtype)
    checked(x, values, None, dtype=kind)
    size = x.shape[-1]
    for good, (matrix, few) in zip(finite.reshape(-1), pairs(x, values), strict=True):
        what = f"{run.name}({matrix!r})"
        if not good:
            assert numpy.isnan(few).all(), f"{what}: expected NaN, got {few}"
            continue
        length = norm(matrix) or 1.0
        # The least change of a matrix that makes a number its eigenvalue is rounding, however near others are.
        for value in few / length:
            change = numpy.linalg.svd(matrix / length - value * numpy.eye(size), compute_uv=False)[-1]
            assert change <= steps(kind, 64 * size), f"{what}: {value * length} is not an eigenvalue, got {few}"
        apart = 4 * (steps(kind, 64 * size)) ** (1 / max(size, 1))
        assert abs(few.sum() / length - numpy.trace(matrix) / length) <= steps(kind, 64 * size), f"{what}: got {few}"
        # As many values as there are, each near one of NumPy's: roots of multiplicity m are as near as eps**(1 / m).
        rest = list(numpy.linalg.eigvals(matrix / length)) if size else []
        for value in few / length:
            nearest = min(range(len(rest)), key=lambda place: abs(rest[place] - value))
            assert abs(rest.pop(nearest) - value) <= apart, f"{what}: got {few}"
        limit = math.sqrt(eps(kind)) * float(abs(few).max(initial=0.0))
        for one, two in pairwise(few):
            assert one.real <= two.real + limit, f"{what}: not in order: {few}"
            if abs(one.real - two.real) <= limit / 64:
                assert one.imag <= two.imag + limit, f"{what}: not in order: {few}"
    if run.name == "linalg.eig":
        checked(x, vectors, x.names[-2], None, dtype=kind)
        for good, (matrix, few, columns) in zip(finite.reshape(-1), pairs(x, values, vectors), strict=True):
            what = f"eig({matrix!r})"
            if not good:
                assert numpy.isnan(columns).all(), f"{what}: expected NaN, got {columns}"
                continue
            near(numpy.linalg.norm(columns, axis=0), numpy.ones(size), 64 * eps(kind), what)
            near(matrix @ columns, columns * few, steps(kind, 64 * size) * (norm(matrix) or 1.0), what)
            turned(columns, kind, what)


@law("linalg.svd", "linalg.svdvals", by="definition")
def svd(draw: Draw, run: Any, backend: Backend) -> None:
    x, finite = spoilt(draw, matrices(draw, draw(DTYPES), scaled=True))
    full = draw(st.booleans())
    dtype = x.dtype if x.dtype.is_inexact else tb.float32
    both = run.name == "linalg.svd"
    got = run(placed(x, backend), full_matrices=full) if both else run(placed(x, backend))
    values = got[1] if both else got
    checked(x, values, None, dtype=REAL_OF.get(dtype, dtype))
    for good, (matrix, few) in zip(finite.reshape(-1), pairs(x, values), strict=True):
        what = f"{run.name}({matrix!r})"
        if not good:
            assert numpy.isnan(few).all(), f"{what}: expected NaN, got {few}"
            continue
        size = norm(matrix)
        want = numpy.linalg.svd(matrix / size, compute_uv=False) * size if size else numpy.zeros(min(matrix.shape))
        near(few, want, unit(matrix, dtype), what)
        assert (few >= 0).all(), f"{what}: got {few}"
        assert (numpy.diff(few) <= 0).all(), f"{what}: got {few}"
    if not both:
        return
    u, _, vh = got
    checked(x, u, x.names[-2], None)
    checked(x, vh, None, x.names[-1])
    rows, columns = x.shape[-2:]
    rank = min(rows, columns)
    assert (u.shape[-1], vh.shape[-2]) == ((rows, columns) if full else (rank, rank))
    for good, (matrix, left, few, right) in zip(finite.reshape(-1), pairs(x, u, values, vh), strict=True):
        what = f"svd({matrix!r}, full_matrices={full})"
        if not good:
            assert all(numpy.isnan(vectors).all() for vectors in (left, right)), f"{what}: got {left}, {right}"
            continue
        orthonormal(left, dtype, what)
        orthonormal(right.conj().T, dtype, what)
        near(left[:, :rank] * few @ right[:rank], matrix, unit(matrix, dtype), what)
        kept = few > steps(dtype, 64 * max(1, *matrix.shape)) * few.max(initial=0.0)
        turned(left[:, :rank][:, kept], dtype, what)


# Determinants


@law("linalg.det", "linalg.slogdet", by="NumPy")
def det(draw: Draw, run: Any, backend: Backend) -> None:
    logarithm = run.name == "linalg.slogdet"
    x, finite = spoilt(draw, matrices(draw, draw(DTYPES), square=True, scaled=logarithm))
    got = run(placed(x, backend))
    sign, value = got if logarithm else (got, got)
    checked(x, sign)
    dtype, size = sign.dtype, x.shape[-1]
    both = zip(wide(sign).reshape(-1), wide(value).reshape(-1), strict=True)
    for good, (matrix,), (phase, number) in zip(finite.reshape(-1), pairs(x), both, strict=True):
        what = f"{run.name}({matrix!r})"
        if not good:
            assert numpy.isnan([phase, number]).all(), f"{what}: expected NaN, got {phase}, {number}"
            continue
        length = norm(matrix) or 1.0
        # A matrix of length 1, of which rounding errors change the determinant by as much as its rows are long.
        want = complex(numpy.linalg.det(matrix / length))
        allowed = steps(dtype, 64 * max(1, size) ** 2) * float(numpy.prod(numpy.linalg.norm(matrix / length, axis=1)))
        if not logarithm:
            near(
                number / length**size, want, allowed, what, largest=finfo(REAL_OF.get(dtype, dtype)).max / length**size
            )
        elif abs(want) > 4 * allowed:
            near(phase, want / abs(want), 4 * allowed / abs(want), what)
            exact = math.log(abs(want)) + size * math.log(length)
            near(number, exact, 4 * allowed / abs(want) + 8 * eps(dtype) * size * (1 + abs(math.log(length))), what)
        elif phase:
            near(abs(phase), 1, 8 * eps(dtype), what)
        else:
            assert number == -math.inf, f"{what}: expected -inf for a sign of 0, got {number}"
        if size and not matrix.any():
            assert (phase, number) == (0, -math.inf if logarithm else 0), f"{what}: got {phase}, {number}"
