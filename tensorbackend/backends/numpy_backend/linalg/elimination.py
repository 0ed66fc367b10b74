"""Elimination and triangular systems, with quick checks of the data, so that the common case needs no further care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite, prod
from typing import Any

from ....interchange import numpy_dtype
from ....protocol import Kernel, kernel_of, planned
from ....protocol.linalg import Transform
from ....protocol.workspace import takes
from ....rules.data_errors import not_positive_definite
from ....template import Template
from ...array_module.base import NARROW, Array
from ...array_module.linalg.elimination import eliminate
from ...array_module.linalg.factorisations import ArrayLinalg
from ...array_module.precision import computing_kernel, promoting_kernel, wide
from ...array_module.workspace_bytes import brought, float32_copy_bytes, lapack, nbytes

_PANEL = 64
"""The number of unknowns of a triangular system that LAPACK finds at once; the rest is matrix products."""

_MOST_MATRICES_ONE_BY_ONE = 8
"""The number of matrices up to which LAPACK, one at a time, is quicker than substitution, each step for all of them."""


def _triangular_space(out: Template, a: Template, b: Template, /, **options: object) -> int:
    """The bytes of one block of `a` with zeros, and what LAPACK or a product takes for the unknowns of a block."""
    if not _uses_lapack(out):
        return float32_copy_bytes(a, b, out) + nbytes(out.size, wide(out.dtype))
    size = max(a.shape[-1], 1)
    count = min(size, _PANEL)
    block = a.replace(shape=(*a.shape[:-2], count, count), names=a.names)
    found = out.replace(shape=(out.size * count // size,), names=(None,))
    during = found.nbytes + lapack(found, block, found)
    return block.nbytes + (during - out.nbytes if size == count else max(during, found.nbytes + out.nbytes))


def _uses_lapack(out: Template) -> bool:
    """Whether LAPACK solves triangular systems with solutions of this template."""
    return out.dtype not in NARROW and out.size > 0 and prod(out.shape[:-2]) <= _MOST_MATRICES_ONE_BY_ONE


class NumpyElimination(ArrayLinalg):
    """Factors and solutions by elimination, of stacks of matrices."""

    def fixed(self, make: Callable[[], Array]) -> Callable[[], Array]:
        """A function that returns the same array at each call, made once."""
        array = make()
        return lambda: array

    def finite_only(
        self, kernel: Kernel, x: Template, axes: Sequence[int], *, lower: bool = False, then: Kernel | None = None
    ) -> Kernel:
        """The kernel itself where a quick check finds only finite numbers; else that of `ArrayLinalg`."""
        vdot, careful = self.xp.vdot, super().finite_only(kernel, x, axes, lower=lower, then=then)

        def factors(matrix: Array, *rest: Array) -> Any:
            # One pass, and quicker than asking each number. For numbers too large to be squared it says no as well.
            if not isfinite(vdot(matrix, matrix).real):
                return careful(matrix, *rest)
            results = kernel(matrix, *rest)
            return results if then is None else then(*results)

        return factors

    @takes(lapack)
    @planned
    def cholesky(self, out: Template, x: Template, /) -> Kernel:
        """NumPy's `cholesky`, which reads only the lower half: infinity or NaN there shows in the factor or fails."""
        cholesky, failure = self.xp.linalg.cholesky, self.xp.linalg.LinAlgError
        isfinite, count, size = self.xp.isfinite, self.xp.count_nonzero, x.size

        def factor(matrix: Array) -> Array:
            try:
                lower = cholesky(matrix)
            except failure:
                raise not_positive_definite() from None
            if count(isfinite(lower)) != size:
                raise not_positive_definite()
            return lower

        return computing_kernel(factor, out, x)

    def elimination(self, x: Template) -> Kernel:
        """That of `ArrayLinalg`, with fewer calls of NumPy for each column of a single matrix."""
        return partial(eliminate, self.xp, self._eliminate_matrix()) if x.ndim == 2 else super().elimination(x)

    def _eliminate_matrix(self) -> Kernel:
        """`treated_columns` for one matrix."""
        absolute = self.xp.absolute

        def eliminate(factors: Array, order: Array, start: int, stop: int) -> None:
            for k in range(start, min(stop, len(factors) - 1)):
                rest = factors[k:]
                pivot = int(absolute(rest[:, k]).argmax())
                if pivot:
                    for rows in rest, order[k:]:
                        row = rows[0].copy()
                        rows[0] = rows[pivot]
                        rows[pivot] = row
                diagonal = rest[0, k]
                if diagonal:
                    below = rest[1:]
                    column, right = below[:, k], below[:, k + 1 : stop]
                    column /= diagonal
                    right -= column[:, None] * rest[0, k + 1 : stop]

        return eliminate

    @takes(_triangular_space)
    @planned
    def triangular_solve(
        self, out: Template, a: Template, b: Template, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Kernel:
        """Solves few systems by LAPACK where all that is read, and the solution, are finite; others as `ArrayLinalg`.

        NumPy has only a function for any square matrix. It finds the pivots of an upper triangle on its diagonal, so
        that its elimination changes nothing, and then substitutes. A lower triangle is an upper one in reverse order.
        """
        careful = kernel_of(super().triangular_solve, out, a, b, left_side=left_side, lower=lower, transform=transform)
        if not _uses_lapack(out):
            return careful
        xp, vdot, solve = self.xp, self.xp.vdot, self.or_singular(self.xp.linalg.solve)
        transposed = (transform == "transpose") == left_side
        mirrored, size, dtype = lower != transposed, a.shape[-1], numpy_dtype(out.dtype)
        shape = out.shape if left_side else (*out.shape[:-2], *out.shape[:-3:-1])
        starts, at_once, zero = range(0, size, _PANEL)[::-1], size <= _PANEL, dtype.type(0)
        above = xp.triu(xp.ones((min(size, _PANEL),) * 2, bool))

        def substitute(matrix: Array, right: Array) -> Array | None:
            if not at_once:
                right, sides = xp.empty(shape, dtype), right
                right[...] = sides
            for start in starts:
                inside, before = slice(start, start + _PANEL), slice(0, start)
                block = matrix[..., inside, inside]
                count = block.shape[-1]
                block = xp.where(above[:count, :count], block, zero)
                found = solve(block, right[..., inside, :])
                if not isfinite(vdot(block, block).real + vdot(found, found).real):
                    return None
                if at_once:
                    return found
                right[..., inside, :] = found
                right[..., before, :] -= matrix[..., before, inside] @ found
            return right

        def solution(matrix: Array, right: Array) -> Array:
            triangle, sides = matrix, right
            if transposed:
                triangle = triangle.swapaxes(-2, -1)
            if not left_side:
                sides = sides.swapaxes(-2, -1)
            if mirrored:
                triangle, sides = triangle[..., ::-1, ::-1], sides[..., ::-1, :]
            found = substitute(triangle, sides)
            if found is None:
                return careful(matrix, right)
            if mirrored:
                found = found[..., ::-1, :]
            return found if left_side else found.swapaxes(-2, -1)

        return solution

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out.dtype))) + brought(out.dtype, x))
    @planned
    def inv(self, out: Template, x: Template, /) -> Kernel:
        """Inverse of square matrices."""
        inverse = self.finite_only(self.or_singular(self.xp.linalg.inv), x, (2,))
        return promoting_kernel(self, out.dtype, inverse, out, x)

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out[0].dtype))) + brought(out[0].dtype, x))
    @planned
    def slogdet(self, out: tuple[Template, Template], x: Template, /) -> Kernel:
        """Sign and logarithm of the magnitude of a determinant."""
        xp = self.xp
        kernel = self.finite_only(xp.linalg.slogdet, x, (0, 0))

        def parts(matrix: Array) -> tuple[Array, ...]:
            return tuple(map(xp.asarray, kernel(matrix)))

        def complex_parts(matrix: Array) -> tuple[Array, ...]:
            sign, logarithm = kernel(matrix)
            return xp.where(xp.isnan(sign), complex("nan+nanj"), sign), xp.asarray(logarithm)

        return promoting_kernel(self, out[0].dtype, complex_parts if x.dtype.is_complex else parts, out, x)
