"""Graphs: `ExprBackend` records a program as nodes, and transformations are functions of graphs.

`trace` returns a `Graph`; `evaluate` runs one on any backend; `simplify` rewrites one; `show` prints one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..registration import SuppliedFunction

if TYPE_CHECKING:
    from .graph import Graph

compute_again: SuppliedFunction[Callable[[Graph, Sequence[int]], Graph]] = SuppliedFunction(
    lambda graph, donated: graph
)
"""Returns a graph with some parameters donated that computes cheap values again, if that lowers its peak."""
