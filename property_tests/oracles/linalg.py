"""Oracles of norms, parts, powers and products of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy
import scipy.linalg
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, finfo
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation, calls
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .contraction import multiply
from .elementwise import cast
from .matrices import FEWEST, batched, close, matrices, matrix, placed, steps, tensor
from .reduction import Axes, axes_of
from .table import INEXACT, NUMERIC, Refusal, law, named, reference, wide

# Parts


@reference("linalg.adjoint", by="NumPy", raw=True)
def adjoint(call: Invocation) -> Any:
    (x,) = call.arguments
    return named(wide(x).conj().swapaxes(-1, -2), [*x.names[:-2], x.names[-1], x.names[-2]])


@reference("linalg.diagonal", by="NumPy", raw=True)
def diagonal(call: Invocation) -> Any:
    (x,) = call.arguments
    return named(numpy.diagonal(wide(x), call.options.get("offset", 0), -2, -1), x.names[:-1])


def trace_call(draw: Draw, dtype: DType) -> Invocation:
    """The kit's calls, with a dtype for the sum."""
    call: Invocation = draw(calls("trace", dtype))
    alike = [kind for kind in NUMERIC if kind.kind == dtype.kind or (dtype.is_integer and kind.is_inexact)]
    wanted = draw(st.none() | st.sampled_from(alike or NUMERIC))
    return call._replace(options={**call.options, "dtype": wanted})


@reference("linalg.trace", by="NumPy", draw=trace_call)
def trace(x: Any, /, *, offset: int = 0, dtype: DType | None = None, axis1: int = -2, axis2: int = -1) -> Any:
    run = numpy.diagonal(x, offset, axis1, axis2)
    run = run if dtype is None else cast(run, dtype)
    wraps = dtype is not None and dtype.is_integer  # in that dtype, where NumPy would sum in 64 bits
    return numpy.sum(run, axis=-1, dtype=run.dtype if wraps else None)


@reference("linalg.apply_matrix", by="NumPy")
def apply_matrix(x: Any, matrix: Any, /, *, axis: int = -1) -> Any:
    if matrix.shape[1] != x.shape[axis]:
        raise Refusal("a matrix with another number of columns")
    return numpy.moveaxis(numpy.moveaxis(x, axis, -1) @ matrix.T, -1, axis)


@reference("linalg.cross", by="NumPy", raw=True)
def cross(call: Invocation) -> Any:
    x1, x2 = call.arguments
    axis = call.options.get("axis", -1)
    first, second = (numpy.moveaxis(wide(x), x.names.index(axis) if isinstance(axis, str) else axis, 0)
                     for x in (x1, x2))  # fmt: skip
    dtype = numpy.result_type(first, second)

    def product(i: int, j: int) -> Any:
        if dtype.kind == "c":
            return multiply(first[i], second[j])
        return first[i].astype(dtype) * second[j].astype(dtype)

    out = numpy.stack([product(1, 2) - product(2, 1), product(2, 0) - product(0, 2), product(0, 1) - product(1, 0)])
    return numpy.moveaxis(out, 0, x1.names.index(axis) if isinstance(axis, str) else axis)


# Norms

