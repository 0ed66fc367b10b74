"""Common arithmetic of the memory of kernels, without inputs and results, for `protocol.workspace.takes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import DType
from ...rules.broadcasting import to_real
from ...template import Template
from .precision import accumulator_dtype, wide


def nbytes(size: int, dtype: DType) -> int:
    """The bytes of `size` elements."""
    return size * dtype.bits // 8


def float32_copy_bytes(*templates: Template | None) -> int:
    """The bytes of float32 copies of narrow floats; other arrays are not copied."""
    return sum(nbytes(x.size, wide(x.dtype)) for x in templates if x is not None and wide(x.dtype) is not x.dtype)


def brought(dtype: DType, *templates: Template) -> int:
    """The bytes of copies of those operands that are not yet in the dtype to compute in."""
    return sum(nbytes(x.size, wide(dtype)) for x in templates if x.dtype is not wide(dtype))


def accumulator_bytes(terms: int, out: Template, *updates: Template) -> int:
    """The bytes of sums and updates in the dtype to add many terms in, where that is not their own."""
    dtype = accumulator_dtype(out.dtype, terms)
    return sum(nbytes(x.size, dtype) for x in (out, *updates) if x.dtype is not dtype)


def narrow_copy_bytes(out: Template | Sequence[Template], /, *inputs: Any, **options: object) -> int:
    """The bytes that `precision.computing` takes: float32 copies of narrow inputs, freed when the results are
    rounded."""
    outs = (out,) if isinstance(out, Template) else out
    results = float32_copy_bytes(*outs)
    return results + max(float32_copy_bytes(*inputs) - (sum(template.nbytes for template in outs) if results else 0), 0)


def int64_copy_bytes(indices: Template) -> int:
    """The bytes of an int64 copy of indices; int64 and uint64 are not copied."""
    return 0 if indices.dtype.bits == 64 else 8 * indices.size


def lapack(out: Template | Sequence[Template], /, *inputs: Template, more: int = 0) -> int:
    """The bytes that NumPy's `linalg` takes: it computes float32 and complex64 in 64 bits a part, and so copies all
    inputs, then all results.

    `more` is the memory that a kernel takes afterwards, next to the results.
    """
    outs = (out,) if isinstance(out, Template) else out
    dtype = wide(next(template.dtype for template in outs if template.dtype.is_inexact))
    results, input_bytes = (sum(nbytes(x.size, wide(x.dtype)) for x in templates) for templates in (outs, inputs))
    doubled = to_real(dtype).bits == 32
    during = float32_copy_bytes(*inputs) + (2 * input_bytes + 2 * results if doubled else results)
    out_bytes = sum(template.nbytes for template in outs)
    rounded = (2 * results if doubled else 0) + results
    return max(during, rounded, results + more, float32_copy_bytes(*outs) + out_bytes) - out_bytes


def qr_space(out: Sequence[Template], x: Template, /, *, mode: str) -> int:
    """The bytes that a QR decomposition takes: those of `lapack`, three arrays of R's size and a wide copy of x."""
    return lapack(out, x, more=3 * nbytes(out[1].size, wide(x.dtype)) + float32_copy_bytes(x))


def eigh_space(out: Sequence[Template], x: Template, /) -> int:
    """The bytes that eigenvectors take: those of `lapack`, then three arrays of x's size and two numbers a column."""
    return lapack(out, x, more=3 * nbytes(x.size, wide(x.dtype)) + 16 * out[0].size)


def svd_space(out: Sequence[Template], x: Template, /, *, full_matrices: bool) -> int:
    """The bytes that a singular value decomposition takes: those of `lapack`, then both factors with their signs."""
    return lapack(out, x, more=nbytes(out[0].size + out[2].size, wide(x.dtype)))
