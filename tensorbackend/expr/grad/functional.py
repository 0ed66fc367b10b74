"""Gradients of ops that call a function for each element."""

from __future__ import annotations

from collections.abc import Callable

from ...ops.creation.filled import full
from ...ops.elementwise.basic import conj
from ...ops.functional import map
from ...template import Template
from ...tensor import Tensor
from ..evaluate import evaluate
from ..trace import trace_leaves
from .engine import gradients_graph
from .registry import Cotangents, not_differentiable, rule

not_differentiable("reduce", reason="its function may be arbitrary; sum(), prod(), max() and min() have gradients")


@rule("map")
def _map(cotangent: Tensor, out: Tensor, x: Tensor, *, function: Callable[[Tensor], Tensor]) -> Cotangents:
    graph = trace_leaves(lambda elements: function(elements[0]), [Template((), x.dtype)], ["element"])
    gradient = gradients_graph(graph, [0])

    def slope(direction: complex) -> Tensor:
        """The gradient of each element for a cotangent of 1 or i."""

        def slope_of_element(element: Tensor) -> Tensor:
            return evaluate(gradient, [element, full((), direction, dtype=out.dtype, backend=element.backend)])[0]

        return map(x, function=slope_of_element)

    real = slope(1)
    if not out.dtype.is_complex:
        return (cotangent * real,)
    # A function that is linear over the reals is a factor times the cotangent plus a factor times its conjugate.
    imaginary = slope(1j) * 1j
    return ((real - imaginary) * 0.5 * cotangent + (real + imaginary) * 0.5 * conj(cotangent),)
