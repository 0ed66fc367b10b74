"""What the kernels here take beside inputs and results, for `protocol.workspace.takes`: the arithmetic that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import DType
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
    """What `precision.computing` takes: float32 copies of narrow inputs, gone when the results are rounded."""
    outs = (out,) if isinstance(out, Template) else out
    results = widened(*outs)
    return results + max(widened(*inputs) - (sum(each.nbytes for each in outs) if results else 0), 0)


def in_64_bits(indices: Template) -> int:
    """Bytes of a copy of indices that are not int64 or uint64."""
    return 0 if indices.dtype.bits == 64 else 8 * indices.size
