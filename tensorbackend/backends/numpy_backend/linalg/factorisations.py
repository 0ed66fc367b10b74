"""Linear algebra with quick checks of the data, so that the common case needs no further care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, prod
from typing import Any, Literal

from ....interchange import numpy_dtype
from ....protocol import Kernel, kernel_of, planned
from ....protocol.workspace import takes
from ....rules.data_errors import not_positive_definite
from ....template import Template
from ...array_module.base import NARROW, Array
from ...array_module.linalg.factorisations import ArrayLinalg, nearly_largest
from ...array_module.precision import computing, promoted, wide
from ...array_module.space import brought, lapack, nbytes, svd_space, widened


class NumpyLinalg(ArrayLinalg):
    """Linear algebra on stacks of matrices."""

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

    def _real(self, careful: Kernel, quick: Kernel, x: Template) -> Kernel:
        """The kernel `quick` for real matrices whose elements are all finite, `careful` for any others.

        For small matrices each step after LAPACK counts, so a quick kernel has few. It changes the factors in place.
        """
        if x.dtype.is_complex or x.dtype in NARROW or not x.size:
            return careful
        vdot = self.xp.vdot
        return lambda matrix: quick(matrix) if isfinite(vdot(matrix, matrix)) else careful(matrix)

    def _column_signs(self, vectors: Template) -> Kernel:
        """A kernel that gives the sign of the largest component of each column of real matrices: [..][n][m] -> [..][m].

        The columns are those of `column_phases`.
        """
        xp, (*batch, rows, columns) = self.xp, vectors.shape
        absolute, greatest, copysign = xp.absolute, xp.maximum.reduce, xp.copysign
        dtype = wide(vectors.dtype)
        one, nearly = numpy_dtype(dtype).type(1), nearly_largest(xp, dtype)
        matrices, every = xp.arange(prod(batch))[:, None], xp.arange(columns)
        stack, firsts_of_stack, signs_of_stack = (-1, rows, columns), (-1, columns), (*batch, columns)

        def of_matrix(values: Array) -> Array:
            size = absolute(values)
            firsts = (size >= greatest(size) * nearly).argmax(0)
            return copysign(one, values.take(firsts, 0).diagonal())

        def of_stack(values: Array) -> Array:
            size = absolute(values)
            firsts = (size >= greatest(size, -2, None, None, True) * nearly).argmax(-2)
            largest = values.reshape(stack)[matrices, firsts.reshape(firsts_of_stack), every]
            return copysign(one, largest.reshape(signs_of_stack))

        return of_stack if batch else of_matrix

    @takes(lambda out, x, *, mode: lapack(out, x, more=3 * nbytes(out[1].size, wide(x.dtype)) + widened(x)))
    @planned
    def qr(self, out: tuple[Template, Template], x: Template, /, *, mode: Literal["reduced", "complete"]) -> Kernel:
        """The kernel of `ArrayLinalg`, with fewer steps for real matrices."""
        xp, qr, copysign, multiply = self.xp, self.xp.linalg.qr, self.xp.copysign, self.xp.multiply
        rank, one = min(x.shape[-2:]), numpy_dtype(wide(x.dtype)).type(1)
        above = xp.triu(xp.ones((rank, x.shape[-1]), bool))

        def factors(matrix: Array) -> tuple[Array, Array]:
            q, r = qr(matrix, mode)
            signs = copysign(one, r.diagonal(0, -2, -1))
            columns, rows = q[..., :rank], r[..., :rank, :]
            columns *= signs[..., None, :]
            multiply(rows, signs[..., None], rows, where=above)  # no signs on the zeros below the diagonal
            return q, r

        return self._real(kernel_of(super().qr, out, x, mode=mode), factors, x)

    @takes(lambda out, x: lapack(out, x, more=3 * nbytes(x.size, wide(x.dtype)) + 16 * out[0].size))
    @planned
    def eigh(self, out: tuple[Template, Template], x: Template, /) -> Kernel:
        """The kernel of `ArrayLinalg`, with fewer steps for real matrices."""
        eigh, signs_of = self.xp.linalg.eigh, self._column_signs(out[1])

        def factors(matrix: Array) -> tuple[Array, Array]:
            values, vectors = eigh(matrix)
            vectors *= signs_of(vectors)[..., None, :]
            return values, vectors

        return self._real(kernel_of(super().eigh, out, x), factors, x)

    @takes(svd_space)
    @planned
    def svd(self, out: tuple[Template, Template, Template], x: Template, /, *, full_matrices: bool) -> Kernel:
        """The kernel of `ArrayLinalg`, with fewer steps for real matrices."""
        svd, signs_of, rank = self.xp.linalg.svd, self._column_signs(out[0]), out[1].shape[-1]

        def factors(matrix: Array) -> tuple[Array, Array, Array]:
            u, s, vh = svd(matrix, full_matrices)
            signs = signs_of(u)
            u *= signs[..., None, :]
            paired = vh[..., :rank, :]
            paired *= signs[..., :rank, None]
            return u, s, vh

        return self._real(kernel_of(super().svd, out, x, full_matrices=full_matrices), factors, x)

    def largest(self, values: Array) -> Array:
        """Finds the largest by a ufunc."""
        maxima: Array = self.xp.maximum.reduce(values, -2, None, None, True)
        return maxima

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

        return computing(factor, out, x)

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out.dtype))) + brought(out.dtype, x))
    @planned
    def inv(self, out: Template, x: Template, /) -> Kernel:
        """Inverse of square matrices."""
        inverse = self.finite_only(self.or_singular(self.xp.linalg.inv), x, (2,))
        return promoted(self, out.dtype, inverse, out, x)

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

        return promoted(self, out[0].dtype, complex_parts if x.dtype.is_complex else parts, out, x)
