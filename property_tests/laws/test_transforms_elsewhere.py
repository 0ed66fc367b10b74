"""Every op under `jit` and `grad` on a backend other than the default one: a function, gradient rule or rewrite puts
the tensors that it makes of Python numbers on the backend of the operands."""

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
"""NumPy under another name: like JAX, it does not mix with tensors of the default backend."""

DTYPES = tuple(map(as_dtype, ("float32", "int32", "complex64", "bool")))


def check_transformed(call: Invocation) -> None:
    """Check that results stay on one backend, compiled and differentiated; mixed backends raise `BackendError`."""
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
    @profile(2)
    @given(st.one_of([calls(name, dtype) for dtype in DTYPES]))
    def stays(call: Invocation) -> None:
        call = call.on(Elsewhere())
        if not call.tensors:
            return
        try:
            check_transformed(call)
        except TensorBackendError as error:  # the call may be a mistake, read data or have no gradient
            if isinstance(error, BackendError) and "tensors on one backend" in str(error):
                raise

    stays()
