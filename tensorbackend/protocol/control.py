"""Callbacks that run a graph, a choice of two graphs, or a loop. All are composites.

The graphs are closed, and take and return flat sequences of tensors. `expr.evaluate.evaluate(graph, tensors, backend)`
runs one. The results are always a tuple, even if there is only one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..mesh import Mesh
from ..template import Template
from ..tensor import Tensor
from .callbacks import optional_callback
from .planned import Payload

if TYPE_CHECKING:
    from ..expr.graph import Graph
else:
    Graph = Any  # of a higher layer; annotations are read


class Control:
    """Branches, loops, calls of Python functions, and functions that run on each device of a mesh."""

    @optional_callback
    def checkpoint(self, out: tuple[Template, ...], operands: Sequence[Tensor], /, *, body: Graph) -> Payload:
        """Runs a graph on the operands, and recomputes all of it even if the same values are computed elsewhere.

        A compiler must not reuse a value from outside in the graph: that would keep memory that should be freed.
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
        """Calls a function with the operands for its side effects, and returns the carried tensors.

        The function is called in each run, before the returned tensors are used. It gets tensors with data, and
        may keep them. If it is `None`, nothing is called; the returned tensors must then only be ordered after the
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
        """Calls a function with the operands. It takes and returns tensors on the NumPy backend, which have data."""

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
        """Runs a graph on each device of a mesh with its parts of the operands, and joins the parts of the results.

        `inside` has, for each operand, the mesh axes over which each of its axes is divided; `outside` has the same for
        the results.
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

        The kinds are those of `expr/collectives.py`. `axes` are the mesh axes. Of the operand's axes, `axis` is
        gathered, scattered or split, and `other` is concatenated. The kind "vary" returns the operand unchanged.
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
        """Runs one of two graphs on the operands, chosen by `predicate`, a bool without axes."""

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
        """Repeats `body` while `condition` is true, at most `limit` times if given; returns the carried values.

        Both graphs take the constants and the carried values. `condition` returns a bool without axes, `body` the
        carried values of the next iteration. The carried values have the templates `out` in every iteration.
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
        """Runs `length` steps of `body`; returns the last carried values, then the other results of all steps, stacked.

        In each step `body` takes the constants, the carried values and the next entry of each of `xs` along its first
        axis, which has `length` entries. It returns the carried values of the next step and then the other results,
        which are stacked in the order of the steps along a new first axis. With `reverse` the scan begins with the
        last entry, but the results for an entry are still stored at its position.
        """
