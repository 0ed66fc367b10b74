"""Every op declares its gradient, a zero gradient, or why it has none, or is made of ops that do; traces tell which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.grad.coverage import is_declared, needs_gradient
from tensorbackend.expr.grad.registry import gradient_of
from tensorbackend.expr.node import CAPTURED, PARAMETER, RENAMED
from tensorbackend.expr.simplify import expanded
from tensorbackend.expr.trace import trace_leaves
from tensorbackend.testing import calls, profile

OURS = [spec for spec in OPS.values() if spec.function.__module__.startswith("tensorbackend.")]
PRIMITIVES = sorted({spec.callback for spec in OURS if spec.kind == "primitive" and needs_gradient(spec)})
BY_PARTS = {"ctc_forward", "ctc_posteriors"}
"""Callbacks that the parts of a function call, where the function itself is not an op."""
CONTROL = sorted(set(CALLBACKS) - {spec.callback for spec in OPS.values()} - BY_PARTS)
COMPOSITES = sorted(spec.name for spec in OURS if spec.kind == "composite")
INEXACT = [tb.float64, tb.complex64]


def remedy(callback: str) -> str:
    """Return a message that says how to declare the missing gradient."""
    family = CALLBACKS[callback].family
    return f"declare the gradient of {callback} in tensorbackend/expr/grad/, with those of {family}"


@pytest.mark.parametrize("callback", PRIMITIVES + CONTROL)
def test_every_callback_says_how_it_is_differentiated(callback: str) -> None:
    assert gradient_of(callback) is not None, remedy(callback)


@pytest.mark.parametrize("name", COMPOSITES)
def test_every_composite_has_parts_that_do(name: str) -> None:
    @profile(3)
    @given(st.one_of([calls(name, dtype) for dtype in INEXACT]))
    def has(call: tb.testing.Invocation) -> None:
        def function(tensors: list[tb.Tensor]) -> object:
            rest = iter(tensors)
            return call.mapped(lambda x: next(rest)).run()

        tensors = call.tensors
        try:
            graph = trace_leaves(function, tensors, [f"x{number}" for number in range(len(tensors))])
        except TensorBackendError:  # a mistake, or data that is read
            return
        for node in expanded(graph, is_declared).nodes:
            if node.op not in (PARAMETER, CAPTURED, RENAMED):
                assert is_declared(node), remedy(node.op)

    has()


def test_a_missing_gradient_is_named() -> None:
    assert remedy("dot") == "declare the gradient of dot in tensorbackend/expr/grad/, with those of contraction"
