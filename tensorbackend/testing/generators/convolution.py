"""Calls of convolution."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import tensorbackend as tb

from ...dtypes import DType
from ..calls import Invocation, generates, moderate
from ..strategies import Draw, tensors
from . import call, second
from .window import number_for_each, padding_for_each


@generates("conv")
def conv(draw: Draw, dtype: DType) -> Invocation:
    """Draws convolutions of 0 to 3 spatial axes, grouped and dilated; shapes that do not match are refused."""
    rank = draw(st.sampled_from([0, 1, 1, 2, 2, 3]))
    largest = (6, 6, 4, 3)[rank]
    spatial = tuple(draw(st.integers(0, largest)) for _ in range(rank))
    window = tuple(draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 3)) for _ in range(rank))
    features, batches = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 2)]))
    channels, share = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    batch = draw(st.integers(0, 2)) * batches
    wrong = draw(st.integers(0, 19))
    names = ("batch", "channel", *(f"space{axis}" for axis in range(rank)))
    x = draw(tensors(dtype, (batch, channels * features + (wrong == 0), *spatial), names=names, tame=True))
    out, other = share * features * batches + (wrong == 1), second(draw, dtype)
    first = "batch" if wrong == 2 else draw(st.sampled_from(["feature", None]))
    kernel = draw(tensors(other, (out, channels, *window), names=(first, "channel", *names[2:]), tame=True))
    x, kernel = moderate(draw, [x, kernel])
    if wrong == 3:
        kernel = tb.expand_dims(kernel)
    options: dict[str, Any] = {"padding": padding_for_each(draw, names[2:])}
    for option in ("strides", "input_dilation", "kernel_dilation"):
        if draw(st.booleans()):
            options[option] = number_for_each(draw, names[2:], 3)
    return call(x, kernel, **options, feature_groups=features, batch_groups=0 if wrong == 4 else batches)


MODES = st.sampled_from(["full", "same", "valid"])


def vector(draw: Draw, dtype: DType, least: int = 1) -> Any:
    """A vector of moderate numbers."""
    return draw(tensors(dtype, (draw(st.integers(least, 6)),), names=(None,), tame=True))


@generates("convolve", "correlate")
def products(draw: Draw, dtype: DType) -> Invocation:
    """Vectors of which either may be the longer one; now and then one without elements."""
    x1 = vector(draw, dtype, draw(st.sampled_from([1, 1, 1, 1, 0])))
    x2 = vector(draw, second(draw, dtype))
    return call(*moderate(draw, [x1, x2]), mode=draw(MODES))
