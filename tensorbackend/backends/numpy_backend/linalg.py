"""Linear algebra with quick looks at the data, by which the common case needs no care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...rules.data_errors import not_positive_definite
from ...template import Template, intern_template
from ..array_module.base import Array
from ..array_module.linalg import ArrayLinalg, product_space
from ..array_module.precision import computing, promoted, wide
from ..array_module.space import brought, lapack


def _matmul_space(out: Template, x1: Template, x2: Template, /) -> int:
    left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
    return brought(out.dtype, *(x for x in (x1, x2) if x.dtype is not out.dtype)) + product_space(
        left, right, out.size, x1.shape[-1]
    )


class NumpyLinalg(ArrayLinalg):
    """Linear algebra on stacks of matrices."""

    def fixed(self, make: Callable[[], Array]) -> Callable[[], Array]:
        """The array made once."""
        made = make()
        return lambda: made

    def finite_only(self, kernel: Kernel, x: Template, axes: Sequence[int | None], *, lower: bool = False) -> Kernel:
        """The kernel itself where a look finds nothing but finite numbers."""
        isfinite, count, size = self.xp.isfinite, self.xp.count_nonzero, x.size
        careful = super().finite_only(kernel, x, axes, lower=lower)

        def factors(matrix: Array, *rest: Array) -> Any:
            return kernel(matrix, *rest) if count(isfinite(matrix)) == size else careful(matrix, *rest)

        return factors

    @takes(_matmul_space)
    @planned
    def matmul(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's own, which broadcasts the leading axes."""
        left, right = (x.replace(dtype=out.dtype) for x in (x1, x2))
        if len(x1.shape) == 1:
            left = _matrix(left, (1, *x1.shape))
        if len(x2.shape) == 1:
            right = _matrix(right, (*x2.shape, 1))
        product = self.matrix_product(left, right)
        if product is not self.xp.matmul and (len(x1.shape) == 1 or len(x2.shape) == 1):
            matrices, first, second = product, left.shape, right.shape
            product = lambda a, b: matrices(a.reshape(first), b.reshape(second)).reshape(out.shape)  # noqa: E731
        return promoted(self, out.dtype, product, out, x1, x2)

    @takes(lapack)
    @planned
    def cholesky(self, out: Template, x: Template, /) -> Kernel:
        """NumPy reads the lower half alone, whose elements that are not finite show in the factor, or fail."""
        cholesky, failure = self.xp.linalg.cholesky, self.xp.linalg.LinAlgError
        isfinite, count, size = self.xp.isfinite, self.xp.count_nonzero, x.size

        def factor(matrix: Array) -> Array:
            try:
                found = cholesky(matrix)
            except failure:
                raise not_positive_definite() from None
            if count(isfinite(found)) != size:
                raise not_positive_definite()
            return found

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

        return promoted(self, out[0].dtype, parts, out, x)


def _matrix(x: Template, shape: tuple[int, ...]) -> Template:
    return intern_template(shape, x.dtype, (None, None))
