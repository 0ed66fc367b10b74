"""Eigenvalues, singular values and QR by LAPACK; a few steps in place then fix the signs and the order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite, sqrt
from typing import Literal

from ....interchange import numpy_dtype
from ....protocol import Kernel, kernel_of, planned
from ....protocol.workspace import takes
from ....rules.broadcasting import to_real
from ....template import Template
from ...array_module.base import NARROW, Array
from ...array_module.linalg.factorisations import nearly_largest
from ...array_module.precision import computing_kernel, promoting_kernel, wide
from ...array_module.workspace_bytes import brought, eigh_space, float32_copy_bytes, lapack, qr_space, svd_space
from .elimination import NumpyElimination


def _singular_space(out: Template | Sequence[Template], x: Template, /, *others: Template) -> int:
    """The bytes of a singular value decomposition without full matrices, and then of a product of its factors."""
    outs = (out,) if isinstance(out, Template) else out
    *batch, rows, columns = x.shape
    dtype, rank = wide(outs[0].dtype), min(rows, columns)
    shapes = (*batch, rows, rank), (*batch, rank), (*batch, rank, columns)
    factors = [Template(shape, part) for shape, part in zip(shapes, (dtype, to_real(dtype), dtype), strict=True)]
    held, results = sum(factor.nbytes for factor in factors), sum(template.nbytes for template in outs)
    decomposed = lapack(factors, x.replace(dtype=dtype)) + held - results
    return brought(dtype, x, *others) + float32_copy_bytes(*outs) + max(decomposed, held + factors[2].nbytes)


class NumpyLinalg(NumpyElimination):
    """Linear algebra on stacks of matrices."""

    def _real(self, careful: Kernel, quick: Kernel, x: Template) -> Kernel:
        """The kernel `quick` for real matrices whose elements are all finite, `careful` for any others.

        For small matrices each step after LAPACK counts, so a quick kernel has few. It changes the factors in place.
        """
        if x.dtype.is_complex or x.dtype in NARROW or not x.size:
            return careful
        vdot = self.xp.vdot
        return lambda matrix: quick(matrix) if isfinite(vdot(matrix, matrix)) else careful(matrix)

    def _largest_components(self, vectors: Template) -> Kernel:
        """A kernel that returns the indices of the largest component of each column: those of `column_phases`."""
        xp, (*batch, _, columns) = self.xp, vectors.shape
        absolute, maximum = xp.absolute, xp.maximum.reduce
        nearly, (*every, across) = nearly_largest(xp, wide(vectors.dtype)), xp.indices((*batch, columns), sparse=True)

        def components_of_matrix(values: Array) -> tuple[Array, ...]:
            sizes = absolute(values)
            return (sizes >= maximum(sizes) * nearly).argmax(0), across

        def components_of_stack(values: Array) -> tuple[Array, ...]:
            sizes = absolute(values)
            return *every, (sizes >= maximum(sizes, -2, None, None, True) * nearly).argmax(-2), across

        return components_of_stack if batch else components_of_matrix

    def _column_signs(self, vectors: Template) -> Kernel:
        """A kernel of the sign of each column's largest component, for real matrices: [..][n][m] -> [..][m]."""
        copysign, one = self.xp.copysign, numpy_dtype(wide(vectors.dtype)).type(1)
        largest = self._largest_components(vectors)
        if vectors.ndim == 2:  # quicker than to look up pairs of indices
            return lambda values: copysign(one, values.take(largest(values)[0], 0).diagonal())
        return lambda values: copysign(one, values[largest(values)])

    @takes(qr_space)
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

    @takes(eigh_space)
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
        return self.xp.maximum.reduce(values, -2, None, None, True)

    # Eigenvalues of any matrix

    def _ascending_order(self, values: Template) -> Kernel:
        """A kernel of the indices of eigenvalues in the order of `eig`, after those of all their batch axes."""
        xp, (*every, _) = self.xp, self.xp.indices((*values.shape[:-1], 1), sparse=True)
        share, vdot, count = float(xp.finfo(numpy_dtype(values.dtype)).eps) ** 0.5, xp.vdot, xp.count_nonzero

        def indices(values: Array) -> tuple[Array, ...]:
            order = values.argsort(-1, "stable")  # by real parts, and where these are equal by imaginary parts
            real = values[(*every, order)].real
            gaps = real[..., 1:] - real[..., :-1]
            at_least_largest = sqrt(vdot(values, values).real)
            if count(gaps <= share * at_least_largest) + count(gaps) > gaps.size:  # some gap is small, but not zero
                order = self._ascending(values)
            return *every, order

        return indices

    @takes(lambda out, x: lapack(out, x, more=out[1].nbytes + out[1].nbytes // 2))
    @planned
    def eig(self, out: tuple[Template, Template], x: Template, /) -> Kernel:
        """The kernel of `ArrayLinalg` in fewer steps; where all eigenvalues are real, so are these steps."""
        if not x.shape[-1]:
            return kernel_of(super().eig, out, x)
        xp, eig, dtype = self.xp, self.xp.linalg.eig, numpy_dtype(out[0].dtype)
        ascending, largest = self._ascending_order(out[0]), self._largest_components(out[1])
        count, copysign, sign, absolute = xp.count_nonzero, xp.copysign, xp.sign, xp.absolute
        one = numpy_dtype(to_real(out[0].dtype)).type(1)

        def factors(matrix: Array) -> tuple[Array, Array]:
            values, vectors = eig(matrix)
            order = ascending(values)
            vectors = vectors.swapaxes(-2, -1)[order].swapaxes(-2, -1)
            at = largest(vectors)
            components = vectors[at]
            if count(components.imag):
                vectors *= sign(components).conj()[..., None, :]
                vectors[at] = absolute(components)  # exactly real
            else:  # as LAPACK makes the largest component real, all but where two are nearly equal
                vectors *= copysign(one, components.real)[..., None, :]
            return values[order].astype(dtype, copy=False), vectors.astype(dtype, copy=False)

        return computing_kernel(self.finite_only(factors, x, (1, 2)), out, x)

    # Composites

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out.dtype))) + brought(out.dtype, x))
    @planned
    def eigvalsh(self, out: Template, x: Template, /) -> Kernel:
        """NumPy's `eigvalsh`, which reads only the lower half."""
        values = self.finite_only(self.xp.linalg.eigvalsh, x, (1,), lower=True)
        return promoting_kernel(self, x.dtype if x.dtype.is_complex else out.dtype, values, out, x)

    @takes(lambda out, x: lapack(out, x.replace(dtype=wide(out.dtype))) + brought(out.dtype, x))
    @planned
    def svdvals(self, out: Template, x: Template, /) -> Kernel:
        """Singular values without vectors."""
        values = self.finite_only(partial(self.xp.linalg.svd, compute_uv=False), x, (1,))
        return promoting_kernel(self, x.dtype if x.dtype.is_complex else out.dtype, values, out, x)

    @takes(_singular_space)
    @planned
    def pinv(self, out: Template, x: Template, rtol: Template, /) -> Kernel:
        """The pseudo-inverse by singular vectors as LAPACK returns them, since their signs cancel."""
        xp, is_complex = self.xp, out.dtype.is_complex
        factors, inverses = self._singular_factors(x), self._inverse_values(out, rtol)

        def pseudoinverse(matrix: Array, rtol: Array) -> Array:
            u, values, vh = factors(matrix)
            scaled = vh * inverses(values, rtol)[0][..., None]
            product = xp.matmul(scaled.swapaxes(-2, -1), u.swapaxes(-2, -1))
            return xp.conj(product, product) if is_complex else product

        return promoting_kernel(self, out.dtype, pseudoinverse, out, x, None)

    @takes(_singular_space)
    @planned
    def lstsq(self, out: tuple[Template, ...], a: Template, b: Template, rtol: Template, /) -> Kernel:
        """NumPy's `lstsq` for one matrix; for stacks, which it does not take, as `pinv`.

        NumPy replaces a negative `rtol` by the machine epsilon, and returns residuals only where the rank is full.
        """
        xp, is_complex, is_vector = self.xp, out[0].dtype.is_complex, b.ndim == 1
        matmul, vecdot, vdot, total = xp.matmul, xp.vecdot, xp.vdot, xp.add.reduce
        asarray, lstsq = xp.asarray, xp.linalg.lstsq
        factors, inverses = self._singular_factors(a), self._inverse_values(a.replace(dtype=out[0].dtype), rtol)

        def adjoint(matrix: Array) -> Array:
            transposed = matrix.swapaxes(-2, -1)
            return transposed.conj() if is_complex else transposed

        def residuals(matrix: Array, unknowns: Array, right: Array) -> Array:
            apart = matmul(matrix, unknowns) - right
            return asarray(vecdot(apart, apart, axis=-2 if apart.ndim > 1 else -1).real)

        def solution(matrix: Array, right: Array, rtol: Array) -> tuple[Array, ...]:
            right = right[:, None] if is_vector else right
            u, values, vh = factors(matrix)
            inverse, kept = inverses(values, rtol)
            unknowns = matmul(adjoint(vh), inverse[..., None] * matmul(adjoint(u), right))
            parts = unknowns, residuals(matrix, unknowns, right)
            unknowns, lengths = (part[..., 0] for part in parts) if is_vector else parts
            return unknowns, lengths, asarray(total(kept, -1, xp.int64)), values

        def solve_one(matrix: Array, right: Array, rtol: Array) -> tuple[Array, ...]:
            fraction = float(rtol.real)
            if not (fraction >= 0 and isfinite((vdot(matrix, matrix) + vdot(right, right)).real)):
                return solution(matrix, right, rtol)
            unknowns, _, rank, values = lstsq(matrix, right, fraction)
            return unknowns, residuals(matrix, unknowns, right), asarray(rank, xp.int64), values

        one = a.ndim == 2 and b.ndim <= 2 and rtol.ndim == 0 and 0 not in (*a.shape, *b.shape)
        return promoting_kernel(self, out[0].dtype, solve_one if one else solution, out, a, b, None)

    def _singular_factors(self, x: Template) -> Kernel:
        """A kernel of LAPACK's singular value decomposition, without full matrices."""
        return self.finite_only(partial(self.xp.linalg.svd, full_matrices=False), x, (2, 1, 2))

    def _inverse_values(self, matrix: Template, rtol: Template) -> Kernel:
        """A kernel of the inverses of descending singular values, 0 for those not kept, and of flags of those kept."""
        if not min(matrix.shape[-2:]):
            return lambda values, rtol: (values, values > 0)
        where, infinity, dtype = self.xp.where, self.xp.inf, numpy_dtype(to_real(wide(matrix.dtype)))
        one, is_complex = dtype.type(1), rtol.dtype.is_complex

        def inverses(values: Array, rtol: Array) -> tuple[Array, Array]:
            rtol = (rtol.real if is_complex else rtol).astype(dtype, copy=False)
            kept = values > rtol[..., None] * values[..., :1]
            return one / where(kept, values, infinity), kept

        return inverses
