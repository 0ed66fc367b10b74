"""Means of sliding windows, written in public ops."""

from __future__ import annotations

from ...dispatch import composite
from ...dtypes import float32, promote_types
from ...rules.accuracy import SUM
from ...rules.broadcasting import to_floating
from ...rules.window import Paddings, PerAxis, numbers
from ...tensor import Tensor
from ..creation.filled import ones
from ..elementwise.binary import divide
from ..elementwise.conversion import astype
from ..window import window_sum


@composite.within(SUM)
def window_mean(
    x: Tensor,
    /,
    window: PerAxis,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilations: PerAxis = 1,
    include_padding: bool = True,
) -> Tensor:
    """Mean of each window. Integers and bool are converted to the default floating dtype.

    Padding is counted as elements that are 0. With `include_padding=False` it is not counted: the mean is over the
    elements of x in the window, and NaN if there are none.

    >>> import tensorbackend as tb
    >>> tb.window_mean(tb.asarray([1, 2, 3, 6]), 2, strides=2).tolist()
    [1.5, 4.5]
    >>> tb.window_mean(tb.asarray([1, 3]), 2, padding=[(1, 1)], include_padding=False).tolist()
    [1.0, 2.0, 3.0]
    """
    dtype = to_floating(x.dtype)
    # In at least float32: neither a sum of float16 nor a count of elements may overflow.
    total = window_sum(
        astype(x, promote_types(dtype, float32)), window, strides=strides, padding=padding, dilations=dilations
    )
    if include_padding:
        count = 1
        for size in numbers(x.template, range(x.ndim), "window", window):
            count *= size
        return astype(divide(total, float(count)), dtype)
    present = ones(x.shape, dtype="float32", names=x.names)
    counts = window_sum(present, window, strides=strides, padding=padding, dilations=dilations)
    return astype(divide(total, counts), dtype)
