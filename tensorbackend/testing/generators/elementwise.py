"""Calls of elementwise ops with requirements on operands besides broadcasting."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, NARROW_DTYPES, DType, as_dtype, iinfo
from ..calls import Invocation, generates, moderate
from ..magnitudes import columns
from ..strategies import Draw, broadcastable, tensors
from . import call, second
from .indexing import tensor_near


@generates("astype")
def astype(draw: Draw, dtype: DType) -> Invocation:
    """Draws casts to every dtype."""
    # Drawn first: for a last draw Hypothesis often takes the first choice.
    target = draw(st.sampled_from([*ALL_DTYPES, *ALL_DTYPES, *NARROW_DTYPES]))
    (x,) = draw(columns(dtype)) if draw(st.integers(0, 7)) == 7 else [draw(tensors(dtype))]
    return call(x, target)


@generates("bitcast")
def bitcast(draw: Draw, dtype: DType) -> Invocation:
    """Draws casts to every dtype; those of another width are refused."""
    wide = [target for target in (*ALL_DTYPES, *NARROW_DTYPES) if target.bits == dtype.bits]
    return call(draw(tensors(dtype)), draw(st.sampled_from(wide) | st.sampled_from(ALL_DTYPES)))


@generates("bitwise_left_shift", "bitwise_right_shift")
def shift(draw: Draw, dtype: DType) -> Invocation:
    """Draws shifts by 0 up to more than the width."""
    x, amount = draw(broadcastable([dtype, dtype]))
    if dtype.is_integer:
        most = st.integers(0, min(dtype.bits + 2, iinfo(dtype).max))
        amount = draw(tensors(dtype, amount.shape, names=amount.names, values=most))
    return call(x, amount)


@generates("where")
def where(draw: Draw, dtype: DType) -> Invocation:
    """Draws operands of two dtypes; a condition that is not bool is refused."""
    condition = draw(st.sampled_from(["bool", "bool", "bool", "int32"]))
    other = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES]))
    return call(*draw(broadcastable([as_dtype(condition), dtype, other])))


@generates("isclose", "all_close")
def closeness(draw: Draw, dtype: DType) -> Invocation:
    """Numbers that are equal, near, or of opposite sign; or any, of shapes that broadcast."""
    options = {
        "rtol": draw(st.sampled_from([1e-5, 0.0, 0.0009765625, 1e-2])),
        "atol": draw(st.sampled_from([1e-8, 0.0, 1.0])),
        "equal_nan": draw(st.booleans()),
    }
    if draw(st.booleans()):
        return call(*draw(broadcastable([dtype, dtype])), **options)
    x = draw(tensors(dtype))
    return call(x, tensor_near(draw, x), **options)


@generates("polyval")
def polyval(draw: Draw, dtype: DType) -> Invocation:
    """Polynomials of degrees up to 4, and that without coefficients."""
    p = draw(tensors(dtype, (draw(st.integers(0, 5)),), names=(None,), tame=True))
    x = draw(tensors(second(draw, dtype), tame=True))
    return call(*moderate(draw, [p, x]))