ORDERS = st.sampled_from([0, 1, 2, 2.0, 3, -1, -2, 0.5, math.inf, -math.inf])
MATRIX_ORDERS = st.sampled_from(["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])


def scale_of(draw: Draw, dtype: DType) -> float:
    """A power of two: small and large numbers of a dtype, whose squares are out of its range."""
    if not dtype.is_inexact:
        return 1.0
    steps = {"float16": 8, "float32": 110, "bfloat16": 110, "complex64": 110}.get(dtype.name, 900)
    return 2.0 ** draw(st.sampled_from([0, 0, 0, steps // 8, -steps // 8, steps, -steps]))


def scaled(draw: Draw, x: tb.Tensor) -> tb.Tensor:
    """The tensor times a power of two."""
    if not x.dtype.is_inexact:
        return x
    factor = scale_of(draw, x.dtype)
    with numpy.errstate(all="ignore"):
        array = wide(x) * factor
    return tb.asarray(array, dtype=x.dtype, names=x.names, backend="binary")


def lengths(x: Any, axes: tuple[int, ...], order: float, keepdims: bool) -> Any:
    """Vector norms of magnitudes along axes, by the largest or least magnitude and powers of quotients by it."""
    kept = [at for at in range(x.ndim) if at not in axes]
    columns = abs(numpy.moveaxis(x if x.dtype.kind == "c" else x.astype(float), kept, range(len(kept))))
    rows = columns.reshape(math.prod(x.shape[at] for at in kept), math.prod(x.shape[at] for at in axes))
    shape = [1 if at in axes else x.shape[at] for at in range(x.ndim) if keepdims or at not in axes]
    return numpy.array([length(row, order) for row in rows]).reshape(shape).astype(float)


def length(sizes: Any, order: float) -> float:
    """The vector norm of magnitudes."""
    if order == 0:
        return float(numpy.count_nonzero(sizes))
    if math.isinf(order):
        return float(sizes.max(initial=0.0) if order > 0 else sizes.min())
    if not sizes.size or numpy.isnan(sizes).any():
        return float(sizes.sum())
    most = float(sizes.max() if order > 0 else sizes.min())
    if most == 0 or math.isinf(most):
        return most
    with numpy.errstate(all="ignore"):
        return float(most * numpy.sum((sizes / most) ** float(order)) ** (1 / order))


def vector_norm_call(draw: Draw, dtype: DType) -> Invocation:
    """The kit's calls, at all magnitudes."""
    call: Invocation = draw(calls("vector_norm", dtype))
    return call._replace(arguments=(scaled(draw, call.arguments[0]),), options={**call.options, "ord": draw(ORDERS)})


@reference("linalg.vector_norm", by="NumPy", draw=vector_norm_call)
def vector_norm(x: Any, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Any:
    return lengths(x, axes_of(x, axis), ord, keepdims)


def norm_call(draw: Draw, dtype: DType) -> Invocation:
    """Norms of all elements, of vectors along an axis, and of matrices in any two axes, at all magnitudes."""
    x = scaled(draw, draw(tensors(dtype, shapes(most=4, smallest=draw(FEWEST), largest=3), tame=True)))
    keepdims = draw(st.booleans())
    axis: Any = draw(st.none() | (st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none()))
    if x.ndim > 1 and draw(st.booleans()):
        axis = tuple(draw(st.permutations(range(x.ndim)))[:2])
        axis = tuple(draw(st.sampled_from([at, at - x.ndim, x.names[at]])) for at in axis)
    two = isinstance(axis, tuple) or (axis is None and x.ndim == 2)
    plain = axis is None and x.ndim not in (1, 2)
    order = None if plain else draw(st.none() | (MATRIX_ORDERS if two else ORDERS))
    return Invocation("linalg.norm", (x,), {"axis": axis, "ord": order, "keepdims": keepdims})


# Singular values are as near as the largest of them.
SINGULAR = Bound(64, "sums of roots of sums, and singular values", "operand")


@law("linalg.norm", by="NumPy")
def norm(draw: Draw, run: Any, backend: Backend) -> None:
    call = norm_call(draw, draw(st.sampled_from(NUMERIC)))
    judge_norm(draw, run, backend, call, call.options["axis"], call.options["ord"])


@law("linalg.matrix_norm", by="NumPy")
def matrix_norm(draw: Draw, run: Any, backend: Backend) -> None:
    x = scaled(
        draw,
        draw(
            tensors(
                draw(st.sampled_from(NUMERIC)), shapes(least=2, most=4, smallest=draw(FEWEST), largest=3), tame=True
            )
        ),
    )
    call = Invocation("linalg.matrix_norm", (x,), {"ord": draw(MATRIX_ORDERS), "keepdims": draw(st.booleans())})
    judge_norm(draw, run, backend, call, (-2, -1), call.options["ord"])


def judge_norm(draw: Draw, run: Any, backend: Backend, call: Invocation, axis: Any, order: Any) -> None:
    """Assert that norms are NumPy's of numbers of moderate size, to which the operand is scaled and back."""
    (x,) = call.arguments
    array = wide(x)
    if x.dtype.is_inexact and not numpy.isfinite(array).all() and (order in ("nuc", 2, -2)):
        return
    keepdims = call.options["keepdims"]
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else tuple(
            x.names.index(at) if isinstance(at, str) else at % x.ndim
            for at in (axis if isinstance(axis, tuple) else [axis])
        )
    )
    smallest = order in (-1, -2, -math.inf)
    empty = smallest and 0 in (array.shape[at] for at in axes)
    if empty:
        return  # an error, which other tests expect
    sizes = abs(array if array.dtype.kind == "c" else array.astype(float))
    finite = sizes[numpy.isfinite(sizes)]
    most = float(finite.max(initial=0.0)) if finite.size else 0.0
    factor = 2.0 ** math.frexp(most)[1] if most else 1.0
    spectral = order in ("nuc", 2, -2) and len(axes) == 2
    moderate = array / factor if spectral else sizes / factor
    with numpy.errstate(all="ignore"):
        if order is None or order == "fro" or len(axes) != 2:
            want = lengths(moderate, axes, 2 if order in (None, "fro") else order, keepdims)
            if order == 0:
                want = want / factor
        elif 0 in moderate.shape:
            shape = [1 if at in axes else size for at, size in enumerate(x.shape) if keepdims or at not in axes]
            want = numpy.zeros(shape)
        else:
            want = numpy.linalg.norm(moderate, order, axes, keepdims)
    got = run(*call.on(backend).arguments, **call.options)
    expected = numpy.asarray(want, float)
    assert got.shape == expected.shape, f"{call!r}: expected the shape {expected.shape}, got {got.template}"
    named = [name for at, name in enumerate(x.names) if keepdims or at not in axes]
    assert got.names == tuple(named), f"{call!r}: expected the names {named}, got {got.template}"
    with numpy.errstate(all="ignore"):
        result = wide(got) / (1.0 if order == 0 and len(axes) != 2 else factor)
        expected = expected * (factor if order == 0 and len(axes) != 2 else 1)
        limit = finfo(got.dtype).max / factor
        beyond = abs(expected) > limit * (1 - steps(got.dtype, 64))
        near = abs(result - expected) <= steps(got.dtype, 64) * numpy.maximum(abs(expected), 1.0 if order == -2 else 0)
        tiny = abs(expected) * factor <= 2 * finfo(got.dtype).smallest_normal
    same = near | (numpy.isnan(expected) & numpy.isnan(result)) | (result == expected) | beyond | tiny
    assert same.all(), f"{call!r}: expected {expected * factor}, got {wide(got)}"


# Powers


@law("linalg.matrix_power", by="NumPy")
def matrix_power(draw: Draw, run: Any, backend: Backend) -> None:
    dtype, power = draw(st.sampled_from(NUMERIC)), draw(st.integers(-3, 5))
    x = matrices(draw, dtype, square=True, regular=power < 0)
    array = wide(x)
    with numpy.errstate(all="ignore"):
        if not dtype.is_inexact and power >= 0:
            want = numpy.linalg.matrix_power(array, power) if array.size else array
            allowed: Any = 0
        else:
            array = array.astype(complex if dtype.is_complex else float)
            want = numpy.linalg.matrix_power(array, power) if array.size else array
            base = numpy.linalg.inv(array) if power < 0 and array.size else array
            size = numpy.linalg.norm(base, axis=(-2, -1)) if array.size else numpy.zeros(x.shape[:-2])
            allowed = 32 * (1 + abs(power)) * max(1, x.shape[-1]) ** 2 * size ** abs(power)
            if power < 0 and array.size:
                allowed = allowed * numpy.linalg.cond(array)
            allowed = allowed[..., None, None]
    got = run(placed(x, backend), power)
    names = x.names if power >= 0 else (*x.names[:-2], x.names[-1], x.names[-2])
    assert got.names == names, f"matrix_power({x!r}, {power}): got the names {got.names}"
    close(got, want, steps(got.dtype, 1) * allowed if got.dtype.is_inexact else 0, f"matrix_power({x!r}, {power})")


def exponential(matrix: Any) -> Any:
    """Taylor's series of the matrix halved a number of times, squared as often, with 64-bit significands."""
    size = float(numpy.linalg.norm(matrix))
    halvings = max(0, math.frexp(size)[1] + 6) if size else 0
    part = matrix.astype(numpy.clongdouble if matrix.dtype.kind == "c" else numpy.longdouble) / 2**halvings
    term = numpy.eye(len(part), dtype=part.dtype)
    total = term
    for order in range(1, 16):
        term = term @ part / order
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total.astype(matrix.dtype)


@law("linalg.expm", by="brute force")
def expm(draw: Draw, run: Any, backend: Backend) -> None:
    # Few templates, each of which takes long at first, and four matrices in most of them.
    dtype = draw(st.sampled_from([*INEXACT, tb.int32]))
    shape = draw(st.sampled_from([(4, 3, 3), (4, 3, 3), (2, 2), (0, 0)]))
    drawn = [matrix(draw, dtype, *shape[-2:], regular=False) for _ in range(math.prod(shape[:-2]))]
    if dtype.is_inexact:
        drawn = [one * 2.0 ** draw(st.sampled_from([0, -1, -3, -20, 2])) for one in drawn]
    x = tensor(draw, numpy.array(drawn).reshape(shape), dtype)
    array = wide(x).astype(complex if dtype.is_complex else float)
    got = run(placed(x, backend))
    assert got.names == x.names
    flat = batched(array)
    for one, result in zip(flat, batched(wide(got)), strict=True):
        with numpy.errstate(all="ignore"):
            if not one.size or numpy.linalg.norm(one) > 60:
                continue
            want = exponential(one)
            size = numpy.linalg.norm(want)
            if not numpy.isfinite(size) or size > finfo(got.dtype).max / 4:
                continue
            # The derivative is an integral of products of exponentials of parts of the matrix (Higham 2008, 10.2).
            parts = [numpy.linalg.norm(exponential(one * share / 8)) for share in range(9)]
            condition = 1 + numpy.linalg.norm(one) * max(a * b for a, b in zip(parts, parts[::-1], strict=True)) / size
        wrong = numpy.linalg.norm(result - want)
        allowed = steps(got.dtype, 64 * one.shape[-1]) * condition * size
        assert wrong <= allowed, f"expm({one!r}): expected {want!r}, got {result!r}"


@law("linalg.sqrtm", by="SciPy")
def sqrtm(draw: Draw, run: Any, backend: Backend) -> None:
    dtype, hermitian = draw(st.sampled_from([*INEXACT, tb.int32])), draw(st.booleans())
    shape = draw(st.sampled_from([(4, 3, 3), (4, 3, 3), (2, 2), (0, 0)]))
    drawn = [matrix(draw, dtype, *shape[-2:], regular=False) for _ in range(math.prod(shape[:-2]))]
    x = tensor(draw, numpy.array(drawn).reshape(shape), dtype)
    array = wide(x).astype(complex if dtype.is_complex else float)
    # A product of a matrix and its adjoint, or a matrix whose eigenvalues are right of the imaginary axis.
    array = array @ array.conj().swapaxes(-1, -2) if hermitian else array
    moved = numpy.abs(array).max(initial=0) * shape[-1] * 2 + 1
    array = array + numpy.eye(shape[-1]) * draw(
        st.sampled_from([moved, numpy.ceil(moved / 8)] if hermitian else [moved])
    )
    x = tb.asarray(array, dtype=dtype, names=x.names, backend="binary")
    got = run(placed(x, backend), hermitian=hermitian)
    assert got.names == x.names
    for one, result in zip(batched(wide(x)), batched(wide(got)), strict=True):
        if one.size and numpy.isfinite(one).all():
            want = scipy.linalg.sqrtm(one.astype(complex))
            allowed = steps(got.dtype, 64 * shape[-1]) * numpy.linalg.cond(one) * numpy.linalg.norm(want)
            assert numpy.linalg.norm(result - want) <= allowed, f"sqrtm({one!r}): expected {want!r}, got {result!r}"


# Products with sparse matrices


@reference("linalg.sparse_matvec", "linalg.sparse_matmul", by="brute force", raw=True)
def sparse_product(call: Invocation) -> Any:
    values, first, second, x = call.arguments
    rows, format = call.options["rows"], call.options["format"]
    vectors = call.name.endswith("matvec")
    kept, right = wide(values), wide(x)
    columns = right.shape[-1] if vectors else right.shape[-2]
    right = right[..., None] if vectors else right
    a, b = (numpy.asarray(wide(part), int) for part in (first, second))
    lead = numpy.broadcast_shapes(kept.shape[:-1], a.shape[:-1], b.shape[:-1])
    count = kept.shape[-1]
    batch = numpy.broadcast_shapes(lead, right.shape[:-2])
    dtype = numpy.result_type(kept, right)
    out = numpy.zeros((*batch, rows, right.shape[-1]), dtype)
    kept = numpy.broadcast_to(kept, (*batch, count))
    right = numpy.broadcast_to(right, (*batch, *right.shape[-2:]))
    a, b = (numpy.broadcast_to(part, (*batch, part.shape[-1])) for part in (a, b))
    for at in numpy.ndindex(*batch):
        for k in range(count):
            if format == "coo":
                row, column = a[at][k], b[at][k]
            else:
                major = sum(min(max(end, 0), count) <= k for end in a[at][1:])
                row, column = (major, b[at][k]) if format == "csr" else (b[at][k], major)
            row, column = min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)
            if dtype.kind == "c":
                out[at][row] += multiply(kept[at][k], right[at][column])
            else:
                out[at][row] += kept[at][k].astype(dtype) * right[at][column].astype(dtype)
    return out[..., 0] if vectors else out
