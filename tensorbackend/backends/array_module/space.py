"""The memory that kernels take beside inputs and results, for `protocol.workspace.takes`: the common arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import DType
from ...rules.broadcasting import to_real
from ...template import Template
from .precision import wide


def nbytes(size: int, dtype: DType) -> int:
    """Bytes of so many elements."""
    return size * dtype.bits // 8


def widened(*templates: Template | None) -> int:
    """Bytes of copies of narrow floats in float32; of other arrays there are none."""
    return sum(nbytes(x.size, wide(x.dtype)) for x in templates if x is not None and wide(x.dtype) is not x.dtype)


def brought(dtype: DType, *templates: Template) -> int:
    """Bytes of copies of operands in a dtype to compute in, of those that are not in it."""
    return sum(nbytes(x.size, wide(dtype)) for x in templates if x.dtype is not wide(dtype))


def narrowing(out: Template | Sequence[Template], /, *inputs: Any, **options: object) -> int:
    """The bytes that `precision.computing` takes: float32 copies of narrow inputs, freed when the results are
    rounded."""
    outs = (out,) if isinstance(out, Template) else out
    results = widened(*outs)
    return results + max(widened(*inputs) - (sum(template.nbytes for template in outs) if results else 0), 0)


def in_64_bits(indices: Template) -> int:
    """Bytes of a copy of indices that are not int64 or uint64."""
    return 0 if indices.dtype.bits == 64 else 8 * indices.size


def lapack(out: Template | Sequence[Template], /, *inputs: Template, more: int = 0) -> int:
    """The bytes that NumPy's `linalg` takes, which computes 32 bits a part in 64: copies of all inputs, then of all
    results.

    `more` is the memory that a kernel takes afterwards, beside the results.
    """
    outs = (out,) if isinstance(out, Template) else out
    dtype = wide(next(template.dtype for template in outs if template.dtype.is_inexact))
    results, input_bytes = (sum(nbytes(x.size, wide(x.dtype)) for x in templates) for templates in (outs, inputs))
    doubled = to_real(dtype).bits == 32
    during = widened(*inputs) + (2 * input_bytes + 2 * results if doubled else results)
    out_bytes = sum(template.nbytes for template in outs)
    rounded = (2 * results if doubled else 0) + results
    return max(during, rounded, results + more, widened(*outs) + out_bytes) - out_bytes
