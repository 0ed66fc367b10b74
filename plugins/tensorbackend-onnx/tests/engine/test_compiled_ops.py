"""Each public op, compiled by `tb.jit` for the engine, computes what NumPy's backend computes eagerly."""

from __future__ import annotations

import numpy
import pytest
import tensorbackend as tb
from hypothesis import given
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.calls import bound_of

from tensorbackend_onnx.engine import OnnxRuntimeBackend

ENGINE = OnnxRuntimeBackend(threads=1)
"""The threads of a thousand sessions would wait for work in loops."""

EXCEPT = {"gelu": "-inf becomes NaN, as a row of the table of differences says"}
"""Ops whose results are not compared where an argument is infinite, and why."""


def agrees(call: Invocation) -> None:
    """Compare one call; infinities and NaN count."""
    if not call.tensors:  # it computes a constant
        return
    try:
        graph = call.graph()
        wanted = flatten(graph(*tb.backend_copy(call.tensors, "numpy")))[0]
    except TensorBackendError:  # a mistake, or a call that reads data
        return
    if call.name in EXCEPT and not all(tb.all(tb.isfinite(x)).item() for x in call.tensors):
        return
    found = flatten(tb.jit(graph)(*tb.backend_copy(call.tensors, ENGINE)))[0]
    for one, other in zip(found, wanted, strict=True):
        assert (one.template, one.backend.name) == (other.template, "onnxruntime")
        if one.dtype.is_narrow or not tb.isdtype(one.dtype, ("real floating", "complex floating")):
            assert one.to_binary() == other.to_binary(), call
            continue
        left, right = (numpy.asarray(x).astype("complex128") for x in (one, other))
        largest = max(1.0, float(numpy.abs(right[numpy.isfinite(right)]).max(initial=0)))
        scale = max(1.0, bound_of(call.name).ulps / 64) * max(float(tb.finfo(one.dtype).eps), 1e-7)
        numpy.testing.assert_allclose(left, right, rtol=100 * scale, atol=10 * scale * largest, err_msg=repr(call))


@pytest.mark.parametrize("dtype", [tb.float32, tb.int64], ids=str)
@pytest.mark.parametrize("part", range(8))
def test_each_op_is_that_of_numpy(part: int, dtype: tb.DType) -> None:
    for name in sorted(names())[part::8]:
        profile(3)(given(calls(name, dtype))(agrees))()
