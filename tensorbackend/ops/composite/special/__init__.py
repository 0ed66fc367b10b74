"""Special functions that are written in other ops: factorials, Bessel and zeta functions, quantiles.

They are computed in float64 and rounded once (`compute_wide`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dtypes import float64
from ....rules.broadcasting import check_dtype, to_floating
from ....tensor import Tensor
from ...elementwise.basic import astype


def compute_wide(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """A function's result in float64, rounded to the dtype to which real operands of one dtype are converted.

    An integer is rounded to that dtype first, as everywhere: 2**31 - 1 is 2**31 in float32.
    """
    kind = to_floating(check_dtype(tensors[0].dtype, "real"))
    floats = (x if x.dtype.is_floating else astype(x, kind) for x in tensors)
    return astype(function(*(astype(x, float64) for x in floats)), kind)


def horner(coefficients: Sequence[float], x: Tensor) -> Tensor:
    """A polynomial, whose coefficients are given from that of the highest power down."""
    total = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total
