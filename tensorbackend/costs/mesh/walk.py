"""The program of one device of a mesh: each node on the device's parts, with collectives between them.

The names of a result's axes say its *layout*, that is, over which mesh axes it is divided, before it is computed:
`JaxBackend` on a mesh constrains results in the same way. An axis without a name is divided as the axes of the operands
that it comes from. This decides the layouts of the operands: devices gather an operand in another layout, exchange its
parts or slice what they hold. Partial results are combined at once. XLA's partitioner does the same, except where it
finds a cheaper way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from ...declarations.op_specs import REACHES
from ...expr.graph import Graph, iterations, subgraphs
from ...expr.node import CAPTURED, HOOK, HOST, PARAMETER, Node, Value
from ...expr.simplify import common_subexpressions, expanded
from ...mesh import Layout
from ...template import Template
from ..estimate import Estimator
from ..flops import Work, total
from ..memory import Timeline, timeline
from .collectives import Collective, Kind
from .factors import Factors, factors_of
from .moves import Axes, Moves, Part, whole

BY_HAND: Final[dict[str, Kind]] = {
    "sum": "all-reduce",
    "max": "all-reduce",
    "min": "all-reduce",
    "gather": "all-gather",
    "scatter": "reduce-scatter",
    "exchange": "all-to-all",
}
"""The kind of collective for each operation that a function of `shard_map` may call."""


class DeviceProgram(NamedTuple):
    """The program of one device."""

    graph: Graph
    """The graph of the device's parts, with collectives among its nodes."""
    timeline: Timeline
    collectives: tuple[Collective, ...]
    inside: tuple[Axes, ...]
    """The layouts of the parameters."""
    outside: tuple[Axes, ...]
    """The layouts of the results."""

    @property
    def work(self) -> Work:
        """The work of all nodes."""
        return total(self.timeline.works)


def flat(graph: Graph) -> Graph:
    """A graph whose composites are replaced by their parts, except those that a mesh divides better as a whole."""
    return common_subexpressions(expanded(graph, lambda node: node.op in REACHES or node.op == "collective"))


class Walk:
    """Divides graphs by a layout."""

    def __init__(self, layout: Layout, known: Walk | None = None) -> None:
        self.layout = layout
        # Facts that hold on any mesh are taken from another walk.
        self._estimator: Estimator = Estimator("template") if known is None else known._estimator
        self._factors: dict[Node, Factors] = {} if known is None else known._factors

    def divided(
        self, graph: Graph, inside: Sequence[Axes] | None = None, donated: Collection[int] = ()
    ) -> DeviceProgram:
        """The program of a device for a graph with parameters in the layouts `inside`, by default by their names.

        The parameters with the numbers in `donated` are freed at their last use.
        """
        return Device(self, graph, inside).result(donated)

    def works(self, node: Node) -> Work:
        """The work of a node of a device's graph."""
        return self._estimator.work(node)

    def factors(self, node: Node) -> Factors:
        """The factors of a node."""
        factors = self._factors.get(node)
        if factors is None:
            factors = self._factors[node] = factors_of(node)
        return factors

    def axes_by_names(self, template: Template) -> Axes:
        """The layout of a tensor by its names: axes without names are whole. Mesh axes of one device divide nothing."""
        sizes = self.layout.mesh.sizes
        return tuple(
            [tuple([axis for axis in mesh_axes if sizes[axis] > 1]) for mesh_axes in self.layout.of(template).axes]
        )


