"""Converts graphs for one example to graphs for a batch; `vmap` is built on it.

`engine` processes a graph, and `registry` has the rules of ops that need their own. The other modules are
these rules, by family of the protocol. All other ops are batched according to the declarations of their callbacks.
"""
