"""Oracles of `tb.sparse`: dense NumPy arrays, and SciPy's matrices."""

from __future__ import annotations

from typing import Any

import numpy
import scipy.sparse
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.sparse import SparseMatrix
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law

FORMATS: st.SearchStrategy[Any] = st.sampled_from(["coo", "csr", "csc"])
NAMES = st.sampled_from([None, ("row", "column")])
DTYPES = ["float32", "float64", "int16", "int64", "complex64", "complex128"]
REAL = DTYPES[:4]


def numbers(draw: Draw, dtype: str, *shape: int) -> Any:
    """Small whole numbers and halves, zeros often, so that sums are exact."""
    size = int(numpy.prod(shape))
    drawn = draw(st.lists(st.integers(-4, 4), min_size=size, max_size=size))
    array = numpy.array(drawn, "f8").reshape(shape)
    if dtype.startswith("complex"):
        array = array + 1j * array[..., ::-1]
    return (array if "int" in dtype else array / 2).astype(dtype)


class Pair:
    """A sparse matrix and the dense array that it represents."""

    def __init__(self, matrix: SparseMatrix, dense: Any) -> None:
        self.matrix, self.dense = matrix, dense


def matrix_of(
    draw: Draw, backend: Backend, dtype: str, *, size: tuple[int, int] | None = None, distinct: bool = False
) -> Pair:
    """A small matrix in a drawn format; values at the same place, zeros that are stored and no values at all occur."""
    rows, columns = size or (draw(st.integers(0, 5)), draw(st.integers(0, 5)))
    places = st.tuples(st.integers(0, max(rows - 1, 0)), st.integers(0, max(columns - 1, 0)))
    stored = draw(st.lists(places, max_size=8, unique=distinct)) if rows and columns else []
    values = numbers(draw, dtype, len(stored))
    dense = numpy.zeros((rows, columns), dtype)
    for value, place in zip(values, stored, strict=True):
        dense[place] += value
    at = numpy.array(stored, "int64").reshape(-1, 2)
    parts = [tb.asarray(part, backend=backend) for part in (values, at[:, 0], at[:, 1])]
    matrix = tb.sparse.coo(parts[0], parts[1], parts[2], dense.shape)
    return Pair(in_format(matrix, draw(FORMATS)), dense)


def in_format(matrix: SparseMatrix, name: str) -> SparseMatrix:
    return {"coo": matrix.to_coo, "csr": matrix.to_csr, "csc": matrix.to_csc}[name]()


def close(actual: Any, expected: Any) -> None:
    dense = actual.to_dense() if isinstance(actual, SparseMatrix) else actual
    assert dense.shape == numpy.shape(expected), (dense.template, numpy.shape(expected))
    numpy.testing.assert_allclose(numpy.asarray(dense), expected, rtol=1e-5, atol=1e-6)


def any_dtype(draw: Draw) -> str:
    return draw(st.sampled_from(DTYPES))


# Construction and conversion


@law("sparse.coo", by="SciPy")
def coo(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype, names, shape = any_dtype(draw), draw(NAMES), (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    count = draw(st.integers(0, 6))
    values = numbers(draw, dtype, count)
    rows, columns = (
        numpy.array(draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count)), "int64") for n in shape
    )
    out = run(*(tb.asarray(part, backend=backend) for part in (values, rows, columns)), shape, names=names)
    close(out, scipy.sparse.coo_array((values, (rows, columns)), shape=shape).toarray())
    assert (out.nnz, out.to_dense().names) == (count, names or (None, None))


