"""Differentiation of graphs, so on every backend.

`functions` has the public functions, `engine` makes the graph of a gradient, `registry` keeps each op's rule; the other
modules are those rules, by family of the protocol.
"""
