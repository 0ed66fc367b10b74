"""Random programs of nested control flow return the same values in every way of running them, and JAX's gradients.

A program is a tree over two vectors. One function runs it, with tensorbackend, or with plain Python loops over NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.expr.simplify import simplified
from tensorbackend.testing import profile

Tree: TypeAlias = tuple[Any, ...]


class Plain:
    """The functions that programs need, with Python's control flow and NumPy's functions."""

    add, multiply, sin, tanh = numpy.add, numpy.multiply, numpy.sin, numpy.tanh
    stack, sum = staticmethod(numpy.stack), staticmethod(numpy.sum)

    @staticmethod
    def cond(predicate: Any, true_function: Callable[[], Any], false_function: Callable[[], Any]) -> Any:
        return true_function() if predicate else false_function()

    @staticmethod
    def fori_loop(lower: int, upper: int, body: Callable[[int, Any], Any], carry: Any) -> Any:
        for i in range(lower, upper):
            carry = body(i, carry)
        return carry

    @staticmethod
    def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], carry: Any, *, limit: int) -> Any:
        while limit and condition(carry):
            carry, limit = body(carry), limit - 1
        return carry

    @staticmethod
    def scan(function: Callable[[Any, Any], Any], carry: Any, xs: Any, reverse: bool) -> Any:
        ys = []
        for x in reversed(xs) if reverse else xs:
            carry, y = function(carry, x)
            ys.append(y)
        return carry, numpy.stack(ys[::-1] if reverse else ys)


def run(tree: Tree, values: list[Any], functions: Any) -> Any:
    """Return the value of a program. `values` are the vectors, then what loops add to them, the innermost loop last."""
    kind, *parts = tree

    def of(part: Tree, *more: Any) -> Any:
        return run(part, [*values, *more], functions)

    match kind:
        case "value":
            return values[parts[0] % len(values)]
        case "sin":
            return functions.sin(of(parts[0]))
        case "add" | "multiply":
            return getattr(functions, kind)(*map(of, parts))
        case "cond":
            predicate = functions.sum(of(parts[0])) > 0.0123
            return functions.cond(predicate, lambda: of(parts[1]), lambda: of(parts[2]))
        case "fori_loop":
            count, initial, body = parts
            return functions.fori_loop(0, count, lambda i, c: functions.tanh(of(body, c, c * 0 + i)), of(initial))
        case "scan":
            initial, body, output, reverse = parts
            carry, ys = functions.scan(
                lambda c, x: (functions.tanh(of(body, c, x)), of(output, x, c)),
                of(initial),
                functions.stack(values),
                reverse=reverse,
            )
            return carry + functions.sum(ys, axis=0)
        case _:
            limit, initial, body = parts
            vector, count = functions.while_loop(
                lambda c: functions.sum(c[0]) < 2.0123,
                lambda c: (functions.tanh(of(body, c[0])) + c[0] + 0.3, c[1] + 1),
                (of(initial), 0),
                limit=limit,
            )
            return vector * count


def programs() -> st.SearchStrategy[Tree]:
    """Programs of a few nested loops."""

    def nested(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.one_of(
            st.tuples(st.just("sin"), inner),
            st.tuples(st.sampled_from(["add", "multiply"]), inner, inner),
            st.tuples(st.just("cond"), inner, inner, inner),
            st.tuples(st.just("fori_loop"), st.integers(0, 3), inner, inner),
            st.tuples(st.just("scan"), inner, inner, inner, st.booleans()),
            st.tuples(st.just("while_loop"), st.integers(0, 4), inner, inner),
        )

    return st.recursive(st.integers(0, 5).map(lambda place: ("value", place)), nested, max_leaves=7)


VECTORS = st.lists(st.floats(-2, 2, width=16), min_size=2, max_size=2)


def check_close(result: Any, reference: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(result), numpy.asarray(reference), rtol=1e-9, atol=1e-11)


@profile(60)
@given(programs(), VECTORS, VECTORS)
def test_programs_on_every_road(tree: Tree, x: list[float], y: list[float]) -> None:
    reference = run(tree, [numpy.asarray(x), numpy.asarray(y)], Plain)

    def program(*values: tb.Tensor) -> Any:
        return run(tree, list(values), tb)

    for backend in ("numpy", "binary"):
        values = [tb.asarray(vector, dtype="f64", backend=backend) for vector in (x, y)]
        check_close(program(*values), reference)
    values = [tb.asarray(vector, dtype="f64") for vector in (x, y)]
    graph = tb.trace(program)(*values)
    check_close(graph(*values), reference)
    check_close(simplified(graph)(*values), reference)
    check_close(tb.jit(program)(*values), reference)


@profile(8)
@given(programs(), VECTORS, VECTORS)
def test_gradients_as_those_of_jax(tree: Tree, x: list[float], y: list[float]) -> None:
    def loss(*values: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.sin(run(tree, list(values), tb)))

    gradients = tb.grad(loss, (0, 1))(*(tb.asarray(vector, dtype="f64") for vector in (x, y)))
    values = [tb.asarray(vector, dtype="f64", backend="jax") for vector in (x, y)]
    theirs: Any = jax.jit(jax.grad(lambda *values: loss(*values).data, (0, 1)))
    for ours, reference in zip(gradients, theirs(*values), strict=True):
        check_close(ours, reference)
