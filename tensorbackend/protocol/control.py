"""Callbacks that run graphs: one, a choice between two, and loops. All are composites.

The graphs are closed, and take and give flat sequences of tensors. `expr.evaluate.evaluate(graph, tensors, backend)`
runs one. The results are always a tuple, also of one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..mesh import Mesh
from ..template import Template
from ..tensor import Tensor
from .core import optional_callback
from .planned import Payload

if TYPE_CHECKING:
    from ..expr.graph import Graph
else:
    Graph = Any  # of a higher layer; annotations are read


class Control:
    """Branches, loops and side effects, and functions of the parts of a mesh."""

    @optional_callback
    def checkpoint(self, out: tuple[Template, ...], operands: Sequence[Tensor], /, *, body: Graph) -> Payload:
        """Runs a graph on the operands, computed for this call alone, where the same is computed elsewhere too.

        A compiler must not take a value from elsewhere for one inside: that would keep memory that is to be freed.
        """

    @optional_callback
    def debug_callback(
        self,
        out: tuple[Template, ...],
        carried: Sequence[Tensor],
        operands: Sequence[Tensor],
        /,
        *,
        function: Callable[..., object] | None,
    ) -> Payload:
        """Calls a function with the operands for its side effects, and returns the carried tensor.

        The function is called at each run, before anything takes the carried tensor from here. It may keep its tensors,
        and gets them with their data. `None` calls nothing: then the carried tensor only has to come after the
        operands.
        """

    @optional_callback
    def host_call(
        self,
        out: tuple[Template, ...],
        operands: Sequence[Tensor],
        /,
        *,
        function: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    ) -> Payload:
        """Calls a function with the operands; it takes and gives tensors on NumPy, and is called with data."""

    @optional_callback
    def shard_map(
        self,
        out: tuple[Template, ...],
        operands: Sequence[Tensor],
        /,
        *,
        body: Graph,
        mesh: Mesh,
        inside: tuple[tuple[tuple[str, ...], ...], ...],
        outside: tuple[tuple[tuple[str, ...], ...], ...],
    ) -> Payload:
        """Runs a graph of parts on each device of a mesh with its parts of the operands, and puts the results together.

        `inside` has for each axis of each operand the mesh axes over which it is divided, `outside` those of results.
        """

    @optional_callback
    def collective(
        self,
        out: tuple[Template, ...],
        operands: Sequence[Tensor],
        /,
        *,
        kind: str,
        axes: tuple[str, ...],
        axis: int,
        other: int,
    ) -> Payload:
        """Combines the operands of the devices along mesh axes, inside `shard_map`.

        The kinds are those of `expr/collectives.py`. `axis` is gathered, scattered or split, `other` concatenated.
        """

    @optional_callback
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
        """Runs one of two graphs on the operands, chosen by a bool without axes."""

    @optional_callback
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
        """The carried values after as many turns of `body` as `condition` holds before, at most `limit` if it is given.

        Both graphs take the constants and the carried values; `condition` gives a bool without axes, `body` the carried
        values of the next turn. `out` is what they look like all the while.
        """

    @optional_callback
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
        """The carried values after `length` steps of `body`, then what it gave beside them in each step, stacked.

        In each step `body` takes the constants, the carried values and the next entry of each of `xs` along its first
        axis, which has `length` of them; it gives the carried values of the next step and then those to stack, in the
        order of the steps along a new first axis. With `reverse` the last entry comes first, and what belongs to an
        entry stands in its place all the same.
        """
