"""Triangular systems of sparse matrices by SciPy's SuperLU, where it is installed.

A triangular matrix is its own factor. SuperLU orders it once, in some 10 ms for 30,000 entries, and then solves a
system in 0.2 ms; a preconditioner solves hundreds with the same values.
"""

from __future__ import annotations

from importlib.util import find_spec
from math import prod
from typing import Any, NamedTuple
from weakref import ref

from ....ops.composite.linalg.sparse import Format
from ....protocol import Kernel, planned
from ....rules.data_errors import singular_matrix
from ....template import Template
from ...array_module.base import Array, ArrayBase
from ...array_module.precision import promoting_kernel
from .sparse import clipped_places


class NumpySubstitution(ArrayBase):
    """Systems with a matrix of which only some entries are stored."""

    if find_spec("scipy") is not None:  # else the default runs

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
