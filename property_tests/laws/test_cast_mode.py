"""An op that casts its operands under `tb.precision` returns the same result as for operands that were cast before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch.cast_mode import is_cast
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import TensorBackendError
from tensorbackend.testing import Invocation, calls, names, profile

SINGLE = [as_dtype("f32"), as_dtype("c64")]
CASTING = [name for name in names() if name in OPS and is_cast(OPS[name])]


def test_what_casts_is_what_computes() -> None:
    assert {"add", "exp", "sum", "matmul", "conv", "fft", "inv", "segment_sum", "indexed_add", "grid_sample"} < {
        *CASTING
    }
    assert not {"astype", "bitcast", "reshape", "take", "sort", "pad", "normal", "full", "concatenate"} & {*CASTING}


@pytest.mark.parametrize("name", CASTING)
def test_an_op_that_casts_is_the_op_on_operands_that_were_cast(name: str) -> None:
    @profile(3)
    @given(st.one_of([calls(name, dtype) for dtype in SINGLE]))
    def agrees(call: Invocation) -> None:
        wide = call.mapped(lambda x: x if not x.dtype.is_inexact else tb.astype(x, wider(x)))
        outcomes = []
        for invocation, cast in ((call, True), (wide, False)):
            try:
                with tb.precision(64, cast=cast):
                    outcomes.append(_told(invocation.on("numpy").run()))
            except TensorBackendError as error:
                outcomes.append(type(error))
        assert repr(outcomes[0]) == repr(outcomes[1])  # as text, because NaN does not equal itself

    agrees()


def wider(x: tb.Tensor) -> Any:
    return tb.complex128 if x.dtype.is_complex else tb.float64


def _told(result: Any) -> Any:
    return [(x.template, x.tolist()) for x in ((result,) if isinstance(result, tb.Tensor) else tuple(result))]
