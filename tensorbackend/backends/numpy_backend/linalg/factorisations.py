"""Linear algebra with quick checks of the data, so that the common case needs no further care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from ....dtypes import DType
from ....interchange import numpy_dtype
from ....protocol import Kernel, kernel_of, planned
from ....protocol.workspace import takes
from ....rules.data_errors import not_positive_definite
from ....template import Template
from ...array_module.base import NARROW, Array
from ...array_module.linalg.factorisations import ArrayLinalg, nearly_largest
from ...array_module.precision import computing, promoted, wide
from ...array_module.space import brought, lapack, svd_space


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

    def column_phases(self, vectors: Template) -> Kernel:
        """The kernel of `ArrayLinalg`, with fewer calls of NumPy for one real matrix."""
        if not _is_real_matrix(vectors):
            return super().column_phases(vectors)
        signs = self._column_signs(vectors.dtype)
        return lambda values: signs(values)[None]

    def _column_signs(self, dtype: DType) -> Kernel:
        """A kernel that gives the sign of the largest component of each column of a real matrix."""
        absolute, greatest, copysign = self.xp.absolute, self.xp.maximum.reduce, self.xp.copysign
        one, nearly = numpy_dtype(wide(dtype)).type(1), nearly_largest(self.xp, wide(dtype))

        def signs(values: Array) -> Array:
            size = absolute(values)
            firsts = (size >= greatest(size) * nearly).argmax(0)
            return copysign(one, values.take(firsts, 0).diagonal())

        return signs

    @takes(svd_space)
    @planned
    def svd(self, out: tuple[Template, Template, Template], x: Template, /, *, full_matrices: bool) -> Kernel:
        """The kernel of `ArrayLinalg`; for one real matrix in fewer steps, which take twice their time after LAPACK."""
        careful = kernel_of(super().svd, out, x, full_matrices=full_matrices)
        if not _is_real_matrix(x) or x.dtype in NARROW or out[0].shape[-1] != out[2].shape[-2]:
            return careful
        vdot, svd, signs_of = self.xp.vdot, self.xp.linalg.svd, self._column_signs(x.dtype)

        def factors(matrix: Array) -> Any:
            if not isfinite(vdot(matrix, matrix)):
                return careful(matrix)
            u, s, vh = svd(matrix, full_matrices)
            signs = signs_of(u)
            return u * signs, s, signs[:, None] * vh

        return factors

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


def _is_real_matrix(x: Template) -> bool:
    return x.ndim == 2 and x.size > 0 and not x.dtype.is_complex
