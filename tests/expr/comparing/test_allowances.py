"""The absolute errors that bounds allow equal those of `tensorbackend.testing`, which measures by BinaryBackend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.expr.comparing.allowances import allowances, bound_of
from tensorbackend.testing import conformance
from tensorbackend.testing.calls import Invocation
from tensorbackend.testing.calls import bound_of as stated

X = tb.asarray([[0.5, -3.0], [2.0, 0.25]], dtype="f32", backend="binary")


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("sum", (X,), {"axis": 0}), ("exp", (X,), {}), ("pow", (tb.abs(X), X), {}), ("linalg.inv", (X,), {}),
        ("logsumexp", (X,), {"axis": 1}), ("fft.fft", (tb.astype(X, "c64"),), {}), ("matmul", (X, X), {}),
    ],
)  # fmt: skip
def test_allowances_are_those_of_the_kit(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    space, _, last = name.rpartition(".")
    function: Callable[..., Any] = getattr(getattr(tb, space) if space else tb, last)
    graph = tb.trace(lambda *operands: function(*operands, **options))(*arguments)
    node = graph.outputs[0].node
    bound = bound_of(node)
    assert bound == stated(name, {value.template.dtype for value in (*node.operands, *node.values)})
    results = [function(*arguments, **options)]
    inputs = node.map_inputs(dict(zip(graph.parameters, arguments, strict=True)).__getitem__)
    (found,) = allowances(node, bound, inputs, results)
    (wanted,) = conformance.allowances(Invocation(name, arguments, options), bound, results)
    assert numpy.ravel(numpy.broadcast_to(found, results[0].shape)) == pytest.approx(
        numpy.broadcast_to(wanted, results[0].size), rel=1e-4
    )
