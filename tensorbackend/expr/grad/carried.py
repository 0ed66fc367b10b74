"""What the rules of control flow share: which values a loop carries need cotangents, and where these go."""

from __future__ import annotations

from collections.abc import Sequence

from ...ops.creation.filled import zeros
from ...template import Template
from ...tensor import Tensor
from ..graph import Graph, reachable
from ..mesh_variation import Variation, varies_of
from .engine import find_dependents, inexact

Arrived = tuple[Tensor | None, ...]
Tensors = tuple[Tensor, ...]
Needed = tuple[bool, ...]


def true_positions(chosen: Sequence[bool]) -> list[int]:
    """The positions of the true flags."""
    return [position for position, flag in enumerate(chosen) if flag]


def arrived_cotangents(cotangents: Arrived) -> tuple[list[int], Tensors]:
    """The positions of the results that have a cotangent, and these cotangents."""
    chosen = [position for position, x in enumerate(cotangents) if x is not None]
    return chosen, tuple([x for x in cotangents if x is not None])


def scatter(count: int, positions: Sequence[int], cotangents: Sequence[Tensor]) -> Arrived:
    """Cotangents at their positions, `None` elsewhere."""
    placed: list[Tensor | None] = [None] * count
    for position, x in zip(positions, cotangents, strict=True):
        placed[position] = x
    return tuple(placed)


def variations(tensors: Sequence[Tensor]) -> list[Variation]:
    return [varies_of(x) for x in tensors]


def gradient_flows(body: Graph, needed: Sequence[Needed], fixed: int, count: int) -> list[bool]:
    """For each carried value, whether a gradient flows from it to a needed operand, in any step."""
    parameters = body.parameters
    start = {parameters[position].node for position in true_positions([*needed[0], *needed[1], *needed[2]])}
    while True:
        flowing = find_dependents(body.nodes, start)
        more = {
            parameters[fixed + position].node
            for position, value in enumerate(body.outputs[:count])
            if value.node in flowing and inexact(value)
        }
        if more <= start:
            return [parameters[fixed + position].node in start for position in range(count)]
        start |= more


def live_positions(body: Graph, changing: Sequence[bool], arrived: Sequence[bool], fixed: int) -> list[int]:
    """The positions of the changing carried values that a result with a cotangent depends on, in any step."""
    count = len(changing)
    outputs = {value for value, has_cotangent in zip(body.outputs, arrived, strict=True) if has_cotangent}
    live = {position for position in range(count) if arrived[position]}
    while True:
        nodes = set(reachable(outputs))
        more = {position for position in range(count) if body.parameters[fixed + position].node in nodes} - live
        if not more:
            return [position for position in true_positions(changing) if position in live]
        live |= more
        outputs |= {body.outputs[position] for position in more}


def numbered(**counts: int) -> list[str]:
    return [f"{name}[{position}]" for name, count in counts.items() for position in range(count)]


def entry(x: Tensor) -> Template:
    return Template(x.shape[1:], x.dtype, x.names[1:])


def cotangent_of(cotangent: Tensor | None, x: Tensor) -> Tensor:
    return zeros(x.shape, dtype=x.dtype, names=x.names) if cotangent is None else cotangent
