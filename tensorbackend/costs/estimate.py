"""The costs of nodes: of a primitive by its rule, of a composite by its parts, of control flow by its graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..declarations.op_specs import COSTS
from ..errors import UnsupportedOp, expected
from ..expr.evaluate import Compiled
from ..expr.graph import Graph, iterations, subgraphs
from ..expr.node import CAPTURED, PARAMETER, RENAMED, Node
from ..expr.trace import trace_leaves
from ..protocol import BackendLike, own_method
from ..protocol.workspace import space_of
from ..select import get_backend
from ..template import Template, intern_template
from ..tensor import Tensor
from .flops import APPLICATIONS, ROUNDING, Work, rule_of, total
from .memory import timeline

_NOTHING: Final = Work(shares=(None,), strided=(False,))
_VIEW: Final = Work(shares=(0,), strided=(False,))


class Estimator:
    """Estimates the work of nodes, once for equal nodes, also across graphs.

    The workspace of a kernel is what a backend declares for it, by default NumPy's.
    """

    def __init__(self, backend: BackendLike = "numpy") -> None:
        self._backend = get_backend(backend)
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
            key = (*key, *[len(argument) if type(argument) is tuple else argument is None for argument in node.inputs])
        if node.options:
            key = (*key, *node.options.items())
        try:
            work = self._known.get(key)
        except TypeError:  # an option that does not hash
            return self._work(node, inputs)
        if work is None:
            work = self._known[key] = self._work(node, inputs)
        return work

    def _work(self, node: Node, inputs: tuple[Template, ...]) -> Work:
        if isinstance(node.default, Compiled):
            return self._work_of_fused(node, node.default)
        cost = COSTS.get(node.op)
        if cost in ("view", "strided view") or _leaves_alone(node, inputs):
            return Work(shares=(0,), strided=(cost == "strided view" and not _keeps_order(node, inputs[0]),))
        rule = rule_of(node.op)
        if rule is None:
            if subgraphs(node):
                return self._work_of_control(node)
            if node.default is None:
                remedy = "declare its FLOPs in tensorbackend/costs/flops.py"
                raise UnsupportedOp(expected("an op whose costs are known", remedy, op=node.op))
            return self._composite(node)
        written = sum(template.payload_nbytes for template in node.outs)
        read = sum(template.payload_nbytes for template in inputs)
        if cost == "pick":
            read += min(written - inputs[0].payload_nbytes, 0)
        count = rule(node.out, *node.templates, **node.options)
        flops, transcendentals = count, 0
        if cost == "transcendental" and inputs[0].dtype.is_inexact:
            flops, transcendentals = 0, count
        work = Work(flops, transcendentals, read, written, self._space(node) or 0).apart(len(node.outs))
        return self._work_of_application(node, work, inputs) if node.op in APPLICATIONS else work

    def _work_of_fused(self, node: Node, default: Compiled) -> Work:
        """The work of a fused node, whose intermediate values never leave the cache."""
        work = total([self.work(fused_node) for fused_node in default.nodes])
        read = sum(value.template.payload_nbytes for value in node.operands)
        written = sum(out.payload_nbytes for out in node.outs)
        return work._replace(read=read, written=written).apart(len(node.outs))

    def _space(self, node: Node) -> int | None:
        """The bytes of workspace that the backend's own callback for a node takes; `None` if it has no callback."""
        return space_of(self._backend, node.op, node.out, node.templates, node.options)

    def _work_of_application(self, node: Node, work: Work, inputs: tuple[Template, ...]) -> Work:
        """The work of a callback that applies a function of scalars, with the operations of that function."""
        function: Any = node.options["function"]
        out: Any = node.out
        scalars = [intern_template((), inputs[0].dtype, ())]
        if node.op != "map":  # a reduction's function takes the result so far, too
            scalars.insert(0, intern_template((), out.dtype, ()))
        graph = trace_leaves(lambda tensors: function(*tensors), scalars, ("",) * len(scalars))
        application = total(self.works(graph))
        count = APPLICATIONS[node.op](out, *inputs, **node.options)
        return work._replace(
            flops=application.flops * count, transcendentals=application.transcendentals * count, open=application.open
        )

    def _composite(self, node: Node) -> Work:
        """The work of a composite: that of the parts of its default implementation."""
        default: Any = node.default
        templates = [value.template for value in node.operands]

        def parts(tensors: list[Tensor]) -> Any:
            rest = iter(tensors)
            return default(node.out, node.map_inputs(lambda value: next(rest)), node.options)

        graph = trace_leaves(parts, templates, ("",) * len(templates))
        works = self.works(graph)
        work, memory = total(works), timeline(graph, works)
        backend_space = self._space(node)
        if backend_space is not None:
            return work._replace(workspace=backend_space).apart(len(node.outs))
        workspace = max(memory.peak - memory.parameters - memory.results, 0)
        blocks = memory.result_blocks(graph)
        return work._replace(workspace=workspace, shares=memory.shares, strided=memory.strided, blocks=blocks)

    def _work_of_control(self, node: Node) -> Work:
        """The work of control flow: each graph times its maximum number of runs; for `cond`, the larger branch."""
        works, memories = [], []
        for graph, count in zip(subgraphs(node), iterations(node), strict=True):
            inner = self.works(graph)
            once = total(inner)
            once = once._replace(open=once.open or count is None)
            works.append(once.times(1 if count is None else count))
            memories.append((graph, timeline(graph, inner)))
        work = (max(works, key=_amount) if node.op == "cond" else total(works)).apart(len(node.outs))
        inside = max(memory.peak - memory.parameters for _, memory in memories)
        if node.op in ("cond", "checkpoint"):  # what the graph returns are the node's results
            graph, memory = max(memories, key=lambda pair: pair[1].results)
            blocks = memory.result_blocks(graph)
            if node.op == "checkpoint":  # an operand may be a result
                work = work._replace(shares=memory.shares, strided=memory.strided)
            own = [place for place, share in enumerate(work.shares) if share is None and blocks[place][0] == place]
            made = sum(blocks[place][1] for place in own)
            return work._replace(workspace=max(inside - made, 0), blocks=blocks)
        if node.op == "scan" and own_method(self._backend, node.op) is None:
            # Values stacked at the end exist twice: as the values of each step, and as the stack.
            carried: Any = node.inputs[1]
            inside = max(inside, sum(out.payload_nbytes for out in node.outs[len(carried) :]))
        return work._replace(workspace=inside)


def _leaves_alone(node: Node, inputs: Sequence[Template]) -> bool:
    """Whether the result is the input: rounded integers, and casts to the dtype it has already."""
    if node.op == "as_type":
        return inputs[0].dtype is node.outs[0].dtype
    return node.op in ROUNDING and not inputs[0].dtype.is_inexact


def _keeps_order(node: Node, x: Template) -> bool:
    """Whether elements are in memory as before: all of them are there, and only axes of one element move."""
    if node.op == "slice":
        return node.outs[0].size == x.size
    axes: Any = node.options.get("axes") if node.op in ("transpose", "broadcast") else None
    if axes is None or node.outs[0].size != x.size:
        return False
    order = [axis for axis, size in zip(axes, node.outs[0].shape, strict=False) if size > 1]
    if node.op == "broadcast":
        order = [axis for axis, size in zip(axes, x.shape, strict=True) if size > 1]
    return order == sorted(order)


def _amount(work: Work) -> tuple[int, int]:
    return work.flops + work.transcendentals, work.written
