"""Contractions, factorisations, solvers; the narrow floats are computed in float32.

Factors are unique only up to signs, or phases for complex matrices. Each callback fixes these as the protocol says, so
every backend returns the same factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Literal

from tensorbackend import Template
from tensorbackend.annotations import Ints
from tensorbackend.dtypes import float32
from tensorbackend.extending import BroadcastPairs, broadcast_pairs, not_positive_definite, singular_matrix
from tensorbackend.protocol.linalg import Transform

from .complex_functions import all_finite
from .kernels import Function, TorchBase, kernel, kernel_planned, multiplying
from .library import torch
from .products import TERMS_IN_PARTS, contracted, matrix_product
from .ways import NARROW, Array, bits_of, wide


class TorchLinalg(TorchBase):
    """Linear algebra on stacks of matrices."""

    @multiplying
    @kernel(unsigned="bits", narrow="float32")
    def dot(
        self, out: Template, x1: Array, x2: Array, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
    ) -> Array:
        """One matrix product: axes merged into (batch, free, contracted) and (batch, contracted, free)."""
        return contracted(x1, x2, (contract1, contract2), (batch1, batch2))

    @multiplying
    @kernel_planned(unsigned="own")
    def matmul(self, out: Template, x1: Template, x2: Template) -> Function:
        """PyTorch's function for float64 and for short float32, otherwise `matrix_product` with vectors as matrices.

        Where PyTorch would repeat an operand, or read it again for each of many small matrices, axes are paired
        as in `dot`.
        """
        of_library = out.dtype.is_floating and out.dtype not in NARROW
        pairs = _pairs(x1, x2)
        short = out.dtype is not float32 or x1.shape[-1] < TERMS_IN_PARTS
        if pairs is None and x1.dtype is x2.dtype is out.dtype and of_library and short:
            return torch.matmul
        casts = x1.dtype is not out.dtype or x2.dtype is not out.dtype or not of_library

        def product(left: Array, right: Array) -> Array:
            if casts:
                left, right = (bits_of(wide(self.cast(x, out), out.dtype)) for x in (left, right))
            if pairs is not None:
                left, right = (x.squeeze(axes) for x, axes in zip((left, right), pairs.dropped, strict=True))
                found = contracted(left, right, pairs.contract, pairs.batch)
                return found if pairs.order is None else found.permute(pairs.order)
            left, right = left[None] if left.ndim == 1 else left, right[:, None] if right.ndim == 1 else right
            return matrix_product(left, right).reshape(out.shape)

        return product

    @kernel(narrow="float32")
    def cholesky(self, out: Template, x: Array) -> Array:
        """Lower factor of a Hermitian positive definite matrix."""
        matrix = torch.tril(x)
        factor: Array
        factor, failed = torch.linalg.cholesky_ex(matrix)
        if not torch.isfinite(matrix).all() or failed.any():
            raise not_positive_definite()
        return factor

    @kernel(narrow="float32")
    def lu(self, out: tuple[Template, Template, Template], x: Array) -> tuple[Array, ...]:
        """Permutation, unit lower and upper factor."""
        matrix, bad = _finite(x)
        return _results(torch.linalg.lu(matrix), bad)

    @kernel(narrow="float32")
    def qr(
        self, out: tuple[Template, Template], x: Array, *, mode: Literal["reduced", "complete"]
    ) -> tuple[Array, ...]:
        """x = Q @ R with R's diagonal non-negative."""
        rank = min(x.shape[-2:])
        matrix, bad = _finite(x)
        q, r = torch.linalg.qr(matrix, mode)
        phase = _phase(r.diagonal(dim1=-2, dim2=-1))
        q = torch.cat((q[..., :rank] * phase[..., None, :], q[..., rank:]), -1)
        r = torch.cat((r[..., :rank, :] * phase.conj_physical()[..., :, None], r[..., rank:, :]), -2)
        square = torch.eye(*r.shape[-2:], dtype=torch.bool, device=self.place)
        return _results((q, torch.where(square, torch.abs(r).to(r.dtype), torch.triu(r))), bad)  # exactly real

    @kernel(narrow="float32")
    def eigh(self, out: tuple[Template, Template], x: Array) -> tuple[Array, ...]:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix."""
        matrix, bad = _finite(torch.tril(x))
        values, vectors = torch.linalg.eigh(matrix, UPLO="L")
        return _results((values, _turned(vectors)), bad)

    @kernel(narrow="float32")
    def eig(self, out: tuple[Template, Template], x: Array) -> tuple[Array, ...]:
        """Eigenvalues, in a fixed order, and eigenvectors of a square matrix."""
        matrix, bad = _finite(x)
        values, vectors = torch.linalg.eig(matrix)
        order = _ascending(values)
        values = torch.take_along_dim(values, order, -1)
        vectors = torch.take_along_dim(vectors, order[..., None, :], -1)
        return _results((values, _turned(vectors)), bad)

    @kernel(narrow="float32")
    def svd(self, out: tuple[Template, Template, Template], x: Array, *, full_matrices: bool) -> tuple[Array, ...]:
        """x = U @ diag(s) @ Vh with s descending."""
        rank = min(x.shape[-2:])
        matrix, bad = _finite(x)
        u, s, vh = torch.linalg.svd(matrix, full_matrices=full_matrices)
        phase = _column_phase(u)
        paired = phase[..., :rank].mT * vh[..., :rank, :]
        return _results((_turned(u), s, torch.cat((paired, vh[..., rank:, :]), -2)), bad)

    @kernel(narrow="float32")
    def triangular_solve(
        self, out: Template, a: Array, b: Array, *, left_side: bool, lower: bool, transform: Transform
    ) -> Array:
        """x with a @ x = b, or x @ a = b unless `left_side`; raises if the diagonal of a has a zero."""
        if not a.diagonal(dim1=-2, dim2=-1).all():
            raise singular_matrix()
        if transform == "transpose":
            a, lower = a.mT, not lower
        solution: Array = torch.linalg.solve_triangular(a, b, upper=not lower, left=left_side)
        return solution

    # Overrides of composites

    @kernel(unsigned="own")
    def determinant(self, out: Template, x: Array) -> Array:
        """Determinant of square matrices."""
        matrix, bad = _finite(wide(self.cast(x, out), out.dtype))
        return _results((torch.linalg.det(matrix),), bad)[0]

    @kernel(unsigned="own")
    def solve(self, out: Template, a: Array, b: Array) -> Array:
        """x with a @ x = b."""
        matrix, bad = _finite(wide(self.cast(a, out), out.dtype))
        right = wide(self.cast(b, out), out.dtype)
        vector = right.ndim == 1
        right = right[:, None] if vector else right
        # PyTorch would take a matrix for a stack of vectors where the sizes allow it.
        batch = torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        solution, failed = torch.linalg.solve_ex(matrix, right.expand(*batch, *right.shape[-2:]))
        if failed.any():
            raise singular_matrix()
        return _results((solution[..., 0] if vector else solution,), bad)[0]


# Matrices that are not finite: LAPACK loops on some, and answers differently for the rest


def _finite(matrix: Array) -> tuple[Array, Array | None]:
    """Replaces matrices with NaN or infinity by identities; also returns a mask of them, `None` if there are none."""
    if all_finite(matrix):
        return matrix, None
    bad = torch.isfinite(matrix).logical_not().any(-1).any(-1)
    if not bad.any():
        return matrix, None
    identity = torch.eye(*matrix.shape[-2:], dtype=matrix.dtype, device=matrix.device)
    return torch.where(bad[..., None, None], identity, matrix), bad


def _results(parts: Sequence[Array], bad: Array | None) -> tuple[Array, ...]:
    """Returns the parts of a factorisation, with NaN for matrices that are not finite."""
    if bad is None:
        return tuple(parts)
    return tuple(
        torch.where(bad.reshape((*bad.shape, *[1] * (part.ndim - bad.ndim))), math.nan, part).to(part.dtype)
        for part in parts
    )


def _pairs(x1: Template, x2: Template) -> BroadcastPairs | None:
    """How to pair the axes of stacks of matrices; `None` where PyTorch's `matmul` copies no operand and reads none
    often."""
    leading1, leading2 = x1.shape[:-2], x2.shape[:-2]
    repeated2 = leading1 != leading2 and prod(leading1) > 1
    repeated1 = leading1 != leading2 and prod(leading2) > 1
    if not (repeated1 or repeated2) or min(x1.ndim, x2.ndim) == 1:
        return None
    if x2.ndim == 2 or (prod(leading1) == 1 and x2.shape[-1] >= _COLUMNS):
        return None
    axes = x1.ndim - 1, x2.ndim - 2
    return broadcast_pairs(x1, x2, axes, (range(x1.ndim - 2), range(x2.ndim - 2)))


_COLUMNS = 32
"""From this number of columns on, a product for each matrix takes no longer than a copy of all."""


def _phase(values: Array) -> Array:
    """Returns each number divided by its magnitude, or 1 for zero; for a real number, its sign."""
    size = torch.abs(values)
    return torch.where(size == 0, 1, values / torch.where(size == 0, 1, size))


def _column_phase(vectors: Array) -> Array:
    """Return the phase of the largest component of each column; of components that differ by rounding, of the first.

    Both components of [1, -1] / sqrt(2) have the same size. Rounding must not decide which of them sets the sign.
    """
    if not vectors.numel():
        return vectors.new_ones((*vectors.shape[:-2], 1, vectors.shape[-1]))
    size = torch.abs(vectors)
    near = size >= size.amax(-2, keepdim=True) * (1 - torch.finfo(size.dtype).eps ** 0.5)
    first = torch.argmax(near.to(torch.uint8), -2, keepdim=True)
    return _phase(torch.take_along_dim(vectors, first, -2))


def _turned(vectors: Array) -> Array:
    """Turns each column so that its largest component is exactly real and positive."""
    phase = _column_phase(vectors)
    turned = vectors * phase.conj_physical()
    if not turned.is_complex():
        return turned
    size = torch.abs(vectors)
    return torch.where((size > 0) & (_phase(vectors) == phase), size.to(turned.dtype), turned)


def _ascending(values: Array) -> Array:
    """Return the order of eigenvalues by their real parts. Parts that differ by rounding count as equal."""
    if not values.numel():
        return torch.zeros(values.shape, dtype=torch.int64, device=values.device)
    order = torch.sort(torch.real(values), stable=True).indices
    ordered = torch.take_along_dim(values, order, -1)
    apart = torch.abs(values).amax(-1, keepdim=True) * torch.finfo(values.dtype).eps ** 0.5
    steps = torch.diff(torch.real(ordered)) > apart
    group = (
        torch.cat((torch.zeros_like(steps[..., :1], dtype=torch.int64), steps.cumsum(-1)), -1)
        if steps.numel()
        else (torch.zeros(values.shape, dtype=torch.int64, device=values.device))
    )
    by_imaginary = torch.sort(torch.imag(ordered), stable=True).indices
    by_group = torch.sort(torch.take_along_dim(group, by_imaginary, -1), stable=True).indices
    return torch.take_along_dim(order, torch.take_along_dim(by_imaginary, by_group, -1), -1)
