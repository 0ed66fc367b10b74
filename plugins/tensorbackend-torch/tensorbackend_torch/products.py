"""Products of stacks of matrices, in the dtype of these."""

from __future__ import annotations

from math import prod

from tensorbackend.annotations import Ints

from .complex_functions import formulas
from .library import torch
from .ways import Array

TERMS_IN_PARTS = 1 << 12
"""From this number of terms on, small products are computed in parts."""

_TERMS = 1 << 8
"""The number of terms of a part."""

_SMALL_ELEMENTS = 1 << 6
"""Up to this number of elements, a product is small. PyTorch computes larger ones block by block."""

_LIMB = 16
"""The width in bits of the limbs of wide integers; float64 holds sums of products of two limbs."""


def matrix_product(left: Array, right: Array) -> Array:
    """The product; integers wrap.

    Small integers are multiplied in float64 if it holds every possible sum of products exactly: this is a hundred times
    faster, and gives equal results. A GPU cannot multiply matrices of wide integers, so it multiplies limbs of 16 bits.
    """
    if left.is_complex():
        return formulas.matrix_product(left, right)  # type: ignore[no-any-return] # a tensor
    if left.is_floating_point():
        return real_product(left, right)
    dtype, depth = left.dtype, left.shape[-1]
    bits = 16 * left.element_size()
    if bits < 53 and depth < 1 << (53 - bits):
        return (left.to(torch.float64) @ right.to(torch.float64)).to(torch.int64).to(dtype)
    if not left.is_cuda:
        return left @ right
    return _by_limbs(left.to(torch.int64), right.to(torch.int64)).to(dtype)


def contracted(left: Array, right: Array, contract: tuple[Ints, Ints], batch: tuple[Ints, Ints]) -> Array:
    """One product of matrices for each entry of the batch: axes are merged into (batch, free, contracted) and (batch,
    contracted, free). The result has the batch axes, then the free axes of each operand."""
    free1, free2 = (
        tuple(axis for axis in range(x.ndim) if axis not in (*over, *paired))
        for x, over, paired in zip((left, right), contract, batch, strict=True)
    )
    shape = [*(left.shape[axis] for axis in (*batch[0], *free1)), *(right.shape[axis] for axis in free2)]
    rows, columns = _merged(left, batch[0], free1, contract[0]), _merged(right, batch[1], contract[1], free2)
    return matrix_product(rows, columns).reshape(shape)


def _merged(values: Array, batch: Ints, rows: Ints, columns: Ints) -> Array:
    """A tensor as a stack of matrices: axes in this order, the rows and the columns each merged."""
    shape = values.shape
    sizes = (prod(shape[axis] for axis in group) for group in (rows, columns))
    return values.permute((*batch, *rows, *columns)).reshape(*(shape[axis] for axis in batch), *sizes)


def real_product(left: Array, right: Array) -> Array:
    """The product of real matrices. Where few sums have many terms, each is made of sums of `_TERMS` terms: PyTorch
    adds those of a small product one by one, and float32 is off by parts of a per cent after a million terms.
    """
    depth = left.shape[-1]
    if depth < TERMS_IN_PARTS or left.shape[-2] * right.shape[-1] > _SMALL_ELEMENTS or left.dtype is not torch.float32:
        return left @ right
    count, rest = divmod(depth, _TERMS)
    rows, columns = left[..., : depth - rest], right[..., : depth - rest, :]
    parts = rows.unflatten(-1, (count, _TERMS)).transpose(-3, -2) @ columns.unflatten(-2, (count, _TERMS))
    total: Array = parts.sum(-3)
    return total + left[..., depth - rest :] @ right[..., depth - rest :, :] if rest else total


def _by_limbs(left: Array, right: Array) -> Array:
    """Multiplies int64 matrices by the products of limbs that reach the lowest 64 bits, of up to 2**20 terms each."""
    total = torch.zeros((), dtype=torch.int64, device=left.device)
    for start in range(0, max(left.shape[-1], 1), 1 << 20):  # once at least: a sum of no terms has a shape
        rows, columns = left[..., start : start + (1 << 20)], right[..., start : start + (1 << 20), :]
        for i in range(0, 64, _LIMB):
            for j in range(0, 64 - i, _LIMB):
                product = _limb(rows, i) @ _limb(columns, j)
                total = total + (product.to(torch.int64) << (i + j))
    return total


def _limb(values: Array, at: int) -> Array:
    return (values >> at & (1 << _LIMB) - 1).to(torch.float64)
