"""Products with sparse matrices, and triangular systems of them, by SciPy, where it is installed.

SciPy's compiled loops trust the places that they are given. So places are checked, once for each pair of arrays, and
those outside are moved inside as the default moves them.

A triangular matrix is its own factor. SuperLU orders it once, in some 10 ms for 30,000 entries, and then solves a
system in 0.2 ms; a preconditioner solves hundreds with the same values.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from math import prod
from threading import local
from typing import Any, NamedTuple
from weakref import ref

from ....caching.option_keys import remember
from ....dtypes import int32, int64
from ....ops.composite.linalg.sparse import Format
from ....protocol import Kernel, planned
from ....protocol.workspace import takes
from ....rules.data_errors import singular_matrix
from ....template import Template
from ...array_module.base import Array, ArrayBase
from ...array_module.precision import promoting_kernel, wide
from ...array_module.workspace_bytes import brought, float32_copy_bytes, nbytes


def _product_space(out: Template, /, *inputs: Template, format: Format, rows: int, vector: bool = True) -> int:
    """The bytes of SciPy's inputs: entries sorted by row, indices in a dtype that it takes, a batch as one matrix."""
    values, first, second, x = inputs
    width = 1 if vector else 2
    total, count, dtype = prod(out.shape[:-width]), values.shape[-1], wide(out.dtype)
    places, entry = (first, second), 8 + dtype.bits // 8
    known = first.dtype is second.dtype and first.dtype in (int32, int64)
    space = brought(dtype, values, x) + float32_copy_bytes(out)
    if values.ndim == first.ndim == second.ndim == 1 and (vector or x.ndim == 2):
        space += 0 if known else 24 * count
        space += nbytes(x.size + out.size, dtype) if vector and x.ndim > 1 else 0  # vectors as columns
        return space + ((entry + second.dtype.bits // 8) * count if format == "coo" and x.ndim > 1 else 0)
    taken = 16 * count  # rows and columns of the one matrix
    if any(place.ndim > 1 for place in places):
        taken += 400 + (16 + entry) * count  # with the Python objects of each matrix
    dense = total * prod(x.shape[-width:])
    return space + total * taken + (0 if x.size == dense else nbytes(dense, dtype))


class NumpySparse(ArrayBase):
    """Products with matrices of which only some entries are stored."""

    multiplies_rows = find_spec("scipy") is not None

    if multiplies_rows:  # else the defaults run

        @takes(_product_space)
        @planned
        def sparse_matvec(
            self, out: Template, values: Template, first: Template, second: Template, x: Template, /, *, format: Format,
            rows: int,
        ) -> Kernel:  # fmt: skip
            """One product for the whole batch: vectors become columns of a matrix, matrices diagonal blocks of one."""
            columns = x.shape[-1]
            if values.ndim == first.ndim == second.ndim == 1:
                product = _product(format, (rows, columns), vector=x.ndim == 1)
                vectors = prod(x.shape[:-1])

                def multiply_rows(values: Array, first: Array, second: Array, x: Array) -> Array:
                    return product(values, first, second, x.reshape(vectors, columns).T).T.reshape(out.shape)

                kernel = product if x.ndim == 1 else multiply_rows
            else:
                kernel = _block_kernel(out, values, first, second, format, (rows, columns), ())
            return promoting_kernel(self, out.dtype, kernel, out, values, None, None, x)

        @takes(partial(_product_space, vector=False))
        @planned
        def sparse_matmul(
            self, out: Template, values: Template, first: Template, second: Template, x: Template, /, *, format: Format,
            rows: int,
        ) -> Kernel:  # fmt: skip
            """One product for the whole batch: matrices become diagonal blocks of one matrix."""
            columns, width = x.shape[-2:]
            if values.ndim == first.ndim == second.ndim == 1 and x.ndim == 2:
                kernel = _product(format, (rows, columns), vector=False)
            else:
                kernel = _block_kernel(out, values, first, second, format, (rows, columns), (width,))
            return promoting_kernel(self, out.dtype, kernel, out, values, None, None, x)

        @planned
        def sparse_triangular_solve(
            self, out: Template, values: Template, first: Template, second: Template, b: Template, /, *, format: Format,
            lower: bool, unit_diagonal: bool,
        ) -> Kernel:  # fmt: skip
            """With one matrix all right-hand sides are solved at once; matrices of a batch are solved one by one."""
            import numpy

            size, width = out.shape[-2:]
            batch = out.shape[:-2]
            solve = _Solver(size, format, lower, unit_diagonal)

            def solve_one(values: Array, first: Array, second: Array, b: Array) -> Array:
                laid = numpy.moveaxis(b, -2, 0).reshape(size, prod(batch) * width)
                solved = solve(values, first, second, laid).reshape(size, *batch, width)
                return numpy.ascontiguousarray(numpy.moveaxis(solved, 0, -2))

            def solve_each(values: Array, first: Array, second: Array, b: Array) -> Array:
                solved = numpy.empty(out.shape, b.dtype)
                wide = [
                    numpy.broadcast_to(array, (*batch, *array.shape[array.ndim - own_axes :]))
                    for array, own_axes in ((values, 1), (first, 1), (second, 1), (b, 2))
                ]
                for place in numpy.ndindex(*batch):
                    solved[place] = solve(*[array[place] for array in wide])
                return solved

            kernel = solve_one if values.ndim == first.ndim == second.ndim == 1 else solve_each
            return promoting_kernel(self, out.dtype, kernel, out, values, None, None, b)


def _product(format: Format, size: tuple[int, int], *, vector: bool) -> Kernel:
    """A kernel of the product of one matrix with a vector of its dtype, or with a dense matrix."""
    known: dict[tuple[int, int], tuple[ref[Any], ref[Any]]] = {}
    # SciPy's product of a "coo" matrix with a matrix skips values of 0, also where they are multiplied by infinities.
    direct = _scipys(format, size) if vector or format != "coo" else _row_kernel(size)

    def product(values: Array, first: Array, second: Array, x: Array) -> Array:
        places = id(first), id(second)
        seen = known.get(places)
        if seen is None or seen[0]() is not first or seen[1]() is not second:
            if not _fits(first, second, format, size):
                clipped = clipped_places(first, second, format, size)
                return (_scipys("coo", size) if vector else _row_kernel(size))(values, *clipped, x)
            remember(known, places, (ref(first), ref(second)))
        return direct(values, first, second, x)

    return product


def _scipys(format: Format, size: tuple[int, int]) -> Kernel:
    """A kernel of SciPy's product, for places that `_fits` accepts."""
    mine = local()  # one matrix for each thread, into which each call puts its arrays

    def product(values: Array, first: Array, second: Array, x: Array) -> Array:
        try:
            matrix = mine.matrix
        except AttributeError:
            matrix = mine.matrix = _empty(format, size, values.dtype)
        # The matrix is kept, but must not keep the arrays alive.
        matrix.data = values
        if format == "coo":
            matrix.coords = first, second
            result = (matrix @ x).reshape(size[:1])  # for one row SciPy returns a number
            matrix.data = matrix.coords = None
        else:
            matrix.indptr, matrix.indices = first, second
            result = matrix @ x
            matrix.data = matrix.indptr = matrix.indices = None
        return result

    return product


def _row_kernel(size: tuple[int, int]) -> Kernel:
    """A kernel of SciPy's product for places in the format "coo", which it first sorts by row."""
    import numpy

    product = _scipys("csr", size)

    def multiply_sorted(values: Array, rows: Array, columns: Array, x: Array) -> Array:
        order = numpy.argsort(rows, kind="stable")
        pointers = numpy.zeros(size[0] + 1, rows.dtype)
        numpy.cumsum(numpy.bincount(rows, minlength=size[0]), out=pointers[1:])
        return product(values[order], pointers, columns[order], x)

    return multiply_sorted


def _empty(format: Format, size: tuple[int, int], dtype: Any) -> Any:
    """A SciPy matrix without entries."""
    from scipy import sparse

    return getattr(sparse, f"{format}_array")(size, dtype=dtype)


def _fits(first: Array, second: Array, format: Format, size: tuple[int, int]) -> bool:
    """Whether SciPy's loops take the places: all inside, contiguous, and of one dtype that the loops know."""
    if first.dtype != second.dtype or first.dtype.name not in ("int32", "int64"):
        return False
    if not (first.flags.c_contiguous and second.flags.c_contiguous):
        return False
    if format == "coo":
        return _all_in_range(first, size[0]) and _all_in_range(second, size[1])
    minor = size[1] if format == "csr" else size[0]
    return (
        first[0] == 0
        and first[-1] == len(second)
        and bool((first[1:] >= first[:-1]).all())
        and _all_in_range(second, minor)
    )


def _all_in_range(places: Array, size: int) -> bool:
    return not len(places) or (int(places.min()) >= 0 and int(places.max()) < size)


def clipped_places(first: Array, second: Array, format: Format, size: tuple[int, int]) -> tuple[Array, Array]:
    """The row and the column of each value for any places, moved inside as the default moves them."""
    import numpy

    pair = [first, second]
    if format != "coo":
        count = len(second)
        ends = numpy.clip(first[1:].astype("int64"), 0, count)
        pair[0] = numpy.cumsum(numpy.bincount(ends, minlength=count + 1))[:count]
    rows, columns = pair[::-1] if format == "csc" else pair
    return _clip_places(rows, size[0]), _clip_places(columns, size[1])


def _clip_places(places: Array, size: int) -> Array:
    """Places moved inside, and then cast to int64, which does not hold all numbers of uint64."""
    import numpy

    last = min(max(size - 1, 0), int(numpy.iinfo(places.dtype).max))
    return numpy.clip(places, 0, last).astype("int64")


def _block_kernel(
    out: Template, values: Template, first: Template, second: Template, format: Format, size: tuple[int, int],
    width: tuple[int, ...],
) -> Kernel:  # fmt: skip
    """A kernel that computes a batch of products as one, with the matrices as diagonal blocks of one matrix."""
    import numpy

    rows, columns = size
    batch = out.shape[: out.ndim - 1 - len(width)]
    total, count = prod(batch), values.shape[-1]
    product = _product("coo", (total * rows, total * columns), vector=not width)
    apart = first.ndim > 1 or second.ndim > 1
    starts = numpy.arange(total)[:, None]

    def laid(array: Array, own_shape: tuple[int, ...]) -> Array:
        return numpy.broadcast_to(array, (*batch, *own_shape)).reshape(total, *own_shape)

    def blocks(values: Array, first: Array, second: Array, x: Array) -> Array:
        if apart:
            pairs = [
                clipped_places(one, other, format, size)
                for one, other in zip(laid(first, first.shape[-1:]), laid(second, (count,)), strict=True)
            ]
            at = [numpy.stack(positions) if pairs else starts[:, :0] for positions in zip(*pairs, strict=True)]
            at = at or [numpy.zeros((0, count), "int64")] * 2
        else:
            at = [positions[None] for positions in clipped_places(first, second, format, size)]
        row, column = ((starts * length + positions).reshape(-1) for positions, length in zip(at, size, strict=True))
        dense = laid(x, (columns, *width)).reshape(total * columns, *width)
        return product(laid(values, (count,)).reshape(-1), row, column, dense).reshape(out.shape)

    return blocks


class _Factor(NamedTuple):
    """SuperLU's factor, with the arrays that it was made from."""

    arrays: tuple[ref[Any], ...]
    solve: Kernel


class _Solver:
    """Solves systems with a matrix; the factor of the last matrix is kept and used again."""

    def __init__(self, size: int, format: Format, lower: bool, unit_diagonal: bool) -> None:
        self.size, self.format, self.lower, self.unit_diagonal = size, format, lower, unit_diagonal
        self.last: _Factor | None = None

    def __call__(self, values: Array, first: Array, second: Array, b: Array) -> Array:
        if not b.size:
            return b
        arrays = values, first, second
        last = self.last
        if last is None or any(held() is not array for held, array in zip(last.arrays, arrays, strict=True)):
            # The factor is dropped when the values from which it was made are freed.
            refs = ref(values, self._forget), ref(first), ref(second)
            last = self.last = _Factor(refs, self._factor(*arrays))
        return last.solve(b)

    def _forget(self, values: object) -> None:
        last = self.last
        if last is not None and last.arrays[0]() is None:
            self.last = None

    def _factor(self, values: Array, first: Array, second: Array) -> Kernel:
        """A kernel that solves systems with a matrix."""
        import numpy
        from scipy import sparse
        from scipy.sparse import linalg

        rows, columns = clipped_places(first, second, self.format, (self.size, self.size))
        strict = rows > columns if self.lower else rows < columns
        used = strict if self.unit_diagonal else strict | (rows == columns)
        data, rows, columns = values[used], rows[used], columns[used]
        if self.unit_diagonal:
            every = numpy.arange(self.size)
            data = numpy.concatenate([data, numpy.ones(self.size, data.dtype)])
            rows, columns = numpy.concatenate([rows, every]), numpy.concatenate([columns, every])
        shape = (self.size, self.size)
        matrix = sparse.coo_array((data, (rows, columns)), shape=shape).tocsc()  # `tocsc` adds up values at one place
        if (matrix.diagonal() == 0).any():
            raise singular_matrix()
        if not numpy.isfinite(matrix.data).all():
            # SuperLU chooses pivots by size, which NaN does not have.
            return lambda b: linalg.spsolve_triangular(matrix, b, lower=self.lower).astype(b.dtype, copy=False)
        factor = linalg.splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"Equil": False})
        return lambda b: factor.solve(numpy.asarray(b, order="F"))
