"""Two engines side by side: each op gets the same operands on both, so its own accuracy is all that it may use up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy

from ...dtypes import finfo
from ...errors import TensorBackendError
from ...protocol import Backend
from ...tensor import Tensor
from ..expr_backend import capture
from ..graph import Graph
from ..node import PARAMETER, Node, Value, flat, in_place_of, map_each
from ..simplify import parts
from .allowances import allowances, bound_of
from .result import Difference
from .spread import MARGIN, SAMPLES, spread_of
from .values import Array, apart, array_of, beyond, flushed, range_of, tensor_of
from .walk import Tensors, Visit, Walk, computed, spec_of

Inputs = tuple[Any, ...]


class FoundDifference(Exception):
    """Ends a walk at the first difference."""

    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


class Lockstep:
    """Visits each node with the first engine's results, and runs it on the second engine with the same operands."""

    def __init__(self, home: Backend, first: Visit, second: Backend, *, opens: bool = True) -> None:
        self.home, self.first, self.second, self.opens = home, first, second, opens
        """`opens` says whether the first engine can run the parts of composites."""
        self.number = 0
        self.walk = Walk(home, self, self.finish)
        # Each of the two may be that far from the reference, unless it is the reference.
        self.sides = 1 if second.name == "binary" or home.name == "binary" else 2

    def __call__(self, node: Node, inputs: Inputs) -> Tensors:
        results = self.first(node, inputs)
        self.number += 1
        difference = self.judge(node, inputs, results)
        if difference is not None:
            raise FoundDifference(difference)
        return results

    def judge(self, node: Node, inputs: Inputs, results: Tensors) -> Difference | None:
        """The difference of the two engines on one node."""
        try:
            got = computed(self.second, node, inputs)
        except Exception as error:
            return self.difference(node, inputs, 0, error=f"{type(error).__name__}: {error}")
        found = self._compared(node, inputs, results, got)
        if found is None or self._reads_zeros(node, inputs):
            return None
        return self._explained(node, inputs, results, found)

    def _compared(self, node: Node, inputs: Inputs, results: Tensors, got: Tensors) -> Difference | None:
        bound = bound_of(node)
        ulps = self.sides * bound.ulps
        errors: list[Any] | None = None
        for place, (x, y) in enumerate(zip(results, got, strict=True)):
            first, second = array_of(x), array_of(y)
            if first.shape != second.shape:
                return self.difference(node, inputs, place, error=f"a result of shape {second.shape}")
            wrong = beyond(first, second, x.dtype, ulps)
            if bound.scale != "element" and wrong.any():
                errors = errors or allowances(node, bound, inputs, results)
                wrong &= beyond(first, second, x.dtype, ulps, self.sides * errors[place])
            if wrong.any():
                return self.difference(node, inputs, place, first, second, wrong)
        return None

    def _reads_zeros(self, node: Node, inputs: Inputs) -> bool:
        """Whether the engines agree once both get zeros in place of subnormals, as some processors read them."""
        low = map_each(flushed, inputs, Tensor)
        if all(x is y for x, y in zip(flat(low, Tensor), flat(inputs, Tensor), strict=True)):
            return False
        return self._compared(node, low, computed(self.home, node, low), computed(self.second, node, low)) is None

    def _explained(self, node: Node, inputs: Inputs, results: Tensors, found: Difference) -> Difference | None:
        """The difference, unless the accuracy of an op's parts, or its operands' conditioning, explains it."""
        if node.default is not None:
            tensors = flat(inputs, Tensor)
            try:
                graph = of_parts(node)
            except TensorBackendError:  # it looks at data
                return found
            if self.opens:
                inner = Lockstep(self.home, partial(computed, self.home), self.second)
                try:
                    inner.walk.run(graph, tensors)
                except FoundDifference as deeper:
                    part = deeper.difference
                    return replace(found, part=part.op if part.part is None else f"{part.op}, {part.part}")
            left = self.unexplained(graph, tensors, results, computed(self.second, node, inputs))
            return found if any(wrong.any() for wrong in left) else None
        if bound_of(node).scale == "result" and self._is_sensitive(node, inputs, results):
            return None
        return found

    def unexplained(self, graph: Graph, tensors: Sequence[Tensor], results: Tensors, got: Tensors) -> list[Array]:
        """Where each result differs by more than the accuracy of all ops of a graph explains."""
        spread = spread_of(graph, tensors, self.home, results)
        return [
            beyond(array_of(x), array_of(y), x.dtype, 0, spread.allowed(place))
            for place, (x, y) in enumerate(zip(results, got, strict=True))
        ]

    def _is_sensitive(self, node: Node, inputs: Inputs, results: Tensors) -> bool:
        """Whether a matrix that differs in its last digits has results as far apart: it is ill-conditioned."""
        chance = numpy.random.default_rng(0)
        got = computed(self.second, node, inputs)
        moved: list[Array | float] = [0.0] * len(results)

        def move(x: Tensor) -> Tensor:
            if not x.dtype.is_inexact:
                return x
            array = array_of(x)
            size = float(numpy.max(abs(array), initial=0.0)) * finfo(x.dtype).eps
            return tensor_of(array + chance.uniform(-size, size, array.shape), x)

        for _ in range(SAMPLES):
            near = computed(self.home, node, map_each(move, inputs, Tensor))
            moved = [
                numpy.maximum(far, apart(array_of(x), array_of(y), x.dtype)[0])
                for far, x, y in zip(moved, results, near, strict=True)
            ]
        return not any(
            beyond(array_of(x), array_of(y), x.dtype, 0, MARGIN * numpy.max(far, initial=0.0)).any()
            for far, x, y in zip(moved, results, got, strict=True)
        )

    def finish(self, node: Node, inputs: Inputs, results: Tensors) -> None:
        """Runs a whole loop on the second engine, which may have a kernel of its own for it."""
        if self.walk.depth > 1:
            return
        self.number += 1
        try:
            got = computed(self.second, node, inputs)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise FoundDifference(self.difference(node, inputs, 0, error=text)) from None
        pairs = [(array_of(x), array_of(y)) for x, y in zip(results, got, strict=True)]
        if not any(beyond(*pair, x.dtype, 0).any() for pair, x in zip(pairs, results, strict=True)):
            return
        for place, wrong in enumerate(self.unexplained(alone(node), flat(inputs, Tensor), results, got)):
            if wrong.any():
                raise FoundDifference(self.difference(node, inputs, place, *pairs[place], wrong))

    def difference(
        self, node: Node, inputs: Inputs, place: int, *compared: Array | None, error: str = ""
    ) -> Difference:
        """What is known of a node whose results differ; `compared` is both results, and where they are too far off."""
        return describe(node, inputs, place, self.number, *compared, error=error)