@law("sparse.csr", "sparse.csc", by="SciPy")
def csr(draw: Draw, run: Recorder, backend: Backend) -> None:
    by_rows = run.name == "sparse.csr"
    dtype, names, shape = any_dtype(draw), draw(NAMES), (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    lines, width = shape if by_rows else shape[::-1]
    counts = draw(st.lists(st.integers(0, 3), min_size=lines, max_size=lines))
    pointers = numpy.cumsum([0, *counts])
    places = draw(st.lists(st.integers(0, width - 1), min_size=sum(counts), max_size=sum(counts)))
    values, indices = numbers(draw, dtype, sum(counts)), numpy.array(places, "int64")
    out = run(*(tb.asarray(part, backend=backend) for part in (values, indices, pointers)), shape, names=names)
    kind = scipy.sparse.csr_array if by_rows else scipy.sparse.csc_array
    close(out, kind((values, indices, pointers), shape=shape).toarray())
    assert out.to_dense().names == (names or (None, None))


@law("sparse.diagonals", by="SciPy")
def diagonals(draw: Draw, run: Recorder, backend: Backend) -> None:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    offsets = draw(st.lists(st.integers(1 - rows, columns - 1), min_size=1, max_size=3, unique=True))
    lengths = [min(rows, columns - at) if at >= 0 else min(rows + at, columns) for at in offsets]
    arrays = [numbers(draw, "float64", length) for length in lengths]
    values = [tb.asarray(array, backend=backend) for array in arrays]
    out = run(values, offsets, (rows, columns), format=draw(FORMATS), names=draw(NAMES))
    close(out, sum(_diagonal(array, at, rows, columns) for array, at in zip(arrays, offsets, strict=True)))


def _diagonal(array: Any, offset: int, rows: int, columns: int) -> Any:
    out = numpy.zeros((rows, columns))
    for place, value in enumerate(array):
        out[place + max(-offset, 0), place + max(offset, 0)] = value
    return out


@law("sparse.eye", by="NumPy")
def eye(draw: Draw, run: Recorder, backend: Backend) -> None:
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    dtype, names, kind = draw(st.sampled_from([None, *DTYPES])), draw(NAMES), draw(FORMATS)
    out = run(rows, columns, format=kind, dtype=dtype, names=names, backend=backend)
    close(out, numpy.eye(rows, columns))
    assert (out.format, out.dtype.name, out.values.backend) == (kind, dtype or "float32", backend)


@law("sparse.from_dense", by="NumPy")
def from_dense(draw: Draw, run: Recorder, backend: Backend) -> None:
    dense = numbers(draw, any_dtype(draw), *draw(st.sampled_from([(2, 3), (0, 2), (2, 2, 3)])))
    places = int(numpy.sum(numpy.any(dense != 0, tuple(range(dense.ndim - 2)))))
    size, kind = draw(st.sampled_from([None, places, places + 2])), draw(FORMATS)
    out = run(tb.asarray(dense, backend=backend), format=kind, size=size if dense.size else None)
    close(out, dense)
    assert out.format == kind
    assert out.nnz == (places if size is None or not dense.size else size)


@law("sparse.from_function", by="NumPy")
def from_function(draw: Draw, run: Recorder, backend: Backend) -> None:
    count, affine = draw(st.integers(2, 5)), draw(st.booleans())
    weights, matrix = numbers(draw, "float64", count), numbers(draw, "float64", count, count)
    known = tb.asarray(weights, backend=backend), tb.asarray(matrix, backend=backend)

    def function(x: tb.Tensor) -> tb.Tensor:
        out = tb.roll(x, 1) * known[0] + known[1] @ x - tb.pad(x[1:], [(0, 1)])
        return out + 1.0 if affine else out

    out = run(function, f"f64[{count}]", affine=affine, backend=backend)
    if affine:
        out, constant = out
        close(constant, numpy.ones(count))
    rolled, ahead = numpy.roll(numpy.eye(count), 1, 0), numpy.eye(count, k=1)
    close(out, weights[:, None] * rolled + matrix - ahead)


@law("sparse.from_scipy", by="SciPy")
def from_scipy(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair, kind, names = matrix_of(draw, backend, any_dtype(draw)), draw(FORMATS), draw(NAMES)
    theirs = scipy.sparse.coo_array(pair.dense).asformat(kind)
    out = run(theirs, names=names, backend=backend)
    close(out, pair.dense)
    assert (out.format, out.to_dense().names, out.values.backend) == (kind, names or (None, None), backend)


@law("sparse.to_scipy", by="SciPy")
def to_scipy(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw))
    theirs = run(pair.matrix)
    assert scipy.sparse.issparse(theirs)
    assert theirs.format == pair.matrix.format
    numpy.testing.assert_array_equal(theirs.toarray(), pair.dense)


@law("sparse.to_coo", "sparse.to_csr", "sparse.to_csc", "sparse.to_dense", by="NumPy")
def conversions(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw))
    out = run(pair.matrix)
    close(out, pair.dense)
    kind = run.name.rpartition("_")[2]
    if kind != "dense":
        assert (out.format, out.nnz) == (kind, pair.matrix.nnz)


