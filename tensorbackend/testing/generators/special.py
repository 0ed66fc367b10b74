"""Generators of calls of the incomplete gamma functions, mostly of positive operands that are close to each other."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType
from ...dtypes.packing import pack, unpack
from ..calls import Invocation, generates
from ..strategies import Draw, broadcastable, elements, tensors
from . import call


def floats_near(dtype: DType, magnitude: float) -> st.SearchStrategy[Any]:
    """Floats of a dtype within 30 standard deviations of the mean of a gamma distribution, which is `magnitude`."""
    deviation = math.sqrt(magnitude)
    drawn = st.floats(-30, 30).map(lambda steps: max(magnitude + steps * deviation, magnitude / 64))
    return drawn.map(lambda value: next(iter(unpack(pack([value], dtype), dtype))))


@generates("gamma_inc_l", "gamma_inc_u")
def incomplete_gamma(draw: Draw, dtype: DType) -> Invocation:
    """Operands of one magnitude, from tiny to huge, of two magnitudes, or any, with special values and integers."""
    other = dtype if draw(st.integers(0, 3)) else draw(st.sampled_from(ALL_DTYPES))
    operands = draw(broadcastable([dtype, other]))
    if dtype.is_floating and other.is_floating and draw(st.integers(0, 3)):
        exponents = st.floats(-2, 3) | st.floats(-30, 34)
        magnitudes = [10 ** draw(exponents)] * 2
        if draw(st.integers(0, 2)) == 0:
            magnitudes[1] = 10 ** draw(st.floats(-2, 3))
        operands = [
            draw(
                tensors(
                    x.dtype,
                    x.shape,
                    names=x.names,
                    values=st.one_of(*[floats_near(x.dtype, size)] * 6, elements(x.dtype)),
                )
            )
            for x, size in zip(operands, magnitudes, strict=True)
        ]
    return call(*operands)
