"""Factorisations and solvers of linear systems; narrow floats are computed in float32.

Factors are unique only up to signs, or phases if they are complex. Each callback fixes these as the protocol says, so
that every backend returns the same factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import mul
from typing import Any, Literal

from ....dtypes import DType
from ....interchange import numpy_dtype
from ....protocol import Kernel, planned
from ....protocol.linalg import Transform
from ....protocol.workspace import takes
from ....rules.data_errors import not_positive_definite, singular_matrix
from ....template import Template
from ..base import Array, ArrayBase
from ..precision import computing_kernel, promoting_kernel, wide
from ..workspace_bytes import brought, eigh_space, float32_copy_bytes, lapack, nbytes, qr_space, svd_space
from .elimination import eliminate, eliminate_columns, substitute


class ArrayLinalg(ArrayBase):
    """Linear algebra on stacks of matrices."""

    # Arrays that do not depend on data

    def fixed(self, make: Callable[[], Array]) -> Callable[[], Array]:
        """A function that returns an array which a kernel needs and which does not depend on data. By default it makes
        the array at each call."""
        return make

    # Factorisations

    @planned
    def cholesky(self, out: Template, x: Template, /) -> Kernel:
        """Lower factor of a Hermitian positive definite matrix."""
        xp, cholesky, failure = self.xp, self.xp.linalg.cholesky, self.xp.linalg.LinAlgError

        def factor(matrix: Array) -> Array:
            matrix = xp.tril(matrix)
            if not xp.isfinite(matrix).all():
                raise not_positive_definite()
            try:
                return cholesky(matrix)
            except failure:
                raise not_positive_definite() from None

        return computing_kernel(factor, out, x)

    @takes(lambda out, x: (float32_copy_bytes(x, *out) or 2 * x.nbytes) + 24 * math.prod(x.shape[:-1]))
    @planned
    def lu(self, out: tuple[Template, Template, Template], x: Template, /) -> Kernel:
        """The permutation, the lower factor with unit diagonal, and the upper factor."""
        xp, eliminated, (rows, rank), shape = self.xp, self.elimination(x), out[1].shape[-2:], out[2].shape[-2:]
        dtype = numpy_dtype(wide(x.dtype))
        unit = self.fixed(lambda: xp.eye(rows, rank, dtype=bool))
        below = self.fixed(lambda: xp.tril(xp.ones((rows, rank), bool), -1))
        above = self.fixed(lambda: xp.triu(xp.ones(shape, bool)))
        places, zero = self.fixed(lambda: xp.arange(rows)[:, None]), dtype.type(0)

        def factors(matrix: Array) -> tuple[Array, Array, Array]:
            both, order = eliminated(matrix)
            permutation = (order[..., None, :] == places()).astype(dtype)
            lower = xp.where(below(), both[..., :rank], unit())
            return permutation, lower, xp.where(above(), both[..., :rank, :], zero)

        return computing_kernel(self.finite_only(factors, x, (2, 2, 2)), out, x)

    def elimination(self, x: Template) -> Kernel:
        """A kernel of Gaussian elimination with partial pivoting: both factors in one array, and the order of rows."""
        return partial(eliminate, self.xp, partial(eliminate_columns, self.xp))

    @takes(qr_space)
    @planned
    def qr(self, out: tuple[Template, Template], x: Template, /, *, mode: Literal["reduced", "complete"]) -> Kernel:
        """x = Q @ R with R's diagonal non-negative."""
        xp, qr, rank, shape = self.xp, self.xp.linalg.qr, min(x.shape[-2:]), out[1].shape[-2:]
        complete, is_complex = out[0].shape[-1] > rank, x.dtype.is_complex
        on_diagonal = self.fixed(lambda: xp.eye(*shape, dtype=bool))  # where R is exactly real
        above, phases = self.fixed(lambda: xp.triu(xp.ones(shape, bool))), _phases(xp, x)
        zero = numpy_dtype(wide(x.dtype)).type(0)

        def factors(matrix: Array) -> tuple[Array, Array]:
            q, r = qr(matrix, mode=mode)
            phase = phases(xp.diagonal(r, axis1=-2, axis2=-1))
            columns, rows = phase[..., None, :], (xp.conj(phase) if is_complex else phase)[..., None]
            if complete:
                q = xp.concatenate((q[..., :rank] * columns, q[..., rank:]), axis=-1)
                r = xp.concatenate((r[..., :rank, :] * rows, r[..., rank:, :]), axis=-2)
            else:
                q, r = q * columns, r * rows
            r = xp.where(above(), r, zero)  # no signs on the zeros below the diagonal
            return q, xp.where(on_diagonal(), xp.abs(r), r) if is_complex else r

        return computing_kernel(self.finite_only(factors, x, (2, 2)), out, x)

    @takes(eigh_space)
    @planned
    def eigh(self, out: tuple[Template, Template], x: Template, /) -> Kernel:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix."""
        factors, turned = self.factors_of_eigh(), self.phase_kernel(out[1])
        turn: Kernel = lambda values, vectors: (values, turned(vectors))  # noqa: E731 # next to its use
        return computing_kernel(self.finite_only(factors, x, (1, 2), lower=True, then=turn), out, x)

    def factors_of_eigh(self) -> Callable[[Array], tuple[Array, Array]]:
        """The module's function, which reads only the lower half."""
        eigh: Callable[[Array], tuple[Array, Array]] = self.xp.linalg.eigh
        return eigh

    @takes(lambda out, x: lapack(out, x, more=4 * out[1].nbytes))
    @planned
    def eig(self, out: tuple[Template, Template], x: Template, /) -> Kernel:
        """Eigenvalues, in a fixed order, and eigenvectors of a square matrix."""
        xp, eig, dtype, turned = self.xp, self.xp.linalg.eig, numpy_dtype(out[0].dtype), self.phase_kernel(out[1])

        def factors(matrix: Array) -> tuple[Array, Array]:
            values, vectors = (factor.astype(dtype, copy=False) for factor in eig(matrix))
            order = self._ascending(values)
            values = xp.take_along_axis(values, order, axis=-1)
            return values, turned(xp.take_along_axis(vectors, order[..., None, :], axis=-1))

        return computing_kernel(self.finite_only(factors, x, (1, 2)), out, x)

    @takes(svd_space)
    @planned
    def svd(self, out: tuple[Template, Template, Template], x: Template, /, *, full_matrices: bool) -> Kernel:
        """x = U @ diag(s) @ Vh with s descending."""
        xp, svd, rank = self.xp, self.xp.linalg.svd, min(x.shape[-2:])
        phases, turned, more = self.column_phases(out[0]), _divide_by_phases(xp, out[0]), out[2].shape[-2] > rank
        all_paired = x.ndim == 2 and out[0].shape[-1] == out[2].shape[-2]

        def turn(u: Array, s: Array, vh: Array) -> tuple[Array, Array, Array]:
            phase = phases(u)
            if all_paired:
                return turned(u, phase), s, phase.T * vh
            paired = xp.swapaxes(phase[..., :rank], -2, -1) * vh[..., :rank, :]
            vh = xp.concatenate((paired, vh[..., rank:, :]), axis=-2) if more else paired
            return turned(u, phase), s, vh

        factors = partial(svd, full_matrices=full_matrices)
        return computing_kernel(self.finite_only(factors, x, (2, 1, 2), then=turn), out, x)

    # Systems of equations

    @takes(
        lambda out, a, b, **options: (
            float32_copy_bytes(a, b) + nbytes(out.size, wide(out.dtype)) + float32_copy_bytes(out)
        )
    )
    @planned
    def triangular_solve(
        self, out: Template, a: Template, b: Template, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Kernel:
        """x with a @ x = b, or x @ a = b unless `left_side`; a zero on the diagonal makes `a` singular."""
        xp = self.xp
        # x @ a = b is a.T @ x.T = b.T.
        transposed = (transform == "transpose") == left_side
        forward = lower != transposed

        def solution(matrix: Array, right: Array) -> Array:
            if not xp.diagonal(matrix, axis1=-2, axis2=-1).all():
                raise singular_matrix()
            matrix = xp.swapaxes(matrix, -2, -1) if transposed else matrix
            if left_side:
                return substitute(xp, matrix, right, forward)
            return xp.swapaxes(substitute(xp, matrix, xp.swapaxes(right, -2, -1), forward), -2, -1)

        return computing_kernel(solution, out, a, b)

    # Overrides of composites

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out.dtype))) + brought(out.dtype, x))
    @planned
    def determinant(self, out: Template, x: Template, /) -> Kernel:
        return promoting_kernel(self, out.dtype, self.finite_only(self.xp.linalg.det, x, (0,)), out, x)

    @takes(
        lambda out, a, b: lapack(out, *(x.replace(dtype=wide(out.dtype)) for x in (a, b))) + brought(out.dtype, a, b)
    )
    @planned
    def solve(self, out: Template, a: Template, b: Template, /) -> Kernel:
        """x with a @ x = b."""
        kernel = self.finite_only(self.or_singular(self.xp.linalg.solve), a, (min(len(b.shape), 2),))
        return promoting_kernel(self, out.dtype, kernel, out, a, b)

    def or_singular(self, kernel: Kernel) -> Kernel:
        """A kernel that raises this package's error for a singular matrix in place of the module's."""
        failure = self.xp.linalg.LinAlgError

        def solution(*arrays: Array) -> Array:
            try:
                return kernel(*arrays)
            except failure:
                raise singular_matrix() from None

        return solution

    # Matrices that are not finite: LAPACK raises for some, loops on others, and answers differently for the rest

    def finite_only(
        self, kernel: Kernel, x: Template, axes: Sequence[int], *, lower: bool = False, then: Kernel | None = None
    ) -> Kernel:
        """A kernel for stacks of any matrices, from one that is only right for finite matrices.

        For a matrix with NaN or infinity the results are NaN; with `lower` only the lower half is read. `axes` has the
        number of axes that each result has for one matrix. `then` takes the results of the kernel and returns others of
        the same shapes and dtypes.
        """
        xp, shape, kernel = self.xp, x.shape[-2:], chain_kernels(kernel, then)

        def factors(matrix: Array, *rest: Array) -> Any:
            matrix = xp.tril(matrix) if lower else matrix
            bad = ~xp.isfinite(matrix).all(axis=(-2, -1))
            identity = xp.eye(*shape, dtype=matrix.dtype)
            results = kernel(xp.where(bad[..., None, None], identity, matrix), *rest)
            if len(axes) == 1:
                return blank(xp, bad, results, axes[0])
            return tuple(blank(xp, bad, part, count) for part, count in zip(results, axes, strict=True))

        return factors

    # Signs and phases of vectors

    def phase_kernel(self, vectors: Template) -> Kernel:
        """A kernel that divides each column by the phase of its largest component, which becomes real and positive."""
        phases, turned = self.column_phases(vectors), _divide_by_phases(self.xp, vectors)
        return lambda values: turned(values, phases(values))

    def column_phases(self, vectors: Template) -> Kernel:
        """A kernel that returns the phase of each column's largest component: the first that is largest up to rounding.

        [1, -1] / sqrt(2) has two such components; which of them comes out larger by an ulp must not decide the sign.
        """
        xp, (rows, columns), dtype = self.xp, vectors.shape[-2:], wide(vectors.dtype)
        if not rows:
            shape = (*vectors.shape[:-2], 1, columns)
            return lambda values: xp.ones(shape, numpy_dtype(dtype))
        largest, first_row, nearly = self.largest, self.first_row, nearly_largest(xp, dtype)
        phases = _phases(xp, vectors)
        every = self.fixed(lambda: xp.arange(columns))

        def first(values: Array) -> Array:
            size = xp.abs(values)
            return first_row(size >= largest(size) * nearly)

        if vectors.ndim == 2:
            return lambda values: phases(values[first(values), every()])[None]
        return lambda values: phases(xp.take_along_axis(values, xp.expand_dims(first(values), -2), axis=-2))

    def largest(self, values: Array) -> Array:
        """The largest element of each column; the axis of the rows stays, with size 1."""
        return values.max(-2, keepdims=True)

    def first_row(self, flags: Array) -> Array:
        """The first row of each column in which the flag is true; there is at least one."""
        return flags.argmax(-2)

    # The order of eigenvalues

    def stable_order(self, values: Array) -> Array:
        """The indices that sort along the last axis; equal elements keep their order."""
        return self.xp.argsort(values, axis=-1, kind="stable")

    def _ascending(self, values: Array) -> Array:
        """The indices that sort eigenvalues by real parts (equal up to rounding), then by imaginary parts."""
        xp, stable_order = self.xp, self.stable_order
        if not values.size:
            return xp.argsort(values.real, axis=-1)
        apart = xp.max(xp.abs(values), axis=-1, keepdims=True) * xp.finfo(values.dtype).eps ** 0.5
        order = stable_order(values.real)
        ordered = xp.take_along_axis(values, order, axis=-1)
        group = xp.cumulative_sum(xp.diff(ordered.real, axis=-1) > apart, axis=-1, include_initial=True)
        within = stable_order(ordered.imag)
        within = xp.take_along_axis(within, stable_order(xp.take_along_axis(group, within, -1)), -1)
        return xp.take_along_axis(order, within, axis=-1)