def describe(
    node: Node,
    inputs: Inputs,
    place: int,
    number: int,
    first: Array | None = None,
    second: Array | None = None,
    wrong: Array | None = None,
    *,
    error: str = "",
    graph: Graph | None = None,
) -> Difference:
    """The difference of two engines on one result of a node."""
    spec = spec_of(node)
    template = node.outs[place]
    known = Difference(
        op=node.op if spec is None else spec.name,
        part=None,
        line=node.line,
        number=number,
        result=template,
        operands=tuple(map(range_of, flat(inputs, Tensor))),
        bound=bound_of(node),
        error=error,
        graph=graph if graph is not None else alone(node, flat(inputs, Tensor)),
    )
    if first is None or second is None or wrong is None:
        return known
    _, ulps = apart(first, second, template.dtype)
    at = tuple(int(i) for i in numpy.unravel_index(int(numpy.argmax(numpy.where(wrong, ulps, -1.0))), wrong.shape))
    values = first[at].item(), second[at].item()
    return replace(known, at=at, values=values, ulps=float(ulps[at]), wrong=int(wrong.sum()))


def alone(node: Node, tensors: Sequence[Tensor] | None = None) -> Graph:
    """The graph of one node, whose operands are its parameters, or tensors that it holds."""
    with in_place_of(node):
        fresh = [Value(Node(PARAMETER, value.template)) for value in node.operands]
        given = iter(fresh if tensors is None else map(capture, tensors))
        made = node.remade(node.map_inputs(lambda value: next(given)))
    return Graph(fresh if tensors is None else [], made.values)


def of_parts(node: Node) -> Graph:
    """The graph of a composite's parts, whose parameters are its operands."""
    graph = alone(node)
    return Graph(graph.parameters, parts(graph.outputs[0].node))