@law("sparse.astype", by="NumPy")
def astype(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair, dtype = matrix_of(draw, backend, "int16"), any_dtype(draw)
    out = run(pair.matrix, dtype)
    close(out, pair.dense.astype(dtype))
    assert (out.dtype.name, out.format) == (dtype, pair.matrix.format)


@law("sparse.sum_duplicates", by="NumPy")
def sum_duplicates(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw))
    known = pair.matrix.to_coo()
    places = {*zip(known.rows.tolist(), known.columns.tolist(), strict=True)}
    size = draw(st.sampled_from([None, len(places) + 1])) if pair.dense.size else None
    out = run(pair.matrix, size=size)
    close(out, pair.dense)
    assert (out.nnz, out.format) == (len(places) if size is None else size, pair.matrix.format)


# Arithmetic


@law("sparse.add", "sparse.subtract", by="NumPy")
def add(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = any_dtype(draw)
    left = matrix_of(draw, backend, dtype)
    right = matrix_of(draw, backend, dtype, size=left.dense.shape)
    function = numpy.add if run.name == "sparse.add" else numpy.subtract
    close(run(left.matrix, right.matrix), function(left.dense, right.dense))


@law("sparse.multiply", "sparse.divide", by="NumPy")
def multiply(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, "float64")
    rows, columns = pair.dense.shape
    shape = draw(st.sampled_from([(), (rows, columns), (rows, 1), (columns,), (1, columns)]))
    factor = numpy.abs(numbers(draw, "float64", *shape)) + 0.5
    by: Any = float(factor) if shape == () and draw(st.booleans()) else tb.asarray(factor, backend=backend)
    out = run(pair.matrix, by)
    close(out, pair.dense * factor if run.name == "sparse.multiply" else pair.dense / factor)
    assert out.nnz == pair.matrix.nnz


@law("sparse.matmul", by="NumPy")
def matmul(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = any_dtype(draw)
    left = matrix_of(draw, backend, dtype)
    rows, columns = left.dense.shape
    kind = draw(st.sampled_from(["sparse", "vector", "matrix", "stack", "from the left"]))
    if kind == "sparse":
        right = matrix_of(draw, backend, dtype, size=(columns, draw(st.integers(0, 4))))
        products = sum(
            int(numpy.sum(column == row))
            for column, row in [(c, r) for c in left.matrix.to_coo().columns.tolist()
                                for r in right.matrix.to_coo().rows.tolist()]
        )  # fmt: skip
        whole = left.dense.shape[0] and right.dense.shape[1]
        size = draw(st.sampled_from([None, products + 2])) if whole else None
        close(run(left.matrix, right.matrix, size=size), left.dense @ right.dense)
        return
    if kind == "from the left":
        array = numbers(draw, dtype, 3, rows)
        close(run(tb.asarray(array, backend=backend), left.matrix), array @ left.dense)
        return
    shape = {"vector": (columns,), "matrix": (columns, 2), "stack": (2, columns, 3)}[kind]
    array = numbers(draw, dtype, *shape)
    close(run(left.matrix, tb.asarray(array, backend=backend)), left.dense @ array)


@law("sparse.matvec", by="NumPy")
def matvec(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = any_dtype(draw)
    pair = matrix_of(draw, backend, dtype)
    array = numbers(draw, dtype, *draw(st.sampled_from([(), (2,), (2, 3)])), pair.dense.shape[1])
    close(run(pair.matrix, tb.asarray(array, backend=backend)), array @ pair.dense.T)


# Reductions and selection


@law("sparse.sum", by="NumPy")
def sum_(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw))
    axis = draw(st.sampled_from([None, 0, 1, -1, -2, (0, 1)]))
    close(run(pair.matrix, axis=axis), numpy.sum(pair.dense, axis))


@law("sparse.max", "sparse.min", by="NumPy")
def extremes(draw: Draw, run: Recorder, backend: Backend) -> None:
    size = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    pair = matrix_of(draw, backend, draw(st.sampled_from(REAL)), size=size)
    axis = draw(st.sampled_from([None, 0, 1, -1, -2]))
    function = numpy.max if run.name == "sparse.max" else numpy.min
    close(run(pair.matrix, axis=axis), function(pair.dense, axis))


@law("sparse.diagonal", by="NumPy")
def diagonal(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw))
    close(run(pair.matrix), numpy.diagonal(pair.dense))


@law("sparse.concatenate", by="NumPy")
def concatenate(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype, axis = any_dtype(draw), draw(st.sampled_from([-2, -1]))
    first = matrix_of(draw, backend, dtype)
    pairs = [first]
    for _ in range(draw(st.integers(0, 2))):
        size = list(first.dense.shape)
        size[axis] = draw(st.integers(0, 3))
        pairs.append(matrix_of(draw, backend, dtype, size=(size[0], size[1])))
    close(run([pair.matrix for pair in pairs], axis=axis), numpy.concatenate([pair.dense for pair in pairs], axis))


@law("sparse.block_diagonal", by="SciPy")
def block_diagonal(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = any_dtype(draw)
    pairs = [matrix_of(draw, backend, dtype) for _ in range(draw(st.integers(1, 3)))]
    rows, columns = (sum(pair.dense.shape[at] for pair in pairs) for at in (0, 1))
    wanted, row, column = numpy.zeros((rows, columns), dtype), 0, 0
    for pair in pairs:
        height, width = pair.dense.shape
        wanted[row : row + height, column : column + width] = pair.dense
        row, column = row + height, column + width
    close(run([pair.matrix for pair in pairs]), wanted)


@law("sparse.select", by="NumPy")
def select(draw: Draw, run: Recorder, backend: Backend) -> None:
    pair = matrix_of(draw, backend, any_dtype(draw), size=(draw(st.integers(1, 4)), draw(st.integers(1, 4))))
    ends = st.none() | st.integers(-3, 3)
    cuts = st.builds(slice, ends, ends, st.sampled_from([None, 1, 2]))
    parts = [draw(cuts | st.integers(-size, size - 1)) for size in pair.dense.shape]
    key = tuple(parts[: draw(st.integers(1, 2))])
    close(run(pair.matrix, key), pair.dense[key])


# Systems


@law("sparse.triangular_solve", by="SciPy")
def triangular_solve(draw: Draw, run: Recorder, backend: Backend) -> None:
    size = draw(st.integers(1, 5))
    dense = numbers(draw, draw(st.sampled_from(["float64", "complex128"])), size, size) + 5 * numpy.eye(size)
    b = numbers(draw, dense.dtype.name, *draw(st.sampled_from([(size,), (size, 2)])))
    lower, unit, transposed = (draw(st.booleans()) for _ in range(3))
    matrix = tb.sparse.from_dense(tb.asarray(dense, backend=backend), format=draw(FORMATS))
    x = run(matrix, tb.asarray(b, backend=backend), lower=lower, unit_diagonal=unit, transposed=transposed)
    triangle = numpy.tril(dense) if lower else numpy.triu(dense)
    if unit:
        numpy.fill_diagonal(triangle, 1)
    close(x, numpy.linalg.solve(triangle.T if transposed else triangle, b))


@law("sparse.ilu0", by="definition")
def ilu0(draw: Draw, run: Recorder, backend: Backend) -> None:
    size = draw(st.integers(1, 5))
    dense = numbers(draw, draw(st.sampled_from(["float64", "complex128"])), size, size)
    numpy.fill_diagonal(dense, 9)
    matrix = tb.sparse.from_dense(tb.asarray(dense, backend=backend), format=draw(FORMATS))
    factors = run(matrix)
    lower, upper = (numpy.asarray(part.to_dense()) for part in (factors.lower, factors.upper))
    product = (lower + numpy.eye(size)) @ upper
    stored = dense != 0
    numpy.testing.assert_allclose(product[stored], dense[stored], rtol=1e-9, atol=1e-9)
    assert not numpy.triu(lower).any()
    assert not numpy.tril(upper, -1).any()
    assert not (lower + upper)[~stored].any()
