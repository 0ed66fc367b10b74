"""What nodes cost: those of a primitive by its rule, a composite by its parts, control flow by its graphs."""

from __future__ import annotations

from typing import Any, Final

from ...errors import UnsupportedOp, expected
from ...opspec import COSTS
from ...template import Template, intern_template
from ...tensor import Tensor
from ..graph import Graph
from ..node import CAPTURED, PARAMETER, RENAMED, Node, Value
from ..subgraphs import subgraphs, turns
from ..trace import trace_leaves
from .flops import APPLICATIONS, rule_of
from .memory import timeline
from .work import Work, total

_NOTHING: Final = Work(shares=(None,), strided=(False,))
_VIEW: Final = Work(shares=(0,), strided=(False,))


class Estimator:
    """Works out nodes; alike nodes are worked out once, so it may be used for several graphs."""

    def __init__(self) -> None:
        self._known: dict[Any, Work] = {}

    def works(self, graph: Graph) -> list[Work]:
        """The work of each node of a graph."""
        return [self.work(node) for node in graph.nodes]

    def work(self, node: Node) -> Work:
        """The work of a node."""
        op, operands = node.op, node.operands
        if op in (PARAMETER, CAPTURED):
            return _NOTHING
        if op == RENAMED:
            return _VIEW
        inputs = tuple([value.template for value in operands])
        key: Any = (op, node.out, inputs, node.default)
        if operands is not node.inputs:
            key = (*key, *[len(each) if type(each) is tuple else each is None for each in node.inputs])
        if node.options:
            key = (*key, *node.options.items())
        try:
            found = self._known.get(key)
        except TypeError:  # an option that does not hash
            return self._work(node, inputs)
        if found is None:
            found = self._known[key] = self._work(node, inputs)
        return found

    def _work(self, node: Node, inputs: tuple[Template, ...]) -> Work:
        rule = rule_of(node.op)
        if rule is None:
            if subgraphs(node):
                return self._controlled(node)
            if node.default is None:
                remedy = "declare its FLOPs in tensorbackend/expr/cost/flops.py"
                raise UnsupportedOp(expected("an op whose costs are known", remedy, op=node.op))
            return self._composite(node)
        written = sum(template.nbytes for template in node.outs)
        read = sum(template.nbytes for template in inputs)
        cost = COSTS.get(node.op)
        if cost in ("view", "strided view") or (node.op == "as_type" and inputs[0].dtype is node.outs[0].dtype):
            return Work(shares=(0,), strided=(cost == "strided view",))
        if cost == "pick":
            read += min(written - inputs[0].nbytes, 0)
        count = rule(node.out, *node.with_inputs(lambda value: value.template), **node.options)
        flops, transcendentals = count, 0
        if cost == "transcendental" and inputs[0].dtype.is_inexact:
            flops, transcendentals = 0, count
        work = Work(flops, transcendentals, read, written, 0, (None,) * len(node.outs), (False,) * len(node.outs))
        return self._applied(node, work, inputs) if node.op in APPLICATIONS else work

    def _applied(self, node: Node, work: Work, inputs: tuple[Template, ...]) -> Work:
        """With the operations of the function of scalars that a callback is given."""
        function: Any = node.options["function"]
        out: Any = node.out
        scalars = [intern_template((), inputs[0].dtype, ())]
        if node.op != "map":  # what there is so far
            scalars.insert(0, intern_template((), out.dtype, ()))
        graph = trace_leaves(lambda given: function(*given), scalars, ("",) * len(scalars))
        each = total(self.works(graph))
        count = APPLICATIONS[node.op](out, *inputs, **node.options)
        return work._replace(flops=each.flops * count, transcendentals=each.transcendentals * count, open=each.open)

    def _composite(self, node: Node) -> Work:
        """The work of the parts of which the default implementation is made."""
        default: Any = node.default
        templates = [value.template for value in node.operands]

        def parts(given: list[Tensor]) -> Any:
            rest = iter(given)
            inputs = tuple(
                each if each is None else next(rest) if isinstance(each, Value) else tuple(next(rest) for _ in each)
                for each in node.inputs
            )
            return default(node.out, inputs, node.options)

        graph = trace_leaves(parts, templates, ("",) * len(templates))
        works = self.works(graph)
        found, memory = total(works), timeline(graph, works)
        new = sum(out.nbytes for out, share in zip(node.outs, memory.shares, strict=True) if share is None)
        workspace = max(memory.peak - memory.parameters - new, 0)
        return found._replace(workspace=workspace, shares=memory.shares, strided=memory.strided)

    def _controlled(self, node: Node) -> Work:
        """The work of control flow: each graph as often as it runs at most, of the branches of `cond` the largest."""
        works, spaces = [], []
        for graph, count in zip(subgraphs(node), turns(node), strict=True):
            inner = self.works(graph)
            once = total(inner)
            once = once._replace(open=once.open or count is None)
            works.append(once.times(1 if count is None else count))
            memory = timeline(graph, inner)
            spaces.append(memory.peak - memory.parameters)
        found = max(works, key=_amount) if node.op == "cond" else total(works)
        number = len(node.outs)
        return found._replace(workspace=max(spaces), shares=(None,) * number, strided=(False,) * number)


def _amount(work: Work) -> tuple[int, int]:
    return work.flops + work.transcendentals, work.written
