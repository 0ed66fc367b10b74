"""Control flow as XLA compiles it, each graph traced by JAX once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...expr.evaluate import evaluate
from ...expr.graph import Graph
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array, kernel
from .base import JaxBase

Arrays = tuple[Array, ...]


class JaxControl(JaxBase):
    """A choice between graphs, and loops."""

    @kernel
    def checkpoint(self, out: tuple[Template, ...], operands: Sequence[Tensor], /, *, body: Graph) -> Payload:
        """What a graph gives, behind a barrier: XLA would else find the same values elsewhere, and keep those."""
        return self._of(body)(*self.lax.optimization_barrier(_data(operands)))

    @kernel
    def cond(
        self,
        out: tuple[Template, ...],
        predicate: Tensor,
        operands: Sequence[Tensor],
        /,
        *,
        true_branch: Graph,
        false_branch: Graph,
    ) -> Payload:
        """What one of two graphs gives."""
        return self.lax.cond(predicate.data, self._of(true_branch), self._of(false_branch), *_data(operands))

    @kernel
    def while_loop(
        self,
        out: tuple[Template, ...],
        constants: Sequence[Tensor],
        initial: Sequence[Tensor],
        /,
        *,
        condition: Graph,
        body: Graph,
        limit: int | None,
    ) -> Payload:
        """Turns as long as a condition holds.

        With a limit it is a scan of all turns, of which those after the last do nothing: of that JAX has a gradient.
        """
        held = _data(constants)
        holds, turn = partial(self._of(condition), *held), partial(self._of(body), *held)
        if limit is None:
            return self.lax.while_loop(
                lambda carried: holds(*carried)[0], lambda carried: turn(*carried), _data(initial)
            )

        def step(state: tuple[Array, Arrays], entry: None) -> tuple[tuple[Array, Arrays], None]:
            goes_on, carried = state
            goes_on = goes_on & holds(*carried)[0]
            return (goes_on, self.lax.cond(goes_on, turn, lambda *same: same, *carried)), None

        (_, carried), _ = self.lax.scan(step, (self.xp.asarray(True), _data(initial)), None, length=limit)
        return carried

    @kernel
    def scan(
        self,
        out: tuple[Template, ...],
        constants: Sequence[Tensor],
        initial: Sequence[Tensor],
        xs: Sequence[Tensor],
        /,
        *,
        body: Graph,
        length: int,
        reverse: bool,
    ) -> Payload:
        """Steps along the first axis."""
        held, count, run = _data(constants), len(initial), self._of(body)

        def step(carried: Arrays, entries: Arrays) -> tuple[Arrays, Arrays]:
            found = run(*held, *carried, *entries)
            return found[:count], found[count:]

        carried, ys = self.lax.scan(step, _data(initial), _data(xs), length=length, reverse=reverse)
        return carried + ys

    def _of(self, graph: Graph) -> Callable[..., Arrays]:
        """A graph as a function of arrays."""

        def run(*arrays: Array) -> Arrays:
            tensors = [Tensor(template, self, data) for template, data in zip(graph.templates, arrays, strict=True)]
            return _data(evaluate(graph, tensors, self))

        return run


def _data(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(x.data for x in tensors)