class Device(Moves):
    """The walk over one graph."""

    def __init__(self, walk: Walk, graph: Graph, inside: Sequence[Axes] | None) -> None:
        super().__init__(walk.layout)
        self.walk = walk
        self.known: dict[Value, Part] = {}
        self.hints: dict[Value, list[tuple[str, ...]]] = {}
        if inside is None:
            inside = [walk.axes_by_names(value.template) for value in graph.parameters]
        for value, axes in zip(graph.parameters, inside, strict=True):
            self.known[value] = self.add_part(PARAMETER, value.template, axes, (), value.node.line)
        self.graph, self.inside = graph, tuple(inside)
        self.run(graph)

    def result(self, donated: Collection[int] = ()) -> DeviceProgram:
        """The program of one device for the whole graph."""
        outputs = [self.known[value] for value in self.graph.outputs]
        local = Graph([self.known[value].value for value in self.graph.parameters], [part.value for part in outputs])
        works = [self.works[node] for node in local.nodes]
        local_timeline = timeline(local, works, reuse=True, donated=donated)
        return DeviceProgram(
            local, local_timeline, tuple(self.collectives), self.inside, tuple([part.axes for part in outputs])
        )

    def run(self, graph: Graph) -> None:
        """Divides the nodes of a graph whose parameters are known."""
        nodes = graph.nodes[len(graph.parameters) :]
        self.hint(nodes)
        for node in nodes:
            for value, part in zip(node.values, self.node(node), strict=True):
                self.known[value] = part

    # Nodes

    def node(self, node: Node) -> Sequence[Part]:
        """The parts of a node's results."""
        if node.op == CAPTURED:
            return [self.add_part(CAPTURED, node.outs[0], self.walk.axes_by_names(node.outs[0]), (), node.line)]
        if node.op in ("checkpoint", "shard_map"):
            return self.inline(node)
        if node.op == "collective":
            return self.place_collective(node)
        if subgraphs(node):
            return self.place_control_flow(node)
        if node.op in (HOST, HOOK):
            return self.place_host_call(node)
        return self.divided(node)

    def divided(self, node: Node) -> Sequence[Part]:
        """The parts of the results of a call that is divided among the devices."""
        factors, operands = self.walk.factors(node), [self.known[value] for value in node.operands]
        assigned = self.assign(node, factors, operands)
        over = tuple([axis for factor in sorted(factors.summed) for axis in assigned.get(factor, ())])
        for factor, mesh_axes in assigned.items():
            if factor not in factors.summed:  # while sums are scattered, their mesh axes divide the summed axes
                assigned[factor] = tuple([axis for axis in mesh_axes if axis not in over])

        def axes_of(places: Sequence[int | None]) -> Axes:
            return tuple([() if place is None else assigned.get(place, ()) for place in places])

        inputs = [
            self.laid(part, axes_of(places), node).value for part, places in zip(operands, factors.inputs, strict=True)
        ]
        axes = [axes_of(places) for places in factors.outputs]
        outs = tuple([self.part(out, out_axes) for out, out_axes in zip(node.outs, axes, strict=True)])
        rest = iter(inputs)
        local_inputs = node.map_inputs(lambda value: next(rest))
        out = outs[0] if isinstance(node.out, Template) else outs
        local_node = Node(node.op, out, local_inputs, node.options, line=node.line)
        self.works[local_node] = self.walk.works(local_node)
        parts = []
        for index, (all_of_it, layout) in enumerate(zip(node.outs, axes, strict=True)):
            part, target = Part(Value(local_node, index), all_of_it, layout), self.target(all_of_it, layout)
            if over:
                part = self.combine_partial(part, over, target, node)
            parts.append(self.laid(part, target, node))
        return parts

    def target(self, out: Template, axes: Axes) -> Axes:
        """The layout of a result: axes with names as their rules say, other axes as they are computed."""
        named = self.walk.axes_by_names(out)
        return tuple([
            computed_axes if name is None else rule
            for name, rule, computed_axes in zip(out.names, named, axes, strict=True)
        ])  # fmt: skip

    def assign(self, node: Node, factors: Factors, operands: Sequence[Part]) -> dict[int, tuple[str, ...]]:
        """The mesh axes over which each factor is divided."""
        assigned: dict[int, tuple[str, ...]] = {}
        taken: set[str] = set()
        open_places: list[tuple[int, int, Value]] = []
        for value, places in zip(node.values, factors.outputs, strict=True):
            out = value.template
            ruled = self.walk.axes_by_names(out)
            for place, (factor, name) in enumerate(zip(places, out.names, strict=True)):
                if factor is None or factor in assigned:
                    continue
                if name is None:
                    open_places.append((factor, place, value))
                else:
                    assigned[factor] = ruled[place]
                    taken.update(ruled[place])
        by_size = sorted(zip(operands, factors.inputs, strict=True), key=lambda pair: -pair[0].value.template.nbytes)

        def offer(factor: int, size: int, more: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
            """The free mesh axes over which some operand or hint divides a factor."""
            there = [part.axes[places.index(factor)] for part, places in by_size if factor in places]
            for axes in (*there, *more):
                free = tuple([axis for axis in axes if axis not in taken])
                if free and size % self.parts(free) == 0:
                    return free
            return ()

        for factor, place, value in open_places:
            if factor not in assigned:
                hints = self.hints.get(value)
                axes = offer(factor, value.template.shape[place], [hints[place]] if hints else [])
                assigned[factor] = axes
                taken.update(axes)
        for factor in sorted(factors.summed):
            sizes = [part.whole.shape[places.index(factor)] for part, places in by_size if factor in places]
            axes = self.scattered(node, factor, factors, by_size, assigned) or offer(factor, sizes[0], [])
            assigned[factor] = axes
            taken.update(axes)
        for part, places in by_size:  # in a reshape, the axes of one side alone may be divisible
            for size, axis_factor in zip(part.whole.shape, places, strict=True):
                if axis_factor is not None and size % self.parts(assigned.get(axis_factor, ())):
                    assigned[axis_factor] = ()
        return assigned

    def scattered(
        self,
        node: Node,
        factor: int,
        factors: Factors,
        operands: Sequence[tuple[Part, Sequence[int | None]]],
        assigned: dict[int, tuple[str, ...]],
    ) -> tuple[str, ...]:
        """The mesh axes of a summed factor, if its sums should be scattered over those that divide a result too.

        Empty if there are no such axes, if operands divide the factor differently, and if it is cheaper to gather the
        operands.
        """
        holding = [(part, places) for part, places in operands if factor in places]
        summed_axes = holding[0][0].axes[holding[0][1].index(factor)]
        both = [axis for axis in summed_axes if any(axis in axes for axes in assigned.values())]
        if not both or any(part.axes[places.index(factor)] != summed_axes for part, places in holding):
            return ()
        gathered = sum(part.value.template.nbytes * self.parts(both) for part, _ in holding)
        scattered = 0
        for out, places in zip(node.outs, factors.outputs, strict=True):
            axes = [() if place is None else assigned.get(place, ()) for place in places]
            scattered += self.part(
                out, tuple([tuple([a for a in mesh_axes if a not in summed_axes]) for mesh_axes in axes])
            ).nbytes
        return summed_axes if scattered <= gathered else ()

    # Control flow

    def inline(self, node: Node) -> Sequence[Part]:
        """Divides the body of a node in place of the node; the body of `shard_map` works on the devices' parts."""
        body = cast(Graph, node.options["body"])
        operands = [self.known[value] for value in node.operands]
        if node.op == "checkpoint":
            named = [
                self.target(value.template, part.axes) for value, part in zip(body.parameters, operands, strict=True)
            ]
            body = flat(body)
            for value, part, axes in zip(body.parameters, operands, named, strict=True):
                self.known[value] = self.laid(part, axes, node)
            # The body shares no moved parts with ops outside: a compiler must not reuse values across its border.
            outer, self.moved = self.moved, {}
            self.run(body)
            self.moved = outer
            return [self.known[value] for value in body.outputs]
        inside, outside = cast(
            "tuple[Sequence[Axes], Sequence[Axes]]", (node.options["inside"], node.options["outside"])
        )
        laid = [self.laid(part, axes, node) for part, axes in zip(operands, inside, strict=True)]
        walk, body = self.walk, flat(body)
        self.walk = Walk(Layout(walk.layout.mesh, {}), walk)  # without rules: inside, each part is a whole
        for value, part in zip(body.parameters, laid, strict=True):
            self.known[value] = Part(part.value, value.template, whole(value.template))
        self.run(body)
        self.walk = walk
        parts = [
            Part(self.known[v].value, out, axes) for v, out, axes in zip(body.outputs, node.outs, outside, strict=True)
        ]
        return [self.laid(part, self.target(part.whole, part.axes), node) for part in parts]

    def place_collective(self, node: Node) -> Sequence[Part]:
        """The result of a collective that the user wrote, or that a gradient needs."""
        options: Any = node.options
        if options["kind"] == "vary":  # changes no values: it marks them as varying over devices
            return [self.known[value] for value in node.operands]
        operands = [self.known[value].value for value in node.operands]
        (out,) = node.outs
        if options["kind"] in BY_HAND:
            kind = BY_HAND[options["kind"]]
            larger = max(out.nbytes, *[value.template.nbytes for value in operands])
            self.together(kind, options["axes"], larger, node)
        return [self.add_part(node.op, out, whole(out), tuple(operands), node.line)]

    def place_host_call(self, node: Node) -> Sequence[Part]:
        """A function of the user's, for which operands are gathered; a hook returns its carried values unchanged."""
        carried = cast("tuple[Value, ...]", node.inputs[0]) if node.op == HOOK else ()
        carried_parts = [self.known[value] for value in carried]
        gathered = [
            self.laid(part, whole(part.whole), node).value
            for part in map(self.known.__getitem__, node.operands[len(carried) :])
        ]
        if node.op == HOOK:
            return carried_parts
        wholes = [self.add_part(node.op, out, whole(out), tuple(gathered), node.line) for out in node.outs]
        return [self.laid(part, self.target(part.whole, part.axes), node) for part in wholes]

    def place_control_flow(self, node: Node) -> Sequence[Part]:
        """A loop or a choice: each of its graphs is a separate program, which runs a number of times."""
        operands = [self.known[value] for value in node.operands]
        graphs = [flat(graph) for graph in subgraphs(node)]
        scanned = len(cast("tuple[Value, ...]", node.inputs[2])) if node.op == "scan" else 0
        steady = len(operands) - scanned
        for number in range(steady, len(operands)):  # each step takes an entry of the first axis
            part = operands[number]
            operands[number] = self.laid(part, ((), *part.axes[1:]), node)
        programs: list[DeviceProgram] = []
        for graph, several in zip(graphs, self.taken(node, operands, steady), strict=True):
            inside = [self.target(value.template, axes) for value, axes in zip(graph.parameters, several, strict=True)]
            device = Device(self.walk, graph, inside)
            if node.op != "cond" and graph is graphs[-1]:  # the next iteration takes the results in this layout
                before, carried = inside[len(inside) - scanned - self.carried(node) :], graph.outputs
                device.left(dict(zip(carried[: self.carried(node)], before, strict=False)), node)
            programs.append(device.result())
        sending = [(program, count or 1) for program, count in zip(programs, iterations(node), strict=True)]
        spent = [program.work.times(count) for program, count in sending]
        if node.op == "cond":
            sending = [max(sending, key=lambda pair: sum(collective.sent for collective in pair[0].collectives))]
        for program, runs in sending:
            self.collectives += [collective._replace(runs=collective.runs * runs) for collective in program.collectives]
        outside = [*programs[-1].outside]
        if node.op == "scan":
            count = self.carried(node)
            outside[count:] = [((), *axes) for axes in outside[count:]]
        outs = tuple([self.part(out, axes) for out, axes in zip(node.outs, outside, strict=True)])
        local_node = Node(node.op, outs, tuple([part.value for part in operands]), line=node.line)
        work = (
            max(spent, key=lambda program_work: program_work.flops + program_work.written)
            if node.op == "cond"
            else total(spent)
        )
        space = max(max(program.timeline.peak - program.timeline.parameters, 0) for program in programs)
        is_open = work.open or None in iterations(node)
        self.works[local_node] = work._replace(workspace=space, open=is_open).apart(len(node.outs))
        parts = [
            Part(Value(local_node, i), out, axes) for i, (out, axes) in enumerate(zip(node.outs, outside, strict=True))
        ]
        return [self.laid(part, self.target(part.whole, part.axes), node) for part in parts]

    def carried(self, node: Node) -> int:
        """The number of values that a loop carries from iteration to iteration."""
        return len(cast("tuple[Value, ...]", node.inputs[1]))

    def left(self, carried: Mapping[Value, Axes], node: Node) -> None:
        """Divides each carried value over the given mesh axes."""
        for value, axes in carried.items():
            self.known[value] = self.laid(self.known[value], axes, node)

    def taken(self, node: Node, operands: Sequence[Part], steady: int) -> list[list[Axes]]:
        """The layouts of the parameters of each graph of a node, if they are those of the node's operands."""
        axes = [part.axes for part in operands]
        if node.op == "cond":
            return [axes[1:]] * len(subgraphs(node))
        return [[*axes[:steady], *[scanned_axes[1:] for scanned_axes in axes[steady:]]]] * len(subgraphs(node))

    # Axes without names are laid out as the ops that read them need

    def hint(self, nodes: Sequence[Node]) -> None:
        """Notes, for axes without names, the mesh axes of the results that are computed from them."""
        for node in reversed(nodes):
            if not node.inputs or node.op in _OTHERS or subgraphs(node):
                continue
            if all(value.template.ndim == 0 for value in node.operands):
                continue
            axes_by_factor: dict[int, tuple[str, ...]] = {}
            factors = self.walk.factors(node)
            for value, places in zip(node.values, factors.outputs, strict=True):
                axes = self.target(value.template, tuple(self.hints.get(value) or whole(value.template)))
                axes_by_factor.update(
                    {
                        factor: mesh_axes
                        for factor, mesh_axes in zip(places, axes, strict=True)
                        if factor is not None and mesh_axes
                    }
                )
            if not axes_by_factor:
                continue
            for value, places in zip(node.operands, factors.inputs, strict=True):
                hints = self.hints.setdefault(value, [()] * len(places))
                for place, factor in enumerate(places):
                    if factor is not None and not hints[place]:
                        hints[place] = axes_by_factor.get(factor, ())


_OTHERS: Final = frozenset({HOOK, HOST, "collective"})
