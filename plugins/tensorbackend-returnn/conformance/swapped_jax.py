"""Replaces `jax` in RETURNN's tests of its own JAX backend, by the functions of tensorbackend that the tests need."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import tensorbackend as tb

Array = tb.Tensor
jit, grad, value_and_grad = tb.jit, tb.grad, tb.value_and_grad
config = SimpleNamespace(update=lambda name, value: None)


def asarray(value: Any, dtype: Any = None) -> tb.Tensor:
    """Convert a value to a tensor."""
    return tb.asarray(value, dtype=dtype, backend=os.environ["OURS"], copy=True)


numpy = SimpleNamespace(
    asarray=asarray,
    ones=lambda shape, dtype: tb.ones(shape, dtype=dtype, backend=os.environ["OURS"]),
    zeros=lambda shape, dtype: tb.zeros(shape, dtype=dtype, backend=os.environ["OURS"]),
    dtype=lambda name: getattr(tb, name),
    float32=tb.float32,
    int32=tb.int32,
)
