"""Kernels in the dtypes to compute in: float32 for float16 and bfloat16, for others the dtype itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import call
from typing import Final

from ...dtypes import DType, complex64, complex128, float32, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel
from ...template import Template
from .base import NARROW, ArrayBase, itself


def wide(dtype: DType) -> DType:
    """The dtype to compute in: float32 for float16 and bfloat16, else the dtype itself."""
    return float32 if dtype in NARROW else dtype


ONE_BY_ONE: Final = 1 << 8
"""Up to this number of terms, it is accurate enough to add them one by one in their own width: n equal ones lose up
to n / 4 roundings of their sum."""

WIDER: Final = {float32: float64, complex64: complex128}
"""Dtypes with a dtype of twice the width, in which sums of many terms lose nothing."""


def accumulator_dtype(dtype: DType, terms: int, widest: DType = float64) -> DType:
    """The dtype to add up to `terms` elements in, one by one: of many, float32 alone loses per cent.

    It is float32 for few narrow floats; float64 for many of up to 32 bits, complex128 for many of complex64, if the
    backend has them, whose `widest` floating dtype says so; for others the dtype itself.

    >>> accumulator_dtype(float32, 1000), accumulator_dtype(float32, 3)
    (float64, float32)
    """
    working = wide(dtype)
    return WIDER.get(working, working) if terms > ONE_BY_ONE and widest is float64 else working


def computing_kernel(kernel: Kernel, out: Template | Sequence[Template], *inputs: Template) -> Kernel:
    """A kernel that casts inputs to the dtypes to compute in, calls `kernel`, and rounds the results to `out`."""
    return _convert_around(kernel, [_astype(x.dtype, wide(x.dtype)) for x in inputs], out)


def rounding_kernel(kernel: Kernel, out: Template) -> Kernel:
    """A kernel that calls `kernel` and rounds its result from the dtype to compute in to that of `out`."""
    return _convert_around(kernel, [itself], out)


def promoting_kernel(
    backend: ArrayBase, dtype: DType, kernel: Kernel, out: Template | Sequence[Template], *inputs: Template | None
) -> Kernel:
    """A kernel of a composite: as `computing_kernel`, but each operand is first cast from its own dtype to `dtype`.

    `None` is for an input that is not converted, such as indices.
    """
    return _convert_around(kernel, [itself if x is None else _promotion(backend, x.dtype, dtype) for x in inputs], out)


def _promotion(backend: ArrayBase, source: DType, target: DType) -> Kernel:
    widen = _astype(target, wide(target))
    return widen if source is target else lambda values: widen(backend.cast(values, source, target))


def _astype(source: DType, target: DType) -> Kernel:
    if source is target:
        return itself
    dtype = numpy_dtype(target)
    return lambda values: values.astype(dtype)


def _convert_around(kernel: Kernel, before: Sequence[Kernel], out: Template | Sequence[Template]) -> Kernel:
    """A kernel that converts its inputs, calls `kernel`, and rounds the results."""
    outs = (out,) if isinstance(out, Template) else out
    after = [_astype(wide(template.dtype), template.dtype) for template in outs]
    if all(convert is itself for convert in (*before, *after)):
        return kernel
    widen, narrow = before[0], after[0]
    if not isinstance(out, Template):
        return lambda *arrays: tuple(map(call, after, kernel(*map(call, before, arrays))))
    if len(before) == 1:
        return lambda values: narrow(kernel(widen(values)))
    return lambda *arrays: narrow(kernel(*map(call, before, arrays)))


_INDICES_ARE_LONG = sys.maxsize > 1 << 32
"""Whether the indices that an array module returns are int64 already, as where pointers have 64 bits."""


def int64_kernel(kernel: Kernel) -> Kernel:
    """A kernel that returns indices as int64 on every platform."""
    return kernel if _INDICES_ARE_LONG else lambda *arrays: kernel(*arrays).astype("int64")
