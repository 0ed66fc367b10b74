"""Linear algebra with quick checks of the data, so that the common case needs no further care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from ....interchange import numpy_dtype
from ....protocol import Kernel, planned
from ....protocol.workspace import takes
from ....rules.data_errors import not_positive_definite
from ....template import Template, intern_template
from ...array_module.base import Array
from ...array_module.linalg.factorisations import ArrayLinalg, chained, nearly_largest
from ...array_module.precision import computing, promoted, wide
from ...array_module.space import brought, lapack


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
        kernel = chained(kernel, then)
        vdot, careful = self.xp.vdot, super().finite_only(kernel, x, axes, lower=lower)

        def factors(matrix: Array, *rest: Array) -> Any:
            # One pass, and quicker than asking each number. For numbers too large to be squared it says no as well.
            return kernel(matrix, *rest) if isfinite(vdot(matrix, matrix).real) else careful(matrix, *rest)

        return factors

    def column_phases(self, vectors: Template) -> Kernel:
        """The kernel of `ArrayLinalg`, with fewer calls of NumPy for one real matrix."""
        xp, (rows, columns), dtype = self.xp, vectors.shape[-2:], wide(vectors.dtype)
        if vectors.ndim != 2 or dtype.is_complex or not rows:
            return super().column_phases(vectors)
        absolute, greatest, copysign = xp.absolute, xp.maximum.reduce, xp.copysign
        one, nearly, every = numpy_dtype(dtype).type(1), nearly_largest(xp, dtype), xp.arange(columns)

        def phases(values: Array) -> Array:
            size = absolute(values)
            return copysign(one, values[(size >= greatest(size) * nearly).argmax(0), every])[None]

        return phases

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


def _matrix(x: Template, shape: tuple[int, ...]) -> Template:
    return intern_template(shape, x.dtype, (None, None))