def nearly_largest(xp: Any, dtype: DType) -> Any:
    """The share of the largest magnitude from which a component of a vector counts as the largest."""
    limits = xp.finfo(numpy_dtype(dtype))
    return limits.dtype.type(1 - limits.eps**0.5)


def chain_kernels(kernel: Kernel, then: Kernel | None) -> Kernel:
    """A kernel with several results, followed by the kernel `then`, which takes them."""
    return kernel if then is None else lambda *payloads: then(*kernel(*payloads))


def blank(xp: Any, bad: Array, part: Array, axes: int) -> Array:
    """A result with NaN for each bad matrix; the result has `axes` axes for one matrix."""
    return xp.where(bad.reshape(bad.shape + (1,) * axes), xp.asarray(math.nan, part.dtype), part)


# Signs and phases


def _phases(xp: Any, values: Template) -> Kernel:
    """A kernel that divides each number by its magnitude: the sign of a real number, and 1 for a complex zero."""
    one = numpy_dtype(wide(values.dtype)).type(1)
    if not values.dtype.is_complex:
        return lambda values: xp.copysign(one, values)

    def phases(values: Array) -> Array:
        size = xp.abs(values)
        return xp.where(size == 0, one, values / xp.where(size == 0, size.dtype.type(1), size))

    return phases


def _divide_by_phases(xp: Any, vectors: Template) -> Kernel:
    """A kernel that divides columns by their phases."""
    if not vectors.dtype.is_complex:
        return mul
    phases = _phases(xp, vectors)

    def divide(values: Array, phase: Array) -> Array:
        size = xp.abs(values)
        return xp.where((size > 0) & (phases(values) == phase), size, values * xp.conj(phase))

    return divide
