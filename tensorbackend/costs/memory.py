"""The lifetimes of values: the memory that a graph needs while its nodes run in order.

Memory consists of *blocks*, one for each result that does not share its input's memory. A block exists from the node
that allocates it to the last node that reads it or a view of it. The blocks of parameters and captured tensors exist
all the time, as the caller holds them. The blocks of results exist from the node that allocates them to the end. A
node's inputs, results and workspace exist at the same time, unless `reuse` lets an elementwise op write over an input
that has the size of its result and is not needed later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import Final, NamedTuple

from ..declarations.op_specs import CALLBACKS
from ..expr.donation import early_order
from ..expr.graph import Graph
from ..expr.node import CAPTURED, PARAMETER, Node, Value
from .flops import Work

PARAMETERS: Final = "parameter"
CAPTURES: Final = "captured"
RESULTS: Final = "result"
INTERMEDIATES: Final = "intermediate"
KINDS: Final = (PARAMETERS, CAPTURES, RESULTS, INTERMEDIATES)
"""The purposes of a block. The block of a parameter that is also a result counts as a parameter."""


class Block:
    """Memory of one value and of all that share it."""

    __slots__ = ("end", "kind", "nbytes", "parameter", "start", "value")

    def __init__(self, value: Value, nbytes: int, kind: str, start: int) -> None:
        self.value, self.nbytes, self.kind = value, nbytes, kind
        self.start = self.end = start
        """The numbers of the nodes at which it is made and last needed."""
        self.parameter: int | None = None
        """The number of the graph's parameter in the block; `None` if there is none."""


class Timeline(NamedTuple):
    """Memory while each node of a graph runs."""

    nodes: Sequence[Node]
    works: Sequence[Work]
    blocks: Sequence[Block]
    held: Mapping[Value, Block]
    """The block of each value."""
    memory: Sequence[int]
    """Bytes that are there while each node runs, parameters and captured tensors among them."""
    parameters: int
    captured: int
    results: int
    """Bytes of the results that are neither parameters nor captured tensors."""
    shares: tuple[int | None, ...]
    """For each result of the graph, the number of the parameter whose memory it shares, or `None`."""
    strided: tuple[bool, ...]
    """Whether the elements of each result of the graph may be in an order other than row-major."""

    def result_blocks(self, graph: Graph) -> tuple[tuple[int, int], ...]:
        """For each result of the graph the first one in the same block, and the block's bytes.

        Of a result in a parameter's block it is the result itself, with its own bytes.
        """
        firsts: dict[Block, int] = {}
        found = []
        for index, value in enumerate(graph.outputs):
            block = self.held[value]
            if block.kind is RESULTS:
                found.append((firsts.setdefault(block, index), block.nbytes))
            else:
                found.append((index, value.template.payload_nbytes))
        return tuple(found)

    @property
    def peak_at(self) -> int:
        """The number of the node at which memory is highest, the first of several."""
        return max(range(len(self.memory)), key=self.memory.__getitem__, default=0)

    @property
    def peak(self) -> int:
        """The highest memory in bytes."""
        return max(self.memory, default=self.parameters + self.captured)

    def alive(self, number: int) -> list[Block]:
        """The blocks that exist while a node runs, the largest first."""
        alive_blocks = [block for block in self.blocks if block.start <= number <= block.end]
        return sorted(alive_blocks, key=lambda block: -block.nbytes)

    def by_kind(self) -> dict[str, list[int]]:
        """Bytes of each kind while each node runs, workspace among the intermediates; together they are `memory`."""
        count = len(self.nodes)
        memory_by_kind = {
            kind: _sum_by_time([block for block in self.blocks if block.kind == kind], count) for kind in KINDS
        }
        spaces = (work.workspace for work in self.works)
        memory_by_kind[INTERMEDIATES] = list(map(add, memory_by_kind[INTERMEDIATES], spaces))
        return memory_by_kind


