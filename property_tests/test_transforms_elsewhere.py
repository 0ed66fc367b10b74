"""Every op under `jit` and under `grad` on a backend that is not the default one: what a body, a rule or a rewrite
makes of Python numbers goes where the operands are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import BackendError, TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import Invocation, calls, names, profile

Elsewhere = type("Elsewhere", (NumpyBackend,), {"name": "elsewhere"})
"""NumPy under another name, so that it mixes with tensors of the default backend no more than JAX does."""

DTYPES = tuple(map(as_dtype, ("float32", "int32", "complex64", "bool")))


def check_transformed(call: Invocation) -> None:
    """Runs a call compiled and differentiated; raises `BackendError` where tensors of two backends meet."""
    tensors = call.tensors

    def compiled(*operands: tb.Tensor) -> Any:
        return call.with_tensors(operands).run()

    def loss(*operands: tb.Tensor) -> Any:
        results = [x for x in flatten(compiled(*operands))[0] if isinstance(x, tb.Tensor) and x.dtype.is_inexact]
        return sum((tb.sum(tb.real(x)) for x in results), start=tb.asarray(0.0))

    for x in flatten(tb.jit(compiled)(*tensors))[0]:
        assert x.backend.name == "elsewhere"
    positions = [place for place, x in enumerate(tensors) if x.dtype.is_inexact]
    if positions:
        for x in tb.grad(loss, positions)(*tensors):
            assert x.backend.name == "elsewhere"


@pytest.mark.parametrize("name", names())
def test_nothing_is_made_on_the_default_backend(name: str) -> None:
    @profile(4)
    @given(st.one_of([calls(name, dtype) for dtype in DTYPES]))
    def stays(call: Invocation) -> None:
        call = call.on(Elsewhere())
        if not call.tensors:
            return
        try:
            check_transformed(call)
        except TensorBackendError as error:  # or a mistake that was drawn, data that is read, no gradient
            if isinstance(error, BackendError) and "tensors on one backend" in str(error):
                raise

    stays()
