"""`tensorbackend.numpy` refuses the arguments that NumPy refuses, with an error of the same type."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend.numpy as ours
from tensorbackend.testing import profile

BASES = (TypeError, ValueError, IndexError)
"""NumPy's class for axes is also two of these."""

AXES = ("-7", "9", "1.5", "'x'", "1j", "(0, 0)", "(0, 9)", "(1.5,)", "[]", "[0]", "np.nan", "object()", "np.array(2.5)")
WORDS = ("3", "'biggest'", "None", "[]", "1j", "object()", "'F'", "'lower'", "'little'", "'right'", "'same'")
ARRAYS = (
    "1.5", "1j", "True", "[]", "np.ones((2, 3, 4))", "np.ones(0)", "np.array([1j, 2])", "np.array([True, False])",
    "np.ones(3, 'u1')", "np.ones(3, 'f2')", "np.arange(5)",
)  # fmt: skip

HOLES = {
    "axis": (AXES, """\
np.sum(a, axis=_) np.prod(a, axis=_) np.max(a, axis=_) np.min(a, axis=_) np.all(a, axis=_) np.any(a, axis=_)
np.mean(a, axis=_) np.var(a, axis=_) np.std(a, axis=_) np.argmax(a, axis=_) np.argmin(a, axis=_) np.median(a, axis=_)
np.count_nonzero(a, axis=_) np.ptp(a, axis=_) np.nansum(a, axis=_) np.nanmean(a, axis=_) np.nanmax(a, axis=_)
np.cumsum(a, axis=_) np.cumprod(a, axis=_) np.sort(a, axis=_) np.argsort(a, axis=_) np.diff(a, axis=_)
np.gradient(a, axis=_) np.percentile(a, 30, axis=_) np.quantile(a, 0.3, axis=_) np.nanpercentile(a, 30, axis=_)
np.packbits(m, axis=_) np.unpackbits(u, axis=_) np.concatenate([a, a], axis=_) np.flip(a, axis=_)
np.squeeze(a[:, None], axis=_) np.repeat(a, 2, axis=_) np.take(a, [0], axis=_) np.roll(a, 1, axis=_)
np.mean(2.5, axis=_) np.var(2.5, axis=_) np.median(2.5, axis=_) np.average(a, axis=_) np.swapaxes(a, 0, _)"""),
    "word": (WORDS, """\
np.packbits(m, bitorder=_) np.unpackbits(u, bitorder=_) np.percentile(a, 30, method=_) np.quantile(a, 0.3, method=_)
np.searchsorted(s, 0.5, side=_) np.unravel_index(4, (2, 3), order=_) np.ravel_multi_index(([0],[1]),(2,3),order=_)
np.convolve(s, s, mode=_) np.correlate(s, s, mode=_)"""),
    "array": (ARRAYS, """\
np.packbits(_) np.unpackbits(_) np.gradient(_) np.percentile(_, 30) np.quantile(_, 0.3) np.nanquantile(_, 0.3)
np.percentile(a, _) np.quantile(a, _) np.correlate(s, _) np.correlate(_, s) np.choose(_, [1, 2, 3, 4, 5, 6])
np.interp(_, s, s) np.unravel_index(_, (9, 9)) np.median(_) np.max(_) np.argmin(_) np.polymul(_, s) np.diff(_)
np.cumsum(_) np.searchsorted(s, _) np.convolve(s, _) np.histogram(_) np.bincount(_, s[:0]) np.clip(_, 0, 1)"""),
}  # fmt: skip

DECIDED = {
    "np.bincount(_, s[:0])": ("np.ones(0)",),
    "np.percentile(_, 30)": ("np.ones(0)", "[]"),
    "np.quantile(_, 0.3)": ("np.ones(0)", "[]"),
    "np.percentile(a, _)": ("1j", "np.array([1j, 2])"),
    "np.quantile(a, _)": ("1j",),
    "np.histogram(_)": ("np.array([1j, 2])", "1j"),
}
"""Taken here: no elements are no indices in any dtype, and quantiles of nothing are NaN (docs/semantics.md). NumPy's
histogram, and its quantiles at a complex number, fail on their way, with another error."""


def split_calls(text: str) -> list[str]:
    """The calls of lines, which are divided where the next one begins."""
    return [
        "np." + part.strip() for part in text.replace("\n", " ").split(" np.") for part in [part.removeprefix("np.")]
    ]


def refused(call: str, np: Any) -> Exception | None:
    """The error of a call, `None` for a result."""
    make = numpy.array if np is numpy else np.array
    operands = {
        "a": make([[0.5, 2.0, -1.0, 4.0], [3.0, 1.0, 0.0, 2.5], [1.0, 7.0, 2.0, -2.0]]),
        "m": make([[True, False, True]] * 2), "u": make([[3, 129]], "u1"), "s": make([0.0, 1.0, 2.5]),
    }  # fmt: skip
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            eval(call, {"np": np, **operands})
        except Exception as error:
            return error
    return None


@pytest.mark.parametrize(
    ("call", "kind"), [(call, kind) for kind, (_, calls) in HOLES.items() for call in split_calls(calls)]
)
def test_what_numpy_refuses_is_refused(call: str, kind: str) -> None:
    @profile(len(HOLES[kind][0]))
    @given(st.sampled_from(HOLES[kind][0]))
    def refuses(value: str) -> None:
        written = call.replace("_)", f"{value})") if "_)" in call else call.replace("(_,", f"({value},")
        expected = refused(written, numpy)
        if not isinstance(expected, BASES) or value in DECIDED.get(call, ()):
            return  # accepted, or an error that NumPy does not mean, such as an AttributeError
        error = refused(written, ours)
        assert error is not None, f"{written}: {expected!r}"
        wanted = tuple([base for base in BASES if isinstance(expected, base)])
        assert isinstance(error, wanted), f"{written}: {expected!r}, here {error!r}"

    refuses()
