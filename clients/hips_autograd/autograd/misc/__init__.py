"""Flattening of trees into one vector."""

from .flatten import const_graph, flatten

__all__ = ["const_graph", "flatten"]
