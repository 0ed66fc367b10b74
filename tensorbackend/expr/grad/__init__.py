"""Differentiation of graphs, which works on every backend.

`functions` has the public functions, `engine` makes the graph of a gradient, and `registry` keeps the rule of each op.
The other modules are these rules, by family of the protocol.
"""
