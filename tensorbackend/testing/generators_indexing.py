"""Generators of calls for indexing, searching, sets and statistics."""

from __future__ import annotations

from hypothesis import strategies as st

from ..dtypes import DType
from ..elements import pack, unpack
from ..ops.creation import from_binary
from ..tensor import Tensor
from .calls import Invocation, generates
from .generators import call
from .strategies import Draw, broadcastable, tensors


def near(draw: Draw, x: Tensor) -> Tensor:
    """A tensor of which most elements are those of x, a little more than them, or their negatives."""
    changes = st.sampled_from(
        [lambda value: value, lambda value: value, lambda value: value * 1.0009765625, lambda value: -value]
    )
    if not x.dtype.is_inexact:
        return draw(tensors(x.dtype, x.shape, names=x.names))
    changed = [draw(changes)(value) for value in unpack(x.to_binary(), x.dtype)]
    return from_binary(pack(changed, x.dtype), x.template, "binary")


@generates("isclose", "all_close")
def closeness(draw: Draw, dtype: DType) -> Invocation:
    """Equal numbers, near ones, numbers of another sign; now and then of shapes that broadcast."""
    options = {
        "rtol": draw(st.sampled_from([1e-5, 0.0, 0.0009765625, 1e-2])),
        "atol": draw(st.sampled_from([1e-8, 0.0, 1.0])),
        "equal_nan": draw(st.booleans()),
    }
    if draw(st.booleans()):
        return call(*draw(broadcastable([dtype, dtype])), **options)
    x = draw(tensors(dtype))
    return call(x, near(draw, x), **options)