def timeline(graph: Graph, works: Sequence[Work], *, reuse: bool = False, donated: Collection[int] = ()) -> Timeline:
    """The memory of a graph whose nodes run in order; with `reuse`, elementwise ops write over inputs of last use.

    The parameters with the numbers in `donated` are freed at their last use; with `reuse`, updates run early then.
    """
    nodes, count = early_order(graph, donated) if reuse else graph.nodes, len(graph.nodes)
    if nodes is not graph.nodes:
        known = dict(zip(graph.nodes, works, strict=True))
        works = [known[node] for node in nodes]
    held: dict[Value, Block] = {}
    strided: set[Value] = set()
    blocks: list[Block] = []
    for number, (node, work) in enumerate(zip(nodes, works, strict=True)):
        operands = node.operands
        for value in operands:
            held[value].end = number
        kind = _KINDS.get(node.op, INTERMEDIATES)
        for index, share in enumerate(work.shares):
            value = Value(node, index)
            if share is None or (operands[share] in strided and _copies(node)):
                first, nbytes = work.blocks[index] if work.blocks else (index, value.template.payload_nbytes)
                if first == index:
                    block = held[value] = Block(value, nbytes, kind, number if kind is INTERMEDIATES else 0)
                    blocks.append(block)
                else:
                    held[value] = held[Value(node, first)]
                if share is None and work.strided[index]:
                    strided.add(value)
                continue
            held[value] = held[operands[share]]
            if work.strided[index] or operands[share] in strided:
                strided.add(value)
    fixed = {PARAMETERS: 0, CAPTURES: 0}
    for value in graph.outputs:
        block = held[value]
        if block.kind is INTERMEDIATES:
            block.kind = RESULTS
            block.end = count
    outputs, given = {held[value] for value in graph.outputs}, {held[graph.parameters[place]] for place in donated}
    for block in blocks:
        if block.kind in fixed:
            fixed[block.kind] += block.nbytes
            # One that nothing uses is there until the end.
            if block not in given or block in outputs or not block.end:
                block.end = count
    if reuse:
        _reuse_blocks(nodes, held, given)
    for index, value in enumerate(graph.parameters):
        held[value].parameter = index
    return Timeline(
        nodes,
        works,
        blocks,
        held,
        [there + work.workspace for there, work in zip(_sum_by_time(blocks, count), works, strict=True)],
        fixed[PARAMETERS],
        fixed[CAPTURES],
        sum(block.nbytes for block in blocks if block.kind is RESULTS),
        tuple(held[value].parameter for value in graph.outputs),
        tuple(value in strided for value in graph.outputs),
    )


_KINDS: Final = {PARAMETER: PARAMETERS, CAPTURED: CAPTURES}


def _copies(node: Node) -> bool:
    """Whether a node copies an operand that is a strided view: a reshape, unless it only divides axes."""
    if node.op != "reshape":
        return False
    sizes = [size for size in node.outs[0].shape if size != 1]
    for size in node.operands[0].template.shape:
        part = 1
        while part < size and sizes:
            part *= sizes.pop(0)
        if part != size:
            return True
    return False


def _reuse_blocks(nodes: Sequence[Node], held: dict[Value, Block], given: Collection[Block]) -> None:
    """Ends a block one node early if the last node that needs it is elementwise and writes its result there.

    Blocks of intermediate values are written over, and those of donated parameters.
    """
    for number, node in enumerate(nodes):
        callback = CALLBACKS.get(node.op)
        if callback is None or not callback.elementwise:
            continue
        target = held[Value(node)]
        operands = node.operands
        for value in operands:
            block = held[value]
            owned = block.kind is INTERMEDIATES or block in given
            if block.end != number or not owned or block.nbytes != target.nbytes:
                continue
            # Memory that another view reads, in another order, must not be written over.
            views = any(held[other] is block and other != value for other in operands)
            if value.template.payload_nbytes == block.nbytes and not views:
                block.end = number - 1
                break


def _sum_by_time(blocks: Sequence[Block], count: int) -> list[int]:
    """Bytes of blocks that exist while each node runs."""
    changes = [0] * (count + 2)
    for block in blocks:
        changes[block.start] += block.nbytes
        changes[block.end + 1] -= block.nbytes
    return list(accumulate(changes))[:count]
