"""Turns graphs for one example into graphs for a batch; `vmap` is built on it.

`engine` goes through a graph, and `registry` keeps the rules of ops that need one of their own. The other modules are
these rules, by family of the protocol. All other ops are batched by what their callbacks declare.
"""
